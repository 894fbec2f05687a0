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
 * over GV_FLUSH sources and then go into wide sums.  Rows are added in order in local memory; groups along the sources
 * write partial results, which reduce.cl adds in order.
 *
 * Self-exclusion costs nothing where it cannot happen: a stretch of sources goes through the masked loop only if one of
 * its ids lies between the smallest and the largest id of the sinks.
 *
 * Neighbours (GV_NEAREST, GV_LISTS) are looked for in two steps: per sink one comparison of the unsoftened distance
 * with a threshold, and, for each run of GV_UNROLL sources in which any was below, a second look that does the
 * bookkeeping.  The threshold is the larger of the list radius and the nearest distance so far.
 *
 * Tunables            unit                typical
 *   GV_THREADS        work-items a group  128 (GPU), 1 (CPU)
 *   GV_SPLIT          rows a group        1 ... 32
 *   GV_SINKS_PER_ITEM vectors             1 ... 4
 *   GV_TILE           sources a row       64 ... 512, 0 = none
 *   GV_UNROLL         sources             1 ... 16
 *   GV_LANES          sinks a vector      1 (GPU), 8, 16 (CPU)
 *   GV_RSQRT          see lib/rsqrt.h
 */
#include "lib/real.h"
#include "lib/rsqrt.h"

#ifndef GV_NEAREST
#error "GV_NEAREST must be 0 or 1"
#endif
#ifndef GV_LISTS
#error "GV_LISTS must be 0 or 1"
#endif
#define GV_SEARCH (GV_NEAREST || GV_LISTS)

#include "direct/interact.h"
#include "direct/result.h"

#if GV_THREADS % GV_SPLIT || (GV_SPLIT & (GV_SPLIT - 1))
#error "GV_SPLIT must be a power of two and divide GV_THREADS: every row has as many work-items"
#endif
#define GV_ROW (GV_THREADS / GV_SPLIT)
#if GV_TILE > 0
#define GV_NEAR local
#else
#define GV_NEAR global
#endif
/* sources between two flushes of the plain sums: in sp and ds the rounding error of a sum of 32 terms stays within the
 * ceilings for any number of sources, that of 128 does not where there are only a few hundred */
#define GV_FLUSH 32
#if GV_FLUSH % GV_UNROLL || GV_TILE % GV_FLUSH
#error "GV_UNROLL must divide 32, and 32 must divide GV_TILE"
#endif
#define GV_S GV_SINKS_PER_ITEM
#define GV_NO_SOURCE 0xffffffffu

/* where a stretch of sources lies */
typedef struct gv_view {
    GV_NEAR const gv_scalar4 *pos;
#if GV_PRECISION == GV_DS
    GV_NEAR const gv_scalar4 *lo;
#endif
#if GV_ORDER >= 4
    GV_NEAR const gv_scalar4 *vel;
#endif
#if GV_ORDER >= 6
    GV_NEAR const gv_scalar4 *acc;
#endif
    GV_NEAR const int *id;
} gv_view;

static inline gv_source gv_fetch(const gv_view v, uint j)
{
    gv_source s;
    s.pos = v.pos[j];
#if GV_PRECISION == GV_DS
    s.lo = v.lo[j];
#endif
#if GV_ORDER >= 4
    s.vel = v.vel[j];
#endif
#if GV_ORDER >= 6
    s.acc = v.acc[j];
#endif
    return s;
}

/* a match of ids, as a mask for gv_real; id -1 matches nothing */
static inline gv_mask gv_same(gv_int sink_id, int source_id)
{
#if GV_LANES == 1
    return (sink_id == source_id) & (sink_id != -1);
#else
    return gv_widen((sink_id == (gv_int)(source_id)) & (sink_id != (gv_int)(-1)));
#endif
}

#if GV_SEARCH
typedef struct gv_found {
    gv_real threshold;
#if GV_NEAREST
    gv_real r2;
    gv_uint nearest; /* address */
#endif
#if GV_LISTS
    gv_real radius2;
    gv_uint count;
#endif
} gv_found;

/* The second look at sources first ... first + count - 1 of the view, which have addresses from `address` on. */
static void gv_look(gv_found *found, const gv_sink i, gv_int sink_id, const gv_view view, uint first, uint count,
                    uint address, global uint *list, uint list_stride, uint capacity)
{
    for (uint k = first; k < first + count; ++k) {
        gv_separation d = gv_separate(i, gv_fetch(view, k), 0);
        gv_mask self = gv_same(sink_id, view.id[k]);
#if GV_NEAREST
#if GV_LANES == 1
        int nearer = (d.r2 < found->r2) & !self;
        found->nearest = nearer ? address + k : found->nearest;
        found->r2 = nearer ? d.r2 : found->r2;
#else
        gv_mask nearer = (d.r2 < found->r2) & ~self;
        found->nearest = select(found->nearest, (gv_uint)(address + k), gv_narrow(nearer));
        found->r2 = select(found->r2, d.r2, nearer);
#endif
#endif
#if GV_LISTS
#if GV_LANES == 1
        if ((d.r2 <= found->radius2) & !self) {
            if (found->count < capacity)
                list[found->count] = address + k;
            ++found->count;
        }
#else
        gv_mask close = (d.r2 <= found->radius2) & ~self;
        if (any(close)) {
            /* lanes are sinks with lists of their own: `list` is the first one's */
            GV_MASK_SCALAR hit[GV_LANES];
            uint have[GV_LANES];
            GV_PASTE(vstore, GV_LANES)(close, 0, hit);
            GV_PASTE(vstore, GV_LANES)(found->count, 0, have);
            for (uint lane = 0; lane < GV_LANES; ++lane) {
                if (!hit[lane])
                    continue;
                if (have[lane] < capacity)
                    list[lane * list_stride + have[lane]] = address + k;
                ++have[lane];
            }
            found->count = GV_PASTE(vload, GV_LANES)(0, have);
        }
#endif
#endif
    }
#if GV_NEAREST && GV_LISTS
    found->threshold = fmax(found->radius2, found->r2);
#elif GV_NEAREST
    found->threshold = found->r2;
#endif
}
#endif

/* does one of `count` ids lie in low ... high? */
static inline int gv_ids_within(global const int *id, uint count, int low, int high)
{
    int16 within = (int16)(0);
    uint k = 0;
    for (; k + 16 <= count; k += 16) {
        const int16 v = vload16(0, id + k);
        within |= (v >= (int16)(low)) & (v <= (int16)(high));
    }
    int some = any(within);
    for (; k < count; ++k)
        some |= (id[k] >= low) & (id[k] <= high);
    return some;
}

/* What one work-item carries through its part. */
typedef struct gv_item {
    gv_sink sink[GV_S];
    gv_int id[GV_S];
    gv_wide total[GV_S][GV_COMPONENTS];
#if GV_SEARCH
    gv_found found[GV_S];
    global uint *list[GV_S]; /* in this part, of the first sink of each vector */
    uint list_stride;        /* from one sink to the next */
    uint capacity;
#endif
} gv_item;

/* Sources first ... first + GV_UNROLL - 1 (or `count` of them, when masked) of the view on all sinks of the item.
 * Always inlined: only then is `count` a constant and the loop unrolled. */
__attribute__((always_inline)) static inline void
gv_run(gv_item *item, gv_real sum[GV_S][GV_COMPONENTS], const gv_view view, uint first, const uint count,
       const int masked, uint address, gv_scalar eps2)
{
#if GV_SEARCH
    gv_mask hit[GV_S];
#pragma unroll
    for (int s = 0; s < GV_S; ++s)
        hit[s] = (gv_mask)(0);
#endif
#pragma unroll
    for (uint k = 0; k < count; ++k) {
        gv_source j = gv_fetch(view, first + k);
        int id = masked ? view.id[first + k] : 0;
#pragma unroll
        for (int s = 0; s < GV_S; ++s) {
            gv_real mass = (gv_real)(j.pos.w);
            if (masked)
                mass = gv_select(gv_same(item->id[s], id), (gv_real)(0), mass);
            gv_separation d = gv_separate(item->sink[s], j, eps2);
#if GV_SEARCH
            hit[s] |= d.r2 <= item->found[s].threshold;
#endif
            gv_interact(sum[s], item->sink[s], j, mass, d, eps2);
        }
    }
#if GV_SEARCH
#pragma unroll
    for (int s = 0; s < GV_S; ++s)
        if (gv_any(hit[s]))
            gv_look(&item->found[s], item->sink[s], item->id[s], view, first, count, address, item->list[s],
                    item->list_stride, item->capacity);
#endif
}

/* `count` <= GV_FLUSH sources of the view, beginning at `first`; the view's first source has this address.  Masked: all
 * of them where ids may meet, else those that GV_UNROLL leaves over. */
static inline void gv_stretch(gv_item *item, const gv_view view, uint first, uint count, int may_meet, uint address,
                              gv_scalar eps2)
{
    const uint end = first + count;
    const uint whole = may_meet ? first : first + count / GV_UNROLL * GV_UNROLL;
    gv_real sum[GV_S][GV_COMPONENTS];
#pragma unroll
    for (int s = 0; s < GV_S; ++s)
#pragma unroll
        for (int c = 0; c < GV_COMPONENTS; ++c)
            sum[s][c] = (gv_real)(0);
#pragma unroll 1
    for (uint k = first; k < whole; k += GV_UNROLL)
        gv_run(item, sum, view, k, GV_UNROLL, 0, address, eps2);
#pragma unroll 1
    for (uint k = whole; k < end; ++k)
        gv_run(item, sum, view, k, 1, 1, address, eps2);
#pragma unroll
    for (int s = 0; s < GV_S; ++s)
#pragma unroll
        for (int c = 0; c < GV_COMPONENTS; ++c)
            item->total[s][c] = gv_wide_flush(item->total[s][c], sum[s][c]);
}

/* sinks: planes of `stride` scalars: x y z [lx ly lz] [vx vy vz] [ax ay az] [radius^2], then a plane with the ids
 * result: per group along the sources GV_RESULT_PLANES planes (direct/result.h)
 * neighbour_count: per part a plane;  lists: per part and sink `capacity` addresses */
__attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) kernel void
gv_force(global const gv_scalar4 *restrict pos, global const gv_scalar4 *restrict lo,
         global const gv_scalar4 *restrict vel, global const gv_scalar4 *restrict acc, global const int *restrict id,
         global const gv_scalar *restrict sinks, global gv_scalar *restrict result,
         global uint *restrict neighbour_count, global uint *restrict lists, uint capacity, uint n_sources,
         uint part_sources, uint stride, gv_scalar eps2)
{
    const uint me = get_local_id(0);
    const uint lane_item = me % GV_ROW;
    const uint row = me / GV_ROW;
    const uint part = get_group_id(1) * GV_SPLIT + row;
    const uint first_sink = (get_group_id(0) * GV_S * GV_ROW + lane_item) * GV_LANES;
    const uint sink_step = GV_ROW * GV_LANES;
    const uint begin = min(part * part_sources, n_sources);
    const uint end = min(begin + part_sources, n_sources);

#if GV_TILE > 0
    local gv_scalar4 tile_pos[GV_SPLIT * GV_TILE];
#if GV_PRECISION == GV_DS
    local gv_scalar4 tile_lo[GV_SPLIT * GV_TILE];
#endif
#if GV_ORDER >= 4
    local gv_scalar4 tile_vel[GV_SPLIT * GV_TILE];
#endif
#if GV_ORDER >= 6
    local gv_scalar4 tile_acc[GV_SPLIT * GV_TILE];
#endif
    local int tile_id[GV_SPLIT * GV_TILE];
    local int id_range[2];
    local uint flagged[GV_SPLIT]; /* the last tile of the row that may hold a sink's id, + 1 */
#endif

    gv_item item;
    gv_int id_low = (gv_int)(INT_MAX), id_high = (gv_int)(INT_MIN);
#pragma unroll
    for (int s = 0; s < GV_S; ++s) {
        const uint i = first_sink + s * sink_step;
        global const gv_scalar *p = sinks + i;
        item.sink[s].x = gv_load(p);
        item.sink[s].y = gv_load(p + stride);
        item.sink[s].z = gv_load(p + 2 * stride);
        p += 3 * stride;
#if GV_PRECISION == GV_DS
        item.sink[s].lx = gv_load(p);
        item.sink[s].ly = gv_load(p + stride);
        item.sink[s].lz = gv_load(p + 2 * stride);
        p += 3 * stride;
#endif
#if GV_ORDER >= 4
        item.sink[s].vx = gv_load(p);
        item.sink[s].vy = gv_load(p + stride);
        item.sink[s].vz = gv_load(p + 2 * stride);
        p += 3 * stride;
#endif
#if GV_ORDER >= 6
        item.sink[s].ax = gv_load(p);
        item.sink[s].ay = gv_load(p + stride);
        item.sink[s].az = gv_load(p + 2 * stride);
        p += 3 * stride;
#endif
#if GV_LISTS
        const gv_real radius2 = gv_load(p);
        p += stride;
#endif
        item.id[s] = gv_load((global const int *)(p - i) + i);
        id_low = min(id_low, select(item.id[s], (gv_int)(INT_MAX), item.id[s] == (gv_int)(-1)));
        id_high = max(id_high, select(item.id[s], (gv_int)(INT_MIN), item.id[s] == (gv_int)(-1)));
#pragma unroll
        for (int c = 0; c < GV_COMPONENTS; ++c)
            item.total[s][c] = gv_wide_zero();
#if GV_SEARCH
        item.found[s].threshold = (gv_real)(GV_HUGE);
#if GV_NEAREST
        item.found[s].r2 = (gv_real)(GV_HUGE);
        item.found[s].nearest = (gv_uint)(GV_NO_SOURCE);
#endif
#if GV_LISTS
        item.found[s].radius2 = radius2;
        item.found[s].count = (gv_uint)(0);
#if !GV_NEAREST
        item.found[s].threshold = item.found[s].radius2;
#endif
#endif
        item.list[s] = lists + ((size_t)part * stride + i) * capacity;
        item.list_stride = capacity;
        item.capacity = capacity;
#endif
    }

#if GV_TILE > 0
    if (me == 0) {
        id_range[0] = INT_MAX;
        id_range[1] = INT_MIN;
    }
    if (me < GV_SPLIT)
        flagged[me] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (row == 0) { /* all rows have the same sinks */
        atomic_min(&id_range[0], gv_lowest(id_low));
        atomic_max(&id_range[1], gv_highest(id_high));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int low = id_range[0], high = id_range[1];

    /* every row takes as many turns as the longest part, for the barriers */
    for (uint done = 0; done < part_sources; done += GV_TILE) {
        const uint here = begin + done < end ? min(end - begin - done, (uint)GV_TILE) : 0;
        const uint at = row * GV_TILE;
        /* loads are not conditional, so that several are in flight: what lies behind the part is loaded in vain */
#pragma unroll 4
        for (uint turn = 0; turn < (GV_TILE + GV_ROW - 1) / GV_ROW; ++turn) {
            const uint k = lane_item + turn * GV_ROW;
            const uint j = min(begin + done + k, n_sources - 1);
            if (GV_TILE % GV_ROW && k >= GV_TILE)
                break;
            const int source_id = id[j];
            tile_pos[at + k] = pos[j];
#if GV_PRECISION == GV_DS
            tile_lo[at + k] = lo[j];
#endif
#if GV_ORDER >= 4
            tile_vel[at + k] = vel[j];
#endif
#if GV_ORDER >= 6
            tile_acc[at + k] = acc[j];
#endif
            tile_id[at + k] = source_id;
            if (k < here && source_id >= low && source_id <= high)
                flagged[row] = done + 1;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        gv_view view;
        view.pos = tile_pos + at;
#if GV_PRECISION == GV_DS
        view.lo = tile_lo + at;
#endif
#if GV_ORDER >= 4
        view.vel = tile_vel + at;
#endif
#if GV_ORDER >= 6
        view.acc = tile_acc + at;
#endif
        view.id = tile_id + at;
        const int may_meet = flagged[row] == done + 1;
        for (uint k = 0; k < here; k += GV_FLUSH)
            gv_stretch(&item, view, k, min(here - k, (uint)GV_FLUSH), may_meet, begin + done, eps2);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#else
    const int low = gv_lowest(id_low), high = gv_highest(id_high);
    gv_view view;
    view.pos = pos;
#if GV_PRECISION == GV_DS
    view.lo = lo;
#endif
#if GV_ORDER >= 4
    view.vel = vel;
#endif
#if GV_ORDER >= 6
    view.acc = acc;
#endif
    view.id = id;
    for (uint k = begin; k < end; k += GV_FLUSH) {
        const uint count = min(end - k, (uint)GV_FLUSH);
        gv_stretch(&item, view, k, count, gv_ids_within(id + k, count, low, high), 0, eps2);
    }
#endif

    /* rows are added by halves, always in the same order; row 0 writes */
#if GV_SPLIT > 1
    local gv_real rows[GV_COMPONENTS * GV_WIDE_WORDS * GV_THREADS];
#if GV_NEAREST
    local gv_uint row_nearest[GV_THREADS];
#endif
#endif
#pragma unroll
    for (int s = 0; s < GV_S; ++s) {
        const uint i = first_sink + s * sink_step;
#if GV_SPLIT > 1
        for (uint step = GV_SPLIT / 2; step > 0; step /= 2) {
#pragma unroll
            for (int c = 0; c < GV_COMPONENTS; ++c)
                gv_wide_put(item.total[s][c], rows + c * GV_WIDE_WORDS * GV_THREADS, me, GV_THREADS);
            barrier(CLK_LOCAL_MEM_FENCE);
            if (row < step) {
#pragma unroll
                for (int c = 0; c < GV_COMPONENTS; ++c)
                    item.total[s][c] = gv_wide_sum(
                        item.total[s][c],
                        gv_wide_get(rows + c * GV_WIDE_WORDS * GV_THREADS, me + step * GV_ROW, GV_THREADS));
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
#endif
        if (row == 0) {
#pragma unroll
            for (int c = 0; c < GV_COMPONENTS; ++c) {
                global gv_scalar *out = gv_result_plane(result, get_group_id(1), c * GV_WIDE_WORDS, stride) + i;
                gv_store(gv_wide_high(item.total[s][c]), out);
#if GV_WIDE_WORDS == 2
                gv_store(item.total[s][c].lo, out + stride);
#endif
            }
        }
#if GV_LISTS
        gv_store(item.found[s].count, neighbour_count + (size_t)part * stride + i);
#endif
#if GV_NEAREST
        gv_real r2 = item.found[s].r2;
        gv_uint address = item.found[s].nearest;
#if GV_SPLIT > 1
        for (uint step = GV_SPLIT / 2; step > 0; step /= 2) {
            rows[me] = r2;
            row_nearest[me] = address;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (row < step) {
                const gv_real other = rows[me + step * GV_ROW];
                const gv_uint other_address = row_nearest[me + step * GV_ROW];
                const gv_mask nearer = (other < r2) | ((other == r2) & gv_widen(other_address < address));
                address = gv_select(gv_narrow(nearer), other_address, address);
                r2 = gv_select(nearer, other, r2);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
#endif
        if (row == 0) {
            gv_store(r2, gv_result_plane(result, get_group_id(1), GV_NEAREST_R2, stride) + i);
            gv_store(address, (global uint *)gv_result_plane(result, get_group_id(1), GV_NEAREST_R2 + 1, stride) + i);
        }
#endif
    }
}
