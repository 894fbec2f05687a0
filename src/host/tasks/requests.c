#include "host/tasks/requests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/options.h"

enum { BATCH_SINKS = 16384, BATCHES = 4, MOST_BATCHES = 16 };

void gravel_requests_options_init(gravel_requests_options *options)
{
    *options = (gravel_requests_options)GRAVEL_REQUESTS_OPTIONS_INIT;
}

void gravel_requests_sources_init(gravel_requests_sources *sources)
{
    *sources = (gravel_requests_sources)GRAVEL_REQUESTS_SOURCES_INIT;
}

void gravel_request_init(gravel_request *request)
{
    *request = (gravel_request)GRAVEL_REQUEST_INIT;
}

/* -------------------------------------------------------------------- life */

static gravel_status check_options(const gravel_context *context, gravel_requests_options *o)
{
    if (o->device < 0 || o->device >= context->n_devices)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "device %d is not in this context (it has %d)", o->device,
                       context->n_devices);
    if ((unsigned)o->precision > GRAVEL_DP || (unsigned)o->by > GRAVEL_REQUESTS_HOST)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there is no precision %d, or nobody of number %d to answer",
                       (int)o->precision, (int)o->by);
    if (o->precision == GRAVEL_DP && !context->device[o->device].info.has_fp64)
        return gv_fail(GRAVEL_ERR_UNSUPPORTED, "%s has no double precision: use requests in sp or ds",
                       context->device[o->device].info.name);
    o->in_flight = o->in_flight ? o->in_flight : BATCHES;
    o->batch = o->batch ? o->batch : BATCH_SINKS;
    if (o->in_flight < 2 || o->in_flight > MOST_BATCHES || o->batch > (size_t)1 << 24)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%d batches of %zu sinks: 2 to %d of at most 2^24", o->in_flight, o->batch,
                       MOST_BATCHES);
    return GRAVEL_OK;
}

static gravel_status choose(gravel_requests *r)
{
    enum { BUCKET = 32, PULLING = 8192 }; /* what is asked is not known yet */
    gravel_origin origin;
    gravel_status status = gv_profile_choose(r->worker.context, r->worker.device, &gv_tasks_space, &r->variant, BUCKET,
                                             PULLING, &r->config, &origin);
    if (!status && r->options.configuration)
        status = gv_space_parse(&gv_tasks_space, r->options.configuration, &r->config);
    const char *reason = status ? NULL : gv_space_can_run(&gv_tasks_space, &r->config, &r->variant, &r->limits);
    r->chunk = gv_tasks_chunk(&r->config);
    r->options.configuration = NULL; /* the caller's text may go */
    return reason ? gv_fail(GRAVEL_ERR_ARGUMENT, "the configuration of requests cannot run: %s", reason) : status;
}

static gravel_status start(gravel_requests *r)
{
    r->batch = calloc((size_t)r->options.in_flight, sizeof *r->batch);
    if (!r->batch)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for batches");
    for (int k = 0; k < r->options.in_flight; k++)
        gv_batch_push(&r->free, &r->batch[k]);
    gravel_status status = choose(r);
    if (!status && pthread_create(&r->thread, NULL, gv_requests_serve, r) != 0)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no thread for requests");
    r->has_thread = !status;
    return status;
}

gravel_status gravel_requests_create(gravel_requests **out, gravel_context *context,
                                     const gravel_requests_options *options)
{
    gravel_requests_options taken = GRAVEL_REQUESTS_OPTIONS_INIT;
    if (!out || !context)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_requests_create needs a place for the requests and a context");
    *out = NULL;
    gravel_status status = gv_options_take(&taken, sizeof taken, options, "gravel_requests_options");
    if (!status)
        status = check_options(context, &taken);
    if (status)
        return status;
    gravel_requests *r = calloc(1, sizeof *r);
    if (!r)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for requests");
    r->worker.context = context;
    r->worker.device = taken.device;
    r->options = taken;
    r->limits = gv_limits_of(context, taken.device);
    r->scalar = taken.precision == GRAVEL_DP ? 8 : 4;
    r->words = taken.precision == GRAVEL_DS ? 2 : 1;
    gv_variant_set(&r->variant, 2, taken.precision, 0);
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->work, NULL);
    pthread_cond_init(&r->room, NULL);
    pthread_cond_init(&r->idle, NULL);
    status = start(r);
    if (status)
        gravel_requests_release(r);
    else
        *out = r;
    return status;
}

static void release_sources(gravel_requests *r)
{
    for (int c = 0; c < 4; c++) {
        free(r->body[c]);
        r->body[c] = NULL;
    }
    free(r->cell);
    r->cell = NULL;
    r->count = r->cells = 0;
}

void gravel_requests_release(gravel_requests *r)
{
    if (!r)
        return;
    if (r->has_thread) {
        gravel_requests_flush(r);
        pthread_mutex_lock(&r->lock);
        r->stop = 1;
        pthread_cond_broadcast(&r->work);
        pthread_mutex_unlock(&r->lock);
        pthread_join(r->thread, NULL);
    }
    for (int k = 0; r->batch && k < r->options.in_flight; k++) {
        gv_request_leave_room(&r->batch[k]);
        gv_slots_release(&r->worker, &r->batch[k].slots);
        gv_slots_release(&r->worker, &r->batch[k].out);
        free(r->batch[k].asked);
    }
    free(r->batch);
    release_sources(r);
    gravel_bodies_release(r->bodies);
    gv_buffer_release(&r->cell_buffer);
    if (r->kernel)
        clReleaseKernel(r->kernel);
    pthread_cond_destroy(&r->work);
    pthread_cond_destroy(&r->room);
    pthread_cond_destroy(&r->idle);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

/* ----------------------------------------------------------------- sources */

static gravel_status check_numbers(const gravel_requests_sources *s)
{
    static const char *const name[4] = {"position (x)", "position (y)", "position (z)", "mass"};
    const double *const from[4] = {s->pos.x, s->pos.y, s->pos.z, s->mass};
    const size_t stride = s->pos.stride ? s->pos.stride : 1;
    for (int c = 0; c < 4; c++)
        for (size_t k = 0; k < s->count; k++)
            if (!isfinite(from[c][k * (c < 3 ? stride : 1)]))
                return gv_fail(GRAVEL_ERR_INPUT, "body %zu: %s is not finite", k, name[c]);
    return GRAVEL_OK;
}

static gravel_status copy_bodies(gravel_requests *r, const gravel_requests_sources *s)
{
    const double *const from[4] = {s->pos.x, s->pos.y, s->pos.z, s->mass};
    const size_t stride = s->pos.stride ? s->pos.stride : 1;
    for (int c = 0; c < 4; c++) {
        r->body[c] = malloc((s->count + 1) * sizeof(double));
        if (!r->body[c])
            return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu bodies", s->count);
        for (size_t k = 0; k < s->count; k++)
            r->body[c][k] = from[c][k * (c < 3 ? stride : 1)];
    }
    r->count = s->count;
    return GRAVEL_OK;
}

static gravel_status copy_cells(gravel_requests *r, const gravel_requests_sources *s)
{
    r->cell = malloc((s->cells + 1) * GV_REQUEST_CELL * sizeof(double));
    if (!r->cell)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu cells", s->cells);
    for (size_t k = 0; k < s->cells; k++) {
        const gravel_cell *c = &s->cell[k];
        double *to = r->cell + GV_REQUEST_CELL * k;
        const double *q = c->quadrupole, trace = q[0] + q[3] + q[5];
        /* half second moments with their trace become sum m (3 x x - x^2) */
        const double traceless[6] = {6 * q[0] - 2 * trace, 6 * q[1], 6 * q[2],
                                     6 * q[3] - 2 * trace, 6 * q[4], 6 * q[5] - 2 * trace};
        memcpy(to, c->centre, sizeof c->centre);
        to[3] = c->mass;
        memcpy(to + 4, traceless, sizeof traceless);
        for (int n = 0; n < GV_REQUEST_CELL; n++)
            if (!isfinite(to[n]))
                return gv_fail(GRAVEL_ERR_INPUT, "cell %zu: number %d is %g", k, n, to[n]);
    }
    r->cells = s->cells;
    return GRAVEL_OK;
}

static gravel_status send_bodies(gravel_requests *r, const gravel_requests_sources *s)
{
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    const gravel_array pos = {s->pos.x, s->pos.y, s->pos.z, s->pos.stride, GRAVEL_F64}, mass = GRAVEL_ARRAY(s->mass);
    options.precision = r->options.precision;
    options.device = r->options.device;
    gravel_bodies_release(r->bodies); /* so that the frame follows from these */
    r->bodies = NULL;
    gravel_status status = gravel_bodies_create(&r->bodies, r->worker.context, &options);
    if (!status)
        status = gravel_bodies_write(r->bodies, GRAVEL_POSITION, 0, s->count, &pos);
    if (!status)
        status = gravel_bodies_write(r->bodies, GRAVEL_MASS, 0, s->count, &mass);
    return status;
}

gravel_status gravel_requests_set_sources(gravel_requests *r, const gravel_requests_sources *sources)
{
    gravel_requests_sources s = GRAVEL_REQUESTS_SOURCES_INIT;
    if (!r || !sources)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_requests_set_sources needs requests and sources");
    gravel_status status = gv_options_take(&s, sizeof s, sources, "gravel_requests_sources");
    if (!status && (s.count == 0 || s.count > GV_MOST_BODIES || !s.mass || !s.pos.x || !s.pos.y || !s.pos.z))
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "requests need at least one body, with mass and position");
    if (!status && s.cells > 0 && !s.cell)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "there are %zu cells and no array of them", s.cells);
    if (!status && (!(s.eps >= 0) || isinf(s.eps) || (unsigned)s.softening > GRAVEL_SPLINE))
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "softening %d of length %g", (int)s.softening, s.eps);
    if (!status)
        status = check_numbers(&s);
    if (!status)
        status = gravel_requests_wait(r);
    if (status)
        return status;
    release_sources(r);
    r->softening = s.softening;
    r->eps = s.eps;
    status = copy_bodies(r, &s);
    if (!status)
        status = copy_cells(r, &s);
    if (!status && r->options.by != GRAVEL_REQUESTS_HOST) {
        status = send_bodies(r, &s);
        if (!status)
            status = gv_request_send_cells(r);
        if (!status)
            status = gv_request_kernel(r);
    }
    if (status)
        release_sources(r);
    return status;
}
