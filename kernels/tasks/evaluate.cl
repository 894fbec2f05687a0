/* Forces of lists: each unit of work is a run of sinks and the entries of its list, runs of sources.
 *
 *      entries of the list, their bodies one after the other  ------------------>
 *        | tile 0                        | tile 1                        | ...
 *   row 0| sinks x first part of a tile  |                               |        one row = GV_THREADS / GV_SPLIT
 *   row 1| sinks x second part           |                               |        work-items
 *
 * A group of work-items takes one unit: rows of GV_ROW work-items with GV_SINKS_PER_ITEM sinks each, all rows the same
 * sinks; with GV_SPLIT > 1 they share each tile, so that a group is a tile of sinks x sources in two dimensions.  Tiles
 * are filled across the borders of entries, so that short leaves cost no turns that do nothing.  With GV_THREADS = 1 a
 * work-item takes a unit alone, GV_LANES x GV_SINKS_PER_ITEM sinks at a time, straight from global memory.
 *
 * A source whose address lies among the unit's sinks may be one of them: only tiles that have such go through the loop
 * that compares addresses.  A shifted source is another body.
 *
 *   GV_SHAPE, GV_SHORT_RANGE  shape/shape.h, shape/short_range.h
 *   GV_SOFTENED   0: eps is zero, and bodies at one place contribute nothing
 *   GV_POTENTIAL  0: accelerations only
 *   GV_SHIFTS     1: entries have shifts, of which number 0 is none
 *   GV_CELLS      1: lists have cells too, with mass and quadrupole Q = sum m (3 x x - x^2), for the whole force
 *
 * Tunables            unit                typical
 *   GV_THREADS        work-items a group  32 ... 256 (GPU), 1 (CPU)
 *   GV_SPLIT          rows a group        1 ... 16
 *   GV_SINKS_PER_ITEM vectors             1 ... 4
 *   GV_TILE           sources a group     64 ... 512
 *   GV_UNROLL         sources             1 ... 8
 *   GV_SKIP           pairs beyond the cut: 0 have no mass, 1 are left out before the factors, 2 before the sums
 *   GV_LANES, GV_RSQRT                    lib/real.h, lib/rsqrt.h
 *   GV_FORM, GV_LEVEL                     shape/short_form.h
 */
#include "lib/real.h"
#include "lib/rsqrt.h"
#include "lib/group.h"

#include "shape/shape.h"
#include "shape/short_range.h"

#include "tasks/layout.h"

#if GV_CELLS && GV_SHORT_RANGE
#error "cells have the whole force only"
#endif
#if !defined(GV_SHORT_RANGE) || !defined(GV_SOFTENED) || !defined(GV_POTENTIAL) || !defined(GV_SHIFTS)
#error "GV_SHORT_RANGE, GV_SOFTENED, GV_POTENTIAL and GV_SHIFTS must be 0 or 1"
#endif
#if GV_THREADS % GV_SPLIT || (GV_SPLIT & (GV_SPLIT - 1))
#error "GV_SPLIT must be a power of two and divide GV_THREADS: every row has as many work-items"
#endif
#define GV_ROW (GV_THREADS / GV_SPLIT)
#define GV_S GV_SINKS_PER_ITEM
#define GV_ROUND (GV_SPLIT * GV_UNROLL) /* sources of a tile are filled up to whole multiples of this */
#if GV_THREADS > 1 && GV_TILE % GV_ROUND
#error "GV_SPLIT * GV_UNROLL must divide GV_TILE"
#endif
#ifndef GV_SKIP
#error "GV_SKIP must be 0, 1 or 2"
#endif
#define GV_LOW (GV_PRECISION == GV_DS)
#ifndef GV_CELLS
#define GV_CELLS 0
#endif
#define GV_COMPONENTS (3 + GV_POTENTIAL)

#include "tasks/interact.h"

typedef struct gv_item {
    gv_sink sink[GV_S];
    gv_wide total[GV_S][GV_COMPONENTS];
} gv_item;

/* Sinks at `at` + s * step + lane of unit `u`; what is beyond its last one computes as that one does, for nothing. */
__attribute__((always_inline)) static inline void gv_load_sinks(gv_item *item, const uint4 u, uint at, uint step,
                                                                global const gv_scalar4 *pos,
                                                                global const gv_scalar4 *low)
{
#pragma unroll
    for (int s = 0; s < GV_S; s++) {
        gv_sink *sink = &item->sink[s];
#if GV_LANES == 1
        const uint k = at + s * step, b = u.x + min(k, u.y - 1);
        const gv_scalar4 p = pos[b];
        sink->x = p.x, sink->y = p.y, sink->z = p.z;
#if GV_LOW
        const gv_scalar4 l = low[b];
        sink->lx = l.x, sink->ly = l.y, sink->lz = l.z;
#endif
        sink->address = k < u.y ? (int)b : -1;
#else
        gv_scalar column[6][GV_LANES];
        int address[GV_LANES];
        for (uint lane = 0; lane < GV_LANES; lane++) {
            const uint k = at + s * step + lane, b = u.x + min(k, u.y - 1);
            const gv_scalar4 p = pos[b];
            column[0][lane] = p.x, column[1][lane] = p.y, column[2][lane] = p.z;
#if GV_LOW
            const gv_scalar4 l = low[b];
            column[3][lane] = l.x, column[4][lane] = l.y, column[5][lane] = l.z;
#endif
            address[lane] = k < u.y ? (int)b : -1;
        }
        sink->x = gv_load(column[0]), sink->y = gv_load(column[1]), sink->z = gv_load(column[2]);
#if GV_LOW
        sink->lx = gv_load(column[3]), sink->ly = gv_load(column[4]), sink->lz = gv_load(column[5]);
#endif
        sink->address = gv_load(address);
#endif
#pragma unroll
        for (int c = 0; c < GV_COMPONENTS; c++)
            item->total[s][c] = gv_wide_zero();
    }
}

/* Float sums of some sources go into the wide sums. */
__attribute__((always_inline)) static inline void gv_flush(gv_item *item, gv_real sum[GV_S][GV_COMPONENTS])
{
#pragma unroll
    for (int s = 0; s < GV_S; s++)
#pragma unroll
        for (int c = 0; c < GV_COMPONENTS; c++)
            item->total[s][c] = gv_wide_flush(item->total[s][c], sum[s][c]);
}

__attribute__((always_inline)) static inline void gv_clear(gv_real sum[GV_S][GV_COMPONENTS])
{
#pragma unroll
    for (int s = 0; s < GV_S; s++)
#pragma unroll
        for (int c = 0; c < GV_COMPONENTS; c++)
            sum[s][c] = (gv_real)(0);
}

/* shift: {high words, low words} of each */
static inline gv_source gv_fetch(global const gv_scalar4 *pos, global const gv_scalar4 *low, uint j,
                                 global const gv_scalar4 *shift, uint which)
{
    gv_source source;
    source.pos = pos[j];
#if GV_LOW
    source.low = low[j];
#endif
#if GV_SHIFTS
    const gv_scalar4 by = shift[2 * which], at = source.pos;
    source.pos = (gv_scalar4)(at.xyz + by.xyz, at.w);
#if GV_LOW
    const gv_scalar4 part = source.pos - at;
    const gv_scalar4 rest = (at - (source.pos - part)) + (by - part);
    source.low = (gv_scalar4)(source.low.xyz + (rest.xyz + shift[2 * which + 1].xyz), 0);
#endif
#endif
    return source;
}

__attribute__((always_inline)) static inline void gv_put(const gv_item *item, int s, const uint4 u, uint k,
                                                         global gv_scalar4 *result)
{
    const uint vectors = GV_TASKS_VECTORS(GV_LOW);
#if GV_LANES == 1
    const gv_wide *w = item->total[s];
    gv_scalar4 high = (gv_scalar4)(gv_wide_high(w[0]), gv_wide_high(w[1]), gv_wide_high(w[2]), 0);
#if GV_POTENTIAL
    high.w = gv_wide_high(w[3]);
#endif
#if GV_WIDE_WORDS == 2
    gv_scalar4 low = (gv_scalar4)(w[0].lo, w[1].lo, w[2].lo, 0);
#if GV_POTENTIAL
    low.w = w[3].lo;
#endif
#endif
    if (k < u.y) {
        global gv_scalar4 *to = result + vectors * (size_t)(u.w + k);
#if GV_LOW
        to[0] = high;
        to[1] = low;
#elif GV_WIDE_WORDS == 2
        to[0] = high + low;
#else
        to[0] = high;
#endif
    }
#else
    gv_scalar column[GV_COMPONENTS * GV_WIDE_WORDS][GV_LANES];
    for (int c = 0; c < GV_COMPONENTS; c++) {
        gv_store(gv_wide_high(item->total[s][c]), column[c]);
#if GV_WIDE_WORDS == 2
        gv_store(item->total[s][c].lo, column[GV_COMPONENTS + c]);
#endif
    }
    for (uint lane = 0; lane < GV_LANES && k + lane < u.y; lane++) {
        global gv_scalar *to = (global gv_scalar *)(result + vectors * (size_t)(u.w + k + lane));
        for (int c = 0; c < GV_COMPONENTS; c++) {
#if GV_LOW
            to[c] = column[c][lane];
            to[4 + c] = column[GV_COMPONENTS + c][lane];
#elif GV_WIDE_WORDS == 2
            to[c] = column[c][lane] + column[GV_COMPONENTS + c][lane];
#else
            to[c] = column[c][lane];
#endif
        }
    }
#endif
}

#if GV_THREADS == 1
/* Sources first ... first + count - 1 on the sinks of the item. */
__attribute__((always_inline)) static inline void gv_stretch(gv_item *item, global const gv_scalar4 *pos,
                                                             global const gv_scalar4 *low, uint first, uint count,
                                                             global const gv_scalar4 *shift, uint which,
                                                             const int masked, const gv_law law)
{
    for (uint done = 0; done < count; done += GV_TASKS_FLUSH) {
        const uint end = first + min(done + GV_TASKS_FLUSH, count);
        gv_real sum[GV_S][GV_COMPONENTS];
        gv_clear(sum);
#pragma unroll GV_UNROLL
        for (uint j = first + done; j < end; j++) {
            const gv_source source = gv_fetch(pos, low, j, shift, which);
#pragma unroll
            for (int s = 0; s < GV_S; s++)
                gv_pull(sum[s], item->sink[s], source, (int)j, masked, law);
        }
        gv_flush(item, sum);
    }
}
#else
/* Sources first ... first + count - 1 of the tile, whole turns. */
__attribute__((always_inline)) static inline void gv_stretch(gv_item *item, local const gv_scalar4 *tile,
                                                             local const gv_scalar4 *tile_low,
                                                             local const int *tile_address, uint first, uint count,
                                                             const int masked, const gv_law law)
{
    gv_real sum[GV_S][GV_COMPONENTS];
    gv_clear(sum);
#pragma unroll 1
    for (uint k = first; k < first + count; k += GV_UNROLL)
#pragma unroll
        for (uint n = 0; n < GV_UNROLL; n++) {
            gv_source source;
            source.pos = tile[k + n];
#if GV_LOW
            source.low = tile_low[k + n];
#endif
            const int address = masked ? tile_address[k + n] : 0;
#pragma unroll
            for (int s = 0; s < GV_S; s++)
                gv_pull(sum[s], item->sink[s], source, address, masked, law);
        }
    gv_flush(item, sum);
}
#endif

#if GV_SPLIT > 1
/* Rows are added by halves, always in the same order; row 0 has the sum.  `words`: a wide result a work-item. */
__attribute__((always_inline)) static inline void gv_join_rows(gv_wide *total, local gv_real *words, uint row)
{
    const uint me = get_local_id(0);
    for (uint step = GV_SPLIT / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int c = 0; c < GV_COMPONENTS; c++)
            gv_wide_put(total[c], words + c * GV_WIDE_WORDS * GV_THREADS, me, GV_THREADS);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (row < step) {
#pragma unroll
            for (int c = 0; c < GV_COMPONENTS; c++)
                total[c] = gv_wide_sum(
                    total[c], gv_wide_get(words + c * GV_WIDE_WORDS * GV_THREADS, me + step * GV_ROW, GV_THREADS));
        }
    }
}
#endif

/* unit[first_unit + number of the group]: {first sink, sinks, whose list, place of the first result}.
 * List z has entries begin[z] to begin[z + 1] - 1: {first source, sources}, and cells cell_begin[z] to
 * cell_begin[z + 1] - 1 of `which_cell`, numbers of cells.
 * result: GV_TASKS_VECTORS vectors a sink. */
__attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) kernel void
gv_tasks_evaluate(global const gv_scalar4 *restrict pos, global const gv_scalar4 *restrict low,
                  global const uint4 *restrict unit, uint first_unit, global const uint *restrict begin,
                  global const uint2 *restrict entry, global const uchar *restrict entry_shift,
                  global const gv_scalar4 *restrict shift, gv_scalar soft, gv_scalar rate, gv_scalar cut2,
#if GV_FORM == GV_FORM_TABLE && GV_SHORT_RANGE
                  global const gv_node *restrict table,
#endif
#if GV_CELLS
                  global const uint *restrict cell_begin, global const uint *restrict which_cell,
                  global const gv_scalar4 *restrict cell,
#endif
                  global gv_scalar4 *restrict result)
{
    const uint4 u = unit[first_unit + get_group_id(0)];
    const uint from = begin[u.z], to = begin[u.z + 1];
    gv_law law = {soft, rate, cut2};
    gv_item item;
#if GV_FORM == GV_FORM_TABLE && GV_SHORT_RANGE
    local gv_node nodes[GV_NODES];
    for (uint k = get_local_id(0); k < GV_NODES; k += GV_THREADS)
        nodes[k] = table[k];
    law.nodes = nodes;
#endif
#if GV_THREADS == 1
    for (uint at = 0; at < u.y; at += GV_S * GV_LANES) {
        gv_load_sinks(&item, u, at, GV_LANES, pos, low);
        for (uint e = from; e < to; e++) {
            const uint2 run = entry[e];
            const uint which = GV_SHIFTS ? entry_shift[e] : 0;
            const int may_meet = run.x < u.x + u.y && u.x < run.x + run.y && (!GV_SHIFTS || which == 0);
            if (may_meet)
                gv_stretch(&item, pos, low, run.x, run.y, shift, which, 1, law);
            else
                gv_stretch(&item, pos, low, run.x, run.y, shift, which, 0, law);
        }
#if GV_CELLS
        for (uint first = cell_begin[u.z], end = cell_begin[u.z + 1]; first < end; first += GV_TASKS_FLUSH) {
            gv_real sum[GV_S][GV_COMPONENTS];
            gv_clear(sum);
            for (uint k = first; k < min(first + GV_TASKS_FLUSH, end); k++) {
                global const gv_scalar4 *c = cell + GV_TASKS_CELL * (size_t)which_cell[k];
#pragma unroll
                for (int s = 0; s < GV_S; s++)
                    gv_pull_cell(sum[s], item.sink[s], c[0], c[1], c[2], c[3], law);
            }
            gv_flush(&item, sum);
        }
#endif
#pragma unroll
        for (int s = 0; s < GV_S; s++)
            gv_put(&item, s, u, at + s * GV_LANES, result);
    }
#else
    const uint me = get_local_id(0), lane_item = me % GV_ROW, row = me / GV_ROW;
    local gv_scalar4 tile[GV_TILE];
#if GV_LOW
    local gv_scalar4 tile_low[GV_TILE];
#else
    local gv_scalar4 *const tile_low = tile;
#endif
    local int tile_address[GV_TILE];
    local uint base[GV_THREADS], stop[GV_THREADS], scratch[GV_SCAN_WORDS], flagged;
#if GV_SHIFTS
    local uchar shifted[GV_THREADS];
#endif
#if GV_SPLIT > 1
    local gv_real words[GV_COMPONENTS * GV_WIDE_WORDS * GV_THREADS];
#endif
    gv_load_sinks(&item, u, lane_item, GV_ROW, pos, low);
    if (me == 0)
        flagged = 0;
    uint turn = 0; /* number of tiles so far; the last one that may hold a sink is `flagged` */
    for (uint first = from; first < to; first += GV_THREADS) {
        /* as many entries as there are work-items: where the bodies of each end, counted over all */
        const uint2 mine = first + me < to ? entry[first + me] : (uint2)(0, 0);
        uint sources;
        const uint before = gv_group_scan(mine.y, scratch, &sources);
        base[me] = mine.x - before;
        stop[me] = before + mine.y;
#if GV_SHIFTS
        shifted[me] = first + me < to ? entry_shift[first + me] : 0;
#endif
        gv_group_sync();
        uint e = 0;
        for (uint done = 0; done < sources; done += GV_TILE) {
            const uint here = min(sources - done, (uint)GV_TILE);
            const uint whole = (here + GV_ROUND - 1) / GV_ROUND * GV_ROUND;
            turn++;
            for (uint k = me; k < whole; k += GV_THREADS) {
                gv_source source;
                int address = -2; /* no sink */
                if (k < here) {
                    while (done + k >= stop[e])
                        e++;
                    const uint j = base[e] + done + k;
#if GV_SHIFTS
                    const uint which = shifted[e];
#else
                    const uint which = 0;
#endif
                    source = gv_fetch(pos, low, j, shift, which);
                    if (which == 0 && j - u.x < u.y) {
                        address = (int)j;
                        flagged = turn;
                    }
                } else {
                    source.pos = (gv_scalar4)(0);
#if GV_LOW
                    source.low = (gv_scalar4)(0);
#endif
                }
                tile[k] = source.pos;
#if GV_LOW
                tile_low[k] = source.low;
#endif
                tile_address[k] = address;
            }
            gv_group_sync();
            const uint part = whole / GV_SPLIT;
            if (flagged == turn)
                gv_stretch(&item, tile, tile_low, tile_address, row * part, part, 1, law);
            else
                gv_stretch(&item, tile, tile_low, tile_address, row * part, part, 0, law);
            gv_group_sync();
        }
    }
#if GV_CELLS
    /* as many cells as the tile has room for */
    const uint most = GV_TILE / GV_TASKS_CELL;
    for (uint first = cell_begin[u.z], end = cell_begin[u.z + 1]; first < end; first += most) {
        const uint here = min(end - first, most);
        gv_real sum[GV_S][GV_COMPONENTS];
        for (uint k = me; k < here * GV_TASKS_CELL; k += GV_THREADS)
            tile[k] = cell[GV_TASKS_CELL * (size_t)which_cell[first + k / GV_TASKS_CELL] + k % GV_TASKS_CELL];
        gv_group_sync();
        gv_clear(sum);
        for (uint k = row; k < here; k += GV_SPLIT) {
            local const gv_scalar4 *c = tile + GV_TASKS_CELL * k;
#pragma unroll
            for (int s = 0; s < GV_S; s++)
                gv_pull_cell(sum[s], item.sink[s], c[0], c[1], c[2], c[3], law);
        }
        gv_flush(&item, sum);
        gv_group_sync();
    }
#endif
#pragma unroll
    for (int s = 0; s < GV_S; s++) {
#if GV_SPLIT > 1
        gv_join_rows(item.total[s], words, row);
#endif
        if (row == 0)
            gv_put(&item, s, u, lane_item + s * GV_ROW, result);
    }
#endif
}
