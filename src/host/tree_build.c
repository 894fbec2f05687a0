/* From bodies to cells: keys, sort, octree, moments.  Everything is submitted; sizes come back later. */
#include "host/tree.h"

#include <string.h>

#define VALUE(name) (tree->config.value[GV_TT_##name])

static size_t parts(size_t n, size_t size)
{
    return (n + size - 1) / size;
}

/* lo, hi of the bodies into bounds_out */
static gravel_status find_bounds(gravel_tree *tree)
{
    const size_t most = tree->plan.wide_group == 1 ? 64 : 256;
    size_t groups = parts(tree->n, tree->plan.wide_group * 16);
    if (groups > most)
        groups = most;
    gravel_status status = gv_tree_reserve(tree, &tree->bounds_part, most * 8 * tree->scalar, "bounds");
    if (!status)
        status = gv_tree_reserve(tree, &tree->bounds_out, 8 * tree->scalar, "bounds");
    if (status)
        return status;
    const cl_uint n = (cl_uint)tree->n, n_parts = (cl_uint)groups;
    const cl_int no = 0, yes = 1;
    const gv_arg first[] = {GV_ARG(tree->body.mem), GV_ARG(n), GV_ARG(no), GV_ARG(tree->bounds_part.mem)};
    const gv_arg second[] = {GV_ARG(tree->bounds_part.mem), GV_ARG(n_parts), GV_ARG(yes), GV_ARG(tree->bounds_out.mem)};
    status = gv_tree_launch(tree, GV_STAGE_KEYS, tree->bounds, groups, tree->plan.wide_group, 4, first);
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_KEYS, tree->bounds, 1, tree->plan.wide_group, 4, second);
    return status;
}

static gravel_status sort_pass(gravel_tree *tree, gv_order *order, size_t n_keys, cl_uint shift, int from,
                               gv_stage stage)
{
    const size_t tiles = parts(n_keys, tree->plan.sort_tile), digits = (size_t)1 << VALUE(SORT_BITS);
    const cl_uint n = (cl_uint)n_keys, length = (cl_uint)tiles;
    const size_t group = (size_t)VALUE(SORT_THREADS);
    const gv_arg count[] = {GV_ARG(order->key[from].mem), GV_ARG(n), GV_ARG(shift), GV_ARG(order->table.mem)};
    const gv_arg scan[] = {GV_ARG(order->table.mem), GV_ARG(length), GV_ARG(order->total.mem)};
    const gv_arg scatter[] = {GV_ARG(order->key[from].mem),  GV_ARG(order->index[from].mem), GV_ARG(n),
                              GV_ARG(shift),                 GV_ARG(order->table.mem),       GV_ARG(order->total.mem),
                              GV_ARG(order->key[!from].mem), GV_ARG(order->index[!from].mem)};
    gravel_status status = gv_tree_launch(tree, stage, tree->sort_count, tiles, group, 4, count);
    if (!status)
        status = gv_tree_launch(tree, stage, tree->scan_rows, digits, tree->plan.wide_group, 3, scan);
    if (!status)
        status = gv_tree_launch(tree, stage, tree->sort_scatter, tiles, group, 8, scatter);
    return status;
}

gravel_status gv_tree_order(gravel_tree *tree, gv_order *order, cl_mem points, size_t n_points, gv_stage keys,
                            gv_stage sort)
{
    const size_t digits = (size_t)1 << VALUE(SORT_BITS), tiles = parts(n_points, tree->plan.sort_tile);
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k < 2 && !status; k++) {
        status = gv_tree_reserve(tree, &order->key[k], n_points * 8, "keys");
        if (!status)
            status = gv_tree_reserve(tree, &order->index[k], n_points * 4, "indices");
    }
    if (!status)
        status = gv_tree_reserve(tree, &order->table, digits * tiles * 4, "counters of the sort");
    if (!status)
        status = gv_tree_reserve(tree, &order->total, digits * 4, "counters of the sort");
    if (status)
        return status;
    const cl_uint n = (cl_uint)n_points;
    const gv_arg arg[] = {GV_ARG(points), GV_ARG(n), GV_ARG(tree->bounds_out.mem), GV_ARG(order->key[0].mem),
                          GV_ARG(order->index[0].mem)};
    status = gv_tree_launch(tree, keys, tree->keys, parts(n_points, tree->plan.keys_lanes * tree->plan.plain_group),
                            tree->plan.plain_group, 5, arg);
    order->sorted = 0;
    for (int shift = 0; shift < 63 && !status; shift += VALUE(SORT_BITS)) {
        status = sort_pass(tree, order, n_points, (cl_uint)shift, order->sorted, sort);
        order->sorted ^= 1;
    }
    return status;
}

static gravel_status gather_from(gravel_tree *tree, cl_mem from, gv_buffer *to)
{
    const cl_uint n = (cl_uint)tree->n;
    gravel_status status = gv_tree_reserve(tree, to, tree->n * 4 * tree->scalar, "sorted bodies");
    if (status)
        return status;
    const gv_arg arg[] = {GV_ARG(from), GV_ARG(tree->order.index[tree->order.sorted].mem), GV_ARG(n), GV_ARG(to->mem)};
    return gv_tree_launch(tree, GV_STAGE_SORT, tree->gather, parts(tree->n, tree->plan.plain_group),
                          tree->plan.plain_group, 4, arg);
}

static gravel_status gather(gravel_tree *tree)
{
    gravel_status status = gather_from(tree, tree->body.mem, &tree->body_sorted);
    if (!status && tree->words == 2)
        status = gather_from(tree, tree->body_low.mem, &tree->body_sorted_low);
    return status;
}

static gravel_status reserve_cells(gravel_tree *tree, size_t capacity)
{
    gravel_status status = gv_tree_reserve(tree, &tree->link, capacity * 8, "links of cells");
    if (!status)
        status = gv_tree_reserve(tree, &tree->cell, capacity * (3 + tree->words) * 4 * tree->scalar, "cells");
    if (!status)
        status = gv_tree_reserve(tree, &tree->boxes, capacity * 8 * tree->scalar, "boxes of cells");
    tree->cell_capacity = status ? 0 : capacity;
    return status;
}

static gravel_status emit_cells(gravel_tree *tree)
{
    const size_t tiles = parts(tree->n, tree->plan.build_tile);
    const cl_uint n = (cl_uint)tree->n, length = (cl_uint)tiles, capacity = (cl_uint)tree->cell_capacity;
    cl_mem key = tree->order.key[tree->order.sorted].mem;
    const gv_arg heads[] = {GV_ARG(key), GV_ARG(n), GV_ARG(tree->head.mem), GV_ARG(tree->table.mem)};
    const gv_arg scan[] = {GV_ARG(tree->table.mem), GV_ARG(length), GV_ARG(tree->level_total.mem)};
    const gv_arg emit[] = {GV_ARG(tree->head.mem),        GV_ARG(n),        GV_ARG(tree->table.mem),
                           GV_ARG(tree->level_total.mem), GV_ARG(capacity), GV_ARG(tree->link.mem)};
    gravel_status status = gv_tree_launch(tree, GV_STAGE_BUILD, tree->heads, tiles, tree->plan.wide_group, 4, heads);
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_BUILD, tree->scan_rows, GV_TREE_LEVELS, tree->plan.wide_group, 3, scan);
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_BUILD, tree->emit, tiles, tree->plan.wide_group, 6, emit);
    if (status)
        return status;
    if (tree->levels_event)
        clReleaseEvent(tree->levels_event);
    tree->levels_event = NULL;
    cl_int code = clEnqueueReadBuffer(tree->queue, tree->level_total.mem, CL_FALSE, 0, sizeof tree->levels,
                                      tree->levels, 0, NULL, &tree->levels_event);
    return code ? gv_fail_cl(code, "reading the number of cells") : GRAVEL_OK;
}

gravel_status gv_tree_moments(gravel_tree *tree)
{
    const cl_uint capacity = (cl_uint)tree->cell_capacity;
    const size_t group = tree->plan.plain_group, compute_units = (size_t)tree->limits.info.compute_units;
    /* a level has at most one cell per body; beyond that, work-items take several */
    size_t groups = parts(tree->n, group);
    const size_t most = compute_units * (tree->plan.wide_group == 1 ? 4 : 32);
    if (groups > most)
        groups = most;
    double hold;
    const gv_arg inverse_theta = gv_tree_real(tree, 1.0 / tree->options.theta, &hold);
    gravel_status status = GRAVEL_OK;
    for (int l = GV_TREE_LEVELS - 1; l >= 0 && !status; l--) {
        const cl_uint level = (cl_uint)l;
        const size_t here = l < 8 && groups > ((size_t)1 << (3 * l)) ? (size_t)1 << (3 * l) : groups;
        const gv_arg arg[] = {GV_ARG(tree->body_sorted.mem), GV_ARG(tree->body_sorted_low.mem), GV_ARG(tree->link.mem),
                              GV_ARG(tree->level_total.mem),
                              GV_ARG(level),                 GV_ARG(capacity),       inverse_theta,
                              GV_ARG(tree->cell.mem),        GV_ARG(tree->boxes.mem)};
        status = gv_tree_launch(tree, GV_STAGE_MOMENTS, tree->moments, here, group, 9, arg);
    }
    return status;
}

gravel_status gv_tree_build(gravel_tree *tree)
{
    const size_t tiles = parts(tree->n, tree->plan.build_tile);
    for (int k = GV_STAGE_KEYS; k <= GV_STAGE_MOMENTS; k++)
        gv_tree_clear_stage(tree, (gv_stage)k);
    gravel_status status = find_bounds(tree);
    if (!status)
        status = gv_tree_order(tree, &tree->order, tree->body.mem, tree->n, GV_STAGE_KEYS, GV_STAGE_SORT);
    if (!status)
        status = gather(tree);
    if (!status)
        status = gv_tree_reserve(tree, &tree->head, tree->n * 2, "levels of bodies");
    if (!status)
        status = gv_tree_reserve(tree, &tree->table, tiles * GV_TREE_LEVELS * 4, "counters of the build");
    if (!status)
        status = gv_tree_reserve(tree, &tree->level_total, GV_TREE_LEVELS * 4, "sizes of levels");
    /* leaves are filled to a third on average; the exact number is known later */
    const size_t guess = tree->n * 5 / (size_t)VALUE(N_LEAF) + 4096;
    if (!status && tree->cell_capacity < guess)
        status = reserve_cells(tree, guess);
    if (!status)
        status = emit_cells(tree);
    if (!status)
        status = gv_tree_moments(tree);
    tree->built = !status;
    tree->moved = 0;
    return status;
}

gravel_status gv_tree_refit(gravel_tree *tree)
{
    for (int k = GV_STAGE_KEYS; k <= GV_STAGE_MOMENTS; k++)
        gv_tree_clear_stage(tree, (gv_stage)k);
    gravel_status status = gather(tree);
    if (!status)
        status = gv_tree_moments(tree);
    tree->moved = 0;
    return status;
}

gravel_status gv_tree_check_cells(gravel_tree *tree, int *grown)
{
    *grown = 0;
    if (!tree->levels_event)
        return GRAVEL_OK;
    cl_int code = clWaitForEvents(1, &tree->levels_event);
    clReleaseEvent(tree->levels_event);
    tree->levels_event = NULL;
    if (code)
        return gv_fail_cl(code, "building the tree of %zu bodies", tree->n);
    size_t cells = 0;
    for (int l = 0; l < GV_TREE_LEVELS; l++)
        cells += tree->levels[l];
    if (cells <= tree->cell_capacity)
        return GRAVEL_OK;
    *grown = 1;
    gv_tree_clear_stage(tree, GV_STAGE_BUILD);
    gv_tree_clear_stage(tree, GV_STAGE_MOMENTS);
    gravel_status status = reserve_cells(tree, cells + cells / 16);
    if (!status)
        status = emit_cells(tree);
    if (!status)
        status = gv_tree_moments(tree);
    tree->built = !status;
    return status;
}
