/* Up to how many bodies the host moves blocks.  What blocks take is measured once and kept, and is part of a state; the
 * steps of the bodies say which blocks will come (host_plan.h), and are looked at anew at certain blocks.  So
 * decisions, and with them the bits of a run, are the same from run to run and after it was resumed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "host/device/device.h"
#include "host/direct/count.h"
#include "host/direct/object.h"
#include "host/program/cache.h"
#include "host/program/program.h"
#include "host/step/step.h"

/* The host predicts all bodies for each block: beyond these a device is faster even for one. */
enum { MOST_BODIES = 65536 };
enum { TRIES = 5, FEW = 16, MANY = 256 };
/* Blocks between two looks at the steps, which are short at first and find their lengths within some blocks. */
enum { REVIEWED = 1024 };

typedef enum mover { HOST, DEVICE, CARRIED } mover;

/* A block of the device amid blocks of the host: `count` bodies go to the device, and those of the block come back. */
static gravel_status try_carried(gravel_hermite *h, size_t count, double time)
{
    gv_host_copy *c = &h->copy;
    gv_due due;
    for (size_t k = 0; k < count; k++) {
        c->mark[k] = 1;
        c->changed[k] = (uint32_t)k;
    }
    c->changes = count;
    gravel_status status = gv_copy_send(h, count);
    if (!status)
        status = gv_hermite_try(h, count, time);
    if (!status)
        status = gv_copy_take(h, count);
    return status ? status : gv_host_find(h, &due);
}

static gravel_status try_once(gravel_hermite *h, mover by, size_t count, double time)
{
    gv_due due;
    gravel_status status = by == DEVICE ? gv_hermite_try(h, count, time) : gv_host_find(h, &due);
    if (status)
        return status;
    if (by == DEVICE)
        return gv_selector_find(&h->select, h->options.shared, &due); /* waits; only the list is another */
    gv_host_take_all(h);
    if (by == CARRIED)
        return try_carried(h, count, time);
    gv_host_move(h, count, time, 1);
    return GRAVEL_OK;
}

/* The fastest of some tries counts: others on the machine can only slow one down.  What the device moves alone it moves
 * block after block. */
static gravel_status time_block(gravel_hermite *h, mover by, size_t count, double *seconds)
{
    enum { ROW = 8 };
    const double time = h->now + h->options.step_min;
    const int ahead = by == DEVICE && h->ahead.is_tried;
    gravel_status status = ahead ? gv_selector_take_all(&h->select) : GRAVEL_OK;
    *seconds = INFINITY;
    for (int k = 0; k <= TRIES && !status; k++) {
        const double begin = gv_now();
        status = ahead ? gv_ahead_try(h, count, time, ROW) : try_once(h, by, count, time);
        if (ahead && h->ahead.is_refused) { /* as blocks will be moved, then: one by one */
            h->ahead.is_tried = 0;
            return time_block(h, by, count, seconds);
        }
        if (k > 0) /* the first one compiles */
            *seconds = fmin(*seconds, (gv_now() - begin) / (ahead ? ROW : 1));
    }
    return status;
}

static gravel_status find_slope(gravel_hermite *h, mover by, size_t bodies, gv_line *line)
{
    double more = 0;
    const gravel_status status = time_block(h, by, bodies, &more);
    if (bodies > 1)
        line->each = fmax(line->each, (more - line->one) / (double)(bodies - 1));
    return status;
}

/* Through blocks of one body and of many: few points, since each may compile kernels that a run does not use.  The host
 * moves few bodies with one thread, many with all: the steeper of both counts, or blocks of some ten bodies, which are
 * most, would seem to take as little of a body as those of hundreds. */
static gravel_status find_line(gravel_hermite *h, mover by, gv_line *line)
{
    line->each = 0;
    gravel_status status = time_block(h, by, 1, &line->one);
    if (!status && by == HOST)
        status = find_slope(h, by, h->n < FEW ? h->n : FEW, line);
    return status ? status : find_slope(h, by, h->n < MANY ? h->n : MANY, line);
}

static gravel_status find_costs(gravel_hermite *h, gv_host_costs *costs)
{
    gv_line carried = {0, 0};
    gravel_status status = find_line(h, HOST, &costs->host);
    if (!status)
        status = find_line(h, DEVICE, &costs->device);
    if (!status)
        status = find_line(h, CARRIED, &carried);
    /* in a try each body comes and goes: two of those that costs->carry counts */
    costs->carry = (gv_line){fmax(carried.one - costs->device.one, 0), fmax(carried.each - costs->device.each, 0) / 2};
    return status;
}

static int find_key(const gravel_hermite *h, gv_digest *key)
{
    const gv_device *device = gv_worker_device(&h->worker);
    const int about[] = {FEW,
                         gv_ahead_may(h),
                         (int)h->bodies->precision,
                         h->options.costs ? h->options.processes : 1,
                         h->options.order,
                         (int)device->info.compute_units,
                         (int)ceil(log2((double)h->n)),
                         gv_pool_threads(gv_context_pool(h->worker.context))};
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

/* With another solver: the configurations that this one chose must not depend on trials.  Forces of several devices
 * have a measure of their own; those of several processes belong to what a block of the device takes. */
static gravel_status measure(gravel_hermite *h, gv_host_costs *costs)
{
    gravel_direct *const own = h->direct, *trial = NULL;
    const gravel_forces_fn forces = h->options.forces;
    gravel_status status = gravel_direct_create(&trial, h->worker.context, &own->options);
    if (!status)
        gv_direct_count_not(trial);
    h->ahead.is_tried = gv_ahead_may(h) && (h->n < MANY ? h->n : MANY) <= gv_ahead_most(h);
    h->direct = trial;
    h->options.forces = h->options.costs ? forces : NULL;
    if (!status)
        status = find_costs(h, costs);
    h->direct = own;
    h->options.forces = forces;
    gravel_direct_release(trial);
    return status;
}

/* Numbers of all processes, where there are several: the largest. */
static gravel_status take_largest(const gravel_hermite *h, gravel_status status, double *number, size_t count)
{
    return h->options.costs ? h->options.costs(status, number, count, h->options.forces_user) : status;
}

/* What was kept, or is measured now: by all processes at the same time, since they may share cores. */
static gravel_status need_costs(gravel_hermite *h)
{
    enum { NUMBERS = sizeof h->costs / sizeof(double) };
    gv_digest key;
    unsigned char *kept = NULL;
    double number[NUMBERS] = {0}, is_missing;
    size_t size = 0;
    const int has_key = find_key(h, &key);
    is_missing = !has_key || !gv_cache_load(h->worker.context, "hermite", &key, &kept, &size) || size != sizeof number;
    if (!is_missing)
        memcpy(number, kept, sizeof number);
    free(kept);
    gravel_status status = take_largest(h, GRAVEL_OK, &is_missing, 1);
    if (!status && is_missing > 0) {
        status = measure(h, &h->costs);
        memcpy(number, &h->costs, sizeof number);
        if (!status && has_key)
            gv_cache_agree(h->worker.context, "hermite", &key, number, sizeof number);
    }
    status = take_largest(h, status, number, NUMBERS);
    memcpy(&h->costs, number, sizeof number);
    return status;
}

/* ------------------------------------------------------------------ decisions */

/* How many bodies have steps of 2^-k times the longest one there may be. */
static gravel_status count_steps(gravel_hermite *h, size_t steps[GRAVEL_STEP_POWERS])
{
    const size_t n = h->n;
    const int longest = ilogb(h->options.step_max);
    gravel_status status = GRAVEL_OK;
    double *read = NULL;
    memset(steps, 0, GRAVEL_STEP_POWERS * sizeof *steps);
    if (!h->copy.is_current) {
        read = malloc(n * sizeof *read);
        status = read ? gravel_bodies_read(h->bodies, GRAVEL_STEP, 0, n, &GRAVEL_ARRAY_OUT(read))
                      : gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu steps", n);
    }
    const double *const step = h->copy.is_current ? gv_own(&h->copy, GV_OWN_STEP) : read;
    for (size_t k = 0; k < n && !status; k++) {
        const int level = longest - ilogb(step[k]);
        steps[level < 0 ? 0 : level < GRAVEL_STEP_POWERS ? level : GRAVEL_STEP_POWERS - 1]++;
    }
    free(read);
    return status;
}

static gravel_status plan(gravel_hermite *h)
{
    size_t steps[GRAVEL_STEP_POWERS];
    gravel_status status = count_steps(h, steps);
    if (status)
        return status;
    const size_t up_to = gv_host_plan(&h->costs, steps, GRAVEL_STEP_POWERS, h->host_up_to, h->options.shared);
    if ((up_to > 0) != (h->host_up_to > 0)) {
        status = gv_copy_send(h, 0);
        h->copy.is_current = 0;
        h->next_known = 0;
    }
    h->host_up_to = up_to;
    return status;
}

gravel_status gv_host_compare(gravel_hermite *h, gravel_status status, int *may)
{
    const double mine = gv_sum_instructions();
    double ends[2] = {mine, -mine};
    if (!h->options.costs || !*may)
        return status;
    status = take_largest(h, status, ends, 2);
    *may = !status && ends[0] == -ends[1];
    if (!status && !*may && h->options.host == GRAVEL_HOST_ALWAYS)
        return gv_fail(GRAVEL_ERR_STATE, "processors of the processes have different instructions: what their hosts "
                                         "find could differ in the last bits");
    return status;
}

gravel_status gv_host_decide(gravel_hermite *h)
{
    const gravel_hermite_options *o = &h->options;
    int may = o->host != GRAVEL_HOST_NEVER && !o->external && (!o->forces || o->forces_alike) &&
              o->soften == GRAVEL_SOFTEN_EPS && (o->host == GRAVEL_HOST_ALWAYS || h->n <= MOST_BODIES);
    h->copy.is_current = 0;
    h->copy.too_short = UINT32_MAX;
    gravel_status status = gv_host_compare(h, GRAVEL_OK, &may);
    h->host_up_to = may && o->host == GRAVEL_HOST_ALWAYS ? h->n : 0;
    h->may_review = may && o->host == GRAVEL_HOST_WHERE_FASTER;
    if (status || !h->may_review)
        return status;
    status = need_costs(h);
    return status ? status : plan(h);
}

static int is_reviewed(uint64_t blocks)
{
    return (blocks >= 16 && blocks < REVIEWED && (blocks & (blocks - 1)) == 0) || blocks % REVIEWED == 0;
}

gravel_status gv_host_review(gravel_hermite *h)
{
    if (!h->may_review || h->options.shared || h->copy.too_short != UINT32_MAX || !is_reviewed(h->counts.blocks))
        return GRAVEL_OK;
    return plan(h);
}

size_t gv_host_until_review(const gravel_hermite *h)
{
    size_t blocks = 1;
    if (!h->may_review)
        return SIZE_MAX;
    while (!is_reviewed(h->counts.blocks + blocks))
        blocks++;
    return blocks;
}
