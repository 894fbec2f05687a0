/* The state of a run to and from a checkpoint. */
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "sim/run_dealt.h"
#include "sim/run_engine.h"

gravel_status gv_run_save(gv_run *r, gv_checkpoint *c)
{
    if (r->domains)
        return gv_domains_save(r->domains, c);
    gravel_status status = r->hermite ? gravel_hermite_get_state(r->hermite, &c->state)
                                      : gravel_leapfrog_get_state(r->leapfrog, &c->state);
    if (status)
        return status;
    c->state.blocks += r->before.blocks;
    c->state.steps += r->before.steps;
    status = gv_run_tell(r, GV_RUN_SAVE, 0);
    if (status)
        return status;
    c->bodies_size = gravel_bodies_get_state_size(r->bodies);
    c->bodies = malloc(c->bodies_size);
    c->choices = gv_run_choices(r->direct, r->s.share);
    if (!c->bodies || !c->choices) {
        free(c->bodies);
        free(c->choices);
        c->bodies = c->choices = NULL;
        return gv_run_done(r, gv_fail(GRAVEL_ERR_MEMORY, "no memory for a checkpoint of %zu bodies", r->p.count));
    }
    c->particles = r->p; /* borrowed: the caller frees what was allocated here only */
    c->particles.time = r->start;
    status = gravel_bodies_save(r->bodies, c->bodies);
    if (gv_run_is_dealt(r))
        status = gv_dealt_join(r->s.company, r->bodies, c, status);
    else if (r->s.company)
        status = r->s.company->compare(r->s.company->user, c->bodies, c->bodies_size, status);
    return gv_run_done(r, status);
}

static gravel_status restore_bodies(gv_run *r, const gv_checkpoint *c)
{
    void *part = NULL;
    size_t size = 0;
    gravel_status status = GRAVEL_OK;
    if (gv_run_is_dealt(r))
        status = gv_dealt_cut(r->bodies, c, r->first, r->mine, &part, &size);
    if (!status)
        status = gravel_bodies_restore(r->bodies, part ? part : c->bodies, part ? size : c->bodies_size);
    free(part);
    if (!status && gravel_bodies_get_count(r->bodies) != r->mine)
        status = gv_fail(GRAVEL_ERR_FORMAT, "the checkpoint is damaged: %zu bodies, %zu ids",
                         gravel_bodies_get_count(r->bodies), r->mine);
    return status;
}

static gravel_status restore(gv_run *r, const gv_checkpoint *c)
{
    if (r->tree && r->s.domains && r->s.domains->count_parts(c->bodies, c->bodies_size) > 0) {
        /* bodies that were dealt out begin anew where they are */
        const gravel_status status = gv_domains_unpack(r->s.domains, r->context, r->s.precision, c, &r->p);
        r->before = (gravel_hermite_counts){c->state.blocks, c->state.steps, 0};
        double since = gv_now();
        return status ? status : gv_run_begin_at(r, c->state.time, &since);
    }
    gravel_status status = restore_bodies(r, c);
    if (!status)
        status = gv_run_take_choices(r->s.company, c, r->direct, r->s.share);
    if (status)
        return status;
    return r->hermite ? gravel_hermite_resume(r->hermite, &c->state) : gravel_leapfrog_resume(r->leapfrog, &c->state);
}

gravel_status gv_run_restore(gv_run *r, const gv_checkpoint *c)
{
    if (r->domains)
        return gv_domains_restore(r->domains, c);
    double since = gv_now();
    gravel_status status = gv_run_tell(r, GV_RUN_RESTORE, 0);
    if (!status)
        status = restore(r, c);
    status = gv_run_done(r, status);
    memcpy(r->clock, c->at.clock, sizeof r->clock);
    gv_run_charge(r, GV_CLOCK_TRANSFER, &since);
    return status;
}
