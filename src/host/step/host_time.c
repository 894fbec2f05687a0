/* Up to how many bodies the host moves a block faster than the device.  Measured once and kept, so that decisions, and
 * with them the bits of a run, are the same from run to run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "host/device/device.h"
#include "host/direct/object.h"
#include "host/program/cache.h"
#include "host/program/program.h"
#include "host/step/step.h"

/* The host predicts all bodies for each block: beyond these a device is faster even for one. */
enum { MOST_BODIES = 65536 };
enum { TRIES = 5, MOST_POINTS = 4 };

/* The fastest of some tries counts: others on the machine can only slow one down. */
static gravel_status time_block(gravel_hermite *h, int by_host, size_t count, double *seconds)
{
    const double time = h->now + h->options.step_min;
    gravel_status status = GRAVEL_OK;
    gv_due due;
    *seconds = INFINITY;
    for (int k = 0; k <= TRIES && !status; k++) {
        const double begin = gv_now();
        if (by_host) {
            status = gv_host_find(h, &due);
            gv_host_take_all(h);
            gv_host_move(h, count, time, 1);
        } else {
            status = gv_hermite_try(h, count, time);
            if (!status)
                status = gv_selector_find(&h->select, h->options.shared, &due); /* waits; only the list is another */
        }
        if (k > 0) /* the first one compiles */
            *seconds = fmin(*seconds, gv_now() - begin);
    }
    return status;
}

/* Blocks that take the host as long as the device takes one of them.  The host's time grows in proportion to the
 * bodies, so few points are needed, and few kernels compiled that a run may not use. */
static gravel_status find_crossing(gravel_hermite *h, size_t *up_to)
{
    const size_t n = h->n, many = n < 256 ? n : 256;
    double one = 0, more = 0, device = 0;
    size_t at = 1;
    gravel_status status = time_block(h, 1, 1, &one);
    if (!status)
        status = time_block(h, 1, many, &more);
    const double each = fmax((more - one) / (double)(many > 1 ? many - 1 : 1), 1e-9);
    *up_to = 0;
    for (int k = 0; k < MOST_POINTS && !status; k++) {
        status = time_block(h, 0, at, &device);
        const double fit = status || device < one ? 0 : 1 + (device - one) / each;
        const size_t next = fit >= (double)n ? n : (size_t)fit;
        if (status || next <= *up_to)
            break;
        at = *up_to = next;
    }
    return status;
}

static int find_key(const gravel_hermite *h, gv_digest *key)
{
    const gv_device *device = gv_worker_device(&h->worker);
    const int about[] = {(int)h->bodies->precision, h->options.order, (int)device->info.compute_units,
                         (int)ceil(log2((double)h->n)), gv_pool_threads(gv_context_pool(h->worker.context))};
    char version[17];
    gv_hasher hasher;
    if (gv_program_version(h->worker.context, "direct/force.cl", version))
        return 0;
    gv_hash_start(&hasher);
    gv_hash_text(&hasher, version);
    gv_device_hash(device, &hasher);
    gv_hash_add(&hasher, about, sizeof about);
    gv_hash_end(&hasher, key);
    return 1;
}

/* With another solver: the configurations that this one chose must not depend on trials. */
static gravel_status measure(gravel_hermite *h, size_t *up_to)
{
    gravel_direct *const own = h->direct, *trial = NULL;
    gravel_status status = gravel_direct_create(&trial, h->worker.context, &own->options);
    h->direct = trial;
    if (!status)
        status = find_crossing(h, up_to);
    h->direct = own;
    gravel_direct_release(trial);
    return status;
}

/* What was kept, or is measured now. */
static gravel_status need_measured(gravel_hermite *h)
{
    gv_digest key;
    unsigned char *kept = NULL;
    size_t size = 0;
    uint64_t up_to = 0;
    const int has_key = find_key(h, &key);
    if (has_key && gv_cache_load(h->worker.context, "hermite", &key, &kept, &size) && size == sizeof up_to) {
        memcpy(&up_to, kept, sizeof up_to);
        h->host_up_to = up_to < h->n ? (size_t)up_to : h->n;
    } else {
        const gravel_status status = measure(h, &h->host_up_to);
        if (status)
            return status;
        up_to = h->host_up_to < h->n ? h->host_up_to : UINT64_MAX; /* of other numbers of bodies, too */
        if (has_key)
            gv_cache_store(h->worker.context, "hermite", &key, &up_to, sizeof up_to);
    }
    free(kept);
    return GRAVEL_OK;
}

gravel_status gv_host_decide(gravel_hermite *h)
{
    const gravel_hermite_options *o = &h->options;
    const int may = !o->external && !o->forces && o->soften == GRAVEL_SOFTEN_EPS && h->n <= MOST_BODIES;
    h->copy.is_current = 0;
    h->copy.too_short = UINT32_MAX;
    h->host_up_to = o->host == GRAVEL_HOST_ALWAYS ? h->n : 0;
    const gravel_status status = o->host == GRAVEL_HOST_WHERE_FASTER && may ? need_measured(h) : GRAVEL_OK;
    if (o->shared && h->host_up_to < h->n)
        h->host_up_to = 0; /* its blocks are all bodies */
    return status;
}
