#include "tuner/recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/files.h"
#include "tuner/message.h"
#include "tuner/subject.h"

enum { RECORDING_MAX = 16 << 20 };
static const char *const type_name[] = {"", "cpu", "gpu", "accelerator"};

/* ---------------------------------------------------------------- reading */

static int read_header(const cJSON *root, gv_recording *r)
{
    char format[32], type[16];
    int t = GRAVEL_DEVICE_ACCELERATOR;

    if (!gv_message_text(root, "format", format, sizeof format) || strcmp(format, "gravel-recording") != 0 ||
        gv_message_number(root, "schema", 0) != 1 || !gv_message_get_task(root, &r->task) ||
        !gv_message_text(root, "device", r->header.device.name, GRAVEL_NAME_SIZE) ||
        !gv_message_text(root, "type", type, sizeof type))
        return 0;
    while (t > 0 && strcmp(type, type_name[t]) != 0)
        t--;
    r->header.device.type = (gravel_device_type)t;
    gv_message_text(root, "driver", r->header.driver, GRAVEL_NAME_SIZE);
    gv_message_text(root, "kernel_version", r->header.kernel_version, sizeof r->header.kernel_version);
    gv_message_text(root, "date", r->header.date, sizeof r->header.date);
    return t != 0;
}

static int read_tunables(const cJSON *root, gv_domain *domain)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "tunables"), *item, *value;

    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) < 1 || cJSON_GetArraySize(list) > GV_MAX_TUNABLES)
        return 0;
    cJSON_ArrayForEach(item, list)
    {
        const cJSON *values = cJSON_GetObjectItemCaseSensitive(item, "values");
        int d = domain->n++;

        if (!gv_message_text(item, "name", domain->name[d], sizeof domain->name[d]) || !cJSON_IsArray(values) ||
            cJSON_GetArraySize(values) < 1 || cJSON_GetArraySize(values) > GV_MAX_VALUES)
            return 0;
        domain->builds[d] = gv_message_number(item, "builds", 0) != 0;
        cJSON_ArrayForEach(value, values)
        {
            if (!cJSON_IsNumber(value) || fabs(value->valuedouble) > 1e9)
                return 0;
            domain->value[d][domain->n_values[d]++] = (int)value->valuedouble;
        }
    }
    return 1;
}

/* The indices at the front of a row; 0: not in the domain. */
static int read_point(const cJSON *row, const gv_domain *domain, gv_point *point, const cJSON **rest)
{
    const cJSON *item = cJSON_IsArray(row) ? row->child : NULL;

    memset(point, 0, sizeof *point);
    for (int d = 0; d < domain->n; d++, item = item->next) {
        if (!cJSON_IsNumber(item) || item->valuedouble < 0 || item->valuedouble >= domain->n_values[d])
            return 0;
        point->at[d] = (unsigned char)item->valuedouble;
    }
    *rest = item;
    return 1;
}

static int is_recorded(const void *user, const gv_domain *domain, const gv_point *point)
{
    const double *by_code = user;

    return !isnan(by_code[gv_domain_code(domain, point)]);
}

/* Times by code first: the domain lists its points in that order. */
static gravel_status read_rows(const char *name, const cJSON *root, gv_recording *r)
{
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(root, "rows"), *row, *time;
    gravel_status status = GRAVEL_OK;
    double *by_code;
    size_t n_codes = 1;
    gv_point point;

    for (int d = 0; d < r->domain.n; d++) {
        n_codes *= (size_t)r->domain.n_values[d];
        if (n_codes > 16u << 20)
            return gv_fail(GRAVEL_ERR_FORMAT, "%s: the recorded space is too large", name);
    }
    by_code = malloc(n_codes * sizeof *by_code);
    if (by_code == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "%s: no memory for a recording", name);
    for (size_t c = 0; c < n_codes; c++)
        by_code[c] = NAN;
    cJSON_ArrayForEach(row, rows)
    {
        if (!read_point(row, &r->domain, &point, &time) || !cJSON_IsNumber(time)) {
            status = gv_fail(GRAVEL_ERR_FORMAT, "%s: a row is damaged", name);
            break;
        }
        by_code[gv_domain_code(&r->domain, &point)] = time->valuedouble > 0 ? 1e-6 * time->valuedouble : INFINITY;
    }
    if (status == GRAVEL_OK)
        status = gv_domain_fill(&r->domain, is_recorded, by_code);
    if (status == GRAVEL_OK && (r->seconds = malloc((r->domain.n_points + 1) * sizeof(double))) == NULL)
        status = gv_fail(GRAVEL_ERR_MEMORY, "%s: no memory for a recording", name);
    r->best = INFINITY;
    for (size_t i = 0; status == GRAVEL_OK && i < r->domain.n_points; i++) {
        r->seconds[i] = by_code[gv_domain_code(&r->domain, &r->domain.point[i])];
        r->best = fmin(r->best, r->seconds[i]);
    }
    free(by_code);
    return status;
}

gravel_status gv_recording_parse(const char *name, const char *text, size_t size, gv_recording *r)
{
    gravel_status status;
    const cJSON *rest;
    size_t at = 0;
    const char *why = gv_json_check(text, size, &at);
    cJSON *root;

    memset(r, 0, sizeof *r);
    if (why != NULL)
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: byte %zu: %s", name, at, why);
    root = cJSON_ParseWithLength(text, size);
    if (gv_message_number(root, "schema", 1) > 1) {
        cJSON_Delete(root);
        return gv_fail(GRAVEL_ERR_UNSUPPORTED, "%s: written by a newer gravel", name);
    }
    if (root == NULL || !read_header(root, r) || !read_tunables(root, &r->domain)) {
        cJSON_Delete(root);
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: not a recording of a tuning space", name);
    }
    if (gv_subject_find(r->task.kernel) != NULL)
        gv_domain_mark_kinds(&r->domain, gv_subject_find(r->task.kernel)->space);
    status = read_rows(name, root, r);
    r->has_built_in = read_point(cJSON_GetObjectItemCaseSensitive(root, "built_in"), &r->domain, &r->built_in, &rest);
    cJSON_Delete(root);
    if (status == GRAVEL_OK && !isfinite(r->best))
        status = gv_fail(GRAVEL_ERR_FORMAT, "%s: no point of it has a time", name);
    if (status != GRAVEL_OK) {
        gv_recording_free(r);
        return status;
    }
    snprintf(r->name, sizeof r->name, "%.80s %s %zu x %zu", r->header.device.name, r->task.variant.name, r->task.sinks,
             r->task.sources);
    return GRAVEL_OK;
}

gravel_status gv_recording_read(const char *path, gv_recording *recording)
{
    char *text = NULL;
    size_t size;
    gravel_status status = gv_file_read(path, RECORDING_MAX, &text, &size);

    if (status == GRAVEL_OK) {
        status = gv_recording_parse(path, text, size, recording);
        free(text);
    }
    return status;
}

void gv_recording_free(gv_recording *recording)
{
    gv_domain_free(&recording->domain);
    free(recording->seconds);
    recording->seconds = NULL;
}

int gv_recording_objective(void *user, gv_search *search, const gv_point *point, int n, double *score)
{
    const gv_recording *r = user;

    (void)search;
    for (int k = 0; k < n; k++)
        score[k] = r->seconds[gv_domain_find(&r->domain, &point[k])];
    return n;
}

/* ---------------------------------------------------------------- writing */

/* Names may hold quotes. */
static void put_text(FILE *out, const char *name, const char *value)
{
    cJSON *item = cJSON_CreateString(value);
    char *text = item != NULL ? cJSON_PrintUnformatted(item) : NULL;

    fprintf(out, "\"%s\": %s, ", name, text != NULL ? text : "\"\"");
    cJSON_free(text);
    cJSON_Delete(item);
}

static gravel_status print_recording(const gv_tlog *log, const gv_task *task, const gv_domain *domain,
                                     const gv_space *space, const gv_point *built_in, FILE *out)
{
    int rows = 0;

    fprintf(out, "{\"format\": \"gravel-recording\", \"schema\": 1,\n ");
    put_text(out, "device", log->header.device.name);
    put_text(out, "type", type_name[log->header.device.type]);
    put_text(out, "driver", log->header.driver);
    fprintf(out, "\n ");
    put_text(out, "kernel", task->kernel);
    put_text(out, "kernel_version", log->header.kernel_version);
    put_text(out, "date", log->header.date);
    fprintf(out, "\n ");
    put_text(out, "variant", task->variant.name);
    fprintf(out, "\"features\": %u, \"sinks\": %zu, \"sources\": %zu,\n \"tunables\": [", task->variant.features,
            task->sinks, task->sources);
    for (int d = 0; d < domain->n; d++) {
        fprintf(out, "%s\n  {\"name\": \"%s\", \"builds\": %d, \"values\": [", d > 0 ? "," : "", domain->name[d],
                domain->builds[d]);
        for (int v = 0; v < domain->n_values[d]; v++)
            fprintf(out, "%s%d", v > 0 ? ", " : "", domain->value[d][v]);
        fprintf(out, "]}");
    }
    fprintf(out, "],\n \"built_in\": [");
    for (int d = 0; built_in != NULL && d < domain->n; d++)
        fprintf(out, "%s%d", d > 0 ? ", " : "", built_in->at[d]);
    fprintf(out, "],\n \"rows\": [");
    for (size_t i = 0; i < log->n; i++) {
        const gv_tlog_record *record = &log->record[i];
        gv_config config;
        gv_point point;

        memset(&config, 0, sizeof config);
        if (strcmp(record->stage, "search") != 0 || !gv_task_same(&record->task, task) ||
            gv_space_parse(space, record->configuration, &config) != GRAVEL_OK ||
            !gv_domain_point(domain, &config, &point))
            continue;
        fprintf(out, "%s\n  [", rows++ > 0 ? "," : "");
        for (int d = 0; d < domain->n; d++)
            fprintf(out, "%d, ", point.at[d]);
        fprintf(out, "%.6g]", record->outcome.status == GV_OUTCOME_OK ? 1e6 * gv_outcome_score(&record->outcome) : 0.0);
    }
    fprintf(out, "\n ]}\n");
    return GRAVEL_OK; /* a write that failed is found when the file is finished */
}

gravel_status gv_recording_from_log(const char *log_path, const gv_tune_options *options, FILE *out)
{
    const gv_space *space = gv_tune_subject(options)->space;
    gv_tune_device device;
    gv_domain domain;
    gv_tlog log;
    gv_config config;
    gv_point built_in;
    gravel_status status = gv_tlog_read(log_path, &log);

    memset(&domain, 0, sizeof domain);
    if (status != GRAVEL_OK)
        return status;
    if (log.n == 0) {
        status = gv_fail(GRAVEL_ERR_FORMAT, "%s: holds no outcomes", log_path);
        goto out;
    }
    status = gv_tune_look(options->device, options->no_fp64, space, &device);
    if (status == GRAVEL_OK) {
        status = gv_domain_of_space(&domain, space, &log.record[0].task.variant, &device.limits, options->limit,
                                    options->unlikely);
    }
    if (status != GRAVEL_OK)
        goto out;
    space->built_in(&config, &log.record[0].task.variant, &device.limits, log.record[0].task.sinks,
                    log.record[0].task.sources);
    status = print_recording(&log, &log.record[0].task, &domain, space,
                             gv_domain_point(&domain, &config, &built_in) ? &built_in : NULL, out);
out:
    gv_domain_free(&domain);
    gv_tlog_close(&log);
    return status;
}
