#include "sim/neighbours.h"

#include <math.h>
#include <stdlib.h>

#include "cpu_ref/parallel.h"

enum { LEAF = 8, MAX_DEPTH = 32, SHARED_DEPTH = 4 }; /* the top of the tree is built by one thread, the rest by all */

typedef struct point {
    double x[3];
    uint32_t body;
} point;

/* Node 1 is the root, 2 n and 2 n + 1 are the halves of n.  The points of a node stand together: [begin, end), cut in
 * the middle, so that no node needs to store them. */
typedef struct tree {
    point *at;
    size_t count;
    int depth; /* of the leaves */
    double *plane;
    unsigned char *axis;
} tree;

typedef struct query {
    const tree *t;
    double x[3];
    uint32_t body;
    int k, found;
    double r2[GV_NEIGHBOURS_MAX];
    uint32_t index[GV_NEIGHBOURS_MAX];
} query;

/* ------------------------------------------------------------------ build */

static int widest_axis(const point *p, size_t n)
{
    double low[3] = {p->x[0], p->x[1], p->x[2]}, high[3] = {p->x[0], p->x[1], p->x[2]};
    for (size_t i = 1; i < n; i++)
        for (int c = 0; c < 3; c++) {
            low[c] = fmin(low[c], p[i].x[c]);
            high[c] = fmax(high[c], p[i].x[c]);
        }
    int best = 0;
    for (int c = 1; c < 3; c++)
        if (high[c] - low[c] > high[best] - low[best])
            best = c;
    return best;
}

/* Moves the m smallest along the axis to the front (Hoare's selection; equal values stop both scans, so that many of
 * them cost nothing extra). */
static void select_first(point *p, size_t n, size_t m, int axis)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        const double pivot = p[low + (high - low) / 2].x[axis];
        size_t i = low, j = high;
        for (;;) {
            while (p[i].x[axis] < pivot)
                i++;
            while (p[j].x[axis] > pivot)
                j--;
            if (i >= j)
                break;
            const point swapped = p[i];
            p[i++] = p[j];
            p[j--] = swapped;
        }
        if (i == j && i == m)
            return;
        if (m <= j)
            high = j;
        else
            low = j + 1;
    }
}

static void node_range(const tree *t, size_t node, int depth, size_t *begin, size_t *end)
{
    *begin = 0;
    *end = t->count;
    for (int d = depth - 1; d >= 0; d--) {
        const size_t middle = *begin + (*end - *begin) / 2;
        if (node >> d & 1)
            *begin = middle;
        else
            *end = middle;
    }
}

static void split(tree *t, size_t node, int depth, int last)
{
    size_t begin, end;
    if (depth >= last)
        return;
    node_range(t, node, depth, &begin, &end);
    const size_t half = (end - begin) / 2;
    const int axis = widest_axis(t->at + begin, end - begin);
    select_first(t->at + begin, end - begin, half, axis);
    t->axis[node] = (unsigned char)axis;
    t->plane[node] = t->at[begin + half].x[axis];
    split(t, 2 * node, depth + 1, last);
    split(t, 2 * node + 1, depth + 1, last);
}

static void split_range(void *arg, size_t begin, size_t end)
{
    tree *t = arg;
    for (size_t k = begin; k < end; k++)
        split(t, ((size_t)1 << SHARED_DEPTH) + k, SHARED_DEPTH, t->depth);
}

static gravel_status build(tree *t, const gv_particles *p)
{
    t->count = p->count;
    while (t->depth < MAX_DEPTH && (t->count >> t->depth) > LEAF)
        t->depth++;
    t->at = malloc(t->count * sizeof *t->at);
    t->plane = malloc(((size_t)1 << t->depth) * sizeof *t->plane);
    t->axis = malloc((size_t)1 << t->depth);
    if (!t->at || !t->plane || !t->axis)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the neighbours of %zu particles", p->count);
    for (size_t i = 0; i < t->count; i++)
        t->at[i] = (point){{p->x[i], p->y[i], p->z[i]}, (uint32_t)i};
    if (t->depth <= SHARED_DEPTH) {
        split(t, 1, 0, t->depth);
    } else {
        split(t, 1, 0, SHARED_DEPTH);
        gv_ref_parallel((size_t)1 << SHARED_DEPTH, 1e-6 * (double)t->count, split_range, t);
    }
    return GRAVEL_OK;
}

/* ----------------------------------------------------------------- search */

/* Sorted by distance, then by index, so that ties do not depend on the tree. */
static void offer(query *q, const point *p)
{
    const double dx = p->x[0] - q->x[0], dy = p->x[1] - q->x[1], dz = p->x[2] - q->x[2];
    const double r2 = dx * dx + dy * dy + dz * dz;
    int at = q->found;
    if (p->body == q->body)
        return;
    while (at > 0 && (r2 < q->r2[at - 1] || (r2 == q->r2[at - 1] && p->body < q->index[at - 1])))
        at--;
    if (at >= q->k)
        return;
    q->found += q->found < q->k;
    for (int i = q->found - 1; i > at; i--) {
        q->r2[i] = q->r2[i - 1];
        q->index[i] = q->index[i - 1];
    }
    q->r2[at] = r2;
    q->index[at] = p->body;
}

static void search(query *q, size_t node, int depth, size_t begin, size_t end)
{
    if (depth == q->t->depth) {
        for (size_t i = begin; i < end; i++)
            offer(q, &q->t->at[i]);
        return;
    }
    const size_t middle = begin + (end - begin) / 2;
    const double side = q->x[q->t->axis[node]] - q->t->plane[node];
    for (int turn = 0; turn < 2; turn++) {
        const int upper = (side >= 0.0) != turn;
        if (turn && q->found == q->k && side * side > q->r2[q->k - 1])
            return;
        search(q, 2 * node + (size_t)upper, depth + 1, upper ? middle : begin, upper ? end : middle);
    }
}

typedef struct job {
    const tree *t;
    int k;
    uint32_t *index;
    double *radius;
} job;

/* In the order of the tree: the points that a query meets are still in the cache from the one before. */
static void search_range(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    for (size_t i = begin; i < end; i++) {
        const point *p = &j->t->at[i];
        query q = {.t = j->t, .x = {p->x[0], p->x[1], p->x[2]}, .body = p->body, .k = j->k};
        search(&q, 1, 0, 0, j->t->count);
        for (int n = 0; n < j->k; n++)
            j->index[(size_t)p->body * (size_t)j->k + (size_t)n] = n < q.found ? q.index[n] : GV_NO_NEIGHBOUR;
        j->radius[p->body] = q.found == j->k ? sqrt(q.r2[j->k - 1]) : INFINITY;
    }
}

gravel_status gv_neighbours_find(const gv_particles *particles, int k, uint32_t *index, double *radius)
{
    tree t = {0};
    if (k < 1 || k > GV_NEIGHBOURS_MAX)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%d neighbours: from 1 to %d", k, GV_NEIGHBOURS_MAX);
    if (particles->count == 0)
        return GRAVEL_OK;
    gravel_status status = build(&t, particles);
    if (!status) {
        job j = {&t, k, index, radius};
        gv_ref_parallel(t.count, 3e-6 * (double)t.count, search_range, &j);
    }
    free(t.axis);
    free(t.plane);
    free(t.at);
    return status;
}
