/* One way to start kernels and one kind of device memory for all of the library.
 *
 * A gv_worker says where work goes: a device of a context.  Its commands go to the device's compute queue, which is in
 * order; commands on the copy queue are ordered with it by events.  Only with timing on (gv_device_set_timing) are
 * there events of kernels, kept by stage. */
#ifndef GV_LAUNCH_H
#define GV_LAUNCH_H

#include "host/device/context.h"

/* ---------------------------------------------------------------- times */

enum { GV_MAX_STAGES = 16 };

/* First and last kernel of a stage; their event times bound it. */
typedef struct gv_span {
    cl_event first, last;
} gv_span;

typedef struct gv_worker {
    gravel_context *context;
    int device;
    int is_aside; /* commands go to the copy queue: gv_worker_turn_aside */
    gv_span stage[GV_MAX_STAGES];
} gv_worker;

gv_device *gv_worker_device(const gv_worker *worker);
cl_command_queue gv_worker_queue(const gv_worker *worker);
void gv_worker_clear_stage(gv_worker *worker, int stage);
void gv_worker_clear(gv_worker *worker); /* all stages */
/* Device time of a stage, 0 where nothing ran; waits.  ERR_STATE if the device was not timed. */
gravel_status gv_worker_seconds(gv_worker *worker, int stage, double *seconds);

/* Commands that follow, kernels too, go to the copy queue: they wait for nothing on the compute queue, until
 * gv_worker_turn_back, from where on commands wait for them.  Where work is timed all stays on one queue. */
void gv_worker_turn_aside(gv_worker *worker);
gravel_status gv_worker_turn_back(gv_worker *worker);

/* Whether commands from now on are timed.  Waits for what is under way: the two queues do not wait for each other. */
gravel_status gv_device_set_timing(gravel_context *context, int device, int on);

/* ---------------------------------------------------------------- memory */

typedef struct gv_buffer {
    cl_mem mem;
    size_t size;
} gv_buffer;

/* How many bytes to make where `there` were too few for `size`: an eighth more, up to `most`, so that what changes a
 * little from call to call is not made anew each time; the first time no more than is asked for. */
size_t gv_buffer_more(size_t there, size_t size, size_t most);
/* At least `size` bytes; contents are lost if it was too small.  `what` names it in messages ("cells"). */
gravel_status gv_buffer_reserve(const gv_worker *worker, gv_buffer *buffer, size_t size, const char *what);
/* The same, with room to spare where it was too small: gv_buffer_more, up to what the device allows. */
gravel_status gv_buffer_reserve_more(const gv_worker *worker, gv_buffer *buffer, size_t size, const char *what);
/* The same, but the first `keep` bytes stay, and what is new is filled with zeros. */
gravel_status gv_buffer_grow(const gv_worker *worker, gv_buffer *buffer, size_t size, size_t keep, const char *what);
void gv_buffer_release(gv_buffer *buffer);

/* --------------------------------------------------------------- launches */

/* kernels/<file> with these options, kernel `name`; the caller releases it. */
gravel_status gv_kernel_make(const gv_worker *worker, const char *file, const char *options, const char *name,
                             cl_kernel *kernel);

/* Kernels that calls will need, by their numbers in a solver: for its `prepare`. */
typedef struct gv_needs {
    int kernel[32], n;
} gv_needs;
void gv_need(gv_needs *needs, int kernel);
/* Makes them all; `make` finds those that are there. */
gravel_status gv_needs_make(const gv_needs *needs, void *solver, gravel_status (*make)(void *solver, int kernel));

typedef struct gv_range {
    cl_uint dimensions;
    size_t global[2], local[2]; /* local[0] 0: the driver chooses */
} gv_range;
gv_range gv_groups(size_t groups, size_t group);                 /* work-groups of `group` work-items */
gv_range gv_groups_2d(size_t across, size_t down, size_t group); /* the same in two dimensions, group x 1 each */
gv_range gv_items(size_t items, size_t group);                   /* at least so many work-items */

typedef struct gv_arg {
    size_t size;
    const void *value;
} gv_arg;
/* The argument of a variable, of a buffer, of numbers.  They live to the end of the enclosing block. */
#define GV_ARG(x) ((gv_arg){sizeof(x), &(x)})
#define GV_MEM(buffer) ((gv_arg){sizeof(cl_mem), &(buffer).mem})
#define GV_UINT(v) ((gv_arg){sizeof(cl_uint), &(cl_uint){(cl_uint)(v)}})
#define GV_INT(v) ((gv_arg){sizeof(cl_int), &(cl_int){(cl_int)(v)}})
/* a real as the kernels of this precision take it */
#define GV_REAL(precision, v)                                                                                          \
    ((precision) == GRAVEL_DP ? (gv_arg){sizeof(cl_double), &(cl_double){(v)}}                                         \
                              : (gv_arg){sizeof(cl_float), &(cl_float){(cl_float)(v)}})

/* Sets all arguments and starts the kernel; its event goes to the stage if the device is timed.
 *   gv_launch(worker, stage, kernel, gv_items(n, 64), GV_MEM(from), GV_UINT(n), GV_MEM(to)) */
gravel_status gv_launch_list(gv_worker *worker, int stage, cl_kernel kernel, gv_range range, size_t n_args,
                             const gv_arg *arg);
#define gv_launch(worker, stage, kernel, range, ...)                                                                   \
    gv_launch_list(worker, stage, kernel, range, sizeof((const gv_arg[]){__VA_ARGS__}) / sizeof(gv_arg),               \
                   (const gv_arg[]){__VA_ARGS__})
/* The arguments that a kernel was started with last: those that stay need not be set again, a few hundredths of a
 * microsecond each.  Buffers are where one was made since then, which may have the address of one that is gone. */
typedef struct gv_last {
    cl_kernel kernel;      /* NULL: none yet */
    unsigned buffers_made; /* in the context */
    unsigned char numbers[512];
} gv_last;
/* gv_launch_list for a kernel that is started in this way only. */
gravel_status gv_launch_next(gv_worker *worker, int stage, cl_kernel kernel, gv_range range, size_t n_args,
                             const gv_arg *arg, gv_last *last);
/* Starts a kernel of at least one work-item when `after` (may be NULL) is done; *done (may be NULL) is its event, the
 * caller's.  It belongs to no stage. */
gravel_status gv_launch_after(gv_worker *worker, gv_range range, cl_kernel kernel, cl_event after, cl_event *done,
                              size_t n_args, const gv_arg *arg);

#endif
