/* The tree as a subject of the tuner: good candidates pass and are timed, bad ones are caught, profiles are used. */
#include "host_test.h"

#include <math.h>

#include "gravel/tree.h"
#include "host/profile/store.h"
#include "host/tree/plan.h"
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

static gv_limits limits_of(const gravel_context *context)
{
    return gv_limits_of(context, 0);
}

/* The built-in configuration with `changes`. */
static void make_request(const gravel_context *context, const char *variant, size_t n, const char *changes,
                         gv_request *request)
{
    const gv_limits limits = limits_of(context);
    gv_config config;

    memset(request, 0, sizeof *request);
    strcpy(request->task.kernel, "tree");
    assert_true(gv_variant_parse(variant, &request->task.variant));
    request->task.sinks = request->task.sources = n;
    gv_tree_space.built_in(&config, &request->task.variant, &limits, n, n);
    assert_ok(gv_space_parse(&gv_tree_space, changes, &config));
    gv_space_format(&gv_tree_space, &config, request->configuration, sizeof request->configuration);
    request->seed = 7;
    request->effort = (gv_effort){2, 3, 0, 1, 1e30};
}

static gv_outcome evaluate(gravel_context *context, void *state, const gv_request *request)
{
    gv_outcome outcome;

    phases[0] = '\0';
    gv_subject_find("tree")->evaluate(state, context, request, note, NULL, &outcome);
    return outcome;
}

static void test_good_candidates(void **unused)
{
    static const char *const changes[] = {"", "n_leaf=8 curve=0", "n_leaf=32"};
    const gv_subject *subject = gv_subject_find("tree");
    gravel_context *context;
    gv_request request;
    void *state;

    (void)unused;
    SKIP_WITHOUT_DEVICE();
    context = open_context(NULL, "");
    state = subject->open();
    assert_non_null(state);
    for (int p = 0; p < 2; p++) {
        /* another variant and another N on the same state */
        for (size_t k = 0; (p == 0 || context->device[0].info.has_fp64) && k < (p == 0 ? 3u : 1u); k++) {
            make_request(context, p == 0 ? "sp2" : "dp2", p == 0 ? 3001 : 1500, changes[k], &request);
            gv_outcome outcome = evaluate(context, state, &request);

            if (outcome.status != GV_OUTCOME_OK)
                fail_msg("%s: %s: %s", request.configuration, gv_outcome_name(outcome.status), outcome.reason);
            assert_string_equal(phases, "build verify time verify ");
            assert_true(outcome.time_s > 0 && outcome.time_min_s <= outcome.time_s && outcome.call_s > 0);
            assert_true(outcome.samples >= 2);
            /* 99 % of the errors of theta 0.5 are about 5e-4 (doc/tree.md) */
            assert_true(outcome.error > 0 && outcome.error < 3e-3);
        }
    }
    make_request(context, "sp2", 3001, "", &request);
    request.build_only = 1;
    assert_int_equal(evaluate(context, state, &request).status, GV_OUTCOME_OK);
    assert_string_equal(phases, "build ");
    subject->close(state);
    gravel_context_release(context);
}

static void test_impossible_candidate(void **unused)
{
    const gv_subject *subject = gv_subject_find("tree");
    gravel_context *context;
    gv_request request;
    void *state;

    (void)unused;
    SKIP_WITHOUT_DEVICE();
    context = open_context(NULL, "");
    state = subject->open();
    make_request(context, "sp2", 500, "", &request);
    strcpy(request.configuration, "threads=32 lanes=16");
    gv_outcome outcome = evaluate(context, state, &request);
    assert_int_equal(outcome.status, GV_OUTCOME_CONSTRAINT);
    assert_true(outcome.reason[0] != '\0');
    subject->close(state);
    gravel_context_release(context);
}

/* ---------------------------------------------------------------- sabotage */

static void copy_kernels(const char *to)
{
    char *from = gv_path_join(gv_env("GRAVEL_SOURCE_DIR"), "kernels");
    char *command = gv_format("cp -r '%s' '%s'", from, to);

    assert_int_equal(system(command), 0);
    free(command);
    free(from);
}

static void replace(const char *folder, const char *file, const char *what, const char *with)
{
    char *path = gv_path_join(folder, file), *text, *at, *edited;

    assert_ok(gv_file_read(path, 1 << 20, &text, NULL));
    at = strstr(text, what);
    if (at == NULL)
        fail_msg("%s: no '%s' to spoil", file, what);
    edited = gv_format("#if GV_N_GROUP == 256\n#error sabotage\n#endif\n%.*s%s%s", (int)(at - text), text, with,
                       at + strlen(what));
    assert_ok(gv_file_write(path, edited, strlen(edited)));
    free(edited);
    free(text);
    free(path);
}

/* Kernels that open too few cells: fast, and wrong by little more than they should be, which only the comparison with
 * the errors of the unchanged built-in configuration shows.  Groups of 256 do not compile. */
static void test_sabotage_is_caught(void **unused)
{
    const gv_subject *subject = gv_subject_find("tree");
    gravel_context *context;
    gv_request request;
    gv_outcome outcome;
    char *folder, *kernels;
    void *state;

    (void)unused;
    SKIP_WITHOUT_DEVICE();
    if (gv_env("GRAVEL_SOURCE_DIR") == NULL) {
        print_message("skipped: GRAVEL_SOURCE_DIR is not set\n");
        skip();
    }
    folder = make_folder();
    kernels = gv_path_join(folder, "kernels");
    copy_kernels(kernels);
    /* half the limit of the criterion is what six times the tolerance gives */
    replace(kernels, "tree/groups.cl", "exp2(", "GV_R(0.49) * exp2(");
    /* only for the condition that replace puts on top: the walks have the size of groups as a macro */
    replace(kernels, "tree/walk_lanes.cl", "\n#include", "\n#include");
    replace(kernels, "tree/walk_group.cl", "\n#include", "\n#include");
    state = subject->open();
    context = open_context(NULL, "");
    make_request(context, "sp2", 3001, "", &request);
    outcome = evaluate(context, state, &request); /* the state still holds the errors of the unchanged kernels */
    assert_string_equal(outcome.reason, "");
    assert_int_equal(outcome.status, GV_OUTCOME_OK);
    gravel_context_release(context);

    context = open_context(kernels, "");
    outcome = evaluate(context, state, &request);
    assert_int_equal(outcome.status, GV_OUTCOME_WRONG);
    assert_contains(outcome.reason, "errors of");
    make_request(context, "sp2", 3001, "n_group=256", &request);
    outcome = evaluate(context, state, &request);
    assert_int_equal(outcome.status, GV_OUTCOME_COMPILE);
    gravel_context_release(context);
    subject->close(state);
    remove_folder(folder);
    free(kernels);
    free(folder);
}

/* ----------------------------------------------------------------- profiles */

/* An entry for the tree in the user's folder is what gravel_tree_create takes. */
static void test_profile_is_used(void **unused)
{
    gv_profile_set set = GV_PROFILE_SET_INIT;
    gv_profile_device device;
    gv_profile_entry *entry = calloc(1, sizeof *entry);
    gravel_tree *tree;
    gravel_origin origin;
    gv_request request;
    gravel_context *context;
    char *folder, text[GV_PROFILE_TEXT], path[1024];

    (void)unused;
    SKIP_WITHOUT_DEVICE();
    assert_non_null(entry);
    folder = make_folder();
    context = open_context(NULL, "");
    make_request(context, "sp2", 1 << 20, "n_leaf=24", &request);
    gv_profile_device_of(&context->device[0].info, &device);
    gv_name_clean(context->device[0].info.driver, entry->driver);
    strcpy(entry->kernel, "tree");
    strcpy(entry->variant, "sp2");
    gv_profile_kernel_version(context, &gv_tree_space, entry->kernel_version);
    assert_int_equal(strlen(entry->kernel_version), 16);
    entry->sinks = entry->sources = 1 << 20;
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
    assert_ok(gravel_tree_create(&tree, context, NULL));
    assert_ok(gravel_tree_get_configuration(tree, text, sizeof text, &origin));
    assert_int_equal(origin, GRAVEL_ORIGIN_USER);
    assert_contains(text, "n_leaf=24");
    gravel_tree_release(tree);
    gravel_context_release(context);
    remove_folder(folder);
    free(folder);
    free(entry);
}

/* ------------------------------------------------------------------- domain */

/* The product of all values is too large to list; what this device cannot use is left out, and the default is kept. */
static void test_domain_is_small(void **unused)
{
    static const gravel_device_type type[] = {GRAVEL_DEVICE_CPU, GRAVEL_DEVICE_GPU};

    (void)unused;
    for (int k = 0; k < 2; k++) {
        gv_limits limits = {.info = {.type = type[k],
                                     .max_group = k == 0 ? 4096 : 1024,
                                     .has_fp64 = 1,
                                     .simd_width_float = k == 0 ? 16 : 1,
                                     .simd_width_double = k == 0 ? 8 : 1,
                                     .compute_units = 100,
                                     .local_memory = 48 << 10},
                            .fast_fma = 1,
                            .has_rsqrt14 = k == 0};
        gv_variant variant;
        gv_domain domain;
        gv_config config;
        gv_point point;

        gv_variant_set(&variant, 2, GRAVEL_SP, 0);
        assert_ok(gv_domain_of_space(&domain, &gv_tree_space, &variant, &limits, NULL, 0));
        gv_tree_space.built_in(&config, &variant, &limits, 1 << 20, 1 << 20);
        assert_true(gv_domain_point(&domain, &config, &point));
        assert_true(gv_domain_find(&domain, &point) >= 0);
        assert_true(domain.n_points > 1000 && domain.n_codes < 64u << 20);
        for (int d = 0; d < domain.n; d++)
            assert_true(domain.builds[d]);
        gv_domain_free(&domain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_candidates),    cmocka_unit_test(test_impossible_candidate),
        cmocka_unit_test(test_sabotage_is_caught), cmocka_unit_test(test_profile_is_used),
        cmocka_unit_test(test_domain_is_small),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
