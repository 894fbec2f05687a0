/* The choice between two questions needs their candidates' times at both: each question measures its neighbours'
 * winners. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "tuner/run.h"

double gv_run_distance(const gv_task *a, const gv_task *b)
{
    return fabs(log2((double)a->sinks / (double)b->sinks)) + 0.5 * fabs(log2((double)a->sources / (double)b->sources));
}

gv_effort gv_cross_effort(const gv_run *run)
{
    return run->options->quick ? (gv_effort){3, 16, 0.004, 0.15, 1e30} : (gv_effort){5, 32, 0.01, 0.5, 1e30};
}

/* A neighbouring question's candidate replaces the winner of this question if it is by so much faster, twice. */
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
        last -= strcmp(entry->result[last].configuration, built_in) == 0;
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

/* Once more in turn: 1 if the neighbour's candidate is still faster than the winner by more than chance. */
static int beats_the_winner(gv_run *run, const gv_point *point, const gv_effort *effort, const gv_profile_entry *entry)
{
    gv_config config;
    gv_outcome mine, other;
    gv_point winner;

    run->space->built_in(&config, &run->task.variant, &run->device.limits, entry->sinks, entry->sources);
    return gv_space_parse(run->space, entry->result[0].configuration, &config) == GRAVEL_OK &&
           gv_domain_point(&run->domain, &config, &winner) &&
           gv_run_evaluate(run, "cross", 1, &winner, effort, &mine) &&
           gv_run_evaluate(run, "cross", 1, point, effort, &other) &&
           gv_outcome_score(&other) * CROSS_BEATS < fmin(gv_outcome_score(&mine), entry->result[0].time_min_s);
}

int gv_question_cross(gv_run *run, const gv_point *point, int n, gv_profile_entry *entry)
{
    const gv_effort effort = gv_cross_effort(run);
    int changed = 0;

    run->wall = gv_now();
    gv_run_build(run, "cross", point, n);
    for (int k = 0; k < n; k++) {
        gv_finalist f = {.point = point[k], .alive = 1};
        gv_profile_result made;
        int there = 0;

        gv_finals_put(run, &f, &made);
        for (int r = 0; r < entry->n_results; r++)
            there |= strcmp(entry->result[r].configuration, made.configuration) == 0;
        if (there)
            continue;
        if (!gv_run_evaluate(run, "cross", 0, &point[k], &effort, &f.outcome))
            return changed;
        if (f.outcome.status != GV_OUTCOME_OK)
            continue;
        f.time_s = f.outcome.time_s;
        f.median = gv_outcome_score(&f.outcome);
        gv_finals_put(run, &f, &made);
        if (made.time_min_s * CROSS_BEATS < entry->result[0].time_min_s &&
            beats_the_winner(run, &point[k], &effort, entry)) {
            const gv_profile_result before = entry->result[0];

            entry->result[0] = made;
            made = before;
        }
        sort_in(run, &made, entry);
        changed = 1;
    }
    return changed;
}

static int by_time(const void *a, const void *b)
{
    const gv_profile_result *x = a, *y = b;

    return (x->time_min_s > y->time_min_s) - (x->time_min_s < y->time_min_s);
}

/* Measures what the entry keeps again, with today's kernels.  0: nothing works any more, or the run has to stop. */
static int measure_again(gv_run *run, gv_profile_entry *entry)
{
    const gv_effort effort = gv_cross_effort(run);
    gv_profile_entry before = *entry;
    gv_point point[GV_PROFILE_RESULTS];
    int n = 0;

    for (int r = 0; r < before.n_results; r++) {
        gv_config config;

        run->space->built_in(&config, &run->task.variant, &run->device.limits, entry->sinks, entry->sources);
        if (gv_space_parse(run->space, before.result[r].configuration, &config) == GRAVEL_OK &&
            gv_run_point(run, &config, &point[n]))
            n++;
    }
    run->wall = gv_now();
    gv_run_build(run, "again", point, n);
    snprintf(entry->kernel_version, sizeof entry->kernel_version, "%s", run->device.kernel_version);
    gv_date(entry->date);
    entry->n_results = 0;
    for (int k = 0; k < n; k++) {
        gv_finalist f = {.point = point[k], .alive = 1};

        if (!gv_run_evaluate(run, "again", 0, &point[k], &effort, &f.outcome))
            return 0;
        if (f.outcome.status != GV_OUTCOME_OK)
            continue;
        f.time_s = f.outcome.time_s;
        f.median = gv_outcome_score(&f.outcome);
        gv_finals_put(run, &f, &entry->result[entry->n_results++]);
    }
    if (entry->n_results > 1) {
        const gv_profile_result first = entry->result[0];

        qsort(entry->result, (size_t)entry->n_results, sizeof entry->result[0], by_time);
        /* near equals: the simpler one, which the finals put first, stays there */
        for (int r = 1; r < entry->n_results && first.time_min_s < CROSS_BEATS * entry->result[0].time_min_s; r++) {
            if (strcmp(entry->result[r].configuration, first.configuration) == 0) {
                memmove(&entry->result[1], &entry->result[0], (size_t)r * sizeof entry->result[0]);
                entry->result[0] = first;
            }
        }
    }
    return entry->n_results > 0;
}

enum { CROSS_NEIGHBOURS = 4, CROSS_OTHERS = 4, CROSS_MOST = 2 * CROSS_NEIGHBOURS + CROSS_OTHERS };

/* The winners and defaults of the questions nearest to number k that it has not measured. */
static int neighbours_of(const gv_run *run, const gv_winners *found, int k, gv_point *point)
{
    int taken[GV_TUNE_SIZES * GV_TUNE_SIZES] = {0}, n = 0;

    for (int round = 0; round < CROSS_NEIGHBOURS; round++) {
        const gv_task *task;
        gv_config config;
        int next = -1;

        for (int j = 0; j < found->n; j++)
            if (j != k && !taken[j] &&
                (next < 0 || gv_run_distance(&found->w[j].task, &found->w[k].task) <
                                 gv_run_distance(&found->w[next].task, &found->w[k].task)))
                next = j;
        if (next < 0)
            break;
        taken[next] = 1;
        task = &found->w[next].task;
        point[n++] = found->w[next].point;
        run->space->built_in(&config, &task->variant, &run->device.limits, task->sinks, task->sources);
        n += gv_run_point(run, &config, &point[n]);
    }
    return n;
}

/* The number of the question that is crossed next, the shortest runs first: most questions for the time; -1: none. */
static int shortest(const gv_winners *found, const int *crossed)
{
    int next = -1;

    for (int k = 0; k < found->n; k++)
        if (!crossed[k] && (next < 0 || found->w[k].time_s < found->w[next].time_s))
            next = k;
    return next;
}

/* The choice between two questions needs their candidates' times at both: each question measures its neighbours'
 * winners. */
void gv_cross(gv_run *run, gv_winners *found, double end)
{
    int crossed[GV_TUNE_SIZES * GV_TUNE_SIZES] = {0};

    for (int k = shortest(found, crossed); k >= 0 && run->status == GRAVEL_OK && !run->interrupted;
         k = shortest(found, crossed)) {
        gv_point point[CROSS_MOST];
        int n = neighbours_of(run, found, k, point);

        crossed[k] = 1;
        run->task = found->w[k].task;
        n = gv_offers_add(run, found, 1, point, n, n + CROSS_OTHERS);
        /* a candidate runs about five times */
        if (run->spent_s + 5 * n * found->w[k].time_s > end)
            continue;
        run->best_s = found->w[k].time_s;
        if (gv_question_cross(run, point, n, &found->w[k].entry))
            gv_tune_save(run, &found->w[k].entry);
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

static int is_current(const gv_run *run, const gv_profile_entry *entry)
{
    return strcmp(entry->kernel_version, run->device.kernel_version) == 0;
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

/* Sizes that are named and not known: what is kept around them is measured there. */
static void ask_new(gv_run *run, gv_winners *found, double end)
{
    const gv_tune_options *options = run->options;

    for (int j = 0; j < options->n_sources; j++) {
        for (int i = 0; i < options->n_sinks && run->status == GRAVEL_OK && !run->interrupted; i++) {
            const gv_profile_entry sizes = {.sinks = options->sinks[i], .sources = options->sources[j]};

            if (at_sizes(found, &sizes) < found->n)
                continue;
            run->task_index++;
            gv_question_between(run, found, sizes.sinks, sizes.sources, end);
        }
    }
}

int gv_cross_planned(gv_run *run)
{
    const gv_tune_options *options = run->options;
    gv_winners *found = calloc(1, sizeof *found);
    int n = options->n_sinks * options->n_sources; /* known or new */

    if (n == 0 && found != NULL &&
        gv_domain_of_space(&run->domain, run->space, &run->task.variant, &run->device.limits, options->limit,
                           options->unlikely) == GRAVEL_OK) {
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
        if (run->spent_s + 5 * w->entry.n_results * w->time_s > end || !measure_again(run, &w->entry)) {
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
