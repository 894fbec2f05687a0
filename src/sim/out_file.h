/* A file that appears whole or not at all: written beside its place under another name, then renamed.  Until the commit
 * an earlier file of that name stays as it is. */
#ifndef GV_OUT_FILE_H
#define GV_OUT_FILE_H

#include <stdio.h>

#include "host/status.h"

typedef struct gv_out_file {
    FILE *stream;
    char *path;      /* where it will be, symbolic links followed */
    char *temporary; /* where it is now; NULL: written in place (a pipe, a device, standard output) */
} gv_out_file;

/* "-" is standard output. */
gravel_status gv_out_open(gv_out_file *file, const char *path);
/* Closes and renames; a write that failed at any time since the opening is found here.  On failure nothing is left. */
gravel_status gv_out_commit(gv_out_file *file);
/* Forgets the file; nothing after a commit or a failed open. */
void gv_out_abort(gv_out_file *file);

#endif
