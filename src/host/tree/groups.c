/* Groups of sinks: boxes, criteria, sparse ones split; and those that the caller keeps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/tree/tree.h"

/* Tolerances are fits for groups of 16 and more; below 4 sinks they hold with those of 4. */
static int size_for_tau(const gravel_groups *set)
{
    return set->cut.size > 4 ? (int)set->cut.size : 4;
}

/* what both kernels take */
typedef struct gv_group_args {
    cl_mem points, cell, others, last, group;
    cl_uint n, size;
    gv_arg eps2, tau, tau_local;
    gv_tree_range ends;
} gv_group_args;

static gravel_status split_wide(gravel_tree *tree, gravel_groups *set, const gv_group_args *a)
{
    const gv_range parts = gv_groups(set->cut.room * set->cut.size, tree->plan.look_group);
    gravel_status status =
        gv_tree_list_flagged(tree, set, &set->buffer[GV_SB_WIDE], set->cut.groups, &set->buffer[GV_SB_WIDE_LIST]);
    const gv_arg arg[] = {GV_ARG(a->points),
                          GV_ARG(a->n),
                          GV_ARG(a->size),
                          GV_ARG(a->cell),
                          GV_ARG(a->others),
                          GV_ARG(a->last),
                          a->eps2,
                          a->tau,
                          a->tau_local,
                          GV_ARG(a->group),
                          GV_MEM(set->buffer[GV_SB_WIDE_LIST]),
                          GV_MEM(set->buffer[GV_SB_COUNT_TOTAL]),
                          a->ends.arg[0],
                          a->ends.arg[1]};
    return status ? status
                  : gv_tree_launch_list(tree, GV_STAGE_GROUPS, GV_TK_SPLIT, parts,
                                        sizeof arg / sizeof arg[0] - 2 + a->ends.n, arg);
}

static gravel_status launch_groups(gravel_tree *tree, gravel_groups *set, double plummer, int last)
{
    const int n_tau = size_for_tau(set);
    const double tau = gv_tree_tau(&tree->options, n_tau), tau_local = gv_tree_tau_local(&tree->options, n_tau);
    cl_mem wide = set->cut.room ? set->buffer[GV_SB_WIDE].mem : NULL;
    gv_group_args a = {set->points,
                       tree->buffer[GV_TB_CELL].mem,
                       set->others,
                       last ? set->buffer[GV_SB_LAST].mem : NULL,
                       set->buffer[GV_SB_GROUP].mem,
                       (cl_uint)set->n,
                       (cl_uint)set->cut.size,
                       GV_TREE_REAL(tree, plummer),
                       GV_TREE_REAL(tree, tau),
                       GV_TREE_REAL(tree, tau_local),
                       {.n = 0}};
    gv_tree_find_range(tree, &a.ends);
    const gv_runs_around *around = &set->around;
    const gv_arg arg[] = {GV_ARG(a.points),
                          GV_ARG(a.n),
                          GV_ARG(a.size),
                          GV_ARG(a.cell),
                          GV_ARG(a.others),
                          GV_ARG(a.last),
                          a.eps2,
                          a.tau,
                          a.tau_local,
                          GV_ARG(a.group),
                          GV_UINT(set->cut.bodies),
                          GV_ARG(wide),
                          GV_ARG(around->mem),
                          GV_UINT(around->count),
                          GV_UINT(around->mine),
                          GV_UINT(around->mine_end),
                          a.ends.arg[0],
                          a.ends.arg[1]};
    gravel_status status =
        gv_tree_launch_list(tree, GV_STAGE_GROUPS, GV_TK_GROUPS, gv_groups(set->cut.groups, tree->plan.look_group),
                            sizeof arg / sizeof arg[0] - 2 + a.ends.n, arg);
    return status || !wide ? status : split_wide(tree, set, &a);
}

gravel_status gv_groups_reserve(gravel_tree *tree, gravel_groups *set, const gv_tree_cut *cut)
{
    gv_buffer *b = set->buffer;
    gravel_status status =
        gv_tree_reserve(tree, &b[GV_SB_GROUP], cut->places * GV_GROUP_VECTORS * 4 * tree->scalar, "groups");
    if (!status)
        status = gv_tree_reserve(tree, &b[GV_SB_COUNTS], cut->places * GV_COUNT_WORDS * 4, "interaction counts");
    if (!status)
        status = gv_tree_reserve(tree, &b[GV_SB_WIDE], cut->groups, "flags of sparse groups");
    return status ? status : gv_tree_reserve(tree, &b[GV_SB_WIDE_LIST], cut->groups * 4, "list of sparse groups");
}

gravel_status gv_groups_make(gravel_tree *tree, gravel_groups *set, const gv_tree_numbers *numbers, int last)
{
    set->cut = gv_tree_cut_right(tree, numbers->kind, set->n, tree->n);
    gravel_status status = gv_groups_reserve(tree, set, &set->cut);
    if (!status && last)
        status = gv_sinks_last(tree, set);
    return status ? status : launch_groups(tree, set, numbers->plummer, last);
}

void gv_groups_give_counts(gravel_tree *tree, gravel_groups *set)
{
    if (tree->walked)
        tree->walked->walker = NULL;
    if (set && set->walker)
        set->walker->walked = NULL;
    tree->walked = set;
    if (set)
        set->walker = tree;
}

void gv_groups_release(gravel_groups *set)
{
    if (set->walker)
        gv_groups_give_counts(set->walker, NULL);
    for (int k = 0; k < GV_SB_COUNT; k++)
        gv_buffer_release(&set->buffer[k]);
    gv_sort_release(&set->keys);
    gv_sort_release(&set->places);
    set->keys = set->places = (gv_sort){.sorted = 0};
}

/* ---------------------------------------------------------- kept by the caller */

gravel_status gravel_groups_create(gravel_groups **groups, gravel_tree *tree, const gravel_tree_call *call)
{
    gravel_tree_call taken;
    if (!groups || !tree || !call)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_groups_create needs a place for the groups, a tree and a call");
    *groups = NULL;
    gravel_status status = gv_tree_take_call(tree, call, &taken);
    if (!status && taken.groups)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "groups are made of sinks or points, not of groups");
    memset(taken.shift, 0, sizeof taken.shift); /* walks have shifts: the sinks are where they are */
    if (!status)
        status = gv_tree_update(tree, taken.moved);
    if (status)
        return status;
    gravel_groups *made = calloc(1, sizeof *made);
    if (!made)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for groups");
    const gv_tree_numbers numbers = gv_tree_numbers_of(tree, taken.eps, taken.soften);
    status = gv_sinks_make(tree, made, &taken, 1);
    if (!status) /* estimates look at how far cells are softened, as in a walk */
        status = gv_tree_soften(tree, numbers.kind);
    if (!status && made->n > 0)
        status = gv_groups_make(tree, made, &numbers, taken.last);
    if (status)
        gravel_groups_release(made);
    else
        *groups = made;
    return status;
}

void gravel_groups_release(gravel_groups *groups)
{
    if (!groups)
        return;
    gv_groups_release(groups);
    free(groups);
}
