/* Energies and scaling of particle sets; shared by the initial conditions. */
#ifndef GV_IC_ENERGY_H
#define GV_IC_ENERGY_H

#include "sim/particles.h"

double gv_ic_kinetic(const gv_particles *particles);
/* Direct sum in double over all pairs, on all cores. */
gravel_status gv_ic_potential_direct(const gv_particles *particles, double *potential);
/* Sum over shells around the origin (ic.h).  Call it before the centre of mass is moved: the shells belong to the
 * model's centre. */
gravel_status gv_ic_potential_shells(const gv_particles *particles, double *potential);
/* Direct up to GV_IC_DIRECT bodies, shells above. */
gravel_status gv_ic_potential_sphere(const gv_particles *particles, double *potential);

/* Moves the centre of mass to the origin, at rest. */
void gv_ic_centre(gv_particles *particles);
/* Positions and velocities times a factor. */
void gv_ic_scale(gv_particles *particles, double length, double velocity);

#endif
