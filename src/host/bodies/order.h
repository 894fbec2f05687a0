/* The order of bodies: which are removed, which move, and where they were at the last mark. */
#ifndef GV_ORDER_H
#define GV_ORDER_H

#include "host/bodies/bodies.h"

/* All planes into another order: new body k is body from[k].  `from` on the host may be NULL; it is read from the
 * device if a mark needs it. */
gravel_status gv_order_apply(gravel_bodies *bodies, cl_mem from_device, const uint32_t *from, size_t count);
/* What a change of order needs beside the planes, a word of each size, is kept from now on: where bodies change ranks
 * this happens every few steps. */
gravel_status gv_order_keep_movers(gravel_bodies *bodies);
/* Bodies from `count` on are removed. */
void gv_order_shrunk(gravel_bodies *bodies, size_t count);
void gv_order_release(gravel_bodies *bodies);

#endif
