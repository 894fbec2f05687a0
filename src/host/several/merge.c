/* Results: forces of the devices added up in their order, neighbours merged. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/bodies/ticket.h"
#include "host/direct/ticket.h"
#include "host/several/object.h"

static int is_wanted(gravel_vec_out v)
{
    return v.x || v.y || v.z;
}

static gravel_status check_wanted(const gravel_several_call *c, const gravel_forces *f)
{
    if (is_wanted(f->jerk) && c->order < 4)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the jerk was not computed: order is %d, it takes 4 or 6", c->order);
    if (is_wanted(f->snap) && c->order < 6)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the snap was not computed: order is %d, it takes 6", c->order);
    if ((f->nearest_id || f->nearest_address || f->nearest_distance) && !c->nearest)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "nearest neighbours were not looked for: the call has nearest = 0");
    if ((f->neighbour_count || f->neighbour_id || f->neighbour_address) && c->neighbour_capacity == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there are no neighbour lists: the call has neighbour_capacity = 0");
    return GRAVEL_OK;
}

static void fill(double *out, size_t stride, size_t n, double value)
{
    for (size_t k = 0; out && k < n; k++)
        out[k * (stride ? stride : 1)] = value;
}

/* Of no sources. */
static void put_nothing(const gravel_forces *f, size_t n)
{
    const gravel_vec_out vec[3] = {f->acc, f->jerk, f->snap};
    for (int v = 0; v < 3; v++) {
        fill(vec[v].x, vec[v].stride, n, 0);
        fill(vec[v].y, vec[v].stride, n, 0);
        fill(vec[v].z, vec[v].stride, n, 0);
    }
    fill(f->pot, f->pot_stride, n, 0);
    fill(f->nearest_distance, 1, n, INFINITY);
    for (size_t k = 0; k < n; k++) {
        if (f->nearest_id)
            f->nearest_id[k] = -1;
        if (f->nearest_address)
            f->nearest_address[k] = GRAVEL_NONE;
        if (f->neighbour_count)
            f->neighbour_count[k] = 0;
    }
}

/* ------------------------------------------------------------------------- one device */

/* Results may be collected again. */
static gravel_status collect_ticket(gravel_ticket *ticket, const gravel_forces *f, size_t *overflow)
{
    ticket->collected = 0;
    return gravel_ticket_collect(ticket, f, overflow);
}

/* ------------------------------------------------------------------------- several devices */

/* Neighbours of a device on their way to the caller. */
typedef struct neighbours {
    double *distance;
    int32_t *nearest_id, *id; /* id: lists */
    uint32_t *nearest, *count, *list, *row;
    int32_t *id_row;
} neighbours;

static gravel_status need_neighbours(gravel_several *s, const gravel_several_call *c, size_t n, neighbours *b)
{
    const size_t capacity = (size_t)c->neighbour_capacity, entries = n * capacity;
    double *at;
    /* in numbers of 8 bytes: words of 4 begin at every half */
    gravel_status status = gv_member_scratch(&s->member[0], n + (3 * n + 2 * entries + 2 * capacity + 1) / 2 + 1, &at);
    if (status)
        return status;
    b->distance = at;
    b->nearest = (uint32_t *)(void *)(at + n);
    b->nearest_id = (int32_t *)(void *)(b->nearest + n);
    b->count = b->nearest + 2 * n;
    b->list = b->nearest + 3 * n;
    b->id = (int32_t *)(void *)(b->list + entries);
    b->row = b->list + 2 * entries;
    b->id_row = (int32_t *)(void *)(b->row + capacity);
    return GRAVEL_OK;
}

/* The nearer one; of two at one distance the lower address. */
static void merge_nearest(const gv_team *t, int member, const neighbours *b, const gravel_forces *f, size_t n,
                          uint32_t *best, double *distance)
{
    for (size_t k = 0; k < n; k++) {
        if (b->nearest[k] == GRAVEL_NONE)
            continue;
        const uint32_t address = gv_team_address(t, member, b->nearest[k]);
        if (b->distance[k] > distance[k] || (b->distance[k] == distance[k] && address > best[k]))
            continue;
        best[k] = address;
        distance[k] = b->distance[k];
        if (f->nearest_id)
            f->nearest_id[k] = b->nearest_id[k];
    }
}

/* One sink's list: `have` ascending addresses are there, `more` are added; the lowest `capacity` stay. */
static void merge_row(const neighbours *b, uint32_t *list, int32_t *id, size_t have, const uint32_t *add,
                      const int32_t *add_id, size_t more, size_t capacity)
{
    size_t n = 0, i = 0, j = 0;
    while (n < capacity && (i < have || j < more)) {
        const int old = j == more || (i < have && list[i] < add[j]);
        b->row[n] = old ? list[i] : add[j];
        b->id_row[n++] = old ? id[i] : add_id[j];
        i += (size_t)old;
        j += (size_t)!old;
    }
    memcpy(list, b->row, n * sizeof *list);
    memcpy(id, b->id_row, n * sizeof *id);
}

static void merge_lists(const gv_team *t, int member, const neighbours *b, size_t n, size_t capacity, uint32_t *count,
                        uint32_t *list, int32_t *id)
{
    for (size_t k = 0; k < n; k++) {
        const size_t have = count[k] < capacity ? count[k] : capacity;
        const size_t more = b->count[k] < capacity ? b->count[k] : capacity;
        for (size_t i = 0; i < more; i++)
            b->list[k * capacity + i] = gv_team_address(t, member, b->list[k * capacity + i]);
        merge_row(b, list + k * capacity, id + k * capacity, have, b->list + k * capacity, b->id + k * capacity, more,
                  capacity);
        count[k] += b->count[k];
    }
}

/* What is merged into: the caller's arrays, own ones where the caller gives none. */
typedef struct merged {
    uint32_t *nearest, *count, *list;
    double *distance;
    int32_t *id;
    char *own;
} merged;

static gravel_status need_merged(const gravel_several_call *c, const gravel_forces *f, size_t n, merged *m)
{
    const size_t entries = n * (size_t)c->neighbour_capacity;
    m->own = malloc(n * 16 + entries * 8 + 8);
    if (!m->own)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for neighbours of %zu sinks", n);
    char *at = m->own;
    m->distance = f->nearest_distance ? f->nearest_distance : (double *)(void *)at;
    at += n * 8;
    m->nearest = f->nearest_address ? f->nearest_address : (uint32_t *)(void *)at;
    at += n * 4;
    m->count = f->neighbour_count ? f->neighbour_count : (uint32_t *)(void *)at;
    at += n * 4;
    m->list = f->neighbour_address ? f->neighbour_address : (uint32_t *)(void *)at;
    at += entries * 4;
    m->id = f->neighbour_id ? f->neighbour_id : (int32_t *)(void *)at;
    for (size_t k = 0; k < n; k++) {
        m->nearest[k] = GRAVEL_NONE;
        m->distance[k] = INFINITY;
        m->count[k] = 0;
        if (f->nearest_id)
            f->nearest_id[k] = -1;
    }
    return GRAVEL_OK;
}

static gravel_status collect_neighbours(gravel_several *s, int piece, size_t n, const gravel_forces *f,
                                        size_t *overflow)
{
    const gv_asked *a = &s->asked;
    const size_t capacity = (size_t)a->call.neighbour_capacity;
    const int nearest = f->nearest_id || f->nearest_address || f->nearest_distance;
    const int lists = f->neighbour_count || f->neighbour_id || f->neighbour_address || (capacity > 0 && overflow);
    neighbours b;
    merged into = {0};
    if (!nearest && !lists)
        return GRAVEL_OK;
    gravel_status status = need_neighbours(s, &a->call, n, &b);
    if (status)
        return status;
    gravel_forces part = {.nearest_id = nearest ? b.nearest_id : NULL,
                          .nearest_address = nearest ? b.nearest : NULL,
                          .nearest_distance = nearest ? b.distance : NULL,
                          .neighbour_count = lists ? b.count : NULL};
    if (f->neighbour_id || f->neighbour_address) {
        part.neighbour_address = b.list;
        part.neighbour_id = b.id;
    }
    status = need_merged(&a->call, f, n, &into);
    if (status)
        return status;
    for (int m = 0; m < a->team->members && !status; m++) {
        gravel_ticket *ticket = gv_team_member(s, a->team, m)->ticket[piece];
        if (!ticket)
            continue;
        status = collect_ticket(ticket, &part, NULL);
        if (!status && nearest)
            merge_nearest(a->team, m, &b, f, n, into.nearest, into.distance);
        if (!status && lists)
            merge_lists(a->team, m, &b, n, part.neighbour_id ? capacity : 0, into.count, into.list, into.id);
    }
    for (size_t k = 0; overflow && lists && k < n && !status; k++)
        *overflow += into.count[k] > capacity;
    free(into.own);
    return status;
}

static gravel_status collect_forces(gravel_several *s, int piece, const gravel_forces *f)
{
    gravel_ticket *ticket[GV_MOST_MEMBERS];
    int n = 0;
    for (int m = 0; m < s->asked.team->members; m++) {
        gravel_ticket *const one = gv_team_member(s, s->asked.team, m)->ticket[piece];
        if (one)
            ticket[n++] = one;
    }
    return gv_direct_tickets_sum(ticket, n, f);
}

/* ------------------------------------------------------------------------- pieces */

static gravel_vec_out vec_from(gravel_vec_out v, size_t first)
{
    const size_t at = first * (v.stride ? v.stride : 1);
    return (gravel_vec_out){v.x ? v.x + at : NULL, v.y ? v.y + at : NULL, v.z ? v.z + at : NULL, v.stride};
}

/* The caller's arrays from a sink on. */
static gravel_forces forces_from(const gravel_forces *f, size_t first, size_t capacity)
{
    gravel_forces to = *f;
    to.acc = vec_from(f->acc, first);
    to.jerk = vec_from(f->jerk, first);
    to.snap = vec_from(f->snap, first);
    to.pot = f->pot ? f->pot + first * (f->pot_stride ? f->pot_stride : 1) : NULL;
    to.nearest_id = f->nearest_id ? f->nearest_id + first : NULL;
    to.nearest_address = f->nearest_address ? f->nearest_address + first : NULL;
    to.nearest_distance = f->nearest_distance ? f->nearest_distance + first : NULL;
    to.neighbour_count = f->neighbour_count ? f->neighbour_count + first : NULL;
    to.neighbour_id = f->neighbour_id ? f->neighbour_id + first * capacity : NULL;
    to.neighbour_address = f->neighbour_address ? f->neighbour_address + first * capacity : NULL;
    return to;
}

static gravel_status collect_piece(gravel_several *s, int piece, const gravel_forces *f, size_t *overflow)
{
    const gv_asked *a = &s->asked;
    const size_t first = a->edge[piece], n = a->edge[piece + 1] - first;
    const gravel_forces of = forces_from(f, first, (size_t)a->call.neighbour_capacity);
    size_t over = 0;
    gravel_status status;
    if (a->team->members == 1) {
        status = collect_ticket(gv_team_member(s, a->team, 0)->ticket[piece], &of, overflow ? &over : NULL);
    } else {
        status = collect_forces(s, piece, &of);
        if (!status)
            status = collect_neighbours(s, piece, n, &of, overflow ? &over : NULL);
    }
    if (overflow)
        *overflow += over;
    return status;
}

gravel_status gv_call_collect(gravel_several *s, const gravel_forces *f, size_t *overflow)
{
    const gv_asked *a = &s->asked;
    gravel_status status = check_wanted(&a->call, f);
    if (status)
        return status;
    if (overflow)
        *overflow = 0;
    if (a->by_host)
        gv_mirror_collect(s, f, overflow);
    else if (!a->team)
        put_nothing(f, a->sinks.count);
    for (int p = 0; a->team && !a->by_host && p < a->pieces && !status; p++)
        status = a->edge[p + 1] > a->edge[p] ? collect_piece(s, p, f, overflow) : GRAVEL_OK;
    if (status)
        gv_call_drop(s);
    if (status && a->team)
        a->team->is_stale = 1;
    return status;
}
