/* Leapfrog with block steps: v is half a step ahead of the body's time, x of all bodies is at one time.
 *
 *   gv_leap_kick   bodies list[0 ... count-1], whose steps end now: v += (old step + new step) / 2 a
 *   gv_leap_choose, gv_leap_kick_all   the same with one step for all: each chooses, the least is shared (select.cl),
 *                  all are kicked
 *   gv_leap_trim   a copy of all bodies, as if their steps ended at `now`: what the first half kick gave too much
 *                  (with S the step, T the part of it until now: d = (T - S) / 2, v += d a) and its way, x += T d a
 *   gv_leap_close  v += T / 2 a of the copy, with accelerations at `now`
 * GV_FAR: the far part of the forces, that of a mesh, is word `far` (w: potential) and is of longer steps, the same for
 * all bodies: their ends are kicks of far_kick, 0 at other blocks.  `acc` and `pot` hold the near part when a kernel
 * begins and both when it ends; gv_leap_trim finds both.
 *
 * GV_AHEAD: steps end before |a| has grown beyond what they are right for, as far as its change over the step before
 * tells, and are short where bodies are dense: in the middle of a system |a| is small and changes fast.
 *   gv_leap_before |a| of the bodies of a block, before their new forces
 *
 *   gv_leap_pick   what an external force needs of the bodies of a block, in the order of the list
 *   gv_leap_put    accelerations and potentials of the block back to its bodies
 */
#include "lib/real.h"

#include "lib/pair.h"

#include "step/block.h"
#include "step/layout.h"

/* GV_CLOCK: kicks and drifts over steps come from a table, parts of GV_LEVELS numbers: number l is for steps of
 * 2^(GV_MOST - l). */
#if GV_CLOCK
#define gv_by(table, part, step, plain) ((table)[(part)*GV_LEVELS + GV_MOST - ilogb(step)])
#else
#define gv_by(table, part, step, plain) (plain)
#endif

/* v + h a */
static inline void gv_kick_by(gv_scalar4 *v, gv_scalar4 *v_low, gv_scalar4 a, gv_scalar h)
{
#if GV_PRECISION == GV_DS
    gv_pair by;
    by.hi = h, by.lo = 0;
    const gv_pair x = gv_pair_advance(v->x, v_low->x, a.x, 0, by, 0);
    const gv_pair y = gv_pair_advance(v->y, v_low->y, a.y, 0, by, 0);
    const gv_pair z = gv_pair_advance(v->z, v_low->z, a.z, 0, by, 0);
    *v = (gv_scalar4)(x.hi, y.hi, z.hi, 0);
    *v_low = (gv_scalar4)(x.lo, y.lo, z.lo, 0);
#else
    v->xyz += h * a.xyz;
#endif
}

/* What the plane holds of the near part alone, and the other way round. */
#if GV_FAR
#define gv_near(acc, far) ((acc) - (gv_scalar4)((far).xyz, 0))
#define gv_both(acc, far) ((acc) + (gv_scalar4)((far).xyz, 0))
#define gv_far_of(far, b) ((far)[b])
#define gv_put_both(acc, pot, b, a, f) (acc)[b] = gv_both(a, f), (pot)[b] += (f).w
#else
#define gv_near(acc, far) (acc)
#define gv_both(acc, far) (acc)
#define gv_far_of(far, b) ((gv_scalar4)(0))
#define gv_put_both(acc, pot, b, a, f) (void)0
#endif

/* |a| at the end of a step as long as the one that ends, if it goes on to grow by the same factor; `before`: at that
 * one's start, 0: not known.  A body that passes a few others does not go on for long: at most four times. */
static inline gv_scalar gv_ahead(gv_scalar a, gv_scalar before)
{
    return a > before && before > 0 ? a * fmin(a / before, GV_R(4.0)) : a;
}

/* The next step of a body with the acceleration a; reach: eta eps in the units of the planes; 0: no limit but
 * step_most.  An acceleration beyond the range of numbers gives 0 or NaN. */
static inline gv_scalar gv_leap_wanted(gv_scalar a, gv_scalar reach, gv_scalar step_most)
{
    return reach > 0 && a != 0 ? sqrt(reach / a) : step_most;
}

static inline gv_scalar gv_leap_step(gv_scalar wanted, gv_scalar old, gv_scalar next, gv_scalar next_low,
                                     gv_scalar step_most, gv_scalar step_least, uint b, global uint *head)
{
    const gv_scalar now = wanted > 0 ? gv_block_step(wanted, old, next, next_low, step_most, step_least) : 0;
    if (now == 0)
        atomic_min(&head[GV_HEAD_SHORT], b);
    return now > 0 ? now : step_least;
}

kernel void gv_leap_before(global const uint *list, uint count, global const gv_scalar4 *acc, global gv_scalar *before)
{
    const uint k = get_global_id(0);
    if (k < count)
        before[k] = gv_norm(acc[list[k]]);
}

/* first: there is no step that ends.  crowd: steps are at most sqrt(crowd / density). */
kernel void gv_leap_kick(global const uint *list, uint count, gv_scalar next, gv_scalar next_low,
                         global gv_scalar4 *acc, global gv_scalar4 *vel, global gv_scalar4 *vel_low,
                         global gv_scalar *time, global gv_scalar *time_low, global gv_scalar *step, gv_scalar reach,
                         gv_scalar step_most, gv_scalar step_least, int first, global uint *head,
                         global const gv_scalar *table, global const gv_scalar4 *far, gv_scalar far_kick,
                         global gv_scalar *pot, global const gv_scalar *before, global const gv_scalar *density,
                         gv_scalar crowd)
{
    const uint k = get_global_id(0);
    if (k >= count)
        return;
    const uint b = list[k];
    const gv_scalar4 a = acc[b], f = gv_far_of(far, b);
    const gv_scalar old = first ? 0 : step[b];
    gv_scalar size = gv_norm(gv_both(a, f));
#if GV_AHEAD
    size = gv_ahead(size, first ? 0 : before[k]);
#endif
    gv_scalar wanted = gv_leap_wanted(size, reach, step_most);
#if GV_AHEAD
    if (crowd > 0 && density[b] > 0)
        wanted = fmin(wanted, sqrt(crowd / density[b]));
#endif
    const gv_scalar now = gv_leap_step(wanted, first ? step_most : old, next, next_low, step_most, step_least, b, head);
    gv_scalar4 v = vel[b], v_low = gv_low(vel_low, b);
    const gv_scalar ends = old > 0 ? gv_by(table, GV_TABLE_SECOND, old, GV_R(0.5) * old) : 0;
    gv_kick_by(&v, &v_low, a, ends + gv_by(table, GV_TABLE_FIRST, now, GV_R(0.5) * now));
    if (far_kick != 0)
        gv_kick_by(&v, &v_low, f, far_kick);
    gv_put_both(acc, pot, b, a, f);
    vel[b] = v;
    gv_put_low(vel_low, b, v_low);
    time[b] = next;
    gv_put_low(time_low, b, next_low);
    step[b] = now;
}

kernel void gv_leap_choose(uint n, gv_scalar next, gv_scalar next_low, global const gv_scalar4 *acc,
                           global gv_scalar *time, global gv_scalar *time_low, global gv_scalar *step, gv_scalar reach,
                           gv_scalar step_most, gv_scalar step_least, int first, global uint *head,
                           global const gv_scalar4 *far)
{
    const uint b = get_global_id(0);
    if (b >= n)
        return;
    time[b] = next;
    gv_put_low(time_low, b, next_low);
    const gv_scalar a = gv_norm(gv_both(acc[b], gv_far_of(far, b)));
    step[b] = gv_leap_step(gv_leap_wanted(a, reach, step_most), first ? step_most : step[b], next, next_low, step_most,
                           step_least, b, head);
}

/* old: the step that ends, of all bodies */
kernel void gv_leap_kick_all(uint n, gv_scalar old, global gv_scalar4 *acc, global gv_scalar4 *vel,
                             global gv_scalar4 *vel_low, global const gv_scalar *step, global const gv_scalar *table,
                             global const gv_scalar4 *far, gv_scalar far_kick, global gv_scalar *pot)
{
    const uint b = get_global_id(0);
    if (b >= n)
        return;
    const gv_scalar4 a = acc[b], f = gv_far_of(far, b);
    gv_scalar4 v = vel[b], v_low = gv_low(vel_low, b);
    const gv_scalar now = step[b], ends = old > 0 ? gv_by(table, GV_TABLE_SECOND, old, GV_R(0.5) * old) : 0;
    gv_kick_by(&v, &v_low, a, ends + gv_by(table, GV_TABLE_FIRST, now, GV_R(0.5) * now));
    if (far_kick != 0)
        gv_kick_by(&v, &v_low, f, far_kick);
    gv_put_both(acc, pot, b, a, f);
    vel[b] = v;
    gv_put_low(vel_low, b, v_low);
}

kernel void gv_leap_trim(uint n, gv_scalar now, gv_scalar now_low, global const gv_scalar4 *acc,
                         global const gv_scalar *time, global const gv_scalar *time_low, global const gv_scalar *step,
                         global gv_scalar4 *pos, global gv_scalar4 *pos_low, global gv_scalar4 *vel,
                         global gv_scalar4 *vel_low, global const gv_scalar *table, global const gv_scalar4 *far,
                         gv_scalar far_kick, gv_scalar far_way)
{
    const uint k = get_global_id(0);
    if (k >= n)
        return;
    const gv_scalar T = gv_span_to(now, now_low, time[k], gv_low(time_low, k)).hi;
    const gv_scalar d = gv_by(table, GV_TABLE_TRIM, step[k], GV_R(0.5) * (T - step[k]));
    gv_scalar4 v = vel[k], v_low = gv_low(vel_low, k), x = pos[k], x_low = gv_low(pos_low, k);
    const gv_scalar4 f = gv_far_of(far, k), a = gv_near(acc[k], f);
    const gv_scalar mass = x.w;
    gv_kick_by(&v, &v_low, a, d);
    if (far_kick != 0)
        gv_kick_by(&v, &v_low, f, far_kick);
    vel[k] = v;
    gv_put_low(vel_low, k, v_low);
    if ((T > 0 && d < 0) || far_way * far_kick != 0) {
        gv_kick_by(&x, &x_low, a, T > 0 && d < 0 ? gv_by(table, GV_TABLE_WAY, step[k], T) * d : 0);
        gv_kick_by(&x, &x_low, f, far_way * far_kick);
        x.w = mass;
        pos[k] = x;
        gv_put_low(pos_low, k, x_low);
    }
}

kernel void gv_leap_close(uint n, gv_scalar now, gv_scalar now_low, global gv_scalar4 *acc,
                          global const gv_scalar *time, global const gv_scalar *time_low, global gv_scalar4 *vel,
                          global gv_scalar4 *vel_low, global const gv_scalar *step, global const gv_scalar *table,
                          global const gv_scalar4 *far, gv_scalar far_kick, global gv_scalar *pot)
{
    const uint k = get_global_id(0);
    if (k >= n)
        return;
    const gv_scalar T = gv_span_to(now, now_low, time[k], gv_low(time_low, k)).hi;
    const gv_scalar4 a = acc[k], f = gv_far_of(far, k);
    gv_scalar4 v = vel[k], v_low = gv_low(vel_low, k);
    gv_kick_by(&v, &v_low, a, gv_by(table, GV_TABLE_CLOSE, step[k], GV_R(0.5) * T));
    if (far_kick != 0)
        gv_kick_by(&v, &v_low, f, far_kick);
    gv_put_both(acc, pot, k, a, f);
    vel[k] = v;
    gv_put_low(vel_low, k, v_low);
}

kernel void gv_leap_pick(global const uint *list, uint count, global const gv_scalar4 *pos,
                         global const gv_scalar4 *pos_low, global const gv_scalar4 *vel,
                         global const gv_scalar4 *vel_low, global const gv_scalar4 *acc, global const gv_scalar *pot,
                         global const int *id, global gv_scalar4 *to_pos, global gv_scalar4 *to_pos_low,
                         global gv_scalar4 *to_vel, global gv_scalar4 *to_vel_low, global gv_scalar4 *to_acc,
                         global gv_scalar *to_pot, global int *to_id)
{
    const uint k = get_global_id(0);
    if (k >= count)
        return;
    const uint b = list[k];
    to_pos[k] = pos[b];
    to_vel[k] = vel[b];
    gv_put_low(to_pos_low, k, pos_low[b]);
    gv_put_low(to_vel_low, k, vel_low[b]);
    to_acc[k] = acc[b];
    to_pot[k] = pot[b];
    to_id[k] = id[b];
}

kernel void gv_leap_put(global const uint *list, uint count, global const gv_scalar4 *from_acc,
                        global const gv_scalar *from_pot, global gv_scalar4 *acc, global gv_scalar *pot)
{
    const uint k = get_global_id(0);
    if (k >= count)
        return;
    acc[list[k]] = from_acc[k];
    pot[list[k]] = from_pot[k];
}
