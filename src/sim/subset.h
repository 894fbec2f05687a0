/* Some of the bodies of a set, copied. */
#ifndef GV_SUBSET_H
#define GV_SUBSET_H

#include "sim/particles.h"

/* Those with ids from `first` on, `count` of them (SIZE_MAX: all that follow), in the set's order.  None: ERR_INPUT. */
gravel_status gv_subset_ids(const gv_particles *particles, size_t first, size_t count, gv_particles *out);
/* Every k-th, so that at most `most` are taken. */
gravel_status gv_subset_sample(const gv_particles *particles, size_t most, gv_particles *out);

/* The density centre (gv_diagnose_core) of a sample of 1e5 bodies and its mean velocity; 0 without velocities. */
gravel_status gv_subset_centre(const gv_particles *particles, double centre[3], double velocity[3]);

#endif
