/* Tickets: results of walks, until the caller has them. */
#include "host/tree/tree.h"

static gravel_status collect(gravel_ticket *ticket, const gravel_forces *forces, size_t *overflow)
{
    const gv_tree_ticket *t = (gv_tree_ticket *)ticket;
    int bad = 0;
    if (overflow)
        *overflow = 0;
    gravel_status status = gv_force_ticket_check(&t->forces, forces, "a tree gives");
    if (!status)
        status = gv_tree_is_bad_ticket(ticket, &bad);
    if (!status && bad)
        status = gv_fail(GRAVEL_ERR_STATE,
                         "the tree had %zu cells, far more than those before it, and not all fitted; "
                         "there is room for them now: submit the call again",
                         t->tree->known_cells);
    return status ? status : gv_tree_read_ticket(ticket, forces);
}

static const gv_ticket_ops ops = {collect, gv_ticket_give_back};

gravel_status gv_tree_take_ticket(gravel_tree *tree, gv_tree_ticket **out)
{
    gravel_ticket *base;
    const gravel_status status = gv_ticket_take(&tree->tickets, sizeof **out, &ops, &base);
    if (status)
        return status;
    gv_tree_ticket *t = (gv_tree_ticket *)base;
    t->tree = tree;
    t->forces.worker = &tree->worker;
    t->forces.words = tree->words;
    t->forces.scalar = tree->scalar;
    t->forces.sinks = 0;
    *out = t;
    return GRAVEL_OK;
}

static void end(gravel_ticket *ticket)
{
    gv_tree_ticket *t = (gv_tree_ticket *)ticket;
    gv_slot_release(&t->tree->worker, &t->forces.slot);
}

void gv_tree_release_tickets(gravel_tree *tree)
{
    gv_tickets_release(&tree->tickets, end);
}

static gravel_status reserve_host(gv_tree_ticket *t, size_t n)
{
    return gv_slot_reserve_host(&t->tree->worker, &t->forces.slot, gv_force_ticket_size(&t->forces, n));
}

gravel_status gv_tree_fetch_ticket(gravel_ticket *ticket)
{
    gv_tree_ticket *t = (gv_tree_ticket *)ticket;
    gravel_status status = GRAVEL_OK;
    if (!ticket->on_host && t->forces.sinks > 0) {
        status = reserve_host(t, t->forces.sinks);
        if (!status)
            status = gv_force_ticket_read(&t->forces);
    }
    return status ? status : gravel_ticket_wait(ticket);
}

gravel_status gv_tree_read_ticket(gravel_ticket *ticket, const gravel_forces *forces)
{
    const gravel_status status = gv_tree_fetch_ticket(ticket);
    if (!status)
        gv_force_ticket_unpack(&((gv_tree_ticket *)ticket)->forces, forces);
    return status;
}

gravel_status gv_tree_is_bad_ticket(gravel_ticket *ticket, int *bad)
{
    const gv_tree_ticket *t = (const gv_tree_ticket *)ticket;
    gravel_status status = t->build == t->tree->build ? gv_tree_settle(t->tree, 1) : GRAVEL_OK;
    *bad = t->build > 0 && t->build == t->tree->bad_build;
    return status;
}

gravel_status gv_tree_reserve_ticket(gv_tree_ticket *t, size_t n, int host)
{
    const size_t size = gv_force_ticket_size(&t->forces, n);
    gravel_status status = gv_tree_reserve(t->tree, &t->forces.slot.device, size, "forces");
    return status || !host ? status : reserve_host(t, n);
}

gravel_status gv_tree_finish_ticket(gv_tree_ticket *t, const gravel_tree_call *call, size_t n)
{
    const gravel_tree *tree = t->tree;
    const int on_host = (call->into & GRAVEL_INTO_HOST) != 0;
    t->forces.sinks = n;
    t->forces.pot = tree->frame.mass / tree->frame.length;
    t->forces.acc = t->forces.pot / tree->frame.length;
    t->build = tree->build;
    const gravel_status status = on_host && n > 0 ? reserve_host(t, n) : GRAVEL_OK;
    return status ? status : gv_force_ticket_finish(&t->forces, on_host);
}
