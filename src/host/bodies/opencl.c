/* Planes and tickets as OpenCL objects. */
#include "host/base/cl.h"

#include "gravel/opencl.h"
#include "host/bodies/bodies.h"
#include "host/bodies/ticket.h"

gravel_status gravel_bodies_get_cl_plane(gravel_bodies *bodies, gravel_plane plane, int word, gravel_cl_plane *out)
{
    const gv_place *place = gv_plane_place(plane);
    if (!bodies || !place || !out)
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "gravel_bodies_get_cl_plane: no bodies, no place for the answer, or there "
                       "is no plane %d",
                       (int)plane);
    const int words = place->pair && bodies->precision == GRAVEL_DS ? 2 : 1;
    if (word < 0 || word >= words)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s has %d %s in %s; there is no word %d", place->name, words,
                       words == 1 ? "word" : "words", gravel_precision_name(bodies->precision), word);
    const gv_word which = (gv_word)((int)place->word + word);
    gravel_status status = gv_bodies_need(bodies, which, &out->buffer);
    if (status)
        return status;
    out->number_size = plane != GRAVEL_ID && bodies->precision == GRAVEL_DP ? 8 : 4;
    out->components = gv_word_size(bodies, which) / out->number_size;
    out->count = bodies->count;
    return GRAVEL_OK;
}

void gravel_bodies_touch(gravel_bodies *bodies, gravel_plane plane)
{
    if (!bodies || !gv_plane_place(plane))
        return;
    /* these numbers are in units of the frame as it is */
    bodies->has_box |= plane == GRAVEL_POSITION;
    bodies->has_mass_unit |= plane == GRAVEL_MASS;
    bodies->own_ids = bodies->own_ids && plane != GRAVEL_ID;
    gv_bodies_changed(bodies, plane);
}

cl_event gravel_ticket_get_cl_event(const gravel_ticket *ticket)
{
    return ticket ? ticket->compute : NULL;
}
