/* The loops of direct.c for one type of real: REAL, SQRT and NAME(x) are set by the includer.  No include guard: it is
 * included once per type.
 *
 * Formulas as in ref.h.  Forces, neighbours and error scales are three separate loops: each is short enough to be
 * checked by eye, and the sums of the first stay in registers.  In double, s below 1e-102 overflows s^-3; long double
 * covers every pair of doubles.
 */

typedef struct NAME(vec) {
    REAL x, y, z;
} NAME(vec);

typedef struct NAME(sums) {
    NAME(vec) acc, jerk, snap;
    REAL pot;
} NAME(sums);

/* Conversions from double are exact, so they may be done late. */
static inline NAME(vec) NAME(difference)(const double *x, const double *y, const double *z, size_t j, const double *x0,
                                         const double *y0, const double *z0, size_t i)
{
    return (NAME(vec)){(REAL)at(x, j) - at(x0, i), (REAL)at(y, j) - at(y0, i), (REAL)at(z, j) - at(z0, i)};
}

static inline REAL NAME(dot)(NAME(vec) a, NAME(vec) b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline NAME(vec) NAME(times)(REAL s, NAME(vec) a)
{
    return (NAME(vec)){s * a.x, s * a.y, s * a.z};
}

static inline NAME(vec) NAME(plus)(NAME(vec) a, NAME(vec) b)
{
    return (NAME(vec)){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline NAME(vec) NAME(position_difference)(const ref_job *job, size_t i, size_t j)
{
    const gv_ref_particles *a = job->sinks, *b = job->sources;
    return NAME(difference)(b->x, b->y, b->z, j, a->x, a->y, a->z, i);
}

static inline REAL NAME(eps2)(const ref_job *job, size_t i, size_t j)
{
    const REAL of_sink = at(job->sink_eps, i), of_source = at(job->source_eps, j), of_all = job->eps;
    const REAL larger = of_sink > of_source ? of_sink : of_source;
    switch (job->soften) {
    case GV_REF_SOFTEN_SINKS:
        return of_sink * of_sink;
    case GV_REF_SOFTEN_SOURCES:
        return of_source * of_source;
    case GV_REF_SOFTEN_SUM:
        return of_sink * of_sink + of_source * of_source;
    case GV_REF_SOFTEN_MAX:
        return larger * larger;
    case GV_REF_SOFTEN_EPS:
        break;
    }
    return of_all * of_all;
}

static inline void NAME(add_pair)(const ref_job *job, size_t i, size_t j, REAL eps2, int order, NAME(sums) * sum)
{
    const gv_ref_particles *a = job->sinks, *b = job->sources;
    NAME(vec) dr = NAME(position_difference)(job, i, j);
    REAL s2 = NAME(dot)(dr, dr) + eps2;
    if (s2 == 0)
        return;
    REAL r1 = 1 / SQRT(s2), r2 = r1 * r1;
    REAL m_r1 = b->m[j] * r1, m_r3 = m_r1 * r2;
    NAME(vec) acc = NAME(times)(m_r3, dr);
    sum->acc = NAME(plus)(sum->acc, acc);
    sum->pot -= m_r1;
    if (order < 4)
        return;

    NAME(vec) dv = NAME(difference)(b->vx, b->vy, b->vz, j, a->vx, a->vy, a->vz, i);
    REAL alpha = NAME(dot)(dr, dv) * r2;
    NAME(vec) jerk = NAME(plus)(NAME(times)(m_r3, dv), NAME(times)(-3 * alpha, acc));
    sum->jerk = NAME(plus)(sum->jerk, jerk);
    if (order < 6)
        return;

    NAME(vec) da = NAME(difference)(b->ax, b->ay, b->az, j, a->ax, a->ay, a->az, i);
    REAL beta = (NAME(dot)(dv, dv) + NAME(dot)(dr, da)) * r2 + alpha * alpha;
    NAME(vec) snap = NAME(plus)(NAME(times)(-6 * alpha, jerk), NAME(times)(-3 * beta, acc));
    sum->snap = NAME(plus)(sum->snap, NAME(plus)(NAME(times)(m_r3, da), snap));
}

/* Is source j in the list of sink i? */
static inline int NAME(is_listed)(const ref_job *job, size_t i, size_t j)
{
    const gv_ref_particles *a = job->sinks, *b = job->sources;
    NAME(vec) dr = NAME(position_difference)(job, i, j);
    REAL d2 = NAME(dot)(dr, dr), radius2 = job->radius ? (REAL)job->radius[i] * job->radius[i] : -1;
    if (job->rule.ahead) {
        NAME(vec) dv = NAME(difference)(b->vx, b->vy, b->vz, j, a->vx, a->vy, a->vz, i);
        NAME(vec) then = NAME(plus)(dr, NAME(times)(job->rule.ahead[i], dv));
        REAL then2 = NAME(dot)(then, then);
        d2 = then2 < d2 ? then2 : d2;
    }
    if (job->rule.sphere == GV_REF_WITHIN)
        return d2 <= radius2 && !is_self(a->id, i, b->id, j);
    return d2 < (job->rule.sphere == GV_REF_INSIDE_MASS ? radius2 * b->m[j] : radius2);
}

/* `order` is a constant at every call, so that each gets a loop of its own. */
static inline void NAME(forces)(const ref_job *job, size_t i, int order)
{
    const gv_ref_forces *out = job->out;
    NAME(sums) sum = {.pot = 0};
    for (size_t j = 0; j < job->sources->n; j++)
        if (!is_self(job->sinks->id, i, job->sources->id, j) && !(job->rule.leave_out && NAME(is_listed)(job, i, j)))
            NAME(add_pair)(job, i, j, NAME(eps2)(job, i, j), order, &sum);
    put_vec(out->ax, out->ay, out->az, i, (double)sum.acc.x, (double)sum.acc.y, (double)sum.acc.z);
    put(out->pot, i, (double)sum.pot);
    if (order >= 4)
        put_vec(out->jx, out->jy, out->jz, i, (double)sum.jerk.x, (double)sum.jerk.y, (double)sum.jerk.z);
    if (order >= 6)
        put_vec(out->sx, out->sy, out->sz, i, (double)sum.snap.x, (double)sum.snap.y, (double)sum.snap.z);
}

/* Sums of |pair acc| = |m| d / s^3 and |pair pot| = |m| / s. */
static void NAME(scales)(const ref_job *job, size_t i)
{
    REAL acc = 0, pot = 0;
    for (size_t j = 0; j < job->sources->n; j++) {
        if (is_self(job->sinks->id, i, job->sources->id, j))
            continue;
        NAME(vec) dr = NAME(position_difference)(job, i, j);
        REAL d2 = NAME(dot)(dr, dr), s = SQRT(d2 + NAME(eps2)(job, i, j));
        if (s == 0)
            continue;
        pot += fabs(job->sources->m[j]) / s;
        acc += fabs(job->sources->m[j]) * SQRT(d2) / (s * s * s);
    }
    put(job->out->acc_scale, i, (double)acc);
    put(job->out->pot_scale, i, (double)pot);
}

static void NAME(neighbours)(const ref_job *job, size_t i)
{
    const gv_ref_forces *out = job->out;
    REAL nearest2 = INFINITY;
    size_t nearest = SIZE_MAX, count = 0;
    for (size_t j = 0; j < job->sources->n; j++) {
        if (NAME(is_listed)(job, i, j)) {
            if (out->neighbour_address && count < job->capacity)
                out->neighbour_address[i * job->capacity + count] = (uint32_t)j;
            count++;
        }
        if (is_self(job->sinks->id, i, job->sources->id, j))
            continue;
        NAME(vec) dr = NAME(position_difference)(job, i, j);
        REAL d2 = NAME(dot)(dr, dr);
        if (nearest == SIZE_MAX || d2 < nearest2) {
            nearest = j;
            nearest2 = d2;
        }
    }
    if (out->neighbour_count)
        out->neighbour_count[i] = (uint32_t)count;
    put_nearest(job, i, nearest, (double)SQRT(nearest2));
}

static void NAME(range)(void *arg, size_t begin, size_t end)
{
    const ref_job *job = arg;
    for (size_t i = begin; i < end; i++) {
        if (job->order == 2)
            NAME(forces)(job, i, 2);
        else if (job->order == 4)
            NAME(forces)(job, i, 4);
        else
            NAME(forces)(job, i, 6);
        if (job->out->acc_scale || job->out->pot_scale)
            NAME(scales)(job, i);
        if (wants_neighbours(job->out))
            NAME(neighbours)(job, i);
    }
}
