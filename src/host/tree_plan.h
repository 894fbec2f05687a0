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
    GV_TT_SORT_THREADS,
    GV_TT_SORT_ITEMS,
    GV_TT_SORT_BITS,
    GV_TT_COUNT
};

/* Bytes of local memory that walk_group.cl takes. */
size_t gv_tree_local_bytes(const gv_config *config, gravel_precision precision);
/* "-D..." of kernels/tree/walk_*.cl; returns the file to build */
const char *gv_tree_walk_options(const gv_config *config, const gravel_tree_options *options, int unsoftened,
                                 char *text, size_t size);
/* tolerances of the criteria (doc/tree.md) */
double gv_tree_tau(const gravel_tree_options *options);
double gv_tree_tau_local(const gravel_tree_options *options);

#endif
