/* Profile text <-> data.  Reading is strict: an unknown member, a missing one, a wrong kind or a number outside its
 * range refuses the whole text with the place, because half a profile would mis-tune silently. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "host/device/device.h"
#include "host/profile/store.h"

typedef struct reader {
    const char *file;
    char place[96]; /* "devices[0].entries[2]" */
    int failed;
} reader;

static void refuse(reader *r, const char *format, ...) GV_PRINTF(2, 3);

static void refuse(reader *r, const char *format, ...)
{
    char why[256];
    va_list list;

    if (r->failed)
        return;
    va_start(list, format);
    vsnprintf(why, sizeof why, format, list);
    va_end(list);
    r->failed = 1;
    gv_fail(GRAVEL_ERR_FORMAT, "%s: %s%s%s", r->file, r->place, r->place[0] != '\0' ? ": " : "", why);
}

static const cJSON *member(reader *r, const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

    if (item == NULL)
        refuse(r, "'%s' is missing", name);
    return item;
}

/* Every member of the object is one of the names (NULL ends them). */
static void only(reader *r, const cJSON *object, const char *const *name)
{
    const cJSON *item;

    if (!cJSON_IsObject(object)) {
        refuse(r, "not an object");
        return;
    }
    cJSON_ArrayForEach(item, object)
    {
        int k = 0;

        while (name[k] != NULL && strcmp(name[k], item->string) != 0)
            k++;
        if (name[k] == NULL)
            refuse(r, "unknown member '%.64s'", item->string);
    }
}

static void text_member(reader *r, const cJSON *object, const char *name, char *text, size_t size)
{
    const cJSON *item = member(r, object, name);

    if (r->failed)
        return;
    if (!cJSON_IsString(item))
        refuse(r, "'%s' is not a string", name);
    else if (strlen(item->valuestring) >= size)
        refuse(r, "'%s' is longer than %zu bytes", name, size - 1);
    else
        snprintf(text, size, "%s", item->valuestring);
}

static void name_member(reader *r, const cJSON *object, const char *name, char text[GRAVEL_NAME_SIZE])
{
    char raw[GRAVEL_NAME_SIZE] = "";

    text_member(r, object, name, raw, sizeof raw);
    gv_name_clean(raw, text);
}

static double number_member(reader *r, const cJSON *object, const char *name, double least, double most)
{
    const cJSON *item = member(r, object, name);

    if (r->failed)
        return least;
    if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
        refuse(r, "'%s' is not a number", name);
    else if (item->valuedouble < least || item->valuedouble > most)
        refuse(r, "'%s' is outside %g ... %g", name, least, most);
    else
        return item->valuedouble;
    return least;
}

static double whole_member(reader *r, const cJSON *object, const char *name, double least, double most)
{
    double value = number_member(r, object, name, least, most);

    if (!r->failed && value != floor(value))
        refuse(r, "'%s' is not a whole number", name);
    return value;
}

static void read_device(reader *r, const cJSON *object, gv_profile_device *device)
{
    static const char *const names[] = {
        "name", "vendor", "platform", "type", "compute_units", "simd_width_float", "simd_width_double", "fp64", NULL};
    char type[16] = "";
    int t = GRAVEL_DEVICE_ACCELERATOR;

    only(r, object, names);
    name_member(r, object, "name", device->name);
    name_member(r, object, "vendor", device->vendor);
    name_member(r, object, "platform", device->platform);
    text_member(r, object, "type", type, sizeof type);
    while (t > 0 && strcmp(type, gv_device_type_name((gravel_device_type)t)) != 0)
        t--;
    if (t == 0)
        refuse(r, "'type' is none of cpu, gpu, accelerator");
    device->type = (gravel_device_type)t;
    device->compute_units = (int)whole_member(r, object, "compute_units", 1, 1e6);
    device->simd_width_float = (int)whole_member(r, object, "simd_width_float", 0, 1024);
    device->simd_width_double = (int)whole_member(r, object, "simd_width_double", 0, 1024);
    device->has_fp64 = (int)whole_member(r, object, "fp64", 0, 1);
}

static int is_tunable_name(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

    return n > 0 && n <= 32 && name[n] == '\0';
}

static void read_configuration(reader *r, const cJSON *object, char text[GV_PROFILE_TEXT])
{
    const cJSON *item;
    size_t n = 0;
    int count = 0;

    text[0] = '\0';
    if (!cJSON_IsObject(object)) {
        refuse(r, "'configuration' is not an object");
        return;
    }
    cJSON_ArrayForEach(item, object)
    {
        double value = item->valuedouble;

        if (!is_tunable_name(item->string) || ++count > GV_MAX_TUNABLES) {
            refuse(r, "'configuration' has a name that no tunable has or too many of them");
            return;
        }
        if (!cJSON_IsNumber(item) || !(fabs(value) <= 1e9) || value != floor(value)) {
            refuse(r, "'configuration': '%s' is not a whole number up to 1e9", item->string);
            return;
        }
        n += (size_t)snprintf(text + n, GV_PROFILE_TEXT - n, "%s%s=%d", n > 0 ? " " : "", item->string, (int)value);
        if (n >= GV_PROFILE_TEXT) {
            refuse(r, "'configuration' is too long");
            return;
        }
    }
}

static void read_result(reader *r, const cJSON *object, gv_profile_result *result)
{
    static const char *const names[] = {"configuration", "status", "time_s", "time_min_s",
                                        "spread",        "call_s", "error",  NULL};
    char status[8] = "";
    const cJSON *configuration;

    only(r, object, names);
    text_member(r, object, "status", status, sizeof status);
    if (strcmp(status, "ok") != 0)
        refuse(r, "'status' is not \"ok\": only verified results belong in a profile");
    result->time_s = number_member(r, object, "time_s", 1e-12, 1e6);
    result->time_min_s = number_member(r, object, "time_min_s", 1e-12, 1e6);
    result->spread = number_member(r, object, "spread", 0, 1e6);
    result->call_s = number_member(r, object, "call_s", 0, 1e6);
    result->error = number_member(r, object, "error", 0, 1e6);
    configuration = member(r, object, "configuration");
    if (!r->failed)
        read_configuration(r, configuration, result->configuration);
}

static const cJSON *list_member(reader *r, const cJSON *object, const char *name, int least, int most)
{
    const cJSON *item = member(r, object, name);

    if (r->failed)
        return NULL;
    if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) < least || cJSON_GetArraySize(item) > most) {
        refuse(r, "'%s' is not a list of %d to %d", name, least, most);
        return NULL;
    }
    return item;
}

static void read_entry(reader *r, const cJSON *object, gv_profile_entry *entry)
{
    static const char *const names[] = {
        "kernel",  "kernel_version", "variant", "features", "driver",      "sink_bucket", "source_bucket", "sinks",
        "sources", "date",           "gravel",  "strategy", "evaluations", "failures",    "results",       NULL};
    const cJSON *results, *item;
    char place[sizeof r->place];

    only(r, object, names);
    text_member(r, object, "kernel", entry->kernel, sizeof entry->kernel);
    text_member(r, object, "kernel_version", entry->kernel_version, sizeof entry->kernel_version);
    text_member(r, object, "variant", entry->variant, sizeof entry->variant);
    name_member(r, object, "driver", entry->driver);
    text_member(r, object, "date", entry->date, sizeof entry->date);
    text_member(r, object, "gravel", entry->gravel, sizeof entry->gravel);
    text_member(r, object, "strategy", entry->strategy, sizeof entry->strategy);
    entry->features = (unsigned)whole_member(r, object, "features", 0, 0xffff);
    entry->sinks = (size_t)whole_member(r, object, "sinks", 1, 1e15);
    entry->sources = (size_t)whole_member(r, object, "sources", 1, 1e15);
    entry->sink_bucket = (int)whole_member(r, object, "sink_bucket", 0, GV_SINK_BUCKETS - 1);
    entry->source_bucket = (int)whole_member(r, object, "source_bucket", 0, GV_SOURCE_BUCKETS - 1);
    entry->evaluations = (int)whole_member(r, object, "evaluations", 0, 1e9);
    entry->failures = (int)whole_member(r, object, "failures", 0, 1e9);
    if (!r->failed && (gv_sink_bucket(entry->sinks) != entry->sink_bucket ||
                       gv_source_bucket(entry->sources) != entry->source_bucket)) {
        refuse(r, "'sinks' and 'sources' are not in the buckets that are named");
    }
    results = list_member(r, object, "results", 1, GV_PROFILE_RESULTS);
    memcpy(place, r->place, sizeof place);
    cJSON_ArrayForEach(item, results)
    {
        snprintf(r->place, sizeof r->place, "%.60s.results[%d]", place, entry->n_results);
        read_result(r, item, &entry->result[entry->n_results++]);
    }
    if (!r->failed)
        memcpy(r->place, place, sizeof place);
}

static gravel_status read_block(reader *r, const cJSON *object, int index, gv_profile_set *set)
{
    static const char *const names[] = {"device", "entries", NULL};
    gravel_status status = GRAVEL_OK;
    gv_profile_device device;
    gv_profile_entry *entry = NULL;
    const cJSON *item, *entries;
    int n = 0;

    memset(&device, 0, sizeof device);
    snprintf(r->place, sizeof r->place, "devices[%d]", index);
    only(r, object, names);
    item = member(r, object, "device");
    entries = list_member(r, object, "entries", 0, GV_PROFILE_ENTRIES);
    if (!r->failed) {
        snprintf(r->place, sizeof r->place, "devices[%d].device", index);
        read_device(r, item, &device);
    }
    if (!r->failed && gv_profile_set_find(set, &device) != NULL)
        refuse(r, "this device appears twice");
    if (r->failed)
        return GRAVEL_ERR_FORMAT;
    entry = malloc(sizeof *entry);
    if (entry == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "%s: no memory for its entries", r->file);
    cJSON_ArrayForEach(item, entries)
    {
        memset(entry, 0, sizeof *entry);
        snprintf(r->place, sizeof r->place, "devices[%d].entries[%d]", index, n++);
        read_entry(r, item, entry);
        if (!r->failed && gv_profile_set_entry(gv_profile_set_find(set, &device), entry) != NULL)
            refuse(r, "this entry appears twice");
        status = r->failed ? GRAVEL_ERR_FORMAT : gv_profile_set_add(set, &device, entry);
        if (status != GRAVEL_OK)
            break;
    }
    free(entry);
    return status;
}

static gravel_status read_root(reader *r, const cJSON *root, gv_profile_set *set)
{
    static const char *const names[] = {"format", "schema", "comment", "devices", NULL};
    char format[32] = "";
    const cJSON *devices, *item;
    double schema;
    int n = 0;

    if (!cJSON_IsObject(root)) {
        refuse(r, "not a gravel profile");
        return GRAVEL_ERR_FORMAT;
    }
    text_member(r, root, "format", format, sizeof format);
    if (!r->failed && strcmp(format, "gravel-profile") != 0)
        refuse(r, "not a gravel profile");
    schema = whole_member(r, root, "schema", 1, 1e9);
    if (!r->failed && schema > GV_PROFILE_SCHEMA)
        return gv_fail(GRAVEL_ERR_UNSUPPORTED, "%s: written by a newer gravel (schema %.0f, this one reads up to %d)",
                       r->file, schema, GV_PROFILE_SCHEMA);
    if (!r->failed)
        only(r, root, names);
    devices = list_member(r, root, "devices", 0, 256);
    if (r->failed)
        return GRAVEL_ERR_FORMAT;
    cJSON_ArrayForEach(item, devices)
    {
        gravel_status status = read_block(r, item, n++, set);

        if (status != GRAVEL_OK)
            return status;
    }
    return GRAVEL_OK;
}

gravel_status gv_profile_parse(const char *name, const char *text, size_t size, gv_profile_set *set)
{
    reader r = {name, "", 0};
    gravel_status status;
    const char *why;
    size_t at = 0;
    cJSON *root;

    why = gv_json_check(text, size, &at);
    if (why != NULL)
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: byte %zu: %s", name, at, why);
    root = cJSON_ParseWithLength(text, size);
    if (root == NULL)
        return gv_fail(GRAVEL_ERR_FORMAT, "%s: not a JSON text", name);
    status = read_root(&r, root, set);
    cJSON_Delete(root);
    if (status != GRAVEL_OK)
        gv_profile_set_free(set);
    return status;
}

int gv_profile_parse_device(const char *text, size_t size, gv_profile_device *device)
{
    reader r = {"", "", 0};
    cJSON *object = cJSON_ParseWithLength(text, size);

    memset(device, 0, sizeof *device);
    read_device(&r, object, device);
    cJSON_Delete(object);
    return !r.failed;
}
