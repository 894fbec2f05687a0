#include "host/tasks/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/options.h"

void gravel_tasks_options_init(gravel_tasks_options *options)
{
    *options = (gravel_tasks_options)GRAVEL_TASKS_OPTIONS_INIT;
}

void gravel_task_list_init(gravel_task_list *list)
{
    *list = (gravel_task_list)GRAVEL_TASK_LIST_INIT;
}

void gravel_tasks_call_init(gravel_tasks_call *call)
{
    *call = (gravel_tasks_call)GRAVEL_TASKS_CALL_INIT;
}

/* ----------------------------------------------------------------- kernels */

gravel_status gv_tasks_reserve(gravel_tasks *tasks, gv_tasks_buffer which, size_t size, const char *what)
{
    return gv_buffer_reserve(&tasks->worker, &tasks->buffer[which], size > 0 ? size : 16, what);
}

gravel_status gv_tasks_kernel_of(gravel_tasks *tasks, const char *file, const char *name, const char *options,
                                 cl_kernel *kernel)
{
    for (int k = 0; k < tasks->kernels; k++)
        if (strcmp(tasks->kernel[k].name, name) == 0 && strcmp(tasks->kernel[k].options, options) == 0) {
            *kernel = tasks->kernel[k].kernel;
            return GRAVEL_OK;
        }
    gv_tasks_kernel made = {.name = name};
    snprintf(made.options, sizeof made.options, "%s", options);
    gravel_status status = gv_kernel_make(&tasks->worker, file, options, name, &made.kernel);
    if (status)
        return status;
    if (tasks->kernels == GV_TASKS_KERNELS) { /* calls of many kinds: the one made first goes */
        clReleaseKernel(tasks->kernel[0].kernel);
        memmove(tasks->kernel, tasks->kernel + 1, (GV_TASKS_KERNELS - 1) * sizeof *tasks->kernel);
        tasks->kernels--;
    }
    tasks->kernel[tasks->kernels++] = made;
    *kernel = made.kernel;
    return GRAVEL_OK;
}

/* -------------------------------------------------------------------- life */

static gravel_status check_device(const gravel_context *context, const gravel_tasks_options *options)
{
    if ((unsigned)options->precision > GRAVEL_DP)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there is no precision %d", (int)options->precision);
    if (options->device < 0 || options->device >= context->n_devices)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "device %d is not in this context (it has %d)", options->device,
                       context->n_devices);
    if (options->precision == GRAVEL_DP && !context->device[options->device].info.has_fp64)
        return gv_fail(GRAVEL_ERR_UNSUPPORTED, "%s has no double precision: use tasks in sp or ds",
                       context->device[options->device].info.name);
    return GRAVEL_OK;
}

static gravel_status start(gravel_tasks *tasks, const char *configuration)
{
    gv_config config;
    gravel_status status = GRAVEL_OK;
    if (configuration) {
        tasks->configuration = malloc(strlen(configuration) + 1);
        if (!tasks->configuration)
            return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for tasks");
        strcpy(tasks->configuration, configuration);
        gv_tasks_space.built_in(&config, &tasks->variant, &tasks->limits, 32, 0);
        status = gv_space_parse(&gv_tasks_space, configuration, &config);
    }
    return status ? status : gv_sort_make(&tasks->sort, &tasks->worker, 32, NULL);
}

gravel_status gravel_tasks_create(gravel_tasks **out, gravel_context *context, const gravel_tasks_options *options)
{
    gravel_tasks_options taken = GRAVEL_TASKS_OPTIONS_INIT;
    if (!out || !context)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tasks_create needs a place for the tasks and a context");
    *out = NULL;
    gravel_status status = gv_options_take(&taken, sizeof taken, options, "gravel_tasks_options");
    if (!status)
        status = check_device(context, &taken);
    if (status)
        return status;
    gravel_tasks *tasks = calloc(1, sizeof *tasks);
    if (!tasks)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for tasks");
    tasks->worker.context = context;
    tasks->worker.device = taken.device;
    tasks->limits = gv_limits_of(context, taken.device);
    tasks->scalar = taken.precision == GRAVEL_DP ? 8 : 4;
    tasks->words = taken.precision == GRAVEL_DS ? 2 : 1;
    tasks->group = tasks->limits.info.type == GRAVEL_DEVICE_CPU ? 16 : 64;
    gv_variant_set(&tasks->variant, 2, taken.precision, 0);
    status = start(tasks, taken.configuration);
    tasks->options = taken;
    tasks->options.configuration = tasks->configuration;
    if (status)
        gravel_tasks_release(tasks);
    else
        *out = tasks;
    return status;
}

void gravel_tasks_release(gravel_tasks *tasks)
{
    if (!tasks)
        return;
    clFinish(gv_worker_queue(&tasks->worker));
    gv_tasks_release_tickets(tasks);
    gv_sort_release(&tasks->sort);
    for (int k = 0; k < GV_TAB_COUNT; k++)
        gv_buffer_release(&tasks->buffer[k]);
    for (int k = 0; k < tasks->kernels; k++)
        clReleaseKernel(tasks->kernel[k].kernel);
    gv_worker_clear(&tasks->worker);
    free(tasks->configuration);
    free(tasks);
}

/* ----------------------------------------------------------------- queries */

gravel_status gravel_tasks_get_counts(const gravel_tasks *tasks, gravel_tasks_counts *counts)
{
    if (!tasks || !counts)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tasks_get_counts needs tasks and a place for the counts");
    *counts = tasks->counts;
    return GRAVEL_OK;
}

gravel_status gravel_tasks_get_configuration(const gravel_tasks *tasks, char *text, size_t size, gravel_origin *origin)
{
    if (!tasks || !text || size == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tasks_get_configuration needs tasks and a place for the text");
    if (!tasks->has_list)
        return gv_fail(GRAVEL_ERR_STATE, "the configuration follows from the leaves: gravel_tasks_write comes first");
    gv_space_format(&gv_tasks_space, &tasks->config, text, size);
    if (origin)
        *origin = tasks->origin;
    return GRAVEL_OK;
}

gravel_status gravel_tasks_get_kernel_time(gravel_tasks *tasks, double *seconds)
{
    if (!tasks || !seconds)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tasks_get_kernel_time needs tasks and a place for the time");
    return gv_worker_seconds(&tasks->worker, 0, seconds);
}

size_t gravel_tasks_get_memory(const gravel_tasks *tasks)
{
    size_t sum = tasks ? gv_sort_memory(&tasks->sort) : 0;
    for (int k = 0; tasks && k < GV_TAB_COUNT; k++)
        sum += tasks->buffer[k].size;
    return sum;
}
