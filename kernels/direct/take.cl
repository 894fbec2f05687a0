/* Takes sources and sinks of a call from the words of bodies: predicted to one time, in the solver's precision and in
 * the frame of the sources, one launch for both.
 *
 *   x(t) = x + v dt + a dt^2/2 + j dt^3/6 + s dt^4/24 + c dt^5/120 and its derivatives, by Horner's rule.
 *   In ds x, v and dt are two-floats, the higher derivatives single words.
 *
 * Work-items 0 ... n_sources - 1 write a source each: planes of four scalars, `source_stride` apart, in the order
 * position + mass, (ds) low words, velocity, acceleration.  The others write a sink each (direct/layout.h); those
 * behind the last sink repeat it, with id -1.
 *
 * GV_PRECISION  of the bodies          GV_OTHER  of the solver          GV_ORDER  2, 4 or 6
 */
#include "lib/real.h"

#include "lib/other.h"
#include "lib/pair.h"

#include "direct/layout.h"

#if GV_LANES != 1
#error "GV_LANES must be 1 in take.cl"
#endif
#define GV_OTHER_LOW (GV_OTHER == GV_DS)

/* One body at the time of the call: position in two words, what the order needs of velocity and acceleration. */
typedef struct gv_body {
    gv_scalar4 x, x_low, v, a;
} gv_body;

static inline gv_scalar4 gv_word(global const gv_scalar4 *word, uint have, uint bit, uint k)
{
    return have & bit ? word[k] : (gv_scalar4)(0);
}

/* t - time[k] as a two-float; 0 without prediction */
static inline gv_pair gv_step(global const gv_scalar *time, global const gv_scalar *time_low, uint have, uint k,
                              gv_scalar t_high, gv_scalar t_low)
{
    gv_pair step = {0, 0};
    if (have & GV_TAKE_PREDICT) {
        const gv_scalar own = have & GV_TAKE_TIME ? time[k] : 0;
        const gv_scalar own_low = have & GV_TAKE_TIME_LOW ? time_low[k] : 0;
        const gv_pair high = gv_two_sum(t_high, -own);
        step = gv_two_sum(high.hi, high.lo + (t_low - own_low));
    }
    return step;
}

static inline gv_body gv_predict(gv_scalar4 x, gv_scalar4 x_low, gv_scalar4 v, gv_scalar4 v_low, const gv_scalar4 *d,
                                 gv_pair step)
{
    const gv_scalar dt = step.hi;
    gv_body b;
    /* what is added to v dt, v and a: the sums from the highest derivative down */
    const gv_scalar4 a = d[0] + dt * (d[1] + dt * GV_R(0.5) * (d[2] + dt * GV_R(0.33333333333333333333) * d[3]));
    const gv_scalar4 dv =
        dt * (d[0] + dt * GV_R(0.5) * (d[1] + dt * GV_R(0.33333333333333333333) * (d[2] + dt * GV_R(0.25) * d[3])));
    /* dt twice, not its square: that could leave the range where the derivatives are zero */
    const gv_scalar4 dx =
        dt * (dt * GV_R(0.5) *
              (d[0] + dt * GV_R(0.33333333333333333333) * (d[1] + dt * GV_R(0.25) * (d[2] + dt * GV_R(0.2) * d[3]))));
#if GV_PRECISION == GV_DS
    const gv_pair px = gv_pair_advance(x.x, x_low.x, v.x, v_low.x, step, dx.x);
    const gv_pair py = gv_pair_advance(x.y, x_low.y, v.y, v_low.y, step, dx.y);
    const gv_pair pz = gv_pair_advance(x.z, x_low.z, v.z, v_low.z, step, dx.z);
    b.x = (gv_scalar4)(px.hi, py.hi, pz.hi, x.w);
    b.x_low = (gv_scalar4)(px.lo, py.lo, pz.lo, 0);
    b.v = v + (v_low + dv);
#else
    b.x = (gv_scalar4)(x.xyz + (v.xyz * dt + dx.xyz), x.w);
    b.x_low = (gv_scalar4)(0);
    b.v = v + dv;
#endif
    b.a = a;
    return b;
}

static inline gv_other4 gv_high4(gv_scalar4 hi, gv_scalar4 lo)
{
    return (gv_other4)(gv_other_high(hi.x, lo.x), gv_other_high(hi.y, lo.y), gv_other_high(hi.z, lo.z),
                       gv_other_high(hi.w, lo.w));
}

static inline gv_other4 gv_low4(gv_scalar4 hi, gv_scalar4 lo)
{
    return (gv_other4)(gv_other_low(hi.x, lo.x), gv_other_low(hi.y, lo.y), gv_other_low(hi.z, lo.z), 0);
}

static inline void gv_put_source(gv_body b, global gv_other4 *to, size_t stride)
{
    to[0] = gv_high4(b.x, b.x_low);
#if GV_OTHER_LOW
    to[stride] = gv_low4(b.x, b.x_low);
#endif
#if GV_ORDER >= 4
    to[(1 + GV_OTHER_LOW) * stride] = gv_high4(b.v, (gv_scalar4)(0));
#endif
#if GV_ORDER >= 6
    to[(2 + GV_OTHER_LOW) * stride] = gv_high4(b.a, (gv_scalar4)(0));
#endif
}

/* Three planes of a sink. */
static inline void gv_put_three(gv_other4 v, global gv_other *to, size_t stride)
{
    to[0] = v.x;
    to[stride] = v.y;
    to[2 * stride] = v.z;
}

/* A coordinate in the frame of the sources: ratio x + shift */
static inline gv_pair gv_move(gv_scalar hi, gv_scalar lo, gv_scalar ratio, gv_scalar shift, gv_scalar shift_low)
{
    const gv_pair sum = gv_two_sum(hi * ratio, shift);
    return gv_two_sum(sum.hi, sum.lo + (lo * ratio + shift_low));
}

static inline void gv_put_sink(gv_body b, global gv_other *to, size_t stride, gv_scalar ratio, gv_scalar4 shift,
                               gv_scalar4 shift_low)
{
    const gv_pair x = gv_move(b.x.x, b.x_low.x, ratio, shift.x, shift_low.x);
    const gv_pair y = gv_move(b.x.y, b.x_low.y, ratio, shift.y, shift_low.y);
    const gv_pair z = gv_move(b.x.z, b.x_low.z, ratio, shift.z, shift_low.z);
    const gv_scalar4 high = (gv_scalar4)(x.hi, y.hi, z.hi, 0), low = (gv_scalar4)(x.lo, y.lo, z.lo, 0);
    gv_put_three(gv_high4(high, low), to, stride);
#if GV_OTHER_LOW
    gv_put_three(gv_low4(high, low), to + 3 * stride, stride);
#endif
#if GV_ORDER >= 4
    gv_put_three(gv_high4(b.v * ratio, (gv_scalar4)(0)), to + GV_SINK_VELOCITY(GV_OTHER_LOW) * stride, stride);
#endif
#if GV_ORDER >= 6
    gv_put_three(gv_high4(b.a * ratio, (gv_scalar4)(0)), to + (3 + GV_SINK_VELOCITY(GV_OTHER_LOW)) * stride, stride);
#endif
}

/* Address k of those that came as arguments, by bisection: an array would be in memory, not in registers. */
static inline uint gv_pick(uint16 few, uint16 more, uint k)
{
    const uint16 of32 = k & 16 ? more : few;
    const uint8 of16 = k & 8 ? of32.hi : of32.lo;
    const uint4 of8 = k & 4 ? of16.hi : of16.lo;
    const uint2 of4 = k & 2 ? of8.hi : of8.lo;
    return k & 1 ? of4.y : of4.x;
}

/* have: GV_TAKE_...; words that are not there are not read.
 * Source k is body source_list[k] with source_listed, else source_first + k; sinks alike, by sink_from.
 * lists: whether sinks have the plane radius^2;  soften: GV_TAKE_..._SOFTEN
 * ratio, shift: from the sinks' frame to the sources' */
kernel void gv_take(global const gv_scalar4 *restrict position, global const gv_scalar4 *restrict position_low,
                    global const gv_scalar4 *restrict velocity, global const gv_scalar4 *restrict velocity_low,
                    global const gv_scalar4 *restrict acceleration, global const gv_scalar4 *restrict jerk,
                    global const gv_scalar4 *restrict snap, global const gv_scalar4 *restrict crackle,
                    global const gv_scalar *restrict time, global const gv_scalar *restrict time_low,
                    global const gv_scalar *restrict softening, global const gv_scalar *restrict radius,
                    global const int *restrict id, uint have, gv_scalar t_high, gv_scalar t_low, uint n_sources,
                    uint source_first, uint source_listed, global const uint *restrict source_list,
                    global gv_other4 *restrict sources, global gv_other *restrict source_softening,
                    global int *restrict source_id, uint source_stride, uint n_sinks, uint sink_first, uint sink_from,
                    global const uint *restrict sink_list, uint16 few, uint16 more, global gv_other *restrict sinks,
                    uint sink_stride, uint lists, uint soften, gv_scalar ratio, gv_scalar4 shift, gv_scalar4 shift_low)
{
    const uint k = get_global_id(0), s = k - n_sources;
    const int is_source = k < n_sources;
    if (!is_source && s >= sink_stride)
        return;
    const uint sink = min(s, n_sinks - 1);
    uint at = is_source ? source_first + k : sink_first + sink;
    if (is_source && source_listed)
        at = source_list[k];
    else if (!is_source && sink_from == GV_TAKE_LIST)
        at = sink_list[sink];
    else if (!is_source && sink_from == GV_TAKE_FEW)
        at = gv_pick(few, more, sink);
    const gv_scalar4 d[4] = {gv_word(acceleration, have, GV_TAKE_ACCELERATION, at),
                             gv_word(jerk, have, GV_TAKE_JERK, at), gv_word(snap, have, GV_TAKE_SNAP, at),
                             gv_word(crackle, have, GV_TAKE_CRACKLE, at)};
    const gv_body b =
        gv_predict(position[at], gv_word(position_low, have, GV_TAKE_POSITION_LOW, at),
                   gv_word(velocity, have, GV_TAKE_VELOCITY, at), gv_word(velocity_low, have, GV_TAKE_VELOCITY_LOW, at),
                   d, gv_step(time, time_low, have, at, t_high, t_low));
    const int name = have & GV_TAKE_ID ? id[at] : -1;
    const gv_scalar eps = have & GV_TAKE_SOFTENING ? softening[at] : 0;
    if (is_source) {
        gv_put_source(b, sources + k, source_stride);
        source_id[k] = name;
        if (soften & GV_TAKE_SOURCES_SOFTEN)
            source_softening[k] = gv_other_high(eps, 0);
        return;
    }
    gv_put_sink(b, sinks + s, sink_stride, ratio, shift, shift_low);
    if (lists) {
        const gv_scalar r = have & GV_TAKE_RADIUS ? radius[at] * ratio : -1;
        sinks[(size_t)GV_SINK_RADIUS(GV_ORDER, GV_OTHER_LOW) * sink_stride + s] =
            gv_other_high(r >= 0 ? fmin(r * r, GV_HUGE) : -1, 0);
    }
    const int own_eps = (soften & GV_TAKE_SINKS_SOFTEN) != 0;
    if (own_eps)
        sinks[(size_t)GV_SINK_SOFTENING(GV_ORDER, GV_OTHER_LOW, lists) * sink_stride + s] =
            gv_other_high(eps * eps * ratio * ratio, 0);
    global int *ids = (global int *)(sinks + (size_t)GV_SINK_ID(GV_ORDER, GV_OTHER_LOW, lists, own_eps) * sink_stride);
    ids[s] = s < n_sinks ? name : -1;
}
