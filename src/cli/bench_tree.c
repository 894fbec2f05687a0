#include "cli/bench_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compute.h"
#include "host/base/clock.h"

const char *const gv_tree_stage_name[GV_TREE_STAGES] = {"keys", "sort", "build", "moments", "groups", "walk", "total"};

double gv_tree_bin(int k)
{
    return pow(10, (double)k / GV_TREE_PER_DECADE - GV_TREE_DECADES);
}

/* ------------------------------------------------------------- exact forces */

/* The sample in slices of about a second, so that progress shows and Ctrl-C works. */
static size_t slice_of(const gv_tree_setting *setting, size_t sources, size_t count)
{
    const double pairs = setting->device.type == GRAVEL_DEVICE_CPU ? 4e8 : 2e11;
    const size_t slice = (size_t)(pairs / (double)sources) & ~(size_t)255;

    return slice < 256 ? 256 : slice > count ? count : slice;
}

static gravel_status exact_slice(const gv_tree_setting *setting, gravel_direct *direct, const gv_particles *sinks,
                                 const gv_particles *sources, gv_force_set *out)
{
    const gravel_sinks view = gv_sinks_view(sinks, 0, sinks->count, NULL);

    if (direct != NULL)
        return gv_direct_call(direct, &view, setting->eps, out, NULL);
    const gv_ref_particles i = {.n = sinks->count, .id = sinks->id, .x = sinks->x, .y = sinks->y, .z = sinks->z};
    const gv_ref_particles j = {
        .n = sources->count, .m = sources->m, .id = sources->id, .x = sources->x, .y = sources->y, .z = sources->z};
    const gv_ref_forces f = {.ax = out->ax, .ay = out->ay, .az = out->az, .pot = out->pot};
    return gv_ref_direct(GV_REF_DOUBLE, 2, &i, &j, setting->eps, NULL, 0, &f) == 0
               ? GRAVEL_OK
               : gv_fail(GRAVEL_ERR_MEMORY, "the reference has no memory for %zu sinks", sinks->count);
}

static gravel_status exact_run(const gv_tree_setting *setting, gravel_direct *direct, const gv_particles *bodies,
                               gv_exact *exact)
{
    const size_t slice = slice_of(setting, bodies->count, exact->count);
    gv_force_set out;
    gv_progress progress;
    gravel_status status = gv_force_set_create(&out, slice, 2, 0, 0);

    gv_progress_start(&progress, "direct summation, for the errors");
    for (size_t at = 0; at < exact->count && status == GRAVEL_OK; at += slice) {
        const size_t n = exact->count - at < slice ? exact->count - at : slice;
        gv_particles sinks;

        if (gv_signals_pending()) {
            status = gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
            break;
        }
        status = gv_particles_pick(&sinks, bodies, at * exact->step, exact->step, n);
        if (status == GRAVEL_OK) {
            status = exact_slice(setting, direct, &sinks, bodies, &out);
            gv_particles_free(&sinks);
        }
        memcpy(exact->a[0] + at, out.ax, n * sizeof(double));
        memcpy(exact->a[1] + at, out.ay, n * sizeof(double));
        memcpy(exact->a[2] + at, out.az, n * sizeof(double));
        gv_progress_show(&progress, (double)(at + n), (double)exact->count);
    }
    gv_progress_clear(&progress);
    gv_force_set_free(&out);
    return status;
}

gravel_status gv_exact_create(const gv_tree_setting *setting, const gv_particles *bodies, gv_exact *exact)
{
    const size_t usual = bodies->count <= GV_TREE_ERROR_ALL ? bodies->count : GV_TREE_ERROR_SAMPLE;
    const size_t most = setting->sample > 0 ? setting->sample : usual;
    const double start = gv_now();
    gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_direct *direct = NULL;
    gravel_status status = GRAVEL_OK;

    exact->step = most >= bodies->count ? 1 : bodies->count / most;
    exact->count = most >= bodies->count ? bodies->count : most;
    exact->by = setting->device.has_fp64 ? "direct dp" : "reference";
    for (int k = 0; k < 3; k++) {
        exact->a[k] = malloc(exact->count * sizeof *exact->a[k]);
        if (exact->a[k] == NULL)
            status = gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    }
    options.precision = GRAVEL_DP;
    if (status == GRAVEL_OK && setting->device.has_fp64) {
        const gravel_sources sources = {.count = bodies->count,
                                        .mass = bodies->m,
                                        .id = bodies->id,
                                        .pos = GRAVEL_VEC_SOA(bodies->x, bodies->y, bodies->z)};
        status = gravel_direct_create(&direct, setting->context, &options);
        status = status == GRAVEL_OK ? gravel_direct_write_sources(direct, 0, &sources) : status;
    }
    status = status == GRAVEL_OK ? exact_run(setting, direct, bodies, exact) : status;
    gravel_direct_release(direct);
    exact->seconds = gv_now() - start;
    if (status != GRAVEL_OK)
        gv_exact_free(exact);
    return status;
}

void gv_exact_free(gv_exact *exact)
{
    for (int k = 0; k < 3; k++) {
        free(exact->a[k]);
        exact->a[k] = NULL;
    }
}

/* ------------------------------------------------------------------ errors */

static void summarise(const double *error, size_t n, gv_tree_result *result)
{
    static const double quantile[GV_TREE_QUANTILES] = {0.5, 0.9, 0.99, 0.999, 1};
    size_t at = 0;

    for (int q = 0; q < GV_TREE_QUANTILES; q++)
        result->error[q] = error[(size_t)(quantile[q] * (double)(n - 1))];
    for (int k = 0; k < GV_TREE_BINS; k++) {
        while (at < n && error[at] <= gv_tree_bin(k))
            at++;
        result->above[k] = (double)(n - at) / (double)n;
    }
}

static gravel_status find_errors(gravel_tree *tree, const gv_exact *exact, gv_tree_result *result)
{
    const size_t n = result->n;
    double *acc = malloc(3 * n * sizeof *acc), *error = malloc(exact->count * sizeof *error);
    gravel_status status = acc && error ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "out of memory");

    if (status == GRAVEL_OK) {
        const gravel_forces forces = {.acc = GRAVEL_VEC_OUT_SOA(acc, acc + n, acc + 2 * n)};
        status = gravel_tree_read(tree, &forces);
    }
    for (size_t k = 0; k < exact->count && status == GRAVEL_OK; k++) {
        double difference = 0, size = 0;

        for (int c = 0; c < 3; c++) {
            const double a = exact->a[c][k], d = acc[(size_t)c * n + k * exact->step] - a;
            difference += d * d;
            size += a * a;
        }
        error[k] = difference == 0 ? 0 : sqrt(difference / size);
        error[k] = error[k] < 1e300 ? error[k] : INFINITY; /* NaN is as wrong as can be */
    }
    if (status == GRAVEL_OK) {
        qsort(error, exact->count, sizeof *error, gv_ascending);
        summarise(error, exact->count, result);
        result->error_sinks = exact->count;
        result->error_by = exact->by;
    }
    free(acc);
    free(error);
    return status;
}

/* ------------------------------------------------------------------- times */

enum { MOST_RUNS = 4096 };

typedef struct timed_tree {
    gravel_tree *tree;
    double eps;
    int runs;
    double (*stage)[MOST_RUNS];
} timed_tree;

static gravel_status tree_run(void *user, double *device_s, double *call_s)
{
    timed_tree *run = user;
    gravel_tree_timings t;
    const double start = gv_now();
    gravel_status status;

    if (gv_signals_pending())
        return gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
    status = gravel_tree_build(run->tree);
    status = status == GRAVEL_OK ? gravel_tree_compute(run->tree, run->eps) : status;
    status = status == GRAVEL_OK ? gravel_tree_get_timings(run->tree, &t) : status;
    if (status != GRAVEL_OK)
        return status;
    const double value[GV_TREE_STAGES] = {t.keys, t.sort, t.build, t.moments, t.groups, t.walk, t.total};
    *call_s = gv_now() - start;
    *device_s = t.total;
    for (int s = 0; s < GV_TREE_STAGES; s++)
        run->stage[s][run->runs % MOST_RUNS] = value[s];
    run->runs++;
    return GRAVEL_OK;
}

static gravel_status time_tree(const gv_tree_setting *setting, gravel_tree *tree, gv_tree_result *result)
{
    timed_tree run = {tree, setting->eps, 0, malloc(GV_TREE_STAGES * sizeof *run.stage)};
    gravel_status status = run.stage != NULL ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    gv_timing timing;

    if (status == GRAVEL_OK)
        status = gv_timing_run(&setting->rule, tree_run, &run, &timing);
    if (status == GRAVEL_OK) {
        const int first = setting->rule.warm_up, kept = (run.runs < MOST_RUNS ? run.runs : MOST_RUNS) - first;

        for (int s = 0; s < GV_TREE_TOTAL; s++) {
            gv_series series;

            gv_series_of(run.stage[s] + first, kept, &series);
            result->stage[s] = series.median;
        }
        result->stage[GV_TREE_TOTAL] = timing.device.median;
        result->least = timing.device.least;
        result->call_s = timing.call.median;
        result->samples = timing.samples;
    }
    free(run.stage);
    return status;
}

gravel_status gv_bench_tree(const gv_tree_setting *setting, const gv_particles *bodies, double theta,
                            const gv_exact *exact, gv_tree_result *result)
{
    const gravel_sources view = {
        .count = bodies->count, .mass = bodies->m, .pos = GRAVEL_VEC_SOA(bodies->x, bodies->y, bodies->z)};
    gravel_tree_options options = setting->options;
    gravel_tree *tree = NULL;
    gravel_status status;

    memset(result, 0, sizeof *result);
    result->n = bodies->count;
    result->theta = options.theta = theta;
    for (int q = 0; q < GV_TREE_QUANTILES; q++)
        result->error[q] = NAN;
    status = gravel_context_set_timing(setting->context, 0, 1);
    status = status == GRAVEL_OK ? gravel_tree_create(&tree, setting->context, &options) : status;
    status = status == GRAVEL_OK ? gravel_tree_write(tree, &view) : status;
    status = status == GRAVEL_OK ? time_tree(setting, tree, result) : status;
    status = status == GRAVEL_OK ? gravel_tree_get_counts(tree, &result->counts) : status;
    if (status == GRAVEL_OK) {
        status =
            gravel_tree_get_configuration(tree, result->configuration, sizeof result->configuration, &result->origin);
        result->memory = (double)gravel_tree_get_memory(tree) / (double)bodies->count;
    }
    if (status == GRAVEL_OK && exact != NULL)
        status = find_errors(tree, exact, result);
    gravel_tree_release(tree);
    return status;
}

/* ----------------------------------------------------------- direct summation */

typedef struct timed_pairs {
    gravel_direct *direct;
    gravel_sinks sinks;
    gravel_forces forces;
    double eps;
} timed_pairs;

static gravel_status pairs_run(void *user, double *device_s, double *call_s)
{
    timed_pairs *run = user;
    const double start = gv_now();
    gravel_status status;

    if (gv_signals_pending())
        return gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
    status = gravel_direct_submit(run->direct, &run->sinks, run->eps);
    status = status == GRAVEL_OK ? gravel_direct_collect(run->direct, &run->forces, NULL) : status;
    *call_s = gv_now() - start;
    return status == GRAVEL_OK ? gravel_direct_get_kernel_time(run->direct, device_s) : status;
}

gravel_status gv_bench_pairs(const gv_tree_setting *setting, const gv_particles *bodies, gravel_precision precision,
                             double *seconds)
{
    gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
    const gravel_sources sources = {.count = bodies->count,
                                    .mass = bodies->m,
                                    .id = bodies->id,
                                    .pos = GRAVEL_VEC_SOA(bodies->x, bodies->y, bodies->z)};
    timed_pairs run = {.eps = setting->eps};
    gv_timing_rule rule = setting->rule;
    gv_force_set out;
    gv_timing timing;
    gravel_status status = gv_force_set_create(&out, bodies->count, 2, 0, 0);

    if (status != GRAVEL_OK)
        return status;
    options.precision = precision;
    status = gravel_direct_create(&run.direct, setting->context, &options);
    status = status == GRAVEL_OK ? gravel_direct_write_sources(run.direct, 0, &sources) : status;
    status = status == GRAVEL_OK ? gravel_direct_set_timing(run.direct, 1) : status;
    run.sinks = gv_sinks_view(bodies, 0, bodies->count, NULL);
    run.forces = gv_force_set_view(&out, 0);
    rule.most_s = 2;
    status = status == GRAVEL_OK ? gv_timing_run(&rule, pairs_run, &run, &timing) : status;
    *seconds = status == GRAVEL_OK ? timing.device.median : 0;
    gravel_direct_release(run.direct);
    gv_force_set_free(&out);
    return status;
}

/* ---------------------------------------------------------------- crossover */

/* N at which the ratio direct / tree passes 1, in logarithms; NAN: it does not. */
static double crossing(const gv_crossover *c, const double *direct_s)
{
    for (int k = 1; k < c->n_points; k++) {
        const double a = log(direct_s[k - 1] / c->tree_s[k - 1]), b = log(direct_s[k] / c->tree_s[k]);

        if (a <= 0 && b > 0) {
            const double x = log((double)c->n[k - 1]), y = log((double)c->n[k]);
            return exp(x + (y - x) * a / (a - b));
        }
    }
    return NAN;
}

gravel_status gv_bench_crossover(const gv_tree_setting *setting, gv_bodies_fn make, void *user,
                                 const gv_size_list *sizes, gv_crossover *crossover)
{
    gravel_status status = GRAVEL_OK;

    memset(crossover, 0, sizeof *crossover);
    crossover->theta = setting->options.theta;
    for (int i = 0; i < sizes->n && status == GRAVEL_OK; i++) {
        const int k = crossover->n_points;
        gv_tree_result tree;
        gv_particles bodies;

        status = make(user, sizes->value[i], &bodies);
        if (status != GRAVEL_OK)
            break;
        crossover->n[k] = bodies.count;
        crossover->dp_s[k] = NAN;
        status = gv_bench_tree(setting, &bodies, setting->options.theta, NULL, &tree);
        if (status == GRAVEL_OK && setting->device.has_fp64)
            status = gv_bench_pairs(setting, &bodies, GRAVEL_DP, &crossover->dp_s[k]);
        if (status == GRAVEL_OK)
            status = gv_bench_pairs(setting, &bodies, GRAVEL_SP, &crossover->sp_s[k]);
        gv_particles_free(&bodies);
        if (status == GRAVEL_OK) {
            crossover->tree_s[k] = tree.stage[GV_TREE_TOTAL];
            memcpy(crossover->configuration, tree.configuration, sizeof tree.configuration);
            crossover->n_points++;
            /* what is slower from here on stays slower */
            if (crossover->sp_s[k] > 4 * crossover->tree_s[k] && k >= 3)
                break;
        }
    }
    crossover->n_dp = crossing(crossover, crossover->dp_s);
    crossover->n_sp = crossing(crossover, crossover->sp_s);
    return status;
}
