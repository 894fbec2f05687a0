#include "host/several/tree_deal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/several/object.h"

enum { GV_DEAL_PIECE = 16384, BUCKETS = 65536, SAMPLE = 65536 };

static gravel_status grow(void *array, size_t *room, size_t n, size_t size)
{
    void **at = array;
    if (n <= *room)
        return GRAVEL_OK;
    free(*at);
    *at = malloc(n * size);
    *room = *at ? n : 0;
    return *at ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu sinks", n);
}

/* ------------------------------------------------------------------ stretches */

/* Where the stretches of the members begin, as places on the curve.  Of many sinks a sample decides. */
static gravel_status find_bounds(const gv_tree_deal *d, const double *edge, const uint32_t *place, size_t n,
                                 const uint32_t *address, uint32_t *bound)
{
    const size_t step = d->count / SAMPLE + 1;
    int shift = 0, m = 1;
    for (int k = 0; k <= d->members; k++)
        bound[k] = k == 0 ? 0 : k == d->members ? (uint32_t)n : (uint32_t)rint(edge[k] * (double)n);
    if (!address)
        return GRAVEL_OK;
    while ((n - 1) >> shift >= BUCKETS)
        shift++;
    uint32_t *tally = calloc(BUCKETS, sizeof *tally);
    double seen = 0, all = 0;
    if (!tally)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory to deal out %zu sinks", d->count);
    for (size_t k = 0; k < d->count; k += step, all++)
        tally[place[address[k]] >> shift]++;
    for (uint32_t b = 0; b < BUCKETS; b++) {
        seen += tally[b];
        while (m < d->members && seen >= edge[m] * all)
            bound[m++] = (b + 1) << shift;
    }
    free(tally);
    return GRAVEL_OK;
}

/* -------------------------------------------------------------------- pieces */

typedef struct dealing {
    gv_tree_deal *deal;
    const uint32_t *bound, *place, *address;
} dealing;

static size_t piece_end(const gv_tree_deal *d, size_t piece)
{
    return piece + 1 < d->pieces ? (piece + 1) * GV_DEAL_PIECE : d->count;
}

/* Which member has each entry of a piece.  Without branches: that is as good as random. */
static size_t find_members(const dealing *w, size_t piece, uint8_t *member)
{
    const size_t first = piece * GV_DEAL_PIECE, n = piece_end(w->deal, piece) - first;
    uint32_t listed[GV_DEAL_PIECE];
    const uint32_t *place = w->place + first;
    for (size_t k = 0; w->address && k < n; k++)
        listed[k] = w->place[w->address[first + k]];
    place = w->address ? listed : place;
    memset(member, 0, n);
    for (int m = 1; m < w->deal->members; m++) {
        const uint32_t bound = w->bound[m];
        for (size_t k = 0; k < n; k++)
            member[k] = (uint8_t)(member[k] + (place[k] >= bound));
    }
    return n;
}

static void tally_pieces(void *user, size_t first, size_t count)
{
    const dealing *w = user;
    uint8_t member[GV_DEAL_PIECE];
    for (size_t p = first; p < first + count; p++) {
        uint32_t *of = w->deal->start + p * (size_t)w->deal->members;
        const size_t n = find_members(w, p, member);
        for (int m = 0; m < w->deal->members; m++) {
            uint32_t tally = 0;
            for (size_t k = 0; k < n; k++)
                tally += member[k] == m;
            of[m] = tally;
        }
    }
}

/* From numbers of entries to places in `number`. */
static void add_up(gv_tree_deal *d)
{
    uint32_t at = 0;
    for (int m = 0; m < d->members; m++) {
        d->first[m] = at;
        for (size_t p = 0; p < d->pieces; p++) {
            uint32_t *of = d->start + p * (size_t)d->members + m;
            const uint32_t n = *of;
            *of = at;
            at += n;
        }
    }
    d->first[d->members] = at;
}

/* Where the entries of a piece that member m has end. */
static size_t member_end(const gv_tree_deal *d, size_t piece, int m)
{
    return piece + 1 < d->pieces ? d->start[(piece + 1) * (size_t)d->members + (size_t)m] : d->first[m + 1];
}

static void list_pieces(void *user, size_t first, size_t count)
{
    const dealing *w = user;
    const gv_tree_deal *d = w->deal;
    uint32_t at[GV_MOST_MEMBERS];
    uint8_t member[GV_DEAL_PIECE];
    for (size_t p = first; p < first + count; p++) {
        const size_t from = p * GV_DEAL_PIECE, n = find_members(w, p, member);
        for (int m = 0; m < d->members; m++)
            at[m] = d->start[p * (size_t)d->members + (size_t)m];
        for (size_t k = 0; k < n; k++) {
            const uint32_t to = at[member[k]]++;
            d->number[to] = (uint32_t)(from + k);
            if (w->address)
                d->address[to] = w->address[from + k];
        }
    }
}

gravel_status gv_tree_deal_make(gv_tree_deal *d, gv_pool *pool, int members, const double *edge, const uint32_t *place,
                                size_t n, const uint32_t *address, size_t count)
{
    uint32_t *bound = malloc(((size_t)members + 1) * sizeof *bound);
    if (!d->first)
        d->first = calloc((size_t)members + 1, sizeof *d->first);
    d->members = members;
    d->count = count;
    d->pieces = (count + GV_DEAL_PIECE - 1) / GV_DEAL_PIECE;
    gravel_status status =
        bound && d->first ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %d devices", members);
    if (!status)
        status = grow(&d->number, &d->room, count, sizeof *d->number);
    if (!status && address)
        status = grow(&d->listed, &d->listed_room, count, sizeof *d->listed);
    if (!status)
        status = grow(&d->start, &d->start_room, d->pieces * (size_t)members, sizeof *d->start);
    if (!status)
        status = find_bounds(d, edge, place, n, address, bound);
    if (!status) {
        dealing work = {d, bound, place, address};
        d->address = address ? d->listed : d->number;
        gv_parallel(pool, d->pieces, 1, tally_pieces, &work);
        add_up(d);
        gv_parallel(pool, d->pieces, 1, list_pieces, &work);
    }
    free(bound);
    return status;
}

/* ------------------------------------------------------------------- results */

typedef struct collecting {
    const gv_tree_deal *deal;
    const gv_force_ticket *const *ticket;
    const gravel_forces *to;
} collecting;

static void collect_pieces(void *user, size_t first, size_t count)
{
    const collecting *c = user;
    const gv_tree_deal *d = c->deal;
    for (size_t p = first; p < first + count; p++)
        for (int m = 0; m < d->members; m++) {
            const size_t at = d->start[p * (size_t)d->members + (size_t)m], end = member_end(d, p, m);
            if (end > at)
                gv_force_ticket_put(c->ticket[m], at - d->first[m], end - at, d->number + d->first[m], c->to);
        }
}

void gv_tree_deal_collect(const gv_tree_deal *d, gv_pool *pool, const gv_force_ticket *const *ticket,
                          const gravel_forces *to)
{
    collecting work = {d, ticket, to};
    gv_parallel(pool, d->pieces, 1, collect_pieces, &work);
}

void gv_tree_deal_release(gv_tree_deal *d)
{
    free(d->first);
    free(d->number);
    free(d->listed);
    free(d->start);
    *d = (gv_tree_deal){0};
}
