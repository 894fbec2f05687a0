/* The short range of a split force in a periodic box: by itself, and with a mesh for the rest. */
#include "../mesh/mesh_test.h"

#include "gravel/tree.h"

/* Pairs of nearest images by erfc, in double: at the cuts below images further away give less than 1e-9 of a force. */
static void exact_short_range(const cloud *c, size_t sinks, double split, double eps, int spline, cloud *to)
{
    const double per = 1 / (2 * split), slope = 2 * per / sqrt(acos(-1)), h = 2.8 * eps;
    for (size_t i = 0; i < sinks; i++) {
        double pot = 0, acc[3] = {0, 0, 0};
        for (size_t j = 0; j < c->n; j++) {
            double d[3], r2 = 0;
            for (int a = 0; a < 3; a++) {
                d[a] = c->x[a][j] - c->x[a][i];
                d[a] -= c->side * rint(d[a] / c->side);
                r2 += d[a] * d[a];
            }
            if (j == i)
                continue;
            /* the spline beyond h: the clouds below have no pairs within it */
            assert_true(!spline || r2 > h * h);
            const double s2 = r2 + (spline ? 0 : eps * eps), s = sqrt(s2), u = s * per, g0 = erfc(u) / s;
            const double pull = (g0 + slope * exp(-u * u)) / s2;
            pot -= c->m[j] * g0;
            for (int a = 0; a < 3; a++)
                acc[a] += c->m[j] * pull * d[a];
        }
        to->pot[i] = pot;
        for (int a = 0; a < 3; a++)
            to->a[a][i] = acc[a];
    }
}

typedef struct setting {
    const char *what, *configuration;
    gravel_precision precision;
    gravel_softening softening;
    double eps, theta, half, most;
} setting;

static spread run_tree(gravel_context *context, const setting *s, const cloud *c, const gravel_view *sources,
                       const gravel_view *sinks, double split, cloud *found, const cloud *exact, size_t n)
{
    gravel_tree_options o = GRAVEL_TREE_OPTIONS_INIT;
    gravel_tree_call call;
    gravel_tree *tree;
    gravel_ticket *ticket;
    const gravel_forces out = cloud_forces(found);
    o.precision = s->precision;
    o.softening = s->softening;
    o.theta = s->theta;
    o.split = split;
    o.period = c->side;
    o.configuration = s->configuration;
    assert_ok(gravel_tree_create(&tree, context, &o));
    assert_ok(gravel_tree_set_sources(tree, sources));
    gravel_tree_call_init(&call);
    call.sinks = *sinks;
    call.eps = s->eps;
    assert_ok(gravel_tree_walk(tree, &call, &ticket));
    assert_ok(gravel_ticket_collect(ticket, &out, NULL));
    gravel_ticket_release(ticket);
    gravel_tree_release(tree);
    return cloud_errors(found, exact, n);
}

/* Precisions, softenings; a cut of 6 r_s, where 4e-4 of Newton's force is left.  Half of the
 * sinks have errors of the criterion, far below theta's usual 1e-4; the largest are those of close pairs in float.  The
 * walk of work-groups is tested under Oclgrind (tests/gates/oclgrind_tree.c). */
static void short_range(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    static const setting all[] = {
        {"sp", NULL, GRAVEL_SP, GRAVEL_PLUMMER, 1e-3, 0.5, 1e-5, 2e-3},
        {"ds", NULL, GRAVEL_DS, GRAVEL_SPLINE, 1e-9, 0.5, 1e-5, 1e-4},
    };
    gravel_context *context = open_context();
    const double side = 3, split = 0.05 * side;
    for (int clumps = 0; clumps <= 4; clumps += 4) {
        cloud c = cloud_random(1500, side, clumps, 11), exact = cloud_new(c.n, side), found = cloud_new(c.n, side);
        gravel_bodies *bodies = cloud_bodies(context, &c, GRAVEL_DS);
        const gravel_view view = gravel_view_all(bodies);
        for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
            exact_short_range(&c, c.n, split, all[k].eps, all[k].softening == GRAVEL_SPLINE, &exact);
            const spread s = run_tree(context, &all[k], &c, &view, &view, split, &found, &exact, c.n);
            if (!(s.half < all[k].half && s.most < all[k].most && s.pot < 1e-3))
                fail_msg("%s, %d clumps: errors %.2e (median) %.2e (99 %%) %.2e (potential)", all[k].what, clumps,
                         s.half, s.most, s.pot);
        }
        gravel_bodies_release(bodies);
        cloud_free(&c);
        cloud_free(&exact);
        cloud_free(&found);
    }
    gravel_context_release(context);
}

/* A few sinks from all over the box are in groups so wide that each pair needs its own image. */
static void wide_groups(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    static const setting how = {"sp", NULL, GRAVEL_SP, GRAVEL_PLUMMER, 1e-3, 0.5, 1e-5, 2e-3};
    gravel_context *context = open_context();
    cloud c = cloud_random(1500, 1, 0, 12), exact = cloud_new(c.n, 1), found = cloud_new(c.n, 1);
    gravel_bodies *bodies = cloud_bodies(context, &c, GRAVEL_DS);
    const gravel_view all = gravel_view_all(bodies), few = gravel_view_range(bodies, 0, 40);
    exact_short_range(&c, 40, 0.07, 1e-3, 0, &exact);
    const spread s = run_tree(context, &how, &c, &all, &few, 0.07, &found, &exact, 40);
    if (!(s.half < how.half && s.most < how.most))
        fail_msg("%s: errors %.2e (median) %.2e (99 %%)", how.what, s.half, s.most);
    gravel_bodies_release(bodies);
    cloud_free(&c);
    cloud_free(&exact);
    cloud_free(&found);
    gravel_context_release(context);
}

/* Tree and mesh together, into planes, against Ewald: random and clumped bodies.  Of the root mean square force, median
 * 2e-4 and 99 % 2e-3 are wanted. */
static void with_a_mesh(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context();
    const double side = 20;
    const int cells = 32;
    for (int clumps = 0; clumps <= 8; clumps += 8) {
        cloud c = cloud_random(1500, side, clumps, 13), exact = cloud_new(c.n, side), found = cloud_new(c.n, side);
        gravel_bodies *bodies = cloud_bodies(context, &c, GRAVEL_DS);
        const gravel_view all = gravel_view_all(bodies);
        const double eps = 1e-3 * side;
        gravel_mesh_options m = GRAVEL_MESH_OPTIONS_INIT;
        gravel_tree_options o = GRAVEL_TREE_OPTIONS_INIT;
        gravel_tree_call call;
        gravel_mesh *mesh;
        gravel_tree *tree;
        m.side = o.period = side;
        m.cells = cells;
        m.assignment = GRAVEL_TSC;
        m.interlaced = 1;
        m.split = o.split = 1.25 * side / cells;
        assert_ok(gravel_mesh_create(&mesh, context, &m));
        assert_ok(gravel_mesh_set_sources(mesh, &all));
        assert_ok(gravel_mesh_set_own(mesh, 1));
        assert_ok(gravel_tree_create(&tree, context, &o));
        assert_ok(gravel_tree_set_sources(tree, &all));
        gravel_tree_call_init(&call);
        call.sinks = all;
        call.eps = eps;
        call.into = GRAVEL_INTO_PLANES | GRAVEL_INTO_ADD;
        assert_ok(gravel_mesh_forces(mesh, &all, GRAVEL_INTO_PLANES, NULL));
        assert_ok(gravel_tree_walk(tree, &call, NULL));
        assert_ok(gravel_bodies_read(bodies, GRAVEL_ACCELERATION, 0, c.n,
                                     &GRAVEL_ARRAY_OUT_SOA(found.a[0], found.a[1], found.a[2])));
        assert_ok(gravel_bodies_read(bodies, GRAVEL_POTENTIAL, 0, c.n, &GRAVEL_ARRAY_OUT(found.pot)));
        cloud_exact(&c, c.n, eps, GV_REF_PLUMMER, &exact);
        const spread s = cloud_errors(&found, &exact, c.n);
        print_message("%d clumps: errors %.2e (median) %.2e (99 %%) %.2e (potential)\n", clumps, s.half, s.most, s.pot);
        assert_true(s.half < 2e-4 && s.most < 2e-3 && s.pot < 1e-3);
        gravel_mesh_release(mesh);
        gravel_tree_release(tree);
        gravel_bodies_release(bodies);
        cloud_free(&c);
        cloud_free(&exact);
        cloud_free(&found);
    }
    gravel_context_release(context);
}

/* Pairs at one place without softening add nothing, as the reference has it, also where a mesh does the long range: of
 * 40 bodies at a place 39 m / (sqrt(pi) r_s) of each one's potential was left, 2.3 times the root mean square.  Errors
 * are the mesh's. */
static void bodies_at_one_place(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context();
    const double side = 20;
    static const gravel_precision precision[] = {GRAVEL_SP, GRAVEL_DS, GRAVEL_DP};
    for (int k = 0; k < 3; k++) {
        cloud c = cloud_random(600, side, 0, 17), exact = cloud_new(c.n, side), found = cloud_new(c.n, side);
        for (size_t i = 1; i < 40; i++)
            for (int a = 0; a < 3; a++)
                c.x[a][i] = c.x[a][0];
        gravel_bodies *bodies = cloud_bodies(context, &c, precision[k] == GRAVEL_DP ? GRAVEL_DP : GRAVEL_DS);
        const gravel_view all = gravel_view_all(bodies);
        gravel_mesh_options m = GRAVEL_MESH_OPTIONS_INIT;
        gravel_mesh *mesh;
        cloud part = cloud_new(c.n, side);
        const gravel_forces out = cloud_forces(&found);
        m.side = side;
        m.cells = 32;
        m.split = 1.25 * side / m.cells;
        assert_ok(gravel_mesh_create(&mesh, context, &m));
        assert_ok(gravel_mesh_set_sources(mesh, &all));
        assert_ok(gravel_mesh_set_own(mesh, 1));
        assert_ok(gravel_mesh_forces(mesh, &all, GRAVEL_INTO_HOST, &out));
        const setting s = {"", NULL, precision[k], GRAVEL_PLUMMER, 0, 0.5, 0, 0};
        cloud_exact(&c, c.n, 0, GV_REF_PLUMMER, &exact);
        run_tree(context, &s, &c, &all, &all, m.split, &part, &exact, c.n);
        for (size_t i = 0; i < c.n; i++) {
            found.pot[i] += part.pot[i];
            for (int a = 0; a < 3; a++)
                found.a[a][i] += part.a[a][i];
        }
        const spread errors = cloud_errors(&found, &exact, c.n);
        print_message("at one place: errors %.2e (median) %.2e (99 %%) %.2e (potential)\n", errors.half, errors.most,
                      errors.pot);
        assert_true(errors.half < 2e-4 && errors.most < 2e-3 && errors.pot < 1e-3);
        gravel_mesh_release(mesh);
        gravel_bodies_release(bodies);
        cloud_free(&c);
        cloud_free(&exact);
        cloud_free(&found);
        cloud_free(&part);
    }
    gravel_context_release(context);
}

static void refuse(gravel_context *context, double split, double cut, double period, const char *why)
{
    gravel_tree_options o = GRAVEL_TREE_OPTIONS_INIT;
    gravel_tree *tree;
    o.split = split;
    o.cut = cut;
    o.period = period;
    assert_int_equal(gravel_tree_create(&tree, context, &o), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), why);
}

static void bad_arguments(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    gravel_context *context = open_context();
    refuse(context, -1, 0, 0, "0 or more");
    refuse(context, NAN, 0, 0, "0 or more");
    refuse(context, 0, 1, 0, "a mesh does the rest");
    refuse(context, 0, 0, 1, "a mesh does the rest");
    refuse(context, 0.1, 0, 1, "half of the period");
    refuse(context, 0.1, 0.51, 1, "half of the period");
    gravel_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_range),         cmocka_unit_test(wide_groups),   cmocka_unit_test(with_a_mesh),
        cmocka_unit_test(bodies_at_one_place), cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests_name("tree_periodic", tests, NULL, NULL);
}
