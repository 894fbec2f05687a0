#include "host/program/facts.h"
#include "host/program/program.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/files.h"
#include "host/device/device.h"
#include "host/program/cache.h"

enum { LARGEST = 65536 };

typedef struct field {
    const char *name;
    size_t at;
    int may_be_zero;
} field;

static const field fields[] = {
    {"fma_sp", offsetof(gravel_device_facts, fma_sp), 0},
    {"fma_dp", offsetof(gravel_device_facts, fma_dp), 1}, /* no fp64 */
    {"rsqrt_sp", offsetof(gravel_device_facts, rsqrt_sp), 0},
    {"copy_bytes", offsetof(gravel_device_facts, copy_bytes), 0},
    {"launch_s", offsetof(gravel_device_facts, launch_s), 0},
};
enum { N_FIELDS = sizeof fields / sizeof fields[0] };

void gv_facts_round(gravel_device_facts *facts)
{
    char text[32];
    double value;

    for (int i = 0; i < N_FIELDS; i++) {
        memcpy(&value, (const char *)facts + fields[i].at, sizeof value);
        snprintf(text, sizeof text, "%.6g", value);
        value = strtod(text, NULL);
        memcpy((char *)facts + fields[i].at, &value, sizeof value);
    }
}

/* Path of the file and the full key that it must hold; 0: no cache directory, or the kernels cannot be read */
static int find_file(gravel_context *context, int device, char **path, char key[65])
{
    const gv_device *d = &context->device[device];
    char rates[17], copy[17], name[17];
    gv_hasher hasher;
    gv_digest digest;

    if (!gv_cache_has_folder(context) || gv_program_version(context, "measure/rates.cl", rates) != GRAVEL_OK ||
        gv_program_version(context, "measure/copy.cl", copy) != GRAVEL_OK) {
        return 0;
    }
    gv_hash_start(&hasher);
    gv_device_hash(d, &hasher);
    gv_hash_text(&hasher, d->feature_options);
    gv_hash_add(&hasher, &d->info.compute_units, sizeof d->info.compute_units);
    gv_hash_text(&hasher, rates);
    gv_hash_text(&hasher, copy);
    gv_hash_end(&hasher, &digest);
    gv_digest_hex(&digest, 64, key);
    gv_digest_hex(&digest, 16, name);
    *path = gv_format("%s/facts-%s.json", context->cache_dir, name);
    return *path != NULL;
}

static int take_fields(const cJSON *json, const char *key, gravel_device_facts *facts)
{
    const cJSON *stored_key = cJSON_GetObjectItemCaseSensitive(json, "key");

    if (!cJSON_IsString(stored_key) || strcmp(stored_key->valuestring, key) != 0)
        return 0;
    for (int i = 0; i < N_FIELDS; i++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, fields[i].name);
        double value = cJSON_IsNumber(item) ? item->valuedouble : -1;
        if (!isfinite(value) || value < 0 || (value == 0 && !fields[i].may_be_zero))
            return 0;
        memcpy((char *)facts + fields[i].at, &value, sizeof value);
    }
    return 1;
}

int gv_facts_load(gravel_context *context, int device, gravel_device_facts *facts)
{
    char *path, *text = NULL, key[65];
    gravel_device_facts read = {0};
    int found = 0;

    if (!find_file(context, device, &path, key))
        return 0;
    if (access(path, F_OK) == 0) {
        if (gv_file_read_own(path, LARGEST, &text, NULL) == GRAVEL_OK) {
            cJSON *json = cJSON_Parse(text);
            found = take_fields(json, key, &read);
            cJSON_Delete(json);
        }
        if (found)
            *facts = read;
        else
            gv_log(context, GRAVEL_LOG_DEBUG, "%s: not usable, the device is measured again", path);
    }
    free(text);
    free(path);
    return found;
}

void gv_facts_store(gravel_context *context, int device, const gravel_device_facts *facts)
{
    const gravel_device_info *info = &context->device[device].info;
    char *path, *text, key[65];

    if (!find_file(context, device, &path, key))
        return;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "key", key);
    cJSON_AddStringToObject(json, "device", info->name);
    cJSON_AddStringToObject(json, "driver", info->driver);
    for (int i = 0; i < N_FIELDS; i++) {
        double value;
        memcpy(&value, (const char *)facts + fields[i].at, sizeof value);
        cJSON_AddNumberToObject(json, fields[i].name, value);
    }
    text = cJSON_Print(json);
    if (!text || gv_folder_make(context->cache_dir) != GRAVEL_OK ||
        gv_file_write_own(path, text, strlen(text)) != GRAVEL_OK) {
        gv_log(context, GRAVEL_LOG_DEBUG, "%s: not kept: %s", path, text ? gravel_error_message() : "no memory");
    }
    cJSON_free(text);
    cJSON_Delete(json);
    free(path);
}
