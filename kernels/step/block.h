/* What integrators with block steps share: times in two words, steps that are powers of two.  Needs lib/real.h and
 * lib/pair.h. */
/* low words exist in ds only */
#if GV_PRECISION == GV_DS
#define gv_low(word, k) (word)[k]
#define gv_put_low(word, k, value) ((word)[k] = (value))
#else
#define gv_low(word, k) 0
#define gv_put_low(word, k, value)
#endif

static inline gv_scalar gv_norm2(gv_scalar4 v)
{
    return v.x * v.x + v.y * v.y + v.z * v.z;
}

/* next - time[k] */
static inline gv_pair gv_span_to(gv_scalar next, gv_scalar next_low, gv_scalar time, gv_scalar time_low)
{
    const gv_pair high = gv_two_sum(next, -time);
    return gv_two_sum(high.hi, high.lo + (next_low - time_low));
}

/* the largest power of two that is not above x > 0 */
static inline gv_scalar gv_power_below(gv_scalar x)
{
    return ldexp(GV_R(1.0), ilogb(x));
}

/* 1 if t is a multiple of the power of two `step` */
static inline int gv_is_multiple(gv_scalar t, gv_scalar t_low, gv_scalar step)
{
    const gv_scalar per = GV_R(1.0) / step;
    const gv_scalar high = t * per, low = t_low * per;
    const gv_scalar rest = (high - floor(high)) + (low - floor(low));
    return rest == floor(rest);
}

/* A step that keeps blocks: a power of two, at most twice the old one, and the time a multiple of it.  0: too short. */
static inline gv_scalar gv_block_step(gv_scalar wanted, gv_scalar old, gv_scalar t, gv_scalar t_low, gv_scalar most,
                                      gv_scalar least)
{
    /* no limit: all derivatives but the first are zero */
    gv_scalar step = wanted > 0 && wanted < most ? gv_power_below(wanted) : most;
    step = fmin(step, GV_R(2.0) * old);
    while (step >= least && !gv_is_multiple(t, t_low, step))
        step *= GV_R(0.5);
    return step >= least ? step : 0;
}
