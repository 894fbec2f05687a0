/* Points from the results of benchmarks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

static double number_of(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static const char *text_of(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static gravel_status add(gv_points *p, const gv_point *point)
{
    const gv_question *q = &point->question;
    if (!(q->n >= 1) || !(point->seconds > 0) || !(q->ranks >= 1))
        return GRAVEL_OK; /* null where nothing was measured */
    gv_point *grown = realloc(p->point, (p->n + 1) * sizeof *grown);
    if (!grown)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for points");
    p->point = grown;
    p->point[p->n++] = *point;
    return GRAVEL_OK;
}

/* gravel bench hermite */
static gravel_status read_hermite(gv_points *p, const cJSON *root)
{
    const double ranks = number_of(root, "ranks"), order = number_of(root, "order");
    const cJSON *row;
    gravel_status status = GRAVEL_OK;
    p->compute_units = number_of(root, "compute_units") > 0 ? number_of(root, "compute_units") : 0;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(root, "results"))
    {
        const gv_point point = {
            .question = {.n = number_of(row, "n"),
                         .active = number_of(row, "active"),
                         .ranks = ranks >= 1 && ranks < 1e6 ? (int)ranks : 0,
                         .order = order == 6 ? 6 : 4,
                         .precision = strcmp(text_of(root, "precision"), "dp") == 0 ? GV_MODEL_DP : GV_MODEL_DS,
                         .scheme = strcmp(text_of(row, "scheme"), "ring") == 0                     ? GV_MODEL_RING
                                   : cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(row, "shared")) ? GV_MODEL_COPIES
                                                                                                   : GV_MODEL_ALONE,
                         .forces_only = strcmp(text_of(row, "mode"), "forces") == 0},
            .seconds = number_of(row, "step_s_median")};
        if (!status)
            status = add(p, &point);
    }
    return status;
}

/* gravel bench leapfrog: whole steps of the tree, also over ranks */
static gravel_status read_leapfrog(gv_points *p, const cJSON *root)
{
    const double ranks = number_of(root, "ranks"), theta = number_of(root, "theta");
    const cJSON *row;
    gravel_status status = GRAVEL_OK;
    if (!(theta > 0) || strcmp(text_of(root, "precision"), "sp") != 0)
        return GRAVEL_OK;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(root, "results"))
    {
        const gv_point point = {.question = {.n = number_of(row, "n"),
                                             .ranks = ranks >= 1 && ranks < 1e6 ? (int)ranks : 0,
                                             .order = 4,
                                             .scheme = GV_MODEL_TREE,
                                             .theta = theta},
                                .seconds = number_of(row, "step_s_median")};
        if (!status)
            status = add(p, &point);
    }
    return status;
}

/* gravel bench step with a tree: leapfrog steps of all bodies on one device */
static gravel_status read_steps(gv_points *p, const cJSON *root)
{
    const cJSON *row;
    gravel_status status = GRAVEL_OK;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(root, "results"))
    {
        const gv_point point = {.question = {.n = number_of(row, "n"),
                                             .ranks = 1,
                                             .order = 4,
                                             .scheme = GV_MODEL_TREE,
                                             .theta = number_of(row, "theta")},
                                .seconds = number_of(row, "step_s_median")};
        if (strcmp(text_of(row, "solver"), "tree") == 0 && strcmp(text_of(row, "mode"), "leapfrog") == 0 &&
            strcmp(text_of(row, "precision"), "sp") == 0 && point.question.theta > 0 && !status)
            status = add(p, &point);
    }
    return status;
}

/* gravel bench tree; sp and quadrupoles are what the model is about */
static gravel_status read_tree(gv_points *p, const cJSON *list)
{
    static const char *const part[] = {"sort_s_median", "build_s_median", "moments_s_median", "groups_s_median",
                                       "walk_s_median"};
    const cJSON *row;
    gravel_status status = GRAVEL_OK;
    cJSON_ArrayForEach(row, list)
    {
        gv_point point = {.question = {.n = number_of(row, "n"),
                                       .ranks = 1,
                                       .order = 4,
                                       .scheme = GV_MODEL_TREE,
                                       .forces_only = 1,
                                       .theta = number_of(row, "theta")},
                          .seconds = 0};
        if (strcmp(text_of(row, "precision"), "sp") != 0 || number_of(row, "moments") != 2 ||
            !(point.question.theta > 0))
            continue;
        for (int k = 0; k < 5; k++)
            point.part[k] = number_of(row, part[k]);
        point.part[0] += number_of(row, "keys_s_median");
        for (int k = 0; k < 5; k++)
            point.seconds += point.part[k];
        if (!status)
            status = add(p, &point);
    }
    return status;
}

/* gravel cluster measure: the rate when all ranks send */
static void read_network(gv_points *p, const cJSON *root)
{
    const cJSON *ring = cJSON_GetObjectItemCaseSensitive(root, "ring");
    const cJSON *last = cJSON_GetArrayItem(ring, cJSON_GetArraySize(ring) - 1);
    p->latency_s = number_of(root, "latency_s");
    p->bytes_per_s = number_of(last, "bytes") / number_of(last, "seconds");
}

gravel_status gv_points_read(gv_points *p, const char *text, const char *name)
{
    cJSON *root = cJSON_Parse(text);
    const size_t before = p->n;
    gravel_status status = GRAVEL_OK;
    int known = 1;
    if (cJSON_IsArray(root))
        status = read_tree(p, root);
    else if (strcmp(text_of(root, "benchmark"), "hermite") == 0)
        status = read_hermite(p, root);
    else if (strcmp(text_of(root, "benchmark"), "leapfrog") == 0)
        status = read_leapfrog(p, root);
    else if (number_of(root, "latency_s") > 0)
        read_network(p, root);
    else if (cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(root, "results")) &&
             !cJSON_HasObjectItem(root, "benchmark"))
        status = read_steps(p, root);
    else
        known = 0;
    if (!status && (!known || (p->n == before && !(p->latency_s > 0))))
        status = gv_fail(
            GRAVEL_ERR_FORMAT,
            "%s: no results of gravel bench hermite, leapfrog, step or tree (sp, moments 2) or of gravel cluster "
            "measure",
            name);
    cJSON_Delete(root);
    return status;
}

void gv_points_free(gv_points *p)
{
    free(p->point);
    *p = (gv_points){0};
}
