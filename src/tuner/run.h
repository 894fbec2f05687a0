/* The inside of a tuning run, shared by session.c (order of questions), question.c (one question) and builders.c. */
#ifndef GV_RUN_H
#define GV_RUN_H

#include "tuner/session.h"

enum { GV_MAX_BUILDERS = 16 };

/* Processes that compile programs ahead of the measuring. */
typedef struct gv_builders {
    gv_worker worker[GV_MAX_BUILDERS];
    int n;
    /* a batch: request i went to worker i % n, as its i / n th */
    const gv_request *request;
    int n_requests, received[GV_MAX_BUILDERS], dead[GV_MAX_BUILDERS];
    gv_outcome outcome[64];
} gv_builders;

void gv_builders_init(gv_builders *builders, int n, const gv_worker_options *options);
void gv_builders_stop(gv_builders *builders);
/* At most 64 requests, which stay the caller's until they are collected. */
void gv_builders_start(gv_builders *builders, const gv_request *request, int n);
/* Waits for request i.  1: built, or found not to compile (outcome tells); 0: nothing is known. */
int gv_builders_wait(gv_builders *builders, int i, double limit_s, gv_outcome *outcome);
/* Takes what is left of the batch out of the pipes. */
void gv_builders_finish(gv_builders *builders, double limit_s);

typedef struct gv_run {
    const gv_tune_options *options;
    gv_tune_summary *summary;
    const gv_space *space;
    gv_tune_device device;
    gv_worker_options worker_options;
    gv_worker worker;
    gv_builders builders;
    gv_tlog log;
    double spent_s; /* of the run, replayed outcomes included */
    double wall;    /* when the last outcome came */
    uint64_t *built; /* hashes of programs that were built already */
    size_t n_built, built_room;
    gravel_status status; /* a failure that ends the run (log, worker) */
    int interrupted;
    /* the present variant and question */
    gv_domain domain;
    gv_task task;
    int task_index;
    gv_config earlier[4]; /* winners of variants before, the latest first */
    int n_earlier;
    gv_profile_set known; /* what profiles say of this device before the run */
    int has_built_in;     /* the first start point is the built-in default */
    int sure;             /* start points measured however little time there is: the default, what a profile knows */
    int inherits;         /* too large a question for the time left: one look at what was found before */
    gv_point inherited;   /* that: by a profile, else by a neighbour, else the default */
    double task_end;      /* spent_s at which the question's time is over */
    double best_s;        /* of this question */
    char best[GV_PROFILE_TEXT];
    int evaluations, failures[GV_OUTCOME_COUNT];
    gv_outcome *seen; /* of its search, in the order of evaluation; as many as the domain has points */
    size_t n_seen;
} gv_run;

double gv_run_now(void);

/* One outcome, from the log or from the worker; 0 when the run has to stop. */
int gv_run_evaluate(gv_run *run, const char *stage, int round, const gv_point *point, const gv_effort *effort,
                    gv_outcome *outcome);

void gv_run_point_text(const gv_run *run, const gv_point *point, char text[GV_PROFILE_TEXT]);

typedef struct gv_finalist {
    gv_point point;
    double search_s; /* as the search saw it */
    double round[3], typical[3]; /* minimum and median of each round */
    double median;               /* of the minima: what decides */
    double time_s;               /* median of the medians: what is told */
    gv_outcome outcome; /* of the last round */
    int alive, complexity;
} gv_finalist;

int gv_finals_pick(const gv_search *search, const gv_run *run, gv_finalist *list, int most, double within);
void gv_finals_hold(gv_run *run, gv_finalist *list, int n);
int gv_finals_choose(const gv_finalist *list, int n); /* -1: none of them works */
void gv_finals_entry(const gv_run *run, const gv_finalist *list, int n, int chosen, gv_profile_entry *entry);

/* Starts (points worth trying first; the first is the built-in default), searches, holds the finals and writes the
 * entry of the profile.  0: nothing was found. */
int gv_question_answer(gv_run *run, const gv_point *start, int n_starts, gv_profile_entry *entry,
                       gv_tune_result *result, gv_point *winner);

#endif
