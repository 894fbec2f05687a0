/* 1 / sqrt(x) for gv_real, x > 0 and normal, by flavour GV_RSQRT:
 *
 *   0 exact     the built-in rsqrt
 *   1 native    sp, ds: native_rsqrt;  dp: a hardware or float estimate, one third-order step
 *   2 refined   sp, ds: native_rsqrt and one Newton step, or where it is a rough estimate (GV_ROUGH_NATIVE, more than
 *               1.4e-4 off) one third-order step;  dp: as 1 with one Newton step more
 *   3 bits      a seed from the exponent bits, then steps: no special instruction at all
 *   4 estimate  the 14-bit (or 12-bit) estimate of the CPU and one step
 *
 * With y close to 1/sqrt(x) and e = 1 - x y^2, 1/sqrt(x) = y (1 + e/2 + 3/8 e^2 + 5/16 e^3 + ...).  A step that keeps
 * the terms up to e^(k-1) leaves an error of about e^k: Newton k = 2, then third and fourth order.
 */
#ifndef GV_RSQRT
#error "GV_RSQRT must be 0 (exact), 1 (native), 2 (refined), 3 (bits) or 4 (estimate)"
#endif

static inline gv_real gv_rsqrt_step2(gv_real x, gv_real y)
{
    gv_real e = gv_fma(-(x * y), y, (gv_real)(1));
    return gv_fma(y * GV_R(0.5), e, y);
}

static inline gv_real gv_rsqrt_step3(gv_real x, gv_real y)
{
    gv_real e = gv_fma(-(x * y), y, (gv_real)(1));
    gv_real p = gv_fma((gv_real)GV_R(0.375), e, (gv_real)GV_R(0.5));
    return gv_fma(y * e, p, y);
}

static inline gv_real gv_rsqrt_step4(gv_real x, gv_real y)
{
    gv_real e = gv_fma(-(x * y), y, (gv_real)(1));
    gv_real p = gv_fma((gv_real)GV_R(0.3125), e, (gv_real)GV_R(0.375));
    p = gv_fma(p, e, (gv_real)GV_R(0.5));
    return gv_fma(y * e, p, y);
}

/* reinterpretations for gv_real of any lanes */
#define GV_AS_REAL GV_PASTE(as_, GV_LANED(GV_SCALAR))
#define GV_AS_BITS GV_PASTE(as_, GV_LANED(GV_MASK_SCALAR))
#if GV_LANES == 1
#define GV_LANED(type) type
#define GV_LANED_FLOAT float
#else
#define GV_LANED(type) GV_PASTE(type, GV_LANES)
#define GV_LANED_FLOAT GV_PASTE(float, GV_LANES)
#endif
typedef GV_LANED(GV_MASK_SCALAR) gv_bits;

#if GV_RSQRT == 0
static inline gv_real gv_rsqrt(gv_real x)
{
    return rsqrt(x);
}

#elif GV_RSQRT == 1 || GV_RSQRT == 2
#if GV_PRECISION != GV_DP
#if defined(GV_PTX_ASM) && GV_LANES == 1
/* native_rsqrt becomes an instruction sequence that also scales subnormal numbers: three slots more */
static inline gv_real gv_rsqrt_native(gv_real x)
{
    gv_real y;
    __asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#else
#define gv_rsqrt_native(x) native_rsqrt(x)
#endif
#ifdef GV_ROUGH_NATIVE
#define gv_rsqrt_step_native gv_rsqrt_step3
#else
#define gv_rsqrt_step_native gv_rsqrt_step2
#endif
static inline gv_real gv_rsqrt(gv_real x)
{
#if GV_RSQRT == 1
    return gv_rsqrt_native(x);
#else
    return gv_rsqrt_step_native(x, gv_rsqrt_native(x));
#endif
}
#else
#if defined(GV_PTX_ASM) && GV_LANES == 1
static inline gv_real gv_rsqrt_seed(gv_real x)
{
    gv_real y;
    __asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
}
#else
/* x = m 4^k with m in [1/2, 2), so that the float estimate covers the whole range of double */
static inline gv_real gv_rsqrt_seed(gv_real x)
{
    gv_bits bits = GV_AS_BITS(x);
    gv_bits k = (bits >> 53) - 511;
    gv_real m = GV_AS_REAL(bits - (k << 53));
    gv_real y = GV_PASTE(convert_, GV_LANED(GV_SCALAR))(native_rsqrt(GV_PASTE(convert_, GV_LANED_FLOAT)(m)));
    return y * GV_AS_REAL((1023 - k) << 52);
}
#endif
static inline gv_real gv_rsqrt(gv_real x)
{
    gv_real y = gv_rsqrt_step3(x, gv_rsqrt_seed(x));
#if GV_RSQRT == 2
    y = gv_rsqrt_step2(x, y);
#endif
    return y;
}
#endif

#elif GV_RSQRT == 3
/* The seed halves the exponent; its error is at most 3.5 %.  float: 1e-4 after the third-order step, 2e-8 after
 * Newton's.  double: 7e-6 after the fourth-order step, 8e-16 after the third-order one. */
static inline gv_real gv_rsqrt(gv_real x)
{
#if GV_PRECISION == GV_DP
    gv_real y = GV_AS_REAL(0x5fe6eb50c7b537a9L - (GV_AS_BITS(x) >> 1));
    return gv_rsqrt_step3(x, gv_rsqrt_step4(x, y));
#else
    gv_real y = GV_AS_REAL(0x5f375a86 - (GV_AS_BITS(x) >> 1));
    return gv_rsqrt_step2(x, gv_rsqrt_step3(x, y));
#endif
}

#elif GV_RSQRT == 4
#if GV_PRECISION == GV_DP
#if !defined(GV_RSQRT14) || GV_LANES != 8
#error "GV_RSQRT = 4 in dp needs the 14-bit estimate and GV_LANES = 8"
#endif
/* relative error 2^-14, 6e-17 after the fourth-order step */
static inline gv_real gv_rsqrt(gv_real x)
{
    gv_real y = __builtin_ia32_rsqrt14pd512_mask(x, (gv_real)(0), (uchar)0xff);
    return gv_rsqrt_step4(x, y);
}
#elif defined(GV_RSQRT14) && GV_LANES == 16
/* relative error 2^-14, 6e-9 after Newton's step */
static inline gv_real gv_rsqrt(gv_real x)
{
    gv_real y = __builtin_ia32_rsqrt14ps512_mask(x, (gv_real)(0), (ushort)0xffff);
    return gv_rsqrt_step2(x, y);
}
#elif defined(GV_RSQRT12) && GV_LANES == 8
/* relative error 1.5 * 2^-12, 1e-10 after the third-order step (Newton's would leave a bias of 2e-7) */
static inline gv_real gv_rsqrt(gv_real x)
{
    return gv_rsqrt_step3(x, __builtin_ia32_rsqrtps256(x));
}
#else
#error "GV_RSQRT = 4 needs the 14-bit estimate with GV_LANES = 16 or the 12-bit one with GV_LANES = 8"
#endif
#else
#error "GV_RSQRT must be 0 ... 4"
#endif
