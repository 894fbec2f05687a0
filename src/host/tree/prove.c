/* The self-test of a configuration: the known problem by a tree of its own, from keys to forces. */
#include <math.h>
#include <stdlib.h>

#include "host/profile/known.h"
#include "host/tree/plan.h"

/* The support of the spline, 2.8 EPS, and the length of the split are those of some pairs, but not of all. */
#define EPS 1e-2
#define SPLINE_EPS 0.05
#define SPLIT 0.2

unsigned gv_tree_features(const gravel_tree_options *options)
{
    return (options->softening == GRAVEL_SPLINE ? GV_TREE_OF_SPLINE : 0u) |
           (options->split > 0 ? GV_TREE_OF_SHORT_RANGE : 0u) | (options->moments == 1 ? GV_TREE_OF_MASSES : 0u) |
           (options->mac == GRAVEL_TREE_GEOMETRIC ? GV_TREE_OF_ANGLES : 0u);
}

const char *gv_tree_program_name(unsigned features)
{
    return features & GV_TREE_OF_NO_EPS        ? " without eps"
           : features & GV_TREE_OF_SHORT_RANGE ? " of a short range"
           : features & GV_TREE_OF_SPLINE      ? " softened by the spline"
           : features & GV_TREE_OF_MASSES      ? " without quadrupoles"
           : features & GV_TREE_OF_ANGLES      ? " opened by angles"
                                               : "";
}

/* Monaghan & Lattanzio's spline over Newton's force and potential, with u = r / h (kernels/shape/spline.h) */
static void spline(double r, double factor[2])
{
    const double u = r / (2.8 * SPLINE_EPS), u2 = u * u, u3 = u * u2;
    factor[0] = factor[1] = 1;
    if (u < 0.5) {
        factor[0] = u3 * (32 / 3.0 + u2 * (32 * u - 38.4));
        factor[1] = u * (2.8 - u2 * (16 / 3.0 + u2 * (6.4 * u - 9.6)));
    } else if (u < 1) {
        factor[0] = u3 * (64 / 3.0 - 48 * u + 38.4 * u2 - 32 / 3.0 * u3) - 1 / 15.0;
        factor[1] = u * (3.2 - u2 * (32 / 3.0 + u * (-16 + u * (9.6 - 32 / 15.0 * u)))) - 1 / 15.0;
    }
}

static void short_range(double s, double factor[2])
{
    gv_known_truncate(s / (2 * SPLIT), factor);
}

/* The mesh has the long range of Newton's force and potential, whatever softens the pair. */
static void short_range_of_spline(double r, double factor[2])
{
    double mesh[2];
    spline(r, factor);
    short_range(r, mesh);
    factor[0] *= mesh[0];
    factor[1] -= 1 - mesh[1];
}

static void make_known(gv_known *known, unsigned features)
{
    const int is_split = (features & GV_TREE_OF_SHORT_RANGE) != 0;
    const int is_spline = features & GV_TREE_OF_SPLINE && !(features & GV_TREE_OF_NO_EPS);
    gv_known_make(known, is_spline || features & GV_TREE_OF_NO_EPS ? 0 : EPS);
    known->law = is_spline && is_split ? short_range_of_spline : is_spline ? spline : is_split ? short_range : NULL;
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
    const int is_spline = (features & GV_TREE_OF_SPLINE) != 0;
    gv_known *known = malloc(sizeof *known);
    double(*out)[GV_KNOWN_BODIES] = malloc(4 * sizeof *out);
    gravel_tree *tree = NULL;
    gravel_status status;

    options.precision = variant->precision;
    options.device = device;
    options.configuration = configuration;
    options.softening = is_spline ? GRAVEL_SPLINE : GRAVEL_PLUMMER;
    options.split = features & GV_TREE_OF_SHORT_RANGE ? SPLIT : 0;
    options.moments = features & GV_TREE_OF_MASSES ? 1 : 2;
    options.mac = features & GV_TREE_OF_ANGLES ? GRAVEL_TREE_GEOMETRIC : GRAVEL_TREE_RELATIVE;
    options.theta = theta_of(features);
    status = known && out ? gravel_tree_create(&tree, context, &options)
                          : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the self-test of the tree");
    if (!status) {
        make_known(known, features);
        const gravel_sources bodies = {
            .count = GV_KNOWN_BODIES, .mass = known->mass, .pos = {known->pos[0], known->pos[1], known->pos[2], 1}};
        status = gravel_tree_write(tree, &bodies);
    }
    if (!status) {
        const gravel_forces forces = {.acc = {out[0], out[1], out[2], 1}, .pot = out[3]};
        const double eps = features & GV_TREE_OF_NO_EPS ? 0 : is_spline ? SPLINE_EPS : EPS;
        status = gravel_tree_forces(tree, eps, &forces);
        if (!status)
            *error = gv_known_error(known, &forces);
    }
    /* a wrong sort, a lost cell or a body that counts twice are off by a pair's share, 3e-3 */
    *most = 1e-3;
    gravel_tree_release(tree);
    free(out);
    free(known);
    return status;
}
