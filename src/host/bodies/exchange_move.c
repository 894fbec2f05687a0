/* Bodies dealt out over several address spaces: those that leave are packed, those that come are added. */
#include "host/bodies/exchange.h"

#include <string.h>

#include "host/bodies/order.h"

/* --------------------------------------------------------------------- deal */

static gravel_status find_parts(gravel_exchange *x, const uint64_t *split)
{
    gravel_bodies *bodies = x->bodies;
    cl_command_queue queue = gv_worker_queue(&x->worker);
    const size_t parts = (size_t)x->parts;
    cl_int code = CL_SUCCESS;
    gravel_status status = gv_buffer_reserve(&x->worker, &x->split, parts * 8, "splits of the curve");
    if (!status)
        status = gv_buffer_reserve(&x->worker, &x->begin_device, (parts + 1) * 4, "splits of the curve");
    if (!status && parts > 1)
        code = clEnqueueWriteBuffer(queue, x->split.mem, CL_FALSE, 0, (parts - 1) * 8, split, 0, NULL, NULL);
    if (!status && !code)
        status = gv_launch(&x->worker, 0, x->find, gv_items(parts + 1, 64), GV_MEM(x->sort.key[x->sort.sorted]),
                           GV_UINT(bodies->count), GV_MEM(x->split), GV_UINT(parts), GV_MEM(x->begin_device));
    if (!status && !code)
        code = clEnqueueReadBuffer(queue, x->begin_device.mem, CL_TRUE, 0, (parts + 1) * 4, x->begin, 0, NULL, NULL);
    if (status || code)
        clFinish(queue); /* the splits are the caller's */
    return status ? status : code ? gv_fail_cl(code, "finding the parts of %zu bodies", bodies->count) : GRAVEL_OK;
}

static int size_of_entry(size_t size)
{
    return size == 4 ? 0 : size == 8 ? 1 : size == 16 ? 2 : 3;
}

/* Bytes of one word of `count` bodies in a block, whose words begin at multiples of the largest entry. */
static size_t section(const gravel_bodies *bodies, int word, size_t count)
{
    enum { ENTRY = 32 };
    return bodies->word[word].mem ? (count * gv_word_size(bodies, (gv_word)word) + ENTRY - 1) / ENTRY * ENTRY : 0;
}

static size_t bytes_of(const gravel_bodies *bodies, size_t count)
{
    size_t bytes = 0;
    for (int w = 0; w < GV_WORDS; w++)
        bytes += section(bodies, w, count);
    return bytes;
}

static gravel_status take_slot(gravel_exchange *x, size_t bytes, gv_slot **slot)
{
    if (*slot)
        (*slot)->held = 0;
    *slot = NULL;
    gravel_status status = gv_slots_take(&x->worker, &x->slots, bytes, slot);
    if (!status)
        (*slot)->held = 1;
    return status;
}

static gravel_status pack(gravel_exchange *x, int part, size_t at)
{
    gravel_bodies *bodies = x->bodies;
    const size_t first = x->begin[part], count = x->begin[part + 1] - first;
    gravel_status status = GRAVEL_OK;
    for (int w = 0; w < GV_WORDS && !status; w++) {
        const size_t size = gv_word_size(bodies, (gv_word)w);
        const cl_ulong place = at / size;
        if (!bodies->word[w].mem)
            continue;
        status = gv_launch(&x->worker, 0, x->pack[size_of_entry(size)], gv_items(count, 64), GV_MEM(bodies->word[w]),
                           GV_MEM(x->sort.index[x->sort.sorted]), GV_UINT(first), GV_UINT(count), GV_ARG(place),
                           GV_MEM(x->sent->device));
        at += section(bodies, w, count);
    }
    return status;
}

static gravel_status pack_all(gravel_exchange *x, size_t total)
{
    gravel_status status = take_slot(x, total, &x->sent);
    size_t at = 0;
    for (int p = 0; p < x->parts && !status; p++) {
        const size_t count = x->begin[p + 1] - x->begin[p];
        if (p == x->mine || count == 0)
            continue;
        status = pack(x, p, at);
        at += bytes_of(x->bodies, count);
    }
    if (status)
        return status;
    const cl_int code = clEnqueueReadBuffer(gv_worker_queue(&x->worker), x->sent->device.mem, CL_FALSE, 0, total,
                                            x->sent->host, 0, NULL, &x->sent->busy);
    return code ? gv_fail_cl(code, "bringing %zu bytes of bodies to the host", total) : GRAVEL_OK;
}

gravel_status gravel_exchange_deal(gravel_exchange *x, const uint64_t *split, size_t *count, size_t *bytes)
{
    if (!x || !count || !bytes || (x->parts > 1 && !split))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_exchange_deal needs splits and places for the results");
    gravel_bodies *bodies = x->bodies;
    size_t total = 0;
    memset(x->begin, 0, ((size_t)x->parts + 1) * sizeof *x->begin);
    gravel_status status = GRAVEL_OK;
    if (bodies->count > 0 &&
        (x->order_version != bodies->order_version || x->moved_version != bodies->version[GRAVEL_POSITION]))
        status = gv_fail(GRAVEL_ERR_STATE, "the bodies have moved: gravel_exchange_order comes first");
    if (!status && bodies->count > 0)
        status = find_parts(x, split);
    for (int p = 0; p < x->parts; p++) {
        count[p] = x->begin[p + 1] - x->begin[p];
        bytes[p] = p == x->mine || count[p] == 0 ? 0 : bytes_of(bodies, count[p]);
        total += bytes[p];
    }
    return status || total == 0 ? status : pack_all(x, total);
}

gravel_status gravel_exchange_fetch(gravel_exchange *x, const void **from)
{
    if (!x || !from)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_exchange_fetch needs a place for the result");
    *from = x->sent ? x->sent->host : NULL;
    return x->sent ? gv_slot_wait(&x->worker, x->sent) : GRAVEL_OK;
}

/* --------------------------------------------------------------------- join */

gravel_status gravel_exchange_room(gravel_exchange *x, const size_t *count, size_t *bytes, void **to)
{
    size_t total = 0;
    if (!x || !count || !bytes || !to)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_exchange_room needs counts and places for the results");
    *to = NULL;
    for (int p = 0; p < x->parts; p++) {
        x->arrives[p] = p == x->mine ? 0 : count[p];
        bytes[p] = x->arrives[p] > 0 ? bytes_of(x->bodies, x->arrives[p]) : 0;
        total += bytes[p];
    }
    if (total == 0)
        return GRAVEL_OK;
    gravel_status status = take_slot(x, total, &x->room);
    *to = status ? NULL : x->room->host;
    return status;
}

/* The bodies that stay, in the order of the curve. */
static gravel_status keep(gravel_exchange *x, size_t first, size_t count)
{
    gravel_bodies *bodies = x->bodies;
    if (count == 0)
        return gravel_bodies_resize(bodies, 0);
    gravel_status status = gv_buffer_reserve_more(&x->worker, &x->staying, count * 4, "bodies that stay");
    const cl_int code = status ? CL_SUCCESS
                               : clEnqueueCopyBuffer(gv_worker_queue(&x->worker), x->sort.index[x->sort.sorted].mem,
                                                     x->staying.mem, first * 4, 0, count * 4, 0, NULL, NULL);
    if (code)
        status = gv_fail_cl(code, "listing bodies that stay");
    return status ? status : gv_order_apply(bodies, x->staying.mem, NULL, count);
}

/* Those of one part to the end. */
static gravel_status append(gravel_exchange *x, size_t at, size_t count, size_t first)
{
    gravel_bodies *bodies = x->bodies;
    cl_int code = CL_SUCCESS;
    for (int w = 0; w < GV_WORDS && !code; w++) {
        const size_t size = gv_word_size(bodies, (gv_word)w);
        if (!bodies->word[w].mem)
            continue;
        code = clEnqueueCopyBuffer(gv_worker_queue(&x->worker), x->room->device.mem, bodies->word[w].mem, at,
                                   first * size, count * size, 0, NULL, NULL);
        at += section(bodies, w, count);
    }
    return code ? gv_fail_cl(code, "adding %zu bodies", count) : GRAVEL_OK;
}

static gravel_status append_all(gravel_exchange *x, size_t stay, size_t arrive)
{
    gravel_bodies *bodies = x->bodies;
    size_t at = 0, next = stay, total = 0;
    for (int p = 0; p < x->parts; p++)
        total += x->arrives[p] > 0 ? bytes_of(bodies, x->arrives[p]) : 0;
    gravel_status status = gravel_bodies_resize(bodies, stay + arrive);
    if (status)
        return status;
    const cl_int code = clEnqueueWriteBuffer(gv_worker_queue(&x->worker), x->room->device.mem, CL_FALSE, 0, total,
                                             x->room->host, 0, NULL, &x->room->busy);
    if (code)
        status = gv_fail_cl(code, "sending %zu bytes of bodies to the device", total);
    for (int p = 0; p < x->parts && !status; p++) {
        if (x->arrives[p] == 0)
            continue;
        status = append(x, at, x->arrives[p], next);
        at += bytes_of(bodies, x->arrives[p]);
        next += x->arrives[p];
    }
    return status;
}

gravel_status gravel_exchange_join(gravel_exchange *x)
{
    if (!x)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_exchange_join: no object was given");
    gravel_bodies *bodies = x->bodies;
    const size_t stay = x->begin[x->mine + 1] - x->begin[x->mine];
    size_t arrive = 0;
    for (int p = 0; p < x->parts; p++)
        arrive += x->arrives[p];
    gravel_status status = GRAVEL_OK;
    if (bodies->count > 0 && (stay < bodies->count || arrive > 0))
        status = keep(x, x->begin[x->mine], stay);
    if (!status && arrive > 0)
        status = append_all(x, stay, arrive);
    bodies->ids_mixed |= arrive > 0;
    if (arrive > 0)
        for (int p = 0; p < GRAVEL_PLANES; p++)
            if (bodies->has[p])
                gv_bodies_changed(bodies, (gravel_plane)p);
    memset(x->arrives, 0, (size_t)x->parts * sizeof *x->arrives);
    return status;
}
