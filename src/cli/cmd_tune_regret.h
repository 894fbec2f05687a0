/* Pieces of `gravel tune --regret`: what was measured, and how it is told. */
#ifndef GV_CMD_TUNE_REGRET_H
#define GV_CMD_TUNE_REGRET_H

#include "cli/cmd_tune.h"
#include "tuner/regret.h"

/* The points of one variant with its searches. */
typedef struct regret_block {
    gv_variant variant;
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
    int each, wanted;   /* points of a whole block; of the whole grid */
    int failing;        /* points where the choice itself fails */
    char *why;          /* the first failure */
    int missed;         /* blocks that miss a mark: found while telling */
    int is_budget_over; /* or may be, if points are missing */
    int answers;        /* of the profile, that points became */
    char profile_path[1024];
} regret_result;

/* Prints and draws what was measured, whatever ended it (`status`), and says what is missing. */
gravel_status gv_tune_tell_regret(regret_result *result, gravel_status status);

#endif
