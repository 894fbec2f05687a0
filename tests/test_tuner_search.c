/* The search logic on fake timings: no device, no clock. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tuner/search.h"
#include "tuner/timing.h"

/* Five tunables with an interaction, a hole where nothing launches, and a constraint: like a kernel, but known. */
typedef struct fake {
    int asked, stop_after, order[4096];
} fake;

static int valid(const void *user, const gv_domain *domain, const gv_point *point) {
    (void)user;
    (void)domain;
    return point->at[0] + point->at[1] <= 7; /* "local memory" */
}

static double fake_time(const gv_point *p) {
    double threads = p->at[0] - 3.2, tile = p->at[1] - 2.6, unroll = p->at[2] - 2.0, items = p->at[3] - 1.4;

    if (p->at[0] == 5 && p->at[2] == 4) {
        return INFINITY;
    }
    return 1e-3 * (1 + 0.05 * threads * threads + 0.03 * tile * tile + 0.04 * unroll * unroll + 0.02 * items * items +
                   0.03 * threads * tile + 0.02 * fabs(p->at[4] - 1.0));
}

static void make_domain(gv_domain *domain) {
    memset(domain, 0, sizeof *domain);
    domain->n = 5;
    for (int d = 0; d < 5; d++) {
        domain->n_values[d] = d < 2 ? 6 : d < 4 ? 5 : 3;
        domain->builds[d] = d != 4;
        for (int v = 0; v < domain->n_values[d]; v++) {
            domain->value[d][v] = 1 << v;
        }
    }
    assert_int_equal(gv_domain_fill(domain, valid, NULL), GRAVEL_OK);
}

static int objective(void *user, const gv_search *search, const gv_point *point, int n, double *score) {
    fake *f = user;
    int k;

    for (k = 0; k < n; k++) {
        if (f->stop_after > 0 && f->asked == f->stop_after) {
            break;
        }
        if (f->asked < 4096) {
            f->order[f->asked] = (int)gv_domain_find(search->domain, &point[k]);
        }
        f->asked++;
        score[k] = fake_time(&point[k]);
    }
    return k;
}

static double best_of_all(const gv_domain *domain) {
    double best = INFINITY;

    for (size_t i = 0; i < domain->n_points; i++) {
        best = fmin(best, fake_time(&domain->point[i]));
    }
    return best;
}

static void test_domain_lists_valid_points(void **state) {
    gv_domain domain;
    gv_point point = {{0}};
    size_t n = 0;

    (void)state;
    make_domain(&domain);
    for (int a = 0; a < 6; a++) {
        for (int b = 0; b < 6; b++) {
            n += a + b <= 7 ? 5 * 5 * 3 : 0;
        }
    }
    assert_int_equal(domain.n_points, n);
    for (size_t i = 0; i < domain.n_points; i++) {
        assert_int_equal(gv_domain_find(&domain, &domain.point[i]), (long)i);
    }
    point.at[0] = 5;
    point.at[1] = 5;
    assert_int_equal(gv_domain_find(&domain, &point), -1);
    point.at[0] = 200; /* beyond the table */
    assert_int_equal(gv_domain_find(&domain, &point), -1);
    gv_domain_free(&domain);
}

static void test_same_seed_same_decisions(void **state) {
    gv_domain domain;

    (void)state;
    make_domain(&domain);
    for (const gv_strategy *s = gv_strategies; s->name != NULL; s++) {
        fake *first = calloc(1, sizeof *first), *second = calloc(1, sizeof *second);
        gv_search search;

        for (int run = 0; run < 2; run++) {
            assert_int_equal(gv_search_init(&search, &domain, objective, run == 0 ? first : second, 7, 150), GRAVEL_OK);
            s->run(&search);
            gv_search_free(&search);
        }
        assert_int_equal(first->asked, second->asked);
        assert_memory_equal(first->order, second->order, sizeof first->order);
        free(first);
        free(second);
    }
    gv_domain_free(&domain);
}

static void test_budget_and_no_repeats(void **state) {
    gv_domain domain;

    (void)state;
    make_domain(&domain);
    for (const gv_strategy *s = gv_strategies; s->name != NULL; s++) {
        for (int budget = 1; budget < 200; budget += 37) {
            fake *f = calloc(1, sizeof *f);
            char *seen = calloc(domain.n_points, 1);
            gv_search search;

            assert_int_equal(gv_search_init(&search, &domain, objective, f, 3, (size_t)budget), GRAVEL_OK);
            s->run(&search);
            assert_int_equal(f->asked, budget);
            assert_int_equal(search.n_known, (size_t)budget);
            for (int k = 0; k < f->asked; k++) {
                assert_false(seen[f->order[k]]);
                seen[f->order[k]] = 1;
            }
            gv_search_free(&search);
            free(seen);
            free(f);
        }
    }
    gv_domain_free(&domain);
}

/* Without a budget every strategy ends, having seen everything and so the best. */
static void test_unlimited_search_finds_the_best(void **state) {
    gv_domain domain;
    double best;

    (void)state;
    make_domain(&domain);
    best = best_of_all(&domain);
    for (const gv_strategy *s = gv_strategies; s->name != NULL; s++) {
        fake *f = calloc(1, sizeof *f);
        gv_search search;

        assert_int_equal(gv_search_init(&search, &domain, objective, f, 11, 0), GRAVEL_OK);
        s->run(&search);
        assert_int_equal(search.n_known, domain.n_points);
        assert_true(search.score[search.best] == best);
        gv_search_free(&search);
        free(f);
    }
    gv_domain_free(&domain);
}

/* The house's demand on a known landscape: 98 % of the best with 15 % of the evaluations in the median of 50 seeds. */
static void test_default_strategy_reaches_98_percent(void **state) {
    gv_domain domain;
    double best;
    int reached = 0;

    (void)state;
    make_domain(&domain);
    best = best_of_all(&domain);
    for (int seed = 1; seed <= 50; seed++) {
        fake f = {0, 0, {0}};
        gv_search search;

        assert_int_equal(gv_search_init(&search, &domain, objective, &f, (uint64_t)seed, domain.n_points * 15 / 100),
                         GRAVEL_OK);
        gv_strategies[0].run(&search);
        reached += best / search.score[search.best] >= 0.98;
        gv_search_free(&search);
    }
    assert_true(reached >= 25);
    gv_domain_free(&domain);
}

/* Learning pays: with 10 % of the evaluations the learning strategies are not worse than chance (median of 25

 * seeds). */
static int ascending(const void *a, const void *b) {
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double median_quality(const gv_domain *domain, const gv_strategy *s) {
    double quality[25];

    for (int seed = 0; seed < 25; seed++) {
        fake f = {0, 0, {0}};
        gv_search search;

        assert_int_equal(gv_search_init(&search, domain, objective, &f, (uint64_t)seed, domain->n_points / 10),
                         GRAVEL_OK);
        s->run(&search);
        quality[seed] = search.score[search.best];
        gv_search_free(&search);
    }
    qsort(quality, 25, sizeof quality[0], ascending);
    return quality[12];
}

static void test_learning_beats_chance(void **state) {
    static const char *const learning[] = {"forest", "descent", "evolution", "annealing"};
    gv_domain domain;
    double chance;

    (void)state;
    make_domain(&domain);
    chance = median_quality(&domain, gv_strategy_find("random"));
    for (int k = 0; k < 4; k++) {
        assert_true(median_quality(&domain, gv_strategy_find(learning[k])) <= chance);
    }
    gv_domain_free(&domain);
}

static void test_stop_is_obeyed(void **state) {
    gv_domain domain;

    (void)state;
    make_domain(&domain);
    for (const gv_strategy *s = gv_strategies; s->name != NULL; s++) {
        fake f = {0, 20, {0}};
        gv_search search;

        assert_int_equal(gv_search_init(&search, &domain, objective, &f, 5, 0), GRAVEL_OK);
        s->run(&search);
        assert_int_equal(f.asked, 20);
        assert_int_equal(search.n_known, 20);
        assert_true(search.over);
        gv_search_free(&search);
    }
    gv_domain_free(&domain);
}

static void test_starts_come_first(void **state) {
    gv_domain domain;
    fake f = {0, 0, {0}};
    gv_search search;
    gv_point bad = {{5, 5, 0, 0, 0}};

    (void)state;
    make_domain(&domain);
    assert_int_equal(gv_search_init(&search, &domain, objective, &f, 5, 30), GRAVEL_OK);
    gv_search_add_start(&search, &domain.point[100]);
    gv_search_add_start(&search, &bad);
    gv_search_add_start(&search, &domain.point[100]);
    gv_search_add_start(&search, &domain.point[7]);
    assert_int_equal(search.n_starts, 2);
    gv_strategies[0].run(&search);
    assert_int_equal(f.order[0], 100);
    assert_int_equal(f.order[1], 7);
    gv_search_free(&search);
    gv_domain_free(&domain);
}

static int never(const void *user, const gv_domain *domain, const gv_point *point) {
    (void)user;
    (void)domain;
    (void)point;
    return 0;
}

static int only_one(const void *user, const gv_domain *domain, const gv_point *point) {
    (void)user;
    return gv_domain_code(domain, point) == 17;
}

static void test_tiny_spaces(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        gv_domain domain;

        make_domain(&domain);
        gv_domain_free(&domain);
        assert_int_equal(gv_domain_fill(&domain, k == 0 ? never : only_one, NULL), GRAVEL_OK);
        for (const gv_strategy *s = gv_strategies; s->name != NULL; s++) {
            fake f = {0, 0, {0}};
            gv_search search;

            assert_int_equal(gv_search_init(&search, &domain, objective, &f, 1, 0), GRAVEL_OK);
            if (!search.over) {
                s->run(&search);
            }
            assert_int_equal(f.asked, k);
            gv_search_free(&search);
        }
        gv_domain_free(&domain);
    }
}

/* All points fail: the search ends and says so by its scores. */
static int all_fail(void *user, const gv_search *search, const gv_point *point, int n, double *score) {
    (void)search;
    (void)point;
    *(int *)user += n;
    for (int k = 0; k < n; k++) {
        score[k] = INFINITY;
    }
    return n;
}

static void test_everything_fails(void **state) {
    gv_domain domain;

    (void)state;
    make_domain(&domain);
    for (const gv_strategy *s = gv_strategies; s->name != NULL; s++) {
        int asked = 0;
        gv_search search;

        assert_int_equal(gv_search_init(&search, &domain, all_fail, &asked, 1, 120), GRAVEL_OK);
        s->run(&search);
        assert_int_equal(asked, 120);
        assert_false(isfinite(search.score[search.best]));
        gv_search_free(&search);
    }
    gv_domain_free(&domain);
}

/* ------------------------------------------------------------ timing rule */

typedef struct clockwork {
    const double *device;
    int n, at;
} clockwork;

static gravel_status tick(void *user, double *device_s, double *call_s) {
    clockwork *c = user;

    *device_s = c->device[c->at % c->n];
    *call_s = 2 * *device_s;
    c->at++;
    return GRAVEL_OK;
}

static void test_timing_median_and_spread(void **state) {
    static const double device[] = {9.0, 0.5, 0.1, 0.4, 0.2, 0.3};
    clockwork c = {device, 6, 0};
    gv_timing_rule rule = {1, 5, 5, 0, 100, 1e-9, 1e30, NULL};
    gv_timing timing;

    (void)state;
    assert_int_equal(gv_timing_run(&rule, tick, &c, &timing), GRAVEL_OK);
    assert_int_equal(timing.samples, 5); /* the first run only warmed up */
    assert_true(timing.device.median == 0.3);
    assert_true(timing.device.least == 0.1);
    assert_true(fabs(timing.device.spread - 0.2 / 0.3) < 1e-12); /* quartiles 0.2 and 0.4 */
    assert_true(timing.call.median == 0.6);
}

static void test_timing_repeats_short_runs(void **state) {
    static const double device[] = {1e-6};
    clockwork c = {device, 1, 0};
    gv_timing_rule rule = {1, 4, 4, 0, 100, 1e-6, 1e30, NULL};
    gv_timing timing;

    (void)state;
    assert_int_equal(gv_timing_run(&rule, tick, &c, &timing), GRAVEL_OK);
    assert_int_equal(timing.runs_per_sample, 100); /* 100 ticks of the clock */
    assert_int_equal(c.at, 1 + 4 * 100);
    assert_true(fabs(timing.device.median - 1e-6) < 1e-15);
}

static gravel_status quiet_row(void *user, int runs, double *device_s) {
    clockwork *c = user;

    assert_true(runs == 6 || runs == 15);
    *device_s = 0.4 * c->device[0]; /* without the events' own time */
    return GRAVEL_OK;
}

static void test_timing_rows_of_short_runs(void **state) {
    static const double kernel[] = {50e-6}, shorter[] = {20e-6}, longer[] = {200e-6};
    clockwork c[] = {{kernel, 1, 0}, {shorter, 1, 0}, {longer, 1, 0}};
    gv_timing_rule rule = {1, 4, 4, 0, 100, 1e-6, 1e30, quiet_row};

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

static void test_timing_gives_up_on_hopeless_ones(void **state) {
    static const double slow[] = {1.0}, once[] = {0.1, 1.0, 0.1};
    clockwork c = {slow, 1, 0}, d = {once, 3, 0};
    gv_timing_rule rule = {0, 8, 8, 0, 100, 1e-9, 0.5, NULL};
    gv_timing timing;

    (void)state;
    assert_int_equal(gv_timing_run(&rule, tick, &c, &timing), GRAVEL_OK);
    assert_true(timing.stopped);
    assert_int_equal(c.at, 2);
    assert_int_equal(gv_timing_run(&rule, tick, &d, &timing), GRAVEL_OK); /* one slow run is no proof */
    assert_false(timing.stopped);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_domain_lists_valid_points),
        cmocka_unit_test(test_same_seed_same_decisions),
        cmocka_unit_test(test_budget_and_no_repeats),
        cmocka_unit_test(test_unlimited_search_finds_the_best),
        cmocka_unit_test(test_default_strategy_reaches_98_percent),
        cmocka_unit_test(test_learning_beats_chance),
        cmocka_unit_test(test_stop_is_obeyed),
        cmocka_unit_test(test_starts_come_first),
        cmocka_unit_test(test_tiny_spaces),
        cmocka_unit_test(test_everything_fails),
        cmocka_unit_test(test_timing_median_and_spread),
        cmocka_unit_test(test_timing_repeats_short_runs),
        cmocka_unit_test(test_timing_rows_of_short_runs),
        cmocka_unit_test(test_timing_gives_up_on_hopeless_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
