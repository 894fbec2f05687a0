#include "host/direct/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert((int)GRAVEL_SOFTEN_EPS == GV_SOFTEN_EPS && (int)GRAVEL_SOFTEN_SINKS == GV_SOFTEN_SINKS &&
                   (int)GRAVEL_SOFTEN_SOURCES == GV_SOFTEN_SOURCES && (int)GRAVEL_SOFTEN_SUM == GV_SOFTEN_SUM &&
                   (int)GRAVEL_SOFTEN_MAX == GV_SOFTEN_MAX,
               "the kernels' GV_SOFTEN_... are the values of gravel_soften");

_Static_assert((int)GRAVEL_NEIGHBOURS_OTHERS == GV_RULE_OTHERS && (int)GRAVEL_NEIGHBOURS_SPHERE == GV_RULE_SPHERE &&
                   (int)GRAVEL_NEIGHBOURS_SPHERE_MASS == GV_RULE_SPHERE_MASS,
               "the kernels' GV_RULE_... are the values of gravel_neighbour_rule");

int gv_direct_are_strewn(size_t sinks, size_t sources)
{
    return sinks <= GV_FEW_SINKS && sinks < sources / GV_FEW_OF_SOURCES;
}

/* Planes that neighbour lists add to a sink. */
static int list_planes(unsigned features)
{
    return !!(features & GV_DIRECT_LISTS) + !!(features & GV_DIRECT_AHEAD);
}

void gv_direct_layout_set(gv_direct_layout *layout, const gv_variant *variant, gravel_soften soften)
{
    const int low = variant->precision == GRAVEL_DS, nearest = (variant->features & GV_DIRECT_NEAREST) != 0;
    const int lists = list_planes(variant->features);
    memset(layout, 0, sizeof *layout);
    layout->scalar_size = variant->precision == GRAVEL_DP ? 8 : 4;
    layout->components = GV_DIRECT_COMPONENTS(variant->order);
    layout->wide_words = variant->precision == GRAVEL_DP ? 1 : 2;
    layout->partial_planes = layout->components * layout->wide_words + 2 * nearest;
    layout->result_planes = layout->partial_planes + nearest;
    layout->sink_planes = GV_SINK_PLANES(variant->order, low, lists, GV_SOFTEN_OF_SINKS((int)soften));
    layout->quads = variant->order / 2 + low;
}

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static size_t divide_up(size_t value, size_t by)
{
    return (value + by - 1) / by;
}

/* Groups a unit are tuned with so many sources at most.  More of them are cut into more parts, in steps, up to MORE
 * times as many (what groups of sinks leave to be added takes memory): 4 groups a unit where 3 are tuned are two turns
 * where 3 fit, 1.2 of the time (doc/numbers.md, "Tuning").  FEW sinks are shared by so many groups anyway that more of
 * them only cost their starts: on a GPU FEW_ITEMS work-items a unit are best there, whatever won with fewer sources. */
enum { TUNED_SOURCES = 262144, MORE = 4, FEW = 64, FEW_ITEMS = 512 };

static size_t groups_wanted(const gv_config *config, size_t compute_units, size_t sinks, size_t sources)
{
    const size_t tuned = (size_t)config->value[GV_T_BLOCKS_PER_CU];
    const size_t steps = (sources + TUNED_SOURCES / 2) / TUNED_SOURCES, times = steps < MORE ? steps : MORE;
    const int is_scalar = config->value[GV_T_LANES] == 1, is_more = sources > TUNED_SOURCES;
    const size_t per_unit = is_scalar && is_more && sinks < FEW
                                ? divide_up(FEW_ITEMS, (size_t)config->value[GV_T_THREADS])
                                : tuned * (times > 1 ? times : 1);
    return per_unit * compute_units;
}

/* Groups run in turns of `wanted`; the last turn is seldom full.  The fewest blocks along the sources that keep within
 * 5 % of the best use of all turns: 86 groups of sinks on 132 places leave a third idle, 3 x 86 in two turns 2 %. */
static size_t even_blocks(size_t wanted, size_t sink_groups)
{
    const size_t least = wanted / sink_groups > 0 ? wanted / sink_groups : 1;
    double use[8], best = 0;
    for (size_t k = 0; k < 8; k++) {
        const size_t groups = (least + k) * sink_groups;
        use[k] = (double)groups / (double)round_up(groups, wanted);
        best = use[k] > best ? use[k] : best;
    }
    for (size_t k = 0; k < 8; k++)
        if (use[k] >= 0.95 * best)
            return least + k;
    return least;
}

/* Where a work-item drives a vector, as on CPUs, a group costs 0.5 to 1 us to start and to add up, as much as a vector
 * of sinks needs for some hundred sources: no part is shorter (doc/numbers.md, "Direct summation on CPUs"). */
enum { LEAST_OF_VECTOR = 2048 };

static size_t no_short_parts(size_t blocks, const gv_config *config, size_t sources)
{
    const size_t most = sources / LEAST_OF_VECTOR;
    return config->value[GV_T_LANES] > 1 && blocks > most ? most : blocks;
}

/* Parts are multiples of the unrolled run: rounded to tiles of 128, 469 sources become 512 and take as long as these.
 * Those of at least four tiles are multiples of a tile where that adds less than a tenth of one.  Below 64 sources more
 * groups cost as much as shorter parts save (doc/numbers.md, "Tuning"). */
static size_t round_part(size_t part, size_t tile, const gv_config *config)
{
    const size_t least = round_up(part > 0 ? part : 1, part >= 64 ? (size_t)config->value[GV_T_UNROLL] : 16);
    const size_t whole = round_up(least, tile);
    return part >= 4 * tile && 10 * (whole - least) < tile ? whole : least;
}

/* A unit is full with so many work-items (doc/numbers.md, "Tuning"). */
enum { FULL = 384 };

double gv_direct_turns(const gv_config *config, size_t groups, int compute_units)
{
    return fmax((double)divide_up(groups, (size_t)compute_units), (double)FULL / (double)config->value[GV_T_THREADS]);
}

/* What a launch of groups with one work-item a lane takes, in sources that one group sums; groups join their rows.
 * More blocks than one are added by a second kernel, SECOND sources.  Where one block is ahead by a twentieth it takes
 * 0.91 of the time in the mean, 1.014 at most (doc/numbers.md, "Tuning"). */
enum { SECOND = 80 };

static double group_time(const gv_config *config, size_t part, size_t groups, int compute_units)
{
    return (double)(part + (size_t)config->value[GV_T_SPLIT]) * gv_direct_turns(config, groups, compute_units);
}

static int one_block_is_faster(const gv_config *config, size_t whole, const gv_direct_plan *plan, int compute_units)
{
    const size_t groups = plan->blocks * plan->sink_groups;
    return config->value[GV_T_LANES] == 1 && plan->blocks > 1 &&
           group_time(config, whole, plan->sink_groups, compute_units) <
               0.95 * (group_time(config, plan->part_sources, groups, compute_units) + SECOND);
}

/* Large calls are cut by the least of such times alone.  What is tuned at one number of sinks is groups that happen to
 * be even there: three a unit that were eleven by even_blocks, and 2.7 at half as many sinks, took 1.5 of the time.
 * Units are full with LARGE_FULL work-items, and a group takes as long as LARGE_START sources to start.  Of 162 calls
 * with all numbers of blocks timed this takes 1.005 of the best from 2e8 pairs on, 1.021 before; lists, whose parts are
 * joined, gain from 1e9 on (doc/numbers.md, "Tuning"). */
enum { LARGE_SINKS = 8192, LARGE_FULL = 1024, LARGE_START = 40 };

static int is_large(const gv_config *config, const gv_variant *variant, size_t sinks, size_t sources)
{
    const double pairs = (double)sinks * (double)sources;
    const double least = variant->features & GV_DIRECT_LISTS ? 1e9 : 2e8;
    return config->value[GV_T_LANES] == 1 && pairs >= (sinks >= LARGE_SINKS ? least : 2e9);
}

static size_t blocks_of_large(const gv_config *config, size_t units, size_t sink_groups, size_t sources, size_t tile)
{
    const size_t split = (size_t)config->value[GV_T_SPLIT];
    const double full = LARGE_FULL / (double)config->value[GV_T_THREADS];
    const size_t most = divide_up((size_t)(2 * full * (double)units), sink_groups);
    size_t best = 1;
    double least = INFINITY;
    for (size_t k = 1; k <= most; k++) {
        const size_t part = round_part(divide_up(sources, k * split), tile, config);
        const size_t blocks = divide_up(sources, part * split), turns = divide_up(blocks * sink_groups, units);
        const double time = (double)(part + LARGE_START) * fmax((double)turns, full);
        if (time < least) {
            least = time;
            best = blocks;
        }
    }
    return best;
}

int gv_direct_plan_make(gv_direct_plan *plan, const gv_config *config, const gv_variant *variant, int compute_units,
                        size_t sinks, size_t sources, size_t list_capacity, size_t list_bytes)
{
    const size_t split = (size_t)config->value[GV_T_SPLIT];
    const size_t group_sinks = (size_t)config->value[GV_T_THREADS] / split *
                               (size_t)config->value[GV_T_SINKS_PER_ITEM] * (size_t)config->value[GV_T_LANES];
    const size_t tile = config->value[GV_T_TILE] > 0 ? (size_t)config->value[GV_T_TILE] : GV_DIRECT_STRETCH;
    memset(plan, 0, sizeof *plan);
    plan->sink_groups = divide_up(sinks > 0 ? sinks : 1, group_sinks); /* a question may be about none */
    plan->stride = plan->sink_groups * group_sinks;

    /* as many groups as wanted, but no part without work */
    const size_t units = (size_t)compute_units, wanted = groups_wanted(config, units, sinks, sources);
    const int large = is_large(config, variant, sinks, sources);
    size_t blocks = large ? blocks_of_large(config, units, plan->sink_groups, sources, tile)
                          : no_short_parts(even_blocks(wanted, plan->sink_groups), config, sources);
    if (variant->features & GV_DIRECT_LISTS && list_capacity > 0) {
        /* one division after the other: the product could overflow */
        const size_t most = list_bytes / sizeof(uint32_t) / (list_capacity + 1) / split / plan->stride;
        if (most == 0)
            return 0;
        blocks = blocks < most ? blocks : most;
    }
    blocks = blocks > 0 ? blocks : 1;
    plan->part_sources = round_part(divide_up(sources, blocks * split), tile, config);
    plan->blocks = sources > 0 ? divide_up(sources, plan->part_sources * split) : 1;
    const size_t whole = round_part(divide_up(sources, split), tile, config);
    if (!large && one_block_is_faster(config, whole, plan, compute_units)) {
        plan->part_sources = whole;
        plan->blocks = 1;
    }
    plan->parts = plan->blocks * split;

    /* short columns of partial results need no rows; long ones are shared until a row has about four */
    plan->reduce_rows = 1;
    while (plan->reduce_rows < GV_REDUCE_THREADS && plan->reduce_rows * 4 < plan->blocks)
        plan->reduce_rows *= 2;
    return 1;
}

size_t gv_direct_reduce_groups(size_t sinks, size_t reduce_rows)
{
    return divide_up(sinks, GV_REDUCE_THREADS / reduce_rows);
}

gv_direct_alike gv_direct_find_alike(size_t sinks)
{
    enum { FIRST = 64, CHOSEN_FOR_FIRST = 24 };
    gv_direct_alike kind = {0, 0, FIRST, CHOSEN_FOR_FIRST};
    while (kind.most < sinks && kind.most < GV_MOST_ALIKE) {
        kind.index++;
        kind.above = kind.most;
        kind.most *= 2;
        kind.chosen_for = kind.most / 4 * 3;
    }
    return kind;
}

size_t gv_direct_local_bytes(const gv_config *config, const gv_variant *variant, gravel_soften soften)
{
    gv_direct_layout layout;
    gv_direct_layout_set(&layout, variant, soften);
    const size_t split = (size_t)config->value[GV_T_SPLIT];
    const size_t threads = (size_t)config->value[GV_T_THREADS];
    const size_t lanes = (size_t)config->value[GV_T_LANES];
    const size_t scalar = (size_t)layout.scalar_size;
    size_t bytes = 0;
    if (config->value[GV_T_TILE] > 0) {
        const size_t softening = GV_SOFTEN_OF_SOURCES((int)soften) ? scalar : 0;
        const size_t tile = (size_t)config->value[GV_T_TILE];
        const size_t sources = split * GV_DIRECT_TILE_PLACES(tile, threads / split);
        bytes += (sources + (size_t)config->value[GV_T_PREFETCH]) * ((size_t)layout.quads * 4 * scalar + softening);
        bytes += sources * 4;
        const size_t group_sinks = threads / split * (size_t)config->value[GV_T_SINKS_PER_ITEM] * lanes;
        bytes += (split + 2) * 4;
        if (config->value[GV_T_MEET])
            bytes += (split * tile / GV_DIRECT_STRETCH - split + GV_DIRECT_NAME_WORDS(group_sinks)) * 4;
    }
    if (split > 1)
        bytes += threads * lanes *
                 (scalar * (size_t)(layout.components * layout.wide_words) +
                  (variant->features & GV_DIRECT_NEAREST ? 4 : 0));
    return bytes;
}

/* Only where there is one, so that programs without a rule keep their names in caches. */
static void add_rule(unsigned features, char *text, size_t size)
{
    const size_t length = strlen(text);
    const unsigned all = GV_DIRECT_SPHERE | GV_DIRECT_SPHERE_MASS | GV_DIRECT_AHEAD | GV_DIRECT_LEAVE_OUT;
    const int rule = features & GV_DIRECT_SPHERE_MASS ? GV_RULE_SPHERE_MASS
                     : features & GV_DIRECT_SPHERE    ? GV_RULE_SPHERE
                                                      : GV_RULE_OTHERS;
    if (features & all)
        snprintf(text + length, size - length, " -DGV_RULE=%d -DGV_AHEAD=%d -DGV_LEAVE_OUT=%d", rule,
                 !!(features & GV_DIRECT_AHEAD), !!(features & GV_DIRECT_LEAVE_OUT));
}

void gv_direct_shrink_tiles(gv_config *config)
{
    enum { ROWS = 8 }; /* with fewer, wider rows tiles are worth more than rows; with more they have few sinks each */
    int *tile = &config->value[GV_T_TILE], *rows = &config->value[GV_T_SPLIT];
    if (*tile > GV_DIRECT_STRETCH) {
        *tile /= 2;
    } else if (*rows > 1 && *rows != ROWS) {
        *rows /= 2;
    } else {
        *tile = 0;
        config->value[GV_T_PREFETCH] = 0;
    }
}

void gv_direct_fit_quadrupoles(gv_config *config, const gv_variant *variant, gravel_soften soften,
                               uint64_t local_memory)
{
    const size_t quads = 2 * 4 * (variant->precision == GRAVEL_DP ? sizeof(double) : sizeof(float));
    const int *value = config->value;
    int *sinks = &config->value[GV_T_SINKS_PER_ITEM], *unroll = &config->value[GV_T_UNROLL];
    *sinks = *sinks > 1 ? *sinks / 2 : 1;
    *unroll = *unroll > 8 ? 8 : *unroll;
    while (value[GV_T_TILE] > 0 &&
           gv_direct_local_bytes(config, variant, soften) +
                   (size_t)(value[GV_T_SPLIT] * value[GV_T_TILE] + value[GV_T_PREFETCH]) * quads >
               local_memory)
        gv_direct_shrink_tiles(config);
}

void gv_direct_program_options(const gv_variant *variant, gravel_soften soften, const gv_config *config, char *text,
                               size_t size)
{
    char macros[512];
    gv_space_macros(&gv_direct_space, config, macros, sizeof macros);
    snprintf(text, size,
             "-DGV_ORDER=%d -DGV_PRECISION=%d -DGV_NEAREST=%d -DGV_LISTS=%d -DGV_SOFTEN=%d -DGV_SOFTENED=%d%s",
             variant->order, (int)variant->precision, !!(variant->features & GV_DIRECT_NEAREST),
             !!(variant->features & GV_DIRECT_LISTS), (int)soften, !(variant->features & GV_DIRECT_UNSOFTENED), macros);
    add_rule(variant->features, text, size);
    if (variant->features & GV_DIRECT_DUE)
        strncat(text, " -DGV_DUE=1", size - strlen(text) - 1);
}
