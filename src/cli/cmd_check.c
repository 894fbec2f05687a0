/* gravel check: does this device compute what it should?  What a user runs on a new machine. */
#include <string.h>

#include "cli/check_run.h"
#include "host/direct/plan.h"

#define CHECK "gravel check"

typedef struct check_options {
    const char *device, *variant;
    int tiny, quick, full, json, no_fp64, verbose;
} check_options;

static const char *const level_name[] = {"tiny", "demo", "quick", "normal", "full"};

/* ---------------------------------------------------------------------- JSON */

static cJSON *run_json(const gv_check_run *run, int order)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "n", (double)run->n);
    cJSON_AddNumberToObject(item, "sinks", (double)run->sinks);
    cJSON_AddNumberToObject(item, "eps", run->eps);
    cJSON_AddBoolToObject(item, "nearest", (run->features & GV_DIRECT_NEAREST) != 0);
    cJSON_AddBoolToObject(item, "neighbours", (run->features & GV_DIRECT_LISTS) != 0);
    cJSON_AddStringToObject(item, "configuration", run->configuration);
    cJSON_AddStringToObject(item, "origin", gravel_origin_name(run->origin));
    cJSON_AddStringToObject(item, "status", gravel_status_name(run->status));
    for (int q = 0; q < gv_quantity_count(order) && run->status == GRAVEL_OK; q++) {
        char name[32];
        snprintf(name, sizeof name, "%s_mean", gv_quantity_name[q]);
        gv_json_number(item, name, run->errors.mean[q]);
        snprintf(name, sizeof name, "%s_max", gv_quantity_name[q]);
        gv_json_number(item, name, run->errors.max[q]);
    }
    gv_json_number(item, "kernel_s", run->kernel_s);
    cJSON_AddStringToObject(item, "verdict", gv_verdict_name[run->verdict]);
    if (run->message[0] != '\0')
        cJSON_AddStringToObject(item, "message", run->message);
    return item;
}

static cJSON *variant_json(const gv_check_variant *of)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "variant", of->variant.name);
    cJSON_AddStringToObject(item, "verdict", gv_verdict_name[of->verdict]);
    gv_json_number(item, "pairs_per_s", of->pairs_per_s);
    if (of->runs > 0) {
        cJSON_AddStringToObject(item, "configuration", of->run[0].configuration);
        cJSON_AddStringToObject(item, "origin", gravel_origin_name(of->run[0].origin));
    }
    for (int q = 0; q < gv_quantity_count(of->variant.order); q++) {
        const gv_ceiling ceiling = gv_error_ceiling(of->variant.precision, q);
        cJSON *error = cJSON_AddObjectToObject(item, gv_quantity_name[q]);
        gv_json_number(error, "mean", of->mean[q]);
        gv_json_number(error, "mean_ceiling", ceiling.mean);
        gv_json_number(error, "max", of->max[q]);
        gv_json_number(error, "max_ceiling", ceiling.max);
    }
    cJSON *runs = cJSON_AddArrayToObject(item, "runs");
    for (int r = 0; r < of->runs; r++)
        cJSON_AddItemToArray(runs, run_json(&of->run[r], of->variant.order));
    return item;
}

static cJSON *other_json(const gv_check_other *other)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "name", other->name);
    cJSON_AddStringToObject(item, "verdict", gv_verdict_name[other->verdict]);
    if (other->configuration[0] != '\0')
        cJSON_AddStringToObject(item, "configuration", other->configuration);
    if (other->max_ceiling > 0) {
        gv_json_number(item, "mean", other->mean);
        gv_json_number(item, "mean_ceiling", other->mean_ceiling);
        gv_json_number(item, "max", other->max);
        gv_json_number(item, "max_ceiling", other->max_ceiling);
    }
    if (other->message[0] != '\0')
        cJSON_AddStringToObject(item, "message", other->message);
    return item;
}

static cJSON *check_json(const gv_check *check)
{
    cJSON *root = cJSON_CreateObject();
    gv_json_stamp(root);
    cJSON_AddStringToObject(root, "device", check->device.name);
    cJSON_AddStringToObject(root, "driver", check->device.driver);
    cJSON_AddStringToObject(root, "level", level_name[check->level]);
    cJSON_AddStringToObject(root, "verdict", gv_verdict_name[check->verdict]);
    cJSON_AddNumberToObject(root, "pass_up_to", 1);
    cJSON_AddNumberToObject(root, "marginal_up_to", 2);
    cJSON_AddNumberToObject(root, "runs", check->runs_total);
    cJSON_AddNumberToObject(root, "runs_failed", check->runs_failed);
    cJSON *list = cJSON_AddArrayToObject(root, "variants");
    for (int v = 0; v < check->variants; v++)
        cJSON_AddItemToArray(list, variant_json(&check->of[v]));
    list = cJSON_AddArrayToObject(root, "others");
    for (int k = 0; k < check->others; k++)
        cJSON_AddItemToArray(list, other_json(&check->other[k]));
    return root;
}

/* --------------------------------------------------------------------- table */

/* What stopped before its end has no verdict, unless it failed already. */
static const char *verdict_of(int complete, gv_verdict verdict)
{
    return complete || verdict == GV_FAIL ? gv_verdict_name[verdict] : "-";
}

static void print_errors(const gv_check *check)
{
    gv_table table;
    gv_table_start(&table, "variant|of|mean error|ceiling|max error|ceiling|G pairs/s|runs|verdict");
    for (int v = 0; v < check->variants; v++) {
        const gv_check_variant *of = &check->of[v];
        for (int q = 0; q < gv_quantity_count(of->variant.order); q++) {
            const gv_ceiling ceiling = gv_error_ceiling(of->variant.precision, q);
            char tail[64] = "||";
            if (q == 0) {
                snprintf(tail, sizeof tail, "%.4g|%d|%s", 1e-9 * of->pairs_per_s, of->runs,
                         verdict_of(of->complete, of->verdict));
            }
            if (of->runs == 0) {
                gv_table_row(&table, "%s|%s|-|%.0e|-|%.0e|%s", q == 0 ? of->variant.name : "", gv_quantity_name[q],
                             ceiling.mean, ceiling.max, q == 0 ? "-|-|-" : "||");
                continue;
            }
            gv_table_row(&table, "%s|%s|%.1e|%.0e|%.1e|%.0e|%s", q == 0 ? of->variant.name : "", gv_quantity_name[q],
                         of->mean[q], ceiling.mean, of->max[q], ceiling.max, tail);
        }
    }
    for (int k = 0; k < check->others; k++) {
        const gv_check_other *o = &check->other[k];
        if (o->max_ceiling > 0)
            gv_table_row(&table, "%s|%s|%.1e|%.0e|%.1e|%.0e|||%s", o->name, o->of, o->mean, o->mean_ceiling, o->max,
                         o->max_ceiling, gv_verdict_name[o->verdict]);
        else
            gv_table_row(&table, "%s|%s|||||||%s", o->name, o->of, gv_verdict_name[o->verdict]);
    }
    gv_table_print(&table, stdout);
    gv_table_free(&table);
}

static void print_configurations(const gv_check *check)
{
    gv_table table;
    gv_table_start(&table, "variant|origin|configuration for all sinks");
    for (int v = 0; v < check->variants; v++) {
        const gv_check_variant *of = &check->of[v];
        if (of->runs > 0) {
            gv_table_row(&table, "%s|%s|%s", of->variant.name, gravel_origin_name(of->run[0].origin),
                         of->run[0].configuration[0] ? of->run[0].configuration : "(none was built)");
        }
    }
    gv_table_print(&table, stdout);
    gv_table_free(&table);
}

static void print_failures(const gv_check *check)
{
    for (int v = 0; v < check->variants; v++) {
        for (int r = 0; r < check->of[v].runs; r++) {
            const gv_check_run *run = &check->of[v].run[r];
            if (run->verdict != GV_PASS) {
                gv_print("%s: %s, N = %zu, %zu sinks, eps = %g%s\n    %s\n    %s\n", gv_verdict_name[run->verdict],
                         check->of[v].variant.name, run->n, run->sinks, run->eps,
                         run->features & GV_DIRECT_LISTS ? ", nearest and lists"
                         : run->features                 ? ", nearest"
                                                         : "",
                         run->configuration[0] ? run->configuration : "(no configuration: nothing was built)",
                         run->message);
            }
        }
    }
}

static void print_others(const gv_check *check)
{
    for (int k = 0; k < check->others; k++) {
        const gv_check_other *o = &check->other[k];
        if (o->verdict != GV_PASS)
            gv_print("%s: %s\n    %s%s%s\n", gv_verdict_name[o->verdict], o->name, o->configuration,
                     o->configuration[0] ? "\n    " : "", o->message);
    }
}

static void print_check(const gv_check *check)
{
    gv_print("%s, driver %s: %s check\n\n", check->device.name, check->device.driver, level_name[check->level]);
    print_errors(check);
    if (!check->device.has_fp64)
        printf("(no dp: the device has no double precision)\n");
    printf("\nRelative errors against long double over Plummer spheres of 1 to %d bodies, softening 0.01 and 0,\n"
           "nearest neighbours and neighbour lists included. PASS: every error at most its ceiling; MARGINAL: at\n"
           "most twice that; FAIL: above, or wrong neighbours, or a kernel that does not run.\n\n",
           check->level == GV_CHECK_TINY    ? GV_CHECK_TINY_N
           : check->level >= GV_CHECK_QUICK ? 131072
                                            : GV_CHECK_N);
    print_configurations(check);
    printf("\n");
    print_failures(check);
    print_others(check);
    if (check->stopped && check->verdict != GV_FAIL)
        printf("stopped, no verdict: %d runs, %d failed\n", check->runs_total, check->runs_failed);
    else
        printf("%s: %d runs, %d failed%s\n", gv_verdict_name[check->verdict], check->runs_total, check->runs_failed,
               check->stopped ? ", stopped before the end" : "");
}

static int run_check(const void *values, const gv_operands *operands)
{
    const check_options *opts = values;
    gv_check check;
    gv_variant variant[GV_VARIANTS];
    (void)operands;
    memset(&check, 0, sizeof check);
    if (opts->tiny + opts->quick + opts->full > 1) {
        gv_say(CHECK, "one of --tiny, --quick, --full, not both");
        return GV_EXIT_USAGE;
    }
    check.level = opts->tiny    ? GV_CHECK_TINY
                  : opts->quick ? GV_CHECK_QUICK
                  : opts->full  ? GV_CHECK_FULL
                                : GV_CHECK_NORMAL;
    gv_signals_catch(0.7, CHECK ": stopped, no verdict\n");
    gravel_status status = gv_cli_context(&check.context, opts->device, opts->no_fp64, opts->verbose);
    if (status != GRAVEL_OK)
        return gv_cli_fail(CHECK, status);
    int code =
        gv_variants_choose(CHECK, opts->variant, gravel_context_get_device(check.context, 0), variant, &check.variants);
    if (code == GV_EXIT_OK) {
        for (int v = 0; v < check.variants; v++)
            check.of[v].variant = variant[v];
        status = gv_check_all(&check);
        code =
            status == GRAVEL_OK ? check.verdict == GV_FAIL ? GV_EXIT_FAILURE : GV_EXIT_OK : gv_cli_fail(CHECK, status);
        if (status == GRAVEL_OK && opts->json) {
            status = gv_json_write(check_json(&check), NULL);
            code = status == GRAVEL_OK ? code : (gv_cli_fail(CHECK, status), GV_EXIT_FAILURE);
        } else if (status == GRAVEL_OK || status == GRAVEL_ERR_CANCELLED) {
            print_check(&check);
            fflush(stdout); /* releasing a device may take longer than a stopped program has */
        }
    }
    gv_check_free(&check);
    gravel_context_release(check.context);
    return code;
}

static const gv_opt opts_table[] = {
    {.name = "tiny",
     .kind = GV_OPT_FLAG,
     .offset = offsetof(check_options, tiny),
     .help = "hundreds of bodies only: for simulated devices"},
    {.name = "quick",
     .letter = 'q',
     .kind = GV_OPT_FLAG,
     .offset = offsetof(check_options, quick),
     .help = "few sizes, and the configurations that calls use: some\nminutes on a CPU, where compiling takes longest"},
    {.name = "full",
     .kind = GV_OPT_FLAG,
     .offset = offsetof(check_options, full),
     .help = "every value of every tunable, all sinks compared: long,\nsince it compiles some hundred kernels"},
    {.name = "variant",
     .kind = GV_OPT_TEXT,
     .offset = offsetof(check_options, variant),
     .value = "LIST",
     .help = "only these, as sp2,ds4 (default: all nine)"},
    GV_OPT_JSON(check_options),
    GV_OPT_DEVICE(check_options),
    GV_OPT_NO_FP64(check_options),
    GV_OPT_VERBOSE(check_options),
    {.name = NULL},
};

const gv_command gv_cmd_check = {
    .name = "check",
    .summary = "check every kernel of a device against the reference",
    .synopsis = "[--tiny|--quick|--full] [--device D] [--variant LIST] [--json]",
    .about = "Runs every variant (order 2, 4, 6 in sp, ds, dp) in the configuration that calls use and in others,\n"
             "for even and odd numbers of bodies, with and without softening, then the tree, the sort and the\n"
             "timers, and compares with long double. Exit status 1 if anything FAILs.",
    .opts = opts_table,
    .examples = "gravel check --quick\n"
                "gravel check --device gpu --json > check.json\n"
                "gravel check --full --variant ds4\n",
    .size = sizeof(check_options),
    .run = run_check,
};
