/* Masses to mesh points.  Bodies are sorted by cell, and each mesh point is summed always in the same order: no
 * atomics, and the same bits each time.
 *
 *   key (cells) --sort--> gv_mesh_arrange: bodies in that order
 *               ------->  gv_mesh_starts:  where those of each cell, or of each row of cells, begin
 *               ------->  gv_mesh_assign:  the density at each point, some work-items a point; needs starts of cells
 *                    or   gv_mesh_assign_rows: a work-item a row of points, into which bodies are spread; needs starts
 *                                              of rows, and its time goes with the bodies, not with the points
 *
 *   GV_WIDTH  points that a body reaches along an axis (weights.h)
 */
#include "mesh/layout.h"
#include "mesh/weights.h"

kernel void gv_mesh_arrange(global const uint *index, global const gv_scalar4 *place, uint count,
                            global gv_scalar4 *sorted)
{
    uint k = get_global_id(0);
    if (k < count)
        sorted[k] = place[index[k]];
}

/* start[k]: the first of `count` ascending keys that is not below k * per, for k < n */
kernel void gv_mesh_starts(global const uint *key, uint count, uint per, uint n, global uint *start)
{
    uint k = get_global_id(0), low = 0, high = count;
    if (k >= n)
        return;
    while (low < high) {
        uint middle = low + (high - low) / 2;
        if (key[middle] < k * per)
            low = middle + 1;
        else
            high = middle;
    }
    start[k] = low;
}

/* The distance of a body in cell c, at d, from the point c - GV_BEFORE + t. */
static inline gv_scalar gv_apart_from(gv_scalar d, int t)
{
    return d - GV_FROM_POINT + (gv_scalar)(GV_BEFORE - t);
}

/* What bodies first ... last - 1, of cells from `cell` on that lie side by side, give the point that is number
 * (t_first, ty, tz) of the reach of the first of these cells; the next cells reach it with a smaller number. */
static inline gv_scalar gv_collect(global const uint *key, global const gv_scalar4 *sorted, uint first, uint last,
                                   uint cell, int t_first, int ty, int tz)
{
    gv_scalar sum = 0;
    for (uint k = first; k < last; k++) {
        gv_scalar4 p = sorted[k];
        int tx = t_first - (int)(key[k] - cell);
        sum += p.w * (gv_spline_at(gv_apart_from(p.x, tx)) * gv_spline_at(gv_apart_from(p.y, ty)) *
                      gv_spline_at(gv_apart_from(p.z, tz)));
    }
    return sum;
}

#define GV_RUNS (GV_WIDTH * GV_WIDTH)

/* mesh[x + row (y + n z)]: mass a cell; of a row the n first.  A group sums GV_POINTS points of a row, each by GV_RUNS
 * work-items, one for each row of cells that reaches it: a cell with very many bodies keeps its neighbours busy, not
 * one work-item. */
kernel __attribute__((reqd_work_group_size(GV_POINTS * GV_RUNS, 1, 1))) void
gv_mesh_assign(global const uint *key, global const gv_scalar4 *sorted, global const uint *start, uint n, uint row,
               global gv_scalar *mesh)
{
    local gv_scalar part[GV_POINTS * GV_RUNS];
    uint me = get_local_id(0), run = me / GV_POINTS, x = get_group_id(0) * GV_POINTS + me % GV_POINTS;
    uint line = get_group_id(1), y = line % n, z = line / n;
    gv_scalar sum = 0;
    if (x < n) {
        int ty = (int)(run % GV_WIDTH), tz = (int)(run / GV_WIDTH);
        /* cells that reach x: from `from` on, GV_WIDTH of them; those beyond the end of a row are at its other end */
        uint from = gv_wrap((int)x + GV_BEFORE - (GV_WIDTH - 1), n), here = min((uint)GV_WIDTH, n - from);
        uint cells = n * (gv_wrap((int)y + GV_BEFORE - ty, n) + n * gv_wrap((int)z + GV_BEFORE - tz, n));
        uint at = cells + from;
        sum = gv_collect(key, sorted, start[at], start[at + here], at, GV_WIDTH - 1, ty, tz);
        if (here < GV_WIDTH)
            sum += gv_collect(key, sorted, start[cells], start[cells + GV_WIDTH - here], cells,
                              GV_WIDTH - 1 - (int)here, ty, tz);
    }
    part[me] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (run == 0 && x < n) {
        for (uint k = 1; k < GV_RUNS; k++)
            sum += part[k * GV_POINTS + me];
        mesh[x + row * (size_t)line] = sum;
    }
}

/* The weights of all points along x, zeros beyond the width. */
static inline gv_scalar4 gv_weights4(gv_scalar d)
{
    gv_scalar w[4] = {0, 0, 0, 0};
    gv_weights(d, w);
    return (gv_scalar4)(w[0], w[1], w[2], w[3]);
}

/* line: n + 4 numbers; number k is the point k - GV_BEFORE */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
gv_mesh_assign_rows(global const uint *key, global const gv_scalar4 *sorted, global const uint *start, uint n, uint row,
                    global gv_scalar *mesh, local gv_scalar *line)
{
    uint at = get_group_id(0), y = at % n, z = at / n;
    for (uint k = 0; k < n + 4; k++)
        line[k] = 0;
    for (int tz = 0; tz < GV_WIDTH; tz++)
        for (int ty = 0; ty < GV_WIDTH; ty++) {
            uint cells = gv_wrap((int)y + GV_BEFORE - ty, n) + n * gv_wrap((int)z + GV_BEFORE - tz, n);
            for (uint k = start[cells]; k < start[cells + 1]; k++) {
                gv_scalar4 p = sorted[k];
                local gv_scalar *to = line + (key[k] - cells * n);
                gv_scalar m = p.w * (gv_spline_at(gv_apart_from(p.y, ty)) * gv_spline_at(gv_apart_from(p.z, tz)));
                vstore4(vload4(0, to) + m * gv_weights4(p.x), 0, to);
            }
        }
    /* what lies beyond the row belongs to its other end */
    for (uint k = 0; k < GV_BEFORE; k++)
        line[n + k] += line[k];
    for (uint k = n + GV_BEFORE; k < n + GV_WIDTH - 1; k++)
        line[k - n] += line[k];
    for (uint k = 0; k < n; k++)
        mesh[k + row * (size_t)at] = line[k + GV_BEFORE];
}
