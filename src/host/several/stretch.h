/* Sinks along a space-filling curve, cut into one stretch for each device. */
#ifndef GV_STRETCH_H
#define GV_STRETCH_H

#include "host/base/digest.h"
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

/* The least number of sinks that are worth sharing, where `alone` seconds are one device's walk of n sinks and `more`
 * are what sharing takes beside the walks. */
double gv_stretch_least(double n, int devices, double alone, double more);
/* Everything that it depends on; 0: there is no key. */
int gv_stretch_key(const gravel_several *devices, const gravel_tree_options *tree, const char *configuration,
                   size_t bodies, gravel_precision planes, gv_digest *key);

#endif
