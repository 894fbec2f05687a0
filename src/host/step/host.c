/* The host moves a block: kernels/step/formulas.h in double, on its copy of the bodies. */
#include <math.h>
#include <string.h>

#include "host/step/step.h"

#define GV_FORMULA static inline
typedef double gv_scalar;
typedef double gv_scalar4 __attribute__((vector_size(32)));
#define GV_R(x) (x)
#define GV_LENGTH(v) length(v)
static inline double length(gv_scalar4 v)
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}
#include "kernels/step/formulas.h"

/* ------------------------------------------------------------------ which are next */

gravel_status gv_host_find(gravel_hermite *h, gv_due *block)
{
    gv_host_copy *c = &h->copy;
    gravel_status status = gv_copy_need(h);
    if (status)
        return status;
    double *const step = gv_own(c, GV_OWN_STEP);
    const double *const time = gv_own(c, GV_OWN_TIME);
    double least = INFINITY;
    for (size_t k = 0; k < c->n; k++)
        least = time[k] + step[k] < least ? time[k] + step[k] : least;
    size_t dues = 0;
    for (size_t k = 0; k < c->n; k++) {
        c->due[dues] = (uint32_t)k;
        dues += time[k] + step[k] <= least || h->options.shared;
    }
    for (size_t k = 0; k < c->n && h->options.shared; k++)
        step[k] = least - time[k];
    c->dues = dues;
    *block = (gv_due){least, dues, c->too_short};
    return GRAVEL_OK;
}

void gv_host_take_all(gravel_hermite *h)
{
    for (size_t k = 0; k < h->copy.n; k++)
        h->copy.due[k] = (uint32_t)k;
    h->copy.dues = h->copy.n;
}

/* ------------------------------------------------------------------------ prediction */

/* All bodies at `time`: those of the block are among the sources. */
static void predict(gravel_hermite *h, double time)
{
    gv_host_copy *c = &h->copy;
    const double *const own = gv_own(c, GV_OWN_TIME);
    double *const span = gv_own(c, GV_OWN_SPAN);
    for (size_t k = 0; k < c->n; k++)
        span[k] = time - own[k];
    for (int axis = 0; axis < 3; axis++) {
        const double *d[6] = {NULL};
        double *const to[3] = {gv_own(c, GV_OWN_AT + axis), gv_own(c, GV_OWN_SPEED + axis),
                               h->options.order == 6 ? gv_own(c, GV_OWN_CHANGE + axis) : NULL};
        for (int k = 0; k < (h->options.order == 6 ? 6 : 5); k++)
            d[k] = gv_own(c, GV_OWN_POSITION + 3 * k + axis);
        gv_sum_predict(0, c->n, d, span, to);
    }
}

static gv_sum_sources sources_of(const gv_host_copy *c)
{
    return (gv_sum_sources){.count = c->n,
                            .mass = gv_own(c, GV_OWN_MASS),
                            .id = gv_own(c, GV_OWN_ID),
                            .x = gv_own(c, GV_OWN_AT),
                            .y = gv_own(c, GV_OWN_AT + 1),
                            .z = gv_own(c, GV_OWN_AT + 2),
                            .vx = gv_own(c, GV_OWN_SPEED),
                            .vy = gv_own(c, GV_OWN_SPEED + 1),
                            .vz = gv_own(c, GV_OWN_SPEED + 2),
                            .ax = gv_own(c, GV_OWN_CHANGE),
                            .ay = gv_own(c, GV_OWN_CHANGE + 1),
                            .az = gv_own(c, GV_OWN_CHANGE + 2)};
}

/* ------------------------------------------------------------------------ correction */

typedef struct moving {
    gravel_hermite *h;
    gv_sum_sources sources;
    double time, eps2, too_close, per_mass;
    int stay;
} moving;

static gv_scalar4 vector(const gv_host_copy *c, int column, size_t k)
{
    return (gv_scalar4){gv_own(c, column)[k], gv_own(c, column + 1)[k], gv_own(c, column + 2)[k], 0};
}

/* As the planes hold it: in ds in two words or in one. */
static double rounded(gravel_precision p, int words, double x)
{
    const double high = (double)(float)x;
    return p == GRAVEL_DP ? x : words == 1 ? high : high + (double)(float)(x - high);
}

static void put_vector(const gv_host_copy *c, gravel_precision p, int column, int words, size_t k, const gv_scalar4 *v)
{
    for (int axis = 0; axis < 3; axis++)
        gv_own(c, column + axis)[k] = rounded(p, words, (*v)[axis]);
}

/* Position, velocity, acceleration. */
static gv_sum_sink sink_at(const moving *m, size_t k, const gv_scalar4 *x)
{
    return (gv_sum_sink){.x = x[0][0],
                         .y = x[0][1],
                         .z = x[0][2],
                         .vx = x[1][0],
                         .vy = x[1][1],
                         .vz = x[1][2],
                         .ax = x[2][0],
                         .ay = x[2][1],
                         .az = x[2][2],
                         .id = gv_own(&m->h->copy, GV_OWN_ID)[k],
                         .eps2 = m->eps2,
                         .too_close = m->too_close};
}

/* What a step leaves: e, the derivatives at its end times their powers of T.  A step that became too short is 0. */
static void finish_step(const moving *m, size_t k, double T, const gv_scalar4 *e, const double *force)
{
    const gv_host_copy *c = &m->h->copy;
    const gravel_hermite_options *o = &m->h->options;
    const gravel_precision p = m->h->bodies->precision;
    const double per = 1 / T, noise = p == GRAVEL_DP ? GV_FORCE_NOISE_DP : GV_FORCE_NOISE_DS;
    const gv_scalar4 snap = per * per * e[2], crackle = per * per * per * e[3];
    double *const step = gv_own(c, GV_OWN_STEP);
    put_vector(c, p, GV_OWN_ACCELERATION, 1, k, &e[0]);
    put_vector(c, p, GV_OWN_JERK, 1, k, &(gv_scalar4){force[4], force[5], force[6], 0});
    if (o->order == 4) {
        put_vector(c, p, GV_OWN_SNAP, 1, k, &snap);
    } else {
        put_vector(c, p, GV_OWN_SNAP, 1, k, &(gv_scalar4){force[7], force[8], force[9], 0});
        put_vector(c, p, GV_OWN_CRACKLE, 1, k, &crackle);
    }
    gv_own(c, GV_OWN_POTENTIAL)[k] = rounded(p, 1, force[3]);
    gv_own(c, GV_OWN_TIME)[k] = m->time;
    const double size = gv_summed_size(force[3], m->per_mass, m->per_mass * gv_own(c, GV_OWN_MASS)[k]);
    const double wanted = T * gv_wanted_step(o->order, (int)o->criterion, e, size, noise, o->eta4, o->eta6);
    step[k] = gv_block_step(wanted, step[k], m->time, 0, o->step_max, o->step_min);
}

/* Whether the planes can hold what the step leaves. */
static int is_in_range(const moving *m, double T, const gv_scalar4 *e, const double *force)
{
    const gravel_precision p = m->h->bodies->precision;
    const double per = 1 / T;
    int good = 1;
    for (int axis = 0; axis < 3; axis++) {
        const double snap = m->h->options.order == 4 ? per * per * e[2][axis] : force[7 + axis];
        const double crackle = m->h->options.order == 4 ? 0 : per * per * per * e[3][axis];
        good = good && isfinite(rounded(p, 1, e[0][axis])) && isfinite(rounded(p, 1, force[4 + axis])) &&
               isfinite(rounded(p, 1, snap)) && isfinite(rounded(p, 1, crackle));
    }
    return good;
}

static void move_one(const moving *m, size_t k)
{
    const gv_host_copy *c = &m->h->copy;
    const gravel_hermite_options *o = &m->h->options;
    const double T = gv_own(c, GV_OWN_SPAN)[k];
    const gv_scalar4 x0 = vector(c, GV_OWN_POSITION, k), v0 = vector(c, GV_OWN_VELOCITY, k), none = {0};
    gv_scalar4 x[3] = {vector(c, GV_OWN_AT, k), vector(c, GV_OWN_SPEED, k), vector(c, GV_OWN_CHANGE, k)};
    if (!(T > 0))
        return; /* it is at this time already */
    for (int turn = 1; turn <= o->iterations; turn++) {
        double force[GV_SUM_COMPONENTS] = {0};
        const gv_sum_sink sink = sink_at(m, k, x);
        gv_sum_forces(o->order, &m->sources, &sink, force);
        x[2] = (gv_scalar4){force[0], force[1], force[2], 0};
        gv_scalar4 d[6] = {vector(c, GV_OWN_ACCELERATION, k), T * vector(c, GV_OWN_JERK, k), none, none, none, none};
        gv_scalar4 e[6] = {x[2], T * (gv_scalar4){force[4], force[5], force[6], 0}, none, none, none, none};
        if (o->order == 6) {
            d[2] = T * T * vector(c, GV_OWN_SNAP, k);
            e[2] = T * T * (gv_scalar4){force[7], force[8], force[9], 0};
        }
        gv_fit(o->order, d, e);
        x[0] = x0 + (v0 * T + T * T * gv_position_part(d, 1));
        x[1] = v0 + T * gv_velocity_part(d, 1);
        if (turn == o->iterations && !m->stay && !is_in_range(m, T, e, force)) {
            gv_own(c, GV_OWN_STEP)[k] = 0; /* the body stays as it was */
        } else if (turn == o->iterations && !m->stay) {
            put_vector(c, m->h->bodies->precision, GV_OWN_POSITION, 2, k, &x[0]);
            put_vector(c, m->h->bodies->precision, GV_OWN_VELOCITY, 2, k, &x[1]);
            finish_step(m, k, T, e, force);
        }
    }
}

static void move_some(void *user, size_t first, size_t count)
{
    const moving *m = user;
    for (size_t k = first; k < first + count; k++)
        move_one(m, m->h->copy.due[k]);
}

static void note_change(gravel_hermite *h, uint32_t k)
{
    gv_host_copy *c = &h->copy;
    double *const step = gv_own(c, GV_OWN_STEP);
    if (!c->mark[k]) {
        c->mark[k] = 1;
        c->changed[c->changes++] = k;
    }
    if (step[k] == 0) {
        c->too_short = k < c->too_short ? k : c->too_short;
        step[k] = h->options.step_min;
    }
}

void gv_host_move(gravel_hermite *h, size_t count, double time, int stay)
{
    enum { PAIRS = 1 << 14 }; /* that are worth another thread: some 20 us */
    gv_host_copy *c = &h->copy;
    const double eps = h->options.eps / c->frame.length, dp = h->bodies->precision == GRAVEL_DP;
    const size_t grain = 1 + PAIRS / c->n;
    moving m = {.h = h,
                .sources = sources_of(c),
                .time = time,
                .eps2 = eps * eps,
                .too_close = dp ? 1e-200 : 1e-25, /* as on devices */
                .stay = stay};
    m.per_mass = h->mass > 0 ? c->frame.length * c->frame.length * c->frame.length / h->mass : 0;
    for (size_t k = 0; k < count && !stay; k++) {
        const int power = ilogb(gv_own(c, GV_OWN_STEP)[c->due[k]]) - GV_TALLY_LOWEST;
        c->tally[power < 0 ? 0 : power < GV_TALLY_POWERS ? power : GV_TALLY_POWERS - 1]++;
    }
    predict(h, time);
    gv_parallel(count > grain ? gv_context_pool(h->worker.context) : NULL, count, grain, move_some, &m);
    for (size_t k = 0; k < count && !stay; k++)
        note_change(h, c->due[k]);
}
