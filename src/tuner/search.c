#include "tuner/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64's output function: every bit of the result depends on every bit of z */
static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

gravel_status gv_search_init(gv_search *search, const gv_domain *domain, gv_objective_fn objective, void *user,
                             uint64_t seed, size_t budget)
{
    size_t n = domain->n_points > 0 ? domain->n_points : 1;

    memset(search, 0, sizeof *search);
    search->domain = domain;
    search->objective = objective;
    search->user = user;
    /* hashed: the state is a counter that gv_search_random moves by a fixed step, and a seed that were taken as it
     * is, or times that step, would only begin another seed's sequence later */
    search->seed = mix(mix(seed + 0x632be59bd9b4e019ull) + seed);
    search->budget = budget > 0 && budget < domain->n_points ? budget : domain->n_points;
    search->over = domain->n_points == 0;
    search->known = malloc(n * sizeof *search->known);
    search->score = malloc(n * sizeof *search->score);
    search->known_at = calloc(n, sizeof *search->known_at);
    if (search->known == NULL || search->score == NULL || search->known_at == NULL) {
        gv_search_free(search);
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a search over %zu points", n);
    }
    return GRAVEL_OK;
}

void gv_search_free(gv_search *search)
{
    free(search->known);
    free(search->score);
    free(search->known_at);
    search->known = NULL;
    search->score = NULL;
    search->known_at = NULL;
}

void gv_search_add_start(gv_search *search, const gv_point *point)
{
    if (gv_domain_find(search->domain, point) < 0)
        return;
    for (int s = 0; s < search->n_starts; s++)
        if (gv_domain_code(search->domain, &search->start[s]) == gv_domain_code(search->domain, point))
            return;
    if (search->n_starts < (int)(sizeof search->start / sizeof search->start[0]))
        search->start[search->n_starts++] = *point;
}

/* splitmix64: a few operations, no state but a counter, the same everywhere */
uint64_t gv_search_random(gv_search *search)
{
    return mix(search->seed += 0x9e3779b97f4a7c15ull);
}

size_t gv_search_below(gv_search *search, size_t n)
{
    return (size_t)(gv_search_random(search) % n); /* n is far below 2^64: the bias is not measurable */
}

double gv_search_uniform(gv_search *search)
{
    return (double)(gv_search_random(search) >> 11) * 0x1p-53;
}

const gv_point *gv_search_any(gv_search *search)
{
    return &search->domain->point[gv_search_below(search, search->domain->n_points)];
}

const gv_point *gv_search_any_unknown(gv_search *search)
{
    size_t n = search->domain->n_points, first;

    if (search->n_known >= n)
        return NULL;
    for (int attempt = 0; attempt < 64; attempt++) {
        size_t i = gv_search_below(search, n);

        if (search->known_at[i] == 0)
            return &search->domain->point[i];
    }
    first = gv_search_below(search, n);
    for (size_t i = 0; i < n; i++)
        if (search->known_at[(first + i) % n] == 0)
            return &search->domain->point[(first + i) % n];
    return NULL;
}

void gv_search_shuffle(gv_search *search, int *order, int n)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)gv_search_below(search, (size_t)i + 1), old = order[i];

        order[i] = order[j];
        order[j] = old;
    }
}

void gv_search_hint(gv_search *search, const gv_point *point)
{
    double score;

    if (point == NULL)
        search->n_hints = 0;
    else if (search->n_hints < GV_SEARCH_HINTS && !gv_search_is_known(search, point, &score))
        search->hint[search->n_hints++] = *point;
}

int gv_search_is_known(const gv_search *search, const gv_point *point, double *score)
{
    long i = gv_domain_find(search->domain, point);

    if (i < 0) {
        *score = INFINITY;
        return 1;
    }
    if (search->known_at[i] == 0)
        return 0;
    *score = search->score[search->known_at[i] - 1];
    return 1;
}

static void keep(gv_search *search, const gv_point *point, double score)
{
    long i = gv_domain_find(search->domain, point);
    size_t at = search->n_known;

    search->known[at] = (uint32_t)i;
    search->score[at] = score;
    search->known_at[i] = (uint32_t)at + 1;
    if (at == 0 || score < search->score[search->best])
        search->best = at;
    search->n_known++;
}

/* How many points may still be measured. */
static size_t left(const gv_search *search)
{
    const size_t paid = search->budget - (search->n_known - search->n_free),
                 unknown = search->domain->n_points - search->n_known;
    return paid < unknown ? paid : unknown;
}

int gv_search_try(gv_search *search, const gv_point *point, int n, double *score)
{
    gv_point fresh[64];
    double got[64];
    int at = 0;

    while (at < n) {
        int m = 0, done;

        /* the unknown ones of the next stretch, each once */
        for (; at < n && m < 64; at++) {
            int again = 0;
            double old;

            for (int k = 0; k < m && !again; k++)
                again = gv_domain_code(search->domain, &fresh[k]) == gv_domain_code(search->domain, &point[at]);
            if (!again && !gv_search_is_known(search, &point[at], &old))
                fresh[m++] = point[at];
        }
        if (m == 0)
            break;
        if ((size_t)m > left(search))
            m = (int)left(search);
        done = search->over || m == 0 ? 0 : search->objective(search->user, search, fresh, m, got);
        for (int k = 0; k < done; k++)
            keep(search, &fresh[k], got[k]);
        if (done < m || left(search) == 0) {
            search->over = 1;
            break;
        }
    }
    for (int k = 0; k < n; k++)
        if (!gv_search_is_known(search, &point[k], &score[k]))
            score[k] = INFINITY;
    return !search->over;
}

int gv_search_begin(gv_search *search)
{
    double score[16];

    if (search->over)
        return 0;
    if (search->n_starts > 0)
        return gv_search_try(search, search->start, search->n_starts, score);
    return gv_search_try(search, gv_search_any(search), 1, score);
}

/* --------------------------------------------------------------- strategies */

const gv_strategy gv_strategies[] = {
    {"forest", "all steps around the start, downhill until stuck, then where regression trees expect the best",
     gv_strategy_forest},
    {"descent", "one tunable after the other, restarted from elsewhere when nothing improves", gv_strategy_descent},
    {"evolution", "a population that mixes and mutates its better half", gv_strategy_evolution},
    {"annealing", "a random walk that accepts worse steps ever more rarely", gv_strategy_annealing},
    {"random", "points drawn without repeating any", gv_strategy_random},
    {"exhaustive", "every point", gv_strategy_exhaustive},
    {NULL, NULL, NULL},
};

const gv_strategy *gv_strategy_find(const char *name)
{
    for (const gv_strategy *s = gv_strategies; s->name != NULL; s++)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}
