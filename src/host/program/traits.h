/* Measured properties of a device (kernels/lib/features.cl), and what follows from them. */
#ifndef GV_TRAITS_H
#define GV_TRAITS_H

#include "host/device/context.h"

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

enum { GV_TRIAL_WIDTHS = 3 };

typedef struct gv_trial {
    float x[GV_TRIAL_X], result[GV_TRIAL_PLANES][GV_TRIAL_X];
    cl_int found[GV_FOUND_COUNT];
    int claims_fma, is_cpu, driver_lanes; /* as the driver reports */
    int counted;                          /* 1: the long loop came to its end with the right number */
    double event_s, wall_s;               /* of the long loop */
    double fused_s, apart_s;              /* tried on CPUs and devices that report no fast fma; else 0 */
    /* Sums of pairs by a group's work-items and by vectors of 4, 8, 16 lanes: times on CPUs, else 0; wrong: the sums
     * were not right, or the kernel did not run. */
    double by_group_s, by_lanes_s[GV_TRIAL_WIDTHS];
    int by_group_wrong, by_lanes_wrong[GV_TRIAL_WIDTHS];
} gv_trial;

enum { GV_LONG_LOOP = 100000 }; /* turns; more than 16 bits count */

void gv_traits_judge(const gv_trial *trial, gv_traits *traits);
/* The traits become the device's features, options of its programs and limits of its configurations. */
void gv_traits_take(gv_device *device, const gv_traits *traits);
/* NULL, or why results of this device would be wrong */
const char *gv_traits_refuse(const gv_traits *traits);

#endif
