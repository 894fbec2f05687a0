/* Sources dealt out to some of the devices, and sent there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/threads.h"
#include "host/bodies/transfer.h"
#include "host/several/object.h"

/* ------------------------------------------------------------------------- the deal */

static double of(const gv_team *t, int m, const double *speed)
{
    return speed ? speed[t->index[m]] : 1;
}

/* Of every 64 addresses each device gets a number that goes with its speed (none, where it is very slow).  They are
 * spread over the period, so that any range of addresses is dealt out about as well. */
static void deal(gv_team *t, const double *speed)
{
    double sum = 0, owed[GV_MOST_MEMBERS] = {0};
    for (int m = 0; m < t->members; m++)
        sum += of(t, m, speed);
    for (int a = 0; a < GV_DEAL_PERIOD; a++) {
        int next = 0;
        for (int m = 0; m < t->members; m++)
            owed[m] += of(t, m, speed) / sum;
        for (int m = 1; m < t->members; m++)
            next = owed[m] > owed[next] ? m : next;
        owed[next] -= 1;
        t->owner[a] = (uint8_t)next;
        t->place[a] = (uint8_t)t->width[next];
        t->back[next][t->width[next]++] = (uint8_t)a;
    }
}

gv_member *gv_team_member(gravel_several *s, const gv_team *t, int member)
{
    return &s->member[t->index[member]];
}

size_t gv_team_count(const gv_team *t, int member, size_t count)
{
    size_t n = count / GV_DEAL_PERIOD * t->width[member];
    for (size_t a = 0; a < count % GV_DEAL_PERIOD; a++)
        n += t->owner[a] == member;
    return n;
}

uint32_t gv_team_address(const gv_team *t, int member, uint32_t place)
{
    const uint32_t width = (uint32_t)t->width[member];
    return place / width * GV_DEAL_PERIOD + t->back[member][place % width];
}

gravel_status gv_team_create(gv_team **team, int members, const int *index, const double *speed)
{
    gv_team *t = calloc(1, sizeof *t);
    if (!t)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for %d devices", members);
    t->members = members;
    memcpy(t->index, index, (size_t)members * sizeof *index);
    t->is_stale = 1;
    deal(t, speed);
    *team = t;
    return GRAVEL_OK;
}

void gv_team_release(gv_team *t)
{
    for (int m = 0; t && m < t->members; m++) {
        gravel_bodies_release(t->bodies[m]);
        free(t->few[m]);
    }
    free(t);
}

/* ------------------------------------------------------------------------- sending */

enum { GRAIN = 4096 };

/* Some sources of a member: rows of the store. */
typedef struct parcel {
    const gv_store *store;
    const gv_team *team;
    int member;
    const uint32_t *address; /* of the sources; NULL: places first ... of the member */
    size_t first, count;
    double *column[GV_COLUMNS]; /* where they are put together */
    int32_t *id;
} parcel;

static size_t row_of(const parcel *p, size_t k)
{
    return p->address ? p->address[k] : gv_team_address(p->team, p->member, (uint32_t)(p->first + k));
}

static void put_together(void *user, size_t first, size_t count)
{
    const parcel *p = user;
    for (int c = 0; c < GV_COLUMNS; c++)
        for (size_t k = first; p->column[c] && k < first + count; k++)
            p->column[c][k] = p->store->column[c][row_of(p, k)];
    for (size_t k = first; k < first + count; k++)
        p->id[k] = p->store->id[row_of(p, k)];
}

/* The planes that the store has numbers for. */
static int list_planes(const parcel *p, gravel_plane *plane, gravel_array *array)
{
    static const gravel_plane vector[6] = {GRAVEL_POSITION, GRAVEL_VELOCITY, GRAVEL_ACCELERATION,
                                           GRAVEL_JERK,     GRAVEL_SNAP,     GRAVEL_CRACKLE};
    static const gravel_plane scalar[3] = {GRAVEL_MASS, GRAVEL_TIME, GRAVEL_SOFTENING};
    static const int at[3] = {GV_COLUMN_MASS, GV_COLUMN_TIME, GV_COLUMN_SOFTENING};
    double *const *column = p->column;
    int n = 0;
    for (int v = 0; v < 6; v++) {
        const int c = GV_COLUMN_POSITION + 3 * v;
        if (!column[c])
            continue;
        plane[n] = vector[v];
        array[n++] = (gravel_array){column[c], column[c + 1], column[c + 2], 1, GRAVEL_F64};
    }
    for (int k = 0; k < 3; k++)
        if (column[at[k]]) {
            plane[n] = scalar[k];
            array[n++] = (gravel_array){column[at[k]], NULL, NULL, 1, GRAVEL_F64};
        }
    plane[n] = GRAVEL_ID;
    array[n++] = (gravel_array){p->id, NULL, NULL, 1, GRAVEL_I32};
    return n;
}

static void put_into(parcel *p, double *scratch, gv_pool *pool)
{
    for (int c = 0; c < GV_COLUMNS; c++)
        p->column[c] = p->store->column[c] ? scratch + (size_t)c * p->count : NULL;
    p->id = (int32_t *)(void *)(scratch + GV_COLUMNS * p->count);
    gv_parallel(pool, p->count, GRAIN, put_together, p);
}

/* Bodies of the member, NULL: first ... of it. */
static gravel_status send(gravel_several *s, parcel *p, const uint32_t *place)
{
    gravel_plane plane[GV_CHANGED_PLANES];
    gravel_array array[GV_CHANGED_PLANES];
    double *scratch;
    gravel_status status =
        gv_member_scratch(gv_team_member(s, p->team, p->member), p->count * (GV_COLUMNS + 1), &scratch);
    if (status)
        return status;
    put_into(p, scratch, p->count > GRAIN ? gv_context_pool(gv_team_member(s, p->team, p->member)->context) : NULL);
    const int n = list_planes(p, plane, array);
    return gravel_bodies_update(p->team->bodies[p->member], place, p->first, p->count, n, plane, array);
}

/* The same for so few that the member's call can begin with them. */
static gravel_status keep(gv_team *t, parcel *p, const uint32_t *place)
{
    gv_few *few = t->few[p->member];
    if (!few && !(few = t->few[p->member] = calloc(1, sizeof *few)))
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the sources that changed");
    put_into(p, few->number, NULL);
    memcpy(few->address, place, p->count * sizeof *place);
    const int n = list_planes(p, few->plane, few->from);
    few->changes = (gravel_changes){few->address, 0, p->count, n, few->plane, few->from};
    return GRAVEL_OK;
}

static gravel_status send_all(gravel_several *s, const gv_team *t, int member)
{
    const size_t count = gv_team_count(t, member, s->store.count);
    gravel_status status = GRAVEL_OK;
    for (size_t first = 0; first < count && !status; first += GV_BLOCK) {
        const size_t left = count - first;
        parcel p = {.store = &s->store,
                    .team = t,
                    .member = member,
                    .first = first,
                    .count = left < GV_BLOCK ? left : GV_BLOCK};
        status = send(s, &p, NULL);
    }
    return status;
}

/* Of the listed sources those of the member; `room` has entries for all of them, twice. */
static gravel_status send_listed(gravel_several *s, gv_team *t, int member, const uint32_t *list, size_t listed,
                                 uint32_t *room)
{
    uint32_t *address = room, *place = room + listed;
    size_t n = 0;
    for (size_t k = 0; k < listed; k++) {
        const uint32_t of = list[k] % GV_DEAL_PERIOD;
        if (t->owner[of] != member)
            continue;
        address[n] = list[k];
        place[n++] = list[k] / GV_DEAL_PERIOD * (uint32_t)t->width[member] + t->place[of];
    }
    parcel p = {.store = &s->store, .team = t, .member = member, .address = address, .count = n};
    const int takes_part = gv_team_count(t, member, s->asked.sources) > 0;
    return n == 0 ? GRAVEL_OK : n <= GV_FEW_CHANGES && takes_part ? keep(t, &p, place) : send(s, &p, place);
}

/* Columns always exist in all three components of a vector, or not at all. */
static gravel_status complete_vectors(gv_store *s)
{
    gravel_status status = GRAVEL_OK;
    for (int v = GV_COLUMN_POSITION; v < GV_COLUMN_TIME && !status; v += 3)
        if (s->column[v] || s->column[v + 1] || s->column[v + 2])
            for (int c = 0; c < 3 && !status; c++)
                status = gv_store_need(s, v + c);
    return status;
}

gravel_status gv_team_need_bodies(gravel_several *s, gv_team *t, int member)
{
    gravel_bodies_options o = GRAVEL_BODIES_OPTIONS_INIT;
    if (t->bodies[member])
        return GRAVEL_OK;
    /* sp stores two-floats: a time in one float is too coarse for steps */
    o.precision = s->options.precision == GRAVEL_DP ? GRAVEL_DP : GRAVEL_DS;
    o.device = gv_team_member(s, t, member)->device;
    gravel_status status = gravel_bodies_create(&t->bodies[member], gv_team_member(s, t, member)->context, &o);
    return status ? status : gravel_bodies_set_frame(t->bodies[member], &s->frame);
}

static gravel_status need_list(gravel_several *s, size_t entries)
{
    if (s->list_size < entries) {
        uint32_t *more = malloc((entries + entries / 4) * sizeof *more);
        if (!more)
            return gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu addresses", entries);
        free(s->list);
        s->list = more;
        s->list_size = entries + entries / 4;
    }
    return GRAVEL_OK;
}

/* What goes to each member. */
typedef struct sending {
    gravel_several *s;
    gv_team *t;
    size_t listed, most; /* changed sources: s->list has them, and room for two more such lists; most 0: all */
} sending;

static gravel_status send_to(void *user, int m)
{
    const sending *x = user;
    gravel_several *s = x->s;
    gv_team *t = x->t;
    const size_t count = gv_team_count(t, m, s->store.count);
    gravel_status status = count > 0 ? gv_team_need_bodies(s, t, m) : GRAVEL_OK;
    if (!status && count > gravel_bodies_get_count(t->bodies[m]))
        status = gravel_bodies_resize(t->bodies[m], count);
    if (status || count == 0)
        return status;
    return x->most > 0 ? send_listed(s, t, m, s->list, x->listed, s->list + x->most) : send_all(s, t, m);
}

/* All sources where that is not much more than what was written: to all members at once, since each takes a while. */
static gravel_status send_what_changed(gravel_several *s, gv_team *t)
{
    const size_t most = s->store.count / 2;
    size_t listed = 0;
    gravel_status status = need_list(s, 3 * most);
    if (status)
        return status;
    const int some = !t->is_stale && gv_store_list(&s->store, t->seen, s->store.count, s->list, most, &listed);
    t->is_stale = 1;
    for (int m = 0; m < t->members; m++)
        if (t->few[m])
            t->few[m]->changes.count = 0;
    sending x = {s, t, listed, some ? most : 0};
    if (!some)
        return gv_together(s->context[0], t->members, send_to, &x);
    for (int m = 0; m < t->members && !status; m++)
        status = send_to(&x, m);
    return status;
}

gravel_status gv_team_send(gravel_several *s, gv_team *t)
{
    if (!t->is_stale && t->seen == s->store.writes)
        return GRAVEL_OK;
    gravel_status status = complete_vectors(&s->store);
    if (!status)
        status = send_what_changed(s, t);
    if (status)
        return status;
    t->is_stale = 0;
    t->seen = s->store.writes;
    t->count = s->store.count;
    return GRAVEL_OK;
}
