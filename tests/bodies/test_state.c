/* States of bodies: what is restored is what was saved, whatever was there before. */
#include "host/bodies/bodies.h"
#include "one_context.h"

static gravel_bodies *make(void)
{
    gravel_bodies *bodies;
    assert_ok(gravel_bodies_create(&bodies, context, NULL));
    return bodies;
}

/* A state without ids and softening, into bodies that had them: there are none then, so that bodies get numbers. */
static void restored_without_planes(void **state)
{
    (void)state;
    enum { N = 3 };
    const double x[N] = {1, 2, 3};
    const int32_t given[N] = {7, 8, 9};
    int32_t id[N];
    const gravel_array in = GRAVEL_ARRAY(x), ids = {given, NULL, NULL, 1, GRAVEL_I32};
    const gravel_array_out out = {id, NULL, NULL, 1, GRAVEL_I32};
    gravel_bodies *plain = make(), *bodies = make();
    assert_ok(gravel_bodies_write(plain, GRAVEL_MASS, 0, N, &in));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_SOFTENING, 0, N, &in));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_ID, 0, N, &ids));
    const uint64_t before = bodies->version[GRAVEL_SOFTENING];
    const size_t size = gravel_bodies_get_state_size(plain);
    void *saved = malloc(size);
    assert_non_null(saved);
    assert_ok(gravel_bodies_save(plain, saved));
    assert_ok(gravel_bodies_restore(bodies, saved, size));
    assert_true(gravel_bodies_has_plane(bodies, GRAVEL_MASS));
    assert_false(gravel_bodies_has_plane(bodies, GRAVEL_SOFTENING));
    assert_false(gravel_bodies_has_plane(bodies, GRAVEL_ID));
    assert_true(bodies->version[GRAVEL_SOFTENING] > before); /* what was derived from it is out of date */
    assert_ok(gv_bodies_need_ids(bodies));
    assert_ok(gravel_bodies_read(bodies, GRAVEL_ID, 0, N, &out));
    for (int k = 0; k < N; k++)
        assert_int_equal(id[k], k);
    assert_int_equal(gravel_bodies_get_state_size(bodies), size + sizeof id);
    free(saved);
    gravel_bodies_release(plain);
    gravel_bodies_release(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(restored_without_planes)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
