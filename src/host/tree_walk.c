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

enum { N_WALK_ARGS = 12 }; /* of the one pass */

/* who feels: device buffers of a walk */
typedef struct gv_sink_set {
    cl_mem points, low, list, index, out; /* list, index: NULL where places are the points' own; low: in ds */
    size_t n;
    cl_int own;
} gv_sink_set;

/* The flags of n elements (element k: flag[at[k]]) into a list of those set, in order; its length: count_total. */
static gravel_status list_flagged(gravel_tree *tree, cl_mem flag, cl_mem at, size_t n_flags, cl_mem to)
{
    const size_t tiles = parts(n_flags, tree->plan.compact_tile), group = tree->plan.wide_group;
    gravel_status status = gv_tree_reserve(tree, &tree->count_table, tiles * 4, "counters of a list");
    if (!status)
        status = gv_tree_reserve(tree, &tree->count_total, 4, "counters of a list");
    if (status)
        return status;
    const cl_uint n = (cl_uint)n_flags, length = (cl_uint)tiles;
    const gv_arg first[] = {GV_ARG(flag), GV_ARG(at), GV_ARG(n), GV_ARG(tree->count_table.mem)};
    const gv_arg scan[] = {GV_ARG(tree->count_table.mem), GV_ARG(length), GV_ARG(tree->count_total.mem)};
    const gv_arg write[] = {GV_ARG(flag), GV_ARG(at), GV_ARG(n), GV_ARG(tree->count_table.mem), GV_ARG(to)};
    status = gv_tree_launch(tree, GV_STAGE_GROUPS, tree->compact_count, tiles, group, 4, first);
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_GROUPS, tree->scan_rows, 1, group, 3, scan);
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_GROUPS, tree->compact_write, tiles, group, 5, write);
    return status;
}

/* Wide groups that may be split (kernels/tree/groups.cl).  All of a small call, which may be a sparse subset whose
 * groups are all wide; a few of a large one.  One work-item that walks alone never waits for another: none. */
static size_t wide_room(const gravel_tree *tree)
{
    if (VALUE(THREADS) == 1 || VALUE(N_GROUP) == 1)
        return 0;
    return tree->n_sinks <= 16384 ? tree->n_groups : tree->n_groups / 128 + 512;
}

/* numbers as the kernels take them */
typedef struct gv_walk_numbers {
    double hold[4];
    gv_arg plummer, soft, tau, tau_local;
    int unsoftened;
} gv_walk_numbers;

static void find_numbers(const gravel_tree *tree, double eps, gv_walk_numbers *w)
{
    /* distances below 1e-12 of the box are softened: 1/s^3 stays finite in float */
    const double floor2 = 1e-24, scaled = eps / tree->length, eps2 = scaled * scaled;
    const double support2 = tree->options.softening == GRAVEL_SPLINE ? 2.8 * 2.8 : 1;
    w->unsoftened = eps2 <= floor2;
    w->plummer = gv_tree_real(tree, w->unsoftened ? floor2 : eps2, &w->hold[0]);
    w->soft = gv_tree_real(tree, w->unsoftened ? floor2 : eps2 * support2, &w->hold[1]);
    w->tau = gv_tree_real(tree, gv_tree_tau(&tree->options, VALUE(N_GROUP)), &w->hold[2]);
    w->tau_local = gv_tree_real(tree, gv_tree_tau_local(&tree->options, VALUE(N_GROUP)), &w->hold[3]);
}

static gravel_status make_groups(gravel_tree *tree, const gv_sink_set *sinks, const gv_walk_numbers *w)
{
    const size_t n_group = (size_t)VALUE(N_GROUP), room = wide_room(tree);
    const cl_uint n = (cl_uint)sinks->n, n_room = (cl_uint)room;
    cl_mem last = tree->options.mac == GRAVEL_TREE_LAST && tree->has_last && sinks->own ? tree->force.mem : NULL;
    cl_mem wide = room ? tree->wide.mem : NULL, none = NULL;
    const gv_arg groups[] = {GV_ARG(sinks->points), GV_ARG(sinks->list),  GV_ARG(n),  GV_ARG(tree->cell.mem),
                             GV_ARG(last),          GV_ARG(sinks->index), w->plummer, w->tau,
                             w->tau_local,          GV_ARG(tree->group.mem), GV_ARG(wide)};
    gravel_status status = gv_tree_launch(tree, GV_STAGE_GROUPS, tree->groups,
                                          parts(tree->n_groups, tree->plan.plain_group), tree->plan.plain_group, 11,
                                          groups);
    if (status || !room)
        return status;
    status = list_flagged(tree, wide, none, tree->n_groups, tree->wide_list.mem);
    const gv_arg split[] = {groups[0], groups[1], groups[2], groups[3], groups[4], groups[5], groups[6], groups[7],
                            groups[8], groups[9], GV_ARG(tree->wide_list.mem), GV_ARG(tree->count_total.mem),
                            GV_ARG(n_room)};
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_GROUPS, tree->split, parts(room * n_group, tree->plan.plain_group),
                                tree->plan.plain_group, 13, split);
    return status;
}

/* The arguments of all passes; walk_lanes.cl has one pass and takes no lists. */
static gravel_status start_pass(gravel_tree *tree, cl_kernel kernel, const gv_arg *walk)
{
    gv_arg arg[N_WALK_ARGS + 3];
    memcpy(arg, walk, N_WALK_ARGS * sizeof *walk);
    arg[N_WALK_ARGS] = GV_ARG(tree->walk_table.mem);
    arg[N_WALK_ARGS + 1] = GV_ARG(tree->walk_total.mem);
    arg[N_WALK_ARGS + 2] = GV_ARG(tree->walk_lists.mem);
    return gv_tree_launch(tree, GV_STAGE_WALK, kernel, tree->n_places, (size_t)VALUE(THREADS),
                          N_WALK_ARGS + (VALUE(THREADS) > 1 ? 3 : 0), arg);
}

/* Room for the lists of all groups, when it is known what they will hold. */
static gravel_status reserve_lists(gravel_tree *tree)
{
    cl_uint total[3];
    const cl_int code = clEnqueueReadBuffer(tree->queue, tree->walk_total.mem, CL_TRUE, 0, sizeof total, total, 0, NULL,
                                            NULL);
    if (code)
        return gv_fail_cl(code, "reading the length of the lists");
    const uint64_t entries = (uint64_t)total[0] + total[1] + total[2];
    if (entries > UINT32_MAX)
        return gv_fail(GRAVEL_ERR_DEVICE_MEMORY,
                       "lists of %zu sinks would have %.3g entries, more than 32 bits address: passes=1 needs none",
                       tree->n_sinks, (double)entries);
    return gv_tree_reserve(tree, &tree->walk_lists, (size_t)entries * 4,
                           "lists of cells and bodies (passes=1 needs none)");
}

static gravel_status launch_walk(gravel_tree *tree, cl_kernel evaluate, const gv_arg *walk)
{
    if (VALUE(PASSES) == 1)
        return start_pass(tree, evaluate, walk);
    gravel_status status = gv_tree_reserve(tree, &tree->walk_table, tree->n_places * 12, "lengths of lists");
    if (!status)
        status = gv_tree_reserve(tree, &tree->walk_total, 12, "lengths of lists");
    if (!status)
        status = start_pass(tree, tree->walk_count, walk);
    const cl_uint length = (cl_uint)tree->n_places;
    const gv_arg scan[] = {GV_ARG(tree->walk_table.mem), GV_ARG(length), GV_ARG(tree->walk_total.mem)};
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_WALK, tree->scan_rows, 3, tree->plan.wide_group, 3, scan);
    if (!status)
        status = reserve_lists(tree);
    if (!status)
        status = start_pass(tree, tree->walk_list, walk);
    return status ? status : start_pass(tree, evaluate, walk);
}

static gravel_status walk_groups(gravel_tree *tree, const gv_sink_set *sinks, double eps)
{
    const size_t n_group = (size_t)VALUE(N_GROUP);
    tree->n_groups = parts(sinks->n, n_group);
    tree->n_sinks = sinks->n;
    tree->n_places = tree->n_groups + wide_room(tree) * (n_group - 1);
    gv_tree_clear_stage(tree, GV_STAGE_GROUPS);
    gv_tree_clear_stage(tree, GV_STAGE_WALK);
    gravel_status status =
        gv_tree_reserve(tree, &tree->group, tree->n_places * GV_TREE_GROUP_VECTORS * 4 * tree->scalar, "groups");
    if (!status)
        status = gv_tree_reserve(tree, &tree->counts, tree->n_places * 32, "interaction counts");
    if (!status)
        status = gv_tree_reserve(tree, &tree->wide, tree->n_groups, "flags of wide groups");
    if (!status)
        status = gv_tree_reserve(tree, &tree->wide_list, tree->n_groups * 4, "list of wide groups");
    if (status)
        return status;
    gv_walk_numbers w;
    find_numbers(tree, eps, &w);
    status = make_groups(tree, sinks, &w);
    const gv_arg walk[] = {GV_ARG(tree->cell.mem), GV_ARG(tree->body_sorted.mem), GV_ARG(tree->body_sorted_low.mem),
                           GV_ARG(sinks->points),  GV_ARG(sinks->low),            GV_ARG(sinks->list),
                           GV_ARG(sinks->index),   GV_ARG(sinks->own),            GV_ARG(tree->group.mem),
                           w.soft,                 GV_ARG(sinks->out),            GV_ARG(tree->counts.mem)};
    if (!status)
        status = launch_walk(tree, tree->walk[w.unsoftened], walk);
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
        status = gv_tree_reserve(tree, &tree->force, tree->n * 4 * tree->words * tree->scalar, "forces");
    if (status)
        return status;
    tree->sinks_are = GV_SINKS_NONE;
    const gv_sink_set sinks = {tree->body_sorted.mem,
                               tree->body_sorted_low.mem,
                               NULL,
                               tree->order.index[tree->order.sorted].mem,
                               tree->force.mem,
                               tree->n,
                               1};
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
    gravel_status status = gv_tree_reserve(tree, &tree->flag, tree->n, "flags of active bodies");
    if (!status)
        status = gv_tree_reserve(tree, &tree->list, count * 4, "list of active bodies");
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
    return list_flagged(tree, tree->flag.mem, tree->order.index[tree->order.sorted].mem, tree->n, tree->list.mem);
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
    status = gv_tree_reserve(tree, &tree->force, tree->n * 4 * tree->words * tree->scalar, "forces");
    if (!status)
        status = list_active(tree, address, count);
    if (status)
        return status;
    const gv_sink_set sinks = {tree->body_sorted.mem,
                               tree->body_sorted_low.mem,
                               tree->list.mem,
                               tree->order.index[tree->order.sorted].mem,
                               tree->force.mem,
                               count,
                               1};
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
        status = gv_tree_reserve(tree, &tree->points_force, bytes * tree->words, "forces at points");
    if (!status)
        status = gv_tree_upload(tree, &points->pos, NULL, n_points, "points", &tree->points, &tree->points_low);
    if (!status)
        status = gv_tree_order(tree, &tree->point_order, tree->points.mem, n_points, GV_STAGE_GROUPS, GV_STAGE_GROUPS);
    if (status)
        return status;
    cl_mem index = tree->point_order.index[tree->point_order.sorted].mem;
    const gv_sink_set sinks = {
        tree->points.mem, tree->points_low.mem, index, NULL, tree->points_force.mem, n_points, 0};
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
    const uint32_t *at = clEnqueueMapBuffer(tree->queue, tree->counts.mem, CL_TRUE, CL_MAP_READ, 0, tree->n_places * 32,
                                            0, NULL, NULL, &code);
    if (code)
        return gv_fail_cl(code, "reading interaction counts");
    double sum[4] = {0};
    size_t groups = 0;
    for (size_t g = 0; g < tree->n_places; g++) {
        const uint32_t *c = at + 8 * g, sinks = c[5];
        groups += sinks > 0;
        for (int k = 0; k < 4; k++)
            sum[k] += (double)c[k] * (double)sinks;
    }
    clEnqueueUnmapMemObject(tree->queue, tree->counts.mem, (void *)(uintptr_t)at, 0, NULL, NULL);
    const double n = (double)tree->n_sinks;
    *counts = (gravel_tree_counts){0, 0, groups, sum[0] / n, sum[1] / n, sum[2] / n, sum[3] / n};
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
    const size_t n = tree->n_sinks, counts_size = tree->n_places * 32;
    gravel_status status = GRAVEL_OK;
    uint32_t *count = malloc(counts_size), *index = malloc(tree->n * 4 + n * 4);
    uint32_t *list = malloc((n + tree->n) * 4);
    if (!count || !index || !list)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the counts of %zu sinks", n);
    const gv_order *order = tree->sinks_are == GV_SINKS_POINTS ? &tree->point_order : &tree->order;
    const size_t n_index = tree->sinks_are == GV_SINKS_POINTS ? n : tree->n;
    cl_int code = CL_SUCCESS;
    if (!status)
        code =
            clEnqueueReadBuffer(tree->queue, tree->counts.mem, CL_TRUE, 0, counts_size, count, 0, NULL, NULL);
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
    for (size_t g = 0; g < tree->n_places && !status; g++) {
        const uint32_t *c = count + 8 * g;
        for (size_t k = c[4]; k < (size_t)c[4] + c[5]; k++) {
            const uint32_t to = tree->sinks_are == GV_SINKS_ACTIVE ? list[k] : index[k];
            if (cells)
                cells[to] = c[0] + c[1];
            if (bodies)
                bodies[to] = c[2];
        }
    }
    free(count);
    free(index);
    free(list);
    return status;
}
