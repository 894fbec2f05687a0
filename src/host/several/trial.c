/* Who works on a block: times of blocks, by trial, with bodies and solvers beside the integrator's, so that the
 * configurations which these get do not depend on trials.  A round is what a block is: its bodies have moved since the
 * one before, sinks, forces. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/direct/object.h"
#include "host/several/share.h"

typedef struct trial {
    gravel_several several; /* the caller's devices and teams, other solvers */
    gravel_several_share share;
    gravel_bodies *bodies, *active;
    size_t sources, sinks; /* of the largest call */
    double *number;
    int order; /* of the round that is timed, and its sinks */
    size_t block;
} trial;

/* ------------------------------------------------------------------ bodies */

static void close_trial(trial *t)
{
    gv_share_drop(&t->share);
    for (int m = 0; m < t->several.members; m++)
        gravel_direct_release(t->several.member[m].direct);
    gravel_bodies_release(t->bodies);
    gravel_bodies_release(t->active);
    free(t->number);
    free(t);
}

static gravel_status make_bodies(const trial *t, size_t n, gravel_bodies **made)
{
    static const gravel_plane vector[] = {GRAVEL_POSITION, GRAVEL_VELOCITY, GRAVEL_ACCELERATION,
                                          GRAVEL_JERK,     GRAVEL_SNAP,     GRAVEL_CRACKLE};
    gravel_bodies_options o = GRAVEL_BODIES_OPTIONS_INIT;
    const double *x = t->number;
    const gravel_array v = GRAVEL_ARRAY_SOA(x, x + n, x + 2 * n);
    o.precision = t->several.options.precision == GRAVEL_DP ? GRAVEL_DP : GRAVEL_DS;
    gravel_status status = gravel_bodies_create(made, t->several.member[0].context, &o);
    for (size_t k = 0; k < sizeof vector / sizeof vector[0] && !status; k++)
        status = gravel_bodies_write(*made, vector[k], 0, n, &v);
    if (!status)
        status = gravel_bodies_write(*made, GRAVEL_MASS, 0, n, &GRAVEL_ARRAY(x));
    return status ? status : gravel_bodies_fill(*made, GRAVEL_TIME, 0);
}

static gravel_status open_trial(const gravel_several_share *s, size_t sources, size_t sinks, trial **out)
{
    uint64_t state = 1;
    trial *t = calloc(1, sizeof *t);
    *out = t;
    if (!t)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory to measure devices");
    t->several = *s->several;
    t->share.several = &t->several;
    t->share.precision = -1;
    memcpy(t->share.worker, s->worker, sizeof t->share.worker);
    t->sources = sources;
    t->sinks = sinks;
    t->number = malloc(3 * t->sources * sizeof *t->number);
    gravel_direct *solver[GV_MOST_MEMBERS];
    gravel_status status = gv_members_make_solvers(s->several, solver);
    gv_members_swap_solvers(&t->several, solver); /* `solver` has the caller's now */
    if (!t->number)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no host memory to measure devices");
    for (size_t k = 0; !status && k < 3 * t->sources; k++)
        t->number[k] = gv_random_number(&state);
    if (!status)
        status = make_bodies(t, t->sources, &t->bodies);
    return status ? status : make_bodies(t, t->sinks, &t->active);
}

/* ------------------------------------------------------------------ rounds */

static gravel_status one_round(void *user, int turn)
{
    trial *t = user;
    const int order = t->order;
    const size_t sinks = t->block;
    const double time = ldexp(turn + 1, -10), before = ldexp(turn, -10);
    const size_t n = gravel_bodies_get_count(t->bodies), moved = sinks < n ? sinks : n;
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gravel_status status = GRAVEL_OK;
    for (size_t k = 0; k < moved; k++)
        t->number[k] = before;
    if (order > 2)
        status = gravel_bodies_write(t->bodies, GRAVEL_TIME, 0, moved, &GRAVEL_ARRAY(t->number));
    call.sources = gravel_view_all(t->bodies);
    call.sinks = gravel_view_range(order > 2 ? t->active : t->bodies, 0, order > 2 ? sinks : moved);
    call.order = order;
    call.eps = 1e-2;
    call.predict = order > 2;
    call.time = time;
    call.nearest = call.neighbour_capacity = 0;
    call.into = GRAVEL_INTO_PLANES;
    if (!status)
        status = gravel_several_share_forces(t->several.member[0].direct, &call, &t->share);
    if (!status && clFinish(gv_worker_queue(&t->share.worker[0])))
        status = gv_fail_cl(CL_INVALID_COMMAND_QUEUE, "waiting for forces");
    return status;
}

static gravel_status time_block(trial *t, int order, size_t sinks, size_t sources, double *seconds)
{
    gravel_status status = gravel_bodies_resize(t->bodies, sources);
    t->order = order;
    t->block = sinks;
    return status ? status : gv_measure_rounds(one_round, t, seconds);
}

static gravel_status measure(const void *user, int order, gv_costs *costs)
{
    const gravel_several_share *s = user;
    gv_cost largest;
    trial *t;
    gv_cost_knots(gv_several_has_gpu(s->several), &largest);
    gravel_status status =
        open_trial(s, (size_t)largest.sources[GV_KNOTS - 1], (size_t)largest.sinks[GV_LINES - 1], &t);
    for (int k = 0; k < s->several->teams && !status; k++) {
        gv_cost *c = &costs->team[k];
        gv_cost_knots(gv_several_has_gpu(s->several), c);
        t->several.forced = k;
        /* the largest first: fewer bodies then need no more room */
        for (int i = GV_LINES * GV_KNOTS - 1; i >= 0 && !status; i--)
            status = time_block(t, order, (size_t)c->sinks[i / GV_KNOTS], (size_t)c->sources[i % GV_KNOTS],
                                &c->seconds[i / GV_KNOTS][i % GV_KNOTS]);
        gv_cost_straighten(c);
    }
    costs->host = costs->team[0];
    if (t)
        close_trial(t);
    return status;
}

/* ---------------------------------------------------------------- decision */

/* Teams of devices that differ are made by trial, too. */
static gravel_status need_teams(gravel_several_share *s)
{
    gravel_several *several = s->several;
    gravel_direct *solver[GV_MOST_MEMBERS];
    int known = 1;
    for (int k = 0; k < several->teams; k++)
        known &= several->team[k] != NULL;
    if (known)
        return GRAVEL_OK;
    gravel_status status = gv_members_make_solvers(several, solver);
    gv_members_swap_solvers(several, solver);
    for (int k = 0; k < several->teams && !status; k++)
        status = gv_model_need_team(several, k);
    gv_members_swap_solvers(several, solver);
    for (int m = 0; m < several->members; m++)
        gravel_direct_release(solver[m]);
    return status;
}

gravel_status gv_share_choose(gravel_several_share *s, int order, size_t sinks, size_t sources, int *team)
{
    gravel_several *several = s->several;
    gv_costs *c = &several->steps[order / 2 - 1];
    *team = several->forced >= 0 ? several->forced : several->teams - 1;
    gravel_status status = need_teams(s);
    if (status || several->forced >= 0 || several->options.all_devices)
        return status;
    if (!c->failed && gv_model_need(several, c, order, measure, s)) {
        /* the call itself may need less than the trial did */
        gv_log(several->context[0], GRAVEL_LOG_WARNING,
               "all devices work on each block, since blocks could not be timed: %s", gravel_error_message());
        c->failed = 1;
    }
    if (!c->failed)
        *team = gv_model_least(several, c, sinks, sources).team;
    return GRAVEL_OK;
}

gravel_several *gv_share_get_several(gravel_several_share *s)
{
    return s->several;
}

gravel_status gv_share_time_block(gravel_several_share *s, int order, size_t sinks, size_t sources, double *seconds,
                                  int *chosen)
{
    trial *t = NULL;
    gravel_status status = gv_share_choose(s, order, sinks, sources, chosen);
    if (!status)
        status = open_trial(s, sources, sinks, &t);
    for (int k = 0; k < s->several->teams && !status; k++) {
        t->several.forced = k;
        status = time_block(t, order, sinks, sources, &seconds[k]);
    }
    if (t)
        close_trial(t);
    return status;
}
