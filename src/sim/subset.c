#include "sim/subset.h"

#include <string.h>

#include "sim/diagnose.h"

static int wanted(const gv_particles *p, size_t i, size_t first, size_t count)
{
    return p->id[i] >= 0 && (size_t)p->id[i] >= first && (size_t)p->id[i] - first < count;
}

static void copy_body(const gv_particles *from, size_t i, gv_particles *to, size_t k)
{
    const double *const source[] = {from->m,  from->x,  from->y,  from->z,  from->vx,
                                    from->vy, from->vz, from->ax, from->ay, from->az};
    double *const target[] = {to->m, to->x, to->y, to->z, to->vx, to->vy, to->vz, to->ax, to->ay, to->az};
    to->id[k] = from->id[i];
    for (size_t c = 0; c < sizeof source / sizeof source[0]; c++)
        if (target[c])
            target[c][k] = source[c][i];
}

static gravel_status begin(const gv_particles *p, size_t count, gv_particles *out)
{
    gravel_status status = gv_particles_create(out, count, p->ax && p->vx ? 2 : p->vx ? 1 : 0);
    if (status)
        return status;
    out->time = p->time;
    out->units = p->units;
    out->id_offset = p->id_offset;
    return GRAVEL_OK;
}

gravel_status gv_subset_ids(const gv_particles *p, size_t first, size_t count, gv_particles *out)
{
    size_t found = 0, next = 0;
    *out = (gv_particles)GV_PARTICLES_INIT;
    for (size_t i = 0; i < p->count; i++)
        found += (size_t)wanted(p, i, first, count);
    if (found == 0)
        return gv_fail(GRAVEL_ERR_INPUT, "no body of the %zu has an id from %zu on%s", p->count, first,
                       count == SIZE_MAX ? "" : " in this range");
    gravel_status status = begin(p, found, out);
    for (size_t i = 0; !status && i < p->count; i++)
        if (wanted(p, i, first, count))
            copy_body(p, i, out, next++);
    return status;
}

gravel_status gv_subset_sample(const gv_particles *p, size_t most, gv_particles *out)
{
    const size_t stride = most > 0 && p->count > most ? (p->count + most - 1) / most : 1;
    gravel_status status = begin(p, (p->count + stride - 1) / stride, out);
    for (size_t i = 0; !status && i < p->count; i += stride)
        copy_body(p, i, out, i / stride);
    return status;
}

gravel_status gv_subset_centre(const gv_particles *p, double centre[3], double velocity[3])
{
    enum { SAMPLE = 100000 };
    gv_particles some;
    gv_surroundings around;
    gv_core core;
    gravel_status status = gv_subset_sample(p, SAMPLE, &some);
    if (status)
        return status;
    status = gv_surroundings_find(&some, &around);
    if (!status) {
        gv_diagnose_core(&some, &around, &core);
        memcpy(centre, core.centre, sizeof core.centre);
        memcpy(velocity, core.velocity, sizeof core.velocity);
        gv_surroundings_free(&around);
    }
    gv_particles_free(&some);
    return status;
}
