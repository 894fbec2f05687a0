/* What integrators with block steps share: times in two words, steps that are powers of two.  Needs lib/real.h and
 * lib/pair.h. */
static inline gv_scalar gv_norm2(gv_scalar4 v)
{
    return v.x * v.x + v.y * v.y + v.z * v.z;
}
#define GV_LENGTH2(v) gv_norm2(v)
#define GV_FORMULA static inline

#include "lib/low.h"

#include "step/layout.h"

#include "step/formulas.h"

/* next - time[k] */
static inline gv_pair gv_span_to(gv_scalar next, gv_scalar next_low, gv_scalar time, gv_scalar time_low)
{
    const gv_pair high = gv_two_sum(next, -time);
    return gv_two_sum(high.hi, high.lo + (next_low - time_low));
}
