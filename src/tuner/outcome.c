#include "tuner/outcome.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tuner/subject.h"

const char *gv_outcome_name(gv_outcome_status status)
{
    static const char *const name[] = {
#define GV_OUTCOME_NAME(code, word, text) word,
        GV_OUTCOME_TABLE(GV_OUTCOME_NAME)
#undef GV_OUTCOME_NAME
    };

    return status < GV_OUTCOME_COUNT ? name[status] : "?";
}

int gv_outcome_parse(const char *name)
{
    for (int s = 0; s < GV_OUTCOME_COUNT; s++)
        if (strcmp(gv_outcome_name((gv_outcome_status)s), name) == 0)
            return s;
    return -1;
}

int gv_task_same(const gv_task *a, const gv_task *b)
{
    return a->sinks == b->sinks && a->sources == b->sources && a->theta == b->theta && a->active == b->active &&
           a->variant.features == b->variant.features && strcmp(a->variant.name, b->variant.name) == 0 &&
           strcmp(a->kernel, b->kernel) == 0;
}

double gv_outcome_score(const gv_outcome *outcome)
{
    if (outcome->status != GV_OUTCOME_OK || !(outcome->time_s > 0))
        return INFINITY;
    return outcome->time_min_s > 0 ? outcome->time_min_s : outcome->time_s;
}

void gv_outcome_of_status(gravel_status status, gv_outcome *outcome)
{
    const char *message = gravel_error_message();

    outcome->status = status == GRAVEL_ERR_BUILD      ? GV_OUTCOME_COMPILE
                      : status == GRAVEL_ERR_ARGUMENT ? GV_OUTCOME_CONSTRAINT
                                                      : GV_OUTCOME_LAUNCH;
    snprintf(outcome->reason, sizeof outcome->reason, "%.200s", message);
    /* one line: the compiler's log goes on for pages */
    outcome->reason[strcspn(outcome->reason, "\r\n")] = '\0';
}

const gv_subject *gv_subject_find(const char *kernel)
{
    static const gv_subject *const subject[] = {&gv_subject_direct, &gv_subject_tree, &gv_subject_tasks};

    for (size_t s = 0; s < sizeof subject / sizeof subject[0]; s++)
        if (!kernel || strcmp(subject[s]->space->kernel, kernel) == 0)
            return subject[s];
    return NULL;
}

int gv_outcome_time(const gv_effort *effort, double first_s, gv_timed_fn run, gv_timed_row_fn row, void *user,
                    gv_timing *timing, gv_outcome *outcome)
{
    gv_timing_rule rule = GV_TIMING_RULE_INIT;
    gravel_status status;

    rule.warm_up = first_s > (row ? GV_LONG_RUN_S : 0.1) ? 0 : 1;
    rule.least = effort->least;
    rule.most = effort->most;
    rule.least_s = effort->least_s;
    rule.most_s = effort->most_s;
    rule.stop_above = effort->stop_above;
    rule.row = row;
    rule.least_long = 2;
    status = gv_timing_run(&rule, run, user, timing);
    if (status != GRAVEL_OK)
        gv_outcome_of_status(status, outcome);
    return status == GRAVEL_OK;
}

void gv_outcome_of_timing(const gv_timing *timing, double error, gv_outcome *outcome)
{
    outcome->status = GV_OUTCOME_OK;
    outcome->time_s = timing->device.median;
    outcome->time_min_s = timing->device.least;
    outcome->spread = timing->device.spread;
    outcome->call_s = timing->call.median;
    outcome->samples = timing->samples;
    outcome->stopped = timing->stopped;
    outcome->error = error;
}
