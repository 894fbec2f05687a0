/* Calls of direct summation: planned, started, prepared for. */
#include "host/direct/call.h"

#include <string.h>

#include "host/base/options.h"
#include "host/direct/count.h"
#include "host/direct/direct.h"
#include "host/direct/points.h"
#include "host/program/row.h"

/* -------------------------------------------------------------------- planning */

static gravel_status plan(gravel_direct *d, gv_direct_job *c, size_t sinks, size_t sources)
{
    const gravel_device_info *info = &d->limits.info;
    const uint64_t quarter = info->global_memory / 4;
    const size_t list_bytes = (size_t)(info->max_allocation < quarter ? info->max_allocation : quarter);
    const size_t chosen_for = c->chosen_for ? c->chosen_for : sinks;
    const int set = gv_direct_set(c->asked.soften, c->more, c->mixed);
    gravel_status status = gv_direct_choose(d, set, c->variant, chosen_for, sources, &c->choice);
    if (!status)
        status = gv_direct_need_proof(d, c->variant, &c->choice->config, c->asked.soften, c->shape.features, c->more);
    if (!status && c->asked.quadrupoles) {
        c->roomy = *c->choice;
        c->choice = &c->roomy;
        gv_direct_fit_quadrupoles(&c->roomy.config, &d->variant[c->variant], c->asked.soften, info->local_memory);
    }
    if (!status)
        status =
            gv_direct_chosen_kernel(d, c->variant, c->choice, c->asked.soften, c->more, c->shape.macros, &c->force);
    if (status || c->due)
        return status ? status : gv_direct_plan_due(d, c, sources);
    if (!gv_direct_plan_make(&c->plan, &c->choice->config, &d->variant[c->variant], info->compute_units, sinks, sources,
                             (size_t)c->asked.neighbour_capacity, list_bytes))
        return gv_direct_lists_too_large(d, c, list_bytes);
    c->is_single = c->plan.blocks == 1 && c->asked.into == GRAVEL_INTO_HOST;
    return GRAVEL_OK;
}

/* With room to grow: sizes of calls vary a little. */
static gravel_status reserve(gravel_direct *d, gv_buffer *buffer, size_t size, const char *what)
{
    const size_t most = (size_t)d->limits.info.max_allocation, roomy = size + size / 8;
    if (buffer->size >= size)
        return GRAVEL_OK;
    return gv_buffer_reserve(&d->worker, buffer, size <= most && roomy > most ? most : roomy, what);
}

/* Work space that calls share: partial results and lists, sinks taken from bodies. */
static gravel_status reserve_shared(gravel_direct *d, const gv_direct_job *c)
{
    const size_t scalar = (size_t)c->layout.scalar_size, plane = c->plan.stride * scalar;
    const size_t counts = c->plan.parts * c->plan.stride * sizeof(uint32_t);
    const size_t capacity = (size_t)c->asked.neighbour_capacity;
    const size_t blocks = c->is_single ? 0 : c->plan.blocks;
    gravel_status status =
        reserve(d, &d->partial, blocks * (size_t)c->layout.partial_planes * plane + plane, "partial results");
    if (!status && c->sinks.bodies)
        status = reserve(d, &d->sinks, (size_t)c->layout.sink_planes * plane, "sinks");
    if (!status && capacity > 0)
        status = reserve(d, &d->part_count, counts, "neighbour counts");
    if (!status && capacity > 0)
        status = reserve(d, &d->part_list, counts * capacity, "partial neighbour lists");
    return status;
}

static gravel_status reserve_lists(gravel_direct *d, gv_direct_ticket *t)
{
    const size_t counts = t->sinks * sizeof(uint32_t);
    gravel_status status = reserve(d, &t->count, counts, "neighbour counts");
    if (!status)
        status = reserve(d, &t->list, counts * t->capacity, "neighbour lists");
    if (!status)
        status = reserve(d, &t->ids, counts * t->capacity, "neighbour lists");
    return status;
}

/* -------------------------------------------------------------------- starting */

static int is_packed(const gravel_direct *d, const gv_direct_job *c, size_t bytes)
{
    const gv_direct_packed *p = c->packed;
    return p && p->host && p->bytes == bytes && p->stride == c->plan.stride && p->precision == d->options.precision &&
           memcmp(&p->frame, &c->sources.bodies->frame, sizeof p->frame) == 0;
}

/* Their planes into a slot, unless another device's call has packed them. */
static gravel_status pack_points(gravel_direct *d, gv_direct_job *c)
{
    const gv_direct_points points = {.sinks = c->asked.points,
                                     .frame = &c->sources.bodies->frame,
                                     .order = c->asked.order,
                                     .lists = c->asked.neighbour_capacity > 0,
                                     .by_mass = c->asked.rule == GRAVEL_NEIGHBOURS_SPHERE_MASS,
                                     .ahead = c->asked.ahead,
                                     .eps = GV_SOFTEN_OF_SINKS((int)c->asked.soften) ? c->asked.points_eps : NULL,
                                     .stride = c->plan.stride,
                                     .first = c->packed ? c->packed->first : 0};
    const size_t planes = (size_t)c->layout.sink_planes,
                 bytes = planes * c->plan.stride * (size_t)c->layout.scalar_size;
    const int packed = is_packed(d, c, bytes);
    gv_slot *slot;
    gravel_status status = gv_slots_take(&d->worker, &c->ticket->in, bytes, &slot);
    if (!status && !packed)
        status = gv_direct_pack_points(d, &points, slot->host);
    if (status)
        return status;
    if (c->packed && !c->packed->host)
        *c->packed = (gv_direct_packed){
            slot->host, bytes, c->plan.stride, d->options.precision, c->sources.bodies->frame, points.first};
    c->points = slot->device.mem;
    c->few = (gv_direct_few){packed ? c->packed->host : slot->host, slot->device.mem, bytes, planes, 0};
    return GRAVEL_OK;
}

static gravel_status send_points(gravel_direct *d, gv_direct_job *c)
{
    const cl_int code = clEnqueueWriteBuffer(gv_worker_queue(&d->worker), c->points, CL_FALSE, 0, c->few.bytes,
                                             c->few.host, 0, NULL, NULL);
    c->few.is_sent = 1;
    return code ? gv_fail_cl(code, "sending %zu sinks to %s", c->count, d->limits.info.name) : GRAVEL_OK;
}

static gv_direct_reading reading_of(const gv_direct_job *c)
{
    const gravel_direct_call *a = &c->asked;
    return (gv_direct_reading){a->order,
                               !!a->predict,
                               a->neighbour_capacity > 0,
                               c->is_predicted,
                               a->changes != NULL,
                               a->soften,
                               a->time,
                               c->sources.list ? a->sources.list->version : 0};
}

static gravel_status read_bodies(gravel_direct *d, gv_direct_job *c)
{
    const gv_direct_reading how = reading_of(c);
    const gv_selection *sinks = c->sinks.bodies ? &c->sinks : NULL;
    if (sinks)
        c->points = d->sinks.mem;
    if (c->due)
        return gv_direct_read_due(d, &c->ticket->worker, &how, &c->sources, sinks, c->plan.stride, c->due, &c->from);
    return gv_direct_read_bodies(d, &c->ticket->worker, &how, &c->sources, sinks, c->plan.stride, &c->held,
                                 c->few.is_sent ? NULL : &c->few, &c->from);
}

/* Sinks that are points, and the sources: few points go with few changed sources, in one launch. */
static gravel_status read_all(gravel_direct *d, gv_direct_job *c)
{
    const int points = !c->sinks.bodies;
    gravel_status status = points ? pack_points(d, c) : GRAVEL_OK;
    if (!status && points && !gv_direct_is_few(d, c->sources.bodies, &c->held, c->few.bytes))
        status = send_points(d, c);
    if (!status)
        status = read_bodies(d, c);
    return status || !points || c->few.is_sent ? status : send_points(d, c);
}

/* Results to the host.  Large ones go beside the work of later calls, on the copy queue. */
static gravel_status queue_reads(gravel_direct *d, gv_direct_ticket *t)
{
    enum { LARGE = 1 << 20 };
    const gv_device *device = gv_worker_device(&d->worker);
    const size_t bytes = (size_t)t->layout.result_planes * t->stride * (size_t)t->layout.scalar_size;
    const int beside = bytes > LARGE;
    const cl_command_queue queue = beside ? device->copy : device->compute;
    cl_event ready = NULL;
    cl_int code = beside ? clEnqueueMarkerWithWaitList(device->compute, 0, NULL, &ready) : CL_SUCCESS;
    if (!code && t->capacity > 0)
        code = clEnqueueReadBuffer(queue, t->count.mem, CL_FALSE, 0, t->sinks * sizeof(uint32_t),
                                   (char *)t->result->host + bytes, ready ? 1 : 0, ready ? &ready : NULL, NULL);
    if (!code)
        code = clEnqueueReadBuffer(queue, t->result->device.mem, CL_FALSE, 0, bytes, t->result->host, ready ? 1 : 0,
                                   ready ? &ready : NULL, &t->base.done);
    if (!code && beside)
        code = clFlush(queue);
    if (!beside && !code && !(code = clRetainEvent(t->base.done)))
        ready = t->base.done;
    t->base.compute = ready;
    return code ? gv_fail_cl(code, "reading results from %s", d->limits.info.name) : GRAVEL_OK;
}

/* Sinks without any source: sums of no parts, which are zeros, and no neighbours. */
static gravel_status without_sources(gravel_direct *d, gv_direct_job *c)
{
    gravel_status status = reserve(d, &d->partial, 16, "partial results");
    c->plan.reduce_rows = 1;
    c->from.id = d->partial.mem;
    return status;
}

static gravel_status prepare_ticket(gravel_direct *d, gv_direct_job *c)
{
    gv_direct_ticket *t;
    gravel_status status = gv_direct_take_ticket(d, &c->ticket);
    if (status)
        return status;
    t = c->ticket;
    t->order = c->asked.order;
    t->nearest = c->asked.nearest;
    t->capacity = (size_t)c->asked.neighbour_capacity;
    t->sinks = c->count;
    t->stride = c->is_single ? c->plan.stride : c->count;
    t->into = c->asked.into;
    t->base.on_host = (t->into & GRAVEL_INTO_HOST) != 0;
    t->layout = c->layout;
    t->frame = c->sources.bodies ? c->sources.bodies->frame : (gravel_frame){{0, 0, 0}, 1, 1};
    if (c->count == 0 || !(t->into & GRAVEL_INTO_HOST))
        return GRAVEL_OK;
    const size_t bytes = (size_t)t->layout.result_planes * t->stride * (size_t)t->layout.scalar_size;
    status = gv_slots_take(&t->worker, &t->out, bytes + t->sinks * sizeof(uint32_t), &t->result);
    return !status && t->capacity > 0 ? reserve_lists(d, t) : status;
}

/* What the ticket waits for: the transfer of the results, else the end of the kernels. */
static gravel_status finish_ticket(gravel_direct *d, gv_direct_ticket *t)
{
    if (t->result)
        return queue_reads(d, t);
    cl_int code = clEnqueueMarkerWithWaitList(gv_worker_queue(&d->worker), 0, NULL, &t->base.done);
    if (!code && !(code = clRetainEvent(t->base.done)))
        t->base.compute = t->base.done;
    return code ? gv_fail_cl(code, "marking the end of a call on %s", d->limits.info.name) : GRAVEL_OK;
}

static gravel_status run(gravel_direct *d, gv_direct_job *c, int is_waited_for)
{
    const size_t sources = d->last_sources = c->sources.count;
    d->last_set = gv_direct_set(c->asked.soften, c->more, c->mixed);
    gravel_status status = GRAVEL_OK;
    if (sources > 0 && c->count > 0)
        status = plan(d, c, c->count, sources);
    if (!status)
        status = prepare_ticket(d, c);
    if (status || c->count == 0)
        return status;
    status = sources > 0 ? reserve_shared(d, c) : without_sources(d, c);
    if (!status && sources > 0)
        status = read_all(d, c);
    d->n_again = 0;
    if (!status && sources > 0)
        status = gv_direct_start_force(d, c);
    if (!status)
        status = gv_direct_start_reduce(d, c);
    if (!status && c->asked.neighbour_capacity > 0)
        status = gv_direct_start_join(d, c);
    if (!status && is_waited_for)
        status = finish_ticket(d, c->ticket);
    if (!status && clFlush(gv_worker_queue(&d->worker)))
        status = gv_fail(GRAVEL_ERR_OPENCL, "starting a call on %s failed", d->limits.info.name);
    if (!status && !c->due && c->choice && c->choice != &c->roomy) /* no question of the tuner has quadrupoles */
        gv_direct_count_call(d, c->choice);
    return status;
}

static void mark_changed(const gv_direct_job *c)
{
    static const gravel_plane plane[4] = {GRAVEL_ACCELERATION, GRAVEL_POTENTIAL, GRAVEL_JERK, GRAVEL_SNAP};
    for (int k = 0; k < 1 + c->asked.order / 2 && c->asked.into & GRAVEL_INTO_PLANES && c->count > 0; k++)
        gv_bodies_changed(c->due ? c->due->to : c->sinks.bodies, plane[k]);
}

/* The changes that a call begins with: done, or held for the kernel that takes the sources. */
static gravel_status change(const gravel_direct_call *asked, gv_direct_job *c)
{
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gravel_status status = gv_options_take(&call, sizeof call, asked, "gravel_direct_call");
    gravel_bodies *bodies = call.sources.bodies;
    if (status || !call.changes)
        return status;
    if (!bodies)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "changes are of sources that are bodies");
    return gv_bodies_hold(bodies, call.changes, &c->held);
}

/* Those that no kernel took: there was none to start, or the call is refused. */
static gravel_status put_rest(const gravel_direct_call *asked, gv_direct_job *c)
{
    return c->held.count > 0 ? gv_bodies_put_held(asked->sources.bodies, &c->held) : GRAVEL_OK;
}

static gravel_status start(gravel_direct *d, const gravel_direct_call *asked, int is_waited_for, gv_direct_job *c)
{
    gravel_status status = change(asked, c);
    if (!status)
        status = gv_direct_check(d, asked, c);
    if (!status && !is_waited_for && c->asked.into & GRAVEL_INTO_HOST)
        status =
            gv_fail(GRAVEL_ERR_ARGUMENT, "results for the host need a ticket: gravel_direct_start without one takes "
                                         "GRAVEL_INTO_PLANES only");
    return status ? status : run(d, c, is_waited_for);
}

static gravel_status start_job(gravel_direct *d, const gravel_direct_call *asked, gv_direct_job *c,
                               gravel_ticket **ticket)
{
    if (ticket)
        *ticket = NULL;
    if (!d || !asked)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_start: no object or no call");
    gravel_status status = start(d, asked, ticket != NULL, c);
    const gravel_status put = put_rest(asked, c);
    status = status ? status : put;
    if (status) {
        clFinish(gv_worker_queue(&d->worker)); /* nothing may use the staging areas any more */
        clFinish(gv_worker_device(&d->worker)->copy);
        gv_direct_forget(d);
        if (c->ticket)
            gv_direct_drop_ticket(c->ticket);
        return status;
    }
    mark_changed(c);
    if (ticket)
        *ticket = &c->ticket->base;
    else
        gv_direct_drop_ticket(c->ticket);
    return GRAVEL_OK;
}

gravel_status gv_direct_start_packed(gravel_direct *d, const gravel_direct_call *asked, gv_direct_packed *packed,
                                     gravel_ticket **ticket)
{
    gv_direct_job c = {.packed = packed};
    return start_job(d, asked, &c, ticket);
}

gravel_status gv_direct_start_predicted(gravel_direct *d, const gravel_direct_call *asked)
{
    gv_direct_job c = {.is_predicted = 1};
    return start_job(d, asked, &c, NULL);
}

gravel_status gv_direct_start_for(gravel_direct *d, const gravel_direct_call *asked, size_t chosen_for,
                                  const gv_direct_due *due)
{
    gv_direct_job c = {.due = due, .chosen_for = chosen_for};
    return start_job(d, asked, &c, NULL);
}

int gv_direct_takes(const gravel_direct *d, const gravel_bodies *bodies)
{
    return d->options.precision == bodies->precision ||
           (d->options.precision == GRAVEL_SP && bodies->precision == GRAVEL_DS);
}

gravel_status gv_direct_take_sources(gravel_direct *d, const gravel_direct_call *asked, cl_mem quad[4])
{
    gv_direct_job c = {.count = 0};
    gravel_status status = gv_direct_check(d, asked, &c);
    const gv_direct_reading how = reading_of(&c);
    if (!status)
        status = gv_direct_read_bodies(d, &d->worker, &how, &c.sources, NULL, 0, &c.held, NULL, &c.from);
    memcpy(quad, c.from.quad, sizeof c.from.quad);
    return status;
}

gravel_status gravel_direct_start(gravel_direct *d, const gravel_direct_call *asked, gravel_ticket **ticket)
{
    return gv_direct_start_packed(d, asked, NULL, ticket);
}

/* ------------------------------------------------------------------- preparing */

/* Starts the kernels of a planned call on no data: some drivers finish compiling a kernel at its first start only. */
static gravel_status start_on_nothing(gravel_direct *d, gv_direct_job *c)
{
    const gv_direct_plan plan = c->plan;
    const size_t count = c->count;
    const unsigned into = c->asked.into;
    gravel_status status = reserve_shared(d, c);
    if (!status)
        status = reserve(d, &d->sinks, (size_t)(c->layout.sink_planes * c->layout.scalar_size) * plan.stride, "sinks");
    c->plan =
        (gv_direct_plan){.stride = plan.stride / plan.sink_groups, .sink_groups = 1, .blocks = 1, .reduce_rows = 1};
    c->plan.parts = plan.parts / plan.blocks;
    c->is_single = 0;
    if (!status) /* this one group's results are partial ones, also where those of the call go to its ticket */
        status = reserve_shared(d, c);
    if (status)
        return status;
    d->n_again = 0;
    c->from = (gv_direct_sources){.quad = {d->partial.mem, d->partial.mem, d->partial.mem, d->partial.mem},
                                  .softening = d->partial.mem,
                                  .id = d->partial.mem};
    c->points = d->sinks.mem;
    c->count = 1;
    c->asked.into = 0;
    status = gv_direct_start_force(d, c);
    if (!status)
        status = gv_direct_start_reduce(d, c);
    if (!status && c->asked.neighbour_capacity > 0)
        status = gv_direct_start_join(d, c);
    d->n_again = 0;
    c->plan = plan;
    c->count = count;
    c->asked.into = into;
    return status;
}

/* Kernels and work space of calls with 1 ... `sinks` sinks, in steps of 2 %: sizes are not larger for more sinks. */
static gravel_status prepare_sizes(gravel_direct *d, gv_direct_job *c, size_t sinks, size_t sources)
{
    cl_kernel last = NULL;
    gravel_status status = GRAVEL_OK;
    for (size_t n = sinks; n > 0 && !status; n -= n / 50 + 1) {
        c->count = n;
        status = plan(d, c, n, sources);
        if (!status)
            status = c->force == last ? reserve_shared(d, c) : start_on_nothing(d, c);
        last = c->force;
    }
    c->count = sinks;
    return status;
}

static gravel_status prepare_tickets(gravel_direct *d, gv_direct_job *c)
{
    enum { IN_FLIGHT = 4 };
    gv_direct_ticket *made[IN_FLIGHT] = {NULL};
    const size_t bytes = (size_t)(c->layout.sink_planes * c->layout.scalar_size) * c->plan.stride;
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k < IN_FLIGHT && !status; k++) {
        gv_slot *slot;
        status = prepare_ticket(d, c);
        made[k] = c->ticket;
        if (!status && !c->sinks.bodies)
            status = gv_slots_take(&d->worker, &c->ticket->in, bytes, &slot);
    }
    for (int k = 0; k < IN_FLIGHT; k++)
        if (made[k])
            gv_direct_drop_ticket(made[k]);
    c->ticket = NULL;
    return status;
}

gravel_status gravel_direct_prepare(gravel_direct *d, const gravel_direct_call *asked, size_t sinks, size_t sources)
{
    gv_direct_job c = {.count = 0};
    if (!d || !asked)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_prepare: no object or no call");
    gravel_status status = gv_direct_check(d, asked, &c);
    if (status || sinks == 0 || sources == 0)
        return status;
    const gv_direct_reading how = reading_of(&c);
    c.count = sinks;
    status = plan(d, &c, sinks, sources);
    if (!status)
        status = prepare_ticket(d, &c);
    if (!status && c.sources.bodies)
        status = gv_direct_prepare_reading(d, &how, &c.sources, c.sinks.bodies ? &c.sinks : NULL, sources);
    if (!status)
        status = prepare_sizes(d, &c, sinks, sources);
    if (c.ticket)
        gv_direct_drop_ticket(c.ticket);
    if (!status)
        status = plan(d, &c, sinks, sources);
    if (!status)
        status = prepare_tickets(d, &c);
    const cl_int code = clFinish(gv_worker_queue(&d->worker));
    return status ? status : code ? gv_fail_cl(code, "preparing calls on %s", d->limits.info.name) : GRAVEL_OK;
}

/* ------------------------------------------------------------------ the row */

static gravel_status launch_again(void *user, cl_command_queue queue)
{
    const gravel_direct *d = user;
    for (int k = 0; k < d->n_again; k++) {
        const gv_direct_again *a = &d->again[k];
        const cl_int code = clEnqueueNDRangeKernel(queue, a->kernel, a->range.dimensions, NULL, a->range.global,
                                                   a->range.local, 0, NULL, NULL);
        if (code)
            return gv_fail_cl(code, "starting kernel %d of a call again on %s", k, d->limits.info.name);
    }
    return GRAVEL_OK;
}

gravel_status gv_direct_row(gravel_direct *d, int runs, double *seconds)
{
    if (d->pair || d->n_again == 0)
        return gv_fail(GRAVEL_ERR_STATE, "no call was collected whose kernels could run again");
    const cl_int code = clFinish(gv_worker_queue(&d->worker));
    return code ? gv_fail_cl(code, "waiting for %s", d->limits.info.name)
                : gv_row_time(d->worker.context, d->worker.device, launch_again, d, runs, seconds);
}
