/* Interactions other than softened Newton's, pair by pair in long double. */
#include <math.h>

#include "cpu_ref/parallel.h"
#include "cpu_ref/ref.h"

typedef struct pair {
    long double acc[3], pot;
} pair;

/* seconds of a pair, roughly */
#define PAIR_COST 3e-8

typedef struct shape_job {
    const gv_ref_law *shape;
    const double (*q)[6];
    const gv_ref_particles *sinks, *sources;
    const gv_ref_forces *out;
    double eps;
} shape_job;

/* Factors of d and of 1: acc = f d, pot = -p */
static void shaped(const gv_ref_law *shape, long double s, long double *f, long double *p)
{
    const long double u = shape->kind == GV_REF_LAW_FORCES ? s : s / shape->length;
    *f = *p = 0;
    if (u >= shape->cut || (s == 0 && shape->kind != GV_REF_LAW_FORCES))
        return;
    if (shape->kind == GV_REF_LAW_TRUNCATED) {
        *p = erfcl(u) / s;
        *f = (erfcl(u) + 2 / sqrtl(acosl(-1)) * u * expl(-u * u)) / (s * s * s);
        return;
    }
    *f = shape->force((double)u, shape->user);
    *p = shape->potential((double)u, shape->user);
    if (shape->kind == GV_REF_LAW_FACTORS) {
        *f /= s * s * s;
        *p /= s;
    }
}

static pair with_quadrupole(const double q[6], long double m, const long double d[3], long double s)
{
    pair sum = {{0, 0, 0}, 0};
    if (s == 0)
        return sum;
    const long double qd[3] = {q[0] * d[0] + q[1] * d[1] + q[2] * d[2], q[1] * d[0] + q[3] * d[1] + q[4] * d[2],
                               q[2] * d[0] + q[4] * d[1] + q[5] * d[2]};
    const long double dqd = d[0] * qd[0] + d[1] * qd[1] + d[2] * qd[2], s3 = s * s * s, s5 = s3 * s * s;
    for (int c = 0; c < 3; c++)
        sum.acc[c] = m * d[c] / s3 + (2.5L * dqd * d[c] / (s * s) - qd[c]) / s5;
    sum.pot = -m / s - dqd / (2 * s5);
    return sum;
}

static pair one_pair(const shape_job *job, size_t i, size_t j)
{
    const gv_ref_particles *a = job->sinks, *b = job->sources;
    const long double d[3] = {(long double)b->x[j] - a->x[i], (long double)b->y[j] - a->y[i],
                              (long double)b->z[j] - a->z[i]};
    const long double eps = job->eps, s = sqrtl(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + eps * eps);
    long double f, p;
    if (job->q)
        return with_quadrupole(job->q[j], b->m[j], d, s);
    shaped(job->shape, s, &f, &p);
    f *= b->m[j];
    return (pair){{f * d[0], f * d[1], f * d[2]}, -p * b->m[j]};
}

static void sums(void *arg, size_t begin, size_t end)
{
    const shape_job *job = arg;
    const gv_ref_forces *out = job->out;
    for (size_t i = begin; i < end; i++) {
        long double acc[3] = {0, 0, 0}, pot = 0, acc_scale = 0, pot_scale = 0;
        for (size_t j = 0; j < job->sources->n; j++) {
            const int32_t id = job->sources->id ? job->sources->id[j] : (int32_t)j;
            if (job->sinks->id && job->sinks->id[i] == id && id != -1)
                continue;
            const pair p = one_pair(job, i, j);
            for (int c = 0; c < 3; c++)
                acc[c] += p.acc[c];
            pot += p.pot;
            acc_scale += sqrtl(p.acc[0] * p.acc[0] + p.acc[1] * p.acc[1] + p.acc[2] * p.acc[2]);
            pot_scale += fabsl(p.pot);
        }
        double *const to[6] = {out->ax, out->ay, out->az, out->pot, out->acc_scale, out->pot_scale};
        const long double from[6] = {acc[0], acc[1], acc[2], pot, acc_scale, pot_scale};
        for (int c = 0; c < 6; c++)
            if (to[c])
                to[c][i] = (double)from[c];
    }
}

int gv_ref_by_law(const gv_ref_law *shape, const gv_ref_particles *sinks, const gv_ref_particles *sources, double eps,
                  const gv_ref_forces *out)
{
    shape_job job = {shape, NULL, sinks, sources, out, eps};
    if (!shape || !sinks || !sources || !out || !(shape->cut > 0))
        return -1;
    gv_ref_parallel(sinks->n, PAIR_COST * (double)sinks->n * (double)sources->n, sums, &job);
    return 0;
}

int gv_ref_quadrupoles(const gv_ref_particles *sinks, const gv_ref_particles *sources, const double (*q)[6], double eps,
                       const gv_ref_forces *out)
{
    shape_job job = {NULL, q, sinks, sources, out, eps};
    if (!q || !sinks || !sources || !out)
        return -1;
    gv_ref_parallel(sinks->n, PAIR_COST * (double)sinks->n * (double)sources->n, sums, &job);
    return 0;
}
