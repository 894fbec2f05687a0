/* Walks of few sinks in a shape that the self-test finds wrong: the next larger groups.  The configuration and the
 * verdicts are the test's (linked with --wrap), so that nothing is compiled. */
#include "host_test.h"

#include "host/profile/proof.h"
#include "host/tree/tree.h"

enum { N = 1000, SINKS = 120 }; /* few for one compute unit, but not in groups of one */

static unsigned wrong; /* bit k: shape k comes out wrong, by eps or by any rule; 0 is the configuration itself */
static int asked;

gravel_status __wrap_gv_proof_require(gravel_context *context, int device, const gv_space *space,
                                      const gv_variant *variant, const gv_config *config);
gravel_status __wrap_gv_proof_settle(gravel_context *context, int device, const gv_space *space,
                                     const gv_variant *variant, size_t sinks, size_t sources, gv_config *config,
                                     gravel_origin *origin);

gravel_status __wrap_gv_proof_require(gravel_context *context, int device, const gv_space *space,
                                      const gv_variant *variant, const gv_config *config)
{
    (void)context, (void)device, (void)space, (void)config;
    asked++;
    return wrong >> ((variant->features & GV_TREE_OF_SHAPE) >> GV_TREE_SHAPE_AT) & 1
               ? gv_fail(GRAVEL_ERR_UNSUPPORTED, "as the test wants it")
               : GRAVEL_OK;
}

/* Groups of 64 work-items, whatever the device is. */
gravel_status __wrap_gv_proof_settle(gravel_context *context, int device, const gv_space *space,
                                     const gv_variant *variant, size_t sinks, size_t sources, gv_config *config,
                                     gravel_origin *origin)
{
    (void)context, (void)device, (void)variant, (void)sinks, (void)sources, (void)origin;
    return space == &gv_tree_space ? gv_space_parse(space, space->plain[0], config) : GRAVEL_OK;
}

/* The shape of a walk, from 1; 0: groups of the configuration. */
static int shape_of(gravel_tree *tree, gv_tree_kind kind, size_t sinks)
{
    const gv_tree_cut cut = gv_tree_cut_right(tree, kind, sinks, N);
    return (cut.walk - GV_TP_WALK) / GV_TREE_KINDS;
}

static void test_wrong_shapes_give_way_to_larger_ones(void **state)
{
    static const struct {
        unsigned wrong;
        int shape, asked;
    } c[] = {{0, 1, 1}, {1 << 1, 2, 2}, {1 << 1 | 1 << 2, 3, 3}, {1 << 1 | 1 << 2 | 1 << 3, 0, 3}, {1 << 2, 1, 1}};
    gravel_context *context;
    gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;
    (void)state;
    SKIP_WITHOUT_DEVICE();
    assert_ok(gravel_context_create(&context, NULL));
    options.precision = GRAVEL_SP;
    for (size_t k = 0; k < 2 * sizeof c / sizeof *c; k++) {
        const gv_tree_kind kind = k % 2 ? GV_TREE_SUM : GV_TREE_EPS;
        gravel_tree *tree;
        assert_ok(gravel_tree_create(&tree, context, &options));
        assert_ok(gv_tree_configure(tree, N));
        wrong = c[k / 2].wrong;
        asked = 0;
        assert_int_equal(shape_of(tree, kind, SINKS), c[k / 2].shape);
        assert_int_equal(asked, c[k / 2].asked);
        assert_int_equal(shape_of(tree, kind, SINKS), c[k / 2].shape); /* not those that were wrong again */
        assert_int_equal(asked, c[k / 2].asked + (c[k / 2].shape != 0));
        assert_int_equal(shape_of(tree, kind, N), 0); /* all of them have no shape */
        gravel_tree_release(tree);
    }
    gravel_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wrong_shapes_give_way_to_larger_ones)};
    return cmocka_run_group_tests_name("tree_shapes", tests, NULL, NULL);
}
