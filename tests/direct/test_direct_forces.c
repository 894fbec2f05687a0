/* gravel_direct: forces of every variant against the long double reference, and what physics demands of them. */
#include "problem.h"

#include "cpu_ref/ceilings.h"
#include "kernels/direct/layout.h"

#include "sim/ic.h"

/* ------------------------------------------------------ variants x configurations */

enum { MASTER = 1200, CAPACITY = 40 };

typedef struct size_case {
    size_t sinks, sources, offset; /* sinks are bodies offset ... of the same set */
} size_case;

/* groups of 32 (GPU_SHAPE) and 16 or 8 (lanes), flushes and tiles of 32, primes */
static const size_case sizes[] = {
    {1, 1, 0},       {1, 1, 5},       {1, 2, 0},      {2, 1, 0},       {2, 2, 1},     {15, 17, 3},   {16, 16, 0},
    {17, 15, 0},     {31, 32, 0},     {32, 33, 2},    {33, 31, 0},     {61, 127, 40}, {3, 128, 127}, {5, 129, 126},
    {127, 257, 200}, {1, 1031, 1030}, {37, 1031, 17}, {257, 300, 128}, {0, 7, 0},     {7, 0, 0},     {0, 0, 0},
};

typedef struct matrix {
    int order;
    gravel_precision precision;
    bodies all;
    double radius[MASTER];
    gravel_direct *object[4]; /* plain and searching, default and GPU_SHAPE */
} matrix;

static int wished(const char *variable)
{
    const char *wish = getenv(variable);
    return wish && wish[0] && wish[0] != '0';
}

/* Compiling is what takes time: seconds a program.  GRAVEL_TEST_FULL=1 has all of the matrix, GRAVEL_TEST_QUICK=1 the
 * default configuration only; else what other programs share is left out: plain forces in GPU_SHAPE, for orders 4 and
 * 6 plain forces without softening and GPU_SHAPE without (the corners below and test_direct_hostile have some of
 * each), and GPU_SHAPE but once a precision and once an order (gate_oclgrind has seven such shapes of each variant). */
static int is_wanted(const matrix *m, int object, double eps)
{
    if (wished("GRAVEL_TEST_FULL"))
        return 1;
    if (wished("GRAVEL_TEST_QUICK"))
        return object < 2;
    if (object == 3)
        return m->order == 2 * ((int)m->precision + 1) && (m->order == 2 || eps > 0);
    return object != 2 && (m->order == 2 || object == 1 || eps > 0);
}

static const char *const object_name[4] = {"default", "default nn", "gpu", "gpu nn"};

static void check_case(matrix *m, const size_case *c, double eps)
{
    const gv_ref_particles sinks = view_of(&m->all, c->offset, c->sinks), sources = view_of(&m->all, 0, c->sources);
    const gravel_sinks in = sinks_of(&m->all, c->offset, c->sinks, m->radius + c->offset);
    results want = reference_run(m->order, &sinks, &sources, eps, m->radius + c->offset, CAPACITY);
    for (int k = 0; k < 4; k++) {
        char what[64];
        if (!is_wanted(m, k, eps))
            continue;
        snprintf(what, sizeof what, "%s eps %g", object_name[k], eps);
        assert_ok(gravel_direct_set_source_count(m->object[k], c->sources));
        results got = direct_run(m->object[k], &in, eps, CAPACITY);
        assert_forces(&got, &want, m->order, m->precision, &sinks, &sources, eps, what);
        if (k % 2 == 1) {
            assert_nearest(&got, &want, m->precision, &sinks, &sources, what);
            assert_lists(&got, m->precision, &sinks, &sources, m->radius + c->offset, what);
        } else
            assert_int_equal(got.overflow, 0);
        results_free(&got);
    }
    results_free(&want);
}

static void check_variant(gravel_context *context, int order, gravel_precision precision)
{
    matrix m = {.order = order, .precision = precision, .all = bodies_new(MASTER, 1)};
    for (size_t i = 0; i < MASTER; i++)
        m.radius[i] = 0.15 * (double)(i % 5); /* none to more than CAPACITY neighbours */
    for (int k = 0; k < 4; k++) {
        m.object[k] = direct_new(context, (direct_want){.order = order,
                                                        .precision = precision,
                                                        .nearest = k % 2,
                                                        .capacity = k % 2 ? CAPACITY : 0,
                                                        .configuration = k >= 2 ? GPU_SHAPE : NULL});
        direct_write(m.object[k], &m.all, 0, MASTER);
    }
    for (size_t c = 0; c < sizeof sizes / sizeof sizes[0]; c++) {
        check_case(&m, &sizes[c], 0.05);
        check_case(&m, &sizes[c], 0);
    }
    for (int k = 0; k < 4; k++)
        gravel_direct_release(m.object[k]);
    bodies_free(&m.all);
}

#define VARIANT_TEST(name, order, precision)                                                                           \
    static void name(void **state)                                                                                     \
    {                                                                                                                  \
        CONTEXT_OR_SKIP(context)                                                                                       \
        if (!has_precision(context, precision))                                                                        \
            skip();                                                                                                    \
        check_variant(context, order, precision);                                                                      \
    }
VARIANT_TEST(sp2, 2, GRAVEL_SP)
VARIANT_TEST(sp4, 4, GRAVEL_SP)
VARIANT_TEST(sp6, 6, GRAVEL_SP)
VARIANT_TEST(ds2, 2, GRAVEL_DS)
VARIANT_TEST(ds4, 4, GRAVEL_DS)
VARIANT_TEST(ds6, 6, GRAVEL_DS)
VARIANT_TEST(dp2, 2, GRAVEL_DP)
VARIANT_TEST(dp4, 4, GRAVEL_DP)
VARIANT_TEST(dp6, 6, GRAVEL_DP)

/* ------------------------------------------------------------- corners of the space */

typedef struct corner {
    const char *variant;
    int search;
    double eps;
    const char *configuration;
} corner;

/* Each tunable's odd values at least once, with rows and tiles where they meet lanes; a configuration that this
 * device cannot run (estimates) is left out. */
static const corner corners[] = {
    {"sp2", 1, 0, "threads=1 split=1 tile=0 lanes=1 sinks_per_item=1 unroll=1 rsqrt=0"},
    {"sp4", 1, 0.1, "threads=16 split=8 tile=0 lanes=4 sinks_per_item=3 unroll=16 rsqrt=3"},
    {"sp2", 0, 0.1, "threads=64 split=64 tile=0 lanes=1 sinks_per_item=1 unroll=8 rsqrt=2 blocks_per_cu=32"},
    {"ds2", 1, 0.1, "threads=16 split=2 tile=64 lanes=8 sinks_per_item=2 unroll=4 rsqrt=3"},
    {"ds4", 1, 0, "threads=1 split=1 tile=32 lanes=16 sinks_per_item=2 unroll=16 rsqrt=1"},
    {"ds6", 0, 0, "threads=32 split=32 tile=32 lanes=1 sinks_per_item=3 unroll=1 rsqrt=0 prefetch=1"},
    {"dp2", 1, 0, "threads=16 split=4 tile=0 lanes=2 sinks_per_item=6 unroll=2 rsqrt=3"},
    {"dp4", 1, 0.1, "threads=1 split=1 tile=0 lanes=16 sinks_per_item=1 unroll=2 rsqrt=1 blocks_per_cu=32"},
    {"dp6", 1, 0, "threads=16 split=16 tile=32 lanes=4 sinks_per_item=1 unroll=8 rsqrt=2"},
    {"sp2", 1, 0.1, "threads=1 split=1 tile=0 lanes=16 sinks_per_item=8 unroll=1 rsqrt=4"},
    {"ds2", 0, 0, "threads=1 split=1 tile=0 lanes=8 sinks_per_item=4 unroll=2 rsqrt=4"},
    {"dp2", 0, 0, "threads=1 split=1 tile=0 lanes=8 sinks_per_item=2 unroll=1 rsqrt=4"},
    {"sp6", 1, 0, "threads=128 split=2 tile=512 lanes=1 sinks_per_item=1 unroll=16 rsqrt=1 blocks_per_cu=1"},
    {"ds2", 1, 0, "threads=256 split=4 tile=256 lanes=1 sinks_per_item=1 unroll=4 rsqrt=3 blocks_per_cu=2"},
};

static int run_corner(gravel_context *context, const corner *c, const bodies *all, const double *radius)
{
    static const size_case some[] = {{1, 1, 5}, {17, 129, 120}, {33, 300, 0}, {130, 1031, 1000}};
    gv_variant v;
    gravel_direct_options o = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_direct *d;
    assert_true(gv_variant_parse(c->variant, &v));
    if (!has_precision(context, v.precision))
        return 0;
    o.order = v.order;
    o.precision = v.precision;
    o.nearest = c->search;
    o.neighbour_capacity = c->search ? CAPACITY : 0;
    o.configuration = c->configuration;
    const gravel_status status = gravel_direct_create(&d, context, &o);
    if (status == GRAVEL_ERR_LAUNCH)
        return 0;
    assert_ok(status);
    direct_write(d, all, 0, all->n);
    for (size_t k = 0; k < sizeof some / sizeof some[0]; k++) {
        const gv_ref_particles sinks = view_of(all, some[k].offset, some[k].sinks),
                               sources = view_of(all, 0, some[k].sources);
        const gravel_sinks in = sinks_of(all, some[k].offset, some[k].sinks, radius);
        results want = reference_run(v.order, &sinks, &sources, c->eps, radius, CAPACITY);
        assert_ok(gravel_direct_set_source_count(d, some[k].sources));
        results got = direct_run(d, &in, c->eps, CAPACITY);
        assert_forces(&got, &want, v.order, v.precision, &sinks, &sources, c->eps, c->configuration);
        if (c->search) {
            assert_nearest(&got, &want, v.precision, &sinks, &sources, c->configuration);
            assert_lists(&got, v.precision, &sinks, &sources, radius, c->configuration);
        }
        results_free(&got);
        results_free(&want);
    }
    gravel_direct_release(d);
    return 1;
}

static void corners_of_the_space(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies all = bodies_new(MASTER, 2);
    double radius[MASTER];
    int ran = 0;
    for (size_t i = 0; i < MASTER; i++)
        radius[i] = 0.2 * (double)(i % 3);
    const int few = wished("GRAVEL_TEST_QUICK") || !wished("GRAVEL_TEST_LONG"); /* CI has all */
    for (size_t c = 0; c < (few ? 6 : sizeof corners / sizeof corners[0]); c++)
        ran += run_corner(context, &corners[c], &all, radius);
    /* the first six need neither the 12- and 14-bit estimates nor dp; the fifth a good native_rsqrt */
    const gv_limits limits = gv_limits_of(context, 0);
    assert_true(ran >= 5 + gv_limits_root_is_right(&limits, GRAVEL_DS, 1, 16));
    bodies_free(&all);
}

/* When a source is read changes no bit, whatever is behind the last one of a tile: a row's or a part's neighbour, or
 * nothing. */
static void check_prefetch(gravel_context *context, int order, gravel_precision precision, const bodies *all,
                           const double *radius)
{
    static const size_case some[] = {{1, 1, 0}, {17, 129, 100}, {33, 320, 0}, {130, 1031, 900}};
    gravel_direct *d[2];
    for (int k = 0; k < 2; k++) {
        d[k] = direct_new(context, (direct_want){.order = order,
                                                 .precision = precision,
                                                 .nearest = 1,
                                                 .capacity = CAPACITY,
                                                 .configuration = k ? GPU_SHAPE " prefetch=1" : GPU_SHAPE});
        direct_write(d[k], all, 0, all->n);
    }
    for (size_t k = 0; k < sizeof some / sizeof some[0]; k++) {
        const gravel_sinks in = sinks_of(all, some[k].offset, some[k].sinks, radius);
        results r[2];
        for (int q = 0; q < 2; q++) {
            assert_ok(gravel_direct_set_source_count(d[q], some[k].sources));
            r[q] = direct_run(d[q], &in, 0.1, CAPACITY);
        }
        for (int c = 0; c < GV_DIRECT_COMPONENTS(order); c++)
            assert_memory_equal(r[0].v[c], r[1].v[c], some[k].sinks * sizeof *r[0].v[c]);
        assert_memory_equal(r[0].nearest, r[1].nearest, some[k].sinks * sizeof *r[0].nearest);
        assert_memory_equal(r[0].count, r[1].count, some[k].sinks * sizeof *r[0].count);
        results_free(&r[0]);
        results_free(&r[1]);
    }
    gravel_direct_release(d[0]);
    gravel_direct_release(d[1]);
}

static void prefetch_changes_no_bit(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies all = bodies_new(MASTER, 4);
    double radius[MASTER];
    for (size_t i = 0; i < MASTER; i++)
        radius[i] = 0.2 * (double)(i % 3);
    check_prefetch(context, 2, GRAVEL_SP, &all, radius);
    check_prefetch(context, 4, GRAVEL_DS, &all, radius);
    bodies_free(&all);
}

/* ------------------------------------------------------------------ DESIGN's ceilings */

/* Relative errors over 256 bodies of a Plummer sphere in standard units, against the ceilings of the design: mean and
 * largest, acc and pot and jerk and snap.  In the configuration that calls get, and as one part, the shortest that has
 * long stretches, where rounding counts most. */
static void check_ceilings(gravel_context *context, gravel_precision p, double eps, const char *configuration)
{
    enum { N = GV_DIRECT_LONG_PART, SINKS = 256, EACH = N / SINKS };
    static const int first[4] = {R_AX, R_POT, R_JX, R_SX}, count[4] = {3, 1, 3, 3};
    gv_particles sphere;
    bodies all = bodies_empty(N), some = bodies_empty(SINKS);
    uint64_t seed = 9;
    assert_ok(gv_ic_plummer(N, 3, NULL, &sphere));
    const double *const x[2][3] = {{sphere.x, sphere.y, sphere.z}, {sphere.vx, sphere.vy, sphere.vz}};
    for (size_t i = 0; i < N; i++) {
        all.m[i] = sphere.m[i];
        all.id[i] = sphere.id[i];
        for (int c = 0; c < 3; c++) {
            all.d[0][c][i] = x[0][c][i];
            all.d[1][c][i] = x[1][c][i];
            all.d[2][c][i] = random_unit(&seed); /* of the size of accelerations there */
        }
    }
    for (size_t i = 0; i < SINKS; i++) {
        some.id[i] = all.id[i * EACH];
        for (int k = 0; k < 9; k++)
            some.d[k / 3][k % 3][i] = all.d[k / 3][k % 3][i * EACH];
    }
    gravel_direct *d = direct_new(context, (direct_want){.order = 6, .precision = p, .configuration = configuration});
    const gv_ref_particles sinks = view_of(&some, 0, SINKS), sources = view_of(&all, 0, N);
    const gravel_sinks in = sinks_of(&some, 0, SINKS, NULL);
    direct_write(d, &all, 0, N);
    results got = direct_run(d, &in, eps, 0), want = reference_run(6, &sinks, &sources, eps, NULL, 0);
    for (int q = 0; q < 4; q++) {
        double mean = 0, most = 0;
        for (size_t i = 0; i < SINKS; i++) {
            double difference = 0, length = 0;
            for (int c = first[q]; c < first[q] + count[q]; c++) {
                difference += (got.v[c][i] - want.v[c][i]) * (got.v[c][i] - want.v[c][i]);
                length += want.v[c][i] * want.v[c][i];
            }
            const double error = sqrt(difference / length);
            mean += error / SINKS;
            most = error > most ? error : most;
        }
        const gv_ceiling ceiling = gv_error_ceiling((int)p, q);
        if (!(mean <= ceiling.mean) || !(most <= ceiling.max))
            fail_msg("%s6, eps %g, quantity %d: mean error %.3g (ceiling %.3g), largest %.3g (%.3g)",
                     gravel_precision_name(p), eps, q, mean, ceiling.mean, most, ceiling.max);
    }
    results_free(&got);
    results_free(&want);
    gravel_direct_release(d);
    bodies_free(&all);
    bodies_free(&some);
    gv_particles_free(&sphere);
}

static void ceilings(void **state)
{
    CONTEXT_OR_SKIP(context)
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++)
        if (has_precision(context, (gravel_precision)p)) {
            check_ceilings(context, (gravel_precision)p, 1e-2, NULL);
            check_ceilings(context, (gravel_precision)p, 1e-2, "blocks_per_cu=1");
            check_ceilings(context, (gravel_precision)p, 0, NULL);
            check_ceilings(context, (gravel_precision)p, 0, "blocks_per_cu=1");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sp2),
        cmocka_unit_test(sp4),
        cmocka_unit_test(sp6),
        cmocka_unit_test(ds2),
        cmocka_unit_test(ds4),
        cmocka_unit_test(ds6),
        cmocka_unit_test(dp2),
        cmocka_unit_test(dp4),
        cmocka_unit_test(dp6),
        cmocka_unit_test(corners_of_the_space),
        cmocka_unit_test(prefetch_changes_no_bit),
        cmocka_unit_test(ceilings),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
