#include "tuner/regret.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Slower than the best by more: not timed to the end. */
#define HOPELESS 1.5

/* Times in turn (odd, for a median), and how many besides the choice and the default have them. */
enum { TURNS = 3, MOST_TURNS = 101, OTHERS = GV_REGRET_FINALS - 2 };

/* Beyond so many turns they go on only while all runs of them together take no longer than that. */
enum { FEW_TURNS = 9 };
#define MOST_TURNS_S 6

/* Those that were slower than the fastest by more at first do not meet it again in turns. */
#define CONTENDS 1.25

/* The median of the ratios over the turns is known well enough: by twice what the median over a grid may be off. */
#define KNOWN (1 + 2 * (GV_REGRET_MEDIAN - 1))

typedef struct candidate {
    const char *configuration;
    double time_s; /* before the turns; INFINITY: it fails */
    double turn_s[MOST_TURNS];
    double call_s, error;
} candidate;

/* 0: stop. */
static int time_one(const gv_regret_setting *setting, const gv_task *task, int turn, candidate *c, double best)
{
    gv_outcome outcome = {.call_s = 0};
    const double time_s = setting->time(setting->time_user, task, c->configuration, turn, HOPELESS * best, &outcome);

    if (turn == 0) {
        c->call_s = outcome.call_s;
        c->error = outcome.error;
    }
    *(turn > 0 ? &c->turn_s[turn - 1] : &c->time_s) = time_s;
    return time_s >= 0;
}

static int faster(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    return (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

static int ascending(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* The times of the first candidate over those of another, turn by turn, sorted: what else runs on the machine lasts
 * longer than two timings one after the other, and would make one of them lucky if their least times were compared. */
static void ratios(const candidate *first, const candidate *other, int turns, double *ratio)
{
    for (int t = 0; t < turns; t++)
        ratio[t] = isfinite(other->turn_s[t]) ? first->turn_s[t] / other->turn_s[t] : 0;
    qsort(ratio, (size_t)turns, sizeof *ratio, ascending);
}

/* The middle ratios of the choice's times to those of another, which hold the median in four of five cases. */
typedef struct middle_of {
    double least, most;
} middle_of;

static middle_of middle_ratios(const candidate *list, int k, int turns)
{
    /* how many of n ratios lie below the median: n / 2, with a deviation of sqrt(n) / 2 */
    const int outside = (int)fmax(0, (turns - 1.28 * sqrt(turns)) / 2);
    double ratio[MOST_TURNS];

    if (!isfinite(list[0].time_s) || !isfinite(list[k].time_s))
        return (middle_of){0, 0};
    ratios(&list[0], &list[k], turns, ratio);
    return (middle_of){ratio[outside], ratio[turns - 1 - outside]};
}

/* 1 if more turns would not change what is said of the choice: for every other one the middle ratios are near each
 * other, or all of them say that the choice is not slower, or that it is beyond every mark. */
static int is_known(const candidate *list, int finals, int turns)
{
    for (int k = 1; k < finals; k++) {
        const middle_of m = middle_ratios(list, k, turns);

        if (m.least <= GV_REGRET_MOST && m.most > fmax(1, KNOWN * m.least))
            return 0;
    }
    return 1;
}

/* 1 if the turns tell enough for the figures.  A choice that is beyond every mark beside one of the others does so
 * whatever it is beside the rest: left out as undecided, the worst choices would count as none. */
static int is_decided(const candidate *list, int finals, int turns)
{
    for (int k = 1; k < finals; k++)
        if (middle_ratios(list, k, turns).least > GV_REGRET_MOST)
            return 1;
    return is_known(list, finals, turns);
}

/* Every other turn backwards: who comes first meets colder caches or a device that another candidate has left
 * differently.  0: stop. */
static int time_turn(const gv_regret_setting *setting, const gv_task *task, int turn, candidate *list, int finals)
{
    for (int i = 0; i < finals; i++) {
        const int k = turn % 2 ? i : finals - 1 - i;

        if (isfinite(list[k].time_s) && !time_one(setting, task, turn, &list[k], INFINITY))
            return 0;
    }
    return 1;
}

/* The first `finals` of the list in turns, until it is known how the first one stands; whole turns, an odd number of
 * them, go to *turns.  0: stop. */
static int take_turns(const gv_regret_setting *setting, const gv_task *task, candidate *list, int finals, int *turns)
{
    double turn_s = 0;

    for (*turns = 0; *turns < TURNS; ++*turns)
        if (!time_turn(setting, task, *turns + 1, list, finals))
            return 0;
    for (int k = 0; k < finals; k++)
        turn_s += isfinite(list[k].time_s) ? list[k].turn_s[0] : 0;
    while (*turns + 2 <= MOST_TURNS && (*turns < FEW_TURNS || *turns * turn_s < MOST_TURNS_S) &&
           !is_known(list, finals, *turns)) {
        if (!time_turn(setting, task, *turns + 1, list, finals) || !time_turn(setting, task, *turns + 2, list, finals))
            break;
        *turns += 2;
    }
    return 1;
}

/* Candidates 0 and 1 are the choice and the default.  The least of many times is also the one with the luckiest noise,
 * so that it would be a regret of any choice: those two and the fastest others meet again in turns, and only the turns
 * count.  How many were timed goes to *timed, how many meet, the first of the list, to *finals. */
static int time_all(const gv_regret_setting *setting, const gv_task *task, candidate *list, int n, int *timed,
                    int *finals, int *turns)
{
    double best = INFINITY;

    for (*timed = 0; *timed < n; ++*timed) {
        candidate *c = &list[*timed];

        /* what the comparison is about is timed to the end */
        if (!time_one(setting, task, 0, c, *timed < 2 ? INFINITY : best))
            return 0;
        best = fmin(best, c->time_s);
    }
    if (n > 2)
        qsort(list + 2, (size_t)n - 2, sizeof *list, faster);
    for (*finals = n < 2 ? n : 2; *finals < n && *finals < 2 + OTHERS; ++*finals)
        if (list[*finals].time_s > CONTENDS * best)
            break;
    return take_turns(setting, task, list, *finals, turns);
}

/* The median over the turns of the time of the first candidate over that of another. */
static double over(const candidate *first, const candidate *other, int turns)
{
    double ratio[MOST_TURNS];

    if (!isfinite(first->time_s) || !isfinite(other->time_s))
        return 0;
    ratios(first, other, turns, ratio);
    return turns == 0 ? first->time_s / other->time_s : ratio[(turns - 1) / 2];
}

/* The value that a part `at` (0.5: the middle) of its turns is not above. */
static double sorted_turn(const candidate *c, int turns, double at)
{
    double turn_s[MOST_TURNS];

    for (int t = 0; t < turns; t++)
        turn_s[t] = c->turn_s[t];
    qsort(turn_s, (size_t)turns, sizeof *turn_s, ascending);
    return turns > 0 && isfinite(c->time_s) ? turn_s[(int)(at * (turns - 1))] : c->time_s;
}

static double middle_turn(const candidate *c, int turns)
{
    return sorted_turn(c, turns, 0.5);
}

static double spread_of(const candidate *c, int turns)
{
    const double middle = middle_turn(c, turns);

    return isfinite(middle) ? (sorted_turn(c, turns, 0.75) - sorted_turn(c, turns, 0.25)) / middle : 0;
}

/* The point's times from those of its choice and the ratios of its finals. */
static void conclude(const gv_regret_setting *setting, const char *built_in, double choice_s, gv_regret_point *point)
{
    double most = 1;
    int best = 0;

    point->choice_s = choice_s;
    for (int k = 0; k < point->finals; k++) {
        const gv_regret_final *f = &point->final[k];

        if (gv_regret_is_same(setting, &point->task, f->configuration, built_in))
            point->default_s = f->over > 0 ? choice_s / f->over : INFINITY;
        if (f->over > most) {
            most = f->over;
            best = k;
        }
    }
    point->best_s = choice_s / most;
    memcpy(point->best, point->final[best].configuration, sizeof point->best);
}

static void note_sitting(gv_regret_point *point)
{
    point->over_best[point->sittings] = point->choice_s / point->best_s;
    point->over_default[point->sittings] = point->choice_s / point->default_s;
    point->sittings++;
}

/* Times, ratios and failures of those that were timed. */
static void compare(const gv_regret_setting *setting, const candidate *list, int timed, int finals, int turns,
                    const char *built_in, gv_regret_point *point)
{
    point->candidates = timed;
    point->least_s = list[0].time_s;
    point->turns = turns;
    for (int k = 0; k < timed; k++)
        point->failed += !isfinite(list[k].time_s);
    point->finals = finals;
    for (int k = 0; k < finals; k++) {
        snprintf(point->final[k].configuration, GV_PROFILE_TEXT, "%s", list[k].configuration);
        point->final[k].over = over(&list[0], &list[k], turns);
        point->final[k].spread = spread_of(&list[k], turns);
        point->final[k].call_s = list[k].call_s;
        point->final[k].error = list[k].error;
    }
    conclude(setting, built_in, middle_turn(&list[0], turns), point);
    note_sitting(point);
}

static gravel_status tell_failing(const gv_task *task, const char *choice)
{
    char theta[32] = "";

    if (task->theta > 0)
        snprintf(theta, sizeof theta, ", theta %g", task->theta);
    return gv_fail(GRAVEL_ERR_LAUNCH, "%s with %zu sinks and %zu sources%s: '%s', which programs would get, fails",
                   task->variant.name, task->sinks, task->sources, theta, choice);
}

gravel_status gv_regret_measure(const gv_regret_setting *setting, const gv_task *task, gv_regret_point *point)
{
    candidate *list = malloc(GV_REGRET_CANDIDATES * sizeof *list);
    gv_regret_list listed;
    int timed = 0, finals = 0, turns = 0;
    gravel_status status = list ? gv_regret_list_make(setting, task, &listed)
                                : gv_fail(GRAVEL_ERR_MEMORY, "no memory for the candidates of a regret");

    if (status != GRAVEL_OK) {
        free(list);
        return status;
    }
    memset(point, 0, sizeof *point);
    point->task = *task;
    point->origin = listed.origin;
    memcpy(point->choice, listed.choice, sizeof point->choice);
    for (int k = 0; k < listed.n; k++)
        list[k] = (candidate){listed.configuration[k], INFINITY, {0}, 0, 0};
    if (setting->prepare)
        setting->prepare(setting->time_user, task, listed.configuration, listed.n);
    point->complete = time_all(setting, task, list, listed.n, &timed, &finals, &turns);
    point->decided = point->complete && is_decided(list, finals, turns);
    if (finals == 0) { /* stopped before the turns: of the first times */
        if (timed > 2)
            qsort(list + 2, (size_t)timed - 2, sizeof *list, faster);
        finals = timed < GV_REGRET_FINALS ? timed : GV_REGRET_FINALS;
    }
    if (timed > 0)
        compare(setting, list, timed, finals, turns, listed.built_in, point);
    free(list);
    if (timed < (listed.n < 2 ? listed.n : 2))
        return gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
    return isfinite(point->choice_s) ? GRAVEL_OK : tell_failing(task, point->choice);
}

int gv_regret_is_beyond(const gv_regret_point *point)
{
    return point->decided && point->sittings == 1 &&
           (point->choice_s > GV_REGRET_P95 * point->best_s ||
            point->choice_s > GV_REGRET_OVER_DEFAULT * point->default_s);
}

void gv_regret_measure_again(const gv_regret_setting *setting, gv_regret_point *point)
{
    candidate list[GV_REGRET_FINALS];
    const char *configuration[GV_REGRET_FINALS];
    const int n = point->finals;
    char built_in[GV_PROFILE_TEXT];
    gv_config config;
    int turns = 0, works = 1;

    if (!gv_regret_is_beyond(point))
        return;
    point->disagree = 1;
    setting->space->built_in(&config, &point->task.variant, setting->limits, point->task.sinks, point->task.sources);
    gv_space_format(setting->space, &config, built_in, sizeof built_in);
    for (int k = 0; k < n; k++)
        list[k] = (candidate){point->final[k].configuration, point->final[k].over > 0 ? 0 : INFINITY, {0}, 0, 0};
    for (int k = 0; k < n; k++)
        configuration[k] = list[k].configuration;
    if (setting->prepare)
        setting->prepare(setting->time_user, &point->task, configuration, n);
    if (!take_turns(setting, &point->task, list, n, &turns) || !is_decided(list, n, turns))
        return;
    for (int k = 0; k < n; k++)
        works &= !isfinite(list[k].time_s) || over(&list[0], &list[k], turns) > 0;
    if (!works)
        return;
    gv_regret_point again = *point;

    again.disagree = 0;
    for (int k = 0; k < n; k++)
        again.final[k].over = over(&list[0], &list[k], turns);
    conclude(setting, built_in, middle_turn(&list[0], turns), &again);
    note_sitting(&again);
    for (int k = 0; k < n; k++)
        again.final[k].over = sqrt(again.final[k].over * point->final[k].over);
    conclude(setting, built_in, sqrt(again.choice_s * point->choice_s), &again);
    *point = again;
}

/* The value that a part q of all is not above. */
static double quantile(const double *sorted, int n, double q)
{
    const int at = (int)ceil(q * n) - 1;

    return sorted[at > 0 ? at : 0];
}

void gv_regret_summarise(const gv_regret_point *point, int n, gv_regret_summary *summary)
{
    double *over_best = malloc((size_t)(n > 0 ? n : 1) * sizeof *over_best);
    double *over_default = malloc((size_t)(n > 0 ? n : 1) * sizeof *over_default);
    int complete = 0;

    memset(summary, 0, sizeof *summary);
    for (int k = 0; k < n && over_best && over_default; k++) {
        summary->undecided += point[k].complete && !point[k].decided;
        if (!point[k].decided)
            continue;
        summary->twice += point[k].sittings > 1;
        summary->disagree += point[k].disagree;
        over_best[complete] = point[k].choice_s / point[k].best_s;
        over_default[complete++] = point[k].choice_s / point[k].default_s;
    }
    if (complete > 0) {
        qsort(over_best, (size_t)complete, sizeof *over_best, ascending);
        qsort(over_default, (size_t)complete, sizeof *over_default, ascending);
        summary->points = complete;
        summary->median = quantile(over_best, complete, 0.5);
        summary->p95 = quantile(over_best, complete, 0.95);
        summary->most = over_best[complete - 1];
        summary->median_default = quantile(over_default, complete, 0.5);
        summary->most_default = over_default[complete - 1];
    }
    free(over_best);
    free(over_default);
}

int gv_regret_is_kept(const gv_regret_summary *summary)
{
    return summary->median <= GV_REGRET_MEDIAN && summary->p95 <= GV_REGRET_P95 && summary->most <= GV_REGRET_MOST &&
           summary->most_default <= GV_REGRET_OVER_DEFAULT;
}
