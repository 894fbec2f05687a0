/* The program tunes on a real device: sabotaged kernels are caught, crashes explained, Ctrl-C keeps what was found. */
#include "tuner_wait.h"

#include <fcntl.h>
#include <signal.h>

#include "tuner/session.h"

static const char *program(void)
{
    return gv_env("GRAVEL_PROGRAM");
}

#define SKIP_WITHOUT_PROGRAM()                                                                                         \
    do {                                                                                                               \
        if (no_device())                                                                                               \
            skip();                                                                                                    \
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_crash_is_explained),
        cmocka_unit_test(test_sabotage_is_caught),
        cmocka_unit_test(test_interrupt_keeps_what_was_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
