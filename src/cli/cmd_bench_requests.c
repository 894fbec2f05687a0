/* gravel bench requests: a walk on the host whose lists are worked on elsewhere, and few sinks at a time. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench_walk.h"
#include "cli/cli.h"
#include "gravel/requests.h"
#include "host/base/clock.h"

#define BENCH "gravel bench requests"

typedef struct requests_options {
    const char *device, *out, *configuration;
    int json, no_fp64, verbose, repeats;
    int precision; /* place in the choices */
    int threads;
    double theta, eps;
    size_t n, bucket, batch;
    gv_size_list active;
    uint64_t seed;
} requests_options;

typedef struct timing {
    size_t sinks, buckets;
    double pairs, host, device, any; /* seconds */
} timing;

enum { MOST_RESULTS = GV_MAX_LIST };

typedef struct requests_bench {
    const requests_options *opts;
    gravel_context *context;
    gravel_device_info device;
    gv_host_walk host;
    double *acc[3], *pot;
    double walk, work, both; /* seconds */
    double pairs;
    gravel_requests_counts counts;
    timing result[MOST_RESULTS];
    int results;
} requests_bench;

/* ----------------------------------------------------------------- parties */

static gravel_status submit(const requests_bench *b, gravel_requests *r, const gv_bucket *k)
{
    gravel_request q = GRAVEL_REQUEST_INIT;
    const size_t at = k->sinks.first;
    q.sinks = k->sinks;
    q.cell = k->cell, q.cells = k->cells, q.run = k->run, q.runs = k->runs;
    q.acc = (gravel_vec_out)GRAVEL_VEC_OUT_SOA(b->acc[0] + at, b->acc[1] + at, b->acc[2] + at);
    q.pot = b->pot + at;
    return gravel_requests_submit(r, &q);
}

/* Threads that take buckets, walk for them, and submit what they find. */
typedef struct party {
    requests_bench *b;
    gravel_requests *r;
    int walks;
    size_t step; /* every so many buckets */
    atomic_size_t next;
    atomic_int failed;
} party;

static void *take_part(void *user)
{
    party *p = user;
    for (;;) {
        const size_t k = atomic_fetch_add(&p->next, 1) * p->step;
        if (k >= p->b->host.buckets || atomic_load(&p->failed))
            return NULL;
        if (p->walks && !gv_host_walk_bucket(&p->b->host, &p->b->host.bucket[k], p->b->opts->theta))
            atomic_store(&p->failed, GRAVEL_ERR_MEMORY);
        else if (p->r && submit(p->b, p->r, &p->b->host.bucket[k]) != GRAVEL_OK)
            atomic_store(&p->failed, GRAVEL_ERR_INTERNAL);
    }
}

static gravel_status run_party(requests_bench *b, gravel_requests *r, int walks, size_t step, double *seconds)
{
    enum { MOST = 64 };
    party p = {.b = b, .r = r, .walks = walks, .step = step};
    pthread_t thread[MOST];
    int n = 0;
    const double begin = gv_now();
    while (n < b->opts->threads - 1 && pthread_create(&thread[n], NULL, take_part, &p) == 0)
        n++;
    take_part(&p);
    while (n > 0)
        pthread_join(thread[--n], NULL);
    gravel_status status = r ? gravel_requests_wait(r) : GRAVEL_OK;
    *seconds = gv_now() - begin;
    const int failed = atomic_load(&p.failed);
    return status ? status : failed ? gv_fail((gravel_status)failed, "a walk or a request failed") : GRAVEL_OK;
}

/* --------------------------------------------------------------- measurements */

static gravel_status make_requests(requests_bench *b, gravel_requests_by by, gravel_requests **r)
{
    gravel_requests_options options = GRAVEL_REQUESTS_OPTIONS_INIT;
    gravel_requests_sources sources = GRAVEL_REQUESTS_SOURCES_INIT;
    options.by = by;
    options.precision = (gravel_precision)b->opts->precision;
    options.batch = b->opts->batch;
    options.configuration = b->opts->configuration;
    sources.count = b->host.p.count;
    sources.mass = b->host.p.m;
    sources.pos = (gravel_vec)GRAVEL_VEC_SOA(b->host.p.x, b->host.p.y, b->host.p.z);
    sources.cells = b->host.cells;
    sources.cell = b->host.cell;
    sources.eps = b->opts->eps;
    gravel_status status = gravel_requests_create(r, b->context, &options);
    return status ? status : gravel_requests_set_sources(*r, &sources);
}

static gravel_status least(requests_bench *b, gravel_requests *r, int walks, size_t step, double *seconds)
{
    const int repeats = b->opts->repeats > 0 ? b->opts->repeats : 5;
    gravel_status status = GRAVEL_OK;
    *seconds = INFINITY;
    for (int k = 0; k < repeats && !status; k++) {
        double once;
        status = run_party(b, r, walks, step, &once);
        *seconds = fmin(*seconds, once);
        if (!status && gv_signals_pending())
            status = gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
    }
    return status;
}

static gravel_status measure_overlap(requests_bench *b, gravel_requests *device)
{
    double once;
    gravel_status status = run_party(b, device, 1, 1, &once); /* lists are there, and the device is warm */
    if (!status)
        status = least(b, NULL, 1, 1, &b->walk);
    if (!status)
        status = least(b, device, 0, 1, &b->work);
    return status ? status : least(b, device, 1, 1, &b->both);
}

static gravel_status measure_active(requests_bench *b, gravel_requests *r[3], size_t sinks)
{
    timing *t = &b->result[b->results];
    const size_t wanted = (sinks * b->host.buckets + b->host.p.count - 1) / b->host.p.count;
    const size_t step = wanted > 0 ? b->host.buckets / wanted : b->host.buckets;
    double *const to[3] = {&t->host, &t->device, &t->any};
    gravel_status status = GRAVEL_OK;
    *t = (timing){.sinks = 0};
    for (size_t k = 0; k < b->host.buckets; k += step) {
        const gv_bucket *one = &b->host.bucket[k];
        double sources = (double)one->cells;
        for (size_t n = 0; n < one->runs; n++)
            sources += one->run[n].count;
        t->sinks += one->sinks.count;
        t->pairs += sources * one->sinks.count;
        t->buckets++;
    }
    if (b->results > 0 && t->sinks == b->result[b->results - 1].sinks)
        return GRAVEL_OK;
    for (int k = 0; k < 3 && !status; k++)
        status = least(b, r[k], 0, step, to[k]);
    b->results += !status;
    return status;
}

static gravel_status measure(requests_bench *b)
{
    static const gravel_requests_by by[3] = {GRAVEL_REQUESTS_HOST, GRAVEL_REQUESTS_DEVICE, GRAVEL_REQUESTS_AUTO};
    gravel_requests *r[3] = {NULL, NULL, NULL};
    gv_size_list active = b->opts->active;
    gravel_status status = GRAVEL_OK;
    if (active.n == 0)
        active = (gv_size_list){9, {16, 64, 128, 256, 512, 1024, 4096, 16384, b->opts->n}};
    for (int k = 0; k < 3 && !status; k++)
        status = make_requests(b, by[k], &r[k]);
    if (!status)
        status = measure_overlap(b, r[1]);
    for (size_t k = 0; k < b->host.buckets && !status; k++) {
        b->pairs += (double)b->host.bucket[k].cells * b->host.bucket[k].sinks.count;
        for (size_t n = 0; n < b->host.bucket[k].runs; n++)
            b->pairs += (double)b->host.bucket[k].run[n].count * b->host.bucket[k].sinks.count;
    }
    double once;
    if (!status) /* what decides who answers is measured here */
        status = run_party(b, r[2], 0, 1, &once);
    for (int k = 0; k < active.n && !status; k++)
        if (active.value[k] <= b->host.p.count)
            status = measure_active(b, r, active.value[k]);
    if (!status)
        status = gravel_requests_get_counts(r[2], &b->counts);
    for (int k = 0; k < 3; k++)
        gravel_requests_release(r[k]);
    return status;
}

static gravel_status run_size(void *bench, size_t n)
{
    requests_bench *b = bench;
    b->device = *gravel_context_get_device(b->context, 0);
    gravel_status status = gv_host_walk_read(&b->host, b->context, n, b->opts->seed);
    for (int c = 0; c < 4 && !status; c++) {
        double **to = c < 3 ? &b->acc[c] : &b->pot;
        if (!(*to = calloc(b->host.p.count, sizeof **to)))
            status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu forces", b->host.p.count);
    }
    if (!status)
        status = gv_host_walk_make_buckets(&b->host, b->opts->bucket);
    return status ? status : measure(b);
}

static void free_all(requests_bench *b)
{
    for (int c = 0; c < 3; c++)
        free(b->acc[c]);
    free(b->pot);
    gv_host_walk_free(&b->host);
    gravel_context_release(b->context);
    free(b);
}

/* ------------------------------------------------------------------ output */

/* Sinks from which on the device is faster, on a line between two of the measurements in logarithms; 0: it never is. */
static double crossing(const requests_bench *b)
{
    for (int k = 0; k < b->results; k++) {
        const timing *t = &b->result[k];
        if (t->device > t->host)
            continue;
        if (k == 0)
            return (double)t->sinks;
        const timing *s = t - 1;
        const double a = log(s->device / s->host), c = log(t->device / t->host), w = a / (a - c);
        return exp(log((double)s->sinks) + w * log((double)t->sinks / (double)s->sinks));
    }
    return 0;
}

static cJSON *all_json(const requests_bench *b)
{
    cJSON *root = cJSON_CreateObject(), *list;
    const double longer = fmax(b->walk, b->work);
    gv_json_stamp(root);
    cJSON_AddStringToObject(root, "device", b->device.name);
    cJSON_AddStringToObject(root, "driver", b->device.driver);
    cJSON_AddStringToObject(root, "precision", gravel_precision_name((gravel_precision)b->opts->precision));
    cJSON_AddNumberToObject(root, "n", (double)b->host.p.count);
    cJSON_AddNumberToObject(root, "theta", b->opts->theta);
    cJSON_AddNumberToObject(root, "buckets", (double)b->host.buckets);
    cJSON_AddNumberToObject(root, "threads", b->opts->threads);
    cJSON_AddNumberToObject(root, "pairs", b->pairs);
    gv_json_number(root, "walk_s", b->walk);
    gv_json_number(root, "work_s", b->work);
    gv_json_number(root, "both_s", b->both);
    gv_json_number(root, "both_over_longer", b->both / longer);
    gv_json_number(root, "crossing_sinks", crossing(b));
    gv_json_number(root, "host_pairs_per_s", b->counts.host_pairs_per_s);
    gv_json_number(root, "device_latency_s", b->counts.device_latency);
    gv_json_number(root, "least_pairs", b->counts.least_pairs);
    list = cJSON_AddArrayToObject(root, "results");
    for (int k = 0; k < b->results; k++) {
        const timing *t = &b->result[k];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddNumberToObject(item, "sinks", (double)t->sinks);
        cJSON_AddNumberToObject(item, "buckets", (double)t->buckets);
        cJSON_AddNumberToObject(item, "pairs", t->pairs);
        gv_json_number(item, "host_s", t->host);
        gv_json_number(item, "device_s", t->device);
        gv_json_number(item, "auto_s", t->any);
        cJSON_AddItemToArray(list, item);
    }
    return root;
}

static void print_table(const requests_bench *b)
{
    const double from = crossing(b);
    gv_table table;
    gv_print("%s, %s, %zu bodies, theta %g, %zu buckets, %d thread%s; %.3g pairs\n\n", b->device.name,
             gravel_precision_name((gravel_precision)b->opts->precision), b->host.p.count, b->opts->theta,
             b->host.buckets, b->opts->threads, b->opts->threads == 1 ? "" : "s", b->pairs);
    printf("walk on the host %.3f ms, work on the device %.3f ms, both at once %.3f ms: %.2f of the longer\n\n",
           1e3 * b->walk, 1e3 * b->work, 1e3 * b->both, b->both / fmax(b->walk, b->work));
    gv_table_start(&table, "active sinks|buckets|pairs|host ms|device ms|auto ms");
    for (int k = 0; k < b->results; k++) {
        const timing *t = &b->result[k];
        gv_table_row(&table, "%zu|%zu|%.3g|%.3f|%.3f|%.3f", t->sinks, t->buckets, t->pairs, 1e3 * t->host,
                     1e3 * t->device, 1e3 * t->any);
    }
    gv_table_print(&table, stdout);
    gv_table_free(&table);
    if (from > 0)
        printf("\nThe device is faster from %.0f active sinks on.\n", from);
    else
        printf("\nThe host is faster for all of these.\n");
}

/* ----------------------------------------------------------------- command */

static int write_results(const void *bench)
{
    const requests_bench *const b = bench;
    int table;
    const int code = gv_cli_write_results(BENCH, all_json(b), b->opts->out, b->opts->json, &table);
    if (table)
        print_table(b);
    return code;
}

static int run(const void *values, const gv_operands *operands)
{
    requests_bench *b = calloc(1, sizeof *b);
    (void)operands;
    if (!b)
        return gv_cli_fail(BENCH, gv_fail(GRAVEL_ERR_MEMORY, "out of memory"));
    gv_signals_catch(0.7, BENCH ": stopped\n");
    b->opts = values;
    gravel_status status = gv_cli_context(&b->context, b->opts->device, b->opts->no_fp64, b->opts->verbose);
    if (!status)
        status = gv_cli_bench_sizes(&(gv_size_list){1, {b->opts->n}}, (gv_size_list){0}, run_size, b);
    const int code = gv_cli_end_bench(BENCH, status, b->results, write_results, b);
    free_all(b);
    return code;
}

static const gv_opt opts_table[] = {
    {.name = "n",
     .letter = 'n',
     .kind = GV_OPT_SIZE,
     .offset = offsetof(requests_options, n),
     .value = "N",
     .help = "bodies of a Plummer sphere",
     .fallback = "64Ki",
     .low = 64,
     .high = 1 << 26},
    {.name = "theta",
     .kind = GV_OPT_REAL,
     .offset = offsetof(requests_options, theta),
     .value = "T",
     .help = "opening angle of the walk on the host",
     .fallback = "0.6",
     .low = 0.1,
     .high = 1},
    {.name = "eps",
     .kind = GV_OPT_REAL,
     .offset = offsetof(requests_options, eps),
     .value = "E",
     .help = "softening length",
     .fallback = "0.01",
     .low = 0,
     .high = 1e6},
    {.name = "bucket",
     .kind = GV_OPT_SIZE,
     .offset = offsetof(requests_options, bucket),
     .value = "K",
     .help = "sinks of a bucket at most",
     .fallback = "64",
     .low = 1,
     .high = 1024},
    {.name = "batch",
     .kind = GV_OPT_SIZE,
     .offset = offsetof(requests_options, batch),
     .value = "K",
     .help = "sinks that go to the device together",
     .fallback = "16384",
     .low = 1,
     .high = 1 << 24},
    {.name = "threads",
     .kind = GV_OPT_INT,
     .offset = offsetof(requests_options, threads),
     .value = "K",
     .help = "threads that walk and submit",
     .fallback = "1",
     .low = 1,
     .high = 64},
    {.name = "active",
     .kind = GV_OPT_SIZES,
     .offset = offsetof(requests_options, active),
     .value = "LIST",
     .help = "about so many active sinks (default 16 to all)",
     .low = 1,
     .high = 1 << 26},
    GV_OPT_PRECISION(requests_options, "of the device's pairs and sums", "sp"),
    {.name = "configuration",
     .kind = GV_OPT_TEXT,
     .offset = offsetof(requests_options, configuration),
     .value = "TEXT",
     .help = "tunables as \"threads=128 split=4\""},
    {.name = "repeats",
     .kind = GV_OPT_INT,
     .offset = offsetof(requests_options, repeats),
     .value = "K",
     .help = "times each is done; the least counts (default 5)",
     .low = 1,
     .high = 1000},
    GV_OPT_BENCH(requests_options),
    {.name = NULL},
};

const gv_command gv_cmd_bench_requests = {
    .name = "requests",
    .summary = "lists of a walk on the host, worked on while it goes on",
    .synopsis = "[-n N] [--threads K] [--active LIST] [options]",
    .about =
        "Threads on the host walk a tree for buckets of sinks and submit their lists; times of the walk alone, of the\n"
        "work alone, and of both at once.  Then lists of some of the buckets only, by the host, by the device, and by\n"
        "whoever is expected to be faster: where they cross is the number of active sinks from which the device pays.",
    .opts = opts_table,
    .examples = "gravel bench requests\n"
                "gravel bench requests -n 1M --threads 8 --batch 32k\n"
                "gravel bench requests --active 100,1000,10k --json\n",
    .size = sizeof(requests_options),
    .run = run,
};
