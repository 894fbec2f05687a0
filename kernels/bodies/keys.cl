/* Keys along a Hilbert curve through the bodies' bounding cube, and the addresses that go with them: what
 * gravel_bodies_order_by_key sorts.  bounds: lo, hi of the bodies. */
#include "lib/real.h"

#define GV_CURVE 1
#include "lib/curve.h"

#if GV_LANES != 1
#error "GV_LANES must be 1 in bodies/keys.cl"
#endif

kernel void gv_bodies_keys(global const gv_scalar4 *body, uint n, global const gv_scalar4 *bounds, global ulong *key,
                           global uint *index)
{
    const uint k = get_global_id(0);
    if (k >= n)
        return;
    const gv_scalar4 lo = bounds[0], side = bounds[1] - bounds[0], p = body[k];
    const gv_scalar longest = fmax(fmax(side.x, side.y), side.z);
    const gv_scalar per_cell = longest > 0 ? GV_R(2097151.5) / longest : 0;
    key[k] =
        gv_curve_key(gv_lattice(p.x, lo.x, per_cell), gv_lattice(p.y, lo.y, per_cell), gv_lattice(p.z, lo.z, per_cell));
    index[k] = k;
}
