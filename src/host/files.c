#include "host/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *gv_format(const char *format, ...)
{
    va_list arguments, again;
    char *text = NULL;

    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length >= 0) {
        text = malloc((size_t)length + 1);
    }
    if (text) {
        vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    va_end(arguments);
    return text;
}

char *gv_path_join(const char *a, const char *b)
{
    size_t length = strlen(a);
    int slash = length > 0 && a[length - 1] != '/';

    return gv_format("%s%s%s", a, slash ? "/" : "", b);
}

/* Reads until the end or `limit` + 1 bytes: the size of a file can change between fstat and read. */
static gravel_status read_all(int fd, const char *path, size_t limit, char **text, size_t *size)
{
    size_t room = 0, used = 0;
    char *data = NULL;

    for (;;) {
        if (used + 1 >= room) {
            size_t more = room ? 2 * room : 16384;
            char *grown = realloc(data, more);
            if (!grown) {
                free(data);
                return gv_fail(GRAVEL_ERR_MEMORY, "%s: no memory for %zu bytes", path, more);
            }
            data = grown;
            room = more;
        }
        ssize_t got = read(fd, data + used, room - 1 - used);
        if (got == 0) {
            break;
        }
        if (got < 0 && errno == EINTR) {
            continue;
        }
        used += got < 0 ? 0 : (size_t)got;
        if (got < 0 || used > limit) {
            int reason = errno;
            free(data);
            return got < 0 ? gv_fail(GRAVEL_ERR_FILE, "%s: cannot be read: %s", path, strerror(reason))
                           : gv_fail(GRAVEL_ERR_FORMAT, "%s: longer than the %zu bytes allowed", path, limit);
        }
    }
    data[used] = '\0';
    *text = data;
    if (size) {
        *size = used;
    }
    return GRAVEL_OK;
}

gravel_status gv_file_read(const char *path, size_t limit, char **text, size_t *size)
{
    struct stat about;
    gravel_status status;

    /* O_NONBLOCK: opening a named pipe must not wait for a writer */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return gv_fail(GRAVEL_ERR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    }
    if (fstat(fd, &about) != 0) {
        status = gv_fail(GRAVEL_ERR_FILE, "%s: cannot be read: %s", path, strerror(errno));
    } else if (!S_ISREG(about.st_mode)) {
        status = gv_fail(GRAVEL_ERR_FILE, "%s: not a regular file", path);
    } else if ((uintmax_t)about.st_size > limit) {
        status = gv_fail(GRAVEL_ERR_FORMAT, "%s: longer than the %zu bytes allowed", path, limit);
    } else {
        status = read_all(fd, path, limit, text, size);
    }
    close(fd);
    return status;
}

static int write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t put = write(fd, data, size);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return -1;
        }
        data += put;
        size -= (size_t)put;
    }
    return 0;
}

/* A new file beside `path`.  Not mkstemp: its mode is 0600 whatever the umask says. */
static int open_temporary(const char *path, char **name)
{
    for (int attempt = 0; attempt < 1000; attempt++) {
        *name = gv_format("%s.tmp-%ld-%d", path, (long)getpid(), attempt);
        if (!*name) {
            errno = ENOMEM;
            return -1;
        }
        int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            return fd;
        }
        int reason = errno;
        free(*name);
        *name = NULL;
        errno = reason;
        if (reason != EEXIST) {
            break;
        }
    }
    return -1;
}

gravel_status gv_file_write(const char *path, const void *data, size_t size)
{
    char *temporary;
    gravel_status status = GRAVEL_OK;

    int fd = open_temporary(path, &temporary);
    if (fd < 0) {
        return gv_fail(GRAVEL_ERR_FILE, "%s: cannot be written: %s", path, strerror(errno));
    }
    int failed = write_all(fd, data, size) != 0;
    int reason = errno;
    if (close(fd) != 0 && !failed) {
        failed = 1;
        reason = errno;
    }
    if (!failed && rename(temporary, path) != 0) {
        failed = 1;
        reason = errno;
    }
    if (failed) {
        unlink(temporary);
        status = gv_fail(GRAVEL_ERR_FILE, "%s: cannot be written: %s", path, strerror(reason));
    }
    free(temporary);
    return status;
}

gravel_status gv_folder_make(const char *path)
{
    struct stat about;
    char *part = gv_format("%s", path);
    int reason = 0;

    if (!part) {
        return gv_fail(GRAVEL_ERR_MEMORY, "%s: no memory for its name", path);
    }
    for (char *p = part + 1; part[0] != '\0'; p++) {
        char c = *p;
        if (c != '/' && c != '\0') {
            continue;
        }
        *p = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST) {
            reason = errno;
        }
        *p = c;
        if (c == '\0') {
            break;
        }
    }
    free(part);
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        return GRAVEL_OK;
    }
    return gv_fail(GRAVEL_ERR_FILE, "%s: cannot be made: %s", path, reason ? strerror(reason) : "not a folder");
}

const char *gv_env(const char *name)
{
    const char *value = getenv(name);

    return value && value[0] != '\0' ? value : NULL;
}

char *gv_user_folder(const char *xdg, const char *below_home, const char *name)
{
    const char *base = gv_env(xdg);
    const char *home = gv_env("HOME");

    /* the XDG rules: a relative path is to be ignored */
    if (base && base[0] == '/') {
        return gv_format("%s/gravel/%s", base, name);
    }
    if (home) {
        return gv_format("%s/%s/gravel/%s", home, below_home, name);
    }
    return NULL;
}
