/* The host answers: sources as the last call saw them, predicted, in columns of double, and sums over them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/direct/plan.h"
#include "host/several/object.h"
#include "host/direct/sum.h"

/* ------------------------------------------------------------------------- the sources */

/* Columns of a mirror. */
enum { MASS, ID, EPS2, STEP, PLACE, SPEED = PLACE + 3, CHANGE = SPEED + 3, ZERO = CHANGE + 3, COLUMNS };

static double *column(const gv_mirror *h, int c)
{
    return h->block + (size_t)c * h->room;
}

void gv_mirror_release(gv_mirror *h)
{
    free(h->block);
    free(h->list);
    free(h->result);
    free(h->word);
}

static gravel_status reserve(gv_mirror *h, size_t count)
{
    const size_t room = (count + count / 4 + 63) / 64 * 64;
    if (count <= h->room && h->block)
        return GRAVEL_OK;
    free(h->block);
    free(h->list);
    h->is_stale = 1;
    h->block = aligned_alloc(64, COLUMNS * room * sizeof(double));
    h->list = malloc(room * sizeof *h->list);
    h->room = h->block && h->list ? room : 0;
    if (!h->room)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu sources", count);
    memset(h->block, 0, COLUMNS * room * sizeof(double));
    return GRAVEL_OK;
}

static double number(const gv_store *s, int c, size_t at)
{
    return s->column[c] ? s->column[c][at] : 0;
}

/* What is not predicted, of one source. */
static void copy_names(const gv_store *s, gv_mirror *h, size_t at)
{
    const double eps = number(s, GV_COLUMN_SOFTENING, at);
    column(h, MASS)[at] = s->column[GV_COLUMN_MASS][at];
    column(h, ID)[at] = s->id[at];
    column(h, EPS2)[at] = eps * eps;
}

/* Place, velocity and acceleration of sources first ... n - 1 at the mirror's time. */
static void predict(const gv_store *s, gv_mirror *h, size_t first, size_t n)
{
    double *const step = column(h, STEP);
    const double *const time = s->column[GV_COLUMN_TIME];
    for (size_t k = first; k < n; k++)
        step[k] = !h->predict ? 0 : time ? h->time - time[k] : h->time;
    for (int axis = 0; axis < 3; axis++) {
        const double *d[6];
        double *const to[3] = {column(h, PLACE + axis), column(h, SPEED + axis), column(h, CHANGE + axis)};
        for (int k = 0; k < 6; k++)
            d[k] = s->column[GV_COLUMN_POSITION + 3 * k + axis];
        int highest = 5;
        while (highest > 0 && !d[highest])
            highest--;
        for (int k = 0; k < highest; k++) /* between derivatives that are there one may be missing */
            d[k] = d[k] ? d[k] : column(h, ZERO);
        gv_sum_predict(first, n, d, step, to);
    }
}

/* Without prediction the numbers are as they were written, which Taylor's sums at step 0 leave them. */
gravel_status gv_mirror_update(gravel_several *s)
{
    gv_mirror *h = &s->mirror;
    const gv_store *t = &s->store;
    const gv_asked *a = &s->asked;
    size_t listed = 0;
    gravel_status status = reserve(h, t->count);
    if (status)
        return status;
    const int same_time = h->predict == a->predict && (!a->predict || h->time == a->time);
    size_t known = h->is_stale ? 0 : h->count < a->sources ? h->count : a->sources;
    if (!gv_store_list(&s->store, h->seen, known, h->list, known / 4, &listed))
        known = listed = 0;
    h->predict = a->predict;
    h->time = a->time;
    h->is_stale = 0;
    h->seen = t->writes;
    h->count = a->sources;
    for (size_t k = 0; k < listed; k++)
        copy_names(t, h, h->list[k]);
    for (size_t k = known; k < a->sources; k++)
        copy_names(t, h, k);
    for (size_t k = 0; k < listed && same_time; k++)
        predict(t, h, h->list[k], h->list[k] + 1);
    predict(t, h, same_time ? known : 0, a->sources);
    return GRAVEL_OK;
}

/* ------------------------------------------------------------------------- the answer */

static gv_sum_sources sources_of(const gv_mirror *h, const gv_asked *a)
{
    const gravel_soften soften = a->call.soften;
    return (gv_sum_sources){.count = a->sources,
                            .mass = column(h, MASS),
                            .id = column(h, ID),
                            .x = column(h, PLACE),
                            .y = column(h, PLACE + 1),
                            .z = column(h, PLACE + 2),
                            .vx = column(h, SPEED),
                            .vy = column(h, SPEED + 1),
                            .vz = column(h, SPEED + 2),
                            .ax = column(h, CHANGE),
                            .ay = column(h, CHANGE + 1),
                            .az = column(h, CHANGE + 2),
                            .eps2 = GV_SOFTEN_OF_SOURCES((int)soften) ? column(h, EPS2) : NULL};
}

static double at(const double *x, size_t k)
{
    return x ? x[k] : 0;
}

static gv_sum_sink sink_of(const gravel_several *s, size_t k)
{
    const gv_asked *a = &s->asked;
    const gravel_sinks *i = &a->sinks;
    const double own = GV_SOFTEN_OF_SINKS((int)a->call.soften) ? a->sink_eps[k]
                       : a->call.soften == GRAVEL_SOFTEN_EPS   ? a->call.eps
                                                               : 0;
    const double unit = s->frame.length, dp = s->options.precision == GRAVEL_DP;
    return (gv_sum_sink){.x = i->pos.x[k],
                         .y = i->pos.y[k],
                         .z = i->pos.z[k],
                         .vx = at(i->vel.x, k),
                         .vy = at(i->vel.y, k),
                         .vz = at(i->vel.z, k),
                         .ax = at(i->acc.x, k),
                         .ay = at(i->acc.y, k),
                         .az = at(i->acc.z, k),
                         .id = i->id && i->id[k] != -1 ? (double)i->id[k] : NAN, /* NAN is a float */
                         .eps2 = own * own,
                         .larger = a->call.soften == GRAVEL_SOFTEN_MAX,
                         .too_close = (dp ? 1e-200 : 1e-25) * unit * unit}; /* as on the devices */
}

/* Results: components of all sinks, then distances; addresses of the nearest, counts, lists. */
static gravel_status need_results(gv_mirror *h, size_t n, size_t capacity)
{
    const size_t numbers = n * (GV_SUM_COMPONENTS + 1), words = n * (2 + capacity);
    if (h->results < numbers || !h->result) {
        free(h->result);
        h->results = numbers + numbers / 4 + 16;
        h->result = malloc(h->results * sizeof *h->result);
    }
    if (h->words < words || !h->word) {
        free(h->word);
        h->words = words + words / 4 + 16;
        h->word = malloc(h->words * sizeof *h->word);
    }
    if (h->result && h->word)
        return GRAVEL_OK;
    h->results = h->words = 0;
    return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the results of %zu sinks", n);
}

typedef struct answering {
    const gravel_several *s;
    gv_sum_sources sources;
} answering;

static void answer(void *user, size_t first, size_t count)
{
    const answering *x = user;
    const gv_asked *a = &x->s->asked;
    const gv_mirror *h = &x->s->mirror;
    const size_t n = a->sinks.count, capacity = (size_t)a->call.neighbour_capacity;
    double *const distance = h->result + GV_SUM_COMPONENTS * n;
    uint32_t *const nearest = h->word, *const counts = h->word + n, *const list = h->word + 2 * n;
    for (size_t k = first; k < first + count; k++) {
        const gv_sum_sink sink = sink_of(x->s, k);
        double r2;
        gv_sum_forces(a->call.order, &x->sources, &sink, h->result + GV_SUM_COMPONENTS * k);
        if (a->call.nearest) {
            const size_t found = gv_sum_nearest(&x->sources, &sink, &r2);
            nearest[k] = found == SIZE_MAX ? GRAVEL_NONE : (uint32_t)found;
            distance[k] = sqrt(r2);
        }
        if (capacity > 0) {
            const double radius = a->sinks.radius ? a->sinks.radius[k] : -1;
            counts[k] = radius >= 0
                            ? (uint32_t)gv_sum_list(&x->sources, &sink, radius * radius, list + k * capacity, capacity)
                            : 0;
        }
    }
}

gravel_status gv_mirror_answer(gravel_several *s)
{
    enum { PAIRS = 1 << 16 }; /* that are worth another thread: some 100 us */
    const gv_asked *a = &s->asked;
    const size_t n = a->sinks.count, grain = 1 + PAIRS / a->sources;
    answering x = {s, sources_of(&s->mirror, a)};
    gravel_status status = need_results(&s->mirror, n, (size_t)a->call.neighbour_capacity);
    if (status)
        return status;
    gv_parallel(n > grain ? gv_context_pool(s->context[0]) : NULL, n, grain, answer, &x);
    return GRAVEL_OK;
}

static void put(double *out, size_t stride, const double *from, size_t n)
{
    for (size_t k = 0; out && k < n; k++)
        out[k * (stride ? stride : 1)] = from[GV_SUM_COMPONENTS * k];
}

static int32_t id_of(const gv_mirror *h, uint32_t address)
{
    return (int32_t)column(h, ID)[address];
}

static void put_lists(const gv_mirror *h, const gravel_forces *f, size_t n, size_t capacity, size_t *overflow)
{
    const uint32_t *const counts = h->word + n, *const list = h->word + 2 * n;
    for (size_t k = 0; k < n; k++) {
        const size_t listed = counts[k] < capacity ? counts[k] : capacity;
        if (overflow)
            *overflow += counts[k] > capacity;
        if (f->neighbour_count)
            f->neighbour_count[k] = counts[k];
        for (size_t c = k * capacity; c < k * capacity + listed; c++) {
            if (f->neighbour_address)
                f->neighbour_address[c] = list[c];
            if (f->neighbour_id)
                f->neighbour_id[c] = id_of(h, list[c]);
        }
    }
}

void gv_mirror_collect(const gravel_several *s, const gravel_forces *f, size_t *overflow)
{
    const gv_asked *a = &s->asked;
    const gv_mirror *h = &s->mirror;
    const gravel_vec_out vec[3] = {f->acc, f->jerk, f->snap};
    const size_t n = a->sinks.count;
    for (int v = 0; v < a->call.order / 2; v++) {
        const double *const from = h->result + (v == 0 ? 0 : 1 + 3 * v); /* the potential is after the acceleration */
        put(vec[v].x, vec[v].stride, from, n);
        put(vec[v].y, vec[v].stride, from + 1, n);
        put(vec[v].z, vec[v].stride, from + 2, n);
    }
    put(f->pot, f->pot_stride, h->result + 3, n);
    for (size_t k = 0; a->call.nearest && k < n; k++) {
        if (f->nearest_address)
            f->nearest_address[k] = h->word[k];
        if (f->nearest_id)
            f->nearest_id[k] = h->word[k] == GRAVEL_NONE ? -1 : id_of(h, h->word[k]);
        if (f->nearest_distance)
            f->nearest_distance[k] = h->result[GV_SUM_COMPONENTS * n + k];
    }
    if (a->call.neighbour_capacity > 0)
        put_lists(h, f, n, (size_t)a->call.neighbour_capacity, overflow);
}
