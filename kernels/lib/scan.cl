/* Exclusive sums.
 *
 *   gv_scan_rows   a table of `rows` rows of `length` uints is replaced, row by row, by its exclusive sums; total[row]
 *                  is the row's sum.  One work-group a row: what counting sorts need (a row per digit, a column per
 *                  tile), and with one row the middle step of a long scan.
 *   gv_scan_parts, gv_scan_apply
 *                  a long array in three launches: sums of tiles, gv_scan_rows over them, then each tile's own scan.
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

kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void gv_scan_parts(global const uint *in, uint n,
                                                                                  global uint *part)
{
    local uint scratch[GV_SCAN_WORDS];
    uint first = get_group_id(0) * GV_TILE + get_local_id(0) * GV_ITEMS, sum = 0, all;
    for (uint k = 0; k < GV_ITEMS; k++)
        sum += first + k < n ? in[first + k] : 0u;
    gv_group_scan(sum, scratch, &all);
    if (get_local_id(0) == 0)
        part[get_group_id(0)] = all;
}

/* `in` and `out` may be the same */
kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_scan_apply(global const uint *in, uint n, global const uint *part, global uint *out)
{
    local uint scratch[GV_SCAN_WORDS];
    uint first = get_group_id(0) * GV_TILE + get_local_id(0) * GV_ITEMS, value[GV_ITEMS], sum = 0, all;
    for (uint k = 0; k < GV_ITEMS; k++) {
        value[k] = first + k < n ? in[first + k] : 0u;
        sum += value[k];
    }
    uint before = part[get_group_id(0)] + gv_group_scan(sum, scratch, &all);
    for (uint k = 0; k < GV_ITEMS; k++) {
        if (first + k < n)
            out[first + k] = before;
        before += value[k];
    }
}
