/* A set of particles in host memory: what initial conditions make, files hold and integrators move. */
#ifndef GV_PARTICLES_H
#define GV_PARTICLES_H

#include "host/status.h"

typedef struct gv_particles {
    size_t count;
    int32_t *id;
    double *m;
    double *x, *y, *z;
    double *vx, *vy, *vz; /* NULL: the set has no velocities */
    double *ax, *ay, *az; /* NULL: the set has no accelerations */
    double time;
} gv_particles;
#define GV_PARTICLES_INIT {0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0.0}

/* Arrays of `count` zeroes; ids are 0 ... count-1.  `derivatives`: 0 positions, 1 with velocities, 2 with
 * accelerations. `particles` is overwritten, not freed; after a failure it is empty. */
gravel_status gv_particles_create(gv_particles *particles, size_t count, int derivatives);
/* Frees the arrays and leaves an empty set.  An empty set may be freed again. */
void gv_particles_free(gv_particles *particles);

#endif
