/* Joins the neighbour lists of the parts: one group a sink.  Parts lie in the order of their sources, so the joined
 * list ascends.  `count` gets the true number, `list` the first `capacity` addresses, `ids` their ids.
 *
 * Source k has the id source_id[k]; with `listed` it is body source_list[k], else body address_first + k.
 *
 * GV_LIST_ITEMS: work-items a group
 */
#ifndef GV_LIST_ITEMS
#error "GV_LIST_ITEMS must be set: work-items a group"
#endif

/* The sum of `mine` of work-items 0 ... me; `ends` holds those of all on return. */
static inline uint gv_scan(uint mine, local uint *ends)
{
    const uint me = get_local_id(0);
    ends[me] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < GV_LIST_ITEMS; step *= 2) {
        const uint other = me >= step ? ends[me - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        ends[me] += other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return ends[me];
}

__attribute__((reqd_work_group_size(GV_LIST_ITEMS, 1, 1))) kernel void
gv_join_lists(global const uint *restrict part_count, global const uint *restrict part_list,
              global const int *restrict source_id, global const uint *restrict source_list, uint listed,
              uint address_first, global uint *restrict count, global uint *restrict list, global int *restrict ids,
              uint n_parts, uint stride, uint capacity)
{
    local uint ends[GV_LIST_ITEMS];
    const uint sink = get_group_id(0);
    uint before = 0;
    for (uint first = 0; first < n_parts; first += GV_LIST_ITEMS) {
        const uint part = first + get_local_id(0);
        const size_t at = (size_t)part * stride + sink;
        const uint mine = part < n_parts ? part_count[at] : 0;
        const uint begin = before + gv_scan(mine, ends) - mine;
        const uint stored = min(mine, capacity);
        for (uint k = 0; k < stored && begin + k < capacity; k++) {
            const uint source = part_list[at * capacity + k];
            const size_t to = (size_t)sink * capacity + begin + k;
            list[to] = listed ? source_list[source] : address_first + source;
            ids[to] = source_id[source];
        }
        before += ends[GV_LIST_ITEMS - 1];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (get_local_id(0) == 0)
        count[sink] = before;
}
