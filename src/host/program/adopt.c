/* Contexts on the caller's OpenCL objects, and ours handed out. */
#include "host/base/cl.h"

#include <stdlib.h>

#include "gravel/opencl.h"
#include "host/device/device.h"
#include "host/program/program.h"

static gravel_status fail_adopt(const char *why)
{
    return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_context_adopt: %s", why);
}

static int has_device(cl_context cl, cl_device_id device)
{
    cl_device_id *list = NULL;
    size_t size = 0;
    int found = 0;
    if (clGetContextInfo(cl, CL_CONTEXT_DEVICES, 0, NULL, &size) == CL_SUCCESS)
        list = malloc(size);
    if (list && clGetContextInfo(cl, CL_CONTEXT_DEVICES, size, list, NULL) == CL_SUCCESS)
        for (size_t k = 0; k < size / sizeof *list; k++)
            found |= list[k] == device;
    free(list);
    return found;
}

/* *profiling: whether the queue times its commands */
static gravel_status check_queue(cl_context cl, cl_device_id device, cl_command_queue queue, int *profiling)
{
    cl_command_queue_properties properties = 0;
    cl_context of_context = NULL;
    cl_device_id of_device = NULL;
    cl_int code = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof of_context, &of_context, NULL);
    if (!code)
        code = clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof of_device, &of_device, NULL);
    if (!code)
        code = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    if (code)
        return gv_fail_cl(code, "gravel_context_adopt: the queue cannot be queried");
    if (of_context != cl || of_device != device)
        return fail_adopt("the queue is of another context or device");
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        return fail_adopt("the queue works out of order; gravel needs one that is in order");
    *profiling = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
    return GRAVEL_OK;
}

/* The device as the list of gravel_device_list has it; sub-devices are not in there. */
static gravel_status describe(gravel_context *context, cl_device_id id)
{
    gv_device *device = &context->device[0];
    char name[GRAVEL_NAME_SIZE] = "";
    cl_device_id parent = NULL;
    cl_int code = clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof context->platform, &context->platform, NULL);
    if (!code)
        code = clGetPlatformInfo(context->platform, CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
    if (code)
        return gv_fail_cl(code, "gravel_context_adopt: the device cannot be queried");
    if (clGetDeviceInfo(id, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, NULL) == CL_SUCCESS && parent) {
        clRetainDevice(id);
        device->is_sub_device = 1;
    }
    device->id = id;
    device->is_callers = 1;
    gravel_status status = gv_device_describe(id, name, &device->info);
    device->info.index = -1;
    return status;
}

/* The caller's queue is all there is for kernels: what is on two queues has no order.  So with profiling on it all work
 * is timed, without none can be. */
static gravel_status make_queues(gravel_context *context, cl_command_queue queue, int profiling)
{
    gv_device *device = &context->device[0];
    cl_int code = CL_SUCCESS;
    if (queue) {
        clRetainCommandQueue(queue);
        device->quick = queue;
        if (profiling && (code = clRetainCommandQueue(queue)) == CL_SUCCESS)
            device->timed = queue;
    } else {
        device->timed = clCreateCommandQueue(context->cl, device->id, CL_QUEUE_PROFILING_ENABLE, &code);
        if (!code)
            device->quick = clCreateCommandQueue(context->cl, device->id, 0, &code);
    }
    device->compute = device->quick;
    if (!code)
        device->copy = clCreateCommandQueue(context->cl, device->id, 0, &code);
    return code ? gv_fail_cl(code, "no command queue can be made on %s", device->info.name) : GRAVEL_OK;
}

static gravel_status take_over(gravel_context *made, cl_context cl, cl_device_id device, cl_command_queue queue,
                               int profiling, int no_fp64)
{
    made->device = calloc(1, sizeof *made->device);
    if (!made->device)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a device");
    made->n_devices = 1;
    made->cl = cl;
    clRetainContext(cl);
    gravel_status status = describe(made, device);
    if (no_fp64)
        gv_device_hide_fp64(&made->device[0].info);
    if (!status)
        status = make_queues(made, queue, profiling);
    return status ? status : gv_device_find_features(made, 0);
}

gravel_status gravel_context_adopt(gravel_context **context, cl_context cl, cl_device_id device, cl_command_queue queue,
                                   const gravel_context_options *options)
{
    gravel_context *made;
    int profiling = 0;
    if (!context)
        return fail_adopt("there is no place for the context");
    *context = NULL;
    if (!cl || !device)
        return fail_adopt("there is no OpenCL context or no device");
    if (!has_device(cl, device))
        return fail_adopt("the device is not in the OpenCL context");
    gravel_status status = queue ? check_queue(cl, device, queue, &profiling) : GRAVEL_OK;
    if (!status)
        status = gv_context_begin(&made, options);
    if (status)
        return status;
    status = take_over(made, cl, device, queue, profiling, options && options->no_fp64);
    if (status) {
        gravel_context_release(made);
        return status;
    }
    *context = made;
    return GRAVEL_OK;
}

cl_context gravel_context_get_cl(const gravel_context *context)
{
    return context ? context->cl : NULL;
}

static const gv_device *device_of(const gravel_context *context, int device)
{
    return context && device >= 0 && device < context->n_devices ? &context->device[device] : NULL;
}

cl_device_id gravel_context_get_cl_device(const gravel_context *context, int device)
{
    const gv_device *found = device_of(context, device);
    return found ? found->id : NULL;
}

cl_command_queue gravel_context_get_cl_queue(const gravel_context *context, int device)
{
    const gv_device *found = device_of(context, device);
    return found ? found->compute : NULL;
}
