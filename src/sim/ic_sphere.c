#include "sim/ic_sphere.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

enum { LAST = GV_SPHERE_NODES - 1 };

void gv_sphere_grid_set(gv_sphere_grid *grid, double inner, double outer)
{
    for (int k = 0; k <= LAST; k++)
        grid->r[k] = inner * pow(outer / inner, (double)k / LAST);
    grid->point = 0.0;
}

/* Integral of y over ln r up to each node, trapezoidal: with 2048 nodes over 7 decades the step is 0.008 and the error
 * of a smooth power law about step^2 / 12 = 5e-6. */
static void cumulate(const double *r, const double *y, double start, double *sum)
{
    sum[0] = start;
    for (int k = 1; k <= LAST; k++)
        sum[k] = sum[k - 1] + 0.5 * (y[k] + y[k - 1]) * log(r[k] / r[k - 1]);
}

void gv_sphere_set(gv_sphere *sphere, const gv_sphere_grid *grid, const char *name, double mass, double scale,
                   double taper)
{
    double shell[GV_SPHERE_NODES];
    sphere->name = name;
    sphere->total = mass;
    sphere->scale = scale;
    sphere->taper = taper;
    for (int k = 0; k <= LAST; k++) {
        double r = grid->r[k], t = r + scale, u = r / taper;
        sphere->rho[k] = exp(-u * u) / (r * t * t * t);
        sphere->slope[k] = -sphere->rho[k] * (1.0 / r + 3.0 / t + 2.0 * u / taper);
        shell[k] = 4.0 * PI * r * r * r * sphere->rho[k];
    }
    cumulate(grid->r, shell, 0.5 * shell[0], sphere->mass); /* rho ~ 1/r inside: shell / 2 */
    double factor = mass / sphere->mass[LAST];
    for (int k = 0; k <= LAST; k++) {
        sphere->rho[k] *= factor;
        sphere->slope[k] *= factor;
        sphere->mass[k] *= factor;
    }
}

void gv_sphere_potential(gv_sphere_grid *grid)
{
    grid->psi[LAST] = 0.0;
    for (int k = LAST - 1; k >= 0; k--) {
        double a = grid->mass[k] / grid->r[k], b = grid->mass[k + 1] / grid->r[k + 1];
        grid->psi[k] = grid->psi[k + 1] + 0.5 * (a + b) * log(grid->r[k + 1] / grid->r[k]);
    }
}

/* d rho / d psi is taken as linear in psi between nodes, so that each interval contributes
 * rho'' x 2 (sqrt(E - psi_low) - sqrt(E - psi_high)). */
static void eddington(gv_sphere *sphere, const gv_sphere_grid *grid)
{
    double second[GV_SPHERE_NODES]; /* rho'' of the interval from node k to k + 1 */
    double first = 0.0;             /* d rho / d psi at node k + 1 */
    for (int k = LAST; k >= 0; k--) {
        double here = -sphere->slope[k] * grid->r[k] * grid->r[k] / grid->mass[k];
        second[k] = k < LAST ? (here - first) / (grid->psi[k] - grid->psi[k + 1]) : 0.0;
        first = here;
    }
    sphere->f[LAST] = 0.0;
    for (int e = 0; e < LAST; e++) {
        double sum = 0.0, high = 0.0; /* sqrt(E - psi) at the interval's inner end */
        for (int k = e; k < LAST; k++) {
            double low = sqrt(grid->psi[e] - grid->psi[k + 1]);
            sum += second[k] * 2.0 * (low - high);
            high = low;
        }
        sphere->f[e] = sum / (sqrt(8.0) * PI * PI);
    }
}

gravel_status gv_sphere_invert(gv_sphere *sphere, const gv_sphere_grid *grid)
{
    eddington(sphere, grid);
    for (int e = 0; e <= LAST; e++) {
        if (sphere->f[e] > 0.0)
            continue;
        /* in the last thousandth of the mass rounding may do it, and nothing is lost with these bodies at rest */
        if (sphere->mass[e] < 0.999 * sphere->total)
            return gv_fail(GRAVEL_ERR_ARGUMENT,
                           "the %s has no isotropic equilibrium in this galaxy (its distribution function is negative "
                           "at radius %g): make it more concentrated or the others less massive",
                           sphere->name, grid->r[e]);
        sphere->f[e] = 0.0;
    }
    for (int k = 0; k <= LAST; k++) {
        double most = 0.0;
        for (int e = k; e <= LAST; e++)
            most = fmax(most, 2.0 * (grid->psi[k] - grid->psi[e]) * sphere->f[e]);
        sphere->bound[k] = 1.05 * most; /* 5 % for what lies between the nodes */
    }
    return GRAVEL_OK;
}

/* Largest k with table[k] <= value (rising) or >= value (falling), at most LAST - 1. */
static int find(const double *table, double value, int falling)
{
    int low = 0, high = LAST;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (falling ? table[middle] >= value : table[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double interpolate(const double *x, const double *y, int k, double at)
{
    double t = (at - x[k]) / (x[k + 1] - x[k]);
    return y[k] + (y[k + 1] - y[k]) * fmin(fmax(t, 0.0), 1.0);
}

double gv_sphere_mass_at(const gv_sphere_grid *grid, double r)
{
    double inner = grid->r[0];
    if (r < inner)
        return grid->point + (grid->mass[0] - grid->point) * (r / inner) * (r / inner);
    return interpolate(grid->r, grid->mass, find(grid->r, r, 0), r);
}

double gv_sphere_psi_at(const gv_sphere_grid *grid, double r)
{
    return interpolate(grid->r, grid->psi, find(grid->r, r, 0), r);
}

static double draw_radius(const gv_sphere *sphere, const gv_sphere_grid *grid, gv_random *random)
{
    double m = gv_random_unit(random) * sphere->total;
    if (m < sphere->mass[0])
        return grid->r[0] * sqrt(m / sphere->mass[0]);
    return interpolate(sphere->mass, grid->r, find(sphere->mass, m, 0), m);
}

/* Density of speeds v^2 f(psi - v^2 / 2), by rejection under the bound of the next node inside. */
static double draw_speed(const gv_sphere *sphere, const gv_sphere_grid *grid, double r, gv_random *random)
{
    int node = find(grid->r, r, 0);
    double psi = interpolate(grid->r, grid->psi, node, r), escape = sqrt(2.0 * psi);
    if (!(sphere->bound[node] > 0.0))
        return 0.0;
    /* a few trials on the mean, some 100 in the cusp; the limit is for the end of the grid, where psi = 0 */
    for (int trial = 0; trial < 100000; trial++) {
        double v = escape * gv_random_unit(random), e = psi - 0.5 * v * v;
        double f = interpolate(grid->psi, sphere->f, find(grid->psi, e, 1), e);
        if (sphere->bound[node] * gv_random_unit(random) < v * v * f)
            return v;
    }
    return 0.0;
}

void gv_sphere_draw(const gv_sphere *sphere, const gv_sphere_grid *grid, gv_random *random, double x[3], double v[3])
{
    double r = draw_radius(sphere, grid, random), speed = draw_speed(sphere, grid, r, random);
    gv_random_direction(random, x);
    gv_random_direction(random, v);
    for (int c = 0; c < 3; c++) {
        x[c] *= r;
        v[c] *= speed;
    }
}
