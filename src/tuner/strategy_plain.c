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

void gv_strategy_random(gv_search *search)
{
    const gv_point *point;
    double score;

    while ((point = gv_search_any_unknown(search)) != NULL && gv_search_try(search, point, 1, &score)) {
    }
}
