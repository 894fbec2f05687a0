#include "host/program/times.h"

#include <stdlib.h>
#include <string.h>

#include "host/program/launch.h"

/* Events are read when so many wait: by then the first ones are over. */
enum { NAMES = 128, WAITING = 1024 };

struct gv_times {
    pthread_mutex_t lock;
    gv_kernel_time kernel[NAMES];
    size_t kernels;
    struct {
        size_t kernel;
        cl_event event;
    } waiting[WAITING];
    size_t count;
};

/* The events that wait, in the order of their launches; a queue in order ends them so, too. */
static void read_waiting(gv_times *t)
{
    for (size_t k = 0; k < t->count; k++) {
        cl_ulong start = 0, end = 0;
        cl_event event = t->waiting[k].event;
        if (clWaitForEvents(1, &event) == CL_SUCCESS &&
            clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) == CL_SUCCESS &&
            clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) == CL_SUCCESS)
            t->kernel[t->waiting[k].kernel].seconds += (double)(end - start) * 1e-9;
        clReleaseEvent(event);
    }
    t->count = 0;
}

static size_t find_kernel(gv_times *t, const char *name)
{
    size_t k = 0;
    while (k < t->kernels && strcmp(t->kernel[k].name, name) != 0)
        k++;
    if (k == t->kernels && k < NAMES - 1)
        strcpy(t->kernel[t->kernels++].name, name);
    if (k < t->kernels)
        return k;
    strcpy(t->kernel[NAMES - 1].name, "others");
    t->kernels = NAMES;
    return NAMES - 1;
}

void gv_times_add(gv_times *t, cl_kernel kernel, cl_event event)
{
    char name[sizeof t->kernel[0].name] = "?";
    clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    pthread_mutex_lock(&t->lock);
    if (t->count == WAITING)
        read_waiting(t);
    const size_t k = find_kernel(t, name);
    t->kernel[k].launches++;
    clRetainEvent(event);
    t->waiting[t->count].kernel = k;
    t->waiting[t->count++].event = event;
    pthread_mutex_unlock(&t->lock);
}

void gv_times_release(gv_times *t)
{
    if (!t)
        return;
    for (size_t k = 0; k < t->count; k++)
        clReleaseEvent(t->waiting[k].event);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

gravel_status gv_times_start(gravel_context *context, int device)
{
    gravel_status status = gv_device_set_timing(context, device, 1);
    gv_times *made = status ? NULL : calloc(1, sizeof *made);
    if (status || !made)
        return status ? status : gv_fail(GRAVEL_ERR_MEMORY, "no memory for the times of kernels");
    pthread_mutex_init(&made->lock, NULL);
    gv_times_release(context->device[device].times);
    context->device[device].times = made;
    return GRAVEL_OK;
}

static int longer(const void *a, const void *b)
{
    const double x = ((const gv_kernel_time *)a)->seconds, y = ((const gv_kernel_time *)b)->seconds;
    return (y > x) - (y < x);
}

gravel_status gv_times_read(gravel_context *context, int device, gv_kernel_time *list, size_t most, size_t *count)
{
    gv_times *t = context->device[device].times;
    gv_kernel_time sorted[NAMES];
    *count = 0;
    if (!t)
        return gv_fail(GRAVEL_ERR_STATE, "kernels were not timed");
    pthread_mutex_lock(&t->lock);
    read_waiting(t);
    memcpy(sorted, t->kernel, t->kernels * sizeof *sorted);
    *count = t->kernels;
    pthread_mutex_unlock(&t->lock);
    qsort(sorted, *count, sizeof *sorted, longer);
    memcpy(list, sorted, (*count < most ? *count : most) * sizeof *list);
    return GRAVEL_OK;
}
