/* Copy bandwidth and launch latency.
 *
 *   gv_copy   work-item i copies elements i * item_step + k * step, k = 0 ... turns-1.  GPUs are fastest with
 *             neighbouring work-items on neighbouring elements (item_step 1), CPUs with a piece per work-item (step 1).
 *   gv_empty  nothing
 */
#ifndef GV_THREADS
#error "GV_THREADS must be set: work-items per group of gv_copy"
#endif

#include "lib/real.h"

__attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) kernel void
gv_copy(global const gv_scalar4 *restrict from, global gv_scalar4 *restrict to, ulong item_step, ulong step, uint turns)
{
    size_t at = get_global_id(0) * item_step;
    for (uint turn = 0; turn < turns; turn++, at += step)
        to[at] = from[at];
}

__attribute__((reqd_work_group_size(1, 1, 1))) kernel void gv_empty(global gv_scalar4 *nothing)
{
}
