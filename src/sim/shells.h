/* Bodies as shells: distance from a centre and mass, sorted by distance. */
#ifndef GV_SHELLS_H
#define GV_SHELLS_H

#include "sim/particles.h"

typedef struct gv_shell {
    double r, m;
} gv_shell;

/* `*shells` is made by the call (free()); bodies at one distance stay in the set's order. */
gravel_status gv_shells_sorted(const gv_particles *particles, const double centre[3], gv_shell **shells);
/* By r; those at one r stay in their order. */
gravel_status gv_shells_sort(gv_shell *shells, size_t count);

#endif
