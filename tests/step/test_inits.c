/* What languages without macros use: defaults by the init functions, and names that lead back. */
#include "host_test.h"

#include "gravel/leapfrog.h"
#include "gravel/tree.h"

static void inits(void **state)
{
    (void)state;
    gravel_context_options context;
    gravel_bodies_options bodies;
    gravel_direct_options direct;
    gravel_direct_call call;
    gravel_tree_options tree;
    gravel_tree_call walk;
    gravel_hermite_options hermite;
    gravel_leapfrog_options leapfrog;
    gravel_context_options_init(&context);
    gravel_bodies_options_init(&bodies);
    gravel_direct_options_init(&direct);
    gravel_direct_call_init(&call);
    gravel_tree_options_init(&tree);
    gravel_tree_call_init(&walk);
    gravel_hermite_options_init(&hermite);
    gravel_leapfrog_options_init(&leapfrog);
    assert_true(context.size == sizeof context && !context.device && !context.log);
    assert_true(bodies.size == sizeof bodies && bodies.precision == GRAVEL_DS && bodies.capacity == 0);
    assert_true(direct.size == sizeof direct && direct.order == 2 && direct.precision == GRAVEL_SP);
    assert_true(call.size == sizeof call && call.nearest == -1 && call.neighbour_capacity == -1 && call.into == 0);
    assert_true(tree.size == sizeof tree && tree.theta == 0.5 && tree.mac == GRAVEL_TREE_RELATIVE && tree.moments == 2);
    assert_true(walk.size == sizeof walk && !walk.sinks.bodies && walk.moved == GRAVEL_TREE_REBUILD);
    assert_true(hermite.size == sizeof hermite && hermite.order == 4 && hermite.eta4 == 0.01 &&
                hermite.step_max == 0.125 && hermite.step_min == 0x1p-40 && hermite.iterations == 1);
    assert_true(leapfrog.size == sizeof leapfrog && leapfrog.eta == 0.025 && leapfrog.step_max == 0.125 &&
                leapfrog.last == 1 && leapfrog.rebuild == 0);
}

static void names(void **state)
{
    (void)state;
    gravel_tree_mac mac;
    for (int k = GRAVEL_TREE_RELATIVE; k <= GRAVEL_TREE_GEOMETRIC; k++) {
        assert_ok(gravel_tree_mac_parse(gravel_tree_mac_name((gravel_tree_mac)k), &mac));
        assert_int_equal(mac, k);
    }
    assert_int_equal(gravel_tree_mac_parse("no such thing", &mac), GRAVEL_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(inits), cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
