/* Recordings that come with gravel, and searches replayed on them. */
#include "host_test.h"

#include <math.h>

#include "host/kernels.h"
#include "tuner/simulate.h"

extern const gv_kernel_file gv_recording_files[];
extern const int gv_recording_file_count;

/* What `gravel tune --simulate --json` turns into its exit status. */
static void test_default_strategy_on_shipped_recordings(void **state) {
    /* the demand is for the median of 50 seeds; the sanitizers only want the code to run */
    const int runs = getenv("GRAVEL_TEST_QUICK") ? 10 : 50;

    (void)state;
    for (int i = 0; i < gv_recording_file_count; i++) {
        const gv_kernel_file *file = &gv_recording_files[i];
        gv_simulated *result = malloc(sizeof *result);
        gv_recording recording;

        assert_non_null(result);
        assert_ok(gv_recording_parse(file->name, file->text, file->size, &recording));
        assert_true(recording.has_built_in);
        assert_ok(gv_simulate(&recording, &gv_strategies[0], runs, result));
        print_message("%s: %.2f %% of the best after 15 %% of %zu points\n", recording.name, 100 * result->at_part,
                      recording.domain.n_points);
        assert_true(result->at_part >= GV_SIMULATE_REACH);
        /* curves never fall, and quartiles are in order */
        for (size_t k = 0; k < result->steps; k++) {
            assert_true(result->low[k] <= result->median[k] && result->median[k] <= result->high[k]);
            assert_true(k == 0 || result->median[k] >= result->median[k - 1]);
        }
        gv_recording_free(&recording);
        free(result);
    }
}

static const char small[] =
    "{\"format\": \"gravel-recording\", \"schema\": 1, \"device\": \"d\", \"type\": \"gpu\", \"driver\": \"1\","
    " \"kernel\": \"direct\", \"kernel_version\": \"v\", \"date\": \"\", \"variant\": \"sp2\", \"features\": 0,"
    " \"sinks\": 1, \"sources\": 2, \"tunables\": [{\"name\": \"a\", \"builds\": 1, \"values\": [1, 2]},"
    " {\"name\": \"b\", \"builds\": 0, \"values\": [4, 8, 16]}], \"built_in\": [0, 1],"
    " \"rows\": [[0, 0, 10], [0, 1, 20], [1, 0, 0], [1, 2, 5.5]]}";

static void test_small_recording(void **state) {
    gv_recording r;
    gv_search search;
    gv_point point = {{1, 2}};

    (void)state;
    assert_ok(gv_recording_parse("small", small, sizeof small - 1, &r));
    assert_int_equal(r.domain.n_points, 4);
    assert_true(fabs(r.best - 5.5e-6) < 1e-18);
    assert_int_equal(r.built_in.at[1], 1);
    assert_int_equal(gv_domain_find(&r.domain, &point), 3);
    point.at[1] = 1; /* not recorded: not a point */
    assert_int_equal(gv_domain_find(&r.domain, &point), -1);
    assert_ok(gv_search_init(&search, &r.domain, gv_recording_objective, &r, 1, 0));
    gv_strategy_find("exhaustive")->run(&search);
    assert_int_equal(search.n_known, 4);
    assert_true(search.score[search.best] == r.best);
    assert_false(isfinite(search.score[2])); /* 0 in the file: it failed */
    gv_search_free(&search);
    gv_recording_free(&r);
}

static void test_damaged_recordings(void **state) {
    static const char *const from[] = {"[0, 0, 10]", "gravel-recording", "\"sinks\": 1", "\"values\": [1, 2]",
                                       "[1, 2, 5.5]"};
    static const char *const to[] = {"[0, 9, 10]", "gravel-profile", "\"sinks\": 0", "\"values\": []", "[1, 2]"};
    gv_recording r;

    (void)state;
    for (size_t n = 0; n + 1 < sizeof small; n++) {
        assert_int_equal(gv_recording_parse("cut", small, n, &r), GRAVEL_ERR_FORMAT);
    }
    for (int k = 0; k < 5; k++) {
        const char *at = strstr(small, from[k]);
        char *text;

        assert_non_null(at);
        text = gv_format("%.*s%s%s", (int)(at - small), small, to[k], at + strlen(from[k]));
        assert_int_equal(gv_recording_parse("changed", text, strlen(text), &r), GRAVEL_ERR_FORMAT);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_strategy_on_shipped_recordings),
        cmocka_unit_test(test_small_recording),
        cmocka_unit_test(test_damaged_recordings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
