#include "sim/cosmo_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/pieces.h"

typedef struct key {
    uint64_t cell;
    uint32_t body;
} key;

typedef struct place {
    double x[3];
} place;

typedef struct finder {
    const gv_particles *p;
    int64_t n; /* cells of a side */
    double reach2;
    key *body, *other;   /* sorted by cell; work space */
    place *at;           /* of body[k] */
    size_t *plane;       /* [n + 1] of planes of one x in `body` */
    uint32_t *piece;     /* [pieces][n]: bodies of a piece in each plane, then where they begin */
    size_t *plane_cells; /* [n + 1] of planes in `begin` */
    size_t *begin;       /* [cells + 1] of occupied cells in `body` */
    size_t cells;
    size_t *row;    /* [n * n + 1] of rows along z in `begin` */
    size_t *parent; /* of cells that are joined */
    gv_pool *pool;
} finder;

/* ------------------------------------------------------------------- cells */

static uint64_t along(const finder *f, double x)
{
    const double at = x / f->p->box.side * (double)f->n;
    int64_t cell = (int64_t)at;
    cell -= (double)cell > at; /* floor, without a call */
    cell = cell >= 0 && cell < f->n ? cell : cell % f->n;
    return (uint64_t)(cell < 0 ? cell + f->n : cell);
}

static uint64_t cell_of(const finder *f, size_t i)
{
    const uint64_t n = (uint64_t)f->n;
    return (along(f, f->p->x[i]) * n + along(f, f->p->y[i])) * n + along(f, f->p->z[i]);
}

static void count_planes(void *user, size_t first, size_t count)
{
    const finder *f = user;
    uint32_t *here = f->piece + first / GV_PIECE * (size_t)f->n;
    memset(here, 0, (size_t)f->n * sizeof *here);
    for (size_t i = first; i < first + count; i++)
        here[along(f, f->p->x[i])]++;
}

static void move_to_planes(void *user, size_t first, size_t count)
{
    const finder *f = user;
    uint32_t *next = f->piece + first / GV_PIECE * (size_t)f->n;
    for (size_t i = first; i < first + count; i++)
        f->other[next[along(f, f->p->x[i])]++] = (key){cell_of(f, i), (uint32_t)i};
}

/* By digits of 11 bits, the least first, from `other` into `body`; those of one cell stay in their order. */
static void sort_plane(const finder *f, size_t plane)
{
    enum { BITS = 11, BINS = 1 << BITS };
    const uint64_t first = (uint64_t)plane * (uint64_t)(f->n * f->n), most = (uint64_t)(f->n * f->n) - 1;
    const size_t begin = f->plane[plane], n = f->plane[plane + 1] - begin;
    key *from = f->other + begin, *to = f->body + begin;
    for (int shift = 0; shift < 64 && most >> shift; shift += BITS) {
        uint32_t bin[BINS] = {0};
        for (size_t i = 0; i < n; i++)
            bin[(from[i].cell - first) >> shift & (BINS - 1)]++;
        for (uint32_t k = 0, sum = 0; k < BINS; k++) {
            const uint32_t here = bin[k];
            bin[k] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++)
            to[bin[(from[i].cell - first) >> shift & (BINS - 1)]++] = from[i];
        key *swap = from;
        from = to;
        to = swap;
    }
    if (from != f->body + begin)
        memcpy(f->body + begin, from, n * sizeof *from);
}

static void sort_planes(void *user, size_t first, size_t count)
{
    const finder *f = user;
    for (size_t plane = first; plane < first + count; plane++) {
        size_t cells = 0;
        sort_plane(f, plane);
        for (size_t i = f->plane[plane]; i < f->plane[plane + 1]; i++) {
            const size_t k = f->body[i].body;
            cells += i == f->plane[plane] || f->body[i].cell != f->body[i - 1].cell;
            f->at[i] = (place){{f->p->x[k], f->p->y[k], f->p->z[k]}};
        }
        f->plane_cells[plane] = cells;
    }
}

static void find_rows(void *user, size_t first, size_t count)
{
    const finder *f = user;
    const size_t n = (size_t)f->n;
    for (size_t plane = first; plane < first + count; plane++) {
        size_t cell = f->plane_cells[plane], row = plane * n;
        for (size_t i = f->plane[plane]; i < f->plane[plane + 1]; i++)
            if (i == f->plane[plane] || f->body[i].cell != f->body[i - 1].cell) {
                while (row <= f->body[i].cell / (uint64_t)f->n)
                    f->row[row++] = cell;
                f->parent[cell] = cell;
                f->begin[cell++] = i;
            }
        while (row < (plane + 1) * n)
            f->row[row++] = cell;
    }
}

static gravel_status find_cells(finder *f)
{
    const size_t n = f->p->count, planes = (size_t)f->n, pieces = gv_pieces_of(n);
    f->body = malloc(n * sizeof *f->body);
    f->other = malloc(n * sizeof *f->other);
    f->at = malloc(n * sizeof *f->at);
    f->plane = malloc((planes + 1) * sizeof *f->plane);
    f->plane_cells = malloc((planes + 1) * sizeof *f->plane_cells);
    f->piece = malloc(pieces * planes * sizeof *f->piece);
    f->row = malloc((planes * planes + 1) * sizeof *f->row);
    if (!f->body || !f->other || !f->at || !f->plane || !f->plane_cells || !f->piece || !f->row)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the cells of %zu bodies", n);
    gv_pieces_each(f->pool, n, count_planes, f);
    f->plane[planes] = gv_pieces_begin(f->piece, pieces, planes, f->plane);
    gv_pieces_each(f->pool, n, move_to_planes, f);
    gv_parallel(f->pool, planes, 1, sort_planes, f);
    for (size_t k = 0; k < planes; k++) {
        const size_t here = f->plane_cells[k];
        f->plane_cells[k] = f->cells;
        f->cells += here;
    }
    f->begin = malloc((f->cells + 1) * sizeof *f->begin);
    f->parent = malloc(f->cells * sizeof *f->parent);
    if (!f->begin || !f->parent)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the cells of %zu bodies", n);
    gv_parallel(f->pool, planes, 1, find_rows, f);
    f->row[planes * planes] = f->cells;
    f->begin[f->cells] = n;
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
    const double side = f->p->box.side, half = 0.5 * side, *a = f->at[i].x, *b = f->at[j].x;
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        const double d = fabs(a[c] - b[c]), near = d > half ? d - side * rint(d / side) : d;
        sum += near * near;
    }
    return sum <= f->reach2;
}

static void join(finder *f, size_t a, size_t b)
{
    const size_t ra = root_of(f, a), rb = root_of(f, b);
    if (ra == rb)
        return;
    for (size_t i = f->begin[a]; i < f->begin[a + 1]; i++)
        for (size_t j = f->begin[b]; j < f->begin[b + 1]; j++)
            if (are_near(f, i, j)) {
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

/* Of slab k with those that follow it. */
static void join_border(finder *f, int64_t k)
{
    const int64_t end = slab_end(f, k), begin = k * SLAB;
    join_planes(f, end - 2 > begin ? end - 2 : begin, end, end, 0);
}

typedef struct border_job {
    finder *f;
    int64_t length; /* in slabs, of what is joined in itself: two such become one */
} border_job;

static void join_borders(void *user, size_t first, size_t count)
{
    const border_job *job = user;
    for (size_t k = first; k < first + count; k++)
        join_border(job->f, (2 * (int64_t)k + 1) * job->length - 1);
}

/* A last slab of one plane sees over the border of the box into the second one and from the slab before: then, and at
 * the end of the box, one thread does it. */
static void join_all(finder *f)
{
    const int64_t slabs = (f->n + SLAB - 1) / SLAB, safe = f->n - (slabs - 1) * SLAB >= 2 ? slabs : slabs - 1;
    gv_parallel(f->pool, (size_t)slabs, 1, join_slabs, f);
    for (int64_t length = 1; length < safe; length *= 2) {
        border_job job = {f, length};
        gv_parallel(f->pool, (size_t)(((safe - 1) / length + 1) / 2), 1, join_borders, &job);
    }
    for (int64_t k = safe - 1; k < slabs; k++)
        join_border(f, k);
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

/* Groups that are large enough by number, in the order of their roots. */
typedef struct collection {
    const finder *f;
    gv_groups *out;
    size_t *number; /* by root: bodies, then the number of the group or SIZE_MAX */
    size_t *first;  /* [groups + 1] in `cell` */
    uint32_t *cell; /* cells by group, rising */
} collection;

static void sum_groups(void *user, size_t first, size_t count)
{
    const collection *c = user;
    const finder *f = c->f;
    for (size_t k = first; k < first + count; k++) {
        gv_group *g = &c->out->group[k];
        for (int pass = 0; pass < 2; pass++)
            for (size_t at = c->first[k]; at < c->first[k + 1]; at++)
                for (size_t i = f->begin[c->cell[at]]; i < f->begin[c->cell[at] + 1]; i++) {
                    const size_t body = f->body[i].body;
                    if (pass == 1)
                        add_body(g, f->p, body);
                    else if (body < g->least)
                        g->least = body;
                }
        finish_group(g, f->p);
    }
}

/* Cells of all groups by group: counted, then written. */
static gravel_status list_cells(collection *c)
{
    const finder *f = c->f;
    size_t sum = 0;
    c->first = calloc(c->out->count + 2, sizeof *c->first);
    if (!c->first)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu groups", c->out->count);
    for (size_t i = 0; i < f->cells; i++)
        if (c->number[f->parent[i]] != SIZE_MAX)
            c->first[c->number[f->parent[i]] + 2]++;
    for (size_t k = 0; k < c->out->count; k++)
        c->first[k + 2] = sum += c->first[k + 2];
    c->cell = malloc((sum + 1) * sizeof *c->cell);
    if (!c->cell)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu groups", c->out->count);
    for (size_t i = 0; i < f->cells; i++)
        if (c->number[f->parent[i]] != SIZE_MAX)
            c->cell[c->first[c->number[f->parent[i]] + 1]++] = (uint32_t)i;
    return GRAVEL_OK;
}

static gravel_status collect(finder *f, size_t least, gv_groups *out)
{
    collection c = {.f = f, .out = out, .number = calloc(f->cells, sizeof *c.number)};
    if (!c.number)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for groups");
    for (size_t i = 0; i < f->cells; i++) { /* a root comes before what it is the root of */
        f->parent[i] = f->parent[f->parent[i]];
        c.number[f->parent[i]] += f->begin[i + 1] - f->begin[i];
    }
    for (size_t i = 0; i < f->cells; i++)
        out->count += c.number[i] >= least;
    out->group = calloc(out->count + 1, sizeof *out->group);
    gravel_status status = out->group ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu groups", out->count);
    for (size_t i = 0, next = 0; i < f->cells && !status; i++) {
        const size_t bodies = c.number[i];
        c.number[i] = SIZE_MAX;
        if (bodies >= least) {
            out->group[next] = (gv_group){.bodies = bodies, .least = SIZE_MAX};
            c.number[i] = next++;
        }
    }
    if (!status)
        status = list_cells(&c);
    if (!status) {
        gv_parallel(f->pool, out->count, 16, sum_groups, &c);
        qsort(out->group, out->count, sizeof *out->group, by_size);
    }
    free(c.number);
    free(c.first);
    free(c.cell);
    return status;
}

static gravel_status find(finder *f, size_t least, gv_groups *out)
{
    const gravel_status status = find_cells(f);
    if (status)
        return status;
    join_all(f);
    return collect(f, least, out);
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
    gravel_status status = gv_particles_check_box(p, GV_UNWRAPPED);
    if (status)
        return status;
    out->linking = linking * p->box.side / cbrt((double)p->count);
    f.reach2 = out->linking * out->linking;
    const double cells = ceil(p->box.side * sqrt(3) / out->linking * (1 + 1e-12));
    if (cells > 12000 || cells < 5)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a linking length of %g in a box of %g is too %s", out->linking,
                       p->box.side, cells < 5 ? "long" : "short");
    f.n = (int64_t)cells;
    f.pool = gv_pool_create_wide();
    status = find(&f, least ? least : 1, out);
    gv_pool_release(f.pool);
    free(f.body);
    free(f.other);
    free(f.at);
    free(f.plane);
    free(f.plane_cells);
    free(f.piece);
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
