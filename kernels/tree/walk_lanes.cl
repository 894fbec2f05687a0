/* The walk of a group of sinks by one work-item, over explicit lanes: the shape for CPUs, where barriers are slow and a
 * work-item drives a SIMD unit.  The tests and lists are those of walk_group.cl:
 *
 *   stack of cells --(GV_LANES are tested at once)--> opened: children back to the stack
 *                                                     far:    into the group's local expansion, GV_LANES cells at once
 *                                                     near, leaf: lists; from there onto GV_LANES sinks at once
 *
 *   GV_LANES    sinks or cells in one vector;  GV_N_GROUP  sinks of a group, a multiple of GV_LANES
 *   GV_STACK    cells the stack can hold;      GV_TILE     length of the lists of near cells and of leaves
 */
#include "tree/cell.h"
#include "lib/lanes.h"
#include "tree/interact.h"
#include "lib/pair.h"

#if GV_N_GROUP % GV_LANES
#error "GV_N_GROUP must be a multiple of GV_LANES"
#endif
#define GV_VECTORS (GV_N_GROUP / GV_LANES)
#define GV_RESERVE (7 * GV_LEVELS + 16)
#if GV_STACK < 2 * GV_RESERVE
#error "GV_STACK must be at least 340"
#endif
#define GV_LIST (GV_TILE + GV_LANES)
/* masks are 0 or -1 here whatever the lanes */
#if GV_LANES == 1
#define GV_MASK(m) (-(gv_int)(m))
#define GV_AS_UINT(v) ((uint)(v))
#define GV_STORE_UINT(v, k, p) ((p)[k] = (v))
#define GV_HELD(v) gv_held(v)
#else
#define GV_MASK(m) (m)
#define GV_AS_UINT(v) GV_PASTE(as_uint, GV_LANES)(v)
#define GV_STORE_UINT GV_PASTE(vstore, GV_LANES)
#if GV_PRECISION == GV_DP
#define GV_HELD(v) GV_PASTE(convert_uint, GV_LANES)(GV_PASTE(as_ulong, GV_LANES)(v))
#else
#define GV_HELD(v) GV_AS_UINT(v)
#endif
#endif

typedef struct gv_sinks {
    gv_real x[GV_VECTORS], y[GV_VECTORS], z[GV_VECTORS];
    gv_uint self[GV_VECTORS];
    gv_force f[GV_VECTORS];
#if GV_PRECISION == GV_DS
    gv_real x_low[GV_VECTORS], y_low[GV_VECTORS], z_low[GV_VECTORS];
    gv_total total[GV_VECTORS];
#endif
} gv_sinks;

/* piece[k] = {first body, bodies} */
static inline void gv_eval_leaves(gv_sinks *sinks, __global const gv_scalar4 *body, __global const gv_scalar4 *low,
                                  const uint *first, const uint *count, uint n, uint2 own, gv_scalar eps2)
{
    for (int v = 0; v < GV_VECTORS; v++) {
        gv_real x = sinks->x[v], y = sinks->y[v], z = sinks->z[v];
        gv_force f = sinks->f[v];
        for (uint k = 0; k < n; k++) {
            uint start = first[k], end = start + count[k];
            int meets = end > own.x && start < own.x + own.y;
#define GV_EACH(add)                                                                                                   \
    for (uint j = start; j < end; j++) {                                                                               \
        gv_scalar4 b = body[j];                                                                                        \
        gv_real dx = gv_apart(b.x, low[j].x, x, sinks->x_low[v]), dy = gv_apart(b.y, low[j].y, y, sinks->y_low[v]);    \
        gv_real dz = gv_apart(b.z, low[j].z, z, sinks->z_low[v]);                                                      \
        add;                                                                                                           \
    }
            if (meets) {
                GV_EACH(gv_pair_add_other(&f, dx, dy, dz, (gv_real)(b.w), eps2,
                                          gv_widen((gv_uint)(j) != sinks->self[v])))
            } else {
                GV_EACH(gv_pair_add(&f, dx, dy, dz, (gv_real)(b.w), eps2))
            }
#if GV_PRECISION == GV_DS
            gv_total_take(&sinks->total[v], &f);
#endif
        }
        sinks->f[v] = f;
    }
}

static inline void gv_eval_cells(gv_sinks *sinks, __global const gv_scalar4 *cell, const uint *from, uint n,
                                 gv_scalar eps2)
{
    for (int v = 0; v < GV_VECTORS; v++) {
        gv_force f = sinks->f[v];
        for (uint k = 0; k < n; k++) {
            __global const gv_scalar4 *at = cell + GV_CELL * (size_t)from[k];
            gv_scalar4 z = at[0];
            gv_moments c;
            c.m = z.w;
#if GV_MOMENTS == 2
            gv_scalar4 q = at[2], r = at[3];
            c.xx = q.x, c.xy = q.y, c.xz = q.z, c.yy = q.w, c.yz = r.x, c.zz = r.y;
#else
            c.xx = c.xy = c.xz = c.yy = c.yz = c.zz = (gv_real)(0);
#endif
            gv_cell_force(&f, gv_apart(sinks->x[v], sinks->x_low[v], z.x, at[4].x),
                          gv_apart(sinks->y[v], sinks->y_low[v], z.y, at[4].y),
                          gv_apart(sinks->z[v], sinks->z_low[v], z.z, at[4].z), c, gv_cell_soft(eps2));
#if GV_PRECISION == GV_DS
            if (k % 16 == 15)
                gv_total_take(&sinks->total[v], &f);
#endif
        }
#if GV_PRECISION == GV_DS
        gv_total_take(&sinks->total[v], &f);
#endif
        sinks->f[v] = f;
    }
}

static inline void gv_eval_far(gv_local *sum, __global const gv_scalar4 *cell, const uint *from, gv_scalar4 centre,
                               gv_scalar inverse_scale, gv_scalar eps2, uint n)
{
    gv_real a[8], b[8];
    uint which[GV_LANES];
    gv_scalar keep[GV_LANES];
    for (uint k = 0; k < GV_LANES; k++) {
        which[k] = from[k < n ? k : 0];
        keep[k] = k < n ? 1 : 0;
    }
    gv_load_records(cell, GV_CELL, which, a);
    gv_load_records(cell + 2, GV_CELL, which, b);
    gv_real here = gv_load(keep), per2 = here * (inverse_scale * inverse_scale);
    gv_moments c;
    c.m = a[3] * here;
#if GV_MOMENTS == 1
    per2 = (gv_real)(0);
#endif
    c.xx = b[0] * per2, c.xy = b[1] * per2, c.xz = b[2] * per2;
    c.yy = b[3] * per2, c.yz = b[4] * per2, c.zz = b[5] * per2;
#if GV_PRECISION == GV_DS
    gv_scalar low[3][GV_LANES];
    for (uint k = 0; k < GV_LANES; k++) {
        gv_scalar4 z_low = cell[GV_CELL * (size_t)which[k] + 4];
        low[0][k] = z_low.x, low[1][k] = z_low.y, low[2][k] = z_low.z;
    }
#endif
    gv_cell_expand(sum, gv_apart(centre.x, (gv_real)(0), a[0], gv_load(low[0])) * inverse_scale,
                   gv_apart(centre.y, (gv_real)(0), a[1], gv_load(low[1])) * inverse_scale,
                   gv_apart(centre.z, (gv_real)(0), a[2], gv_load(low[2])) * inverse_scale, c,
                   gv_cell_soft(eps2) * inverse_scale * inverse_scale);
#if GV_PRECISION == GV_DS
    gv_local_take(sum);
#endif
}

#if GV_PRECISION == GV_DS
/* the leading terms of the expansion, summed over lanes */
static inline void gv_lead_sum(const gv_local *l, gv_scalar *high, gv_scalar *low)
{
    gv_wide whole[4] = {l->whole_s, l->whole_v[0], l->whole_v[1], l->whole_v[2]};
    for (int k = 0; k < 4; k++) {
        gv_scalar hi[GV_LANES], lo[GV_LANES];
        gv_pair sum;
        gv_store(whole[k].hi, hi);
        gv_store(whole[k].lo, lo);
        sum.hi = hi[0], sum.lo = lo[0];
        for (int i = 1; i < GV_LANES; i++) {
            gv_pair more = gv_two_sum(sum.hi, hi[i]);
            sum.hi = more.hi, sum.lo += more.lo + lo[i];
        }
        high[k] = sum.hi, low[k] = sum.lo;
    }
}
#endif

/* results of vector v; `part` 1: their low words */
static inline void gv_put(const gv_force *f, uint first_sink, uint v, uint n_sinks, __global const uint *list,
                          __global const uint *index, uint part, __global gv_scalar4 *out)
{
    gv_scalar x[GV_LANES], y[GV_LANES], z[GV_LANES], pot[GV_LANES];
    gv_store(f->x, x);
    gv_store(f->y, y);
    gv_store(f->z, z);
    gv_store(f->pot, pot);
    for (uint l = 0; l < GV_LANES && v * GV_LANES + l < n_sinks; l++) {
        uint k = first_sink + v * GV_LANES + l, at = list ? list[k] : k;
        out[GV_RESULT * (index ? index[at] : at) + part] = (gv_scalar4)(x[l], y[l], z[l], pot[l]);
    }
}

/* arguments and results as gv_tree_walk of walk_group.cl */
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gv_tree_walk(__global const gv_scalar4 *cell, __global const gv_scalar4 *body,
                  __global const gv_scalar4 *body_low, __global const gv_scalar4 *points,
                  __global const gv_scalar4 *points_low, __global const uint *list, __global const uint *index, int own,
                  __global const gv_scalar4 *group, gv_scalar eps2, __global gv_scalar4 *out, __global uint4 *counts)
{
    uint stack[GV_STACK + 8], near[GV_LIST], far[2 * GV_LANES], leaf[GV_LIST], leaf_count[GV_LIST];
    uint g = get_group_id(0), top = 1, n_near = 0, n_far = 0, n_leaf = 0;
    uint4 did = (uint4)(0);
    gv_scalar4 g0 = group[GV_GROUP_WORDS * g], g1 = group[GV_GROUP_WORDS * g + 1], g2 = group[GV_GROUP_WORDS * g + 2];
    gv_scalar inverse_scale = GV_R(1.0) / g0.w;
    uint first_sink = gv_held(g2.z), n_sinks = gv_held(g2.w);

    gv_sinks sinks;
    for (int v = 0; v < GV_VECTORS; v++) {
        gv_scalar x[GV_LANES], y[GV_LANES], z[GV_LANES];
        uint self[GV_LANES];
        for (uint l = 0; l < GV_LANES; l++) {
            uint k = min(v * GV_LANES + l, n_sinks - 1);
            uint at = list ? list[first_sink + k] : first_sink + k;
            gv_scalar4 p = points[at];
            x[l] = p.x, y[l] = p.y, z[l] = p.z;
            self[l] = own ? at : GV_NO_BODY;
        }
        sinks.x[v] = gv_load(x), sinks.y[v] = gv_load(y), sinks.z[v] = gv_load(z);
        sinks.self[v] = gv_load(self);
        gv_force_clear(&sinks.f[v]);
#if GV_PRECISION == GV_DS
        for (uint l = 0; l < GV_LANES; l++) {
            uint k = first_sink + min(v * GV_LANES + l, n_sinks - 1);
            gv_scalar4 p = points_low[list ? list[k] : k];
            x[l] = p.x, y[l] = p.y, z[l] = p.z;
        }
        sinks.x_low[v] = gv_load(x), sinks.y_low[v] = gv_load(y), sinks.z_low[v] = gv_load(z);
        gv_total_clear(&sinks.total[v]);
#endif
    }
    uint2 own_range = (uint2)(0, 0); /* first, how many */
    if (own) {
        own_range.x = list ? list[first_sink] : first_sink;
        own_range.y = (list ? list[first_sink + n_sinks - 1] : first_sink + n_sinks - 1) - own_range.x + 1;
    }
    gv_local local_sum;
    gv_local_clear(&local_sum);
    stack[0] = 0;

    while (top > 0) {
        uint take = min((uint)GV_LANES, top);
        if (top + 7 * take > GV_STACK - GV_RESERVE)
            take = top + 7 < GV_STACK - GV_RESERVE ? (GV_STACK - GV_RESERVE - top) / 7 : 1u;
        uint which[GV_LANES];
        top -= take;
        for (uint k = 0; k < GV_LANES; k++)
            which[k] = stack[top + (k < take ? k : 0)];
        gv_real w[8];
        gv_load_records(cell, GV_CELL, which, w);
        gv_real rx = fabs(w[0] - g0.x), ry = fabs(w[1] - g0.y), rz = fabs(w[2] - g0.z);
        gv_real dx = fmax(rx - g1.x, (gv_real)(0)), dy = fmax(ry - g1.y, (gv_real)(0));
        gv_real dz = fmax(rz - g1.z, (gv_real)(0));
        gv_real r2 = gv_fma(rx, rx, gv_fma(ry, ry, rz * rz)), d2 = gv_fma(dx, dx, gv_fma(dy, dy, dz * dz));
        gv_int accept = GV_MASK(gv_narrow((d2 > w[4] * g1.w) & (d2 > w[5])));
#if GV_SUPPORT
        gv_real outside = sqrt(eps2) + GV_R(0.8) * sqrt(w[5]); /* no body of the cell within h */
        accept &= GV_MASK(gv_narrow(d2 > outside * outside));
#endif
        gv_int is_far = accept & GV_MASK(gv_narrow((r2 > g2.y) & (r2 * r2 * r2 > g2.x * w[3])));
        gv_uint first_of = GV_HELD(w[6]), info_of = GV_HELD(w[7]);
        gv_int is_leaf = GV_MASK((info_of & (gv_uint)(GV_LEAF)) != (gv_uint)(0));
        gv_uint count_of = info_of & (gv_uint)(GV_COUNT);
        /* one or two bodies are cheaper than their cell */
        gv_int is_near = accept & ~is_far & ~(is_leaf & GV_MASK(count_of <= (gv_uint)(2)));
        gv_int open = ~(is_far | is_near);
        uint add_far[GV_LANES], add_near[GV_LANES], add_leaf[GV_LANES], add_cells[GV_LANES], first[GV_LANES];
        uint count[GV_LANES];
        GV_STORE_UINT(GV_AS_UINT(is_far & (gv_int)(1)), 0, add_far);
        GV_STORE_UINT(GV_AS_UINT(is_near & (gv_int)(1)), 0, add_near);
        GV_STORE_UINT(GV_AS_UINT(open & is_leaf & (gv_int)(1)), 0, add_leaf);
        GV_STORE_UINT(GV_AS_UINT(open & ~is_leaf) & count_of, 0, add_cells);
        GV_STORE_UINT(first_of, 0, first);
        GV_STORE_UINT(count_of, 0, count);
        /* without branches: what does not belong to a list is overwritten by the next */
        for (uint k = 0; k < take; k++) {
            far[n_far] = which[k];
            n_far += add_far[k];
            near[n_near] = which[k];
            n_near += add_near[k];
            leaf[n_leaf] = first[k];
            leaf_count[n_leaf] = count[k];
            n_leaf += add_leaf[k];
            did.z += add_leaf[k] * count[k];
            vstore8((uint8)(first[k]) + (uint8)(0, 1, 2, 3, 4, 5, 6, 7), 0, stack + top);
            top += add_cells[k];
        }
        did.w += take;
        if (n_far >= GV_LANES) {
            n_far -= GV_LANES;
            did.x += GV_LANES;
            gv_eval_far(&local_sum, cell, far + n_far, g0, inverse_scale, eps2, GV_LANES);
        }
        if (n_near >= GV_TILE) {
            gv_eval_cells(&sinks, cell, near, n_near, eps2);
            did.y += n_near;
            n_near = 0;
        }
        if (n_leaf >= GV_TILE) {
            gv_eval_leaves(&sinks, body, body_low, leaf, leaf_count, n_leaf, own_range, eps2);
            n_leaf = 0;
        }
    }
    gv_eval_leaves(&sinks, body, body_low, leaf, leaf_count, n_leaf, own_range, eps2);
    gv_eval_cells(&sinks, cell, near, n_near, eps2);
    if (n_far > 0)
        gv_eval_far(&local_sum, cell, far, g0, inverse_scale, eps2, n_far);
    did.y += n_near;
    did.x += n_far;

    gv_real lanes[GV_LOCAL_TERMS];
    gv_scalar term[GV_LOCAL_TERMS];
    gv_local_unpack(&local_sum, lanes);
    for (int k = 0; k < GV_LOCAL_TERMS; k++)
        term[k] = gv_lane_sum(lanes[k]);
#if GV_PRECISION == GV_DS
    gv_scalar lead[4], lead_low[4];
    gv_lead_sum(&local_sum, lead, lead_low);
    for (int k = 0; k < 4; k++)
        term[k] = lead[k];
#endif
    for (int v = 0; v < GV_VECTORS; v++) {
        gv_real yx = gv_apart(sinks.x[v], sinks.x_low[v], g0.x, (gv_real)(0)) * inverse_scale;
        gv_real yy = gv_apart(sinks.y[v], sinks.y_low[v], g0.y, (gv_real)(0)) * inverse_scale;
        gv_real yz = gv_apart(sinks.z[v], sinks.z_low[v], g0.z, (gv_real)(0)) * inverse_scale;
#define gv_term(k) term[k]
        GV_LOCAL_FORCE(sinks.f[v], gv_term, yx, yy, yz, inverse_scale);
#if GV_PRECISION == GV_DS
        gv_total_take(&sinks.total[v], &sinks.f[v]);
        gv_total_lead(&sinks.total[v], lead, lead_low, inverse_scale);
        gv_force low = gv_total_split(&sinks.total[v], &sinks.f[v]);
        gv_put(&low, first_sink, v, n_sinks, list, index, 1, out);
#endif
        gv_put(&sinks.f[v], first_sink, v, n_sinks, list, index, 0, out);
    }
    counts[2 * g] = did;
    counts[2 * g + 1] = (uint4)(first_sink, n_sinks, 0, 0);
}
