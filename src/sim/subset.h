/* Some of the bodies of a set, copied. */
#ifndef GV_SUBSET_H
#define GV_SUBSET_H

#include "sim/particles.h"

/* Those with ids in the ranges "FIRST:COUNT,FIRST:COUNT,..." ("FIRST:" is all from there), in the set's order.  No such
 * body, or other text: ERR_INPUT, ERR_ARGUMENT. */
gravel_status gv_subset_ids(const gv_particles *particles, const char *ranges, gv_particles *out);
/* Every k-th, so that at most `most` are taken. */
gravel_status gv_subset_sample(const gv_particles *particles, size_t most, gv_particles *out);

/* The density centre (gv_diagnose_core) of a sample of 1e5 bodies and its mean velocity; 0 without velocities. */
gravel_status gv_subset_centre(const gv_particles *particles, double centre[3], double velocity[3]);

#endif
