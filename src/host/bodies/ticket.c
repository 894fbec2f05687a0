/* What all tickets have in common. */
#include "host/bodies/ticket.h"

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
