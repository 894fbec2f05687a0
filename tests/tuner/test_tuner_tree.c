/* The tree as a subject of the tuner: good candidates pass and are timed, bad ones are caught, profiles are used. */
#include "subject_test.h"

#include <math.h>

#include "gravel/tree.h"
#include "host/tree/plan.h"
#include "tuner/kept.h"

static void make_request(const gravel_context *context, const char *variant, size_t n, const char *changes,
                         gv_request *request)
{
    fill_request(context, &gv_tree_space, variant, n, n, changes, request);
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

/* In turns candidates are built and verified once and stay, as many as there is room for, until the turns are over. */
static void test_turns(void **unused)
{
    static const char *const kernel[] = {"direct", "tree"};
    static const char whole[] = "build verify time verify ";
    gravel_context *context;

    (void)unused;
    SKIP_WITHOUT_DEVICE();
    context = open_context(NULL, "");
    for (int k = 0; k < 2; k++) {
        const gv_subject *subject = gv_subject_find(kernel[k]);
        const struct {
            int turn, other, more; /* another configuration, more bodies */
            const char *phases;
        } c[] = {{1, 0, 0, whole},   {1, 1, 0, whole}, {2, 0, 0, "time "}, {2, 1, 0, "time "},
                 {9, 0, 0, "time "}, {1, 0, 1, whole}, {2, 0, 1, "time "}, {2, 0, 0, whole},
                 {0, 0, 0, whole},   {3, 0, 0, whole}, {4, 0, 0, "time "}, {0, 1, 0, whole}};
        gv_request request;
        void *state = subject->open();

        assert_non_null(state);
        for (size_t q = 0; q < sizeof c / sizeof c[0]; q++) {
            const size_t n = c[q].more ? 600 : 500;

            fill_request(context, subject->space, "sp2", n, n,
                         !c[q].other ? ""
                         : k == 0    ? "unroll=2"
                                     : "stack=2048",
                         &request);
            request.turn = c[q].turn;
            const gv_outcome outcome = evaluate(context, state, &request);

            if (outcome.status != GV_OUTCOME_OK)
                fail_msg("%s: %s: %s", request.configuration, gv_outcome_name(outcome.status), outcome.reason);
            assert_string_equal(phases, c[q].phases);
            assert_true(outcome.time_s > 0);
        }
        request.turn = 1;
        request.build_only = 1; /* nothing to keep */
        assert_int_equal(evaluate(context, state, &request).status, GV_OUTCOME_OK);
        subject->close(state);
    }
    gravel_context_release(context);
}

static void released(void *trial)
{
    ++*(int *)trial;
}

static void test_kept_trials(void **unused)
{
    int count[GV_KEPT_MOST + 2] = {0};
    gv_kept kept = {.n = 0};
    gv_request request;

    (void)unused;
    memset(&request, 0, sizeof request);
    strcpy(request.task.kernel, "fake");
    request.turn = 1;
    for (int k = 0; k < GV_KEPT_MOST + 2; k++) {
        snprintf(request.configuration, sizeof request.configuration, "size=%d", k);
        assert_null(gv_kept_find(&kept, &request, released));
        gv_kept_add(&kept, &request, &count[k], released);
        assert_int_equal(count[k], k >= GV_KEPT_MOST); /* no room: released at once */
    }
    strcpy(request.configuration, "size=3");
    assert_ptr_equal(gv_kept_find(&kept, &request, released), &count[3]);
    request.task.sinks = 7;
    assert_null(gv_kept_find(&kept, &request, released));
    for (int k = 0; k < GV_KEPT_MOST + 2; k++)
        assert_int_equal(count[k], 1);
    gv_kept_drop(&kept, released);
    assert_int_equal(count[0], 1);
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

/* Kernels that open too few cells: fast, and wrong by little more than they should be, which only the comparison with
 * the errors of the unchanged built-in configuration shows.  Groups of 256 do not compile. */
static void test_sabotage_is_caught(void **unused)
{
    static const char top[] = "#if GV_N_GROUP == 256\n#error sabotage\n#endif\n";
    const gv_subject *subject = gv_subject_find("tree");
    gravel_context *context;
    gv_request request;
    gv_outcome outcome;
    char *folder, *kernels;
    void *state;

    (void)unused;
    SKIP_WITHOUT_DEVICE();
    SKIP_WITHOUT_KERNELS();
    folder = make_folder();
    kernels = copy_kernels(folder);
    /* half the limit of the criterion is what six times the tolerance gives */
    replace(kernels, "tree/groups.cl", top, "exp2(", "GV_R(0.49) * exp2(");
    /* the walks have the size of groups as a macro */
    replace(kernels, "tree/walk_lanes.cl", top, "", "");
    replace(kernels, "tree/walk_group.cl", top, "", "");
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

/* A question is also about few active bodies, which a kernel of their own puts in order: without it the candidate
 * fails, and passes only where it is asked for all bodies alone. */
static void test_questions_are_about_few_bodies_too(void **unused)
{
    const gv_subject *subject = gv_subject_find("tree");
    gravel_context *context;
    gv_request request;
    char *folder, *kernels;
    void *state;

    (void)unused;
    SKIP_WITHOUT_DEVICE();
    SKIP_WITHOUT_KERNELS();
    folder = make_folder();
    kernels = copy_kernels(folder);
    replace(kernels, "tree/gather.cl", "", "gv_tree_rank(", "gv_tree_no_rank(");
    state = subject->open();
    context = open_context(kernels, "");
    make_request(context, "sp2", 1001, "", &request);
    assert_int_not_equal(evaluate(context, state, &request).status, GV_OUTCOME_OK);
    assert_contains(phases, "time"); /* all bodies are verified before */
    request.task.theta = 0.5;
    request.task.active = 1;
    const gv_outcome outcome = evaluate(context, state, &request);
    assert_string_equal(outcome.reason, "");
    assert_int_equal(outcome.status, GV_OUTCOME_OK);
    subject->close(state);
    gravel_context_release(context);
    remove_folder(folder);
    free(kernels);
    free(folder);
}

/* ----------------------------------------------------------------- profiles */

/* An entry for the tree in the user's folder is what gravel_tree_create takes. */
static void test_profile_is_used(void **unused)
{
    gravel_tree *tree;
    gravel_origin origin;
    gv_request request;
    gravel_context *context;
    char *folder, text[GV_PROFILE_TEXT];

    (void)unused;
    SKIP_WITHOUT_DEVICE();
    folder = make_folder();
    context = open_context(NULL, "");
    make_request(context, "sp2", 1 << 20, "n_leaf=24", &request);
    save_profile(folder, context, &gv_tree_space, &request, 1 << 20);
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
        cmocka_unit_test(test_good_candidates),    cmocka_unit_test(test_turns),
        cmocka_unit_test(test_kept_trials),        cmocka_unit_test(test_impossible_candidate),
        cmocka_unit_test(test_sabotage_is_caught), cmocka_unit_test(test_questions_are_about_few_bodies_too),
        cmocka_unit_test(test_profile_is_used),    cmocka_unit_test(test_domain_is_small),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
