/* Units of length and time: powers of four and eight apart (velocities: two), which leaves G and all digits as they
 * are, runs have the same bits, as far as the planes of ds, floats for derivatives, hold them; beyond that they are
 * refused. */
#include "one_context.h"

#include <math.h>

#include "gravel/leapfrog.h"

enum { N = 3, BLOCKS = 150 };

static const double x[N][3] = {{0, 0, 0}, {1.5, 0, 0.25}, {-3, 1, 0}};
static const double v[N][3] = {{0, 0, 0}, {0, 0.5, 0}, {-0.125, -0.5, 0.25}}, m[N] = {1, 0x1p-10, 0x1p-6};

static gravel_bodies *bodies_at(gravel_precision precision, int power)
{
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_bodies *bodies;
    double far[N][3], fast[N][3];
    for (int k = 0; k < 3 * N; k++) {
        far[k / 3][k % 3] = ldexp(x[k / 3][k % 3], 2 * power);
        fast[k / 3][k % 3] = ldexp(v[k / 3][k % 3], -power);
    }
    options.precision = precision;
    assert_ok(gravel_bodies_create(&bodies, context, &options));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_AOS(far)));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_VELOCITY, 0, N, &GRAVEL_ARRAY_AOS(fast)));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_MASS, 0, N, &GRAVEL_ARRAY(m)));
    return bodies;
}

static gravel_direct *solver(gravel_precision precision, int order)
{
    gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_direct *direct;
    options.precision = precision;
    options.order = order;
    assert_ok(gravel_direct_create(&direct, context, &options));
    return direct;
}

/* Where the bodies are after some blocks, and when, in the units of power 0. */
static void read_bodies(gravel_bodies *bodies, int power, double out[N + 1][3])
{
    assert_ok(gravel_bodies_read(bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_OUT_AOS(out)));
    for (int k = 0; k < 3 * N; k++)
        out[k / 3][k % 3] = ldexp(out[k / 3][k % 3], -2 * power);
    assert_ok(gravel_bodies_read(bodies, GRAVEL_TIME, 0, N, &GRAVEL_ARRAY_OUT(out[N])));
    for (int k = 0; k < 3; k++)
        out[N][k] = ldexp(out[N][k], -3 * power);
}

static gravel_status run_hermite(gravel_precision precision, int order, gravel_host_answers host, int power,
                                 double out[N + 1][3])
{
    gravel_hermite_options options = GRAVEL_HERMITE_OPTIONS_INIT;
    gravel_bodies *bodies = bodies_at(precision, power);
    gravel_direct *direct = solver(precision, order);
    gravel_hermite *hermite;
    options.order = order;
    options.host = host;
    options.step_max = ldexp(0.5, 3 * power);
    options.step_min = ldexp(0x1p-30, 3 * power);
    assert_ok(gravel_hermite_create(&hermite, bodies, direct, &options));
    gravel_status status = gravel_hermite_start(hermite, 0);
    for (int k = 0; k < BLOCKS && !status; k++)
        assert_ok(gravel_hermite_step(hermite, NULL));
    if (!status)
        assert_ok(gravel_hermite_send(hermite));
    read_bodies(bodies, power, out);
    gravel_hermite_release(hermite);
    gravel_direct_release(direct);
    gravel_bodies_release(bodies);
    return status;
}

/* 4^-9: a planet and a star in parsecs and solar masses; 4^8: a small cluster in astronomical units. */
static void hermite_steps(void **state)
{
    (void)state;
    static const int power[2][3] = {{-9, -4, 8}, {-6, 4, 6}};
    double want[N + 1][3], got[N + 1][3];
    for (int order = 4; order <= 6; order += 2)
        for (gravel_host_answers host = GRAVEL_HOST_NEVER; host <= GRAVEL_HOST_ALWAYS; host++) {
            assert_ok(run_hermite(GRAVEL_DS, order, host, 0, want));
            for (int k = 0; k < 3; k++) {
                assert_ok(run_hermite(GRAVEL_DS, order, host, power[order / 2 - 2][k], got));
                assert_memory_equal(got, want, sizeof want);
            }
        }
}

static void hermite_out_of_range(void **state)
{
    (void)state;
    double out[N + 1][3];
    for (int order = 4; order <= 6; order += 2)
        for (int power = -16; power <= 16; power += 32) {
            assert_int_equal(run_hermite(GRAVEL_DS, order, GRAVEL_HOST_NEVER, power, out), GRAVEL_ERR_INPUT);
            assert_contains(gravel_error_message(), "leave the range of ds");
            if (gravel_context_get_device(context, 0)->has_fp64)
                assert_ok(run_hermite(GRAVEL_DP, order, GRAVEL_HOST_NEVER, power, out));
        }
}

static void run_leapfrog(int shared, int power, double out[N + 1][3])
{
    gravel_leapfrog_options options = GRAVEL_LEAPFROG_OPTIONS_INIT;
    gravel_bodies *bodies = bodies_at(GRAVEL_DS, power);
    gravel_direct *direct = solver(GRAVEL_DS, 2);
    gravel_leapfrog *leapfrog;
    options.eps = ldexp(0x1p-6, 2 * power);
    options.shared = shared;
    options.step_max = ldexp(0.5, 3 * power);
    options.step_min = ldexp(0x1p-30, 3 * power);
    assert_ok(gravel_leapfrog_create(&leapfrog, bodies, direct, NULL, &options));
    assert_ok(gravel_leapfrog_start(leapfrog, 0));
    for (int k = 0; k < BLOCKS; k++)
        assert_ok(gravel_leapfrog_step(leapfrog, NULL));
    read_bodies(bodies, power, out);
    gravel_leapfrog_release(leapfrog);
    gravel_direct_release(direct);
    gravel_bodies_release(bodies);
}

/* Accelerations whose squares leave the range of float, 64^12 and 64^-12 */
static void leapfrog_steps(void **state)
{
    (void)state;
    double want[N + 1][3], got[N + 1][3];
    for (int shared = 0; shared < 2; shared++) {
        run_leapfrog(shared, 0, want);
        for (int power = -12; power <= 12; power += 24) {
            run_leapfrog(shared, power, got);
            assert_memory_equal(got, want, sizeof want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hermite_steps), cmocka_unit_test(hermite_out_of_range),
                                       cmocka_unit_test(leapfrog_steps)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
