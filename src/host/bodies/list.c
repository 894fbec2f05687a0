/* Lists of addresses on the device, and views. */
#include <stdlib.h>
#include <string.h>

#include "host/base/threads.h"
#include "host/bodies/order.h"
#include "host/bodies/slots.h"

gravel_status gravel_list_create(gravel_list **list, gravel_context *context, int device)
{
    if (!list || !context || device < 0 || device >= context->n_devices)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_list_create: no place for the result, no context, or no device %d",
                       device);
    *list = NULL;
    gravel_list *made = calloc(1, sizeof *made);
    if (made)
        made->slots = calloc(1, sizeof *made->slots);
    if (!made || !made->slots) {
        free(made);
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a list");
    }
    made->worker = (gv_worker){.context = context, .device = device};
    *list = made;
    return GRAVEL_OK;
}

void gravel_list_release(gravel_list *list)
{
    if (!list)
        return;
    gv_slots_release(&list->worker, list->slots);
    gv_buffer_release(&list->address);
    free(list->slots);
    free(list);
}

/* A copy of addresses, and the largest of them. */
typedef struct copying {
    const uint32_t *from;
    uint32_t *to;
    uint32_t largest;
} copying;

static void copy(void *user, size_t first, size_t count)
{
    copying *c = user;
    uint32_t most = 0, seen = __atomic_load_n(&c->largest, __ATOMIC_RELAXED);
    for (size_t k = first; k < first + count; k++)
        most = c->from[k] > most ? c->from[k] : most;
    memcpy(c->to + first, c->from + first, count * sizeof *c->to);
    while (most > seen && !__atomic_compare_exchange_n(&c->largest, &seen, most, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* Into `to`, through a slot: the caller's array is free, and calls that still read the buffer come before. */
static gravel_status send_to(gravel_list *list, const gv_buffer *to, const uint32_t *address, size_t count,
                             uint32_t *largest)
{
    enum { GRAIN = 32768 };
    const size_t bytes = count * sizeof *address;
    gv_slot *slot;
    gravel_status status = gv_slots_take(&list->worker, list->slots, bytes, &slot);
    if (status)
        return status;
    copying c = {address, slot->host, 0};
    gv_parallel(count > GRAIN ? gv_context_pool(list->worker.context) : NULL, count, GRAIN, copy, &c);
    *largest = c.largest;
    const cl_int code = clEnqueueWriteBuffer(gv_worker_queue(&list->worker), to->mem, CL_FALSE, 0, bytes, slot->host, 0,
                                             NULL, &slot->busy);
    return code ? gv_fail_cl(code, "sending %zu addresses to %s", count, gv_worker_device(&list->worker)->info.name)
                : GRAVEL_OK;
}

/* What fails leaves the list as it was: where its buffer is too small, another one takes its place at the end. */
static gravel_status send(gravel_list *list, const uint32_t *address, size_t count, uint32_t *largest)
{
    const size_t bytes = count * sizeof *address, roomy = bytes + bytes / 2;
    const size_t most = (size_t)gv_worker_device(&list->worker)->info.max_allocation;
    const size_t room = roomy <= most ? roomy : bytes < most ? most : bytes;
    gv_buffer made = {NULL, 0};
    gravel_status status = GRAVEL_OK;
    if (list->address.size < bytes)
        status = gv_buffer_reserve(&list->worker, &made, room, "a list of addresses");
    if (!status)
        status = send_to(list, made.mem ? &made : &list->address, address, count, largest);
    if (status) {
        gv_buffer_release(&made);
        return status;
    }
    if (made.mem) {
        gv_buffer_release(&list->address);
        list->address = made;
    }
    list->is_sent = 1;
    return GRAVEL_OK;
}

gravel_status gravel_list_write(gravel_list *list, const uint32_t *address, size_t count)
{
    uint32_t largest = 0;
    if (!list || (!address && count > 0) || count > GV_MOST_BODIES)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_list_write: no list, no addresses, or too many (%zu)", count);
    for (size_t k = 0; count <= GV_FEW && k < count; k++)
        largest = address[k] > largest ? address[k] : largest;
    gravel_status status = count > GV_FEW ? send(list, address, count, &largest) : GRAVEL_OK;
    if (status)
        return status;
    if (count <= GV_FEW) {
        if (count > 0)
            memcpy(list->few, address, count * sizeof *address);
        list->is_sent = 0;
    }
    list->count = count;
    list->largest = largest;
    list->mixed = gv_are_mixed((const int32_t *)address, 1, count);
    list->version++;
    return GRAVEL_OK;
}

gravel_status gravel_list_read(gravel_list *list, uint32_t *address)
{
    if (!list || (!address && list->count > 0))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_list_read: no list, or no place for the addresses");
    if (list->count <= GV_FEW) {
        if (list->count > 0)
            memcpy(address, list->few, list->count * sizeof *address);
        return GRAVEL_OK;
    }
    const cl_int code = clEnqueueReadBuffer(gv_worker_queue(&list->worker), list->address.mem, CL_TRUE, 0,
                                            list->count * sizeof *address, address, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "reading %zu addresses", list->count) : GRAVEL_OK;
}

size_t gravel_list_get_count(const gravel_list *list)
{
    return list ? list->count : 0;
}

/* ----------------------------------------------------------------------- views */

gravel_view gravel_view_all(gravel_bodies *bodies)
{
    return (gravel_view){bodies, GRAVEL_VIEW_ALL, 0, 0, NULL};
}

gravel_view gravel_view_range(gravel_bodies *bodies, size_t first, size_t count)
{
    return (gravel_view){bodies, GRAVEL_VIEW_RANGE, first, count, NULL};
}

gravel_view gravel_view_list(gravel_bodies *bodies, const gravel_list *list)
{
    return (gravel_view){bodies, GRAVEL_VIEW_LIST, 0, 0, list};
}

size_t gravel_view_get_count(const gravel_view *view)
{
    if (!view || !view->bodies)
        return 0;
    return view->kind == GRAVEL_VIEW_ALL     ? view->bodies->count
           : view->kind == GRAVEL_VIEW_RANGE ? view->count
                                             : gravel_list_get_count(view->list);
}

int gv_view_is_mixed(const gravel_view *view)
{
    return view->bodies && (view->bodies->ids_mixed || (view->kind == GRAVEL_VIEW_LIST && view->list->mixed));
}

static gravel_status check_list(const gravel_view *view, const char *what)
{
    const gravel_list *list = view->list;
    const gravel_bodies *bodies = view->bodies;
    if (!list)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: the view has no list", what);
    if (list->worker.context != bodies->worker.context || list->worker.device != bodies->worker.device)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: the list is on another device than the bodies", what);
    if (list->count > 0 && list->largest >= bodies->count)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: the list names body %u; there are %zu", what, (unsigned)list->largest,
                       bodies->count);
    return GRAVEL_OK;
}

static gravel_status resolve(const gravel_view *view, const char *what, gv_selection *selection)
{
    *selection = (gv_selection){.bodies = NULL};
    if (!view || !view->bodies)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: the view has no bodies", what);
    const size_t there = view->bodies->count;
    switch (view->kind) {
    case GRAVEL_VIEW_ALL:
        *selection = (gv_selection){.bodies = view->bodies, .count = there};
        return GRAVEL_OK;
    case GRAVEL_VIEW_RANGE:
        if (view->first > there || view->count > there - view->first)
            return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: bodies %zu and %zu more; there are %zu", what, view->first,
                           view->count, there);
        *selection = (gv_selection){.bodies = view->bodies, .first = view->first, .count = view->count};
        return GRAVEL_OK;
    case GRAVEL_VIEW_LIST:
        *selection = (gv_selection){.bodies = view->bodies, .count = gravel_list_get_count(view->list)};
        return check_list(view, what);
    }
    return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: there is no view of kind %d", what, (int)view->kind);
}

gravel_status gv_view_resolve(const gravel_view *view, const char *what, gv_selection *selection)
{
    gravel_status status = resolve(view, what, selection);
    if (status || view->kind != GRAVEL_VIEW_LIST || selection->count == 0)
        return status;
    gravel_list *list = (gravel_list *)view->list; /* what the caller sees of it does not change */
    uint32_t largest;
    if (!list->is_sent)
        status = send(list, list->few, list->count, &largest);
    selection->list = list->address.mem;
    return status;
}

gravel_status gv_view_resolve_few(const gravel_view *view, const char *what, gv_selection *selection)
{
    if (!view || view->kind != GRAVEL_VIEW_LIST || gravel_list_get_count(view->list) > GV_FEW)
        return gv_view_resolve(view, what, selection);
    gravel_status status = resolve(view, what, selection);
    if (!status && selection->count > 0)
        selection->few = view->list->few;
    return status;
}
