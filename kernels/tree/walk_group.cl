/* The walk of a group of sinks by a work-group: list, test, evaluate.
 *
 *   stack of cells --(every work-item tests one)--> opened: children back to the stack
 *                                                   far:    into the group's local expansion, a cell per work-item
 *                                                   near:   list; from local memory onto every sink
 *                                                   leaf:   its bodies to a list; from local memory onto every sink
 * Each list is evaluated when it is full.  The stack cannot overflow: when room is short fewer cells are taken at once,
 * and one cell at a time needs 7 places a level.
 *
 *   GV_THREADS         work-items of the group (32 where shuffles exist, else the width of the device's waves)
 *   GV_SINKS_PER_ITEM  sinks held by one work-item
 *   GV_SPLIT           work-items that share the sinks, each with a part of every list
 *                      (GV_N_GROUP = GV_THREADS / GV_SPLIT * GV_SINKS_PER_ITEM)
 *   GV_TILE            bodies or cells staged in local memory at once, a multiple of GV_THREADS
 *   GV_STACK           cells the stack can hold
 *   GV_N_LEAF          bodies of a leaf that go through the list; larger ones (at the end of the keys) act alone
 *
 * The order of all sums is fixed by the tree: the same input gives the same bits.
 */
#include "tree/cell.h"
#include "lib/group.h"
#include "lib/pair.h"
#include "tree/interact.h"
#include "tree/walk.h"

#if GV_THREADS < 2
#error "GV_THREADS must be at least 2; walk_lanes.cl is the walk for single work-items"
#endif
#if GV_THREADS % GV_SPLIT || GV_N_GROUP != GV_THREADS / GV_SPLIT * GV_SINKS_PER_ITEM
#error "GV_N_GROUP must be GV_THREADS / GV_SPLIT * GV_SINKS_PER_ITEM"
#endif
#if GV_TILE % GV_THREADS
#error "GV_TILE must be a multiple of GV_THREADS"
#endif
#define GV_COLUMNS (GV_THREADS / GV_SPLIT)
#if GV_THREADS * GV_N_LEAF > 65535
#error "GV_THREADS * GV_N_LEAF must be below 65536"
#endif
#define GV_BODY_LIST (GV_TILE + GV_THREADS * GV_N_LEAF)
#define GV_CELL_LIST (GV_TILE + GV_THREADS)
#define GV_FAR_LIST (2 * GV_THREADS)
#define GV_SUM_ROW (GV_THREADS + 1)
#define GV_SUM_WORDS (GV_SUM_TERMS * GV_SUM_ROW * (int)sizeof(gv_scalar) / 4)
#define GV_POOL (GV_STACK > GV_SUM_WORDS ? GV_STACK : GV_SUM_WORDS)

/* four counters in one word, so that one sum over the work-items places all lists */
#if GV_THREADS == 32 && GV_N_LEAF <= 32
typedef uint gv_pack;
#define GV_PACK_BODY 9
#define GV_PACK_FAR 20
#define GV_PACK_NEAR 26
#define gv_pack_children(p) ((p)&511u)
#define gv_pack_bodies(p) ((p) >> GV_PACK_BODY & 2047u)
#define gv_pack_far(p) ((p) >> GV_PACK_FAR & 63u)
#define gv_pack_near(p) ((p) >> GV_PACK_NEAR)
#define GV_PACK_SCRATCH uint
#define gv_pack_scan(value, scratch, total) gv_group_scan(value, scratch, total)
#else
typedef ulong gv_pack;
#define GV_PACK_BODY 16
#define GV_PACK_FAR 32
#define GV_PACK_NEAR 48
#define gv_pack_children(p) ((uint)(p)&65535u)
#define gv_pack_bodies(p) ((uint)((p) >> GV_PACK_BODY) & 65535u)
#define gv_pack_far(p) ((uint)((p) >> GV_PACK_FAR) & 65535u)
#define gv_pack_near(p) ((uint)((p) >> GV_PACK_NEAR))
#define GV_PACK_SCRATCH ulong
static inline gv_pack gv_pack_scan(gv_pack value, local ulong *scratch, gv_pack *total)
{
    gv_pack before = gv_group_scan64(value, scratch);
    *total = scratch[GV_THREADS - 1];
    gv_group_sync();
    return before;
}
#endif

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

/* ------------------------------------------------------------------- load */

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

/* --------------------------------------------------------------- evaluate */

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
    while (filled->bodies >= least) {
        uint n = min((uint)GV_TILE, filled->bodies);
        filled->bodies -= n;
        gv_eval_bodies(sinks, sources, room, room->bodies + filled->bodies, n, g->own);
    }
    while (filled->far >= least_far) {
        uint n = min((uint)GV_THREADS, filled->far);
        filled->far -= n;
        gv_eval_far(local_sum, g, sources, room->far + filled->far, n);
        gv_group_sync();
    }
    while (filled->near >= least) {
        uint n = min((uint)GV_TILE, filled->near);
        filled->near -= n;
        gv_eval_cells(sinks, sources, room, room->near + filled->near, n);
    }
}

/* ------------------------------------------------------------------- walk */

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
    accept = accept && d2 > outside * outside;
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
static inline uint gv_walk_large(gv_sinks *sinks, const gv_sources *sources, const gv_room *room, uint2 mine)
{
    uint me = get_local_id(0), sum = 0;
    room->piece[me] = mine;
    gv_group_sync();
    for (uint k = 0; k < GV_THREADS; k++) {
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
    if (some_large)
        did.z += gv_walk_large(sinks, sources, room, (uint2)(v.first, v.leaf_bodies - listed));
    return did;
}

/* ------------------------------------------------------------------- join */

/* The work-items' expansions are added into joined[0 ... GV_LOCAL_TERMS - 1]; `part` is room for a half of them. */
static inline void gv_join_local(const gv_local *local_sum, local gv_scalar *part, local gv_scalar *joined)
{
    uint me = get_local_id(0);
    gv_scalar term[GV_LOCAL_TERMS];
    gv_local_unpack(local_sum, term);
#pragma unroll
    for (int from = 0; from < GV_LOCAL_TERMS; from += GV_SUM_TERMS) {
#pragma unroll
        for (int k = 0; k < GV_SUM_TERMS; k++)
            part[k * GV_SUM_ROW + me] = term[from + k];
        gv_group_sync();
        for (uint k = me; k < GV_SUM_TERMS; k += GV_THREADS) {
            gv_scalar all = 0;
#pragma unroll 4
            for (uint j = 0; j < GV_THREADS; j++)
                all += part[k * GV_SUM_ROW + j];
            joined[from + k] = all;
        }
        gv_group_sync();
    }
}

#if GV_PRECISION == GV_DS
/* The leading terms likewise, as two-floats: lead[0 ... 3] and, 4 further, their low words. */
static inline void gv_join_lead(const gv_local *l, local gv_scalar *part, local gv_scalar *lead)
{
    uint me = get_local_id(0);
    gv_wide whole[4] = {l->whole_s, l->whole_v[0], l->whole_v[1], l->whole_v[2]};
    for (int k = 0; k < 4; k++) {
        part[2 * k * GV_SUM_ROW + me] = whole[k].hi;
        part[(2 * k + 1) * GV_SUM_ROW + me] = whole[k].lo;
    }
    gv_group_sync();
    for (uint k = me; k < 4; k += GV_THREADS) {
        gv_wide sum = gv_wide_zero();
        for (uint j = 0; j < GV_THREADS; j++) {
            sum = gv_wide_add(sum, part[2 * k * GV_SUM_ROW + j]);
            sum.lo += part[(2 * k + 1) * GV_SUM_ROW + j];
        }
        lead[k] = sum.hi;
        lead[4 + k] = sum.lo;
    }
    gv_group_sync();
}
#endif

#if GV_SPLIT > 1
/* Parts of one sink are added in the order of the parts; the first columns hold the sums. */
static inline void gv_join_parts(gv_sinks *sinks, local gv_scalar4 *tile)
{
    uint me = get_local_id(0);
#pragma unroll
    for (int s = 0; s < GV_SINKS_PER_ITEM; s++) {
#if GV_PRECISION == GV_DS
        gv_total *t = &sinks->total[s];
        tile[me] = (gv_scalar4)(t->x.hi, t->y.hi, t->z.hi, t->pot.hi);
        tile[GV_THREADS + me] = (gv_scalar4)(t->x.lo, t->y.lo, t->z.lo, t->pot.lo);
#else
        gv_force *f = &sinks->f[s];
        tile[me] = (gv_scalar4)(f->x, f->y, f->z, f->pot);
#endif
        gv_group_sync();
        for (uint part = me + GV_COLUMNS; me < GV_COLUMNS && part < GV_THREADS; part += GV_COLUMNS) {
            gv_scalar4 more = tile[part];
#if GV_PRECISION == GV_DS
            gv_scalar4 low = tile[GV_THREADS + part];
            t->x = gv_wide_add(t->x, more.x), t->x.lo += low.x;
            t->y = gv_wide_add(t->y, more.y), t->y.lo += low.y;
            t->z = gv_wide_add(t->z, more.z), t->z.lo += low.z;
            t->pot = gv_wide_add(t->pot, more.w), t->pot.lo += low.w;
#else
            f->x += more.x, f->y += more.y, f->z += more.z, f->pot += more.w;
#endif
        }
        gv_group_sync();
    }
}
#else
#define gv_join_parts(sinks, tile)
#endif

/* ------------------------------------------------------------------ store */

/* The expansion is added to the forces of sink number s of this work-item: result `to`. */
static inline void gv_put_result(gv_sinks *sinks, int s, const gv_group *g, local const gv_scalar *joined,
                                 local const gv_scalar *lead, uint to, global gv_scalar4 *out)
{
    gv_force *f = &sinks->f[s];
    gv_scalar per1 = g->inverse_scale;
    gv_scalar yx = gv_apart(sinks->p[s].x, sinks->low[s].x, g->centre.x, 0) * per1;
    gv_scalar yy = gv_apart(sinks->p[s].y, sinks->low[s].y, g->centre.y, 0) * per1;
    gv_scalar yz = gv_apart(sinks->p[s].z, sinks->low[s].z, g->centre.z, 0) * per1;
#define gv_term(k) joined[k]
    GV_LOCAL_FORCE((*f), gv_term, yx, yy, yz, per1);
#if GV_PRECISION == GV_DS
    gv_scalar high[4] = {lead[0], lead[1], lead[2], lead[3]}, low[4] = {lead[4], lead[5], lead[6], lead[7]};
    gv_total *t = &sinks->total[s];
    gv_total_take(t, f);
    gv_total_lead(t, high, low, per1);
    gv_force rest = gv_total_split(t, f);
    out[GV_RESULT * (size_t)to + 1] = (gv_scalar4)(rest.x, rest.y, rest.z, rest.pot);
#endif
    out[GV_RESULT * (size_t)to] = (gv_scalar4)(f->x, f->y, f->z, f->pot);
}

static inline void gv_put_results(gv_sinks *sinks, const gv_group *g, local const gv_scalar *joined,
                                  local const gv_scalar *lead, global const uint *index, global gv_scalar4 *out)
{
    uint me = get_local_id(0);
#pragma unroll
    for (int s = 0; s < GV_SINKS_PER_ITEM; s++) {
        uint k = me + s * GV_COLUMNS;
        if (me < GV_COLUMNS && k < g->count)
            gv_put_result(sinks, s, g, joined, lead, index ? index[g->first + k] : g->first + k, out);
    }
}

static inline void gv_put_counts(const gv_group *g, uint4 did, global uint4 *counts)
{
    if (get_local_id(0) == 0) {
        counts[0] = did;
        counts[1] = (uint4)(g->first, g->count, 0, 0);
    }
}

/* Sinks are points[0 ... ] in the order of their groups; result of sink k: out[index[k]], index NULL: out[k].
 * own, self   whether sinks are bodies, and which (GV_OWN_... of tree/layout.h): none acts on itself
 * group       a record a work-group; one of no sinks is an unused place
 * *_soft      squares of softening lengths, with GV_SOFTEN only
 * counts      GV_COUNT_WORDS a group */
kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_tree_walk(global const gv_scalar4 *cell, global const gv_scalar4 *body, global const gv_scalar4 *body_low,
             global const gv_scalar4 *points, global const gv_scalar4 *points_low, global const uint *self, int own,
             global const uint *index, global const gv_scalar4 *group, gv_scalar eps2, global gv_scalar4 *out,
             global uint4 *counts, global const gv_scalar *point_soft, global const gv_scalar *body_soft,
             global const gv_scalar *cell_soft GV_SHORT_PARAMETERS)
{
    local uint pool[GV_POOL] __attribute__((aligned(8)));
    local uint bodies[GV_BODY_LIST], near[GV_CELL_LIST], far[GV_FAR_LIST], tile_id[GV_TILE], flag, large;
    local gv_scalar4 tile[GV_TILE_WORDS * GV_TILE];
    local gv_scalar joined[GV_LOCAL_TERMS], lead[GV_LEAD_TERMS];
    local GV_PACK_SCRATCH scratch[GV_THREADS];
    local uint2 piece[GV_THREADS];
    const gv_room room = {pool, bodies, near, far, tile_id, &flag, &large, tile, scratch, piece};
    GV_SOURCES sources = {cell, body, body_low, body_soft, cell_soft, eps2};
    uint me = get_local_id(0), at = get_group_id(0);
    gv_filled filled = {1, 0, 0, 0};
    uint4 did = (uint4)(0);
    gv_sinks sinks;
    gv_local local_sum;

    gv_group g = gv_read_group(group + GV_GROUP_VECTORS * (size_t)at, self, own);
    if (g.count == 0) {
        gv_put_counts(&g, did, counts + 2 * (size_t)at);
        return;
    }
    GV_TAKE_RANGE(&sources, &g);
    gv_soften_group(&g, point_soft);
    gv_take_sinks(&sinks, &g, points, points_low, point_soft, self, own);
    gv_local_clear(&local_sum);
    if (me == 0)
        pool[0] = large = 0;
    gv_group_sync();
    while (filled.top > 0) {
        did += gv_walk_step(&sinks, &g, &sources, &room, &filled);
        gv_eval_lists(&sinks, &local_sum, &g, &sources, &room, &filled);
    }
    gv_put_counts(&g, did, counts + 2 * (size_t)at);
    gv_join_local(&local_sum, (local gv_scalar *)pool, joined);
#if GV_PRECISION == GV_DS
    gv_join_lead(&local_sum, (local gv_scalar *)pool, lead);
    if (me < 4)
        joined[me] = lead[me];
    gv_group_sync();
#endif
    gv_join_parts(&sinks, tile);
    gv_put_results(&sinks, &g, joined, lead, index, out);
}
