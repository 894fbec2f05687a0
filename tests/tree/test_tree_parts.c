/* Trees that are parts of one (gravel/essential.h) have its cells: those of the cube of the frame. */
#include "tree_views.h"

#include "gravel/essential.h"

/* A cell with bodies of both parts is another in each of them: one a level, down to where it holds too few. */
enum { LEVELS = 22 };

typedef struct part {
    gravel_tree *tree;
    gravel_essential *essential;
    gravel_cell *cell;
    size_t cells;
} part;

/* Leaves of one size: what is chosen for parts and for the whole may differ. */
static part make_part(const gravel_view *view)
{
    gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;
    part p = {0};
    options.theta = THETA;
    options.configuration = "n_leaf=16";
    assert_ok(gravel_tree_create(&p.tree, context, &options));
    assert_ok(gravel_tree_set_sources(p.tree, view));
    assert_ok(gravel_essential_create(&p.essential, p.tree, 1, 0));
    gravel_essential_share_cells(p.essential, 1);
    assert_ok(gravel_tree_get_cell_count(p.tree, &p.cells));
    p.cell = malloc(p.cells * sizeof *p.cell);
    assert_non_null(p.cell);
    assert_ok(gravel_tree_read_cells(p.tree, 0, p.cells, p.cell));
    return p;
}

static void release(part *p)
{
    free(p->cell);
    gravel_essential_release(p->essential);
    gravel_tree_release(p->tree);
}

/* The same bodies in the same order: the same sums. */
static int has_cell(const part *p, const gravel_cell *c)
{
    for (size_t k = 0; k < p->cells; k++)
        if (p->cell[k].bodies == c->bodies && p->cell[k].radius == c->radius &&
            memcmp(p->cell[k].centre, c->centre, sizeof c->centre) == 0)
            return 1;
    return 0;
}

static size_t count_others(const part *p, const part *whole)
{
    size_t n = 0;
    for (size_t k = 0; k < p->cells; k++)
        n += !has_cell(whole, &p->cell[k]);
    return n;
}

/* Bodies in the order of the tree of all, cut at any place. */
static void test_parts(void **state)
{
    (void)state;
    cloud *c = make_cloud(N, 31, 0.1, 0.7), *sorted = calloc(1, sizeof *sorted);
    uint32_t order[N];
    assert_non_null(sorted);
    gravel_bodies *bodies = make_bodies(c, GRAVEL_SP);
    gravel_view view = gravel_view_all(bodies);
    part whole = make_part(&view);
    assert_ok(gravel_tree_read_order(whole.tree, order));
    sorted->n = N;
    for (size_t i = 0; i < N; i++) {
        sorted->m[i] = c->m[order[i]];
        for (int k = 0; k < 3; k++)
            sorted->x[k][i] = c->x[k][order[i]];
    }
    gravel_bodies *along = make_bodies(sorted, GRAVEL_SP);
    for (size_t first = 100; first < N; first += 437) {
        for (int k = 0; k < 2; k++) {
            view = k ? gravel_view_range(along, first, N - first) : gravel_view_range(along, 0, first);
            part p = make_part(&view);
            const size_t others = count_others(&p, &whole);
            assert_true(p.cells > 1 && others <= LEVELS);
            release(&p);
        }
    }
    release(&whole);
    gravel_bodies_release(along);
    gravel_bodies_release(bodies);
    free(sorted);
    free(c);
}

/* A body outside the cube: the tree is that of the bodies' own box, and finds their forces. */
static void test_outside(void **state)
{
    (void)state;
    cloud *c = make_cloud(N, 32, 0, 0.7), *out = calloc(1, sizeof *out);
    gravel_tree_call call;
    assert_non_null(out);
    c->x[1][N / 2] = -3;
    gravel_bodies *bodies = make_bodies(c, GRAVEL_SP);
    const gravel_view all = gravel_view_all(bodies);
    part p = make_part(&all);
    for (size_t k = 0; k < p.cells; k++)
        assert_true(p.cell[k].bodies < N || k == 0);
    gravel_tree_call_init(&call);
    call.sinks = all;
    call.eps = 0.02;
    walk(p.tree, &call, out);
    check_all(c, out, NULL, 0, N, GRAVEL_SOFTEN_EPS, 0.02, "a body outside");
    release(&p);
    gravel_bodies_release(bodies);
    free(out);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts), cmocka_unit_test(test_outside)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
