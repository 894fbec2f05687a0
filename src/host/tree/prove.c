/* The self-test of a configuration: the known problem by a tree of its own, from keys to forces. */
#include <stdlib.h>

#include "host/profile/known.h"
#include "host/tree/plan.h"

gravel_status gv_tree_prove(gravel_context *context, int device, const gv_variant *variant, const char *configuration,
                            double *error, double *most)
{
    gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;
    gv_known *known = malloc(sizeof *known);
    double(*out)[GV_KNOWN_BODIES] = malloc(4 * sizeof *out);
    gravel_tree *tree = NULL;
    gravel_status status;

    options.precision = variant->precision;
    options.device = device;
    options.configuration = configuration;
    status = known && out ? gravel_tree_create(&tree, context, &options)
                          : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the self-test of the tree");
    if (!status) {
        gv_known_make(known, 1e-2);
        const gravel_sources bodies = {
            .count = GV_KNOWN_BODIES, .mass = known->mass, .pos = {known->pos[0], known->pos[1], known->pos[2], 1}};
        status = gravel_tree_write(tree, &bodies);
    }
    if (!status) {
        const gravel_forces forces = {.acc = {out[0], out[1], out[2], 1}, .pot = out[3]};
        status = gravel_tree_forces(tree, known->eps, &forces);
        if (!status)
            *error = gv_known_error(known, &forces);
    }
    /* with theta 0.5 the worst of these bodies is off by 1e-4 of what its pairs contribute; a wrong sort, a lost cell
     * or a body that counts twice are off by a pair's share, 3e-3 */
    *most = 1e-3;
    gravel_tree_release(tree);
    free(out);
    free(known);
    return status;
}
