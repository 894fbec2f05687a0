/* Tickets: calls in flight.  A solver embeds gravel_ticket, or gv_force_ticket (force_ticket.h), as the first member of
 * its own ticket, and keeps all that it made in a list: those that are released are used again. */
#ifndef GV_TICKET_H
#define GV_TICKET_H

#include "host/program/launch.h"

typedef struct gv_ticket_ops {
    gravel_status (*collect)(gravel_ticket *ticket, const gravel_forces *forces, size_t *overflow);
    void (*release)(gravel_ticket *ticket); /* returns it to its solver's pool */
} gv_ticket_ops;

struct gravel_ticket {
    const gv_ticket_ops *ops;
    struct gravel_ticket *next; /* of its solver */
    int in_use, on_host;        /* on_host: results go to host memory */
    cl_event done;    /* the last command of the call, results in host memory; NULL: there was nothing to do */
    cl_event compute; /* its last command on the compute queue */
    int collected;
};

/* A ticket of the list that is not in use; else a new one of `size` bytes, which are 0 behind the base. */
gravel_status gv_ticket_take(gravel_ticket **list, size_t size, const gv_ticket_ops *ops, gravel_ticket **ticket);
/* Marks the end of a call's commands so far as `compute`. */
gravel_status gv_ticket_mark(gravel_ticket *ticket, const gv_worker *worker);
/* Waits for results that are still on their way to host memory, which may be used again then; drops the events.  The
 * ticket may be taken again. */
void gv_ticket_give_back(gravel_ticket *ticket);
/* The same for all, which are freed; `end` frees what a ticket has behind its base. */
void gv_tickets_release(gravel_ticket **list, void (*end)(gravel_ticket *ticket));

#endif
