/* Direct sums in a periodic box: of every source the image nearest to the sink pulls with its shape (shape/shape.h),
 * and all its other images with Ewald's correction, which is smooth and comes from a table.  Lengths are in cells of a
 * grid of n (a power of 2) a side, where gv_mesh_places finds {offsets in the cell, mass}: differences of places are
 * exact.
 *
 *   table[x + across (y + across z)]   {acceleration, potential} that the images of a mass 1 at
 *                                      (x, y, z) / (across - 1) half sides add, in units of the box: lines between
 *                                      nodes, odd in each axis.  The potential is without -2 pi r^2 / 3 of the
 *                                      background, which lines are bad at.
 *
 * Sums of GV_TILE sources are added up as wide ones.
 */
#include "lib/real.h"
#include "lib/rsqrt.h"
#include "shape/shape.h"

#define GV_TILE 64u

typedef struct gv_wide4 {
    gv_wide x, y, z, w;
} gv_wide4;

static inline gv_scalar4 gv_mix(gv_scalar4 a, gv_scalar4 b, gv_scalar part)
{
    return a + part * (b - a);
}

/* the correction at d, |d| at most half a side; per: nodes a cell */
static inline gv_scalar4 gv_correction(global const gv_scalar4 *table, int across, gv_scalar per, gv_scalar4 d)
{
    gv_scalar4 r = fabs(d) * per, c = fmin(floor(r), (gv_scalar4)(across - 2)), f = r - c;
    global const gv_scalar4 *at = table + ((int)c.x + across * ((int)c.y + across * (int)c.z));
    int up = across * across;
    gv_scalar4 low = gv_mix(gv_mix(at[0], at[1], f.x), gv_mix(at[across], at[across + 1], f.x), f.y);
    gv_scalar4 high = gv_mix(gv_mix(at[up], at[up + 1], f.x), gv_mix(at[up + across], at[up + across + 1], f.x), f.y);
    gv_scalar4 sum = gv_mix(low, high, f.z);
    return (gv_scalar4)(copysign(sum.x, sum.x * d.x), copysign(sum.y, sum.y * d.y), copysign(sum.z, sum.z * d.z),
                        sum.w);
}

/* whole + part, nearest to 0 of all that are whole boxes apart */
static inline gv_scalar gv_nearest_image(int whole, gv_scalar part, int n)
{
    gv_scalar d = (gv_scalar)(((whole + n / 2) & (n - 1)) - n / 2) + part, half_n = (gv_scalar)(n / 2);
    return d > half_n ? d - n : d < -half_n ? d + n : d;
}

/* Sink k is the body sink_list[k], or sink_first + k; sources likewise; same: they are of the same bodies, and none
 * pulls itself but through its images.  soft: eps^2, or h^2 of a spline; least: nearer than its root no pair acts. */
kernel void gv_mesh_pairs(global const uint *cell, global const gv_scalar4 *place, uint count,
                          global const uint *sink_cell, global const gv_scalar4 *sink_place, uint sinks,
                          global const uint *list, uint first, global const uint *sink_list, uint sink_first, int same,
                          int n, gv_scalar soft, gv_scalar least, global const gv_scalar4 *table, int across,
                          global gv_scalar4 *result)
{
    uint k = get_global_id(0);
    if (k >= sinks)
        return;
    gv_scalar4 p = sink_place[k];
    uint c = sink_cell[k], un = (uint)n, self = sink_list ? sink_list[k] : sink_first + k;
    int cx = (int)(c % un), cy = (int)(c / un % un), cz = (int)(c / un / un);
    gv_scalar per = GV_R(2.0) * (across - 1) / n, box = GV_R(1.0) / n;
    gv_scalar background = GV_R(2.0943951023931955) * box * box; /* 2 pi / 3 */
    gv_wide4 all = {gv_wide_zero(), gv_wide_zero(), gv_wide_zero(), gv_wide_zero()};
    for (uint from = 0; from < count; from += GV_TILE) {
        gv_scalar4 sum = (gv_scalar4)(0), images = (gv_scalar4)(0);
        for (uint j = from; j < min(from + GV_TILE, count); j++) {
            gv_scalar4 b = place[j];
            uint h = cell[j];
            gv_scalar4 d;
            d.x = gv_nearest_image((int)(h % un) - cx, b.x - p.x, n);
            d.y = gv_nearest_image((int)(h / un % un) - cy, b.y - p.y, n);
            d.z = gv_nearest_image((int)(h / un / un) - cz, b.z - p.z, n);
            d.w = 0;
            gv_scalar r2 = d.x * d.x + d.y * d.y + d.z * d.z, s2 = fmax(r2 + gv_shape_start(soft), least), g0, minus_g1;
            int itself = same && (list ? list[j] : first + j) == self;
            gv_shape_pair(s2, soft, &g0, &minus_g1);
            gv_scalar m = itself || r2 + soft < least ? (gv_scalar)0 : b.w;
            sum += (gv_scalar4)(m * minus_g1 * d.xyz, -m * g0);
            images += b.w * gv_correction(table, across, per, d);
            images.w -= b.w * (background * r2);
        }
        sum.xyz += images.xyz * (box * box);
        sum.w += images.w * box;
        all.x = gv_wide_flush(all.x, sum.x);
        all.y = gv_wide_flush(all.y, sum.y);
        all.z = gv_wide_flush(all.z, sum.z);
        all.w = gv_wide_flush(all.w, sum.w);
    }
    result[k] = (gv_scalar4)(gv_wide_high(all.x), gv_wide_high(all.y), gv_wide_high(all.z), gv_wide_high(all.w));
}
