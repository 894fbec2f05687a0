/* When bodies are due: time + step, and the least of it in a work-group.  Needs lib/real.h, lib/pair.h, lib/group.h,
 * lib/low.h. */
static inline int gv_before(gv_pair a, gv_pair b)
{
    return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}

/* time + step; low words exist in ds only */
static inline gv_pair gv_due_of(gv_scalar time, gv_scalar time_low, gv_scalar step)
{
#if GV_PRECISION == GV_DP
    gv_pair due;
    due.hi = time + step;
    due.lo = 0;
    return due;
#else
    gv_pair sum = gv_two_sum(time, step);
    return gv_two_sum(sum.hi, sum.lo + time_low);
#endif
}

/* of body k */
static inline gv_pair gv_due(global const gv_scalar *time, global const gv_scalar *time_low,
                             global const gv_scalar *step, uint k)
{
    return gv_due_of(time[k], gv_low(time_low, k), step[k]);
}

/* the least of the work-items' times (high and low word), in every work-item */
static inline gv_pair gv_group_least(gv_pair mine, local gv_scalar *scratch)
{
#if GV_THREADS > 1
    uint me = get_local_id(0);
    for (uint by = GV_THREADS / 2; by > 0; by >>= 1) {
        scratch[2 * me] = mine.hi;
        scratch[2 * me + 1] = mine.lo;
        gv_group_sync();
        gv_pair other = {scratch[2 * (me ^ by)], scratch[2 * (me ^ by) + 1]};
        if (gv_before(other, mine))
            mine = other;
        gv_group_sync();
    }
#endif
    return mine;
}

static inline gv_pair gv_never(void)
{
    gv_pair never = {GV_HUGE, 0};
    return never;
}

/* 1 if body k exists and its time has come */
static inline uint gv_is_due(global const gv_scalar *time, global const gv_scalar *time_low,
                             global const gv_scalar *step, uint k, uint n, gv_pair next)
{
    return k < n && !gv_before(next, gv_due(time, time_low, step, k)) ? 1u : 0u;
}
