/* The timing rule: tuner and bench measure with it and nothing else.
 *
 *  - `warm_up` runs are not counted: they fill caches, raise clocks, finish what the driver does late.
 *  - A sample is one run, or the mean of as many as it takes to last 100 clock ticks.
 *  - Samples are taken until there are `least` of them and they sum up to `least_s`; never more than `most`, and no
 *    further one (beyond two) after `most_s`.
 *  - Events cost a GPU more than its shortest kernels do.  Where `row` is given and a run is short, a sample's device
 *    time is the mean of a row of runs without events (host/program/row.h), about 0.3 ms of them.  There no more than
 *    `least` samples are taken once the two shortest agree within 0.3 %; of long runs `least_long`.
 *  - What is reported is the median, with the minimum and the spread (interquartile range / median).  Candidates are
 *    ranked by the minimum: disturbances only ever add time.
 */
#ifndef GV_TIMING_H
#define GV_TIMING_H

#include "host/base/status.h"

/* One run: device time (events) and whole-call time (wall clock), seconds. */
typedef gravel_status (*gv_timed_fn)(void *user, double *device_s, double *call_s);

/* Mean device time of `runs` runs in a row like the last one. */
typedef gravel_status (*gv_timed_row_fn)(void *user, int runs, double *device_s);

/* A GPU's run of this length needs no other before it for its clocks. */
#define GV_LONG_RUN_S 0.005

typedef struct gv_timing_rule {
    int warm_up, least, most;
    double least_s, most_s;
    double tick_s;       /* resolution of the device's clock */
    double stop_above;   /* give up when two samples or more, 3 ms in all, were all slower; 1e30: never */
    gv_timed_row_fn row; /* NULL: there is none */
    int least_long;      /* samples of runs of GV_LONG_RUN_S and more that are enough if they agree; 0: `least` */
} gv_timing_rule;
#define GV_TIMING_RULE_INIT                                                                                            \
    {                                                                                                                  \
        1, 8, 64, 0.02, 2.0, 1e-6, 1e30, NULL, 0                                                                       \
    }

typedef struct gv_series {
    double median, least, spread;
} gv_series;

typedef struct gv_timing {
    gv_series device, call;
    int samples, runs_per_sample;
    int stopped; /* 1: given up because of stop_above */
} gv_timing;

enum { GV_TIMING_MOST = 256 };

gravel_status gv_timing_run(const gv_timing_rule *rule, gv_timed_fn run, void *user, gv_timing *timing);
/* Median, least and spread of n values, which are sorted. */
void gv_series_of(double *value, int n, gv_series *series);

#endif
