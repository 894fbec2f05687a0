/* Part of walk_group.cl: sums over work-items, and results. */

/* Rows of many work-items are added in this many parts first. */
#define GV_SUM_PARTS (GV_THREADS > 64 ? 8 : 1)
#define GV_SUM_PART (GV_THREADS / GV_SUM_PARTS)
#define GV_SUM_STEP (GV_SUM_PARTS > 1 ? GV_SUM_PART : 1)

/* The work-items' expansions are added into joined[0 ... GV_LOCAL_TERMS - 1]; `part` has room for GV_SUM_AT_ONCE. */
static inline void gv_join_local(const gv_local *local_sum, local gv_scalar *part, local gv_scalar *joined)
{
    uint me = get_local_id(0);
    gv_scalar term[GV_LOCAL_TERMS];
    gv_local_unpack(local_sum, term);
#pragma unroll
    for (int from = 0; from < GV_LOCAL_TERMS; from += GV_SUM_AT_ONCE) {
        const uint n = (uint)min(GV_SUM_AT_ONCE, GV_LOCAL_TERMS - from);
#pragma unroll
        for (uint k = 0; k < GV_SUM_AT_ONCE; k++)
            if (k < n)
                part[k * GV_SUM_ROW + me] = term[from + k];
        gv_group_sync();
        if (GV_SUM_PARTS > 1) {
            for (uint k = me; k < n * GV_SUM_PARTS; k += GV_THREADS) {
                local gv_scalar *row = part + k / GV_SUM_PARTS * GV_SUM_ROW + k % GV_SUM_PARTS * GV_SUM_PART;
                gv_scalar all = 0;
#pragma unroll 4
                for (uint j = 0; j < GV_SUM_PART; j++)
                    all += row[j];
                row[0] = all;
            }
            gv_group_sync();
        }
        for (uint k = me; k < n; k += GV_THREADS) {
            gv_scalar all = 0;
#pragma unroll 4
            for (uint j = 0; j < GV_THREADS; j += GV_SUM_STEP)
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
