/* Forces and potentials in a periodic box, exact to rounding: the oracle of meshes and periodic trees.
 *
 * Bodies repeat with the period L in x, y and z, and a uniform background makes the mean density 0.  With
 * r = x_j - x_i and n over all whole vectors, h over all but 0, the potential of a pair is -m psi(r), Ewald's
 *   psi(r) = sum_n erfc(alpha |r + n L|) / |r + n L|
 *          + 1 / (pi L) sum_h exp(-pi^2 h^2 / (alpha L)^2) / h^2 cos(2 pi h.r / L)  -  pi / (alpha^2 L^3)
 * which does not depend on alpha.  A body acts on itself through its images: m psi without the image n = 0,
 * psi_0 = -2.8372974794806196 / L; its own images pull it nowhere.
 *
 * Cost: sources x sinks error functions, and (sources + sinks) x some (3 alpha L)^3 products.  4000 on 4000: a few
 * seconds of one core.
 */
#ifndef GV_REF_EWALD_H
#define GV_REF_EWALD_H

#include "cpu_ref/ref.h"

/* What replaces 1 / r of the nearest image: no other image is softened. */
typedef enum gv_ref_shape {
    GV_REF_PLUMMER, /* 1 / sqrt(r^2 + eps^2) */
    GV_REF_SPLINE   /* the cubic spline of support h = 2.8 eps, which ends there */
} gv_ref_shape;

typedef struct gv_ref_box {
    double side;  /* L */
    double alpha; /* times L; 0: chosen so that one image of a pair is enough.  At least 1. */
    double eps;   /* softening length; 0: none, and pairs at one place do not pull each other */
    gv_ref_shape shape;
} gv_ref_box;

/* Of each sink out->ax, ay, az, pot, those that are not NULL; ids as in gv_ref_direct.  Positions may be anywhere:
 * those beyond the box are images.  Returns 0, or -1 for a bad argument or no memory. */
int gv_ref_ewald(gv_ref_real real, const gv_ref_particles *sinks, const gv_ref_particles *sources,
                 const gv_ref_box *box, const gv_ref_forces *out);

#endif
