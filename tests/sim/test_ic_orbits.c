/* Few bodies on orbits, and two galaxies on one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "close_to.h"
#include "sim/ic.h"
#include "sim/ic_orbit.h"

static void twobody(void **state)
{
    (void)state;
    const double ratio[3] = {1.0, 1e-6, 1e6}, e[3] = {0.0, 0.5, 0.99};
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++) {
            gv_particles p;
            const gv_ic_twobody_options options = {ratio[k], e[j], 2.0};
            assert_int_equal(gv_ic_twobody(&options, &p), GRAVEL_OK);
            const double x = p.x[1] - p.x[0], y = p.y[1] - p.y[0], u = p.vx[1] - p.vx[0], v = p.vy[1] - p.vy[0];
            const double r = sqrt(x * x + y * y), energy = 0.5 * (u * u + v * v) - 1.0 / r, l = x * v - y * u;
            close_to(p.m[0] + p.m[1], 1.0, 1e-15);
            close_to(p.m[1] / p.m[0] / ratio[k], 1.0, 1e-9); /* 1 - 1e-6 keeps 10 digits of the smaller */
            close_to(-0.5 / energy, 2.0, 1e-11);             /* cancellation at e = 0.99: 1 / (1 - e) eps */
            close_to(sqrt(fmax(0.0, 1.0 - l * l / 2.0)), e[j], 1e-7);
            close_to(r, 2.0 * (1.0 + e[j]), 1e-12);
            close_to(p.m[0] * p.x[0] + p.m[1] * p.x[1], 0.0, 1e-15);
            close_to(p.m[0] * p.vy[0] + p.m[1] * p.vy[1], 0.0, 1e-15);
            gv_particles_free(&p);
        }
}

static void figure8_slopes(const double s[12], double out[12])
{
    for (int i = 0; i < 3; i++) {
        out[2 * i] = s[6 + 2 * i];
        out[2 * i + 1] = s[7 + 2 * i];
        out[6 + 2 * i] = out[7 + 2 * i] = 0.0;
        for (int j = 0; j < 3; j++) {
            const double dx = s[2 * j] - s[2 * i], dy = s[2 * j + 1] - s[2 * i + 1], r2 = dx * dx + dy * dy;
            if (i == j)
                continue;
            out[6 + 2 * i] += dx / (r2 * sqrt(r2));
            out[7 + 2 * i] += dy / (r2 * sqrt(r2));
        }
    }
}

/* Runge and Kutta's fourth order, 10000 steps: h^4 = 1.6e-13, times the derivatives' size (some 100) */
static void figure8_returns(void **state)
{
    (void)state;
    enum { STEPS = 10000 };
    gv_particles p;
    double s[12], start[12];
    assert_int_equal(gv_ic_figure8(&p), GRAVEL_OK);
    for (int i = 0; i < 3; i++) {
        s[2 * i] = p.x[i];
        s[2 * i + 1] = p.y[i];
        s[6 + 2 * i] = p.vx[i];
        s[7 + 2 * i] = p.vy[i];
    }
    for (int c = 0; c < 2; c++) {
        assert_true(s[c] + s[2 + c] + s[4 + c] == 0.0);
        close_to(s[6 + c] + s[8 + c] + s[10 + c], 0.0, 1e-16);
    }
    memcpy(start, s, sizeof s);
    const double h = GV_IC_FIGURE8_PERIOD / STEPS;
    for (int n = 0; n < STEPS; n++) {
        double k[4][12], at[12];
        for (int stage = 0; stage < 4; stage++) {
            const double part = stage == 3 ? 1.0 : stage ? 0.5 : 0.0;
            for (int c = 0; c < 12; c++)
                at[c] = s[c] + (stage ? part * h * k[stage - 1][c] : 0.0);
            figure8_slopes(at, k[stage]);
        }
        for (int c = 0; c < 12; c++)
            s[c] += h / 6.0 * (k[0][c] + 2.0 * k[1][c] + 2.0 * k[2][c] + k[3][c]);
    }
    for (int c = 0; c < 12; c++)
        close_to(s[c], start[c], 1e-10);
    gv_particles_free(&p);
}

static void orbits(void **state)
{
    (void)state;
    double x[3], v[3];
    const double e[4] = {0.0, 0.7, 1.0, 2.5};
    for (int k = 0; k < 4; k++) {
        const double distance = e[k] == 0.0 ? 3.0 : 9.0, mu = 2.0, q = 3.0;
        assert_true(gv_orbit_at(mu, e[k], q, distance, x, v));
        const double energy = 0.5 * (v[0] * v[0] + v[1] * v[1]) - mu / distance, l = x[0] * v[1] - x[1] * v[0];
        close_to(hypot(x[0], x[1]), distance, 1e-13);
        close_to(energy, -mu * (1.0 - e[k]) / (2.0 * q), 1e-13);
        close_to(l * l / (mu * q * (1.0 + e[k])), 1.0, 1e-13);
        assert_true(x[0] * v[0] + x[1] * v[1] <= 1e-12 && l > 0.0);
    }
    assert_false(gv_orbit_at(1.0, 0.5, 1.0, 3.1, x, v));
    assert_false(gv_orbit_at(1.0, 1.0, 1.0, 0.9, x, v));
    assert_false(gv_orbit_at(1.0, 0.0, 1.0, 2.0, x, v));
}

static void mean(const gv_particles *p, size_t first, size_t count, double *mass, double out[6])
{
    const double *const column[6] = {p->x, p->y, p->z, p->vx, p->vy, p->vz};
    *mass = 0.0;
    memset(out, 0, 6 * sizeof *out);
    for (size_t i = first; i < first + count; i++) {
        *mass += p->m[i];
        for (int c = 0; c < 6; c++)
            out[c] += p->m[i] * column[c][i];
    }
    for (int c = 0; c < 6; c++)
        out[c] /= *mass;
}

static double spin_z(const gv_particles *p, size_t first, size_t count, const double at[6])
{
    double sum = 0.0;
    for (size_t i = first; i < first + count; i++)
        sum += p->m[i] * ((p->x[i] - at[0]) * (p->vy[i] - at[4]) - (p->y[i] - at[1]) * (p->vx[i] - at[3]));
    return sum;
}

static void merger(void **state)
{
    (void)state;
    gv_ic_merger_options o = GV_IC_MERGER_OPTIONS_INIT;
    gv_particles p;
    double mass[2], at[2][6], r2 = 0.0, v2 = 0.0;
    o.mass_ratio = 0.25;
    o.eccentricity = 0.9;
    o.separation = 30.0;
    assert_int_equal(gv_ic_merger(6000, 3, &o, &p), GRAVEL_OK);
    mean(&p, 0, 4800, &mass[0], at[0]);
    mean(&p, 4800, 1200, &mass[1], at[1]);
    close_to(mass[0], 6.3, 1e-11);
    close_to(mass[1] / mass[0], 0.25, 1e-12);
    for (int c = 0; c < 6; c++) {
        const double d = at[1][c] - at[0][c];
        *(c < 3 ? &r2 : &v2) += d * d;
        close_to(mass[0] * at[0][c] + mass[1] * at[1][c], 0.0, 1e-11);
    }
    /* centres that were brought to 0 within 1e-13 of the size */
    close_to(sqrt(r2), 30.0, 1e-10);
    close_to(0.5 * v2 - (mass[0] + mass[1]) / 30.0, -(mass[0] + mass[1]) * 0.1 / 10.0, 1e-10);
    /* Disks are the first sixth.  The second spins by mass x length x speed = q^(1 + 1/2 + 1/4) of the first, and is
     * tilted by 60 degrees.  Bodies differ by half their spin: 0.5 / sqrt(200), five times. */
    const double ratio = spin_z(&p, 4800, 200, at[1]) / spin_z(&p, 0, 800, at[0]);
    close_to(ratio / (pow(0.25, 1.75) * 0.5), 1.0, 5.0 * 0.5 / sqrt(200.0));
    gv_particles_free(&p);
    o.separation = 96.0; /* beyond the apocentre, 5 * 1.9 / 0.1 */
    assert_int_equal(gv_ic_merger(1000, 3, &o, &p), GRAVEL_ERR_ARGUMENT);
    assert_true(p.count == 0);
}

static void bad_options(void **state)
{
    (void)state;
    gv_particles p;
    gv_ic_twobody_options two = GV_IC_TWOBODY_OPTIONS_INIT;
    two.eccentricity = 1.0;
    assert_int_equal(gv_ic_twobody(&two, &p), GRAVEL_ERR_ARGUMENT);
    two = (gv_ic_twobody_options){2e6, 0.5, 1.0};
    assert_int_equal(gv_ic_twobody(&two, &p), GRAVEL_ERR_ARGUMENT);
    two = (gv_ic_twobody_options){1.0, 0.5, NAN};
    assert_int_equal(gv_ic_twobody(&two, &p), GRAVEL_ERR_ARGUMENT);
    assert_true(p.count == 0 && !p.x);
    gv_ic_merger_options pair = GV_IC_MERGER_OPTIONS_INIT;
    pair.inclination[1] = INFINITY;
    assert_int_equal(gv_ic_merger(100, 1, &pair, &p), GRAVEL_ERR_ARGUMENT);
    pair = (gv_ic_merger_options)GV_IC_MERGER_OPTIONS_INIT;
    assert_int_equal(gv_ic_merger(5, 1, &pair, &p), GRAVEL_ERR_ARGUMENT); /* three components each */
    assert_true(p.count == 0 && !p.x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twobody), cmocka_unit_test(figure8_returns), cmocka_unit_test(orbits),
        cmocka_unit_test(merger),  cmocka_unit_test(bad_options),
    };
    return cmocka_run_group_tests_name("ic_orbits", tests, NULL, NULL);
}
