/* libgravel_g6: what callers of GRAPE-6 libraries rely on, a case for each point. */
#include "g6_test.h"

#include <limits.h>

/* Numbers from one name to the next: the same bits, whether scalars are values or pointers. */
static void both_kinds_of_names(void **state)
{
    (void)state;
    enum { N = 60 };
    bodies b = bodies_new(N, 1);
    rows plain = rows_of(&b, 0, N), fortran = rows_of(&b, 0, N);
    double eps2 = 0.01, ti = 0;
    int nj = N, ni = N, id = 0;
    assert_int_equal(g6_npipes(), g6_npipes_());
    send_all(&b);
    assert_int_equal(g6_set_ti(0, ti), 0);
    first_half(&plain, N, 0.1);
    assert_int_equal(last_half_2(&plain, N, 0.1), 0);
    assert_int_equal(g6_close_(&id), 0);
    assert_int_equal(g6_open_(&id), 0);
    for (int k = 0; k < N; k++) {
        double d[5][3], dt = 0;
        for (int c = 0; c < 3; c++) {
            d[0][c] = b.d[0][c][k];
            d[1][c] = b.d[1][c][k];
            d[2][c] = b.d[2][c][k] * 0.5;
            d[3][c] = b.d[3][c][k] * (1.0 / 6);
            d[4][c] = b.d[4][c][k] * (1.0 / 18);
        }
        assert_int_equal(g6_set_j_particle_(&id, &k, &b.id[k], &b.t[k], &dt, &b.m[k], d[4], d[3], d[2], d[1], d[0]), 0);
    }
    assert_int_equal(g6_set_ti_(&id, &ti), 0);
    g6calc_firsthalf_(&id, &nj, &ni, fortran.index, fortran.x, fortran.v, NULL, NULL, NULL, &eps2, NULL);
    assert_int_equal(g6calc_lasthalf2_(&id, &nj, &ni, fortran.index, fortran.x, fortran.v, &eps2, NULL, fortran.acc,
                                       fortran.jerk, fortran.pot, fortran.nearest),
                     0);
    /* 0.1 * 0.1 and 0.01 differ in the last bit */
    for (int k = 0; k < N; k++) {
        assert_true(fabs(fortran.pot[k] / plain.pot[k] - 1) < 1e-6);
        assert_int_equal(fortran.nearest[k], plain.nearest[k]);
    }
    rows_free(&plain);
    rows_free(&fortran);
    bodies_free(&b);
}

/* Point 3: what is given as cluster id, unit, buffer size means nothing; NULL is an id. */
static void cluster_ids_and_units(void **state)
{
    (void)state;
    enum { N = 20 };
    bodies b = bodies_new(N, 2);
    rows r = rows_of(&b, 0, N);
    double eps2 = 0.01, ti = 0, zero[3] = {0, 0, 0}, unit = NAN;
    int nj = N, ni = N, garbage = INT_MIN, size = -5;
    assert_int_equal(g6_open(-17), 0);
    assert_int_equal(g6_open_(NULL), 0); /* open already */
    g6_set_tunit(INT_MAX);
    g6_set_xunit_(&unit);
    assert_int_equal(g6_initialize_jp_buffer_(&garbage, &size), 0);
    for (int k = 0; k < N; k++) {
        double x[3] = {b.d[0][0][k], b.d[0][1][k], b.d[0][2][k]}, v[3] = {b.d[1][0][k], b.d[1][1][k], b.d[1][2][k]};
        assert_int_equal(
            g6_set_j_particle_(k % 2 ? NULL : &garbage, &k, &b.id[k], &ti, &ti, &b.m[k], NULL, zero, NULL, v, x), 0);
    }
    assert_int_equal(g6_flush_jp_buffer(INT_MAX), 0);
    assert_int_equal(g6_set_ti_(NULL, &ti), 0);
    g6calc_firsthalf_(NULL, &nj, &ni, r.index, r.x, r.v, r.acc, r.jerk, r.pot, &eps2, r.h2);
    assert_int_equal(g6calc_lasthalf_(&garbage, &nj, &ni, r.index, r.x, r.v, &eps2, r.h2, r.acc, r.jerk, r.pot), 0);
    assert_rows(&r, &b, 0, &b, N, 0.1, "any cluster id");
    double x[3] = {1, 1, 1}, mass = 0; /* no vector at all: at rest at the origin */
    assert_int_equal(g6_set_j_particle(0, N, 1, 0, 0, 2, NULL, NULL, NULL, NULL, NULL), 0);
    get_j_part_data(N, N + 1, x, NULL, NULL, NULL, NULL, NULL, &mass, NULL, NULL);
    assert_true(x[0] == 0 && x[1] == 0 && x[2] == 0 && mass == 2);
    rows_free(&r);
    bodies_free(&b);
}

/* Point 4: indices, not addresses, from the whole range of int; sinks with -1 or with one id. */
static void indices_of_all_kinds(void **state)
{
    (void)state;
    enum { N = 6 };
    static const int index[N] = {INT_MAX, INT_MIN, 0, 1 << 24 | 1, 77, -2};
    bodies b = bodies_empty(N);
    for (int k = 0; k < N; k++) {
        b.m[k] = 1;
        b.id[k] = index[k];
        b.d[0][0][k] = k * k; /* the nearest of each but the first is the one before it */
    }
    send_all(&b);
    rows r = rows_of(&b, 0, N);
    first_half(&r, N, 0);
    assert_int_equal(last_half_2(&r, N, 0), 0);
    assert_int_equal(r.nearest[0], index[1]);
    for (int k = 1; k < N; k++)
        assert_int_equal(r.nearest[k], index[k - 1]);
    assert_rows(&r, &b, 0, &b, N, 0, "indices of the whole range");
    for (int k = 0; k < N; k++)
        r.index[k] = k % 2 ? -1 : 77; /* nothing is left out, or source 4 */
    first_half(&r, N, 0.5);
    assert_int_equal(last_half_2(&r, N, 0.5), 0);
    for (int k = 0; k < N; k++)
        assert_int_equal(r.nearest[k], k == 4 ? index[3] : index[k]);
    assert_rows(&r, &b, 0, &b, N, 0.5, "sinks that are nobody");
    rows_free(&r);
    bodies_free(&b);
}

/* Point 5: a body does not act on itself; another one at its place without softening does not make a NaN. */
static void at_one_place(void **state)
{
    (void)state;
    enum { N = 3 };
    bodies b = bodies_empty(N);
    for (int k = 0; k < N; k++) {
        b.m[k] = 1;
        b.id[k] = k + 1;
        b.d[0][0][k] = k == 2; /* two at the origin */
    }
    send_all(&b);
    rows r = rows_of(&b, 0, N);
    first_half(&r, N, 0);
    assert_int_equal(last_half_2(&r, N, 0), 0);
    assert_rows(&r, &b, 0, &b, N, 0, "two bodies at one place");
    assert_int_equal(r.nearest[0], 2);
    assert_int_equal(r.nearest[1], 1);
    /* under another id the pair of a body with itself counts: pot -m/eps more */
    for (int k = 0; k < N; k++)
        r.index[k] = 3000 + k;
    first_half(&r, N, 0.25);
    assert_int_equal(last_half(&r, N, 0.25), 0);
    assert_rows(&r, &b, 0, &b, N, 0.25, "a body with itself");
    assert_true(fabs(r.pot[2] - (-4 - 2 / sqrt(1.0625))) < 1e-5); /* a few roundings of 6e-8 x 6 */
    rows_free(&r);
    bodies_free(&b);
}

/* Points 6 and 8: sources at their own times, by all their derivatives; those written after g6_set_ti as well. */
static void prediction(void **state)
{
    (void)state;
    enum { N = 100 };
    const double t = 0.5;
    bodies b = bodies_new(N, 3), late = bodies_new(N, 4);
    for (int k = 0; k < N; k++) { /* what is float in a prediction, dt^2/2 and on, is 5e-5 of the whole */
        b.t[k] = t - 0.01 * (k % 3);
        late.t[k] = t - 0.01;
        late.id[k] = N + k;
    }
    send_all(&b);
    assert_int_equal(g6_set_ti(0, t), 0);
    bodies at = predicted(&b, t);
    rows r = rows_of(&at, 0, N);
    first_half(&r, N, 0.1);
    assert_int_equal(last_half(&r, N, 0.1), 0);
    assert_rows(&r, &at, 0, &at, N, 0.1, "predicted sources");
    for (int k = 0; k < N; k += 2) { /* no g6_set_ti after them */
        assert_int_equal(send_one(&late, (size_t)k, k), 0);
        memcpy(&b.m[k], &late.m[k], sizeof(double));
        b.t[k] = late.t[k];
        b.id[k] = late.id[k];
        for (int j = 0; j < 18; j++)
            b.d[j / 3][j % 3][k] = late.d[j / 3][j % 3][k];
    }
    bodies_free(&at);
    at = predicted(&b, t);
    first_half(&r, N, 0.1);
    assert_int_equal(last_half(&r, N, 0.1), 0);
    /* the sinks stay where they were */
    bodies sinks = bodies_new(N, 3);
    for (int k = 0; k < N; k++) {
        for (int c = 0; c < 3; c++) {
            sinks.d[0][c][k] = r.x[k][c];
            sinks.d[1][c][k] = r.v[k][c];
        }
    }
    assert_rows(&r, &sinks, 0, &at, N, 0.1, "sources written after the time was set");
    bodies_free(&sinks);
    bodies_free(&at);
    bodies_free(&late);
    rows_free(&r);
    bodies_free(&b);
}

/* Point 6: the radius of lists that nobody reads may be anything. */
static void garbage_in_h2(void **state)
{
    (void)state;
    enum { N = 8 };
    static const double garbage[N] = {NAN, -1, INFINITY, -INFINITY, 1e308, 1e-320, -0.0, 3};
    bodies b = bodies_new(N, 5);
    rows r = rows_of(&b, 0, N), again = rows_of(&b, 0, N);
    int n, list[N];
    send_all(&b);
    memcpy(r.h2, garbage, sizeof garbage);
    first_half(&r, N, 0.1);
    assert_int_equal(last_half(&r, N, 0.1), 0);
    assert_rows(&r, &b, 0, &b, N, 0.1, "garbage in h2");
    assert_int_equal(g6_read_neighbour_list(0), 0);
    assert_int_equal(g6_get_neighbour_list(0, 0, N, &n, list), 0);
    assert_int_equal(n, 0);
    assert_int_equal(g6_get_neighbour_list(0, 4, N, &n, list), 0);
    assert_int_equal(n, N - 1); /* 1e308: everybody */
    g6calc_firsthalf(0, N, N, again.index, again.x, again.v, NULL, NULL, NULL, 0.01, NULL);
    assert_int_equal(last_half(&again, N, 0.1), 0);
    assert_rows(&again, &b, 0, &b, N, 0.1, "no h2");
    rows_free(&again);
    rows_free(&r);
    bodies_free(&b);
}

/* Point 7: what comes after firsthalf does not change its result: other sinks, sources, times; a last half may be asked
 * for twice, or never. */
static void firsthalf_keeps_its_word(void **state)
{
    (void)state;
    enum { N = 50 };
    bodies b = bodies_new(N, 6), other = bodies_new(N, 7);
    rows want = rows_of(&b, 0, N), r = rows_of(&b, 0, N);
    send_all(&b);
    first_half(&want, N, 0.1);
    assert_int_equal(last_half_2(&want, N, 0.1), 0);
    first_half(&r, N, 0.1);
    for (int k = 0; k < N; k++) {
        r.x[k][0] = r.v[k][1] = NAN;
        r.index[k] = 3;
    }
    send_all(&other);
    assert_int_equal(g6_set_ti(0, 9), 0);
    assert_int_equal(last_half_2(&r, N, 0.1), 0);
    assert_memory_equal(r.pot, want.pot, N * sizeof(double));
    assert_memory_equal(r.acc, want.acc, N * sizeof *r.acc);
    assert_memory_equal(r.nearest, want.nearest, N * sizeof *r.nearest);
    assert_int_equal(last_half(&r, N, 0.1), 0);
    assert_memory_equal(r.jerk, want.jerk, N * sizeof *r.jerk);
    /* neighbours that are asked for later are those of that call, too */
    assert_int_equal(g6_read_neighbour_list(0), 0);
    first_half(&want, N, 0.1);
    first_half(&want, N - 1, 0.1);
    first_half(&want, N, 0.1); /* two were never collected */
    assert_int_equal(last_half(&want, N, 0.1), 0);
    rows_free(&want);
    rows_free(&r);
    bodies_free(&other);
    bodies_free(&b);
}

/* Point 13: no sources: zero forces, no neighbours; no sinks: nothing is written. */
static void no_sources_no_sinks(void **state)
{
    (void)state;
    enum { N = 5 };
    bodies b = bodies_new(N, 8);
    rows r = rows_of(&b, 0, N);
    int n = -1, list[N];
    for (int turn = 0; turn < 2; turn++) { /* before and after there are sources */
        first_half(&r, 0, 0.1);
        assert_int_equal(last_half_2(&r, 0, 0.1), 0);
        for (int k = 0; k < N; k++) {
            assert_true(r.pot[k] == 0 && r.acc[k][0] == 0 && r.jerk[k][2] == 0);
            assert_int_equal(r.nearest[k], 0);
        }
        assert_int_equal(g6_read_neighbour_list(0), 0);
        assert_int_equal(g6_get_neighbour_list(0, 0, N, &n, list), 0);
        assert_int_equal(n, 0);
        send_all(&b);
    }
    r.n = 0;
    r.pot[0] = 42;
    first_half(&r, N, 0.1);
    assert_int_equal(last_half(&r, N, 0.1), 0);
    assert_int_equal(g6_read_neighbour_list(0), 0);
    assert_true(r.pot[0] == 42);
    r.n = N; /* more than there are: those that there are */
    first_half(&r, 1000, 0.1);
    assert_int_equal(last_half(&r, 1000, 0.1), 0);
    assert_rows(&r, &b, 0, &b, N, 0.1, "nj above what was set");
    rows_free(&r);
    bodies_free(&b);
}

/* Point 13: massless bodies pull nobody and are neighbours nevertheless. */
static void massless_neighbours(void **state)
{
    (void)state;
    bodies b = bodies_empty(3);
    int n, list[3];
    for (int k = 0; k < 3; k++) {
        b.m[k] = k == 1 ? 0 : 1;
        b.id[k] = 10 + k;
        b.d[0][0][k] = k;
    }
    send_all(&b);
    rows r = rows_of(&b, 0, 1);
    r.h2[0] = 1.5;
    first_half(&r, 3, 0);
    assert_int_equal(last_half_2(&r, 3, 0), 0);
    assert_true(fabs(r.pot[0] + 0.5) < 1e-6);
    assert_int_equal(r.nearest[0], 11);
    assert_int_equal(g6_read_neighbour_list(0), 0);
    assert_int_equal(g6_get_neighbour_list(0, 0, 3, &n, list), 0);
    assert_int_equal(n, 1);
    assert_int_equal(list[0], 11);
    rows_free(&r);
    bodies_free(&b);
}

/* What was set, and where it was when the last forces were found. */
static void sources_read_back(void **state)
{
    (void)state;
    enum { N = 7 };
    const double t = 0.25;
    bodies b = bodies_new(N, 9);
    rows r = rows_of(&b, 0, 1);
    double d[4][3], at[2][3], mass, eps2, x[N][3], v[N][3];
    int id;
    send_all(&b);
    g6_set_ti(0, t);
    first_half(&r, N, 0.1);
    assert_int_equal(last_half(&r, N, 0.1), 0);
    bodies want = predicted(&b, t);
    g6_get_predicted_j_particles(0, N, x, v);
    for (int k = 0; k < N; k++) {
        get_j_part_data(k, N, d[0], d[1], d[2], d[3], at[0], at[1], &mass, &eps2, &id);
        assert_int_equal(id, b.id[k]);
        assert_true(mass == b.m[k] && eps2 == 0);
        for (int c = 0; c < 3; c++) {
            for (int j = 0; j < 4; j++)
                assert_true(fabs(d[j][c] - b.d[j][c][k]) < 1e-15); /* / 6 * 6 */
            assert_true(fabs(at[0][c] - want.d[0][c][k]) < 1e-14 && fabs(at[1][c] - want.d[1][c][k]) < 1e-14);
            assert_true(at[0][c] == x[k][c] && at[1][c] == v[k][c]);
        }
    }
    assert_true(g6_get_nj_max() > 1 << 20);
    assert_int_equal(g6_get_nj_max(), g6_getnjmax(5));
    bodies_free(&want);
    rows_free(&r);
    bodies_free(&b);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, g6_begin, g6_end)

int main(void)
{
    const struct CMUnitTest cases[] = {
        CASE(both_kinds_of_names),
        CASE(cluster_ids_and_units),
        CASE(indices_of_all_kinds),
        CASE(at_one_place),
        CASE(prediction),
        CASE(garbage_in_h2),
        CASE(firsthalf_keeps_its_word),
        CASE(no_sources_no_sinks),
        CASE(massless_neighbours),
        CASE(sources_read_back),
    };
    if (no_device())
        return run_nothing();
    int failed = cmocka_run_group_tests_name("devices", cases, devices_answer, NULL) +
                 cmocka_run_group_tests_name("host", cases, host_answers, NULL);
    if (has_two_parts())
        failed += cmocka_run_group_tests_name("two devices", cases, two_devices_answer, one_device_again);
    return failed;
}
