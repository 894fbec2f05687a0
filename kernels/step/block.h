/* What integrators with block steps share: times in two words, steps that are powers of two.  Needs lib/real.h and
 * lib/pair.h. */
/* The length of a vector.  In units of time far from those of the motion squares of derivatives leave the range of
 * numbers in sp and ds; powers of two change no bits of the others. */
static inline gv_scalar gv_norm(gv_scalar4 v)
{
#if GV_PRECISION == GV_DP
    return sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
#else
    const gv_scalar most = fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)));
    const int up = most > 0 ? clamp(-ilogb(most), -126, 126) : 0;
    const gv_scalar by = ldexp(GV_R(1.0), up), x = by * v.x, y = by * v.y, z = by * v.z;
    return ldexp(sqrt(x * x + y * y + z * z), -up);
#endif
}
#define GV_LENGTH(v) gv_norm(v)
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
