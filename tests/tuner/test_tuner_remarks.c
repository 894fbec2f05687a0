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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_line_for_all),
        cmocka_unit_test(test_each_with_verbose),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
