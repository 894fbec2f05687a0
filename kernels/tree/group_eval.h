/* Part of walk_group.cl: lists of bodies and cells onto the sinks, far cells into the group's expansion. */

/* bodies from[0 ... count-1] onto all sinks */
static inline void gv_eval_bodies(gv_sinks *sinks, const gv_sources *sources, const gv_room *room,
                                  local const uint *from, uint count, uint2 own)
{
    uint me = get_local_id(0), part = me / GV_COLUMNS;
    local gv_scalar4 *tile = room->tile;
    if (me == 0)
        *room->flag = 0;
    gv_group_sync();
    for (uint k = me; k < count; k += GV_THREADS) {
        uint id = from[k];
        gv_scalar4 body = sources->body[id], low = gv_low_of(sources->body_low, id);
        GV_BRING_NEAR(sources, &body, &low);
        tile[k] = body;
#if GV_PRECISION == GV_DS
        tile[GV_TILE + k] = low;
#endif
        room->tile_id[k] = id;
        if (id - own.x < own.y)
            *room->flag = 1;
    }
    gv_group_sync();
    uint share = (count + GV_SPLIT - 1) / GV_SPLIT;
    uint begin = part * share, end = min(begin + share, count);
    if (*room->flag GV_OR_WIDE(sources)) {
#pragma unroll 2
        for (uint j = begin; j < end; j++) {
            gv_scalar4 b = tile[j];
            uint id = room->tile_id[j];
            for (int s = 0; s < GV_SINKS_PER_ITEM; s++)
                gv_pair_add_other(&sinks->f[s], GV_TO_IMAGE(s, b, tile[GV_TILE + j]), b.w,
                                  gv_soften(sources->eps2, sinks->soft[s], sources->body_soft[id]), sources->eps2,
                                  id != sinks->self[s] GV_SHORT_OF(sources));
        }
    } else {
#pragma unroll 8
        for (uint j = begin; j < end; j++) {
            gv_scalar4 b = tile[j];
            for (int s = 0; s < GV_SINKS_PER_ITEM; s++)
                gv_pair_add(&sinks->f[s], GV_TO_BODY(s, b, tile[GV_TILE + j]), b.w,
                            gv_soften(sources->eps2, sinks->soft[s], sources->body_soft[room->tile_id[j]]),
                            sources->eps2 GV_SHORT_OF(sources));
        }
    }
    gv_sinks_take(sinks);
    gv_group_sync();
}

/* A leaf at the end of the keys: as many bodies as share one place.  It is rare, so the code is short rather than
 * fast. */
static inline void gv_eval_large(gv_sinks *sinks, const gv_sources *sources, uint2 piece)
{
#pragma unroll 1
    for (uint id = piece.x + get_local_id(0) / GV_COLUMNS; id < piece.x + piece.y; id += GV_SPLIT) {
        gv_scalar4 b = sources->body[id];
        for (int s = 0; s < GV_SINKS_PER_ITEM; s++)
            gv_pair_add_other(&sinks->f[s], GV_TO_IMAGE(s, b, sources->body_low[id]), b.w,
                              gv_soften(sources->eps2, sinks->soft[s], sources->body_soft[id]), sources->eps2,
                              id != sinks->self[s] GV_SHORT_OF(sources));
        gv_sinks_take(sinks);
    }
}

static inline gv_moments gv_moments_of(gv_scalar4 z, gv_scalar4 q, gv_scalar4 r)
{
    gv_moments c;
    c.x = z.x, c.y = z.y, c.z = z.z, c.m = z.w;
#if GV_MOMENTS == 2
    c.xx = q.x, c.xy = q.y, c.xz = q.z, c.yy = q.w, c.yz = r.x, c.zz = r.y;
#else
    c.xx = c.xy = c.xz = c.yy = c.yz = c.zz = 0;
#endif
    return c;
}

/* cells from[0 ... count-1] onto all sinks */
static inline void gv_eval_cells(gv_sinks *sinks, const gv_sources *sources, const gv_room *room,
                                 local const uint *from, uint count)
{
    uint me = get_local_id(0), part = me / GV_COLUMNS;
    local gv_scalar4 *tile = room->tile;
    for (uint k = me; k < count; k += GV_THREADS) {
        global const gv_scalar4 *c = sources->cell + GV_CELL * (size_t)from[k];
        gv_scalar4 centre = c[0], low = gv_low_of(c, 4);
        GV_BRING_NEAR(sources, &centre, &low);
        tile[GV_TILE_WORDS * k] = centre;
        tile[GV_TILE_WORDS * k + 1] = c[2];
        tile[GV_TILE_WORDS * k + 2] = c[3];
#if GV_PRECISION == GV_DS
        tile[GV_TILE_WORDS * k + 3] = low;
#endif
    }
    gv_group_sync();
    uint share = (count + GV_SPLIT - 1) / GV_SPLIT;
    uint begin = part * share, end = min(begin + share, count);
#pragma unroll 2
    for (uint j = begin; j < end; j++) {
        local const gv_scalar4 *z = tile + GV_TILE_WORDS * j;
        gv_moments c = gv_moments_of(z[0], z[1], z[2]);
        for (int s = 0; s < GV_SINKS_PER_ITEM; s++)
            gv_cell_force(&sinks->f[s], GV_FROM_CELL(s, c, z[3]), c,
                          gv_soften(sources->eps2, sinks->soft[s], sources->cell_soft[from[j]]) GV_SHORT_OF(sources));
    }
    gv_sinks_take(sinks);
    gv_group_sync();
}

/* one cell of the list per work-item, into the group's expansion */
static inline void gv_eval_far(gv_local *local_sum, const gv_group *g, const gv_sources *sources,
                               local const uint *from, uint count)
{
    uint me = get_local_id(0);
    if (me < count) {
        global const gv_scalar4 *at = sources->cell + GV_CELL * (size_t)from[me];
        gv_scalar4 centre = at[0], low = gv_low_of(at, 4);
        GV_BRING_NEAR(sources, &centre, &low);
        gv_moments c = gv_moments_of(centre, at[2], at[3]);
        gv_scalar per1 = g->inverse_scale, per2 = per1 * per1;
        c.xx *= per2, c.xy *= per2, c.xz *= per2, c.yy *= per2, c.yz *= per2, c.zz *= per2;
        gv_cell_expand(local_sum, gv_apart(g->centre.x, 0, c.x, low.x) * per1,
                       gv_apart(g->centre.y, 0, c.y, low.y) * per1, gv_apart(g->centre.z, 0, c.z, low.z) * per1, c,
                       gv_soften(sources->eps2, g->soft, sources->cell_soft[from[me]]) *
                           per2 GV_SHORT_IN_UNIT(sources, per1));
#if GV_PRECISION == GV_DS
        gv_local_take(local_sum);
#endif
    }
}

/* Full lists, and what is left of them when the stack is empty. */
static inline void gv_eval_lists(gv_sinks *sinks, gv_local *local_sum, const gv_group *g, const gv_sources *sources,
                                 const gv_room *room, gv_filled *filled)
{
    uint least = filled->top > 0 ? GV_TILE : 1, least_far = filled->top > 0 ? GV_THREADS : 1;
    for (int first = GV_ITEM_LOOPS; first || filled->bodies >= least; first = 0) {
        uint n = gv_turn_count(filled->bodies, least, GV_TILE);
        filled->bodies -= n;
        gv_eval_bodies(sinks, sources, room, room->bodies + filled->bodies, n, g->own);
    }
    for (int first = GV_ITEM_LOOPS; first || filled->far >= least_far; first = 0) {
        uint n = gv_turn_count(filled->far, least_far, GV_THREADS);
        filled->far -= n;
        gv_eval_far(local_sum, g, sources, room->far + filled->far, n);
        gv_group_sync();
    }
    for (int first = GV_ITEM_LOOPS; first || filled->near >= least; first = 0) {
        uint n = gv_turn_count(filled->near, least, GV_TILE);
        filled->near -= n;
        gv_eval_cells(sinks, sources, room, room->near + filled->near, n);
    }
}
