/* Requests and outcomes as lines of JSON: between parent and worker, and in the tuning log. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gravel/tree.h"
#include "tuner/message.h"
#include "tuner/worker.h"

double gv_message_number(const cJSON *object, const char *name, double otherwise)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

    return cJSON_IsNumber(item) && isfinite(item->valuedouble) ? item->valuedouble : otherwise;
}

int gv_message_int(const cJSON *object, const char *name, int low, int high, int otherwise)
{
    const double value = gv_message_number(object, name, NAN);

    return value >= low && value <= high && value == floor(value) ? (int)value : otherwise;
}

int gv_message_text(const cJSON *object, const char *name, char *text, size_t size)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

    text[0] = '\0';
    if (!cJSON_IsString(item) || strlen(item->valuestring) >= size)
        return 0;
    snprintf(text, size, "%s", item->valuestring);
    return 1;
}

/* cJSON prints 15 digits; a resumed run must see the bits of the first one. */
static void put_exact(cJSON *object, const char *name, double value)
{
    char text[40];

    snprintf(text, sizeof text, "%.17g", isfinite(value) ? value : 0.0);
    cJSON_AddRawToObject(object, name, text);
}

void gv_message_put_task(cJSON *object, const gv_task *task)
{
    cJSON_AddStringToObject(object, "kernel", task->kernel);
    cJSON_AddStringToObject(object, "variant", task->variant.name);
    cJSON_AddNumberToObject(object, "features", task->variant.features);
    cJSON_AddNumberToObject(object, "sinks", (double)task->sinks);
    cJSON_AddNumberToObject(object, "sources", (double)task->sources);
    if (task->theta > 0)
        cJSON_AddNumberToObject(object, "theta", task->theta);
    if (task->active > 0)
        cJSON_AddNumberToObject(object, "active", task->active);
}

int gv_message_get_task(const cJSON *object, gv_task *task)
{
    char variant[16];
    double sinks = gv_message_number(object, "sinks", 0), sources = gv_message_number(object, "sources", 0);

    memset(task, 0, sizeof *task);
    if (!gv_message_text(object, "kernel", task->kernel, sizeof task->kernel) ||
        !gv_message_text(object, "variant", variant, sizeof variant) || !gv_variant_parse(variant, &task->variant) ||
        sinks < 1 || sources < 1 || sinks > 1e12 || sources > 1e12) {
        return 0;
    }
    task->variant.features = (unsigned)gv_message_int(object, "features", 0, 0xffff, 0);
    task->sinks = (size_t)sinks;
    task->sources = (size_t)sources;
    task->theta = gv_message_number(object, "theta", 0);
    task->active = gv_message_number(object, "active", 0);
    return task->theta >= 0 && task->theta <= GRAVEL_TREE_THETA_MAX && task->active >= 0 && task->active <= 1;
}

void gv_message_put_outcome(cJSON *object, const gv_outcome *outcome)
{
    cJSON_AddStringToObject(object, "status", gv_outcome_name(outcome->status));
    if (outcome->status == GV_OUTCOME_OK) {
        put_exact(object, "time_s", outcome->time_s);
        put_exact(object, "time_min_s", outcome->time_min_s);
        put_exact(object, "spread", outcome->spread);
        put_exact(object, "call_s", outcome->call_s);
        cJSON_AddNumberToObject(object, "samples", outcome->samples);
    }
    if (outcome->error > 0)
        put_exact(object, "error", outcome->error);
    if (outcome->stopped)
        cJSON_AddNumberToObject(object, "stopped", 1);
    put_exact(object, "cost_s", outcome->cost_s);
    if (outcome->reason[0] != '\0')
        cJSON_AddStringToObject(object, "reason", outcome->reason);
}

int gv_message_get_outcome(const cJSON *object, gv_outcome *outcome)
{
    char status[16];
    int code;

    memset(outcome, 0, sizeof *outcome);
    if (!gv_message_text(object, "status", status, sizeof status) || (code = gv_outcome_parse(status)) < 0)
        return 0;
    outcome->status = (gv_outcome_status)code;
    outcome->time_s = gv_message_number(object, "time_s", 0);
    outcome->time_min_s = gv_message_number(object, "time_min_s", 0);
    outcome->spread = gv_message_number(object, "spread", 0);
    outcome->call_s = gv_message_number(object, "call_s", 0);
    outcome->samples = gv_message_int(object, "samples", 0, INT_MAX, 0);
    outcome->error = gv_message_number(object, "error", 0);
    outcome->stopped = gv_message_int(object, "stopped", 0, 1, 0);
    outcome->cost_s = gv_message_number(object, "cost_s", 0);
    gv_message_text(object, "reason", outcome->reason, sizeof outcome->reason);
    return outcome->status != GV_OUTCOME_OK || outcome->time_s >= 0;
}

char *gv_outcome_print(const gv_outcome *outcome)
{
    cJSON *object = cJSON_CreateObject();
    char *text;

    gv_message_put_outcome(object, outcome);
    text = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    return text;
}

int gv_outcome_read(const char *line, gv_outcome *outcome)
{
    cJSON *object = cJSON_Parse(line);
    int good = object != NULL && gv_message_get_outcome(object, outcome);

    cJSON_Delete(object);
    return good;
}

char *gv_request_print(const gv_request *request)
{
    cJSON *object = cJSON_CreateObject();
    char *text;

    cJSON_AddNumberToObject(object, "build_only", request->build_only);
    gv_message_put_task(object, &request->task);
    cJSON_AddStringToObject(object, "configuration", request->configuration);
    cJSON_AddNumberToObject(object, "seed", (double)(request->seed & 0xffffffffffffull));
    if (request->turn > 0)
        cJSON_AddNumberToObject(object, "turn", request->turn);
    cJSON_AddNumberToObject(object, "least", request->effort.least);
    cJSON_AddNumberToObject(object, "most", request->effort.most);
    cJSON_AddNumberToObject(object, "least_s", request->effort.least_s);
    cJSON_AddNumberToObject(object, "most_s", request->effort.most_s);
    cJSON_AddNumberToObject(object, "stop_above", request->effort.stop_above);
    text = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    return text;
}

int gv_request_parse(const char *line, gv_request *request)
{
    cJSON *object = cJSON_Parse(line);
    double seed;
    int good;

    memset(request, 0, sizeof *request);
    good = object != NULL && gv_message_get_task(object, &request->task) &&
           gv_message_text(object, "configuration", request->configuration, sizeof request->configuration);
    request->build_only = gv_message_number(object, "build_only", 0) != 0;
    seed = gv_message_number(object, "seed", 1);
    request->seed = seed >= 0 && seed < 0x1p48 ? (uint64_t)seed : 1;
    request->turn = gv_message_int(object, "turn", 0, INT_MAX, 0);
    request->effort.least = gv_message_int(object, "least", 1, 1 << 20, 8);
    request->effort.most = gv_message_int(object, "most", 1, 1 << 20, 64);
    request->effort.least_s = gv_message_number(object, "least_s", 0.02);
    request->effort.most_s = gv_message_number(object, "most_s", 2);
    request->effort.stop_above = gv_message_number(object, "stop_above", 1e30);
    cJSON_Delete(object);
    return good;
}
