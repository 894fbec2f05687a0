/* How sinks are cut into groups: no device. */
#include "host_test.h"

#include "host/tree/plan.h"

typedef struct shape {
    int n_group, threads, split;
} shape;

/* A GPU's configuration of this shape, and what is planned with it; local_memory in bytes. */
static gv_tree_plan *plan_in(gv_config *config, gravel_precision precision, shape of, int compute_units,
                             size_t local_memory, int n_leaf)
{
    gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;
    gv_limits limits;
    gv_variant variant;
    gv_tree_plan *plan = calloc(1, sizeof *plan);

    assert_non_null(plan);
    memset(&limits, 0, sizeof limits);
    limits.info.type = GRAVEL_DEVICE_GPU;
    limits.info.compute_units = compute_units;
    limits.info.max_group = 1024;
    limits.info.local_memory = local_memory;
    options.precision = precision;
    gv_variant_set(&variant, 2, precision, 0);
    gv_tree_space.built_in(config, &variant, &limits, 1000000, 1000000);
    config->value[GV_TT_N_GROUP] = of.n_group;
    config->value[GV_TT_THREADS] = of.threads;
    config->value[GV_TT_SPLIT] = of.split;
    config->value[GV_TT_N_LEAF] = n_leaf;
    config->value[GV_TT_TILE] = of.threads;
    config->value[GV_TT_STACK] = 1024;
    gv_tree_make_plan(plan, config, &options, &limits);
    return plan;
}

enum { LOCAL_MEMORY = 49152 };

static gv_tree_plan *plan_of(gv_config *config, gravel_precision precision, shape of, int compute_units,
                             size_t local_memory)
{
    return plan_in(config, precision, of, compute_units, local_memory, 16);
}

static gv_tree_cut cut_of(shape of, int compute_units, size_t sinks, size_t sources)
{
    gv_config config;
    gv_tree_plan *plan = plan_of(&config, GRAVEL_SP, of, compute_units, LOCAL_MEMORY);
    const gv_tree_cut cut = gv_tree_cut_of(plan, &config, sinks, sources);

    free(plan);
    return cut;
}

static int shape_number(const gv_tree_cut *cut)
{
    return cut->walk == GV_TP_WALK ? -1 : (cut->walk - GV_TP_FEW) / GV_TREE_KINDS;
}

/* What was the fastest or close to it on an H200 (132 compute units): doc/numbers.md, "Tree: sparse groups".  The
 * fewer sinks, the smaller the groups, and the more work-items share a sink. */
static void test_few_sinks_are_shared_by_more_work_items(void **state)
{
    static const shape large = {64, 64, 1}, small = {32, 64, 2};
    static const struct {
        gravel_precision precision;
        size_t sinks, sources;
        int number;
        size_t size, threads;
    } c[] = {
        {GRAVEL_SP, 100, 10000, 0, 1, 128},       {GRAVEL_SP, 2500, 10000, 0, 16, 128},
        {GRAVEL_SP, 1000, 100000, 0, 1, 128},     {GRAVEL_SP, 10000, 1000000, 0, 16, 128},
        {GRAVEL_DS, 30000, 1000000, 1, 32, 128},  {GRAVEL_SP, 100000, 1000000, 1, 32, 128},
        {GRAVEL_SP, 250000, 1000000, 2, 32, 64},  {GRAVEL_SP, 400000, 1000000, -1, 64, 64},
        {GRAVEL_DP, 3000, 100000, 0, 16, 128},    {GRAVEL_DP, 30000, 1000000, 1, 32, 128},
        {GRAVEL_DP, 100000, 1000000, 2, 32, 64},  {GRAVEL_DP, 250000, 1000000, -1, 64, 64},
        {GRAVEL_SP, 50000, 100000, -1, 64, 64},   {GRAVEL_SP, 1000, 1000, -1, 64, 64},
        {GRAVEL_SP, 419430, 4194304, -1, 64, 64},
    };

    (void)state;
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        gv_config config;
        gv_tree_plan *plan = plan_of(&config, c[k].precision, large, 132, LOCAL_MEMORY);
        const gv_tree_cut cut = gv_tree_cut_of(plan, &config, c[k].sinks, c[k].sources);

        if (shape_number(&cut) != c[k].number || cut.size != c[k].size)
            print_message("case %zu: %zu of %zu: shape %d, groups of %zu\n", k, c[k].sinks, c[k].sources,
                          shape_number(&cut), cut.size);
        assert_int_equal(shape_number(&cut), c[k].number);
        assert_int_equal(cut.size, c[k].size);
        assert_int_equal(gv_tree_walk_threads(plan, &config, cut.walk), c[k].threads);
        assert_true(cut.groups * cut.size >= c[k].sinks && cut.places >= cut.groups);
        free(plan);
    }
    /* a device of a few units is full */
    assert_int_equal(cut_of(large, 8, 100000, 1000000).walk, GV_TP_WALK);
    assert_int_equal(cut_of(small, 8, 100000, 1000000).size, 32);
}

/* Where local memory or groups of the device do not suffice, fewer work-items share the sinks; at the least as many as
 * configured, in their way.  The text of a program says how. */
static void test_shapes_fit_the_device(void **state)
{
    static const struct {
        gravel_precision precision;
        int n_leaf;
        size_t local_memory;
        const char *text, *stack;
    } c[] = {
        {GRAVEL_SP, 16, 49152, "-DGV_THREADS=128 -DGV_SPLIT=8 -DGV_SINKS_PER_ITEM=1 -DGV_N_GROUP=16 ", "=2048 "},
        {GRAVEL_SP, 32, 49152, "-DGV_THREADS=128 -DGV_SPLIT=8 -DGV_SINKS_PER_ITEM=1 -DGV_N_GROUP=16 ", "=2048 "},
        {GRAVEL_DP, 16, 49152, "-DGV_THREADS=128 -DGV_SPLIT=8 ", "=2048 "},
        {GRAVEL_SP, 16, 20480, "-DGV_THREADS=64 -DGV_SPLIT=4 ", "=2048 "},
        {GRAVEL_SP, 16, 12288, "-DGV_THREADS=32 -DGV_SPLIT=2 ", "=1024 "},
    };

    (void)state;
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        gv_config config;
        gv_tree_plan *plan = plan_in(&config, c[k].precision, (shape){64, 32, 1}, 132, c[k].local_memory, c[k].n_leaf);
        const char *text = plan->program[GV_TP_FEW].options, *stack = strstr(text, "-DGV_STACK");

        if (!strstr(text, c[k].text) || !stack || strncmp(stack + 10, c[k].stack, 6) != 0)
            fail_msg("case %zu: %s", k, text);
        free(plan);
    }
}

/* The untuned default runs on devices with little room, and its shapes are whole groups. */
static void test_the_default_fits_the_device(void **state)
{
    static const size_t memory[] = {32768, 49152, 65536};
    gv_limits limits;
    gv_variant variant;
    gv_config config;

    (void)state;
    memset(&limits, 0, sizeof limits);
    limits.info.type = GRAVEL_DEVICE_GPU;
    limits.info.has_fp64 = 1;
    for (int precision = GRAVEL_SP; precision <= GRAVEL_DP; precision++)
        for (size_t m = 0; m < sizeof memory / sizeof *memory; m++)
            for (int units = 4; units <= 512; units *= 2)
                for (size_t n = 10; n <= 20000000; n = 3 * n + 1)
                    for (int ptx = 0; ptx < 2; ptx++) {
                        limits.info.local_memory = memory[m];
                        limits.info.compute_units = units;
                        limits.info.max_group = units % 32 ? 128 : 256;
                        limits.has_ptx_asm = ptx;
                        gv_variant_set(&variant, 2, (gravel_precision)precision, 0);
                        gv_tree_space.built_in(&config, &variant, &limits, n, n);
                        const char *why = gv_space_can_run(&gv_tree_space, &config, &variant, &limits);

                        if (why)
                            fail_msg("%s, %zu bytes, %d units, %zu bodies: %s", variant.name, memory[m], units, n, why);
                    }
}

/* One work-item a group: one program, and places for parts of 8 sinks where not all bodies are sinks. */
static void test_groups_of_one_work_item_are_cut_in_place(void **state)
{
    static const shape alone = {64, 1, 1};

    (void)state;
    for (size_t sinks = 64; sinks <= 1000000; sinks = sinks * 5 - 1) {
        const gv_tree_cut cut = cut_of(alone, 1, sinks, 1000000);
        const size_t groups = (sinks + 63) / 64;

        assert_true(cut.walk == GV_TP_WALK && cut.size == 64 && cut.groups == groups && cut.room == 0);
        assert_int_equal(cut.places, sinks < 500000 ? 8 * groups : groups);
        assert_int_equal(cut.bodies > 0, sinks < 500000);
    }
    /* all units have a group */
    assert_int_equal(cut_of(alone, 8, 300, 1000000).size, 32);
    assert_int_equal(cut_of(alone, 8, 3, 1000000).size, 8);
}

#define SORTED(threads, items)                                                                                         \
    "n_leaf=16 n_group=64 threads=1 split=1 tile=64 stack=1024 lanes=1 rsqrt=0 curve=1 sort_threads=" threads          \
    " sort_items=" items " sort_bits=8"

/* Where one work-item sorts few bodies they are one tile, whatever its length: the same launches. */
static void test_tiles_of_few_bodies_are_alike(void **state)
{
    static const struct {
        const char *a, *b;
        size_t bodies;
        int same;
    } c[] = {
        {SORTED("1", "8192"), SORTED("1", "16384"), 8192, 1},
        {SORTED("1", "8192"), SORTED("1", "4096"), 16384, 1},
        {SORTED("1", "8192"), SORTED("1", "16384"), 16385, 0},
        {SORTED("256", "8"), SORTED("256", "16"), 1000, 0},
    };
    gv_limits limits;
    gv_variant variant;

    (void)state;
    memset(&limits, 0, sizeof limits);
    limits.info.type = GRAVEL_DEVICE_CPU;
    gv_variant_set(&variant, 2, GRAVEL_SP, 0);
    for (size_t k = 0; k < sizeof c / sizeof c[0]; k++)
        assert_int_equal(
            gv_space_same_text(&gv_tree_space, c[k].a, c[k].b, &variant, &limits, c[k].bodies, c[k].bodies), c[k].same);
}

/* Each kernel of a walk but that of the configuration, with eps, has bits of its own, by which it is proven. */
static void test_walks_are_told_apart(void **state)
{
    enum { WALKS = (1 + GV_TREE_SHAPES) * GV_TREE_KINDS };
    (void)state;
    assert_int_equal(gv_tree_walk_features(-1), 0);
    assert_int_equal(gv_tree_walk_features(WALKS), 0);
    assert_int_equal(gv_tree_walk_features(GV_TREE_EPS), 0);
    assert_int_equal(gv_tree_walk_features(GV_TREE_UNSOFTENED), GV_TREE_OF_NO_EPS);
    assert_int_equal(gv_tree_walk_features(GV_TREE_SUM), GRAVEL_SOFTEN_SUM << GV_TREE_LENGTHS_AT);
    for (int walk = 1; walk < WALKS; walk++) {
        const unsigned bits = gv_tree_walk_features(walk);
        assert_int_equal((bits & GV_TREE_OF_SHAPE) >> GV_TREE_SHAPE_AT, walk / GV_TREE_KINDS);
        assert_int_equal(bits & ~(unsigned)(GV_TREE_OF_SHAPE | GV_TREE_OF_LENGTHS | GV_TREE_OF_NO_EPS), 0);
        for (int other = 0; other < walk; other++)
            assert_true(gv_tree_walk_features(other) != bits);
    }
    assert_int_equal((gv_tree_space.of_program & GV_TREE_OF_SHAPE), GV_TREE_OF_SHAPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_sinks_are_shared_by_more_work_items),
        cmocka_unit_test(test_shapes_fit_the_device),
        cmocka_unit_test(test_the_default_fits_the_device),
        cmocka_unit_test(test_groups_of_one_work_item_are_cut_in_place),
        cmocka_unit_test(test_tiles_of_few_bodies_are_alike),
        cmocka_unit_test(test_walks_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
