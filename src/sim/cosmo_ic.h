/* Initial conditions of a periodic box: bodies of equal mass, moved off the points of a lattice.
 *
 * A wave of the density is a function of the seed and of its three whole numbers: the same seed gives the same waves
 * with any number of bodies; more bodies add shorter ones. */
#ifndef GV_COSMO_IC_H
#define GV_COSMO_IC_H

#include <stdint.h>

#include "sim/cosmo_power.h"
#include "sim/particles.h"

typedef struct gv_ic_cosmo_options {
    double side;     /* Mpc/h */
    double redshift; /* where the bodies begin */
    int order;       /* 1: Zel'dovich; 2: second order (2LPT) */
    int fixed;       /* 1: every wave has the amplitude of the spectrum, only phases are drawn */
    int paired;      /* 1: all phases turned by pi: over-densities become under-densities */
    double crossing; /* of a pancake: redshift where the plane wave crosses */
} gv_ic_cosmo_options;
#define GV_IC_COSMO_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        100, 49, 2, 0, 0, 1                                                                                            \
    }

/* n^3 bodies, ids in the order of the lattice, z fastest; in kpc/h, 1e10 Msun/h, km/s.  side and redshift without
 * meaning, and n that the FFT cannot take, are ERR_ARGUMENT. */
gravel_status gv_ic_cosmo(int n, uint64_t seed, const gv_power *power, const gv_ic_cosmo_options *options,
                          gv_particles *out);
/* A plane wave along x, as long as the box: exact (Zel'dovich 1970) until it crosses. */
gravel_status gv_ic_pancake(int n, const gv_cosmology *cosmology, const gv_ic_cosmo_options *options,
                            gv_particles *out);

/* The wave (kx, ky, kz), its density in units of the root mean square: real and imaginary part. */
void gv_ic_cosmo_wave(uint64_t seed, const int k[3], int fixed, double wave[2]);

#endif
