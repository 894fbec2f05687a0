/* gravel bench several: block steps on several devices, by each of those who can answer, and whom the library chose. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "host/base/clock.h"
#include "host/several/several.h"
#include "sim/ic.h"
#include "tuner/timing.h"

#define BENCH "gravel bench several"

typedef struct several_options {
    const char *devices, *out;
    int json, verbose, blocks, order, precision; /* places in the choices */
    size_t calls;
    double eps;
    gv_size_list n, sinks, updates;
    uint64_t seed;
    unsigned char given[GV_MAX_OPTIONS];
} several_options;

enum { MOST_ANSWERS = 8, CYCLES = 5, MOST_ROUNDS = 40, MOST_RESULTS = GV_MAX_LIST * GV_MAX_LIST };

typedef struct several_result {
    size_t n, sinks, updates;
    int chosen; /* place in `time` */
    double predicted_s;
    gv_series time[MOST_ANSWERS]; /* of the host, then of the fastest 1, 2, 4, ... devices */
} several_result;

typedef struct several_bench {
    const several_options *opts;
    gravel_several *several;
    gravel_several_share *share; /* of blocks; it has `several` */
    gv_particles p;
    double *out[7];
    int answers, turn;
    several_result *result;
    int results;
} several_bench;

/* -------------------------------------------------------------------- runs */

/* A block step as codes with individual steps make it: some sources change, all are predicted, some get forces. */
static gravel_status one_round(several_bench *b, const several_result *r)
{
    const gv_particles *p = &b->p;
    const int order = 2 * (b->opts->order + 1);
    gravel_several_call call = GRAVEL_SEVERAL_CALL_INIT;
    const gravel_sinks sinks = {.count = r->sinks,
                                .id = p->id,
                                .pos = {p->x, p->y, p->z, 1},
                                .vel = {p->vx, p->vy, p->vz, 1},
                                .acc = {p->vx, p->vy, p->vz, 1}};
    const gravel_sources changed = {
        .count = r->updates, .mass = p->m, .id = p->id, .pos = {p->x, p->y, p->z, 1}, .vel = {p->vx, p->vy, p->vz, 1}};
    gravel_forces f = {.acc = {b->out[0], b->out[1], b->out[2], 1}, .pot = b->out[3]};
    if (order >= 4)
        f.jerk = (gravel_vec_out){b->out[4], b->out[5], b->out[6], 1};
    call.sinks = &sinks;
    call.order = order;
    call.eps = b->opts->eps;
    gravel_status status = gravel_several_write_sources(b->several, 0, &changed);
    if (!status)
        status = gravel_several_set_time(b->several, ldexp(++b->turn, -30));
    if (!status)
        status = gravel_several_submit(b->several, &call);
    return status ? status : gravel_several_collect(b->several, &f, NULL);
}

/* Some rounds in a row, after one that brings what others were sent. */
static gravel_status some_rounds(several_bench *b, const several_result *r, double *time, int *n, int most)
{
    const double begin = gv_now();
    gravel_status status = one_round(b, r);
    for (int k = 0; k < MOST_ROUNDS && *n < most && !status && (k < 1 || gv_now() - begin < 0.03); k++) {
        const double start = gv_now();
        status = one_round(b, r);
        time[(*n)++] = gv_now() - start;
    }
    return status;
}

/* The host would take seconds, and no rule would choose it. */
static int is_hopeless(int answer, const several_result *r)
{
    return answer == 0 && (double)r->n * (double)r->sinks > 1e9;
}

/* All answers in turn, several times, so that what disturbs hits all of them. */
static gravel_status time_answers(several_bench *b, several_result *r)
{
    enum { MOST = CYCLES * MOST_ROUNDS };
    double(*time)[MOST] = malloc(MOST_ANSWERS * sizeof *time);
    int count[MOST_ANSWERS] = {0};
    gravel_status status = time ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    const double begin = gv_now();
    for (int cycle = 0; cycle < CYCLES && !status && (cycle == 0 || gv_now() - begin < 2); cycle++)
        for (int a = 0; a < b->answers && !status; a++) {
            if (is_hopeless(a, r))
                continue;
            gv_several_force(b->several, a - 1);
            status = some_rounds(b, r, time[a], &count[a], MOST);
            if (!status && gv_signals_pending())
                status = gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
        }
    for (int a = 0; a < b->answers && !status; a++)
        if (is_hopeless(a, r))
            r->time[a] = (gv_series){.median = INFINITY, .least = INFINITY};
        else
            gv_series_of(time[a], count[a], &r->time[a]);
    gv_several_force(b->several, GV_ANSWER_CHOSEN);
    free(time);
    return status;
}

/* A block of an integrator: bodies are on the first device, and go to the others before it. */
static gravel_status run_block(several_bench *b, size_t sinks)
{
    several_result *r = &b->result[b->results];
    double seconds[MOST_ANSWERS];
    int chosen = 0;
    *r = (several_result){.n = b->p.count, .sinks = sinks < b->p.count ? sinks : b->p.count};
    gravel_status status = gv_share_time_block(b->share, 2 * (b->opts->order + 1), r->sinks, r->n, seconds, &chosen);
    if (!status && gv_signals_pending())
        status = gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
    r->time[0] = (gv_series){.median = INFINITY, .least = INFINITY};
    for (int a = 1; a < b->answers && !status; a++)
        r->time[a] = (gv_series){.median = seconds[a - 1], .least = seconds[a - 1]};
    r->chosen = 1 + chosen;
    b->results += !status;
    return status;
}

static gravel_status run_one(several_bench *b, size_t sinks, size_t updates)
{
    if (b->share)
        return run_block(b, sinks);
    several_result *r = &b->result[b->results];
    gravel_several_call call = GRAVEL_SEVERAL_CALL_INIT;
    gravel_several_plan plan;
    *r = (several_result){.n = b->p.count,
                          .sinks = sinks < b->p.count ? sinks : b->p.count,
                          .updates = updates < b->p.count ? updates : b->p.count};
    call.order = 2 * (b->opts->order + 1);
    gravel_status status = GRAVEL_OK;
    for (size_t k = 0; k < b->opts->calls && !status && !gv_signals_pending(); k++)
        status = one_round(b, r);
    if (!status)
        status = gravel_several_get_plan(b->several, &call, r->sinks, r->n, &plan);
    if (!status)
        status = time_answers(b, r);
    if (status)
        return status;
    r->predicted_s = plan.predicted_s;
    while (!plan.host && r->chosen < b->answers - 1 &&
           (r->chosen == 0 || gv_team_size(b->several, r->chosen - 1) < plan.devices))
        r->chosen++;
    b->results++;
    return GRAVEL_OK;
}

static gravel_status open_size(several_bench *b, size_t n)
{
    const several_options *o = b->opts;
    gravel_several_options options = GRAVEL_SEVERAL_OPTIONS_INIT;
    gravel_context_options context = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_status status = gv_ic_plummer(n, o->seed, NULL, &b->p);
    gv_cli_log(&context, o->verbose);
    options.devices = o->devices;
    options.precision = (gravel_precision)o->precision;
    options.correct_times = o->calls > 0;
    options.context = &context;
    if (!status && o->blocks) {
        gravel_several_share_options share = GRAVEL_SEVERAL_SHARE_OPTIONS_INIT;
        share.devices = o->devices;
        share.precision = options.precision;
        share.context = &context;
        status = gravel_several_share_create(&b->share, &share);
        b->several = status ? NULL : gv_share_get_several(b->share);
        b->answers = status ? 1 : 1 + gv_several_teams(b->several);
        return status;
    }
    for (int k = 0; k < 7 && !status; k++)
        if (!(b->out[k] = malloc(n * sizeof(double))))
            status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu bodies", n);
    if (!status)
        status = gravel_several_create(&b->several, &options);
    if (status)
        return status;
    b->answers = 1 + gv_several_teams(b->several);
    const gravel_sources all = {.count = n,
                                .mass = b->p.m,
                                .id = b->p.id,
                                .pos = {b->p.x, b->p.y, b->p.z, 1},
                                .vel = {b->p.vx, b->p.vy, b->p.vz, 1}};
    return gravel_several_write_sources(b->several, 0, &all);
}

static void close_size(several_bench *b)
{
    if (b->share)
        gravel_several_share_release(b->share);
    else
        gravel_several_release(b->several);
    b->share = NULL;
    b->several = NULL;
    for (int k = 0; k < 7; k++) {
        free(b->out[k]);
        b->out[k] = NULL;
    }
    gv_particles_free(&b->p);
}

/* ------------------------------------------------------------------ output */

static const char *answer_name(const several_bench *b, int answer, char text[24])
{
    if (answer == 0)
        return "host";
    const int devices = gv_team_size(b->several, answer - 1);
    snprintf(text, 24, "%d device%s", devices, devices == 1 ? "" : "s");
    return text;
}

static double regret(const several_bench *b, const several_result *r)
{
    double best = INFINITY;
    for (int a = 0; a < b->answers; a++)
        best = fmin(best, r->time[a].median);
    return r->time[r->chosen].median / best;
}

static const several_result *worst_of(const several_bench *b)
{
    const several_result *worst = &b->result[0];
    for (int k = 1; k < b->results; k++)
        if (regret(b, &b->result[k]) > regret(b, worst))
            worst = &b->result[k];
    return worst;
}

static cJSON *result_json(const several_bench *b, const several_result *r)
{
    cJSON *item = cJSON_CreateObject(), *times;
    char text[24];
    cJSON_AddNumberToObject(item, "n_sources", (double)r->n);
    cJSON_AddNumberToObject(item, "n_sinks", (double)r->sinks);
    cJSON_AddNumberToObject(item, "updates", (double)r->updates);
    times = cJSON_AddArrayToObject(item, "answers");
    for (int a = 0; a < b->answers; a++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "by", answer_name(b, a, text));
        gv_json_number(one, "call_s_median", r->time[a].median);
        gv_json_number(one, "call_s_min", r->time[a].least);
        cJSON_AddItemToArray(times, one);
    }
    cJSON_AddStringToObject(item, "chosen", answer_name(b, r->chosen, text));
    gv_json_number(item, "predicted_s", r->predicted_s);
    gv_json_number(item, "regret", regret(b, r));
    return item;
}

static cJSON *all_json(const several_bench *b)
{
    cJSON *root = cJSON_CreateObject(), *list;
    gv_json_stamp(root);
    list = cJSON_AddArrayToObject(root, "devices");
    for (int k = 0; k < gravel_several_get_device_count(b->several); k++)
        cJSON_AddItemToArray(list, cJSON_CreateString(gravel_several_get_device(b->several, k)->name));
    cJSON_AddNumberToObject(root, "order", 2 * (b->opts->order + 1));
    cJSON_AddStringToObject(root, "precision", gravel_precision_name((gravel_precision)b->opts->precision));
    cJSON_AddStringToObject(root, "rounds", b->share ? "blocks of an integrator" : "calls from host arrays");
    gv_json_number(root, "largest_regret", regret(b, worst_of(b)));
    list = cJSON_AddArrayToObject(root, "results");
    for (int k = 0; k < b->results; k++)
        cJSON_AddItemToArray(list, result_json(b, &b->result[k]));
    return root;
}

static void print_table(const several_bench *b)
{
    gv_table table;
    char text[24], heads[256] = "n|sinks|updates";
    for (int k = 0; k < gravel_several_get_device_count(b->several); k++)
        gv_print("device %d: %s\n", k, gravel_several_get_device(b->several, k)->name);
    printf("\n");
    for (int a = 0; a < b->answers; a++)
        snprintf(heads + strlen(heads), sizeof heads - strlen(heads), "|%s us", answer_name(b, a, text));
    snprintf(heads + strlen(heads), sizeof heads - strlen(heads), "|chosen|regret");
    gv_table_start(&table, heads);
    for (int k = 0; k < b->results; k++) {
        const several_result *r = &b->result[k];
        char cells[256] = "";
        for (int a = 0; a < b->answers; a++)
            snprintf(cells + strlen(cells), sizeof cells - strlen(cells), isinf(r->time[a].median) ? "|-" : "|%.1f",
                     1e6 * r->time[a].median);
        gv_table_row(&table, "%zu|%zu|%zu%s|%s|%.2f", r->n, r->sinks, r->updates, cells,
                     answer_name(b, r->chosen, text), regret(b, r));
    }
    gv_table_print(&table, stdout);
    gv_table_free(&table);
    const several_result *worst = worst_of(b);
    printf("\nLargest regret (time of the choice over that of the best): %.2f, at n = %zu with %zu sinks.\n",
           regret(b, worst), worst->n, worst->sinks);
    printf(b->share ? "Least times of a block: bodies to the other devices, forces, and back.\n"
                    : "Median times of a round: updates, prediction of all sources, forces on the sinks.  The host is\n"
                      "left out above 1e9 pairs.\n");
}

/* ----------------------------------------------------------------- command */

static int write_results(const void *bench)
{
    const several_bench *const b = bench;
    int table;
    const int code = gv_cli_write_results(BENCH, all_json(b), b->opts->out, b->opts->json, &table);
    if (table)
        print_table(b);
    return code;
}

static gravel_status run_size(void *bench, size_t n)
{
    several_bench *b = bench;
    gv_size_list sinks = b->opts->sinks, updates = b->opts->updates;
    if (sinks.n == 0)
        sinks = (gv_size_list){4, {1, 16, 256, 4096}};
    if (updates.n == 0)
        updates = (gv_size_list){1, {1}};
    close_size(b);
    gravel_status status = open_size(b, n);
    for (int i = 0; i < sinks.n && !status; i++)
        for (int u = 0; u < updates.n && !status && b->results < MOST_RESULTS; u++)
            status = run_one(b, sinks.value[i], updates.value[u]);
    return status;
}

static int check_effect(const several_options *o)
{
    const gv_no_effect rules[] = {
        {o->blocks, "updates",
         "is for calls from host arrays; before a block of --blocks all bodies that moved are sent"},
        {o->blocks, "calls", "is for calls from host arrays; kept times of blocks are not corrected"},
        {.options = NULL}};
    return gv_options_check_effect(BENCH, &gv_cmd_bench_several, o, rules);
}

static int run(const void *values, const gv_operands *operands)
{
    several_bench b = {.opts = values};
    (void)operands;
    if (check_effect(values) != 0)
        return GV_EXIT_USAGE;
    b.result = calloc(MOST_RESULTS, sizeof *b.result);
    if (!b.result)
        return gv_cli_fail(BENCH, gv_fail(GRAVEL_ERR_MEMORY, "out of memory"));
    gv_signals_catch(0.7, BENCH ": stopped\n");
    const gravel_status status = gv_cli_bench_sizes(&b.opts->n, (gv_size_list){3, {1024, 16384, 131072}}, run_size, &b);
    const int code = gv_cli_end_bench(BENCH, status, b.several ? b.results : 0, write_results, &b);
    close_size(&b);
    free(b.result);
    return code;
}

static const gv_opt opts_table[] = {
    GV_OPT_DEVICES(several_options),
    GV_OPT_SIZES_OF_N(several_options, "how many sources (default 1024,16384,131072)"),
    {.name = "sinks",
     .kind = GV_OPT_SIZES,
     .offset = offsetof(several_options, sinks),
     .value = "LIST",
     .help = "how many of them get forces (default 1,16,256,4096)",
     .low = 1,
     .high = INFINITY},
    {.name = "updates",
     .kind = GV_OPT_SIZES,
     .offset = offsetof(several_options, updates),
     .value = "LIST",
     .help = "sources that change before a call (default 1)",
     .low = 1,
     .high = INFINITY},
    {.name = "calls",
     .kind = GV_OPT_SIZE,
     .offset = offsetof(several_options, calls),
     .value = "K",
     .help = "calls before each size is timed; kept times are corrected meanwhile",
     .fallback = "0",
     .high = 1e9},
    {.name = "blocks",
     .kind = GV_OPT_FLAG,
     .offset = offsetof(several_options, blocks),
     .help = "blocks of an integrator, as gravel run --devices shares them"},
    {.name = "order",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(several_options, order),
     .value = "2|4|6",
     .help = "of the forces",
     .fallback = "4"},
    GV_OPT_PRECISION(several_options, "of the forces", "ds"),
    {.name = "eps",
     .kind = GV_OPT_REAL,
     .offset = offsetof(several_options, eps),
     .value = "E",
     .help = "softening length",
     .fallback = "0.01",
     .high = INFINITY},
    {.name = "seed",
     .letter = 's',
     .kind = GV_OPT_SEED,
     .offset = offsetof(several_options, seed),
     .value = "S",
     .help = "of the bodies",
     .fallback = "1"},
    {.name = "output",
     .letter = 'o',
     .kind = GV_OPT_OUT,
     .offset = offsetof(several_options, out),
     .value = "FILE",
     .help = "write the JSON to this file, beside the table"},
    GV_OPT_JSON(several_options),
    GV_OPT_VERBOSE(several_options),
    {.name = NULL},
};

const gv_command gv_cmd_bench_several = {
    .name = "several",
    .summary = "block steps on several devices, and whom the library chooses",
    .synopsis = "[--devices LIST] [-n LIST] [--sinks LIST] [options]",
    .about = "Whole rounds by the host's clock: a few sources change, all are predicted, some get forces.  Each is\n"
             "answered by the host, by the fastest 1, 2, 4 ... devices of the list and by all; the table says which\n"
             "of them the library would choose, and how much slower that is than the best.  With --blocks the bodies\n"
             "are on the first device, as in gravel run --devices, and the host answers nothing.",
    .opts = opts_table,
    .examples = "gravel bench several --devices all\n"
                "gravel bench several --devices cpu:1,cpu:1 -n 1k,16k --sinks 1,64,1024 --json\n",
    .size = sizeof(several_options),
    .given = offsetof(several_options, given),
    .run = run,
};
