#include "sim/cosmo_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/threads.h"

typedef struct key {
    uint64_t cell;
    uint32_t body;
} key;

typedef struct finder {
    const gv_particles *p;
    int64_t n; /* cells of a side */
    double reach2;
    key *body;     /* sorted by cell */
    size_t *begin; /* [cells + 1] of occupied cells in `body` */
    size_t cells;
    size_t *row;    /* [n * n + 1] of rows along z in `begin` */
    size_t *parent; /* of cells that are joined */
    gv_pool *pool;
} finder;

/* ------------------------------------------------------------------- cells */

static uint64_t cell_of(const finder *f, size_t i)
{
    const double x[3] = {f->p->x[i], f->p->y[i], f->p->z[i]};
    uint64_t cell = 0;
    for (int c = 0; c < 3; c++) {
        int64_t at = (int64_t)floor(x[c] / f->p->box.side * (double)f->n) % f->n;
        cell = cell * (uint64_t)f->n + (uint64_t)(at < 0 ? at + f->n : at);
    }
    return cell;
}

/* By digits of 11 bits, the least first. */
static gravel_status sort(finder *f)
{
    enum { BITS = 11, BINS = 1 << BITS };
    const size_t n = f->p->count;
    key *other = malloc(n * sizeof *other);
    size_t *bin = malloc(BINS * sizeof *bin);
    const uint64_t most = (uint64_t)f->n * (uint64_t)f->n * (uint64_t)f->n - 1;
    if (!other || !bin) {
        free(other);
        free(bin);
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the cells of %zu bodies", n);
    }
    for (int shift = 0; shift < 64 && most >> shift; shift += BITS) {
        memset(bin, 0, BINS * sizeof *bin);
        for (size_t i = 0; i < n; i++)
            bin[f->body[i].cell >> shift & (BINS - 1)]++;
        for (size_t k = 0, sum = 0; k < BINS; k++) {
            const size_t here = bin[k];
            bin[k] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++)
            other[bin[f->body[i].cell >> shift & (BINS - 1)]++] = f->body[i];
        key *swap = f->body;
        f->body = other;
        other = swap;
    }
    free(other);
    free(bin);
    return GRAVEL_OK;
}

static gravel_status find_cells(finder *f)
{
    const size_t n = f->p->count, rows = (size_t)(f->n * f->n);
    for (size_t i = 0; i < n; i++)
        f->cells += i == 0 || f->body[i].cell != f->body[i - 1].cell;
    f->begin = malloc((f->cells + 1) * sizeof *f->begin);
    f->parent = malloc(f->cells * sizeof *f->parent);
    f->row = malloc((rows + 1) * sizeof *f->row);
    if (!f->begin || !f->parent || !f->row)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the cells of %zu bodies", n);
    size_t cell = 0, row = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || f->body[i].cell != f->body[i - 1].cell) {
            while (row <= f->body[i].cell / (uint64_t)f->n)
                f->row[row++] = cell;
            f->parent[cell] = cell;
            f->begin[cell++] = i;
        }
    while (row <= rows)
        f->row[row++] = cell;
    f->begin[cell] = n;
    return GRAVEL_OK;
}

/* ----------------------------------------------------------------- joining */

static size_t root_of(finder *f, size_t cell)
{
    while (f->parent[cell] != cell) {
        f->parent[cell] = f->parent[f->parent[cell]];
        cell = f->parent[cell];
    }
    return cell;
}

static int are_near(const finder *f, size_t i, size_t j)
{
    const gv_particles *p = f->p;
    const double side = p->box.side;
    double d[3] = {p->x[i] - p->x[j], p->y[i] - p->y[j], p->z[i] - p->z[j]};
    for (int c = 0; c < 3; c++)
        d[c] -= side * rint(d[c] / side);
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= f->reach2;
}

static void join(finder *f, size_t a, size_t b)
{
    const size_t ra = root_of(f, a), rb = root_of(f, b);
    if (ra == rb)
        return;
    for (size_t i = f->begin[a]; i < f->begin[a + 1]; i++)
        for (size_t j = f->begin[b]; j < f->begin[b + 1]; j++)
            if (are_near(f, f->body[i].body, f->body[j].body)) {
                if (ra < rb)
                    f->parent[rb] = ra;
                else
                    f->parent[ra] = rb;
                return;
            }
}

/* Cells of a row whose z is at most two from that of `cell`, around the box. */
static void join_row(finder *f, size_t cell, int64_t x, int64_t y, int64_t z)
{
    const int64_t n = f->n, row = (x + n) % n * n + (y + n) % n;
    const uint64_t base = (uint64_t)row * (uint64_t)n;
    for (size_t other = f->row[row]; other < f->row[row + 1]; other++) {
        const int64_t apart = llabs((int64_t)(f->body[f->begin[other]].cell - base) - z);
        if (apart <= 2 || n - apart <= 2)
            join(f, cell, other);
    }
}

/* Of cells of planes from ... to - 1 with those of planes before `end` (inside), or from it on. */
static void join_planes(finder *f, int64_t from, int64_t to, int64_t end, int inside)
{
    const int64_t n = f->n;
    for (size_t cell = f->row[from * n]; cell < f->row[to * n]; cell++) {
        const uint64_t at = f->body[f->begin[cell]].cell;
        const int64_t z = (int64_t)(at % (uint64_t)n), y = (int64_t)(at / (uint64_t)n) % n,
                      x = (int64_t)(at / (uint64_t)(n * n));
        for (int dx = 0; dx <= 2; dx++)
            for (int dy = dx ? -2 : 0; dy <= 2 && (x + dx < end) == inside; dy++) /* other rows look back */
                join_row(f, cell, x + dx, y + dy, z);
    }
}

/* Slabs of planes are joined by threads, each touching its own cells only, then their borders by one.  The root of what
 * is joined is its least cell, in whatever order. */
enum { SLAB = 16 };

static int64_t slab_end(const finder *f, int64_t slab)
{
    return (slab + 1) * SLAB < f->n ? (slab + 1) * SLAB : f->n;
}

static void join_slabs(void *user, size_t first, size_t count)
{
    finder *f = user;
    for (size_t k = first; k < first + count; k++)
        join_planes(f, (int64_t)k * SLAB, slab_end(f, (int64_t)k), slab_end(f, (int64_t)k), 1);
}

static void join_all(finder *f)
{
    const int64_t slabs = (f->n + SLAB - 1) / SLAB;
    gv_parallel(f->pool, (size_t)slabs, 1, join_slabs, f);
    for (int64_t k = 0; k < slabs; k++) {
        const int64_t end = slab_end(f, k), begin = k * SLAB;
        join_planes(f, end - 2 > begin ? end - 2 : begin, end, end, 0);
    }
}

/* ------------------------------------------------------------------ groups */

static int by_size(const void *a, const void *b)
{
    const gv_group *x = a, *y = b;
    return x->bodies != y->bodies ? (x->bodies < y->bodies) - (x->bodies > y->bodies)
                                  : (x->least > y->least) - (x->least < y->least);
}

/* Sums over the bodies of a group, distances from its first one. */
static void add_body(gv_group *g, const gv_particles *p, size_t i)
{
    const double x[3] = {p->x[i], p->y[i], p->z[i]}, first[3] = {p->x[g->least], p->y[g->least], p->z[g->least]};
    const double v[3] = {p->vx ? p->vx[i] : 0, p->vx ? p->vy[i] : 0, p->vx ? p->vz[i] : 0};
    g->mass += p->m[i];
    for (int c = 0; c < 3; c++) {
        const double d = x[c] - first[c];
        g->x[c] += p->m[i] * (d - p->box.side * rint(d / p->box.side));
        g->v[c] += p->m[i] * v[c];
    }
}

static void finish_group(gv_group *g, const gv_particles *p)
{
    const double first[3] = {p->x[g->least], p->y[g->least], p->z[g->least]}, mass = g->mass > 0 ? g->mass : 1;
    for (int c = 0; c < 3; c++) {
        const double at = first[c] + g->x[c] / mass;
        g->x[c] = at - p->box.side * floor(at / p->box.side);
        g->v[c] /= mass;
    }
}

/* `size`: bodies by root; then the number of the group, of those that are large enough. */
static gravel_status collect(finder *f, size_t least, size_t *size, gv_groups *out)
{
    for (size_t c = 0; c < f->cells; c++)
        size[root_of(f, c)] += f->begin[c + 1] - f->begin[c];
    for (size_t c = 0; c < f->cells; c++)
        out->count += size[c] >= least;
    out->group = calloc(out->count + 1, sizeof *out->group);
    if (!out->group)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu groups", out->count);
    size_t next = 0;
    for (size_t c = 0; c < f->cells; c++) {
        const size_t bodies = size[c];
        size[c] = SIZE_MAX;
        if (bodies >= least) {
            out->group[next] = (gv_group){.bodies = bodies, .least = SIZE_MAX};
            size[c] = next++;
        }
    }
    for (int pass = 0; pass < 2; pass++)
        for (size_t c = 0; c < f->cells; c++) {
            const size_t number = size[root_of(f, c)];
            for (size_t i = f->begin[c]; number != SIZE_MAX && i < f->begin[c + 1]; i++) {
                gv_group *g = &out->group[number];
                if (pass == 1)
                    add_body(g, f->p, f->body[i].body);
                else if (f->body[i].body < g->least)
                    g->least = f->body[i].body;
            }
        }
    for (size_t k = 0; k < out->count; k++)
        finish_group(&out->group[k], f->p);
    if (out->count)
        qsort(out->group, out->count, sizeof *out->group, by_size);
    return GRAVEL_OK;
}

static void find_keys(void *user, size_t first, size_t count)
{
    finder *f = user;
    for (size_t i = first; i < first + count; i++)
        f->body[i] = (key){cell_of(f, i), (uint32_t)i};
}

static gravel_status find(finder *f, size_t least, gv_groups *out)
{
    const size_t n = f->p->count;
    f->body = malloc(n * sizeof *f->body);
    if (!f->body)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the cells of %zu bodies", n);
    gv_parallel(f->pool, n, 65536, find_keys, f);
    gravel_status status = sort(f);
    if (!status)
        status = find_cells(f);
    if (status)
        return status;
    join_all(f);
    size_t *size = calloc(f->cells, sizeof *size);
    status = size ? collect(f, least, size, out) : gv_fail(GRAVEL_ERR_MEMORY, "no memory for groups");
    free(size);
    return status;
}

gravel_status gv_groups_find(gv_groups *out, const gv_particles *p, double linking, size_t least)
{
    finder f = {.p = p};
    *out = (gv_groups){0};
    if (!(p->box.side > 0) || p->count == 0)
        return gv_fail(GRAVEL_ERR_INPUT, "friends of friends need bodies in a box with its cosmology");
    if (!(linking > 0 && linking <= 1))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the linking length is %g mean distances; it must be above 0, at most 1",
                       linking);
    out->linking = linking * p->box.side / cbrt((double)p->count);
    f.reach2 = out->linking * out->linking;
    const double cells = ceil(p->box.side * sqrt(3) / out->linking * (1 + 1e-12));
    if (cells > 12000 || cells < 5)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a linking length of %g in a box of %g is too %s", out->linking,
                       p->box.side, cells < 5 ? "long" : "short");
    f.n = (int64_t)cells;
    f.pool = gv_pool_create();
    const gravel_status status = find(&f, least ? least : 1, out);
    gv_pool_release(f.pool);
    free(f.body);
    free(f.begin);
    free(f.row);
    free(f.parent);
    if (status)
        gv_groups_free(out);
    return status;
}

void gv_groups_free(gv_groups *g)
{
    free(g->group);
    *g = (gv_groups){0};
}
