/* Power spectra of the bodies of a box: the mean of |delta_k|^2 V over shells of waves, with the window of the
 * assignment (triangular shaped clouds) taken out; two meshes half a cell apart cancel the waves that one mistakes for
 * others. */
#ifndef GV_COSMO_SPECTRUM_H
#define GV_COSMO_SPECTRUM_H

#include "sim/particles.h"

typedef struct gv_spectrum {
    int cells;                 /* of the mesh; shells to half of them */
    size_t count;              /* of shells: k = 1, 2, ... of the longest wave, each from 1/2 below to 1/2 above */
    double *k, *power, *waves; /* mean h/Mpc, (Mpc/h)^3 with the shot noise in it, how many */
    double shot;               /* V sum m^2 / (sum m)^2, (Mpc/h)^3 */
} gv_spectrum;

/* cells 0: two for each body along a side, at most 1024.  Needs a box. */
gravel_status gv_spectrum_make(gv_spectrum *spectrum, const gv_particles *particles, int cells);
void gv_spectrum_free(gv_spectrum *spectrum);

#endif
