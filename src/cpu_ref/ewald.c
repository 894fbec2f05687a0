/* Ewald sums by structure factors, in double or long double (ewald_impl.h, included once for each).  The sinks are
 * shared out over the online cores; no sum depends on their number. */
#include "cpu_ref/ewald.h"

#include <math.h>
#include <stdlib.h>

#include "cpu_ref/parallel.h"

#define PI 3.14159265358979323846264338327950288L

typedef struct ewald_job {
    const gv_ref_particles *sinks, *sources;
    const gv_ref_box *box;
    double alpha; /* times L */
    const gv_ref_forces *out;
} ewald_job;

static inline void put(double *p, size_t k, double value)
{
    if (p)
        p[k] = value;
}

/* as in direct.c */
static inline int is_self(const int32_t *sink_id, size_t i, const int32_t *source_id, size_t j)
{
    if (!sink_id || sink_id[i] == -1)
        return 0;
    return source_id ? sink_id[i] == source_id[j] : (int64_t)sink_id[i] == (int64_t)j;
}

#define REAL double
#define F(f) f
#define NAME(x) x##_d
#define REACH 6.2 /* erfc: 2e-18 */
#include "cpu_ref/ewald_impl.h"
#undef REAL
#undef F
#undef NAME
#undef REACH

#define REAL long double
#define F(f) f##l
#define NAME(x) x##_l
#define REACH 6.9 /* erfc: 2e-22 */
#include "cpu_ref/ewald_impl.h"

static void poison(double *p, size_t n)
{
    for (size_t k = 0; p && k < n; k++)
        p[k] = NAN;
}

int gv_ref_ewald(gv_ref_real real, const gv_ref_particles *sinks, const gv_ref_particles *sources,
                 const gv_ref_box *box, const gv_ref_forces *out)
{
    ewald_job job = {sinks, sources, box, box ? box->alpha : 0, out};
    if (!sinks || !sources || !box || !out || !(box->side > 0) || !isfinite(box->side) || !(box->eps >= 0))
        return -1;
    if (job.alpha == 0)
        job.alpha = real == GV_REF_DOUBLE ? 12.4 : 13.8; /* REACH / alpha = L / 2 */
    if (!(job.alpha >= 1) || job.alpha > 100)
        return -1;
    /* the softened part of a pair is that of its nearest image */
    if (box->shape == GV_REF_SPLINE && 2.8 * box->eps > box->side / 2)
        return -1;
    poison(out->ax, sinks->n);
    poison(out->ay, sinks->n);
    poison(out->az, sinks->n);
    poison(out->pot, sinks->n);
    return real == GV_REF_DOUBLE ? ewald_d(&job) : ewald_l(&job);
}
