/* Bodies as bytes: every word of every plane, and what decides how numbers are stored. */
#include <string.h>

#include "host/bodies/bodies.h"

/* The bytes begin with this; words follow in their order, `count` entries each.  No padding: what is saved twice is the
 * same. */
typedef struct head {
    char magic[8];
    uint64_t count, named, plane_bits, word_bits;
    gravel_frame frame;
    int32_t precision, has_box, has_mass_unit, own_ids, next_id, zero;
} head;
static const char magic[8] = "gvbodies";

size_t gravel_bodies_get_state_size(const gravel_bodies *bodies)
{
    size_t bytes = sizeof(head);
    for (int w = 0; bodies && w < GV_WORDS; w++)
        if (bodies->word[w].mem)
            bytes += bodies->count * gv_word_size(bodies, (gv_word)w);
    return bodies ? bytes : 0;
}

gravel_status gravel_bodies_save(gravel_bodies *bodies, void *state)
{
    if (!bodies || !state)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_bodies_save: no bodies, or no place for the state");
    head h = {.count = bodies->count,
              .named = bodies->named,
              .frame = bodies->frame,
              .precision = (int32_t)bodies->precision,
              .has_box = bodies->has_box,
              .has_mass_unit = bodies->has_mass_unit,
              .own_ids = bodies->own_ids,
              .next_id = bodies->next_id};
    char *at = (char *)state + sizeof h;
    memcpy(h.magic, magic, sizeof h.magic);
    for (int p = 0; p < GRAVEL_PLANES; p++)
        h.plane_bits |= (uint64_t)(bodies->version[p] > 0) << p;
    for (int w = 0; w < GV_WORDS; w++) {
        const size_t bytes = bodies->count * gv_word_size(bodies, (gv_word)w);
        if (!bodies->word[w].mem)
            continue;
        h.word_bits |= (uint64_t)1 << w;
        if (bytes == 0)
            continue;
        const cl_int code = clEnqueueReadBuffer(gv_worker_queue(&bodies->worker), bodies->word[w].mem, CL_TRUE, 0,
                                                bytes, at, 0, NULL, NULL);
        if (code)
            return gv_fail_cl(code, "reading the planes of %zu bodies", bodies->count);
        at += bytes;
    }
    memcpy(state, &h, sizeof h);
    return GRAVEL_OK;
}

static gravel_status check_state(const gravel_bodies *bodies, const head *h, size_t size)
{
    if (size < sizeof *h || memcmp(h->magic, magic, sizeof magic) != 0)
        return gv_fail(GRAVEL_ERR_FORMAT, "this is no state of bodies");
    if (h->precision != (int32_t)bodies->precision)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the state is of bodies in %s, these are in %s",
                       (uint32_t)h->precision <= GRAVEL_DP ? gravel_precision_name((gravel_precision)h->precision)
                                                           : "another precision",
                       gravel_precision_name(bodies->precision));
    if (h->count > GV_MOST_BODIES || h->word_bits >> GV_WORDS != 0 || h->plane_bits >> GRAVEL_PLANES != 0)
        return gv_fail(GRAVEL_ERR_FORMAT, "the state of bodies is damaged");
    size_t bytes = sizeof *h;
    for (int w = 0; w < GV_WORDS; w++)
        if (h->word_bits >> w & 1)
            bytes += h->count * gv_word_size(bodies, (gv_word)w);
    if (bytes != size)
        return gv_fail(GRAVEL_ERR_FORMAT, "the state of %zu bodies has %zu bytes; it should have %zu", (size_t)h->count,
                       size, bytes);
    return GRAVEL_OK;
}

gravel_status gravel_bodies_restore(gravel_bodies *bodies, const void *state, size_t size)
{
    head h = {.count = 0};
    if (!bodies || !state)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_bodies_restore: no bodies or no state");
    memcpy(&h, state, size < sizeof h ? size : sizeof h);
    gravel_status status = check_state(bodies, &h, size);
    /* away with what was there: words that the state lacks must not keep old numbers */
    for (int w = 0; w < GV_WORDS && !status; w++)
        gv_buffer_release(&bodies->word[w]);
    if (!status)
        status = gravel_bodies_resize(bodies, 0);
    if (!status)
        status = gravel_bodies_resize(bodies, h.count);
    const char *at = (const char *)state + sizeof h;
    for (int w = 0; w < GV_WORDS && !status; w++) {
        const size_t bytes = h.count * gv_word_size(bodies, (gv_word)w);
        cl_mem mem;
        if (!(h.word_bits >> w & 1))
            continue;
        status = gv_bodies_need(bodies, (gv_word)w, &mem);
        const cl_int code = status || bytes == 0 ? CL_SUCCESS
                                                 : clEnqueueWriteBuffer(gv_worker_queue(&bodies->worker), mem, CL_TRUE,
                                                                        0, bytes, at, 0, NULL, NULL);
        if (code)
            status = gv_fail_cl(code, "writing the planes of %zu bodies", (size_t)h.count);
        at += bytes;
    }
    if (status)
        return status;
    bodies->frame = h.frame;
    bodies->has_box = h.has_box;
    bodies->has_mass_unit = h.has_mass_unit;
    bodies->own_ids = h.own_ids;
    bodies->named = h.named;
    bodies->next_id = h.next_id;
    for (int p = 0; p < GRAVEL_PLANES; p++) {
        const int there = (h.plane_bits >> p & 1) != 0;
        bodies->version[p] = there || bodies->version[p] > 0 ? bodies->version[p] + 1 : 0;
    }
    return GRAVEL_OK;
}
