/* gravel bench requests: a walk on the host whose lists are worked on elsewhere, and few sinks at a time. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "gravel/requests.h"
#include "host/base/clock.h"
#include "sim/ic.h"

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

/* A bucket of sinks and its lists. */
typedef struct bucket {
    gravel_leaf sinks;
    double centre[3], radius;
    uint32_t *cell;
    gravel_leaf *run;
    size_t cells, runs, room_cells, room_runs;
} bucket;

typedef struct timing {
    size_t sinks, buckets;
    double pairs, host, device, any; /* seconds */
} timing;

enum { MOST_RESULTS = GV_MAX_LIST, STACK = 1024 };

typedef struct requests_bench {
    const requests_options *opts;
    gravel_context *context;
    gravel_device_info device;
    gv_particles p; /* in the order of the tree */
    gravel_cell *cell;
    size_t cells, buckets;
    bucket *bucket;
    double *acc[3], *pot;
    double walk, work, both; /* seconds */
    double pairs;
    gravel_requests_counts counts;
    timing result[MOST_RESULTS];
    int results;
} requests_bench;

/* -------------------------------------------------------------------- tree */

static uint32_t first_body(const requests_bench *b, size_t c)
{
    while (!b->cell[c].leaf)
        c = b->cell[c].first;
    return b->cell[c].first;
}

static gravel_status read_tree(requests_bench *b)
{
    gravel_tree_options options = {.size = 0};
    gravel_tree *tree = NULL;
    gv_particles p = {.count = 0};
    uint32_t *order = malloc(b->opts->n * sizeof *order);
    gravel_tree_options_init(&options);
    gravel_status status = order ? gv_ic_plummer(b->opts->n, b->opts->seed, NULL, &p)
                                 : gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu bodies", b->opts->n);
    const gravel_sources all = {.count = p.count, .mass = p.m, .pos = GRAVEL_VEC_SOA(p.x, p.y, p.z)};
    if (!status)
        status = gravel_tree_create(&tree, b->context, &options);
    if (!status)
        status = gravel_tree_write(tree, &all);
    if (!status)
        status = gravel_tree_build(tree);
    if (!status)
        status = gravel_tree_get_cell_count(tree, &b->cells);
    if (!status && !(b->cell = malloc(b->cells * sizeof *b->cell)))
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu cells", b->cells);
    if (!status)
        status = gravel_tree_read_cells(tree, 0, b->cells, b->cell);
    if (!status)
        status = gravel_tree_read_order(tree, order);
    if (!status)
        status = gv_ic_plummer(b->opts->n, b->opts->seed, NULL, &b->p);
    for (size_t k = 0; k < p.count && !status; k++) {
        b->p.x[k] = p.x[order[k]], b->p.y[k] = p.y[order[k]], b->p.z[k] = p.z[order[k]];
        b->p.m[k] = p.m[order[k]];
    }
    gravel_tree_release(tree);
    gv_particles_free(&p);
    free(order);
    return status;
}

static void add_bucket(requests_bench *b, size_t c)
{
    bucket *k = &b->bucket[b->buckets++];
    const double *const x[3] = {b->p.x, b->p.y, b->p.z};
    k->sinks = (gravel_leaf){first_body(b, c), b->cell[c].bodies};
    double r2 = 0;
    for (int a = 0; a < 3; a++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t j = k->sinks.first; j < k->sinks.first + k->sinks.count; j++) {
            low = fmin(low, x[a][j]);
            high = fmax(high, x[a][j]);
        }
        k->centre[a] = (low + high) / 2;
        r2 += (high - low) * (high - low) / 4;
    }
    k->radius = sqrt(r2);
}

/* Cells of at most so many bodies, the largest ones there are. */
static gravel_status make_buckets(requests_bench *b)
{
    size_t stack[STACK], n = 0;
    b->bucket = calloc(b->cells, sizeof *b->bucket);
    if (!b->bucket)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for buckets");
    stack[n++] = 0;
    while (n > 0) {
        const size_t c = stack[--n];
        if (b->cell[c].leaf || b->cell[c].bodies <= b->opts->bucket)
            add_bucket(b, c);
        else
            for (uint32_t k = 0; k < b->cell[c].count && n < STACK; k++)
                stack[n++] = b->cell[c].first + k;
    }
    return GRAVEL_OK;
}

/* -------------------------------------------------------------------- walk */

static int grow(void **array, size_t *room, size_t n, size_t size)
{
    if (n < *room)
        return 1;
    void *more = realloc(*array, 2 * (n + 32) * size);
    if (!more)
        return 0;
    *array = more;
    *room = 2 * (n + 32);
    return 1;
}

/* The lists of a bucket: cells that are seen under less than theta, and the bodies of the other leaves. */
static int walk(const requests_bench *b, bucket *k)
{
    size_t stack[STACK], n = 0;
    k->cells = k->runs = 0;
    stack[n++] = 0;
    while (n > 0) {
        const gravel_cell *c = &b->cell[stack[--n]];
        const double dx = c->centre[0] - k->centre[0], dy = c->centre[1] - k->centre[1],
                     dz = c->centre[2] - k->centre[2], far = k->radius + c->radius / b->opts->theta;
        if (c->bodies > 1 && dx * dx + dy * dy + dz * dz > far * far) {
            if (!grow((void **)&k->cell, &k->room_cells, k->cells, sizeof *k->cell))
                return 0;
            k->cell[k->cells++] = (uint32_t)(c - b->cell);
        } else if (c->leaf) {
            if (!grow((void **)&k->run, &k->room_runs, k->runs, sizeof *k->run))
                return 0;
            k->run[k->runs++] = (gravel_leaf){c->first, c->bodies};
        } else {
            for (uint32_t child = 0; child < c->count && n < STACK; child++)
                stack[n++] = c->first + child;
        }
    }
    return 1;
}

static gravel_status submit(const requests_bench *b, gravel_requests *r, const bucket *k)
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
        if (k >= p->b->buckets || atomic_load(&p->failed))
            return NULL;
        if (p->walks && !walk(p->b, &p->b->bucket[k]))
            atomic_store(&p->failed, GRAVEL_ERR_MEMORY);
        else if (p->r && submit(p->b, p->r, &p->b->bucket[k]) != GRAVEL_OK)
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
    sources.count = b->p.count;
    sources.mass = b->p.m;
    sources.pos = (gravel_vec)GRAVEL_VEC_SOA(b->p.x, b->p.y, b->p.z);
    sources.cells = b->cells;
    sources.cell = b->cell;
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
    const size_t wanted = (sinks * b->buckets + b->p.count - 1) / b->p.count;
    const size_t step = wanted > 0 ? b->buckets / wanted : b->buckets;
    double *const to[3] = {&t->host, &t->device, &t->any};
    gravel_status status = GRAVEL_OK;
    *t = (timing){.sinks = 0};
    for (size_t k = 0; k < b->buckets; k += step) {
        const bucket *one = &b->bucket[k];
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
    for (size_t k = 0; k < b->buckets && !status; k++) {
        b->pairs += (double)b->bucket[k].cells * b->bucket[k].sinks.count;
        for (size_t n = 0; n < b->bucket[k].runs; n++)
            b->pairs += (double)b->bucket[k].run[n].count * b->bucket[k].sinks.count;
    }
    double once;
    if (!status) /* what decides who answers is measured here */
        status = run_party(b, r[2], 0, 1, &once);
    for (int k = 0; k < active.n && !status; k++)
        if (active.value[k] <= b->p.count)
            status = measure_active(b, r, active.value[k]);
    if (!status)
        status = gravel_requests_get_counts(r[2], &b->counts);
    for (int k = 0; k < 3; k++)
        gravel_requests_release(r[k]);
    return status;
}

static gravel_status run_all(requests_bench *b)
{
    b->device = *gravel_context_get_device(b->context, 0);
    gravel_status status = read_tree(b);
    for (int c = 0; c < 4 && !status; c++) {
        double **to = c < 3 ? &b->acc[c] : &b->pot;
        if (!(*to = calloc(b->p.count, sizeof **to)))
            status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu forces", b->p.count);
    }
    if (!status)
        status = make_buckets(b);
    return status ? status : measure(b);
}

static void free_all(requests_bench *b)
{
    for (size_t k = 0; k < b->buckets; k++) {
        free(b->bucket[k].cell);
        free(b->bucket[k].run);
    }
    for (int c = 0; c < 3; c++)
        free(b->acc[c]);
    free(b->pot);
    free(b->bucket);
    free(b->cell);
    gv_particles_free(&b->p);
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
    cJSON_AddNumberToObject(root, "n", (double)b->p.count);
    cJSON_AddNumberToObject(root, "theta", b->opts->theta);
    cJSON_AddNumberToObject(root, "buckets", (double)b->buckets);
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
             gravel_precision_name((gravel_precision)b->opts->precision), b->p.count, b->opts->theta, b->buckets,
             b->opts->threads, b->opts->threads == 1 ? "" : "s", b->pairs);
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
        status = run_all(b);
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
