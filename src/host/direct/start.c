/* The kernels of a call that was planned. */
#include <string.h>

#include "host/direct/call.h"

_Static_assert(GRAVEL_INTO_HOST == GV_PUT_HOST && GRAVEL_INTO_PLANES == GV_PUT_PLANES && GRAVEL_INTO_ADD == GV_PUT_ADD,
               "the kernels' GV_PUT_... are the values of GRAVEL_INTO_...");

static gravel_status start_again(gravel_direct *d, gv_worker *worker, int stage, cl_kernel kernel, gv_range range,
                                 size_t n_args, const gv_arg *arg)
{
    d->again[d->n_again++] = (gv_direct_again){kernel, range};
    return gv_launch_next(worker, stage, kernel, range, n_args, arg, &d->last[stage]);
}
#define START(d, worker, stage, kernel, range, ...)                                                                    \
    start_again(d, worker, stage, kernel, range, sizeof((const gv_arg[]){__VA_ARGS__}) / sizeof(gv_arg),               \
                (const gv_arg[]){__VA_ARGS__})

/* What kernels for sinks that the device has found take more (GV_DUE), the last of them gv_reduce alone; `number` is
 * where the numbers among them are. */
enum { DUE_ARGS = 5 };
static size_t due_args(const gv_direct_job *c, cl_uint number[3], gv_arg *arg)
{
    if (!c->due)
        return 0;
    number[0] = (cl_uint)c->due->above;
    number[1] = (cl_uint)c->due->most;
    number[2] = (cl_uint)c->cuts->group_sinks;
    arg[0] = (gv_arg){sizeof c->due->head, &c->due->head};
    arg[1] = (gv_arg){sizeof c->cuts->table.mem, &c->cuts->table.mem};
    for (int k = 0; k < 3; k++)
        arg[2 + k] = (gv_arg){sizeof number[k], &number[k]};
    return DUE_ARGS;
}

gravel_status gv_direct_start_force(gravel_direct *d, gv_direct_job *c)
{
    const gv_direct_plan *p = &c->plan;
    const gv_direct_sources *from = &c->from;
    const size_t threads = (size_t)c->choice->config.value[GV_T_THREADS];
    const cl_mem out = c->is_single ? c->ticket->result->device.mem : d->partial.mem;
    const gv_arg arg[] = {GV_ARG(from->quad[0]), GV_ARG(from->quad[1]),
                          GV_ARG(from->quad[2]), GV_ARG(from->quad[3]),
                          GV_ARG(from->id),      GV_ARG(c->points),
                          GV_ARG(out),           GV_MEM(d->part_count),
                          GV_MEM(d->part_list),  GV_INT(c->asked.neighbour_capacity),
                          GV_UINT(from->count),  GV_UINT(p->part_sources),
                          GV_UINT(p->stride),    GV_REAL(d->options.precision, c->eps * c->eps)};
    gv_arg all[sizeof arg / sizeof arg[0] + 1 + GV_DIRECT_SHAPE_ARGS + DUE_ARGS];
    size_t n = sizeof arg / sizeof arg[0];
    cl_uint number[3];
    memcpy(all, arg, sizeof arg);
    n += due_args(c, number, all + n) > 0 ? DUE_ARGS - 1 : 0;
    if (GV_SOFTEN_OF_SOURCES((int)c->asked.soften))
        all[n++] = GV_ARG(from->softening);
    n += gv_direct_shape_args(&c->shape, all + n);
    return start_again(d, &c->ticket->worker, GV_STAGE_FORCE, c->force,
                       c->due ? gv_groups(c->cuts->groups, threads) : gv_groups_2d(p->sink_groups, p->blocks, threads),
                       n, all);
}

/* Factors from the device's results to the words of the sinks' bodies: m / l^2 in the frame of the sources, stored in
 * the unit of length of the sinks (potentials: m / l, in its square). */
static void factors(const gv_direct_job *c, double *acc, double *pot)
{
    *acc = *pot = 1;
    if (!c->sinks.bodies || !c->sources.bodies)
        return;
    const gravel_frame *from = &c->sources.bodies->frame, *to = &c->sinks.bodies->frame;
    *acc = from->mass / from->length / from->length / to->length;
    *pot = from->mass / from->length / to->length / to->length;
}

/* Where the force kernel's results are final, only the neighbours' addresses and ids are missing. */
static gravel_status start_names(gravel_direct *d, gv_direct_job *c)
{
    const gv_direct_sources *from = &c->from;
    cl_kernel kernel;
    gravel_status status = gv_direct_names_kernel(d, c->asked.order, &kernel);
    if (status)
        return status;
    return START(d, &c->ticket->worker, GV_STAGE_REDUCE, kernel, gv_items(c->count, GV_REDUCE_THREADS),
                 GV_MEM(c->ticket->result->device), GV_ARG(from->id), GV_ARG(from->list), GV_UINT(from->list != NULL),
                 GV_UINT(from->address_first), GV_UINT(c->count), GV_UINT(c->plan.stride));
}

gravel_status gv_direct_start_reduce(gravel_direct *d, gv_direct_job *c)
{
    static const gv_word word[4] = {GV_WORD_ACCELERATION, GV_WORD_POTENTIAL, GV_WORD_JERK, GV_WORD_SNAP};
    const gravel_direct_call *a = &c->asked;
    const gv_direct_plan *p = &c->plan;
    const gv_direct_sources *from = &c->from;
    gravel_bodies *const to = c->due ? c->due->to : c->sinks.bodies;
    const gravel_precision bodies = to ? to->precision : d->options.precision;
    const cl_mem list = c->due ? NULL : c->sinks.list;
    const size_t groups = c->due ? c->cuts->reduce_groups : gv_direct_reduce_groups(c->count, p->reduce_rows);
    const size_t down = (size_t)(c->layout.components + a->nearest), blocks = from->count > 0 ? p->blocks : 0;
    const cl_mem result = c->ticket->result ? c->ticket->result->device.mem : d->partial.mem;
    cl_mem out[4] = {NULL, NULL, NULL, NULL};
    cl_kernel kernel;
    double acc, pot;
    if (c->is_single)
        return a->nearest ? start_names(d, c) : GRAVEL_OK;
    gravel_status status = gv_direct_reduce_kernel(d, a->order, a->nearest, bodies, c->due != NULL, &kernel);
    for (int k = 0; k < 1 + a->order / 2 && a->into & GRAVEL_INTO_PLANES && !status; k++)
        status = gv_bodies_need(to, word[k], &out[k]);
    if (status)
        return status;
    factors(c, &acc, &pot);
    const gv_arg arg[] = {GV_MEM(d->partial),
                          GV_ARG(result),
                          GV_ARG(from->id),
                          GV_ARG(from->list),
                          GV_UINT(from->list != NULL),
                          GV_UINT(from->address_first),
                          GV_UINT(blocks),
                          GV_UINT(p->stride),
                          GV_UINT(c->count),
                          GV_UINT(p->reduce_rows),
                          GV_UINT(a->into),
                          GV_ARG(list),
                          GV_UINT(list != NULL),
                          GV_UINT(c->sinks.first),
                          GV_REAL(bodies, acc),
                          GV_REAL(bodies, pot),
                          GV_ARG(out[0]),
                          GV_ARG(out[1]),
                          GV_ARG(out[2]),
                          GV_ARG(out[3])};
    gv_arg all[sizeof arg / sizeof arg[0] + DUE_ARGS];
    size_t n = sizeof arg / sizeof arg[0];
    cl_uint number[3];
    memcpy(all, arg, sizeof arg);
    n += due_args(c, number, all + n);
    return start_again(d, &c->ticket->worker, GV_STAGE_REDUCE, kernel, gv_groups_2d(groups, down, GV_REDUCE_THREADS), n,
                       all);
}

gravel_status gv_direct_start_join(gravel_direct *d, gv_direct_job *c)
{
    const gv_direct_ticket *t = c->ticket;
    const gv_direct_sources *from = &c->from;
    const size_t parts = from->count > 0 ? c->plan.parts : 0;
    cl_kernel kernel;
    gravel_status status = gv_direct_join_kernel(d, &kernel);
    if (status)
        return status;
    return START(d, &c->ticket->worker, GV_STAGE_LISTS, kernel, gv_groups(c->count, gv_direct_list_items(d, parts)),
                 GV_MEM(d->part_count), GV_MEM(d->part_list), GV_ARG(from->id), GV_ARG(from->list),
                 GV_UINT(from->list != NULL), GV_UINT(from->address_first), GV_MEM(t->count), GV_MEM(t->list),
                 GV_MEM(t->ids), GV_UINT(parts), GV_UINT(c->plan.stride), GV_UINT(t->capacity));
}
