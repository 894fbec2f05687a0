#include "host/program/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/files.h"

/* An entry: magic, version of the library, key, length, SHA-256 of the data, data.  The length is little-endian. */
static const char magic[8] = {'G', 'V', 'c', 'a', 'c', 'h', 'e', '1'};
enum { AT_VERSION = 8, AT_KEY = 24, AT_LENGTH = 56, AT_SUM = 64, LARGEST_ENTRY = 64 << 20 };

static void data_sum(const void *data, size_t size, gv_digest *sum)
{
    gv_hasher hasher;

    gv_hash_start(&hasher);
    gv_hash_add(&hasher, data, size);
    gv_hash_end(&hasher, sum);
}

static void make_header(unsigned char header[GV_CACHE_HEADER], const gv_digest *key, const void *data, size_t size)
{
    gv_digest sum;

    memset(header, 0, GV_CACHE_HEADER);
    memcpy(header, magic, sizeof magic);
    memcpy(header + AT_VERSION, GRAVEL_VERSION, sizeof GRAVEL_VERSION);
    memcpy(header + AT_KEY, key->byte, sizeof key->byte);
    for (int i = 0; i < 8; i++)
        header[AT_LENGTH + i] = (unsigned char)((uint64_t)size >> (8 * i));
    data_sum(data, size, &sum);
    memcpy(header + AT_SUM, sum.byte, sizeof sum.byte);
}

static char *entry_path(const gravel_context *context, const char *kind, const gv_digest *key)
{
    char hex[65];

    gv_digest_hex(key, 64, hex);
    return gv_format("%s/%s-%s", context->cache_dir, kind, hex);
}

/* Whoever may write to the folder could put kernels into it that this user's programs would run. */
static const char *not_trusted(const char *folder)
{
    struct stat about;

    return stat(folder, &about) == 0 ? gv_not_own(&about) : NULL;
}

static void warn_once(gravel_context *context, const char *format, const char *what, const char *why)
{
    if (!context->cache_warned)
        gv_log(context, GRAVEL_LOG_WARNING, format, what, why);
    context->cache_warned = 1;
}

int gv_cache_has_folder(const gravel_context *context)
{
    return context->cache_dir && context->cache_dir[0] != '\0';
}

int gv_cache_load(gravel_context *context, const char *kind, const gv_digest *key, unsigned char **data, size_t *size)
{
    unsigned char header[GV_CACHE_HEADER];
    const char *why = gv_cache_has_folder(context) ? not_trusted(context->cache_dir) : NULL;
    char *path, *text = NULL;
    size_t all;
    int found = 0;

    if (why)
        warn_once(context, "%s: compiled kernels are neither read nor kept there: %s", context->cache_dir, why);
    if (why || !gv_cache_has_folder(context) || !(path = entry_path(context, kind, key)))
        return 0;
    if (access(path, F_OK) == 0 && gv_file_read_own(path, LARGEST_ENTRY, &text, &all) == GRAVEL_OK) {
        /* the header that these data must have, compared as a whole */
        if (all > GV_CACHE_HEADER) {
            make_header(header, key, text + GV_CACHE_HEADER, all - GV_CACHE_HEADER);
            found = memcmp(header, text, GV_CACHE_HEADER) == 0;
        }
        if (!found)
            gv_log(context, GRAVEL_LOG_DEBUG, "%s: damaged or foreign, not used", path);
    }
    if (found) {
        *size = all - GV_CACHE_HEADER;
        memmove(text, text + GV_CACHE_HEADER, *size + 1);
        *data = (unsigned char *)text;
        utimensat(AT_FDCWD, path, NULL, 0); /* the entries that are used last stay */
    } else {
        free(text);
    }
    free(path);
    return found;
}

void gv_cache_store(gravel_context *context, const char *kind, const gv_digest *key, const void *data, size_t size)
{
    unsigned char *entry;
    char *path;

    if (!gv_cache_has_folder(context) || not_trusted(context->cache_dir) || size == 0 ||
        size > LARGEST_ENTRY - GV_CACHE_HEADER) {
        return;
    }
    path = entry_path(context, kind, key);
    entry = malloc(GV_CACHE_HEADER + size);
    if (path && entry) {
        make_header(entry, key, data, size);
        memcpy(entry + GV_CACHE_HEADER, data, size);
        if (gv_folder_make(context->cache_dir) == GRAVEL_OK &&
            gv_file_write_own(path, entry, GV_CACHE_HEADER + size) == GRAVEL_OK)
            gv_cache_prune(context->cache_dir, GV_CACHE_LIMIT);
        else
            warn_once(context, "compiled kernels are not kept%s%s", ": ", gravel_error_message());
    }
    free(entry);
    free(path);
}

void gv_cache_agree(gravel_context *context, const char *kind, const gv_digest *key, void *data, size_t size)
{
    const int lock = gv_cache_lock(context, key); /* two that end together: the first decides */
    unsigned char *kept = NULL;
    size_t found = 0;

    if (gv_cache_load(context, kind, key, &kept, &found) && found == size)
        memcpy(data, kept, size);
    else
        gv_cache_store(context, kind, key, data, size);
    free(kept);
    gv_file_unlock(lock);
}

/* One file for all keys, each with a byte of its own. */
int gv_cache_lock(gravel_context *context, const gv_digest *key)
{
    char *path = NULL;
    off_t byte = 0;
    int lock = -1;

    if (gv_cache_has_folder(context) && gv_folder_make(context->cache_dir) == GRAVEL_OK &&
        !not_trusted(context->cache_dir))
        path = gv_path_join(context->cache_dir, ".lock");
    for (int k = 0; k < 4; k++)
        byte = byte << 7 | (key->byte[k] & 0x7f);
    if (path)
        lock = gv_file_lock(path, 0600, byte);
    free(path);
    return lock;
}

typedef struct entry {
    char *path;
    uint64_t size;
    time_t used;
} entry;

static int compare_age(const void *a, const void *b)
{
    const entry *x = a, *y = b;

    return x->used < y->used ? -1 : x->used > y->used ? 1 : strcmp(x->path, y->path);
}

/* Files that this library named, <kind>-<64 hexadecimal digits>, and their temporaries; what else lies in the folder is
 * not ours. */
static int is_ours(const char *name)
{
    static const char *const kinds[] = {"program-", "features-", "times-", "proof-", "walk-", "calls-", "hermite-"};
    size_t kind = 0;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && kind == 0; k++)
        kind = strncmp(name, kinds[k], strlen(kinds[k])) == 0 ? strlen(kinds[k]) : 0;
    size_t digits = kind ? strspn(name + kind, "0123456789abcdef") : 0;

    return digits == 64 && (name[kind + digits] == '\0' || gv_is_temporary(name, NULL));
}

static int list_entries(const char *folder, entry **list, size_t *count)
{
    size_t room = 0;
    struct dirent *next;
    struct stat about;

    DIR *dir = opendir(folder);
    if (!dir)
        return 0;
    while ((next = readdir(dir)) != NULL) {
        if (*count == room) {
            size_t more = room ? 2 * room : 256;
            entry *grown = realloc(*list, more * sizeof **list);
            if (!grown)
                break;
            *list = grown;
            room = more;
        }
        char *path = is_ours(next->d_name) ? gv_path_join(folder, next->d_name) : NULL;
        if (path && lstat(path, &about) == 0 && S_ISREG(about.st_mode)) {
            entry *e = &(*list)[(*count)++];
            e->path = path;
            e->size = (uint64_t)about.st_size;
            e->used = about.st_mtime;
        } else {
            free(path);
        }
    }
    closedir(dir);
    return 1;
}

void gv_cache_prune(const char *folder, uint64_t limit)
{
    entry *list = NULL;
    size_t count = 0;
    uint64_t total = 0;

    if (list_entries(folder, &list, &count)) {
        for (size_t i = 0; i < count; i++)
            total += list[i].size;
        if (count > 0)
            qsort(list, count, sizeof *list, compare_age);
    }
    for (size_t i = 0; i < count; i++) {
        int remove = gv_is_temporary(list[i].path, NULL) ? gv_temporary_abandoned(list[i].path) : total > limit;
        if (remove && unlink(list[i].path) == 0)
            total -= list[i].size;
        free(list[i].path);
    }
    free(list);
}
