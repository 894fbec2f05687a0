/* The search space of the direct force kernel: its tunables, its constraints and the untuned default. */
#include "host/direct/plan.h"

#include <math.h>

static const gv_tunable tunables[GV_T_COUNT] = {
    [GV_T_THREADS] = {"threads", "work-items", "work-items in a group", 1, 7, {1, 16, 32, 64, 128, 256, 512}},
    [GV_T_BLOCKS_PER_CU] = {"blocks_per_cu",
                            "groups",
                            "groups wanted per compute unit; sources are split until there are as many",
                            0,
                            10,
                            {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}},
    [GV_T_SPLIT] = {"split",
                    "rows",
                    "2D split: rows of a group, each takes a part of the sources",
                    1,
                    7,
                    {1, 2, 4, 8, 16, 32, 64}},
    [GV_T_SINKS_PER_ITEM] =
        {"sinks_per_item", "vectors", "sinks (vectors of sinks) held by one work-item", 1, 6, {1, 2, 3, 4, 6, 8}},
    [GV_T_TILE] = {"tile",
                   "sources",
                   "sources a row stages in local memory at once; 0: read through the cache",
                   1,
                   6,
                   {0, 32, 64, 128, 256, 512}},
    [GV_T_UNROLL] = {"unroll", "sources", "sources per turn of the inner loop", 1, 5, {1, 2, 4, 8, 16}},
    [GV_T_LANES] = {"lanes", "sinks", "sinks in one vector", 1, 5, {1, 2, 4, 8, 16}},
    [GV_T_RSQRT] = {"rsqrt",
                    "flavour",
                    "0 exact, 1 native, 2 refined, 3 bits, 4 estimate (kernels/lib/rsqrt.h)",
                    1,
                    5,
                    {0, 1, 2, 3, 4}},
    [GV_T_KEEP] = {"keep",
                   "kind",
                   "nearest neighbours without lists: 0 a run of sources with something nearer is looked through at "
                   "once, 1 the run with the nearest is kept and looked through at the end",
                   1,
                   2,
                   {0, 1}},
    [GV_T_MEET] =
        {"meet",
         "kind",
         "where pairs are compared by id, so that no body acts on itself: 0 among sources between the smallest "
         "and the largest id of the sinks, 1 where sources may be sinks",
         1,
         2,
         {0, 1}},
    [GV_T_PREFETCH] =
        {"prefetch", "sources", "1: a source is read from the tile while the one before it acts", 1, 2, {0, 1}},
};

#define VALUE(name) (config->value[GV_T_##name])
#define CONSTRAINT(name) static int name(const gv_config *config, const gv_variant *variant, const gv_limits *limits)

/* one work-item drives all SIMD lanes, as on most CPUs */
static int by_lanes(const gv_limits *limits)
{
    return !gv_limits_groups(limits);
}

CONSTRAINT(group_fits)
{
    (void)variant;
    return VALUE(THREADS) <= limits->info.max_group;
}
CONSTRAINT(rows_fit)
{
    (void)variant, (void)limits;
    return VALUE(THREADS) % VALUE(SPLIT) == 0;
}
CONSTRAINT(local_memory_fits)
{
    return gv_direct_local_bytes(config, variant, GRAVEL_SOFTEN_EPS) <= limits->info.local_memory;
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
CONSTRAINT(lanes_are_for_cpus)
{
    (void)variant;
    return by_lanes(limits) || VALUE(LANES) == 1;
}
CONSTRAINT(cpus_want_lanes)
{
    const int width = variant->precision == GRAVEL_DP ? limits->info.simd_width_double : limits->info.simd_width_float;
    const int least = gv_limits_lanes(limits, variant->precision); /* less than the width where that comes out wrong */
    return !by_lanes(limits) || (VALUE(LANES) >= least && VALUE(LANES) <= 2 * width);
}
CONSTRAINT(cpus_want_no_barriers)
{
    (void)variant;
    return !by_lanes(limits) || (VALUE(THREADS) == 1 && VALUE(TILE) == 0);
}
CONSTRAINT(gpus_want_whole_waves)
{
    (void)variant;
    return by_lanes(limits) || VALUE(THREADS) >= 64;
}
CONSTRAINT(gpus_want_tiles)
{
    (void)variant;
    return by_lanes(limits) || VALUE(TILE) > 0 || VALUE(SPLIT) >= 8;
}
CONSTRAINT(gpus_have_estimates)
{
    (void)variant;
    return limits->info.type == GRAVEL_DEVICE_CPU || VALUE(RSQRT) <= 2;
}
/* Float words of a vector of sinks: sums, wide sums and the sink itself. */
static int words_of(const gv_variant *variant)
{
    static const int words[3] = {18, 33, 48};
    return words[variant->order / 2 - 1] * (variant->precision == GRAVEL_DP ? 2 : 1);
}
/* A group of work-items is one call of a function on a CPU, with the variables of all of them on the stack of a thread:
 * 10.7 MB for sp4 with 128 work-items of 8 sinks in 16 lanes (PoCL 3.1), 4.9 times these words.  Threads have 8 MB, and
 * other compilers may take a third more. */
CONSTRAINT(stack_suffices)
{
    const double words = (double)VALUE(THREADS) * VALUE(LANES) * VALUE(SINKS_PER_ITEM) * words_of(variant);
    return limits->info.type != GRAVEL_DEVICE_CPU || 5 * 4 * words <= 6 << 20;
}
CONSTRAINT(registers_suffice)
{
    return VALUE(SINKS_PER_ITEM) * words_of(variant) <= (by_lanes(limits) ? 100 : 200);
}
static int nearest_alone(const gv_variant *variant)
{
    return (variant->features & (GV_DIRECT_NEAREST | GV_DIRECT_LISTS)) == GV_DIRECT_NEAREST;
}
CONSTRAINT(keep_is_for_nearest)
{
    (void)limits;
    return VALUE(KEEP) == 0 || nearest_alone(variant);
}
static int searches(const gv_variant *variant)
{
    return (variant->features & (GV_DIRECT_NEAREST | GV_DIRECT_LISTS)) != 0;
}
CONSTRAINT(prefetch_reads_tiles)
{
    (void)variant, (void)limits;
    return VALUE(PREFETCH) == 0 || VALUE(TILE) > 0;
}
CONSTRAINT(vectors_compare_ids)
{
    return VALUE(MEET) == 0 || !by_lanes(limits) || searches(variant);
}
/* On CPUs order 6 with 16 sources in flight takes 1.04 to 1.09 of the default's time in the mean (doc/numbers.md). */
CONSTRAINT(loop_body_is_small)
{
    if (limits->info.type == GRAVEL_DEVICE_CPU && variant->order == 6 && VALUE(UNROLL) == 16)
        return 0;
    return VALUE(UNROLL) * VALUE(SINKS_PER_ITEM) * variant->order <= 192;
}

static const gv_constraint constraints[] = {
    {"the group is larger than the device allows", 1, group_fits},
    {"split does not divide threads: every row has as many work-items", 1, rows_fit},
    {"tiles of all rows do not fit into local memory", 1, local_memory_fits},
    {"prefetch reads from a tile", 1, prefetch_reads_tiles},
    {"the variables of all work-items of a group do not fit on the stack of a CPU's thread", 1, stack_suffices},
    {"this device has no estimate instruction for so many lanes", 1, estimate_exists},
    {"this device's compiler gets vectors of so many lanes wrong", 1, vectors_are_right},
    {"this device's rsqrt or native_rsqrt is too rough for this flavour and precision", 1, root_is_right},
    {"a GPU's work-item is one lane already", 0, lanes_are_for_cpus},
    {"a CPU is fastest with vectors of its SIMD width or twice that", 0, cpus_want_lanes},
    {"barriers and tiles only cost time on a CPU: one work-item a group, no tile", 0, cpus_want_no_barriers},
    {"groups smaller than a wave leave lanes of a GPU idle", 0, gpus_want_whole_waves},
    {"where rows are wide, reading every source from global memory is slower than a tile on a GPU", 0, gpus_want_tiles},
    {"a GPU has a reciprocal square root unit", 0, gpus_have_estimates},
    {"the sums of so many sinks do not fit into registers", 0, registers_suffice},
    {"the unrolled loop is too long for the instruction cache", 0, loop_body_is_small},
    {"keep makes no difference but to nearest neighbours without lists", 0, keep_is_for_nearest},
    {"vectors without searches compare all ids in less time than it takes to find where", 0, vectors_compare_ids},
};

/* Few sinks: rows make up for missing sinks, so that every work-item has one.  The values are the tuned ones of an
 * H200, where they agree between variants. */
static void built_in_groups(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks,
                            size_t sources)
{
    const int light = variant->order == 2 && variant->precision != GRAVEL_DP;
    VALUE(THREADS) = 128;
    VALUE(LANES) = 1;
    VALUE(RSQRT) = 1;
    VALUE(MEET) = sinks >= 64 && gv_direct_are_strewn(sinks, sources);
    VALUE(UNROLL) = variant->precision == GRAVEL_DP && variant->order >= 4 ? 2 : 4; /* 4 spills on 256 registers */
    if (limits->info.type == GRAVEL_DEVICE_CPU) {
        VALUE(UNROLL) = 1; /* 16 registers: llvmpipe takes 2.5 times as long with 4 */
        VALUE(RSQRT) = gv_limits_root(limits, variant->precision, 1);
    }
    if (sinks >= 1024) {
        const int few = light && sinks < 16384;
        VALUE(TILE) = 128;
        VALUE(SPLIT) = few ? 4 : 1;
        VALUE(BLOCKS_PER_CU) = 8;
        VALUE(SINKS_PER_ITEM) = variant->order == 6 ? 1 : light && !few ? 4 : 2;
        return;
    }
    VALUE(SINKS_PER_ITEM) = 1;
    VALUE(TILE) = sinks >= 64 ? 64 : 32;
    VALUE(SPLIT) = sinks <= 1 ? 64 : sinks < 16 ? 16 : 4;
    VALUE(BLOCKS_PER_CU) = sinks <= 1 ? 8 : sinks < 16 ? 2 : 4;
}

/* Calls where the above takes 1.1 to 2.2 of the best, and what the times of an H200 and an H100 agree on there (2 to 48
 * sinks of more than 65536 sources: of an H200): 1.01 to 1.05 of it in the mean (doc/numbers.md, "Untuned on a GPU").
 * The first row counts that has room for the call. */
typedef struct gpu_groups {
    int threads, blocks_per_cu, split, sinks_per_item, tile, unroll, meet;
} gpu_groups;

typedef struct gpu_sizes {
    size_t least_sinks, sinks, least_sources, sources, pairs; /* sinks, sources and pairs: at most */
    enum { ALL_CALLS, PLAIN, SEARCHES } kind;                 /* PLAIN: without searches */
} gpu_sizes;

static const struct {
    gpu_sizes sizes;
    gpu_groups of[3][3]; /* sp, ds, dp; order 2, 4, 6 */
} gpu_table[] = {
    {{1, 63, 0, 16384, SIZE_MAX, ALL_CALLS},
     {{{128, 4, 4, 1, 32, 8, 1}, {128, 4, 4, 1, 32, 8, 1}, {128, 4, 4, 1, 32, 8, 1}},
      {{128, 4, 4, 1, 32, 8, 1}, {128, 4, 4, 1, 32, 8, 1}, {128, 4, 4, 1, 32, 8, 1}},
      {{128, 4, 4, 1, 32, 8, 1}, {128, 2, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{1, 15, 0, 32768, SIZE_MAX, ALL_CALLS},
     {{{128, 2, 16, 1, 32, 8, 0}, {128, 2, 16, 1, 32, 8, 0}, {128, 2, 16, 1, 32, 4, 0}},
      {{128, 2, 16, 1, 32, 8, 0}, {128, 2, 16, 1, 32, 8, 0}, {128, 2, 16, 1, 32, 4, 0}},
      {{128, 2, 16, 1, 32, 4, 0}, {128, 2, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{16, 63, 0, 65536, SIZE_MAX, ALL_CALLS},
     {{{128, 4, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 8, 1}, {128, 2, 4, 1, 32, 4, 1}},
      {{128, 4, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 8, 1}, {128, 2, 4, 1, 32, 4, 1}},
      {{128, 4, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{1, 1, 0, SIZE_MAX, SIZE_MAX, ALL_CALLS},
     {{{128, 8, 64, 1, 0, 4, 0}, {128, 8, 64, 1, 0, 4, 0}, {128, 8, 64, 1, 0, 4, 0}},
      {{128, 8, 64, 1, 0, 4, 0}, {128, 8, 64, 1, 0, 4, 0}, {128, 8, 64, 1, 0, 4, 0}},
      {{128, 8, 64, 1, 0, 4, 0}, {128, 8, 64, 1, 0, 4, 0}, {128, 8, 64, 1, 0, 2, 0}}}},
    {{2, 4, 0, 262144, SIZE_MAX, ALL_CALLS},
     {{{128, 8, 32, 1, 32, 8, 0}, {128, 4, 32, 1, 32, 8, 1}, {128, 3, 32, 1, 0, 4, 0}},
      {{128, 4, 32, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}},
      {{128, 4, 32, 1, 32, 4, 1}, {128, 4, 32, 1, 0, 8, 0}, {128, 8, 32, 1, 0, 4, 0}}}},
    {{2, 4, 0, SIZE_MAX, SIZE_MAX, ALL_CALLS},
     {{{128, 8, 32, 1, 32, 8, 0}, {128, 4, 32, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}},
      {{128, 4, 32, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}},
      {{128, 4, 32, 1, 32, 4, 1}, {128, 2, 16, 1, 32, 4, 1}, {256, 8, 64, 1, 0, 2, 0}}}},
    {{5, 8, 0, 262144, SIZE_MAX, ALL_CALLS},
     {{{128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}},
      {{128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}},
      {{128, 6, 16, 1, 32, 8, 1}, {128, 3, 16, 1, 32, 8, 1}, {128, 4, 16, 1, 0, 2, 0}}}},
    {{5, 8, 0, SIZE_MAX, SIZE_MAX, ALL_CALLS},
     {{{256, 8, 32, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}},
      {{128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}},
      {{128, 6, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 4, 1}, {256, 8, 64, 1, 0, 2, 0}}}},
    {{9, 16, 0, 262144, SIZE_MAX, ALL_CALLS},
     {{{256, 3, 16, 1, 32, 16, 1}, {128, 4, 16, 1, 32, 8, 1}, {128, 4, 16, 1, 32, 8, 1}},
      {{128, 6, 16, 1, 32, 8, 1}, {128, 4, 16, 1, 32, 8, 1}, {128, 4, 16, 1, 32, 8, 1}},
      {{128, 6, 16, 1, 32, 8, 1}, {128, 4, 8, 1, 32, 8, 1}, {128, 4, 8, 1, 32, 2, 1}}}},
    {{9, 16, 0, SIZE_MAX, SIZE_MAX, ALL_CALLS},
     {{{128, 4, 8, 1, 128, 8, 1}, {128, 4, 8, 1, 128, 4, 1}, {128, 4, 8, 1, 64, 4, 1}},
      {{256, 3, 16, 1, 64, 8, 1}, {128, 4, 8, 1, 64, 8, 1}, {128, 4, 8, 1, 64, 4, 1}},
      {{256, 3, 16, 1, 64, 4, 1}, {128, 4, 8, 1, 32, 4, 1}, {128, 4, 8, 1, 32, 2, 1}}}},
    {{17, 32, 0, 262144, SIZE_MAX, ALL_CALLS},
     {{{256, 2, 8, 1, 64, 4, 1}, {128, 2, 4, 1, 32, 8, 1}, {128, 4, 4, 1, 64, 4, 1}},
      {{128, 4, 4, 1, 64, 8, 1}, {256, 2, 8, 1, 32, 8, 1}, {128, 4, 4, 1, 64, 4, 1}},
      {{128, 4, 4, 1, 64, 4, 1}, {128, 4, 4, 1, 64, 4, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{17, 32, 0, SIZE_MAX, SIZE_MAX, ALL_CALLS},
     {{{256, 2, 8, 1, 64, 4, 1}, {256, 2, 8, 1, 64, 8, 1}, {128, 4, 4, 1, 64, 4, 1}},
      {{128, 4, 8, 2, 64, 8, 1}, {128, 4, 4, 1, 128, 4, 1}, {128, 4, 4, 1, 64, 4, 1}},
      {{128, 4, 4, 1, 64, 4, 1}, {128, 4, 4, 1, 64, 4, 1}, {128, 4, 4, 1, 64, 2, 1}}}},
    /* three sinks an item: 0.89 to 0.96 of the next row, which is as good for others and with searches (dp4 spills) */
    {{33, 48, 262145, SIZE_MAX, SIZE_MAX, PLAIN},
     {{{128, 4, 8, 3, 32, 8, 1}, {128, 4, 8, 1, 128, 4, 1}, {128, 4, 8, 1, 64, 4, 1}},
      {{128, 4, 8, 3, 64, 8, 1}, {128, 4, 8, 3, 32, 4, 1}, {128, 4, 8, 1, 64, 4, 1}},
      {{128, 4, 8, 3, 64, 4, 1}, {128, 4, 8, 1, 64, 4, 1}, {128, 4, 8, 1, 32, 2, 1}}}},
    {{33, 48, 0, SIZE_MAX, SIZE_MAX, ALL_CALLS},
     {{{128, 4, 8, 1, 128, 8, 1}, {128, 4, 8, 1, 128, 4, 1}, {128, 4, 8, 1, 64, 4, 1}},
      {{128, 4, 8, 1, 128, 8, 1}, {128, 4, 8, 1, 64, 8, 1}, {128, 4, 8, 1, 64, 4, 1}},
      {{128, 4, 8, 1, 128, 4, 1}, {128, 4, 8, 1, 64, 4, 1}, {128, 4, 8, 1, 32, 2, 1}}}},
    {{49, 63, 0, SIZE_MAX, SIZE_MAX, ALL_CALLS},
     {{{128, 4, 4, 1, 64, 4, 1}, {128, 4, 4, 1, 64, 4, 1}, {128, 4, 4, 1, 64, 4, 1}},
      {{128, 4, 4, 1, 64, 4, 1}, {128, 4, 4, 1, 64, 4, 1}, {128, 4, 4, 1, 64, 4, 1}},
      {{128, 4, 4, 1, 64, 4, 1}, {128, 2, 4, 1, 32, 4, 1}, {128, 4, 4, 1, 64, 2, 1}}}},
    {{64, 1023, 16385, SIZE_MAX, SIZE_MAX, PLAIN},
     {{{256, 2, 8, 2, 64, 16, 1}, {256, 2, 4, 1, 64, 8, 1}, {256, 2, 4, 1, 64, 4, 1}},
      {{128, 4, 4, 2, 128, 4, 1}, {256, 2, 8, 2, 64, 4, 1}, {128, 2, 4, 2, 64, 4, 1}},
      {{256, 2, 8, 2, 64, 4, 1}, {128, 4, 4, 2, 128, 2, 1}, {128, 4, 4, 1, 64, 2, 1}}}},
    {{1024, 16383, 0, 2048, SIZE_MAX, PLAIN},
     {{{256, 1, 8, 1, 64, 4, 1}, {128, 2, 4, 1, 32, 8, 1}, {128, 3, 4, 1, 32, 8, 1}},
      {{128, 4, 4, 1, 64, 8, 1}, {256, 1, 8, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 8, 1}},
      {{128, 8, 4, 1, 32, 8, 1}, {256, 2, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{1024, 16383, 0, 2048, SIZE_MAX, SEARCHES},
     {{{128, 4, 2, 1, 64, 4, 1}, {128, 2, 4, 1, 32, 8, 1}, {128, 2, 4, 1, 32, 8, 1}},
      {{128, 4, 2, 1, 64, 4, 1}, {128, 2, 4, 1, 32, 8, 1}, {128, 2, 4, 1, 32, 8, 1}},
      {{128, 8, 4, 1, 32, 8, 1}, {256, 2, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{1024, SIZE_MAX, 0, SIZE_MAX, 100000000, PLAIN},
     {{{256, 2, 8, 2, 64, 16, 1}, {256, 2, 4, 1, 64, 8, 1}, {256, 2, 4, 1, 64, 4, 1}},
      {{128, 8, 4, 2, 128, 8, 1}, {256, 2, 4, 1, 128, 8, 1}, {128, 2, 4, 2, 64, 4, 1}},
      {{256, 2, 8, 2, 64, 4, 1}, {256, 2, 1, 1, 128, 4, 1}, {256, 1, 1, 2, 256, 2, 1}}}},
    {{1024, SIZE_MAX, 0, SIZE_MAX, 100000000, SEARCHES},
     {{{128, 4, 2, 1, 64, 4, 1}, {256, 2, 4, 1, 128, 8, 1}, {256, 2, 4, 1, 64, 4, 1}},
      {{128, 4, 2, 1, 64, 4, 1}, {256, 2, 4, 1, 128, 8, 1}, {256, 2, 4, 1, 64, 4, 1}},
      {{256, 2, 4, 1, 128, 4, 1}, {256, 2, 1, 1, 128, 4, 1}, {128, 8, 1, 1, 128, 2, 1}}}},
    {{1024, SIZE_MAX, 0, SIZE_MAX, SIZE_MAX, PLAIN},
     {{{128, 16, 4, 4, 64, 4, 1}, {128, 4, 4, 2, 64, 8, 1}, {128, 4, 4, 2, 128, 4, 1}},
      {{256, 4, 4, 2, 128, 16, 1}, {128, 4, 1, 2, 128, 4, 1}, {256, 4, 1, 2, 512, 4, 1}},
      {{256, 12, 2, 2, 256, 4, 1}, {128, 8, 1, 2, 128, 2, 1}, {256, 1, 1, 2, 256, 2, 1}}}},
    {{1024, SIZE_MAX, 0, SIZE_MAX, SIZE_MAX, SEARCHES},
     {{{256, 4, 4, 1, 64, 4, 1}, {128, 4, 1, 2, 128, 4, 1}, {128, 8, 1, 1, 128, 4, 1}},
      {{128, 8, 4, 2, 128, 8, 1}, {128, 4, 1, 2, 128, 4, 1}, {256, 2, 1, 2, 512, 4, 1}},
      {{128, 8, 1, 1, 128, 4, 1}, {256, 2, 1, 1, 128, 4, 1}, {128, 16, 1, 1, 128, 2, 1}}}},
};

static void built_in_gpu(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks,
                         size_t sources)
{
    built_in_groups(config, variant, limits, sinks, sources);
    for (size_t k = 0; k < sizeof gpu_table / sizeof gpu_table[0]; k++) {
        const gpu_sizes *of_row = &gpu_table[k].sizes;
        if (sinks < of_row->least_sinks || sinks > of_row->sinks || sources < of_row->least_sources ||
            sources > of_row->sources || sinks > of_row->pairs / (sources > 0 ? sources : 1) ||
            (of_row->kind != ALL_CALLS && (of_row->kind == SEARCHES) != searches(variant)))
            continue;
        const gpu_groups *of = &gpu_table[k].of[variant->precision][variant->order / 2 - 1];
        VALUE(THREADS) = of->threads;
        VALUE(BLOCKS_PER_CU) = of->blocks_per_cu;
        VALUE(SPLIT) = of->split;
        VALUE(SINKS_PER_ITEM) = of->sinks_per_item;
        VALUE(TILE) = of->tile;
        VALUE(UNROLL) = of->unroll;
        VALUE(MEET) = of->meet;
        return;
    }
}

/* What AVX-512 (wide) and AVX2 were tuned to.  A comparison a pair is a chain from source to source: with searches
 * several sources in flight take 0.6 to 0.8 of the time of one (doc/numbers.md). */
static int cpu_unroll(const gv_variant *variant, int wide)
{
    /* order 2, 4, 6; sp, ds, dp; without searches, nearest neighbours, lists */
    static const int unroll[2][3][3][3] = {
        {{{4, 4, 4}, {8, 4, 4}, {4, 4, 4}}, {{4, 4, 4}, {8, 8, 4}, {4, 8, 8}}, {{4, 4, 4}, {4, 4, 4}, {2, 8, 8}}},
        {{{8, 8, 8}, {1, 4, 4}, {8, 8, 4}}, {{1, 4, 4}, {1, 4, 4}, {8, 4, 4}}, {{1, 8, 4}, {1, 8, 8}, {8, 8, 2}}}};
    const int search = variant->features & GV_DIRECT_LISTS ? 2 : searches(variant);
    return unroll[wide][variant->order / 2 - 1][variant->precision][search];
}

/* Time with it over time without: AVX2 0.7 to 0.99 with order 2, sp4 0.94, but 1.03 to 1.1 in order 6 and 1.04 in dp4,
 * and ds4 takes 0.8 to 0.94 of it without and with longer runs; AVX-512: sp and order 2 0.77 to 0.94, ds4 and dp4 1.01
 * to 1.06 (doc/numbers.md). */
static int cpu_keep(const gv_variant *variant, int wide)
{
    const int sp = variant->precision == GRAVEL_SP;
    return variant->order == 2 || (sp && (wide || variant->order == 4));
}

static void built_in_cpu(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks)
{
    const int dp = variant->precision == GRAVEL_DP;
    const int width = dp ? limits->info.simd_width_double : limits->info.simd_width_float;
    VALUE(THREADS) = 1;
    VALUE(SPLIT) = 1;
    VALUE(TILE) = 0;
    VALUE(LANES) = gv_limits_lanes(limits, variant->precision);
    /* one vector of sinks and a long loop, or several vectors: what AVX-512 and AVX2 were tuned to */
    const int wide = width >= (dp ? 8 : 16), many = sinks > 4 * (size_t)VALUE(LANES);
    const int ds2 = variant->precision == GRAVEL_DS && variant->order == 2;
    VALUE(SINKS_PER_ITEM) = wide && ds2 && many && !searches(variant) ? 4 : 1;
    VALUE(UNROLL) = cpu_unroll(variant, wide);
    VALUE(RSQRT) = gv_limits_root(limits, variant->precision, VALUE(LANES));
    VALUE(KEEP) = nearest_alone(variant) && cpu_keep(variant, wide);
    /* with searches 0.5 to 0.8 of the time where active bodies stand anywhere, as long where all are active */
    VALUE(MEET) = searches(variant);
    VALUE(BLOCKS_PER_CU) = 4;
}

static void built_in(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks,
                     size_t sources)
{
    *config = (gv_config){{0}};
    if (by_lanes(limits))
        built_in_cpu(config, variant, limits, sinks);
    else if (limits->info.type == GRAVEL_DEVICE_CPU)
        built_in_groups(config, variant, limits, sinks, sources);
    else
        built_in_gpu(config, variant, limits, sinks, sources);
    if (!root_is_right(config, variant, limits))
        VALUE(RSQRT) = gv_limits_root(limits, variant->precision, VALUE(LANES));
    while (VALUE(THREADS) > limits->info.max_group && VALUE(THREADS) > 1)
        VALUE(THREADS) = VALUE(THREADS) > 16 ? VALUE(THREADS) / 2 : 1;
    while (VALUE(SPLIT) > VALUE(THREADS))
        VALUE(SPLIT) /= 2;
    while (VALUE(TILE) > 0 && !local_memory_fits(config, variant, limits))
        gv_direct_shrink_tiles(config);
    while (VALUE(SPLIT) > 1 && !local_memory_fits(config, variant, limits))
        VALUE(SPLIT) /= 2;
}

/* The blocks that are wanted are a matter of the launch alone: few sources have room for one, whatever is wanted. */
static int same_launch(const gv_config *a, const gv_config *b, const gv_variant *variant, const gv_limits *limits,
                       size_t sinks, size_t sources)
{
    gv_direct_plan plan[2];
    return gv_direct_plan_make(&plan[0], a, variant, limits->info.compute_units, sinks, sources, 0, 0) &&
           gv_direct_plan_make(&plan[1], b, variant, limits->info.compute_units, sinks, sources, 0, 0) &&
           plan[0].part_sources == plan[1].part_sources && plan[0].blocks == plan[1].blocks;
}

/* What the start of a call counts beside the rows that a compute unit sums; a row is one source onto one vector of
 * sinks, or onto those of a group on GPUs. PoCL's 10 to 20 us are 4000 of them; 30 is from choices on an H200 and an
 * H100 (20 to 40: the same). */
enum { ROWS_OF_START = 4000, ROWS_OF_START_GPU = 30 };

/* Sinks from which on units that are not full count: fewer are shared by groups in ways that times tell better. */
enum { MANY_SINKS = 1024 };

/* So few sinks with more sources than that wait for memory, whichever group reads them: of 941 calls of an H100 8, for
 * 10, take above 1.02 of the default's time so, 9 with up to 7 sinks (doc/numbers.md). */
enum { SINKS_OF_MEMORY = 3, SOURCES_OF_MEMORY = 262144 };

/* Groups of a CPU's call run one after the other on the unit that is free first; all units but one begin late, since
 * their threads sleep between calls: 48 sinks x 1000 in two groups of two vectors took 1.36 of what they take in three
 * of one.  In rows (doc/numbers.md). */
enum { ROWS_LATE = 1000 };

/* When the last of `groups` of so many rows ends: with the first unit, or with the others. */
static double last_end(double groups, double rows, double units)
{
    const double ahead = ROWS_LATE / rows; /* groups that the first unit is ahead */
    const double of_others = fmax(ceil((groups - floor(ahead)) / units), 1);
    const double of_first = fmin(groups, ceil((groups + (units - 1) * ceil(ahead)) / units));
    return units > 1 ? fmin(of_first * rows, of_others * rows + ROWS_LATE) : groups * rows;
}

/* What is rounded up counts whole.  Units that have one group less than others run these faster; 0.3 of its logarithm
 * is from choices on an H200 and an H100 (doc/numbers.md, "Tuning").  The same for units that are not full: 171 groups
 * of 64 were in three blocks at 65536 x 4096, 131 in one at 50000 x 5000, which took 1.82 of the default's time.  The
 * start of a call is most of a short one, and takes as long whatever is even: 48 sinks x 1000 took 1.3 of the default's
 * time on CPUs, 5 x 30000 1.05 on GPUs. */
static double unevenness(const gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks,
                         size_t sources)
{
    const double units = limits->info.compute_units, some = 0.3;
    const int by_vectors = config->value[GV_T_LANES] > 1;
    gv_direct_plan plan;
    const int waits = !by_vectors && sinks <= SINKS_OF_MEMORY && sources > SOURCES_OF_MEMORY;
    if (units < 1 || sinks == 0 || sources == 0 || waits ||
        !gv_direct_plan_make(&plan, config, variant, limits->info.compute_units, sinks, sources, 0, 0))
        return 0;
    const double groups = (double)plan.blocks * (double)plan.sink_groups;
    const double of_group = (double)plan.part_sources * config->value[GV_T_SINKS_PER_ITEM];
    const double rows = groups / units * of_group;
    const double start = by_vectors ? ROWS_OF_START : ROWS_OF_START_GPU;
    const double longer = log((double)plan.part_sources * (double)plan.parts / (double)sources);
    if (by_vectors)
        return rows / (rows + start) * longer +
               some * log((last_end(groups, of_group, units) + start) / (rows + start));
    const double turns = sinks < MANY_SINKS
                             ? ceil(groups / units)
                             : gv_direct_turns(config, plan.blocks * plan.sink_groups, limits->info.compute_units);
    return rows / (rows + start) * (longer + some * log(turns * units / groups));
}

static const char *const files[] = {"direct/force.cl", NULL};

const gv_space gv_direct_space = {
    .kernel = "direct",
    .file = files,
    .n_tunables = GV_T_COUNT,
    .tunable = tunables,
    .n_constraints = sizeof constraints / sizeof constraints[0],
    .constraint = constraints,
    .built_in = built_in,
    .same_launch = same_launch,
    .unevenness = unevenness,
    .prove = gv_direct_prove,
    .of_program = ~(unsigned)(GV_DIRECT_NEAREST | GV_DIRECT_LISTS),
    .program = gv_direct_program_name,
    .plain = {"threads=64 split=1 sinks_per_item=1 tile=64 unroll=1 lanes=1 rsqrt=0",
              "threads=1 split=1 sinks_per_item=1 tile=0 unroll=1 lanes=1 rsqrt=0"},
};
