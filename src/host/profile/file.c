/* Profile files: whole reads, writes by rename, and the lock that lets two tuners save at once. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/device/device.h"
#include "host/base/files.h"
#include "host/profile/store.h"

gravel_status gv_profile_read_file(const char *path, gv_profile_set *set)
{
    char *text = NULL;
    size_t size = 0;
    gravel_status status = gv_file_read(path, GV_PROFILE_FILE_MAX, &text, &size);

    if (status == GRAVEL_OK) {
        status = gv_profile_parse(path, text, size, set);
        free(text);
    }
    return status;
}

gravel_status gv_profile_write_file(const char *path, const gv_profile_set *set)
{
    char *text = NULL;
    gravel_status status = gv_profile_print(set, &text);

    if (status == GRAVEL_OK) {
        status = gv_file_write(path, text, strlen(text));
        free(text);
    }
    return status;
}

/* The readable part for people, the hash for devices whose names differ where it is cut. */
void gv_profile_file_name(const gv_profile_device *device, char name[128])
{
    char key[GRAVEL_NAME_SIZE], other[GRAVEL_NAME_SIZE];
    unsigned long long hash = 0xcbf29ce484222325ull;
    const char *const part[] = {device->name, device->vendor, device->platform};

    for (int p = 0; p < 3; p++) {
        gv_name_key(part[p], other);
        for (const char *c = other;; c++) {
            hash = (hash ^ (unsigned char)*c) * 0x100000001b3ull;
            if (*c == '\0')
                break;
        }
    }
    hash = (hash ^ (unsigned long long)device->simd_width_float) * 0x100000001b3ull;
    hash = (hash ^ (unsigned long long)device->simd_width_double) * 0x100000001b3ull;
    hash = (hash ^ (unsigned long long)device->has_fp64) * 0x100000001b3ull;
    gv_name_key(device->name, key);
    for (char *c = key; *c != '\0'; c++)
        if (*c == ' ')
            *c = '-';
    snprintf(name, 128, "%.64s-%dcu-%08llx.json", key[0] != '\0' ? key : "device", device->compute_units,
             (hash ^ hash >> 32) & 0xffffffffull);
}

/* Waits for other writers of the folder. */
static int lock_folder(const char *dir)
{
    char *path = gv_path_join(dir, ".lock");
    const int lock = path ? gv_file_lock(path, 0666, 0) : -1;

    free(path);
    return lock;
}

gravel_status gv_profile_may_save(const char *dir, const gv_profile_device *device)
{
    gv_profile_set there = GV_PROFILE_SET_INIT;
    gravel_status status = gv_folder_make_for(dir, "profiles");
    char name[128], *path;

    if (status != GRAVEL_OK)
        return status;
    gv_profile_file_name(device, name);
    path = gv_path_join(dir, name);
    if (!path)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the name of a file");
    if (access(path, F_OK) == 0)
        status = gv_profile_read_file(path, &there);
    if (status == GRAVEL_ERR_UNSUPPORTED)
        status = gv_fail(status, "%s; nothing can be added to it: name another --profile-dir", gravel_error_message());
    else if (status == GRAVEL_ERR_FORMAT) /* it will be moved aside */
        status = GRAVEL_OK;
    gv_profile_set_free(&there);
    free(path);
    return status;
}

static gravel_status save_block(const char *dir, const gv_profile_block *block, char *path, size_t path_size)
{
    gv_profile_set there = GV_PROFILE_SET_INIT, one = {1, NULL};
    gravel_status status;
    char name[128];

    gv_profile_file_name(&block->device, name);
    snprintf(path, path_size, "%s/%s", dir, name);
    gv_temporary_sweep(path);
    if (access(path, F_OK) == 0) {
        status = gv_profile_read_file(path, &there);
        if (status == GRAVEL_ERR_FORMAT) {
            char *aside = gv_format("%s.damaged", path);

            /* kept for inspection; in place it would make every later save fail */
            if (aside == NULL || rename(path, aside) != 0) {
                free(aside);
                return gv_fail(GRAVEL_ERR_FILE, "%s: damaged, and cannot be moved aside", path);
            }
            free(aside);
        } else if (status != GRAVEL_OK) {
            return status;
        }
    }
    one.block = (gv_profile_block *)(uintptr_t)block;
    status = gv_profile_set_merge(&there, &one);
    if (status == GRAVEL_OK)
        status = gv_profile_write_file(path, &there);
    gv_profile_set_free(&there);
    return status;
}

gravel_status gv_profile_save(const char *dir, const gv_profile_set *set, char *path, size_t path_size)
{
    gravel_status status = gv_folder_make(dir);
    int lock;

    if (status != GRAVEL_OK)
        return status;
    lock = lock_folder(dir);
    if (lock < 0)
        return gv_fail(GRAVEL_ERR_FILE, "%s: cannot be locked for writing: %s", dir, strerror(errno));
    for (int b = 0; b < set->n_blocks && status == GRAVEL_OK; b++)
        status = save_block(dir, &set->block[b], path, path_size);
    gv_file_unlock(lock);
    return status;
}

gravel_status gv_profile_keep_or_report(gravel_status status, gv_profile_set *from, gv_profile_set *set,
                                        gv_profile_refused_fn refused, void *user)
{
    if (status == GRAVEL_ERR_MEMORY)
        return status;
    if (status != GRAVEL_OK) {
        if (refused != NULL)
            refused(gravel_error_message(), user);
        return GRAVEL_OK;
    }
    status = gv_profile_set_merge(set, from);
    gv_profile_set_free(from);
    return status;
}

int gv_profile_is_name(const char *name)
{
    size_t n = strlen(name);

    return name[0] != '.' && n > 5 && strcmp(name + n - 5, ".json") == 0 && strcmp(name, "schema.json") != 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of the profiles in a folder, sorted, because of two equal entries the first read would win. */
static gravel_status folder_names(const char *dir, char ***names, size_t *count)
{
    DIR *folder = opendir(dir);
    struct dirent *item;
    gravel_status status = GRAVEL_OK;

    *names = NULL;
    *count = 0;
    if (folder == NULL)
        return errno == ENOENT || errno == ENOTDIR
                   ? GRAVEL_OK
                   : gv_fail(GRAVEL_ERR_FILE, "%s: cannot be read: %s", dir, strerror(errno));
    while ((item = readdir(folder)) != NULL && status == GRAVEL_OK) {
        char **grown;

        if (!gv_profile_is_name(item->d_name))
            continue;
        grown = realloc(*names, (*count + 1) * sizeof *grown);
        if (grown != NULL) {
            *names = grown;
            grown[*count] = gv_path_join(dir, item->d_name);
        }
        if (grown == NULL || grown[*count] == NULL)
            status = gv_fail(GRAVEL_ERR_MEMORY, "%s: no memory for its list of files", dir);
        else
            ++*count;
    }
    closedir(folder);
    if (*count > 1)
        qsort(*names, *count, sizeof **names, by_name);
    return status;
}

gravel_status gv_profile_read_dir(const char *dir, gv_profile_set *set, gv_profile_refused_fn refused, void *user)
{
    char **names;
    size_t count;
    gravel_status status = folder_names(dir, &names, &count);

    if (status == GRAVEL_ERR_FILE) {
        gv_profile_set none = GV_PROFILE_SET_INIT;

        status = gv_profile_keep_or_report(status, &none, set, refused, user);
    }
    for (size_t i = 0; i < count; i++) {
        gv_profile_set from = GV_PROFILE_SET_INIT;

        if (status == GRAVEL_OK)
            status = gv_profile_keep_or_report(gv_profile_read_file(names[i], &from), &from, set, refused, user);
        free(names[i]);
    }
    free(names);
    return status;
}
