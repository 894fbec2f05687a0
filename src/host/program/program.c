#include "host/program/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/files.h"
#include "host/device/device.h"
#include "host/program/cache.h"

/* PoCL has a cache of its own, of machine code by source and group size (driver_caches).  For a binary it compiles
 * every kernel once more, for groups of any size, which no launch uses: that takes as long as the compilation itself
 * (for a force call 2 s in order 2, 5 in order 6), and saves each later start the compiler's front end (0.2 and 0.4 s).
 * So there the binary is made when a program is compiled for the twelfth time, by whatever process: by then as much
 * has been lost as it costs. */
enum { TIMES_TO_BINARY = 12 };

/* Every program is built with these; what else a kernel needs comes with its own options.  -w: some drivers print
 * warnings on the standard error of the process. */
#define STANDARD_OPTIONS "-cl-std=CL1.2 -w"

typedef struct built {
    struct built *next;
    gv_digest key;
    char *request; /* device, file and options: found without reading the file again */
    cl_program program;
} built;

struct gv_program_table {
    built *first;
};

static char *get_log(cl_program program, cl_device_id id)
{
    size_t size = 0;
    char *log = NULL;

    if (clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) == CL_SUCCESS && size > 1)
        log = calloc(size + 1, 1);
    if (log && clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, size, log, NULL) != CL_SUCCESS)
        log[0] = '\0';
    return log;
}

cl_int gv_program_compile(gravel_context *context, int device, const char *text, const char *options,
                          cl_program *program, char **log)
{
    cl_int code;
    cl_device_id id = context->device[device].id;

    *program = NULL;
    *log = NULL;
    cl_program made = clCreateProgramWithSource(context->cl, 1, &text, NULL, &code);
    if (!made)
        return code;
    code = clBuildProgram(made, 1, &id, options, NULL, NULL);
    *log = get_log(made, id);
    if (code == CL_SUCCESS)
        *program = made;
    else
        clReleaseProgram(made);
    return code;
}

/* Of a very long log the first errors and the last lines, which sum up, are kept. */
static void shorten(char *log)
{
    const size_t head = 24000, tail = 8000;
    size_t length = strlen(log);

    if (length > head + tail + 100) {
        char *cut = log + head;
        cut += snprintf(cut, 100, "\n[... %zu bytes of the log are left out ...]\n", length - head - tail);
        memmove(cut, log + length - tail, tail + 1);
    }
}

static gravel_status fail_build(const gv_device *device, const char *file, const char *options, cl_int code, char *log)
{
    if (log)
        shorten(log);
    if (code == CL_BUILD_PROGRAM_FAILURE || code == CL_INVALID_BUILD_OPTIONS || (log && log[0] != '\0')) {
        return gv_fail(GRAVEL_ERR_BUILD, "kernels/%s does not compile on %s (%s, driver %s): %s\noptions: %s\n%s", file,
                       device->info.name, device->info.platform, device->info.driver, gv_cl_error_name(code), options,
                       log && log[0] != '\0' ? log : "(the compiler left no log)");
    }
    return gv_fail_cl(code, "kernels/%s with options '%s' cannot be built on %s", file, options, device->info.name);
}

static void program_key(const gv_device *device, const char *text, const char *options, gv_digest *key)
{
    gv_hasher hasher;

    gv_hash_start(&hasher);
    gv_hash_text(&hasher, GRAVEL_VERSION);
    gv_device_hash(device, &hasher);
    gv_hash_text(&hasher, options);
    gv_hash_text(&hasher, text);
    gv_hash_end(&hasher, key);
}

/* The binary of the program's one device; malloc'd, NULL where there is none */
static unsigned char *get_binary(cl_program program, size_t *size)
{
    cl_uint n = 0;

    *size = 0;
    if (clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof n, &n, NULL) != CL_SUCCESS || n == 0)
        return NULL;
    /* a program lists all devices of its context; it is built for one of them, the others have size 0 */
    size_t *sizes = calloc(n, sizeof *sizes);
    unsigned char **binaries = calloc(n, sizeof *binaries);
    unsigned char *found = NULL;
    int ok = sizes && binaries &&
             clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, n * sizeof *sizes, sizes, NULL) == CL_SUCCESS;
    for (cl_uint i = 0; ok && i < n; i++) {
        binaries[i] = sizes[i] > 0 ? malloc(sizes[i]) : NULL;
        ok = sizes[i] == 0 || binaries[i];
    }
    ok = ok && clGetProgramInfo(program, CL_PROGRAM_BINARIES, n * sizeof *binaries, binaries, NULL) == CL_SUCCESS;
    for (cl_uint i = 0; binaries && i < n; i++) {
        if (ok && binaries[i] && !found) {
            found = binaries[i];
            *size = sizes[i];
        } else {
            free(binaries[i]);
        }
    }
    free(binaries);
    free(sizes);
    return found;
}

static int keeps_binaries(const gravel_context *context, int device)
{
    return gv_cache_has_folder(context) && !(context->for_once && context->device[device].driver_caches);
}

/* Whether the binary is made this time; if not, the time is counted. */
static int binary_pays(gravel_context *context, int device, const gv_digest *key)
{
    unsigned char *before, times = 1;
    size_t size;

    if (!context->device[device].driver_caches)
        return 1;
    if (gv_cache_load(context, "times", key, &before, &size)) {
        times = (unsigned char)(before[0] + 1);
        free(before);
    }
    if (times >= TIMES_TO_BINARY)
        return 1;
    gv_cache_store(context, "times", key, &times, sizeof times);
    return 0;
}

static cl_program from_cache(gravel_context *context, int device, const gv_digest *key, const char *options)
{
    unsigned char *data;
    size_t size;
    cl_int code, state = CL_SUCCESS;
    cl_device_id id = context->device[device].id;

    if (!gv_cache_load(context, "program", key, &data, &size))
        return NULL;
    const unsigned char *binary = data;
    cl_program program = clCreateProgramWithBinary(context->cl, 1, &id, &size, &binary, &state, &code);
    free(data);
    if (program && (code != CL_SUCCESS || state != CL_SUCCESS ||
                    clBuildProgram(program, 1, &id, options, NULL, NULL) != CL_SUCCESS)) {
        clReleaseProgram(program);
        program = NULL;
    }
    if (!program)
        gv_log(context, GRAVEL_LOG_DEBUG, "the driver does not take its own binary back; compiling again");
    return program;
}

static gravel_status compile(gravel_context *context, int device, const char *file, const char *text,
                             const char *options, const gv_digest *key, cl_program *program)
{
    char *log;
    size_t size;

    cl_int code = gv_program_compile(context, device, text, options, program, &log);
    if (code != CL_SUCCESS) {
        gravel_status status = fail_build(&context->device[device], file, options, code, log);
        free(log);
        return status;
    }
    /* also the compiler's warnings on a successful build */
    gv_log(context, GRAVEL_LOG_DEBUG, "compiled kernels/%s with %s%s%s", file, options, log && log[0] ? "\n" : "",
           log ? log : "");
    free(log);
    unsigned char *binary =
        keeps_binaries(context, device) && binary_pays(context, device, key) ? get_binary(*program, &size) : NULL;
    if (binary) {
        gv_cache_store(context, "program", key, binary, size);
        free(binary);
    }
    return GRAVEL_OK;
}

static built *find_request(gravel_context *context, const char *request)
{
    for (built *b = context->programs ? context->programs->first : NULL; b; b = b->next)
        if (strcmp(b->request, request) == 0)
            return b;
    return NULL;
}

static built *find_key(gravel_context *context, const gv_digest *key)
{
    for (built *b = context->programs ? context->programs->first : NULL; b; b = b->next)
        if (memcmp(b->key.byte, key->byte, sizeof key->byte) == 0)
            return b;
    return NULL;
}

/* Takes over ownership of `request`, also on failure. */
static gravel_status remember(gravel_context *context, char *request, const gv_digest *key, cl_program program)
{
    built *b = calloc(1, sizeof *b);

    if (!context->programs)
        context->programs = calloc(1, sizeof *context->programs);
    if (!b || !context->programs) {
        free(b);
        free(request);
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the table of programs");
    }
    b->key = *key;
    b->request = request;
    b->program = program;
    b->next = context->programs->first;
    context->programs->first = b;
    return GRAVEL_OK;
}

static gravel_status get_program(gravel_context *context, int device, const char *file, const char *options,
                                 char *request, cl_program *program)
{
    char *text;
    gv_digest key;

    gravel_status status = gv_source_flatten(context->kernel_dir, file, &text);
    if (status != GRAVEL_OK) {
        free(request);
        return status;
    }
    program_key(&context->device[device], text, options, &key);
    /* the device's number is part of the request, not of the key: equal devices share binaries on disk only */
    gv_hasher hasher;
    gv_digest own;
    gv_hash_start(&hasher);
    gv_hash_add(&hasher, key.byte, sizeof key.byte);
    gv_hash_add(&hasher, &device, sizeof device);
    gv_hash_end(&hasher, &own);
    built *known = find_key(context, &own);
    if (known) {
        *program = known->program;
        free(request);
        free(text);
        return GRAVEL_OK;
    }
    const int keeps = keeps_binaries(context, device);
    *program = keeps ? from_cache(context, device, &key, options) : NULL;
    if (!*program) {
        /* one process compiles, the others take what it has kept; PoCL 3.1 can crash where two build one program */
        const int lock = keeps ? gv_cache_lock(context, &key) : -1;
        *program = lock >= 0 ? from_cache(context, device, &key, options) : NULL;
        if (!*program)
            status = compile(context, device, file, text, options, &key, program);
        gv_file_unlock(lock);
    }
    free(text);
    if (status != GRAVEL_OK) {
        free(request);
        return status;
    }
    status = remember(context, request, &own, *program);
    if (status != GRAVEL_OK) {
        clReleaseProgram(*program);
        *program = NULL;
    }
    return status;
}

gravel_status gv_program_get(gravel_context *context, int device, const char *file, const char *options,
                             cl_program *program)
{
    const gv_device *target = &context->device[device];

    *program = NULL;
    char *all = gv_format("%s %s %s", STANDARD_OPTIONS, target->feature_options, options ? options : "");
    char *request = all ? gv_format("%d %s %s", device, file, all) : NULL;
    if (!request) {
        free(all);
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the options of kernels/%s", file);
    }
    pthread_mutex_lock(&context->lock);
    /* files in a folder may have been edited since; embedded ones cannot */
    built *known = context->kernel_dir && context->kernel_dir[0] != '\0' ? NULL : find_request(context, request);
    gravel_status status = GRAVEL_OK;
    if (known) {
        *program = known->program;
        free(request);
    } else {
        status = get_program(context, device, file, all, request, program);
    }
    pthread_mutex_unlock(&context->lock);
    free(all);
    return status;
}

void gv_program_table_release(gravel_context *context)
{
    built *next;

    if (!context->programs)
        return;
    for (built *b = context->programs->first; b; b = next) {
        next = b->next;
        clReleaseProgram(b->program);
        free(b->request);
        free(b);
    }
    free(context->programs);
    context->programs = NULL;
}
