#include "sim/particles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/memory.h"

static gravel_status make(double **array, size_t count)
{
    *array = calloc(count ? count : 1, sizeof **array);
    return *array ? GRAVEL_OK : GRAVEL_ERR_MEMORY;
}

static gravel_status make_vector(double **x, double **y, double **z, size_t count)
{
    if (make(x, count) || make(y, count) || make(z, count))
        return GRAVEL_ERR_MEMORY;
    return GRAVEL_OK;
}

gravel_status gv_particles_create(gv_particles *particles, size_t count, int derivatives)
{
    gv_particles p = GV_PARTICLES_INIT;
    *particles = p;
    if (count > INT32_MAX)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%zu particles: ids reach only to %d", count, INT32_MAX);
    gravel_status status =
        gv_memory_holds((double)count, (double)(sizeof *p.id + (4 + 3 * (size_t)derivatives) * 8), "bodies");
    if (status)
        return status;
    p.count = count;
    p.id = malloc((count ? count : 1) * sizeof *p.id);
    status = p.id ? make(&p.m, count) : GRAVEL_ERR_MEMORY;
    if (!status)
        status = make_vector(&p.x, &p.y, &p.z, count);
    if (!status && derivatives >= 1)
        status = make_vector(&p.vx, &p.vy, &p.vz, count);
    if (!status && derivatives >= 2)
        status = make_vector(&p.ax, &p.ay, &p.az, count);
    if (status) {
        gv_particles_free(&p);
        return gv_fail(status, "no memory for %zu particles", count);
    }
    for (size_t i = 0; i < count; i++)
        p.id[i] = (int32_t)i;
    *particles = p;
    return GRAVEL_OK;
}

void gv_particles_free(gv_particles *particles)
{
    double *array[] = {particles->m,  particles->x,  particles->y,  particles->z,  particles->vx,
                       particles->vy, particles->vz, particles->ax, particles->ay, particles->az};
    for (size_t k = 0; k < sizeof array / sizeof array[0]; k++)
        free(array[k]);
    free(particles->id);
    *particles = (gv_particles)GV_PARTICLES_INIT;
}

gravel_status gv_particles_check_box(const gv_particles *p, double margin)
{
    const double *const x[3] = {p->x, p->y, p->z};
    const double low = 0 - margin * p->box.side, high = (1 + margin) * p->box.side;
    for (size_t k = 0; k < p->count; k++)
        for (int c = 0; c < 3; c++)
            if (!(x[c][k] >= low && x[c][k] <= high))
                return gv_fail(
                    GRAVEL_ERR_INPUT,
                    "particle %zu (id %d) is outside the box: %c = %g is not between %g and %g (BoxSize = %g)", k,
                    (int)p->id[k], "xyz"[c], x[c][k], low, high, p -> box.side);
    return GRAVEL_OK;
}

void gv_particles_scale_masses(gv_particles *particles, double factor)
{
    for (size_t i = 0; i < particles->count; i++)
        particles->m[i] *= factor;
}

static void scale(double *column, size_t count, double factor)
{
    for (size_t i = 0; column && factor != 1.0 && i < count; i++)
        column[i] *= factor;
}

void gv_particles_convert(gv_particles *p, const gv_units *to)
{
    const double length = gv_units_length_factor(&p->units, to), mass = gv_units_mass_factor(&p->units, to),
                 velocity = gv_units_velocity_factor(&p->units, to);
    double *const x[3] = {p->x, p->y, p->z}, *const v[3] = {p->vx, p->vy, p->vz}, *const a[3] = {p->ax, p->ay, p->az};
    scale(p->m, p->count, mass);
    for (int c = 0; c < 3; c++) {
        scale(x[c], p->count, length);
        scale(v[c], p->count, velocity);
        scale(a[c], p->count, velocity * velocity / length);
    }
    p->period *= length;
    if (p->box.side > 0)
        p->box.side *= length;
    else if (!p->expanding)
        p->time *= length / velocity;
    p->units = *to;
}

int64_t gv_particles_id_offset(const gv_particles *p)
{
    int64_t least = p->id[0];
    for (size_t i = 0; i < p->count; i++)
        least = p->id[i] < least ? p->id[i] : least;
    return least + p->id_offset < 1 ? 1 - least : p->id_offset;
}

void gv_particles_give_size(gv_particles *p, double mass_g, double length_cm)
{
    p->units = (gv_units){length_cm, mass_g, sqrt(GV_G_CGS * mass_g / length_cm)};
}

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* A body of id -1 would act on itself: to the library it is none.  Ids that rise from body to body, as written by most
 * programs, need no sorting. */
static gravel_status check_ids(const gv_particles *p, const char *name)
{
    size_t i = 1;
    for (size_t k = 0; k < p->count; k++)
        if (p->id[k] == -1)
            return gv_fail(GRAVEL_ERR_INPUT,
                           "%s: particle %zu: the id -1 stands for no body; gravel convert --renumber gives ids 0, 1, "
                           "...",
                           name, k);
    while (i < p->count && p->id[i] > p->id[i - 1])
        i++;
    if (i >= p->count)
        return GRAVEL_OK;
    int32_t *id = malloc(p->count * sizeof *id);
    if (!id)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the ids of %zu particles", p->count);
    memcpy(id, p->id, p->count * sizeof *id);
    qsort(id, p->count, sizeof *id, ascending);
    gravel_status status = GRAVEL_OK;
    for (i = 1; i < p->count && !status; i++)
        if (id[i] == id[i - 1])
            status =
                gv_fail(GRAVEL_ERR_INPUT, "%s: the id %d occurs more than once; ids name the bodies", name, (int)id[i]);
    free(id);
    return status;
}

gravel_status gv_particles_check(const gv_particles *p, const char *name)
{
    static const char *const word[] = {"m", "x", "y", "z", "vx", "vy", "vz", "ax", "ay", "az"};
    const double *const column[] = {p->m, p->x, p->y, p->z, p->vx, p->vy, p->vz, p->ax, p->ay, p->az};
    for (size_t c = 0; c < sizeof column / sizeof column[0]; c++)
        for (size_t i = 0; column[c] && i < p->count; i++)
            if (!isfinite(column[c][i]))
                return gv_fail(GRAVEL_ERR_INPUT, "%s: particle %zu: %s is not finite", name, i, word[c]);
    for (size_t i = 0; i < p->count; i++)
        if (p->m[i] < 0.0)
            return gv_fail(GRAVEL_ERR_INPUT, "%s: particle %zu: the mass %g is below zero", name, i, p->m[i]);
    return check_ids(p, name);
}
