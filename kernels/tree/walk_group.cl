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
 *   GV_PASS            0: all in one kernel.  Else the same walk and the same evaluation in two passes over the groups:
 *                      1 counts what the lists will hold, 2 writes them to global memory (between them gv_scan_rows
 *                      turns the counts into places), 3 evaluates them.  A pass holds fewer registers than the whole,
 *                      and pays for that with a second walk and the lists' way through memory.
 *
 * The order of all sums is fixed by the tree: the same input gives the same bits.
 */
#include "tree/cell.h"
#include "lib/group.h"
#include "tree/interact.h"
#include "lib/pair.h"

#if GV_THREADS < 2
#error "GV_THREADS must be at least 2; walk_lanes.cl is the walk for single work-items"
#endif
#if GV_THREADS % GV_SPLIT || GV_N_GROUP != GV_THREADS / GV_SPLIT * GV_SINKS_PER_ITEM
#error "GV_N_GROUP must be GV_THREADS / GV_SPLIT * GV_SINKS_PER_ITEM"
#endif
#if GV_TILE % GV_THREADS
#error "GV_TILE must be a multiple of GV_THREADS"
#endif
#if !defined(GV_PASS) || GV_PASS < 0 || GV_PASS > 3
#error "GV_PASS must be 0 (everything), 1 (count), 2 (write lists) or 3 (evaluate lists)"
#endif
#define GV_WALKS (GV_PASS != 3)
#define GV_EVALUATES (GV_PASS == 0 || GV_PASS == 3)
#define GV_COLUMNS (GV_THREADS / GV_SPLIT)
#define GV_RESERVE (7 * GV_LEVELS + 8)
#if GV_STACK < 2 * GV_RESERVE || GV_THREADS * GV_N_LEAF > 65535
#error "GV_STACK must be at least 324, and GV_THREADS * GV_N_LEAF below 65536"
#endif
#define GV_BODY_LIST (GV_TILE + GV_THREADS * GV_N_LEAF)
#define GV_CELL_LIST (GV_TILE + GV_THREADS)
#define GV_FAR_LIST (2 * GV_THREADS)
#define GV_SUM_ROW (GV_THREADS + 1)
#define GV_SUM_TERMS (GV_LOCAL_TERMS / 2) /* summed at once: more would take local memory from other groups */
#define GV_SUM_WORDS (GV_SUM_TERMS * GV_SUM_ROW * (int)sizeof(gv_scalar) / 4)
#define GV_POOL (GV_STACK > GV_SUM_WORDS ? GV_STACK : GV_SUM_WORDS)

/* four counters in one word, so that one sum over the work-items places all lists */
#if GV_THREADS == 32 && GV_N_LEAF <= 32
typedef uint gv_pack;
#define GV_PACK_BODY 9
#define GV_PACK_FAR 20
#define GV_PACK_NEAR 26
#define gv_pack_children(p) ((p) & 511u)
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
#define gv_pack_children(p) ((uint)(p) & 65535u)
#define gv_pack_bodies(p) ((uint)((p) >> GV_PACK_BODY) & 65535u)
#define gv_pack_far(p) ((uint)((p) >> GV_PACK_FAR) & 65535u)
#define gv_pack_near(p) ((uint)((p) >> GV_PACK_NEAR))
#define GV_PACK_SCRATCH ulong
static inline gv_pack gv_pack_scan(gv_pack value, __local ulong *scratch, gv_pack *total)
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
#if GV_PRECISION == GV_DS
    gv_scalar4 low[GV_SINKS_PER_ITEM];
    gv_total total[GV_SINKS_PER_ITEM];
#endif
} gv_sinks;

#if GV_PRECISION == GV_DS
#define GV_TILE_WORDS 4 /* vectors of a cell in local memory */
static inline void gv_sinks_take(gv_sinks *sinks)
{
    for (int s = 0; s < GV_SINKS_PER_ITEM; s++)
        gv_total_take(&sinks->total[s], &sinks->f[s]);
}
#else
#define GV_TILE_WORDS 3
#define gv_sinks_take(sinks)
#endif

/* the three components of body b - sink s */
#define GV_TO_BODY(s, b, b_low)                                                                                        \
    gv_apart((b).x, (b_low).x, sinks->p[s].x, sinks->low[s].x),                                                        \
        gv_apart((b).y, (b_low).y, sinks->p[s].y, sinks->low[s].y),                                                    \
        gv_apart((b).z, (b_low).z, sinks->p[s].z, sinks->low[s].z)

/* bodies from[0 ... count-1] onto all sinks */
static inline void gv_eval_bodies(gv_sinks *sinks, __global const gv_scalar4 *body,
                                  __global const gv_scalar4 *body_low, __local const uint *from,
                                  uint count, uint2 own, __local gv_scalar4 *tile, __local uint *tile_id,
                                  __local uint *flag, gv_scalar eps2)
{
    uint me = get_local_id(0), part = me / GV_COLUMNS;
    if (me == 0)
        *flag = 0;
    gv_group_sync();
    for (uint k = me; k < count; k += GV_THREADS) {
        uint id = from[k];
        tile[k] = body[id];
#if GV_PRECISION == GV_DS
        tile[GV_TILE + k] = body_low[id];
#endif
        tile_id[k] = id;
        if (id - own.x < own.y)
            *flag = 1;
    }
    gv_group_sync();
    uint share = (count + GV_SPLIT - 1) / GV_SPLIT;
    uint begin = part * share, end = min(begin + share, count);
    if (*flag) {
#pragma unroll 2
        for (uint j = begin; j < end; j++) {
            gv_scalar4 b = tile[j];
            uint id = tile_id[j];
            for (int s = 0; s < GV_SINKS_PER_ITEM; s++)
                gv_pair_add_other(&sinks->f[s], GV_TO_BODY(s, b, tile[GV_TILE + j]), b.w, eps2,
                                  id != sinks->self[s]);
        }
    } else {
#pragma unroll 8
        for (uint j = begin; j < end; j++) {
            gv_scalar4 b = tile[j];
            for (int s = 0; s < GV_SINKS_PER_ITEM; s++)
                gv_pair_add(&sinks->f[s], GV_TO_BODY(s, b, tile[GV_TILE + j]), b.w, eps2);
        }
    }
    gv_sinks_take(sinks);
    gv_group_sync();
}

/* A leaf at the end of the keys: as many bodies as share one place.  It is rare, so short code counts, not speed. */
static inline void gv_eval_large(gv_sinks *sinks, __global const gv_scalar4 *body,
                                 __global const gv_scalar4 *body_low, uint2 piece, gv_scalar eps2)
{
#pragma unroll 1
    for (uint id = piece.x + get_local_id(0) / GV_COLUMNS; id < piece.x + piece.y; id += GV_SPLIT) {
        gv_scalar4 b = body[id];
        for (int s = 0; s < GV_SINKS_PER_ITEM; s++)
            gv_pair_add_other(&sinks->f[s], GV_TO_BODY(s, b, body_low[id]), b.w, eps2, id != sinks->self[s]);
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

static inline void gv_eval_cells(gv_sinks *sinks, __global const gv_scalar4 *cell, __local const uint *from, uint count,
                                 __local gv_scalar4 *tile, gv_scalar eps2)
{
    uint me = get_local_id(0), part = me / GV_COLUMNS;
    for (uint k = me; k < count; k += GV_THREADS) {
        __global const gv_scalar4 *c = cell + GV_CELL * (size_t)from[k];
        tile[GV_TILE_WORDS * k] = c[0];
        tile[GV_TILE_WORDS * k + 1] = c[2];
        tile[GV_TILE_WORDS * k + 2] = c[3];
#if GV_PRECISION == GV_DS
        tile[GV_TILE_WORDS * k + 3] = c[4];
#endif
    }
    gv_group_sync();
    uint share = (count + GV_SPLIT - 1) / GV_SPLIT;
    uint begin = part * share, end = min(begin + share, count);
#pragma unroll 2
    for (uint j = begin; j < end; j++) {
        __local const gv_scalar4 *z = tile + GV_TILE_WORDS * j;
        gv_moments c = gv_moments_of(z[0], z[1], z[2]);
        for (int s = 0; s < GV_SINKS_PER_ITEM; s++)
            gv_cell_force(&sinks->f[s], gv_apart(sinks->p[s].x, sinks->low[s].x, c.x, z[3].x),
                          gv_apart(sinks->p[s].y, sinks->low[s].y, c.y, z[3].y),
                          gv_apart(sinks->p[s].z, sinks->low[s].z, c.z, z[3].z), c, gv_cell_soft(eps2));
    }
    gv_sinks_take(sinks);
    gv_group_sync();
}

/* one cell of the list per work-item */
static inline void gv_eval_far(gv_local *local_sum, __global const gv_scalar4 *cell, __local const uint *from,
                               uint count, gv_scalar4 centre, gv_scalar inverse_scale, gv_scalar eps2)
{
    uint me = get_local_id(0);
    if (me < count) {
        __global const gv_scalar4 *at = cell + GV_CELL * (size_t)from[me];
        gv_moments c = gv_moments_of(at[0], at[2], at[3]);
        gv_scalar per2 = inverse_scale * inverse_scale;
        c.xx *= per2, c.xy *= per2, c.xz *= per2, c.yy *= per2, c.yz *= per2, c.zz *= per2;
        gv_cell_expand(local_sum, gv_apart(centre.x, 0, c.x, at[4].x) * inverse_scale,
                       gv_apart(centre.y, 0, c.y, at[4].y) * inverse_scale,
                       gv_apart(centre.z, 0, c.z, at[4].z) * inverse_scale, c, gv_cell_soft(eps2) * per2);
#if GV_PRECISION == GV_DS
        gv_local_take(local_sum);
#endif
    }
}

/* The work-items' expansions are added into joined[0 ... GV_LOCAL_TERMS - 1]; `part` is room for a half of them. */
static inline void gv_join_local(const gv_local *local_sum, __local gv_scalar *part, __local gv_scalar *joined)
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
/* The leading terms likewise, as pairs: lead[0 ... 3] and, 4 further, their low words. */
static inline void gv_join_lead(const gv_local *l, __local gv_scalar *part, __local gv_scalar *lead)
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
static inline void gv_join_parts(gv_sinks *sinks, int s, __local gv_scalar4 *tile)
{
    uint me = get_local_id(0);
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
#endif

/* What a group does with a cell. */
typedef struct gv_verdict {
    uint first, children, leaf_bodies; /* of an opened cell */
    int is_far, is_near;
} gv_verdict;

static inline gv_verdict gv_test_cell(gv_scalar4 z, gv_scalar4 w, gv_scalar4 g0, gv_scalar4 g1, gv_scalar4 g2,
                                      gv_scalar eps2)
{
    gv_verdict v;
    gv_scalar rx = fabs(z.x - g0.x), ry = fabs(z.y - g0.y), rz = fabs(z.z - g0.z);
    gv_scalar dx = fmax(rx - g1.x, (gv_scalar)0), dy = fmax(ry - g1.y, (gv_scalar)0);
    gv_scalar dz = fmax(rz - g1.z, (gv_scalar)0);
    gv_scalar r2 = gv_fma(rx, rx, gv_fma(ry, ry, rz * rz)), d2 = gv_fma(dx, dx, gv_fma(dy, dy, dz * dz));
    uint info = gv_held(w.w);
    int leaf = (info & GV_LEAF) != 0, accept = d2 > w.x * g1.w && d2 > w.y;
#if GV_SUPPORT
    gv_scalar outside = sqrt(eps2) + GV_R(0.8) * sqrt(w.y); /* no body of the cell within h */
    accept = accept && d2 > outside * outside;
#endif
    v.is_far = accept && r2 > g2.y && r2 * r2 * r2 > g2.x * z.w;
    /* one or two bodies are cheaper than their cell */
    v.is_near = accept && !v.is_far && (!leaf || (info & GV_COUNT) > 2);
    int open = !v.is_far && !v.is_near;
    v.first = gv_held(w.z);
    v.leaf_bodies = open && leaf ? info & GV_COUNT : 0u;
    v.children = open && !leaf ? info : 0u;
    return v;
}

static inline void gv_take_sinks(gv_sinks *sinks, __global const gv_scalar4 *points,
                                 __global const gv_scalar4 *points_low, __global const uint *list, uint first_sink,
                                 uint n_sinks, int own)
{
#pragma unroll
    for (int s = 0; s < GV_SINKS_PER_ITEM; s++) {
        uint k = first_sink + min((uint)get_local_id(0) % GV_COLUMNS + s * GV_COLUMNS, n_sinks - 1);
        uint at = list ? list[k] : k;
        sinks->p[s] = points[at];
        sinks->self[s] = own ? at : GV_NO_BODY;
        gv_force_clear(&sinks->f[s]);
#if GV_PRECISION == GV_DS
        sinks->low[s] = points_low[at];
        gv_total_clear(&sinks->total[s]);
#endif
    }
}

/* The expansion is added to the forces of sink number s of this work-item: result `to`. */
static inline void gv_put_result(gv_sinks *sinks, int s, gv_scalar4 g0, gv_scalar inverse_scale,
                                 __local const gv_scalar *joined, __local const gv_scalar *lead, uint to,
                                 __global gv_scalar4 *out)
{
    gv_force *f = &sinks->f[s];
    gv_scalar yx = gv_apart(sinks->p[s].x, sinks->low[s].x, g0.x, 0) * inverse_scale;
    gv_scalar yy = gv_apart(sinks->p[s].y, sinks->low[s].y, g0.y, 0) * inverse_scale;
    gv_scalar yz = gv_apart(sinks->p[s].z, sinks->low[s].z, g0.z, 0) * inverse_scale;
#define gv_term(k) joined[k]
    GV_LOCAL_FORCE((*f), gv_term, yx, yy, yz, inverse_scale);
#if GV_PRECISION == GV_DS
    gv_scalar high[4] = {lead[0], lead[1], lead[2], lead[3]}, low[4] = {lead[4], lead[5], lead[6], lead[7]};
    gv_total *t = &sinks->total[s];
    gv_total_take(t, f);
    gv_total_lead(t, high, low, inverse_scale);
    gv_force rest = gv_total_split(t, f);
    out[GV_RESULT * to + 1] = (gv_scalar4)(rest.x, rest.y, rest.z, rest.pot);
#endif
    out[GV_RESULT * to] = (gv_scalar4)(f->x, f->y, f->z, f->pot);
}

/* `own` != 0: sinks are bodies, and none pulls itself.  out[index[k]], index NULL: out[k].
 * counts[2 group] = {cells into the expansion, cells on every sink, bodies on every sink, cells tested}
 * counts[2 group + 1] = {first sink, sinks, 0, 0}
 * Passes: table holds three rows over the groups: far cells, near cells, bodies; from pass 2 on their exclusive sums,
 * with the rows' totals in total[0 ... 2].  lists holds all far cells, then all near cells, then all bodies. */
__kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1)))
void gv_tree_walk(__global const gv_scalar4 *cell, __global const gv_scalar4 *body,
                  __global const gv_scalar4 *body_low, __global const gv_scalar4 *points,
                  __global const gv_scalar4 *points_low, __global const uint *list, __global const uint *index, int own,
                  __global const gv_scalar4 *group, gv_scalar eps2, __global gv_scalar4 *out, __global uint4 *counts,
                  __global uint *table, __global const uint *total, __global uint *lists)
{
    __local uint pool[GV_POOL] __attribute__((aligned(8)));
    uint me = get_local_id(0), g = get_group_id(0);
    gv_scalar4 g0 = group[GV_GROUP_WORDS * g], g1 = group[GV_GROUP_WORDS * g + 1], g2 = group[GV_GROUP_WORDS * g + 2];
    uint first_sink = gv_held(g2.z), n_sinks = gv_held(g2.w);
#if GV_PASS > 0
    uint places = get_num_groups(0);
#endif
    if (n_sinks == 0) { /* a place that groups.cl left over */
#if GV_PASS < 2
        if (me == 0)
            counts[2 * g] = counts[2 * g + 1] = (uint4)(0);
#endif
#if GV_PASS == 1
        if (me == 0)
            table[g] = table[places + g] = table[2 * places + g] = 0;
#endif
        return;
    }
#if GV_PASS > 1
    uint far_at = table[g], near_at = total[0] + table[places + g];
    uint bodies_at = total[0] + total[1] + table[2 * places + g];
#endif

#if GV_EVALUATES
    __local uint bodies[GV_BODY_LIST], near[GV_CELL_LIST], far[GV_FAR_LIST], tile_id[GV_TILE], flag;
    __local gv_scalar4 tile[GV_TILE_WORDS * GV_TILE];
    __local gv_scalar joined[GV_LOCAL_TERMS], lead[8];
    gv_scalar inverse_scale = GV_R(1.0) / g0.w;
    gv_sinks sinks;
    gv_take_sinks(&sinks, points, points_low, list, first_sink, n_sinks, own);
    uint2 own_range = (uint2)(0, 0); /* first, how many */
    if (own) {
        own_range.x = list ? list[first_sink] : first_sink;
        own_range.y = (list ? list[first_sink + n_sinks - 1] : first_sink + n_sinks - 1) - own_range.x + 1;
    }
    gv_local local_sum;
    gv_local_clear(&local_sum);
#endif

#if GV_WALKS
    __local GV_PACK_SCRATCH scratch[GV_THREADS];
    __local uint2 piece[GV_THREADS];
    __local uint large;
    __local uint *stack = pool;
    uint n_bodies = 0, n_near = 0, n_far = 0, top = 1;
    uint4 did = (uint4)(0);
    if (me == 0) {
        stack[0] = 0;
        large = 0;
    }
    gv_group_sync();

    while (top > 0) {
        uint take = min((uint)GV_THREADS, top);
        if (top + 7 * take > GV_STACK - GV_RESERVE)
            take = top + 7 < GV_STACK - GV_RESERVE ? (GV_STACK - GV_RESERVE - top) / 7 : 1u;
        uint c = 0;
        gv_verdict v = {0, 0, 0, 0, 0};
        if (me < take) {
            c = stack[top - take + me];
            v = gv_test_cell(cell[GV_CELL * (size_t)c], cell[GV_CELL * (size_t)c + 1], g0, g1, g2, eps2);
        }
        if (v.leaf_bodies > GV_N_LEAF)
            large = 1;
        uint listed = v.leaf_bodies > GV_N_LEAF ? 0u : v.leaf_bodies;
        gv_pack mine = (gv_pack)v.children | (gv_pack)listed << GV_PACK_BODY | (gv_pack)v.is_far << GV_PACK_FAR |
                       (gv_pack)v.is_near << GV_PACK_NEAR;
        gv_pack all, before = gv_pack_scan(mine, scratch, &all);
        gv_group_sync();
        /* read here, between two barriers: a work-item that is a step ahead may set it again */
        int some_large = large;
        top -= take;
        for (uint k = 0; k < v.children; k++)
            stack[top + gv_pack_children(before) + k] = v.first + k;
#if GV_PASS == 0
        if (v.is_far)
            far[n_far + gv_pack_far(before)] = c;
        if (v.is_near)
            near[n_near + gv_pack_near(before)] = c;
        for (uint k = 0; k < listed; k++)
            bodies[n_bodies + gv_pack_bodies(before) + k] = v.first + k;
#elif GV_PASS == 2
        if (v.is_far)
            lists[far_at + n_far + gv_pack_far(before)] = c;
        if (v.is_near)
            lists[near_at + n_near + gv_pack_near(before)] = c;
        for (uint k = 0; k < listed; k++)
            lists[bodies_at + n_bodies + gv_pack_bodies(before) + k] = v.first + k;
#endif
        gv_group_sync();
        top += gv_pack_children(all);
        n_bodies += gv_pack_bodies(all);
        n_far += gv_pack_far(all);
        n_near += gv_pack_near(all);
        did += (uint4)(gv_pack_far(all), gv_pack_near(all), gv_pack_bodies(all), take);

        if (some_large) {
            piece[me] = (uint2)(v.first, v.leaf_bodies - listed);
            gv_group_sync();
            for (uint k = 0; k < GV_THREADS; k++) {
#if GV_PASS == 0
                gv_eval_large(&sinks, body, body_low, piece[k], eps2);
#else
#if GV_PASS == 2
                for (uint j = me; j < piece[k].y; j += GV_THREADS)
                    lists[bodies_at + n_bodies + j] = piece[k].x + j;
#endif
                n_bodies += piece[k].y;
#endif
                did.z += piece[k].y;
            }
            gv_group_sync();
            if (me == 0)
                large = 0;
            gv_group_sync();
        }
#if GV_PASS == 0
        /* full lists, and at the end what is left of them */
        uint least = top > 0 ? GV_TILE : 1, least_far = top > 0 ? GV_THREADS : 1;
        while (n_bodies >= least) {
            uint n = min((uint)GV_TILE, n_bodies);
            n_bodies -= n;
            gv_eval_bodies(&sinks, body, body_low, bodies + n_bodies, n, own_range, tile, tile_id, &flag, eps2);
        }
        while (n_far >= least_far) {
            uint n = min((uint)GV_THREADS, n_far);
            n_far -= n;
            gv_eval_far(&local_sum, cell, far + n_far, n, g0, inverse_scale, eps2);
            gv_group_sync();
        }
        while (n_near >= least) {
            uint n = min((uint)GV_TILE, n_near);
            n_near -= n;
            gv_eval_cells(&sinks, cell, near + n_near, n, tile, eps2);
        }
#endif
    }
#if GV_PASS < 2
    if (me == 0) {
        counts[2 * g] = did;
        counts[2 * g + 1] = (uint4)(first_sink, n_sinks, 0, 0);
    }
#endif
#if GV_PASS == 1
    if (me == 0) {
        table[g] = did.x;
        table[places + g] = did.y;
        table[2 * places + g] = did.z;
    }
#endif
#endif

#if GV_PASS == 3
    /* a work-item copies the entries that it will read */
    uint4 n_all = counts[2 * g];
    for (uint start = 0; start < n_all.z; start += GV_TILE) {
        uint n = min((uint)GV_TILE, n_all.z - start);
        for (uint k = me; k < n; k += GV_THREADS)
            bodies[k] = lists[bodies_at + start + k];
        gv_eval_bodies(&sinks, body, body_low, bodies, n, own_range, tile, tile_id, &flag, eps2);
    }
    for (uint start = 0; start < n_all.x; start += GV_THREADS) {
        uint n = min((uint)GV_THREADS, n_all.x - start);
        if (me < n)
            far[me] = lists[far_at + start + me];
        gv_eval_far(&local_sum, cell, far, n, g0, inverse_scale, eps2);
    }
    for (uint start = 0; start < n_all.y; start += GV_TILE) {
        uint n = min((uint)GV_TILE, n_all.y - start);
        for (uint k = me; k < n; k += GV_THREADS)
            near[k] = lists[near_at + start + k];
        gv_eval_cells(&sinks, cell, near, n, tile, eps2);
    }
    gv_group_sync();
#endif

#if GV_EVALUATES
    gv_join_local(&local_sum, (__local gv_scalar *)pool, joined);
#if GV_PRECISION == GV_DS
    gv_join_lead(&local_sum, (__local gv_scalar *)pool, lead);
    if (me < 4)
        joined[me] = lead[me];
    gv_group_sync();
#endif
#if GV_SPLIT > 1
#pragma unroll
    for (int s = 0; s < GV_SINKS_PER_ITEM; s++)
        gv_join_parts(&sinks, s, tile);
#endif
#pragma unroll
    for (int s = 0; s < GV_SINKS_PER_ITEM; s++) {
        uint k = me + s * GV_COLUMNS;
        if (me < GV_COLUMNS && k < n_sinks) {
            uint at = list ? list[first_sink + k] : first_sink + k;
            gv_put_result(&sinks, s, g0, inverse_scale, joined, lead, index ? index[at] : at, out);
        }
    }
#endif
}
