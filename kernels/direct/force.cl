/* Direct summation: forces of `n_sources` sources on `n_sinks` sinks.
 *
 *               sources  ------------------------------------>
 *        sinks  | part 0 (row 0) | part 1 (row 1) | part 2 ...      a part is a run of whole tiles
 *          |    +----------------+----------------+
 *          |    |   group (0,0): GV_SPLIT rows    |  group (0,1)    one row = GV_THREADS / GV_SPLIT work-items
 *          v    +----------------+----------------+
 *
 * A work-item holds GV_SINKS_PER_ITEM x GV_LANES sinks in registers and walks through its row's part: tile by tile
 * through local memory (GV_TILE sources a row at once), or straight from global memory (GV_TILE = 0).  Float sums run
 * over a stretch of sources (direct/layout.h) and then go into wide sums.  Rows are added in order in local memory;
 * groups along the sources write partial results, which reduce.cl adds in order.
 *
 * Sources go through the masked loop, which compares ids, only where one of the sinks may be among them (meet.h).
 *
 * Neighbours (GV_NEAREST, GV_LISTS): per sink one comparison of the distance with a threshold, the larger of the list
 * radius and the nearest distance so far, and a second pass over each run of GV_UNROLL sources in which any was below.
 * Or (GV_KEEP; no lists): the least distance of each run, and a second pass over the run with the least of all.
 *
 * Lists by another rule (search.h) are decided once a pair, since whether a source pulls may hang on it, and written
 * from the bits of a run.
 *
 * Tunables            unit                typical
 *   GV_THREADS        work-items a group  128 (GPU), 1 (CPU)
 *   GV_SPLIT          rows a group        1 ... 32
 *   GV_SINKS_PER_ITEM vectors             1 ... 4
 *   GV_TILE           sources a row       64 ... 512, 0 = none
 *   GV_UNROLL         sources             1 ... 16
 *   GV_LANES          sinks a vector      1 (GPU), 8, 16 (CPU)
 *   GV_RSQRT          see lib/rsqrt.h
 *   GV_KEEP           kind                0, 1
 *   GV_MEET           kind                0 (all sinks), 1 (few of them)
 *   GV_PREFETCH       sources             0, 1 (read from the tile while the one before acts)
 *
 * GV_DUE              1: only the device knows how many sinks there are, and how the sources are cut (direct/cut.h)
 */
#include "lib/real.h"
#include "lib/rsqrt.h"

#ifndef GV_NEAREST
#error "GV_NEAREST must be 0 or 1"
#endif
#ifndef GV_LISTS
#error "GV_LISTS must be 0 or 1"
#endif
#ifndef GV_SOFTEN
#error "GV_SOFTEN must be one of GV_SOFTEN_... (direct/layout.h): whose softening counts"
#endif
#if GV_THREADS % GV_SPLIT || (GV_SPLIT & (GV_SPLIT - 1))
#error "GV_SPLIT must be a power of two and divide GV_THREADS: every row has as many work-items"
#endif
#define GV_ROW (GV_THREADS / GV_SPLIT)
#define GV_SEARCH (GV_NEAREST || GV_LISTS)

#include "direct/layout.h"

#include "direct/cut.h"

#include "direct/rule.h"

/* what most programs do not ask for: a shape other than Plummer's, quadrupoles of sources (direct/interact.h) */
#include "shape/layout.h"
#ifndef GV_SHAPE
#define GV_SHAPE GV_SHAPE_PLUMMER
#endif
#ifndef GV_QUADRUPOLE
#define GV_QUADRUPOLE 0
#endif
#if GV_SHAPE == GV_SHAPE_PLUMMER
#define GV_CUTOFF_PARAMETER
#define GV_CUTOFF_OF(item)
#else
#define GV_CUTOFF_PARAMETER , const gv_cutoff cutoff
#define GV_CUTOFF_OF(item) , (item)->cutoff
#include "shape/shape.h"
#endif

#include "direct/interact.h"
#include "direct/result.h"
#include "direct/view.h"

#include "direct/search.h"

#include "direct/meet.h"

#if GV_DIRECT_STRETCH % GV_UNROLL || GV_TILE % GV_DIRECT_STRETCH
#error "GV_UNROLL must divide GV_DIRECT_STRETCH, and GV_DIRECT_STRETCH must divide GV_TILE"
#endif
#if GV_PREFETCH && GV_TILE == 0
#error "GV_PREFETCH needs a tile: behind the last source there is none in global memory"
#endif
#define GV_S GV_SINKS_PER_ITEM
#define GV_SINK_STEP (GV_ROW * GV_LANES) /* from one vector of an item to its next */
#define GV_LOW (GV_PRECISION == GV_DS)
/* The seed from bits takes a dozen dependent operations: where vectors of sinks are kept in registers, those of all
 * sources of a run come first, so that they overlap, and the separations are computed a second time. */
#define GV_ROOTS_FIRST (GV_RSQRT == 3 && GV_LANES > 1 && GV_UNROLL > 1 && GV_SHAPE == GV_SHAPE_PLUMMER)
#define GV_TILE_PLACES GV_DIRECT_TILE_PLACES(GV_TILE, GV_ROW)
#define GV_TILES (GV_SPLIT * GV_TILE_PLACES) /* places in the tiles of all rows */
/* Sources of one turn of the masked loop.  Where few stretches go through it, a GPU's other groups wait for those. */
#define GV_MASKED_RUN (!GV_MEET || GV_LANES > 1 ? 1 : GV_UNROLL < 4 ? GV_UNROLL : 4)

/* What one work-item carries through its part. */
typedef struct gv_item {
    gv_sink sink[GV_S];
    gv_int id[GV_S];
    gv_wide total[GV_S][GV_COMPONENTS];
#if GV_PREFETCH
    gv_source next;
#endif
#if GV_SHAPE != GV_SHAPE_PLUMMER
    gv_cutoff cutoff;
#endif
#if GV_SEARCH
    gv_found found[GV_S];
    global uint *list[GV_S]; /* in this part, of the first sink of each vector */
    uint list_stride;        /* from one sink to the next */
    uint capacity;
#endif
#if GV_KEEP_RUN
    gv_places places;
#endif
#if GV_DUE
    uint block;
#endif
} gv_item;

/* Sources first ... first + GV_UNROLL - 1 (or `count` of them, when masked) of the view on all sinks of the item.
 * open: whether gv_settle has something to decide.
 * Always inlined: only then is `count` a constant and the loop unrolled. */
__attribute__((always_inline)) static inline void gv_run(gv_item *item, gv_real sum[GV_S][GV_COMPONENTS],
                                                         const gv_view view, uint first, const uint count,
                                                         const int masked, uint address, gv_mask *open, gv_scalar eps2)
{
#if GV_LOOK
    gv_mask hit[GV_S];
#pragma unroll
    for (int s = 0; s < GV_S; s++)
        hit[s] = (gv_mask)(0);
#endif
#if GV_KEEP_RUN
    gv_real least[GV_S];
#pragma unroll
    for (int s = 0; s < GV_S; s++)
        least[s] = (gv_real)(GV_HUGE);
#endif
#if GV_BY_RULE
    gv_int inside[GV_S]; /* bit k: source first + k is a neighbour */
#pragma unroll
    for (int s = 0; s < GV_S; s++)
        inside[s] = (gv_int)(0);
#endif
#if GV_ROOTS_FIRST
    gv_real root[GV_UNROLL][GV_S];
#pragma unroll
    for (uint k = 0; k < count; k++) {
        const gv_source j = gv_fetch(view, first + k);
#pragma unroll
        for (int s = 0; s < GV_S; s++)
            root[k][s] = gv_softened(item->sink[s], j, gv_separate(item->sink[s], j, eps2), eps2);
    }
#pragma unroll
    for (uint k = 0; k < count; k++)
#pragma unroll
        for (int s = 0; s < GV_S; s++)
            root[k][s] = gv_root(root[k][s]);
#endif
#pragma unroll
    for (uint k = 0; k < count; k++) {
#if GV_PREFETCH
        gv_source j;
        if (masked)
            j = gv_fetch(view, first + k);
        else {
            j = item->next;
            item->next = gv_fetch_early(view, first + k + 1);
        }
#else
        gv_source j = gv_fetch(view, first + k);
#endif
        int id = masked ? view.id[first + k] : 0;
        /* separations of all sinks, then roots, then sums: a GPU's compiler that gets pair after pair reuses fewer
         * operands (doc/numbers.md) */
        gv_separation d[GV_S];
        gv_real mass[GV_S], s2[GV_S], rinv[GV_S];
#pragma unroll
        for (int s = 0; s < GV_S; s++) {
            d[s] = gv_separate(item->sink[s], j, eps2);
            mass[s] = (gv_real)(j.pos.w);
            if (masked)
                mass[s] = gv_select(gv_same(item->id[s], id), (gv_real)(0), mass[s]);
#if GV_LOOK
            hit[s] |= d[s].r2 <= item->found[s].threshold;
#elif GV_KEEP_RUN
            least[s] =
                gv_least(masked ? gv_select(gv_same(item->id[s], id), (gv_real)(GV_HUGE), d[s].r2) : d[s].r2, least[s]);
#endif
#if GV_BY_RULE
            gv_mask near = gv_near(&item->found[s], item->sink[s], j, d[s]);
            if (masked && GV_RULE == GV_RULE_OTHERS)
                near = near & !gv_same(item->id[s], id);
            inside[s] |= gv_bit(near, k);
            if (GV_LEAVE_OUT)
                mass[s] = gv_select(near, (gv_real)(0), mass[s]);
#endif
        }
#pragma unroll
        for (int s = 0; s < GV_S; s++) {
            s2[s] = gv_softened(item->sink[s], j, d[s], eps2);
#if GV_SHAPE != GV_SHAPE_PLUMMER
            rinv[s] = 0;
#elif GV_ROOTS_FIRST
            rinv[s] = root[k][s];
#else
            rinv[s] = gv_root(s2[s]);
#endif
        }
#pragma unroll
        for (int s = 0; s < GV_S; s++)
            gv_interact(sum[s], item->sink[s], j, mass[s], d[s], s2[s], rinv[s] GV_CUTOFF_OF(item));
    }
#if GV_BY_RULE
#pragma unroll
    for (int s = 0; s < GV_S; s++)
        if (gv_any(inside[s] != (gv_int)(0)))
            gv_note(&item->found[s], inside[s], count, address + first, item->list[s], item->list_stride,
                    item->capacity);
#endif
#if GV_LOOK
    gv_mask hits = hit[0];
#pragma unroll
    for (int s = 1; s < GV_S; s++)
        hits |= hit[s];
    /* hits are rare: one branch for many vectors of sinks, one each for two */
    if (GV_S <= 2 || gv_any(hits))
#pragma unroll
        for (int s = 0; s < GV_S; s++)
            if (gv_any(hit[s]))
                gv_look(&item->found[s], item->sink[s], item->id[s], view, first, count, address, item->list[s],
                        item->list_stride, item->capacity, eps2);
#endif
#if GV_KEEP_RUN
#pragma unroll
    for (int s = 0; s < GV_S; s++)
        *open |= gv_keep(&item->found[s], least[s], address + first);
#endif
}

/* A stretch: `count` sources of the view, beginning at `first`; the view's first source has this address.
 * Masked: all of them where ids may meet, else those that GV_UNROLL leaves over. */
static inline void gv_stretch(gv_item *item, const gv_view view, uint first, uint count, int may_meet, uint address,
                              gv_scalar eps2)
{
    const uint end = first + count;
    const uint whole = may_meet ? first : first + count / GV_UNROLL * GV_UNROLL;
    gv_mask open = (gv_mask)(0);
    gv_real sum[GV_S][GV_COMPONENTS];
#pragma unroll
    for (int s = 0; s < GV_S; s++)
#pragma unroll
        for (int c = 0; c < GV_COMPONENTS; c++)
            sum[s][c] = gv_wide_rest(item->total[s][c]);
#if GV_PREFETCH /* the last turn reads one source too many, which a tile has room for */
    item->next = gv_fetch_early(view, first);
#endif
#pragma unroll 1
    for (uint k = first; k < whole; k += GV_UNROLL)
        gv_run(item, sum, view, k, GV_UNROLL, 0, address, &open, eps2);
    uint rest = whole;
#if GV_MASKED_RUN > 1
#pragma unroll 1
    for (; rest + GV_MASKED_RUN <= end; rest += GV_MASKED_RUN)
        gv_run(item, sum, view, rest, GV_MASKED_RUN, 1, address, &open, eps2);
#endif
#pragma unroll 1
    for (; rest < end; rest++)
        gv_run(item, sum, view, rest, 1, 1, address, &open, eps2);
#pragma unroll
    for (int s = 0; s < GV_S; s++)
#pragma unroll
        for (int c = 0; c < GV_COMPONENTS; c++)
            item->total[s][c] = gv_wide_go_on(item->total[s][c], sum[s][c]);
#if GV_KEEP_RUN && GV_SOFT_LOOK
    if (gv_any(open))
#pragma unroll
        for (int s = 0; s < GV_S; s++)
            gv_settle(&item->found[s], item->sink[s], item->id[s], item->places, address + first, count);
#endif
}

/* Sinks first_sink ... of the item from their planes (direct/layout.h), sums at zero.  `list`: where the part's lists
 * begin. */
__attribute__((always_inline)) static inline gv_ids gv_load_item(gv_item *item, global const gv_scalar *sinks,
                                                                 uint first_sink, uint stride, global uint *list,
                                                                 uint capacity, gv_scalar eps2)
{
    gv_int low = (gv_int)(INT_MAX), high = (gv_int)(INT_MIN);
#pragma unroll
    for (int s = 0; s < GV_S; s++) {
        const uint i = first_sink + s * GV_SINK_STEP;
        global const gv_scalar *p = sinks + i;
        item->sink[s] = gv_load_sink(p, stride);
#if GV_LISTS
        const gv_real radius2 = gv_load(p + GV_SINK_RADIUS(GV_ORDER, GV_LOW) * stride);
#elif GV_SEARCH
        const gv_real radius2 = (gv_real)(0);
#endif
#if GV_AHEAD
        item->found[s].ahead = gv_load(p + GV_SINK_AHEAD(GV_ORDER, GV_LOW) * stride);
#endif
        p += GV_SINK_ID(GV_ORDER, GV_LOW, GV_LIST_PLANES, GV_SOFTEN_OF_SINKS(GV_SOFTEN)) * stride - i;
        item->id[s] = gv_load((global const int *)p + i);
        low = min(low, select(item->id[s], (gv_int)(INT_MAX), item->id[s] == (gv_int)(-1)));
        high = max(high, select(item->id[s], (gv_int)(INT_MIN), item->id[s] == (gv_int)(-1)));
#pragma unroll
        for (int c = 0; c < GV_COMPONENTS; c++)
            item->total[s][c] = gv_wide_zero();
#if GV_SEARCH
        gv_found_begin(&item->found[s], radius2, eps2);
        item->list[s] = list + (size_t)i * capacity;
#endif
    }
#if GV_SEARCH
    item->list_stride = item->capacity = capacity;
#endif
    return (gv_ids){gv_lowest(low), gv_highest(high)};
}

#include "direct/join.h"

/* partial: per group along the sources GV_RESULT_PLANES planes (direct/result.h)
 * neighbour_count: per part a plane;  lists: per part and sink `capacity` addresses
 *
 * The loop over the sources is in the kernel itself: with the loads of a tile, or the whole loop, as functions of
 * their own (all inlined) one compiler allocated registers so that order 6 ran 8 to 11 % slower, and with further
 * arguments before the last ones 8 %. */
#define GV_TILE_OF(p) local gv_scalar4 tile_##p[GV_TILES + GV_PREFETCH];
#define GV_LOAD(p) tile_##p[at + k] = p[j];
#define GV_VIEW_TILE(p) view.p = tile_##p + at;
#define GV_VIEW_GLOBAL(p) view.p = p;
__attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) kernel void gv_force(
    global const gv_scalar4 *restrict pos, global const gv_scalar4 *restrict lo, global const gv_scalar4 *restrict vel,
    global const gv_scalar4 *restrict acc, global const int *restrict id, global const gv_scalar *restrict sinks,
    global gv_scalar *restrict partial, global uint *restrict neighbour_count, global uint *restrict lists,
    uint capacity, uint n_sources, uint part_sources, uint stride, gv_scalar eps2 GV_CUT_ARGS
#if GV_SOFTEN_OF_SOURCES(GV_SOFTEN)
    ,
    global const gv_scalar *restrict softening
#endif
#if GV_QUADRUPOLE
    ,
    global const gv_scalar4 *restrict qa, global const gv_scalar4 *restrict qb
#endif
#if GV_SHAPE != GV_SHAPE_PLUMMER
    ,
    gv_scalar per_length, gv_scalar most2, gv_scalar per_interval, uint last, global const gv_scalar4 *restrict records
#endif
)
{
    GV_ALIGN_STACK
#if GV_DUE
    const gv_cut cut = gv_find_cut(head, cuts, above, most, GV_ROW * GV_S * GV_LANES);
    if (get_group_id(0) >= cut.groups * cut.blocks)
        return;
    part_sources = cut.part_sources;
#endif
    const uint me = get_local_id(0);
    const uint lane_item = me % GV_ROW;
    const uint row = me / GV_ROW;
    const uint part = GV_BLOCK * GV_SPLIT + row;
    const uint first_sink = (GV_SINK_GROUP * GV_S * GV_ROW + lane_item) * GV_LANES;
    const uint begin = min(part * part_sources, n_sources);
    const uint end = min(begin + part_sources, n_sources);
    /* with GV_MEET short stretches are flagged */
    const uint stretch = GV_MEET || part_sources < GV_DIRECT_LONG_PART ? GV_DIRECT_STRETCH : GV_DIRECT_LONG_STRETCH;
#if GV_TILE > 0
    GV_PLANES(GV_TILE_OF)
#if GV_SOFTEN_OF_SOURCES(GV_SOFTEN)
    local gv_scalar tile_softening[GV_TILES + GV_PREFETCH];
#endif
    local int tile_id[GV_TILES];
    local int id_range[2];
    local uint flagged[GV_FLAGS]; /* of each row or stretch the last tile in which a sink may be, + 1 */
#if GV_MEET
    local uint names[GV_NAME_WORDS];
#else
    local uint *names = 0;
#endif
#endif
    gv_view view;
    gv_item item;
#if GV_DUE
    item.block = GV_BLOCK;
#endif
#if GV_SHAPE != GV_SHAPE_PLUMMER
    item.cutoff = (gv_cutoff){per_length, most2, per_interval, last, records};
#endif
#if GV_KEEP_RUN
    item.places.pos = pos;
#if GV_PRECISION == GV_DS
    item.places.lo = lo;
#endif
    item.places.id = id;
    item.places.n = n_sources;
#endif
    const gv_ids mine =
        gv_load_item(&item, sinks, first_sink, stride, lists + (size_t)part * stride * capacity, capacity, eps2);

#if GV_TILE > 0
    const gv_ids ids = gv_join_ids(mine, item.id, id_range, names, flagged, row);
    /* every row takes as many turns as the longest part, for the barriers */
    for (uint done = 0; done < part_sources; done += GV_TILE) {
        const uint here = begin + done < end ? min(end - begin - done, (uint)GV_TILE) : 0;
        const uint at = row * GV_TILE_PLACES;
        const uint stretch_at = GV_FLAG_ROW * (GV_TILE / GV_DIRECT_STRETCH); /* in `flagged`, with GV_MEET */
        /* loads are unconditional, so that several are in flight; what is loaded from behind the part is not used */
#if GV_MEET
        int some_within = 0;
#endif
#pragma unroll 4
        for (uint turn = 0; turn < (GV_TILE + GV_ROW - 1) / GV_ROW; turn++) {
            const uint k = lane_item + turn * GV_ROW;
            const uint j = min(begin + done + k, n_sources - 1);
            if (GV_TILE % GV_ROW && k >= GV_TILE)
                break;
            const int source_id = id[j];
            GV_PLANES(GV_LOAD)
#if GV_SOFTEN_OF_SOURCES(GV_SOFTEN)
            tile_softening[at + k] = softening[j];
#endif
            tile_id[at + k] = source_id;
#if GV_MEET
            some_within |= k < here && gv_is_within(source_id, ids);
#else
            if (k < here && gv_is_within(source_id, ids))
                flagged[GV_FLAG_ROW] = done + 1;
#endif
        }
#if GV_MEET
        /* behind all loads: a branch between them would wait for each; several look-ups are in flight */
        if (some_within) {
#pragma unroll 4
            for (uint turn = 0; turn < (GV_TILE + GV_ROW - 1) / GV_ROW; turn++) {
                const uint k = lane_item + turn * GV_ROW;
                if ((GV_TILE % GV_ROW == 0 || k < GV_TILE) && gv_may_be_sink(names, tile_id[at + k]) && k < here)
                    flagged[stretch_at + k / GV_DIRECT_STRETCH] = done + 1;
            }
        }
#endif
        gv_row_sync();
        GV_PLANES(GV_VIEW_TILE)
#if GV_SOFTEN_OF_SOURCES(GV_SOFTEN)
        view.softening = tile_softening + at;
#endif
        view.id = tile_id + at;
        int may_meet = flagged[GV_FLAG_ROW] == done + 1;
        for (uint k = 0; k < here; k += stretch) {
            if (GV_MEET)
                may_meet = flagged[stretch_at + k / GV_DIRECT_STRETCH] == done + 1;
            gv_stretch(&item, view, k, min(here - k, stretch), may_meet, begin + done, eps2);
        }
        gv_row_sync();
    }
#else
    GV_PLANES(GV_VIEW_GLOBAL)
#if GV_SOFTEN_OF_SOURCES(GV_SOFTEN)
    view.softening = softening;
#endif
    view.id = id;
    for (uint k = begin; k < end; k += stretch) {
        const uint count = min(end - k, stretch);
        gv_stretch(&item, view, k, count, gv_meet(item.id, mine, id + k, count), 0, eps2);
    }
#endif

#if GV_SPLIT > 1
    local gv_real words[GV_COMPONENTS * GV_WIDE_WORDS * GV_THREADS];
#if GV_NEAREST
    local gv_uint addresses[GV_THREADS];
#endif
#endif
#pragma unroll
    for (int s = 0; s < GV_S; s++) {
        const uint i = first_sink + s * GV_SINK_STEP;
#if GV_KEEP_RUN
        gv_look_at_kept(&item.found[s], item.sink[s], item.id[s], item.places);
#endif
#if GV_SPLIT > 1
        gv_join_sums(item.total[s], words, row);
#if GV_NEAREST
        gv_join_nearest(&item.found[s], words, addresses, row);
#endif
#endif
        if (row == 0)
            gv_store_sums(&item, s, i, partial, stride);
#if GV_LISTS
        gv_store(item.found[s].count, neighbour_count + (size_t)part * stride + i);
#endif
    }
}
