/* Device time by kernel, of all launches of a device while it is asked for. */
#ifndef GV_TIMES_H
#define GV_TIMES_H

#include "host/device/context.h"

typedef struct gv_kernel_time {
    char name[48];
    uint64_t launches;
    double seconds;
} gv_kernel_time;

typedef struct gv_times gv_times;

/* From now on every launch on the device has an event, which costs short kernels a few us each; the device must be
 * timed (gv_device_set_timing).  Zeros at first. */
gravel_status gv_times_start(gravel_context *context, int device);
/* The kernels so far, the longest first; waits for the device.  At most `most` of them, how many there are. */
gravel_status gv_times_read(gravel_context *context, int device, gv_kernel_time *list, size_t most, size_t *count);
void gv_times_release(gv_times *times);
/* A launch; the event stays the caller's. */
void gv_times_add(gv_times *times, cl_kernel kernel, cl_event event);

#endif
