/* gravel: together with other OpenCL code in one program: FFT libraries, visualisation, the caller's own kernels.
 *
 * The caller's context, device and queue are used where they are given, and ours are handed out.  What is handed out is
 * not retained: it lives as long as the object it came from.
 */
#ifndef GRAVEL_OPENCL_H
#define GRAVEL_OPENCL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include "gravel/bodies.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A gravel_context on the caller's OpenCL context and device.  `queue` is where gravel's work goes: in order, of that
 * device, used by the caller between calls; NULL: gravel makes one.  All are retained.  Work on the caller's queue is
 * timed if, and only if, the queue has CL_QUEUE_PROFILING_ENABLE. */
GRAVEL_API gravel_status gravel_context_adopt(gravel_context **context, cl_context cl, cl_device_id device,
                                              cl_command_queue queue, const gravel_context_options *options);

/* The other way round. */
GRAVEL_API cl_context gravel_context_get_cl(const gravel_context *context);
GRAVEL_API cl_device_id gravel_context_get_cl_device(const gravel_context *context, int device);
GRAVEL_API cl_command_queue gravel_context_get_cl_queue(const gravel_context *context, int device);

/* One word of a plane as the device holds it: `count` elements of `components` numbers, in units of the
 * frame.  A vector has four components: x, y, z and a fourth that is unused, but for positions the mass.
 * Word 1 exists in ds only, for positions, velocities, times and steps: the low words.  The buffer changes when bodies
 * are added. */
typedef struct gravel_cl_plane {
    cl_mem buffer;
    size_t count, components;
    size_t number_size; /* 4: float or int32; 8: double */
} gravel_cl_plane;
GRAVEL_API gravel_status gravel_bodies_get_cl_plane(gravel_bodies *bodies, gravel_plane plane, int word,
                                                    gravel_cl_plane *out);
/* The caller has changed planes through get_cl_plane: what was derived from them (trees, predictions) is recomputed. */
GRAVEL_API void gravel_bodies_touch(gravel_bodies *bodies, gravel_plane plane);

/* The event of a ticket's last command on the compute queue, for the caller's wait lists; not retained.  NULL: the call
 * had nothing to do. */
GRAVEL_API cl_event gravel_ticket_get_cl_event(const gravel_ticket *ticket);

#ifdef __cplusplus
}
#endif
#endif
