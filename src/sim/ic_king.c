#include "sim/ic_king.h"

#include <math.h>
#include <stdlib.h>

#include "sim/ic_cluster.h"

static const double PI = 3.14159265358979323846;

/* Below W = 1 the closed form loses digits to cancellation: rho = 2 / sqrt(pi) sum over k >= 2 of
 * 2^k W^(k + 1/2) / (2 k + 1)!!, 20 terms of which reach 1e-17. */
double gv_king_density(double w)
{
    if (!(w > 0.0))
        return 0.0;
    if (w > 1.0)
        return exp(w) * erf(sqrt(w)) - sqrt(4.0 * w / PI) * (1.0 + 2.0 * w / 3.0);
    double term = sqrt(w) * 2.0 / sqrt(PI), sum = 0.0;
    for (int k = 1; k <= 20; k++) {
        term *= 2.0 * w / (2.0 * k + 1.0);
        sum += k >= 2 ? term : 0.0;
    }
    return sum;
}

/* d/du of W and the mass p = -x^2 W', u = ln x. */
static void slopes(double w, double p, double u, double centre, double out[2])
{
    const double x = exp(u);
    out[0] = -p / x;
    out[1] = 9.0 * gv_king_density(w) / centre * x * x * x;
}

static void step(double *w, double *p, double u, double du, double centre)
{
    double k[4][2];
    slopes(*w, *p, u, centre, k[0]);
    slopes(*w + 0.5 * du * k[0][0], *p + 0.5 * du * k[0][1], u + 0.5 * du, centre, k[1]);
    slopes(*w + 0.5 * du * k[1][0], *p + 0.5 * du * k[1][1], u + 0.5 * du, centre, k[2]);
    slopes(*w + du * k[2][0], *p + du * k[2][1], u + du, centre, k[3]);
    *w += du / 6.0 * (k[0][0] + 2.0 * k[1][0] + 2.0 * k[2][0] + k[3][0]);
    *p += du / 6.0 * (k[0][1] + 2.0 * k[1][1] + 2.0 * k[2][1] + k[3][1]);
}

static double largest_weight(double w)
{
    double most = 0.0;
    for (int k = 1; k < 200; k++) {
        const double v2 = 2.0 * w * (k / 200.0) * (k / 200.0);
        most = fmax(most, v2 * expm1(w - 0.5 * v2));
    }
    return 1.01 * most; /* 1 % for what lies between these speeds */
}

/* From x = 1e-3, where W = W0 - 3/2 x^2 and p = 3 x^3 up to x^2 of themselves, in steps of 0.5 % outwards.  Past the
 * last node with W > 0 nothing of weight is left and W = p (1/x - 1/x_t). */
void gv_king_set(gv_king *king, double w0)
{
    const double centre = gv_king_density(w0), start = 1e-3, du = 0.005;
    double w = w0 - 1.5 * start * start, p = 3.0 * start * start * start;
    king->nodes = 0;
    for (int k = 0; k < GV_KING_NODES && w > 0.0; k++) {
        king->x[k] = start * exp(k * du);
        king->w[k] = w;
        king->mass[k] = p;
        king->bound[k] = largest_weight(w);
        king->nodes++;
        step(&w, &p, log(start) + k * du, du, centre);
    }
    const int last = king->nodes - 1;
    king->total = king->mass[last];
    king->tidal = 1.0 / (1.0 / king->x[last] - king->w[last] / king->mass[last]);
}

/* ---------------------------------------------------------------- bodies */

static int find_mass(const gv_king *king, double mass)
{
    int low = 0, high = king->nodes - 1;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (king->mass[middle] <= mass)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double draw_speed(double w, double bound, gv_random *random)
{
    const double escape = sqrt(2.0 * w);
    for (;;) {
        const double v = escape * gv_random_unit(random);
        if (bound * gv_random_unit(random) < v * v * expm1(w - 0.5 * v * v))
            return v;
    }
}

static void draw(const void *model, gv_random *random, gv_particles *p, size_t i)
{
    const gv_king *king = model;
    const double mass = gv_random_unit(random) * king->total;
    const int k = find_mass(king, mass);
    double r, w;
    if (mass < king->mass[0]) {
        r = king->x[0] * cbrt(mass / king->mass[0]);
        w = king->w[0];
    } else {
        const double t = (mass - king->mass[k]) / (king->mass[k + 1] - king->mass[k]);
        r = king->x[k] + t * (king->x[k + 1] - king->x[k]);
        w = king->w[k] + t * (king->w[k + 1] - king->w[k]);
    }
    gv_random_vector(random, r, &p->x[i], &p->y[i], &p->z[i]);
    gv_random_vector(random, draw_speed(w, king->bound[k], random), &p->vx[i], &p->vy[i], &p->vz[i]);
}

gravel_status gv_ic_king(size_t n, uint64_t seed, const gv_ic_king_options *options, gv_particles *out)
{
    gv_ic_king_options o = GV_IC_KING_OPTIONS_INIT;
    double potential = 0.0;
    if (options)
        o = *options;
    *out = (gv_particles)GV_PARTICLES_INIT;
    if (!(o.w0 >= 0.05 && o.w0 <= 16.0))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "W0 = %g: from 0.05 to 16", o.w0);
    gv_king *king = malloc(sizeof *king);
    if (!king)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the tables of the King model");
    gv_king_set(king, o.w0);
    const gv_ic_cluster cluster = {"a King model", draw, king, king->total, 0.5};
    gravel_status status = gv_ic_cluster_make(n, seed, &o.stars, &cluster, out, &potential);
    free(king);
    if (!status)
        gv_ic_cluster_scale(out, potential, -0.5, 0.25);
    return status;
}
