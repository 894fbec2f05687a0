/* What the compiler and the device can do beyond plain OpenCL 1.2, and whether the results are right.  The host runs
 * this once per device and driver, checks the results (src/host/program/features.c) and passes the outcome to every
 * kernel as GV_HAVE_FP64, GV_FAST_FMA, GV_PTX_ASM, GV_RSQRT14 and GV_RSQRT12 (kernels/lib/real.h).
 *
 *   gv_features  ways to find 1/sqrt(x), and which features exist
 *   gv_count     a long loop: some runtimes end it early, some event timers do not measure it
 *   gv_fused     chains of fma; the time is compared with gv_apart
 *   gv_apart     the same chains with a product and a sum
 *   gv_by_group  pair sums in the shape that suits GPUs: a group's work-items share tiles in local memory
 *   gv_by_lanes4, 8, 16  the same sums in the shape that suits CPUs: one work-item with explicit vectors
 *
 * GV_TRY_FP64 and GV_TRY_PTX_ASM select what is tried; a build that fails is tried without them.
 */
#ifdef GV_TRY_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#ifndef __has_builtin
#define __has_builtin(name) 0
#endif

/* Work-item k treats x[16 k ... 16 k + 15] of n positive numbers; x[1] is 1.
 *
 *   result  planes of n numbers: 0 rsqrt, 1 native_rsqrt, 2, 3, 4 the same in vectors of 4, 8, 16, 5 the 14-bit
 *           estimate, 6 the same in double, 7 the 12-bit estimate, 8 inline PTX in float, 9 in double
 *   found   1 where that was tried: [0] a fused fma, [1] 14-bit estimate, [2] the same in double, [3] 12-bit estimate,
 *           [4] inline PTX, [5] double keeps 1 + 2^-40; [6] lanes of float in a register that this compiler uses,
 *           0: unknown
 */
__attribute__((reqd_work_group_size(1, 1, 1))) kernel void gv_features(global const float *x, uint n,
                                                                       global float *result, global int *found)
{
    const uint at = get_global_id(0) * 16;
    for (uint k = at; k < at + 16; k++) {
        result[k] = rsqrt(x[k]);
        result[n + k] = native_rsqrt(x[k]);
    }
    for (uint k = 0; k < 16; k += 4)
        vstore4(native_rsqrt(vload4(0, x + at + k)), 0, result + 2 * n + at + k);
    for (uint k = 0; k < 16; k += 8)
        vstore8(native_rsqrt(vload8(0, x + at + k)), 0, result + 3 * n + at + k);
    vstore16(native_rsqrt(vload16(0, x + at)), 0, result + 4 * n + at);

    /* a a = 1 + 2^-11 + 2^-24: the product alone loses the last term */
    const float a = x[1] + 0x1p-12f, square = x[1] + 0x1p-11f;
    const float8 wide = fma((float8)(a), (float8)(a), (float8)(-square));
    found[0] = fma(a, a, -square) == 0x1p-24f && wide.s0 == 0x1p-24f && wide.s7 == 0x1p-24f;

#if defined(__AVX512F__)
    found[6] = 16;
#elif defined(__AVX__)
    found[6] = 8;
#elif defined(__SSE2__) || defined(__aarch64__)
    found[6] = 4;
#endif

#ifdef __AVX512F__
#if __has_builtin(__builtin_ia32_rsqrt14ps512_mask)
    vstore16(__builtin_ia32_rsqrt14ps512_mask(vload16(0, x + at), (float16)(0), (ushort)0xffff), 0,
             result + 5 * n + at);
    found[1] = 1;
#endif
#if defined(GV_TRY_FP64) && __has_builtin(__builtin_ia32_rsqrt14pd512_mask)
    for (uint k = at; k < at + 16; k += 8)
        vstore8(convert_float8(
                    __builtin_ia32_rsqrt14pd512_mask(convert_double8(vload8(0, x + k)), (double8)(0), (uchar)0xff)),
                0, result + 6 * n + k);
    found[2] = 1;
#endif
#endif

#ifdef __AVX__
#if __has_builtin(__builtin_ia32_rsqrtps256)
    for (uint k = at; k < at + 16; k += 8)
        vstore8(__builtin_ia32_rsqrtps256(vload8(0, x + k)), 0, result + 7 * n + k);
    found[3] = 1;
#endif
#endif

#ifdef GV_TRY_FP64
#ifdef GV_TRY_PTX_ASM
    for (uint k = at; k < at + 16; k++) {
        float y;
        double z;
        __asm volatile("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x[k]));
        __asm volatile("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(z) : "d"((double)x[k]));
        result[8 * n + k] = y;
        result[9 * n + k] = (float)z;
    }
    found[4] = 1;
#endif
    /* x[1] is 1, which the compiler cannot know */
    double one = (double)x[1];
    found[5] = one + 9.094947017729282e-13 * one != 1.0;
#endif
}

/* a random number generator that is run `turns` times: no compiler finds a formula for that, every turn needs the one
 * before */
__attribute__((reqd_work_group_size(1, 1, 1))) kernel void gv_count(global uint *state, uint turns)
{
    uint s = state[0];
    for (uint turn = 0; turn < turns; turn++)
        s = (s ^ (s >> 15)) * 0x2c1b3c6dU + turn;
    state[0] = s;
}

/* c tends to b / (1 - a); four chains, for the latency, and no more: where fma is emulated, each is hundreds of
 * instructions a lane */
#define GV_CHAINS(step)                                                                                                \
    float8 c0 = x[0], c1 = x[1], c2 = x[2], c3 = x[3];                                                                 \
    for (uint turn = 0; turn < turns; turn++)                                                                          \
        c0 = step(c0), c1 = step(c1), c2 = step(c2), c3 = step(c3);                                                    \
    x[0] = (c0 + c1) + (c2 + c3);

#define GV_STEP_FUSED(c) fma(c, (float8)(a), (float8)(b))
#define GV_STEP_APART(c) ((c)*a + b)

__attribute__((reqd_work_group_size(1, 1, 1))) kernel void gv_fused(global float8 *x, float a, float b, uint turns)
{
    GV_CHAINS(GV_STEP_FUSED)
}

__attribute__((reqd_work_group_size(1, 1, 1))) kernel void gv_apart(global float8 *x, float a, float b, uint turns)
{
#pragma OPENCL FP_CONTRACT OFF
    GV_CHAINS(GV_STEP_APART)
}

/* Sums of m / (r^2 + 1)^(3/2) over n sources, n a multiple of 64, for as many sinks as there are work-items, times the
 * lanes of one. */
#define GV_TRY_TILE 64

__attribute__((reqd_work_group_size(GV_TRY_TILE, 1, 1))) kernel void gv_by_group(global const float4 *source, uint n,
                                                                                 global float *sum)
{
    local float4 tile[GV_TRY_TILE];
    const float4 sink = source[get_global_id(0) % n];
    float total = 0;
    for (uint first = 0; first < n; first += GV_TRY_TILE) {
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[get_local_id(0)] = source[first + get_local_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < GV_TRY_TILE; k++) {
            const float x = tile[k].x - sink.x, y = tile[k].y - sink.y, z = tile[k].z - sink.z;
            const float r = rsqrt(x * x + y * y + z * z + 1);
            total += tile[k].w * r * r * r;
        }
    }
    sum[get_global_id(0)] = total;
}

#define GV_BY_LANES(lanes)                                                                                             \
    __attribute__((reqd_work_group_size(1, 1, 1)))                                                                     \
    kernel void gv_by_lanes##lanes(global const float4 *source, uint n, global float *sum)                             \
    {                                                                                                                  \
        float sink[3][lanes];                                                                                          \
        for (uint k = 0; k < lanes; k++) {                                                                             \
            const float4 one = source[(get_global_id(0) * lanes + k) % n];                                             \
            sink[0][k] = one.x, sink[1][k] = one.y, sink[2][k] = one.z;                                                \
        }                                                                                                              \
        const float##lanes at_x = vload##lanes(0, sink[0]), at_y = vload##lanes(0, sink[1]),                           \
                           at_z = vload##lanes(0, sink[2]);                                                            \
        float##lanes total = 0;                                                                                        \
        for (uint k = 0; k < n; k++) {                                                                                 \
            const float##lanes x = source[k].x - at_x, y = source[k].y - at_y, z = source[k].z - at_z;                 \
            const float##lanes r = rsqrt(x * x + y * y + z * z + 1);                                                   \
            total += source[k].w * r * r * r;                                                                          \
        }                                                                                                              \
        vstore##lanes(total, get_global_id(0), sum);                                                                   \
    }

GV_BY_LANES(4)
GV_BY_LANES(8)
GV_BY_LANES(16)
