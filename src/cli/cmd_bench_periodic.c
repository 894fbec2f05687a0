/* gravel bench periodic: steps of mesh and tree in a periodic box, part by part, with errors against Ewald's sums. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench_periodic.h"
#include "cli/box_model.h"
#include "sim/snapshot.h"

#define BENCH "gravel bench periodic"
#define SIDE 100.0 /* of the box of a model */

enum { MOST_RESULTS = GV_MAX_LIST };

typedef struct periodic_options {
    const char *device, *out, *configuration, *input;
    int json, no_fp64, verbose, model, precision, bodies, cells, assignment, gradient, interlaced, softening, fft;
    int mac, repeats;
    double split, cut, theta, eps, moved;
    size_t sample;
    gv_size_list n;
    uint64_t seed;
    unsigned char given[GV_MAX_OPTIONS];
} periodic_options;

typedef struct periodic_bench {
    const periodic_options *opts;
    gravel_context *context;
    gv_periodic_setting setting[MOST_RESULTS];
    gv_periodic_result result[MOST_RESULTS];
    size_t bodies[MOST_RESULTS];
    double redshift; /* of a snapshot */
    int results;
} periodic_bench;

static const char *const model_name[] = {"grid", "clumps", "random"};

/* -------------------------------------------------------------------- runs */

static double across(size_t bodies)
{
    return cbrt((double)bodies);
}

static gv_periodic_setting setting_of(const periodic_bench *b, size_t bodies, double side)
{
    const periodic_options *o = b->opts;
    const gravel_mesh_options mesh = GRAVEL_MESH_OPTIONS_INIT;
    const gravel_tree_options tree = GRAVEL_TREE_OPTIONS_INIT;
    gv_periodic_setting s = {b->context, mesh, tree, (gravel_precision)o->bodies, 0, o->repeats, o->sample};
    s.mesh.side = s.tree.period = side;
    s.mesh.cells = o->cells > 0 ? o->cells : 2 * (int)lround(across(bodies));
    s.mesh.assignment = (gravel_assignment)(o->assignment + 1);
    s.mesh.gradient = (gravel_gradient)o->gradient;
    s.mesh.interlaced = o->interlaced;
    s.mesh.fft = (gravel_fft)o->fft;
    s.mesh.precision = o->precision == GRAVEL_DP ? GRAVEL_DP : GRAVEL_SP;
    s.mesh.split = s.tree.split = o->split * side / s.mesh.cells;
    s.tree.cut = o->cut * s.tree.split;
    s.tree.theta = o->theta;
    s.tree.mac = (gravel_tree_mac)o->mac;
    s.tree.precision = (gravel_precision)o->precision;
    s.tree.softening = (gravel_softening)o->softening;
    s.tree.configuration = o->configuration;
    s.eps = o->eps * side / across(bodies);
    return s;
}

static gravel_status run_bodies(periodic_bench *b, gravel_status status, gv_particles *p, double side)
{
    const int at = b->results;
    if (!status) {
        b->bodies[at] = p->count;
        b->setting[at] = setting_of(b, p->count, side);
        status = gv_bench_periodic(&b->setting[at], p, &b->result[at]);
    }
    gv_particles_free(p);
    b->results += !status;
    return status;
}

static gravel_status run_size(void *bench, size_t n)
{
    periodic_bench *b = bench;
    const gv_box_model model = {b->opts->model, (int)n, SIDE, b->opts->moved, b->opts->seed};
    gv_particles p = GV_PARTICLES_INIT;
    const gravel_status status = gv_box_make(&model, &p);
    return run_bodies(b, status, &p, SIDE);
}

/* The bodies of a run; in units of their mass, so that forces are within the range of a float as the models' are. */
static gravel_status run_snapshot(periodic_bench *b, const char *path)
{
    gv_particles p = GV_PARTICLES_INIT;
    gv_read_options reading = GV_READ_OPTIONS_INIT;
    double mass = 0;
    reading.comoving = 1;
    gravel_status status = gv_snapshot_read(&p, path, &reading);
    if (!status && !(p.box.side > 0))
        status = gv_fail(GRAVEL_ERR_INPUT, "%s: no box in it: its Header needs BoxSize and Omega0 above 0", path);
    for (size_t k = 0; !status && k < p.count; k++)
        mass += p.m[k];
    if (!status && !(mass > 0))
        status = gv_fail(GRAVEL_ERR_INPUT, "%s: bodies without mass", path);
    if (!status) {
        gv_particles_scale_masses(&p, 1 / mass);
        b->redshift = 1 / p.time - 1;
    }
    return run_bodies(b, status, &p, p.box.side);
}

/* ------------------------------------------------------------------ output */

static const char *model_of(const periodic_bench *b)
{
    return b->opts->input ? "snapshot" : model_name[b->opts->model];
}

static void put_errors(cJSON *item, const char *name, const double error[3])
{
    cJSON *list = cJSON_AddObjectToObject(item, name);
    gv_json_number(list, "p50", error[0]);
    gv_json_number(list, "p99", error[1]);
    gv_json_number(list, "max", error[2]);
}

static cJSON *result_json(const periodic_bench *b, int k)
{
    const gravel_device_info *info = gravel_context_get_device(b->context, 0);
    const gv_periodic_setting *s = &b->setting[k];
    const gv_periodic_result *r = &b->result[k];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "device", info->name);
    cJSON_AddStringToObject(item, "driver", info->driver);
    cJSON_AddStringToObject(item, "model", model_of(b));
    if (b->opts->input)
        gv_json_number(item, "redshift", b->redshift);
    else
        cJSON_AddNumberToObject(item, "moved", b->opts->moved);
    cJSON_AddNumberToObject(item, "n", (double)b->bodies[k]);
    cJSON_AddNumberToObject(item, "mesh", s->mesh.cells);
    cJSON_AddStringToObject(item, "assignment", gravel_assignment_name(s->mesh.assignment));
    cJSON_AddStringToObject(item, "gradient", gravel_gradient_name(s->mesh.gradient));
    cJSON_AddBoolToObject(item, "interlaced", s->mesh.interlaced);
    cJSON_AddStringToObject(item, "fft", gravel_fft_name(r->fft));
    cJSON_AddNumberToObject(item, "split_cells", b->opts->split);
    cJSON_AddNumberToObject(item, "cut_splits", b->opts->cut);
    cJSON_AddNumberToObject(item, "theta", s->tree.theta);
    cJSON_AddStringToObject(item, "mac", gravel_tree_mac_name(s->tree.mac));
    cJSON_AddNumberToObject(item, "eps_spacings", b->opts->eps);
    cJSON_AddStringToObject(item, "softening", s->tree.softening == GRAVEL_SPLINE ? "spline" : "plummer");
    cJSON_AddStringToObject(item, "precision", gravel_precision_name(s->tree.precision));
    cJSON_AddStringToObject(item, "bodies", gravel_precision_name(s->stored));
    cJSON_AddStringToObject(item, "configuration", r->configuration);
    gv_json_number(item, "step_s_min", r->step_s);
    gv_json_number(item, "step_cpu_s_min", info->type == GRAVEL_DEVICE_CPU ? r->cpu_s : (double)NAN);
    for (int stage = 0; stage < GV_PERIODIC_STAGES; stage++) {
        char name[32];
        snprintf(name, sizeof name, "%s_s", gv_periodic_stage[stage]);
        gv_json_number(item, name, r->stage[stage]);
    }
    gv_json_number(item, "far_cells_per_body", r->counts.far_cells);
    gv_json_number(item, "near_cells_per_body", r->counts.near_cells);
    gv_json_number(item, "bodies_per_body", r->counts.bodies);
    gv_json_number(item, "memory_bytes", r->memory);
    cJSON_AddNumberToObject(item, "err_sinks", (double)r->errors);
    if (r->errors > 0) {
        put_errors(item, "errors_over_acc", r->body);
        put_errors(item, "errors_over_rms_acc", r->rms);
    }
    gv_json_stamp(item);
    return item;
}

static cJSON *all_json(const periodic_bench *b)
{
    cJSON *list = cJSON_CreateArray();
    for (int k = 0; k < b->results; k++)
        cJSON_AddItemToArray(list, result_json(b, k));
    return list;
}

static void print_table(const periodic_bench *b)
{
    gv_table table;
    gv_print("%s; %s\n%s\n\n", gravel_context_get_device(b->context, 0)->name, model_of(b), b->result[0].configuration);
    gv_table_start(&table, "n|mesh|step ms|CPU ms|m. sort|assign|fft|green|interp.|keys|sort|build|moments|groups|walk|"
                           "far|near|bodies|50 %|99 %|rms 50 %|rms 99 %");
    for (int k = 0; k < b->results; k++) {
        const gv_periodic_result *r = &b->result[k];
        const double *s = r->stage;
        gv_table_row(
            &table,
            "%.0f^3|%d|%.2f|%.0f|%.2f|%.2f|%.2f|%.2f|%.2f|%.2f|%.2f|%.2f|%.2f|%.2f|%.2f|%.0f|%.0f|%.0f|%.1e|%.1e|"
            "%.1e|%.1e",
            across(b->bodies[k]), b->setting[k].mesh.cells, 1e3 * r->step_s, 1e3 * r->cpu_s, 1e3 * s[0], 1e3 * s[1],
            1e3 * s[2], 1e3 * s[3], 1e3 * s[4], 1e3 * s[5], 1e3 * s[6], 1e3 * s[7], 1e3 * s[8], 1e3 * s[9], 1e3 * s[10],
            r->counts.far_cells, r->counts.near_cells, r->counts.bodies, r->body[0], r->body[1], r->rms[0], r->rms[1]);
    }
    gv_table_print(&table, stdout);
    gv_table_free(&table);
    printf(
        "\nstep: forces of mesh and tree of moved bodies, least of %d by the host's clock; CPU: of all threads of the "
        "process;\nparts in ms from a step with events; errors: |a - a_Ewald| / |a_Ewald|, and over the root mean "
        "square of a.\n",
        b->opts->repeats);
}

/* ----------------------------------------------------------------- command */

static int write_results(const void *bench)
{
    const periodic_bench *const b = bench;
    int table;
    const int code = gv_cli_write_results(BENCH, all_json(b), b->opts->out, b->opts->json, &table);
    if (table)
        print_table(b);
    return code;
}

static int check_effect(const periodic_options *o)
{
    const gv_no_effect rules[] = {
        {o->input != NULL, "n model moved seed", "is of a model; the bodies of --input are those of the file"},
        {o->model == GV_BOX_RANDOM, "moved", "is for --model grid and clumps; at random there is no grid"},
        {.options = NULL}};
    return gv_options_check_effect(BENCH, &gv_cmd_bench_periodic, o, rules);
}

static int run(const void *values, const gv_operands *operands)
{
    const periodic_options *opts = values;
    (void)operands;
    if (check_effect(opts) != 0)
        return GV_EXIT_USAGE;
    periodic_bench *b = calloc(1, sizeof *b);
    if (!b)
        return gv_cli_fail(BENCH, gv_fail(GRAVEL_ERR_MEMORY, "out of memory"));
    gv_signals_catch(0.7, "gravel bench: stopped\n");
    b->opts = opts;
    gravel_status status = gv_cli_context(&b->context, opts->device, opts->no_fp64, opts->verbose);
    const int is_cpu = !status && gravel_context_get_device(b->context, 0)->type == GRAVEL_DEVICE_CPU;
    if (!status)
        status = opts->input ? run_snapshot(b, opts->input)
                             : gv_cli_bench_sizes(&opts->n, (gv_size_list){1, {is_cpu ? 64 : 128}}, run_size, b);
    const int code = gv_cli_end_bench(BENCH, status, b->results, write_results, b);
    gravel_context_release(b->context);
    free(b);
    return code;
}

#define CHOICE(member, word, text, usual)                                                                              \
    {                                                                                                                  \
        .name = #member, .kind = GV_OPT_CHOICE, .offset = offsetof(periodic_options, member), .value = word,           \
        .help = text, .fallback = usual                                                                                \
    }
#define REAL(member, word, text, usual, least, most)                                                                   \
    {                                                                                                                  \
        .name = #member, .kind = GV_OPT_REAL, .offset = offsetof(periodic_options, member), .value = word,             \
        .help = text, .fallback = usual, .low = least, .high = most                                                    \
    }

static const gv_opt opts_table[] = {
    {.name = "n",
     .letter = 'n',
     .kind = GV_OPT_SIZES,
     .offset = offsetof(periodic_options, n),
     .value = "LIST",
     .help = "bodies along a side of the box: 64 is 64^3 bodies\n(default 64 on CPUs, else 128)",
     .low = 2,
     .high = 1000},
    {.name = "input",
     .letter = 'i',
     .kind = GV_OPT_TEXT,
     .offset = offsetof(periodic_options, input),
     .value = "FILE",
     .help = "the bodies of a snapshot with its cosmology, not a model"},
    CHOICE(model, "grid|clumps|random",
           "grid: displaced by plane waves, as early in a run;\nclumps: half of the bodies in clumps, as late in one",
           "grid"),
    REAL(moved, "D", "root mean square displacement from the grid, in spacings", "0.3", 0, 100),
    {.name = "mesh",
     .kind = GV_OPT_INT,
     .offset = offsetof(periodic_options, cells),
     .value = "N",
     .help = "cells of a side (default: twice as many as bodies)",
     .fallback = "0",
     .low = 0,
     .high = 1024},
    CHOICE(assignment, "ngp|cic|tsc|pcs", "of masses to mesh points", "pcs"),
    CHOICE(gradient, "spectral|two-point|four-point", "forces from potentials", "spectral"),
    {.name = "interlaced",
     .kind = GV_OPT_FLAG,
     .offset = offsetof(periodic_options, interlaced),
     .help = "two meshes half a cell apart"},
    CHOICE(fft, "auto|device|host", "of the mesh", "auto"),
    REAL(split, "R", "splitting length r_s in cells", "1.25", 0.1, 100),
    REAL(cut, "C", "end of the short range in r_s", "5", 1, 20),
    REAL(theta, "T", "opening angle", "0.5", GRAVEL_TREE_THETA_MIN, GRAVEL_TREE_THETA_MAX),
    CHOICE(mac, "relative|last|geometric", "opening criterion", "relative"),
    REAL(eps, "E", "softening length, in spacings of the bodies", "0.04", 0, INFINITY),
    CHOICE(softening, "plummer|spline", "its shape", "plummer"),
    CHOICE(precision, "sp|ds|dp", "of the forces", "sp"),
    CHOICE(bodies, "sp|ds|dp", "of the bodies as they are stored", "sp"),
    {.name = "configuration",
     .kind = GV_OPT_TEXT,
     .offset = offsetof(periodic_options, configuration),
     .value = "TEXT",
     .help = "tunables of the tree as \"n_leaf=16 n_group=32\""},
    {.name = "repeats",
     .kind = GV_OPT_INT,
     .offset = offsetof(periodic_options, repeats),
     .value = "K",
     .help = "steps that are timed",
     .fallback = "3",
     .low = 1,
     .high = 1000},
    {.name = "sample",
     .kind = GV_OPT_SIZE,
     .offset = offsetof(periodic_options, sample),
     .value = "K",
     .help = "bodies whose errors are found; Ewald's sums take 100 ns\nof a core for each of them and each body",
     .fallback = "0",
     .low = 0,
     .high = INFINITY},
    GV_OPT_BENCH(periodic_options),
    {.name = NULL},
};

const gv_command gv_cmd_bench_periodic = {
    .name = "periodic",
    .summary = "steps of mesh and tree in a periodic box, with their errors",
    .synopsis = "[-n LIST | -i FILE] [--model NAME] [--mesh N] [--split R] [--cut C] [options]",
    .about = "For each size: a step (forces of a mesh and the tree's short range on moved bodies, on the device), its\n"
             "parts, and with --sample the errors against Ewald's sums.",
    .opts = opts_table,
    .examples = "gravel bench periodic -n 64 --sample 500\n"
                "gravel bench periodic -n 128,256 --model clumps --mesh 256 --split 1.5\n"
                "gravel bench periodic -n 64 --interlaced --sample 500 -o errors.json\n"
                "gravel bench periodic -i box/snapshot_0003.hdf5 --mesh 256 --split 1\n",
    .size = sizeof(periodic_options),
    .given = offsetof(periodic_options, given),
    .run = run,
};
