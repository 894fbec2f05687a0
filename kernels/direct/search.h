/* Nearest neighbours and neighbour lists: what one vector of sinks has found so far, and the second pass over sources
 * that the inner loop has flagged.  Lists by a rule (rule.h) are noted from the bits that the inner loop has set.
 *
 * Nearest neighbours by GV_KEEP_RUN: the inner loop takes the least distance of each run of sources and keeps the
 * address of the run that has the least of all.  That run is looked through when the part is done. */
#define GV_NO_SOURCE 0xffffffffu

#if GV_SEARCH
typedef struct gv_found {
#if GV_KEEP_RUN
    gv_real least; /* squared distance, softened with GV_SOFT_LOOK */
    gv_uint run;   /* address of its first source */
#else
    gv_real threshold;
#endif
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

/* By how much two sums of squares may differ by rounding, with eps^2 and without: each has three roundings, and the
 * product with this two: 8 half places, rounded up to 32. */
#if GV_PRECISION == GV_DP
#define GV_SLACK GV_R(1.000000000000004)
#else
#define GV_SLACK GV_R(1.000002)
#endif

#if GV_KEEP_RUN
/* Planes of the sources that a distance needs, all of them: a run may be in no tile any more. */
typedef struct gv_places {
    global const gv_scalar4 *pos;
#if GV_PRECISION == GV_DS
    global const gv_scalar4 *lo;
#endif
    global const int *id;
    uint n;
} gv_places;

/* Takes source k into r2 and nearest if it is the nearest so far; of two at one distance the lower address.  Sources of
 * other runs or parts do no harm: each has its own distance. */
static inline void gv_look_at(gv_found *found, const gv_sink i, gv_int sink_id, const gv_places places, uint k)
{
    gv_source j;
    j.pos = places.pos[k];
#if GV_PRECISION == GV_DS
    j.lo = places.lo[k];
#endif
    const gv_real r2 = gv_separate(i, j, 0).r2;
    const gv_mask lower = (r2 == found->r2) & gv_widen((gv_uint)(k) < found->nearest);
    const gv_mask nearer = ((r2 < found->r2) | lower) & (gv_same(sink_id, places.id[k]) == (gv_mask)(0));
    found->nearest = gv_select(gv_narrow(nearer), (gv_uint)(k), found->nearest);
    found->r2 = gv_select(nearer, r2, found->r2);
}

/* The same for the runs that the lanes have kept, each for all lanes. */
static inline void gv_look_at_kept(gv_found *found, const gv_sink i, gv_int sink_id, const gv_places places)
{
#if GV_LANES == 1
    if (found->run == GV_NO_SOURCE)
        return;
        /* unrolled and unconditional, so that all loads are in flight at once */
#pragma unroll
    for (uint k = 0; k < GV_UNROLL; k++)
        gv_look_at(found, i, sink_id, places, min(found->run + k, places.n - 1));
#else
    uint run[GV_LANES];
    GV_PASTE(vstore, GV_LANES)(found->run, 0, run);
    for (uint lane = 0; lane < GV_LANES; lane++)
        for (uint k = run[lane]; k < places.n && k - run[lane] < GV_UNROLL; k++)
            gv_look_at(found, i, sink_id, places, k);
#endif
}

/* The run at `run` has a source at the squared distance `least`: keeps it where that is less than all before.  True
 * where rounding of softened distances leaves open which of both has the nearest. */
static inline gv_mask gv_keep(gv_found *found, gv_real least, uint run)
{
#if GV_SOFT_LOOK
    const gv_mask nearer = least * GV_SLACK < found->least;
    const gv_mask open = (least < found->least * GV_SLACK) & !nearer;
#else
    const gv_mask nearer = least < found->least, open = (gv_mask)(0);
#endif
    found->least = gv_least(least, found->least);
    found->run = gv_select(gv_narrow(nearer), (gv_uint)(run), found->run);
    return open;
}

/* Decides what gv_keep has left open among `count` sources from address `first` on: what is kept then begins at the
 * nearest.  A run that was kept before them and is no more is farther for certain. */
static void gv_settle(gv_found *found, const gv_sink i, gv_int sink_id, const gv_places places, uint first, uint count)
{
    gv_look_at_kept(found, i, sink_id, places);
#pragma unroll 1
    for (uint k = first; k < first + count; k++)
        gv_look_at(found, i, sink_id, places, k);
    found->run = found->nearest;
}
#endif

#if GV_LOOK
/* What the first look compares with, so that it never misses a pair whose unsoftened distance is at most r2. */
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
#if GV_KEEP_RUN
    found->least = (gv_real)(GV_HUGE);
    found->run = (gv_uint)(GV_NO_SOURCE);
#else
    found->threshold = (gv_real)(GV_HUGE);
#endif
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

#if GV_NEAREST && GV_SPLIT > 1
/* Nearest neighbours of the rows of a group by halves; of two at one distance the lower address. */
__attribute__((always_inline)) static inline void gv_join_nearest(gv_found *found, local gv_real *words,
                                                                  local gv_uint *addresses, uint row)
{
    const uint me = get_local_id(0);
    for (uint step = GV_SPLIT / 2; step > 0; step /= 2) {
        words[me] = found->r2;
        addresses[me] = found->nearest;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (row < step) {
            const gv_real r2 = words[me + step * GV_ROW];
            const gv_uint address = addresses[me + step * GV_ROW];
            const gv_mask nearer = (r2 < found->r2) | ((r2 == found->r2) & gv_widen(address < found->nearest));
            found->nearest = gv_select(gv_narrow(nearer), address, found->nearest);
            found->r2 = gv_select(nearer, r2, found->r2);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif
#endif
