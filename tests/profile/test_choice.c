/* The choice between questions, on fake timings: no device, no file. */
#include "host_test.h"

#include <math.h>

#include "host/direct/plan.h"
#include "host/profile/choice.h"
#include "tuner/run.h"

static void make_question(gv_profile_entry *entry, size_t sinks, size_t sources)
{
    memset(entry, 0, sizeof *entry);
    strcpy(entry->kernel, "fake");
    strcpy(entry->variant, "ds4");
    strcpy(entry->driver, "1");
    entry->sinks = sinks;
    entry->sources = sources;
    entry->sink_bucket = gv_sink_bucket(sinks);
    entry->source_bucket = gv_source_bucket(sources);
}

static void add_result(gv_profile_entry *entry, const char *configuration, double time_s, double spread)
{
    gv_profile_result *result = &entry->result[entry->n_results++];

    assert_true(entry->n_results <= GV_PROFILE_RESULTS);
    snprintf(result->configuration, sizeof result->configuration, "%s", configuration);
    result->time_s = result->time_min_s = time_s;
    result->spread = spread;
}

/* The best and the score of a call between questions. */
static gv_choice_candidate best_in(const gv_space *space, const gv_profile_entry *const *entry, int n, size_t sinks,
                                   size_t sources)
{
    gv_choice_corner corner[GV_CHOICE_CORNERS];
    gv_choice_candidate candidate[GV_CHOICE_CANDIDATES];

    const gv_choice_among among = {entry, n, sinks, sources};

    assert_true(gv_choice_rank(corner, gv_choice_corners(entry, n, sinks, sources, corner), space, &among, candidate) >
                0);
    return candidate[0];
}

static gv_choice_candidate best_of(const gv_profile_entry *const *entry, int n, size_t sinks, size_t sources)
{
    return best_in(NULL, entry, n, sinks, sources);
}

static void test_corners_surround_a_call(void **state)
{
    static const size_t size[6][2] = {{1, 8192}, {64, 8192}, {4096, 8192}, {1, 131072}, {64, 131072}, {4096, 131072}};
    gv_profile_entry question[6];
    const gv_profile_entry *entry[6];
    gv_choice_corner corner[GV_CHOICE_CORNERS];
    double sum = 0;

    (void)state;
    for (int k = 0; k < 6; k++) {
        make_question(&question[k], size[k][0], size[k][1]);
        entry[k] = &question[k];
    }
    /* exactly a question */
    assert_int_equal(gv_choice_corners(entry, 6, 64, 131072, corner), 1);
    assert_ptr_equal(corner[0].entry, entry[4]);
    assert_true(corner[0].weight == 1);
    /* halfway in log(sinks), at the sources of a question */
    assert_int_equal(gv_choice_corners(entry, 6, 512, 8192, corner), 2);
    assert_true(fabs(corner[0].weight - 0.5) < 1e-12 && fabs(corner[1].weight - 0.5) < 1e-12);
    /* inside: four, of sum 1, the nearest the heaviest */
    assert_int_equal(gv_choice_corners(entry, 6, 128, 16384, corner), 4);
    for (int k = 0; k < 4; k++)
        sum += corner[k].weight;
    assert_true(fabs(sum - 1) < 1e-12);
    assert_ptr_equal(corner[0].entry, entry[1]);
    assert_true(corner[0].weight > 0.5);
    /* beyond all: the nearest alone */
    assert_int_equal(gv_choice_corners(entry, 6, 1000000, 1000000, corner), 1);
    assert_ptr_equal(corner[0].entry, entry[5]);
    assert_int_equal(gv_choice_corners(entry, 0, 10, 10, corner), 0);
}

static void test_between_questions(void **state)
{
    gv_profile_entry question[2];
    const gv_profile_entry *entry[2] = {&question[0], &question[1]};

    (void)state;
    make_question(&question[0], 64, 131072);
    add_result(&question[0], "a", 1.00, 0.001);
    add_result(&question[0], "both", 1.03, 0.001);
    add_result(&question[0], "b", 1.60, 0.001);
    make_question(&question[1], 4096, 131072);
    add_result(&question[1], "b", 10.0, 0.001);
    add_result(&question[1], "both", 10.4, 0.001);
    add_result(&question[1], "a", 16.0, 0.001);
    /* the winners where they won, what is good at both between them */
    assert_string_equal(best_of(entry, 2, 64, 131072).configuration, "a");
    assert_string_equal(best_of(entry, 2, 512, 131072).configuration, "both");
    assert_string_equal(best_of(entry, 2, 4096, 131072).configuration, "b");
    /* unmeasured is no better than what was kept: known to be 3 % behind comes before it */
    question[1].n_results = 2;
    assert_string_equal(best_of(entry, 2, 512, 131072).configuration, "both");
    assert_false(best_of(entry, 2, 64, 131072).measured == 0);
}

/* The winner may be slower by a hair than one behind it, because it is simpler: at its question it stays. */
static void test_a_questions_winner_stays(void **state)
{
    gv_profile_entry question[2];
    const gv_profile_entry *entry[2] = {&question[0], &question[1]};

    (void)state;
    make_question(&question[0], 64, 131072);
    add_result(&question[0], "simple", 1.009, 0.3);
    add_result(&question[0], "fast", 1.0, 0.3);
    make_question(&question[1], 4096, 131072);
    add_result(&question[1], "fast", 1.0, 0.3);
    assert_string_equal(best_of(entry, 2, 64, 131072).configuration, "simple");
    assert_string_equal(best_of(entry, 2, 100, 131072).configuration, "fast");
}

/* Two questions around a call cannot tell two configurations apart; the others, near and far, can: what is good at the
 * near ones counts more. */
static void test_other_questions_tell(void **state)
{
    static const size_t sinks[5] = {1, 16, 64, 4096, 16384};
    gv_profile_entry question[5];
    const gv_profile_entry *entry[5];

    (void)state;
    for (int near = 0; near < 2; near++) {
        for (int k = 0; k < 5; k++) {
            /* at the corners, 64 and 4096, each wins once by 5 %; "steady" elsewhere: at 16 and 16384, or at 1 only */
            const int steady = k == 2 || (near ? k == 1 || k == 4 : k == 0);

            entry[k] = &question[k];
            make_question(&question[k], sinks[k], 131072);
            add_result(&question[k], steady ? "steady" : "other", 1, 0.001);
            add_result(&question[k], steady ? "other" : "steady", k == 2 || k == 3 ? 1.05 : 1.3, 0.001);
        }
        assert_string_equal(best_of(entry, 5, 512, 131072).configuration, near ? "steady" : "other");
        assert_string_equal(best_of(entry, 5, 64, 131072).configuration, "steady"); /* its own winner */
        assert_string_equal(best_of(entry, 5, 4096, 131072).configuration, "other");
    }
}

static int keeps_default(gv_profile_entry *question, size_t sinks, double more)
{
    const gv_profile_entry *entry[2] = {&question[0], &question[1]};
    gv_choice_corner corner[GV_CHOICE_CORNERS];
    gv_choice_candidate candidate[GV_CHOICE_CANDIDATES];
    const int n = gv_choice_corners(entry, 2, sinks, 131072, corner);
    const gv_choice_among among = {entry, 2, sinks, 131072};
    const int m = gv_choice_rank(corner, n, NULL, &among, candidate);

    for (int c = 0; c < m; c++)
        if (strcmp(candidate[c].configuration, "default") == 0)
            return gv_choice_keeps_default(corner, n, &candidate[0], &candidate[c], more);
    return 0;
}

static void test_the_default_yields_beyond_the_spread_only(void **state)
{
    static const struct {
        double gain, spread;
        int keeps;
    } c[] = {{1.02, 0.01, 0}, {1.01, 0.08, 1}, {1.05, 0.08, 0}, {1.04, 5.0, 1}, {1.5, 5.0, 0}};
    gv_profile_entry question[2];

    (void)state;
    for (size_t k = 0; k < sizeof c / sizeof c[0]; k++) {
        for (int q = 0; q < 2; q++) {
            make_question(&question[q], q == 0 ? 64 : 4096, 131072);
            add_result(&question[q], "new", 1, 0.001);
            add_result(&question[q], "default", c[k].gain, c[k].spread);
        }
        assert_int_equal(keeps_default(question, 512, 0), c[k].keeps);
        /* at a question its finals have decided */
        assert_int_equal(keeps_default(question, 64, 0), 0);
        /* of calls with other searches nobody has decided anything: 1.05 is not 10 % more than the spread, 1.5 is */
        assert_int_equal(keeps_default(question, 512, 0.1), c[k].gain < 1.2);
        assert_int_equal(keeps_default(question, 64, 0.1), c[k].gain < 1.2);
        /* measured at one of two questions only: no comparison */
        question[1].n_results = 1;
        assert_int_equal(keeps_default(question, 512, 0), 0);
    }
}

/* Groups of 16 and of 24 sinks between questions of 16 and 64: 24 sinks fill one group of 24, or two of 16 by three
 * quarters. */
static void test_grains(void **state)
{
    static const gv_tunable tunable[] = {{"threads", "", "", 1, 1, {1}},
                                         {"split", "", "", 1, 2, {1, 2}},
                                         {"sinks_per_item", "", "", 1, 2, {2, 3}},
                                         {"lanes", "", "", 1, 1, {8}}};
    static const gv_space space = {.kernel = "fake", .n_tunables = 4, .tunable = tunable};
    static const char two[] = "threads=1 split=1 sinks_per_item=2 lanes=8";
    static const char three[] = "threads=1 split=1 sinks_per_item=3 lanes=8";
    gv_profile_entry question[2];
    const gv_profile_entry *entry[2] = {&question[0], &question[1]};
    gv_choice_corner corner[GV_CHOICE_CORNERS];
    gv_choice_candidate candidate[GV_CHOICE_CANDIDATES];

    (void)state;
    assert_true(gv_choice_grain(&space, three) == 24);
    assert_true(gv_choice_grain(&space, "threads=1 split=2 sinks_per_item=2 lanes=8") == 8);
    assert_true(gv_choice_grain(&space, "unknown=1") == 1);
    make_question(&question[0], 16, 8192);
    add_result(&question[0], two, 1.0, 0.001);
    add_result(&question[0], three, 1.5, 0.001);
    make_question(&question[1], 64, 8192);
    add_result(&question[1], two, 4.0, 0.001);
    add_result(&question[1], three, 4.5, 0.001); /* 72 of 64 */
    /* times in proportion to padded sinks: 24 against 32 */
    for (size_t sinks = 16; sinks <= 64; sinks++) {
        const double a = 16 * ceil((double)sinks / 16), b = 24 * ceil((double)sinks / 24);

        const gv_choice_among among = {NULL, 0, sinks, 8192};

        assert_int_equal(
            gv_choice_rank(corner, gv_choice_corners(entry, 2, sinks, 8192, corner), &space, &among, candidate), 2);
        if (a != b)
            assert_string_equal(candidate[0].configuration, a < b ? two : three);
        assert_true(fabs(fabs(candidate[1].score - candidate[0].score) - fabs(log(a / b))) < 1e-12);
    }
}

/* Eight sinks take as long as 32 in groups of 32: what won with 32 and was not kept with eight is known there all the
 * same, and twelve sinks go with groups of eight. */
static void test_grains_tell_what_was_not_kept(void **state)
{
    static const gv_tunable tunable[] = {{"threads", "", "", 1, 2, {8, 32}},
                                         {"split", "", "", 1, 1, {1}},
                                         {"sinks_per_item", "", "", 1, 1, {1}},
                                         {"lanes", "", "", 1, 1, {1}}};
    static const gv_space space = {.kernel = "fake", .n_tunables = 4, .tunable = tunable};
    static const char narrow[] = "threads=8 split=1 sinks_per_item=1 lanes=1";
    static const char wide[] = "threads=32 split=1 sinks_per_item=1 lanes=1";
    gv_profile_entry question[2];
    const gv_profile_entry *entry[2] = {&question[0], &question[1]};

    (void)state;
    for (int q = 0; q < 2; q++) {
        make_question(&question[q], q == 0 ? 8 : 32, 262144);
        add_result(&question[q], q == 0 ? narrow : wide, q == 0 ? 16 : 30, 0.001);
    }
    assert_string_equal(best_in(&space, entry, 2, 8, 262144).configuration, narrow);
    assert_string_equal(best_in(&space, entry, 2, 12, 262144).configuration, narrow);
    assert_string_equal(best_in(&space, entry, 2, 16, 262144).configuration, narrow); /* 30 against some 22 */
    assert_string_equal(best_in(&space, entry, 2, 28, 262144).configuration, wide);
    assert_string_equal(best_in(&space, entry, 2, 32, 262144).configuration, wide);
    /* where the device is not full groups of 32 cost eight sinks what groups of eight do: nothing is said */
    question[1].result[0].time_s = question[1].result[0].time_min_s = 16.5;
    assert_string_equal(best_in(&space, entry, 2, 8, 262144).configuration, narrow);
    assert_string_equal(best_in(&space, entry, 2, 24, 262144).configuration, wide);
}

static void test_cells(void **state)
{
    gv_profile_entry question;
    const gv_profile_entry *entry = &question;
    int before = -1;

    (void)state;
    make_question(&question, 1000, 100000);
    for (size_t n = 1; n < 5000; n++) {
        const int cell = gv_choice_sink_cell(n);
        size_t sinks = n, sources = n;

        assert_true(cell >= before);
        /* a cell never reaches over an edge of a bucket */
        assert_true(cell > before || gv_sink_bucket(n) == gv_sink_bucket(n - 1));
        before = cell;
        gv_choice_sizes(&entry, 0, &sinks, &sources);
        assert_int_equal(gv_choice_sink_cell(sinks), cell);
        assert_int_equal(gv_choice_source_cell(sources), gv_choice_source_cell(n));
        assert_true(sinks <= n && (double)n < 1.0906 * (double)sinks + 1);
        sinks = sources = n;
        gv_choice_sizes(&entry, 1, &sinks, &sources);
        assert_int_equal(sinks == 1000, cell == gv_choice_sink_cell(1000));
    }
    assert_true(gv_choice_sink_cell(SIZE_MAX) < GV_CHOICE_SINK_CELLS);
    assert_true(gv_choice_source_cell(SIZE_MAX) < GV_CHOICE_SOURCE_CELLS);
    assert_int_equal(gv_choice_sink_cell(0), gv_choice_sink_cell(1));
}

/* ------------------------------------------------------------------ regret */

/* A device of 128 units.  A group of `width` sinks shares one pass over the sources; wide groups read less but few
 * sinks leave units idle, so that sources are cut into parts, each of which costs a fixed time; every configuration is
 * good somewhere, as on the H200.  Seconds in units of 1e-9. */
static double fake_part = 400; /* what each part costs */

static double fake_seconds(int width, int parts, size_t sinks, size_t sources)
{
    const double groups = ceil((double)sinks / width) * parts, turns = ceil(groups / 128);

    return turns * ((double)sources / parts * (20 + width) + 3000) + fake_part * parts + 5000;
}

static const int fake_width[] = {8, 32, 64, 128, 256}, fake_parts[] = {1, 4, 16, 64};
enum { FAKES = 5 * 4 };

/* The width is a group's, as the model knows it from the configuration. */
static const gv_tunable fake_tunable[] = {{"threads", "", "", 1, 5, {8, 32, 64, 128, 256}},
                                          {"split", "", "", 1, 1, {1}},
                                          {"sinks_per_item", "", "", 1, 1, {1}},
                                          {"lanes", "", "", 1, 1, {1}},
                                          {"parts", "", "", 1, 4, {1, 4, 16, 64}}};
static const gv_space fake_space = {.kernel = "fake", .n_tunables = 5, .tunable = fake_tunable};

static double fake_time(int k, size_t sinks, size_t sources)
{
    return fake_seconds(fake_width[k / 4], fake_parts[k % 4], sinks, sources);
}

static double time_of_text(const char *configuration, size_t sinks, size_t sources)
{
    int width, parts;

    assert_int_equal(sscanf(configuration, "threads=%d split=1 sinks_per_item=1 lanes=1 parts=%d", &width, &parts), 2);
    return fake_seconds(width, parts, sinks, sources);
}

/* What the tuner keeps: the fastest, the winners of all its neighbours as far as there is room, the default. */
static void ask_fake(gv_profile_entry *entry, size_t sinks, size_t sources)
{
    int taken[FAKES] = {0};

    make_question(entry, sinks, sources);
    while (entry->n_results < GV_PROFILE_RESULTS) {
        char text[80];
        int best = -1;

        for (int k = 0; k < FAKES; k++)
            if (!taken[k] && (best < 0 || fake_time(k, sinks, sources) < fake_time(best, sinks, sources)))
                best = k;
        taken[best] = 1;
        snprintf(text, sizeof text, "threads=%d split=1 sinks_per_item=1 lanes=1 parts=%d", fake_width[best / 4],
                 fake_parts[best % 4]);
        add_result(entry, text, fake_time(best, sinks, sources), 0.01);
    }
}

static int ascending(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static void test_regret_between_questions(void **state)
{
    static const size_t asked_sinks[] = {1, 8, 32, 128, 512, 1024, 4096, 16384, 131072};
    static const size_t asked_sources[] = {1024, 8192, 131072, 1048576};
    static const size_t sinks[] = {1, 3, 5, 12, 24, 48, 100, 300, 1024, 3000, 10000, 50000};
    static const size_t sources[] = {1000, 5000, 30000, 131072, 500000, 1000000};
    enum { ASKED = 9 * 4 };
    gv_profile_entry *question = calloc(ASKED, sizeof *question);
    const gv_profile_entry *entry[ASKED];
    double model[72], bucket[72];
    int n = 0;

    (void)state;
    assert_non_null(question);
    for (int i = 0; i < 9; i++) {
        for (int j = 0; j < 4; j++) {
            ask_fake(&question[4 * i + j], asked_sinks[i], asked_sources[j]);
            entry[4 * i + j] = &question[4 * i + j];
        }
    }
    for (int i = 0; i < 12; i++) {
        for (int j = 0; j < 6; j++) {
            const gv_profile_entry *own = NULL;
            double best = INFINITY;

            for (int k = 0; k < FAKES; k++)
                best = fmin(best, fake_time(k, sinks[i], sources[j]));
            model[n] = time_of_text(best_in(&fake_space, entry, ASKED, sinks[i], sources[j]).configuration, sinks[i],
                                    sources[j]) /
                       best;
            /* what one question for each bucket would choose: 4096 sinks stand for 1024 ... 16383 */
            for (int q = 0; q < ASKED; q++)
                if (question[q].sink_bucket == gv_sink_bucket(sinks[i]) && question[q].sinks != 1024 &&
                    question[q].sinks != 16384 && question[q].sources != 1024 &&
                    question[q].source_bucket == gv_source_bucket(sources[j]))
                    own = entry[q];
            bucket[n++] = time_of_text(own->result[0].configuration, sinks[i], sources[j]) / best;
        }
    }
    qsort(model, 72, sizeof *model, ascending);
    qsort(bucket, 72, sizeof *bucket, ascending);
    print_message("regret: median %.3f, 95 %% %.3f, most %.3f; by bucket %.3f, %.3f, %.3f\n", model[36], model[68],
                  model[71], bucket[36], bucket[68], bucket[71]);
    /* the marks of `gravel tune --regret`, in spite of steps (whole turns of 128 units) that no interpolation sees */
    assert_true(model[36] <= 1.02 && model[68] <= 1.08 && model[71] <= 1.20);
    assert_true(bucket[68] > 1.5); /* one question for each bucket is not enough for it */
    free(question);
}

/* Calls of few sources with searches, by the questions that a quick run on a GPU really asks. */
static void test_regret_of_few_sources(void **state)
{
    static const size_t sinks[] = {1, 3, 5, 12, 24, 48, 100, 300, 1024, 3000, 10000, 50000};
    static const unsigned features[] = {GV_DIRECT_NEAREST, GV_DIRECT_NEAREST | GV_DIRECT_LISTS};
    const gv_tune_options options = {.kernel = "direct", .quick = 1};
    gv_limits limits;
    gv_plan *plan = calloc(1, sizeof *plan);

    (void)state;
    assert_non_null(plan);
    memset(&limits, 0, sizeof limits);
    limits.info.type = GRAVEL_DEVICE_GPU;
    fake_part = 2000; /* two passes over 1000 sources: what is good for 8192 has too many parts */
    for (int f = 0; f < 2; f++) {
        const gv_profile_entry **entry;
        gv_profile_entry *question;
        gv_variant variant;
        double most = 1;

        assert_true(gv_variant_parse("ds4", &variant));
        variant.features = features[f];
        gv_plan_make(&options, &limits, &variant, plan);
        question = calloc((size_t)plan->n, sizeof *question);
        entry = calloc((size_t)plan->n, sizeof *entry);
        assert_non_null(question);
        assert_non_null(entry);
        for (int q = 0; q < plan->n; q++) {
            ask_fake(&question[q], plan->q[q].sinks, plan->q[q].sources);
            entry[q] = &question[q];
        }
        for (int i = 0; i < 12; i++) {
            double best = INFINITY;

            for (int k = 0; k < FAKES; k++)
                best = fmin(best, fake_time(k, sinks[i], 1000));
            most = fmax(
                most, time_of_text(best_in(&fake_space, entry, plan->n, sinks[i], 1000).configuration, sinks[i], 1000) /
                          best);
        }
        print_message("with 1000 sources, searches %u: most %.3f\n", features[f], most);
        assert_true(most <= 1.20); /* the mark of `gravel tune --regret`; without questions at 1024: 1.88 */
        free(question);
        free(entry);
    }
    fake_part = 400;
    free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corners_surround_a_call),
        cmocka_unit_test(test_between_questions),
        cmocka_unit_test(test_a_questions_winner_stays),
        cmocka_unit_test(test_other_questions_tell),
        cmocka_unit_test(test_the_default_yields_beyond_the_spread_only),
        cmocka_unit_test(test_grains),
        cmocka_unit_test(test_grains_tell_what_was_not_kept),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_regret_between_questions),
        cmocka_unit_test(test_regret_of_few_sources),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
