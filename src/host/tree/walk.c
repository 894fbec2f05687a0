/* Walks: a call is checked, its sinks are grouped, the walk and the transfer of its results into planes are queued. */
#include "host/tree/tree.h"

#include <math.h>

#include "host/base/options.h"

/* -------------------------------------------------------------------- calls */

void gravel_tree_call_init(gravel_tree_call *call)
{
    *call = (gravel_tree_call){.size = sizeof *call};
}

static gravel_status check_sinks(const gravel_tree *tree, const gravel_tree_call *call)
{
    const gravel_sinks *p = call->points;
    if (call->groups) {
        if (call->groups->tree->worker.context != tree->worker.context ||
            call->groups->tree->worker.device != tree->worker.device ||
            call->groups->tree->options.precision != tree->options.precision)
            return gv_fail(GRAVEL_ERR_ARGUMENT, "groups walk through trees of one device and one precision");
        if (call->into & GRAVEL_INTO_PLANES && !call->groups->sinks.bodies)
            return gv_fail(GRAVEL_ERR_ARGUMENT, "these groups are of points, which have no planes: results go to the "
                                                "host");
        return GRAVEL_OK;
    }
    if (call->sinks.bodies)
        return call->sinks.bodies->worker.context == tree->worker.context &&
                       call->sinks.bodies->worker.device == tree->worker.device
                   ? GRAVEL_OK
                   : gv_fail(GRAVEL_ERR_ARGUMENT, "sinks and tree must be on the same device of the same context");
    if (!p)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there are no sinks: neither a view of bodies nor points");
    if (p->count > 0 && (!p->pos.x || !p->pos.y || !p->pos.z))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "points need positions x, y and z");
    if (call->into & GRAVEL_INTO_PLANES || call->last)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "points have no planes: results go to the host");
    const size_t stride = p->pos.stride ? p->pos.stride : 1;
    for (size_t k = 0; k < p->count; k++)
        if (!isfinite(p->pos.x[k * stride]) || !isfinite(p->pos.y[k * stride]) || !isfinite(p->pos.z[k * stride]))
            return gv_fail(GRAVEL_ERR_INPUT, "points: the position of number %zu is not finite", k);
    return GRAVEL_OK;
}

/* Softening lengths of those whose length counts. */
static gravel_status check_softening(const gravel_tree *tree, const gravel_tree_call *call)
{
    const gravel_bodies *sinks = call->groups ? call->groups->sinks.bodies : call->sinks.bodies;
    const int of_sinks = call->soften != GRAVEL_SOFTEN_EPS && call->soften != GRAVEL_SOFTEN_SOURCES;
    const int of_sources = call->soften != GRAVEL_SOFTEN_EPS && call->soften != GRAVEL_SOFTEN_SINKS;
    if (of_sinks && !sinks)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "points have no softening of their own");
    if (of_sinks && !gravel_bodies_has_plane(sinks, GRAVEL_SOFTENING))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the sinks have no softening lengths: write the plane GRAVEL_SOFTENING");
    if (of_sources && tree->view.bodies && !gravel_bodies_has_plane(tree->view.bodies, GRAVEL_SOFTENING))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the sources have no softening lengths: write the plane GRAVEL_SOFTENING");
    return GRAVEL_OK;
}

gravel_status gv_tree_take_call(const gravel_tree *tree, const gravel_tree_call *call, gravel_tree_call *taken)
{
    const unsigned known = GRAVEL_INTO_HOST | GRAVEL_INTO_PLANES | GRAVEL_INTO_ADD;
    gravel_tree_call_init(taken);
    gravel_status status = gv_options_take(taken, sizeof *taken, call, "gravel_tree_call");
    if (status)
        return status;
    if (taken->into == 0)
        taken->into = GRAVEL_INTO_HOST;
    if (!(taken->eps >= 0) || !isfinite(taken->eps))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the softening length is %g: it must be 0 or more", taken->eps);
    if ((unsigned)taken->soften > GRAVEL_SOFTEN_MAX || (unsigned)taken->moved > GRAVEL_TREE_AS_IS)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "softening %d or rule %d for moved sources does not exist",
                       (int)taken->soften, (int)taken->moved);
    if (taken->into & ~known || (taken->into & GRAVEL_INTO_ADD && !(taken->into & GRAVEL_INTO_PLANES)))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "results cannot go to %u: see GRAVEL_INTO_HOST, _PLANES, _ADD",
                       taken->into);
    for (int c = 0; c < 3; c++)
        if (!isfinite(taken->shift[c]))
            return gv_fail(GRAVEL_ERR_ARGUMENT, "the shift is not finite");
    status = check_sinks(tree, taken);
    return status ? status : check_softening(tree, taken);
}

/* ------------------------------------------------------------------- numbers */

gv_tree_numbers gv_tree_numbers_of(const gravel_tree *tree, double eps, gravel_soften soften)
{
    /* distances below 1e-12 of the box are softened: 1/s^3 stays finite in float */
    const double floor2 = 1e-24, scaled = eps / tree->frame.length, eps2 = scaled * scaled;
    const double support = tree->options.softening == GRAVEL_SPLINE ? GV_SPLINE_SUPPORT : 1;
    if (soften != GRAVEL_SOFTEN_EPS)
        return (gv_tree_numbers){(gv_tree_kind)soften, floor2, floor2};
    if (eps2 <= floor2)
        return (gv_tree_numbers){GV_TREE_UNSOFTENED, floor2, floor2};
    return (gv_tree_numbers){GV_TREE_EPS, eps2, eps2 * support * support};
}

/* ---------------------------------------------------------------------- walk */

/* Groups that were made with another tree, or walk through shifted sources: their places in the frame of this one. */
static gravel_status turn_groups(gravel_tree *tree, gravel_groups *set, const gv_turn *turn, cl_mem *points,
                                 cl_mem *points_low, cl_mem *group)
{
    const gravel_frame *a = &set->frame, *b = &tree->frame;
    /* accelerations in units of this tree */
    const double gain = (a->mass / b->mass) / (turn->scale * turn->scale), s2 = turn->scale * turn->scale;
    const double open = tree->options.mac == GRAVEL_TREE_GEOMETRIC ? 1 : pow(gain, -0.4);
    const size_t vectors = set->n * 4 * tree->scalar, places = set->cut.places;
    gv_turn_args args;
    gv_buffer *at = &set->buffer[GV_SB_TURNED_POINTS], *low = &set->buffer[GV_SB_TURNED_LOW];
    gv_buffer *to = &set->buffer[GV_SB_TURNED_GROUP];
    const double factor[4] = {open, s2 * s2 / gain, s2, 0};
    cl_float single[4] = {(float)factor[0], (float)factor[1], (float)factor[2], 0};
    const gv_arg factors = {4 * tree->scalar, tree->scalar == 8 ? (const void *)factor : (const void *)single};
    cl_mem from_low = set->points_low, none = NULL;
    gravel_status status = gv_tree_reserve(tree, at, vectors, "sinks");
    if (!status && tree->words == 2)
        status = gv_tree_reserve(tree, low, vectors, "sinks");
    if (!status)
        status = gv_tree_reserve(tree, to, places * GV_GROUP_VECTORS * 4 * tree->scalar, "groups");
    gv_turn_as_args(turn, tree->scalar == 8, &args);
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_PICK, gv_tree_items(tree, set->n), GV_ARG(set->points),
                                GV_ARG(from_low), GV_ARG(none), GV_UINT(set->n), args.arg[0], args.arg[1], args.arg[2],
                                GV_MEM(*at), GV_MEM(*low));
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_TURN, gv_tree_items(tree, places),
                                GV_MEM(set->buffer[GV_SB_GROUP]), GV_UINT(places), args.arg[0], args.arg[1], factors,
                                GV_MEM(*to));
    *points = at->mem;
    *points_low = low->mem;
    *group = to->mem;
    return status;
}

int gv_tree_walk_kernel(const gv_tree_cut *cut, gv_tree_kind kind)
{
    return GV_TK_WALK + (cut->walk - GV_TP_WALK) + (int)kind;
}

/* Groups and their counts from those of a slice on; the walk's kernels number groups from there. */
static gravel_status slice_of(const gravel_groups *set, size_t first, size_t scalar, cl_mem part[2])
{
    const size_t group = GV_GROUP_VECTORS * 4 * scalar, counts = GV_COUNT_WORDS * 4, left = set->cut.places - first;
    const cl_buffer_region region[2] = {{first * group, left * group}, {first * counts, left * counts}};
    cl_int code = CL_SUCCESS;
    for (int k = 0; k < 2 && !code; k++)
        part[k] = clCreateSubBuffer(set->buffer[k ? GV_SB_COUNTS : GV_SB_GROUP].mem, CL_MEM_READ_WRITE,
                                    CL_BUFFER_CREATE_TYPE_REGION, &region[k], &code);
    return code ? gv_fail_cl(code, "a slice of %zu groups", left) : GRAVEL_OK;
}

/* Regions of buffers begin at multiples of what the device says in bits; records are multiples of 16 bytes. */
size_t gv_tree_slice_unit(const gravel_tree *tree)
{
    cl_uint bits = 0;
    const cl_int code =
        clGetDeviceInfo(gv_worker_device(&tree->worker)->id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL);
    return code || bits < 128 ? 1024 : bits / 128;
}

static gravel_status launch_walk(gravel_tree *tree, gravel_groups *set, gv_tree_slice slice,
                                 const gv_tree_numbers *numbers, const gv_turn *turn, const gv_tree_actors *actors,
                                 const gv_buffer *out)
{
    const int kernel = gv_tree_walk_kernel(&set->cut, numbers->kind);
    /* of this tree: the groups may be another's */
    const gv_range range = gv_groups(slice.count, gv_tree_walk_threads(&tree->plan, &tree->config, set->cut.walk));
    cl_mem part[2] = {NULL, NULL}, counts = set->buffer[GV_SB_COUNTS].mem;
    cl_mem points = set->points, points_low = set->points_low, group = set->buffer[GV_SB_GROUP].mem;
    gravel_status status = GRAVEL_OK;
    if (!turn->is_none)
        status = turn_groups(tree, set, turn, &points, &points_low, &group);
    else if (slice.first > 0)
        status = slice_of(set, slice.first, tree->scalar, part);
    if (part[0] && part[1])
        group = part[0], counts = part[1];
    const gv_buffer *b = tree->buffer;
    gv_tree_range ends;
    gv_tree_find_range(tree, &ends);
    const gv_arg arg[] = {GV_ARG(actors->cell),
                          GV_ARG(actors->body),
                          GV_ARG(actors->body_low),
                          GV_ARG(points),
                          GV_ARG(points_low),
                          GV_ARG(set->self),
                          GV_INT(set->own),
                          GV_ARG(set->index),
                          GV_ARG(group),
                          GV_TREE_REAL(tree, numbers->soft),
                          GV_MEM(*out),
                          GV_ARG(counts),
                          GV_MEM(set->buffer[GV_SB_SOFT]),
                          GV_MEM(b[GV_TB_BODY_SOFT]),
                          GV_MEM(b[GV_TB_CELL_SOFT]),
                          ends.arg[0],
                          ends.arg[1]};
    if (!status)
        status = gv_tree_launch_list(tree, GV_STAGE_WALK, kernel, range, sizeof arg / sizeof arg[0] - 2 + ends.n, arg);
    for (int k = 0; k < 2; k++)
        if (part[k])
            clReleaseMemObject(part[k]);
    return status;
}

gravel_status gv_tree_walk_others(gravel_tree *tree, gravel_groups *set, gv_tree_slice slice,
                                  const gv_tree_numbers *numbers, const gv_tree_actors *actors, const gv_buffer *result)
{
    const gv_turn none = {.scale = 1, .is_none = 1};
    return launch_walk(tree, set, slice, numbers, &none, actors, result);
}

/* Results into the planes of the sinks: accelerations as (mass / length^2) of the tree in lengths of the sinks' frame,
 * potentials as mass / length in squares of them. */
gravel_status gv_tree_store(gravel_tree *tree, const gravel_groups *set, const gv_buffer *result, int add)
{
    const gv_selection *s = &set->sinks;
    const double l = s->bodies->frame.length, pot = tree->frame.mass / tree->frame.length / l / l;
    const double acc = tree->frame.mass / tree->frame.length / tree->frame.length / l;
    const int from = (int)s->bodies->precision, is_double = from == GRAVEL_DP || tree->scalar == 8;
    const gravel_precision exact = is_double ? GRAVEL_DP : GRAVEL_SP;
    cl_mem to_acc, to_pot = NULL;
    gravel_status status = gv_bodies_need(s->bodies, GV_WORD_ACCELERATION, &to_acc);
    if (!status)
        status = gv_bodies_need(s->bodies, GV_WORD_POTENTIAL, &to_pot);
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_WALK, GV_TK_STORE + from, gv_tree_items(tree, set->n), GV_MEM(*result),
                                GV_ARG(s->list), GV_UINT(s->first), GV_UINT(set->n), GV_INT(add), GV_REAL(exact, acc),
                                GV_REAL(exact, pot), GV_ARG(to_acc), GV_ARG(to_pot));
    gv_bodies_changed(s->bodies, GRAVEL_ACCELERATION);
    gv_bodies_changed(s->bodies, GRAVEL_POTENTIAL);
    return status;
}

/* Groups that the caller made are good for their bodies as they were then. */
static gravel_status check_groups(gravel_tree *tree, gravel_groups *set, const double shift[3])
{
    const gravel_bodies *b = set->sinks.bodies;
    const int shifted = shift[0] != 0 || shift[1] != 0 || shift[2] != 0;
    if (set->cut.size > gv_tree_walk_sinks(&tree->plan, &tree->config, set->cut.walk))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "the groups have up to %zu sinks, this tree's configuration walks with fewer: give all trees "
                       "that share groups one configuration",
                       set->cut.size);
    if (set->cut.walk >= GV_TP_FEW && tree->plan.part_sinks > 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "the groups are walked by work-groups, this tree's configuration walks with single work-items: "
                       "give all trees that share groups one configuration");
    if (set->list && set->list->version != set->list_version)
        return gv_fail(GRAVEL_ERR_STATE,
                       "the list of the sinks of these groups has been written since: make new groups");
    if (b && (b->order_version != set->order || b->version[GRAVEL_POSITION] != set->moved))
        return gv_fail(GRAVEL_ERR_STATE, "the sinks of these groups have moved since: make new groups");
    if (!b || b != tree->sources.bodies || shifted) {
        set->own = GV_OWN_NONE;
        return GRAVEL_OK;
    }
    set->build = tree->build;
    return gv_sinks_self(tree, set);
}

/* The kernels compute with r_s^-3 and L^-3 in units of the frame, which must stay within the range of the precision. */
static gravel_status check_range(const gravel_tree *tree)
{
    const double far = tree->options.precision == GRAVEL_DP ? 1e90 : 1e9, l = tree->frame.length;
    const double period = tree->options.period / l, split = tree->options.split / l;
    if (tree->options.split == 0 || (period <= far && split <= far && split >= 1 / far))
        return GRAVEL_OK;
    return gv_fail(
        GRAVEL_ERR_ARGUMENT,
        "period %g and splitting length %g beside bodies in units of %g: a tree in %s takes from %g to %g of "
        "these units; gravel_bodies_set_frame with the period as its length",
        tree->options.period, tree->options.split, l, gravel_precision_name(tree->options.precision), 1 / far, far);
}

/* Up to this softening length 1/s^3 does not underflow in the precision; beyond it forces would be 0 or NaN.  A mesh
 * does its part of the force without softening: half of the splitting length costs 2 % already (doc/periodic.md). */
gravel_status gv_tree_check_eps(const gravel_tree *tree, const gravel_tree_call *call)
{
    const double most = (tree->options.precision == GRAVEL_DP ? 1e100 : 1e12) * tree->frame.length;
    const gravel_status status = check_range(tree);
    if (status || call->soften != GRAVEL_SOFTEN_EPS)
        return status;
    if (tree->options.split > 0 && call->eps > 0.5 * tree->options.split)
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "the softening length, %g, is more than half of the splitting length, %g: the long range has no "
                       "softening; split the force further out (a coarser mesh), or sum all pairs",
                       call->eps, tree->options.split);
    if (call->eps <= most)
        return GRAVEL_OK;
    return gv_fail(GRAVEL_ERR_ARGUMENT, "the softening length is %g; a tree in %s of bodies within %g takes up to %g",
                   call->eps, gravel_precision_name(tree->options.precision), tree->frame.length, most);
}

/* Everything up to the results in `result`. */
static gravel_status submit(gravel_tree *tree, const gravel_tree_call *call, gravel_groups *set, gv_buffer *result)
{
    static const double here[3] = {0, 0, 0};
    const gv_tree_numbers numbers = gv_tree_numbers_of(tree, call->eps, call->soften);
    const int by_sink = numbers.kind == GV_TREE_SINKS || numbers.kind == GV_TREE_SUM || numbers.kind == GV_TREE_MAX;
    const gv_turn turn = gv_turn_between(&set->frame, &tree->frame, call->groups ? call->shift : here);
    const gv_buffer *b = tree->buffer;
    gravel_status status = gv_tree_check_eps(tree, call);
    if (!status)
        status = gv_tree_soften(tree, numbers.kind);
    if (!status && call->groups)
        status = check_groups(tree, set, call->shift);
    else if (!status)
        status = gv_groups_make(tree, set, &numbers, call->last);
    if (!status && by_sink)
        status = gv_sinks_soft(tree, set);
    if (!status)
        status = gv_tree_reserve(tree, result, set->n * 4 * tree->words * tree->scalar, "forces");
    /* buffers may have been made by now */
    const gv_tree_actors actors = {b[GV_TB_CELL].mem, b[GV_TB_BODY].mem, b[GV_TB_BODY_LOW].mem};
    if (!status)
        status = launch_walk(tree, set, (gv_tree_slice){0, set->cut.places}, &numbers, &turn, &actors, result);
    if (!status && call->into & GRAVEL_INTO_PLANES)
        status = gv_tree_store(tree, set, result, (call->into & GRAVEL_INTO_ADD) != 0);
    return status;
}

gravel_status gv_tree_walk(gravel_tree *tree, const gravel_tree_call *call, gravel_ticket **ticket)
{
    gravel_groups *set = call->groups ? call->groups : &tree->sinks;
    gv_tree_ticket *t = NULL;
    gv_worker_clear_stage(&tree->worker, GV_STAGE_GROUPS);
    gv_worker_clear_stage(&tree->worker, GV_STAGE_WALK);
    gv_groups_give_counts(tree, set); /* and other trees none of this set, whether the walk succeeds or not */
    gravel_status status = gv_tree_update(tree, call->moved);
    if (!status && !call->groups)
        status = gv_sinks_make(tree, set, call, 0);
    if (!status && ticket)
        status = gv_tree_take_ticket(tree, &t);
    if (!status && set->n > 0)
        status = submit(tree, call, set, t ? &t->forces.slot.device : &tree->result);
    if (!status && t)
        status = gv_tree_finish_ticket(t, call, set->n);
    if (status) {
        gv_groups_give_counts(tree, NULL);
        if (t)
            gravel_ticket_release(&t->forces.base);
        return status;
    }
    gv_groups_give_counts(tree, set->n > 0 ? set : NULL);
    tree->unseen = tree->unseen || (call->into & GRAVEL_INTO_PLANES && tree->levels_event);
    if (ticket)
        *ticket = &t->forces.base;
    return GRAVEL_OK;
}

gravel_status gravel_tree_walk(gravel_tree *tree, const gravel_tree_call *call, gravel_ticket **ticket)
{
    gravel_tree_call taken;
    if (ticket)
        *ticket = NULL;
    if (!tree || !call)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tree_walk needs a tree and a call");
    gravel_status status = gv_tree_take_call(tree, call, &taken);
    if (!status && !ticket && taken.into & GRAVEL_INTO_HOST)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "results for the host need a ticket");
    return status ? status : gv_tree_walk(tree, &taken, ticket);
}
