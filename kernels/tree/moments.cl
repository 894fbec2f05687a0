/* Moments of cells, one launch a level from the deepest up: leaves from their bodies, others from their children.
 *
 *   m = sum m_j     z = sum m_j x_j / m     q_ab = 1/2 sum m_j d_a d_b,  d = x_j - z     bmax = max |d|
 * Children join with q_ab = sum (q_ab + 1/2 m d_a d_b), d from z to the child's centre, bmax = the lesser of
 * max (bmax + |d|) and the distance from z to the farthest corner of the tight box.
 *
 *   GV_MAC  which opening size a cell carries (tree/cell.h; the group's factor completes it):
 *     0 geometric   k = (l / theta + s)^2       l: longest side of the tight box, s: distance of z from its centre;
 *                   the group's factor is 1
 *     1 relative    k = (m bmax^3)^(2/5)        the group's factor is (tau a)^(-2/5), so that the cell is opened unless
 *                   m bmax^3 / d^5 < tau a: the first neglected moment, the octupole, is small beside a
 * A cell without mass lies at the middle of its box.
 */
#include "tree/cell.h"
#include "lib/pair.h"

#ifndef GV_MAC
#error "GV_MAC must be 0 (geometric) or 1 (relative)"
#endif

typedef struct gv_box {
    gv_scalar4 lo, hi;
} gv_box;

static inline gv_scalar gv_opening_size(gv_scalar m, gv_scalar bmax, gv_scalar4 z, gv_box box, gv_scalar inverse_theta)
{
#if GV_MAC == 0
    gv_scalar4 side = box.hi - box.lo, off = GV_R(0.5) * (box.hi + box.lo) - z;
    gv_scalar longest = fmax(fmax(side.x, side.y), side.z);
    gv_scalar size = longest * inverse_theta + sqrt(off.x * off.x + off.y * off.y + off.z * off.z);
    return size * size;
#else
    return m > 0 && bmax > 0 ? exp2(GV_R(0.4) * (log2(m) + 3 * log2(bmax))) : 0;
#endif
}

__kernel void gv_tree_moments(__global const gv_scalar4 *body, __global const gv_scalar4 *low,
                              __global const uint2 *link,
                              __global const uint *level_total, uint level, uint capacity, gv_scalar inverse_theta,
                              __global gv_scalar4 *cell, __global gv_scalar4 *boxes)
{
    uint start = gv_level_first(level_total, level), end = min(start + level_total[level], capacity);
    uint below = min(end + (level + 1 < GV_LEVELS ? level_total[level + 1] : 0u), capacity);
    for (uint c = start + get_global_id(0); c < end; c += get_global_size(0)) {
        uint2 at = link[c];
        uint first = at.x, count = at.y & GV_COUNT, info;
        int leaf = (at.y & GV_LEAF) != 0;
        if (leaf) {
            info = GV_LEAF | count;
        } else {
            /* children of the next cell start at a body where that cell starts too */
            count = 1;
            while (count < 8 && first + count < below && !(link[first + count].y & GV_FIRSTBORN))
                count++;
            info = count;
        }

        if (!leaf && first >= below) {
            /* no room for the children: the host sees that and builds again; nothing may be read beyond the end */
            for (uint k = 0; k < GV_CELL; k++)
                cell[GV_CELL * c + k] = (gv_scalar4)(0, 0, 0, gv_hold(0));
            boxes[2 * c] = boxes[2 * c + 1] = (gv_scalar4)(0);
            continue;
        }

        gv_box box;
        gv_scalar4 origin = leaf ? body[first] : cell[GV_CELL * first];
#if GV_PRECISION == GV_DS
        gv_scalar4 origin_low = leaf ? low[first] : cell[GV_CELL * first + 4];
#endif
        gv_scalar4 sum = (gv_scalar4)(0);
        box.lo = leaf ? origin : boxes[2 * first];
        box.hi = leaf ? origin : boxes[2 * first + 1];
        for (uint k = first; k < first + count; k++) {
            gv_scalar4 p = leaf ? body[k] : cell[GV_CELL * k];
            gv_scalar4 d = gv_apart(p, leaf ? low[k] : cell[GV_CELL * k + 4], origin, origin_low);
            sum += (gv_scalar4)(d.xyz * p.w, p.w);
            box.lo = fmin(box.lo, leaf ? p : boxes[2 * k]);
            box.hi = fmax(box.hi, leaf ? p : boxes[2 * k + 1]);
        }
        gv_scalar m = sum.w;
        gv_scalar4 z = m > 0 ? origin + sum / m : GV_R(0.5) * (box.lo + box.hi);

#if GV_PRECISION == GV_DS
        gv_scalar4 z_low = (gv_scalar4)(0);
        if (m > 0) {
            gv_pair px = gv_two_sum(origin.x, origin_low.x + sum.x / m);
            gv_pair py = gv_two_sum(origin.y, origin_low.y + sum.y / m);
            gv_pair pz = gv_two_sum(origin.z, origin_low.z + sum.z / m);
            z = (gv_scalar4)(px.hi, py.hi, pz.hi, 0);
            z_low = (gv_scalar4)(px.lo, py.lo, pz.lo, 0);
        }
        cell[GV_CELL * c + 4] = z_low;
#endif

        gv_scalar xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0, bmax = 0, bodies = leaf ? count : 0;
        for (uint k = first; k < first + count; k++) {
            gv_scalar4 p = leaf ? body[k] : cell[GV_CELL * k];
            gv_scalar4 d = gv_apart(p, leaf ? low[k] : cell[GV_CELL * k + 4], z, z_low);
            gv_scalar half_m = GV_R(0.5) * p.w, reach = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
            if (!leaf) {
                gv_scalar4 q = cell[GV_CELL * k + 2], r = cell[GV_CELL * k + 3];
                xx += q.x, xy += q.y, xz += q.z, yy += q.w, yz += r.x, zz += r.y;
                reach += r.z;
                bodies += r.w;
            }
            xx += half_m * d.x * d.x;
            xy += half_m * d.x * d.y;
            xz += half_m * d.x * d.z;
            yy += half_m * d.y * d.y;
            yz += half_m * d.y * d.z;
            zz += half_m * d.z * d.z;
            bmax = fmax(bmax, reach);
        }
        gv_scalar4 corner = fmax(box.hi - z, z - box.lo);
        bmax = fmin(bmax, sqrt(corner.x * corner.x + corner.y * corner.y + corner.z * corner.z));

        gv_scalar open = gv_opening_size(m, bmax, z, box, inverse_theta);
        cell[GV_CELL * c] = (gv_scalar4)(z.xyz, m);
        cell[GV_CELL * c + 1] = (gv_scalar4)(open, bmax * bmax * GV_R(1.5625), gv_hold(first), gv_hold(info));
        cell[GV_CELL * c + 2] = (gv_scalar4)(xx, xy, xz, yy);
        cell[GV_CELL * c + 3] = (gv_scalar4)(yz, zz, bmax, bodies);
        boxes[2 * c] = box.lo;
        boxes[2 * c + 1] = box.hi;
    }
}
