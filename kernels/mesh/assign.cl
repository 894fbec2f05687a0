/* Masses to mesh points.  Bodies are sorted by cell, and each mesh point collects from the cells around it, always in
 * the same order: no atomics, and the same bits each time.
 *
 *   key (cells) --sort--> gv_mesh_arrange: bodies in that order, and where those of each cell are
 *               ------->  gv_mesh_assign:  the density at each point
 *
 *   GV_WIDTH  points that a body reaches along an axis (weights.h)
 */
#include "mesh/weights.h"

/* range[cell] = first body and the one after the last; {0, 0} at first */
kernel void gv_mesh_arrange(global const uint *cell, global const uint *index, global const gv_scalar4 *place,
                            uint count, global gv_scalar4 *sorted, global uint *range)
{
    uint k = get_global_id(0);
    if (k >= count)
        return;
    uint here = cell[k];
    sorted[k] = place[index[k]];
    if (k == 0 || cell[k - 1] != here)
        range[2 * (size_t)here] = k;
    if (k == count - 1 || cell[k + 1] != here)
        range[2 * (size_t)here + 1] = k + 1;
}

/* The weights of point number t of those that a body reaches */
static inline gv_scalar gv_weight(gv_scalar d, int t)
{
    gv_scalar w[GV_WIDTH];
    gv_weights(d, w);
    return w[t];
}

/* The masses that the bodies of a cell give the point tx, ty, tz of their reach */
static inline gv_scalar gv_collect(global const gv_scalar4 *sorted, uint2 bodies, int tx, int ty, int tz)
{
    gv_scalar sum = 0;
    for (uint k = bodies.x; k < bodies.y; k++) {
        gv_scalar4 p = sorted[k];
        sum += p.w * (gv_weight(p.x, tx) * gv_weight(p.y, ty) * gv_weight(p.z, tz));
    }
    return sum;
}

/* mesh[x + row (y + n z)]: mass a cell; of a row the n first */
kernel void gv_mesh_assign(global const gv_scalar4 *sorted, global const uint2 *range, uint n, uint row,
                           global gv_scalar *mesh)
{
    uint x = get_global_id(0), line = get_global_id(1), y = line % n, z = line / n;
    if (x >= n || line >= n * n)
        return;
    gv_scalar sum = 0;
    for (int tz = 0; tz < GV_WIDTH; tz++)
        for (int ty = 0; ty < GV_WIDTH; ty++) {
            uint cz = gv_wrap((int)z + GV_BEFORE - tz, n), cy = gv_wrap((int)y + GV_BEFORE - ty, n);
            global const uint2 *cells = range + (size_t)n * (cy + (size_t)n * cz);
#pragma unroll
            for (int tx = 0; tx < GV_WIDTH; tx++) {
                uint2 bodies = cells[gv_wrap((int)x + GV_BEFORE - tx, n)];
                if (bodies.y > bodies.x)
                    sum += gv_collect(sorted, bodies, tx, ty, tz);
            }
        }
    mesh[x + row * (size_t)line] = sum;
}
