/* The work behind `gravel force`: sinks in chunks, each computed and written before the next. */
#ifndef GV_FORCE_RUN_H
#define GV_FORCE_RUN_H

#include "cli/compute.h"
#include "sim/out_file.h"

#define GV_FORCE "gravel force"

enum { GV_METHOD_DIRECT, GV_METHOD_REFERENCE };

typedef struct gv_force_options {
    const char *in, *out, *device, *report, *configuration;
    int method, order, precision, nearest, verbose; /* order: index of 2|4|6 */
    double eps, radius;                             /* radius below 0: no lists */
    size_t capacity;
    gv_range sinks;
} gv_force_options;

typedef struct gv_force_job {
    const gv_force_options *opts;
    gv_particles particles;
    int order;
    size_t first, count; /* sinks */

    gravel_context *context; /* direct only */
    gravel_direct *direct;
    double *radius; /* of one chunk, all the same; NULL: no lists */

    /* what the report tells */
    double start, read_s, setup_s, kernel_s, call_s, write_s;
    char configuration[512];
    gravel_origin origin;
    size_t overflow, checked, check_step;
    gv_force_set sample;   /* results of every check_step-th sink */
    gravel_device_info device;
} gv_force_job;

/* Computes and writes the text; GRAVEL_ERR_CANCELLED after Ctrl-C.  Frees all but `particles` and `sample`,
 * which the report needs. */
gravel_status gv_force_compute(gv_force_job *job, FILE *stream);
/* Compares the sample with the reference and writes the JSON; frees the sample. */
gravel_status gv_force_report(gv_force_job *job, FILE *stream);

#endif
