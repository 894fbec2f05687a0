/* What a device does per second: arithmetic, copies, launches (kernels/measure). */
#include "host/device/context.h"
#include "host/base/clock.h"
#include "host/program/program.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/program/facts.h"

/* The fastest of the runs is the device's rate: others on the machine can only slow a run down.  Runs go on until the
 * last SETTLED of them brought nothing better (a GPU raises its clock for tens of milliseconds), or LONGEST has passed.
 */
#define SHORTEST_RUN 4e-3 /* s; far above the resolution of event times */
#define LONGEST 0.25      /* s of runs per rate */
enum { SETTLED = 6, MOST_RUNS = 60, LAUNCHES = 200 };

typedef struct bench {
    gravel_context *context;
    int device;
    cl_kernel kernel;
    size_t global, local;
    cl_uint turns_at; /* which argument is `turns`; UINT32_MAX: none */
} bench;

/* One launch; *seconds by device events. */
static gravel_status run(const bench *b, double *seconds)
{
    const gv_device *device = &b->context->device[b->device];
    cl_ulong start = 0, end = 0;
    cl_event event;

    cl_int code = clEnqueueNDRangeKernel(device->timed, b->kernel, 1, NULL, &b->global, &b->local, 0, NULL, &event);
    if (code != CL_SUCCESS)
        return gv_fail_cl(code, "a measuring kernel cannot be started on %s", device->info.name);
    code = clWaitForEvents(1, &event);
    if (code == CL_SUCCESS)
        code = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    if (code == CL_SUCCESS)
        code = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    clReleaseEvent(event);
    *seconds = end > start ? 1e-9 * (double)(end - start) : 0;
    return code == CL_SUCCESS ? GRAVEL_OK : gv_fail_cl(code, "a measuring kernel fails on %s", device->info.name);
}

/* The least time of a launch after warm-up */
static gravel_status run_often(const bench *b, double *best)
{
    double begin = gv_now(), seconds;
    gravel_status status = GRAVEL_OK;

    *best = INFINITY;
    for (int i = 0, since = 0; i < MOST_RUNS && since < SETTLED && gv_now() - begin < LONGEST; i++) {
        status = run(b, &seconds);
        if (status != GRAVEL_OK)
            return status;
        since = seconds < 0.998 * *best ? 0 : since + 1;
        if (seconds > 0 && seconds < *best)
            *best = seconds;
    }
    return isfinite(*best) ? GRAVEL_OK : gv_fail(GRAVEL_ERR_OPENCL, "the device's event times do not advance");
}

static gravel_status set_turns(const bench *b, cl_uint turns)
{
    cl_int code = clSetKernelArg(b->kernel, b->turns_at, sizeof turns, &turns);

    return code == CL_SUCCESS ? GRAVEL_OK : gv_fail_cl(code, "a measuring kernel does not take its arguments");
}

/* Turns that make a launch long enough, then turns per second */
static gravel_status find_rate(const bench *b, double *turns_per_s)
{
    cl_uint turns = 64;
    double seconds;

    for (;;) {
        gravel_status status = set_turns(b, turns);
        if (status == GRAVEL_OK)
            status = run(b, &seconds);
        if (status != GRAVEL_OK)
            return status;
        if (seconds >= SHORTEST_RUN || turns >= 1u << 28)
            break;
        double more = seconds > 0 ? 1.3 * SHORTEST_RUN / seconds : 16;
        turns = (cl_uint)(turns * fmin(fmax(more, 1.5), 16));
    }
    gravel_status status = run_often(b, &seconds);
    *turns_per_s = turns / seconds;
    return status;
}

/* work-items per group: a CPU core runs one at a time, or as many as it has lanes; a GPU hides latency with many */
static size_t group_size(const gv_device *device)
{
    const int wanted = device->info.type != GRAVEL_DEVICE_CPU ? 256 : device->traits.runs_groups ? 64 : 1;

    return (size_t)(device->info.max_group < wanted ? device->info.max_group : wanted);
}

typedef struct shape {
    int lanes, chains, steps;
    size_t global, local;
} shape;

static shape choose_shape(const gv_device *device, int lanes, int chains)
{
    const gravel_device_info *info = &device->info;
    const size_t local = group_size(device);
    /* CPU: a few work-items per core, so that other cores take over the work of one that is late */
    const int cpu = info->type == GRAVEL_DEVICE_CPU;
    const size_t groups = cpu ? 4 : 2 * (2048 / local);
    const shape s = {lanes, chains, cpu ? 16 : 32, (size_t)info->compute_units * groups * local, local};

    return s;
}

static cl_int set_scalar(cl_kernel kernel, cl_uint at, int dp, double value)
{
    cl_float narrow = (cl_float)value;
    cl_double wide = value;

    return dp ? clSetKernelArg(kernel, at, sizeof wide, &wide) : clSetKernelArg(kernel, at, sizeof narrow, &narrow);
}

/* Operations per second of one kernel of measure/rates.cl in one shape */
static gravel_status rate_of_shape(gravel_context *context, int device, const char *name, int dp, const shape *s,
                                   double *rate)
{
    static const double fma_values[4] = {0.5, 0.03, 0.875, 0.125}, rsqrt_values[2] = {1.7, 0.2};
    const int fma = strcmp(name, "gv_rate_fma") == 0, n_values = fma ? 4 : 2;
    bench b = {context, device, NULL, s->global, s->local, (cl_uint)n_values + 1};
    cl_program program;
    cl_mem out = NULL;
    char options[128];
    double turns_per_s = 0;
    cl_int code;

    snprintf(options, sizeof options, "-DGV_PRECISION=%d -DGV_LANES=%d -DGV_CHAINS=%d -DGV_STEPS=%d -DGV_THREADS=%d",
             dp ? 2 : 0, s->lanes, s->chains, s->steps, (int)s->local);
    gravel_status status = gv_program_get(context, device, "measure/rates.cl", options, &program);
    if (status != GRAVEL_OK)
        return status;
    b.kernel = clCreateKernel(program, name, &code);
    if (code == CL_SUCCESS)
        out = clCreateBuffer(context->cl, CL_MEM_WRITE_ONLY, s->global * (size_t)s->lanes * (dp ? 8 : 4), NULL, &code);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(b.kernel, 0, sizeof out, &out);
    for (int i = 0; i < n_values && code == CL_SUCCESS; i++)
        code = set_scalar(b.kernel, (cl_uint)i + 1, dp, fma ? fma_values[i] : rsqrt_values[i]);
    status = code == CL_SUCCESS
                 ? find_rate(&b, &turns_per_s)
                 : gv_fail_cl(code, "%s cannot be prepared on %s", name, context->device[device].info.name);
    *rate = turns_per_s * s->steps * s->chains * s->lanes * (double)s->global;
    if (out)
        clReleaseMemObject(out);
    if (b.kernel)
        clReleaseKernel(b.kernel);
    return status;
}

/* The best over the numbers of chains that suit the type: CPUs differ in pipes and registers. */
static gravel_status measure_rate(gravel_context *context, int device, const char *name, int dp, double *rate)
{
    static const int chains[2][2] = {{8, 0}, {12, 24}};
    const gravel_device_info *info = &context->device[device].info;
    const int lanes = dp ? info->simd_width_double : info->simd_width_float;
    const int cpu = info->type == GRAVEL_DEVICE_CPU;

    *rate = 0;
    for (int i = 0; i < 2 && chains[cpu][i] > 0; i++) {
        shape s = choose_shape(&context->device[device], lanes, chains[cpu][i]);
        double one;
        gravel_status status = rate_of_shape(context, device, name, dp, &s, &one);
        if (status != GRAVEL_OK)
            return status;
        *rate = fmax(*rate, one);
    }
    return GRAVEL_OK;
}

/* Launch shape and strides for elements of 16 bytes */
static void shape_copy(bench *b, size_t elements, cl_ulong *item_step, cl_ulong *step, cl_uint *turns)
{
    const gv_device *device = &b->context->device[b->device];
    const gravel_device_info *info = &device->info;

    b->local = info->type == GRAVEL_DEVICE_CPU ? 1 : group_size(device);
    if (info->type == GRAVEL_DEVICE_CPU) {
        *turns = 16384;
        b->global = elements / *turns;
        *item_step = *turns;
        *step = 1;
    } else {
        *turns = 64;
        b->global = elements / *turns / b->local * b->local;
        *item_step = 1;
        *step = b->global;
    }
}

/* *bytes: what one launch copies */
static gravel_status prepare_copy(bench *b, cl_mem buffer[2], size_t *bytes)
{
    const gv_device *device = &b->context->device[b->device];
    const cl_uint zero = 0;
    cl_int code = CL_SUCCESS;
    cl_ulong item_step, step;
    cl_uint turns;

    shape_copy(b, *bytes / 16, &item_step, &step, &turns);
    for (cl_uint i = 0; i < 2 && code == CL_SUCCESS; i++) {
        buffer[i] = clCreateBuffer(b->context->cl, CL_MEM_READ_WRITE, *bytes, NULL, &code);
        if (code == CL_SUCCESS) {
            /* every page gets its own memory: untouched pages of some systems all read one page of zeros */
            code = clEnqueueFillBuffer(device->timed, buffer[i], &zero, sizeof zero, 0, *bytes, 0, NULL, NULL);
        }
        if (code == CL_SUCCESS)
            code = clSetKernelArg(b->kernel, i, sizeof buffer[i], &buffer[i]);
    }
    code = code == CL_SUCCESS ? clSetKernelArg(b->kernel, 2, sizeof item_step, &item_step) : code;
    code = code == CL_SUCCESS ? clSetKernelArg(b->kernel, 3, sizeof step, &step) : code;
    code = code == CL_SUCCESS ? clSetKernelArg(b->kernel, 4, sizeof turns, &turns) : code;
    code = code == CL_SUCCESS ? clFinish(device->timed) : code;
    if (code != CL_SUCCESS)
        return gv_fail_cl(code, "copies of %zu bytes on %s", *bytes, device->info.name);
    *bytes = b->global * turns * 16;
    return GRAVEL_OK;
}

/* Well above the caches, well below the memory */
static size_t copy_size(const gravel_device_info *info)
{
    uint64_t bytes = (uint64_t)(info->type == GRAVEL_DEVICE_CPU ? 128 : 512) << 20;

    while (bytes > 1 << 20 && (bytes > info->max_allocation / 2 || bytes > info->global_memory / 8))
        bytes /= 2;
    return (size_t)bytes;
}

static gravel_status measure_copy(gravel_context *context, int device, cl_program program, double *bytes_per_s)
{
    bench b = {context, device, NULL, 0, 0, UINT32_MAX};
    cl_mem buffer[2] = {NULL, NULL};
    double seconds;
    cl_int code;

    b.kernel = clCreateKernel(program, "gv_copy", &code);
    if (!b.kernel)
        return gv_fail_cl(code, "gv_copy cannot be made on %s", context->device[device].info.name);
    size_t bytes = copy_size(&context->device[device].info);
    gravel_status status = prepare_copy(&b, buffer, &bytes);
    if (status == GRAVEL_OK)
        status = run_often(&b, &seconds);
    if (status == GRAVEL_OK)
        *bytes_per_s = 2 * (double)bytes / seconds;
    for (int i = 0; i < 2; i++)
        if (buffer[i])
            clReleaseMemObject(buffer[i]);
    clReleaseKernel(b.kernel);
    return status;
}

/* Median of enqueue to finished, as the host sees it */
static gravel_status measure_launch(gravel_context *context, int device, cl_program program, double *seconds)
{
    cl_command_queue queue = context->device[device].timed;
    const size_t one = 1;
    double times[LAUNCHES];
    cl_mem nothing = NULL;
    cl_int code;

    cl_kernel kernel = clCreateKernel(program, "gv_empty", &code);
    if (code == CL_SUCCESS)
        nothing = clCreateBuffer(context->cl, CL_MEM_READ_WRITE, 64, NULL, &code);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(kernel, 0, sizeof nothing, &nothing);
    for (int i = -20; i < LAUNCHES && code == CL_SUCCESS; i++) {
        double begin = gv_now();
        code = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
        if (code == CL_SUCCESS)
            code = clFinish(queue);
        if (i >= 0)
            times[i] = gv_now() - begin;
    }
    if (code == CL_SUCCESS) {
        qsort(times, LAUNCHES, sizeof times[0], gv_ascending);
        *seconds = times[LAUNCHES / 2];
    }
    if (nothing)
        clReleaseMemObject(nothing);
    if (kernel)
        clReleaseKernel(kernel);
    return code == CL_SUCCESS ? GRAVEL_OK
                              : gv_fail_cl(code, "an empty kernel cannot run on %s", context->device[device].info.name);
}

static gravel_status measure_all(gravel_context *context, int device, gravel_device_facts *facts)
{
    const gravel_device_info *info = &context->device[device].info;
    cl_program program;
    char options[64];

    snprintf(options, sizeof options, "-DGV_PRECISION=0 -DGV_LANES=1 -DGV_THREADS=%d",
             (int)(info->type == GRAVEL_DEVICE_CPU ? 1 : group_size(&context->device[device])));
    gravel_status status = measure_rate(context, device, "gv_rate_fma", 0, &facts->fma_sp);
    if (status == GRAVEL_OK && info->has_fp64)
        status = measure_rate(context, device, "gv_rate_fma", 1, &facts->fma_dp);
    if (status == GRAVEL_OK)
        status = measure_rate(context, device, "gv_rate_rsqrt", 0, &facts->rsqrt_sp);
    if (status == GRAVEL_OK)
        status = gv_program_get(context, device, "measure/copy.cl", options, &program);
    if (status == GRAVEL_OK)
        status = measure_copy(context, device, program, &facts->copy_bytes);
    if (status == GRAVEL_OK)
        status = measure_launch(context, device, program, &facts->launch_s);
    return status;
}

gravel_status gravel_context_measure(gravel_context *context, int device, int stored, gravel_device_facts *facts)
{
    if (!context || !facts)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_context_measure: context and facts must not be NULL");
    if (device < 0 || device >= context->n_devices)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_context_measure: device %d of %d", device, context->n_devices);
    memset(facts, 0, sizeof *facts);
    if (stored && gv_facts_load(context, device, facts))
        return GRAVEL_OK;
    if (context->device[device].traits.wrong_timers)
        return gv_fail(GRAVEL_ERR_UNSUPPORTED, "the event times of %s (driver %s) are wrong: nothing can be measured",
                       context->device[device].info.name, context->device[device].info.driver);
    gravel_status status = gv_device_lend_timer(context, device);
    if (status == GRAVEL_OK)
        status = measure_all(context, device, facts);
    gv_device_return_timer(context, device);
    if (status != GRAVEL_OK) {
        memset(facts, 0, sizeof *facts);
        return status;
    }
    gv_facts_round(facts);
    if (stored)
        gv_facts_store(context, device, facts);
    return GRAVEL_OK;
}
