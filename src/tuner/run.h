/* The inside of a tuning run, shared by plan.c (which questions), shares.c (their order and time), session.c,
 * question.c (one question), between.c, cross.c, cross_known.c, sitting.c, finals.c and builders.c. */
#ifndef GV_RUN_H
#define GV_RUN_H

#include "tuner/session.h"

enum { GV_MAX_BUILDERS = 16 };

/* Processes that compile programs ahead of the measuring. */
typedef struct gv_builders {
    gv_tune_worker worker[GV_MAX_BUILDERS];
    int n;
    /* a batch: request i went to worker i % n, as its i / n th */
    const gv_request *request;
    int n_requests, received[GV_MAX_BUILDERS], dead[GV_MAX_BUILDERS];
    gv_outcome outcome[64];
} gv_builders;

void gv_builders_init(gv_builders *builders, int n, const gv_tune_worker_options *options);
void gv_builders_stop(gv_builders *builders);
/* At most 64 requests, which stay the caller's until they are collected. */
void gv_builders_start(gv_builders *builders, const gv_request *request, int n);
/* Waits for request i.  1: built, or found not to compile (see outcome); 0: no result. */
int gv_builders_wait(gv_builders *builders, int i, double limit_s, gv_outcome *outcome);
/* Takes what is left of the batch out of the pipes. */
void gv_builders_finish(gv_builders *builders, double limit_s);

/* What may be said of many questions is said of each with `verbose` only, and once at the end. */
typedef enum gv_remark {
    GV_REMARK_TOO_LONG,  /* takes too long for the budget */
    GV_REMARK_SCATTER,   /* times scatter too much for a gain to be reported */
    GV_REMARK_NOT_ASKED, /* the time was over before it */
    GV_REMARK_CHANGED,   /* another configuration leads after the second sitting */
    GV_REMARK_STAYS,     /* the time was over before an answer of before was measured again */
    GV_REMARKS
} gv_remark;

typedef struct gv_run {
    const gv_tune_options *options;
    gv_tune_summary *summary;
    const gv_space *space;
    gv_tune_device device;
    gv_tune_worker_options worker_options;
    gv_tune_worker worker;
    gv_builders builders;
    gv_tlog log;
    double spent_s;  /* of the run, replayed outcomes included */
    double wall;     /* when the last outcome came */
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
    /* winners of the last variant without searches: where the same variant with searches begins */
    int n_plain;
    gv_task plain_task[GV_TUNE_SIZES * GV_TUNE_SIZES];
    gv_config plain[GV_TUNE_SIZES * GV_TUNE_SIZES];
    double plain_s[GV_TUNE_SIZES * GV_TUNE_SIZES];
    gv_profile_set known;   /* profiles of this device before the run */
    gv_profile_set unsaved; /* answers that are not in its profile yet, and when it was written last */
    double saved_at;
    double crossed_s; /* what all candidates took that met a winner of before, and how many these are */
    int n_crossed;
    double program_s;   /* what one of the last programs took that were built ahead; 0: unknown */
    int has_built_in;   /* the first start point is the built-in default */
    int may_widen;      /* a variant's first question: soft constraints may yield (scouts.h) */
    int wide;           /* they have: everything that can run is tried */
    int sure;           /* start points measured however little time there is: the default, those of a profile */
    int inherits;       /* too large a question for the time left: the default and what was found before alone */
    gv_point inherited; /* the latter: by a profile, else by a neighbour, else the default */
    double task_end;    /* spent_s at which the question's time is over */
    double best_s;      /* of this question */
    char best[GV_PROFILE_TEXT];
    int evaluations, failures[GV_OUTCOME_COUNT];
    int remarks[GV_REMARKS];       /* how many of each */
    char remarked[GV_REMARKS][96]; /* the first question of each */
    gv_outcome *seen;              /* of its search, in the order of evaluation; as many as the domain has points */
    size_t n_seen;
} gv_run;

typedef struct gv_plan_question {
    size_t sinks, sources;
    double weight; /* share of the variant's time; 0: answered without a search, by what is kept around it */
} gv_plan_question;

typedef struct gv_plan {
    int n;
    gv_plan_question q[GV_TUNE_SIZES * GV_TUNE_SIZES]; /* in their order */
} gv_plan;

void gv_plan_make(const gv_tune_options *options, const gv_limits *limits, const gv_variant *variant, gv_plan *made);

enum { GV_POINTS_MOST = 24, GV_CROSS_PASSES = 2 };

/* What a variant's questions have been answered with. */
typedef struct gv_winner {
    gv_task task;
    gv_point point;
    double time_s;
    gv_profile_entry entry;
    int n_tried;
    gv_point tried[(1 + GV_CROSS_PASSES) * GV_POINTS_MOST]; /* without a search, whether the entry keeps them or not */
} gv_winner;

typedef struct gv_winners {
    int n;
    gv_winner w[GV_TUNE_SIZES * GV_TUNE_SIZES];
} gv_winners;

/* Asks all variants and questions of the options, or what there is time for. */
gravel_status gv_run_all(gv_run *run);
/* Searches an answer to run->task for so many seconds. */
void gv_run_answer(gv_run *run, gv_winners *found, double allotted);
double gv_run_distance(const gv_task *a, const gv_task *b);                    /* of sizes, in octaves */
int gv_run_point(const gv_run *run, const gv_config *config, gv_point *point); /* 0: not in the domain */
/* 1 if the present question launches both alike: one measurement tells of both. */
int gv_run_same(const gv_run *run, const gv_point *a, const gv_point *b);
/* 1 if the entry's question launches the configuration as its untuned default. */
int gv_run_is_default(const gv_run *run, const gv_profile_entry *entry, const char *configuration);
/* At once, or a few seconds later with what comes until then, at the end of the run at the latest. */
void gv_tune_save(gv_run *run, const gv_profile_entry *entry);

#define GV_CROSS_PART 0.08 /* of a variant's time */
/* Measures at each question the winners and defaults of those around it, and what is good there with other searches,
 * until `end`. */
void gv_cross(gv_run *run, gv_winners *found, double end);
int gv_result_by_time(const void *a, const void *b); /* orders results of a profile, for qsort */
/* The default leads the entry again where what leads is faster by less than the subject's least gain. */
void gv_prefer_default(const gv_run *run, gv_profile_entry *entry);
#define GV_SITTING_PART 0.06 /* of a variant's time */
/* What seems faster than the default meets it again, at another time than before, until `end`: ratios are geometric
 * means of what was known and of what is seen now. */
void gv_second_sitting(gv_run *run, gv_winners *found, double end);
/* How many questions of run->task's variant a run without searches is about: those of the profile and of devices that
 * are alike, or those named. */
int gv_cross_planned(gv_run *run);
/* Takes what the profile keeps of run->task's variant for the answers and returns how many these are; what is of
 * another kernel text is measured again first, until `end`.  Sizes that the options name and the profile does not hold
 * become questions, until `new_end`; without names those that only devices that are alike have answered. */
int gv_cross_known(gv_run *run, gv_winners *found, double end, double new_end);

/* Fills the list from n on, up to `most`, with other points that won or came near it around run->task's sizes, with its
 * searches or others (`others` 1: those alone), the nearest first; returns how many there are. */
int gv_offers_add(const gv_run *run, const gv_winners *found, int others, gv_point *point, int n, int most);
enum { GV_BETWEEN_MOST = 14 };
/* Answers the k-th question of a plan for run->task's variant with the best of these and the default, unless it would
 * take beyond `end`. */
void gv_question_between(gv_run *run, gv_winners *found, const gv_plan *plan, int k, double end);
gv_effort gv_cross_effort(const gv_run *run);
/* By how much (1.02) something has to be faster than the entry's winner for its place; more for the default's. */
double gv_cross_beats(const gv_run *run, const gv_profile_entry *entry);
double gv_run_cost(const gv_run *run); /* seconds of the best run so far, with all settings of its question */
double gv_cross_cost(const gv_run *run, double time_s); /* of one candidate whose run takes so long */

/* One outcome, from the log or from the worker; 0 when the run has to stop. */
int gv_run_evaluate(gv_run *run, const char *stage, int round, const gv_point *point, const gv_effort *effort,
                    gv_outcome *outcome);

void gv_run_warn(gv_run *run, const char *text);
/* About the present question; scatter as a part of the time, 0 where it is not about that. */
void gv_run_remark(gv_run *run, gv_remark remark, double scatter);
void gv_run_remarks(gv_run *run); /* at the end */
void gv_run_point_text(const gv_run *run, const gv_point *point, char text[GV_PROFILE_TEXT]);

enum { GV_FINALS_ROUNDS = 9 }; /* at most */
/* Shorter runs meet in more turns: these cost a few milliseconds each, and the shorter a run, the more it matters on
 * which core and how warm it was. */
#define GV_SHORT_RUN_S 0.003
#define GV_FINALS_NOISE 0.2 /* minima that scatter by more are no measurement of a gain */

typedef struct gv_finalist {
    gv_point point;
    double search_s;                                           /* as the search saw it */
    double round[GV_FINALS_ROUNDS], typical[GV_FINALS_ROUNDS]; /* minimum and median of each round; 0: not held */
    double median;                                             /* of the minima: what decides */
    double time_s;                                             /* median of the medians: what is reported */
    gv_outcome outcome;                                        /* of the last round */
    int alive, complexity;
} gv_finalist;

int gv_finals_pick(const gv_search *search, const gv_run *run, gv_finalist *list, int most, double within);
void gv_finals_hold(gv_run *run, gv_finalist *list, int n);
double gv_finals_scatter(const gv_finalist *finalist);                   /* of the rounds, as a part of the time */
int gv_finals_choose(const gv_finalist *list, int n, double least_gain); /* -1: none of them works */
void gv_finals_put(const gv_run *run, const gv_finalist *finalist, gv_profile_result *result);
void gv_finals_entry(const gv_run *run, const gv_finalist *list, int n, int chosen, gv_profile_entry *entry);

/* Starts (points worth trying first; the first is the built-in default), searches, holds the finals and writes the
 * entry of the profile.  0: nothing was found. */
int gv_question_answer(gv_run *run, const gv_point *start, int n_starts, gv_profile_entry *entry,
                       gv_tune_result *result, gv_point *winner);

/* The points that a stage measures at its k-th question, which becomes the run's task. */
typedef int (*gv_points_fn)(gv_run *run, const gv_winners *found, const void *order, int k,
                            gv_point point[GV_POINTS_MOST]);
/* Compiles at once what a stage will measure at its k-th question of n; where that is anything, then for those after it
 * as well, as much as keeps all builders busy and a quarter of the time to `end` has room for. */
void gv_run_build_from(gv_run *run, const char *stage, const gv_winners *found, gv_points_fn points_of,
                       const void *order, int k, int n, double end);

/* Times points that won, or are the default, at neighbouring questions of run->task, and sorts them into the entry:
 * what the choice between questions is made from.  Each question of a run in passes of different numbers.  1 if the
 * entry has changed. */
int gv_question_cross(gv_run *run, int pass, const gv_point *point, int n, gv_profile_entry *entry);

#endif
