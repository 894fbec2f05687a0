/* Direct summation of the reference: one plain loop per sink, in double or long double (direct_impl.h, included once
 * for each), the sinks shared out over the online cores.  A sink's sums never depend on the number of threads.
 *
 * Measured on one core at about 3.5 GHz (gcc 12, -O2), N = 16384: see doc/theory.md.
 */
#include <math.h>

#include "cpu_ref/parallel.h"
#include "cpu_ref/ref.h"

typedef struct ref_job {
    int order;
    const gv_ref_particles *sinks, *sources;
    double eps;
    const double *radius;
    size_t capacity;
    const gv_ref_forces *out;
    gv_ref_soften soften;
    const double *sink_eps, *source_eps;
    gv_ref_rule rule;
} ref_job;

static inline double at(const double *p, size_t k)
{
    return p ? p[k] : 0.0;
}

static inline void put(double *p, size_t k, double value)
{
    if (p)
        p[k] = value;
}

static inline void put_vec(double *px, double *py, double *pz, size_t k, double x, double y, double z)
{
    put(px, k, x);
    put(py, k, y);
    put(pz, k, z);
}

/* `nearest` SIZE_MAX: there is none */
static void put_nearest(const ref_job *job, size_t i, size_t nearest, double distance)
{
    const gv_ref_forces *out = job->out;
    const int32_t *id = job->sources->id;
    int none = nearest == SIZE_MAX;
    put(out->nearest_distance, i, none ? INFINITY : distance);
    if (out->nearest_address)
        out->nearest_address[i] = none ? UINT32_MAX : (uint32_t)nearest;
    if (out->nearest_id)
        out->nearest_id[i] = none ? -1 : id ? id[nearest] : (int32_t)nearest;
}

static int wants_neighbours(const gv_ref_forces *out)
{
    return out->nearest_id || out->nearest_address || out->nearest_distance || out->neighbour_count ||
           out->neighbour_address;
}

/* A pair is the same particle if the ids are equal and not -1; ids that are not given: sinks match nothing. */
static inline int is_self(const int32_t *sink_id, size_t i, const int32_t *source_id, size_t j)
{
    if (!sink_id || sink_id[i] == -1)
        return 0;
    return source_id ? sink_id[i] == source_id[j] : (int64_t)sink_id[i] == (int64_t)j;
}

#define REAL double
#define SQRT sqrt
#define NAME(x) x##_d
#include "cpu_ref/direct_impl.h"
#undef REAL
#undef SQRT
#undef NAME

#define REAL long double
#define SQRT sqrtl
#define NAME(x) x##_ld
#include "cpu_ref/direct_impl.h"
#undef REAL
#undef SQRT
#undef NAME

static int triple_ok(const double *x, const double *y, const double *z)
{
    return (x && y && z) || (!x && !y && !z);
}

static int particles_ok(const gv_ref_particles *p)
{
    if (!p)
        return 0;
    return p->n == 0 || (p->x && p->y && p->z && triple_ok(p->vx, p->vy, p->vz) && triple_ok(p->ax, p->ay, p->az));
}

static int run_job(gv_ref_real real, ref_job job)
{
    const gv_ref_particles *sinks = job.sinks, *sources = job.sources;
    if (job.order != 2 && job.order != 4 && job.order != 6)
        return -1;
    if (real != GV_REF_DOUBLE && real != GV_REF_LONG_DOUBLE)
        return -1;
    if (!particles_ok(sinks) || !particles_ok(sources) || !job.out || !(job.eps >= 0.0))
        return -1;
    if (sources->n > UINT32_MAX || (sources->n > 0 && !sources->m))
        return -1;
    for (size_t i = 0; job.radius && i < sinks->n; i++)
        if (!(job.radius[i] >= 0.0))
            return -1;
    double seconds = (double)sinks->n * (double)sources->n * (real == GV_REF_DOUBLE ? 5e-9 : 3e-8);
    gv_ref_parallel(sinks->n, seconds, real == GV_REF_DOUBLE ? range_d : range_ld, &job);
    return 0;
}

int gv_ref_direct(gv_ref_real real, int order, const gv_ref_particles *sinks, const gv_ref_particles *sources,
                  double eps, const double *radius, size_t capacity, const gv_ref_forces *out)
{
    return run_job(real, (ref_job){order,
                                   sinks,
                                   sources,
                                   eps,
                                   radius,
                                   capacity,
                                   out,
                                   GV_REF_SOFTEN_EPS,
                                   NULL,
                                   NULL,
                                   {GV_REF_WITHIN, NULL, 0}});
}

int gv_ref_direct_softened(gv_ref_real real, int order, const gv_ref_particles *sinks, const gv_ref_particles *sources,
                           gv_ref_soften soften, const double *sink_eps, const double *source_eps,
                           const gv_ref_forces *out)
{
    if (soften <= GV_REF_SOFTEN_EPS || soften > GV_REF_SOFTEN_MAX)
        return -1;
    return run_job(
        real,
        (ref_job){order, sinks, sources, 0, NULL, 0, out, soften, sink_eps, source_eps, {GV_REF_WITHIN, NULL, 0}});
}

int gv_ref_direct_ruled(gv_ref_real real, int order, const gv_ref_particles *sinks, const gv_ref_particles *sources,
                        double eps, const double *radius, size_t capacity, const gv_ref_rule *rule,
                        const gv_ref_forces *out)
{
    if (!rule || rule->sphere > GV_REF_INSIDE_MASS)
        return -1;
    return run_job(real,
                   (ref_job){order, sinks, sources, eps, radius, capacity, out, GV_REF_SOFTEN_EPS, NULL, NULL, *rule});
}
