/* The FFT on the device: VkFFT, whose one header is compiled here and nowhere else (15 s). */
#include "host/mesh/fft.h"

#ifdef GV_HAVE_VKFFT

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static inline char *same_locale(void)
{
    return NULL;
}

#define VKFFT_BACKEND 3 /* OpenCL */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
/* warnings of a header that is not ours */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
/* A library neither prints nor changes the locale of the process; gv_fft_device_plan sets that of the thread. */
#define printf(...) ((void)0)
#define setlocale(category, name) same_locale()
#include <vkFFT.h>
#undef printf
#undef setlocale
#pragma GCC diagnostic pop

const int gv_fft_has_device = 1;

struct gv_fft_device {
    VkFFTApplication app;
    /* VkFFT keeps addresses of these */
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_mem cube;
    uint64_t size;
};

gravel_status gv_fft_device_plan(gv_fft_device **out, gv_worker *worker, int n, gravel_precision precision, cl_mem cube)
{
    const uint64_t side = (uint64_t)n, number = precision == GRAVEL_DP ? 8 : 4;
    gv_fft_device *plan = calloc(1, sizeof *plan);
    if (!plan)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the plan of an FFT");
    plan->id = gv_worker_device(worker)->id;
    plan->context = worker->context->cl;
    plan->queue = gv_worker_queue(worker);
    plan->cube = cube;
    plan->size = gv_fft_row(n) * side * side * number;
    VkFFTConfiguration configuration = {0};
    configuration.FFTdim = 3;
    configuration.size[0] = configuration.size[1] = configuration.size[2] = side;
    configuration.performR2C = 1;
    configuration.doublePrecision = precision == GRAVEL_DP;
    configuration.device = &plan->id;
    configuration.context = &plan->context;
    configuration.buffer = &plan->cube;
    configuration.bufferSize = &plan->size;
    /* it writes kernels with numbers in them: with a point, whatever the user's language */
    const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), before = plain ? uselocale(plain) : plain;
    const VkFFTResult result = initializeVkFFT(&plan->app, configuration);
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    if (result != VKFFT_SUCCESS) {
        free(plan); /* VkFFT frees what it made itself */
        return gv_fail(GRAVEL_ERR_UNSUPPORTED, "VkFFT cannot plan %d^3 cells on %s (its error %d)", n,
                       gv_worker_device(worker)->info.name, (int)result);
    }
    *out = plan;
    return GRAVEL_OK;
}

gravel_status gv_fft_device_run(gv_fft_device *plan, gv_worker *worker, cl_mem cube, int inverse)
{
    VkFFTLaunchParams launch = {0};
    plan->queue = gv_worker_queue(worker);
    plan->cube = cube;
    launch.commandQueue = &plan->queue;
    launch.buffer = &plan->cube;
    const VkFFTResult result = VkFFTAppend(&plan->app, inverse ? 1 : -1, &launch);
    return result == VKFFT_SUCCESS
               ? GRAVEL_OK
               : gv_fail(GRAVEL_ERR_OPENCL, "VkFFT could not be started (its error %d)", (int)result);
}

void gv_fft_device_release(gv_fft_device *plan)
{
    deleteVkFFT(&plan->app);
    free(plan);
}

#else

const int gv_fft_has_device = 0;

gravel_status gv_fft_device_plan(gv_fft_device **out, gv_worker *worker, int n, gravel_precision precision, cl_mem cube)
{
    (void)out, (void)worker, (void)n, (void)precision, (void)cube;
    return gv_fail(GRAVEL_ERR_UNSUPPORTED, "this gravel was built without an FFT for devices");
}

gravel_status gv_fft_device_run(gv_fft_device *plan, gv_worker *worker, cl_mem cube, int inverse)
{
    (void)plan, (void)worker, (void)cube, (void)inverse;
    return gv_fail(GRAVEL_ERR_UNSUPPORTED, "this gravel was built without an FFT for devices");
}

void gv_fft_device_release(gv_fft_device *plan)
{
    (void)plan;
}

#endif
