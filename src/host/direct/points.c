#include "host/direct/points.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "host/bodies/transfer.h"

enum { GRAIN = 4096, MOST_COLUMNS = 9 };

double gv_direct_square_limit(gravel_precision precision)
{
    /* three squares of a difference of two: 12 (4e18)^2 = 1.9e38 */
    return precision == GRAVEL_DP ? 1e150 : 4e18;
}

/* One component: numbers of the caller, planes they go to. */
typedef struct column {
    gv_numbers numbers; /* at NULL: zeros */
    gv_conversion how;
    char *high, *low; /* low NULL: one word */
} column;

typedef struct packing {
    const gv_direct_points *points;
    gravel_precision precision;
    size_t scalar;
    column column[MOST_COLUMNS];
    int columns;
    char *radius, *ahead, *softening;
    int32_t *id;
    int bad;
} packing;

static void set_columns(packing *p, char *out)
{
    const gravel_sinks *s = p->points->sinks;
    const gravel_frame *frame = p->points->frame;
    const gravel_vec vec[3] = {s->pos, s->vel, s->acc};
    const size_t plane = p->points->stride * p->scalar;
    const int low = p->precision == GRAVEL_DS;
    for (int k = 0; k < 3 * (p->points->order / 2); k++) {
        const gravel_vec *v = &vec[k / 3];
        const double *const axis[3] = {v->x, v->y, v->z};
        const int pair = low && k < 3, at = k < 3 ? k : k + 3 * low;
        column *c = &p->column[p->columns++];
        c->numbers = (gv_numbers){axis[k % 3], v->stride ? v->stride : 1, GRAVEL_F64};
        c->how = (gv_conversion){p->precision == GRAVEL_DS && !pair ? GRAVEL_SP : p->precision,
                                 k < 3 ? frame->origin[k] : 0, frame->length, gv_direct_square_limit(p->precision)};
        c->high = out + (size_t)at * plane;
        c->low = pair ? out + (size_t)(at + 3) * plane : NULL;
    }
    out += (size_t)GV_SINK_RADIUS(p->points->order, low) * plane;
    p->radius = p->points->lists ? out : NULL;
    out += p->radius ? plane : 0;
    p->ahead = p->points->ahead ? out : NULL;
    out += p->ahead ? plane : 0;
    p->softening = p->points->eps ? out : NULL;
    out += p->softening ? plane : 0;
    p->id = (int32_t *)(void *)out;
}

static void put(const packing *p, char *plane, size_t k, double value)
{
    if (p->precision == GRAVEL_DP)
        ((double *)(void *)plane)[k] = value;
    else
        ((float *)(void *)plane)[k] = (float)value;
}

/* radius^2 as the kernel compares it; a radius that matches nothing becomes -1, or 0 where it is multiplied by masses,
 * which may be negative, and nothing is nearer than that */
static int pack_radius(const packing *p, size_t first, size_t count)
{
    const double *radius = p->points->sinks->radius, unit = p->points->frame->length;
    const double mass = p->points->by_mass ? p->points->frame->mass : 1;
    const double most = p->precision == GRAVEL_DP ? DBL_MAX : FLT_MAX;
    int bad = 0;
    for (size_t k = first; k < first + count; k++) {
        const double r = radius ? radius[k] / unit : -1, r2 = r >= 0 ? r * r * mass : p->points->by_mass ? 0 : -1;
        bad |= isnan(r);
        put(p, p->radius, k, r2 < most ? r2 : most);
    }
    return !bad;
}

static int pack_ahead(const packing *p, size_t first, size_t count)
{
    const double most = p->precision == GRAVEL_DP ? DBL_MAX : FLT_MAX;
    int good = 1;
    for (size_t k = first; k < first + count; k++) {
        const double time = p->points->ahead[k];
        good &= fabs(time) <= most;
        put(p, p->ahead, k, time);
    }
    return good;
}

/* eps^2 */
static int pack_softening(const packing *p, size_t first, size_t count)
{
    const double unit = p->points->frame->length, most = gv_direct_square_limit(p->precision);
    int good = 1;
    for (size_t k = first; k < first + count; k++) {
        const double eps = p->points->eps[k] / unit;
        good &= eps >= 0 && eps <= most;
        put(p, p->softening, k, eps * eps);
    }
    return good;
}

static void pack(void *user, size_t first, size_t count)
{
    packing *p = user;
    const int32_t *id = p->points->sinks->id;
    const size_t stride = p->points->sinks->id_stride ? p->points->sinks->id_stride : 1;
    int good = 1;
    for (int k = 0; k < p->columns; k++) {
        const column *c = &p->column[k];
        char *const high = c->high + first * p->scalar, *const low = c->low ? c->low + first * p->scalar : NULL;
        if (c->numbers.at)
            good &= gv_convert_in(&c->how, &c->numbers, first, count, high, low);
        else
            memset(high, 0, count * p->scalar);
    }
    if (p->radius)
        good &= pack_radius(p, first, count);
    if (p->ahead)
        good &= pack_ahead(p, first, count);
    if (p->softening)
        good &= pack_softening(p, first, count);
    for (size_t k = first; k < first + count; k++)
        p->id[k] = id ? id[k * stride] : -1;
    if (!good)
        __atomic_store_n(&p->bad, 1, __ATOMIC_RELAXED);
}

static void repeat(char *plane, size_t n, size_t stride, size_t scalar)
{
    for (size_t k = n; k < stride; k++)
        memcpy(plane + k * scalar, plane + (n - 1) * scalar, scalar);
}

static void fill_up(const packing *p)
{
    const size_t n = p->points->sinks->count, stride = p->points->stride;
    for (int k = 0; k < p->columns; k++) {
        repeat(p->column[k].high, n, stride, p->scalar);
        if (p->column[k].low)
            repeat(p->column[k].low, n, stride, p->scalar);
    }
    if (p->radius)
        repeat(p->radius, n, stride, p->scalar);
    if (p->ahead)
        repeat(p->ahead, n, stride, p->scalar);
    if (p->softening)
        repeat(p->softening, n, stride, p->scalar);
    for (size_t k = n; k < stride; k++)
        p->id[k] = -1;
}

static gravel_status refuse(size_t sink, int component, double value, const gv_conversion *how)
{
    static const char *const name[3] = {"position", "velocity", "acceleration"};
    const char axis = "xyz"[component % 3];
    if (!isfinite(value))
        return gv_fail(GRAVEL_ERR_INPUT, "sink %zu: %s (%c) is %s", sink, name[component / 3], axis,
                       isnan(value) ? "not a number" : "infinite");
    return gv_fail(GRAVEL_ERR_INPUT,
                   "sink %zu: %s (%c) is %g, beyond %g from %g, where this precision overflows beside the sources: "
                   "choose another frame or dp",
                   sink, name[component / 3], axis, value, how->limit * how->unit, how->offset);
}

static gravel_status find_bad(const packing *p)
{
    const gravel_sinks *s = p->points->sinks;
    for (size_t i = 0; i < s->count; i++) {
        const size_t number = p->points->first + i;
        for (int k = 0; k < p->columns; k++) {
            const column *c = &p->column[k];
            const double value = c->numbers.at ? gv_convert_get(&c->numbers, i) : c->how.offset;
            if (!(fabs((value - c->how.offset) / c->how.unit) <= c->how.limit))
                return refuse(number, k, value, &c->how);
        }
        if (p->radius && s->radius && isnan(s->radius[i]))
            return gv_fail(GRAVEL_ERR_INPUT, "sink %zu: radius is not a number", number);
        if (p->ahead && !(fabs(p->points->ahead[i]) <= (p->precision == GRAVEL_DP ? DBL_MAX : FLT_MAX)))
            return gv_fail(GRAVEL_ERR_INPUT, "sink %zu: the time ahead is %g", number, p->points->ahead[i]);
        if (p->softening && !(p->points->eps[i] >= 0 &&
                              p->points->eps[i] / p->points->frame->length <= gv_direct_square_limit(p->precision)))
            return gv_fail(GRAVEL_ERR_INPUT, "sink %zu: softening length is %g", number, p->points->eps[i]);
    }
    return gv_fail(GRAVEL_ERR_INPUT, "the sinks changed while they were read");
}

gravel_status gv_direct_pack_points(const gravel_direct *d, const gv_direct_points *points, char *out)
{
    const size_t n = points->sinks->count;
    packing p = {.points = points, .precision = d->options.precision};
    p.scalar = p.precision == GRAVEL_DP ? 8 : 4;
    set_columns(&p, out);
    gv_parallel(n > GRAIN ? gv_context_pool(d->worker.context) : NULL, n, GRAIN, pack, &p);
    if (p.bad)
        return find_bad(&p);
    fill_up(&p);
    return GRAVEL_OK;
}
