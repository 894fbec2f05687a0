/* Machines as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

/* Numbers of a machine by their names, in the order of the JSON; group NULL: at the top. */
typedef struct entry {
    const char *group, *name;
    size_t offset;
} entry;
#define AT(group, name, member)                                                                                        \
    {                                                                                                                  \
        group, name, offsetof(gv_machine, member)                                                                      \
    }
static const entry number[] = {
    AT("direct", "ds4_pairs_per_s", pairs_per_s[0][0]),
    AT("direct", "ds6_pairs_per_s", pairs_per_s[0][1]),
    AT("direct", "dp4_pairs_per_s", pairs_per_s[1][0]),
    AT("direct", "dp6_pairs_per_s", pairs_per_s[1][1]),
    AT("direct", "call_s", call_s),
    AT("direct", "source_s", source_s),
    AT("direct", "compute_units", compute_units),
    AT("direct", "rule_pairs_per_s_and_unit", pair_block),
    AT("direct", "step_s", step_s),
    AT("direct", "body_s", body_s),
    AT("direct", "bytes_a_body", bytes_a_body),
    AT("device", "memory_bytes", memory_bytes),
    AT("transfer", "latency_s", transfer.latency_s),
    AT("transfer", "bytes_per_s", transfer.bytes_per_s),
    AT("node", "latency_s", node.latency_s),
    AT("node", "bytes_per_s", node.bytes_per_s),
    AT("network", "latency_s", network.latency_s),
    AT("network", "bytes_per_s", network.bytes_per_s),
    AT("tree", "step_s", tree_step_s),
    AT("tree", "rest_s", tree_rest[0]),
    AT("tree", "rest_body_s", tree_rest[1]),
    AT("tree", "sort_s", stage[0][0]),
    AT("tree", "sort_body_s", stage[0][1]),
    AT("tree", "build_s", stage[1][0]),
    AT("tree", "build_body_s", stage[1][1]),
    AT("tree", "moments_s", stage[2][0]),
    AT("tree", "moments_body_s", stage[2][1]),
    AT("tree", "groups_s", stage[3][0]),
    AT("tree", "groups_body_s", stage[3][1]),
    AT("tree", "boundary_s", boundary[0]),
    AT("tree", "boundary_surface_s", boundary[1]),
    AT("tree", "node_bytes_per_s", tree_rate),
    AT("tree", "parts_bytes_per_s", parts_rate),
    AT("tree", "imbalance", imbalance),
    AT("tree", "moved_share", moved),
    AT("tree", "surface_cells", surface),
    AT("tree", "deep_cells", deep),
    AT("tree", "bytes_a_body", tree_bytes_a_body),
};
static const entry curve[] = {
    AT("direct", "efficiency", efficiency),
    AT("tree", "walk", walk),
    AT("tree", "theta", theta),
};
enum { NUMBERS = sizeof number / sizeof number[0], CURVES = sizeof curve / sizeof curve[0] };

static double *number_at(gv_machine *m, const entry *e)
{
    return (double *)((char *)m + e->offset);
}

static gv_curve *curve_at(gv_machine *m, const entry *e)
{
    return (gv_curve *)((char *)m + e->offset);
}

/* Where they are from is in doc/clusters.md. */
void gv_machine_example(gv_machine *m)
{
    static const gv_machine h200 = {
        .name = "H200, 8 a machine, 400 Gb/s a GPU",
        .pairs_per_s = {{7.68e11, 4.45e11}, {4.26e11, 2.48e11}},
        .call_s = 4.09e-5,
        .source_s = 2.63e-11,
        .efficiency = {7,
                       {256, 1024, 4096, 16384, 131072, 262144, 1048576},
                       {0.867, 0.877, 0.913, 0.940, 0.967, 0.989, 1}},
        .compute_units = 132,
        .pair_block = 4e9,
        .step_s = 4.3e-5,
        .body_s = 0,
        .memory_bytes = 1.4e11,
        .bytes_a_body = 300,
        .transfer = {1e-5, 8e9},
        .node = {5e-7, 6e9},
        .network = {3e-6, 5e10},
        .node_ranks = 8,
        .tree_step_s = 3e-5,
        .tree_rest = {1.15e-4, 3.34e-10},
        .stage = {{3.0e-4, 2.7e-10}, {4.7e-5, 3.1e-11}, {2.4e-4, 3.4e-11}, {3.1e-4, 5.9e-11}},
        .walk = {7,
                 {16384, 65536, 131072, 262144, 1048576, 4194304, 16777216},
                 {1.19e-4, 4.1e-4, 4.75e-4, 7.2e-4, 2.178e-3, 7.023e-3, 2.562e-2}},
        .theta = {3, {0.3, 0.5, 0.75}, {3.1, 1, 0.54}},
        .boundary = {1.35e-3, 0},
        .tree_rate = 7e9,
        .parts_rate = 4.8e10, /* 11.6 MB in 0.243 ms, 17.7 MB in 0.352 (bench/results/h200_leapfrog_2.json) */
        .imbalance = 1.05,
        .moved = 0.001, /* 1540 of 2097152 and 4048 of 8388608 a step, there */
        .surface = 9,
        .deep = 2500,
        .tree_bytes_a_body = 130,
    };
    *m = h200;
}

/* ------------------------------------------------------------------- reading */

static gravel_status read_curve(gv_curve *c, const cJSON *list, const char *name, const char *what)
{
    c->n = 0;
    const cJSON *pair;
    cJSON_ArrayForEach(pair, list)
    {
        const cJSON *x = cJSON_GetArrayItem(pair, 0), *y = cJSON_GetArrayItem(pair, 1);
        if (!cJSON_IsNumber(x) || !cJSON_IsNumber(y) || !(x->valuedouble > 0) || !(y->valuedouble > 0) ||
            !(x->valuedouble < 1e30) || !(y->valuedouble < 1e30) || c->n == GV_CURVE_POINTS ||
            (c->n > 0 && x->valuedouble <= c->x[c->n - 1]))
            return gv_fail(
                GRAVEL_ERR_FORMAT,
                "%s: %s: at most %d pairs of positive numbers below 1e30, the first of which grow, are wanted", name,
                what, GV_CURVE_POINTS);
        c->x[c->n] = x->valuedouble;
        c->y[c->n++] = y->valuedouble;
    }
    return c->n > 0 ? GRAVEL_OK : gv_fail(GRAVEL_ERR_FORMAT, "%s: %s is no list of pairs", name, what);
}

static const cJSON *find(const cJSON *root, const entry *e)
{
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(root, e->group), e->name);
}

static int is_known(const char *group, const char *name)
{
    for (int k = 0; k < NUMBERS; k++)
        if (strcmp(number[k].group, group) == 0 && strcmp(number[k].name, name) == 0)
            return 1;
    for (int k = 0; k < CURVES; k++)
        if (strcmp(curve[k].group, group) == 0 && strcmp(curve[k].name, name) == 0)
            return 1;
    return strcmp(group, "node") == 0 && strcmp(name, "ranks") == 0;
}

/* A misspelt name would leave the example's number in its place. */
static gravel_status check_names(const cJSON *root, const char *name)
{
    const cJSON *group, *item;
    cJSON_ArrayForEach(group, root)
    {
        if (strcmp(group->string, "name") == 0)
            continue;
        if (!cJSON_IsObject(group))
            return gv_fail(GRAVEL_ERR_FORMAT, "%s: '%s' is no part of a machine; 'gravel model --example' shows all",
                           name, group->string);
        cJSON_ArrayForEach(item, group) if (!is_known(group->string, item->string)) return gv_fail(
            GRAVEL_ERR_FORMAT, "%s: '%s' of '%s' is nothing that is known; 'gravel model --example' shows all", name,
            item->string, group->string);
    }
    return GRAVEL_OK;
}

static gravel_status read_number(gv_machine *m, const entry *e, const cJSON *root, const char *name)
{
    const cJSON *item = find(root, e);
    if (!item)
        return GRAVEL_OK;
    const int may_be_zero = strstr(e->name, "_s") != NULL && strstr(e->name, "per_s") == NULL;
    if (!cJSON_IsNumber(item) || !(item->valuedouble < 1e30) || item->valuedouble < 0 ||
        (item->valuedouble == 0 && !may_be_zero && strcmp(e->name, "deep_cells") != 0))
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: %s of %s is no positive number below 1e30", name, e->name, e->group);
    *number_at(m, e) = item->valuedouble;
    return GRAVEL_OK;
}

static gravel_status read_all(gv_machine *m, const cJSON *root, const char *name)
{
    const cJSON *title = cJSON_GetObjectItemCaseSensitive(root, "name");
    const cJSON *ranks = find(root, &(entry){"node", "ranks", 0});
    gravel_status status = check_names(root, name);
    snprintf(m->name, sizeof m->name, "%s", cJSON_IsString(title) ? title->valuestring : name);
    for (int k = 0; k < NUMBERS && !status; k++)
        status = read_number(m, &number[k], root, name);
    for (int k = 0; k < CURVES && !status; k++)
        if (find(root, &curve[k]))
            status = read_curve(curve_at(m, &curve[k]), find(root, &curve[k]), name, curve[k].name);
    if (!status && ranks && (!cJSON_IsNumber(ranks) || ranks->valuedouble < 1 || ranks->valuedouble > 1024))
        status = gv_fail(GRAVEL_ERR_FORMAT, "%s: ranks of node is no number from 1 to 1024", name);
    if (!status && ranks)
        m->node_ranks = ranks->valueint;
    return status;
}

gravel_status gv_machine_parse(gv_machine *m, const char *text, const char *name)
{
    cJSON *root = cJSON_Parse(text);
    gv_machine_example(m);
    gravel_status status =
        cJSON_IsObject(root) ? read_all(m, root, name) : gv_fail(GRAVEL_ERR_FORMAT, "%s is no JSON of a machine", name);
    cJSON_Delete(root);
    return status;
}

/* ------------------------------------------------------------------- writing */

static cJSON *group_of(cJSON *root, const char *name)
{
    cJSON *group = cJSON_GetObjectItemCaseSensitive(root, name);
    return group ? group : cJSON_AddObjectToObject(root, name);
}

cJSON *gv_machine_json(const gv_machine *machine)
{
    gv_machine m = *machine;
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "name", m.name);
    for (int k = 0; k < NUMBERS; k++)
        cJSON_AddNumberToObject(group_of(root, number[k].group), number[k].name, *number_at(&m, &number[k]));
    cJSON_AddNumberToObject(group_of(root, "node"), "ranks", m.node_ranks);
    for (int k = 0; k < CURVES; k++) {
        const gv_curve *c = curve_at(&m, &curve[k]);
        cJSON *list = cJSON_AddArrayToObject(group_of(root, curve[k].group), curve[k].name);
        for (int i = 0; i < c->n; i++)
            cJSON_AddItemToArray(list, cJSON_CreateDoubleArray((const double[]){c->x[i], c->y[i]}, 2));
    }
    return root;
}
