/* Profiles as text: one line per entry head and per result, so that a version control system shows what changed. */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/device/device.h"
#include "host/profile/store.h"

typedef struct writer {
    char *text;
    size_t size, room;
    int failed;
} writer;

static void put(writer *w, const char *format, ...) GV_PRINTF(2, 3);

static void put(writer *w, const char *format, ...)
{
    va_list list;
    int n;

    va_start(list, format);
    n = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (w->failed || n < 0) {
        w->failed = 1;
        return;
    }
    if (w->size + (size_t)n + 1 > w->room) {
        size_t room = 2 * (w->size + (size_t)n) + 4096;
        char *grown = realloc(w->text, room);

        if (grown == NULL) {
            w->failed = 1;
            return;
        }
        w->text = grown;
        w->room = room;
    }
    va_start(list, format);
    vsnprintf(w->text + w->size, w->room - w->size, format, list);
    va_end(list);
    w->size += (size_t)n;
}

/* Names are clean UTF-8 without control characters, so two characters need an escape. */
static void put_string(writer *w, const char *name, const char *value)
{
    put(w, "\"%s\": \"", name);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            put(w, "\\");
        put(w, "%c", *value);
    }
    put(w, "\"");
}

/* Six digits say more than a clock does.  The decimal point is a point in every locale. */
static void put_number(writer *w, const char *name, double value)
{
    char text[40];

    snprintf(text, sizeof text, "%.6g", isfinite(value) ? value : 0.0);
    for (char *c = text; *c != '\0'; c++)
        if (*c == ',')
            *c = '.';
    put(w, "\"%s\": %s", name, text);
}

static void put_configuration(writer *w, const char *text)
{
    const char *between = "";

    put(w, "\"configuration\": {");
    while (*text != '\0') {
        size_t name, value;

        text += strspn(text, " ");
        name = strcspn(text, "=");
        value = strcspn(text, " ");
        if (name < value) {
            put(w, "%s\"%.*s\": %.*s", between, (int)name, text, (int)(value - name - 1), text + name + 1);
            between = ", ";
        }
        text += value;
    }
    put(w, "}");
}

static void put_result(writer *w, const gv_profile_result *result)
{
    put(w, "      {");
    put_configuration(w, result->configuration);
    put(w, ", \"status\": \"ok\", ");
    put_number(w, "time_s", result->time_s);
    put(w, ", ");
    put_number(w, "time_min_s", result->time_min_s);
    put(w, ", ");
    put_number(w, "spread", result->spread);
    put(w, ", ");
    put_number(w, "call_s", result->call_s);
    put(w, ", ");
    put_number(w, "error", result->error);
    put(w, "}");
}

/* gv_profile_cut knows this layout. */
static void put_entry(writer *w, const gv_profile_entry *entry)
{
    put(w, "    {");
    put_string(w, "kernel", entry->kernel);
    put(w, ", ");
    put_string(w, "kernel_version", entry->kernel_version);
    put(w, ", ");
    put_string(w, "variant", entry->variant);
    put(w, ", \"features\": %u, ", entry->features);
    put_string(w, "driver", entry->driver);
    put(w, ",\n     \"sink_bucket\": %d, \"source_bucket\": %d, \"sinks\": %zu, \"sources\": %zu, ", entry->sink_bucket,
        entry->source_bucket, entry->sinks, entry->sources);
    put_string(w, "date", entry->date);
    put(w, ", ");
    put_string(w, "gravel", entry->gravel);
    put(w, ", ");
    put_string(w, "strategy", entry->strategy);
    put(w, ", \"evaluations\": %d, \"failures\": %d,\n     \"results\": [\n", entry->evaluations, entry->failures);
    for (int r = 0; r < entry->n_results; r++) {
        put_result(w, &entry->result[r]);
        put(w, "%s", r + 1 < entry->n_results ? ",\n" : "]}");
    }
}

static void put_block(writer *w, const gv_profile_block *block)
{
    const gv_profile_device *device = &block->device;

    put(w, "  {\"device\": {");
    put_string(w, "name", device->name);
    put(w, ", ");
    put_string(w, "vendor", device->vendor);
    put(w, ", ");
    put_string(w, "platform", device->platform);
    put(w, ", ");
    put_string(w, "type", gv_device_type_name(device->type));
    put(w, ",\n    \"compute_units\": %d, \"simd_width_float\": %d, \"simd_width_double\": %d, \"fp64\": %d},\n",
        device->compute_units, device->simd_width_float, device->simd_width_double, device->has_fp64);
    put(w, "   \"entries\": [%s", block->n_entries > 0 ? "\n" : "");
    for (int e = 0; e < block->n_entries; e++) {
        put_entry(w, &block->entry[e]);
        put(w, "%s\n", e + 1 < block->n_entries ? "," : "");
    }
    put(w, "   ]}");
}

gravel_status gv_profile_print(const gv_profile_set *set, char **text)
{
    writer w = {NULL, 0, 0, 0};

    put(&w, "{\"format\": \"gravel-profile\", \"schema\": %d,\n \"devices\": [\n", GV_PROFILE_SCHEMA);
    for (int b = 0; b < set->n_blocks; b++) {
        put_block(&w, &set->block[b]);
        put(&w, "%s\n", b + 1 < set->n_blocks ? "," : "");
    }
    put(&w, " ]}\n");
    if (w.failed) {
        free(w.text);
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the text of %d profiles", set->n_blocks);
    }
    *text = w.text;
    return GRAVEL_OK;
}
