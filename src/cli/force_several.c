/* `gravel force --devices` */
#include <stdlib.h>
#include <string.h>

#include "cli/force_run.h"
#include "host/base/clock.h"

static gravel_status open_direct(gv_force_job *job, const gravel_context_options *context)
{
    const gv_force_options *opts = job->opts;
    gravel_several_options options = GRAVEL_SEVERAL_OPTIONS_INIT;
    options.devices = opts->devices;
    options.context = context;
    options.precision = job->precision;
    options.host = GRAVEL_HOST_NEVER;
    options.all_devices = 1; /* as asked for: one call is not worth finding out who is fastest */
    options.configuration = opts->configuration;
    return gravel_several_create(&job->several, &options);
}

static gravel_status open_tree(gv_force_job *job, const gravel_context_options *context)
{
    gravel_several_tree_options options = GRAVEL_SEVERAL_TREE_OPTIONS_INIT;
    const gravel_tree_options tree = gv_force_tree_options(job);
    const gravel_sources bodies = gv_sources_view(&job->particles);
    options.devices = job->opts->devices;
    options.context = context;
    options.tree = &tree;
    options.all_devices = 1; /* as asked for, as above */
    gravel_status status = gravel_several_tree_create(&job->several_tree, &options);
    return status ? status : gravel_several_tree_write(job->several_tree, &bodies);
}

static const gravel_device_info *device(const gv_force_job *job, int k)
{
    return job->several ? gravel_several_get_device(job->several, k)
                        : gravel_several_tree_get_device(job->several_tree, k);
}

gravel_status gv_force_several_open(gv_force_job *job)
{
    gravel_context_options context = GRAVEL_CONTEXT_OPTIONS_INIT;
    gv_cli_log(&context, job->opts->verbose);
    gravel_status status = job->opts->method == GV_METHOD_TREE ? open_tree(job, &context) : open_direct(job, &context);
    for (int k = 0; !status && device(job, k) != NULL; k++) {
        const size_t used = strlen(job->devices);
        snprintf(job->devices + used, sizeof job->devices - used, "%s%s", k > 0 ? "; " : "", device(job, k)->name);
    }
    if (!status)
        job->device = *device(job, 0);
    return status;
}

gravel_status gv_force_several_tree_call(gv_force_job *job, const gv_force_set *set)
{
    const gravel_forces view = {.acc = GRAVEL_VEC_OUT_SOA(set->ax, set->ay, set->az), .pot = set->pot};
    uint32_t *address = gv_force_tree_sinks(job);
    if (address == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    const double start = gv_now();
    const gravel_status status =
        gravel_several_tree_forces_active(job->several_tree, address, job->count, job->opts->eps, &view);
    job->call_s += gv_now() - start;
    job->plan.devices = gravel_several_tree_get_device_count(job->several_tree);
    for (int k = 0; k < job->plan.devices; k++) {
        job->plan.device[k] = k;
        job->plan.share[k] = (double)gravel_several_tree_get_sinks(job->several_tree, k) / (double)job->count;
    }
    free(address);
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
