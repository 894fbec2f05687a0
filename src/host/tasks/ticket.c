/* Tickets: results of calls, until the host has them. */
#include <stdlib.h>

#include "host/base/threads.h"
#include "host/tasks/tasks.h"

enum { GRAIN = 16384 };

typedef struct unpacking {
    const gv_tasks_ticket *ticket;
    const gravel_forces *to;
} unpacking;

static void unpack(void *user, size_t first, size_t count)
{
    const unpacking *u = user;
    const gv_tasks_ticket *t = u->ticket;
    const size_t stride = u->to->acc.stride ? u->to->acc.stride : 1, words = t->tasks->words;
    const size_t pot_stride = u->to->pot_stride ? u->to->pot_stride : 1;
    double *const acc[3] = {u->to->acc.x, u->to->acc.y, u->to->acc.z};
    for (size_t k = first; k < first + count; k++) {
        const float *single = (const float *)t->slot->host + 4 * words * k;
        double f[4];
        for (size_t c = 0; c < 4; c++) {
            f[c] = t->tasks->scalar == 8 ? ((const double *)t->slot->host)[4 * k + c] : (double)single[c];
            f[c] += words == 2 ? (double)single[4 + c] : 0;
        }
        for (size_t c = 0; c < 3; c++)
            if (acc[c])
                acc[c][k * stride] = f[c] * t->acc;
        if (u->to->pot)
            u->to->pot[k * pot_stride] = f[3] * t->pot;
    }
}

static gravel_status collect(gravel_ticket *ticket, const gravel_forces *to, size_t *overflow)
{
    const gv_tasks_ticket *t = (gv_tasks_ticket *)ticket;
    if (overflow)
        *overflow = 0;
    if (!t->on_host)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the results of this call went into planes only");
    if (to->jerk.x || to->snap.x || to->nearest_id || to->nearest_address || to->nearest_distance ||
        to->neighbour_count || to->neighbour_id || to->neighbour_address)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "tasks give accelerations and potentials only");
    if (to->pot && !t->potential)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the call was without potentials");
    const unpacking u = {t, to};
    gv_parallel(t->bodies > GRAIN ? gv_context_pool(t->tasks->worker.context) : NULL, t->bodies, GRAIN, unpack,
                (void *)&u);
    return GRAVEL_OK;
}

static void clear(gv_tasks_ticket *t)
{
    if (t->slot)
        t->slot->held = 0;
    if (t->base.done)
        clReleaseEvent(t->base.done);
    if (t->base.compute)
        clReleaseEvent(t->base.compute);
    t->base.done = t->base.compute = NULL;
    t->base.collected = 0;
    t->slot = NULL;
}

static void release(gravel_ticket *ticket)
{
    gv_tasks_ticket *t = (gv_tasks_ticket *)ticket;
    if (t->on_host && t->base.done)
        clWaitForEvents(1, &t->base.done);
    clear(t);
    t->in_use = 0;
}

static const gv_ticket_ops ops = {collect, release};

gravel_status gv_tasks_take_ticket(gravel_tasks *tasks, size_t bodies, gv_tasks_ticket **out)
{
    gv_tasks_ticket *t = tasks->tickets;
    const size_t size = bodies * 4 * tasks->words * tasks->scalar;
    while (t && t->in_use)
        t = t->next;
    if (!t) {
        t = calloc(1, sizeof *t);
        if (!t)
            return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a call");
        t->base.ops = &ops;
        t->tasks = tasks;
        t->next = tasks->tickets;
        tasks->tickets = t;
    }
    gravel_status status = gv_slots_take(&tasks->worker, &t->slots, size > 0 ? size : 16, &t->slot);
    if (status) {
        t->slot = NULL;
        return status;
    }
    t->slot->held = 1;
    t->in_use = 1;
    t->on_host = 0;
    t->bodies = bodies;
    *out = t;
    return GRAVEL_OK;
}

gravel_status gv_tasks_finish_ticket(gv_tasks_ticket *t, int on_host)
{
    cl_command_queue queue = gv_worker_queue(&t->tasks->worker);
    const size_t size = t->bodies * 4 * t->tasks->words * t->tasks->scalar;
    cl_int code = clEnqueueMarkerWithWaitList(queue, 0, NULL, &t->base.compute);
    if (!code && on_host && size > 0)
        code =
            clEnqueueReadBuffer(queue, t->slot->device.mem, CL_FALSE, 0, size, t->slot->host, 0, NULL, &t->base.done);
    t->on_host = on_host;
    if (!code && !t->base.done) {
        t->base.done = t->base.compute;
        code = clRetainEvent(t->base.done);
    }
    if (!code)
        code = clFlush(queue);
    return code ? gv_fail_cl(code, "starting tasks on %s", t->tasks->limits.info.name) : GRAVEL_OK;
}

void gv_tasks_release_tickets(gravel_tasks *tasks)
{
    while (tasks->tickets) {
        gv_tasks_ticket *t = tasks->tickets;
        tasks->tickets = t->next;
        if (t->base.done)
            clWaitForEvents(1, &t->base.done);
        clear(t);
        gv_slots_release(&tasks->worker, &t->slots);
        free(t);
    }
}
