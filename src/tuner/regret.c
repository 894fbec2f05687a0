#include "tuner/regret.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Slower than the best by more: not timed to the end. */
#define HOPELESS 1.5

/* Times in turn, and how many besides the choice and the default have them. */
enum { TURNS = 3, OTHERS = 4 };

typedef struct candidate {
    const char *configuration;
    double distance; /* of the question that kept it from the point */
    double first_s;  /* before the turns */
    double time_s;   /* the least that counts; INFINITY: none */
} candidate;

static double distance(const gv_profile_entry *entry, const gv_task *task)
{
    return fabs(log2((double)entry->sinks / (double)task->sinks)) +
           fabs(log2((double)entry->sources / (double)task->sources)) +
           0.5 * (entry->features != task->variant.features);
}

static int add(candidate *list, int n, const char *configuration, double away)
{
    for (int k = 0; k < n; k++) {
        if (strcmp(list[k].configuration, configuration) == 0) {
            list[k].distance = fmin(list[k].distance, away);
            return n;
        }
    }
    if (n < GV_REGRET_CANDIDATES)
        list[n++] = (candidate){configuration, away, INFINITY, INFINITY};
    return n;
}

/* All that this device's questions about the variant keep, whatever their features. */
static int collect(const gv_regret_setting *setting, const gv_profile_set *set, const gv_task *task, candidate *list,
                   int n)
{
    gv_profile_device device;
    const gv_profile_block *block;

    gv_profile_device_of(&setting->limits->info, &device);
    block = set ? gv_profile_set_find(set, &device) : NULL;
    for (int e = 0; block && e < block->n_entries; e++) {
        const gv_profile_entry *entry = &block->entry[e];

        if (strcmp(entry->kernel, task->kernel) != 0 || strcmp(entry->variant, task->variant.name) != 0)
            continue;
        for (int r = 0; r < entry->n_results; r++) {
            gv_config config;

            setting->space->built_in(&config, &task->variant, setting->limits, task->sinks, task->sources);
            if (gv_space_parse(setting->space, entry->result[r].configuration, &config) == GRAVEL_OK &&
                gv_space_check(setting->space, &config, &task->variant, setting->limits) == NULL)
                n = add(list, n, entry->result[r].configuration, distance(entry, task) + 1e-3 * r);
        }
    }
    return n;
}

static int nearer(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    return (x->distance > y->distance) - (x->distance < y->distance);
}

/* 0: stop. */
static int time_one(const gv_regret_setting *setting, const gv_task *task, int turn, candidate *c, double best)
{
    const double time_s = setting->time(setting->time_user, task, c->configuration, turn, HOPELESS * best);

    if (time_s < 0)
        return 0;
    c->time_s = fmin(c->time_s, time_s);
    return 1;
}

static int faster(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    return (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

/* Candidates 0 and 1 are the choice and the default.  The least of many times is also the one with the luckiest noise,
 * so that it would be a regret of any choice: those two and the fastest others meet again in turns, and only the turns
 * count.  *timed: how many were timed, *finals: how many met, the first of the list. */
static int time_all(const gv_regret_setting *setting, const gv_task *task, candidate *list, int n, int *timed,
                    int *finals)
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
    *finals = n < 2 + OTHERS ? n : 2 + OTHERS;
    while (*finals > 2 && !isfinite(list[*finals - 1].time_s))
        --*finals;
    for (int k = 0; k < *finals; k++) {
        list[k].first_s = list[k].time_s;
        list[k].time_s = INFINITY;
    }
    for (int turn = 1; turn <= TURNS; turn++) {
        for (int k = 0; k < *finals; k++) {
            if (!isfinite(list[k].first_s) || time_one(setting, task, turn, &list[k], INFINITY))
                continue;
            for (int c = 0; c < *finals && turn == 1; c++)
                list[c].time_s = list[c].first_s;
            return 0;
        }
    }
    return 1;
}

/* Times, ratios and failures of those that were timed. */
static void compare(const candidate *list, int timed, int finals, const char *built_in, gv_regret_point *point)
{
    int best = 0;

    for (int k = 0; k < timed; k++) {
        point->failed += !isfinite(list[k].time_s);
        if (strcmp(list[k].configuration, built_in) == 0)
            point->default_s = list[k].time_s;
        if (k < finals && list[k].time_s < list[best].time_s)
            best = k;
    }
    point->candidates = timed;
    point->choice_s = list[0].time_s;
    point->best_s = list[best].time_s;
    snprintf(point->best, sizeof point->best, "%s", list[best].configuration);
}

gravel_status gv_regret_measure(const gv_regret_setting *setting, const gv_task *task, gv_regret_point *point)
{
    const gv_profile_question question = {setting->space,          &task->variant, setting->limits,
                                          setting->kernel_version, task->sinks,    task->sources};
    candidate *list = malloc(GV_REGRET_CANDIDATES * sizeof *list);
    char built_in[GV_PROFILE_TEXT];
    gv_config config;
    int n, timed = 0, finals = 0;

    if (!list)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the candidates of a regret");
    memset(point, 0, sizeof *point);
    point->task = *task;
    point->origin = GRAVEL_ORIGIN_BUILT_IN;
    setting->space->built_in(&config, &task->variant, setting->limits, task->sinks, task->sources);
    gv_space_format(setting->space, &config, built_in, sizeof built_in);
    gv_profile_look_up(setting->user, setting->shipped, &question, &config, &point->origin, NULL);
    gv_space_format(setting->space, &config, point->choice, sizeof point->choice);
    n = add(list, 0, point->choice, -2);
    n = add(list, n, built_in, -1);
    n = collect(setting, setting->user, task, list, n);
    n = collect(setting, setting->shipped, task, list, n);
    qsort(list, (size_t)n, sizeof *list, nearer);
    if (setting->most > 0 && setting->most < n)
        n = setting->most > 2 ? setting->most : 2;
    point->complete = time_all(setting, task, list, n, &timed, &finals);
    if (timed > 0)
        compare(list, timed, finals > 0 ? finals : timed, built_in, point);
    free(list);
    if (timed < (n < 2 ? n : 2))
        return gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
    if (!isfinite(point->choice_s))
        return gv_fail(GRAVEL_ERR_LAUNCH, "%s with %zu sinks and %zu sources: '%s', which programs would get, fails",
                       task->variant.name, task->sinks, task->sources, point->choice);
    return GRAVEL_OK;
}

static int ascending(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
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
        if (!point[k].complete)
            continue;
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
