#include "compat/common/order6.h"

#include <math.h>
#include <stdlib.h>

/* Double, as these interfaces are used; pairs of floats on devices without it. */
static gravel_status open_devices(gv_order6 *o, const char *function)
{
    gravel_status status = gv_compat_create(&o->several, &o->settings);

    if (status != GRAVEL_ERR_UNSUPPORTED || o->settings.precision != GRAVEL_DP)
        return status;
    gv_compat_log(GV_COMPAT_WARNING, "%s: no double precision on this device: pairs of floats", function);
    o->settings.precision = GRAVEL_DS;
    return gv_compat_create(&o->several, &o->settings);
}

int gv_order6_open(gv_order6 *o, const char *function, int special, int ndev, const int *list, int softened)
{
    if (o->several)
        return 0;
    o->settings = (gv_compat_settings)GV_COMPAT_SETTINGS_INIT;
    o->settings.precision = GRAVEL_DP;
    gv_compat_read_settings(&o->settings);
    if (o->settings.softened == GV_COMPAT_INTERFACE)
        o->settings.softened = softened ? GV_COMPAT_YES : GV_COMPAT_NO;
    if (special && !o->settings.devices[0]) {
        if (ndev > 0 && !list)
            return gv_compat_fail(function, "no list of devices");
        if (gv_compat_name_devices(function, ndev, list, o->settings.devices, sizeof o->settings.devices) != 0)
            return -1;
    }
    return gv_compat_failed(function, open_devices(o, function));
}

static int need_open(const gv_order6 *o, const char *function)
{
    return o->several ? 0 : gv_compat_fail(function, "initialize was not called, or failed");
}

/* 1: the squared distances have eps^2 in them */
static int is_softened(const gv_order6 *o)
{
    return o->settings.softened == GV_COMPAT_YES;
}

/* ---------------------------------------------------------------- sources */

/* Vectors of zeros, as many callers give for high derivatives, cost nothing on the device when they are not given. */
static gravel_vec vector(const double *v)
{
    if (!v || (v[0] == 0 && v[1] == 0 && v[2] == 0))
        return (gravel_vec){NULL, NULL, NULL, 0};
    return (gravel_vec){v, v + 1, v + 2, 1};
}

static int keep_eps2(gv_order6 *o, const char *function, size_t at, double eps2)
{
    if (at >= o->eps2_room) {
        const size_t room = 2 * at + 1024;
        double *grown = realloc(o->eps2, room * sizeof *grown);
        if (!grown)
            return gv_compat_fail(function, "no memory for %zu sources", room);
        for (size_t k = o->eps2_room; k < room; k++)
            grown[k] = 0;
        o->eps2 = grown;
        o->eps2_room = room;
    }
    o->softening_is_sent &= o->eps2[at] == eps2;
    o->eps2[at] = eps2;
    return 0;
}

int gv_order6_set_source(gv_order6 *o, const char *function, const gv_order6_source *s)
{
    static const double origin[3];
    const double *const pos = s->d[0] ? s->d[0] : origin;
    const int32_t id = s->id;
    const uint32_t address = (uint32_t)s->address;
    const gravel_sources one = {.count = 1,
                                .mass = &s->mass,
                                .id = &id,
                                .pos = {pos, pos + 1, pos + 2, 1},
                                .vel = vector(s->d[1]),
                                .acc = vector(s->d[2]),
                                .jerk = vector(s->d[3]),
                                .snap = vector(s->d[4]),
                                .crackle = vector(s->d[5]),
                                .time = &s->time};

    if (need_open(o, function))
        return -1;
    if (s->address < 0)
        return gv_compat_fail(function, "address %d", s->address);
    if (!(s->eps2 >= 0) || isinf(s->eps2)) {
        gv_refused_note(&o->refused, address, 1);
        return gv_compat_fail(function, "eps2 is %g", s->eps2);
    }
    const gravel_status status = gravel_several_scatter_sources(o->several, &address, &one);
    gv_refused_note(&o->refused, address, status == GRAVEL_ERR_INPUT);
    if (gv_compat_failed(function, status) || keep_eps2(o, function, address, s->eps2))
        return -1;
    if (address >= o->sources)
        o->sources = (size_t)address + 1;
    return 0;
}

int gv_order6_predict(gv_order6 *o, const char *function, int predicted, double time)
{
    if (need_open(o, function))
        return -1;
    if (!predicted)
        gravel_several_set_no_time(o->several);
    o->time_is_refused = predicted && gv_compat_failed(function, gravel_several_set_time(o->several, time)) != 0;
    return o->time_is_refused ? -1 : 0;
}

static gravel_vec_out vector_out(double *v)
{
    return v ? (gravel_vec_out){v, v + 1, v + 2, 1} : (gravel_vec_out){NULL, NULL, NULL, 0};
}

int gv_order6_get_source(gv_order6 *o, const char *function, int address, int *id, double *mass, double *eps2,
                         double *pos, double *vel, double *acc)
{
    int32_t name = -1;
    const gravel_sources_out to = {
        .mass = mass, .id = &name, .pos = vector_out(pos), .vel = vector_out(vel), .acc = vector_out(acc)};

    if (need_open(o, function))
        return -1;
    if (address < 0 || (size_t)address >= o->sources)
        return gv_compat_fail(function, "address %d, but %zu addresses were set", address, o->sources);
    if (gv_compat_failed(function, gravel_several_read_predicted(o->several, (size_t)address, 1, &to)))
        return -1;
    if (id)
        *id = name;
    if (eps2)
        *eps2 = o->eps2[address];
    return 0;
}

/* ----------------------------------------------------------------- forces */

static int need_sinks(gv_order6 *o, const char *function, size_t n)
{
    if (n <= o->sinks_room)
        return 0;
    free(o->pot);
    free(o->nearest);
    free(o->address);
    o->pot = malloc(3 * n * sizeof *o->pot);
    o->nearest = malloc(n * sizeof *o->nearest);
    o->address = malloc(n * sizeof *o->address);
    o->sinks_room = o->pot && o->nearest && o->address ? n : 0;
    if (!o->sinks_room)
        return gv_compat_fail(function, "no memory for %zu sinks", n);
    o->r2 = o->pot + n;
    o->eps = o->pot + 2 * n;
    return 0;
}

/* Softening lengths of all sinks; 1: they are one, 0: not, -1: one is none. */
static int take_softening(gv_order6 *o, const char *function, const gv_order6_call *c)
{
    int same = 1;

    for (size_t k = 0; k < (size_t)c->ni; k++) {
        const double eps2 = c->eps2 ? c->eps2[k * c->eps2_stride] : 0;
        if (!(eps2 >= 0) || isinf(eps2))
            return gv_compat_fail(function, "eps2 of sink %zu is %g", k, eps2);
        o->eps[k] = sqrt(eps2);
        same &= o->eps[k] == o->eps[0];
    }
    return same;
}

/* Of the sources, only where a call has asked for it: it costs a plane on the devices. */
static int send_softening(gv_order6 *o, const char *function)
{
    double *eps;

    if (o->softening_is_sent || o->sources == 0)
        return 0;
    eps = malloc(o->sources * sizeof *eps);
    if (!eps)
        return gv_compat_fail(function, "no memory for %zu sources", o->sources);
    for (size_t k = 0; k < o->sources; k++)
        eps[k] = sqrt(o->eps2[k]);
    const gravel_status status = gravel_several_write_softening(o->several, 0, o->sources, eps);
    free(eps);
    o->softening_is_sent = status == GRAVEL_OK;
    return gv_compat_failed(function, status);
}

static gravel_vec from(gravel_vec v, size_t first)
{
    const size_t skip = first * v.stride;
    return (gravel_vec){v.x ? v.x + skip : NULL, v.y ? v.y + skip : NULL, v.z ? v.z + skip : NULL, v.stride};
}

static gravel_vec_out into(gravel_vec_out v, size_t first)
{
    const size_t skip = first * v.stride;
    return (gravel_vec_out){v.x ? v.x + skip : NULL, v.y ? v.y + skip : NULL, v.z ? v.z + skip : NULL, v.stride};
}

/* `n` sinks from `first` on. */
static gravel_status compute(gv_order6 *o, const gv_order6_call *c, int same, size_t first, size_t n)
{
    gravel_several_call call = GRAVEL_SEVERAL_CALL_INIT;
    const gravel_sinks sinks = {.count = n,
                                .id = c->sinks.id ? c->sinks.id + first : NULL,
                                .pos = from(c->sinks.pos, first),
                                .vel = from(c->sinks.vel, first),
                                .acc = from(c->sinks.acc, first)};
    const gravel_forces forces = {.acc = into(c->acc, first),
                                  .jerk = into(c->jerk, first),
                                  .snap = into(c->snap, first),
                                  .pot = o->pot + first,
                                  .nearest_id = o->nearest + first,
                                  .nearest_address = o->address + first,
                                  .nearest_distance = o->r2 + first};
    call.sinks = &sinks;
    call.order = 6;
    call.nearest = 1;
    call.soften = c->of_sources ? GRAVEL_SOFTEN_SOURCES : same ? GRAVEL_SOFTEN_EPS : GRAVEL_SOFTEN_SINKS;
    if (!c->of_sources) {
        call.eps = same ? o->eps[0] : 0;
        call.sink_eps = o->eps + first;
    }
    const gravel_status status = gravel_several_submit(o->several, &call);
    return status != GRAVEL_OK ? status : gravel_several_collect(o->several, &forces, NULL);
}

/* From distances to what the interface returns. */
static void square(gv_order6 *o, const gv_order6_call *c)
{
    for (size_t k = 0; k < (size_t)c->ni; k++) {
        const int none = o->address[k] == GRAVEL_NONE;
        double eps2 = 0;
        if (!none && is_softened(o))
            eps2 = c->of_sources ? o->eps2[o->address[k]] : c->eps2 ? c->eps2[k * c->eps2_stride] : 0;
        o->r2[k] = o->r2[k] * o->r2[k] + eps2;
        o->nearest[k] = none ? -1 : o->nearest[k];
    }
}

int gv_order6_forces(gv_order6 *o, const char *function, const gv_order6_call *c)
{
    const size_t all = c->ni > 0 ? (size_t)c->ni : 0, pipes = (size_t)o->settings.pipes;
    const size_t sources = c->nj > 0 && (size_t)c->nj < o->sources ? (size_t)c->nj : o->sources;
    int same = 1;

    if (need_open(o, function))
        return -1;
    if (o->time_is_refused)
        return gv_compat_fail(function, "the time of the last predict_all was refused");
    if (c->ni < 0 || c->nj < 0 || (c->ni > 0 && !c->sinks.pos.x))
        return gv_compat_fail(function, "ni is %d, nj is %d; or there are no positions", c->ni, c->nj);
    if (gv_refused_check(&o->refused, function, (size_t)c->nj) || need_sinks(o, function, all))
        return -1;
    if (!c->of_sources)
        same = take_softening(o, function, c);
    if (same < 0 || (c->of_sources && send_softening(o, function)))
        return -1;
    gravel_status status = gravel_several_set_source_count(o->several, c->nj > 0 ? sources : 0);
    for (size_t done = 0; done < all && status == GRAVEL_OK; done += pipes)
        status = compute(o, c, same, done, all - done < pipes ? all - done : pipes);
    if (status != GRAVEL_OK)
        return gv_compat_failed(function, status);
    square(o, c);
    return 0;
}
