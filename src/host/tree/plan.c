/* What options and a configuration mean for programs: files, macros, sizes. */
#include <math.h>
#include <stdio.h>

#include "host/device/device.h"
#include "host/tree/plan.h"

#define VALUE(name) (config->value[GV_TT_##name])
#define OPTIONS(which) plan->program[which].options, sizeof plan->program[which].options

/* Few sinks: each is computed by several work-items, so that all work-items of the group have work. */
static void plan_walk(gv_tree_plan *plan, int walk, gv_tree_kind kind, const gv_config *config,
                      const gravel_tree_options *options)
{
    const int sparse = walk != GV_TP_WALK, shared = walk == GV_TP_SHARED, which = walk + (int)kind;
    const int threads = shared ? (int)plan->shared_threads : VALUE(THREADS);
    const int tile = shared ? (int)plan->shared_tile : VALUE(TILE);
    const int stack = shared ? (int)plan->shared_stack : VALUE(STACK);
    const int n = sparse ? GV_SPARSE_SINKS : VALUE(N_GROUP);
    const int split = sparse && threads > 1 ? threads / n : VALUE(SPLIT);
    plan->program[which].file = threads > 1 ? "tree/walk_group.cl" : "tree/walk_lanes.cl";
    snprintf(OPTIONS(which),
             "-DGV_PRECISION=%d -DGV_LANES=%d -DGV_RSQRT=%d -DGV_THREADS=%d -DGV_SPLIT=%d -DGV_SINKS_PER_ITEM=%d "
             "-DGV_N_GROUP=%d -DGV_N_LEAF=%d -DGV_TILE=%d -DGV_STACK=%d -DGV_UNSOFTENED=%d -DGV_MOMENTS=%d "
             "-DGV_SHAPE=%d -DGV_SOFTEN=%d%s%s",
             (int)options->precision, VALUE(LANES), VALUE(RSQRT), threads, split, threads > 1 ? n * split / threads : 1,
             n, VALUE(N_LEAF), tile, stack, kind == GV_TREE_UNSOFTENED, options->moments,
             options->softening == GRAVEL_SPLINE && kind != GV_TREE_UNSOFTENED,
             kind == GV_TREE_UNSOFTENED ? 0 : (int)kind, options->split > 0 ? " -DGV_SHORT_RANGE=1" : "",
             threads > 1 && VALUE(SORT_THREADS) == 1 ? " -DGV_ITEM_LOOPS=1" : "");
}

/* Work-items of a compute unit below which smaller groups are faster, though each of their sinks costs more: of the
 * 2048 that an H200 holds; with 570 groups of 16 sinks took 0.65 to 0.8 of the time of groups of 64, with 950 as much,
 * with 1140 more than groups of 32 (doc/numbers.md). */
enum { FEW_ITEMS = 640 };

/* Very few sinks: a group of them is shared by at least 64 work-items, where the device has room for these.  At 25000
 * of 1e6 bodies 64 work-items a group take 0.74 of the time of 32 on an H200 in sp, at 80000 (38 groups a compute unit)
 * 0.97, at 150000 1.11; in dp 0.82, at 50000 (24) 1.03, at 80000 1.13.
 * Their boxes are large, and with a small theta most cells in and around them are opened.  Where these do not fit on
 * the stack, few are taken at once, and the whole call waits for some groups: with 2048 places instead of 1024 and
 * theta 0.3 1000 of 1e6 sinks take 0.27 to 0.65 of the time, 40000 0.68 to 0.85; with theta 0.75 there is no
 * difference.  Where groups fill the device the longer stack loses up to 0.1 (doc/numbers.md). */
enum { SHARED_THREADS = 64, SHARED_TILE = 128, SHARED_GROUPS = 40, SHARED_GROUPS_DP = 20, DEEP_STACK = 2048 };
#define DEEP_THETA 0.5

static int can_share(const gv_config *config, const gv_limits *limits, gravel_precision precision)
{
    return limits->info.max_group >= VALUE(THREADS) && VALUE(TILE) % VALUE(THREADS) == 0 &&
           gv_tree_local_bytes(config, precision) <= limits->info.local_memory;
}

static void plan_shared(gv_tree_plan *plan, const gv_config *config, const gravel_tree_options *options,
                        const gv_limits *limits)
{
    gv_config wide = *config;
    if (VALUE(THREADS) > 1 && VALUE(THREADS) < SHARED_THREADS) {
        wide.value[GV_TT_THREADS] = SHARED_THREADS;
        wide.value[GV_TT_TILE] = VALUE(TILE) < SHARED_TILE ? SHARED_TILE : VALUE(TILE);
        wide = can_share(&wide, limits, options->precision) ? wide : *config;
    }
    gv_config deep = wide;
    if (VALUE(THREADS) > 1 && options->theta <= DEEP_THETA && VALUE(STACK) < DEEP_STACK) {
        deep.value[GV_TT_STACK] = DEEP_STACK;
        deep = can_share(&deep, limits, options->precision) ? deep : wide;
    }
    plan->shared_threads = (size_t)deep.value[GV_TT_THREADS];
    plan->shared_tile = (size_t)deep.value[GV_TT_TILE];
    plan->shared_stack = (size_t)deep.value[GV_TT_STACK];
    if (plan->shared_threads > (size_t)VALUE(THREADS) || plan->shared_stack > (size_t)VALUE(STACK))
        plan->shared_groups = options->precision == GRAVEL_DP ? SHARED_GROUPS_DP : SHARED_GROUPS;
    else
        plan->shared_groups = 0;
}

static void plan_sizes(gv_tree_plan *plan, const gv_config *config, const gravel_tree_options *options,
                       const gv_limits *limits)
{
    const gravel_device_info *device = &limits->info;
    const int cpu = VALUE(SORT_THREADS) == 1;
    plan->build_tile = plan->compact_tile = cpu ? 4096 : 1024;
    plan->keys_lanes = cpu ? (size_t)VALUE(LANES) : 1;
    plan->wide_group = cpu ? 1 : gv_device_group(device, 256);
    plan->plain_group = gv_device_group(device, cpu ? 16 : 64);
    plan->look_group = cpu ? 1 : gv_device_group(device, 32);
    plan->part_tile = cpu ? 4096 : 8 * plan->look_group;
    plan->part_sinks = VALUE(THREADS) > 1 ? 0 : VALUE(LANES) < GV_LEAST_PART ? GV_LEAST_PART : (size_t)VALUE(LANES);
    plan->compute_units = (size_t)device->compute_units;
    plan_shared(plan, config, options, limits);
}

void gv_tree_make_plan(gv_tree_plan *plan, const gv_config *config, const gravel_tree_options *options,
                       const gv_limits *limits)
{
    static const char *const file[] = {
        [GV_TP_BOUNDS] = "lib/reduce.cl",   [GV_TP_SCAN] = "lib/scan.cl",
        [GV_TP_COMPACT] = "lib/compact.cl", [GV_TP_KEYS] = "tree/keys.cl",
        [GV_TP_BUILD] = "tree/build.cl",    [GV_TP_MOMENTS] = "tree/moments.cl",
        [GV_TP_GROUPS] = "tree/groups.cl",  [GV_TP_ESSENTIAL] = "tree/essential.cl",
    };
    const int precision = (int)options->precision, by_error = options->mac != GRAVEL_TREE_GEOMETRIC;
    plan_sizes(plan, config, options, limits);
    for (int k = 0; k < GV_TP_WALK; k++)
        plan->program[k].file = file[k];
    const int wide = (int)plan->wide_group, items = (int)(plan->build_tile / plan->wide_group);
    snprintf(OPTIONS(GV_TP_SCAN), "-DGV_THREADS=%d -DGV_ITEMS=4", wide);
    snprintf(OPTIONS(GV_TP_COMPACT), "-DGV_THREADS=%d -DGV_ITEMS=%d", wide, items);
    snprintf(OPTIONS(GV_TP_BOUNDS), "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_THREADS=%d", precision, wide);
    snprintf(OPTIONS(GV_TP_BUILD), "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_THREADS=%d -DGV_ITEMS=%d -DGV_N_LEAF=%d",
             precision, wide, items, VALUE(N_LEAF));
    snprintf(OPTIONS(GV_TP_KEYS), "-DGV_PRECISION=%d -DGV_LANES=%d -DGV_THREADS=%d -DGV_CURVE=%d", precision,
             (int)plan->keys_lanes, wide, VALUE(CURVE));
    snprintf(OPTIONS(GV_TP_MOMENTS), "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_MAC=%d", precision, by_error);
    snprintf(OPTIONS(GV_TP_GROUPS), "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_MAC=%d -DGV_THREADS=%d -DGV_PART=%d%s",
             precision,
             !by_error                          ? 0
             : options->mac == GRAVEL_TREE_LAST ? 2
                                                : 1,
             (int)plan->look_group, (int)plan->part_sinks, options->split > 0 ? " -DGV_SHORT_RANGE=1" : "");
    snprintf(OPTIONS(GV_TP_ESSENTIAL), "-DGV_PRECISION=%d -DGV_LANES=%d -DGV_THREADS=%d -DGV_ITEMS=%d", precision,
             plan->look_group == 1 ? GV_BOX_FAN : 1, (int)plan->look_group, (int)(plan->part_tile / plan->look_group));
    for (int from = GRAVEL_SP; from <= GRAVEL_DP; from++) {
        plan->program[GV_TP_GATHER + from].file = "tree/gather.cl";
        snprintf(OPTIONS(GV_TP_GATHER + from), "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_FROM=%d -DGV_THREADS=%d", precision,
                 from, (int)plan->look_group);
    }
    for (int kind = 0; kind < GV_TREE_KINDS; kind++) {
        for (int walk = GV_TP_WALK; walk <= GV_TP_SHARED; walk += GV_TREE_KINDS)
            plan_walk(plan, walk, (gv_tree_kind)kind, config, options);
        plan->program[GV_TP_SOFTEN + kind].file = "tree/soften.cl";
        snprintf(OPTIONS(GV_TP_SOFTEN + kind), "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_SOFTEN=%d", precision, kind);
    }
}

/* All sinks, or most of them: groups of the configuration; all sparse groups of a small call may be split, a part of
 * those of a large one.  Less than half of the bodies: more boxes are large, so more groups may be split.  Few sinks
 * (GV_SPARSE_PART; IDLE_PART where groups of the configuration would leave most of the device idle): smaller groups,
 * since their boxes contain the bodies between the sinks; all may be split, and up to GV_FEW_SINKS of the former are
 * groups of one. */
enum { IDLE_PART = 4 };

/* One work-item a group, which waits for no other and needs several sinks to fill its lanes: groups of the
 * configuration; of less than half of the bodies they are smaller if there are fewer than compute units, and halved
 * where the sinks stand far apart.  Of 200000 bodies a hundredth all over them takes 0.3 of the time of groups that are
 * not halved, a hundredth in their midst a tenth of that of groups of one vector (dp, two cores; doc/numbers.md). */
static gv_tree_cut cut_alone(const gv_tree_plan *plan, const gv_config *config, size_t sinks, int some)
{
    const size_t part = plan->part_sinks;
    gv_tree_cut cut = {.walk = GV_TP_WALK, .size = (size_t)VALUE(N_GROUP)};
    while (some && cut.size % (2 * part) == 0 && sinks / cut.size < plan->compute_units)
        cut.size /= 2;
    cut.groups = (sinks + cut.size - 1) / cut.size;
    cut.places = some ? cut.groups * (cut.size / part) : cut.groups;
    cut.bodies = some ? GV_SPARSE_PAIRS * (unsigned)VALUE(LANES) / (unsigned)cut.size : 0;
    return cut;
}

gv_tree_cut gv_tree_cut_of(const gv_tree_plan *plan, const gv_config *config, size_t sinks, size_t sources)
{
    const int some = sinks < sources / 2;
    if (plan->part_sinks > 0)
        return cut_alone(plan, config, sinks, some);
    const size_t items = sinks / (size_t)VALUE(N_GROUP) * (size_t)VALUE(THREADS);
    const int sparse = sinks <= sources / (items < FEW_ITEMS * plan->compute_units ? IDLE_PART : GV_SPARSE_PART);
    gv_tree_cut cut = {.walk = GV_TP_WALK};
    cut.size = sparse ? GV_SPARSE_SINKS : (size_t)VALUE(N_GROUP);
    if (sinks <= sources / GV_SPARSE_PART && sinks <= GV_FEW_SINKS)
        cut.size = 1;
    cut.bodies = some ? GV_SPARSE_BODIES : GV_WIDE * (unsigned)VALUE(N_GROUP);
    cut.groups = (sinks + cut.size - 1) / cut.size;
    if (sparse)
        cut.walk = cut.groups <= plan->shared_groups * plan->compute_units ? GV_TP_SHARED : GV_TP_SPARSE;
    if (cut.size > 1)
        cut.room = sinks <= 16384 || sparse ? cut.groups : some ? cut.groups / 16 + 2048 : cut.groups / 128 + 512;
    cut.room = cut.room < cut.groups ? cut.room : cut.groups;
    cut.places = cut.groups + cut.room * (cut.size - 1);
    return cut;
}

/* Fits to measured errors of Plummer spheres: doc/tree.md */
double gv_tree_tau(const gravel_tree_options *options, int n_group)
{
    return 2.5e-4 * pow(n_group / 32.0, 0.7) * pow(options->theta / 0.5, 6.0);
}

double gv_tree_tau_local(const gravel_tree_options *options, int n_group)
{
    return 8e-6 * pow(fmin(n_group / 32.0, 1.0), 0.4) * pow(options->theta / 0.5, 5.0);
}
