/* King's (1966) lowered Maxwellian: f ~ exp(E) - 1 for E = W - v^2 / 2 > 0, W = (Phi(r_t) - Phi(r)) / sigma^2.
 *
 *   rho(W) = exp(W) erf(sqrt(W)) - sqrt(4 W / pi) (1 + 2 W / 3)
 *   W'' + 2 W' / x = -9 rho(W) / rho(W0),  x = r / r0,  r0^2 = 9 sigma^2 / (4 pi G rho(0)),  W(0) = W0, W(x_t) = 0
 *
 * Units here: G = sigma = r0 = 1; then the mass inside x is -x^2 W'.
 */
#ifndef GV_IC_KING_H
#define GV_IC_KING_H

enum { GV_KING_NODES = 4096 };

typedef struct gv_king {
    int nodes;
    double x[GV_KING_NODES], w[GV_KING_NODES], mass[GV_KING_NODES];
    double bound[GV_KING_NODES]; /* above v^2 (exp(w - v^2 / 2) - 1) for every v */
    double tidal;                /* x_t; the concentration is log10(x_t) */
    double total;                /* mass */
} gv_king;

double gv_king_density(double w);
/* w0 from 0.05 to 16. */
void gv_king_set(gv_king *king, double w0);

#endif
