/* Nearest neighbours and neighbour lists: what one vector of sinks has found so far, and the second pass over sources
 * that the inner loop has flagged.  Lists by a rule (rule.h) are noted from the bits that the inner loop has set. */
#define GV_NO_SOURCE 0xffffffffu

#if GV_SEARCH
typedef struct gv_found {
    gv_real threshold;
#if GV_NEAREST
    gv_real r2;
    gv_uint nearest; /* address */
#endif
#if GV_LISTS
    gv_real radius2;
    gv_uint count;
#endif
#if GV_AHEAD
    gv_real ahead; /* time */
#endif
} gv_found;

#if GV_BY_RULE
/* Is source j, at distance d, in the sphere around i?  Written without branches: it is done for every pair. */
static inline gv_mask gv_near(const gv_found *found, const gv_sink i, const gv_source j, const gv_separation d)
{
    gv_real r2 = d.r2, radius2 = found->radius2;
#if GV_AHEAD
    const gv_real x = gv_fma(found->ahead, j.vel.x - i.vx, d.x);
    const gv_real y = gv_fma(found->ahead, j.vel.y - i.vy, d.y);
    const gv_real z = gv_fma(found->ahead, j.vel.z - i.vz, d.z);
    r2 = fmin(r2, gv_fma(z, z, gv_fma(y, y, x * x)));
#endif
#if GV_RULE == GV_RULE_SPHERE_MASS
    radius2 *= j.pos.w;
#endif
    return GV_RULE == GV_RULE_OTHERS ? r2 <= radius2 : r2 < radius2;
}

static inline gv_int gv_bit(gv_mask set, uint k)
{
#if GV_LANES == 1
    return set << k;
#else
    return gv_narrow(set) & (gv_int)(1 << k);
#endif
}

/* Writes the neighbours among `count` sources from `address` on: one bit each. */
static void gv_note(gv_found *found, gv_int inside, uint count, uint address, global uint *list, uint list_stride,
                    uint capacity)
{
#if GV_LANES == 1
    for (uint k = 0; k < count; k++)
        if (inside >> k & 1) {
            if (found->count < capacity)
                list[found->count] = address + k;
            found->count++;
        }
#else
    /* lanes are sinks with lists of their own: `list` is the first one's */
    int bits[GV_LANES];
    uint have[GV_LANES];
    GV_PASTE(vstore, GV_LANES)(inside, 0, bits);
    GV_PASTE(vstore, GV_LANES)(found->count, 0, have);
    for (uint lane = 0; lane < GV_LANES; lane++)
        for (uint k = 0; k < count && bits[lane] >> k; k++)
            if (bits[lane] >> k & 1) {
                if (have[lane] < capacity)
                    list[lane * list_stride + have[lane]] = address + k;
                have[lane]++;
            }
    found->count = GV_PASTE(vload, GV_LANES)(0, have);
#endif
}
#endif

#if GV_LOOK
/* What the first look compares with, so that it never misses a pair whose unsoftened distance is at most r2: of the
 * two sums of squares each has three roundings, and this has two: 8 half places, rounded up to 32. */
#if GV_PRECISION == GV_DP
#define GV_SLACK GV_R(1.000000000000004)
#else
#define GV_SLACK GV_R(1.000002)
#endif
static inline gv_real gv_threshold(gv_real r2, gv_scalar eps2)
{
#if GV_SOFT_LOOK
    return (r2 + eps2) * GV_SLACK;
#else
    return r2;
#endif
}

/* The second pass over sources first ... first + count - 1 of the view, which have addresses from `address` on. */
static void gv_look(gv_found *found, const gv_sink i, gv_int sink_id, const gv_view view, uint first, uint count,
                    uint address, global uint *list, uint list_stride, uint capacity, gv_scalar eps2)
{
    for (uint k = first; k < first + count; k++) {
        gv_separation d = gv_separate(i, gv_fetch(view, k), 0);
        gv_mask self = gv_same(sink_id, view.id[k]);
#if GV_NEAREST
#if GV_LANES == 1
        int nearer = (d.r2 < found->r2) & !self;
        found->nearest = nearer ? address + k : found->nearest;
        found->r2 = nearer ? d.r2 : found->r2;
#else
        gv_mask nearer = (d.r2 < found->r2) & ~self;
        found->nearest = select(found->nearest, (gv_uint)(address + k), gv_narrow(nearer));
        found->r2 = select(found->r2, d.r2, nearer);
#endif
#endif
#if GV_LISTS && !GV_BY_RULE
#if GV_LANES == 1
        if ((d.r2 <= found->radius2) & !self) {
            if (found->count < capacity)
                list[found->count] = address + k;
            found->count++;
        }
#else
        gv_mask close = (d.r2 <= found->radius2) & ~self;
        if (any(close)) {
            /* lanes are sinks with lists of their own: `list` is the first one's */
            GV_MASK_SCALAR hit[GV_LANES];
            uint have[GV_LANES];
            GV_PASTE(vstore, GV_LANES)(close, 0, hit);
            GV_PASTE(vstore, GV_LANES)(found->count, 0, have);
            for (uint lane = 0; lane < GV_LANES; lane++) {
                if (!hit[lane])
                    continue;
                if (have[lane] < capacity)
                    list[lane * list_stride + have[lane]] = address + k;
                have[lane]++;
            }
            found->count = GV_PASTE(vload, GV_LANES)(0, have);
        }
#endif
#endif
    }
#if GV_NEAREST && GV_LISTS && !GV_BY_RULE
    found->threshold = gv_threshold(fmax(found->radius2, found->r2), eps2);
#elif GV_NEAREST
    found->threshold = gv_threshold(found->r2, eps2);
#endif
}
#endif

/* What a vector of sinks starts with; radius2 is read with lists only. */
static inline void gv_found_begin(gv_found *found, gv_real radius2, gv_scalar eps2)
{
    found->threshold = (gv_real)(GV_HUGE);
#if GV_NEAREST
    found->r2 = (gv_real)(GV_HUGE);
    found->nearest = (gv_uint)(GV_NO_SOURCE);
#endif
#if GV_LISTS
    found->radius2 = radius2;
    found->count = (gv_uint)(0);
#if GV_LOOK && !GV_NEAREST
    found->threshold = gv_threshold(radius2, eps2);
#endif
#endif
}
#endif
