/* Small file services: whole files in and out, folders, paths.  A reader never sees a half written file. */
#ifndef GV_FILES_H
#define GV_FILES_H

#include "host/status.h"

/* a + "/" + b, malloc'd; NULL when out of memory */
char *gv_path_join(const char *a, const char *b);
/* printf into malloc'd memory; NULL when out of memory */
char *gv_format(const char *format, ...) GV_PRINTF(1, 2);

/* The whole file with a zero byte behind it that `size` (may be NULL) does not count; malloc'd.  More than `limit`
 * bytes are refused (ERR_FORMAT), as are folders and what else is not a regular file (ERR_FILE). */
gravel_status gv_file_read(const char *path, size_t limit, char **text, size_t *size);
/* Writes a new file beside `path` and renames it, so that the old one is kept whatever fails. */
gravel_status gv_file_write(const char *path, const void *data, size_t size);
/* The folder and its parents, for the user only (mode 0700) */
gravel_status gv_folder_make(const char *path);

/* Environment variable, NULL where it is unset or empty */
const char *gv_env(const char *name);
/* $<xdg>/gravel/<name>, else $HOME/<below home>/gravel/<name>; NULL where there is no home either (or no memory) */
char *gv_user_folder(const char *xdg, const char *below_home, const char *name);

#endif
