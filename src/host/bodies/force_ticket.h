/* Tickets of calls that give accelerations and potentials: of trees, meshes and tasks.
 *
 * On the device they are {ax ay az potential} of each sink in turn, as float or double; where words = 2 the four low
 * words of a sink follow its high ones. */
#ifndef GV_FORCE_TICKET_H
#define GV_FORCE_TICKET_H

#include "host/bodies/slots.h"
#include "host/bodies/ticket.h"

typedef struct gv_force_ticket {
    gravel_ticket base;
    const gv_worker *worker;
    gv_slot slot; /* of results; their transfer is the ticket's `done` */
    size_t sinks, words, scalar;
    double acc, pot; /* the caller's units = factor * the device's */
} gv_force_ticket;

/* Bytes of the results of so many sinks. */
size_t gv_force_ticket_size(const gv_force_ticket *ticket, size_t sinks);
/* Submits the transfer of the results to the slot's host side, which has room for them. */
gravel_status gv_force_ticket_read(gv_force_ticket *ticket);
/* Marks the end of the call's work, submits the transfer of results that go to the host, and starts all of it. */
gravel_status gv_force_ticket_finish(gv_force_ticket *ticket, int on_host);
/* ERR_ARGUMENT where something else than accelerations and potentials on the host is wanted.  `who` is in the message:
 * "a tree gives". */
gravel_status gv_force_ticket_check(const gv_force_ticket *ticket, const gravel_forces *to, const char *who);
/* Results number `first` ... in host memory to entry at[k] of the caller's arrays, of result k; `at` NULL: entry k. */
void gv_force_ticket_put(const gv_force_ticket *ticket, size_t first, size_t count, const uint32_t *at,
                         const gravel_forces *to);
/* All of them, by the threads of the context. */
void gv_force_ticket_unpack(const gv_force_ticket *ticket, const gravel_forces *to);

#endif
