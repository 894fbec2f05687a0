/* Whole tuning runs on a real device: sabotaged kernels are caught, killed runs resume, Ctrl-C keeps what was found. */
#include "host_test.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <time.h>

#include "host/direct/plan.h"
#include "host/profile/store.h"
#include "tuner/session.h"

/* ------------------------------------------------------- the real program */

static const char *program(void)
{
    return gv_env("GRAVEL_PROGRAM");
}

#define SKIP_WITHOUT_PROGRAM()                                                                                         \
    do {                                                                                                               \
        if (no_device()) {                                                                                             \
            skip();                                                                                                    \
        }                                                                                                              \
        if (program() == NULL || gv_env("GRAVEL_SOURCE_DIR") == NULL) {                                                \
            print_message("skipped: GRAVEL_PROGRAM and GRAVEL_SOURCE_DIR are not set\n");                              \
            skip();                                                                                                    \
        }                                                                                                              \
    } while (0)

static pid_t start_program(char *const *argv, const char *kernel_dir, const char *output)
{
    pid_t pid = fork();

    if (pid == 0) {
        int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);

        dup2(fd, 1);
        dup2(fd, 2);
        if (kernel_dir != NULL)
            setenv("GRAVEL_KERNEL_DIR", kernel_dir, 1);
        execv(program(), argv);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

static int exit_code(pid_t pid)
{
    int code = 0;

    assert_int_equal(waitpid(pid, &code, 0), pid);
    return WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code);
}

static void copy_folder(const char *from, const char *to)
{
    char *command[] = {"cp", "-r", (char *)(uintptr_t)from, (char *)(uintptr_t)to, NULL};
    pid_t pid = fork();

    if (pid == 0) {
        execvp("cp", command);
        _exit(127);
    }
    assert_int_equal(exit_code(pid), 0);
}

/* Puts `what` behind the first place where `after` ends; `before` must come earlier in the text. */
static void insert(const char *path, const char *before, const char *after, const char *what)
{
    char *text, *at, *edited;

    assert_ok(gv_file_read(path, 1 << 20, &text, NULL));
    at = strstr(text, before);
    assert_non_null(at);
    at = strstr(at, after);
    assert_non_null(at);
    at += strlen(after);
    edited = gv_format("%.*s\n%s\n%s", (int)(at - text), text, what, at);
    assert_non_null(edited);
    assert_ok(gv_file_write(path, edited, strlen(edited)));
    free(edited);
    free(text);
}

/* One unroll value each: wrong by a thousandth, endless, not compiling, writing to address zero. */
static char *sabotaged_kernels(const char *folder)
{
    char *source = gv_path_join(gv_env("GRAVEL_SOURCE_DIR"), "kernels"), *kernels = gv_path_join(folder, "kernels");
    char *force = gv_path_join(kernels, "direct/force.cl"), *view = gv_path_join(kernels, "direct/view.h");

    copy_folder(source, kernels);
    insert(view, "gv_fetch(const", "GV_PLANES(GV_FETCH)",
           "#if GV_UNROLL == 2\n    s.pos += s.pos * (gv_scalar)0.001f;\n#endif");
    insert(force, "gv_force(", "{",
           "#if GV_UNROLL == 4\n    volatile int gv_spin = 1;\n    while (gv_spin) {}\n#elif GV_UNROLL == 8\n"
           "#error sabotage\n#elif GV_UNROLL == 16\n    *(volatile global int *)0 = 1;\n#endif");
    free(view);
    free(force);
    free(source);
    return kernels;
}

typedef struct sabotage {
    char *kernels, *log_path, *profiles, *output;
} sabotage;

/* `gravel tune` of few candidates on the spoiled kernels; its exit status. */
static int tune_sabotaged(const sabotage *s, const char *only, const char *limit)
{
    char *argv[] = {"gravel",
                    "tune",
                    "--device",
                    "cpu",
                    "--variant",
                    "sp2",
                    "--sinks",
                    "48",
                    "--sources",
                    "2048",
                    "--plain",
                    "--exhaustive",
                    "--only",
                    (char *)(uintptr_t)only,
                    "--candidate-time",
                    (char *)(uintptr_t)limit,
                    "--jobs",
                    "0",
                    "--log",
                    s->log_path,
                    "--profile-dir",
                    s->profiles,
                    NULL};

    return exit_code(start_program(argv, s->kernels, s->output));
}

/* Those of one unroll value all ended in this way; how many. */
static int ended_with(const char *log_path, int unroll, gv_outcome_status expected)
{
    int seen = 0;
    gv_tlog log;

    assert_ok(gv_tlog_read(log_path, &log));
    for (size_t i = 0; i < log.n; i++) {
        const char *word = strstr(log.record[i].configuration, "unroll=");

        if (word == NULL || atoi(word + 7) != unroll)
            continue;
        seen++;
        if (log.record[i].outcome.status != expected) {
            fail_msg("unroll=%d: %s (%s)", unroll, gv_outcome_name(log.record[i].outcome.status),
                     log.record[i].outcome.reason);
        }
    }
    gv_tlog_close(&log);
    return seen;
}

/* Only the endless kernel has seconds; what shall come to its end may take minutes on a busy machine. */
static void test_sabotage_is_caught(void **state)
{
    gv_profile_set set = GV_PROFILE_SET_INIT;

    (void)state;
    SKIP_WITHOUT_PROGRAM();
    char *folder = make_folder();
    sabotage s = {sabotaged_kernels(folder), gv_path_join(folder, "log.jsonl"), gv_path_join(folder, "profiles"),
                  gv_path_join(folder, "output")};

    assert_int_equal(tune_sabotaged(&s, "blocks_per_cu=2 sinks_per_item=1 rsqrt=0 unroll=1,2,8,16", "5m"), 0);
    assert_true(ended_with(s.log_path, 1, GV_OUTCOME_OK));
    assert_true(ended_with(s.log_path, 2, GV_OUTCOME_WRONG));
    assert_true(ended_with(s.log_path, 8, GV_OUTCOME_COMPILE));
    assert_true(ended_with(s.log_path, 16, GV_OUTCOME_LAUNCH));
    assert_false(ended_with(s.log_path, 4, GV_OUTCOME_OK));
    /* only the sound one is in the profile */
    assert_ok(gv_profile_read_dir(s.profiles, &set, NULL, NULL));
    assert_int_equal(set.n_blocks, 1);
    assert_int_equal(set.block[0].n_entries, 1);
    for (int r = 0; r < set.block[0].entry[0].n_results; r++)
        assert_contains(set.block[0].entry[0].result[r].configuration, "unroll=1 ");
    gv_profile_set_free(&set);
    tune_sabotaged(&s, "blocks_per_cu=2 sinks_per_item=1 rsqrt=0 unroll=4", "2s"); /* finds nothing, or not much */
    assert_true(ended_with(s.log_path, 4, GV_OUTCOME_TIMEOUT));
    remove_folder(folder);
    free(s.output);
    free(s.profiles);
    free(s.log_path);
    free(s.kernels);
    free(folder);
}

/* In the program's own process a crash cannot be survived: it ends as crashes do, but says in what. */
static void test_a_crash_is_explained(void **state)
{
    char *folder, *kernels, *source, *force, *output, *text;

    (void)state;
    SKIP_WITHOUT_PROGRAM();
#ifdef __SANITIZE_ADDRESS__
    print_message("skipped: the address sanitizer explains crashes itself\n");
    skip();
#endif
    folder = make_folder();
    kernels = gv_path_join(folder, "kernels");
    source = gv_path_join(gv_env("GRAVEL_SOURCE_DIR"), "kernels");
    force = gv_path_join(kernels, "direct/force.cl");
    output = gv_path_join(folder, "output");
    copy_folder(source, kernels);
    insert(force, "gv_force(", "{", "*(volatile global int *)0 = 1;");
    char *argv[] = {"gravel", "check", "--tiny", "--variant", "sp2", "--device", "cpu", NULL};

    assert_int_equal(exit_code(start_program(argv, kernels, output)), 128 + SIGSEGV);
    assert_ok(gv_file_read(output, 1 << 20, &text, NULL));
    assert_contains(text, "gravel: ended by SIGSEGV while checking sp2, N = ");
    assert_contains(text, "most likely the OpenCL driver or its compiler crashed");
    free(text);
    remove_folder(folder);
    free(output);
    free(force);
    free(source);
    free(kernels);
    free(folder);
}

static size_t lines_of(const char *path)
{
    char *text = NULL;
    size_t n = 0;

    if (gv_file_read(path, 1 << 24, &text, NULL) == GRAVEL_OK) {
        for (const char *c = text; *c != '\0'; c++)
            n += *c == '\n';
        free(text);
    }
    return n;
}

static void wait_for_lines(const char *path, size_t lines, pid_t pid)
{
    static const struct timespec moment = {0, 10000000};

    /* five minutes for what takes a second or two on an idle machine */
    for (int k = 0; k < 30000 && lines_of(path) < lines; k++) {
        assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
        nanosleep(&moment, NULL);
    }
    assert_true(lines_of(path) >= lines);
}

static void test_interrupt_keeps_what_was_found(void **state)
{
    char *folder, *log_path, *profiles, *output, *text;
    gv_profile_set set = GV_PROFILE_SET_INIT;
    pid_t pid;

    (void)state;
    SKIP_WITHOUT_PROGRAM();
    folder = make_folder();
    log_path = gv_path_join(folder, "log.jsonl");
    profiles = gv_path_join(folder, "profiles");
    output = gv_path_join(folder, "output");
    char *argv[] = {"gravel",
                    "tune",
                    "--device",
                    "cpu",
                    "--variant",
                    "sp2",
                    "--sinks",
                    "48",
                    "--sources",
                    "2048",
                    "--exhaustive",
                    "--only",
                    "sinks_per_item=1 rsqrt=0",
                    "--jobs",
                    "0",
                    "--log",
                    log_path,
                    "--profile-dir",
                    profiles,
                    NULL};

    pid = start_program(argv, NULL, output);
    wait_for_lines(log_path, 4, pid);
    assert_int_equal(kill(pid, SIGINT), 0);
    assert_int_equal(exit_code(pid), 130);
    assert_ok(gv_file_read(output, 1 << 20, &text, NULL));
    assert_contains(text, "what was found is kept");
    free(text);
    assert_ok(gv_profile_read_dir(profiles, &set, NULL, NULL));
    assert_int_equal(set.n_blocks, 1);
    assert_true(set.block[0].entry[0].result[0].time_s > 0);
    gv_profile_set_free(&set);
    remove_folder(folder);
    free(output);
    free(profiles);
    free(log_path);
    free(folder);
}

/* ------------------------------------ kill -9 and resume, with fake timings */

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
    return gv_tune(&options, summary);
}

/* An earlier run with another seed and fewer evaluations: the next run reads its profile. */
static gravel_status tune_before(const char *profiles)
{
    gv_tune_options options;
    gv_tune_summary summary;

    fill_options(&options, NULL, profiles, 0);
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
        int place = 0, found = 0;

        for (size_t i = 0; i < log.n && entry->features == 0 && !found; i++) {
            const gv_tlog_record *record = &log.record[i];

            place += record->task.variant.features != 0 && record->task.sinks == entry->sinks;
            found = record->task.variant.features != 0 && record->task.sinks == entry->sinks &&
                    strcmp(record->configuration, entry->result[0].configuration) == 0;
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
        cmocka_unit_test(test_a_crash_is_explained),
        cmocka_unit_test(test_sabotage_is_caught),
        cmocka_unit_test(test_interrupt_keeps_what_was_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
