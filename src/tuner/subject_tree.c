/* The tree as a subject: forces on all of N bodies of a Plummer-like pool, built and walked anew each time.
 *
 * All candidates compute the same: theta 0.5 (or the task's), criterion `relative`, quadrupoles; what they have to keep
 * stands in tree_verify.c.  A question answers for all opening angles and for blocks of few active bodies: its time is
 * the geometric mean of several of these, so that each counts by the part of its own time that is gained or lost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "host/tree/plan.h"
#include "host/tree/tree.h"
#include "tuner/tree_trial.h"

/* Opening angle, and the part of the bodies that is active. */
typedef struct setting {
    double theta, active;
} setting;

/* What a question is timed at: the angles that are in use, and blocks of steps, some and few. */
enum { SETTINGS = 5 };
static const setting of_question[SETTINGS] = {{0.3, 1}, {0.5, 1}, {0.75, 1}, {0.4, 0.1}, {0.6, 0.01}};

/* A candidate, and what it is timed at. */
typedef struct trial {
    gv_tree_trial of;
    int n_settings;
    setting setting[SETTINGS];
    uint32_t *address; /* of a setting's active bodies; NULL: all are active in all of them */
} trial;

static void *tree_open(void)
{
    return calloc(1, sizeof(gv_tree_state));
}

static void release_trial(void *trial_)
{
    trial *t = trial_;

    gravel_tree_release(t->of.tree);
    free(t->address);
    free(t);
}

static void tree_close(void *state)
{
    gv_tree_state *s = state;

    if (s != NULL) {
        gv_kept_drop(&s->kept, release_trial);
        gv_pool_free(&s->pool);
        gv_tree_baseline_free(&s->base);
        free(s);
    }
}

/* Every so manieth body is active: a block of time-steps has its bodies all over the tree.  1: all of them. */
static size_t step_of(const setting *s)
{
    return s->active > 0 && s->active < 1 ? (size_t)(1 / s->active + 0.5) : 1;
}

/* The settings of the task, and room for the addresses of their active bodies. */
static gravel_status choose_settings(trial *t)
{
    const gv_task *task = &t->of.request->task;
    size_t most = 0;

    t->n_settings = 1;
    t->setting[0] = (setting){gv_tree_trial_theta(t->of.request), task->active};
    if (task->theta == 0 && task->active == 0) {
        t->n_settings = SETTINGS;
        memcpy(t->setting, of_question, sizeof of_question);
    }
    for (int k = 0; k < t->n_settings; k++) {
        const size_t step = step_of(&t->setting[k]), n = step > 1 ? (t->of.n + step - 1) / step : 0;

        most = n > most ? n : most;
    }
    t->address = most > 0 ? malloc(most * sizeof *t->address) : NULL;
    return most == 0 || t->address != NULL
               ? GRAVEL_OK
               : gv_fail(GRAVEL_ERR_MEMORY, "no memory for the addresses of %zu bodies", most);
}

/* Builds and walks. */
static gravel_status run_setting(trial *t, const setting *s, double *device_s, double *call_s)
{
    gv_pool *p = &t->of.s->pool;
    const gravel_forces out = {.acc = GRAVEL_VEC_OUT_SOA(p->out[0], p->out[1], p->out[2]), .pot = p->out[3]};
    const size_t step = step_of(s), n = (t->of.n + step - 1) / step;
    gravel_tree *tree = t->of.tree;
    gravel_tree_timings timings;

    for (size_t k = 0; step > 1 && k < n; k++)
        t->address[k] = (uint32_t)(k * step);
    gv_tree_set_theta(tree, s->theta);
    const double start = gv_now();
    gravel_status status = gravel_tree_build(tree);

    if (status == GRAVEL_OK)
        status = step > 1 ? gravel_tree_forces_active(tree, t->address, n, GV_TREE_TRIAL_SOFTENING, &out)
                          : gravel_tree_compute(tree, GV_TREE_TRIAL_SOFTENING);
    status = status == GRAVEL_OK ? gravel_tree_get_timings(tree, &timings) : status;
    *call_s = gv_now() - start;
    *device_s = status == GRAVEL_OK ? timings.total : 0;
    return status;
}

/* The geometric means over the settings. */
static gravel_status timed(void *user, double *device_s, double *call_s)
{
    trial *t = user;
    double device = 0, call = 0;
    gravel_status status = GRAVEL_OK;

    for (int k = 0; k < t->n_settings && status == GRAVEL_OK; k++) {
        status = run_setting(t, &t->setting[k], device_s, call_s);
        device += log(*device_s) / t->n_settings;
        call += log(*call_s) / t->n_settings;
    }
    *device_s = exp(device);
    *call_s = exp(call);
    return status;
}

/* `again`: verified in an earlier turn. */
static void time_it(trial *t, int again, gv_phase_fn phase, void *user, gv_outcome *outcome)
{
    const gv_effort *whole = &t->of.request->effort;
    /* a run is one of each setting: all of them together last as long as those of one would */
    const double n = t->n_settings;
    const gv_effort effort = {whole->least, whole->most, whole->least_s / n, whole->most_s / n, whole->stop_above};
    gravel_tree_timings first = {.total = 0};
    gv_timing timing;

    gravel_tree_get_timings(t->of.tree, &first);
    phase("time", user);
    if (!gv_outcome_time(&effort, first.total, timed, NULL, t, &timing, outcome))
        return;
    if (!timing.stopped && effort.most > 1 && !again) {
        phase("verify", user);
        if (!gv_tree_trial_verify(&t->of, 1, outcome))
            return;
    }
    gv_outcome_of_timing(&timing, t->of.found.p99, outcome);
}

/* Compiles; on a CPU the driver finishes the machine code at the first launch only, so a small tree is walked. */
static gravel_status build(gv_tree_trial *t, gravel_context *context)
{
    gravel_status status = gv_tree_trial_make(t, context, t->request->configuration);

    if (status == GRAVEL_OK && t->request->build_only && context->device[0].info.type == GRAVEL_DEVICE_CPU) {
        status = gv_tree_trial_write(t, t->n);
        status = status == GRAVEL_OK ? gv_tree_trial_forces(t) : status;
    }
    return status;
}

static void tree_evaluate(void *state, gravel_context *context, const gv_request *request, gv_phase_fn phase,
                          void *user, gv_outcome *outcome)
{
    const size_t n = request->build_only && request->task.sources > 256 ? 256 : request->task.sources;
    uint64_t seed = request->seed;
    trial t = {.of = {.s = state, .request = request, .n = n, .scale = 0.5 + 1.5 * gv_uniform(&seed)}};
    gv_tree_state *s = state;
    gravel_status status = GRAVEL_OK;
    trial *made = gv_kept_find(&s->kept, request, release_trial);

    memset(outcome, 0, sizeof *outcome);
    if (made) {
        made->of.request = request;
        time_it(made, 1, phase, user, outcome);
        return;
    }
    if (!gv_pool_fill(&s->pool, n) || !gv_pool_reserve_outputs(&s->pool, n))
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu bodies", n);
    phase("build", user);
    status = status == GRAVEL_OK && !request->build_only ? gv_tree_trial_learn(&t.of, context) : status;
    status = status == GRAVEL_OK ? build(&t.of, context) : status;
    if (status == GRAVEL_OK && !request->build_only) {
        phase("verify", user);
        status = gv_tree_trial_write(&t.of, n);
        status = status == GRAVEL_OK ? choose_settings(&t) : status;
        if (status == GRAVEL_OK && gv_tree_trial_verify(&t.of, 0, outcome))
            time_it(&t, 0, phase, user, outcome);
    }
    if (status != GRAVEL_OK) {
        gv_outcome_of_status(status, outcome);
        outcome->status = status == GRAVEL_ERR_UNSUPPORTED ? GV_OUTCOME_CONSTRAINT : outcome->status;
    }
    made = request->turn > 0 && outcome->status == GV_OUTCOME_OK ? malloc(sizeof *made) : NULL;
    if (made) {
        *made = t;
        gv_kept_add(&s->kept, request, made, release_trial);
        return;
    }
    gravel_tree_release(t.of.tree);
    free(t.address);
}

const gv_subject gv_subject_tree = {&gv_tree_space, GV_QUESTIONS_SQUARE, 1,          GV_TREE_LEAST_GAIN,
                                    SETTINGS,       tree_open,           tree_close, tree_evaluate};
