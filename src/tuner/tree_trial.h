/* A candidate of the tree while it is tried: what is called, verified and timed (subject_tree.c). */
#ifndef GV_TUNER_TREE_TRIAL_H
#define GV_TUNER_TREE_TRIAL_H

#include "gravel/tree.h"
#include "tuner/kept.h"
#include "tuner/pool.h"
#include "tuner/subject.h"

#define GV_TREE_TRIAL_SOFTENING 0x1p-7 /* of all calls */

typedef struct gv_tree_errors {
    double p50, p99, max;
} gv_tree_errors;

/* What candidates of one question share: exact forces of sampled bodies, and the built-in configuration's of all. */
typedef struct gv_tree_baseline {
    size_t n, step, samples; /* n 0: nothing yet */
    gravel_precision precision;
    double theta;
    double *exact[3], *force[3];
    double mean; /* of |acc| */
    gv_tree_errors found;
} gv_tree_baseline;

typedef struct gv_tree_state {
    gv_pool pool;
    gv_tree_baseline base;
    gv_kept kept;
} gv_tree_state;

typedef struct gv_tree_trial {
    gv_tree_state *s;
    const gv_request *request;
    gravel_tree *tree;
    size_t n;
    double scale; /* of the masses */
    gv_tree_errors found;
} gv_tree_trial;

/* That of the task; 0.5 where it names none. */
double gv_tree_trial_theta(const gv_request *request);
gravel_status gv_tree_trial_make(gv_tree_trial *t, gravel_context *context, const char *configuration);
gravel_status gv_tree_trial_write(gv_tree_trial *t, size_t n); /* the first n bodies of the pool */
/* Builds, walks and reads into poisoned arrays. */
gravel_status gv_tree_trial_forces(gv_tree_trial *t);

/* Exact forces, and the built-in configuration's results, unless they are known. */
gravel_status gv_tree_trial_learn(gv_tree_trial *t, gravel_context *context);
/* 1 if the forces are right, and with `again` the same bits as the first time; the outcome says what is wrong. */
int gv_tree_trial_verify(gv_tree_trial *t, int again, gv_outcome *outcome);
void gv_tree_baseline_free(gv_tree_baseline *b);

#endif
