/* Nobody is active: legal in every call, nothing is computed, nothing is written, and the object goes on working. */
#include "one_context.h"

#include "gravel/direct.h"
#include "gravel/hermite.h"
#include "gravel/tree.h"

enum { N = 5 };
static const double mass[N] = {1, 2, 3, 4, 5};
static const double x[N][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};

/* What must stay as it is. */
static double acc[N][3], pot[N];
static const gravel_forces into = {.acc = GRAVEL_VEC_OUT_AOS(acc), .pot = pot};

static void poison(void)
{
    for (int i = 0; i < N; i++)
        acc[i][0] = pot[i] = -7;
}

static void assert_untouched(void)
{
    for (int i = 0; i < N; i++)
        assert_true(acc[i][0] == -7 && pot[i] == -7);
}

static void assert_computed(void)
{
    assert_true(pot[0] < 0 && pot[N - 1] < 0);
    poison();
}

static gravel_bodies *make_bodies(void)
{
    gravel_bodies *bodies;
    assert_ok(gravel_bodies_create(&bodies, context, NULL));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_AOS(x)));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_VELOCITY, 0, N, &GRAVEL_ARRAY_AOS(x)));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_MASS, 0, N, &GRAVEL_ARRAY(mass)));
    return bodies;
}

/* All ways to say nobody. */
enum { WAYS = 4 };
static const gravel_sinks no_points = {.count = 0};

static gravel_view nobody(int way, gravel_bodies *bodies, const gravel_list *none)
{
    const gravel_view no_view = {.bodies = NULL};
    return way == 0   ? gravel_view_range(bodies, 0, 0)
           : way == 1 ? gravel_view_range(bodies, N, 0)
           : way == 2 ? gravel_view_list(bodies, none)
                      : no_view;
}

static void collect(gravel_ticket *ticket)
{
    size_t overflow = 9;
    assert_ok(gravel_ticket_wait(ticket));
    assert_ok(gravel_ticket_collect(ticket, &into, &overflow));
    assert_int_equal(overflow, 0);
    gravel_ticket_release(ticket);
}

static void test_direct(void **state)
{
    (void)state;
    gravel_bodies *bodies = make_bodies();
    const gravel_sources sources = {.count = N, .mass = mass, .pos = GRAVEL_VEC_AOS(x)};
    gravel_direct *direct;
    gravel_list *none;
    gravel_ticket *ticket;
    poison();
    assert_ok(gravel_list_create(&none, context, 0));
    assert_ok(gravel_list_write(none, NULL, 0));
    assert_ok(gravel_direct_create(&direct, context, NULL));
    for (int way = 0; way < WAYS; way++) {
        gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
        call.sources = gravel_view_all(bodies);
        call.sinks = nobody(way, bodies, none);
        call.points = way == 3 ? &no_points : NULL;
        assert_ok(gravel_direct_start(direct, &call, &ticket));
        collect(ticket);
        assert_untouched();
        if (way < 3) {
            call.into = GRAVEL_INTO_PLANES;
            assert_ok(gravel_direct_start(direct, &call, NULL));
        }
        call.into = GRAVEL_INTO_HOST;
        call.sinks = gravel_view_all(bodies);
        call.points = NULL;
        assert_ok(gravel_direct_start(direct, &call, &ticket));
        collect(ticket);
        assert_computed();
    }
    assert_ok(gravel_direct_write_sources(direct, 0, &sources));
    assert_ok(gravel_direct_submit(direct, &no_points, 0.1));
    assert_ok(gravel_direct_collect(direct, &into, NULL));
    assert_untouched();
    gravel_direct_release(direct);
    gravel_list_release(none);
    gravel_bodies_release(bodies);
}

static void test_tree(void **state)
{
    (void)state;
    gravel_bodies *bodies = make_bodies();
    const gravel_view all = gravel_view_all(bodies);
    gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;
    gravel_groups *groups;
    gravel_tree *tree;
    gravel_list *none;
    gravel_ticket *ticket;
    poison();
    options.precision = GRAVEL_DS;
    assert_ok(gravel_list_create(&none, context, 0));
    assert_ok(gravel_tree_create(&tree, context, &options));
    assert_ok(gravel_tree_set_sources(tree, &all));
    for (int way = 0; way < WAYS; way++) {
        gravel_tree_call call;
        gravel_tree_call_init(&call);
        call.sinks = nobody(way, bodies, none);
        call.points = way == 3 ? &no_points : NULL;
        assert_ok(gravel_tree_prepare(tree, &call, N, 0));
        assert_ok(gravel_tree_walk(tree, &call, &ticket));
        collect(ticket);
        assert_ok(gravel_groups_create(&groups, tree, &call));
        call.groups = groups;
        assert_ok(gravel_tree_walk(tree, &call, &ticket));
        collect(ticket);
        assert_untouched();
        if (way < 3) {
            call.into = GRAVEL_INTO_PLANES;
            assert_ok(gravel_tree_walk(tree, &call, NULL));
        }
        gravel_groups_release(groups);
        assert_ok(gravel_tree_forces(tree, 0.1, &into));
        assert_computed();
    }
    assert_ok(gravel_tree_forces_active(tree, NULL, 0, 0.1, &into));
    assert_ok(gravel_tree_forces_at(tree, &no_points, 0.1, &into));
    assert_untouched();
    gravel_tree_release(tree);
    gravel_list_release(none);
    gravel_bodies_release(bodies);
}

static void test_bodies(void **state)
{
    (void)state;
    gravel_bodies *bodies = make_bodies(), *empty;
    const gravel_array nothing = GRAVEL_ARRAY_SOA((double *)NULL, NULL, NULL);
    const gravel_array_out nowhere = GRAVEL_ARRAY_OUT_SOA((double *)NULL, NULL, NULL);
    const gravel_plane plane = GRAVEL_POSITION;
    gravel_frame frame;
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 2, 0, &nothing));
    assert_ok(gravel_bodies_read(bodies, GRAVEL_POSITION, N, 0, &nowhere));
    assert_ok(gravel_bodies_scatter(bodies, GRAVEL_POSITION, NULL, 0, &nothing));
    assert_ok(gravel_bodies_gather(bodies, GRAVEL_POSITION, NULL, 0, &nowhere));
    assert_ok(gravel_bodies_update(bodies, NULL, 0, 0, 1, &plane, &nothing));
    assert_ok(gravel_bodies_remove(bodies, NULL, 0));
    assert_int_equal(gravel_bodies_get_count(bodies), N);
    assert_ok(gravel_bodies_create(&empty, context, NULL));
    assert_ok(gravel_bodies_fill(empty, GRAVEL_MASS, 1));
    assert_ok(gravel_bodies_advance(empty, 1, 1));
    assert_ok(gravel_bodies_order_by_key(empty));
    assert_ok(gravel_bodies_choose_frame(empty, &frame));
    assert_int_equal(gravel_bodies_get_count(empty), 0);
    gravel_bodies_release(empty);
    gravel_bodies_release(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direct),
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_bodies),
    };

    return cmocka_run_group_tests(tests, open_context, close_context);
}
