/* Which bodies are next: those whose time + step is the least of all.
 *
 *   gv_step_least   each group's least time + step, GV_LEAST_PARTS groups at most
 *   gv_step_count   the least of all parts (found by every group again); due bodies of each tile
 *   gv_scan_rows    (lib/scan.cl) due bodies before each tile, and their number
 *   gv_step_list    their addresses in order; group 0 writes time and number into `head` (step/layout.h)
 *   gv_step_all     every body is in the list
 *   gv_step_share   (shared steps) every body gets the step that leads to the least time
 *
 * Times and steps are two-floats or doubles; steps are powers of two and times multiples of them, so that sums and
 * comparisons are exact.
 *
 *   GV_THREADS, GV_ITEMS  a tile is GV_THREADS * GV_ITEMS bodies
 */
#include "lib/real.h"

#include "lib/pair.h"
#include "lib/group.h"
#include "lib/low.h"

#include "step/layout.h"

#define GV_TILE (GV_THREADS * GV_ITEMS)

#include "step/due.h"

kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void gv_step_least(global const gv_scalar *time,
                                                                                  global const gv_scalar *time_low,
                                                                                  global const gv_scalar *step, uint n,
                                                                                  global gv_scalar *part)
{
    local gv_scalar scratch[2 * GV_THREADS];
    gv_pair least = gv_never();
    for (uint k = get_global_id(0); k < n; k += get_global_size(0)) {
        const gv_pair due = gv_due(time, time_low, step, k);
        if (gv_before(due, least))
            least = due;
    }
    least = gv_group_least(least, scratch);
    if (get_local_id(0) == 0) {
        part[2 * get_group_id(0)] = least.hi;
        part[2 * get_group_id(0) + 1] = least.lo;
    }
}

static inline gv_pair gv_least_of_parts(global const gv_scalar *part, uint parts, local gv_scalar *scratch)
{
    gv_pair least = gv_never();
    for (uint p = get_local_id(0); p < parts; p += GV_THREADS) {
        const gv_pair other = {part[2 * p], part[2 * p + 1]};
        if (gv_before(other, least))
            least = other;
    }
    return gv_group_least(least, scratch);
}

kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_step_count(global const gv_scalar *time, global const gv_scalar *time_low, global const gv_scalar *step, uint n,
              global const gv_scalar *part, uint parts, global uint *count)
{
    local gv_scalar pairs[2 * GV_THREADS];
    local uint scratch[GV_SCAN_WORDS];
    const gv_pair next = gv_least_of_parts(part, parts, pairs);
    uint first = get_group_id(0) * GV_TILE + get_local_id(0) * GV_ITEMS, sum = 0, all;
    for (uint k = 0; k < GV_ITEMS; k++)
        sum += gv_is_due(time, time_low, step, first + k, n, next);
    gv_group_scan(sum, scratch, &all);
    if (get_local_id(0) == 0)
        count[get_group_id(0)] = all;
}

/* before, total: what gv_scan_rows made of the counts */
kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_step_list(global const gv_scalar *time, global const gv_scalar *time_low, global const gv_scalar *step, uint n,
             global const gv_scalar *part, uint parts, global const uint *before, global const uint *total,
             global uint *list, global uint *head)
{
    local gv_scalar pairs[2 * GV_THREADS];
    local uint scratch[GV_SCAN_WORDS];
    const gv_pair next = gv_least_of_parts(part, parts, pairs);
    uint first = get_group_id(0) * GV_TILE + get_local_id(0) * GV_ITEMS, sum = 0, all;
    for (uint k = 0; k < GV_ITEMS; k++)
        sum += gv_is_due(time, time_low, step, first + k, n, next);
    uint slot = before[get_group_id(0)] + gv_group_scan(sum, scratch, &all);
    for (uint k = 0; k < GV_ITEMS; k++)
        if (gv_is_due(time, time_low, step, first + k, n, next))
            list[slot++] = first + k;
    if (get_global_id(0) == 0) {
        global gv_scalar *when = (global gv_scalar *)(head + GV_HEAD_TIME);
        head[GV_HEAD_COUNT] = total[0];
        when[0] = next.hi;
        when[1] = next.lo;
    }
}

/* All bodies are at one time. */
kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_step_share(global const gv_scalar *time, global const gv_scalar *time_low, global gv_scalar *step, uint n,
              global const gv_scalar *part, uint parts)
{
    local gv_scalar pairs[2 * GV_THREADS];
    const gv_pair next = gv_least_of_parts(part, parts, pairs);
    for (uint k = get_global_id(0); k < n; k += get_global_size(0)) {
#if GV_PRECISION == GV_DP
        step[k] = next.hi - time[k];
#else
        step[k] = (next.hi - time[k]) + (next.lo - time_low[k]);
#endif
    }
}

/* every body is in the list */
kernel void gv_step_all(uint n, global uint *list)
{
    const uint k = get_global_id(0);
    if (k < n)
        list[k] = k;
}
