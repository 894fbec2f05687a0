/* Nearest neighbours and neighbour lists of gravel_direct, on whole numbers, where every distance is exact in every
 * precision: the reference's answer must be met to the last bit. */
#include "problem.h"

enum { N = 600, SINKS = 75, CAPACITY = 12 };

/* rows, parts and lanes: ties and lists are joined across all of them */
static const char *const shape[] = {
    NULL,
    GPU_SHAPE,
    "threads=16 split=8 tile=0 lanes=4 sinks_per_item=1 unroll=4 rsqrt=3 blocks_per_cu=32",
    "threads=1 split=1 tile=0 lanes=1 sinks_per_item=3 unroll=16 rsqrt=0 blocks_per_cu=4",
};
enum { SHAPES = sizeof shape / sizeof shape[0] };

/* Bodies on the whole numbers -3 ... 3: many at one place, many ties; every third is massless. */
static bodies grid(size_t n, uint64_t seed)
{
    bodies b = bodies_new(n, seed);
    for (size_t i = 0; i < n; i++) {
        b.m[i] = i % 3 == 0 ? 0 : 1;
        b.id[i] = 1000 - (int32_t)i;
        for (int c = 0; c < 3; c++)
            b.d[0][c][i] = nearbyint(3.4 * random_unit(&seed));
    }
    return b;
}

static void assert_same_neighbours(const results *got, const results *want, const bodies *b, size_t capacity,
                                   const char *what)
{
    size_t over = 0;
    for (size_t i = 0; i < got->n; i++) {
        const int none = want->nearest[i] == GRAVEL_NONE;
        if (got->nearest[i] != want->nearest[i] || got->nearest_id[i] != (none ? -1 : b->id[want->nearest[i]]) ||
            got->distance[i] != want->distance[i])
            fail_msg("%s: sink %zu: nearest %u (id %d) at %.17g, the reference %u at %.17g", what, i, got->nearest[i],
                     got->nearest_id[i], got->distance[i], want->nearest[i], want->distance[i]);
        if (got->count[i] != want->count[i])
            fail_msg("%s: sink %zu: %u neighbours, the reference %u", what, i, got->count[i], want->count[i]);
        over += want->count[i] > capacity;
        for (size_t k = 0; k < capacity && k < want->count[i]; k++) {
            const uint32_t at = got->list[i * capacity + k];
            if (at != want->list[i * capacity + k] || got->list_id[i * capacity + k] != b->id[at])
                fail_msg("%s: sink %zu: entry %zu of %u is %u, the reference %u", what, i, k, got->count[i], at,
                         want->list[i * capacity + k]);
        }
    }
    assert_int_equal(got->overflow, over);
}

static void compare(gravel_direct *d, const bodies *s, size_t sinks, const bodies *b, size_t sources,
                    const double *radius, size_t capacity, const char *what)
{
    const gv_ref_particles i = view_of(s, 0, sinks), j = view_of(b, 0, sources);
    const gravel_sinks in = sinks_of(s, 0, sinks, radius);
    assert_ok(gravel_direct_set_source_count(d, sources));
    results want = reference_run(2, &i, &j, 0.25, radius, capacity), got = direct_run(d, &in, 0.25, capacity);
    assert_same_neighbours(&got, &want, b, capacity, what);
    results_free(&got);
    results_free(&want);
}

/* Sinks among the sources (left out by id), every radius from none to all, in every precision and shape. */
static void on_a_grid(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = grid(N, 1);
    double radius[SINKS];
    for (size_t i = 0; i < SINKS; i++) /* exactly a distance of the grid, below it, everything, nothing */
        radius[i] = i % 6 == 0 ? 0 : i % 6 == 1 ? 1 : i % 6 == 2 ? 5 : i % 6 == 3 ? 0.99 : i % 6 == 4 ? INFINITY : -1;
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++)
        for (int k = 0; k < SHAPES; k++) {
            if (!has_precision(context, (gravel_precision)p) || (p != GRAVEL_DS && k >= 2))
                continue;
            char what[80];
            snprintf(what, sizeof what, "%s, shape %d", gravel_precision_name((gravel_precision)p), k);
            gravel_direct *d = direct_new(context, (direct_want){.order = 2,
                                                                 .precision = (gravel_precision)p,
                                                                 .nearest = 1,
                                                                 .capacity = CAPACITY,
                                                                 .configuration = shape[k]});
            direct_write(d, &b, 0, N);
            static const size_t sources[] = {1, 2, 31, 128, 129, 300, N};
            for (size_t j = 0; j < sizeof sources / sizeof sources[0]; j++) {
                /* a negative radius matches nothing; the reference refuses it */
                double expected[SINKS];
                for (size_t i = 0; i < SINKS; i++)
                    expected[i] = radius[i] < 0 ? 0 : radius[i];
                const gravel_sinks in = sinks_of(&b, 0, SINKS, radius);
                const gv_ref_particles s = view_of(&b, 0, SINKS), all = view_of(&b, 0, sources[j]);
                assert_ok(gravel_direct_set_source_count(d, sources[j]));
                results want = reference_run(2, &s, &all, 0.25, expected, CAPACITY);
                for (size_t i = 0; i < SINKS; i++)
                    want.count[i] = radius[i] < 0 ? 0 : want.count[i];
                results got = direct_run(d, &in, 0.25, CAPACITY);
                assert_same_neighbours(&got, &want, &b, CAPACITY, what);
                results_free(&got);
                results_free(&want);
            }
            gravel_direct_release(d);
        }
    bodies_free(&b);
}

/* One source far away is the nearest of all; with ids of its own the only sink has none. */
static void none_and_far(void **state)
{
    CONTEXT_OR_SKIP(context)
    for (int k = 0; k < 2; k++) {
        bodies b = grid(40, 2);
        double radius[40];
        gravel_direct *d = direct_new(
            context,
            (direct_want){.order = 2, .precision = GRAVEL_SP, .nearest = 1, .capacity = 3, .configuration = shape[k]});
        for (size_t i = 0; i < 40; i++) {
            b.id[i] = 5;
            radius[i] = INFINITY;
        }
        direct_write(d, &b, 0, 40);
        compare(d, &b, 40, &b, 40, radius, 3, "all have one id"); /* no sink has a neighbour */
        b.id[33] = 6;
        b.d[0][1][33] = 1000;
        direct_write(d, &b, 33, 1);
        compare(d, &b, 40, &b, 40, radius, 3, "one has another id");
        gravel_direct_release(d);
        bodies_free(&b);
    }
}

/* All sources at one distance: the lowest address wins wherever the parts are cut, also with many parts for one
 * sink. */
static void ties_everywhere(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { MANY = 3000 };
    bodies b = bodies_new(MANY, 3), s = bodies_new(3, 4);
    for (int k = 0; k < SHAPES; k++) {
        gravel_direct *d = direct_new(
            context, (direct_want){.order = 2, .precision = GRAVEL_SP, .nearest = 1, .configuration = shape[k]});
        for (size_t i = 0; i < MANY; i++)
            for (int c = 0; c < 3; c++)
                b.d[0][c][i] = c == (int)(i % 3) ? (i % 2 ? 4 : -4) : 0; /* on the six corners of an octahedron */
        for (size_t i = 0; i < 3; i++) {
            s.id[i] = (int32_t)(i == 0 ? -1 : i == 1 ? 0 : 7777);
            for (int c = 0; c < 3; c++)
                s.d[0][c][i] = 0;
        }
        direct_write(d, &b, 0, MANY);
        const gravel_sinks in = sinks_of(&s, 0, 3, NULL);
        results got = direct_run(d, &in, 0, 0);
        assert_int_equal(got.nearest[0], 0);
        assert_int_equal(got.nearest[1], 1); /* source 0 is itself */
        assert_int_equal(got.nearest[2], 0);
        assert_true(got.distance[0] == 4 && got.distance[1] == 4 && got.distance[2] == 4);
        results_free(&got);
        /* a nearer pair: in one part, in two rows of a group, in two groups; neither in the first */
        static const size_t apart[] = {1, 16, 47, 130, 411, 1500};
        for (size_t at = 17, n = 0; at + 1500 < MANY; at += 37, n++) {
            const size_t pair[2] = {at, at + apart[n % 6]};
            for (int e = 0; e < 2; e++) {
                b.d[0][pair[e] % 3][pair[e]] *= 0.5;
                direct_write(d, &b, pair[e], 1);
            }
            results near = direct_run(d, &in, 0, 0);
            for (size_t i = 0; i < 3; i++) {
                assert_int_equal(near.nearest[i], at);
                assert_true(near.distance[i] == 2);
            }
            results_free(&near);
            for (int e = 0; e < 2; e++) {
                b.d[0][pair[e] % 3][pair[e]] *= 2;
                direct_write(d, &b, pair[e], 1);
            }
        }
        gravel_direct_release(d);
    }
    bodies_free(&b);
    bodies_free(&s);
}

/* Lists longer than the capacity: the count is true, the first entries are right and nothing behind them is
 * touched. */
static void overflowing_lists(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const int capacity[] = {1, 7, N - 1, N};
    bodies b = grid(N, 5);
    double radius[SINKS];
    for (size_t i = 0; i < SINKS; i++)
        radius[i] = i % 2 ? INFINITY : 3;
    for (int k = 0; k < SHAPES; k++)
        for (int c = 0; c < 4; c++) {
            gravel_direct *d = direct_new(context, (direct_want){.order = 2,
                                                                 .precision = GRAVEL_SP,
                                                                 .nearest = 0,
                                                                 .capacity = capacity[c],
                                                                 .configuration = shape[k]});
            direct_write(d, &b, 0, N);
            const gv_ref_particles i = view_of(&b, 0, SINKS), j = view_of(&b, 0, N);
            const gravel_sinks in = sinks_of(&b, 0, SINKS, radius);
            results want = reference_run(2, &i, &j, 0, radius, (size_t)capacity[c]);
            results got = direct_run(d, &in, 0, (size_t)capacity[c]);
            for (size_t s = 0; s < SINKS; s++) {
                assert_int_equal(got.nearest[s], 0x77777777u); /* not requested: not written */
                assert_int_equal(got.count[s], want.count[s]);
                if (radius[s] > 1e9)
                    assert_int_equal(got.count[s], N - 1);
                for (size_t e = 0; e < (size_t)capacity[c]; e++) {
                    const uint32_t entry = got.list[s * (size_t)capacity[c] + e];
                    if (e < want.count[s])
                        assert_int_equal(entry, want.list[s * (size_t)capacity[c] + e]);
                    else
                        assert_int_equal(entry, 0x77777777u);
                }
            }
            size_t over = 0;
            for (size_t s = 0; s < SINKS; s++)
                over += want.count[s] > (size_t)capacity[c];
            assert_int_equal(got.overflow, over);
            results_free(&got);
            results_free(&want);
            gravel_direct_release(d);
        }
    bodies_free(&b);
}

/* No radius: empty lists.  Members that are NULL are not written, and a call for counts only works. */
static void lists_not_asked_for(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = grid(50, 6);
    double radius[50], acc[50][3];
    uint32_t count[50];
    size_t overflow = 99;
    for (size_t i = 0; i < 50; i++)
        radius[i] = 2;
    gravel_direct *d =
        direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_SP, .nearest = 1, .capacity = 4});
    direct_write(d, &b, 0, 50);
    gravel_sinks in = sinks_of(&b, 0, 50, NULL);
    results got = direct_run(d, &in, 0.1, 4);
    for (size_t i = 0; i < 50; i++)
        assert_int_equal(got.count[i], 0);
    assert_int_equal(got.overflow, 0);
    assert_int_equal(got.list[0], 0x77777777u);
    in.radius = radius;
    gravel_forces only = {.acc = GRAVEL_VEC_OUT_AOS(acc), .neighbour_count = count};
    assert_ok(gravel_direct_submit(d, &in, 0.1));
    assert_ok(gravel_direct_collect(d, &only, &overflow));
    const gv_ref_particles v = view_of(&b, 0, 50);
    results want = reference_run(2, &v, &v, 0.1, radius, 4);
    size_t over = 0;
    for (size_t i = 0; i < 50; i++) {
        assert_int_equal(count[i], want.count[i]);
        assert_true(acc[i][0] == got.v[R_AX][i] && acc[i][1] == got.v[R_AY][i] && acc[i][2] == got.v[R_AZ][i]);
        over += want.count[i] > 4;
    }
    assert_int_equal(overflow, over);
    gravel_forces nothing;
    memset(&nothing, 0, sizeof nothing);
    assert_ok(gravel_direct_submit(d, &in, 0.1));
    assert_ok(gravel_direct_collect(d, &nothing, NULL));
    results_free(&got);
    results_free(&want);
    gravel_direct_release(d);
    bodies_free(&b);
}

/* With eps > 0 distances stay unsoftened, with and without it the lists are the same. */
static void check_softening(gravel_context *context, int order, gravel_precision precision)
{
    /* of the last, eps^2 rounds all distances of the grid away in float */
    static const double eps[] = {3.0, 0.0371, 1000.3, 20000.7};
    bodies b = grid(200, 7);
    double radius[200];
    for (size_t i = 0; i < 200; i++)
        radius[i] = 2;
    gravel_direct *d =
        direct_new(context, (direct_want){.order = order, .precision = precision, .nearest = 1, .capacity = 30});
    direct_write(d, &b, 0, 200);
    const gravel_sinks in = sinks_of(&b, 0, 200, radius);
    results a = direct_run(d, &in, 0, 30);
    for (int k = 0; k < 4; k++) {
        results c = direct_run(d, &in, eps[k], 30);
        assert_memory_equal(a.nearest, c.nearest, 200 * sizeof *a.nearest);
        assert_memory_equal(a.distance, c.distance, 200 * sizeof *a.distance);
        assert_memory_equal(a.count, c.count, 200 * sizeof *a.count);
        assert_memory_equal(a.list, c.list, 200 * 30 * sizeof *a.list);
        results_free(&c);
    }
    results_free(&a);
    gravel_direct_release(d);
    bodies_free(&b);
}

/* sp compares softened distances first, ds never. */
static void softening_has_no_say(void **state)
{
    CONTEXT_OR_SKIP(context)
    check_softening(context, 2, GRAVEL_SP);
    check_softening(context, 4, GRAVEL_DS);
}

/* Nearest neighbours without lists, in both ways of looking for them: sinks among the sources and ties everywhere, in
 * stretches with and without a source that is a sink, softened until rounding leaves nothing of the distances. */
static void check_nearest_alone(gravel_context *context, gravel_precision precision, const char *configuration)
{
    static const double eps[] = {0.25, 1000.3, 20000.7, 0};
    static const size_t sources[] = {1, 31, 129, N};
    bodies b = grid(N, 8);
    const gravel_sinks in = sinks_of(&b, 0, SINKS, NULL);
    const gv_ref_particles i = view_of(&b, 0, SINKS);
    gravel_direct *d = direct_new(
        context, (direct_want){.order = 2, .precision = precision, .nearest = 1, .configuration = configuration});

    direct_write(d, &b, 0, N);
    for (size_t j = 0; j < sizeof sources / sizeof sources[0]; j++) {
        const gv_ref_particles all = view_of(&b, 0, sources[j]);
        results want = reference_run(2, &i, &all, 0, NULL, 0);
        assert_ok(gravel_direct_set_source_count(d, sources[j]));
        for (size_t k = 0; k < sizeof eps / sizeof eps[0]; k++) {
            results got = direct_run(d, &in, eps[k], 0);
            for (size_t s = 0; s < SINKS; s++)
                if (got.nearest[s] != want.nearest[s] || got.distance[s] != want.distance[s])
                    fail_msg("%s, eps %g: sink %zu: nearest %u at %.17g, the reference %u at %.17g", configuration,
                             eps[k], s, got.nearest[s], got.distance[s], want.nearest[s], want.distance[s]);
            results_free(&got);
        }
        results_free(&want);
    }
    gravel_direct_release(d);
    bodies_free(&b);
}

static void nearest_alone(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const struct {
        gravel_precision precision;
        const char *configuration;
    } run[] = {
        {GRAVEL_SP, "threads=32 split=4 tile=64 lanes=1 sinks_per_item=2 unroll=8 rsqrt=0 blocks_per_cu=4 keep=0"},
        {GRAVEL_SP, "threads=32 split=4 tile=64 lanes=1 sinks_per_item=2 unroll=8 rsqrt=0 blocks_per_cu=4 keep=1"},
        {GRAVEL_SP, "threads=1 split=1 tile=0 lanes=8 sinks_per_item=2 unroll=4 rsqrt=0 blocks_per_cu=4 keep=1"},
        {GRAVEL_DS, "threads=1 split=1 tile=0 lanes=1 sinks_per_item=3 unroll=16 rsqrt=0 blocks_per_cu=4 keep=1"},
        {GRAVEL_DP, "threads=1 split=1 tile=0 lanes=4 sinks_per_item=1 unroll=4 rsqrt=0 blocks_per_cu=32 keep=1"},
        {GRAVEL_DP, "threads=32 split=2 tile=32 lanes=1 sinks_per_item=1 unroll=2 rsqrt=0 blocks_per_cu=4 keep=1"},
    };
    for (size_t k = 0; k < sizeof run / sizeof run[0]; k++)
        if (has_precision(context, run[k].precision))
            check_nearest_alone(context, run[k].precision, run[k].configuration);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_a_grid),           cmocka_unit_test(none_and_far),
        cmocka_unit_test(ties_everywhere),     cmocka_unit_test(overflowing_lists),
        cmocka_unit_test(lists_not_asked_for), cmocka_unit_test(softening_has_no_say),
        cmocka_unit_test(nearest_alone),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
