/* The choice between two questions needs their candidates' times at both: each question measures its neighbours'
 * winners. */
#include <math.h>
#include <stdio.h>
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
 * slower than what is.  The default stays. */
static void sort_in(const gv_run *run, const gv_profile_result *made, gv_profile_entry *entry)
{
    char built_in[GV_PROFILE_TEXT];
    gv_config config;
    int at, last = entry->n_results;

    run->space->built_in(&config, &run->task.variant, &run->device.limits, entry->sinks, entry->sources);
    gv_space_format(run->space, &config, built_in, sizeof built_in);
    if (last == GV_PROFILE_RESULTS) {
        last--;
        last -= gv_space_same_text(run->space, entry->result[last].configuration, built_in, &run->task.variant,
                                   &run->device.limits, entry->sinks, entry->sources);
        if (made->time_min_s >= entry->result[last].time_min_s)
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
enum { CROSS_TURNS = 5 };

static int turns_of(const gv_run *run, double time_s)
{
    return gv_tune_subject(run->options)->keeps && time_s < GV_SHORT_RUN_S ? CROSS_TURNS : 1;
}

double gv_cross_cost(const gv_run *run, double time_s)
{
    /* a run that warms up, three or more that count; verified before and after */
    return (4 * turns_of(run, time_s) + 2) * time_s;
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

/* Long ones once, and again beside the winner if they seem faster.  0: the run has to stop. */
static int cross_once(gv_run *run, int pass, const gv_point *winner, const gv_profile_result *reference, crossing *c)
{
    const int again = pass * CROSS_TURNS + 1;
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

/* By so much; by what is wanted for the default's place if that is the winner. */
static double beats_winner(const gv_run *run, const gv_profile_entry *entry)
{
    char built_in[GV_PROFILE_TEXT];
    gv_config config;

    run->space->built_in(&config, &run->task.variant, &run->device.limits, entry->sinks, entry->sources);
    gv_space_format(run->space, &config, built_in, sizeof built_in);
    return gv_space_same_text(run->space, entry->result[0].configuration, built_in, &run->task.variant,
                              &run->device.limits, entry->sinks, entry->sources)
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
    if (c->ratio[turns / 2] * beats_winner(run, entry) < 1 && c->ratio[turns - 1] < 1 &&
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
        going = turns > 1 || cross_once(run, pass, &winner, &reference, &list[k]);
        if (!going || !list[k].f.alive)
            continue;
        take(run, &reference, &list[k], entry);
        changed = 1;
    }
    return changed;
}

static int by_time(const void *a, const void *b)
{
    const gv_profile_result *x = a, *y = b;

    return (x->time_min_s > y->time_min_s) - (x->time_min_s < y->time_min_s);
}

static int is_current(const gv_run *run, const gv_profile_entry *entry)
{
    return strcmp(entry->kernel_version, run->device.kernel_version) == 0;
}

/* What a question keeps of another kernel text. */
static int kept_points(gv_run *run, const gv_winners *found, const void *unused, int k, gv_point point[GV_POINTS_MOST])
{
    const gv_profile_entry *entry = &found->w[k].entry;
    int n = 0;

    (void)unused;
    run->task = found->w[k].task;
    for (int r = 0; r < entry->n_results && !is_current(run, entry); r++) {
        gv_config config;

        run->space->built_in(&config, &run->task.variant, &run->device.limits, entry->sinks, entry->sources);
        if (gv_space_parse(run->space, entry->result[r].configuration, &config) == GRAVEL_OK &&
            gv_run_point(run, &config, &point[n]))
            n++;
    }
    return n;
}

/* Measures what the k-th entry keeps again, with today's kernels.  0: nothing works any more, or the run has to stop. */
static int measure_again(gv_run *run, gv_winners *found, int k)
{
    const gv_effort effort = gv_cross_effort(run);
    gv_profile_entry *entry = &found->w[k].entry;
    gv_point point[GV_POINTS_MOST];
    const int n = kept_points(run, found, NULL, k, point);

    run->wall = gv_now();
    gv_run_build_from(run, "again", found, kept_points, NULL, k, found->n);
    snprintf(entry->kernel_version, sizeof entry->kernel_version, "%s", run->device.kernel_version);
    gv_date(entry->date);
    entry->n_results = 0;
    for (int p = 0; p < n; p++) {
        gv_finalist f = {.point = point[p], .alive = 1};

        if (!gv_run_evaluate(run, "again", 0, &point[p], &effort, &f.outcome))
            return 0;
        if (f.outcome.status != GV_OUTCOME_OK)
            continue;
        f.time_s = f.outcome.time_s;
        f.median = gv_outcome_score(&f.outcome);
        gv_finals_put(run, &f, &entry->result[entry->n_results++]);
    }
    if (entry->n_results > 1) {
        const gv_profile_result first = entry->result[0];
        const double beats = beats_winner(run, entry);

        qsort(entry->result, (size_t)entry->n_results, sizeof entry->result[0], by_time);
        /* near equals: the simpler one, which the finals put first, stays there */
        for (int r = 1; r < entry->n_results && first.time_min_s < beats * entry->result[0].time_min_s; r++) {
            if (strcmp(entry->result[r].configuration, first.configuration) == 0) {
                memmove(&entry->result[1], &entry->result[0], (size_t)r * sizeof entry->result[0]);
                entry->result[0] = first;
            }
        }
    }
    return entry->n_results > 0;
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
 * winners; then those that won in the first pass. */
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
            const int n = fit < all ? (int)fit : all;

            if (n < 1)
                continue;
            run->best_s = w->time_s;
            run->wall = gv_now();
            gv_run_build_from(run, "cross", found, neighbours_of, order, k, found->n);
            if (gv_question_cross(run, pass, point, n, &w->entry))
                gv_tune_save(run, &w->entry);
            memcpy(&w->tried[w->n_tried], point, (size_t)n * sizeof *point);
            w->n_tried += n;
        }
    }
}

/* 1 if the entry answers this variant, on this driver, at sizes that the run is about. */
static int is_asked(const gv_run *run, const gv_profile_entry *entry, const char *driver)
{
    const gv_tune_options *options = run->options;
    int sinks = options->n_sinks == 0, sources = options->n_sources == 0;

    for (int k = 0; k < options->n_sinks; k++)
        sinks |= options->sinks[k] == entry->sinks;
    for (int k = 0; k < options->n_sources; k++)
        sources |= options->sources[k] == entry->sources;
    return sinks && sources && entry->features == run->task.variant.features &&
           strcmp(entry->variant, run->task.variant.name) == 0 && strcmp(entry->kernel, run->space->kernel) == 0 &&
           gv_name_same(entry->driver, driver);
}

/* Number of the winner at these sizes; found->n: none. */
static int at_sizes(const gv_winners *found, const gv_profile_entry *entry)
{
    int k = 0;

    while (k < found->n && (found->w[k].task.sinks != entry->sinks || found->w[k].task.sources != entry->sources))
        k++;
    return k;
}

/* What the profile keeps of this variant, one entry for each pair of sizes: this kernel text's, else the newest. */
static void collect_known(gv_run *run, gv_winners *found)
{
    gv_profile_device device;
    const gv_profile_block *block;

    gv_profile_device_of(&run->device.limits.info, &device);
    block = gv_profile_set_find(&run->known, &device);
    for (int e = 0; block && e < block->n_entries; e++) {
        const gv_profile_entry *entry = &block->entry[e];
        const int k = at_sizes(found, entry);
        gv_winner *w = &found->w[k];
        gv_config config;
        gv_point point;

        if (!is_asked(run, entry, run->device.limits.info.driver) || k == GV_TUNE_SIZES * GV_TUNE_SIZES)
            continue;
        if (k < found->n &&
            (is_current(run, &w->entry) != is_current(run, entry) ? is_current(run, &w->entry)
                                                                  : strcmp(w->entry.date, entry->date) >= 0))
            continue;
        run->space->built_in(&config, &run->task.variant, &run->device.limits, entry->sinks, entry->sources);
        if (gv_space_parse(run->space, entry->result[0].configuration, &config) != GRAVEL_OK ||
            !gv_run_point(run, &config, &point))
            continue;
        *w = (gv_winner){.task = run->task, .point = point, .time_s = entry->result[0].time_s, .entry = *entry};
        w->task.sinks = entry->sinks;
        w->task.sources = entry->sources;
        found->n += k == found->n;
    }
}

/* 1 if the options name whole questions, which may be new. */
static int names_questions(const gv_tune_options *options)
{
    return options->n_sources > 0 &&
           (options->n_sinks > 0 || gv_tune_subject(options)->questions == GV_QUESTIONS_SQUARE);
}

/* Sizes that are named and not known: what is kept around them is measured there. */
static void ask_new(gv_run *run, gv_winners *found, double end)
{
    gv_plan named, asked = {.n = 0};

    if (!names_questions(run->options))
        return;
    gv_plan_make(run->options, &run->device.limits, &run->task.variant, &named);
    for (int k = 0; k < named.n; k++) {
        const gv_profile_entry sizes = {.sinks = named.q[k].sinks, .sources = named.q[k].sources};

        if (at_sizes(found, &sizes) == found->n)
            asked.q[asked.n++] = named.q[k];
    }
    for (int k = 0; k < asked.n && run->status == GRAVEL_OK && !run->interrupted; k++) {
        run->task_index++;
        gv_question_between(run, found, &asked, k, end);
    }
}

int gv_cross_planned(gv_run *run)
{
    const gv_tune_options *options = run->options;
    gv_winners *found = calloc(1, sizeof *found);
    gv_plan named;
    int n = 0; /* known or new */

    if (names_questions(options)) {
        gv_plan_make(options, &run->device.limits, &run->task.variant, &named);
        n = named.n;
    } else if (found != NULL && gv_domain_of_space(&run->domain, run->space, &run->task.variant, &run->device.limits,
                                                   options->limit, options->unlikely) == GRAVEL_OK) {
        collect_known(run, found);
        n = found->n;
        gv_domain_free(&run->domain);
    }
    free(found);
    return n;
}

int gv_cross_known(gv_run *run, gv_winners *found, double end, double new_end)
{
    collect_known(run, found);
    /* times of another kernel text are no comparison for what is measured now */
    for (int k = 0; k < found->n && run->status == GRAVEL_OK && !run->interrupted; k++) {
        gv_winner *w = &found->w[k];

        if (is_current(run, &w->entry))
            continue;
        run->task = w->task;
        run->best_s = w->time_s;
        if (run->spent_s + 5 * w->entry.n_results * w->time_s > end || !measure_again(run, found, k)) {
            *w = found->w[--found->n];
            k--;
            continue;
        }
        w->time_s = w->entry.result[0].time_s;
        gv_tune_save(run, &w->entry);
    }
    const int known = found->n;
    run->task_index += known;
    ask_new(run, found, new_end);
    return known;
}
