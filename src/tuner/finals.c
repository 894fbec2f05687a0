/* Finals: the fastest of a search are timed against the built-in default round by round; the winner leads the entry of
 * a profile. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/run.h"

/* The fastest of the search, and the built-in default in any case: what is chosen must beat it. */
int gv_finals_pick(const gv_search *search, const gv_run *run, gv_finalist *list, int most, double within)
{
    const gv_domain *domain = search->domain;
    const gv_outcome *seen = run->seen;
    int n = 0, has_built_in = run->has_built_in && search->n_starts > 0;

    memset(list, 0, sizeof *list * (size_t)most);
    for (size_t k = 0; k < search->n_known; k++) {
        const gv_point *point = &domain->point[search->known[k]];
        int at = n, there = has_built_in && gv_run_same(run, point, &search->start[0]);

        if (!isfinite(search->score[k]) || there || search->score[k] > within * search->score[search->best])
            continue;
        for (int j = 0; j < n && !there; j++) {
            there = gv_run_same(run, point, &list[j].point);
            if (there && gv_point_complexity(domain, point) < list[j].complexity) {
                list[j].point = *point;
                list[j].complexity = gv_point_complexity(domain, point);
            }
        }
        if (there)
            continue;
        while (at > 0 && list[at - 1].search_s > search->score[k])
            at--;
        if (at == most - 1)
            continue;
        n = n < most - 1 ? n + 1 : n;
        memmove(&list[at + 1], &list[at], sizeof *list * (size_t)(n - 1 - at));
        list[at].point = *point;
        list[at].search_s = search->score[k];
        list[at].outcome = seen[k];
        list[at].complexity = gv_point_complexity(domain, point);
    }
    if (has_built_in) {
        long at = gv_domain_find(domain, &search->start[0]);
        uint32_t place = at >= 0 ? search->known_at[at] : 0;

        if (place > 0 && isfinite(search->score[place - 1])) {
            memset(&list[n], 0, sizeof list[n]);
            list[n].point = search->start[0];
            list[n].search_s = search->score[place - 1];
            list[n].outcome = seen[place - 1];
            list[n++].complexity = -1; /* needs no profile at all */
        }
    }
    return n;
}

static int ascending(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double middle(const double *value, int n)
{
    double sorted[GV_FINALS_ROUNDS];

    memcpy(sorted, value, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    return 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]);
}

/* Where one run takes seconds its noise is small and the time is not there. */
static int rounds_of(const gv_run *run)
{
    if (gv_run_cost(run) > 0.5)
        return 1;
    if (gv_run_cost(run) > 0.05 && run->options->quick)
        return 2;
    return run->best_s > GV_SHORT_RUN_S || !gv_tune_subject(run->options)->keeps ? 3 : GV_FINALS_ROUNDS;
}

void gv_finals_hold(gv_run *run, gv_finalist *list, int n)
{
    const int rounds = rounds_of(run);
    const double least_s = (run->options->quick ? 0.024 : 0.09) / fmax(rounds, 3);
    const gv_effort effort =
        run->options->quick ? (gv_effort){5, 32, least_s, 0.3, 1e30} : (gv_effort){9, 64, least_s, 1.0, 1e30};

    for (int k = 0; k < n; k++)
        list[k].alive = 1;
    /* round by round, so that a disturbance of the machine affects all of them */
    for (int r = 0; r < rounds; r++) {
        for (int k = 0; k < n; k++) {
            gv_outcome outcome;

            if (!list[k].alive || (r > 0 && k > 0 && list[k].round[0] > 1.1 * run->best_s && list[k].complexity >= 0))
                continue;
            if (!gv_run_evaluate(run, "final", r + 1, &list[k].point, &effort, &outcome))
                return;
            list[k].alive = outcome.status == GV_OUTCOME_OK;
            list[k].outcome = outcome;
            list[k].round[r] = gv_outcome_score(&outcome);
            list[k].typical[r] = outcome.time_s;
            list[k].median = middle(list[k].round, r + 1);
            list[k].time_s = middle(list[k].typical, r + 1);
        }
    }
}

/* Nothing tells how much a single sample is off. */
#define SCATTER_OF_ONE 0.05

/* Between the rounds' minima; where no finals were held, between the samples.  0.05 = 5 %. */
double gv_finals_scatter(const gv_finalist *f)
{
    double least = 0, most = 0;

    for (int r = 0; r < GV_FINALS_ROUNDS; r++) {
        if (f->round[r] > 0) {
            least = least > 0 ? fmin(least, f->round[r]) : f->round[r];
            most = fmax(most, f->round[r]);
        }
    }
    if (least > 0)
        return most / least - 1;
    return f->outcome.samples == 1 ? SCATTER_OF_ONE : fmin(f->outcome.spread, GV_FINALS_NOISE);
}

/* 1 if `f` is faster than the default in turns, by `least` in all but one of nine: what else runs on the
 * machine may change from one turn to the next by far more. */
static int wins_in_turns(const gv_finalist *f, const gv_finalist *built_in, double least)
{
    double ratio[GV_FINALS_ROUNDS];
    int n = 0;

    for (int r = 0; r < GV_FINALS_ROUNDS; r++)
        if (f->round[r] > 0 && built_in->round[r] > 0)
            ratio[n++] = built_in->round[r] / f->round[r];
    if (n < 3)
        return 0;
    qsort(ratio, (size_t)n, sizeof *ratio, ascending);
    return ratio[n / GV_FINALS_ROUNDS] > 1 + least;
}

/* 1 if `f` is not faster than the default by more than `least` and what both scatter, nor in turns. */
static int is_default_as_good(const gv_finalist *f, const gv_finalist *built_in, double least)
{
    const double margin = fmax(least, fmax(gv_finals_scatter(f), gv_finals_scatter(built_in)));

    return built_in->median <= (1 + margin) * f->median && !wins_in_turns(f, built_in, least);
}

/* Of those within a hair of the fastest the simplest; the default unless that beats it beyond the scatter. */
int gv_finals_choose(const gv_finalist *list, int n, double least_gain)
{
    int best = -1, chosen = -1;

    for (int k = 0; k < n; k++)
        if (list[k].alive && list[k].median > 0 && (best < 0 || list[k].median < list[best].median))
            best = k;
    for (int k = 0; k < n && best >= 0; k++)
        if (list[k].alive && list[k].median > 0 && list[k].median <= (1 + GV_NEAR_EQUAL) * list[best].median &&
            (chosen < 0 || list[k].complexity < list[chosen].complexity))
            chosen = k;
    for (int k = 0; k < n && chosen >= 0; k++)
        if (list[k].alive && list[k].median > 0 && list[k].complexity < 0 &&
            is_default_as_good(&list[chosen], &list[k], least_gain))
            chosen = k;
    return chosen;
}

void gv_finals_put(const gv_run *run, const gv_finalist *f, gv_profile_result *result)
{
    memset(result, 0, sizeof *result);
    gv_run_point_text(run, &f->point, result->configuration);
    result->time_s = f->time_s;
    result->time_min_s = fmin(f->median, f->time_s);
    result->spread = f->outcome.spread;
    result->call_s = f->outcome.call_s;
    result->error = f->outcome.error;
}

void gv_finals_entry(const gv_run *run, const gv_finalist *list, int n, int chosen, gv_profile_entry *entry)
{
    const gv_tune_options *options = run->options;

    memset(entry, 0, sizeof *entry);
    snprintf(entry->kernel, sizeof entry->kernel, "%s", run->space->kernel);
    snprintf(entry->kernel_version, sizeof entry->kernel_version, "%s", run->device.kernel_version);
    snprintf(entry->variant, sizeof entry->variant, "%s", run->task.variant.name);
    entry->features = run->task.variant.features;
    gv_name_clean(run->device.limits.info.driver, entry->driver);
    entry->sinks = run->task.sinks;
    entry->sources = run->task.sources;
    entry->sink_bucket = gv_sink_bucket(entry->sinks);
    entry->source_bucket = gv_source_bucket(entry->sources);
    gv_date(entry->date);
    snprintf(entry->gravel, sizeof entry->gravel, "%s", GRAVEL_VERSION);
    snprintf(entry->strategy, sizeof entry->strategy, "%s", options->strategy->name);
    entry->evaluations = run->evaluations;
    entry->failures = run->evaluations - run->failures[GV_OUTCOME_OK];
    gv_finals_put(run, &list[chosen], &entry->result[entry->n_results++]);
    for (;;) {
        int next = -1;

        for (int k = 0; k < n; k++) {
            char text[GV_PROFILE_TEXT];
            int there = 0;

            gv_run_point_text(run, &list[k].point, text);
            for (int r = 0; r < entry->n_results; r++)
                there |= strcmp(entry->result[r].configuration, text) == 0;
            if (!there && list[k].alive && list[k].median > 0 && (next < 0 || list[k].median < list[next].median))
                next = k;
        }
        if (next < 0 || entry->n_results == GV_PROFILE_RESULTS)
            return;
        gv_finals_put(run, &list[next], &entry->result[entry->n_results++]);
    }
}
