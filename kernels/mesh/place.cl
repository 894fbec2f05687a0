/* Bodies in the mesh, and results into planes.  Number v of a view is the body list[v], or first + v without a list.
 *
 *   GV_FROM  precision of the planes (lib/from.h)
 *   GV_PRECISION  GV_DP where the mesh is dp, else GV_DS: places are found as two-floats */
#include "lib/real.h"
#include "lib/pair.h"
#include "lib/from.h"

#include "mesh/layout.h"

static inline uint gv_address(global const uint *list, uint first, uint k)
{
    return list ? list[k] : first + k;
}

/* The cell of a coordinate, (at + low) (scale + scale_low) + shift + shift_low cells, and the place in it.  No digit of
 * a two-float is lost: the number of the cell takes many of those that one word has. */
static inline uint gv_axis(gv_plane at, gv_plane low, gv_exact scale, gv_exact scale_low, gv_exact shift,
                           gv_exact shift_low, uint n, gv_scalar *d)
{
#if GV_EXACT_DOUBLE
    gv_exact sum = ((gv_exact)at + (gv_exact)low) * scale + shift;
    gv_exact whole = floor(sum), rest = sum - whole;
    (void)scale_low, (void)shift_low;
#else
    gv_pair product = gv_two_product(at, scale), sum = gv_two_sum(product.hi, shift);
    gv_exact whole = floor(sum.hi);
    gv_exact rest = (sum.hi - whole) + (sum.lo + (product.lo + (at * scale_low + (low * scale + shift_low))));
    gv_exact more = floor(rest);
    whole += more;
    rest -= more;
#endif
    *d = fmin((gv_scalar)rest, (gv_scalar)(1));
    whole -= floor(whole / (gv_exact)(n)) * (gv_exact)(n);
    return min((uint)whole, n - 1);
}

/* cell[k] = x + n (y + n z), place[k] = {offsets in the cell, mass}, index[k] = k (may be NULL) */
kernel void gv_mesh_places(global const gv_plane4 *at, global const gv_plane4 *at_low, global const uint *list,
                           uint first, uint count, gv_exact scale, gv_exact scale_low, gv_exact4 shift,
                           gv_exact4 shift_low, uint n, global uint *cell, global uint *index, global gv_scalar4 *place)
{
    uint k = get_global_id(0);
    if (k >= count)
        return;
    uint b = gv_address(list, first, k);
    gv_plane4 v = at[b], low = at_low ? at_low[b] : (gv_plane4)(0);
    gv_scalar dx, dy, dz;
    uint x = gv_axis(v.x, low.x, scale, scale_low, shift.x, shift_low.x, n, &dx);
    uint y = gv_axis(v.y, low.y, scale, scale_low, shift.y, shift_low.y, n, &dy);
    uint z = gv_axis(v.z, low.z, scale, scale_low, shift.z, shift_low.z, n, &dz);
    cell[k] = x + n * (y + n * z);
    place[k] = (gv_scalar4)(dx, dy, dz, (gv_scalar)v.w);
    if (index)
        index[k] = k;
}

/* Results (accelerations, potential) into planes; into: GV_MESH_REPLACE ... (GV_MESH_APART: `pot` is not looked at). */
kernel void gv_mesh_store(global const gv_scalar4 *result, global const uint *list, uint first, uint count, int into,
                          gv_exact acc_factor, gv_exact pot_factor, global gv_plane4 *acc, global gv_plane *pot)
{
    uint k = get_global_id(0);
    if (k >= count)
        return;
    uint b = gv_address(list, first, k);
    gv_exact4 f = gv_to_exact4(result[k]);
    gv_plane4 a = gv_to_plane4(f * acc_factor);
    gv_plane p = gv_to_plane(f.w * pot_factor);
    if (into == GV_MESH_APART) {
        acc[b] = (gv_plane4)(a.xyz, p);
        return;
    }
    if (into == GV_MESH_ADD) {
        a += acc[b];
        p += pot[b];
    }
    acc[b] = (gv_plane4)(a.xyz, 0);
    pot[b] = p;
}
