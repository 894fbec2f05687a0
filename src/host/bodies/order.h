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
/* 1: ids are in no order, so that nearly all of them lie between those of a few neighbours.  Some of n are looked at;
 * a few of them, and none (NULL), are in order. */
enum { GV_MIXED_LEAST = 64 };
int gv_are_mixed(const int32_t *number, size_t stride, size_t n);
/* Bodies from `count` on are removed. */
void gv_order_shrunk(gravel_bodies *bodies, size_t count);
void gv_order_release(gravel_bodies *bodies);

#endif
