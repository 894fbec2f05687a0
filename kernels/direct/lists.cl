/* Joins the neighbour lists of the parts: one group a sink.  Parts lie in the order of their sources, so the joined
 * list ascends.  `count` gets the true number, `list` the first `capacity` addresses. */
#ifndef GV_LIST_THREADS
#error "GV_LIST_THREADS must be set: work-items a group"
#endif

__attribute__((reqd_work_group_size(GV_LIST_THREADS, 1, 1))) kernel void
gv_join_lists(global const uint *restrict part_count, global const uint *restrict part_list,
              global uint *restrict count, global uint *restrict list, uint n_parts, uint stride, uint capacity)
{
    local uint ends[GV_LIST_THREADS];
    const uint me = get_local_id(0);
    const uint sink = get_group_id(0);
    uint before = 0;
    for (uint first = 0; first < n_parts; first += GV_LIST_THREADS) {
        const uint part = first + me;
        const size_t at = (size_t)part * stride + sink;
        const uint mine = part < n_parts ? part_count[at] : 0;
        ends[me] = mine;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint step = 1; step < GV_LIST_THREADS; step *= 2) {
            const uint other = me >= step ? ends[me - step] : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            ends[me] += other;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        const uint begin = before + ends[me] - mine;
        const uint stored = min(mine, capacity);
        for (uint k = 0; k < stored && begin + k < capacity; ++k)
            list[(size_t)sink * capacity + begin + k] = part_list[at * capacity + k];
        before += ends[GV_LIST_THREADS - 1];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (me == 0)
        count[sink] = before;
}
