/* Calls whose neighbours follow a rule and are left out of the forces: on one device, on two parts of a CPU, and where
 * the host is told to answer, which it does not do for these. */
#include "several_test.h"

enum { SOURCES = 400, SINKS = 30, CAPACITY = 20 };

static void check(const char *devices, gravel_host_answers host, const char *what)
{
    bodies b = bodies_new(SOURCES, 21);
    double radius[SINKS], ahead[SINKS];
    gravel_several *s = several_new(devices, GRAVEL_DS, host);
    const gravel_sources all = sources_of(&b, 0, SOURCES);
    gravel_sinks sinks = sinks_of(&b, 10, SINKS, radius);
    gv_ref_particles i = view_of(&b, 10, SINKS), j = view_of(&b, 0, SOURCES);
    results want = results_new(SINKS, CAPACITY);
    for (size_t k = 0; k < SINKS; k++) {
        radius[k] = 0.1 * (double)(k % 7) * sqrt(SOURCES); /* times the square root of a mass */
        ahead[k] = 0.05 * (double)(k % 3);
    }
    sinks.id = NULL;
    assert_ok(gravel_several_write_sources(s, 0, &all));
    gravel_several_call c = call_of(&sinks, 4, 0, 0, CAPACITY);
    c.rule = GRAVEL_NEIGHBOURS_SPHERE_MASS;
    c.ahead = ahead;
    c.leave_out = 1;
    results got = several_run(s, &c);
    const gv_ref_rule rule = {GV_REF_INSIDE_MASS, ahead, 1};
    const gv_ref_forces out = {.ax = want.v[R_AX],
                               .ay = want.v[R_AY],
                               .az = want.v[R_AZ],
                               .pot = want.v[R_POT],
                               .jx = want.v[R_JX],
                               .jy = want.v[R_JY],
                               .jz = want.v[R_JZ],
                               .neighbour_count = want.count,
                               .neighbour_address = want.list};
    assert_int_equal(gv_ref_direct_ruled(GV_REF_LONG_DOUBLE, 4, &i, &j, 0, radius, CAPACITY, &rule, &out), 0);
    for (size_t k = 0; k < SINKS; k++) {
        assert_int_equal(got.count[k], want.count[k]); /* no pair of these bodies is within rounding of a radius */
        assert_true(k % 7 == 0 ? want.count[k] == 0 : want.count[k] >= 1);
        for (size_t e = 0; e < CAPACITY && e < want.count[k]; e++)
            assert_int_equal(got.list[k * CAPACITY + e], want.list[k * CAPACITY + e]);
    }
    assert_true(got.overflow > 0);
    /* error bounds leave out pairs with one id: here they are at distance 0 and contribute nothing */
    assert_forces(&got, &want, 4, GRAVEL_DS, &i, &j, 0, what);
    results_free(&got);
    results_free(&want);
    gravel_several_release(s);
    bodies_free(&b);
}

static void neighbours_left_out(void **state)
{
    (void)state;
    SKIP_WITHOUT_DEVICE();
    check(NULL, GRAVEL_HOST_NEVER, "one device");
    check(NULL, GRAVEL_HOST_ALWAYS, "host");
    if (two_parts())
        check(two_parts(), GRAVEL_HOST_NEVER, "two parts");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(neighbours_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
