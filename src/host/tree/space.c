/* The search space of the tree: its tunables, its constraints and the untuned default. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/program/sort.h"
#include "host/tree/plan.h"
#include "kernels/tree/layout.h"

static const gv_tunable tunables[GV_TT_COUNT] = {
    [GV_TT_N_LEAF] = {"n_leaf", "bodies", "bodies in a leaf at most", 0, 6, {4, 8, 12, 16, 24, 32}},
    [GV_TT_N_GROUP] = {"n_group", "sinks", "sinks that share one walk", 0, 6, {16, 32, 64, 128, 192, 256}},
    [GV_TT_THREADS] = {"threads",
                       "work-items",
                       "work-items that walk for one group; 1: one, over explicit lanes",
                       0,
                       5,
                       {1, 32, 64, 128, 256}},
    [GV_TT_SPLIT] =
        {"split", "parts", "work-items that share a sink, each takes a part of every list", 0, 4, {1, 2, 4, 8}},
    [GV_TT_TILE] = {"tile",
                    "bodies",
                    "bodies or cells staged in local memory at once; with lanes: length of lists",
                    0,
                    5,
                    {16, 32, 64, 128, 256}},
    [GV_TT_STACK] = {"stack", "cells", "cells the stack of a walk can hold", 0, 4, {512, 1024, 2048, 4096}},
    [GV_TT_LANES] = {"lanes", "sinks", "sinks or cells in one vector", 0, 5, {1, 2, 4, 8, 16}},
    [GV_TT_RSQRT] = {"rsqrt",
                     "flavour",
                     "0 exact, 1 native, 2 refined, 3 bits, 4 estimate (kernels/lib/rsqrt.h)",
                     0,
                     5,
                     {0, 1, 2, 3, 4}},
    [GV_TT_CURVE] = {"curve", "kind", "0 Morton, 1 Hilbert", 0, 2, {0, 1}},
    [GV_TT_SORT_THREADS] =
        {"sort_threads", "work-items", "work-items that order one tile of keys", 0, 5, {1, 64, 128, 256, 512}},
    [GV_TT_SORT_ITEMS] =
        {"sort_items", "keys", "keys of a tile per work-item", 0, 7, {4, 8, 12, 16, 4096, 8192, 16384}},
    [GV_TT_SORT_BITS] = {"sort_bits", "bits", "bits of a digit of the sort", 0, 4, {4, 8, 11, 12}},
};

#define VALUE(name) (config->value[GV_TT_##name])
#define CONSTRAINT(name) static int name(const gv_config *config, const gv_variant *variant, const gv_limits *limits)

/* one work-item drives all SIMD lanes, as on most CPUs */
static int by_lanes(const gv_limits *limits)
{
    return !gv_limits_groups(limits);
}

static size_t sort_local_bytes(const gv_config *config, const gv_limits *limits)
{
    const gv_sort_shape shape = {VALUE(SORT_THREADS), VALUE(SORT_ITEMS), VALUE(SORT_BITS)};
    return gv_sort_local_bytes(&shape, limits->has_ptx_asm && gv_sort_in_sweeps(&shape));
}

size_t gv_tree_local_bytes(const gv_config *config, gravel_precision precision)
{
    const size_t scalar = precision == GRAVEL_DP ? 8 : 4;
    const size_t threads = (size_t)VALUE(THREADS), tile = (size_t)VALUE(TILE);
    size_t pool = (size_t)VALUE(STACK) * 4, sums = GV_SUM_TERMS(threads * scalar) * (threads + 1) * scalar;
    size_t lists = (tile + threads * (size_t)VALUE(N_LEAF)) * 4 + (tile + threads) * 4 + threads * 8 + tile * 4;
    return threads == 1 ? 0
                        : (pool > sums ? pool : sums) + lists +
                              (GV_TILE_VECTORS + (precision == GRAVEL_DS)) * tile * 4 * scalar +
                              (GV_LOCAL_TERMS + GV_LEAD_TERMS) * scalar + threads * 16 + 64;
}

CONSTRAINT(groups_fit)
{
    (void)variant;
    return VALUE(THREADS) <= limits->info.max_group && VALUE(SORT_THREADS) <= limits->info.max_group;
}
CONSTRAINT(sinks_are_shared_out)
{
    (void)variant, (void)limits;
    return VALUE(THREADS) == 1 || VALUE(N_GROUP) * VALUE(SPLIT) % VALUE(THREADS) == 0;
}
CONSTRAINT(lanes_fill_groups)
{
    (void)variant, (void)limits;
    return VALUE(THREADS) > 1 ? VALUE(LANES) == 1 : VALUE(N_GROUP) % VALUE(LANES) == 0 && VALUE(SPLIT) == 1;
}
CONSTRAINT(tiles_are_whole)
{
    (void)variant, (void)limits;
    return VALUE(THREADS) == 1 || VALUE(TILE) % VALUE(THREADS) == 0;
}
CONSTRAINT(local_memory_fits)
{
    return gv_tree_local_bytes(config, variant->precision) <= limits->info.local_memory &&
           sort_local_bytes(config, limits) <= limits->info.local_memory;
}
CONSTRAINT(sort_counters_fit)
{
    (void)variant, (void)limits;
    if (VALUE(SORT_THREADS) == 1)
        return VALUE(SORT_ITEMS) >= 4096;
    return VALUE(SORT_ITEMS) <= 16 && VALUE(SORT_BITS) <= 8;
}
CONSTRAINT(estimate_exists)
{
    return VALUE(RSQRT) != 4 || gv_limits_root_is_right(limits, variant->precision, 4, VALUE(LANES));
}
CONSTRAINT(vectors_are_right)
{
    (void)variant;
    return !(limits->bad_vectors & VALUE(LANES));
}
CONSTRAINT(root_is_right)
{
    return VALUE(RSQRT) == 4 || gv_limits_root_is_right(limits, variant->precision, VALUE(RSQRT), VALUE(LANES));
}
CONSTRAINT(cpus_want_no_barriers)
{
    (void)variant;
    return !by_lanes(limits) || (VALUE(THREADS) == 1 && VALUE(SORT_THREADS) == 1);
}
CONSTRAINT(gpus_want_groups)
{
    (void)variant;
    return by_lanes(limits) || (VALUE(THREADS) > 1 && VALUE(SORT_THREADS) > 1);
}
CONSTRAINT(gpus_have_estimates)
{
    (void)variant;
    return limits->info.type == GRAVEL_DEVICE_CPU || VALUE(RSQRT) <= 2;
}
CONSTRAINT(registers_suffice)
{
    (void)variant, (void)limits;
    return VALUE(THREADS) == 1 || VALUE(N_GROUP) * VALUE(SPLIT) / VALUE(THREADS) <= 4;
}

static const gv_constraint constraints[] = {
    {"a work-group is larger than the device allows", 1, groups_fit},
    {"n_group x split is not a multiple of threads: work-items would hold different numbers of sinks", 1,
     sinks_are_shared_out},
    {"explicit lanes go with one work-item, and groups must be whole vectors", 1, lanes_fill_groups},
    {"a tile is staged by all work-items alike: tile must be a multiple of threads", 1, tiles_are_whole},
    {"lists and tiles do not fit into local memory", 1, local_memory_fits},
    {"the sort's counters: up to 16 keys a work-item and 8 bits, or whole tiles of 4096 keys by one work-item", 1,
     sort_counters_fit},
    {"this device has no estimate instruction for so many lanes", 1, estimate_exists},
    {"this device's compiler gets vectors of so many lanes wrong", 1, vectors_are_right},
    {"this device's rsqrt or native_rsqrt is too rough for this flavour and precision", 1, root_is_right},
    {"barriers only cost time on a CPU: one work-item walks and sorts", 0, cpus_want_no_barriers},
    {"a GPU's work-item is one lane: groups walk and sort", 0, gpus_want_groups},
    {"a GPU has a reciprocal square root unit", 0, gpus_have_estimates},
    {"more than four sinks a work-item do not fit into registers beside the local expansion", 0, registers_suffice},
};

/* With vectors of 64 bytes leaves of 32 bodies, 24 in double, with 32 bytes 24: 0.93 to 0.98 of the time of leaves of
 * 16 where few are active, as much where all are (doc/numbers.md, "Few active bodies on CPUs"). */
static void built_in_cpu(gv_config *config, const gv_variant *variant, const gv_limits *limits)
{
    const int dp = variant->precision == GRAVEL_DP;
    VALUE(THREADS) = 1;
    VALUE(N_GROUP) = 64;
    VALUE(TILE) = 64;
    VALUE(LANES) = gv_limits_lanes(limits, variant->precision);
    VALUE(N_LEAF) = VALUE(LANES) < (dp ? 4 : 8) ? 16 : VALUE(LANES) == 16 ? 32 : 24;
    VALUE(RSQRT) = gv_limits_root(limits, variant->precision, VALUE(LANES));
    VALUE(SORT_THREADS) = 1;
    VALUE(SORT_ITEMS) = 8192;
    VALUE(SORT_BITS) = 8;
}

/* Groups of a walk of all bodies, for more and more of them for each compute unit. */
typedef struct group_shape {
    size_t most; /* bodies for each compute unit */
    int n_group, threads;
} group_shape;

/* The best of twelve shapes or within 0.04 of it on an H200, 10000 to 1e6 bodies, theta 0.3 to 0.75: the fewer bodies,
 * the more work-items share a sink (doc/numbers.md, "Tree: sparse groups").  With many two sinks a work-item in double,
 * where loads from local memory cost the most. */
static group_shape shape_for(size_t each, int dp)
{
    static const group_shape shapes[2][5] = {
        {{40, 16, 128}, {110, 32, 128}, {2500, 64, 128}, {SIZE_MAX, 64, 64}},
        {{40, 16, 128}, {110, 32, 128}, {400, 64, 128}, {1500, 64, 64}, {SIZE_MAX, 64, 32}},
    };
    const group_shape *s = shapes[dp];
    while (each > s->most)
        s++;
    return *s;
}

/* Without shuffles a group of work-items is no less than a whole wave of the widest devices. */
static void built_in_gpu(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks)
{
    const int wave = limits->has_ptx_asm ? 32 : 64;
    const size_t units = limits->info.compute_units > 0 ? (size_t)limits->info.compute_units : 1;
    const group_shape shape = shape_for(sinks / units, variant->precision == GRAVEL_DP);
    VALUE(N_GROUP) = shape.n_group;
    VALUE(THREADS) = shape.threads > wave ? shape.threads : wave;
    VALUE(TILE) = VALUE(THREADS) > 64 ? VALUE(THREADS) : 64;
    VALUE(STACK) = 2048;
    VALUE(LANES) = 1;
    VALUE(RSQRT) = variant->precision == GRAVEL_DS ? 2 : 1;
    while (VALUE(THREADS) > wave && (VALUE(THREADS) > limits->info.max_group ||
                                     gv_tree_local_bytes(config, variant->precision) > limits->info.local_memory))
        VALUE(THREADS) /= 2, VALUE(TILE) /= 2;
    if (gv_tree_local_bytes(config, variant->precision) > limits->info.local_memory)
        VALUE(STACK) = 1024;
    VALUE(SPLIT) = VALUE(THREADS) > VALUE(N_GROUP) ? VALUE(THREADS) / VALUE(N_GROUP) : 1;
    VALUE(SORT_THREADS) = 256;
    VALUE(SORT_ITEMS) = limits->has_ptx_asm ? 16 : 8; /* one launch a pass, or three */
    VALUE(SORT_BITS) = 8;
}

static void built_in(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks,
                     size_t sources)
{
    (void)sources;
    *config = (gv_config){{0}};
    VALUE(N_LEAF) = 16;
    VALUE(SPLIT) = 1;
    VALUE(STACK) = 1024;
    VALUE(CURVE) = 1;
    if (by_lanes(limits))
        built_in_cpu(config, variant, limits);
    else
        built_in_gpu(config, variant, limits, sinks);
    if (!root_is_right(config, variant, limits))
        VALUE(RSQRT) = gv_limits_root(limits, variant->precision, VALUE(LANES));
    while (VALUE(SORT_THREADS) > 64 && (VALUE(SORT_THREADS) > limits->info.max_group ||
                                        sort_local_bytes(config, limits) > limits->info.local_memory))
        VALUE(SORT_THREADS) /= 2;
}

/* Few bodies are sorted in one tile, however long others are. */
static int same_launch(const gv_config *a, const gv_config *b, const gv_variant *variant, const gv_limits *limits,
                       size_t sinks, size_t sources)
{
    gv_config c = *a;
    (void)variant, (void)limits, (void)sinks;
    c.value[GV_TT_SORT_ITEMS] = b->value[GV_TT_SORT_ITEMS];
    return c.value[GV_TT_SORT_THREADS] == 1 && sources <= GV_SORT_ONE_TILE && memcmp(&c, b, sizeof c) == 0;
}

static const char *const files[] = {"tree/walk_group.cl",
                                    "tree/walk_lanes.cl",
                                    "tree/groups.cl",
                                    "tree/moments.cl",
                                    "tree/build.cl",
                                    "tree/keys.cl",
                                    "lib/sort.cl",
                                    "lib/sweep.cl",
                                    "lib/scan.cl",
                                    "lib/reduce.cl",
                                    NULL};

static const char *const files_beside[] = {"tree/gather.cl", "tree/soften.cl", "lib/compact.cl", "bodies/transfer.cl",
                                           NULL};

const gv_space gv_tree_space = {
    .kernel = "tree",
    .file = files,
    .file_beside = files_beside,
    .n_tunables = GV_TT_COUNT,
    .tunable = tunables,
    .n_constraints = sizeof constraints / sizeof constraints[0],
    .constraint = constraints,
    .built_in = built_in,
    .same_launch = same_launch,
    .prove = gv_tree_prove,
    .of_program = GV_TREE_OF_SPLINE | GV_TREE_OF_SHORT_RANGE | GV_TREE_OF_MASSES | GV_TREE_OF_NO_EPS |
                  GV_TREE_OF_ANGLES | GV_TREE_OF_LENGTHS | GV_TREE_OF_SHAPE,
    .program = gv_tree_program_name,
    .least_lead = GV_TREE_LEAST_GAIN,
    .plain = {"threads=64 n_group=64 split=1 tile=64 lanes=1 rsqrt=0 sort_threads=64 sort_items=4 sort_bits=4",
              "threads=1 n_group=16 split=1 lanes=1 rsqrt=0 sort_threads=1 sort_items=4096 sort_bits=4"},
};
