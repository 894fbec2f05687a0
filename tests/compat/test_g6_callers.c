/* libgravel_g6: the patterns of the codes that call it, and bad use. */
#include "g6_test.h"

#include <limits.h>
#include <pthread.h>

/* A cluster code: the block that is due is sent, forces at the next time on the next block, many times. */
static void blocks(void **state)
{
    (void)state;
    enum { N = 300, ROUNDS = 30 };
    bodies b = bodies_new(N, 1);
    uint64_t seed = 5;
    double t = 0.5;
    for (int k = 0; k < N; k++)
        b.t[k] = t;
    assert_int_equal(g6_reset(0), 0);
    assert_int_equal(g6_reset_fofpga(0), 0);
    send_all(&b);
    for (int round = 0; round < ROUNDS; round++) {
        const size_t first = (size_t)(150 * (1 + random_unit(&seed))), most = N - first;
        const size_t n = round % 5 == 0 ? most : most < 7 ? most : 7;
        t += ldexp(1, -14);
        assert_int_equal(g6_set_ti(0, t), 0);
        bodies at = predicted(&b, t);
        rows r = rows_of(&at, first, n);
        first_half(&r, N, 0.01);
        assert_int_equal((round % 7 == 3 ? last_half : last_half_2)(&r, N, 0.01), 0);
        assert_rows(&r, &at, first, &at, N, 0.01, "a block");
        for (size_t k = first; k < first + n;
             k++) { /* right after the pair: uploads do not disturb what is under way */
            b.t[k] = t;
            for (int c = 0; c < 3; c++) {
                b.d[0][c][k] = at.d[0][c][k];
                b.d[1][c][k] = at.d[1][c][k];
            }
            assert_int_equal(send_one(&b, k, (int)k), 0);
        }
        rows_free(&r);
        bodies_free(&at);
    }
    bodies_free(&b);
}

/* Synchronising by a first half of as many equal sinks as there are pipes, never collected; forces at points. */
static void dangling_first_halves(void **state)
{
    (void)state;
    enum { N = 100, POINTS = 9 };
    bodies b = bodies_new(N, 2), points = bodies_new(POINTS, 3);
    const size_t pipes = (size_t)g6_npipes();
    rows r = rows_of(&points, 0, POINTS);
    double(*x)[3] = calloc(pipes, sizeof *x);
    int *index = calloc(pipes, sizeof *index);
    assert_true(x && index);
    send_all(&b);
    for (int turn = 0; turn < 3; turn++) {
        g6calc_firsthalf(0, N, (int)pipes, index, x, x, x, x, x[0], 1, x[0]);
        for (int k = 0; k < POINTS; k++)
            r.index[k] = -1;
        first_half(&r, N, 0.1);
        assert_int_equal(last_half(&r, N, 0.1), 0);
        assert_rows(&r, &points, 0, &b, N, 0.1, "forces at points");
    }
    free(x);
    free(index);
    rows_free(&r);
    bodies_free(&points);
    bodies_free(&b);
}

/* Addresses from high to low, some of them again; fewer sources than addresses; one source. */
static void addresses_in_any_order(void **state)
{
    (void)state;
    enum { N = 64 };
    bodies b = bodies_new(N, 4), other = bodies_new(N, 5);
    rows r = rows_of(&b, 0, N);
    for (int k = N - 1; k >= 0; k--) {
        assert_int_equal(send_one(&other, (size_t)k, k), 0);
        assert_int_equal(send_one(&b, (size_t)((k + 31) % N), (k + 31) % N), 0);
        assert_int_equal(send_one(&b, (size_t)k, k), 0);
    }
    for (int nj = N; nj > 0; nj = nj == 1 ? 0 : nj == N ? 37 : 1) {
        first_half(&r, (size_t)nj, 0.1);
        assert_int_equal(last_half(&r, (size_t)nj, 0.1), 0);
        assert_rows(&r, &b, 0, &b, (size_t)nj, 0.1, "addresses in any order");
    }
    rows_free(&r);
    bodies_free(&other);
    bodies_free(&b);
}

/* More sources than the 131072 that other libraries end at, in growing numbers. */
static void sources_beyond_2_17(void **state)
{
    (void)state;
    enum { N = (1 << 17) + 1000, FEW = 1000 };
    bodies b = bodies_new(N, 6);
    rows r = rows_of(&b, 0, 2);
    for (int k = 0; k < N; k++) {
        assert_int_equal(send_one(&b, (size_t)k, k), 0);
        if (k == FEW - 1) {
            first_half(&r, FEW, 0.1);
            assert_int_equal(last_half(&r, FEW, 0.1), 0);
            assert_rows(&r, &b, 0, &b, FEW, 0.1, "the first sources");
        }
    }
    first_half(&r, N, 0.1);
    assert_int_equal(last_half(&r, N, 0.1), 0);
    assert_rows(&r, &b, 0, &b, N, 0.1, "more than 2^17 sources");
    rows_free(&r);
    bodies_free(&b);
}

/* -------------------------------------------------------------- neighbours */

enum { CAPACITY = 16 };

static int small_lists(void **state)
{
    setenv("GRAVEL_COMPAT_NEIGHBOURS", "16", 1);
    return g6_begin(state);
}

static int end_small_lists(void **state)
{
    unsetenv("GRAVEL_COMPAT_NEIGHBOURS");
    return g6_end(state);
}

/* Bodies at 1, 2, 3, ... on a line around one at 0, with falling indices. */
static bodies on_a_line(size_t n)
{
    bodies b = bodies_empty(n);
    for (size_t k = 0; k < n; k++) {
        b.m[k] = 1;
        b.id[k] = 1000 - (int)k;
        b.d[0][0][k] = (double)k;
    }
    return b;
}

/* The list of the first sink: `n` of them, of which `given` are there, sorted. */
static void assert_list(int maxlength, int status, int n, int given)
{
    int list[40], count = -1;
    memset(list, 0x55, sizeof list);
    assert_int_equal(g6_get_neighbour_list(0, 0, maxlength, &count, list), status);
    assert_int_equal(count, n);
    for (int k = 0; k < given; k++)
        assert_int_equal(list[k], 1000 - given + k);
    assert_int_equal(list[given], 0x55555555);
}

/* Point 12: dr^2 <= h2 without softening; true counts; status 1 where a list is cut, with its first entries in place.
 * A caller that makes h2 smaller until it fits comes to an end. */
static void lists_that_overflow(void **state)
{
    (void)state;
    enum { N = 30 };
    bodies b = on_a_line(N);
    rows r = rows_of(&b, 0, 1);
    send_all(&b);
    r.h2[0] = 25;
    for (int turn = 0; turn < 2; turn++) { /* looked for after the forces, then with them */
        first_half(&r, N, 100);
        assert_int_equal(last_half_2(&r, N, 100), 0);
        assert_int_equal(r.nearest[0], 999);
        assert_int_equal(g6_read_neighbour_list(0), 0);
        assert_list(40, 0, 5, 5);
        assert_list(5, 0, 5, 5);
        assert_list(4, 1, 5, 4);
        assert_list(0, 1, 5, 0);
    }
    r.h2[0] = CAPACITY * CAPACITY;
    first_half(&r, N, 0);
    assert_int_equal(g6_read_neighbour_list(0), 0); /* before the forces are fetched; exactly full is not too full */
    assert_list(40, 0, CAPACITY, CAPACITY);
    r.h2[0] = 29 * 29;
    first_half(&r, N, 0);
    assert_int_equal(last_half(&r, N, 0), 0);
    assert_int_equal(g6_read_neighbour_list(0), 1);
    assert_list(40, 1, 29, CAPACITY);
    g6_set_neighbour_list_sort_mode(0);
    int list[40], n, reduced = 0;
    assert_int_equal(g6_get_neighbour_list(0, 0, 40, &n, list), 1);
    assert_int_equal(list[0], 999); /* by address */
    assert_int_equal(g6_get_neighbour_list_sort_mode(), 0);
    g6_set_neighbour_list_sort_mode(1);
    do {
        r.h2[0] *= 0.5;
        reduced++;
        first_half(&r, N, 0);
    } while (g6_read_neighbour_list(0) == 1);
    assert_int_equal(reduced, 2); /* 29^2/4 is below 16^2 */
    rows_free(&r);
    bodies_free(&b);
}

/* The variants of the last half that bring lists and distances. */
static void last_halves_with_more(void **state)
{
    (void)state;
    enum { N = 10 };
    bodies b = on_a_line(N);
    rows r = rows_of(&b, 0, N);
    int n, list[N];
    send_all(&b);
    for (int k = 0; k < N; k++)
        r.h2[k] = 4;
    for (int kind = 0; kind < 4; kind++) {
        first_half(&r, N, 0.5);
        int status = -5;
        if (kind == 0)
            status =
                g6calc_lasthalf2p(0, N, N, r.index, r.x, r.v, 0.25, r.h2, r.acc, r.jerk, r.pot, r.nearest, r.distance);
        else if (kind == 1)
            status = g6calc_lasthalfn(0, N, N, r.index, r.x, r.v, 0.25, r.h2, r.acc, r.jerk, r.pot);
        else if (kind == 2)
            status = g6calc_lasthalf2n(0, N, N, r.index, r.x, r.v, 0.25, r.h2, r.acc, r.jerk, r.pot, r.nearest);
        else
            status =
                g6calc_lasthalf2np(0, N, N, r.index, r.x, r.v, 0.25, r.h2, r.acc, r.jerk, r.pot, r.nearest, r.distance);
        assert_int_equal(status, 0);
        assert_rows(&r, &b, 0, &b, N, 0.5, "last halves with more");
        for (int k = 0; k < N && kind != 1; k++) {
            assert_int_equal(r.nearest[k], 1000 - (k == 0 ? 1 : k - 1));
            assert_true(kind == 2 || r.distance[k] == 1);
        }
        if (kind > 0) {
            assert_int_equal(g6_get_neighbour_list(0, 5, N, &n, list), 0);
            assert_int_equal(n, 4);
            assert_int_equal(list[0], 993);
            assert_int_equal(list[3], 997);
        }
    }
    assert_int_equal(g6_close(0), 0); /* lists of before are gone */
    assert_int_equal(g6_open(0), 0);
    assert_int_equal(g6_get_neighbour_list(0, 5, N, &n, list), -1);
    rows_free(&r);
    bodies_free(&b);
}

/* ----------------------------------------------------------------- bad use */

static int few_pipes(void **state)
{
    setenv("GRAVEL_COMPAT_PIPES", "48", 1);
    return g6_begin(state);
}

static int end_few_pipes(void **state)
{
    unsetenv("GRAVEL_COMPAT_PIPES");
    return g6_end(state);
}

/* Point 9: as many sinks as there are pipes, not one more: one line, the code of lasthalf, and no numbers that look
 * like forces. */
static void more_sinks_than_pipes(void **state)
{
    (void)state;
    enum { N = 49 };
    bodies b = bodies_new(N, 7);
    rows r = rows_of(&b, 0, N);
    captured log;
    assert_int_equal(g6_npipes(), 48);
    send_all(&b);
    capture_begin(&log);
    first_half(&r, N, 0.1);
    const int status = last_half(&r, N, 0.1), read = g6_read_neighbour_list(0);
    capture_end(&log);
    assert_int_equal(status, -1);
    assert_int_equal(read, -1);
    assert_int_equal(log.lines, 1);
    assert_contains(log.text, "gravel_g6: error: g6calc_firsthalf: 49 sinks, but 48 pipes");
    assert_true(isnan(r.pot[48]) && isnan(r.acc[0][0]) && isnan(r.jerk[48][2]));
    r.n = 48;
    first_half(&r, N, 0.1);
    assert_int_equal(last_half(&r, N, 0.1), 0);
    assert_rows(&r, &b, 0, &b, N, 0.1, "as many sinks as pipes");
    r.n = N;
    rows_free(&r);
    bodies_free(&b);
}

/* Point 10: calls in the wrong order, senseless arguments: -1 and a line each; then all goes on. */
static void wrong_calls(void **state)
{
    (void)state;
    enum { N = 4 };
    bodies b = bodies_new(N, 8);
    rows r = rows_of(&b, 0, N);
    int n, list[4], failures = 0;
    double nan3[3] = {NAN, 0, 0}, zero[3] = {0, 0, 0};
    int is_spoiled;
    captured log;
    send_all(&b);
    capture_begin(&log);
    failures += last_half(&r, N, 0.1);
    failures += g6_read_neighbour_list(0);
    failures += g6_get_neighbour_list(0, 0, 4, &n, list);
    failures += g6_set_j_particle(0, -1, 1, 0, 0, 1, zero, zero, zero, zero, zero);
    failures += g6_set_j_particle(0, INT_MAX, 1, 0, 0, 1, zero, zero, zero, zero, zero); /* beyond memory */
    failures += g6_set_j_particle(0, 0, 1, 0, 0, 1, zero, zero, zero, zero, nan3);
    first_half(&r, N, 0.1); /* fails: callers do not look at what setting a source returned */
    failures += last_half(&r, N, 0.1);
    is_spoiled = isnan(r.acc[0][0]) && isnan(r.pot[N - 1]);
    send_one(&b, 0, 0);
    failures += g6_set_ti(0, NAN);
    g6calc_firsthalf(0, N, -1, r.index, r.x, r.v, NULL, NULL, NULL, 0, NULL);
    failures += g6calc_lasthalf(0, N, -1, r.index, r.x, r.v, 0, NULL, r.acc, r.jerk, r.pot);
    g6calc_firsthalf(0, N, N, r.index, r.x, r.v, NULL, NULL, NULL, -1, NULL);
    failures += last_half(&r, N, 0.1);
    first_half(&r, N, 0.1);
    r.n = 3;
    failures += last_half(&r, N, 0.1);
    r.n = N;
    failures += g6_get_neighbour_list(0, 0, 4, &n, list);
    g6_read_neighbour_list(0);
    failures += g6_get_neighbour_list(0, N, 4, &n, list);
    capture_end(&log);
    assert_true(is_spoiled);
    assert_int_equal(failures, -13);
    if (log.lines != 13)
        fail_msg("not one line for each of 13 failures:\n%s", log.text);
    first_half(&r, N, 0.1);
    assert_int_equal(last_half(&r, N, 0.1), 0);
    assert_rows(&r, &b, 0, &b, N, 0.1, "after bad calls");
    rows_free(&r);
    bodies_free(&b);
}

/* Not open, or no device: every function says so and returns. */
static void no_device_at_all(void **state)
{
    (void)state;
    bodies b = bodies_new(1, 9);
    rows r = rows_of(&b, 0, 1);
    captured log;
    int before, opened, set, status, list = 5;
    capture_begin(&log);
    before = send_one(&b, 0, 0);
    setenv("GRAVEL_COMPAT_DEVICES", "no such device", 1);
    opened = g6_open(0);
    unsetenv("GRAVEL_COMPAT_DEVICES");
    set = send_one(&b, 0, 0);
    first_half(&r, 1, 0);
    status = last_half(&r, 1, 0);
    list = g6_read_neighbour_list(0);
    capture_end(&log);
    assert_int_equal(before, -1);
    assert_int_equal(opened, -1);
    assert_int_equal(set, -1);
    assert_int_equal(status, -1);
    assert_int_equal(list, -1);
    assert_contains(log.text, "g6_set_j_particle: g6_open was not called");
    assert_contains(log.text, "g6_open: device 'no such device'");
    assert_true(isnan(r.pot[0]));
    assert_int_equal(g6_close(0), 0);
    assert_true(g6_npipes() > 0);
    assert_int_equal(g6_open_special(-1, NULL), 0);
    assert_int_equal(g6_close(0), 0);
    capture_begin(&log);
    opened = g6_open_special(1, (int[]){63});
    capture_end(&log);
    assert_int_equal(opened, -1);
    assert_contains(log.text, "g6_open_special: there is no device 63");
    rows_free(&r);
    bodies_free(&b);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, g6_begin, g6_end)

int main(void)
{
    const struct CMUnitTest cases[] = {
        CASE(blocks),
        CASE(dangling_first_halves),
        CASE(addresses_in_any_order),
        CASE(sources_beyond_2_17),
        cmocka_unit_test_setup_teardown(lists_that_overflow, small_lists, end_small_lists),
        cmocka_unit_test_setup_teardown(last_halves_with_more, small_lists, end_small_lists),
        cmocka_unit_test_setup_teardown(more_sinks_than_pipes, few_pipes, end_few_pipes),
        CASE(wrong_calls),
        cmocka_unit_test(no_device_at_all),
    };
    const struct CMUnitTest shared[] = {
        CASE(blocks),
        CASE(addresses_in_any_order),
        cmocka_unit_test_setup_teardown(lists_that_overflow, small_lists, end_small_lists),
        cmocka_unit_test_setup_teardown(last_halves_with_more, small_lists, end_small_lists),
    };
    if (no_device())
        return run_nothing();
    int failed = cmocka_run_group_tests_name("as settings are", cases, NULL, NULL);
    if (has_two_parts())
        failed += cmocka_run_group_tests_name("two devices", shared, two_devices_answer, one_device_again);
    return failed;
}
