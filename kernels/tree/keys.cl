/* Space-filling keys.  21 bits of each coordinate within the bounding cube, interleaved to 63 bits, most significant
 * digit first: a cell of level l is all bodies whose keys agree in their first l octal digits.
 *
 *   GV_CURVE    lib/curve.h
 *   GV_LANES    bodies per work-item, in one vector
 *   GV_THREADS  1: each work-item for itself.  Else, with GV_LANES 1, work-groups of so many share the table of the
 *               Hilbert curve (lib/turns.h) and take bodies in turns: the same keys
 */
#include "tree/cell.h"
#include "lib/curve.h"
#include "lib/group.h"

#if GV_THREADS > 1
#include "lib/turns.h"
#if GV_LANES > 1
#error "work-items that share the table of the curve take one body each: GV_LANES must be 1"
#endif
#if GV_CURVE == 0
#define gv_turned_key(x, y, z, two) gv_curve_key(x, y, z)
#endif

/* bounds: lo, hi of the bodies */
kernel __attribute__((reqd_work_group_size(GV_THREADS, 1, 1))) void gv_tree_keys(global const gv_scalar4 *body, uint n,
                                                                                 global const gv_scalar4 *bounds,
                                                                                 global ulong *key, global uint *index)
{
    local ushort two[GV_TURN_WORDS];
    gv_scalar4 lo = bounds[0], side = bounds[1] - bounds[0];
    gv_scalar longest = fmax(fmax(side.x, side.y), side.z);
    gv_scalar per_cell = longest > 0 ? GV_R(2097151.5) / longest : 0;
    if (GV_CURVE == 1)
        gv_fill_turns(two);
    for (uint k = get_global_id(0); k < n; k += get_global_size(0)) {
        gv_scalar4 p = body[k];
        key[k] = gv_turned_key(gv_lattice(p.x, lo.x, per_cell), gv_lattice(p.y, lo.y, per_cell),
                               gv_lattice(p.z, lo.z, per_cell), two);
        index[k] = k;
    }
}
#else
kernel void gv_tree_keys(global const gv_scalar4 *body, uint n, global const gv_scalar4 *bounds, global ulong *key,
                         global uint *index)
{
    gv_scalar4 lo = bounds[0], side = bounds[1] - bounds[0];
    gv_scalar longest = fmax(fmax(side.x, side.y), side.z);
    gv_scalar per_cell = longest > 0 ? GV_R(2097151.5) / longest : 0;
    uint first = get_global_id(0) * GV_LANES;
#if GV_LANES == 1
    if (first < n) {
        gv_scalar4 p = body[first];
        key[first] = gv_curve_key(gv_lattice(p.x, lo.x, per_cell), gv_lattice(p.y, lo.y, per_cell),
                                  gv_lattice(p.z, lo.z, per_cell));
        index[first] = first;
    }
#else
    if (first >= n)
        return;
    gv_scalar x[GV_LANES], y[GV_LANES], z[GV_LANES];
    ulong out[GV_LANES];
    for (uint k = 0; k < GV_LANES; k++) {
        gv_scalar4 p = body[min(first + k, n - 1)];
        x[k] = p.x;
        y[k] = p.y;
        z[k] = p.z;
    }
    gv_code c = gv_curve_key(gv_lattice(gv_load(x), lo.x, per_cell), gv_lattice(gv_load(y), lo.y, per_cell),
                             gv_lattice(gv_load(z), lo.z, per_cell));
    GV_PASTE(vstore, GV_LANES)(c, 0, out);
    for (uint k = 0; k < GV_LANES && first + k < n; k++) {
        key[first + k] = out[k];
        index[first + k] = first + k;
    }
#endif
}
#endif
