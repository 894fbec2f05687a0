/* The regret of a choice, on fake timings: no device. */
#include "host_test.h"

#include <math.h>

#include "tuner/regret.h"

static const gv_tunable fake_tunable[] = {{"width", "sinks", "", 1, 5, {1, 2, 4, 8, 16}}};

static void fake_built_in(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks,
                          size_t sources)
{
    (void)variant, (void)limits, (void)sinks, (void)sources;
    memset(config, 0, sizeof *config);
    config->value[0] = 1;
}

static const gv_space fake_space = {
    .kernel = "fake", .n_tunables = 1, .tunable = fake_tunable, .built_in = fake_built_in};

enum { EVERY_OTHER = 1000 };

typedef struct fake_clock {
    int asked, turns, stop_after, fails; /* fails: the width that does not run */
    double disturbed;                    /* the first timing is so much longer */
    int lucky, lucky_turn;               /* the timing of this width in this turn takes half its time */
    int lucky_until;                     /* and in all that follow until this one, or in every other */
    double busy;                         /* each turn takes so many times the one before */
    int shared;                          /* what else runs slows this width ... */
    double slowed;                       /* ... so many times */
} fake_clock;

/* Best where the width fits the sinks: 16 sinks, width 16. */
static double fake_time(void *user, const gv_task *task, const char *configuration, int turn, double stop_above,
                        gv_outcome *outcome)
{
    fake_clock *clock = user;
    const int width = atoi(strchr(configuration, '=') + 1);
    const double off = log2((double)width) - fmin(log2((double)task->sinks), 4);

    (void)stop_above;
    *outcome = (gv_outcome){.call_s = 3e-6, .error = 1e-7 * width};
    clock->turns = turn > clock->turns ? turn : clock->turns;
    if (clock->asked++ == clock->stop_after && clock->stop_after > 0)
        return -1;
    if (width == clock->fails)
        return INFINITY;
    const int is_lucky = turn == clock->lucky_turn || (turn > clock->lucky_turn && turn <= clock->lucky_until &&
                                                       (clock->lucky_until != EVERY_OTHER || turn % 2 == 1));

    return (width == clock->lucky && is_lucky ? 0.5e-6 : 1e-6) * (clock->busy > 0 ? pow(clock->busy, turn) : 1) *
           (1 + 0.1 * off * off) * (width == clock->shared ? clock->slowed : 1) *
           (clock->asked == 1 && clock->disturbed > 0 ? clock->disturbed : 1);
}

static void add(gv_profile_set *set, const gv_limits *limits, size_t sinks, int first, int second, int third)
{
    const int width[3] = {first, second, third};
    gv_task task = {.sinks = sinks, .sources = 131072};
    gv_profile_entry entry;
    gv_profile_device device;
    fake_clock clock = {0};
    gv_outcome ignored;

    memset(&entry, 0, sizeof entry);
    strcpy(entry.kernel, "fake");
    strcpy(entry.variant, "ds4");
    strcpy(entry.driver, "1");
    entry.sinks = sinks;
    entry.sources = 131072;
    entry.sink_bucket = gv_sink_bucket(sinks);
    entry.source_bucket = gv_source_bucket(entry.sources);
    for (int r = 0; r < 3; r++) {
        snprintf(entry.result[r].configuration, GV_PROFILE_TEXT, "width=%d", width[r]);
        entry.result[r].time_s = entry.result[r].time_min_s =
            fake_time(&clock, &task, entry.result[r].configuration, 0, INFINITY, &ignored);
    }
    entry.n_results = 3;
    gv_profile_device_of(&limits->info, &device);
    assert_ok(gv_profile_set_add(set, &device, &entry));
}

typedef struct fixture {
    gv_profile_set set;
    gv_limits limits;
    fake_clock clock;
    gv_regret_setting setting;
    gv_task task;
} fixture;

static void make(fixture *f)
{
    memset(f, 0, sizeof *f);
    f->limits.info.type = GRAVEL_DEVICE_GPU;
    strcpy(f->limits.info.name, "Fake");
    add(&f->set, &f->limits, 2, 2, 4, 8); /* the last is the neighbour's winner */
    add(&f->set, &f->limits, 12, 8, 4, 2);
    f->setting = (gv_regret_setting){&fake_space, &f->limits, "", &f->set, NULL, 0, fake_time, NULL, &f->clock};
    strcpy(f->task.kernel, "fake");
    assert_true(gv_variant_parse("ds4", &f->task.variant));
    f->task.sources = 131072;
}

static void test_the_choice_is_compared(void **state)
{
    fixture f;
    gv_regret_point point;

    (void)state;
    make(&f);
    f.task.sinks = 2; /* a question: its winner */
    assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
    assert_string_equal(point.choice, "width=2");
    assert_string_equal(point.best, "width=2");
    assert_int_equal(point.candidates, 4); /* 2, 4, 8 and the default 1 */
    assert_true(fabs(point.default_s / point.choice_s - 1.1) < 1e-12);
    f.task.sinks = 5; /* between them: what both kept */
    assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
    assert_string_equal(point.choice, "width=4");
    assert_string_equal(point.best, "width=4");
    assert_true(point.choice_s == point.best_s);
    assert_true(point.complete);
    /* a device without a profile: what the one that answers for it kept */
    strcpy(f.limits.info.name, "Unknown");
    assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
    assert_int_equal(point.origin, GRAVEL_ORIGIN_VENDOR_TYPE);
    assert_string_equal(point.choice, "width=4");
    assert_int_equal(point.candidates, 4);
    /* also where the untuned default stays, since all that is known has many more sources */
    f.task.sources = 1000;
    assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
    assert_string_equal(point.choice, "width=1");
    assert_int_equal(point.candidates, 4);
    strcpy(f.limits.info.name, "Fake");
    f.task.sources = 131072;
    /* one disturbed timing of the choice is no regret, nor is a lucky one of another: only those in turn count */
    f.clock = (fake_clock){.disturbed = 3};
    assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
    assert_true(point.choice_s == point.best_s);
    assert_int_equal(f.clock.turns, 3);
    for (int turn = 0; turn < 4; turn++) {
        f.clock = (fake_clock){.lucky = 8, .lucky_turn = turn};
        assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
        assert_true(point.choice_s == point.best_s);
    }
    /* a machine that gets slower changes no ratio */
    f.clock = (fake_clock){.busy = 3};
    f.task.sinks = 2;
    assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
    assert_true(point.choice_s == point.best_s);
    assert_true(fabs(point.default_s / point.choice_s - 1.1) < 1e-12);
    gv_profile_set_free(&f.set);
}

/* Turns that disagree are followed by others, until the median is known or there were a hundred. */
static void test_more_turns_decide(void **state)
{
    static const struct {
        int last, turns, decided;
    } c[] = {{0, 3, 1}, {1, 5, 1}, {2, 9, 1}, {EVERY_OTHER, 101, 0}};
    fixture f;
    gv_regret_point point;

    (void)state;
    make(&f);
    f.task.sinks = 5;
    for (size_t k = 0; k < sizeof c / sizeof c[0]; k++) {
        /* width 8 is said to be twice as fast in the first turns */
        f.clock = (fake_clock){.lucky = c[k].last > 0 ? 8 : 0, .lucky_turn = 1, .lucky_until = c[k].last};
        assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
        assert_int_equal(point.turns, c[k].turns);
        assert_int_equal(point.complete, 1);
        assert_int_equal(point.decided, c[k].decided);
        if (c[k].decided)
            assert_true(point.choice_s == point.best_s);
    }
    /* whoever is slower in every turn, by whatever factor, is no reason for more turns */
    f.clock = (fake_clock){.busy = 1.5};
    assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
    assert_int_equal(point.turns, 3);
    assert_true(point.decided);
    /* nor does a choice that is too slow in all of them, where nobody knows by how much: it must not be left out */
    f.clock = (fake_clock){.shared = 4, .slowed = 3, .lucky = 8, .lucky_turn = 1, .lucky_until = EVERY_OTHER};
    assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
    assert_true(point.decided && point.choice_s > GV_REGRET_MOST * point.best_s);
    assert_int_equal(point.turns, 3);
    /* nor where it is so beside one of them, and nobody knows beside another */
    f.clock = (fake_clock){.shared = 4, .slowed = 1.3, .lucky = 2, .lucky_turn = 1, .lucky_until = EVERY_OTHER};
    assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
    assert_true(point.decided && point.choice_s > GV_REGRET_MOST * point.best_s);
    gv_profile_set_free(&f.set);
}

/* What else runs for a while slows the choice: no fault where it is gone in the second sitting, one where it stays. */
static void test_a_second_sitting(void **state)
{
    fixture f;
    gv_regret_point point, before;

    (void)state;
    make(&f);
    f.task.sinks = 2; /* width 2 is 1.1 times as fast as the default */
    f.clock = (fake_clock){.shared = 2, .slowed = 1.21};
    assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
    assert_true(point.decided && gv_regret_is_beyond(&point));
    assert_true(fabs(point.choice_s / point.default_s - 1.1) < 1e-12);
    before = point;
    f.clock = (fake_clock){0};
    gv_regret_measure_again(&f.setting, &point);
    assert_int_equal(point.sittings, 2);
    assert_int_equal(f.clock.asked, 3 * before.finals); /* those that met, and they alone */
    assert_true(fabs(point.over_default[0] - 1.1) < 1e-12 && fabs(point.over_default[1] - 1 / 1.1) < 1e-12);
    assert_true(fabs(point.choice_s / point.default_s - 1) < 1e-12);
    assert_false(gv_regret_is_beyond(&point));
    /* it stays */
    point = before;
    f.clock = (fake_clock){.shared = 2, .slowed = 1.21};
    gv_regret_measure_again(&f.setting, &point);
    assert_true(fabs(point.choice_s / point.default_s - 1.1) < 1e-12);
    assert_string_equal(point.best, before.best);
    assert_true(fabs(point.choice_s / point.best_s - before.choice_s / before.best_s) < 1e-12);
    /* stopped anywhere, or the turns disagree, or one fails: the first sitting stands */
    for (int c = 0; c < 3 * before.finals + 2; c++) {
        const int last = c - 3 * before.finals;

        point = before;
        f.clock = last < 0    ? (fake_clock){.stop_after = c + 1, .asked = 1}
                  : last == 0 ? (fake_clock){.lucky = 4, .lucky_turn = 1, .lucky_until = EVERY_OTHER}
                              : (fake_clock){.fails = 2};
        gv_regret_measure_again(&f.setting, &point);
        assert_int_equal(point.sittings, 1);
        assert_true(point.choice_s == before.choice_s && point.default_s == before.default_s &&
                    point.best_s == before.best_s);
    }
    point = before;
    f.clock = (fake_clock){.fails = 4}; /* not the choice */
    gv_regret_measure_again(&f.setting, &point);
    assert_int_equal(point.sittings, 1);
    assert_int_equal(point.disagree, 1);
    /* twice is enough, and only what is beyond a mark is measured again */
    point = before;
    f.clock = (fake_clock){.shared = 2, .slowed = 1.21};
    gv_regret_measure_again(&f.setting, &point);
    assert_int_equal(point.sittings, 2);
    assert_int_equal(point.disagree, 0);
    assert_false(gv_regret_is_beyond(&point));
    f.clock.asked = 0;
    gv_regret_measure_again(&f.setting, &point);
    assert_int_equal(f.clock.asked, 0);
    /* an undecided point needs none */
    point.decided = 0;
    assert_false(gv_regret_is_beyond(&point));
    gv_profile_set_free(&f.set);
}

static void test_fewer_candidates(void **state)
{
    fixture f;
    gv_regret_point point;

    (void)state;
    make(&f);
    f.task.sinks = 12;
    for (int most = 1; most < 5; most++) {
        f.setting.most = most;
        assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
        assert_int_equal(point.candidates, most < 2 ? 2 : most); /* choice and default always */
        assert_string_equal(point.choice, "width=8");
        assert_true(point.default_s > point.choice_s);
    }
    gv_profile_set_free(&f.set);
}

static void test_failures_and_stops(void **state)
{
    fixture f;
    gv_regret_point point;

    (void)state;
    make(&f);
    f.task.sinks = 2;
    f.clock.fails = 4;
    assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
    assert_int_equal(point.failed, 1);
    f.clock.fails = 2;
    assert_int_equal(gv_regret_measure(&f.setting, &f.task, &point), GRAVEL_ERR_LAUNCH);
    assert_contains(gravel_error_message(), "width=2");
    f.clock = (fake_clock){.stop_after = 1};
    assert_int_equal(gv_regret_measure(&f.setting, &f.task, &point), GRAVEL_ERR_CANCELLED);
    /* from the choice (width 2) and the default (1) on, wherever it ends, there is a point that says it is not whole;
     * width 8 is too slow for the turns */
    for (int after = 2; after < 4 + 3 * 3; after++) {
        f.clock = (fake_clock){.stop_after = after};
        assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
        assert_false(point.complete);
        assert_int_equal(point.candidates, after < 4 ? after : 4);
        assert_true(point.choice_s == point.best_s && fabs(point.default_s / point.choice_s - 1.1) < 1e-12);
    }
    f.clock = (fake_clock){.stop_after = 4 + 3 * 3};
    assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
    assert_true(point.complete);
    gv_profile_set_free(&f.set);
}

static void test_summary(void **state)
{
    gv_regret_point point[40];
    gv_regret_summary s;

    (void)state;
    memset(point, 0, sizeof point);
    for (int k = 0; k < 40; k++)
        point[k] =
            (gv_regret_point){.complete = 1, .decided = 1, .choice_s = 1 + 0.001 * k, .best_s = 1, .default_s = 2};
    gv_regret_summarise(point, 40, &s);
    assert_int_equal(s.points, 40);
    assert_true(fabs(s.median - 1.019) < 1e-12); /* the 20th of 40 */
    assert_true(fabs(s.p95 - 1.037) < 1e-12);    /* the 38th: 2 of 40 are above */
    assert_true(fabs(s.most - 1.039) < 1e-12);
    assert_true(gv_regret_is_kept(&s));
    point[3].default_s = point[3].choice_s / 1.03; /* slower than untuned */
    gv_regret_summarise(point, 40, &s);
    assert_true(fabs(s.most_default - 1.03) < 1e-12);
    assert_false(gv_regret_is_kept(&s));
    point[3].default_s = 2;
    point[7].choice_s = 1.21;
    gv_regret_summarise(point, 40, &s);
    assert_false(gv_regret_is_kept(&s));
    point[7].decided = 0; /* of decided points only */
    gv_regret_summarise(point, 40, &s);
    assert_int_equal(s.points, 39);
    assert_int_equal(s.undecided, 1);
    point[7].complete = 0;
    gv_regret_summarise(point, 40, &s);
    assert_int_equal(s.undecided, 0);
    assert_true(gv_regret_is_kept(&s));
    assert_int_equal(s.twice, 0);
    point[5].sittings = 2;
    gv_regret_summarise(point, 40, &s);
    assert_int_equal(s.twice, 1);
    gv_regret_summarise(point, 0, &s);
    assert_int_equal(s.points, 0);
}

/* The time of a result of an entry; 0: it is not kept. */
static double time_of(const gv_profile_entry *entry, const char *configuration)
{
    for (int r = 0; r < entry->n_results; r++)
        if (strcmp(entry->result[r].configuration, configuration) == 0)
            return entry->result[r].time_s;
    return 0;
}

/* A point where the choice costs much becomes an answer, after which the choice there is another. */
static void test_a_point_becomes_an_answer(void **state)
{
    fixture f;
    gv_regret_point point;
    gv_profile_device device;
    gv_profile_entry *entry = calloc(1, sizeof *entry);

    (void)state;
    assert_non_null(entry);
    make(&f);
    f.setting.kernel_version = "0123456789abcdef";
    f.task.sinks = 5;
    assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
    assert_false(gv_regret_is_worth_an_answer(&point)); /* width 4, which is right */
    /* what no question knew: at 5 sinks width 4 is slow, and by so much that 8 is the best of those kept */
    f.clock = (fake_clock){.shared = 4, .slowed = 1.3};
    assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
    assert_string_equal(point.choice, "width=4");
    assert_true(gv_regret_is_worth_an_answer(&point));
    gv_regret_answer(&f.setting, &point, entry);
    assert_string_equal(entry->kernel_version, "0123456789abcdef");
    assert_int_equal(entry->sinks, 5);
    assert_int_equal(entry->sources, 131072);
    assert_int_equal(entry->sink_bucket, gv_sink_bucket(5));
    assert_int_equal(entry->n_results, point.finals);
    assert_string_equal(entry->result[0].configuration, point.best);
    assert_true(point.least_s == point.choice_s);
    for (int k = 0; k < point.finals; k++) /* whatever the machine's pace was: by the ratios */
        assert_true(fabs(time_of(entry, point.final[k].configuration) * point.final[k].over / point.choice_s - 1) <
                    1e-12);
    for (int r = 0; r < entry->n_results; r++) {
        assert_true(entry->result[r].call_s == 3e-6);
        assert_true(entry->result[r].error == 1e-7 * atoi(strchr(entry->result[r].configuration, '=') + 1));
        assert_true(r == 0 || entry->result[r].time_s >= entry->result[r - 1].time_s);
    }
    gv_profile_device_of(&f.limits.info, &device);
    strcpy(entry->driver, "1");
    assert_ok(gv_profile_set_add(&f.set, &device, entry));
    assert_ok(gv_regret_measure(&f.setting, &f.task, &point));
    assert_string_equal(point.choice, entry->result[0].configuration);
    assert_false(gv_regret_is_worth_an_answer(&point));
    /* one that fails is no result; an undecided point is no answer */
    point.final[0].over = 0;
    gv_regret_answer(&f.setting, &point, entry);
    assert_int_equal(entry->n_results, point.finals - 1);
    point.choice_s = 2 * point.best_s;
    assert_true(gv_regret_is_worth_an_answer(&point));
    point.decided = 0;
    assert_false(gv_regret_is_worth_an_answer(&point));
    free(entry);
    gv_profile_set_free(&f.set);
}

/* The default stands before what is hardly faster, and not before what is. */
static void test_near_equals_of_an_answer(void **state)
{
    fixture f;
    gv_regret_point point;
    gv_profile_entry *entry = calloc(1, sizeof *entry);

    (void)state;
    assert_non_null(entry);
    make(&f);
    memset(&point, 0, sizeof point);
    point.task = f.task;
    point.task.sinks = 5;
    point.choice_s = 1;
    point.least_s = 0.8; /* the turns were in a slower minute */
    point.finals = 3;
    strcpy(point.final[0].configuration, "width=4");
    strcpy(point.final[1].configuration, "width=1");
    strcpy(point.final[2].configuration, "width=8");
    point.final[0].over = 1;
    point.final[1].over = 1 / 1.01;
    point.final[2].over = 1.005;
    gv_regret_answer(&f.setting, &point, entry);
    assert_string_equal(entry->result[0].configuration, "width=1");
    assert_string_equal(entry->result[1].configuration, "width=8");
    assert_string_equal(entry->result[2].configuration, "width=4");
    assert_true(fabs(entry->result[0].time_s - 1.01) < 1e-12 && fabs(entry->result[0].time_min_s - 0.808) < 1e-12);
    assert_true(entry->result[2].time_s == 1 && entry->result[2].time_min_s == 0.8);
    point.final[1].over = 1 / 1.03;
    gv_regret_answer(&f.setting, &point, entry);
    assert_string_equal(entry->result[0].configuration, "width=8");
    assert_string_equal(entry->result[2].configuration, "width=1");
    free(entry);
    gv_profile_set_free(&f.set);
}

/* A point whose sizes have an answer counts with it: what led by 8 % then and is 4 % behind now leads by 2 %, and how
 * far both are apart is its spread. */
static void test_an_answer_counts_with_the_one_before(void **state)
{
    fixture f;
    gv_regret_point point;
    gv_profile_device device;
    gv_profile_entry *entry = calloc(1, sizeof *entry);
    const double then = 1.08, now = 1 / 1.04, mean = sqrt(then * now);

    (void)state;
    assert_non_null(entry);
    make(&f);
    memset(&point, 0, sizeof point);
    point.task = f.task;
    point.task.sinks = 5;
    point.choice_s = point.least_s = 2e-3;
    point.finals = 2;
    strcpy(point.final[0].configuration, "width=4");
    strcpy(point.final[1].configuration, "width=8");
    point.final[0].over = 1;
    point.final[1].over = then;
    point.final[1].spread = 0.01;
    gv_regret_answer(&f.setting, &point, entry);
    assert_true(fabs(entry->result[0].time_s * then / 2e-3 - 1) < 1e-12);
    gv_profile_device_of(&f.limits.info, &device);
    assert_ok(gv_profile_set_add(&f.set, &device, entry));

    point.choice_s = point.least_s = 3e-3; /* the machine has another pace now */
    point.final[1].over = now;
    gv_regret_answer(&f.setting, &point, entry);
    assert_string_equal(entry->result[0].configuration, "width=8");
    assert_true(fabs(time_of(entry, "width=4") / time_of(entry, "width=8") / mean - 1) < 1e-12);
    assert_true(fabs(entry->result[0].spread - 0.5 * log(then / now)) < 1e-12);
    assert_true(fabs(entry->result[0].time_s * entry->result[1].time_s / (3e-3 * 3e-3 / now) - 1) < 1e-12);

    gv_profile_entry *before = &f.set.block[0].entry[f.set.block[0].n_entries - 1];
    const double right = before->result[0].time_s;
    before->result[0].time_s = 1e-3 * right; /* no hour makes such a difference */
    gv_regret_answer(&f.setting, &point, entry);
    assert_true(fabs(time_of(entry, "width=4") / time_of(entry, "width=8") / now - 1) < 1e-12);
    before->result[0].time_s = right;
    strcpy(before->driver, "another one"); /* says nothing of this one */
    gv_regret_answer(&f.setting, &point, entry);
    assert_string_equal(entry->result[0].configuration, "width=4");
    assert_true(fabs(time_of(entry, "width=4") / time_of(entry, "width=8") / now - 1) < 1e-12);
    free(entry);
    gv_profile_set_free(&f.set);
}

static void test_sizes_between(void **state)
{
    fixture f;
    gv_profile_entry entry;
    gv_profile_device device;
    size_t size[4];

    (void)state;
    memset(&entry, 0, sizeof entry);
    make(&f); /* 2 and 12 sinks, 131072 sources */
    assert_int_equal(gv_regret_sizes_between(&f.setting, 0, size, 4), 1);
    assert_int_equal(size[0], 4);
    assert_int_equal(gv_regret_sizes_between(&f.setting, 1, size, 4), 0);
    add(&f.set, &f.limits, 20, 8, 4, 2); /* too near */
    assert_int_equal(gv_regret_sizes_between(&f.setting, 0, size, 4), 1);
    add(&f.set, &f.limits, 200, 8, 4, 2);
    strcpy(entry.kernel, "fake"); /* three more questions at 2, 12 and 200: 60 is a size that hardly any has */
    strcpy(entry.driver, "1");
    entry.sources = 131072;
    strcpy(entry.result[0].configuration, "width=8");
    entry.n_results = 1;
    gv_profile_device_of(&f.limits.info, &device);
    for (int k = 0; k < 10; k++) {
        entry.sinks = k < 3 ? 2 : k < 6 ? 12 : k < 9 ? 200 : 60;
        snprintf(entry.variant, sizeof entry.variant, "%s", k % 3 == 0 ? "sp2" : k % 3 == 1 ? "sp4" : "dp2");
        entry.sink_bucket = gv_sink_bucket(entry.sinks);
        entry.source_bucket = gv_source_bucket(entry.sources);
        assert_ok(gv_profile_set_add(&f.set, &device, &entry));
    }
    assert_int_equal(gv_regret_sizes_between(&f.setting, 0, size, 4), 2);
    assert_int_equal(size[1], 48);
    assert_int_equal(gv_regret_sizes_between(&f.setting, 0, size, 1), 1);
    strcpy(f.limits.info.name, "Unknown");
    assert_int_equal(gv_regret_sizes_between(&f.setting, 0, size, 4), 0);
    gv_profile_set_free(&f.set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_choice_is_compared),
        cmocka_unit_test(test_more_turns_decide),
        cmocka_unit_test(test_a_second_sitting),
        cmocka_unit_test(test_fewer_candidates),
        cmocka_unit_test(test_failures_and_stops),
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_a_point_becomes_an_answer),
        cmocka_unit_test(test_near_equals_of_an_answer),
        cmocka_unit_test(test_an_answer_counts_with_the_one_before),
        cmocka_unit_test(test_sizes_between),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
