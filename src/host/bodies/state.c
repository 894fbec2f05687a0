/* Bodies as bytes: every word of every plane, and what decides how numbers are stored. */
#include <stdlib.h>
#include <string.h>

#include "host/bodies/order.h"

/* The bytes begin with this; words follow in their order, `count` entries each.  No padding: what is saved twice is the
 * same. */
typedef struct head {
    char magic[8];
    uint64_t count, named, plane_bits, word_bits;
    gravel_frame frame;
    int32_t precision, has_box, has_mass_unit, own_ids, next_id, ids_mixed;
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
              .next_id = bodies->next_id,
              .ids_mixed = bodies->ids_mixed};
    char *at = (char *)state + sizeof h;
    memcpy(h.magic, magic, sizeof h.magic);
    for (int p = 0; p < GRAVEL_PLANES; p++)
        h.plane_bits |= (uint64_t)bodies->has[p] << p;
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

static size_t state_bytes(const gravel_bodies *bodies, const head *h, uint64_t count)
{
    size_t bytes = sizeof *h;
    for (int w = 0; w < GV_WORDS; w++)
        if (h->word_bits >> w & 1)
            bytes += count * gv_word_size(bodies, (gv_word)w);
    return bytes;
}

/* `size` bytes, of which the state may be the first. */
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
    const size_t bytes = state_bytes(bodies, h, h->count);
    if (bytes > size)
        return gv_fail(GRAVEL_ERR_FORMAT, "the state of %zu bodies has %zu bytes; it should have %zu", (size_t)h->count,
                       size, bytes);
    return GRAVEL_OK;
}

/* Away with what is there: planes that a state lacks must neither keep old numbers nor be taken for planes. */
static gravel_status empty(gravel_bodies *bodies)
{
    for (int w = 0; w < GV_WORDS; w++)
        gv_buffer_release(&bodies->word[w]);
    for (int p = 0; p < GRAVEL_PLANES; p++) {
        bodies->version[p] += bodies->has[p];
        bodies->has[p] = 0;
    }
    return gravel_bodies_resize(bodies, 0);
}

gravel_status gravel_bodies_restore(gravel_bodies *bodies, const void *state, size_t size)
{
    head h = {.count = 0};
    if (!bodies || !state)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_bodies_restore: no bodies or no state");
    memcpy(&h, state, size < sizeof h ? size : sizeof h);
    gravel_status status = check_state(bodies, &h, size);
    if (!status && state_bytes(bodies, &h, h.count) != size)
        status = gv_fail(GRAVEL_ERR_FORMAT, "the state of %zu bodies has %zu bytes; it should have %zu",
                         (size_t)h.count, size, state_bytes(bodies, &h, h.count));
    if (!status)
        status = empty(bodies);
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
    bodies->ids_mixed = h.ids_mixed;
    for (int p = 0; p < GRAVEL_PLANES; p++)
        if (h.plane_bits >> p & 1)
            gv_bodies_changed(bodies, (gravel_plane)p);
    return GRAVEL_OK;
}

/* ------------------------------------------------------- several states, parts */

/* Entries first ... first + count - 1 of each word of a state at `from`, to where they belong among all at `to`. */
static void copy_words(const gravel_bodies *bodies, const head *h, const char *from, size_t from_count, size_t first,
                       char *to, size_t to_count, size_t at, size_t count)
{
    from += sizeof *h;
    to += sizeof *h;
    for (int w = 0; w < GV_WORDS; w++) {
        const size_t each = gv_word_size(bodies, (gv_word)w);
        if (!(h->word_bits >> w & 1))
            continue;
        memcpy(to + at * each, from + first * each, count * each);
        from += from_count * each;
        to += to_count * each;
    }
}

/* Of a state whose words are there: as if its ids had been written (put.c). */
static int has_mixed_ids(const gravel_bodies *bodies, const head *h, const char *state)
{
    size_t at = sizeof *h;
    for (int w = 0; w < GV_WORD_ID; w++)
        at += h->word_bits >> w & 1 ? h->count * gv_word_size(bodies, (gv_word)w) : 0;
    return h->word_bits >> GV_WORD_ID & 1 && gv_are_mixed((const int32_t *)(const void *)(state + at), 1, h->count);
}

static gravel_status make_state(const gravel_bodies *bodies, const head *h, void **state, size_t *size)
{
    *size = state_bytes(bodies, h, h->count);
    *state = malloc(*size);
    if (!*state)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the state of %zu bodies", (size_t)h->count);
    memcpy(*state, h, sizeof *h);
    return GRAVEL_OK;
}

gravel_status gv_bodies_join_states(const gravel_bodies *bodies, const void *parts, size_t size, void **state,
                                    size_t *state_size)
{
    const char *from = parts;
    head all = {.count = 0}, h;
    gravel_status status = GRAVEL_OK;
    *state = NULL;
    for (size_t at = 0; at < size && !status; at += state_bytes(bodies, &h, h.count)) {
        memcpy(&h, from + at, size - at < sizeof h ? size - at : sizeof h);
        status = check_state(bodies, &h, size - at);
        const uint64_t before = all.count;
        if (!status && at > 0 &&
            (memcmp(&h.frame, &all.frame, sizeof h.frame) != 0 || h.word_bits != all.word_bits || h.own_ids))
            status = gv_fail(GRAVEL_ERR_STATE, "bodies of several processes differ in frame or planes");
        if (at == 0)
            all = h;
        else
            all.count = before + h.count;
    }
    if (!status)
        status = make_state(bodies, &all, state, state_size);
    for (size_t at = 0, k = 0; at < size && !status; at += state_bytes(bodies, &h, h.count), k += h.count) {
        memcpy(&h, from + at, sizeof h);
        copy_words(bodies, &h, from + at, h.count, 0, *state, all.count, k, h.count);
    }
    return status;
}

gravel_status gv_bodies_cut_state(const gravel_bodies *bodies, const void *state, size_t size, size_t first,
                                  size_t count, void **part, size_t *part_size)
{
    head h = {.count = 0};
    *part = NULL;
    memcpy(&h, state, size < sizeof h ? size : sizeof h);
    gravel_status status = check_state(bodies, &h, size);
    if (!status && (first > h.count || count > h.count - first))
        status = gv_fail(GRAVEL_ERR_FORMAT, "the state has %zu bodies, not %zu", (size_t)h.count, first + count);
    const size_t all = h.count;
    h.count = count;
    if (!status)
        status = make_state(bodies, &h, part, part_size);
    if (!status)
        copy_words(bodies, &h, state, all, first, *part, count, 0, count);
    if (!status) {
        h.ids_mixed = has_mixed_ids(bodies, &h, *part);
        memcpy(*part, &h, sizeof h);
    }
    return status;
}
