/* Programs that are compiled once, by several processes at once, before they are timed. */
#ifndef GV_PREBUILD_H
#define GV_PREBUILD_H

#include "tuner/run.h"

enum { GV_PREBUILD_MOST = 64 };

typedef struct gv_prebuild {
    gv_builders builders;
    uint64_t *built; /* hashes of variant and configuration */
    size_t n, room;
    gv_request waiting[GV_PREBUILD_MOST]; /* to be built */
    int n_waiting;
} gv_prebuild;

/* Those that are met for the first time wait to be built, as far as there is room. */
void gv_prebuild_add(gv_prebuild *prebuild, const gv_task *task, const char *const *configuration, int n);
/* 1 if as many wait as there are processes: more would take longer. */
int gv_prebuild_is_full(const gv_prebuild *prebuild);
/* Until all that wait are built, or found not to compile. */
void gv_prebuild_run(gv_prebuild *prebuild, double limit_s);
void gv_prebuild_stop(gv_prebuild *prebuild);

#endif
