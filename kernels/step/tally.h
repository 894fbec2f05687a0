/* Counts of steps by powers of two, each in two words: low, high.  Needs lib/real.h, lib/group.h, step/block.h. */

/* Steps of bodies list[first], list[first + by] ... before list[count]; a group counts in `mine` first, GV_TALLY_POWERS
 * words. */
static inline void gv_tally_steps(global const uint *list, uint count, global const gv_scalar *step, uint first,
                                  uint by, local uint *mine, global uint *tally)
{
    for (uint p = get_local_id(0); p < GV_TALLY_POWERS; p += GV_THREADS)
        mine[p] = 0;
    gv_group_sync();
    for (uint k = first; k < count; k += by)
        atomic_inc(&mine[clamp(ilogb(step[list[k]]) - GV_TALLY_LOWEST, 0, GV_TALLY_POWERS - 1)]);
    gv_group_sync();
    for (uint p = get_local_id(0); p < GV_TALLY_POWERS; p += GV_THREADS)
        if (mine[p] > 0 && atomic_add(&tally[2 * p], mine[p]) > ~mine[p])
            atomic_inc(&tally[2 * p + 1]); /* the low word went round */
}
