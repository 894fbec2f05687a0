#include "host/bodies/batch.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double limit_of(const gravel_bodies *bodies, const gv_place *place)
{
    /* three squares of a difference of two: 12 (4e18)^2 = 1.9e38 */
    if (place->squared)
        return bodies->precision == GRAVEL_DP ? 1e150 : 4e18;
    return bodies->precision == GRAVEL_DP ? DBL_MAX : FLT_MAX;
}

gv_conversion gv_plane_conversion(const gravel_bodies *bodies, gravel_plane plane, int c)
{
    const gv_place *place = gv_plane_place(plane);
    const gravel_frame *frame = &bodies->frame;
    const double unit[] = {[GV_UNIT_NONE] = 1,
                           [GV_UNIT_LENGTH] = frame->length,
                           [GV_UNIT_LENGTH_SQUARED] = frame->length * frame->length,
                           [GV_UNIT_MASS] = frame->mass};
    const gravel_precision stored = bodies->precision == GRAVEL_DS && !place->pair ? GRAVEL_SP : bodies->precision;
    return (gv_conversion){stored, plane == GRAVEL_POSITION ? frame->origin[c] : 0, unit[place->unit],
                           limit_of(bodies, place)};
}

gv_numbers gv_array_numbers(const gravel_array *array, int c)
{
    const void *const axis[3] = {array->x, array->y, array->z};
    return (gv_numbers){axis[c], array->stride ? array->stride : 1, array->type};
}

gravel_status gv_check_array(gravel_plane plane, const gravel_array *array, int all)
{
    const gv_place *place = gv_plane_place(plane);
    if (!place)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there is no plane %d", (int)plane);
    if ((unsigned)array->type > GRAVEL_I32 || (plane == GRAVEL_ID) != (array->type == GRAVEL_I32))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: numbers of type %d; ids are GRAVEL_I32, all others F64 or F32",
                       place->name, (int)array->type);
    if (all && (!array->x || (place->components == 3 && (!array->y || !array->z))))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: an array of %d components has a NULL pointer", place->name,
                       place->components);
    return GRAVEL_OK;
}

gravel_status gv_check_addresses(const gravel_bodies *bodies, const uint32_t *address, size_t count)
{
    uint32_t highest = 0;
    for (size_t k = 0; k < count; k++)
        highest = address[k] > highest ? address[k] : highest;
    if (count > 0 && highest >= bodies->count)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there is no body %u: there are %zu bodies", (unsigned)highest,
                       bodies->count);
    return GRAVEL_OK;
}

cl_uint gv_field_bits(const gv_place *place, int first, int components, const gravel_bodies *bodies)
{
    const cl_uint quad = place->word <= GV_WORD_CRACKLE;
    const cl_uint narrow = place->word == GV_WORD_ID && bodies->precision == GRAVEL_DP;
    return (cl_uint)first | (cl_uint)components << 2 | quad << 4 | narrow << 5;
}

static void add_field(gv_batch *b, cl_mem word, const gv_place *place)
{
    b->word[b->fields] = word;
    b->field[b->fields / 4] |= gv_field_bits(place, place->first, place->components, b->bodies)
                               << (8 * (b->fields % 4));
    b->fields++;
    b->width += (size_t)place->components;
}

void gv_batch_add(gv_batch *b, gravel_plane plane, const gravel_array *array, cl_mem high, cl_mem low)
{
    const gv_place *place = gv_plane_place(plane);
    const size_t at = b->width;
    add_field(b, high, place);
    if (low)
        add_field(b, low, place);
    for (int c = 0; c < place->components; c++)
        b->column[b->columns++] = (gv_column){gv_array_numbers(array, c), gv_plane_conversion(b->bodies, plane, c),
                                              at + (size_t)c, at + (size_t)(place->components + c), low != NULL};
}

void gv_batch_start(gv_batch *b, gravel_bodies *bodies, const uint32_t *address, size_t first, size_t count,
                    int n_planes, const gravel_plane *plane)
{
    memset(b->field, 0, sizeof b->field);
    b->bodies = bodies;
    b->address = address;
    b->first = first;
    b->count = count;
    b->n_planes = n_planes;
    b->plane = plane;
    b->columns = b->fields = 0;
    b->width = 0;
    b->number = bodies->precision == GRAVEL_DP ? 8 : 4;
}

size_t gv_block_bytes(const gv_batch *b, const gv_block *block)
{
    return (block->head + b->width * block->n) * b->number;
}

char *gv_block_column(const gv_batch *b, const gv_block *block, size_t column, size_t k)
{
    return block->host + (block->head + column * block->n + k) * b->number;
}

/* ------------------------------------------------------------------- kernels */

static int takes_arguments(const gv_worker *worker, size_t bytes)
{
    return gv_worker_device(worker)->parameters >= bytes;
}

size_t gv_held_size(const gv_worker *worker, int number)
{
    /* beside up to 480 bytes of other arguments of kernels/direct/take.cl; 4352 are usual, or 32764 */
    enum { OTHERS = 512, LEAST = 512 };
    static const size_t size[GV_HELD_SIZES] = {2048, 3584, GV_MOST_HELD};
    while (number >= 0 && !takes_arguments(worker, OTHERS + size[number]))
        number--;
    return number < 0 ? LEAST : size[number];
}

gravel_status gv_need_transfer(gravel_bodies *bodies)
{
    if (bodies->transfer)
        return GRAVEL_OK;
    struct gv_bodies_transfer *made = calloc(1, sizeof *made);
    if (made)
        made->inline_batch = calloc(1, GV_MOST_INLINE);
    if (!made || !made->inline_batch) {
        free(made);
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a transfer");
    }
    /* beside 24 words, their fields and numbers: 240 bytes; all of OpenCL takes 1024 */
    made->inline_size = takes_arguments(&bodies->worker, 256 + GV_MOST_INLINE) ? GV_MOST_INLINE : 768;
    bodies->transfer = made;
    return GRAVEL_OK;
}

const int gv_put_fields[GV_PUT_KERNELS] = {2, 8, GV_MOST_FIELDS};

gravel_status gv_need_kernel(gravel_bodies *bodies, const char *name, int fields, cl_kernel *kernel)
{
    char options[96];
    if (*kernel)
        return GRAVEL_OK;
    const size_t number = bodies->precision == GRAVEL_DP ? 8 : 4;
    snprintf(options, sizeof options, "-DGV_NUMBER_SIZE=%zu -DGV_FIELDS=%d -DGV_INLINE=%zu", number, fields,
             bodies->transfer->inline_size / number);
    return gv_kernel_make(&bodies->worker, "bodies/transfer.cl", options, name, kernel);
}

gravel_status gv_batch_launch(gv_batch *b, const gv_block *block, cl_kernel kernel, int fields, gv_arg numbers,
                              cl_event after, cl_event *done)
{
    const cl_uint head = (cl_uint)block->head, first = (cl_uint)(b->first + block->from), count = (cl_uint)block->n;
    const cl_mem none = NULL;
    gv_arg arg[5 + GV_MOST_FIELDS] = {numbers, GV_ARG(head), GV_ARG(first), GV_ARG(count), {sizeof b->field, b->field}};
    for (int k = 0; k < fields; k++)
        arg[5 + k] = k < b->fields ? GV_ARG(b->word[k]) : GV_ARG(none);
    return gv_launch_after(&b->bodies->worker, gv_items(block->n, 64), kernel, after, done, (size_t)(5 + fields), arg);
}

void gv_transfer_release(gravel_bodies *bodies)
{
    struct gv_bodies_transfer *t = bodies->transfer;
    if (!t)
        return;
    gv_slots_release(&bodies->worker, &t->slots);
    for (int k = 0; k < GV_PUT_KERNELS; k++) {
        if (t->put[k])
            clReleaseKernel(t->put[k]);
        if (t->put_inline[k])
            clReleaseKernel(t->put_inline[k]);
    }
    if (t->get)
        clReleaseKernel(t->get);
    if (t->fill)
        clReleaseKernel(t->fill);
    free(t->inline_batch);
    free(t->held);
    free(t->stamp);
    free(t);
    bodies->transfer = NULL;
}

/* ------------------------------------------------------------------- streams */

gravel_status gv_stream_open(gv_stream *s, gv_batch *batch, cl_kernel kernel)
{
    size_t most = GV_BLOCK;
    while (most < GV_MOST_BLOCK && batch->count / most > GV_MANY_BLOCKS)
        most *= 2;
    const size_t blocks = (batch->count + most - 1) / most;
    gv_block *block = &s->only;
    if (blocks > 1 && !(block = malloc(blocks * sizeof *block)))
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the blocks of %zu bodies", batch->count);
    for (size_t k = 0; k < blocks; k++) {
        const size_t from = k * most, n = batch->count - from < most ? batch->count - from : most;
        const size_t head = !batch->address ? 0 : batch->number == 8 ? (n + 1) / 2 : n;
        block[k] = (gv_block){.from = from, .n = n, .head = head, .left = (int)((n + GV_PIECE - 1) / GV_PIECE)};
    }
    s->batch = batch;
    s->kernel = kernel;
    s->block = block;
    s->blocks = blocks;
    s->per_block = most / GV_PIECE;
    s->pieces = (blocks - 1) * s->per_block + (size_t)block[blocks - 1].left;
    s->begun = s->ended = 0;
    s->busy = 0;
    s->status = GRAVEL_OK;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->moved, NULL);
    return GRAVEL_OK;
}

gravel_status gv_stream_run(gv_stream *s, void (*work)(void *user, size_t first, size_t count))
{
    gv_pool *pool = s->pieces > 1 ? gv_context_pool(s->batch->bodies->worker.context) : NULL;
    gv_parallel(pool, s->pieces, 1, work, s);
    pthread_cond_destroy(&s->moved);
    pthread_mutex_destroy(&s->lock);
    for (size_t k = 0; k < s->begun; k++) /* of a call that failed */
        if (s->block[k].slot)
            s->block[k].slot->held = 0;
    if (s->block != &s->only)
        free(s->block);
    return s->status ? gv_fail(s->status, "%s", s->message) : GRAVEL_OK;
}

void gv_stream_fail(gv_stream *s, gravel_status status)
{
    if (!s->status) {
        s->status = status;
        snprintf(s->message, sizeof s->message, "%s", gravel_error_message());
    }
    pthread_cond_broadcast(&s->moved);
}

void gv_stream_piece(const gv_stream *s, size_t piece, gv_block **block, size_t *first, size_t *count)
{
    *block = &s->block[piece / s->per_block];
    *first = piece % s->per_block * GV_PIECE;
    *count = (*block)->n - *first < GV_PIECE ? (*block)->n - *first : GV_PIECE;
}
