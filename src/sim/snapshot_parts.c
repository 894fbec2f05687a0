/* Snapshots in several HDF5 files, as GADGET has them: name.0.hdf5, name.1.hdf5, ...; the first bodies are in the
 * first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/files.h"
#include "sim/snapshot.h"

/* Length of "name" in "name.12.hdf5", and where ".hdf5" begins; 0: of another form. */
static size_t stem_of(const char *path, const char **ending)
{
    const char *dot = strrchr(path, '.'), *digits = dot;
    if (!dot)
        return 0;
    *ending = dot;
    while (digits > path && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    return digits < dot && digits - 1 > path && digits[-1] == '.' ? (size_t)(digits - 1 - path) : 0;
}

static char *part_name(const char *path, size_t stem, const char *ending, int part)
{
    return gv_format("%.*s.%d%s", (int)stem, path, part, ending);
}

char *gv_snapshot_part_name(const char *path, int part)
{
    const char *ending = strrchr(path, '.');
    return ending ? part_name(path, (size_t)(ending - path), ending, part) : NULL;
}

/* ------------------------------------------------------------------- reading */

static gravel_status append(gv_particles *all, const gv_particles *part, const char *path)
{
    double **const to[] = {&all->m,  &all->x,  &all->y,  &all->z,  &all->vx,
                           &all->vy, &all->vz, &all->ax, &all->ay, &all->az};
    double *const from[] = {part->m,  part->x,  part->y,  part->z,  part->vx,
                            part->vy, part->vz, part->ax, part->ay, part->az};
    const size_t n = all->count, more = part->count;
    if (memcmp(&all->units, &part->units, sizeof all->units) != 0 || all->time != part->time)
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: of another time, or in other units, than the file before it", path);
    if (n + more > INT32_MAX)
        return gv_fail(GRAVEL_ERR_INPUT, "%s: more than %d particles together with the files before it", path,
                       INT32_MAX);
    int32_t *id = realloc(all->id, (n + more) * sizeof *id);
    if (id)
        all->id = id;
    int good = id != NULL;
    for (size_t k = 0; k < sizeof to / sizeof to[0] && good; k++) {
        if (!*to[k])
            continue;
        if (!from[k])
            return gv_fail(GRAVEL_ERR_FORMAT, "%s: lacks quantities that the files before it have", path);
        double *column = realloc(*to[k], (n + more) * sizeof *column);
        good = column != NULL;
        if (!good)
            break;
        memcpy(column + n, from[k], more * sizeof *column);
        *to[k] = column;
    }
    if (!good)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the particles of %s", path);
    memcpy(all->id + n, part->id, more * sizeof *id);
    all->count = n + more;
    return GRAVEL_OK;
}

static gravel_status read_next(gv_particles *all, const char *path, const gv_read_options *options, int files)
{
    gv_particles part = GV_PARTICLES_INIT;
    int of = 0;
    if (access(path, R_OK) != 0)
        return gv_fail(GRAVEL_ERR_FILE, "%s: one of %d files of a snapshot, and it cannot be read", path, files);
    gravel_status status = gv_hdf5_read_part(&part, path, options, &of);
    if (!status && of != files)
        status = gv_fail(GRAVEL_ERR_FORMAT, "%s: one of %d files, another says %d", path, of, files);
    if (!status && part.count > 0 && all->count == 0) {
        gv_particles_free(all);
        *all = part;
        return GRAVEL_OK;
    }
    if (!status && part.count > 0)
        status = append(all, &part, path);
    gv_particles_free(&part);
    return status;
}

gravel_status gv_snapshot_read_parts(gv_particles *all, const char *path, const gv_read_options *options)
{
    const char *ending = NULL;
    int files = 0;
    gravel_status status = gv_hdf5_read_part(all, path, options, &files);
    if (status || files == 1)
        return status;
    gv_particles_free(all);
    const size_t stem = stem_of(path, &ending);
    if (stem == 0)
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: one of %d files of a snapshot, whose name should end like .0.hdf5", path,
                       files);
    for (int k = 0; k < files && !status; k++) {
        char *name = part_name(path, stem, ending, k);
        status = name ? read_next(all, name, options, files) : gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
        free(name);
    }
    for (size_t i = 0; options->renumber && i < all->count && !status; i++)
        all->id[i] = (int32_t)i;
    if (!status && all->count == 0)
        status = gv_fail(GRAVEL_ERR_INPUT, "%s: no particles in any of its %d files", path, files);
    if (status)
        gv_particles_free(all);
    return status;
}

/* ------------------------------------------------------------------- writing */

gravel_status gv_snapshot_write_parts(const gv_particles *p, const char *path, int files)
{
    gravel_status status = GRAVEL_OK;
    if (files <= 1)
        return gv_snapshot_write(p, path);
    if (!gv_snapshot_is_hdf5_name(path))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: several files are for HDF5", path);
    if ((size_t)files > p->count)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: %zu particles in %d files", path, p->count, files);
    const int64_t offset = gv_particles_id_offset(p); /* one for all: ids that differ do so in the files */
    for (int k = 0; k < files && !status; k++) {
        const size_t begin =
            p->count / (size_t)files * (size_t)k + p->count % (size_t)files * (size_t)k / (size_t)files;
        const size_t end =
            p->count / (size_t)files * (size_t)(k + 1) + p->count % (size_t)files * (size_t)(k + 1) / (size_t)files;
        gv_particles part = *p;
        double **const column[] = {&part.m,  &part.x,  &part.y,  &part.z,  &part.vx,
                                   &part.vy, &part.vz, &part.ax, &part.ay, &part.az};
        char *name = gv_snapshot_part_name(path, k);
        part.count = end - begin;
        part.id += begin;
        part.id_offset = offset;
        for (size_t c = 0; c < sizeof column / sizeof column[0]; c++)
            if (*column[c])
                *column[c] += begin;
        status = name ? gv_hdf5_write_part(&part, name, p->count, files) : gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
        free(name);
    }
    return status;
}
