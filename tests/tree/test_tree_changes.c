/* The tree over bodies on the device: when it builds anew, what is kept, what its cells hold. */
#include "tree_views.h"

/* Four calls in flight, collected in another order than they were submitted. */
static void test_tickets(void **state)
{
    (void)state;
    enum { CALLS = 5 };
    cloud *c = make_cloud(N, 21, 0, 1), *out = calloc(1, sizeof *out);
    gravel_bodies *bodies = make_bodies(c, GRAVEL_SP);
    const gravel_view all = gravel_view_all(bodies);
    gravel_tree *tree = make_tree(GRAVEL_SP, &all, THETA);
    gravel_ticket *ticket[CALLS];
    static const int order[CALLS] = {3, 0, 4, 1, 2};
    gravel_tree_call call;
    assert_non_null(out);
    gravel_tree_call_init(&call);
    call.eps = 0.02;
    for (size_t k = 0; k < CALLS; k++) {
        call.sinks = gravel_view_range(bodies, 200 * k, 100 + 100 * k);
        assert_ok(gravel_tree_walk(tree, &call, &ticket[k]));
    }
    for (int k = 0; k < CALLS; k++) {
        const size_t t = (size_t)order[k];
        int ready;
        assert_ok(gravel_ticket_wait(ticket[t]));
        assert_ok(gravel_ticket_get_ready(ticket[t], &ready));
        assert_int_equal(ready, 1);
        collect(ticket[t], out);
        check_all(c, out, NULL, 200 * t, 100 + 100 * t, GRAVEL_SOFTEN_EPS, 0.02, "ticket");
    }
    call.into = GRAVEL_INTO_PLANES;
    assert_ok(gravel_tree_walk(tree, &call, &ticket[0]));
    const gravel_forces forces = {.pot = out->a[3]};
    assert_int_equal(gravel_ticket_collect(ticket[0], &forces, NULL), GRAVEL_ERR_ARGUMENT);
    gravel_ticket_release(ticket[0]);
    gravel_tree_release(tree);
    gravel_bodies_release(bodies);
    free(out);
    free(c);
}

/* Moved sources: by default built anew, on request refitted or left as they were. */
static void test_moved(void **state)
{
    (void)state;
    cloud *c = make_cloud(N, 23, 0, 1), *before = calloc(1, sizeof *before), *out = calloc(1, sizeof *out);
    gravel_bodies *bodies = make_bodies(c, GRAVEL_SP);
    const gravel_view all = gravel_view_all(bodies);
    gravel_tree *tree = make_tree(GRAVEL_SP, &all, THETA);
    uint32_t order[N], again[N];
    gravel_tree_call call = call_on(all);
    assert_true(before && out);
    walk(tree, &call, before);
    assert_ok(gravel_tree_read_order(tree, order));
    for (size_t i = 0; i < N; i++)
        c->x[0][i] += 0.05 * c->x[1][i];
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_SOA(c->x[0], c->x[1], c->x[2])));
    call.moved = GRAVEL_TREE_AS_IS;
    walk(tree, &call, out);
    assert_memory_equal(out->a, before->a, sizeof out->a);
    call.moved = GRAVEL_TREE_REFIT;
    walk(tree, &call, out);
    check_all(c, out, NULL, 0, N, GRAVEL_SOFTEN_EPS, 0.02, "refitted");
    assert_ok(gravel_tree_read_order(tree, again));
    assert_memory_equal(order, again, sizeof order);
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_SOA(c->x[1], c->x[2], c->x[0])));
    call.moved = GRAVEL_TREE_REBUILD;
    walk(tree, &call, out);
    assert_ok(gravel_tree_read_order(tree, again));
    assert_memory_not_equal(order, again, sizeof order);
    gravel_tree_release(tree);
    gravel_bodies_release(bodies);
    free(out);
    free(before);
    free(c);
}

/* Bodies are added and removed, a call fails, and the tree goes on. */
static void test_growth(void **state)
{
    (void)state;
    cloud *c = make_cloud(N, 25, 0, 1), *out = calloc(1, sizeof *out);
    gravel_bodies *bodies = make_bodies(c, GRAVEL_DS);
    const gravel_view all = gravel_view_all(bodies);
    gravel_tree *tree = make_tree(GRAVEL_SP, &all, THETA);
    gravel_ticket *ticket;
    gravel_tree_call call = call_on(all);
    assert_non_null(out);
    walk(tree, &call, out);
    cloud *more = make_cloud(MOST, 27, 0, 1);
    assert_ok(
        gravel_bodies_write(bodies, GRAVEL_POSITION, 0, MOST, &GRAVEL_ARRAY_SOA(more->x[0], more->x[1], more->x[2])));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_MASS, 0, MOST, &GRAVEL_ARRAY(more->m)));
    walk(tree, &call, out);
    check_all(more, out, NULL, 0, MOST, GRAVEL_SOFTEN_EPS, 0.02, "more bodies");
    call.eps = -1;
    assert_int_equal(gravel_tree_walk(tree, &call, &ticket), GRAVEL_ERR_ARGUMENT);
    assert_null(ticket);
    call.eps = 0.02;
    call.sinks = gravel_view_range(bodies, 10, MOST);
    assert_int_equal(gravel_tree_walk(tree, &call, &ticket), GRAVEL_ERR_ARGUMENT); /* beyond the last body */
    call.sinks = all;
    uint32_t gone[MOST - N];
    for (uint32_t k = 0; k < MOST - N; k++)
        gone[k] = N + k;
    assert_ok(gravel_bodies_remove(bodies, gone, MOST - N));
    more->n = N;
    walk(tree, &call, out);
    check_all(more, out, NULL, 0, N, GRAVEL_SOFTEN_EPS, 0.02, "fewer bodies");
    gravel_tree_release(tree);
    gravel_bodies_release(bodies);
    free(more);
    free(out);
    free(c);
}

/* Clumps of one body more than a leaf has make a chain of cells each: far more than in the build before.  Results in
 * planes are then incomplete, which the next walk says, also where that builds the tree anew. */
static void test_cells_that_do_not_fit(void **state)
{
    (void)state;
    enum { MANY = 40000, CLUMP = 17 };
    static double x[MANY][3], m[MANY];
    gravel_bodies *bodies;
    gravel_tree *tree;
    gravel_tree_options options;
    gravel_tree_options_init(&options);
    options.configuration = "n_leaf=16";
    for (int k = 0; k < MANY; k++) {
        m[k] = 1.0 / MANY;
        for (int c = 0; c < 3; c++)
            x[k][c] = fmod(k * (0.754877666 + 0.11 * c), 1);
    }
    assert_ok(gravel_bodies_create(&bodies, context, NULL));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, MANY, &GRAVEL_ARRAY_AOS(x)));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_MASS, 0, MANY, &GRAVEL_ARRAY(m)));
    const gravel_view all = gravel_view_all(bodies);
    assert_ok(gravel_tree_create(&tree, context, &options));
    assert_ok(gravel_tree_set_sources(tree, &all));
    gravel_tree_call call = call_on(all);
    call.into = GRAVEL_INTO_PLANES;
    assert_ok(gravel_tree_walk(tree, &call, NULL));
    for (int k = 0; k < MANY; k++) /* nearer to the clump's middle than the finest cells are wide, but for one body */
        for (int c = 0; c < 3; c++)
            x[k][c] = fmod(k / CLUMP * (0.754877666 + 0.11 * c), 1) + (k % CLUMP == 0 ? 3e-6 : 0);
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, MANY, &GRAVEL_ARRAY_AOS(x)));
    assert_ok(gravel_tree_walk(tree, &call, NULL));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, MANY, &GRAVEL_ARRAY_AOS(x)));
    assert_int_equal(gravel_tree_walk(tree, &call, NULL), GRAVEL_ERR_STATE);
    assert_contains(gravel_error_message(), "repeat that step");
    assert_ok(gravel_tree_walk(tree, &call, NULL));
    assert_ok(gravel_tree_walk(tree, &call, NULL)); /* the room is there now */
    gravel_tree_release(tree);
    gravel_bodies_release(bodies);
}

/* After gravel_tree_prepare nothing is compiled or allocated: the same kernels, buffers and bytes. */
static void test_prepare(void **state)
{
    (void)state;
    cloud *c = make_cloud(N, 33, 0, 1), *out = calloc(1, sizeof *out);
    gravel_bodies *bodies = make_bodies(c, GRAVEL_DS);
    const gravel_view all = gravel_view_all(bodies);
    assert_non_null(out);
    assert_ok(gravel_bodies_write(bodies, GRAVEL_SOFTENING, 0, N, &GRAVEL_ARRAY(c->soft)));
    for (int few = 0; few < 2; few++) {
        gravel_tree *tree = make_tree(GRAVEL_SP, &all, THETA);
        cl_kernel kernels[GV_TK_COUNT];
        gv_buffer buffers[GV_TB_COUNT];
        gravel_tree_call call;
        gravel_tree_call_init(&call);
        call.sinks = few ? gravel_view_range(bodies, 0, 100) : all;
        call.eps = 0.02;
        assert_ok(gravel_tree_prepare(tree, &call, N, few ? 100 : N));
        memcpy(kernels, tree->kernel, sizeof kernels);
        memcpy(buffers, tree->buffer, sizeof buffers);
        walk(tree, &call, out);
        check_all(c, out, NULL, 0, few ? 100 : N, GRAVEL_SOFTEN_EPS, 0.02, "prepared");
        assert_memory_equal(kernels, tree->kernel, sizeof kernels);
        for (int k = 0; k < GV_TB_COUNT; k++)
            if (k != GV_TB_INVERSE && k != GV_TB_BOUNDS && k != GV_TB_BOUNDS_PART)
                assert_ptr_equal(buffers[k].mem, tree->buffer[k].mem);
        gravel_tree_release(tree);
    }
    gravel_bodies_release(bodies);
    free(out);
    free(c);
}

/* Prepared for more while it is in use: buffers that grew are empty, so the tree is built anew, and the counts of the
 * walk before are gone.  Without more sources its cells are kept. */
static void test_prepare_in_use(void **state)
{
    (void)state;
    cloud *c = make_cloud(N, 37, 0, 1), *out = calloc(1, sizeof *out);
    gravel_bodies *bodies = make_bodies(c, GRAVEL_SP);
    const gravel_view all = gravel_view_all(bodies);
    gravel_tree *tree = make_tree(GRAVEL_SP, &all, THETA);
    gravel_tree_counts counts;
    gravel_tree_call call = call_on(all);
    assert_non_null(out);
    walk(tree, &call, out);
    assert_ok(gravel_tree_prepare(tree, &call, N, N));
    walk(tree, &call, out);
    const uint64_t build = tree->build;
    assert_ok(gravel_tree_prepare(tree, &call, N, N)); /* all is there */
    assert_ok(gravel_tree_get_counts(tree, &counts));
    assert_ok(gravel_tree_prepare(tree, &call, N, 20 * N));
    assert_int_equal(gravel_tree_get_counts(tree, &counts), GRAVEL_ERR_STATE);
    walk(tree, &call, out);
    check_all(c, out, NULL, 0, N, GRAVEL_SOFTEN_EPS, 0.02, "prepared for more sinks");
    assert_int_equal(tree->build, build);
    assert_ok(gravel_tree_prepare(tree, &call, 20 * N, N));
    assert_int_equal(gravel_tree_get_counts(tree, &counts), GRAVEL_ERR_STATE);
    walk(tree, &call, out);
    check_all(c, out, NULL, 0, N, GRAVEL_SOFTEN_EPS, 0.02, "prepared for more sources");
    gravel_tree_release(tree);
    gravel_bodies_release(bodies);
    free(out);
    free(c);
}

/* Kick and drift on the device, in every precision: steps of known accelerations.  sp: three roundings of numbers of
 * about 2 in a frame of 2; ds: 2^-45 of that. */
static void test_advance(void **state)
{
    (void)state;
    static const double limit[] = {1e-6, 1e-12, 1e-14};
    cloud *c = make_cloud(100, 35, 0, 1), *out = calloc(1, sizeof *out);
    assert_non_null(out);
    for (int precision = GRAVEL_SP; precision <= (has_double() ? GRAVEL_DP : GRAVEL_DS); precision++) {
        gravel_bodies *bodies = make_bodies(c, (gravel_precision)precision);
        const gravel_array vector = GRAVEL_ARRAY_SOA(c->x[1], c->x[2], c->x[0]);
        double acc[3][100];
        assert_ok(gravel_bodies_write(bodies, GRAVEL_VELOCITY, 0, 100, &vector));
        assert_ok(gravel_bodies_write(bodies, GRAVEL_ACCELERATION, 0, 100, &vector));
        assert_ok(
            gravel_bodies_read(bodies, GRAVEL_ACCELERATION, 0, 100, &GRAVEL_ARRAY_OUT_SOA(acc[0], acc[1], acc[2])));
        assert_ok(gravel_bodies_advance(bodies, 0.1, 0.2));
        assert_ok(gravel_bodies_advance(bodies, 0, 0.3));
        assert_ok(gravel_bodies_advance(bodies, 0.7, 0));
        assert_ok(gravel_bodies_read(bodies, GRAVEL_POSITION, 0, 100,
                                     &GRAVEL_ARRAY_OUT_SOA(out->x[0], out->x[1], out->x[2])));
        assert_ok(gravel_bodies_read(bodies, GRAVEL_VELOCITY, 0, 100,
                                     &GRAVEL_ARRAY_OUT_SOA(out->a[0], out->a[1], out->a[2])));
        for (int k = 0; k < 3; k++)
            for (size_t i = 0; i < 100; i++) {
                const double v = c->x[(k + 1) % 3][i], a = acc[k][i];
                const double dx = out->x[k][i] - (c->x[k][i] + 0.5 * (v + 0.1 * a)), dv = out->a[k][i] - (v + 0.8 * a);
                if (!(fabs(dx) <= limit[precision]) || !(fabs(dv) <= limit[precision]))
                    fail_msg("precision %d, body %zu: position off by %g, velocity by %g", precision, i, dx, dv);
            }
        gravel_bodies_release(bodies);
    }
    free(out);
    free(c);
}

/* Cells hold what is inside them: mass and number of bodies add up, every body is in one leaf. */
static void test_cells(void **state)
{
    (void)state;
    cloud *c = make_cloud(N, 29, 5, 2);
    size_t n_cells;
    uint32_t order[N];
    int seen[N] = {0};
    for (int precision = GRAVEL_SP; precision <= (has_double() ? GRAVEL_DP : GRAVEL_DS); precision++) {
        gravel_bodies *bodies = make_bodies(c, (gravel_precision)precision);
        const gravel_view all = gravel_view_all(bodies);
        gravel_tree *tree = make_tree((gravel_precision)precision, &all, THETA);
        assert_ok(gravel_tree_get_cell_count(tree, &n_cells));
        gravel_cell *cell = malloc(n_cells * sizeof *cell);
        assert_non_null(cell);
        assert_ok(gravel_tree_read_cells(tree, 0, n_cells, cell));
        assert_ok(gravel_tree_read_order(tree, order));
        for (size_t k = 0; k < n_cells; k++) {
            double inside = 0, x = 0;
            size_t count = 0;
            for (uint32_t j = cell[k].first; j < cell[k].first + cell[k].count; j++) {
                inside += cell[k].leaf ? c->m[order[j]] : cell[j].mass;
                x += cell[k].leaf ? c->m[order[j]] * c->x[0][order[j]] : cell[j].mass * cell[j].centre[0];
                count += cell[k].leaf ? 1 : cell[j].bodies;
                if (cell[k].leaf)
                    seen[order[j]]++;
            }
            assert_int_equal(cell[k].bodies, count);
            /* sums of up to 24 floats, relative to a mass of the frame */
            assert_float_equal(cell[k].mass, inside, 1e-5 * inside);
            assert_float_equal(cell[k].centre[0], x / inside, 1e-5 * 8);
        }
        assert_int_equal(cell[0].bodies, N);
        free(cell);
        gravel_tree_release(tree);
        gravel_bodies_release(bodies);
        for (size_t i = 0; i < N; i++)
            assert_int_equal(seen[i], precision + 1);
    }
    free(c);
}

/* The old calls on host arrays and walks over bodies in the same frame give the same bits. */
static void test_same_bits(void **state)
{
    (void)state;
    cloud *c = make_cloud(N, 31, 1, 2), *old = calloc(1, sizeof *old), *out = calloc(1, sizeof *out);
    gravel_tree *tree;
    const gravel_sources sources = {.count = N, .mass = c->m, .pos = GRAVEL_VEC_SOA(c->x[0], c->x[1], c->x[2])};
    gravel_frame frame;
    assert_true(old && out);
    assert_ok(gravel_tree_create(&tree, context, NULL));
    assert_ok(gravel_tree_write(tree, &sources));
    const gravel_forces forces = {.acc = GRAVEL_VEC_OUT_SOA(old->a[0], old->a[1], old->a[2]), .pot = old->a[3]};
    assert_ok(gravel_tree_forces(tree, 0.02, &forces));
    assert_ok(gravel_bodies_get_frame(tree->own, &frame));
    gravel_tree_release(tree);
    for (int stored = GRAVEL_SP; stored <= GRAVEL_DS; stored++) {
        gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
        gravel_bodies *bodies;
        gravel_tree_call call;
        options.precision = (gravel_precision)stored;
        assert_ok(gravel_bodies_create(&bodies, context, &options));
        assert_ok(gravel_bodies_set_frame(bodies, &frame));
        assert_ok(gravel_bodies_write(bodies, GRAVEL_MASS, 0, N, &GRAVEL_ARRAY(c->m)));
        assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_SOA(c->x[0], c->x[1], c->x[2])));
        const gravel_view all = gravel_view_all(bodies);
        tree = make_tree(GRAVEL_SP, &all, 0.5);
        gravel_tree_call_init(&call);
        call.sinks = all;
        call.eps = 0.02;
        walk(tree, &call, out);
        for (int k = 0; k < 4; k++)
            assert_memory_equal(out->a[k], old->a[k], N * sizeof(double));
        gravel_tree_release(tree);
        gravel_bodies_release(bodies);
    }
    free(out);
    free(old);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tickets),        cmocka_unit_test(test_moved),
        cmocka_unit_test(test_growth),         cmocka_unit_test(test_cells_that_do_not_fit),
        cmocka_unit_test(test_prepare),        cmocka_unit_test(test_advance),
        cmocka_unit_test(test_cells),          cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_prepare_in_use),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
