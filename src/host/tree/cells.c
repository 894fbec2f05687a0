/* What a tree holds, read back: cells, order, counts. */
#include <stdlib.h>

#include "host/base/threads.h"
#include "host/tree/tree.h"

/* Numbers of the tree as it is now; waits. */
static gravel_status settled(gravel_tree *tree, const char *what)
{
    if (!tree)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: no tree was given", what);
    gravel_status status = gv_tree_update(tree, GRAVEL_TREE_AS_IS);
    if (!status)
        status = gv_tree_settle(tree, 1);
    return status || tree->built ? status : gv_tree_update(tree, GRAVEL_TREE_AS_IS);
}

static gravel_status read(gravel_tree *tree, const gv_buffer *from, size_t first, size_t size, void *to,
                          const char *what)
{
    const cl_int code =
        size ? clEnqueueReadBuffer(gv_worker_queue(&tree->worker), from->mem, CL_TRUE, first, size, to, 0, NULL, NULL)
             : CL_SUCCESS;
    return code ? gv_fail_cl(code, "reading %s", what) : GRAVEL_OK;
}

gravel_status gravel_tree_get_cell_count(gravel_tree *tree, size_t *cells)
{
    if (!cells)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tree_get_cell_count: no place for the number");
    gravel_status status = settled(tree, "gravel_tree_get_cell_count");
    *cells = status ? 0 : tree->known_cells;
    return status;
}

/* Number k of `from` as a double; integers among the numbers are read apart. */
static double number(const gravel_tree *tree, const void *from, size_t k)
{
    return tree->scalar == 8 ? ((const double *)from)[k] : (double)((const float *)from)[k];
}

static uint32_t integer(const gravel_tree *tree, const void *from, size_t k)
{
    return tree->scalar == 8 ? (uint32_t)((const uint64_t *)from)[k] : ((const uint32_t *)from)[k];
}

/* kernels/tree/cell.h says what is where. */
static gravel_cell cell_of(const gravel_tree *tree, const void *at)
{
    enum { LEAF = 31 };
    const gravel_frame *f = &tree->frame;
    const double length = f->length;
    const uint32_t info = integer(tree, at, 7);
    gravel_cell c = {.mass = number(tree, at, 3) * f->mass, .first = integer(tree, at, 6)};
    for (size_t k = 0; k < 3; k++)
        c.centre[k] = (number(tree, at, k) + (tree->words == 2 ? number(tree, at, 16 + k) : 0)) * length + f->origin[k];
    for (size_t k = 0; k < 6; k++)
        c.quadrupole[k] = number(tree, at, 8 + k) * f->mass * length * length;
    c.radius = number(tree, at, 14) * length;
    c.leaf = (int)(info >> LEAF);
    c.count = info & GV_MOST_PLACES;
    c.bodies = (uint32_t)number(tree, at, 15);
    return c;
}

gravel_status gravel_tree_read_cells(gravel_tree *tree, size_t first, size_t count, gravel_cell *cells)
{
    gravel_status status = settled(tree, "gravel_tree_read_cells");
    if (status)
        return status;
    if (!cells || first > tree->known_cells || count > tree->known_cells - first)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "cells %zu ... %zu of %zu, or no place for them", first, first + count,
                       tree->known_cells);
    const size_t size = (GV_CELL_VECTORS + tree->words - 1) * 4 * tree->scalar;
    char *at = malloc(count * size + 1);
    if (!at)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu cells", count);
    status = read(tree, &tree->buffer[GV_TB_CELL], first * size, count * size, at, "cells");
    for (size_t k = 0; k < count && !status; k++)
        cells[k] = cell_of(tree, at + k * size);
    free(at);
    return status;
}

gravel_status gravel_tree_read_order(gravel_tree *tree, uint32_t *order)
{
    gravel_status status = settled(tree, "gravel_tree_read_order");
    if (status)
        return status;
    if (!order)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tree_read_order: no place for the order");
    const gv_selection *s = &tree->sources;
    status = read(tree, &tree->order.index[tree->order.sorted], 0, tree->n * 4, order, "the order of bodies");
    uint32_t *list = s->list ? malloc(tree->n * 4) : NULL;
    if (!status && s->list && !list)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu addresses", tree->n);
    if (!status && s->list)
        status = gravel_list_read((gravel_list *)(uintptr_t)tree->view.list, list);
    for (size_t k = 0; k < tree->n && !status; k++)
        order[k] = list ? list[order[k]] : order[k] + (uint32_t)s->first;
    free(list);
    return status;
}

gravel_status gv_tree_read_places(gravel_tree *tree, gv_slot *slot)
{
    const size_t size = tree->n * 4;
    gravel_status status = settled(tree, "gv_tree_read_places");
    if (!status)
        status = gv_tree_need_inverse(tree);
    if (!status)
        status = gv_slot_reserve_host(&tree->worker, slot, size);
    return status ? status : read(tree, &tree->buffer[GV_TB_INVERSE], 0, size, slot->host, "places of bodies");
}

/* ------------------------------------------------------------------- counts */

/* The counts of all groups of the last walk. */
static gravel_status read_counts(gravel_tree *tree, const uint32_t **counts)
{
    if (!tree->walked)
        return gv_fail(GRAVEL_ERR_STATE,
                       "there are no counts: no forces since the tree was built, or their groups are gone");
    const size_t size = tree->walked->cut.places * GV_COUNT_WORDS * 4;
    gravel_status status = gv_slot_reserve_host(&tree->worker, &tree->counts, size);
    if (!status)
        status = read(tree, &tree->walked->buffer[GV_SB_COUNTS], 0, size, tree->counts.host, "interaction counts");
    *counts = tree->counts.host;
    return status;
}

/* Sums over groups: of whole numbers below 2^53, so that their order does not matter. */
typedef struct summing {
    const uint32_t *counts;
    size_t groups;
    uint64_t sum[4];
} summing;

static void sum_counts(void *user, size_t first, size_t count)
{
    summing *s = user;
    size_t groups = 0;
    uint64_t sum[4] = {0};
    for (size_t g = first; g < first + count; g++) {
        const uint32_t *c = s->counts + GV_COUNT_WORDS * g, sinks = c[5];
        groups += sinks > 0;
        for (int k = 0; k < 4; k++)
            sum[k] += (uint64_t)c[k] * sinks;
    }
    __atomic_fetch_add(&s->groups, groups, __ATOMIC_RELAXED);
    for (int k = 0; k < 4; k++)
        __atomic_fetch_add(&s->sum[k], sum[k], __ATOMIC_RELAXED);
}

gravel_status gravel_tree_get_counts(gravel_tree *tree, gravel_tree_counts *counts)
{
    enum { GRAIN = 16384 };
    summing s = {NULL, 0, {0}};
    if (!tree || !counts)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tree_get_counts needs a tree and a place for the counts");
    gravel_status status = gv_tree_settle(tree, 1);
    if (!status)
        status = read_counts(tree, &s.counts);
    if (status)
        return status;
    const size_t places = tree->walked->cut.places;
    gv_parallel(places > GRAIN ? gv_context_pool(tree->worker.context) : NULL, places, GRAIN, sum_counts, &s);
    const double n = (double)tree->walked->n;
    *counts = (gravel_tree_counts){
        tree->known_cells,   0, s.groups, (double)s.sum[0] / n, (double)s.sum[1] / n, (double)s.sum[2] / n,
        (double)s.sum[3] / n};
    for (size_t l = 0; l < GV_LEVELS; l++)
        counts->levels += tree->levels[l] > 0;
    return GRAVEL_OK;
}

gravel_status gravel_tree_get_sink_counts(gravel_tree *tree, uint32_t *cells, uint32_t *bodies)
{
    const uint32_t *at;
    if (!tree)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "no tree was given");
    gravel_status status = read_counts(tree, &at);
    if (status)
        return status;
    const gravel_groups *set = tree->walked;
    const gv_buffer index = {set->index, set->n * 4};
    uint32_t *number = malloc(set->n * 4);
    status = number ? read(tree, &index, 0, set->n * 4, number, "the order of sinks")
                    : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the counts of %zu sinks", set->n);
    for (size_t g = 0; g < set->cut.places && !status; g++) {
        const uint32_t *c = at + GV_COUNT_WORDS * g;
        for (size_t k = c[4]; k < (size_t)c[4] + c[5]; k++) {
            if (cells)
                cells[number[k]] = c[0] + c[1];
            if (bodies)
                bodies[number[k]] = c[2];
        }
    }
    free(number);
    return status;
}
