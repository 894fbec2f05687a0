/* Tickets: results of calls, until the caller has them. */
#include "host/mesh/mesh.h"

static gravel_status collect(gravel_ticket *ticket, const gravel_forces *to, size_t *overflow)
{
    const gv_mesh_ticket *t = (gv_mesh_ticket *)ticket;
    if (overflow)
        *overflow = 0;
    const gravel_status status = gv_force_ticket_check(&t->forces, to, "a mesh gives");
    if (status)
        return status;
    if (t->mesh->fft && gv_fft_has_failed(t->mesh->fft))
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for the lines of an FFT");
    gv_force_ticket_unpack(&t->forces, to);
    return GRAVEL_OK;
}

static const gv_ticket_ops ops = {collect, gv_ticket_give_back};

gravel_status gv_mesh_take_ticket(gravel_mesh *mesh, size_t sinks, int on_host, gv_mesh_ticket **out)
{
    gravel_ticket *base;
    gravel_status status = gv_ticket_take(&mesh->tickets, sizeof **out, &ops, &base);
    if (status)
        return status;
    gv_mesh_ticket *t = (gv_mesh_ticket *)base;
    t->mesh = mesh;
    t->forces.worker = &mesh->worker;
    t->forces.words = 1;
    t->forces.scalar = mesh->scalar;
    t->forces.sinks = sinks;
    if (on_host && sinks > 0)
        status = gv_slot_reserve(&mesh->worker, &t->forces.slot, gv_force_ticket_size(&t->forces, sinks));
    if (status)
        gv_ticket_give_back(base);
    base->on_host = on_host;
    *out = t;
    return status;
}

static void end(gravel_ticket *ticket)
{
    gv_mesh_ticket *t = (gv_mesh_ticket *)ticket;
    gv_slot_release(&t->mesh->worker, &t->forces.slot);
}

void gv_mesh_release_tickets(gravel_mesh *mesh)
{
    gv_tickets_release(&mesh->tickets, end);
}
