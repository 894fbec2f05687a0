/* Friends of friends in a periodic box: bodies nearer than a linking length are of one group.
 *
 * The box is cut into cells whose diagonal is at most that length, so that the bodies of a cell are friends; cells at
 * most two apart are joined by the first pair that is near enough. */
#ifndef GV_COSMO_GROUPS_H
#define GV_COSMO_GROUPS_H

#include "sim/particles.h"

typedef struct gv_group {
    size_t bodies;
    double mass, x[3], v[3]; /* of the centre of mass, in the box; velocities as the bodies' */
    size_t least;            /* the first of its bodies, by number in the set */
} gv_group;

typedef struct gv_groups {
    double linking; /* length */
    size_t count;
    gv_group *group; /* the largest first */
} gv_groups;

/* linking: in mean distances of the bodies, above 0 to 1; groups of at least `least` bodies.  Needs a box. */
gravel_status gv_groups_find(gv_groups *groups, const gv_particles *particles, double linking, size_t least);
void gv_groups_free(gv_groups *groups);

#endif
