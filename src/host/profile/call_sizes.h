/* The sizes of the calls that programs made: written where GRAVEL_CALLS_DIR asks for it, read by gravel tune --calls.
 * A text, with a line for each size: kernel, variant, features, sinks, sources, calls.
 *
 *   gravel calls 1
 *   device NVIDIA H200
 *   direct ds4 1 128 16384 93843 */
#ifndef GV_CALL_SIZES_H
#define GV_CALL_SIZES_H

#include <stdint.h>

#include "host/profile/profile.h"

#define GV_CALL_SIZES_END ".calls" /* of the names of files */

typedef struct gv_call_size {
    gv_variant variant;
    size_t sinks, sources;
    uint64_t calls;
} gv_call_size;

typedef struct gv_call_sizes {
    int n, room;
    gv_call_size *size;
} gv_call_sizes;
#define GV_CALL_SIZES_INIT                                                                                             \
    {                                                                                                                  \
        0, 0, NULL                                                                                                     \
    }

int gv_call_size_is_good(const gv_call_size *size); /* 1: a question can be about it */
/* One that gets the same configuration as a size that is there (gv_choice_sink_cell) adds its calls to it; of both the
 * size with more calls stays. */
gravel_status gv_call_sizes_add(gv_call_sizes *sizes, const gv_call_size *size);
gravel_status gv_call_sizes_write(const char *path, const char *device, const gv_call_sizes *sizes);
/* Adds what a file, or all files of a folder, have of this device.  How many files are of others goes to *others. */
gravel_status gv_call_sizes_read(const char *path, const char *device, gv_call_sizes *sizes, int *others);
void gv_call_sizes_free(gv_call_sizes *sizes);

#endif
