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

static int failed_to_scale(void)
{
    return strstr(gravel_error_message(), "gv_bodies_scale") && strcmp(failed_call, "clCreateKernel") != 0;
}

/* Positions and velocities stay in one unit, whatever fails before the last kernels are started. */
static void failed_change(void **state)
{
    (void)state;
    const double x[3] = {-1, 0.5, 1}, v[3] = {1, 2, 3};
    const gravel_frame narrow = {{0, 0, 0}, 2, 1}, wide = {{0, 0, 0}, 4, 1};
    double x_now[3], v_now[3];
    int failures = 0;
    gravel_bodies *bodies = make();
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, 3, &GRAVEL_ARRAY_SOA(x, x, x)));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_VELOCITY, 0, 3, &GRAVEL_ARRAY_SOA(v, v, v)));
    assert_ok(gravel_bodies_set_frame(bodies, &wide)); /* compiles */
    for (int at = 1;; at++) {
        assert_ok(gravel_bodies_set_frame(bodies, &narrow));
        countdown = at;
        const gravel_status status = gravel_bodies_set_frame(bodies, &wide);
        countdown = 0;
        if (status && failed_to_scale())
            break;
        failures += status != GRAVEL_OK;
        assert_ok(gravel_bodies_read(bodies, GRAVEL_POSITION, 0, 3, &GRAVEL_ARRAY_OUT_SOA(x_now, NULL, NULL)));
        assert_ok(gravel_bodies_read(bodies, GRAVEL_VELOCITY, 0, 3, &GRAVEL_ARRAY_OUT_SOA(v_now, NULL, NULL)));
        assert_memory_equal(x_now, x, sizeof x);
        assert_memory_equal(v_now, v, sizeof v);
    }
    assert_true(failures > 5);
    gravel_bodies_release(bodies);
}

/* Bodies that drifted before any position was written are where they drifted to also when the first positions, of other
 * bodies, come. */
static void drift_first(void **state)
{
    (void)state;
    double v[2] = {0.5, -0.25}, far[2] = {96, 112}, x[4];
    const gravel_array velocities = GRAVEL_ARRAY_SOA(v, v, v), positions = GRAVEL_ARRAY_SOA(far, far, far);
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_bodies *bodies;
    assert_ok(gravel_bodies_create(&bodies, context, &options));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_VELOCITY, 0, 2, &velocities));
    assert_ok(gravel_bodies_advance(bodies, 0, 2));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 2, 2, &positions));
    assert_ok(gravel_bodies_read(bodies, GRAVEL_POSITION, 0, 4, &GRAVEL_ARRAY_OUT_SOA(x, NULL, NULL)));
    assert_true(x[0] == 1 && x[1] == -0.5 && x[2] == 96 && x[3] == 112);
    gravel_bodies_release(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_bodies), cmocka_unit_test(failed_change),
                                       cmocka_unit_test(drift_first)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
