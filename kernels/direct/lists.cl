/* Joins the neighbour lists of the parts: one group a sink.  Parts lie in the order of their sources, so the joined
 * list ascends.  `count` gets the true number, `list` the first `capacity` addresses, `ids` their ids.
 *
 * Source k has the id source_id[k]; with `listed` it is body source_list[k], else body address_first + k.
 *
 * Few sinks have thousands of parts, most of them without a neighbour: a group reads all counts first, several at once,
 * and keeps the parts with neighbours.  Where these are many it reads and copies in turns of a part a work-item.
 *
 * GV_LIST_ITEMS: the most work-items a group has
 */
#ifndef GV_LIST_ITEMS
#error "GV_LIST_ITEMS must be set: the most work-items a group has"
#endif

#define GV_LIST_AT_ONCE 16                /* counts a work-item reads before it waits for them */
#define GV_LIST_ROOM(items) (2 * (items)) /* for parts with neighbours */

/* Neighbours of `sink` in `part`, which may be behind the last part. */
static inline uint gv_count_of(global const uint *part_count, uint part, uint n_parts, uint stride, uint sink)
{
    return part < n_parts ? part_count[(size_t)part * stride + sink] : 0;
}

/* Keeps the parts with neighbours in any order, as far as there is room; `sums`: how many they are, and their
 * neighbours.  Whether all had room. */
static inline int gv_find_parts(global const uint *part_count, uint n_parts, uint stride, uint sink, local uint *found,
                                local uint *found_count, local uint *sums)
{
    const uint me = get_local_id(0), items = get_local_size(0);
    if (me == 0)
        sums[0] = sums[1] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint first = me; first < n_parts; first += GV_LIST_AT_ONCE * items) {
        uint count[GV_LIST_AT_ONCE];
#pragma unroll
        for (uint k = 0; k < GV_LIST_AT_ONCE; k++)
            count[k] = gv_count_of(part_count, first + k * items, n_parts, stride, sink);
#pragma unroll
        for (uint k = 0; k < GV_LIST_AT_ONCE; k++)
            if (count[k] > 0) {
                const uint place = atomic_inc(&sums[0]);
                atomic_add(&sums[1], count[k]);
                if (place < GV_LIST_ROOM(items)) {
                    found[place] = first + k * items;
                    found_count[place] = count[k];
                }
            }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sums[0] <= GV_LIST_ROOM(items);
}

/* The sum of `mine` of work-items 0 ... me; `ends` holds those of all on return. */
static inline uint gv_scan(uint mine, local uint *ends)
{
    const uint me = get_local_id(0), items = get_local_size(0);
    ends[me] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < items; step *= 2) {
        const uint other = me >= step ? ends[me - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        ends[me] += other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return ends[me];
}

/* In the kernel: copies the `n` neighbours in `part`, before which there are `begin` in earlier parts.  No function: by
 * the kernel's `restrict` the loads of several do not wait for each other's stores, and Oclgrind takes no function's */
#define GV_COPY_PART(part, n, begin)                                                                                   \
    for (uint k = 0; k < (n) && (begin) + k < capacity; k++) {                                                         \
        const uint source = part_list[((size_t)(part)*stride + sink) * capacity + k];                                  \
        const size_t to = (size_t)sink * capacity + (begin) + k;                                                       \
        list[to] = listed ? source_list[source] : address_first + source;                                              \
        ids[to] = source_id[source];                                                                                   \
    }

kernel void gv_join_lists(global const uint *restrict part_count, global const uint *restrict part_list,
                          global const int *restrict source_id, global const uint *restrict source_list, uint listed,
                          uint address_first, global uint *restrict count, global uint *restrict list,
                          global int *restrict ids, uint n_parts, uint stride, uint capacity)
{
    local uint found[GV_LIST_ROOM(GV_LIST_ITEMS)], found_count[GV_LIST_ROOM(GV_LIST_ITEMS)];
    local uint sums[2], ends[GV_LIST_ITEMS];
    const uint sink = get_group_id(0), me = get_local_id(0), items = get_local_size(0);
    /* no branch around what has barriers, even one that all take: a compiler for CPUs made wrong lists of that */
    const int few = GV_LIST_ITEMS > 1 && gv_find_parts(part_count, n_parts, stride, sink, found, found_count, sums);
    const uint n_found = few ? sums[0] : 0, in_turns = few ? 0 : n_parts;
    uint before = few ? sums[1] : 0;
    for (uint mine = me; mine < n_found; mine += items) {
        uint begin = 0;
        for (uint other = 0; other < n_found; other++)
            begin += found[other] < found[mine] ? found_count[other] : 0;
        GV_COPY_PART(found[mine], found_count[mine], begin)
    }
    for (uint first = 0; first < in_turns; first += items) {
        const uint mine = gv_count_of(part_count, first + me, n_parts, stride, sink);
        const uint begin = before + gv_scan(mine, ends) - mine;
        GV_COPY_PART(first + me, mine, begin)
        before += ends[items - 1];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (me == 0)
        count[sink] = before;
}
