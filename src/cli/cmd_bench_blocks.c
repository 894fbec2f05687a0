/* gravel bench blocks: block steps of a Plummer sphere as they come. */
#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "gravel/hermite.h"
#include "host/base/clock.h"
#include "sim/ic.h"

#define BENCH "gravel bench blocks"

enum { ROW = 64 };

typedef struct blocks_options {
    const char *device, *out;
    int json, no_fp64, verbose, order, precision, host, count, warm_up;
    double eps;
    gv_size_list n;
    uint64_t seed;
} blocks_options;

typedef struct blocks_result {
    size_t n, blocks, host_blocks, calls, most; /* calls: of gravel_hermite_steps, each of which waits */
    double seconds, mean, small;                /* mean active bodies; the part of blocks with at most 64 */
} blocks_result;

typedef struct blocks_bench {
    const blocks_options *opts;
    gravel_context *context;
    gravel_bodies *bodies;
    gravel_direct *direct;
    gravel_hermite *hermite;
    blocks_result result[GV_MAX_LIST];
    int results;
} blocks_bench;

static const char *const precision_name[] = {"ds", "dp"};
/* gravel_host_answers */
static const char *const host_name[] = {"auto", "never", "always"};

/* ------------------------------------------------------------------- steps */

static gravel_status open_size(blocks_bench *b, size_t n)
{
    const blocks_options *opts = b->opts;
    gravel_bodies_options bodies = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_direct_options direct = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_hermite_options o = GRAVEL_HERMITE_OPTIONS_INIT;
    gv_particles p = GV_PARTICLES_INIT;
    bodies.precision = direct.precision = opts->precision == 1 ? GRAVEL_DP : GRAVEL_DS;
    direct.order = o.order = opts->order == 1 ? 6 : 4;
    o.criterion = o.order == 6 ? GRAVEL_STEP_AVERAGE : GRAVEL_STEP_AARSETH;
    o.eps = opts->eps;
    o.host = (gravel_host_answers)opts->host;
    gravel_status status = gv_ic_plummer(n, opts->seed, NULL, &p);
    if (!status)
        status = gravel_bodies_create(&b->bodies, b->context, &bodies);
    if (!status)
        status = gravel_bodies_write(b->bodies, GRAVEL_POSITION, 0, n, &GRAVEL_ARRAY_SOA(p.x, p.y, p.z));
    if (!status)
        status = gravel_bodies_write(b->bodies, GRAVEL_VELOCITY, 0, n, &GRAVEL_ARRAY_SOA(p.vx, p.vy, p.vz));
    if (!status)
        status = gravel_bodies_write(b->bodies, GRAVEL_MASS, 0, n, &GRAVEL_ARRAY(p.m));
    gv_particles_free(&p);
    if (!status)
        status = gravel_direct_create(&b->direct, b->context, &direct);
    if (!status)
        status = gravel_hermite_create(&b->hermite, b->bodies, b->direct, &o);
    return status ? status : gravel_hermite_start(b->hermite, 0);
}

static void close_size(blocks_bench *b)
{
    gravel_hermite_release(b->hermite);
    gravel_direct_release(b->direct);
    gravel_bodies_release(b->bodies);
    b->hermite = NULL;
    b->direct = NULL;
    b->bodies = NULL;
}

/* So many blocks; what they were is added to `r`. */
static gravel_status take_blocks(blocks_bench *b, size_t count, blocks_result *r)
{
    gravel_hermite_step_info info[ROW];
    gravel_status status = GRAVEL_OK;
    double bodies = 0, small = 0;
    for (size_t done; r->blocks < count && !status; r->blocks += done, r->calls++) {
        const size_t most = count - r->blocks < ROW ? count - r->blocks : ROW;
        status = gravel_hermite_steps(b->hermite, INFINITY, most, info, &done);
        for (size_t k = 0; k < done; k++) {
            bodies += (double)info[k].active;
            small += info[k].active <= 64;
            r->most = info[k].active > r->most ? info[k].active : r->most;
        }
        if (!status && gv_signals_pending())
            status = gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
    }
    r->mean = bodies / (double)r->blocks;
    r->small = small / (double)r->blocks;
    return status;
}

static gravel_status time_size(blocks_bench *b, size_t n)
{
    gravel_hermite_counts before, after;
    blocks_result first = {0}, r = {.n = n};
    double next;
    gravel_status status = take_blocks(b, (size_t)b->opts->warm_up, &first);
    gravel_hermite_get_counts(b->hermite, &before);
    if (!status)
        status = gravel_hermite_get_next(b->hermite, &next);
    const double begin = gv_now();
    if (!status)
        status = take_blocks(b, (size_t)b->opts->count, &r);
    if (!status)
        status = gravel_hermite_get_next(b->hermite, &next);
    r.seconds = gv_now() - begin;
    gravel_hermite_get_counts(b->hermite, &after);
    r.host_blocks = (size_t)(after.host_blocks - before.host_blocks);
    if (!status)
        b->result[b->results++] = r;
    return status;
}

static gravel_status run_size(void *bench, size_t n)
{
    blocks_bench *b = bench;
    gravel_status status = open_size(b, n);
    if (!status)
        status = time_size(b, n);
    close_size(b);
    return status;
}

/* ------------------------------------------------------------------ output */

static cJSON *all_json(const blocks_bench *b)
{
    const blocks_options *o = b->opts;
    cJSON *root = gv_json_benchmark("blocks", b->context), *list;
    cJSON_AddNumberToObject(root, "order", o->order == 1 ? 6 : 4);
    cJSON_AddStringToObject(root, "precision", precision_name[o->precision]);
    cJSON_AddStringToObject(root, "host", host_name[o->host]);
    gv_json_number(root, "eps", o->eps);
    list = cJSON_AddArrayToObject(root, "results");
    for (int k = 0; k < b->results; k++) {
        const blocks_result *r = &b->result[k];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddNumberToObject(item, "n", (double)r->n);
        cJSON_AddNumberToObject(item, "blocks", (double)r->blocks);
        cJSON_AddNumberToObject(item, "host_blocks", (double)r->host_blocks);
        cJSON_AddNumberToObject(item, "calls", (double)r->calls);
        gv_json_number(item, "block_s", r->seconds / (double)r->blocks);
        gv_json_number(item, "mean_active", r->mean);
        cJSON_AddNumberToObject(item, "most_active", (double)r->most);
        gv_json_number(item, "part_up_to_64", r->small);
        cJSON_AddItemToArray(list, item);
    }
    return root;
}

static void print_table(const blocks_bench *b)
{
    const blocks_options *o = b->opts;
    gv_table table;
    gv_print("%s; Plummer sphere, eps %g, %s%d, host %s\n\n", gravel_context_get_device(b->context, 0)->name, o->eps,
             precision_name[o->precision], o->order == 1 ? 6 : 4, host_name[o->host]);
    gv_table_start(&table, "n|blocks|by host|a call|active|up to 64|us a block|blocks/s");
    for (int k = 0; k < b->results; k++) {
        const blocks_result *r = &b->result[k];
        const double blocks = (double)r->blocks, each = r->seconds / blocks;
        gv_table_row(&table, "%zu|%zu|%zu|%.1f|%.1f|%.0f %%|%.1f|%.0f", r->n, r->blocks, r->host_blocks,
                     blocks / (double)r->calls, r->mean, 100 * r->small, 1e6 * each, 1 / each);
    }
    gv_table_print(&table, stdout);
    gv_table_free(&table);
    printf("\na call: blocks that are moved before the host waits again; active: bodies of a block, mean; up to 64: "
           "blocks\n"
           "of so many bodies.\n");
}

/* ----------------------------------------------------------------- command */

static int write_results(const void *bench)
{
    const blocks_bench *const b = bench;
    int table;
    const int code = gv_cli_write_results(BENCH, all_json(b), b->opts->out, b->opts->json, &table);
    if (table)
        print_table(b);
    return code;
}

static int run(const void *values, const gv_operands *operands)
{
    blocks_bench b = {.opts = values};
    (void)operands;
    gv_signals_catch(0.7, BENCH ": stopped\n");
    gravel_status status = gv_cli_context(&b.context, b.opts->device, b.opts->no_fp64, b.opts->verbose);
    if (!status)
        status = gv_cli_bench_sizes(&b.opts->n, (gv_size_list){3, {1024, 4096, 8192}}, run_size, &b);
    const int code = gv_cli_end_bench(BENCH, status, b.results, write_results, &b);
    gravel_context_release(b.context);
    return code;
}

static const gv_opt opts_table[] = {
    GV_OPT_SIZES_OF_N(blocks_options, "how many bodies (default 1Ki,4Ki,8Ki)"),
    {.name = "blocks",
     .kind = GV_OPT_INT,
     .offset = offsetof(blocks_options, count),
     .value = "K",
     .help = "block steps that are timed",
     .fallback = "1000",
     .low = 1,
     .high = 1e9},
    {.name = "warm-up",
     .kind = GV_OPT_INT,
     .offset = offsetof(blocks_options, warm_up),
     .value = "K",
     .help = "block steps before these, in which steps find their lengths",
     .fallback = "500",
     .low = 0,
     .high = 1e9},
    {.name = "order",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(blocks_options, order),
     .value = "4|6",
     .help = "of the integration",
     .fallback = "4"},
    {.name = "precision",
     .letter = 'p',
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(blocks_options, precision),
     .value = "ds|dp",
     .help = "of bodies and forces",
     .fallback = "ds"},
    {.name = "host",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(blocks_options, host),
     .value = "auto|never|always",
     .help = "whether the host moves small blocks",
     .fallback = "never"},
    {.name = "eps",
     .kind = GV_OPT_REAL,
     .offset = offsetof(blocks_options, eps),
     .value = "LENGTH",
     .help = "softening length",
     .fallback = "0.01",
     .low = 0,
     .high = INFINITY},
    GV_OPT_BENCH(blocks_options),
    {.name = NULL},
};

const gv_command gv_cmd_bench_blocks = {
    .name = "blocks",
    .summary = "Hermite block steps, most of which are of few bodies",
    .synopsis = "[-n LIST] [--blocks K] [options]",
    .about =
        "Block steps of a Plummer sphere as they come, by the host's clock: what counts where blocks are small is\n"
        "not forces but launches and waits.",
    .opts = opts_table,
    .examples = "gravel bench blocks -n 1Ki,8Ki --blocks 2000\n"
                "gravel bench blocks -n 4Ki --order 6 --host auto --json\n",
    .size = sizeof(blocks_options),
    .run = run,
};
