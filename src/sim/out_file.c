#include "sim/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gravel_status fail_write(const char *path, int error)
{
    return gv_fail(GRAVEL_ERR_FILE, "cannot write %s: %s%s", path, strerror(error),
                   error == ENOSPC ? "; free some space or choose another place with -o" : "");
}

/* Not a regular file: /dev/full, a pipe.  A rename over it would replace the device by a file. */
static gravel_status open_in_place(gv_out_file *file)
{
    file->stream = fopen(file->path, "w");
    return file->stream != NULL ? GRAVEL_OK : fail_write(file->path, errno);
}

static gravel_status open_temporary(gv_out_file *file, mode_t mode)
{
    const size_t size = strlen(file->path) + 16;
    file->temporary = malloc(size);
    if (file->temporary == NULL) {
        return gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    }
    snprintf(file->temporary, size, "%s.XXXXXX", file->path);
    const int fd = mkstemp(file->temporary);
    if (fd < 0) {
        const int error = errno;
        free(file->temporary);
        file->temporary = NULL;
        return fail_write(file->path, error);
    }
    /* mkstemp makes it private; the file shall get what a plain open would have given, or what the old one had */
    if (fchmod(fd, mode) != 0 || (file->stream = fdopen(fd, "w")) == NULL) {
        const int error = errno;
        close(fd);
        return fail_write(file->path, error);
    }
    return GRAVEL_OK;
}

gravel_status gv_out_open(gv_out_file *file, const char *path)
{
    struct stat info;
    gravel_status status;
    memset(file, 0, sizeof *file);
    if (strcmp(path, "-") == 0) {
        file->stream = stdout;
    }
    const int exists = file->stream == NULL && stat(path, &info) == 0;
    file->path = exists ? realpath(path, NULL) : NULL;
    if (file->path == NULL) {
        file->path = strdup(file->stream ? "standard output" : path);
    }
    if (file->path == NULL) {
        return gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    }
    if (file->stream != NULL) {
        return GRAVEL_OK;
    }
    if (exists && S_ISDIR(info.st_mode)) {
        status = fail_write(path, EISDIR);
    } else if (exists && !S_ISREG(info.st_mode)) {
        status = open_in_place(file);
    } else if (exists && access(path, W_OK) != 0) {
        status = fail_write(path, errno); /* a rename would get around the write protection */
    } else {
        const mode_t mask = umask(0);
        umask(mask);
        status = open_temporary(file, exists ? info.st_mode & 07777 : 0666 & ~mask);
    }
    if (status != GRAVEL_OK) {
        gv_out_abort(file);
    }
    return status;
}

gravel_status gv_out_commit(gv_out_file *file)
{
    int error = 0;
    errno = 0;
    if (ferror(file->stream)) {
        /* An earlier write failed and its reason is gone: one more character meets the same wall. */
        clearerr(file->stream);
        fputc('\n', file->stream);
        fflush(file->stream);
        error = errno ? errno : EIO;
    } else if (fflush(file->stream) != 0) {
        error = errno ? errno : EIO;
    }
    if (file->temporary != NULL && error == 0 && fsync(fileno(file->stream)) != 0 && errno != EINVAL) {
        error = errno;
    }
    if (file->stream != stdout) {
        if (fclose(file->stream) != 0 && error == 0) {
            error = errno;
        }
    }
    file->stream = NULL;
    if (error == 0 && file->temporary != NULL) {
        if (rename(file->temporary, file->path) == 0) {
            free(file->temporary);
            file->temporary = NULL;
        } else {
            error = errno;
        }
    }
    const gravel_status status = error ? fail_write(file->path, error) : GRAVEL_OK;
    gv_out_abort(file);
    return status;
}

void gv_out_abort(gv_out_file *file)
{
    if (file->stream != NULL && file->stream != stdout) {
        fclose(file->stream);
    }
    if (file->temporary != NULL) {
        unlink(file->temporary);
    }
    free(file->temporary);
    free(file->path);
    memset(file, 0, sizeof *file);
}
