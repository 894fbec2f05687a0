/* gravel tune --list: the space as it is on this device. */
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_tune.h"
#include "tuner/session.h"
#include "tuner/subject.h"

typedef struct tally {
    unsigned long long total, valid, alone[64], first[64];
} tally;

/* Walks the whole product: how many points each constraint breaks at all, and how many it is the first to break. */
static void count(const gv_space *space, const gv_variant *variant, const gv_limits *limits, tally *t)
{
    int at[GV_MAX_TUNABLES] = {0}, d;
    gv_config config;

    memset(t, 0, sizeof *t);
    memset(&config, 0, sizeof config);
    do {
        int broken = 0;

        for (d = 0; d < space->n_tunables; d++)
            config.value[d] = space->tunable[d].values[at[d]];
        for (int c = 0; c < space->n_constraints && c < 64; c++) {
            if (!space->constraint[c].holds(&config, variant, limits)) {
                t->alone[c]++;
                t->first[c] += !broken;
                broken = 1;
            }
        }
        t->total++;
        t->valid += !broken;
        for (d = space->n_tunables - 1; d >= 0 && ++at[d] == space->tunable[d].n_values; d--)
            at[d] = 0;
    } while (d >= 0);
}

static void print_tunables(const gv_space *space)
{
    gv_table table;

    gv_table_start(&table, "tunable|unit|where|values|meaning");
    for (int d = 0; d < space->n_tunables; d++) {
        const gv_tunable *tunable = &space->tunable[d];
        char values[160] = "";

        for (int v = 0; v < tunable->n_values; v++) {
            const size_t n = strlen(values);

            snprintf(values + n, sizeof values - n, "%s%d", v > 0 ? " " : "", tunable->values[v]);
        }
        gv_table_row(&table, "%s|%s|%s|%s|%s", tunable->name, tunable->unit, tunable->macro ? "program" : "launch",
                     values, tunable->help);
    }
    gv_table_print(&table, stdout);
    gv_table_free(&table);
}

static void print_constraints(const gv_space *space, const gv_variant *variant, const gv_limits *limits)
{
    gv_table table;
    tally t;

    count(space, variant, limits, &t);
    gv_print("\n%s %s on %s: %llu of %llu points may run\n", space->kernel, variant->name, limits->info.name, t.valid,
             t.total);
    gv_table_start(&table, "removes|of those left|constraint");
    for (int c = 0; c < space->n_constraints && c < 64; c++)
        gv_table_row(&table, "%llu|%llu|%s", t.alone[c], t.first[c], space->constraint[c].reason);
    gv_table_print(&table, stdout);
    gv_table_free(&table);
}

static cJSON *json_tunables(const gv_space *space)
{
    cJSON *all = cJSON_CreateArray();

    for (int d = 0; d < space->n_tunables; d++) {
        const gv_tunable *tunable = &space->tunable[d];
        cJSON *object = cJSON_CreateObject();

        cJSON_AddStringToObject(object, "tunable", tunable->name);
        cJSON_AddStringToObject(object, "unit", tunable->unit);
        cJSON_AddStringToObject(object, "where", tunable->macro ? "program" : "launch");
        cJSON_AddItemToObject(object, "values", cJSON_CreateIntArray(tunable->values, tunable->n_values));
        cJSON_AddStringToObject(object, "meaning", tunable->help);
        cJSON_AddItemToArray(all, object);
    }
    return all;
}

static cJSON *json_constraints(const gv_space *space, const gv_variant *variant, const gv_limits *limits)
{
    cJSON *object = cJSON_CreateObject(), *all;
    tally t;

    count(space, variant, limits, &t);
    cJSON_AddStringToObject(object, "variant", variant->name);
    cJSON_AddNumberToObject(object, "points", (double)t.total);
    cJSON_AddNumberToObject(object, "may_run", (double)t.valid);
    all = cJSON_AddArrayToObject(object, "constraints");
    for (int c = 0; c < space->n_constraints && c < 64; c++) {
        cJSON *constraint = cJSON_CreateObject();

        cJSON_AddNumberToObject(constraint, "removes", (double)t.alone[c]);
        cJSON_AddNumberToObject(constraint, "of_those_left", (double)t.first[c]);
        cJSON_AddStringToObject(constraint, "constraint", space->constraint[c].reason);
        cJSON_AddItemToArray(all, constraint);
    }
    return object;
}

static gravel_status print_json(const gv_space *space, const gv_variant *variant, int n, const gv_limits *limits)
{
    cJSON *root = cJSON_CreateObject(), *variants;

    gv_json_stamp(root);
    cJSON_AddStringToObject(root, "device", limits->info.name);
    cJSON_AddStringToObject(root, "kernel", space->kernel);
    cJSON_AddItemToObject(root, "tunables", json_tunables(space));
    variants = cJSON_AddArrayToObject(root, "variants");
    for (int v = 0; v < n; v++)
        cJSON_AddItemToArray(variants, json_constraints(space, &variant[v], limits));
    return gv_json_write(root, NULL);
}

int gv_tune_list(const tune_options *options)
{
    const gv_space *space = gv_subject_find(options->kernel)->space;
    gv_variant variant[GV_TUNE_VARIANTS];
    gv_tune_device device;
    const int n = gv_tune_variants(options, variant, GV_TUNE_VARIANTS);
    gravel_status status;

    if (n == 0)
        return GV_EXIT_USAGE;
    status = gv_tune_look(options->device, options->no_fp64, space, &device);
    if (status != GRAVEL_OK)
        return gv_cli_fail("gravel tune", status);
    if (options->json) {
        status = print_json(space, variant, n, &device.limits);
        return status != GRAVEL_OK ? gv_cli_fail_writing("gravel tune", status) : GV_EXIT_OK;
    }
    print_tunables(space);
    for (int v = 0; v < n; v++)
        print_constraints(space, &variant[v], &device.limits);
    return GV_EXIT_OK;
}
