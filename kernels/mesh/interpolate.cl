/* Fields at bodies: the mesh points around a body with the weights of the assignment.
 *
 *   GV_WIDTH     points along an axis (weights.h)
 *   GV_STENCIL   differences of mesh points for gv_mesh_gradient: 2 or 4 points
 *
 * place, cell: of sink k, in any order; its result is result[index[k]], or result[k] without an index.
 */
#include "mesh/layout.h"
#include "mesh/weights.h"

/* where the points of a row of the mesh begin */
static inline size_t gv_row(uint y, uint z, uint n, uint row)
{
    return row * (y + (size_t)n * z);
}

/* One field into component number `component` of the results, times `weight`; fresh: replaced, not added.  own: what is
 * added to it for each unit of the sink's mass. */
kernel void gv_mesh_take(global const gv_scalar *mesh, uint n, uint row, global const uint *cell,
                         global const gv_scalar4 *place, global const uint *index, uint count, int component,
                         gv_scalar weight, int fresh, gv_scalar own, global gv_scalar *result)
{
    uint k = get_global_id(0);
    if (k >= count)
        return;
    uint c = cell[k], cx = c % n, cy = c / n % n, cz = c / n / n;
    gv_scalar4 p = place[k];
    gv_scalar wx[4] = {0, 0, 0, 0}, wy[GV_WIDTH], wz[GV_WIDTH], sum = 0;
    gv_weights(p.x, wx);
    gv_weights(p.y, wy);
    gv_weights(p.z, wz);
    gv_scalar4 w4 = (gv_scalar4)(wx[0], wx[1], wx[2], wx[3]), sum4 = (gv_scalar4)(0);
    int inside = cx >= GV_BEFORE && cx + 4 - GV_BEFORE <= n;
    for (int tz = 0; tz < GV_WIDTH; tz++)
        for (int ty = 0; ty < GV_WIDTH; ty++) {
            global const gv_scalar *at =
                mesh + gv_row(gv_wrap((int)cy + ty - GV_BEFORE, n), gv_wrap((int)cz + tz - GV_BEFORE, n), n, row);
            gv_scalar w = wy[ty] * wz[tz];
            if (inside) {
                sum4 += w * vload4(0, at + (cx - GV_BEFORE));
            } else {
                gv_scalar line = 0;
                for (int tx = 0; tx < GV_WIDTH; tx++)
                    line += wx[tx] * at[gv_wrap((int)cx + tx - GV_BEFORE, n)];
                sum += w * line;
            }
        }
    sum4 *= w4;
    sum += (sum4.x + sum4.y) + (sum4.z + sum4.w);
    global gv_scalar *to = result + 4 * (size_t)(index ? index[k] : k) + component;
    *to = (fresh ? 0 : *to) + weight * (sum + own * p.w);
}

#define GV_REACH (GV_STENCIL / 2)
#define GV_LONG (GV_WIDTH + GV_STENCIL)

/* Weights of the points of a row that is GV_REACH longer on either side: of the value, and of minus the derivative, for
 * which each point's difference goes to the points beside it. */
static inline void gv_slopes(const gv_scalar *w, gv_scalar *value, gv_scalar *slope)
{
    for (int t = 0; t < GV_LONG; t++)
        value[t] = slope[t] = 0;
    for (int t = 0; t < GV_WIDTH; t++) {
        int at = t + GV_REACH;
        value[at] = w[t];
#if GV_STENCIL == 2
        slope[at + 1] -= GV_R(0.5) * w[t];
        slope[at - 1] += GV_R(0.5) * w[t];
#else
        slope[at + 1] -= GV_R(0.66666666666666667) * w[t];
        slope[at - 1] += GV_R(0.66666666666666667) * w[t];
        slope[at + 2] += GV_R(0.083333333333333333) * w[t];
        slope[at - 2] -= GV_R(0.083333333333333333) * w[t];
#endif
    }
}

/* Potential and all components of the acceleration from the mesh of the potential. */
kernel void gv_mesh_gradient(global const gv_scalar *mesh, uint n, uint row, global const uint *cell,
                             global const gv_scalar4 *place, global const uint *index, uint count, gv_scalar weight,
                             int fresh, gv_scalar own, global gv_scalar4 *result)
{
    uint k = get_global_id(0);
    if (k >= count)
        return;
    uint c = cell[k];
    int first = -(GV_BEFORE + GV_REACH), cx = (int)(c % n), cy = (int)(c / n % n), cz = (int)(c / n / n);
    gv_scalar4 p = place[k];
    gv_scalar w[GV_WIDTH], vx[GV_LONG], vy[GV_LONG], vz[GV_LONG], sx[GV_LONG], sy[GV_LONG], sz[GV_LONG];
    gv_scalar4 sum = (gv_scalar4)(0);
    gv_weights(p.x, w);
    gv_slopes(w, vx, sx);
    gv_weights(p.y, w);
    gv_slopes(w, vy, sy);
    gv_weights(p.z, w);
    gv_slopes(w, vz, sz);
    for (int tz = 0; tz < GV_LONG; tz++)
        for (int ty = 0; ty < GV_LONG; ty++) {
            if (vy[ty] == 0 && vz[tz] == 0)
                continue; /* a corner: at most one of the three weights of a point is a slope */
            global const gv_scalar *at =
                mesh + gv_row(gv_wrap(cy + ty + first, n), gv_wrap(cz + tz + first, n), n, row);
            gv_scalar value = 0, slope = 0;
            for (int tx = 0; tx < GV_LONG; tx++) {
                gv_scalar phi = at[gv_wrap(cx + tx + first, n)];
                value += vx[tx] * phi;
                slope += sx[tx] * phi;
            }
            sum.x += vy[ty] * vz[tz] * slope;
            sum.y += sy[ty] * vz[tz] * value;
            sum.z += vy[ty] * sz[tz] * value;
            sum.w += vy[ty] * vz[tz] * value;
        }
    sum.w += own * p.w;
    size_t to = index ? index[k] : k;
    result[to] = (fresh ? (gv_scalar4)(0) : result[to]) + weight * sum;
}
