/* Runs that stop and go on, and runs that are looked at: the same bits as one that nobody touched. */
#include "hermite_test.h"

static void *state_of(gravel_bodies *set, size_t *size)
{
    *size = gravel_bodies_get_state_size(set);
    void *state = malloc(*size);
    assert_non_null(state);
    assert_ok(gravel_bodies_save(set, state));
    return state;
}

static gravel_hermite_options options_of(int order)
{
    gravel_hermite_options o = GRAVEL_HERMITE_OPTIONS_INIT;
    o.order = order;
    o.criterion = order == 6 ? GRAVEL_STEP_AVERAGE : GRAVEL_STEP_AARSETH;
    o.eps = 0.05;
    return o;
}

static void steps(run *r, int count)
{
    for (int k = 0; k < count; k++)
        assert_ok(gravel_hermite_step(r->hermite, NULL));
}

static void resumed_runs_have_the_same_bits(void **state)
{
    CONTEXT_OR_SKIP(context)
    for (int order = 4; order <= 6; order += 2) {
        const gravel_precision p = order == 4 || !has_precision(context, GRAVEL_DP) ? GRAVEL_DS : GRAVEL_DP;
        const gravel_hermite_options o = options_of(order);
        gravel_hermite_state at;
        gravel_hermite_counts counts, again;
        size_t size, end_size, other_size;
        run whole = make_run(context, p, &o), rest = make_run(context, p, &o);
        fill_run(&whole, 1);
        steps(&whole, 37);
        void *middle = state_of(whole.bodies, &size);
        assert_ok(gravel_hermite_get_state(whole.hermite, &at));
        char choices[4096];
        assert_true(gravel_direct_get_choices(whole.direct, choices, sizeof choices) <= sizeof choices);
        steps(&whole, 60);
        void *end = state_of(whole.bodies, &end_size);
        gravel_hermite_get_counts(whole.hermite, &counts);
        free_run(&whole);

        assert_int_equal(gravel_hermite_resume(rest.hermite, &at), GRAVEL_ERR_STATE); /* no bodies yet */
        assert_ok(gravel_bodies_restore(rest.bodies, middle, size));
        assert_ok(gravel_direct_set_choices(rest.direct, choices));
        assert_ok(gravel_hermite_resume(rest.hermite, &at));
        steps(&rest, 60);
        void *other = state_of(rest.bodies, &other_size);
        gravel_hermite_get_counts(rest.hermite, &again);
        free_run(&rest);
        assert_int_equal(end_size, other_size);
        assert_memory_equal(end, other, end_size);
        assert_true(counts.blocks == again.blocks && counts.steps == again.steps && counts.blocks == 97);
        free(middle);
        free(end);
        free(other);
    }
}

/* Looking at all bodies between blocks leaves the run as it is and shows what a step to that time gives. */
static void looking_changes_nothing(void **state)
{
    CONTEXT_OR_SKIP(context)
    const gravel_hermite_options o = options_of(4);
    double x[N][3], synchronised[N][3], next;
    size_t size, looked_size;
    gravel_bodies *at;
    gravel_hermite_step_info info;
    run plain = make_run(context, GRAVEL_DS, &o), looked = make_run(context, GRAVEL_DS, &o);
    fill_run(&plain, 1);
    fill_run(&looked, 1);
    for (int k = 0; k < 40; k++) {
        steps(&plain, 1);
        assert_ok(gravel_hermite_step(looked.hermite, &info));
        if (k % 4 == 0) {
            assert_ok(gravel_hermite_get_next(looked.hermite, &next));
            assert_ok(gravel_hermite_get_bodies_at(looked.hermite, 0.5 * (info.time + next), &at));
            assert_int_equal(gravel_bodies_get_count(at), N);
        }
    }
    assert_int_equal(gravel_hermite_get_bodies_at(looked.hermite, 100, &at), GRAVEL_ERR_ARGUMENT);
    void *one = state_of(plain.bodies, &size), *other = state_of(looked.bodies, &looked_size);
    assert_int_equal(size, looked_size);
    assert_memory_equal(one, other, size);
    free(one);
    free(other);
    assert_ok(gravel_hermite_get_next(looked.hermite, &next));
    assert_ok(gravel_hermite_get_bodies_at(looked.hermite, next, &at));
    assert_ok(gravel_bodies_read(at, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_OUT_AOS(x)));
    assert_ok(gravel_hermite_synchronise(looked.hermite, next));
    assert_ok(gravel_bodies_read(looked.bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_OUT_AOS(synchronised)));
    assert_memory_equal(x, synchronised, sizeof x);
    /* all bodies are at this time now: they are shown as they are */
    assert_ok(gravel_hermite_get_bodies_at(looked.hermite, next, &at));
    assert_ok(gravel_bodies_read(at, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_OUT_AOS(x)));
    assert_memory_equal(x, synchronised, sizeof x);
    free_run(&plain);
    free_run(&looked);
}

static void states_are_checked(void **state)
{
    CONTEXT_OR_SKIP(context)
    const gravel_hermite_options o = options_of(4);
    gravel_bodies_options single = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_bodies *other;
    double x[N][3], again[N][3];
    size_t size;
    run r = make_run(context, GRAVEL_DS, &o);
    fill_run(&r, 1);
    char *saved = state_of(r.bodies, &size);
    single.precision = GRAVEL_SP;
    assert_ok(gravel_bodies_create(&other, context, &single));
    assert_int_equal(gravel_bodies_restore(other, saved, size), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "of bodies in ds, these are in sp");
    gravel_bodies_release(other);
    assert_ok(gravel_bodies_read(r.bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_OUT_AOS(x)));
    assert_int_equal(gravel_bodies_restore(r.bodies, saved, size - 1), GRAVEL_ERR_FORMAT);
    assert_int_equal(gravel_bodies_restore(r.bodies, saved, 5), GRAVEL_ERR_FORMAT);
    saved[0] ^= 1;
    assert_int_equal(gravel_bodies_restore(r.bodies, saved, size), GRAVEL_ERR_FORMAT);
    assert_ok(gravel_bodies_read(r.bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_OUT_AOS(again)));
    assert_memory_equal(x, again, sizeof x);
    free(saved);
    assert_int_equal(gravel_direct_set_choices(r.direct, "0 1 2 3"), GRAVEL_ERR_FORMAT);
    assert_int_equal(gravel_direct_set_choices(r.direct, "0 99 0 0 0 threads=1\n"), GRAVEL_ERR_FORMAT);
    assert_int_not_equal(gravel_direct_set_choices(r.direct, "0 0 0 0 0 threads=7\n"), GRAVEL_OK);
    free_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resumed_runs_have_the_same_bits),
        cmocka_unit_test(looking_changes_nothing),
        cmocka_unit_test(states_are_checked),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
