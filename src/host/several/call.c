/* A call: sinks copied, started on all devices of a team. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/options.h"
#include "host/base/threads.h"
#include "host/bodies/transfer.h"
#include "host/direct/plan.h"
#include "host/several/object.h"

enum { SINK_COLUMNS = 10, GRAIN = 8192 };

/* ------------------------------------------------------------------------- the sinks */

typedef struct copying {
    const gravel_sinks *from;
    gv_asked *to;
} copying;

static void copy_column(const double *from, size_t stride, double *to, size_t first, size_t count)
{
    const size_t step = stride ? stride : 1;
    for (size_t k = first; from && k < first + count; k++)
        to[k] = from[k * step];
}

static void copy_sinks(void *user, size_t first, size_t count)
{
    const copying *c = user;
    const gravel_vec vec[3] = {c->from->pos, c->from->vel, c->from->acc};
    const size_t n = c->from->count;
    double *const block = c->to->block;
    for (int v = 0; v < 3; v++) {
        copy_column(vec[v].x, vec[v].stride, block + (size_t)(3 * v) * n, first, count);
        copy_column(vec[v].y, vec[v].stride, block + (size_t)(3 * v + 1) * n, first, count);
        copy_column(vec[v].z, vec[v].stride, block + (size_t)(3 * v + 2) * n, first, count);
    }
    copy_column(c->from->radius, 1, block + 9 * n, first, count);
    copy_column(c->to->call.sink_eps, 1, block + SINK_COLUMNS * n, first, count);
    copy_column(c->to->call.ahead, 1, block + (SINK_COLUMNS + 1) * n, first, count);
    const size_t stride = c->from->id_stride ? c->from->id_stride : 1;
    for (size_t k = first; c->from->id && k < first + count; k++)
        c->to->ids[k] = c->from->id[k * stride];
}

/* The vector in the block, without the components that were not given. */
static gravel_vec vec_in(const double *block, size_t n, gravel_vec given)
{
    return (gravel_vec){given.x ? block : NULL, given.y ? block + n : NULL, given.z ? block + 2 * n : NULL, 1};
}

static gravel_status need_room(gv_asked *a, size_t n)
{
    const size_t block = n * (SINK_COLUMNS + 2);
    if (a->block_size < block || !a->block) {
        free(a->block);
        a->block_size = block + block / 4 + 16;
        a->block = malloc(a->block_size * sizeof *a->block);
    }
    if (a->ids_size < n || !a->ids) {
        free(a->ids);
        a->ids_size = n + n / 4 + 16;
        a->ids = malloc(a->ids_size * sizeof *a->ids);
    }
    if (a->block && a->ids)
        return GRAVEL_OK;
    a->block_size = a->ids_size = 0;
    return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu sinks", n);
}

static gravel_status check_call(const gravel_several_call *c)
{
    const gravel_sinks *s = c->sinks;
    if (c->order != 2 && c->order != 4 && c->order != 6)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "order is %d; it must be 2, 4 or 6", c->order);
    if (c->neighbour_capacity < 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "neighbour capacity is negative");
    if ((unsigned)c->soften > GRAVEL_SOFTEN_MAX)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there is no softening of kind %d", (int)c->soften);
    if (c->soften == GRAVEL_SOFTEN_EPS && !(c->eps >= 0 && isfinite(c->eps)))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the softening length is %g; it must be zero or positive", c->eps);
    if (!s)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there are no sinks");
    if (s->count > 0 && (!s->pos.x || !s->pos.y || !s->pos.z))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "sinks need positions");
    if (s->count > 0 && GV_SOFTEN_OF_SINKS((int)c->soften) && !c->sink_eps)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "this kind of softening needs sink_eps");
    if (s->count > UINT32_MAX / 4)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%zu sinks in one call; at most %u", s->count, UINT32_MAX / 4);
    return GRAVEL_OK;
}

static gravel_status check_column(const double *column, size_t n, const char *what)
{
    int bad = 0;
    for (size_t k = 0; column && k < n; k++)
        bad |= !isfinite(column[k]);
    for (size_t k = 0; bad && k < n; k++)
        if (!isfinite(column[k]))
            return gv_fail(GRAVEL_ERR_INPUT, "sink %zu: %s is %s", k, what,
                           isnan(column[k]) ? "not a number" : "infinite");
    return GRAVEL_OK;
}

/* What the call looks at. */
static gravel_status check_sinks(const gv_asked *a)
{
    static const char *const name[3] = {"position", "velocity", "acceleration"};
    const gravel_vec vec[3] = {a->sinks.pos, a->sinks.vel, a->sinks.acc};
    const size_t n = a->sinks.count;
    gravel_status status = GRAVEL_OK;
    for (int v = 0; v < a->call.order / 2 && !status; v++) {
        status = check_column(vec[v].x, n, name[v]);
        if (!status)
            status = check_column(vec[v].y, n, name[v]);
        if (!status)
            status = check_column(vec[v].z, n, name[v]);
    }
    for (size_t k = 0; a->call.neighbour_capacity > 0 && a->sinks.radius && k < n && !status; k++)
        if (isnan(a->sinks.radius[k]))
            status = gv_fail(GRAVEL_ERR_INPUT, "sink %zu: radius is not a number", k);
    if (status || !GV_SOFTEN_OF_SINKS((int)a->call.soften))
        return status;
    for (size_t k = 0; k < n; k++)
        if (!(a->sink_eps[k] >= 0 && isfinite(a->sink_eps[k])))
            return gv_fail(GRAVEL_ERR_INPUT, "sink %zu: softening length is %g", k, a->sink_eps[k]);
    return GRAVEL_OK;
}

gravel_status gv_asked_take(gravel_several *s, const gravel_several_call *call)
{
    gv_asked *a = &s->asked;
    a->is_valid = 0;
    gravel_several_call_init(&a->call);
    gravel_status status = gv_options_take(&a->call, sizeof a->call, call, "gravel_several_call");
    if (!status)
        status = check_call(&a->call);
    const size_t n = status ? 0 : a->call.sinks->count;
    if (!status)
        status = need_room(a, n);
    if (status)
        return status;
    copying c = {a->call.sinks, a};
    gv_parallel(n > GRAIN ? gv_context_pool(s->context[0]) : NULL, n, GRAIN, copy_sinks, &c);
    a->sinks = (gravel_sinks){.count = n,
                              .id = c.from->id ? a->ids : NULL,
                              .pos = vec_in(a->block, n, c.from->pos),
                              .vel = vec_in(a->block + 3 * n, n, c.from->vel),
                              .acc = vec_in(a->block + 6 * n, n, c.from->acc),
                              .radius = c.from->radius ? a->block + 9 * n : NULL};
    a->sink_eps = a->call.sink_eps ? a->block + SINK_COLUMNS * n : NULL;
    a->call.sinks = &a->sinks;
    a->call.sink_eps = a->sink_eps;
    a->call.ahead = a->call.ahead ? a->block + (SINK_COLUMNS + 1) * n : NULL;
    return check_sinks(a);
}

gravel_status gv_asked_check(const gv_asked *a)
{
    gravel_status status = check_call(&a->call);
    return status ? status : check_sinks(a);
}

/* ------------------------------------------------------------------------- starting */

/* Sinks with softening lengths are bodies: points have none. */
static gravel_status send_sinks(gravel_several *s, gv_member *m)
{
    enum { MOST = 7 };
    const gv_asked *a = &s->asked;
    const size_t n = a->sinks.count;
    const gravel_vec vec[3] = {a->sinks.pos, a->sinks.vel, a->sinks.acc};
    static const gravel_plane vector[3] = {GRAVEL_POSITION, GRAVEL_VELOCITY, GRAVEL_ACCELERATION};
    gravel_plane plane[MOST] = {GRAVEL_SOFTENING, GRAVEL_ID, GRAVEL_RADIUS, GRAVEL_TIME};
    double *scratch;
    gravel_status status = gv_several_scratch(s, 3 * n, &scratch);
    if (status)
        return status;
    double *const radius = scratch, *const time = scratch + n, *const zero = scratch + 2 * n;
    int32_t *id = a->ids;
    for (size_t k = 0; k < n; k++) {
        const double most = 1e18 * s->frame.length;
        radius[k] = a->sinks.radius ? fmin(fmax(a->sinks.radius[k], -most), most) : -1;
        time[k] = a->time; /* they are predicted already */
        zero[k] = 0;
        if (!a->sinks.id)
            id[k] = -1;
    }
    gravel_array array[MOST] = {{a->sink_eps, NULL, NULL, 1, GRAVEL_F64},
                                {id, NULL, NULL, 1, GRAVEL_I32},
                                {radius, NULL, NULL, 1, GRAVEL_F64},
                                {time, NULL, NULL, 1, GRAVEL_F64}};
    int planes = 4;
    for (int v = 0; v < a->call.order / 2; v++) {
        plane[planes] = vector[v];
        array[planes++] = (gravel_array){vec[v].x ? vec[v].x : zero, vec[v].y ? vec[v].y : zero,
                                         vec[v].z ? vec[v].z : zero, 1, GRAVEL_F64};
    }
    if (!m->sinks) {
        gravel_bodies_options o = GRAVEL_BODIES_OPTIONS_INIT;
        o.precision = s->options.precision == GRAVEL_DP ? GRAVEL_DP : GRAVEL_DS;
        o.device = m->device;
        status = gravel_bodies_create(&m->sinks, m->context, &o);
        if (!status)
            status = gravel_bodies_set_frame(m->sinks, &s->frame);
    }
    if (!status)
        status = gravel_bodies_resize(m->sinks, n);
    return status ? status : gravel_bodies_update(m->sinks, NULL, 0, n, planes, plane, array);
}

static gravel_status start_member(gravel_several *s, const gv_team *t, int member)
{
    const gv_asked *a = &s->asked;
    gv_member *m = gv_team_member(s, t, member);
    gravel_bodies *bodies = t->bodies[member];
    gv_few *few = t->few[member];
    const size_t count = gv_team_count(t, member, a->sources);
    const int as_bodies = GV_SOFTEN_OF_SINKS((int)a->call.soften);
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gravel_status status = GRAVEL_OK;
    if (count == 0)
        return GRAVEL_OK;
    if (GV_SOFTEN_OF_SOURCES((int)a->call.soften) && !gravel_bodies_has_plane(bodies, GRAVEL_SOFTENING))
        status = gravel_bodies_fill(bodies, GRAVEL_SOFTENING, 0);
    if (!status && as_bodies)
        status = send_sinks(s, m);
    if (status)
        return status;
    call.sources = gravel_view_range(bodies, 0, count);
    if (as_bodies)
        call.sinks = gravel_view_all(m->sinks);
    else
        call.points = &a->sinks;
    call.order = a->call.order;
    call.eps = a->call.eps;
    call.soften = a->call.soften;
    call.predict = a->predict;
    call.time = a->time;
    call.nearest = !!a->call.nearest;
    call.neighbour_capacity = a->call.neighbour_capacity;
    call.rule = a->call.rule;
    call.ahead = a->call.ahead;
    call.leave_out = a->call.leave_out;
    if (few && few->changes.count > 0)
        call.changes = &few->changes;
    status = gravel_direct_start(m->direct, &call, &m->ticket);
    if (few)
        few->changes.count = 0;
    return status;
}

gravel_status gv_team_prepare(gravel_several *s, gv_team *t, const gravel_several_call *asked, size_t sinks,
                              size_t sources)
{
    const double none = 0;
    const gravel_sinks points = {.count = 1, .pos = {&none, &none, &none, 1}};
    const gravel_changes some = {.count = 0};
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gravel_status status = GRAVEL_OK;
    call.points = &points;
    call.order = asked->order;
    call.eps = asked->eps;
    call.predict = s->time_is_set;
    call.time = s->time;
    call.nearest = !!asked->nearest;
    call.neighbour_capacity = asked->neighbour_capacity;
    call.rule = asked->rule;
    call.ahead = asked->ahead ? &none : NULL;
    call.leave_out = asked->leave_out;
    call.changes = &some;
    /* kinds of softening per body compile when they are used first: their sinks are bodies, which points are not */
    for (int m = 0; m < t->members && !status; m++) {
        const size_t count = gv_team_count(t, m, sources);
        if (count == 0)
            continue;
        status = gv_team_need_bodies(s, t, m);
        if (!status)
            status = gv_bodies_reserve(t->bodies[m], count);
        call.sources = gravel_view_range(t->bodies[m], 0, 0);
        if (!status)
            status = gravel_direct_prepare(gv_team_member(s, t, m)->direct, &call, sinks, count);
    }
    return status;
}

/* One member's start, by a thread of its own. */
typedef struct starting {
    gravel_several *s;
    int member;
    pthread_t thread;
    int is_thread;
    gravel_status status;
    char message[1024];
} starting;

static void *start_thread(void *user)
{
    starting *x = user;
    x->status = start_member(x->s, x->s->asked.team, x->member);
    if (x->status) /* messages belong to threads */
        snprintf(x->message, sizeof x->message, "%s", gravel_error_message());
    return NULL;
}

/* Many sinks take a while to be packed for each device: all at once. */
static gravel_status start_together(gravel_several *s)
{
    const int n = s->asked.team->members;
    starting x[GV_MOST_MEMBERS] = {{.s = s}};
    gravel_status status = GRAVEL_OK;
    for (int m = 0; m < n; m++) {
        x[m] = (starting){.s = s, .member = m};
        x[m].is_thread = m > 0 && pthread_create(&x[m].thread, NULL, start_thread, &x[m]) == 0;
    }
    for (int m = 0; m < n; m++)
        if (!x[m].is_thread)
            start_thread(&x[m]);
    for (int m = 0; m < n; m++)
        if (x[m].is_thread)
            pthread_join(x[m].thread, NULL);
    for (int m = 0; m < n && !status; m++)
        if (x[m].status)
            status = gv_fail(x[m].status, "%s", x[m].message);
    return status;
}

gravel_status gv_call_start(gravel_several *s)
{
    enum { MANY = 16384 };
    const gv_asked *a = &s->asked;
    const gv_team *t = a->team;
    /* sinks that are bodies pass through memory that members share */
    const int together = t && t->members > 1 && a->sinks.count >= MANY && !GV_SOFTEN_OF_SINKS((int)a->call.soften);
    gravel_status status = a->by_host ? gv_mirror_answer(s) : together ? start_together(s) : GRAVEL_OK;
    for (int m = 0; t && !together && m < t->members && !status; m++)
        status = start_member(s, t, m);
    if (status && t)
        s->asked.team->is_stale = 1; /* changes of members that were not started are lost */
    if (status)
        gv_call_drop(s);
    else
        s->asked.is_valid = 1;
    return status;
}

void gv_call_drop(gravel_several *s)
{
    for (int m = 0; m < s->members; m++) {
        gravel_ticket_release(s->member[m].ticket);
        s->member[m].ticket = NULL;
    }
    s->asked.is_valid = 0;
}
