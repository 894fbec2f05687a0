/* Mass functions: dN/dm ~ m^-alpha between breaks, continuous across them, drawn by inverting the cumulative number.
 *
 *   Salpeter (1955)   alpha = 2.35
 *   Kroupa (2001)     alpha = 0.3 below 0.08, 1.3 to 0.5, 2.3 above (solar masses)
 */
#include <math.h>

#include "sim/ic_cluster.h"

enum { MAX_PIECES = 3 };

typedef struct mass_function {
    int pieces;
    double low[MAX_PIECES], high[MAX_PIECES], alpha[MAX_PIECES];
    double number[MAX_PIECES]; /* share of the bodies up to the end of the piece */
} mass_function;

/* Integral of m^-alpha; no alpha here is 1. */
static double power_integral(double low, double high, double alpha)
{
    return (pow(high, 1.0 - alpha) - pow(low, 1.0 - alpha)) / (1.0 - alpha);
}

static void add_piece(mass_function *f, double low, double high, double alpha)
{
    if (low < high) {
        f->low[f->pieces] = low;
        f->high[f->pieces] = high;
        f->alpha[f->pieces++] = alpha;
    }
}

static gravel_status set(mass_function *f, const gv_ic_stars *stars)
{
    const int kroupa = stars->masses == GV_IC_KROUPA;
    const double low = stars->mass_low > 0.0 ? stars->mass_low : kroupa ? 0.08 : 0.1;
    const double high = stars->mass_high > 0.0 ? stars->mass_high : 100.0;
    if (!(low < high && low >= 1e-6 && high <= 1e6))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "masses from %g to %g: from 1e-6 to 1e6 solar masses, the first below the second", low, high);
    f->pieces = 0;
    if (kroupa) {
        add_piece(f, low, fmin(high, 0.08), 0.3);
        add_piece(f, fmax(low, 0.08), fmin(high, 0.5), 1.3);
        add_piece(f, fmax(low, 0.5), high, 2.3);
    } else {
        add_piece(f, low, high, 2.35);
    }
    double factor = 1.0, sum = 0.0;
    for (int k = 0; k < f->pieces; k++) {
        if (k > 0) /* continuous: both sides agree at the break */
            factor *= pow(f->low[k], f->alpha[k] - f->alpha[k - 1]);
        sum += factor * power_integral(f->low[k], f->high[k], f->alpha[k]);
        f->number[k] = sum;
    }
    for (int k = 0; k < f->pieces; k++)
        f->number[k] /= sum;
    return GRAVEL_OK;
}

static void draw_mass(const void *model, gv_random *random, gv_particles *p, size_t i)
{
    const mass_function *f = model;
    const double u = gv_random_unit(random);
    int k = 0;
    while (k < f->pieces - 1 && u > f->number[k])
        k++;
    const double before = k > 0 ? f->number[k - 1] : 0.0, t = (u - before) / (f->number[k] - before);
    const double slope = 1.0 - f->alpha[k], a = pow(f->low[k], slope), b = pow(f->high[k], slope);
    p->m[i] = fmin(fmax(pow(a + t * (b - a), 1.0 / slope), f->low[k]), f->high[k]);
}

gravel_status gv_ic_masses_draw(gv_particles *p, size_t first, uint64_t seed, const gv_ic_stars *stars, double *sum)
{
    mass_function f;
    gv_random random;
    gravel_status status = set(&f, stars);
    if (status)
        return status;
    gv_random_seed(&random, seed);
    gv_random_long_jump(&random); /* positions and velocities stay what they are with equal masses */
    status = gv_ic_draw(p, first, p->count - first, &random, draw_mass, &f, NULL);
    *sum = 0.0;
    for (size_t i = first; i < p->count; i++)
        *sum += p->m[i];
    return status;
}
