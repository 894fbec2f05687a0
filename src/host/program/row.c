#include "host/program/row.h"

#include <math.h>

#include "host/base/clock.h"
#include "host/base/status.h"
#include "host/program/program.h"

enum { TRIES = 6, FIRST_TURNS = 50000, LEAST_TURNS = 1000, MOST_TURNS = 100000000 };

/* The device is held for so many times what the last rows took to queue, and a little. */
#define ROOM 1.5
#define LITTLE_S 20e-6
/* A row that was queued more slowly counts as so many times slower at most. */
#define MORE 4

typedef struct hold {
    cl_kernel kernel;
    cl_mem out;
    gv_hold_pace *pace;
} hold;

/* Long enough, not more: of rows of 0.3 ms most of the time would be spent on holding.  A few turns in any case: none
 * would tell nothing of what a turn takes. */
static cl_uint turns_for(const gv_hold_pace *pace, int runs)
{
    const double turns = (ROOM * runs * pace->queue_s + LITTLE_S) / pace->turn_s;

    return !(pace->turn_s > 0) ? FIRST_TURNS : (cl_uint)fmin(fmax(turns, LEAST_TURNS), MOST_TURNS);
}

/* What a row showed: a slower host counts at once, but one that was stopped for a moment not as much; a faster one
 * counts little by little. */
static void learn(gv_hold_pace *pace, cl_uint turns, double held_s, double queued_s, int runs)
{
    const double queue_s = queued_s / runs, before = pace->queue_s;

    pace->turn_s = held_s > 0 ? held_s / turns : 0;
    pace->queue_s = queue_s < before ? 0.75 * before + 0.25 * queue_s
                    : before > 0     ? fmin(queue_s, MORE * before)
                                     : queue_s;
}

static cl_int queue_hold(const hold *h, cl_command_queue queue, cl_uint turns, cl_event *event)
{
    const size_t one = 1;
    const cl_float start = 1;
    cl_int code = clSetKernelArg(h->kernel, 0, sizeof h->out, &h->out);
    code |= clSetKernelArg(h->kernel, 1, sizeof turns, &turns);
    code |= clSetKernelArg(h->kernel, 2, sizeof start, &start);
    return code ? code : clEnqueueNDRangeKernel(queue, h->kernel, 1, NULL, &one, &one, 0, NULL, event);
}

static cl_int instant(cl_event event, cl_profiling_info which, double *seconds)
{
    cl_ulong ns = 0;
    const cl_int code = clGetEventProfilingInfo(event, which, sizeof ns, &ns, NULL);
    *seconds = 1e-9 * (double)ns;
    return code;
}

/* One row.  *held: the first kernel ended after the last command was queued. */
static gravel_status one_row(gravel_context *context, int device, hold *h, gv_row_fn work, void *user, int runs,
                             double *seconds, int *held)
{
    const cl_command_queue queue = context->device[device].timed;
    cl_event first = NULL, last = NULL;
    double begin = 0, end = 0, after = 0;
    gravel_status status = GRAVEL_OK;
    cl_int code = clFinish(queue);
    const double start = gv_now();
    const cl_uint turns = turns_for(h->pace, runs);
    if (!code)
        code = queue_hold(h, queue, turns, &first);
    if (!code)
        code = clFlush(queue);
    for (int r = 0; r < runs && !code && !status; r++)
        status = work(user, queue);
    if (!code && !status)
        code = queue_hold(h, queue, 0, &last);
    const double queued = gv_now() - start;
    if (!code)
        code = clFinish(queue);
    if (!code && !status) {
        code |= instant(first, CL_PROFILING_COMMAND_START, &begin);
        code |= instant(first, CL_PROFILING_COMMAND_END, &end);
        code |= instant(last, CL_PROFILING_COMMAND_START, &after);
    }
    if (first)
        clReleaseEvent(first);
    if (last)
        clReleaseEvent(last);
    if (status || code)
        return status ? status : gv_fail_cl(code, "timing a row of kernels on %s", context->device[device].info.name);
    *seconds = (after - end) / runs;
    *held = end - begin >= queued;
    learn(h->pace, turns, end - begin, queued, runs);
    return GRAVEL_OK;
}

gravel_status gv_row_time(gravel_context *context, int device, gv_row_fn work, void *user, int runs, double *seconds)
{
    gv_device *d = &context->device[device];
    hold h = {NULL, NULL, &d->hold_pace};
    cl_program program;
    cl_int code;
    int held = 0;
    gravel_status status =
        gv_program_get(context, device, "measure/hold.cl", "-DGV_PRECISION=0 -DGV_LANES=1", &program);
    if (status)
        return status;
    h.kernel = clCreateKernel(program, "gv_hold", &code);
    if (!code)
        h.out = clCreateBuffer(context->cl, CL_MEM_READ_WRITE, sizeof(cl_float), NULL, &code);
    if (code)
        status = gv_fail_cl(code, "preparing to time a row of kernels on %s", d->info.name);
    /* if the host remains too slow, the time measured includes the device's waiting for it */
    for (int k = 0; k < TRIES && !status && !held; k++)
        status = one_row(context, device, &h, work, user, runs, seconds, &held);
    if (h.kernel)
        clReleaseKernel(h.kernel);
    if (h.out)
        clReleaseMemObject(h.out);
    return status;
}
