/* Regret: what a choice of configuration costs between the questions.  At sizes without a question of their own, all
 * configurations that the profile keeps are timed, and the one that a program would get is compared with the best of
 * them and with the untuned default. */
#ifndef GV_REGRET_H
#define GV_REGRET_H

#include "host/profile/store.h"
#include "tuner/outcome.h"

/* What tuning must keep over such a grid. */
#define GV_REGRET_MEDIAN 1.02
#define GV_REGRET_P95 1.08
#define GV_REGRET_MOST 1.20
#define GV_REGRET_OVER_DEFAULT 1.02

enum { GV_REGRET_CANDIDATES = 512, GV_REGRET_FINALS = 6 };

/* One of those that meet in turns. */
typedef struct gv_regret_final {
    char configuration[GV_PROFILE_TEXT];
    double over;                  /* the choice's time over its time; 0: it fails */
    double spread, call_s, error; /* as in a profile: of its turns; of its first timing */
} gv_regret_final;

typedef struct gv_regret_point {
    gv_task task;
    int candidates; /* timed, the default and the choice among them */
    int failed;
    int complete;         /* 0: stopped before all were timed, in turns too */
    int turns;            /* of the first sitting, in which the fastest were timed one after the other */
    int decided;          /* 0: not complete, or the turns disagree by more than the marks */
    gravel_origin origin; /* of the choice */
    char choice[GV_PROFILE_TEXT], best[GV_PROFILE_TEXT];
    double choice_s, best_s, default_s;      /* the choice's median over the turns, and that over the median ratios */
    double least_s;                          /* the choice's before the turns, the least of several */
    gv_regret_final final[GV_REGRET_FINALS]; /* the choice, the default unless it is the choice, the fastest others */
    int finals;
    int sittings; /* how often it was measured, with all others in between: times and ratios are geometric means */
    double over_best[2], over_default[2]; /* of each sitting */
    int disagree;                         /* a second sitting decided nothing, or was stopped: the first one counts */
} gv_regret_point;

typedef struct gv_regret_summary {
    int points;                          /* the decided ones: figures are of these */
    int undecided;                       /* complete, but the machine was too busy */
    int twice;                           /* decided by two sittings */
    int disagree;                        /* by the first, since the second decides nothing */
    double median, p95, most;            /* of choice / best */
    double median_default, most_default; /* of choice / default */
} gv_regret_summary;

/* Seconds of a configuration; more than `stop_above` need not be exact.  INFINITY: it fails.  Negative: stop.  `turn`:
 * 0 at first, then 1, 2 ... for the choice, the default and the fastest others, whose first times do not count.  What
 * else came of it goes to `outcome`. */
typedef double (*gv_regret_time_fn)(void *user, const gv_task *task, const char *configuration, int turn,
                                    double stop_above, gv_outcome *outcome);

typedef struct gv_regret_setting {
    const gv_space *space;
    const gv_limits *limits;
    const char *kernel_version;
    const gv_profile_set *user, *shipped; /* what programs read; shipped may be NULL */
    int most;                             /* candidates a point, those of the nearest questions first; 0: all */
    gv_regret_time_fn time;
    void (*prepare)(void *user, const gv_task *task, const char *const *configuration, int n); /* what is timed next */
    void *time_user;
} gv_regret_setting;

/* What is timed at a point: the choice, the default unless that is the choice, then what the nearest questions keep.
 * Texts are in the list itself and in the setting's profiles. */
typedef struct gv_regret_list {
    gravel_origin origin; /* of the choice */
    char choice[GV_PROFILE_TEXT], built_in[GV_PROFILE_TEXT];
    int n;
    const char *configuration[GV_REGRET_CANDIDATES];
} gv_regret_list;
gravel_status gv_regret_list_make(const gv_regret_setting *setting, const gv_task *task, gv_regret_list *made);
/* 1: the same launches of the same programs, whose times differ by noise alone. */
int gv_regret_is_same(const gv_regret_setting *setting, const gv_task *task, const char *a, const char *b);

/* If the timing stops, what was timed is in the point, which is not complete; GRAVEL_ERR_CANCELLED if that is not even
 * the choice and the default.  ERR_LAUNCH if the choice does not run. */
gravel_status gv_regret_measure(const gv_regret_setting *setting, const gv_task *task, gv_regret_point *point);
/* 1: decided by one sitting and beyond 1.08 of the best or 1.02 of the default, so that a second sitting tells chance
 * from fault: what else runs on a shared machine slows some configurations more than others, for minutes. */
int gv_regret_is_beyond(const gv_regret_point *point);
/* A second sitting of a point that is beyond: those that met in turns meet again.  Where it is stopped, or decides
 * nothing, or one of them fails in most turns, the first one counts. */
void gv_regret_measure_again(const gv_regret_setting *setting, gv_regret_point *point);
void gv_regret_summarise(const gv_regret_point *point, int n, gv_regret_summary *summary);
int gv_regret_is_kept(const gv_regret_summary *summary); /* 1: within what tuning must keep, or no points */

/* 1: the choice costs so much at a decided point that what was timed there is worth an answer of the profile: half of
 * what a mark allows. */
int gv_regret_is_worth_an_answer(const gv_regret_point *point);
/* The answer to the point as a question: those that met in turns, by their time. */
void gv_regret_answer(const gv_regret_setting *setting, const gv_regret_point *point, gv_profile_entry *entry);
/* Sizes halfway (in octaves) between those that a device's profiles have asked most of one kernel, where these are more
 * than a factor of 1.9 apart: where a choice is least sure.  At most `most`, the smallest; returns how many there are.
 */
int gv_regret_sizes_between(const gv_regret_setting *setting, int of_sources, size_t *size, int most);

#endif
