/* libgravel_g5: tables and quadrupoles with a softening length for each sink, on one device and on two parts of a
 * CPU. */
#include "two_devices.h"

#include "compat/common/compat.h"
#include "gravel/g5.h"

enum { N = 200, SINKS = 40 };

/* Sinks that are bodies without ids, with softening lengths between 0.02 and 0.08. */
typedef struct problem {
    bodies b;
    double x[N][3], m[N], q[N][6], eps2[N], a[SINKS][3], p[SINKS];
} problem;

static problem *problem_new(uint64_t seed)
{
    problem *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->b = bodies_new(N, seed);
    for (size_t k = 0; k < N; k++) {
        const double eps = 0.02 + 0.01 * (double)(k % 7);
        t->b.id[k] = -1;
        t->eps2[k] = eps * eps;
        t->m[k] = t->b.m[k];
        for (int c = 0; c < 3; c++)
            t->x[k][c] = t->b.d[0][c][k];
        for (int c = 0; c < 5; c++)
            t->q[k][c] = 0.01 * t->m[k] * random_unit(&seed);
        t->q[k][5] = -t->q[k][0] - t->q[k][3];
    }
    return t;
}

static void problem_free(problem *t)
{
    bodies_free(&t->b);
    free(t);
}

typedef int reference(problem *t, const gv_ref_particles *sink, const gv_ref_particles *sources, double eps,
                      const gv_ref_forces *out);

/* Each sink beside the reference with its own softening, times `more` of the bounds of Newton's force. */
static void assert_each(problem *t, reference *of, int symmetric, double more, int sign, const char *what)
{
    const gv_ref_particles all = view_of(&t->b, 0, N);
    for (size_t i = 0; i < SINKS; i++) {
        const gv_ref_particles one = view_of(&t->b, i, 1);
        results want = results_new(1, 0);
        const gv_ref_forces out = {.ax = want.v[R_AX], .ay = want.v[R_AY], .az = want.v[R_AZ], .pot = want.v[R_POT]};
        double bound[4];
        const double eps = sqrt(t->eps2[i]);
        error_bounds(GRAVEL_DS, &one, 0, &all, eps, bound);
        assert_int_equal(of(t, &one, &all, symmetric ? -eps : eps, &out), 0);
        for (int c = 0; c < 4; c++) {
            const double got = c < 3 ? t->a[i][c] : -sign * t->p[i], error = fabs(got - want.v[c][0]);
            if (!(error <= more * bound[c == R_POT]))
                fail_msg("%s: sink %zu, component %d: %.12g, the reference %.12g: error %.3g, at most %.3g", what, i, c,
                         got, want.v[c][0], error, more * bound[c == R_POT]);
        }
        results_free(&want);
    }
}

/* ------------------------------------------------------------------- tables */

static double falling(double u)
{
    return u < 2 ? (1 - u / 2) * (1 - u / 2) * (1 + u) : 0;
}
static double falling_potential(double u)
{
    return 1 - 3 * u / 2 + 3 * u * u / 4 - u * u * u / 8;
}
static double with_user(double u, void *user)
{
    (void)user;
    return falling(u);
}
static double potential_with_user(double u, void *user)
{
    (void)user;
    return falling_potential(u);
}

/* eps negative: of the sink, and that of each source beside it */
static int by_table(problem *t, const gv_ref_particles *sink, const gv_ref_particles *sources, double eps,
                    const gv_ref_forces *out)
{
    const gv_ref_law law = {
        .kind = GV_REF_LAW_FACTORS, .length = 0.4, .cut = 2, .force = with_user, .potential = potential_with_user};
    if (eps >= 0)
        return gv_ref_by_law(&law, sink, sources, eps, out);
    double sum[4] = {0};
    for (size_t j = 0; j < N; j++) {
        const gv_ref_particles one = view_of(&t->b, j, 1);
        if (gv_ref_by_law(&law, sink, &one, sqrt(eps * eps + t->eps2[j]), out))
            return -1;
        sum[0] += out->ax[0];
        sum[1] += out->ay[0];
        sum[2] += out->az[0];
        sum[3] += out->pot[0];
    }
    out->ax[0] = sum[0];
    out->ay[0] = sum[1];
    out->az[0] = sum[2];
    out->pot[0] = sum[3];
    return 0;
}

static int by_cells(problem *t, const gv_ref_particles *sink, const gv_ref_particles *sources, double eps,
                    const gv_ref_forces *out)
{
    return gv_ref_quadrupoles(sink, sources, (const double(*)[6])t->q, eps, out);
}

static void tables(void **state)
{
    (void)state;
    problem *t = problem_new(31);
    double again[SINKS][3];
    assert_int_equal(g5_open(), 0);
    assert_int_equal(g5_set_cutoff_table(falling, 2, 1, falling_potential, 2, 1), 0);
    assert_int_equal(g5_set_eta(0.4), 0);
    assert_int_equal(g5_set_xmj(0, N, t->x, t->m), 0);
    assert_int_equal(g5_set_n(N), 0);
    assert_int_equal(g5_calculate_force_on_xe(t->x, t->eps2, t->a, t->p, SINKS), 0);
    assert_each(t, by_table, 0, 4, 1, "table");
    memcpy(again, t->a, sizeof again);
    assert_int_equal(g5_set_xei(SINKS, t->x, t->eps2), 0);
    assert_int_equal(g5_run(), 0);
    assert_int_equal(g5_get_force(SINKS, t->a, t->p), 0);
    assert_memory_equal(again, t->a, sizeof again);
    /* lengths of sources beside those of sinks */
    assert_int_equal(g5_set_xmj0(0, N, t->x, t->m, t->eps2), 0);
    assert_int_equal(g5_calculate_force_on_x0(t->x, t->a, t->p, SINKS, t->eps2), 0);
    assert_each(t, by_table, 1, 4, 1, "table, symmetric");
    assert_int_equal(pg5_set_plummer_table(), 0);
    problem_free(t);
}

/* Quadrupoles of 0.01 m at s >= 0.02 are up to 12.5 times the mass term, with its roundings; a few of them meet. */
static void cells(void **state)
{
    (void)state;
    problem *t = problem_new(32);
    assert_int_equal(g5_open(), 0);
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(g5c_set_xmjMC(0, 0, N, t->x, t->m, t->q), 0);
        assert_int_equal(g5c_set_nMC(0, N), 0);
        assert_int_equal(g5_set_xei(SINKS, t->x, t->eps2), 0);
        assert_int_equal(g5c_runMC(0), 0);
        assert_int_equal(g5_get_force(SINKS, t->a, t->p), 0);
        assert_each(t, by_cells, 0, 100, -1, "cells");
        for (int k = 20; k < 90; k++) /* and once more with other quadrupoles of some */
            for (int c = 0; c < 6; c++)
                t->q[k][c] *= -2;
    }
    problem_free(t);
}

static int begin(void **state)
{
    (void)state;
    return 0;
}

static int end(void **state)
{
    (void)state;
    return g5_close();
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test_setup_teardown(tables, begin, end),
        cmocka_unit_test_setup_teardown(cells, begin, end),
    };
    if (no_device())
        return 0;
    int failed = cmocka_run_group_tests_name("one device", cases, NULL, NULL);
    if (has_two_parts())
        failed += cmocka_run_group_tests_name("two devices", cases, two_devices, NULL);
    return failed;
}
