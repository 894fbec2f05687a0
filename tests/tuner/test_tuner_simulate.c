/* Recordings that come with gravel, and searches replayed on them. */
#include "host_test.h"

#include <math.h>

#include "host/base/kernels.h"
#include "tuner/simulate.h"

extern const gv_kernel_file gv_recording_files[];
extern const int gv_recording_file_count;

/* With 50 seeds the worst tenth is the fifth of them, whose rank scatters by 2: on the hardest recording that moves
 * it by 2 %.  Smaller differences are judged by their ranks. */
#define MOST_BEHIND 0.02

/* The default strategy beside all others: after 30 and 50 evaluations, median and worst tenth. The evaluations are
 * replayed, so that the figures are the same on every machine; those of 200 seeds are in doc/numbers.md. */
static void test_default_strategy_on_shipped_recordings(void **state)
{
    const int quick = getenv("GRAVEL_TEST_QUICK") != NULL, seeds = quick ? 10 : 50;
    gv_simulated *result = malloc(2 * sizeof *result);

    (void)state;
    assert_non_null(result);
    for (int i = 0; i < gv_recording_file_count; i++) {
        const gv_kernel_file *file = &gv_recording_files[i];
        gv_recording recording;

        assert_ok(gv_recording_parse(file->name, file->text, file->size, &recording));
        for (int d = 0; d < recording.domain.n; d++)
            if (strcmp(recording.domain.name[d], "rsqrt") == 0 || strcmp(recording.domain.name[d], "threads") == 0)
                assert_int_equal(recording.domain.unordered[d], recording.domain.name[d][0] == 'r');
        assert_ok(gv_simulate(&recording, &gv_strategies[0], seeds, &result[0]));
        /* curves never fall, and the worst tenth is below the median */
        for (size_t k = 0; k < result->steps; k++) {
            assert_true(result->tenth[k] <= result->median[k] && result->median[k] <= 1);
            assert_true(k == 0 ||
                        (result->median[k] >= result->median[k - 1] && result->tenth[k] >= result->tenth[k - 1]));
        }
        for (const gv_strategy *s = &gv_strategies[1]; s->name != NULL && !quick; s++) {
            double behind;

            if (s->run == gv_strategy_exhaustive)
                continue;
            assert_ok(gv_simulate(&recording, s, seeds, &result[1]));
            behind = gv_simulated_behind(&result[0], &result[1], MOST_BEHIND);
            print_message("%s (%s): behind %s by %.2f %%\n", recording.name, file->name, s->name, 100 * behind);
            assert_true(behind == 0);
        }
        gv_recording_free(&recording);
    }
    free(result);
}

static void test_marks_of_a_simulation(void **state)
{
    gv_simulated ahead = {.steps = 60}, other = {.steps = 60}, shorter = {.steps = 20};

    (void)state;
    for (int k = 0; k < 60; k++) {
        ahead.median[k] = other.median[k] = 0.9;
        ahead.tenth[k] = other.tenth[k] = 0.8;
        ahead.low[0][k] = other.low[0][k] = 0.89;
        ahead.high[0][k] = other.high[0][k] = 0.91;
        ahead.low[1][k] = other.low[1][k] = 0.75;
        ahead.high[1][k] = other.high[1][k] = 0.82;
    }
    shorter.median[19] = shorter.tenth[19] = 1;
    assert_true(gv_simulated_behind(&ahead, &other, 0.04) == 0);
    other.low[0][40] = 0.95; /* no mark */
    assert_true(gv_simulated_behind(&ahead, &other, 0.04) == 0);
    other.low[1][29] = 0.81; /* other seeds might do as well */
    assert_true(gv_simulated_behind(&ahead, &other, 0.04) == 0);
    other.low[1][29] = 0.85; /* after the 30th evaluation */
    assert_true(fabs(gv_simulated_behind(&ahead, &other, 0.04) - 0.03) < 1e-12);
    assert_true(gv_simulated_behind(&other, &ahead, 0.04) == 0);
    other.low[1][29] = 0.75;
    other.tenth[29] = 0.85; /* more than the scatter of ranks may hide */
    assert_true(fabs(gv_simulated_behind(&ahead, &other, 0.04) - 0.05) < 1e-12);
    /* a search over fewer points has ended at the mark */
    assert_true(gv_simulated_median(&shorter, 50) == 1);
}

static const char small[] =
    "{\"format\": \"gravel-recording\", \"schema\": 1, \"device\": \"d\", \"type\": \"gpu\", \"driver\": \"1\","
    " \"kernel\": \"direct\", \"kernel_version\": \"v\", \"date\": \"\", \"variant\": \"sp2\", \"features\": 0,"
    " \"sinks\": 1, \"sources\": 2, \"tunables\": [{\"name\": \"a\", \"builds\": 1, \"values\": [1, 2]},"
    " {\"name\": \"b\", \"builds\": 0, \"values\": [4, 8, 16]}], \"built_in\": [0, 1],"
    " \"rows\": [[0, 0, 10], [0, 1, 20], [1, 0, 0], [1, 2, 5.5]]}";

static void test_small_recording(void **state)
{
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

static void test_damaged_recordings(void **state)
{
    static const char *const from[] = {"[0, 0, 10]", "gravel-recording", "\"sinks\": 1", "\"values\": [1, 2]",
                                       "[1, 2, 5.5]"};
    static const char *const to[] = {"[0, 9, 10]", "gravel-profile", "\"sinks\": 0", "\"values\": []", "[1, 2]"};
    gv_recording r;

    (void)state;
    for (size_t n = 0; n + 1 < sizeof small; n++)
        assert_int_equal(gv_recording_parse("cut", small, n, &r), GRAVEL_ERR_FORMAT);
    for (int k = 0; k < 5; k++) {
        const char *at = strstr(small, from[k]);
        char *text;

        assert_non_null(at);
        text = gv_format("%.*s%s%s", (int)(at - small), small, to[k], at + strlen(from[k]));
        assert_int_equal(gv_recording_parse("changed", text, strlen(text), &r), GRAVEL_ERR_FORMAT);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_strategy_on_shipped_recordings),
        cmocka_unit_test(test_marks_of_a_simulation),
        cmocka_unit_test(test_small_recording),
        cmocka_unit_test(test_damaged_recordings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
