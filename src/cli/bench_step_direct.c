#include <stdlib.h>
#include <string.h>

#include "cli/bench_step.h"
#include "gravel/direct.h"
#include "host/base/clock.h"
#include "host/profile/space.h"

/* The planes of a step, and the arrays they come from. */
enum { PLANES = 5 };
static const gravel_plane planes[PLANES] = {GRAVEL_POSITION, GRAVEL_VELOCITY, GRAVEL_ACCELERATION, GRAVEL_JERK,
                                            GRAVEL_TIME};

typedef struct step {
    const gv_step_setting *setting;
    gravel_bodies *bodies;
    gravel_list *list;
    gravel_direct *direct;
    gravel_direct_call call;
    uint32_t *address;
    double *block; /* numbers of the active bodies, then their forces */
    gravel_array from[PLANES];
    gravel_forces forces;
    double time;
    int on_device; /* device times are wanted */
    double *call_s;
    int calls;
} step;

static gravel_status write_all(step *s)
{
    const gv_particles *p = s->setting->bodies;
    const gravel_array position = GRAVEL_ARRAY_SOA(p->x, p->y, p->z), velocity = GRAVEL_ARRAY_SOA(p->vx, p->vy, p->vz);
    const gravel_array mass = GRAVEL_ARRAY(p->m);
    const gravel_plane plane[3] = {GRAVEL_POSITION, GRAVEL_VELOCITY, GRAVEL_MASS};
    const gravel_array from[3] = {position, velocity, mass};
    static const gravel_plane zero[3] = {GRAVEL_ACCELERATION, GRAVEL_JERK, GRAVEL_TIME};
    gravel_status status = gravel_bodies_update(s->bodies, NULL, 0, p->count, 3, plane, from);
    for (int k = 0; k < 3 && !status; k++)
        status = gravel_bodies_fill(s->bodies, zero[k], 0);
    int32_t *id = malloc(p->count * sizeof *id);
    if (!id)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu ids", p->count);
    for (size_t k = 0; k < p->count; k++)
        id[k] = (int32_t)k;
    const gravel_array ids = {id, NULL, NULL, 1, GRAVEL_I32};
    if (!status)
        status = gravel_bodies_write(s->bodies, GRAVEL_ID, 0, p->count, &ids);
    free(id);
    return status;
}

/* Active bodies are spread over all; they stay where they are, so that every step costs the same. */
static gravel_status make_arrays(step *s)
{
    const gv_particles *p = s->setting->bodies;
    const size_t k = s->setting->active, every = p->count / k;
    s->address = malloc(k * sizeof *s->address);
    s->block = calloc(13 * k + 8 * k, sizeof *s->block);
    if (!s->address || !s->block)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu active bodies", k);
    double *x[13];
    for (int c = 0; c < 13; c++)
        x[c] = s->block + (size_t)c * k;
    for (size_t i = 0; i < k; i++) {
        const size_t at = i * every;
        s->address[i] = (uint32_t)at;
        x[0][i] = p->x[at], x[1][i] = p->y[at], x[2][i] = p->z[at];
        x[3][i] = p->vx[at], x[4][i] = p->vy[at], x[5][i] = p->vz[at];
    }
    for (int v = 0; v < 4; v++)
        s->from[v] = GRAVEL_ARRAY_SOA(x[3 * v], x[3 * v + 1], x[3 * v + 2]);
    s->from[4] = GRAVEL_ARRAY(x[12]);
    double *const out = s->block + 13 * k;
    s->forces.acc = GRAVEL_VEC_OUT_SOA(out, out + k, out + 2 * k);
    s->forces.pot = out + 3 * k;
    s->forces.jerk = GRAVEL_VEC_OUT_SOA(out + 4 * k, out + 5 * k, out + 6 * k);
    s->forces.nearest_distance = out + 7 * k;
    return GRAVEL_OK;
}

static gravel_status make_objects(step *s)
{
    gravel_bodies_options bodies = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_direct_options direct = GRAVEL_DIRECT_OPTIONS_INIT;
    gv_variant variant;
    if (!gv_variant_parse(s->setting->variant, &variant) || variant.order < 4)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "'%s' is no variant for block steps: sp4, ds4, dp4, sp6, ds6 or dp6",
                       s->setting->variant);
    bodies.precision = direct.precision = variant.precision;
    bodies.capacity = s->setting->bodies->count;
    direct.order = variant.order;
    direct.nearest = 1;
    gravel_status status = gravel_bodies_create(&s->bodies, s->setting->context, &bodies);
    if (!status)
        status = gravel_direct_create(&s->direct, s->setting->context, &direct);
    if (!status)
        status = gravel_list_create(&s->list, s->setting->context, 0);
    if (!status)
        status = write_all(s);
    gravel_direct_call_init(&s->call);
    s->call.sources = gravel_view_all(s->bodies);
    s->call.sinks = gravel_view_list(s->bodies, s->list);
    s->call.eps = s->setting->eps;
    s->call.predict = 1;
    return status ? status : make_arrays(s);
}

static gravel_status one_step(void *user, double *device_s, double *step_s)
{
    step *s = user;
    gravel_ticket *ticket = NULL;
    const size_t active = s->setting->active;
    const double start = gv_now();
    const gravel_changes changes = {s->address, 0, active, PLANES, planes, s->from};
    gravel_status status = gravel_list_write(s->list, s->address, active);
    s->call.changes = &changes;
    const double middle = gv_now();
    s->call.time = s->time += 0x1p-80; /* every step another time, so close that forces stay the same */
    if (!status)
        status = gravel_direct_start(s->direct, &s->call, &ticket);
    if (!status)
        status = gravel_ticket_collect(ticket, &s->forces, NULL);
    gravel_ticket_release(ticket);
    const double end = gv_now();
    *device_s = *step_s = end - start;
    if (s->calls < GV_TIMING_MOST)
        s->call_s[s->calls++] = end - middle;
    if (!status && gv_signals_pending())
        return gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
    return status || !s->on_device ? status : gravel_direct_get_kernel_time(s->direct, device_s);
}

static gravel_status measure(step *s, gv_step_result *r)
{
    double call_s[GV_TIMING_MOST];
    gv_timing timed, plain;
    s->call_s = call_s;
    s->on_device = 1;
    gravel_status status = gravel_direct_set_timing(s->direct, 1);
    if (!status)
        status = gv_timing_run(&s->setting->rule, one_step, s, &timed);
    const gravel_status off = gravel_direct_set_timing(s->direct, 0);
    s->on_device = s->calls = 0;
    status = status ? status : off;
    if (!status)
        status = gv_timing_run(&s->setting->rule, one_step, s, &plain);
    if (status)
        return status;
    gv_series call;
    gv_series_of(call_s, s->calls, &call);
    r->device_s = timed.device.median;
    r->step_s = plain.call.median;
    r->step_least_s = plain.call.least;
    r->call_s = call.median;
    r->samples = plain.samples;
    return gravel_direct_get_configuration(s->direct, s->setting->active, r->configuration, sizeof r->configuration,
                                           NULL);
}

gravel_status gv_bench_step_direct(const gv_step_setting *setting, gv_step_result *result)
{
    step s = {.setting = setting};
    memset(result, 0, sizeof *result);
    result->mode = GV_STEP_BLOCK;
    result->n = setting->bodies->count;
    result->active = setting->active;
    gravel_status status = make_objects(&s);
    if (!status)
        status = measure(&s, result);
    gravel_list_release(s.list);
    gravel_direct_release(s.direct);
    gravel_bodies_release(s.bodies);
    free(s.block);
    free(s.address);
    return status;
}
