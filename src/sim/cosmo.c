#include "sim/cosmo.h"

#include <math.h>

#define PI 3.14159265358979323846

/* scale factors whose powers, up to the third times a mass, are in the range of double */
#define LEAST_A 1e-20
#define MOST_A 1e20

/* E^2 a^3: what the universe is made of */
static double contents(const gv_cosmology *c, double a)
{
    return c->omega_m + (1 - c->omega_m - c->omega_l) * a + c->omega_l * a * a * a;
}

/* Where the contents are least between 0 and `last`: at the end, or where their slope is 0. */
static double lowest(const gv_cosmology *c, double last)
{
    const double curvature = 1 - c->omega_m - c->omega_l;
    const double level = curvature < 0 && c->omega_l > 0 ? sqrt(-curvature / (3 * c->omega_l)) : last;
    return level < last && contents(c, level) < contents(c, last) ? level : last;
}

gravel_status gv_cosmo_check(const gv_cosmology *c, double a)
{
    if (!(c->h > 0 && c->h < 10))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "h is %g; it must be above 0 and below 10", c->h);
    if (!(c->omega_m > 0 && c->omega_m < 10) || !(fabs(c->omega_l) < 10))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "Omega_m is %g and Omega_L %g; matter must be above 0, both below 10",
                       c->omega_m, c->omega_l);
    if (!(c->omega_b >= 0 && c->omega_b <= c->omega_m))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "Omega_b is %g; it must be between 0 and Omega_m = %g", c->omega_b,
                       c->omega_m);
    if (!(a >= LEAST_A && a <= MOST_A))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the scale factor is %g; it must be above 0, %g to %g", a, LEAST_A, MOST_A);
    const double low = lowest(c, fmax(1, a));
    if (contents(c, low) > 0)
        return GRAVEL_OK;
    return gv_fail(GRAVEL_ERR_ARGUMENT, "with Omega_m = %g and Omega_L = %g %s scale factor %g", c->omega_m, c->omega_l,
                   low < 1 ? "there was no" : "the universe turns round before the", low);
}

double gv_cosmo_expansion(const gv_cosmology *c, double a)
{
    return sqrt(contents(c, a) / (a * a * a));
}

double gv_cosmo_matter(const gv_cosmology *c, double a)
{
    return c->omega_m / contents(c, a);
}

/* Gauss and Legendre, 16 points: nodes and weights of one half */
static const double node[8] = {0.0950125098376374402, 0.2816035507792589132, 0.4580167776572273863,
                               0.6178762444026437484, 0.7554044083550030339, 0.8656312023878317439,
                               0.9445750230732325761, 0.9894009349916499326};
static const double weight[8] = {0.1894506104550684963, 0.1826034150449235889, 0.1691565193950025382,
                                 0.1495959888165767321, 0.1246289712555338721, 0.0951585116824927848,
                                 0.0622535239386478929, 0.0271524594117540949};

typedef double (*integrand)(const gv_cosmology *c, double x, int power);

static double integrate(integrand f, const gv_cosmology *c, int power, double from, double to, int pieces)
{
    double sum = 0;
    for (int i = 0; i < pieces; i++) {
        const double half = 0.5 * (to - from) / pieces, middle = from + (2 * i + 1) * half;
        for (int k = 0; k < 8; k++)
            sum += weight[k] * half * (f(c, middle - half * node[k], power) + f(c, middle + half * node[k], power));
    }
    return sum;
}

/* 1 / (a E)^3 da with a = u^2, which has no root at 0 */
static double growth_integrand(const gv_cosmology *c, double u, int power)
{
    (void)power;
    return 2 * u * u * u * u * pow(contents(c, u * u), -1.5);
}

/* Heath 1977 */
static double growth(const gv_cosmology *c, double a)
{
    return gv_cosmo_expansion(c, a) * integrate(growth_integrand, c, 0, 0, sqrt(a), 8);
}

double gv_cosmo_growth(const gv_cosmology *c, double a)
{
    return growth(c, a) / growth(c, 1);
}

double gv_cosmo_growth_rate(const gv_cosmology *c, double a)
{
    const double e = gv_cosmo_expansion(c, a), all = contents(c, a);
    const double slope = ((1 - c->omega_m - c->omega_l) * a + 3 * c->omega_l * a * a * a) / all; /* of ln contents */
    return 0.5 * (slope - 3) + 1 / (a * a * e * e * growth(c, a));
}

double gv_cosmo_hubble(const gv_units *units)
{
    return 100 * GV_CM_S_PER_KM_S / units->velocity_cm_s * units->length_cm / (1e3 * GV_CM_PER_KPC);
}

double gv_cosmo_density(const gv_cosmology *c, const gv_units *units)
{
    const double hubble = gv_cosmo_hubble(units);
    return 3 * hubble * hubble * c->omega_m / (8 * PI * gv_units_gravity(units));
}

/* dt / a^power = d ln a / (a^power H) */
static double step_integrand(const gv_cosmology *c, double ln_a, int power)
{
    const double a = exp(ln_a);
    return pow(a, -power) / gv_cosmo_expansion(c, a);
}

double gv_cosmo_integral(const gv_cosmology *c, const gv_units *units, int power, double from, double to)
{
    const int pieces = 1 + (int)(2 * fabs(to - from));
    return integrate(step_integrand, c, power, from, to, pieces) / gv_cosmo_hubble(units);
}
