/* Stable radix sort of (key, value) pairs, one digit a pass, least significant first.  A pass is three launches:
 *   gv_sort_count    table[digit][tile] = keys of the tile with this digit
 *   gv_scan_rows     (scan.cl) each digit's row becomes the offsets of the tiles; total[digit]
 *   gv_sort_scatter  each tile is ordered by the digit in local memory, then written run by run
 *
 *   GV_THREADS   work-items per group; 1: a work-item counts and scatters its tile of `one_tile` keys alone: the shape
 *                for CPUs
 *   GV_ITEMS     keys per work-item where GV_THREADS > 1; a tile is GV_THREADS * GV_ITEMS keys, at most 32768
 *   GV_BITS      bits of a digit: 4 or 8; with GV_THREADS = 1 up to 12
 *   GV_KEY_BITS  32 or 64
 */
#include "lib/group.h"

#if GV_THREADS > 1 && !defined(GV_ITEMS)
#error "GV_ITEMS must be the keys per work-item"
#endif
#if !defined(GV_BITS) || GV_BITS < 1 || GV_BITS > 12
#error "GV_BITS must be the bits of a digit, 1 to 12"
#endif
#if GV_THREADS > 1 && GV_BITS != 4 && GV_BITS != 8
#error "GV_BITS must be 4 or 8 where work-items share a tile"
#endif
#if GV_KEY_BITS == 64
typedef ulong gv_key;
#elif GV_KEY_BITS == 32
typedef uint gv_key;
#else
#error "GV_KEY_BITS must be 32 or 64"
#endif

#if GV_THREADS == 1
#define GV_TILE one_tile
#else
#define GV_TILE (GV_THREADS * GV_ITEMS)
#endif
#define GV_DIGITS (1 << GV_BITS)
#define gv_digit(key, shift) ((uint)((key) >> (shift)) & (GV_DIGITS - 1))

kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_sort_count(global const gv_key *key, uint n, uint shift, global uint *table, uint one_tile)
{
    uint me = get_local_id(0), tile = get_group_id(0), tiles = get_num_groups(0);
    uint start = tile * GV_TILE, end = min(start + GV_TILE, n);
    local uint count[GV_DIGITS];
    for (uint d = me; d < GV_DIGITS; d += GV_THREADS)
        count[d] = 0;
    gv_group_sync();
    for (uint k = start + me; k < end; k += GV_THREADS)
#if GV_THREADS == 1
        count[gv_digit(key[k], shift)]++;
#else
        atomic_inc(&count[gv_digit(key[k], shift)]);
#endif
    gv_group_sync();
    for (uint d = me; d < GV_DIGITS; d += GV_THREADS)
        table[(size_t)d * tiles + tile] = count[d];
}

#if GV_THREADS == 1
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
gv_sort_scatter(global const gv_key *key, global const uint *value, uint n, uint shift, global const uint *table,
                global const uint *total, global gv_key *key_out, global uint *value_out, uint one_tile)
{
    uint tile = get_group_id(0), tiles = get_num_groups(0), before = 0;
    uint start = tile * GV_TILE, end = min(start + GV_TILE, n);
    local uint slot[GV_DIGITS];
    for (uint d = 0; d < GV_DIGITS; d++) {
        slot[d] = before + table[(size_t)d * tiles + tile];
        before += total[d];
    }
    for (uint k = start; k < end; k++) {
        gv_key a = key[k];
        uint to = slot[gv_digit(a, shift)]++;
        key_out[to] = a;
        value_out[to] = value[k];
    }
}
#else

/* A tile is ordered by four bits at a time.  Each work-item counts its own GV_ITEMS keys in 16 counters of its own;
 * the exclusive sum over [digit][work-item] gives every key its place. */
#define GV_COUNTERS (16 * GV_THREADS)

kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_sort_scatter(global const gv_key *key, global const uint *value, uint n, uint shift, global const uint *table,
                global const uint *total, global gv_key *key_out, global uint *value_out, uint one_tile)
{
    local gv_key tile_key[GV_TILE];
    local uint tile_value[GV_TILE];
    local ushort counter[GV_COUNTERS];
    local uint base[GV_DIGITS], scratch[GV_SCAN_WORDS];
    uint me = get_local_id(0), tile = get_group_id(0), tiles = get_num_groups(0), all;
    uint start = tile * GV_TILE, here = min((uint)GV_TILE, n - start);
    gv_key a[GV_ITEMS];
    uint v[GV_ITEMS], to[GV_ITEMS];

    /* where each digit's keys go: digits before it, then tiles before this one */
    uint before = 0;
    for (uint first = 0; first < GV_DIGITS; first += GV_THREADS) {
        uint d = first + me;
        uint mine = d < GV_DIGITS ? total[d] : 0u;
        uint sum = gv_group_scan(mine, scratch, &all);
        if (d < GV_DIGITS)
            base[d] = before + sum + table[(size_t)d * tiles + tile];
        before += all;
    }

    for (uint k = me; k < GV_TILE; k += GV_THREADS) {
        tile_key[k] = k < here ? key[start + k] : ~(gv_key)0;
        tile_value[k] = k < here ? value[start + k] : 0u;
    }
    gv_group_sync();
    for (uint bit = 0; bit < GV_BITS; bit += 4) {
        for (uint d = 0; d < 16; d++)
            counter[d * GV_THREADS + me] = 0;
        /* each work-item touches only its own column, so no barrier is needed before the sums */
        for (uint k = 0; k < GV_ITEMS; k++) {
            a[k] = tile_key[me * GV_ITEMS + k];
            v[k] = tile_value[me * GV_ITEMS + k];
            uint d = (uint)(a[k] >> (shift + bit)) & 15u;
            to[k] = counter[d * GV_THREADS + me]++;
        }
        gv_group_sync();
        uint sum = 0;
        for (uint k = 0; k < 16; k++)
            sum += counter[me * 16 + k];
        sum = gv_group_scan(sum, scratch, &all);
        for (uint k = 0; k < 16; k++) {
            uint here_count = counter[me * 16 + k];
            counter[me * 16 + k] = (ushort)sum;
            sum += here_count;
        }
        gv_group_sync();
        for (uint k = 0; k < GV_ITEMS; k++) {
            uint at = to[k] + counter[((uint)(a[k] >> (shift + bit)) & 15u) * GV_THREADS + me];
            tile_key[at] = a[k];
            tile_value[at] = v[k];
        }
        gv_group_sync();
    }

    /* Runs of one digit are now contiguous: base[d] becomes the distance from a tile position to its target.  A key
     * beyond n has all bits set and stays last. */
    for (uint k = me; k < here; k += GV_THREADS) {
        uint d = gv_digit(tile_key[k], shift);
        if (k == 0 || gv_digit(tile_key[k - 1], shift) != d)
            base[d] -= k;
    }
    gv_group_sync();
    for (uint k = me; k < here; k += GV_THREADS) {
        gv_key b = tile_key[k];
        uint at = base[gv_digit(b, shift)] + k;
        key_out[at] = b;
        value_out[at] = tile_value[k];
    }
}
#endif
