/* What a device can do beyond plain OpenCL 1.2, found by running kernels/lib/features.cl once per device and driver. */
#include "host/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cache.h"
#include "host/program.h"

enum { N_X = 16, N_RESULT = 33, N_FOUND = 7 };
enum { FAST_FMA, RSQRT14, RSQRT14_DOUBLE, RSQRT12, PTX_ASM, FP64, LANES }; /* the order of found[] */

/* What is stored: one bit per feature, and lanes of float (0: not known). */
typedef struct outcome {
    unsigned char bits, lanes;
} outcome;

typedef struct trial {
    float x[N_X], result[N_RESULT];
    cl_int found[N_FOUND];
} trial;

static cl_int run_kernel(gravel_context *context, const gv_device *device, cl_program program, trial *t)
{
    cl_mem buffer[3] = {NULL, NULL, NULL};
    void *const host[3] = {t->x, t->result, t->found};
    const size_t size[3] = {sizeof t->x, sizeof t->result, sizeof t->found};
    const size_t one = 1;
    cl_int code;

    cl_kernel kernel = clCreateKernel(program, "gv_features", &code);
    for (cl_uint i = 0; i < 3 && code == CL_SUCCESS; i++) {
        buffer[i] = clCreateBuffer(context->cl, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size[i], host[i], &code);
        if (code == CL_SUCCESS) {
            code = clSetKernelArg(kernel, i, sizeof buffer[i], &buffer[i]);
        }
    }
    if (code == CL_SUCCESS) {
        code = clEnqueueNDRangeKernel(device->queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
    }
    for (int i = 1; i < 3 && code == CL_SUCCESS; i++) {
        code = clEnqueueReadBuffer(device->queue, buffer[i], CL_TRUE, 0, size[i], host[i], 0, NULL, NULL);
    }
    for (int i = 0; i < 3; i++) {
        if (buffer[i]) {
            clReleaseMemObject(buffer[i]);
        }
    }
    if (kernel) {
        clReleaseKernel(kernel);
    }
    return code;
}

enum end { RAN, NOT_BUILT, NOT_RUN };

static enum end try_once(gravel_context *context, int device, const char *text, const char *options, trial *t)
{
    cl_program program;
    char *log;

    memset(t, 0, sizeof *t);
    for (int i = 0; i < N_X; i++) {
        t->x[i] = powf(1.7f, (float)(i - 1)); /* several octaves, not powers of two; x[1] = 1 */
    }
    cl_int code = gv_program_compile(context, device, text, options, &program, &log);
    int built = code == CL_SUCCESS;
    if (built) {
        code = run_kernel(context, &context->device[device], program, t);
        clReleaseProgram(program);
    }
    if (code != CL_SUCCESS) {
        gv_log(context, GRAVEL_LOG_DEBUG, "features with '%s': %s\n%s", options, gv_cl_error_name(code),
               log ? log : "");
    }
    free(log);
    return code == CL_SUCCESS ? RAN : built ? NOT_RUN : NOT_BUILT;
}

static int near_rsqrt(const trial *t, int first, int count, double tolerance)
{
    for (int i = 0; i < count; i++) {
        double error = (double)t->result[first + i] * sqrt((double)t->x[i]) - 1;
        if (!(fabs(error) <= tolerance)) {
            return 0;
        }
    }
    return 1;
}

/* what gave wrong values counts as not there */
static outcome judge(const gv_device *device, const trial *t)
{
    const double rounding = 1e-7; /* results come back as float */
    cl_device_fp_config config = 0;
    unsigned bits = 0;
    int cpu = device->info.type == GRAVEL_DEVICE_CPU;

    /* a GPU that claims fma has it in hardware; a CPU's library may claim it and emulate it */
    clGetDeviceInfo(device->id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL);
    if ((config & CL_FP_FMA) && !(config & CL_FP_SOFT_FLOAT) && (t->found[FAST_FMA] || !cpu)) {
        bits |= 1u << FAST_FMA;
    }
    if (t->found[FP64]) {
        bits |= 1u << FP64;
    }
    if (t->found[RSQRT14] && near_rsqrt(t, 0, 16, ldexp(1, -14) + rounding) &&
        (!t->found[FP64] || (t->found[RSQRT14_DOUBLE] && near_rsqrt(t, 16, 8, ldexp(1, -14) + rounding)))) {
        bits |= 1u << RSQRT14;
    }
    if (t->found[RSQRT12] && near_rsqrt(t, 24, 8, 1.5 * ldexp(1, -12) + rounding)) {
        bits |= 1u << RSQRT12;
    }
    if (t->found[PTX_ASM] && near_rsqrt(t, 32, 1, ldexp(1, -20) + rounding)) {
        bits |= 1u << PTX_ASM;
    }
    return (outcome){(unsigned char)bits, (unsigned char)t->found[LANES]};
}

/* An unknown assembler text can end the process inside some compilers, so PTX is only tried on drivers that name its
 * vendor's extensions. */
static int may_know_ptx(const gv_device *device)
{
    char extensions[8192] = "";

    if (device->info.type != GRAVEL_DEVICE_GPU ||
        clGetDeviceInfo(device->id, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL) != CL_SUCCESS) {
        return 0;
    }
    return strstr(extensions, "cl_nv_") != NULL;
}

/* *lasting: the same will be found again; a device that is busy or out of memory may do better next time */
static outcome find(gravel_context *context, int device, const char *text, int *lasting)
{
    static const char *const options[] = {"-cl-std=CL1.2 -DGV_TRY_FP64=1 -DGV_TRY_PTX_ASM=1",
                                          "-cl-std=CL1.2 -DGV_TRY_FP64=1", "-cl-std=CL1.2"};
    const gv_device *d = &context->device[device];
    trial t;

    *lasting = 1;
    for (int i = !d->info.has_fp64 ? 2 : may_know_ptx(d) ? 0 : 1; i < 3; i++) {
        enum end end = try_once(context, device, text, options[i], &t);
        if (end == RAN) {
            return judge(d, &t);
        }
        *lasting = *lasting && end == NOT_BUILT;
    }
    gv_log(context, GRAVEL_LOG_WARNING, "%s: no feature could be tried, the plain kernels are used", d->info.name);
    *lasting = 0;
    return (outcome){0, 0};
}

static void take(gv_device *device, outcome o)
{
    gravel_device_info *info = &device->info;

    device->fast_fma = o.bits >> FAST_FMA & 1;
    device->has_rsqrt14 = o.bits >> RSQRT14 & 1;
    device->has_rsqrt12 = o.bits >> RSQRT12 & 1;
    device->has_ptx_asm = o.bits >> PTX_ASM & 1;
    /* what the compiler does counts more than what the driver says: some say what their build machine had */
    if (info->type == GRAVEL_DEVICE_CPU && o.lanes > 0) {
        info->simd_width_float = o.lanes;
        info->simd_width_double = o.lanes / 2;
    }
    if (!(o.bits >> FP64 & 1)) {
        gv_device_hide_fp64(info);
    }
    snprintf(device->feature_options, sizeof device->feature_options, "%s%s%s%s%s",
             info->has_fp64 ? " -DGV_HAVE_FP64=1" : "", device->fast_fma ? " -DGV_FAST_FMA=1" : "",
             device->has_ptx_asm ? " -DGV_PTX_ASM=1" : "", device->has_rsqrt14 ? " -DGV_RSQRT14=1" : "",
             device->has_rsqrt12 ? " -DGV_RSQRT12=1" : "");
}

gravel_status gv_device_find_features(gravel_context *context, int device)
{
    gv_device *d = &context->device[device];
    gv_hasher hasher;
    gv_digest key;
    unsigned char *stored;
    outcome o;
    size_t size;
    char *text;

    d->driver_caches = strcmp(d->info.platform, "Portable Computing Language") == 0;
    /* always the embedded text: a folder of kernels that are being worked on has no say in what the device can do */
    gravel_status status = gv_source_flatten(NULL, "lib/features.cl", &text);
    if (status != GRAVEL_OK) {
        return status;
    }
    gv_hash_start(&hasher);
    gv_hash_text(&hasher, text);
    gv_device_hash(d, &hasher);
    gv_hash_add(&hasher, &d->info.has_fp64, sizeof d->info.has_fp64);
    gv_hash_end(&hasher, &key);
    /* another size would be another format, which the text in the key rules out */
    if (gv_cache_load(context, "features", &key, &stored, &size)) {
        o = (outcome){stored[0], size > 1 ? stored[1] : 0};
        free(stored);
    } else {
        int lasting;
        o = find(context, device, text, &lasting);
        if (lasting) {
            gv_cache_store(context, "features", &key, &o, sizeof o);
        }
    }
    free(text);
    take(d, o);
    return GRAVEL_OK;
}
