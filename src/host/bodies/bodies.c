/* Bodies: made, released, their number, their planes. */
#include "host/bodies/bodies.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "host/base/options.h"
#include "host/bodies/order.h"
#include "host/bodies/transfer.h"

void gravel_bodies_options_init(gravel_bodies_options *options)
{
    *options = (gravel_bodies_options)GRAVEL_BODIES_OPTIONS_INIT;
}

gravel_status gravel_bodies_create(gravel_bodies **bodies, gravel_context *context,
                                   const gravel_bodies_options *options)
{
    gravel_bodies_options taken = GRAVEL_BODIES_OPTIONS_INIT;
    if (!bodies || !context)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_bodies_create: no place for the result, or no context");
    *bodies = NULL;
    gravel_status status = gv_options_take(&taken, sizeof taken, options, "gravel_bodies_options");
    if (status)
        return status;
    if (taken.device < 0 || taken.device >= context->n_devices || (unsigned)taken.precision > GRAVEL_DP)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_bodies_create: device %d of %d, precision %d", taken.device,
                       context->n_devices, (int)taken.precision);
    const gravel_device_info *info = &context->device[taken.device].info;
    if (taken.precision == GRAVEL_DP && !info->has_fp64)
        return gv_fail(GRAVEL_ERR_UNSUPPORTED, "%s has no double: bodies in dp cannot be kept there, ds can",
                       info->name);
    gravel_bodies *made = calloc(1, sizeof *made);
    if (!made)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for bodies");
    made->worker = (gv_worker){.context = context, .device = taken.device};
    made->precision = taken.precision;
    made->frame = (gravel_frame){{0, 0, 0}, 1, 1};
    status = gv_bodies_reserve(made, taken.capacity);
    if (status) {
        gravel_bodies_release(made);
        return status;
    }
    *bodies = made;
    return GRAVEL_OK;
}

void gravel_bodies_release(gravel_bodies *bodies)
{
    if (!bodies)
        return;
    gv_order_release(bodies);
    gv_transfer_release(bodies);
    if (bodies->advance)
        clReleaseKernel(bodies->advance);
    for (int w = 0; w < GV_WORDS; w++)
        gv_buffer_release(&bodies->word[w]);
    gv_worker_clear(&bodies->worker);
    free(bodies);
}

size_t gravel_bodies_get_count(const gravel_bodies *bodies)
{
    return bodies ? bodies->count : 0;
}

gravel_precision gravel_bodies_get_precision(const gravel_bodies *bodies)
{
    return bodies ? bodies->precision : GRAVEL_SP;
}

int gravel_bodies_has_plane(const gravel_bodies *bodies, gravel_plane plane)
{
    return bodies && gv_plane_place(plane) && bodies->has[plane];
}

size_t gravel_bodies_get_memory(const gravel_bodies *bodies)
{
    size_t bytes = 0;
    for (int w = 0; bodies && w < GV_WORDS; w++)
        bytes += bodies->word[w].size;
    return bytes;
}

void gv_bodies_changed(gravel_bodies *bodies, gravel_plane plane)
{
    bodies->has[plane] = 1;
    bodies->version[plane]++;
}

/* Zeros, or ids -1, into entries first ... last - 1 of a word. */
static gravel_status clear(gravel_bodies *bodies, gv_word word, size_t first, size_t last)
{
    const cl_int value = word == GV_WORD_ID ? -1 : 0;
    const size_t size = gv_word_size(bodies, word);
    if (first >= last)
        return GRAVEL_OK;
    const cl_int code = clEnqueueFillBuffer(gv_worker_queue(&bodies->worker), bodies->word[word].mem, &value,
                                            sizeof value, first * size, (last - first) * size, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "clearing bodies %zu ... %zu", first, last - 1) : GRAVEL_OK;
}

/* A word of `capacity` entries; what it holds is kept. */
static gravel_status grow_word(gravel_bodies *bodies, gv_word word, size_t capacity)
{
    static const char *const what = "bodies";
    const size_t size = gv_word_size(bodies, word);
    const size_t before = bodies->word[word].mem ? bodies->word[word].size / size : 0;
    gravel_status status =
        gv_buffer_grow(&bodies->worker, &bodies->word[word], capacity * size, bodies->count * size, what);
    if (!status && word == GV_WORD_ID && before < capacity)
        status = clear(bodies, word, before < bodies->count ? before : bodies->count, capacity);
    return status;
}

gravel_status gv_bodies_need(gravel_bodies *bodies, gv_word word, cl_mem *mem)
{
    gravel_status status = GRAVEL_OK;
    if (bodies->capacity == 0)
        status = gv_bodies_reserve(bodies, GV_BODIES_UNIT);
    if (!status && !bodies->word[word].mem)
        status = grow_word(bodies, word, bodies->capacity);
    *mem = bodies->word[word].mem;
    return status;
}

gravel_status gv_bodies_reserve(gravel_bodies *bodies, size_t count)
{
    if (count <= bodies->capacity)
        return GRAVEL_OK;
    if (count > GV_MOST_BODIES)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%zu bodies: there may be at most %zu", count, GV_MOST_BODIES);
    const size_t fits = (size_t)gv_worker_device(&bodies->worker)->info.max_allocation /
                        (bodies->precision == GRAVEL_DP ? 32 : 16) / GV_BODIES_UNIT * GV_BODIES_UNIT;
    const size_t exact = (count + GV_BODIES_UNIT - 1) / GV_BODIES_UNIT * GV_BODIES_UNIT;
    if (exact > fits)
        return gv_fail(GRAVEL_ERR_DEVICE_MEMORY, "%zu bodies: one buffer of %s takes the vectors of at most %zu", count,
                       gv_worker_device(&bodies->worker)->info.name, fits);
    /* growing by half each time keeps the number of moves small; the last step goes to the limit */
    size_t capacity = (bodies->capacity * 3 / 2 + GV_BODIES_UNIT - 1) / GV_BODIES_UNIT * GV_BODIES_UNIT;
    capacity = capacity < exact ? exact : capacity > fits ? fits : capacity;
    for (int w = 0; w < GV_WORDS; w++) {
        gravel_status status = bodies->word[w].mem ? grow_word(bodies, (gv_word)w, capacity) : GRAVEL_OK;
        if (status)
            return status;
    }
    bodies->capacity = capacity;
    return GRAVEL_OK;
}

gravel_status gravel_bodies_resize(gravel_bodies *bodies, size_t count)
{
    if (!bodies)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_bodies_resize: no bodies");
    if (count == bodies->count)
        return GRAVEL_OK;
    gravel_status status = gv_bodies_reserve(bodies, count);
    for (int w = 0; w < GV_WORDS && !status; w++)
        if (bodies->word[w].mem)
            status = clear(bodies, (gv_word)w, count, bodies->count);
    if (status)
        return status;
    gv_order_shrunk(bodies, count);
    bodies->count = count;
    if (bodies->named > count)
        bodies->named = count;
    bodies->order_version++;
    return GRAVEL_OK;
}

gravel_status gv_bodies_need_ids(gravel_bodies *bodies)
{
    enum { BLOCK = 4096 };
    int32_t id[BLOCK];
    const gravel_array from = {id, NULL, NULL, 1, GRAVEL_I32};
    gravel_status status = GRAVEL_OK;
    if (bodies->has[GRAVEL_ID] && !bodies->own_ids)
        return GRAVEL_OK;
    while (bodies->named < bodies->count && !status) {
        const size_t left = bodies->count - bodies->named, n = left < BLOCK ? left : BLOCK;
        for (size_t k = 0; k < n; k++)
            id[k] = bodies->next_id + (int32_t)k;
        bodies->own_ids = 0; /* a write of ids ends numbers that were given before */
        status = gravel_bodies_write(bodies, GRAVEL_ID, bodies->named, n, &from);
        bodies->own_ids = 1;
        bodies->named += status ? 0 : n;
        bodies->next_id += status ? 0 : (int32_t)n;
    }
    return status;
}

gv_time_words gv_time_split(gravel_precision precision, double time)
{
    if (precision == GRAVEL_DP)
        return (gv_time_words){time, 0};
    return (gv_time_words){(float)time, (float)(time - (double)(float)time)};
}

gv_time_words gv_time_not_after(gravel_precision precision, double time)
{
    gv_time_words t = gv_time_split(precision, fmin(time, precision == GRAVEL_DP ? DBL_MAX : FLT_MAX));
    if (t.high + (double)t.low > time)
        t.low = nextafterf(t.low, -INFINITY);
    return t;
}
