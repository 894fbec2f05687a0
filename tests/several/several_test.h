/* Shared by the tests of several devices. */
#ifndef GV_SEVERAL_TEST_H
#define GV_SEVERAL_TEST_H

#include "problem.h"

#include "gravel/several.h"

/* The parts of a CPU stand for devices; NULL where it cannot be divided. */
static inline const char *two_parts(void)
{
    static char text[32];
    static int known;
    gravel_device_info *list;
    int count;
    if (known || gravel_device_list(&list, &count))
        return text[0] ? text : NULL;
    known = 1;
    for (int k = 0; k < count && !text[0]; k++)
        if (list[k].type == GRAVEL_DEVICE_CPU && list[k].compute_units >= 2)
            snprintf(text, sizeof text, "%d:1,%d:1", list[k].index, list[k].index);
    gravel_device_list_free(list);
    return text[0] ? text : NULL;
}

static inline gravel_several *several_new(const char *devices, gravel_precision p, gravel_host_answers host)
{
    gravel_several_options o = GRAVEL_SEVERAL_OPTIONS_INIT;
    gravel_several *s;
    o.devices = devices;
    o.precision = p;
    o.host = host;
    o.all_devices = 1;
    o.deal = GRAVEL_DEAL_EVEN; /* nothing is measured */
    assert_ok(gravel_several_create(&s, &o));
    return s;
}

static inline gravel_several_call call_of(const gravel_sinks *sinks, int order, double eps, int nearest,
                                          size_t capacity)
{
    gravel_several_call c = GRAVEL_SEVERAL_CALL_INIT;
    c.sinks = sinks;
    c.order = order;
    c.eps = eps;
    c.nearest = nearest;
    c.neighbour_capacity = (int)capacity;
    return c;
}

static inline gravel_forces several_forces(int order, int nearest, const results *r)
{
    gravel_forces f = {.acc = GRAVEL_VEC_OUT_SOA(r->v[R_AX], r->v[R_AY], r->v[R_AZ]), .pot = r->v[R_POT]};
    if (order >= 4)
        f.jerk = GRAVEL_VEC_OUT_SOA(r->v[R_JX], r->v[R_JY], r->v[R_JZ]);
    if (order >= 6)
        f.snap = GRAVEL_VEC_OUT_SOA(r->v[R_SX], r->v[R_SY], r->v[R_SZ]);
    if (nearest) {
        f.nearest_id = r->nearest_id;
        f.nearest_address = r->nearest;
        f.nearest_distance = r->distance;
    }
    if (r->capacity > 0) {
        f.neighbour_count = r->count;
        f.neighbour_id = r->list_id;
        f.neighbour_address = r->list;
    }
    return f;
}

static inline results several_collect(gravel_several *s, size_t sinks, int order, int nearest, size_t capacity)
{
    results r = results_new(sinks, capacity);
    const gravel_forces f = several_forces(order, nearest, &r);
    assert_ok(gravel_several_collect(s, &f, &r.overflow));
    return r;
}

static inline results several_run(gravel_several *s, const gravel_several_call *c)
{
    assert_ok(gravel_several_submit(s, c));
    return several_collect(s, c->sinks->count, c->order, c->nearest, (size_t)c->neighbour_capacity);
}

#endif
