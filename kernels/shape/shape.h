/* The interaction shape of a program, by GV_SHAPE (shape/layout.h): Plummer's, the cubic spline, truncated, table.
 *
 * With r from source to sink, the potential of a mass is -m g_0 and the acceleration m g_1 r, where
 * g_{j+1} = (1/r) d g_j / dr.  A shape is a file that defines
 *   gv_shape_start   what the sum x^2 + y^2 + z^2 begins with; s2 is that sum
 *   gv_shape_pair    g_0 and -g_1 of two bodies at any distance
 *   gv_shape_series  g_0 and the ratios k_j = g_j / g_{j-1} for cells (ratios save a multiplication in most sums, and
 *                    do not underflow), from the distance on where the shape is smooth enough for a series
 *   GV_SHAPE_GUARD   1: that distance is gv_shape_guard(soft), and no body of a cell may be nearer; 0: any distance
 * `soft` is the square of the softening length in the shape's own measure: eps^2, or h^2 of a spline.
 * Shapes that end at a distance (truncated, table) are for the pairs of direct sums: gv_shape_pair takes
 * s^2 = r^2 + eps^2 and a gv_cutoff (shape/cutoff.h).  Trees take the short range of a split force, with g_0 to g_4,
 * from shape/short_range.h.
 */
#include "lib/lanes.h"
#include "shape/cutoff.h"
#include "shape/layout.h"
#include "shape/short_form.h"

typedef struct gv_shape {
    gv_real g0, k1, k2, k3, k4;
} gv_shape;

/* of 1/s with s^2 = s2: g_{j+1} = -(2j + 1) g_j / s^2 */
static inline gv_shape gv_shape_newton(gv_real s2)
{
    gv_shape shape;
    gv_real y = gv_rsqrt(s2), y2 = y * y;
    shape.g0 = y;
    shape.k1 = -y2;
    shape.k2 = GV_R(-3.0) * y2;
    shape.k3 = GV_R(-5.0) * y2;
    shape.k4 = GV_R(-7.0) * y2;
    return shape;
}

#ifndef GV_SHAPE
#error "GV_SHAPE must be one of GV_SHAPE_... (shape/layout.h)"
#elif GV_SHAPE == GV_SHAPE_PLUMMER
#include "shape/plummer.h"
#elif GV_SHAPE == GV_SHAPE_SPLINE
#include "shape/spline.h"
#elif GV_SHAPE == GV_SHAPE_TRUNCATED
#include "shape/truncated.h"
#elif GV_SHAPE == GV_SHAPE_TABLE
#include "shape/table.h"
#else
#error "GV_SHAPE must be one of GV_SHAPE_... (shape/layout.h)"
#endif
