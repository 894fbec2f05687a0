/* gravel: tree code on the device.
 *
 * A gravel_tree finds the forces of bodies (sources) on all of them, on some of them, on other bodies, or at any
 * points, with an error that the caller chooses.  The whole work is done on the device: keys, sort, octree, moments,
 * groups, walk; only sizes are read back.  Conventions are those of gravel.h.
 *
 * Over bodies on the device (bodies.h); a leapfrog step is two calls, and none of them waits:
 *   gravel_view all = gravel_view_all(bodies);
 *   gravel_tree_create(&tree, context, &options);
 *   gravel_tree_set_sources(tree, &all);
 *   gravel_tree_call call = {sizeof call};  call.sinks = all;  call.eps = eps;  call.into = GRAVEL_INTO_PLANES;
 *   gravel_bodies_advance(bodies, dt, dt);       kick and drift
 *   gravel_tree_walk(tree, &call, NULL);         builds the tree of the moved bodies, and walks
 * Over host arrays:
 *   gravel_tree_write(tree, &sources);           positions and masses
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

#include "gravel/direct.h"

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

/* limits of theta */
#define GRAVEL_TREE_THETA_MIN 1e-3
#define GRAVEL_TREE_THETA_MAX 2.0

typedef struct gravel_tree_options {
    uint32_t size; /* of this struct */
    double theta;  /* from GRAVEL_TREE_THETA_MIN to _MAX; 0.1: nearly exact, 0.5: usual, 1: fast */
    gravel_tree_mac mac;
    int moments; /* 1: mass only; 2: and quadrupole */
    gravel_softening softening;
    gravel_precision precision; /* of forces; ds: positions and sums as two-floats, interactions in float */
    int device;                 /* which device of the context */
    /* Tunables as "n_leaf=16 n_group=32 ..."; those not named come from the profile or the built-in default for the
     * number of bodies */
    const char *configuration;
    /* The short range of a force that a mesh completes (mesh.h): of a mass -m erfc(r / 2 r_s) / r, up to the distance
     * `cut` (0: 6 r_s); cells beyond it are not looked at.  Of a pair at one place without softening it takes the long
     * range, -m / (sqrt(pi) r_s), out of the potential, so that nothing is left in the sum. */
    double split; /* r_s, a length; 0: the whole force */
    double cut;
    double
        period; /* L: bodies repeat in all directions, the nearest image of each acts; needs a cut of at most L / 2 */
} gravel_tree_options;
#define GRAVEL_TREE_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(gravel_tree_options), 0.5, GRAVEL_TREE_RELATIVE, 2, GRAVEL_PLUMMER, GRAVEL_SP, 0, NULL, 0, 0, 0         \
    }

GRAVEL_API void gravel_tree_options_init(gravel_tree_options *options);

/* Bad options are ERR_ARGUMENT with the reason.  A configuration that is named is compiled here, else what every call
 * needs is compiled when the sources are known; the rest when it is used first, or by gravel_tree_prepare. */
GRAVEL_API gravel_status gravel_tree_create(gravel_tree **tree, gravel_context *context,
                                            const gravel_tree_options *options);
GRAVEL_API void gravel_tree_release(gravel_tree *tree);

/* New bodies: count, mass and pos are used.  NaN, infinity and negative masses are ERR_INPUT (which body); more than
 * the device's memory takes is ERR_DEVICE_MEMORY (the message says how many would fit). */
GRAVEL_API gravel_status gravel_tree_write(gravel_tree *tree, const gravel_sources *bodies);
/* New positions of the same bodies.  The next forces build the tree anew, unless gravel_tree_refit comes first. */
GRAVEL_API gravel_status gravel_tree_move(gravel_tree *tree, const gravel_vec *pos);
/* Sorts and builds.  The call returns as soon as the work is submitted. */
GRAVEL_API gravel_status gravel_tree_build(gravel_tree *tree);
/* Keeps the cells and finds their moments anew from the moved bodies: for a few steps between builds. */
GRAVEL_API gravel_status gravel_tree_refit(gravel_tree *tree);

/* Forces (acc and pot; other members must be NULL) on all sources, in the order they were written. */
GRAVEL_API gravel_status gravel_tree_forces(gravel_tree *tree, double eps, const gravel_forces *forces);
/* ... on the bodies address[0 ... count-1] (each at most once, or none); result k belongs to address[k]. */
GRAVEL_API gravel_status gravel_tree_forces_active(gravel_tree *tree, const uint32_t *address, size_t count, double eps,
                                                   const gravel_forces *forces);
/* ... at points of space; ids are ignored. */
GRAVEL_API gravel_status gravel_tree_forces_at(gravel_tree *tree, const gravel_sinks *points, double eps,
                                               const gravel_forces *forces);
/* The forces on all bodies are found and stay on the device; gravel_tree_read fetches them. */
GRAVEL_API gravel_status gravel_tree_compute(gravel_tree *tree, double eps);
GRAVEL_API gravel_status gravel_tree_read(gravel_tree *tree, const gravel_forces *forces);

/* ------------------------------------------------- over bodies on the device */

/* From now on the tree is made of the bodies of this view (gravel_tree_write makes bodies of its own).  The view's
 * bodies, and its list, must exist as long as the tree is used.  Bodies may have any precision: the tree computes in
 * its own.  Their masses are to be 0 or more, which is not looked at on the device: cells of both signs are wrong. */
GRAVEL_API gravel_status gravel_tree_set_sources(gravel_tree *tree, const gravel_view *sources);

/* What a walk does when sources have moved since the cells were made. */
typedef enum gravel_tree_moved {
    GRAVEL_TREE_REBUILD, /* sort and build anew */
    GRAVEL_TREE_REFIT,   /* the cells keep their bodies, moments are found anew */
    GRAVEL_TREE_AS_IS    /* forces of the sources where they were; sinks are where those were if the sources are all
                          * bodies or the sinks' own view, else where they are now */
} gravel_tree_moved;

/* Sinks in groups that walk together.  Made once, they walk through several trees: periodic images, trees of other
 * bodies on the same device, in the same precision and configuration.  Their opening criterion rests on an
 * acceleration: that of the sinks' plane GRAVEL_ACCELERATION where `last` is set, else an estimate from the tree they
 * are made with; errors of all walks are relative to it.  Groups are good until their sinks move, and no longer than
 * the tree they were made with.  The shift of the call they are made with is not looked at: it belongs to walks. */
typedef struct gravel_groups gravel_groups;

typedef struct gravel_tree_call {
    uint32_t size;              /* of this struct */
    gravel_view sinks;          /* bodies NULL: `points` */
    const gravel_sinks *points; /* sinks that are not bodies; copied */
    gravel_groups *groups;      /* these instead of sinks or points; NULL: groups are made for this walk */
    int last;                   /* 1: accelerations of the sinks are known from their plane */
    double eps;
    gravel_soften soften; /* anything but EPS needs the planes GRAVEL_SOFTENING and does not look at eps; cells act with
                           * a mean (doc/tree.md) */
    gravel_tree_moved moved;
    double shift[3]; /* the sources are displaced by this: a periodic image */
    unsigned into;   /* GRAVEL_INTO_...; 0: GRAVEL_INTO_HOST */
} gravel_tree_call;
GRAVEL_API void gravel_tree_call_init(gravel_tree_call *call);

/* A body does not act on itself, whichever views it is in, unless the sources are shifted.  A list of sinks has each
 * body at most once where results go into planes.  `ticket` NULL: the call is not waited for (results in planes only);
 * tickets are released before their tree.  A tree without bodies is ERR_STATE.
 *
 * The host waits inside this call for one thing only: for the number of cells, where it does not follow from an
 * earlier build of as many bodies (and, once a device, for the self-test of a program that was not used there yet).
 * Should a later build have a quarter more cells than the one before, its results are incomplete: the ticket's collect,
 * or without a ticket the next walk, is ERR_STATE and says that the step is to be repeated. */
GRAVEL_API gravel_status gravel_tree_walk(gravel_tree *tree, const gravel_tree_call *call, gravel_ticket **ticket);
/* Groups of the call's sinks, for walks through this tree and others with the same configuration.  A list of sinks is
 * kept as it is while they are used: written since, it makes walks ERR_STATE; it is released after them. */
GRAVEL_API gravel_status gravel_groups_create(gravel_groups **groups, gravel_tree *tree, const gravel_tree_call *call);
GRAVEL_API void gravel_groups_release(gravel_groups *groups);
/* Compiles and allocates what such walks of up to so many sources and sinks will need, the results of one ticket among
 * it; the sources' view must be set.  Where that makes more room for a tree that is built, the next walk builds it
 * anew, and the counts of the last walk are gone. */
GRAVEL_API gravel_status gravel_tree_prepare(gravel_tree *tree, const gravel_tree_call *call, size_t sources,
                                             size_t sinks);

/* The cells as they are built: level by level, children of a cell one after the other. */
typedef struct gravel_cell {
    double centre[3], mass; /* centre of mass */
    double quadrupole[6];   /* half second moments xx xy xz yy yz zz about the centre of mass, trace kept */
    double radius;          /* distance of the farthest body, or a bound of it */
    uint32_t first, count;  /* children, numbers of cells; of a leaf: bodies, as places in the tree's order */
    uint32_t bodies;        /* in all */
    int leaf;
} gravel_cell;
GRAVEL_API gravel_status gravel_tree_get_cell_count(gravel_tree *tree, size_t *cells);
GRAVEL_API gravel_status gravel_tree_read_cells(gravel_tree *tree, size_t first, size_t count, gravel_cell *cells);
/* order[k]: address of the body at place k. */
GRAVEL_API gravel_status gravel_tree_read_order(gravel_tree *tree, uint32_t *order);

/* ------------------------------------------------------------------- queries */

/* Device times of the last build (or refit) and the last forces, in seconds; ERR_STATE unless the device is timed
 * (gravel_context_set_timing). */
typedef struct gravel_tree_timings {
    double keys, sort, build, moments, groups, walk;
    double total; /* their sum */
} gravel_tree_timings;
GRAVEL_API gravel_status gravel_tree_get_timings(gravel_tree *tree, gravel_tree_timings *timings);

/* Interactions of the last forces, per sink on average.  ERR_STATE where the tree was built anew since, and where the
 * groups of that walk were released or have walked through another tree. */
typedef struct gravel_tree_counts {
    size_t cells, levels, groups;
    double far_cells;  /* cells that entered the expansion of the sink's group */
    double near_cells; /* cells that acted on the sink itself */
    double bodies;     /* bodies that acted on the sink */
    double tests;      /* opening tests of its group */
} gravel_tree_counts;
GRAVEL_API gravel_status gravel_tree_get_counts(gravel_tree *tree, gravel_tree_counts *counts);
/* The same for each sink of the last walk, in the order of its results; members may be NULL. */
GRAVEL_API gravel_status gravel_tree_get_sink_counts(gravel_tree *tree, uint32_t *cells, uint32_t *bodies);

/* The configuration in use ("n_leaf=16 ...") and where it is from; before bodies are written, that for a million. */
GRAVEL_API gravel_status gravel_tree_get_configuration(gravel_tree *tree, char *text, size_t size,
                                                       gravel_origin *origin);
/* Bytes of device memory beside bodies and forces. */
GRAVEL_API size_t gravel_tree_get_memory(const gravel_tree *tree);

#ifdef __cplusplus
}
#endif
#endif
