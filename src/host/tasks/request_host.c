/* A batch by the host: loops in double over lists, eight sinks at a time, requests shared out over the cores. */
#include <math.h>

#include "host/tasks/requests.h"

enum { LANES = 8 };
#define TOO_CLOSE 1e-200
typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef int64_t lanes_mask __attribute__((vector_size(8 * LANES)));

typedef struct sinks {
    lanes x, y, z;
    lanes_mask address;
} sinks;

typedef struct sums {
    lanes x, y, z, pot;
} sums;

#define TARGET
#define NAME(x) plain_##x
#include "host/tasks/request_loops.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_AVX 1
#define TARGET __attribute__((target("avx2")))
#define NAME(x) avx2_##x
#include "host/tasks/request_loops.h"
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl")))
#define NAME(x) avx512_##x
#include "host/tasks/request_loops.h"
#endif

typedef struct loops {
    void (*bodies)(double *const[4], size_t, size_t, const sinks *, double, sums *);
    void (*cells)(const double *, const uint32_t *, size_t, const sinks *, double, sums *);
} loops;

/* The processor is asked each time: a few nanoseconds, and no state. */
static loops best(void)
{
#if HAVE_AVX
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return (loops){avx512_bodies, avx512_cells};
    if (__builtin_cpu_supports("avx2"))
        return (loops){avx2_bodies, avx2_cells};
#endif
    return (loops){plain_bodies, plain_cells};
}

/* Bodies with a spline of support h (kernels/shape/spline.h), sink by sink. */
static void splines(double *const body[4], size_t first, size_t end, const sinks *at, double h, sums *to)
{
    for (int l = 0; l < LANES; l++)
        for (size_t j = first; j < end; j++) {
            const double dx = body[0][j] - at->x[l], dy = body[1][j] - at->y[l], dz = body[2][j] - at->z[l];
            const double s = sqrt(dx * dx + dy * dy + dz * dz), u = s / h, u2 = u * u, m = body[3][j];
            double f, p;
            if ((int64_t)j == at->address[l])
                continue;
            if (u >= 1) {
                f = 1 / (s * s * s);
                p = 1 / s;
            } else if (u < 0.5) {
                f = (32.0 / 3 + u2 * (32 * u - 38.4)) / (h * h * h);
                p = (2.8 - u2 * (16.0 / 3 + u2 * (6.4 * u - 9.6))) / h;
            } else {
                f = (64.0 / 3 - 48 * u + 38.4 * u2 - 32.0 / 3 * u2 * u - 1 / (15 * u2 * u)) / (h * h * h);
                p = (3.2 - 1 / (15 * u) - u2 * (32.0 / 3 + u * (-16 + u * (9.6 - 32.0 / 15 * u)))) / h;
            }
            to->x[l] += m * f * dx;
            to->y[l] += m * f * dy;
            to->z[l] += m * f * dz;
            to->pot[l] -= m * p;
        }
}

typedef struct job {
    const gravel_requests *r;
    const gv_batch *b;
    loops loops;
} job;

/* Sinks first ... of a request; lanes behind its last sink compute as that one does, for nothing. */
static sums force_on(const job *j, size_t request, size_t first, size_t last)
{
    const gravel_requests *r = j->r;
    const gv_batch *b = j->b;
    const int is_spline = r->softening == GRAVEL_SPLINE && r->eps > 0;
    const double eps2 = is_spline ? 0 : r->eps * r->eps;
    sinks at;
    sums total = {{0}, {0}, {0}, {0}};
    for (size_t l = 0; l < LANES; l++) {
        const size_t k = first + l < last ? first + l : last;
        at.x[l] = r->body[0][k], at.y[l] = r->body[1][k], at.z[l] = r->body[2][k];
        at.address[l] = (int64_t)k;
    }
    for (size_t e = b->begin[request]; e < b->begin[request + 1]; e++) {
        const size_t from = b->entry[e].first, end = from + b->entry[e].count;
        if (is_spline)
            splines(r->body, from, end, &at, 2.8 * r->eps, &total);
        else
            j->loops.bodies(r->body, from, end, &at, eps2, &total);
    }
    j->loops.cells(r->cell, b->cell + b->cell_begin[request], b->cell_begin[request + 1] - b->cell_begin[request], &at,
                   eps2, &total);
    return total;
}

static void answer(void *user, size_t first, size_t count)
{
    const job *j = user;
    for (size_t k = first; k < first + count; k++) {
        const gv_asked *a = &j->b->asked[k];
        const size_t stride = a->acc.stride ? a->acc.stride : 1;
        for (size_t s = 0; s < a->sinks.count; s += LANES) {
            const sums f = force_on(j, k, a->sinks.first + s, a->sinks.first + a->sinks.count - 1);
            for (size_t l = 0; l < LANES && s + l < a->sinks.count; l++) {
                if (a->acc.x)
                    a->acc.x[(s + l) * stride] = f.x[l];
                if (a->acc.y)
                    a->acc.y[(s + l) * stride] = f.y[l];
                if (a->acc.z)
                    a->acc.z[(s + l) * stride] = f.z[l];
                if (a->pot)
                    a->pot[s + l] = f.pot[l];
            }
        }
    }
}

void gv_request_host(gravel_requests *r, gv_batch *b, size_t requests)
{
    job j = {r, b, best()};
    gv_parallel(gv_context_pool(r->worker.context), requests, 1, answer, &j);
}
