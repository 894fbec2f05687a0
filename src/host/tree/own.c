/* The calls on host arrays: bodies owned by the tree, and tickets that are collected at once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/bodies/transfer.h"
#include "host/tree/tree.h"

/* the least power of two that is not below x; 1 for 0 */
static double power_above(double x)
{
    int exponent;
    if (!(x > 0))
        return 1;
    const double fraction = frexp(x, &exponent);
    return ldexp(1, fraction == 0.5 ? exponent - 1 : exponent);
}

static gravel_status check_positions(const gravel_vec *v)
{
    return v->x && v->y && v->z ? GRAVEL_OK : gv_fail(GRAVEL_ERR_ARGUMENT, "the bodies need positions x, y and z");
}

static gravel_array array_of(const gravel_vec *v)
{
    return (gravel_array){v->x, v->y, v->z, v->stride, GRAVEL_F64};
}

/* The frame is the box of the bodies: its middle, or where most of them are, the power of two at or above how far they
 * reach from there, and at or above the largest mass. */
static gravel_status frame_of(gravel_context *context, const gravel_sources *bodies, gravel_frame *frame)
{
    const double *const axis[3] = {bodies->pos.x, bodies->pos.y, bodies->pos.z};
    const size_t stride = bodies->pos.stride ? bodies->pos.stride : 1;
    const gv_numbers mass = {bodies->mass, bodies->mass_stride ? bodies->mass_stride : 1, GRAVEL_F64};
    double far = 0, least, most;
    for (int c = 0; c < 3; c++) {
        const gv_numbers numbers = {axis[c], stride, GRAVEL_F64};
        double lo, hi, reach;
        if (!gv_numbers_bounds(context, &numbers, bodies->count, &lo, &hi))
            for (size_t k = 0; k < bodies->count; k++)
                if (!isfinite(axis[c][k * stride]))
                    return gv_fail(GRAVEL_ERR_INPUT, "bodies: the position of number %zu is not finite", k);
        frame->origin[c] = gv_numbers_origin(&numbers, bodies->count, lo, hi, &reach);
        far = fmax(far, reach);
    }
    if (!gv_numbers_bounds(context, &mass, bodies->count, &least, &most) || least < 0)
        for (size_t k = 0; k < bodies->count; k++) {
            const double value = bodies->mass[k * mass.stride];
            if (!isfinite(value) || value < 0)
                return gv_fail(GRAVEL_ERR_INPUT,
                               "bodies: the mass of number %zu is %g; a tree needs masses of 0 or more", k, value);
        }
    /* beyond these bounds powers of the unit leave the range of double (frame.c) */
    frame->length = far > 1e-150 && far < 1e150 ? power_above(far) : 1;
    frame->mass = most > 1e-300 && most < 1e300 ? power_above(most) : 1;
    return GRAVEL_OK;
}

static gravel_status own_bodies(gravel_tree *tree)
{
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    options.precision = tree->options.precision;
    options.device = tree->worker.device;
    gravel_status status = tree->own ? GRAVEL_OK : gravel_bodies_create(&tree->own, tree->worker.context, &options);
    return status || tree->active ? status
                                  : gravel_list_create(&tree->active, tree->worker.context, tree->worker.device);
}

static void forget_last(gravel_tree *tree)
{
    gravel_ticket_release(tree->last);
    tree->last = NULL;
}

gravel_status gv_tree_frame(gravel_tree *tree, const gravel_sources *bodies, gravel_frame *frame)
{
    if (!tree || !bodies)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tree_write needs a tree and bodies");
    if (bodies->count == 0)
        return gv_fail(GRAVEL_ERR_INPUT, "there are no bodies");
    if (!bodies->mass)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the bodies need masses");
    gravel_status status = check_positions(&bodies->pos);
    if (!status)
        status = gv_tree_check_size(tree, bodies->count);
    return status ? status : frame_of(tree->worker.context, bodies, frame);
}

gravel_status gv_tree_write(gravel_tree *tree, const gravel_sources *bodies, const gravel_frame *frame)
{
    gravel_status status = gv_tree_check_size(tree, bodies->count);
    if (!status)
        status = own_bodies(tree);
    if (status)
        return status;
    const gravel_plane plane[2] = {GRAVEL_POSITION, GRAVEL_MASS};
    const gravel_array from[2] = {array_of(&bodies->pos), {bodies->mass, NULL, NULL, bodies->mass_stride, GRAVEL_F64}};
    const gravel_view view = gravel_view_all(tree->own);
    forget_last(tree);
    tree->view.bodies = NULL;
    status = gravel_bodies_resize(tree->own, 0);
    if (!status)
        status = gravel_bodies_set_frame(tree->own, frame);
    if (!status)
        status = gravel_bodies_resize(tree->own, bodies->count);
    if (!status)
        status = gravel_bodies_update(tree->own, NULL, 0, bodies->count, 2, plane, from);
    return status ? status : gravel_tree_set_sources(tree, &view);
}

gravel_status gravel_tree_write(gravel_tree *tree, const gravel_sources *bodies)
{
    gravel_frame frame;
    gravel_status status = gv_tree_frame(tree, bodies, &frame);
    return status ? status : gv_tree_write(tree, bodies, &frame);
}

static gravel_status check_own(const gravel_tree *tree)
{
    if (!tree)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "no tree was given");
    if (!tree->view.bodies)
        return gv_fail(GRAVEL_ERR_STATE,
                       "the tree has no bodies: gravel_tree_write or gravel_tree_set_sources comes first");
    return GRAVEL_OK;
}

gravel_status gravel_tree_move(gravel_tree *tree, const gravel_vec *pos)
{
    gravel_status status = check_own(tree);
    if (!status && !pos)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tree_move needs positions");
    if (!status && tree->view.bodies != tree->own)
        status =
            gv_fail(GRAVEL_ERR_STATE, "the bodies of this tree are not its own: write them with gravel_bodies_write");
    if (!status)
        status = check_positions(pos);
    if (status)
        return status;
    const gravel_array from = array_of(pos);
    return gravel_bodies_write(tree->own, GRAVEL_POSITION, 0, tree->own->count, &from);
}

gravel_status gravel_tree_build(gravel_tree *tree)
{
    gravel_status status = check_own(tree);
    return status ? status : gv_tree_rebuild(tree);
}

gravel_status gravel_tree_refit(gravel_tree *tree)
{
    gravel_status status = check_own(tree);
    return status ? status : gv_tree_update(tree, GRAVEL_TREE_REFIT);
}

/* -------------------------------------------------------------------- forces */

/* Forces that stay on the device.  With the criterion `last` they are kept in the bodies' planes too. */
static gravel_status walk(gravel_tree *tree, const gravel_tree_call *call)
{
    const int with_last = tree->options.mac == GRAVEL_TREE_LAST && call->sinks.bodies;
    gravel_tree_call taken;
    int bad = 1;
    forget_last(tree);
    gravel_status status = gv_tree_take_call(tree, call, &taken);
    taken.last = with_last && tree->has_last;
    taken.into = with_last ? GV_INTO_TICKET | GRAVEL_INTO_PLANES : GV_INTO_TICKET;
    /* in the rare case that cells did not fit the walk is repeated */
    for (int attempt = 0; attempt < 2 && bad && !status; attempt++) {
        forget_last(tree);
        tree->unseen = 0;
        status = gv_tree_walk(tree, &taken, &tree->last);
        if (!status)
            status = gv_tree_is_bad_ticket(tree->last, &bad);
    }
    if (status || bad)
        forget_last(tree);
    return status || !bad ? status : gv_fail(GRAVEL_ERR_INTERNAL, "the cells of %zu bodies did not fit twice", tree->n);
}

static gravel_status check_forces(const gravel_forces *forces)
{
    if (!forces)
        return gv_fail(GRAVEL_ERR_STATE, "there are no forces to read");
    if (forces->jerk.x || forces->snap.x || forces->nearest_id || forces->nearest_address || forces->nearest_distance ||
        forces->neighbour_count || forces->neighbour_id || forces->neighbour_address)
        return gv_fail(GRAVEL_ERR_UNSUPPORTED, "a tree gives accelerations and potentials only");
    return GRAVEL_OK;
}

gravel_status gravel_tree_read(gravel_tree *tree, const gravel_forces *forces)
{
    if (!tree)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "no tree was given");
    gravel_status status = check_forces(tree->last ? forces : NULL);
    return status ? status : gv_tree_read_ticket(tree->last, forces);
}

gravel_status gravel_tree_compute(gravel_tree *tree, double eps)
{
    gravel_tree_call call;
    gravel_status status = check_own(tree);
    if (status)
        return status;
    gravel_tree_call_init(&call);
    call.sinks = tree->view;
    call.eps = eps;
    status = walk(tree, &call);
    tree->has_last = tree->has_last || !status;
    return status;
}

gravel_status gravel_tree_forces(gravel_tree *tree, double eps, const gravel_forces *forces)
{
    gravel_status status = gravel_tree_compute(tree, eps);
    return status ? status : gravel_tree_read(tree, forces);
}

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Each at most once.  A few are sorted, many are marked in a bit each. */
gravel_status gv_tree_check_addresses(const uint32_t *address, size_t count, size_t n)
{
    const size_t words = n / 32 + 1;
    const int sorts = count < n / 4096;
    uint32_t *mark = sorts ? malloc(count * sizeof *mark) : calloc(words, sizeof *mark), twice = GRAVEL_NONE;
    if (!mark)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu addresses", count);
    for (size_t k = 0; k < count; k++)
        if (address[k] >= n) {
            free(mark);
            return gv_fail(GRAVEL_ERR_INPUT, "active body %zu: address %u does not exist", k, address[k]);
        }
    if (sorts) {
        memcpy(mark, address, count * sizeof *mark);
        qsort(mark, count, sizeof *mark, ascending);
    }
    for (size_t k = 0; k < count && twice == GRAVEL_NONE; k++) {
        const uint32_t bit = 1u << (address[k] % 32);
        if (sorts ? k > 0 && mark[k] == mark[k - 1] : (mark[address[k] / 32] & bit) != 0)
            twice = sorts ? mark[k] : address[k];
        else if (!sorts)
            mark[address[k] / 32] |= bit;
    }
    free(mark);
    return twice == GRAVEL_NONE ? GRAVEL_OK : gv_fail(GRAVEL_ERR_INPUT, "active bodies: address %u comes twice", twice);
}

gravel_status gv_tree_compute_listed(gravel_tree *tree, const uint32_t *address, size_t count, double eps)
{
    gravel_tree_call call;
    gravel_status status = own_bodies(tree);
    if (!status)
        status = gravel_list_write(tree->active, address, count);
    if (status)
        return status;
    gravel_tree_call_init(&call);
    call.sinks = gravel_view_list(tree->view.bodies, tree->active);
    call.eps = eps;
    return walk(tree, &call);
}

gravel_status gravel_tree_forces_active(gravel_tree *tree, const uint32_t *address, size_t count, double eps,
                                        const gravel_forces *forces)
{
    gravel_status status = check_own(tree);
    if (!status && !address && count > 0)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "no addresses of active bodies were given");
    if (!status && count > 0)
        status = gv_tree_check_addresses(address, count, tree->view.bodies->count);
    if (!status)
        status = gv_tree_compute_listed(tree, address, count, eps);
    return status ? status : gravel_tree_read(tree, forces);
}

gravel_status gravel_tree_forces_at(gravel_tree *tree, const gravel_sinks *points, double eps,
                                    const gravel_forces *forces)
{
    gravel_tree_call call;
    gravel_status status = check_own(tree);
    if (status)
        return status;
    gravel_tree_call_init(&call);
    call.points = points;
    call.eps = eps;
    status = walk(tree, &call);
    return status ? status : gravel_tree_read(tree, forces);
}
