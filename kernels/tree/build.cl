/* The octree from sorted keys, all levels at once.
 *
 * Let agree(i, j) be the number of leading octal digits that the keys of bodies i and j share.  A cell of level l holds
 * more than GV_N_LEAF bodies exactly if it holds a window of GV_N_LEAF + 1 consecutive bodies, so
 *   the leaf of body i has level  last(i)  = min(21, 1 + max of agree(k, k + GV_N_LEAF) over the windows that hold i)
 *   body i starts cells of levels first(i) = 1 + agree(i - 1, i)  up to last(i)   (none if first > last; first(0) = 0).
 * Cells are numbered by level, then by body; children of one cell are consecutive.
 *
 *   gv_tree_heads  first and last of every body; cells per level and tile
 *   gv_scan_rows   (lib/scan.cl) cells of a level before each tile
 *   gv_tree_emit   writes the cells
 *
 *   GV_THREADS, GV_ITEMS  a work-group handles a tile of GV_THREADS * GV_ITEMS bodies (at most 4095 if GV_THREADS > 1)
 *   GV_N_LEAF  bodies of a leaf at most (more only at level 21)
 */
#include "tree/cell.h"
#include "lib/group.h"

#if !defined(GV_ITEMS) || !defined(GV_N_LEAF)
#error "GV_ITEMS (bodies per work-item) and GV_N_LEAF (bodies in a leaf) must be set"
#endif
#define GV_TILE (GV_THREADS * GV_ITEMS)
#if GV_THREADS > 1 && GV_TILE > 4095
#error "GV_THREADS * GV_ITEMS must be below 4096: counters have 12 bits"
#endif

static inline int gv_agree(ulong a, ulong b)
{
    ulong differ = a ^ b;
    return differ ? ((int)clz(differ) - 1) / 3 : 21;
}

kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_tree_heads(global const ulong *key, uint n, global uchar2 *head, global uint *table)
{
    local char window[GV_TILE + GV_N_LEAF]; /* agree(k, k + GV_N_LEAF) for k = start - GV_N_LEAF ... */
    local uint count[GV_LEVELS];
    uint me = get_local_id(0), tile = get_group_id(0), tiles = get_num_groups(0), start = tile * GV_TILE;
    for (uint l = me; l < GV_LEVELS; l += GV_THREADS)
        count[l] = 0;
    for (uint w = me; w < GV_TILE + GV_N_LEAF; w += GV_THREADS) {
        uint end = start + w; /* last body of the window */
        window[w] = end >= GV_N_LEAF && end < n ? (char)gv_agree(key[end - GV_N_LEAF], key[end]) : (char)-1;
    }
    gv_group_sync();
    for (uint k = me; k < GV_TILE; k += GV_THREADS) {
        uint i = start + k;
        if (i >= n)
            break;
        int last = -1, first = i ? 1 + gv_agree(key[i - 1], key[i]) : 0;
        for (uint w = k; w <= k + GV_N_LEAF; w++)
            last = max(last, (int)window[w]);
        last = min(last + 1, GV_LEVELS - 1);
        head[i] = (uchar2)((uchar)first, (uchar)last);
        for (int l = first; l <= last; l++)
#if GV_THREADS == 1
            count[l]++;
#else
            atomic_inc(&count[l]);
#endif
    }
    gv_group_sync();
    for (uint l = me; l < GV_LEVELS; l += GV_THREADS)
        table[l * tiles + tile] = count[l];
}

/* link[cell] = {first child or first body, GV_LEAF | bodies or 0; GV_FIRSTBORN}
 * climb[cell] (may be NULL) = {parent, 0}: what gv_tree_climb (moments.cl) counts with */
#if GV_THREADS == 1
static inline uint gv_leaf_bodies(global const uchar2 *head, uint i, uint n)
{
    uint end = i + 1;
    while (end < n && head[end].x > head[end].y)
        end++;
    return end - i;
}

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gv_tree_emit(global const uchar2 *head, uint n,
                                                                        global const uint *table,
                                                                        global const uint *level_total, uint capacity,
                                                                        global uint2 *link, global uint2 *climb)
{
    uint tile = get_group_id(0), tiles = get_num_groups(0), start = tile * GV_TILE, end = min(start + GV_TILE, n);
    local uint slot[GV_LEVELS]; /* first cell of this tile at each level */
    for (uint l = 0; l < GV_LEVELS; l++)
        slot[l] = gv_level_first(level_total, l) + table[l * tiles + tile];
    for (uint i = start; i < end; i++) {
        uint first = head[i].x, last = head[i].y;
        for (uint l = first; l <= last; l++) {
            uint cell = slot[l]++;
            uint born = l > first ? GV_FIRSTBORN : 0u;
            if (cell >= capacity)
                continue;
            link[cell] =
                l < last ? (uint2)(slot[l + 1], born) : (uint2)(i, born | GV_LEAF | gv_leaf_bodies(head, i, n));
            if (climb)
                climb[cell] = (uint2)(l ? slot[l - 1] - 1 : GV_NO_BODY, 0);
        }
    }
}
#else

/* Bodies of the leaf that starts at body k of the tile: up to the next body that starts a cell.  Beyond GV_N_LEAF
 * bodies (level 21 only) the tile's flags may end. */
static inline uint gv_leaf_bodies(local const uchar *starts, uint k, global const uchar2 *head, uint i, uint n)
{
    uint count = 1;
    while (count <= GV_N_LEAF && !starts[k + count])
        count++;
    if (count > GV_N_LEAF)
        while (i + count < n && head[i + count].x > head[i + count].y)
            count++;
    return count;
}

/* cells of the levels 5 word ... 5 word + 4 that a body starts, 12 bits a level */
#define GV_WORDS ((GV_LEVELS + 4) / 5)
static inline ulong gv_level_counts(uint from, uint to, uint word)
{
    ulong counts = 0;
#pragma unroll
    for (uint l = 0; l < 5; l++)
        counts |= from <= 5 * word + l && 5 * word + l <= to ? 1ul << (12 * l) : 0ul;
    return counts;
}

kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_tree_emit(global const uchar2 *head, uint n, global const uint *table, global const uint *level_total, uint capacity,
             global uint2 *link, global uint2 *climb)
{
    uint me = get_local_id(0), tile = get_group_id(0), tiles = get_num_groups(0), start = tile * GV_TILE;
    local uint slot[GV_LEVELS]; /* first cell of this tile at each level */
    local uchar starts[GV_TILE + GV_N_LEAF + 1];
    local ulong scratch[GV_THREADS];
    for (uint l = me; l < GV_LEVELS; l += GV_THREADS)
        slot[l] = gv_level_first(level_total, l) + table[l * tiles + tile];
    for (uint k = me; k <= GV_TILE + GV_N_LEAF; k += GV_THREADS) {
        uchar2 h = start + k < n ? head[start + k] : (uchar2)(0, 0);
        starts[k] = h.x <= h.y; /* a position beyond the end counts as the start of a cell, so it ends a leaf */
    }
    gv_group_sync();
    /* 12-bit counters of five levels share a word of the sum over work-items */
    uint from[GV_ITEMS], to[GV_ITEMS];
    ulong before[GV_WORDS];
#pragma unroll
    for (uint k = 0; k < GV_ITEMS; k++) {
        uint i = start + me * GV_ITEMS + k;
        uchar2 h = i < n ? head[i] : (uchar2)(255, 0);
        from[k] = h.x;
        to[k] = h.y;
    }
#pragma unroll
    for (uint word = 0; word < GV_WORDS; word++) {
        before[word] = 0;
#pragma unroll
        for (uint k = 0; k < GV_ITEMS; k++)
            before[word] += gv_level_counts(from[k], to[k], word);
        before[word] = gv_group_scan64(before[word], scratch);
    }
#pragma unroll
    for (uint k = 0; k < GV_ITEMS; k++) {
        uint i = start + me * GV_ITEMS + k, above = GV_NO_BODY; /* the cell of the level before that holds the body */
        if (from[k] > to[k])
            continue;
        uint leaf = gv_leaf_bodies(starts, me * GV_ITEMS + k, head, i, n);
        for (uint l = from[k] ? from[k] - 1 : 0; l <= to[k]; l++) {
            uint cell = slot[l];
#pragma unroll
            for (uint word = 0; word < GV_WORDS; word++)
                cell += l / 5 == word ? (uint)(before[word] >> 12 * (l % 5)) & 4095u : 0u;
#pragma unroll
            for (uint j = 0; j < k; j++)
                cell += from[j] <= l && l <= to[j];
            if (l < from[k]) {
                above = cell - 1;
                continue;
            }
            uint born = l > from[k] ? GV_FIRSTBORN : 0u;
            if (born && above < capacity)
                link[above].x = cell;
            if (cell < capacity) {
                link[cell] = l < to[k] ? (uint2)(0, born) : (uint2)(i, born | GV_LEAF | leaf);
                if (climb)
                    climb[cell] = (uint2)(above, 0);
            }
            above = cell;
        }
    }
}
#endif
