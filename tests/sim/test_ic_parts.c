/* What galaxies are made of, each alone beside a closed form: the field of a thin disk, the distribution function of a
 * sphere. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "close_to.h"
#include "sim/ic_disk.h"

static const double PI = 3.14159265358979;

/* Modified Bessel functions by their integrals: I_n(y) = 1/pi int exp(y cos t) cos nt, K_n(y) = int exp(-y cosh t)
 * cosh nt */
static double bessel_i(int n, double y)
{
    double sum = 0.0;
    for (int k = 0; k < 200; k++) {
        double t = PI * (k + 0.5) / 200;
        sum += exp(y * cos(t)) * cos(n * t) / 200;
    }
    return sum;
}

static double bessel_k(int n, double y)
{
    double sum = 0.0;
    for (int k = 0; k < 2000; k++) {
        double t = 12.0 * (k + 0.5) / 2000;
        sum += exp(-y * cosh(t)) * cosh(n * t) * 12.0 / 2000;
    }
    return sum;
}

/* A thin exponential disk alone (Freeman 1970): vc^2 = 2 y^2 (I0 K0 - I1 K1), y = R / 2, for mass and scale 1.  Height
 * 0.01 takes about 0.01 of it away; near the plane the layers are flat, sigma_z^2 = pi S(R) z0, to 0.01 / R; far out
 * the disk's middle adds to it. */
static void thin_disk(void **state)
{
    (void)state;
    gv_sphere_grid *nothing = calloc(1, sizeof *nothing);
    gv_disk *disk = calloc(1, sizeof *disk);
    assert_true(nothing && disk);
    gv_sphere_grid_set(nothing, 1e-4, 1e2);
    *disk = (gv_disk){.mass = 1.0, .scale = 1.0, .height = 0.01, .cut = 8.0, .toomre_q = 1.0};
    gv_disk_set(disk, nothing);
    int compared = 0;
    for (int k = 0; k < GV_DISK_NODES; k++) {
        double r = disk->radius[k], y = 0.5 * r;
        if (r < 0.5 || r > 4.0)
            continue;
        double vc2 = 2.0 * y * y * (bessel_i(0, y) * bessel_k(0, y) - bessel_i(1, y) * bessel_k(1, y));
        close_to(disk->vc2[k] / vc2, 1.0, 0.02);
        close_to(disk->sigma_z[k] * disk->sigma_z[k] / (0.005 * exp(-r)), 1.0, 0.02);
        compared++;
    }
    assert_true(compared > 80);
    /* all of it at last: as a point, and the whole inside a sphere */
    close_to(gv_disk_mass_inside(disk, 50.0), 1.0, 1e-3);
    free(nothing);
    free(disk);
}

/* The distribution function of a Hernquist sphere alone has a closed form (Hernquist 1990); in units of mass and scale,
 * q = sqrt(E):  f = (3 asin q + q sqrt(1 - q^2) (1 - 2 q^2) (8 q^4 - 8 q^2 - 3)) / (8 sqrt(2) pi^3 (1 - q^2)^(5/2)).
 * The grid ends at 1e4, where the potential is 1e-4.  Trapezoids over ln r with steps of 0.009 are good to 1e-5 in psi,
 * which (1 - q^2)^(5/2) raises up to 100 times; 1.4e-3 is seen. */
static void distribution_function(void **state)
{
    (void)state;
    gv_sphere_grid *grid = malloc(sizeof *grid);
    gv_sphere *sphere = malloc(sizeof *sphere);
    assert_true(grid && sphere);
    gv_sphere_grid_set(grid, 1e-4, 1e4);
    gv_sphere_set(sphere, grid, "sphere", pow(1e4 / (1e4 + 1.0), 2.0), 1.0, 1e6); /* the mass inside the grid */
    memcpy(grid->mass, sphere->mass, sizeof grid->mass);
    gv_sphere_potential(grid);
    assert_int_equal(gv_sphere_invert(sphere, grid), GRAVEL_OK);
    int compared = 0;
    for (int k = 0; k < GV_SPHERE_NODES; k++) {
        double e = grid->psi[k] + 1.0 / (1.0 + 1e4);
        if (e < 0.03 || e > 0.97)
            continue;
        double q = sqrt(e), w = sqrt(1.0 - e);
        double f = 3.0 * asin(q) + q * w * (1.0 - 2.0 * e) * (8.0 * e * e - 8.0 * e - 3.0);
        f /= 8.0 * sqrt(2.0) * PI * PI * PI * pow(w, 5.0);
        close_to(sphere->f[k] / f, 1.0, 2e-3);
        compared++;
    }
    assert_true(compared > 500);

    /* a hollow sphere has none */
    for (int k = 0; k < GV_SPHERE_NODES; k++)
        sphere->slope[k] = grid->r[k] < 1.0 ? 1.0 : sphere->slope[k];
    assert_int_equal(gv_sphere_invert(sphere, grid), GRAVEL_ERR_ARGUMENT);
    assert_non_null(strstr(gravel_error_message(), "sphere has no isotropic equilibrium"));
    free(grid);
    free(sphere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distribution_function),
        cmocka_unit_test(thin_disk),
    };
    return cmocka_run_group_tests_name("ic_parts", tests, NULL, NULL);
}
