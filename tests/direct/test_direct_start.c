/* gravel_direct_start on nothing and on nonsense; what a call did not compute; calls that were prepared. */
#include "views_test.h"

static void nobody(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(N, 38);
    double *eps = lengths(N);
    gravel_bodies *there = stored(context, &b, eps, GRAVEL_SP);
    gravel_list *none = listed(context, NULL, 0);
    gravel_direct *d = direct_new(context, (direct_want){.order = 4, .precision = GRAVEL_SP, .nearest = 1});
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    call.sources = gravel_view_all(there);
    call.sinks = gravel_view_list(there, none);
    results got = collected(d, &call, 0, 0); /* no active body */
    results_free(&got);
    call.into = GRAVEL_INTO_PLANES;
    call.nearest = 0;
    gravel_ticket *ticket;
    assert_ok(gravel_direct_start(d, &call, &ticket));
    assert_ok(gravel_ticket_wait(ticket));
    gravel_ticket_release(ticket);
    call.into = 0;
    call.nearest = 1;
    call.sources = gravel_view_range(there, N, 0);
    call.sinks = gravel_view_range(there, 0, 5);
    got = collected(d, &call, 5, 0); /* no source */
    for (size_t i = 0; i < 5; i++) {
        for (int c = 0; c < components_of(4); c++)
            assert_true(got.v[c][i] == 0);
        assert_int_equal(got.nearest[i], GRAVEL_NONE);
        assert_int_equal(got.nearest_id[i], -1);
        assert_true(isinf(got.distance[i]));
    }
    results_free(&got);
    call.into = GRAVEL_INTO_PLANES;
    call.nearest = 0;
    assert_ok(gravel_direct_start(d, &call, NULL));
    double *acc = plane_of(there, GRAVEL_ACCELERATION);
    for (int k = 0; k < 5; k++)
        assert_true(acc[k] == 0 && acc[N + k] == 0 && acc[k + 5] != 0);
    free(acc);
    gravel_direct_release(d);
    gravel_list_release(none);
    gravel_bodies_release(there);
    free(eps);
    bodies_free(&b);
}

static void refused(gravel_direct *d, const gravel_direct_call *call, const char *part)
{
    gravel_ticket *ticket = (gravel_ticket *)1;
    assert_int_equal(gravel_direct_start(d, call, &ticket), GRAVEL_ERR_ARGUMENT);
    assert_null(ticket);
    assert_contains(gravel_error_message(), part);
}

/* Each refusal has its reason; afterwards the object works as before. */
static void nonsense(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(N, 39);
    double *eps = lengths(N);
    gravel_bodies *there = stored(context, &b, eps, GRAVEL_SP), *bare;
    gravel_list *far = listed(context, (uint32_t[]){3, N}, 2);
    gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_SP});
    const gravel_sinks points = sinks_of(&b, 0, 5, NULL);
    gravel_direct_call good = GRAVEL_DIRECT_CALL_INIT, call;
    assert_ok(gravel_bodies_create(&bare, context, NULL));
    good.sources = gravel_view_all(there);
    good.sinks = gravel_view_range(there, 0, SINKS);
    good.eps = EPS;
    results first = collected(d, &good, SINKS, 0);
    call = good;
    call.order = 3;
    refused(d, &call, "order is 3");
    call = good;
    call.soften = (gravel_soften)9;
    refused(d, &call, "kind 9");
    call = good;
    call.into = GRAVEL_INTO_ADD;
    refused(d, &call, "GRAVEL_INTO_PLANES");
    call = good;
    call.into = GRAVEL_INTO_PLANES;
    call.nearest = 1;
    refused(d, &call, "neighbours go to the host");
    call = good;
    call.sinks = gravel_view_list(there, far);
    refused(d, &call, "names body 150");
    call = good;
    call.sinks = gravel_view_range(there, N - 1, 2);
    refused(d, &call, "sinks");
    call = good;
    call.sinks.bodies = NULL;
    refused(d, &call, "there are no sinks");
    call.points = &points;
    call.into = GRAVEL_INTO_PLANES;
    refused(d, &call, "points have no planes");
    call = good;
    call.sources = gravel_view_all(bare);
    call.soften = GRAVEL_SOFTEN_SOURCES;
    refused(d, &call, "the sources have no softening lengths");
    call = good;
    call.sinks.bodies = NULL;
    call.points = &points;
    call.soften = GRAVEL_SOFTEN_SUM;
    refused(d, &call, "the sinks have no softening lengths");
    call = good;
    call.predict = 1;
    call.time = NAN;
    assert_int_equal(gravel_direct_start(d, &call, NULL), GRAVEL_ERR_INPUT);
    assert_int_equal(gravel_direct_start(d, &good, NULL), GRAVEL_ERR_ARGUMENT); /* results for the host, no ticket */
    assert_contains(gravel_error_message(), "ticket");
    results again = collected(d, &good, SINKS, 0);
    assert_same_bits(&first, &again, 2);
    results_free(&first);
    results_free(&again);
    gravel_direct_release(d);
    gravel_list_release(far);
    gravel_bodies_release(bare);
    gravel_bodies_release(there);
    free(eps);
    bodies_free(&b);
}

/* What a call did not compute is refused with the option that gives it, and nothing is written; the results are still
 * there for a collect of less. */
static void not_computed(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(N, 40);
    gravel_direct *d = direct_new(context, (direct_want){.order = 2, .precision = GRAVEL_SP});
    const gravel_sinks points = sinks_of(&b, 0, SINKS, NULL);
    results r = results_new(SINKS, 1);
    const struct {
        gravel_forces f;
        const char *part;
    } wrong[] = {
        {{.pot = r.v[R_POT], .jerk = GRAVEL_VEC_OUT_SOA(r.v[R_JX], r.v[R_JY], r.v[R_JZ])}, "it takes 4 or 6"},
        {{.pot = r.v[R_POT], .snap = GRAVEL_VEC_OUT_SOA(NULL, r.v[R_SY], NULL)}, "it takes 6"},
        {{.pot = r.v[R_POT], .nearest_id = r.nearest_id}, "nearest = 1"},
        {{.pot = r.v[R_POT], .neighbour_count = r.count}, "neighbour_capacity > 0"},
    };
    direct_write(d, &b, 0, N);
    assert_ok(gravel_direct_submit(d, &points, EPS));
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        assert_int_equal(gravel_direct_collect(d, &wrong[k].f, NULL), GRAVEL_ERR_ARGUMENT);
        assert_contains(gravel_error_message(), wrong[k].part);
        assert_true(isnan(r.v[R_POT][0]));
    }
    const gravel_forces less = {.pot = r.v[R_POT]};
    assert_ok(gravel_direct_collect(d, &less, NULL));
    assert_true(r.v[R_POT][0] < 0 && r.v[R_POT][SINKS - 1] < 0);
    results_free(&r);
    gravel_direct_release(d);
    bodies_free(&b);
}

/* After gravel_direct_prepare calls up to the sizes named allocate and compile nothing. */
static void prepared(void **state)
{
    CONTEXT_OR_SKIP(context)
    bodies b = bodies_new(N, 41);
    double *eps = lengths(N);
    gravel_bodies *there = stored(context, &b, eps, GRAVEL_DS);
    gravel_direct *d = direct_new(context, (direct_want){.order = 4, .precision = GRAVEL_DS, .nearest = 1});
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    call.sources = gravel_view_all(there);
    call.sinks = gravel_view_range(there, 0, N);
    call.eps = EPS;
    call.predict = 1;
    assert_ok(gravel_direct_prepare(d, &call, N, N));
    const int kernels = d->n_kernels;
    const cl_mem partial = d->partial.mem, sinks = d->sinks.mem, quads = d->taken.quads.mem;
    const gravel_ticket *tickets = d->tickets;
    for (size_t n = N; n > 0; n = n * 2 / 3) {
        call.sinks = gravel_view_range(there, 0, n);
        results r = collected(d, &call, n, 0);
        results_free(&r);
    }
    assert_int_equal(d->n_kernels, kernels);
    assert_true(d->partial.mem == partial && d->sinks.mem == sinks && d->taken.quads.mem == quads);
    assert_true(d->tickets == tickets);
    gravel_direct_release(d);
    gravel_bodies_release(there);
    free(eps);
    bodies_free(&b);
}

/* Preparing starts one group of the force kernel: its partial results fit, also where one part has all sources, so that
 * a call of that size needs no room for any. */
static void prepared_in_one_part(void **state)
{
    CONTEXT_OR_SKIP(context)
    gv_direct_layout layout;
    bodies b = bodies_new(N, 42);
    double *eps = lengths(N);
    gravel_bodies *there = stored(context, &b, eps, GRAVEL_DS);
    gravel_direct *d =
        direct_new(context, (direct_want){.order = 4, .precision = GRAVEL_DS, .configuration = SMALL_SHAPE});
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;

    call.sources = gravel_view_all(there);
    call.sinks = gravel_view_range(there, 0, SINKS);
    assert_ok(gravel_direct_prepare(d, &call, SINKS, N));
    gv_direct_layout_set(&layout, &d->variant[0], GRAVEL_SOFTEN_EPS);
    const size_t group = 4 * (size_t)layout.scalar_size; /* of SMALL_SHAPE */
    assert_true(d->partial.size >= (size_t)layout.partial_planes * group);
    results r = collected(d, &call, SINKS, 0);
    results_free(&r);
    gravel_direct_release(d);
    gravel_bodies_release(there);
    free(eps);
    bodies_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody),
        cmocka_unit_test(nonsense),
        cmocka_unit_test(not_computed),
        cmocka_unit_test(prepared),
        cmocka_unit_test(prepared_in_one_part),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
