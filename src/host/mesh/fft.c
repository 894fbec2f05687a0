/* Which FFT, and whether it is right: modes of a few points are known without one. */
#include "host/mesh/fft.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct gv_fft {
    gv_worker *worker;
    int n, is_double;
    gravel_fft kind;
    gv_fft_device *device;
    void *twiddles;
    gv_pool *pool; /* threads of the host */
    int in_queue;  /* the device runs functions of the host as commands: nothing waits for them */
    atomic_int failed;
};

/* ------------------------------------------------------------------- sizes */

int gv_fft_can(int n)
{
    static const int prime[] = {2, 3, 5, 7};
    if (n < GV_FFT_LEAST || n > GV_FFT_MOST)
        return 0;
    for (int k = 0; k < 4; k++)
        while (n % prime[k] == 0)
            n /= prime[k];
    return n == 1;
}

int gv_fft_below(int n)
{
    n = n > GV_FFT_MOST ? GV_FFT_MOST : n;
    while (n > GV_FFT_LEAST && !gv_fft_can(n))
        n--;
    return n < GV_FFT_LEAST ? GV_FFT_LEAST : n;
}

int gv_fft_above(int n)
{
    n = n < GV_FFT_LEAST ? GV_FFT_LEAST : n;
    while (n < GV_FFT_MOST && !gv_fft_can(n))
        n++;
    return n > GV_FFT_MOST ? GV_FFT_MOST : n;
}

/* ------------------------------------------------------------------- runs */

static size_t cube_bytes(const gv_fft *fft)
{
    return gv_fft_row(fft->n) * (size_t)fft->n * (size_t)fft->n * (fft->is_double ? 8 : 4);
}

typedef struct gv_fft_command {
    void *cube; /* a buffer when it is submitted, its memory when it runs */
    gv_fft *fft;
    int inverse;
} gv_fft_command;

static void CL_CALLBACK run_command(void *argument)
{
    const gv_fft_command *c = argument;
    if (!gv_fft_host_share(c->fft->pool, c->fft->n, c->fft->is_double, c->fft->twiddles, c->cube, c->inverse))
        atomic_store(&c->fft->failed, 1);
}

static gravel_status run_in_queue(gv_fft *fft, cl_mem cube, int inverse)
{
    gv_fft_command command = {NULL, fft, inverse};
    const void *place = &command.cube;
    const cl_int code = clEnqueueNativeKernel(gv_worker_queue(fft->worker), run_command, &command, sizeof command, 1,
                                              &cube, &place, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "starting an FFT of %d^3 cells", fft->n) : GRAVEL_OK;
}

/* Waits for what was submitted before. */
static gravel_status run_mapped(gv_fft *fft, cl_mem cube, int inverse)
{
    cl_command_queue queue = gv_worker_queue(fft->worker);
    cl_int code;
    void *at =
        clEnqueueMapBuffer(queue, cube, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, cube_bytes(fft), 0, NULL, NULL, &code);
    if (code)
        return gv_fail_cl(code, "mapping a mesh of %d^3 cells", fft->n);
    if (!gv_fft_host_share(fft->pool, fft->n, fft->is_double, fft->twiddles, at, inverse))
        atomic_store(&fft->failed, 1);
    code = clEnqueueUnmapMemObject(queue, cube, at, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "mapping a mesh of %d^3 cells", fft->n) : GRAVEL_OK;
}

static gravel_status run(gv_fft *fft, cl_mem cube, int inverse)
{
    if (fft->kind == GRAVEL_FFT_DEVICE)
        return gv_fft_device_run(fft->device, fft->worker, cube, inverse);
    return fft->in_queue ? run_in_queue(fft, cube, inverse) : run_mapped(fft, cube, inverse);
}

gravel_status gv_fft_forward(gv_fft *fft, cl_mem cube)
{
    return run(fft, cube, 0);
}

gravel_status gv_fft_inverse(gv_fft *fft, cl_mem cube)
{
    return run(fft, cube, 1);
}

int gv_fft_has_failed(const gv_fft *fft)
{
    return atomic_load(&fft->failed);
}

void gv_fft_forget_failure(gv_fft *fft)
{
    atomic_store(&fft->failed, 0);
}

gravel_fft gv_fft_kind(const gv_fft *fft)
{
    return fft->kind;
}

void gv_fft_release(gv_fft *fft)
{
    if (!fft)
        return;
    if (fft->in_queue)
        clFinish(gv_worker_queue(fft->worker)); /* commands use it */
    if (fft->device)
        gv_fft_device_release(fft->device);
    free(fft->twiddles);
    free(fft);
}

/* ------------------------------------------------------------------- check */

enum { POINTS = 5, MODES = 40 };

typedef struct gv_trial_points {
    int at[POINTS][3];
    double value[POINTS];
} gv_trial_points;

/* any numbers, the same ones each time */
static unsigned next(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static gravel_status write_points(gv_fft *fft, cl_mem cube, gv_trial_points *points)
{
    const size_t size = fft->is_double ? 8 : 4, n = (size_t)fft->n;
    cl_command_queue queue = gv_worker_queue(fft->worker);
    const cl_float zero = 0;
    unsigned state = 1;
    cl_int code = clEnqueueFillBuffer(queue, cube, &zero, sizeof zero, 0, cube_bytes(fft), 0, NULL, NULL);
    for (int k = 0; k < POINTS && !code; k++) {
        for (int c = 0; c < 3; c++) /* all places differ: the first coordinates do */
            points->at[k][c] = c == 0 ? (int)((size_t)k * n / POINTS) : (int)(next(&state) % (unsigned)n);
        points->value[k] = 0.5 + (double)(next(&state) % 16) / 16;
        const float single = (float)points->value[k];
        const size_t at =
            (size_t)points->at[k][0] + gv_fft_row(fft->n) * ((size_t)points->at[k][1] + n * (size_t)points->at[k][2]);
        code = clEnqueueWriteBuffer(queue, cube, CL_TRUE, at * size, size,
                                    fft->is_double ? (const void *)&points->value[k] : (const void *)&single, 0, NULL,
                                    NULL);
    }
    return code ? gv_fail_cl(code, "writing a mesh of %d^3 cells", fft->n) : GRAVEL_OK;
}

static gravel_status read_numbers(gv_fft *fft, cl_mem cube, size_t at, size_t count, double *to)
{
    const size_t size = fft->is_double ? 8 : 4;
    float single[2];
    const cl_int code = clEnqueueReadBuffer(gv_worker_queue(fft->worker), cube, CL_TRUE, at * size, count * size,
                                            fft->is_double ? (void *)to : (void *)single, 0, NULL, NULL);
    for (size_t k = 0; k < count && !fft->is_double; k++)
        to[k] = single[k];
    return code ? gv_fail_cl(code, "reading a mesh of %d^3 cells", fft->n) : GRAVEL_OK;
}

/* Largest error of some modes, the numbers being of order 1. */
static gravel_status check_modes(gv_fft *fft, cl_mem cube, const gv_trial_points *points, double *error)
{
    const int n = fft->n;
    unsigned state = 7;
    gravel_status status = GRAVEL_OK;
    for (int m = 0; m < MODES && !status; m++) {
        const int h[3] = {(int)(next(&state) % (unsigned)(n / 2 + 1)), (int)(next(&state) % (unsigned)n),
                          (int)(next(&state) % (unsigned)n)};
        double re = 0, im = 0, found[2] = {0, 0};
        for (int k = 0; k < POINTS; k++) {
            const long turns =
                (long)h[0] * points->at[k][0] + (long)h[1] * points->at[k][1] + (long)h[2] * points->at[k][2];
            const double phase = 2 * acos(-1) * (double)(turns % n) / n;
            re += points->value[k] * cos(phase);
            im -= points->value[k] * sin(phase);
        }
        status = read_numbers(fft, cube, 2 * (size_t)h[0] + gv_fft_row(n) * ((size_t)h[1] + (size_t)n * (size_t)h[2]),
                              2, found);
        const double here = fmax(fabs(found[0] - re), fabs(found[1] - im));
        *error = here <= *error ? *error : here; /* NaN counts */
    }
    return status;
}

static gravel_status check_points(gv_fft *fft, cl_mem cube, const gv_trial_points *points, double *error)
{
    const double all = (double)fft->n * fft->n * fft->n;
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k < 2 * POINTS && !status; k++) {
        const int *at = points->at[k % POINTS], x = k < POINTS ? at[0] : (at[0] + 1) % fft->n;
        double found = 0, value = k < POINTS ? points->value[k] : 0;
        for (int j = 0; j < POINTS; j++) /* the neighbour of a point may be a point */
            if (k >= POINTS && points->at[j][0] == x && points->at[j][1] == at[1] && points->at[j][2] == at[2])
                value = points->value[j];
        status = read_numbers(
            fft, cube, (size_t)x + gv_fft_row(fft->n) * ((size_t)at[1] + (size_t)fft->n * (size_t)at[2]), 1, &found);
        const double here = fabs(found / all - value);
        *error = here <= *error ? *error : here;
    }
    return status;
}

static gravel_status check(gv_fft *fft, cl_mem cube)
{
    /* log2 n^3 < 30 rounded steps of numbers up to 5 */
    const double most = fft->is_double ? 1e-13 : 5e-5;
    gv_trial_points points;
    double error = 0;
    gravel_status status = write_points(fft, cube, &points);
    if (!status)
        status = gv_fft_forward(fft, cube);
    if (!status)
        status = check_modes(fft, cube, &points, &error);
    if (!status)
        status = gv_fft_inverse(fft, cube);
    if (!status)
        status = check_points(fft, cube, &points, &error);
    if (!status && gv_fft_has_failed(fft))
        status = gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the lines of an FFT");
    if (!status && !(error <= most))
        status =
            gv_fail(GRAVEL_ERR_UNSUPPORTED,
                    "the FFT of %d^3 cells is wrong on %s (error %.1e where %.1e is allowed): the host's may be used",
                    fft->n, gv_worker_device(fft->worker)->info.name, error, most);
    return status;
}

/* -------------------------------------------------------------------- plan */

static int runs_functions(const gv_worker *worker)
{
    cl_device_exec_capabilities can = 0;
    return !clGetDeviceInfo(gv_worker_device(worker)->id, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL) &&
           (can & CL_EXEC_NATIVE_KERNEL);
}

static gravel_status plan(gv_fft **out, gv_worker *worker, int n, gravel_precision precision, gravel_fft kind,
                          cl_mem cube)
{
    const int is_double = precision == GRAVEL_DP;
    gv_fft *fft = calloc(1, sizeof *fft);
    gravel_status status = fft ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the plan of an FFT");
    if (status)
        return status;
    *fft = (gv_fft){.worker = worker, .n = n, .is_double = is_double, .kind = kind};
    if (kind == GRAVEL_FFT_DEVICE) {
        status = gv_fft_device_plan(&fft->device, worker, n, precision, cube);
    } else {
        fft->pool = n < 16 ? NULL : gv_context_pool(worker->context);
        fft->in_queue = runs_functions(worker);
        fft->twiddles = malloc(gv_fft_host_twiddles(n) * (is_double ? 8 : 4));
        if (fft->twiddles)
            gv_fft_host_prepare(n, is_double, fft->twiddles);
        else
            status = gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the plan of an FFT");
    }
    if (!status)
        status = check(fft, cube);
    if (status && fft->in_queue) { /* it says that it can, and cannot */
        fft->in_queue = 0;
        gv_fft_forget_failure(fft);
        status = check(fft, cube);
    }
    if (status)
        gv_fft_release(fft);
    else
        *out = fft;
    return status;
}

gravel_status gv_fft_plan(gv_fft **out, gv_worker *worker, int n, gravel_precision precision, gravel_fft kind,
                          cl_mem cube)
{
    const gravel_device_info *info = &gv_worker_device(worker)->info;
    const int wants_device = kind == GRAVEL_FFT_DEVICE || (kind == GRAVEL_FFT_AUTO && info->type != GRAVEL_DEVICE_CPU);
    if (kind == GRAVEL_FFT_DEVICE && !gv_fft_has_device)
        return gv_fail(
            GRAVEL_ERR_UNSUPPORTED,
            "this gravel was built without an FFT for devices: install libvkfft-dev and build again, or take "
            "the host's (GRAVEL_FFT_HOST)");
    if (!wants_device || !gv_fft_has_device)
        return plan(out, worker, n, precision, GRAVEL_FFT_HOST, cube);
    gravel_status status = plan(out, worker, n, precision, GRAVEL_FFT_DEVICE, cube);
    if (status && kind == GRAVEL_FFT_AUTO) {
        gv_log(worker->context, GRAVEL_LOG_WARNING, "%s; the mesh goes to the host for its FFT",
               gravel_error_message());
        status = plan(out, worker, n, precision, GRAVEL_FFT_HOST, cube);
    }
    return status;
}
