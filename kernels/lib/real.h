/* Real types of the kernels, chosen by two macros.
 *
 *   GV_PRECISION  0 sp: float
 *                 1 ds: positions and sums as two-floats (hi + lo), interactions in float
 *                 2 dp: double
 *   GV_LANES      sinks that one work-item holds in one vector: 1 on GPUs, the SIMD width on CPUs
 *
 * Three roles:
 *   storage       gv_scalar, gv_scalar4: what buffers hold (ds adds a second buffer with the low words)
 *   interaction   gv_real: GV_LANES scalars; gv_mask, gv_int: the masks and integers of as many lanes
 *   accumulation gv_wide: two-floats in sp and ds, double in dp
 *
 * This folder is the only place that names machine types of reals.  Device features come from the host as macros:
 * GV_HAVE_FP64, GV_FAST_FMA, GV_PTX_ASM, GV_RSQRT14, GV_RSQRT12, GV_ROUGH_NATIVE (1 where it is so, else not
 * defined).
 */
#ifndef GV_PRECISION
#error "GV_PRECISION must be 0 (sp), 1 (ds) or 2 (dp)"
#endif
#ifndef GV_LANES
#error "GV_LANES must be 1, 2, 4, 8 or 16: sinks per vector"
#endif

/* a + b * c stays as written: two-float arithmetic relies on the rounding error of each single operation */
#pragma OPENCL FP_CONTRACT OFF

#define GV_SP 0
#define GV_DS 1
#define GV_DP 2

#define GV_PASTE2(a, b) a##b
#define GV_PASTE(a, b) GV_PASTE2(a, b)

#if GV_PRECISION == GV_DP
#ifndef GV_HAVE_FP64
#error "dp needs a device with fp64"
#endif
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define GV_SCALAR double
#define GV_MASK_SCALAR long
#define GV_R(x) (x)
#define GV_HUGE DBL_MAX
#else
#define GV_SCALAR float
#define GV_MASK_SCALAR int
#define GV_R(x) (x##f)
#define GV_HUGE FLT_MAX
#endif

/* First in a kernel whose vectors do not all fit into registers.  A compiler that has given the frame pointer away can
 * no longer align the stack when it finds that some have to be kept there: these cross cache lines in one program and
 * not in the next, as the stack happens to lie, and order 6 with searches takes up to 1.6 times as long
 * (doc/numbers.md).  An aligned variable that no optimisation removes says it in time. */
#if GV_LANES > 1
#define GV_ALIGN_STACK                                                                                                 \
    volatile private int aligned_ __attribute__((aligned(64)));                                                        \
    aligned_ = 0;
#else
#define GV_ALIGN_STACK
#endif

typedef GV_SCALAR gv_scalar;
typedef GV_PASTE(GV_SCALAR, 4) gv_scalar4;

#if GV_LANES == 1
typedef GV_SCALAR gv_real;
typedef int gv_mask; /* 0 or 1 */
typedef int gv_int;
typedef uint gv_uint;
#define gv_select(mask, yes, no) ((mask) ? (yes) : (no))
#define gv_any(mask) (mask)
#define gv_load(p) (*(p))
#define gv_store(value, p) (*(p) = (value))
#define gv_widen(intmask) (intmask)
#define gv_narrow(mask) (mask)
#else
typedef GV_PASTE(GV_SCALAR, GV_LANES) gv_real;
typedef GV_PASTE(GV_MASK_SCALAR, GV_LANES) gv_mask; /* 0 or -1 a lane */
typedef GV_PASTE(int, GV_LANES) gv_int;
typedef GV_PASTE(uint, GV_LANES) gv_uint;
#define gv_select(mask, yes, no) select((no), (yes), (mask))
#define gv_any(mask) any(mask)
#define gv_load(p) GV_PASTE(vload, GV_LANES)(0, p)
#define gv_store(value, p) GV_PASTE(vstore, GV_LANES)(value, 0, p)
/* the mask of an integer comparison as a mask for gv_real, and back */
#if GV_PRECISION == GV_DP
#define gv_widen(intmask) GV_PASTE(convert_long, GV_LANES)(intmask)
#define gv_narrow(mask) GV_PASTE(convert_int, GV_LANES)(mask)
#else
#define gv_widen(intmask) (intmask)
#define gv_narrow(mask) (mask)
#endif
#endif

/* One rounding where the device does that in one instruction; interactions do not depend on it. */
#if defined(GV_FAST_FMA) || GV_PRECISION == GV_DP
#define gv_fma(a, b, c) fma(a, b, c)
#else
#define gv_fma(a, b, c) ((a) * (b) + (c))
#endif

/* The lesser one; the second where they do not compare.  On GPUs fmin is one instruction in single precision only. */
static inline gv_real gv_least(gv_real a, gv_real b)
{
#if GV_LANES == 1 && GV_PRECISION != GV_DP
    return fmin(a, b);
#else
    return gv_select(a < b, a, b);
#endif
}

/* smallest and largest lane */
static inline int gv_lowest(gv_int v)
{
#if GV_LANES == 1
    return v;
#else
    int lanes[GV_LANES];
    GV_PASTE(vstore, GV_LANES)(v, 0, lanes);
    int low = lanes[0];
    for (int k = 1; k < GV_LANES; k++)
        low = min(low, lanes[k]);
    return low;
#endif
}
static inline int gv_highest(gv_int v)
{
    return ~gv_lowest(~v);
}

/* ------------------------------------------------------------- wide sums
 * gv_wide carries sums.  In sp and ds it is a two-float, the unevaluated sum hi + lo: Knuth's two-sum catches the
 * rounding error of every addition exactly, whatever the magnitudes. */
#if GV_PRECISION == GV_DP
typedef gv_real gv_wide;
#define GV_WIDE_WORDS 1
static inline gv_wide gv_wide_zero(void)
{
    return (gv_wide)(0);
}
static inline gv_wide gv_wide_add(gv_wide a, gv_real b)
{
    return a + b;
}
#define gv_wide_sum(a, b) ((a) + (b))
#define gv_wide_flush(a, b) ((a) + (b))
#define gv_wide_rest(a) ((gv_real)(0))
#define gv_wide_go_on(a, b) ((a) + (b))
#else
typedef struct gv_wide {
    gv_real hi, lo;
} gv_wide;
#define GV_WIDE_WORDS 2
static inline gv_wide gv_wide_zero(void)
{
    gv_wide w;
    w.hi = (gv_real)(0);
    w.lo = (gv_real)(0);
    return w;
}
static inline gv_wide gv_wide_add(gv_wide a, gv_real b)
{
    gv_wide w;
    w.hi = a.hi + b;
    gv_real part = w.hi - a.hi;
    w.lo = a.lo + ((a.hi - (w.hi - part)) + (b - part));
    return w;
}
/* Cheaper (Kahan's four operations, not seven) and exact while |b| < |a|; else the error is one rounding of b.  For
 * sums of a few dozen terms, which come with such an error anyway. */
static inline gv_wide gv_wide_flush(gv_wide a, gv_real b)
{
    gv_wide w;
    gv_real with_rest = b + a.lo;
    w.hi = a.hi + with_rest;
    w.lo = with_rest - (w.hi - a.hi);
    return w;
}
/* The same in three operations, where the sum has begun at gv_wide_rest(a), not at zero. */
#define gv_wide_rest(a) ((a).lo)
static inline gv_wide gv_wide_go_on(gv_wide a, gv_real b)
{
    gv_wide w;
    w.hi = a.hi + b;
    w.lo = b - (w.hi - a.hi);
    return w;
}
static inline gv_wide gv_wide_sum(gv_wide a, gv_wide b)
{
    gv_wide w = gv_wide_add(a, b.hi);
    w.lo += b.lo;
    return w;
}
#endif

/* wide sums in local memory: `words` apart from the high to the low word */
static inline void gv_wide_put(gv_wide w, local gv_real *at, uint k, uint words)
{
#if GV_WIDE_WORDS == 2
    at[k] = w.hi;
    at[k + words] = w.lo;
#else
    at[k] = w;
#endif
}
static inline gv_wide gv_wide_get(local const gv_real *at, uint k, uint words)
{
    gv_wide w;
#if GV_WIDE_WORDS == 2
    w.hi = at[k];
    w.lo = at[k + words];
#else
    w = at[k];
#endif
    return w;
}
#if GV_WIDE_WORDS == 2
#define gv_wide_high(w) ((w).hi)
#else
#define gv_wide_high(w) (w)
#endif
