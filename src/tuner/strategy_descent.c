/* Coordinate descent: all values of one tunable, the best is kept, then the next tunable in random order, until a whole
 * round improves nothing.  Then the same from another point: half of the times a random one, else the best with some
 * tunables changed. */
#include <math.h>

#include "tuner/search.h"

/* 1 if a better value of the tunable was found, 0 if not, -1 when the search is over. */
static int improve(gv_search *search, int d, gv_point *at, double *score)
{
    gv_point line[GV_MAX_VALUES];
    double got[GV_MAX_VALUES];
    int n = search->domain->n_values[d], better = 0, goes_on;

    for (int v = 0; v < n; v++) {
        line[v] = *at;
        line[v].at[d] = (unsigned char)v;
    }
    goes_on = gv_search_try(search, line, n, got);
    for (int v = 0; v < n; v++) {
        if (got[v] < *score) {
            *score = got[v];
            *at = line[v];
            better = 1;
        }
    }
    return goes_on ? better : -1;
}

static int descend(gv_search *search, gv_point *at, double *score)
{
    int order[GV_MAX_TUNABLES], n = search->domain->n, since = 0;

    gv_search_shuffle(search, order, n);
    for (int k = 0; since < n; k = (k + 1) % n) {
        int better = search->domain->n_values[order[k]] > 1 ? improve(search, order[k], at, score) : 0;

        if (better < 0)
            return 0;
        since = better ? 1 : since + 1;
    }
    return 1;
}

/* The best point with two or three tunables drawn anew. */
static void kick(gv_search *search, gv_point *at)
{
    const gv_domain *domain = search->domain;

    for (int attempt = 0; attempt < 100; attempt++) {
        gv_point moved = domain->point[search->known[search->best]];

        for (int changes = 2 + (int)gv_search_below(search, 2); changes > 0; changes--) {
            int d = (int)gv_search_below(search, (size_t)domain->n);

            moved.at[d] = (unsigned char)gv_search_below(search, (size_t)domain->n_values[d]);
        }
        if (gv_domain_find(domain, &moved) >= 0) {
            *at = moved;
            return;
        }
    }
    *at = *gv_search_any(search);
}

void gv_strategy_descent(gv_search *search)
{
    int round = 0;

    if (!gv_search_begin(search))
        return;
    for (;;) {
        gv_point at = search->domain->point[search->known[search->best]];
        double score = search->score[search->best];
        size_t before = search->n_known;

        if (round > 0) {
            if (round % 2 == 0)
                at = *gv_search_any(search);
            else
                kick(search, &at);
            if (!gv_search_try(search, &at, 1, &score))
                return;
        }
        if (!descend(search, &at, &score))
            return;
        /* in a small space descents soon reach known points only */
        if (round > 0 && search->n_known == before) {
            const gv_point *other = gv_search_any_unknown(search);

            if (other == NULL || !gv_search_try(search, other, 1, &score))
                return;
        }
        round++;
    }
}
