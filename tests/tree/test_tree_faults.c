/* A tree whose OpenCL calls fail. */
#include "faults.h"
#include "tree_views.h"

/* Calls of a refit fail, one at a time.  What is left is neither the tree before nor the one wanted: the next walk
 * refits it, by whichever rule it goes. */
static void a_refit_fails(void **state)
{
    (void)state;
    cloud *c = make_cloud(N, 51, 0, 1), *out = calloc(1, sizeof *out);
    gravel_bodies *bodies = make_bodies(c, GRAVEL_SP);
    const gravel_view all = gravel_view_all(bodies);
    gravel_tree *tree = make_tree(GRAVEL_SP, &all, THETA);
    gravel_status status = GRAVEL_ERR_INTERNAL;
    gravel_tree_call call = call_on(all);
    int failures = 0;
    assert_non_null(out);
    walk(tree, &call, out);
    for (int k = 1; status; k += 1 + k / 4) {
        for (size_t i = 0; i < N; i++)
            c->x[0][i] += 0.05 * c->x[1][i];
        assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_SOA(c->x[0], c->x[1], c->x[2])));
        countdown = k;
        status = gravel_tree_refit(tree);
        countdown = 0;
        failures += status != GRAVEL_OK;
        call.moved = failures % 2 ? GRAVEL_TREE_REFIT : GRAVEL_TREE_AS_IS;
        walk(tree, &call, out);
        check_all(c, out, NULL, 0, N, GRAVEL_SOFTEN_EPS, 0.02, failed_call);
    }
    assert_true(failures >= 5);
    gravel_tree_release(tree);
    gravel_bodies_release(bodies);
    free(out);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refit_fails),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
