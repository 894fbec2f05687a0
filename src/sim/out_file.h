/* A file that appears whole or not at all: written beside its place under another name, then renamed.  Until the commit
 * an earlier file of that name stays as it is.  The first opening removes what a killed process left beside it. */
#ifndef GV_OUT_FILE_H
#define GV_OUT_FILE_H

#include <stdio.h>

#include "host/base/status.h"

typedef struct gv_out_file {
    FILE *stream;    /* NULL once everything is written */
    char *path;      /* where it will be, symbolic links followed */
    char *temporary; /* where it is now; NULL: written in place (a pipe, a device, standard output) */
    int lock;        /* of the temporary file; -1: none */
    int slot;        /* in the list of what a signal removes; -1: none */
} gv_out_file;

/* "-" is standard output. */
gravel_status gv_out_open(gv_out_file *file, const char *path);
/* Whether a file could be written there; leaves nothing.  Devices and pipes are not touched. */
gravel_status gv_out_check(const char *path);
/* Writes all that is left to the disk; a write that failed at any time since the opening is reported here.  Of
 * several files that belong together all are finished before the first is committed.  On failure nothing is left. */
gravel_status gv_out_finish(gv_out_file *file);
/* Finishes if that has not been done, and renames.  On failure nothing is left. */
gravel_status gv_out_commit(gv_out_file *file);
/* Drops the file; no effect after a commit or a failed open. */
void gv_out_abort(gv_out_file *file);

/* Removes the temporary files that are open now, and no more can be opened: the caller ends the process. */
void gv_out_remove_all(void);

#endif
