/* Arithmetic rates: the peak of a device's pipes, which benchmarks compare kernels with.
 *
 *   gv_rate_fma    c = c * a + b         tends to b / (1 - a): no overflow, no denormal numbers
 *   gv_rate_rsqrt  c = c^(-1/2)          tends to 1
 *
 * Every work-item runs GV_CHAINS independent chains, GV_LANES lanes each, so that latency hides behind them: a CPU core
 * needs pipes x latency chains (2 x 4, some 4 x 4), a GPU has other work-items besides.  One loop turn makes GV_STEPS
 * steps per chain, so that counting turns costs little: three of 3 + 8 * 32 issue slots on a GPU.
 *
 *   operations = work-items * GV_LANES * GV_CHAINS * GV_STEPS * turns
 */
#ifndef GV_THREADS
#error "GV_THREADS must be set: work-items per group"
#endif
#ifndef GV_CHAINS
#error "GV_CHAINS must be 8, 12 or 24: independent chains per work-item"
#endif

#include "lib/real.h"

#define GV_EACH_8(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define GV_EACH_12(X) GV_EACH_8(X) X(8) X(9) X(10) X(11)
#define GV_EACH_24(X) GV_EACH_12(X) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)
#if GV_CHAINS == 8
#define GV_EACH GV_EACH_8
#elif GV_CHAINS == 12
#define GV_EACH GV_EACH_12
#elif GV_CHAINS == 24
#define GV_EACH GV_EACH_24
#else
#error "GV_CHAINS must be 8, 12 or 24"
#endif

#define GV_TIMES_4(X) X X X X
#define GV_TIMES_16(X) GV_TIMES_4(GV_TIMES_4(X))
#if GV_STEPS == 16
#define GV_TIMES(X) GV_TIMES_16(X)
#elif GV_STEPS == 32
#define GV_TIMES(X) GV_TIMES_16(X) GV_TIMES_16(X)
#else
#error "GV_STEPS must be 16 or 32: steps per chain in a loop turn"
#endif

/* all steps of a loop turn, as one statement */
#define GV_TURN(operation)                                                                                             \
    do {                                                                                                               \
        GV_TIMES(GV_EACH(operation))                                                                                   \
    } while (0)

/* start values differ, else a compiler may run one chain for all */
#define GV_START(k) gv_real c##k = (gv_real)(start + (gv_scalar)(k)*step);
#define GV_ADD(k) sum += c##k;

#define GV_FMA(k) c##k = gv_fma(c##k, va, vb);

__attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) kernel void
gv_rate_fma(global gv_scalar *out, gv_scalar start, gv_scalar step, gv_scalar a, gv_scalar b, uint turns)
{
    gv_real va = (gv_real)(a), vb = (gv_real)(b), sum = (gv_real)(0);
    GV_EACH(GV_START)
    for (uint turn = 0; turn < turns; turn++)
        GV_TURN(GV_FMA);
    GV_EACH(GV_ADD)
    gv_store(sum, out + get_global_id(0) * GV_LANES);
}

/* The fastest estimate there is, without steps that refine it. */
#if GV_PRECISION == GV_SP
#if defined(GV_RSQRT14) && GV_LANES == 16
#define gv_estimate(x) __builtin_ia32_rsqrt14ps512_mask(x, x, (ushort)0xffff)
#elif defined(GV_RSQRT12) && GV_LANES == 8
#define gv_estimate(x) __builtin_ia32_rsqrtps256(x)
#else
#define gv_estimate(x) native_rsqrt(x)
#endif
#define GV_RSQRT_STEP(k) c##k = gv_estimate(c##k);

__attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) kernel void
gv_rate_rsqrt(global gv_scalar *out, gv_scalar start, gv_scalar step, uint turns)
{
    gv_real sum = (gv_real)(0);
    GV_EACH(GV_START)
    for (uint turn = 0; turn < turns; turn++)
        GV_TURN(GV_RSQRT_STEP);
    GV_EACH(GV_ADD)
    gv_store(sum, out + get_global_id(0) * GV_LANES);
}
#endif
