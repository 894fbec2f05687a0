#include "host/several/store.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/status.h"

enum { SHORTEST_JOURNAL = 4096 };

static const char *const column_name[GV_COLUMNS] = {
    "mass",         "position",     "position",     "position", "velocity", "velocity", "velocity",
    "acceleration", "acceleration", "acceleration", "jerk",     "jerk",     "jerk",     "snap",
    "snap",         "snap",         "crackle",      "crackle",  "crackle",  "time",     "softening length"};

void gv_store_init(gv_store *s)
{
    memset(s, 0, sizeof *s);
    for (int c = 0; c < GV_COLUMNS; c++)
        s->limit[c] = DBL_MAX;
}

void gv_store_release(gv_store *s)
{
    for (int c = 0; c < GV_COLUMNS; c++)
        free(s->column[c]);
    free(s->id);
    free(s->change);
    free(s->stamp);
}

/* ------------------------------------------------------------------- the journal */

static void forget_changes(gv_store *s)
{
    s->dropped = s->writes;
    s->changes = 0;
}

/* Where most of the sources changed (and without memory) the journal begins anew: then all are sent. */
static void note(gv_store *s, size_t first, size_t count)
{
    gv_change *last = s->changes > 0 ? &s->change[s->changes - 1] : NULL;
    s->writes++;
    if (last && last->last > s->sealed && last->first + last->count == first) {
        last->count += (uint32_t)count;
        last->last = s->writes;
        return;
    }
    if (s->changes == s->change_room) {
        const size_t room = s->change_room ? 2 * s->change_room : 64;
        gv_change *more = room <= SHORTEST_JOURNAL + s->count ? realloc(s->change, room * sizeof *more) : NULL;
        if (!more) {
            forget_changes(s);
            return;
        }
        s->change = more;
        s->change_room = room;
    }
    s->change[s->changes++] = (gv_change){(uint32_t)first, (uint32_t)count, s->writes};
}

void gv_store_touch(gv_store *s)
{
    s->sealed = s->writes;
    note(s, 0, 1);
    s->sealed = s->writes;
}

static int need_stamps(gv_store *s)
{
    if (s->stamps < s->room) {
        uint32_t *made = calloc(s->room, sizeof *made);
        if (!made)
            return 0;
        free(s->stamp);
        s->stamp = made;
        s->stamps = s->room;
        s->turn = 0;
    }
    if (++s->turn == 0) {
        memset(s->stamp, 0, s->stamps * sizeof *s->stamp);
        s->turn = 1;
    }
    return 1;
}

int gv_store_list(gv_store *s, uint64_t then, size_t count, uint32_t *list, size_t most, size_t *listed)
{
    size_t n = 0;
    *listed = 0;
    if (then < s->dropped || !need_stamps(s))
        return 0;
    for (size_t k = s->changes; k-- > 0 && s->change[k].last > then;) {
        const gv_change *c = &s->change[k];
        for (size_t at = c->first; at < (size_t)c->first + c->count && at < count; at++) {
            if (s->stamp[at] == s->turn)
                continue;
            if (n == most)
                return 0;
            s->stamp[at] = s->turn;
            list[n++] = (uint32_t)at;
        }
    }
    *listed = n;
    return 1;
}

/* ------------------------------------------------------------------------- room */

static gravel_status no_room(size_t count)
{
    return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu sources", count);
}

static int grow(void **column, size_t size, size_t used, size_t room)
{
    /* not realloc: what is never touched takes no memory */
    void *more = calloc(room, size);
    if (!more)
        return 0;
    if (used > 0)
        memcpy(more, *column, used * size);
    free(*column);
    *column = more;
    return 1;
}

/* Entries 0 ... count - 1 of all columns that are there. */
static gravel_status reserve(gv_store *s, size_t count)
{
    const size_t roomy = s->room + s->room / 2, room = count > roomy ? (count + 1023) / 1024 * 1024 : roomy;
    if (count <= s->room)
        return GRAVEL_OK;
    for (int c = 0; c < GV_COLUMNS; c++)
        if (s->column[c] && !grow((void **)&s->column[c], sizeof(double), s->room, room))
            return no_room(count);
    if (!grow((void **)&s->id, sizeof *s->id, s->room, room))
        return no_room(count);
    for (size_t k = s->room; k < room; k++)
        s->id[k] = -1;
    s->room = room;
    return GRAVEL_OK;
}

gravel_status gv_store_need(gv_store *s, int column)
{
    if (!s->column[column] && s->room > 0)
        s->column[column] = calloc(s->room, sizeof(double));
    return s->column[column] || s->room == 0 ? GRAVEL_OK : no_room(s->room);
}

/* ---------------------------------------------------------------------- writing */

/* The caller's numbers of one column; at NULL: zeros. */
typedef struct given {
    const double *at;
    size_t stride;
} given;

static void list_given(const gravel_sources *s, given g[GV_COLUMNS])
{
    const gravel_vec vec[6] = {s->pos, s->vel, s->acc, s->jerk, s->snap, s->crackle};
    memset(g, 0, GV_COLUMNS * sizeof *g);
    g[GV_COLUMN_MASS] = (given){s->mass, s->mass_stride ? s->mass_stride : 1};
    g[GV_COLUMN_TIME] = (given){s->time, 1};
    for (int k = 0; k < 6; k++) {
        const double *const axis[3] = {vec[k].x, vec[k].y, vec[k].z};
        for (int c = 0; c < 3; c++)
            g[GV_COLUMN_POSITION + 3 * k + c] = (given){axis[c], vec[k].stride ? vec[k].stride : 1};
    }
}

static gravel_status refuse(int column, const uint32_t *address, size_t first, size_t k, double value, double limit)
{
    const size_t at = address ? address[k] : first + k;
    if (!isfinite(value))
        return gv_fail(GRAVEL_ERR_INPUT, "the source for address %zu: %s is %s", at, column_name[column],
                       isnan(value) ? "not a number" : "infinite");
    return gv_fail(GRAVEL_ERR_INPUT, "the source for address %zu: %s is %g, beyond %g, where this precision overflows",
                   at, column_name[column], value, limit);
}

/* ERR_INPUT for what no device can take; *zero: there is nothing but zeros. */
static gravel_status check(const gv_store *s, int column, const given *g, size_t count, const uint32_t *address,
                           size_t first, int *zero)
{
    const double limit = s->limit[column];
    int bad = 0, some = 0;
    for (size_t k = 0; k < count; k++) {
        const double value = g->at[k * g->stride];
        bad |= !(fabs(value) <= limit);
        some |= value != 0;
    }
    *zero = !some;
    for (size_t k = 0; bad && k < count; k++)
        if (!(fabs(g->at[k * g->stride]) <= limit))
            return refuse(column, address, first, k, g->at[k * g->stride], limit);
    return GRAVEL_OK;
}

static void put(double *column, const given *g, const uint32_t *address, size_t first, size_t count)
{
    if (!address && !g->at)
        memset(column + first, 0, count * sizeof *column);
    else if (!address && g->stride == 1)
        memcpy(column + first, g->at, count * sizeof *column);
    else if (!address)
        for (size_t k = 0; k < count; k++)
            column[first + k] = g->at[k * g->stride];
    else
        for (size_t k = 0; k < count; k++)
            column[address[k]] = g->at ? g->at[k * g->stride] : 0;
}

static void put_ids(gv_store *s, const int32_t *id, size_t stride, const uint32_t *address, size_t first, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const size_t at = address ? address[k] : first + k;
        s->id[at] = id ? id[k * stride] : (int32_t)at;
    }
}

gravel_status gv_store_write(gv_store *s, const uint32_t *address, size_t first, const gravel_sources *from)
{
    const size_t count = from->count;
    given g[GV_COLUMNS];
    size_t end = address ? 0 : first + count;
    gravel_status status = GRAVEL_OK;
    for (size_t k = 0; address && k < count; k++)
        end = (size_t)address[k] + 1 > end ? (size_t)address[k] + 1 : end;
    list_given(from, g);
    for (int c = 0; c < GV_COLUMNS && !status; c++) {
        int zero = 1;
        if (g[c].at)
            status = check(s, c, &g[c], count, address, first, &zero);
        if (zero && !s->column[c] && c >= GV_COLUMN_VELOCITY)
            g[c].at = NULL; /* not worth a column */
    }
    if (!status)
        status = reserve(s, end);
    for (int c = 0; c < GV_COLUMNS && !status; c++)
        if (g[c].at)
            status = gv_store_need(s, c);
    if (status)
        return status;
    for (int c = 0; c < GV_COLUMNS; c++)
        if (s->column[c] && c != GV_COLUMN_SOFTENING)
            put(s->column[c], &g[c], address, first, count);
    put_ids(s, from->id, from->id_stride ? from->id_stride : 1, address, first, count);
    s->count = end > s->count ? end : s->count;
    if (!address)
        note(s, first, count);
    for (size_t k = 0; address && k < count; k++)
        note(s, address[k], 1);
    return GRAVEL_OK;
}

gravel_status gv_store_write_softening(gv_store *s, size_t first, size_t count, const double *eps)
{
    const given g = {eps, 1};
    int zero;
    gravel_status status = check(s, GV_COLUMN_SOFTENING, &g, count, NULL, first, &zero);
    for (size_t k = 0; k < count && !status; k++)
        if (eps[k] < 0)
            status = gv_fail(GRAVEL_ERR_INPUT, "the softening length for address %zu is %g; it must not be negative",
                             first + k, eps[k]);
    if (!status)
        status = reserve(s, first + count);
    if (status || (zero && !s->column[GV_COLUMN_SOFTENING]))
        return status;
    status = gv_store_need(s, GV_COLUMN_SOFTENING);
    if (status)
        return status;
    put(s->column[GV_COLUMN_SOFTENING], &g, NULL, first, count);
    note(s, first, count);
    return GRAVEL_OK;
}
