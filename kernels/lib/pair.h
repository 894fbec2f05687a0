/* Two-floats: a number as an unevaluated sum hi + lo, |lo| at most half a unit in the last place of hi.  Needs
 * lib/real.h, whose FP_CONTRACT OFF keeps these sums and products as they are written. */
typedef struct gv_pair {
    gv_scalar hi, lo;
} gv_pair;

/* a + b exactly */
static inline gv_pair gv_two_sum(gv_scalar a, gv_scalar b)
{
    gv_pair r;
    r.hi = a + b;
    const gv_scalar part = r.hi - a;
    r.lo = (a - (r.hi - part)) + (b - part);
    return r;
}

/* a * b exactly: with a fused multiply-add, else by Dekker's split in halves of 12 bits */
static inline gv_pair gv_two_product(gv_scalar a, gv_scalar b)
{
    gv_pair r;
    r.hi = a * b;
#if defined(GV_FAST_FMA) || GV_PRECISION == GV_DP
    r.lo = fma(a, b, -r.hi);
#else
    const gv_scalar ta = a * GV_R(4097.0), tb = b * GV_R(4097.0);
    const gv_scalar ah = ta - (ta - a), bh = tb - (tb - b);
    const gv_scalar al = a - ah, bl = b - bh;
    r.lo = ((ah * bh - r.hi) + ah * bl + al * bh) + al * bl;
#endif
    return r;
}

/* x + v dt + more, with x, v and dt two-floats and `more` small */
static inline gv_pair gv_pair_advance(gv_scalar x, gv_scalar x_low, gv_scalar v, gv_scalar v_low, gv_pair dt,
                                      gv_scalar more)
{
    const gv_pair step = gv_two_product(v, dt.hi);
    const gv_pair sum = gv_two_sum(x, step.hi);
    return gv_two_sum(sum.hi, sum.lo + (x_low + (step.lo + (v * dt.lo + (v_low * dt.hi + more)))));
}
