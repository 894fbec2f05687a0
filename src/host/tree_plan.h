/* The tree: what options and a configuration mean for programs and launches.  Pure functions, no OpenCL calls. */
#ifndef GV_TREE_PLAN_H
#define GV_TREE_PLAN_H

#include "gravel/tree.h"
#include "host/space.h"

extern const gv_space gv_tree_space;

/* feature bits of a tree variant */
enum { GV_TREE_UNSOFTENED = 1 };

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
    GV_TT_PASSES,
    GV_TT_SORT_THREADS,
    GV_TT_SORT_ITEMS,
    GV_TT_SORT_BITS,
    GV_TT_COUNT
};

/* Bytes of local memory that walk_group.cl takes. */
size_t gv_tree_local_bytes(const gv_config *config, gravel_precision precision);

/* what is compiled for a tree */
typedef enum gv_tree_program {
    GV_TP_BOUNDS,
    GV_TP_SORT,
    GV_TP_SCAN,
    GV_TP_COMPACT,
    GV_TP_KEYS,
    GV_TP_BUILD,
    GV_TP_MOMENTS,
    GV_TP_GROUPS,
    GV_TP_WALK,
    GV_TP_WALK_UNSOFTENED,
    GV_TP_WALK_COUNT, /* these two only where the configuration has two passes */
    GV_TP_WALK_LIST,
    GV_TP_COUNT
} gv_tree_program;

typedef struct gv_tree_plan {
    struct {
        const char *file; /* NULL: not needed */
        char options[400]; /* "-D..." */
    } program[GV_TP_COUNT];
    /* elements of one work-group; work-items of a group where groups work together, and where they do not */
    size_t sort_tile, build_tile, compact_tile, keys_lanes, wide_group, plain_group;
} gv_tree_plan;

void gv_tree_make_plan(gv_tree_plan *plan, const gv_config *config, const gravel_tree_options *options);
/* Tolerances of the criteria (doc/tree.md).  Small groups keep less distance from cells, and get less. */
double gv_tree_tau(const gravel_tree_options *options, int n_group);
double gv_tree_tau_local(const gravel_tree_options *options, int n_group);

#endif
