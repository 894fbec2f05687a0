/* The reference's tree: order, cells, moments.  tree_ref.h has the definitions. */
#include "cpu_ref/tree_ref.h"

#include <math.h>
#include <stdlib.h>

enum { BITS = 21 };

static uint32_t lattice(double x, double low, double side)
{
    double at = side > 0.0 ? (x - low) * (2097151.5 / side) : 0.0;
    return (uint32_t)fmin(fmax(at, 0.0), 2097151.0);
}

/* Places to Hilbert coordinates: Skilling, AIP Conf. Proc. 707, 381 (2004), his inverse undo and Gray code. */
static void to_hilbert(uint32_t v[3])
{
    for (uint32_t bit = 1u << (BITS - 1); bit > 1; bit >>= 1) {
        uint32_t low = bit - 1;
        for (int k = 0; k < 3; k++) {
            if (v[k] & bit) {
                v[0] ^= low;
            } else {
                uint32_t differ = (v[0] ^ v[k]) & low;
                v[0] ^= differ;
                v[k] ^= differ;
            }
        }
    }
    v[1] ^= v[0];
    v[2] ^= v[1];
    uint32_t flip = 0;
    for (uint32_t bit = 1u << (BITS - 1); bit > 1; bit >>= 1)
        flip ^= v[2] & bit ? bit - 1 : 0;
    for (int k = 0; k < 3; k++)
        v[k] ^= flip;
}

uint64_t gv_ref_tree_key(const gv_ref_tree *tree, double x, double y, double z)
{
    const double p[3] = {x, y, z};
    uint32_t v[3];
    for (int k = 0; k < 3; k++)
        v[k] = lattice(p[k], tree->low[k], tree->side);
    if (tree->hilbert)
        to_hilbert(v);
    uint64_t key = 0;
    for (int bit = BITS - 1; bit >= 0; bit--)
        for (int k = 0; k < 3; k++)
            key = key << 1 | (v[k] >> bit & 1u);
    return key;
}

static int digit(uint64_t key, int level)
{
    return (int)(key >> (3 * (BITS - 1 - level)) & 7u);
}

/* Centres are found relative to the first body (child): that of coincident bodies is then exactly where they are, which
 * the opening test of a sink among them relies on. */
static void leaf_moments(const gv_ref_tree *tree, gv_ref_cell *c)
{
    double z[3] = {0.0};
    for (int k = 0; k < 3; k++) {
        c->lo[k] = INFINITY;
        c->hi[k] = -INFINITY;
    }
    for (uint32_t j = c->first; j < c->first + c->count; j++) {
        c->m += tree->m[j];
        for (int k = 0; k < 3; k++) {
            z[k] += tree->m[j] * (tree->x[k][j] - tree->x[k][c->first]);
            c->lo[k] = fmin(c->lo[k], tree->x[k][j]);
            c->hi[k] = fmax(c->hi[k], tree->x[k][j]);
        }
    }
    for (int k = 0; k < 3; k++)
        c->z[k] = c->m > 0.0 ? tree->x[k][c->first] + z[k] / c->m : 0.5 * (c->lo[k] + c->hi[k]);
    for (uint32_t j = c->first; j < c->first + c->count; j++) {
        double d[3] = {tree->x[0][j] - c->z[0], tree->x[1][j] - c->z[1], tree->x[2][j] - c->z[2]};
        for (int a = 0, k = 0; a < 3; a++)
            for (int b = a; b < 3; b++, k++)
                c->q[k] += 0.5 * tree->m[j] * d[a] * d[b];
        c->bmax = fmax(c->bmax, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    }
}

static void join_children(const gv_ref_tree *tree, gv_ref_cell *c)
{
    const double *first = tree->cell[c->child[0]].z;
    double z[3] = {0.0};
    for (int k = 0; k < 3; k++) {
        c->lo[k] = INFINITY;
        c->hi[k] = -INFINITY;
    }
    for (int i = 0; i < c->n_children; i++) {
        const gv_ref_cell *child = &tree->cell[c->child[i]];
        c->m += child->m;
        for (int k = 0; k < 3; k++) {
            z[k] += child->m * (child->z[k] - first[k]);
            c->lo[k] = fmin(c->lo[k], child->lo[k]);
            c->hi[k] = fmax(c->hi[k], child->hi[k]);
        }
    }
    double corner2 = 0.0;
    for (int k = 0; k < 3; k++) {
        c->z[k] = c->m > 0.0 ? first[k] + z[k] / c->m : 0.5 * (c->lo[k] + c->hi[k]);
        double far_side = fmax(c->hi[k] - c->z[k], c->z[k] - c->lo[k]);
        corner2 += far_side * far_side;
    }
    for (int i = 0; i < c->n_children; i++) {
        const gv_ref_cell *child = &tree->cell[c->child[i]];
        double d[3] = {child->z[0] - c->z[0], child->z[1] - c->z[1], child->z[2] - c->z[2]};
        for (int a = 0, k = 0; a < 3; a++)
            for (int b = a; b < 3; b++, k++)
                c->q[k] += child->q[k] + 0.5 * child->m * d[a] * d[b];
        c->bmax = fmax(c->bmax, child->bmax + sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    }
    c->bmax = fmin(c->bmax, sqrt(corner2));
}

/* Chains of only children make the number of cells hard to bound: the array grows. */
static uint32_t add_cell(gv_ref_tree *tree, uint32_t *room)
{
    if (tree->n_cells == *room) {
        uint32_t more = *room ? *room * 2 : 64;
        gv_ref_cell *cell = realloc(tree->cell, more * sizeof *cell);
        if (!cell)
            return UINT32_MAX;
        tree->cell = cell;
        *room = more;
    }
    tree->cell[tree->n_cells] = (gv_ref_cell){.m = 0.0};
    return tree->n_cells++;
}

/* Returns the cell's number, UINT32_MAX without memory. */
static uint32_t build(gv_ref_tree *tree, uint32_t *room, uint32_t first, uint32_t count, int level)
{
    uint32_t at = add_cell(tree, room);
    if (at == UINT32_MAX)
        return at;
    gv_ref_cell cell = {.first = first, .count = count, .level = level};
    if (count <= (uint32_t)tree->n_leaf || level == BITS) {
        leaf_moments(tree, &cell);
    } else {
        for (uint32_t begin = first, end; begin < first + count; begin = end) {
            for (end = begin + 1; end < first + count; end++)
                if (digit(tree->key[end], level) != digit(tree->key[begin], level))
                    break;
            uint32_t child = build(tree, room, begin, end - begin, level + 1);
            if (child == UINT32_MAX)
                return child;
            cell.child[cell.n_children++] = child;
        }
        join_children(tree, &cell);
    }
    tree->cell[at] = cell; /* not before: building the children moves the array */
    return at;
}

typedef struct place {
    uint64_t key;
    uint32_t address;
} place;

static int by_key(const void *a, const void *b)
{
    const place *p = a, *q = b;
    if (p->key != q->key)
        return p->key < q->key ? -1 : 1;
    return (p->address > q->address) - (p->address < q->address);
}

static void bound(gv_ref_tree *tree, const double *const x[3])
{
    for (int k = 0; k < 3; k++) {
        double lo = x[k][0], hi = x[k][0];
        for (uint32_t i = 1; i < tree->n; i++) {
            lo = fmin(lo, x[k][i]);
            hi = fmax(hi, x[k][i]);
        }
        tree->low[k] = lo;
        tree->side = fmax(tree->side, hi - lo);
    }
}

static int order(gv_ref_tree *tree, const double *m, const double *const x[3])
{
    place *p = malloc(tree->n * sizeof *p);
    if (!p)
        return -1;
    for (uint32_t i = 0; i < tree->n; i++)
        p[i] = (place){gv_ref_tree_key(tree, x[0][i], x[1][i], x[2][i]), i};
    qsort(p, tree->n, sizeof *p, by_key);
    for (uint32_t i = 0; i < tree->n; i++) {
        tree->key[i] = p[i].key;
        tree->address[i] = p[i].address;
        tree->m[i] = m[p[i].address];
        for (int k = 0; k < 3; k++)
            tree->x[k][i] = x[k][p[i].address];
    }
    free(p);
    return 0;
}

gv_ref_tree *gv_ref_tree_create(size_t n, const double *m, const double *x, const double *y, const double *z,
                                int n_leaf, int hilbert)
{
    if (n == 0 || n >= UINT32_MAX || n_leaf < 1 || !m || !x || !y || !z)
        return NULL;
    gv_ref_tree *tree = calloc(1, sizeof *tree);
    if (!tree)
        return NULL;
    const double *const position[3] = {x, y, z};
    uint32_t room = 0;
    tree->n = (uint32_t)n;
    tree->n_leaf = n_leaf;
    tree->hilbert = hilbert;
    tree->m = malloc(n * sizeof(double));
    tree->key = malloc(n * sizeof *tree->key);
    tree->address = malloc(n * sizeof *tree->address);
    for (int k = 0; k < 3; k++)
        tree->x[k] = malloc(n * sizeof(double));
    if (!tree->m || !tree->key || !tree->address || !tree->x[0] || !tree->x[1] || !tree->x[2])
        goto failed;
    bound(tree, position);
    if (order(tree, m, position) || build(tree, &room, 0, tree->n, 0) == UINT32_MAX)
        goto failed;
    return tree;
failed:
    gv_ref_tree_free(tree);
    return NULL;
}

void gv_ref_tree_free(gv_ref_tree *tree)
{
    if (!tree)
        return;
    free(tree->cell);
    for (int k = 0; k < 3; k++)
        free(tree->x[k]);
    free(tree->address);
    free(tree->key);
    free(tree->m);
    free(tree);
}
