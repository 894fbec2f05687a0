/* The softening of cells, from that of their bodies (squares); one launch a level from the deepest up, after
 * moments.cl.
 *
 * Plummer's: a cell acts with the mean of the squares, weighted with mass.  That is right to first order in the
 * squares, so the rest is their variance v beside d^4; where the larger softening of two counts (GV_SOFTEN 4) it is
 * first order in sqrt(v) for sinks in between.  The cell's guard is raised so that either stays below 2e-4 of its
 * force: d^2 > 100 sqrt(v), or 4096 sqrt(v).
 * Shapes that act from a distance on only (GV_SHAPE_GUARD): the largest of the squares; the walk keeps the
 * distance. */
#include "tree/cell.h"

#ifndef GV_SOFTEN
#error "GV_SOFTEN must be 2 (sources), 3 (sum) or 4 (max)"
#endif

/* moment[cell] = {sum m soft, sum m soft^2} */
kernel void gv_tree_soften(global const gv_scalar4 *body, global const gv_scalar *body_soft,
                           global const uint *level_total, uint level, uint capacity, int largest,
                           global gv_scalar4 *cell, global gv_scalar *moment, global gv_scalar *cell_soft)
{
    uint start = gv_level_first(level_total, level), end = min(start + level_total[level], capacity);
    for (uint c = start + get_global_id(0); c < end; c += get_global_size(0)) {
        gv_scalar4 z = cell[GV_CELL * (size_t)c], w = cell[GV_CELL * (size_t)c + 1];
        uint first = gv_held(w.z), info = gv_held(w.w), count = info & GV_COUNT;
        gv_scalar one = 0, two = 0, most = 0;
        for (uint k = first; k < first + count; k++) {
            gv_scalar soft = info & GV_LEAF ? body_soft[k] : cell_soft[k];
            gv_scalar m = info & GV_LEAF ? body[k].w : 0;
            one += info & GV_LEAF ? m * soft : moment[2 * (size_t)k];
            two += info & GV_LEAF ? m * soft * soft : moment[2 * (size_t)k + 1];
            most = fmax(most, soft);
        }
        gv_scalar mean = z.w > 0 ? one / z.w : 0;
        gv_scalar variance = z.w > 0 ? fmax(two / z.w - mean * mean, (gv_scalar)0) : 0;
        moment[2 * (size_t)c] = one;
        moment[2 * (size_t)c + 1] = two;
        cell_soft[c] = largest ? most : mean;
        if (!largest)
            w.y = fmax(w.y, (GV_SOFTEN == 4 ? GV_R(4096.0) : GV_R(100.0)) * sqrt(variance));
        cell[GV_CELL * (size_t)c + 1] = w;
    }
}
