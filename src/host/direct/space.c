/* The search space of the direct force kernel: its tunables and its constraints. */
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
CONSTRAINT(prefetch_reads_tiles)
{
    (void)variant, (void)limits;
    return VALUE(PREFETCH) == 0 || VALUE(TILE) > 0;
}
CONSTRAINT(vectors_compare_ids)
{
    return VALUE(MEET) == 0 || !by_lanes(limits) || gv_direct_searches(variant);
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

static void built_in(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks,
                     size_t sources)
{
    *config = (gv_config){{0}};
    gv_direct_untuned(config, variant, limits, sinks, sources);
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
static const char *const files_beside[] = {"direct/take.cl", "direct/reduce.cl", "direct/lists.cl",
                                           "bodies/transfer.cl", NULL};

const gv_space gv_direct_space = {
    .kernel = "direct",
    .file = files,
    .file_beside = files_beside,
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
