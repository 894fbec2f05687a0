/* The tree: what options and a configuration mean for programs and launches.  Pure functions, no OpenCL calls. */
#ifndef GV_TREE_PLAN_H
#define GV_TREE_PLAN_H

#include "gravel/tree.h"
#include "host/profile/space.h"
#include "kernels/tree/layout.h"

extern const gv_space gv_tree_space;

/* What a configuration has to gain over the untuned default to take its place.  A question is the mean over several
 * opening angles and active parts; of what two sittings of an H200, or an H200 and an H100, chose by such means none
 * was above 1.02 of the default's time in the other at any of them (of 363 to 380 calls; with 0.02 three, 1.57 at
 * most; doc/numbers.md). */
#define GV_TREE_LEAST_GAIN 0.025

/* indices into gv_tree_space.tunable */
enum {
    GV_TT_N_LEAF,
    GV_TT_N_GROUP,
    GV_TT_THREADS,
    GV_TT_SPLIT,
    GV_TT_TILE,
    GV_TT_STACK,
    GV_TT_LANES,
    GV_TT_RSQRT,
    GV_TT_CURVE,
    GV_TT_SORT_THREADS,
    GV_TT_SORT_ITEMS,
    GV_TT_SORT_BITS,
    GV_TT_COUNT
};

/* Bytes of local memory that walk_group.cl takes. */
size_t gv_tree_local_bytes(const gv_config *config, gravel_precision precision);

/* Feature bits of a tree's variant: other programs than with Plummer's softening by eps, with quadrupoles, opened by
 * error, for all bodies.  Configurations are chosen without them. */
enum {
    GV_TREE_OF_SPLINE = 1,
    GV_TREE_OF_SHORT_RANGE = 2,
    GV_TREE_OF_MASSES = 4,  /* no quadrupoles */
    GV_TREE_OF_ANGLES = 16, /* GRAVEL_TREE_GEOMETRIC */
    /* these are proven before the first walk that needs one (gv_proof_require) */
    GV_TREE_OF_NO_EPS = 8,
    GV_TREE_LENGTHS_AT = 5, /* lengths of bodies, as gravel_soften: three bits from here on */
    GV_TREE_OF_LENGTHS = 7 << GV_TREE_LENGTHS_AT,
    GV_TREE_SHAPE_AT = 8, /* groups of few sinks: two bits, 1 + number of the shape */
    GV_TREE_OF_SHAPE = 3 << GV_TREE_SHAPE_AT
};
unsigned gv_tree_features(const gravel_tree_options *options);
const char *gv_tree_program_name(unsigned features);
/* Of a kernel of walks (number behind GV_TK_WALK): the bits that are proven before it; 0: none, or no walk. */
unsigned gv_tree_walk_features(int walk);

/* prove.c: gv_space.prove */
gravel_status gv_tree_prove(gravel_context *context, int device, const gv_variant *variant, const char *configuration,
                            double *error, double *most);

/* How interactions are softened: one program of the walk each. */
typedef enum gv_tree_kind {
    GV_TREE_EPS,
    GV_TREE_SINKS,
    GV_TREE_SOURCES,
    GV_TREE_SUM,
    GV_TREE_MAX,
    GV_TREE_UNSOFTENED, /* no softening at all */
    GV_TREE_KINDS
} gv_tree_kind;

enum { GV_TREE_SHAPES = 3 };

/* what is compiled for a tree; a program is made when it is needed first */
typedef enum gv_tree_program {
    GV_TP_BOUNDS,
    GV_TP_SCAN,
    GV_TP_COMPACT,
    GV_TP_KEYS,
    GV_TP_BUILD,
    GV_TP_MOMENTS,
    GV_TP_GROUPS,
    GV_TP_ESSENTIAL,
    GV_TP_WALK,                             /* + gv_tree_kind: as configured */
    GV_TP_FEW = GV_TP_WALK + GV_TREE_KINDS, /* + GV_TREE_KINDS x number of the shape + gv_tree_kind */
    GV_TP_GATHER = GV_TP_FEW + GV_TREE_SHAPES * GV_TREE_KINDS, /* + gravel_precision of the planes */
    GV_TP_SOFTEN = GV_TP_GATHER + GRAVEL_DP + 1,               /* + gv_tree_kind */
    GV_TP_COUNT = GV_TP_SOFTEN + GV_TREE_KINDS
} gv_tree_program;

/* Groups of a walk of few sinks. */
typedef struct gv_tree_shape {
    double most; /* groups for each compute unit that it is for */
    size_t sinks, threads, tile, stack;
} gv_tree_shape;

typedef struct gv_tree_plan {
    struct {
        const char *file;
        char options[400]; /* "-D..." */
    } program[GV_TP_COUNT];
    /* elements of one work-group; work-items of a group where groups work together, and where they do not; of a group
     * of groups.cl; sinks of the smallest part of a group that one work-item walks for, 0: several do */
    size_t build_tile, compact_tile, keys_lanes, wide_group, plain_group, look_group, part_sinks;
    size_t part_tile; /* cells that a group counts for a part of a tree */
    size_t compute_units;
    gv_tree_shape few[GV_TREE_SHAPES]; /* where groups work together: for more and more sinks */
} gv_tree_plan;

void gv_tree_make_plan(gv_tree_plan *plan, const gv_config *config, const gravel_tree_options *options,
                       const gv_limits *limits);

/* How the sinks of a walk are cut into groups. */
typedef struct gv_tree_cut {
    int walk;        /* GV_TP_WALK, or the first program of a shape */
    size_t size;     /* sinks of a group */
    size_t groups;   /* of so many sinks */
    size_t room;     /* sparse groups that may be split */
    size_t places;   /* groups, and room for the parts of sparse ones */
    unsigned bodies; /* a group with more of them in and around its box is sparse */
} gv_tree_cut;

gv_tree_cut gv_tree_cut_of(const gv_tree_plan *plan, const gv_config *config, size_t sinks, size_t sources);

/* Of the walk of a cut, which may be one of another tree: most sinks of a group, and its work-items. */
size_t gv_tree_walk_sinks(const gv_tree_plan *plan, const gv_config *config, int walk);
size_t gv_tree_walk_threads(const gv_tree_plan *plan, const gv_config *config, int walk);

/* Tolerances of the criteria (doc/tree.md).  Small groups keep less distance from cells, and get less. */
double gv_tree_tau(const gravel_tree_options *options, int n_group);
double gv_tree_tau_local(const gravel_tree_options *options, int n_group);

#endif
