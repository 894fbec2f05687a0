#include "cli/bench_direct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/direct/direct.h"
#include "host/base/clock.h"

/* A radius within which a sink has about `wanted` sources: the median over 16 sinks of the distance to that one. */
static gravel_status radius_for(const gv_particles *sinks, const gv_particles *sources, size_t wanted, double *radius)
{
    double median[16];
    const size_t probes = sinks->count < 16 ? sinks->count : 16;
    double *square = malloc(sources->count * sizeof *square);
    if (square == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    wanted = wanted < sources->count ? wanted : sources->count - 1;
    for (size_t k = 0; k < probes; k++) {
        const size_t i = k * (sinks->count / probes);
        for (size_t j = 0; j < sources->count; j++) {
            const double x = sources->x[j] - sinks->x[i], y = sources->y[j] - sinks->y[i],
                         z = sources->z[j] - sinks->z[i];
            square[j] = x * x + y * y + z * z;
        }
        qsort(square, sources->count, sizeof *square, gv_ascending);
        median[k] = sqrt(square[wanted]);
    }
    qsort(median, probes, sizeof *median, gv_ascending);
    *radius = median[probes / 2];
    free(square);
    return GRAVEL_OK;
}

gravel_status gv_bench_case_create(gv_bench_case *c, const gv_bench_setting *setting, const gv_particles *sources,
                                   size_t active, int order)
{
    gv_particles some;
    memset(c, 0, sizeof *c);
    c->sources = sources;
    gravel_status status = gv_particles_pick(&c->sinks, sources, 0, sources->count / active, active);
    if (status != GRAVEL_OK)
        return status;
    if (setting->neighbours > 0) {
        double radius = 0;
        c->radius = malloc(active * sizeof *c->radius);
        status = c->radius == NULL ? gv_fail(GRAVEL_ERR_MEMORY, "out of memory")
                                   : radius_for(&c->sinks, sources, (size_t)setting->neighbours / 2, &radius);
        for (size_t i = 0; status == GRAVEL_OK && i < active; i++)
            c->radius[i] = radius;
    }
    c->checked = gv_sample_size(active, sources->count, 1024, &c->check_step);
    if (status == GRAVEL_OK)
        status = gv_force_set_create(&c->truth, c->checked, order, 0, 0);
    if (status == GRAVEL_OK &&
        (status = gv_particles_pick(&some, &c->sinks, 0, c->check_step, c->checked)) == GRAVEL_OK) {
        status = gv_reference_forces(&some, sources, setting->eps, NULL, &c->truth);
        gv_particles_free(&some);
    }
    if (status != GRAVEL_OK)
        gv_bench_case_free(c);
    return status;
}

void gv_bench_case_free(gv_bench_case *c)
{
    gv_particles_free(&c->sinks);
    gv_force_set_free(&c->truth);
    free(c->radius);
    memset(c, 0, sizeof *c);
}

/* ------------------------------------------------------------------ timing */

typedef struct timed_call {
    gravel_direct *direct;
    gravel_sources sources;
    gravel_sinks sinks;
    gravel_forces forces;
    double eps, time;
    int upload, predict, on_device; /* on_device: kernels are timed, which makes the call slower */
    size_t overflow;
} timed_call;

static gravel_status timed_run(void *user, double *device_s, double *call_s)
{
    timed_call *call = user;
    gravel_status status = GRAVEL_OK;
    if (gv_signals_pending())
        return gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
    const double start = gv_now();
    if (call->upload)
        status = gravel_direct_write_sources(call->direct, 0, &call->sources);
    if (status == GRAVEL_OK && call->predict) {
        /* every call another time, so close to the sources' that the forces still match the reference */
        call->time += 0x1p-80;
        status = gravel_direct_set_time(call->direct, call->time);
    }
    if (status == GRAVEL_OK)
        status = gravel_direct_submit(call->direct, &call->sinks, call->eps);
    if (status == GRAVEL_OK)
        status = gravel_direct_collect(call->direct, &call->forces, &call->overflow);
    *device_s = *call_s = gv_now() - start;
    return status == GRAVEL_OK && call->on_device ? gravel_direct_get_kernel_time(call->direct, device_s) : status;
}

static gravel_status timed_row(void *user, int runs, double *device_s)
{
    const timed_call *call = user;
    return gv_direct_row(call->direct, runs, device_s);
}

/* The results of the sinks that have reference forces, moved together at the front. */
static void keep_checked(gv_force_set *set, const gv_bench_case *c)
{
    double *const column[10] = {set->ax, set->ay, set->az, set->pot, set->jx,
                                set->jy, set->jz, set->sx, set->sy,  set->sz};
    for (int k = 0; k < 10 && column[k] != NULL; k++)
        for (size_t i = 0; i < c->checked; i++)
            column[k][i] = column[k][i * c->check_step];
    set->count = c->checked;
}

static void derive(gv_bench_result *r, const gv_bench_setting *setting)
{
    const double pairs = (double)r->n_sources * (double)r->n_sinks;
    r->peak = r->variant.precision == GRAVEL_DP ? setting->facts.fma_dp : setting->facts.fma_sp;
    r->pairs_per_s = pairs / r->resident.device.median;
    r->slots_per_pair = r->peak / r->pairs_per_s;
    r->slots_smallest = gv_smallest_slots(r->variant.order, r->variant.precision);
}

static gravel_status measure(const gv_bench_setting *setting, const gv_bench_case *c, gravel_direct *direct,
                             gv_force_set *set, gv_bench_result *r)
{
    timed_call call = {.direct = direct, .eps = setting->eps, .predict = setting->predict};
    call.sources = gv_sources_view(c->sources);
    call.sinks = gv_sinks_view(&c->sinks, 0, c->sinks.count, c->radius);
    call.forces = gv_force_set_view(set, 0);
    gv_timing device;
    gravel_status status = gravel_direct_write_sources(direct, 0, &call.sources);
    if (status == GRAVEL_OK)
        status = gravel_direct_set_timing(direct, call.on_device = 1);
    if (status == GRAVEL_OK) {
        gv_timing_rule rule = setting->rule;
        /* as in the tuner; the kernels of a row do not predict */
        if (!setting->predict && gravel_context_get_device(setting->context, 0)->type != GRAVEL_DEVICE_CPU)
            rule.row = timed_row;
        status = gv_timing_run(&rule, timed_run, &call, &device);
    }
    if (status == GRAVEL_OK)
        status = gravel_direct_set_timing(direct, call.on_device = 0);
    if (status == GRAVEL_OK) {
        status = gv_timing_run(&setting->rule, timed_run, &call, &r->resident);
        r->resident.device = device.device;
    }
    call.upload = 1;
    if (status == GRAVEL_OK)
        status = gv_timing_run(&setting->rule, timed_run, &call, &r->upload);
    if (status == GRAVEL_OK) {
        status = gravel_direct_get_configuration(direct, c->sinks.count, r->configuration, sizeof r->configuration,
                                                 &r->origin);
    }
    r->overflow = call.overflow;
    return status;
}

gravel_status gv_bench_direct(const gv_bench_setting *setting, const gv_bench_case *c, const gv_variant *variant,
                              gv_bench_result *result)
{
    gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_direct *direct = NULL;
    gv_force_set set = {0};
    memset(result, 0, sizeof *result);
    result->variant = *variant;
    result->n_sources = c->sources->count;
    result->n_sinks = c->sinks.count;
    options.order = variant->order;
    options.precision = variant->precision;
    options.nearest = setting->nearest;
    options.neighbour_capacity = setting->neighbours;
    options.prediction = setting->predict;
    options.configuration = setting->configuration;
    gravel_status status =
        gv_force_set_create(&set, c->sinks.count, variant->order, setting->nearest, (size_t)setting->neighbours);
    if (status == GRAVEL_OK)
        status = gravel_direct_create(&direct, setting->context, &options);
    if (status == GRAVEL_OK)
        status = measure(setting, c, direct, &set, result);
    if (status == GRAVEL_OK) {
        gv_force_set truth = c->truth; /* a view of the lower order */
        truth.order = variant->order;
        keep_checked(&set, c);
        gv_errors_set(&result->errors, &set, &truth);
        derive(result, setting);
    }
    gravel_direct_release(direct);
    gv_force_set_free(&set);
    return status;
}
