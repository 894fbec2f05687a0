/* What a call says about its pairs beside softening: shapes that end at a distance, quadrupoles of sources. */
#ifndef GV_DIRECT_SHAPE_H
#define GV_DIRECT_SHAPE_H

#include "host/direct/object.h"

/* The last arguments of the force kernel, and its further macros. */
enum { GV_DIRECT_SHAPE_ARGS = 5 };
typedef struct gv_direct_shaping {
    char macros[96];
    unsigned features; /* by which the self-test knows the program */
    int shape, quadrupoles;
    gravel_precision precision;
    double per_length, most2, per_interval;
    size_t last;
    cl_mem records, half[2];
    /* per_length, most2, per_interval as the kernel takes them */
    cl_float real_sp[3];
    cl_double real_dp[3];
    cl_uint last_record;
} gv_direct_shaping;

/* Checks the call; makes or sends what it needs.  `sources`: those that pull (bodies NULL: none). */
gravel_status gv_direct_shape(gravel_direct *d, const gravel_direct_call *call, const gv_selection *sources,
                              gv_direct_shaping *shaping);
/* Puts arguments behind those of every call; returns how many.  They point into `shaping`. */
size_t gv_direct_shape_args(const gv_direct_shaping *shaping, gv_arg *arg);
void gv_direct_release_shapes(gravel_direct *d);

/* table.c: functions as records on the device.  What was in `to` is replaced, or kept where this fails. */
gravel_status gv_direct_make_table(gravel_direct *d, const gravel_table *from, gv_direct_table *to);

#endif
