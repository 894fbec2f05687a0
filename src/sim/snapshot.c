#include "sim/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/particle_text.h"

int gv_snapshot_has_hdf5(void)
{
#ifdef GV_HAVE_HDF5
    return 1;
#else
    return 0;
#endif
}

static int ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), k = strlen(end);
    return n > k && strcmp(text + n - k, end) == 0;
}

int gv_snapshot_is_hdf5_name(const char *path)
{
    return ends_with(path, ".hdf5") || ends_with(path, ".h5");
}

/* 0 also for what cannot be read: the reader of text gives the reason. */
static int has_signature(const char *path)
{
    static const char signature[8] = "\211HDF\r\n\032\n";
    struct stat about;
    char begin[8] = "";
    /* not of a pipe: what is taken from it is gone, and its writer fails where a reader came and left */
    if (strcmp(path, "-") == 0 || stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return 0;
    const ssize_t got = read(fd, begin, sizeof begin);
    close(fd);
    return got == (ssize_t)sizeof begin && memcmp(begin, signature, sizeof begin) == 0;
}

long gv_snapshot_number(const char *name)
{
    static const char prefix[] = "snapshot_";
    char *end;
    if (strncmp(name, prefix, strlen(prefix)) != 0 || name[strlen(prefix)] < '0' || name[strlen(prefix)] > '9')
        return -1;
    const long number = strtol(name + strlen(prefix), &end, 10);
    if (strncmp(end, ".0.", 3) == 0)
        end += 2;
    return strcmp(end, ".hdf5") == 0 || strcmp(end, ".h5") == 0 || strcmp(end, ".txt") == 0 ? number : -1;
}

/* A folder in place of a file: the last snapshot in it is what was meant. */
static gravel_status refuse_folder(const char *path)
{
    char last[256] = "";
    long number = -1;
    const struct dirent *next;
    DIR *dir = strcmp(path, "-") ? opendir(path) : NULL;
    if (!dir)
        return GRAVEL_OK;
    while ((next = readdir(dir)) != NULL)
        if (gv_snapshot_number(next->d_name) > number) {
            number = gv_snapshot_number(next->d_name);
            snprintf(last, sizeof last, "%s", next->d_name);
        }
    closedir(dir);
    return gv_fail(GRAVEL_ERR_FILE, "%s is a folder, not a file of particles%s%s%s%s", path,
                   last[0] ? "; its last snapshot is " : "", last[0] ? path : "", last[0] ? "/" : "", last);
}

gravel_status gv_snapshot_read(gv_particles *particles, const char *path, const gv_read_options *options)
{
    gv_read_options o = GV_READ_OPTIONS_INIT;
    if (options)
        o = *options;
    *particles = (gv_particles)GV_PARTICLES_INIT;
    gravel_status status = refuse_folder(path);
    if (status)
        return status;
    if (has_signature(path))
        return gv_snapshot_read_parts(particles, path, &o);
    if (gv_snapshot_is_hdf5_name(path)) {
        char *first = access(path, F_OK) ? gv_snapshot_part_name(path, 0) : NULL;
        const int parts = first && has_signature(first);
        status = parts ? gv_snapshot_read_parts(particles, first, &o) : GRAVEL_OK;
        free(first);
        if (parts)
            return status;
        if (access(path, R_OK))
            return gv_fail(GRAVEL_ERR_FILE, "cannot read %s: %s", path, strerror(errno));
        return gv_fail(GRAVEL_ERR_FORMAT,
                       "%s: not an HDF5 file (its first bytes are others): damaged, or text under a wrong name", path);
    }
    status = gv_particles_read_text(particles, path);
    if (status)
        return status;
    if (gv_units_are_nbody(&particles->units))
        particles->units = o.text_units;
    else if (!gv_units_are_nbody(&o.text_units) && memcmp(&particles->units, &o.text_units, sizeof o.text_units) != 0) {
        char text[GV_UNITS_TEXT];
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "%s says itself that it is in %s: leave out --units", path,
                         gv_units_text(&particles->units, text));
        gv_particles_free(particles);
        return status;
    }
    for (size_t i = 0; o.renumber && i < particles->count; i++)
        particles->id[i] = (int32_t)i;
    return GRAVEL_OK;
}

gravel_status gv_snapshot_write(const gv_particles *particles, const char *path)
{
    if (gv_snapshot_is_hdf5_name(path))
        return gv_hdf5_write(particles, path, NULL, 0);
    return gv_particles_write_text(particles, path);
}

#ifndef GV_HAVE_HDF5
static gravel_status no_hdf5(const char *path)
{
    return gv_fail(GRAVEL_ERR_UNSUPPORTED,
                   "%s: this gravel was built without HDF5; install libhdf5-dev and build again, or use text (any name "
                   "that does not end in .hdf5 or .h5)",
                   path);
}

gravel_status gv_hdf5_read_part(gv_particles *particles, const char *path, const gv_read_options *options, int *files)
{
    (void)options;
    *files = 1;
    *particles = (gv_particles)GV_PARTICLES_INIT;
    return no_hdf5(path);
}

gravel_status gv_hdf5_write(const gv_particles *particles, const char *path, const gv_snapshot_column *more,
                            int columns)
{
    (void)particles;
    (void)more;
    (void)columns;
    return no_hdf5(path);
}

gravel_status gv_hdf5_write_part(const gv_particles *particles, const char *path, size_t total, int files)
{
    (void)particles;
    (void)total;
    (void)files;
    return no_hdf5(path);
}
#endif
