/* The search logic on fake timings: no device, no clock. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/direct/plan.h"
#include "host_test.h"
#include "tuner/run.h"
#include "tuner/timing.h"

/* Five tunables with an interaction, a hole where nothing launches, and a constraint: like a kernel, but known. */
typedef struct fake {
    int asked, stop_after, order[4096];
} fake;

static int valid(const void *user, const gv_domain *domain, const gv_point *point)
{
    (void)user;
    (void)domain;
    return point->at[0] + point->at[1] <= 7; /* "local memory" */
}

static double fake_time(const gv_point *p)
{
    double threads = p->at[0] - 3.2, tile = p->at[1] - 2.6, unroll = p->at[2] - 2.0, items = p->at[3] - 1.4;

    if (p->at[0] == 5 && p->at[2] == 4)
        return INFINITY;
    return 1e-3 * (1 + 0.05 * threads * threads + 0.03 * tile * tile + 0.04 * unroll * unroll + 0.02 * items * items +
                   0.03 * threads * tile + 0.02 * fabs(p->at[4] - 1.0));
}

static void make_domain(gv_domain *domain)
{
    memset(domain, 0, sizeof *domain);
    domain->n = 5;
    for (int d = 0; d < 5; d++) {
        domain->n_values[d] = d < 2 ? 6 : d < 4 ? 5 : 3;
        domain->builds[d] = d != 4;
        for (int v = 0; v < domain->n_values[d]; v++)
            domain->value[d][v] = 1 << v;
    }
    assert_int_equal(gv_domain_fill(domain, valid, NULL), GRAVEL_OK);
}

static int objective(void *user, gv_search *search, const gv_point *point, int n, double *score)
{
    fake *f = user;
    int k;

    for (k = 0; k < n; k++) {
        if (f->stop_after > 0 && f->asked == f->stop_after)
            break;
        if (f->asked < 4096)
            f->order[f->asked] = (int)gv_domain_find(search->domain, &point[k]);
        f->asked++;
        score[k] = fake_time(&point[k]);
    }
    return k;
}

/* Points that differ in the last tunable alone are one: the second costs nothing. */
static int objective_of_pairs(void *user, gv_search *search, const gv_point *point, int n, double *score)
{
    fake *f = user;

    for (int k = 0; k < n; k++) {
        int seen = 0;
        for (size_t i = 0; i < search->n_known && !seen; i++)
            seen = memcmp(search->domain->point[search->known[i]].at, point[k].at, 4) == 0;
        for (int i = 0; i < k && !seen; i++)
            seen = memcmp(point[i].at, point[k].at, 4) == 0;
        f->asked += !seen;
        search->n_free += seen;
        gv_point first = point[k];
        first.at[4] = 0;
        score[k] = fake_time(&first);
    }
    return n;
}

static double best_of_all(const gv_domain *domain)
{
    double best = INFINITY;

    for (size_t i = 0; i < domain->n_points; i++)
        best = fmin(best, fake_time(&domain->point[i]));
    return best;
}

static void test_domain_lists_valid_points(void **state)
{
    gv_domain domain;
    gv_point point = {{0}};
    size_t n = 0;

    (void)state;
    make_domain(&domain);
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++)
            n += a + b <= 7 ? 5 * 5 * 3 : 0;
    assert_int_equal(domain.n_points, n);
    for (size_t i = 0; i < domain.n_points; i++)
        assert_int_equal(gv_domain_find(&domain, &domain.point[i]), (long)i);
    point.at[0] = 5;
    point.at[1] = 5;
    assert_int_equal(gv_domain_find(&domain, &point), -1);
    point.at[0] = 200; /* beyond the table */
    assert_int_equal(gv_domain_find(&domain, &point), -1);
    gv_domain_free(&domain);
}

static void test_same_seed_same_decisions(void **state)
{
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

static void test_budget_and_no_repeats(void **state)
{
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

/* The budget is of measurements: with launches that are equal a question is asked as many as without. */
static void test_equal_launches_cost_no_budget(void **state)
{
    gv_domain domain;

    (void)state;
    make_domain(&domain);
    for (const gv_strategy *s = gv_strategies; s->name != NULL; s++) {
        for (int budget = 8; budget < 300; budget += 97) {
            fake f = {0};
            gv_search search;

            assert_int_equal(gv_search_init(&search, &domain, objective_of_pairs, &f, 3, (size_t)budget), GRAVEL_OK);
            s->run(&search);
            assert_int_equal(f.asked, budget);
            gv_search_free(&search);
        }
    }
    gv_domain_free(&domain);
}

/* Without a budget every strategy ends, having measured all points and so the best. */
static void test_unlimited_search_finds_the_best(void **state)
{
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

/* Seeds next to one another, and far apart, give sequences that share nothing: of 64 x 256 numbers of 64 bits no two
 * are equal (by chance one time in 10^11). */
static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void test_seeds_are_independent(void **state)
{
    enum { SEEDS = 64, DRAWS = 256 };
    uint64_t *drawn = malloc(sizeof *drawn * SEEDS * DRAWS);
    gv_domain domain;
    size_t n = 0;

    (void)state;
    assert_non_null(drawn);
    make_domain(&domain);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        gv_search search;

        assert_int_equal(gv_search_init(&search, &domain, objective, NULL,
                                        seed < SEEDS / 2 ? seed : seed * 0x9e3779b97f4a7c15ull, 10),
                         GRAVEL_OK);
        for (int k = 0; k < DRAWS; k++)
            drawn[n++] = gv_search_random(&search);
        gv_search_free(&search);
    }
    qsort(drawn, n, sizeof *drawn, by_value);
    for (size_t k = 1; k < n; k++)
        assert_true(drawn[k] != drawn[k - 1]);
    gv_domain_free(&domain);
    free(drawn);
}

/* Seven tunables of four values: 16384 points, more than the forest's pool holds. */
static int large_objective(void *user, gv_search *search, const gv_point *point, int n, double *score)
{
    (void)search;
    *(int *)user += n;
    for (int k = 0; k < n; k++) {
        score[k] = 1;
        for (int d = 0; d < 7; d++) {
            const double off = point[k].at[d] - 0.5 * d;

            /* pairs of tunables act together, so that single steps get stuck */
            score[k] += 0.05 * off * off + (d > 0 && (point[k].at[d] ^ point[k].at[d - 1]) & 1 ? 0.1 : 0);
        }
    }
    return n;
}

static int always(const void *user, const gv_domain *domain, const gv_point *point)
{
    (void)user;
    (void)domain;
    (void)point;
    return 1;
}

static void test_forest_in_a_large_space(void **state)
{
    gv_domain domain;
    double best = INFINITY, score;
    int reached = 0, asked = 0;

    (void)state;
    memset(&domain, 0, sizeof domain);
    domain.n = 7;
    for (int d = 0; d < 7; d++)
        domain.n_values[d] = 4;
    assert_int_equal(gv_domain_fill(&domain, always, NULL), GRAVEL_OK);
    for (size_t i = 0; i < domain.n_points; i++) {
        large_objective(&asked, NULL, &domain.point[i], 1, &score);
        best = fmin(best, score);
    }
    /* 1 % of the points; a random search comes within 2 % of this landscape's best with 5 % of them in half of the
     * cases (8 of 16384 points are as good) */
    for (uint64_t seed = 1; seed <= 20; seed++) {
        gv_search search;

        asked = 0;
        assert_int_equal(gv_search_init(&search, &domain, large_objective, &asked, seed, 160), GRAVEL_OK);
        gv_strategy_forest(&search);
        assert_int_equal(asked, 160);
        reached += best / search.score[search.best] >= 0.98;
        gv_search_free(&search);
    }
    assert_true(reached >= 15);
    gv_domain_free(&domain);
}

/* Hints are steps from where the search is: unknown, valid, and most single steps that are measured were hinted. */
typedef struct hinted {
    int n, n_hinted;
} hinted;

static int hinted_objective(void *user, gv_search *search, const gv_point *point, int n, double *score)
{
    hinted *h = user;

    for (int k = 0; k < n; k++) {
        h->n++;
        for (int i = 0; i < search->n_hints; i++) {
            assert_true(gv_domain_find(search->domain, &search->hint[i]) >= 0);
            h->n_hinted +=
                gv_domain_code(search->domain, &search->hint[i]) == gv_domain_code(search->domain, &point[k]);
        }
        score[k] = fake_time(&point[k]);
    }
    return n;
}

static void test_forest_hints_its_steps(void **state)
{
    hinted h = {0, 0};
    gv_domain domain;
    gv_search search;

    (void)state;
    make_domain(&domain);
    assert_int_equal(gv_search_init(&search, &domain, hinted_objective, &h, 3, 40), GRAVEL_OK);
    gv_strategy_forest(&search);
    assert_int_equal(h.n, 40);
    /* not hinted: starts of local searches, and second steps in one direction */
    assert_true(h.n_hinted >= 20);
    gv_search_free(&search);
    gv_domain_free(&domain);
}

/* The best of a tunable without order lies behind worse values: found once the steps are stuck, not before all else. */
static int kinds_objective(void *user, gv_search *search, const gv_point *point, int n, double *score)
{
    static const double of[] = {1, 3, 3, 3, 2};

    (void)user;
    (void)search;
    for (int k = 0; k < n; k++)
        score[k] = of[point[k].at[0]] + 0.1 * point[k].at[1];
    return n;
}

static void test_forest_tries_all_kinds(void **state)
{
    const gv_point start = {{4, 2}};
    gv_domain domain;

    (void)state;
    memset(&domain, 0, sizeof domain);
    domain.n = 2;
    domain.n_values[0] = 5;
    domain.n_values[1] = 8;
    domain.unordered[0] = 1;
    assert_int_equal(gv_domain_fill(&domain, always, NULL), GRAVEL_OK);
    for (int seed = 1; seed <= 20; seed++) {
        gv_search search;

        /* start, three steps around it, all at once, down to the end, three more kinds */
        assert_int_equal(gv_search_init(&search, &domain, kinds_objective, NULL, (uint64_t)seed, 12), GRAVEL_OK);
        gv_search_add_start(&search, &start);
        gv_strategy_forest(&search);
        assert_true(search.score[search.best] == 1);
        gv_search_free(&search);
    }
    gv_domain_free(&domain);
}

/* On a known landscape: 98 % of the best with 30 evaluations (1.2 % of the points) in nine of ten seeds. */
static void test_default_strategy_reaches_98_percent(void **state)
{
    gv_domain domain;
    double best;
    int reached = 0;

    (void)state;
    make_domain(&domain);
    best = best_of_all(&domain);
    for (int seed = 1; seed <= 50; seed++) {
        fake f = {0, 0, {0}};
        gv_search search;

        assert_int_equal(gv_search_init(&search, &domain, objective, &f, (uint64_t)seed, 30), GRAVEL_OK);
        gv_strategies[0].run(&search);
        reached += best / search.score[search.best] >= 0.98;
        gv_search_free(&search);
    }
    assert_true(reached >= 45);
    gv_domain_free(&domain);
}

/* Learning pays: with 10 % of the evaluations the learning strategies are not worse than chance (median of 25

 * seeds). */
static int ascending(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double median_quality(const gv_domain *domain, const gv_strategy *s)
{
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

static void test_learning_beats_chance(void **state)
{
    static const char *const learning[] = {"forest", "descent", "evolution", "annealing"};
    gv_domain domain;
    double chance;

    (void)state;
    make_domain(&domain);
    chance = median_quality(&domain, gv_strategy_find("random"));
    for (int k = 0; k < 4; k++)
        assert_true(median_quality(&domain, gv_strategy_find(learning[k])) <= chance);
    gv_domain_free(&domain);
}

static void test_stop_is_obeyed(void **state)
{
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

static void test_starts_come_first(void **state)
{
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

static int never(const void *user, const gv_domain *domain, const gv_point *point)
{
    (void)user;
    (void)domain;
    (void)point;
    return 0;
}

static int only_one(const void *user, const gv_domain *domain, const gv_point *point)
{
    (void)user;
    return gv_domain_code(domain, point) == 17;
}

static void test_tiny_spaces(void **state)
{
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
            if (!search.over)
                s->run(&search);
            assert_int_equal(f.asked, k);
            gv_search_free(&search);
        }
        gv_domain_free(&domain);
    }
}

/* All points fail: the search ends, and its scores are infinite. */
static int all_fail(void *user, gv_search *search, const gv_point *point, int n, double *score)
{
    (void)search;
    (void)point;
    *(int *)user += n;
    for (int k = 0; k < n; k++)
        score[k] = INFINITY;
    return n;
}

static void test_everything_fails(void **state)
{
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

typedef struct target {
    gv_limits limits;
    gv_variant variant;
    int unlikely;
} target;

static int is_valid(const void *user, const gv_domain *domain, const gv_point *point)
{
    const target *t = user;
    gv_config config;

    gv_domain_config(domain, point, &config);
    return (t->unlikely ? gv_space_can_run : gv_space_check)(&gv_direct_space, &config, &t->variant, &t->limits) ==
           NULL;
}

/* Values that no point can have are left out before points are listed: no point is lost by it. */
static void test_no_point_is_lost(void **state)
{
    static const struct {
        const char *variant;
        unsigned features;
        int is_cpu, unlikely;
    } c[] = {{"dp4", 0, 0, 0},
             {"sp2", GV_DIRECT_NEAREST, 0, 1},
             {"sp2", 0, 1, 0},
             {"dp6", GV_DIRECT_NEAREST | GV_DIRECT_LISTS, 1, 0}};

    (void)state;
    /* a quick run, as those under the sanitizers, which make it eight times as long, has every other one */
    for (size_t k = 0; k < sizeof c / sizeof c[0]; k += getenv("GRAVEL_TEST_QUICK") != NULL ? 2 : 1) {
        const int is_cpu = c[k].is_cpu;
        target t = {.limits = {.info = {.type = is_cpu ? GRAVEL_DEVICE_CPU : GRAVEL_DEVICE_GPU,
                                        .max_group = is_cpu ? 4096 : 1024,
                                        .has_fp64 = 1,
                                        .simd_width_float = is_cpu ? 8 : 1,
                                        .simd_width_double = is_cpu ? 4 : 1,
                                        .compute_units = 100,
                                        .local_memory = 48 << 10},
                               .fast_fma = 1},
                    .unlikely = c[k].unlikely};
        gv_domain fast, slow;

        assert_true(gv_variant_parse(c[k].variant, &t.variant));
        t.variant.features = c[k].features;
        assert_ok(gv_domain_of_space(&fast, &gv_direct_space, &t.variant, &t.limits, NULL, t.unlikely));
        slow = fast;
        for (int d = 0; d < slow.n; d++) {
            slow.n_values[d] = gv_direct_space.tunable[d].n_values;
            memcpy(slow.value[d], gv_direct_space.tunable[d].values, sizeof gv_direct_space.tunable[d].values);
        }
        assert_ok(gv_domain_fill(&slow, is_valid, &t));
        assert_true(slow.n_codes > fast.n_codes && fast.n_points > 100);
        assert_int_equal(slow.n_points, fast.n_points);
        for (size_t p = 0; p < fast.n_points; p++) {
            gv_config of[2];

            gv_domain_config(&fast, &fast.point[p], &of[0]);
            gv_domain_config(&slow, &slow.point[p], &of[1]);
            assert_memory_equal(&of[0], &of[1], sizeof of[0]);
        }
        gv_domain_free(&fast);
        gv_domain_free(&slow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_domain_lists_valid_points),
        cmocka_unit_test(test_same_seed_same_decisions),
        cmocka_unit_test(test_budget_and_no_repeats),
        cmocka_unit_test(test_unlimited_search_finds_the_best),
        cmocka_unit_test(test_seeds_are_independent),
        cmocka_unit_test(test_forest_in_a_large_space),
        cmocka_unit_test(test_forest_hints_its_steps),
        cmocka_unit_test(test_forest_tries_all_kinds),
        cmocka_unit_test(test_default_strategy_reaches_98_percent),
        cmocka_unit_test(test_learning_beats_chance),
        cmocka_unit_test(test_stop_is_obeyed),
        cmocka_unit_test(test_no_point_is_lost),
        cmocka_unit_test(test_starts_come_first),
        cmocka_unit_test(test_tiny_spaces),
        cmocka_unit_test(test_everything_fails),
        cmocka_unit_test(test_equal_launches_cost_no_budget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
