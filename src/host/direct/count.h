/* Sizes of calls, counted where GRAVEL_CALLS_DIR names a folder for them. */
#ifndef GV_DIRECT_COUNT_H
#define GV_DIRECT_COUNT_H

#include "host/direct/object.h"

void gv_direct_count_start(gravel_direct *d);
/* A call that was started with this choice of a configuration. */
void gv_direct_count_call(gravel_direct *d, gv_direct_choice *choice);
/* One with sinks that the device has found, which was done: of this order, with the configuration for so many. */
void gv_direct_count_due(gravel_direct *d, int order, size_t sinks, size_t sources);
void gv_direct_count_end(gravel_direct *d);
/* A trial's calls are not the program's. */
void gv_direct_count_not(gravel_direct *d);

#endif
