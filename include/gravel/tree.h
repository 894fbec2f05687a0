/* gravel: tree code on the device.
 *
 * A gravel_tree holds bodies (sources) and finds the forces on all of them, on some of them, or at any points, with an
 * error that the caller chooses.  The whole work is done on the device: keys, sort, octree, moments, groups, walk; only
 * sizes are read back.  Conventions are those of gravel.h.
 *
 *   gravel_tree_create(&tree, context, &options);
 *   gravel_tree_write(tree, &bodies);            positions and masses
 *   gravel_tree_forces(tree, eps, &forces);      builds the tree if it is not there yet, walks, reads the result
 *
 * What happens to a cell of mass m whose bodies lie within bmax of its centre of mass (doc/tree.md has the formulas):
 *   relative   it is opened unless m bmax^3 / d^5 < tau a: its neglected octupole is small beside the acceleration a of
 *              the sinks.  tau follows from theta so that errors are about those of the geometric criterion.
 *              a is estimated by a short walk of its own: results depend on the input only.
 *   last       the same with a from the previous forces of this tree (the estimate at first).
 *   geometric  it is opened unless d > l / theta + s: l longest side of the tight box, s offset of the centre of mass
 *              (d: distance of the centre of mass from the tight box of a group of sinks).
 * Far cells enter a Taylor series about the centre of the group, near ones act on each sink with mass and quadrupole.
 */
#ifndef GRAVEL_TREE_H
#define GRAVEL_TREE_H

#include "gravel/gravel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gravel_tree gravel_tree;

typedef enum gravel_tree_mac { GRAVEL_TREE_RELATIVE, GRAVEL_TREE_LAST, GRAVEL_TREE_GEOMETRIC } gravel_tree_mac;
GRAVEL_API const char *gravel_tree_mac_name(gravel_tree_mac mac); /* "relative", "last", "geometric" */
GRAVEL_API gravel_status gravel_tree_mac_parse(const char *name, gravel_tree_mac *mac);

typedef enum gravel_softening {
    GRAVEL_PLUMMER, /* s^2 = r^2 + eps^2 */
    GRAVEL_SPLINE   /* cubic spline of support h = 2.8 eps: the potential at the centre is that of Plummer's with eps,
                     * and the force is Newton's beyond h */
} gravel_softening;

typedef struct gravel_tree_options {
    double theta;               /* 0.1 (exact) to 1 (fast) */
    gravel_tree_mac mac;
    int moments;                /* 1: mass only; 2: and quadrupole */
    gravel_softening softening;
    gravel_precision precision; /* of forces; ds: positions and sums as float pairs, interactions in float */
    int device;                 /* which device of the context */
    /* Tunables as "n_leaf=16 n_group=32 ..."; those not named come from the profile or the built-in default for the
     * number of bodies */
    const char *configuration;
} gravel_tree_options;
#define GRAVEL_TREE_OPTIONS_INIT {0.5, GRAVEL_TREE_RELATIVE, 2, GRAVEL_PLUMMER, GRAVEL_SP, 0, NULL}

/* Bad options are ERR_ARGUMENT with the reason.  A configuration that is named is compiled here, else the kernels are
 * compiled when the first bodies are written. */
GRAVEL_API gravel_status gravel_tree_create(gravel_tree **tree, gravel_context *context,
                                            const gravel_tree_options *options);
GRAVEL_API void gravel_tree_release(gravel_tree *tree);

/* New bodies: count, mass and pos are used.  NaN, infinity and negative masses are ERR_INPUT (which body); more than
 * the device's memory takes is ERR_DEVICE_MEMORY (how many would fit). */
GRAVEL_API gravel_status gravel_tree_write(gravel_tree *tree, const gravel_sources *bodies);
/* New positions of the same bodies; the tree as it was built is kept until gravel_tree_build or gravel_tree_refit. */
GRAVEL_API gravel_status gravel_tree_move(gravel_tree *tree, const gravel_vec *pos);
/* Sorts and builds.  The call returns as soon as the work is submitted. */
GRAVEL_API gravel_status gravel_tree_build(gravel_tree *tree);
/* Keeps the cells and finds their moments anew from the moved bodies: for a few steps between builds. */
GRAVEL_API gravel_status gravel_tree_refit(gravel_tree *tree);

/* Forces (acc and pot; other members must be NULL) on all bodies, in the order they were written. */
GRAVEL_API gravel_status gravel_tree_forces(gravel_tree *tree, double eps, const gravel_forces *forces);
/* ... on the bodies address[0 ... count-1] (each at most once); result k belongs to address[k]. */
GRAVEL_API gravel_status gravel_tree_forces_active(gravel_tree *tree, const uint32_t *address, size_t count, double eps,
                                                   const gravel_forces *forces);
/* ... at points of space; ids are not looked at. */
GRAVEL_API gravel_status gravel_tree_forces_at(gravel_tree *tree, const gravel_sinks *points, double eps,
                                               const gravel_forces *forces);
/* The forces on all bodies are found and stay on the device; gravel_tree_read fetches them. */
GRAVEL_API gravel_status gravel_tree_compute(gravel_tree *tree, double eps);
GRAVEL_API gravel_status gravel_tree_read(gravel_tree *tree, const gravel_forces *forces);

/* Device times of the last build (or refit) and the last forces, in seconds. */
typedef struct gravel_tree_timings {
    double keys, sort, build, moments, groups, walk;
    double total; /* their sum */
} gravel_tree_timings;
GRAVEL_API gravel_status gravel_tree_get_timings(gravel_tree *tree, gravel_tree_timings *timings);

/* What the last forces took, per sink on average. */
typedef struct gravel_tree_counts {
    size_t cells, levels, groups;
    double far_cells;  /* cells that entered the expansion of the sink's group */
    double near_cells; /* cells that acted on the sink itself */
    double bodies;     /* bodies that acted on the sink */
    double tests;      /* opening tests of its group */
} gravel_tree_counts;
GRAVEL_API gravel_status gravel_tree_get_counts(gravel_tree *tree, gravel_tree_counts *counts);
/* The same for each sink of the last forces, in the order of their results; members may be NULL. */
GRAVEL_API gravel_status gravel_tree_get_sink_counts(gravel_tree *tree, uint32_t *cells, uint32_t *bodies);

/* The configuration in use ("n_leaf=16 ...") and where it is from; before bodies are written, that for a million. */
GRAVEL_API gravel_status gravel_tree_configuration(gravel_tree *tree, char *text, size_t size, gravel_origin *origin);
/* Bytes of device memory beside positions, masses and forces. */
GRAVEL_API size_t gravel_tree_memory(const gravel_tree *tree);

#ifdef __cplusplus
}
#endif
#endif
