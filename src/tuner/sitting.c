/* A second sitting of a variant's answers.  On a host that others use what else runs slows some configurations more
 * than others, for minutes, so that a question's turns agree on a gain that is gone an hour later; and the winner of
 * many candidates is the one that had most of that luck.  Minutes later all that seem faster meet the default again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "tuner/run.h"

enum { TURNS = 3 };

/* Another one of an answer takes its winner's place if it is by so much faster. */
#define BEATS 1.02

static int ascending(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static int point_of(gv_run *run, const gv_profile_entry *entry, int r, gv_point *point)
{
    gv_config config;

    run->space->built_in(&config, &run->task.variant, &run->device.limits, entry->sinks, entry->sources);
    return gv_space_parse(run->space, entry->result[r].configuration, &config) == GRAVEL_OK &&
           gv_run_point(run, &config, point);
}

/* Moves result r to the front. */
static void lead(gv_profile_entry *entry, int r)
{
    const gv_profile_result first = entry->result[r];

    memmove(&entry->result[1], &entry->result[0], (size_t)r * sizeof first);
    entry->result[0] = first;
}

static int default_of(const gv_run *run, const gv_profile_entry *entry)
{
    int d = 0;

    while (d < entry->n_results && !gv_run_is_default(run, entry, entry->result[d].configuration))
        d++;
    return d;
}

void gv_prefer_default(const gv_run *run, gv_profile_entry *entry)
{
    const int d = default_of(run, entry);

    if (d < entry->n_results &&
        entry->result[d].time_min_s < (1 + gv_tune_subject(run->options)->least_gain) * entry->result[0].time_min_s)
        lead(entry, d);
}

/* What leads after times have changed: the first one unless another is faster by BEATS, the default unless that is
 * beaten; the others behind it by time.  A default that led does so on: the finals may have found its times alone to
 * scatter. */
static void choose(const gv_run *run, gv_profile_entry *entry)
{
    int best = 0;

    for (int r = 1; r < entry->n_results && default_of(run, entry) > 0; r++)
        if (entry->result[r].time_min_s * BEATS < entry->result[0].time_min_s &&
            entry->result[r].time_min_s < entry->result[best].time_min_s)
            best = r;
    lead(entry, best);
    gv_prefer_default(run, entry);
    if (entry->n_results > 2)
        qsort(&entry->result[1], (size_t)entry->n_results - 1, sizeof entry->result[0], gv_result_by_time);
}

/* Times over that of the default, point 0, medians over turns; every other turn goes backwards, so that nobody always
 * comes first.  0 where one fails.  Returns 0 if the run has to stop or the default fails. */
static int meet(gv_run *run, const gv_point *point, int n, double over[])
{
    const gv_effort effort = {3, 16, run->options->quick ? 0.002 : 0.008, 0.3, 1e30};
    double ratio[GV_PROFILE_RESULTS][TURNS] = {{0}};
    int fails[GV_PROFILE_RESULTS] = {0};

    for (int t = 0; t < TURNS && !fails[0]; t++) {
        double time_s[GV_PROFILE_RESULTS];

        for (int i = 0; i < n; i++) {
            const int k = t % 2 ? n - 1 - i : i;
            gv_outcome outcome;

            if (fails[k])
                continue;
            if (!gv_run_evaluate(run, "sitting", t + 1, &point[k], &effort, &outcome))
                return 0;
            fails[k] = outcome.status != GV_OUTCOME_OK;
            time_s[k] = gv_outcome_score(&outcome);
        }
        for (int k = 0; k < n; k++)
            ratio[k][t] = fails[k] || fails[0] ? 0 : time_s[k] / time_s[0];
    }
    for (int k = 0; k < n; k++) {
        qsort(ratio[k], TURNS, sizeof **ratio, ascending);
        over[k] = fails[k] ? 0 : ratio[k][TURNS / 2];
    }
    return !fails[0];
}

/* All that seem faster than the default meet it: a choice between questions may be for any of them.  What fails now
 * counts as no faster.  1 if the entry has changed. */
static int time_again(gv_run *run, gv_profile_entry *entry, double end)
{
    const int d = default_of(run, entry);
    gv_point point[GV_PROFILE_RESULTS];
    double over[GV_PROFILE_RESULTS];
    int which[GV_PROFILE_RESULTS], n = 1;

    if (d == entry->n_results || !point_of(run, entry, d, &point[0]))
        return 0;
    for (int r = 0; r < entry->n_results; r++)
        if (r != d && entry->result[r].time_min_s < entry->result[d].time_min_s && point_of(run, entry, r, &point[n]))
            which[n++] = r;
    /* a run that warms up and three that count */
    if (n == 1 || run->spent_s + 4 * TURNS * n * gv_run_cost(run) > end || !meet(run, point, n, over))
        return 0;
    for (int k = 1; k < n; k++) {
        gv_profile_result *result = &entry->result[which[k]];
        const gv_profile_result *built_in = &entry->result[d];
        /* the mean of both sittings; it is the others that are there for having been fast */
        const double factor = over[k] > 0 ? sqrt(over[k] * built_in->time_min_s / result->time_min_s) : 0;

        result->time_s = factor > 0 ? result->time_s * factor : built_in->time_s;
        result->time_min_s = factor > 0 ? result->time_min_s * factor : built_in->time_min_s;
        result->call_s = factor > 0 ? result->call_s * factor : built_in->call_s;
    }
    choose(run, entry);
    gv_date(entry->date);
    return 1;
}

void gv_second_sitting(gv_run *run, gv_winners *found, double end)
{
    for (int k = 0; k < found->n && run->status == GRAVEL_OK && !run->interrupted; k++) {
        gv_winner *w = &found->w[k];
        char before[GV_PROFILE_TEXT];

        run->task = w->task;
        run->best_s = w->time_s;
        run->wall = gv_now();
        memcpy(before, w->entry.result[0].configuration, sizeof before);
        if (!time_again(run, &w->entry, end))
            continue;
        gv_tune_save(run, &w->entry);
        if (strcmp(before, w->entry.result[0].configuration) != 0)
            gv_run_remark(run, GV_REMARK_CHANGED, 0);
    }
}
