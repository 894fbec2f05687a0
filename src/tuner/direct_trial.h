/* A candidate of direct summation while it is tried: what is called, verified and timed (subject_direct.c). */
#ifndef GV_TUNER_DIRECT_TRIAL_H
#define GV_TUNER_DIRECT_TRIAL_H

#include "tuner/expected.h"
#include "tuner/subject.h"

#define GV_TRIAL_SOFTENING 0x1p-7 /* of all calls; exact in every precision */

typedef struct gv_direct_trial {
    gv_pool *p;
    gv_expected *expected;
    double scale; /* of the masses */
    const gv_request *request;
    gravel_direct *direct;
    int is_cpu;         /* whose events cost nothing */
    size_t sinks, step; /* from one sink to the next in the pool */
    int planes;
    int places;     /* where the sinks are timed */
    uint64_t first; /* the stretch that is timed, where that is one place */
    size_t from;    /* pool index of its first sink */
    double error_max;
} gv_direct_trial;

/* Column x of the pool from one body on, every step-th. */
gravel_vec gv_trial_vec(double *const x[3], size_t from, size_t step);
/* Fills the outputs with NaN and puts canaries behind them. */
void gv_trial_poison(gv_direct_trial *t);
/* The forces on the sinks from this pool index on. */
gravel_status gv_trial_call(gv_direct_trial *t, size_t from);
/* 1 if sampled sinks of enough sets are right; the outcome says what is wrong.  Sets where the sinks are timed. */
int gv_trial_verify(gv_direct_trial *t, uint64_t *state, gv_outcome *outcome);
/* Another set of sinks, then the first one again: same bits.  `timed_is_first`: out[] holds the results of a timed run
 * of the first set, which are compared instead of another run's. */
int gv_trial_verify_again(gv_direct_trial *t, uint64_t *state, int timed_is_first, gv_outcome *outcome);

#endif
