/* The k nearest neighbours of every body, through a balanced k-d tree: O(N log N), on all cores, the same result
 * whatever their number. */
#ifndef GV_NEIGHBOURS_H
#define GV_NEIGHBOURS_H

#include "sim/particles.h"

enum { GV_NEIGHBOURS_MAX = 16 };
#define GV_NO_NEIGHBOUR UINT32_MAX

/* index[k i ... k i + k - 1]: the neighbours of body i by distance, GV_NO_NEIGHBOUR where the set has too few.
 * radius[i]: distance of the k-th, infinity without one.  k is from 1 to GV_NEIGHBOURS_MAX. */
gravel_status gv_neighbours_find(const gv_particles *particles, int k, uint32_t *index, double *radius);

#endif
