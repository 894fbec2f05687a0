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
#include "tree/interact.h"

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
} gv_sinks;

/* bodies from[0 ... count-1] onto all sinks */
static inline void gv_eval_bodies(gv_sinks *sinks, __global const gv_scalar4 *body, __local const uint *from,
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
                gv_pair_add_other(&sinks->f[s], b.x - sinks->p[s].x, b.y - sinks->p[s].y, b.z - sinks->p[s].z, b.w,
                                  eps2, id != sinks->self[s]);
        }
    } else {
#pragma unroll 8
        for (uint j = begin; j < end; j++) {
            gv_scalar4 b = tile[j];
            for (int s = 0; s < GV_SINKS_PER_ITEM; s++)
                gv_pair_add(&sinks->f[s], b.x - sinks->p[s].x, b.y - sinks->p[s].y, b.z - sinks->p[s].z, b.w, eps2);
        }
    }
    gv_group_sync();
}

/* A leaf at the end of the keys: as many bodies as share one place.  It is rare, so short code counts, not speed. */
static inline void gv_eval_large(gv_sinks *sinks, __global const gv_scalar4 *body, uint2 piece, gv_scalar eps2)
{
#pragma unroll 1
    for (uint id = piece.x + get_local_id(0) / GV_COLUMNS; id < piece.x + piece.y; id += GV_SPLIT) {
        gv_scalar4 b = body[id];
        for (int s = 0; s < GV_SINKS_PER_ITEM; s++)
            gv_pair_add_other(&sinks->f[s], b.x - sinks->p[s].x, b.y - sinks->p[s].y, b.z - sinks->p[s].z, b.w, eps2,
                              id != sinks->self[s]);
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
        tile[3 * k] = c[0];
        tile[3 * k + 1] = c[2];
        tile[3 * k + 2] = c[3];
    }
    gv_group_sync();
    uint share = (count + GV_SPLIT - 1) / GV_SPLIT;
    uint begin = part * share, end = min(begin + share, count);
#pragma unroll 2
    for (uint j = begin; j < end; j++) {
        gv_moments c = gv_moments_of(tile[3 * j], tile[3 * j + 1], tile[3 * j + 2]);
        for (int s = 0; s < GV_SINKS_PER_ITEM; s++)
            gv_cell_force(&sinks->f[s], sinks->p[s].x - c.x, sinks->p[s].y - c.y, sinks->p[s].z - c.z, c,
                          gv_cell_soft(eps2));
    }
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
        gv_cell_expand(local_sum, (centre.x - c.x) * inverse_scale, (centre.y - c.y) * inverse_scale,
                       (centre.z - c.z) * inverse_scale, c, gv_cell_soft(eps2) * per2);
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

/* `own` != 0: sinks are bodies, and none pulls itself.  out[index[k]], index NULL: out[k].
 * counts[2 group] = {cells into the expansion, cells on every sink, bodies on every sink, cells tested}
 * counts[2 group + 1] = {first sink, sinks, 0, 0} */
__kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1)))
void gv_tree_walk(__global const gv_scalar4 *cell, __global const gv_scalar4 *body, __global const gv_scalar4 *points,
                  __global const uint *list, __global const uint *index, int own, __global const gv_scalar4 *group,
                  gv_scalar eps2, __global gv_scalar4 *out, __global uint4 *counts)
{
    __local uint pool[GV_POOL] __attribute__((aligned(8)));
    __local gv_scalar joined[GV_LOCAL_TERMS];
    __local uint bodies[GV_BODY_LIST], near[GV_CELL_LIST], far[GV_FAR_LIST], tile_id[GV_TILE], flag, large;
    __local gv_scalar4 tile[3 * GV_TILE];
    __local GV_PACK_SCRATCH scratch[GV_THREADS];
    __local uint2 piece[GV_THREADS];
    __local uint *stack = pool;
    uint me = get_local_id(0), g = get_group_id(0);
    uint n_bodies = 0, n_near = 0, n_far = 0, top = 1;
    uint4 did = (uint4)(0);

    gv_scalar4 g0 = group[GV_GROUP_WORDS * g], g1 = group[GV_GROUP_WORDS * g + 1], g2 = group[GV_GROUP_WORDS * g + 2];
    gv_scalar inverse_scale = GV_R(1.0) / g0.w;
    uint first_sink = gv_held(g2.z), n_sinks = gv_held(g2.w);
    if (n_sinks == 0) { /* a place that groups.cl left over */
        if (me == 0)
            counts[2 * g] = counts[2 * g + 1] = (uint4)(0);
        return;
    }
    gv_sinks sinks;
    for (int s = 0; s < GV_SINKS_PER_ITEM; s++) {
        uint k = min(me % GV_COLUMNS + s * GV_COLUMNS, n_sinks - 1);
        uint at = list ? list[first_sink + k] : first_sink + k;
        sinks.p[s] = points[at];
        sinks.self[s] = own ? at : GV_NO_BODY;
        gv_force_clear(&sinks.f[s]);
    }
    uint2 own_range = (uint2)(0, 0); /* first, how many */
    if (own) {
        own_range.x = list ? list[first_sink] : first_sink;
        own_range.y = (list ? list[first_sink + n_sinks - 1] : first_sink + n_sinks - 1) - own_range.x + 1;
    }
    gv_local local_sum;
    gv_local_clear(&local_sum);
    if (me == 0) {
        stack[0] = 0;
        large = 0;
    }
    gv_group_sync();

    while (top > 0) {
        uint take = min((uint)GV_THREADS, top);
        if (top + 7 * take > GV_STACK - GV_RESERVE)
            take = top + 7 < GV_STACK - GV_RESERVE ? (GV_STACK - GV_RESERVE - top) / 7 : 1u;
        int have = me < take;
        uint c = 0, first = 0, info = 0;
        int open = 0, is_far = 0, is_near = 0;
        if (have) {
            c = stack[top - take + me];
            gv_scalar4 z = cell[GV_CELL * (size_t)c], w = cell[GV_CELL * (size_t)c + 1];
            gv_scalar rx = fabs(z.x - g0.x), ry = fabs(z.y - g0.y), rz = fabs(z.z - g0.z);
            gv_scalar dx = fmax(rx - g1.x, (gv_scalar)0), dy = fmax(ry - g1.y, (gv_scalar)0);
            gv_scalar dz = fmax(rz - g1.z, (gv_scalar)0);
            gv_scalar r2 = gv_fma(rx, rx, gv_fma(ry, ry, rz * rz)), d2 = gv_fma(dx, dx, gv_fma(dy, dy, dz * dz));
            first = gv_held(w.z);
            info = gv_held(w.w);
            int accept = d2 > w.x * g1.w && d2 > w.y;
#if GV_SUPPORT
            gv_scalar outside = sqrt(eps2) + GV_R(0.8) * sqrt(w.y); /* no body of the cell within h */
            accept = accept && d2 > outside * outside;
#endif
            is_far = accept && r2 > g2.y && r2 * r2 * r2 > g2.x * z.w;
            /* one or two bodies are cheaper than their cell */
            is_near = accept && !is_far && (!(info & GV_LEAF) || (info & GV_COUNT) > 2);
            open = !is_far && !is_near;
        }
        uint leaf_bodies = open && info & GV_LEAF ? info & GV_COUNT : 0u;
        uint children = open && !(info & GV_LEAF) ? info : 0u;
        if (leaf_bodies > GV_N_LEAF)
            large = 1;
        gv_pack mine = (gv_pack)children | (gv_pack)(leaf_bodies > GV_N_LEAF ? 0 : leaf_bodies) << GV_PACK_BODY |
                       (gv_pack)is_far << GV_PACK_FAR | (gv_pack)is_near << GV_PACK_NEAR;
        gv_pack total, before = gv_pack_scan(mine, scratch, &total);
        gv_group_sync();
        /* read here, between two barriers: a work-item that is a step ahead may set it again */
        int some_large = large;
        top -= take;
        if (is_far)
            far[n_far + gv_pack_far(before)] = c;
        if (is_near)
            near[n_near + gv_pack_near(before)] = c;
        for (uint k = 0; k < children; k++)
            stack[top + gv_pack_children(before) + k] = first + k;
        if (leaf_bodies <= GV_N_LEAF)
            for (uint k = 0; k < leaf_bodies; k++)
                bodies[n_bodies + gv_pack_bodies(before) + k] = first + k;
        gv_group_sync();
        top += gv_pack_children(total);
        n_bodies += gv_pack_bodies(total);
        n_far += gv_pack_far(total);
        n_near += gv_pack_near(total);
        did += (uint4)(gv_pack_far(total), gv_pack_near(total), gv_pack_bodies(total), take);

        if (some_large) {
            piece[me] = (uint2)(first, leaf_bodies > GV_N_LEAF ? leaf_bodies : 0u);
            gv_group_sync();
            for (uint k = 0; k < GV_THREADS; k++) {
                gv_eval_large(&sinks, body, piece[k], eps2);
                did.z += piece[k].y;
            }
            gv_group_sync();
            if (me == 0)
                large = 0;
            gv_group_sync();
        }
        /* full lists, and at the end what is left of them */
        uint least = top > 0 ? GV_TILE : 1, least_far = top > 0 ? GV_THREADS : 1;
        while (n_bodies >= least) {
            uint n = min((uint)GV_TILE, n_bodies);
            n_bodies -= n;
            gv_eval_bodies(&sinks, body, bodies + n_bodies, n, own_range, tile, tile_id, &flag, eps2);
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
    }

#if GV_SPLIT > 1
    /* parts of one sink are added in the order of the parts */
    for (int s = 0; s < GV_SINKS_PER_ITEM; s++) {
        tile[me] = (gv_scalar4)(sinks.f[s].x, sinks.f[s].y, sinks.f[s].z, sinks.f[s].pot);
        gv_group_sync();
        if (me < GV_COLUMNS)
            for (uint part = 1; part < GV_SPLIT; part++) {
                gv_scalar4 f = tile[part * GV_COLUMNS + me];
                sinks.f[s].x += f.x;
                sinks.f[s].y += f.y;
                sinks.f[s].z += f.z;
                sinks.f[s].pot += f.w;
            }
        gv_group_sync();
    }
#endif
    gv_join_local(&local_sum, (__local gv_scalar *)pool, joined);
    if (me < GV_COLUMNS)
        for (int s = 0; s < GV_SINKS_PER_ITEM; s++) {
            uint k = me + s * GV_COLUMNS;
            if (k >= n_sinks)
                break;
            gv_scalar yx = (sinks.p[s].x - g0.x) * inverse_scale, yy = (sinks.p[s].y - g0.y) * inverse_scale;
            gv_scalar yz = (sinks.p[s].z - g0.z) * inverse_scale;
#define gv_term(k) joined[k]
            GV_LOCAL_FORCE(sinks.f[s], gv_term, yx, yy, yz, inverse_scale);
            uint at = list ? list[first_sink + k] : first_sink + k;
            out[index ? index[at] : at] =
                (gv_scalar4)(sinks.f[s].x, sinks.f[s].y, sinks.f[s].z, sinks.f[s].pot);
        }
    if (me == 0)
        if (me == 0) {
        counts[2 * g] = did;
        counts[2 * g + 1] = (uint4)(first_sink, n_sinks, 0, 0);
    }
}
