/* Assignment: a body shares its mass out to GV_WIDTH mesh points along each axis (1 nearest point, 2 cloud in cell, 3
 * triangular cloud, 4 cubic spline), by B-splines.  Lengths are in cells; mesh point k is at k.
 *
 *        GV_WIDTH odd                  GV_WIDTH even
 *     c-1    c     c+1              c-1   c     c+1   c+2
 *      |     |      |                |    |      |     |
 *           d=0..1 of the             d = 0 ... 1 from c to c+1
 *      half cells beside c
 *
 * A body belongs to the cell c = floor(u), d = u - c of the place u that gv_mesh_places gives it (odd widths: half a
 * cell further), and reaches the points c - GV_BEFORE ... c - GV_BEFORE + GV_WIDTH - 1.
 */
#include "lib/real.h"

#if GV_WIDTH < 1 || GV_WIDTH > 4
#error "GV_WIDTH must be 1 (NGP), 2 (CIC), 3 (TSC) or 4 (PCS)"
#endif
#define GV_BEFORE ((GV_WIDTH - 1) / 2)

static inline void gv_weights(gv_scalar d, gv_scalar *w)
{
#if GV_WIDTH == 1
    (void)d;
    w[0] = 1;
#elif GV_WIDTH == 2
    w[0] = 1 - d;
    w[1] = d;
#elif GV_WIDTH == 3
    w[0] = GV_R(0.5) * (1 - d) * (1 - d);
    w[2] = GV_R(0.5) * d * d;
    w[1] = 1 - w[0] - w[2];
#else
    gv_scalar e = 1 - d;
    w[0] = GV_R(0.16666666666666667) * e * e * e;
    w[3] = GV_R(0.16666666666666667) * d * d * d;
    w[1] = GV_R(0.66666666666666667) - d * d * (1 - GV_R(0.5) * d);
    w[2] = 1 - w[0] - w[1] - w[3];
#endif
}

/* d counts from the point 0 cells (even widths) or half a cell (odd ones) below it */
#define GV_FROM_POINT (GV_WIDTH % 2 ? GV_R(0.5) : GV_R(0.0))

/* The weight of one point at the distance u: the same spline as a sum of truncated powers. */
static inline gv_scalar gv_spline_at(gv_scalar u)
{
    gv_scalar r = fabs(u);
#if GV_WIDTH == 1
    (void)r;
    return 1;
#elif GV_WIDTH == 2
    return fmax(1 - r, (gv_scalar)0);
#elif GV_WIDTH == 3
    gv_scalar a = fmax(GV_R(1.5) - r, (gv_scalar)0), b = fmax(GV_R(0.5) - r, (gv_scalar)0);
    return GV_R(0.5) * a * a - GV_R(1.5) * b * b;
#else
    gv_scalar a = fmax(2 - r, (gv_scalar)0), b = fmax(1 - r, (gv_scalar)0);
    return GV_R(0.16666666666666667) * a * a * a - GV_R(0.66666666666666667) * b * b * b;
#endif
}

/* k in 0 ... n - 1, for k from -n to 2 n - 1 */
static inline uint gv_wrap(int k, uint n)
{
    return (uint)(k < 0 ? k + (int)n : k >= (int)n ? k - (int)n : k);
}
