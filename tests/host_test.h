/* Shared by the tests of src/host: scratch folders, small files, contexts. */
#ifndef GV_HOST_TEST_H
#define GV_HOST_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/base/files.h"
#include "host/device/context.h"

#define assert_ok(call)                                                                                                \
    do {                                                                                                               \
        gravel_status assert_ok_status = (call);                                                                       \
        if (assert_ok_status != GRAVEL_OK) {                                                                           \
            fail_msg("%s: %s: %s", #call, gravel_status_name(assert_ok_status), gravel_error_message());               \
        }                                                                                                              \
    } while (0)

#define assert_contains(text, part)                                                                                    \
    do {                                                                                                               \
        if (!strstr((text), (part))) {                                                                                 \
            fail_msg("'%s' is not in: %s", (part), (text));                                                            \
        }                                                                                                              \
    } while (0)

/* What measure/copy.cl, the smallest kernel file, needs */
#define EMPTY_OPTIONS "-DGV_PRECISION=0 -DGV_LANES=1 -DGV_THREADS=1"

/* A new empty folder; free() the name after remove_folder */
static inline char *make_folder(void)
{
    const char *base = getenv("TMPDIR");
    char *path = gv_format("%s/gravel-test-XXXXXX", base ? base : "/tmp");

    assert_non_null(path);
    assert_non_null(mkdtemp(path));
    return path;
}

static inline void remove_folder(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *next;
    struct stat about;

    while (dir && (next = readdir(dir)) != NULL) {
        if (strcmp(next->d_name, ".") == 0 || strcmp(next->d_name, "..") == 0)
            continue;
        char *inner = gv_path_join(path, next->d_name);
        if (lstat(inner, &about) == 0 && S_ISDIR(about.st_mode))
            remove_folder(inner);
        else
            unlink(inner);
        free(inner);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
}

static inline void write_text(const char *folder, const char *name, const char *text)
{
    char *path = gv_path_join(folder, name);

    assert_ok(gv_file_write(path, text, strlen(text)));
    free(path);
}

/* How many names in the folder begin with `start`; *last (may be NULL) gets the path of one of them, malloc'd */
static inline int count_files(const char *folder, const char *start, char **last)
{
    DIR *dir = opendir(folder);
    struct dirent *next;
    int n = 0;

    while (dir && (next = readdir(dir)) != NULL) {
        if (next->d_name[0] != '.' && strncmp(next->d_name, start, strlen(start)) == 0) {
            if (last) {
                free(*last);
                *last = gv_path_join(folder, next->d_name);
            }
            n++;
        }
    }
    if (dir)
        closedir(dir);
    return n;
}

/* The log of a context, joined */
typedef struct test_log {
    char text[65536];
    int lines, warnings;
} test_log;

static inline void log_into(gravel_log_level level, const char *message, void *user)
{
    test_log *log = user;
    size_t used = strlen(log->text);

    snprintf(log->text + used, sizeof log->text - used, "%s\n", message);
    log->lines++;
    log->warnings += level == GRAVEL_LOG_WARNING;
}

/* Without any device a test of devices is skipped. */
static inline int no_device(void)
{
    gravel_device_info *list;
    int count;

    if (gravel_device_list(&list, &count) == GRAVEL_OK) {
        gravel_device_list_free(list);
        return 0;
    }
    print_message("skipped: %s\n", gravel_error_message());
    return 1;
}

#define SKIP_WITHOUT_DEVICE()                                                                                          \
    do {                                                                                                               \
        if (no_device()) {                                                                                             \
            skip();                                                                                                    \
        }                                                                                                              \
    } while (0)

#endif
