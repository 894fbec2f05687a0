#include "host/direct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

gravel_status gv_direct_reserve(gravel_direct *d, cl_mem *buffer, size_t *have, size_t size, const char *what)
{
    if (*buffer && *have >= size)
        return GRAVEL_OK;
    if (*buffer)
        clReleaseMemObject(*buffer);
    *buffer = NULL;
    *have = 0;
    if (size > d->limits.info.max_allocation)
        return gv_fail(GRAVEL_ERR_DEVICE_MEMORY, "%s need %.1f MB in one buffer; %s allows %.1f MB", what,
                       (double)size / 1e6, d->limits.info.name, (double)d->limits.info.max_allocation / 1e6);
    cl_int code;
    size += size / 8; /* room to grow: sizes of calls vary a little */
    if (size > d->limits.info.max_allocation)
        size = d->limits.info.max_allocation;
    *buffer = clCreateBuffer(d->context->cl, CL_MEM_READ_WRITE, size, NULL, &code);
    if (code) {
        *buffer = NULL;
        return gv_fail_cl(code, "allocating %.1f MB for %s on %s", (double)size / 1e6, what, d->limits.info.name);
    }
    *have = size;
    return GRAVEL_OK;
}

gravel_status gv_staging_wait(gv_staging *s)
{
    if (!s->busy)
        return GRAVEL_OK;
    const cl_int code = clWaitForEvents(1, &s->busy);
    clReleaseEvent(s->busy);
    s->busy = NULL;
    return code ? gv_fail_cl(code, "waiting for a transfer") : GRAVEL_OK;
}

void gv_staging_free(gravel_direct *d, gv_staging *s)
{
    gv_staging_wait(s);
    if (s->pinned) {
        if (s->host)
            clEnqueueUnmapMemObject(d->queue, s->pinned, s->host, 0, NULL, NULL);
        clFinish(d->queue);
        clReleaseMemObject(s->pinned);
    } else
        free(s->host);
    memset(s, 0, sizeof *s);
}

gravel_status gv_staging_reserve(gravel_direct *d, gv_staging *s, size_t size)
{
    gravel_status status = gv_staging_wait(s);
    if (status || s->size >= size)
        return status;
    gv_staging_free(d, s);
    size += size / 8;
    if (d->limits.info.host_memory) {
        s->host = malloc(size);
        if (!s->host)
            return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a staging area of %zu bytes", size);
        s->size = size;
        return GRAVEL_OK;
    }
    cl_int code;
    s->pinned = clCreateBuffer(d->context->cl, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size, NULL, &code);
    if (!code)
        s->host = clEnqueueMapBuffer(d->queue, s->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size, 0, NULL, NULL,
                                     &code);
    if (code) {
        if (s->pinned)
            clReleaseMemObject(s->pinned);
        memset(s, 0, sizeof *s);
        return gv_fail_cl(code, "mapping a staging area of %zu bytes", size);
    }
    s->size = size;
    return GRAVEL_OK;
}

/* Local memory that the compiled kernel wants and the group it allows are known only now. */
static gravel_status check_kernel(gravel_direct *d, cl_kernel kernel, const gv_config *config, const char *options)
{
    size_t group = 0;
    const cl_int code = clGetKernelWorkGroupInfo(kernel, d->context->device[d->device].id, CL_KERNEL_WORK_GROUP_SIZE,
                                                 sizeof group, &group, NULL);
    if (code)
        return gv_fail_cl(code, "asking for the group limit of gv_force");
    if (group < (size_t)config->value[GV_T_THREADS])
        return gv_fail(GRAVEL_ERR_LAUNCH, "the compiled kernel allows groups of %zu work-items on %s, not %d (%s)",
                       group, d->limits.info.name, config->value[GV_T_THREADS], options);
    return GRAVEL_OK;
}

gravel_status gv_direct_force_kernel(gravel_direct *d, const gv_config *config, int unsoftened, cl_kernel *kernel)
{
    char options[640];
    gv_variant variant = d->variant;
    if (unsoftened)
        variant.features |= GV_DIRECT_UNSOFTENED;
    gv_direct_program_options(&variant, config, options, sizeof options);
    for (int k = 0; k < d->n_kernels; ++k)
        if (strcmp(d->kernel[k].options, options) == 0) {
            *kernel = d->kernel[k].force;
            return GRAVEL_OK;
        }
    if (d->n_kernels == GV_DIRECT_KERNELS)
        return gv_fail(GRAVEL_ERR_INTERNAL, "more than %d sets of macros in one object", GV_DIRECT_KERNELS);
    cl_program program;
    gravel_status status = gv_program_get(d->context, d->device, "direct/force.cl", options, &program);
    if (status)
        return status;
    cl_int code;
    cl_kernel made = clCreateKernel(program, "gv_force", &code);
    if (code)
        return gv_fail_cl(code, "creating gv_force (%s)", options);
    status = check_kernel(d, made, config, options);
    if (status) {
        clReleaseKernel(made);
        return status;
    }
    gv_direct_kernel *slot = &d->kernel[d->n_kernels++];
    memcpy(slot->options, options, sizeof options);
    slot->force = *kernel = made;
    return GRAVEL_OK;
}

gravel_status gv_direct_choose(gravel_direct *d, size_t sinks, int unsoftened, const gv_direct_choice **choice)
{
    const size_t sources = gv_direct_source_count(d);
    gv_direct_choice *c = &d->choice[unsoftened][gv_sink_bucket(sinks)][gv_source_bucket(sources)];
    *choice = c;
    if (c->known)
        return GRAVEL_OK;
    if (d->is_named) {
        c->config = d->named;
        c->origin = GRAVEL_ORIGIN_CALLER;
    } else {
        gravel_status status = gv_profile_choose(d->context, d->device, &gv_direct_space, &d->variant, sinks, sources,
                                                 &c->config, &c->origin);
        if (status)
            return status;
    }
    c->known = 1;
    return GRAVEL_OK;
}

/* A named configuration starts from the built-in default for many sinks and must be able to run. */
static gravel_status take_configuration(gravel_direct *d, const char *text)
{
    gv_direct_space.built_in(&d->named, &d->variant, &d->limits, 1 << 20, 1 << 20);
    gravel_status status = gv_space_parse(&gv_direct_space, text, &d->named);
    if (status)
        return status;
    const char *reason = gv_space_can_run(&gv_direct_space, &d->named, &d->variant, &d->limits);
    if (reason) {
        char all[256];
        gv_space_format(&gv_direct_space, &d->named, all, sizeof all);
        return gv_fail(GRAVEL_ERR_LAUNCH, "configuration '%s' cannot run %s on %s: %s", all, d->variant.name,
                       d->limits.info.name, reason);
    }
    d->is_named = 1;
    return GRAVEL_OK;
}

static gravel_status helper_kernel(gravel_direct *d, const char *file, const char *options, const char *name,
                                   cl_kernel *kernel)
{
    cl_program program;
    gravel_status status = gv_program_get(d->context, d->device, file, options, &program);
    if (status)
        return status;
    cl_int code;
    *kernel = clCreateKernel(program, name, &code);
    if (code) {
        *kernel = NULL;
        return gv_fail_cl(code, "creating %s", name);
    }
    return GRAVEL_OK;
}

static gravel_status make_helper_kernels(gravel_direct *d)
{
    char options[160];
    snprintf(options, sizeof options,
             "-DGV_ORDER=%d -DGV_PRECISION=%d -DGV_LANES=1 -DGV_NEAREST=%d -DGV_REDUCE_THREADS=%d", d->variant.order,
             (int)d->variant.precision, d->options.nearest, GV_REDUCE_THREADS);
    gravel_status status = helper_kernel(d, "direct/reduce.cl", options, "gv_reduce", &d->reduce);
    if (status)
        return status;
    size_t used = (size_t)snprintf(options, sizeof options, "-DGV_ORDER=%d -DGV_PRECISION=%d -DGV_LANES=1",
                                   d->variant.order, (int)d->variant.precision);
    if (d->options.prediction)
        snprintf(options + used, sizeof options - used, " -DGV_DERIVATIVES=%d", d->layout.derivatives);
    status = helper_kernel(d, "direct/sources.cl", options, "gv_scatter", &d->scatter);
    if (!status && d->options.prediction)
        status = helper_kernel(d, "direct/sources.cl", options, "gv_predict", &d->predict);
    if (!status && d->options.neighbour_capacity > 0) {
        snprintf(options, sizeof options, "-DGV_LIST_THREADS=%d", d->limits.info.type == GRAVEL_DEVICE_CPU ? 1 : 64);
        status = helper_kernel(d, "direct/lists.cl", options, "gv_join_lists", &d->join);
    }
    return status;
}

static gravel_status check_options(const gravel_context *context, const gravel_direct_options *o)
{
    if (o->order != 2 && o->order != 4 && o->order != 6)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "order is %d; it must be 2, 4 or 6", o->order);
    if (o->precision < GRAVEL_SP || o->precision > GRAVEL_DP)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "precision is %d; it must be sp, ds or dp", (int)o->precision);
    if (o->device < 0 || o->device >= context->n_devices)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "device %d of a context with %d", o->device, context->n_devices);
    if (o->neighbour_capacity < 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "neighbour capacity is negative");
    if (o->precision == GRAVEL_DP && !context->device[o->device].info.has_fp64)
        return gv_fail(GRAVEL_ERR_UNSUPPORTED, "%s has no double precision: use sp or ds, or another device",
                       context->device[o->device].info.name);
    return GRAVEL_OK;
}

gravel_status gravel_direct_create(gravel_direct **direct, gravel_context *context,
                                   const gravel_direct_options *options)
{
    const gravel_direct_options defaults = GRAVEL_DIRECT_OPTIONS_INIT;
    if (!direct || !context)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_create: no context or no place for the result");
    *direct = NULL;
    options = options ? options : &defaults;
    gravel_status status = check_options(context, options);
    if (status)
        return status;
    gravel_direct *d = calloc(1, sizeof *d);
    if (!d)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a gravel_direct");
    const gv_device *device = &context->device[options->device];
    d->context = context;
    d->device = options->device;
    d->queue = device->quick;
    d->kernel_seconds = -1;
    d->options = *options;
    d->options.nearest = !!options->nearest;
    d->options.configuration = NULL;
    d->limits =
        (gv_limits){device->info, device->fast_fma, device->has_ptx_asm, device->has_rsqrt14, device->has_rsqrt12};
    gv_variant_set(&d->variant, options->order, options->precision,
                   (options->nearest ? GV_DIRECT_NEAREST : 0u) |
                       (options->neighbour_capacity > 0 ? GV_DIRECT_LISTS : 0u));
    gv_direct_layout_set(&d->layout, &d->variant, options->prediction);
    if (options->configuration)
        status = take_configuration(d, options->configuration);
    if (!status)
        status = make_helper_kernels(d);
    if (status) {
        gravel_direct_release(d);
        return status;
    }
    *direct = d;
    return GRAVEL_OK;
}

void gravel_direct_release(gravel_direct *d)
{
    if (!d)
        return;
    clFinish(d->queue); /* nothing may be in flight when staging memory goes */
    gv_direct_drop_pair(d);
    cl_mem call[] = {d->sinks, d->partial, d->result, d->part_count, d->part_list, d->count_out, d->list_out, d->batch};
    for (size_t k = 0; k < sizeof call / sizeof call[0]; ++k)
        if (call[k])
            clReleaseMemObject(call[k]);
    gv_staging_free(d, &d->result_staging);
    gv_staging_free(d, &d->sink_staging);
    gv_staging_free(d, &d->upload[1]);
    gv_staging_free(d, &d->upload[0]);
    gv_direct_free_sources(d);
    cl_kernel helper[] = {d->predict, d->scatter, d->join, d->reduce};
    for (size_t k = 0; k < sizeof helper / sizeof helper[0]; ++k)
        if (helper[k])
            clReleaseKernel(helper[k]);
    for (int k = d->n_kernels - 1; k >= 0; --k)
        clReleaseKernel(d->kernel[k].force);
    free(d->stamp);
    free(d->host_id);
    free(d);
}

gravel_status gravel_direct_configuration(gravel_direct *d, size_t sinks, char *text, size_t size,
                                          gravel_origin *origin)
{
    const gv_direct_choice *choice;
    if (!d)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_configuration: no object");
    gravel_status status = gv_direct_choose(d, sinks, 0, &choice);
    if (status)
        return status;
    if (text)
        gv_space_format(&gv_direct_space, &choice->config, text, size);
    if (origin)
        *origin = choice->origin;
    return GRAVEL_OK;
}
