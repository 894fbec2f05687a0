/* What must not get lost between calls: changed sources of a device that has no part in a call, and those of a call
 * that failed on a device. */
#include "faults.h"
#include "several_test.h"

enum { N = 200, SINKS = 12 };

/* Fewer sources count than there are devices, while others change: all changes are there when they count again. */
static void no_part_in_a_call(void **state)
{
    (void)state;
    const char *const devices = no_device() ? NULL : two_parts();
    if (!devices)
        skip();
    bodies b = bodies_new(N, 31);
    gravel_several *s = several_new(devices, GRAVEL_DS, GRAVEL_HOST_NEVER);
    const gravel_sources all = sources_of(&b, 0, N);
    const gravel_sinks sinks = sinks_of(&b, 0, SINKS, NULL);
    const gravel_several_call c = call_of(&sinks, 4, 0.05, 1, 0);
    assert_ok(gravel_several_write_sources(s, 0, &all));
    for (uint32_t turn = 0; turn < 4; turn++) {
        const size_t count = turn % 2 == 0 ? 1 : N;
        const uint32_t at = 21 + turn;
        b.d[0][0][at] += 0.5;
        const gravel_sources one = sources_of(&b, at, 1);
        assert_ok(gravel_several_set_source_count(s, count));
        assert_ok(gravel_several_scatter_sources(s, &at, &one));
        results got = several_run(s, &c);
        const gv_ref_particles ref_sinks = view_of(&b, 0, SINKS), ref_sources = view_of(&b, 0, count);
        results want = reference_run(4, &ref_sinks, &ref_sources, 0.05, NULL, 0);
        assert_forces(&got, &want, 4, GRAVEL_DS, &ref_sinks, &ref_sources, 0.05, "no part in a call");
        results_free(&got);
        results_free(&want);
    }
    gravel_several_release(s);
    bodies_free(&b);
}

/* A call of the kind of `turn`: a few sources changed, a third of them, or lists are read. */
static void change(bodies *b, gravel_several *s, int turn)
{
    const uint32_t first = (uint32_t)turn * 7 % 100, count = turn % 3 == 1 ? N / 3 : 2;
    for (uint32_t k = first; k < first + count; k++)
        b->d[0][turn % 3][k] += 0.125;
    const gravel_sources some = sources_of(b, first, count);
    assert_ok(gravel_several_write_sources(s, first, &some));
}

static gravel_status run(gravel_several *s, const gravel_several_call *c, results *r)
{
    const gravel_forces f = several_forces(4, 1, r);
    gravel_status status = gravel_several_submit(s, c);
    return status ? status : gravel_several_collect(s, &f, &r->overflow);
}

/* Each OpenCL call of a call fails once: a status and a message, and the next call has all that was written before. */
static void a_device_fails(void **state)
{
    enum { CAPACITY = 8, MOST = 2000 };
    (void)state;
    const char *const devices = no_device() ? NULL : two_parts();
    if (!devices)
        skip();
    bodies b = bodies_new(N, 32);
    double radius[SINKS];
    gravel_several *s = several_new(devices, GRAVEL_DS, GRAVEL_HOST_NEVER);
    const gravel_sources all = sources_of(&b, 0, N);
    const gravel_sinks sinks = sinks_of(&b, 0, SINKS, radius);
    const gravel_several_call c[2] = {call_of(&sinks, 4, 0.05, 1, 0), call_of(&sinks, 4, 0.05, 1, CAPACITY)};
    const gv_ref_particles ref_sinks = view_of(&b, 0, SINKS), ref_sources = view_of(&b, 0, N);
    int failed = 0, at[9] = {0};
    for (int k = 0; k < SINKS; k++)
        radius[k] = 0.2;
    assert_ok(gravel_several_write_sources(s, 0, &all));
    for (int k = 0; k < 2; k++) { /* nothing is left to compile */
        results r = several_run(s, &c[k]);
        results_free(&r);
    }
    for (int turn = 0; turn < MOST; turn++) {
        const int kind = turn % 9, lists = kind % 3 == 2;
        if (at[kind] < 0)
            continue;
        results got = results_new(SINKS, lists ? CAPACITY : 0);
        change(&b, s, turn);
        gv_fail(GRAVEL_OK, "no message");
        failed_call = NULL;
        fails_late = kind >= 3;
        countdown = ++at[kind];
        const gravel_status status = kind < 6 ? run(s, &c[lists], &got) : gravel_several_submit(s, &c[lists]);
        countdown = 0;
        if (!failed_call) /* there are no more calls */
            at[kind] = -1;
        if (status && strcmp(gravel_error_message(), "no message") == 0)
            fail_msg("%s fails: no message", failed_call);
        failed += status != GRAVEL_OK;
        change(&b, s, 3 * turn); /* few */
        results_free(&got);
        got = several_run(s, &c[lists]);
        if (lost_queue)
            fail_msg("nobody waits for what a kernel did");
        results want = reference_run(4, &ref_sinks, &ref_sources, 0.05, lists ? radius : NULL, lists ? CAPACITY : 0);
        assert_forces(&got, &want, 4, GRAVEL_DS, &ref_sinks, &ref_sources, 0.05, failed_call ? failed_call : "none");
        assert_nearest(&got, &want, GRAVEL_DS, &ref_sinks, &ref_sources, failed_call ? failed_call : "none");
        results_free(&got);
        results_free(&want);
    }
    print_message("%d calls failed\n", failed);
    for (int kind = 0; kind < 9; kind++)
        assert_true(failed > 20 && at[kind] < 0);
    gravel_several_release(s);
    assert_int_equal(live_objects, 0);
    bodies_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_fails),
        cmocka_unit_test(no_part_in_a_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
