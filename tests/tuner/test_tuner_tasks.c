/* Tasks as a subject of the tuner: good candidates pass and are timed, bad ones are caught, profiles are used. */
#include "host_test.h"

#include "gravel/tasks.h"
#include "host/profile/store.h"
#include "host/tasks/tasks.h"
#include "tuner/search.h"
#include "tuner/subject.h"

static char phases[256];

static void note(const char *phase, void *user)
{
    (void)user;
    strncat(phases, phase, sizeof phases - strlen(phases) - 1);
    strncat(phases, " ", sizeof phases - strlen(phases) - 1);
}

static gravel_context *open_context(const char *kernel_dir, const char *profile_dir)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context;
    options.kernel_dir = kernel_dir;
    options.profile_dir = profile_dir;
    assert_ok(gravel_context_create(&context, &options));
    context->for_once = 1;
    return context;
}

/* The built-in configuration with `changes`: leaves of `leaf` bodies. */
static void make_request(const gravel_context *context, const char *variant, size_t leaf, const char *changes,
                         gv_request *request)
{
    const gv_limits limits = gv_limits_of(context, 0);
    gv_config config;
    memset(request, 0, sizeof *request);
    strcpy(request->task.kernel, "tasks");
    assert_true(gv_variant_parse(variant, &request->task.variant));
    request->task.sinks = leaf;
    request->task.sources = 7 * leaf;
    gv_tasks_space.built_in(&config, &request->task.variant, &limits, leaf, 7 * leaf);
    assert_ok(gv_space_parse(&gv_tasks_space, changes, &config));
    gv_space_format(&gv_tasks_space, &config, request->configuration, sizeof request->configuration);
    request->seed = 7;
    request->effort = (gv_effort){2, 3, 0, 1, 1e30};
}

static gv_outcome evaluate(gravel_context *context, void *state, const gv_request *request)
{
    gv_outcome outcome;
    phases[0] = '\0';
    gv_subject_find("tasks")->evaluate(state, context, request, note, NULL, &outcome);
    return outcome;
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

static void replace(const char *folder, const char *file, const char *what, const char *with)
{
    char *path = gv_path_join(folder, file), *text;
    assert_ok(gv_file_read(path, 1 << 20, &text, NULL));
    char *at = strstr(text, what);
    if (!at)
        fail_msg("%s: no '%s' to spoil", file, what);
    char *edited = gv_format("%.*s%s%s", (int)(at - text), text, with, at + strlen(what));
    assert_ok(gv_file_write(path, edited, strlen(edited)));
    free(edited);
    free(text);
    free(path);
}

/* A force that is wrong by little, a sink that is left out. */
static void sabotage_is_caught(void **unused)
{
    static const struct {
        const char *file, *what, *with, *reason;
    } spoil[] = {
        {"tasks/interact.h", "sum[1] = gv_fma(q, dy", "sum[1] = gv_fma(q * GV_R(1.0001), dy", "is off by"},
        {"tasks/evaluate.cl", "lane < GV_LANES && k + lane < u.y", "lane < GV_LANES && k + lane + 1 < u.y",
         "was not written"},
    };
    (void)unused;
    SKIP_WITHOUT_DEVICE();
    if (!gv_env("GRAVEL_SOURCE_DIR")) {
        print_message("skipped: GRAVEL_SOURCE_DIR is not set\n");
        skip();
    }
    for (size_t k = 0; k < sizeof spoil / sizeof *spoil; k++) {
        char *folder = make_folder(), *from = gv_path_join(gv_env("GRAVEL_SOURCE_DIR"), "kernels");
        char *command = gv_format("cp -r '%s' '%s'", from, folder), *kernels = gv_path_join(folder, "kernels");
        gv_request request;
        assert_int_equal(system(command), 0);
        replace(kernels, spoil[k].file, spoil[k].what, spoil[k].with);
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
        free(command);
        free(from);
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
    gv_profile_set set = GV_PROFILE_SET_INIT;
    gv_profile_device device;
    gravel_origin origin;
    gv_request request;
    char text[GV_PROFILE_TEXT], path[1024];
    (void)unused;
    SKIP_WITHOUT_DEVICE();
    gv_profile_entry *entry = calloc(1, sizeof *entry);
    assert_non_null(entry);
    char *folder = make_folder();
    gravel_context *context = open_context(NULL, "");
    configuration_of(context, 48, NULL, text, sizeof text, &origin);
    assert_int_equal(origin, GRAVEL_ORIGIN_BUILT_IN);
    make_request(context, "sp2", 48, "unroll=4 form=0", &request);
    gv_profile_device_of(&context->device[0].info, &device);
    gv_name_clean(context->device[0].info.driver, entry->driver);
    strcpy(entry->kernel, "tasks");
    strcpy(entry->variant, "sp2");
    gv_profile_kernel_version(context, &gv_tasks_space, entry->kernel_version);
    assert_int_equal(strlen(entry->kernel_version), 16);
    entry->sinks = 48;
    entry->sources = 8192;
    entry->sink_bucket = gv_sink_bucket(entry->sinks);
    entry->source_bucket = gv_source_bucket(entry->sources);
    strcpy(entry->date, "2026-11-21T00:00:00Z");
    strcpy(entry->gravel, GRAVEL_VERSION);
    strcpy(entry->strategy, "forest");
    entry->evaluations = entry->n_results = 1;
    snprintf(entry->result[0].configuration, GV_PROFILE_TEXT, "%s", request.configuration);
    entry->result[0].time_s = entry->result[0].time_min_s = entry->result[0].call_s = 1e-3;
    assert_ok(gv_profile_set_add(&set, &device, entry));
    assert_ok(gv_profile_save(folder, &set, path, sizeof path));
    gv_profile_set_free(&set);
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
    free(entry);
}

/* On GPUs groups fit leaves of all sizes: of the places of sinks at least so many are taken.  sp: 1.24 times the slots
 * of full groups (1.21 of the fewest on an H200) is 1.5 times the fewest. */
static void leaves_fit(void **unused)
{
    (void)unused;
    const gv_limits limits = {.info = {.type = GRAVEL_DEVICE_GPU, .max_group = 1024, .local_memory = 48 << 10},
                              .has_ptx_asm = 1};
    for (int p = GRAVEL_SP; p <= GRAVEL_DP; p++)
        for (size_t n = 32; n <= 128; n++) {
            gv_variant variant;
            gv_config config;
            gv_variant_set(&variant, 2, (gravel_precision)p, 0);
            gv_tasks_space.built_in(&config, &variant, &limits, n, 8192);
            assert_null(gv_space_check(&gv_tasks_space, &config, &variant, &limits));
            const size_t chunk = gv_tasks_chunk(&config);
            const double places = (double)((n + chunk - 1) / chunk * chunk) / (double)n;
            if (!(places < (p == GRAVEL_SP ? 1.24 : 1.32)))
                fail_msg("leaves of %zu bodies: %.2f places a sink", n, places);
            if (n == 32 || n == 64 || n == 128) /* those that were timed */
                assert_int_equal(chunk, n == 32 ? 32 : 64);
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
