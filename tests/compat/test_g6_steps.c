/* libgravel_g6: the single steps of GRAPE-6A's library, beside firsthalf and lasthalf and the reference. */
#include "g6_test.h"

enum { N = 80, SINKS = 12 };

static void set_sinks(const rows *r, const double *eps2)
{
    double zero[3] = {0, 0, 0};
    assert_int_equal(g6_set_nip(0, SINKS), 0);
    for (int i = 0; i < SINKS; i++) {
        assert_int_equal(g6_set_i_particle_scales_from_real_value(0, i, zero, zero, 0, 1, 1), 0);
        assert_int_equal(g6_set_i_particle(0, i, r->index[i], r->x[i], r->v[i], eps2[i], r->h2[i]), 0);
    }
}

static void assert_same_rows(const rows *a, const rows *b)
{
    assert_memory_equal(a->acc, b->acc, SINKS * sizeof *a->acc);
    assert_memory_equal(a->jerk, b->jerk, SINKS * sizeof *a->jerk);
    assert_memory_equal(a->pot, b->pot, SINKS * sizeof *a->pot);
}

/* One eps2 for all: the bits of first half and last half; all kinds of names. */
static void as_the_halves(void **state)
{
    (void)state;
    bodies b = bodies_new(N, 1);
    rows want = rows_of(&b, 0, SINKS), r = rows_of(&b, 0, SINKS);
    double eps2[SINKS], zero[3] = {0, 0, 0}, one = 1, phi = 0;
    int nip = SINKS, njp = N, flag[SINKS], n, list[N], same = 0, mode = 0;
    assert_int_equal(g6_get_number_of_pipelines(), g6_npipes());
    assert_int_equal(g6_get_number_of_pipelines_(), g6_npipes_());
    send_all(&b);
    for (int i = 0; i < SINKS; i++) {
        eps2[i] = 0.25;
        r.h2[i] = want.h2[i] = 0.1;
        flag[i] = 7;
    }
    first_half(&want, N, 0.5);
    assert_int_equal(last_half_2(&want, N, 0.5), 0);
    set_sinks(&r, eps2);
    assert_int_equal(g6_set_njp(0, N), 0);
    assert_int_equal(g6_get_force(0, r.acc, r.jerk, r.pot, flag), 0);
    assert_same_rows(&want, &r);
    for (int i = 0; i < SINKS; i++)
        same += flag[i] == 0;
    assert_int_equal(same, SINKS);
    /* sinks stay; nearest neighbours and lists of them */
    assert_int_equal(g6_set_njp_all(N), 0);
    assert_int_equal(g6_get_force_etc_all(r.acc, r.jerk, r.pot, r.nearest, NULL), 0);
    assert_same_rows(&want, &r);
    assert_memory_equal(want.nearest, r.nearest, SINKS * sizeof *r.nearest);
    /* Fortran */
    assert_int_equal(g6_set_nip_(NULL, &nip), 0);
    for (int i = 0; i < SINKS; i++) {
        assert_int_equal(g6_set_i_particle_scales_from_real_value_(NULL, &i, zero, zero, &phi, &one, &one), 0);
        assert_int_equal(g6_set_i_particle_(NULL, &i, &r.index[i], r.x[i], r.v[i], &eps2[i], &r.h2[i]), 0);
    }
    assert_int_equal(g6_set_njp_(NULL, &njp), 0);
    assert_int_equal(g6_get_force_etc_(NULL, r.acc, r.jerk, r.pot, r.nearest, flag), 0);
    assert_same_rows(&want, &r);
    /* kernels that look for no neighbours round differently */
    g6calc_firsthalf0_all_(&njp, &nip, r.index, r.x, r.v, r.acc, r.jerk, r.pot, eps2, r.h2, &mode);
    assert_int_equal(g6calc_lasthalf0_all_(&njp, &nip, r.index, r.x, r.v, eps2, r.h2, r.acc, r.jerk, r.pot, &mode), 0);
    assert_rows(&r, &b, 0, &b, N, 0.5, "mode 0");
    assert_true(g6_read_neighbour_list(0) >= 0);
    assert_int_equal(g6_get_neighbour_list(0, SINKS - 1, N, &n, list), 0);
    rows_free(&want);
    rows_free(&r);
    bodies_free(&b);
}

/* An eps2 for each sink, in steps and by mode 1. */
static void softening_of_each(void **state)
{
    (void)state;
    bodies b = bodies_new(N, 2);
    rows r = rows_of(&b, 0, SINKS), whole = rows_of(&b, 0, SINKS);
    double eps2[SINKS];
    send_all(&b);
    for (int i = 0; i < SINKS; i++)
        eps2[i] = 0.01 * (1 + i % 5);
    set_sinks(&r, eps2);
    assert_int_equal(g6_set_njp(0, N), 0);
    assert_int_equal(g6_get_force(0, r.acc, r.jerk, r.pot, NULL), 0);
    for (int i = 0; i < SINKS; i++) {
        rows one = {.n = 1, .x = r.x + i, .acc = r.acc + i, .jerk = r.jerk + i, .pot = r.pot + i, .index = r.index + i};
        assert_rows(&one, &b, (size_t)i, &b, N, sqrt(eps2[i]), "softening of each");
    }
    g6calc_firsthalf0(0, N, SINKS, r.index, r.x, r.v, NULL, NULL, NULL, eps2, r.h2, 1);
    assert_int_equal(g6calc_lasthalf0(0, N, SINKS, r.index, r.x, r.v, eps2, r.h2, whole.acc, whole.jerk, whole.pot, 1),
                     0);
    assert_same_rows(&whole, &r);
    rows_free(&whole);
    rows_free(&r);
    bodies_free(&b);
}

/* A line and -1 each; forces that look like none. */
static void wrong_steps(void **state)
{
    (void)state;
    bodies b = bodies_new(N, 3);
    rows r = rows_of(&b, 0, SINKS);
    captured log;
    int failures = 0;
    send_all(&b);
    capture_begin(&log);
    failures += g6_set_njp(0, N); /* no sinks */
    failures += g6_set_nip(0, g6_npipes() + 1);
    failures += g6_set_i_particle(0, g6_npipes(), 1, r.x[0], r.v[0], 0, 0);
    failures += g6_set_i_particle(0, 0, 1, NULL, r.v[0], 0, 0);
    assert_int_equal(g6_set_nip(0, 2), 0);
    assert_int_equal(g6_set_i_particle(0, 0, 1, r.x[0], NULL, 0.25, 0), 0);
    failures += g6_set_njp(0, N); /* sink 1 was never set */
    r.pot[1] = 0;
    const int status = g6_get_force(0, r.acc, r.jerk, r.pot, NULL);
    assert_int_equal(g6_set_i_particle(0, 1, 2, r.x[1], NULL, -1, 0), 0);
    failures += g6_set_njp(0, N); /* its eps2 is negative */
    capture_end(&log);
    assert_int_equal(failures, -6);
    assert_int_equal(log.lines, 6);
    assert_int_equal(status, -1);
    assert_true(isnan(r.pot[0]) && isnan(r.pot[1]));
    assert_contains(log.text, "sink 1 of 2 was never set");
    rows_free(&r);
    bodies_free(&b);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, g6_begin, g6_end)

int main(void)
{
    const struct CMUnitTest cases[] = {CASE(as_the_halves), CASE(softening_of_each), CASE(wrong_steps)};
    const struct CMUnitTest shared[] = {CASE(as_the_halves), CASE(softening_of_each)};
    if (no_device())
        return run_nothing();
    int failed = cmocka_run_group_tests_name("host", cases, host_answers, NULL);
    failed += cmocka_run_group_tests_name("devices", shared, devices_answer, NULL);
    if (has_two_parts())
        failed += cmocka_run_group_tests_name("two devices", shared, two_devices_answer, one_device_again);
    return failed;
}
