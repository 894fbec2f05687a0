#include "sim/ic_disk.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

enum { LAST = GV_DISK_NODES - 1, HEIGHTS = 64, WAVES = 3000, CYLINDERS = 200 };

/* Mass inside R of an untruncated disk of mass 1 and scale 1. */
static double exponential_mass(double x)
{
    return -expm1(-x) - x * exp(-x);
}

static double surface_density(const gv_disk *disk, double r)
{
    double whole = 2.0 * PI * disk->scale * disk->scale * exponential_mass(disk->cut / disk->scale);
    return disk->mass / whole * exp(-r / disk->scale);
}

/* Midpoint rule over the cylinders that reach into the sphere: each has tanh(height inside / z0) of its mass there. */
double gv_disk_mass_inside(const gv_disk *disk, double r)
{
    double reach = fmin(r, disk->cut), sum = 0.0;
    for (int i = 0; i < CYLINDERS; i++) {
        double big = (i + 0.5) / CYLINDERS * reach;
        sum += big * surface_density(disk, big) * tanh(sqrt(r * r - big * big) / disk->height);
    }
    return 2.0 * PI * sum * reach / CYLINDERS;
}

/* Heights differ by x (in units of the scale height) with the density (x coth x - 1) / sinh^2 x, the sech^2 profile
 * folded with itself; 1/3 at x = 0. */
static double height_difference(double x)
{
    if (x < 1e-2)
        return 1.0 / 3.0 - x * x * 2.0 / 15.0;
    return (x / tanh(x) - 1.0) / (sinh(x) * sinh(x));
}

/* <exp(-k|d|)> and <|d| (1 - exp(-k|d|))> / 2: midpoint rule over x = 0 ... 20, finer towards 0 */
static void height_factors(double k, double height, double *flat, double *lost)
{
    *flat = *lost = 0.0;
    for (int i = 0; i < HEIGHTS; i++) {
        double t = (i + 0.5) / HEIGHTS, x = 20.0 * t * t, dx = 40.0 * t / HEIGHTS;
        double w = 2.0 * height_difference(x) * dx;
        *flat += w * exp(-k * height * x);
        *lost -= 0.5 * w * height * x * expm1(-k * height * x);
    }
}

/* The disk's own vc^2 and mean z dPhi/dz.  The latter is that of plane layers, pi S(R) z0, less the part with
 * 1 - exp(-k |d|): both integrals then converge like k^-5/2, however thin the disk.  k goes to 60 / scale: what lies
 * above adds less than 1e-3. */
static void own_field(const gv_disk *disk, double *vc2, double *z_force)
{
    const double dk = 60.0 / WAVES / disk->scale, s = disk->scale;
    for (int i = 0; i <= LAST; i++) {
        vc2[i] = 0.0;
        z_force[i] = PI * surface_density(disk, disk->radius[i]) * disk->height;
    }
    for (int w = 0; w < WAVES; w++) {
        double k = (w + 0.5) * dk, flat, lost;
        height_factors(k, disk->height, &flat, &lost);
        double hankel = surface_density(disk, 0.0) * s * s * pow(1.0 + k * k * s * s, -1.5);
        for (int i = 0; i <= LAST; i++) {
            double r = disk->radius[i];
            vc2[i] += 2.0 * PI * k * hankel * j1(k * r) * flat * dk * r;
            z_force[i] -= 2.0 * PI * k * hankel * j0(k * r) * lost * dk;
        }
    }
}

/* Adds the spheres, averaged over the height: points at equal parts of the sech^2 profile's mass. */
static void add_spheres(const gv_disk *disk, const gv_sphere_grid *spheres, double *vc2, double *z_force)
{
    for (int i = 0; i <= LAST; i++) {
        double big = disk->radius[i];
        for (int h = 0; h < HEIGHTS; h++) {
            double z = disk->height * atanh((h + 0.5) / HEIGHTS), r2 = big * big + z * z, r = sqrt(r2);
            double pull = gv_sphere_mass_at(spheres, r) / (r2 * r) / HEIGHTS;
            vc2[i] += pull * big * big;
            z_force[i] += pull * z * z;
        }
    }
}

static double interpolate(const gv_disk *disk, const double *table, double r)
{
    double t = LAST * sqrt(fmin(r / disk->cut, 1.0));
    int k = t < LAST ? (int)t : LAST - 1;
    double u = (r - disk->radius[k]) / (disk->radius[k + 1] - disk->radius[k]);
    return table[k] + (table[k + 1] - table[k]) * fmin(fmax(u, 0.0), 1.0);
}

/* kappa^2 / 4 Omega^2 is between 1/4 (point mass) and 1 (solid body) wherever the mean density falls outward. */
static void set_gamma(gv_disk *disk)
{
    for (int i = 1; i <= LAST; i++) {
        int a = i - 1, b = i < LAST ? i + 1 : i;
        double ra = disk->radius[a], rb = disk->radius[b], r = disk->radius[i];
        double slope = (rb * rb * disk->vc2[b] - ra * ra * disk->vc2[a]) / (rb - ra);
        disk->gamma2[i] = fmin(fmax(slope / (4.0 * r * disk->vc2[i]), 0.25), 1.0);
    }
    disk->gamma2[0] = 1.0;
}

/* Q = sigma_R kappa / (3.36 surface density), kappa = 2 gamma vc / R */
static double central_dispersion(const gv_disk *disk)
{
    double r = fmin(2.5 * disk->scale, disk->cut);
    double kappa = 2.0 * sqrt(interpolate(disk, disk->gamma2, r) * interpolate(disk, disk->vc2, r)) / r;
    return disk->toomre_q * 3.36 * surface_density(disk, r) / kappa * exp(0.5 * r / disk->scale);
}

void gv_disk_set(gv_disk *disk, const gv_sphere_grid *spheres)
{
    double z_force[GV_DISK_NODES];
    for (int i = 0; i <= LAST; i++)
        disk->radius[i] = disk->cut * ((double)i / LAST) * ((double)i / LAST);
    own_field(disk, disk->vc2, z_force);
    add_spheres(disk, spheres, disk->vc2, z_force);
    set_gamma(disk);
    double sigma0 = central_dispersion(disk);
    for (int i = 0; i <= LAST; i++) {
        double r = disk->radius[i], sigma = sigma0 * exp(-0.5 * r / disk->scale);
        double drift = sigma * sigma * (1.0 - disk->gamma2[i] - 2.0 * r / disk->scale);
        disk->sigma_r[i] = sigma;
        disk->sigma_z[i] = sqrt(fmax(z_force[i], 0.0));
        disk->v_phi[i] = sqrt(fmax(disk->vc2[i] + drift, 0.0));
    }
}

/* M(<R) inverted by bisection: 50 halvings. */
static double draw_radius(const gv_disk *disk, gv_random *random)
{
    double low = 0.0, high = disk->cut / disk->scale, m = gv_random_unit(random) * exponential_mass(high);
    for (int k = 0; k < 50; k++) {
        double middle = 0.5 * (low + high);
        if (exponential_mass(middle) < m)
            low = middle;
        else
            high = middle;
    }
    return low * disk->scale;
}

void gv_disk_draw_position(const gv_disk *disk, gv_random *random, double x[3])
{
    double r = draw_radius(disk, random), phi = 2.0 * PI * gv_random_unit(random);
    x[0] = r * cos(phi);
    x[1] = r * sin(phi);
    x[2] = disk->height * atanh(2.0 * gv_random_unit(random) - 1.0);
}

void gv_disk_draw_velocity(const gv_disk *disk, double v_max, gv_random *random, const double x[3], double v[3])
{
    double r = sqrt(x[0] * x[0] + x[1] * x[1]), c = x[0] / r, s = x[1] / r;
    double sigma_r = interpolate(disk, disk->sigma_r, r), gamma = sqrt(interpolate(disk, disk->gamma2, r));
    double sigma_z = interpolate(disk, disk->sigma_z, r), mean = interpolate(disk, disk->v_phi, r);
    /* for a disk hotter than its potential (a huge Q) the loop would not end */
    for (int trial = 0; trial < 1000; trial++) {
        double v_r = sigma_r * gv_random_gauss(random), v_phi = mean + gamma * sigma_r * gv_random_gauss(random);
        v[0] = v_r * c - v_phi * s;
        v[1] = v_r * s + v_phi * c;
        v[2] = sigma_z * gv_random_gauss(random);
        if (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] <= v_max * v_max)
            return;
    }
    v[0] = v[1] = v[2] = 0.0;
}
