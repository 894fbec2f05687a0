/* Which bodies are next (kernels/step/select.cl): those with the least sum of their planes TIME and STEP. */
#ifndef GV_STEP_SELECT_H
#define GV_STEP_SELECT_H

#include "host/bodies/bodies.h"
#include "kernels/step/layout.h"

typedef enum gv_select_kernel {
    GV_SELECT_LEAST,
    GV_SELECT_COUNT,
    GV_SELECT_SCAN,
    GV_SELECT_LIST,
    GV_SELECT_SHARE,
    GV_SELECT_ALL,
    GV_SELECT_TALLY, /* NULL until it is needed */
    GV_SELECT_KERNELS
} gv_select_kernel;

typedef struct gv_selector {
    gv_worker worker;
    gravel_bodies *bodies;
    cl_kernel kernel[GV_SELECT_KERNELS];
    size_t group, items; /* work-items of a group and bodies of each */
    /* list: addresses of a block; head: kernels/step/layout.h, its GV_HEAD_SHORT is written by kernels that choose
     * steps */
    gv_buffer part, count, total, list, head, tally;
} gv_selector;

gravel_status gv_selector_make(gv_selector *s, gravel_bodies *bodies);
void gv_selector_release(gv_selector *s);
/* Room for the bodies there are; no step is too short. */
gravel_status gv_selector_start(gv_selector *s);
/* The list names all bodies, in order. */
gravel_status gv_selector_take_all(gv_selector *s);

/* Room for counts of steps. */
gravel_status gv_selector_need_tally(gv_selector *s);
/* Adds the steps of the first `count` bodies of the list to counts by powers of two, as of GV_TALLY_LOWEST. */
gravel_status gv_selector_tally(gv_selector *s, size_t count);
/* Since gv_selector_start; added to what is there. */
gravel_status gv_selector_add_tally(gv_selector *s, uint64_t counts[GV_TALLY_POWERS]);

typedef struct gv_due {
    double time;
    size_t count;       /* of the list, which is on the device */
    uint32_t too_short; /* address of a body whose step became too short; UINT32_MAX: none */
} gv_due;
/* `shared`: all bodies get the step of the block.  Waits for the device. */
gravel_status gv_selector_find(gv_selector *s, int shared, gv_due *block);

/* 1 if the two words hold it exactly. */
int gv_time_fits(gravel_precision precision, double time);

#endif
