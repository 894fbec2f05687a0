/* Calls of direct summation in flight: what each keeps until it is collected. */
#ifndef GV_DIRECT_TICKET_H
#define GV_DIRECT_TICKET_H

#include "host/direct/object.h"

typedef struct gv_direct_ticket {
    gravel_ticket base;
    gravel_direct *direct;
    gv_worker worker; /* its own, for the times of its stages */
    int timed;
    /* the call */
    int order, nearest;
    size_t capacity, sinks; /* capacity of neighbour lists; 0: none */
    size_t stride;          /* entries of a plane of results */
    unsigned into;
    gravel_frame frame; /* of the sources */
    gv_direct_layout layout;
    /* its memory: sinks to the device, results from it, lists */
    gv_slots in, out;
    gv_slot *result; /* of `out`: planes of results, then the neighbour counts; NULL: nothing to come */
    gv_buffer count, list, ids;
} gv_direct_ticket;

/* A ticket that is not in use. */
gravel_status gv_direct_take_ticket(gravel_direct *d, gv_direct_ticket **ticket);
/* Waits for these tickets of calls on as many sinks; the sums of their forces, added in this order.  Neighbours are not
 * looked at. */
gravel_status gv_direct_tickets_sum(gravel_ticket *const *ticket, int tickets, const gravel_forces *forces);
/* Waits for what is under way; the ticket may be used again. */
void gv_direct_drop_ticket(gv_direct_ticket *ticket);
void gv_direct_release_tickets(gravel_direct *d);

#endif
