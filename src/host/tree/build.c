/* From bodies to cells: keys, sort, octree, moments.  Everything is submitted; sizes come back later, and are waited
 * for only where they cannot be estimated from an earlier build. */
#include "host/tree/tree.h"

#include <string.h>

#define VALUE(name) (tree->config.value[GV_TT_##name])

static size_t parts(size_t n, size_t size)
{
    return (n + size - 1) / size;
}

/* lo, hi of the bodies, or of the cube that all parts of a tree have */
static gravel_status find_bounds(gravel_tree *tree)
{
    const size_t most = tree->plan.wide_group == 1 ? 64 : 8 * (size_t)tree->limits.info.compute_units;
    gv_buffer *part = &tree->buffer[GV_TB_BOUNDS_PART], *bounds = &tree->buffer[GV_TB_BOUNDS];
    size_t groups = parts(tree->n, tree->plan.wide_group * 16);
    if (groups > most)
        groups = most;
    gravel_status status = gv_tree_reserve(tree, part, most * 8 * tree->scalar, "bounds");
    if (!status)
        status = gv_tree_reserve(tree, bounds, 8 * tree->scalar, "bounds");
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_KEYS, GV_TK_BOUNDS, gv_groups(groups, tree->plan.wide_group),
                                GV_ARG(tree->body), GV_UINT(tree->n), GV_INT(0), GV_MEM(*part));
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_KEYS, GV_TK_BOUNDS, gv_groups(1, tree->plan.wide_group), GV_MEM(*part),
                                GV_UINT(groups), GV_INT(1), GV_MEM(*bounds));
    if (!status && tree->in_frame)
        status = gv_tree_launch(tree, GV_STAGE_KEYS, GV_TK_CUBE, gv_groups(1, 1), GV_MEM(*bounds));
    return status;
}

/* Work-groups share a table (kernels/tree/keys.cl): work-items take several points each. */
static gv_range keys_range(const gravel_tree *tree, size_t n)
{
    const size_t group = tree->plan.wide_group, most = 8 * (size_t)tree->limits.info.compute_units;
    if (group == 1)
        return gv_tree_items(tree, parts(n, tree->plan.keys_lanes));
    return gv_groups(parts(n, group) < most ? parts(n, group) : most, group);
}

gravel_status gv_tree_order(gravel_tree *tree, gv_sort *order, cl_mem points, size_t n, gv_stage keys, gv_stage sort)
{
    gravel_status status = gv_sort_reserve(order, &tree->worker, n);
    if (!status)
        status = gv_tree_launch(tree, keys, GV_TK_KEYS, keys_range(tree, n), GV_ARG(points), GV_UINT(n),
                                GV_MEM(tree->buffer[GV_TB_BOUNDS]), GV_MEM(order->key[order->sorted]),
                                GV_MEM(order->index[order->sorted]));
    return status ? status : gv_sort_run(order, &tree->worker, (int)sort, n, 3 * (GV_LEVELS - 1));
}

/* Moments in two launches, where the device has fences between work-groups (kernels/tree/moments.cl). */
static int climbs(const gravel_tree *tree)
{
    return tree->limits.has_ptx_asm;
}

static gravel_status reserve_cells(gravel_tree *tree, size_t capacity)
{
    const size_t vector = 4 * tree->scalar;
    gravel_status status = gv_tree_reserve(tree, &tree->buffer[GV_TB_LINK], capacity * 8, "links of cells");
    if (!status && climbs(tree))
        status = gv_tree_reserve(tree, &tree->buffer[GV_TB_CLIMB], capacity * 8, "parents of cells");
    if (!status)
        status = gv_tree_reserve(tree, &tree->buffer[GV_TB_CELL],
                                 capacity * (GV_CELL_VECTORS + tree->words - 1) * vector, "cells");
    if (!status)
        status =
            gv_tree_reserve(tree, &tree->buffer[GV_TB_BOXES], capacity * GV_BOX_VECTORS * vector, "boxes of cells");
    tree->cell_capacity = status ? 0 : capacity;
    return status;
}

/* The sizes of levels are copied on the copy queue, so that later kernels do not wait for them. */
static gravel_status read_levels(gravel_tree *tree)
{
    cl_command_queue queue = gv_worker_queue(&tree->worker), copy = gv_worker_device(&tree->worker)->copy;
    cl_event made = NULL;
    cl_int code = CL_SUCCESS;
    if (!tree->levels_pinned)
        tree->levels_pinned = clCreateBuffer(tree->worker.context->cl, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                             sizeof tree->levels, NULL, &code);
    if (!code && !tree->levels_coming)
        tree->levels_coming = clEnqueueMapBuffer(copy, tree->levels_pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                                 sizeof tree->levels, 0, NULL, NULL, &code);
    if (!code)
        code = clEnqueueMarkerWithWaitList(queue, 0, NULL, &made);
    if (!code)
        code = clFlush(queue);
    if (!code)
        code = clEnqueueReadBuffer(copy, tree->buffer[GV_TB_LEVEL_TOTAL].mem, CL_FALSE, 0, sizeof tree->levels,
                                   tree->levels_coming, 1, &made, &tree->levels_event);
    if (!code)
        code = clFlush(copy);
    if (made)
        clReleaseEvent(made);
    return code ? gv_fail_cl(code, "reading the number of cells") : GRAVEL_OK;
}

static gravel_status emit_cells(gravel_tree *tree)
{
    const size_t tiles = parts(tree->n, tree->plan.build_tile), group = tree->plan.wide_group;
    gv_buffer *b = tree->buffer;
    gravel_status status = gv_tree_launch(tree, GV_STAGE_BUILD, GV_TK_HEADS, gv_groups(tiles, group),
                                          GV_MEM(tree->order.key[tree->order.sorted]), GV_UINT(tree->n),
                                          GV_MEM(b[GV_TB_HEAD]), GV_MEM(b[GV_TB_TABLE]));
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_BUILD, GV_TK_SCAN, gv_groups(GV_LEVELS, group), GV_MEM(b[GV_TB_TABLE]),
                                GV_UINT(tiles), GV_MEM(b[GV_TB_LEVEL_TOTAL]));
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_BUILD, GV_TK_EMIT, gv_groups(tiles, group), GV_MEM(b[GV_TB_HEAD]),
                                GV_UINT(tree->n), GV_MEM(b[GV_TB_TABLE]), GV_MEM(b[GV_TB_LEVEL_TOTAL]),
                                GV_UINT(tree->cell_capacity), GV_MEM(b[GV_TB_LINK]), GV_MEM(b[GV_TB_CLIMB]));
    tree->emitted = tree->n;
    return status ? status : read_levels(tree);
}

/* All leaves, then all other cells.  There is about a cell for every four bodies; where there are more, work-items take
 * several. */
static gravel_status climb(gravel_tree *tree)
{
    const size_t group = tree->plan.plain_group, most = 64 * (size_t)tree->limits.info.compute_units;
    const size_t groups = parts(tree->n, 4 * group);
    const gv_range range = gv_groups(groups < most ? groups : most, group);
    const gv_buffer *b = tree->buffer;
    const gv_arg theta = GV_TREE_REAL(tree, 1.0 / tree->options.theta);
    gravel_status status =
        gv_tree_launch(tree, GV_STAGE_MOMENTS, GV_TK_LEAVES, range, GV_MEM(b[GV_TB_BODY]), GV_MEM(b[GV_TB_BODY_LOW]),
                       GV_MEM(b[GV_TB_LINK]), GV_MEM(b[GV_TB_LEVEL_TOTAL]), GV_UINT(tree->cell_capacity), theta,
                       GV_MEM(b[GV_TB_CELL]), GV_MEM(b[GV_TB_BOXES]), GV_MEM(b[GV_TB_CLIMB]));
    return status ? status
                  : gv_tree_launch(tree, GV_STAGE_MOMENTS, GV_TK_CLIMB, range, GV_MEM(b[GV_TB_BODY]),
                                   GV_MEM(b[GV_TB_BODY_LOW]), GV_MEM(b[GV_TB_LINK]), GV_MEM(b[GV_TB_LEVEL_TOTAL]),
                                   GV_UINT(tree->cell_capacity), theta, GV_MEM(b[GV_TB_CELL]), GV_MEM(b[GV_TB_BOXES]),
                                   GV_MEM(b[GV_TB_CLIMB]));
}

static gravel_status moments_by_level(gravel_tree *tree)
{
    const size_t group = tree->plan.plain_group, compute_units = (size_t)tree->limits.info.compute_units;
    /* a level has at most one cell per body; beyond that, work-items take several */
    size_t groups = parts(tree->n, group);
    const size_t most = compute_units * (tree->plan.wide_group == 1 ? 4 : 32);
    gv_buffer *b = tree->buffer;
    gravel_status status = GRAVEL_OK;
    if (groups > most)
        groups = most;
    for (int l = GV_LEVELS - 1; l >= 0 && !status; l--) {
        const size_t here = l < 8 && groups > ((size_t)1 << (3 * l)) ? (size_t)1 << (3 * l) : groups;
        status = gv_tree_launch(tree, GV_STAGE_MOMENTS, GV_TK_MOMENTS, gv_groups(here, group), GV_MEM(b[GV_TB_BODY]),
                                GV_MEM(b[GV_TB_BODY_LOW]), GV_MEM(b[GV_TB_LINK]), GV_MEM(b[GV_TB_LEVEL_TOTAL]),
                                GV_UINT(l), GV_UINT(tree->cell_capacity), GV_TREE_REAL(tree, 1.0 / tree->options.theta),
                                GV_MEM(b[GV_TB_CELL]), GV_MEM(b[GV_TB_BOXES]));
    }
    return status;
}

gravel_status gv_tree_moments(gravel_tree *tree)
{
    return climbs(tree) ? climb(tree) : moments_by_level(tree);
}

/* Room for cells: leaves are filled to a third on average; where the number of an earlier build is known, a quarter
 * more than that. */
static size_t guess_cells(const gravel_tree *tree, size_t n)
{
    size_t guess = n * 5 / (size_t)VALUE(N_LEAF) + 4096;
    if (tree->known_n > 0) {
        const size_t more = (size_t)((double)tree->known_cells * 1.25 * (double)n / (double)tree->known_n) + 4096;
        guess = more > guess ? more : guess;
    }
    return guess;
}

/* Whether the number of cells can be estimated from an earlier build. */
static int is_known(const gravel_tree *tree)
{
    return tree->known_n > 0 && tree->n <= tree->known_n + tree->known_n / 16;
}

gravel_status gv_tree_settle(gravel_tree *tree, int wait)
{
    cl_int state = CL_COMPLETE, code = CL_SUCCESS;
    if (!tree->levels_event)
        return GRAVEL_OK;
    if (wait)
        code = clWaitForEvents(1, &tree->levels_event);
    else
        code = clGetEventInfo(tree->levels_event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    if (!code && state > 0)
        return GRAVEL_OK;
    clReleaseEvent(tree->levels_event);
    tree->levels_event = NULL;
    if (code || state < 0)
        return gv_fail_cl(code ? code : state, "building the tree of %zu bodies", tree->n);
    memcpy(tree->levels, tree->levels_coming, sizeof tree->levels);
    tree->known_cells = 0;
    tree->known_n = tree->emitted;
    for (int l = 0; l < GV_LEVELS; l++)
        tree->known_cells += tree->levels[l];
    if (tree->known_cells > tree->cell_capacity) {
        tree->bad_build = tree->build;
        tree->built = 0;
    } else {
        tree->unseen = 0;
    }
    return GRAVEL_OK;
}

gravel_status gv_tree_reserve_build(gravel_tree *tree, size_t n)
{
    const size_t tiles = parts(n, tree->plan.build_tile), cells = guess_cells(tree, n);
    gv_buffer *b = tree->buffer;
    gravel_status status = gv_sort_reserve(&tree->order, &tree->worker, n);
    if (!status)
        status = gv_tree_reserve(tree, &b[GV_TB_HEAD], n * 2, "levels of bodies");
    if (!status)
        status = gv_tree_reserve(tree, &b[GV_TB_TABLE], tiles * GV_LEVELS * 4, "counters of the build");
    if (!status)
        status = gv_tree_reserve(tree, &b[GV_TB_LEVEL_TOTAL], GV_LEVELS * 4, "sizes of levels");
    return status || tree->cell_capacity >= cells ? status : reserve_cells(tree, cells);
}

gravel_status gv_tree_build(gravel_tree *tree)
{
    gravel_status status = gv_tree_settle(tree, 1);
    tree->build++;
    if (!status)
        status = find_bounds(tree);
    if (!status)
        status = gv_tree_order(tree, &tree->order, tree->body, tree->n, GV_STAGE_KEYS, GV_STAGE_SORT);
    if (!status)
        status = gv_tree_gather(tree);
    if (!status)
        status = gv_tree_reserve_build(tree, tree->n);
    const int known = is_known(tree);
    if (!status)
        status = emit_cells(tree);
    if (!status && !known)
        status = gv_tree_settle(tree, 1);
    if (!status && tree->bad_build == tree->build) { /* once more, with the room that is known to suffice */
        tree->bad_build = 0;
        status = reserve_cells(tree, guess_cells(tree, tree->n));
        if (!status)
            status = emit_cells(tree);
    }
    if (!status)
        status = gv_tree_moments(tree);
    tree->built = !status;
    return status;
}
