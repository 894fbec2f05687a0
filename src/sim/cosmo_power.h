/* Linear power spectra of matter today: wave numbers in h/Mpc, spectra in (Mpc/h)^3. */
#ifndef GV_COSMO_POWER_H
#define GV_COSMO_POWER_H

#include <stddef.h>

#include "sim/cosmo.h"

typedef enum gv_transfer {
    GV_TRANSFER_EH,        /* Eisenstein and Hu 1998, with acoustic oscillations */
    GV_TRANSFER_NO_WIGGLE, /* the same without them */
    GV_TRANSFER_TABLE      /* of CAMB or CLASS: lines of k and P(k), # begins a comment */
} gv_transfer;

typedef struct gv_power {
    gv_cosmology cosmology;
    double norm; /* so that sigma_8 is the cosmology's */
    size_t rows; /* of the table: ln k, ln P and second derivatives of the spline */
    double *ln_k, *ln_p, *bend;
    double fit[16]; /* of Eisenstein and Hu's formula, by name in cosmo_power.c */
} gv_power;

/* `table`: the name of a file; NULL: the cosmology's formula.  A sigma_8 of 0 leaves a table as it is.  Files that
 * cannot be read, that are not two columns of numbers above 0, or whose k does not rise, are refused with the line. */
gravel_status gv_power_create(gv_power *power, const gv_cosmology *cosmology, const char *table);
void gv_power_free(gv_power *power);
/* Beyond a table: the slope at its ends. */
double gv_power_at(const gv_power *power, double k);
/* Root mean square of the density in spheres of the radius (Mpc/h), and d ln sigma^2 / d ln R. */
double gv_power_sigma(const gv_power *power, double radius);
double gv_power_sigma_slope(const gv_power *power, double radius);

#endif
