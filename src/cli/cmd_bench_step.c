/* gravel bench step: whole time-steps of a solver on bodies that live on the device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench_step.h"
#include "gravel/tree.h"
#include "sim/ic.h"

#define BENCH "gravel bench step"

enum { DIRECT, TREE };
enum { MOST_RESULTS = GV_MAX_LIST * (GV_MAX_LIST + 1) };

typedef struct step_options {
    const char *device, *out, *variant, *configuration;
    int json, no_fp64, verbose, solver, host, precision, bodies;
    double eps, theta, dt;
    gv_size_list n, active;
    uint64_t seed;
    unsigned char given[GV_MAX_OPTIONS];
} step_options;

typedef struct step_bench {
    const step_options *opts;
    gravel_context *context;
    gv_step_result result[MOST_RESULTS];
    int results;
} step_bench;

static const char *const mode_name[] = {"block", "leapfrog", "host", "active"};

static gravel_status run_one(step_bench *b, const gv_particles *p, gv_step_mode mode, size_t active)
{
    const step_options *o = b->opts;
    const gv_timing_rule rule = {5, 20, GV_TIMING_MOST, 0.02, 5.0, 0, 1e30, NULL, 0};
    const gv_step_setting setting = {b->context,
                                     p,
                                     mode,
                                     active < p->count ? active : p->count,
                                     o->variant,
                                     o->theta,
                                     o->dt,
                                     (gravel_precision)o->bodies,
                                     (gravel_precision)o->precision,
                                     o->configuration,
                                     o->eps,
                                     rule};
    gravel_status status = mode == GV_STEP_BLOCK ? gv_bench_step_direct(&setting, &b->result[b->results])
                                                 : gv_bench_step_tree(&setting, &b->result[b->results]);
    b->results += !status;
    return status;
}

/* direct: block steps of these numbers of active bodies.  tree: whole steps, unless --active is given. */
static gravel_status run_size(void *bench, size_t n)
{
    step_bench *b = bench;
    const step_options *o = b->opts;
    gv_size_list active = o->active;
    gv_particles p = GV_PARTICLES_INIT;
    gravel_status status = gv_ic_plummer(n, o->seed, NULL, &p);
    if (o->solver == DIRECT && active.n == 0)
        active = (gv_size_list){4, {1, 64, 1024, SIZE_MAX}};
    if (!status && o->solver == TREE && (o->host || active.n == 0))
        status = run_one(b, &p, o->host ? GV_STEP_HOST : GV_STEP_LEAPFROG, n);
    for (int a = 0; a < active.n && !status; a++)
        status = run_one(b, &p, o->solver == DIRECT ? GV_STEP_BLOCK : GV_STEP_ACTIVE, active.value[a]);
    gv_particles_free(&p);
    return status;
}

/* ------------------------------------------------------------------ output */

static cJSON *all_json(const step_bench *b)
{
    static const char *const precision[] = {"sp", "ds", "dp"};
    const step_options *o = b->opts;
    const gravel_device_info *info = gravel_context_get_device(b->context, 0);
    cJSON *root = cJSON_CreateObject(), *list;
    gv_json_stamp(root);
    list = cJSON_AddArrayToObject(root, "results");
    for (int k = 0; k < b->results; k++) {
        const gv_step_result *r = &b->result[k];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "device", info->name);
        cJSON_AddStringToObject(item, "driver", info->driver);
        cJSON_AddStringToObject(item, "solver", o->solver == DIRECT ? "direct" : "tree");
        cJSON_AddStringToObject(item, "mode", mode_name[r->mode]);
        cJSON_AddNumberToObject(item, "n", (double)r->n);
        cJSON_AddNumberToObject(item, "active", (double)r->active);
        if (o->solver == DIRECT) {
            cJSON_AddStringToObject(item, "variant", o->variant);
        } else {
            cJSON_AddNumberToObject(item, "theta", o->theta);
            cJSON_AddStringToObject(item, "precision", precision[o->precision]);
            cJSON_AddStringToObject(item, "bodies", precision[o->bodies]);
            gv_json_number(item, "walk_s_median", r->walk_s);
        }
        gv_json_number(item, "step_s_median", r->step_s);
        gv_json_number(item, "step_s_min", r->step_least_s);
        gv_json_number(item, "call_s_median", r->call_s);
        gv_json_number(item, "device_s_median", r->device_s);
        cJSON_AddNumberToObject(item, "samples", r->samples);
        cJSON_AddStringToObject(item, "configuration", r->configuration);
        cJSON_AddItemToArray(list, item);
    }
    return root;
}

static const char *const legend[] = {
    "step: update of the active bodies, prediction of all, forces and nearest neighbours on the active ones,\n"
    "results to the host; call: of it the forces; device: kernels of the forces.\n",
    "leapfrog: kick, drift, tree and walk on the device, eight steps submitted at once; host: positions from host\n"
    "arrays, forces into host arrays; active: forces on some bodies, addresses from and results to the host.\n"
    "call: one step and its wait; device: force stages (for active bodies groups and walk).\n"};

static void print_table(const step_bench *b)
{
    const step_options *o = b->opts;
    gv_table table;
    gv_print("%s; Plummer sphere, eps %g, ", gravel_context_get_device(b->context, 0)->name, o->eps);
    if (o->solver == DIRECT)
        gv_print("%s\n\n", o->variant);
    else
        printf("theta %g\n%s\n\n", o->theta, b->result[0].configuration);
    gv_table_start(&table, "mode|n|active|step us|least us|call us|device us|walk us|step / device");
    for (int k = 0; k < b->results; k++) {
        const gv_step_result *r = &b->result[k];
        gv_table_row(&table, "%s|%zu|%zu|%.1f|%.1f|%.1f|%.1f|%.1f|%.2f", mode_name[r->mode], r->n, r->active,
                     1e6 * r->step_s, 1e6 * r->step_least_s, 1e6 * r->call_s, 1e6 * r->device_s, 1e6 * r->walk_s,
                     r->step_s / r->device_s);
    }
    gv_table_print(&table, stdout);
    gv_table_free(&table);
    printf("\n%s", legend[o->solver]);
}

static int write_results(const void *bench)
{
    const step_bench *const b = bench;
    int table;
    const int code = gv_cli_write_results(BENCH, all_json(b), b->opts->out, b->opts->json, &table);
    if (table)
        print_table(b);
    return code;
}

/* ----------------------------------------------------------------- command */

static int check_effect(const step_options *o)
{
    const gv_no_effect rules[] = {
        {o->solver == TREE, "variant", "is for --solver direct; the tree has --precision"},
        {o->solver == DIRECT, "host theta dt precision bodies configuration",
         "is for --solver tree; --solver direct (the default) has --variant"},
        {o->host || o->active.n > 0, "dt bodies",
         "is for steps of the leapfrog; with --host or --active forces alone are found, from host arrays"},
        {.options = NULL}};
    return gv_options_check_effect(BENCH, &gv_cmd_bench_step, o, rules);
}

static int run(const void *values, const gv_operands *operands)
{
    const step_options *opts = values;
    (void)operands;
    if (check_effect(opts) != 0)
        return GV_EXIT_USAGE;
    step_bench *b = calloc(1, sizeof *b);
    if (!b)
        return gv_cli_fail(BENCH, gv_fail(GRAVEL_ERR_MEMORY, "out of memory"));
    gv_signals_catch(0.7, "gravel bench: stopped\n");
    b->opts = opts;
    gravel_status status = gv_cli_context(&b->context, opts->device, opts->no_fp64, opts->verbose);
    if (!status)
        status = gv_cli_bench_sizes(
            &opts->n, opts->solver == DIRECT ? (gv_size_list){1, {131072}} : (gv_size_list){2, {131072, 1048576}},
            run_size, b);
    const int code = gv_cli_end_bench(BENCH, status, b->results, write_results, b);
    gravel_context_release(b->context);
    free(b);
    return code;
}

#define REAL(member, word, text, usual, least, most)                                                                   \
    {                                                                                                                  \
        .name = #member, .kind = GV_OPT_REAL, .offset = offsetof(step_options, member), .value = word, .help = text,   \
        .fallback = usual, .low = least, .high = most                                                                  \
    }

static const gv_opt opts_table[] = {
    {.name = "solver",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(step_options, solver),
     .value = "direct|tree",
     .help = "direct: block steps; tree: leapfrog steps",
     .fallback = "direct"},
    GV_OPT_SIZES_OF_N(step_options, "how many bodies (default 128k; tree: and 1M)"),
    {.name = "active",
     .letter = 'a',
     .kind = GV_OPT_SIZES,
     .offset = offsetof(step_options, active),
     .value = "LIST",
     .help = "direct: bodies of a step (default 1,64,1024 and all);\ntree: forces on so many, not steps",
     .low = 1,
     .high = INFINITY},
    {.name = "host",
     .kind = GV_OPT_FLAG,
     .offset = offsetof(step_options, host),
     .help = "tree: positions from and forces into host arrays, not steps"},
    {.name = "variant",
     .kind = GV_OPT_TEXT,
     .offset = offsetof(step_options, variant),
     .value = "NAME",
     .help = "direct: sp4, ds4, dp4, sp6, ds6 or dp6",
     .fallback = "ds4"},
    REAL(theta, "T", "tree: opening angle", "0.5", GRAVEL_TREE_THETA_MIN, GRAVEL_TREE_THETA_MAX),
    REAL(eps, "LENGTH", "softening length", "0.01", 0, INFINITY),
    REAL(dt, "T", "tree: length of a step", "0.001", 0, INFINITY),
    GV_OPT_PRECISION(step_options, "tree: of the forces", "sp"),
    {.name = "bodies",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(step_options, bodies),
     .value = "sp|ds|dp",
     .help = "tree: precision of what is stored",
     .fallback = "sp"},
    {.name = "configuration",
     .kind = GV_OPT_TEXT,
     .offset = offsetof(step_options, configuration),
     .value = "TEXT",
     .help = "tree: tunables as \"n_leaf=16 n_group=32\", not the tuned ones"},
    GV_OPT_BENCH(step_options),
    {.name = NULL},
};

const gv_command gv_cmd_bench_step = {
    .name = "step",
    .summary = "whole time-steps on bodies that live on the device",
    .synopsis = "[--solver direct|tree] [-n LIST] [--active LIST] [options]",
    .about = "Steps by the host's clock, beside the device time of their forces.\n"
             "direct: the active bodies get new positions, velocities, accelerations, jerks and times, all are\n"
             "predicted, forces and nearest neighbours of the active ones come back.\n"
             "tree: kick, drift, tree and walk without a host array; or with --host from and to host arrays, or with\n"
             "--active forces on some bodies of a tree that is there.",
    .opts = opts_table,
    .examples = "gravel bench step -n 128k --active 1,64,1024\n"
                "gravel bench step --variant dp6 -n 16k --json\n"
                "gravel bench step --solver tree -n 1M,4M\n"
                "gravel bench step --solver tree -n 4M --active 1,1k,41943,419430\n"
                "gravel bench step --solver tree -n 1M --host --json\n",
    .size = sizeof(step_options),
    .given = offsetof(step_options, given),
    .run = run,
};
