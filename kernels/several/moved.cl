/* Bodies of block steps from one device to its copy on another, and forces on listed sinks back.
 *
 *   gv_moved_count   bodies of each tile whose time is `since` or later: those that moved since then
 *   gv_scan_rows     (lib/scan.cl) such bodies before each tile, and their number
 *   gv_moved_list    their addresses in order
 *   gv_moved_take    bodies list[0 ... count-1] -> records (several/layout.h)
 *   gv_moved_put     records -> bodies list[0 ... count-1]
 *   gv_found_take    accelerations and potentials of bodies list[0 ... count-1] -> one vector each
 *   gv_found_put     the other way
 *
 * Times are two-floats or doubles that hold block times exactly, so that comparisons are exact.
 *
 *   GV_THREADS, GV_ITEMS  a tile is GV_THREADS * GV_ITEMS bodies
 */
#include "lib/real.h"

#include "lib/group.h"

#include "lib/low.h"

#include "several/layout.h"

#define GV_TILE (GV_THREADS * GV_ITEMS)

/* 1 if body k exists and its time is not before `since` */
static inline uint gv_has_moved(global const gv_scalar *time, global const gv_scalar *time_low, uint k, uint n,
                                gv_scalar since, gv_scalar since_low)
{
    return k < n && (time[k] > since || (time[k] == since && gv_low(time_low, k) >= since_low)) ? 1u : 0u;
}

kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_moved_count(global const gv_scalar *time, global const gv_scalar *time_low, uint n, gv_scalar since,
               gv_scalar since_low, global uint *count)
{
    local uint scratch[GV_SCAN_WORDS];
    uint first = get_group_id(0) * GV_TILE + get_local_id(0) * GV_ITEMS, sum = 0, all;
    for (uint k = 0; k < GV_ITEMS; k++)
        sum += gv_has_moved(time, time_low, first + k, n, since, since_low);
    gv_group_scan(sum, scratch, &all);
    if (get_local_id(0) == 0)
        count[get_group_id(0)] = all;
}

/* before: what gv_scan_rows made of the counts */
kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_moved_list(global const gv_scalar *time, global const gv_scalar *time_low, uint n, gv_scalar since,
              gv_scalar since_low, global const uint *before, global uint *list)
{
    local uint scratch[GV_SCAN_WORDS];
    uint first = get_group_id(0) * GV_TILE + get_local_id(0) * GV_ITEMS, sum = 0, all;
    for (uint k = 0; k < GV_ITEMS; k++)
        sum += gv_has_moved(time, time_low, first + k, n, since, since_low);
    uint slot = before[get_group_id(0)] + gv_group_scan(sum, scratch, &all);
    for (uint k = 0; k < GV_ITEMS; k++)
        if (gv_has_moved(time, time_low, first + k, n, since, since_low))
            list[slot++] = first + k;
}

kernel void gv_moved_take(global const uint *list, uint count, global const gv_scalar4 *pos,
                          global const gv_scalar4 *pos_low, global const gv_scalar4 *vel,
                          global const gv_scalar4 *vel_low, global const gv_scalar4 *acc, global const gv_scalar4 *jerk,
                          global const gv_scalar4 *snap, global const gv_scalar4 *crackle, global const gv_scalar *time,
                          global const gv_scalar *time_low, global gv_scalar *record)
{
    const uint k = get_global_id(0);
    if (k >= count)
        return;
    const uint a = list[k];
    global gv_scalar *const to = record + (size_t)k * GV_MOVED_NUMBERS;
    vstore4(pos[a], 0, to + GV_MOVED_POSITION);
    vstore4((gv_scalar4)(gv_low(pos_low, a)), 0, to + GV_MOVED_POSITION_LOW);
    vstore4(vel[a], 0, to + GV_MOVED_VELOCITY);
    vstore4((gv_scalar4)(gv_low(vel_low, a)), 0, to + GV_MOVED_VELOCITY_LOW);
    vstore4(acc[a], 0, to + GV_MOVED_ACCELERATION);
    vstore4(jerk[a], 0, to + GV_MOVED_JERK);
    vstore4(snap[a], 0, to + GV_MOVED_SNAP);
    vstore4(crackle[a], 0, to + GV_MOVED_CRACKLE);
    vstore4((gv_scalar4)(time[a], gv_low(time_low, a), 0, 0), 0, to + GV_MOVED_TIME);
}

kernel void gv_moved_put(global const uint *list, uint count, global const gv_scalar *record, global gv_scalar4 *pos,
                         global gv_scalar4 *pos_low, global gv_scalar4 *vel, global gv_scalar4 *vel_low,
                         global gv_scalar4 *acc, global gv_scalar4 *jerk, global gv_scalar4 *snap,
                         global gv_scalar4 *crackle, global gv_scalar *time, global gv_scalar *time_low)
{
    const uint k = get_global_id(0);
    if (k >= count)
        return;
    const uint a = list[k];
    global const gv_scalar *const from = record + (size_t)k * GV_MOVED_NUMBERS;
    pos[a] = vload4(0, from + GV_MOVED_POSITION);
    gv_put_low(pos_low, a, vload4(0, from + GV_MOVED_POSITION_LOW));
    vel[a] = vload4(0, from + GV_MOVED_VELOCITY);
    gv_put_low(vel_low, a, vload4(0, from + GV_MOVED_VELOCITY_LOW));
    acc[a] = vload4(0, from + GV_MOVED_ACCELERATION);
    jerk[a] = vload4(0, from + GV_MOVED_JERK);
    snap[a] = vload4(0, from + GV_MOVED_SNAP);
    crackle[a] = vload4(0, from + GV_MOVED_CRACKLE);
    time[a] = from[GV_MOVED_TIME];
    gv_put_low(time_low, a, from[GV_MOVED_TIME_LOW]);
}

kernel void gv_found_take(global const uint *list, uint count, global const gv_scalar4 *acc,
                          global const gv_scalar *pot, global gv_scalar *found)
{
    const uint k = get_global_id(0);
    if (k >= count)
        return;
    const gv_scalar4 a = acc[list[k]];
    vstore4((gv_scalar4)(a.x, a.y, a.z, pot[list[k]]), 0, found + (size_t)k * GV_FOUND_NUMBERS);
}

kernel void gv_found_put(global const uint *list, uint count, global const gv_scalar *found, global gv_scalar4 *acc,
                         global gv_scalar *pot)
{
    const uint k = get_global_id(0);
    if (k >= count)
        return;
    const gv_scalar4 f = vload4(0, found + (size_t)k * GV_FOUND_NUMBERS);
    acc[list[k]] = (gv_scalar4)(f.x, f.y, f.z, 0);
    pot[list[k]] = f.w;
}
