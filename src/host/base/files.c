#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* F_OFD_SETLKW */
#endif
#include "host/base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

char *gv_format(const char *format, ...)
{
    va_list arguments, again;
    char *text = NULL;

    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length >= 0)
        text = malloc((size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
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

/* The folder of a path, and where the name begins. */
static int folder_of(const char *path, struct stat *about, const char **name)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? gv_format("%.*s", (int)(slash - path) + 1, path) : gv_format(".");
    const int found = folder && stat(folder, about) == 0;
    *name = slash ? slash + 1 : path;
    free(folder);
    return found;
}

int gv_same_file(const char *a, const char *b)
{
    struct stat x, y;
    const char *of_a, *of_b;
    const int there = stat(a, &x) == 0, other = stat(b, &y) == 0;
    if (there != other)
        return 0;
    if (!there && (!folder_of(a, &x, &of_a) || !folder_of(b, &y, &of_b) || strcmp(of_a, of_b) != 0))
        return 0;
    return x.st_dev == y.st_dev && x.st_ino == y.st_ino && (!there || S_ISREG(x.st_mode));
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
        if (got == 0)
            break;
        if (got < 0 && errno == EINTR)
            continue;
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
    if (size)
        *size = used;
    return GRAVEL_OK;
}

static gravel_status read_file(const char *path, int own, size_t limit, char **text, size_t *size)
{
    struct stat about;
    gravel_status status;
    const char *why;

    /* O_NONBLOCK: opening a named pipe must not wait for a writer */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | (own ? O_NOFOLLOW : 0));
    if (fd < 0)
        return gv_fail(GRAVEL_ERR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    if (fstat(fd, &about) != 0)
        status = gv_fail(GRAVEL_ERR_FILE, "%s: cannot be read: %s", path, strerror(errno));
    else if (!S_ISREG(about.st_mode))
        status = gv_fail(GRAVEL_ERR_FILE, "%s: not a regular file", path);
    else if (own && (why = gv_not_own(&about)) != NULL)
        status = gv_fail(GRAVEL_ERR_FILE, "%s: not used: %s", path, why);
    else if ((uintmax_t)about.st_size > limit)
        status = gv_fail(GRAVEL_ERR_FORMAT, "%s: longer than the %zu bytes allowed", path, limit);
    else
        status = read_all(fd, path, limit, text, size);
    close(fd);
    return status;
}

gravel_status gv_file_read(const char *path, size_t limit, char **text, size_t *size)
{
    return read_file(path, 0, limit, text, size);
}

gravel_status gv_file_read_own(const char *path, size_t limit, char **text, size_t *size)
{
    return read_file(path, 1, limit, text, size);
}

static int write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t put = write(fd, data, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        data += put;
        size -= (size_t)put;
    }
    return 0;
}

/* Six random bytes that other processes cannot predict, as twelve characters of the name. */
static void random_tail(char tail[GV_TEMPORARY_TAIL + 1])
{
    unsigned char byte[GV_TEMPORARY_TAIL / 2];
    struct timespec now;

    if (getrandom(byte, sizeof byte, GRND_NONBLOCK) != (ssize_t)sizeof byte) {
        clock_gettime(CLOCK_REALTIME, &now);
        for (size_t i = 0; i < sizeof byte; i++)
            byte[i] = (unsigned char)((unsigned long)now.tv_nsec >> (5 * i) ^ (unsigned long)getpid() << i);
    }
    for (size_t i = 0; i < sizeof byte; i++)
        snprintf(tail + 2 * i, 3, "%02x", byte[i]);
}

int gv_is_temporary(const char *name, const char *base)
{
    const size_t n = strlen(name), tail = strlen(GV_TEMPORARY_MARK) + GV_TEMPORARY_TAIL;
    const char *mark = n > tail ? name + n - tail : NULL;

    return mark && strncmp(mark, GV_TEMPORARY_MARK, strlen(GV_TEMPORARY_MARK)) == 0 &&
           strspn(mark + strlen(GV_TEMPORARY_MARK), "0123456789abcdef") == GV_TEMPORARY_TAIL &&
           (!base || (strlen(base) == n - tail && strncmp(name, base, n - tail) == 0));
}

int gv_temporary_open(const char *path, unsigned mode, char **name)
{
    char tail[GV_TEMPORARY_TAIL + 1];
    int reason = ENOMEM;

    *name = NULL;
    for (int attempt = 0; attempt < 100; attempt++) {
        struct stat about;

        random_tail(tail);
        *name = gv_format("%s%s%s", path, GV_TEMPORARY_MARK, tail);
        int fd = *name ? open(*name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode) : -1;
        reason = *name ? errno : ENOMEM;
        /* Locked while it is written, so that no other process removes it as abandoned; on a file system without locks
         * none does.  The link count shows whether it was removed before it was locked. */
        if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && fstat(fd, &about) == 0 &&
            about.st_nlink > 0)
            return fd;
        if (fd >= 0)
            close(fd);
        free(*name);
        *name = NULL;
        if (fd < 0 && reason != EEXIST)
            break;
    }
    errno = reason;
    return -1;
}

int gv_temporary_abandoned(const char *path)
{
    struct stat about;
    int fd = open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    int free_now = fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
                   flock(fd, LOCK_EX | LOCK_NB) == 0;

    if (fd >= 0)
        close(fd);
    return free_now;
}

void gv_temporary_sweep(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char *folder = slash ? gv_format("%.*s", (int)(slash - path) + 1, path) : gv_format(".");
    DIR *dir = folder ? opendir(folder) : NULL;
    struct dirent *next;

    while (dir && (next = readdir(dir)) != NULL) {
        char *found = gv_is_temporary(next->d_name, base) ? gv_path_join(folder, next->d_name) : NULL;

        if (found && gv_temporary_abandoned(found))
            unlink(found);
        free(found);
    }
    if (dir)
        closedir(dir);
    free(folder);
}

static gravel_status write_file(const char *path, unsigned mode, const void *data, size_t size)
{
    char *temporary;
    gravel_status status = GRAVEL_OK;

    int fd = gv_temporary_open(path, mode, &temporary);
    if (fd < 0)
        return gv_fail(GRAVEL_ERR_FILE, "%s: cannot be written: %s", path, strerror(errno));
    /* closing a second descriptor: a network file system reports write errors only then */
    int failed = write_all(fd, data, size) != 0 || close(dup(fd)) != 0;
    int reason = errno;
    if (!failed && rename(temporary, path) != 0) {
        failed = 1;
        reason = errno;
    }
    if (failed) {
        unlink(temporary);
        status = gv_fail(GRAVEL_ERR_FILE, "%s: cannot be written: %s", path, strerror(reason));
    }
    close(fd); /* only now: until then the lock marks the file as in use */
    free(temporary);
    return status;
}

gravel_status gv_file_write(const char *path, const void *data, size_t size)
{
    return write_file(path, 0666, data, size);
}

gravel_status gv_file_write_own(const char *path, const void *data, size_t size)
{
    return write_file(path, 0600, data, size);
}

const char *gv_not_own(const struct stat *about)
{
    return about->st_uid != geteuid()               ? "it belongs to another user"
           : (about->st_mode & (S_IWGRP | S_IWOTH)) ? "others may write to it"
                                                    : NULL;
}

gravel_status gv_folder_make(const char *path)
{
    struct stat about;
    char *part = gv_format("%s", path);
    int reason = 0;

    if (!part)
        return gv_fail(GRAVEL_ERR_MEMORY, "%s: no memory for its name", path);
    for (char *p = part + 1; part[0] != '\0'; p++) {
        char c = *p;
        if (c != '/' && c != '\0')
            continue;
        *p = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            reason = errno;
        *p = c;
        if (c == '\0')
            break;
    }
    free(part);
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return GRAVEL_OK;
    return gv_fail(GRAVEL_ERR_FILE, "%s: cannot be made: %s", path, reason ? strerror(reason) : "not a folder");
}

gravel_status gv_folder_make_for(const char *path, const char *what)
{
    const gravel_status status = gv_folder_make(path);

    if (status == GRAVEL_OK && access(path, W_OK | X_OK) != 0)
        return gv_fail(GRAVEL_ERR_FILE, "%s: %s cannot be written there: %s", path, what, strerror(errno));
    return status;
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
    if (base && base[0] == '/')
        return gv_format("%s/gravel/%s", base, name);
    if (home)
        return gv_format("%s/%s/gravel/%s", home, below_home, name);
    return NULL;
}

/* Locks of the open file: those of a process (F_SETLKW) are gone as soon as any of its threads closes the file. */
#ifdef F_OFD_SETLKW
#define SET_LOCK F_OFD_SETLKW
#else
#define SET_LOCK F_SETLKW
#endif

int gv_file_lock(const char *path, unsigned mode, off_t byte)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode);

    while (fd >= 0 && fcntl(fd, SET_LOCK, &lock) != 0) {
        const int error = errno;

        if (error != EINTR) {
            close(fd);
            errno = error;
            return -1;
        }
    }
    return fd;
}

void gv_file_unlock(int lock)
{
    struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

    if (lock < 0)
        return;
    fcntl(lock, SET_LOCK, &all); /* a process that was forked meanwhile has the open file, too */
    close(lock);
}
