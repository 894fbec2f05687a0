/* Everything that walks will need, compiled and allocated before the first of them. */
#include "host/tree/tree.h"

/* Kernels of walks of this kind, of up to so many sinks. */
static void list_kernels(const gravel_tree *tree, const gravel_tree_call *call, gv_tree_kind kind,
                         const gv_tree_cut *cut, gv_needs *needs)
{
    const int sources = (int)tree->view.bodies->precision;
    const int sinks = call->sinks.bodies ? (int)call->sinks.bodies->precision : sources;
    gv_need(needs, GV_TK_GATHER + sources);
    gv_need(needs, GV_TK_GATHER + sinks);
    gv_need(needs, gv_tree_walk_kernel(cut, kind));
    gv_need(needs, GV_TK_PICK);
    if (call->sinks.bodies == tree->view.bodies) {
        gv_need(needs, GV_TK_INVERSE);
        gv_need(needs, GV_TK_PLACES);
        gv_need(needs, GV_TK_RANK);
    }
    if (cut->room > 0) {
        gv_need(needs, GV_TK_COMPACT_COUNT);
        gv_need(needs, GV_TK_COMPACT_WRITE);
        gv_need(needs, GV_TK_SPLIT);
    }
    if (call->last)
        gv_need(needs, GV_TK_GATHER_LAST + sinks);
    if (call->into & GRAVEL_INTO_PLANES)
        gv_need(needs, GV_TK_STORE + sinks);
    if (kind == GV_TREE_SINKS || kind == GV_TREE_SUM || kind == GV_TREE_MAX)
        gv_need(needs, GV_TK_GATHER_SOFT + sinks);
    if (kind >= GV_TREE_SOURCES && kind <= GV_TREE_MAX) {
        gv_need(needs, GV_TK_GATHER_SOFT + sources);
        gv_need(needs, GV_TK_SOFTEN + (int)kind);
    }
}

static gravel_status make_kernel(void *tree, int kernel)
{
    cl_kernel made;
    return gv_tree_get_kernel(tree, kernel, &made);
}

/* Bodies in key order, sinks in the order of the walk. */
static gravel_status reserve_bodies(gravel_tree *tree, size_t sources, size_t sinks)
{
    const size_t vector = 4 * tree->scalar;
    gravel_status status = GRAVEL_OK;
    for (int low = 0; low < (int)tree->words && !status; low++) {
        status = gv_tree_reserve(tree, &tree->buffer[GV_TB_BODY + low], sources * vector, "bodies");
        if (!status && sinks < sources)
            status = gv_tree_reserve(tree, &tree->sinks.buffer[GV_SB_POINTS + low], sinks * vector, "sinks");
    }
    return status;
}

static gravel_status reserve_results(gravel_tree *tree, const gravel_tree_call *call, size_t sinks)
{
    gv_tree_ticket *ticket;
    if (!(call->into & GRAVEL_INTO_HOST))
        return gv_tree_reserve(tree, &tree->result, sinks * 4 * tree->words * tree->scalar, "forces");
    gravel_status status = gv_tree_take_ticket(tree, &ticket);
    if (status)
        return status;
    status = gv_tree_reserve_ticket(ticket, sinks, 1);
    gravel_ticket_release(&ticket->forces.base);
    return status;
}

/* Bytes of what a build fills.  Buffers only grow, and those that do are empty. */
static size_t build_memory(const gravel_tree *tree)
{
    size_t sum = gv_sort_memory(&tree->order);
    for (int k = 0; k < GV_TB_COUNT; k++)
        sum += tree->buffer[k].size;
    return sum;
}

static gravel_status reserve(gravel_tree *tree, const gv_tree_cut *cut, size_t sources, size_t sinks)
{
    const size_t of_build = build_memory(tree), of_all = gravel_tree_get_memory(tree);
    gravel_status status = gv_tree_settle(tree, 1); /* whether the cells fit is told by the room there was */
    if (!status)
        status = reserve_bodies(tree, sources, sinks);
    if (!status)
        status = gv_tree_reserve_build(tree, sources);
    if (!status)
        status = gv_groups_reserve(tree, &tree->sinks, cut);
    if (status || build_memory(tree) != of_build)
        tree->built = 0;
    if (status || gravel_tree_get_memory(tree) != of_all)
        gv_groups_give_counts(tree, NULL);
    return status;
}

gravel_status gravel_tree_prepare(gravel_tree *tree, const gravel_tree_call *call, size_t sources, size_t sinks)
{
    gravel_tree_call taken;
    gv_needs needs = {.n = 0};
    if (!tree || !call || sources == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tree_prepare needs a tree, a call and a number of sources");
    if (!tree->view.bodies)
        return gv_fail(GRAVEL_ERR_STATE, "the tree has no bodies: gravel_tree_set_sources comes first");
    gravel_status status = gv_tree_take_call(tree, call, &taken);
    if (!status)
        status = gv_tree_check_size(tree, sources);
    if (!status)
        status = gv_tree_configure(tree, sources);
    if (status)
        return status;
    if (sinks == 0) /* such a walk needs nothing */
        return GRAVEL_OK;
    const gv_tree_kind kind = gv_tree_numbers_of(tree, taken.eps, taken.soften).kind;
    const gv_tree_cut cut = gv_tree_cut_right(tree, kind, sinks, sources);
    list_kernels(tree, &taken, kind, &cut, &needs);
    status = gv_needs_make(&needs, tree, make_kernel);
    if (!status)
        status = reserve(tree, &cut, sources, sinks);
    return status ? status : reserve_results(tree, &taken, sinks);
}
