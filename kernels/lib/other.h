/* Numbers of a second precision, for kernels that read one and write another.  GV_OTHER is 0 (sp), 1 (ds) or 2 (dp), as
 * GV_PRECISION; a number of the kernel's own precision is hi + lo (lo 0 in sp and dp).  Needs lib/real.h. */
#ifndef GV_OTHER
#error "GV_OTHER must be 0 (sp), 1 (ds) or 2 (dp): the precision that is written"
#endif

#if GV_OTHER == GV_DP
#ifndef GV_HAVE_FP64
#error "dp needs a device with fp64"
#endif
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define GV_OTHER_SCALAR double
#else
#define GV_OTHER_SCALAR float
#endif
typedef GV_OTHER_SCALAR gv_other;
typedef GV_PASTE(GV_OTHER_SCALAR, 4) gv_other4;

/* hi + lo as one number, or the high word of two */
static inline gv_other gv_other_high(gv_scalar hi, gv_scalar lo)
{
#if GV_OTHER == GV_DP
    return (gv_other)hi + (gv_other)lo;
#else
    return (gv_other)hi;
#endif
}

/* the low word of two: the remainder of the high one */
static inline gv_other gv_other_low(gv_scalar hi, gv_scalar lo)
{
#if GV_OTHER == GV_DP
    return 0;
#elif GV_PRECISION == GV_DP
    return (gv_other)((hi - (gv_scalar)(gv_other)hi) + lo);
#else
    return lo;
#endif
}

/* factor (hi + lo) as one number; where hi left the range of its type, lo is NaN and not used */
static inline gv_other gv_other_scaled(gv_scalar hi, gv_scalar lo, gv_other factor)
{
    const gv_other rest = isfinite(hi) ? (gv_other)lo : 0;
    return (gv_other)hi * factor + rest * factor;
}
