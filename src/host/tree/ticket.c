/* Tickets: results of walks, until the caller has them. */
#include <stdlib.h>

#include "host/base/threads.h"
#include "host/tree/tree.h"

enum { GRAIN = 16384 };

static gravel_status collect(gravel_ticket *ticket, const gravel_forces *forces, size_t *overflow)
{
    int bad = 0;
    if (overflow)
        *overflow = 0;
    if (!((gv_tree_ticket *)ticket)->on_host)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the results of this call went into planes only");
    if (forces->jerk.x || forces->snap.x || forces->nearest_id || forces->nearest_address || forces->nearest_distance ||
        forces->neighbour_count || forces->neighbour_id || forces->neighbour_address)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a tree gives accelerations and potentials only");
    gravel_status status = gv_tree_is_bad_ticket(ticket, &bad);
    if (!status && bad)
        status = gv_fail(GRAVEL_ERR_STATE,
                         "the tree had %zu cells, far more than those before it, and not all fitted; "
                         "there is room for them now: submit the call again",
                         ((gv_tree_ticket *)ticket)->tree->known_cells);
    return status ? status : gv_tree_read_ticket(ticket, forces);
}

static void clear_events(struct gravel_ticket *base)
{
    if (base->done)
        clReleaseEvent(base->done);
    if (base->compute)
        clReleaseEvent(base->compute);
    base->done = base->compute = NULL;
    base->collected = 0;
}

/* Host memory of the results may be freed or used again after this. */
static void end_transfer(gv_tree_ticket *t)
{
    if (t->on_host && t->base.done)
        clWaitForEvents(1, &t->base.done);
    clear_events(&t->base);
}

static void release(gravel_ticket *ticket)
{
    end_transfer((gv_tree_ticket *)ticket);
    ((gv_tree_ticket *)ticket)->in_use = 0;
}

static const gv_ticket_ops ops = {collect, release};

gravel_status gv_tree_take_ticket(gravel_tree *tree, gv_tree_ticket **out)
{
    gv_tree_ticket *t = tree->tickets;
    while (t && t->in_use)
        t = t->next;
    if (!t) {
        t = calloc(1, sizeof *t);
        if (!t)
            return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a call");
        t->base.ops = &ops;
        t->tree = tree;
        t->next = tree->tickets;
        tree->tickets = t;
    }
    t->in_use = 1;
    t->on_host = 0;
    t->n = 0;
    *out = t;
    return GRAVEL_OK;
}

static void release_host_side(gv_tree_ticket *t)
{
    cl_command_queue queue = gv_worker_queue(&t->tree->worker);
    if (t->pinned) {
        clEnqueueUnmapMemObject(queue, t->pinned, t->host, 0, NULL, NULL);
        clFinish(queue);
        clReleaseMemObject(t->pinned);
    } else {
        free(t->host);
    }
    t->pinned = NULL;
    t->host = NULL;
    t->host_size = 0;
}

void gv_tree_release_tickets(gravel_tree *tree)
{
    while (tree->tickets) {
        gv_tree_ticket *t = tree->tickets;
        tree->tickets = t->next;
        end_transfer(t);
        release_host_side(t);
        gv_buffer_release(&t->result);
        free(t);
    }
}

/* Host memory for the results: pinned, which lets the copy engine write it, on devices with memory of their own. */
static gravel_status reserve_host_side(gv_tree_ticket *t, size_t size)
{
    const gv_device *device = gv_worker_device(&t->tree->worker);
    cl_int code = CL_SUCCESS;
    if (t->host && t->host_size >= size)
        return GRAVEL_OK;
    release_host_side(t);
    if (device->info.host_memory) {
        t->host = malloc(size);
        t->host_size = t->host ? size : 0;
        return t->host ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu results", t->n);
    }
    t->pinned =
        clCreateBuffer(t->tree->worker.context->cl, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size, NULL, &code);
    if (!code)
        t->host = clEnqueueMapBuffer(device->compute, t->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size, 0, NULL,
                                     NULL, &code);
    if (!code) {
        t->host_size = size;
        return GRAVEL_OK;
    }
    if (t->pinned)
        clReleaseMemObject(t->pinned);
    t->pinned = NULL;
    t->host = NULL;
    return gv_fail_cl(code, "pinning %zu bytes of host memory for %s", size, device->info.name);
}

/* Submits the transfer of the results; `done` is its event. */
static gravel_status fetch(gv_tree_ticket *t)
{
    const size_t size = t->n * 4 * t->tree->words * t->tree->scalar;
    if (t->on_host || t->n == 0)
        return GRAVEL_OK;
    gravel_status status = reserve_host_side(t, size);
    if (status)
        return status;
    if (t->base.done)
        clReleaseEvent(t->base.done);
    t->base.done = NULL;
    const cl_int code = clEnqueueReadBuffer(gv_worker_queue(&t->tree->worker), t->result.mem, CL_FALSE, 0, size,
                                            t->host, 0, NULL, &t->base.done);
    t->on_host = !code;
    return code ? gv_fail_cl(code, "reading forces of %zu sinks", t->n) : GRAVEL_OK;
}

typedef struct gv_unpacking {
    const gv_tree_ticket *ticket;
    const gravel_forces *to;
} gv_unpacking;

static void unpack(void *user, size_t first, size_t count)
{
    const gv_unpacking *u = user;
    const gv_tree_ticket *t = u->ticket;
    const gravel_forces *to = u->to;
    const size_t stride = to->acc.stride ? to->acc.stride : 1, words = t->tree->words;
    const size_t pot_stride = to->pot_stride ? to->pot_stride : 1;
    double *const acc[3] = {to->acc.x, to->acc.y, to->acc.z};
    for (size_t k = first; k < first + count; k++) {
        const float *single = (const float *)t->host + 4 * words * k;
        double f[4];
        for (size_t c = 0; c < 4; c++) {
            f[c] = t->tree->scalar == 8 ? ((const double *)t->host)[4 * k + c] : (double)single[c];
            f[c] += words == 2 ? (double)single[4 + c] : 0;
        }
        for (size_t c = 0; c < 3; c++)
            if (acc[c])
                acc[c][k * stride] = f[c] * t->acc;
        if (to->pot)
            to->pot[k * pot_stride] = f[3] * t->pot;
    }
}

gravel_status gv_tree_read_ticket(gravel_ticket *ticket, const gravel_forces *forces)
{
    gv_tree_ticket *t = (gv_tree_ticket *)ticket;
    gv_pool *pool = t->n > GRAIN ? gv_context_pool(t->tree->worker.context) : NULL;
    gv_unpacking unpacking = {t, forces};
    gravel_status status = fetch(t);
    if (!status)
        status = gravel_ticket_wait(ticket);
    if (!status)
        gv_parallel(pool, t->n, GRAIN, unpack, &unpacking);
    return status;
}

gravel_status gv_tree_is_bad_ticket(gravel_ticket *ticket, int *bad)
{
    const gv_tree_ticket *t = (const gv_tree_ticket *)ticket;
    gravel_status status = t->build == t->tree->build ? gv_tree_settle(t->tree, 1) : GRAVEL_OK;
    *bad = t->build > 0 && t->build == t->tree->bad_build;
    return status;
}

gravel_status gv_tree_reserve_ticket(gv_tree_ticket *t, size_t n, int host)
{
    const size_t size = n * 4 * t->tree->words * t->tree->scalar;
    gravel_status status = gv_tree_reserve(t->tree, &t->result, size, "forces");
    return status || !host ? status : reserve_host_side(t, size);
}

gravel_status gv_tree_finish_ticket(gv_tree_ticket *t, const gravel_tree_call *call, size_t n)
{
    const gravel_tree *tree = t->tree;
    const double per_pot = tree->frame.mass / tree->frame.length;
    t->n = n;
    t->pot = per_pot;
    t->acc = per_pot / tree->frame.length;
    t->build = tree->build;
    cl_int code = clEnqueueMarkerWithWaitList(gv_worker_queue(&tree->worker), 0, NULL, &t->base.compute);
    if (!code && !(call->into & GRAVEL_INTO_HOST)) {
        t->base.done = t->base.compute;
        code = clRetainEvent(t->base.done);
    }
    gravel_status status = code ? gv_fail_cl(code, "marking the end of a walk") : GRAVEL_OK;
    if (!status && call->into & GRAVEL_INTO_HOST) {
        status = fetch(t);
        t->on_host = 1;
    }
    code = clFlush(gv_worker_queue(&tree->worker));
    return status ? status : code ? gv_fail_cl(code, "starting a walk") : GRAVEL_OK;
}
