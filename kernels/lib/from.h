/* Conversion of vectors between another precision and this program's: planes of bodies beside the numbers that a
 * solver computes with.  Needs lib/real.h and lib/pair.h.
 *
 *   GV_FROM  precision of the planes, as GV_PRECISION.  In ds a plane has two words, hi and lo; in sp and dp the low
 *            word's pointer is NULL.
 *
 * gv_exact is wide enough for both: double where one of them is dp, else float, two-floats as separate words. */
#ifndef GV_FROM
#error "GV_FROM must be the precision of the planes: 0 (sp), 1 (ds) or 2 (dp)"
#endif
#if GV_FROM == GV_DP
#ifndef GV_HAVE_FP64
#error "planes in dp need a device with fp64"
#endif
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double gv_plane;
typedef double4 gv_plane4;
#define gv_to_plane(x) ((gv_plane)(x))
#define gv_to_plane4(x) convert_double4(x)
#else
typedef float gv_plane;
typedef float4 gv_plane4;
#define gv_to_plane(x) ((gv_plane)(x))
#define gv_to_plane4(x) convert_float4(x)
#endif
#if GV_FROM == GV_DP || GV_PRECISION == GV_DP
#define GV_EXACT_DOUBLE 1
typedef double gv_exact;
typedef double4 gv_exact4;
#define gv_to_exact4(x) convert_double4(x)
#else
#define GV_EXACT_DOUBLE 0
typedef float gv_exact;
typedef float4 gv_exact4;
#define gv_to_exact4(x) (x)
#endif
#if GV_PRECISION == GV_DP
#define gv_to_scalar4(x) convert_double4(x)
#else
#define gv_to_scalar4(x) convert_float4(x)
#endif

/* high and low word; lo only where the precision has it */
typedef struct gv_vector {
    gv_scalar4 hi, lo;
} gv_vector;

/* (at + at_low) * scale + shift + shift_low, the fourth component as it is in `at`. */
static inline gv_vector gv_place(gv_plane4 at, gv_plane4 at_low, gv_exact scale, gv_exact4 shift, gv_exact4 shift_low)
{
    gv_vector v;
#if GV_EXACT_DOUBLE
    gv_exact4 sum = (gv_to_exact4(at) + gv_to_exact4(at_low)) * scale + shift + shift_low;
    v.hi = gv_to_scalar4(sum);
    v.lo = gv_to_scalar4(sum - gv_to_exact4(v.hi));
#else
    gv_exact4 a = at * scale;
    v.hi = a + shift;
    gv_exact4 part = v.hi - a;
    v.lo = ((a - (v.hi - part)) + (shift - part)) + (at_low * scale + shift_low);
#if GV_PRECISION == GV_SP
    v.hi += v.lo;
#endif
#endif
    v.hi.w = (gv_scalar)at.w;
    v.lo.w = 0;
    return v;
}
