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
 * GV_CHANGES    0, or: numbers of the largest batch of changed bodies.  The batch comes as an argument: `changed`
 *               addresses, a number each, then columns of `changed` numbers.  These bodies are read from the batch, and
 *               further work-items, one each, put it into the words.  Behind them may be the planes of a few sinks that
 *               are no bodies: the work-items of the sinks copy them.
 * GV_DUE        1: time and number of the sinks are where the device has found them (direct/layout.h); if the launch
 *               was not made for so many sinks or for this time (lib/fits.h), nothing happens.
 */
#include "lib/real.h"

#include "lib/other.h"
#include "lib/pair.h"

#include "lib/fits.h"

#include "direct/layout.h"

#if GV_LANES != 1
#error "GV_LANES must be 1 in take.cl"
#endif
#define GV_OTHER_LOW (GV_OTHER == GV_DS)
#define GV_HIGHER (GV_TAKE_JERK | GV_TAKE_SNAP | GV_TAKE_CRACKLE)
#define GV_DERIVATIVES (GV_TAKE_ACCELERATION | GV_HIGHER)

/* One body at the time of the call: position in two words, what the order needs of velocity and acceleration. */
typedef struct gv_body {
    gv_scalar4 x, x_low, v, a;
} gv_body;

#if GV_CHANGES
#define GV_WORDS global
typedef struct gv_numbers {
    gv_scalar number[GV_CHANGES];
} gv_numbers;

static inline uint gv_bits(gv_scalar number)
{
#if GV_PRECISION == GV_DP
    return (uint)as_ulong(number);
#else
    return as_uint(number);
#endif
}

/* `entry` is that of a body in the batch, `changed` if it has none.  Number c of its column, or `old` where the batch
 * has no such column.  Macros: an argument whose address is taken would be copied to memory by each work-item. */
#define gv_changed(entry, column, c, old)                                                                              \
    ((column) != GV_TAKE_NO_COLUMN && (entry) < changed ? batch.number[(1 + (column) + (c)) * changed + (entry)]       \
                                                        : (old))
#define gv_changed4(entry, column, old)                                                                                \
    gv_join4((old), gv_changed(entry, column, 0, 0), gv_changed(entry, column, 1, 0), gv_changed(entry, column, 2, 0), \
             (column) != GV_TAKE_NO_COLUMN && (entry) < changed)

static inline gv_scalar4 gv_join4(gv_scalar4 old, gv_scalar x, gv_scalar y, gv_scalar z, int is_new)
{
    return is_new ? (gv_scalar4)(x, y, z, old.w) : old;
}
#else
#define GV_WORDS global const
#define gv_changed(e, column, c, old) (old)
#define gv_changed4(e, column, old) (old)
#endif

static inline gv_scalar4 gv_word(global const gv_scalar4 *word, uint have, uint bit, uint k)
{
    return have & bit ? word[k] : (gv_scalar4)(0);
}

/* t - own as a two-float; 0 without prediction */
static inline gv_pair gv_step(gv_scalar own, gv_scalar own_low, uint have, gv_scalar t_high, gv_scalar t_low)
{
    gv_pair step = {0, 0};
    if (have & GV_TAKE_PREDICT) {
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
    /* rounded once, as in kernels/step */
    const gv_pair vx = gv_two_sum(v.x, dv.x), vy = gv_two_sum(v.y, dv.y), vz = gv_two_sum(v.z, dv.z);
    b.v = (gv_scalar4)(vx.hi + (vx.lo + v_low.x), vy.hi + (vy.lo + v_low.y), vz.hi + (vz.lo + v_low.z), 0);
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

#if GV_CHANGES
/* Words of four numbers, of which three are put; words of one, and the mass, which is the fourth of the position. */
#define GV_PUT_CHANGED(word, column)                                                                                   \
    if (to != GV_TAKE_NO_BODY && columns.column != GV_TAKE_NO_COLUMN) {                                                \
        word[to].x = gv_changed(new, columns.column, 0, 0);                                                            \
        word[to].y = gv_changed(new, columns.column, 1, 0);                                                            \
        word[to].z = gv_changed(new, columns.column, 2, 0);                                                            \
    }
#define GV_PUT_NUMBER(to_number, column)                                                                               \
    if (to != GV_TAKE_NO_BODY && columns.column != GV_TAKE_NO_COLUMN)                                                  \
        to_number = gv_changed(new, columns.column, 0, 0);
#define GV_EACH_WORD                                                                                                   \
    GV_PUT_CHANGED(position, s0)                                                                                       \
    GV_PUT_CHANGED(position_low, s1)                                                                                   \
    GV_PUT_CHANGED(velocity, s2)                                                                                       \
    GV_PUT_CHANGED(velocity_low, s3)                                                                                   \
    GV_PUT_CHANGED(acceleration, s4)                                                                                   \
    GV_PUT_CHANGED(jerk, s5)                                                                                           \
    GV_PUT_CHANGED(snap, s6)                                                                                           \
    GV_PUT_CHANGED(crackle, s7)                                                                                        \
    GV_PUT_NUMBER(time[to], s8)                                                                                        \
    GV_PUT_NUMBER(time_low[to], s9)                                                                                    \
    GV_PUT_NUMBER(softening[to], sa)                                                                                   \
    GV_PUT_NUMBER(position[to].w, sd)                                                                                  \
    if (to != GV_TAKE_NO_BODY && columns.sc != GV_TAKE_NO_COLUMN)                                                      \
        id[to] = (int)gv_bits(gv_changed(new, columns.sc, 0, 0));
#endif

/* have: GV_TAKE_...; words that are not there are not read.
 * Source k is body source_list[k] with source_listed, else source_first + k; sinks alike, by sink_from.
 * lists: whether sinks have the plane radius^2;  soften: GV_TAKE_..._SOFTEN
 * ratio, shift: from the sinks' frame to the sources'
 * head, above, most, until: lib/fits.h
 * points_planes > 0: the sinks are no bodies, and planes of them begin at number points_at of the batch */
kernel void gv_take(GV_WORDS gv_scalar4 *restrict position, GV_WORDS gv_scalar4 *restrict position_low,
                    GV_WORDS gv_scalar4 *restrict velocity, GV_WORDS gv_scalar4 *restrict velocity_low,
                    GV_WORDS gv_scalar4 *restrict acceleration, GV_WORDS gv_scalar4 *restrict jerk,
                    GV_WORDS gv_scalar4 *restrict snap, GV_WORDS gv_scalar4 *restrict crackle,
                    GV_WORDS gv_scalar *restrict time, GV_WORDS gv_scalar *restrict time_low,
                    GV_WORDS gv_scalar *restrict softening, GV_WORDS gv_scalar *restrict radius,
                    GV_WORDS int *restrict id, uint have, gv_scalar t_high, gv_scalar t_low, uint n_sources,
                    uint source_first, uint source_listed, global const uint *restrict source_list,
                    global gv_other4 *restrict sources, global gv_other *restrict source_softening,
                    global int *restrict source_id, uint source_stride, uint n_sinks, uint sink_first, uint sink_from,
                    global const uint *restrict sink_list, uint16 few, uint16 more, global gv_other *restrict sinks,
                    uint sink_stride, uint lists, uint soften, gv_scalar ratio, gv_scalar4 shift, gv_scalar4 shift_low
#if GV_DUE
                    ,
                    global const uint *restrict head, uint above, uint most, gv_scalar until, gv_scalar until_low
#endif
#if GV_CHANGES
                    ,
                    uchar16 columns, uint changed, uint points_at, uint points_planes, gv_numbers batch
#endif
)
{
#if GV_DUE
    global const gv_scalar *const when = (global const gv_scalar *)(head + GV_DUE_TIME);
    n_sinks = head[GV_DUE_COUNT];
    t_high = when[0], t_low = when[1];
    if (!gv_block_fits(n_sinks, t_high, t_low, above, most, until, until_low))
        return;
#endif
    const uint k = get_global_id(0), s = k - n_sources;
    const int is_source = k < n_sources;
#if GV_CHANGES
    if (!is_source && s >= sink_stride && s - sink_stride < changed) {
        const uint new = s - sink_stride, to = gv_bits(batch.number[new]);
        GV_EACH_WORD
        return;
    }
    if (!is_source && s < sink_stride && points_planes > 0) {
        for (uint p = 0; p < points_planes; p++)
            sinks[(size_t)p * sink_stride + s] = (gv_other)batch.number[points_at + p * sink_stride + s];
        return;
    }
#endif
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
#if GV_CHANGES
    uint e = changed;
    for (uint k_changed = 0; k_changed < changed; k_changed++)
        e = gv_bits(batch.number[k_changed]) == at ? k_changed : e;
#endif
    const gv_scalar own = gv_changed(e, columns.s8, 0, have & GV_TAKE_TIME ? time[at] : 0);
    const gv_scalar own_low = gv_changed(e, columns.s9, 0, have & GV_TAKE_TIME_LOW ? time_low[at] : 0);
    const gv_pair step = gv_step(own, own_low, have, t_high, t_low);
    /* over no time they do not count, whatever they are */
    const uint moved = step.hi != 0 ? have : have & ~(uint)(GV_ORDER < 6 ? GV_DERIVATIVES : GV_HIGHER);
    const gv_scalar4 d[4] = {gv_changed4(e, columns.s4, gv_word(acceleration, moved, GV_TAKE_ACCELERATION, at)),
                             gv_changed4(e, columns.s5, gv_word(jerk, moved, GV_TAKE_JERK, at)),
                             gv_changed4(e, columns.s6, gv_word(snap, moved, GV_TAKE_SNAP, at)),
                             gv_changed4(e, columns.s7, gv_word(crackle, moved, GV_TAKE_CRACKLE, at))};
    gv_scalar4 x = gv_changed4(e, columns.s0, position[at]);
    x.w = gv_changed(e, columns.sd, 0, x.w);
    const gv_body b =
        gv_predict(x, gv_changed4(e, columns.s1, gv_word(position_low, have, GV_TAKE_POSITION_LOW, at)),
                   gv_changed4(e, columns.s2, gv_word(velocity, have, GV_TAKE_VELOCITY, at)),
                   gv_changed4(e, columns.s3, gv_word(velocity_low, have, GV_TAKE_VELOCITY_LOW, at)), d, step);
    const gv_scalar eps = gv_changed(e, columns.sa, 0, have & GV_TAKE_SOFTENING ? softening[at] : 0);
    int name = have & GV_TAKE_ID ? id[at] : -1;
#if GV_CHANGES
    if (have & GV_TAKE_ID && columns.sc != GV_TAKE_NO_COLUMN && e < changed)
        name = (int)gv_bits(gv_changed(e, columns.sc, 0, 0));
#endif
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
