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

#include "step/tally.h"

kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_step_tally(global const uint *list, uint count, global const gv_scalar *step, global uint *tally)
{
    local uint mine[GV_TALLY_POWERS];
    gv_tally_steps(list, count, step, get_global_id(0), get_global_size(0), mine, tally);
}
