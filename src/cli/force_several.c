/* `gravel force --devices` */
#include <string.h>

#include "cli/force_run.h"

gravel_status gv_force_several_open(gv_force_job *job)
{
    const gv_force_options *opts = job->opts;
    gravel_several_options options = GRAVEL_SEVERAL_OPTIONS_INIT;
    gravel_context_options context = GRAVEL_CONTEXT_OPTIONS_INIT;
    gv_cli_log(&context, opts->verbose);
    options.devices = opts->devices;
    options.context = &context;
    options.precision = job->precision;
    options.host = GRAVEL_HOST_NEVER;
    options.all_devices = 1; /* as asked for: one call is not worth finding out who is fastest */
    options.configuration = opts->configuration;
    gravel_status status = gravel_several_create(&job->several, &options);
    for (int k = 0; !status && k < gravel_several_get_device_count(job->several); k++) {
        const size_t used = strlen(job->devices);
        snprintf(job->devices + used, sizeof job->devices - used, "%s%s", k > 0 ? "; " : "",
                 gravel_several_get_device(job->several, k)->name);
    }
    return status;
}

gravel_status gv_force_several_call(gv_force_job *job, const gravel_sinks *sinks, const gv_force_set *set,
                                    size_t *overflow)
{
    gravel_several_call call = GRAVEL_SEVERAL_CALL_INIT;
    const gravel_forces view = gv_force_set_view(set, 0);
    call.sinks = sinks;
    call.order = set->order;
    call.eps = job->opts->eps;
    call.nearest = set->nearest_id != NULL;
    call.neighbour_capacity = set->neighbour_count != NULL ? (int)set->capacity : 0;
    gravel_status status = gravel_several_submit(job->several, &call);
    if (status == GRAVEL_OK)
        status = gravel_several_collect(job->several, &view, overflow);
    return status ? status
                  : gravel_several_get_plan(job->several, &call, sinks->count, job->particles.count, &job->plan);
}

void gv_force_several_report(const gv_force_job *job, cJSON *root)
{
    const gravel_several_plan *plan = &job->plan;
    cJSON_AddStringToObject(root, "devices", job->devices);
    cJSON *used = cJSON_AddArrayToObject(root, "devices_used"), *share = cJSON_AddArrayToObject(root, "shares");
    for (int k = 0; k < plan->devices; k++) {
        cJSON_AddItemToArray(used, cJSON_CreateNumber(plan->device[k]));
        cJSON_AddItemToArray(share, cJSON_CreateNumber(plan->share[k]));
    }
}
