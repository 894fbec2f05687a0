/* Submit and collect of gravel_direct: calls in flight. */
#include "host/direct/object.h"
#include "problem.h"

/* What is written, scattered, counted, predicted or grown after submit does not affect the call, nor do new ids. */
static void call_is_not_disturbed(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 400, SINKS = 60, LIST = 20 };
    bodies b = bodies_new(N, 16), other = bodies_new(4 * N, 17);
    double radius[SINKS];
    uint32_t address[50];
    for (size_t i = 0; i < SINKS; i++)
        radius[i] = 0.4;
    for (uint32_t k = 0; k < 50; k++)
        address[k] = 8 * k;
    for (size_t i = 0; i < 4 * N; i++)
        other.id[i] = 5000 + (int32_t)i;
    for (int change = 0; change < 5; change++) {
        gravel_direct *d = direct_new(
            context,
            (direct_want){.order = 4, .precision = GRAVEL_DS, .nearest = 1, .capacity = LIST, .prediction = 1});
        direct_write(d, &b, 0, N);
        const gv_ref_particles sinks = view_of(&b, 0, SINKS), sources = view_of(&b, 0, N);
        gravel_sinks in = sinks_of(&b, 0, SINKS, radius);
        results want = reference_run(4, &sinks, &sources, 0.1, radius, LIST), got = results_new(SINKS, LIST);
        const gravel_forces f = forces_into(d, &got);
        assert_ok(gravel_direct_submit(d, &in, 0.1));
        const gravel_sources many = sources_of(&other, 0, 4 * N), few = sources_of(&other, 0, 50);
        switch (change) {
        case 0: /* with growth */
            assert_ok(gravel_direct_write_sources(d, 0, &many));
            break;
        case 1:
            assert_ok(gravel_direct_scatter_sources(d, address, &few));
            assert_ok(gravel_direct_scatter_sources(d, address, &few)); /* ids are kept once */
            break;
        case 2:
            assert_ok(gravel_direct_set_source_count(d, 3));
            break;
        case 3:
            assert_ok(gravel_direct_set_time(d, 3.0));
            copy c = copy_of(d, 0, N);
            copy_free(&c);
            break;
        default: /* the sinks' arrays are the caller's again */
            for (size_t i = 0; i < SINKS; i++)
                b.d[0][0][i] += 1000;
            break;
        }
        assert_ok(gravel_direct_collect(d, &f, &got.overflow));
        for (size_t i = 0; change == 4 && i < SINKS; i++)
            b.d[0][0][i] -= 1000;
        assert_forces(&got, &want, 4, GRAVEL_DS, &sinks, &sources, 0.1, "in flight");
        assert_nearest(&got, &want, GRAVEL_DS, &sinks, &sources, "in flight");
        assert_lists(&got, GRAVEL_DS, &sinks, &sources, radius, "in flight");
        results_free(&got);
        results_free(&want);
        gravel_direct_release(d);
        for (size_t i = 0; i < N; i++) /* 1000 back and forth rounds */
            b.d[0][0][i] = ldexp(nearbyint(ldexp(b.d[0][0][i], 30)), -30);
    }
    bodies_free(&b);
    bodies_free(&other);
}

/* A second submit drops the first; collect without submit is refused, also a second time; an object may be released
 * with a call in flight. */
static void submit_and_collect(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(300, 18);
    gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_DS, .nearest = 1});
    const gravel_sinks many = sinks_of(&b, 0, 300, NULL), few = sinks_of(&b, 7, 11, NULL), none = {.count = 0};
    results got = results_new(300, 0);
    const gravel_forces f = forces_into(d, &got);
    assert_int_equal(gravel_direct_collect(d, &f, NULL), GRAVEL_ERR_STATE);
    direct_write(d, &b, 0, 300);
    assert_int_equal(gravel_direct_collect(d, &f, NULL), GRAVEL_ERR_STATE);
    assert_ok(gravel_direct_submit(d, &many, 0.1));
    assert_ok(gravel_direct_submit(d, &few, 0.1));
    assert_ok(gravel_direct_collect(d, &f, NULL));
    const gv_ref_particles sinks = view_of(&b, 7, 11), sources = view_of(&b, 0, 300);
    results want = reference_run(2, &sinks, &sources, 0.1, NULL, 0);
    results first = got;
    first.n = 11;
    assert_forces(&first, &want, 2, GRAVEL_DS, &sinks, &sources, 0.1, "second of two");
    for (size_t i = 11; i < 300; i++)
        assert_true(isnan(got.v[R_AX][i]) && isnan(got.v[R_POT][i]));
    assert_int_equal(gravel_direct_collect(d, &f, NULL), GRAVEL_ERR_STATE);
    /* a refused submit leaves no call behind, not even the one before */
    assert_ok(gravel_direct_submit(d, &few, 0.1));
    assert_int_equal(gravel_direct_submit(d, &few, -1), GRAVEL_ERR_ARGUMENT);
    assert_ok(gravel_direct_submit(d, &none, 0.1));
    assert_ok(gravel_direct_collect(d, &f, NULL));
    assert_int_equal(gravel_direct_collect(d, &f, NULL), GRAVEL_ERR_STATE);
    assert_ok(gravel_direct_submit(d, &many, 0));
    gravel_direct_release(d);
    gravel_direct_release(NULL);
    results_free(&got);
    results_free(&want);
    bodies_free(&b);
}

/* Without sources every force is zero and no sink has a neighbour. */
static void no_sources(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(20, 19);
    double radius[20] = {1, 1};
    gravel_direct *d =
        direct_new(context, (direct_want){.order = 4, .precision = GRAVEL_SP, .nearest = 1, .capacity = 3});
    const gravel_sinks in = sinks_of(&b, 0, 20, radius);
    results got = direct_run(d, &in, 0, 3);
    for (size_t i = 0; i < 20; i++) {
        for (int c = 0; c < components_of(4); c++)
            assert_true(got.v[c][i] == 0);
        assert_true(isnan(got.v[R_SX][i]));
        assert_int_equal(got.nearest[i], GRAVEL_NONE);
        assert_int_equal(got.nearest_id[i], -1);
        assert_true(isinf(got.distance[i]));
        assert_int_equal(got.count[i], 0);
    }
    assert_int_equal(got.overflow, 0);
    results_free(&got);
    gravel_direct_release(d);
    bodies_free(&b);
}

/* Timing is off at first; switched on, the time of the kernels is that of the last call. */
static void kernel_time(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(500, 20);
    double seconds = -1;
    gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_SP});
    const gravel_sinks in = sinks_of(&b, 0, 500, NULL);
    direct_write(d, &b, 0, 500);
    assert_int_equal(gv_direct_row(d, 3, &seconds), GRAVEL_ERR_STATE); /* no call yet */
    results plain = direct_run(d, &in, 0.1, 0);
    assert_int_equal(gravel_direct_get_kernel_time(d, &seconds), GRAVEL_ERR_STATE);
    assert_ok(gv_direct_row(d, 3, &seconds));
    assert_true(seconds > 0 && seconds < 600);
    assert_ok(gravel_direct_set_timing(d, 1));
    results timed = direct_run(d, &in, 0.1, 0);
    assert_ok(gravel_direct_get_kernel_time(d, &seconds));
    assert_true(seconds > 0 && seconds < 600);
    assert_same_bits(&plain, &timed, 2);
    assert_ok(gravel_direct_submit(d, &in, 0.1));
    assert_int_equal(gv_direct_row(d, 3, &seconds), GRAVEL_ERR_STATE); /* it would overwrite what is not collected */
    assert_ok(gravel_direct_set_timing(d, 0));                         /* while a call is in flight */
    results_free(&timed);
    timed = results_new(500, 0);
    const gravel_forces f = forces_into(d, &timed);
    assert_ok(gravel_direct_collect(d, &f, NULL));
    assert_same_bits(&plain, &timed, 2);
    results_free(&plain);
    results_free(&timed);
    gravel_direct_release(d);
    bodies_free(&b);
}

/* Where the object has as many kernels as it has room for, the oldest makes room for one that is needed. */
static void kernels_make_room(void **state)
{
    CONTEXT_OR_SKIP(context)
    enum { N = 50 };
    bodies b = bodies_new(N, 3);
    gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_SP});
    const gravel_sinks sinks = sinks_of(&b, 0, N, NULL);
    direct_write(d, &b, 0, N);
    results soft = direct_run(d, &sinks, 0.1, 0), hard = {.n = 0};
    assert_int_equal(d->n_kernels, 1);
    for (; d->n_kernels < GV_DIRECT_KERNELS; d->n_kernels++) { /* compiling so many takes minutes */
        gv_direct_kernel *const other = &d->kernel[d->n_kernels];
        snprintf(other->options, sizeof other->options, "other %d", d->n_kernels);
        assert_int_equal(clRetainKernel(d->kernel[0].force), CL_SUCCESS);
        other->force = d->kernel[0].force;
    }
    for (int turn = 0; turn < 3; turn++) { /* without softening the kernel is another */
        results r = direct_run(d, &sinks, 0, 0), s = direct_run(d, &sinks, 0.1, 0);
        assert_int_equal(d->n_kernels, GV_DIRECT_KERNELS);
        assert_same_bits(&s, &soft, 2);
        if (turn == 0)
            hard = r;
        else {
            assert_same_bits(&r, &hard, 2);
            results_free(&r);
        }
        results_free(&s);
    }
    results_free(&soft);
    results_free(&hard);
    gravel_direct_release(d);
    bodies_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_is_not_disturbed), cmocka_unit_test(submit_and_collect), cmocka_unit_test(no_sources),
        cmocka_unit_test(kernel_time),           cmocka_unit_test(kernels_make_room),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
