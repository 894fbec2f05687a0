/* The choice between two questions needs their candidates' times at both: each question measures its neighbours'
 * winners. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "tuner/kept.h"
#include "tuner/run.h"

double gv_run_distance(const gv_task *a, const gv_task *b)
{
    return fabs(log2((double)a->sinks / (double)b->sinks)) + 0.5 * fabs(log2((double)a->sources / (double)b->sources));
}

gv_effort gv_cross_effort(const gv_run *run)
{
    return run->options->quick ? (gv_effort){3, 16, 0.004, 0.15, 1e30} : (gv_effort){5, 32, 0.01, 0.5, 1e30};
}

/* A neighbouring question's candidate replaces the winner of this question if it is by so much faster, in every
 * turn. */
#define CROSS_BEATS 1.02

/* Behind the winner by time; the slowest falls out where there is no room, for a choice counts what is not kept as
 * slower than what is.  The default always has a place: how far ahead of it others are is seen by its time alone. */
static void sort_in(const gv_run *run, const gv_profile_result *made, gv_profile_entry *entry)
{
    int at, last = entry->n_results;

    if (last == GV_PROFILE_RESULTS) {
        last--;
        last -= gv_run_is_default(run, entry, entry->result[last].configuration);
        if (made->time_min_s >= entry->result[last].time_min_s && !gv_run_is_default(run, entry, made->configuration))
            return;
        memmove(&entry->result[last], &entry->result[last + 1],
                (size_t)(entry->n_results - 1 - last) * sizeof entry->result[0]);
        entry->n_results--;
    }
    at = entry->n_results;
    while (at > 1 && entry->result[at - 1].time_min_s > made->time_min_s)
        at--;
    memmove(&entry->result[at + 1], &entry->result[at], (size_t)(entry->n_results - at) * sizeof entry->result[0]);
    entry->result[at] = *made;
    entry->n_results++;
}

/* Short runs are timed beside the winner, in turns: one timing each, at another time than the winner's finals, would
 * tell as much of what else ran on the machine as of the candidates. */
enum { CROSS_TURNS = 5, AGAIN = CROSS_TURNS * (GV_CROSS_PASSES + 2) /* rounds behind those of turns */ };

static int turns_of(const gv_run *run, double time_s)
{
    return gv_tune_subject(run->options)->keeps && time_s < GV_SHORT_RUN_S ? CROSS_TURNS : 1;
}

double gv_run_cost(const gv_run *run)
{
    return run->best_s * gv_tune_subject(run->options)->settings;
}

double gv_cross_cost(const gv_run *run, double time_s)
{
    /* a run that warms up, three or more that count; verified before and after */
    const double runs_s = (4 * turns_of(run, time_s) + 2) * time_s * gv_tune_subject(run->options)->settings;

    /* a run without searches compiles most of what it measures, which takes longer than short runs */
    return run->options->cross && run->n_crossed > 0 ? fmax(runs_s, run->crossed_s / run->n_crossed) : runs_s;
}

/* Two turns that agree so well are enough; what is so far behind the winner at first is timed once. */
#define TURNS_AGREE 0.005
#define FAR_BEHIND 1.4

typedef struct crossing {
    gv_finalist f;
    int turns;
    double ratio[CROSS_TURNS], typical[CROSS_TURNS]; /* to the winner's time in the turn */
} crossing;

static int ascending(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* 1 if another turn would tell nothing new. */
static int is_settled(const crossing *c)
{
    const double *ratio = c->ratio;

    return !c->f.alive || (c->turns > 0 && ratio[0] > FAR_BEHIND) ||
           (c->turns > 1 && fabs(ratio[c->turns - 1] / ratio[c->turns - 2] - 1) < TURNS_AGREE);
}

/* 0: the run has to stop. */
static int cross_in_turns(gv_run *run, int pass, const gv_point *winner, crossing *c, int n)
{
    const int before = pass * CROSS_TURNS;
    const double least_s = run->options->quick ? 0.002 : 0.008;
    const gv_effort effort = {3, 16, least_s, 0.3, 1e30};

    for (int t = 0, open = n; t < CROSS_TURNS && open > 0; t++) {
        gv_outcome mine;

        if (!gv_run_evaluate(run, "cross", before + t + 1, winner, &effort, &mine))
            return 0;
        for (int k = 0; k < n; k++) {
            if (is_settled(&c[k]))
                continue;
            if (!gv_run_evaluate(run, "cross", before + t + 1, &c[k].f.point, &effort, &c[k].f.outcome))
                return 0;
            c[k].f.alive = c[k].f.outcome.status == GV_OUTCOME_OK && mine.status == GV_OUTCOME_OK;
            c[k].ratio[t] = gv_outcome_score(&c[k].f.outcome) / gv_outcome_score(&mine);
            c[k].typical[t] = c[k].f.outcome.time_s / mine.time_s;
            c[k].turns = t + 1;
            open -= is_settled(&c[k]);
        }
    }
    return 1;
}

/* Long ones once, and if they seem faster again beside the winner, which nobody has timed in the round `again` yet.
 * 0: the run has to stop. */
static int cross_once(gv_run *run, int again, const gv_point *winner, const gv_profile_result *reference, crossing *c)
{
    const gv_effort effort = gv_cross_effort(run);
    gv_outcome mine, other;

    if (!gv_run_evaluate(run, "cross", 0, &c->f.point, &effort, &c->f.outcome))
        return 0;
    c->f.alive = c->f.outcome.status == GV_OUTCOME_OK;
    c->turns = 1;
    c->ratio[0] = gv_outcome_score(&c->f.outcome) / reference->time_min_s;
    c->typical[0] = c->f.outcome.time_s / reference->time_s;
    if (!c->f.alive || c->ratio[0] * CROSS_BEATS >= 1)
        return 1;
    if (!gv_run_evaluate(run, "cross", again, winner, &effort, &mine) ||
        !gv_run_evaluate(run, "cross", again, &c->f.point, &effort, &other))
        return 0;
    c->f.alive = other.status == GV_OUTCOME_OK && mine.status == GV_OUTCOME_OK;
    c->ratio[0] = fmax(c->ratio[0], gv_outcome_score(&other) / gv_outcome_score(&mine));
    return 1;
}

double gv_cross_beats(const gv_run *run, const gv_profile_entry *entry)
{
    return gv_run_is_default(run, entry, entry->result[0].configuration)
               ? fmax(CROSS_BEATS, 1 + gv_tune_subject(run->options)->least_gain)
               : CROSS_BEATS;
}

/* What was measured goes into the entry; its winner is replaced where that, which was `reference`, was slower in every
 * turn. */
static void take(const gv_run *run, const gv_profile_result *reference, crossing *c, gv_profile_entry *entry)
{
    const int turns = c->turns;
    gv_profile_result made;

    qsort(c->ratio, (size_t)turns, sizeof *c->ratio, ascending);
    qsort(c->typical, (size_t)turns, sizeof *c->typical, ascending);
    c->f.median = reference->time_min_s * c->ratio[turns / 2];
    c->f.time_s = reference->time_s * c->typical[turns / 2];
    gv_finals_put(run, &c->f, &made);
    if (c->ratio[turns / 2] * gv_cross_beats(run, entry) < 1 && c->ratio[turns - 1] < 1 &&
        made.time_min_s < entry->result[0].time_min_s) {
        const gv_profile_result before = entry->result[0];

        entry->result[0] = made;
        made = before;
    }
    sort_in(run, &made, entry);
}

static int is_kept(const gv_run *run, const gv_profile_entry *entry, const gv_point *point)
{
    char text[GV_PROFILE_TEXT];

    gv_run_point_text(run, point, text);
    for (int r = 0; r < entry->n_results; r++)
        if (gv_space_same_text(run->space, entry->result[r].configuration, text, &run->task.variant,
                               &run->device.limits, entry->sinks, entry->sources))
            return 1;
    return 0;
}

int gv_question_cross(gv_run *run, int pass, const gv_point *point, int n, gv_profile_entry *entry)
{
    const gv_profile_result reference = entry->result[0];
    const int turns = turns_of(run, reference.time_min_s);
    crossing list[GV_KEPT_MOST];
    gv_config config;
    gv_point winner;
    const double before_s = run->spent_s;
    int met = 0, changed = 0, going = 1;

    memset(list, 0, sizeof list);
    run->space->built_in(&config, &run->task.variant, &run->device.limits, entry->sinks, entry->sources);
    if (gv_space_parse(run->space, reference.configuration, &config) != GRAVEL_OK ||
        !gv_domain_point(&run->domain, &config, &winner))
        return 0;
    for (int k = 0; k < n && met < GV_KEPT_MOST - 1; k++) {
        int there = is_kept(run, entry, &point[k]);

        for (int m = 0; m < met && !there; m++)
            there = gv_run_same(run, &list[m].f.point, &point[k]);
        if (!there)
            list[met++].f = (gv_finalist){.point = point[k], .alive = 1};
    }
    if (turns > 1 && met > 0)
        going = cross_in_turns(run, pass, &winner, list, met);
    for (int k = 0; k < met && going; k++) {
        going = turns > 1 || cross_once(run, AGAIN + pass * GV_KEPT_MOST + k, &winner, &reference, &list[k]);
        if (!going || !list[k].f.alive)
            continue;
        take(run, &reference, &list[k], entry);
        changed = 1;
    }
    run->crossed_s += run->spent_s - before_s;
    run->n_crossed += met;
    gv_prefer_default(run, entry);
    return changed;
}

enum { CROSS_NEIGHBOURS = 8, CROSS_OTHERS = 4 };
/* What is so near a neighbour's winner may be the best one between it and here. */
#define NEAR_WINNER 1.03

static int add_point(const gv_run *run, const gv_config *config, gv_point *point, int n)
{
    if (n == GV_POINTS_MOST || !gv_run_point(run, config, &point[n]))
        return n;
    for (int k = 0; k < n; k++)
        if (gv_run_same(run, &point[k], &point[n]))
            return n;
    return n + 1;
}

/* Numbers of the questions nearest to the k-th, the nearest first; returns how many there are. */
static int nearest_to(const gv_winners *found, int k, int nearest[CROSS_NEIGHBOURS])
{
    int taken[GV_TUNE_SIZES * GV_TUNE_SIZES] = {0}, n = 0;

    for (; n < CROSS_NEIGHBOURS && n < found->n - 1; n++) {
        int next = -1;

        for (int j = 0; j < found->n; j++)
            if (j != k && !taken[j] &&
                (next < 0 || gv_run_distance(&found->w[j].task, &found->w[k].task) <
                                 gv_run_distance(&found->w[next].task, &found->w[k].task)))
                next = j;
        taken[next] = 1;
        nearest[n] = next;
    }
    return n;
}

/* The default, of the questions nearest to one the winners and defaults, then what is good without its searches or with
 * others, then what came near the winners. */
static int neighbours_of(gv_run *run, const gv_winners *found, const void *order_, int at,
                         gv_point point[GV_POINTS_MOST])
{
    const int k = ((const int *)order_)[at];
    int nearest[CROSS_NEIGHBOURS], n = 0;
    const int near = nearest_to(found, k, nearest);
    gv_config config;

    run->task = found->w[k].task;
    /* its own default, which profiles of before may have dropped */
    run->space->built_in(&config, &run->task.variant, &run->device.limits, run->task.sinks, run->task.sources);
    n = add_point(run, &config, point, n);
    for (int m = 0; m < near; m++) {
        const gv_winner *w = &found->w[nearest[m]];
        const gv_task *task = &w->task;

        run->space->built_in(&config, &task->variant, &run->device.limits, task->sinks, task->sources);
        if (gv_space_parse(run->space, w->entry.result[0].configuration, &config) == GRAVEL_OK)
            n = add_point(run, &config, point, n);
        run->space->built_in(&config, &task->variant, &run->device.limits, task->sinks, task->sources);
        n = add_point(run, &config, point, n);
    }
    n = gv_offers_add(run, found, 1, point, n, n + CROSS_OTHERS < GV_POINTS_MOST ? n + CROSS_OTHERS : GV_POINTS_MOST);
    for (int m = 0; m < near; m++) {
        const gv_profile_entry *entry = &found->w[nearest[m]].entry;

        for (int r = 1; r < entry->n_results; r++) {
            run->space->built_in(&config, &run->task.variant, &run->device.limits, entry->sinks, entry->sources);
            if (entry->result[r].time_min_s < NEAR_WINNER * entry->result[0].time_min_s &&
                gv_space_parse(run->space, entry->result[r].configuration, &config) == GRAVEL_OK)
                n = add_point(run, &config, point, n);
        }
    }
    return n;
}

/* The shortest runs first: most questions for the time. */
static void order_by_time(const gv_winners *found, int *order)
{
    for (int k = 0; k < found->n; k++) {
        int at = k;

        for (; at > 0 && found->w[order[at - 1]].time_s > found->w[k].time_s; at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
}

/* Moves those of n points that the question has not tried yet to the front; returns how many these are. */
static int leave_untried(const gv_run *run, const gv_winner *w, gv_point *point, int n)
{
    int left = 0;

    for (int k = 0; k < n; k++) {
        int t = 0;

        while (t < w->n_tried && !gv_run_same(run, &w->tried[t], &point[k]))
            t++;
        if (t == w->n_tried)
            point[left++] = point[k];
    }
    return left;
}

/* The choice between two questions needs their candidates' times at both: each question measures its neighbours'
 * winners, then those that won in the first pass; as many as there is time for. */
void gv_cross(gv_run *run, gv_winners *found, double end)
{
    int order[GV_TUNE_SIZES * GV_TUNE_SIZES];

    order_by_time(found, order);
    for (int pass = 1; pass <= GV_CROSS_PASSES; pass++) {
        for (int k = 0; k < found->n && run->status == GRAVEL_OK && !run->interrupted; k++) {
            gv_winner *w = &found->w[order[k]];
            gv_point point[GV_POINTS_MOST];
            const double fit = (end - run->spent_s) / gv_cross_cost(run, w->time_s);
            const int all = leave_untried(run, w, point, neighbours_of(run, found, order, k, point));
            const int n = fit < all ? (int)fmax(fit, 0) : all;

            if (n < 1)
                continue;
            run->best_s = w->time_s;
            run->wall = gv_now();
            gv_run_build_from(run, "cross", found, neighbours_of, order, k, found->n, end);
            if (gv_question_cross(run, pass, point, n, &w->entry))
                gv_tune_save(run, &w->entry);
            memcpy(&w->tried[w->n_tried], point, (size_t)n * sizeof *point);
            w->n_tried += n;
        }
    }
}
