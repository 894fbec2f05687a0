/* Tickets: results of calls, until the caller has them. */
#include <stdlib.h>

#include "host/base/threads.h"
#include "host/mesh/mesh.h"

enum { GRAIN = 16384 };

typedef struct unpacking {
    const gv_mesh_ticket *ticket;
    const gravel_forces *to;
} unpacking;

static void unpack(void *user, size_t first, size_t count)
{
    const unpacking *u = user;
    const gv_mesh_ticket *t = u->ticket;
    const size_t stride = u->to->acc.stride ? u->to->acc.stride : 1;
    const size_t pot_stride = u->to->pot_stride ? u->to->pot_stride : 1;
    double *const axis[3] = {u->to->acc.x, u->to->acc.y, u->to->acc.z};
    const double *wide = t->slot->host;
    const float *single = t->slot->host;
    for (size_t k = first; k < first + count; k++)
        for (size_t c = 0; c < 4; c++) {
            const double f = t->mesh->scalar == 8 ? wide[4 * k + c] : (double)single[4 * k + c];
            if (c < 3 && axis[c])
                axis[c][k * stride] = f * t->acc;
            if (c == 3 && u->to->pot)
                u->to->pot[k * pot_stride] = f * t->pot;
        }
}

static gravel_status collect(gravel_ticket *ticket, const gravel_forces *to, size_t *overflow)
{
    const gv_mesh_ticket *t = (gv_mesh_ticket *)ticket;
    if (overflow)
        *overflow = 0;
    if (!t->on_host)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the results of this call went into planes only");
    if (to->jerk.x || to->snap.x || to->nearest_id || to->nearest_address || to->nearest_distance ||
        to->neighbour_count || to->neighbour_id || to->neighbour_address)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a mesh gives accelerations and potentials only");
    if (t->mesh->fft && gv_fft_has_failed(t->mesh->fft))
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the lines of an FFT");
    const unpacking u = {t, to};
    gv_parallel(t->sinks > GRAIN ? gv_context_pool(t->mesh->worker.context) : NULL, t->sinks, GRAIN, unpack,
                (void *)&u);
    return GRAVEL_OK;
}

static void clear(gv_mesh_ticket *t)
{
    if (t->on_host && t->base.done) /* host memory of the results may be used again after this */
        clWaitForEvents(1, &t->base.done);
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
    gv_mesh_ticket *t = (gv_mesh_ticket *)ticket;
    clear(t);
    t->in_use = 0;
}

static const gv_ticket_ops ops = {collect, release};

gravel_status gv_mesh_take_ticket(gravel_mesh *mesh, size_t sinks, int on_host, gv_mesh_ticket **out)
{
    gv_mesh_ticket *t = mesh->tickets;
    while (t && t->in_use)
        t = t->next;
    if (!t) {
        t = calloc(1, sizeof *t);
        if (!t)
            return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a call");
        t->base.ops = &ops;
        t->mesh = mesh;
        t->next = mesh->tickets;
        mesh->tickets = t;
    }
    if (on_host && sinks > 0) {
        const gravel_status status = gv_slots_take(&mesh->worker, &t->slots, sinks * 4 * mesh->scalar, &t->slot);
        if (status) {
            t->slot = NULL;
            return status;
        }
        t->slot->held = 1;
    }
    t->in_use = 1;
    t->on_host = on_host;
    t->sinks = sinks;
    *out = t;
    return GRAVEL_OK;
}

gravel_status gv_mesh_finish_ticket(gv_mesh_ticket *t)
{
    cl_command_queue queue = gv_worker_queue(&t->mesh->worker);
    const size_t size = t->sinks * 4 * t->mesh->scalar;
    if (t->sinks == 0)
        return GRAVEL_OK;
    cl_int code = clEnqueueMarkerWithWaitList(queue, 0, NULL, &t->base.compute);
    if (!code && t->slot)
        code =
            clEnqueueReadBuffer(queue, t->slot->device.mem, CL_FALSE, 0, size, t->slot->host, 0, NULL, &t->base.done);
    if (!code && !t->base.done) {
        t->base.done = t->base.compute;
        code = clRetainEvent(t->base.done);
    }
    if (!code)
        code = clFlush(queue);
    return code ? gv_fail_cl(code, "starting the forces of a mesh on %s", gv_worker_device(&t->mesh->worker)->info.name)
                : GRAVEL_OK;
}

void gv_mesh_release_tickets(gravel_mesh *mesh)
{
    while (mesh->tickets) {
        gv_mesh_ticket *t = mesh->tickets;
        mesh->tickets = t->next;
        clear(t);
        gv_slots_release(&mesh->worker, &t->slots);
        free(t);
    }
}
