/* Whole tuning runs with fake timings: killed ones resume, what is known is measured without time, all is asked. */
#include "tuner_wait.h"

#include <math.h>
#include <signal.h>

#include "host/direct/plan.h"
#include "host/profile/store.h"
#include "tuner/session.h"

/* Times depend on the configuration only, so that two runs can be compared decision by decision; they are so short that
 * no question is too long for a budget.  After $SERVED answers
 * it only waits for the end of who asks. */
static char script[] = "n=0; echo ready >&3\n"
                       "while read -r line; do\n"
                       "  n=$((n + 1)); [ $n -le ${SERVED:-1000000} ] || read -r line || exit\n"
                       "  text=${line#*configuration}; text=${text%%seed*}\n"
                       "  set -- $(printf %s \"$text\" | cksum)\n"
                       "  echo \"{\\\"status\\\":\\\"ok\\\",\\\"time_s\\\":$(($1 % 9000 + 1000))e-12}\" >&3\n"
                       "done\n";
static char shell[] = "sh", dash_c[] = "-c";
static char *const worker_argv[] = {shell, dash_c, script, NULL};

static void fill_options(gv_tune_options *options, const char *log_path, const char *profiles, int resume)
{
    memset(options, 0, sizeof *options);
    options->device = "cpu";
    options->n_variants = 1;
    assert_true(gv_variant_parse("sp2", &options->variant[0]));
    options->n_sinks = 2;
    options->sinks[0] = 1;
    options->sinks[1] = 100;
    options->n_sources = 1;
    options->sources[0] = 1000;
    options->seed = 5;
    options->budget = 40;
    options->limit_s = 300;
    options->log_path = log_path;
    options->profile_dir = profiles;
    options->resume = resume;
    options->worker_argv = worker_argv;
}

static gravel_status tune(const char *log_path, const char *profiles, int resume, gv_tune_summary *summary)
{
    gv_tune_options options;

    fill_options(&options, log_path, profiles, resume);
    options.sources[0] = 131072; /* few sources are launched in few ways */
    return gv_tune(&options, summary);
}

/* An earlier run with another seed and fewer evaluations: the next run reads its profile. */
static gravel_status tune_before(const char *profiles)
{
    gv_tune_options options;
    gv_tune_summary summary;

    fill_options(&options, NULL, profiles, 0);
    options.sources[0] = 131072;
    options.seed = 7;
    options.budget = 25;
    return gv_tune(&options, &summary);
}

static void test_killed_run_resumes(void **state)
{
    char *folder, *whole_log, *cut_log, *whole_dir, *cut_dir;
    gv_profile_set whole = GV_PROFILE_SET_INIT, cut = GV_PROFILE_SET_INIT, before = GV_PROFILE_SET_INIT;
    gv_tune_summary summary;
    gv_tlog a, b;
    pid_t pid;

    (void)state;
    pid = fork();
    if (pid == 0)
        _exit(no_device());
    if (exit_code(pid) != 0)
        skip();
    folder = make_folder();
    whole_log = gv_path_join(folder, "whole.jsonl");
    cut_log = gv_path_join(folder, "cut.jsonl");
    whole_dir = gv_path_join(folder, "whole");
    cut_dir = gv_path_join(folder, "cut");
    for (int k = 0; k < 2; k++) {
        pid = fork();
        if (pid == 0)
            _exit(tune_before(k == 0 ? cut_dir : whole_dir) != GRAVEL_OK);
        assert_true(pid > 0);
        assert_int_equal(exit_code(pid), 0);
    }
    assert_ok(gv_profile_read_dir(whole_dir, &before, NULL, NULL));
    /* killed twice, once in each question, and each time resumed.  The children come first: a process that has opened
     * the device already cannot be forked and use it again. */
    for (int k = 0; k < 2; k++) {
        pid = fork();
        if (pid == 0) {
            setenv("SERVED", k == 0 ? "11" : "63", 1);
            _exit(tune(cut_log, cut_dir, k > 0, &summary) != GRAVEL_OK);
        }
        assert_true(pid > 0);
        wait_for_lines(cut_log, k == 0 ? 1 + 11 : 2 + 74, pid); /* each run begins with a line about the log */
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(exit_code(pid), 128 + SIGKILL);
    }
    assert_ok(tune(cut_log, cut_dir, 1, &summary));
    assert_int_equal(summary.replayed, 74);
    assert_ok(tune(whole_log, whole_dir, 0, &summary));
    assert_int_equal(summary.replayed, 0);
    /* the same outcomes in the same order, none of them twice */
    assert_ok(gv_tlog_read(whole_log, &a));
    assert_ok(gv_tlog_read(cut_log, &b));
    assert_int_equal(a.n, b.n);
    for (size_t i = 0; i < a.n; i++) {
        assert_true(gv_task_same(&a.record[i].task, &b.record[i].task));
        assert_string_equal(a.record[i].configuration, b.record[i].configuration);
        assert_string_equal(a.record[i].stage, b.record[i].stage);
        assert_int_equal(a.record[i].round, b.record[i].round);
    }
    /* the first question: the built-in default, then where the earlier run ended */
    for (int e = 0; e < before.block[0].n_entries; e++)
        if (before.block[0].entry[e].sinks == a.record[0].task.sinks)
            assert_string_equal(a.record[1].configuration, before.block[0].entry[e].result[0].configuration);
    gv_profile_set_free(&before);
    gv_tlog_close(&a);
    gv_tlog_close(&b);
    assert_ok(gv_profile_read_dir(whole_dir, &whole, NULL, NULL));
    assert_ok(gv_profile_read_dir(cut_dir, &cut, NULL, NULL));
    assert_true(whole.n_blocks == 1 && cut.n_blocks == 1);
    assert_int_equal(whole.block[0].n_entries, 2);
    assert_int_equal(cut.block[0].n_entries, 2);
    for (int e = 0; e < 2; e++) {
        assert_string_equal(whole.block[0].entry[e].result[0].configuration,
                            cut.block[0].entry[e].result[0].configuration);
        assert_true(whole.block[0].entry[e].result[0].time_s == cut.block[0].entry[e].result[0].time_s);
    }
    gv_profile_set_free(&whole);
    gv_profile_set_free(&cut);
    remove_folder(folder);
    free(cut_dir);
    free(whole_dir);
    free(cut_log);
    free(whole_log);
    free(folder);
}

/* A question whose time is over before it begins still measures the default and the configuration of the profile. */
static void test_known_is_measured_without_time(void **state)
{
    char *folder, *profiles, *log_path;
    gv_profile_set before = GV_PROFILE_SET_INIT;
    gv_tune_options options;
    gv_tune_summary summary;
    gv_tlog log;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    folder = make_folder();
    profiles = gv_path_join(folder, "profiles");
    log_path = gv_path_join(folder, "log.jsonl");
    assert_ok(tune_before(profiles));
    assert_ok(gv_profile_read_dir(profiles, &before, NULL, NULL));
    assert_int_equal(before.block[0].n_entries, 2);
    fill_options(&options, log_path, profiles, 0);
    options.sources[0] = 131072;
    options.budget = 0;
    options.budget_s = 1e-3; /* less than one answer of the worker takes */
    assert_ok(gv_tune(&options, &summary));
    assert_int_equal(summary.tasks_done, 2);
    assert_ok(gv_tlog_read(log_path, &log));
    for (int e = 0; e < 2; e++) {
        const gv_profile_entry *entry = &before.block[0].entry[e];
        int measured = 0;

        for (size_t i = 0; i < log.n; i++) {
            measured |= log.record[i].task.sinks == entry->sinks && strcmp(log.record[i].stage, "search") == 0 &&
                        strcmp(log.record[i].configuration, entry->result[0].configuration) == 0;
        }
        if (!measured) {
            fail_msg("%zu sinks: %s is in the profile and was not measured", entry->sinks,
                     entry->result[0].configuration);
        }
    }
    gv_tlog_close(&log);
    gv_profile_set_free(&before);
    remove_folder(folder);
    free(log_path);
    free(profiles);
    free(folder);
}

/* Equal but for `blocks_per_cu`: with few sources one launch, of which the search measures one. */
static int same_program(const char *a, const char *b)
{
    return strcmp(strstr(a, " split="), strstr(b, " split=")) == 0 && strncmp(a, b, strcspn(a, " ")) == 0;
}

/* A variant with a nearest neighbour measures first what won without one, and has entries of its own. */
static void test_searches_begin_with_the_plain_winner(void **state)
{
    char *folder, *profiles, *log_path;
    gv_profile_set set = GV_PROFILE_SET_INIT;
    gv_tune_options options;
    gv_tune_summary summary;
    gv_tlog log;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    folder = make_folder();
    profiles = gv_path_join(folder, "profiles");
    log_path = gv_path_join(folder, "log.jsonl");
    fill_options(&options, log_path, profiles, 0);
    options.n_variants = 2;
    options.variant[1] = options.variant[0];
    options.variant[1].features = GV_DIRECT_NEAREST;
    options.budget = 12;
    assert_ok(gv_tune(&options, &summary));
    assert_int_equal(summary.n_tasks, 4);
    assert_int_equal(summary.tasks_done, 4);
    assert_ok(gv_profile_read_dir(profiles, &set, NULL, NULL));
    assert_ok(gv_tlog_read(log_path, &log));
    assert_int_equal(set.block[0].n_entries, 4);
    for (int e = 0; e < 4; e++) {
        const gv_profile_entry *entry = &set.block[0].entry[e];
        const gv_tlog_record *plain = NULL;
        int place = 0, found = 0;

        /* what won the finals without one, of which searches take over; crossing may have put another into the profile
         * since */
        for (size_t i = 0; i < log.n; i++) {
            const gv_tlog_record *record = &log.record[i];
            if (record->task.variant.features == 0 && record->task.sinks == entry->sinks &&
                strcmp(record->stage, "final") == 0 &&
                (plain == NULL || record->outcome.time_s < plain->outcome.time_s))
                plain = record;
        }
        for (size_t i = 0; i < log.n && entry->features == 0 && !found; i++) {
            const gv_tlog_record *record = &log.record[i];

            place += record->task.variant.features != 0 && record->task.sinks == entry->sinks;
            found = record->task.variant.features != 0 && record->task.sinks == entry->sinks &&
                    same_program(record->configuration, plain->configuration);
        }
        /* the built-in default, then this; the question asked first crossed its winner over to the other */
        assert_true(entry->features != 0 || (found && place <= 3));
    }
    gv_tlog_close(&log);
    gv_profile_set_free(&set);
    remove_folder(folder);
    free(log_path);
    free(profiles);
    free(folder);
}

/* Without sizes named there is a question for every bucket, each in its bucket, for cheap and for costly variants. */
static void test_every_bucket_is_asked(void **state)
{
    char *folder, *profiles;
    gv_profile_set set = GV_PROFILE_SET_INIT;
    gv_tune_options options;
    gv_tune_summary summary;
    int seen[2][GV_SINK_BUCKETS][GV_SOURCE_BUCKETS] = {{{0}}};

    (void)state;
    SKIP_WITHOUT_DEVICE();
    folder = make_folder();
    profiles = gv_path_join(folder, "profiles");
    fill_options(&options, NULL, profiles, 0);
    options.n_variants = 2;
    assert_true(gv_variant_parse("sp6", &options.variant[1]));
    options.n_sinks = options.n_sources = 0;
    options.budget = 4;
    options.quick = 1;
    assert_ok(gv_tune(&options, &summary));
    assert_true(summary.n_tasks >= 2 * GV_SINK_BUCKETS * GV_SOURCE_BUCKETS);
    assert_int_equal(summary.tasks_done, summary.n_tasks);
    assert_ok(gv_profile_read_dir(profiles, &set, NULL, NULL));
    assert_int_equal(set.n_blocks, 1);
    for (int e = 0; e < set.block[0].n_entries; e++) {
        const gv_profile_entry *entry = &set.block[0].entry[e];

        seen[strcmp(entry->variant, "sp6") == 0][entry->sink_bucket][entry->source_bucket]++;
    }
    for (int k = 0; k < 2 * GV_SINK_BUCKETS * GV_SOURCE_BUCKETS; k++)
        assert_true((&seen[0][0][0])[k] >= 1);
    gv_profile_set_free(&set);
    remove_folder(folder);
    free(profiles);
    free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_run_resumes),
        cmocka_unit_test(test_known_is_measured_without_time),
        cmocka_unit_test(test_searches_begin_with_the_plain_winner),
        cmocka_unit_test(test_every_bucket_is_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
