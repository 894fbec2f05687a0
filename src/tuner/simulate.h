/* Searches replayed on recordings: how near each strategy comes to the best after so many evaluations. */
#ifndef GV_SIMULATE_H
#define GV_SIMULATE_H

#include "tuner/recording.h"

/* A search is replayed for so many evaluations (or as many as the recording has points); its quality is reported at
 * the marks: evaluations that a quick run, and a question searched at length, have time for. */
enum { GV_SIMULATE_BUDGET = 200, GV_SIMULATE_MARKS = 2, GV_SIMULATE_REACHES = 2 };
extern const int gv_simulate_mark[GV_SIMULATE_MARKS]; /* 30, 50 evaluations */

typedef struct gv_simulated {
    const gv_strategy *strategy;
    int seeds;
    size_t steps; /* evaluations */
    /* quality = best time of all / best time found: 1 is the best. Over the seeds, after k + 1 evaluations: the
     * median, and what nine of ten seeds reach */
    double median[GV_SIMULATE_BUDGET], tenth[GV_SIMULATE_BUDGET];
    /* what these two (0: the median, 1: the worst tenth) would be with other seeds: the qualities at their ranks less
     * and plus a standard deviation, which is sqrt(n p (1 - p)) for the part p of n seeds */
    double low[2][GV_SIMULATE_BUDGET], high[2][GV_SIMULATE_BUDGET];
    size_t needed[GV_SIMULATE_REACHES]; /* evaluations until the median is at 98 %, 99 % of the best speed; 0: never */
} gv_simulated;

/* Seeds 1 ... `seeds`. */
gravel_status gv_simulate(const gv_recording *recording, const gv_strategy *strategy, int seeds, gv_simulated *result);

/* After so many evaluations, or at the end of a shorter search. */
double gv_simulated_median(const gv_simulated *result, int evaluations);
double gv_simulated_tenth(const gv_simulated *result, int evaluations);

/* How far `result` is behind `other` where it is furthest behind: marks, median and worst tenth; 0: nowhere, or no
 * further than their seeds explain (the high end of `result` against the low end of `other`).  Qualities of a recording
 * lie on steps, so that ranks judge small differences; those of qualities above `most` count in any case. */
double gv_simulated_behind(const gv_simulated *result, const gv_simulated *other, double most);

#endif
