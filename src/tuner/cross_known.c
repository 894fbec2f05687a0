/* A run without searches: what the profile holds are the answers; those of another kernel text, or whose winner takes
 * another time now, are measured again.  New questions are the sizes that are named, or without names those that a
 * device that is alike has answered. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "tuner/run.h"

int gv_result_by_time(const void *a, const void *b)
{
    const gv_profile_result *x = a, *y = b;

    return (x->time_min_s > y->time_min_s) - (x->time_min_s < y->time_min_s);
}

static int is_current(const gv_run *run, const gv_profile_entry *entry)
{
    return strcmp(entry->kernel_version, run->device.kernel_version) == 0;
}

/* What is measured again of a question: its winner, and all that it keeps of another kernel text. */
static int kept_points(gv_run *run, const gv_winners *found, const void *unused, int k, gv_point point[GV_POINTS_MOST])
{
    const gv_profile_entry *entry = &found->w[k].entry;
    int n = 0;

    (void)unused;
    run->task = found->w[k].task;
    for (int r = 0; r < entry->n_results && (r == 0 || !is_current(run, entry)); r++) {
        gv_config config;

        run->space->built_in(&config, &run->task.variant, &run->device.limits, entry->sinks, entry->sources);
        if (gv_space_parse(run->space, entry->result[r].configuration, &config) == GRAVEL_OK &&
            gv_run_point(run, &config, &point[n]))
            n++;
    }
    return n;
}

/* A time that differs by more is another one: by this part, or by twice the spread that was seen. */
#define TIME_HOLDS 0.03

/* 1 if the winner of the k-th entry takes as long as the entry says.  Launches may be planned otherwise than when it
 * was measured, and what else the profile says of these sizes is then as old. */
static int still_holds(gv_run *run, const gv_winners *found, int k, double end)
{
    const gv_effort effort = gv_cross_effort(run);
    const gv_winner *w = &found->w[k];
    const gv_profile_result *winner = &w->entry.result[0];
    gv_outcome now;

    run->wall = gv_now();
    gv_run_build_from(run, "again", found, kept_points, NULL, k, found->n, end);
    return gv_run_evaluate(run, "again", 0, &w->point, &effort, &now) && now.status == GV_OUTCOME_OK &&
           fabs(log(gv_outcome_score(&now) / winner->time_min_s)) <= fmax(TIME_HOLDS, 2 * winner->spread);
}

/* Measures what the k-th entry keeps again, with today's kernels.  0: nothing works any more, or the run has to stop.
 */
static int measure_again(gv_run *run, gv_winners *found, int k, double end)
{
    const gv_effort effort = gv_cross_effort(run);
    gv_profile_entry *entry = &found->w[k].entry;
    gv_point point[GV_POINTS_MOST];
    const int n = kept_points(run, found, NULL, k, point);

    run->wall = gv_now();
    gv_run_build_from(run, "again", found, kept_points, NULL, k, found->n, end);
    snprintf(entry->kernel_version, sizeof entry->kernel_version, "%s", run->device.kernel_version);
    gv_date(entry->date);
    entry->n_results = 0;
    for (int p = 0; p < n; p++) {
        gv_finalist f = {.point = point[p], .alive = 1};

        if (!gv_run_evaluate(run, "again", 1, &point[p], &effort, &f.outcome))
            return 0;
        if (f.outcome.status != GV_OUTCOME_OK)
            continue;
        f.time_s = f.outcome.time_s;
        f.median = gv_outcome_score(&f.outcome);
        gv_finals_put(run, &f, &entry->result[entry->n_results++]);
    }
    if (entry->n_results > 1) {
        const gv_profile_result first = entry->result[0];
        const double beats = gv_cross_beats(run, entry);

        qsort(entry->result, (size_t)entry->n_results, sizeof entry->result[0], gv_result_by_time);
        /* near equals: the simpler one, which the finals put first, stays there */
        for (int r = 1; r < entry->n_results && first.time_min_s < beats * entry->result[0].time_min_s; r++) {
            if (strcmp(entry->result[r].configuration, first.configuration) == 0) {
                memmove(&entry->result[1], &entry->result[0], (size_t)r * sizeof entry->result[0]);
                entry->result[0] = first;
            }
        }
        gv_prefer_default(run, entry);
    }
    return entry->n_results > 0;
}

/* The default, if the question does not keep it; returns how many points that is. */
static int missing_default(gv_run *run, const gv_winners *found, const void *unused, int k,
                           gv_point point[GV_POINTS_MOST])
{
    const gv_profile_entry *entry = &found->w[k].entry;
    gv_config config;

    (void)unused;
    run->task = found->w[k].task;
    for (int r = 0; r < entry->n_results; r++)
        if (gv_run_is_default(run, entry, entry->result[r].configuration))
            return 0;
    run->space->built_in(&config, &run->task.variant, &run->device.limits, entry->sinks, entry->sources);
    return gv_run_point(run, &config, &point[0]);
}

/* A version with other defaults leaves questions that never met theirs, and calls around them guess how far ahead of it
 * others are.  It meets their winners before all else: one candidate a question.  Those of another kernel text, whose
 * times are no comparison, come after they have been measured again. */
static void add_defaults(gv_run *run, gv_winners *found, double end)
{
    gv_point point[GV_POINTS_MOST];

    for (int k = 0; k < found->n && run->status == GRAVEL_OK && !run->interrupted; k++) {
        gv_winner *w = &found->w[k];

        if (!is_current(run, &w->entry) || run->spent_s + gv_cross_cost(run, w->time_s) > end ||
            missing_default(run, found, NULL, k, point) == 0)
            continue;
        run->best_s = w->time_s;
        run->wall = gv_now();
        gv_run_build_from(run, "cross", found, missing_default, NULL, k, found->n, end);
        if (gv_question_cross(run, 0, point, 1, &w->entry))
            gv_tune_save(run, &w->entry);
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

static void plan_add(const gv_winners *found, gv_plan *asked, const gv_plan_question *question)
{
    const gv_profile_entry sizes = {.sinks = question->sinks, .sources = question->sources};

    for (int k = 0; k < asked->n; k++)
        if (asked->q[k].sinks == sizes.sinks && asked->q[k].sources == sizes.sources)
            return;
    if (at_sizes(found, &sizes) == found->n && asked->n < GV_TUNE_SIZES * GV_TUNE_SIZES)
        asked->q[asked->n++] = *question;
}

/* New questions: sizes that are named and not known, else those that devices that are alike have answered. */
static void plan_new(const gv_run *run, const gv_winners *found, gv_plan *asked)
{
    gv_profile_device device;

    asked->n = 0;
    if (names_questions(run->options)) {
        gv_plan named;

        gv_plan_make(run->options, &run->device.limits, &run->task.variant, &named);
        for (int k = 0; k < named.n; k++)
            plan_add(found, asked, &named.q[k]);
        return;
    }
    gv_profile_device_of(&run->device.limits.info, &device);
    for (int b = 0; b < run->known.n_blocks; b++) {
        const gv_profile_block *block = &run->known.block[b];

        for (int e = 0; gv_profile_alike(&block->device, &device) && e < block->n_entries; e++) {
            const gv_profile_entry *entry = &block->entry[e];

            if (is_asked(run, entry, entry->driver))
                plan_add(found, asked, &(gv_plan_question){entry->sinks, entry->sources, 0});
        }
    }
}

/* What is kept around new questions is measured there. */
static void ask_new(gv_run *run, gv_winners *found, double end)
{
    gv_plan asked;

    plan_new(run, found, &asked);
    for (int k = 0; k < asked.n && run->status == GRAVEL_OK && !run->interrupted; k++) {
        run->task_index++;
        gv_question_between(run, found, &asked, k, end);
    }
}

int gv_cross_planned(gv_run *run)
{
    const gv_tune_options *options = run->options;
    gv_winners *found = calloc(1, sizeof *found);
    gv_plan asked;
    int n = 0; /* known or new */

    if (names_questions(options)) {
        gv_plan_make(options, &run->device.limits, &run->task.variant, &asked);
        n = asked.n;
    } else if (found != NULL && gv_domain_of_space(&run->domain, run->space, &run->task.variant, &run->device.limits,
                                                   options->limit, options->unlikely) == GRAVEL_OK) {
        collect_known(run, found);
        plan_new(run, found, &asked);
        n = found->n + asked.n;
        gv_domain_free(&run->domain);
    }
    free(found);
    return n;
}

int gv_cross_known(gv_run *run, gv_winners *found, double end, double new_end)
{
    collect_known(run, found);
    add_defaults(run, found, end);
    /* times of another kernel text or launch plan are no comparison for what is measured now */
    for (int k = 0; k < found->n && run->status == GRAVEL_OK && !run->interrupted; k++) {
        gv_winner *w = &found->w[k];

        run->task = w->task;
        run->best_s = w->time_s;
        if (is_current(run, &w->entry)) {
            if (run->spent_s + 5 * gv_run_cost(run) > end) {
                gv_run_remark(run, GV_REMARK_STAYS, 0);
                continue;
            }
            if (still_holds(run, found, k, end))
                continue;
            w->entry.kernel_version[0] = '\0'; /* of no text that is known */
        }
        const int is_late = run->spent_s + 5 * w->entry.n_results * gv_run_cost(run) > end;
        if (is_late)
            gv_run_remark(run, GV_REMARK_STAYS, 0);
        if (is_late || !measure_again(run, found, k, end)) {
            *w = found->w[--found->n];
            k--;
            continue;
        }
        w->time_s = w->entry.result[0].time_s;
        gv_tune_save(run, &w->entry);
    }
    add_defaults(run, found, end);
    const int known = found->n;
    run->task_index += known;
    ask_new(run, found, new_end);
    return known;
}
