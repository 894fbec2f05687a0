/* Planes into the units of another frame: x' = scale x + shift, m' = factor m, all others scale.  Scales are powers of
 * two, so that only the shift and the factor round. */
#include "lib/real.h"
#include "lib/pair.h"

#if GV_LANES != 1
#error "GV_LANES must be 1 in frame.cl"
#endif

/* a product with a two-float factor, rounded to one word */
static inline gv_scalar gv_times_pair(gv_scalar x, gv_scalar high, gv_scalar low)
{
    const gv_pair product = gv_two_product(x, high);
    return product.hi + (product.lo + x * low);
}

/* scale x + shift as a two-float; `low` is 0 where x is one word */
static inline gv_pair gv_moved(gv_scalar x, gv_scalar low, gv_scalar scale, gv_scalar shift, gv_scalar shift_low)
{
    const gv_pair sum = gv_two_sum(scale * x, shift);
    return gv_two_sum(sum.hi, sum.lo + (scale * low + shift_low));
}

/* shift.w is the factor of the mass; in dp low words of shift are 0.  `low` is used in ds only. */
kernel void gv_bodies_move(global gv_scalar4 *body, global gv_scalar4 *low, uint n, gv_scalar scale, gv_scalar4 shift,
                           gv_scalar4 shift_low)
{
    const uint k = get_global_id(0);
    if (k >= n)
        return;
    const gv_scalar4 old = body[k];
#if GV_PRECISION == GV_DS
    const gv_scalar4 rest = low[k];
#else
    const gv_scalar4 rest = (gv_scalar4)(0);
#endif
    const gv_pair x = gv_moved(old.x, rest.x, scale, shift.x, shift_low.x);
    const gv_pair y = gv_moved(old.y, rest.y, scale, shift.y, shift_low.y);
    const gv_pair z = gv_moved(old.z, rest.z, scale, shift.z, shift_low.z);
    body[k] = (gv_scalar4)(x.hi, y.hi, z.hi, gv_times_pair(old.w, shift.w, shift_low.w));
#if GV_PRECISION == GV_DS
    low[k] = (gv_scalar4)(x.lo, y.lo, z.lo, 0);
#endif
}

/* all numbers of a word, four a work-item: 32 bits count them for as many bodies as there may be */
kernel void gv_bodies_scale(global gv_scalar4 *word, uint n, gv_scalar scale)
{
    const uint k = get_global_id(0);
    if (k < n)
        word[k] *= scale;
}
