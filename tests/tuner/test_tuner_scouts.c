/* Soft constraints yield where nothing good is found within them; the default is always measured.  On made-up timings:
 * the device is real, the worker is a shell script. */
#include "host_test.h"

#include "host/profile/store.h"
#include "tuner/session.h"

/* What a CPU is thought to want, one work-item a group, takes $ALONE us, or comes out wrong; groups take $GROUPS us. */
static char script[] = "echo ready >&3\n"
                       "while read -r line; do\n"
                       "  case $line in *'threads=1 '*) t=$ALONE;; *) t=$GROUPS;; esac\n"
                       "  if [ $t = wrong ]; then echo '{\"status\":\"wrong\",\"reason\":\"forces\"}' >&3\n"
                       "  else echo \"{\\\"status\\\":\\\"ok\\\",\\\"time_s\\\":${t}e-6}\" >&3; fi\n"
                       "done\n";
static char shell[] = "sh", dash_c[] = "-c";
static char *const worker_argv[] = {shell, dash_c, script, NULL};

typedef struct seen {
    int warnings, finished;
    gv_tune_result last;
} seen;

static void warn(const char *text, void *user)
{
    ((seen *)user)->warnings += strstr(text, "from now on everything that can run is tried") != NULL;
}

static void finished(const gv_tune_result *result, void *user)
{
    seen *s = user;
    s->last = *result;
    s->finished++;
}

static void tune(const char *alone_us, const char *groups_us, int variants, double budget_s, seen *s)
{
    char *folder = make_folder(), *log = gv_path_join(folder, "log");
    gv_tune_summary summary;
    gv_tune_options options = {.device = "cpu",
                               .n_variants = variants,
                               .n_sinks = 1,
                               .sinks = {1024},
                               .n_sources = 1,
                               .sources = {2048},
                               .seed = 5,
                               .budget = 12,
                               .budget_s = budget_s,
                               .quick = 1,
                               .limit_s = 20,
                               .log_path = log,
                               .worker_argv = worker_argv,
                               .warn = warn,
                               .finished = finished,
                               .user = s};

    memset(s, 0, sizeof *s);
    setenv("ALONE", alone_us, 1);
    setenv("GROUPS", groups_us, 1);
    assert_true(gv_variant_parse("sp2", &options.variant[0]));
    assert_true(gv_variant_parse("ds4", &options.variant[1]));
    assert_ok(gv_tune(&options, &summary));
    assert_int_equal(s->finished, variants);
    remove_folder(folder);
    free(log);
    free(folder);
}

static void has_groups(const seen *s, int groups)
{
    assert_int_equal(strstr(s->last.configuration, "threads=1 ") == NULL, groups);
}

/* Only where one work-item drives all lanes, as PoCL has it, are there constraints of this kind. */
static int is_by_lanes(void)
{
    gv_tune_device device;

    assert_ok(gv_tune_look("cpu", 0, gv_subject_find("direct")->space, &device));
    return !gv_limits_groups(&device.limits) && device.limits.pair_s > 0;
}

static void test_soft_constraints_yield(void **state)
{
    seen s;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    if (!is_by_lanes())
        skip();
    /* a second for 2 million pairs is a thousand times what any CPU's trial takes */
    tune("1000000", "20", 2, 0, &s);
    assert_int_equal(s.warnings, 1);
    has_groups(&s, 1); /* of the second variant, too, which begins where the first one ended */
    tune("wrong", "20", 1, 0, &s);
    assert_int_equal(s.warnings, 1);
    has_groups(&s, 1);
    /* as bad either way: they stay */
    tune("1000000", "990000", 1, 0, &s);
    assert_int_equal(s.warnings, 0);
    has_groups(&s, 0);
    /* good: nobody tries the others (1 ns is good on any device) */
    tune("0.001", "0.0001", 1, 0, &s);
    assert_int_equal(s.warnings, 0);
    has_groups(&s, 0);
}

/* With no time at all: the default of each question is measured nevertheless, and nothing is slower than it. */
static void test_the_default_is_measured(void **state)
{
    seen s;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    tune("10", "20", 2, 1e-9, &s);
    assert_true(s.last.evaluations >= 1 && s.last.gain >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_soft_constraints_yield),
                                       cmocka_unit_test(test_the_default_is_measured)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
