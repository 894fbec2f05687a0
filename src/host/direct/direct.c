/* gravel_direct: created, queried for its configuration, released. */
#include "host/direct/direct.h"

#include <stdlib.h>

#include "host/base/options.h"
#include "host/direct/count.h"
#include "host/direct/object.h"
#include "host/direct/shape.h"
#include "host/direct/take.h"
#include "host/direct/ticket.h"

/* A named configuration starts from the built-in default for many sinks and must be able to run. */
static gravel_status take_configuration(gravel_direct *d, const gv_variant *variant, const char *text)
{
    gv_direct_space.built_in(&d->named, variant, &d->limits, 1 << 20, 1 << 20);
    gravel_status status = gv_space_parse(&gv_direct_space, text, &d->named);
    if (status)
        return status;
    const char *reason = gv_space_can_run(&gv_direct_space, &d->named, variant, &d->limits);
    if (reason) {
        char all[256];
        gv_space_format(&gv_direct_space, &d->named, all, sizeof all);
        return gv_fail(GRAVEL_ERR_LAUNCH, "configuration '%s' cannot run %s on %s: %s", all, variant->name,
                       d->limits.info.name, reason);
    }
    d->is_named = 1;
    return GRAVEL_OK;
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

void gravel_direct_options_init(gravel_direct_options *options)
{
    *options = (gravel_direct_options)GRAVEL_DIRECT_OPTIONS_INIT;
}

/* The kernels that every call of the options will need are compiled here, so that a failure is seen here. */
static gravel_status make_kernels(gravel_direct *d)
{
    const gravel_direct_options *o = &d->options;
    cl_kernel kernel;
    gravel_status status = gv_direct_reduce_kernel(d, o->order, o->nearest, o->precision, 0, &kernel);
    return !status && o->neighbour_capacity > 0 ? gv_direct_join_kernel(d, &kernel) : status;
}

static gravel_status set_up(gravel_direct *d, gravel_context *context, const gravel_direct_options *options)
{
    d->worker = (gv_worker){.context = context, .device = options->device};
    d->kernel_seconds = -1;
    d->options = *options;
    d->options.nearest = !!options->nearest;
    d->options.configuration = NULL;
    d->limits = gv_limits_of(context, options->device);
    for (int order = 2; order <= 6; order += 2)
        for (unsigned f = 0; f <= (GV_DIRECT_NEAREST | GV_DIRECT_LISTS); f++)
            gv_variant_set(&d->variant[gv_direct_variant(order, f & GV_DIRECT_NEAREST, (f & GV_DIRECT_LISTS) != 0)],
                           order, options->precision, f);
    const int own = gv_direct_variant(options->order, options->nearest, options->neighbour_capacity > 0);
    gravel_status status = GRAVEL_OK;
    if (options->configuration)
        status = take_configuration(d, &d->variant[own], options->configuration);
    return status ? status : make_kernels(d);
}

gravel_status gravel_direct_create(gravel_direct **direct, gravel_context *context,
                                   const gravel_direct_options *options)
{
    gravel_direct_options taken = GRAVEL_DIRECT_OPTIONS_INIT;
    if (!direct || !context)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_create: no context or no place for the result");
    *direct = NULL;
    gravel_status status = gv_options_take(&taken, sizeof taken, options, "gravel_direct_options");
    if (!status)
        status = check_options(context, &taken);
    if (status)
        return status;
    gravel_direct *d = calloc(1, sizeof *d);
    if (!d)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a gravel_direct");
    status = set_up(d, context, &taken);
    if (status) {
        gravel_direct_release(d);
        return status;
    }
    gv_direct_count_start(d);
    *direct = d;
    return GRAVEL_OK;
}

static int own_variant(const gravel_direct *d)
{
    return gv_direct_variant(d->options.order, d->options.nearest, d->options.neighbour_capacity > 0);
}

gravel_status gv_direct_build(gravel_direct *d)
{
    cl_kernel kernel;
    return gv_direct_force_kernel(d, own_variant(d), &d->named, GRAVEL_SOFTEN_EPS, 0, "", &kernel);
}

void gravel_direct_release(gravel_direct *d)
{
    if (!d)
        return;
    clFinish(gv_worker_queue(&d->worker)); /* nothing may be in flight when staging memory goes */
    gv_direct_count_end(d);
    gv_direct_release_tickets(d);
    gv_buffer_release(&d->part_list);
    gv_buffer_release(&d->part_count);
    gv_buffer_release(&d->partial);
    gv_buffer_release(&d->sinks);
    for (int k = 0; k < GV_ALIKE_KINDS; k++)
        gv_buffer_release(&d->cuts[k].table);
    gv_direct_release_taken(d);
    gv_direct_release_shapes(d);
    gravel_bodies_release(d->own);
    gv_direct_release_kernels(d);
    free(d);
}

gravel_status gravel_direct_get_configuration(gravel_direct *d, size_t sinks, char *text, size_t size,
                                              gravel_origin *origin)
{
    gv_direct_choice *choice;
    const size_t sources = !d ? 0 : d->own ? gv_direct_own_count(d) : d->last_sources;
    if (!d)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_get_configuration: no object");
    const int kind = d->last_set & ~GV_DIRECT_MIXED;
    const int set = !d->own ? d->last_set : d->own->ids_mixed ? kind + GV_DIRECT_MIXED : kind;
    gravel_status status = gv_direct_choose(d, set, own_variant(d), sinks, sources, &choice);
    if (status)
        return status;
    if (text)
        gv_space_format(&gv_direct_space, &choice->config, text, size);
    if (origin)
        *origin = choice->origin;
    return GRAVEL_OK;
}
