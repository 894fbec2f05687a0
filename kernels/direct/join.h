/* The end of a part: sums of the rows of a group become one, which goes into the partial results. */
#if GV_SPLIT > 1
/* Rows are added by halves, always in the same order; row 0 has the sum.  `words`: a wide result a work-item. */
__attribute__((always_inline)) static inline void gv_join_sums(gv_wide *total, local gv_real *words, uint row)
{
    const uint me = get_local_id(0);
    for (uint step = GV_SPLIT / 2; step > 0; step /= 2) {
#pragma unroll
        for (int c = 0; c < GV_COMPONENTS; c++)
            gv_wide_put(total[c], words + c * GV_WIDE_WORDS * GV_THREADS, me, GV_THREADS);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (row < step) {
#pragma unroll
            for (int c = 0; c < GV_COMPONENTS; c++)
                total[c] = gv_wide_sum(
                    total[c], gv_wide_get(words + c * GV_WIDE_WORDS * GV_THREADS, me + step * GV_ROW, GV_THREADS));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif

/* Vector s of the item, which begins at sink i, into the partial results of its group along the sources. */
__attribute__((always_inline)) static inline void gv_store_sums(const gv_item *item, int s, uint i,
                                                                global gv_scalar *partial, uint stride)
{
#pragma unroll
    for (int c = 0; c < GV_COMPONENTS; c++) {
        global gv_scalar *out = gv_result_plane(partial, GV_BLOCK_OF(item), c * GV_WIDE_WORDS, stride) + i;
        gv_store(gv_wide_high(item->total[s][c]), out);
#if GV_WIDE_WORDS == 2
        gv_store(item->total[s][c].lo, out + stride);
#endif
    }
#if GV_NEAREST
    gv_store(item->found[s].r2, gv_result_plane(partial, GV_BLOCK_OF(item), GV_NEAREST_R2, stride) + i);
    gv_store(item->found[s].nearest,
             (global uint *)gv_result_plane(partial, GV_BLOCK_OF(item), GV_NEAREST_R2 + 1, stride) + i);
#endif
}
