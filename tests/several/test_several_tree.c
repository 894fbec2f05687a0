/* Tree code on two parts of a CPU: forces within the errors of the tree, on all bodies and on some of them. */
#include "several_test.h"

#include "host/program/cache.h"

enum { BODIES = 3000, SOME = 500 };

/* Without a context of its own all devices walk in each call. */
static gravel_several_tree *tree_new(const char *devices, const bodies *b, const gravel_context_options *context)
{
    gravel_several_tree_options o = GRAVEL_SEVERAL_TREE_OPTIONS_INIT;
    gravel_tree_options own = GRAVEL_TREE_OPTIONS_INIT;
    const gravel_sources all = sources_of(b, 0, BODIES);
    gravel_several_tree *t;
    own.precision = GRAVEL_DS;
    o.devices = devices;
    o.tree = &own;
    o.context = context;
    o.all_devices = context == NULL;
    assert_ok(gravel_several_tree_create(&t, &o));
    assert_ok(gravel_several_tree_write(t, &all));
    return t;
}

static gravel_forces tree_forces(const results *r)
{
    return (gravel_forces){.acc = GRAVEL_VEC_OUT_SOA(r->v[R_AX], r->v[R_AY], r->v[R_AZ]), .pot = r->v[R_POT]};
}

/* theta 0.5: errors of the acceleration are some 1e-3 of it, the largest of thousands below 3e-2 (doc/tree.md) */
static void assert_close(const results *got, const results *want)
{
    double sum = 0;
    for (size_t i = 0; i < got->n; i++) {
        double error = 0, length = 0;
        for (int c = R_AX; c <= R_AZ; c++) {
            error += (got->v[c][i] - want->v[c][i]) * (got->v[c][i] - want->v[c][i]);
            length += want->v[c][i] * want->v[c][i];
        }
        sum += error / length;
        assert_true(error < 3e-2 * 3e-2 * length);
        assert_true(fabs(got->v[R_POT][i] - want->v[R_POT][i]) < 1e-2 * fabs(want->v[R_POT][i]));
    }
    assert_true(sqrt(sum / (double)got->n) < 5e-3);
}

static void forces_of_two_parts(void **state)
{
    (void)state;
    const char *const devices = no_device() ? NULL : two_parts();
    if (!devices)
        skip();
    bodies b = bodies_new(BODIES, 31);
    uint32_t address[SOME];
    const gv_ref_particles ref = view_of(&b, 0, BODIES);
    results want = reference_run(2, &ref, &ref, 0.01, NULL, 0), of_some = results_new(SOME, 0);
    for (size_t k = 0; k < SOME; k++) { /* a corner of the cube and the rest thinly, in no order */
        address[k] = (uint32_t)(k * 1231 % BODIES);
        for (int c = 0; c < 4; c++)
            of_some.v[c][k] = want.v[c][address[k]];
    }
    results first[3];
    for (int turn = 0; turn < 2; turn++) {
        gravel_several_tree *t = tree_new(devices, &b, NULL);
        assert_int_equal(gravel_several_tree_get_device_count(t), 2);
        for (int call = 0; call < 3; call++) {
            results got = results_new(call < 2 ? BODIES : SOME, 0);
            const gravel_forces f = tree_forces(&got);
            if (call < 2)
                assert_ok(gravel_several_tree_forces(t, 0.01, &f));
            else
                assert_ok(gravel_several_tree_forces_active(t, address, SOME, 0.01, &f));
            assert_close(&got, call < 2 ? &want : &of_some);
            assert_int_equal(gravel_several_tree_get_sinks(t, 0) + gravel_several_tree_get_sinks(t, 1), got.n);
            if (call == 0)
                assert_int_equal(gravel_several_tree_get_sinks(t, 0), BODIES / 2);
            if (turn == 0) {
                first[call] = got;
                continue;
            }
            assert_same_bits(&first[call], &got, 2);
            results_free(&got);
        }
        gravel_several_tree_release(t);
    }
    for (int call = 0; call < 3; call++)
        results_free(&first[call]);
    results_free(&want);
    results_free(&of_some);
    bodies_free(&b);
}

/* Into the cache, in place of what is in the file of this name. */
static void keep_least(const char *folder, const char *name, double least)
{
    const char *hex = strstr(name, "calls-") + strlen("calls-");
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context;
    gv_digest key;
    for (size_t k = 0; k < sizeof key.byte; k++) {
        unsigned value;
        assert_int_equal(sscanf(hex + 2 * k, "%2x", &value), 1);
        key.byte[k] = (unsigned char)value;
    }
    options.cache_dir = folder;
    assert_ok(gravel_context_create(&context, &options));
    gv_cache_store(context, "calls", &key, &least, sizeof least);
    gravel_context_release(context);
}

/* Who walks is measured once and kept: objects made later do the same, whatever was measured, with the same bits. */
static void measured_rule(void **state)
{
    enum { MEASURED, KEPT, NEVER, ALWAYS, TURNS };
    (void)state;
    const char *const devices = no_device() ? NULL : two_parts();
    if (!devices)
        skip();
    char *folder = make_folder(), *name = NULL;
    bodies b = bodies_new(BODIES, 33);
    const gv_ref_particles ref = view_of(&b, 0, BODIES);
    results want = reference_run(2, &ref, &ref, 0.01, NULL, 0), first[2];
    for (int turn = 0; turn < TURNS; turn++) {
        gravel_context_options context = GRAVEL_CONTEXT_OPTIONS_INIT;
        context.cache_dir = folder;
        if (turn >= NEVER)
            keep_least(folder, name, turn == NEVER ? 10.0 * BODIES : 1);
        gravel_several_tree *t = tree_new(devices, &b, &context);
        for (int call = 0; call < 2; call++) {
            results got = results_new(BODIES, 0);
            const gravel_forces f = tree_forces(&got);
            assert_ok(gravel_several_tree_forces(t, 0.01, &f));
            assert_close(&got, &want);
            assert_int_equal(gravel_several_tree_get_sinks(t, 0) + gravel_several_tree_get_sinks(t, 1), BODIES);
            if (turn == NEVER)
                assert_int_equal(gravel_several_tree_get_sinks(t, 0), BODIES);
            if (turn == ALWAYS)
                assert_true(gravel_several_tree_get_sinks(t, 1) > 0);
            if (turn == KEPT)
                assert_same_bits(&first[call], &got, 2);
            if (turn == MEASURED)
                first[call] = got;
            else
                results_free(&got);
            /* bodies written again: where one device walks, they go to that one */
            const gravel_sources all = sources_of(&b, 0, BODIES);
            assert_ok(gravel_several_tree_write(t, &all));
        }
        gravel_several_tree_release(t);
        if (turn == MEASURED)
            assert_int_equal(count_files(folder, "calls-", &name), 1);
    }
    results_free(&first[0]);
    results_free(&first[1]);
    results_free(&want);
    bodies_free(&b);
    free(name);
    remove_folder(folder);
    free(folder);
}

/* One device is the tree itself; bad use is an error code. */
static void bad_use(void **state)
{
    (void)state;
    if (no_device())
        skip();
    bodies b = bodies_new(BODIES, 32);
    results r = results_new(BODIES, 0);
    const gravel_forces f = tree_forces(&r), jerk = several_forces(4, 0, &r);
    const char *const way[2] = {NULL, two_parts()};
    for (int k = 0; k < 2 && (k == 0 || way[k]); k++) {
        const uint32_t twice[2] = {5, 5}, beyond[1] = {BODIES};
        gravel_several_tree_options o = GRAVEL_SEVERAL_TREE_OPTIONS_INIT;
        gravel_several_tree *t;
        o.devices = way[k];
        o.all_devices = 1;
        assert_ok(gravel_several_tree_create(&t, &o));
        assert_int_equal(gravel_several_tree_forces(t, 0.01, &f), GRAVEL_ERR_STATE);
        const double kept = b.d[0][1][7];
        gravel_sources all = sources_of(&b, 0, BODIES);
        b.d[0][1][7] = NAN;
        assert_int_equal(gravel_several_tree_write(t, &all), GRAVEL_ERR_INPUT);
        b.d[0][1][7] = kept;
        assert_ok(gravel_several_tree_write(t, &all));
        assert_int_equal(gravel_several_tree_forces(t, 0.01, &jerk), GRAVEL_ERR_ARGUMENT);
        assert_int_equal(gravel_several_tree_forces_active(t, twice, 2, 0.01, &f), GRAVEL_ERR_INPUT);
        assert_int_equal(gravel_several_tree_forces_active(t, beyond, 1, 0.01, &f), GRAVEL_ERR_INPUT);
        assert_ok(gravel_several_tree_forces(t, 0.01, &f));
        assert_int_equal(gravel_several_tree_get_sinks(t, 0) + gravel_several_tree_get_sinks(t, 1), BODIES);
        assert_ok(gravel_several_tree_forces_active(t, twice, 1, 0.01, &f));
        assert_int_equal(gravel_several_tree_get_sinks(t, 0) + gravel_several_tree_get_sinks(t, 1), 1);
        gravel_several_tree_release(t);
    }
    results_free(&r);
    bodies_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forces_of_two_parts), cmocka_unit_test(measured_rule),
                                       cmocka_unit_test(bad_use)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
