/* Adds the partial results of force.cl, always in the same order, and puts the sums where they go: into the result for
 * the host, into planes of the sinks' bodies, or into both.
 *
 * A group of GV_REDUCE_THREADS work-items is `rows` x columns; a column is one sink.  Row r adds parts r, r + rows,
 * ...; then the rows are added by halves.  Groups along dimension 1 are the components; with GV_NEAREST one more finds
 * the nearest neighbour (of two at one distance the lower address).
 *
 * GV_OTHER: precision of the sinks' bodies
 * GV_DUE    1: only the device knows how many sinks and parts there are (direct/cut.h)
 */
#include "lib/real.h"

#include "lib/other.h"

#include "direct/layout.h"

#include "direct/cut.h"

#define GV_COMPONENTS GV_DIRECT_COMPONENTS(GV_ORDER)
#include "direct/result.h"

#if GV_LANES != 1
#error "GV_LANES must be 1 in reduce.cl"
#endif

/* The sum of component c of a sink over parts row, row + rows, ... */
static inline gv_wide gv_add_parts(global const gv_scalar *partial, uint c, uint sink, uint row, uint rows,
                                   uint n_parts, uint part_stride)
{
    gv_wide total = gv_wide_zero();
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
    return total;
}

/* Component c of a result into its word of body `at`: position of x, y, z in a word of four, or the potential. */
static inline void gv_put_word(gv_other value, uint c, size_t at, uint put, global gv_other *acc, global gv_other *pot,
                               global gv_other *jerk, global gv_other *snap)
{
    global gv_other *word = c == 3 ? pot + at : acc + 4 * at + c;
#if GV_ORDER >= 4
    word = c > 3 ? jerk + 4 * at + (c - 4) : word;
#endif
#if GV_ORDER >= 6
    word = c > 6 ? snap + 4 * at + (c - 7) : word;
#endif
    *word = put & GV_PUT_ADD ? *word + value : value;
}

#if GV_NEAREST
/* Address and id of the nearest neighbour, which was found as source `address` of those the force kernel counts. */
static inline void gv_put_name(uint address, global gv_scalar *result, uint sink, uint stride,
                               global const int *source_id, global const uint *source_list, uint listed,
                               uint address_first)
{
    global uint *to = (global uint *)gv_result_plane(result, 0, GV_NEAREST_R2 + 1, stride);
    global uint *ids = (global uint *)gv_result_plane(result, 0, GV_NEAREST_R2 + 2, stride);
    const int none = address == 0xffffffffu;
    to[sink] = none ? address : listed ? source_list[address] : address_first + address;
    ids[sink] = none ? 0xffffffffu : (uint)source_id[address];
}

/* Where one part has all sources, its results are final and only the neighbour's address and id are missing; `stride`
 * is that of the part. */
kernel void gv_name_nearest(global gv_scalar *restrict result, global const int *restrict source_id,
                            global const uint *restrict source_list, uint listed, uint address_first, uint n_sinks,
                            uint stride)
{
    const uint sink = get_global_id(0);
    if (sink >= n_sinks)
        return;
    const uint address = ((global const uint *)gv_result_plane(result, 0, GV_NEAREST_R2 + 1, stride))[sink];
    gv_put_name(address, result, sink, stride, source_id, source_list, listed, address_first);
}

/* The nearest neighbour of a sink over parts row, row + rows, ...; `address` 0xffffffff: none */
static inline gv_scalar gv_nearest_part(global const gv_scalar *partial, uint sink, uint row, uint rows, uint n_parts,
                                        uint part_stride, uint *address)
{
    gv_scalar r2 = GV_HUGE;
    *address = 0xffffffffu;
#pragma unroll 4
    for (uint p = row; p < n_parts; p += rows) {
        const gv_scalar other = gv_result_plane(partial, p, GV_NEAREST_R2, part_stride)[sink];
        if (other < r2) {
            r2 = other;
            *address = ((global const uint *)gv_result_plane(partial, p, GV_NEAREST_R2 + 1, part_stride))[sink];
        }
    }
    return r2;
}

static inline gv_scalar gv_join_rows(gv_scalar r2, uint *address, local gv_scalar *squares, local uint *addresses,
                                     uint row, uint rows)
{
    const uint me = get_local_id(0), columns = GV_REDUCE_THREADS / rows;
    for (uint step = rows / 2; step > 0; step /= 2) {
        squares[me] = r2;
        addresses[me] = *address;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (row < step) {
            const gv_scalar other = squares[me + step * columns];
            const uint other_address = addresses[me + step * columns];
            if (other < r2 || (other == r2 && other_address < *address)) {
                r2 = other;
                *address = other_address;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return r2;
}
#endif

/* Source k of the force kernel has the id source_id[k]; with `listed` it is body source_list[k], else body
 * address_first + k.
 * Sink k is body sink_list[k] with `sink_listed`, else first_sink + k.  factor: from the device's unit to that of the
 * words (of accelerations and their derivatives, of potentials). */
__attribute__((reqd_work_group_size(GV_REDUCE_THREADS, 1, 1))) kernel void
gv_reduce(global const gv_scalar *restrict partial, global gv_scalar *restrict result,
          global const int *restrict source_id, global const uint *restrict source_list, uint listed,
          uint address_first, uint n_parts, uint part_stride, uint n_sinks, uint rows, uint put,
          global const uint *restrict sink_list, uint sink_listed, uint first_sink, gv_other factor_acc,
          gv_other factor_pot, global gv_other *acc, global gv_other *pot, global gv_other *jerk,
          global gv_other *snap GV_CUT_ARGS_OF_ANY)
{
#if GV_DUE
    const gv_cut cut = gv_find_cut(head, cuts, above, most, group_sinks);
    if (cut.groups == 0)
        return;
    n_sinks = cut.sinks, n_parts = cut.blocks, rows = cut.rows;
#endif
    local gv_scalar sums[GV_WIDE_WORDS * GV_REDUCE_THREADS];
    const uint me = get_local_id(0);
    const uint columns = GV_REDUCE_THREADS / rows;
    const uint row = me / columns;
    const uint sink = get_group_id(0) * columns + me % columns;
    const uint c = get_group_id(1);
    const uint there = min(sink, n_sinks - 1);

#if GV_NEAREST
    local uint addresses[GV_REDUCE_THREADS];
    if (c == GV_COMPONENTS) {
        uint address;
        gv_scalar r2 = gv_nearest_part(partial, there, row, rows, n_parts, part_stride, &address);
        r2 = gv_join_rows(r2, &address, sums, addresses, row, rows);
        if (row == 0 && sink < n_sinks) {
            gv_result_plane(result, 0, GV_NEAREST_R2, n_sinks)[sink] = r2;
            gv_put_name(address, result, sink, n_sinks, source_id, source_list, listed, address_first);
        }
        return;
    }
#endif

    gv_wide total = gv_add_parts(partial, c, there, row, rows, n_parts, part_stride);
    for (uint step = rows / 2; step > 0; step /= 2) {
        gv_wide_put(total, sums, me, GV_REDUCE_THREADS);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (row < step)
            total = gv_wide_sum(total, gv_wide_get(sums, me + step * columns, GV_REDUCE_THREADS));
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row > 0 || sink >= n_sinks)
        return;
#if GV_WIDE_WORDS == 2
    const gv_scalar low = total.lo;
#else
    const gv_scalar low = 0;
#endif
    if (put & GV_PUT_HOST) {
        global gv_scalar *to = gv_result_plane(result, 0, c * GV_WIDE_WORDS, n_sinks) + sink;
        to[0] = gv_wide_high(total);
#if GV_WIDE_WORDS == 2
        to[n_sinks] = low;
#endif
    }
    if (put & GV_PUT_PLANES) {
        const size_t at = sink_listed ? sink_list[sink] : first_sink + sink;
        const gv_other value = gv_other_scaled(gv_wide_high(total), low, c == 3 ? factor_pot : factor_acc);
        gv_put_word(value, c, at, put, acc, pot, jerk, snap);
    }
}
