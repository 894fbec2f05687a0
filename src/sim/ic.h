/* Initial conditions.  All models: G = 1, the centre of mass at rest at the origin, ids 0 ... n-1, velocities given.
 * The same seed gives the same particles; the numbers behind it are the same on every machine (ic_random.h).
 *
 * The set is made by the call (gv_particles_free).  `options` NULL: the defaults.  n = 0, more bodies than ids and
 * options without meaning are ERR_ARGUMENT.
 *
 * Standard units (Henon): M = 1, E = -1/4.  The potential energy that the scaling needs is the direct sum up to
 * GV_IC_DIRECT bodies; above, for spheres, the sum over shells, -sum m_i m_j / max(r_i, r_j) over the sorted radii:
 * the mean of the direct sum over all directions at these radii, off by about 3 / N of itself (doc/theory.md).
 */
#ifndef GV_IC_H
#define GV_IC_H

#include "sim/particles.h"

enum { GV_IC_DIRECT = 16384 };

/* Plummer sphere of equal masses, isotropic, cut at the radius `cut`, scaled to M = 1, potential energy -1/2, kinetic
 * energy 1/4 (one body: no energies).  The scale length becomes about 3 pi / 16 = 0.589. */
typedef struct gv_ic_plummer_options {
    double cut; /* scale lengths; 38.7 leaves out 0.1 % of the mass */
} gv_ic_plummer_options;
#define GV_IC_PLUMMER_OPTIONS_INIT {38.7}
gravel_status gv_ic_plummer(size_t n, uint64_t seed, const gv_ic_plummer_options *options, gv_particles *out);

/* Homogeneous sphere of equal masses, M = 1.  virial_ratio is kinetic / |potential energy|: 1/2 equilibrium, 0 cold.
 * The local dispersion is that of hydrostatic equilibrium, sigma^2 = M (R^2 - r^2) / 2 R^3, times virial_ratio / (1/2);
 * velocities fill a ball of radius sqrt(5) sigma. */
typedef struct gv_ic_uniform_options {
    double virial_ratio;
    double radius; /* 0: what gives E = -1/4 (needs virial_ratio < 1); 1.2 in equilibrium, 2.4 cold */
} gv_ic_uniform_options;
#define GV_IC_UNIFORM_OPTIONS_INIT {0.5, 0.0}
gravel_status gv_ic_uniform(size_t n, uint64_t seed, const gv_ic_uniform_options *options, gv_particles *out);

/* Disk galaxy in rotation and near equilibrium: exponential disk (spin along +z), bulge and halo (tapered Hernquist
 * spheres, isotropic, each from its distribution function in the potential of all three).  ids: disk, bulge, halo, in
 * this order (gv_ic_galaxy_counts).  By default the unit of mass is the disk's, the unit of length its scale length. */
typedef struct gv_ic_galaxy_options {
    int disk_share, bulge_share, halo_share; /* bodies; 0 leaves a component out (not the disk) */
    double disk_mass, disk_scale;
    double disk_height;  /* z0 of sech^2(z / z0) */
    double disk_cut;     /* largest radius */
    double disk_q;       /* Toomre's Q at 2.5 scale lengths */
    double bulge_mass, bulge_scale;
    double bulge_taper;  /* density times exp(-(r / taper)^2); the mass is that of the tapered sphere */
    double halo_mass, halo_scale, halo_taper;
    int standard_units;  /* 1: scaled to M = 1, E = -1/4 afterwards */
} gv_ic_galaxy_options;
#define GV_IC_GALAXY_OPTIONS_INIT                                                                                      \
    {1, 1, 4, 1.0, 1.0, 0.2, 8.0, 1.5, 0.3, 0.2, 2.0, 5.0, 4.0, 20.0, 0}
gravel_status gv_ic_galaxy(size_t n, uint64_t seed, const gv_ic_galaxy_options *options, gv_particles *out);
/* Bodies of disk, bulge and halo; at least one for each share above 0 (n smaller than that is ERR_ARGUMENT). */
gravel_status gv_ic_galaxy_counts(size_t n, const gv_ic_galaxy_options *options, size_t counts[3]);

#endif
