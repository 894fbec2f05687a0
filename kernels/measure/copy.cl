/* Copy bandwidth and launch latency.
 *
 *   gv_copy   work-item i copies elements i * item_step + k * step, k = 0 ... turns-1.  GPUs want neighbouring
 *             work-items on neighbouring elements (item_step 1), CPUs a piece per work-item (step 1).
 *   gv_empty  nothing
 */
#include "lib/real.h"

kernel void gv_copy(global const gv_scalar4 *restrict from, global gv_scalar4 *restrict to, ulong item_step, ulong step,
                    uint turns)
{
    size_t at = get_global_id(0) * item_step;
    for (uint turn = 0; turn < turns; turn++, at += step) {
        to[at] = from[at];
    }
}

kernel void gv_empty(global gv_scalar4 *nothing)
{
}
