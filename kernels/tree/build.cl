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

__kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1)))
void gv_tree_heads(__global const ulong *key, uint n, __global uchar2 *head, __global uint *table)
{
    __local char window[GV_TILE + GV_N_LEAF]; /* agree(k, k + GV_N_LEAF) for k = start - GV_N_LEAF ... */
    __local uint count[GV_LEVELS];
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

static inline uint gv_leaf_bodies(__global const uchar2 *head, uint i, uint n)
{
    uint end = i + 1;
    while (end < n && head[end].x > head[end].y)
        end++;
    return end - i;
}

/* link[cell] = {first child or first body, GV_LEAF | bodies or 0; GV_FIRSTBORN} */
__kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1)))
void gv_tree_emit(__global const uchar2 *head, uint n, __global const uint *table, __global const uint *level_total,
                  uint capacity, __global uint2 *link)
{
    uint me = get_local_id(0), tile = get_group_id(0), tiles = get_num_groups(0), start = tile * GV_TILE;
    __local uint slot[GV_LEVELS]; /* first cell of this tile at each level */
    for (uint l = me; l < GV_LEVELS; l += GV_THREADS)
        slot[l] = gv_level_first(level_total, l) + table[l * tiles + tile];
    gv_group_sync();
#if GV_THREADS == 1
    uint end = min(start + GV_TILE, n);
    for (uint i = start; i < end; i++) {
        uint first = head[i].x, last = head[i].y;
        for (uint l = first; l <= last; l++) {
            uint cell = slot[l]++;
            uint born = l > first ? GV_FIRSTBORN : 0u;
            if (cell < capacity)
                link[cell] = l < last ? (uint2)(slot[l + 1], born)
                                      : (uint2)(i, born | GV_LEAF | gv_leaf_bodies(head, i, n));
        }
    }
#else
    /* 12-bit counters of five levels share a word of the sum over work-items */
    __local ulong scratch[GV_THREADS];
    uint from[GV_ITEMS], to[GV_ITEMS], parent[GV_ITEMS];
    for (uint k = 0; k < GV_ITEMS; k++) {
        uint i = start + me * GV_ITEMS + k;
        uchar2 h = i < n ? head[i] : (uchar2)(255, 0);
        from[k] = h.x;
        to[k] = h.y;
        parent[k] = GV_NO_BODY;
    }
    for (uint word = 0; word < GV_LEVELS; word += 5) {
        ulong mine = 0;
        for (uint l = word; l < word + 5; l++)
            for (uint k = 0; k < GV_ITEMS; k++)
                mine += from[k] <= l && l <= to[k] ? 1ul << (12 * (l - word)) : 0ul;
        ulong before = gv_group_scan64(mine, scratch);
        gv_group_sync();
        for (uint l = word; l < word + 5 && l < GV_LEVELS; l++) {
            uint cell = slot[l] + ((uint)(before >> (12 * (l - word))) & 4095u);
            for (uint k = 0; k < GV_ITEMS; k++) {
                if (from[k] > l || l > to[k])
                    continue;
                uint i = start + me * GV_ITEMS + k, born = l > from[k] ? GV_FIRSTBORN : 0u;
                if (parent[k] < capacity)
                    link[parent[k]].x = cell;
                if (cell < capacity)
                    link[cell] = l < to[k] ? (uint2)(0, born)
                                           : (uint2)(i, born | GV_LEAF | gv_leaf_bodies(head, i, n));
                parent[k] = l < to[k] ? cell : GV_NO_BODY;
                cell++;
            }
        }
    }
#endif
}
