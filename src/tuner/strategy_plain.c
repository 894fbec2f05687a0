/* Strategies that do not learn. */
#include "tuner/search.h"

enum { BATCH = 32 };

void gv_strategy_exhaustive(gv_search *search)
{
    double score[BATCH];

    for (size_t first = 0; first < search->domain->n_points; first += BATCH) {
        size_t n = search->domain->n_points - first;

        if (!gv_search_try(search, &search->domain->point[first], n < BATCH ? (int)n : BATCH, score))
            return;
    }
}

/* In batches, so that the programs of one are built side by side (one drawn twice in a batch is measured once). */
void gv_strategy_random(gv_search *search)
{
    gv_point draw[BATCH];
    double score[BATCH];
    const gv_point *point;
    int n;

    do {
        for (n = 0; n < BATCH && (point = gv_search_any_unknown(search)) != NULL; n++)
            draw[n] = *point;
    } while (n > 0 && gv_search_try(search, draw, n, score));
}
