#include "host/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/profile.h"

#define VALUE(name) (tree->config.value[GV_TT_##name])

static const char *const mac_names[] = {"relative", "last", "geometric"};

const char *gravel_tree_mac_name(gravel_tree_mac mac)
{
    return (unsigned)mac < 3 ? mac_names[mac] : "?";
}

gravel_status gravel_tree_mac_parse(const char *name, gravel_tree_mac *mac)
{
    for (int k = 0; name && k < 3; k++)
        if (strcmp(name, mac_names[k]) == 0) {
            *mac = (gravel_tree_mac)k;
            return GRAVEL_OK;
        }
    return gv_fail(GRAVEL_ERR_ARGUMENT, "no opening criterion is called '%s': relative, last, geometric",
                   name ? name : "");
}

gravel_status gv_tree_reserve(gravel_tree *tree, gv_buffer *buffer, size_t size, const char *what)
{
    if (buffer->mem && buffer->size >= size)
        return GRAVEL_OK;
    if (buffer->mem)
        clReleaseMemObject(buffer->mem);
    *buffer = (gv_buffer){NULL, 0};
    if (size < 16)
        size = 16;
    if (size > tree->limits.info.max_allocation)
        return gv_fail(GRAVEL_ERR_DEVICE_MEMORY,
                       "%s for %zu bodies need %.1f MB in one buffer; %s allows %.1f MB: about %.3g bodies would fit",
                       what, tree->n, (double)size / 1e6, tree->limits.info.name,
                       (double)tree->limits.info.max_allocation / 1e6,
                       (double)tree->n * ((double)tree->limits.info.max_allocation / (double)size));
    cl_int code;
    cl_mem mem = clCreateBuffer(tree->context->cl, CL_MEM_READ_WRITE, size, NULL, &code);
    if (code)
        return gv_fail_cl(code, "allocating %.1f MB for %s of %zu bodies on %s (%.1f MB in all)", (double)size / 1e6,
                          what, tree->n, tree->limits.info.name, (double)tree->limits.info.global_memory / 1e6);
    *buffer = (gv_buffer){mem, size};
    return GRAVEL_OK;
}

static void drop(gv_buffer *buffer)
{
    if (buffer->mem)
        clReleaseMemObject(buffer->mem);
    *buffer = (gv_buffer){NULL, 0};
}

static void drop_order(gv_order *order)
{
    for (int k = 0; k < 2; k++) {
        drop(&order->key[k]);
        drop(&order->index[k]);
    }
    drop(&order->table);
    drop(&order->total);
}

static void drop_event(cl_event *event)
{
    if (*event)
        clReleaseEvent(*event);
    *event = NULL;
}

void gv_tree_clear_stage(gravel_tree *tree, gv_stage stage)
{
    drop_event(&tree->stage[stage].first);
    drop_event(&tree->stage[stage].last);
}

gv_arg gv_tree_real(const gravel_tree *tree, double value, void *hold)
{
    const float narrow = (float)value;
    if (tree->scalar == sizeof(double))
        memcpy(hold, &value, sizeof value);
    else
        memcpy(hold, &narrow, sizeof narrow);
    return (gv_arg){tree->scalar, hold};
}

gravel_status gv_tree_launch(gravel_tree *tree, gv_stage stage, cl_kernel kernel, size_t groups, size_t group,
                             int n_args, const gv_arg *arg)
{
    const size_t global = groups * group;
    cl_event event = NULL;
    cl_int code = CL_SUCCESS;

    for (int k = 0; k < n_args && !code; k++) {
        code = clSetKernelArg(kernel, (cl_uint)k, arg[k].size, arg[k].value);
        if (code)
            return gv_fail_cl(code, "argument %d of a tree kernel (stage %d)", k, (int)stage);
    }
    code = clEnqueueNDRangeKernel(tree->queue, kernel, 1, NULL, &global, &group, 0, NULL, &event);
    if (code)
        return gv_fail_cl(code, "starting a tree kernel (stage %d) with %zu x %zu work-items on %s", (int)stage, groups,
                          group, tree->limits.info.name);
    gv_span *span = &tree->stage[stage];
    if (!span->first) {
        span->first = event;
        clRetainEvent(event);
    }
    drop_event(&span->last);
    span->last = event;
    return GRAVEL_OK;
}

/* ---------------------------------------------------------------- programs */

typedef struct gv_kernel_want {
    gv_tree_program program;
    const char *name;
    cl_kernel *kernel;
} gv_kernel_want;

static gravel_status make_kernel(gravel_tree *tree, const gv_kernel_want *want)
{
    const char *file = tree->plan.program[want->program].file;
    cl_program program;
    cl_int code;
    gravel_status status =
        gv_program_get(tree->context, tree->device, file, tree->plan.program[want->program].options, &program);
    if (status)
        return status;
    *want->kernel = clCreateKernel(program, want->name, &code);
    if (code)
        return gv_fail_cl(code, "kernel %s of kernels/%s", want->name, file);
    return GRAVEL_OK;
}

static gravel_status make_kernels(gravel_tree *tree)
{
    const gv_kernel_want want[] = {
        {GV_TP_BOUNDS, "gv_reduce_bounds", &tree->bounds},
        {GV_TP_SORT, "gv_sort_count", &tree->sort_count},
        {GV_TP_SORT, "gv_sort_scatter", &tree->sort_scatter},
        {GV_TP_SCAN, "gv_scan_rows", &tree->scan_rows},
        {GV_TP_COMPACT, "gv_compact_count", &tree->compact_count},
        {GV_TP_COMPACT, "gv_compact_write", &tree->compact_write},
        {GV_TP_KEYS, "gv_tree_keys", &tree->keys},
        {GV_TP_KEYS, "gv_tree_gather", &tree->gather},
        {GV_TP_BUILD, "gv_tree_heads", &tree->heads},
        {GV_TP_BUILD, "gv_tree_emit", &tree->emit},
        {GV_TP_MOMENTS, "gv_tree_moments", &tree->moments},
        {GV_TP_GROUPS, "gv_tree_groups", &tree->groups},
        {GV_TP_GROUPS, "gv_tree_split", &tree->split},
        {GV_TP_WALK, "gv_tree_walk", &tree->walk[0]},
        {GV_TP_WALK_UNSOFTENED, "gv_tree_walk", &tree->walk[1]},
        {GV_TP_WALK_COUNT, "gv_tree_walk", &tree->walk_count},
        {GV_TP_WALK_LIST, "gv_tree_walk", &tree->walk_list},
    };
    gravel_status status = GRAVEL_OK;
    gv_tree_make_plan(&tree->plan, &tree->config, &tree->options);
    for (size_t k = 0; k < sizeof want / sizeof want[0] && !status; k++)
        if (tree->plan.program[want[k].program].file)
            status = make_kernel(tree, &want[k]);
    return status;
}

static void drop_kernels(gravel_tree *tree)
{
    cl_kernel *const all[] = {&tree->bounds,  &tree->keys,          &tree->gather,        &tree->sort_count,
                              &tree->sort_scatter, &tree->scan_rows, &tree->heads,         &tree->emit,
                              &tree->moments, &tree->groups,        &tree->split,         &tree->compact_count,
                              &tree->compact_write, &tree->walk[0], &tree->walk[1], &tree->walk_count,
                              &tree->walk_list};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        if (*all[k])
            clReleaseKernel(*all[k]);
        *all[k] = NULL;
    }
}

/* -------------------------------------------------------------------- life */

static gravel_status check_options(const gravel_context *context, const gravel_tree_options *options)
{
    if (!(options->theta > 0) || options->theta > 2)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "theta is %g: it must be above 0 and at most 2 (0.5 is usual)",
                       options->theta);
    if ((unsigned)options->mac > GRAVEL_TREE_GEOMETRIC)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "opening criterion %d does not exist", (int)options->mac);
    if (options->moments != 1 && options->moments != 2)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "moments of order %d do not exist: 1 is the mass, 2 adds the quadrupole",
                       options->moments);
    if (options->softening != GRAVEL_PLUMMER && options->softening != GRAVEL_SPLINE)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "softening %d does not exist", (int)options->softening);
    if (options->device < 0 || options->device >= context->n_devices)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "device %d is not in this context (it has %d)", options->device,
                       context->n_devices);
    if ((unsigned)options->precision > GRAVEL_DP)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "precision %d does not exist", (int)options->precision);
    if (options->precision == GRAVEL_DP && !context->device[options->device].info.has_fp64)
        return gv_fail(GRAVEL_ERR_UNSUPPORTED, "%s has no double precision: use ds or sp",
                       context->device[options->device].info.name);
    return GRAVEL_OK;
}

/* The configuration for n bodies: profile or default, and on top of it what the caller named. */
static gravel_status choose_configuration(const gravel_tree *tree, size_t n, gv_config *config, gravel_origin *origin)
{
    gravel_status status = gv_profile_choose(tree->context, tree->device, &gv_tree_space, &tree->variant, n, n, config,
                                             origin);
    if (status || !tree->named)
        return status;
    status = gv_space_parse(&gv_tree_space, tree->named, config);
    if (status)
        return status;
    *origin = GRAVEL_ORIGIN_CALLER;
    const char *reason = gv_space_can_run(&gv_tree_space, config, &tree->variant, &tree->limits);
    if (reason)
        return gv_fail(
            GRAVEL_ERR_ARGUMENT,
            "the tree configuration '%s' cannot run on %s (groups of at most %d work-items, %.0f kB of local "
            "memory): %s",
            tree->named, tree->limits.info.name, tree->limits.info.max_group,
            (double)tree->limits.info.local_memory / 1024, reason);
    return GRAVEL_OK;
}

gravel_status gv_tree_configure(gravel_tree *tree, size_t n)
{
    gv_config config;
    gravel_status status = choose_configuration(tree, n, &config, &tree->origin);
    if (status)
        return status;
    if (tree->bounds && memcmp(config.value, tree->config.value, GV_TT_COUNT * sizeof config.value[0]) == 0)
        return GRAVEL_OK;
    drop_kernels(tree);
    tree->config = config;
    status = make_kernels(tree);
    if (status)
        drop_kernels(tree);
    return status;
}

gravel_status gravel_tree_create(gravel_tree **tree_out, gravel_context *context, const gravel_tree_options *options)
{
    static const gravel_tree_options standard = GRAVEL_TREE_OPTIONS_INIT;

    if (!tree_out || !context)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tree_create needs a place for the tree and a context");
    *tree_out = NULL;
    if (!options)
        options = &standard;
    gravel_status status = check_options(context, options);
    if (status)
        return status;
    gravel_tree *tree = calloc(1, sizeof *tree);
    if (!tree)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a tree");
    const gv_device *device = &context->device[options->device];
    tree->context = context;
    tree->device = options->device;
    tree->queue = device->queue;
    tree->options = *options;
    tree->scalar = options->precision == GRAVEL_DP ? 8 : 4;
    tree->words = options->precision == GRAVEL_DS ? 2 : 1;
    tree->length = tree->mass_unit = 1;
    tree->limits = (gv_limits){device->info, device->fast_fma, device->has_ptx_asm, device->has_rsqrt14,
                               device->has_rsqrt12};
    gv_variant_set(&tree->variant, 2, options->precision, 0);
    tree->options.configuration = NULL; /* the caller's text need not live on */
    if (options->configuration) {
        const size_t size = strlen(options->configuration) + 1;
        tree->named = malloc(size);
        if (tree->named)
            memcpy(tree->named, options->configuration, size);
        else
            status = gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a tree");
    }
    /* a named configuration is tried at once; else gravel_tree_write knows better for how many bodies it is */
    if (!status && tree->named)
        status = gv_tree_configure(tree, GV_TREE_USUAL_BODIES);
    else if (!status)
        status = choose_configuration(tree, GV_TREE_USUAL_BODIES, &tree->config, &tree->origin);
    if (status) {
        gravel_tree_release(tree);
        return status;
    }
    *tree_out = tree;
    return GRAVEL_OK;
}

void gravel_tree_release(gravel_tree *tree)
{
    if (!tree)
        return;
    clFinish(tree->queue);
    gv_buffer *const all[] = {&tree->body,        &tree->body_low,    &tree->body_sorted_low,
                              &tree->points_low,  &tree->body_sorted, &tree->bounds_part,
                              &tree->bounds_out,  &tree->head,        &tree->table,
                              &tree->level_total, &tree->link,        &tree->cell,
                              &tree->boxes,       &tree->force,       &tree->group,
                              &tree->counts,      &tree->points,      &tree->points_force,
                              &tree->flag,        &tree->list,        &tree->count_table,
                              &tree->count_total, &tree->wide,        &tree->wide_list,
                              &tree->walk_table,  &tree->walk_total,  &tree->walk_lists};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        drop(all[k]);
    drop_order(&tree->order);
    drop_order(&tree->point_order);
    for (int k = 0; k < GV_STAGE_COUNT; k++)
        gv_tree_clear_stage(tree, (gv_stage)k);
    drop_event(&tree->levels_event);
    drop_kernels(tree);
    free(tree->active);
    free(tree->named);
    free(tree);
}

/* ----------------------------------------------------------------- queries */

gravel_status gravel_tree_configuration(gravel_tree *tree, char *text, size_t size, gravel_origin *origin)
{
    if (!tree || !text || size == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tree_configuration needs a tree and room for the text");
    gv_space_format(&gv_tree_space, &tree->config, text, size);
    if (origin)
        *origin = tree->origin;
    return GRAVEL_OK;
}

size_t gravel_tree_memory(const gravel_tree *tree)
{
    if (!tree)
        return 0;
    const gv_buffer *const all[] = {
        &tree->body_sorted, &tree->body_sorted_low, &tree->bounds_part,  &tree->bounds_out,     &tree->head,
        &tree->table,       &tree->level_total,     &tree->link,         &tree->cell,           &tree->boxes,
        &tree->group,       &tree->counts,          &tree->walk_lists,   &tree->walk_table,     &tree->order.table,
        &tree->order.total, &tree->order.key[0],    &tree->order.key[1], &tree->order.index[0], &tree->order.index[1]};
    size_t sum = 0;
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        sum += all[k]->size;
    return sum;
}

static gravel_status stage_seconds(const gv_span *span, double *seconds)
{
    cl_ulong start, end;

    *seconds = 0;
    if (!span->first)
        return GRAVEL_OK;
    cl_int code = clGetEventProfilingInfo(span->first, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    if (!code)
        code = clGetEventProfilingInfo(span->last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    if (code)
        return gv_fail_cl(code, "reading the times of a stage");
    *seconds = (double)(end - start) * 1e-9;
    return GRAVEL_OK;
}

gravel_status gravel_tree_get_timings(gravel_tree *tree, gravel_tree_timings *timings)
{
    if (!tree || !timings)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tree_get_timings needs a tree and a place for the times");
    double *const out[GV_STAGE_COUNT] = {&timings->keys,    &timings->sort,   &timings->build,
                                         &timings->moments, &timings->groups, &timings->walk};
    memset(timings, 0, sizeof *timings);
    cl_int code = clFinish(tree->queue);
    if (code)
        return gv_fail_cl(code, "waiting for the tree");
    for (int k = 0; k < GV_STAGE_COUNT; k++) {
        gravel_status status = stage_seconds(&tree->stage[k], out[k]);
        if (status)
            return status;
        timings->total += *out[k];
    }
    return GRAVEL_OK;
}
