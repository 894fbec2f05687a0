/* Adds the partial results of force.cl, always in the same order.
 *
 * A group of GV_REDUCE_THREADS work-items is `rows` x columns; a column is one sink.  Row r adds parts r, r + rows,
 * ...; then the rows are added by halves.  Groups along dimension 1 are the components; with GV_NEAREST one more finds
 * the nearest neighbour (of two at one distance the lower address).
 */
#include "lib/real.h"

#define GV_COMPONENTS (GV_ORDER == 2 ? 4 : GV_ORDER == 4 ? 7 : 10)
#include "direct/result.h"

#if GV_LANES != 1
#error "GV_LANES must be 1 in reduce.cl"
#endif

__attribute__((reqd_work_group_size(GV_REDUCE_THREADS, 1, 1))) kernel void
gv_reduce(global const gv_scalar *restrict partial, global gv_scalar *restrict result, uint n_parts, uint part_stride,
          uint result_stride, uint n_sinks, uint rows)
{
    local gv_scalar sums[GV_WIDE_WORDS * GV_REDUCE_THREADS];
    const uint me = get_local_id(0);
    const uint columns = GV_REDUCE_THREADS / rows;
    const uint row = me / columns;
    const uint sink = get_group_id(0) * columns + me % columns;
    const uint c = get_group_id(1);

#if GV_NEAREST
    local uint addresses[GV_REDUCE_THREADS];
    if (c == GV_COMPONENTS) {
        gv_scalar r2 = GV_HUGE;
        uint address = 0xffffffffu;
        if (sink < n_sinks)
#pragma unroll 4
            for (uint p = row; p < n_parts; p += rows) {
                const gv_scalar other = gv_result_plane(partial, p, GV_NEAREST_R2, part_stride)[sink];
                if (other < r2) {
                    r2 = other;
                    address = ((global const uint *)gv_result_plane(partial, p, GV_NEAREST_R2 + 1, part_stride))[sink];
                }
            }
        for (uint step = rows / 2; step > 0; step /= 2) {
            sums[me] = r2;
            addresses[me] = address;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (row < step) {
                const gv_scalar other = sums[me + step * columns];
                const uint other_address = addresses[me + step * columns];
                if (other < r2 || (other == r2 && other_address < address)) {
                    r2 = other;
                    address = other_address;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (row == 0 && sink < n_sinks) {
            gv_result_plane(result, 0, GV_NEAREST_R2, result_stride)[sink] = r2;
            ((global uint *)gv_result_plane(result, 0, GV_NEAREST_R2 + 1, result_stride))[sink] = address;
        }
        return;
    }
#endif

    gv_wide total = gv_wide_zero();
    if (sink < n_sinks)
#pragma unroll 4
        for (uint p = row; p < n_parts; p += rows) {
            global const gv_scalar *from = gv_result_plane(partial, p, c * GV_WIDE_WORDS, part_stride) + sink;
            gv_wide part;
#if GV_WIDE_WORDS == 2
            part.hi = from[0];
            part.lo = from[part_stride];
#else
            part = from[0];
#endif
            total = gv_wide_sum(total, part);
        }
    for (uint step = rows / 2; step > 0; step /= 2) {
        gv_wide_put(total, sums, me, GV_REDUCE_THREADS);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (row < step)
            total = gv_wide_sum(total, gv_wide_get(sums, me + step * columns, GV_REDUCE_THREADS));
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row == 0 && sink < n_sinks) {
        global gv_scalar *to = gv_result_plane(result, 0, c * GV_WIDE_WORDS, result_stride) + sink;
        to[0] = gv_wide_high(total);
#if GV_WIDE_WORDS == 2
        to[result_stride] = total.lo;
#endif
    }
}
