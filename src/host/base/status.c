#include "host/base/status.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The message of a thread: short ones in place, so that a failure for lack of memory still has its message; long ones
 * (compiler logs) on the heap, freed when the thread ends. */
typedef struct message {
    char place[1024];
    char *heap;
} message;

static _Thread_local message last;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

static void make_key(void)
{
    /* without a key a thread's long message is not freed when the thread ends, which is no reason to fail */
    if (pthread_key_create(&key, free) != 0)
        key = (pthread_key_t)-1;
}

static void set_heap(char *text)
{
    pthread_once(&key_once, make_key);
    free(last.heap);
    last.heap = text;
    if (key != (pthread_key_t)-1)
        pthread_setspecific(key, text);
}

static void set_message(const char *text, size_t length)
{
    char *copy = length < sizeof last.place ? NULL : malloc(length + 1);

    if (copy)
        memcpy(copy, text, length + 1);
    else
        snprintf(last.place, sizeof last.place, "%s", text);
    if (copy || last.heap)
        set_heap(copy);
}

const char *gravel_version(void)
{
    return GRAVEL_VERSION;
}

const char *gravel_status_name(gravel_status status)
{
    switch (status) {
#define NAME(code, name, text)                                                                                         \
    case GRAVEL_##name:                                                                                                \
        return #name;
        GRAVEL_STATUS_TABLE(NAME)
#undef NAME
    }
    return "unknown status";
}

const char *gravel_status_text(gravel_status status)
{
    switch (status) {
#define TEXT(code, name, text)                                                                                         \
    case GRAVEL_##name:                                                                                                \
        return text;
        GRAVEL_STATUS_TABLE(TEXT)
#undef TEXT
    }
    return "not a status of gravel";
}

const char *gravel_error_message(void)
{
    return last.heap ? last.heap : last.place;
}

gravel_status gravel_error_set(gravel_status status, const char *text)
{
    return gv_fail(status, "%s", text ? text : "");
}

/* The arguments may point into the present message ("%s: ...", gravel_error_message()), so the new text is complete
 * before the old one goes. */
static void set_formatted(const char *format, va_list arguments, const char *tail)
{
    char place[1024];
    char *text = place;
    va_list again;
    int length;

    va_copy(again, arguments);
    length = vsnprintf(place, sizeof place, format, arguments);
    if (length < 0)
        length = snprintf(place, sizeof place, "%s", format);
    size_t need = (size_t)length + strlen(tail) + 1;
    if (need > sizeof place) {
        char *grown = malloc(need);
        if (grown) {
            vsnprintf(grown, need, format, again);
            text = grown;
        } else {
            need = sizeof place;
        }
    }
    va_end(again);
    strncat(text, tail, need - 1 - strlen(text));
    set_message(text, strlen(text));
    if (text != place)
        free(text);
}

gravel_status gv_fail(gravel_status status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    set_formatted(format, arguments, "");
    va_end(arguments);
    return status;
}

/* What a code means for the caller; everything else is ERR_OPENCL. */
static gravel_status cl_status(cl_int code)
{
    switch (code) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_INVALID_BUFFER_SIZE: /* above the device's largest allocation */
        return GRAVEL_ERR_DEVICE_MEMORY;
    case CL_OUT_OF_HOST_MEMORY:
        return GRAVEL_ERR_MEMORY;
    case CL_BUILD_PROGRAM_FAILURE:
    case CL_COMPILE_PROGRAM_FAILURE:
    case CL_LINK_PROGRAM_FAILURE:
    case CL_INVALID_BUILD_OPTIONS:
    case CL_INVALID_PROGRAM_EXECUTABLE:
        return GRAVEL_ERR_BUILD;
    case CL_OUT_OF_RESOURCES: /* registers or local memory; some drivers also say it for a fault inside a kernel */
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE:
    case CL_INVALID_WORK_DIMENSION:
    case CL_INVALID_GLOBAL_WORK_SIZE:
        return GRAVEL_ERR_LAUNCH;
    case CL_DEVICE_NOT_FOUND:
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_INVALID_DEVICE:
        return GRAVEL_ERR_NO_DEVICE;
    case CL_PLATFORM_NOT_FOUND_KHR:
        return GRAVEL_ERR_NO_PLATFORM;
    case CL_COMPILER_NOT_AVAILABLE:
        return GRAVEL_ERR_UNSUPPORTED;
    default:
        return GRAVEL_ERR_OPENCL;
    }
}

gravel_status gv_fail_cl(cl_int code, const char *what, ...)
{
    const char *name = gv_cl_error_name(code);
    char tail[80];
    va_list arguments;

    if (name[0] == 'C')
        snprintf(tail, sizeof tail, ": %s", name);
    else
        snprintf(tail, sizeof tail, ": OpenCL error %d", (int)code);
    va_start(arguments, what);
    set_formatted(what, arguments, tail);
    va_end(arguments);
    return cl_status(code);
}

const char *gv_cl_error_name(cl_int code)
{
    switch (code) {
#define CODE(name)                                                                                                     \
    case name:                                                                                                         \
        return #name;
        CODE(CL_SUCCESS)
        CODE(CL_DEVICE_NOT_FOUND)
        CODE(CL_DEVICE_NOT_AVAILABLE)
        CODE(CL_COMPILER_NOT_AVAILABLE)
        CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE)
        CODE(CL_OUT_OF_RESOURCES)
        CODE(CL_OUT_OF_HOST_MEMORY)
        CODE(CL_PROFILING_INFO_NOT_AVAILABLE)
        CODE(CL_MEM_COPY_OVERLAP)
        CODE(CL_IMAGE_FORMAT_MISMATCH)
        CODE(CL_IMAGE_FORMAT_NOT_SUPPORTED)
        CODE(CL_BUILD_PROGRAM_FAILURE)
        CODE(CL_MAP_FAILURE)
        CODE(CL_MISALIGNED_SUB_BUFFER_OFFSET)
        CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
        CODE(CL_COMPILE_PROGRAM_FAILURE)
        CODE(CL_LINKER_NOT_AVAILABLE)
        CODE(CL_LINK_PROGRAM_FAILURE)
        CODE(CL_DEVICE_PARTITION_FAILED)
        CODE(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)
        CODE(CL_INVALID_VALUE)
        CODE(CL_INVALID_DEVICE_TYPE)
        CODE(CL_INVALID_PLATFORM)
        CODE(CL_INVALID_DEVICE)
        CODE(CL_INVALID_CONTEXT)
        CODE(CL_INVALID_QUEUE_PROPERTIES)
        CODE(CL_INVALID_COMMAND_QUEUE)
        CODE(CL_INVALID_HOST_PTR)
        CODE(CL_INVALID_MEM_OBJECT)
        CODE(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)
        CODE(CL_INVALID_IMAGE_SIZE)
        CODE(CL_INVALID_SAMPLER)
        CODE(CL_INVALID_BINARY)
        CODE(CL_INVALID_BUILD_OPTIONS)
        CODE(CL_INVALID_PROGRAM)
        CODE(CL_INVALID_PROGRAM_EXECUTABLE)
        CODE(CL_INVALID_KERNEL_NAME)
        CODE(CL_INVALID_KERNEL_DEFINITION)
        CODE(CL_INVALID_KERNEL)
        CODE(CL_INVALID_ARG_INDEX)
        CODE(CL_INVALID_ARG_VALUE)
        CODE(CL_INVALID_ARG_SIZE)
        CODE(CL_INVALID_KERNEL_ARGS)
        CODE(CL_INVALID_WORK_DIMENSION)
        CODE(CL_INVALID_WORK_GROUP_SIZE)
        CODE(CL_INVALID_WORK_ITEM_SIZE)
        CODE(CL_INVALID_GLOBAL_OFFSET)
        CODE(CL_INVALID_EVENT_WAIT_LIST)
        CODE(CL_INVALID_EVENT)
        CODE(CL_INVALID_OPERATION)
        CODE(CL_INVALID_GL_OBJECT)
        CODE(CL_INVALID_BUFFER_SIZE)
        CODE(CL_INVALID_MIP_LEVEL)
        CODE(CL_INVALID_GLOBAL_WORK_SIZE)
        CODE(CL_INVALID_PROPERTY)
        CODE(CL_INVALID_IMAGE_DESCRIPTOR)
        CODE(CL_INVALID_COMPILER_OPTIONS)
        CODE(CL_INVALID_LINKER_OPTIONS)
        CODE(CL_INVALID_DEVICE_PARTITION_COUNT)
        CODE(CL_INVALID_PIPE_SIZE)
        CODE(CL_INVALID_DEVICE_QUEUE)
        CODE(CL_INVALID_SPEC_ID)
        CODE(CL_MAX_SIZE_RESTRICTION_EXCEEDED)
        CODE(CL_PLATFORM_NOT_FOUND_KHR)
#undef CODE
    default:
        return "unknown OpenCL error";
    }
}
