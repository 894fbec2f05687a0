/* What the tables of tunables (src/host/direct/plan.c, src/host/tree/plan.c) make of what a trial has found: built-in
 * configurations, and what is refused. */
#include "host_test.h"

#include <math.h>

#include "host/device/device.h"
#include "host/direct/plan.h"
#include "host/program/traits.h"
#include "host/tasks/tasks.h"
#include "host/tree/plan.h"

static gv_limits cpu_with(double native_error, int rsqrt12)
{
    gv_limits l;
    memset(&l, 0, sizeof l);
    l.info.type = GRAVEL_DEVICE_CPU;
    l.info.compute_units = 2;
    l.info.max_group = 4096;
    l.info.local_memory = 1 << 20;
    l.info.has_fp64 = 1;
    l.info.simd_width_float = 8;
    l.info.simd_width_double = 4;
    l.fast_fma = 1;
    l.has_rsqrt12 = rsqrt12;
    l.exact_error = 9e-8;
    l.native_error = l.seed_error = native_error;
    return l;
}

/* The error that a root may have is the one its flavour leaves: y off by d, 3/2 d^2 after Newton's step, 5/2 d^3 after
 * the third-order one; eight roundings are allowed. */
static void rough_roots_are_refused(void **state)
{
    static const struct {
        double native;
        int right[3][4]; /* [precision][flavour] */
    } wanted[] = {
        {0, {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}}},
        {1.2e-7, {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}}},
        {1e-6, {{1, 0, 1, 1}, {1, 0, 1, 1}, {1, 1, 1, 1}}},
        {5e-5, {{1, 0, 1, 1}, {1, 0, 1, 1}, {1, 0, 1, 1}}},   /* Intel's runtime with AVX-512: 2^-14 */
        {2.5e-4, {{1, 0, 1, 1}, {1, 0, 1, 1}, {1, 0, 1, 1}}}, /* with AVX2: 2^-12, the third-order step */
        {1e-2, {{1, 0, 0, 1}, {1, 0, 0, 1}, {1, 0, 0, 1}}},
        {INFINITY, {{1, 0, 0, 1}, {1, 0, 0, 1}, {1, 0, 0, 1}}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
        const gv_limits l = cpu_with(wanted[k].native, 0);
        for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++)
            for (int flavour = 0; flavour < 4; flavour++)
                if (gv_limits_root_is_right(&l, (gravel_precision)p, flavour, 8) != wanted[k].right[p][flavour])
                    fail_msg("native_rsqrt off by %g: %s with flavour %d", wanted[k].native,
                             gravel_precision_name((gravel_precision)p), flavour);
    }
}

/* Vectors that a compiler gets wrong are refused, whoever names them. */
static void wrong_vectors_are_refused(void **state)
{
    gv_limits l = cpu_with(9e-8, 0);
    gv_variant v;
    gv_config c;
    (void)state;
    assert_true(gv_variant_parse("sp2", &v));
    gv_direct_space.built_in(&c, &v, &l, 16384, 16384);
    assert_int_equal(c.value[GV_T_LANES], 8);
    assert_null(gv_space_can_run(&gv_direct_space, &c, &v, &l));
    l.bad_vectors = 8;
    assert_non_null(gv_space_can_run(&gv_direct_space, &c, &v, &l));
    c.value[GV_T_LANES] = 4;
    assert_null(gv_space_can_run(&gv_direct_space, &c, &v, &l));
    gv_tree_space.built_in(&c, &v, &l, 16384, 16384);
    assert_null(gv_space_can_run(&gv_tree_space, &c, &v, &l));
    c.value[GV_TT_LANES] = 8;
    assert_non_null(gv_space_can_run(&gv_tree_space, &c, &v, &l));
    gv_tasks_space.built_in(&c, &v, &l, 32, 3000);
    assert_null(gv_space_can_run(&gv_tasks_space, &c, &v, &l));
    c.value[GV_TA_LANES] = 8;
    assert_non_null(gv_space_can_run(&gv_tasks_space, &c, &v, &l));
}

/* What is wrong of the vectors leads to narrower ones, in the end to none, never to a refusal: both defaults, in every
 * variant, are within the constraints of any such device. */
static void defaults_have_right_vectors(void **state)
{
    static const struct {
        int bad, lanes[2]; /* in float, in double */
    } c[] = {{0, {16, 8}}, {16, {8, 8}}, {8, {16, 4}}, {16 | 8, {4, 4}}, {16 | 4, {8, 8}}, {4 | 8 | 16, {1, 1}}};
    (void)state;
    for (size_t k = 0; k < sizeof c / sizeof c[0]; k++)
        for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++)
            for (int order = 2; order <= 6; order += 2)
                for (size_t sinks = 1; sinks <= 16384; sinks *= 16) {
                    gv_limits l = cpu_with(9e-8, 1);
                    gv_variant v;
                    gv_config config;
                    l.info.simd_width_float = 16, l.info.simd_width_double = 8;
                    l.has_rsqrt14 = 1;
                    l.bad_vectors = c[k].bad;
                    gv_variant_set(&v, order, (gravel_precision)p, 0);
                    assert_int_equal(gv_limits_lanes(&l, v.precision), c[k].lanes[p == GRAVEL_DP]);
                    gv_direct_space.built_in(&config, &v, &l, sinks, 16384);
                    assert_int_equal(config.value[GV_T_LANES], c[k].lanes[p == GRAVEL_DP]);
                    assert_null(gv_space_check(&gv_direct_space, &config, &v, &l));
                    if (order > 2)
                        continue;
                    gv_tree_space.built_in(&config, &v, &l, sinks, 16384);
                    assert_int_equal(config.value[GV_TT_LANES], c[k].lanes[p == GRAVEL_DP]);
                    assert_null(gv_space_check(&gv_tree_space, &config, &v, &l));
                    gv_tasks_space.built_in(&config, &v, &l, sinks, 16384);
                    assert_int_equal(config.value[GV_TA_LANES], c[k].lanes[p == GRAVEL_DP]);
                    assert_null(gv_space_check(&gv_tasks_space, &config, &v, &l));
                }
}

static void expect_built_in(const gv_limits *l, const char *name, int rsqrt)
{
    gv_variant v;
    gv_config c;
    assert_true(gv_variant_parse(name, &v));
    gv_direct_space.built_in(&c, &v, l, 16384, 16384);
    if (c.value[GV_T_RSQRT] != rsqrt)
        fail_msg("direct %s: built-in flavour %d, not %d", name, c.value[GV_T_RSQRT], rsqrt);
    assert_null(gv_space_check(&gv_direct_space, &c, &v, l));
    c.value[GV_T_RSQRT] = 1; /* whether a profile or the caller sets it */
    assert_int_equal(gv_space_can_run(&gv_direct_space, &c, &v, l) == NULL,
                     gv_limits_root_is_right(l, v.precision, 1, 8));
    if (v.order > 2)
        return;
    gv_tree_space.built_in(&c, &v, l, 16384, 16384);
    if (!gv_limits_root_is_right(l, v.precision, c.value[GV_TT_RSQRT], c.value[GV_TT_LANES]))
        fail_msg("tree %s: built-in flavour %d is not right", name, c.value[GV_TT_RSQRT]);
    assert_null(gv_space_check(&gv_tree_space, &c, &v, l));
}

static void defaults_are_right(void **state)
{
    static const char *const names[] = {"sp2", "sp4", "sp6", "ds2", "ds4", "ds6"};
    gv_limits exact = cpu_with(9e-8, 0), rough = cpu_with(5e-5, 0), fast = cpu_with(9e-8, 1), gpu = cpu_with(5e-5, 0);
    gv_limits by_groups = cpu_with(9e-8, 0);
    (void)state;
    by_groups.runs_groups = 1;
    by_groups.info.simd_width_float = by_groups.info.simd_width_double = 1;
    gpu.info.type = GRAVEL_DEVICE_GPU;
    gpu.info.simd_width_float = gpu.info.simd_width_double = 1;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        expect_built_in(&exact, names[k], 0);
        expect_built_in(&rough, names[k], 2);
        expect_built_in(&fast, names[k], 4);
        expect_built_in(&gpu, names[k], 2); /* a GPU with a rough native_rsqrt does not get what an H200 has */
        expect_built_in(&by_groups, names[k], 0);
        gpu.native_error = gpu.seed_error = 1.3e-7;
        expect_built_in(&gpu, names[k], 1);
        gpu.native_error = gpu.seed_error = 5e-5;
    }
    expect_built_in(&exact, "dp4", 0);
    expect_built_in(&fast, "dp4", 0);  /* the 12-bit estimate is one of float only */
    expect_built_in(&rough, "dp4", 0); /* where an estimate in float is too roundabout */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rough_roots_are_refused),
        cmocka_unit_test(defaults_are_right),
        cmocka_unit_test(wrong_vectors_are_refused),
        cmocka_unit_test(defaults_have_right_vectors),
    };

    return cmocka_run_group_tests_name("defaults", tests, NULL, NULL);
}
