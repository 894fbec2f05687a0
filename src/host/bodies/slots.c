#include "host/bodies/slots.h"

#include <stdint.h>
#include <stdlib.h>

/* slots are powers of two from here on, so that small calls of different sizes share them */
static const size_t least_size = 65536, most_bytes = (size_t)64 << 20;

static void release_host_side(const gv_worker *worker, gv_slot *slot)
{
    if (slot->pinned) {
        clEnqueueUnmapMemObject(gv_worker_device(worker)->copy, slot->pinned, slot->host, 0, NULL, NULL);
        clReleaseMemObject(slot->pinned);
    } else {
        free(slot->host);
    }
    slot->pinned = NULL;
    slot->host = NULL;
    slot->size = 0;
}

void gv_slot_release(const gv_worker *worker, gv_slot *slot)
{
    if (slot->busy) {
        clWaitForEvents(1, &slot->busy);
        clReleaseEvent(slot->busy);
    }
    gv_buffer_release(&slot->device);
    release_host_side(worker, slot);
    *slot = (gv_slot){.size = 0};
}

static gravel_status make_host_side(const gv_worker *worker, gv_slot *slot, size_t size)
{
    const gv_device *device = gv_worker_device(worker);
    cl_int code = CL_SUCCESS;
    if (device->info.host_memory) {
        slot->host = malloc(size);
        return slot->host ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no memory to stage %zu bytes", size);
    }
    slot->pinned = clCreateBuffer(worker->context->cl, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size, NULL, &code);
    if (!code)
        slot->host = clEnqueueMapBuffer(device->copy, slot->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size, 0,
                                        NULL, NULL, &code);
    if (!code)
        return GRAVEL_OK;
    if (slot->pinned)
        clReleaseMemObject(slot->pinned);
    slot->pinned = NULL;
    slot->host = NULL;
    return gv_fail_cl(code, "pinning %zu bytes of host memory for %s", size, device->info.name);
}

gravel_status gv_slot_reserve_host(const gv_worker *worker, gv_slot *slot, size_t size)
{
    if (slot->host && slot->size >= size)
        return GRAVEL_OK;
    size = gv_buffer_more(slot->size, size, SIZE_MAX);
    release_host_side(worker, slot);
    const gravel_status status = make_host_side(worker, slot, size);
    slot->size = status ? 0 : size;
    return status;
}

/* What is larger than the device allows is not rounded: the message names what is needed. */
static size_t round_up(const gv_worker *worker, size_t size)
{
    const size_t most = (size_t)gv_worker_device(worker)->info.max_allocation;
    size_t rounded = least_size;
    while (rounded < size && rounded <= most)
        rounded *= 2;
    return rounded <= most ? rounded : size < most ? most : size;
}

gravel_status gv_slot_reserve(const gv_worker *worker, gv_slot *slot, size_t size)
{
    if (slot->host && slot->size >= size)
        return GRAVEL_OK;
    gv_slot_release(worker, slot);
    const size_t room = round_up(worker, size);
    gravel_status status = gv_buffer_reserve(worker, &slot->device, room, "staging buffers");
    if (!status)
        status = gv_slot_reserve_host(worker, slot, room);
    if (status)
        gv_buffer_release(&slot->device);
    return status;
}

/* A command that failed is reported by the call that waits for its results; the slot is free all the same. */
static int is_free(gv_slot *slot)
{
    cl_int state = CL_COMPLETE;
    if (slot->held)
        return 0;
    if (!slot->busy)
        return 1;
    if (clGetEventInfo(slot->busy, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL) || state > 0)
        return 0;
    clReleaseEvent(slot->busy);
    slot->busy = NULL;
    return 1;
}

gravel_status gv_slot_wait(const gv_worker *worker, gv_slot *slot)
{
    if (!slot->busy)
        return GRAVEL_OK;
    const cl_int code = clWaitForEvents(1, &slot->busy);
    clReleaseEvent(slot->busy);
    slot->busy = NULL;
    return code ? gv_fail_cl(code, "waiting for a transfer on %s", gv_worker_device(worker)->info.name) : GRAVEL_OK;
}

gravel_status gv_slots_take(const gv_worker *worker, gv_slots *slots, size_t size, gv_slot **slot)
{
    gv_slot *small = NULL;
    const size_t fit = most_bytes / round_up(worker, size);
    const int most = fit < GV_LEAST_SLOTS ? GV_LEAST_SLOTS : fit < GV_MOST_SLOTS ? (int)fit : GV_MOST_SLOTS;
    for (int k = 0; k < slots->count; k++) {
        gv_slot *one = &slots->slot[k];
        if ((one->size >= size || !small) && is_free(one)) {
            *slot = one;
            if (one->size >= size)
                return GRAVEL_OK;
            small = one;
        }
    }
    if (!small && slots->count < most)
        small = &slots->slot[slots->count++];
    if (!small) {
        do {
            small = &slots->slot[slots->next];
            slots->next = (slots->next + 1) % slots->count;
        } while (small->held);
        gravel_status status = gv_slot_wait(worker, small);
        if (status)
            return status;
    }
    *slot = small;
    return gv_slot_reserve(worker, small, size);
}

void gv_slots_release(const gv_worker *worker, gv_slots *slots)
{
    for (int k = 0; k < slots->count; k++)
        gv_slot_release(worker, &slots->slot[k]);
    slots->count = 0;
}
