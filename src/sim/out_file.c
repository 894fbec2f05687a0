#include "sim/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/base/files.h"

/* Names of the open temporary files.  The lock is held from before a file appears until its name is here, so that a
 * signal at any moment finds every file. */
enum { SLOTS = 8, LONGEST_PATH = 4096 };
static struct {
    pthread_mutex_t lock;
    int used[SLOTS];
    char path[SLOTS][LONGEST_PATH];
} slots = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* With the lock held. */
static int take_slot(const char *path)
{
    int slot = 0;

    while (slot < SLOTS && slots.used[slot])
        slot++;
    if (slot == SLOTS || strlen(path) >= LONGEST_PATH)
        return -1;
    strcpy(slots.path[slot], path);
    slots.used[slot] = 1;
    return slot;
}

static void leave_slot(int slot)
{
    if (slot < 0)
        return;
    pthread_mutex_lock(&slots.lock);
    slots.used[slot] = 0;
    pthread_mutex_unlock(&slots.lock);
}

void gv_out_remove_all(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++; /* a network disk that hangs keeps nobody from ending */
    pthread_mutex_timedlock(&slots.lock, &until);
    for (int slot = 0; slot < SLOTS; slot++)
        if (slots.used[slot])
            unlink(slots.path[slot]);
}

static gravel_status fail_write(const char *path, int error)
{
    return gv_fail(GRAVEL_ERR_FILE, "cannot write %s: %s%s", path, strerror(error),
                   error == ENOSPC ? "; free some space or write to another place" : "");
}

/* Not a regular file: /dev/full, a pipe.  A rename over it would replace the device by a file. */
static gravel_status open_in_place(gv_out_file *file)
{
    file->stream = fopen(file->path, "w");
    return file->stream != NULL ? GRAVEL_OK : fail_write(file->path, errno);
}

static gravel_status open_temporary(gv_out_file *file, mode_t mode)
{
    gv_temporary_sweep(file->path);
    pthread_mutex_lock(&slots.lock);
    const int fd = gv_temporary_open(file->path, 0600, &file->temporary), error = errno;
    if (fd >= 0)
        file->slot = take_slot(file->temporary);
    pthread_mutex_unlock(&slots.lock);
    if (fd < 0)
        return fail_write(file->path, error);
    file->lock = dup(fd); /* the lock lasts until both are closed: until the rename */
    /* the mode that a plain open would have given, or that of the old file */
    if (fchmod(fd, mode) != 0 || (file->stream = fdopen(fd, "w")) == NULL) {
        const int why = errno;
        close(fd);
        return fail_write(file->path, why);
    }
    return GRAVEL_OK;
}

gravel_status gv_out_open(gv_out_file *file, const char *path)
{
    struct stat info;
    gravel_status status;
    memset(file, 0, sizeof *file);
    file->lock = file->slot = -1;
    if (strcmp(path, "-") == 0)
        file->stream = stdout;
    const int exists = file->stream == NULL && stat(path, &info) == 0;
    file->path = exists ? realpath(path, NULL) : NULL;
    if (file->path == NULL)
        file->path = strdup(file->stream ? "standard output" : path);
    if (file->path == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    if (file->stream != NULL)
        return GRAVEL_OK;
    if (exists && S_ISDIR(info.st_mode)) {
        status = fail_write(path, EISDIR);
    } else if (exists && !S_ISREG(info.st_mode)) {
        status = open_in_place(file);
    } else if (exists && access(path, W_OK) != 0) {
        status = fail_write(path, errno); /* a rename would bypass the write protection */
    } else {
        const mode_t mask = umask(0);
        umask(mask);
        status = open_temporary(file, exists ? info.st_mode & 07777 : 0666 & ~mask);
    }
    if (status != GRAVEL_OK)
        gv_out_abort(file);
    return status;
}

gravel_status gv_out_check(const char *path)
{
    gv_out_file file;
    struct stat info;
    if (strcmp(path, "-") == 0 || (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)))
        return GRAVEL_OK;
    const gravel_status status = gv_out_open(&file, path);
    gv_out_abort(&file);
    return status;
}

gravel_status gv_out_finish(gv_out_file *file)
{
    int error = 0;
    if (file->stream == NULL)
        return GRAVEL_OK;
    errno = 0;
    if (ferror(file->stream)) {
        /* An earlier write failed and errno is lost: writing one more character gives the reason again. */
        clearerr(file->stream);
        fputc('\n', file->stream);
        fflush(file->stream);
        error = errno ? errno : EIO;
    } else if (fflush(file->stream) != 0) {
        error = errno ? errno : EIO;
    }
    if (file->temporary != NULL && error == 0 && fsync(fileno(file->stream)) != 0 && errno != EINVAL)
        error = errno;
    if (file->stream != stdout && fclose(file->stream) != 0 && error == 0)
        error = errno;
    file->stream = NULL;
    if (error == 0)
        return GRAVEL_OK;
    const gravel_status status = fail_write(file->path, error);
    gv_out_abort(file);
    return status;
}

gravel_status gv_out_commit(gv_out_file *file)
{
    gravel_status status = gv_out_finish(file);
    if (status == GRAVEL_OK && file->temporary != NULL) {
        if (rename(file->temporary, file->path) == 0) {
            leave_slot(file->slot);
            file->slot = -1;
            free(file->temporary);
            file->temporary = NULL;
        } else {
            status = fail_write(file->path, errno);
        }
    }
    gv_out_abort(file);
    return status;
}

void gv_out_abort(gv_out_file *file)
{
    if (file->path == NULL) /* not open, or no longer */
        return;
    if (file->stream != NULL && file->stream != stdout)
        fclose(file->stream);
    if (file->temporary != NULL)
        unlink(file->temporary);
    leave_slot(file->slot);
    if (file->lock >= 0)
        close(file->lock);
    free(file->temporary);
    free(file->path);
    memset(file, 0, sizeof *file);
}
