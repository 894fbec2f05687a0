/* What spectra and mass functions of a run are held against: k in h/Mpc, masses in Msun/h, densities in (h/Mpc)^3. */
#ifndef GV_COSMO_THEORY_H
#define GV_COSMO_THEORY_H

#include "sim/cosmo_power.h"

/* The linear spectrum at a scale factor. */
double gv_theory_linear(const gv_power *power, double a, double k);

/* halofit in the revision of Takahashi et al. 2012, for matter and a cosmological constant. */
typedef struct gv_halofit {
    const gv_power *power;
    double a, k_sigma, n, c; /* scale of non-linearity (0: none, the spectrum is linear), slope and curvature there */
} gv_halofit;
void gv_halofit_make(gv_halofit *fit, const gv_power *power, double a);
double gv_halofit_at(const gv_halofit *fit, double k);

typedef enum gv_mass_function {
    GV_MF_SHETH_TORMEN, /* 1999 */
    GV_MF_JENKINS,      /* 2001, friends of friends with 0.2 */
    GV_MF_REED,         /* 2007, with the slope of the spectrum */
    GV_MASS_FUNCTIONS
} gv_mass_function;
extern const char *const gv_mass_function_name[GV_MASS_FUNCTIONS];
/* dn / d ln M */
double gv_theory_mass_function(const gv_power *power, gv_mass_function kind, double a, double mass);

#endif
