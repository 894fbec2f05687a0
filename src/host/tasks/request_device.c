/* A batch on the device: one transfer there, one kernel, one transfer back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tasks/requests.h"

/* ------------------------------------------------------------------ memory */

/* parts of a buffer begin at whole multiples of this on any device */
enum { PAGE = 4096 };

/* Bytes from the beginning of a slot to each array; the last: all. */
static void places(const gv_batch *b, size_t at[GV_BATCH_ARRAYS + 1])
{
    const size_t size[GV_BATCH_ARRAYS] = {b->room_units * sizeof(gv_tasks_unit), b->room_entries * sizeof(gravel_leaf),
                                          (b->room_requests + 1) * sizeof(uint32_t),
                                          (b->room_requests + 1) * sizeof(uint32_t), b->room_cells * sizeof(uint32_t)};
    at[0] = 0;
    for (int k = 0; k < GV_BATCH_ARRAYS; k++)
        at[k + 1] = at[k] + (size[k] + PAGE) / PAGE * PAGE;
}

void gv_request_leave_room(gv_batch *b)
{
    for (int k = 0; k < GV_BATCH_ARRAYS; k++) {
        if (b->in[k])
            clReleaseMemObject(b->in[k]);
        b->in[k] = NULL;
    }
    if (b->slot)
        b->slot->held = 0;
    b->slot = NULL;
}

static gravel_status make_parts(gravel_requests *r, gv_batch *b, const size_t at[GV_BATCH_ARRAYS + 1])
{
    cl_int code = CL_SUCCESS;
    for (int k = 0; k < GV_BATCH_ARRAYS && !code; k++) {
        const cl_buffer_region region = {at[k], at[k + 1] - at[k]};
        b->in[k] =
            clCreateSubBuffer(b->slot->device.mem, CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    }
    return code ? gv_fail_cl(code, "memory of a batch on %s", r->limits.info.name) : GRAVEL_OK;
}

gravel_status gv_request_room(gravel_requests *r, gv_batch *b, size_t requests, size_t units, size_t entries,
                              size_t cells)
{
    size_t at[GV_BATCH_ARRAYS + 1];
    if (b->slot && requests <= b->room_requests && units <= b->room_units && entries <= b->room_entries &&
        cells <= b->room_cells)
        return GRAVEL_OK;
    gv_asked *asked = realloc(b->asked, (requests > b->room_requests ? requests : b->room_requests) * sizeof *asked);
    if (!asked)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu requests", requests);
    b->asked = asked;
    b->room_requests = requests > b->room_requests ? requests : b->room_requests;
    b->room_units = units > b->room_units ? units : b->room_units;
    b->room_entries = entries > b->room_entries ? entries : b->room_entries;
    b->room_cells = cells > b->room_cells ? cells : b->room_cells;
    places(b, at);
    gv_request_leave_room(b);
    gravel_status status = gv_slots_take(&r->worker, &b->slots, at[GV_BATCH_ARRAYS], &b->slot);
    if (status)
        b->slot = NULL;
    else {
        b->slot->held = 1;
        status = make_parts(r, b, at);
    }
    if (status) { /* the next request fits into nothing, and asks for no more than it needs */
        gv_request_leave_room(b);
        b->room_requests = b->room_units = b->room_entries = b->room_cells = 0;
        return status;
    }
    char *host = b->slot->host;
    b->unit = (gv_tasks_unit *)(void *)(host + at[0]);
    b->entry = (gravel_leaf *)(void *)(host + at[1]);
    b->begin = (uint32_t *)(void *)(host + at[2]);
    b->cell_begin = (uint32_t *)(void *)(host + at[3]);
    b->cell = (uint32_t *)(void *)(host + at[4]);
    return GRAVEL_OK;
}

/* ----------------------------------------------------------------- sources */

gravel_status gv_request_send_cells(gravel_requests *r)
{
    const gravel_frame *frame = &r->bodies->frame;
    const size_t numbers = (r->cells + 1) * 4 * GV_TASKS_CELL, size = numbers * r->scalar;
    const double unit = frame->mass * frame->length * frame->length;
    double *wide = calloc(numbers, sizeof *wide);
    gravel_status status = gv_buffer_reserve(&r->worker, &r->cell_buffer, size, "cells");
    if (!status && !wide)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu cells", r->cells);
    for (size_t k = 0; k < r->cells && !status; k++) {
        const double *from = r->cell + GV_REQUEST_CELL * k;
        double *to = wide + 4 * GV_TASKS_CELL * k;
        for (int c = 0; c < 3; c++) {
            const double x = (from[c] - frame->origin[c]) / frame->length;
            to[c] = x;
            to[12 + c] = r->scalar == 8 ? 0 : x - (double)(float)x;
        }
        to[3] = from[3] / frame->mass;
        for (int c = 0; c < 6; c++)
            to[4 + c] = from[4 + c] / unit;
    }
    for (size_t k = 0; k < numbers && r->scalar == 4 && !status; k++) {
        const float narrow = (float)wide[k]; /* entry k is written after it was read */
        memcpy((char *)wide + 4 * k, &narrow, sizeof narrow);
    }
    cl_int code = CL_SUCCESS;
    if (!status)
        code = clEnqueueWriteBuffer(gv_worker_queue(&r->worker), r->cell_buffer.mem, CL_TRUE, 0, size, wide, 0, NULL,
                                    NULL);
    free(wide);
    return code ? gv_fail_cl(code, "sending cells to %s", r->limits.info.name) : status;
}

gravel_status gv_request_kernel(gravel_requests *r)
{
    char macros[256], options[512];
    gv_space_macros(&gv_tasks_space, &r->config, macros, sizeof macros);
    snprintf(options, sizeof options,
             "-DGV_PRECISION=%d%s -DGV_SHAPE=%d -DGV_SHORT_RANGE=0 -DGV_SOFTENED=%d -DGV_POTENTIAL=1 -DGV_SHIFTS=0 "
             "-DGV_CELLS=1",
             (int)r->options.precision, macros,
             r->softening == GRAVEL_SPLINE && r->eps > 0 ? GV_SHAPE_SPLINE : GV_SHAPE_PLUMMER, r->eps > 0);
    if (r->kernel)
        clReleaseKernel(r->kernel);
    r->kernel = NULL;
    return gv_kernel_make(&r->worker, "tasks/evaluate.cl", options, "gv_tasks_evaluate", &r->kernel);
}

/* ------------------------------------------------------------------ batches */

static gravel_status start(gravel_requests *r, gv_batch *b, size_t units)
{
    const gravel_precision p = r->options.precision;
    const double reach = (r->softening == GRAVEL_SPLINE ? 2.8 : 1) * r->eps / r->bodies->frame.length;
    cl_mem none = NULL, pos, low = NULL;
    gravel_status status = gv_bodies_need(r->bodies, GV_WORD_POSITION, &pos);
    if (!status && p == GRAVEL_DS)
        status = gv_bodies_need(r->bodies, GV_WORD_POSITION_LOW, &low);
    return status ? status
                  : gv_launch(&r->worker, -1, r->kernel, gv_groups(units, (size_t)r->config.value[GV_TA_THREADS]),
                              GV_ARG(pos), GV_ARG(low), GV_ARG(b->in[0]), GV_ARG(b->in[2]), GV_ARG(b->in[1]),
                              GV_ARG(none), GV_ARG(none), GV_REAL(p, reach * reach), GV_REAL(p, 0), GV_REAL(p, 0),
                              GV_ARG(b->in[3]), GV_ARG(b->in[4]), GV_MEM(r->cell_buffer), GV_MEM(b->result->device));
}

gravel_status gv_request_launch(gravel_requests *r, gv_batch *b, size_t requests)
{
    cl_command_queue queue = gv_worker_queue(&r->worker);
    size_t at[GV_BATCH_ARRAYS + 1], units = 0, sinks = 0;
    places(b, at);
    while (units < b->units && b->unit[units].list < requests)
        units++;
    for (size_t k = 0; k < requests; k++)
        sinks += b->asked[k].sinks.count;
    const size_t size = sinks * 4 * r->words * r->scalar;
    if (units == 0)
        return GRAVEL_OK;
    gravel_status status = gv_slots_take(&r->worker, &b->out, size, &b->result);
    cl_int code = CL_SUCCESS;
    /* arrays are filled from their beginnings: the parts that are used go out one by one */
    const size_t used[GV_BATCH_ARRAYS] = {units * sizeof *b->unit, b->begin[requests] * sizeof *b->entry,
                                          (requests + 1) * sizeof(uint32_t), (requests + 1) * sizeof(uint32_t),
                                          b->cell_begin[requests] * sizeof(uint32_t)};
    for (int k = 0; k < GV_BATCH_ARRAYS && !status && !code; k++)
        if (used[k] > 0)
            code = clEnqueueWriteBuffer(queue, b->in[k], CL_FALSE, 0, used[k], (char *)b->slot->host + at[k], 0, NULL,
                                        NULL);
    if (!status && !code)
        status = start(r, b, units);
    if (!status && !code)
        code = clEnqueueReadBuffer(queue, b->result->device.mem, CL_FALSE, 0, size, b->result->host, 0, NULL, &b->done);
    if (!status && !code)
        code = clFlush(queue);
    return code ? gv_fail_cl(code, "sending a batch of %zu requests to %s", requests, r->limits.info.name) : status;
}

/* Numbers of one result into the caller's arrays. */
static void unpack(const gravel_requests *r, const gv_batch *b, size_t requests)
{
    const gravel_frame *frame = &r->bodies->frame;
    const double pot = frame->mass / frame->length, acc = pot / frame->length;
    size_t from = 0;
    for (size_t k = 0; k < requests; k++) {
        const gv_asked *a = &b->asked[k];
        const size_t stride = a->acc.stride ? a->acc.stride : 1;
        double *const to[3] = {a->acc.x, a->acc.y, a->acc.z};
        for (size_t s = 0; s < a->sinks.count; s++, from++) {
            const float *single = (const float *)b->result->host + 4 * r->words * from;
            double f[4];
            for (size_t c = 0; c < 4; c++) {
                f[c] = r->scalar == 8 ? ((const double *)b->result->host)[4 * from + c] : (double)single[c];
                f[c] += r->words == 2 ? (double)single[4 + c] : 0;
            }
            for (int c = 0; c < 3; c++)
                if (to[c])
                    to[c][s * stride] = f[c] * acc;
            if (a->pot)
                a->pot[s] = f[3] * pot;
        }
    }
}

gravel_status gv_request_finish(gravel_requests *r, gv_batch *b)
{
    if (!b->done)
        return GRAVEL_OK;
    const cl_int code = clWaitForEvents(1, &b->done);
    clReleaseEvent(b->done);
    b->done = NULL;
    if (!code)
        unpack(r, b, b->requests);
    return code ? gv_fail_cl(code, "waiting for a batch of %zu requests", b->requests) : GRAVEL_OK;
}
