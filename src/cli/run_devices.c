/* `gravel run --devices` */
#include "cli/cmd_run.h"

gravel_status gv_run_devices_open(const gv_run_options *opts, const gv_run_settings *settings,
                                  gravel_several_share **share)
{
    gravel_context_options context = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_several_share_options options = GRAVEL_SEVERAL_SHARE_OPTIONS_INIT;
    const gravel_tree_options tree = gv_run_tree_options(settings);
    gv_cli_log(&context, opts->verbose);
    context.no_fp64 = opts->no_fp64;
    options.devices = opts->devices;
    options.context = &context;
    options.precision = settings->precision;
    options.all_devices = opts->all_devices;
    if (settings->solver == GV_RUN_TREE)
        options.tree = &tree;
    else
        options.configuration = settings->configuration;
    return gravel_several_share_create(share, &options);
}

static cJSON *list_json(const gravel_several_share *share)
{
    cJSON *list = cJSON_CreateArray();
    for (int k = 0; k < gravel_several_share_get_device_count(share); k++)
        cJSON_AddItemToArray(list, gv_run_device_json(gravel_several_share_get_device(share, k)));
    return list;
}

void gv_run_devices_record(cJSON *made_by, const gravel_several_share *share)
{
    if (share)
        cJSON_AddItemToObject(made_by, "devices", list_json(share));
}

int gv_run_compare_devices(const cJSON *made_by, const gravel_several_share *share, const char *allow)
{
    const cJSON *then = cJSON_GetObjectItemCaseSensitive(made_by, "devices");
    cJSON *now = share ? list_json(share) : NULL;
    const int before = then ? cJSON_GetArraySize(then) : 1, count = now ? cJSON_GetArraySize(now) : 1;
    const int same = (!then && !now) || (then && now && cJSON_Compare(then, now, 1));
    cJSON_Delete(now);
    if (same || gv_run_allows(allow, "device"))
        return 0;
    if (before != count)
        gv_say(GV_RUN,
               "the run was made on %d device%s, this is on %d: steps would have other bits; choose with --devices, or "
               "go on with --allow device",
               before, before == 1 ? "" : "s", count);
    else
        gv_say(GV_RUN, "the run was made on other devices, or in another order: steps would have other bits; choose "
                       "with --devices, or go on with --allow device");
    return -1;
}

/* How often others than the first device worked, and how many sinks each device had, in this part of the run. */
void gv_run_devices_summary(cJSON *summary, const gravel_several_share *share)
{
    gravel_several_share_counts counts;
    if (!share)
        return;
    gravel_several_share_get_counts(share, &counts);
    cJSON *list = list_json(share);
    cJSON_AddItemToObject(summary, "devices", list);
    for (int k = 0; k < cJSON_GetArraySize(list); k++)
        cJSON_AddNumberToObject(cJSON_GetArrayItem(list, k), "sinks", (double)counts.sinks[k]);
    cJSON_AddNumberToObject(summary, "force_calls", (double)counts.calls);
    cJSON_AddNumberToObject(summary, "shared_calls", (double)counts.shared);
    gv_json_number(summary, "shared_bytes", counts.bytes);
}
