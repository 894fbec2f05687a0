/* Hernquist (1990), G = M = a = 1 while it is drawn: rho = 1 / (2 pi r (1 + r)^3), M(<r) = r^2 / (1 + r)^2,
 * psi = 1 / (1 + r), and the isotropic distribution function (his eq. 17) of q = sqrt(E):
 *
 *   f ~ (3 asin q + q sqrt(1 - q^2) (1 - 2 q^2) (8 q^4 - 8 q^2 - 3)) / (1 - q^2)^(5/2)
 *
 * s = sqrt(M(<r)) = r / (1 + r) = 1 - psi is the variable of the tables.
 */
#include <math.h>
#include <stdlib.h>

#include "sim/ic_cluster.h"

enum { NODES = 1024 };
static const double INNERMOST = 1e-4; /* s: 1e-8 of the mass is inside */

typedef struct hernquist {
    double s_cut;
    double bound[NODES]; /* at s = INNERMOST^(1 - k / (NODES - 1)): above v^2 f for every v, here and further out */
} hernquist;

/* Below q = 0.1 the terms cancel down to 128/5 q^5: there the series, whose next term is 1e-10 of the sum. */
static double distribution(double energy)
{
    const double q2 = energy, q = sqrt(q2), u = 1.0 - q2;
    double top;
    if (!(energy > 0.0))
        return 0.0;
    if (q < 0.1)
        top = q2 * q2 * q * (128.0 / 5.0 - q2 * (192.0 / 7.0 - q2 * (16.0 / 3.0 + q2 * 8.0 / 11.0)));
    else
        top = 3.0 * asin(q) + q * sqrt(u) * (1.0 - 2.0 * q2) * (8.0 * q2 * q2 - 8.0 * q2 - 3.0);
    return top / (u * u * sqrt(u));
}

static double largest_weight(double psi)
{
    double most = 0.0;
    for (int k = 1; k < 400; k++) { /* squares: the maximum is at small speeds near the centre */
        const double v = sqrt(2.0 * psi) * (k / 400.0) * (k / 400.0);
        most = fmax(most, v * v * distribution(psi - 0.5 * v * v));
    }
    return 1.02 * most; /* 2 % for what lies between these speeds */
}

static void set(hernquist *h, double cut)
{
    h->s_cut = cut / (1.0 + cut);
    for (int k = 0; k < NODES; k++)
        h->bound[k] = largest_weight(1.0 - fmin(pow(INNERMOST, 1.0 - (double)k / (NODES - 1)), 0.999999));
}

static double draw_speed(const hernquist *h, double s, gv_random *random)
{
    const double inside = fmax(s, INNERMOST), psi = 1.0 - inside, escape = sqrt(2.0 * psi);
    const int k = (int)fmin((1.0 - log(inside) / log(INNERMOST)) * (NODES - 1), NODES - 1);
    for (;;) {
        const double v = escape * gv_random_unit(random);
        if (h->bound[k] * gv_random_unit(random) < v * v * distribution(psi - 0.5 * v * v))
            return v;
    }
}

static void draw(const void *model, gv_random *random, gv_particles *p, size_t i)
{
    const hernquist *h = model;
    const double s = h->s_cut * sqrt(gv_random_unit(random)), r = s / (1.0 - s);
    gv_random_vector(random, r, &p->x[i], &p->y[i], &p->z[i]);
    gv_random_vector(random, draw_speed(h, s, random), &p->vx[i], &p->vy[i], &p->vz[i]);
}

gravel_status gv_ic_hernquist(size_t n, uint64_t seed, const gv_ic_hernquist_options *options, gv_particles *out)
{
    gv_ic_hernquist_options o = GV_IC_HERNQUIST_OPTIONS_INIT;
    double potential = 0.0;
    if (options)
        o = *options;
    *out = (gv_particles)GV_PARTICLES_INIT;
    if (!(o.cut >= 0.1 && o.cut <= 1e5))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "cut = %g scale lengths: from 0.1 to 1e5", o.cut);
    hernquist *h = malloc(sizeof *h);
    if (!h)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the tables of the Hernquist model");
    set(h, o.cut);
    const gv_ic_cluster cluster = {"a Hernquist sphere", draw, h, 1.0, 0.5};
    gravel_status status = gv_ic_cluster_make(n, seed, &o.stars, &cluster, out, &potential);
    free(h);
    if (!status)
        gv_ic_cluster_scale(out, potential, -0.5, 0.25);
    return status;
}
