/* A call started on all devices of a team. */
#include "host/bodies/ticket.h"
#include "host/bodies/transfer.h"
#include "host/direct/plan.h"
#include "host/direct/points.h"
#include "host/several/object.h"

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

/* Sinks of a piece: those from `first` on. */
static gravel_vec vec_from(gravel_vec v, size_t first)
{
    return (gravel_vec){v.x ? v.x + first : NULL, v.y ? v.y + first : NULL, v.z ? v.z + first : NULL, 1};
}

static gravel_sinks sinks_of(const gv_asked *a, int piece)
{
    const gravel_sinks *all = &a->sinks;
    const size_t first = a->edge[piece];
    return (gravel_sinks){.count = a->edge[piece + 1] - first,
                          .id = all->id ? all->id + first : NULL,
                          .pos = vec_from(all->pos, first),
                          .vel = vec_from(all->vel, first),
                          .acc = vec_from(all->acc, first),
                          .radius = all->radius ? all->radius + first : NULL};
}

/* `packed`: the sinks, by the member that is started first. */
static gravel_status start_member(gravel_several *s, const gv_team *t, int member, int piece, gv_direct_packed *packed)
{
    const gv_asked *a = &s->asked;
    gv_member *m = gv_team_member(s, t, member);
    gravel_bodies *bodies = t->bodies[member];
    gv_few *few = t->few[member];
    const size_t count = gv_team_count(t, member, a->sources), first = a->edge[piece];
    const gravel_sinks sinks = sinks_of(a, piece);
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
    call.points = &sinks;
    call.points_eps = call.points_eps ? call.points_eps + first : NULL;
    call.ahead = call.ahead ? call.ahead + first : NULL;
    call.predict = a->predict;
    call.time = a->time;
    if (few && few->changes.count > 0)
        call.changes = &few->changes;
    status = gv_direct_start_packed(m->direct, &call, packed, &m->ticket[piece]);
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

/* A piece's start on all devices but the first. */
typedef struct starting {
    gravel_several *s;
    int piece;
    const gv_direct_packed *packed;
} starting;

static gravel_status start_other(void *user, int m)
{
    const starting *x = user;
    gv_direct_packed packed = *x->packed; /* another device may have to pack anew */
    return start_member(x->s, x->s->asked.team, m + 1, x->piece, &packed);
}

/* Few pieces, since a device idles at the end of each; small ones at both ends, since others wait while the first is
 * packed, and the last added up.  Those in between have some milliseconds of work. */
static void choose_pieces(const gravel_several *s, gv_asked *a)
{
    enum { LEAST_SINKS = 65536, WHOLE = 1024 };
    static const double part[GV_MOST_PIECES + 1] = {0, 1.0 / 16, 1.0 / 2, 15.0 / 16, 1};
    const size_t n = a->sinks.count;
    const double pairs = a->team ? (double)n * (double)a->sources / a->team->members : 0;
    const int large = n >= LEAST_SINKS && pairs > 0x1p31;
    a->pieces = !a->team ? 0 : s->cut ? s->cut : large ? GV_MOST_PIECES : 1;
    for (int p = 0; p <= a->pieces; p++)
        a->edge[p] = s->cut || !large ? n * (size_t)p / (size_t)(a->pieces ? a->pieces : 1)
                                      : (size_t)(part[p] * (double)n) / WHOLE * WHOLE;
    a->edge[a->pieces] = n;
}

static gravel_status start_piece(gravel_several *s, int piece)
{
    enum { MANY = 2048 };
    const gv_asked *a = &s->asked;
    const int together = a->team->members > 1 && a->edge[piece + 1] - a->edge[piece] >= MANY;
    gv_direct_packed packed = {.host = NULL, .first = a->edge[piece]};
    starting others = {s, piece, &packed};
    gravel_status status = GRAVEL_OK;
    for (int m = 0; m < (together ? 1 : a->team->members) && !status; m++)
        status = start_member(s, a->team, m, piece, &packed);
    /* many sinks take a while on their way to each device: all at once, after the first has packed them */
    return status || !together ? status : gv_together(s->context[0], a->team->members - 1, start_other, &others);
}

/* Many sinks go in pieces: sinks are packed, and results added up, while the devices work on others. */
gravel_status gv_call_start(gravel_several *s)
{
    gv_asked *a = &s->asked;
    gravel_status status = a->by_host ? gv_mirror_answer(s) : GRAVEL_OK;
    choose_pieces(s, a);
    for (int p = 0; p < a->pieces && !status; p++)
        status = a->edge[p + 1] > a->edge[p] ? start_piece(s, p) : GRAVEL_OK;
    if (status && a->team)
        a->team->is_stale = 1; /* changes of members that were not started are lost */
    if (status)
        gv_call_drop(s);
    else
        a->is_valid = 1;
    return status;
}

/* A device that failed may not have got what the call began with; of a call that nobody collected it shows here. */
void gv_call_drop(gravel_several *s)
{
    gv_asked *a = &s->asked;
    for (int m = 0; m < s->members; m++)
        for (int p = 0; p < GV_MOST_PIECES; p++) {
            gravel_ticket *ticket = s->member[m].ticket[p];
            if (a->is_valid && ticket && !ticket->collected && gravel_ticket_wait(ticket))
                a->team->is_stale = 1;
            gravel_ticket_release(ticket);
            s->member[m].ticket[p] = NULL;
        }
    a->is_valid = 0;
}
