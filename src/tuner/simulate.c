#include "tuner/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const int gv_simulate_mark[GV_SIMULATE_MARKS] = {30, 50};
static const double part[2] = {0.5, 0.1};
static const double reach[GV_SIMULATE_REACHES] = {0.98, 0.99}; /* of the best speed */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The place in n sorted seeds of the part `p` of them, `deviations` of its scatter away. */
static size_t rank(int n, double p, int deviations)
{
    const double at = floor(p * (n - 1)) + deviations * round(sqrt(n * p * (1 - p)));

    return (size_t)fmin(fmax(at, 0), n - 1);
}

/* Quality after 1 ... budget evaluations of one seeded search. */
static gravel_status one_search(const gv_recording *recording, const gv_strategy *strategy, uint64_t seed,
                                size_t budget, double *quality)
{
    gv_search search;
    double best = INFINITY;
    gravel_status status =
        gv_search_init(&search, &recording->domain, gv_recording_objective, (void *)(uintptr_t)recording, seed, budget);

    if (status != GRAVEL_OK)
        return status;
    if (recording->has_built_in)
        gv_search_add_start(&search, &recording->built_in);
    strategy->run(&search);
    for (size_t k = 0; k < budget; k++) {
        best = k < search.n_known ? fmin(best, search.score[k]) : best;
        quality[k] = isfinite(best) ? recording->best / best : 0;
    }
    gv_search_free(&search);
    return GRAVEL_OK;
}

gravel_status gv_simulate(const gv_recording *recording, const gv_strategy *strategy, int seeds, gv_simulated *result)
{
    const size_t points = recording->domain.n_points,
                 budget = points < GV_SIMULATE_BUDGET ? points : GV_SIMULATE_BUDGET;
    double *quality = malloc((size_t)seeds * budget * sizeof *quality);
    double *column = malloc((size_t)seeds * sizeof *column);
    gravel_status status = GRAVEL_OK;

    memset(result, 0, sizeof *result);
    result->strategy = strategy;
    result->seeds = seeds;
    result->steps = budget;
    if (!quality || !column)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for %d searches", seeds);
    for (int s = 0; s < seeds && status == GRAVEL_OK; s++)
        status = one_search(recording, strategy, (uint64_t)s + 1, budget, quality + (size_t)s * budget);
    for (size_t k = 0; k < budget && status == GRAVEL_OK; k++) {
        for (int s = 0; s < seeds; s++)
            column[s] = quality[(size_t)s * budget + k];
        qsort(column, (size_t)seeds, sizeof *column, ascending);
        for (int q = 0; q < 2; q++) {
            result->low[q][k] = column[rank(seeds, part[q], -1)];
            result->high[q][k] = column[rank(seeds, part[q], 1)];
        }
        result->median[k] = column[rank(seeds, part[0], 0)];
        result->tenth[k] = column[rank(seeds, part[1], 0)];
        for (int r = 0; r < GV_SIMULATE_REACHES; r++)
            if (result->needed[r] == 0 && result->median[k] >= reach[r])
                result->needed[r] = k + 1;
    }
    free(quality);
    free(column);
    return status;
}

static size_t place(const gv_simulated *result, int evaluations)
{
    return (size_t)evaluations < result->steps ? (size_t)evaluations - 1 : result->steps - 1;
}

double gv_simulated_median(const gv_simulated *result, int evaluations)
{
    return result->median[place(result, evaluations)];
}

double gv_simulated_tenth(const gv_simulated *result, int evaluations)
{
    return result->tenth[place(result, evaluations)];
}

double gv_simulated_behind(const gv_simulated *result, const gv_simulated *other, double most)
{
    double behind = 0;

    for (int m = 0; m < GV_SIMULATE_MARKS; m++) {
        const size_t at = place(result, gv_simulate_mark[m]), there = place(other, gv_simulate_mark[m]);

        const double quality = fmax(other->median[there] - result->median[at], other->tenth[there] - result->tenth[at]);

        for (int q = 0; q < 2; q++)
            behind = fmax(behind, other->low[q][there] - result->high[q][at]);
        behind = quality > most ? fmax(behind, quality) : behind;
    }
    return behind;
}
