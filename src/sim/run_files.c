/* The folder of a run: made, opened, closed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/files.h"
#include "sim/run.h"

char *gv_run_path(const char *folder, const char *name)
{
    return gv_path_join(folder, name);
}

char *gv_run_snapshot_path(const gv_run_output *folder, uint64_t number, const char *extension)
{
    return gv_format("%s/snapshot_%04llu.%s", folder->path, (unsigned long long)number, extension);
}

static int begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* Where an earlier run of the folder is until the first files of the one that replaces it are complete; and while its
 * files are on their way there, which a kill may stop. */
#define ASIDE ".gravel-earlier"
#define ON_THE_WAY ".gravel-earlier.part"

/* Files that a run makes, and temporary ones that a killed run left. */
static int is_own(const char *name)
{
    static const char *const own[] = {"run.json",   "summary.json",    "diagnostics.txt", "diagnostics.hdf5",
                                      "blocks.txt", GV_RUN_CHECKPOINT, "cosmology.txt"};
    for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
        if (strcmp(name, own[k]) == 0 || gv_is_temporary(name, own[k]))
            return 1;
    return (begins(name, "snapshot_") || begins(name, "spectrum_") || begins(name, "massfunction_")) &&
           (strstr(name, ".hdf5") || strstr(name, ".txt")); /* with what is behind it if temporary */
}

/* What stands in the way: any file; with `replace` none, and *earlier is 1 where a run has left some. */
static gravel_status look_at(const char *path, DIR *dir, int replace, int *earlier)
{
    struct dirent *next;
    while ((next = readdir(dir)) != NULL) {
        if (strcmp(next->d_name, ".") == 0 || strcmp(next->d_name, "..") == 0)
            continue;
        if (!replace)
            return gv_fail(GRAVEL_ERR_ARGUMENT,
                           "%s is there already and not empty; continue that run with --resume %s, choose another "
                           "folder, or give --replace",
                           path, path);
        *earlier = *earlier || is_own(next->d_name) || begins(next->d_name, ASIDE);
    }
    return GRAVEL_OK;
}

static gravel_status fail_name(void)
{
    return gv_fail(GRAVEL_ERR_MEMORY, "no memory for names");
}

/* The files of a run in `path` go to `to`, or are removed where this is NULL. */
static gravel_status move_files(const char *path, const char *to)
{
    struct dirent *next;
    gravel_status status = GRAVEL_OK;
    DIR *dir = opendir(path);
    if (!dir)
        return gv_fail(GRAVEL_ERR_FILE, "cannot read the folder %s: %s", path, strerror(errno));
    while (!status && (next = readdir(dir)) != NULL) {
        if (!is_own(next->d_name))
            continue;
        char *file = gv_path_join(path, next->d_name), *there = to ? gv_path_join(to, next->d_name) : NULL;
        if (!file || (to && !there))
            status = fail_name();
        else if (to ? rename(file, there) != 0 : unlink(file) != 0)
            status = gv_fail(GRAVEL_ERR_FILE, "cannot %s %s: %s", to ? "move" : "remove", file, strerror(errno));
        free(file);
        free(there);
    }
    closedir(dir);
    return status;
}

gravel_status gv_run_output_clear(const char *path)
{
    return move_files(path, NULL);
}

/* Files that are in the folder now are those of the earlier run, some of which may be on their way already. */
static gravel_status move_aside(const char *path, const char *on_the_way, const char *aside)
{
    if (mkdir(on_the_way, 0777) != 0 && errno != EEXIST)
        return gv_fail(GRAVEL_ERR_FILE, "cannot make the folder %s: %s", on_the_way, strerror(errno));
    gravel_status status = move_files(path, on_the_way);
    if (!status && rename(on_the_way, aside) != 0)
        status = gv_fail(GRAVEL_ERR_FILE, "cannot move %s: %s", on_the_way, strerror(errno));
    if (status && move_files(on_the_way, path) == GRAVEL_OK)
        (void)rmdir(on_the_way);
    return status;
}

gravel_status gv_run_output_set_aside(gv_run_output *folder)
{
    char *aside = gv_path_join(folder->path, ASIDE), *on_the_way = gv_path_join(folder->path, ON_THE_WAY);
    gravel_status status = aside && on_the_way ? GRAVEL_OK : fail_name();
    if (!status)
        status = access(aside, F_OK) != 0 ? move_aside(folder->path, on_the_way, aside)
                                          /* by one that was killed before its first files were complete */
                                          : gv_run_output_clear(folder->path);
    folder->has_aside = !status;
    free(aside);
    free(on_the_way);
    return status;
}

void gv_run_output_forget(gv_run_output *folder)
{
    char *aside = gv_path_join(folder->path, ASIDE);
    if (aside && access(aside, F_OK) == 0 && gv_run_output_clear(aside) == GRAVEL_OK)
        (void)rmdir(aside);
    folder->has_aside = 0;
    free(aside);
}

static void bring_back(const char *path)
{
    char *aside = gv_path_join(path, ASIDE);
    if (aside && gv_run_output_clear(path) == GRAVEL_OK && move_files(aside, path) == GRAVEL_OK)
        (void)rmdir(aside);
    free(aside);
}

int gv_run_output_has_begun(const gv_run_output *folder)
{
    int any = folder->at.snapshots > 0;
    for (int p = 0; p < GV_BLOCKS_POWERS && !any; p++)
        any = folder->blocks.at[p].blocks > 0;
    return any && !folder->replace && !folder->has_aside;
}

void gv_run_output_discard(const gv_run_output *folder)
{
    if (folder->has_aside)
        bring_back(folder->path);
    else if (folder->path && !folder->replace && !gv_run_output_has_begun(folder) &&
             gv_run_output_clear(folder->path) == GRAVEL_OK)
        (void)rmdir(folder->path); /* what is not the run's stays, and so does the folder */
}

/* Temporary files that killed runs have left. */
static void sweep(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *next;
    while (dir && (next = readdir(dir)) != NULL) {
        char *file =
            gv_is_temporary(next->d_name, NULL) && is_own(next->d_name) ? gv_path_join(path, next->d_name) : NULL;
        if (file && gv_temporary_abandoned(file))
            unlink(file);
        free(file);
    }
    if (dir)
        closedir(dir);
}

gravel_status gv_run_output_lock(const char *path, int *lock)
{
    *lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0)
        return gv_fail(GRAVEL_ERR_FILE, "cannot open the folder %s: %s", path, strerror(errno));
    /* file systems without locks give other errors */
    if (flock(*lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(*lock);
        *lock = -1;
        return gv_fail(GRAVEL_ERR_ARGUMENT, "another gravel run is at work in %s", path);
    }
    return GRAVEL_OK;
}

gravel_status gv_run_output_make(const char *path, int replace, int *lock, int *earlier)
{
    *lock = -1;
    *earlier = 0;
    if (mkdir(path, 0777) == 0)
        return gv_run_output_lock(path, lock);
    if (errno != EEXIST)
        return gv_fail(GRAVEL_ERR_FILE, "cannot make the folder %s: %s", path, strerror(errno));
    gravel_status status = gv_run_output_lock(path, lock);
    DIR *dir = status ? NULL : opendir(path);
    if (!status && !dir)
        status = gv_fail(GRAVEL_ERR_FILE, "cannot read the folder %s: %s", path, strerror(errno));
    if (!status && access(path, W_OK | X_OK) != 0)
        status = gv_fail(GRAVEL_ERR_FILE, "cannot write into %s: %s", path, strerror(errno));
    if (!status)
        status = look_at(path, dir, replace, earlier);
    if (dir)
        closedir(dir);
    if (status && *lock >= 0) {
        close(*lock);
        *lock = -1;
    }
    return status;
}

gravel_status gv_run_output_check(const char *path, int replace)
{
    struct stat about;
    const int is_new = stat(path, &about) != 0;
    int lock, earlier;
    const gravel_status status = gv_run_output_make(path, replace, &lock, &earlier);
    if (lock >= 0)
        close(lock);
    if (!status && is_new)
        (void)rmdir(path);
    return status;
}

gravel_status gv_run_output_open(gv_run_output *folder, const char *path, const char *record)
{
    memset(folder, 0, sizeof *folder);
    folder->table.fd = -1;
    folder->at.last_line = NAN;
    folder->record = record;
    folder->path = strdup(path);
    return folder->path ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
}

void gv_run_output_close(gv_run_output *folder)
{
    if (folder->path) {
        gv_diagnostics_close(&folder->table);
        sweep(folder->path);
    }
    free(folder->path);
    folder->path = NULL;
}
