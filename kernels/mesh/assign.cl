/* Masses to mesh points.  Bodies are sorted by cell, and each mesh point is summed always in the same order: no
 * atomics, and the same bits each time.
 *
 *   key (cells) --sort--> gv_mesh_arrange: bodies in that order
 *     few work-items:     gv_mesh_starts:  where those of each row of cells begin
 *                         gv_mesh_assign_rows: a work-item a row of points, into which bodies are spread
 *     many work-items:    gv_mesh_edges:   where those of each line of a row of cells begin and end
 *                         gv_mesh_dense:   what runs of bodies in one cell give to the points around it
 *                         gv_mesh_assign:  GV_WIDTH work-items a line of points, into which bodies and runs are spread
 *
 * A body is looked at by the GV_WIDTH^2 lines around it.  So that a cell with very many bodies does not keep its
 * lines' work-items busy long after all others are done, each GV_MESH_RUN bodies from a multiple of GV_MESH_RUN on that
 * lie in one cell are summed before, and so are each GV_MESH_LONG_RUN: a line then takes a run's sums for its bodies.
 * Of a cell's bodies it looks at 2 (GV_MESH_RUN - 1) at most, one by one.
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

/* the first of `count` ascending keys that is not below `cell` */
static inline uint gv_first_of(global const uint *key, uint count, uint cell)
{
    uint low = 0, high = count;
    while (low < high) {
        uint middle = low + (high - low) / 2;
        if (key[middle] < cell)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* start[k]: the first body whose cell is not below k * per, for k < n */
kernel void gv_mesh_starts(global const uint *key, uint count, uint per, uint n, global uint *start)
{
    uint k = get_global_id(0);
    if (k < n)
        start[k] = gv_first_of(key, count, k * per);
}

/* The distance of a body in cell c, at d, from the point c - GV_BEFORE + t. */
static inline gv_scalar gv_apart_from(gv_scalar d, int t)
{
    return d - GV_FROM_POINT + (gv_scalar)(GV_BEFORE - t);
}

/* ------------------------------------------------------------ many work-items */

/* A point is reached from GV_AFTER cells below it to GV_BEFORE above it. */
#define GV_AFTER (GV_WIDTH - 1 - GV_BEFORE)
#define GV_CUBE (GV_WIDTH * GV_WIDTH * GV_WIDTH)

/* Edge e = 0 ... lines of a row of cells is at x = GV_MESH_LINE e, the last at n.  edge[2 (e + (lines + 1) row)]: the
 * first body whose cell is not below x - GV_AFTER, and the first not below x + GV_BEFORE, both within the row: line e
 * has the bodies from the first of edge e to the second of edge e + 1, and those at the other end of the row. */
kernel void gv_mesh_edges(global const uint *key, uint count, uint n, global uint *edge)
{
    uint k = get_global_id(0), edges = (n + GV_MESH_LINE - 1) / GV_MESH_LINE + 1, row = k / 2 / edges;
    if (row >= n * n)
        return;
    int x = (int)min(k / 2 % edges * GV_MESH_LINE, n);
    x = clamp(k % 2 ? x + GV_BEFORE : x - GV_AFTER, 0, (int)n);
    edge[k] = gv_first_of(key, count, row * n + (uint)x);
}

/* sums[t + GV_CUBE r]: what the bodies GV_MESH_RUN r ... GV_MESH_RUN (r + 1) - 1 give to the point
 * t = tx + GV_WIDTH (ty + GV_WIDTH tz) of those around their cell, where that is one cell; beyond
 * count / GV_MESH_RUN of these, the same of long runs.  A group has the bodies of a long run. */
kernel __attribute__((reqd_work_group_size(GV_MESH_CUBE, 1, 1))) void
gv_mesh_dense(global const uint *key, global const gv_scalar4 *sorted, uint count, global gv_scalar *sums)
{
    local gv_scalar weight[3][GV_WIDTH][GV_MESH_RUN];
    local uint is_one[GV_MESH_LONG_RUN / GV_MESH_RUN];
    uint me = get_local_id(0), first = get_group_id(0) * GV_MESH_LONG_RUN;
    for (uint r = me; r < GV_MESH_LONG_RUN / GV_MESH_RUN; r += GV_MESH_CUBE) {
        uint k = first + r * GV_MESH_RUN;
        is_one[r] = k + GV_MESH_RUN <= count && key[k] == key[k + GV_MESH_RUN - 1];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint tx = me % GV_WIDTH, ty = me / GV_WIDTH % GV_WIDTH, tz = me / GV_WIDTH / GV_WIDTH;
    gv_scalar all = 0;
    for (uint r = 0; r < GV_MESH_LONG_RUN / GV_MESH_RUN; r++) {
        if (!is_one[r])
            continue;
        uint run = first / GV_MESH_RUN + r;
        if (me < GV_MESH_RUN) {
            gv_scalar4 p = sorted[run * GV_MESH_RUN + me];
            for (int t = 0; t < GV_WIDTH; t++) {
                weight[0][t][me] = gv_spline_at(gv_apart_from(p.x, t));
                weight[1][t][me] = gv_spline_at(gv_apart_from(p.y, t));
                weight[2][t][me] = p.w * gv_spline_at(gv_apart_from(p.z, t));
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < GV_CUBE) {
            gv_scalar sum = 0;
            for (uint k = 0; k < GV_MESH_RUN; k++)
                sum += weight[2][tz][k] * (weight[0][tx][k] * weight[1][ty][k]);
            sums[me + GV_CUBE * (size_t)run] = sum;
            all += sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (me < GV_CUBE && first + GV_MESH_LONG_RUN <= count && key[first] == key[first + GV_MESH_LONG_RUN - 1])
        sums[me + GV_CUBE * (size_t)(count / GV_MESH_RUN + get_group_id(0))] = all;
}

#define GV_MARGIN (GV_WIDTH - 1)

/* What body k, or the run that begins with it, gives to the points around its cell c at (ty, tz): w; how many bodies
 * that is.  last: where the bodies of this line end */
static inline uint gv_take_run(global const uint *key, global const gv_scalar4 *sorted, global const gv_scalar *sums,
                               uint count, uint k, uint last, uint c, int ty, int tz, gv_scalar *w)
{
    if (k % GV_MESH_RUN == 0 && k + GV_MESH_RUN <= last && key[k + GV_MESH_RUN - 1] == c) {
        size_t run = k / GV_MESH_RUN;
        uint bodies = GV_MESH_RUN;
        if (k % GV_MESH_LONG_RUN == 0 && k + GV_MESH_LONG_RUN <= last && key[k + GV_MESH_LONG_RUN - 1] == c) {
            run = count / GV_MESH_RUN + k / GV_MESH_LONG_RUN;
            bodies = GV_MESH_LONG_RUN;
        }
        for (int t = 0; t < GV_WIDTH; t++)
            w[t] = sums[GV_CUBE * run + (uint)(t + GV_WIDTH * (ty + GV_WIDTH * tz))];
        return bodies;
    }
    gv_scalar4 p = sorted[k];
    gv_scalar m = p.w * (gv_spline_at(gv_apart_from(p.y, ty)) * gv_spline_at(gv_apart_from(p.z, tz)));
    gv_weights(p.x, w);
    for (int t = 0; t < GV_WIDTH; t++)
        w[t] *= m;
    return 1;
}

#define GV_PARTS (GV_MESH_LINES * GV_WIDTH)
#define GV_PIECES (GV_MESH_LINE + 2 * GV_MARGIN)

/* mesh[x + row (y + n z)]: mass a cell; of a row the n first.  A group has GV_MESH_LINES lines side by side.  GV_WIDTH
 * work-items sum a line: each the bodies of GV_WIDTH rows of cells at one z, one row after another, then those at the
 * other end of these rows, which the first and the last line have. */
kernel __attribute__((reqd_work_group_size(GV_PARTS, 1, 1))) void
gv_mesh_assign(global const uint *key, global const gv_scalar4 *sorted, global const gv_scalar *sums, uint count,
               global const uint *edge, uint n, uint row, global gv_scalar *mesh)
{
    local gv_scalar part[GV_PIECES * GV_PARTS];
    uint me = get_local_id(0), at = get_group_id(0), lines = get_num_groups(0);
    uint tiles = (n + GV_MESH_TILE_Y - 1) / GV_MESH_TILE_Y, x0 = at * GV_MESH_LINE, k = 0, last = 0;
    uint y0 = get_group_id(1) % tiles * GV_MESH_TILE_Y, z0 = get_group_id(1) / tiles * GV_MESH_TILE_Z;
    uint y = y0 + me % GV_MESH_TILE_Y, z = z0 + me / GV_MESH_TILE_Y % GV_MESH_TILE_Z;
    int ty = 0, tz = (int)(me / GV_MESH_LINES), from = 0;
    uint rows = at == 0 || at == lines - 1 ? 3 * GV_WIDTH : GV_WIDTH, next = 0;
    for (uint x = 0; x < GV_PIECES; x++)
        part[x * GV_PARTS + me] = 0;
    while (y < n && z < n) {
        while (k == last && next < rows) {
            uint end = next / GV_WIDTH;
            ty = (int)(next % GV_WIDTH);
            next++;
            uint cells = gv_wrap((int)y + GV_BEFORE - ty, n) + n * gv_wrap((int)z + GV_BEFORE - tz, n);
            global const uint *e = edge + 2 * (lines + 1) * (size_t)cells;
            from = (int)(cells * n + x0);
            if (end == 0) {
                k = e[2 * at];
                last = e[2 * at + 3];
            } else if (end == 1 && at == 0) {
                k = e[2 * lines];
                last = e[2 * lines + 1];
                from += (int)n;
            } else if (end == 2 && at == lines - 1) {
                k = e[0];
                last = e[1];
                from -= (int)n;
            }
        }
        if (k == last)
            break;
        gv_scalar w[GV_WIDTH];
        uint c = key[k];
        local gv_scalar *to = part + ((int)c - from - GV_BEFORE + GV_MARGIN) * GV_PARTS + me;
        k += gv_take_run(key, sorted, sums, count, k, last, c, ty, tz, w);
        for (int t = 0; t < GV_WIDTH; t++)
            to[t * GV_PARTS] += w[t];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint p = me; p < GV_MESH_LINE * GV_MESH_LINES; p += GV_PARTS) {
        uint x = p % GV_MESH_LINE, line = p / GV_MESH_LINE;
        gv_scalar sum = 0;
        for (uint t = 0; t < GV_WIDTH; t++)
            sum += part[(x + GV_MARGIN) * GV_PARTS + t * GV_MESH_LINES + line];
        y = y0 + line % GV_MESH_TILE_Y;
        z = z0 + line / GV_MESH_TILE_Y;
        if (x0 + x < n && y < n && z < n)
            mesh[x0 + x + row * (y + (size_t)n * z)] = sum;
    }
}

/* ------------------------------------------------------------- few work-items */

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
