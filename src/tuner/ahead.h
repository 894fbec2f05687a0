/* Programs that are compiled once, by several processes at once, before they are timed. */
#ifndef GV_AHEAD_H
#define GV_AHEAD_H

#include "tuner/run.h"

enum { GV_AHEAD_MOST = 64 };

typedef struct gv_ahead {
    gv_builders builders;
    uint64_t *built; /* hashes of variant and configuration */
    size_t n, room;
    gv_request waiting[GV_AHEAD_MOST]; /* to be built */
    int n_waiting;
} gv_ahead;

/* Those that are met for the first time wait to be built, as far as there is room. */
void gv_ahead_add(gv_ahead *ahead, const gv_task *task, const char *const *configuration, int n);
/* 1 if as many wait as there are processes: more would take longer. */
int gv_ahead_is_full(const gv_ahead *ahead);
/* Until all that wait are built, or found not to compile. */
void gv_ahead_build(gv_ahead *ahead, double limit_s);
void gv_ahead_stop(gv_ahead *ahead);

#endif
