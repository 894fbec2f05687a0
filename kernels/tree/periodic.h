/* The short range of a split force in a walk (GV_SHORT_RANGE 1): its shape, where it ends, and periodic images.
 *
 * Of each body and cell the image nearest to the centre of a group acts on it.  That is the nearest one of every sink
 * too where the group's half side and the cut together are not beyond half a period; groups that are wider look for the
 * image of every pair, and open every cell.  A cell acts as a whole only if all of it is within that.
 */
#if GV_SHORT_RANGE
#include "shape/short_range.h"

/* numbers of a launch: {1 / (2 r_s), cut, half a period - cut, of groups.cl}, {L, low word of L, 1 / L, 0};
 * without a period the room is infinite and 1 / L is 0 */
#define GV_SHORT_PARAMETERS , gv_scalar4 range, gv_scalar4 period
#define GV_SHORT_HALF , gv_scalar rate
#define GV_SHORT_PASS , rate
#define gv_use_pair(s2, soft, g0, minus_g1) gv_short_pair(s2, soft, rate, g0, minus_g1)
#define gv_use_series(s2) gv_short_series(s2, rate)

/* d less whole periods */
#define gv_nearest(d, period) ((d) - (period).x * rint((d) * (period).z))

#else
#define GV_SHORT_PARAMETERS
#define GV_SHORT_HALF
#define GV_SHORT_PASS
#define gv_use_pair(s2, soft, g0, minus_g1) gv_shape_pair(s2, soft, g0, minus_g1)
#define gv_use_series(s2) gv_shape_series(s2)
#endif
