/* Whole time-steps by the host's clock: `gravel bench step`, one file a solver. */
#ifndef GV_BENCH_STEP_H
#define GV_BENCH_STEP_H

#include "cli/cli.h"
#include "sim/particles.h"
#include "tuner/timing.h"

typedef enum gv_step_mode {
    GV_STEP_BLOCK,    /* direct: `active` bodies get new positions, velocities, accelerations, jerks and times; all are
                       * predicted; forces and nearest neighbours of the active ones are computed and collected */
    GV_STEP_LEAPFROG, /* tree: kick, drift, build and walk of all bodies, on the device */
    GV_STEP_HOST,     /* tree: positions from host arrays, forces into host arrays */
    GV_STEP_ACTIVE    /* tree: forces on `active` bodies by an existing tree */
} gv_step_mode;

typedef struct gv_step_setting {
    gravel_context *context;
    const gv_particles *bodies;
    gv_step_mode mode;
    size_t active;           /* bodies of a step */
    const char *variant;     /* direct: "ds4" */
    double theta, dt;        /* tree */
    gravel_precision stored; /* tree: of the bodies; forces: `precision` */
    gravel_precision precision;
    const char *configuration; /* NULL: from the profile */
    double eps;
    gv_timing_rule rule;
} gv_step_setting;

/* Medians in seconds. */
typedef struct gv_step_result {
    gv_step_mode mode;
    size_t n, active;
    double step_s, step_least_s; /* everything, until the host has the results or the device is done */
    double call_s;               /* direct: the forces alone; tree: one step alone, while steps come eight in a row */
    double device_s, walk_s;     /* kernels of the forces, from steps that were timed on the device; walk: tree only */
    int samples;
    char configuration[384];
} gv_step_result;

gravel_status gv_bench_step_direct(const gv_step_setting *setting, gv_step_result *result);
gravel_status gv_bench_step_tree(const gv_step_setting *setting, gv_step_result *result);

#endif
