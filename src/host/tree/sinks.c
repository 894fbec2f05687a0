/* Sinks of a walk: in key order, in the precision and the frame of the tree. */
#include "host/tree/tree.h"

#include <string.h>

#include "host/base/threads.h"

/* Up to so many places are sorted by counting (kernels/tree/gather.cl), which takes one launch. */
enum { MOST_RANKED = 4096, MOST_RANKED_ALONE = 1024, GRAIN = 8192 };

static gravel_status reserve_vectors(gravel_tree *tree, gravel_groups *set, gv_sink_buffer which, size_t n)
{
    const size_t bytes = n * 4 * tree->scalar;
    gravel_status status = gv_tree_reserve(tree, &set->buffer[which], bytes, "sinks");
    if (!status && tree->words == 2)
        status = gv_tree_reserve(tree, &set->buffer[which + 1], bytes, "sinks");
    return status;
}

/* Vectors by place (NULL: as they are), turned, into the points of the set. */
static gravel_status pick(gravel_tree *tree, gravel_groups *set, const gv_buffer *from, const gv_buffer *low,
                          cl_mem place, const gv_turn *turn)
{
    gv_turn_args args;
    gv_buffer *to = &set->buffer[GV_SB_POINTS], *to_low = &set->buffer[GV_SB_POINTS_LOW];
    gravel_status status = reserve_vectors(tree, set, GV_SB_POINTS, set->n);
    gv_turn_as_args(turn, tree->scalar == 8, &args);
    set->points = to->mem;
    set->points_low = to_low->mem;
    return status ? status
                  : gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_PICK, gv_tree_items(tree, set->n), GV_MEM(*from),
                                   GV_MEM(*low), GV_ARG(place), GV_UINT(set->n), args.arg[0], args.arg[1], args.arg[2],
                                   GV_MEM(*to), GV_MEM(*to_low));
}

/* ---------------------------------------------------------- bodies of the tree */

/* All bodies of the tree, in its own order: nothing to sort, and without a shift nothing to copy. */
static gravel_status take_all(gravel_tree *tree, gravel_groups *set, const gv_turn *turn, int keep)
{
    const gv_sort *order = &tree->order;
    set->own = turn->is_none ? GV_OWN_ASCENDING : GV_OWN_NONE;
    set->self = NULL;
    set->points = tree->buffer[GV_TB_BODY].mem;
    set->points_low = tree->buffer[GV_TB_BODY_LOW].mem;
    set->index = order->index[order->sorted].mem;
    if (turn->is_none && !keep)
        return GRAVEL_OK;
    gravel_status status = pick(tree, set, &tree->buffer[GV_TB_BODY], &tree->buffer[GV_TB_BODY_LOW], NULL, turn);
    if (status || !keep)
        return status;
    status = gv_tree_reserve(tree, &set->buffer[GV_SB_PLACE], set->n * 4, "order of sinks");
    const cl_int code = status ? CL_SUCCESS
                               : clEnqueueCopyBuffer(gv_worker_queue(&tree->worker), set->index,
                                                     set->buffer[GV_SB_PLACE].mem, 0, 0, set->n * 4, 0, NULL, NULL);
    set->index = set->buffer[GV_SB_PLACE].mem;
    return status ? status : code ? gv_fail_cl(code, "copying the order of %zu sinks", set->n) : GRAVEL_OK;
}

/* Places of the sinks among the bodies in key order, and the sinks' numbers, both in the order of the places. */
static gravel_status sort_places(gravel_tree *tree, gravel_groups *set)
{
    const gv_selection *s = &set->sinks;
    const size_t n = set->n, ranked = tree->plan.wide_group == 1 ? MOST_RANKED_ALONE : MOST_RANKED;
    const gv_sort_shape shape = tree->order.shape;
    gv_sort *sort = &set->places;
    cl_mem none = NULL;
    int bits = 1;
    gravel_status status = gv_tree_need_inverse(tree);
    if (!status && !sort->count && !sort->sweep_pass)
        status = gv_sort_make(sort, &tree->worker, 32, &shape);
    if (!status)
        status = gv_sort_reserve(sort, &tree->worker, n);
    if (status)
        return status;
    const int from = sort->sorted;
    status = gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_PLACES, gv_tree_items(tree, n),
                            GV_MEM(tree->buffer[GV_TB_INVERSE]), GV_ARG(s->list), GV_UINT(s->first), GV_ARG(none),
                            GV_UINT(n), GV_MEM(sort->key[from]), GV_MEM(sort->index[from]));
    if (status)
        return status;
    while (bits < 32 && tree->n >> bits)
        bits++;
    if (n > ranked)
        return gv_sort_run(sort, &tree->worker, GV_STAGE_GROUPS, n, bits);
    sort->sorted = !from;
    return gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_RANK, gv_tree_items(tree, n), GV_MEM(sort->key[from]),
                          GV_UINT(n), GV_MEM(sort->key[!from]), GV_MEM(sort->index[!from]));
}

static gravel_status take_some(gravel_tree *tree, gravel_groups *set, const gv_turn *turn)
{
    gravel_status status = sort_places(tree, set);
    if (status)
        return status;
    set->self = set->places.key[set->places.sorted].mem;
    set->index = set->places.index[set->places.sorted].mem;
    set->own = turn->is_none ? GV_OWN_ASCENDING : GV_OWN_NONE;
    return pick(tree, set, &tree->buffer[GV_TB_BODY], &tree->buffer[GV_TB_BODY_LOW], set->self, turn);
}

/* ------------------------------------------------------------------- others */

/* Vectors in GV_SB_RAW into key order. */
static gravel_status sort_raw(gravel_tree *tree, gravel_groups *set)
{
    const gv_turn none = {.scale = 1, .is_none = 1};
    const gv_sort_shape shape = tree->order.shape;
    gv_sort *sort = &set->keys;
    gravel_status status = GRAVEL_OK;
    if (!sort->count && !sort->sweep_pass)
        status = gv_sort_make(sort, &tree->worker, 64, &shape);
    if (!status)
        status = gv_tree_order(tree, sort, set->buffer[GV_SB_RAW].mem, set->n, GV_STAGE_GROUPS, GV_STAGE_GROUPS);
    if (status)
        return status;
    set->index = sort->index[sort->sorted].mem;
    set->self = NULL;
    set->own = GV_OWN_NONE;
    return pick(tree, set, &set->buffer[GV_SB_RAW], &set->buffer[GV_SB_RAW_LOW], set->index, &none);
}

/* Bodies that are not, or not all, sources of this tree. */
static gravel_status take_others(gravel_tree *tree, gravel_groups *set, const gv_turn *turn, int own)
{
    const gv_selection *s = &set->sinks;
    const int from = (int)s->bodies->precision;
    cl_mem at, at_low = NULL, none = NULL;
    gv_turn_args args;
    gravel_status status = reserve_vectors(tree, set, GV_SB_RAW, set->n);
    if (!status)
        status = gv_bodies_need(s->bodies, GV_WORD_POSITION, &at);
    if (!status && from == GRAVEL_DS)
        status = gv_bodies_need(s->bodies, GV_WORD_POSITION_LOW, &at_low);
    gv_turn_as_args(turn, from == GRAVEL_DP || tree->scalar == 8, &args);
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_GATHER + from, gv_tree_items(tree, set->n), GV_ARG(at),
                                GV_ARG(at_low), GV_ARG(s->list), GV_UINT(s->first), GV_ARG(none), GV_UINT(set->n),
                                args.arg[0], args.arg[1], args.arg[2], GV_MEM(set->buffer[GV_SB_RAW]),
                                GV_MEM(set->buffer[GV_SB_RAW_LOW]));
    if (!status)
        status = sort_raw(tree, set);
    return status || !own ? status : gv_sinks_self(tree, set);
}

gravel_status gv_sinks_self(gravel_tree *tree, gravel_groups *set)
{
    const gv_selection *s = &set->sinks;
    cl_mem none = NULL;
    gravel_status status = gv_tree_need_inverse(tree);
    if (!status)
        status = gv_tree_reserve(tree, &set->buffer[GV_SB_SELF], set->n * 4, "places of sinks");
    set->self = set->buffer[GV_SB_SELF].mem;
    set->own = GV_OWN_ANYWHERE;
    return status ? status
                  : gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_PLACES, gv_tree_items(tree, set->n),
                                   GV_MEM(tree->buffer[GV_TB_INVERSE]), GV_ARG(s->list), GV_UINT(s->first),
                                   GV_ARG(set->index), GV_UINT(set->n), GV_ARG(set->self), GV_ARG(none));
}

/* ------------------------------------------------------------------- points */

typedef struct gv_packing {
    const gravel_vec *from;
    const gravel_frame *frame;
    const double *shift;
    void *high, *low; /* low: in ds */
    int is_double;
} gv_packing;

static void pack(void *user, size_t first, size_t count)
{
    const gv_packing *p = user;
    const double *const axis[3] = {p->from->x, p->from->y, p->from->z};
    const size_t stride = p->from->stride ? p->from->stride : 1;
    for (size_t k = first; k < first + count; k++)
        for (size_t c = 0; c < 4; c++) {
            const double x = c < 3 ? ((axis[c][k * stride] - p->frame->origin[c]) - p->shift[c]) / p->frame->length : 0;
            const float high = (float)x;
            if (p->is_double)
                ((double *)p->high)[4 * k + c] = x;
            else
                ((float *)p->high)[4 * k + c] = high;
            if (p->low)
                ((float *)p->low)[4 * k + c] = (float)(x - (double)high);
        }
}

static gravel_status take_points(gravel_tree *tree, gravel_groups *set, const gravel_sinks *points, const double *shift)
{
    const size_t bytes = set->n * 4 * tree->scalar;
    gv_pool *pool = set->n > GRAIN ? gv_context_pool(tree->worker.context) : NULL;
    cl_command_queue queue = gv_worker_queue(&tree->worker);
    gv_slot *slot;
    gravel_status status = reserve_vectors(tree, set, GV_SB_RAW, set->n);
    if (!status)
        status = gv_slots_take(&tree->worker, &tree->slots, bytes * tree->words, &slot);
    if (status)
        return status;
    gv_packing packing = {
        &points->pos,     &tree->frame, shift, slot->host, tree->words == 2 ? (char *)slot->host + bytes : NULL,
        tree->scalar == 8};
    gv_parallel(pool, set->n, GRAIN, pack, &packing);
    cl_int code = CL_SUCCESS;
    if (packing.low)
        code =
            clEnqueueWriteBuffer(queue, set->buffer[GV_SB_RAW_LOW].mem, CL_FALSE, 0, bytes, packing.low, 0, NULL, NULL);
    if (!code)
        code = clEnqueueWriteBuffer(queue, set->buffer[GV_SB_RAW].mem, CL_FALSE, 0, bytes, packing.high, 0, NULL,
                                    &slot->busy);
    return code ? gv_fail_cl(code, "writing %zu points", set->n) : sort_raw(tree, set);
}

/* ---------------------------------------------------------------------- all */

gravel_status gv_sinks_make(gravel_tree *tree, gravel_groups *set, const gravel_tree_call *call, int keep)
{
    static const double here[3] = {0, 0, 0};
    const gv_selection *sources = &tree->sources;
    gravel_status status = GRAVEL_OK;
    memset(&set->sinks, 0, sizeof set->sinks);
    set->tree = tree;
    set->n = call->sinks.bodies ? 0 : call->points->count;
    set->frame = tree->frame;
    set->build = tree->build;
    set->list = call->sinks.bodies && call->sinks.kind == GRAVEL_VIEW_LIST ? call->sinks.list : NULL;
    set->list_version = set->list ? set->list->version : 0;
    if (call->sinks.bodies) {
        status = gv_view_resolve(&call->sinks, "sinks", &set->sinks);
        set->n = set->sinks.count;
    }
    if (status || set->n == 0)
        return status;
    if (set->n > GV_MOST_PLACES)
        return gv_fail(GRAVEL_ERR_INPUT, "%zu sinks are too many at once", set->n);
    if (!call->sinks.bodies)
        return take_points(tree, set, call->points, call->shift);
    const gv_selection *s = &set->sinks;
    const gv_turn turn = gv_turn_between(&s->bodies->frame, &tree->frame, call->shift);
    const int shifted = memcmp(call->shift, here, sizeof here) != 0;
    const int same = s->bodies == sources->bodies;
    set->order = s->bodies->order_version;
    set->moved = s->bodies->version[GRAVEL_POSITION];
    if (same && !s->list && !sources->list && s->first == sources->first && s->count == sources->count)
        return take_all(tree, set, &turn, keep);
    if (same && gv_tree_is_whole(tree))
        return take_some(tree, set, &turn);
    return take_others(tree, set, &turn, same && !shifted);
}

/* Squares of the sinks' softening lengths, in the frame of the tree. */
gravel_status gv_sinks_soft(gravel_tree *tree, gravel_groups *set)
{
    const gv_selection *s = &set->sinks;
    const double support = tree->options.softening == GRAVEL_SPLINE ? GV_SPLINE_SUPPORT : 1;
    const double factor = support * (s->bodies->frame.length / tree->frame.length);
    cl_mem soft;
    gravel_status status = gv_bodies_need(s->bodies, GV_WORD_SOFTENING, &soft);
    if (!status)
        status = gv_tree_reserve(tree, &set->buffer[GV_SB_SOFT], set->n * tree->scalar, "softening of sinks");
    return status ? status
                  : gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_GATHER_SOFT + (int)s->bodies->precision,
                                   gv_tree_items(tree, set->n), GV_ARG(soft), GV_ARG(s->list), GV_UINT(s->first),
                                   GV_ARG(set->index), GV_UINT(set->n), GV_TREE_REAL(tree, factor),
                                   GV_MEM(set->buffer[GV_SB_SOFT]));
}

/* Sizes of the accelerations in the sinks' planes, as the tree computes them: stored a is in lengths of the sinks'
 * frame, that of the tree in mass / length^2 of its own. */
gravel_status gv_sinks_last(gravel_tree *tree, gravel_groups *set)
{
    const gv_selection *s = &set->sinks;
    const double length = tree->frame.length, factor = s->bodies->frame.length * length / tree->frame.mass * length;
    cl_mem acc;
    gravel_status status = gv_bodies_need(s->bodies, GV_WORD_ACCELERATION, &acc);
    if (!status)
        status = gv_tree_reserve(tree, &set->buffer[GV_SB_LAST], set->n * tree->scalar, "accelerations of sinks");
    return status ? status
                  : gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_GATHER_LAST + (int)s->bodies->precision,
                                   gv_tree_items(tree, set->n), GV_ARG(acc), GV_ARG(s->list), GV_UINT(s->first),
                                   GV_ARG(set->index), GV_UINT(set->n), GV_TREE_REAL(tree, factor),
                                   GV_MEM(set->buffer[GV_SB_LAST]));
}
