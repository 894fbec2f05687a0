/* Sources and sinks from host arrays: a thin layer over gravel_bodies and gravel_direct_start.  The sources are bodies
 * of the object's own, in a frame around the origin; submit and collect are one ticket. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/direct/take.h"

enum { CHUNK = 65536, MOST_PLANES = 9 };

/* ---------------------------------------------------------------------- frame */

static double largest_of(const double *x, size_t n, size_t stride)
{
    double most = 0;
    for (size_t k = 0; x && k < n; k++)
        most = fabs(x[k * stride]) > most ? fabs(x[k * stride]) : most;
    return most;
}

/* Masses are counted in the largest of the first sources, so that equal masses are exact in float: 1/N is not, and its
 * rounding error would be the same in every pair.  Lengths far from 1 are counted in a power of two near the largest
 * coordinate: m / r^3 leaves the range of float at r = 1e13. */
static void choose_frame(gravel_direct *d, const gravel_sources *s)
{
    gravel_bodies *b = d->own;
    const int dp = d->options.precision == GRAVEL_DP;
    const size_t stride = s->pos.stride ? s->pos.stride : 1;
    if (!b->has_mass_unit) {
        const double most = dp ? 1 : largest_of(s->mass, s->count, s->mass_stride ? s->mass_stride : 1);
        b->frame.mass = most > 1e-300 && most < 1e300 ? most : 1;
        b->has_mass_unit = most > 0;
    }
    if (!b->has_box) {
        const double most =
            dp ? 1
               : fmax(fmax(largest_of(s->pos.x, s->count, stride), largest_of(s->pos.y, s->count, stride)),
                      largest_of(s->pos.z, s->count, stride));
        const int common = !(most > 0) || (most > 1e-4 && most < 1e6);
        b->frame.length = common || !(most > 1e-300 && most < 1e300) ? 1 : exp2(rint(log2(most)));
        b->has_box = 1;
    }
}

/* -------------------------------------------------------------------- writing */

static gravel_status check_sources(gravel_direct *d, const gravel_sources *s, const char *call)
{
    if (!d || !s)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: no object or no sources", call);
    if (s->count > 0 && (!s->mass || !s->pos.x || !s->pos.y || !s->pos.z))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: sources need masses and positions", call);
    return GRAVEL_OK;
}

/* sp with prediction stores two-floats (ds): a time in one float is too coarse for steps. */
static gravel_status need_own(gravel_direct *d)
{
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    options.precision = d->options.precision == GRAVEL_SP && d->options.prediction ? GRAVEL_DS : d->options.precision;
    options.device = d->worker.device;
    return d->own ? GRAVEL_OK : gravel_bodies_create(&d->own, d->worker.context, &options);
}

/* The planes of a write.  `zeros` and `id` stand in for what the caller does not give. */
typedef struct writing {
    int n;
    gravel_plane plane[MOST_PLANES];
    gravel_array array[MOST_PLANES];
    double *zeros;
    int32_t *id;
} writing;

static gravel_status need_zeros(writing *w, size_t numbers)
{
    if (w->zeros)
        return GRAVEL_OK;
    w->zeros = calloc(numbers, sizeof *w->zeros);
    return w->zeros ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu zeros", numbers);
}

/* What is missing counts as zero, and need not be written where the plane is not there. */
static gravel_status add_plane(writing *w, const gravel_direct *d, gravel_plane plane, gravel_vec v, size_t most)
{
    const int vector = gravel_plane_components(plane) == 3, given = v.x || v.y || v.z;
    gravel_status status = GRAVEL_OK;
    if (!given && !gravel_bodies_has_plane(d->own, plane))
        return GRAVEL_OK;
    if (!v.x || (vector && (!v.y || !v.z)))
        status = need_zeros(w, most);
    w->plane[w->n] = plane;
    w->array[w->n++] =
        (gravel_array){v.x ? v.x : w->zeros, v.y ? v.y : w->zeros, v.z ? v.z : w->zeros, v.stride, GRAVEL_F64};
    return status;
}

/* `address` NULL: sources first ... */
static gravel_status list_planes(writing *w, const gravel_direct *d, const gravel_sources *s, const uint32_t *address,
                                 size_t first)
{
    static const gravel_plane plane[6] = {GRAVEL_POSITION, GRAVEL_VELOCITY, GRAVEL_ACCELERATION,
                                          GRAVEL_JERK,     GRAVEL_SNAP,     GRAVEL_CRACKLE};
    static const int predicted[3] = {2, 4, 5}; /* highest derivative that prediction takes, by order */
    const gravel_vec vec[6] = {s->pos, s->vel, s->acc, s->jerk, s->snap, s->crackle};
    const int rank = d->options.order / 2 - 1, most = d->options.prediction ? predicted[rank] : rank;
    size_t stride = 1;
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k <= most; k++)
        stride = vec[k].stride > stride ? vec[k].stride : stride;
    for (int k = 0; k <= most && !status; k++)
        status = add_plane(w, d, plane[k], vec[k], s->count * stride);
    if (!status)
        status = add_plane(w, d, GRAVEL_MASS, (gravel_vec){s->mass, NULL, NULL, s->mass_stride}, s->count);
    if (!status && d->options.prediction)
        status = add_plane(w, d, GRAVEL_TIME, (gravel_vec){s->time, NULL, NULL, 1}, s->count);
    if (!status && !s->id && !(w->id = malloc(s->count * sizeof *w->id)))
        status = gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu ids", s->count);
    for (size_t k = 0; w->id && k < s->count; k++)
        w->id[k] = (int32_t)(address ? address[k] : first + k);
    w->plane[w->n] = GRAVEL_ID;
    w->array[w->n++] = (gravel_array){s->id ? s->id : w->id, NULL, NULL, s->id ? s->id_stride : 1, GRAVEL_I32};
    return status;
}

static gravel_status write(gravel_direct *d, const gravel_sources *s, const uint32_t *address, size_t first)
{
    gravel_bodies *b = d->own;
    const gravel_frame frame = b->frame;
    const int has_box = b->has_box, has_mass_unit = b->has_mass_unit;
    writing w = {.n = 0};
    choose_frame(d, s);
    gravel_status status = list_planes(&w, d, s, address, first);
    const uint64_t version = b->version[GRAVEL_POSITION];
    if (!status)
        status = gravel_bodies_update(b, address, first, s->count, w.n, w.plane, w.array);
    if (status && b->version[GRAVEL_POSITION] == version) {
        /* a write that was refused sets no units */
        b->frame = frame;
        b->has_box = has_box;
        b->has_mass_unit = has_mass_unit;
    }
    free(w.zeros);
    free(w.id);
    return status;
}

gravel_status gravel_direct_write_sources(gravel_direct *d, size_t first, const gravel_sources *s)
{
    gravel_status status = check_sources(d, s, "gravel_direct_write_sources");
    if (!status && first > SIZE_MAX - s->count)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_write_sources: there is no address %zu", first);
    if (status || s->count == 0)
        return status;
    status = need_own(d);
    return status ? status : write(d, s, NULL, first);
}

gravel_status gravel_direct_scatter_sources(gravel_direct *d, const uint32_t *address, const gravel_sources *s)
{
    gravel_status status = check_sources(d, s, "gravel_direct_scatter_sources");
    size_t end = 0;
    if (!status && s->count > 0 && !address)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_scatter_sources: no addresses");
    if (status || s->count == 0)
        return status;
    for (size_t k = 0; k < s->count; k++)
        end = (size_t)address[k] + 1 > end ? (size_t)address[k] + 1 : end;
    if (end > GV_MOST_BODIES)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a source at address %zu: addresses go up to %zu", end - 1,
                       GV_MOST_BODIES - 1);
    status = need_own(d);
    if (status)
        return status;
    const size_t before = d->own->count;
    const uint64_t version = d->own->version[GRAVEL_POSITION];
    if (end > before)
        status = gravel_bodies_resize(d->own, end);
    if (!status)
        status = write(d, s, address, 0);
    if (status && d->own->count > before && d->own->version[GRAVEL_POSITION] == version)
        d->own->count = before; /* nothing was stored */
    return status;
}

gravel_status gravel_direct_set_source_count(gravel_direct *d, size_t count)
{
    if (!d)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_set_source_count: no object");
    const size_t written = gravel_bodies_get_count(d->own);
    if (count > written)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "source count %zu, but only addresses below %zu were written", count,
                       written);
    d->own_count = count;
    d->own_count_is_set = 1;
    return GRAVEL_OK;
}

gravel_status gravel_direct_set_time(gravel_direct *d, double t)
{
    if (!d)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_set_time: no object");
    if (!d->options.prediction)
        return gv_fail(GRAVEL_ERR_STATE, "gravel_direct_set_time: the object was created without prediction");
    if (!(fabs(t) <= (d->options.precision == GRAVEL_DP ? DBL_MAX : FLT_MAX)))
        return gv_fail(GRAVEL_ERR_INPUT, "the time to predict to is %g", t);
    d->time = t;
    d->time_is_set = 1;
    return GRAVEL_OK;
}

/* -------------------------------------------------------------------- reading */

static void unpack(const gravel_direct *d, const void *quads, const void *low, size_t n, size_t first,
                   gravel_vec_out out, double *w)
{
    const gravel_frame *frame = &d->own->frame;
    const size_t stride = out.stride ? out.stride : 1;
    double *const axis[4] = {out.x, out.y, out.z, w};
    for (size_t c = 0; c < 4; c++)
        for (size_t k = 0; axis[c] && k < n; k++) {
            const size_t at = 4 * k + c;
            double value = d->options.precision == GRAVEL_DP ? ((const double *)quads)[at] : ((const float *)quads)[at];
            if (low && c < 3)
                value += ((const float *)low)[at];
            axis[c][(first + k) * (c < 3 ? stride : 1)] = value * (c == 3 ? frame->mass : frame->length);
        }
}

static gravel_status read_quads(const gravel_direct *d, cl_mem quads, size_t first, size_t n, void *host)
{
    const size_t quad = d->options.precision == GRAVEL_DP ? 32 : 16;
    const cl_int code =
        clEnqueueReadBuffer(gv_worker_queue(&d->worker), quads, CL_TRUE, first * quad, n * quad, host, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "reading sources from %s", d->limits.info.name) : GRAVEL_OK;
}

/* n sources from `first` on of what the force kernel reads; they are entries done ... of `out`. */
static gravel_status read_chunk(const gravel_direct *d, const gv_direct_sources *from, size_t first, size_t n,
                                size_t done, const gravel_vec_out out[3], double *mass, char *host)
{
    const int low = d->options.precision == GRAVEL_DS;
    char *const rest = host + CHUNK * 32;
    gravel_status status = read_quads(d, from->quad[0], first, n, host);
    if (!status && low)
        status = read_quads(d, from->quad[1], first, n, rest);
    if (!status)
        unpack(d, host, low ? rest : NULL, n, done, out[0], mass);
    for (int k = 1; k < d->options.order / 2 && !status; k++) {
        status = read_quads(d, from->quad[1 + k], first, n, host);
        if (!status)
            unpack(d, host, NULL, n, done, out[k], NULL);
    }
    return status;
}

gravel_status gravel_direct_read_sources(gravel_direct *d, size_t first, size_t count, double *mass, int32_t *id,
                                         gravel_vec_out pos, gravel_vec_out vel, gravel_vec_out acc)
{
    const size_t written = d ? gravel_bodies_get_count(d->own) : 0;
    const gravel_vec_out out[3] = {pos, vel, acc};
    gv_direct_sources from;
    if (!d || first > written || count > written - first)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_read_sources: addresses %zu ... were never all written",
                       first);
    if (count == 0)
        return GRAVEL_OK;
    const gv_selection all = {.bodies = d->own, .count = written};
    const gv_direct_reading how = {
        .order = d->options.order, .predict = d->options.prediction && d->time_is_set, .time = d->time};
    char *host = malloc((size_t)CHUNK * 64);
    if (!host)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory to read sources");
    gravel_status status = gv_direct_read_bodies(d, &d->worker, &how, &all, NULL, 0, NULL, NULL, &from);
    for (size_t done = 0; done < count && !status; done += CHUNK) {
        const size_t n = count - done < CHUNK ? count - done : CHUNK;
        status = read_chunk(d, &from, first + done, n, done, out, mass, host);
    }
    free(host);
    const gravel_array_out ids = {id, NULL, NULL, 1, GRAVEL_I32};
    if (!status && id)
        status = gravel_bodies_read(d->own, GRAVEL_ID, first, count, &ids);
    gv_worker_clear(&d->worker);
    return status;
}

/* -------------------------------------------------------------- the one call */

static void drop_pair(gravel_direct *d)
{
    gravel_ticket_release(d->pair);
    d->pair = NULL;
}

gravel_status gravel_direct_submit(gravel_direct *d, const gravel_sinks *sinks, double eps)
{
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    if (!d || !sinks)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_submit: no object or no sinks");
    drop_pair(d);
    call.points = sinks;
    call.eps = eps;
    call.predict = d->options.prediction && d->time_is_set;
    call.time = d->time;
    return gravel_direct_start(d, &call, &d->pair);
}

gravel_status gravel_direct_collect(gravel_direct *d, const gravel_forces *f, size_t *overflow)
{
    if (!d || !f)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_collect: no object or no place for results");
    if (!d->pair)
        return gv_fail(GRAVEL_ERR_STATE, "gravel_direct_collect: nothing was submitted");
    gravel_status status = gravel_ticket_collect(d->pair, f, overflow);
    if (status != GRAVEL_ERR_ARGUMENT) /* which leaves the results to be collected */
        drop_pair(d);
    return status;
}

gravel_status gravel_direct_set_timing(gravel_direct *d, int on)
{
    if (!d)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_set_timing: no object");
    return gv_device_set_timing(d->worker.context, d->worker.device, on);
}

gravel_status gravel_direct_get_kernel_time(gravel_direct *d, double *seconds)
{
    if (!d || !seconds)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_direct_get_kernel_time: no object or no place for the result");
    if (d->kernel_seconds < 0)
        return gv_fail(GRAVEL_ERR_STATE, "the last call was not timed: gravel_direct_set_timing comes before it");
    *seconds = d->kernel_seconds;
    return GRAVEL_OK;
}
