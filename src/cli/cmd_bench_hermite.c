/* gravel bench hermite: whole Hermite steps, on one device or over the ranks of an MPI job. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/ranks.h"
#include "gravel/hermite.h"
#include "host/base/clock.h"
#include "sim/ic.h"
#include "sim/run_dealt.h"
#include "tuner/timing.h"

#ifdef GV_HAVE_MPI
#include "gravel/cluster.h"
#endif

#define BENCH "gravel bench hermite"

enum { MOST_RESULTS = GV_MAX_LIST * (GV_MAX_LIST + 1), WARM_UP = 2, MOST_SAMPLES = 1000 };

typedef struct hermite_options {
    const char *device, *out;
    int json, no_fp64, verbose, order, precision, samples, scheme;
    double eps;
    gv_size_list n, active;
    uint64_t seed;
    unsigned char given[GV_MAX_OPTIONS];
} hermite_options;

typedef struct hermite_result {
    size_t n, active;
    int whole, shared, ring; /* a whole step; whether its forces were shared by the ranks, or went round */
    gv_series time;
    double device_s, exchange_s, bytes; /* of one step, means of this rank */
    double processor_s;                 /* of one step, of all ranks together */
} hermite_result;

typedef struct hermite_bench {
    const hermite_options *opts;
    gv_ranks *ranks;
    gravel_context *context;
    void *share;  /* gravel_cluster_share */
    void *ring;   /* gravel_cluster_ring */
    int is_dealt; /* the present bodies go round */
    gravel_bodies *bodies, *active;
    gravel_direct *direct;
    gravel_hermite *hermite;
    hermite_result *result;
    int results;
} hermite_bench;

static const char *const precision_name[] = {"ds", "dp"};

/* ------------------------------------------------------------------- ranks */

typedef struct counts {
    double shared, device_s, exchange_s, bytes;
} counts;

#ifdef GV_HAVE_MPI

static gravel_status open_share(hermite_bench *b)
{
    gravel_cluster_share *share = NULL;
    gravel_cluster_ring *ring = NULL;
    gravel_status status = GRAVEL_OK;
    if (b->ranks && b->opts->scheme != GV_SCHEME_RING)
        status = gravel_cluster_share_create(&share, gv_ranks_cluster(b->ranks), b->context);
    if (b->ranks && b->opts->scheme != GV_SCHEME_COPIES && !status)
        status = gravel_cluster_ring_create(&ring, gv_ranks_cluster(b->ranks), b->context);
    b->share = share;
    b->ring = ring;
    return status;
}

static void close_share(hermite_bench *b)
{
    gravel_cluster_share_release(b->share);
    gravel_cluster_ring_release(b->ring);
}

static gravel_forces_fn share_forces(const hermite_bench *b)
{
    return b->is_dealt ? gravel_cluster_ring_forces : b->share ? gravel_cluster_share_forces : NULL;
}

static gravel_agree_fn share_agree(const hermite_bench *b)
{
    return b->is_dealt ? gravel_cluster_ring_agree : NULL;
}

static counts get_counts(const hermite_bench *b)
{
    gravel_cluster_times t;
    if (b->is_dealt)
        gravel_cluster_ring_get_times(b->ring, &t);
    else
        gravel_cluster_share_get_times(b->share, &t);
    return (counts){t.shared, t.device_s, t.exchange_s, t.bytes};
}

#else

static gravel_status open_share(hermite_bench *b)
{
    (void)b;
    return GRAVEL_OK;
}

static void close_share(hermite_bench *b)
{
    (void)b;
}

static gravel_forces_fn share_forces(const hermite_bench *b)
{
    (void)b;
    return NULL;
}

static gravel_agree_fn share_agree(const hermite_bench *b)
{
    (void)b;
    return NULL;
}

static counts get_counts(const hermite_bench *b)
{
    (void)b;
    return (counts){0, 0, 0, 0};
}

#endif

/* ------------------------------------------------------------------ bodies */

/* Where bodies are dealt out, this rank's range of them. */
static gravel_status make_set(hermite_bench *b, gravel_bodies **set, const gv_particles *p, size_t n)
{
    size_t f = 0;
    if (b->is_dealt)
        gv_ranks_get_range(b->ranks, n, &f, &n);
    gravel_bodies_options o = GRAVEL_BODIES_OPTIONS_INIT;
    const gravel_array x = GRAVEL_ARRAY_SOA(p->x + f, p->y + f, p->z + f);
    const gravel_array v = GRAVEL_ARRAY_SOA(p->vx + f, p->vy + f, p->vz + f);
    o.precision = b->opts->precision == 1 ? GRAVEL_DP : GRAVEL_DS;
    gravel_status status = gravel_bodies_create(set, b->context, &o);
    if (!status && b->is_dealt)
        status = gv_dealt_frame(*set, p, 1);
    if (!status)
        status = gravel_bodies_write(*set, GRAVEL_POSITION, 0, n, &x);
    if (!status)
        status = gravel_bodies_write(*set, GRAVEL_VELOCITY, 0, n, &v);
    if (!status)
        status = gravel_bodies_write(*set, GRAVEL_MASS, 0, n, &GRAVEL_ARRAY(p->m + f));
    if (!status)
        status = gravel_bodies_write(*set, GRAVEL_ID, 0, n, &(gravel_array){p->id + f, NULL, NULL, 1, GRAVEL_I32});
    return status;
}

static gravel_status open_size(hermite_bench *b, size_t n)
{
    gravel_direct_options direct = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_hermite_options o = GRAVEL_HERMITE_OPTIONS_INIT;
    gv_particles p = GV_PARTICLES_INIT;
    const gv_scheme_question question = {(double)n, (double)n, b->opts->order == 1 ? 6 : 4, b->opts->precision == 1,
                                         b->context};
    gravel_status status = gv_ic_plummer(n, b->opts->seed, NULL, &p);
    if (!status)
        status = gv_ranks_choose(b->ranks, (gv_scheme)b->opts->scheme, &question, &b->is_dealt);
    if (!status)
        status = make_set(b, &b->bodies, &p, n);
    if (!status)
        status = make_set(b, &b->active, &p, n);
    gv_particles_free(&p);
    direct.order = o.order = b->opts->order == 1 ? 6 : 4;
    direct.precision = b->opts->precision == 1 ? GRAVEL_DP : GRAVEL_DS;
    o.eta4 = o.eta6 = o.eta_start = 1e30; /* all steps are step_max */
    o.step_max = 0x1p-12;
    o.shared = 1;
    o.eps = b->opts->eps;
    o.forces = share_forces(b);
    o.agree = share_agree(b);
    o.forces_user = b->is_dealt ? b->ring : b->share;
    o.host = GRAVEL_HOST_NEVER; /* of small blocks: it is the devices that are timed */
    if (!status)
        status = gravel_direct_create(&b->direct, b->context, &direct);
    if (!status)
        status = gravel_hermite_create(&b->hermite, b->bodies, b->direct, &o);
    if (!status)
        status = gravel_hermite_start(b->hermite, 0);
    return status;
}

static void close_size(hermite_bench *b)
{
    gravel_hermite_release(b->hermite);
    gravel_direct_release(b->direct);
    gravel_bodies_release(b->active);
    gravel_bodies_release(b->bodies);
    b->hermite = NULL;
    b->direct = NULL;
    b->active = b->bodies = NULL;
}

/* ------------------------------------------------------------------- steps */

/* A step of all bodies, until the next one is known. */
static gravel_status whole_step(hermite_bench *b)
{
    double next;
    const gravel_status status = gravel_hermite_step(b->hermite, NULL);
    return status ? status : gravel_hermite_get_next(b->hermite, &next);
}

/* Forces on some bodies at a new time, all predicted, until one of them is on the host. */
static gravel_status some_forces(hermite_bench *b, size_t active, int turn)
{
    size_t first = 0;
    if (b->is_dealt)
        gv_ranks_get_range(b->ranks, active, &first, &active);
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    const gravel_forces_fn forces = share_forces(b);
    double a[3];
    call.sources = gravel_view_all(b->bodies);
    call.sinks = gravel_view_range(b->active, 0, active);
    call.order = b->opts->order == 1 ? 6 : 4;
    call.eps = b->opts->eps;
    call.predict = 1;
    call.time = ldexp(turn, -20);
    call.nearest = call.neighbour_capacity = 0;
    call.into = GRAVEL_INTO_PLANES;
    const gravel_status status = forces ? forces(b->direct, &call, b->is_dealt ? b->ring : b->share)
                                        : gravel_direct_start(b->direct, &call, NULL);
    return status ? status
                  : gravel_bodies_read(b->active, GRAVEL_ACCELERATION, 0, 1, &GRAVEL_ARRAY_OUT_SOA(a, a + 1, a + 2));
}

static gravel_status time_one(hermite_bench *b, size_t n, size_t active, int whole)
{
    double time[MOST_SAMPLES];
    const int samples = b->opts->samples;
    counts before = {0, 0, 0, 0};
    double processor = 0;
    gravel_status status = GRAVEL_OK;
    for (int k = -WARM_UP; k < samples && !status; k++) {
        if (k == 0) {
            before = get_counts(b);
            processor = gv_ranks_processor_time(b->ranks);
        }
        gv_ranks_largest(b->ranks, 0); /* all begin together */
        const double begin = gv_now();
        status = whole ? whole_step(b) : some_forces(b, active, k + WARM_UP + 1);
        const double spent = gv_ranks_largest(b->ranks, gv_now() - begin);
        if (k >= 0)
            time[k] = spent;
        if (!status && gv_signals_pending())
            status = gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
    }
    if (status)
        return status;
    processor = gv_ranks_processor_time(b->ranks) - processor;
    const counts after = get_counts(b);
    hermite_result *r = &b->result[b->results++];
    *r = (hermite_result){
        .n = n, .active = active, .whole = whole, .shared = after.shared > before.shared, .ring = b->is_dealt};
    r->device_s = (after.device_s - before.device_s) / samples;
    r->exchange_s = (after.exchange_s - before.exchange_s) / samples;
    r->bytes = (after.bytes - before.bytes) / samples;
    r->processor_s = processor / samples;
    gv_series_of(time, samples, &r->time);
    return GRAVEL_OK;
}

static gravel_status run_size(void *bench, size_t n)
{
    hermite_bench *b = bench;
    const gv_size_list *active = &b->opts->active;
    gravel_status status = open_size(b, n);
    if (!status)
        status = time_one(b, n, n, 1);
    for (int a = 0; a < active->n && !status && b->results < MOST_RESULTS; a++)
        if (active->value[a] <= n)
            status = time_one(b, n, active->value[a], 0);
    close_size(b);
    return status;
}

/* ------------------------------------------------------------------ output */

static cJSON *all_json(const hermite_bench *b)
{
    cJSON *root = gv_json_benchmark("hermite", b->context), *list;
    cJSON_AddNumberToObject(root, "ranks", gv_ranks_count(b->ranks));
    cJSON_AddNumberToObject(root, "order", b->opts->order == 1 ? 6 : 4);
    cJSON_AddStringToObject(root, "precision", precision_name[b->opts->precision]);
    list = cJSON_AddArrayToObject(root, "results");
    for (int k = 0; k < b->results; k++) {
        const hermite_result *r = &b->result[k];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "mode", r->whole ? "step" : "forces");
        cJSON_AddNumberToObject(item, "n", (double)r->n);
        cJSON_AddNumberToObject(item, "active", (double)r->active);
        cJSON_AddBoolToObject(item, "shared", r->shared);
        if (r->ring)
            cJSON_AddStringToObject(item, "scheme", "ring");
        gv_json_number(item, "step_s_median", r->time.median);
        gv_json_number(item, "step_s_min", r->time.least);
        gv_json_number(item, "pairs_per_s", (double)r->n * (double)r->active / r->time.median);
        gv_json_number(item, "device_s", r->device_s);
        gv_json_number(item, "exchange_s", r->exchange_s);
        gv_json_number(item, "bytes", r->bytes);
        gv_json_number(item, "processor_s", r->processor_s);
        cJSON_AddNumberToObject(item, "samples", b->opts->samples);
        cJSON_AddItemToArray(list, item);
    }
    return root;
}

static void print_table(const hermite_bench *b)
{
    gv_table table;
    gv_print("%s, %d rank%s; Plummer sphere, eps %g, %s%d\n\n", gravel_context_get_device(b->context, 0)->name,
             gv_ranks_count(b->ranks), gv_ranks_count(b->ranks) == 1 ? "" : "s", b->opts->eps,
             precision_name[b->opts->precision], b->opts->order == 1 ? 6 : 4);
    gv_table_start(&table, "what|n|active|us|least us|G pairs/s|device us|exchange us|kB");
    for (int k = 0; k < b->results; k++) {
        const hermite_result *r = &b->result[k];
        gv_table_row(&table, "%s|%zu|%zu|%.1f|%.1f|%.4g|%.1f|%.1f|%.1f", r->whole ? "step" : "forces", r->n, r->active,
                     1e6 * r->time.median, 1e6 * r->time.least,
                     1e-9 * (double)r->n * (double)r->active / r->time.median, 1e6 * r->device_s, 1e6 * r->exchange_s,
                     1e-3 * r->bytes);
    }
    gv_table_print(&table, stdout);
    gv_table_free(&table);
    printf("\nstep: whole steps of all bodies; forces: all predicted, forces on some. Medians of the slowest rank.\n"
           "Of steps that ranks share: waiting for the devices, messages, and what a rank received.\n");
}

/* ----------------------------------------------------------------- command */

static int write_results(const void *bench)
{
    const hermite_bench *const b = bench;
    int table;
    if (!gv_ranks_is_first(b->ranks))
        return GV_EXIT_OK;
    const int code = gv_cli_write_results(BENCH, all_json(b), b->opts->out, b->opts->json, &table);
    if (table)
        print_table(b);
    return code;
}

static int work(hermite_bench *b)
{
    const hermite_options *o = b->opts;
    gravel_status status = b->ranks ? gv_ranks_context(b->ranks, &b->context, o->no_fp64, o->verbose)
                                    : gv_cli_context(&b->context, o->device, o->no_fp64, o->verbose);
    status = gv_ranks_agree(b->ranks, status);
    if (!status)
        status = gv_ranks_agree(b->ranks, open_share(b));
    if (!status)
        status = gv_cli_bench_sizes(&o->n, (gv_size_list){2, {16384, 131072}}, run_size, b);
    const int code = gv_cli_end_bench(BENCH, status, b->results, write_results, b);
    close_size(b);
    close_share(b);
    gravel_context_release(b->context);
    return code;
}

static int check_effect(const hermite_options *o)
{
    const gv_no_effect rules[] = {
        {!gv_ranks_launched(), "scheme", "is for ranks (mpirun -n 4 " BENCH " ...); this is one process"},
        {.options = NULL}};
    return gv_options_check_effect(BENCH, &gv_cmd_bench_hermite, o, rules);
}

static int run(const void *values, const gv_operands *operands)
{
    hermite_bench b = {.opts = values};
    (void)operands;
    if (check_effect(values) != 0)
        return GV_EXIT_USAGE;
    b.result = calloc(MOST_RESULTS, sizeof *b.result);
    if (!b.result)
        return gv_cli_fail(BENCH, gv_fail(GRAVEL_ERR_MEMORY, "out of memory"));
    gv_signals_catch(0.7, BENCH ": stopped\n");
    int code = gv_ranks_open(&b.ranks, BENCH, b.opts->device, b.opts->verbose);
    if (code == GV_EXIT_OK) {
        code = work(&b);
        gv_ranks_close(b.ranks, code);
    }
    free(b.result);
    return code;
}

static const gv_opt opts_table[] = {
    GV_OPT_SIZES_OF_N(hermite_options, "how many bodies (default 16Ki,128Ki)"),
    {.name = "active",
     .letter = 'a',
     .kind = GV_OPT_SIZES,
     .offset = offsetof(hermite_options, active),
     .value = "LIST",
     .help = "and forces on so many of them, as block steps have them",
     .low = 1,
     .high = INFINITY},
    {.name = "order",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(hermite_options, order),
     .value = "4|6",
     .help = "of the integration",
     .fallback = "4"},
    {.name = "precision",
     .letter = 'p',
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(hermite_options, precision),
     .value = "ds|dp",
     .help = "of bodies and forces",
     .fallback = "ds"},
    {.name = "scheme",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(hermite_options, scheme),
     .value = "auto|copies|ring",
     .help = "over ranks: all bodies on every rank, or dealt out and\ngoing round; auto: by the model",
     .fallback = "auto"},
    {.name = "samples",
     .kind = GV_OPT_INT,
     .offset = offsetof(hermite_options, samples),
     .value = "K",
     .help = "timed steps, after two that are not",
     .fallback = "10",
     .low = 1,
     .high = MOST_SAMPLES},
    {.name = "eps",
     .kind = GV_OPT_REAL,
     .offset = offsetof(hermite_options, eps),
     .value = "LENGTH",
     .help = "softening length",
     .fallback = "0.01",
     .low = 0,
     .high = INFINITY},
    GV_OPT_BENCH(hermite_options),
    {.name = NULL},
};

const gv_command gv_cmd_bench_hermite = {
    .name = "hermite",
    .summary = "whole Hermite steps, on one device or over the ranks of mpirun",
    .synopsis = "[-n LIST] [--active LIST] [options]",
    .about =
        "Steps of all bodies by the host's clock: prediction, forces, exchange over the ranks, correction, choice\n"
        "of the next step. Over ranks -d is a list as in 'gravel cluster devices --devices'.",
    .opts = opts_table,
    .examples = "gravel bench hermite -n 128Ki\n"
                "mpirun -n 4 gravel bench hermite -n 128Ki,1Mi -o four.json\n"
                "mpirun -n 2 gravel bench hermite -n 16k --active 16,256,4096 --json\n"
                "mpirun -n 4 gravel bench hermite -n 256Ki --scheme ring\n",
    .size = sizeof(hermite_options),
    .given = offsetof(hermite_options, given),
    .run = run,
    .over_ranks = 1,
};
