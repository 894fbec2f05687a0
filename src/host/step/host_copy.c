/* The host's copy of the bodies, and the way to the planes and back (kernels/step/carry.cl). */
#include <stdlib.h>
#include <string.h>

#include "host/step/step.h"

enum { WORDS = 12 };
static const gv_word carried[WORDS] = {GV_WORD_POSITION,     GV_WORD_POSITION_LOW, GV_WORD_VELOCITY,
                                       GV_WORD_VELOCITY_LOW, GV_WORD_ACCELERATION, GV_WORD_JERK,
                                       GV_WORD_SNAP,         GV_WORD_CRACKLE,      GV_WORD_TIME,
                                       GV_WORD_TIME_LOW,     GV_WORD_STEP,         GV_WORD_POTENTIAL};

/* Where a column of the copy is in a record: its high word, and its low word or -1. */
static const struct {
    int column, components, high, low;
} place[] = {{GV_OWN_POSITION, 3, GV_CARRY_POSITION, GV_CARRY_POSITION_LOW},
             {GV_OWN_VELOCITY, 3, GV_CARRY_VELOCITY, GV_CARRY_VELOCITY_LOW},
             {GV_OWN_ACCELERATION, 3, GV_CARRY_ACCELERATION, -1},
             {GV_OWN_JERK, 3, GV_CARRY_JERK, -1},
             {GV_OWN_SNAP, 3, GV_CARRY_SNAP, -1},
             {GV_OWN_CRACKLE, 3, GV_CARRY_CRACKLE, -1},
             {GV_OWN_TIME, 1, GV_CARRY_TIME, GV_CARRY_TIME_LOW},
             {GV_OWN_STEP, 1, GV_CARRY_STEP, -1},
             {GV_OWN_POTENTIAL, 1, GV_CARRY_POTENTIAL, -1}};
enum { PLACES = sizeof place / sizeof place[0] };

/* ---------------------------------------------------------------------------- room */

void gv_copy_release(gv_host_copy *c)
{
    free(c->block);
    free(c->mass_word);
    free(c->due);
    free(c->changed);
    free(c->mark);
    free(c->records);
    gv_buffer_release(&c->carry);
    const gv_host_copy kept = *c;
    memset(c, 0, sizeof *c);
    memcpy(c->tally, kept.tally, sizeof c->tally);
    c->too_short = kept.too_short;
}

static size_t number_size(const gravel_hermite *h)
{
    return h->bodies->precision == GRAVEL_DP ? sizeof(double) : sizeof(float);
}

static gravel_status reserve(gravel_hermite *h, size_t n)
{
    gv_host_copy *c = &h->copy;
    const size_t bytes = GV_CARRY_ADDRESSES(n, n) * sizeof(cl_uint) + n * GV_CARRY_NUMBERS * number_size(h);
    if (c->n == n && c->block)
        return GRAVEL_OK;
    gv_copy_release(c);
    const size_t room = (n + 7) / 8 * 8;
    c->block = aligned_alloc(64, GV_OWN_COLUMNS * room * sizeof(double));
    c->mass_word = malloc(2 * n * sizeof *c->mass_word);
    c->due = malloc((n + 1) * sizeof *c->due);
    c->changed = malloc(n * sizeof *c->changed);
    c->mark = calloc(n, sizeof *c->mark);
    c->records = malloc(bytes);
    if (!c->block || !c->mass_word || !c->due || !c->changed || !c->mark || !c->records) {
        gv_copy_release(c);
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu bodies", n);
    }
    const gravel_status status = gv_buffer_reserve(&h->worker, &c->carry, bytes, "bodies on their way to the host");
    if (status) {
        gv_copy_release(c);
        return status;
    }
    memset(c->block, 0, GV_OWN_COLUMNS * room * sizeof(double));
    c->n = n;
    c->room = room;
    return GRAVEL_OK;
}

/* --------------------------------------------------------------------- from the device */

static double number(const gravel_hermite *h, const void *record, int k)
{
    return h->bodies->precision == GRAVEL_DP ? ((const double *)record)[k] : (double)((const float *)record)[k];
}

static double joined(const gravel_hermite *h, const void *record, int high, int low)
{
    const double value = number(h, record, high);
    return low >= 0 && h->bodies->precision == GRAVEL_DS ? value + number(h, record, low) : value;
}

static void take_record(gravel_hermite *h, const void *record, size_t k)
{
    gv_host_copy *c = &h->copy;
    for (int p = 0; p < PLACES; p++)
        for (int x = 0; x < place[p].components; x++)
            gv_own(c, place[p].column + x)[k] =
                joined(h, record, place[p].high + x, place[p].low < 0 ? -1 : place[p].low + x);
    const double length = c->frame.length;
    gv_own(c, GV_OWN_MASS)[k] =
        joined(h, record, GV_CARRY_POSITION + 3, GV_CARRY_POSITION_LOW + 3) * c->frame.mass / length / length / length;
    if (h->bodies->precision == GRAVEL_DS) {
        c->mass_word[2 * k] = ((const float *)record)[GV_CARRY_POSITION + 3];
        c->mass_word[2 * k + 1] = ((const float *)record)[GV_CARRY_POSITION_LOW + 3];
    }
}

/* Bodies of the device's list, which are those of `due`. */
gravel_status gv_copy_take(gravel_hermite *h, size_t listed)
{
    gv_host_copy *c = &h->copy;
    const size_t size = number_size(h) * GV_CARRY_NUMBERS;
    cl_uint head[GV_HEAD_WORDS];
    cl_mem m[WORDS];
    gravel_status status = gv_hermite_words(h->bodies, WORDS, carried, m);
    if (!status)
        status = gv_launch(&h->worker, 0, h->kernel[GV_STEP_TAKE], gv_items(listed, 64), GV_MEM(h->select.list),
                           GV_UINT(listed), GV_ARG(m[0]), GV_ARG(m[1]), GV_ARG(m[2]), GV_ARG(m[3]), GV_ARG(m[4]),
                           GV_ARG(m[5]), GV_ARG(m[6]), GV_ARG(m[7]), GV_ARG(m[8]), GV_ARG(m[9]), GV_ARG(m[10]),
                           GV_ARG(m[11]), GV_MEM(c->carry));
    if (status)
        return status;
    const cl_command_queue queue = gv_worker_queue(&h->worker);
    cl_int code = clEnqueueReadBuffer(queue, h->select.head.mem, CL_FALSE, 0, sizeof head, head, 0, NULL, NULL);
    if (!code)
        code = clEnqueueReadBuffer(queue, c->carry.mem, CL_TRUE, 0, listed * size, c->records, 0, NULL, NULL);
    if (code)
        return gv_fail_cl(code, "reading %zu bodies", listed);
    c->too_short = head[GV_HEAD_SHORT];
    for (size_t k = 0; k < listed; k++)
        take_record(h, (const char *)c->records + k * size, c->due[k]);
    return GRAVEL_OK;
}

static gravel_status take_ids(gravel_hermite *h)
{
    gv_host_copy *c = &h->copy;
    int32_t *const id = (int32_t *)c->mark; /* zeros again below */
    const gravel_array_out to = {id, NULL, NULL, 1, GRAVEL_I32};
    const gravel_status status = gravel_bodies_read(h->bodies, GRAVEL_ID, 0, c->n, &to);
    for (size_t k = 0; k < c->n; k++) {
        gv_own(c, GV_OWN_ID)[k] = id[k];
        c->mark[k] = 0;
    }
    return status;
}

gravel_status gv_copy_need(gravel_hermite *h)
{
    gv_host_copy *c = &h->copy;
    if (c->is_current)
        return GRAVEL_OK;
    gravel_status status = reserve(h, h->bodies->count);
    c->frame = h->bodies->frame;
    c->changes = 0;
    if (!status)
        status = take_ids(h);
    if (!status)
        status = gv_selector_take_all(&h->select);
    gv_host_take_all(h);
    if (!status)
        status = gv_copy_take(h, c->n);
    c->is_current = !status;
    return status;
}

/* ----------------------------------------------------------------------- to the device */

static void put_number(const gravel_hermite *h, void *record, int k, double value)
{
    if (h->bodies->precision == GRAVEL_DP)
        ((double *)record)[k] = value;
    else
        ((float *)record)[k] = (float)value;
}

static void put_record(gravel_hermite *h, void *record, size_t k)
{
    const gv_host_copy *c = &h->copy;
    const int ds = h->bodies->precision == GRAVEL_DS;
    memset(record, 0, number_size(h) * GV_CARRY_NUMBERS);
    for (int p = 0; p < PLACES; p++)
        for (int x = 0; x < place[p].components; x++) {
            const double value = gv_own(c, place[p].column + x)[k];
            put_number(h, record, place[p].high + x, value);
            if (ds && place[p].low >= 0)
                put_number(h, record, place[p].low + x, value - (double)(float)value);
        }
    const double length = c->frame.length;
    if (ds) {
        ((float *)record)[GV_CARRY_POSITION + 3] = c->mass_word[2 * k];
        ((float *)record)[GV_CARRY_POSITION_LOW + 3] = c->mass_word[2 * k + 1];
    } else {
        put_number(h, record, GV_CARRY_POSITION + 3,
                   gv_own(c, GV_OWN_MASS)[k] * length * length * length / c->frame.mass);
    }
}

gravel_status gv_copy_send(gravel_hermite *h, size_t listed)
{
    static const gravel_plane changed[] = {GRAVEL_POSITION, GRAVEL_VELOCITY, GRAVEL_ACCELERATION,
                                           GRAVEL_JERK,     GRAVEL_SNAP,     GRAVEL_CRACKLE,
                                           GRAVEL_TIME,     GRAVEL_STEP,     GRAVEL_POTENTIAL};
    gv_host_copy *c = &h->copy;
    const size_t count = c->changes, size = number_size(h) * GV_CARRY_NUMBERS;
    const size_t first = GV_CARRY_ADDRESSES(count, listed) * sizeof(cl_uint);
    uint32_t *const address = c->records;
    cl_mem m[WORDS];
    if (!c->is_current || count + listed == 0)
        return GRAVEL_OK;
    for (size_t k = 0; k < count; k++) {
        address[k] = c->changed[k];
        put_record(h, (char *)c->records + first + k * size, c->changed[k]);
    }
    if (listed > 0)
        memcpy(address + count, c->due, listed * sizeof *address);
    gravel_status status = gv_hermite_words(h->bodies, WORDS, carried, m);
    const cl_int code = status ? CL_SUCCESS
                               : clEnqueueWriteBuffer(gv_worker_queue(&h->worker), c->carry.mem, CL_TRUE, 0,
                                                      first + count * size, c->records, 0, NULL, NULL);
    if (code)
        status = gv_fail_cl(code, "sending %zu bodies", count);
    if (!status)
        status = gv_launch(&h->worker, 0, h->kernel[GV_STEP_PUT], gv_items(count > listed ? count : listed, 64),
                           GV_MEM(c->carry), GV_UINT(count), GV_UINT(listed), GV_ARG(m[0]), GV_ARG(m[1]), GV_ARG(m[2]),
                           GV_ARG(m[3]), GV_ARG(m[4]), GV_ARG(m[5]), GV_ARG(m[6]), GV_ARG(m[7]), GV_ARG(m[8]),
                           GV_ARG(m[9]), GV_ARG(m[10]), GV_ARG(m[11]), GV_MEM(h->select.list));
    for (size_t k = 0; k < sizeof changed / sizeof changed[0] && count > 0; k++)
        gv_bodies_changed(h->bodies, changed[k]);
    if (status)
        return status; /* the changes are still to be sent */
    for (size_t k = 0; k < count; k++)
        c->mark[c->changed[k]] = 0;
    c->changes = 0;
    return GRAVEL_OK;
}
