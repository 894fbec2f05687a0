/* Model-guided search.  A forest of regression trees learns log(time) over the tunables' indices from what was
 * measured; the next batch are the points with the lowest optimistic prediction (mean - spread over the trees),
 * neighbours of the best point and one point drawn at random, so that a wrong model cannot blind the search. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/search.h"

enum { TREES = 32, MAX_DEPTH = 12, LEAF = 2, BATCH = 8, POOL = 4096, FIRST = 12, NODES = 2048 };

typedef struct node {
    short dimension, cut; /* left: at <= cut; dimension -1: a leaf */
    int left, right;
    float value;
} node;

typedef struct forest {
    node *tree[TREES];
    int n_nodes[TREES];
    /* training data and the sample of one tree */
    double *target;
    uint32_t *sample;
} forest;

typedef struct proposal {
    uint32_t point; /* index in the domain */
    double merit;   /* less is better */
} proposal;

static const gv_point *known_point(const gv_search *search, uint32_t k) {
    return &search->domain->point[search->known[k]];
}

/* Where to cut the sample so that the sum of squared deviations falls most; 0: nowhere. */
static int best_cut(gv_search *search, const forest *f, const uint32_t *sample, int n, short *dimension, short *cut) {
    const gv_domain *domain = search->domain;
    double best = -INFINITY;

    for (int d = 0; d < domain->n; d++) {
        double sum[GV_MAX_VALUES] = {0}, left = 0, all = 0;
        int count[GV_MAX_VALUES] = {0}, m = 0;

        /* every tree sees two thirds of the tunables at each node, so that the trees differ */
        if (domain->n_values[d] < 2 || gv_search_below(search, 3) == 0) {
            continue;
        }
        for (int i = 0; i < n; i++) {
            int v = known_point(search, sample[i])->at[d];

            sum[v] += f->target[sample[i]];
            all += f->target[sample[i]];
            count[v]++;
        }
        for (int v = 0; v + 1 < domain->n_values[d]; v++) {
            double gain;

            left += sum[v];
            m += count[v];
            if (m < LEAF || n - m < LEAF) {
                continue;
            }
            /* sum of squares explained: left^2/m + right^2/(n - m) */
            gain = left * left / m + (all - left) * (all - left) / (n - m);
            if (gain > best) {
                best = gain;
                *dimension = (short)d;
                *cut = (short)v;
            }
        }
    }
    return isfinite(best);
}

static int grow(gv_search *search, forest *f, int t, uint32_t *sample, int n, int depth) {
    int at = f->n_nodes[t]++, m = 0;
    node *made = &f->tree[t][at];
    double sum = 0;

    for (int i = 0; i < n; i++) {
        sum += f->target[sample[i]];
    }
    made->dimension = -1;
    made->value = (float)(sum / n);
    if (n < 2 * LEAF || depth == MAX_DEPTH || f->n_nodes[t] + 2 > NODES ||
        !best_cut(search, f, sample, n, &made->dimension, &made->cut)) {
        made->dimension = -1;
        return at;
    }
    for (int i = 0; i < n; i++) {
        if (known_point(search, sample[i])->at[made->dimension] <= made->cut) {
            uint32_t old = sample[m];

            sample[m++] = sample[i];
            sample[i] = old;
        }
    }
    made->left = grow(search, f, t, sample, m, depth + 1);
    made->right = grow(search, f, t, sample + m, n - m, depth + 1);
    return at;
}

/* Failed points count as somewhat slower than the slowest, so that the model leads away from them. */
static void fit(gv_search *search, forest *f) {
    double worst = -INFINITY;
    int n = (int)search->n_known;

    for (int k = 0; k < n; k++) {
        f->target[k] = isfinite(search->score[k]) ? log(search->score[k]) : NAN;
        worst = f->target[k] > worst ? f->target[k] : worst;
    }
    for (int k = 0; k < n; k++) {
        if (isnan(f->target[k])) {
            f->target[k] = isfinite(worst) ? worst + 0.5 : 0;
        }
    }
    for (int t = 0; t < TREES; t++) {
        for (int k = 0; k < n; k++) {
            f->sample[k] = (uint32_t)gv_search_below(search, (size_t)n);
        }
        f->n_nodes[t] = 0;
        grow(search, f, t, f->sample, n, 0);
    }
}

static double optimistic(const forest *f, const gv_point *point) {
    double sum = 0, square = 0, mean;

    for (int t = 0; t < TREES; t++) {
        const node *at = f->tree[t];

        while (at->dimension >= 0) {
            at = &f->tree[t][point->at[at->dimension] <= at->cut ? at->left : at->right];
        }
        sum += at->value;
        square += (double)at->value * at->value;
    }
    mean = sum / TREES;
    return mean - sqrt(fmax(square / TREES - mean * mean, 0));
}

static int is_unknown(const gv_search *search, long i) {
    return i >= 0 && search->known_at[i] == 0;
}

/* Candidates for the model: every unknown point of a small space, else random ones and the neighbourhood of the

 * best. */
static size_t pool(gv_search *search, proposal *into) {
    const gv_domain *domain = search->domain;
    const gv_point *best = known_point(search, (uint32_t)search->best);
    size_t n = 0;

    if (domain->n_points <= POOL) {
        for (size_t i = 0; i < domain->n_points; i++) {
            if (is_unknown(search, (long)i)) {
                into[n++].point = (uint32_t)i;
            }
        }
        return n;
    }
    for (int a = 0; a < domain->n && n < POOL / 2; a++) {
        for (int b = a; b < domain->n && n < POOL / 2; b++) {
            for (int v = 0; v < domain->n_values[a] * (a == b ? 1 : domain->n_values[b]) && n < POOL / 2; v++) {
                gv_point moved = *best;
                long i;

                moved.at[a] = (unsigned char)(v % domain->n_values[a]);
                if (a != b) {
                    moved.at[b] = (unsigned char)(v / domain->n_values[a]);
                }
                i = gv_domain_find(domain, &moved);
                if (is_unknown(search, i)) {
                    into[n++].point = (uint32_t)i;
                }
            }
        }
    }
    while (n < POOL) {
        size_t i = gv_search_below(search, domain->n_points);

        if (search->known_at[i] != 0) {
            i = (size_t)(gv_search_any_unknown(search) - domain->point);
        }
        into[n++].point = (uint32_t)i;
    }
    return n;
}

static int by_merit(const void *a, const void *b) {
    const proposal *x = a, *y = b;

    return x->merit != y->merit ? (x->merit < y->merit ? -1 : 1) : (x->point > y->point) - (x->point < y->point);
}

static int propose(gv_search *search, const forest *f, proposal *into, gv_point *batch) {
    size_t n = pool(search, into);
    const gv_point *other = gv_search_any_unknown(search);
    int m = 0;

    for (size_t i = 0; i < n; i++) {
        into[i].merit = optimistic(f, &search->domain->point[into[i].point]);
    }
    qsort(into, n, sizeof *into, by_merit);
    for (size_t i = 0; i < n && m < BATCH - 1; i++) {
        if (i == 0 || into[i].point != into[i - 1].point) {
            batch[m++] = search->domain->point[into[i].point];
        }
    }
    if (other != NULL) {
        batch[m++] = *other;
    }
    return m;
}

/* All values of each tunable once, from the best point on: cheap, often good, and the model learns from it. */
static int walk_along_axes(gv_search *search) {
    const gv_domain *domain = search->domain;
    int first = (int)gv_search_below(search, (size_t)domain->n);

    for (int k = 0; k < domain->n; k++) {
        int d = (first + k) % domain->n;
        gv_point line[GV_MAX_VALUES];
        double score[GV_MAX_VALUES];

        for (int v = 0; v < domain->n_values[d]; v++) {
            line[v] = *known_point(search, (uint32_t)search->best);
            line[v].at[d] = (unsigned char)v;
        }
        if (!gv_search_try(search, line, domain->n_values[d], score)) {
            return 0;
        }
    }
    return 1;
}

static void learn(gv_search *search, forest *f, proposal *into) {
    gv_point batch[FIRST];
    double score[FIRST];
    int n = search->budget / 8 < FIRST ? (int)(search->budget / 8) : FIRST;

    for (int k = 0; k < n; k++) {
        batch[k] = *gv_search_any(search);
    }
    if (!gv_search_begin(search) || !walk_along_axes(search) || (n > 0 && !gv_search_try(search, batch, n, score))) {
        return;
    }
    do {
        fit(search, f);
        n = propose(search, f, into, batch);
    } while (n > 0 && gv_search_try(search, batch, n, score));
}

void gv_strategy_forest(gv_search *search) {
    size_t n = search->budget > 0 ? search->budget : 1;
    forest f = {{NULL}, {0}, malloc(n * sizeof *f.target), malloc(n * sizeof *f.sample)};
    proposal *into = malloc(POOL * sizeof *into);
    node *nodes = malloc(sizeof *nodes * TREES * NODES);

    if (f.target != NULL && f.sample != NULL && into != NULL && nodes != NULL) {
        for (int t = 0; t < TREES; t++) {
            f.tree[t] = nodes + (size_t)t * NODES;
        }
        learn(search, &f, into);
    } else {
        search->over = 1;
    }
    free(nodes);
    free(into);
    free(f.sample);
    free(f.target);
}
