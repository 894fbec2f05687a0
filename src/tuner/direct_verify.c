/* Checks of a candidate of direct summation: outputs poisoned with NaN, canaries behind every output array, sampled
 * sinks against the scalar reference, a second set of sinks (a kernel that writes nothing would repeat the first), and
 * the first set once more, which must give the same bits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_ref/ceilings.h"
#include "host/direct/plan.h"
#include "tuner/direct_trial.h"

enum { MOST_SAMPLES = GV_EXPECTED_MOST, FEWEST_SAMPLES = 16, STRETCHES = 16 };
static const double canary = -1.2345678901234567e+89;

gravel_vec gv_trial_vec(double *const x[3], size_t from, size_t step)
{
    return (gravel_vec){x[0] + from, x[1] + from, x[2] + from, step};
}

void gv_trial_poison(gv_direct_trial *t)
{
    gv_pool *p = t->p;

    for (size_t k = 0; k < t->sinks + GV_POOL_CANARIES; k++) {
        p->distance[k] = k < t->sinks ? NAN : canary;
        p->count[k] = UINT32_MAX;
    }
    for (int c = 0; c < t->planes; c++) {
        for (size_t k = 0; k < t->sinks; k++)
            p->out[c][k] = NAN;
        for (size_t k = 0; k < GV_POOL_CANARIES; k++)
            p->out[c][t->sinks + k] = canary;
    }
}

gravel_status gv_trial_call(gv_direct_trial *t, size_t from)
{
    gv_pool *p = t->p;
    gravel_sinks sinks;
    gravel_forces forces;
    gravel_status status;

    memset(&sinks, 0, sizeof sinks);
    memset(&forces, 0, sizeof forces);
    sinks.count = t->sinks;
    sinks.id = p->id + from;
    sinks.id_stride = t->step;
    sinks.pos = gv_trial_vec(p->x, from, t->step);
    sinks.vel = gv_trial_vec(p->v, from, t->step);
    sinks.acc = gv_trial_vec(p->a, from, t->step);
    sinks.radius = p->radius;
    forces.acc = (gravel_vec_out){p->out[0], p->out[1], p->out[2], 1};
    forces.pot = p->out[3];
    if (t->planes > 4)
        forces.jerk = (gravel_vec_out){p->out[4], p->out[5], p->out[6], 1};
    if (t->planes > 7)
        forces.snap = (gravel_vec_out){p->out[7], p->out[8], p->out[9], 1};
    if (t->request->task.variant.features & GV_DIRECT_NEAREST)
        forces.nearest_distance = p->distance;
    if (t->request->task.variant.features & GV_DIRECT_LISTS)
        forces.neighbour_count = p->count;
    status = gravel_direct_submit(t->direct, &sinks, GV_TRIAL_SOFTENING);
    return status == GRAVEL_OK ? gravel_direct_collect(t->direct, &forces, NULL) : status;
}

/* Every result written and finite, nothing behind the arrays touched. */
static const char *check_all(const gv_direct_trial *t, size_t *where)
{
    for (int c = 0; c < t->planes; c++) {
        for (size_t k = 0; k < t->sinks + GV_POOL_CANARIES; k++) {
            *where = k;
            if (k < t->sinks ? !isfinite(t->p->out[c][k]) : t->p->out[c][k] != canary) {
                return k < t->sinks ? "a result was not written or is not finite"
                                    : "something wrote behind the results";
            }
        }
    }
    return NULL;
}

typedef struct samples {
    int n, bad_neighbours;
    double error[4][MOST_SAMPLES]; /* acc, jerk, snap, pot */
} samples;

static double norm(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static double difference(double *const out[3], size_t i, const double v[3])
{
    const double d[3] = {out[0][i] - v[0], out[1][i] - v[1], out[2][i] - v[2]};

    return norm(d);
}

/* Rounding of positions (units in the last place of 10 over the distance) moves a distance and may move a source across
 * the radius. */
static int neighbours_agree(const gv_direct_trial *t, size_t i, double distance, uint32_t count)
{
    static const double ulp[3] = {1.2e-6, 1e-12, 1e-14};
    const gv_task *task = &t->request->task;
    double apart = fabs(t->p->distance[i] - distance), slack = 4 * ulp[task->variant.precision] + 3e-7 * distance;
    long more = (long)t->p->count[i] - (long)count;

    if ((task->variant.features & GV_DIRECT_NEAREST) != 0 && !(apart <= slack))
        return 0;
    return (task->variant.features & GV_DIRECT_LISTS) == 0 || labs(more) <= 1 + (long)count / 1000;
}

/* Compares up to `most` of the sinks just computed with the reference: the ends of the stretch always, the others
 * anywhere in it, in one stretch always the same. */
static gravel_status compare(gv_direct_trial *t, size_t from, int most, samples *got)
{
    gv_pool *p = t->p;
    const gv_task *task = &t->request->task;
    const int room = MOST_SAMPLES - got->n, wanted = most < room ? most : room;
    const int n = t->sinks < (size_t)wanted ? (int)t->sinks : wanted;
    size_t sink[MOST_SAMPLES] = {0};
    gv_expected_sink expected[MOST_SAMPLES];
    uint64_t state = from;
    gravel_status status;

    for (int k = 0; k < n; k++) {
        sink[k] = k == 0 ? t->sinks - 1 : k == 1 || t->sinks <= (size_t)n ? (size_t)k - 1 : gv_draw(&state) % t->sinks;
        sink[k] = from + t->step * sink[k];
    }
    status = gv_expected_get(t->expected, p, task->variant.order, task->sources, GV_TRIAL_SOFTENING, sink, n, expected);
    for (int k = 0; k < n && status == GRAVEL_OK; k++, got->n++) {
        const gv_expected_sink *e = &expected[k];
        const size_t i = (sink[k] - from) / t->step;
        double is[GV_POOL_PLANES]; /* what it is with the masses of this candidate */

        for (int c = 0; c < GV_POOL_PLANES; c++)
            is[c] = t->scale * e->plane[c];
        got->bad_neighbours += !neighbours_agree(t, i, e->distance, e->count);
        /* near the centre the field cancels; what rounding leaves scales with the sum of the terms, not with it */
        got->error[0][got->n] = difference(p->out, i, is) / fmax(norm(is), 0.05 * t->scale * e->acc_scale);
        got->error[1][got->n] = t->planes > 4 ? difference(p->out + 4, i, is + 4) / norm(is + 4) : 0;
        got->error[2][got->n] = t->planes > 7 ? difference(p->out + 7, i, is + 7) / norm(is + 7) : 0;
        got->error[3][got->n] = fabs(p->out[3][i] - is[3]) / fabs(is[3]);
    }
    return status;
}

/* The ceilings of the design (mean and largest relative error at N = 16384) with room: 3 for a sample's median
 * against a mean and 6 for the largest of other particles than those they were measured on; cancellation and rounding
 * of sums grow with sqrt(N). */
static const char *judge(gv_direct_trial *t, samples *got, double *worst)
{
    static const int quantity[4] = {GV_CEILING_ACC, GV_CEILING_JERK, GV_CEILING_SNAP, GV_CEILING_POT};
    static const char *const text[4] = {"acc is wrong", "jerk is wrong", "snap is wrong", "pot is wrong"};
    double growth = sqrt(fmax(1, (double)t->request->task.sources / 16384));

    if (got->bad_neighbours > 0) {
        *worst = got->bad_neighbours;
        return "the neighbours of a sink are wrong";
    }
    for (int q = 0; q < 4; q++) {
        const gv_ceiling limit = gv_error_ceiling((int)t->request->task.variant.precision, quantity[q]);
        double median, most = 0;
        gv_series series;

        for (int k = 0; k < got->n; k++)
            most = got->error[q][k] > most || isnan(got->error[q][k]) ? got->error[q][k] : most;
        gv_series_of(got->error[q], got->n, &series);
        median = series.median;
        if (q == 0)
            t->error_max = fmax(t->error_max, most);
        if (!(median <= 3 * growth * limit.mean) || !(most <= 6 * growth * limit.max)) {
            *worst = most;
            return text[q];
        }
    }
    return NULL;
}

static int samples_per_set(const gv_task *task)
{
    double n = 2e6 / (double)task->sources;

    return n < FEWEST_SAMPLES ? FEWEST_SAMPLES : n > MOST_SAMPLES ? MOST_SAMPLES : (int)n;
}

static void wrong(gv_outcome *outcome, double error, const char *why)
{
    outcome->status = GV_OUTCOME_WRONG;
    outcome->error = isfinite(error) ? error : 0;
    snprintf(outcome->reason, sizeof outcome->reason, "%s", why);
}

/* 1 if the results now in out[] pass. */
static int check_set(gv_direct_trial *t, size_t from, samples *got, gv_outcome *outcome)
{
    char text[128];
    size_t where = 0;
    const char *why = check_all(t, &where);
    gravel_status status;

    if (why != NULL) {
        snprintf(text, sizeof text, "%s (sink %zu of %zu)", why, where, t->sinks);
        wrong(outcome, 0, text);
        return 0;
    }
    status = compare(t, from, samples_per_set(&t->request->task), got);
    if (status != GRAVEL_OK) {
        gv_outcome_of_status(status, outcome);
        return 0;
    }
    return 1;
}

/* Where the k-th stretch of sinks begins.  Sinks are sources as far as there are so many; of every four stretches the
 * last may hold others as well. */
static size_t stretch(const gv_direct_trial *t, uint64_t k)
{
    const size_t extent = (t->sinks - 1) * t->step + 1;
    size_t n = t->request->task.sources;
    uint64_t state = k % STRETCHES;

    if (n < extent || k % 4 == 3)
        n = (n > extent ? n : extent) + GV_POOL_SPARE;
    return gv_draw(&state) % (n - extent + 1);
}

/* Enough sets for FEWEST_SAMPLES samples, two at least. */
int gv_trial_verify(gv_direct_trial *t, uint64_t *state, gv_outcome *outcome)
{
    samples got = {0, 0, {{0}}};
    double worst = 0;
    const char *why;

    /* what is timed are sinks that are sources: of every four stretches one of the first three */
    t->first = gv_draw(state) / 4 * 4 + gv_draw(state) % 3;
    for (int sets = 0; got.n < FEWEST_SAMPLES || sets < 2; sets++) {
        size_t from = stretch(t, t->first + (uint64_t)sets);
        gravel_status status;

        gv_trial_poison(t);
        status = gv_trial_call(t, from);
        if (status != GRAVEL_OK) {
            gv_outcome_of_status(status, outcome);
            return 0;
        }
        if (!check_set(t, from, &got, outcome))
            return 0;
        if (sets == 0) {
            t->from = from;
            for (int c = 0; c < t->planes; c++)
                memcpy(t->p->first[c], t->p->out[c], t->sinks * sizeof(double));
        }
        /* a large set has samples enough: the second one is checked after the timing */
        if (t->sinks >= FEWEST_SAMPLES)
            break;
    }
    why = judge(t, &got, &worst);
    if (why != NULL) {
        char text[128];

        snprintf(text, sizeof text, "%s: relative error %.3g", why, worst);
        wrong(outcome, worst, text);
    }
    return why == NULL;
}

/* NULL if the results now in out[] are the bits of the first ones of the same sinks. */
static const char *compare_first(const gv_direct_trial *t)
{
    for (int c = 0; c < t->planes; c++)
        if (memcmp(t->p->first[c], t->p->out[c], t->sinks * sizeof(double)) != 0)
            return "the same input gave other bits the second time";
    return NULL;
}

int gv_trial_verify_again(gv_direct_trial *t, uint64_t *state, int timed_is_first, gv_outcome *outcome)
{
    samples got = {0, 0, {{0}}};
    double worst = 0;
    const char *why = timed_is_first ? compare_first(t) : NULL;

    for (int set = 0; set < (timed_is_first ? 1 : 2) && !why; set++) {
        size_t from = set == 0 ? stretch(t, t->first + 1 + gv_draw(state) % (STRETCHES - 1)) : t->from;
        gravel_status status;

        gv_trial_poison(t);
        status = gv_trial_call(t, from);
        if (status != GRAVEL_OK) {
            gv_outcome_of_status(status, outcome);
            return 0;
        }
        if (set == 0 && t->sinks >= FEWEST_SAMPLES) {
            if (!check_set(t, from, &got, outcome))
                return 0;
            why = judge(t, &got, &worst);
        }
        if (set == 1)
            why = compare_first(t);
    }
    if (why != NULL)
        wrong(outcome, worst, why);
    return why == NULL;
}
