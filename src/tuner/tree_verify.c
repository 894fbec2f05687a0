/* Checks of a candidate of the tree: it must keep the error of the built-in configuration on the same bodies, median
 * within 1.1 times and 99 % within 1.25 times its own, measured against direct sums for sampled bodies.  (Of the
 * samples 20 to 40 lie above their 99 %, so its noise is a tenth.  Larger factors would let the tuner buy speed with
 * error.)  Every other body must agree with the built-in configuration.  Besides: outputs poisoned with NaN, canaries
 * behind them, masses scaled anew by a random factor, the same bits the second time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_ref/ref.h"
#include "host/tree/plan.h"
#include "host/tree/tree.h"
#include "tuner/tree_trial.h"

enum { PLANES = 4, MOST_SAMPLES = 4096, FEWEST_SAMPLES = 2048 };
static const double canary = -1.2345678901234567e+89;
/* errors of theta 0.5 that no configuration may exceed, and errors so small that they are never too large */
static const double most_p50 = 5e-4, most_p99 = 3e-3, least_p50 = 2e-5, least_p99 = 1e-4;

double gv_tree_trial_theta(const gv_request *request)
{
    return request->task.theta > 0 ? request->task.theta : 0.5;
}

/* How much larger errors may be than those of theta 0.5: with quadrupoles they grow as theta^4 at most. */
static double errors_at(const gv_request *request)
{
    return fmax(pow(gv_tree_trial_theta(request) / 0.5, 4), 1);
}

void gv_tree_baseline_free(gv_tree_baseline *b)
{
    for (int c = 0; c < 3; c++) {
        free(b->exact[c]);
        free(b->force[c]);
    }
    memset(b, 0, sizeof *b);
}

/* -------------------------------------------------------------------- calls */

gravel_status gv_tree_trial_make(gv_tree_trial *t, gravel_context *context, const char *configuration)
{
    gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;

    options.precision = t->request->task.variant.precision;
    options.theta = gv_tree_trial_theta(t->request);
    options.configuration = configuration;
    gravel_status status = gravel_context_set_timing(context, 0, 1);
    return status == GRAVEL_OK ? gravel_tree_create(&t->tree, context, &options) : status;
}

gravel_status gv_tree_trial_write(gv_tree_trial *t, size_t n)
{
    gv_pool *p = &t->s->pool;
    const gravel_sources bodies = {.count = n, .mass = p->scaled, .pos = GRAVEL_VEC_SOA(p->x[0], p->x[1], p->x[2])};

    for (size_t k = 0; k < n; k++)
        p->scaled[k] = p->mass[k] * t->scale;
    return gravel_tree_write(t->tree, &bodies);
}

gravel_status gv_tree_trial_forces(gv_tree_trial *t)
{
    gv_pool *p = &t->s->pool;
    const gravel_forces out = {.acc = GRAVEL_VEC_OUT_SOA(p->out[0], p->out[1], p->out[2]), .pot = p->out[3]};
    gravel_status status;

    for (int c = 0; c < PLANES; c++)
        for (size_t k = 0; k < t->n + GV_POOL_CANARIES; k++)
            p->out[c][k] = k < t->n ? NAN : canary;
    gv_tree_set_theta(t->tree, gv_tree_trial_theta(t->request)); /* timing leaves another */
    status = gravel_tree_build(t->tree);
    return status == GRAVEL_OK ? gravel_tree_forces(t->tree, GV_TREE_TRIAL_SOFTENING, &out) : status;
}

/* ------------------------------------------------------------------- gv_tree_errors */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Largest where something is no number. */
static double distance(double *const *a, size_t i, double *const *b, size_t k, double scale)
{
    double sum = 0;

    for (int c = 0; c < 3; c++) {
        const double d = a[c][i] - scale * b[c][k];
        sum += d * d;
    }
    return isfinite(sum) ? sqrt(sum) : 1e300;
}

static double size_of(double *const *b, size_t k)
{
    return sqrt(b[0][k] * b[0][k] + b[1][k] * b[1][k] + b[2][k] * b[2][k]);
}

static void find_errors(gv_tree_trial *t)
{
    const gv_tree_baseline *b = &t->s->base;
    double error[MOST_SAMPLES];

    for (size_t k = 0; k < b->samples; k++)
        error[k] = distance(t->s->pool.out, k * b->step, b->exact, k, t->scale) / (t->scale * size_of(b->exact, k));
    qsort(error, b->samples, sizeof *error, ascending);
    t->found = (gv_tree_errors){error[(b->samples - 1) / 2], error[(size_t)(0.99 * (double)(b->samples - 1))],
                                error[b->samples - 1]};
}

static gravel_status exact_forces(gv_tree_trial *t)
{
    gv_tree_baseline *b = &t->s->base;
    gv_pool *p = &t->s->pool;
    const double wanted = 1e9 / (double)t->n; /* pairs that the reference does in a second or two */
    double *at[3];
    int32_t *id;
    gravel_status status = GRAVEL_OK;

    b->samples = wanted > MOST_SAMPLES ? MOST_SAMPLES : wanted < FEWEST_SAMPLES ? FEWEST_SAMPLES : (size_t)wanted;
    b->samples = b->samples < t->n ? b->samples : t->n;
    b->step = t->n / b->samples;
    id = malloc(b->samples * sizeof *id);
    for (int c = 0; c < 3; c++) {
        b->exact[c] = malloc(b->samples * sizeof(double));
        b->force[c] = malloc(t->n * sizeof(double));
        at[c] = malloc(b->samples * sizeof(double));
        if (b->exact[c] == NULL || b->force[c] == NULL || at[c] == NULL || id == NULL)
            status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for the exact forces of %zu bodies", b->samples);
    }
    for (size_t k = 0; k < b->samples && status == GRAVEL_OK; k++) {
        id[k] = p->id[k * b->step];
        for (int c = 0; c < 3; c++)
            at[c][k] = p->x[c][k * b->step];
    }
    if (status == GRAVEL_OK) {
        const gv_ref_particles sinks = {.n = b->samples, .id = id, .x = at[0], .y = at[1], .z = at[2]};
        const gv_ref_particles sources = {
            .n = t->n, .m = p->mass, .id = p->id, .x = p->x[0], .y = p->x[1], .z = p->x[2]};
        const gv_ref_forces out = {.ax = b->exact[0], .ay = b->exact[1], .az = b->exact[2]};

        if (gv_ref_direct(GV_REF_DOUBLE, 2, &sinks, &sources, GV_TREE_TRIAL_SOFTENING, NULL, 0, &out) != 0)
            status = gv_fail(GRAVEL_ERR_INTERNAL, "the reference refuses the tuner's inputs");
    }
    for (int c = 0; c < 3; c++)
        free(at[c]);
    free(id);
    return status;
}

/* Where the built-in configuration does not run, only the fixed limits count. */
gravel_status gv_tree_trial_learn(gv_tree_trial *t, gravel_context *context)
{
    gv_tree_baseline *b = &t->s->base;
    const gv_limits limits = gv_limits_of(context, 0);
    const gv_variant *variant = &t->request->task.variant;
    char text[sizeof t->request->configuration];
    const double more = errors_at(t->request);
    gravel_status status;
    gv_config config;

    if (b->n == t->n && b->precision == variant->precision && b->theta == gv_tree_trial_theta(t->request))
        return GRAVEL_OK;
    gv_tree_baseline_free(b);
    status = exact_forces(t);
    if (status != GRAVEL_OK)
        return status;
    gv_tree_space.built_in(&config, variant, &limits, t->n, t->n);
    gv_space_format(&gv_tree_space, &config, text, sizeof text);
    status = gv_tree_trial_make(t, context, text);
    status = status == GRAVEL_OK ? gv_tree_trial_write(t, t->n) : status;
    status = status == GRAVEL_OK ? gv_tree_trial_forces(t) : status;
    if (status == GRAVEL_OK) {
        find_errors(t);
        b->found = t->found;
        for (int c = 0; c < 3; c++)
            for (size_t k = 0; k < t->n; k++)
                b->force[c][k] = t->s->pool.out[c][k] / t->scale;
        for (size_t k = 0; k < t->n; k++)
            b->mean += size_of(b->force, k) / (double)t->n;
    }
    if (status != GRAVEL_OK || !(b->found.p50 <= more * most_p50) || !(b->found.p99 <= more * most_p99) ||
        !isfinite(b->mean)) {
        b->mean = 0; /* no comparison body by body */
        b->found = (gv_tree_errors){more * most_p50 / 1.1, more * most_p99 / 1.25, 0.1};
    }
    gravel_tree_release(t->tree);
    t->tree = NULL;
    b->n = t->n;
    b->precision = variant->precision;
    b->theta = gv_tree_trial_theta(t->request);
    return GRAVEL_OK;
}

/* --------------------------------------------------------------- verification */

static int wrong(gv_outcome *outcome, double error, const char *why)
{
    outcome->status = GV_OUTCOME_WRONG;
    outcome->error = isfinite(error) ? error : 0;
    snprintf(outcome->reason, sizeof outcome->reason, "%s", why);
    return 0;
}

/* Every result written and finite, nothing behind the arrays touched. */
static int check_written(const gv_tree_trial *t, gv_outcome *outcome)
{
    char text[128];

    for (int c = 0; c < PLANES; c++) {
        for (size_t k = 0; k < t->n + GV_POOL_CANARIES; k++) {
            const double value = t->s->pool.out[c][k];

            if (k < t->n ? !isfinite(value) : value != canary) {
                snprintf(text, sizeof text, "%s (body %zu of %zu)",
                         k < t->n ? "a result was not written or is not finite" : "something wrote behind the results",
                         k, t->n);
                return wrong(outcome, 0, text);
            }
        }
    }
    return 1;
}

/* Both are off by their own errors at most; near the centre, where the field cancels, by the mean field's. */
static int check_all_bodies(const gv_tree_trial *t, gv_outcome *outcome)
{
    const gv_tree_baseline *b = &t->s->base;
    const double most = fmax(20 * b->found.p99, 4 * b->found.max);
    char text[128];

    for (size_t k = 0; b->mean > 0 && k < t->n; k++) {
        const double d = distance(t->s->pool.out, k, b->force, k, t->scale) / t->scale;
        const double error = d / fmax(size_of(b->force, k), 0.1 * b->mean);

        if (!(error <= most)) {
            snprintf(text, sizeof text, "body %zu of %zu is off by %.3g", k, t->n, error);
            return wrong(outcome, error, text);
        }
    }
    return 1;
}

static int check_forces(gv_tree_trial *t, gv_outcome *outcome)
{
    const gv_tree_errors *base = &t->s->base.found;
    const double more = errors_at(t->request);
    const double p50 = fmax(fmin(1.1 * base->p50, more * most_p50), least_p50);
    const double p99 = fmax(fmin(1.25 * base->p99, more * most_p99), least_p99);
    char text[160];

    if (!check_written(t, outcome))
        return 0;
    find_errors(t);
    if (!(t->found.p50 <= p50) || !(t->found.p99 <= p99)) {
        snprintf(text, sizeof text, "errors of %.3g (median, at most %.3g) and %.3g (99 %%, at most %.3g)",
                 t->found.p50, p50, t->found.p99, p99);
        return wrong(outcome, t->found.p99, text);
    }
    return check_all_bodies(t, outcome);
}

/* The first results are kept for the comparison of bits. */
int gv_tree_trial_verify(gv_tree_trial *t, int again, gv_outcome *outcome)
{
    const gravel_status status = gv_tree_trial_forces(t);

    if (status != GRAVEL_OK) {
        gv_outcome_of_status(status, outcome);
        return 0;
    }
    for (int c = 0; c < PLANES; c++) {
        if (again && memcmp(t->s->pool.first[c], t->s->pool.out[c], t->n * sizeof(double)) != 0)
            return wrong(outcome, 0, "the same input gave other bits the second time");
        memcpy(t->s->pool.first[c], t->s->pool.out[c], t->n * sizeof(double));
    }
    return again || check_forces(t, outcome);
}
