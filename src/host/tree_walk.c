/* Forces: sinks into groups, the walk, results. */
#include "host/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VALUE(name) (tree->config.value[GV_TT_##name])

static size_t parts(size_t n, size_t size)
{
    return (n + size - 1) / size;
}

/* who feels: device buffers of a walk */
typedef struct gv_sink_set {
    cl_mem points, list, index, out; /* list, index: NULL where places are the points' own */
    size_t n;
    cl_int own;
} gv_sink_set;

static gravel_status walk_groups(gravel_tree *tree, const gv_sink_set *sinks, double eps)
{
    /* distances below 1e-12 of the box are softened: 1/s^3 stays finite in float */
    const double floor2 = 1e-24, scaled = eps / tree->length, eps2 = scaled * scaled;
    const int unsoftened = eps2 <= floor2;
    const size_t n_group = (size_t)VALUE(N_GROUP);
    tree->n_groups = parts(sinks->n, n_group);
    tree->n_sinks = sinks->n;
    gv_tree_clear_stage(tree, GV_STAGE_GROUPS);
    gv_tree_clear_stage(tree, GV_STAGE_WALK);
    gravel_status status =
        gv_tree_reserve(tree, &tree->group, tree->n_groups * GV_TREE_GROUP_VECTORS * 4 * tree->scalar, "groups");
    if (!status)
        status = gv_tree_reserve(tree, &tree->counts, tree->n_groups * 16, "interaction counts");
    if (status)
        return status;
    double hold[4];
    const double support2 = tree->options.softening == GRAVEL_SPLINE ? 2.8 * 2.8 : 1;
    const gv_arg plummer = gv_tree_real(tree, unsoftened ? floor2 : eps2, &hold[3]);
    const gv_arg soft = gv_tree_real(tree, unsoftened ? floor2 : eps2 * support2, &hold[0]);
    const gv_arg tau = gv_tree_real(tree, gv_tree_tau(&tree->options), &hold[1]);
    const gv_arg tau_local = gv_tree_real(tree, gv_tree_tau_local(&tree->options), &hold[2]);
    const cl_uint n = (cl_uint)sinks->n;
    cl_mem last = tree->options.mac == GRAVEL_TREE_LAST && tree->has_last && sinks->own ? tree->force.mem : NULL;
    const gv_arg groups[] = {GV_ARG(sinks->points),
                             GV_ARG(sinks->list),
                             GV_ARG(n),
                             GV_ARG(tree->cell.mem),
                             GV_ARG(last),
                             GV_ARG(sinks->index),
                             plummer,
                             tau,
                             tau_local,
                             GV_ARG(tree->group.mem)};
    const gv_arg walk[] = {GV_ARG(tree->cell.mem), GV_ARG(tree->body_sorted.mem), GV_ARG(sinks->points),
                           GV_ARG(sinks->list),    GV_ARG(sinks->index),          GV_ARG(sinks->own),
                           GV_ARG(tree->group.mem), soft,                         GV_ARG(sinks->out),
                           GV_ARG(tree->counts.mem)};
    status = gv_tree_launch(tree, GV_STAGE_GROUPS, tree->groups, parts(tree->n_groups, tree->plan.plain_group),
                            tree->plan.plain_group, 10, groups);
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_WALK, tree->walk[unsoftened], tree->n_groups, (size_t)VALUE(THREADS), 10,
                                walk);
    return status;
}

static gravel_status check_call(gravel_tree *tree, double eps)
{
    if (!tree)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "no tree was given");
    if (tree->n == 0)
        return gv_fail(GRAVEL_ERR_STATE, "the tree has no bodies: gravel_tree_write comes first");
    if (!(eps >= 0) || !isfinite(eps))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the softening length is %g: it must be 0 or more", eps);
    return GRAVEL_OK;
}

/* The walk is submitted before the number of cells is known; the rare tree that did not fit is walked again. */
static gravel_status walk_checked(gravel_tree *tree, const gv_sink_set *sinks, double eps)
{
    int grown;
    gravel_status status = walk_groups(tree, sinks, eps);
    if (!status)
        status = gv_tree_check_cells(tree, &grown);
    if (!status && grown)
        status = walk_groups(tree, sinks, eps);
    return status;
}

static gravel_status ready(gravel_tree *tree, double eps)
{
    gravel_status status = check_call(tree, eps);
    if (!status && !tree->built)
        status = gv_tree_build(tree);
    return status;
}

gravel_status gravel_tree_build(gravel_tree *tree)
{
    gravel_status status = check_call(tree, 0);
    return status ? status : gv_tree_build(tree);
}

gravel_status gravel_tree_refit(gravel_tree *tree)
{
    gravel_status status = check_call(tree, 0);
    if (status)
        return status;
    if (!tree->built)
        return gv_tree_build(tree);
    int grown; /* sizes of the build before may not have come in yet */
    status = gv_tree_check_cells(tree, &grown);
    return status ? status : gv_tree_refit(tree);
}

gravel_status gravel_tree_compute(gravel_tree *tree, double eps)
{
    gravel_status status = ready(tree, eps);
    if (!status)
        status = gv_tree_reserve(tree, &tree->force, tree->n * 4 * tree->scalar, "forces");
    if (status)
        return status;
    tree->sinks_are = GV_SINKS_NONE;
    const gv_sink_set sinks = {tree->body_sorted.mem, NULL, tree->order.index[tree->order.sorted].mem, tree->force.mem,
                               tree->n, 1};
    status = walk_checked(tree, &sinks, eps);
    if (!status) {
        tree->sinks_are = GV_SINKS_ALL;
        tree->has_last = 1;
    }
    return status;
}

gravel_status gravel_tree_read(gravel_tree *tree, const gravel_forces *forces)
{
    if (!tree)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "no tree was given");
    return gv_tree_download(tree, forces);
}

gravel_status gravel_tree_forces(gravel_tree *tree, double eps, const gravel_forces *forces)
{
    gravel_status status = gravel_tree_compute(tree, eps);
    return status ? status : gv_tree_download(tree, forces);
}

/* The bodies of `address` in key order, as places among the sorted bodies. */
static gravel_status list_active(gravel_tree *tree, const uint32_t *address, size_t count)
{
    const size_t tiles = parts(tree->n, tree->plan.compact_tile);
    gravel_status status = gv_tree_reserve(tree, &tree->flag, tree->n, "flags of active bodies");
    if (!status)
        status = gv_tree_reserve(tree, &tree->list, count * 4, "list of active bodies");
    if (!status)
        status = gv_tree_reserve(tree, &tree->count_table, tiles * 4, "counters of active bodies");
    if (!status)
        status = gv_tree_reserve(tree, &tree->count_total, 4, "counters of active bodies");
    if (status)
        return status;
    cl_int code;
    unsigned char *flag =
        clEnqueueMapBuffer(tree->queue, tree->flag.mem, CL_TRUE, CL_MAP_WRITE, 0, tree->n, 0, NULL, NULL, &code);
    if (code)
        return gv_fail_cl(code, "mapping flags of %zu bodies", tree->n);
    memset(flag, 0, tree->n);
    size_t bad = SIZE_MAX;
    for (size_t k = 0; k < count && bad == SIZE_MAX; k++) {
        if (address[k] >= tree->n || flag[address[k]])
            bad = k;
        else
            flag[address[k]] = 1;
    }
    code = clEnqueueUnmapMemObject(tree->queue, tree->flag.mem, flag, 0, NULL, NULL);
    if (code)
        return gv_fail_cl(code, "writing flags of %zu bodies", tree->n);
    if (bad != SIZE_MAX)
        return gv_fail(GRAVEL_ERR_INPUT, "active body %zu: address %u %s", bad, address[bad],
                       address[bad] >= tree->n ? "does not exist" : "comes twice");
    const cl_uint n = (cl_uint)tree->n, length = (cl_uint)tiles;
    cl_mem at = tree->order.index[tree->order.sorted].mem;
    const gv_arg first[] = {GV_ARG(tree->flag.mem), GV_ARG(at), GV_ARG(n), GV_ARG(tree->count_table.mem)};
    const gv_arg scan[] = {GV_ARG(tree->count_table.mem), GV_ARG(length), GV_ARG(tree->count_total.mem)};
    const gv_arg write[] = {GV_ARG(tree->flag.mem), GV_ARG(at), GV_ARG(n), GV_ARG(tree->count_table.mem),
                            GV_ARG(tree->list.mem)};
    status = gv_tree_launch(tree, GV_STAGE_GROUPS, tree->compact_count, tiles, tree->plan.wide_group, 4, first);
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_GROUPS, tree->scan_rows, 1, tree->plan.wide_group, 3, scan);
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_GROUPS, tree->compact_write, tiles, tree->plan.wide_group, 5, write);
    return status;
}

gravel_status gravel_tree_forces_active(gravel_tree *tree, const uint32_t *address, size_t count, double eps,
                                        const gravel_forces *forces)
{
    gravel_status status = ready(tree, eps);
    if (status)
        return status;
    if (!address || count == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "no active bodies were given");
    if (count > tree->n)
        return gv_fail(GRAVEL_ERR_INPUT, "%zu active bodies of %zu", count, tree->n);
    uint32_t *active = realloc(tree->active, count * sizeof *active);
    if (!active)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu addresses", count);
    tree->active = active;
    memcpy(active, address, count * sizeof *active);
    tree->sinks_are = GV_SINKS_NONE;
    status = gv_tree_reserve(tree, &tree->force, tree->n * 4 * tree->scalar, "forces");
    if (!status)
        status = list_active(tree, address, count);
    if (status)
        return status;
    const gv_sink_set sinks = {tree->body_sorted.mem, tree->list.mem, tree->order.index[tree->order.sorted].mem,
                               tree->force.mem, count, 1};
    status = walk_checked(tree, &sinks, eps);
    if (status)
        return status;
    tree->sinks_are = GV_SINKS_ACTIVE;
    return gv_tree_download(tree, forces);
}

gravel_status gravel_tree_forces_at(gravel_tree *tree, const gravel_sinks *points, double eps,
                                    const gravel_forces *forces)
{
    gravel_status status = ready(tree, eps);
    if (status)
        return status;
    if (!points || points->count == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "no points were given");
    if (points->count > 0x3fffffff)
        return gv_fail(GRAVEL_ERR_INPUT, "%zu points are too many at once", points->count);
    const size_t n_points = points->count, bytes = n_points * 4 * tree->scalar;
    tree->sinks_are = GV_SINKS_NONE;
    status = gv_tree_check_positions(&points->pos, n_points, "points");
    if (!status)
        status = gv_tree_reserve(tree, &tree->points, bytes, "points");
    if (!status)
        status = gv_tree_reserve(tree, &tree->points_force, bytes, "forces at points");
    if (!status)
        status = gv_tree_upload(tree, &points->pos, NULL, n_points, tree->points.mem, "points");
    if (!status)
        status = gv_tree_order(tree, &tree->point_order, tree->points.mem, n_points, GV_STAGE_GROUPS, GV_STAGE_GROUPS);
    if (status)
        return status;
    cl_mem index = tree->point_order.index[tree->point_order.sorted].mem;
    const gv_sink_set sinks = {tree->points.mem, index, NULL, tree->points_force.mem, n_points, 0};
    status = walk_checked(tree, &sinks, eps);
    if (status)
        return status;
    tree->sinks_are = GV_SINKS_POINTS;
    return gv_tree_download(tree, forces);
}

/* -------------------------------------------------------------------- counts */

gravel_status gravel_tree_get_counts(gravel_tree *tree, gravel_tree_counts *counts)
{
    if (!tree || !counts)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tree_get_counts needs a tree and a place for the counts");
    if (tree->sinks_are == GV_SINKS_NONE)
        return gv_fail(GRAVEL_ERR_STATE, "there were no forces yet");
    cl_int code;
    const uint32_t *at = clEnqueueMapBuffer(tree->queue, tree->counts.mem, CL_TRUE, CL_MAP_READ, 0, tree->n_groups * 16,
                                            0, NULL, NULL, &code);
    if (code)
        return gv_fail_cl(code, "reading interaction counts");
    const size_t n_group = (size_t)VALUE(N_GROUP);
    double sum[4] = {0};
    for (size_t g = 0; g < tree->n_groups; g++) {
        const size_t sinks = tree->n_sinks - g * n_group < n_group ? tree->n_sinks - g * n_group : n_group;
        for (int k = 0; k < 4; k++)
            sum[k] += (double)at[4 * g + (size_t)k] * (double)sinks;
    }
    clEnqueueUnmapMemObject(tree->queue, tree->counts.mem, (void *)(uintptr_t)at, 0, NULL, NULL);
    const double n = (double)tree->n_sinks;
    *counts = (gravel_tree_counts){0, 0, tree->n_groups, sum[0] / n, sum[1] / n, sum[2] / n, sum[3] / n};
    for (size_t l = 0; l < GV_TREE_LEVELS; l++) {
        counts->cells += tree->levels[l];
        counts->levels += tree->levels[l] > 0;
    }
    return GRAVEL_OK;
}

gravel_status gravel_tree_get_sink_counts(gravel_tree *tree, uint32_t *cells, uint32_t *bodies)
{
    if (!tree)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "no tree was given");
    if (tree->sinks_are == GV_SINKS_NONE)
        return gv_fail(GRAVEL_ERR_STATE, "there were no forces yet");
    /* who is number k of the walk: key order, through the list where there is one, to the order of the results */
    const size_t n = tree->n_sinks, n_group = (size_t)VALUE(N_GROUP);
    gravel_status status = GRAVEL_OK;
    uint32_t *count = malloc(tree->n_groups * 16), *index = malloc(tree->n * 4 + n * 4);
    uint32_t *list = malloc((n + tree->n) * 4);
    if (!count || !index || !list)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the counts of %zu sinks", n);
    const gv_order *order = tree->sinks_are == GV_SINKS_POINTS ? &tree->point_order : &tree->order;
    const size_t n_index = tree->sinks_are == GV_SINKS_POINTS ? n : tree->n;
    cl_int code = CL_SUCCESS;
    if (!status)
        code =
            clEnqueueReadBuffer(tree->queue, tree->counts.mem, CL_TRUE, 0, tree->n_groups * 16, count, 0, NULL, NULL);
    if (!status && !code)
        code = clEnqueueReadBuffer(tree->queue, order->index[order->sorted].mem, CL_TRUE, 0, n_index * 4, index, 0,
                                   NULL, NULL);
    if (!status && !code && tree->sinks_are == GV_SINKS_ACTIVE)
        code = clEnqueueReadBuffer(tree->queue, tree->list.mem, CL_TRUE, 0, n * 4, list, 0, NULL, NULL);
    if (code)
        status = gv_fail_cl(code, "reading interaction counts of %zu sinks", n);
    if (!status && tree->sinks_are == GV_SINKS_ACTIVE) {
        uint32_t *result_of = list + n; /* body -> number of its result */
        for (size_t k = 0; k < n; k++)
            result_of[tree->active[k]] = (uint32_t)k;
        for (size_t k = 0; k < n; k++)
            list[k] = result_of[index[list[k]]];
    }
    for (size_t k = 0; k < n && !status; k++) {
        const uint32_t *c = count + 4 * (k / n_group), to = tree->sinks_are == GV_SINKS_ACTIVE ? list[k] : index[k];
        if (cells)
            cells[to] = c[0] + c[1];
        if (bodies)
            bodies[to] = c[2];
    }
    free(count);
    free(index);
    free(list);
    return status;
}
