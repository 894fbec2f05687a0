/* How many bodies moved over which time-steps.
 *
 *   gv_step_tally   adds the steps of bodies list[0 ... count-1] to counts by powers of two, each in two words: low,
 *                   high
 *
 *   GV_THREADS  work-items of a group; a group counts in local memory first
 */
#include "lib/real.h"

#include "lib/pair.h"
#include "lib/group.h"

#include "step/block.h"

kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_step_tally(global const uint *list, uint count, global const gv_scalar *step, global uint *tally)
{
    local uint mine[GV_TALLY_POWERS];
    for (uint p = get_local_id(0); p < GV_TALLY_POWERS; p += GV_THREADS)
        mine[p] = 0;
    gv_group_sync();
    for (uint k = get_global_id(0); k < count; k += get_global_size(0))
        atomic_inc(&mine[clamp(ilogb(step[list[k]]) - GV_TALLY_LOWEST, 0, GV_TALLY_POWERS - 1)]);
    gv_group_sync();
    for (uint p = get_local_id(0); p < GV_TALLY_POWERS; p += GV_THREADS)
        if (mine[p] > 0 && atomic_add(&tally[2 * p], mine[p]) > ~mine[p])
            atomic_inc(&tally[2 * p + 1]); /* the low word went round */
}
