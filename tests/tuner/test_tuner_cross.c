/* Winners of neighbouring questions are measured at each question, also in a run whose time is over. */
#include "host_test.h"

#include "host/direct/plan.h"
#include "host/profile/store.h"
#include "tuner/run.h"

/* Times that depend on the request (the configuration, the sinks), so short that no run of a candidate counts. */
#define ANSWERS(first)                                                                                                 \
    "echo ready >&3\n"                                                                                                 \
    "while read -r line; do\n" first "  text=${line%seed*}\n"                                                          \
    "  set -- $(printf %s \"$text\" | cksum)\n"                                                                        \
    "  echo \"{\\\"status\\\":\\\"ok\\\",\\\"time_s\\\":$(($1 % 9000 + 1000))e-12}\" >&3\n"                            \
    "done\n"
static char script[] = ANSWERS("");
static char shell[] = "sh", dash_c[] = "-c";
static char *const worker_argv[] = {shell, dash_c, script, NULL};

static void fill(gv_tune_options *options, const char *profiles, int cross, int more)
{
    memset(options, 0, sizeof *options);
    options->device = "cpu:1"; /* a part of the CPU: no profile is shipped for it that these questions would meet */
    options->n_variants = 1;
    assert_true(gv_variant_parse("sp2", &options->variant[0]));
    options->n_sinks = 3 + more;
    options->sinks[0] = 1;
    options->sinks[1] = 30;
    options->sinks[2] = 100;
    options->sinks[3] = 55;
    options->n_sources = 1;
    options->sources[0] = 1000;
    options->seed = 5;
    options->cross = cross;
    options->limit_s = 300;
    options->profile_dir = profiles;
    options->worker_argv = worker_argv;
}

static void tune(const char *log_path, const char *profiles, size_t budget, double budget_s, int cross, int more)
{
    gv_tune_options options;
    gv_tune_summary summary;

    fill(&options, profiles, cross, more);
    options.budget = budget;
    options.budget_s = budget_s;
    options.log_path = log_path;
    assert_ok(gv_tune(&options, &summary));
    assert_int_equal(summary.tasks_done, 3 + more);
}

/* A folder with names in it for a log and for profiles. */
static void open_folder(char **folder, char **log_path, char **profiles)
{
    *folder = make_folder();
    *log_path = gv_path_join(*folder, "log.jsonl");
    *profiles = gv_path_join(*folder, "profiles");
}

static void close_folder(char *folder, char *log_path, char *profiles)
{
    remove_folder(folder);
    free(profiles);
    free(log_path);
    free(folder);
}

/* It, or one that the question launches alike: these are one candidate. */
static int knows(const gv_profile_entry *entry, const char *configuration)
{
    static gv_tune_device device;
    gv_variant variant;

    if (device.kernel_version[0] == '\0')
        assert_ok(gv_tune_look("cpu:1", 0, &gv_direct_space, &device));
    assert_true(gv_variant_parse(entry->variant, &variant));
    for (int r = 0; r < entry->n_results; r++)
        if (gv_space_same_text(&gv_direct_space, entry->result[r].configuration, configuration, &variant,
                               &device.limits, entry->sinks, entry->sources))
            return 1;
    return 0;
}

static void test_winners_meet_without_time(void **state)
{
    gv_profile_set set = GV_PROFILE_SET_INIT;
    char *folder, *log_path, *profiles;
    gv_tlog log;
    size_t crossed = 0;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    open_folder(&folder, &log_path, &profiles);
    tune(NULL, profiles, 12, 0, 0, 0);       /* the winners that the next run begins with */
    tune(log_path, profiles, 0, 1e-3, 0, 0); /* less than one answer of the worker takes */
    assert_ok(gv_tlog_read(log_path, &log));
    for (size_t i = 0; i < log.n; i++)
        crossed += strcmp(log.record[i].stage, "cross") == 0;
    gv_tlog_close(&log);
    assert_true(crossed > 0);
    assert_ok(gv_profile_read_dir(profiles, &set, NULL, NULL));
    assert_int_equal(set.block[0].n_entries, 3);
    /* the question with the shortest run, at least, has measured the others' winners */
    const gv_profile_entry *entry = set.block[0].entry;
    int known = 0;

    for (int e = 0; e < 3; e++)
        known += knows(&entry[e], entry[(e + 1) % 3].result[0].configuration) &&
                 knows(&entry[e], entry[(e + 2) % 3].result[0].configuration);
    assert_true(known >= 1);
    gv_profile_set_free(&set);
    close_folder(folder, log_path, profiles);
}

/* Without searches: what a profile of another kernel text keeps, or whose winner takes another time now, is measured
 * again and at the neighbours, no more. */
static void test_profile_is_crossed(void **state)
{
    gv_profile_set before = GV_PROFILE_SET_INIT, after = GV_PROFILE_SET_INIT;
    char *folder, *log_path, *profiles, path[1024];
    gv_tlog log;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    open_folder(&folder, &log_path, &profiles);
    tune(NULL, profiles, 12, 0, 0, 0);
    assert_ok(gv_profile_read_dir(profiles, &before, NULL, NULL));
    assert_int_equal(before.block[0].n_entries, 3);
    remove_folder(profiles);
    for (int e = 0; e < 3; e++) {
        gv_profile_entry *entry = &before.block[0].entry[e];

        /* only the winner is left, slower than the clock of today says, and as of another text but at the first */
        entry->n_results = 1;
        entry->result[0].time_s = entry->result[0].time_min_s = 1;
        if (e > 0)
            strcpy(entry->kernel_version, "0123456789abcdef");
    }
    assert_ok(gv_profile_save(profiles, &before, path, sizeof path));
    tune(log_path, profiles, 0, 0, 1, 0);
    assert_ok(gv_tlog_read(log_path, &log));
    assert_true(log.n > 0);
    for (size_t i = 0; i < log.n; i++)
        assert_true(strcmp(log.record[i].stage, "cross") == 0 || strcmp(log.record[i].stage, "again") == 0 ||
                    strcmp(log.record[i].stage, "sitting") == 0);
    gv_tlog_close(&log);
    assert_ok(gv_profile_read_dir(profiles, &after, NULL, NULL));
    int found = 0;

    for (int e = 0; e < after.block[0].n_entries; e++) {
        const gv_profile_entry *entry = &after.block[0].entry[e];

        if (strcmp(entry->kernel_version, "0123456789abcdef") == 0)
            continue;
        found++;
        for (int k = 0; k < 3; k++)
            assert_true(knows(entry, before.block[0].entry[k].result[0].configuration));
        for (int r = 0; r < entry->n_results; r++)
            assert_true(entry->result[r].time_s < 1e-6);
    }
    assert_int_equal(found, 3);
    gv_profile_set_free(&before);
    gv_profile_set_free(&after);
    close_folder(folder, log_path, profiles);
}

static void hear(const char *text, void *user)
{
    snprintf(user, 400, "%s", text);
}

/* What there is no time to measure again stays in the profile, and the end says so. */
static void test_what_there_is_no_time_for_stays(void **state)
{
    gv_profile_set set = GV_PROFILE_SET_INIT;
    char *folder, *profiles, path[1024], said[400] = "";
    gv_tune_options options;
    gv_tune_summary summary;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    folder = make_folder();
    profiles = gv_path_join(folder, "profiles");
    tune(NULL, profiles, 12, 0, 0, 0);
    assert_ok(gv_profile_read_dir(profiles, &set, NULL, NULL));
    assert_int_equal(set.block[0].n_entries, 3);
    for (int e = 0; e < 3; e++) {
        strcpy(set.block[0].entry[e].kernel_version, "0123456789abcdef");
        for (int r = 0; r < set.block[0].entry[e].n_results; r++)
            set.block[0].entry[e].result[r].time_s = 100; /* seconds, for which there is no time */
    }
    remove_folder(profiles);
    assert_ok(gv_profile_save(profiles, &set, path, sizeof path));
    gv_profile_set_free(&set);
    fill(&options, profiles, 1, 0);
    options.n_sinks = options.n_sources = 0; /* all that the profile knows */
    options.budget_s = 10;
    options.warn = hear;
    options.user = said;
    assert_ok(gv_tune(&options, &summary));
    assert_int_equal(summary.n_tasks, 3);
    assert_contains(said, "3 of 3 questions were not measured again, the time was over, as sp2, ");
    assert_ok(gv_profile_read_dir(profiles, &set, NULL, NULL));
    assert_int_equal(set.block[0].n_entries, 3);
    for (int e = 0; e < 3; e++)
        assert_string_equal(set.block[0].entry[e].kernel_version, "0123456789abcdef");
    gv_profile_set_free(&set);
    remove_folder(folder);
    free(profiles);
    free(folder);
}

/* An answer takes a tenth of a second, however short the run is that it tells of. */
static char slow[] = ANSWERS("  sleep 0.1\n");
static char *const slow_argv[] = {shell, dash_c, slow, NULL};

/* The answers of a profile are good without being looked at again: what its run has no time for is not begun, in no
 * variant. */
static void test_no_question_begins_after_the_budget(void **state)
{
    static const char *const variant[] = {"sp2", "sp4", "ds2", "ds4", "ds6"};
    gv_profile_set set = GV_PROFILE_SET_INIT;
    char *folder, *log_path, *profiles, path[1024], said[400] = "";
    gv_tune_options options;
    gv_tune_summary summary;
    gv_tlog log;
    double spent = 0;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    open_folder(&folder, &log_path, &profiles);
    tune(NULL, profiles, 12, 0, 0, 0);
    assert_ok(gv_profile_read_dir(profiles, &set, NULL, NULL));
    assert_int_equal(set.block[0].n_entries, 3);
    fill(&options, profiles, 1, 0);
    options.n_sinks = options.n_sources = 0; /* all that the profile knows */
    options.n_variants = 5;
    for (int v = 0; v < 5; v++)
        assert_true(gv_variant_parse(variant[v], &options.variant[v]));
    for (int k = 3; k < 15; k++) {
        gv_profile_entry entry = set.block[0].entry[k % 3];

        strcpy(entry.variant, variant[k / 3]);
        assert_ok(gv_profile_set_add(&set, &set.block[0].device, &entry));
    }
    assert_ok(gv_profile_save(profiles, &set, path, sizeof path));
    gv_profile_set_free(&set);
    options.budget_s = 1;
    options.log_path = log_path;
    options.worker_argv = slow_argv;
    options.warn = hear;
    options.user = said;
    assert_ok(gv_tune(&options, &summary));
    assert_int_equal(summary.n_tasks, 15);
    assert_ok(gv_tlog_read(log_path, &log));
    assert_true(log.n > 0);
    for (size_t i = 0; i < log.n; i++) {
        const gv_tlog_record *r = &log.record[i];

        assert_true((i > 0 && gv_task_same(&r->task, &log.record[i - 1].task)) || spent < options.budget_s);
        spent += r->outcome.cost_s;
    }
    assert_contains(said, " of 15 questions were not measured again, the time was over, as sp2, ");
    gv_tlog_close(&log);
    close_folder(folder, log_path, profiles);
}

/* Sizes that are named and that the profile does not hold become questions, among what won around them: no search. */
static void test_new_sizes_are_asked(void **state)
{
    gv_profile_set before = GV_PROFILE_SET_INIT, after = GV_PROFILE_SET_INIT;
    char *folder, *log_path, *profiles;
    gv_tlog log;
    int asked = 0;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    open_folder(&folder, &log_path, &profiles);
    tune(NULL, profiles, 12, 0, 0, 0);
    assert_ok(gv_profile_read_dir(profiles, &before, NULL, NULL));
    tune(log_path, profiles, 0, 0, 1, 1);
    assert_ok(gv_tlog_read(log_path, &log));
    for (size_t i = 0; i < log.n; i++) {
        if (strcmp(log.record[i].stage, "sitting") == 0)
            continue;
        /* what is known: whether it still holds */
        assert_string_equal(log.record[i].stage,
                            log.record[i].task.sinks != 55 && log.record[i].round == 0 ? "again" : "cross");
        asked += log.record[i].task.sinks == 55 && log.record[i].round <= 1;
    }
    gv_tlog_close(&log);
    assert_true(asked >= 3 && asked <= GV_BETWEEN_MOST + 1); /* the winner again in the first turn */
    assert_ok(gv_profile_read_dir(profiles, &after, NULL, NULL));
    assert_int_equal(after.block[0].n_entries, 4);
    for (int e = 0; e < 4; e++) {
        const gv_profile_entry *entry = &after.block[0].entry[e];

        if (entry->sinks != 55)
            continue;
        assert_true(entry->evaluations > 0 && entry->failures == 0);
        /* what won near it is there, unless eight others were faster; nothing is slower than what leads */
        int known = entry->n_results == GV_PROFILE_RESULTS;

        for (int k = 0; k < 3; k++)
            known += knows(entry, before.block[0].entry[k].result[0].configuration);
        assert_true(known >= 1);
        for (int r = 1; r < entry->n_results; r++)
            assert_true(entry->result[r].time_min_s * 1.03 > entry->result[0].time_min_s);
    }
    gv_profile_set_free(&before);
    gv_profile_set_free(&after);
    close_folder(folder, log_path, profiles);
}

/* A device without answers of its own asks, without sizes, what one that is alike has answered. */
static void test_questions_of_an_alike_device_are_asked(void **state)
{
    gv_profile_set set = GV_PROFILE_SET_INIT, after = GV_PROFILE_SET_INIT;
    gv_profile_device own;
    gv_tune_options options;
    gv_tune_summary summary;
    char *profiles, *path, *own_file, name[128];

    (void)state;
    SKIP_WITHOUT_DEVICE();
    profiles = make_folder();
    tune(NULL, profiles, 12, 0, 0, 0);
    assert_ok(gv_profile_read_dir(profiles, &set, NULL, NULL));
    own = set.block[0].device;
    gv_profile_file_name(&own, name);
    own_file = gv_path_join(profiles, name);
    assert_int_equal(unlink(own_file), 0);
    set.block[0].device.has_fp64 = !own.has_fp64; /* of the same name, but not the same */
    assert_true(gv_profile_alike(&set.block[0].device, &own));
    assert_false(gv_profile_same_device(&set.block[0].device, &own));
    path = gv_path_join(profiles, "another.json");
    assert_ok(gv_profile_write_file(path, &set));
    fill(&options, profiles, 1, 0);
    options.n_sinks = options.n_sources = 0;
    assert_ok(gv_tune(&options, &summary));
    assert_int_equal(summary.n_tasks, 3);
    assert_int_equal(summary.tasks_done, 3);
    assert_ok(gv_profile_read_dir(profiles, &after, NULL, NULL));
    assert_int_equal(after.n_blocks, 2);
    const gv_profile_block *block = gv_profile_set_find(&after, &own);
    assert_non_null(block);
    assert_int_equal(block->n_entries, 3);
    for (int e = 0; e < 3; e++) {
        const gv_profile_entry *there = &set.block[0].entry[e];
        int k = 0;

        while (k < 3 && block->entry[k].sinks != there->sinks)
            k++;
        assert_true(k < 3);
        assert_true(knows(&block->entry[k], there->result[0].configuration));
    }
    gv_profile_set_free(&set);
    gv_profile_set_free(&after);
    remove_folder(profiles);
    free(profiles);
    free(own_file);
    free(path);
}

/* A tree's bodies are sinks and sources: sources that are named are whole questions. */
static void test_new_sizes_of_trees_are_asked(void **state)
{
    gv_tune_options options;
    gv_tune_summary summary;
    gv_profile_set after = GV_PROFILE_SET_INIT;
    char *profiles;
    int found = 0;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    profiles = make_folder();
    fill(&options, profiles, 0, 0);
    options.kernel = "tree";
    options.n_sinks = 0;
    options.n_sources = 2;
    options.sources[0] = 2000;
    options.sources[1] = 16000;
    options.budget = 6;
    assert_ok(gv_tune(&options, &summary));
    options.cross = 1;
    options.budget = 0;
    options.n_sources = 1;
    options.sources[0] = 6000;
    assert_ok(gv_tune(&options, &summary));
    assert_int_equal(summary.n_tasks, 1);
    assert_int_equal(summary.tasks_done, 1);
    assert_ok(gv_profile_read_dir(profiles, &after, NULL, NULL));
    for (int e = 0; e < after.block[0].n_entries; e++)
        found += after.block[0].entry[e].sinks == 6000 && after.block[0].entry[e].sources == 6000;
    assert_int_equal(found, 1);
    gv_profile_set_free(&after);
    remove_folder(profiles);
    free(profiles);
}

/* Without sizes: half-way between those that are searched nothing is searched. */
static void test_trees_are_asked_between_buckets(void **state)
{
    static const gravel_device_type type[] = {GRAVEL_DEVICE_CPU, GRAVEL_DEVICE_GPU};

    (void)state;
    for (size_t t = 0; t < sizeof type / sizeof *type; t++) {
        gv_tune_options options;
        gv_limits limits;
        gv_plan made;

        memset(&limits, 0, sizeof limits);
        limits.info.type = type[t];
        fill(&options, NULL, 0, 0);
        options.kernel = "tree";
        options.n_sinks = options.n_sources = 0;
        gv_plan_make(&options, &limits, &options.variant[0], &made);
        assert_int_equal(made.n, 2 * GV_SOURCE_BUCKETS - 1);
        for (int k = 0; k < made.n; k++) {
            int more = 0, less = 0;

            assert_int_equal(made.q[k].sinks, made.q[k].sources);
            assert_int_equal(made.q[k].weight > 0, k < GV_SOURCE_BUCKETS);
            for (int j = 0; j < GV_SOURCE_BUCKETS; j++) {
                more += made.q[j].sources > made.q[k].sources;
                less += made.q[j].sources < made.q[k].sources;
            }
            assert_true(k < GV_SOURCE_BUCKETS || (more > 0 && less > 0));
        }
    }
}

/* Launches of fewer than 64 sinks on most sources are planned otherwise than those of 64: a GPU is asked just below. */
static void test_gpus_are_asked_below_64_sinks(void **state)
{
    (void)state;
    for (int quick = 0; quick < 2; quick++) {
        const size_t most = quick ? 524288 : 1048576;
        gv_tune_options options;
        gv_limits limits;
        gv_plan made;
        int found = 0;

        memset(&limits, 0, sizeof limits);
        limits.info.type = GRAVEL_DEVICE_GPU;
        fill(&options, NULL, 0, 0);
        options.n_sinks = options.n_sources = 0;
        options.quick = quick;
        gv_plan_make(&options, &limits, &options.variant[0], &made);
        for (int k = 0; k < made.n; k++)
            found += made.q[k].sinks > 32 && made.q[k].sinks < 64 && made.q[k].sources == most;
        assert_int_equal(found, 1);
    }
}

/* The untuned default of 30 sinks and 1000 sources, which scripts know as $BUILT_IN. */
static void tell_default(const gv_variant *variant, gv_config *config, char built_in[GV_PROFILE_TEXT])
{
    gv_tune_device device;

    assert_ok(gv_tune_look("cpu:1", 0, &gv_direct_space, &device));
    gv_direct_space.built_in(config, variant, &device.limits, 30, 1000);
    gv_space_format(&gv_direct_space, config, built_in, GV_PROFILE_TEXT);
    setenv("BUILT_IN", built_in, 1);
}

/* The default takes twice as long as all others. */
static char slow_default[] =
    "echo ready >&3\n"
    "while read -r line; do\n"
    "  case $line in *\"$BUILT_IN\"*) t=2000;; *) t=1000;; esac\n"
    "  echo \"{\\\"status\\\":\\\"ok\\\",\\\"time_s\\\":${t}e-12,\\\"time_min_s\\\":${t}e-12}\" >&3\n"
    "done\n";
static char *const slow_default_argv[] = {shell, dash_c, slow_default, NULL};

/* Where a question keeps as many as there is room for, all faster than the default, that gets a place nevertheless: how
 * far ahead of it a choice is would be a guess without. */
static void test_the_default_has_a_place(void **state)
{
    gv_profile_set set = GV_PROFILE_SET_INIT, after = GV_PROFILE_SET_INIT;
    char *profiles, path[1024], built_in[GV_PROFILE_TEXT];
    gv_tune_options options;
    gv_tune_summary summary;
    gv_config config;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    profiles = make_folder();
    fill(&options, profiles, 0, 0);
    options.n_sinks = 1;
    options.sinks[0] = 30;
    options.budget = 1;
    options.worker_argv = slow_default_argv;
    tell_default(&options.variant[0], &config, built_in);
    assert_ok(gv_tune(&options, &summary));
    assert_ok(gv_profile_read_dir(profiles, &set, NULL, NULL));
    assert_int_equal(set.block[0].n_entries, 1);
    gv_profile_entry *entry = &set.block[0].entry[0];
    const int own = config.value[GV_T_UNROLL];

    for (entry->n_results = 0; entry->n_results < GV_PROFILE_RESULTS; entry->n_results++) {
        gv_profile_result *result = &entry->result[entry->n_results];

        /* all unrolls but the default's, with one vector of sinks, then with two */
        config.value[GV_T_UNROLL] = 1 << entry->n_results % 4;
        if (config.value[GV_T_UNROLL] == own)
            config.value[GV_T_UNROLL] = 16;
        config.value[GV_T_SINKS_PER_ITEM] = 1 + entry->n_results / 4;
        memset(result, 0, sizeof *result);
        gv_space_format(&gv_direct_space, &config, result->configuration, sizeof result->configuration);
        result->time_s = result->time_min_s = 1000e-12;
    }
    assert_false(knows(entry, built_in));
    remove_folder(profiles);
    assert_ok(gv_profile_save(profiles, &set, path, sizeof path));
    options.cross = 1;
    options.budget = 0;
    assert_ok(gv_tune(&options, &summary));
    unsetenv("BUILT_IN");
    assert_ok(gv_profile_read_dir(profiles, &after, NULL, NULL));
    entry = &after.block[0].entry[0];
    assert_int_equal(entry->n_results, GV_PROFILE_RESULTS);
    assert_true(knows(entry, built_in));
    assert_true(entry->result[0].time_s < 1500e-12);
    gv_profile_set_free(&set);
    gv_profile_set_free(&after);
    remove_folder(profiles);
    free(profiles);
}

static int is_alike(const gv_profile_entry *entry, const char *configuration)
{
    gv_profile_entry one = *entry;

    one.n_results = 1;
    return knows(&one, configuration);
}

/* Questions that do not keep the default of today, as after a version with others, measure it before all else. */
static void test_defaults_that_are_not_kept_come_first(void **state)
{
    gv_profile_set before = GV_PROFILE_SET_INIT, after = GV_PROFILE_SET_INIT;
    char *folder, *log_path, *profiles, path[1024], built_in[3][GV_PROFILE_TEXT];
    gv_tune_device device;
    gv_variant sp2;
    gv_tlog log;
    int met[3] = {0};

    (void)state;
    SKIP_WITHOUT_DEVICE();
    open_folder(&folder, &log_path, &profiles);
    tune(NULL, profiles, 12, 0, 0, 0);
    assert_ok(gv_tune_look("cpu:1", 0, &gv_direct_space, &device));
    assert_true(gv_variant_parse("sp2", &sp2));
    assert_ok(gv_profile_read_dir(profiles, &before, NULL, NULL));
    assert_int_equal(before.block[0].n_entries, 3);
    for (int e = 0; e < 3; e++) {
        gv_profile_entry *entry = &before.block[0].entry[e];
        gv_config config;
        int r = 0;

        gv_direct_space.built_in(&config, &sp2, &device.limits, entry->sinks, entry->sources);
        gv_space_format(&gv_direct_space, &config, built_in[e], sizeof built_in[e]);
        for (; r < entry->n_results; r++) {
            entry->result[0] = entry->result[r];
            if (!is_alike(entry, built_in[e]))
                break;
        }
        assert_true(r < entry->n_results);
        entry->n_results = 1;
    }
    remove_folder(profiles);
    assert_ok(gv_profile_save(profiles, &before, path, sizeof path));
    tune(log_path, profiles, 0, 0, 1, 0);
    assert_ok(gv_tlog_read(log_path, &log));
    for (size_t i = 0; i < log.n && met[0] + met[1] + met[2] < 3; i++) {
        const gv_tlog_record *record = &log.record[i];
        int e = 0;

        assert_string_equal(record->stage, "cross");
        while (before.block[0].entry[e].sinks != record->task.sinks)
            e++;
        if (strcmp(record->configuration, built_in[e]) == 0)
            met[e] = 1;
        else
            assert_true(is_alike(&before.block[0].entry[e], record->configuration)); /* the winner */
    }
    gv_tlog_close(&log);
    assert_int_equal(met[0] + met[1] + met[2], 3);
    assert_ok(gv_profile_read_dir(profiles, &after, NULL, NULL));
    for (int e = 0; e < after.block[0].n_entries; e++)
        for (int k = 0; k < 3; k++)
            if (before.block[0].entry[k].sinks == after.block[0].entry[e].sinks)
                assert_true(knows(&after.block[0].entry[e], built_in[k]));
    gv_profile_set_free(&before);
    gv_profile_set_free(&after);
    close_folder(folder, log_path, profiles);
}

/* A line of $BUILDS for each program. */
static char counting[] = "echo ready >&3\n"
                         "while read -r line; do\n"
                         "  echo x >> \"$BUILDS\"\n"
                         "  echo \"{\\\"status\\\":\\\"ok\\\",\\\"time_s\\\":1e-9}\" >&3\n"
                         "done\n";
static char *const counting_argv[] = {shell, dash_c, counting, NULL};

/* Question k measures one program that no other does. */
static int one_program(gv_run *run, const gv_winners *found, const void *program, int k, gv_point point[GV_POINTS_MOST])
{
    (void)run, (void)found;
    point[0] = ((const gv_point *)program)[k];
    return 1;
}

static int is_other_program(const gv_domain *domain, const gv_point *a, const gv_point *b)
{
    for (int d = 0; d < domain->n; d++)
        if (domain->builds[d] && a->at[d] != b->at[d])
            return 1;
    return 0;
}

static int count_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    int n = 0;

    for (int c; file && (c = fgetc(file)) != EOF;)
        n += c == '\n';
    if (file)
        fclose(file);
    return n;
}

/* A question's own programs are built whatever time there is, those of the questions behind it in a part of what is
 * left, and as many as there are builders where nobody knows how long one takes. */
static void test_programs_are_built_ahead_in_time(void **state)
{
    enum { QUESTIONS = 12, JOBS = 2 };
    static const struct {
        double program_s, end;
        int built;
    } c[] = {
        {0, 1e30, JOBS}, {1, 1e30, 4 * JOBS}, {1, 20, 5}, {1, 8, 2}, {1, 0, 0}, /* one alone: whoever measures it */
    };
    char *folder = make_folder(), *builds = gv_path_join(folder, "builds");
    gv_tune_options options;
    gv_run *run = calloc(1, sizeof *run);
    gv_point program[QUESTIONS];
    int n = 0;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    assert_non_null(run);
    setenv("BUILDS", builds, 1);
    fill(&options, folder, 1, 0);
    run->options = &options;
    run->space = &gv_direct_space;
    assert_ok(gv_tune_look("cpu:1", 0, run->space, &run->device));
    run->task.variant = options.variant[0];
    run->task.sinks = 30;
    run->task.sources = 1000;
    assert_ok(gv_domain_of_space(&run->domain, run->space, &run->task.variant, &run->device.limits, NULL, 0));
    for (size_t p = 0; p < run->domain.n_points && n < QUESTIONS; p++)
        if (n == 0 || is_other_program(&run->domain, &run->domain.point[p], &program[n - 1]))
            program[n++] = run->domain.point[p];
    assert_int_equal(n, QUESTIONS);
    run->worker_options = (gv_tune_worker_options){counting_argv, 60, NULL, NULL};
    gv_builders_init(&run->builders, JOBS, &run->worker_options);
    for (size_t k = 0; k < sizeof c / sizeof c[0]; k++) {
        remove(builds);
        run->n_built = 0;
        run->program_s = c[k].program_s;
        gv_run_build_from(run, "cross", NULL, one_program, program, 0, QUESTIONS, c[k].end);
        assert_int_equal(count_lines(builds), c[k].built);
        assert_true(c[k].built == 0 || (run->program_s > 0 && run->program_s != c[k].program_s));
    }
    gv_builders_stop(&run->builders);
    gv_domain_free(&run->domain);
    free(run->built);
    free(run);
    unsetenv("BUILDS");
    remove_folder(folder);
    free(builds);
    free(folder);
}

/* What is measured again or beside its neighbours takes the default's place for a gain only: it is not enough to have
 * led before. */
static void test_the_default_leads_again(void **state)
{
    static char nearly_alike[] = "echo ready >&3\n"
                                 "while read -r line; do\n"
                                 "  case $line in *\"$BUILT_IN\"*) t=1000;; *) t=1004;; esac\n"
                                 "  echo \"{\\\"status\\\":\\\"ok\\\",\\\"time_s\\\":${t}e-12}\" >&3\n"
                                 "done\n";
    static char *const nearly_alike_argv[] = {shell, dash_c, nearly_alike, NULL};
    char *profiles, path[1024], built_in[GV_PROFILE_TEXT];
    gv_tune_options options;
    gv_tune_summary summary;
    gv_config config;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    profiles = make_folder();
    fill(&options, profiles, 0, 0);
    options.n_sinks = 1;
    options.sinks[0] = 30;
    options.budget = 3;
    options.worker_argv = nearly_alike_argv;
    tell_default(&options.variant[0], &config, built_in);
    assert_ok(gv_tune(&options, &summary));
    for (int knows_default = 0; knows_default < 2; knows_default++) {
        gv_profile_set set = GV_PROFILE_SET_INIT, after = GV_PROFILE_SET_INIT;

        assert_ok(gv_profile_read_dir(profiles, &set, NULL, NULL));
        gv_profile_entry *entry = &set.block[0].entry[0];

        assert_true(entry->n_results > 0);
        config.value[GV_T_UNROLL] = config.value[GV_T_UNROLL] == 4 ? 8 : 4;
        gv_space_format(&gv_direct_space, &config, entry->result[0].configuration, GV_PROFILE_TEXT);
        strcpy(entry->result[1].configuration, built_in);
        entry->n_results = 1 + knows_default;
        entry->result[0].time_s = entry->result[0].time_min_s = 1004e-12; /* it holds where the text does */
        if (knows_default)
            strcpy(entry->kernel_version, "0123456789abcdef");
        set.block[0].n_entries = 1;
        remove_folder(profiles);
        assert_ok(gv_profile_save(profiles, &set, path, sizeof path));
        options.cross = 1;
        options.budget = 0;
        assert_ok(gv_tune(&options, &summary));
        assert_ok(gv_profile_read_dir(profiles, &after, NULL, NULL));
        for (int e = 0; e < after.block[0].n_entries; e++)
            if (strcmp(after.block[0].entry[e].kernel_version, "0123456789abcdef") != 0)
                assert_string_equal(after.block[0].entry[e].result[0].configuration, built_in);
        gv_profile_set_free(&set);
        gv_profile_set_free(&after);
    }
    unsetenv("BUILT_IN");
    remove_folder(profiles);
    free(profiles);
}

/* Of long runs each that seems faster meets the winner once more: no time of the winner is taken twice from the log. */
static void test_long_runs_meet_the_winner_anew(void **state)
{
    static char slower[] = "echo ready >&3\n"
                           "while read -r line; do\n"
                           "  text=${line%seed*}\n"
                           "  set -- $(printf %s \"$text\" | cksum)\n"
                           "  echo \"{\\\"status\\\":\\\"ok\\\",\\\"time_s\\\":$(($1 % 9000 + 4000))e-6}\" >&3\n"
                           "done\n";
    static char *const slower_argv[] = {shell, dash_c, slower, NULL};
    char *folder, *log_path, *profiles;
    gv_tune_options options;
    gv_tune_summary summary;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    open_folder(&folder, &log_path, &profiles);
    fill(&options, profiles, 0, 1);
    options.budget = 4;
    options.log_path = log_path;
    options.worker_argv = slower_argv;
    assert_ok(gv_tune(&options, &summary));
    assert_int_equal(summary.tasks_done, 4);
    assert_int_equal(summary.replayed, 0);
    assert_int_equal(unlink(log_path), 0);
    options.cross = 1;
    options.n_sinks = 2;
    options.sinks[0] = 40;
    options.sinks[1] = 70;
    options.budget = 0;
    assert_ok(gv_tune(&options, &summary));
    assert_int_equal(summary.replayed, 0);
    close_folder(folder, log_path, profiles);
}

/* A question of the tree is five evaluations, which a budget counts. */
static void test_budgets_count_all_settings(void **state)
{
    gv_profile_set set = GV_PROFILE_SET_INIT;
    char *profiles, path[1024], said[400] = "";
    gv_tune_options options;
    gv_tune_summary summary;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    profiles = make_folder();
    fill(&options, profiles, 0, 0);
    options.kernel = "tree";
    options.n_sinks = 0;
    options.sources[0] = 2000;
    options.budget = 1;
    assert_ok(gv_tune(&options, &summary));
    assert_ok(gv_profile_read_dir(profiles, &set, NULL, NULL));
    gv_profile_entry *entry = &set.block[0].entry[0];

    strcpy(entry->kernel_version, "0123456789abcdef");
    entry->n_results = 1;
    entry->result[0].time_s = entry->result[0].time_min_s = 0.5;
    remove_folder(profiles);
    assert_ok(gv_profile_save(profiles, &set, path, sizeof path));
    gv_profile_set_free(&set);
    options.cross = 1;
    options.n_sources = 0;
    options.budget = 0;
    options.budget_s = 10; /* half of it is for this: 5 x 0.5 s would fit, 25 x 0.5 do not */
    options.warn = hear;
    options.user = said;
    assert_ok(gv_tune(&options, &summary));
    assert_contains(said, "not measured again");
    remove_folder(profiles);
    free(profiles);
}

static int at_once(void *user)
{
    (void)user;
    return 1;
}

/* A run that is stopped tells how many questions it was about, not how many it came to. */
static void test_a_stopped_run_knows_its_plan(void **state)
{
    gv_tune_options options;
    gv_tune_summary summary;
    char *profiles;

    (void)state;
    SKIP_WITHOUT_DEVICE();
    profiles = make_folder();
    tune(NULL, profiles, 12, 0, 0, 0);
    fill(&options, profiles, 1, 1);
    options.n_variants = 2; /* the profile holds nothing of the second */
    assert_true(gv_variant_parse("sp4", &options.variant[1]));
    options.interrupted = at_once;
    assert_ok(gv_tune(&options, &summary));
    assert_true(summary.interrupted);
    assert_int_equal(summary.n_tasks, 2 * 4); /* four numbers of sinks are named */
    assert_int_equal(summary.tasks_done, 0);
    options.n_sinks = options.n_sources = 0; /* those of the profile */
    assert_ok(gv_tune(&options, &summary));
    assert_int_equal(summary.n_tasks, 3);
    assert_int_equal(summary.tasks_done, 0);
    options.interrupted = NULL; /* nothing is left to measure but whether they hold */
    assert_ok(gv_tune(&options, &summary));
    assert_int_equal(summary.n_tasks, 3);
    assert_int_equal(summary.tasks_done, 3);
    remove_folder(profiles);
    free(profiles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_winners_meet_without_time),
        cmocka_unit_test(test_profile_is_crossed),
        cmocka_unit_test(test_what_there_is_no_time_for_stays),
        cmocka_unit_test(test_no_question_begins_after_the_budget),
        cmocka_unit_test(test_new_sizes_are_asked),
        cmocka_unit_test(test_questions_of_an_alike_device_are_asked),
        cmocka_unit_test(test_gpus_are_asked_below_64_sinks),
        cmocka_unit_test(test_new_sizes_of_trees_are_asked),
        cmocka_unit_test(test_trees_are_asked_between_buckets),
        cmocka_unit_test(test_a_stopped_run_knows_its_plan),
        cmocka_unit_test(test_the_default_has_a_place),
        cmocka_unit_test(test_defaults_that_are_not_kept_come_first),
        cmocka_unit_test(test_programs_are_built_ahead_in_time),
        cmocka_unit_test(test_the_default_leads_again),
        cmocka_unit_test(test_long_runs_meet_the_winner_anew),
        cmocka_unit_test(test_budgets_count_all_settings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
