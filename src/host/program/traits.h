/* Measured properties of a device (kernels/lib/features.cl), and what follows from them. */
#ifndef GV_TRAITS_H
#define GV_TRAITS_H

#include "host/device/context.h"
#include "host/program/race.h"

/* kernels/lib/features.cl: numbers whose roots are found, planes of results, flags */
enum { GV_TRIAL_X = 4096 };
enum {
    GV_TRIAL_EXACT,
    GV_TRIAL_NATIVE, /* scalar, then in vectors of 4, 8, 16 */
    GV_TRIAL_RSQRT14 = 5,
    GV_TRIAL_RSQRT14_DOUBLE,
    GV_TRIAL_RSQRT12,
    GV_TRIAL_PTX,
    GV_TRIAL_PTX_DOUBLE,
    GV_TRIAL_PLANES
};
enum {
    GV_FOUND_FUSED,
    GV_FOUND_RSQRT14,
    GV_FOUND_RSQRT14_DOUBLE,
    GV_FOUND_RSQRT12,
    GV_FOUND_PTX,
    GV_FOUND_FP64,
    GV_FOUND_LANES,
    GV_FOUND_COUNT
};

/* who takes part in the races: explicit vectors of 4, 8, 16 lanes and a group's work-items; fma and its two parts */
enum { GV_TRIAL_WIDTHS = 3, GV_BY_GROUP = GV_TRIAL_WIDTHS, GV_SHAPES };
enum { GV_FUSED, GV_APART, GV_FMA_WAYS };

typedef struct gv_trial {
    float x[GV_TRIAL_X], result[GV_TRIAL_PLANES][GV_TRIAL_X];
    cl_int found[GV_FOUND_COUNT];
    int claims_fma, is_cpu, driver_lanes; /* as the driver reports */
    int counted;                          /* 1: the long loop came to its end with the right number */
    double event_s, wall_s;               /* of the long loop */
    gv_race fma;                          /* on CPUs and devices that report no fast fma */
    gv_race shapes;                       /* sums of pairs, on CPUs: vectors of 4, 8, 16 lanes, groups */
    int wrong[GV_SHAPES];                 /* the sums were not right, or the kernel did not run */
} gv_trial;

enum { GV_LONG_LOOP = 100000 }; /* turns; more than 16 bits count */

/* When a race may end: whether what follows from it is clear.  `trial` is a gv_trial. */
int gv_traits_fma_is_clear(const gv_race *fma, void *trial);
int gv_traits_shapes_are_clear(const gv_race *shapes, void *trial);
enum { GV_TRIAL_PAIRS = 2048 * 2048 }; /* of one sum of pairs */
void gv_traits_judge(const gv_trial *trial, gv_traits *traits);
/* The traits become the device's features, options of its programs and limits of its configurations. */
void gv_traits_take(gv_device *device, const gv_traits *traits);
/* NULL, or why results of this device would be wrong */
const char *gv_traits_refuse(const gv_traits *traits);

#endif
