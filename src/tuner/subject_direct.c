/* Direct summation as a subject: a Plummer-like pool of particles, of which the first are the sources and one of a few
 * stretches anywhere are the sinks; of few sinks every so-many-th body of a stretch, as in block steps. Inputs are
 * uploaded again for each candidate with masses scaled by a random factor: a result left over from another one is off
 * by that factor (checks: direct_verify.c). */
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "host/direct/direct.h"
#include "host/direct/plan.h"
#include "tuner/direct_trial.h"
#include "tuner/kept.h"

/* Which part of the sources holds a sink decides how long the last group of a GPU takes: up to a fifth more or less
 * with a dozen sinks, 2 % with 300.  Fewer than FEW are timed at several places of the sources, the same for all. */
enum { FEW = 64, PLACES = 4 };
enum { CAPACITY = 64 }; /* of neighbour lists */

typedef struct inputs {
    gv_pool pool;
    gv_expected expected;
    gv_kept kept;
} inputs;

static void *direct_open(void)
{
    return calloc(1, sizeof(inputs));
}

static void release_trial(void *trial_)
{
    gv_direct_trial *t = trial_;

    gravel_direct_release(t->direct);
    free(t);
}

static void direct_close(void *state)
{
    inputs *in = state;

    if (in != NULL) {
        gv_kept_drop(&in->kept, release_trial);
        gv_pool_free(&in->pool);
        gv_expected_free(&in->expected);
        free(in);
    }
}

static gravel_status make_object(gv_direct_trial *t, gravel_context *context)
{
    const gv_task *task = &t->request->task;
    gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_sources sources;
    gravel_status status;

    options.order = task->variant.order;
    options.precision = task->variant.precision;
    options.nearest = (task->variant.features & GV_DIRECT_NEAREST) != 0;
    options.neighbour_capacity = (task->variant.features & GV_DIRECT_LISTS) != 0 ? CAPACITY : 0;
    options.configuration = t->request->configuration;
    status = gravel_direct_create(&t->direct, context, &options);
    if (status != GRAVEL_OK || t->request->build_only)
        return status;
    memset(&sources, 0, sizeof sources);
    sources.count = task->sources;
    sources.mass = t->p->scaled;
    sources.id = t->p->id;
    sources.pos = gv_trial_vec(t->p->x, 0, 1);
    sources.vel = gv_trial_vec(t->p->v, 0, 1);
    sources.acc = gv_trial_vec(t->p->a, 0, 1);
    status = gravel_direct_write_sources(t->direct, 0, &sources);
    return status == GRAVEL_OK ? gravel_direct_set_timing(t->direct, 1) : status;
}

/* Pool index of the first sink at the k-th place. */
static size_t place(const gv_direct_trial *t, int k)
{
    const size_t room = t->request->task.sources - (t->sinks - 1) * t->step;

    return t->places == 1 ? t->from : (size_t)(2 * k + 1) * room / (size_t)(2 * t->places);
}

static gravel_status timed(void *user, double *device_s, double *call_s)
{
    gv_direct_trial *t = user;

    *device_s = *call_s = 0;
    for (int k = 0; k < t->places; k++) {
        const double start = gv_now();
        double kernel_s = 0;
        gravel_status status = gv_trial_call(t, place(t, k));

        *call_s += (gv_now() - start) / t->places;
        if (status == GRAVEL_OK)
            status = gravel_direct_get_kernel_time(t->direct, &kernel_s);
        if (status != GRAVEL_OK)
            return status;
        *device_s += kernel_s / t->places;
    }
    return GRAVEL_OK;
}

static gravel_status timed_row(void *user, int runs, double *device_s)
{
    gv_direct_trial *t = user;
    double one_s = 0;

    *device_s = 0;
    for (int k = 0; k < t->places; k++) {
        gravel_status status = t->places > 1 ? gv_trial_call(t, place(t, k)) : GRAVEL_OK;

        if (status == GRAVEL_OK)
            status = gv_direct_row(t->direct, (runs + t->places - 1) / t->places, &one_s);
        if (status != GRAVEL_OK)
            return status;
        *device_s += one_s / t->places;
    }
    return GRAVEL_OK;
}

/* Compiles; on a CPU the driver finishes the machine code at the first launch only. */
static gravel_status build(gv_direct_trial *t, gravel_context *context)
{
    gravel_status status = make_object(t, context);

    if (status == GRAVEL_OK)
        status = gv_direct_build(t->direct);
    if (status == GRAVEL_OK && t->request->build_only && t->is_cpu) {
        static const double zero[3] = {0, 0, 0}, one = 1;
        gravel_sources source;
        gravel_sinks sink;

        memset(&source, 0, sizeof source);
        memset(&sink, 0, sizeof sink);
        source.count = sink.count = 1;
        source.mass = &one;
        source.pos = sink.pos = (gravel_vec){&zero[0], &zero[1], &zero[2], 1};
        status = gravel_direct_write_sources(t->direct, 0, &source);
        status = status == GRAVEL_OK ? gravel_direct_submit(t->direct, &sink, GV_TRIAL_SOFTENING) : status;
        if (status == GRAVEL_OK) {
            const gravel_forces none = {.pot = NULL};

            status = gravel_direct_collect(t->direct, &none, NULL);
        }
    }
    return status;
}

/* `again`: verified in an earlier turn. */
static void time_it(gv_direct_trial *t, uint64_t *state, int again, gv_phase_fn phase, void *user, gv_outcome *outcome)
{
    const gv_effort *effort = &t->request->effort;
    gv_timing timing;
    double first_s = 0;

    gravel_direct_get_kernel_time(t->direct, &first_s);
    phase("time", user);
    gv_trial_poison(t);
    if (!gv_outcome_time(effort, first_s, timed, t->is_cpu ? NULL : timed_row, t, &timing, outcome))
        return;
    if (!timing.stopped && effort->most > 1 && !again) {
        /* Of long runs the last one that was timed stands for a repetition.  It follows runs of the same sinks; what
         * calls leave behind is met by the other set, whose sampled sinks are compared with the reference. */
        const int is_long = !t->is_cpu && timing.device.least >= GV_LONG_RUN_S;

        phase("verify", user);
        if (!gv_trial_verify_again(t, state, is_long && t->places == 1, outcome))
            return;
    }
    gv_outcome_of_timing(&timing, t->error_max, outcome);
}

static void direct_evaluate(void *state, gravel_context *context, const gv_request *request, gv_phase_fn phase,
                            void *user, gv_outcome *outcome)
{
    inputs *in = state;
    uint64_t seed = request->seed;
    gv_direct_trial t = {.p = &in->pool,
                         .expected = &in->expected,
                         .scale = 0.5 + 1.5 * gv_uniform(&seed),
                         .request = request,
                         .is_cpu = gravel_context_get_device(context, 0)->type == GRAVEL_DEVICE_CPU,
                         .sinks = request->task.sinks,
                         .step = 1,
                         .planes = 4 + 3 * (request->task.variant.order / 2 - 1)};
    gravel_status status = GRAVEL_OK;
    gv_direct_trial *made = gv_kept_find(&in->kept, request, release_trial);

    memset(outcome, 0, sizeof *outcome);
    if (gv_direct_are_strewn(t.sinks, request->task.sources))
        t.step = request->task.sources / t.sinks;
    t.places = t.step > 1 && t.sinks < FEW && !t.is_cpu ? PLACES : 1;
    if (made) {
        made->request = request;
        time_it(made, &seed, 1, phase, user, outcome);
        return;
    }
    if (!request->build_only) {
        size_t need = (request->task.sources > t.sinks ? request->task.sources : t.sinks) + GV_POOL_SPARE;

        if (!gv_pool_fill(t.p, need) || !gv_pool_reserve_outputs(t.p, t.sinks))
            status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu particles", need);
        for (size_t k = 0; status == GRAVEL_OK && k < request->task.sources; k++)
            t.p->scaled[k] = t.p->mass[k] * t.scale;
    }
    phase("build", user);
    status = status == GRAVEL_OK ? build(&t, context) : status;
    if (status != GRAVEL_OK) {
        gv_outcome_of_status(status, outcome);
    } else if (!request->build_only) {
        phase("verify", user);
        if (gv_trial_verify(&t, &seed, outcome))
            time_it(&t, &seed, 0, phase, user, outcome);
    }
    made = request->turn > 0 && outcome->status == GV_OUTCOME_OK ? malloc(sizeof *made) : NULL;
    if (made) {
        *made = t;
        gv_kept_add(&in->kept, request, made, release_trial);
    } else {
        gravel_direct_release(t.direct);
    }
}

const gv_subject gv_subject_direct = {&gv_direct_space, GV_QUESTIONS_PAIRS, 1, GV_NEAR_EQUAL, 1, direct_open,
                                      direct_close,     direct_evaluate};
