/* What options and a configuration mean for programs: files, macros, sizes. */
#include <math.h>
#include <stdio.h>

#include "host/device/device.h"
#include "host/tree/plan.h"

#define VALUE(name) (config->value[GV_TT_##name])
#define OPTIONS(which) plan->program[which].options, sizeof plan->program[which].options

/* The kernel of one walk: groups of a shape, or as configured where that is NULL. */
static void plan_walk(gv_tree_plan *plan, int which, gv_tree_kind kind, const gv_tree_shape *shape,
                      const gv_config *config, const gravel_tree_options *options)
{
    const int threads = shape ? (int)shape->threads : VALUE(THREADS), tile = shape ? (int)shape->tile : VALUE(TILE);
    const int n = shape ? (int)shape->sinks : VALUE(N_GROUP), stack = shape ? (int)shape->stack : VALUE(STACK);
    const int split = !shape ? VALUE(SPLIT) : threads > n ? threads / n : 1;
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

_Static_assert(GV_TREE_SHAPES < 4, "GV_TREE_OF_SHAPE has two bits");
_Static_assert((int)GV_TREE_SINKS == (int)GRAVEL_SOFTEN_SINKS && (int)GV_TREE_MAX == (int)GRAVEL_SOFTEN_MAX,
               "GV_TREE_OF_LENGTHS is a gravel_soften");

unsigned gv_tree_walk_features(int walk)
{
    if (walk < 0 || walk >= (1 + GV_TREE_SHAPES) * GV_TREE_KINDS)
        return 0;
    const unsigned kind = (unsigned)walk % GV_TREE_KINDS, shape = (unsigned)walk / GV_TREE_KINDS;
    return shape << GV_TREE_SHAPE_AT |
           (kind == GV_TREE_UNSOFTENED ? (unsigned)GV_TREE_OF_NO_EPS : kind << GV_TREE_LENGTHS_AT);
}

/* The fewer sinks a compute unit has, the smaller their groups and the more work-items share one: else most of the
 * device is idle, and all wait for the slowest group.  On an H200, 10000 to 1e6 bodies, a hundredth to a quarter
 * active, theta 0.3 to 0.75, these take 1.03 of the time of the best of twelve shapes at each point in sp, 1.02 in ds
 * and dp (doc/numbers.md, "Tree: sparse groups").  The boxes of few sinks are large, and with a small theta most cells
 * in and around them are opened, which a short stack takes in small portions.  Verdicts of self-tests know these by
 * their numbers: other sizes need another text in find_key (src/host/profile/proof.c). */
static const gv_tree_shape few_shapes[2][GV_TREE_SHAPES] = {
    {{8, 16, 128, 128, 2048}, {25, 32, 128, 128, 2048}, {60, 32, 64, 64, 2048}},
    {{8, 16, 128, 128, 2048}, {12.5, 32, 128, 128, 2048}, {31, 32, 64, 64, 2048}}, /* dp */
};

static int fits(const gv_tree_shape *shape, const gv_config *config, const gv_limits *limits,
                gravel_precision precision)
{
    gv_config group = *config;
    group.value[GV_TT_THREADS] = (int)shape->threads;
    group.value[GV_TT_TILE] = (int)shape->tile;
    group.value[GV_TT_STACK] = (int)shape->stack;
    return shape->threads <= (size_t)limits->info.max_group &&
           gv_tree_local_bytes(&group, precision) <= limits->info.local_memory;
}

/* Where the device has no room, fewer work-items, down to as many as configured; without room for these in this shape
 * either, the configuration's work-items, tile and stack. */
static gv_tree_shape plan_shape(const gv_tree_shape *wanted, const gv_config *config, const gv_limits *limits,
                                gravel_precision precision)
{
    const size_t least = (size_t)VALUE(THREADS);
    gv_tree_shape shape = *wanted;
    while (shape.threads / 2 >= least && !fits(&shape, config, limits, precision))
        shape.threads /= 2, shape.tile /= 2;
    if (fits(&shape, config, limits, precision))
        return shape;
    return (gv_tree_shape){shape.most, shape.sinks, least, (size_t)VALUE(TILE), (size_t)VALUE(STACK)};
}

static void plan_sizes(gv_tree_plan *plan, const gv_config *config, const gv_limits *limits)
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
    plan_sizes(plan, config, limits);
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
    for (int k = 0; k < GV_TREE_SHAPES; k++)
        plan->few[k] = plan_shape(&few_shapes[precision == GRAVEL_DP][k], config, limits, options->precision);
    for (int kind = 0; kind < GV_TREE_KINDS; kind++) {
        plan_walk(plan, GV_TP_WALK + kind, (gv_tree_kind)kind, NULL, config, options);
        for (int k = 0; k < GV_TREE_SHAPES && plan->part_sinks == 0; k++)
            plan_walk(plan, GV_TP_FEW + k * GV_TREE_KINDS + kind, (gv_tree_kind)kind, &plan->few[k], config, options);
        plan->program[GV_TP_SOFTEN + kind].file = "tree/soften.cl";
        snprintf(OPTIONS(GV_TP_SOFTEN + kind), "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_SOFTEN=%d", precision, kind);
    }
}

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

/* `alone`: groups have one sink each. */
static int walk_for(const gv_tree_plan *plan, size_t sinks, int alone)
{
    for (int k = 0; k < GV_TREE_SHAPES; k++)
        if ((double)sinks <= plan->few[k].most * (double)plan->compute_units * (double)(alone ? 1 : plan->few[k].sinks))
            return GV_TP_FEW + k * GV_TREE_KINDS;
    return GV_TP_WALK;
}

/* Sinks for each compute unit that may all walk by themselves: an empty place costs half a nanosecond. */
enum { ROOM_FOR_ALL = 1280 };

/* Half of the bodies or more: groups of the configuration; some of those whose boxes are large may be split.  Fewer:
 * more boxes are large, so more groups may be split; of a shape for few sinks, and of a small call, all.  Up to
 * GV_FEW_SINKS of many bodies are groups of one. */
gv_tree_cut gv_tree_cut_of(const gv_tree_plan *plan, const gv_config *config, size_t sinks, size_t sources)
{
    const int some = sinks < sources / 2, alone = sinks <= sources / GV_SPARSE_PART && sinks <= GV_FEW_SINKS;
    if (plan->part_sinks > 0)
        return cut_alone(plan, config, sinks, some);
    gv_tree_cut cut = {.walk = some ? walk_for(plan, sinks, alone) : GV_TP_WALK};
    cut.size = alone ? 1 : gv_tree_walk_sinks(plan, config, cut.walk);
    cut.bodies = some ? GV_SPARSE_BODIES : GV_WIDE * (unsigned)VALUE(N_GROUP);
    cut.groups = (sinks + cut.size - 1) / cut.size;
    const int all = cut.walk != GV_TP_WALK && sinks <= ROOM_FOR_ALL * plan->compute_units;
    if (cut.size > 1)
        cut.room = sinks <= 16384 || all ? cut.groups : some ? cut.groups / 16 + 2048 : cut.groups / 128 + 512;
    cut.room = cut.room < cut.groups ? cut.room : cut.groups;
    cut.places = cut.groups + cut.room * (cut.size - 1);
    return cut;
}

size_t gv_tree_walk_sinks(const gv_tree_plan *plan, const gv_config *config, int walk)
{
    return walk < GV_TP_FEW ? (size_t)VALUE(N_GROUP) : plan->few[(walk - GV_TP_FEW) / GV_TREE_KINDS].sinks;
}

size_t gv_tree_walk_threads(const gv_tree_plan *plan, const gv_config *config, int walk)
{
    return walk < GV_TP_FEW ? (size_t)VALUE(THREADS) : plan->few[(walk - GV_TP_FEW) / GV_TREE_KINDS].threads;
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
