/* Part of walk_group.cl: the sinks of a work-item, the group's local memory, distances. */

typedef struct gv_sinks {
    gv_scalar4 p[GV_SINKS_PER_ITEM];
    uint self[GV_SINKS_PER_ITEM];
    gv_force f[GV_SINKS_PER_ITEM];
#if GV_SOFTEN
    gv_scalar soft[GV_SINKS_PER_ITEM];
#endif
#if GV_PRECISION == GV_DS
    gv_scalar4 low[GV_SINKS_PER_ITEM];
    gv_total total[GV_SINKS_PER_ITEM];
#endif
} gv_sinks;

/* local memory of the work-group */
typedef struct gv_room {
    local uint *stack, *bodies, *near, *far, *tile_id, *flag, *large;
    local gv_scalar4 *tile;
    local GV_PACK_SCRATCH *scratch;
    local uint2 *piece;
} gv_room;

/* entries of the stack and of the lists */
typedef struct gv_filled {
    uint top, bodies, near, far;
} gv_filled;

#if GV_PRECISION == GV_DS
#define GV_TILE_WORDS (GV_TILE_VECTORS + 1)
static inline void gv_sinks_take(gv_sinks *sinks)
{
    for (int s = 0; s < GV_SINKS_PER_ITEM; s++)
        gv_total_take(&sinks->total[s], &sinks->f[s]);
}
#else
#define GV_TILE_WORDS GV_TILE_VECTORS
#define gv_sinks_take(sinks)
#endif

/* the three components of body b - sink s, and of sink s - cell c */
#define GV_TO_BODY(s, b, b_low)                                                                                        \
    gv_apart((b).x, (b_low).x, sinks->p[s].x, sinks->low[s].x),                                                        \
        gv_apart((b).y, (b_low).y, sinks->p[s].y, sinks->low[s].y),                                                    \
        gv_apart((b).z, (b_low).z, sinks->p[s].z, sinks->low[s].z)
#define GV_FROM_CELL(s, c, c_low)                                                                                      \
    gv_apart(sinks->p[s].x, sinks->low[s].x, (c).x, (c_low).x),                                                        \
        gv_apart(sinks->p[s].y, sinks->low[s].y, (c).y, (c_low).y),                                                    \
        gv_apart(sinks->p[s].z, sinks->low[s].z, (c).z, (c_low).z)

#if GV_PRECISION == GV_DS
#define gv_low_of(low, k) (low)[k]
#else
#define gv_low_of(low, k) (gv_scalar4)(0)
#endif

#if GV_SHORT_RANGE
/* the same for bodies of which every sink has an image of its own */
#define GV_TO_IMAGE(s, b, b_low)                                                                                       \
    gv_nearest(gv_apart((b).x, (b_low).x, sinks->p[s].x, sinks->low[s].x), sources->period),                           \
        gv_nearest(gv_apart((b).y, (b_low).y, sinks->p[s].y, sinks->low[s].y), sources->period),                       \
        gv_nearest(gv_apart((b).z, (b_low).z, sinks->p[s].z, sinks->low[s].z), sources->period)
#else
#define GV_TO_IMAGE(s, b, b_low) GV_TO_BODY(s, b, b_low)
#endif

static inline void gv_take_sinks(gv_sinks *sinks, const gv_group *g, global const gv_scalar4 *points,
                                 global const gv_scalar4 *points_low, global const gv_scalar *point_soft,
                                 global const uint *self, int own)
{
#pragma unroll
    for (int s = 0; s < GV_SINKS_PER_ITEM; s++) {
        uint k = g->first + min((uint)get_local_id(0) % GV_COLUMNS + s * GV_COLUMNS, g->count - 1);
        sinks->p[s] = points[k];
        sinks->self[s] = own == GV_OWN_NONE ? GV_NO_BODY : self ? self[k] : k;
        gv_force_clear(&sinks->f[s]);
#if GV_SOFTEN
        sinks->soft[s] = GV_SOFTS_SINKS ? point_soft[k] : 0;
#endif
#if GV_PRECISION == GV_DS
        sinks->low[s] = points_low[k];
        gv_total_clear(&sinks->total[s]);
#endif
    }
}
