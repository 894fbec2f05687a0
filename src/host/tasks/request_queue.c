/* Batches: what threads submit is collected, and taken by the object's own thread. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/base/clock.h"
#include "host/base/options.h"
#include "host/tasks/requests.h"

enum { FLYING = 2 };

/* ------------------------------------------------------------------- queues */

void gv_batch_push(gv_batches *queue, gv_batch *b)
{
    b->next = NULL;
    if (queue->last)
        queue->last->next = b;
    else
        queue->first = b;
    queue->last = b;
}

static gv_batch *pop(gv_batches *queue)
{
    gv_batch *b = queue->first;
    if (b)
        queue->first = b->next;
    if (!queue->first)
        queue->last = NULL;
    return b;
}

/* ------------------------------------------------------- the object's thread */

/* Device time of the first request alone, that is nearly all latency, and what the host does in a second. */
static gravel_status calibrate(gravel_requests *r, gv_batch *b)
{
    enum { TRIES = 4 };
    double latency = INFINITY;
    gravel_status status = GRAVEL_OK;
    size_t first = 1; /* up to one that has sinks */
    while (first < b->requests && b->asked[first - 1].sinks.count == 0)
        first++;
    for (int k = 0; k < TRIES && !status; k++) {
        const double begin = gv_now();
        status = gv_request_launch(r, b, first);
        if (!status && b->done) {
            clWaitForEvents(1, &b->done);
            clReleaseEvent(b->done);
            b->done = NULL;
        }
        latency = fmin(latency, gv_now() - begin);
    }
    /* as many requests as take a millisecond */
    size_t some = 1;
    double seconds = 0;
    while (!status && seconds < 1e-3) {
        const double begin = gv_now();
        gv_request_host(r, b, some);
        seconds = gv_now() - begin;
        if (some == b->requests)
            break;
        some = 2 * some < b->requests ? 2 * some : b->requests;
    }
    double pairs = 0;
    for (size_t k = 0; k < some; k++) {
        double sources = b->cell_begin[k + 1] - b->cell_begin[k];
        for (size_t e = b->begin[k]; e < b->begin[k + 1]; e++)
            sources += b->entry[e].count;
        pairs += sources * b->asked[k].sinks.count;
    }
    pthread_mutex_lock(&r->lock);
    r->counts.device_latency = latency;
    r->counts.host_pairs_per_s = seconds > 0 ? pairs / seconds : 0;
    r->counts.least_pairs = r->counts.host_pairs_per_s * latency;
    pthread_mutex_unlock(&r->lock);
    return status;
}

static int is_for_host(gravel_requests *r, gv_batch *b, gravel_status *status)
{
    enum { ENOUGH = 1 << 16 }; /* pairs: fewer say nothing about speeds */
    double least;
    if (r->options.by != GRAVEL_REQUESTS_AUTO)
        return r->options.by == GRAVEL_REQUESTS_HOST;
    if (r->counts.least_pairs == 0 && b->pairs >= ENOUGH)
        *status = calibrate(r, b);
    pthread_mutex_lock(&r->lock);
    least = r->counts.least_pairs;
    pthread_mutex_unlock(&r->lock);
    return b->pairs < (least > 0 ? least : ENOUGH);
}

/* On the device it is submitted, on the host done. */
static void begin(gravel_requests *r, gv_batch *b)
{
    b->status = GRAVEL_OK;
    const int by_host = is_for_host(r, b, &b->status);
    if (!b->status && by_host)
        gv_request_host(r, b, b->requests);
    else if (!b->status)
        b->status = gv_request_launch(r, b, b->requests);
    if (b->status)
        snprintf(b->message, sizeof b->message, "%s", gravel_error_message());
    pthread_mutex_lock(&r->lock);
    r->counts.by_host += (size_t)by_host;
    pthread_mutex_unlock(&r->lock);
}

static void end(gravel_requests *r, gv_batch *b)
{
    const gravel_status status = gv_request_finish(r, b);
    if (!b->status && status) {
        b->status = status;
        snprintf(b->message, sizeof b->message, "%s", gravel_error_message());
    }
    for (size_t k = 0; k < b->requests; k++)
        if (b->asked[k].done)
            b->asked[k].done(b->status, b->asked[k].user);
    pthread_mutex_lock(&r->lock);
    if (b->status && !r->status) {
        r->status = b->status;
        memcpy(r->message, b->message, sizeof r->message);
    }
    r->counts.batches++;
    r->counts.requests += b->requests;
    r->counts.pairs += b->pairs;
    r->under_way--;
    gv_batch_push(&r->free, b);
    pthread_cond_broadcast(&r->room);
    if (r->under_way == 0)
        pthread_cond_broadcast(&r->idle);
    pthread_mutex_unlock(&r->lock);
}

/* Two batches are on the device at a time: one computes while the next is on its way. */
void *gv_requests_serve(void *user)
{
    gravel_requests *r = user;
    gv_batches flying = {NULL, NULL};
    int n = 0;
    for (;;) {
        pthread_mutex_lock(&r->lock);
        while (!r->filled.first && n == 0 && !r->stop)
            pthread_cond_wait(&r->work, &r->lock);
        const int ends = r->stop && !r->filled.first && n == 0;
        gv_batch *next = n < FLYING ? pop(&r->filled) : NULL;
        pthread_mutex_unlock(&r->lock);
        if (ends)
            return NULL;
        if (next) {
            begin(r, next);
            gv_batch_push(&flying, next);
            n++;
        } else {
            end(r, pop(&flying));
            n--;
        }
    }
}

/* ---------------------------------------------------------------- requests */

static gravel_status check(const gravel_requests *r, const gravel_request *q)
{
    if (r->count == 0)
        return gv_fail(GRAVEL_ERR_STATE, "there are no sources: gravel_requests_set_sources comes first");
    if ((q->cells > 0 && !q->cell) || (q->runs > 0 && !q->run))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a request has numbers of cells and runs, and no arrays of them");
    if ((size_t)q->sinks.first + q->sinks.count > r->count)
        return gv_fail(GRAVEL_ERR_INPUT, "the sinks go up to body %zu; there are %zu",
                       (size_t)q->sinks.first + q->sinks.count - 1, r->count);
    for (size_t k = 0; k < q->cells; k++)
        if (q->cell[k] >= r->cells)
            return gv_fail(GRAVEL_ERR_INPUT, "entry %zu of the list is cell %u; there are %zu", k, q->cell[k],
                           r->cells);
    for (size_t k = 0; k < q->runs; k++)
        if ((size_t)q->run[k].first + q->run[k].count > r->count)
            return gv_fail(GRAVEL_ERR_INPUT, "run %zu of the list goes up to body %zu; there are %zu", k,
                           (size_t)q->run[k].first + q->run[k].count - 1, r->count);
    return GRAVEL_OK;
}

/* What is being filled goes out; the lock is held. */
static void close_batch(gravel_requests *r)
{
    gv_batch *b = r->filling;
    r->filling = NULL;
    if (!b)
        return;
    if (b->requests == 0) {
        gv_batch_push(&r->free, b);
        return;
    }
    gv_batch_push(&r->filled, b);
    r->under_way++;
    pthread_cond_signal(&r->work);
}

static int fits(const gravel_requests *r, const gv_batch *b, const gravel_request *q)
{
    return b->requests < b->room_requests && b->units + q->sinks.count / r->chunk + 1 <= b->room_units &&
           b->entries + q->runs <= b->room_entries && b->cells + q->cells <= b->room_cells;
}

/* A batch with room for the request; the lock is held, and left while waiting. */
static gravel_status need_batch(gravel_requests *r, const gravel_request *q)
{
    while (r->filling && !fits(r, r->filling, q)) {
        if (r->filling->requests == 0)
            break;
        close_batch(r);
    }
    while (!r->filling) {
        r->filling = pop(&r->free);
        if (!r->filling)
            pthread_cond_wait(&r->room, &r->lock);
        else {
            gv_batch *b = r->filling;
            b->requests = b->units = b->entries = b->cells = b->sinks = 0;
            b->pairs = 0;
        }
        /* another thread may have filled it meanwhile */
        if (r->filling && !fits(r, r->filling, q) && r->filling->requests > 0)
            close_batch(r);
    }
    gv_batch *b = r->filling;
    if (fits(r, b, q))
        return GRAVEL_OK;
    /* lists of two hundred entries a bucket of sixteen sinks, or this request */
    const size_t n = r->options.batch, least = n / 16 + 1, units = q->sinks.count / r->chunk + 1;
    return gv_request_room(r, b, least, units + least + n / r->chunk, (q->runs > 64 * least ? q->runs : 64 * least),
                           (q->cells > 192 * least ? q->cells : 192 * least));
}

static void add(gravel_requests *r, gv_batch *b, const gravel_request *q)
{
    const size_t k = b->requests++, count = q->sinks.count, parts = (count + r->chunk - 1) / r->chunk;
    double sources = (double)q->cells;
    b->asked[k] = (gv_asked){q->sinks, q->acc, q->pot, q->done, q->user};
    for (size_t p = 0; p < parts; p++) {
        const size_t from = count * p / parts, to = count * (p + 1) / parts;
        b->unit[b->units++] = (gv_tasks_unit){q->sinks.first + (uint32_t)from, (uint32_t)(to - from), (uint32_t)k,
                                              (uint32_t)(b->sinks + from)};
    }
    b->begin[k] = (uint32_t)b->entries;
    b->cell_begin[k] = (uint32_t)b->cells;
    for (size_t e = 0; e < q->runs; e++)
        sources += q->run[e].count;
    if (q->runs > 0)
        memcpy(b->entry + b->entries, q->run, q->runs * sizeof *q->run);
    if (q->cells > 0)
        memcpy(b->cell + b->cells, q->cell, q->cells * sizeof *q->cell);
    b->entries += q->runs;
    b->cells += q->cells;
    b->begin[k + 1] = (uint32_t)b->entries;
    b->cell_begin[k + 1] = (uint32_t)b->cells;
    b->sinks += count;
    b->pairs += sources * (double)count;
}

gravel_status gravel_requests_submit(gravel_requests *r, const gravel_request *request)
{
    gravel_request q = GRAVEL_REQUEST_INIT;
    if (!r || !request)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_requests_submit needs requests and a request");
    gravel_status status = gv_options_take(&q, sizeof q, request, "gravel_request");
    if (!status)
        status = check(r, &q);
    if (status)
        return status;
    pthread_mutex_lock(&r->lock);
    status = need_batch(r, &q);
    if (!status) {
        add(r, r->filling, &q);
        if (r->filling->sinks >= r->options.batch)
            close_batch(r);
    }
    pthread_mutex_unlock(&r->lock);
    return status;
}

gravel_status gravel_requests_flush(gravel_requests *r)
{
    if (!r)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_requests_flush needs requests");
    pthread_mutex_lock(&r->lock);
    close_batch(r);
    pthread_mutex_unlock(&r->lock);
    return GRAVEL_OK;
}

gravel_status gravel_requests_wait(gravel_requests *r)
{
    if (!r)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_requests_wait needs requests");
    pthread_mutex_lock(&r->lock);
    close_batch(r);
    while (r->under_way > 0)
        pthread_cond_wait(&r->idle, &r->lock);
    const gravel_status status = r->status;
    char message[sizeof r->message];
    memcpy(message, r->message, sizeof message);
    r->status = GRAVEL_OK;
    pthread_mutex_unlock(&r->lock);
    return status ? gv_fail(status, "a batch failed: %s", message) : GRAVEL_OK;
}

gravel_status gravel_requests_get_counts(gravel_requests *r, gravel_requests_counts *counts)
{
    if (!r || !counts)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_requests_get_counts needs requests and a place for the counts");
    pthread_mutex_lock(&r->lock);
    *counts = r->counts;
    pthread_mutex_unlock(&r->lock);
    return GRAVEL_OK;
}
