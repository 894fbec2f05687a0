/* Which bodies are next: kernels/step/select.cl. */
#include "host/step/select.h"

#include <stdio.h>
#include <string.h>

#include "host/device/device.h"

int gv_time_fits(gravel_precision precision, double time)
{
    const gv_time_words t = gv_time_split(precision, time);
    return t.high + (double)t.low == time;
}

/* -------------------------------------------------------------------- life */

gravel_status gv_selector_make(gv_selector *s, gravel_bodies *bodies)
{
    static const struct {
        const char *file, *name;
    } want[GV_SELECT_KERNELS] = {
        [GV_SELECT_LEAST] = {"step/select.cl", "gv_step_least"},
        [GV_SELECT_COUNT] = {"step/select.cl", "gv_step_count"},
        [GV_SELECT_SCAN] = {"lib/scan.cl", "gv_scan_rows"},
        [GV_SELECT_LIST] = {"step/select.cl", "gv_step_list"},
        [GV_SELECT_SHARE] = {"step/select.cl", "gv_step_share"},
        [GV_SELECT_ALL] = {"step/select.cl", "gv_step_all"},
    };
    const int cpu = gv_worker_device(&bodies->worker)->info.type == GRAVEL_DEVICE_CPU;
    char options[120];
    gravel_status status = GRAVEL_OK;
    s->worker.context = bodies->worker.context;
    s->worker.device = bodies->worker.device;
    s->bodies = bodies;
    s->group = cpu ? 1 : gv_device_group(&gv_worker_device(&bodies->worker)->info, 256);
    s->items = cpu ? 4096 : 4;
    snprintf(options, sizeof options, "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_THREADS=%zu -DGV_ITEMS=%zu",
             (int)bodies->precision, s->group, s->items);
    for (int k = 0; k < GV_SELECT_TALLY && !status; k++)
        status = gv_kernel_make(&s->worker, want[k].file, options, want[k].name, &s->kernel[k]);
    return status;
}

void gv_selector_release(gv_selector *s)
{
    gv_buffer *const buffer[] = {&s->part, &s->count, &s->total, &s->list, &s->head, &s->tally};
    for (size_t k = 0; k < sizeof buffer / sizeof buffer[0]; k++)
        gv_buffer_release(buffer[k]);
    for (int k = 0; k < GV_SELECT_KERNELS; k++)
        if (s->kernel[k])
            clReleaseKernel(s->kernel[k]);
    gv_worker_clear(&s->worker);
}

gravel_status gv_selector_start(gv_selector *s)
{
    static const cl_uint none[GV_HEAD_WORDS] = {[GV_HEAD_SHORT] = UINT32_MAX};
    const size_t n = s->bodies->count;
    gravel_status status = gv_buffer_reserve(&s->worker, &s->list, (n + !n) * sizeof(cl_uint), "addresses of a block");
    if (!status)
        status = gv_buffer_reserve(&s->worker, &s->head, sizeof none + GV_HEAD_BLOCKS * GV_BLOCK_WORDS * sizeof none[0],
                                   "the head of a block");
    gv_buffer_release(&s->tally);
    if (status)
        return status;
    const cl_int code =
        clEnqueueWriteBuffer(gv_worker_queue(&s->worker), s->head.mem, CL_FALSE, 0, sizeof none, none, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "preparing %zu bodies for integration", n) : GRAVEL_OK;
}

gravel_status gv_selector_take_all(gv_selector *s)
{
    const size_t n = s->bodies->count;
    return gv_launch(&s->worker, 0, s->kernel[GV_SELECT_ALL], gv_items(n, 64), GV_UINT(n), GV_MEM(s->list));
}

/* ------------------------------------------------------------------- steps */

gravel_status gv_selector_need_tally(gv_selector *s)
{
    const size_t bytes = 2 * GV_TALLY_POWERS * sizeof(cl_uint);
    char options[120];
    gravel_status status = GRAVEL_OK;
    snprintf(options, sizeof options, "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_THREADS=%zu", (int)s->bodies->precision,
             s->group);
    if (!s->kernel[GV_SELECT_TALLY])
        status = gv_kernel_make(&s->worker, "step/tally.cl", options, "gv_step_tally", &s->kernel[GV_SELECT_TALLY]);
    return status ? status : gv_buffer_grow(&s->worker, &s->tally, bytes, 0, "counts of time-steps");
}

gravel_status gv_selector_tally(gv_selector *s, size_t count)
{
    const size_t tile = s->group * s->items, tiles = (count + tile - 1) / tile;
    cl_mem step;
    gravel_status status = gv_selector_need_tally(s);
    if (!status)
        status = gv_bodies_need(s->bodies, GV_WORD_STEP, &step);
    return status ? status
                  : gv_launch(&s->worker, 0, s->kernel[GV_SELECT_TALLY], gv_groups(tiles < 64 ? tiles : 64, s->group),
                              GV_MEM(s->list), GV_UINT(count), GV_ARG(step), GV_MEM(s->tally));
}

gravel_status gv_selector_add_tally(gv_selector *s, uint64_t counts[GV_TALLY_POWERS])
{
    cl_uint word[2 * GV_TALLY_POWERS];
    if (!s->tally.mem)
        return GRAVEL_OK;
    const cl_int code =
        clEnqueueReadBuffer(gv_worker_queue(&s->worker), s->tally.mem, CL_TRUE, 0, sizeof word, word, 0, NULL, NULL);
    if (code)
        return gv_fail_cl(code, "reading the counts of time-steps");
    for (int p = 0; p < GV_TALLY_POWERS; p++)
        counts[p] += word[2 * p] + ((uint64_t)word[2 * p + 1] << 32);
    return GRAVEL_OK;
}

/* ------------------------------------------------------------------ blocks */

typedef struct times {
    cl_mem time, time_low, step;
} times;

static gravel_status need_times(gv_selector *s, times *t)
{
    gravel_status status = gv_bodies_need(s->bodies, GV_WORD_TIME, &t->time);
    t->time_low = t->time;
    if (!status && s->bodies->precision == GRAVEL_DS)
        status = gv_bodies_need(s->bodies, GV_WORD_TIME_LOW, &t->time_low);
    return status ? status : gv_bodies_need(s->bodies, GV_WORD_STEP, &t->step);
}

static gravel_status start_selection(gv_selector *s, int shared)
{
    const size_t n = s->bodies->count, tile = s->group * s->items, tiles = (n + tile - 1) / tile;
    const size_t number = s->bodies->precision == GRAVEL_DP ? 8 : 4;
    const size_t parts = tiles < GV_LEAST_PARTS ? tiles : GV_LEAST_PARTS;
    times t;
    gravel_status status = need_times(s, &t);
    if (!status)
        status = gv_buffer_reserve(&s->worker, &s->part, 2 * GV_LEAST_PARTS * number, "least times");
    if (!status)
        status = gv_buffer_reserve(&s->worker, &s->count, tiles * sizeof(cl_uint), "counts of a block");
    if (!status)
        status = gv_buffer_reserve(&s->worker, &s->total, sizeof(cl_uint), "counts of a block");
    if (!status)
        status = gv_launch(&s->worker, 0, s->kernel[GV_SELECT_LEAST], gv_groups(parts, s->group), GV_ARG(t.time),
                           GV_ARG(t.time_low), GV_ARG(t.step), GV_UINT(n), GV_MEM(s->part));
    if (!status && shared)
        status = gv_launch(&s->worker, 0, s->kernel[GV_SELECT_SHARE], gv_groups(parts, s->group), GV_ARG(t.time),
                           GV_ARG(t.time_low), GV_ARG(t.step), GV_UINT(n), GV_MEM(s->part), GV_UINT(parts));
    if (!status)
        status = gv_launch(&s->worker, 0, s->kernel[GV_SELECT_COUNT], gv_groups(tiles, s->group), GV_ARG(t.time),
                           GV_ARG(t.time_low), GV_ARG(t.step), GV_UINT(n), GV_MEM(s->part), GV_UINT(parts),
                           GV_MEM(s->count));
    if (!status)
        status = gv_launch(&s->worker, 0, s->kernel[GV_SELECT_SCAN], gv_groups(1, s->group), GV_MEM(s->count),
                           GV_UINT(tiles), GV_MEM(s->total));
    if (!status)
        status = gv_launch(&s->worker, 0, s->kernel[GV_SELECT_LIST], gv_groups(tiles, s->group), GV_ARG(t.time),
                           GV_ARG(t.time_low), GV_ARG(t.step), GV_UINT(n), GV_MEM(s->part), GV_UINT(parts),
                           GV_MEM(s->count), GV_MEM(s->total), GV_MEM(s->list), GV_MEM(s->head));
    return status;
}

gravel_status gv_selector_find(gv_selector *s, int shared, gv_due *block)
{
    cl_uint head[GV_HEAD_WORDS];
    float narrow[2];
    gravel_status status = start_selection(s, shared);
    if (status)
        return status;
    const cl_int code =
        clEnqueueReadBuffer(gv_worker_queue(&s->worker), s->head.mem, CL_TRUE, 0, sizeof head, head, 0, NULL, NULL);
    if (code)
        return gv_fail_cl(code, "reading when the next block is");
    memcpy(narrow, &head[GV_HEAD_TIME], sizeof narrow);
    *block = (gv_due){(double)narrow[0] + (double)narrow[1], head[GV_HEAD_COUNT], head[GV_HEAD_SHORT]};
    if (s->bodies->precision == GRAVEL_DP)
        memcpy(&block->time, &head[GV_HEAD_TIME], sizeof block->time);
    return GRAVEL_OK;
}
