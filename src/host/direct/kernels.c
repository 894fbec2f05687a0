/* Kernels of direct summation: made when a call first needs them, kept in the object. */
#include "host/direct/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bodies/order.h"
#include "host/profile/proof.h"

size_t gv_direct_own_count(const gravel_direct *d)
{
    return d->own_count_is_set ? d->own_count : d->own ? d->own->count : 0;
}

int gv_direct_variant(int order, int nearest, int lists)
{
    return (order / 2 - 1) * 4 + !!nearest + 2 * !!lists;
}

int gv_direct_set(gravel_soften soften, unsigned more, int mixed)
{
    const int kind = GV_SOFTEN_OF_SOURCES((int)soften) ? (int)GV_DIRECT_SOFTENED
                     : soften == GRAVEL_SOFTEN_SINKS   ? (int)GV_DIRECT_SINKS_SOFTENED
                     : more & GV_DIRECT_UNSOFTENED     ? (int)GV_DIRECT_NO_EPS
                                                       : (int)GV_DIRECT_EPS;
    return kind + (mixed ? GV_DIRECT_MIXED : 0);
}

/* What makes the program of a set another one than with eps. */
static unsigned features_of(int set)
{
    switch (set & ~GV_DIRECT_MIXED) {
    case GV_DIRECT_SOFTENED:
        return GV_DIRECT_BY_SINKS | GV_DIRECT_BY_SOURCES;
    case GV_DIRECT_SINKS_SOFTENED:
        return GV_DIRECT_BY_SINKS;
    case GV_DIRECT_NO_EPS:
        return GV_DIRECT_UNSOFTENED;
    default:
        return 0;
    }
}

gravel_status gv_direct_need_proof(gravel_direct *d, int variant, const gv_config *config, gravel_soften soften,
                                   unsigned aside, unsigned more)
{
    gv_variant v = d->variant[variant];
    v.features |= aside | more | features_of(gv_direct_set(soften, more, 0)) |
                  (soften == GRAVEL_SOFTEN_SOURCES ? (unsigned)GV_DIRECT_SOURCES_ALONE
                   : soften == GRAVEL_SOFTEN_MAX   ? (unsigned)GV_DIRECT_LARGER
                                                   : 0);
    if (d->is_named || !(v.features & (unsigned)GV_DIRECT_ASIDE) ||
        (d->proven.variant == variant && d->proven.features == v.features &&
         memcmp(&d->proven.config, config, sizeof *config) == 0))
        return GRAVEL_OK;
    gravel_status status = gv_proof_require(d->worker.context, d->worker.device, &gv_direct_space, &v, config);
    if (!status) {
        d->proven.variant = variant;
        d->proven.features = v.features;
        d->proven.config = *config;
    }
    return status;
}

static gravel_status choose(gravel_direct *d, const gv_variant *variant, size_t sinks, size_t sources,
                            gv_direct_choice *choice)
{
    if (d->is_named) {
        choice->config = d->named;
        choice->origin = GRAVEL_ORIGIN_CALLER;
        return GRAVEL_OK;
    }
    return gv_profile_choose(d->worker.context, d->worker.device, &gv_direct_space, variant, sinks, sources,
                             &choice->config, &choice->origin);
}

/* The choice of a configuration ignores softening lengths of sources, which need further room in the tiles. */
static void make_room_for_softening(const gravel_direct *d, const gv_variant *variant, gv_config *config)
{
    while (config->value[GV_T_TILE] > 0 &&
           gv_direct_local_bytes(config, variant, GRAVEL_SOFTEN_SUM) > (size_t)d->limits.info.local_memory)
        gv_direct_shrink_tiles(config);
}

gv_direct_choice *gv_direct_find_choice(gravel_direct *d, int set, int variant, size_t sinks, size_t sources)
{
    gv_direct_choices **const choices = &d->choice[set][variant];
    if (!*choices)
        *choices = calloc(1, sizeof **choices);
    if (!*choices)
        return NULL;
    gv_direct_choice **const row = &(*choices)->row[gv_choice_source_cell(sources)];
    if (!*row)
        *row = calloc(GV_CHOICE_SINK_CELLS, sizeof **row);
    return *row ? &(*row)[gv_choice_sink_cell(sinks)] : NULL;
}

/* By ranges of ids all sources would go through the masked loop, which takes 1.1 to 1.8 times as long; answers for few
 * sinks were measured with sinks anywhere.  Vectors without searches compare all ids in less time than it takes to look
 * for them (doc/numbers.md, "Where a body meets itself"). */
static void find_by_ids(gravel_direct *d, const gv_variant *v, size_t sinks, size_t sources, gv_direct_choice *choice)
{
    gv_config config = choice->config;
    config.value[GV_T_MEET] = 1;
    if (d->is_named || sinks < GV_MIXED_LEAST || (config.value[GV_T_LANES] > 1 && !gv_direct_searches(v)) ||
        gv_space_can_run(&gv_direct_space, &config, v, &d->limits))
        return;
    gv_config right = config;
    gravel_origin origin = choice->origin;
    if (!gv_proof_settle(d->worker.context, d->worker.device, &gv_direct_space, v, sinks, sources, &right, &origin) &&
        memcmp(&right, &config, sizeof right) == 0)
        choice->config = config; /* else what was chosen, which is right */
}

gravel_status gv_direct_choose(gravel_direct *d, int set, int variant, size_t sinks, size_t sources,
                               gv_direct_choice **choice)
{
    gv_variant v = d->variant[variant];
    v.features |= features_of(set);
    gv_direct_choice *const chosen = *choice = gv_direct_find_choice(d, set, variant, sinks, sources);
    if (!chosen)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for configurations");
    if (chosen->sinks > 0)
        return GRAVEL_OK;
    gravel_status status = choose(d, &v, sinks, sources, chosen);
    if (!status && set & GV_DIRECT_MIXED)
        find_by_ids(d, &v, sinks, sources, chosen);
    if (!status && v.features & GV_DIRECT_BY_SOURCES)
        make_room_for_softening(d, &v, &chosen->config);
    chosen->sinks = status ? 0 : sinks;
    chosen->sources = sources;
    return status;
}

/* The limit of the compiled kernel is available only now. */
static gravel_status check_kernel(gravel_direct *d, cl_kernel kernel, const gv_config *config, const char *options)
{
    size_t group = 0;
    const cl_int code = clGetKernelWorkGroupInfo(kernel, gv_worker_device(&d->worker)->id, CL_KERNEL_WORK_GROUP_SIZE,
                                                 sizeof group, &group, NULL);
    if (code)
        return gv_fail_cl(code, "reading the group limit of gv_force");
    if (group < (size_t)config->value[GV_T_THREADS])
        return gv_fail(GRAVEL_ERR_LAUNCH, "the compiled kernel allows groups of %zu work-items on %s, not %d (%s)",
                       group, d->limits.info.name, config->value[GV_T_THREADS], options);
    return GRAVEL_OK;
}

static void forget_in(gv_direct_choice *choice, cl_kernel kernel)
{
    for (int c = 0; choice && c < GV_CHOICE_SINK_CELLS; c++)
        for (int kind = 0; kind < GV_DIRECT_KINDS; kind++)
            if (choice[c].force[kind] == kernel)
                choice[c].force[kind] = NULL;
}

/* Nothing knows the kernel any more. */
static void forget(gravel_direct *d, cl_kernel kernel)
{
    for (int k = 0; k < GV_DIRECT_SETS * GV_DIRECT_VARIANTS; k++) {
        gv_direct_choices *const choices = d->choice[k / GV_DIRECT_VARIANTS][k % GV_DIRECT_VARIANTS];
        for (int row = 0; choices && row < GV_CHOICE_SOURCE_CELLS; row++)
            forget_in(choices->row[row], kernel);
    }
    if (d->last[GV_STAGE_FORCE].kernel == kernel)
        d->last[GV_STAGE_FORCE].kernel = NULL;
    d->n_again = 0;
    clReleaseKernel(kernel);
}

/* Where there is no room for another one, that of the oldest. */
static gv_direct_kernel *need_slot(gravel_direct *d)
{
    if (d->n_kernels < GV_DIRECT_KERNELS)
        return &d->kernel[d->n_kernels++];
    gv_direct_kernel *const slot = &d->kernel[d->oldest];
    d->oldest = (d->oldest + 1) % GV_DIRECT_KERNELS;
    forget(d, slot->force);
    return slot;
}

gravel_status gv_direct_force_kernel(gravel_direct *d, int variant, const gv_config *config, gravel_soften soften,
                                     unsigned more, const char *macros, cl_kernel *kernel)
{
    char options[768];
    gv_variant v = d->variant[variant];
    v.features |= more;
    gv_direct_program_options(&v, soften, config, options, sizeof options);
    strncat(options, macros, sizeof options - strlen(options) - 1);
    for (int k = 0; k < d->n_kernels; k++)
        if (strcmp(d->kernel[k].options, options) == 0) {
            *kernel = d->kernel[k].force;
            return GRAVEL_OK;
        }
    cl_kernel made;
    gravel_status status = gv_kernel_make(&d->worker, "direct/force.cl", options, "gv_force", &made);
    if (status)
        return status;
    status = check_kernel(d, made, config, options);
    if (status) {
        clReleaseKernel(made);
        return status;
    }
    gv_direct_kernel *slot = need_slot(d);
    memcpy(slot->options, options, sizeof options);
    slot->force = *kernel = made;
    return GRAVEL_OK;
}

gravel_status gv_direct_chosen_kernel(gravel_direct *d, int variant, gv_direct_choice *choice, gravel_soften soften,
                                      unsigned more, const char *macros, cl_kernel *kernel)
{
    const int no_eps = (more & GV_DIRECT_UNSOFTENED) != 0;
    cl_kernel *kept = &choice->force[more & GV_DIRECT_DUE ? (no_eps ? (int)GV_KIND_DUE_NO_EPS : (int)GV_KIND_DUE)
                                     : no_eps             ? (int)GV_KIND_NO_EPS
                                                          : (int)soften];
    gravel_status status = GRAVEL_OK;
    if (*macros || more & ~(unsigned)(GV_DIRECT_UNSOFTENED | GV_DIRECT_DUE))
        return gv_direct_force_kernel(d, variant, &choice->config, soften, more, macros, kernel);
    if (!*kept)
        status = gv_direct_force_kernel(d, variant, &choice->config, soften, more, "", kept);
    *kernel = *kept;
    return status;
}

gravel_status gv_direct_take_kernel(gravel_direct *d, int order, const gravel_bodies *bodies, int kind,
                                    cl_kernel *kernel)
{
    const size_t number = bodies->precision == GRAVEL_DP ? 8 : 4;
    char options[128];
    cl_kernel *kept = &d->take[kind][order / 2 - 1][bodies->precision];
    if (!*kept) {
        snprintf(options, sizeof options, "-DGV_ORDER=%d -DGV_PRECISION=%d -DGV_OTHER=%d -DGV_LANES=1 -DGV_CHANGES=%zu",
                 order, (int)bodies->precision, (int)d->options.precision,
                 kind >= GV_TAKE_CHANGES ? gv_held_size(&d->worker, kind - GV_TAKE_CHANGES) / number : 0);
        if (kind == GV_TAKE_DUE) /* only there, so that other programs keep their names in caches */
            strncat(options, " -DGV_DUE=1", sizeof options - strlen(options) - 1);
        gravel_status status = gv_kernel_make(&d->worker, "direct/take.cl", options, "gv_take", kept);
        if (status)
            return status;
    }
    *kernel = *kept;
    return GRAVEL_OK;
}

static gravel_status make_reduce(gravel_direct *d, int order, int nearest, gravel_precision bodies, int due,
                                 const char *name, cl_kernel *kernel)
{
    char options[160];
    snprintf(options, sizeof options, "-DGV_ORDER=%d -DGV_PRECISION=%d -DGV_OTHER=%d -DGV_LANES=1 -DGV_NEAREST=%d",
             order, (int)d->options.precision, (int)bodies, nearest);
    if (due) /* as for gv_take */
        strncat(options, " -DGV_DUE=1", sizeof options - strlen(options) - 1);
    return gv_kernel_make(&d->worker, "direct/reduce.cl", options, name, kernel);
}

gravel_status gv_direct_reduce_kernel(gravel_direct *d, int order, int nearest, gravel_precision bodies, int due,
                                      cl_kernel *kernel)
{
    cl_kernel *kept = &d->reduce[!!due][2 * (order / 2 - 1) + !!nearest][bodies];
    gravel_status status = *kept ? GRAVEL_OK : make_reduce(d, order, !!nearest, bodies, due, "gv_reduce", kept);
    *kernel = *kept;
    return status;
}

gravel_status gv_direct_names_kernel(gravel_direct *d, int order, cl_kernel *kernel)
{
    cl_kernel *kept = &d->names[order / 2 - 1];
    gravel_status status =
        *kept ? GRAVEL_OK : make_reduce(d, order, 1, d->options.precision, 0, "gv_name_nearest", kept);
    *kernel = *kept;
    return status;
}

/* Without a promise in the kernel's text, 256 work-items are what every GPU's compiler allows for. */
static size_t most_list_items(const gravel_direct *d)
{
    const size_t most = d->limits.info.type == GRAVEL_DEVICE_CPU ? 1 : 256, allowed = (size_t)d->limits.info.max_group;
    return most < allowed ? most : allowed;
}

/* Where each work-item of a small group has more parts than it reads at once, the group is a large one. */
size_t gv_direct_list_items(const gravel_direct *d, size_t parts)
{
    const size_t most = most_list_items(d);
    return parts > 8 * GV_LIST_THREADS || most < GV_LIST_THREADS ? most : GV_LIST_THREADS;
}

gravel_status gv_direct_join_kernel(gravel_direct *d, cl_kernel *kernel)
{
    char options[64];
    if (!d->join) {
        snprintf(options, sizeof options, "-DGV_LIST_ITEMS=%zu", most_list_items(d));
        gravel_status status = gv_kernel_make(&d->worker, "direct/lists.cl", options, "gv_join_lists", &d->join);
        if (status)
            return status;
    }
    *kernel = d->join;
    return GRAVEL_OK;
}

static void release_all(cl_kernel *kernel, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (kernel[k])
            clReleaseKernel(kernel[k]);
}

void gv_direct_release_kernels(gravel_direct *d)
{
    release_all(&d->join, 1);
    release_all(d->names, sizeof d->names / sizeof d->names[0]);
    release_all(d->reduce[0][0], sizeof d->reduce / sizeof(cl_kernel));
    release_all(d->take[0][0], sizeof d->take / sizeof(cl_kernel));
    for (int k = 0; k < d->n_kernels; k++)
        clReleaseKernel(d->kernel[k].force);
    for (int k = 0; k < GV_DIRECT_SETS * GV_DIRECT_VARIANTS; k++) {
        gv_direct_choices *const choices = d->choice[k / GV_DIRECT_VARIANTS][k % GV_DIRECT_VARIANTS];
        for (int row = 0; choices && row < GV_CHOICE_SOURCE_CELLS; row++)
            free(choices->row[row]);
        free(choices);
    }
}
