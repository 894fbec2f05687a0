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

#include "step/correct.h"

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

/* per_mass, mass_part: step/correct.h.
 * `last` 0: positions and velocities go back into the active set, for one more evaluation of the forces there. */
kernel void gv_step_correct(global const uint *list, uint count, gv_scalar next, gv_scalar next_low,
                            global gv_scalar4 *pos, global gv_scalar4 *pos_low, global gv_scalar4 *vel,
                            global gv_scalar4 *vel_low, global gv_scalar4 *acc, global gv_scalar4 *jerk,
                            global gv_scalar4 *snap, global gv_scalar4 *crackle, global gv_scalar *time,
                            global gv_scalar *time_low, global gv_scalar *step, global gv_scalar *pot,
                            global gv_scalar4 *to_pos, global gv_scalar4 *to_pos_low, global gv_scalar4 *to_vel,
                            global gv_scalar4 *to_vel_low, global gv_scalar4 *to_acc, global const gv_scalar4 *to_jerk,
                            global const gv_scalar4 *to_snap, global const gv_scalar *to_pot, gv_scalar eta4,
                            gv_scalar eta6, gv_scalar per_mass, gv_scalar mass_part, gv_scalar step_most,
                            gv_scalar step_least, int last, global uint *head)
{
    const uint k = get_global_id(0);
    if (k >= count)
        return;
    const gv_own own = {pos, pos_low, vel, vel_low, acc, jerk, snap, crackle, time, time_low, step, pot};
    const gv_new new = {to_pos, to_pos_low, to_vel, to_vel_low, to_acc, to_jerk, to_snap, to_pot};
    const gv_accuracy how = {eta4, eta6, per_mass, mass_part, step_most, step_least};
    gv_correct(own, new, how, list[k], k, next, next_low, last, head);
}

/* Derivatives of all bodies are known up to the jerk (order 6: the snap), those above are zero. */
kernel void gv_step_first(uint n, gv_scalar start, gv_scalar start_low, global const gv_scalar4 *pos,
                          global const gv_scalar4 *acc, global const gv_scalar4 *jerk, global const gv_scalar4 *snap,
                          global const gv_scalar *pot, global gv_scalar *time, global gv_scalar *time_low,
                          global gv_scalar *step, gv_scalar eta_start, gv_scalar per_mass, gv_scalar mass_part,
                          gv_scalar step_most, gv_scalar step_least, global uint *head)
{
    const uint k = get_global_id(0);
    if (k >= n)
        return;
    const gv_scalar size = gv_summed_size(pot[k], per_mass, mass_part * pos[k].w);
    const gv_scalar wanted = gv_first_step(acc[k], jerk[k], pot[k], size, eta_start);
    const int in_range = gv_is_finite(acc[k]) && gv_is_finite(jerk[k]) && gv_is_finite(snap[k]);
    const gv_scalar now = in_range ? gv_block_step(wanted, step_most, start, start_low, step_most, step_least) : 0;
    if (now == 0)
        atomic_min(&head[GV_HEAD_SHORT], k);
    time[k] = start;
    gv_put_low(time_low, k, start_low);
    step[k] = now > 0 ? now : step_least;
}
