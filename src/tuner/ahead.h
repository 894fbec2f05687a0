/* Programs that are compiled once, by several processes at once, before they are timed. */
#ifndef GV_AHEAD_H
#define GV_AHEAD_H

#include "tuner/run.h"

typedef struct gv_ahead {
    gv_builders builders;
    uint64_t *built; /* hashes of variant and configuration */
    size_t n, room;
} gv_ahead;

/* Waits until those that are met for the first time are built, or found not to compile. */
void gv_ahead_build(gv_ahead *ahead, const gv_task *task, const char *const *configuration, int n, double limit_s);
void gv_ahead_stop(gv_ahead *ahead);

#endif
