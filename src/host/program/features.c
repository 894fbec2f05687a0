/* What a device can do beyond plain OpenCL 1.2, found by running kernels/lib/features.cl once per device and driver. */
#include "host/device/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "host/base/files.h"
#include "host/program/cache.h"
#include "host/program/launch.h"
#include "host/program/program.h"
#include "host/program/traits.h"

/* A program under trial, on the device's queue with events. */
typedef struct bench {
    gv_worker worker;
    cl_program program;
} bench;

/* Runs a kernel of the program to its end; *seconds by the wall clock, *event_s by the device's (may be NULL). */
static cl_int run_kernel(const bench *b, const char *name, gv_range range, cl_uint n_args, const gv_arg *arg,
                         double *seconds, double *event_s)
{
    const cl_command_queue queue = gv_worker_device((gv_worker *)&b->worker)->timed;
    cl_ulong start = 0, end = 0;
    cl_event event = NULL;
    cl_int code;

    const cl_kernel kernel = clCreateKernel(b->program, name, &code);
    for (cl_uint k = 0; k < n_args && !code; k++)
        code = clSetKernelArg(kernel, k, arg[k].size, arg[k].value);
    const double begin = gv_now();
    if (!code)
        code = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, range.global, range.local, 0, NULL, &event);
    if (!code)
        code = clFinish(queue);
    *seconds = gv_now() - begin;
    if (!code && event_s) {
        /* a timer that cannot be read is a wrong one, not a broken device */
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
        *event_s = end > start ? 1e-9 * (double)(end - start) : 0;
    }
    if (event)
        clReleaseEvent(event);
    if (kernel)
        clReleaseKernel(kernel);
    return code;
}

static cl_int copy(const bench *b, int to_device, const gv_buffer *buffer, size_t size, void *host)
{
    const cl_command_queue queue = gv_worker_device((gv_worker *)&b->worker)->timed;

    return to_device ? clEnqueueWriteBuffer(queue, buffer->mem, CL_TRUE, 0, size, host, 0, NULL, NULL)
                     : clEnqueueReadBuffer(queue, buffer->mem, CL_TRUE, 0, size, host, 0, NULL, NULL);
}

/* `size` bytes for a trial, with what is in `host` (NULL: nothing) */
static cl_int make_buffer(const bench *b, gv_buffer *buffer, size_t size, void *host)
{
    if (gv_buffer_reserve(&b->worker, buffer, size, "trials") != GRAVEL_OK)
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return host ? copy(b, 1, buffer, size, host) : CL_SUCCESS;
}

/* ------------------------------------------------------------------ trials */

static cl_int try_values(const bench *b, gv_trial *t)
{
    gv_buffer x = {NULL, 0}, result = {NULL, 0}, found = {NULL, 0};
    double seconds;

    cl_int code = make_buffer(b, &x, sizeof t->x, t->x);
    if (!code)
        code = make_buffer(b, &result, sizeof t->result, t->result);
    if (!code)
        code = make_buffer(b, &found, sizeof t->found, t->found);
    if (!code)
        code =
            run_kernel(b, "gv_features", gv_groups(GV_TRIAL_X / 16, 1), 4,
                       (const gv_arg[]){GV_MEM(x), GV_UINT(GV_TRIAL_X), GV_MEM(result), GV_MEM(found)}, &seconds, NULL);
    if (!code)
        code = copy(b, 0, &result, sizeof t->result, t->result);
    if (!code)
        code = copy(b, 0, &found, sizeof t->found, t->found);
    gv_buffer_release(&found);
    gv_buffer_release(&result);
    gv_buffer_release(&x);
    return code;
}

static cl_int try_loop(const bench *b, gv_trial *t)
{
    gv_buffer state = {NULL, 0};
    cl_uint s = 1, expected = 1;

    for (cl_uint turn = 0; turn < GV_LONG_LOOP; turn++)
        expected = (expected ^ (expected >> 15)) * 0x2c1b3c6dU + turn;
    cl_int code = make_buffer(b, &state, sizeof s, &s);
    if (!code)
        code = run_kernel(b, "gv_count", gv_groups(1, 1), 2, (const gv_arg[]){GV_MEM(state), GV_UINT(GV_LONG_LOOP)},
                          &t->wall_s, &t->event_s);
    if (!code)
        code = copy(b, 0, &state, sizeof s, &s);
    t->counted = s == expected;
    gv_buffer_release(&state);
    return code;
}

enum { CHAIN_TURNS = 100000, TRY_SOURCES = 2048, GROUP = 64 }; /* pairs: GV_TRIAL_PAIRS */
#define RACE_S 3.0 /* for one race: a busy machine needs as many turns as a quiet one */

/* Kernels that run against each other with the same arguments. */
typedef struct contest {
    const bench *b;
    const char *const *name;
    const gv_range *range;
    cl_uint n_args;
    const gv_arg *arg;
    gv_trial *trial;
    gv_race_clear_fn clear;
    cl_int code;
} contest;

static double time_one(void *user, int k)
{
    contest *c = user;
    double seconds;

    c->code = run_kernel(c->b, c->name[k], c->range[k], c->n_args, c->arg, &seconds, NULL);
    return c->code ? -1 : seconds;
}

static int is_clear(const gv_race *race, void *user)
{
    const contest *c = user;

    return c->clear(race, c->trial);
}

static cl_int try_fma(const bench *b, gv_trial *t)
{
    static const char *const name[GV_FMA_WAYS] = {"gv_fused", "gv_apart"};
    const gv_range range[GV_FMA_WAYS] = {gv_groups(1, 1), gv_groups(1, 1)};
    cl_float values[32], a = 0.875f, c = 0.125f;
    gv_buffer x = {NULL, 0};

    for (int k = 0; k < 32; k++)
        values[k] = (float)k;
    cl_int code = make_buffer(b, &x, sizeof values, values);
    const gv_arg args[] = {GV_MEM(x), GV_ARG(a), GV_ARG(c), GV_UINT(CHAIN_TURNS)};
    contest fma = {b, name, range, 4, args, t, gv_traits_fma_is_clear, CL_SUCCESS};
    if (!code && !gv_race_run(&t->fma, GV_FMA_WAYS, 0, RACE_S, time_one, is_clear, &fma))
        code = fma.code;
    gv_buffer_release(&x);
    return code;
}

/* Sources whose sums are known: numbers of 1 ... 4 in no order. */
static void make_sources(cl_float *value)
{
    cl_uint state = 1;

    for (int k = 0; k < 4 * TRY_SOURCES; k++) {
        state = state * 1664525u + 1013904223u;
        value[k] = 1 + 3 * (cl_float)(state >> 8) * 0x1p-24f;
    }
}

/* 1 where a sum is off by more than 1e-4: 2048 roundings of 2^-24 and those of every term leave at most that. */
static int sums_are_wrong(const cl_float *source, const cl_float *sum)
{
    for (int i = 0; i < TRY_SOURCES; i += 31) { /* every place in a vector */
        double right = 0;
        for (int k = 0; k < TRY_SOURCES; k++) {
            double s2 = 1;
            for (int c = 0; c < 3; c++)
                s2 += ((double)source[4 * k + c] - source[4 * i + c]) * ((double)source[4 * k + c] - source[4 * i + c]);
            right += source[4 * k + 3] / (s2 * sqrt(s2));
        }
        if (!(fabs(sum[i] / right - 1) < 1e-4))
            return 1;
    }
    return 0;
}

/* One way to sum; what does not run is wrong. */
static int is_wrong(contest *c, int k, const gv_buffer *sum, cl_float *value)
{
    cl_float *const out = value + 4 * TRY_SOURCES;

    memset(out, 0, TRY_SOURCES * sizeof *out);
    return copy(c->b, 1, sum, TRY_SOURCES * sizeof *out, out) || time_one(c, k) < 0 ||
           copy(c->b, 0, sum, TRY_SOURCES * sizeof *out, out) || sums_are_wrong(value, out);
}

static cl_int try_shapes(const bench *b, gv_trial *t)
{
    static const char *const name[GV_SHAPES] = {"gv_by_lanes4", "gv_by_lanes8", "gv_by_lanes16", "gv_by_group"};
    const gv_range range[GV_SHAPES] = {gv_groups(TRY_SOURCES / 4, 1), gv_groups(TRY_SOURCES / 8, 1),
                                       gv_groups(TRY_SOURCES / 16, 1), gv_groups(TRY_SOURCES / GROUP, GROUP)};
    gv_buffer source = {NULL, 0}, sum = {NULL, 0};
    unsigned without = 0;
    cl_float *value = malloc(5 * TRY_SOURCES * sizeof *value); /* the sources, then sums */

    if (!value)
        return CL_OUT_OF_HOST_MEMORY;
    make_sources(value);
    cl_int code = make_buffer(b, &source, 4 * TRY_SOURCES * sizeof *value, value);
    if (!code)
        code = make_buffer(b, &sum, TRY_SOURCES * sizeof *value, NULL);
    contest shapes = {b,
                      name,
                      range,
                      3,
                      (const gv_arg[]){GV_MEM(source), GV_UINT(TRY_SOURCES), GV_MEM(sum)},
                      t,
                      gv_traits_shapes_are_clear,
                      CL_SUCCESS};
    const int largest = gv_worker_device((gv_worker *)&b->worker)->info.max_group;
    for (int k = 0; k < GV_SHAPES && !code; k++) {
        t->wrong[k] = (k == GV_BY_GROUP && largest < GROUP) || is_wrong(&shapes, k, &sum, value);
        without |= (unsigned)t->wrong[k] << k;
    }
    if (!code && !gv_race_run(&t->shapes, GV_SHAPES, without, RACE_S, time_one, is_clear, &shapes))
        code = shapes.code;
    gv_buffer_release(&sum);
    gv_buffer_release(&source);
    free(value);
    return code;
}

static cl_int try_all(const bench *b, gv_trial *t)
{
    cl_int code = try_loop(b, t);

    if (!t->counted) /* the device is refused, whatever else it does right */
        return code;
    if (!code)
        code = try_values(b, t);
    if (!code && (t->is_cpu || !t->claims_fma))
        code = try_fma(b, t);
    if (!code && t->is_cpu)
        code = try_shapes(b, t);
    return code;
}

/* Numbers from the closest pair that counts (1e-25) to the largest square of a distance (1.9e38), and all mantissas of
 * two octaves, where the errors of estimates have their extremes. */
static void start_trial(const gv_device *device, gv_trial *t)
{
    cl_device_fp_config config = 0;

    memset(t, 0, sizeof *t);
    for (int k = 0; k < GV_TRIAL_X; k++) {
        const double at = (double)k / (GV_TRIAL_X - 1);
        t->x[k] = (float)(k % 4 == 0 ? fmin(pow(10, -25 + 63.27 * at), 1.9e38) : 1 + 3 * at);
    }
    t->x[1] = 1;
    t->is_cpu = device->info.type == GRAVEL_DEVICE_CPU;
    t->driver_lanes = device->info.simd_width_float;
    clGetDeviceInfo(device->id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL);
    t->claims_fma = (config & CL_FP_FMA) && !(config & CL_FP_SOFT_FLOAT);
}

enum end { RAN, NOT_BUILT, NOT_RUN };

static enum end try_once(gravel_context *context, int device, const char *text, const char *options, gv_trial *t)
{
    bench b = {{.context = context, .device = device}, NULL};
    char *log;

    start_trial(&context->device[device], t);
    cl_int code = gv_program_compile(context, device, text, options, &b.program, &log);
    int built = code == CL_SUCCESS;
    if (built) {
        code = try_all(&b, t);
        clReleaseProgram(b.program);
    }
    if (code != CL_SUCCESS) {
        gv_log(context, GRAVEL_LOG_DEBUG, "features with '%s': %s\n%s", options, gv_cl_error_name(code),
               log ? log : "");
    }
    free(log);
    return code == CL_SUCCESS ? RAN : built ? NOT_RUN : NOT_BUILT;
}

/* Some compilers end the process at assembler text that they cannot parse, so PTX is only tried on drivers that list
 * its vendor's extensions. */
static int may_know_ptx(const gv_device *device)
{
    char extensions[8192] = "";

    if (device->info.type != GRAVEL_DEVICE_GPU ||
        clGetDeviceInfo(device->id, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL) != CL_SUCCESS) {
        return 0;
    }
    return strstr(extensions, "cl_nv_") != NULL;
}

static void log_traits(gravel_context *context, const gv_device *d, const gv_trial *t, const gv_traits *traits)
{
    char shape[GV_SHAPES][32];

    for (int k = 0; k < GV_SHAPES; k++)
        snprintf(shape[k], sizeof shape[k], "%.3g%s", 1e3 * gv_race_least(&t->shapes, k),
                 t->wrong[k] ? " (wrong)" : "");
    gv_log(context, GRAVEL_LOG_DEBUG,
           "%s: rsqrt within %.2g, native %.2g; fma %.3g ms, apart %.3g ms (%d turns); pairs by groups %s ms, by "
           "vectors of 4, 8, 16 lanes %s, %s, %s ms (%d turns); %d turns in %.3g ms, by events %.3g ms; lanes %d",
           d->info.name, (double)traits->exact_error, (double)traits->native_error,
           1e3 * gv_race_least(&t->fma, GV_FUSED), 1e3 * gv_race_least(&t->fma, GV_APART), t->fma.turns,
           shape[GV_BY_GROUP], shape[0], shape[1], shape[2], t->shapes.turns, GV_LONG_LOOP, 1e3 * t->wall_s,
           1e3 * t->event_s, traits->lanes);
}

/* The first line of a compiler's log that speaks of an error, else the first; its length. */
static int find_error(const char **log)
{
    const char *error = strstr(*log, "error");

    *log += error ? 0 : strspn(*log, " \t\r\n");
    for (; error && error > *log; error--)
        if (error[-1] == '\n') {
            *log = error;
            break;
        }
    const size_t length = strcspn(*log, "\r\n");
    return length < 200 ? (int)length : 200;
}

/* Whether the compiler builds anything at all: some know only processors that are older than they are. */
static gravel_status try_compiler(gravel_context *context, int device)
{
    const gravel_device_info *info = &context->device[device].info;
    gravel_status status = GRAVEL_OK;
    cl_program program;
    char *log;

    const cl_int code = gv_program_compile(context, device, "__kernel void gv_nothing(__global int *x) { x[0] = 0; }",
                                           "-cl-std=CL1.2", &program, &log);
    if (code == CL_BUILD_PROGRAM_FAILURE || code == CL_COMPILER_NOT_AVAILABLE) {
        const char *why = log && log[0] != '\0' ? log : gv_cl_error_name(code);
        const int length = find_error(&why);
        status = gv_fail(GRAVEL_ERR_UNSUPPORTED,
                         "%s (%s, driver %s) is not used: its compiler builds nothing here, not even an empty kernel "
                         "(%.*s): another version of the driver, or another driver, is needed",
                         info->name, info->platform, info->driver, length, why);
    }
    if (program)
        clReleaseProgram(program);
    free(log);
    return status;
}

/* *lasting: the outcome may be cached; not if the device was busy or out of memory, as the next trial may succeed */
static gravel_status find(gravel_context *context, int device, const char *text, gv_traits *traits, int *lasting)
{
    static const char *const options[] = {"-cl-std=CL1.2 -w -DGV_TRY_FP64=1 -DGV_TRY_PTX_ASM=1",
                                          "-cl-std=CL1.2 -w -DGV_TRY_FP64=1", "-cl-std=CL1.2 -w"};
    const gv_device *d = &context->device[device];
    gv_trial *t = malloc(sizeof *t);

    if (!t)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the trial of %s", d->info.name);
    *lasting = 1;
    enum end end = NOT_RUN;
    for (int i = !d->info.has_fp64 ? 2 : may_know_ptx(d) ? 0 : 1; i < 3 && end != RAN; i++) {
        end = try_once(context, device, text, options[i], t);
        *lasting = *lasting && end != NOT_RUN;
    }
    gravel_status status = end == NOT_BUILT ? try_compiler(context, device) : GRAVEL_OK;
    if (status != GRAVEL_OK) {
        *lasting = 0;
    } else if (end == RAN) {
        gv_traits_judge(t, traits);
        log_traits(context, d, t, traits);
    } else {
        gv_log(context, GRAVEL_LOG_WARNING, "%s: no feature could be tried, the plain kernels are used", d->info.name);
        *lasting = 0;
        /* no trial ran: no estimate, no fast fma; loops and timers are taken to be right */
        *traits = (gv_traits){.native_error = 1, .seed_error = 1, .runs_groups = d->info.type != GRAVEL_DEVICE_CPU};
    }
    free(t);
    return status;
}

gravel_status gv_device_lend_timer(gravel_context *context, int device)
{
    gv_device *d = &context->device[device];
    cl_int code = CL_SUCCESS;

    if (d->timed)
        return GRAVEL_OK;
    d->timed = clCreateCommandQueue(context->cl, d->id, CL_QUEUE_PROFILING_ENABLE, &code);
    d->timed_is_lent = code == CL_SUCCESS;
    return code ? gv_fail_cl(code, "no command queue can be made on %s", d->info.name) : GRAVEL_OK;
}

void gv_device_return_timer(gravel_context *context, int device)
{
    gv_device *d = &context->device[device];

    if (!d->timed_is_lent)
        return;
    clReleaseCommandQueue(d->timed);
    d->timed = NULL;
    d->timed_is_lent = 0;
}

gravel_status gv_device_find_features(gravel_context *context, int device)
{
    gv_device *d = &context->device[device];
    gv_hasher hasher;
    gv_digest key;
    unsigned char *stored;
    gv_traits traits;
    size_t size;
    char *text;

    d->parameters = 1024; /* what all of OpenCL takes */
    clGetDeviceInfo(d->id, CL_DEVICE_MAX_PARAMETER_SIZE, sizeof d->parameters, &d->parameters, NULL);
    d->driver_caches = strcmp(d->info.platform, "Portable Computing Language") == 0;
    gv_device_find_target(d);
    /* always the embedded text: kernels from a folder must not change what is found out about the device */
    gravel_status status = gv_source_flatten(NULL, "lib/features.cl", &text);
    if (status != GRAVEL_OK)
        return status;
    gv_hash_start(&hasher);
    gv_hash_text(&hasher, text);
    gv_device_hash(d, &hasher);
    gv_hash_add(&hasher, &d->info.has_fp64, sizeof d->info.has_fp64);
    gv_hash_add(&hasher, &(size_t){sizeof traits}, sizeof(size_t));
    gv_hash_text(&hasher, "races"); /* how it is judged */
    gv_hash_end(&hasher, &key);
    if (gv_cache_load(context, "features", &key, &stored, &size)) {
        memcpy(&traits, stored, size < sizeof traits ? size : sizeof traits);
        free(stored);
    } else {
        /* one process tries, the others take what it has found: PoCL 3.1 can crash where two build one program, and a
         * trial's times are no others' */
        const int lock = gv_cache_lock(context, &key);
        int lasting = 0;
        if (gv_cache_load(context, "features", &key, &stored, &size)) {
            memcpy(&traits, stored, size < sizeof traits ? size : sizeof traits);
            free(stored);
        } else {
            status = gv_device_lend_timer(context, device);
            if (status == GRAVEL_OK)
                status = find(context, device, text, &traits, &lasting);
            gv_device_return_timer(context, device);
            if (status == GRAVEL_OK && lasting)
                gv_cache_store(context, "features", &key, &traits, sizeof traits);
        }
        gv_file_unlock(lock);
    }
    free(text);
    if (status != GRAVEL_OK)
        return status;
    gv_traits_take(d, &traits);
    const char *reason = gv_traits_refuse(&traits);
    return reason ? gv_fail(GRAVEL_ERR_UNSUPPORTED, "%s (%s, driver %s) is not used: %s", d->info.name,
                            d->info.platform, d->info.driver, reason)
                  : GRAVEL_OK;
}
