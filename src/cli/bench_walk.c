#include "cli/bench_walk.h"

#include <math.h>
#include <stdlib.h>

#include "sim/ic.h"

enum { STACK = 1024 };

/* -------------------------------------------------------------------- tree */

static uint32_t first_body(const gv_host_walk *w, size_t c)
{
    while (!w->cell[c].leaf)
        c = w->cell[c].first;
    return w->cell[c].first;
}

gravel_status gv_host_walk_read(gv_host_walk *w, gravel_context *context, size_t n, uint64_t seed)
{
    gravel_tree_options options = {.size = 0};
    gravel_tree *tree = NULL;
    gv_particles p = {.count = 0};
    uint32_t *order = malloc(n * sizeof *order);
    gravel_tree_options_init(&options);
    gravel_status status =
        order ? gv_ic_plummer(n, seed, NULL, &p) : gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu bodies", n);
    const gravel_sources all = {.count = p.count, .mass = p.m, .pos = GRAVEL_VEC_SOA(p.x, p.y, p.z)};
    if (!status)
        status = gravel_tree_create(&tree, context, &options);
    if (!status)
        status = gravel_tree_write(tree, &all);
    if (!status)
        status = gravel_tree_build(tree);
    if (!status)
        status = gravel_tree_get_cell_count(tree, &w->cells);
    if (!status && !(w->cell = malloc(w->cells * sizeof *w->cell)))
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu cells", w->cells);
    if (!status)
        status = gravel_tree_read_cells(tree, 0, w->cells, w->cell);
    if (!status)
        status = gravel_tree_read_order(tree, order);
    if (!status)
        status = gv_ic_plummer(n, seed, NULL, &w->p);
    for (size_t k = 0; k < p.count && !status; k++) {
        w->p.x[k] = p.x[order[k]], w->p.y[k] = p.y[order[k]], w->p.z[k] = p.z[order[k]];
        w->p.m[k] = p.m[order[k]];
    }
    gravel_tree_release(tree);
    gv_particles_free(&p);
    free(order);
    return status;
}

static void add_bucket(gv_host_walk *w, size_t c)
{
    gv_bucket *k = &w->bucket[w->buckets++];
    const double *const x[3] = {w->p.x, w->p.y, w->p.z};
    k->sinks = (gravel_leaf){first_body(w, c), w->cell[c].bodies};
    double r2 = 0;
    for (int a = 0; a < 3; a++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t j = k->sinks.first; j < k->sinks.first + k->sinks.count; j++) {
            low = fmin(low, x[a][j]);
            high = fmax(high, x[a][j]);
        }
        k->centre[a] = (low + high) / 2;
        r2 += (high - low) * (high - low) / 4;
    }
    k->radius = sqrt(r2);
}

gravel_status gv_host_walk_make_buckets(gv_host_walk *w, size_t most)
{
    size_t stack[STACK], n = 0;
    w->bucket = calloc(w->cells, sizeof *w->bucket);
    if (!w->bucket)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for buckets");
    stack[n++] = 0;
    while (n > 0) {
        const size_t c = stack[--n];
        if (w->cell[c].leaf || w->cell[c].bodies <= most)
            add_bucket(w, c);
        else
            for (uint32_t k = 0; k < w->cell[c].count && n < STACK; k++)
                stack[n++] = w->cell[c].first + k;
    }
    return GRAVEL_OK;
}

/* -------------------------------------------------------------------- walk */

static int grow(void **array, size_t *room, size_t n, size_t size)
{
    if (n < *room)
        return 1;
    void *more = realloc(*array, 2 * (n + 32) * size);
    if (!more)
        return 0;
    *array = more;
    *room = 2 * (n + 32);
    return 1;
}

int gv_host_walk_bucket(const gv_host_walk *w, gv_bucket *k, double theta)
{
    size_t stack[STACK], n = 0;
    k->cells = k->runs = 0;
    stack[n++] = 0;
    while (n > 0) {
        const gravel_cell *c = &w->cell[stack[--n]];
        const double dx = c->centre[0] - k->centre[0], dy = c->centre[1] - k->centre[1],
                     dz = c->centre[2] - k->centre[2], far = k->radius + c->radius / theta;
        if (c->bodies > 1 && dx * dx + dy * dy + dz * dz > far * far) {
            if (!grow((void **)&k->cell, &k->room_cells, k->cells, sizeof *k->cell))
                return 0;
            k->cell[k->cells++] = (uint32_t)(c - w->cell);
        } else if (c->leaf) {
            if (!grow((void **)&k->run, &k->room_runs, k->runs, sizeof *k->run))
                return 0;
            k->run[k->runs++] = (gravel_leaf){c->first, c->bodies};
        } else {
            for (uint32_t child = 0; child < c->count && n < STACK; child++)
                stack[n++] = c->first + child;
        }
    }
    return 1;
}

void gv_host_walk_free(gv_host_walk *w)
{
    for (size_t k = 0; k < w->buckets; k++) {
        free(w->bucket[k].cell);
        free(w->bucket[k].run);
    }
    free(w->bucket);
    free(w->cell);
    gv_particles_free(&w->p);
}
