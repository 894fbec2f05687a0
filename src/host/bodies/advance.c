/* Kick and drift of all bodies, on the device. */
#include <math.h>
#include <stdio.h>

#include "host/bodies/bodies.h"

enum { GROUP = 64 };

/* The planes of one half of a step; low words in ds only. */
static gravel_status need_pair(gravel_bodies *bodies, gv_word word, cl_mem *high, cl_mem *low)
{
    gravel_status status = gv_bodies_need(bodies, word, high);
    *low = NULL;
    return status || bodies->precision != GRAVEL_DS ? status : gv_bodies_need(bodies, (gv_word)(word + 1), low);
}

gravel_status gravel_bodies_advance(gravel_bodies *bodies, double kick, double drift)
{
    char options[64];
    cl_mem acc = NULL, vel, vel_low, pos = NULL, pos_low = NULL;
    if (!bodies || !isfinite(kick) || !isfinite(drift))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_bodies_advance: no bodies, or a step of %g and %g", kick, drift);
    if (bodies->count == 0 || (kick == 0 && drift == 0))
        return GRAVEL_OK;
    gravel_status status = need_pair(bodies, GV_WORD_VELOCITY, &vel, &vel_low);
    if (!status && kick != 0)
        status = gv_bodies_need(bodies, GV_WORD_ACCELERATION, &acc);
    if (!status && drift != 0)
        status = need_pair(bodies, GV_WORD_POSITION, &pos, &pos_low);
    snprintf(options, sizeof options, "-DGV_PRECISION=%d -DGV_LANES=1", (int)bodies->precision);
    if (!status && !bodies->advance)
        status = gv_kernel_make(&bodies->worker, "bodies/advance.cl", options, "gv_bodies_advance", &bodies->advance);
    if (status)
        return status;
    const gravel_precision p = bodies->precision;
    const double kick_low = p == GRAVEL_DP ? 0 : kick - (double)(float)kick;
    const double drift_low = p == GRAVEL_DP ? 0 : drift - (double)(float)drift;
    status = gv_launch(&bodies->worker, 0, bodies->advance, gv_items(bodies->count, GROUP), GV_UINT(bodies->count),
                       GV_REAL(p, kick), GV_REAL(p, kick_low), GV_REAL(p, drift), GV_REAL(p, drift_low), GV_ARG(acc),
                       GV_ARG(vel), GV_ARG(vel_low), GV_ARG(pos), GV_ARG(pos_low));
    if (kick != 0)
        gv_bodies_changed(bodies, GRAVEL_VELOCITY);
    if (drift != 0) {
        gv_bodies_changed(bodies, GRAVEL_POSITION);
        bodies->has_box = 1; /* positions count in this frame now, also where none was ever written */
    }
    return status;
}
