#include "host/device/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/base/files.h"
#include "host/base/options.h"
#include "host/device/device.h"
#include "host/program/times.h"
#include "host/program/launch.h"
#include "host/program/program.h"

void gv_log(gravel_context *context, gravel_log_level level, const char *format, ...)
{
    char place[1024];
    va_list arguments, again;

    if (!context->log)
        return;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(place, sizeof place, format, arguments);
    char *text = length >= (int)sizeof place ? malloc((size_t)length + 1) : NULL;
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    context->log(level, text ? text : place, context->log_user);
    free(text);
    va_end(again);
    va_end(arguments);
}

/* The option, else the environment variable, else the user's folder; NULL: there is none, or no memory (*ok = 0) */
static char *choose_folder(const char *option, const char *variable, const char *xdg, const char *below_home,
                           const char *name, int *ok)
{
    const char *given = option ? option : gv_env(variable);
    char *folder;

    if (given)
        folder = gv_format("%s", given);
    else if (xdg && (gv_env(xdg) || gv_env("HOME")))
        folder = gv_user_folder(xdg, below_home, name);
    else
        return NULL;
    *ok = *ok && folder;
    return folder;
}

static gravel_status choose_folders(gravel_context *context, const gravel_context_options *options)
{
    int ok = 1;

    context->kernel_dir = choose_folder(options->kernel_dir, "GRAVEL_KERNEL_DIR", NULL, NULL, NULL, &ok);
    context->cache_dir =
        choose_folder(options->cache_dir, "GRAVEL_CACHE_DIR", "XDG_CACHE_HOME", ".cache", "programs", &ok);
    context->profile_dir =
        choose_folder(options->profile_dir, "GRAVEL_PROFILE_DIR", "XDG_DATA_HOME", ".local/share", "profiles", &ok);
    return ok ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no memory for the names of folders");
}

/* The parts of one device: every choice of this index, in their order; the sub-devices are owned by the context. */
static gravel_status make_sub_devices(const gv_found *found, const gv_choice *choice, gravel_context *context,
                                      int first)
{
    cl_device_partition_property wanted[GV_MAX_CHOICES + 3] = {CL_DEVICE_PARTITION_BY_COUNTS};
    cl_device_id ids[GV_MAX_CHOICES];
    cl_uint count = 0, made = 0, at = 0;
    gravel_status status = GRAVEL_OK;

    for (int i = first; i < context->n_devices; i++)
        if (choice[i].index == choice[first].index)
            wanted[++count] = choice[i].compute_units;
    wanted[count + 1] = CL_DEVICE_PARTITION_BY_COUNTS_LIST_END;
    cl_int code = clCreateSubDevices(found->id, wanted, count, ids, &made);
    if (code != CL_SUCCESS || made != count) {
        gv_fail_cl(code != CL_SUCCESS ? code : CL_DEVICE_PARTITION_FAILED,
                   "%s cannot be divided into parts, the first of %d compute units", found->info.name,
                   choice[first].compute_units);
        return GRAVEL_ERR_UNSUPPORTED;
    }
    for (int i = first; i < context->n_devices; i++) {
        gv_device *device = &context->device[i];
        if (choice[i].index != choice[first].index)
            continue;
        device->id = ids[at++];
        device->is_sub_device = 1;
        gravel_status one = gv_device_describe(device->id, found->info.platform, &device->info);
        device->info.index = found->info.index;
        status = status == GRAVEL_OK ? one : status;
    }
    return status;
}

static gravel_status take_devices(gravel_context *context, const gv_found *found, const gv_choice *choice, int n,
                                  int no_fp64)
{
    gravel_status status = GRAVEL_OK;

    context->device = calloc((size_t)n, sizeof *context->device);
    if (!context->device)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for %d devices", n);
    context->n_devices = n;
    context->platform = found[choice[0].index].platform;
    for (int i = 0; status == GRAVEL_OK && i < n; i++) {
        const gv_found *f = &found[choice[i].index];
        gv_device *device = &context->device[i];
        if (f->platform != context->platform) {
            status = gv_fail(GRAVEL_ERR_ARGUMENT, "a context holds devices of one platform; %s is of another than %s",
                             f->info.name, context->device[0].info.name);
        } else if (choice[i].compute_units == 0) {
            device->info = f->info;
            device->id = f->id;
        } else if (!device->is_sub_device) {
            status = make_sub_devices(f, choice, context, i);
        }
        if (no_fp64)
            gv_device_hide_fp64(&device->info);
    }
    return status;
}

static gravel_status choose_devices(gravel_context *context, const gravel_context_options *options)
{
    const char *selection = options->device ? options->device : gv_env("GRAVEL_DEVICE");
    gv_choice choice[GV_MAX_CHOICES];
    gv_found *found;
    int count, n;

    gravel_status status = gv_device_find(&found, &count);
    if (status != GRAVEL_OK)
        return status;
    gravel_device_info *list = calloc((size_t)count, sizeof *list);
    if (!list) {
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for the list of devices");
        goto out;
    }
    for (int i = 0; i < count; i++)
        list[i] = found[i].info;
    status = gv_device_select(selection, list, count, choice, &n);
    if (status == GRAVEL_OK)
        status = take_devices(context, found, choice, n, options->no_fp64);
out:
    free(list);
    free(found);
    return status;
}

static gravel_status open_devices(gravel_context *context)
{
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)context->platform, 0};
    cl_device_id ids[GV_MAX_CHOICES];
    gravel_status status = GRAVEL_OK;
    cl_int code;

    for (int i = 0; i < context->n_devices; i++)
        ids[i] = context->device[i].id;
    context->cl = clCreateContext(properties, (cl_uint)context->n_devices, ids, NULL, NULL, &code);
    if (!context->cl)
        return gv_fail_cl(code, "%s cannot be opened", context->device[0].info.name);
    for (int i = 0; status == GRAVEL_OK && i < context->n_devices; i++) {
        gv_device *device = &context->device[i];
        device->timed = clCreateCommandQueue(context->cl, device->id, CL_QUEUE_PROFILING_ENABLE, &code);
        if (device->timed)
            device->quick = clCreateCommandQueue(context->cl, device->id, 0, &code);
        if (device->quick)
            device->copy = clCreateCommandQueue(context->cl, device->id, 0, &code);
        device->compute = device->quick;
        status = device->copy ? gv_device_find_features(context, i)
                              : gv_fail_cl(code, "no command queue can be made on %s", device->info.name);
    }
    return status;
}

void gravel_context_options_init(gravel_context_options *options)
{
    *options = (gravel_context_options)GRAVEL_CONTEXT_OPTIONS_INIT;
}

gravel_status gv_context_begin(gravel_context **context, const gravel_context_options *options)
{
    gravel_context_options taken = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_status status = gv_options_take(&taken, sizeof taken, options, "gravel_context_options");
    if (status)
        return status;
    gravel_context *made = calloc(1, sizeof *made);
    if (!made)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a context");
    pthread_mutex_init(&made->lock, NULL);
    pthread_mutex_init(&made->profile_lock, NULL);
    made->log = taken.log;
    made->log_user = taken.log_user;
    const char *bad = gv_pool_bad_request();
    if (bad)
        gv_log(made, GRAVEL_LOG_WARNING,
               "GRAVEL_THREADS=%.40s is no whole number from 1 on: threads are counted as usual", bad);
    status = choose_folders(made, &taken);
    if (status) {
        gravel_context_release(made);
        return status;
    }
    *context = made;
    return GRAVEL_OK;
}

gravel_status gravel_context_create(gravel_context **context, const gravel_context_options *options)
{
    gravel_context_options taken = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *made;

    if (!context)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_context_create: context must not be NULL");
    *context = NULL;
    gravel_status status = gv_options_take(&taken, sizeof taken, options, "gravel_context_options");
    if (status == GRAVEL_OK)
        status = gv_context_begin(&made, &taken);
    if (status)
        return status;
    status = choose_devices(made, &taken);
    if (status == GRAVEL_OK)
        status = open_devices(made);
    if (status != GRAVEL_OK) {
        gravel_context_release(made);
        return status;
    }
    *context = made;
    return GRAVEL_OK;
}

/* PoCL's worker threads release a finished command's event, and with it the queue, a moment after the command has
 * finished for the host.  A queue must not outlive its sub-device there, so this waits until no other reference to the
 * queue is left. */
static void release_queue(cl_command_queue queue, int wait)
{
    const struct timespec pause = {0, 50000};
    cl_uint holders = 1;

    if (!queue)
        return;
    if (wait) {
        clFinish(queue);
        for (int i = 0; i < 2000; i++) { /* gives up after some 0.1 s: a leaked event must not make this hang */
            if (clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof holders, &holders, NULL) != CL_SUCCESS ||
                holders <= 1)
                break;
            nanosleep(&pause, NULL);
        }
    }
    clReleaseCommandQueue(queue);
}

void gravel_context_release(gravel_context *context)
{
    if (!context)
        return;
    if (context->release_profiles)
        context->release_profiles(context);
    gv_program_table_release(context);
    for (int i = 0; i < context->n_devices; i++) {
        const gv_device *device = &context->device[i];
        const int wait = device->is_sub_device && !device->is_callers;
        gv_times_release(device->times);
        release_queue(device->quick, wait);
        release_queue(device->copy, wait);
        release_queue(device->timed, wait);
    }
    if (context->cl)
        clReleaseContext(context->cl);
    for (int i = 0; i < context->n_devices; i++)
        if (context->device[i].is_sub_device)
            clReleaseDevice(context->device[i].id);
    free(context->device);
    free(context->kernel_dir);
    free(context->cache_dir);
    free(context->profile_dir);
    gv_pool_release(context->pool);
    pthread_mutex_destroy(&context->profile_lock);
    pthread_mutex_destroy(&context->lock);
    free(context);
}

gv_pool *gv_context_pool(gravel_context *context)
{
    pthread_mutex_lock(&context->lock);
    if (!context->pool_made)
        context->pool = gv_pool_create_share(context->processes);
    context->pool_made = 1;
    pthread_mutex_unlock(&context->lock);
    return context->pool;
}

void gv_context_share_cores(gravel_context *context, int processes)
{
    context->processes = processes;
}

int gravel_context_get_device_count(const gravel_context *context)
{
    return context ? context->n_devices : 0;
}

const gravel_device_info *gravel_context_get_device(const gravel_context *context, int device)
{
    return context && device >= 0 && device < context->n_devices ? &context->device[device].info : NULL;
}

gravel_status gravel_context_set_timing(gravel_context *context, int device, int on)
{
    if (!context || device < 0 || device >= context->n_devices)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_context_set_timing: no context, or device %d is not in it", device);
    return gv_device_set_timing(context, device, on);
}
