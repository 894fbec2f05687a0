/* Searches replayed on recordings: how near each strategy comes to the best after so many evaluations. */
#ifndef GV_SIMULATE_H
#define GV_SIMULATE_H

#include "tuner/recording.h"

/* What the default strategy must reach: this part of the best speed with this part of the evaluations (median of the
 * seeds). */
#define GV_SIMULATE_REACH 0.98
#define GV_SIMULATE_PART 0.15

enum { GV_SIMULATE_STEPS = 200 };

typedef struct gv_simulated {
    const gv_strategy *strategy;
    int seeds;
    size_t steps;          /* curve points: evaluation (k + 1) * points / steps */
    /* quality = best time of all / best time found: 1 is the best; quartiles over the seeds */
    double median[GV_SIMULATE_STEPS], low[GV_SIMULATE_STEPS], high[GV_SIMULATE_STEPS];
    double at_part;        /* median quality after GV_SIMULATE_PART of the evaluations */
    size_t needed;         /* median evaluations until GV_SIMULATE_REACH; 0: more than half of the seeds did not */
} gv_simulated;

gravel_status gv_simulate(const gv_recording *recording, const gv_strategy *strategy, int seeds, gv_simulated *result);

#endif
