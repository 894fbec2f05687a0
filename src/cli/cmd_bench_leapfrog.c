/* gravel bench leapfrog: whole leapfrog steps with trees, on one device or over the ranks of an MPI job. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/ranks.h"
#include "gravel/tree.h"
#include "host/base/clock.h"
#include "sim/ic.h"
#include "tuner/timing.h"

#ifdef GV_HAVE_MPI
#include "gravel/cluster.h"
#endif

#define BENCH "gravel bench leapfrog"

enum { WARM_UP = 4, MOST_SAMPLES = 1000, PARTS = 9 };

typedef struct leapfrog_options {
    const char *device, *out, *configuration;
    int json, no_fp64, verbose, precision, mac, samples, exchange, runs;
    double eps, theta, step, imbalance;
    gv_size_list n;
    uint64_t seed;
    unsigned char given[GV_MAX_OPTIONS];
} leapfrog_options;

/* Over ranks: the slowest rank's parts of a step, means; the last step's costs. */
static const char *const part_name[PARTS] = {"exchange", "build", "estimate", "cut",  "walk",
                                             "others",   "waits", "transfer", "fetch"};

typedef struct leapfrog_result {
    size_t n;
    gv_series time;
    double processor_s;                                                /* of one step, of all ranks together */
    double part[PARTS], imbalance, bytes, moved, cells, bodies, boxes; /* bytes ...: of a step, the most of a rank */
} leapfrog_result;

typedef struct leapfrog_bench {
    const leapfrog_options *opts;
    gv_ranks *ranks;
    gravel_context *context;
    gravel_bodies *bodies; /* on one device */
    gravel_tree *tree;
    void *shared; /* gravel_cluster_tree */
    leapfrog_result result[GV_MAX_LIST];
    int results, computed;
} leapfrog_bench;

static const char *const precision_name[] = {"sp", "ds", "dp"};

/* Bodies of this rank: a sphere of its own with its share of the mass, so that no rank makes them all. */
static gravel_status make_bodies(const leapfrog_bench *b, size_t n, gv_particles *p, size_t *first)
{
    size_t mine;
    gv_ranks_get_range(b->ranks, n, first, &mine);
    gravel_status status = gv_ic_plummer(mine, b->opts->seed + *first, NULL, p);
    for (size_t k = 0; k < mine && !status; k++)
        p->m[k] *= (double)mine / (double)n;
    return status;
}

/* --------------------------------------------------------------- one device */

static gravel_status open_alone(leapfrog_bench *b, const gv_particles *p)
{
    const leapfrog_options *opts = b->opts;
    gravel_bodies_options bodies = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_tree_options tree = GRAVEL_TREE_OPTIONS_INIT;
    const gravel_array x = GRAVEL_ARRAY_SOA(p->x, p->y, p->z), v = GRAVEL_ARRAY_SOA(p->vx, p->vy, p->vz);
    tree.precision = (gravel_precision)opts->precision;
    tree.theta = opts->theta;
    tree.mac = (gravel_tree_mac)opts->mac;
    tree.configuration = opts->configuration;
    bodies.precision = opts->precision == GRAVEL_DP ? GRAVEL_DP : GRAVEL_DS;
    gravel_status status = gravel_bodies_create(&b->bodies, b->context, &bodies);
    if (!status)
        status = gravel_bodies_write(b->bodies, GRAVEL_POSITION, 0, p->count, &x);
    if (!status)
        status = gravel_bodies_write(b->bodies, GRAVEL_VELOCITY, 0, p->count, &v);
    if (!status)
        status = gravel_bodies_write(b->bodies, GRAVEL_MASS, 0, p->count, &GRAVEL_ARRAY(p->m));
    if (!status)
        status = gravel_tree_create(&b->tree, b->context, &tree);
    const gravel_view all = gravel_view_all(b->bodies);
    return status ? status : gravel_tree_set_sources(b->tree, &all);
}

/* Until an acceleration is on the host. */
static gravel_status step_alone(leapfrog_bench *b)
{
    const double dt = b->opts->step;
    gravel_tree_call call;
    double a[3];
    gravel_tree_call_init(&call);
    call.sinks = gravel_view_all(b->bodies);
    call.eps = b->opts->eps;
    call.into = GRAVEL_INTO_PLANES;
    call.last = b->computed && b->opts->mac == GRAVEL_TREE_LAST;
    gravel_status status = b->computed ? gravel_bodies_advance(b->bodies, dt / 2, dt) : GRAVEL_OK;
    if (!status)
        status = gravel_tree_walk(b->tree, &call, NULL);
    if (!status && b->computed)
        status = gravel_bodies_advance(b->bodies, dt / 2, 0);
    b->computed = 1;
    return status ? status
                  : gravel_bodies_read(b->bodies, GRAVEL_ACCELERATION, 0, 1, &GRAVEL_ARRAY_OUT_SOA(a, a + 1, a + 2));
}

/* --------------------------------------------------------------- over ranks */

#ifdef GV_HAVE_MPI

static gravel_status open_shared(leapfrog_bench *b, const gv_particles *p, size_t first)
{
    const leapfrog_options *opts = b->opts;
    gravel_cluster_tree_options o = GRAVEL_CLUSTER_TREE_OPTIONS_INIT;
    gravel_cluster_tree *tree = NULL;
    const gravel_sources mine = {.count = p->count,
                                 .mass = p->m,
                                 .pos = GRAVEL_VEC_SOA(p->x, p->y, p->z),
                                 .vel = GRAVEL_VEC_SOA(p->vx, p->vy, p->vz)};
    o.precision = (gravel_precision)opts->precision;
    o.stored = opts->precision == GRAVEL_DP ? GRAVEL_DP : GRAVEL_DS;
    o.theta = opts->theta;
    o.mac = (gravel_tree_mac)opts->mac;
    o.eps = opts->eps;
    o.configuration = opts->configuration;
    o.exchange = opts->exchange;
    o.imbalance = opts->imbalance;
    o.runs = opts->runs;
    gravel_status status = gravel_cluster_tree_create(&tree, gv_ranks_cluster(b->ranks), &o);
    b->shared = tree;
    return status ? status : gravel_cluster_tree_write(tree, first, &mine);
}

static gravel_status step_shared(leapfrog_bench *b)
{
    return gravel_cluster_tree_step(b->shared, b->opts->step);
}

static void close_shared(leapfrog_bench *b)
{
    gravel_cluster_tree_release(b->shared);
}

/* Adds up what a timed step did; `samples` of them make the means. */
static void note_step(leapfrog_bench *b, leapfrog_result *r, int samples)
{
    gravel_cluster_tree_info info;
    gravel_cluster_tree_get_info(b->shared, &info);
    const double part[PARTS] = {info.exchange, info.build, info.estimate, info.cut,  info.walk,
                                info.others,   info.waits, info.transfer, info.fetch};
    for (int k = 0; k < PARTS; k++)
        r->part[k] += gv_ranks_largest(b->ranks, part[k]) / samples;
    r->imbalance = info.cost_mean > 0 ? info.cost_most / info.cost_mean - 1 : 0;
    r->bytes += gv_ranks_largest(b->ranks, (double)info.bytes) / samples;
    r->moved += gv_ranks_largest(b->ranks, (double)info.moved) / samples;
    r->cells = gv_ranks_largest(b->ranks, (double)info.sent_cells);
    r->bodies = gv_ranks_largest(b->ranks, (double)info.sent_bodies);
    r->boxes = gv_ranks_largest(b->ranks, (double)info.boxes);
}

#else

static gravel_status open_shared(leapfrog_bench *b, const gv_particles *p, size_t first)
{
    (void)b;
    (void)p;
    (void)first;
    return GRAVEL_OK;
}

static gravel_status step_shared(leapfrog_bench *b)
{
    (void)b;
    return GRAVEL_OK;
}

static void close_shared(leapfrog_bench *b)
{
    (void)b;
}

static void note_step(leapfrog_bench *b, leapfrog_result *r, int samples)
{
    (void)b;
    (void)r;
    (void)samples;
}

#endif

/* ------------------------------------------------------------------- steps */

static void close_size(leapfrog_bench *b)
{
    if (b->shared)
        close_shared(b);
    gravel_tree_release(b->tree);
    gravel_bodies_release(b->bodies);
    b->shared = NULL;
    b->tree = NULL;
    b->bodies = NULL;
    b->computed = 0;
}

static gravel_status open_size(leapfrog_bench *b, size_t n)
{
    gv_particles p = GV_PARTICLES_INIT;
    size_t first;
    gravel_status status = gv_ranks_agree(b->ranks, make_bodies(b, n, &p, &first));
    if (!status)
        status = b->ranks ? open_shared(b, &p, first) : open_alone(b, &p);
    gv_particles_free(&p);
    return status;
}

static gravel_status time_size(leapfrog_bench *b, size_t n)
{
    double time[MOST_SAMPLES];
    const int samples = b->opts->samples;
    leapfrog_result r = {.n = n};
    double processor = 0;
    gravel_status status = GRAVEL_OK;
    for (int k = -WARM_UP; k < samples && !status; k++) {
        if (k == 0)
            processor = gv_ranks_processor_time(b->ranks);
        gv_ranks_largest(b->ranks, 0); /* all begin together */
        const double begin = gv_now();
        status = b->ranks ? step_shared(b) : step_alone(b);
        const double spent = gv_ranks_largest(b->ranks, gv_now() - begin);
        if (k >= 0)
            time[k] = spent;
        if (k >= 0 && b->ranks && !status)
            note_step(b, &r, samples);
        /* all ranks stop, or none */
        if (!status && gv_ranks_largest(b->ranks, gv_signals_pending() ? 1 : 0) > 0)
            status = gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
    }
    if (status)
        return status;
    r.processor_s = (gv_ranks_processor_time(b->ranks) - processor) / samples;
    gv_series_of(time, samples, &r.time);
    b->result[b->results++] = r;
    return GRAVEL_OK;
}

static gravel_status run_size(void *bench, size_t n)
{
    leapfrog_bench *b = bench;
    gravel_status status = open_size(b, n);
    if (!status)
        status = time_size(b, n);
    close_size(b);
    return status;
}

/* ------------------------------------------------------------------ output */

static cJSON *all_json(const leapfrog_bench *b)
{
    const leapfrog_options *o = b->opts;
    cJSON *root = gv_json_benchmark("leapfrog", b->context), *list;
    cJSON_AddNumberToObject(root, "ranks", gv_ranks_count(b->ranks));
    cJSON_AddStringToObject(root, "precision", precision_name[o->precision]);
    cJSON_AddStringToObject(root, "mac", gravel_tree_mac_name((gravel_tree_mac)o->mac));
    cJSON_AddNumberToObject(root, "theta", o->theta);
    list = cJSON_AddArrayToObject(root, "results");
    for (int k = 0; k < b->results; k++) {
        const leapfrog_result *r = &b->result[k];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddNumberToObject(item, "n", (double)r->n);
        gv_json_number(item, "step_s_median", r->time.median);
        gv_json_number(item, "step_s_min", r->time.least);
        gv_json_number(item, "processor_s", r->processor_s);
        gv_json_number(item, "bodies_per_s", (double)r->n / r->time.median);
        cJSON_AddNumberToObject(item, "samples", o->samples);
        for (int p = 0; p < PARTS && b->ranks; p++) {
            char name[32];
            snprintf(name, sizeof name, "%s_s", part_name[p]);
            gv_json_number(item, name, r->part[p]);
        }
        if (b->ranks) {
            gv_json_number(item, "imbalance", r->imbalance);
            gv_json_number(item, "bytes", r->bytes);
            gv_json_number(item, "moved", r->moved);
            gv_json_number(item, "sent_cells", r->cells);
            gv_json_number(item, "sent_bodies", r->bodies);
            gv_json_number(item, "boxes", r->boxes);
        }
        cJSON_AddItemToArray(list, item);
    }
    return root;
}

static void print_table(const leapfrog_bench *b)
{
    const int ranks = gv_ranks_count(b->ranks);
    gv_table table;
    gv_print("%s, %d rank%s; Plummer sphere%s, eps %g, %s, %s, theta %g\n\n",
             gravel_context_get_device(b->context, 0)->name, ranks, ranks == 1 ? "" : "s",
             ranks == 1 ? "" : "s on top of one another", b->opts->eps, precision_name[b->opts->precision],
             gravel_tree_mac_name((gravel_tree_mac)b->opts->mac), b->opts->theta);
    gv_table_start(&table,
                   b->ranks ? "n|ms|least ms|M bodies/s|exchange|build|estimate|cut|walk|others|waits|transfer|fetch|"
                              "imbalance %|MB|moved"
                            : "n|ms|least ms|M bodies/s");
    for (int k = 0; k < b->results; k++) {
        const leapfrog_result *r = &b->result[k];
        const double *p = r->part, rate = 1e-6 * (double)r->n / r->time.median;
        if (b->ranks)
            gv_table_row(&table, "%zu|%.3f|%.3f|%.1f|%.3f|%.3f|%.3f|%.3f|%.3f|%.3f|%.3f|%.3f|%.3f|%.2f|%.2f|%.0f", r->n,
                         1e3 * r->time.median, 1e3 * r->time.least, rate, 1e3 * p[0], 1e3 * p[1], 1e3 * p[2],
                         1e3 * p[3], 1e3 * p[4], 1e3 * p[5], 1e3 * p[6], 1e3 * p[7], 1e3 * p[8], 100 * r->imbalance,
                         1e-6 * r->bytes, r->moved);
        else
            gv_table_row(&table, "%zu|%.3f|%.3f|%.1f", r->n, 1e3 * r->time.median, 1e3 * r->time.least, rate);
    }
    gv_table_print(&table, stdout);
    gv_table_free(&table);
    printf("\nMedians of whole steps: kick, drift, %sforces, kick.%s\n", b->ranks ? "exchange, " : "",
           b->ranks ? " Parts in ms, of the slowest rank, means; in them waits for other ranks, transfers\n"
                      "between hosts, fetches from the device; MB and bodies a rank sends."
                    : "");
}

/* ----------------------------------------------------------------- command */

static int write_results(const void *bench)
{
    const leapfrog_bench *const b = bench;
    int table;
    if (!gv_ranks_is_first(b->ranks))
        return GV_EXIT_OK;
    const int code = gv_cli_write_results(BENCH, all_json(b), b->opts->out, b->opts->json, &table);
    if (table)
        print_table(b);
    return code;
}

static int work(leapfrog_bench *b)
{
    const leapfrog_options *o = b->opts;
    gravel_status status = b->ranks ? gv_ranks_context(b->ranks, &b->context, o->no_fp64, o->verbose)
                                    : gv_cli_context(&b->context, o->device, o->no_fp64, o->verbose);
    status = gv_ranks_agree(b->ranks, status);
    if (!status)
        status = gv_cli_bench_sizes(&o->n, (gv_size_list){1, {1048576}}, run_size, b);
    const int code = gv_cli_end_bench(BENCH, status, b->results, write_results, b);
    close_size(b);
    gravel_context_release(b->context);
    return code;
}

static int check_effect(const leapfrog_options *o)
{
    const gv_no_effect rules[] = {{!gv_ranks_launched(), "imbalance exchange runs",
                                   "is for ranks (mpirun -n 4 " BENCH " ...); this is one process"},
                                  {.options = NULL}};
    return gv_options_check_effect(BENCH, &gv_cmd_bench_leapfrog, o, rules);
}

static int run(const void *values, const gv_operands *operands)
{
    leapfrog_bench b = {.opts = values};
    (void)operands;
    if (check_effect(values) != 0)
        return GV_EXIT_USAGE;
    gv_signals_catch(0.7, BENCH ": stopped\n");
    int code = gv_ranks_open(&b.ranks, BENCH, b.opts->device, b.opts->verbose);
    if (code == GV_EXIT_OK) {
        code = work(&b);
        gv_ranks_close(b.ranks, code);
    }
    return code;
}

static const gv_opt opts_table[] = {
    GV_OPT_SIZES_OF_N(leapfrog_options, "how many bodies, of all ranks together (default 1Mi)"),
    {.name = "theta",
     .kind = GV_OPT_REAL,
     .offset = offsetof(leapfrog_options, theta),
     .value = "THETA",
     .help = "opening angle",
     .fallback = "0.5",
     .low = GRAVEL_TREE_THETA_MIN,
     .high = GRAVEL_TREE_THETA_MAX},
    {.name = "mac",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(leapfrog_options, mac),
     .value = "relative|last|geometric",
     .help = "opening criterion",
     .fallback = "relative"},
    GV_OPT_PRECISION(leapfrog_options, "of forces; bodies are kept in ds, or dp", "sp"),
    {.name = "step",
     .kind = GV_OPT_REAL,
     .offset = offsetof(leapfrog_options, step),
     .value = "DT",
     .help = "length of a step",
     .fallback = "0.0009765625",
     .low = 0,
     .high = INFINITY},
    {.name = "samples",
     .kind = GV_OPT_INT,
     .offset = offsetof(leapfrog_options, samples),
     .value = "K",
     .help = "timed steps, after four that are not",
     .fallback = "10",
     .low = 1,
     .high = MOST_SAMPLES},
    {.name = "eps",
     .kind = GV_OPT_REAL,
     .offset = offsetof(leapfrog_options, eps),
     .value = "LENGTH",
     .help = "softening length",
     .fallback = "0.01",
     .low = 0,
     .high = INFINITY},
    {.name = "imbalance",
     .kind = GV_OPT_REAL,
     .offset = offsetof(leapfrog_options, imbalance),
     .value = "PART",
     .help = "over ranks: bodies are dealt anew above this",
     .fallback = "0.05",
     .low = 0,
     .high = INFINITY},
    {.name = "exchange",
     .kind = GV_OPT_INT,
     .offset = offsetof(leapfrog_options, exchange),
     .value = "K",
     .help = "... and after so many steps; 0: never; -1: 1 on processor cores, else 8",
     .fallback = "-1",
     .low = -1,
     .high = 1000000},
    {.name = "runs",
     .kind = GV_OPT_INT,
     .offset = offsetof(leapfrog_options, runs),
     .value = "K",
     .help = "boxes of sinks that a rank tells the others; 0: chosen",
     .fallback = "0",
     .low = 0,
     .high = 100000},
    {.name = "configuration",
     .kind = GV_OPT_TEXT,
     .offset = offsetof(leapfrog_options, configuration),
     .value = "TEXT",
     .help = "of the tree: \"n_leaf=16 n_group=32 ...\""},
    GV_OPT_BENCH(leapfrog_options),
    {.name = NULL},
};

const gv_command gv_cmd_bench_leapfrog = {
    .name = "leapfrog",
    .summary = "whole leapfrog steps with trees, on one device or over the ranks of mpirun",
    .synopsis = "[-n LIST] [--theta THETA] [options]",
    .about = "Steps of all bodies by the host's clock: kick, drift, exchange over the ranks, trees and their parts,\n"
             "forces, kick. Over ranks -d is a list as in 'gravel cluster devices --devices'.",
    .opts = opts_table,
    .examples = "gravel bench leapfrog -n 4Mi\n"
                "mpirun -n 4 gravel bench leapfrog -n 4Mi,16Mi -o four.json\n"
                "mpirun -n 2 gravel bench leapfrog -n 100k --mac geometric --json\n",
    .size = sizeof(leapfrog_options),
    .given = offsetof(leapfrog_options, given),
    .run = run,
    .over_ranks = 1,
};
