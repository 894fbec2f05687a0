#include "cli/compute.h"
#include "cpu_ref/ewald.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- results */

gravel_status gv_force_set_create(gv_force_set *set, size_t count, int order, int nearest, size_t capacity)
{
    const size_t room = count ? count : 1;
    const size_t components = order == 2 ? 4 : order == 4 ? 7 : 10;
    int failed = 0;
    memset(set, 0, sizeof *set);
    set->count = count;
    set->order = order;
    set->capacity = capacity;
    double *reals = malloc(room * components * sizeof *reals);
    if (reals != NULL) {
        double **const member[10] = {&set->ax, &set->ay, &set->az, &set->pot, &set->jx,
                                     &set->jy, &set->jz, &set->sx, &set->sy,  &set->sz};
        for (size_t c = 0; c < components; c++)
            *member[c] = reals + c * room;
        for (size_t i = 0; i < room * components; i++)
            reals[i] = NAN;
    }
    if (nearest) {
        set->nearest_id = malloc(room * sizeof *set->nearest_id);
        set->nearest_address = malloc(room * sizeof *set->nearest_address);
        set->nearest_distance = malloc(room * sizeof *set->nearest_distance);
        failed = set->nearest_id == NULL || set->nearest_address == NULL || set->nearest_distance == NULL;
        for (size_t i = 0; !failed && i < room; i++) {
            set->nearest_id[i] = -1;
            set->nearest_address[i] = GRAVEL_NONE;
            set->nearest_distance[i] = NAN;
        }
    }
    if (capacity > 0) {
        set->neighbour_count = malloc(room * sizeof *set->neighbour_count);
        set->neighbour_address = malloc(room * capacity * sizeof *set->neighbour_address);
        set->neighbour_id = malloc(room * capacity * sizeof *set->neighbour_id);
        if (set->neighbour_count == NULL || set->neighbour_address == NULL || set->neighbour_id == NULL) {
            failed = 1;
        } else {
            memset(set->neighbour_count, 0xff, room * sizeof *set->neighbour_count);
            memset(set->neighbour_address, 0xff, room * capacity * sizeof *set->neighbour_address);
        }
    }
    if (reals == NULL || failed) {
        gv_force_set_free(set);
        return gv_fail(GRAVEL_ERR_MEMORY, "out of memory for the forces on %zu sinks%s", count,
                       capacity ? "; a smaller --neighbours-capacity needs less" : "");
    }
    return GRAVEL_OK;
}

void gv_force_set_free(gv_force_set *set)
{
    free(set->ax); /* the block of all reals */
    free(set->nearest_id);
    free(set->nearest_address);
    free(set->nearest_distance);
    free(set->neighbour_count);
    free(set->neighbour_address);
    free(set->neighbour_id);
    memset(set, 0, sizeof *set);
}

#define AT(pointer, index) ((pointer) != NULL ? (pointer) + (index) : NULL)

gravel_forces gv_force_set_view(const gv_force_set *set, size_t first)
{
    gravel_forces view;
    memset(&view, 0, sizeof view);
    view.acc = GRAVEL_VEC_OUT_SOA(set->ax + first, set->ay + first, set->az + first);
    view.pot = set->pot + first;
    view.jerk = GRAVEL_VEC_OUT_SOA(AT(set->jx, first), AT(set->jy, first), AT(set->jz, first));
    view.snap = GRAVEL_VEC_OUT_SOA(AT(set->sx, first), AT(set->sy, first), AT(set->sz, first));
    view.nearest_id = AT(set->nearest_id, first);
    view.nearest_address = AT(set->nearest_address, first);
    view.nearest_distance = AT(set->nearest_distance, first);
    view.neighbour_count = AT(set->neighbour_count, first);
    view.neighbour_id = AT(set->neighbour_id, first * set->capacity);
    view.neighbour_address = AT(set->neighbour_address, first * set->capacity);
    return view;
}

/* ------------------------------------------------------- sinks and sources */

gravel_sources gv_sources_view(const gv_particles *particles)
{
    gravel_sources view;
    memset(&view, 0, sizeof view);
    view.count = particles->count;
    view.mass = particles->m;
    view.id = particles->id;
    view.pos = GRAVEL_VEC_SOA(particles->x, particles->y, particles->z);
    view.vel = GRAVEL_VEC_SOA(particles->vx, particles->vy, particles->vz);
    view.acc = GRAVEL_VEC_SOA(particles->ax, particles->ay, particles->az);
    return view;
}

gravel_sinks gv_sinks_view(const gv_particles *particles, size_t first, size_t count, const double *radius)
{
    gravel_sinks view;
    memset(&view, 0, sizeof view);
    view.count = count;
    view.id = particles->id + first;
    view.pos = GRAVEL_VEC_SOA(particles->x + first, particles->y + first, particles->z + first);
    view.vel = GRAVEL_VEC_SOA(AT(particles->vx, first), AT(particles->vy, first), AT(particles->vz, first));
    view.acc = GRAVEL_VEC_SOA(AT(particles->ax, first), AT(particles->ay, first), AT(particles->az, first));
    view.radius = radius;
    return view;
}

gravel_status gv_particles_pick(gv_particles *picked, const gv_particles *particles, size_t first, size_t step,
                                size_t count)
{
    const int derivatives = particles->ax != NULL ? 2 : particles->vx != NULL ? 1 : 0;
    const gravel_status status = gv_particles_create(picked, count, derivatives);
    if (status != GRAVEL_OK)
        return status;
    double *const from[10] = {particles->m,  particles->x,  particles->y,  particles->z,  particles->vx,
                              particles->vy, particles->vz, particles->ax, particles->ay, particles->az};
    double *const to[10] = {picked->m,  picked->x,  picked->y,  picked->z,  picked->vx,
                            picked->vy, picked->vz, picked->ax, picked->ay, picked->az};
    for (size_t i = 0; i < count; i++) {
        picked->id[i] = particles->id[first + i * step];
        for (int c = 0; c < 4 + 3 * derivatives; c++)
            to[c][i] = from[c][first + i * step];
    }
    return GRAVEL_OK;
}

size_t gv_sample_size(size_t sinks, size_t sources, size_t at_most, size_t *step)
{
    const size_t pairs = (size_t)1 << 25; /* the reference takes some 20 ns for a pair */
    size_t count = pairs / (sources ? sources : 1);
    count = count < 16 ? 16 : count;
    count = count > at_most ? at_most : count;
    count = count > sinks ? sinks : count;
    *step = count ? sinks / count : 1;
    return count;
}

static gv_ref_particles ref_view(const gv_particles *p)
{
    return (gv_ref_particles){p->count, p->m, p->id, p->x, p->y, p->z, p->vx, p->vy, p->vz, p->ax, p->ay, p->az};
}

gravel_status gv_reference_forces(const gv_particles *sinks, const gv_particles *sources, double eps,
                                  const double *radius, gv_force_set *out)
{
    const gv_ref_particles i = ref_view(sinks), j = ref_view(sources);
    const gv_ref_forces view = {.ax = out->ax,
                                .ay = out->ay,
                                .az = out->az,
                                .pot = out->pot,
                                .jx = out->jx,
                                .jy = out->jy,
                                .jz = out->jz,
                                .sx = out->sx,
                                .sy = out->sy,
                                .sz = out->sz,
                                .nearest_id = out->nearest_id,
                                .nearest_address = out->nearest_address,
                                .nearest_distance = out->nearest_distance,
                                .neighbour_count = out->neighbour_count,
                                .neighbour_address = out->neighbour_address};
    if (gv_ref_direct(GV_REF_LONG_DOUBLE, out->order, &i, &j, eps, radius, out->capacity, &view) != 0) {
        return gv_fail(GRAVEL_ERR_MEMORY, "the reference cannot do %zu sinks and %zu sources", sinks->count,
                       sources->count);
    }
    for (size_t k = 0; out->neighbour_count != NULL && k < out->count; k++)
        for (size_t n = 0; n < out->capacity && n < out->neighbour_count[k]; n++)
            out->neighbour_id[k * out->capacity + n] = sources->id[out->neighbour_address[k * out->capacity + n]];
    return GRAVEL_OK;
}

gravel_status gv_ewald_forces(const gv_particles *sinks, const gv_particles *sources, double side, double eps,
                              int spline, gv_force_set *out)
{
    const gv_ref_particles i = ref_view(sinks), j = ref_view(sources);
    const gv_ref_box box = {side, 0, eps, spline ? GV_REF_SPLINE : GV_REF_PLUMMER};
    const gv_ref_forces view = {.ax = out->ax, .ay = out->ay, .az = out->az, .pot = out->pot};
    return gv_ref_ewald(GV_REF_DOUBLE, &i, &j, &box, &view) == 0
               ? GRAVEL_OK
               : gv_fail(GRAVEL_ERR_MEMORY, "Ewald's sums cannot do %zu sinks and %zu sources", sinks->count,
                         sources->count);
}

gravel_status gv_direct_call(gravel_direct *direct, const gravel_sinks *sinks, double eps, const gv_force_set *out,
                             size_t *overflow)
{
    const gravel_forces view = gv_force_set_view(out, 0);
    const gravel_status status = gravel_direct_submit(direct, sinks, eps);
    return status != GRAVEL_OK ? status : gravel_direct_collect(direct, &view, overflow);
}
