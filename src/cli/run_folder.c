#include "cli/run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/files.h"
#include "sim/snapshot.h"

static int by_number(const void *a, const void *b)
{
    const char *x = strrchr(*(char *const *)a, '/') + 1, *y = strrchr(*(char *const *)b, '/') + 1;
    const long m = gv_snapshot_number(x), n = gv_snapshot_number(y);
    return m != n ? (m > n) - (m < n) : strcmp(x, y);
}

static gravel_status add(gv_run_folder *f, char *name)
{
    char **grown = name ? realloc(f->snapshot, (f->snapshots + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(name);
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the names of snapshots");
    }
    f->snapshot = grown;
    f->snapshot[f->snapshots++] = name;
    return GRAVEL_OK;
}

static gravel_status list(gv_run_folder *f, const char *path)
{
    gravel_status status = GRAVEL_OK;
    struct dirent *next;
    DIR *dir = opendir(path);
    if (!dir)
        return gv_fail(GRAVEL_ERR_FILE, "cannot read %s: %s", path, strerror(errno));
    while (!status && (next = readdir(dir)) != NULL)
        if (gv_snapshot_number(next->d_name) >= 0)
            status = add(f, gv_format("%s/%s", path, next->d_name));
    closedir(dir);
    if (!status && f->snapshots > 1)
        qsort(f->snapshot, f->snapshots, sizeof *f->snapshot, by_number);
    return status;
}

gravel_status gv_run_folder_open(gv_run_folder *f, const char *path)
{
    struct stat about;
    *f = (gv_run_folder){0};
    if (stat(path, &about) != 0)
        return gv_fail(GRAVEL_ERR_FILE, "cannot read %s: %s", path, strerror(errno));
    f->is_folder = S_ISDIR(about.st_mode);
    f->diagnostics = f->is_folder ? gv_path_join(path, "diagnostics.txt") : gv_format("%s", path);
    f->blocks = f->is_folder ? gv_path_join(path, "blocks.txt") : gv_format("%s", path);
    gravel_status status = f->is_folder ? list(f, path) : add(f, gv_format("%s", path));
    if (!status && (!f->diagnostics || !f->blocks))
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for names");
    if (status)
        gv_run_folder_close(f);
    return status;
}

void gv_run_folder_close(gv_run_folder *f)
{
    for (size_t k = 0; k < f->snapshots; k++)
        free(f->snapshot[k]);
    free(f->snapshot);
    free(f->diagnostics);
    free(f->blocks);
    *f = (gv_run_folder){0};
}

gravel_status gv_run_folder_need(const gv_run_folder *f, const char *file)
{
    if (!f->is_folder || access(file, F_OK) == 0)
        return GRAVEL_OK;
    return gv_fail(GRAVEL_ERR_FILE, "no %s; 'gravel run -o DIR' writes it, is this the folder of a run?", file);
}

gravel_status gv_run_folder_need_snapshot(const gv_run_folder *f, const char *name, int wanted)
{
    if (f->snapshots == 0)
        return gv_fail(GRAVEL_ERR_INPUT, "%s: no snapshot_NNNN.hdf5 in this folder", name);
    if (wanted < 0 || (size_t)wanted < f->snapshots)
        return GRAVEL_OK;
    return gv_fail(GRAVEL_ERR_ARGUMENT, "--snapshot %d: %s has %zu, counted from 0", wanted, name, f->snapshots);
}
