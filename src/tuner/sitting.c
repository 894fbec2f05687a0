/* A second sitting of a variant's winners.  On a host that others use what else runs slows some configurations more
 * than others, for minutes, so that a question's turns agree on a gain that is gone an hour later; and the winner of many
 * candidates is the one that had most of that luck.  Minutes later it meets the default once more. */
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

/* The time of a over that of b, a median over turns; 0: one of them fails, or the run has to stop. */
static double meet(gv_run *run, const gv_point *a, const gv_point *b)
{
    const gv_effort effort = {3, 16, run->options->quick ? 0.002 : 0.008, 0.3, 1e30};
    double ratio[TURNS];

    for (int t = 0; t < TURNS; t++) {
        gv_outcome of[2];

        if (!gv_run_evaluate(run, "sitting", t + 1, a, &effort, &of[0]) ||
            !gv_run_evaluate(run, "sitting", t + 1, b, &effort, &of[1]) || of[0].status != GV_OUTCOME_OK ||
            of[1].status != GV_OUTCOME_OK)
            return 0;
        ratio[t] = gv_outcome_score(&of[0]) / gv_outcome_score(&of[1]);
    }
    qsort(ratio, TURNS, sizeof *ratio, ascending);
    return ratio[TURNS / 2];
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

/* What leads after the first one's time has changed: the fastest by BEATS, the default unless that is beaten. */
static void choose(const gv_run *run, gv_profile_entry *entry)
{
    int best = 0, d;

    for (int r = 1; r < entry->n_results; r++)
        if (entry->result[r].time_min_s * BEATS < entry->result[0].time_min_s &&
            entry->result[r].time_min_s < entry->result[best].time_min_s)
            best = r;
    lead(entry, best);
    d = default_of(run, entry);
    if (d < entry->n_results &&
        entry->result[d].time_min_s < (1 + gv_tune_subject(run->options)->least_gain) * entry->result[0].time_min_s)
        lead(entry, d);
}

/* Until one leads that sat, or the default: those behind a winner may have had the same luck.  1 if the entry has
 * changed. */
static int sit(gv_run *run, gv_profile_entry *entry)
{
    char sat[GV_PROFILE_RESULTS][GV_PROFILE_TEXT];
    int n = 0;

    for (; n < GV_PROFILE_RESULTS; n++) {
        gv_profile_result *first = &entry->result[0];
        const int d = default_of(run, entry);
        gv_point winner, built_in;
        double over;

        for (int k = 0; k < n; k++)
            if (strcmp(sat[k], first->configuration) == 0)
                return 1;
        if (d == 0 || d == entry->n_results || !point_of(run, entry, 0, &winner) ||
            !point_of(run, entry, d, &built_in) || (over = meet(run, &winner, &built_in)) == 0)
            return n > 0;
        /* the mean of both sittings; it is the winner that was chosen for being fast */
        over = sqrt(over * entry->result[d].time_min_s / first->time_min_s);
        first->time_s *= over;
        first->time_min_s *= over;
        memcpy(sat[n], first->configuration, sizeof sat[n]);
        choose(run, entry);
    }
    return n > 0;
}

void gv_sit_again(gv_run *run, gv_winners *found, double end)
{
    for (int k = 0; k < found->n && run->status == GRAVEL_OK && !run->interrupted; k++) {
        gv_winner *w = &found->w[k];

        if (run->spent_s + gv_cross_cost(run, w->time_s) > end)
            continue;
        run->task = w->task;
        run->best_s = w->time_s;
        run->wall = gv_now();
        if (sit(run, &w->entry))
            gv_tune_save(run, &w->entry);
    }
}
