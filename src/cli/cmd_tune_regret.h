/* Pieces of `gravel tune --regret`: what was measured, and how it is told. */
#ifndef GV_CMD_TUNE_REGRET_H
#define GV_CMD_TUNE_REGRET_H

#include <stdint.h>

#include "cli/cmd_tune.h"
#include "tuner/regret.h"
#include "tuner/subject.h"

/* The sizes of a grid: sources x sinks of direct summation, bodies x theta x active part of the tree. */
typedef struct regret_axes {
    size_t sources[GV_MAX_LIST], sinks[GV_MAX_LIST];
    double theta[GV_MAX_LIST], active[GV_MAX_LIST];
    int n_sources, n_sinks, n_theta, n_active; /* 1 where there is no such axis */
    int is_square;                             /* sinks are the sources */
} regret_axes;

/* Those named, else the usual ones.  0 after a message. */
int gv_regret_axes(const tune_options *o, const gv_subject *subject, regret_axes *a);
/* For --keep: sizes that nobody named lie between those of the profile's questions. */
gravel_status gv_regret_axes_between(const tune_options *o, const gv_regret_setting *setting, regret_axes *a);
int gv_regret_points(const regret_axes *a);
/* The points in an order that is spread over the grid wherever the budget ends: steps of about the golden section. */
void gv_regret_task(const regret_axes *a, const gv_space *space, const gv_variant *variant, int k, gv_task *task);

/* The points of one variant with its searches. */
typedef struct regret_block {
    gv_variant variant;
    gv_task *task; /* what is asked for, in the order of measuring */
    int wanted;    /* tasks */
    double part;   /* of the budget, as others' parts */
    /* with --calls, else NULL: how many calls each task stands for; once measured, each point */
    uint64_t *calls;
    gv_regret_point *point;
    /* of each point: [configuration, seconds, [seconds in each turn], [seconds in each turn of a second sitting]] */
    cJSON **times;
    int n;
} regret_block;

typedef struct regret_result {
    const tune_options *options;
    const gv_limits *limits;
    regret_block *block;
    int n_blocks;
    int wanted;         /* points of all blocks */
    double calls;       /* of --calls, all */
    int failing;        /* points where the choice itself fails */
    char *why;          /* the first failure */
    int missed;         /* blocks that miss a mark: found while telling */
    int is_budget_over; /* or may be, if points are missing */
    int answers;        /* of the profile, that points became */
    char profile_path[1024];
} regret_result;

/* Room for `wanted` tasks and their points; with `calls`, for their numbers too. */
gravel_status gv_regret_block_make(regret_block *block, const gv_variant *variant, int wanted, int calls);
/* The blocks of --calls: the sizes of calls that programs made on this device, what takes most of the time first. */
gravel_status gv_regret_blocks_of_calls(const tune_options *o, const gv_limits *limits, regret_result *result);
/* What the kernels of all those calls take, for machines and for people. */
cJSON *gv_regret_json_of_calls(const regret_result *result);
void gv_regret_tell_calls(const regret_result *result);

/* Prints and draws what was measured, whatever ended it (`status`), and says what is missing. */
gravel_status gv_tune_tell_regret(regret_result *result, gravel_status status);

#endif
