/* Which finalist wins, and the timing rule, on fake clocks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tuner/run.h"
#include "tuner/timing.h"

/* ------------------------------------------------------------------ finals */

static gv_finalist finalist(double a, double b, double c, int complexity)
{
    gv_finalist f = {.round = {a, b, c}, .median = b, .time_s = b, .alive = 1, .complexity = complexity};

    assert_true(a <= b && b <= c);
    return f;
}

/* The last is the untuned default. */
static void test_finals_keep_the_default_within_the_scatter(void **state)
{
    static const struct {
        double fast[3], built_in[3];
        int chosen;
    } c[] = {
        {{1.000, 1.001, 1.002}, {1.005, 1.006, 1.007}, 1}, /* within 1 % */
        {{1.000, 1.001, 1.002}, {1.030, 1.031, 1.032}, 0}, /* 3 % faster, rounds agree */
        {{1.000, 1.010, 1.050}, {1.030, 1.040, 1.050}, 1}, /* 3 % faster, rounds scatter by 5 % */
        {{1.000, 1.001, 1.002}, {1.000, 1.040, 1.090}, 1}, /* the default's own rounds scatter by 9 % */
        {{1.000, 1.010, 1.340}, {1.200, 1.300, 1.310}, 1}, /* 34 %: no measurement of 30 % */
        {{1.000, 1.010, 1.340}, {2.000, 2.010, 2.020}, 0}, /* but of a factor of two */
        {{1.000, 1.300, 1.900}, {1.080, 1.400, 2.040}, 0}, /* the machine gets slower, but 7 to 8 % in every turn */
        {{1.000, 1.300, 1.900}, {1.080, 1.300, 1.950}, 1}, /* 8, 0 and 3 % */
    };

    (void)state;
    for (size_t k = 0; k < sizeof c / sizeof c[0]; k++) {
        const gv_finalist list[2] = {finalist(c[k].fast[0], c[k].fast[1], c[k].fast[2], 5),
                                     finalist(c[k].built_in[0], c[k].built_in[1], c[k].built_in[2], -1)};

        assert_int_equal(gv_finals_choose(list, 2, GV_NEAR_EQUAL), c[k].chosen);
    }
}

/* Where a question stands for other calls too the default stays for what gains little, however sure that is. */
static void test_finals_want_more_where_calls_differ(void **state)
{
    static const double gain[] = {1.03, 1.049, 1.06, 1.3};

    (void)state;
    for (size_t k = 0; k < sizeof gain / sizeof gain[0]; k++) {
        const gv_finalist list[2] = {finalist(1, 1, 1, 5), finalist(gain[k], gain[k], gain[k], -1)};

        assert_int_equal(gv_finals_choose(list, 2, 0.05), gain[k] < 1.05);
        assert_int_equal(gv_finals_choose(list, 2, GV_NEAR_EQUAL), 0);
    }
    /* 0.05 while a question was about one angle: host/tree/plan.h, doc/numbers.md "Trees at several angles" */
    assert_true(gv_subject_find("tree")->least_gain == 0.025);
}

/* Nine rounds of a short run on a machine that takes up to 1.9 times as long in some of them: 3 % faster in all but one
 * is faster, in all but two is not. */
static void test_finals_of_many_rounds(void **state)
{
    (void)state;
    for (int slower = 0; slower <= 3; slower++) {
        gv_finalist list[2] = {finalist(1, 1, 1, 5), finalist(1, 1, 1, -1)};

        for (int r = 0; r < GV_FINALS_ROUNDS; r++) {
            list[0].round[r] = 1 + 0.1 * ((5 * r) % GV_FINALS_ROUNDS) + 0.1 * (r < 2);
            list[1].round[r] = list[0].round[r] * (r < slower ? 0.95 : 1.03);
        }
        list[0].median = 1.4;
        list[1].median = 1.4 * 1.03;
        assert_int_equal(gv_finals_choose(list, 2, GV_NEAR_EQUAL), slower > 1);
    }
}

static void test_finals_prefer_the_simple_and_the_alive(void **state)
{
    gv_finalist list[3] = {finalist(1.000, 1.001, 1.002, 9), finalist(1.005, 1.006, 1.007, 4),
                           finalist(1.500, 1.500, 1.500, -1)};

    (void)state;
    assert_int_equal(gv_finals_choose(list, 3, GV_NEAR_EQUAL), 1);
    list[1].alive = 0;
    assert_int_equal(gv_finals_choose(list, 3, GV_NEAR_EQUAL), 0);
    list[0].alive = 0;
    assert_int_equal(gv_finals_choose(list, 3, GV_NEAR_EQUAL), 2);
    list[2].alive = 0;
    assert_int_equal(gv_finals_choose(list, 3, GV_NEAR_EQUAL), -1);
    /* without rounds the samples' spread counts, up to 20 % */
    memset(&list[0].round, 0, sizeof list[0].round);
    list[0].outcome.spread = 0.07;
    assert_true(fabs(gv_finals_scatter(&list[0]) - 0.07) < 1e-12);
    list[0].outcome.spread = 0.9;
    assert_true(fabs(gv_finals_scatter(&list[0]) - GV_FINALS_NOISE) < 1e-12);
}

/* ------------------------------------------------------------ timing rule */

typedef struct clockwork {
    const double *device;
    int n, at;
} clockwork;

static gravel_status tick(void *user, double *device_s, double *call_s)
{
    clockwork *c = user;

    *device_s = c->device[c->at % c->n];
    *call_s = 2 * *device_s;
    c->at++;
    return GRAVEL_OK;
}

static void test_timing_median_and_spread(void **state)
{
    static const double device[] = {9.0, 0.5, 0.1, 0.4, 0.2, 0.3};
    clockwork c = {device, 6, 0};
    gv_timing_rule rule = {1, 5, 5, 0, 100, 1e-9, 1e30, NULL, 0};
    gv_timing timing;

    (void)state;
    assert_int_equal(gv_timing_run(&rule, tick, &c, &timing), GRAVEL_OK);
    assert_int_equal(timing.samples, 5); /* the first run only warmed up */
    assert_true(timing.device.median == 0.3);
    assert_true(timing.device.least == 0.1);
    assert_true(fabs(timing.device.spread - 0.2 / 0.3) < 1e-12); /* quartiles 0.2 and 0.4 */
    assert_true(timing.call.median == 0.6);
}

static void test_timing_repeats_short_runs(void **state)
{
    static const double device[] = {1e-6};
    clockwork c = {device, 1, 0};
    gv_timing_rule rule = {1, 4, 4, 0, 100, 1e-6, 1e30, NULL, 0};
    gv_timing timing;

    (void)state;
    assert_int_equal(gv_timing_run(&rule, tick, &c, &timing), GRAVEL_OK);
    assert_int_equal(timing.runs_per_sample, 100); /* 100 ticks of the clock */
    assert_int_equal(c.at, 1 + 4 * 100);
    assert_true(fabs(timing.device.median - 1e-6) < 1e-15);
}

static gravel_status quiet_row(void *user, int runs, double *device_s)
{
    clockwork *c = user;

    assert_true(runs == 6 || runs == 15);
    *device_s = 0.4 * c->device[0]; /* without the events' own time */
    return GRAVEL_OK;
}

static void test_timing_rows_of_short_runs(void **state)
{
    static const double kernel[] = {50e-6}, shorter[] = {20e-6}, longer[] = {200e-6};
    clockwork c[] = {{kernel, 1, 0}, {shorter, 1, 0}, {longer, 1, 0}};
    gv_timing_rule rule = {1, 4, 4, 0, 100, 1e-6, 1e30, quiet_row, 0};

    (void)state;
    for (int k = 0; k < 3; k++) {
        const double expected = k < 2 ? 0.4 * c[k].device[0] : 200e-6;
        gv_timing timing;

        assert_int_equal(gv_timing_run(&rule, tick, &c[k], &timing), GRAVEL_OK);
        assert_true(fabs(timing.device.median - expected) < 1e-15);
        assert_true(fabs(timing.call.median - 2 * c[k].device[0]) < 1e-15);
        assert_int_equal(c[k].at, 1 + 4); /* whole calls: one a sample */
    }
}

static gravel_status first_tick(void *user, double *device_s, double *call_s)
{
    const clockwork *c = user;

    *device_s = *call_s = c->device[0];
    return GRAVEL_OK;
}

static gravel_status next_row(void *user, int runs, double *device_s)
{
    clockwork *c = user;

    assert_true(runs > 1);
    *device_s = c->device[1 + c->n++];
    return GRAVEL_OK;
}

typedef struct stop_case {
    double device[9];
    int samples;
} stop_case;

static void check_samples(const gv_timing_rule *rule, gv_timed_fn run, const stop_case *c, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        clockwork w = {c[k].device, rule->row == next_row ? 0 : 9, 0}; /* rows count with n */
        gv_timing timing;

        assert_int_equal(gv_timing_run(rule, run, &w, &timing), GRAVEL_OK);
        assert_int_equal(timing.samples, c[k].samples);
        assert_false(timing.stopped);
    }
}

/* The first is the run with events, then rows; at least three, until the two shortest agree within 0.3 %. */
static void test_timing_stops_when_rows_agree(void **state)
{
    static const stop_case c[] = {
        {{50e-6, 20e-6, 20.05e-6, 30e-6}, 3},
        {{50e-6, 20e-6, 20.1e-6, 20.2e-6, 20.3e-6, 20.05e-6, 1}, 5},
        {{50e-6, 30e-6, 30e-6, 20e-6, 25e-6, 20.05e-6, 1}, 5}, /* equals that are not the shortest */
        {{50e-6, 20e-6, 21e-6, 22e-6, 23e-6, 24e-6, 25e-6, 26e-6, 27e-6}, 8},
    };
    const gv_timing_rule rule = {1, 3, 8, 100, 100, 1e-6, 1e30, next_row, 0};

    (void)state;
    check_samples(&rule, first_tick, c, sizeof c / sizeof c[0]);
}

static gravel_status no_row(void *user, int runs, double *device_s)
{
    (void)user, (void)runs, (void)device_s;
    fail_msg("a long run needs no row");
    return GRAVEL_OK;
}

/* Two samples of a long run are enough if they agree; three at least of one that is shorter. */
static void test_timing_of_long_runs_is_short(void **state)
{
    static const stop_case c[] = {
        {{20e-3, 20.05e-3, 1}, 2},
        {{20e-3, 20.1e-3, 20.2e-3, 20.05e-3, 1}, 4},
        {{2e-3, 2e-3, 2e-3, 1}, 3},
    };
    gv_timing_rule rule = {0, 3, 8, 100, 100, 1e-6, 1e30, no_row, 2};
    clockwork slow = {c[0].device, 9, 0};
    gv_timing timing;

    (void)state;
    check_samples(&rule, tick, c, sizeof c / sizeof c[0]);
    /* that two agree on being too slow is no result */
    rule.stop_above = 10e-3;
    assert_int_equal(gv_timing_run(&rule, tick, &slow, &timing), GRAVEL_OK);
    assert_true(timing.stopped);
}

static void test_timing_gives_up_on_hopeless_ones(void **state)
{
    static const double slow[] = {1.0}, once[] = {0.1, 1.0, 0.1};
    clockwork c = {slow, 1, 0}, d = {once, 3, 0};
    gv_timing_rule rule = {0, 8, 8, 0, 100, 1e-9, 0.5, NULL, 0};
    gv_timing timing;

    (void)state;
    assert_int_equal(gv_timing_run(&rule, tick, &c, &timing), GRAVEL_OK);
    assert_true(timing.stopped);
    assert_int_equal(c.at, 2);
    assert_int_equal(gv_timing_run(&rule, tick, &d, &timing), GRAVEL_OK); /* one slow run is no proof */
    assert_false(timing.stopped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finals_keep_the_default_within_the_scatter),
        cmocka_unit_test(test_finals_want_more_where_calls_differ),
        cmocka_unit_test(test_finals_of_many_rounds),
        cmocka_unit_test(test_finals_prefer_the_simple_and_the_alive),
        cmocka_unit_test(test_timing_median_and_spread),
        cmocka_unit_test(test_timing_repeats_short_runs),
        cmocka_unit_test(test_timing_rows_of_short_runs),
        cmocka_unit_test(test_timing_stops_when_rows_agree),
        cmocka_unit_test(test_timing_of_long_runs_is_short),
        cmocka_unit_test(test_timing_gives_up_on_hopeless_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
