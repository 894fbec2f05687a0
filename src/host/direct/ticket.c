#include "host/direct/ticket.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/bodies/convert.h"
#include "host/bodies/transfer.h"

enum { GRAIN = 2048 }; /* sinks that one thread unpacks at a time: their sums stay in its cache */

/* ------------------------------------------------------------------- unpacking */

typedef struct unpacking {
    gravel_ticket *const *ticket; /* whose forces are added up */
    int tickets;
    const gravel_forces *f;
    int nearest;
} unpacking;

static const char *plane(const gv_direct_ticket *t, int p)
{
    return (const char *)t->result->host + (size_t)p * t->stride * (size_t)t->layout.scalar_size;
}

static const uint32_t *counts(const gv_direct_ticket *t)
{
    return (const uint32_t *)(const void *)plane(t, t->layout.result_planes);
}

/* From the device's units to the caller's: m/l of the potential, m/l^2 of accelerations and their derivatives. */
typedef struct units {
    double factor[3];
} units;

static units units_of(const gv_direct_ticket *t, int component)
{
    const double per_length = 1 / t->frame.length;
    return (units){{t->frame.mass, per_length, component == 3 ? 1 : per_length}};
}

static const float *word(const gv_direct_ticket *t, int component, int low, size_t first)
{
    return (const float *)(const void *)plane(t, 2 * component + low) + first;
}

static void unpack_component(const gv_direct_ticket *t, int add, int component, double *out, size_t stride,
                             size_t first, size_t count)
{
    const units u = units_of(t, component);
    if (!out)
        return;
    if (t->layout.wide_words == 2) {
        gv_convert_sums(word(t, component, 0, first), word(t, component, 1, first), count, u.factor, add,
                        out + first * stride, stride);
        return;
    }
    const double *value = (const double *)(const void *)plane(t, component);
    for (size_t k = first; k < first + count; k++)
        out[k * stride] = (add ? out[k * stride] : 0) + value[k] * u.factor[0] * u.factor[1] * u.factor[2];
}

/* x y z of each sink, one after the other, as many callers have them; 0: they are not. */
static int unpack_rows(const gv_direct_ticket *t, int add, int component, const gravel_vec_out *v, size_t first,
                       size_t count)
{
    if (add || t->layout.wide_words != 2 || !v->x || v->stride != 3 || v->y != v->x + 1 || v->z != v->x + 2)
        return 0;
    const float *high[3], *low[3];
    for (int c = 0; c < 3; c++) {
        high[c] = word(t, component + c, 0, first);
        low[c] = word(t, component + c, 1, first);
    }
    gv_convert_sum_rows(high, low, count, units_of(t, component).factor, v->x + 3 * first);
    return 1;
}

static void unpack_nearest(const gv_direct_ticket *t, const gravel_forces *f, size_t first, size_t count)
{
    const int r2_plane = t->layout.components * t->layout.wide_words;
    const void *r2 = plane(t, r2_plane);
    const uint32_t *address = (const uint32_t *)(const void *)plane(t, r2_plane + 1);
    const int32_t *id = (const int32_t *)(const void *)plane(t, r2_plane + 2);
    for (size_t k = first; k < first + count; k++) {
        const double square = t->layout.scalar_size == 8 ? ((const double *)r2)[k] : ((const float *)r2)[k];
        if (f->nearest_id)
            f->nearest_id[k] = id[k];
        if (f->nearest_address)
            f->nearest_address[k] = address[k];
        if (f->nearest_distance)
            f->nearest_distance[k] = address[k] == GRAVEL_NONE ? INFINITY : sqrt(square) * t->frame.length;
    }
}

static void unpack_forces(const gv_direct_ticket *t, int add, const gravel_forces *f, size_t first, size_t count)
{
    const gravel_vec_out vec[3] = {f->acc, f->jerk, f->snap};
    for (int v = 0; v < t->order / 2; v++) {
        double *const axis[3] = {vec[v].x, vec[v].y, vec[v].z};
        const int begin = v == 0 ? 0 : 1 + 3 * v; /* the potential is between acceleration and jerk */
        const int are_rows = unpack_rows(t, add, begin, &vec[v], first, count);
        for (int c = 0; c < 3 && !are_rows; c++)
            unpack_component(t, add, begin + c, axis[c], vec[v].stride ? vec[v].stride : 1, first, count);
    }
    unpack_component(t, add, 3, f->pot, f->pot_stride ? f->pot_stride : 1, first, count);
}

static void unpack(void *user, size_t first, size_t count)
{
    const unpacking *u = user;
    for (int k = 0; k < u->tickets; k++)
        unpack_forces((const gv_direct_ticket *)u->ticket[k], k > 0, u->f, first, count);
    if (u->nearest)
        unpack_nearest((const gv_direct_ticket *)u->ticket[0], u->f, first, count);
}

/* Columns of a list: as many as the longest one has. */
static gravel_status read_columns(const gv_direct_ticket *t, const gv_buffer *from, size_t columns, uint32_t *host)
{
    const gv_device *device = gv_worker_device(&t->worker);
    const size_t origin[3] = {0, 0, 0}, region[3] = {columns * sizeof *host, t->sinks, 1};
    const cl_int code =
        clEnqueueReadBufferRect(device->copy, from->mem, CL_TRUE, origin, origin, region, t->capacity * sizeof *host, 0,
                                columns * sizeof *host, 0, host, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "reading neighbour lists from %s", device->info.name) : GRAVEL_OK;
}

static void spread(const gv_direct_ticket *t, const uint32_t *from, size_t columns, uint32_t *to)
{
    for (size_t k = 0; k < t->sinks; k++)
        for (size_t c = 0; c < columns && c < counts(t)[k]; c++)
            to[k * t->capacity + c] = from[k * columns + c];
}

static gravel_status unpack_lists(const gv_direct_ticket *t, const gravel_forces *f, size_t *overflow)
{
    uint32_t most = 0;
    *overflow = 0;
    for (size_t k = 0; k < t->sinks; k++) {
        const uint32_t count = counts(t)[k];
        *overflow += count > t->capacity;
        most = count > most ? count : most;
        if (f->neighbour_count)
            f->neighbour_count[k] = count;
    }
    const size_t columns = most < t->capacity ? most : t->capacity;
    if (columns == 0 || (!f->neighbour_id && !f->neighbour_address))
        return GRAVEL_OK;
    uint32_t *list = malloc(t->sinks * columns * sizeof *list);
    if (!list)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for neighbour lists of %zu x %zu", t->sinks, columns);
    gravel_status status = GRAVEL_OK;
    if (f->neighbour_address) {
        status = read_columns(t, &t->list, columns, list);
        if (!status)
            spread(t, list, columns, f->neighbour_address);
    }
    if (!status && f->neighbour_id) {
        status = read_columns(t, &t->ids, columns, list);
        if (!status)
            spread(t, list, columns, (uint32_t *)f->neighbour_id);
    }
    free(list);
    return status;
}

/* ------------------------------------------------------------------- collecting */

static int is_wanted(gravel_vec_out v)
{
    return v.x || v.y || v.z;
}

/* Nothing is written if a quantity is requested that the call did not compute. */
static gravel_status check_wanted(const gv_direct_ticket *t, const gravel_forces *f)
{
    if (!(t->into & GRAVEL_INTO_HOST))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the results went to planes of bodies only: into has no GRAVEL_INTO_HOST");
    if (is_wanted(f->jerk) && t->order < 4)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the jerk was not computed: order is %d, it takes 4 or 6", t->order);
    if (is_wanted(f->snap) && t->order < 6)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the snap was not computed: order is %d, it takes 6", t->order);
    if ((f->nearest_id || f->nearest_address || f->nearest_distance) && !t->nearest)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "nearest neighbours were not looked for: the option is nearest = 1");
    if ((f->neighbour_count || f->neighbour_id || f->neighbour_address) && t->capacity == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there are no neighbour lists: the option is neighbour_capacity > 0");
    return GRAVEL_OK;
}

/* Device time of the kernels of the call; -1 if it was not timed, or timing was switched off since. */
static double seconds_of(gv_direct_ticket *t)
{
    double total = 0, seconds;
    for (int stage = 0; stage < GV_DIRECT_STAGES; stage++) {
        if (!t->timed || gv_worker_seconds(&t->worker, stage, &seconds))
            return -1;
        total += seconds;
    }
    return total;
}

static gravel_status collect(gravel_ticket *ticket, const gravel_forces *forces, size_t *overflow)
{
    gv_direct_ticket *t = (gv_direct_ticket *)ticket;
    size_t over = 0;
    gravel_status status = check_wanted(t, forces);
    if (status)
        return status;
    t->direct->kernel_seconds = seconds_of(t);
    if (t->result) {
        unpacking u = {&ticket, 1, forces, t->nearest};
        gv_parallel(t->sinks > GRAIN ? gv_context_pool(t->worker.context) : NULL, t->sinks, GRAIN, unpack, &u);
        if (t->capacity > 0)
            status = unpack_lists(t, forces, &over);
    }
    if (!status && overflow)
        *overflow = over;
    return status;
}

gravel_status gv_direct_tickets_sum(gravel_ticket *const *ticket, int tickets, const gravel_forces *forces)
{
    const gv_direct_ticket *first = (const gv_direct_ticket *)ticket[0];
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k < tickets && !status; k++) {
        status = gravel_ticket_wait(ticket[k]);
        if (!status)
            status = check_wanted((const gv_direct_ticket *)ticket[k], forces);
    }
    if (status || !first->result)
        return status;
    unpacking u = {ticket, tickets, forces, 0};
    gv_parallel(first->sinks > GRAIN ? gv_context_pool(first->worker.context) : NULL, first->sinks, GRAIN, unpack, &u);
    return GRAVEL_OK;
}

/* ------------------------------------------------------------------------ life */

static void release(gravel_ticket *ticket)
{
    gv_direct_drop_ticket((gv_direct_ticket *)ticket);
}

static const gv_ticket_ops ops = {collect, release};

gravel_status gv_direct_take_ticket(gravel_direct *d, gv_direct_ticket **ticket)
{
    gravel_ticket *base;
    const gravel_status status = gv_ticket_take(&d->tickets, sizeof **ticket, &ops, &base);
    if (status)
        return status;
    gv_direct_ticket *t = (gv_direct_ticket *)base;
    const gv_device *device = gv_worker_device(&d->worker);
    t->direct = d;
    t->worker.context = d->worker.context;
    t->worker.device = d->worker.device;
    t->timed = device->compute == device->timed;
    t->result = NULL;
    *ticket = t;
    return GRAVEL_OK;
}

void gv_direct_drop_ticket(gv_direct_ticket *t)
{
    gv_ticket_give_back(&t->base);
    gv_worker_clear(&t->worker);
}

static void end(gravel_ticket *ticket)
{
    gv_direct_ticket *t = (gv_direct_ticket *)ticket;
    gv_worker_clear(&t->worker);
    gv_slots_release(&t->worker, &t->in);
    gv_slots_release(&t->worker, &t->out);
    gv_buffer_release(&t->ids);
    gv_buffer_release(&t->list);
    gv_buffer_release(&t->count);
}

void gv_direct_release_tickets(gravel_direct *d)
{
    gv_tickets_release(&d->tickets, end);
}
