/* The expanding universe of a run: matter, curvature and a cosmological constant, no radiation.
 *
 * Lengths are comoving and over h, masses over h, velocities in km/s: H = 100 E(a) km/s in 1 Mpc/h.  The momentum of a
 * body is p = a^2 dx/dt; files hold GADGET's u = sqrt(a) dx/dt, so that p = a^(3/2) u.
 *
 *   dx = p integral dt / a^2,  dp = g integral dt / a,  g from comoving lengths and the density minus its mean
 *
 * Steps are counted in ln a. */
#ifndef GV_COSMO_H
#define GV_COSMO_H

#include "host/base/status.h"
#include "sim/units.h"

typedef struct gv_cosmology {
    double h, omega_m, omega_l, omega_b, n_s, sigma_8; /* sigma_8 and n_s: of the initial spectrum; 0: not known */
    int transfer;                                      /* gv_transfer (cosmo_power.h) */
} gv_cosmology;
#define GV_COSMOLOGY_INIT                                                                                              \
    {                                                                                                                  \
        0.6774, 0.3089, 0.6911, 0.0486, 0.9667, 0.8159, 0                                                              \
    }

/* A periodic box; side 0: the set of bodies is in none. */
typedef struct gv_box {
    double side;
    gv_cosmology cosmology;
} gv_box;
#define GV_BOX_NONE                                                                                                    \
    {                                                                                                                  \
        0,                                                                                                             \
        {                                                                                                              \
            0, 0, 0, 0, 0, 0, 0                                                                                        \
        }                                                                                                              \
    }

/* Parameters that make no universe, or one that has not expanded from 0 to 1 and does not to `a`, are ERR_ARGUMENT:
 * growth is an integral from 0 on. */
gravel_status gv_cosmo_check(const gv_cosmology *c, double a);

double gv_cosmo_expansion(const gv_cosmology *c, double a); /* E = H / H0 */
double gv_cosmo_matter(const gv_cosmology *c, double a);    /* Omega_m(a) */
/* Of linear fluctuations: 1 today; and d ln D / d ln a. */
double gv_cosmo_growth(const gv_cosmology *c, double a);
double gv_cosmo_growth_rate(const gv_cosmology *c, double a);

/* H0 in velocity over length of these units (over h). */
double gv_cosmo_hubble(const gv_units *units);
/* Mean comoving density in these units (over h). */
double gv_cosmo_density(const gv_cosmology *c, const gv_units *units);
/* integral of dt / a^power between two ln a; 1: of kicks, 2: of drifts */
double gv_cosmo_integral(const gv_cosmology *c, const gv_units *units, int power, double from, double to);

#endif
