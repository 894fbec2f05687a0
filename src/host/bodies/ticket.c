/* What all tickets have in common. */
#include "host/bodies/ticket.h"

#include <stdlib.h>

gravel_status gravel_ticket_get_ready(gravel_ticket *ticket, int *ready)
{
    cl_int state = CL_COMPLETE;
    if (!ticket || !ready)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_ticket_get_ready: no ticket, or no place for the answer");
    *ready = 0;
    const cl_int code =
        ticket->done ? clGetEventInfo(ticket->done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL)
                     : CL_SUCCESS;
    if (code || state < 0)
        return gv_fail_cl(code ? code : state, "a call failed on the device");
    *ready = state == CL_COMPLETE;
    return GRAVEL_OK;
}

gravel_status gravel_ticket_wait(gravel_ticket *ticket)
{
    if (!ticket)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_ticket_wait: no ticket");
    const cl_int code = ticket->done ? clWaitForEvents(1, &ticket->done) : CL_SUCCESS;
    return code ? gv_fail_cl(code, "waiting for a call") : GRAVEL_OK;
}

gravel_status gravel_ticket_collect(gravel_ticket *ticket, const gravel_forces *forces, size_t *overflow)
{
    if (!ticket || !forces)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_ticket_collect: no ticket, or no place for the results");
    if (ticket->collected)
        return gv_fail(GRAVEL_ERR_STATE, "the results of this ticket were collected already");
    gravel_status status = gravel_ticket_wait(ticket);
    if (!status)
        status = ticket->ops->collect(ticket, forces, overflow);
    ticket->collected = status == GRAVEL_OK;
    return status;
}

void gravel_ticket_release(gravel_ticket *ticket)
{
    if (ticket)
        ticket->ops->release(ticket);
}

/* ------------------------------------------------------- the tickets of a solver */

gravel_status gv_ticket_take(gravel_ticket **list, size_t size, const gv_ticket_ops *ops, gravel_ticket **ticket)
{
    gravel_ticket *t = *list;
    while (t && t->in_use)
        t = t->next;
    if (!t) {
        t = calloc(1, size);
        if (!t)
            return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a ticket");
        t->ops = ops;
        t->next = *list;
        *list = t;
    }
    t->in_use = 1;
    t->on_host = 0;
    *ticket = t;
    return GRAVEL_OK;
}

gravel_status gv_ticket_mark(gravel_ticket *ticket, const gv_worker *worker)
{
    const cl_int code = clEnqueueMarkerWithWaitList(gv_worker_queue(worker), 0, NULL, &ticket->compute);
    return code ? gv_fail_cl(code, "marking the end of a call on %s", gv_worker_device(worker)->info.name) : GRAVEL_OK;
}

static void clear(gravel_ticket *ticket)
{
    if (ticket->done && ticket->on_host && !ticket->collected)
        clWaitForEvents(1, &ticket->done);
    if (ticket->done)
        clReleaseEvent(ticket->done);
    if (ticket->compute)
        clReleaseEvent(ticket->compute);
    ticket->done = ticket->compute = NULL;
    ticket->collected = 0;
}

void gv_ticket_give_back(gravel_ticket *ticket)
{
    clear(ticket);
    ticket->in_use = 0;
}

void gv_tickets_release(gravel_ticket **list, void (*end)(gravel_ticket *ticket))
{
    while (*list) {
        gravel_ticket *t = *list;
        *list = t->next;
        clear(t);
        end(t);
        free(t);
    }
}
