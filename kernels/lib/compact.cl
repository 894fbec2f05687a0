/* Stable compaction: out = the indices 0 ... n-1 (or the values in[0 ... n-1]) whose flag is not 0, in order.
 * Three launches: gv_compact_count, gv_scan_rows (one row) over the counts, gv_compact_write.
 *
 *   GV_THREADS, GV_ITEMS  as in scan.cl */
#include "lib/group.h"

#ifndef GV_ITEMS
#error "GV_ITEMS must be the elements per work-item"
#endif
#define GV_TILE (GV_THREADS * GV_ITEMS)

/* `at` (may be NULL): element k has the flag flag[at[k]] */
static inline uint gv_flagged(global const uchar *flag, global const uint *at, uint k, uint n)
{
    return k < n && flag[at ? at[k] : k] ? 1u : 0u;
}

kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_compact_count(global const uchar *flag, global const uint *at, uint n, global uint *count)
{
    local uint scratch[GV_SCAN_WORDS];
    uint first = get_group_id(0) * GV_TILE + get_local_id(0) * GV_ITEMS, sum = 0, all;
    for (uint k = 0; k < GV_ITEMS; k++)
        sum += gv_flagged(flag, at, first + k, n);
    gv_group_scan(sum, scratch, &all);
    if (get_local_id(0) == 0)
        count[get_group_id(0)] = all;
}

kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_compact_write(global const uchar *flag, global const uint *at, uint n, global const uint *before, global uint *out)
{
    local uint scratch[GV_SCAN_WORDS];
    uint first = get_group_id(0) * GV_TILE + get_local_id(0) * GV_ITEMS, sum = 0, all;
    for (uint k = 0; k < GV_ITEMS; k++)
        sum += gv_flagged(flag, at, first + k, n);
    uint slot = before[get_group_id(0)] + gv_group_scan(sum, scratch, &all);
    for (uint k = 0; k < GV_ITEMS; k++)
        if (gv_flagged(flag, at, first + k, n))
            out[slot++] = first + k;
}
