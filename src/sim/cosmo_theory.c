#include "sim/cosmo_theory.h"

#include <math.h>

#define PI 3.14159265358979323846

double gv_theory_linear(const gv_power *p, double a, double k)
{
    const double d = gv_cosmo_growth(&p->cosmology, a);
    return d * d * gv_power_at(p, k);
}

/* ------------------------------------------------------------------ halofit */

/* sigma^2 of a Gaussian of radius R, and its first two derivatives by ln R. */
static void gaussian(const gv_power *p, double growth2, double radius, double out[3])
{
    enum { STEPS = 2000 };
    const double low = log(1e-5), high = log(20 / radius + 1e-4), d = (high - low) / STEPS;
    out[0] = out[1] = out[2] = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double k = exp(low + i * d), x2 = k * k * radius * radius;
        const double term = growth2 * k * k * k * gv_power_at(p, k) / (2 * PI * PI) * exp(-x2) * d;
        out[0] += term;
        out[1] -= 2 * x2 * term;
        out[2] += (4 * x2 * x2 - 4 * x2) * term;
    }
}

void gv_halofit_make(gv_halofit *f, const gv_power *p, double a)
{
    const double d = gv_cosmo_growth(&p->cosmology, a);
    double low = log(1e-4), high = log(1e2), s[3];
    *f = (gv_halofit){p, a, 0, 0, 0};
    gaussian(p, d * d, exp(low), s);
    if (s[0] < 1)
        return;
    for (int k = 0; k < 50; k++) {
        const double middle = 0.5 * (low + high);
        gaussian(p, d * d, exp(middle), s);
        if (s[0] > 1)
            low = middle;
        else
            high = middle;
    }
    f->k_sigma = exp(-low);
    f->n = -3 - s[1] / s[0];
    f->c = s[1] * s[1] / (s[0] * s[0]) - s[2] / s[0];
}

double gv_halofit_at(const gv_halofit *f, double k)
{
    const double linear = gv_theory_linear(f->power, f->a, k), n = f->n, c = f->c;
    if (f->k_sigma == 0)
        return linear;
    const double om = gv_cosmo_matter(&f->power->cosmology, f->a), y = k / f->k_sigma;
    const double an = pow(10, 1.5222 + n * (2.8553 + n * (2.3706 + n * (0.9903 + n * 0.2250))) - 0.6038 * c);
    const double bn = pow(10, -0.5642 + n * (0.5864 + n * 0.5716) - 1.5474 * c);
    const double cn = pow(10, 0.3698 + n * (2.0404 + n * 0.8161) + 0.5869 * c);
    const double gamma = 0.1971 - 0.0843 * n + 0.8460 * c;
    const double alpha = fabs(6.0835 + n * (1.3373 - n * 0.1959) - 5.5274 * c);
    const double beta = 2.0379 + n * (-0.7354 + n * (0.3157 + n * (1.2490 + n * 0.3980))) - 0.1682 * c;
    const double nu = pow(10, 5.2105 + 3.6902 * n);
    const double f1 = pow(om, -0.0307), f2 = pow(om, -0.0585), f3 = pow(om, 0.0743);
    const double to_delta = k * k * k / (2 * PI * PI), d = linear * to_delta;
    const double quasi = d * pow(1 + d, beta) / (1 + alpha * d) * exp(-y / 4 - y * y / 8);
    const double halo = an * pow(y, 3 * f1) / (1 + bn * pow(y, f2) + pow(cn * f3 * y, 3 - gamma)) / (1 + nu / (y * y));
    return (quasi + halo) / to_delta;
}

/* ------------------------------------------------------------ mass functions */

const char *const gv_mass_function_name[GV_MASS_FUNCTIONS] = {"Sheth and Tormen", "Jenkins", "Reed"};

/* f(sigma); n: the slope of the spectrum at the scale of the mass */
static double multiplicity(gv_mass_function kind, double sigma, double n)
{
    const double critical = 1.686, a = 0.707, nu = critical / sigma, l = -log(sigma);
    if (kind == GV_MF_JENKINS)
        return 0.315 * exp(-pow(fabs(l + 0.61), 3.8));
    const double low = 1 + pow(a * nu * nu, -0.3), size = 0.3222 * sqrt(2 * a / PI) * nu;
    if (kind == GV_MF_SHETH_TORMEN)
        return size * low * exp(-a * nu * nu / 2);
    const double g1 = exp(-(l - 0.4) * (l - 0.4) / (2 * 0.6 * 0.6)),
                 g2 = exp(-(l - 0.75) * (l - 0.75) / (2 * 0.2 * 0.2));
    return size * (low + 0.6 * g1 + 0.4 * g2) * exp(-0.764 * nu * nu / 2 - 0.03 / ((n + 3) * (n + 3)) * pow(nu, 0.6));
}

double gv_theory_mass_function(const gv_power *p, gv_mass_function kind, double a, double mass)
{
    const double density = 2.77536627e11 * p->cosmology.omega_m, radius = cbrt(3 * mass / (4 * PI * density));
    const double sigma = gv_power_sigma(p, radius) * gv_cosmo_growth(&p->cosmology, a);
    const double slope = -gv_power_sigma_slope(p, radius) / 6; /* d ln sigma^-1 / d ln M */
    return multiplicity(kind, sigma, 6 * slope - 3) * density / mass * slope;
}
