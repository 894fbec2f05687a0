/* Sinks of a work-item and their sums, and sources as they are read; the macros are those of evaluate.cl. */
typedef struct gv_item {
    gv_sink sink[GV_S];
    gv_wide total[GV_S][GV_COMPONENTS];
} gv_item;

#if GV_LANES == 1
/* Sink k of unit `u`; beyond its last one, one that computes as that one does, for nothing. */
__attribute__((always_inline)) static inline void
gv_load_sink(gv_sink *sink, const uint4 u, uint k, global const gv_scalar4 *pos, global const gv_scalar4 *low)
{
    const uint b = u.x + min(k, u.y - 1);
    const gv_scalar4 p = pos[b];
    sink->x = p.x, sink->y = p.y, sink->z = p.z;
#if GV_LOW
    const gv_scalar4 l = low[b];
    sink->lx = l.x, sink->ly = l.y, sink->lz = l.z;
#endif
    sink->address = k < u.y ? (int)b : -1;
}
#else
__attribute__((always_inline)) static inline void
gv_load_sink(gv_sink *sink, const uint4 u, uint first, global const gv_scalar4 *pos, global const gv_scalar4 *low)
{
    gv_scalar column[6][GV_LANES];
    int address[GV_LANES];
    for (uint lane = 0; lane < GV_LANES; lane++) {
        const uint k = first + lane, b = u.x + min(k, u.y - 1);
        const gv_scalar4 p = pos[b];
        column[0][lane] = p.x, column[1][lane] = p.y, column[2][lane] = p.z;
#if GV_LOW
        const gv_scalar4 l = low[b];
        column[3][lane] = l.x, column[4][lane] = l.y, column[5][lane] = l.z;
#endif
        address[lane] = k < u.y ? (int)b : -1;
    }
    sink->x = gv_load(column[0]), sink->y = gv_load(column[1]), sink->z = gv_load(column[2]);
#if GV_LOW
    sink->lx = gv_load(column[3]), sink->ly = gv_load(column[4]), sink->lz = gv_load(column[5]);
#endif
    sink->address = gv_load(address);
}
#endif

/* Sinks at `at` + s * step (and lane) of unit `u`. */
__attribute__((always_inline)) static inline void gv_load_sinks(gv_item *item, const uint4 u, uint at, uint step,
                                                                global const gv_scalar4 *pos,
                                                                global const gv_scalar4 *low)
{
#pragma unroll
    for (int s = 0; s < GV_S; s++) {
        gv_load_sink(&item->sink[s], u, at + s * step, pos, low);
#pragma unroll
        for (int c = 0; c < GV_COMPONENTS; c++)
            item->total[s][c] = gv_wide_zero();
    }
}

/* Float sums of some sources go into the wide sums. */
__attribute__((always_inline)) static inline void gv_flush(gv_item *item, gv_real sum[GV_S][GV_COMPONENTS])
{
#pragma unroll
    for (int s = 0; s < GV_S; s++)
#pragma unroll
        for (int c = 0; c < GV_COMPONENTS; c++)
            item->total[s][c] = gv_wide_flush(item->total[s][c], sum[s][c]);
}

__attribute__((always_inline)) static inline void gv_clear(gv_real sum[GV_S][GV_COMPONENTS])
{
#pragma unroll
    for (int s = 0; s < GV_S; s++)
#pragma unroll
        for (int c = 0; c < GV_COMPONENTS; c++)
            sum[s][c] = (gv_real)(0);
}

/* shift: {high words, low words} of each */
static inline gv_source gv_fetch(global const gv_scalar4 *pos, global const gv_scalar4 *low, uint j,
                                 global const gv_scalar4 *shift, uint which)
{
    gv_source source;
    source.pos = pos[j];
#if GV_LOW
    source.low = low[j];
#endif
#if GV_SHIFTS
    const gv_scalar4 by = shift[2 * which], at = source.pos;
    source.pos = (gv_scalar4)(at.xyz + by.xyz, at.w);
#if GV_LOW
    const gv_scalar4 part = source.pos - at;
    const gv_scalar4 rest = (at - (source.pos - part)) + (by - part);
    source.low = (gv_scalar4)(source.low.xyz + (rest.xyz + shift[2 * which + 1].xyz), 0);
#endif
#endif
    return source;
}

__attribute__((always_inline)) static inline void gv_put(const gv_wide *w, const uint4 u, uint k,
                                                         global gv_scalar4 *result)
{
    const uint vectors = GV_TASKS_VECTORS(GV_LOW);
#if GV_LANES == 1
    gv_scalar4 high = (gv_scalar4)(gv_wide_high(w[0]), gv_wide_high(w[1]), gv_wide_high(w[2]), 0);
#if GV_POTENTIAL
    high.w = gv_wide_high(w[3]);
#endif
#if GV_WIDE_WORDS == 2
    gv_scalar4 low = (gv_scalar4)(w[0].lo, w[1].lo, w[2].lo, 0);
#if GV_POTENTIAL
    low.w = w[3].lo;
#endif
#endif
    if (k < u.y) {
        global gv_scalar4 *to = result + vectors * (size_t)(u.w + k);
#if GV_LOW
        to[0] = high;
        to[1] = low;
#elif GV_WIDE_WORDS == 2
        to[0] = high + low;
#else
        to[0] = high;
#endif
    }
#else
    gv_scalar column[GV_COMPONENTS * GV_WIDE_WORDS][GV_LANES];
    for (int c = 0; c < GV_COMPONENTS; c++) {
        gv_store(gv_wide_high(w[c]), column[c]);
#if GV_WIDE_WORDS == 2
        gv_store(w[c].lo, column[GV_COMPONENTS + c]);
#endif
    }
    for (uint lane = 0; lane < GV_LANES && k + lane < u.y; lane++) {
        global gv_scalar *to = (global gv_scalar *)(result + vectors * (size_t)(u.w + k + lane));
        for (int c = 0; c < GV_COMPONENTS; c++) {
#if GV_LOW
            to[c] = column[c][lane];
            to[4 + c] = column[GV_COMPONENTS + c][lane];
#elif GV_WIDE_WORDS == 2
            to[c] = column[c][lane] + column[GV_COMPONENTS + c][lane];
#else
            to[c] = column[c][lane];
#endif
        }
    }
#endif
}
