/* Groups of sinks: runs of GV_N_GROUP sinks in key order.  One work-item makes one group: the tight box of its sinks,
 * an estimate of their acceleration, and what the opening tests of the walk need from it.
 *
 * The estimate is a monopole walk for the centre of the box that accepts a cell at R > bmax: within 5 % of the least
 * acceleration of the group's sinks for half of the groups of a Plummer sphere, within 30 % for all but a few.  With it
 *   open  = (tau a)^(-2/5)           a cell is opened unless m bmax^3 / d^5 < tau a
 *   far   = radius^4 / (tau_local a) it enters the local expansion if m radius^4 / R^6 < tau_local a
 * with R from the centre of the group's box, d from the nearest point of the box.
 *
 * A run that happens to cross from one end of the system to another has a box with thousands of bodies inside, and a
 * work-group would be busy with it long after all others are done.  Such a wide group (GV_WIDE times as many bodies as
 * sinks within a fifth of its radius from its box) is walked sink by sink instead, by groups of their own:
 *   gv_tree_groups  all groups; wide[g] says which are wide
 *   (compaction)    list of the wide groups
 *   gv_tree_split   as many of them as there is room for: the first sink keeps the place of the group, the others get
 *                   places behind the last group; places that are left over become groups of no sinks
 *
 * Sinks are points[list[k]], list NULL: points[k].  `last` (may be NULL) holds accelerations of an earlier step, in the
 * order that `index` gives; then the least of them replaces the estimate.
 */
#include "tree/cell.h"

#if !defined(GV_N_GROUP) || !defined(GV_MAC)
#error "GV_N_GROUP (sinks per group) and GV_MAC must be set"
#endif
#define GV_STACK (7 * GV_LEVELS + 8)
#define GV_WIDE 32

static inline gv_scalar gv_length(gv_scalar x, gv_scalar y, gv_scalar z)
{
    return sqrt(x * x + y * y + z * z);
}

/* an estimate of the acceleration at the centre of a box, and the bodies in it and close by */
typedef struct gv_surrounding {
    gv_scalar a, bodies;
} gv_surrounding;

static inline gv_surrounding gv_look_around(__global const gv_scalar4 *cell, gv_scalar4 at, gv_scalar4 half_side,
                                            gv_scalar margin2, gv_scalar eps2)
{
    uint stack[GV_STACK], top = 1;
    gv_scalar ax = 0, ay = 0, az = 0;
    gv_surrounding found;
    found.bodies = 0;
    stack[0] = 0;
    while (top > 0) {
        uint c = stack[--top];
        gv_scalar4 z = cell[GV_CELL * c], w = cell[GV_CELL * c + 1];
        gv_scalar dx = z.x - at.x, dy = z.y - at.y, dz = z.z - at.z;
        gv_scalar r2 = dx * dx + dy * dy + dz * dz, bmax2 = w.y * GV_R(0.64);
        uint info = gv_held(w.w);
        if (info & GV_LEAF || r2 > bmax2) {
            gv_scalar4 out = fmax(fabs(z - at) - half_side, (gv_scalar4)(0));
            if (out.x * out.x + out.y * out.y + out.z * out.z <= margin2)
                found.bodies += info & GV_LEAF ? (gv_scalar)(info & GV_COUNT) : cell[GV_CELL * c + 3].w;
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
    found.a = gv_length(ax, ay, az);
    return found;
}

/* Makes the group of `count` sinks from `first` on; returns the bodies in its box and close by. */
static inline gv_scalar gv_make_group(__global const gv_scalar4 *points, __global const uint *list, uint first,
                                      uint count, __global const gv_scalar4 *cell, __global const gv_scalar4 *last,
                                      __global const uint *index, gv_scalar eps2, gv_scalar tau, gv_scalar tau_local,
                                      __global gv_scalar4 *group)
{
    gv_scalar4 lo = points[list ? list[first] : first], hi = lo;
    for (uint k = 1; k < count; k++) {
        gv_scalar4 p = points[list ? list[first + k] : first + k];
        lo = fmin(lo, p);
        hi = fmax(hi, p);
    }
    gv_scalar4 centre = GV_R(0.5) * (lo + hi);
    gv_scalar4 half_side = fmax(hi - centre, centre - lo);
    gv_scalar radius2 = 0, least = GV_R(3e38);
    for (uint k = 0; k < count; k++) {
        uint s = list ? list[first + k] : first + k;
        gv_scalar4 d = points[s] - centre;
        radius2 = fmax(radius2, d.x * d.x + d.y * d.y + d.z * d.z);
        if (last) {
            gv_scalar4 f = last[GV_RESULT * index[s]];
            least = fmin(least, gv_length(f.x, f.y, f.z));
        }
    }
    gv_surrounding around = gv_look_around(cell, centre, half_side, GV_R(0.04) * radius2, eps2);
    gv_scalar a = fmax(last ? least : around.a, GV_R(1e-25));

    /* a power of 2: turning units is exact */
    gv_scalar scale = ldexp(GV_R(1.0), ilogb(fmax(sqrt(radius2), GV_R(1e-6))) + 1);
    gv_scalar open = GV_MAC == 1 ? exp2(GV_R(-0.4) * log2(tau * a)) : GV_R(1.0);
    gv_scalar far = radius2 * radius2 / (tau_local * a);
    /* R below a thousandth of the unit would overflow the expansion */
    gv_scalar reach = fmax(radius2 / GV_R(0.36), scale * scale * GV_R(1e-6));
    group[0] = (gv_scalar4)(centre.xyz, scale);
    group[1] = (gv_scalar4)(half_side.xyz, open);
    group[2] = (gv_scalar4)(far, reach, gv_hold(first), gv_hold(count));
    return around.bodies;
}

/* `wide` may be NULL */
__kernel void gv_tree_groups(__global const gv_scalar4 *points, __global const uint *list, uint n_sinks,
                             __global const gv_scalar4 *cell, __global const gv_scalar4 *last,
                             __global const uint *index, gv_scalar eps2, gv_scalar tau, gv_scalar tau_local,
                             __global gv_scalar4 *group, __global uchar *wide)
{
    uint g = get_global_id(0), first = g * GV_N_GROUP;
    if (first >= n_sinks)
        return;
    uint count = min((uint)GV_N_GROUP, n_sinks - first);
    gv_scalar bodies = gv_make_group(points, list, first, count, cell, last, index, eps2, tau, tau_local,
                                     group + GV_GROUP_WORDS * g);
    if (wide)
        wide[g] = count > 1 && bodies > (gv_scalar)(GV_WIDE * GV_N_GROUP);
}

/* which[0 ... *found-1]: the wide groups; there is room for `room` of them */
__kernel void gv_tree_split(__global const gv_scalar4 *points, __global const uint *list, uint n_sinks,
                            __global const gv_scalar4 *cell, __global const gv_scalar4 *last,
                            __global const uint *index, gv_scalar eps2, gv_scalar tau, gv_scalar tau_local,
                            __global gv_scalar4 *group, __global const uint *which, __global const uint *found,
                            uint room)
{
    uint w = get_global_id(0) / GV_N_GROUP, j = get_global_id(0) % GV_N_GROUP;
    uint n_groups = (n_sinks + GV_N_GROUP - 1) / GV_N_GROUP;
    if (w >= room)
        return;
    uint place = n_groups + w * (GV_N_GROUP - 1) + j - 1;
    if (w < *found) {
        uint first = which[w] * GV_N_GROUP + j;
        if (j == 0)
            place = which[w];
        if (first < n_sinks) {
            gv_make_group(points, list, first, 1, cell, last, index, eps2, tau, tau_local,
                          group + GV_GROUP_WORDS * place);
            return;
        }
    }
    if (w >= *found && j == 0)
        return;
    for (uint k = 0; k < GV_GROUP_WORDS; k++)
        group[GV_GROUP_WORDS * place + k] = (gv_scalar4)(0, 0, gv_hold(0), gv_hold(0));
}
