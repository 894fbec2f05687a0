/* The files of a simulation in its folder, or one file in their place. */
#ifndef GV_RUN_FOLDER_H
#define GV_RUN_FOLDER_H

#include "host/base/status.h"

typedef struct gv_run_folder {
    int is_folder;
    char *diagnostics, *blocks; /* names, whether or not there are such files; of a single file: its name */
    char **snapshot;            /* by number */
    size_t snapshots;
} gv_run_folder;

/* `path` is a folder with snapshot_NNNN.hdf5 (.h5, .txt), diagnostics.txt and blocks.txt, or one of these files. */
gravel_status gv_run_folder_open(gv_run_folder *folder, const char *path);
void gv_run_folder_close(gv_run_folder *folder);

/* ERR_FILE with a sentence if the folder has no such file. */
gravel_status gv_run_folder_need(const gv_run_folder *folder, const char *file);
/* A sentence if the folder, called `name`, has no snapshots, or not number `wanted` (below 0: any). */
gravel_status gv_run_folder_need_snapshot(const gv_run_folder *folder, const char *name, int wanted);

#endif
