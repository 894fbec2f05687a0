/* Sinks along a space-filling curve, cut into one stretch for each device. */
#ifndef GV_STRETCH_H
#define GV_STRETCH_H

#include "host/several/object.h"

typedef struct gv_stretch {
    size_t first, count; /* of the sinks in key order */
    double cost;         /* of one of them, in the last call; 0: not known */
    double speed;        /* of the device */
} gv_stretch;

/* Cuts `sinks` so that the work of each device goes with its speed: the stretches of the call before had known costs
 * per sink, which are taken to hold for the same part of the curve. */
void gv_stretch_cut(gv_stretch *stretch, int n, size_t sinks);
/* Devices of one kind are alike; of others the measured rate of arithmetic counts. */
gravel_status gv_stretch_speeds(const gravel_several *devices, gv_stretch *stretch);
/* What one of the sinks of a walk has cost. */
double gv_stretch_cost(const gravel_tree_counts *counts);

/* work(user, m) for m = 0 ... n - 1, each in a thread of its own; the first failure counts. */
gravel_status gv_together(int n, gravel_status (*work)(void *user, int m), void *user);

#endif
