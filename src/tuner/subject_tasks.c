/* Tasks between leaves as a subject: a periodic grid of leaves of `sinks` bodies, each pulled by those next to it,
 * which have `sources` bodies together; the short range without potentials, as boxes with a mesh use it.
 *
 * Accelerations of sampled bodies (one a leaf, at all places of a leaf) must agree with sums in double, everything
 * else must be written and finite.  Besides: outputs poisoned with NaN, canaries behind them, masses scaled anew by a
 * random factor, the same bits the second time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_ref/ref.h"
#include "host/base/clock.h"
#include "host/tasks/tasks.h"
#include "tuner/pool.h"
#include "tuner/subject.h"

enum { AXES = 3, SAMPLES = 512, CANARIES = 8, FARTHEST = 8, SHIFTS = 27 };
/* so many bodies on a device: a GPU is busy, a candidate takes little time */
enum { GPU_BODIES = 1 << 18, CPU_BODIES = 1 << 13 };
static const double canary = -1.2345678901234567e+89;

/* A grid of leaves of side 1, and the exact accelerations of some bodies with what their pairs contribute. */
typedef struct tasks_state {
    size_t per_leaf, around, side, bodies, tasks; /* per_leaf 0: nothing yet */
    double reach;                                 /* the cut */
    double *block, *x[AXES], *m, *scaled, *out[AXES], *first[AXES];
    gravel_leaf *leaf;
    gravel_task *task;
    uint8_t *shift_of;
    double shift[SHIFTS][3];
    size_t sample[SAMPLES], samples;
    double exact[SAMPLES][AXES], scale[SAMPLES];
} tasks_state;

typedef struct trial {
    tasks_state *s;
    const gv_request *request;
    gravel_bodies *bodies;
    gravel_tasks *tasks;
    gravel_tasks_call call;
    double masses, error;
} trial;

static void *tasks_open(void)
{
    return calloc(1, sizeof(tasks_state));
}

static void forget(tasks_state *s)
{
    free(s->block);
    free(s->leaf);
    free(s->task);
    free(s->shift_of);
    memset(s, 0, sizeof *s);
}

static void tasks_close(void *state)
{
    if (state)
        forget(state);
    free(state);
}

/* -------------------------------------------------------------------- grid */

typedef struct step {
    int d[AXES], r2;
} step;

static int nearest_first(const void *a, const void *b)
{
    const step *x = a, *y = b;
    const int of[4][2] = {{x->r2, y->r2}, {x->d[2], y->d[2]}, {x->d[1], y->d[1]}, {x->d[0], y->d[0]}};
    for (int k = 0; k < 4; k++)
        if (of[k][0] != of[k][1])
            return of[k][0] < of[k][1] ? -1 : 1;
    return 0;
}

/* The nearest leaves of a leaf, itself the first. */
static size_t choose_steps(size_t wanted, step *list)
{
    size_t n = 0;
    for (int k = 0; k < 17 * 17 * 17; k++) {
        const int d[AXES] = {k % 17 - FARTHEST, k / 17 % 17 - FARTHEST, k / 289 - FARTHEST};
        list[n++] = (step){{d[0], d[1], d[2]}, d[0] * d[0] + d[1] * d[1] + d[2] * d[2]};
    }
    qsort(list, n, sizeof *list, nearest_first);
    return wanted < 1 ? 1 : wanted < n ? wanted : n;
}

static void fill_tasks(tasks_state *s, const step *list)
{
    const long long side = (long long)s->side;
    size_t t = 0;
    for (size_t k = 0; k < s->side * s->side * s->side; k++)
        for (size_t j = 0; j < s->around; j++) {
            const long long c[AXES] = {(long long)k % side, (long long)k / side % side, (long long)k / side / side};
            long long to[AXES];
            int which = 13;
            for (int a = 0, unit = 1; a < AXES; a++, unit *= 3) {
                const long long at = c[a] + list[j].d[a];
                to[a] = (at + side) % side;
                which += unit * (at < 0 ? -1 : at >= side);
            }
            s->task[t] = (gravel_task){(uint32_t)k, (uint32_t)(to[0] + side * (to[1] + side * to[2]))};
            /* number 13 of all is no shift; it changes places with number 0 */
            s->shift_of[t++] = (uint8_t)(which == 13 ? 0 : which == 0 ? 13 : which);
        }
    for (int which = 0; which < SHIFTS; which++) {
        const int at = which == 13 ? 0 : which == 0 ? 13 : which;
        const int over[AXES] = {which % 3 - 1, which / 3 % 3 - 1, which / 9 - 1};
        for (int a = 0; a < AXES; a++)
            s->shift[at][a] = over[a] * (double)side;
    }
}

/* Coordinates are float numbers, and so are their differences over a box: what is left are errors of the kernel. */
static void fill_bodies(tasks_state *s)
{
    const double exact = 1 << 17;
    uint64_t seed = 14;
    for (size_t k = 0; k < s->side * s->side * s->side; k++) {
        const size_t c[AXES] = {k % s->side, k / s->side % s->side, k / s->side / s->side};
        s->leaf[k] = (gravel_leaf){(uint32_t)(k * s->per_leaf), (uint32_t)s->per_leaf};
        for (size_t b = k * s->per_leaf; b < (k + 1) * s->per_leaf; b++) {
            for (int a = 0; a < AXES; a++)
                s->x[a][b] = (double)c[a] + rint(gv_uniform(&seed) * exact) / exact;
            s->m[b] = (0.5 + gv_uniform(&seed)) / (double)s->bodies;
        }
    }
}

static gravel_status make_grid(tasks_state *s, const gv_request *request, int is_cpu)
{
    const size_t per_leaf = request->task.sinks, most = is_cpu ? CPU_BODIES : GPU_BODIES;
    const size_t wanted = (request->task.sources + per_leaf / 2) / per_leaf;
    const size_t bodies = request->build_only ? 8 * per_leaf : most;
    step *list = malloc(17 * 17 * 17 * sizeof *list);
    if (!list)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a grid of leaves");
    forget(s);
    s->around = choose_steps(wanted, list);
    s->reach = fmax(0.5, 0.5 * (cbrt((double)s->around) - 1));
    s->side = (size_t)fmax(rint(cbrt((double)bodies / (double)per_leaf)), 1);
    for (size_t k = 0; k < s->around; k++) /* a border is crossed once at most */
        for (int a = 0; a < AXES; a++)
            s->side = (size_t)abs(list[k].d[a]) > s->side ? (size_t)abs(list[k].d[a]) : s->side;
    const size_t leaves = s->side * s->side * s->side, room = leaves * per_leaf + CANARIES;
    s->bodies = leaves * per_leaf;
    s->tasks = leaves * s->around;
    s->block = malloc(11 * room * sizeof *s->block);
    s->leaf = malloc(leaves * sizeof *s->leaf);
    s->task = malloc(s->tasks * sizeof *s->task);
    s->shift_of = malloc(s->tasks);
    gravel_status status = GRAVEL_OK;
    if (s->block && s->leaf && s->task && s->shift_of) {
        s->per_leaf = per_leaf;
        s->m = s->block;
        s->scaled = s->block + room;
        for (size_t a = 0; a < AXES; a++) {
            s->x[a] = s->block + (2 + a) * room;
            s->out[a] = s->block + (5 + a) * room;
            s->first[a] = s->block + (8 + a) * room;
        }
        fill_bodies(s);
        fill_tasks(s, list);
    } else {
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu leaves of %zu bodies", leaves, per_leaf);
    }
    free(list);
    return status;
}

/* --------------------------------------------------------------- reference */

static double of_force(double u, void *user)
{
    (void)user;
    return erfc(u) + 2 / sqrt(acos(-1.0)) * u * exp(-u * u);
}

static double of_potential(double u, void *user)
{
    (void)user;
    return erfc(u);
}

static double split_of(const tasks_state *s)
{
    return s->reach / 6;
}

static double softening_of(const tasks_state *s)
{
    return cbrt(1.0 / (double)s->per_leaf) / 30; /* of the mean distance of bodies, as boxes have it */
}

static gravel_status find_exact(tasks_state *s)
{
    const gv_ref_law law = {.kind = GV_REF_LAW_FACTORS,
                            .length = 2 * split_of(s),
                            .cut = s->reach / (2 * split_of(s)),
                            .force = of_force,
                            .potential = of_potential};
    const size_t leaves = s->bodies / s->per_leaf, room = s->around * s->per_leaf;
    double *x = malloc(4 * room * sizeof *x), zero = 0;
    if (!x)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu sources", room);
    s->samples = leaves < SAMPLES ? leaves : SAMPLES;
    for (size_t k = 0; k < s->samples; k++) {
        const size_t leaf = k * leaves / s->samples, at = leaf * s->per_leaf + k % s->per_leaf;
        size_t n = 0;
        for (size_t t = leaf * s->around; t < (leaf + 1) * s->around; t++)
            for (size_t p = 0; p < s->per_leaf; p++) {
                const size_t j = s->task[t].sources * s->per_leaf + p;
                if (j == at && s->shift_of[t] == 0)
                    continue;
                for (size_t a = 0; a < AXES; a++)
                    x[a * room + n] = s->x[a][j] + s->shift[s->shift_of[t]][a];
                x[3 * room + n++] = s->m[j];
            }
        const gv_ref_particles from = {.n = n, .m = x + 3 * room, .x = x, .y = x + room, .z = x + 2 * room};
        const gv_ref_particles to = {.n = 1, .m = &zero, .x = &s->x[0][at], .y = &s->x[1][at], .z = &s->x[2][at]};
        const gv_ref_forces out = {
            .ax = &s->exact[k][0], .ay = &s->exact[k][1], .az = &s->exact[k][2], .acc_scale = &s->scale[k]};
        s->sample[k] = at;
        gv_ref_by_law(&law, &to, &from, softening_of(s), &out);
    }
    free(x);
    return GRAVEL_OK;
}

/* ------------------------------------------------------------ verification */

/* Relative to the sum of what pairs contribute: ten roundings of float, a table of level 2 adds 6e-7; dp: 1e-11 of a
 * table of level 4. */
static double allowed(const gv_request *request)
{
    return request->task.variant.precision == GRAVEL_DP ? 2e-11 : 3e-6;
}

static int wrong(gv_outcome *outcome, double error, const char *why)
{
    outcome->status = GV_OUTCOME_WRONG;
    outcome->error = isfinite(error) ? error : 0;
    snprintf(outcome->reason, sizeof outcome->reason, "%s", why);
    return 0;
}

static gravel_status forces(trial *t)
{
    tasks_state *s = t->s;
    const gravel_forces out = {.acc = GRAVEL_VEC_OUT_SOA(s->out[0], s->out[1], s->out[2])};
    gravel_ticket *ticket;
    for (int a = 0; a < AXES; a++)
        for (size_t k = 0; k < s->bodies + CANARIES; k++)
            s->out[a][k] = k < s->bodies ? NAN : canary;
    t->call.into = GRAVEL_INTO_HOST;
    gravel_status status = gravel_tasks_start(t->tasks, &t->call, &ticket);
    if (!status) {
        status = gravel_ticket_collect(ticket, &out, NULL);
        gravel_ticket_release(ticket);
    }
    return status;
}

static int check_forces(trial *t, gv_outcome *outcome)
{
    const tasks_state *s = t->s;
    char text[128];
    for (int a = 0; a < AXES; a++)
        for (size_t k = 0; k < s->bodies + CANARIES; k++) {
            const double value = s->out[a][k];
            if (k >= s->bodies ? value != canary : !isfinite(value) || value == 0) {
                snprintf(text, sizeof text, "a result was not written, or something behind it (body %zu of %zu)", k,
                         s->bodies);
                return wrong(outcome, 0, text);
            }
        }
    t->error = 0;
    for (size_t k = 0; k < s->samples; k++) {
        double d2 = 0;
        for (int a = 0; a < AXES; a++)
            d2 += pow(s->out[a][s->sample[k]] / t->masses - s->exact[k][a], 2);
        t->error = fmax(t->error, sqrt(d2) / s->scale[k]);
        if (!(sqrt(d2) / s->scale[k] <= allowed(t->request))) {
            snprintf(text, sizeof text, "body %zu of %zu is off by %.3g", s->sample[k], s->bodies,
                     sqrt(d2) / s->scale[k]);
            return wrong(outcome, t->error, text);
        }
    }
    return 1;
}

static int verify(trial *t, int again, gv_outcome *outcome)
{
    const size_t bytes = t->s->bodies * sizeof(double);
    const gravel_status status = forces(t);
    if (status) {
        gv_outcome_of_status(status, outcome);
        return 0;
    }
    for (int a = 0; a < AXES; a++) {
        if (again && memcmp(t->s->first[a], t->s->out[a], bytes) != 0)
            return wrong(outcome, 0, "the same input gave other bits the second time");
        memcpy(t->s->first[a], t->s->out[a], bytes);
    }
    return again || check_forces(t, outcome);
}

/* ------------------------------------------------------------------ timing */

static gravel_status timed(void *user, double *device_s, double *call_s)
{
    trial *t = user;
    const double start = gv_now();
    gravel_ticket *ticket;
    t->call.into = GRAVEL_INTO_PLANES;
    gravel_status status = gravel_tasks_start(t->tasks, &t->call, &ticket);
    if (status)
        return status;
    status = gravel_ticket_wait(ticket);
    *call_s = gv_now() - start;
    gravel_ticket_release(ticket);
    return status ? status : gravel_tasks_get_kernel_time(t->tasks, device_s);
}

static void time_it(trial *t, gv_phase_fn phase, void *user, gv_outcome *outcome)
{
    gv_timing timing;
    double first_s = 0;
    if (gravel_tasks_get_kernel_time(t->tasks, &first_s) != GRAVEL_OK)
        first_s = 0;
    phase("time", user);
    if (!gv_outcome_time(&t->request->effort, first_s, timed, NULL, t, &timing, outcome))
        return;
    if (!timing.stopped && t->request->effort.most > 1) {
        phase("verify", user);
        if (!verify(t, 1, outcome))
            return;
    }
    gv_outcome_of_timing(&timing, t->error, outcome);
}

/* --------------------------------------------------------------- candidate */

static gravel_status write_bodies(trial *t, gravel_context *context)
{
    tasks_state *s = t->s;
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    const gravel_array at = GRAVEL_ARRAY_SOA(s->x[0], s->x[1], s->x[2]), m = GRAVEL_ARRAY(s->scaled);
    options.precision = t->request->task.variant.precision;
    for (size_t k = 0; k < s->bodies; k++)
        s->scaled[k] = s->m[k] * t->masses;
    gravel_status status = gravel_bodies_create(&t->bodies, context, &options);
    if (!status)
        status = gravel_bodies_write(t->bodies, GRAVEL_POSITION, 0, s->bodies, &at);
    if (!status)
        status = gravel_bodies_write(t->bodies, GRAVEL_MASS, 0, s->bodies, &m);
    t->call.bodies = t->bodies;
    t->call.eps = softening_of(s);
    t->call.r_s = split_of(s);
    t->call.r_cut = s->reach;
    t->call.potential = 0;
    return status;
}

static gravel_status make_tasks(trial *t, gravel_context *context)
{
    const tasks_state *s = t->s;
    gravel_tasks_options options = GRAVEL_TASKS_OPTIONS_INIT;
    gravel_task_list list = GRAVEL_TASK_LIST_INIT;
    options.precision = t->request->task.variant.precision;
    options.configuration = t->request->configuration;
    list.leaf = s->leaf, list.leaves = s->bodies / s->per_leaf;
    list.task = s->task, list.tasks = s->tasks;
    list.shift_of = s->shift_of, list.shift = s->shift, list.shifts = SHIFTS;
    gravel_status status = gravel_context_set_timing(context, 0, 1);
    if (!status)
        status = gravel_tasks_create(&t->tasks, context, &options);
    return status ? status : gravel_tasks_write(t->tasks, &list);
}

/* Another question, or nothing yet. */
static gravel_status take_question(trial *t, int is_cpu)
{
    tasks_state *s = t->s;
    const size_t wanted = (t->request->task.sources + t->request->task.sinks / 2) / t->request->task.sinks;
    const int is_same = s->per_leaf == t->request->task.sinks && s->around == (wanted > 0 ? wanted : 1);
    if (is_same && (s->samples > 0 || t->request->build_only))
        return GRAVEL_OK;
    const gravel_status status = make_grid(s, t->request, is_cpu);
    return status || t->request->build_only ? status : find_exact(s);
}

static void tasks_evaluate(void *state, gravel_context *context, const gv_request *request, gv_phase_fn phase,
                           void *user, gv_outcome *outcome)
{
    uint64_t seed = request->seed;
    trial t = {.s = state, .request = request, .call = GRAVEL_TASKS_CALL_INIT, .masses = 0.5 + 1.5 * gv_uniform(&seed)};
    memset(outcome, 0, sizeof *outcome);
    phase("build", user);
    gravel_status status = take_question(&t, context->device[0].info.type == GRAVEL_DEVICE_CPU);
    if (!status)
        status = write_bodies(&t, context);
    if (!status)
        status = make_tasks(&t, context);
    if (!status && request->build_only) {
        status = forces(&t); /* the kernel of a call is known with the call only */
    } else if (!status) {
        phase("verify", user);
        if (verify(&t, 0, outcome))
            time_it(&t, phase, user, outcome);
    }
    if (status) {
        gv_outcome_of_status(status, outcome);
        outcome->status = status == GRAVEL_ERR_UNSUPPORTED ? GV_OUTCOME_CONSTRAINT : outcome->status;
    }
    gravel_tasks_release(t.tasks);
    gravel_bodies_release(t.bodies);
}

const gv_subject gv_subject_tasks = {&gv_tasks_space, GV_QUESTIONS_LEAVES, 0, GV_NEAR_EQUAL, 1, tasks_open,
                                     tasks_close,     tasks_evaluate};
