/* Exclusive sums.
 *
 *   gv_scan_rows   a table of `rows` rows of `length` uints is replaced, row by row, by its exclusive sums; total[row]
 *                  is the row's sum.  One work-group a row: what counting sorts need (a row per digit, a column per
 *                  tile).
 *
 *   GV_THREADS  work-items per group
 *   GV_ITEMS    consecutive elements a work-item sums at once; a tile is GV_THREADS * GV_ITEMS elements
 */
#include "lib/group.h"

#ifndef GV_ITEMS
#error "GV_ITEMS must be the elements per work-item"
#endif
#define GV_TILE (GV_THREADS * GV_ITEMS)

kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void gv_scan_rows(global uint *table, uint length,
                                                                                 global uint *total)
{
    local uint scratch[GV_SCAN_WORDS];
    uint row = get_group_id(0), me = get_local_id(0);
    global uint *data = table + (size_t)row * length;
    uint carry = 0;
#if GV_THREADS == 1
    (void)scratch;
    (void)me;
    for (uint k = 0; k < length; k++) {
        uint value = data[k];
        data[k] = carry;
        carry += value;
    }
    total[row] = carry;
#else
    for (uint start = 0; start < length; start += GV_TILE) {
        uint first = start + me * GV_ITEMS, value[GV_ITEMS], sum = 0, all;
        for (uint k = 0; k < GV_ITEMS; k++) {
            value[k] = first + k < length ? data[first + k] : 0u;
            sum += value[k];
        }
        uint before = carry + gv_group_scan(sum, scratch, &all);
        for (uint k = 0; k < GV_ITEMS; k++) {
            if (first + k < length)
                data[first + k] = before;
            before += value[k];
        }
        carry += all;
    }
    if (me == 0)
        total[row] = carry;
#endif
}
