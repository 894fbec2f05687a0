/* Subjects of the tuner: for each kernel its space and how one candidate is built, verified and timed.  Runs in the
 * worker process only. */
#ifndef GV_SUBJECT_H
#define GV_SUBJECT_H

#include "host/device/context.h"
#include "tuner/outcome.h"
#include "tuner/timing.h"

/* Called before each phase ("build", "verify", "time"), so that a crash is reported with its phase. */
typedef void (*gv_phase_fn)(const char *phase, void *user);

/* What sinks and sources of a question are. */
typedef enum gv_questions {
    GV_QUESTIONS_PAIRS,  /* numbers of their own */
    GV_QUESTIONS_SQUARE, /* the same N bodies */
    GV_QUESTIONS_LEAVES  /* bodies of a leaf, and of the leaves that pull it */
} gv_questions;

/* Near equals: differences that another run would not reproduce. */
#define GV_NEAR_EQUAL 0.01

typedef struct gv_subject {
    const gv_space *space;
    gv_questions questions;
    int keeps; /* 1: candidates that are timed in turns stay built and verified from one to the next */
    /* What gains less over the default does not replace it: a hair that another run would not reproduce, or, where a
     * question stands for calls that differ in more than sizes, what some of these lose by it. */
    double least_gain;
    int settings; /* that a run of a question goes through, each in about the time that is reported */
    /* Inputs, kept from one candidate to the next. */
    void *(*open)(void);
    void (*close)(void *state);
    void (*evaluate)(void *state, gravel_context *context, const gv_request *request, gv_phase_fn phase, void *user,
                     gv_outcome *outcome);
} gv_subject;

extern const gv_subject gv_subject_direct, gv_subject_tree, gv_subject_tasks;
/* The subject that tunes a kernel, NULL: the first; NULL if there is none. */
const gv_subject *gv_subject_find(const char *kernel);

/* Writes status and message of a failed library call into the outcome. */
void gv_outcome_of_status(gravel_status status, gv_outcome *outcome);

/* Times a candidate by `effort`; `first_s` is what its verified run took: a long one needs no other to
 * warm up.  0: it failed, see the outcome. */
int gv_outcome_time(const gv_effort *effort, double first_s, gv_timed_fn run, gv_timed_row_fn row, void *user,
                    gv_timing *timing, gv_outcome *outcome);
void gv_outcome_of_timing(const gv_timing *timing, double error, gv_outcome *outcome);

#endif
