/* The k nearest neighbours of every body, through a k-d tree: O(N log N), on all cores, the same result whatever their
 * number. */
#ifndef GV_NEIGHBOURS_H
#define GV_NEIGHBOURS_H

#include "sim/particles.h"

enum { GV_NEIGHBOURS_MAX = 16 };
#define GV_NO_NEIGHBOUR UINT32_MAX

typedef struct gv_point {
    double x[3];
    uint32_t body;
} gv_point;

/* Bodies in the order of the tree, where those that are near each other stand together: who goes through them in this
 * order finds neighbours in the cache.  A place in it is a slot. */
typedef struct gv_neighbours {
    size_t count;
    int k;
    gv_point *at;   /* [count] */
    uint32_t *slot; /* [count][k]: of the neighbours by distance, GV_NO_NEIGHBOUR where the set has too few */
    double *radius; /* [count]: distance of the k-th, infinity without one */
} gv_neighbours;

/* k is from 1 to GV_NEIGHBOURS_MAX; of neighbours at one distance the first of the set come first.  Empty after a
 * failure. */
gravel_status gv_neighbours_find(const gv_particles *particles, int k, gv_neighbours *neighbours);
void gv_neighbours_free(gv_neighbours *neighbours);

#endif
