/* Which bodies are next: kernels/step/select.cl. */
#include <string.h>

#include "host/step/step.h"

typedef struct times {
    cl_mem time, time_low, step;
} times;

static gravel_status need_times(gravel_hermite *h, times *t)
{
    gravel_status status = gv_bodies_need(h->bodies, GV_WORD_TIME, &t->time);
    t->time_low = t->time;
    if (!status && h->bodies->precision == GRAVEL_DS)
        status = gv_bodies_need(h->bodies, GV_WORD_TIME_LOW, &t->time_low);
    return status ? status : gv_bodies_need(h->bodies, GV_WORD_STEP, &t->step);
}

static gravel_status start_selection(gravel_hermite *h)
{
    const size_t n = h->bodies->count, tile = h->group * h->items, tiles = (n + tile - 1) / tile;
    const size_t number = h->bodies->precision == GRAVEL_DP ? 8 : 4;
    const size_t parts = tiles < GV_LEAST_PARTS ? tiles : GV_LEAST_PARTS;
    times t;
    gravel_status status = need_times(h, &t);
    if (!status)
        status = gv_buffer_reserve(&h->worker, &h->part, 2 * GV_LEAST_PARTS * number, "least times");
    if (!status)
        status = gv_buffer_reserve(&h->worker, &h->count, tiles * sizeof(cl_uint), "counts of a block");
    if (!status)
        status = gv_buffer_reserve(&h->worker, &h->total, sizeof(cl_uint), "counts of a block");
    if (!status)
        status = gv_launch(&h->worker, 0, h->kernel[GV_STEP_LEAST], gv_groups(parts, h->group), GV_ARG(t.time),
                           GV_ARG(t.time_low), GV_ARG(t.step), GV_UINT(n), GV_MEM(h->part));
    if (!status && h->options.shared)
        status = gv_launch(&h->worker, 0, h->kernel[GV_STEP_SHARE], gv_groups(parts, h->group), GV_ARG(t.time),
                           GV_ARG(t.time_low), GV_ARG(t.step), GV_UINT(n), GV_MEM(h->part), GV_UINT(parts));
    if (!status)
        status = gv_launch(&h->worker, 0, h->kernel[GV_STEP_COUNT], gv_groups(tiles, h->group), GV_ARG(t.time),
                           GV_ARG(t.time_low), GV_ARG(t.step), GV_UINT(n), GV_MEM(h->part), GV_UINT(parts),
                           GV_MEM(h->count));
    if (!status)
        status = gv_launch(&h->worker, 0, h->kernel[GV_STEP_SCAN], gv_groups(1, h->group), GV_MEM(h->count),
                           GV_UINT(tiles), GV_MEM(h->total));
    if (!status)
        status = gv_launch(&h->worker, 0, h->kernel[GV_STEP_LIST], gv_groups(tiles, h->group), GV_ARG(t.time),
                           GV_ARG(t.time_low), GV_ARG(t.step), GV_UINT(n), GV_MEM(h->part), GV_UINT(parts),
                           GV_MEM(h->count), GV_MEM(h->total), GV_MEM(h->list), GV_MEM(h->head));
    return status;
}

/* Names the body and the one that is nearest to it: such a pair needs a smaller step_min, softening, or a merger. */
static gravel_status fail_short(gravel_hermite *h, uint32_t address)
{
    const double eps = h->options.eps;
    int32_t id = -1, near_id = -1;
    double distance = 0;
    gravel_list *one = NULL;
    gravel_ticket *ticket = NULL;
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    const gravel_array_out to = {&id, NULL, NULL, 1, GRAVEL_I32};
    gravel_forces found;
    memset(&found, 0, sizeof found);
    found.nearest_id = &near_id;
    found.nearest_distance = &distance;
    gravel_status status = gravel_list_create(&one, h->worker.context, h->worker.device);
    if (!status)
        status = gravel_list_write(one, &address, 1);
    call.sources = gravel_view_all(h->bodies);
    call.sinks = gravel_view_list(h->bodies, one);
    call.order = 2;
    call.nearest = 1;
    call.eps = eps;
    if (!status)
        status = gravel_bodies_gather(h->bodies, GRAVEL_ID, &address, 1, &to);
    if (!status)
        status = gravel_direct_start(h->direct, &call, &ticket);
    if (!status)
        status = gravel_ticket_collect(ticket, &found, NULL);
    gravel_ticket_release(ticket);
    gravel_list_release(one);
    if (status)
        return status;
    return gv_fail(GRAVEL_ERR_STATE,
                   "the step of body %d at time %.17g is below step_min = %g; its nearest neighbour is body %d at "
                   "distance %g: soften this pair, merge it, or allow shorter steps",
                   (int)id, h->next, h->options.step_min, (int)near_id, distance);
}

gravel_status gv_step_find_next(gravel_hermite *h)
{
    cl_uint head[GV_HEAD_WORDS];
    if (h->next_known)
        return GRAVEL_OK;
    gravel_status status = start_selection(h);
    if (status)
        return status;
    const cl_int code =
        clEnqueueReadBuffer(gv_worker_queue(&h->worker), h->head.mem, CL_TRUE, 0, sizeof head, head, 0, NULL, NULL);
    if (code)
        return gv_fail_cl(code, "reading when the next block is");
    if (head[GV_HEAD_SHORT] != UINT32_MAX)
        return fail_short(h, head[GV_HEAD_SHORT]);
    float narrow[2];
    memcpy(narrow, &head[GV_HEAD_TIME], sizeof narrow);
    h->next = (double)narrow[0] + (double)narrow[1];
    if (h->bodies->precision == GRAVEL_DP)
        memcpy(&h->next, &head[GV_HEAD_TIME], sizeof h->next);
    h->due = head[GV_HEAD_COUNT];
    h->next_known = 1;
    return GRAVEL_OK;
}
