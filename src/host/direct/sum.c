#include "host/direct/sum.h"

#include <math.h>
#include <string.h>

typedef double lanes __attribute__((vector_size(8 * GV_LANES_OF_SUM)));
typedef int64_t lanes_mask __attribute__((vector_size(8 * GV_LANES_OF_SUM)));
#define LOAD(column, j) (*(const lanes *)(const void *)((column) + (j)))

#define TARGET
#define NAME(x) plain_##x
#include "host/direct/sum_loops.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_AVX 1
#define TARGET __attribute__((target("avx2")))
#define NAME(x) avx2_##x
#include "host/direct/sum_loops.h"
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl")))
#define NAME(x) avx512_##x
#include "host/direct/sum_loops.h"
#endif

typedef struct loops {
    void (*forces)(int, const gv_sum_sources *, const gv_sum_sink *, double *);
    size_t (*nearest)(const gv_sum_sources *, const gv_sum_sink *, double *);
    size_t (*list)(const gv_sum_sources *, const gv_sum_sink *, double, uint32_t *, size_t);
    void (*predict)(int, size_t, size_t, const double *const[6], const double *, double *const[3]);
} loops;

/* The processor is asked each time: a few nanoseconds, and no state. */
static const loops *best(void)
{
    static const loops plain = {plain_forces, plain_nearest, plain_list, plain_predict};
#if HAVE_AVX
    static const loops avx2 = {avx2_forces, avx2_nearest, avx2_list, avx2_predict};
    static const loops avx512 = {avx512_forces, avx512_nearest, avx512_list, avx512_predict};
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return &avx512;
    if (__builtin_cpu_supports("avx2"))
        return &avx2;
#endif
    return &plain;
}

int gv_sum_instructions(void)
{
#if HAVE_AVX
    return (__builtin_cpu_supports("fma") ? 1 : 0) + (__builtin_cpu_supports("avx2") ? 2 : 0) +
           (__builtin_cpu_supports("avx512f") ? 4 : 0);
#else
    return 0;
#endif
}

void gv_sum_forces(int order, const gv_sum_sources *b, const gv_sum_sink *a, double out[GV_SUM_COMPONENTS])
{
    best()->forces(order, b, a, out);
}

size_t gv_sum_nearest(const gv_sum_sources *b, const gv_sum_sink *a, double *r2)
{
    return best()->nearest(b, a, r2);
}

size_t gv_sum_list(const gv_sum_sources *b, const gv_sum_sink *a, double radius2, uint32_t *list, size_t capacity)
{
    return best()->list(b, a, radius2, list, capacity);
}

void gv_sum_predict(size_t first, size_t n, const double *const d[6], const double *dt, double *const to[3])
{
    int derivatives = 5;
    while (derivatives > 0 && !d[derivatives])
        derivatives--;
    if (derivatives > 0) {
        best()->predict(derivatives, first, n, d, dt, to);
        return;
    }
    for (int k = 0; k < 3; k++)
        for (size_t i = first; to[k] && i < n; i++)
            to[k][i] = k == 0 ? d[0][i] : 0;
}
