/* What the reference makes of coincident bodies, empty sets, absent members and wrong arguments; prediction. */
#include "ref_sets.h"

/* Both reals, sampled: double is off by less than n eps of the sum of |terms|, and the two are not the same loop. */
static void double_against_long_double(void **state)
{
    (void)state;
    set s = random_set(2000, 25), t = random_set(2000, 25);
    forces(GV_REF_DOUBLE, 2, &s, &s, 0.0);
    forces(GV_REF_LONG_DOUBLE, 2, &t, &t, 0.0);
    size_t differ = 0;
    for (size_t i = 0; i < s.n; i++) {
        close_to(s.acc[0][i], t.acc[0][i], 2000 * 2.3e-16 * t.acc_scale[i]);
        close_to(s.pot[i], t.pot[i], 2000 * 2.3e-16 * t.pot_scale[i]);
        differ += s.acc[0][i] != t.acc[0][i];
    }
    if (sizeof(long double) > sizeof(double))
        assert_true(differ > s.n / 2);
    set_free(&s);
    set_free(&t);
}

/* Coincident, not the same: nothing without softening, only a potential with it.  The same particle: nothing. */
static void coincident(void **state)
{
    (void)state;
    set s = set_create(3);
    for (size_t i = 0; i < 3; i++)
        set_body(&s, i, 1.0, 1.0, 2.0, 3.0, (double)i, 0.0, 0.0);
    forces(GV_REF_DOUBLE, 6, &s, &s, 0.0);
    for (size_t i = 0; i < 3; i++) {
        assert_true(s.acc[0][i] == 0.0 && s.pot[i] == 0.0 && s.jerk[0][i] == 0.0 && s.snap[0][i] == 0.0);
        assert_true(s.acc_scale[i] == 0.0 && s.pot_scale[i] == 0.0);
    }
    forces(GV_REF_DOUBLE, 6, &s, &s, 0.5);
    close_to(s.pot[0], -4.0, 1e-15);
    /* jerk = m dv / eps^3: bodies 1 and 2 move past body 0 with 1 and 2 */
    close_to(s.jerk[0][0], 3.0 * 8.0, 1e-13);
    assert_true(s.acc[0][0] == 0.0);
    set_free(&s);
}

/* Without sources, without sinks, one body. */
static void empty_sets(void **state)
{
    (void)state;
    set one = random_set(1, 1), none = random_set(1, 1);
    none.n = 0;
    one.acc[0][0] = one.pot[0] = 5.0;
    forces(GV_REF_LONG_DOUBLE, 6, &one, &none, 0.0);
    assert_true(one.acc[0][0] == 0.0 && one.pot[0] == 0.0);
    forces(GV_REF_LONG_DOUBLE, 6, &none, &one, 0.0);
    forces(GV_REF_DOUBLE, 6, &one, &one, 0.0);
    assert_true(one.acc[0][0] == 0.0 && one.pot[0] == 0.0);
    none.n = 1;
    set_free(&one);
    set_free(&none);
}

/* Members that are NULL are zero (velocities) or not written (results). */
static void absent_members(void **state)
{
    (void)state;
    set s = random_set(20, 31), rest = random_set(20, 31);
    for (int c = 0; c < 3; c++) {
        memset(rest.p[1][c], 0, 20 * sizeof(double));
        memset(rest.p[2][c], 0, 20 * sizeof(double));
    }
    forces(GV_REF_DOUBLE, 6, &rest, &rest, 0.1);
    gv_ref_particles bare = {.n = 20, .m = s.m, .id = s.id, .x = s.p[0][0], .y = s.p[0][1], .z = s.p[0][2]};
    gv_ref_forces out = {.sx = s.snap[0]};
    assert_int_equal(gv_ref_direct(GV_REF_DOUBLE, 6, &bare, &bare, 0.1, NULL, 0, &out), 0);
    assert_memory_equal(s.snap[0], rest.snap[0], 20 * sizeof(double));
    for (size_t i = 0; i < 20; i++)
        assert_true(rest.jerk[0][i] == 0.0);
    set_free(&s);
    set_free(&rest);
}

static void bad_arguments(void **state)
{
    (void)state;
    set s = random_set(4, 41);
    gv_ref_particles p = view(&s), half = p;
    gv_ref_forces out = {.pot = s.pot};
    half.vy = NULL;
    const double minus[4] = {1.0, -1.0, 1.0, 1.0};
    assert_int_equal(gv_ref_direct(GV_REF_DOUBLE, 3, &p, &p, 0.0, NULL, 0, &out), -1);
    assert_int_equal(gv_ref_direct((gv_ref_real)9, 2, &p, &p, 0.0, NULL, 0, &out), -1);
    assert_int_equal(gv_ref_direct(GV_REF_DOUBLE, 2, &p, &p, -1.0, NULL, 0, &out), -1);
    assert_int_equal(gv_ref_direct(GV_REF_DOUBLE, 2, &p, &p, NAN, NULL, 0, &out), -1);
    assert_int_equal(gv_ref_direct(GV_REF_DOUBLE, 2, &half, &p, 0.0, NULL, 0, &out), -1);
    assert_int_equal(gv_ref_direct(GV_REF_DOUBLE, 2, NULL, &p, 0.0, NULL, 0, &out), -1);
    assert_int_equal(gv_ref_direct(GV_REF_DOUBLE, 2, &p, &p, 0.0, NULL, 0, NULL), -1);
    assert_int_equal(gv_ref_direct(GV_REF_DOUBLE, 2, &p, &p, 0.0, minus, 0, &out), -1);
    set_free(&s);
}

/* Prediction of a polynomial of the 5th degree is exact but for rounding. */
static void prediction(void **state)
{
    (void)state;
    const double c[6] = {1.0, -2.0, 3.0, -4.0, 5.0, -6.0}, t0[2] = {0.5, 2.0}, t = 2.5;
    double values[6][2], result[3][2];
    const double *d[6][3] = {{NULL}};
    double *p[3][3] = {{NULL}};
    for (int k = 0; k < 6; k++) {
        values[k][0] = values[k][1] = c[k];
        d[k][1] = values[k]; /* y only */
    }
    for (int k = 0; k < 3; k++)
        p[k][1] = result[k];
    for (int real = 0; real < 2; real++) {
        assert_int_equal(gv_ref_predict((gv_ref_real)real, 2, d, t0, t, p), 0);
        /* dt = 2 and 1/2 */
        const double pos[2] = {1 - 4 + 6 - 32.0 / 6 + 80.0 / 24 - 192.0 / 120,
                               1 - 1 + 3.0 / 8 - 4.0 / 48 + 5.0 / 384 - 6.0 / 3840};
        const double vel[2] = {-2 + 6 - 8 + 40.0 / 6 - 96.0 / 24, -2 + 1.5 - 0.5 + 5.0 / 48 - 6.0 / 384};
        const double acc[2] = {3 - 8 + 10 - 48.0 / 6, 3 - 2 + 0.625 - 0.125};
        for (int i = 0; i < 2; i++) {
            close_to(result[0][i], pos[i], 1e-14);
            close_to(result[1][i], vel[i], 1e-14);
            close_to(result[2][i], acc[i], 1e-14);
        }
    }
    assert_int_equal(gv_ref_predict(GV_REF_DOUBLE, 2, NULL, t0, t, p), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(double_against_long_double),
        cmocka_unit_test(coincident),
        cmocka_unit_test(empty_sets),
        cmocka_unit_test(absent_members),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(prediction),
    };
    return cmocka_run_group_tests_name("ref_calls", tests, NULL, NULL);
}
