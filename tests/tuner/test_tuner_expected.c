/* The reference's results that the tuner keeps: each set is what the reference says, and is computed once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu_ref/ref.h"
#include "tuner/expected.h"

enum { N = GV_EXPECTED_KNOWN + 200 };
#define EPS 0.01

typedef struct fixture {
    gv_pool pool;
    gv_expected expected;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    *state = f;
    return f && gv_pool_fill(&f->pool, N) ? 0 : -1;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    gv_pool_free(&f->pool);
    gv_expected_free(&f->expected);
    free(f);
    return 0;
}

/* Those of n sinks from `from` on, in steps. */
static void get(fixture *f, int order, size_t sources, size_t from, size_t step, int n, gv_expected_sink *got)
{
    size_t sink[GV_EXPECTED_MOST] = {0};

    for (int k = 0; k < n; k++)
        sink[k] = from + step * (size_t)k;
    assert_int_equal(gv_expected_get(&f->expected, &f->pool, order, sources, EPS, sink, n, got), GRAVEL_OK);
    for (int k = 0; k < n; k++)
        assert_int_equal(got[k].sink, sink[k]);
}

/* Each plane of one sink as the reference has it now, bit by bit. */
static void assert_is_reference(const fixture *f, int order, size_t sources, const gv_expected_sink *is)
{
    const gv_pool *p = &f->pool;
    const size_t i = is->sink;
    const gv_ref_particles sink = {1,           NULL,        p->id + i,   p->x[0] + i, p->x[1] + i, p->x[2] + i,
                                   p->v[0] + i, p->v[1] + i, p->v[2] + i, p->a[0] + i, p->a[1] + i, p->a[2] + i};
    const gv_ref_particles all = {sources, p->mass, p->id,   p->x[0], p->x[1], p->x[2],
                                  p->v[0], p->v[1], p->v[2], p->a[0], p->a[1], p->a[2]};
    double v[GV_POOL_PLANES] = {0}, scale = 0, distance = 0;
    uint32_t count = 0;
    const gv_ref_forces out = {.ax = &v[0],
                               .ay = &v[1],
                               .az = &v[2],
                               .pot = &v[3],
                               .jx = &v[4],
                               .jy = &v[5],
                               .jz = &v[6],
                               .sx = &v[7],
                               .sy = &v[8],
                               .sz = &v[9],
                               .acc_scale = &scale,
                               .nearest_distance = &distance,
                               .neighbour_count = &count};

    assert_int_equal(gv_ref_direct(GV_REF_DOUBLE, order, &sink, &all, EPS, &p->radius[i], 0, &out), 0);
    assert_memory_equal(is->plane, v, sizeof v);
    assert_memory_equal(&is->acc_scale, &scale, sizeof scale);
    assert_memory_equal(&is->distance, &distance, sizeof distance);
    assert_int_equal(is->count, count);
}

static void test_expected_is_what_the_reference_says(void **state)
{
    static const int order[] = {2, 4, 6, 2, 6};
    static const size_t sources[] = {300, 300, 300, 900, 17};
    gv_expected_sink got[GV_EXPECTED_MOST];
    fixture *f = *state;

    for (int turn = 0; turn < 2; turn++) {
        for (size_t k = 0; k < sizeof order / sizeof order[0]; k++) {
            get(f, order[k], sources[k], 5, 7, 20, got);
            for (int s = 0; s < 20; s++)
                assert_is_reference(f, order[k], sources[k], &got[s]);
        }
    }
}

/* A mass that changes shows what is computed anew: nothing, until as many other sets were asked for as there is room
 * for. */
static void test_expected_is_computed_once(void **state)
{
    gv_expected_sink first, again, other;
    fixture *f = *state;

    get(f, 4, 100, 50, 1, 1, &first);
    f->pool.mass[3] *= 2;
    for (size_t n = 0; n < GV_EXPECTED_SETS - 1; n++) {
        get(f, 4, 101 + n, 50, 1, 1, &other);
        get(f, 4, 100, 50, 1, 1, &again);
        assert_memory_equal(&again, &first, sizeof first);
    }
    for (size_t n = 0; n < GV_EXPECTED_SETS; n++)
        get(f, 4, 201 + n, 50, 1, 1, &other);
    get(f, 4, 100, 50, 1, 1, &again);
    assert_memory_not_equal(&again, &first, sizeof first);
    assert_is_reference(f, 4, 100, &again);
}

static void test_expected_of_more_sinks_than_a_set_has_room_for(void **state)
{
    gv_expected_sink got[GV_EXPECTED_MOST];
    fixture *f = *state;

    for (size_t from = 0; from + GV_EXPECTED_MOST <= N; from += GV_EXPECTED_MOST) {
        get(f, 2, 8, from, 1, GV_EXPECTED_MOST, got);
        assert_is_reference(f, 2, 8, &got[from / GV_EXPECTED_MOST % GV_EXPECTED_MOST]);
        assert_true(f->expected.set[0].n <= GV_EXPECTED_KNOWN);
    }
    /* one sink twice in a call */
    get(f, 2, 8, 11, 0, 3, got);
    assert_is_reference(f, 2, 8, &got[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_expected_is_what_the_reference_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_expected_is_computed_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_expected_of_more_sinks_than_a_set_has_room_for, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
