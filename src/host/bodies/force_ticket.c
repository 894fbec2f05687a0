#include "host/bodies/force_ticket.h"

#include "host/base/threads.h"

enum { GRAIN = 16384 }; /* sinks that one thread unpacks at a time */

size_t gv_force_ticket_size(const gv_force_ticket *ticket, size_t sinks)
{
    return sinks * 4 * ticket->words * ticket->scalar;
}

/* ----------------------------------------------------------------- transfer */

gravel_status gv_force_ticket_read(gv_force_ticket *t)
{
    if (t->base.done)
        clReleaseEvent(t->base.done);
    t->base.done = NULL;
    const cl_int code = clEnqueueReadBuffer(gv_worker_queue(t->worker), t->slot.device.mem, CL_FALSE, 0,
                                            gv_force_ticket_size(t, t->sinks), t->slot.host, 0, NULL, &t->base.done);
    t->base.on_host = !code;
    return code ? gv_fail_cl(code, "reading forces of %zu sinks", t->sinks) : GRAVEL_OK;
}

gravel_status gv_force_ticket_finish(gv_force_ticket *t, int on_host)
{
    gravel_status status = gv_ticket_mark(&t->base, t->worker);
    if (!status && on_host && t->sinks > 0)
        status = gv_force_ticket_read(t);
    if (!status && !t->base.done) {
        t->base.done = t->base.compute;
        clRetainEvent(t->base.done);
    }
    t->base.on_host = on_host;
    if (!status && clFlush(gv_worker_queue(t->worker)) != CL_SUCCESS)
        status = gv_fail(GRAVEL_ERR_OPENCL, "starting a call on %s", gv_worker_device(t->worker)->info.name);
    return status;
}

/* ------------------------------------------------------------------ results */

gravel_status gv_force_ticket_check(const gv_force_ticket *t, const gravel_forces *to, const char *who)
{
    if (!t->base.on_host)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the results of this call went into planes only");
    if (to->jerk.x || to->snap.x || to->nearest_id || to->nearest_address || to->nearest_distance ||
        to->neighbour_count || to->neighbour_id || to->neighbour_address)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s accelerations and potentials only", who);
    return GRAVEL_OK;
}

void gv_force_ticket_put(const gv_force_ticket *t, size_t first, size_t count, const uint32_t *at,
                         const gravel_forces *to)
{
    const size_t stride = to->acc.stride ? to->acc.stride : 1, pot_stride = to->pot_stride ? to->pot_stride : 1;
    double *const acc[3] = {to->acc.x, to->acc.y, to->acc.z};
    for (size_t k = first; k < first + count; k++) {
        const float *single = (const float *)t->slot.host + 4 * t->words * k;
        const size_t entry = at ? at[k] : k;
        double f[4];
        for (size_t c = 0; c < 4; c++) {
            f[c] = t->scalar == 8 ? ((const double *)t->slot.host)[4 * k + c] : (double)single[c];
            f[c] += t->words == 2 ? (double)single[4 + c] : 0;
        }
        for (size_t c = 0; c < 3; c++)
            if (acc[c])
                acc[c][entry * stride] = f[c] * t->acc;
        if (to->pot)
            to->pot[entry * pot_stride] = f[3] * t->pot;
    }
}

typedef struct unpacking {
    const gv_force_ticket *ticket;
    const gravel_forces *to;
} unpacking;

static void unpack(void *user, size_t first, size_t count)
{
    const unpacking *u = user;
    gv_force_ticket_put(u->ticket, first, count, NULL, u->to);
}

void gv_force_ticket_unpack(const gv_force_ticket *t, const gravel_forces *to)
{
    unpacking u = {t, to};
    gv_parallel(t->sinks > GRAIN ? gv_context_pool(t->worker->context) : NULL, t->sinks, GRAIN, unpack, &u);
}
