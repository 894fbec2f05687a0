/* Forces of lists: each unit of work is a run of sinks and the entries of its list, runs of sources.
 *
 *      entries of the list, their bodies one after the other  ------------------>
 *        | tile 0                        | tile 1                        | ...
 *   row 0| sinks x sources 0, 2, 4 ...   |                               |        one row = GV_THREADS / GV_SPLIT
 *   row 1| sinks x sources 1, 3, 5 ...   |                               |        work-items
 *
 * A group of work-items takes one unit: rows of GV_ROW work-items with GV_SINKS_PER_ITEM sinks each, all rows the same
 * sinks; with GV_SPLIT > 1 they share each tile, so that a group is a tile of sinks x sources in two dimensions.  Tiles
 * are filled across the borders of entries, so that short leaves cost no turns that do nothing.  Sinks beyond those of
 * full rows (at most GV_REST) go through each tile after them, in rows as long as they need: 33 sinks are rows of 32
 * and, of the same work-items, rows of one.  With GV_THREADS = 1 a work-item takes a unit alone, GV_LANES x
 * GV_SINKS_PER_ITEM sinks at a time, straight from global memory.
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
 *   GV_REST           sinks               0: none, all sinks are in full rows
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
#ifndef GV_REST
#error "GV_REST must be 0 or the most sinks beyond full rows"
#endif
#define GV_LOW (GV_PRECISION == GV_DS)
#ifndef GV_CELLS
#define GV_CELLS 0
#endif
#if GV_CELLS /* units of requests have full rows only */
#undef GV_REST
#define GV_REST 0
#endif
#define GV_COMPONENTS (3 + GV_POTENTIAL)

#include "tasks/interact.h"
#include "tasks/items.h"

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
static inline gv_source gv_from_tile(local const gv_scalar4 *tile, local const gv_scalar4 *tile_low, uint at)
{
    gv_source source;
    source.pos = tile[at];
#if GV_LOW
    source.low = tile_low[at];
#endif
    return source;
}

/* Sources `row`, row + GV_SPLIT, ... of the tile, whole turns: rows of a warp read neighbours, which lie in different
 * banks of local memory, and are of one leaf mostly, beyond the cut together. */
__attribute__((always_inline)) static inline void gv_stretch(gv_item *item, local const gv_scalar4 *tile,
                                                             local const gv_scalar4 *tile_low,
                                                             local const int *tile_address, uint row, uint whole,
                                                             const int masked, const gv_law law)
{
    gv_real sum[GV_S][GV_COMPONENTS];
    gv_clear(sum);
#pragma unroll 1
    for (uint k = row; k < whole; k += GV_ROUND)
#pragma unroll
        for (uint n = 0; n < GV_UNROLL; n++) {
            const gv_source source = gv_from_tile(tile, tile_low, k + n * GV_SPLIT);
            const int address = masked ? tile_address[k + n * GV_SPLIT] : 0;
#pragma unroll
            for (int s = 0; s < GV_S; s++)
                gv_pull(sum[s], item->sink[s], source, address, masked, law);
        }
    gv_flush(item, sum);
}
#endif

#if GV_THREADS > 1 && (GV_SPLIT > 1 || GV_REST)
#define GV_WORDS (GV_COMPONENTS * GV_WIDE_WORDS * GV_THREADS) /* one wide result a work-item */

__attribute__((always_inline)) static inline void gv_put_words(const gv_wide *total, local gv_real *words)
{
#pragma unroll
    for (int c = 0; c < GV_COMPONENTS; c++)
        gv_wide_put(total[c], words + c * GV_WIDE_WORDS * GV_THREADS, get_local_id(0), GV_THREADS);
}

__attribute__((always_inline)) static inline gv_wide gv_get_word(local gv_real *words, int c, uint from)
{
    return gv_wide_get(words + c * GV_WIDE_WORDS * GV_THREADS, from, GV_THREADS);
}

/* `rows` of `length` work-items are added by halves, always in the same order; row 0 has the sum. */
__attribute__((always_inline)) static inline void gv_join_rows(gv_wide *total, local gv_real *words, uint row,
                                                               uint rows, uint length)
{
    while (rows > 1) {
        const uint step = (rows + 1) / 2;
        gv_group_sync();
        gv_put_words(total, words);
        gv_group_sync();
        if (row < rows - step) {
#pragma unroll
            for (int c = 0; c < GV_COMPONENTS; c++)
                total[c] = gv_wide_sum(total[c], gv_get_word(words, c, get_local_id(0) + step * length));
        }
        rows = step;
    }
}
#endif

#if GV_THREADS > 1 && GV_REST
/* Sinks beyond those of full rows: rows of `length` work-items with one each, and in which this work-item is. */
typedef struct gv_rest {
    uint begin, length, rows, row; /* length 0: there are none; row = rows: this work-item is not needed */
} gv_rest;

static inline gv_rest gv_rest_of(const uint4 u)
{
    gv_rest r;
    r.begin = u.y <= GV_REST ? 0 : GV_ROW * GV_S;
    r.length = max(u.y, r.begin) - r.begin;
    r.rows = r.length > 0 ? GV_THREADS / r.length : 1;
    r.row = r.length > 0 ? min((uint)get_local_id(0) / r.length, r.rows) : 0;
    return r;
}

/* the place of this work-item's sink in the unit */
static inline uint gv_rest_place(const gv_rest *r)
{
    return r->begin + (uint)get_local_id(0) - r->row * r->length;
}

/* A tile on them.  Totals are in local memory, and sinks are read again: neither takes registers from tile to tile. */
__attribute__((always_inline)) static inline void
gv_stretch_rest(const gv_rest *r, local const uint4 *u, global const gv_scalar4 *pos, global const gv_scalar4 *low,
                local gv_real *words, local const gv_scalar4 *tile, local const gv_scalar4 *tile_low,
                local const int *tile_address, uint here, const int masked, const gv_law law)
{
    gv_sink sink;
    gv_real sum[GV_COMPONENTS];
    gv_wide total[GV_COMPONENTS];
    gv_load_sink(&sink, *u, gv_rest_place(r), pos, low);
#pragma unroll
    for (int c = 0; c < GV_COMPONENTS; c++)
        sum[c] = (gv_real)(0);
#pragma unroll 1
    for (uint k = r->row < r->rows ? r->row : here; k < here; k += r->rows)
        gv_pull(sum, sink, gv_from_tile(tile, tile_low, k), masked ? tile_address[k] : 0, masked, law);
#pragma unroll
    for (int c = 0; c < GV_COMPONENTS; c++)
        total[c] = gv_wide_flush(gv_get_word(words, c, get_local_id(0)), sum[c]);
    gv_put_words(total, words);
}
#endif

/* unit[number of the group]: {first sink, sinks, whose list, place of the first result}.
 * List z has entries begin[z] to begin[z + 1] - 1: {first source, sources}, and cells cell_begin[z] to
 * cell_begin[z + 1] - 1 of `which_cell`, numbers of cells.
 * result: GV_TASKS_VECTORS vectors a sink. */
__attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) kernel void
gv_tasks_evaluate(global const gv_scalar4 *restrict pos, global const gv_scalar4 *restrict low,
                  global const uint4 *restrict unit, global const uint *restrict begin,
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
    GV_ALIGN_STACK
    const uint4 u = unit[get_group_id(0)];
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
            gv_put(item.total[s], u, at + s * GV_LANES, result);
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
#if GV_SPLIT > 1 || GV_REST
    local gv_real words[GV_WORDS];
#endif
    gv_load_sinks(&item, u, lane_item, GV_ROW, pos, low);
#if GV_REST
    local uint4 rest_unit;
    const gv_rest rest = gv_rest_of(u);
    const int has_rows = u.y > GV_REST;
    gv_put_words(item.total[0], words); /* zeros */
    if (me == 0)
        rest_unit = u;
#else
    const int has_rows = 1;
#endif
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
            if (has_rows && flagged == turn)
                gv_stretch(&item, tile, tile_low, tile_address, row, whole, 1, law);
            else if (has_rows)
                gv_stretch(&item, tile, tile_low, tile_address, row, whole, 0, law);
#if GV_REST
            if (rest.length > 0 && flagged == turn)
                gv_stretch_rest(&rest, &rest_unit, pos, low, words, tile, tile_low, tile_address, here, 1, law);
            else if (rest.length > 0)
                gv_stretch_rest(&rest, &rest_unit, pos, low, words, tile, tile_low, tile_address, here, 0, law);
#endif
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
#if GV_REST
    if (rest.length > 0) {
        gv_wide total[GV_COMPONENTS];
#pragma unroll
        for (int c = 0; c < GV_COMPONENTS; c++)
            total[c] = gv_get_word(words, c, me);
        gv_join_rows(total, words, rest.row, rest.rows, rest.length);
        if (rest.row == 0)
            gv_put(total, u, gv_rest_place(&rest), result);
    }
    if (!has_rows)
        return;
#endif
#pragma unroll
    for (int s = 0; s < GV_S; s++) {
#if GV_SPLIT > 1
        gv_join_rows(item.total[s], words, row, GV_SPLIT, GV_ROW);
#endif
        if (row == 0)
            gv_put(item.total[s], u, lane_item + s * GV_ROW, result);
    }
#endif
}
