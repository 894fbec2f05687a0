/* Means over spherical or cylindrical shells around a centre. */
#ifndef GV_RADIAL_H
#define GV_RADIAL_H

#include "sim/particles.h"

enum { GV_RADIAL_MOST = 64 };

/* Shells of equal width in log radius, twelve or fewer a decade, and wider where they would hold fewer than
 * GV_RADIAL_LEAST bodies. */
enum { GV_RADIAL_LEAST = 8 };
typedef struct gv_shell_means {
    double low, high, radius; /* radius: mean of its bodies */
    size_t bodies;
    double density, density_error;         /* mass over volume, and over the square root of the bodies */
    double sigma_radial, sigma_tangential; /* standard deviations; tangential: of one of two directions; NaN without
                                            * velocities */
} gv_shell_means;
/* Around a centre that moves with `velocity`.  Returns the number of shells, 0 if there are too few bodies, -1 without
 * memory. */
int gv_radial_shells(const gv_particles *particles, const double centre[3], const double velocity[3],
                     gv_shell_means shell[GV_RADIAL_MOST]);

/* Around an axis of rotation.  The circular speed is that of a sphere with the mass inside, of `all`. */
typedef struct gv_ring_means {
    double radius;
    size_t bodies;
    double rotation, rotation_error; /* mean speed around the axis, and its standard error */
    double sigma_radial;             /* standard deviation of the speed away from the axis */
    double circular;
} gv_ring_means;
/* At most 40 rings of about equal numbers of bodies, of the innermost 95 %.  `axis` has length 1.  Needs velocities;
 * returns as above. */
int gv_radial_rings(const gv_particles *particles, const gv_particles *all, const double centre[3],
                    const double velocity[3], const double axis[3], gv_ring_means ring[GV_RADIAL_MOST]);

/* Direction of the angular momentum around the centre; +z if there is none. */
void gv_radial_spin(const gv_particles *particles, const double centre[3], const double velocity[3], double axis[3]);

#endif
