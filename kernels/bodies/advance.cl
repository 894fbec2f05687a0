/* Leapfrog's two halves over all bodies: v += kick a, then x += drift v, in the units of the planes.
 *
 *   GV_PRECISION  of the planes; in ds positions and velocities are two-floats (low words: `*_low`), else those
 *                 pointers are NULL */
#include "lib/real.h"
#include "lib/pair.h"

#if GV_PRECISION == GV_DS
/* x + v dt, v a two-float */
static inline gv_pair gv_advanced(gv_scalar x, gv_scalar x_low, gv_scalar v, gv_scalar v_low, gv_scalar dt,
                                  gv_scalar dt_low)
{
    gv_pair step;
    step.hi = dt, step.lo = dt_low;
    return gv_pair_advance(x, x_low, v, v_low, step, 0);
}
#define gv_advance_one(c)                                                                                              \
    do {                                                                                                               \
        gv_pair v_ = gv_advanced(v.c, w.c, a.c, 0, kick, kick_low);                                                    \
        gv_pair x_ = gv_advanced(x.c, y.c, v_.hi, v_.lo, drift, drift_low);                                            \
        v.c = v_.hi, w.c = v_.lo;                                                                                      \
        x.c = x_.hi, y.c = x_.lo;                                                                                      \
    } while (0)
#endif

/* `kick` or `drift` 0: that half is left out, and its planes need not exist */
kernel void gv_bodies_advance(uint n, gv_scalar kick, gv_scalar kick_low, gv_scalar drift, gv_scalar drift_low,
                              global const gv_scalar4 *acc, global gv_scalar4 *vel, global gv_scalar4 *vel_low,
                              global gv_scalar4 *pos, global gv_scalar4 *pos_low)
{
    uint k = get_global_id(0);
    if (k >= n)
        return;
    gv_scalar4 a = kick != 0 ? acc[k] : (gv_scalar4)(0), v = vel[k], x = drift != 0 ? pos[k] : (gv_scalar4)(0);
#if GV_PRECISION == GV_DS
    gv_scalar4 w = vel_low[k], y = drift != 0 ? pos_low[k] : (gv_scalar4)(0);
    gv_advance_one(x);
    gv_advance_one(y);
    gv_advance_one(z);
    if (kick != 0)
        vel_low[k] = w;
    if (drift != 0)
        pos_low[k] = y;
#else
    v.xyz += (kick + kick_low) * a.xyz;
    x.xyz += (drift + drift_low) * v.xyz;
#endif
    if (kick != 0)
        vel[k] = v;
    if (drift != 0)
        pos[k] = x;
}
