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
#define EPS 1e-2

typedef struct results {
    double value[10][GV_KNOWN_BODIES];
    uint32_t nearest[GV_KNOWN_BODIES], count[GV_KNOWN_BODIES], list[GV_KNOWN_BODIES][CAPACITY];
} results;

static void collect_into(results *out, const gv_variant *variant, gravel_forces *forces)
{
    *forces = (gravel_forces){.acc = {out->value[0], out->value[1], out->value[2], 1}, .pot = out->value[3]};
    if (variant->order >= 4)
        forces->jerk = (gravel_vec_out){out->value[4], out->value[5], out->value[6], 1};
    if (variant->order >= 6)
        forces->snap = (gravel_vec_out){out->value[7], out->value[8], out->value[9], 1};
    if (variant->features & GV_DIRECT_NEAREST)
        forces->nearest_address = out->nearest;
    if (variant->features & GV_DIRECT_LISTS) {
        forces->neighbour_count = out->count;
        forces->neighbour_address = out->list[0];
    }
}

static gravel_status make_bodies(gravel_context *context, int device, const gv_known *k, const gv_variant *variant,
                                 gravel_bodies **bodies)
{
    const struct {
        gravel_plane plane;
        int order; /* from which on it is there */
        gravel_array value;
    } written[] = {{GRAVEL_MASS, 2, GRAVEL_ARRAY(k->mass)},
                   {GRAVEL_POSITION, 2, GRAVEL_ARRAY_SOA(k->pos[0], k->pos[1], k->pos[2])},
                   {GRAVEL_VELOCITY, 4, GRAVEL_ARRAY_SOA(k->vel[0], k->vel[1], k->vel[2])},
                   {GRAVEL_ACCELERATION, 6, GRAVEL_ARRAY_SOA(k->acc[0], k->acc[1], k->acc[2])},
                   {GRAVEL_ID, 2, {k->id, NULL, NULL, 1, GRAVEL_I32}},
                   {GRAVEL_SOFTENING, 2, GRAVEL_ARRAY(k->softening[1])}};
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    options.precision = variant->precision;
    options.device = device;
    gravel_status status = gravel_bodies_create(bodies, context, &options);
    for (size_t w = 0; w < sizeof written / sizeof *written && !status; w++)
        if (variant->order >= written[w].order)
            status = gravel_bodies_write(*bodies, written[w].plane, 0, GV_KNOWN_BODIES, &written[w].value);
    return status;
}

/* Sinks are points beside the bodies: the neighbours of each within a radius of its own. */
static gravel_status compute(gravel_direct *direct, gravel_bodies *bodies, const gv_known *k, const gv_variant *variant,
                             results *out, gravel_forces *forces)
{
    const gravel_vec vel = {k->vel[0], k->vel[1], k->vel[2], 1}, acc = {k->acc[0], k->acc[1], k->acc[2], 1};
    const gravel_vec none = {NULL, NULL, NULL, 0};
    double radius[GV_KNOWN_BODIES];
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    const gravel_sinks sinks = {.count = GV_KNOWN_BODIES,
                                .id = k->id,
                                .pos = {k->pos[0], k->pos[1], k->pos[2], 1},
                                .vel = variant->order >= 4 ? vel : none,
                                .acc = variant->order >= 6 ? acc : none,
                                .radius = variant->features & GV_DIRECT_LISTS ? radius : NULL};

    for (int i = 0; i < GV_KNOWN_BODIES; i++)
        radius[i] = RADIUS;
    collect_into(out, variant, forces);
    call.sources = gravel_view_all(bodies);
    call.points = &sinks;
    call.eps = k->eps;
    call.soften = variant->features & GV_DIRECT_BY_SOURCES ? GRAVEL_SOFTEN_SUM
                  : variant->features & GV_DIRECT_BY_SINKS ? GRAVEL_SOFTEN_SINKS
                                                           : GRAVEL_SOFTEN_EPS;
    call.points_eps = k->softening[0];
    gravel_ticket *ticket = NULL;
    gravel_status status = gravel_direct_start(direct, &call, &ticket);
    if (!status)
        status = gravel_ticket_collect(ticket, forces, NULL);
    gravel_ticket_release(ticket);
    return status;
}

const char *gv_direct_program_name(unsigned features)
{
    return features & GV_DIRECT_BY_SOURCES   ? " softened by sources"
           : features & GV_DIRECT_BY_SINKS   ? " softened by sinks"
           : features & GV_DIRECT_UNSOFTENED ? " without eps"
                                             : "";
}

/* Softened by eps, by nothing, or by the bodies' own lengths: another program each. */
static void make_known(gv_known *known, unsigned features)
{
    const unsigned by[2] = {GV_DIRECT_BY_SINKS, GV_DIRECT_BY_SOURCES};
    gv_known_make(known, features & (GV_DIRECT_UNSOFTENED | GV_DIRECT_BY_SINKS) ? 0 : EPS);
    for (int b = 0; b < 2; b++)
        for (int i = 0; i < GV_KNOWN_BODIES; i++)
            known->softening[b][i] = features & by[b] ? EPS * (1 + (i + 3 * b) % 7) : 0;
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
    gravel_bodies *bodies = NULL;
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
        make_known(known, variant->features);
        status = make_bodies(context, device, known, variant, &bodies);
    }
    if (!status)
        status = compute(direct, bodies, known, variant, out, &forces);
    if (!status)
        *error = neighbours_are_right(known, &forces) ? gv_known_error(known, &forces) : INFINITY;
    *most = allowed(variant->precision);
    gravel_direct_release(direct);
    gravel_bodies_release(bodies);
    free(out);
    free(known);
    return status;
}
