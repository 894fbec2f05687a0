#include "sim/neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/pieces.h"

/* The upper TOP levels of the tree are those of a sample of SAMPLE bodies; they cut the set into CELLS, whose trees are
 * built by threads.  A set that is not above FEW is one cell. */
enum { LEAF = 12, TOP = 8, CELLS = 1 << TOP, SAMPLE = 64 * CELLS, FEW = 4 * SAMPLE, LEAF_MARK = 3 };

/* Halves of an inner node: `first` and the one after it, below and above the plane.  A leaf: points from `first` on. */
typedef struct node {
    double plane;
    uint32_t first;
    uint32_t axis; /* or LEAF_MARK + 4 x points of a leaf */
} node;

/* Node 1 is the root.  Those above the cells are numbered as in a heap; the root of cell c is cells + c. */
typedef struct tree {
    const gv_particles *p;
    gv_point *at;
    node *nodes;
    size_t cells, begin[CELLS + 1]; /* of the cells in `at` */
    size_t own[CELLS];              /* the first of the nodes that cell c has beside its root */
    unsigned char *cell;            /* of each body */
    uint32_t (*piece)[CELLS];       /* bodies of a piece in each cell; then where they begin */
    gv_pool *pool;
} tree;

/* ------------------------------------------------------------------ build */

static int widest_axis(const gv_point *p, size_t n)
{
    double low[3] = {p->x[0], p->x[1], p->x[2]}, high[3] = {p->x[0], p->x[1], p->x[2]};
    for (size_t i = 1; i < n; i++)
        for (int c = 0; c < 3; c++) {
            low[c] = p[i].x[c] < low[c] ? p[i].x[c] : low[c];
            high[c] = p[i].x[c] > high[c] ? p[i].x[c] : high[c];
        }
    int best = 0;
    for (int c = 1; c < 3; c++)
        if (high[c] - low[c] > high[best] - low[best])
            best = c;
    return best;
}

/* Moves the m smallest along the axis to the front (Hoare's selection; equal values stop both scans, so that many of
 * them cost nothing extra). */
static void select_first(gv_point *p, size_t n, size_t m, int axis)
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
            const gv_point swapped = p[i];
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

/* Cuts points in the middle; what an inner node has beside its halves. */
static node cut(gv_point *p, size_t n)
{
    const int axis = widest_axis(p, n);
    select_first(p, n, n / 2, axis);
    return (node){.plane = p[n / 2].x[axis], .axis = (uint32_t)axis};
}

/* Nodes of a cell are taken from *next on. */
static void split(const tree *t, size_t to, size_t begin, size_t end, size_t *next)
{
    const size_t n = end - begin;
    if (n <= LEAF) {
        t->nodes[to] = (node){.first = (uint32_t)begin, .axis = LEAF_MARK + 4 * (uint32_t)n};
        return;
    }
    const size_t halves = *next;
    *next += 2;
    t->nodes[to] = cut(t->at + begin, n);
    t->nodes[to].first = (uint32_t)halves;
    split(t, halves, begin, begin + n / 2, next);
    split(t, halves + 1, begin + n / 2, end, next);
}

static void split_cells(void *user, size_t first, size_t count)
{
    const tree *t = user;
    for (size_t c = first; c < first + count; c++) {
        size_t next = t->own[c];
        split(t, t->cells + c, t->begin[c], t->begin[c + 1], &next);
    }
}

/* All nodes below the root of a cell of n points, at most: halves are as long, but for one. */
static size_t nodes_below(size_t n)
{
    size_t leaves = 1;
    while (n > leaves * LEAF)
        leaves *= 2;
    return 2 * leaves - 2;
}

static gv_point point_of(const gv_particles *p, size_t i)
{
    return (gv_point){{p->x[i], p->y[i], p->z[i]}, (uint32_t)i};
}

static void take_points(void *user, size_t first, size_t count)
{
    const tree *t = user;
    for (size_t i = first; i < first + count; i++)
        t->at[i] = point_of(t->p, i);
}

static void split_sample(const tree *t, gv_point *p, size_t n, size_t to)
{
    if (to >= t->cells)
        return;
    t->nodes[to] = cut(p, n);
    t->nodes[to].first = (uint32_t)(2 * to);
    split_sample(t, p, n / 2, 2 * to);
    split_sample(t, p + n / 2, n - n / 2, 2 * to + 1);
}

static void find_cells(void *user, size_t first, size_t count)
{
    const tree *t = user;
    uint32_t here[CELLS] = {0};
    for (size_t i = first; i < first + count; i++) {
        const double x[3] = {t->p->x[i], t->p->y[i], t->p->z[i]};
        size_t k = 1;
        while (k < CELLS)
            k = 2 * k + (x[t->nodes[k].axis] >= t->nodes[k].plane);
        t->cell[i] = (unsigned char)(k - CELLS);
        here[k - CELLS]++;
    }
    memcpy(t->piece[first / GV_PIECE], here, sizeof here);
}

static void move_to_cells(void *user, size_t first, size_t count)
{
    const tree *t = user;
    uint32_t *next = t->piece[first / GV_PIECE];
    for (size_t i = first; i < first + count; i++)
        t->at[next[t->cell[i]]++] = point_of(t->p, i);
}

/* Bodies stay in the set's order within a cell. */
static void deal_out(tree *t)
{
    const size_t stride = t->p->count / SAMPLE;
    for (size_t k = 0; k < SAMPLE; k++)
        t->at[k] = point_of(t->p, k * stride);
    split_sample(t, t->at, SAMPLE, 1);
    gv_pieces_each(t->pool, t->p->count, find_cells, t);
    t->begin[CELLS] = gv_pieces_begin(t->piece[0], gv_pieces_of(t->p->count), CELLS, t->begin);
    gv_pieces_each(t->pool, t->p->count, move_to_cells, t);
}

static gravel_status build(tree *t)
{
    const size_t n = t->p->count;
    const int cut_first = n > FEW;
    t->cells = cut_first ? CELLS : 1;
    t->begin[1] = n; /* of one cell */
    if (cut_first) {
        t->nodes = malloc(2 * CELLS * sizeof *t->nodes);
        t->cell = malloc(n);
        t->piece = malloc(gv_pieces_of(n) * sizeof *t->piece);
        if (!t->nodes || !t->cell || !t->piece)
            return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the neighbours of %zu particles", n);
        deal_out(t);
    } else {
        take_points(t, 0, n);
    }
    size_t nodes = 2 * t->cells;
    for (size_t c = 0; c < t->cells; c++) {
        t->own[c] = nodes;
        nodes += nodes_below(t->begin[c + 1] - t->begin[c]);
    }
    node *grown = realloc(t->nodes, nodes * sizeof *grown);
    if (!grown)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the neighbours of %zu particles", n);
    t->nodes = grown;
    gv_parallel(t->pool, t->cells, 1, split_cells, t);
    return GRAVEL_OK;
}

/* ----------------------------------------------------------------- search */

typedef struct query {
    const gv_point *at;
    const node *nodes;
    double x[3], off[3]; /* off: from the body to the box of a node, along each axis */
    double worst;        /* square of the k-th distance so far */
    uint32_t self;
    int k, found;
    double r2[GV_NEIGHBOURS_MAX];
    uint32_t slot[GV_NEIGHBOURS_MAX];
} query;

/* Sorted by distance, then by the body's number, so that ties do not depend on the tree. */
static void offer(query *q, uint32_t slot, double r2)
{
    const uint32_t body = q->at[slot].body;
    int at = q->found;
    if (slot == q->self)
        return;
    while (at > 0 && (r2 < q->r2[at - 1] || (r2 == q->r2[at - 1] && body < q->at[q->slot[at - 1]].body)))
        at--;
    if (at >= q->k)
        return;
    q->found += q->found < q->k;
    for (int i = q->found - 1; i > at; i--) {
        q->r2[i] = q->r2[i - 1];
        q->slot[i] = q->slot[i - 1];
    }
    q->r2[at] = r2;
    q->slot[at] = slot;
    if (q->found == q->k)
        q->worst = q->r2[q->k - 1];
}

static void scan(query *q, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        const gv_point *p = &q->at[i];
        const double dx = p->x[0] - q->x[0], dy = p->x[1] - q->x[1], dz = p->x[2] - q->x[2];
        const double r2 = dx * dx + dy * dy + dz * dz;
        if (r2 <= q->worst)
            offer(q, i, r2);
    }
}

/* The square of the distance to a box is summed as those to bodies are: rounding makes it no larger than that to a body
 * inside. */
static void search(query *q, uint32_t at)
{
    const node *n = &q->nodes[at];
    const uint32_t axis = n->axis;
    if ((axis & LEAF_MARK) == LEAF_MARK) {
        scan(q, n->first, axis / 4);
        return;
    }
    const double side = q->x[axis] - n->plane, before = q->off[axis];
    const uint32_t upper = side >= 0.0;
    search(q, n->first + upper);
    q->off[axis] = side;
    if (q->off[0] * q->off[0] + q->off[1] * q->off[1] + q->off[2] * q->off[2] <= q->worst)
        search(q, n->first + 1 - upper);
    q->off[axis] = before;
}

typedef struct search_job {
    const tree *t;
    gv_neighbours *out;
} search_job;

/* In the order of the tree: the points that a query meets are still in the cache from the one before. */
static void search_piece(void *user, size_t first, size_t count)
{
    const search_job *job = user;
    const gv_neighbours *out = job->out;
    const size_t k = (size_t)out->k;
    for (size_t i = first; i < first + count; i++) {
        const double *x = out->at[i].x;
        query q = {.at = out->at,
                   .nodes = job->t->nodes,
                   .x = {x[0], x[1], x[2]},
                   .worst = INFINITY,
                   .self = (uint32_t)i,
                   .k = out->k};
        search(&q, 1);
        for (size_t n = 0; n < k; n++)
            out->slot[i * k + n] = n < (size_t)q.found ? q.slot[n] : GV_NO_NEIGHBOUR;
        out->radius[i] = sqrt(q.worst);
    }
}

gravel_status gv_neighbours_find(const gv_particles *p, int k, gv_neighbours *out)
{
    const size_t n = p->count, room = n ? n : 1;
    tree t = {.p = p};
    *out = (gv_neighbours){.count = n, .k = k};
    if (k < 1 || k > GV_NEIGHBOURS_MAX)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%d neighbours: from 1 to %d", k, GV_NEIGHBOURS_MAX);
    t.at = out->at = malloc(room * sizeof *out->at);
    out->slot = malloc(room * (size_t)k * sizeof *out->slot);
    out->radius = malloc(room * sizeof *out->radius);
    gravel_status status = GRAVEL_OK;
    if (!out->at || !out->slot || !out->radius)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for the neighbours of %zu particles", n);
    t.pool = gv_pieces_pool(n);
    if (!status && n)
        status = build(&t);
    if (!status) {
        search_job job = {&t, out};
        gv_pieces_each(t.pool, n, search_piece, &job);
    }
    gv_pool_release(t.pool);
    free(t.nodes);
    free(t.cell);
    free(t.piece);
    if (status)
        gv_neighbours_free(out);
    return status;
}

void gv_neighbours_free(gv_neighbours *n)
{
    free(n->at);
    free(n->slot);
    free(n->radius);
    *n = (gv_neighbours){0};
}
