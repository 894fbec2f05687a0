/* gravel bench tasks: pairs of leaves on a regular grid, as Wang et al. 2021 (PhotoNs-GPU) measure theirs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench_grid.h"
#include "cli/cli.h"
#include "cpu_ref/ref.h"
#include "gravel/tasks.h"
#include "host/base/clock.h"
#include "tuner/timing.h"

#define BENCH "gravel bench tasks"

/* Operations of a pair as that paper counts them, and its kernel's speed and the peak of its two cards, in 1e12/s. */
#define PAPER_OPERATIONS 51
#define PAPER_SPEED 16.134
#define PAPER_PEAK 32.7

typedef struct tasks_options {
    const char *device, *out, *configurations;
    int json, no_fp64, verbose, repeats, potential;
    int precision, shape; /* places in the choices */
    int reach;
    gv_size_list leaf;
    size_t n;
    uint64_t seed;
} tasks_options;

enum { NEWTON, SPLINE, SHORT };
static const char *const shape_name[] = {"newton", "spline", "short"};

typedef struct tasks_result {
    size_t per_leaf;
    gravel_tasks_counts counts;
    gv_timing timing;
    char configuration[200];
    gravel_origin origin;
    int smallest;
    double pairs_per_s, slots, error;
} tasks_result;

enum { MOST_RESULTS = 512, SAMPLE = 48 };

typedef struct tasks_bench {
    const tasks_options *opts;
    gravel_context *context;
    gravel_device_info device;
    gravel_device_facts facts;
    gravel_bodies *bodies;
    gravel_tasks *tasks;
    gravel_tasks_call call;
    tasks_result result[MOST_RESULTS];
    int results;
} tasks_bench;

/* ------------------------------------------------------------------ errors */

static double factor_of_force(double u, void *user)
{
    (void)user;
    return erfc(u) + 2 / sqrt(acos(-1.0)) * u * exp(-u * u);
}

static double factor_of_potential(double u, void *user)
{
    (void)user;
    return erfc(u);
}

static double whole(double u, void *user)
{
    (void)u, (void)user;
    return 1;
}

/* The exact accelerations of one body of each of some leaves, and the largest error relative to the sum of what pairs
 * contribute.  Softening is Plummer's here: that of a spline differs within its support. */
static gravel_status find_error(const tasks_bench *b, const gv_leaf_grid *g, double *error)
{
    const double r_s = b->call.r_s, zero = 0;
    const gv_ref_law law = {.kind = GV_REF_LAW_FACTORS,
                            .length = r_s > 0 ? 2 * r_s : 1,
                            .cut = r_s > 0 ? b->call.r_cut / (2 * r_s) : 1e30,
                            .force = r_s > 0 ? factor_of_force : whole,
                            .potential = r_s > 0 ? factor_of_potential : whole};
    const size_t n = g->per_leaf, room = g->around * n;
    double *x = malloc((4 * room + 3 * g->bodies) * sizeof *x), *got = x + 4 * room;
    const gravel_array_out acc = GRAVEL_ARRAY_OUT_SOA(got, got + g->bodies, got + 2 * g->bodies);
    gravel_status status = x ? gravel_bodies_read(b->bodies, GRAVEL_ACCELERATION, 0, g->bodies, &acc)
                             : gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu forces", g->bodies);
    *error = 0;
    for (size_t sample = 0; sample < SAMPLE && sample < g->leaves && !status; sample++) {
        const size_t leaf = sample * (g->leaves / SAMPLE ? g->leaves / SAMPLE : 1), at = leaf * n + sample % n;
        size_t sources = 0;
        for (size_t t = leaf * g->around; t < (leaf + 1) * g->around; t++)
            for (size_t k = 0; k < n; k++) {
                const size_t j = g->task[t].sources * n + k;
                if (j == at && g->shift_of[t] == 0)
                    continue;
                for (size_t a = 0; a < 3; a++)
                    x[a * room + sources] = g->x[a][j] + g->shift[g->shift_of[t]][a];
                x[3 * room + sources++] = g->m[j];
            }
        const gv_ref_particles from = {.n = sources, .m = x + 3 * room, .x = x, .y = x + room, .z = x + 2 * room};
        const gv_ref_particles to = {.n = 1, .m = &zero, .x = &g->x[0][at], .y = &g->x[1][at], .z = &g->x[2][at]};
        double f[3], scale;
        const gv_ref_forces out = {.ax = &f[0], .ay = &f[1], .az = &f[2], .acc_scale = &scale};
        gv_ref_by_law(&law, &to, &from, b->call.eps, &out);
        const double dx = got[at] - f[0], dy = got[g->bodies + at] - f[1], dz = got[2 * g->bodies + at] - f[2];
        *error = fmax(*error, sqrt(dx * dx + dy * dy + dz * dz) / scale);
    }
    free(x);
    return status;
}

/* -------------------------------------------------------------------- runs */

static int value_of(const char *configuration, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, "%s=", name);
    const char *at = strstr(configuration, key);
    return at ? atoi(at + strlen(key)) : 0;
}

/* Fewest instructions of a pair (doc/tasks.md counts them); 0: not known. */
static int fewest(const tasks_bench *b, const char *configuration)
{
    static const int table[5] = {24, 27, 30, 32, 36};
    const int dp = b->opts->precision == GRAVEL_DP;
    const int form = value_of(configuration, "form"), level = value_of(configuration, "level");
    int slots = 13;
    if (b->opts->shape == SPLINE)
        slots = 14;
    else if (b->opts->shape == SHORT)
        slots = form == 2 ? table[level] : form == 1 ? 28 : 0;
    if (slots == 0)
        return 0;
    slots += b->opts->potential + (b->opts->precision == GRAVEL_DS ? 6 : 0) + (dp ? 4 : 0);
    /* potentials of tables have a series of their own */
    if (b->opts->shape == SHORT && form == 2 && b->opts->potential)
        slots += 2 + level;
    return slots + (dp && b->opts->shape == SHORT && form == 1 ? 3 + 11 + 15 : 0);
}

static gravel_status run_once(void *user, double *device_s, double *call_s)
{
    tasks_bench *b = user;
    gravel_ticket *ticket;
    const double start = gv_now();
    gravel_status status = gravel_tasks_start(b->tasks, &b->call, &ticket);
    if (status)
        return status;
    status = gravel_ticket_wait(ticket);
    *call_s = gv_now() - start;
    gravel_ticket_release(ticket);
    return status ? status : gravel_tasks_get_kernel_time(b->tasks, device_s);
}

static gravel_status measure(tasks_bench *b, const gv_leaf_grid *g, const char *configuration)
{
    gravel_tasks_options options = GRAVEL_TASKS_OPTIONS_INIT;
    gravel_task_list list = GRAVEL_TASK_LIST_INIT;
    gv_timing_rule rule = GV_TIMING_RULE_INIT;
    tasks_result *r = &b->result[b->results];
    if (b->opts->repeats > 0)
        rule.least = rule.most = b->opts->repeats;
    options.precision = (gravel_precision)b->opts->precision;
    options.configuration = configuration;
    list.leaf = g->leaf, list.leaves = g->leaves, list.task = g->task, list.tasks = g->tasks;
    list.shift_of = g->shift_of, list.shift = g->shift, list.shifts = 27;
    gravel_status status = gravel_tasks_create(&b->tasks, b->context, &options);
    if (!status)
        status = gravel_tasks_write(b->tasks, &list);
    if (!status)
        status = gravel_tasks_get_configuration(b->tasks, r->configuration, sizeof r->configuration, &r->origin);
    if (!status)
        status = gravel_tasks_get_counts(b->tasks, &r->counts);
    if (!status)
        status = gv_timing_run(&rule, run_once, b, &r->timing);
    if (!status)
        status = b->opts->shape == SPLINE ? GRAVEL_OK : find_error(b, g, &r->error);
    gravel_tasks_release(b->tasks);
    b->tasks = NULL;
    if (status)
        return status;
    r->per_leaf = g->per_leaf;
    r->pairs_per_s = r->counts.pairs / r->timing.device.median;
    r->slots = (b->opts->precision == GRAVEL_DP ? b->facts.fma_dp : b->facts.fma_sp) / r->pairs_per_s;
    r->smallest = fewest(b, r->configuration);
    if (b->opts->shape == SPLINE)
        r->error = (double)NAN;
    b->results++;
    return GRAVEL_OK;
}

/* Configurations are separated by semicolons; one that cannot run on this device is left out, and said so. */
static gravel_status run_configurations(tasks_bench *b, const gv_leaf_grid *g)
{
    char *text = b->opts->configurations ? strdup(b->opts->configurations) : NULL, *rest = text;
    gravel_status status = GRAVEL_OK;
    do {
        char *end = rest ? strchr(rest, ';') : NULL;
        if (end)
            *end = '\0';
        status = b->results < MOST_RESULTS ? measure(b, g, rest) : GRAVEL_OK;
        if (status && text && strcmp(text, b->opts->configurations) != 0) {
            gv_say(BENCH, "%s: %s", rest, gravel_error_message());
            status = GRAVEL_OK;
        }
        if (!status && gv_signals_pending())
            status = gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
        rest = end ? end + 1 : NULL;
    } while (rest && !status);
    free(text);
    return status;
}

static gravel_status run_leaf(void *bench, size_t per_leaf)
{
    tasks_bench *b = bench;
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    gv_leaf_grid g;
    const int is_gpu = b->device.type != GRAVEL_DEVICE_CPU;
    const size_t n = b->opts->n > 0 ? b->opts->n : is_gpu ? (size_t)1 << 20 : (size_t)1 << 13;
    gravel_status status = gv_leaf_grid_make(&g, n, per_leaf, b->opts->reach, b->opts->seed);
    if (status)
        return status;
    options.precision = (gravel_precision)b->opts->precision;
    const gravel_array pos = GRAVEL_ARRAY_SOA(g.x[0], g.x[1], g.x[2]), m = GRAVEL_ARRAY(g.m);
    status = gravel_bodies_create(&b->bodies, b->context, &options);
    if (!status)
        status = gravel_bodies_write(b->bodies, GRAVEL_POSITION, 0, g.bodies, &pos);
    if (!status)
        status = gravel_bodies_write(b->bodies, GRAVEL_MASS, 0, g.bodies, &m);
    b->call = (gravel_tasks_call)GRAVEL_TASKS_CALL_INIT;
    b->call.bodies = b->bodies;
    b->call.softening = b->opts->shape == SPLINE ? GRAVEL_SPLINE : GRAVEL_PLUMMER;
    /* a thirtieth of the mean distance of bodies, as cosmological runs have it */
    b->call.eps = cbrt(1.0 / (double)per_leaf) / 30;
    b->call.r_cut = b->opts->shape == SHORT ? b->opts->reach : 0;
    b->call.r_s = b->call.r_cut / 6;
    b->call.potential = b->opts->potential;
    b->call.into = GRAVEL_INTO_PLANES;
    if (!status)
        status = run_configurations(b, &g);
    gravel_bodies_release(b->bodies);
    b->bodies = NULL;
    gv_leaf_grid_free(&g);
    return status;
}

/* ------------------------------------------------------------------ output */

static double speed_of(const tasks_result *r)
{
    return PAPER_OPERATIONS * r->pairs_per_s;
}

static double share_of(const tasks_bench *b, const tasks_result *r)
{
    return speed_of(r) / (2 * (b->opts->precision == GRAVEL_DP ? b->facts.fma_dp : b->facts.fma_sp));
}

static cJSON *all_json(const tasks_bench *b)
{
    cJSON *root = cJSON_CreateObject(), *list;
    gv_json_stamp(root);
    cJSON_AddStringToObject(root, "device", b->device.name);
    cJSON_AddStringToObject(root, "driver", b->device.driver);
    gv_json_number(root, "peak_lane_fma_per_s", b->opts->precision == GRAVEL_DP ? b->facts.fma_dp : b->facts.fma_sp);
    cJSON_AddNumberToObject(root, "operations_per_pair", PAPER_OPERATIONS);
    cJSON_AddNumberToObject(root, "paper_tflops", PAPER_SPEED);
    cJSON_AddNumberToObject(root, "paper_peak_tflops", PAPER_PEAK);
    list = cJSON_AddArrayToObject(root, "results");
    for (int k = 0; k < b->results; k++) {
        const tasks_result *r = &b->result[k];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "precision", gravel_precision_name((gravel_precision)b->opts->precision));
        cJSON_AddStringToObject(item, "shape", shape_name[b->opts->shape]);
        cJSON_AddBoolToObject(item, "potential", b->opts->potential);
        cJSON_AddNumberToObject(item, "bodies_per_leaf", (double)r->per_leaf);
        cJSON_AddNumberToObject(item, "leaves", (double)r->counts.leaves);
        cJSON_AddNumberToObject(item, "tasks", (double)r->counts.tasks);
        cJSON_AddNumberToObject(item, "pairs", r->counts.pairs);
        gv_json_number(item, "computed_per_pair", r->counts.slots / r->counts.pairs);
        cJSON_AddStringToObject(item, "configuration", r->configuration);
        cJSON_AddStringToObject(item, "origin", gravel_origin_name(r->origin));
        gv_json_number(item, "kernel_s_median", r->timing.device.median);
        gv_json_number(item, "kernel_s_min", r->timing.device.least);
        gv_json_number(item, "call_s_median", r->timing.call.median);
        cJSON_AddNumberToObject(item, "samples", r->timing.samples);
        gv_json_number(item, "pairs_per_s", r->pairs_per_s);
        gv_json_number(item, "slots_per_pair", r->slots);
        gv_json_number(item, "slots_smallest", r->smallest > 0 ? r->smallest : (double)NAN);
        gv_json_number(item, "tflops", 1e-12 * speed_of(r));
        gv_json_number(item, "share_of_peak", share_of(b, r));
        gv_json_number(item, "err_acc_max", r->error);
        cJSON_AddItemToArray(list, item);
    }
    return root;
}

static void print_table(const tasks_bench *b)
{
    const tasks_options *o = b->opts;
    gv_table table;
    gv_print("%s, %s, %s%s, neighbours to %d leaves; peak %.4g G lane-FMA/s\n\n", b->device.name,
             gravel_precision_name((gravel_precision)o->precision), shape_name[o->shape],
             o->potential ? " with potentials" : "", o->reach,
             1e-9 * (o->precision == GRAVEL_DP ? b->facts.fma_dp : b->facts.fma_sp));
    gv_table_start(&table, "bodies a leaf|G pairs|kernel ms|G pairs/s|slots a pair|fewest|ratio|Tflop/s|of peak|error|"
                           "configuration");
    for (int k = 0; k < b->results; k++) {
        const tasks_result *r = &b->result[k];
        char ratio[16] = "-";
        if (r->smallest > 0)
            snprintf(ratio, sizeof ratio, "%.2f", r->slots / r->smallest);
        gv_table_row(&table, "%zu|%.3g|%.3f|%.4g|%.1f|%d|%s|%.2f|%.0f %%|%.1e|%s", r->per_leaf, 1e-9 * r->counts.pairs,
                     1e3 * r->timing.device.median, 1e-9 * r->pairs_per_s, r->slots, r->smallest, ratio,
                     1e-12 * speed_of(r), 100 * share_of(b, r), r->error, r->configuration);
    }
    gv_table_print(&table, stdout);
    gv_table_free(&table);
    printf("\nTflop/s: %d operations a pair, as PhotoNs-GPU counts them; it reports %.1f of %.1f (49 %%).\n",
           PAPER_OPERATIONS, PAPER_SPEED, PAPER_PEAK);
}

/* ----------------------------------------------------------------- command */

static int write_results(const void *bench)
{
    const tasks_bench *const b = bench;
    int table;
    const int code = gv_cli_write_results(BENCH, all_json(b), b->opts->out, b->opts->json, &table);
    if (table)
        print_table(b);
    return code;
}

static int run(const void *values, const gv_operands *operands)
{
    tasks_bench *b = calloc(1, sizeof *b);
    (void)operands;
    if (!b)
        return gv_cli_fail(BENCH, gv_fail(GRAVEL_ERR_MEMORY, "out of memory"));
    gv_signals_catch(0.7, BENCH ": stopped\n");
    b->opts = values;
    gravel_status status = gv_cli_context(&b->context, b->opts->device, b->opts->no_fp64, b->opts->verbose);
    if (!status)
        status = gravel_context_measure(b->context, 0, 1, &b->facts);
    if (!status) {
        b->device = *gravel_context_get_device(b->context, 0);
        status = gravel_context_set_timing(b->context, 0, 1);
    }
    if (!status)
        status = gv_cli_bench_sizes(&b->opts->leaf, (gv_size_list){3, {32, 64, 128}}, run_leaf, b);
    const int code = gv_cli_end_bench(BENCH, status, b->results, write_results, b);
    gravel_context_release(b->context);
    free(b);
    return code;
}

static const gv_opt opts_table[] = {
    {.name = "n",
     .letter = 'n',
     .kind = GV_OPT_SIZE,
     .offset = offsetof(tasks_options, n),
     .value = "N",
     .help = "about so many bodies (default: 1M on GPUs, 8k on CPUs)",
     .low = 1,
     .high = 1 << 28},
    {.name = "leaf",
     .kind = GV_OPT_SIZES,
     .offset = offsetof(tasks_options, leaf),
     .value = "LIST",
     .help = "bodies in a leaf (default 32,64,128)",
     .low = 1,
     .high = 1 << 20},
    {.name = "reach",
     .kind = GV_OPT_INT,
     .offset = offsetof(tasks_options, reach),
     .value = "R",
     .help = "neighbours: (2R + 1)^3 leaves; the cut of the short range",
     .fallback = "2",
     .low = 1,
     .high = 8},
    GV_OPT_PRECISION(tasks_options, "of pairs and sums", "sp"),
    {.name = "shape",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(tasks_options, shape),
     .value = "newton|spline|short",
     .help = "Newton's with Plummer's softening, with a spline's, or its\nshort range, which ends at 6 r_s",
     .fallback = "short"},
    {.name = "potential", .kind = GV_OPT_FLAG, .offset = offsetof(tasks_options, potential), .help = "potentials too"},
    {.name = "configuration",
     .kind = GV_OPT_TEXT,
     .offset = offsetof(tasks_options, configurations),
     .value = "TEXT",
     .help = "tunables as \"threads=128 form=2\"; several of these, separated\nby ;, are measured in turn"},
    GV_OPT_REPEATS(tasks_options),
    GV_OPT_BENCH(tasks_options),
    {.name = NULL},
};

const gv_command gv_cmd_bench_tasks = {
    .name = "tasks",
    .summary = "pairs of leaves from a list of tasks",
    .synopsis = "[-n N] [--leaf LIST] [--precision NAME] [--shape NAME] [options]",
    .about =
        "A periodic grid of leaves with as many bodies each; every leaf is pulled by those around it.  The time is\n"
        "that of the device.  Fewest: the instructions that a pair takes at least.  Error: of the accelerations of\n"
        "48 bodies, relative to the sum of what their pairs contribute.",
    .opts = opts_table,
    .examples = "gravel bench tasks\n"
                "gravel bench tasks --leaf 64 --shape short --configuration \"form=1;form=2 level=2\"\n"
                "gravel bench tasks --precision dp --json\n",
    .size = sizeof(tasks_options),
    .run = run,
};
