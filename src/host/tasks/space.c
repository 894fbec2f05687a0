/* The search space of tasks: tunables, constraints and the untuned default. */
#include "host/tasks/tasks.h"

static const gv_tunable tunables[GV_TA_COUNT] = {
    [GV_TA_THREADS] = {"threads",
                       "work-items",
                       "work-items in a group; 1: one, over explicit lanes",
                       1,
                       6,
                       {1, 32, 64, 128, 256, 512}},
    [GV_TA_SPLIT] = {"split",
                     "rows",
                     "rows of a group, which share its sinks: a tile of sinks x sources",
                     1,
                     6,
                     {1, 2, 4, 8, 16, 32}},
    [GV_TA_SINKS_PER_ITEM] =
        {"sinks_per_item", "vectors", "sinks (vectors of sinks) held by one work-item", 1, 8, {1, 2, 3, 4, 5, 6, 7, 8}},
    [GV_TA_TILE] = {"tile", "sources", "sources staged in local memory at once", 1, 6, {32, 64, 128, 256, 512, 1024}},
    [GV_TA_UNROLL] = {"unroll", "sources", "sources per turn of the inner loop", 1, 5, {1, 2, 4, 8, 16}},
    [GV_TA_LANES] = {"lanes", "sinks", "sinks in one vector", 1, 5, {1, 2, 4, 8, 16}},
    [GV_TA_RSQRT] = {"rsqrt",
                     "flavour",
                     "0 exact, 1 native, 2 refined, 3 bits, 4 estimate (kernels/lib/rsqrt.h)",
                     1,
                     5,
                     {0, 1, 2, 3, 4}},
    [GV_TA_FORM] = {"form",
                    "kind",
                    "factors of the short range: 0 erfc and exp, 1 rational, 2 table (kernels/shape/short_form.h)",
                    0,
                    3,
                    {0, 1, 2}},
    [GV_TA_LEVEL] = {"level", "degree", "degree of the series about a node of the table", 0, 5, {0, 1, 2, 3, 4}},
    [GV_TA_SKIP] = {"skip",
                    "kind",
                    "pairs beyond the cut: 0 have no mass, 1 are left out before the factors, 2 before the sums",
                    1,
                    3,
                    {0, 1, 2}},
    [GV_TA_REST] = {"rest",
                    "sinks",
                    "most sinks of a group beyond those in full rows: what is left of a leaf; 0: none",
                    1,
                    4,
                    {0, 16, 25, 32}},
};

#define VALUE(name) (config->value[GV_TA_##name])
#define CONSTRAINT(name) static int name(const gv_config *config, const gv_variant *variant, const gv_limits *limits)

/* one work-item drives all SIMD lanes, as on most CPUs */
static int by_lanes(const gv_limits *limits)
{
    return !gv_limits_groups(limits);
}

/* Tile, entries, table, and sums of rows, with room for the longest table. */
static size_t local_bytes(const gv_config *config, gravel_precision precision)
{
    const size_t scalar = precision == GRAVEL_DP ? 8 : 4, wide = 8;
    const size_t threads = (size_t)VALUE(THREADS), tile = (size_t)VALUE(TILE);
    const size_t nodes = VALUE(FORM) == GV_FORM_TABLE ? (size_t)GV_TASKS_MOST_NODES * 2 * scalar : 0;
    if (threads == 1)
        return nodes;
    return nodes + tile * (4 * scalar * (precision == GRAVEL_DS ? 2 : 1) + 4) + threads * 13 + 64 +
           (VALUE(SPLIT) > 1 || VALUE(REST) > 0 ? threads * 4 * wide : 0) + (VALUE(REST) > 0 ? 16 : 0);
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
CONSTRAINT(turns_fit)
{
    (void)variant, (void)limits;
    return VALUE(THREADS) == 1 || VALUE(TILE) % (VALUE(SPLIT) * VALUE(UNROLL)) == 0;
}
CONSTRAINT(rests_fit)
{
    (void)variant, (void)limits;
    return VALUE(REST) == 0 || VALUE(REST) < VALUE(THREADS);
}
CONSTRAINT(local_memory_fits)
{
    return local_bytes(config, variant->precision) <= limits->info.local_memory;
}
CONSTRAINT(root_is_right)
{
    return gv_limits_root_is_right(limits, variant->precision, VALUE(RSQRT), VALUE(LANES));
}
CONSTRAINT(vectors_are_right)
{
    (void)variant;
    return !(limits->bad_vectors & VALUE(LANES));
}
CONSTRAINT(lanes_are_alone)
{
    (void)variant, (void)limits;
    return VALUE(LANES) == 1 || VALUE(THREADS) == 1;
}
CONSTRAINT(one_way_of_sharing)
{
    (void)variant;
    return by_lanes(limits) == (VALUE(THREADS) == 1);
}
CONSTRAINT(gpus_have_estimates)
{
    (void)variant;
    return limits->info.type == GRAVEL_DEVICE_CPU || VALUE(RSQRT) <= 2;
}
CONSTRAINT(registers_suffice)
{
    return VALUE(SINKS_PER_ITEM) * (variant->precision == GRAVEL_DP ? 36 : 20) <= (by_lanes(limits) ? 100 : 160);
}
CONSTRAINT(level_is_exact_enough)
{
    (void)limits;
    return VALUE(FORM) != GV_FORM_TABLE || VALUE(LEVEL) == (variant->precision == GRAVEL_DP ? 4 : 2);
}

static const gv_constraint constraints[] = {
    {"the group is larger than the device allows", 1, group_fits},
    {"split does not divide threads: every row has as many work-items", 1, rows_fit},
    {"a tile is not whole turns: split * unroll does not divide it", 1, turns_fit},
    {"what is left of a leaf is less than a group: rest must be less than threads", 1, rests_fit},
    {"tile, table and sums of rows do not fit into local memory", 1, local_memory_fits},
    {"this device's rsqrt or native_rsqrt is too rough for this flavour and precision", 1, root_is_right},
    {"this device's compiler gets vectors of so many lanes wrong", 1, vectors_are_right},
    {"lanes are for one work-item alone: threads must be 1", 1, lanes_are_alone},
    {"this device wants groups that share tiles, or one work-item with lanes, not this", 0, one_way_of_sharing},
    {"a GPU has a reciprocal square root unit", 0, gpus_have_estimates},
    {"the sums of so many sinks do not fit into registers", 0, registers_suffice},
    {"level 2 has the error of float, level 4 is what dp needs", 0, level_is_exact_enough},
};

/* The group that takes least time for such leaves, by places and what they cost.  With full rows of 32 goes a rest
 * always, since leaves may differ: it costs 1 % where they do not.  More sinks of an item do not pay: rows of 16 with
 * three take 1.04 times as long for 48 bodies as rows of 32 and a rest of 16. */
static void fit_leaves(gv_config *config, size_t sinks)
{
    static const struct {
        int row, several, rest;
    } shape[] = {{32, 1, 25}, {32, 2, 25}, {16, 1, 0}, {8, 1, 0}};
    double least = 1e30;
    for (size_t k = 0; k < sizeof shape / sizeof shape[0]; k++) {
        gv_config tried = *config;
        tried.value[GV_TA_SPLIT] = tried.value[GV_TA_THREADS] / shape[k].row;
        tried.value[GV_TA_SINKS_PER_ITEM] = shape[k].several;
        tried.value[GV_TA_REST] = shape[k].rest;
        const double cost = gv_tasks_time(&tried, sinks);
        if (cost < least) {
            least = cost;
            *config = tried;
        }
    }
}

/* The fastest of those tried on an H200.  Other compilers keep more of an unrolled loop in registers than there are. */
static void built_in_gpu(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks)
{
    const int dp = variant->precision == GRAVEL_DP;
    VALUE(THREADS) = 128;
    fit_leaves(config, sinks > 0 ? sinks : 1);
    VALUE(TILE) = dp ? 128 : 256;
    VALUE(UNROLL) = !limits->has_ptx_asm ? 2 : dp ? 4 : 8;
    VALUE(LANES) = 1;
    VALUE(FORM) = dp ? GV_FORM_TABLE : GV_FORM_RATIONAL;
    VALUE(SKIP) = limits->has_ptx_asm != 0;
}

static void built_in_cpu(gv_config *config, const gv_variant *variant, const gv_limits *limits)
{
    VALUE(THREADS) = 1;
    VALUE(SPLIT) = 1;
    VALUE(SINKS_PER_ITEM) = 1;
    VALUE(TILE) = 32;
    VALUE(UNROLL) = 2;
    VALUE(LANES) = gv_limits_lanes(limits, variant->precision);
    VALUE(FORM) = GV_FORM_RATIONAL;
}

static void built_in(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks,
                     size_t sources)
{
    (void)sources;
    *config = (gv_config){{0}};
    if (by_lanes(limits))
        built_in_cpu(config, variant, limits);
    else
        built_in_gpu(config, variant, limits, sinks);
    VALUE(LEVEL) = variant->precision == GRAVEL_DP ? 4 : 2;
    VALUE(RSQRT) = by_lanes(limits) ? gv_limits_root(limits, variant->precision, VALUE(LANES)) : 1;
    if (!root_is_right(config, variant, limits))
        VALUE(RSQRT) = gv_limits_root(limits, variant->precision, VALUE(LANES));
    while (VALUE(THREADS) > limits->info.max_group && VALUE(THREADS) > 1)
        VALUE(THREADS) = VALUE(THREADS) > 32 ? VALUE(THREADS) / 2 : 1;
    while (VALUE(SPLIT) > VALUE(THREADS))
        VALUE(SPLIT) /= 2;
    while (VALUE(TILE) > 32 && !local_memory_fits(config, variant, limits))
        VALUE(TILE) /= 2;
    if (!local_memory_fits(config, variant, limits))
        VALUE(FORM) = GV_FORM_RATIONAL;
    if (!rests_fit(config, variant, limits))
        VALUE(REST) = 0;
}

static const char *const files[] = {"tasks/evaluate.cl", NULL};

const gv_space gv_tasks_space = {
    .kernel = "tasks",
    .file = files,
    .n_tunables = GV_TA_COUNT,
    .tunable = tunables,
    .n_constraints = sizeof constraints / sizeof constraints[0],
    .constraint = constraints,
    .built_in = built_in,
    .any_sources = 1,
    .plain = {"threads=64 split=1 sinks_per_item=1 tile=64 unroll=1 lanes=1 rsqrt=0 form=0",
              "threads=1 split=1 sinks_per_item=1 tile=32 unroll=1 lanes=1 rsqrt=0 form=0"},
};
