/* Tasks as a subject of the tuner: good candidates pass and are timed, bad ones are caught, profiles are used. */
#include "subject_test.h"

#include "gravel/tasks.h"
#include "host/tasks/tasks.h"

/* Leaves of `leaf` bodies. */
static void make_request(const gravel_context *context, const char *variant, size_t leaf, const char *changes,
                         gv_request *request)
{
    fill_request(context, &gv_tasks_space, variant, leaf, 7 * leaf, changes, request);
}

static void good_candidates(void **unused)
{
    /* another precision and another leaf on the same state; short rows, which odd leaves take on GPUs */
    static const struct {
        const char *variant;
        size_t leaf;
        const char *changes;
        double error;
    } run[] = {
        {"sp2", 33, "", 3e-6},
        {"dp2", 33, "form=2 level=4", 2e-11},
        {"sp2", 20, "threads=64 split=8 sinks_per_item=3 lanes=1 rsqrt=0 tile=64", 3e-6},
    };
    (void)unused;
    SKIP_WITHOUT_DEVICE();
    const gv_subject *subject = gv_subject_find("tasks");
    gravel_context *context = open_context(NULL, "");
    gv_request request;
    void *state = subject->open();
    assert_non_null(state);
    for (size_t k = 0; k < sizeof run / sizeof *run; k++) {
        if (run[k].variant[0] == 'd' && !context->device[0].info.has_fp64)
            continue;
        make_request(context, run[k].variant, run[k].leaf, run[k].changes, &request);
        const gv_outcome outcome = evaluate(context, state, &request);
        if (outcome.status != GV_OUTCOME_OK)
            fail_msg("%s: %s: %s", request.configuration, gv_outcome_name(outcome.status), outcome.reason);
        assert_string_equal(phases, "build verify time verify ");
        assert_true(outcome.time_s > 0 && outcome.time_min_s <= outcome.time_s && outcome.samples >= 2);
        assert_true(outcome.error > 0 && outcome.error < run[k].error);
    }
    request.build_only = 1;
    assert_int_equal(evaluate(context, state, &request).status, GV_OUTCOME_OK);
    assert_string_equal(phases, "build ");
    strcpy(request.configuration, "threads=32 lanes=16");
    const gv_outcome outcome = evaluate(context, state, &request);
    assert_int_equal(outcome.status, GV_OUTCOME_CONSTRAINT);
    assert_contains(outcome.reason, "lanes");
    subject->close(state);
    gravel_context_release(context);
}

/* ---------------------------------------------------------------- sabotage */

/* A force that is wrong by little, a sink that is left out. */
static void sabotage_is_caught(void **unused)
{
    static const struct {
        const char *file, *what, *with, *reason;
    } spoil[] = {
        {"tasks/interact.h", "sum[1] = gv_fma(q, dy", "sum[1] = gv_fma(q * GV_R(1.0001), dy", "is off by"},
        {"tasks/items.h", "lane < GV_LANES && k + lane < u.y", "lane < GV_LANES && k + lane + 1 < u.y",
         "was not written"},
    };
    (void)unused;
    SKIP_WITHOUT_DEVICE();
    SKIP_WITHOUT_KERNELS();
    for (size_t k = 0; k < sizeof spoil / sizeof *spoil; k++) {
        char *folder = make_folder(), *kernels = copy_kernels(folder);
        gv_request request;
        replace(kernels, spoil[k].file, "", spoil[k].what, spoil[k].with);
        gravel_context *context = open_context(kernels, "");
        make_request(context, "sp2", 20, "", &request);
        if (k == 0 || strstr(request.configuration, "threads=1 ")) { /* the second is of lanes only */
            void *state = gv_subject_find("tasks")->open();
            const gv_outcome outcome = evaluate(context, state, &request);
            assert_int_equal(outcome.status, GV_OUTCOME_WRONG);
            assert_contains(outcome.reason, spoil[k].reason);
            gv_subject_find("tasks")->close(state);
        }
        gravel_context_release(context);
        remove_folder(folder);
        free(kernels);
        free(folder);
    }
}

/* ----------------------------------------------------------------- profiles */

static void configuration_of(gravel_context *context, size_t leaf, const char *named, char *text, size_t size,
                             gravel_origin *origin)
{
    const gravel_leaf leaves[2] = {{0, (uint32_t)leaf}, {(uint32_t)leaf, (uint32_t)leaf}};
    const gravel_task task[2] = {{0, 1}, {1, 0}};
    gravel_tasks_options options = GRAVEL_TASKS_OPTIONS_INIT;
    gravel_task_list list = GRAVEL_TASK_LIST_INIT;
    gravel_tasks *tasks;
    options.configuration = named;
    list.leaf = leaves, list.leaves = 2, list.task = task, list.tasks = 2;
    assert_ok(gravel_tasks_create(&tasks, context, &options));
    assert_ok(gravel_tasks_write(tasks, &list));
    assert_ok(gravel_tasks_get_configuration(tasks, text, size, origin));
    gravel_tasks_release(tasks);
}

/* An entry of the user's folder is what lists of such leaves take; what the caller names goes before it. */
static void profile_is_used(void **unused)
{
    gravel_origin origin;
    gv_request request;
    char text[GV_PROFILE_TEXT];
    (void)unused;
    SKIP_WITHOUT_DEVICE();
    char *folder = make_folder();
    gravel_context *context = open_context(NULL, "");
    configuration_of(context, 48, NULL, text, sizeof text, &origin);
    assert_int_equal(origin, GRAVEL_ORIGIN_BUILT_IN);
    make_request(context, "sp2", 48, "unroll=4 form=0", &request);
    save_profile(folder, context, &gv_tasks_space, &request, 8192);
    gravel_context_release(context);

    context = open_context(NULL, folder);
    configuration_of(context, 48, NULL, text, sizeof text, &origin);
    assert_int_equal(origin, GRAVEL_ORIGIN_USER);
    assert_string_equal(text, request.configuration);
    configuration_of(context, 48, "form=1", text, sizeof text, &origin);
    assert_int_equal(origin, GRAVEL_ORIGIN_CALLER);
    assert_contains(text, "unroll=4");
    assert_contains(text, "form=1");
    gravel_context_release(context);
    remove_folder(folder);
    free(folder);
}

/* Units of a leaf have each of its sinks once, and no more than a group takes. */
static void check_units(const gv_config *config, size_t n)
{
    enum { FIRST = 7, MOST = 64 };
    const gravel_leaf leaf[2] = {{0, FIRST}, {FIRST, (uint32_t)n}};
    const uint8_t is_sink[2] = {0, 1};
    gv_tasks_unit unit[MOST];
    const size_t units = gv_tasks_make_units(leaf, 2, is_sink, config, NULL);
    size_t next = FIRST;
    assert_true(units <= MOST);
    assert_int_equal(gv_tasks_make_units(leaf, 2, is_sink, config, unit), units);
    for (size_t k = 0; k < units; k++) {
        assert_int_equal(unit[k].first, next);
        assert_true(unit[k].count > 0 && unit[k].count <= gv_tasks_most(config));
        assert_true(unit[k].list == 1 && unit[k].result == next);
        const gv_tasks_places places = gv_tasks_places_of(config, unit[k].count);
        assert_true(places.rows + places.rest >= unit[k].count);
        next += unit[k].count;
    }
    assert_int_equal(next, FIRST + n);
}

/* On GPUs groups fit leaves of all sizes, by the time of their places: 32 bodies take 1.31 times the fewest slots in ds
 * on an H200, so that 1.14 of that is less than 1.5. */
static void leaves_fit(void **unused)
{
    (void)unused;
    const gv_limits limits = {.info = {.type = GRAVEL_DEVICE_GPU, .max_group = 1024, .local_memory = 48 << 10},
                              .has_ptx_asm = 1};
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++)
        for (size_t n = 1; n <= 300; n++) {
            gv_variant variant;
            gv_config config;
            gv_variant_set(&variant, 2, (gravel_precision)p, 0);
            gv_tasks_space.built_in(&config, &variant, &limits, n, 8192);
            assert_null(gv_space_check(&gv_tasks_space, &config, &variant, &limits));
            check_units(&config, n);
            const size_t chunk = gv_tasks_chunk(&config);
            const double time = gv_tasks_time(&config, n) / (double)n;
            if (n >= 32 && !(time < 1.14))
                fail_msg("leaves of %zu bodies: %.2f of the time of full rows", n, time);
            if (n == 32 || n == 64 || n == 128)
                assert_int_equal(chunk, n == 32 ? 32 : 64);
            for (int rest = 0; rest <= 32; rest += 8) /* as a caller may name it */
                config.value[GV_TA_REST] = rest, check_units(&config, n);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_candidates),
        cmocka_unit_test(sabotage_is_caught),
        cmocka_unit_test(profile_is_used),
        cmocka_unit_test(leaves_fit),
    };
    return cmocka_run_group_tests_name("tuner tasks", tests, NULL, NULL);
}
