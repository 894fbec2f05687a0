/* gravel bench tree: milliseconds per stage, interactions and errors of the tree code. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "gravel/tree.h"
#include "sim/ic.h"

#define BENCH "gravel bench tree"
#define FLOPS_BODY 23.0    /* a body on a sink, a cell on a sink: as the papers count them */
#define FLOPS_CELL 65.0
#define FLOPS_EXPAND 250.0 /* a cell into the expansion of a group, once for all its sinks */

enum { STAGES = 7, REPEATS = 15, ERROR_ALL = 131072, ERROR_SAMPLE = 16384 };
static const char *const stage_name[STAGES] = {"keys", "sort", "build", "moments", "groups", "walk", "total"};

typedef struct tree_options {
    const char *device, *out, *configuration, *theta, *mac, *precision;
    int json, no_fp64, verbose, no_errors, moments, repeats, spline;
    int model; /* place in the choices */
    double eps;
    gv_size_list n;
    size_t sample;
    uint64_t seed;
} tree_options;

typedef struct tree_result {
    size_t n;
    double theta;
    double stage[STAGES], least[STAGES]; /* seconds */
    gravel_tree_counts counts;
    double memory;
    char configuration[256];
    gravel_origin origin;
    size_t error_sinks;
    double error[5]; /* 50, 90, 99, 99.9 %, largest */
} tree_result;

typedef struct tree_bench {
    const tree_options *opts;
    gravel_context *context;
    gravel_device_info device;
    gravel_tree_mac mac;
    gravel_precision precision;
    double theta[GV_MAX_LIST];
    int n_theta, n_results;
    tree_result *result;
} tree_bench;

static const char *const model_name[] = {"plummer", "galaxy", "uniform"};

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ------------------------------------------------------------------ errors */

/* Bodies first, first + step ... against direct summation: dp where the device has it. */
static gravel_status exact_forces(tree_bench *bench, const gv_particles *p, size_t step, size_t count, double *a[3]) {
    gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_direct *direct = NULL;
    double *x[3] = {NULL, NULL, NULL};
    int32_t *id = malloc(count * sizeof *id);
    options.precision = bench->device.has_fp64 && !bench->opts->no_fp64 ? GRAVEL_DP : GRAVEL_DS;
    gravel_status status = gravel_direct_create(&direct, bench->context, &options);
    for (int k = 0; k < 3; k++) {
        x[k] = malloc(count * sizeof *x[k]);
        if (status == GRAVEL_OK && (x[k] == NULL || id == NULL)) {
            status = gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
        }
    }
    if (status == GRAVEL_OK) {
        for (size_t k = 0; k < count; k++) {
            id[k] = (int32_t)(k * step);
            x[0][k] = p->x[k * step];
            x[1][k] = p->y[k * step];
            x[2][k] = p->z[k * step];
        }
        const gravel_sources sources = {.count = p->count, .mass = p->m, .pos = GRAVEL_VEC_SOA(p->x, p->y, p->z)};
        const gravel_sinks sinks = {.count = count, .id = id, .pos = GRAVEL_VEC_SOA(x[0], x[1], x[2])};
        const gravel_forces forces = {.acc = GRAVEL_VEC_OUT_SOA(a[0], a[1], a[2])};
        status = gravel_direct_write_sources(direct, 0, &sources);
        if (status == GRAVEL_OK) {
            status = gravel_direct_submit(direct, &sinks, bench->opts->eps);
        }
        if (status == GRAVEL_OK) {
            status = gravel_direct_collect(direct, &forces, NULL);
        }
    }
    gravel_direct_release(direct);
    for (int k = 0; k < 3; k++) {
        free(x[k]);
    }
    free(id);
    return status;
}

typedef struct exact_sample {
    size_t step, count;
    double *a[3];
} exact_sample;

static void sample_free(exact_sample *sample) {
    for (int k = 0; k < 3; k++) {
        free(sample->a[k]);
        sample->a[k] = NULL;
    }
}

static gravel_status sample_make(tree_bench *bench, const gv_particles *p, exact_sample *sample) {
    const size_t most = bench->opts->sample > 0 ? bench->opts->sample : p->count <= ERROR_ALL ? p->count : ERROR_SAMPLE;
    sample->step = most >= p->count ? 1 : p->count / most;
    sample->count = most >= p->count ? p->count : most;
    for (int k = 0; k < 3; k++) {
        sample->a[k] = malloc(sample->count * sizeof *sample->a[k]);
        if (sample->a[k] == NULL) {
            return gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
        }
    }
    return exact_forces(bench, p, sample->step, sample->count, sample->a);
}

static gravel_status find_errors(gravel_tree *tree, const exact_sample *sample, tree_result *result) {
    const double quantile[4] = {0.5, 0.9, 0.99, 0.999};
    const size_t n = result->n;
    double *acc = malloc(3 * n * sizeof *acc), *error = malloc(sample->count * sizeof *error);
    gravel_status status = acc && error ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    if (status == GRAVEL_OK) {
        const gravel_forces forces = {.acc = GRAVEL_VEC_OUT_SOA(acc, acc + n, acc + 2 * n)};
        status = gravel_tree_read(tree, &forces);
    }
    if (status == GRAVEL_OK) {
        for (size_t k = 0; k < sample->count; k++) {
            double difference = 0, size = 0;
            for (int c = 0; c < 3; c++) {
                const double exact = sample->a[c][k], d = acc[(size_t)c * n + k * sample->step] - exact;
                difference += d * d;
                size += exact * exact;
            }
            error[k] = sqrt(difference / size);
            error[k] = error[k] < 1e300 ? error[k] : INFINITY; /* NaN is as wrong as can be */
        }
        qsort(error, sample->count, sizeof *error, compare);
        for (int q = 0; q < 4; q++) {
            result->error[q] = error[(size_t)(quantile[q] * (double)(sample->count - 1))];
        }
        result->error[4] = error[sample->count - 1];
        result->error_sinks = sample->count;
    }
    free(acc);
    free(error);
    return status;
}

/* -------------------------------------------------------------------- runs */

static gravel_status time_tree(tree_bench *bench, gravel_tree *tree, tree_result *result) {
    double time[STAGES][64];
    int repeats = bench->opts->repeats < 64 ? bench->opts->repeats : 64;
    gravel_status status = GRAVEL_OK;
    for (int r = -2; r < repeats && status == GRAVEL_OK; r++) { /* two to warm up */
        gravel_tree_timings t;
        status = gravel_tree_build(tree);
        if (status == GRAVEL_OK) {
            status = gravel_tree_compute(tree, bench->opts->eps);
        }
        if (status == GRAVEL_OK) {
            status = gravel_tree_get_timings(tree, &t);
        }
        const double value[STAGES] = {t.keys, t.sort, t.build, t.moments, t.groups, t.walk, t.total};
        for (int s = 0; s < STAGES && r >= 0; s++) {
            time[s][r] = value[s];
        }
        if (gv_signals_pending()) {
            return gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
        }
    }
    for (int s = 0; s < STAGES && status == GRAVEL_OK; s++) {
        qsort(time[s], (size_t)repeats, sizeof time[s][0], compare);
        result->stage[s] = time[s][repeats / 2];
        result->least[s] = time[s][0];
    }
    return status;
}

static gravel_status run_case(tree_bench *bench, const gv_particles *p, double theta, const exact_sample *sample) {
    gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;
    gravel_tree *tree = NULL;
    tree_result *result = &bench->result[bench->n_results];
    const gravel_sources bodies = {.count = p->count, .mass = p->m, .pos = GRAVEL_VEC_SOA(p->x, p->y, p->z)};
    options.theta = theta;
    options.mac = bench->mac;
    options.moments = bench->opts->moments;
    options.precision = bench->precision;
    options.softening = bench->opts->spline ? GRAVEL_SPLINE : GRAVEL_PLUMMER;
    options.configuration = bench->opts->configuration;
    result->n = p->count;
    result->theta = theta;
    gravel_status status = gravel_tree_create(&tree, bench->context, &options);
    if (status == GRAVEL_OK) {
        status = gravel_tree_configuration(tree, result->configuration, sizeof result->configuration, &result->origin);
    }
    if (status == GRAVEL_OK) {
        status = gravel_tree_write(tree, &bodies);
    }
    if (status == GRAVEL_OK) {
        status = time_tree(bench, tree, result);
    }
    if (status == GRAVEL_OK) {
        status = gravel_tree_get_counts(tree, &result->counts);
    }
    if (status == GRAVEL_OK && !bench->opts->no_errors) {
        status = find_errors(tree, sample, result);
    }
    if (status == GRAVEL_OK) {
        result->memory = (double)gravel_tree_memory(tree) / (double)p->count;
        bench->n_results++;
    }
    gravel_tree_release(tree);
    return status;
}

static gravel_status make_model(const tree_options *opts, size_t n, gv_particles *p) {
    switch (opts->model) {
    case 1:
        return gv_ic_galaxy(n, opts->seed, NULL, p);
    case 2:
        return gv_ic_uniform(n, opts->seed, NULL, p);
    default:
        return gv_ic_plummer(n, opts->seed, NULL, p);
    }
}

static gravel_status run_size(tree_bench *bench, size_t n) {
    gv_particles p;
    exact_sample sample = {0};
    gravel_status status = make_model(bench->opts, n, &p);
    if (status != GRAVEL_OK) {
        return status;
    }
    if (!bench->opts->no_errors) {
        status = sample_make(bench, &p, &sample);
    }
    for (int t = 0; t < bench->n_theta && status == GRAVEL_OK; t++) {
        status = run_case(bench, &p, bench->theta[t], &sample);
    }
    sample_free(&sample);
    gv_particles_free(&p);
    return status;
}

/* ------------------------------------------------------------------ output */

static double flops(const tree_result *r) {
    const double sinks_per_group = (double)r->n / (double)r->counts.groups;
    return (double)r->n * (r->counts.bodies * FLOPS_BODY + r->counts.near_cells * FLOPS_CELL +
                           r->counts.far_cells * FLOPS_EXPAND / sinks_per_group);
}

static cJSON *result_json(const tree_bench *bench, const tree_result *r) {
    static const char *const error_name[5] = {"err_acc_p50", "err_acc_p90", "err_acc_p99", "err_acc_p999",
                                              "err_acc_max"};
    cJSON *item = cJSON_CreateObject();
    char name[32];
    cJSON_AddStringToObject(item, "device", bench->device.name);
    cJSON_AddStringToObject(item, "driver", bench->device.driver);
    cJSON_AddStringToObject(item, "model", model_name[bench->opts->model]);
    cJSON_AddNumberToObject(item, "n", (double)r->n);
    cJSON_AddNumberToObject(item, "theta", r->theta);
    cJSON_AddStringToObject(item, "mac", gravel_tree_mac_name(bench->mac));
    cJSON_AddNumberToObject(item, "moments", bench->opts->moments);
    cJSON_AddStringToObject(item, "precision", gravel_precision_name(bench->precision));
    cJSON_AddNumberToObject(item, "eps", bench->opts->eps);
    cJSON_AddStringToObject(item, "configuration", r->configuration);
    cJSON_AddStringToObject(item, "origin", gravel_origin_name(r->origin));
    for (int s = 0; s < STAGES; s++) {
        snprintf(name, sizeof name, "%s_s_median", stage_name[s]);
        gv_json_number(item, name, r->stage[s]);
    }
    gv_json_number(item, "total_s_min", r->least[STAGES - 1]);
    gv_json_number(item, "bodies_per_s", (double)r->n / r->stage[STAGES - 1]);
    gv_json_number(item, "cells_per_body", r->counts.far_cells + r->counts.near_cells);
    gv_json_number(item, "far_cells_per_body", r->counts.far_cells);
    gv_json_number(item, "near_cells_per_body", r->counts.near_cells);
    gv_json_number(item, "bodies_per_body", r->counts.bodies);
    gv_json_number(item, "tests_per_body", r->counts.tests);
    cJSON_AddNumberToObject(item, "cells", (double)r->counts.cells);
    cJSON_AddNumberToObject(item, "levels", (double)r->counts.levels);
    gv_json_number(item, "walk_flops_per_s", flops(r) / r->stage[5]);
    gv_json_number(item, "memory_bytes_per_body", r->memory);
    for (int q = 0; q < 5; q++) {
        gv_json_number(item, error_name[q], bench->opts->no_errors ? (double)NAN : r->error[q]);
    }
    cJSON_AddNumberToObject(item, "err_sinks", (double)r->error_sinks);
    gv_json_stamp(item);
    return item;
}

static cJSON *all_json(const tree_bench *bench) {
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < bench->n_results; i++) {
        cJSON_AddItemToArray(list, result_json(bench, &bench->result[i]));
    }
    return list;
}

static void print_table(const tree_bench *bench) {
    gv_table table;
    printf("%s, driver %s; %s, eps %g, criterion %s, moments %d, %s\n", bench->device.name, bench->device.driver,
           model_name[bench->opts->model], bench->opts->eps, gravel_tree_mac_name(bench->mac), bench->opts->moments,
           gravel_precision_name(bench->precision));
    if (bench->n_results > 0) {
        printf("%s (%s)\n", bench->result[0].configuration, gravel_origin_name(bench->result[0].origin));
    }
    printf("\n");
    gv_table_start(&table,
                   "n|theta|keys|sort|build|moments|groups|walk|total ms|M bodies/s|far|near|bodies|tests|B/body|"
                   "Tflop/s|50 %|90 %|99 %|99.9 %|max");
    for (int i = 0; i < bench->n_results; i++) {
        const tree_result *r = &bench->result[i];
        const double *s = r->stage, *e = r->error;
        gv_table_row(&table,
                     "%zu|%g|%.3f|%.3f|%.3f|%.3f|%.3f|%.3f|%.3f|%.1f|%.0f|%.0f|%.0f|%.0f|%.0f|%.2f|%.1e|%.1e|%.1e|"
                     "%.1e|%.1e",
                     r->n, r->theta, 1e3 * s[0], 1e3 * s[1], 1e3 * s[2], 1e3 * s[3], 1e3 * s[4], 1e3 * s[5], 1e3 * s[6],
                     1e-6 * (double)r->n / s[6], r->counts.far_cells, r->counts.near_cells, r->counts.bodies,
                     r->counts.tests, r->memory, 1e-12 * flops(r) / s[5], e[0], e[1], e[2], e[3], e[4]);
    }
    gv_table_print(&table, stdout);
    gv_table_free(&table);
    printf("\nstages: medians of device times, ms; far: cells into the group's expansion, near: cells on the sink, "
           "bodies:\n"
           "bodies on the sink, per sink; errors: |a - a_direct| / |a_direct|.\n");
}

/* ----------------------------------------------------------------- command */

static int parse_theta(tree_bench *bench) {
    const char *at = bench->opts->theta;
    while (bench->n_theta < GV_MAX_LIST) {
        char *end;
        const double theta = strtod(at, &end);
        if (end == at || (*end != '\0' && *end != ',') || !(theta > 0)) {
            gv_say(BENCH, "--theta: '%s' is not a list of numbers above 0", bench->opts->theta);
            return GV_EXIT_USAGE;
        }
        bench->theta[bench->n_theta++] = theta;
        if (*end == '\0') {
            return GV_EXIT_OK;
        }
        at = end + 1;
    }
    gv_say(BENCH, "--theta: at most %d values", GV_MAX_LIST);
    return GV_EXIT_USAGE;
}

static int write_results(const tree_bench *bench) {
    gravel_status status = GRAVEL_OK;
    if (bench->opts->out != NULL) {
        status = gv_json_write(all_json(bench), bench->opts->out);
    }
    if (status == GRAVEL_OK && bench->opts->json) {
        status = gv_json_write(all_json(bench), NULL);
    } else if (status == GRAVEL_OK) {
        print_table(bench);
    }
    return status == GRAVEL_OK ? GV_EXIT_OK : (gv_cli_fail(BENCH, status), GV_EXIT_FAILURE);
}

static int run(const void *values, const gv_operands *operands) {
    const tree_options *opts = values;
    tree_bench bench = {.opts = opts};
    gv_size_list sizes = opts->n;
    (void)operands;
    gv_signals_catch();
    int code = parse_theta(&bench);
    if (code != GV_EXIT_OK) {
        return code;
    }
    gravel_status status = gravel_tree_mac_parse(opts->mac, &bench.mac);
    if (status == GRAVEL_OK) {
        status = gv_cli_context(&bench.context, opts->device, opts->no_fp64, opts->verbose);
    }
    if (status != GRAVEL_OK) {
        return gv_cli_fail(BENCH, status);
    }
    bench.device = *gravel_context_device(bench.context, 0);
    bench.precision = strcmp(opts->precision, "dp") == 0 ? GRAVEL_DP : GRAVEL_SP;
    if (sizes.n == 0) {
        sizes.n = 1;
        sizes.value[0] = bench.device.type == GRAVEL_DEVICE_CPU ? 131072 : 1048576;
    }
    bench.result = calloc((size_t)sizes.n * (size_t)bench.n_theta, sizeof *bench.result);
    if (bench.result == NULL) {
        status = gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    }
    for (int i = 0; i < sizes.n && status == GRAVEL_OK; i++) {
        status = run_size(&bench, sizes.value[i]);
    }
    if (status != GRAVEL_OK) {
        code = gv_cli_fail(BENCH, status);
    }
    if (bench.n_results > 0) {
        const int written = write_results(&bench);
        code = code != GV_EXIT_OK ? code : written;
    }
    free(bench.result);
    gravel_context_release(bench.context);
    return code;
}

static const gv_opt opts_table[] = {
    {.name = "n",
     .letter = 'n',
     .kind = GV_OPT_SIZES,
     .offset = offsetof(tree_options, n),
     .value = "LIST",
     .help = "how many bodies (default 128k on CPUs, else 1M)",
     .low = 1,
     .high = INFINITY},
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
     .high = 2},
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
     .help = "spline softening, not Plummer's (errors are then against Plummer's)"},
    {.name = "precision",
     .letter = 'p',
     .kind = GV_OPT_TEXT,
     .offset = offsetof(tree_options, precision),
     .value = "sp|dp",
     .help = "of the forces",
     .fallback = "sp"},
    {.name = "configuration",
     .kind = GV_OPT_TEXT,
     .offset = offsetof(tree_options, configuration),
     .value = "TEXT",
     .help = "tunables as \"n_leaf=16 n_group=32\", not the tuned ones"},
    {.name = "repeats",
     .kind = GV_OPT_INT,
     .offset = offsetof(tree_options, repeats),
     .value = "K",
     .help = "forces timed, after two to warm up",
     .fallback = "15",
     .low = 1,
     .high = 64},
    {.name = "no-errors",
     .kind = GV_OPT_FLAG,
     .offset = offsetof(tree_options, no_errors),
     .help = "leave out the direct summation that errors need"},
    {.name = "sample",
     .kind = GV_OPT_SIZE,
     .offset = offsetof(tree_options, sample),
     .value = "K",
     .help = "bodies whose errors are found (default: all up to 128k,\n16k of more)",
     .fallback = "0",
     .low = 0,
     .high = INFINITY},
    {.name = "seed",
     .letter = 's',
     .kind = GV_OPT_SEED,
     .offset = offsetof(tree_options, seed),
     .value = "S",
     .help = "of the bodies",
     .fallback = "1"},
    {.name = "output",
     .letter = 'o',
     .kind = GV_OPT_TEXT,
     .offset = offsetof(tree_options, out),
     .value = "FILE",
     .help = "write the JSON to this file, beside the table"},
    GV_OPT_JSON(tree_options),
    GV_OPT_DEVICE(tree_options),
    GV_OPT_NO_FP64(tree_options),
    GV_OPT_VERBOSE(tree_options),
    {.name = NULL},
};

const gv_command gv_cmd_bench_tree = {
    .name = "tree",
    .summary = "the tree code, stage by stage, with its errors",
    .synopsis = "[-n LIST] [--theta LIST] [--mac NAME] [--model NAME] [options]",
    .about = "For each size and opening angle: device time of every stage of one force evaluation (keys, sort, build,\n"
             "moments, groups, walk), interactions per body, and errors against direct summation.",
    .opts = opts_table,
    .examples = "gravel bench tree -n 1M --theta 0.3,0.5,0.75\n"
                "gravel bench tree -n 128k,1M,4M --no-errors\n"
                "gravel bench tree --model galaxy --mac geometric --json\n",
    .size = sizeof(tree_options),
    .run = run,
};
