/* Changes of frame that fail, and of more bodies than a test can have: OpenCL calls fail in turn. */
#include "host/bodies/bodies.h"
#include "faults.h"
#include "one_context.h"

static gravel_bodies *make(void)
{
    gravel_bodies *bodies;
    assert_ok(gravel_bodies_create(&bodies, context, NULL));
    return bodies;
}

/* Work-items, and what they count, stay below 2^32 for as many bodies as there may be: four numbers each. */
static void many_bodies(void **state)
{
    (void)state;
    const double v[3] = {1, 2, 3};
    gravel_bodies *bodies = make();
    assert_ok(gravel_bodies_write(bodies, GRAVEL_VELOCITY, 0, 3, &GRAVEL_ARRAY_SOA(v, v, v)));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_RADIUS, 0, 3, &GRAVEL_ARRAY(v)));
    assert_ok(gravel_bodies_set_frame(bodies, &(gravel_frame){{0, 0, 0}, 2, 1})); /* compiles */
    bodies->count = (size_t)1 << 30; /* they are not there: call after call fails, up to the first start of a kernel */
    failed_call = "";
    for (int at = 1; strcmp(failed_call, "clEnqueueNDRangeKernel") != 0; at++) {
        countdown = at;
        assert_int_not_equal(gravel_bodies_set_frame(bodies, &(gravel_frame){{0, 0, 0}, 4, 1}), GRAVEL_OK);
        countdown = 0;
    }
    assert_contains(gravel_error_message(), "gv_bodies_scale");
    assert_contains(gravel_error_message(), "(1073741824 x 1 work-items");
    bodies->count = 3;
    gravel_bodies_release(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_bodies)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
