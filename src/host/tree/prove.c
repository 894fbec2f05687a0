/* The self-test of a configuration: the known problem by a tree of its own, from keys to forces. */
#include <math.h>
#include <stdlib.h>

#include "host/profile/known.h"
#include "host/tree/tree.h"

/* The support of the spline, 2.8 EPS, and the length of the split are those of some pairs, but not of all. */
#define EPS 1e-2
#define SPLINE_EPS 0.05
#define SPLIT 0.2
#define LENGTH 0.2 /* cells without it: off by 3e-3 */

unsigned gv_tree_features(const gravel_tree_options *options)
{
    return (options->softening == GRAVEL_SPLINE ? GV_TREE_OF_SPLINE : 0u) |
           (options->split > 0 ? GV_TREE_OF_SHORT_RANGE : 0u) | (options->moments == 1 ? GV_TREE_OF_MASSES : 0u) |
           (options->mac == GRAVEL_TREE_GEOMETRIC ? GV_TREE_OF_ANGLES : 0u);
}

const char *gv_tree_program_name(unsigned features)
{
    return features & GV_TREE_OF_NO_EPS        ? " without eps"
           : features & GV_TREE_OF_LENGTHS     ? " softened by lengths of bodies"
           : features & GV_TREE_OF_SHAPE       ? " of few sinks"
           : features & GV_TREE_OF_SHORT_RANGE ? " of a short range"
           : features & GV_TREE_OF_SPLINE      ? " softened by the spline"
           : features & GV_TREE_OF_MASSES      ? " without quadrupoles"
           : features & GV_TREE_OF_ANGLES      ? " opened by angles"
                                               : "";
}

/* Monaghan & Lattanzio's spline over Newton's force and potential, with u = r / h (kernels/shape/spline.h) */
static void spline(double r, double eps, double factor[2])
{
    const double u = r / (2.8 * eps), u2 = u * u, u3 = u * u2;
    factor[0] = factor[1] = 1;
    if (u < 0.5) {
        factor[0] = u3 * (32 / 3.0 + u2 * (32 * u - 38.4));
        factor[1] = u * (2.8 - u2 * (16 / 3.0 + u2 * (6.4 * u - 9.6)));
    } else if (u < 1) {
        factor[0] = u3 * (64 / 3.0 - 48 * u + 38.4 * u2 - 32 / 3.0 * u3) - 1 / 15.0;
        factor[1] = u * (3.2 - u2 * (32 / 3.0 + u * (-16 + u * (9.6 - 32 / 15.0 * u)))) - 1 / 15.0;
    }
}

static void short_range(double s, double eps, double factor[2])
{
    (void)eps;
    gv_known_truncate(s / (2 * SPLIT), factor);
}

/* The mesh has the long range of Newton's force and potential, whatever softens the pair. */
static void short_range_of_spline(double r, double eps, double factor[2])
{
    double mesh[2];
    spline(r, eps, factor);
    short_range(r, eps, mesh);
    factor[0] *= mesh[0];
    factor[1] -= 1 - mesh[1];
}

static gravel_soften rule_of(unsigned features)
{
    return (gravel_soften)((features & GV_TREE_OF_LENGTHS) >> GV_TREE_LENGTHS_AT);
}

/* eps of all, or by a rule the bodies' own: long ones, so that cells have to soften as their bodies do, and nearly
 * equal ones, so that cells act at all (kernels/tree/soften.cl).  With the spline cells act beyond the support. */
static void make_known(gv_known *known, unsigned features)
{
    const int is_split = (features & GV_TREE_OF_SHORT_RANGE) != 0;
    const int is_spline = features & GV_TREE_OF_SPLINE && !(features & GV_TREE_OF_NO_EPS);
    const double eps = features & GV_TREE_OF_NO_EPS ? 0 : is_spline ? SPLINE_EPS : EPS;
    const gravel_soften rule = rule_of(features);
    gv_known_make(known, rule == GRAVEL_SOFTEN_EPS ? eps : 0);
    known->law = is_spline && is_split ? short_range_of_spline : is_spline ? spline : is_split ? short_range : NULL;
    known->law_softens = is_spline;
    known->larger = rule == GRAVEL_SOFTEN_MAX;
    for (int k = 0; k < GV_KNOWN_BODIES && rule != GRAVEL_SOFTEN_EPS; k++) {
        const double own = is_spline ? eps * (1 + 0.25 * (k % 7)) : LENGTH * (1 + 0.01 * (k % 7));
        known->softening[0][k] = rule == GRAVEL_SOFTEN_SOURCES ? 0 : own;
        known->softening[1][k] = rule == GRAVEL_SOFTEN_SINKS ? 0 : own;
    }
}

/* Walks of any number of sinks have this shape. */
static void only_shape(gravel_tree *tree, unsigned features)
{
    const int wanted = (int)((features & GV_TREE_OF_SHAPE) >> GV_TREE_SHAPE_AT) - 1;
    for (int k = 0; k < GV_TREE_SHAPES && wanted >= 0; k++)
        tree->plan.few[k].most = k == wanted ? INFINITY : -1;
}

static gravel_status check_shape(const gravel_tree *tree, unsigned features)
{
    const int wanted = (int)((features & GV_TREE_OF_SHAPE) >> GV_TREE_SHAPE_AT) - 1;
    return wanted < 0 || tree->sinks.cut.walk == GV_TP_FEW + wanted * GV_TREE_KINDS
               ? GRAVEL_OK
               : gv_fail(GRAVEL_ERR_STATE, "the self-test of a walk of few sinks had groups of another shape");
}

/* On all bodies, or on less than half of them. */
static int sinks_of(unsigned features)
{
    return features & GV_TREE_OF_SHAPE ? GV_KNOWN_BODIES / 2 - 10 : GV_KNOWN_BODIES;
}

static gravel_status forces_by_eps(gravel_tree *tree, const gv_known *known, int sinks, const gravel_forces *forces)
{
    uint32_t address[GV_KNOWN_BODIES];
    const gravel_sources bodies = {
        .count = GV_KNOWN_BODIES, .mass = known->mass, .pos = {known->pos[0], known->pos[1], known->pos[2], 1}};
    gravel_status status = gravel_tree_write(tree, &bodies);
    for (uint32_t k = 0; k < GV_KNOWN_BODIES; k++)
        address[k] = k;
    if (!status)
        status = sinks == GV_KNOWN_BODIES ? gravel_tree_forces(tree, known->eps, forces)
                                          : gravel_tree_forces_active(tree, address, (size_t)sinks, known->eps, forces);
    return status;
}

static gravel_status make_bodies(gravel_context *context, int device, const gv_known *known, gravel_soften rule,
                                 gravel_precision precision, gravel_bodies **bodies)
{
    const double *const own = known->softening[rule == GRAVEL_SOFTEN_SOURCES];
    const struct {
        gravel_plane plane;
        gravel_array value;
    } written[] = {{GRAVEL_MASS, GRAVEL_ARRAY(known->mass)},
                   {GRAVEL_POSITION, GRAVEL_ARRAY_SOA(known->pos[0], known->pos[1], known->pos[2])},
                   {GRAVEL_SOFTENING, GRAVEL_ARRAY(own)}};
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    options.precision = precision;
    options.device = device;
    gravel_status status = gravel_bodies_create(bodies, context, &options);
    for (size_t w = 0; w < sizeof written / sizeof *written && !status; w++)
        status = gravel_bodies_write(*bodies, written[w].plane, 0, GV_KNOWN_BODIES, &written[w].value);
    return status;
}

static gravel_status forces_by_rule(gravel_tree *tree, gravel_bodies *bodies, gravel_soften rule, int sinks,
                                    gravel_forces *forces)
{
    const gravel_view all = gravel_view_all(bodies);
    gravel_tree_call call;
    gravel_ticket *ticket = NULL;
    gravel_tree_call_init(&call);
    call.sinks = gravel_view_range(bodies, 0, (size_t)sinks);
    call.soften = rule;
    gravel_status status = gravel_tree_set_sources(tree, &all);
    if (!status)
        status = gravel_tree_build(tree);
    if (!status)
        status = gravel_tree_walk(tree, &call, &ticket);
    if (!status)
        status = gravel_ticket_collect(ticket, forces, NULL);
    gravel_ticket_release(ticket);
    return status;
}

/* Cells are opened so that the worst of the bodies is off by less than 3e-4 of what its pairs contribute, but not all
 * of them. */
static double theta_of(unsigned features)
{
    const int by_angles = (features & GV_TREE_OF_ANGLES) != 0;
    return features & GV_TREE_OF_MASSES ? (by_angles ? 0.2 : 0.4) : by_angles ? 0.3 : 0.5;
}

gravel_status gv_tree_prove(gravel_context *context, int device, const gv_variant *variant, const char *configuration,
                            double *error, double *most)
{
    gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;
    const unsigned features = variant->features;
    const gravel_soften rule = rule_of(features);
    const int sinks = sinks_of(features);
    gv_known *known = malloc(sizeof *known);
    double(*out)[GV_KNOWN_BODIES] = malloc(4 * sizeof *out);
    gravel_tree *tree = NULL;
    gravel_bodies *bodies = NULL;
    gravel_status status;

    options.precision = variant->precision;
    options.device = device;
    options.configuration = configuration;
    options.softening = features & GV_TREE_OF_SPLINE ? GRAVEL_SPLINE : GRAVEL_PLUMMER;
    options.split = features & GV_TREE_OF_SHORT_RANGE ? SPLIT : 0;
    options.moments = features & GV_TREE_OF_MASSES ? 1 : 2;
    options.mac = features & GV_TREE_OF_ANGLES ? GRAVEL_TREE_GEOMETRIC : GRAVEL_TREE_RELATIVE;
    options.theta = theta_of(features);
    status = known && out ? gravel_tree_create(&tree, context, &options)
                          : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the self-test of the tree");
    if (!status) {
        gravel_forces forces = {.acc = {out[0], out[1], out[2], 1}, .pot = out[3]};
        make_known(known, features);
        only_shape(tree, features);
        if (rule == GRAVEL_SOFTEN_EPS) {
            status = forces_by_eps(tree, known, sinks, &forces);
        } else {
            status = make_bodies(context, device, known, rule, variant->precision, &bodies);
            status = status ? status : forces_by_rule(tree, bodies, rule, sinks, &forces);
        }
        if (!status)
            status = check_shape(tree, features);
        if (!status)
            *error = gv_known_error(known, &forces, sinks);
    }
    /* a wrong sort, a lost cell or a body that counts twice are off by a pair's share, 3e-3 */
    *most = 1e-3;
    gravel_tree_release(tree);
    gravel_bodies_release(bodies);
    free(out);
    free(known);
    return status;
}
