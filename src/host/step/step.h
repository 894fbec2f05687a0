/* The inside of gravel_hermite. */
#ifndef GV_STEP_H
#define GV_STEP_H

#include "gravel/hermite.h"
#include "host/bodies/bodies.h"
#include "kernels/step/layout.h"

/* kernels of an integrator */
typedef enum gv_step_kernel {
    GV_STEP_LEAST,
    GV_STEP_COUNT,
    GV_STEP_SCAN,
    GV_STEP_LIST,
    GV_STEP_SHARE,
    GV_STEP_PREDICT,
    GV_STEP_ALL,
    GV_STEP_CORRECT,
    GV_STEP_FIRST,
    GV_STEP_KERNELS
} gv_step_kernel;

struct gravel_hermite {
    gv_worker worker;
    gravel_hermite_options options;
    gravel_bodies *bodies;
    gravel_bodies *active; /* bodies of a block at its time, with their new forces */
    gravel_direct *direct;
    gravel_direct *exact; /* for energies, in dp; NULL: not made yet, or no fp64 */
    cl_kernel kernel[GV_STEP_KERNELS];
    size_t group, items; /* work-items of a group and bodies of each, where bodies are selected */
    gv_buffer part, count, total, list, head;
    int started, next_known;
    int ended;              /* the bodies are at a time where no step begins */
    size_t n;               /* bodies that were started */
    uint64_t order_version; /* of their order when the last block was chosen */
    double now;             /* time of the last block */
    double next;            /* time of the next block, if known */
    size_t due;             /* its bodies */
    gravel_hermite_counts counts;
};

/* select.c: when the next block is and which bodies it has (the list is on the device). */
gravel_status gv_step_find_next(gravel_hermite *h);

#endif
