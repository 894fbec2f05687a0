/* Groups of sinks: runs of GV_N_GROUP sinks in key order.  One work-item makes one group: the tight box of its sinks,
 * an estimate of their acceleration, and what the opening tests of the walk need from it.
 *
 * The estimate is a monopole walk for the centre of the box that accepts a cell at R > bmax: within 5 % of the least
 * acceleration of the group's sinks for half of the groups of a Plummer sphere, within 30 % for all but a few.  With it
 *   open  = (tau a)^(-2/5)           a cell is opened unless m bmax^3 / d^5 < tau a
 *   far   = radius^4 / (tau_local a) it enters the local expansion if m radius^4 / R^6 < tau_local a
 * with R from the centre of the group's box, d from the nearest point of the box.
 *
 * Sinks are points[list[k]], list NULL: points[k].  `last` (may be NULL) holds accelerations of an earlier step, in the
 * order that `index` gives; then the least of them replaces the estimate.
 */
#include "tree/cell.h"

#if !defined(GV_N_GROUP) || !defined(GV_MAC)
#error "GV_N_GROUP (sinks per group) and GV_MAC must be set"
#endif
#define GV_STACK (7 * GV_LEVELS + 8)

static inline gv_scalar gv_length(gv_scalar x, gv_scalar y, gv_scalar z)
{
    return sqrt(x * x + y * y + z * z);
}

static inline gv_scalar gv_estimate(__global const gv_scalar4 *cell, gv_scalar4 at, gv_scalar eps2)
{
    uint stack[GV_STACK], top = 1;
    gv_scalar ax = 0, ay = 0, az = 0;
    stack[0] = 0;
    while (top > 0) {
        uint c = stack[--top];
        gv_scalar4 z = cell[GV_CELL * c], w = cell[GV_CELL * c + 1];
        gv_scalar dx = z.x - at.x, dy = z.y - at.y, dz = z.z - at.z;
        gv_scalar r2 = dx * dx + dy * dy + dz * dz, bmax2 = w.y * GV_R(0.64);
        uint info = gv_held(w.w);
        if (info & GV_LEAF || r2 > bmax2) {
            /* a leaf that is too near acts from its own extent at least */
            r2 += eps2 + (info & GV_LEAF ? bmax2 : 0);
            if (r2 > 0) {
                gv_scalar y = rsqrt(r2);
                gv_scalar k = z.w * y * y * y;
                ax += k * dx;
                ay += k * dy;
                az += k * dz;
            }
        } else {
            uint first = gv_held(w.z);
            for (uint k = 0; k < info; k++)
                stack[top++] = first + k;
        }
    }
    return gv_length(ax, ay, az);
}

__kernel void gv_tree_groups(__global const gv_scalar4 *points, __global const uint *list, uint n_sinks,
                             __global const gv_scalar4 *cell, __global const gv_scalar4 *last,
                             __global const uint *index, gv_scalar eps2, gv_scalar tau, gv_scalar tau_local,
                             __global gv_scalar4 *group)
{
    uint g = get_global_id(0), first = g * GV_N_GROUP;
    if (first >= n_sinks)
        return;
    uint count = min((uint)GV_N_GROUP, n_sinks - first);
    gv_scalar4 lo = points[list ? list[first] : first], hi = lo;
    for (uint k = 1; k < count; k++) {
        gv_scalar4 p = points[list ? list[first + k] : first + k];
        lo = fmin(lo, p);
        hi = fmax(hi, p);
    }
    gv_scalar4 centre = GV_R(0.5) * (lo + hi);
    gv_scalar4 half_side = fmax(hi - centre, centre - lo);
    gv_scalar radius2 = 0, a = GV_R(3e38);
    for (uint k = 0; k < count; k++) {
        uint s = list ? list[first + k] : first + k;
        gv_scalar4 d = points[s] - centre;
        radius2 = fmax(radius2, d.x * d.x + d.y * d.y + d.z * d.z);
        if (last) {
            gv_scalar4 f = last[index[s]];
            a = fmin(a, gv_length(f.x, f.y, f.z));
        }
    }
    if (!last)
        a = gv_estimate(cell, centre, eps2);
    a = fmax(a, GV_R(1e-25));

    gv_scalar scale = fmax(sqrt(radius2), GV_R(1e-6));
    gv_scalar open = GV_MAC == 1 ? exp2(GV_R(-0.4) * log2(tau * a)) : GV_R(1.0);
    gv_scalar far = radius2 * radius2 / (tau_local * a);
    /* R below a thousandth of the unit would overflow the expansion */
    gv_scalar reach = fmax(radius2 / GV_R(0.36), scale * scale * GV_R(1e-6));
    group[GV_GROUP_WORDS * g] = (gv_scalar4)(centre.xyz, scale);
    group[GV_GROUP_WORDS * g + 1] = (gv_scalar4)(half_side.xyz, open);
    group[GV_GROUP_WORDS * g + 2] = (gv_scalar4)(far, reach, gv_hold(first), gv_hold(count));
}
