#include "cli/plot_tree_records.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/files.h"
#include "host/profile/store.h"

double gv_tree_record_number(const cJSON *item, const char *name)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, name);

    return cJSON_IsNumber(value) ? value->valuedouble : NAN;
}

static const char *text(const cJSON *item, const char *name)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, name);

    return cJSON_IsString(value) ? value->valuestring : "";
}

static const cJSON *rows(const cJSON *item, const char *name)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, name);

    return cJSON_IsArray(value) ? value : NULL;
}

static void take(const cJSON *item, gv_tree_record *r)
{
    char name[32];

    *r = (gv_tree_record){text(item, "device"),
                          text(item, "model"),
                          text(item, "mac"),
                          gv_tree_record_number(item, "n"),
                          gv_tree_record_number(item, "theta"),
                          gv_tree_record_number(item, "moments"),
                          gv_tree_record_number(item, "err_acc_p50"),
                          gv_tree_record_number(item, "err_acc_p99"),
                          {0},
                          rows(item, "err_acc_above"),
                          rows(item, "points"),
                          gv_tree_record_number(item, "crossover_n"),
                          gv_tree_record_number(item, "crossover_n_sp2")};
    for (int s = 0; s < GV_TREE_STAGES; s++) {
        snprintf(name, sizeof name, "%s_s_median", gv_tree_stage_name[s]);
        r->stage[s] = gv_tree_record_number(item, name);
    }
}

static int ascending(const void *a, const void *b)
{
    const gv_tree_record *x = a, *y = b;

    return x->n != y->n ? (x->n > y->n) - (x->n < y->n) : (x->theta > y->theta) - (x->theta < y->theta);
}

gravel_status gv_tree_records_read(gv_tree_records *all, const char *path)
{
    char *content = NULL;
    size_t size = 0, at;
    const cJSON *item;
    gravel_status status = gv_file_read(path, 64 << 20, &content, &size);
    cJSON *root = NULL;

    if (status == GRAVEL_OK && gv_json_check(content, size, &at) == NULL)
        root = cJSON_ParseWithLength(content, size);
    free(content);
    if (status == GRAVEL_OK && !cJSON_IsArray(root))
        status = gv_fail(GRAVEL_ERR_FORMAT, "%s: not the JSON of 'gravel bench tree'", path);
    if (status != GRAVEL_OK) {
        cJSON_Delete(root);
        return status;
    }
    all->root[all->n_files++] = root;
    cJSON_ArrayForEach(item, root)
    {
        if (all->n < GV_MOST_TREE_RECORDS)
            take(item, &all->r[all->n++]);
    }
    qsort(all->r, (size_t)all->n, sizeof all->r[0], ascending);
    return GRAVEL_OK;
}

void gv_tree_records_free(gv_tree_records *all)
{
    for (int f = 0; f < all->n_files; f++)
        cJSON_Delete(all->root[f]);
}

int gv_tree_records_group(const gv_tree_records *all, gv_same_tree_record same, gv_wanted_tree_record wanted, int *of,
                          const gv_tree_record **first)
{
    int groups = 0;

    for (int i = 0; i < all->n; i++) {
        int g = 0;

        of[i] = -1;
        if (!wanted(&all->r[i]))
            continue;
        while (g < groups && !same(first[g], &all->r[i]))
            g++;
        if (g == GV_MOST_TREE_GROUPS)
            continue;
        if (g == groups)
            first[groups++] = &all->r[i];
        of[i] = g;
    }
    return groups;
}

const gv_tree_record *gv_tree_records_first(const gv_tree_records *all, gv_wanted_tree_record wanted)
{
    for (int i = 0; i < all->n; i++)
        if (wanted(&all->r[i]))
            return &all->r[i];
    return NULL;
}

int gv_tree_records_distinct(const gv_tree_records *all, gv_wanted_tree_record wanted, int of_n)
{
    int count = 0;

    for (int i = 0; i < all->n; i++) {
        int seen = !wanted(&all->r[i]);

        for (int k = 0; k < i && !seen; k++)
            seen = wanted(&all->r[k]) && (of_n ? all->r[k].n == all->r[i].n : all->r[k].theta == all->r[i].theta);
        count += !seen;
    }
    return count;
}
