#include "sim/run_domains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"

static const gv_run_domains *ops_of(const gv_domains_run *r)
{
    return r->settings->domains;
}

static void charge(gv_domains_run *r, gv_run_clock clock, double *since)
{
    const double now = gv_now();
    r->clock[clock] += now - *since;
    *since = now;
}

static gravel_status tell(gv_domains_run *r, gv_run_order order, double time)
{
    return r->company->tell ? r->company->tell(r->company->user, order, time) : GRAVEL_OK;
}

static gravel_status done(gv_domains_run *r, gravel_status status)
{
    return r->company->done(r->company->user, status);
}

gravel_status gv_domains_create(gv_domains_run **run, gravel_context *context, const gv_run_settings *settings,
                                gv_particles *particles, double *clock)
{
    gv_domains_run *r = calloc(1, sizeof *r);
    *run = NULL;
    if (!r)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a run");
    r->context = context;
    r->company = settings->company;
    r->settings = settings;
    r->p = particles;
    r->clock = clock;
    r->start = particles->time;
    r->gravity = gv_units_gravity(&particles->units);
    const gravel_status status = ops_of(r)->make(r->company->user, settings, &r->domains);
    if (status)
        gv_domains_release(r);
    else
        *run = r;
    return status;
}

void gv_domains_release(gv_domains_run *r)
{
    if (!r)
        return;
    if (r->looking)
        ops_of(r)->release(r->looking);
    if (r->domains)
        ops_of(r)->release(r->domains);
    gravel_direct_release(r->exact);
    gravel_bodies_release(r->all);
    free(r);
}

/* ------------------------------------------------------------------- steps */

static int has_blocks(const gv_domains_run *r)
{
    return r->settings->steps == GV_RUN_BLOCK;
}

/* The largest power of 2 that all bodies may take now; a longer one begins at a multiple of itself. */
static gravel_status find_step(gv_domains_run *r)
{
    if (has_blocks(r))
        return ops_of(r)->get_next(r->domains, &r->next);
    const gv_run_settings *s = r->settings;
    double largest = 0, allowed = INFINITY;
    gravel_status status = GRAVEL_OK;
    if (s->steps != GV_RUN_FIXED)
        status = ops_of(r)->get_largest(r->domains, &largest);
    if (!status && largest > 0)
        allowed = sqrt(s->eta * s->eps / largest);
    r->step = s->step_max;
    while (!status && r->step >= s->step_min && (r->step > allowed || fmod(r->now, r->step) != 0))
        r->step /= 2;
    if (!status && r->step < s->step_min)
        status =
            gv_fail(GRAVEL_ERR_STATE,
                    "at time %.9g the largest acceleration, %g, needs steps of %g, which is below step_min = %g: allow "
                    "shorter steps, a larger eta, or more softening",
                    r->now, largest, allowed, s->step_min);
    r->next = r->now + r->step;
    return status;
}

/* This process' bodies, whatever part it gets in the end. */
static gravel_status write_range(gv_domains_run *r, void *domains)
{
    const gv_particles *p = r->p;
    size_t first, mine;
    r->company->get_range(r->company->user, p->count, &first, &mine);
    double *m = malloc((mine + 1) * sizeof *m);
    if (!m) {
        /* the others are about to write: they get this failure there */
        const gravel_sources none = {.count = mine};
        const gravel_status status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu masses", mine);
        ops_of(r)->write(domains, first, &none);
        return status;
    }
    for (size_t k = 0; k < mine; k++)
        m[k] = r->gravity * p->m[first + k];
    const gravel_sources s = {.count = mine,
                              .mass = m,
                              .pos = GRAVEL_VEC_SOA(p->x + first, p->y + first, p->z + first),
                              .vel = GRAVEL_VEC_SOA(p->vx + first, p->vy + first, p->vz + first)};
    const gravel_status status = ops_of(r)->write(domains, first, &s);
    free(m);
    return status;
}

static gravel_status start_at(gv_domains_run *r, double time)
{
    const gravel_leapfrog_options options = gv_run_leapfrog(r->settings);
    r->now = time;
    r->looked = NAN;
    r->whole = 1;
    gravel_status status = write_range(r, r->domains);
    if (!status)
        status = has_blocks(r) ? ops_of(r)->start_blocks(r->domains, &options, time) : ops_of(r)->compute(r->domains);
    return status ? status : find_step(r);
}

gravel_status gv_domains_start(gv_domains_run *r)
{
    double since = gv_now();
    r->counts = (gravel_hermite_counts){0, 0, 0};
    gravel_status status = tell(r, GV_RUN_START, 0);
    if (!status)
        status = start_at(r, 0);
    status = done(r, status);
    charge(r, GV_CLOCK_SUBMIT, &since);
    return status;
}

gravel_status gv_domains_step(gv_domains_run *r, gravel_hermite_step_info *info)
{
    double since = gv_now();
    gravel_hermite_step_info block = {.time = r->next, .active = r->p->count};
    gravel_status status = tell(r, GV_RUN_STEP, 0);
    if (!status)
        status = has_blocks(r) ? ops_of(r)->step_block(r->domains, &block) : ops_of(r)->step(r->domains, r->step);
    if (!status) {
        r->now = block.time;
        r->whole = block.active == r->p->count;
        r->looked = NAN;
        r->counts.blocks++;
        r->counts.steps += block.active;
        if (info)
            *info = block;
        status = find_step(r);
    }
    status = done(r, status);
    charge(r, GV_CLOCK_WAIT, &since);
    return status;
}

/* --------------------------------------------------------------------- look */

/* Velocities by accelerations of this process' bodies, which are read. */
static gravel_status kick(gv_domains_run *r, void *from, size_t first, size_t count, double dt)
{
    const gv_particles *p = r->p;
    double *a = malloc((3 * count + 1) * sizeof *a), *const v[3] = {p->vx + first, p->vy + first, p->vz + first};
    /* a process without memory reads nothing, beside the others */
    const size_t some = a ? count : 0;
    const gravel_status status =
        ops_of(r)->read(from, GRAVEL_ACCELERATION, first, some, &GRAVEL_ARRAY_OUT_SOA(a, a + count, a + 2 * count));
    for (size_t c = 0; c < 3 && a && !status; c++)
        for (size_t k = 0; k < count; k++)
            v[c][k] += dt * a[c * count + k];
    free(a);
    return done(r, status || a ? status : gv_fail(GRAVEL_ERR_MEMORY, "out of memory"));
}

/* Bodies of block steps at `time`, which ends all of them: velocities and ways without what the first halves of kicks
 * gave too much (kernels/step/leapfrog.cl, gv_leap_trim).  *rest: what is left of kicks, malloc'd; NULL: nothing, since
 * all steps have just ended. */
static gravel_status trim(gv_domains_run *r, double time, size_t first, size_t count, double **rest)
{
    const gv_particles *p = r->p;
    const gv_run_domains *ops = ops_of(r);
    double *a = malloc((5 * count + 1) * sizeof *a), *const x[3] = {p->x + first, p->y + first, p->z + first},
           *const v[3] = {p->vx + first, p->vy + first, p->vz + first};
    const size_t some = a ? count : 0; /* a process without memory reads nothing, beside the others */
    double *const when = a + 3 * some, *const step = a + 4 * some;
    gravel_status status =
        ops->read(r->domains, GRAVEL_ACCELERATION, first, some, &GRAVEL_ARRAY_OUT_SOA(a, a + some, a + 2 * some));
    if (!status)
        status = ops->read(r->domains, GRAVEL_TIME, first, some, &GRAVEL_ARRAY_OUT(when));
    if (!status)
        status = ops->read(r->domains, GRAVEL_STEP, first, some, &GRAVEL_ARRAY_OUT(step));
    status = done(r, status || a ? status : gv_fail(GRAVEL_ERR_MEMORY, "out of memory"));
    for (size_t k = 0; k < count && !status; k++) {
        const double T = time - when[k], d = 0.5 * (T - step[k]);
        for (size_t c = 0; c < 3; c++) {
            x[c][k] += (time - r->now) * v[c][k] + (T > 0 ? T * d * a[c * count + k] : 0);
            v[c][k] += d * a[c * count + k];
        }
        when[k] = 0.5 * T;
    }
    *rest = NULL;
    if (!status && (time != r->now || !r->whole) && (*rest = malloc((count + 1) * sizeof **rest)))
        memcpy(*rest, when, count * sizeof **rest);
    free(a);
    return status;
}

/* ... with the accelerations there. */
static gravel_status close_kicks(gv_domains_run *r, size_t first, size_t count, const double *rest)
{
    const gv_particles *p = r->p;
    double *const v[3] = {p->vx + first, p->vy + first, p->vz + first};
    double *a = rest ? malloc((3 * count + 1) * sizeof *a) : NULL;
    const size_t some = a ? count : 0;
    const gravel_status status =
        ops_of(r)->read(r->looking, GRAVEL_ACCELERATION, first, some, &GRAVEL_ARRAY_OUT_SOA(a, a + some, a + 2 * some));
    for (size_t c = 0; c < 3 && a && !status; c++)
        for (size_t k = 0; k < count; k++)
            v[c][k] += rest[k] * a[c * count + k];
    free(a);
    return done(r, status || some == count ? status : gv_fail(GRAVEL_ERR_MEMORY, "out of memory"));
}

static gravel_status find_forces_there(gv_domains_run *r)
{
    gravel_status status = r->looking ? GRAVEL_OK : ops_of(r)->make(r->company->user, r->settings, &r->looking);
    if (!status)
        status = write_range(r, r->looking);
    r->seen = r->looking;
    return status ? status : ops_of(r)->compute(r->looking);
}

static gravel_status end_steps(gv_domains_run *r, double time, size_t first, size_t count)
{
    double *rest;
    gravel_status status = trim(r, time, first, count, &rest);
    if (!status && (time != r->now || !r->whole)) {
        status = find_forces_there(r);
        if (!status)
            status = close_kicks(r, first, count, rest);
    }
    free(rest);
    return status;
}

/* The step that would end at `time`, beside the run's own. */
static gravel_status go_to(gv_domains_run *r, double time, size_t first, size_t count)
{
    const gv_particles *p = r->p;
    const double dt = time - r->now;
    double *const x[3] = {p->x, p->y, p->z}, *const v[3] = {p->vx, p->vy, p->vz};
    gravel_status status = kick(r, r->domains, first, count, 0.5 * dt);
    for (int c = 0; c < 3 && !status; c++)
        for (size_t k = first; k < first + count; k++)
            x[c][k] += dt * v[c][k];
    if (!status)
        status = find_forces_there(r);
    return status ? status : kick(r, r->looking, first, count, 0.5 * dt);
}

/* 1: potentials are the tree's; those of a spline always. */
static int is_by_tree(const gv_domains_run *r)
{
    return r->p->count > r->settings->sum_up_to || r->settings->softening != GRAVEL_PLUMMER;
}

gravel_status gv_domains_look(gv_domains_run *r, double time)
{
    const gv_run_domains *ops = ops_of(r);
    const gv_particles *p = r->p;
    double since = gv_now();
    size_t first, count;
    r->company->get_range(r->company->user, p->count, &first, &count);
    if (r->company->tell || !is_by_tree(r))
        first = 0, count = p->count;
    gravel_status status = tell(r, GV_RUN_LOOK, time);
    if (!status)
        status = ops->read(r->domains, GRAVEL_POSITION, first, count,
                           &GRAVEL_ARRAY_OUT_SOA(p->x + first, p->y + first, p->z + first));
    if (!status)
        status = ops->read(r->domains, GRAVEL_VELOCITY, first, count,
                           &GRAVEL_ARRAY_OUT_SOA(p->vx + first, p->vy + first, p->vz + first));
    r->seen = r->domains;
    if (!status && has_blocks(r))
        status = end_steps(r, time, first, count);
    else if (!status && time != r->now)
        status = go_to(r, time, first, count);
    r->looked = time;
    r->p->time = r->start + time;
    status = done(r, status);
    charge(r, GV_CLOCK_TRANSFER, &since);
    return status;
}

/* All particles to this process' device, in a frame that follows from them alone. */
static gravel_status write_all(gv_domains_run *r)
{
    const gv_particles *p = r->p;
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    double reach = 0, mass = 0, *m = malloc((p->count + 1) * sizeof *m);
    gravel_status status = m ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu masses", p->count);
    for (size_t k = 0; k < p->count && m; k++) {
        m[k] = r->gravity * p->m[k];
        mass = fmax(mass, m[k]);
        reach = fmax(reach, fmax(fabs(p->x[k]), fmax(fabs(p->y[k]), fabs(p->z[k]))));
    }
    const gravel_frame frame = {
        {0, 0, 0}, reach > 1e-150 && reach < 1e150 ? exp2(ceil(log2(reach))) : 1, mass > 0 ? mass : 1};
    options.precision = r->settings->precision == GRAVEL_DP ? GRAVEL_DP : GRAVEL_DS;
    if (!status && !r->all)
        status = gravel_bodies_create(&r->all, r->context, &options);
    if (!status)
        status = gravel_bodies_resize(r->all, 0);
    if (!status)
        status = gravel_bodies_set_frame(r->all, &frame);
    if (!status)
        status = gravel_bodies_resize(r->all, p->count);
    if (!status)
        status = gravel_bodies_write(r->all, GRAVEL_POSITION, 0, p->count, &GRAVEL_ARRAY_SOA(p->x, p->y, p->z));
    if (!status)
        status = gravel_bodies_write(r->all, GRAVEL_MASS, 0, p->count, &GRAVEL_ARRAY(m));
    free(m);
    return status;
}

/* Every process sums those of its range. */
static gravel_status sum(gv_domains_run *r, double *potential)
{
    gravel_direct_options o = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gravel_ticket *ticket = NULL;
    size_t first, mine;
    r->company->get_range(r->company->user, r->p->count, &first, &mine);
    const gravel_forces to = {.pot = potential + first};
    gravel_status status = write_all(r);
    o.precision = gravel_context_get_device(r->context, 0)->has_fp64 ? GRAVEL_DP : GRAVEL_DS;
    if (!status && !r->exact)
        status = gravel_direct_create(&r->exact, r->context, &o);
    call.sources = gravel_view_all(r->all);
    call.sinks = gravel_view_range(r->all, first, mine);
    call.order = 2;
    call.eps = r->settings->eps;
    call.nearest = call.neighbour_capacity = 0;
    if (!status)
        status = gravel_direct_start(r->exact, &call, &ticket);
    if (!status)
        status = gravel_ticket_collect(ticket, &to, NULL);
    gravel_ticket_release(ticket);
    return r->company->gather(r->company->user, r->p->count, potential, status);
}

gravel_status gv_domains_find_potentials(gv_domains_run *r, double *potential)
{
    const size_t n = r->p->count;
    double since = gv_now();
    gravel_status status = tell(r, GV_RUN_POTENTIALS, 0);
    if (!status && is_by_tree(r))
        status = ops_of(r)->read(r->seen, GRAVEL_POTENTIAL, 0, r->company->tell ? n : 0, &GRAVEL_ARRAY_OUT(potential));
    else if (!status)
        status = sum(r, potential);
    status = done(r, status);
    for (size_t k = 0; k < n && !status; k++)
        potential[k] /= r->gravity;
    charge(r, GV_CLOCK_POTENTIAL, &since);
    return status;
}

/* -------------------------------------------------------------------- state */

gravel_status gv_domains_add_steps(gv_domains_run *r, uint64_t counts[GRAVEL_STEP_POWERS])
{
    return ops_of(r)->add_steps(r->domains, counts);
}

gravel_status gv_domains_save(gv_domains_run *r, gv_checkpoint *c)
{
    c->state = (gravel_hermite_state){.time = r->now, .whole = 1};
    gravel_status status = has_blocks(r) ? ops_of(r)->get_state(r->domains, &c->state) : GRAVEL_OK;
    if (status)
        return status;
    c->state.blocks = r->counts.blocks;
    c->state.steps = r->counts.steps;
    status = tell(r, GV_RUN_SAVE, 0);
    if (status)
        return status;
    c->choices = calloc(1, 1);
    c->particles = *r->p; /* borrowed: the caller frees what was allocated here only */
    c->particles.time = r->start;
    status = ops_of(r)->save(r->company->user, r->domains, &c->bodies, &c->bodies_size);
    if (!status && !c->choices)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for a checkpoint");
    return done(r, status);
}

/* All block steps have just ended, and the first halves of the next kicks are given: without them. */
static gravel_status take_back_kicks(gravel_bodies *b, size_t n, const int32_t *id, double *value, gv_particles *p)
{
    double *const v[3] = {p->vx, p->vy, p->vz};
    double *step = malloc((n + 1) * sizeof *step);
    gravel_status status = step ? gravel_bodies_read(b, GRAVEL_STEP, 0, n, &GRAVEL_ARRAY_OUT(step))
                                : gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu bodies", n);
    if (!status)
        status =
            gravel_bodies_read(b, GRAVEL_ACCELERATION, 0, n, &GRAVEL_ARRAY_OUT_SOA(value, value + n, value + 2 * n));
    for (size_t k = 0; k < n && !status; k++)
        for (size_t c = 0; c < 3; c++)
            v[c][id[k]] -= 0.5 * step[k] * value[c * n + k];
    free(step);
    return status;
}

static gravel_status read_part(gravel_bodies *b, size_t n, int32_t *id, double *value, gv_particles *p)
{
    const gravel_array_out ids = {id, NULL, NULL, 1, GRAVEL_I32};
    double *const to[2][3] = {{p->x, p->y, p->z}, {p->vx, p->vy, p->vz}};
    gravel_status status = gravel_bodies_read(b, GRAVEL_ID, 0, n, &ids);
    for (int plane = 0; plane < 2 && !status; plane++) {
        status = gravel_bodies_read(b, plane ? GRAVEL_VELOCITY : GRAVEL_POSITION, 0, n,
                                    &GRAVEL_ARRAY_OUT_SOA(value, value + n, value + 2 * n));
        for (size_t k = 0; k < n && !status; k++) {
            if (id[k] < 0 || (size_t)id[k] >= p->count)
                return gv_fail(GRAVEL_ERR_FORMAT, "the checkpoint is damaged: body %d of %zu", id[k], p->count);
            for (size_t c = 0; c < 3; c++)
                to[plane][c][id[k]] = value[c * n + k];
        }
    }
    return status || !gravel_bodies_has_plane(b, GRAVEL_STEP) ? status : take_back_kicks(b, n, id, value, p);
}

gravel_status gv_domains_unpack(const gv_run_domains *ops, gravel_context *context, gravel_precision precision,
                                const gv_checkpoint *c, gv_particles *p)
{
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_bodies *b = NULL;
    size_t seen = 0;
    const int parts = ops->count_parts(c->bodies, c->bodies_size);
    options.precision = precision == GRAVEL_DP ? GRAVEL_DP : GRAVEL_DS;
    gravel_status status = gravel_bodies_create(&b, context, &options);
    for (int part = 0; part < parts && !status; part++) {
        status = ops->open_part(c->bodies, c->bodies_size, part, b);
        const size_t n = status ? 0 : gravel_bodies_get_count(b);
        int32_t *id = malloc((n + 1) * sizeof *id);
        double *value = malloc((3 * n + 1) * sizeof *value);
        if (!id || !value)
            status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu bodies", n);
        if (!status && n > 0)
            status = read_part(b, n, id, value, p);
        seen += n;
        free(id);
        free(value);
    }
    gravel_bodies_release(b);
    if (!status && seen != p->count)
        status = gv_fail(GRAVEL_ERR_FORMAT, "the checkpoint is damaged: %zu bodies, %zu ids", seen, p->count);
    return status;
}

static gravel_status restore(gv_domains_run *r, const gv_checkpoint *c)
{
    int same = 0;
    gravel_status status = ops_of(r)->restore(r->company->user, r->domains, c->bodies, c->bodies_size, &same);
    if (status)
        return status;
    r->counts = (gravel_hermite_counts){c->state.blocks, c->state.steps, 0};
    if (!same) {
        status = done(r, gv_domains_unpack(ops_of(r), r->context, r->settings->precision, c, r->p));
        return status ? status : start_at(r, c->state.time);
    }
    r->now = c->state.time;
    r->looked = NAN;
    r->whole = 1;
    const gravel_leapfrog_options options = gv_run_leapfrog(r->settings);
    if (has_blocks(r))
        status = ops_of(r)->resume_blocks(r->domains, &options, &c->state);
    return status ? status : find_step(r);
}

gravel_status gv_domains_restore(gv_domains_run *r, const gv_checkpoint *c)
{
    double since = gv_now();
    gravel_status status = tell(r, GV_RUN_RESTORE, 0);
    if (!status)
        status = restore(r, c);
    status = done(r, status);
    memcpy(r->clock, c->at.clock, GV_CLOCKS * sizeof *r->clock);
    charge(r, GV_CLOCK_TRANSFER, &since);
    return status;
}
