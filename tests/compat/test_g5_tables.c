/* libgravel_g5 with forces that are no Newton's: cut-offs and tables, and cells with quadrupoles. */
#include "g5_test.h"

/* ------------------------------------------------------------------- tables */

static double falling_fortran(double *u)
{
    return falling(*u);
}
static double falling_potential_fortran(double *u)
{
    return falling_potential(*u);
}
static double user_force(double u, void *user)
{
    (void)user;
    return 1.5 * falling(u);
}
static double user_potential(double u, void *user)
{
    (void)user;
    return 0.5 * falling_potential(u);
}

/* Of a sphere of diameter a whose density falls linearly to zero: 48 / pi a^-4 (a/2 - r). */
static double mass_within(double a, double r)
{
    const double x = 2 * r / a;
    return x >= 1 ? 1 : x * x * x * (4 - 3 * x);
}

/* Force over distance of two such spheres.  One is cut into shells, each point of which feels the mass of the other
 * within its distance; means over a shell by the midpoint rule. */
static double spheres(double a, double r)
{
    enum { SHELLS = 160, ANGLES = 160 };
    double sum = 0;
    for (int k = 0; k < SHELLS; k++) {
        const double s = (k + 0.5) / SHELLS * a / 2;
        const double shell = mass_within(a, s + a / 4 / SHELLS) - mass_within(a, s - a / 4 / SHELLS);
        for (int j = 0; j < ANGLES; j++) {
            const double mu = -1 + (j + 0.5) * 2 / ANGLES, along = r + s * mu;
            const double d = sqrt(along * along + s * s * (1 - mu * mu));
            sum += shell / ANGLES * mass_within(a, d) / (d * d * d) * along;
        }
    }
    return sum / r;
}

static double s2_force(double r, void *user)
{
    const double *a = user;
    return spheres(a[0], r) - spheres(a[1], r);
}

static void cut_off(void **state)
{
    (void)state;
    bodies b = anonymous(N, 16);
    rows r = rows_of(&b);
    const gv_ref_particles sinks = view_of(&b, 0, SINKS), sources = view_of(&b, 0, N);
    const gv_ref_law law = {
        .kind = GV_REF_LAW_FACTORS, .length = 0.4, .cut = 2, .force = user_force, .potential = user_potential};
    results want = results_new(SINKS, 0);
    const gv_ref_forces out = {.ax = want.v[R_AX], .ay = want.v[R_AY], .az = want.v[R_AZ], .pot = want.v[R_POT]};
    assert_int_equal(gv_ref_by_law(&law, &sinks, &sources, EPS, &out), 0);
    send(&r);
    assert_int_equal(g5_set_cutoff_table(falling, 2, 1.5, falling_potential, 2, 0.5), 0);
    assert_int_equal(g5_set_eta(0.4), 0);
    assert_int_equal(g5_calculate_force_on_x(r.x, r.a, r.p, SINKS), 0);
    assert_sinks(&r, SINKS, &want, &sinks, &sources, EPS, 4, 1, "cut off");
    /* another eta, and back, from Fortran */
    double eta = 0.2, two = 2, more = 1.5, less = 0.5;
    assert_int_equal(g5_set_eta_(&eta), 0);
    assert_int_equal(g5_calculate_force_on_x(r.x, r.a, r.p, 1), 0);
    assert_true(fabs(r.a[0][0] - want.v[R_AX][0]) > 1e-3 * fabs(want.v[R_AX][0]));
    eta = 0.4;
    assert_int_equal(g5_set_eta_(&eta), 0);
    assert_int_equal(g5_set_cutoff_table_(falling_fortran, &two, &more, falling_potential_fortran, &two, &less), 0);
    assert_int_equal(g5_calculate_force_on_x(r.x, r.a, r.p, SINKS), 0);
    assert_sinks(&r, SINKS, &want, &sinks, &sources, EPS, 4, 1, "from Fortran");
    assert_int_equal(pg5_set_plummer_table(), 0);
    assert_int_equal(g5_calculate_force_on_x(r.x, r.a, r.p, SINKS), 0);
    assert_plummer(&r, SINKS, &b, N, EPS, "no table");
    results_free(&want);
    rows_free(&r);
    bodies_free(&b);
}

/* Without g5_open, as FDPS's TreePM sample does it.  The midpoint rule is good to some 1e-4. */
static void treepm(void **state)
{
    (void)state;
    static const double size[2] = {0.3, 0.8};
    static const double place[6] = {0.05, 0.2, 0.31, 0.5, 0.79, 0.9};
    double x[7][3] = {{0}}, a[7][3], p[7], m[1] = {2};
    for (int k = 0; k < 6; k++)
        x[k + 1][0] = -place[k];
    assert_int_equal(pg5_gen_s2_force_table(size[0], size[1]), 0);
    assert_int_equal(g5_set_xmjMC(5, 0, 1, x, m), 0);
    assert_int_equal(g5_set_nMC(5, 1), 0);
    assert_int_equal(g5_calculate_force_on_xMC(5, x, a, p, 7), 0);
    for (int k = 1; k < 7; k++) {
        const double f = place[k - 1] < size[1] ? s2_force(place[k - 1], (void *)size) : 0;
        const double all = f + spheres(size[1], place[k - 1]);
        if (!(fabs(a[k][0] - 2 * f * place[k - 1]) <= 3e-4 * 2 * all * place[k - 1]))
            fail_msg("at %g: %.9g, by shells %.9g", place[k - 1], a[k][0], 2 * f * place[k - 1]);
        assert_true(p[k] >= 0 && p[k] <= p[k - 1]);
    }
    assert_true(a[0][0] == 0 && isfinite(p[0]) && p[6] == 0);
    assert_int_equal(pg5_set_plummer_table(), 0);
}

/* -------------------------------------------------------------- quadrupoles */

static void cells(void **state)
{
    (void)state;
    static double q[N][6];
    bodies b = anonymous(N, 17), s = anonymous(SINKS, 18);
    rows r = rows_of(&b), at = rows_of(&s);
    uint64_t seed = 3;
    for (int k = 0; k < N; k++) {
        for (int c = 0; c < 5; c++)
            q[k][c] = 0.01 * b.m[k] * random_unit(&seed);
        q[k][5] = -q[k][0] - q[k][3];
    }
    const gv_ref_particles sinks = view_of(&s, 0, SINKS), sources = view_of(&b, 0, N);
    results want = results_new(SINKS, 0);
    const gv_ref_forces out = {.ax = want.v[R_AX], .ay = want.v[R_AY], .az = want.v[R_AZ], .pot = want.v[R_POT]};
    assert_int_equal(gv_ref_quadrupoles(&sinks, &sources, (const double(*)[6])q, EPS, &out), 0);
    assert_int_equal(g5_set_eps_to_all(EPS), 0);
    assert_int_equal(g5c_set_xmjMC(2, 0, N, r.x, r.m, q), 0);
    assert_int_equal(g5c_set_nMC(2, N), 0);
    assert_int_equal(g5_set_xmjMC(2, 0, 10, r.x, r.m), 0); /* bodies beside cells */
    assert_int_equal(g5_set_nMC(2, 10), 0);
    assert_int_equal(g5c_calculate_force_on_xMC(2, at.x, at.a, at.p, SINKS), 0);
    /* quadrupoles of 0.01 m at s >= 0.05 are up to 4 times the mass term, with its roundings */
    assert_sinks(&at, SINKS, &want, &sinks, &sources, EPS, 40, -1, "cells");
    assert_int_equal(g5_set_xiMC(2, 48, at.x), 0);
    assert_int_equal(g5c_runMC0(2), 0);
    assert_int_equal(g5_get_forceMC(2, 48, at.a, at.p), 0);
    assert_sinks(&at, 48, &want, &sinks, &sources, EPS, 40, -1, "cells by pipes");
    results_free(&want);
    rows_free(&r);
    rows_free(&at);
    bodies_free(&b);
    bodies_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cut_off, begin, end),
        cmocka_unit_test_setup_teardown(treepm, begin, end),
        cmocka_unit_test_setup_teardown(cells, begin, end),
    };
    if (no_device())
        return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
