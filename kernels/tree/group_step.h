/* Part of walk_group.cl: cells from the stack, what the group does with them, children and lists. */

/* What a group does with a cell. */
typedef struct gv_verdict {
    uint first, children, leaf_bodies; /* of an opened cell */
    int is_far, is_near;
} gv_verdict;

static inline gv_verdict gv_test_cell(gv_scalar4 z, gv_scalar4 w, const gv_group *g, const gv_sources *sources, uint c)
{
    gv_verdict v;
    gv_scalar rx = fabs(gv_from_centre(sources, z.x, g->centre.x, g));
    gv_scalar ry = fabs(gv_from_centre(sources, z.y, g->centre.y, g));
    gv_scalar rz = fabs(gv_from_centre(sources, z.z, g->centre.z, g));
    gv_scalar dx = fmax(rx - g->half_side.x, (gv_scalar)0), dy = fmax(ry - g->half_side.y, (gv_scalar)0);
    gv_scalar dz = fmax(rz - g->half_side.z, (gv_scalar)0);
    gv_scalar r2 = gv_fma(rx, rx, gv_fma(ry, ry, rz * rz)), d2 = gv_fma(dx, dx, gv_fma(dy, dy, dz * dz));
    uint info = gv_held(w.w);
    int leaf = (info & GV_LEAF) != 0, accept = d2 > w.x * g->open && d2 > w.y;
#if GV_SHAPE_GUARD
    gv_scalar outside =
        gv_shape_guard(gv_soften(sources->eps2, g->soft, sources->cell_soft[c])) + GV_R(0.8) * sqrt(w.y);
    accept = accept && (d2 > outside * outside || w.y < 0);
#endif
#if GV_SHORT_RANGE
    gv_scalar bmax = GV_R(0.8) * sqrt(w.y), end = sources->range.y + bmax;
    if (d2 > end * end)
        return (gv_verdict){0, 0, 0, 0, 0};
    accept = accept && bmax < gv_room_beside(sources, g);
#endif
    v.is_far = accept && r2 > g->reach && r2 * r2 * r2 > g->far * z.w;
    /* one or two bodies are cheaper than their cell */
    v.is_near = accept && !v.is_far && (!leaf || (info & GV_COUNT) > 2);
    int open = !v.is_far && !v.is_near;
    v.first = gv_held(w.z);
    v.leaf_bodies = open && leaf ? info & GV_COUNT : 0u;
    v.children = open && !leaf ? info : 0u;
    return v;
}

/* Bodies of leaves beyond GV_N_LEAF: the work-items' leaves one after the other.  Returns how many bodies. */
static inline uint gv_walk_large(gv_sinks *sinks, const gv_sources *sources, const gv_room *room, uint2 mine, int some)
{
    uint me = get_local_id(0), sum = 0, pieces = GV_ITEM_LOOPS && !some ? 0 : GV_THREADS;
    room->piece[me] = mine;
    gv_group_sync();
    for (uint k = 0; k < pieces; k++) {
        gv_eval_large(sinks, sources, room->piece[k]);
        sum += room->piece[k].y;
    }
    gv_group_sync();
    if (me == 0)
        *room->large = 0;
    gv_group_sync();
    return sum;
}

/* One step: every work-item tests a cell from the top of the stack, children and lists get what comes of it.  Returns
 * what was listed, as counts[] of the kernel has it. */
static inline uint4 gv_walk_step(gv_sinks *sinks, const gv_group *g, const gv_sources *sources, const gv_room *room,
                                 gv_filled *filled)
{
    uint me = get_local_id(0), take = gv_take_count(filled->top, GV_THREADS, GV_STACK), c = 0;
    gv_verdict v = {0, 0, 0, 0, 0};
    if (me < take) {
        c = room->stack[filled->top - take + me];
        v = gv_test_cell(sources->cell[GV_CELL * (size_t)c], sources->cell[GV_CELL * (size_t)c + 1], g, sources, c);
    }
    if (v.leaf_bodies > GV_N_LEAF)
        *room->large = 1;
    uint listed = v.leaf_bodies > GV_N_LEAF ? 0u : v.leaf_bodies;
    gv_pack mine = (gv_pack)v.children | (gv_pack)listed << GV_PACK_BODY | (gv_pack)v.is_far << GV_PACK_FAR |
                   (gv_pack)v.is_near << GV_PACK_NEAR;
    gv_pack all, before = gv_pack_scan(mine, room->scratch, &all);
    gv_group_sync();
    /* read here, between two barriers: a work-item that is already in the next step may overwrite it */
    int some_large = *room->large;
    filled->top -= take;
    for (uint k = 0; k < v.children; k++)
        room->stack[filled->top + gv_pack_children(before) + k] = v.first + k;
    if (v.is_far)
        room->far[filled->far + gv_pack_far(before)] = c;
    if (v.is_near)
        room->near[filled->near + gv_pack_near(before)] = c;
    for (uint k = 0; k < listed; k++)
        room->bodies[filled->bodies + gv_pack_bodies(before) + k] = v.first + k;
    gv_group_sync();
    filled->top += gv_pack_children(all);
    filled->bodies += gv_pack_bodies(all);
    filled->far += gv_pack_far(all);
    filled->near += gv_pack_near(all);
    uint4 did = (uint4)(gv_pack_far(all), gv_pack_near(all), gv_pack_bodies(all), take);
    if (GV_ITEM_LOOPS || some_large)
        did.z += gv_walk_large(sinks, sources, room, (uint2)(v.first, v.leaf_bodies - listed), some_large);
    return did;
}
