#ifndef GV_BENCH_GRID_H
#define GV_BENCH_GRID_H

#include "gravel/tasks.h"

/* A periodic grid of leaves with as many bodies each; the unit of length is the side of a leaf. */
typedef struct gv_leaf_grid {
    size_t side, per_leaf, leaves, bodies, tasks, around;
    double *block, *x[3], *m;
    gravel_leaf *leaf;
    gravel_task *task;
    uint8_t *shift_of;
    double shift[27][3];
} gv_leaf_grid;

/* About so many bodies; tasks are the (2 reach + 1)^3 leaves around each. */
gravel_status gv_leaf_grid_make(gv_leaf_grid *g, size_t bodies, size_t per_leaf, int reach, uint64_t seed);
void gv_leaf_grid_free(gv_leaf_grid *g);

#endif
