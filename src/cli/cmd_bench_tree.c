/* gravel bench tree: milliseconds per stage, interactions and errors of the tree code. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench_tree.h"
#include "sim/ic.h"

#define BENCH "gravel bench tree"
#define FLOPS_BODY 23.0 /* a body on a sink, a cell on a sink: as the papers count them */
#define FLOPS_CELL 65.0
#define FLOPS_EXPAND 250.0 /* a cell into the expansion of a group, once for all its sinks */

enum { MODEL_PLUMMER, MODEL_GALAXY, MODEL_UNIFORM };
static const char *const model_name[] = {"plummer", "galaxy", "uniform"};

typedef struct tree_options {
    const char *device, *out, *configuration, *theta, *mac;
    int json, no_fp64, verbose, no_errors, distribution, crossover, moments, repeats, spline;
    int model, precision; /* places in the choices */
    double eps;
    gv_size_list n;
    size_t sample;
    uint64_t seed;
    unsigned char given[GV_MAX_OPTIONS];
} tree_options;

typedef struct tree_bench {
    const tree_options *opts;
    gv_tree_setting setting;
    double theta[GV_MAX_LIST];
    int n_theta, n_results;
    gv_tree_result *result;
    gv_crossover *crossover;
    gv_particles pairs; /* bodies that the direct kernel's speed is measured with */
} tree_bench;

/* -------------------------------------------------------------------- runs */

static gravel_status make_model(void *user, size_t n, gv_particles *p)
{
    const tree_options *opts = user;

    switch (opts->model) {
    case MODEL_GALAXY:
        return gv_ic_galaxy(n, opts->seed, NULL, p);
    case MODEL_UNIFORM:
        return gv_ic_uniform(n, opts->seed, NULL, p);
    default:
        return gv_ic_plummer(n, opts->seed, NULL, p);
    }
}

/* Speed of our own direct kernel in this minute, so that trees can be compared on machines whose speed changes. */
static gravel_status measure_pairs(tree_bench *bench, double *pairs_per_s)
{
    const size_t n = bench->setting.device.type == GRAVEL_DEVICE_CPU ? 32768 : 262144;
    gravel_status status = GRAVEL_OK;
    double seconds;

    if (bench->pairs.count == 0)
        status = gv_ic_plummer(n, bench->opts->seed, NULL, &bench->pairs);
    status = status == GRAVEL_OK ? gv_bench_pairs(&bench->setting, &bench->pairs, GRAVEL_SP, &seconds) : status;
    *pairs_per_s = status == GRAVEL_OK ? (double)n * (double)n / seconds : 0;
    return status;
}

static gravel_status run_size(void *user, size_t n)
{
    tree_bench *bench = user;
    tree_options opts = *bench->opts;
    const int errors = !opts.no_errors && !opts.spline;
    gv_exact exact = {.count = 0};
    gv_particles p;
    gravel_status status = make_model(&opts, n, &p);

    if (status != GRAVEL_OK)
        return status;
    if (errors)
        status = gv_exact_create(&bench->setting, &p, &exact);
    if (status == GRAVEL_OK && opts.verbose && errors)
        gv_say(BENCH, "%zu bodies: %zu exact forces (%s) in %.1f s", n, exact.count, exact.by, exact.seconds);
    for (int t = 0; t < bench->n_theta && status == GRAVEL_OK; t++) {
        gv_tree_result *r = &bench->result[bench->n_results];

        status = gv_bench_tree(&bench->setting, &p, bench->theta[t], errors ? &exact : NULL, r);
        status = status == GRAVEL_OK ? measure_pairs(bench, &r->sp2_pairs_per_s) : status;
        bench->n_results += status == GRAVEL_OK;
    }
    gv_exact_free(&exact);
    gv_particles_free(&p);
    return status;
}

static gravel_status run_crossover(tree_bench *bench)
{
    tree_options opts = *bench->opts;
    gv_size_list sizes = opts.n;
    gravel_status status = GRAVEL_OK;

    if (sizes.n == 0)
        for (size_t n = 512; n <= 262144; n *= 2)
            sizes.value[sizes.n++] = n;
    for (int t = 0; t < bench->n_theta && status == GRAVEL_OK; t++) {
        bench->setting.options.theta = bench->theta[t];
        status = gv_bench_crossover(&bench->setting, make_model, &opts, &sizes, &bench->crossover[t]);
        bench->n_results += status == GRAVEL_OK;
    }
    return status;
}

/* ------------------------------------------------------------------ output */

static double flops(const gv_tree_result *r)
{
    const double sinks_per_group = (double)r->n / (double)r->counts.groups;

    return (double)r->n * (r->counts.bodies * FLOPS_BODY + r->counts.near_cells * FLOPS_CELL +
                           r->counts.far_cells * FLOPS_EXPAND / sinks_per_group);
}

static cJSON *common_json(const tree_bench *bench, double theta, const char *configuration)
{
    const gv_tree_setting *s = &bench->setting;
    cJSON *item = cJSON_CreateObject();

    cJSON_AddStringToObject(item, "device", s->device.name);
    cJSON_AddStringToObject(item, "driver", s->device.driver);
    cJSON_AddStringToObject(item, "model", model_name[bench->opts->model]);
    cJSON_AddNumberToObject(item, "theta", theta);
    cJSON_AddStringToObject(item, "mac", gravel_tree_mac_name(s->options.mac));
    cJSON_AddNumberToObject(item, "moments", s->options.moments);
    cJSON_AddStringToObject(item, "precision", gravel_precision_name(s->options.precision));
    cJSON_AddStringToObject(item, "softening", bench->opts->spline ? "spline" : "plummer");
    cJSON_AddNumberToObject(item, "eps", s->eps);
    cJSON_AddStringToObject(item, "configuration", configuration);
    return item;
}

static void put_errors(cJSON *item, const tree_bench *bench, const gv_tree_result *r)
{
    static const char *const name[GV_TREE_QUANTILES] = {"err_acc_p50", "err_acc_p90", "err_acc_p99", "err_acc_p999",
                                                        "err_acc_max"};

    for (int q = 0; q < GV_TREE_QUANTILES; q++)
        gv_json_number(item, name[q], r->error[q]);
    cJSON_AddNumberToObject(item, "err_sinks", (double)r->error_sinks);
    if (r->error_sinks > 0)
        cJSON_AddStringToObject(item, "err_against", r->error_by);
    if (r->error_sinks > 0 && bench->opts->distribution) {
        cJSON *rows = cJSON_AddArrayToObject(item, "err_acc_above");

        for (int k = 0; k < GV_TREE_BINS; k++) {
            const double pair[2] = {gv_tree_bin(k), r->above[k]};
            cJSON_AddItemToArray(rows, cJSON_CreateDoubleArray(pair, 2));
        }
    }
}

static cJSON *result_json(const tree_bench *bench, const gv_tree_result *r)
{
    cJSON *item = common_json(bench, r->theta, r->configuration);
    const double total = r->stage[GV_TREE_TOTAL];
    char name[32];

    cJSON_AddNumberToObject(item, "n", (double)r->n);
    cJSON_AddStringToObject(item, "origin", gravel_origin_name(r->origin));
    for (int s = 0; s < GV_TREE_STAGES; s++) {
        snprintf(name, sizeof name, "%s_s_median", gv_tree_stage_name[s]);
        gv_json_number(item, name, r->stage[s]);
    }
    gv_json_number(item, "total_s_min", r->least);
    gv_json_number(item, "call_s_median", r->call_s);
    cJSON_AddNumberToObject(item, "samples", r->samples);
    gv_json_number(item, "bodies_per_s", (double)r->n / total);
    gv_json_number(item, "sp2_pairs_per_s", r->sp2_pairs_per_s);
    gv_json_number(item, "total_in_sp2_pairs", total * r->sp2_pairs_per_s);
    gv_json_number(item, "cells_per_body", r->counts.far_cells + r->counts.near_cells);
    gv_json_number(item, "far_cells_per_body", r->counts.far_cells);
    gv_json_number(item, "near_cells_per_body", r->counts.near_cells);
    gv_json_number(item, "bodies_per_body", r->counts.bodies);
    gv_json_number(item, "tests_per_body", r->counts.tests);
    cJSON_AddNumberToObject(item, "cells", (double)r->counts.cells);
    cJSON_AddNumberToObject(item, "levels", (double)r->counts.levels);
    gv_json_number(item, "walk_flops_per_s", flops(r) / r->stage[GV_TREE_TOTAL - 1]);
    gv_json_number(item, "memory_bytes_per_body", r->memory);
    put_errors(item, bench, r);
    gv_json_stamp(item);
    return item;
}

static cJSON *crossover_json(const tree_bench *bench, const gv_crossover *c)
{
    cJSON *item = common_json(bench, c->theta, c->configuration), *points;

    gv_json_number(item, "crossover_n", c->n_dp);
    gv_json_number(item, "crossover_n_sp2", c->n_sp);
    points = cJSON_AddArrayToObject(item, "points");
    for (int k = 0; k < c->n_points; k++) {
        cJSON *point = cJSON_CreateObject();

        cJSON_AddNumberToObject(point, "n", (double)c->n[k]);
        gv_json_number(point, "tree_s_median", c->tree_s[k]);
        gv_json_number(point, "direct_dp2_s_median", c->dp_s[k]);
        gv_json_number(point, "direct_sp2_s_median", c->sp_s[k]);
        cJSON_AddItemToArray(points, point);
    }
    gv_json_stamp(item);
    return item;
}

static cJSON *all_json(const tree_bench *bench)
{
    cJSON *list = cJSON_CreateArray();

    for (int i = 0; i < bench->n_results; i++) {
        cJSON_AddItemToArray(list, bench->opts->crossover ? crossover_json(bench, &bench->crossover[i])
                                                          : result_json(bench, &bench->result[i]));
    }
    return list;
}

static void print_head(const tree_bench *bench, const char *configuration, const char *origin)
{
    const gv_tree_setting *s = &bench->setting;

    gv_print("%s, driver %s; %s, eps %g, criterion %s, moments %d, %s\n", s->device.name, s->device.driver,
             model_name[bench->opts->model], s->eps, gravel_tree_mac_name(s->options.mac), s->options.moments,
             gravel_precision_name(s->options.precision));
    gv_print("%s%s\n\n", configuration, origin);
}

static void print_distribution(const tree_bench *bench)
{
    gv_table table;

    printf("\npart of the bodies with an error above\n");
    gv_table_start(&table, "n|theta|1e-6|1e-5|1e-4|1e-3|1e-2");
    for (int i = 0; i < bench->n_results; i++) {
        const gv_tree_result *r = &bench->result[i];
        const double *at = &r->above[(GV_TREE_DECADES - 6) * GV_TREE_PER_DECADE];

        gv_table_row(&table, "%zu|%g|%.4f|%.4f|%.4f|%.4f|%.4f", r->n, r->theta, at[0], at[GV_TREE_PER_DECADE],
                     at[2 * GV_TREE_PER_DECADE], at[3 * GV_TREE_PER_DECADE], at[4 * GV_TREE_PER_DECADE]);
    }
    gv_table_print(&table, stdout);
    gv_table_free(&table);
}

static void print_table(const tree_bench *bench)
{
    char origin[64];
    gv_table table;

    snprintf(origin, sizeof origin, " (%s)", gravel_origin_name(bench->result[0].origin));
    print_head(bench, bench->result[0].configuration, origin);
    gv_table_start(&table,
                   "n|theta|keys|sort|build|moments|groups|walk|total ms|M bodies/s|G sp2 pairs|far|near|bodies|tests|"
                   "B/body|Tflop/s|50 %|90 %|99 %|99.9 %|max");
    for (int i = 0; i < bench->n_results; i++) {
        const gv_tree_result *r = &bench->result[i];
        const double *s = r->stage, *e = r->error;

        gv_table_row(&table,
                     "%zu|%g|%.3f|%.3f|%.3f|%.3f|%.3f|%.3f|%.3f|%.1f|%.3g|%.0f|%.0f|%.0f|%.0f|%.0f|%.2f|%.1e|%.1e|%.1e|"
                     "%.1e|%.1e",
                     r->n, r->theta, 1e3 * s[0], 1e3 * s[1], 1e3 * s[2], 1e3 * s[3], 1e3 * s[4], 1e3 * s[5], 1e3 * s[6],
                     1e-6 * (double)r->n / s[6], 1e-9 * s[6] * r->sp2_pairs_per_s, r->counts.far_cells,
                     r->counts.near_cells, r->counts.bodies, r->counts.tests, r->memory, 1e-12 * flops(r) / s[5], e[0],
                     e[1], e[2], e[3], e[4]);
    }
    gv_table_print(&table, stdout);
    gv_table_free(&table);
    printf("\nstages: medians of device times, ms; G sp2 pairs: pairs that direct summation in sp does in the total "
           "time;\nfar: cells into the group's expansion, near: cells on the sink, bodies: bodies on the sink, per "
           "sink;\nerrors: |a - a_direct| / |a_direct|.\n");
    if (bench->opts->distribution && bench->result[0].error_sinks > 0)
        print_distribution(bench);
}

static void print_crossover(const tree_bench *bench)
{
    print_head(bench, bench->crossover[0].configuration, "");
    for (int i = 0; i < bench->n_results; i++) {
        const gv_crossover *c = &bench->crossover[i];
        gv_table table;

        gv_table_start(&table, "n|tree ms|direct dp2 ms|direct sp2 ms");
        for (int k = 0; k < c->n_points; k++)
            gv_table_row(&table, "%zu|%.3f|%.3f|%.3f", c->n[k], 1e3 * c->tree_s[k], 1e3 * c->dp_s[k], 1e3 * c->sp_s[k]);
        gv_table_print(&table, stdout);
        gv_table_free(&table);
        printf("theta %g: the tree is faster than direct dp2 from N = %.3g on, than direct sp2 from N = %.3g on\n\n",
               c->theta, c->n_dp, c->n_sp);
    }
}

static int write_results(const void *user)
{
    const tree_bench *const bench = user;
    const tree_options *opts = bench->opts;
    int table;
    const int code = gv_cli_write_results(BENCH, all_json(bench), opts->out, opts->json, &table);
    if (table)
        (opts->crossover ? print_crossover : print_table)(bench);
    return code;
}

/* ----------------------------------------------------------------- command */

static int parse_theta(tree_bench *bench)
{
    bench->n_theta =
        gv_parse_reals(bench->opts->theta, GRAVEL_TREE_THETA_MIN, GRAVEL_TREE_THETA_MAX, bench->theta, GV_MAX_LIST);
    if (bench->n_theta > 0)
        return GV_EXIT_OK;
    gv_say(BENCH, "--theta: '%s' is not a list of at most %d numbers from %g to %g", bench->opts->theta, GV_MAX_LIST,
           GRAVEL_TREE_THETA_MIN, GRAVEL_TREE_THETA_MAX);
    return GV_EXIT_USAGE;
}

static gravel_status prepare(tree_bench *bench)
{
    const tree_options *opts = bench->opts;
    const gravel_tree_options standard = GRAVEL_TREE_OPTIONS_INIT;
    const gv_timing_rule rule = GV_TIMING_RULE_INIT;
    gv_tree_setting *s = &bench->setting;
    gravel_status status;

    s->options = standard;
    s->options.moments = opts->moments;
    s->options.precision = (gravel_precision)opts->precision;
    s->options.softening = opts->spline ? GRAVEL_SPLINE : GRAVEL_PLUMMER;
    s->options.configuration = opts->configuration;
    s->eps = opts->eps;
    s->sample = opts->sample;
    s->rule = rule;
    s->rule.warm_up = 2;
    s->rule.most_s = 10;
    if (opts->repeats > 0) {
        s->rule.least = s->rule.most = opts->repeats;
        s->rule.most_s = INFINITY;
    }
    status = gravel_tree_mac_parse(opts->mac, &s->options.mac);
    if (status == GRAVEL_OK)
        status = gv_cli_context(&s->context, opts->device, opts->no_fp64, opts->verbose);
    if (status == GRAVEL_OK)
        s->device = *gravel_context_get_device(s->context, 0);
    return status;
}

static int check_effect(const tree_options *o)
{
    const gv_no_effect rules[] = {
        {o->crossover, "no-errors sample distribution", "is about errors; --crossover measures times"},
        {o->no_errors || o->spline, "sample distribution", "is about errors, which --no-errors and --spline leave out"},
        {.options = NULL}};
    return gv_options_check_effect(BENCH, &gv_cmd_bench_tree, o, rules);
}

static int run(const void *values, const gv_operands *operands)
{
    const tree_options *opts = values;
    tree_bench bench = {.opts = opts, .pairs = GV_PARTICLES_INIT};
    gravel_status status;
    (void)operands;
    if (check_effect(opts) != 0)
        return GV_EXIT_USAGE;
    gv_signals_catch(0.7, "gravel bench: stopped\n");
    int code = parse_theta(&bench);

    if (code != GV_EXIT_OK)
        return code;
    status = prepare(&bench);
    bench.result = calloc((size_t)GV_MAX_LIST * (size_t)bench.n_theta, sizeof *bench.result);
    bench.crossover = calloc((size_t)bench.n_theta, sizeof *bench.crossover);
    if (status == GRAVEL_OK && (bench.result == NULL || bench.crossover == NULL))
        status = gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    const size_t usual = bench.setting.device.type == GRAVEL_DEVICE_CPU ? 131072 : 1048576;
    if (status == GRAVEL_OK)
        status = opts->crossover ? run_crossover(&bench)
                                 : gv_cli_bench_sizes(&opts->n, (gv_size_list){1, {usual}}, run_size, &bench);
    code = gv_cli_end_bench(BENCH, status, bench.n_results, write_results, &bench);
    gv_particles_free(&bench.pairs);
    free(bench.result);
    free(bench.crossover);
    gravel_context_release(bench.setting.context);
    return code;
}

static const gv_opt opts_table[] = {
    GV_OPT_SIZES_OF_N(tree_options, "how many bodies (default 128Ki on CPUs, else 1Mi)"),
    {.name = "theta",
     .letter = 't',
     .kind = GV_OPT_TEXT,
     .offset = offsetof(tree_options, theta),
     .value = "LIST",
     .help = "opening angles, as 0.3,0.5,0.75",
     .fallback = "0.5"},
    {.name = "mac",
     .kind = GV_OPT_TEXT,
     .offset = offsetof(tree_options, mac),
     .value = "NAME",
     .help = "opening criterion: relative, last or geometric",
     .fallback = "relative"},
    {.name = "moments",
     .kind = GV_OPT_INT,
     .offset = offsetof(tree_options, moments),
     .value = "K",
     .help = "1: mass, 2: and quadrupole",
     .fallback = "2",
     .low = 1,
     .high = 8},
    {.name = "model",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(tree_options, model),
     .value = "plummer|galaxy|uniform",
     .help = "where the bodies are",
     .fallback = "plummer"},
    {.name = "eps",
     .letter = 'e',
     .kind = GV_OPT_REAL,
     .offset = offsetof(tree_options, eps),
     .value = "E",
     .help = "softening length",
     .fallback = "0.01",
     .low = 0,
     .high = INFINITY},
    {.name = "spline",
     .kind = GV_OPT_FLAG,
     .offset = offsetof(tree_options, spline),
     .help = "spline softening, not Plummer's; without errors"},
    GV_OPT_PRECISION(tree_options, "of the forces", "sp"),
    {.name = "configuration",
     .kind = GV_OPT_TEXT,
     .offset = offsetof(tree_options, configuration),
     .value = "TEXT",
     .help = "tunables as \"n_leaf=16 n_group=32\", not the tuned ones"},
    {.name = "repeats",
     .kind = GV_OPT_INT,
     .offset = offsetof(tree_options, repeats),
     .value = "K",
     .help = "forces timed; without it by the timing rule",
     .low = 1,
     .high = GV_TIMING_MOST},
    {.name = "no-errors",
     .kind = GV_OPT_FLAG,
     .offset = offsetof(tree_options, no_errors),
     .help = "leave out the direct summation that errors need"},
    {.name = "sample",
     .kind = GV_OPT_SIZE,
     .offset = offsetof(tree_options, sample),
     .value = "K",
     .help = "bodies whose errors are found (default: all up to 128Ki,\n16Ki of more)",
     .fallback = "0",
     .low = 0,
     .high = INFINITY},
    {.name = "distribution",
     .kind = GV_OPT_FLAG,
     .offset = offsetof(tree_options, distribution),
     .help = "errors in full: part of the bodies above each of 91\n"
             "errors from 1e-9 to 1, for 'gravel plot tree'"},
    {.name = "crossover",
     .kind = GV_OPT_FLAG,
     .offset = offsetof(tree_options, crossover),
     .help = "from which N on the tree is faster than direct\nsummation on this device (-n: N to look at)"},
    GV_OPT_BENCH(tree_options),
    {.name = NULL},
};

const gv_command gv_cmd_bench_tree = {
    .name = "tree",
    .summary = "the tree code, stage by stage, with its errors",
    .synopsis = "[-n LIST] [--theta LIST] [--mac NAME] [--model NAME] [options]",
    .about = "For each size and opening angle: device time of every stage of one force evaluation (keys, sort, build,\n"
             "moments, groups, walk), interactions per body, errors against direct summation in dp (of all bodies up\n"
             "to 131072, else of 16384), and the pairs that the direct kernel does in that time, measured beside it.",
    .opts = opts_table,
    .examples = "gravel bench tree -n 1Mi --theta 0.3,0.5,0.75\n"
                "gravel bench tree -n 128Ki,1Mi,4Mi --no-errors\n"
                "gravel bench tree --model galaxy --mac geometric --json\n"
                "gravel bench tree --crossover -o crossover.json\n",
    .size = sizeof(tree_options),
    .given = offsetof(tree_options, given),
    .run = run,
};
