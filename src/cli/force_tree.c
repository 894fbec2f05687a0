/* `gravel force --method tree` */
#include <stdlib.h>

#include "cli/force_run.h"
#include "host/base/clock.h"

gravel_tree_options gv_force_tree_options(const gv_force_job *job)
{
    const gv_force_options *opts = job->opts;
    gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;
    options.theta = opts->theta;
    options.mac = (gravel_tree_mac)opts->mac;
    options.moments = opts->moments + 1;
    options.softening = (gravel_softening)opts->softening;
    options.precision = job->precision;
    options.configuration = opts->configuration;
    return options;
}

gravel_status gv_force_tree_open(gv_force_job *job)
{
    const gv_force_options *opts = job->opts;
    const gravel_tree_options options = gv_force_tree_options(job);
    gravel_status status = gravel_tree_create(&job->tree, job->context, &options);
    if (status == GRAVEL_OK && opts->report != NULL)
        status = gravel_context_set_timing(job->context, 0, 1);
    if (status == GRAVEL_OK) {
        const gravel_sources bodies = gv_sources_view(&job->particles);
        status = gravel_tree_write(job->tree, &bodies);
    }
    return status == GRAVEL_OK
               ? gravel_tree_get_configuration(job->tree, job->configuration, sizeof job->configuration, &job->origin)
               : status;
}

uint32_t *gv_force_tree_sinks(const gv_force_job *job)
{
    uint32_t *address = malloc(job->count * sizeof *address);
    for (size_t i = 0; address != NULL && i < job->count; i++)
        address[i] = (uint32_t)(job->first + i);
    return address;
}

/* Forces on a part of the bodies. */
static gravel_status call_active(gv_force_job *job, const gravel_forces *view)
{
    uint32_t *address = gv_force_tree_sinks(job);
    if (address == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    const gravel_status status = gravel_tree_forces_active(job->tree, address, job->count, job->opts->eps, view);
    free(address);
    return status;
}

gravel_status gv_force_tree_call(gv_force_job *job, const gv_force_set *set)
{
    gravel_forces view = {.pot = NULL};
    const double start = gv_now();
    view.acc = GRAVEL_VEC_OUT_SOA(set->ax, set->ay, set->az);
    view.pot = set->pot;
    gravel_status status = job->count == job->particles.count ? gravel_tree_forces(job->tree, job->opts->eps, &view)
                                                              : call_active(job, &view);
    job->call_s += gv_now() - start;
    if (status == GRAVEL_OK && job->opts->report != NULL) {
        status = gravel_tree_get_timings(job->tree, &job->tree_timings);
        job->kernel_s = job->tree_timings.total;
        if (status == GRAVEL_OK)
            status = gravel_tree_get_counts(job->tree, &job->tree_counts);
    }
    return status;
}

void gv_force_tree_report(const gv_force_job *job, cJSON *root)
{
    const gravel_tree_timings *t = &job->tree_timings;
    const gravel_tree_counts *c = &job->tree_counts;
    cJSON_AddNumberToObject(root, "theta", job->opts->theta);
    cJSON_AddStringToObject(root, "mac", gravel_tree_mac_name((gravel_tree_mac)job->opts->mac));
    cJSON_AddNumberToObject(root, "moments", job->opts->moments + 1);
    cJSON_AddStringToObject(root, "softening", job->opts->softening ? "spline" : "plummer");
    if (job->opts->devices != NULL || job->ranks != NULL)
        return; /* stages are timed on one device only */
    gv_json_number(root, "keys_s", t->keys);
    gv_json_number(root, "sort_s", t->sort);
    gv_json_number(root, "build_s", t->build);
    gv_json_number(root, "moments_s", t->moments);
    gv_json_number(root, "groups_s", t->groups);
    gv_json_number(root, "walk_s", t->walk);
    cJSON_AddNumberToObject(root, "cells", (double)c->cells);
    cJSON_AddNumberToObject(root, "levels", (double)c->levels);
    cJSON_AddNumberToObject(root, "groups", (double)c->groups);
    gv_json_number(root, "far_cells_per_body", c->far_cells);
    gv_json_number(root, "near_cells_per_body", c->near_cells);
    gv_json_number(root, "bodies_per_body", c->bodies);
}
