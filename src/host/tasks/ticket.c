/* Tickets: results of calls, until the host has them. */
#include "host/tasks/tasks.h"

static gravel_status collect(gravel_ticket *ticket, const gravel_forces *to, size_t *overflow)
{
    const gv_tasks_ticket *t = (gv_tasks_ticket *)ticket;
    if (overflow)
        *overflow = 0;
    gravel_status status = gv_force_ticket_check(&t->forces, to, "tasks give");
    if (!status && to->pot && !t->potential)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "the call was without potentials");
    if (!status)
        gv_force_ticket_unpack(&t->forces, to);
    return status;
}

static const gv_ticket_ops ops = {collect, gv_ticket_give_back};

gravel_status gv_tasks_take_ticket(gravel_tasks *tasks, size_t bodies, gv_tasks_ticket **out)
{
    gravel_ticket *base;
    gravel_status status = gv_ticket_take(&tasks->tickets, sizeof **out, &ops, &base);
    if (status)
        return status;
    gv_tasks_ticket *t = (gv_tasks_ticket *)base;
    t->tasks = tasks;
    t->forces.worker = &tasks->worker;
    t->forces.words = tasks->words;
    t->forces.scalar = tasks->scalar;
    t->forces.sinks = bodies;
    status =
        gv_slot_reserve(&tasks->worker, &t->forces.slot, gv_force_ticket_size(&t->forces, bodies > 0 ? bodies : 1));
    if (status)
        gv_ticket_give_back(base);
    *out = t;
    return status;
}

static void end(gravel_ticket *ticket)
{
    gv_tasks_ticket *t = (gv_tasks_ticket *)ticket;
    gv_slot_release(&t->tasks->worker, &t->forces.slot);
}

void gv_tasks_release_tickets(gravel_tasks *tasks)
{
    gv_tickets_release(&tasks->tickets, end);
}
