/* The tree over bodies on the device: views as sources and sinks, frames, groups that walk through several trees,
 * softening by body, tickets, and when it builds anew. */
#include "tree_views.h"

/* All, a range, a list of the sources' bodies, from planes of every precision by trees of every precision.  The box is
 * far off and large: frames are used. */
static void test_views(void **state)
{
    (void)state;
    cloud *c = make_cloud(N, 3, 1e4, 500), *out = calloc(1, sizeof *out);
    uint32_t address[300];
    gravel_list *list;
    assert_non_null(out);
    assert_ok(gravel_list_create(&list, context, 0));
    for (uint32_t k = 0; k < 300; k++)
        address[k] = k * 1237 % N;
    assert_ok(gravel_list_write(list, address, 300));
    for (int stored = GRAVEL_SP; stored <= GRAVEL_DP; stored++)
        for (int precision = GRAVEL_SP; precision <= GRAVEL_DP; precision++) {
            if (!has_double() && (stored == GRAVEL_DP || precision == GRAVEL_DP))
                continue;
            gravel_bodies *bodies = make_bodies(c, (gravel_precision)stored);
            const gravel_view all = gravel_view_all(bodies);
            gravel_tree *tree = make_tree((gravel_precision)precision, &all, THETA);
            gravel_tree_call call;
            gravel_tree_call_init(&call);
            call.eps = 5;
            call.sinks = all;
            walk(tree, &call, out);
            check_all(c, out, NULL, 0, N, GRAVEL_SOFTEN_EPS, 5, "all");
            call.sinks = gravel_view_range(bodies, 400, 700);
            walk(tree, &call, out);
            check_all(c, out, NULL, 400, 700, GRAVEL_SOFTEN_EPS, 5, "range");
            call.sinks = gravel_view_list(bodies, list);
            walk(tree, &call, out);
            check_all(c, out, address, 0, 300, GRAVEL_SOFTEN_EPS, 5, "list");
            gravel_tree_release(tree);
            gravel_bodies_release(bodies);
        }
    gravel_list_release(list);
    free(out);
    free(c);
}

/* Sources that are a part of the bodies: sinks among them do not act on themselves, all of them act on others. */
static void test_partial_sources(void **state)
{
    (void)state;
    cloud *c = make_cloud(N, 5, 0, 1), *out = calloc(1, sizeof *out);
    gravel_bodies *bodies = make_bodies(c, GRAVEL_DS);
    uint32_t address[600];
    gravel_list *list;
    assert_non_null(out);
    assert_ok(gravel_list_create(&list, context, 0));
    for (uint32_t k = 0; k < 600; k++)
        address[k] = 300 + (k * 7) % 600;
    assert_ok(gravel_list_write(list, address, 600));
    const gravel_view range = gravel_view_range(bodies, 300, 600), listed = gravel_view_list(bodies, list);
    for (int by_list = 0; by_list < 2; by_list++) {
        gravel_tree *tree = make_tree(GRAVEL_SP, by_list ? &listed : &range, THETA);
        gravel_tree_call call;
        gravel_tree_call_init(&call);
        call.eps = 0.02;
        call.sinks = gravel_view_all(bodies);
        walk(tree, &call, out);
        for (size_t i = 0; i < N; i += 11) {
            const double f[4] = {out->a[0][i], out->a[1][i], out->a[2][i], out->a[3][i]};
            double wanted[4];
            exact(c, 300, 600, nowhere, c, i, i, GRAVEL_SOFTEN_EPS, 0.02, wanted);
            check(f, wanted, worst, by_list ? "list of sources" : "range of sources", i);
        }
        gravel_tree_release(tree);
    }
    gravel_list_release(list);
    gravel_bodies_release(bodies);
    free(out);
    free(c);
}

/* Sinks that are other bodies, in a frame of their own, and points; sources where they are and displaced. */
static void test_others_and_shift(void **state)
{
    (void)state;
    cloud *c = make_cloud(N, 7, 3, 1), *d = make_cloud(600, 9, 2.5, 40), *out = calloc(1, sizeof *out);
    gravel_bodies *sources = make_bodies(c, GRAVEL_SP), *sinks = make_bodies(d, GRAVEL_DS);
    const gravel_view all = gravel_view_all(sources);
    assert_non_null(out);
    for (int precision = GRAVEL_SP; precision <= GRAVEL_DS; precision++) {
        gravel_tree *tree = make_tree((gravel_precision)precision, &all, THETA);
        for (int points = 0; points < 2; points++)
            for (int shifted = 0; shifted < 2; shifted++) {
                const gravel_sinks at = {.count = d->n, .pos = GRAVEL_VEC_SOA(d->x[0], d->x[1], d->x[2])};
                gravel_tree_call call;
                gravel_tree_call_init(&call);
                call.eps = 0.02;
                for (int k = 0; k < 3 && shifted; k++)
                    call.shift[k] = 0.7 * (k + 1);
                if (points)
                    call.points = &at;
                else
                    call.sinks = gravel_view_all(sinks);
                walk(tree, &call, out);
                for (size_t i = 0; i < d->n; i += 7) {
                    const double f[4] = {out->a[0][i], out->a[1][i], out->a[2][i], out->a[3][i]};
                    double wanted[4];
                    exact(c, 0, N, call.shift, d, i, N, GRAVEL_SOFTEN_EPS, 0.02, wanted);
                    check(f, wanted, worst, points ? "points" : "other bodies", i);
                }
            }
        gravel_tree_release(tree);
    }
    gravel_bodies_release(sources);
    gravel_bodies_release(sinks);
    free(out);
    free(d);
    free(c);
}

/* An image of the sources themselves: then a body acts on itself too, from a distance. */
static void test_shifted_self(void **state)
{
    (void)state;
    cloud *c = make_cloud(N, 11, 0, 1), *out = calloc(1, sizeof *out);
    gravel_bodies *bodies = make_bodies(c, GRAVEL_SP);
    const gravel_view all = gravel_view_all(bodies);
    gravel_tree *tree = make_tree(GRAVEL_SP, &all, THETA);
    gravel_tree_call call = call_on(all);
    assert_non_null(out);
    call.shift[0] = 1.5;
    call.shift[2] = -0.25;
    walk(tree, &call, out);
    for (size_t i = 0; i < N; i += 7) {
        const double f[4] = {out->a[0][i], out->a[1][i], out->a[2][i], out->a[3][i]};
        double wanted[4];
        exact(c, 0, N, call.shift, c, i, N, GRAVEL_SOFTEN_EPS, 0.02, wanted);
        check(f, wanted, worst, "image", i);
    }
    gravel_tree_release(tree);
    gravel_bodies_release(bodies);
    free(out);
    free(c);
}

static void read_planes(gravel_bodies *bodies, cloud *to)
{
    const size_t n = gravel_bodies_get_count(bodies);
    assert_ok(
        gravel_bodies_read(bodies, GRAVEL_ACCELERATION, 0, n, &GRAVEL_ARRAY_OUT_SOA(to->a[0], to->a[1], to->a[2])));
    assert_ok(gravel_bodies_read(bodies, GRAVEL_POTENTIAL, 0, n, &GRAVEL_ARRAY_OUT(to->a[3])));
}

/* Two trees, each of a half of the bodies, act on all of them one after the other: with groups made for each and with
 * groups made once, the second adding to what the first left in the planes.  Each keeps the error of theta. */
static void test_accumulate(void **state)
{
    (void)state;
    cloud *c = make_cloud(N, 13, 2, 8), *out = calloc(1, sizeof *out);
    assert_non_null(out);
    for (int stored = GRAVEL_SP; stored <= GRAVEL_DS; stored++) {
        gravel_bodies *bodies = make_bodies(c, (gravel_precision)stored);
        const gravel_view half[2] = {gravel_view_range(bodies, 0, N / 2), gravel_view_range(bodies, N / 2, N - N / 2)};
        gravel_tree *tree[2] = {make_tree(GRAVEL_SP, &half[0], THETA), make_tree(GRAVEL_SP, &half[1], THETA)};
        for (int once = 0; once < 2; once++) {
            gravel_groups *groups = NULL;
            gravel_tree_call call;
            gravel_tree_call_init(&call);
            call.sinks = gravel_view_all(bodies);
            call.eps = 0.1;
            if (once)
                assert_ok(gravel_groups_create(&groups, tree[0], &call));
            call.groups = groups;
            call.into = GRAVEL_INTO_PLANES;
            assert_ok(gravel_tree_walk(tree[0], &call, NULL));
            call.into = GRAVEL_INTO_PLANES | GRAVEL_INTO_ADD;
            assert_ok(gravel_tree_walk(tree[1], &call, NULL));
            read_planes(bodies, out);
            check_all(c, out, NULL, 0, N, GRAVEL_SOFTEN_EPS, 0.1, once ? "groups made once" : "groups for each");
            gravel_groups_release(groups);
        }
        gravel_tree_release(tree[0]);
        gravel_tree_release(tree[1]);
        gravel_bodies_release(bodies);
    }
    free(out);
    free(c);
}

/* Groups that walk through images and through a tree in another frame: as walks with groups of their own. */
static void test_groups_elsewhere(void **state)
{
    (void)state;
    cloud *c = make_cloud(800, 15, 0, 1), *d = make_cloud(700, 17, 30, 100), *out = calloc(1, sizeof *out);
    gravel_bodies *one = make_bodies(c, GRAVEL_DS), *other = make_bodies(d, GRAVEL_DS);
    const gravel_view all = gravel_view_all(one), others = gravel_view_all(other);
    gravel_tree *tree[2] = {make_tree(GRAVEL_DS, &all, THETA), make_tree(GRAVEL_DS, &others, THETA)};
    gravel_groups *groups;
    gravel_tree_call call;
    assert_non_null(out);
    gravel_tree_call_init(&call);
    call.sinks = all;
    call.eps = 0.05;
    assert_ok(gravel_groups_create(&groups, tree[0], &call));
    call.groups = groups;
    for (int shifted = 0; shifted < 2; shifted++)
        for (int t = 0; t < 2; t++) {
            const cloud *from = t ? d : c;
            call.shift[1] = shifted ? 2.5 : 0;
            walk(tree[t], &call, out);
            for (size_t i = 0; i < c->n; i += 7) {
                const double f[4] = {out->a[0][i], out->a[1][i], out->a[2][i], out->a[3][i]};
                double wanted[4], own[4];
                exact(from, 0, from->n, call.shift, c, i, t || shifted ? MOST : i, GRAVEL_SOFTEN_EPS, 0.05, wanted);
                /* the criterion rests on the acceleration in the tree the groups were made with, and so do errors */
                exact(c, 0, c->n, nowhere, c, i, i, GRAVEL_SOFTEN_EPS, 0.05, own);
                for (int k = 0; k < 4; k++) {
                    const double size = k == 3 ? fabs(own[3]) + fabs(wanted[3]) : hypot(own[0], hypot(own[1], own[2]));
                    if (!(fabs(f[k] - wanted[k]) <= worst * fmax(size, fabs(wanted[k]))))
                        fail_msg("tree %d, shift %d, sink %zu: component %d is %g, exact %g", t, shifted, i, k, f[k],
                                 wanted[k]);
                }
            }
        }
    assert_ok(gravel_bodies_write(one, GRAVEL_POSITION, 0, 1, &GRAVEL_ARRAY_SOA(c->x[0], c->x[1], c->x[2])));
    gravel_ticket *ticket;
    assert_int_equal(gravel_tree_walk(tree[0], &call, &ticket), GRAVEL_ERR_STATE); /* the sinks have moved */
    gravel_groups_release(groups);
    gravel_tree_release(tree[0]);
    gravel_tree_release(tree[1]);
    gravel_bodies_release(one);
    gravel_bodies_release(other);
    free(out);
    free(d);
    free(c);
}

/* Softening by body, all choices, both shapes of the walk.  Cells take the mean square of their bodies, which is kept
 * below 2e-4 of their force (kernels/tree/soften.cl). */
static void test_softening(void **state)
{
    (void)state;
    cloud *c = make_cloud(N, 19, 0, 1), *out = calloc(1, sizeof *out);
    assert_non_null(out);
    gravel_bodies *bodies = make_bodies(c, GRAVEL_DS);
    assert_ok(gravel_bodies_write(bodies, GRAVEL_SOFTENING, 0, N, &GRAVEL_ARRAY(c->soft)));
    const gravel_view all = gravel_view_all(bodies);
    gravel_tree *tree = make_tree(GRAVEL_SP, &all, THETA);
    gravel_tree_call call;
    gravel_tree_call_init(&call);
    for (int kind = GRAVEL_SOFTEN_SINKS; kind <= GRAVEL_SOFTEN_MAX; kind++) {
        call.soften = (gravel_soften)kind;
        call.sinks = all;
        walk(tree, &call, out);
        check_all(c, out, NULL, 0, N, (gravel_soften)kind, 0, "softening by body");
        call.sinks = gravel_view_range(bodies, 100, 300); /* few: the walk of few sinks */
        walk(tree, &call, out);
        check_all(c, out, NULL, 100, 300, (gravel_soften)kind, 0, "softening by body, few sinks");
    }
    /* walks with other softening leave nothing behind: the same bits in any order */
    static const gravel_soften order[] = {GRAVEL_SOFTEN_EPS, GRAVEL_SOFTEN_SUM, GRAVEL_SOFTEN_MAX, GRAVEL_SOFTEN_EPS,
                                          GRAVEL_SOFTEN_SUM, GRAVEL_SOFTEN_EPS, GRAVEL_SOFTEN_MAX};
    cloud *first[GRAVEL_SOFTEN_MAX + 1] = {NULL};
    for (int k = 0; k < N; k++) /* as wide as cells */
        c->soft[k] = 0.1 * (1 + k % 4);
    assert_ok(gravel_bodies_write(bodies, GRAVEL_SOFTENING, 0, N, &GRAVEL_ARRAY(c->soft)));
    call.sinks = all;
    call.eps = 0.01;
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        cloud **of = &first[order[k]];
        call.soften = order[k];
        walk(tree, &call, out);
        if (*of)
            assert_memory_equal(*of, out, sizeof *out);
        else if ((*of = malloc(sizeof **of)))
            **of = *out;
    }
    for (int kind = 0; kind <= GRAVEL_SOFTEN_MAX; kind++)
        free(first[kind]);
    gravel_tree_release(tree);
    gravel_bodies_release(bodies);
    free(out);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_partial_sources),
        cmocka_unit_test(test_others_and_shift),
        cmocka_unit_test(test_shifted_self),
        cmocka_unit_test(test_accumulate),
        cmocka_unit_test(test_groups_elsewhere),
        cmocka_unit_test(test_softening),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
