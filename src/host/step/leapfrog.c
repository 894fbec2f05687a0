/* Leapfrog integration: life, start, blocks. */
#include "host/step/leapfrog.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/options.h"
#include "host/direct/object.h"
#include "host/mesh/mesh.h"
#include "host/tree/tree.h"

void gravel_leapfrog_options_init(gravel_leapfrog_options *options)
{
    *options = (gravel_leapfrog_options)GRAVEL_LEAPFROG_OPTIONS_INIT;
}

/* -------------------------------------------------------------------- life */

static int is_power_of_two(double x)
{
    int exponent;
    return x > 0 && isfinite(x) && frexp(x, &exponent) == 0.5;
}

/* The mesh completes the tree's force: neither what both give nor what neither gives is right. */
static gravel_status check_mesh(const gravel_tree *tree, const gravel_mesh *mesh)
{
    const gravel_mesh_options *m = &mesh->options;
    const double period = m->isolated ? 0 : m->side;
    if (!(m->split > 0) || tree->options.split != m->split)
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "the mesh splits the force at %g, the tree at %g (0: the whole force): both need one splitting "
                       "length above 0",
                       m->split, tree->options.split);
    if (tree->options.period != period)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the tree's period is %g; with this mesh it must be %g",
                       tree->options.period, period);
    return GRAVEL_OK;
}

static gravel_status check_options(const gravel_bodies *bodies, const gravel_direct *direct, const gravel_tree *tree,
                                   const gravel_leapfrog_options *o)
{
    const gv_worker *solver = direct ? &direct->worker : tree ? &tree->worker : NULL;
    if (!direct == !tree)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_leapfrog_create: one of a solver and a tree is needed");
    if (solver->context != bodies->worker.context || solver->device != bodies->worker.device)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "what computes the forces must be on the bodies' device");
    if (bodies->precision == GRAVEL_SP)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "bodies in sp cannot hold the times of block steps: make them in ds or dp");
    if (!(o->eta >= 0) || !isfinite(o->eta))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "eta is %g; it must be 0 or more", o->eta);
    if (!is_power_of_two(o->step_max) || !is_power_of_two(o->step_min) || o->step_min > o->step_max)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "step_max and step_min are %g and %g; they must be powers of two in order",
                       o->step_max, o->step_min);
    if (!(o->eps >= 0) || !isfinite(o->eps))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the softening length is %g; it must be 0 or more", o->eps);
    if (o->eta > 0 && o->eps == 0)
        return gv_fail(
            GRAVEL_ERR_ARGUMENT,
            "without softening the steps sqrt(eta eps / |a|) are 0: give eps, or eta 0 for steps of step_max");
    if (!(o->rebuild >= 0) || !isfinite(o->rebuild))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "rebuild is %g; it must be 0 or more", o->rebuild);
    if (o->mesh && !tree)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the forces of a mesh are added to those of a tree: there is none");
    if (o->mesh_step != 0 && (!o->mesh || !is_power_of_two(o->mesh_step) || o->mesh_step < o->step_max))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "mesh_step is %g: it must be 0, or a power of two of at least step_max = %g, with a mesh",
                       o->mesh_step, o->step_max);
    if (o->agree && (!o->walk || !tree || o->shared || o->mesh))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "bodies that are dealt out need block steps, and forces of trees by `walk`");
    if (o->clock && (!o->clock->kick || !o->clock->drift || !o->clock->stretch))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a clock needs its three functions: kick, drift and stretch");
    return o->mesh ? check_mesh(tree, o->mesh) : GRAVEL_OK;
}

static gravel_status make_kernels(gravel_leapfrog *f)
{
    static const char *const name[GV_LEAP_KERNELS] = {
        [GV_LEAP_KICK] = "gv_leap_kick", [GV_LEAP_CHOOSE] = "gv_leap_choose", [GV_LEAP_KICK_ALL] = "gv_leap_kick_all",
        [GV_LEAP_TRIM] = "gv_leap_trim", [GV_LEAP_CLOSE] = "gv_leap_close",   [GV_LEAP_PICK] = "gv_leap_pick",
        [GV_LEAP_PUT] = "gv_leap_put",   [GV_LEAP_BEFORE] = "gv_leap_before",
    };
    char options[160];
    snprintf(options, sizeof options,
             "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_CLOCK=%d -DGV_MOST=%d -DGV_LEVELS=%d -DGV_FAR=%d -DGV_AHEAD=%d",
             (int)f->bodies->precision, f->clock.kick != NULL, f->clock.kick ? ilogb(f->options.step_max) : 0,
             f->clock.kick ? f->levels : 1, f->options.mesh_step > 0, f->options.ahead && !f->options.shared);
    gravel_status status = gv_selector_make(&f->select, f->bodies);
    if (!status)
        status = gv_leap_make_table(f);
    for (int k = 0; k < GV_LEAP_KERNELS && !status; k++)
        status = gv_kernel_make(&f->worker, "step/leapfrog.cl", options, name[k], &f->kernel[k]);
    return status;
}

gravel_status gravel_leapfrog_create(gravel_leapfrog **leapfrog, gravel_bodies *bodies, gravel_direct *direct,
                                     gravel_tree *tree, const gravel_leapfrog_options *options)
{
    gravel_leapfrog_options taken = GRAVEL_LEAPFROG_OPTIONS_INIT;
    if (!leapfrog || !bodies)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_leapfrog_create: no bodies, or no place for the result");
    *leapfrog = NULL;
    gravel_status status = gv_options_take(&taken, sizeof taken, options, "gravel_leapfrog_options");
    if (!status)
        status = check_options(bodies, direct, tree, &taken);
    if (status)
        return status;
    gravel_leapfrog *f = calloc(1, sizeof *f);
    if (!f)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for an integrator");
    f->worker.context = bodies->worker.context;
    f->worker.device = bodies->worker.device;
    f->options = taken;
    f->bodies = bodies;
    f->direct = direct;
    f->tree = tree;
    if (taken.clock)
        f->clock = *taken.clock;
    f->options.clock = NULL; /* the caller's may be gone */
    f->levels = 1 + ilogb(taken.step_max) - ilogb(taken.step_min);
    status = make_kernels(f);
    if (status) {
        gravel_leapfrog_release(f);
        return status;
    }
    *leapfrog = f;
    return GRAVEL_OK;
}

void gravel_leapfrog_release(gravel_leapfrog *f)
{
    if (!f)
        return;
    gv_selector_release(&f->select);
    for (int k = 0; k < GV_LEAP_KERNELS; k++)
        if (f->kernel[k])
            clReleaseKernel(f->kernel[k]);
    gv_buffer_release(&f->table);
    gv_buffer_release(&f->before);
    gv_buffer_release(&f->density);
    free(f->numbers);
    gv_worker_clear(&f->worker);
    gravel_direct_release(f->few);
    gravel_tree_release(f->look_tree);
    gravel_bodies_release(f->at);
    free(f);
}

/* ------------------------------------------------------------------- blocks */

static gravel_status fail_short(gravel_leapfrog *f, uint32_t address)
{
    int32_t id = -1;
    const gravel_array_out to = {&id, NULL, NULL, 1, GRAVEL_I32};
    const gravel_status status = gravel_bodies_gather(f->bodies, GRAVEL_ID, &address, 1, &to);
    return status ? status
                  : gv_fail(GRAVEL_ERR_STATE,
                            "the step of body %d at time %.17g is below step_min = %g: allow shorter steps, a larger "
                            "eta, or more softening",
                            (int)id, f->now, f->options.step_min);
}

/* All processes, where there are several: the first failure, the least of *least, the sum over those that have it. */
static gravel_status agree(gravel_leapfrog *f, gravel_status status, double *least, double *sum)
{
    return f->options.agree ? f->options.agree(status, least, sum, f->options.forces_user) : status;
}

static gravel_status find_next(gravel_leapfrog *f)
{
    gv_due due = {INFINITY, 0, UINT32_MAX};
    if (f->next_known)
        return GRAVEL_OK;
    gravel_status status = f->n > 0 ? gv_selector_find(&f->select, f->options.shared, &due) : GRAVEL_OK;
    if (!status && due.too_short != UINT32_MAX)
        status = fail_short(f, due.too_short);
    double count = (double)due.count;
    f->next = due.time;
    status = agree(f, status, &f->next, &count);
    f->due = f->next == due.time ? due.count : 0; /* others are due before */
    f->all_due = (size_t)count;
    f->next_known = !status;
    return status;
}

enum { ACCELERATION, VELOCITY, VELOCITY_LOW, TIME, TIME_LOW, STEP, POTENTIAL, WORDS };

/* eta eps in the units of the planes.  0 means no limit there: what is above 0 stays so as a float, too. */
static double reach_at(const gravel_leapfrog *f, double time)
{
    const double reach = f->options.eta * f->options.eps / f->bodies->frame.length * gv_leap_stretch(f, time);
    return f->options.eta > 0 && f->options.eps > 0
               ? fmax(reach, f->bodies->precision == GRAVEL_DP ? DBL_MIN : (double)FLT_MIN)
               : 0;
}

/* The same for all bodies with one step. */
static gravel_status kick_all(gravel_leapfrog *f, const cl_mem m[WORDS], cl_mem far, double time, int first)
{
    const gravel_precision p = f->bodies->precision;
    const gv_time_words t = gv_time_split(p, time);
    const double reach = reach_at(f, time);
    const double old = first ? 0 : time - f->now, far_kick = gv_leap_far_kick(f, time, first);
    gravel_status status =
        gv_launch(&f->worker, 0, f->kernel[GV_LEAP_CHOOSE], gv_items(f->n, 64), GV_UINT(f->n), GV_REAL(p, t.high),
                  GV_REAL(p, t.low), GV_ARG(m[ACCELERATION]), GV_ARG(m[TIME]), GV_ARG(m[TIME_LOW]), GV_ARG(m[STEP]),
                  GV_REAL(p, reach), GV_REAL(p, f->options.step_max), GV_REAL(p, f->options.step_min), GV_INT(first),
                  GV_MEM(f->select.head), GV_ARG(far));
    if (status)
        return status;
    f->next_known = 0;
    f->now = time;
    f->whole = 1;
    status = find_next(f);
    if (!status)
        status = gv_launch(&f->worker, 0, f->kernel[GV_LEAP_KICK_ALL], gv_items(f->n, 64), GV_UINT(f->n),
                           GV_REAL(p, old), GV_ARG(m[ACCELERATION]), GV_ARG(m[VELOCITY]), GV_ARG(m[VELOCITY_LOW]),
                           GV_ARG(m[STEP]), GV_MEM(f->table), GV_ARG(far), GV_REAL(p, far_kick), GV_ARG(m[POTENTIAL]));
    if (status)
        f->started = 0; /* steps are the next ones, velocities those before: this cannot come again */
    gv_bodies_changed(f->bodies, GRAVEL_VELOCITY);
    gv_bodies_changed(f->bodies, GRAVEL_TIME);
    gv_bodies_changed(f->bodies, GRAVEL_STEP);
    return status;
}

static gravel_status kick_bodies(gravel_leapfrog *f, size_t count, double time, int first)
{
    static const gravel_plane changed[] = {GRAVEL_VELOCITY, GRAVEL_TIME, GRAVEL_STEP};
    static const gv_word word[WORDS] = {[ACCELERATION] = GV_WORD_ACCELERATION, [VELOCITY] = GV_WORD_VELOCITY,
                                        [VELOCITY_LOW] = GV_WORD_VELOCITY_LOW, [TIME] = GV_WORD_TIME,
                                        [TIME_LOW] = GV_WORD_TIME_LOW,         [STEP] = GV_WORD_STEP,
                                        [POTENTIAL] = GV_WORD_POTENTIAL};
    const gravel_precision p = f->bodies->precision;
    const gv_time_words t = gv_time_split(p, time);
    const double reach = reach_at(f, time);
    const double crowd = f->options.eta * gv_leap_stretch(f, time) / (8 * 3.14159265358979324);
    cl_mem m[WORDS], far;
    gravel_status status = gv_leap_write_kicks(f, time, first);
    for (int k = 0; k < WORDS && !status; k++)
        if ((word[k] == GV_WORD_VELOCITY_LOW || word[k] == GV_WORD_TIME_LOW) && p != GRAVEL_DS)
            m[k] = m[0];
        else
            status = gv_bodies_need(f->bodies, word[k], &m[k]);
    if (!status)
        status = gv_leap_need_far(f, f->bodies, &far);
    const cl_mem before = f->before.mem ? f->before.mem : m[0], density = f->density.mem ? f->density.mem : m[0];
    if (!status && f->options.shared)
        return kick_all(f, m, far, time, first);
    if (!status)
        status = gv_launch(&f->worker, 0, f->kernel[GV_LEAP_KICK], gv_items(count, 64), GV_MEM(f->select.list),
                           GV_UINT(count), GV_REAL(p, t.high), GV_REAL(p, t.low), GV_ARG(m[ACCELERATION]),
                           GV_ARG(m[VELOCITY]), GV_ARG(m[VELOCITY_LOW]), GV_ARG(m[TIME]), GV_ARG(m[TIME_LOW]),
                           GV_ARG(m[STEP]), GV_REAL(p, reach), GV_REAL(p, f->options.step_max),
                           GV_REAL(p, f->options.step_min), GV_INT(first), GV_MEM(f->select.head), GV_MEM(f->table),
                           GV_ARG(far), GV_REAL(p, gv_leap_far_kick(f, time, first)), GV_ARG(m[POTENTIAL]),
                           GV_ARG(before), GV_ARG(density), GV_REAL(p, f->density.mem ? crowd : 0));
    for (size_t k = 0; k < sizeof changed / sizeof changed[0]; k++)
        gv_bodies_changed(f->bodies, changed[k]);
    return status;
}

/* Second and first half of two steps of the bodies of the list. */
static gravel_status kick(gravel_leapfrog *f, size_t count, double time, int first)
{
    const gravel_status status = count > 0 ? kick_bodies(f, count, time, first) : GRAVEL_OK;
    if (status)
        return status;
    f->part = GV_LEAP_NOTHING;
    if (f->options.shared)
        return GRAVEL_OK;
    f->next_known = 0;
    f->now = time;
    f->whole = f->all_due == f->all;
    return GRAVEL_OK;
}

/* Bodies of all processes; all of them are due. */
static gravel_status take_number(gravel_leapfrog *f, gravel_status status)
{
    double nothing = 0, bodies = (double)f->bodies->count;
    status = agree(f, status, &nothing, &bodies);
    f->n = f->bodies->count;
    f->all = f->all_due = (size_t)bodies;
    return status;
}

gravel_status gravel_leapfrog_start(gravel_leapfrog *f, double time)
{
    if (!f || !isfinite(time))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_leapfrog_start: no integrator, or the time is %g", time);
    if (f->bodies->count == 0 && !f->options.agree)
        return gv_fail(GRAVEL_ERR_STATE, "gravel_leapfrog_start: there are no bodies");
    if (!gv_time_fits(f->bodies->precision, time))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the time %.17g does not fit a two-float: start at a rounder one", time);
    if (f->options.mesh_step > 0 && !gv_leap_is_far(f, time))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the time %.17g is no multiple of mesh_step = %g", time,
                       f->options.mesh_step);
    const gravel_view all = gravel_view_all(f->bodies);
    f->started = f->has_forces = 0;
    f->part = GV_LEAP_NOTHING;
    f->keeps = 0;
    memset(&f->counts, 0, sizeof f->counts);
    gravel_status status = gv_bodies_need_ids(f->bodies);
    if (!status && f->tree)
        status = gravel_tree_set_sources(f->tree, &all);
    if (!status && f->options.mesh)
        status = gravel_mesh_set_sources(f->options.mesh, &all);
    if (!status)
        status = gv_selector_start(&f->select);
    if (!status && f->bodies->count > 0)
        status = gv_selector_take_all(&f->select);
    status = take_number(f, status);
    if (!status)
        status = gv_leap_forces(f, f->n, time);
    f->has_forces = !status;
    if (!status)
        status = kick(f, f->n, time, 1);
    f->started = !status;
    return status;
}

static gravel_status look_ahead(gravel_leapfrog *f, const char *call)
{
    if (!f)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: no integrator", call);
    if (!f->started)
        return gv_fail(GRAVEL_ERR_STATE, "%s: gravel_leapfrog_start comes first", call);
    if (f->bodies->count != f->n)
        return gv_fail(GRAVEL_ERR_STATE,
                       "%s: there are %zu bodies, there were %zu at gravel_leapfrog_start: start with these", call,
                       f->bodies->count, f->n);
    if (f->bodies->order_version != f->order_version) {
        f->next_known = 0;
        if (f->part == GV_LEAP_REMEMBERED)
            f->part = GV_LEAP_TALLIED; /* it was in the order of the list */
    }
    f->order_version = f->bodies->order_version;
    return find_next(f);
}

gravel_status gravel_leapfrog_step(gravel_leapfrog *f, gravel_hermite_step_info *info)
{
    gravel_status status = look_ahead(f, "gravel_leapfrog_step");
    if (status)
        return status;
    const double time = f->next;
    const size_t count = f->due;
    if (info)
        *info = (gravel_hermite_step_info){time, f->all_due};
    if (f->part < GV_LEAP_DRIFTED) {
        status = gravel_bodies_advance(f->bodies, 0, gv_leap_drift(f, f->now, time));
        f->part = status ? f->part : GV_LEAP_DRIFTED;
    }
    if (!status && f->part < GV_LEAP_TALLIED) {
        if (f->options.tally && count > 0)
            status = gv_selector_tally(&f->select, count);
        f->part = status ? f->part : GV_LEAP_TALLIED;
    }
    const size_t steps = f->options.shared ? f->n : f->all_due;
    if (!status)
        status = gv_leap_forces(f, count, time);
    if (!status)
        status = kick(f, count, time, 0);
    f->counts.blocks += !status;
    f->counts.steps += status ? 0 : steps;
    return status;
}

/* Between the parts of a block that failed, bodies and times do not belong together. */
static gravel_status check_whole_block(const gravel_leapfrog *f, const char *call)
{
    return f->part == GV_LEAP_NOTHING ? GRAVEL_OK
                                      : gv_fail(GRAVEL_ERR_STATE,
                                                "%s: the last gravel_leapfrog_step failed after positions were moved: "
                                                "gravel_leapfrog_step comes again first",
                                                call);
}

gravel_status gravel_leapfrog_get_next(gravel_leapfrog *f, double *time)
{
    if (!time)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_leapfrog_get_next: no place for the time");
    gravel_status status = look_ahead(f, "gravel_leapfrog_get_next");
    if (!status)
        *time = f->next;
    return status;
}

gravel_status gravel_leapfrog_get_bodies_at(gravel_leapfrog *f, double time, gravel_bodies **at)
{
    if (at)
        *at = NULL;
    gravel_status status = look_ahead(f, "gravel_leapfrog_get_bodies_at");
    if (!status && f->options.agree)
        status = gv_fail(GRAVEL_ERR_UNSUPPORTED, "gravel_leapfrog_get_bodies_at: other processes have bodies, too");
    if (!status)
        status = check_whole_block(f, "gravel_leapfrog_get_bodies_at");
    if (status)
        return status;
    if (!at || !(time >= f->now && time <= f->next))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "gravel_leapfrog_get_bodies_at: no place for the result, or time %.17g is not between that of "
                       "the last block, %.17g, and of the next, %.17g",
                       time, f->now, f->next);
    status = gv_leap_look(f, time);
    if (!status)
        *at = f->at;
    return status;
}

gravel_status gravel_leapfrog_add_step_counts(gravel_leapfrog *f, uint64_t counts[GRAVEL_STEP_POWERS])
{
    return f && f->started ? gv_selector_add_tally(&f->select, counts)
                           : gv_fail(GRAVEL_ERR_STATE, "gravel_leapfrog_add_step_counts: nothing was started");
}

void gravel_leapfrog_get_counts(const gravel_leapfrog *f, gravel_hermite_counts *counts)
{
    *counts = f->counts;
}

/* ------------------------------------------------------------------- state */

gravel_status gravel_leapfrog_get_state(const gravel_leapfrog *f, gravel_hermite_state *state)
{
    if (!f || !state)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_leapfrog_get_state: no integrator, or no place for the state");
    if (!f->started)
        return gv_fail(GRAVEL_ERR_STATE, "gravel_leapfrog_get_state: gravel_leapfrog_start comes first");
    if (f->tree && f->keeps)
        return gv_fail(GRAVEL_ERR_STATE, "gravel_leapfrog_get_state: the next block may keep the cells of the tree, "
                                         "which are no part of a state; take it after a block of all bodies");
    const gravel_status status = check_whole_block(f, "gravel_leapfrog_get_state");
    if (status)
        return status;
    *state = (gravel_hermite_state){
        .time = f->now, .blocks = f->counts.blocks, .steps = f->counts.steps, .whole = (uint32_t)f->whole};
    return GRAVEL_OK;
}

gravel_status gravel_leapfrog_resume(gravel_leapfrog *f, const gravel_hermite_state *state)
{
    if (!f || !state || !isfinite(state->time))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_leapfrog_resume: no integrator, or no state of one");
    const int planes = gravel_bodies_has_plane(f->bodies, GRAVEL_TIME) &&
                       gravel_bodies_has_plane(f->bodies, GRAVEL_STEP) &&
                       gravel_bodies_has_plane(f->bodies, GRAVEL_ACCELERATION);
    if (f->bodies->count == 0 ? !f->options.agree : !planes)
        return gv_fail(GRAVEL_ERR_STATE, "gravel_leapfrog_resume: the bodies have no times, steps or accelerations; "
                                         "gravel_bodies_restore comes first");
    if (f->options.mesh_step > 0 && !f->bodies->word[GV_WORD_FAR].mem)
        return gv_fail(GRAVEL_ERR_STATE, "gravel_leapfrog_resume: the bodies' state is of a run without mesh_step");
    const gravel_view all = gravel_view_all(f->bodies);
    gravel_status status = f->tree ? gravel_tree_set_sources(f->tree, &all) : GRAVEL_OK;
    if (!status && f->options.mesh)
        status = gravel_mesh_set_sources(f->options.mesh, &all);
    if (!status)
        status = gv_selector_start(&f->select);
    status = take_number(f, status);
    f->started = f->has_forces = !status;
    f->next_known = 0;
    f->part = GV_LEAP_NOTHING;
    f->now = state->time;
    f->counts = (gravel_hermite_counts){state->blocks, state->steps, 0};
    f->whole = (int)state->whole;
    f->keeps = 0;
    return status;
}
