/* What a run was made with, and what came of it: run.json, summary.json. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_run.h"
#include "cli/ranks.h"
#include "host/base/digest.h"
#include "host/base/files.h"
#include "host/device/context.h"
#include "host/program/times.h"

/* ---------------------------------------------------------------- identity */

static int hash_file(gv_hasher *hasher, const char *path)
{
    char block[65536];
    size_t got;
    FILE *file = fopen(path, "rb");
    if (!file)
        return -1;
    while ((got = fread(block, 1, sizeof block, file)) > 0)
        gv_hash_add(hasher, block, got);
    const int bad = ferror(file);
    fclose(file);
    return bad ? -1 : 0;
}

gravel_status gv_run_digest(const char *path, char text[65])
{
    gv_hasher hasher;
    gv_digest digest;
    gv_hash_start(&hasher);
    if (hash_file(&hasher, path) != 0)
        return gv_fail(GRAVEL_ERR_FILE, "cannot read %s: %s", path, strerror(errno));
    gv_hash_end(&hasher, &digest);
    gv_digest_hex(&digest, 64, text);
    return GRAVEL_OK;
}

static int is_json(const struct dirent *entry)
{
    const size_t n = strlen(entry->d_name);
    return n > 5 && strcmp(entry->d_name + n - 5, ".json") == 0;
}

/* The user's profiles, names and contents; those that are shipped are part of the program. */
static void digest_profiles(gravel_context *context, char text[65])
{
    struct dirent **entry = NULL;
    gv_hasher hasher;
    gv_digest digest;
    const char *folder = context->profile_dir;
    const int n = folder && folder[0] ? scandir(folder, &entry, is_json, alphasort) : 0;
    gv_hash_start(&hasher);
    for (int k = 0; k < n; k++) {
        char *path = gv_path_join(folder, entry[k]->d_name);
        gv_hash_text(&hasher, entry[k]->d_name);
        if (path)
            hash_file(&hasher, path);
        free(path);
        free(entry[k]);
    }
    free(entry);
    gv_hash_end(&hasher, &digest);
    gv_digest_hex(&digest, 64, text);
    if (n <= 0)
        strcpy(text, "none");
}

cJSON *gv_run_device_json(const gravel_device_info *d)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "name", d->name);
    cJSON_AddStringToObject(root, "vendor", d->vendor);
    cJSON_AddStringToObject(root, "platform", d->platform);
    cJSON_AddStringToObject(root, "driver", d->driver);
    cJSON_AddNumberToObject(root, "compute_units", d->compute_units);
    cJSON_AddBoolToObject(root, "fp64", d->has_fp64);
    return root;
}

cJSON *gv_run_identity(gravel_context *context)
{
    char text[65];
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "version", gravel_version());
    cJSON_AddStringToObject(root, "program", gv_run_digest("/proc/self/exe", text) ? "unknown" : text);
    digest_profiles(context, text);
    cJSON_AddStringToObject(root, "profile", text);
    cJSON_AddItemToObject(root, "device", gv_run_device_json(gravel_context_get_device(context, 0)));
    return root;
}

int gv_run_allows(const char *allow, const char *name)
{
    const size_t length = strlen(name);
    for (const char *c = allow; c && *c; c += strcspn(c, ","), c += *c == ',')
        if (strcspn(c, ",") == length && strncmp(c, name, length) == 0)
            return 1;
    return 0;
}

int gv_run_check_allow(const char *allow)
{
    static const char *const known[] = {"version", "device", "profile"};
    for (const char *c = allow; c && *c; c += strcspn(c, ","), c += *c == ',') {
        const size_t length = strcspn(c, ",");
        int found = 0;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            found |= strlen(known[k]) == length && strncmp(c, known[k], length) == 0;
        if (!found) {
            gv_say(GV_RUN, "--allow: '%.*s' is not one of version, device, profile, joined by commas", (int)length, c);
            return -1;
        }
    }
    return 0;
}

static int same(const cJSON *then, const cJSON *now, const char *name)
{
    const cJSON *a = cJSON_GetObjectItemCaseSensitive(then, name), *b = cJSON_GetObjectItemCaseSensitive(now, name);
    return a && b && cJSON_Compare(a, b, 1);
}

static const char *text_of(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(item) ? item->valuestring : "unknown";
}

int gv_run_compare_identity(const cJSON *then, gravel_context *context, const char *allow)
{
    cJSON *now = gv_run_identity(context);
    const cJSON *old = cJSON_GetObjectItemCaseSensitive(then, "device");
    const cJSON *new = cJSON_GetObjectItemCaseSensitive(now, "device");
    int code = 0;
    if ((!same(then, now, "version") || !same(then, now, "program")) && !gv_run_allows(allow, "version")) {
        gv_say(GV_RUN,
               "the run was made by another gravel (%s, program %.12s; this is %s, %.12s), whose steps may have other "
               "bits; --allow version goes on",
               text_of(then, "version"), text_of(then, "program"), text_of(now, "version"), text_of(now, "program"));
        code = -1;
    } else if (!same(then, now, "device") && !gv_run_allows(allow, "device")) {
        gv_say(GV_RUN,
               "the run was made on another device (%s, driver %s; this is %s, driver %s, or its number of compute "
               "units differs); choose it with -d, or go on with --allow device",
               text_of(old, "name"), text_of(old, "driver"), text_of(new, "name"), text_of(new, "driver"));
        code = -1;
    } else if (!same(then, now, "profile") && !gv_run_allows(allow, "profile")) {
        gv_say(GV_RUN,
               "the profiles in %s have changed since the run began: other configurations give other bits; "
               "--allow profile goes on",
               context->profile_dir ? context->profile_dir : "the folder of profiles");
        code = -1;
    }
    cJSON_Delete(now);
    return code;
}

/* ----------------------------------------------------------------- summary */

/* Of this process: what was timed before a stop is not in a checkpoint. */
enum { MOST_KERNELS = 128 };

static void add_kernels(cJSON *root, gravel_context *context)
{
    gv_kernel_time kernel[MOST_KERNELS];
    size_t count;
    if (gv_times_read(context, 0, kernel, MOST_KERNELS, &count))
        return;
    cJSON *list = cJSON_AddArrayToObject(root, "kernels");
    for (size_t k = 0; k < count; k++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "name", kernel[k].name);
        cJSON_AddNumberToObject(one, "launches", (double)kernel[k].launches);
        gv_json_number(one, "device_s", kernel[k].seconds);
        cJSON_AddItemToArray(list, one);
    }
}

gravel_status gv_run_print_times(gravel_context *context)
{
    gv_kernel_time kernel[MOST_KERNELS];
    size_t count;
    double all = 0;
    const gravel_status status = gv_times_read(context, 0, kernel, MOST_KERNELS, &count);
    if (status)
        return status;
    for (size_t k = 0; k < count; k++)
        all += kernel[k].seconds;
    gv_print("%-28s %12s %12s %12s %7s\n", "kernel", "launches", "device s", "us each", "share");
    for (size_t k = 0; k < count; k++)
        gv_print("%-28s %12llu %12.6f %12.2f %6.1f%%\n", kernel[k].name, (unsigned long long)kernel[k].launches,
                 kernel[k].seconds, 1e6 * kernel[k].seconds / (double)kernel[k].launches,
                 all > 0 ? 100 * kernel[k].seconds / all : 0);
    gv_print("%-28s %12s %12.6f\n", "all", "", all);
    return GRAVEL_OK;
}

gravel_status gv_run_write_summary(gv_run *run, const gv_run_output *folder, const gv_run_options *opts,
                                   gravel_context *context, const gravel_several_share *share)
{
    gravel_hermite_counts counts;
    const gv_particles *p = gv_run_get_particles(run);
    const gv_run_position *at = &folder->at;
    cJSON *root = cJSON_CreateObject();
    gv_run_get_counts(run, &counts);
    gv_json_stamp(root);
    cJSON_AddItemToObject(root, "device", gv_run_device_json(gravel_context_get_device(context, 0)));
    gv_run_devices_summary(root, share);
    if (gv_ranks_started() > 1)
        cJSON_AddNumberToObject(root, "ranks", gv_ranks_started());
    cJSON_AddNumberToObject(root, "bodies", (double)p->count);
    gv_json_number(root, "start", gv_run_get_start(run));
    gv_json_number(root, "until", opts->until);
    cJSON_AddBoolToObject(root, "finished", at->done != 0);
    gv_json_number(root, "energy_error_max", at->error_max);
    cJSON_AddNumberToObject(root, "steps", (double)counts.steps);
    cJSON_AddNumberToObject(root, "blocks", (double)counts.blocks);
    cJSON_AddNumberToObject(root, "host_blocks", (double)counts.host_blocks);
    gv_json_number(root, "mean_active", counts.blocks ? (double)counts.steps / (double)counts.blocks : NAN);
    cJSON_AddNumberToObject(root, "snapshots", (double)at->snapshots);
    cJSON_AddNumberToObject(root, "lines", (double)at->lines);
    gv_json_number(root, "wall_s", at->wall_s);
    gv_run_add_clocks(root, at);
    if (opts->timing)
        add_kernels(root, context);
    cJSON_AddItemToObject(root, "options", gv_run_options_json(&gv_run_of_bodies, opts));
    char *path = gv_run_path(folder->path, "summary.json");
    const gravel_status status = gv_json_write(root, path);
    free(path);
    return status;
}
