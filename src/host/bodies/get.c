/* Reads, gathers, fills.  A kernel gathers the numbers of a block, a transfer brings them into a staging slot, and
 * threads convert them piece by piece while further blocks are transferred. */
#include <math.h>
#include <string.h>

#include "host/bodies/batch.h"

static void read_nothing(const gv_batch *b, const gravel_array_out *to)
{
    const int none = b->plane[0] == GRAVEL_ID ? -1 : 0;
    void *const axis[3] = {to->x, to->y, to->z};
    for (int c = 0; c < gravel_plane_components(b->plane[0]); c++) {
        const double value = gv_plane_conversion(b->bodies, b->plane[0], c).offset + none;
        const size_t stride = to->stride ? to->stride : 1;
        for (size_t k = 0; axis[c] && k < b->count; k++)
            if (to->type == GRAVEL_F64)
                ((double *)axis[c])[k * stride] = value;
            else if (to->type == GRAVEL_F32)
                ((float *)axis[c])[k * stride] = (float)value;
            else
                ((int32_t *)axis[c])[k * stride] = (int32_t)value;
    }
}

/* Submits the read of a block: the slot's event is the end of the transfer. */
static gravel_status ask_block(gv_stream *s, const gv_block *block, gv_slot *slot)
{
    gv_batch *b = s->batch;
    const gv_device *device = gv_worker_device(&b->bodies->worker);
    const int beside = s->blocks > 1;
    const cl_command_queue queue = beside ? device->copy : device->compute;
    const size_t bytes = gv_block_bytes(b, block), skip = block->head * b->number;
    cl_event made = NULL;
    cl_int code = CL_SUCCESS;
    gravel_status status = GRAVEL_OK;
    if (b->address) {
        memcpy(slot->host, b->address + block->from, block->n * sizeof *b->address);
        code = clEnqueueWriteBuffer(device->compute, slot->device.mem, CL_FALSE, 0, skip, slot->host, 0, NULL, NULL);
    }
    if (!code)
        status =
            gv_batch_launch(b, block, s->kernel, gv_put_fields[0], GV_MEM(slot->device), NULL, beside ? &made : NULL);
    if (!code && !status && beside)
        code = clFlush(device->compute);
    if (!code && !status)
        code = clEnqueueReadBuffer(queue, slot->device.mem, CL_FALSE, skip, bytes - skip, (char *)slot->host + skip,
                                   beside ? 1 : 0, beside ? &made : NULL, &slot->busy);
    if (!code && !status)
        code = clFlush(queue);
    if (made)
        clReleaseEvent(made);
    if (code || status)
        clFinish(device->compute); /* the slot is not used any more */
    return code ? gv_fail_cl(code, "reading %zu bodies from %s", block->n, device->info.name) : status;
}

/* Submits reads ahead, as many as may be in flight, while other threads go on.  The lock is held on entry and
 * exit. */
static void ask_ahead(gv_stream *s)
{
    gravel_bodies *bodies = s->batch->bodies;
    while (!s->busy && !s->status && s->begun < s->blocks && s->begun - s->ended < GV_LEAST_SLOTS) {
        gv_block *block = &s->block[s->begun];
        gv_slot *slot;
        gravel_status status =
            gv_slots_take(&bodies->worker, &bodies->transfer->slots, gv_block_bytes(s->batch, block), &slot);
        if (!status) {
            slot->held = s->busy = 1;
            pthread_mutex_unlock(&s->lock);
            status = ask_block(s, block, slot);
            pthread_mutex_lock(&s->lock);
            s->busy = 0;
            block->slot = slot;
            block->host = slot->host;
            s->begun++;
        }
        if (status)
            gv_stream_fail(s, status);
        pthread_cond_broadcast(&s->moved);
    }
}

/* Until the numbers of a block are there: one thread waits for the device, others for that thread.  The lock is held on
 * entry and exit. */
static void await_block(gv_stream *s, gv_block *block)
{
    while (!s->status && block->arrival != GV_HERE) {
        if (!block->slot || block->arrival == GV_WAITED_FOR) {
            ask_ahead(s);
            if (!s->status && (!block->slot || block->arrival == GV_WAITED_FOR))
                pthread_cond_wait(&s->moved, &s->lock);
            continue;
        }
        block->arrival = GV_WAITED_FOR;
        pthread_mutex_unlock(&s->lock);
        const gravel_status status = gv_slot_wait(&s->batch->bodies->worker, block->slot);
        pthread_mutex_lock(&s->lock);
        if (status)
            gv_stream_fail(s, status);
        block->arrival = GV_HERE;
        pthread_cond_broadcast(&s->moved);
    }
}

static void give_out(const gv_batch *b, const gv_block *block, size_t first, size_t count)
{
    for (int k = 0; k < b->columns; k++) {
        const gv_column *c = &b->column[k];
        if (c->numbers.at)
            gv_convert_out(&c->how, gv_block_column(b, block, c->high, first),
                           c->pair ? gv_block_column(b, block, c->low, first) : NULL, count, &c->numbers,
                           block->from + first);
    }
}

/* A piece of a block is converted; the last one gives the slot back.  The lock is held. */
static void end_piece(gv_stream *s, gv_block *block)
{
    if (--block->left > 0)
        return;
    block->slot->held = 0;
    block->slot = NULL;
    s->ended++;
    ask_ahead(s);
    pthread_cond_broadcast(&s->moved);
}

static void get_pieces(void *user, size_t first_piece, size_t pieces)
{
    gv_stream *s = user;
    for (size_t p = first_piece; p < first_piece + pieces; p++) {
        gv_block *block;
        size_t first, count;
        gv_stream_piece(s, p, &block, &first, &count);
        pthread_mutex_lock(&s->lock);
        ask_ahead(s);
        await_block(s, block);
        const int go = !s->status;
        pthread_mutex_unlock(&s->lock);
        if (!go)
            return;
        give_out(s->batch, block, first, count);
        pthread_mutex_lock(&s->lock);
        end_piece(s, block);
        pthread_mutex_unlock(&s->lock);
    }
}

static gravel_status get_stream(gv_batch *b, cl_kernel kernel)
{
    gv_stream s;
    gravel_status status = gv_stream_open(&s, b, kernel);
    return status ? status : gv_stream_run(&s, get_pieces);
}

static gravel_status get(gravel_bodies *bodies, gravel_plane plane, const uint32_t *address, size_t first, size_t count,
                         const gravel_array_out *to)
{
    const gravel_array array = {to->x, to->y, to->z, to->stride, to->type};
    const gv_place *place = gv_plane_place(plane);
    gravel_status status = gv_check_array(plane, &array, 0);
    if (!status && address)
        status = gv_check_addresses(bodies, address, count);
    if (!status && !address && (first > bodies->count || count > bodies->count - first))
        status =
            gv_fail(GRAVEL_ERR_ARGUMENT, "bodies %zu ... %zu: there are %zu", first, first + count - 1, bodies->count);
    if (status || count == 0)
        return status;
    gv_batch b;
    gv_batch_start(&b, bodies, address, first, count, 1, &plane);
    const cl_mem high = bodies->word[place->word].mem;
    if (!high) {
        read_nothing(&b, to);
        return GRAVEL_OK;
    }
    const int pair = place->pair && bodies->precision == GRAVEL_DS;
    gv_batch_add(&b, plane, &array, high, pair ? bodies->word[place->word + 1].mem : NULL);
    if (b.fields == 1)
        for (int c = 0; c < b.columns; c++)
            b.column[c].how.stored = bodies->precision == GRAVEL_DP ? GRAVEL_DP : GRAVEL_SP;
    status = gv_need_transfer(bodies);
    if (!status)
        status = gv_need_kernel(bodies, "gv_bodies_get", gv_put_fields[0], &bodies->transfer->get);
    return status ? status : get_stream(&b, bodies->transfer->get);
}

gravel_status gravel_bodies_read(gravel_bodies *bodies, gravel_plane plane, size_t first, size_t count,
                                 const gravel_array_out *to)
{
    if (!bodies || !to)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_bodies_read: no bodies or no array");
    return get(bodies, plane, NULL, first, count, to);
}

gravel_status gravel_bodies_gather(gravel_bodies *bodies, gravel_plane plane, const uint32_t *address, size_t count,
                                   const gravel_array_out *to)
{
    if (!bodies || !to || (!address && count > 0))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_bodies_gather: no bodies, no addresses or no array");
    return count > 0 ? get(bodies, plane, address, 0, count, to) : GRAVEL_OK;
}

/* ---------------------------------------------------------------------- fill */

/* Component c of a word gets these bits. */
static gravel_status fill_word(gravel_bodies *bodies, const gv_place *place, int c, int low, cl_ulong bits)
{
    const cl_uint first = 0, count = (cl_uint)bodies->count, field = gv_field_bits(place, place->first + c, 1, bodies);
    cl_mem mem;
    gravel_status status = gv_bodies_need(bodies, (gv_word)(place->word + low), &mem);
    const gv_arg arg[] = {GV_ARG(bits), GV_ARG(field), GV_ARG(first), GV_ARG(count), GV_ARG(mem)};
    if (status)
        return status;
    return gv_launch_after(&bodies->worker, gv_items(bodies->count, 64), bodies->transfer->fill, NULL, NULL, 5, arg);
}

static gravel_status fill_plane(gravel_bodies *bodies, gravel_plane plane, const gv_numbers *number)
{
    const gv_place *place = gv_plane_place(plane);
    const int pair = place->pair && bodies->precision == GRAVEL_DS;
    gravel_status status = GRAVEL_OK;
    cl_ulong high[3] = {0, 0, 0}, low[3] = {0, 0, 0};
    for (int c = 0; c < place->components; c++) {
        const gv_conversion how = gv_plane_conversion(bodies, plane, c);
        if (!gv_convert_in(&how, number, 0, 1, &high[c], &low[c]))
            return gv_fail(GRAVEL_ERR_INPUT, "%s: %g does not fit into %s", place->name, gv_convert_get(number, 0),
                           gravel_precision_name(bodies->precision));
    }
    for (int c = 0; c < place->components && !status; c++) {
        status = fill_word(bodies, place, c, 0, high[c]);
        if (!status && pair)
            status = fill_word(bodies, place, c, 1, low[c]);
    }
    if (!status)
        gv_bodies_changed(bodies, plane);
    if (!status && plane == GRAVEL_ID)
        bodies->own_ids = 0;
    return status;
}

gravel_status gravel_bodies_fill(gravel_bodies *bodies, gravel_plane plane, double value)
{
    const gravel_array array = {&value, &value, &value, 1, GRAVEL_F64};
    const int32_t id = fabs(value) <= INT32_MAX ? (int32_t)value : 0;
    gv_numbers number = {&value, 1, GRAVEL_F64};
    if (!bodies || !gv_plane_place(plane))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_bodies_fill: no bodies, or there is no plane %d", (int)plane);
    if (bodies->count == 0)
        return GRAVEL_OK;
    if (plane == GRAVEL_ID && (double)id != value)
        return gv_fail(GRAVEL_ERR_INPUT, "%g is not an id", value);
    if (plane == GRAVEL_ID)
        number = (gv_numbers){&id, 1, GRAVEL_I32};
    gravel_status status = gv_need_transfer(bodies);
    if (!status)
        status = gv_need_kernel(bodies, "gv_bodies_fill", gv_put_fields[0], &bodies->transfer->fill);
    if (!status && plane != GRAVEL_ID)
        status = gv_frame_decide(bodies, plane, 1, &array);
    return status ? status : fill_plane(bodies, plane, &number);
}
