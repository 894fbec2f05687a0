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

/* Called from time to time with what is done, of `total`; anything but 0 stops the work (ERR_CANCELLED). */
typedef struct gv_ic_watch {
    int (*tell)(void *user, double done, double total);
    void *user;
} gv_ic_watch;

typedef enum gv_ic_mass_function {
    GV_IC_EQUAL,
    GV_IC_SALPETER, /* 1955: dN/dm ~ m^-2.35 */
    GV_IC_KROUPA    /* 2001: m^-0.3 to 0.08, m^-1.3 to 0.5, m^-2.3 above (solar masses) */
} gv_ic_mass_function;

/* What star clusters have in common.  Masses do not depend on the place; positions and velocities do not depend on the
 * masses' random numbers.
 *
 * A black hole is body 0, in the centre.  The speed of every other is raised to v^2 + M / r, which keeps the virial
 * ratio of the whole and all bodies bound; it is near, not in, equilibrium close to the black hole. */
typedef struct gv_ic_stars {
    gv_ic_mass_function masses;
    double mass_low, mass_high; /* solar masses; 0: 0.1 (Kroupa 0.08) and 100 */
    double black_hole;          /* over the mass of all other bodies, 0 (none) to 1e6; then one of the n bodies is it */
    double *solar_mass;         /* NULL, or receives the mass of all in solar masses; 0 with equal masses */
    const gv_ic_watch *watch;   /* NULL: none */
} gv_ic_stars;
#define GV_IC_STARS_INIT                                                                                               \
    {                                                                                                                  \
        GV_IC_EQUAL, 0.0, 0.0, 0.0, NULL, NULL                                                                         \
    }

/* Plummer sphere, isotropic, cut at the radius `cut`, scaled to M = 1, potential energy -1/2, kinetic
 * energy 1/4 (one body: no energies).  The scale length becomes about 3 pi / 16 = 0.589. */
typedef struct gv_ic_plummer_options {
    double cut; /* scale lengths; 38.7 leaves out 0.1 % of the mass */
    gv_ic_stars stars;
} gv_ic_plummer_options;
#define GV_IC_PLUMMER_OPTIONS_INIT                                                                                     \
    {                                                                                                                  \
        38.7, GV_IC_STARS_INIT                                                                                         \
    }
gravel_status gv_ic_plummer(size_t n, uint64_t seed, const gv_ic_plummer_options *options, gv_particles *out);

/* King model (ic_king.h), standard units as the Plummer sphere. */
typedef struct gv_ic_king_options {
    double w0; /* central potential over sigma^2, 0.05 to 16 */
    gv_ic_stars stars;
} gv_ic_king_options;
#define GV_IC_KING_OPTIONS_INIT                                                                                        \
    {                                                                                                                  \
        6.0, GV_IC_STARS_INIT                                                                                          \
    }
gravel_status gv_ic_king(size_t n, uint64_t seed, const gv_ic_king_options *options, gv_particles *out);

/* Hernquist sphere, isotropic, standard units.  Bodies beyond the cut are left out, the others move as if they were
 * there. */
typedef struct gv_ic_hernquist_options {
    double cut; /* scale lengths; 100 leaves out 2 % of the mass */
    gv_ic_stars stars;
} gv_ic_hernquist_options;
#define GV_IC_HERNQUIST_OPTIONS_INIT                                                                                   \
    {                                                                                                                  \
        100.0, GV_IC_STARS_INIT                                                                                        \
    }
gravel_status gv_ic_hernquist(size_t n, uint64_t seed, const gv_ic_hernquist_options *options, gv_particles *out);

/* Homogeneous sphere, M = 1.  virial_ratio is kinetic / |potential energy|: 1/2 equilibrium, 0 cold.
 * The local dispersion is that of hydrostatic equilibrium, sigma^2 = M (R^2 - r^2) / 2 R^3, times virial_ratio / (1/2);
 * velocities fill a ball of radius sqrt(5) sigma. */
typedef struct gv_ic_uniform_options {
    double virial_ratio;
    double radius; /* 0: what gives E = -1/4 (needs virial_ratio < 1); 1.2 in equilibrium, 2.4 cold */
    gv_ic_stars stars;
} gv_ic_uniform_options;
#define GV_IC_UNIFORM_OPTIONS_INIT                                                                                     \
    {                                                                                                                  \
        0.5, 0.0, GV_IC_STARS_INIT                                                                                     \
    }
gravel_status gv_ic_uniform(size_t n, uint64_t seed, const gv_ic_uniform_options *options, gv_particles *out);

/* Disk galaxy in rotation and near equilibrium: exponential disk (spin along +z), bulge and halo (tapered Hernquist
 * spheres, isotropic, each from its distribution function in the potential of all three).  ids: disk, bulge, halo, in
 * this order (gv_ic_galaxy_counts).  By default the unit of mass is the disk's, the unit of length its scale length. */
typedef struct gv_ic_galaxy_options {
    int disk_share, bulge_share, halo_share; /* bodies; 0 leaves a component out (not the disk) */
    double disk_mass, disk_scale;
    double disk_height; /* z0 of sech^2(z / z0) */
    double disk_cut;    /* largest radius */
    double disk_q;      /* Toomre's Q at 2.5 scale lengths */
    double bulge_mass, bulge_scale;
    double bulge_taper; /* density times exp(-(r / taper)^2); the mass is that of the tapered sphere */
    double halo_mass, halo_scale, halo_taper;
    double black_hole;        /* mass of one in the centre, the last body; 0: none.  The others balance it */
    int standard_units;       /* 1: scaled to M = 1, E = -1/4 afterwards */
    const gv_ic_watch *watch; /* NULL: none */
} gv_ic_galaxy_options;
#define GV_IC_GALAXY_OPTIONS_INIT                                                                                      \
    {                                                                                                                  \
        1, 1, 4, 1.0, 1.0, 0.2, 8.0, 1.5, 0.3, 0.2, 2.0, 5.0, 4.0, 20.0, 0.0, 0, NULL                                  \
    }
gravel_status gv_ic_galaxy(size_t n, uint64_t seed, const gv_ic_galaxy_options *options, gv_particles *out);
/* Bodies of disk, bulge and halo of n bodies, a black hole not among them; at least one for each share above 0 (n
 * smaller than that is ERR_ARGUMENT). */
gravel_status gv_ic_galaxy_counts(size_t n, const gv_ic_galaxy_options *options, size_t counts[3]);

/* Two such galaxies on a Kepler orbit of their centres of mass, the plane of the orbit being z = 0 and the pericentre
 * on +x; they start `separation` apart, approaching (with eccentricity below 1 at most at the apocentre).  The second
 * has `mass_ratio` times the first's mass and lengths times its square root (equal surface density).  The centre of
 * mass of both rests at the origin; ids of the first galaxy come first, bodies are shared by mass.  Units: those of the
 * first. */
typedef struct gv_ic_merger_options {
    gv_ic_galaxy_options galaxy; /* standard_units is not used */
    double mass_ratio;           /* 1e-3 to 1 */
    double eccentricity;         /* 0 to 10; 1: parabola */
    double pericentre;           /* of the orbit as if of two points, in disk scale lengths */
    double separation;
    double inclination[2], argument[2]; /* degrees: of the spin against +z, of the node's angle from +x */
} gv_ic_merger_options;
#define GV_IC_MERGER_OPTIONS_INIT                                                                                      \
    {                                                                                                                  \
        GV_IC_GALAXY_OPTIONS_INIT, 1.0, 1.0, 5.0, 40.0, {0.0, 60.0},                                                   \
        {                                                                                                              \
            0.0, 0.0                                                                                                   \
        }                                                                                                              \
    }
gravel_status gv_ic_merger(size_t n, uint64_t seed, const gv_ic_merger_options *options, gv_particles *out);

/* Two bodies of mass ratio m2 / m1, G = M = 1, at the apocentre of an orbit with semi-major axis a (eccentricity below
 * 1), in the plane z = 0: period 2 pi a^(3/2), E = -m1 m2 / 2 a. */
typedef struct gv_ic_twobody_options {
    double mass_ratio; /* 1e-6 to 1e6 */
    double eccentricity, semi_major_axis;
} gv_ic_twobody_options;
#define GV_IC_TWOBODY_OPTIONS_INIT                                                                                     \
    {                                                                                                                  \
        1.0, 0.5, 1.0                                                                                                  \
    }
gravel_status gv_ic_twobody(const gv_ic_twobody_options *options, gv_particles *out);

/* Three bodies of mass 1 on the figure-eight of Chenciner and Montgomery (2000), G = 1. */
#define GV_IC_FIGURE8_PERIOD 6.32591398292621
gravel_status gv_ic_figure8(gv_particles *out);

#endif
