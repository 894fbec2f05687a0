/* Small file services: whole files in and out, folders, paths.  A reader never sees a half written file. */
#ifndef GV_FILES_H
#define GV_FILES_H

#include <sys/stat.h>

#include "host/base/status.h"

/* a + "/" + b, malloc'd; NULL when out of memory */
char *gv_path_join(const char *a, const char *b);
/* Whether both paths lead to one file, which need not be there yet; devices, pipes and folders are none. */
int gv_same_file(const char *a, const char *b);
/* printf into malloc'd memory; NULL when out of memory */
char *gv_format(const char *format, ...) GV_PRINTF(1, 2);

/* The whole file with a zero byte behind it that `size` (may be NULL) does not count; malloc'd.  More than `limit`
 * bytes are refused (ERR_FORMAT), as are folders and what else is not a regular file (ERR_FILE). */
gravel_status gv_file_read(const char *path, size_t limit, char **text, size_t *size);
/* Writes a new file beside `path` and renames it, so that the old one is kept whatever fails. */
gravel_status gv_file_write(const char *path, const void *data, size_t size);
/* The same for files of this user only (compiled kernels): mode 0600, and read only if they belong to this user and no
 * other may write to them. */
gravel_status gv_file_read_own(const char *path, size_t limit, char **text, size_t *size);
gravel_status gv_file_write_own(const char *path, const void *data, size_t size);
/* Why a file or folder is not this user's alone; NULL: it is. */
const char *gv_not_own(const struct stat *about);

/* Temporary files are PATH.gravel-<12 random hexadecimal digits>, new, and locked while they are written: one that is
 * not locked was left behind by a process that was killed. */
#define GV_TEMPORARY_MARK ".gravel-"
enum { GV_TEMPORARY_TAIL = 12 };
int gv_temporary_open(const char *path, unsigned mode, char **name); /* descriptor, or -1 and errno; name malloc'd */
int gv_is_temporary(const char *name, const char *base);             /* base NULL: of any file */
int gv_temporary_abandoned(const char *path);
void gv_temporary_sweep(const char *path); /* removes the abandoned ones of PATH */

/* Waits until nobody else, another thread or another process, has locked this byte of a file that is made if it is not
 * there; gv_file_unlock ends it, as does the end of the process.  The file stays: removing it would let two have "the"
 * lock.  A descriptor, or -1 and errno. */
int gv_file_lock(const char *path, unsigned mode, off_t byte);
void gv_file_unlock(int lock);

/* The folder and its parents, for the user only (mode 0700) */
gravel_status gv_folder_make(const char *path);
/* The same; ERR_FILE where no files can be written into it.  `what`: the files that it is for. */
gravel_status gv_folder_make_for(const char *path, const char *what);

/* Environment variable, NULL where it is unset or empty */
const char *gv_env(const char *name);
/* $<xdg>/gravel/<name>, else $HOME/<below home>/gravel/<name>; NULL where there is no home either (or no memory) */
char *gv_user_folder(const char *xdg, const char *below_home, const char *name);

#endif
