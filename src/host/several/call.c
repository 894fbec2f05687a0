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
#include "host/direct/points.h"
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
    if ((c->shape != GRAVEL_SHAPE_PLUMMER || c->quadrupoles) && c->order != 2)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "shapes and quadrupoles are for order 2, not %d", c->order);
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
    if (!status && a->call.shape == GRAVEL_SHAPE_TABLE && !s->has_table)
        status = gv_fail(GRAVEL_ERR_STATE, "there is no table: gravel_several_set_table comes before "
                                           "GRAVEL_SHAPE_TABLE");
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

static void set_call(const gravel_several_call *from, gravel_direct_call *to)
{
    to->order = from->order;
    to->eps = from->eps;
    to->soften = from->soften;
    to->nearest = !!from->nearest;
    to->neighbour_capacity = from->neighbour_capacity;
    to->rule = from->rule;
    to->ahead = from->ahead;
    to->leave_out = from->leave_out;
    to->shape = from->shape;
    to->r_s = from->r_s;
    to->r_cut = from->r_cut;
    to->level = from->level;
    to->quadrupoles = from->quadrupoles;
    to->points_eps = from->sink_eps;
}

/* `packed`: the sinks, by the member that is started first. */
static gravel_status start_member(gravel_several *s, const gv_team *t, int member, gv_direct_packed *packed)
{
    const gv_asked *a = &s->asked;
    gv_member *m = gv_team_member(s, t, member);
    gravel_bodies *bodies = t->bodies[member];
    gv_few *few = t->few[member];
    const size_t count = gv_team_count(t, member, a->sources);
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gravel_status status = GRAVEL_OK;
    if (count == 0)
        return GRAVEL_OK;
    if (GV_SOFTEN_OF_SOURCES((int)a->call.soften) && !gravel_bodies_has_plane(bodies, GRAVEL_SOFTENING))
        status = gravel_bodies_fill(bodies, GRAVEL_SOFTENING, 0);
    if (status)
        return status;
    set_call(&a->call, &call);
    call.sources = gravel_view_range(bodies, 0, count);
    call.points = &a->sinks;
    call.predict = a->predict;
    call.time = a->time;
    if (few && few->changes.count > 0)
        call.changes = &few->changes;
    status = gv_direct_start_packed(m->direct, &call, packed, &m->ticket);
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
    set_call(asked, &call);
    call.points = &points;
    call.predict = s->time_is_set;
    call.time = s->time;
    call.ahead = asked->ahead ? &none : NULL;
    call.points_eps = &none;
    call.quadrupoles = 0; /* there are none yet: their kernel compiles when it is used first */
    call.changes = &some;
    if (GV_SOFTEN_OF_SOURCES((int)asked->soften)) /* likewise */
        call.soften = GRAVEL_SOFTEN_EPS;
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
    gv_direct_packed *packed;
    pthread_t thread;
    int is_thread;
    gravel_status status;
    char message[1024];
} starting;

static void *start_thread(void *user)
{
    starting *x = user;
    gv_direct_packed packed = *x->packed; /* another thread may have to pack anew */
    x->status = start_member(x->s, x->s->asked.team, x->member, &packed);
    if (x->status) /* messages belong to threads */
        snprintf(x->message, sizeof x->message, "%s", gravel_error_message());
    return NULL;
}

/* Many sinks take a while on their way to each device: all at once, after the first has packed them. */
static gravel_status start_together(gravel_several *s)
{
    const int n = s->asked.team->members;
    gv_direct_packed packed = {.host = NULL};
    starting x[GV_MOST_MEMBERS] = {{.s = s}};
    gravel_status status = start_member(s, s->asked.team, 0, &packed);
    for (int m = 1; m < n && !status; m++) {
        x[m] = (starting){.s = s, .member = m, .packed = &packed};
        x[m].is_thread = pthread_create(&x[m].thread, NULL, start_thread, &x[m]) == 0;
        if (!x[m].is_thread)
            start_thread(&x[m]);
    }
    for (int m = 1; m < n; m++)
        if (x[m].is_thread)
            pthread_join(x[m].thread, NULL);
    for (int m = 1; m < n && !status; m++)
        if (x[m].status)
            status = gv_fail(x[m].status, "%s", x[m].message);
    return status;
}

gravel_status gv_call_start(gravel_several *s)
{
    enum { MANY = 16384 };
    const gv_asked *a = &s->asked;
    const gv_team *t = a->team;
    const int together = t && t->members > 1 && a->sinks.count >= MANY;
    gv_direct_packed packed = {.host = NULL};
    gravel_status status = a->by_host ? gv_mirror_answer(s) : together ? start_together(s) : GRAVEL_OK;
    for (int m = 0; t && !together && m < t->members && !status; m++)
        status = start_member(s, t, m, &packed);
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
