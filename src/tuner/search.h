/* Search without a device: a domain of points, an objective that may be a kernel or a table of fake timings, and the
 * book-keeping every strategy shares (points measured so far, budget, seed).  The same objective and seed give the
 * same decisions. */
#ifndef GV_SEARCH_H
#define GV_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "host/profile/space.h"

/* Index of a value per dimension. */
typedef struct gv_point {
    unsigned char at[GV_MAX_TUNABLES];
} gv_point;

typedef struct gv_domain {
    int n; /* dimensions */
    int n_values[GV_MAX_TUNABLES];
    int value[GV_MAX_TUNABLES][GV_MAX_VALUES];
    char name[GV_MAX_TUNABLES][32];
    int builds[GV_MAX_TUNABLES];    /* 1: another value means another program */
    int unordered[GV_MAX_TUNABLES]; /* 1: values are kinds, the next one is no nearer than others */
    size_t n_points;                /* the valid ones, in mixed-radix order */
    gv_point *point;
    uint32_t *place; /* code -> index in point + 1, 0 = not valid */
    uint64_t n_codes;
} gv_domain;

typedef int (*gv_domain_valid_fn)(const void *user, const gv_domain *domain, const gv_point *point);

/* n, n_values and value are set by the caller; lists the valid points.  More than 64 million codes are refused. */
gravel_status gv_domain_fill(gv_domain *domain, gv_domain_valid_fn valid, const void *user);
void gv_domain_free(gv_domain *domain);
uint64_t gv_domain_code(const gv_domain *domain, const gv_point *point);
long gv_domain_find(const gv_domain *domain, const gv_point *point); /* index of a valid point, -1 = not valid */
/* Sum of the indices: values are listed simpler first, so less is simpler. */
int gv_point_complexity(const gv_domain *domain, const gv_point *point);

/* The domain of a kernel's space.  `limit` (may be NULL) narrows it: "tile=64,128 unroll=4".  `unlikely` 1: also points
 * that only cannot be fast. */
gravel_status gv_domain_of_space(gv_domain *domain, const gv_space *space, const gv_variant *variant,
                                 const gv_limits *limits, const char *limit, int unlikely);
/* Which tunables have no order, by their units in the kernel's space; those that it has no more have one. */
void gv_domain_mark_kinds(gv_domain *domain, const gv_space *space);
void gv_domain_config(const gv_domain *domain, const gv_point *point, gv_config *config);
int gv_domain_point(const gv_domain *domain, const gv_config *config, gv_point *point); /* 0: a value is not listed */

/* ----------------------------------------------------------------- search */

enum { GV_SEARCH_HINTS = 32 };

typedef struct gv_search gv_search;

/* Scores (seconds; INFINITY = failed) of points that were not measured before.  Returns how many it did, fewer than n
 * when it has to stop (interrupted, out of time). */
typedef int (*gv_objective_fn)(void *user, gv_search *search, const gv_point *point, int n, double *score);

struct gv_search {
    const gv_domain *domain;
    gv_objective_fn objective;
    void *user;
    uint64_t seed; /* state of the random numbers */
    size_t budget; /* evaluations; 0 = as many as there are points */
    int n_starts;  /* promising points (built-in default, neighbours' winners), tried first */
    gv_point start[16];
    /* known so far, in the order of evaluation */
    size_t n_known;
    size_t n_free; /* of those known: cost no evaluation, as what is launched like another; the objective counts them */
    uint32_t *known; /* index in domain->point */
    double *score;
    uint32_t *known_at; /* index of point -> place in known + 1 */
    size_t best;        /* place in known; n_known = none yet */
    int over;           /* nothing more may be measured */
    int n_hints;        /* points that will probably be measured soon: their programs may be built ahead */
    gv_point hint[GV_SEARCH_HINTS];
};

gravel_status gv_search_init(gv_search *search, const gv_domain *domain, gv_objective_fn objective, void *user,
                             uint64_t seed, size_t budget);
void gv_search_free(gv_search *search);
void gv_search_add_start(gv_search *search, const gv_point *point); /* invalid and repeated ones are left out */

/* Scores of n points; known ones cost nothing, invalid ones are INFINITY.  0 when the search is over: the strategy then
 * returns (scores that were not obtained are INFINITY). */
int gv_search_try(gv_search *search, const gv_point *point, int n, double *score);
int gv_search_is_known(const gv_search *search, const gv_point *point, double *score);

uint64_t gv_search_random(gv_search *search);
size_t gv_search_below(gv_search *search, size_t n); /* 0 ... n-1 */
double gv_search_uniform(gv_search *search);         /* [0, 1) */
const gv_point *gv_search_any(gv_search *search);    /* a random valid point */
/* A random valid point that is not known; NULL when every point is. */
const gv_point *gv_search_any_unknown(gv_search *search);
void gv_search_shuffle(gv_search *search, int *order, int n); /* 0 ... n-1 in random order */
/* Adds a hint (known and invalid points are left out); NULL: removes all. */
void gv_search_hint(gv_search *search, const gv_point *point);

/* -------------------------------------------------------------- strategies */

typedef struct gv_strategy {
    const char *name, *text;
    void (*run)(gv_search *search);
} gv_strategy;

extern const gv_strategy gv_strategies[]; /* ends with name NULL; the first is the default */
const gv_strategy *gv_strategy_find(const char *name);

void gv_strategy_exhaustive(gv_search *search);
void gv_strategy_random(gv_search *search);
void gv_strategy_descent(gv_search *search);
void gv_strategy_annealing(gv_search *search);
void gv_strategy_evolution(gv_search *search);
void gv_strategy_forest(gv_search *search);

/* Tries the start points (or one random point if there are none); 0 when the search is over. */
int gv_search_begin(gv_search *search);

#endif
