/* A set of particles in host memory: what initial conditions make, files hold and integrators move. */
#ifndef GV_PARTICLES_H
#define GV_PARTICLES_H

#include "host/base/status.h"
#include "sim/cosmo.h"

typedef struct gv_particles {
    size_t count;
    int32_t *id;
    double *m;
    double *x, *y, *z;
    double *vx, *vy, *vz; /* NULL: the set has no velocities */
    double *ax, *ay, *az; /* NULL: the set has no accelerations */
    double time;          /* in a box: the scale factor */
    gv_units units;       /* of all numbers of the set */
    int64_t id_offset; /* what is added to ids in HDF5, where others count from 1; as found in the file they are from */
    gv_box box;        /* side above 0: numbers are comoving and over h, velocities GADGET's (cosmo.h) */
    double period;     /* BoxSize of the file, in the units of positions; 0: none */
    int expanding;     /* 1: of a cosmological file, made physical; time is the scale factor */
} gv_particles;
#define GV_PARTICLES_INIT                                                                                              \
    {                                                                                                                  \
        0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0.0, GV_UNITS_NBODY, 1, GV_BOX_NONE, 0.0, \
            0                                                                                                          \
    }

/* Arrays of `count` zeroes; ids are 0 ... count-1.  `derivatives`: 0 positions, 1 with velocities, 2 with
 * accelerations. `particles` is overwritten, not freed; after a failure it is empty. */
gravel_status gv_particles_create(gv_particles *particles, size_t count, int derivatives);
/* Frees the arrays and leaves an empty set.  An empty set may be freed again. */
void gv_particles_free(gv_particles *particles);

/* ERR_INPUT where a body is outside of its box by more than `margin` sides. */
#define GV_UNWRAPPED 1000 /* margin for bodies that a code follows beyond the sides */
gravel_status gv_particles_check_box(const gv_particles *particles, double margin);

/* Masses times a factor.  With the factor G of the set's units, formulas that leave out G give accelerations and
 * potentials in the set's own lengths and velocities. */
void gv_particles_scale_masses(gv_particles *particles, double factor);

/* Into other units, both real ones; numbers that need no change keep their bits. */
void gv_particles_convert(gv_particles *particles, const gv_units *to);
/* Gives the N-body units of the set a size; the numbers stay, the unit of velocity is sqrt(G mass / length). */
void gv_particles_give_size(gv_particles *particles, double mass_g, double length_cm);

/* What to add to ids in HDF5 so that they begin at 1 or above, as GADGET counts: id_offset, unless that is too little.
 * The set has bodies. */
int64_t gv_particles_id_offset(const gv_particles *particles);

/* What a simulation cannot work with: masses below zero, numbers that are not finite, ids that occur twice, the id -1.
 * ERR_INPUT names the first such body; `name` is the file's. */
gravel_status gv_particles_check(const gv_particles *particles, const char *name);

#endif
