/* What asks for forces beside the integration: energies, the nearest neighbour of a body whose step is too short. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/step/step.h"

/* Potentials of all bodies, in dp where the device has it. */
static gravel_status find_potentials(gravel_hermite *h, double *pot)
{
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gravel_ticket *ticket = NULL;
    gravel_forces to;
    gravel_status status = GRAVEL_OK;
    if (!h->exact && gv_worker_device(&h->worker)->info.has_fp64) {
        gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
        options.precision = GRAVEL_DP;
        options.device = h->worker.device;
        status = gravel_direct_create(&h->exact, h->worker.context, &options);
    }
    memset(&to, 0, sizeof to);
    to.pot = pot;
    call.sources = call.sinks = gravel_view_all(h->bodies);
    call.order = 2;
    call.eps = h->options.eps;
    call.soften = h->options.soften;
    call.nearest = call.neighbour_capacity = 0;
    if (!status)
        status = gravel_direct_start(h->exact ? h->exact : h->direct, &call, &ticket);
    if (!status)
        status = gravel_ticket_collect(ticket, &to, NULL);
    gravel_ticket_release(ticket);
    return status;
}

gravel_status gravel_hermite_get_energies(gravel_hermite *h, gravel_energies *energies)
{
    gravel_status status = gv_hermite_check_started(h, "gravel_hermite_get_energies");
    if (!status && !energies)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_hermite_get_energies: no place for the result");
    if (!status && h->options.agree)
        status = gv_fail(GRAVEL_ERR_UNSUPPORTED, "gravel_hermite_get_energies: other processes have bodies, too");
    if (status)
        return status;
    const size_t n = h->bodies->count;
    double *v = malloc((5 * n + 1) * sizeof *v);
    if (!v)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the energies of %zu bodies", n);
    double *const m = v + 3 * n, *const pot = v + 4 * n;
    const gravel_array_out to_v = {v, v + 1, v + 2, 3, GRAVEL_F64}, to_m = {m, NULL, NULL, 1, GRAVEL_F64};
    status = gv_copy_send(h, 0);
    if (!status)
        status = find_potentials(h, pot);
    if (!status)
        status = gravel_bodies_read(h->bodies, GRAVEL_VELOCITY, 0, n, &to_v);
    if (!status)
        status = gravel_bodies_read(h->bodies, GRAVEL_MASS, 0, n, &to_m);
    long double kinetic = 0, potential = 0;
    for (size_t k = 0; k < n && !status; k++) {
        const double *u = v + 3 * k;
        kinetic += 0.5L * m[k] * ((long double)u[0] * u[0] + (long double)u[1] * u[1] + (long double)u[2] * u[2]);
        potential += 0.5L * m[k] * pot[k];
    }
    *energies = (gravel_energies){(double)kinetic, (double)potential};
    free(v);
    return status;
}

gravel_status gv_hermite_fail_short(gravel_hermite *h, uint32_t address)
{
    const double eps = h->options.eps;
    int32_t id = -1, near_id = -1;
    double distance = 0;
    gravel_list *one = NULL;
    gravel_ticket *ticket = NULL;
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    const gravel_array_out to = {&id, NULL, NULL, 1, GRAVEL_I32};
    gravel_forces found;
    memset(&found, 0, sizeof found);
    found.nearest_id = &near_id;
    found.nearest_distance = &distance;
    gravel_status status = gv_copy_send(h, 0);
    if (!status)
        status = gravel_list_create(&one, h->worker.context, h->worker.device);
    if (!status)
        status = gravel_list_write(one, &address, 1);
    call.sources = gravel_view_all(h->bodies);
    call.sinks = gravel_view_list(h->bodies, one);
    call.order = 2;
    call.nearest = 1;
    call.eps = eps;
    if (!status)
        status = gravel_bodies_gather(h->bodies, GRAVEL_ID, &address, 1, &to);
    if (!status)
        status = gravel_direct_start(h->direct, &call, &ticket);
    if (!status)
        status = gravel_ticket_collect(ticket, &found, NULL);
    gravel_ticket_release(ticket);
    gravel_list_release(one);
    if (status)
        return status;
    if (!isfinite(distance) || h->options.agree) /* of bodies that are dealt out the nearest may be elsewhere */
        return gv_fail(GRAVEL_ERR_STATE,
                       "the step of body %d at time %.17g is below step_min = %g: more softening is needed, or allow "
                       "shorter steps",
                       (int)id, h->next, h->options.step_min);
    return gv_fail(GRAVEL_ERR_STATE,
                   "the step of body %d at time %.17g is below step_min = %g; its nearest neighbour is body %d at "
                   "distance %g: soften this pair, merge it, or allow shorter steps",
                   (int)id, h->next, h->options.step_min, (int)near_id, distance);
}
