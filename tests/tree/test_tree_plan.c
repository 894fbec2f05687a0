/* How sinks are cut into groups: no device. */
#include "host_test.h"

#include "host/tree/plan.h"

typedef struct shape {
    int n_group, threads, split;
} shape;

/* A GPU's configuration of this shape, and what is planned with it; local_memory in bytes. */
static gv_tree_plan *plan_of(gv_config *config, gravel_precision precision, shape of, int compute_units, double theta,
                             size_t local_memory)
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
    options.theta = theta;
    gv_variant_set(&variant, 2, precision, 0);
    gv_tree_space.built_in(config, &variant, &limits, 1000000, 1000000);
    config->value[GV_TT_N_GROUP] = of.n_group;
    config->value[GV_TT_THREADS] = of.threads;
    config->value[GV_TT_SPLIT] = of.split;
    gv_tree_make_plan(plan, config, &options, &limits);
    return plan;
}

enum { LOCAL_MEMORY = 49152 };

static gv_tree_cut cut_in(gravel_precision precision, shape of, int compute_units, size_t sinks, size_t sources)
{
    gv_config config;
    gv_tree_plan *plan = plan_of(&config, precision, of, compute_units, 0.75, LOCAL_MEMORY);
    const gv_tree_cut cut = gv_tree_cut_of(plan, &config, sinks, sources);

    free(plan);
    return cut;
}

static gv_tree_cut cut_of(shape of, int compute_units, size_t sinks, size_t sources)
{
    return cut_in(GRAVEL_SP, of, compute_units, sinks, sources);
}

/* What was the faster of both on an H200 (132 compute units) at theta 0.5 and 0.75 (doc/numbers.md): a tenth and more
 * of 1e6 bodies in groups of 64 that 32 work-items share leave most of it idle; in groups of 32 with as many or more
 * work-items, or of 4e6 bodies, they do not. */
static void test_small_groups_where_large_ones_leave_the_device_idle(void **state)
{
    static const shape large = {64, 32, 1}, small = {32, 64, 2}, middle = {32, 32, 1};
    static const struct {
        shape of;
        size_t sinks, sources;
        int sparse;
    } c[] = {
        {large, 80000, 1000000, 1},   {large, 100000, 1000000, 1}, {large, 150000, 1000000, 1},
        {large, 400000, 1000000, 0},  {small, 80000, 1000000, 1},  {small, 100000, 1000000, 0},
        {small, 150000, 1000000, 0},  {small, 250000, 1000000, 0}, {middle, 150000, 1000000, 0},
        {middle, 250000, 1000000, 0}, {large, 262144, 4194304, 1}, {large, 419430, 4194304, 0},
        {large, 1000000, 4194304, 0},
    };

    (void)state;
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        const gv_tree_cut cut = cut_of(c[k].of, 132, c[k].sinks, c[k].sources);

        if ((cut.walk != GV_TP_WALK) != c[k].sparse)
            print_message("case %zu: %zu of %zu\n", k, c[k].sinks, c[k].sources);
        assert_int_equal(cut.walk != GV_TP_WALK, c[k].sparse);
        assert_int_equal(cut.size, c[k].sparse ? GV_SPARSE_SINKS : c[k].of.n_group);
        assert_true(cut.groups * cut.size >= c[k].sinks && cut.places >= cut.groups);
    }
    /* a device of a few units is full */
    assert_int_equal(cut_of(large, 8, 100000, 1000000).walk, GV_TP_WALK);
    /* groups of one are for sinks that are few among many bodies, not for half of a small tree */
    assert_int_equal(cut_of(large, 132, 1000, 1000000).size, 1);
    assert_int_equal(cut_of(large, 132, 1000, 4096).size, GV_SPARSE_SINKS);
    assert_int_equal(cut_of(large, 132, 4096, 4096).size, 64);
}

/* While the device has room: 64 work-items share 16 sinks, not 32. */
static void test_more_work_items_share_very_few_sinks(void **state)
{
    static const shape large = {64, 32, 1}, small = {32, 64, 2};

    (void)state;
    assert_int_equal(cut_of(large, 132, 25000, 1000000).walk, GV_TP_SHARED);
    assert_int_equal(cut_of(large, 132, 80000, 1000000).walk, GV_TP_SHARED);
    assert_int_equal(cut_of(large, 132, 100000, 1000000).walk, GV_TP_SPARSE);
    assert_int_equal(cut_of(large, 132, 150000, 1000000).walk, GV_TP_SPARSE);
    assert_int_equal(cut_of(small, 132, 25000, 1000000).walk, GV_TP_SPARSE); /* as many as it is */
    assert_int_equal(cut_in(GRAVEL_DP, (shape){32, 32, 1}, 132, 25000, 1000000).walk, GV_TP_SHARED);
    assert_int_equal(cut_in(GRAVEL_DP, (shape){32, 32, 1}, 132, 80000, 1000000).walk, GV_TP_SPARSE);
    assert_int_equal(cut_of(large, 8, 25000, 1000000).walk, GV_TP_SPARSE); /* no room */
}

/* Few sinks among many bodies and a small theta: the stack of shared groups is deep, and the configuration's where that
 * has no use, no room, or groups fill the device. */
static void test_shared_groups_have_a_deep_stack(void **state)
{
    static const struct {
        shape of;
        double theta;
        size_t local_memory, sinks;
        gv_tree_program walk;
        const char *stack;
    } c[] = {
        {{64, 32, 1}, 0.3, LOCAL_MEMORY, 10000, GV_TP_SHARED, "-DGV_STACK=2048 "},
        {{64, 32, 1}, 0.5, LOCAL_MEMORY, 10000, GV_TP_SHARED, "-DGV_STACK=2048 "},
        {{64, 32, 1}, 0.75, LOCAL_MEMORY, 10000, GV_TP_SHARED, "-DGV_STACK=1024 "},
        {{32, 64, 2}, 0.3, LOCAL_MEMORY, 10000, GV_TP_SHARED, "-DGV_STACK=2048 "},
        {{32, 64, 2}, 0.75, LOCAL_MEMORY, 10000, GV_TP_SPARSE, "-DGV_STACK=1024 "},
        {{64, 32, 1}, 0.3, LOCAL_MEMORY, 150000, GV_TP_SPARSE, "-DGV_STACK=1024 "},
        {{64, 32, 1}, 0.3, LOCAL_MEMORY, 1000000, GV_TP_WALK, "-DGV_STACK=1024 "},
        {{64, 32, 1}, 0.3, 12288, 10000, GV_TP_SPARSE, "-DGV_STACK=1024 "},
    };

    (void)state;
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        gv_config config;
        gv_tree_plan *plan = plan_of(&config, GRAVEL_SP, c[k].of, 132, c[k].theta, c[k].local_memory);
        const gv_tree_cut cut = gv_tree_cut_of(plan, &config, c[k].sinks, 1000000);

        if (cut.walk != c[k].walk || !strstr(plan->program[cut.walk].options, c[k].stack))
            print_message("case %zu: %d %s\n", k, (int)cut.walk, plan->program[cut.walk].options);
        assert_int_equal(cut.walk, c[k].walk);
        assert_non_null(strstr(plan->program[cut.walk].options, c[k].stack));
        free(plan);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_groups_where_large_ones_leave_the_device_idle),
        cmocka_unit_test(test_more_work_items_share_very_few_sinks),
        cmocka_unit_test(test_shared_groups_have_a_deep_stack),
        cmocka_unit_test(test_groups_of_one_work_item_are_cut_in_place),
        cmocka_unit_test(test_tiles_of_few_bodies_are_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
