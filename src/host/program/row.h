/* Device time of short work.
 *
 * Events cost a GPU about as much as the shortest kernels, and a host that queues them one by one is slower than the
 * device that runs them.  So a row is measured: a kernel that only waits holds the device while `runs` runs of the work
 * queue up behind it, without events; the device then runs them back to back, from the end of the first kernel to the
 * start of one behind the row.
 */
#ifndef GV_ROW_H
#define GV_ROW_H

#include "host/device/context.h"

/* Queues the work once, without events. */
typedef gravel_status (*gv_row_fn)(void *user, cl_command_queue queue);

/* Mean seconds of one run of `runs`. */
gravel_status gv_row_time(gravel_context *context, int device, gv_row_fn work, void *user, int runs, double *seconds);

#endif
