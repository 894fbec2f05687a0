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

enum { GV_REGRET_CANDIDATES = 512 };

typedef struct gv_regret_point {
    gv_task task;
    int candidates; /* timed, the default and the choice among them */
    int failed;
    gravel_origin origin; /* of the choice */
    char choice[GV_PROFILE_TEXT], best[GV_PROFILE_TEXT];
    double choice_s, best_s, default_s;
} gv_regret_point;

typedef struct gv_regret_summary {
    int points;
    double median, p95, most;            /* of choice / best */
    double median_default, most_default; /* of choice / default */
} gv_regret_summary;

/* Seconds of a configuration; more than `stop_above` need not be exact.  INFINITY: it fails.  Negative: stop. */
typedef double (*gv_regret_time_fn)(void *user, const gv_task *task, const char *configuration, double stop_above);

typedef struct gv_regret_setting {
    const gv_space *space;
    const gv_limits *limits;
    const char *kernel_version;
    const gv_profile_set *user, *shipped; /* what programs would read; shipped may be NULL */
    int most;                             /* candidates a point, those of the nearest questions first; 0: all */
    gv_regret_time_fn time;
    void *time_user;
} gv_regret_setting;

/* GRAVEL_ERR_CANCELLED if the timing stopped, ERR_LAUNCH if neither the choice nor the default runs. */
gravel_status gv_regret_measure(const gv_regret_setting *setting, const gv_task *task, gv_regret_point *point);
void gv_regret_summarise(const gv_regret_point *point, int n, gv_regret_summary *summary);
int gv_regret_is_kept(const gv_regret_summary *summary); /* 1: within what tuning must keep */

#endif
