/* gravel bench: speed in the unit that has a known lower limit: instruction slots per pair. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench_direct.h"
#include "cli/variants.h"
#include "sim/ic.h"

#define BENCH "gravel bench direct"

typedef struct bench_options {
    const char *device, *out, *configuration, *variant;
    int json, nearest, neighbours, predict, quick, no_fp64, verbose;
    unsigned orders, precisions;
    double eps;
    gv_size_list n, active;
    uint64_t seed;
} bench_options;

typedef struct bench_run {
    const bench_options *opts;
    gv_bench_setting setting;
    gravel_device_info device;
    gv_variant variant[GV_VARIANTS];
    int variants;
    gv_bench_result *result;
    size_t results;
} bench_run;

/* ------------------------------------------------------------- what to run */

static int choose_variants(bench_run *run)
{
    int kept = 0;
    const int code = gv_variants_choose(BENCH, run->opts->variant, &run->device, run->variant, &run->variants);
    for (int v = 0; v < run->variants; v++) {
        const gv_variant *variant = &run->variant[v];
        if (run->opts->variant != NULL || ((run->opts->precisions >> variant->precision & 1) &&
                                           (run->opts->orders >> (variant->order / 2 - 1) & 1))) {
            run->variant[kept++] = *variant;
        }
    }
    run->variants = kept;
    if (code == GV_EXIT_OK && kept == 0) {
        gv_say(BENCH, "nothing to do: %s has no double precision", run->device.name);
        return GV_EXIT_USAGE;
    }
    return code;
}

static int highest_order(const bench_run *run)
{
    int order = 2;
    for (int v = 0; v < run->variants; v++)
        order = run->variant[v].order > order ? run->variant[v].order : order;
    return order;
}

/* The accelerations that order 6 needs; their exact values do not matter here, only their size. */
static gravel_status add_accelerations(gv_particles *p)
{
    const size_t bytes = p->count * sizeof *p->ax;
    p->ax = malloc(bytes);
    p->ay = malloc(bytes);
    p->az = malloc(bytes);
    if (p->ax == NULL || p->ay == NULL || p->az == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < p->count; i++) { /* of a Plummer sphere, a = 3 pi / 16 */
        const double r2 = p->x[i] * p->x[i] + p->y[i] * p->y[i] + p->z[i] * p->z[i], s2 = r2 + 0.347;
        const double factor = -1 / (s2 * sqrt(s2));
        p->ax[i] = factor * p->x[i];
        p->ay[i] = factor * p->y[i];
        p->az[i] = factor * p->z[i];
    }
    return GRAVEL_OK;
}

/* ----------------------------------------------------------------- output */

static cJSON *result_json(const bench_run *run, const gv_bench_result *r)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "device", run->device.name);
    cJSON_AddStringToObject(item, "driver", run->device.driver);
    cJSON_AddStringToObject(item, "variant", r->variant.name);
    cJSON_AddNumberToObject(item, "order", r->variant.order);
    cJSON_AddStringToObject(item, "precision", gravel_precision_name(r->variant.precision));
    cJSON_AddNumberToObject(item, "eps", run->setting.eps);
    cJSON_AddBoolToObject(item, "nearest", run->setting.nearest);
    cJSON_AddNumberToObject(item, "neighbour_capacity", run->setting.neighbours);
    cJSON_AddBoolToObject(item, "prediction", run->setting.predict);
    cJSON_AddNumberToObject(item, "n_sources", (double)r->n_sources);
    cJSON_AddNumberToObject(item, "n_sinks", (double)r->n_sinks);
    cJSON_AddStringToObject(item, "configuration", r->configuration);
    cJSON_AddStringToObject(item, "origin", gravel_origin_name(r->origin));
    gv_json_number(item, "kernel_s_median", r->resident.device.median);
    gv_json_number(item, "kernel_s_min", r->resident.device.least);
    gv_json_number(item, "kernel_s_spread", r->resident.device.spread);
    gv_json_number(item, "call_s_median", r->resident.call.median);
    gv_json_number(item, "call_s_min", r->resident.call.least);
    gv_json_number(item, "upload_call_s_median", r->upload.call.median);
    gv_json_number(item, "upload_call_s_min", r->upload.call.least);
    cJSON_AddNumberToObject(item, "samples", r->resident.samples);
    gv_json_number(item, "pairs_per_s", r->pairs_per_s);
    gv_json_number(item, "call_pairs_per_s", (double)r->n_sources * (double)r->n_sinks / r->resident.call.median);
    gv_json_number(item, "slots_per_pair", r->slots_per_pair);
    cJSON_AddNumberToObject(item, "slots_smallest", r->slots_smallest);
    gv_json_number(item, "peak_lane_fma_per_s", r->peak);
    gv_json_number(item, "err_acc_max", r->errors.max[GV_ACC]);
    gv_json_number(item, "err_acc_mean", r->errors.mean[GV_ACC]);
    gv_json_number(item, "err_pot_max", r->errors.max[GV_POT]);
    gv_json_number(item, "err_jerk_max", r->variant.order >= 4 ? r->errors.max[GV_JERK] : (double)NAN);
    gv_json_number(item, "err_snap_max", r->variant.order >= 6 ? r->errors.max[GV_SNAP] : (double)NAN);
    cJSON_AddNumberToObject(item, "err_sinks", (double)r->errors.count);
    cJSON_AddNumberToObject(item, "neighbour_overflow", (double)r->overflow);
    gv_json_stamp(item);
    return item;
}

static cJSON *all_json(const bench_run *run)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < run->results; i++)
        cJSON_AddItemToArray(list, result_json(run, &run->result[i]));
    return list;
}

/* Times with three significant digits and the unit that fits. */
static const char *format_time(double seconds, char text[16])
{
    const double unit = seconds < 1e-3 ? 1e-6 : seconds < 1 ? 1e-3 : 1;
    snprintf(text, 16, "%.*f %s",
             seconds / unit < 10    ? 2
             : seconds / unit < 100 ? 1
                                    : 0,
             seconds / unit,
             unit == 1      ? "s"
             : unit == 1e-3 ? "ms"
                            : "us");
    return text;
}

static void print_table(const bench_run *run)
{
    gv_table table;
    gv_print("%s, driver %s\n", run->device.name, run->device.driver);
    printf("measured peak: %.4g G lane-FMA/s sp", 1e-9 * run->setting.facts.fma_sp);
    if (run->setting.facts.fma_dp > 0)
        printf(", %.4g G lane-FMA/s dp", 1e-9 * run->setting.facts.fma_dp);
    printf("\neps %g%s", run->setting.eps, run->setting.nearest ? ", nearest neighbour" : "");
    if (run->setting.neighbours > 0)
        printf(", lists of at most %d", run->setting.neighbours);
    gv_print("%s\n\n", run->setting.predict ? ", sources predicted in every call" : "");
    gv_table_start(&table,
                   "variant|sources|sinks|kernel|kernel min|call|with upload|G pairs/s|slots/pair|smallest|ratio|"
                   "err acc max|origin");
    for (size_t i = 0; i < run->results; i++) {
        const gv_bench_result *r = &run->result[i];
        char time[4][16];
        gv_table_row(&table, "%s|%zu|%zu|%s|%s|%s|%s|%.4g|%.1f|%d|%.2f|%.1e|%s", r->variant.name, r->n_sources,
                     r->n_sinks, format_time(r->resident.device.median, time[0]),
                     format_time(r->resident.device.least, time[1]), format_time(r->resident.call.median, time[2]),
                     format_time(r->upload.call.median, time[3]), 1e-9 * r->pairs_per_s, r->slots_per_pair,
                     r->slots_smallest, r->slots_per_pair / r->slots_smallest, r->errors.max[GV_ACC],
                     gravel_origin_name(r->origin));
    }
    gv_table_print(&table, stdout);
    gv_table_free(&table);
    printf("\nkernel: device time of a call; call: host memory to host memory, sources resident; medians.\n"
           "slots/pair: measured peak x kernel time / pairs; smallest: what the formula needs.\n");
}

/* -------------------------------------------------------------------- runs */

static gravel_status run_cases(bench_run *run, const gv_particles *sources, const gv_size_list *active)
{
    gv_bench_case cases[GV_MAX_LIST];
    gravel_status status = GRAVEL_OK;
    int made = 0;
    for (; made < active->n && status == GRAVEL_OK; made++) {
        status = gv_bench_case_create(&cases[made], &run->setting, sources, active->value[made], highest_order(run));
        if (status != GRAVEL_OK)
            break;
    }
    gv_progress progress;
    gv_progress_start(&progress, "bench");
    for (int v = 0, done = 0; v < run->variants && status == GRAVEL_OK; v++) {
        for (int a = 0; a < active->n && status == GRAVEL_OK; a++, done++) {
            status = gv_bench_direct(&run->setting, &cases[a], &run->variant[v], &run->result[run->results]);
            run->results += status == GRAVEL_OK;
            gv_progress_show(&progress, done + 1, run->variants * active->n);
        }
    }
    gv_progress_clear(&progress);
    while (made > 0)
        gv_bench_case_free(&cases[--made]);
    return status;
}

static gravel_status run_size(void *bench, size_t n)
{
    bench_run *run = bench;
    gv_particles sources;
    gv_size_list active = run->opts->active;
    if (active.n == 0) {
        active.n = 1;
        active.value[0] = n;
    }
    for (int a = 0; a < active.n; a++)
        if (active.value[a] > n)
            return gv_fail(GRAVEL_ERR_ARGUMENT, "--active: %zu sinks of %zu particles", active.value[a], n);
    gravel_status status = gv_ic_plummer(n, run->opts->seed, NULL, &sources);
    if (status != GRAVEL_OK)
        return status;
    if (highest_order(run) == 6 || run->opts->predict)
        status = add_accelerations(&sources);
    if (status == GRAVEL_OK)
        status = run_cases(run, &sources, &active);
    gv_particles_free(&sources);
    return status;
}

static gravel_status prepare(bench_run *run)
{
    const bench_options *opts = run->opts;
    const gv_timing_rule rule = GV_TIMING_RULE_INIT;
    run->setting.eps = opts->eps;
    run->setting.nearest = opts->nearest;
    run->setting.neighbours = opts->neighbours;
    run->setting.predict = opts->predict;
    run->setting.configuration = opts->configuration;
    run->setting.rule = rule;
    if (!opts->quick) {
        run->setting.rule.least_s = 0.2;
        run->setting.rule.most = GV_TIMING_MOST;
        run->setting.rule.most_s = 10;
    }
    gravel_status status = gv_cli_context(&run->setting.context, opts->device, opts->no_fp64, opts->verbose);
    if (status != GRAVEL_OK)
        return status;
    run->device = *gravel_context_get_device(run->setting.context, 0);
    return GRAVEL_OK;
}

static int write_results(const void *bench)
{
    const bench_run *const run = bench;
    int table;
    const int code = gv_cli_write_results(BENCH, all_json(run), run->opts->out, run->opts->json, &table);
    if (table)
        print_table(run);
    return code;
}

static int run(const void *values, const gv_operands *operands)
{
    const bench_options *opts = values;
    bench_run run = {.opts = opts};
    (void)operands;
    gv_signals_catch(0.7, "gravel bench: stopped\n");
    gravel_status status = prepare(&run);
    if (status != GRAVEL_OK)
        return gv_cli_fail(BENCH, status);
    int code = choose_variants(&run);
    const int is_cpu = run.device.type == GRAVEL_DEVICE_CPU;
    const size_t most = (size_t)GV_VARIANTS * GV_MAX_LIST * (size_t)(opts->n.n > 0 ? opts->n.n : 1);
    run.result = calloc(most, sizeof *run.result);
    if (code == GV_EXIT_OK && run.result == NULL) {
        gv_say(BENCH, "out of memory");
        code = GV_EXIT_FAILURE;
    }
    if (code == GV_EXIT_OK) {
        status = gravel_context_measure(run.setting.context, 0, 0, &run.setting.facts);
        if (status == GRAVEL_OK)
            status = gv_cli_bench_sizes(&opts->n, (gv_size_list){1, {is_cpu ? 16384 : 131072}}, run_size, &run);
        code = gv_cli_end_bench(BENCH, status, (int)run.results, write_results, &run);
    }
    free(run.result);
    gravel_context_release(run.setting.context);
    return code;
}

static const gv_opt opts_table[] = {
    {.name = "order",
     .kind = GV_OPT_CHOICES,
     .offset = offsetof(bench_options, orders),
     .value = "2|4|6",
     .help = "which orders, as 2,4",
     .fallback = "all"},
    {.name = "precision",
     .letter = 'p',
     .kind = GV_OPT_CHOICES,
     .offset = offsetof(bench_options, precisions),
     .value = "sp|ds|dp",
     .help = "which precisions, as sp,ds",
     .fallback = "all"},
    {.name = "variant",
     .kind = GV_OPT_TEXT,
     .offset = offsetof(bench_options, variant),
     .value = "LIST",
     .help = "variants by name, as sp2,ds4, not orders x precisions"},
    GV_OPT_SIZES_OF_N(bench_options, "how many sources (default 16384 on CPUs, else 131072)"),
    {.name = "active",
     .letter = 'a',
     .kind = GV_OPT_SIZES,
     .offset = offsetof(bench_options, active),
     .value = "LIST",
     .help = "how many of them are sinks (default: all)",
     .low = 1,
     .high = INFINITY},
    {.name = "eps",
     .letter = 'e',
     .kind = GV_OPT_REAL,
     .offset = offsetof(bench_options, eps),
     .value = "E",
     .help = "Plummer softening length",
     .fallback = "0.01",
     .low = 0,
     .high = INFINITY},
    {.name = "nearest",
     .kind = GV_OPT_FLAG,
     .offset = offsetof(bench_options, nearest),
     .help = "find nearest neighbours too"},
    {.name = "neighbours",
     .kind = GV_OPT_INT,
     .offset = offsetof(bench_options, neighbours),
     .value = "K",
     .help = "make neighbour lists of at most K too; the radius gives\nabout K/2 of them",
     .fallback = "0",
     .low = 0,
     .high = 65536},
    {.name = "predict",
     .kind = GV_OPT_FLAG,
     .offset = offsetof(bench_options, predict),
     .help = "predict all sources in every call, as block time-steps do"},
    {.name = "configuration",
     .kind = GV_OPT_TEXT,
     .offset = offsetof(bench_options, configuration),
     .value = "TEXT",
     .help = "tunables as \"threads=128 split=2\", not the tuned ones"},
    {.name = "quick", .kind = GV_OPT_FLAG, .offset = offsetof(bench_options, quick), .help = "fewer repetitions"},
    GV_OPT_BENCH(bench_options),
    {.name = NULL},
};

const gv_command gv_cmd_bench_direct = {
    .name = "direct",
    .summary = "direct summation on a Plummer sphere",
    .synopsis = "[--order LIST] [--precision LIST] [-n LIST] [--active LIST] [options]",
    .about = "For each variant: device time, whole-call time with the sources resident and with all of them\n"
             "uploaded, pairs per second, error against long double, and slots per pair: the device's FMA rate,\n"
             "measured in the same run, x time / pairs, beside the fewest that the formula needs.",
    .opts = opts_table,
    .examples = "gravel bench direct\n"
                "gravel bench direct --variant ds4 -n 131072 --active 1,16,256,1024,128Ki --nearest\n"
                "gravel bench direct -n 1Mi -o bench/results/my_gpu.json\n",
    .size = sizeof(bench_options),
    .run = run,
};
