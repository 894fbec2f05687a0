/* What is lost between questions, on fake timings: no device, no file. */
#include "choice_questions.h"

#include "host/direct/plan.h"
#include "tuner/run.h"

/* One pass over the sources for each group: wide groups read less. */
static double group_time(int width, size_t sinks)
{
    return ceil((double)sinks / width) * (20 + width) * 1e-12;
}

/* A call of 12 sinks: questions at 8 and 32 cannot tell that groups of 16 would be best, one at 16 can.  The questions
 * of a GPU with searches, each with its winner and the default alone, and those between with what is kept around. */
static void test_regret_of_groups_between(void **state)
{
    static const int width[] = {8, 16, 32};
    static const size_t sinks[] = {9, 10, 12, 16, 24, 32};
    const gv_tune_options options = {.kernel = "direct", .quick = 1};
    static const gv_tunable tunable[] = {{"threads", "", "", 1, 3, {8, 16, 32}},
                                         {"split", "", "", 1, 1, {1}},
                                         {"sinks_per_item", "", "", 1, 1, {1}},
                                         {"lanes", "", "", 1, 1, {1}}};
    static const gv_space space = {.kernel = "fake", .n_tunables = 4, .tunable = tunable};
    gv_limits limits;
    gv_variant variant;
    gv_plan *plan = calloc(1, sizeof *plan);

    (void)state;
    assert_non_null(plan);
    memset(&limits, 0, sizeof limits);
    limits.info.type = GRAVEL_DEVICE_GPU;
    assert_true(gv_variant_parse("ds4", &variant));
    variant.features = GV_DIRECT_NEAREST;
    gv_plan_make(&options, &limits, &variant, plan);
    gv_profile_entry *question = calloc((size_t)plan->n, sizeof *question);
    const gv_profile_entry **entry = calloc((size_t)plan->n, sizeof *entry);
    double most[2] = {1, 1};

    assert_non_null(question);
    assert_non_null(entry);
    for (int between = 0; between < 2; between++) {
        int n = 0;

        for (int q = 0; q < plan->n; q++) {
            const size_t of = plan->q[q].sinks;
            int best = 0;

            if (plan->q[q].weight == 0 && !between)
                continue;
            entry[n] = &question[n];
            make_question(&question[n], of, plan->q[q].sources);
            for (int k = 1; k < 3; k++)
                best = group_time(width[k], of) < group_time(width[best], of) ? k : best;
            for (int k = 0; k < 3; k++) {
                const int at = (best + k) % 3;
                char text[80];

                snprintf(text, sizeof text, "threads=%d split=1 sinks_per_item=1 lanes=1", width[at]);
                if (k == 0 || at == 2 || plan->q[q].weight == 0) /* the default is 32 */
                    add_result(&question[n], text, group_time(width[at], of) * (double)plan->q[q].sources, 0.001);
            }
            n++;
        }
        for (size_t i = 0; i < sizeof sinks / sizeof *sinks; i++) {
            const gv_choice_candidate c = best_in(&space, entry, n, sinks[i], 500000);
            double best = INFINITY;

            for (int k = 0; k < 3; k++)
                best = fmin(best, group_time(width[k], sinks[i]));
            most[between] =
                fmax(most[between], group_time(atoi(c.configuration + strlen("threads=")), sinks[i]) / best);
        }
    }
    print_message("9 to 32 sinks x 500000: most %.3f, without questions between %.3f\n", most[1], most[0]);
    assert_true(most[0] > 1.4); /* 8 or 32 where groups of 16 are best */
    assert_true(most[1] <= 1.08);
    free(question);
    free(entry);
    free(plan);
}

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
        cmocka_unit_test(test_regret_of_groups_between),
        cmocka_unit_test(test_regret_between_questions),
        cmocka_unit_test(test_regret_of_few_sources),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
