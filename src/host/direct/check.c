/* Checks of a call: options of the object filled in, views resolved, everything impossible refused. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "host/base/options.h"
#include "host/bodies/order.h"
#include "host/direct/call.h"
#include "host/direct/points.h"

void gravel_direct_call_init(gravel_direct_call *c)
{
    *c = (gravel_direct_call)GRAVEL_DIRECT_CALL_INIT;
}

static gravel_status check_features(const gravel_direct *d, gravel_direct_call *a)
{
    const unsigned all = GRAVEL_INTO_HOST | GRAVEL_INTO_PLANES | GRAVEL_INTO_ADD;
    a->order = a->order ? a->order : d->options.order;
    a->into = a->into ? a->into : GRAVEL_INTO_HOST;
    const int to_host = (a->into & GRAVEL_INTO_HOST) != 0;
    a->nearest = a->nearest < 0 ? to_host && d->options.nearest : !!a->nearest;
    a->neighbour_capacity = a->neighbour_capacity != -1 ? a->neighbour_capacity
                            : to_host                   ? d->options.neighbour_capacity
                                                        : 0;
    if (a->order != 2 && a->order != 4 && a->order != 6)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "order is %d; it must be 2, 4 or 6", a->order);
    if (a->neighbour_capacity < 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "neighbour capacity is negative");
    if ((unsigned)a->soften > GRAVEL_SOFTEN_MAX)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there is no softening of kind %d", (int)a->soften);
    if (a->into & ~all || (a->into & GRAVEL_INTO_ADD && !(a->into & GRAVEL_INTO_PLANES)))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "into is %u: GRAVEL_INTO_HOST, GRAVEL_INTO_PLANES, and with it "
                       "GRAVEL_INTO_ADD",
                       a->into);
    if (!to_host && (a->nearest || a->neighbour_capacity > 0))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "neighbours go to the host: into has no GRAVEL_INTO_HOST");
    if (a->predict && !(fabs(a->time) <= (d->options.precision == GRAVEL_DP ? DBL_MAX : FLT_MAX)))
        return gv_fail(GRAVEL_ERR_INPUT, "the time to predict to is %g", a->time);
    return GRAVEL_OK;
}

static gravel_status check_device(const gravel_direct *d, const gv_selection *s, const char *what)
{
    if (s->bodies->worker.context != d->worker.context || s->bodies->worker.device != d->worker.device)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: the bodies are on another device than the gravel_direct", what);
    return GRAVEL_OK;
}

static gravel_status resolve(const gravel_direct *d, gv_direct_job *c)
{
    const gravel_direct_call *a = &c->asked;
    gravel_status status = GRAVEL_OK;
    if (a->sources.bodies) {
        status = gv_view_resolve(&a->sources, "sources", &c->sources);
        if (!status)
            status = check_device(d, &c->sources, "sources");
        if (!status)
            status = gv_bodies_need_ids(c->sources.bodies);
    } else if (d->own)
        c->sources = (gv_selection){.bodies = d->own, .count = gv_direct_own_count(d)};
    if (status)
        return status;
    if (a->sinks.bodies) {
        /* gv_reduce has no argument for a few addresses */
        status = a->into & GRAVEL_INTO_PLANES ? gv_view_resolve(&a->sinks, "sinks", &c->sinks)
                                              : gv_view_resolve_few(&a->sinks, "sinks", &c->sinks);
        if (c->due)
            c->sinks = (gv_selection){.bodies = c->sinks.bodies, .count = c->due->most, .list = c->due->list};
        c->count = c->sinks.count;
        return status ? status : check_device(d, &c->sinks, "sinks");
    }
    if (!a->points)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there are no sinks: neither a view of bodies nor points");
    c->count = a->points->count;
    if (a->into & GRAVEL_INTO_PLANES)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "points have no planes: results go to the host");
    if (c->count > 0 && (!a->points->pos.x || !a->points->pos.y || !a->points->pos.z))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "sinks need positions");
    return GRAVEL_OK;
}

/* eps in the frame of the sources; below the smallest its square vanishes in float (in dp: is no normal number) */
static gravel_status check_softening(const gravel_direct *d, gv_direct_job *c)
{
    const gravel_direct_call *a = &c->asked;
    const gravel_precision p = d->options.precision;
    const double most = gv_direct_square_limit(p), unit = c->sources.bodies ? c->sources.bodies->frame.length : 1;
    if (GV_SOFTEN_OF_SINKS((int)a->soften) && !c->sinks.bodies && !a->points_eps && c->count > 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the sinks have no softening lengths: points need points_eps");
    if (GV_SOFTEN_OF_SINKS((int)a->soften) && c->sinks.bodies &&
        !gravel_bodies_has_plane(c->sinks.bodies, GRAVEL_SOFTENING))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the sinks have no softening lengths: write the plane GRAVEL_SOFTENING");
    if (GV_SOFTEN_OF_SOURCES((int)a->soften) && !gravel_bodies_has_plane(c->sources.bodies, GRAVEL_SOFTENING))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the sources have no softening lengths: write the plane GRAVEL_SOFTENING");
    if (c->due && a->soften != GRAVEL_SOFTEN_EPS)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "sinks that the device has found have one softening length");
    if (a->soften != GRAVEL_SOFTEN_EPS)
        return GRAVEL_OK;
    if (!(a->eps >= 0) || isinf(a->eps))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the softening length is %g; it must be zero or positive", a->eps);
    c->eps = a->eps / unit;
    if (c->eps > most)
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "the softening length is %g, beyond %g, where squares overflow beside the sources", a->eps,
                       most * unit);
    const int unsoftened = c->eps < (p == GRAVEL_DP ? 1e-100 : 1e-12);
    c->more |= (unsoftened ? GV_DIRECT_UNSOFTENED : 0) | (c->due ? GV_DIRECT_DUE : 0);
    c->eps = unsoftened ? 0 : c->eps;
    return GRAVEL_OK;
}

/* After the features: whether there are lists is known. */
static gravel_status check_rule(gv_direct_job *c)
{
    const gravel_direct_call *a = &c->asked;
    if ((unsigned)a->rule > GRAVEL_NEIGHBOURS_SPHERE_MASS)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there is no rule of neighbours %d", (int)a->rule);
    if (a->rule == GRAVEL_NEIGHBOURS_OTHERS && !a->ahead && !a->leave_out)
        return GRAVEL_OK;
    if (a->neighbour_capacity == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a rule of neighbours, or neighbours left out, without neighbour lists: "
                                            "neighbour_capacity must be above 0");
    if (a->ahead && a->order < 4)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "neighbours some time ahead take velocities: order is %d, not 4 or 6",
                       a->order);
    if (a->sinks.bodies && (a->ahead || a->rule == GRAVEL_NEIGHBOURS_SPHERE_MASS))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s is for sinks that are points, not for views of bodies",
                       a->ahead ? "a time ahead" : "GRAVEL_NEIGHBOURS_SPHERE_MASS");
    c->more |= a->rule == GRAVEL_NEIGHBOURS_SPHERE        ? GV_DIRECT_SPHERE
               : a->rule == GRAVEL_NEIGHBOURS_SPHERE_MASS ? GV_DIRECT_SPHERE_MASS
                                                          : 0;
    c->more |= (a->ahead ? GV_DIRECT_AHEAD : 0) | (a->leave_out ? GV_DIRECT_LEAVE_OUT : 0);
    return GRAVEL_OK;
}

/* After the layout.  Kernels count planes x sinks, padded to whole groups, in 32 bits. */
static gravel_status check_count(const gv_direct_job *c)
{
    enum { GROUP = 1 << 16 }; /* sinks of the largest group: 512 work-items, each with 8 vectors of 16 */
    const size_t most = UINT32_MAX / (size_t)c->layout.sink_planes - GROUP;
    if (c->count > most)
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "%zu sinks in one call; at most %zu with the %d numbers that a sink has there: take several "
                       "calls",
                       c->count, most, c->layout.sink_planes);
    return GRAVEL_OK;
}

/* What would fit: groups of sinks with lists of this length, and the length for one group. */
gravel_status gv_direct_lists_too_large(const gravel_direct *d, const gv_direct_job *c, size_t list_bytes)
{
    const size_t capacity = (size_t)c->asked.neighbour_capacity, group = c->plan.stride / c->plan.sink_groups;
    const size_t entries = list_bytes / sizeof(uint32_t) / (size_t)c->choice->config.value[GV_T_SPLIT];
    const size_t groups = entries / (capacity + 1) / group, longest = entries / group;
    return gv_fail(
        GRAVEL_ERR_DEVICE_MEMORY,
        "neighbour lists of %zu sinks with %zu entries each do not fit into %.0f MB of %s: %zu sinks at once "
        "would; lists of at most %zu entries fit for %zu sinks",
        c->count, capacity, (double)list_bytes / 1e6, d->limits.info.name, groups * group,
        longest > 0 ? longest - 1 : 0, group);
}

/* Whether ids of the sources or of the sinks are in no order. */
static int is_mixed(const gravel_direct *d, const gravel_direct_call *a)
{
    const gravel_sinks *points = a->points;
    const int sources = a->sources.bodies ? gv_view_is_mixed(&a->sources) : d->own && d->own->ids_mixed;
    return sources ||
           (a->sinks.bodies ? gv_view_is_mixed(&a->sinks) : gv_are_mixed(points->id, points->id_stride, points->count));
}

gravel_status gv_direct_check(gravel_direct *d, const gravel_direct_call *asked, gv_direct_job *c)
{
    *c = (gv_direct_job){.held = c->held,
                         .packed = c->packed,
                         .is_predicted = c->is_predicted,
                         .due = c->due,
                         .chosen_for = c->chosen_for};
    gravel_direct_call_init(&c->asked);
    gravel_status status = gv_options_take(&c->asked, sizeof c->asked, asked, "gravel_direct_call");
    if (!status)
        status = check_features(d, &c->asked);
    if (!status)
        status = check_rule(c);
    if (!status)
        status = resolve(d, c);
    if (!status)
        status = check_softening(d, c);
    if (!status)
        status = gv_direct_shape(d, &c->asked, &c->sources, &c->shape);
    c->variant = gv_direct_variant(c->asked.order, c->asked.nearest, c->asked.neighbour_capacity > 0);
    gv_variant with_rule = d->variant[c->variant];
    with_rule.features |= c->more;
    gv_direct_layout_set(&c->layout, &with_rule, c->asked.soften);
    if (!status)
        status = check_count(c);
    c->mixed = !status && is_mixed(d, &c->asked);
    return status;
}
