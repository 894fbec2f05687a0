/* Bodies drawn by all cores: blocks of GV_IC_BLOCK bodies, each with its own stream of random numbers (the start jumped
 * as often as blocks precede), so that the same seed gives the same bodies whatever the number of threads. */
#ifndef GV_IC_DRAW_H
#define GV_IC_DRAW_H

#include "sim/ic.h"
#include "sim/ic_random.h"

enum { GV_IC_BLOCK = 16384 };

/* Sets position and velocity of body i by the model. */
typedef void gv_ic_draw_body(const void *model, gv_random *random, gv_particles *particles, size_t i);

/* Bodies first ... first + count - 1.  ERR_CANCELLED if the watch stops it. */
gravel_status gv_ic_draw(gv_particles *particles, size_t first, size_t count, const gv_random *start,
                         gv_ic_draw_body *draw, const void *model, const gv_ic_watch *watch);

#endif
