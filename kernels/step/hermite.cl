/* Hermite steps: bodies of a block are predicted, and corrected when their new forces are known.
 *
 *   gv_step_predict   bodies list[0 ... count-1] at the time of the block, into planes of the active set
 *   gv_step_correct   the same bodies from old and new derivatives: positions, velocities, new derivatives, time, step
 *   gv_step_first     first steps, all bodies
 *
 * Formulas: step/formulas.h.  In ds positions and velocities are two-floats; the corrections added to them are small,
 * so one word is enough.
 *
 *   GV_ORDER      4 or 6
 *   GV_CRITERION  step/layout.h
 */
#include "lib/real.h"

#include "lib/pair.h"

#include "step/block.h"
#include "step/layout.h"

#if GV_ORDER != 4 && GV_ORDER != 6
#error "GV_ORDER must be 4 or 6"
#endif
#ifndef GV_CRITERION
#error "GV_CRITERION must be one of GV_STEP_CRITERION_..."
#endif
#if GV_CRITERION != GV_STEP_CRITERION_AARSETH && GV_ORDER != 6
#error "the generalised criterion needs order 6"
#endif

#if GV_PRECISION == GV_DP
#define GV_FORCE_NOISE GV_FORCE_NOISE_DP
#else
#define GV_FORCE_NOISE GV_FORCE_NOISE_DS
#endif

/* x + v dt + more and v + dv, of position and velocity in two words */
typedef struct gv_phase {
    gv_scalar4 x, x_low, v, v_low;
} gv_phase;

static inline gv_phase gv_advance(gv_phase s, gv_pair dt, gv_scalar4 more, gv_scalar4 dv)
{
    gv_phase r;
#if GV_PRECISION == GV_DS
    const gv_pair x = gv_pair_advance(s.x.x, s.x_low.x, s.v.x, s.v_low.x, dt, more.x);
    const gv_pair y = gv_pair_advance(s.x.y, s.x_low.y, s.v.y, s.v_low.y, dt, more.y);
    const gv_pair z = gv_pair_advance(s.x.z, s.x_low.z, s.v.z, s.v_low.z, dt, more.z);
    const gv_pair vx = gv_two_sum(s.v.x, dv.x), vy = gv_two_sum(s.v.y, dv.y), vz = gv_two_sum(s.v.z, dv.z);
    const gv_pair wx = gv_two_sum(vx.hi, vx.lo + s.v_low.x), wy = gv_two_sum(vy.hi, vy.lo + s.v_low.y);
    const gv_pair wz = gv_two_sum(vz.hi, vz.lo + s.v_low.z);
    r.x = (gv_scalar4)(x.hi, y.hi, z.hi, s.x.w);
    r.x_low = (gv_scalar4)(x.lo, y.lo, z.lo, s.x_low.w);
    r.v = (gv_scalar4)(wx.hi, wy.hi, wz.hi, 0);
    r.v_low = (gv_scalar4)(wx.lo, wy.lo, wz.lo, 0);
#else
    r.x = (gv_scalar4)(s.x.xyz + (s.v.xyz * dt.hi + more.xyz), s.x.w);
    r.v = (gv_scalar4)(s.v.xyz + dv.xyz, 0);
    r.x_low = r.v_low = (gv_scalar4)(0);
#endif
    return r;
}

kernel void gv_step_predict(global const uint *list, uint count, gv_scalar next, gv_scalar next_low,
                            global const gv_scalar4 *pos, global const gv_scalar4 *pos_low,
                            global const gv_scalar4 *vel, global const gv_scalar4 *vel_low,
                            global const gv_scalar4 *acc, global const gv_scalar4 *jerk, global const gv_scalar4 *snap,
                            global const gv_scalar4 *crackle, global const gv_scalar *time,
                            global const gv_scalar *time_low, global const int *id, global gv_scalar4 *to_pos,
                            global gv_scalar4 *to_pos_low, global gv_scalar4 *to_vel, global gv_scalar4 *to_vel_low,
                            global gv_scalar4 *to_acc, global gv_scalar *to_time, global gv_scalar *to_time_low,
                            global const gv_scalar *soft, global gv_scalar *to_soft, int softened, global int *to_id)
{
    const uint k = get_global_id(0);
    if (k >= count)
        return;
    const uint a = list[k];
    const gv_pair dt = gv_span_to(next, next_low, time[a], gv_low(time_low, a));
    const gv_scalar4 d[6] = {acc[a],          jerk[a],        snap[a], GV_ORDER == 6 ? crackle[a] : (gv_scalar4)(0),
                             (gv_scalar4)(0), (gv_scalar4)(0)};
    gv_phase s = {pos[a], gv_low(pos_low, a), vel[a], gv_low(vel_low, a)};
    s = gv_advance(s, dt, gv_position_part(d, dt.hi), gv_velocity_part(d, dt.hi));
    to_pos[k] = s.x;
    to_vel[k] = s.v;
    gv_put_low(to_pos_low, k, s.x_low);
    gv_put_low(to_vel_low, k, s.v_low);
#if GV_ORDER == 6
    to_acc[k] = d[0] + dt.hi * (d[1] + dt.hi * GV_R(0.5) * (d[2] + dt.hi * GV_R(0.33333333333333333333) * d[3]));
#endif
    to_time[k] = next;
    gv_put_low(to_time_low, k, next_low);
    to_id[k] = id[a];
    if (softened)
        to_soft[k] = soft[a];
}

/* per_mass: 1 / M in the units of the planes.
 * `last` 0: positions and velocities go back into the active set, for one more evaluation of the forces there. */
kernel void gv_step_correct(global const uint *list, uint count, gv_scalar next, gv_scalar next_low,
                            global gv_scalar4 *pos, global gv_scalar4 *pos_low, global gv_scalar4 *vel,
                            global gv_scalar4 *vel_low, global gv_scalar4 *acc, global gv_scalar4 *jerk,
                            global gv_scalar4 *snap, global gv_scalar4 *crackle, global gv_scalar *time,
                            global gv_scalar *time_low, global gv_scalar *step, global gv_scalar *pot,
                            global gv_scalar4 *to_pos, global gv_scalar4 *to_pos_low, global gv_scalar4 *to_vel,
                            global gv_scalar4 *to_vel_low, global gv_scalar4 *to_acc, global const gv_scalar4 *to_jerk,
                            global const gv_scalar4 *to_snap, global const gv_scalar *to_pot, gv_scalar eta4,
                            gv_scalar eta6, gv_scalar per_mass, gv_scalar step_most, gv_scalar step_least, int last,
                            global uint *head)
{
    const uint k = get_global_id(0);
    if (k >= count)
        return;
    const uint a = list[k];
    const gv_pair span = gv_span_to(next, next_low, time[a], gv_low(time_low, a));
    const gv_scalar T = span.hi;
    if (!(T > 0))
        return; /* it is at this time already */
    const gv_scalar4 a1 = to_acc[k], j1 = to_jerk[k];
    /* each times its power of T */
    gv_scalar4 d[6] = {acc[a], T * jerk[a], (gv_scalar4)(0), (gv_scalar4)(0), (gv_scalar4)(0), (gv_scalar4)(0)};
    gv_scalar4 e[6] = {a1, T * j1, (gv_scalar4)(0), (gv_scalar4)(0), (gv_scalar4)(0), (gv_scalar4)(0)}; /* at the end */
    const gv_scalar per = GV_R(1.0) / T;
#if GV_ORDER == 6
    d[2] = T * T * snap[a];
    e[2] = T * T * to_snap[k];
#endif
    gv_fit(GV_ORDER, d, e);

    gv_phase s = {pos[a], gv_low(pos_low, a), vel[a], gv_low(vel_low, a)};
    s = gv_advance(s, span, T * T * gv_position_part(d, 1), T * gv_velocity_part(d, 1));
    if (!last) {
        to_pos[k] = s.x;
        to_vel[k] = s.v;
        gv_put_low(to_pos_low, k, s.x_low);
        gv_put_low(to_vel_low, k, s.v_low);
        return;
    }
    pos[a] = s.x;
    vel[a] = s.v;
    gv_put_low(pos_low, a, s.x_low);
    gv_put_low(vel_low, a, s.v_low);
    acc[a] = e[0];
    jerk[a] = j1;
#if GV_ORDER == 4
    snap[a] = per * per * e[2];
#else
    snap[a] = to_snap[k];
    crackle[a] = per * per * per * e[3];
#endif
    pot[a] = to_pot[k];
    time[a] = next;
    gv_put_low(time_low, a, next_low);
    const gv_scalar size = per_mass * to_pot[k] * to_pot[k];
    const gv_scalar wanted = T * gv_wanted_step(GV_ORDER, GV_CRITERION, e, size, GV_FORCE_NOISE, eta4, eta6);
    const gv_scalar now = gv_block_step(wanted, step[a], next, next_low, step_most, step_least);
    if (now == 0)
        atomic_min(&head[GV_HEAD_SHORT], a);
    step[a] = now > 0 ? now : step_least;
}

/* Derivatives of all bodies are known up to the jerk (order 6: the snap), those above are zero. */
kernel void gv_step_first(uint n, gv_scalar start, gv_scalar start_low, global const gv_scalar4 *acc,
                          global const gv_scalar4 *jerk, global gv_scalar *time, global gv_scalar *time_low,
                          global gv_scalar *step, gv_scalar eta_start, gv_scalar step_most, gv_scalar step_least,
                          global uint *head)
{
    const uint k = get_global_id(0);
    if (k >= n)
        return;
    const gv_scalar a2 = gv_norm2(acc[k]), j2 = gv_norm2(jerk[k]);
    const gv_scalar wanted = j2 > 0 && a2 > 0 ? eta_start * sqrt(a2 / j2) : step_most;
    const gv_scalar now = gv_block_step(wanted, step_most, start, start_low, step_most, step_least);
    if (now == 0)
        atomic_min(&head[GV_HEAD_SHORT], k);
    time[k] = start;
    gv_put_low(time_low, k, start_low);
    step[k] = now > 0 ? now : step_least;
}
