/* One face for all integrators and solvers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "sim/drive.h"
#include "sim/run_dealt.h"
#include "sim/run_domains.h"
#include "sim/run_engine.h"

const char *const gv_run_clock_name[GV_CLOCKS] = {"submit",    "host",     "wait",     "transfer",
                                                  "potential", "diagnose", "snapshot", "checkpoint"};

/* -------------------------------------------------------------------- life */

int gv_run_is_dealt(const gv_run *r)
{
    return r->s.company && r->s.company->agree;
}

static gravel_status make_direct(gv_run *r)
{
    gravel_direct_options o = GRAVEL_DIRECT_OPTIONS_INIT;
    o.order = r->s.order;
    o.precision = r->s.precision;
    o.configuration = r->s.configuration;
    return gravel_direct_create(&r->direct, r->context, &o);
}

gravel_tree_options gv_run_tree_options(const gv_run_settings *s)
{
    gravel_tree_options o = GRAVEL_TREE_OPTIONS_INIT;
    o.theta = s->theta;
    o.mac = s->mac;
    o.moments = s->moments;
    o.softening = s->softening;
    o.precision = s->precision;
    o.configuration = s->configuration;
    return o;
}

static gravel_status make_tree(gv_run *r)
{
    const gravel_tree_options o = gv_run_tree_options(&r->s);
    return gravel_tree_create(&r->tree, r->context, &o);
}

/* No criterion asks for a step shorter than step_max. */
static const double UNLIMITED = 1e30;

/* Where direct sums are not those of the solver alone. */
static void choose_forces(const gv_run *r, gravel_forces_fn *forces, void **user)
{
    *forces = r->s.company ? r->s.company->forces : r->s.share ? gravel_several_share_forces : NULL;
    *user = r->s.company ? r->s.company->user : r->s.share;
}

static gravel_status make_hermite(gv_run *r)
{
    const int fixed = r->s.steps == GV_RUN_FIXED;
    gravel_hermite_options o = GRAVEL_HERMITE_OPTIONS_INIT;
    o.order = r->s.order;
    o.criterion = r->s.criterion;
    o.eta4 = fixed ? UNLIMITED : r->s.eta4;
    o.eta6 = fixed ? UNLIMITED : r->s.eta6;
    o.eta_start = fixed ? UNLIMITED : r->s.eta_start;
    o.step_max = r->s.step_max;
    o.step_min = r->s.step_min;
    o.shared = r->s.steps != GV_RUN_BLOCK;
    o.iterations = r->s.iterations;
    o.eps = r->s.eps;
    o.external = r->s.external;
    o.external_user = r->s.external_user;
    choose_forces(r, &o.forces, &o.forces_user);
    o.agree = r->s.company ? r->s.company->agree : NULL;
    o.costs = r->s.company && !o.agree ? r->s.company->costs : NULL;
    o.processes = o.costs ? r->s.company->size : 0;
    o.alone_pairs = o.costs ? r->s.company->alone_pairs : 0;
    o.forces_alike = !r->s.company || o.costs;
    o.host = o.forces_alike ? r->s.host : GRAVEL_HOST_NEVER;
    o.tally = r->s.steps == GV_RUN_BLOCK;
    return gravel_hermite_create(&r->hermite, r->bodies, r->direct, &o);
}

gravel_leapfrog_options gv_run_leapfrog(const gv_run_settings *s)
{
    gravel_leapfrog_options o = GRAVEL_LEAPFROG_OPTIONS_INIT;
    o.eta = s->steps == GV_RUN_FIXED ? 0 : s->eta;
    o.step_max = s->step_max;
    o.step_min = s->step_min;
    o.shared = s->steps == GV_RUN_SHARED;
    o.eps = s->eps;
    o.rebuild = s->rebuild;
    o.ahead = o.tally = s->steps == GV_RUN_BLOCK;
    o.last = s->mac == GRAVEL_TREE_LAST;
    return o;
}

static gravel_status make_leapfrog(gv_run *r)
{
    gravel_leapfrog_options o = gv_run_leapfrog(&r->s);
    o.external = r->s.external;
    o.external_user = r->s.external_user;
    choose_forces(r, &o.forces, &o.forces_user);
    o.walk = r->s.share ? gravel_several_share_walk : NULL;
    o.walk_user = r->s.share;
    return gravel_leapfrog_create(&r->leapfrog, r->bodies, r->direct, r->tree, &o);
}

gravel_status gv_run_create(gv_run **run, gravel_context *context, const gv_run_settings *settings,
                            gv_particles *particles)
{
    gravel_bodies_options bodies = GRAVEL_BODIES_OPTIONS_INIT;
    gv_run *r = calloc(1, sizeof *r);
    *run = NULL;
    if (!r) {
        gv_particles_free(particles);
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a run");
    }
    r->context = context;
    r->s = *settings;
    r->p = *particles;
    *particles = (gv_particles)GV_PARTICLES_INIT;
    r->start = r->p.time;
    r->gravity = gv_units_gravity(&r->p.units);
    r->mine = r->p.count;
    if (gv_run_is_dealt(r))
        settings->company->get_range(settings->company->user, r->p.count, &r->first, &r->mine);
    bodies.precision = settings->precision == GRAVEL_DP ? GRAVEL_DP : GRAVEL_DS;
    gravel_status status = gravel_bodies_create(&r->bodies, context, &bodies);
    if (!status && settings->solver == GV_RUN_TREE && settings->company)
        status = gv_domains_create(&r->domains, context, &r->s, &r->p, r->clock);
    else if (!status)
        status = settings->solver == GV_RUN_TREE ? make_tree(r) : make_direct(r);
    if (!status && !r->domains)
        status = settings->order > 2 ? make_hermite(r) : make_leapfrog(r);
    if (status) {
        gv_run_release(r);
        return status;
    }
    *run = r;
    return GRAVEL_OK;
}

void gv_run_release(gv_run *r)
{
    if (!r)
        return;
    gravel_hermite_release(r->hermite);
    gravel_leapfrog_release(r->leapfrog);
    gv_domains_release(r->domains);
    gravel_tree_release(r->tree);
    gravel_direct_release(r->exact);
    gravel_direct_release(r->direct);
    gravel_bodies_release(r->bodies);
    gv_particles_free(&r->p);
    free(r);
}

/* ------------------------------------------------------------------- steps */

void gv_run_charge(gv_run *r, gv_run_clock clock, double *since)
{
    const double now = gv_now();
    r->clock[clock] += now - *since;
    *since = now;
}

gravel_status gv_run_tell(gv_run *r, gv_run_order order, double time)
{
    const gv_run_company *c = r->s.company;
    return c && c->tell ? c->tell(c->user, order, time) : GRAVEL_OK;
}

gravel_status gv_run_done(gv_run *r, gravel_status status)
{
    const gv_run_company *c = r->s.company;
    return c ? c->done(c->user, status) : status;
}

/* Masses times G: then forces without G are in the particles' own units. */
static gravel_status write_masses(gv_run *r)
{
    double *m = malloc((r->mine + 1) * sizeof *m);
    if (!m)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu masses", r->mine);
    for (size_t k = 0; k < r->mine; k++)
        m[k] = r->gravity * r->p.m[r->first + k];
    const gravel_status status = gravel_bodies_write(r->bodies, GRAVEL_MASS, 0, r->mine, &GRAVEL_ARRAY(m));
    free(m);
    return status;
}

gravel_status gv_run_begin_at(gv_run *r, double time, double *since)
{
    const gv_particles *p = &r->p;
    const size_t f = r->first, n = r->mine;
    const gravel_array x = GRAVEL_ARRAY_SOA(p->x + f, p->y + f, p->z + f);
    const gravel_array v = GRAVEL_ARRAY_SOA(p->vx + f, p->vy + f, p->vz + f);
    gravel_status status = gravel_bodies_resize(r->bodies, n);
    if (!status && gv_run_is_dealt(r))
        status = gv_dealt_frame(r->bodies, p, r->gravity);
    if (!status)
        status = gravel_bodies_write(r->bodies, GRAVEL_POSITION, 0, n, &x);
    if (!status)
        status = gravel_bodies_write(r->bodies, GRAVEL_VELOCITY, 0, n, &v);
    if (!status)
        status = gravel_bodies_write(r->bodies, GRAVEL_ID, 0, n, &(gravel_array){p->id + f, NULL, NULL, 1, GRAVEL_I32});
    if (!status)
        status = write_masses(r);
    gv_run_charge(r, GV_CLOCK_TRANSFER, since);
    if (status)
        return status;
    return r->hermite ? gravel_hermite_start(r->hermite, time) : gravel_leapfrog_start(r->leapfrog, time);
}

gravel_status gv_run_start(gv_run *r)
{
    if (r->domains)
        return gv_domains_start(r->domains);
    double since = gv_now();
    gravel_status status = gv_run_tell(r, GV_RUN_START, 0);
    if (!status)
        status = gv_run_begin_at(r, 0, &since);
    status = gv_run_done(r, status);
    gv_run_charge(r, GV_CLOCK_SUBMIT, &since);
    return status;
}

gravel_status gv_run_get_next(gv_run *r, double *time)
{
    if (r->domains) {
        *time = r->domains->next;
        return GRAVEL_OK;
    }
    double since = gv_now();
    gravel_status status = gv_run_is_dealt(r) ? gv_run_tell(r, GV_RUN_NEXT, 0) : GRAVEL_OK;
    if (!status)
        status = r->hermite ? gravel_hermite_get_next(r->hermite, time) : gravel_leapfrog_get_next(r->leapfrog, time);
    if (gv_run_is_dealt(r))
        status = gv_run_done(r, status);
    gv_run_charge(r, r->by_host ? GV_CLOCK_HOST : GV_CLOCK_WAIT, &since);
    return status;
}

/* Processes that have all bodies: as many blocks as the hosts move, which are the same for all, up to one of the
 * devices. */
static gravel_status take_alike(gv_run *r, double until, size_t most, gravel_hermite_step_info *info, size_t *taken)
{
    gravel_hermite_counts at;
    gravel_status status = GRAVEL_OK;
    uint64_t hosts; /* blocks of the hosts so far */
    size_t done;
    *taken = 0;
    do {
        gravel_hermite_get_counts(r->hermite, &at);
        hosts = at.host_blocks;
        status = gravel_hermite_steps(r->hermite, until, most - *taken, info + *taken, &done);
        *taken += done;
        gravel_hermite_get_counts(r->hermite, &at);
    } while (!status && *taken < most && at.host_blocks > hosts);
    return status;
}

/* Processes that follow have room for as many. */
static int takes_several(const gv_run *r, size_t most)
{
    return most == GV_DRIVE_BLOCKS && r->hermite && r->s.company && !gv_run_is_dealt(r);
}

static gravel_status take_steps(gv_run *r, double until, size_t most, gravel_hermite_step_info *info, size_t *taken)
{
    *taken = 1;
    return r->leapfrog              ? gravel_leapfrog_step(r->leapfrog, info)
           : takes_several(r, most) ? take_alike(r, until, most, info, taken)
           : r->s.company           ? gravel_hermite_step(r->hermite, info) /* all processes take one */
                                    : gravel_hermite_steps(r->hermite, until, most, info, taken);
}

gravel_status gv_run_step(gv_run *r, double until, size_t most, gravel_hermite_step_info *info, size_t *taken)
{
    *taken = 1;
    if (r->domains)
        return gv_domains_step(r->domains, info);
    double since = gv_now();
    gravel_hermite_counts before, after;
    const int waits = r->hermite && !r->s.company && !r->s.share && r->s.steps == GV_RUN_BLOCK;
    gv_run_get_counts(r, &before);
    gravel_status status = gv_run_tell(r, takes_several(r, most) ? GV_RUN_STEPS : GV_RUN_STEP, until);
    if (!status)
        status = take_steps(r, until, most, info, taken);
    status = gv_run_done(r, status);
    gv_run_get_counts(r, &after);
    r->by_host = after.host_blocks > before.host_blocks;
    gv_run_charge(r, r->by_host ? GV_CLOCK_HOST : waits ? GV_CLOCK_WAIT : GV_CLOCK_SUBMIT, &since);
    return status;
}

gravel_status gv_run_look(gv_run *r, double time)
{
    if (r->domains)
        return gv_domains_look(r->domains, time);
    gv_particles *p = &r->p;
    const size_t f = r->first;
    const gravel_array_out x = GRAVEL_ARRAY_OUT_SOA(p->x + f, p->y + f, p->z + f);
    const gravel_array_out v = GRAVEL_ARRAY_OUT_SOA(p->vx + f, p->vy + f, p->vz + f);
    double since = gv_now();
    gravel_status status = gv_run_tell(r, GV_RUN_LOOK, time);
    if (!status)
        status = r->hermite ? gravel_hermite_get_bodies_at(r->hermite, time, &r->seen)
                            : gravel_leapfrog_get_bodies_at(r->leapfrog, time, &r->seen);
    if (!status)
        status = gravel_bodies_read(r->seen, GRAVEL_POSITION, 0, r->mine, &x);
    if (!status)
        status = gravel_bodies_read(r->seen, GRAVEL_VELOCITY, 0, r->mine, &v);
    if (gv_run_is_dealt(r))
        status = gv_dealt_gather(r->s.company, p, status);
    p->time = r->start + time;
    status = gv_run_done(r, status);
    gv_run_charge(r, GV_CLOCK_TRANSFER, &since);
    return status;
}

static gravel_status sum_potentials(gv_run *r, double *potential)
{
    const gv_run_company *c = r->s.company;
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gravel_ticket *ticket = NULL;
    size_t first = 0, mine = r->p.count;
    gravel_status status = GRAVEL_OK;
    if (c)
        c->get_range(c->user, r->p.count, &first, &mine);
    const gravel_forces to = {.pot = potential + first};
    if (!r->exact) {
        gravel_direct_options o = GRAVEL_DIRECT_OPTIONS_INIT;
        o.precision = gravel_context_get_device(r->context, 0)->has_fp64 ? GRAVEL_DP : GRAVEL_DS;
        status = gravel_direct_create(&r->exact, r->context, &o);
    }
    if (gv_run_is_dealt(r)) {
        status = gv_run_done(r, status); /* all have one */
        if (!status)
            status = c->potentials(c->user, r->exact, r->seen, r->s.eps, potential + first);
        return c->gather(c->user, r->p.count, potential, status);
    }
    call.sources = gravel_view_all(r->seen);
    call.sinks = gravel_view_range(r->seen, first, mine);
    call.order = 2;
    call.eps = r->s.eps;
    call.nearest = call.neighbour_capacity = 0;
    if (!status)
        status = gravel_direct_start(r->exact, &call, &ticket);
    if (!status)
        status = gravel_ticket_collect(ticket, &to, NULL);
    gravel_ticket_release(ticket);
    return c ? c->gather(c->user, r->p.count, potential, status) : status;
}

gravel_status gv_run_find_potentials(gv_run *r, double *potential)
{
    if (r->domains)
        return gv_domains_find_potentials(r->domains, potential);
    const size_t n = r->p.count;
    double since = gv_now();
    /* a spline's potential is the tree's own */
    const int by_tree = r->tree && (n > r->s.sum_up_to || r->s.softening != GRAVEL_PLUMMER);
    gravel_status status = gv_run_tell(r, GV_RUN_POTENTIALS, 0);
    if (!status)
        status = by_tree ? gravel_bodies_read(r->seen, GRAVEL_POTENTIAL, 0, n, &GRAVEL_ARRAY_OUT(potential))
                         : sum_potentials(r, potential);
    status = gv_run_done(r, status);
    /* diagnose.h has G of the units: potentials without it */
    for (size_t k = 0; k < n && !status; k++)
        potential[k] /= r->gravity;
    gv_run_charge(r, GV_CLOCK_POTENTIAL, &since);
    return status;
}

const gv_particles *gv_run_get_particles(const gv_run *r)
{
    return &r->p;
}

double gv_run_get_start(const gv_run *r)
{
    return r->start;
}

void gv_run_get_counts(const gv_run *r, gravel_hermite_counts *counts)
{
    if (r->domains)
        *counts = r->domains->counts;
    else if (r->hermite)
        gravel_hermite_get_counts(r->hermite, counts);
    else
        gravel_leapfrog_get_counts(r->leapfrog, counts);
    counts->blocks += r->before.blocks;
    counts->steps += r->before.steps;
}

gravel_status gv_run_add_steps(gv_run *r, gv_blocks *blocks)
{
    uint64_t counts[GRAVEL_STEP_POWERS] = {0};
    const int dealt = gv_run_is_dealt(r) || (r->domains && r->s.steps == GV_RUN_BLOCK);
    if (r->domains && !dealt) /* one step for all: blocks tell */
        return GRAVEL_OK;
    gravel_status status = dealt ? gv_run_tell(r, GV_RUN_ADD_STEPS, 0) : GRAVEL_OK;
    if (!status)
        status = r->domains   ? gv_domains_add_steps(r->domains, counts)
                 : r->hermite ? gravel_hermite_add_step_counts(r->hermite, counts)
                              : gravel_leapfrog_add_step_counts(r->leapfrog, counts);
    if (r->domains)
        status = gv_run_done(r, status);
    else if (dealt)
        status = gv_run_done(r, gv_dealt_add_counts(r->s.company, counts, status));
    for (int p = 0; p < GRAVEL_STEP_POWERS && !status; p++)
        gv_blocks_add_steps(blocks, ldexp(1, p - GRAVEL_STEP_POWERS / 2), counts[p]);
    return status;
}

gravel_status gv_run_write_together(gv_run *r, const char *path)
{
    const gv_run_company *c = r->s.company;
    const gravel_status status = gv_run_tell(r, GV_RUN_SNAPSHOT, 0);
    return gv_run_done(r, status ? status : c->write(c->user, &r->p, path));
}

double *gv_run_clocks(gv_run *r)
{
    return r->clock;
}
