/* All single steps around the start, then local search until it is stuck, then points that a model predicts to be fast.
 *
 *   0. Around the best start point, every tunable's next value to both sides: a start that others have found is seldom
 *      more than one or two steps from the best, and a search that takes the first of them that helps mostly takes
 *      another one.  Then all steps that helped at once, as if tunables did not act together.
 *   1. From the best of these on, one tunable after the other in random order: steps to the next value as long as
 *      the time falls (next valid value, one direction, then the other).  Ends when no single step improves anything.
 *   2. Once, every value of the tunables whose values have no order, as the flavours of rsqrt, and of those that only
 *      change the launch, as times go up and down with how many groups fill the last turn: the best may hide behind
 *      worse ones, and a model that saw these would not look for it.  Then 1 again.
 *   3. A forest of regression trees learns log(time) over the tunables' indices from all that was measured.  The
 *      unknown point with the lowest optimistic prediction (mean - spread over the trees / 2) is measured; 1 begins
 *      again from it where it is better than all others, else the forest has learnt from it and predicts again.
 *
 * The model predicts a pool of points: every unknown point of a small space, else half of it from the neighbourhood of
 * the best (two tunables changed) and half at random.  Steps, and what was predicted to be nearly as fast, are hinted
 * (gv_search_hint), so that compilers work ahead. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/search.h"

enum { TREES = 32, MAX_DEPTH = 12, LEAF = 1, POOL = 1024, NODES = 2048, WORDS = POOL / 64 };

#define OPTIMISM 0.5 /* spreads of the trees that a prediction is lowered by */

typedef struct node {
    short dimension, cut; /* left: at <= cut; dimension -1: a leaf */
    int left, right;
    float value;
} node;

typedef struct forest {
    node *tree[TREES];
    int n_nodes[TREES];
    /* training data and the sample of one tree */
    gv_point *point;
    double *target;
    uint32_t *sample;
} forest;

typedef struct proposal {
    uint32_t point; /* index in the domain */
    double merit;   /* less is better */
} proposal;

/* The points that the model predicts at once, and sets of them as bits: a tree is walked once for all. */
typedef struct crowd {
    proposal of[POOL];
    size_t n, words;
    uint64_t upto[GV_MAX_TUNABLES][GV_MAX_VALUES][WORDS]; /* those with at most this value of a tunable */
    double sum[POOL], square[POOL];                       /* of the trees' predictions */
} crowd;

static const gv_point *known_point(const gv_search *search, uint32_t k)
{
    return &search->domain->point[search->known[k]];
}

/* Where to cut the sample so that the sum of squared deviations falls most; 0: nowhere.  *all: sum of its targets. */
static int best_cut(gv_search *search, const forest *f, const uint32_t *sample, int n, double *all, short *dimension,
                    short *cut)
{
    const gv_domain *domain = search->domain;
    struct {
        double sum, count;
    } of[GV_MAX_TUNABLES][GV_MAX_VALUES];
    size_t seen[GV_MAX_TUNABLES], n_seen = 0;
    double best = -INFINITY, sum = 0;

    /* every tree sees two thirds of the tunables at each node, so that the trees differ */
    for (int d = 0; d < domain->n; d++) {
        if (domain->n_values[d] >= 2 && gv_search_random(search) % 3 != 0) {
            memset(of[n_seen], 0, (size_t)domain->n_values[d] * sizeof of[0][0]);
            seen[n_seen++] = (size_t)d;
        }
    }
    for (int i = 0; i < n; i++) {
        const unsigned char *at = f->point[sample[i]].at;
        const double target = f->target[sample[i]];

        sum += target;
        for (size_t s = 0; s < n_seen; s++) {
            of[s][at[seen[s]]].sum += target;
            of[s][at[seen[s]]].count += 1;
        }
    }
    *all = sum;
    for (size_t s = 0; s < n_seen; s++) {
        double left = 0, m = 0;

        for (int v = 0; v + 1 < domain->n_values[seen[s]]; v++) {
            double gain;

            left += of[s][v].sum;
            m += of[s][v].count;
            /* no point has this value: the cut before is as good */
            if (of[s][v].count == 0 || m < LEAF || n - m < LEAF)
                continue;
            /* sum of squares explained: left^2/m + right^2/(n - m) */
            gain = left * left / m + (sum - left) * (sum - left) / (n - m);
            if (gain > best) {
                best = gain;
                *dimension = (short)seen[s];
                *cut = (short)v;
            }
        }
    }
    return isfinite(best);
}

static int grow(gv_search *search, forest *f, int t, uint32_t *sample, int n, int depth)
{
    int at = f->n_nodes[t]++, m = 0;
    node *made = &f->tree[t][at];
    double sum = 0;

    made->dimension = -1;
    if (n < 2 * LEAF || depth == MAX_DEPTH || f->n_nodes[t] + 2 > NODES)
        for (int i = 0; i < n; i++)
            sum += f->target[sample[i]];
    else if (!best_cut(search, f, sample, n, &sum, &made->dimension, &made->cut))
        made->dimension = -1;
    made->value = (float)(sum / n);
    if (made->dimension < 0)
        return at;
    for (int i = 0; i < n; i++) {
        const uint32_t goes_left = f->point[sample[i]].at[made->dimension] <= made->cut;
        const uint32_t change = (sample[i] ^ sample[m]) & -goes_left; /* a branch would be guessed wrong */

        sample[i] ^= change;
        sample[m] ^= change;
        m += (int)goes_left;
    }
    made->left = grow(search, f, t, sample, m, depth + 1);
    made->right = grow(search, f, t, sample + m, n - m, depth + 1);
    return at;
}

/* Failed points count as somewhat slower than the slowest, so that the model leads away from them. */
static void fit(gv_search *search, forest *f)
{
    double worst = -INFINITY;
    int n = (int)search->n_known;

    for (int k = 0; k < n; k++) {
        f->point[k] = *known_point(search, (uint32_t)k);
        f->target[k] = isfinite(search->score[k]) ? log(search->score[k]) : NAN;
        worst = f->target[k] > worst ? f->target[k] : worst;
    }
    for (int k = 0; k < n; k++)
        if (isnan(f->target[k]))
            f->target[k] = isfinite(worst) ? worst + 0.5 : 0;
    for (int t = 0; t < TREES; t++) {
        for (int k = 0; k < n; k++)
            f->sample[k] = (uint32_t)gv_search_below(search, (size_t)n);
        f->n_nodes[t] = 0;
        grow(search, f, t, f->sample, n, 0);
    }
}

/* Adds the prediction of tree `t`, from node `at` on, to the points of the set `here`. */
static void ask(const forest *f, int t, int at, const uint64_t *here, crowd *c)
{
    const node *asked = &f->tree[t][at];
    uint64_t left[WORDS], right[WORDS], any_left = 0, any_right = 0;

    if (asked->dimension < 0) {
        const double value = asked->value, square = value * value;

        for (size_t w = 0; w < c->words; w++) {
            for (uint64_t bits = here[w]; bits != 0; bits &= bits - 1) {
                const size_t i = 64 * w + (size_t)__builtin_ctzll(bits);

                c->sum[i] += value;
                c->square[i] += square;
            }
        }
        return;
    }
    for (size_t w = 0; w < c->words; w++) {
        left[w] = here[w] & c->upto[asked->dimension][asked->cut][w];
        right[w] = here[w] & ~c->upto[asked->dimension][asked->cut][w];
        any_left |= left[w];
        any_right |= right[w];
    }
    if (any_left != 0)
        ask(f, t, asked->left, left, c);
    if (any_right != 0)
        ask(f, t, asked->right, right, c);
}

/* The merit of each: mean of the trees minus their spread. */
static void judge(const gv_domain *domain, const forest *f, crowd *c)
{
    uint64_t all[WORDS] = {0};

    c->words = (c->n + 63) / 64;
    for (int d = 0; d < domain->n; d++)
        memset(c->upto[d], 0, (size_t)domain->n_values[d] * sizeof c->upto[d][0]);
    for (size_t i = 0; i < c->n; i++) {
        const gv_point *point = &domain->point[c->of[i].point];
        const uint64_t bit = (uint64_t)1 << i % 64;

        all[i / 64] |= bit;
        for (int d = 0; d < domain->n; d++)
            c->upto[d][point->at[d]][i / 64] |= bit;
        c->sum[i] = c->square[i] = 0;
    }
    for (int d = 0; d < domain->n; d++) {
        for (int v = 1; v < domain->n_values[d]; v++)
            for (size_t w = 0; w < c->words; w++)
                c->upto[d][v][w] |= c->upto[d][v - 1][w];
    }
    for (int t = 0; t < TREES; t++)
        ask(f, t, 0, all, c);
    for (size_t i = 0; i < c->n; i++) {
        const double mean = c->sum[i] / TREES;

        c->of[i].merit = mean - OPTIMISM * sqrt(fmax(c->square[i] / TREES - mean * mean, 0));
    }
}

static int is_unknown(const gv_search *search, long i)
{
    return i >= 0 && search->known_at[i] == 0;
}

/* Candidates for the model: every unknown point of a small space,
 * else random ones and the neighbourhood of the best. */
static size_t pool(gv_search *search, proposal *into)
{
    const gv_domain *domain = search->domain;
    const gv_point *best = known_point(search, (uint32_t)search->best);
    size_t n = 0;

    if (domain->n_points <= POOL) {
        for (size_t i = 0; i < domain->n_points; i++)
            if (is_unknown(search, (long)i))
                into[n++].point = (uint32_t)i;
        return n;
    }
    for (int a = 0; a < domain->n && n < POOL / 2; a++) {
        for (int b = a; b < domain->n && n < POOL / 2; b++) {
            for (int v = 0; v < domain->n_values[a] * (a == b ? 1 : domain->n_values[b]) && n < POOL / 2; v++) {
                gv_point moved = *best;
                long i;

                moved.at[a] = (unsigned char)(v % domain->n_values[a]);
                if (a != b)
                    moved.at[b] = (unsigned char)(v / domain->n_values[a]);
                i = gv_domain_find(domain, &moved);
                if (is_unknown(search, i))
                    into[n++].point = (uint32_t)i;
            }
        }
    }
    while (n < POOL) {
        size_t i = gv_search_below(search, domain->n_points);

        if (search->known_at[i] != 0)
            i = (size_t)(gv_search_any_unknown(search) - domain->point);
        into[n++].point = (uint32_t)i;
    }
    return n;
}

static int by_merit(const void *a, const void *b)
{
    const proposal *x = a, *y = b;

    return x->merit != y->merit ? (x->merit > y->merit) - (x->merit < y->merit)
                                : (x->point > y->point) - (x->point < y->point);
}

/* The point with the best prediction, the next ones are hinted; NULL when every point is known. */
static const gv_point *propose(gv_search *search, const forest *f, crowd *c)
{
    const gv_domain *domain = search->domain;

    c->n = pool(search, c->of);
    if (c->n == 0)
        return NULL;
    judge(domain, f, c);
    qsort(c->of, c->n, sizeof *c->of, by_merit);
    gv_search_hint(search, NULL);
    for (size_t i = 0; i < c->n && i < GV_SEARCH_HINTS; i++)
        gv_search_hint(search, &domain->point[c->of[i].point]);
    return &domain->point[c->of[0].point];
}

/* ------------------------------------------------------------ local search */

/* The next valid value of tunable `d` in the direction `step`; 0: there is none. */
static int next_value(const gv_domain *domain, const gv_point *from, int d, int step, gv_point *to)
{
    for (int v = from->at[d] + step; v >= 0 && v < domain->n_values[d]; v += step) {
        *to = *from;
        to->at[d] = (unsigned char)v;
        if (gv_domain_find(domain, to) >= 0)
            return 1;
    }
    return 0;
}

static void hint_steps(gv_search *search, const gv_point *at, const int *order, int first)
{
    const gv_domain *domain = search->domain;
    gv_point step;

    gv_search_hint(search, NULL);
    for (int k = 0; k < domain->n; k++)
        for (int side = -1; side <= 1; side += 2)
            if (next_value(domain, at, order[(first + k) % domain->n], side, &step))
                gv_search_hint(search, &step);
}

/* Steps along tunable `d` while the time falls.  1 if it fell, 0 if not, -1 when the search is over. */
static int improve(gv_search *search, int d, gv_point *at, double *score)
{
    const int first = gv_search_below(search, 2) == 0 ? -1 : 1;
    int better = 0;

    for (int side = first, turn = 0; turn < 2 && !better; side = -side, turn++) {
        gv_point from = *at, step;
        double got;

        while (next_value(search->domain, &from, d, side, &step)) {
            if (!gv_search_try(search, &step, 1, &got))
                return -1;
            if (got >= *score)
                break;
            from = *at = step;
            *score = got;
            better = 1;
        }
    }
    return better;
}

/* From the best point on; 0 when the search is over. */
static int descend(gv_search *search)
{
    gv_point at = *known_point(search, (uint32_t)search->best);
    double score = search->score[search->best];
    int order[GV_MAX_TUNABLES], n = search->domain->n;

    gv_search_shuffle(search, order, n);
    for (int k = 0, since = 0; since < n; k = (k + 1) % n) {
        int better;

        hint_steps(search, &at, order, k);
        better = improve(search, order[k], &at, &score);
        if (better < 0)
            return 0;
        since = better ? 1 : since + 1;
    }
    return 1;
}

/* All single steps from the best start point, then the step that takes every tunable to its better side at once; 0 when
 * the search is over. */
static int look_around(gv_search *search)
{
    const gv_domain *domain = search->domain;
    const gv_point from = *known_point(search, (uint32_t)search->best);
    gv_point step[2 * GV_MAX_TUNABLES], combined = from;
    double got[2 * GV_MAX_TUNABLES], best[GV_MAX_TUNABLES];
    int of[2 * GV_MAX_TUNABLES], n = 0;

    for (int d = 0; d < domain->n; d++) {
        best[d] = search->score[search->best];
        for (int side = -1; side <= 1; side += 2)
            if (next_value(domain, &from, d, side, &step[n]))
                of[n++] = d;
    }
    if (!gv_search_try(search, step, n, got))
        return 0;
    for (int k = 0; k < n; k++) {
        if (got[k] < best[of[k]]) {
            best[of[k]] = got[k];
            combined.at[of[k]] = step[k].at[of[k]];
        }
    }
    return gv_search_try(search, &combined, 1, got); /* invalid and known ones cost nothing */
}

/* Every value of the tunables without order and of launches, from the best point on; 0 when the search is over. */
static int try_kinds(gv_search *search)
{
    const gv_domain *domain = search->domain;
    gv_point line[GV_MAX_VALUES];
    double got[GV_MAX_VALUES];

    for (int d = 0; d < domain->n; d++) {
        if (!domain->unordered[d] && domain->builds[d])
            continue;
        for (int v = 0; v < domain->n_values[d]; v++) {
            line[v] = *known_point(search, (uint32_t)search->best);
            line[v].at[d] = (unsigned char)v;
        }
        if (!gv_search_try(search, line, domain->n_values[d], got))
            return 0;
    }
    return 1;
}

static void learn(gv_search *search, forest *f, crowd *c)
{
    if (!gv_search_begin(search) || !look_around(search) || !descend(search) || !try_kinds(search) || !descend(search))
        return;
    for (;;) {
        const size_t best = search->best;
        const gv_point *next;
        double score;

        fit(search, f);
        next = propose(search, f, c);
        if (next == NULL || !gv_search_try(search, next, 1, &score) || (search->best != best && !descend(search)))
            return;
    }
}

void gv_strategy_forest(gv_search *search)
{
    size_t n = search->domain->n_points > 0 ? search->domain->n_points : 1;
    forest f = {{NULL}, {0}, malloc(n * sizeof *f.point), malloc(n * sizeof *f.target), malloc(n * sizeof *f.sample)};
    crowd *c = malloc(sizeof *c);
    node *nodes = malloc(sizeof *nodes * TREES * NODES);

    if (f.point != NULL && f.target != NULL && f.sample != NULL && c != NULL && nodes != NULL) {
        for (int t = 0; t < TREES; t++)
            f.tree[t] = nodes + (size_t)t * NODES;
        learn(search, &f, c);
    } else {
        search->over = 1;
    }
    free(nodes);
    free(c);
    free(f.sample);
    free(f.target);
    free(f.point);
}
