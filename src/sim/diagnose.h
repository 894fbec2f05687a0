/* Diagnostics of a set of particles: sums, energies, centre, core, radii that hold shares of the mass, binaries.
 * All in the set's own units; G is gv_units_gravity of them. */
#ifndef GV_DIAGNOSE_H
#define GV_DIAGNOSE_H

#include "sim/neighbours.h"

typedef struct gv_totals {
    double mass, mass_min, mass_max;
    double x[3], v[3];          /* centre of mass */
    double angular_momentum[3]; /* about the centre of mass, at rest in its frame */
} gv_totals;
/* Sets without velocities have v and angular momentum 0. */
void gv_diagnose_totals(const gv_particles *particles, gv_totals *totals);

typedef struct gv_energies {
    double kinetic; /* in the frame of the centre of mass */
    double potential, total;
    double virial_ratio; /* kinetic / |potential|; NaN without potential */
} gv_energies;
/* `potential`: of each body, -sum m / r with G = 1, as forces give it. */
void gv_diagnose_energies(const gv_particles *particles, const double *potential, gv_energies *energies);
/* Both in one go; `potential` NULL: 0 for the potential energy. */
void gv_diagnose_sums(const gv_particles *particles, const double *potential, gv_totals *totals, gv_energies *energies);

enum { GV_CORE_NEIGHBOURS = 6 };

/* Neighbours of every body and the density there; what the functions below start from. */
typedef struct gv_surroundings {
    gv_neighbours near; /* GV_CORE_NEIGHBOURS of them */
    double *density;    /* by slot */
} gv_surroundings;
/* An empty one after a failure. */
gravel_status gv_surroundings_find(const gv_particles *particles, gv_surroundings *around);
void gv_surroundings_free(gv_surroundings *around);

/* Casertano and Hut (1985), j = 6: the density at a body is the mass of its five nearest neighbours over the volume of
 * the sphere that reaches to the sixth, which is unbiased.  Weighted with it: the density centre, the core radius
 * (sum rho |x - centre| / sum rho) and the core density (sum rho^2 / sum rho: the scatter of rho raises it by
 * (j - 1) / (j - 2) = 5/4).  Fewer than seven bodies: the centre of mass, radius and density NaN. */
typedef struct gv_core {
    double centre[3], velocity[3]; /* velocity: the mean with the same weights */
    double radius, density;
} gv_core;
void gv_diagnose_core(const gv_particles *particles, const gv_surroundings *around, gv_core *core);

/* radius[k]: of the smallest sphere around `centre` that holds share[k] of the mass (shares rise, above 0 to 1). */
gravel_status gv_diagnose_lagrange(const gv_particles *particles, const double centre[3], const double *share,
                                   int shares, double *radius);

/* Two bodies bound to each other, the rest of the set left out. */
typedef struct gv_binary {
    size_t a, b; /* places in the set, a < b */
    double distance, semi_major_axis, eccentricity, period;
} gv_binary;
/* The `room` closest ones (smallest semi-major axis first) among the pairs of six nearest neighbours, and how many
 * there are.  None without velocities. */
gravel_status gv_diagnose_binaries(const gv_particles *particles, const gv_surroundings *around, int room,
                                   gv_binary *binary, int *found);
/* The nearest pair, the first of the set's if there are several; `distance` is infinite with less than two bodies. */
gravel_status gv_diagnose_nearest(const gv_surroundings *around, size_t pair[2], double *distance);

#endif
