/* gravel model: how long steps take on machines that need not be here. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_model.h"
#include "host/base/files.h"

#define MODEL "gravel model"

typedef struct model_options {
    const char *out;
    int example, fit, check, json, solver, order, precision, scheme;
    gv_size_list n, ranks, active;
    double theta;
    unsigned char given[GV_MAX_OPTIONS];
} model_options;

/* ------------------------------------------------------------------- reading */

gravel_status gv_model_read_machine(gv_machine *machine, const char *path)
{
    char *text = NULL;
    if (!path) {
        gv_machine_example(machine);
        return GRAVEL_OK;
    }
    gravel_status status = gv_file_read(path, 1 << 20, &text, NULL);
    if (!status)
        status = gv_machine_parse(machine, text, path);
    free(text);
    return status;
}

gravel_status gv_model_read_points(gv_points *points, int n, char **path)
{
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k < n && !status; k++) {
        char *text = NULL;
        status = gv_file_read(path[k], 1 << 24, &text, NULL);
        if (!status)
            status = gv_points_read(points, text, path[k]);
        free(text);
    }
    return status;
}

/* --------------------------------------------------------------- predictions */

static gv_question question_of(const model_options *o, double n, double active, int ranks)
{
    static const gv_model_scheme scheme[] = {GV_MODEL_BEST, GV_MODEL_PROGRAM, GV_MODEL_ALONE, GV_MODEL_COPIES,
                                             GV_MODEL_RING};
    return (gv_question){.n = n,
                         .active = active,
                         .ranks = ranks,
                         .order = o->order == 1 ? 6 : 4,
                         .precision = o->precision == 1 ? GV_MODEL_DP : GV_MODEL_DS,
                         .scheme = o->solver == 1 ? GV_MODEL_TREE : scheme[o->scheme],
                         .theta = o->theta};
}

static cJSON *prediction_json(const gv_question *q, const gv_prediction *p)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "n", q->n);
    if (p->scheme != GV_MODEL_TREE)
        cJSON_AddNumberToObject(item, "active", q->active > 0 ? q->active : q->n);
    cJSON_AddNumberToObject(item, "ranks", q->ranks);
    cJSON_AddStringToObject(item, "scheme", gv_model_scheme_name(p->scheme));
    cJSON_AddNumberToObject(item, "step_s", p->total);
    cJSON_AddNumberToObject(item, "host_s", p->host);
    cJSON_AddNumberToObject(item, "transfer_s", p->transfer);
    cJSON_AddNumberToObject(item, "network_s", p->network);
    cJSON_AddNumberToObject(item, "device_s", p->device);
    if (p->scheme == GV_MODEL_TREE) {
        cJSON_AddNumberToObject(item, "sort_s", p->sort);
        cJSON_AddNumberToObject(item, "build_s", p->build);
        cJSON_AddNumberToObject(item, "moments_s", p->moments);
        cJSON_AddNumberToObject(item, "groups_s", p->groups);
        cJSON_AddNumberToObject(item, "walk_s", p->walk);
    }
    cJSON_AddNumberToObject(item, "efficiency", p->efficiency);
    cJSON_AddNumberToObject(item, "sent_bytes", p->sent_bytes);
    cJSON_AddNumberToObject(item, "memory_bytes", p->memory_bytes);
    return item;
}

static const char *format_time(double s, char text[16])
{
    snprintf(text, 16, s < 1e-3 ? "%.4g us" : s < 1 ? "%.4g ms" : "%.4g s", s < 1e-3 ? 1e6 * s : s < 1 ? 1e3 * s : s);
    return text;
}

static const char *format_bytes(double b, char text[16])
{
    snprintf(text, 16,
             b < 1e6   ? "%.3g kB"
             : b < 1e9 ? "%.3g MB"
                       : "%.3g GB",
             b < 1e6   ? 1e-3 * b
             : b < 1e9 ? 1e-6 * b
                       : 1e-9 * b);
    return text;
}

static void add_row(gv_table *table, const gv_machine *m, const gv_question *q, const gv_prediction *p)
{
    char total[16], sent[16], memory[16];
    const double share = 100 / p->total;
    gv_table_row(table, "%.10g|%.10g|%d|%s|%s|%.1f|%.1f|%.1f|%.1f|%.3f|%s|%s%s", q->n, q->active > 0 ? q->active : q->n,
                 q->ranks, gv_model_scheme_name(p->scheme), format_time(p->total, total), share * p->host,
                 share * p->transfer, share * p->network, share * p->device, p->efficiency,
                 format_bytes(p->sent_bytes, sent), format_bytes(p->memory_bytes, memory),
                 p->memory_bytes > m->memory_bytes ? " (!)" : "");
}

static gravel_status write_results(const model_options *o, cJSON *root)
{
    gravel_status status = o->out ? gv_json_write(cJSON_Duplicate(root, 1), o->out) : GRAVEL_OK;
    if (!status && o->json)
        status = gv_json_write(cJSON_Duplicate(root, 1), NULL);
    cJSON_Delete(root);
    return status;
}

static gv_size_list bodies_of(const model_options *o)
{
    return o->n.n > 0 ? o->n : (gv_size_list){3, {131072, 1048576, 16777216}};
}

static gravel_status predict_all(const model_options *o, const gv_machine *m)
{
    enum { MOST = 65536 };
    const gv_size_list n = bodies_of(o);
    const gv_size_list ranks = o->ranks.n > 0 ? o->ranks : (gv_size_list){6, {1, 2, 4, 8, 32, 256}};
    const gv_size_list active = o->active.n > 0 ? o->active : (gv_size_list){1, {0}};
    cJSON *root = cJSON_CreateObject();
    gv_json_stamp(root);
    cJSON_AddItemToObject(root, "machine", gv_machine_json(m));
    cJSON *list = cJSON_AddArrayToObject(root, "predictions"), *limits = cJSON_AddArrayToObject(root, "limits");
    gv_table table;
    gv_table_start(&table, "n|active|ranks|scheme|step|host %|transfer %|network %|device %|efficiency|sent|memory");
    for (int k = 0; k < n.n; k++)
        for (int a = 0; a < active.n; a++) {
            gv_question q = question_of(o, (double)n.value[k], (double)active.value[a], 1);
            if (active.value[a] > n.value[k]) /* of another n of the list */
                continue;
            for (int r = 0; r < ranks.n; r++) {
                gv_prediction p;
                q.ranks = (int)ranks.value[r];
                gv_model_predict(m, &q, &p);
                cJSON_AddItemToArray(list, prediction_json(&q, &p));
                add_row(&table, m, &q, &p);
            }
            cJSON *limit = cJSON_CreateObject();
            cJSON_AddNumberToObject(limit, "n", q.n);
            cJSON_AddNumberToObject(limit, "active", q.active > 0 ? q.active : q.n);
            cJSON_AddNumberToObject(limit, "ranks", gv_model_limit(m, &q, MOST));
            cJSON_AddItemToArray(limits, limit);
        }
    if (!o->json) {
        gv_print("%s; %s\n\n", m->name, o->solver == 1 ? "tree, sp" : "direct");
        gv_table_print(&table, stdout);
        printf("\nmore ranks are slower beyond:");
        const cJSON *limit;
        cJSON_ArrayForEach(limit, limits)
            printf(" %d (n %.10g, %.10g active)", cJSON_GetObjectItem(limit, "ranks")->valueint,
                   cJSON_GetObjectItem(limit, "n")->valuedouble, cJSON_GetObjectItem(limit, "active")->valuedouble);
        printf(
            "\nPowers of two up to %d were tried. What is hidden behind other work counts nothing. (!): more than the "
            "device has.\n",
            MOST);
    }
    gv_table_free(&table);
    return write_results(o, root);
}

/* ---------------------------------------------------------------------- check */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static gravel_status check_points(const model_options *o, const gv_machine *m, const gv_points *points)
{
    gv_table table;
    cJSON *root = cJSON_CreateObject();
    double *deviation = calloc(points->n + 1, sizeof *deviation);
    if (!deviation) {
        cJSON_Delete(root);
        return gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    }
    gv_json_stamp(root);
    cJSON *list = cJSON_AddArrayToObject(root, "points");
    gv_table_start(&table, "what|n|active|ranks|measured us|model us|deviation %");
    for (size_t k = 0; k < points->n; k++) {
        const gv_question *q = &points->point[k].question;
        gv_prediction p;
        gv_model_predict(m, q, &p);
        const double off = p.total / points->point[k].seconds - 1;
        deviation[k] = fabs(off);
        gv_table_row(&table, "%s%s|%.10g|%.10g|%d|%.1f|%.1f|%+.1f", gv_model_scheme_name(p.scheme),
                     q->scheme == GV_MODEL_TREE ? ""
                     : q->forces_only           ? ", forces"
                                                : ", step",
                     q->n, q->active > 0 ? q->active : q->n, q->ranks, 1e6 * points->point[k].seconds, 1e6 * p.total,
                     100 * off);
        cJSON *item = prediction_json(q, &p);
        cJSON_AddNumberToObject(item, "measured_s", points->point[k].seconds);
        cJSON_AddNumberToObject(item, "deviation", off);
        cJSON_AddItemToArray(list, item);
    }
    qsort(deviation, points->n, sizeof *deviation, compare_doubles);
    cJSON_AddNumberToObject(root, "deviation_median", deviation[points->n / 2]);
    cJSON_AddNumberToObject(root, "deviation_max", deviation[points->n - 1]);
    if (!o->json) {
        gv_table_print(&table, stdout);
        printf("\n%zu points: median deviation %.1f %%, largest %.1f %%\n", points->n, 100 * deviation[points->n / 2],
               100 * deviation[points->n - 1]);
    }
    gv_table_free(&table);
    free(deviation);
    return write_results(o, root);
}

/* ----------------------------------------------------------------- command */

static int work(const model_options *o, const gv_operands *operands)
{
    gv_machine machine;
    gv_points points = {0};
    gravel_status status = gv_model_read_machine(&machine, operands->n > 0 && !o->fit ? operands->value[0] : NULL);
    const int skip = o->fit ? 0 : 1;
    if (!status && operands->n > skip)
        status = gv_model_read_points(&points, operands->n - skip, operands->value + skip);
    if (!status && (o->fit || o->check) && points.n == 0)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "--%s: results of benchmarks are missing", o->fit ? "fit" : "check");
    const int reads = status != GRAVEL_OK;
    if (!status && o->fit) {
        gv_machine_fit(&machine, &points);
        snprintf(machine.name, sizeof machine.name, "fitted");
        status = gv_json_write(gv_machine_json(&machine), o->out);
    } else if (!status) {
        status = o->check ? check_points(o, &machine, &points) : predict_all(o, &machine);
    }
    gv_points_free(&points);
    return !status ? GV_EXIT_OK : reads ? gv_cli_fail(MODEL, status) : gv_cli_fail_writing(MODEL, status);
}

/* More bodies move than there are, or options of the other solver. */
static int check_predictions(const model_options *o)
{
    const gv_no_effect rules[] = {
        {o->solver == 1, "active scheme order precision",
         "is for --solver direct (the default); steps with the tree are those of all bodies, in sp"},
        {o->solver != 1, "theta", "is for --solver tree"},
        {.options = NULL}};
    const gv_size_list n = bodies_of(o);
    size_t most = 0;
    if (gv_options_check_effect(MODEL, &gv_cmd_model, o, rules) != 0)
        return GV_EXIT_USAGE;
    for (int k = 0; k < n.n; k++)
        most = n.value[k] > most ? n.value[k] : most;
    for (int a = 0; a < o->active.n; a++)
        if (o->active.value[a] > most) {
            gv_say(MODEL, "--active %zu: no more bodies can move than there are (-n %zu)", o->active.value[a], most);
            return GV_EXIT_USAGE;
        }
    return GV_EXIT_OK;
}

static int run(const void *values, const gv_operands *operands)
{
    const model_options *o = values;
    gv_machine machine;
    if (o->fit && o->check) {
        gv_say(MODEL, "--fit and --check: one of them");
        return GV_EXIT_USAGE;
    }
    if (!o->fit && !o->check && operands->n > 1) {
        gv_say(MODEL, "%s: results are for --fit and --check", operands->value[1]);
        return GV_EXIT_USAGE;
    }
    if (o->example) {
        gv_machine_example(&machine);
        const gravel_status written = gv_json_write(gv_machine_json(&machine), o->out);
        return written ? gv_cli_fail_writing(MODEL, written) : GV_EXIT_OK;
    }
    const int code = o->fit || o->check ? GV_EXIT_OK : check_predictions(o);
    return code != GV_EXIT_OK ? code : work(o, operands);
}

#define SIZES(member, word, text, most)                                                                                \
    {                                                                                                                  \
        .name = #member, .kind = GV_OPT_SIZES, .offset = offsetof(model_options, member), .value = word, .help = text, \
        .low = 1, .high = most                                                                                         \
    }
#define FLAG(member, text)                                                                                             \
    {                                                                                                                  \
        .name = #member, .kind = GV_OPT_FLAG, .offset = offsetof(model_options, member), .help = text                  \
    }

static const gv_opt opts_table[] = {
    {.name = "n",
     .letter = 'n',
     .kind = GV_OPT_SIZES,
     .offset = offsetof(model_options, n),
     .value = "LIST",
     .help = "bodies (default 128Ki,1Mi,16Mi)",
     .low = 1,
     .high = 1e15},
    SIZES(ranks, "LIST", "ranks, a device each (default 1,2,4,8,32,256)", 1e7),
    SIZES(active, "LIST", "direct: bodies that move in a step (default all)", 1e15),
    {.name = "solver",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(model_options, solver),
     .value = "direct|tree",
     .help = "direct: Hermite steps; tree: leapfrog steps",
     .fallback = "direct"},
    {.name = "scheme",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(model_options, scheme),
     .value = "best|program|alone|copies|ring",
     .help = "direct: doc/clusters.md; program: as the program chooses",
     .fallback = "best"},
    {.name = "order",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(model_options, order),
     .value = "4|6",
     .help = "direct: of the integration",
     .fallback = "4"},
    {.name = "precision",
     .letter = 'p',
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(model_options, precision),
     .value = "ds|dp",
     .help = "direct: of bodies and forces",
     .fallback = "ds"},
    {.name = "theta",
     .letter = 't',
     .kind = GV_OPT_REAL,
     .offset = offsetof(model_options, theta),
     .value = "T",
     .help = "tree: opening angle",
     .fallback = "0.5",
     .low = 0.1,
     .high = 2},
    FLAG(example, "print a machine (an H200) as JSON"),
    FLAG(fit, "print a machine with numbers from results"),
    FLAG(check, "compare with results, all ranks"),
    {.name = "output",
     .letter = 'o',
     .kind = GV_OPT_OUT,
     .offset = offsetof(model_options, out),
     .value = "FILE",
     .help = "write the JSON to this file, beside the table"},
    GV_OPT_JSON(model_options),
    {.name = NULL},
};

const gv_command gv_cmd_model = {
    .name = "model",
    .summary = "predict steps on clusters, from measurements or a description",
    .synopsis =
        "[MACHINE.json] [options]\n       gravel model --fit RESULT.json ... | --check MACHINE.json RESULT.json ...",
    .about = "Time of a step by part, efficiency, memory, and the ranks beyond which more are slower. No device is\n"
             "needed. RESULT: what 'gravel bench hermite', 'gravel bench tree' and 'gravel cluster measure' wrote.\n"
             "Without MACHINE the example's. doc/clusters.md has the formulas.",
    .opts = opts_table,
    .max_operands = 32,
    .examples = "gravel model -n 1e6 --ranks 1,4,32,256,4096\n"
                "gravel model -n 1e9 --solver tree --ranks 32,256,4096\n"
                "gravel model --example > mine.json; gravel model mine.json -n 1Mi --active 1,1k,1Mi\n"
                "gravel model --fit one_rank.json network.json tree.json -o mine.json\n"
                "gravel model --check mine.json one_rank.json four_ranks.json\n",
    .size = sizeof(model_options),
    .given = offsetof(model_options, given),
    .run = run,
};
