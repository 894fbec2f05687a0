/* Loops over one component, a type each way.  The build compiles this file with -O3: gcc's -O2 does not vectorise loops
 * of unknown length. */
#include "host/bodies/convert.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Vectors of four doubles where the processor has them, chosen when the library is loaded: 2 to 3 times as fast.  The
 * results are the same bits.  Sanitizers are not ready yet at that time. */
#if defined(__has_attribute) && defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_THREAD__) &&          \
    !defined(__SANITIZE_ADDRESS__)
#if __has_attribute(target_clones)
#define GV_VECTORS __attribute__((target_clones("avx2", "default")))
#endif
#endif
#ifndef GV_VECTORS
#define GV_VECTORS
#endif

static int is_power(double x)
{
    int exponent;
    return frexp(x, &exponent) == 0.5;
}

/* What a loop does with a number.  Lengths have a unit whose inverse is exact; dividing takes four times as long. */
#define GV_SCALED(x) (((x)-offset) * scale)
#define GV_DIVIDED(x) (((x)-offset) / unit)

#define GV_IN_LOOP(name, real, word, stored, step)                                                                     \
    GV_VECTORS static int name(const real *from, size_t stride, size_t n, const gv_conversion *how, word *high)        \
    {                                                                                                                  \
        const double offset = how->offset, unit = how->unit, scale = 1 / unit, limit = how->limit;                     \
        uint64_t bad = 0;                                                                                              \
        (void)stride, (void)scale;                                                                                     \
        for (size_t k = 0; k < n; k++) {                                                                               \
            const double x = stored((double)from[k * (step)]);                                                         \
            bad |= (uint64_t) !(fabs(x) <= limit);                                                                     \
            high[k] = (word)x;                                                                                         \
        }                                                                                                              \
        return !bad;                                                                                                   \
    }

/* The same for two-floats. */
#define GV_IN_PAIR_LOOP(name, real, stored, step)                                                                      \
    GV_VECTORS static int name(const real *from, size_t stride, size_t n, const gv_conversion *how,                    \
                               float *restrict high, float *restrict low)                                              \
    {                                                                                                                  \
        const double offset = how->offset, unit = how->unit, scale = 1 / unit, limit = how->limit;                     \
        uint64_t bad = 0;                                                                                              \
        (void)stride, (void)scale;                                                                                     \
        for (size_t k = 0; k < n; k++) {                                                                               \
            const double x = stored((double)from[k * (step)]);                                                         \
            bad |= (uint64_t) !(fabs(x) <= limit);                                                                     \
            high[k] = (float)x;                                                                                        \
            low[k] = (float)(x - (double)(float)x);                                                                    \
        }                                                                                                              \
        return !bad;                                                                                                   \
    }

/* Columns of given numbers (real) in, stored ones (word) out.  Stride 1 gets loops of its own, which are vectorised. */
#define GV_LOOPS(real, word)                                                                                           \
    GV_IN_LOOP(in_scaled_##real##_##word, real, word, GV_SCALED, 1)                                                    \
    GV_IN_LOOP(in_divided_##real##_##word, real, word, GV_DIVIDED, 1)                                                  \
    GV_IN_LOOP(in_strided_##real##_##word, real, word, GV_DIVIDED, stride)                                             \
    static int in_##real##_##word(const real *from, size_t stride, size_t n, const gv_conversion *how, word *high)     \
    {                                                                                                                  \
        return stride != 1           ? in_strided_##real##_##word(from, stride, n, how, high)                          \
               : is_power(how->unit) ? in_scaled_##real##_##word(from, 1, n, how, high)                                \
                                     : in_divided_##real##_##word(from, 1, n, how, high);                              \
    }                                                                                                                  \
    static inline void out_loop_##real##_##word(const word *high, size_t n, double offset, double unit, real *to,      \
                                                size_t stride)                                                         \
    {                                                                                                                  \
        for (size_t k = 0; k < n; k++)                                                                                 \
            to[k * stride] = (real)((double)high[k] * unit + offset);                                                  \
    }                                                                                                                  \
    GV_VECTORS static void out_##real##_##word(const word *high, size_t n, const gv_conversion *how, real *to,         \
                                               size_t stride)                                                          \
    {                                                                                                                  \
        if (stride == 1)                                                                                               \
            out_loop_##real##_##word(high, n, how->offset, how->unit, to, 1);                                          \
        else                                                                                                           \
            out_loop_##real##_##word(high, n, how->offset, how->unit, to, stride);                                     \
    }

#define GV_PAIR_LOOPS(real)                                                                                            \
    GV_IN_PAIR_LOOP(in_pair_scaled_##real, real, GV_SCALED, 1)                                                         \
    GV_IN_PAIR_LOOP(in_pair_strided_##real, real, GV_DIVIDED, stride)                                                  \
    static int in_pair_##real(const real *from, size_t stride, size_t n, const gv_conversion *how, float *high,        \
                              float *low)                                                                              \
    {                                                                                                                  \
        return stride == 1 && is_power(how->unit) ? in_pair_scaled_##real(from, 1, n, how, high, low)                  \
                                                  : in_pair_strided_##real(from, stride, n, how, high, low);           \
    }                                                                                                                  \
    static inline void out_pair_loop_##real(const float *high, const float *low, size_t n, double offset, double unit, \
                                            real *to, size_t stride)                                                   \
    {                                                                                                                  \
        for (size_t k = 0; k < n; k++)                                                                                 \
            to[k * stride] = (real)(((double)high[k] + (double)low[k]) * unit + offset);                               \
    }                                                                                                                  \
    GV_VECTORS static void out_pair_##real(const float *high, const float *low, size_t n, const gv_conversion *how,    \
                                           real *to, size_t stride)                                                    \
    {                                                                                                                  \
        if (stride == 1)                                                                                               \
            out_pair_loop_##real(high, low, n, how->offset, how->unit, to, 1);                                         \
        else                                                                                                           \
            out_pair_loop_##real(high, low, n, how->offset, how->unit, to, stride);                                    \
    }

/* Four running minima and maxima, which become one vector each. */
#define GV_BOUNDS_LOOP(name, real, step)                                                                               \
    GV_VECTORS static int name(const real *from, size_t stride, size_t n, double *lowest, double *highest)             \
    {                                                                                                                  \
        enum { LANES = 4 };                                                                                            \
        double lo[LANES], hi[LANES];                                                                                   \
        uint64_t bad[LANES] = {0, 0, 0, 0};                                                                            \
        (void)stride;                                                                                                  \
        for (int l = 0; l < LANES; l++)                                                                                \
            lo[l] = hi[l] = from[0];                                                                                   \
        for (size_t k = 0; k + LANES <= n; k += LANES)                                                                 \
            for (size_t l = 0; l < LANES; l++) {                                                                       \
                const double x = from[(k + l) * (step)];                                                               \
                bad[l] |= (uint64_t) !(fabs(x) <= DBL_MAX);                                                            \
                lo[l] = x < lo[l] ? x : lo[l];                                                                         \
                hi[l] = x > hi[l] ? x : hi[l];                                                                         \
            }                                                                                                          \
        for (size_t k = n / LANES * LANES; k < n; k++) {                                                               \
            const double x = from[k * (step)];                                                                         \
            bad[0] |= (uint64_t) !(fabs(x) <= DBL_MAX);                                                                \
            lo[0] = x < lo[0] ? x : lo[0];                                                                             \
            hi[0] = x > hi[0] ? x : hi[0];                                                                             \
        }                                                                                                              \
        *lowest = fmin(fmin(lo[0], lo[1]), fmin(lo[2], lo[3]));                                                        \
        *highest = fmax(fmax(hi[0], hi[1]), fmax(hi[2], hi[3]));                                                       \
        return !(bad[0] | bad[1] | bad[2] | bad[3]);                                                                   \
    }

GV_BOUNDS_LOOP(bounds_double, double, 1)
GV_BOUNDS_LOOP(bounds_strided_double, double, stride)
GV_BOUNDS_LOOP(bounds_float, float, 1)
GV_BOUNDS_LOOP(bounds_strided_float, float, stride)
GV_LOOPS(double, double)
GV_LOOPS(double, float)
GV_LOOPS(float, double)
GV_LOOPS(float, float)
GV_PAIR_LOOPS(double)
GV_PAIR_LOOPS(float)

/* ids: a column of dp has 8 bytes a number, of which they use the first 4 */
static int ids_in(const int32_t *from, size_t stride, size_t n, int wide, void *to)
{
    for (size_t k = 0; k < n; k++)
        if (wide)
            ((uint64_t *)to)[k] = (uint32_t)from[k * stride];
        else
            ((int32_t *)to)[k] = from[k * stride];
    return 1;
}

static void ids_out(const void *from, size_t n, int wide, int32_t *to, size_t stride)
{
    for (size_t k = 0; k < n; k++)
        to[k * stride] = wide ? (int32_t)(uint32_t)((const uint64_t *)from)[k] : ((const int32_t *)from)[k];
}

int gv_convert_in(const gv_conversion *how, const gv_numbers *from, size_t first, size_t n, void *high, void *low)
{
    const size_t stride = from->stride, at = first * stride;
    if (from->type == GRAVEL_I32)
        return ids_in((const int32_t *)from->at + at, stride, n, how->stored == GRAVEL_DP, high);
    if (from->type == GRAVEL_F32) {
        const float *x = (const float *)from->at + at;
        return how->stored == GRAVEL_DP   ? in_float_double(x, stride, n, how, high)
               : how->stored == GRAVEL_DS ? in_pair_float(x, stride, n, how, high, low)
                                          : in_float_float(x, stride, n, how, high);
    }
    const double *x = (const double *)from->at + at;
    return how->stored == GRAVEL_DP   ? in_double_double(x, stride, n, how, high)
           : how->stored == GRAVEL_DS ? in_pair_double(x, stride, n, how, high, low)
                                      : in_double_float(x, stride, n, how, high);
}

void gv_convert_out(const gv_conversion *how, const void *high, const void *low, size_t n, const gv_numbers *to,
                    size_t first)
{
    const size_t stride = to->stride, at = first * stride;
    void *out = (void *)(uintptr_t)to->at;
    if (to->type == GRAVEL_I32) {
        ids_out(high, n, how->stored == GRAVEL_DP, (int32_t *)out + at, stride);
    } else if (to->type == GRAVEL_F32) {
        float *x = (float *)out + at;
        if (how->stored == GRAVEL_DP)
            out_float_double(high, n, how, x, stride);
        else if (low)
            out_pair_float(high, low, n, how, x, stride);
        else
            out_float_float(high, n, how, x, stride);
    } else {
        double *x = (double *)out + at;
        if (how->stored == GRAVEL_DP)
            out_double_double(high, n, how, x, stride);
        else if (low)
            out_pair_double(high, low, n, how, x, stride);
        else
            out_double_float(high, n, how, x, stride);
    }
}

double gv_convert_get(const gv_numbers *from, size_t k)
{
    const size_t at = k * from->stride;
    return from->type == GRAVEL_F64   ? ((const double *)from->at)[at]
           : from->type == GRAVEL_F32 ? (double)((const float *)from->at)[at]
                                      : (double)((const int32_t *)from->at)[at];
}

int gv_convert_bounds(const gv_numbers *from, size_t first, size_t n, double *lowest, double *highest)
{
    const size_t stride = from->stride;
    if (from->type == GRAVEL_F32) {
        const float *x = (const float *)from->at + first * stride;
        return stride == 1 ? bounds_float(x, 1, n, lowest, highest)
                           : bounds_strided_float(x, stride, n, lowest, highest);
    }
    const double *x = (const double *)from->at + first * stride;
    return stride == 1 ? bounds_double(x, 1, n, lowest, highest) : bounds_strided_double(x, stride, n, lowest, highest);
}

/* A choice between two sums would keep loops from being vectorised; bits of the low word do not. */
static inline double sum_of(float high, float low)
{
    const double x = (double)high;
    double rest = (double)low;
    uint64_t bits;
    memcpy(&bits, &rest, sizeof bits);
    bits &= -(uint64_t)(fabs(x) <= FLT_MAX);
    memcpy(&rest, &bits, sizeof rest);
    return x + rest;
}

GV_VECTORS static void sum_column(const float *restrict high, const float *restrict low, size_t n, double a, double b,
                                  double c, double *restrict to)
{
    for (size_t k = 0; k < n; k++)
        to[k] = 0 + sum_of(high[k], low[k]) * a * b * c; /* -0 becomes 0, as where sums are added */
}

void gv_convert_sums(const float *high, const float *low, size_t n, const double factor[3], int add, double *to,
                     size_t stride)
{
    const double a = factor[0], b = factor[1], c = factor[2];
    if (stride == 1 && !add)
        sum_column(high, low, n, a, b, c, to);
    else
        for (size_t k = 0; k < n; k++)
            to[k * stride] = (add ? to[k * stride] : 0) + sum_of(high[k], low[k]) * a * b * c;
}

GV_VECTORS static void sum_rows(const float *restrict x, const float *restrict y, const float *restrict z,
                                const float *restrict x_low, const float *restrict y_low, const float *restrict z_low,
                                size_t n, double a, double b, double c, double *restrict to)
{
    for (size_t k = 0; k < n; k++) {
        to[3 * k] = 0 + sum_of(x[k], x_low[k]) * a * b * c;
        to[3 * k + 1] = 0 + sum_of(y[k], y_low[k]) * a * b * c;
        to[3 * k + 2] = 0 + sum_of(z[k], z_low[k]) * a * b * c;
    }
}

void gv_convert_sum_rows(const float *const high[3], const float *const low[3], size_t n, const double factor[3],
                         double *rows)
{
    sum_rows(high[0], high[1], high[2], low[0], low[1], low[2], n, factor[0], factor[1], factor[2], rows);
}
