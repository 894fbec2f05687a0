/* Bounds of vectors: lo = min, hi = max of x, y, z over n float4 (or double4); w holds nothing.  Two launches of the
 * same kernel: many groups leave partial bounds, then one group joins them.
 *
 *   GV_THREADS  work-items per group
 *   in          n pairs (lo, hi) if `paired`, else n vectors
 *   out         one pair (lo, hi) a group */
#include "lib/real.h"
#include "lib/group.h"

kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void
gv_reduce_bounds(global const gv_scalar4 *in, uint n, int paired, global gv_scalar4 *out)
{
    gv_scalar4 lo = (gv_scalar4)(GV_R(3e38)), hi = (gv_scalar4)(GV_R(-3e38));
    for (uint k = get_global_id(0); k < n; k += get_global_size(0)) {
        lo = fmin(lo, in[paired ? 2 * k : k]);
        hi = fmax(hi, in[paired ? 2 * k + 1 : k]);
    }
#if GV_THREADS > 1
    local gv_scalar4 part[2][GV_THREADS];
    uint me = get_local_id(0);
    for (uint by = GV_THREADS / 2; by > 0; by >>= 1) {
        part[0][me] = lo;
        part[1][me] = hi;
        gv_group_sync();
        if (me < by) {
            lo = fmin(lo, part[0][me + by]);
            hi = fmax(hi, part[1][me + by]);
        }
        gv_group_sync();
    }
#endif
    if (get_local_id(0) == 0) {
        out[2 * get_group_id(0)] = lo;
        out[2 * get_group_id(0) + 1] = hi;
    }
}
