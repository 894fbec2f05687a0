#include "tuner/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double quantile(double *value, int n, double q) {
    qsort(value, (size_t)n, sizeof *value, ascending);
    return value[(int)(q * (n - 1) + 0.5)];
}

/* Quality after 1 ... budget evaluations of one seeded search. */
static gravel_status one_search(const gv_recording *recording, const gv_strategy *strategy, uint64_t seed,
                                size_t budget, double *quality)
{
    gv_search search;
    double best = INFINITY;
    gravel_status status = gv_search_init(&search, &recording->domain, gv_recording_objective,
                                          (void *)(uintptr_t)recording, seed, budget);

    if (status != GRAVEL_OK) {
        return status;
    }
    if (recording->has_built_in) {
        gv_search_add_start(&search, &recording->built_in);
    }
    strategy->run(&search);
    for (size_t k = 0; k < budget; k++) {
        best = k < search.n_known ? fmin(best, search.score[k]) : best;
        quality[k] = isfinite(best) ? recording->best / best : 0;
    }
    gv_search_free(&search);
    return GRAVEL_OK;
}

gravel_status gv_simulate(const gv_recording *recording, const gv_strategy *strategy, int seeds, gv_simulated *result) {
    size_t points = recording->domain.n_points;
    /* what is searched for is told to the strategy: it plans with its budget */
    size_t budget = (size_t)ceil(2 * GV_SIMULATE_PART * (double)points), at;
    double *quality = malloc((size_t)seeds * budget * sizeof *quality),
           *column = malloc((size_t)seeds * sizeof *column);
    gravel_status status = GRAVEL_OK;

    memset(result, 0, sizeof *result);
    result->strategy = strategy;
    result->seeds = seeds;
    if (quality == NULL || column == NULL) {
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for %d searches", seeds);
        goto out;
    }
    for (int s = 0; s < seeds && status == GRAVEL_OK; s++) {
        status = one_search(recording, strategy, (uint64_t)s + 1, budget, quality + (size_t)s * budget);
    }
    if (status != GRAVEL_OK) {
        goto out;
    }
    result->steps = budget < GV_SIMULATE_STEPS ? budget : GV_SIMULATE_STEPS;
    for (size_t k = 0; k < result->steps; k++) {
        at = (k + 1) * budget / result->steps - 1;
        for (int s = 0; s < seeds; s++) {
            column[s] = quality[(size_t)s * budget + at];
        }
        result->median[k] = quantile(column, seeds, 0.5);
        result->low[k] = quantile(column, seeds, 0.25);
        result->high[k] = quantile(column, seeds, 0.75);
    }
    at = (size_t)(GV_SIMULATE_PART * (double)points);
    at = at > 0 ? at - 1 : 0;
    for (int s = 0; s < seeds; s++) {
        column[s] = quality[(size_t)s * budget + at];
    }
    result->at_part = quantile(column, seeds, 0.5);
    for (int s = 0; s < seeds; s++) {
        size_t k = 0;

        while (k < budget && quality[(size_t)s * budget + k] < GV_SIMULATE_REACH) {
            k++;
        }
        column[s] = k < budget ? (double)k + 1 : INFINITY;
    }
    at = (size_t)(seeds / 2);
    qsort(column, (size_t)seeds, sizeof *column, ascending);
    result->needed = isfinite(column[at]) ? (size_t)column[at] : 0;
out:
    free(quality);
    free(column);
    return status;
}
