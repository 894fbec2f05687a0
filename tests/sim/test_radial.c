/* Profiles over shells and rings, and parts of a set. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/ic.h"
#include "sim/radial.h"
#include "sim/subset.h"

static const double PI = 3.14159265358979323846;
static const double zero[3] = {0.0, 0.0, 0.0};

/* Plummer: rho = 3 / 4 pi a^3 (1 + r^2 / a^2)^(-5/2), sigma^2 = 1 / 6 sqrt(r^2 + a^2) in each direction.  Each shell of
 * n bodies scatters by 1 / sqrt(n) in density and 1 / sqrt(2 n) in sigma (6 of these).  Within a shell that is a
 * twelfth of a decade wide the density at the mean radius is that of the shell within (0.19)^2 of its second
 * derivative: 3 %; the innermost and the outermost shells are wider and are left out. */
static void shells_of_a_plummer_sphere(void **state)
{
    (void)state;
    enum { N = 40000 };
    const double a = 3.0 * PI / 16.0;
    gv_particles p;
    gv_shell_means shell[GV_RADIAL_MOST];
    size_t bodies = 0;
    assert_int_equal(gv_ic_plummer(N, 6, NULL, &p), GRAVEL_OK);
    const int count = gv_radial_shells(&p, zero, zero, shell);
    assert_true(count > 20 && count <= GV_RADIAL_MOST);
    for (int k = 0; k < count; k++) {
        const gv_shell_means *s = &shell[k];
        const double r2 = s->radius * s->radius, n = (double)s->bodies;
        const double rho = 3.0 / (4.0 * PI * a * a * a) * pow(1.0 + r2 / (a * a), -2.5);
        const double sigma = sqrt(1.0 / (6.0 * sqrt(r2 + a * a)));
        bodies += s->bodies;
        assert_true(s->radius > s->low && s->radius <= s->high && s->bodies >= GV_RADIAL_LEAST);
        if (k == 0 || k == count - 1 || s->high > 1.3 * s->low)
            continue;
        assert_true(fabs(s->density / rho - 1.0) < 6.0 / sqrt(n) + 0.03);
        assert_true(fabs(s->density_error / s->density - 1.0 / sqrt(n)) < 1e-12);
        assert_true(fabs(s->sigma_radial / sigma - 1.0) < 6.0 / sqrt(2.0 * n) + 0.01);
        assert_true(fabs(s->sigma_tangential / sigma - 1.0) < 6.0 / sqrt(4.0 * n) + 0.01);
    }
    assert_int_equal(bodies, N);
    gv_particles_free(&p);
}

/* Bodies on circles around a tilted axis at speed 2, the whole moving: that speed in every ring, no radial motion. */
static void rings_of_a_rotating_disk(void **state)
{
    (void)state;
    enum { N = 1000 };
    const double tilt = 0.7, centre[3] = {1.0, 2.0, 3.0}, velocity[3] = {-5.0, 0.5, 1.0};
    gv_particles p;
    gv_ring_means ring[GV_RADIAL_MOST];
    double axis[3];
    assert_int_equal(gv_particles_create(&p, N, 1), GRAVEL_OK);
    for (int i = 0; i < N; i++) {
        const double r = 0.01 * (i + 1), phi = 2.4 * i, x = r * cos(phi), y = r * sin(phi);
        p.m[i] = 1.0 / N;
        p.x[i] = centre[0] + x;
        p.y[i] = centre[1] + cos(tilt) * y;
        p.z[i] = centre[2] + sin(tilt) * y;
        p.vx[i] = velocity[0] - 2.0 * y / r;
        p.vy[i] = velocity[1] + 2.0 * cos(tilt) * x / r;
        p.vz[i] = velocity[2] + 2.0 * sin(tilt) * x / r;
    }
    gv_radial_spin(&p, centre, velocity, axis);
    assert_true(fabs(axis[0]) < 1e-12 && fabs(axis[1] + sin(tilt)) < 1e-12 && fabs(axis[2] - cos(tilt)) < 1e-12);
    const int count = gv_radial_rings(&p, &p, centre, velocity, axis, ring);
    assert_int_equal(count, 40);
    for (int k = 0; k < count; k++) {
        /* the mass inside grows with the radius: 0.1 / r, and the ring's edge is among its bodies */
        assert_true(fabs(ring[k].rotation - 2.0) < 1e-12 && ring[k].sigma_radial < 1e-7);
        assert_true(fabs(ring[k].circular - sqrt(0.1)) < 1e-6);
        assert_true(ring[k].radius < 9.5 && ring[k].bodies >= 23 && ring[k].bodies <= 25);
    }
    gv_particles_free(&p);
}

static void few_bodies(void **state)
{
    (void)state;
    for (size_t n = 1; n < 20; n++) {
        gv_particles p;
        gv_shell_means shell[GV_RADIAL_MOST];
        gv_ring_means ring[GV_RADIAL_MOST];
        const double up[3] = {0.0, 0.0, 1.0};
        assert_int_equal(gv_ic_uniform(n, 3, NULL, &p), GRAVEL_OK);
        assert_int_equal(gv_radial_shells(&p, zero, zero, shell), n < 8 ? 0 : n < 16 ? 1 : 2);
        assert_int_equal(gv_radial_rings(&p, &p, zero, zero, up, ring), (int)n / 8);
        for (size_t i = 0; i < n; i++)
            p.x[i] = p.y[i] = p.z[i] = 0.0; /* no volume: no shell */
        assert_int_equal(gv_radial_shells(&p, zero, zero, shell), 0);
        assert_true(gv_radial_rings(&p, &p, zero, zero, up, ring) >= 0);
        gv_particles_free(&p);
    }
}

static void subsets(void **state)
{
    (void)state;
    gv_particles p, some;
    double centre[3], velocity[3];
    assert_int_equal(gv_ic_plummer(1000, 1, NULL, &p), GRAVEL_OK);
    p.id[7] = 5000;
    p.time = 3.0;
    assert_int_equal(gv_subset_ids(&p, "5:4", &some), GRAVEL_OK);
    assert_true(some.count == 3 && some.id[2] == 8 && some.x[2] == p.x[8] && some.vz[2] == p.vz[8] && some.time == 3.0);
    gv_particles_free(&some);
    assert_int_equal(gv_subset_ids(&p, "998:", &some), GRAVEL_OK);
    assert_true(some.count == 3 && some.id[0] == 5000);
    gv_particles_free(&some);
    assert_int_equal(gv_subset_ids(&p, "3:2,990:5,4:3", &some), GRAVEL_OK);
    assert_true(some.count == 9 && some.id[3] == 6 && some.id[4] == 990);
    gv_particles_free(&some);
    assert_int_equal(gv_subset_ids(&p, "6000:", &some), GRAVEL_ERR_INPUT);
    assert_true(some.count == 0 && !some.m);
    static const char *const bad[] = {"", "5", ":", ":5", "5:3,", "-1:3", "5:+3", "5: 3", "5:3;6:2", "99999999999:1"};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
        assert_int_equal(gv_subset_ids(&p, bad[k], &some), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gv_subset_sample(&p, 300, &some), GRAVEL_OK);
    assert_true(some.count == 250 && some.m[249] == p.m[996]);
    gv_particles_free(&some);
    for (size_t i = 0; i < p.count; i++) {
        p.x[i] += 10.0;
        p.vy[i] -= 2.0;
    }
    assert_int_equal(gv_subset_centre(&p, centre, velocity), GRAVEL_OK);
    /* as in test_diagnose: 5 x 0.4 a / sqrt(n / 5), 5 x 0.6 / sqrt(n / 5) */
    assert_true(fabs(centre[0] - 10.0) < 0.1 && fabs(centre[1]) < 0.1 && fabs(velocity[1] + 2.0) < 0.25);
    gv_particles_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shells_of_a_plummer_sphere),
        cmocka_unit_test(rings_of_a_rotating_disk),
        cmocka_unit_test(few_bodies),
        cmocka_unit_test(subsets),
    };
    return cmocka_run_group_tests_name("radial", tests, NULL, NULL);
}
