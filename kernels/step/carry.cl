/* Bodies between the device and a host that moves small blocks itself.
 *
 *   gv_carry_take   bodies list[0 ... count-1] -> records (step/layout.h), everything that a step reads or writes
 *   gv_carry_put    one upload -> planes, and the list of the next block: addresses of `count` bodies, `listed`
 *                   addresses of the list, then the records
 */
#include "lib/real.h"

#include "lib/pair.h"

#include "step/block.h"
#include "step/layout.h"

kernel void gv_carry_take(global const uint *list, uint count, global const gv_scalar4 *pos,
                          global const gv_scalar4 *pos_low, global const gv_scalar4 *vel,
                          global const gv_scalar4 *vel_low, global const gv_scalar4 *acc, global const gv_scalar4 *jerk,
                          global const gv_scalar4 *snap, global const gv_scalar4 *crackle, global const gv_scalar *time,
                          global const gv_scalar *time_low, global const gv_scalar *step, global const gv_scalar *pot,
                          global gv_scalar *record)
{
    const uint k = get_global_id(0);
    if (k >= count)
        return;
    const uint a = list[k];
    global gv_scalar *const to = record + (size_t)k * GV_CARRY_NUMBERS;
    vstore4(pos[a], 0, to + GV_CARRY_POSITION);
    vstore4((gv_scalar4)(gv_low(pos_low, a)), 0, to + GV_CARRY_POSITION_LOW);
    vstore4(vel[a], 0, to + GV_CARRY_VELOCITY);
    vstore4((gv_scalar4)(gv_low(vel_low, a)), 0, to + GV_CARRY_VELOCITY_LOW);
    vstore4(acc[a], 0, to + GV_CARRY_ACCELERATION);
    vstore4(jerk[a], 0, to + GV_CARRY_JERK);
    vstore4(snap[a], 0, to + GV_CARRY_SNAP);
    vstore4(crackle[a], 0, to + GV_CARRY_CRACKLE);
    to[GV_CARRY_TIME] = time[a];
    to[GV_CARRY_TIME_LOW] = gv_low(time_low, a);
    to[GV_CARRY_STEP] = step[a];
    to[GV_CARRY_POTENTIAL] = pot[a];
}

kernel void gv_carry_put(global const uint *from, uint count, uint listed, global gv_scalar4 *pos,
                         global gv_scalar4 *pos_low, global gv_scalar4 *vel, global gv_scalar4 *vel_low,
                         global gv_scalar4 *acc, global gv_scalar4 *jerk, global gv_scalar4 *snap,
                         global gv_scalar4 *crackle, global gv_scalar *time, global gv_scalar *time_low,
                         global gv_scalar *step, global gv_scalar *pot, global uint *list)
{
    const uint k = get_global_id(0);
    if (k < listed)
        list[k] = from[count + k];
    if (k >= count)
        return;
    const uint a = from[k];
    global const gv_scalar *const record =
        (global const gv_scalar *)(from + GV_CARRY_ADDRESSES(count, listed)) + (size_t)k * GV_CARRY_NUMBERS;
    pos[a] = vload4(0, record + GV_CARRY_POSITION);
    gv_put_low(pos_low, a, vload4(0, record + GV_CARRY_POSITION_LOW));
    vel[a] = vload4(0, record + GV_CARRY_VELOCITY);
    gv_put_low(vel_low, a, vload4(0, record + GV_CARRY_VELOCITY_LOW));
    acc[a] = vload4(0, record + GV_CARRY_ACCELERATION);
    jerk[a] = vload4(0, record + GV_CARRY_JERK);
    snap[a] = vload4(0, record + GV_CARRY_SNAP);
    crackle[a] = vload4(0, record + GV_CARRY_CRACKLE);
    time[a] = record[GV_CARRY_TIME];
    gv_put_low(time_low, a, record[GV_CARRY_TIME_LOW]);
    step[a] = record[GV_CARRY_STEP];
    pot[a] = record[GV_CARRY_POTENTIAL];
}
