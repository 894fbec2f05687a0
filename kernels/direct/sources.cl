/* Sources on the device: planes of four scalars per source, `stride` sources a plane, in the order
 *
 *   0 position, mass    1 (ds) low words of the position    then velocity, (ds) its low words, acceleration, jerk, ...
 *
 * gv_scatter puts a batch of them to its addresses; gv_predict moves all to one time:
 *   x(t) = x + v dt + a dt^2/2 + j dt^3/6 + s dt^4/24 + c dt^5/120 and its derivatives, by Horner's rule.
 * In ds the steps of position and velocity are pairs: dt and v are pairs, the higher derivatives single words.
 */
#include "lib/real.h"

#if GV_LANES != 1
#error "GV_LANES must be 1 in sources.cl"
#endif

/* batch: `n_planes` planes of `count` entries, then `time_words` planes of times, then addresses, then ids */
kernel void gv_scatter(global const gv_scalar4 *restrict batch, global gv_scalar4 *restrict planes,
                       global gv_scalar *restrict time, global int *restrict id, uint n_planes, uint time_words,
                       uint count, uint stride)
{
    const uint k = get_global_id(0);
    if (k >= count)
        return;
    global const gv_scalar *batch_time = (global const gv_scalar *)(batch + (size_t)n_planes * count);
    global const uint *address = (global const uint *)(batch_time + (size_t)time_words * count);
    const uint to = address[k];
    for (uint p = 0; p < n_planes; ++p)
        planes[(size_t)p * stride + to] = batch[(size_t)p * count + k];
    for (uint w = 0; w < time_words; ++w)
        time[(size_t)w * stride + to] = batch_time[(size_t)w * count + k];
    id[to] = (int)address[count + k];
}

#ifdef GV_DERIVATIVES /* highest derivative the sources carry: 2 ... 5 */
#include "lib/pair.h"

#if GV_PRECISION == GV_DS
enum { GV_P_POS, GV_P_POS_LO, GV_P_VEL, GV_P_VEL_LO, GV_P_ACC };
enum { GV_Q_POS, GV_Q_POS_LO, GV_Q_VEL, GV_Q_ACC };
#else
enum { GV_P_POS, GV_P_VEL, GV_P_ACC };
enum { GV_Q_POS, GV_Q_VEL, GV_Q_ACC };
#endif

/* `time`: one plane (dp) or two (high and low word); t_high + t_low: the time to predict to; `raw`: no step at all */
kernel void gv_predict(global const gv_scalar4 *restrict planes, global const gv_scalar *restrict time,
                       global gv_scalar4 *restrict predicted, uint count, uint stride, gv_scalar t_high,
                       gv_scalar t_low, uint raw)
{
    const uint k = get_global_id(0);
    if (k >= count)
        return;
#if GV_PRECISION == GV_DP
    const gv_scalar dt = raw ? 0 : t_high - time[k];
#else
    const gv_pair high = gv_two_sum(t_high, -time[k]);
    const gv_pair step = gv_two_sum(high.hi, high.lo + (t_low - time[(size_t)stride + k]));
    const gv_scalar dt = raw ? 0 : step.hi;
#endif
    const gv_scalar4 x = planes[k];
    const gv_scalar4 v = planes[(size_t)GV_P_VEL * stride + k];
    gv_scalar4 d[6];
#pragma unroll
    for (int n = 2; n <= 5; ++n)
        d[n] = n <= GV_DERIVATIVES ? planes[(size_t)(GV_P_ACC + n - 2) * stride + k] : (gv_scalar4)(0);
    /* what is added to v dt, v and a: the sums from the highest derivative down */
    const gv_scalar4 a = d[2] + dt * (d[3] + dt * GV_R(0.5) * (d[4] + dt * GV_R(0.33333333333333333333) * d[5]));
    const gv_scalar4 dv =
        dt * (d[2] + dt * GV_R(0.5) * (d[3] + dt * GV_R(0.33333333333333333333) * (d[4] + dt * GV_R(0.25) * d[5])));
    /* dt twice, not its square: that could leave the range where the derivatives are zero */
    const gv_scalar4 dx = dt * (dt * GV_R(0.5) *
                                (d[2] + dt * GV_R(0.33333333333333333333) *
                                            (d[3] + dt * GV_R(0.25) * (d[4] + dt * GV_R(0.2) * d[5]))));
#if GV_PRECISION == GV_DS
    const gv_scalar4 x_low = planes[(size_t)GV_P_POS_LO * stride + k];
    const gv_scalar4 v_low = planes[(size_t)GV_P_VEL_LO * stride + k];
    gv_pair dt_pair;
    dt_pair.hi = dt;
    dt_pair.lo = raw ? 0 : step.lo;
    const gv_pair px = gv_pair_advance(x.x, x_low.x, v.x, v_low.x, dt_pair, dx.x);
    const gv_pair py = gv_pair_advance(x.y, x_low.y, v.y, v_low.y, dt_pair, dx.y);
    const gv_pair pz = gv_pair_advance(x.z, x_low.z, v.z, v_low.z, dt_pair, dx.z);
    predicted[k] = (gv_scalar4)(px.hi, py.hi, pz.hi, x.w);
    predicted[(size_t)GV_Q_POS_LO * stride + k] = (gv_scalar4)(px.lo, py.lo, pz.lo, 0);
#if GV_ORDER >= 4
    predicted[(size_t)GV_Q_VEL * stride + k] = v + (v_low + dv);
#endif
#else
    predicted[k] = (gv_scalar4)(x.xyz + (v.xyz * dt + dx.xyz), x.w);
#if GV_ORDER >= 4
    predicted[(size_t)GV_Q_VEL * stride + k] = v + dv;
#endif
#endif
#if GV_ORDER >= 6
    predicted[(size_t)GV_Q_ACC * stride + k] = a;
#endif
}
#endif
