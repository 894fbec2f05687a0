/* The walk of a group of sinks by one work-item, over explicit lanes: the shape for CPUs, where barriers are slow and a
 * work-item drives a SIMD unit.  The tests and lists are those of walk_group.cl:
 *
 *   stack of cells --(GV_LANES are tested at once)--> opened: children back to the stack
 *                                                     far:    into the group's local expansion, GV_LANES cells at once
 *                                                     near, leaf: lists; from there onto GV_LANES sinks at once
 *
 *   GV_LANES    sinks or cells in one vector;  GV_N_GROUP  sinks of a group at most, a multiple of GV_LANES
 *   GV_STACK    cells the stack can hold;      GV_TILE     length of the lists of near cells and of leaves
 */
#include "tree/cell.h"
#include "lib/lanes.h"
#include "lib/pair.h"
#include "tree/interact.h"
#include "tree/walk.h"

#if GV_N_GROUP % GV_LANES
#error "GV_N_GROUP must be a multiple of GV_LANES"
#endif
#define GV_VECTORS (GV_N_GROUP / GV_LANES)
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
    int vectors; /* in use */
    gv_real x[GV_VECTORS], y[GV_VECTORS], z[GV_VECTORS];
    gv_uint self[GV_VECTORS];
    gv_force f[GV_VECTORS];
#if GV_SOFTEN
    gv_real soft[GV_VECTORS];
#endif
#if GV_PRECISION == GV_DS
    gv_real x_low[GV_VECTORS], y_low[GV_VECTORS], z_low[GV_VECTORS];
    gv_total total[GV_VECTORS];
#endif
} gv_sinks;

/* The stack of cells and the lists.  Without branches: a cell is written behind the end of every list, and only the
 * length of the list it belongs to grows, so each list needs one spare entry. */
typedef struct gv_lists {
    uint stack[GV_STACK + 8], near[GV_LIST], far[2 * GV_LANES], leaf[GV_LIST], leaf_count[GV_LIST];
    uint top, n_near, n_far, n_leaf;
} gv_lists;

#if GV_PRECISION == GV_DS
#define gv_low_of(low, k) (low)[k]
#else
#define gv_low_of(low, k) (gv_scalar4)(0)
#endif

#if GV_SHORT_RANGE
/* of a wide group every sink has an image of its own */
#define GV_IMAGE(dx, dy, dz)                                                                                           \
    if (sources->wide)                                                                                                 \
    dx = gv_nearest(dx, sources->period), dy = gv_nearest(dy, sources->period), dz = gv_nearest(dz, sources->period)
/* of a two-float L the low word moves with it */
#if GV_PRECISION == GV_DS
#define GV_FAR_IMAGE(a, centre) a -= rint((a - centre) * sources->period.z) * (sources->period.x + sources->period.y)
#else
#define GV_FAR_IMAGE(a, centre) a -= rint((a - centre) * sources->period.z) * sources->period.x
#endif
#else
#define GV_IMAGE(dx, dy, dz)
#define GV_FAR_IMAGE(a, centre)
#endif

/* ------------------------------------------------------------------- load */

static inline void gv_take_sinks(gv_sinks *sinks, const gv_group *g, global const gv_scalar4 *points,
                                 global const gv_scalar4 *points_low, global const gv_scalar *point_soft,
                                 global const uint *self, int own)
{
    sinks->vectors = (int)((g->count + GV_LANES - 1) / GV_LANES);
    for (int v = 0; v < sinks->vectors; v++) {
        gv_scalar x[GV_LANES], y[GV_LANES], z[GV_LANES], soft[GV_LANES];
        uint who[GV_LANES];
        for (uint l = 0; l < GV_LANES; l++) {
            uint k = g->first + min(v * GV_LANES + l, g->count - 1);
            gv_scalar4 p = points[k];
            x[l] = p.x, y[l] = p.y, z[l] = p.z;
            who[l] = own == GV_OWN_NONE ? GV_NO_BODY : self ? self[k] : k;
            soft[l] = GV_SOFTS_SINKS ? point_soft[k] : 0;
        }
        sinks->x[v] = gv_load(x), sinks->y[v] = gv_load(y), sinks->z[v] = gv_load(z);
        sinks->self[v] = gv_load(who);
        gv_force_clear(&sinks->f[v]);
#if GV_SOFTEN
        sinks->soft[v] = gv_load(soft);
#else
        (void)soft;
#endif
#if GV_PRECISION == GV_DS
        for (uint l = 0; l < GV_LANES; l++) {
            gv_scalar4 p = points_low[g->first + min(v * GV_LANES + l, g->count - 1)];
            x[l] = p.x, y[l] = p.y, z[l] = p.z;
        }
        sinks->x_low[v] = gv_load(x), sinks->y_low[v] = gv_load(y), sinks->z_low[v] = gv_load(z);
        gv_total_clear(&sinks->total[v]);
#endif
    }
}

/* --------------------------------------------------------------- evaluate */

/* the leaves of the list onto all sinks */
static inline void gv_eval_leaves(gv_sinks *sinks, const gv_sources *sources, const gv_lists *lists, uint2 own)
{
    for (int v = 0; v < sinks->vectors; v++) {
        gv_real x = sinks->x[v], y = sinks->y[v], z = sinks->z[v];
        gv_force f = sinks->f[v];
        for (uint k = 0; k < lists->n_leaf; k++) {
            uint start = lists->leaf[k], end = start + lists->leaf_count[k];
            int meets = end > own.x && start < own.x + own.y;
/* rest: the last arguments of add */
#define GV_EACH(add, rest)                                                                                             \
    for (uint j = start; j < end; j++) {                                                                               \
        gv_scalar4 b = sources->body[j], low = gv_low_of(sources->body_low, j);                                        \
        GV_BRING_NEAR(sources, &b, &low);                                                                              \
        gv_real dx = gv_apart(b.x, low.x, x, sinks->x_low[v]), dy = gv_apart(b.y, low.y, y, sinks->y_low[v]);          \
        gv_real dz = gv_apart(b.z, low.z, z, sinks->z_low[v]);                                                         \
        GV_IMAGE(dx, dy, dz);                                                                                          \
        add(&f, dx, dy, dz, (gv_real)(b.w), gv_soften(sources->eps2, sinks->soft[v], sources->body_soft[j]), rest);    \
        (void)low;                                                                                                     \
    }
#define GV_IS_OTHER , gv_widen((gv_uint)(j) != sinks->self[v])
            if (meets)
                GV_EACH(gv_pair_add_other, sources->eps2 GV_IS_OTHER GV_SHORT_OF(sources))
            else
                GV_EACH(gv_pair_add, sources->eps2 GV_SHORT_OF(sources))
#if GV_PRECISION == GV_DS
            gv_total_take(&sinks->total[v], &f);
#endif
        }
        sinks->f[v] = f;
    }
}

/* the near cells of the list onto all sinks */
static inline void gv_eval_cells(gv_sinks *sinks, const gv_sources *sources, const gv_lists *lists)
{
    for (int v = 0; v < sinks->vectors; v++) {
        gv_force f = sinks->f[v];
        for (uint k = 0; k < lists->n_near; k++) {
            global const gv_scalar4 *at = sources->cell + GV_CELL * (size_t)lists->near[k];
            gv_scalar4 z = at[0], low = gv_low_of(at, 4);
            GV_BRING_NEAR(sources, &z, &low);
            (void)low;
            gv_moments c;
            c.m = z.w;
#if GV_MOMENTS == 2
            gv_scalar4 q = at[2], r = at[3];
            c.xx = q.x, c.xy = q.y, c.xz = q.z, c.yy = q.w, c.yz = r.x, c.zz = r.y;
#else
            c.xx = c.xy = c.xz = c.yy = c.yz = c.zz = (gv_real)(0);
#endif
            gv_cell_force(
                &f, gv_apart(sinks->x[v], sinks->x_low[v], z.x, low.x),
                gv_apart(sinks->y[v], sinks->y_low[v], z.y, low.y), gv_apart(sinks->z[v], sinks->z_low[v], z.z, low.z),
                c, gv_soften(sources->eps2, sinks->soft[v], sources->cell_soft[lists->near[k]]) GV_SHORT_OF(sources));
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

/* cells from[0 ... n-1], n <= GV_LANES, into the group's expansion */
static inline void gv_eval_far(gv_local *sum, const gv_group *g, const gv_sources *sources, const uint *from, uint n)
{
    gv_real a[8], b[8];
    uint which[GV_LANES];
    gv_scalar keep[GV_LANES], soft[GV_LANES], per1 = g->inverse_scale;
    for (uint k = 0; k < GV_LANES; k++) {
        which[k] = from[k < n ? k : 0];
        keep[k] = k < n ? 1 : 0;
        soft[k] = GV_SOFTEN < 2 ? 0 : sources->cell_soft[which[k]];
    }
    gv_load_records(sources->cell, GV_CELL, which, a);
    gv_load_records(sources->cell + 2, GV_CELL, which, b);
    gv_real here = gv_load(keep), per2 = here * (per1 * per1);
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
        gv_scalar4 z_low = sources->cell[GV_CELL * (size_t)which[k] + 4];
        low[0][k] = z_low.x, low[1][k] = z_low.y, low[2][k] = z_low.z;
    }
#endif
    GV_FAR_IMAGE(a[0], g->centre.x);
    GV_FAR_IMAGE(a[1], g->centre.y);
    GV_FAR_IMAGE(a[2], g->centre.z);
    gv_cell_expand(sum, gv_apart(g->centre.x, (gv_real)(0), a[0], gv_load(low[0])) * per1,
                   gv_apart(g->centre.y, (gv_real)(0), a[1], gv_load(low[1])) * per1,
                   gv_apart(g->centre.z, (gv_real)(0), a[2], gv_load(low[2])) * per1, c,
                   gv_soften(sources->eps2, g->soft, gv_load(soft)) * (per1 * per1) GV_SHORT_IN_UNIT(sources, per1));
#if GV_PRECISION == GV_DS
    gv_local_take(sum);
#endif
}

/* Full lists, and what is left of them when the stack is empty. */
static inline void gv_eval_lists(gv_sinks *sinks, gv_local *local_sum, const gv_group *g, const gv_sources *sources,
                                 gv_lists *lists, uint4 *did)
{
    uint least = lists->top > 0 ? GV_TILE : 1, least_far = lists->top > 0 ? GV_LANES : 1;
    while (lists->n_far >= least_far) {
        uint n = min((uint)GV_LANES, lists->n_far);
        lists->n_far -= n;
        did->x += n;
        gv_eval_far(local_sum, g, sources, lists->far + lists->n_far, n);
    }
    if (lists->n_leaf >= least) {
        gv_eval_leaves(sinks, sources, lists, g->own);
        lists->n_leaf = 0;
    }
    if (lists->n_near >= least) {
        gv_eval_cells(sinks, sources, lists);
        did->y += lists->n_near;
        lists->n_near = 0;
    }
}

/* ------------------------------------------------------------------- walk */

/* What a group does with GV_LANES cells: masks, 0 or -1 a lane. */
typedef struct gv_verdict {
    gv_int is_far, is_near, open, is_leaf;
    gv_uint first, count;
} gv_verdict;

static inline gv_verdict gv_test_cells(const gv_group *g, const gv_sources *sources, const uint *which)
{
    gv_verdict v;
    gv_real w[8];
    gv_load_records(sources->cell, GV_CELL, which, w);
    gv_real rx = fabs(gv_from_centre(sources, w[0], g->centre.x, g));
    gv_real ry = fabs(gv_from_centre(sources, w[1], g->centre.y, g));
    gv_real rz = fabs(gv_from_centre(sources, w[2], g->centre.z, g));
    gv_real dx = fmax(rx - g->half_side.x, (gv_real)(0)), dy = fmax(ry - g->half_side.y, (gv_real)(0));
    gv_real dz = fmax(rz - g->half_side.z, (gv_real)(0));
    gv_real r2 = gv_fma(rx, rx, gv_fma(ry, ry, rz * rz)), d2 = gv_fma(dx, dx, gv_fma(dy, dy, dz * dz));
    gv_int accept = GV_MASK(gv_narrow((d2 > w[4] * g->open) & (d2 > w[5])));
#if GV_SHAPE_GUARD
    gv_scalar soft[GV_LANES];
    for (uint k = 0; k < GV_LANES; k++)
        soft[k] = GV_SOFTEN < 2 ? 0 : sources->cell_soft[which[k]];
    gv_real outside = gv_shape_guard(gv_soften(sources->eps2, g->soft, gv_load(soft))) + GV_R(0.8) * sqrt(w[5]);
    accept &= GV_MASK(gv_narrow((d2 > outside * outside) | (w[5] < (gv_real)(0))));
#endif
#if GV_SHORT_RANGE
    gv_real bmax = GV_R(0.8) * sqrt(w[5]), end = bmax + sources->range.y;
    gv_int beyond = GV_MASK(gv_narrow(d2 > end * end));
    accept &= GV_MASK(gv_narrow(bmax < (gv_real)(gv_room_beside(sources, g)))) & ~beyond;
#endif
    v.is_far = accept & GV_MASK(gv_narrow((r2 > g->reach) & (r2 * r2 * r2 > g->far * w[3])));
    gv_uint info = GV_HELD(w[7]);
    v.first = GV_HELD(w[6]);
    v.is_leaf = GV_MASK((info & (gv_uint)(GV_LEAF)) != (gv_uint)(0));
    v.count = info & (gv_uint)(GV_COUNT);
    /* one or two bodies are cheaper than their cell */
    v.is_near = accept & ~v.is_far & ~(v.is_leaf & GV_MASK(v.count <= (gv_uint)(2)));
    v.open = ~(v.is_far | v.is_near);
#if GV_SHORT_RANGE
    v.open &= ~beyond;
#endif
    return v;
}

/* One step: GV_LANES cells from the top of the stack; children and lists get what comes of them. */
static inline void gv_walk_step(const gv_group *g, const gv_sources *sources, gv_lists *lists, uint4 *did)
{
    uint which[GV_LANES], take = gv_take_count(lists->top, GV_LANES, GV_STACK);
    lists->top -= take;
    for (uint k = 0; k < GV_LANES; k++)
        which[k] = lists->stack[lists->top + (k < take ? k : 0)];
    gv_verdict v = gv_test_cells(g, sources, which);
    uint add_far[GV_LANES], add_near[GV_LANES], add_leaf[GV_LANES], add_cells[GV_LANES], first[GV_LANES];
    uint count[GV_LANES];
    GV_STORE_UINT(GV_AS_UINT(v.is_far & (gv_int)(1)), 0, add_far);
    GV_STORE_UINT(GV_AS_UINT(v.is_near & (gv_int)(1)), 0, add_near);
    GV_STORE_UINT(GV_AS_UINT(v.open & v.is_leaf & (gv_int)(1)), 0, add_leaf);
    GV_STORE_UINT(GV_AS_UINT(v.open & ~v.is_leaf) & v.count, 0, add_cells);
    GV_STORE_UINT(v.first, 0, first);
    GV_STORE_UINT(v.count, 0, count);
    for (uint k = 0; k < take; k++) {
        lists->far[lists->n_far] = which[k];
        lists->n_far += add_far[k];
        lists->near[lists->n_near] = which[k];
        lists->n_near += add_near[k];
        lists->leaf[lists->n_leaf] = first[k];
        lists->leaf_count[lists->n_leaf] = count[k];
        lists->n_leaf += add_leaf[k];
        did->z += add_leaf[k] * count[k];
        vstore8((uint8)(first[k]) + (uint8)(0, 1, 2, 3, 4, 5, 6, 7), 0, lists->stack + lists->top);
        lists->top += add_cells[k];
    }
    did->w += take;
}

/* ------------------------------------------------------------------- join */

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

/* the sums of the expansion over lanes: the terms, and in ds the leading ones as two-floats */
static inline void gv_join_local(const gv_local *local_sum, gv_scalar *term, gv_scalar *lead, gv_scalar *lead_low)
{
    gv_real lanes[GV_LOCAL_TERMS];
    gv_local_unpack(local_sum, lanes);
    for (int k = 0; k < GV_LOCAL_TERMS; k++)
        term[k] = gv_lane_sum(lanes[k]);
#if GV_PRECISION == GV_DS
    gv_lead_sum(local_sum, lead, lead_low);
    for (int k = 0; k < 4; k++)
        term[k] = lead[k];
#else
    (void)lead, (void)lead_low;
#endif
}

/* ------------------------------------------------------------------ store */

/* results of vector v; `part` 1: their low words */
static inline void gv_put(const gv_force *f, const gv_group *g, uint v, global const uint *index, uint part,
                          global gv_scalar4 *out)
{
    gv_scalar x[GV_LANES], y[GV_LANES], z[GV_LANES], pot[GV_LANES];
    gv_store(f->x, x);
    gv_store(f->y, y);
    gv_store(f->z, z);
    gv_store(f->pot, pot);
    for (uint l = 0; l < GV_LANES && v * GV_LANES + l < g->count; l++) {
        uint k = g->first + v * GV_LANES + l;
        out[GV_RESULT * (size_t)(index ? index[k] : k) + part] = (gv_scalar4)(x[l], y[l], z[l], pot[l]);
    }
}

/* The expansion is added to the forces of all sinks. */
static inline void gv_put_results(gv_sinks *sinks, const gv_group *g, const gv_scalar *term, const gv_scalar *lead,
                                  const gv_scalar *lead_low, global const uint *index, global gv_scalar4 *out)
{
    gv_scalar per1 = g->inverse_scale;
    for (int v = 0; v < sinks->vectors; v++) {
        gv_real yx = gv_apart(sinks->x[v], sinks->x_low[v], g->centre.x, (gv_real)(0)) * per1;
        gv_real yy = gv_apart(sinks->y[v], sinks->y_low[v], g->centre.y, (gv_real)(0)) * per1;
        gv_real yz = gv_apart(sinks->z[v], sinks->z_low[v], g->centre.z, (gv_real)(0)) * per1;
#define gv_term(k) term[k]
        GV_LOCAL_FORCE(sinks->f[v], gv_term, yx, yy, yz, per1);
#if GV_PRECISION == GV_DS
        gv_total_take(&sinks->total[v], &sinks->f[v]);
        gv_total_lead(&sinks->total[v], lead, lead_low, per1);
        gv_force low = gv_total_split(&sinks->total[v], &sinks->f[v]);
        gv_put(&low, g, v, index, 1, out);
#endif
        gv_put(&sinks->f[v], g, v, index, 0, out);
    }
}

/* arguments and results as gv_tree_walk of walk_group.cl */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
gv_tree_walk(global const gv_scalar4 *cell, global const gv_scalar4 *body, global const gv_scalar4 *body_low,
             global const gv_scalar4 *points, global const gv_scalar4 *points_low, global const uint *self, int own,
             global const uint *index, global const gv_scalar4 *group, gv_scalar eps2, global gv_scalar4 *out,
             global uint4 *counts, global const gv_scalar *point_soft, global const gv_scalar *body_soft,
             global const gv_scalar *cell_soft GV_SHORT_PARAMETERS)
{
    GV_SOURCES sources = {cell, body, body_low, body_soft, cell_soft, eps2};
    size_t at = get_group_id(0);
    gv_scalar term[GV_LOCAL_TERMS], lead[4], lead_low[4];
    uint4 did = (uint4)(0);
    gv_lists lists;
    gv_sinks sinks;
    gv_local local_sum;

    gv_group g = gv_read_group(group + GV_GROUP_VECTORS * at, self, own);
    counts[2 * at + 1] = (uint4)(g.first, g.count, 0, 0);
    if (g.count == 0) {
        counts[2 * at] = did;
        return;
    }
    GV_TAKE_RANGE(&sources, &g);
    gv_soften_group(&g, point_soft);
    gv_take_sinks(&sinks, &g, points, points_low, point_soft, self, own);
    gv_local_clear(&local_sum);
    lists.stack[0] = 0;
    lists.top = 1;
    lists.n_near = lists.n_far = lists.n_leaf = 0;
    while (lists.top > 0) {
        gv_walk_step(&g, &sources, &lists, &did);
        gv_eval_lists(&sinks, &local_sum, &g, &sources, &lists, &did);
    }
    counts[2 * at] = did;
    gv_join_local(&local_sum, term, lead, lead_low);
    gv_put_results(&sinks, &g, term, lead, lead_low, index, out);
}
