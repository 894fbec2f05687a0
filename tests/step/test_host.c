/* src/host/step/host*.c: blocks that the host moves, beside those of the device. */
#include "faults.h"
#include "hermite_test.h"

static gravel_hermite_options options_of(int order, gravel_host_answers host, double unit)
{
    gravel_hermite_options o = GRAVEL_HERMITE_OPTIONS_INIT;
    o.order = order;
    o.criterion = order == 6 ? GRAVEL_STEP_AVERAGE : GRAVEL_STEP_AARSETH;
    o.eps = 0.05 * unit;
    o.host = host;
    return o;
}

/* The host moves blocks of up to so many bodies from now on. */
static void set_host(run *r, size_t up_to)
{
    gravel_hermite_state state;
    assert_ok(gravel_hermite_get_state(r->hermite, &state));
    state.host_up_to = up_to;
    assert_ok(gravel_hermite_resume(r->hermite, &state));
}

/* Largest difference of a plane, over its largest number. */
static double difference(const run *a, const run *b, gravel_plane plane)
{
    double x[N][3], y[N][3], most = 0, size = 0;
    assert_ok(gravel_bodies_read(a->bodies, plane, 0, N, &GRAVEL_ARRAY_OUT_AOS(x)));
    assert_ok(gravel_bodies_read(b->bodies, plane, 0, N, &GRAVEL_ARRAY_OUT_AOS(y)));
    for (int k = 0; k < 3 * N; k++) {
        most = fmax(most, fabs(x[k / 3][k % 3] - y[k / 3][k % 3]));
        size = fmax(size, fabs(x[k / 3][k % 3]));
    }
    return most / size;
}

/* To a time that is a multiple of 2^-7; how many blocks that took. */
static int go_to(run *r, double end)
{
    double next;
    int blocks = 0;
    assert_ok(gravel_hermite_get_next(r->hermite, &next));
    for (; next < end; blocks++) {
        assert_ok(gravel_hermite_step(r->hermite, NULL));
        assert_ok(gravel_hermite_get_next(r->hermite, &next));
    }
    assert_ok(gravel_hermite_synchronise(r->hermite, end));
    assert_ok(gravel_hermite_send(r->hermite));
    return blocks;
}

/* In dp the same blocks.  Limits are a hundred roundings, 1e-16 and 1e-7, of the largest velocity and acceleration, and
 * ten times that for jerks.  Snaps of order 4 are differences of accelerations over T^2, T some 1/100. */
static void host_and_device_agree(void **state)
{
    CONTEXT_OR_SKIP(context)
    static const struct {
        gravel_precision precision;
        int order, iterations, shared;
        size_t up_to;
        double unit;
    } runs[] = {{GRAVEL_DP, 4, 1, 0, N, 1},  {GRAVEL_DP, 6, 1, 0, N, 1}, {GRAVEL_DP, 6, 2, 0, 6, 64},
                {GRAVEL_DP, 4, 1, 1, N, 64}, {GRAVEL_DS, 4, 1, 0, N, 1}, {GRAVEL_DS, 6, 1, 0, 6, 64}};
    for (size_t c = 0; c < sizeof runs / sizeof runs[0]; c++) {
        const int dp = runs[c].precision == GRAVEL_DP;
        const double limit = dp ? 1e-14 : 1e-5;
        gravel_hermite_counts counts;
        if (!has_precision(context, runs[c].precision))
            continue;
        gravel_hermite_options o = options_of(runs[c].order, GRAVEL_HOST_NEVER, runs[c].unit);
        o.iterations = runs[c].iterations;
        o.shared = runs[c].shared;
        run device = make_run(context, runs[c].precision, &o);
        o.host = GRAVEL_HOST_ALWAYS;
        run host = make_run(context, runs[c].precision, &o);
        fill_run(&device, runs[c].unit);
        fill_run(&host, runs[c].unit);
        set_host(&host, runs[c].up_to);
        const int blocks = go_to(&device, 9.0 / 128), by_host = go_to(&host, 9.0 / 128);
        const double a = difference(&device, &host, GRAVEL_ACCELERATION),
                     v = difference(&device, &host, GRAVEL_VELOCITY), j = difference(&device, &host, GRAVEL_JERK),
                     s = difference(&device, &host, GRAVEL_SNAP);
        gravel_hermite_get_counts(host.hermite, &counts);
        print_message("%s, order %d: %d of %d blocks by the host; velocities %.1e, accelerations %.1e, jerks %.1e, "
                      "snaps %.1e apart\n",
                      gravel_precision_name(runs[c].precision), o.order, (int)counts.host_blocks, (int)counts.blocks, v,
                      a, j, s);
        assert_true(!dp || blocks == by_host);
        assert_true(counts.host_blocks > 0 && (counts.host_blocks == counts.blocks) == (runs[c].up_to == N));
        assert_true(v <= limit && a <= limit && j <= 10 * limit && s <= 1000 * limit);
        free_run(&device);
        free_run(&host);
    }
}

static void *state_of(run *r, size_t *size)
{
    assert_ok(gravel_hermite_send(r->hermite));
    *size = gravel_bodies_get_state_size(r->bodies);
    void *state = malloc(*size);
    assert_non_null(state);
    assert_ok(gravel_bodies_save(r->bodies, state));
    return state;
}

static void steps(run *r, int count, int send)
{
    for (int k = 0; k < count; k++) {
        assert_ok(gravel_hermite_step(r->hermite, NULL));
        if (send)
            assert_ok(gravel_hermite_send(r->hermite));
    }
}

/* When bodies are sent, and where a run was stopped, changes no bit: the host has what the planes can hold. */
static void resumed_runs_have_the_same_bits(void **state)
{
    CONTEXT_OR_SKIP(context)
    for (int order = 4; order <= 6; order += 2) {
        const gravel_precision p = order == 4 || !has_precision(context, GRAVEL_DP) ? GRAVEL_DS : GRAVEL_DP;
        const gravel_hermite_options o = options_of(order, GRAVEL_HOST_ALWAYS, 1);
        gravel_hermite_state at;
        size_t size, end_size, other_size;
        char choices[4096];
        run whole = make_run(context, p, &o), rest = make_run(context, p, &o);
        fill_run(&whole, 1);
        set_host(&whole, 6);
        steps(&whole, 37, 0);
        assert_ok(gravel_hermite_get_state(whole.hermite, &at));
        void *middle = state_of(&whole, &size);
        assert_true(gravel_direct_get_choices(whole.direct, choices, sizeof choices) <= sizeof choices);
        steps(&whole, 60, 0);
        void *end = state_of(&whole, &end_size);
        free_run(&whole);

        assert_ok(gravel_bodies_restore(rest.bodies, middle, size));
        assert_ok(gravel_direct_set_choices(rest.direct, choices));
        assert_ok(gravel_hermite_resume(rest.hermite, &at));
        steps(&rest, 60, 1);
        void *other = state_of(&rest, &other_size);
        free_run(&rest);
        assert_true(at.host_up_to == 6 && at.host_blocks > 0 && at.host_blocks < at.blocks);
        assert_int_equal(end_size, other_size);
        assert_memory_equal(end, other, end_size);
        free(middle);
        free(end);
        free(other);
    }
}

/* Measured twice: the second time it was kept, or is measured again; either way the run goes on. */
static void who_moves_is_measured(void **state)
{
    CONTEXT_OR_SKIP(context)
    const gravel_hermite_options o = options_of(4, GRAVEL_HOST_WHERE_FASTER, 1);
    gravel_hermite_state first, second;
    run r = make_run(context, GRAVEL_DS, &o);
    fill_run(&r, 1);
    assert_ok(gravel_hermite_get_state(r.hermite, &first));
    steps(&r, 20, 0);
    assert_ok(gravel_hermite_start(r.hermite, 1));
    assert_ok(gravel_hermite_get_state(r.hermite, &second));
    assert_true(first.host_up_to <= N && second.host_up_to <= N);
    steps(&r, 3, 0);
    free_run(&r);
}

/* The host's blocks cost nothing, or all: so the look at the steps after 16 blocks changes who moves them. */
static void give_costs(run *r, double host)
{
    gravel_hermite_state state;
    assert_ok(gravel_hermite_get_state(r->hermite, &state));
    memcpy(state.host_costs, (double[6]){host, 0, 1e-3, 0, 0, 0}, sizeof state.host_costs);
    assert_ok(gravel_hermite_resume(r->hermite, &state));
}

/* Who moves changes on the way, and in the same way in a run that was stopped before. */
static void reviews_survive_a_stop(void **state)
{
    CONTEXT_OR_SKIP(context)
    const gravel_hermite_options o = options_of(4, GRAVEL_HOST_WHERE_FASTER, 1);
    for (int to_host = 0; to_host <= 1; to_host++) {
        gravel_hermite_state at, after;
        size_t size, end_size, other_size;
        char choices[4096];
        run whole = make_run(context, GRAVEL_DS, &o), rest = make_run(context, GRAVEL_DS, &o);
        fill_run(&whole, 1);
        give_costs(&whole, to_host ? 1e-6 : 1);
        set_host(&whole, to_host ? 0 : N);
        steps(&whole, 9, 0);
        assert_ok(gravel_hermite_get_state(whole.hermite, &at));
        void *middle = state_of(&whole, &size);
        assert_true(gravel_direct_get_choices(whole.direct, choices, sizeof choices) <= sizeof choices);
        steps(&whole, 21, 0);
        assert_ok(gravel_hermite_get_state(whole.hermite, &after));
        assert_int_equal(at.host_up_to, to_host ? 0 : N);
        assert_int_equal(after.host_up_to, to_host ? N : 0);
        assert_int_equal(after.host_blocks, to_host ? 14 : 16);
        void *end = state_of(&whole, &end_size);
        free_run(&whole);

        assert_ok(gravel_bodies_restore(rest.bodies, middle, size));
        assert_ok(gravel_direct_set_choices(rest.direct, choices));
        assert_ok(gravel_hermite_resume(rest.hermite, &at));
        steps(&rest, 21, 1);
        void *other = state_of(&rest, &other_size);
        free_run(&rest);
        assert_int_equal(end_size, other_size);
        assert_memory_equal(end, other, end_size);
        free(middle);
        free(end);
        free(other);
    }
}

static gravel_status no_force(gravel_bodies *active, size_t first, size_t count, double time, void *user)
{
    (void)active, (void)first, (void)count, (void)time, (void)user;
    return GRAVEL_OK;
}

static void what_the_host_refuses(void **state)
{
    CONTEXT_OR_SKIP(context)
    gravel_hermite_options o = options_of(4, GRAVEL_HOST_ALWAYS, 1);
    gravel_hermite *none;
    gravel_frame frame;
    run r = make_run(context, GRAVEL_DS, &o);
    fill_run(&r, 1);
    steps(&r, 3, 0);
    gravel_bodies_get_frame(r.bodies, &frame);
    frame.origin[0] += 0.25;
    assert_ok(gravel_bodies_set_frame(r.bodies, &frame));
    assert_int_equal(gravel_hermite_step(r.hermite, NULL), GRAVEL_ERR_STATE);
    assert_contains(gravel_error_message(), "without gravel_hermite_send");
    assert_ok(gravel_hermite_start(r.hermite, 0)); /* what the planes have */
    steps(&r, 3, 1);
    frame.origin[0] -= 0.25;
    assert_ok(gravel_bodies_set_frame(r.bodies, &frame));
    steps(&r, 3, 0);
    o.external = no_force;
    assert_int_equal(gravel_hermite_create(&none, r.bodies, r.direct, &o), GRAVEL_ERR_ARGUMENT);
    o.external = NULL;
    o.soften = GRAVEL_SOFTEN_MAX;
    assert_int_equal(gravel_hermite_create(&none, r.bodies, r.direct, &o), GRAVEL_ERR_ARGUMENT);
    /* a step that is too short is named as on the device */
    o = options_of(4, GRAVEL_HOST_ALWAYS, 1);
    o.step_min = 0x1p-7;
    o.eta_start = 1;
    run coarse = make_run(context, GRAVEL_DS, &o);
    fill_run(&coarse, 1);
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k < 200 && !status; k++)
        status = gravel_hermite_step(coarse.hermite, NULL);
    assert_int_equal(status, GRAVEL_ERR_STATE);
    assert_contains(gravel_error_message(), "is below step_min");
    free_run(&coarse);
    free_run(&r);
}

static void same_states(run *a, run *b)
{
    size_t size, other_size;
    void *const state = state_of(a, &size), *const other = state_of(b, &other_size);
    assert_int_equal(size, other_size);
    assert_memory_equal(state, other, size);
    free(state);
    free(other);
}

/* There is no memory for the copy on its way: the next block makes it anew. */
static void a_copy_without_memory(void **state)
{
    CONTEXT_OR_SKIP(context)
    const gravel_hermite_options o = options_of(4, GRAVEL_HOST_ALWAYS, 1);
    run whole = make_run(context, GRAVEL_DS, &o), failing = make_run(context, GRAVEL_DS, &o);
    fill_run(&whole, 1);
    fill_run(&failing, 1);
    countdown = 1;
    assert_int_equal(gravel_hermite_step(failing.hermite, NULL), GRAVEL_ERR_DEVICE_MEMORY);
    assert_int_equal(countdown, 0);
    steps(&whole, 5, 0);
    steps(&failing, 5, 0);
    same_states(&whole, &failing);
    free_run(&whole);
    free_run(&failing);
}

/* Whatever call of the sending fails, the changes are sent when it comes again. */
static void a_failed_send_comes_again(void **state)
{
    CONTEXT_OR_SKIP(context)
    const gravel_hermite_options o = options_of(4, GRAVEL_HOST_ALWAYS, 1);
    run whole = make_run(context, GRAVEL_DS, &o), failing = make_run(context, GRAVEL_DS, &o);
    int failures = 0;
    fill_run(&whole, 1);
    fill_run(&failing, 1);
    for (int at = 1, over = 0; !over; at++) {
        steps(&whole, 3, 0);
        steps(&failing, 3, 0);
        countdown = at;
        const gravel_status status = gravel_hermite_send(failing.hermite);
        over = countdown > 0;
        countdown = 0;
        assert_int_equal(status == GRAVEL_OK, over);
        failures += !over;
        steps(&failing, !over, 0); /* more changes meanwhile, of the same bodies too */
        steps(&whole, !over, 0);
        same_states(&whole, &failing);
    }
    assert_true(failures > 2); /* a write, arguments, a launch */
    free_run(&whole);
    free_run(&failing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_and_device_agree),     cmocka_unit_test(resumed_runs_have_the_same_bits),
        cmocka_unit_test(who_moves_is_measured),     cmocka_unit_test(reviews_survive_a_stop),
        cmocka_unit_test(what_the_host_refuses),     cmocka_unit_test(a_copy_without_memory),
        cmocka_unit_test(a_failed_send_comes_again),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
