/* gravel bench transfer: bodies between host arrays and the device, by the host's clock. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "gravel/bodies.h"
#include "host/base/clock.h"
#include "host/base/threads.h"
#include "sim/ic.h"
#include "tuner/timing.h"

#define BENCH "gravel bench transfer"

typedef struct transfer_options {
    const char *device, *out;
    int json, no_fp64, verbose, repeats;
    int precision; /* place in the choices */
    gv_size_list n;
    uint64_t seed;
} transfer_options;

enum { WRITE, READ, BOTH, UPDATE, KINDS };
static const char *const kind_name[KINDS] = {"write", "read", "write and read", "update"};

typedef struct transfer_result {
    int kind;
    size_t n, changed; /* bodies; of them in one update */
    double bytes;      /* of the caller's arrays */
    double call_s, least_s;
    int samples;
} transfer_result;

enum { MOST_RESULTS = (KINDS + 3) * GV_MAX_LIST };

typedef struct transfer_bench {
    const transfer_options *opts;
    gravel_context *context;
    gravel_device_facts facts;
    gravel_bodies *bodies;
    gv_particles p;
    double *acc[4]; /* x, y, z, potential */
    int kind;
    size_t changed;
    uint32_t *address;
    transfer_result result[MOST_RESULTS];
    int results;
} transfer_bench;

/* -------------------------------------------------------------------- runs */

static gravel_status write_bodies(transfer_bench *b)
{
    const gravel_array position = GRAVEL_ARRAY_SOA(b->p.x, b->p.y, b->p.z);
    const gravel_array mass = GRAVEL_ARRAY(b->p.m);
    gravel_status status = gravel_bodies_write(b->bodies, GRAVEL_POSITION, 0, b->p.count, &position);
    return status ? status : gravel_bodies_write(b->bodies, GRAVEL_MASS, 0, b->p.count, &mass);
}

static gravel_status read_forces(transfer_bench *b)
{
    const gravel_array_out acc = GRAVEL_ARRAY_OUT_SOA(b->acc[0], b->acc[1], b->acc[2]);
    const gravel_array_out pot = GRAVEL_ARRAY_OUT(b->acc[3]);
    gravel_status status = gravel_bodies_read(b->bodies, GRAVEL_ACCELERATION, 0, b->p.count, &acc);
    return status ? status : gravel_bodies_read(b->bodies, GRAVEL_POTENTIAL, 0, b->p.count, &pot);
}

/* What a block step changes of a body: position, velocity, acceleration, jerk, time. */
static gravel_status update(transfer_bench *b)
{
    static const gravel_plane plane[] = {GRAVEL_POSITION, GRAVEL_VELOCITY, GRAVEL_ACCELERATION, GRAVEL_JERK,
                                         GRAVEL_TIME};
    const gravel_array vector = GRAVEL_ARRAY_SOA(b->p.x, b->p.y, b->p.z);
    const gravel_array from[] = {vector, vector, vector, vector, GRAVEL_ARRAY(b->p.m)};
    return gravel_bodies_update(b->bodies, b->address, 0, b->changed, 5, plane, from);
}

/* Returns when the device has finished. */
static gravel_status wait_for_device(transfer_bench *b)
{
    double one;
    const gravel_array_out to = GRAVEL_ARRAY_OUT(&one);
    return gravel_bodies_read(b->bodies, GRAVEL_USER, 0, 1, &to);
}

static gravel_status run_once(void *user, double *device_s, double *call_s)
{
    transfer_bench *b = user;
    gravel_status status = GRAVEL_OK;
    const double start = gv_now();
    if (b->kind == WRITE || b->kind == BOTH)
        status = write_bodies(b);
    if (!status && b->kind == UPDATE)
        status = update(b);
    *call_s = gv_now() - start;
    if (!status && b->kind != UPDATE)
        status = b->kind == WRITE ? wait_for_device(b) : read_forces(b);
    if (b->kind != UPDATE)
        *call_s = gv_now() - start;
    else if (!status)
        status = wait_for_device(b); /* outside of what is timed: an update does not wait */
    *device_s = *call_s;
    return status;
}

static gravel_status measure(transfer_bench *b, int kind, size_t changed)
{
    static const double bytes_of[KINDS] = {4 * sizeof(double), 4 * sizeof(double), 8 * sizeof(double),
                                           13 * sizeof(double)};
    gv_timing_rule rule = GV_TIMING_RULE_INIT;
    transfer_result *r = &b->result[b->results];
    gv_timing timing;
    rule.warm_up = 3;
    rule.tick_s = 0; /* every call is a sample */
    rule.least = 20;
    if (b->opts->repeats > 0)
        rule.least = rule.most = b->opts->repeats;
    b->kind = kind;
    b->changed = changed;
    gravel_status status = gv_timing_run(&rule, run_once, b, &timing);
    if (status)
        return status;
    *r = (transfer_result){
        kind,          b->p.count, changed, bytes_of[kind] * (double)changed, timing.call.median, timing.call.least,
        timing.samples};
    b->results++;
    return GRAVEL_OK;
}

static gravel_status make_arrays(transfer_bench *b, size_t n)
{
    gravel_status status = gv_ic_plummer(n, b->opts->seed, NULL, &b->p);
    for (int c = 0; c < 4 && !status; c++)
        if (!(b->acc[c] = calloc(n, sizeof(double))))
            status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu bodies", n);
    if (!status && !(b->address = malloc(n * sizeof *b->address)))
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu bodies", n);
    for (size_t k = 0; !status && k < n; k++) /* 0x9e3779b1 is odd: for powers of two all addresses are different */
        b->address[k] = (uint32_t)((k * 0x9e3779b1u) % n);
    return status;
}

static gravel_status run_size(void *bench, size_t n)
{
    transfer_bench *b = bench;
    static const size_t changed[] = {1, 16, 64, 1024};
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    options.precision = (gravel_precision)b->opts->precision;
    gravel_status status = make_arrays(b, n);
    if (!status)
        status = gravel_bodies_create(&b->bodies, b->context, &options);
    if (!status)
        status = write_bodies(b);
    if (!status)
        status = gravel_bodies_fill(b->bodies, GRAVEL_ACCELERATION, 1);
    if (!status)
        status = gravel_bodies_fill(b->bodies, GRAVEL_POTENTIAL, 1);
    if (!status)
        status = gravel_bodies_fill(b->bodies, GRAVEL_USER, 1);
    for (int kind = WRITE; kind <= BOTH && !status; kind++)
        status = measure(b, kind, n);
    for (size_t k = 0; k < sizeof changed / sizeof changed[0] && !status && changed[k] <= n; k++)
        status = measure(b, UPDATE, changed[k]);
    gravel_bodies_release(b->bodies);
    b->bodies = NULL;
    for (int c = 0; c < 4; c++) {
        free(b->acc[c]);
        b->acc[c] = NULL;
    }
    free(b->address);
    b->address = NULL;
    gv_particles_free(&b->p);
    return status;
}

/* ------------------------------------------------------------------ output */

static void configuration(char *text, size_t size)
{
    gv_pool *pool = gv_pool_create();
    snprintf(text, size, "threads=%d", gv_pool_threads(pool));
    gv_pool_release(pool);
}

static cJSON *all_json(const transfer_bench *b)
{
    const gravel_device_info *info = gravel_context_get_device(b->context, 0);
    cJSON *root = cJSON_CreateObject(), *list;
    char text[64];
    configuration(text, sizeof text);
    gv_json_stamp(root);
    list = cJSON_AddArrayToObject(root, "results");
    for (int k = 0; k < b->results; k++) {
        const transfer_result *r = &b->result[k];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "device", info->name);
        cJSON_AddStringToObject(item, "driver", info->driver);
        cJSON_AddStringToObject(item, "transfer", kind_name[r->kind]);
        cJSON_AddStringToObject(item, "precision", gravel_precision_name((gravel_precision)b->opts->precision));
        cJSON_AddNumberToObject(item, "n", (double)r->n);
        cJSON_AddNumberToObject(item, "changed", (double)r->changed);
        cJSON_AddStringToObject(item, "configuration", text);
        gv_json_number(item, "call_s_median", r->call_s);
        gv_json_number(item, "call_s_min", r->least_s);
        cJSON_AddNumberToObject(item, "samples", r->samples);
        gv_json_number(item, "bytes_per_s", r->bytes / r->call_s);
        gv_json_number(item, "device_copy_bytes_per_s", b->facts.copy_bytes);
        cJSON_AddItemToArray(list, item);
    }
    return root;
}

static void print_table(const transfer_bench *b)
{
    const gravel_device_info *info = gravel_context_get_device(b->context, 0);
    gv_table table;
    char text[64];
    configuration(text, sizeof text);
    gv_print("%s, %s, %s; copies on the device: %.3g GB/s\n\n", info->name,
             gravel_precision_name((gravel_precision)b->opts->precision), text, 1e-9 * b->facts.copy_bytes);
    gv_table_start(&table, "n|transfer|bodies|call us|least us|GB/s");
    for (int k = 0; k < b->results; k++) {
        const transfer_result *r = &b->result[k];
        gv_table_row(&table, "%zu|%s|%zu|%.1f|%.1f|%.2f", r->n, kind_name[r->kind], r->changed, 1e6 * r->call_s,
                     1e6 * r->least_s, 1e-9 * r->bytes / r->call_s);
    }
    gv_table_print(&table, stdout);
    gv_table_free(&table);
    printf("\nwrite: positions and masses from arrays of doubles until the device has them; read: accelerations and\n"
           "potentials into such arrays; update: position, velocity, acceleration, jerk and time of some bodies, the\n"
           "call alone.  GB/s: of the arrays.\n");
}

/* ----------------------------------------------------------------- command */

static int write_results(const void *bench)
{
    const transfer_bench *const b = bench;
    int table;
    const int code = gv_cli_write_results(BENCH, all_json(b), b->opts->out, b->opts->json, &table);
    if (table)
        print_table(b);
    return code;
}

static int run(const void *values, const gv_operands *operands)
{
    transfer_bench *b = calloc(1, sizeof *b);
    const transfer_options *opts = values;
    (void)operands;
    if (!b)
        return gv_cli_fail(BENCH, gv_fail(GRAVEL_ERR_MEMORY, "out of memory"));
    gv_signals_catch(0.7, BENCH ": stopped\n");
    b->opts = opts;
    gravel_status status = gv_cli_context(&b->context, opts->device, opts->no_fp64, opts->verbose);
    if (!status)
        status = gravel_context_measure(b->context, 0, 1, &b->facts);
    if (!status)
        status = gv_cli_bench_sizes(&opts->n, (gv_size_list){2, {131072, 1048576}}, run_size, b);
    const int code = gv_cli_end_bench(BENCH, status, b->results, write_results, b);
    gravel_context_release(b->context);
    free(b);
    return code;
}

static const gv_opt opts_table[] = {
    GV_OPT_SIZES_OF_N(transfer_options, "how many bodies (default 128k,1M)"),
    GV_OPT_PRECISION(transfer_options, "of what is stored on the device", "ds"),
    GV_OPT_REPEATS(transfer_options),
    GV_OPT_BENCH(transfer_options),
    {.name = NULL},
};

const gv_command gv_cmd_bench_transfer = {
    .name = "transfer",
    .summary = "bodies between host arrays and the device",
    .synopsis = "[-n LIST] [--precision NAME] [options]",
    .about =
        "Whole calls by the host's clock: positions and masses from arrays of doubles to the device, accelerations\n"
        "and potentials back, both in a row, and updates of a few bodies as block steps make them.\n"
        "GRAVEL_THREADS sets how many threads convert numbers.",
    .opts = opts_table,
    .examples = "gravel bench transfer -n 1M,4M\n"
                "gravel bench transfer --precision sp --json\n",
    .size = sizeof(transfer_options),
    .run = run,
};
