/* An evolutionary search: each generation mixes two of the better points tunable by tunable and mutates one or two. All
 * points known so far are the population, so that nothing good is lost between generations. */
#include <math.h>
#include <stdlib.h>

#include "tuner/search.h"

enum { GENERATION = 16, PARENTS = 12 };

/* The best points known, sorted by score. */
static int parents(const gv_search *search, gv_point *best)
{
    size_t place[PARENTS];
    int n = 0;

    for (size_t k = 0; k < search->n_known; k++) {
        int at = n;

        while (at > 0 && search->score[place[at - 1]] > search->score[k])
            at--;
        if (at == PARENTS || !isfinite(search->score[k]))
            continue;
        n = n < PARENTS ? n + 1 : n;
        for (int m = n - 1; m > at; m--)
            place[m] = place[m - 1];
        place[at] = k;
    }
    for (int k = 0; k < n; k++)
        best[k] = search->domain->point[search->known[place[k]]];
    return n;
}

/* Nearer the front is likelier: the lower of two draws. */
static const gv_point *choose(gv_search *search, const gv_point *best, int n)
{
    size_t a = gv_search_below(search, (size_t)n), b = gv_search_below(search, (size_t)n);

    return &best[a < b ? a : b];
}

static void child(gv_search *search, const gv_point *best, int n, gv_point *made)
{
    const gv_domain *domain = search->domain;
    double known;

    for (int attempt = 0; attempt < 100; attempt++) {
        const gv_point *mother = choose(search, best, n), *father = choose(search, best, n);

        *made = *mother;
        for (int d = 0; d < domain->n; d++) {
            if (gv_search_below(search, 2) != 0)
                made->at[d] = father->at[d];
            if (gv_search_below(search, (size_t)domain->n) == 0)
                made->at[d] = (unsigned char)gv_search_below(search, (size_t)domain->n_values[d]);
        }
        if (!gv_search_is_known(search, made, &known))
            return;
    }
    *made = *gv_search_any(search);
}

void gv_strategy_evolution(gv_search *search)
{
    gv_point made[GENERATION], best[PARENTS];
    double score[GENERATION];

    if (!gv_search_begin(search))
        return;
    for (int k = 0; k < GENERATION; k++)
        made[k] = *gv_search_any(search);
    while (gv_search_try(search, made, GENERATION, score)) {
        int n = parents(search, best);

        for (int k = 0; k < GENERATION; k++) {
            const gv_point *other = k == 0 || n < 2 ? gv_search_any_unknown(search) : NULL;

            if (other != NULL)
                made[k] = *other;
            else if (n >= 2)
                child(search, best, n, &made[k]);
        }
    }
}
