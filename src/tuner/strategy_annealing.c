/* Simulated annealing on log(time): neighbours differ in one tunable by one step (mostly) or by any.  The temperature
 * falls from 0.5 (a factor 1.6 in time is accepted often) to 0.01 over the budget; when the walk is stuck it goes back
 * to the best point. */
#include <math.h>

#include "tuner/search.h"

static void neighbour(gv_search *search, const gv_point *from, gv_point *to)
{
    const gv_domain *domain = search->domain;

    for (int attempt = 0; attempt < 200; attempt++) {
        int d = (int)gv_search_below(search, (size_t)domain->n), n = domain->n_values[d];

        *to = *from;
        if (n < 2)
            continue;
        if (gv_search_below(search, 4) == 0) {
            to->at[d] = (unsigned char)gv_search_below(search, (size_t)n);
        } else {
            int v = from->at[d] + (gv_search_below(search, 2) != 0 ? 1 : -1);

            to->at[d] = (unsigned char)(v < 0 ? 1 : v >= n ? n - 2 : v);
        }
        if (to->at[d] != from->at[d] && gv_domain_find(domain, to) >= 0)
            return;
    }
    *to = *gv_search_any(search);
}

void gv_strategy_annealing(gv_search *search)
{
    gv_point at;
    double score;
    int stale = 0, repeats = 0;

    if (!gv_search_begin(search))
        return;
    at = search->domain->point[search->known[search->best]];
    score = search->score[search->best];
    for (;;) {
        double progress = (double)(search->n_known - search->n_free) / (double)search->budget;
        double temperature = 0.5 * pow(0.02, progress), got;
        size_t before = search->n_known;
        gv_point to;

        neighbour(search, &at, &to);
        if (!gv_search_try(search, &to, 1, &got))
            return;
        if (got <= score || (isfinite(got) && gv_search_uniform(search) < exp(-log(got / score) / temperature))) {
            stale = got < score ? 0 : stale + 1;
            at = to;
            score = got;
        } else {
            stale++;
        }
        repeats = search->n_known == before ? repeats + 1 : 0;
        if (stale > 30 || repeats > 30) {
            const gv_point *other = repeats > 30 ? gv_search_any_unknown(search) : NULL;

            at = other != NULL ? *other : search->domain->point[search->known[search->best]];
            if (!gv_search_try(search, &at, 1, &score))
                return;
            stale = repeats = 0;
        }
    }
}
