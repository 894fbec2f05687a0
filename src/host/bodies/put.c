/* Writes, updates and scatters.  Threads convert pieces of a block into its staging slot; the thread that completes a
 * block submits it: a transfer, then a kernel that puts the numbers into the planes, on the compute queue.  So planes
 * change in the order of the calls, while transfers need not wait for kernels that still read them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/bodies/batch.h"
#include "host/bodies/order.h"

/* ---------------------------------------------------------------- refused input */

static gravel_status fail_number(const gv_batch *b, gravel_plane plane, int c, size_t k, double value,
                                 const gv_conversion *how)
{
    static const char *const axis[3] = {" (x)", " (y)", " (z)"};
    const gv_place *place = gv_plane_place(plane);
    const size_t body = b->address ? b->address[k] : b->first + k;
    const char *name = place->components == 3 ? axis[c] : "";
    if (!isfinite(value))
        return gv_fail(GRAVEL_ERR_INPUT, "body %zu: %s%s is %s", body, place->name, name,
                       isnan(value) ? "not a number" : "infinite");
    return gv_fail(
        GRAVEL_ERR_INPUT,
        "body %zu: %s%s is %g; %s holds up to %g from %g in this frame: gravel_bodies_set_frame with a larger "
        "unit, or dp",
        body, place->name, name, value, gravel_precision_name(b->bodies->precision), how->limit * how->unit,
        how->offset);
}

/* The first number of the block that does not fit; the numbers are those of the call's columns. */
static gravel_status fail_block(const gv_batch *b, const gv_block *block)
{
    for (size_t k = block->from; k < block->from + block->n; k++)
        for (int p = 0, at = 0; p < b->n_planes; at += gravel_plane_components(b->plane[p]), p++)
            for (int c = 0; b->plane[p] != GRAVEL_ID && c < gravel_plane_components(b->plane[p]); c++) {
                const gv_column *column = &b->column[at + c];
                const double value = gv_convert_get(&column->numbers, k);
                if (!(fabs((value - column->how.offset) / column->how.unit) <= column->how.limit))
                    return fail_number(b, b->plane[p], c, k, value, &column->how);
            }
    return gv_fail(GRAVEL_ERR_INPUT, "the numbers changed while they were read");
}

/* ---------------------------------------------------------------------- blocks */

/* Of entries of one block with the same address the last is written: the order of the kernel's work-items is not
 * defined. */
static gravel_status drop_replaced(gv_batch *b, size_t n, uint32_t *address)
{
    struct gv_bodies_transfer *t = b->bodies->transfer;
    if (n < 2)
        return GRAVEL_OK;
    if (t->stamps < b->bodies->capacity) {
        uint32_t *grown = realloc(t->stamp, b->bodies->capacity * sizeof *grown);
        if (!grown)
            return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the addresses of %zu bodies", b->bodies->capacity);
        memset(grown + t->stamps, 0, (b->bodies->capacity - t->stamps) * sizeof *grown);
        t->stamp = grown;
        t->stamps = b->bodies->capacity;
    }
    if (++t->turn == 0) {
        memset(t->stamp, 0, t->stamps * sizeof *t->stamp);
        t->turn = 1;
    }
    for (size_t k = n; k-- > 0;) {
        uint32_t *stamp = &t->stamp[address[k]];
        if (*stamp == t->turn)
            address[k] = GRAVEL_NONE;
        *stamp = t->turn;
    }
    return GRAVEL_OK;
}

/* 0: a number does not fit */
static int take_in(const gv_batch *b, const gv_block *block, size_t first, size_t count)
{
    int good = 1;
    for (int k = 0; k < b->columns; k++) {
        const gv_column *c = &b->column[k];
        good &=
            gv_convert_in(&c->how, &c->numbers, block->from + first, count, gv_block_column(b, block, c->high, first),
                          c->pair ? gv_block_column(b, block, c->low, first) : NULL);
    }
    return good;
}

static gravel_status take_addresses(gv_batch *b, const gv_block *block)
{
    if (!b->address)
        return GRAVEL_OK;
    memcpy(block->host, b->address + block->from, block->n * sizeof *b->address);
    return drop_replaced(b, block->n, (uint32_t *)(void *)block->host);
}

/* Before the first good block of a call: the numbers that bodies without ids got do not stand beside ids that are
 * given, bodies that get none have -1. */
static gravel_status drop_own_ids(const gv_batch *b)
{
    gravel_bodies *bodies = b->bodies;
    int gives_ids = 0;
    for (int p = 0; p < b->n_planes; p++)
        gives_ids |= b->plane[p] == GRAVEL_ID;
    if (!bodies->own_ids || !gives_ids)
        return GRAVEL_OK;
    const gravel_status status = gravel_bodies_fill(bodies, GRAVEL_ID, -1);
    bodies->named = 0;
    bodies->next_id = 0;
    bodies->own_ids = 1; /* until the ids are there: should they not get there, numbers are given again */
    return status;
}

/* After a block was sent. */
static void note_block(gv_batch *b, const gv_block *block)
{
    gravel_bodies *bodies = b->bodies;
    if (!b->address && b->first + block->from + block->n > bodies->count) {
        bodies->count = b->first + block->from + block->n;
        bodies->order_version++;
    }
    for (int p = 0; p < b->n_planes; p++) {
        gv_bodies_changed(bodies, b->plane[p]);
        if (b->plane[p] == GRAVEL_ID)
            bodies->own_ids = 0;
    }
}

static int kernel_for(const gv_batch *b)
{
    return b->fields <= gv_put_fields[0] ? 0 : b->fields <= gv_put_fields[1] ? 1 : 2;
}

static gravel_status send_block(gv_stream *s, gv_block *block)
{
    gv_batch *b = s->batch;
    const gv_device *device = gv_worker_device(&b->bodies->worker);
    const int beside = s->blocks > 1; /* a single block arrives sooner through the compute queue */
    gv_slot *slot = block->slot;
    cl_event sent = NULL;
    gravel_status status = drop_own_ids(b);
    if (!status)
        status = take_addresses(b, block);
    if (status)
        return status;
    cl_int code = clEnqueueWriteBuffer(beside ? device->copy : device->compute, slot->device.mem, CL_FALSE, 0,
                                       gv_block_bytes(b, block), slot->host, 0, NULL, beside ? &sent : NULL);
    if (!code && beside)
        code = clFlush(device->copy);
    if (code)
        return gv_fail_cl(code, "sending %zu bodies to %s", block->n, device->info.name);
    status =
        gv_batch_launch(b, block, s->kernel, gv_put_fields[kernel_for(b)], GV_MEM(slot->device), sent, &slot->busy);
    if (status)
        clFinish(beside ? device->copy : device->compute); /* the slot is not used any more */
    else if (beside)
        clFlush(device->compute);
    if (sent)
        clReleaseEvent(sent);
    if (!status)
        note_block(b, block);
    return status;
}

static gravel_status end_block(gv_stream *s, gv_block *block)
{
    pthread_mutex_unlock(&s->lock);
    const gravel_status status = block->bad ? fail_block(s->batch, block) : send_block(s, block);
    pthread_mutex_lock(&s->lock);
    return status;
}

/* Sends the blocks that are complete, in their order and one after the other, while other threads go on.  The lock is
 * held on entry and exit. */
static void send_complete(gv_stream *s)
{
    while (!s->busy && !s->status && s->ended < s->begun && s->block[s->ended].left == 0) {
        gv_block *block = &s->block[s->ended];
        s->busy = 1;
        const gravel_status status = end_block(s, block);
        s->busy = 0;
        if (status) {
            gv_stream_fail(s, status);
            return;
        }
        block->slot->held = 0;
        block->slot = NULL;
        s->ended++;
        pthread_cond_broadcast(&s->moved);
    }
}

/* Slots for all blocks up to this one; the lock is held. */
static void begin_blocks(gv_stream *s, const gv_block *up_to)
{
    gravel_bodies *bodies = s->batch->bodies;
    while (!s->status && &s->block[s->begun] <= up_to) {
        gv_block *block = &s->block[s->begun];
        if (s->begun - s->ended >= GV_LEAST_SLOTS) {
            pthread_cond_wait(&s->moved, &s->lock);
            continue;
        }
        const gravel_status status =
            gv_slots_take(&bodies->worker, &bodies->transfer->slots, gv_block_bytes(s->batch, block), &block->slot);
        if (status) {
            gv_stream_fail(s, status);
            return;
        }
        block->slot->held = 1;
        block->host = block->slot->host;
        s->begun++;
    }
}

static void put_pieces(void *user, size_t first_piece, size_t pieces)
{
    gv_stream *s = user;
    for (size_t p = first_piece; p < first_piece + pieces; p++) {
        gv_block *block;
        size_t first, count;
        gv_stream_piece(s, p, &block, &first, &count);
        pthread_mutex_lock(&s->lock);
        begin_blocks(s, block);
        const int go = !s->status;
        pthread_mutex_unlock(&s->lock);
        if (!go)
            return;
        const int good = take_in(s->batch, block, first, count);
        pthread_mutex_lock(&s->lock);
        block->bad |= !good;
        block->left--;
        send_complete(s);
        pthread_mutex_unlock(&s->lock);
    }
}

static gravel_status put_stream(gv_batch *b, size_t *sent)
{
    gravel_bodies *bodies = b->bodies;
    const int which = kernel_for(b);
    gv_stream s;
    gravel_status status = gv_need_kernel(bodies, "gv_bodies_put", gv_put_fields[which], &bodies->transfer->put[which]);
    if (!status)
        status = gv_stream_open(&s, b, bodies->transfer->put[which]);
    if (status)
        return status;
    status = gv_stream_run(&s, put_pieces);
    *sent = s.ended;
    return status;
}

/* Addresses as numbers of 8 bytes, in place: from the last, since they grow into those behind. */
static void widen_addresses(char *numbers, size_t n)
{
    for (size_t k = n; k-- > 0;) {
        uint32_t address;
        memcpy(&address, numbers + 4 * k, sizeof address);
        const uint64_t wide = address;
        memcpy(numbers + 8 * k, &wide, sizeof wide);
    }
}

static gv_block inline_block(const gv_batch *b, char *host)
{
    return (gv_block){.n = b->count, .head = b->address ? b->count : 0, .host = host};
}

/* Numbers and addresses of a few bodies into the batch that is an argument. */
static gravel_status fill_inline(gv_batch *b, const gv_block *block)
{
    gravel_status status = take_in(b, block, 0, block->n) ? GRAVEL_OK : fail_block(b, block);
    if (!status)
        status = take_addresses(b, block);
    if (!status && b->address && b->number == 8)
        widen_addresses(block->host, block->n);
    return status ? status : drop_own_ids(b);
}

static gravel_status launch_inline(gv_batch *b, const gv_block *block)
{
    struct gv_bodies_transfer *t = b->bodies->transfer;
    const int which = kernel_for(b);
    gravel_status status =
        gv_need_kernel(b->bodies, "gv_bodies_put_inline", gv_put_fields[which], &t->put_inline[which]);
    return status ? status
                  : gv_batch_launch(b, block, t->put_inline[which], gv_put_fields[which],
                                    (gv_arg){t->inline_size, block->host}, NULL, NULL);
}

/* A few bodies are passed as an argument of the kernel: one command, and no staging. */
static gravel_status put_inline(gv_batch *b)
{
    const gv_block block = inline_block(b, b->bodies->transfer->inline_batch);
    gravel_status status = fill_inline(b, &block);
    if (!status)
        status = launch_inline(b, &block);
    if (!status)
        note_block(b, &block);
    return status;
}

/* ------------------------------------------------------------------------- held */

/* 131072 sources and 128 changed ones: a microsecond or two of a GPU, where a launch of their own takes five. */
enum { MOST_COMPARED = 1 << 24 };

static int can_hold(const gv_batch *b, const gv_held *held)
{
    /* each source is compared with each of them */
    const int number = b->bodies->count <= MOST_COMPARED / b->count ? GV_HELD_SIZES - 1 : 0;
    const size_t bytes = (b->width + 1) * b->count * b->number;
    int can = held && b->address && bytes <= gv_held_size(&b->bodies->worker, number) && b->width < GV_NO_COLUMN;
    for (int p = 0; p < b->n_planes; p++) {
        const gv_word word = gv_plane_place(b->plane[p])->word;
        can = can && (word <= GV_WORD_TIME || word == GV_WORD_SOFTENING || word == GV_WORD_ID);
    }
    return can;
}

static gravel_status hold(gv_batch *b, gv_held *held)
{
    struct gv_bodies_transfer *t = b->bodies->transfer;
    size_t at = 0;
    if (!t->held && !(t->held = calloc(1, sizeof *t->held)))
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a transfer");
    const gv_block block = inline_block(b, t->held->numbers);
    gravel_status status = fill_inline(b, &block);
    if (status)
        return status;
    memset(held->column, GV_NO_COLUMN, sizeof held->column);
    for (int p = 0; p < b->n_planes; p++) {
        const gv_place *place = gv_plane_place(b->plane[p]);
        const int pair = place->pair && b->bodies->precision == GRAVEL_DS;
        held->column[b->plane[p] == GRAVEL_MASS ? GV_MASS_COLUMN : (int)place->word] = (unsigned char)at;
        at += (size_t)place->components;
        if (pair)
            held->column[place->word + 1] = (unsigned char)at;
        at += pair ? (size_t)place->components : 0;
    }
    t->held->batch = *b;
    held->count = b->count;
    held->batch = t->held->numbers;
    held->used = (b->width + 1) * b->count * b->number;
    note_block(b, &block);
    return GRAVEL_OK;
}

/* Bodies from ... of a batch that is held, as an argument of its own. */
static gravel_status put_some(struct gv_holding *holding, size_t from, size_t n)
{
    gv_batch *b = &holding->batch;
    char *const to = b->bodies->transfer->inline_batch;
    for (size_t c = 0; c < 1 + b->width; c++) /* the addresses, then the columns */
        memcpy(to + c * n * b->number, holding->numbers + (c * b->count + from) * b->number, n * b->number);
    const gv_block block = {.n = n, .head = n, .host = to};
    return launch_inline(b, &block);
}

gravel_status gv_bodies_put_held(gravel_bodies *bodies, gv_held *held)
{
    gravel_status status = GRAVEL_OK;
    for (size_t from = 0; from < held->count && !status;) {
        struct gv_holding *holding = bodies->transfer->held;
        const size_t left = held->count - from;
        const size_t most = bodies->transfer->inline_size / ((1 + holding->batch.width) * holding->batch.number);
        status = put_some(holding, from, left < most ? left : most);
        from += most;
    }
    held->count = 0;
    return status;
}

/* ----------------------------------------------------------------------- calls */

/* What ids say of their order when they are written. */
static void note_order(const gv_batch *b, const gravel_array *from)
{
    const int is_all = b->first == 0 && b->count >= b->bodies->count;
    for (int p = 0; p < b->n_planes; p++)
        if (b->plane[p] == GRAVEL_ID && !b->address)
            b->bodies->ids_mixed =
                (b->bodies->ids_mixed && !is_all) || gv_are_mixed(from[p].x, from[p].stride, b->count);
}

static gravel_status check_planes(const gravel_bodies *bodies, size_t count, int n_planes, const gravel_plane *plane,
                                  const gravel_array *from)
{
    uint32_t seen = 0;
    if (n_planes < 1 || !plane || !from)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "no planes or no arrays");
    for (int p = 0; p < n_planes; p++) {
        gravel_status status = gv_check_array(plane[p], &from[p], count > 0);
        if (status)
            return status;
        if (seen >> plane[p] & 1)
            return gv_fail(GRAVEL_ERR_ARGUMENT, "%s is named twice in one call", gravel_plane_name(plane[p]));
        seen |= (uint32_t)1 << plane[p];
    }
    return bodies ? GRAVEL_OK : gv_fail(GRAVEL_ERR_ARGUMENT, "no bodies");
}

/* Words, columns and fields of all planes of the call. */
static gravel_status plan_put(gv_batch *b, const gravel_array *from)
{
    gravel_status status = gv_need_transfer(b->bodies);
    for (int p = 0; p < b->n_planes && !status; p++) {
        const gv_place *place = gv_plane_place(b->plane[p]);
        const int pair = place->pair && b->bodies->precision == GRAVEL_DS;
        cl_mem high = NULL, low = NULL;
        status = gv_bodies_need(b->bodies, place->word, &high);
        if (!status && pair)
            status = gv_bodies_need(b->bodies, (gv_word)(place->word + 1), &low);
        if (!status)
            gv_batch_add(b, b->plane[p], &from[p], high, low);
    }
    return status;
}

static gravel_status update(gravel_bodies *bodies, const uint32_t *address, size_t first, size_t count, int n_planes,
                            const gravel_plane *plane, const gravel_array *from, gv_held *held)
{
    gravel_status status = check_planes(bodies, count, n_planes, plane, from);
    if (!status && address)
        status = gv_check_addresses(bodies, address, count);
    if (!status && !address && (first > GV_MOST_BODIES || count > GV_MOST_BODIES - first))
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "bodies %zu ... of %zu: addresses go up to %zu", first, count,
                         GV_MOST_BODIES - 1);
    if (status || count == 0)
        return status;
    const gravel_frame frame = bodies->frame;
    const int has_box = bodies->has_box, has_mass_unit = bodies->has_mass_unit;
    size_t sent = 0;
    gv_batch b;
    gv_batch_start(&b, bodies, address, first, count, n_planes, plane);
    if (!address)
        status = gv_bodies_reserve(bodies, first + count);
    for (int p = 0; p < n_planes && !status; p++)
        status = gv_frame_decide(bodies, plane[p], count, &from[p]);
    if (!status)
        status = plan_put(&b, from);
    if (!status && can_hold(&b, held))
        status = hold(&b, held);
    else if (!status && (b.width + (address ? 1 : 0)) * count * b.number <= bodies->transfer->inline_size)
        status = put_inline(&b);
    else if (!status)
        status = put_stream(&b, &sent);
    if (!status)
        note_order(&b, from);
    if (status && sent == 0) { /* nothing of the call was stored: it must not set the units either */
        const gravel_status undone = gv_frame_undo(bodies, &frame, has_box, has_mass_unit);
        return undone ? undone : status;
    }
    return status;
}

gravel_status gravel_bodies_update(gravel_bodies *bodies, const uint32_t *address, size_t first, size_t count,
                                   int n_planes, const gravel_plane *plane, const gravel_array *from)
{
    return update(bodies, address, first, count, n_planes, plane, from, NULL);
}

gravel_status gv_bodies_hold(gravel_bodies *bodies, const gravel_changes *c, gv_held *held)
{
    held->count = 0;
    return update(bodies, c->address, c->first, c->count, c->n_planes, c->plane, c->from, held);
}

gravel_status gravel_bodies_write(gravel_bodies *bodies, gravel_plane plane, size_t first, size_t count,
                                  const gravel_array *from)
{
    return gravel_bodies_update(bodies, NULL, first, count, 1, &plane, from);
}

gravel_status gravel_bodies_scatter(gravel_bodies *bodies, gravel_plane plane, const uint32_t *address, size_t count,
                                    const gravel_array *from)
{
    if (!address && count > 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_bodies_scatter: no addresses");
    return gravel_bodies_update(bodies, address, 0, count, 1, &plane, from);
}
