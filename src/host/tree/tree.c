#include "host/tree/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/options.h"
#include "host/profile/profile.h"
#include "host/profile/proof.h"

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
    const gravel_device_info *info = &tree->limits.info;
    if (buffer->mem && buffer->size >= size)
        return GRAVEL_OK;
    if (size > info->max_allocation)
        return gv_fail(GRAVEL_ERR_DEVICE_MEMORY,
                       "%s for %zu bodies need %.1f MB in one buffer; %s allows %.1f MB: about %.3g bodies would fit",
                       what, tree->n, (double)size / 1e6, info->name, (double)info->max_allocation / 1e6,
                       (double)tree->n * ((double)info->max_allocation / (double)size));
    return gv_buffer_reserve_more(&tree->worker, buffer, size, what);
}

/* ----------------------------------------------------------------- kernels */

typedef struct gv_kernel_place {
    int program;
    const char *name;
} gv_kernel_place;

static gv_kernel_place place_of(const gravel_tree *tree, int kernel)
{
    static const gv_kernel_place plain[GV_TK_WALK] = {
        [GV_TK_BOUNDS] = {GV_TP_BOUNDS, "gv_reduce_bounds"},
        [GV_TK_SCAN] = {GV_TP_SCAN, "gv_scan_rows"},
        [GV_TK_COMPACT_COUNT] = {GV_TP_COMPACT, "gv_compact_count"},
        [GV_TK_COMPACT_WRITE] = {GV_TP_COMPACT, "gv_compact_write"},
        [GV_TK_KEYS] = {GV_TP_KEYS, "gv_tree_keys"},
        [GV_TK_HEADS] = {GV_TP_BUILD, "gv_tree_heads"},
        [GV_TK_EMIT] = {GV_TP_BUILD, "gv_tree_emit"},
        [GV_TK_MOMENTS] = {GV_TP_MOMENTS, "gv_tree_moments"},
        [GV_TK_LEAVES] = {GV_TP_MOMENTS, "gv_tree_leaves"},
        [GV_TK_CLIMB] = {GV_TP_MOMENTS, "gv_tree_climb"},
        [GV_TK_GROUPS] = {GV_TP_GROUPS, "gv_tree_groups"},
        [GV_TK_SPLIT] = {GV_TP_GROUPS, "gv_tree_split"},
        [GV_TK_TURN] = {GV_TP_GROUPS, "gv_tree_turn_groups"},
        [GV_TK_INVERSE] = {GV_TP_GATHER, "gv_tree_inverse"},
        [GV_TK_PLACES] = {GV_TP_GATHER, "gv_tree_places"},
        [GV_TK_RANK] = {GV_TP_GATHER, "gv_tree_rank"},
        [GV_TK_PICK] = {GV_TP_GATHER, "gv_tree_pick"},
        [GV_TK_CUBE] = {GV_TP_ESSENTIAL, "gv_essential_cube"},
        [GV_TK_RUNS] = {GV_TP_ESSENTIAL, "gv_essential_runs"},
        [GV_TK_BOXES] = {GV_TP_ESSENTIAL, "gv_essential_boxes"},
        [GV_TK_CHOOSE] = {GV_TP_ESSENTIAL, "gv_essential_choose"},
        [GV_TK_TAKE] = {GV_TP_ESSENTIAL, "gv_essential_take"},
        [GV_TK_FACTORS] = {GV_TP_ESSENTIAL, "gv_essential_factors"},
        [GV_TK_MARK] = {GV_TP_ESSENTIAL, "gv_essential_mark"},
        [GV_TK_COUNT_PARTS] = {GV_TP_ESSENTIAL, "gv_essential_count"},
        [GV_TK_PACK] = {GV_TP_ESSENTIAL, "gv_essential_pack"},
        [GV_TK_PLACE] = {GV_TP_ESSENTIAL, "gv_essential_place"},
    };
    static const char *const gather[] = {"gv_tree_gather", "gv_tree_gather_soft", "gv_tree_gather_last",
                                         "gv_tree_store",  "gv_tree_cost",        "gv_tree_density"};
    if (kernel >= GV_TK_GATHER)
        return (gv_kernel_place){GV_TP_GATHER + (kernel - GV_TK_GATHER) % (GRAVEL_DP + 1),
                                 gather[(kernel - GV_TK_GATHER) / (GRAVEL_DP + 1)]};
    if (kernel >= GV_TK_SOFTEN)
        return (gv_kernel_place){GV_TP_SOFTEN + kernel - GV_TK_SOFTEN, "gv_tree_soften"};
    if (kernel >= GV_TK_WALK)
        return (gv_kernel_place){GV_TP_WALK + kernel - GV_TK_WALK, "gv_tree_walk"};
    gv_kernel_place place = plain[kernel];
    if (place.program == GV_TP_GATHER)
        place.program += (int)tree->options.precision;
    return place;
}

/* Walks without softening, by lengths of bodies, or of few sinks are other programs than the one by which the
 * configuration was settled. */
static gravel_status need_proof(const gravel_tree *tree, int kernel)
{
    gv_variant other = tree->variant;
    const unsigned more = gv_tree_walk_features(kernel - GV_TK_WALK);
    if (tree->named || more == 0)
        return GRAVEL_OK;
    other.features |= more;
    return gv_proof_require(tree->worker.context, tree->worker.device, &gv_tree_space, &other, &tree->config);
}

gv_tree_cut gv_tree_cut_right(gravel_tree *tree, gv_tree_kind kind, size_t sinks, size_t sources)
{
    for (;;) {
        const gv_tree_cut cut = gv_tree_cut_of(&tree->plan, &tree->config, sinks, sources);
        const int kernel = gv_tree_walk_kernel(&cut, kind);
        if (cut.walk == GV_TP_WALK || tree->kernel[kernel] || need_proof(tree, kernel) == GRAVEL_OK)
            return cut; /* groups of the configuration: where these are wrong, too, the walk is refused */
        tree->plan.few[(cut.walk - GV_TP_FEW) / GV_TREE_KINDS].most = -1; /* for none */
    }
}

gravel_status gv_tree_get_kernel(gravel_tree *tree, int kernel, cl_kernel *out)
{
    gravel_status status = GRAVEL_OK;
    if (!tree->kernel[kernel]) {
        const gv_kernel_place place = place_of(tree, kernel);
        status = need_proof(tree, kernel);
        if (!status)
            status = gv_kernel_make(&tree->worker, tree->plan.program[place.program].file,
                                    tree->plan.program[place.program].options, place.name, &tree->kernel[kernel]);
    }
    *out = tree->kernel[kernel];
    return status;
}

static void drop_kernels(gravel_tree *tree)
{
    for (int k = 0; k < GV_TK_COUNT; k++) {
        if (tree->kernel[k])
            clReleaseKernel(tree->kernel[k]);
        tree->kernel[k] = NULL;
    }
}

gravel_status gv_tree_launch_list(gravel_tree *tree, gv_stage stage, int kernel, gv_range range, size_t n_args,
                                  const gv_arg *arg)
{
    cl_kernel made;
    gravel_status status = gv_tree_get_kernel(tree, kernel, &made);
    return status ? status : gv_launch_list(&tree->worker, stage, made, range, n_args, arg);
}

gv_range gv_tree_items(const gravel_tree *tree, size_t n)
{
    return gv_items(n, tree->plan.plain_group);
}

gravel_status gv_tree_list_flagged(gravel_tree *tree, gravel_groups *set, const gv_buffer *flag, size_t n,
                                   const gv_buffer *to)
{
    const size_t tiles = (n + tree->plan.compact_tile - 1) / tree->plan.compact_tile;
    const gv_range all_tiles = gv_groups(tiles, tree->plan.wide_group);
    gv_buffer *table = &set->buffer[GV_SB_COUNT_TABLE], *total = &set->buffer[GV_SB_COUNT_TOTAL];
    cl_mem none = NULL;
    gravel_status status = gv_tree_reserve(tree, table, tiles * 4, "counters of a list");
    if (!status)
        status = gv_tree_reserve(tree, total, 4, "counters of a list");
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_COMPACT_COUNT, all_tiles, GV_MEM(*flag), GV_ARG(none),
                                GV_UINT(n), GV_MEM(*table));
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_SCAN, gv_groups(1, tree->plan.wide_group), GV_MEM(*table),
                                GV_UINT(tiles), GV_MEM(*total));
    if (!status)
        status = gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_COMPACT_WRITE, all_tiles, GV_MEM(*flag), GV_ARG(none),
                                GV_UINT(n), GV_MEM(*table), GV_MEM(*to));
    return status;
}

/* -------------------------------------------------------------------- life */

static double cut_of(const gravel_tree_options *options)
{
    return options->cut > 0 ? options->cut : 6 * options->split;
}

void gv_tree_find_range(const gravel_tree *tree, gv_tree_range *out)
{
    const gravel_tree_options *o = &tree->options;
    const double l = tree->frame.length, split = o->split / l, period = o->period / l, cut = cut_of(o) / l;
    const int is_double = tree->scalar == 8;
    memset(out, 0, sizeof *out);
    if (o->split == 0)
        return;
    const double huge = 1e30, high = is_double ? period : (double)(float)period;
    const double range[4] = {1 / (2 * split), cut, o->period > 0 ? 0.5 * period - cut : huge,
                             o->period > 0 ? 4.18879 * split / (period * period * period) : 0};
    const double repeat[4] = {high, period - high, o->period > 0 ? 1 / period : 0, 0};
    for (int k = 0; k < 4; k++) {
        if (is_double) {
            out->range.d[k] = range[k];
            out->period.d[k] = repeat[k];
        } else {
            out->range.f[k] = (float)range[k];
            out->period.f[k] = (float)repeat[k];
        }
    }
    out->arg[0] = (gv_arg){4 * tree->scalar, &out->range};
    out->arg[1] = (gv_arg){4 * tree->scalar, &out->period};
    out->n = 2;
}

static gravel_status check_options(const gravel_context *context, const gravel_tree_options *options)
{
    if (!(options->theta >= GRAVEL_TREE_THETA_MIN && options->theta <= GRAVEL_TREE_THETA_MAX))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "theta is %g: it must be from %g to %g (0.5 is usual)", options->theta,
                       GRAVEL_TREE_THETA_MIN, GRAVEL_TREE_THETA_MAX);
    if ((unsigned)options->mac > GRAVEL_TREE_GEOMETRIC)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "opening criterion %d does not exist", (int)options->mac);
    if (options->moments != 1 && options->moments != 2)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "moments of order %d do not exist: 1 is the mass, 2 adds the quadrupole",
                       options->moments);
    if (options->softening != GRAVEL_PLUMMER && options->softening != GRAVEL_SPLINE)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "softening %d does not exist", (int)options->softening);
    if (!(options->split >= 0) || !isfinite(options->split) || !(options->cut >= 0) || !isfinite(options->cut) ||
        !(options->period >= 0) || !isfinite(options->period))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "splitting length %g, cut %g, period %g: they must be 0 or more",
                       options->split, options->cut, options->period);
    if (options->split == 0 && (options->cut > 0 || options->period > 0))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "a tree has a cut or a period where its force is split: a mesh does the rest");
    if (options->period > 0 && cut_of(options) > 0.5 * options->period)
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "the cut, %g, is beyond half of the period, %g: a finer mesh allows a shorter splitting length "
                       "(it is %g)",
                       cut_of(options), options->period, options->split);
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
    gravel_status status = gv_profile_choose(tree->worker.context, tree->worker.device, &gv_tree_space, &tree->variant,
                                             n, n, config, origin);
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

/* What every call needs is compiled at once, the rest when it is used. */
static gravel_status make_kernels(gravel_tree *tree)
{
    static const int first[] = {GV_TK_BOUNDS, GV_TK_KEYS,   GV_TK_HEADS,   GV_TK_EMIT,
                                GV_TK_SCAN,   GV_TK_GROUPS, GV_TK_MOMENTS, GV_TK_WALK + GV_TREE_EPS};
    const gv_sort_shape shape = {VALUE(SORT_THREADS), VALUE(SORT_ITEMS), VALUE(SORT_BITS)};
    gravel_status status = gv_sort_make(&tree->order, &tree->worker, 64, &shape);
    for (size_t k = 0; k < sizeof first / sizeof first[0] && !status; k++) {
        cl_kernel kernel;
        status = gv_tree_get_kernel(tree, first[k], &kernel);
    }
    return status;
}

gravel_status gv_tree_configure(gravel_tree *tree, size_t n)
{
    gv_config config;
    gravel_status status = choose_configuration(tree, n, &config, &tree->origin);
    if (status)
        return status;
    if (tree->kernel[GV_TK_KEYS] && memcmp(config.value, tree->config.value, GV_TT_COUNT * sizeof config.value[0]) == 0)
        return GRAVEL_OK;
    drop_kernels(tree);
    gv_groups_release(&tree->sinks);
    gv_groups_give_counts(tree, NULL);
    tree->built = 0;
    tree->config = config;
    gv_tree_make_plan(&tree->plan, &config, &tree->options, &tree->limits);
    status = make_kernels(tree);
    if (status)
        drop_kernels(tree);
    return status;
}

void gv_tree_set_theta(gravel_tree *tree, double theta)
{
    tree->options.theta = theta;
    tree->built = 0;
}

void gravel_tree_options_init(gravel_tree_options *options)
{
    *options = (gravel_tree_options)GRAVEL_TREE_OPTIONS_INIT;
}

static gravel_status start(gravel_tree *tree, const char *configuration)
{
    if (configuration) {
        const size_t size = strlen(configuration) + 1;
        tree->named = malloc(size);
        if (!tree->named)
            return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a tree");
        memcpy(tree->named, configuration, size);
        return gv_tree_configure(tree, GV_TREE_USUAL_BODIES);
    }
    return choose_configuration(tree, GV_TREE_USUAL_BODIES, &tree->config, &tree->origin);
}

gravel_status gravel_tree_create(gravel_tree **tree_out, gravel_context *context, const gravel_tree_options *options)
{
    gravel_tree_options taken = GRAVEL_TREE_OPTIONS_INIT;

    if (!tree_out || !context)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tree_create needs a place for the tree and a context");
    *tree_out = NULL;
    gravel_status status = gv_options_take(&taken, sizeof taken, options, "gravel_tree_options");
    if (!status)
        status = check_options(context, &taken);
    if (status)
        return status;
    gravel_tree *tree = calloc(1, sizeof *tree);
    if (!tree)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a tree");
    tree->worker.context = context;
    tree->worker.device = taken.device;
    tree->options = taken;
    tree->options.configuration = NULL; /* the caller's text need not live on */
    tree->scalar = taken.precision == GRAVEL_DP ? 8 : 4;
    tree->words = taken.precision == GRAVEL_DS ? 2 : 1;
    tree->sinks.tree = tree;
    tree->limits = gv_limits_of(context, taken.device);
    gv_variant_set(&tree->variant, 2, taken.precision, gv_tree_features(&taken));
    status = start(tree, taken.configuration);
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
    clFinish(gv_worker_queue(&tree->worker));
    gravel_ticket_release(tree->last);
    gv_tree_release_tickets(tree);
    gravel_bodies_release(tree->own);
    gravel_list_release(tree->active);
    for (int k = 0; k < GV_TB_COUNT; k++)
        gv_buffer_release(&tree->buffer[k]);
    gv_buffer_release(&tree->result);
    gv_groups_give_counts(tree, NULL);
    gv_groups_release(&tree->sinks);
    gv_slots_release(&tree->worker, &tree->slots);
    gv_slot_release(&tree->worker, &tree->counts);
    gv_sort_release(&tree->order);
    gv_worker_clear(&tree->worker);
    if (tree->levels_event) {
        clWaitForEvents(1, &tree->levels_event);
        clReleaseEvent(tree->levels_event);
    }
    if (tree->levels_coming)
        clEnqueueUnmapMemObject(gv_worker_device(&tree->worker)->copy, tree->levels_pinned, tree->levels_coming, 0,
                                NULL, NULL);
    if (tree->levels_pinned)
        clReleaseMemObject(tree->levels_pinned);
    drop_kernels(tree);
    free(tree->named);
    free(tree);
}

/* ----------------------------------------------------------------- queries */

gravel_status gravel_tree_get_configuration(gravel_tree *tree, char *text, size_t size, gravel_origin *origin)
{
    if (!tree || !text || size == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tree_get_configuration needs a tree and room for the text");
    gv_space_format(&gv_tree_space, &tree->config, text, size);
    if (origin)
        *origin = tree->origin;
    return GRAVEL_OK;
}

size_t gravel_tree_get_memory(const gravel_tree *tree)
{
    if (!tree)
        return 0;
    size_t sum = gv_sort_memory(&tree->order) + gv_sort_memory(&tree->sinks.keys) + gv_sort_memory(&tree->sinks.places);
    for (int k = 0; k < GV_TB_COUNT; k++)
        sum += tree->buffer[k].size;
    for (int k = 0; k < GV_SB_COUNT; k++)
        sum += tree->sinks.buffer[k].size;
    return sum;
}

gravel_status gravel_tree_get_timings(gravel_tree *tree, gravel_tree_timings *timings)
{
    if (!tree || !timings)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tree_get_timings needs a tree and a place for the times");
    double *const out[GV_STAGE_COUNT] = {&timings->keys,    &timings->sort,   &timings->build,
                                         &timings->moments, &timings->groups, &timings->walk};
    memset(timings, 0, sizeof *timings);
    for (int k = 0; k < GV_STAGE_COUNT; k++) {
        gravel_status status = gv_worker_seconds(&tree->worker, k, out[k]);
        if (status)
            return status;
        timings->total += *out[k];
    }
    return GRAVEL_OK;
}
