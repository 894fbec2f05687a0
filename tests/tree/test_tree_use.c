/* The tree as callers use it: the same bits again, active bodies and points, refits, bad input, limits, memory. */
#include "tree_cloud.h"

#include "host/tree/tree.h"

static void test_same_bits(void **state)
{
    (void)state;
    cloud c = plummer(5000, 13), first = plummer(5000, 13);
    const gravel_forces once = cloud_forces(&first), again = cloud_forces(&c);
    gravel_tree *tree = tree_of(&c, NULL);
    assert_ok(gravel_tree_forces(tree, 0.01, &once));
    assert_ok(gravel_tree_build(tree));
    assert_ok(gravel_tree_forces(tree, 0.01, &again));
    assert_memory_equal(first.a[0], c.a[0], 4 * c.n * sizeof(double));
    gravel_tree_release(tree);
    tree = tree_of(&c, NULL); /* nor does it matter what a tree did before */
    const gravel_forces other = cloud_forces(&c);
    assert_ok(gravel_tree_forces(tree, 0.01, &other));
    assert_memory_equal(first.a[0], c.a[0], 4 * c.n * sizeof(double));
    gravel_tree_release(tree);
    free(c.m);
    free(first.m);
}

/* A subset has groups of its own, so lists differ: both are within the error of theta of the truth. */
static void test_active_and_points(void **state)
{
    enum { ACTIVE = 700 };
    (void)state;
    cloud c = plummer(5000, 17), part = cloud_new(ACTIVE);
    uint32_t address[ACTIVE];
    gravel_tree *tree = tree_of(&c, NULL);
    const gravel_forces all = cloud_forces(&c);
    assert_ok(gravel_tree_forces(tree, 0.02, &all));
    for (size_t k = 0; k < ACTIVE; k++)
        address[k] = (uint32_t)(k * 7919 % 5000);
    for (int points = 0; points < 2; points++) {
        const gravel_forces some = cloud_forces(&part);
        if (points) {
            for (size_t k = 0; k < ACTIVE; k++)
                for (int a = 0; a < 3; a++)
                    part.x[a][k] = c.x[a][address[k]];
            const gravel_sinks sinks = {.count = ACTIVE, .pos = GRAVEL_VEC_SOA(part.x[0], part.x[1], part.x[2])};
            assert_ok(gravel_tree_forces_at(tree, &sinks, 0.02, &some));
        } else {
            assert_ok(gravel_tree_forces_active(tree, address, ACTIVE, 0.02, &some));
        }
        for (size_t k = 0; k < ACTIVE; k++) {
            double d2 = 0, s2 = 0;
            const double self = points ? -c.m[0] / 0.02 : 0; /* a point has no id: its body acts on it */
            for (int a = 0; a < 3; a++) {
                const double d = part.a[a][k] - c.a[a][address[k]];
                d2 += d * d;
                s2 += c.a[a][address[k]] * c.a[a][address[k]];
            }
            assert_true(sqrt(d2 / s2) < 5e-3);
            assert_true(fabs((part.pot[k] - self) / c.pot[address[k]] - 1) < 4e-4);
        }
        uint32_t n_cells[ACTIVE], n_bodies[ACTIVE];
        assert_ok(gravel_tree_get_sink_counts(tree, n_cells, n_bodies));
        for (size_t k = 0; k < ACTIVE; k++)
            assert_true(n_bodies[k] > 0 && n_bodies[k] <= 5000);
    }
    address[5] = address[6];
    const gravel_forces some = cloud_forces(&part);
    assert_int_equal(gravel_tree_forces_active(tree, address, ACTIVE, 0.02, &some), GRAVEL_ERR_INPUT);
    gravel_tree_release(tree);
    free(c.m);
    free(part.m);
}

static int nearer_the_centre(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One work-item a group: where few active bodies stand together they share walks, where they stand far apart those that
 * share one do not meet all that is between them. */
static void test_few_active_are_cut_by_place(void **state)
{
    enum { ACTIVE = 200 };
    (void)state;
    cloud c = plummer(20000, 37), part = cloud_new(ACTIVE);
    uint32_t address[ACTIVE];
    gravel_tree *tree = tree_of(&c, NULL);
    const gravel_forces all = cloud_forces(&c), some = cloud_forces(&part);
    gravel_tree_counts whole, every, midst;
    if (tree->plan.part_sinks == 0) {
        gravel_tree_release(tree);
        free(c.m);
        free(part.m);
        skip();
    }
    assert_ok(gravel_tree_forces(tree, 0.02, &all));
    assert_ok(gravel_tree_get_counts(tree, &whole));
    for (uint32_t k = 0; k < ACTIVE; k++)
        address[k] = k * 100;
    assert_ok(gravel_tree_forces_active(tree, address, ACTIVE, 0.02, &some));
    assert_ok(gravel_tree_get_counts(tree, &every));
    double *radius2 = malloc(2 * c.n * sizeof *radius2);
    assert_non_null(radius2);
    for (size_t i = 0; i < c.n; i++)
        radius2[i] = radius2[c.n + i] = c.x[0][i] * c.x[0][i] + c.x[1][i] * c.x[1][i] + c.x[2][i] * c.x[2][i];
    qsort(radius2, c.n, sizeof *radius2, nearer_the_centre);
    uint32_t n = 0;
    for (uint32_t i = 0; i < c.n && n < ACTIVE; i++)
        if (radius2[c.n + i] < radius2[ACTIVE])
            address[n++] = i;
    assert_ok(gravel_tree_forces_active(tree, address, n, 0.02, &some));
    assert_ok(gravel_tree_get_counts(tree, &midst));
    /* 4 groups of 64 each where none is halved, 25 of 8 where all are */
    assert_true(every.groups > 12 && midst.groups < 8);
    /* 3.2 times in parts of 8, 5.4 in those of 16 that vectors of 16 have; 9.6 times in groups of 64 */
    assert_true(every.bodies < (tree->plan.part_sinks > 8 ? 7 : 5) * whole.bodies);
    gravel_tree_release(tree);
    free(radius2);
    free(c.m);
    free(part.m);
}

/* A refitted tree after a small move is as good as a new one. */
static void test_refit(void **state)
{
    (void)state;
    cloud c = plummer(5000, 19);
    gravel_tree *tree = tree_of(&c, NULL);
    gravel_forces forces = cloud_forces(&c);
    assert_ok(gravel_tree_forces(tree, 0.02, &forces));
    uint64_t seed = 23;
    for (size_t i = 0; i < c.n; i++)
        for (int k = 0; k < 3; k++)
            c.x[k][i] += 0.01 * random_unit(&seed);
    const gravel_vec pos = GRAVEL_VEC_SOA(c.x[0], c.x[1], c.x[2]);
    assert_ok(gravel_tree_move(tree, &pos));
    assert_ok(gravel_tree_refit(tree));
    forces = cloud_forces(&c);
    assert_ok(gravel_tree_forces(tree, 0.02, &forces));
    check_errors(&c, 0.02, 2e-4, 1e-3, 4e-4);
    gravel_tree_release(tree);
    free(c.m);
}

/* Accelerations in the planes of other bodies are not those of the last forces: a tree that has had some before opens
 * as many cells as a new one. */
static void test_last_of_other_bodies(void **state)
{
    (void)state;
    cloud c = plummer(5000, 47);
    gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;
    gravel_tree_counts counts[2];
    const gravel_forces forces = cloud_forces(&c);
    options.mac = GRAVEL_TREE_LAST;
    for (int used = 0; used < 2; used++) {
        gravel_tree *tree = tree_of(&c, &options);
        gravel_bodies *others;
        assert_ok(gravel_bodies_create(&others, context, NULL));
        assert_ok(gravel_bodies_write(others, GRAVEL_POSITION, 0, c.n, &GRAVEL_ARRAY_SOA(c.x[0], c.x[1], c.x[2])));
        assert_ok(gravel_bodies_write(others, GRAVEL_MASS, 0, c.n, &GRAVEL_ARRAY(c.m)));
        const gravel_view all = gravel_view_all(others);
        if (used)
            assert_ok(gravel_tree_forces(tree, 0.02, &forces));
        assert_ok(gravel_tree_set_sources(tree, &all));
        assert_ok(gravel_tree_forces(tree, 0.02, &forces));
        assert_ok(gravel_tree_get_counts(tree, &counts[used]));
        gravel_tree_release(tree);
        gravel_bodies_release(others);
    }
    assert_memory_equal(&counts[0], &counts[1], sizeof counts[0]);
    free(c.m);
}

/* The error-based criterion with last accelerations means the same in any unit of mass: squares of 1e20 are no floats.
 */
static void test_last_in_large_units(void **state)
{
    (void)state;
    cloud c = plummer(5000, 47);
    gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;
    gravel_tree_counts counts[2];
    const gravel_forces forces = cloud_forces(&c);
    options.mac = GRAVEL_TREE_LAST;
    for (int large = 0; large < 2; large++) {
        for (size_t k = 0; k < c.n; k++)
            c.m[k] *= large ? 0x1p100 : 1;
        gravel_tree *tree = tree_of(&c, &options);
        for (int turn = 0; turn < 2; turn++) /* the second by the first's accelerations */
            assert_ok(gravel_tree_forces(tree, 0.02, &forces));
        assert_ok(gravel_tree_get_counts(tree, &counts[large]));
        gravel_tree_release(tree);
    }
    assert_memory_equal(&counts[0], &counts[1], sizeof counts[0]);
    free(c.m);
}

/* Bodies that are very near each other, or very light, are bodies. */
static void test_extreme_units(void **state)
{
    (void)state;
    static const double near[2] = {0, 1e-200}, zero[2] = {0, 0}, far[2] = {0, 1}, one[2] = {1, 1},
                        light[2] = {1e-305, 1e-305};
    double pot[2];
    const gravel_forces forces = {.pot = pot};
    gravel_tree *tree;
    assert_ok(gravel_tree_create(&tree, context, NULL));
    const gravel_sources at_one_place = {.count = 2, .mass = one, .pos = {near, zero, zero, 1}};
    assert_ok(gravel_tree_write(tree, &at_one_place));
    assert_ok(gravel_tree_forces(tree, 0.5, &forces));
    assert_true(fabs(pot[0] + 2) < 1e-5); /* 1 / eps; roundings of float */
    const gravel_sources of_nothing = {.count = 2, .mass = light, .pos = {far, zero, zero, 1}};
    assert_ok(gravel_tree_write(tree, &of_nothing));
    assert_ok(gravel_tree_forces(tree, 0.5, &forces));
    gravel_tree_release(tree);
}

static void test_bad_input(void **state)
{
    (void)state;
    gravel_tree *tree = NULL;
    gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;
    options.theta = 0;
    assert_int_equal(gravel_tree_create(&tree, context, &options), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "theta");
    options.theta = 0.5;
    options.configuration = "n_group=100";
    assert_int_equal(gravel_tree_create(&tree, context, &options), GRAVEL_ERR_ARGUMENT);
    options.configuration = "n_groups=64";
    assert_int_equal(gravel_tree_create(&tree, context, &options), GRAVEL_ERR_ARGUMENT);
    options.configuration = NULL;
    options.moments = 3;
    assert_int_equal(gravel_tree_create(&tree, context, &options), GRAVEL_ERR_ARGUMENT);
    options.moments = 2;
    assert_ok(gravel_tree_create(&tree, context, &options));
    cloud c = plummer(100, 31);
    gravel_forces forces = cloud_forces(&c);
    assert_int_equal(gravel_tree_forces(tree, 0.1, &forces), GRAVEL_ERR_STATE);
    c.x[1][42] = NAN;
    gravel_sources sources = cloud_sources(&c);
    assert_int_equal(gravel_tree_write(tree, &sources), GRAVEL_ERR_INPUT);
    assert_contains(gravel_error_message(), "42");
    c.x[1][42] = 0;
    c.m[7] = -1;
    assert_int_equal(gravel_tree_write(tree, &sources), GRAVEL_ERR_INPUT);
    assert_contains(gravel_error_message(), "7");
    c.m[7] = 1;
    sources.count = 0;
    assert_int_equal(gravel_tree_write(tree, &sources), GRAVEL_ERR_INPUT);
    sources.count = 100;
    assert_ok(gravel_tree_write(tree, &sources));
    assert_int_equal(gravel_tree_forces(tree, -1, &forces), GRAVEL_ERR_ARGUMENT);
    /* 1/s^3 underflows in float: forces would be 0 or NaN */
    assert_int_equal(gravel_tree_forces(tree, 1e20, &forces), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "takes up to");
    assert_ok(gravel_tree_forces(tree, 1e9, &forces));
    for (size_t k = 0; k < c.n; k++)
        assert_true(isfinite(c.a[0][k]) && isfinite(c.pot[k]) && c.pot[k] < 0);
    forces.jerk = forces.acc;
    assert_int_equal(gravel_tree_forces(tree, 0.1, &forces), GRAVEL_ERR_UNSUPPORTED);
    gravel_tree_release(tree);
    gravel_tree_release(NULL);
    free(c.m);
}

/* Limits of groups and of work-items are reported with the reason; for a tree that does not fit, the size that
 * would. */
static void test_limits(void **state)
{
    (void)state;
    gravel_tree *tree = NULL;
    gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;
    options.configuration = "n_group=256 threads=256 lanes=1 tile=256 n_leaf=32 stack=4096";
    const gravel_device_info *device = gravel_context_get_device(context, 0);
    if (device->local_memory < 64 * 1024 || device->max_group < 256) {
        assert_int_equal(gravel_tree_create(&tree, context, &options), GRAVEL_ERR_ARGUMENT);
        assert_contains(gravel_error_message(), "local memory");
    }
    options.configuration = NULL;
    assert_ok(gravel_tree_create(&tree, context, &options));
    cloud c = plummer(20000, 41);
    const gravel_sources sources = cloud_sources(&c);
    const uint64_t memory = tree->limits.info.global_memory;
    tree->limits.info.global_memory = 1000000;
    assert_int_equal(gravel_tree_write(tree, &sources), GRAVEL_ERR_DEVICE_MEMORY);
    assert_contains(gravel_error_message(), "would fit");
    tree->limits.info.global_memory = memory;
    assert_ok(gravel_tree_write(tree, &sources));
    tree->limits.info.max_allocation = 1000;
    const gravel_forces forces = cloud_forces(&c);
    assert_int_equal(gravel_tree_forces(tree, 0.01, &forces), GRAVEL_ERR_DEVICE_MEMORY);
    assert_contains(gravel_error_message(), "would fit");
    gravel_tree_release(tree);
    free(c.m);
}

/* At most 200 bytes a body beside bodies and forces.  Buffers of fixed size (counters, first guesses of cells) are
 * some hundred kilobytes: 100000 bodies hide them. */
static void test_memory(void **state)
{
    (void)state;
    cloud c = plummer(100000, 43);
    gravel_tree *tree = tree_of(&c, NULL);
    const gravel_forces forces = cloud_forces(&c);
    assert_ok(gravel_tree_forces(tree, 0.01, &forces));
    assert_true(gravel_tree_get_memory(tree) < 200 * c.n);
    gravel_tree_release(tree);
    free(c.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_active_and_points),
        cmocka_unit_test(test_few_active_are_cut_by_place),
        cmocka_unit_test(test_refit),
        cmocka_unit_test(test_last_of_other_bodies),
        cmocka_unit_test(test_last_in_large_units),
        cmocka_unit_test(test_extreme_units),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
