/* The sinks of a call: checked, and copied. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/options.h"
#include "host/base/threads.h"
#include "host/direct/plan.h"
#include "host/direct/points.h"
#include "host/several/object.h"

enum { SINK_COLUMNS = 10, GRAIN = 2048 };

/* ---------------------------------------------------------------- what is asked */

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

/* Sums of zeros, unless a number is infinite or none; four of them, since one waits for itself. */
static int is_finite(const double *column, size_t first, size_t count)
{
    double sum[4] = {0, 0, 0, 0};
    for (size_t k = first; column && k < first + count; k++)
        sum[k % 4] += 0 * column[k];
    return sum[0] + sum[1] + sum[2] + sum[3] == 0;
}

static gravel_status check_column(const double *column, size_t n, const char *what)
{
    const int bad = !is_finite(column, 0, n);
    for (size_t k = 0; bad && k < n; k++)
        if (!isfinite(column[k]))
            return gv_fail(GRAVEL_ERR_INPUT, "sink %zu: %s is %s", k, what,
                           isnan(column[k]) ? "not a number" : "infinite");
    return GRAVEL_OK;
}

/* Whether all is finite that the call looks at, in some of the sinks. */
static int are_finite(const gv_asked *a, size_t first, size_t count)
{
    const gravel_vec vec[3] = {a->sinks.pos, a->sinks.vel, a->sinks.acc};
    int good = 1;
    for (int v = 0; v < a->call.order / 2; v++)
        good &=
            is_finite(vec[v].x, first, count) && is_finite(vec[v].y, first, count) && is_finite(vec[v].z, first, count);
    return good;
}

/* The first number that is wrong, of those that the call looks at. */
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
    for (size_t k = 0; a->call.ahead && k < n && !status; k++) /* without sources no device looks at it */
        if (!isfinite(a->call.ahead[k]))
            status = gv_fail(GRAVEL_ERR_INPUT, "sink %zu: the time ahead is %g", k, a->call.ahead[k]);
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

/* ----------------------------------------------------------------- the copy */

typedef struct copying {
    const gravel_sinks *from;
    gv_asked *to;
    int bad; /* something that the call looks at is not finite */
} copying;

static void copy_column(const double *from, size_t stride, double *to, size_t first, size_t count)
{
    const size_t step = stride ? stride : 1;
    if (from && step == 1)
        memcpy(to + first, from + first, count * sizeof *to);
    for (size_t k = first; from && step > 1 && k < first + count; k++)
        to[k] = from[k * step];
}

static void copy_sinks(void *user, size_t first, size_t count)
{
    copying *c = user;
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
    if (!are_finite(c->to, first, count))
        __atomic_store_n(&c->bad, 1, __ATOMIC_RELAXED);
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
    const gravel_sinks *from = a->call.sinks;
    a->sinks = (gravel_sinks){.count = n,
                              .id = from->id ? a->ids : NULL,
                              .pos = vec_in(a->block, n, from->pos),
                              .vel = vec_in(a->block + 3 * n, n, from->vel),
                              .acc = vec_in(a->block + 6 * n, n, from->acc),
                              .radius = from->radius ? a->block + 9 * n : NULL};
    copying c = {from, a, 0};
    gv_parallel(n > GRAIN ? gv_context_pool(s->context[0]) : NULL, n, GRAIN, copy_sinks, &c);
    a->sink_eps = a->call.sink_eps ? a->block + SINK_COLUMNS * n : NULL;
    a->call.sinks = &a->sinks;
    a->call.sink_eps = a->sink_eps;
    a->call.ahead = a->call.ahead ? a->block + (SINK_COLUMNS + 1) * n : NULL;
    const int more = a->call.neighbour_capacity > 0 || GV_SOFTEN_OF_SINKS((int)a->call.soften);
    return c.bad || more ? check_sinks(a) : GRAVEL_OK;
}

gravel_status gv_asked_check(const gv_asked *a)
{
    gravel_status status = check_call(&a->call);
    return status ? status : check_sinks(a);
}
