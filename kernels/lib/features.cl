/* What the compiler and the device can do beyond plain OpenCL 1.2.  The host runs this once per device and driver,
 * checks the values and passes the outcome to every kernel as GV_HAVE_FP64, GV_FAST_FMA, GV_PTX_ASM, GV_RSQRT14 and
 * GV_RSQRT12 (kernels/lib/real.h).
 *
 *   x       16 positive numbers
 *   result  [0..15] 14-bit estimates of 1/sqrt(x), [16..23] the same in double, [24..31] 12-bit estimates,
 *           [32] the estimate by inline PTX
 *   found   1 where that was tried: [0] float fma is one instruction, [1] 14-bit estimate, [2] 14-bit in double,
 *           [3] 12-bit estimate, [4] inline PTX, [5] double keeps 1 + 2^-40;
 *           [6] lanes of float in a register that this compiler uses, 0 = not known
 *
 * One work-item.  GV_TRY_FP64 and GV_TRY_PTX_ASM say what is worth trying; a build that fails is tried without them.
 */
#ifdef GV_TRY_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#ifndef __has_builtin
#define __has_builtin(name) 0
#endif

__attribute__((reqd_work_group_size(1, 1, 1))) kernel void
gv_features(global const float *x, global float *result, global int *found)
{
#if defined(FP_FAST_FMAF) || defined(__FMA__) || defined(__aarch64__)
    found[0] = 1;
#endif

#if defined(__AVX512F__)
    found[6] = 16;
#elif defined(__AVX__)
    found[6] = 8;
#elif defined(__SSE2__) || defined(__aarch64__)
    found[6] = 4;
#endif

#ifdef __AVX512F__
#if __has_builtin(__builtin_ia32_rsqrt14ps512_mask)
    vstore16(__builtin_ia32_rsqrt14ps512_mask(vload16(0, x), (float16)(0), (ushort)0xffff), 0, result);
    found[1] = 1;
#endif
#if defined(GV_TRY_FP64) && __has_builtin(__builtin_ia32_rsqrt14pd512_mask)
    vstore8(convert_float8(
                __builtin_ia32_rsqrt14pd512_mask(convert_double8(vload8(0, x)), (double8)(0), (uchar)0xff)),
            0, result + 16);
    found[2] = 1;
#endif
#endif

#ifdef __AVX__
#if __has_builtin(__builtin_ia32_rsqrtps256)
    vstore8(__builtin_ia32_rsqrtps256(vload8(0, x)), 0, result + 24);
    found[3] = 1;
#endif
#endif

#ifdef GV_TRY_FP64
#ifdef GV_TRY_PTX_ASM
    double y;
    __asm volatile("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"((double)x[0]));
    result[32] = (float)y;
    found[4] = 1;
#endif
    /* x[1] is 1: not known to the compiler */
    double one = (double)x[1];
    found[5] = one + 9.094947017729282e-13 * one != 1.0;
#endif
}
