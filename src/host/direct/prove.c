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

typedef struct results {
    double value[10][GV_KNOWN_BODIES];
} results;

static gravel_status compute(gravel_direct *direct, const gv_known *k, int order, results *out, gravel_forces *forces)
{
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
                                .acc = order >= 6 ? acc : none};

    *forces = (gravel_forces){.acc = {out->value[0], out->value[1], out->value[2], 1}, .pot = out->value[3]};
    if (order >= 4)
        forces->jerk = (gravel_vec_out){out->value[4], out->value[5], out->value[6], 1};
    if (order >= 6)
        forces->snap = (gravel_vec_out){out->value[7], out->value[8], out->value[9], 1};
    gravel_status status = gravel_direct_write_sources(direct, 0, &sources);
    if (!status)
        status = gravel_direct_submit(direct, &sinks, k->eps);
    return status ? status : gravel_direct_collect(direct, forces, NULL);
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
    options.neighbour_capacity = variant->features & GV_DIRECT_LISTS ? 4 : 0;
    options.device = device;
    options.configuration = configuration;
    status = known && out ? gravel_direct_create(&direct, context, &options)
                          : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the self-test of %s", variant->name);
    if (!status) {
        gv_known_make(known, variant->features & GV_DIRECT_UNSOFTENED ? 0 : 1e-2);
        status = compute(direct, known, variant->order, out, &forces);
    }
    if (!status)
        *error = gv_known_error(known, &forces);
    *most = allowed(variant->precision);
    gravel_direct_release(direct);
    free(out);
    free(known);
    return status;
}
