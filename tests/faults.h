/* OpenCL calls that fail: a program that includes this defines the OpenCL functions below itself; they count, fail when
 * it is their turn, and else go to the loader's.  Objects are counted from their creation to their release. */
#ifndef GV_FAULTS_H
#define GV_FAULTS_H

#include "host/base/cl.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Several devices are called by several threads: all that changes here is atomic. */
static atomic_int countdown;    /* the call that fails: 1 = the next; 0 = none */
static atomic_int live_objects; /* contexts, queues, programs, kernels, buffers, events, mappings, sub-devices */
static _Atomic(const char *) failed_call;
static atomic_int fails_late; /* a kernel that fails is started, does nothing, and the next wait for its queue fails */
static _Atomic(cl_command_queue) lost_queue; /* that queue */

static int fails(const char *name)
{
    int left = countdown;
    while (left > 0 && !atomic_compare_exchange_weak(&countdown, &left, left - 1))
        ;
    if (left != 1)
        return 0;
    failed_call = name;
    return 1;
}

/* By dlopen: with all its functions defined here, the linker may leave the loader out. */
static void *real(const char *name)
{
    static void *library;
    void *function = NULL;

    if (!library)
        library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (library)
        function = dlsym(library, name);
    if (!function) {
        fprintf(stderr, "libOpenCL.so.1 has no %s\n", name);
        abort();
    }
    return function;
}

/* a function that returns a code */
#define FAULTY(name, parameters, arguments, error)                                                                     \
    cl_int name parameters                                                                                             \
    {                                                                                                                  \
        cl_int(*next) parameters;                                                                                      \
        if (fails(#name)) {                                                                                            \
            return error;                                                                                              \
        }                                                                                                              \
        *(void **)&next = real(#name);                                                                                 \
        return next arguments;                                                                                         \
    }
/* a command, which makes an event if `event` is not NULL */
#define FAULTY_COMMAND(name, parameters, arguments, error)                                                             \
    cl_int name parameters                                                                                             \
    {                                                                                                                  \
        cl_int(*next) parameters;                                                                                      \
        if (fails(#name)) {                                                                                            \
            return error;                                                                                              \
        }                                                                                                              \
        *(void **)&next = real(#name);                                                                                 \
        cl_int code = next arguments;                                                                                  \
        live_objects += code == CL_SUCCESS && event;                                                                   \
        return code;                                                                                                   \
    }
/* a function that makes an object; the last argument is `code` */
#define FAULTY_MAKER(type, name, parameters, arguments, error)                                                         \
    type name parameters                                                                                               \
    {                                                                                                                  \
        type(*next) parameters;                                                                                        \
        if (fails(#name)) {                                                                                            \
            if (code) {                                                                                                \
                *code = error;                                                                                         \
            }                                                                                                          \
            return NULL;                                                                                               \
        }                                                                                                              \
        *(void **)&next = real(#name);                                                                                 \
        type made = next arguments;                                                                                    \
        live_objects += made != NULL;                                                                                  \
        return made;                                                                                                   \
    }
#define COUNTED_RELEASE(name, type)                                                                                    \
    cl_int name(type object)                                                                                           \
    {                                                                                                                  \
        cl_int (*next)(type);                                                                                          \
        live_objects--;                                                                                                \
        *(void **)&next = real(#name);                                                                                 \
        return next(object);                                                                                           \
    }

FAULTY(clGetPlatformIDs, (cl_uint room, cl_platform_id *ids, cl_uint *n), (room, ids, n), CL_OUT_OF_HOST_MEMORY)
FAULTY(clGetDeviceIDs, (cl_platform_id p, cl_device_type type, cl_uint room, cl_device_id *ids, cl_uint *n),
       (p, type, room, ids, n), CL_DEVICE_NOT_FOUND)
FAULTY(clGetDeviceInfo, (cl_device_id id, cl_device_info what, size_t room, void *value, size_t *size),
       (id, what, room, value, size), CL_INVALID_VALUE)
FAULTY(clGetPlatformInfo, (cl_platform_id id, cl_platform_info what, size_t room, void *value, size_t *size),
       (id, what, room, value, size), CL_INVALID_VALUE)
FAULTY(clBuildProgram,
       (cl_program p, cl_uint n, const cl_device_id *ids, const char *options,
        void(CL_CALLBACK *notify)(cl_program, void *), void *user),
       (p, n, ids, options, notify, user), CL_BUILD_PROGRAM_FAILURE)
FAULTY(clGetProgramInfo, (cl_program p, cl_program_info what, size_t room, void *value, size_t *size),
       (p, what, room, value, size), CL_INVALID_VALUE)
FAULTY(clGetProgramBuildInfo,
       (cl_program p, cl_device_id id, cl_program_build_info what, size_t room, void *value, size_t *size),
       (p, id, what, room, value, size), CL_INVALID_VALUE)
FAULTY(clSetKernelArg, (cl_kernel k, cl_uint at, size_t size, const void *value), (k, at, size, value),
       CL_INVALID_ARG_SIZE)
FAULTY(clGetKernelWorkGroupInfo,
       (cl_kernel k, cl_device_id id, cl_kernel_work_group_info what, size_t room, void *value, size_t *size),
       (k, id, what, room, value, size), CL_INVALID_VALUE)
FAULTY_COMMAND(clEnqueueReadBuffer,
               (cl_command_queue q, cl_mem m, cl_bool block, size_t at, size_t size, void *to, cl_uint n,
                const cl_event *wait, cl_event *event),
               (q, m, block, at, size, to, n, wait, event), CL_OUT_OF_RESOURCES)
FAULTY_COMMAND(clEnqueueWriteBuffer,
               (cl_command_queue q, cl_mem m, cl_bool block, size_t at, size_t size, const void *from, cl_uint n,
                const cl_event *wait, cl_event *event),
               (q, m, block, at, size, from, n, wait, event), CL_OUT_OF_RESOURCES)
FAULTY_COMMAND(clEnqueueFillBuffer,
               (cl_command_queue q, cl_mem m, const void *pattern, size_t width, size_t at, size_t size, cl_uint n,
                const cl_event *wait, cl_event *event),
               (q, m, pattern, width, at, size, n, wait, event), CL_MEM_OBJECT_ALLOCATION_FAILURE)
FAULTY_COMMAND(clEnqueueCopyBuffer,
               (cl_command_queue q, cl_mem a, cl_mem b, size_t from, size_t to, size_t size, cl_uint n,
                const cl_event *wait, cl_event *event),
               (q, a, b, from, to, size, n, wait, event), CL_OUT_OF_RESOURCES)
FAULTY_COMMAND(clEnqueueReadBufferRect,
               (cl_command_queue q, cl_mem m, cl_bool block, const size_t *from, const size_t *to, const size_t *region,
                size_t row, size_t slice, size_t host_row, size_t host_slice, void *host, cl_uint n,
                const cl_event *wait, cl_event *event),
               (q, m, block, from, to, region, row, slice, host_row, host_slice, host, n, wait, event),
               CL_OUT_OF_RESOURCES)
FAULTY(clFlush, (cl_command_queue q), (q), CL_OUT_OF_RESOURCES)
FAULTY(clGetEventProfilingInfo, (cl_event e, cl_profiling_info what, size_t room, void *value, size_t *size),
       (e, what, room, value, size), CL_PROFILING_INFO_NOT_AVAILABLE)
FAULTY_MAKER(cl_context, clCreateContext,
             (const cl_context_properties *p, cl_uint n, const cl_device_id *ids,
              void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *code),
             (p, n, ids, notify, user, code), CL_DEVICE_NOT_AVAILABLE)
FAULTY_MAKER(cl_command_queue, clCreateCommandQueue,
             (cl_context c, cl_device_id id, cl_command_queue_properties p, cl_int *code), (c, id, p, code),
             CL_OUT_OF_HOST_MEMORY)
FAULTY_MAKER(cl_program, clCreateProgramWithSource,
             (cl_context c, cl_uint n, const char **text, const size_t *size, cl_int *code), (c, n, text, size, code),
             CL_OUT_OF_HOST_MEMORY)
FAULTY_MAKER(cl_program, clCreateProgramWithBinary,
             (cl_context c, cl_uint n, const cl_device_id *ids, const size_t *size, const unsigned char **data,
              cl_int *state, cl_int *code),
             (c, n, ids, size, data, state, code), CL_INVALID_BINARY)
FAULTY_MAKER(cl_kernel, clCreateKernel, (cl_program p, const char *name, cl_int *code), (p, name, code),
             CL_INVALID_KERNEL_NAME)
FAULTY_MAKER(cl_mem, clCreateBuffer, (cl_context c, cl_mem_flags flags, size_t size, void *host, cl_int *code),
             (c, flags, size, host, code), CL_MEM_OBJECT_ALLOCATION_FAILURE)
FAULTY_MAKER(cl_mem, clCreateSubBuffer,
             (cl_mem m, cl_mem_flags flags, cl_buffer_create_type type, const void *region, cl_int *code),
             (m, flags, type, region, code), CL_MISALIGNED_SUB_BUFFER_OFFSET)
FAULTY_MAKER(void *, clEnqueueMapBuffer,
             (cl_command_queue q, cl_mem m, cl_bool block, cl_map_flags flags, size_t at, size_t size, cl_uint n,
              const cl_event *wait, cl_event *event, cl_int *code),
             (q, m, block, flags, at, size, n, wait, event, code), CL_MAP_FAILURE)
COUNTED_RELEASE(clReleaseContext, cl_context)
COUNTED_RELEASE(clReleaseCommandQueue, cl_command_queue)
COUNTED_RELEASE(clReleaseProgram, cl_program)
COUNTED_RELEASE(clReleaseKernel, cl_kernel)
COUNTED_RELEASE(clReleaseMemObject, cl_mem)
COUNTED_RELEASE(clReleaseDevice, cl_device_id)
COUNTED_RELEASE(clReleaseEvent, cl_event)

/* retained once more: released once more */
cl_int clRetainEvent(cl_event object)
{
    cl_int (*next)(cl_event);

    live_objects++;
    *(void **)&next = real("clRetainEvent");
    return next(object);
}

cl_int clRetainMemObject(cl_mem object)
{
    cl_int (*next)(cl_mem);

    live_objects++;
    *(void **)&next = real("clRetainMemObject");
    return next(object);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint n, const cl_event *wait,
                              cl_event *event)
{
    cl_int (*next)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint,
                   const cl_event *, cl_event *);
    cl_int (*mark)(cl_command_queue, cl_uint, const cl_event *, cl_event *);
    const int failing = fails("clEnqueueNDRangeKernel");

    if (failing && !fails_late)
        return CL_OUT_OF_RESOURCES;
    *(void **)&next = real("clEnqueueNDRangeKernel");
    *(void **)&mark = real("clEnqueueMarkerWithWaitList");
    if (failing)
        lost_queue = q;
    const cl_int code =
        failing ? mark(q, n, wait, event) : next(q, k, dimensions, offset, global, local, n, wait, event);
    live_objects += code == CL_SUCCESS && event;
    return code;
}

/* Waiting that fails has waited: a command that has failed does not write any more. */
cl_int clFinish(cl_command_queue q)
{
    cl_int (*next)(cl_command_queue);
    int failing = fails("clFinish");

    *(void **)&next = real("clFinish");
    cl_int code = next(q);
    return failing ? CL_OUT_OF_RESOURCES : code;
}

cl_int clWaitForEvents(cl_uint n, const cl_event *events)
{
    cl_int (*next)(cl_uint, const cl_event *);
    int failing = fails("clWaitForEvents");

    *(void **)&next = real("clWaitForEvents");
    cl_int code = next(n, events);
    for (cl_uint k = 0; k < n; k++) {
        cl_command_queue queue = NULL;
        clGetEventInfo(events[k], CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL);
        failing |= queue && atomic_compare_exchange_strong(&lost_queue, &queue, NULL);
    }
    return failing ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : code;
}

/* a mapping counts as an object */
cl_int clEnqueueUnmapMemObject(cl_command_queue q, cl_mem m, void *p, cl_uint n, const cl_event *wait, cl_event *event)
{
    cl_int (*next)(cl_command_queue, cl_mem, void *, cl_uint, const cl_event *, cl_event *);

    live_objects--;
    *(void **)&next = real("clEnqueueUnmapMemObject");
    return next(q, m, p, n, wait, event);
}

cl_int clCreateSubDevices(cl_device_id id, const cl_device_partition_property *p, cl_uint room, cl_device_id *ids,
                          cl_uint *n)
{
    cl_int (*next)(cl_device_id, const cl_device_partition_property *, cl_uint, cl_device_id *, cl_uint *);

    if (fails("clCreateSubDevices"))
        return CL_DEVICE_PARTITION_FAILED;
    *(void **)&next = real("clCreateSubDevices");
    cl_int code = next(id, p, room, ids, n);
    live_objects += code == CL_SUCCESS ? (int)*n : 0;
    return code;
}

#endif
