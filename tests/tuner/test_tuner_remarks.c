/* What a run says of many questions: one line with their number and the name of one, each of them with `verbose`. */
#include "host_test.h"

#include "tuner/session.h"

/* Every candidate takes ten milliseconds, so that a question with more pairs than the first is expected to take longer
 * in proportion. */
static char script[] = "echo ready >&3\n"
                       "while read -r line; do echo '{\"status\":\"ok\",\"time_s\":0.01}' >&3; done\n";
static char shell[] = "sh", dash_c[] = "-c";
static char *const worker_argv[] = {shell, dash_c, script, NULL};

typedef struct said {
    int lines, too_long;
    char text[2000];
} said;

static void hear(const char *text, void *user)
{
    said *s = user;

    s->lines++;
    s->too_long += strstr(text, "too long for this budget") != NULL;
    strncat(s->text, text, sizeof s->text - strlen(s->text) - 2);
    strcat(s->text, "\n");
}

/* The first two questions, 1 and 100 sinks with 1000 sources, are answered; the other four would take a second to
 * hours. */
static void tune(said *s, int verbose)
{
    gv_tune_options options;
    gv_tune_summary summary;

    memset(&options, 0, sizeof options);
    memset(s, 0, sizeof *s);
    options.device = "cpu";
    options.n_variants = 1;
    assert_true(gv_variant_parse("sp2", &options.variant[0]));
    options.n_sinks = 2;
    options.sinks[0] = 1;
    options.sinks[1] = 100;
    options.n_sources = 3;
    options.sources[0] = 10000000;
    options.sources[1] = 1000;
    options.sources[2] = 1000000000;
    options.seed = 5;
    options.budget = 3;
    options.budget_s = 4;
    options.limit_s = 300;
    options.worker_argv = worker_argv;
    options.verbose = verbose;
    options.warn = hear;
    options.user = s;
    assert_ok(gv_tune(&options, &summary));
    assert_int_equal(summary.n_tasks, 6);
    assert_int_equal(summary.tasks_done, 2);
}

static void test_one_line_for_all(void **state)
{
    said s;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    tune(&s, 0);
    if (s.lines != 1)
        fail_msg("more is said: %s", s.text);
    assert_contains(s.text, "4 questions take too long for this budget, as sp2, ");
}

static void test_each_with_verbose(void **state)
{
    said s;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    tune(&s, 1);
    assert_int_equal(s.too_long, 5);
    assert_contains(s.text, "sp2, 100 x 10000000: takes too long for this budget");
    assert_contains(s.text, "sp2, 1 x 1000000000: takes too long for this budget");
}

/* Each answer takes 30 ms at least: 25 questions and more of each variant have no room in a second. */
static char slow[] = "echo ready >&3\n"
                     "while read -r line; do sleep 0.03; echo '{\"status\":\"ok\",\"time_s\":0.00001}' >&3; done\n";
static char *const slow_argv[] = {shell, dash_c, slow, NULL};

/* Nothing begins after the time: of a variant the last questions are left out, and variants with searches before those
 * that every call can use.  By the run's own clock, however slow the machine is. */
static void test_what_there_is_no_time_for(void **state)
{
    static const char *const variant[] = {"sp2", "sp2", "sp4"};
    char *folder, *log_path, all[80];
    gv_tune_options options;
    gv_tune_summary summary;
    double spent = 0;
    gv_tlog log;
    said s;
    int plain = 0;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    folder = make_folder();
    log_path = gv_path_join(folder, "log.jsonl");
    memset(&options, 0, sizeof options);
    memset(&s, 0, sizeof s);
    options.device = "cpu";
    options.n_variants = 3;
    for (int v = 0; v < 3; v++)
        assert_true(gv_variant_parse(variant[v], &options.variant[v]));
    options.variant[1].features = 1; /* the nearest neighbour */
    options.seed = 5;
    options.quick = 1;
    options.budget_s = 1;
    options.limit_s = 300;
    options.log_path = log_path;
    options.worker_argv = slow_argv;
    options.warn = hear;
    options.user = &s;
    assert_ok(gv_tune(&options, &summary));
    assert_true(summary.tasks_done >= 1 && summary.tasks_done < summary.n_tasks);
    assert_int_equal(s.lines, 1);
    snprintf(all, sizeof all, "%d of %d questions were not asked, the time was over, from sp2",
             summary.n_tasks - summary.tasks_done, summary.n_tasks);
    assert_contains(s.text, all);
    assert_ok(gv_tlog_read(log_path, &log));
    for (size_t i = 0; i < log.n; i++) {
        const gv_tlog_record *r = &log.record[i];

        /* 0.92 of a variant's time and a quarter are the latest that one begins; the last variant may have 0.3 more */
        if (i == 0 || !gv_task_same(&r->task, &log.record[i - 1].task))
            assert_true(spent < 1.3 || strcmp(r->stage, "cross") == 0);
        plain |= r->task.variant.order == 4 ? 2 : 1;
        spent += r->outcome.cost_s;
    }
    assert_true(plain == 3 || spent > options.budget_s); /* sp4 as well, unless sp2's first answer took all */
    gv_tlog_close(&log);
    remove_folder(folder);
    free(log_path);
    free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_there_is_no_time_for),
        cmocka_unit_test(test_one_line_for_all),
        cmocka_unit_test(test_each_with_verbose),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
