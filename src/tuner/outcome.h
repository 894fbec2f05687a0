/* A question about candidates, and the outcome of one. */
#ifndef GV_OUTCOME_H
#define GV_OUTCOME_H

#include <stddef.h>
#include <stdint.h>

#include "host/profile/space.h"

/* code name, what it means */
#define GV_OUTCOME_TABLE(X)                                                                                            \
    X(OK, "ok", "verified and timed")                                                                                  \
    X(CONSTRAINT, "constraint", "breaks a constraint")                                                                 \
    X(COMPILE, "compile", "does not compile")                                                                          \
    X(LAUNCH, "launch", "cannot be launched or died running")                                                          \
    X(TIMEOUT, "timeout", "did not finish within the time limit")                                                      \
    X(WRONG, "wrong", "gives wrong results")

typedef enum gv_outcome_status {
#define GV_OUTCOME_ENUM(code, name, text) GV_OUTCOME_##code,
    GV_OUTCOME_TABLE(GV_OUTCOME_ENUM)
#undef GV_OUTCOME_ENUM
        GV_OUTCOME_COUNT
} gv_outcome_status;

const char *gv_outcome_name(gv_outcome_status status);
int gv_outcome_parse(const char *name); /* -1: none of them */

/* One question: this kernel's variant with so many sinks and sources. */
typedef struct gv_task {
    char kernel[16];
    gv_variant variant;
    size_t sinks, sources;
    /* of the tree, 0: as in every question (0.5, all bodies) */
    double theta, active; /* opening angle; the part of the bodies that forces are asked for */
} gv_task;

int gv_task_same(const gv_task *a, const gv_task *b);

typedef struct gv_outcome {
    gv_outcome_status status;
    double time_s, time_min_s, spread; /* kernel time: median, minimum, interquartile range / median */
    double call_s;                     /* whole call, median */
    double error;                      /* largest relative error of acc that was seen; also for wrong results */
    int samples;
    int stopped;   /* 1: hopeless after two samples, not timed further */
    double cost_s; /* wall time the candidate took, building included */
    char reason[240];
} gv_outcome;

/* What candidates are ranked by: the minimum, because disturbances only ever add time; INFINITY for failures.  Reports
 * and predictions use the median. */
double gv_outcome_score(const gv_outcome *outcome);

/* How long a candidate is timed. */
typedef struct gv_effort {
    int least, most;
    double least_s, most_s, stop_above;
} gv_effort;

typedef struct gv_request {
    int build_only;
    gv_task task;
    char configuration[384];
    uint64_t seed; /* of the inputs */
    int turn;      /* above 0: of several timings in turn with others; built and verified in the first only */
    gv_effort effort;
} gv_request;

#endif
