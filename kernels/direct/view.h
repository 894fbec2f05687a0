/* Where a stretch of sources lies, in local or in global memory, and how one source is fetched from it.
 *
 * GV_PLANES(use): use(plane) for every plane of four scalars that a source has here, in the kernel's order */
#if GV_PRECISION == GV_DS
#define GV_IF_LOW(x) x
#else
#define GV_IF_LOW(x)
#endif
#if GV_ORDER >= 4
#define GV_IF_4(x) x
#else
#define GV_IF_4(x)
#endif
#if GV_ORDER >= 6
#define GV_IF_6(x) x
#else
#define GV_IF_6(x)
#endif
#if GV_QUADRUPOLE
#define GV_IF_QUADRUPOLE(x) x
#else
#define GV_IF_QUADRUPOLE(x)
#endif
#define GV_PLANES(use) use(pos) GV_IF_LOW(use(lo)) GV_IF_4(use(vel)) GV_IF_6(use(acc)) GV_IF_QUADRUPOLE(use(qa) use(qb))

#if GV_TILE > 0
#define GV_NEAR local
/* Every row has a tile: its work-items wait for each other, and where it lies in one warp for no other warp. */
#if defined(GV_PTX_ASM) && GV_THREADS % 32 == 0 && 32 % GV_ROW == 0
#define gv_row_sync() __asm volatile("bar.warp.sync 0xffffffff;" : : : "memory")
#else
#define gv_row_sync() barrier(CLK_LOCAL_MEM_FENCE)
#endif
#else
#define GV_NEAR global
#endif
#define GV_VIEW_OF(p) GV_NEAR const gv_scalar4 *p;
#define GV_FETCH(p) s.p = v.p[j];

typedef struct gv_view {
    GV_PLANES(GV_VIEW_OF)
#if GV_SOFTEN_OF_SOURCES(GV_SOFTEN)
    GV_NEAR const gv_scalar *softening;
#endif
    GV_NEAR const int *id;
} gv_view;

static inline gv_source gv_fetch(const gv_view v, uint j)
{
    gv_source s;
    GV_PLANES(GV_FETCH)
#if GV_SOFTEN_OF_SOURCES(GV_SOFTEN)
    s.eps2 = v.softening[j] * v.softening[j];
#endif
    return s;
}

/* A source that is read before it is needed.  A compiler puts the load back to where it is needed, unless something
 * that it cannot look into has the value in between. */
#if GV_PREFETCH
#if !defined(GV_PTX_ASM)
#define GV_HOLD(p)
#elif GV_PRECISION == GV_DP
#define GV_HOLD(p) asm volatile("" : "+d"(s.p.x), "+d"(s.p.y), "+d"(s.p.z), "+d"(s.p.w));
#else
#define GV_HOLD(p) asm volatile("" : "+f"(s.p.x), "+f"(s.p.y), "+f"(s.p.z), "+f"(s.p.w));
#endif
static inline gv_source gv_fetch_early(const gv_view v, uint j)
{
    gv_source s = gv_fetch(v, j);
    GV_PLANES(GV_HOLD)
    return s;
}
#endif

/* a match of ids, as a mask for gv_real; id -1 matches nothing */
static inline gv_mask gv_same(gv_int sink_id, int source_id)
{
#if GV_LANES == 1
    return (sink_id == source_id) & (sink_id != -1);
#else
    return gv_widen((sink_id == (gv_int)(source_id)) & (sink_id != (gv_int)(-1)));
#endif
}
