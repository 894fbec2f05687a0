/* Calls of the tree in unusual order: groups of a call with a shift, softening lengths that are not there, tickets that
 * are released while their results are on the way; and walks by work-groups on any device. */
#include "host_test.h"

#include <math.h>

#include "gravel/tree.h"

enum { N = 240 };

static gravel_context *context;
static gravel_bodies *bodies;
static gravel_tree *tree;
static double x[N][3], m[N];

/* A grid of 6 x 5 x 8 bodies. */
static int open_tree(void **state)
{
    (void)state;
    if (gravel_context_create(&context, NULL) != GRAVEL_OK)
        return -1;
    context->for_once = 1;
    for (int k = 0; k < N; k++) {
        x[k][0] = 0.3 * (k % 6) + 0.01 * (k % 7);
        x[k][1] = 0.4 * (k / 6 % 5) + 0.02 * (k % 11);
        x[k][2] = 0.2 * (k / 30) + 0.01 * (k % 13);
        m[k] = 1.0 / N;
    }
    assert_ok(gravel_bodies_create(&bodies, context, NULL));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_AOS(x)));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_MASS, 0, N, &GRAVEL_ARRAY(m)));
    const gravel_view all = gravel_view_all(bodies);
    assert_ok(gravel_tree_create(&tree, context, NULL));
    assert_ok(gravel_tree_set_sources(tree, &all));
    return 0;
}

static int close_tree(void **state)
{
    (void)state;
    gravel_tree_release(tree);
    gravel_bodies_release(bodies);
    gravel_context_release(context);
    return 0;
}

static gravel_tree_call call_of(gravel_view sinks)
{
    gravel_tree_call call;
    gravel_tree_call_init(&call);
    call.sinks = sinks;
    call.eps = 0.05;
    return call;
}

static void walk_in(gravel_tree *in, const gravel_tree_call *call, double *pot)
{
    gravel_ticket *ticket;
    gravel_forces forces;
    memset(&forces, 0, sizeof forces);
    forces.pot = pot;
    assert_ok(gravel_tree_walk(in, call, &ticket));
    assert_ok(gravel_ticket_collect(ticket, &forces, NULL));
    gravel_ticket_release(ticket);
}

static void walk(const gravel_tree_call *call, double *pot)
{
    walk_in(tree, call, pot);
}

/* The call that made the groups may be used again with them: its shift counts once. */
static void groups_of_a_shifted_call(void **state)
{
    (void)state;
    double with[N], without[N];
    gravel_groups *groups;
    gravel_tree_call call = call_of(gravel_view_all(bodies));
    call.shift[0] = 2.5;
    call.shift[2] = -0.75;
    walk(&call, without);
    assert_ok(gravel_groups_create(&groups, tree, &call));
    call.groups = groups;
    walk(&call, with);
    gravel_groups_release(groups);
    /* both are within the tree's error, of which test_tree_views has the limit for this theta */
    for (int k = 0; k < N; k++)
        assert_true(fabs(with[k] / without[k] - 1) < 5e-4);
}

static void no_softening_lengths(void **state)
{
    (void)state;
    gravel_ticket *ticket;
    gravel_tree_call call = call_of(gravel_view_all(bodies));
    for (int kind = GRAVEL_SOFTEN_SINKS; kind <= GRAVEL_SOFTEN_MAX; kind++) {
        call.soften = (gravel_soften)kind;
        assert_int_equal(gravel_tree_walk(tree, &call, &ticket), GRAVEL_ERR_ARGUMENT);
        assert_contains(gravel_error_message(), "write the plane GRAVEL_SOFTENING");
        assert_null(ticket);
    }
}

/* The host memory of a ticket is used again, or freed, when its transfer has ended: the address sanitizer sees it. */
static void released_on_the_way(void **state)
{
    (void)state;
    double pot[N], again[N];
    gravel_ticket *ticket;
    const gravel_tree_call few = call_of(gravel_view_range(bodies, 0, 3)), all = call_of(gravel_view_all(bodies));
    walk(&all, pot);
    for (int k = 0; k < 8; k++) {
        assert_ok(gravel_tree_walk(tree, k % 2 ? &all : &few, &ticket));
        gravel_ticket_release(ticket);
    }
    walk(&all, again);
    assert_memory_equal(pot, again, sizeof pot);
    assert_ok(gravel_tree_walk(tree, &all, &ticket)); /* released with the tree */
}

/* CPUs walk by single work-items; by work-groups they get the same forces, also from a leaf with more bodies than the
 * lists take, which is another path through the barriers. */
static void by_work_groups(void **state)
{
    (void)state;
    enum { MANY = 60, FEW = 20 };
    double pot[N + MANY], few[FEW], sum[N + MANY], masses[N + MANY], place[N + MANY][3];
    for (int k = 0; k < N + MANY; k++) {
        masses[k] = 1.0 / (N + MANY);
        for (int c = 0; c < 3; c++)
            place[k][c] = k < N ? x[k][c] : 0.5;
    }
    gravel_bodies *clump;
    gravel_tree *grouped;
    gravel_tree_options options;
    gravel_tree_options_init(&options);
    options.configuration = "threads=32 n_group=32 n_leaf=16 split=1 tile=32 lanes=1 rsqrt=2";
    assert_ok(gravel_bodies_create(&clump, context, NULL));
    assert_ok(gravel_bodies_write(clump, GRAVEL_POSITION, 0, N + MANY, &GRAVEL_ARRAY_AOS(place)));
    assert_ok(gravel_bodies_write(clump, GRAVEL_MASS, 0, N + MANY, &GRAVEL_ARRAY(masses)));
    const gravel_view all = gravel_view_all(clump);
    const gravel_tree_call call = call_of(all);
    assert_ok(gravel_tree_create(&grouped, context, &options));
    assert_ok(gravel_tree_set_sources(grouped, &all));
    walk_in(grouped, &call, pot);
    const gravel_tree_call of_few = call_of(gravel_view_range(clump, 0, FEW)); /* more work-items a sink */
    walk_in(grouped, &of_few, few);
    gravel_tree_release(grouped);
    gravel_bodies_release(clump);
    for (int k = 0; k < N + MANY; k++) {
        sum[k] = 0;
        for (int j = 0; j < N + MANY; j++) {
            const double d[3] = {place[j][0] - place[k][0], place[j][1] - place[k][1], place[j][2] - place[k][2]};
            sum[k] -= j == k ? 0 : masses[j] / sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.05 * 0.05);
        }
        /* the tree's error, as above */
        assert_true(fabs(pot[k] / sum[k] - 1) < 5e-4);
        assert_true(k >= FEW || fabs(few[k] / sum[k] - 1) < 5e-4);
    }
}

/* There are counts of one walk, while what it used is there. */
static void assert_no_counts(gravel_tree *of)
{
    gravel_tree_counts counts;
    uint32_t each[N];
    assert_int_equal(gravel_tree_get_counts(of, &counts), GRAVEL_ERR_STATE);
    assert_int_equal(gravel_tree_get_sink_counts(of, each, NULL), GRAVEL_ERR_STATE);
}

static void assert_counts(gravel_tree *of)
{
    gravel_tree_counts counts;
    uint32_t each[N];
    assert_ok(gravel_tree_get_counts(of, &counts));
    assert_true(counts.groups > 0 && counts.bodies > 0);
    assert_ok(gravel_tree_get_sink_counts(of, NULL, each));
    for (int k = 0; k < N; k++)
        assert_true(each[k] > 0 && each[k] <= N);
}

static void counts_of_groups(void **state)
{
    (void)state;
    double pot[N];
    const gravel_view all = gravel_view_all(bodies);
    gravel_groups *groups;
    gravel_tree *other;
    gravel_tree_call call = call_of(all);
    assert_ok(gravel_tree_create(&other, context, NULL));
    assert_ok(gravel_tree_set_sources(other, &all));
    assert_ok(gravel_groups_create(&groups, tree, &call));
    call.groups = groups;
    walk_in(tree, &call, pot);
    assert_counts(tree);
    walk_in(other, &call, pot); /* the same groups now have other counts */
    assert_counts(other);
    assert_no_counts(tree);
    walk_in(tree, &call, pot);
    assert_counts(tree);
    assert_no_counts(other);
    gravel_groups_release(groups);
    assert_no_counts(tree);
    call = call_of(all);
    walk_in(tree, &call, pot);
    assert_counts(tree);
    assert_ok(gravel_groups_create(&groups, tree, &call));
    call.groups = groups;
    walk_in(other, &call, pot);
    gravel_tree_release(other); /* the groups outlive it */
    gravel_groups_release(groups);
    assert_counts(tree);
}

/* Groups are of the sinks that a list had when they were made. */
static void groups_of_a_list_that_is_written(void **state)
{
    (void)state;
    static uint32_t some[100], others[100];
    double pot[100];
    gravel_list *list;
    for (uint32_t k = 0; k < 100; k++) {
        some[k] = k;
        others[k] = k + 100;
    }
    assert_ok(gravel_list_create(&list, context, 0));
    assert_ok(gravel_list_write(list, some, 100));
    gravel_tree_call call = call_of(gravel_view_list(bodies, list));
    assert_ok(gravel_groups_create(&call.groups, tree, &call));
    walk(&call, pot);
    assert_ok(gravel_list_write(list, others, 100));
    call.into = GRAVEL_INTO_PLANES;
    assert_int_equal(gravel_tree_walk(tree, &call, NULL), GRAVEL_ERR_STATE);
    assert_contains(gravel_error_message(), "list");
    gravel_groups_release(call.groups);
    gravel_list_release(list);
}

/* Groups of few sinks that are walked by work-groups have no program in a tree that walks with single work-items. */
static void groups_of_another_walk(void **state)
{
    (void)state;
    static const char *const text[2] = {"threads=32 n_group=32 n_leaf=16 split=1 tile=32 lanes=1 rsqrt=2",
                                        "threads=1 n_group=32 n_leaf=16 split=1 tile=32 lanes=1 rsqrt=2"};
    const gravel_view all = gravel_view_all(bodies);
    gravel_tree *of[2];
    gravel_tree_call call = call_of(gravel_view_range(bodies, 0, 20));
    for (int k = 0; k < 2; k++) {
        gravel_tree_options options;
        gravel_tree_options_init(&options);
        options.configuration = text[k];
        assert_ok(gravel_tree_create(&of[k], context, &options));
        assert_ok(gravel_tree_set_sources(of[k], &all));
    }
    assert_ok(gravel_groups_create(&call.groups, of[0], &call));
    gravel_ticket *ticket;
    assert_int_equal(gravel_tree_walk(of[1], &call, &ticket), GRAVEL_ERR_ARGUMENT);
    gravel_groups_release(call.groups);
    gravel_tree_release(of[0]);
    gravel_tree_release(of[1]);
}

/* Groups of points have no planes, as points themselves have none. */
static void planes_of_points(void **state)
{
    (void)state;
    double pot[N];
    const gravel_sinks points = {.count = N, .pos = GRAVEL_VEC_AOS(x)};
    gravel_tree_call call = call_of((gravel_view){.bodies = NULL});
    call.points = &points;
    assert_ok(gravel_groups_create(&call.groups, tree, &call));
    call.into = GRAVEL_INTO_PLANES;
    assert_int_equal(gravel_tree_walk(tree, &call, NULL), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "points, which have no planes");
    call.into = GRAVEL_INTO_HOST;
    walk(&call, pot);
    gravel_groups_release(call.groups);
}

/* Sinks at one place far from all sources: their expansion has a unit for which the distance is no overflow, also where
 * the group was made near the sources and is far away only by the call's shift. */
static void points_far_away(void **state)
{
    (void)state;
    enum { PLACES = 4, POINTS = 3 };
    static const double away[PLACES] = {1e4, 1e8, 1e10, 1e12};
    for (int k = 0; k < PLACES * 2 * 2; k++) {
        const double distance = away[k % PLACES];
        const int is_shifted = k / PLACES % 2;
        double pot[POINTS], acc[POINTS][3], at[POINTS][3] = {{0}};
        for (int s = 0; s < POINTS; s++)
            at[s][0] = is_shifted ? 0 : distance;
        const gravel_sinks points = {.count = POINTS, .pos = GRAVEL_VEC_AOS(at)};
        const gravel_forces forces = {.acc = GRAVEL_VEC_OUT_AOS(acc), .pot = pot};
        gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;
        gravel_tree_call call = call_of((gravel_view){.bodies = NULL});
        const gravel_view all = gravel_view_all(bodies);
        gravel_tree *of;
        gravel_ticket *ticket;
        options.precision = k / PLACES / 2 ? GRAVEL_DS : GRAVEL_SP;
        assert_ok(gravel_tree_create(&of, context, &options));
        assert_ok(gravel_tree_set_sources(of, &all));
        call.points = &points;
        if (is_shifted) {
            assert_ok(gravel_groups_create(&call.groups, of, &call));
            call.shift[0] = distance;
        }
        assert_ok(gravel_tree_walk(of, &call, &ticket));
        assert_ok(gravel_ticket_collect(ticket, &forces, NULL));
        gravel_ticket_release(ticket);
        /* all sources within 2.5 of the origin: 2.5e-4 of the nearest distance, twice that for the force */
        for (int s = 0; s < POINTS; s++) {
            assert_true(fabs(pot[s] * distance + 1) < 3e-4);
            assert_true(fabs(acc[s][0] * distance * distance - (is_shifted ? 1 : -1)) < 6e-4);
            assert_true(hypot(acc[s][1], acc[s][2]) < 6e-4 / distance / distance);
        }
        gravel_groups_release(call.groups);
        gravel_tree_release(of);
    }
}

static void counts_of_another_build(void **state)
{
    (void)state;
    enum { FEWER = N / 4 };
    double pot[N];
    size_t cells;
    gravel_bodies *growing;
    gravel_tree *over;
    assert_ok(gravel_bodies_create(&growing, context, NULL));
    assert_ok(gravel_bodies_write(growing, GRAVEL_POSITION, 0, FEWER, &GRAVEL_ARRAY_AOS(x)));
    assert_ok(gravel_bodies_write(growing, GRAVEL_MASS, 0, FEWER, &GRAVEL_ARRAY(m)));
    const gravel_view all = gravel_view_all(growing);
    const gravel_tree_call call = call_of(all);
    assert_ok(gravel_tree_create(&over, context, NULL));
    assert_ok(gravel_tree_set_sources(over, &all));
    walk_in(over, &call, pot);
    assert_ok(gravel_bodies_write(growing, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_AOS(x)));
    assert_ok(gravel_bodies_write(growing, GRAVEL_MASS, 0, N, &GRAVEL_ARRAY(m)));
    assert_ok(gravel_tree_get_cell_count(over, &cells)); /* builds the tree of all bodies */
    assert_no_counts(over);
    walk_in(over, &call, pot);
    assert_counts(over);
    assert_ok(gravel_tree_build(over));
    assert_no_counts(over);
    gravel_tree_release(over);
    gravel_bodies_release(growing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_of_a_shifted_call), cmocka_unit_test(no_softening_lengths),
        cmocka_unit_test(released_on_the_way),      cmocka_unit_test(by_work_groups),
        cmocka_unit_test(counts_of_groups),         cmocka_unit_test(counts_of_another_build),
        cmocka_unit_test(planes_of_points),         cmocka_unit_test(groups_of_a_list_that_is_written),
        cmocka_unit_test(groups_of_another_walk),   cmocka_unit_test(points_far_away),
    };
    return cmocka_run_group_tests(tests, open_tree, close_tree);
}
