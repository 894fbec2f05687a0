/* gravel profiles: looks at, checks and moves tuned configurations. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/profiles_diff.h"
#include "host/base/files.h"
#include "host/profile/store.h"
#include "sim/out_file.h"
#include "tuner/subject.h"

typedef struct profiles_options {
    const char *dir, *out, *variant;
    int shipped, all, json;
} profiles_options;

#define COMMAND "gravel profiles"

static void tell_refused(const char *message, void *user)
{
    ++*(int *)user;
    gv_say(COMMAND, "%s", message);
}

static char *profile_dir(const profiles_options *o)
{
    return o->dir != NULL ? gv_format("%s", o->dir) : gv_user_folder("XDG_DATA_HOME", ".local/share", "profiles");
}

/* The user's profiles, or the shipped ones; refused files are reported and counted. */
static gravel_status load(const profiles_options *o, gv_profile_set *set, int *refused)
{
    char *dir = profile_dir(o);
    gravel_status status = GRAVEL_OK;

    if (o->shipped)
        status = gv_profile_read_shipped(NULL, NULL, set, tell_refused, refused);
    else if (dir != NULL)
        status = gv_profile_read_dir(dir, set, tell_refused, refused);
    free(dir);
    return status;
}

/* `writing`: it failed where something was written, or nothing did. */
static int finish(gravel_status status, gv_profile_set *set, int refused, int writing)
{
    gv_profile_set_free(set);
    if (status != GRAVEL_OK)
        return (writing ? gv_cli_fail_writing : gv_cli_fail)(COMMAND, status);
    return refused > 0 ? GV_EXIT_FAILURE : GV_EXIT_OK;
}

static const char *type_name(gravel_device_type type)
{
    return type == GRAVEL_DEVICE_GPU ? "gpu" : type == GRAVEL_DEVICE_CPU ? "cpu" : "accelerator";
}

/* ------------------------------------------------------------------- list */

static const char *last_date(const gv_profile_block *block)
{
    const char *date = "";

    for (int e = 0; e < block->n_entries; e++)
        date = strcmp(block->entry[e].date, date) > 0 ? block->entry[e].date : date;
    return date;
}

static void add_rows(gv_table *table, const gv_profile_set *set, const char *where)
{
    for (int b = 0; b < set->n_blocks; b++) {
        const gv_profile_block *block = &set->block[b];
        char file[128];

        gv_profile_file_name(&block->device, file);
        gv_table_row(table, "%s|%s|%.60s|%d|%d|%s|%s", where, type_name(block->device.type), block->device.name,
                     block->device.compute_units, block->n_entries, last_date(block), file);
    }
}

static int run_list(const void *values, const gv_operands *operands)
{
    const profiles_options *o = values;
    profiles_options shipped = *o;
    gv_profile_set user = GV_PROFILE_SET_INIT, ours = GV_PROFILE_SET_INIT;
    gravel_status status = GRAVEL_OK;
    int refused = 0;
    gv_table table;

    (void)operands;
    shipped.shipped = 1;
    if (!o->shipped)
        status = load(o, &user, &refused);
    status = status == GRAVEL_OK ? load(&shipped, &ours, &refused) : status;
    if (status == GRAVEL_OK) {
        gv_table_start(&table, "from|type|device|compute units|entries|last|file");
        add_rows(&table, &user, "user");
        add_rows(&table, &ours, "shipped");
        gv_table_print(&table, stdout);
        gv_table_free(&table);
    }
    gv_profile_set_free(&user);
    return finish(status, &ours, refused, 0);
}

/* ------------------------------------------------------------------- show */

static void show_block(const gv_profile_block *block, const profiles_options *o)
{
    gv_table table;

    gv_print("%s (%s, %s, %d compute units)\n", block->device.name, block->device.vendor, block->device.platform,
             block->device.compute_units);
    gv_table_start(&table, "variant|sinks|sources|time us|call us|spread|error|tried|configuration");
    for (int e = 0; e < block->n_entries; e++) {
        const gv_profile_entry *entry = &block->entry[e];
        const char *features[] = {"", "+nn", "+lists", "+nn+lists"};

        if (o->variant != NULL && strcmp(o->variant, entry->variant) != 0)
            continue;
        for (int r = 0; r < (o->all ? entry->n_results : 1); r++) {
            const gv_profile_result *result = &entry->result[r];

            gv_table_row(&table, "%s%s|%zu|%zu|%.2f|%.2f|%.1f %%|%.2g|%d|%s", entry->variant,
                         features[entry->features & 3], entry->sinks, entry->sources, 1e6 * result->time_s,
                         1e6 * result->call_s, 100 * result->spread, result->error, entry->evaluations,
                         result->configuration);
        }
    }
    gv_table_print(&table, stdout);
    gv_table_free(&table);
}

static int matches(const gv_profile_device *device, const gv_operands *operands)
{
    char key[GRAVEL_NAME_SIZE], wanted[GRAVEL_NAME_SIZE];

    if (operands->n == 0)
        return 1;
    gv_name_key(device->name, key);
    gv_name_key(operands->value[0], wanted);
    return strstr(key, wanted) != NULL;
}

static int any_matches(const gv_profile_set *set, const gv_operands *operands)
{
    for (int b = 0; b < set->n_blocks; b++)
        if (matches(&set->block[b].device, operands))
            return 1;
    return 0;
}

/* The user's profiles; where none is of the device that was named, those that come with gravel. */
static gravel_status load_for(const profiles_options *o, const gv_operands *operands, gv_profile_set *set, int *refused)
{
    profiles_options shipped = *o;
    gravel_status status = load(o, set, refused);

    if (status != GRAVEL_OK || o->shipped || operands->n == 0 || any_matches(set, operands))
        return status;
    shipped.shipped = 1;
    gv_profile_set_free(set);
    status = load(&shipped, set, refused);
    if (status == GRAVEL_OK && any_matches(set, operands))
        gv_say(COMMAND, "no profile of your own is of '%s'; this is what comes with gravel", operands->value[0]);
    return status;
}

static int run_show(const void *values, const gv_operands *operands)
{
    const profiles_options *o = values;
    gv_profile_set set = GV_PROFILE_SET_INIT;
    int refused = 0, shown = 0;
    gravel_status status;

    if (operands->n == 1 && access(operands->value[0], F_OK) == 0) {
        const gv_operands all = {0, NULL};

        status = gv_profile_read_file(operands->value[0], &set);
        for (int b = 0; status == GRAVEL_OK && b < set.n_blocks; b++) {
            shown += matches(&set.block[b].device, &all);
            show_block(&set.block[b], o);
        }
        return finish(status, &set, refused, 0);
    }
    status = load_for(o, operands, &set, &refused);
    for (int b = 0; status == GRAVEL_OK && b < set.n_blocks; b++) {
        if (matches(&set.block[b].device, operands)) {
            printf("%s", shown++ > 0 ? "\n" : "");
            show_block(&set.block[b], o);
        }
    }
    if (status == GRAVEL_OK && shown == 0) {
        if (operands->n > 0)
            gv_say(COMMAND, "no profile of a device like '%s'; `gravel profiles list` lists them", operands->value[0]);
        else
            gv_say(COMMAND, "there is no profile yet; `gravel tune --quick` makes one");
        refused++;
    }
    return finish(status, &set, refused, 0);
}

/* ------------------------------------------- validate, export, import, merge */

/* what gravel tune makes profiles of */
static const gv_subject *const subjects[] = {&gv_subject_direct, &gv_subject_tree, &gv_subject_tasks};

static void check_values(gv_profile_set *set, int *refused)
{
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++)
        gv_profile_set_check(set, subjects[k]->space, tell_refused, refused);
}

static int run_validate(const void *values, const gv_operands *operands)
{
    const profiles_options *o = values;
    gv_profile_set set = GV_PROFILE_SET_INIT;
    int refused = 0, entries = 0;
    gravel_status status = GRAVEL_OK;

    for (int i = 0; i < operands->n; i++) {
        gv_profile_set one = GV_PROFILE_SET_INIT;

        if (gv_profile_read_file(operands->value[i], &one) != GRAVEL_OK) {
            gv_say(COMMAND, "%s", gravel_error_message());
            refused++;
            continue;
        }
        const int before = refused;
        check_values(&one, &refused);
        if (refused == before)
            gv_print("%s: %d device%s, good\n", operands->value[i], one.n_blocks, one.n_blocks == 1 ? "" : "s");
        gv_profile_set_free(&one);
    }
    if (operands->n == 0) {
        status = load(o, &set, &refused);
        const int files = refused;
        check_values(&set, &refused);
        for (int b = 0; b < set.n_blocks; b++)
            entries += set.block[b].n_entries;
        if (status == GRAVEL_OK) {
            printf("%d device%s with %d entries, %d file%s refused\n", set.n_blocks, set.n_blocks == 1 ? "" : "s",
                   entries, files, files == 1 ? "" : "s");
        }
    }
    return finish(status, &set, refused, 0);
}

static gravel_status write_set(const char *path, const gv_profile_set *set)
{
    char *text = NULL;
    gv_out_file file;
    gravel_status status;

    status = gv_out_open(&file, path != NULL ? path : "-");
    if (status != GRAVEL_OK)
        return status;
    status = gv_profile_print(set, &text);
    if (status == GRAVEL_OK) {
        fputs(text, file.stream);
        free(text);
        status = gv_out_commit(&file);
    } else {
        gv_out_abort(&file);
    }
    return status;
}

static int run_export(const void *values, const gv_operands *operands)
{
    const profiles_options *o = values;
    gv_profile_set set = GV_PROFILE_SET_INIT, chosen = GV_PROFILE_SET_INIT;
    int refused = 0;
    gravel_status status = load_for(o, operands, &set, &refused);

    for (int b = 0; b < set.n_blocks && status == GRAVEL_OK; b++)
        for (int e = 0; e < set.block[b].n_entries && status == GRAVEL_OK && matches(&set.block[b].device, operands);
             e++)
            status = gv_profile_set_add(&chosen, &set.block[b].device, &set.block[b].entry[e]);
    if (status == GRAVEL_OK && chosen.n_blocks == 0) {
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "there is no profile to export%s%s",
                         operands->n > 0 ? " of a device like " : "", operands->n > 0 ? operands->value[0] : "");
    }
    const int writing = status == GRAVEL_OK;
    status = writing ? write_set(o->out, &chosen) : status;
    gv_profile_set_free(&chosen);
    return finish(status, &set, refused, writing);
}

/* The files, joined. */
static gravel_status read_all(const gv_operands *operands, gv_profile_set *set)
{
    gravel_status status = GRAVEL_OK;

    for (int i = 0; i < operands->n && status == GRAVEL_OK; i++) {
        gv_profile_set one = GV_PROFILE_SET_INIT;

        status = gv_profile_read_file(operands->value[i], &one);
        status = status == GRAVEL_OK ? gv_profile_set_merge(set, &one) : status;
        gv_profile_set_free(&one);
    }
    return status;
}

static int run_import(const void *values, const gv_operands *operands)
{
    const profiles_options *o = values;
    gv_profile_set set = GV_PROFILE_SET_INIT;
    char *dir = profile_dir(o), path[1024];
    gravel_status status =
        dir != NULL ? GRAVEL_OK : gv_fail(GRAVEL_ERR_FILE, "there is no home for profiles: name a --dir");

    /* all or nothing: a bad file among them leaves the folder as it was */
    if (status == GRAVEL_OK)
        status = read_all(operands, &set);
    const int writing = status == GRAVEL_OK;
    status = writing ? gv_profile_save(dir, &set, path, sizeof path) : status;
    if (status == GRAVEL_OK)
        for (int b = 0; b < set.n_blocks; b++)
            gv_print("%s: %d entries\n", set.block[b].device.name, set.block[b].n_entries);
    free(dir);
    return finish(status, &set, 0, writing);
}

static int run_merge(const void *values, const gv_operands *operands)
{
    const profiles_options *o = values;
    gv_profile_set set = GV_PROFILE_SET_INIT;
    gravel_status status = read_all(operands, &set);
    const int writing = status == GRAVEL_OK;
    status = writing ? write_set(o->out, &set) : status;
    return finish(status, &set, 0, writing);
}

static int run_diff(const void *values, const gv_operands *operands)
{
    const profiles_options *o = values;
    const gravel_status status = gv_profiles_diff(operands->value[0], operands->value[1], o->all);

    return status == GRAVEL_OK ? GV_EXIT_OK : gv_cli_fail(COMMAND, status);
}

/* ----------------------------------------------------------------- options */

#define AT(member) offsetof(profiles_options, member)
#define OPT_DIR                                                                                                        \
    {                                                                                                                  \
        .name = "dir", .kind = GV_OPT_TEXT, .offset = AT(dir), .value = "DIR",                                         \
        .help = "where profiles are (default: the XDG data directory)", .environment = "GRAVEL_PROFILE_DIR"            \
    }
#define OPT_SHIPPED                                                                                                    \
    {                                                                                                                  \
        .name = "shipped", .kind = GV_OPT_FLAG, .offset = AT(shipped), .help = "those that come with gravel"           \
    }
#define OPT_OUT                                                                                                        \
    {                                                                                                                  \
        .name = "output", .letter = 'o', .kind = GV_OPT_OUT, .offset = AT(out), .value = "FILE",                       \
        .help = "where to; - is standard output", .fallback = "-"                                                      \
    }

static const gv_opt list_opts[] = {OPT_DIR, OPT_SHIPPED, {.name = NULL}};
static const gv_opt show_opts[] = {
    OPT_DIR,
    OPT_SHIPPED,
    {.name = "variant", .kind = GV_OPT_TEXT, .offset = AT(variant), .value = "NAME", .help = "only this one: ds4"},
    {.name = "all", .letter = 'a', .kind = GV_OPT_FLAG, .offset = AT(all), .help = "the runners-up too"},
    {.name = NULL},
};
static const gv_opt export_opts[] = {OPT_DIR, OPT_SHIPPED, OPT_OUT, {.name = NULL}};
static const gv_opt import_opts[] = {OPT_DIR, {.name = NULL}};
static const gv_opt merge_opts[] = {OPT_OUT, {.name = NULL}};
static const gv_opt diff_opts[] = {
    {.name = "all", .letter = 'a', .kind = GV_OPT_FLAG, .offset = AT(all), .help = "also what did not change"},
    {.name = NULL},
};

const gv_command gv_cmd_profiles[] = {
    {.name = "list",
     .summary = "devices that have profiles",
     .synopsis = "[--shipped]",
     .opts = list_opts,
     .examples = "gravel profiles list\n",
     .size = sizeof(profiles_options),
     .run = run_list},
    {.name = "show",
     .summary = "the configurations of a device or file",
     .synopsis = "[DEVICE | FILE] [--variant NAME] [--all]",
     .opts = show_opts,
     .examples = "gravel profiles show H200 --variant ds4\n",
     .max_operands = 1,
     .size = sizeof(profiles_options),
     .run = run_show},
    {.name = "validate",
     .summary = "check files; exit status 1 if one is refused",
     .synopsis = "[FILE ...]",
     .about = "Without files the user's folder (or with --shipped what comes with gravel) is checked.",
     .opts = list_opts,
     .examples = "gravel profiles validate new.json\n",
     .max_operands = 1000,
     .size = sizeof(profiles_options),
     .run = run_validate},
    {.name = "export",
     .summary = "write profiles to a file",
     .synopsis = "[DEVICE] [-o FILE]",
     .opts = export_opts,
     .examples = "gravel profiles export H200 -o h200.json\n",
     .max_operands = 1,
     .size = sizeof(profiles_options),
     .run = run_export,
     .may_replace = 1}, /* the operand is a device */
    {.name = "import",
     .summary = "add files to the user's profiles, all or none",
     .synopsis = "FILE ...",
     .opts = import_opts,
     .examples = "gravel profiles import h200.json\n",
     .min_operands = 1,
     .max_operands = 1000,
     .size = sizeof(profiles_options),
     .run = run_import},
    {.name = "merge",
     .summary = "join files into one",
     .synopsis = "FILE ... [-o FILE]",
     .about = "Of one question the later measured entry leads; configurations only in the other are kept behind it.",
     .opts = merge_opts,
     .examples = "gravel profiles merge a.json b.json -o both.json\n",
     .min_operands = 1,
     .max_operands = 1000,
     .size = sizeof(profiles_options),
     .run = run_merge,
     .may_replace = 1},
    {.name = "diff",
     .summary = "compare two files",
     .synopsis = "FIRST SECOND [--all]",
     .opts = diff_opts,
     .examples = "gravel profiles diff old.json new.json\n",
     .min_operands = 2,
     .max_operands = 2,
     .size = sizeof(profiles_options),
     .run = run_diff},
    {.name = NULL},
};
