/* The self-test of a configuration: the known problem by a gravel_direct of its own, through all that a call uses. */
#include <math.h>
#include <stdlib.h>

#include "host/direct/plan.h"
#include "host/profile/known.h"

/* Relative to the sum of what all pairs contribute.  Float: pairs carry eight roundings of 2^-24 at most in their roots
 * (space.c), three times that in their cubes, some more in derivatives that cancel: 2e-5 is ten times that.  The same
 * for double, with its roundings: 3e-14. */
static double allowed(gravel_precision precision)
{
    return precision == GRAVEL_DP ? 3e-14 : 2e-5;
}

/* Some bodies have more neighbours than the capacity within the radius, some fewer. */
enum { CAPACITY = 4 };
#define RADIUS 0.3

typedef struct results {
    double value[10][GV_KNOWN_BODIES];
    uint32_t nearest[GV_KNOWN_BODIES], count[GV_KNOWN_BODIES], list[GV_KNOWN_BODIES][CAPACITY];
} results;

static gravel_status compute(gravel_direct *direct, const gv_known *k, const gv_variant *variant, results *out,
                             gravel_forces *forces)
{
    const int order = variant->order;
    double radius[GV_KNOWN_BODIES];

    const gravel_vec pos = {k->pos[0], k->pos[1], k->pos[2], 1}, vel = {k->vel[0], k->vel[1], k->vel[2], 1};
    const gravel_vec acc = {k->acc[0], k->acc[1], k->acc[2], 1}, none = {NULL, NULL, NULL, 0};
    const gravel_sources sources = {.count = GV_KNOWN_BODIES,
                                    .mass = k->mass,
                                    .id = k->id,
                                    .pos = pos,
                                    .vel = order >= 4 ? vel : none,
                                    .acc = order >= 6 ? acc : none};
    const gravel_sinks sinks = {.count = GV_KNOWN_BODIES,
                                .id = k->id,
                                .pos = pos,
                                .vel = order >= 4 ? vel : none,
                                .acc = order >= 6 ? acc : none,
                                .radius = variant->features & GV_DIRECT_LISTS ? radius : NULL};

    for (int i = 0; i < GV_KNOWN_BODIES; i++)
        radius[i] = RADIUS;
    *forces = (gravel_forces){.acc = {out->value[0], out->value[1], out->value[2], 1}, .pot = out->value[3]};
    if (order >= 4)
        forces->jerk = (gravel_vec_out){out->value[4], out->value[5], out->value[6], 1};
    if (order >= 6)
        forces->snap = (gravel_vec_out){out->value[7], out->value[8], out->value[9], 1};
    if (variant->features & GV_DIRECT_NEAREST)
        forces->nearest_address = out->nearest;
    if (variant->features & GV_DIRECT_LISTS) {
        forces->neighbour_count = out->count;
        forces->neighbour_address = out->list[0];
    }
    gravel_status status = gravel_direct_write_sources(direct, 0, &sources);
    if (!status)
        status = gravel_direct_submit(direct, &sinks, k->eps);
    return status ? status : gravel_direct_collect(direct, forces, NULL);
}

/* Which bodies are near is no matter of rounding here: positions are floats, and no two distances, nor one and the
 * radius, are as near to each other as their squares are rounded (tests/profile/test_proof.c). */
static int neighbours_are_right(const gv_known *k, const gravel_forces *f)
{
    for (int i = 0; i < GV_KNOWN_BODIES; i++) {
        double least = INFINITY;
        uint32_t nearest = GRAVEL_NONE, count = 0;
        for (uint32_t j = 0; j < GV_KNOWN_BODIES; j++) {
            const double r2 = gv_known_distance2(k, i, (int)j);
            if ((int)j == i)
                continue;
            if (r2 < least) {
                least = r2;
                nearest = j;
            }
            if (r2 > RADIUS * RADIUS)
                continue;
            if (f->neighbour_count && count < CAPACITY && f->neighbour_address[i * CAPACITY + (int)count] != j)
                return 0;
            count++;
        }
        if ((f->nearest_address && f->nearest_address[i] != nearest) ||
            (f->neighbour_count && f->neighbour_count[i] != count))
            return 0;
    }
    return 1;
}

gravel_status gv_direct_prove(gravel_context *context, int device, const gv_variant *variant, const char *configuration,
                              double *error, double *most)
{
    gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
    gv_known *known = malloc(sizeof *known);
    results *out = malloc(sizeof *out);
    gravel_direct *direct = NULL;
    gravel_forces forces;
    gravel_status status;

    options.order = variant->order;
    options.precision = variant->precision;
    options.nearest = (variant->features & GV_DIRECT_NEAREST) != 0;
    options.neighbour_capacity = variant->features & GV_DIRECT_LISTS ? CAPACITY : 0;
    options.device = device;
    options.configuration = configuration;
    status = known && out ? gravel_direct_create(&direct, context, &options)
                          : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the self-test of %s", variant->name);
    if (!status) {
        gv_known_make(known, 1e-2);
        status = compute(direct, known, variant, out, &forces);
    }
    if (!status)
        *error = neighbours_are_right(known, &forces) ? gv_known_error(known, &forces) : INFINITY;
    *most = allowed(variant->precision);
    gravel_direct_release(direct);
    free(out);
    free(known);
    return status;
}
