/* Spherical components in a common spherical potential: density, mass, potential and the isotropic distribution
 * function on a grid of radii, and bodies drawn from them.
 *
 *   rho(r) = C exp(-(r / taper)^2) / (r (r + scale)^3)      Hernquist (1990), with C from the mass
 *   psi(r) = integral of M_total / r^2 from r to the outer end of the grid
 *   f(E)   = 1 / (sqrt(8) pi^2)  integral over psi from 0 to E of  rho'' / sqrt(E - psi),  rho'' = d^2 rho / d psi^2
 *            (Eddington 1916; the term at psi = 0 vanishes with the tapered density)
 */
#ifndef GV_IC_SPHERE_H
#define GV_IC_SPHERE_H

#include "host/base/status.h"
#include "sim/ic_random.h"

enum { GV_SPHERE_NODES = 2048 };

/* What all components share.  The grid is logarithmic. */
typedef struct gv_sphere_grid {
    double r[GV_SPHERE_NODES];
    double mass[GV_SPHERE_NODES]; /* of everything inside r; filled by the caller before gv_sphere_potential */
    double psi[GV_SPHERE_NODES];  /* falls to 0 at the last node */
    double point;                 /* of the mass, that of a point in the centre */
} gv_sphere_grid;

typedef struct gv_sphere {
    const char *name; /* for messages */
    double total, scale, taper;
    double rho[GV_SPHERE_NODES], slope[GV_SPHERE_NODES]; /* density, d rho / d r */
    double mass[GV_SPHERE_NODES];                        /* of this component inside r */
    double f[GV_SPHERE_NODES];                           /* at E = psi of the node */
    double bound[GV_SPHERE_NODES];                       /* above v^2 f(psi - v^2 / 2) for every v */
} gv_sphere;

void gv_sphere_grid_set(gv_sphere_grid *grid, double inner, double outer);
void gv_sphere_set(gv_sphere *sphere, const gv_sphere_grid *grid, const char *name, double mass, double scale,
                   double taper);
void gv_sphere_potential(gv_sphere_grid *grid);
/* ERR_ARGUMENT if the density has no isotropic distribution function in this potential. */
gravel_status gv_sphere_invert(gv_sphere *sphere, const gv_sphere_grid *grid);
void gv_sphere_draw(const gv_sphere *sphere, const gv_sphere_grid *grid, gv_random *random, double x[3], double v[3]);

/* Total mass inside r, and psi, between the nodes. */
double gv_sphere_mass_at(const gv_sphere_grid *grid, double r);
double gv_sphere_psi_at(const gv_sphere_grid *grid, double r);

#endif
