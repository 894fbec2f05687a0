#include "host/program/launch.h"

#include <string.h>

#include "host/program/program.h"
#include "host/program/times.h"

gv_device *gv_worker_device(const gv_worker *worker)
{
    return &worker->context->device[worker->device];
}

cl_command_queue gv_worker_queue(const gv_worker *worker)
{
    const gv_device *device = gv_worker_device(worker);
    return worker->is_aside ? device->copy : device->compute;
}

void gv_worker_turn_aside(gv_worker *worker)
{
    const gv_device *device = gv_worker_device(worker);
    worker->is_aside = device->compute != device->timed && !device->times;
}

gravel_status gv_worker_turn_back(gv_worker *worker)
{
    const gv_device *device = gv_worker_device(worker);
    cl_event all = NULL, there = NULL;
    if (!worker->is_aside)
        return GRAVEL_OK;
    worker->is_aside = 0;
    cl_int code = clEnqueueMarkerWithWaitList(device->copy, 0, NULL, &all);
    if (!code)
        code = clFlush(device->copy);
    if (!code)
        code = clEnqueueMarkerWithWaitList(device->compute, 1, &all, &there);
    if (all)
        clReleaseEvent(all);
    if (there)
        clReleaseEvent(there);
    return code ? gv_fail_cl(code, "joining the queues of %s", device->info.name) : GRAVEL_OK;
}

/* ---------------------------------------------------------------- times */

void gv_worker_clear_stage(gv_worker *worker, int stage)
{
    gv_span *span = &worker->stage[stage];
    if (span->first)
        clReleaseEvent(span->first);
    if (span->last)
        clReleaseEvent(span->last);
    *span = (gv_span){NULL, NULL};
}

void gv_worker_clear(gv_worker *worker)
{
    for (int k = 0; k < GV_MAX_STAGES; k++)
        gv_worker_clear_stage(worker, k);
}

gravel_status gv_worker_seconds(gv_worker *worker, int stage, double *seconds)
{
    const gv_span *span = &worker->stage[stage];
    const gv_device *device = gv_worker_device(worker);
    cl_ulong start = 0, end = 0;

    *seconds = 0;
    if (device->compute != device->timed)
        return gv_fail(GRAVEL_ERR_STATE, "%s is not timed: gravel_context_set_timing comes before the work",
                       device->info.name);
    if (!span->first)
        return GRAVEL_OK;
    cl_int code = clWaitForEvents(1, &span->last);
    if (!code)
        code = clGetEventProfilingInfo(span->first, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    if (!code)
        code = clGetEventProfilingInfo(span->last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    if (code)
        return gv_fail_cl(code, "reading the times of a stage on %s", device->info.name);
    *seconds = (double)(end - start) * 1e-9;
    return GRAVEL_OK;
}

gravel_status gv_device_set_timing(gravel_context *context, int device, int on)
{
    gv_device *d = &context->device[device];
    const cl_command_queue queue = on ? d->timed : d->quick;
    if (queue == d->compute)
        return GRAVEL_OK;
    if (on && d->traits.wrong_timers)
        return gv_fail(GRAVEL_ERR_UNSUPPORTED, "the event times of %s (driver %s) are wrong: nothing can be timed",
                       d->info.name, d->info.driver);
    if (!queue)
        return gv_fail(GRAVEL_ERR_UNSUPPORTED,
                       "work on %s is not timed: the queue that was adopted has no CL_QUEUE_PROFILING_ENABLE",
                       d->info.name);
    const cl_int code = clFinish(d->compute);
    d->compute = queue;
    return code ? gv_fail_cl(code, "waiting for %s", d->info.name) : GRAVEL_OK;
}

/* ---------------------------------------------------------------- memory */

static gravel_status make_buffer(const gv_worker *worker, gv_buffer *buffer, size_t size, const char *what)
{
    const gravel_device_info *info = &gv_worker_device(worker)->info;
    cl_int code;

    *buffer = (gv_buffer){NULL, 0};
    size = size < 16 ? 16 : size;
    if (size > info->max_allocation)
        return gv_fail(GRAVEL_ERR_DEVICE_MEMORY, "%s need %.1f MB in one buffer; %s allows %.1f MB", what,
                       (double)size / 1e6, info->name, (double)info->max_allocation / 1e6);
    cl_mem mem = clCreateBuffer(worker->context->cl, CL_MEM_READ_WRITE, size, NULL, &code);
    atomic_fetch_add(&worker->context->buffers_made, 1);
    if (code)
        return gv_fail_cl(code, "allocating %.1f MB for %s on %s (%.1f MB in all)", (double)size / 1e6, what,
                          info->name, (double)info->global_memory / 1e6);
    *buffer = (gv_buffer){mem, size};
    return GRAVEL_OK;
}

void gv_buffer_release(gv_buffer *buffer)
{
    if (buffer->mem)
        clReleaseMemObject(buffer->mem);
    *buffer = (gv_buffer){NULL, 0};
}

size_t gv_buffer_more(size_t there, size_t size, size_t most)
{
    const size_t more = size / 8 / 64 * 64;
    return there == 0 || most < size || more > most - size ? size : size + more;
}

gravel_status gv_buffer_reserve(const gv_worker *worker, gv_buffer *buffer, size_t size, const char *what)
{
    if (buffer->mem && buffer->size >= size)
        return GRAVEL_OK;
    gv_buffer_release(buffer);
    return make_buffer(worker, buffer, size, what);
}

gravel_status gv_buffer_reserve_more(const gv_worker *worker, gv_buffer *buffer, size_t size, const char *what)
{
    const size_t most = (size_t)gv_worker_device(worker)->info.max_allocation;
    if (buffer->mem && buffer->size >= size)
        return GRAVEL_OK;
    return gv_buffer_reserve(worker, buffer, gv_buffer_more(buffer->size, size, most), what);
}

gravel_status gv_buffer_grow(const gv_worker *worker, gv_buffer *buffer, size_t size, size_t keep, const char *what)
{
    const cl_uint zero = 0;
    gv_buffer made;
    if (buffer->mem && buffer->size >= size)
        return GRAVEL_OK;
    gravel_status status = make_buffer(worker, &made, (size + 15) / 16 * 16, what);
    if (status)
        return status;
    keep = buffer->mem ? (keep < buffer->size ? keep : buffer->size) / 4 * 4 : 0;
    cl_int code = CL_SUCCESS;
    if (keep)
        code = clEnqueueCopyBuffer(gv_worker_queue(worker), buffer->mem, made.mem, 0, 0, keep, 0, NULL, NULL);
    if (!code)
        code = clEnqueueFillBuffer(gv_worker_queue(worker), made.mem, &zero, sizeof zero, keep, made.size - keep, 0,
                                   NULL, NULL);
    if (code) {
        gv_buffer_release(&made);
        return gv_fail_cl(code, "making room for %s on %s", what, gv_worker_device(worker)->info.name);
    }
    gv_buffer_release(buffer);
    *buffer = made;
    return GRAVEL_OK;
}

/* --------------------------------------------------------------- launches */

gravel_status gv_kernel_make(const gv_worker *worker, const char *file, const char *options, const char *name,
                             cl_kernel *kernel)
{
    cl_program program;
    cl_int code;

    *kernel = NULL;
    gravel_status status = gv_program_get(worker->context, worker->device, file, options, &program);
    if (status)
        return status;
    cl_kernel made = clCreateKernel(program, name, &code);
    if (code)
        return gv_fail_cl(code, "kernel %s of kernels/%s", name, file);
    *kernel = made;
    return GRAVEL_OK;
}

void gv_need(gv_needs *needs, int kernel)
{
    needs->kernel[needs->n++] = kernel;
}

gravel_status gv_needs_make(const gv_needs *needs, void *solver, gravel_status (*make)(void *solver, int kernel))
{
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k < needs->n && !status; k++)
        status = make(solver, needs->kernel[k]);
    return status;
}

gv_range gv_groups(size_t groups, size_t group)
{
    return (gv_range){1, {groups * group, 1}, {group, 1}};
}

gv_range gv_groups_2d(size_t across, size_t down, size_t group)
{
    return (gv_range){2, {across * group, down}, {group, 1}};
}

gv_range gv_items(size_t items, size_t group)
{
    return gv_groups((items + group - 1) / group, group);
}

static gravel_status fail_launch(const gv_worker *worker, cl_kernel kernel, const gv_range *range, cl_int code,
                                 const char *what, size_t number)
{
    char name[64] = "a kernel";
    clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    return gv_fail_cl(code, "%s %zu of %s on %s (%zu x %zu work-items in groups of %zu)", what, number, name,
                      gv_worker_device(worker)->info.name, range->global[0],
                      range->dimensions > 1 ? range->global[1] : 1, range->local[0]);
}

/* The event of a timed kernel bounds its stage. */
static void add_to_stage(gv_worker *worker, int stage, cl_event event)
{
    gv_span *span = &worker->stage[stage];
    clRetainEvent(event);
    if (!span->first) {
        span->first = event;
        clRetainEvent(event);
    }
    if (span->last)
        clReleaseEvent(span->last);
    span->last = event;
}

/* Whether the argument may stay as it is: where a buffer was made, of all that have the size of one only a NULL. */
static int is_same(const gv_arg *arg, const unsigned char *before, int same_buffers)
{
    static const cl_mem none;
    return memcmp(before, arg->value, arg->size) == 0 &&
           (same_buffers || arg->size != sizeof none || memcmp(before, &none, sizeof none) == 0);
}

/* *number: of the argument that was refused */
static cl_int set_arguments(const gravel_context *context, cl_kernel kernel, size_t n_args, const gv_arg *arg,
                            gv_last *last, size_t *number)
{
    enum { LARGEST = 64 };
    const unsigned made = atomic_load(&context->buffers_made);
    const int is_known = last && last->kernel == kernel, same_buffers = is_known && last->buffers_made == made;
    size_t used = 0;
    if (last)
        last->kernel = NULL; /* unless all are set */
    for (size_t k = 0; k < n_args; k++) {
        const size_t size = arg[k].size;
        const int kept = last && arg[k].value && size <= LARGEST && size <= sizeof last->numbers - used;
        if (!kept || !is_known || !is_same(&arg[k], last->numbers + used, same_buffers)) {
            const cl_int code = clSetKernelArg(kernel, (cl_uint)k, size, arg[k].value);
            *number = k;
            if (code)
                return code;
        }
        if (kept)
            memcpy(last->numbers + used, arg[k].value, size);
        used += kept ? size : 0;
    }
    if (last) {
        last->kernel = kernel;
        last->buffers_made = made;
    }
    return CL_SUCCESS;
}

static gravel_status start(gv_worker *worker, int stage, cl_kernel kernel, gv_range range, cl_event after,
                           cl_event *done, size_t n_args, const gv_arg *arg, gv_last *last)
{
    const gv_device *device = gv_worker_device(worker);
    const int timed = stage >= 0 && device->compute == device->timed;
    cl_event event = NULL;
    size_t number = 0;

    cl_int code = set_arguments(worker->context, kernel, n_args, arg, last, &number);
    if (code)
        return fail_launch(worker, kernel, &range, code, "argument", number);
    code = clEnqueueNDRangeKernel(gv_worker_queue(worker), kernel, range.dimensions, NULL, range.global,
                                  range.local[0] ? range.local : NULL, after ? 1 : 0, after ? &after : NULL,
                                  timed || done || device->times ? &event : NULL);
    if (code)
        return fail_launch(worker, kernel, &range, code, "starting with argument count", n_args);
    if (device->times)
        gv_times_add(device->times, kernel, event);
    if (timed)
        add_to_stage(worker, stage, event);
    if (done)
        *done = event;
    else if (event)
        clReleaseEvent(event);
    return GRAVEL_OK;
}

gravel_status gv_launch_list(gv_worker *worker, int stage, cl_kernel kernel, gv_range range, size_t n_args,
                             const gv_arg *arg)
{
    if (range.global[0] == 0 || (range.dimensions > 1 && range.global[1] == 0))
        return GRAVEL_OK;
    return start(worker, stage, kernel, range, NULL, NULL, n_args, arg, NULL);
}

gravel_status gv_launch_next(gv_worker *worker, int stage, cl_kernel kernel, gv_range range, size_t n_args,
                             const gv_arg *arg, gv_last *last)
{
    if (range.global[0] == 0 || (range.dimensions > 1 && range.global[1] == 0))
        return GRAVEL_OK;
    return start(worker, stage, kernel, range, NULL, NULL, n_args, arg, last);
}

gravel_status gv_launch_after(gv_worker *worker, gv_range range, cl_kernel kernel, cl_event after, cl_event *done,
                              size_t n_args, const gv_arg *arg)
{
    return start(worker, -1, kernel, range, after, done, n_args, arg, NULL);
}
