/* The end of a small block, and which bodies are next, in one work-group: the host need not know what the block is.
 *
 *   gv_step_finish   head (step/layout.h) says how many bodies of `list` are moved, and when.  They are corrected
 *                    (step/correct.h), then those are found whose time + step is the least of all: list and head are
 *                    those of the next block.
 *
 * Launches are made for blocks of some sizes up to some time (lib/fits.h): with another one nothing happens, so that
 * blocks can be submitted before it is known what they are.
 *
 * Bodies are looked at by rows, four a work-item; four rows are counted at once, in the quarters of a 64-bit number.
 *
 *   GV_ORDER, GV_CRITERION  as step/hermite.cl
 *   GV_THREADS              work-items of the group, at most 1024: 16 bits hold the bodies of a row
 */
#include "lib/real.h"

#include "lib/pair.h"

#include "lib/fits.h"
#include "lib/group.h"

#include "step/block.h"
#include "step/layout.h"

#include "step/correct.h"
#include "step/due.h"
#include "step/tally.h"

#define GV_ROW (4 * GV_THREADS) /* bodies of a row */
#define GV_ROWS 4               /* that are counted at once */

/* time + step of bodies 4 q ... 4 q + 3; those behind the last body never come */
static inline void gv_due4(global const gv_scalar *time, global const gv_scalar *time_low, global const gv_scalar *step,
                           uint q, uint n, gv_pair *due)
{
    const gv_scalar4 t = vload4(q, time), s = vload4(q, step);
#if GV_PRECISION == GV_DS
    const gv_scalar4 low = vload4(q, time_low);
#else
    const gv_scalar4 low = (gv_scalar4)(0);
#endif
    due[0] = 4 * q < n ? gv_due_of(t.x, low.x, s.x) : gv_never();
    due[1] = 4 * q + 1 < n ? gv_due_of(t.y, low.y, s.y) : gv_never();
    due[2] = 4 * q + 2 < n ? gv_due_of(t.z, low.z, s.z) : gv_never();
    due[3] = 4 * q + 3 < n ? gv_due_of(t.w, low.w, s.w) : gv_never();
}

static inline gv_pair gv_least_of_all(global const gv_scalar *time, global const gv_scalar *time_low,
                                      global const gv_scalar *step, uint n, local gv_scalar *scratch)
{
    gv_pair least = gv_never(), due[4];
#pragma unroll 4
    for (uint q = get_local_id(0); 4 * q < n; q += GV_THREADS) {
        gv_due4(time, time_low, step, q, n, due);
        for (int k = 0; k < 4; k++)
            least = gv_before(due[k], least) ? due[k] : least;
    }
    return gv_group_least(least, scratch);
}

/* Addresses of the bodies that are due at `next`, in order -> list; their number. */
static inline uint gv_list_due(global const gv_scalar *time, global const gv_scalar *time_low,
                               global const gv_scalar *step, uint n, gv_pair next, global uint *list,
                               local ulong *scratch)
{
    uint listed = 0;
    for (uint first = 0; first < n; first += GV_ROWS * GV_ROW) {
        gv_pair due[4];
        uint bits = 0; /* four of each row */
        ulong mine = 0, all;
#pragma unroll
        for (uint r = 0; r < GV_ROWS; r++) {
            const uint q = first / 4 + r * GV_THREADS + get_local_id(0);
            if (4 * q >= n)
                continue;
            gv_due4(time, time_low, step, q, n, due);
#pragma unroll
            for (uint k = 0; k < 4; k++) {
                const uint is_due = gv_before(next, due[k]) ? 0 : 1;
                bits |= is_due << (4 * r + k);
                mine += (ulong)is_due << (16 * r);
            }
        }
        const ulong before = gv_group_scan64(mine, scratch);
#if GV_THREADS == 1
        all = mine;
#else
        all = scratch[GV_THREADS - 1];
#endif
        for (uint r = 0; r < GV_ROWS; r++) {
            uint slot = listed + (uint)(before >> (16 * r) & 0xffff);
            for (uint k = 0; k < 4; k++)
                if (bits >> (4 * r + k) & 1)
                    list[slot++] = first + r * GV_ROW + 4 * get_local_id(0) + k;
            listed += (uint)(all >> (16 * r) & 0xffff);
        }
        gv_group_sync();
    }
    return listed;
}

static inline void gv_put_time(global uint *at, gv_pair time)
{
    global gv_scalar *const to = (global gv_scalar *)at;
    to[0] = time.hi;
#if GV_PRECISION == GV_DS
    to[1] = time.lo;
#endif
}

/* per_mass, mass_part: step/correct.h.  `last` 0: a try, after which bodies, list and head are as before.
 * `tallied`: whether steps are counted (step/tally.cl). */
kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_step_finish(global uint *list, global gv_scalar4 *pos, global gv_scalar4 *pos_low, global gv_scalar4 *vel,
               global gv_scalar4 *vel_low, global gv_scalar4 *acc, global gv_scalar4 *jerk, global gv_scalar4 *snap,
               global gv_scalar4 *crackle, global gv_scalar *time, global gv_scalar *time_low, global gv_scalar *step,
               global gv_scalar *pot, global gv_scalar4 *to_pos, global gv_scalar4 *to_pos_low,
               global gv_scalar4 *to_vel, global gv_scalar4 *to_vel_low, global gv_scalar4 *to_acc,
               global const gv_scalar4 *to_jerk, global const gv_scalar4 *to_snap, global const gv_scalar *to_pot,
               gv_scalar eta4, gv_scalar eta6, gv_scalar per_mass, gv_scalar mass_part, gv_scalar step_most,
               gv_scalar step_least, int last, uint n, uint above, uint most, gv_scalar until, gv_scalar until_low,
               uint tallied, global uint *tally, global uint *head)
{
    local gv_scalar pairs[2 * GV_THREADS];
    local ulong scratch[GV_THREADS];
    local uint powers[GV_TALLY_POWERS];
    const gv_own own = {pos, pos_low, vel, vel_low, acc, jerk, snap, crackle, time, time_low, step, pot};
    const gv_new new = {to_pos, to_pos_low, to_vel, to_vel_low, to_acc, to_jerk, to_snap, to_pot};
    const gv_accuracy how = {eta4, eta6, per_mass, mass_part, step_most, step_least};
    global const gv_scalar *const when = (global const gv_scalar *)(head + GV_HEAD_TIME);
    const uint count = head[GV_HEAD_COUNT];
    const gv_pair now = {when[0], when[1]};
    if (!gv_block_fits(count, now.hi, now.lo, above, most, until, until_low))
        return;
    if (tallied)
        gv_tally_steps(list, count, step, get_local_id(0), GV_THREADS, powers, tally);
    for (uint k = get_local_id(0); k < count; k += GV_THREADS)
        gv_correct(own, new, how, list[k], k, now.hi, now.lo, last, head);
    barrier(CLK_GLOBAL_MEM_FENCE);
    const gv_pair next = gv_least_of_all(time, time_low, step, n, pairs);
    if (!last)
        return;
    const uint listed = gv_list_due(time, time_low, step, n, next, list, scratch);
    if (get_local_id(0) == 0) {
        const uint done = head[GV_HEAD_DONE];
        global uint *const block = head + GV_HEAD_WORDS + done % GV_HEAD_BLOCKS * GV_BLOCK_WORDS;
        gv_put_time(block + GV_BLOCK_TIME, now);
        block[GV_BLOCK_COUNT] = count;
        head[GV_HEAD_DONE] = done + 1;
        head[GV_HEAD_COUNT] = listed;
        gv_put_time(head + GV_HEAD_TIME, next);
    }
}
