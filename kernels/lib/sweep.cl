/* Stable radix sort of (key, index) pairs that reads and writes each pair once a pass.
 *
 *   gv_sweep_count  digits of all passes are counted at once: total[pass][digit]
 *   gv_sweep_pass   one launch a pass.  Work-groups take tiles in order (a counter hands them out), order a tile in
 *                   local memory, and find where its digits go by looking back at the tiles before it:
 *
 *     status[tile][digit] = a state in the two highest bits | a count
 *       empty   not written yet
 *       part    the count is that of this tile alone
 *       whole   the count is that of this tile and of all before it
 *     A tile adds the parts of the tiles before it until it reaches a whole.  State and count are one word, so no other
 *     memory needs to be in order.  States take turns, (0, 1, 2) in even and (2, 3, 0) in odd passes: what a pass left
 *     behind is empty for the next one, and the table is cleared before the first pass only.
 *
 * This waits for work-groups that took their tiles earlier, and they must go on meanwhile: true on GPUs whose
 * work-groups run to their end once started, but guaranteed by no standard.  The host uses it where a trial gave right
 * results (GV_PTX_ASM, src/host/program/sort.c), and lib/sort.cl elsewhere.
 *
 *   control  [0 ... 8 x 256) total, [2048 ... 2056) counters of the passes, [2304 ... ) status.  Zero at the start.
 *   n        below 2^30: counts have 30 bits
 *
 *   GV_THREADS   work-items per group: 256 or more, a digit each
 *   GV_ITEMS     keys per work-item; a tile is GV_THREADS * GV_ITEMS keys
 *   GV_KEY_BITS  32 or 64
 */
#include "lib/group.h"

#if !GV_SHUFFLES || GV_THREADS < 256
#error "the sort in one sweep needs shuffles and GV_THREADS of 256 or more"
#endif
#ifndef GV_ITEMS
#error "GV_ITEMS must be the keys per work-item"
#endif
#if GV_KEY_BITS == 64
typedef ulong gv_key;
#elif GV_KEY_BITS == 32
typedef uint gv_key;
#else
#error "GV_KEY_BITS must be 32 or 64"
#endif

#define GV_TILE (GV_THREADS * GV_ITEMS)
#define GV_WARPS (GV_THREADS / 32)
#define GV_DIGITS 256
#define gv_digit(key, shift) ((uint)((key) >> (shift)) & (GV_DIGITS - 1))
#define GV_TICKETS (8 * GV_DIGITS)
#define GV_STATUS (9 * GV_DIGITS)
#define GV_STATE 0xc0000000u
#define GV_LOOK 8 /* tiles looked at together */

/* counters of the warps, then the keys of the tile, then their indices */
#define GV_POOL_COUNTERS (GV_WARPS * GV_DIGITS / 2)
#define GV_POOL_KEYS (GV_TILE * GV_KEY_BITS / 64)
#define GV_POOL (GV_POOL_COUNTERS > GV_POOL_KEYS ? GV_POOL_COUNTERS : GV_POOL_KEYS)

kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void gv_sweep_count(global const gv_key *key, uint n,
                                                                                   uint passes, global uint *control)
{
    local uint count[8 * GV_DIGITS];
    for (uint d = get_local_id(0); d < passes * GV_DIGITS; d += GV_THREADS)
        count[d] = 0;
    gv_group_sync();
    for (uint k = get_global_id(0); k < n; k += get_global_size(0)) {
        gv_key a = key[k];
        for (uint pass = 0; pass < passes; pass++)
            atomic_inc(&count[pass * GV_DIGITS + gv_digit(a, 8 * pass)]);
    }
    gv_group_sync();
    for (uint d = get_local_id(0); d < passes * GV_DIGITS; d += GV_THREADS)
        if (count[d])
            atomic_add(&control[d], count[d]);
}

/* Each key's place among those of its digit in this warp; count[digit] of the warp. */
static inline void gv_rank_in_warp(const gv_key a[GV_ITEMS], uint shift, uint lane, local uint *count,
                                   uint rank[GV_ITEMS])
{
    for (uint d = lane; d < GV_DIGITS; d += 32)
        count[d] = 0;
    gv_warp_sync();
#pragma unroll
    for (uint k = 0; k < GV_ITEMS; k++) {
        uint d = gv_digit(a[k], shift);
        uint peers = gv_warp_peers(d), before = popcount(peers & ((1u << lane) - 1));
        uint earlier = count[d];
        gv_warp_sync();
        if (before == 0)
            count[d] = earlier + popcount(peers);
        gv_warp_sync();
        rank[k] = earlier + before;
    }
}

/* keys with this digit in all tiles before `tile` */
static inline uint gv_look_back(volatile global const uint *status, uint tile, uint part, uint whole)
{
    uint sum = 0;
    while (tile > 0) {
        uint got[GV_LOOK];
#pragma unroll
        for (uint k = 0; k < GV_LOOK; k++)
            got[k] = k < tile ? status[(size_t)(tile - 1 - k) * GV_DIGITS] : whole;
#pragma unroll
        for (uint k = 0; k < GV_LOOK; k++) {
            if ((got[k] & GV_STATE) != part && (got[k] & GV_STATE) != whole)
                break;
            sum += got[k] & ~GV_STATE;
            tile--;
            if ((got[k] & GV_STATE) == whole)
                return sum;
        }
    }
    return sum;
}

kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_sweep_pass(global const gv_key *key, global const uint *index, uint n, uint pass, global uint *control,
              global gv_key *key_out, global uint *index_out)
{
    local ulong pool[GV_POOL];
    local uint scratch[GV_SCAN_WORDS], to_digit[GV_DIGITS], taken;
    local uint *counter = (local uint *)pool;
    local gv_key *tile_key = (local gv_key *)pool;
    uint me = get_local_id(0), lane = me & 31, warp = me >> 5, shift = 8 * pass, all;
    const uint part = pass & 1 ? 3u << 30 : 1u << 30, whole = pass & 1 ? 0u : 2u << 30;

    if (me == 0)
        taken = atomic_inc(&control[GV_TICKETS + pass]);
    gv_group_sync();
    uint tile = taken, start = tile * GV_TILE, here = min((uint)GV_TILE, n - start);
    uint first = warp * 32 * GV_ITEMS + lane; /* a warp's keys are consecutive */
    gv_key a[GV_ITEMS];
    uint v[GV_ITEMS], at[GV_ITEMS];
#pragma unroll
    for (uint k = 0; k < GV_ITEMS; k++)
        a[k] = first + 32 * k < here ? key[start + first + 32 * k] : ~(gv_key)0;
#pragma unroll
    for (uint k = 0; k < GV_ITEMS; k++)
        v[k] = first + 32 * k < here ? index[start + first + 32 * k] : 0u;
    gv_rank_in_warp(a, shift, lane, counter + warp * GV_DIGITS, at);
    gv_group_sync();

    /* a work-item's digit: keys of the warps before each, of the tile, of all tiles */
    uint sum = 0;
    volatile global uint *status = control + GV_STATUS + me;
    if (me < GV_DIGITS) {
        for (uint w = 0; w < GV_WARPS; w++) {
            uint count = counter[w * GV_DIGITS + me];
            counter[w * GV_DIGITS + me] = sum;
            sum += count;
        }
        status[(size_t)tile * GV_DIGITS] = (tile ? part : whole) | sum;
    }
    uint in_tile = gv_group_scan(sum, scratch, &all);
    uint in_all = gv_group_scan(me < GV_DIGITS ? control[pass * GV_DIGITS + me] : 0u, scratch, &all);
    if (me < GV_DIGITS) {
        for (uint w = 0; w < GV_WARPS; w++)
            counter[w * GV_DIGITS + me] += in_tile;
        uint earlier = gv_look_back(status, tile, part, whole);
        if (tile)
            status[(size_t)tile * GV_DIGITS] = whole | (earlier + sum);
        to_digit[me] = in_all + earlier - in_tile;
    }
    gv_group_sync();

    /* the tile in order of its digits, then out: runs of one digit are consecutive in memory */
#pragma unroll
    for (uint k = 0; k < GV_ITEMS; k++)
        at[k] += counter[warp * GV_DIGITS + gv_digit(a[k], shift)];
    gv_group_sync();
#pragma unroll
    for (uint k = 0; k < GV_ITEMS; k++)
        tile_key[at[k]] = a[k];
    gv_group_sync();
    uint to[GV_ITEMS];
#pragma unroll
    for (uint k = 0; k < GV_ITEMS; k++) {
        uint j = me + k * GV_THREADS;
        gv_key b = tile_key[j];
        to[k] = to_digit[gv_digit(b, shift)] + j;
        if (j < here)
            key_out[to[k]] = b;
    }
    gv_group_sync();
    local uint *tile_index = (local uint *)pool;
#pragma unroll
    for (uint k = 0; k < GV_ITEMS; k++)
        tile_index[at[k]] = v[k];
    gv_group_sync();
#pragma unroll
    for (uint k = 0; k < GV_ITEMS; k++)
        if (me + k * GV_THREADS < here)
            index_out[to[k]] = tile_index[me + k * GV_THREADS];
}
