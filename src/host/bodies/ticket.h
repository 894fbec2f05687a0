/* Tickets: calls in flight.  A solver embeds gv_ticket_base as the first member of its own ticket. */
#ifndef GV_TICKET_H
#define GV_TICKET_H

#include "host/program/launch.h"

typedef struct gv_ticket_ops {
    gravel_status (*collect)(gravel_ticket *ticket, const gravel_forces *forces, size_t *overflow);
    void (*release)(gravel_ticket *ticket); /* returns it to its solver's pool */
} gv_ticket_ops;

struct gravel_ticket {
    const gv_ticket_ops *ops;
    cl_event done;    /* the last command of the call, results in host memory; NULL: there was nothing to do */
    cl_event compute; /* its last command on the compute queue */
    int collected;
};

#endif
