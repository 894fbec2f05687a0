/* Hermite integration: life, start, blocks, energies. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/options.h"
#include "host/direct/object.h"
#include "host/step/step.h"

const char *gravel_step_criterion_name(gravel_step_criterion criterion)
{
    static const char *const name[] = {"aarseth", "generalised", "average"};
    return (unsigned)criterion < 3 ? name[criterion] : "?";
}

void gravel_hermite_options_init(gravel_hermite_options *options)
{
    *options = (gravel_hermite_options)GRAVEL_HERMITE_OPTIONS_INIT;
}

/* -------------------------------------------------------------------- life */

static int is_power_of_two(double x)
{
    int exponent;
    return x > 0 && isfinite(x) && frexp(x, &exponent) == 0.5;
}

static gravel_status check_options(const gravel_bodies *bodies, const gravel_direct *direct,
                                   const gravel_hermite_options *o)
{
    if (direct->worker.context != bodies->worker.context || direct->worker.device != bodies->worker.device ||
        direct->options.precision != bodies->precision)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the solver must be on the bodies' device and of their precision, %s",
                       gravel_precision_name(bodies->precision));
    if (bodies->precision == GRAVEL_SP)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "bodies in sp cannot hold the times of block steps: make them in ds or dp");
    if (o->order != 4 && o->order != 6)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the order is %d; it must be 4 or 6", o->order);
    if ((unsigned)o->criterion > GRAVEL_STEP_AVERAGE)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "step criterion %d does not exist", (int)o->criterion);
    if (o->order == 4 && o->criterion != GRAVEL_STEP_AARSETH)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the %s criterion needs order 6; order 4 has aarseth",
                       gravel_step_criterion_name(o->criterion));
    if (!(o->eta4 > 0) || !(o->eta6 > 0) || !(o->eta_start > 0))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "eta4, eta6 and eta_start are %g, %g and %g; they must be positive",
                       o->eta4, o->eta6, o->eta_start);
    if (!is_power_of_two(o->step_max) || !is_power_of_two(o->step_min) || o->step_min > o->step_max)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "step_max and step_min are %g and %g; they must be powers of two in order",
                       o->step_max, o->step_min);
    if (o->iterations < 1)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "iterations is %d; at least one evaluation is needed", o->iterations);
    if (!(o->eps >= 0) || !isfinite(o->eps))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the softening length is %g; it must be 0 or more", o->eps);
    if ((unsigned)o->host > GRAVEL_HOST_ALWAYS)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "host is %d; it must be one of gravel_host_answers", (int)o->host);
    if (o->host == GRAVEL_HOST_ALWAYS &&
        (o->external || (o->forces && !o->forces_alike) || o->soften != GRAVEL_SOFTEN_EPS))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "the host moves bodies with the solver's forces alone and with softening by eps only");
    if (o->costs && (!o->forces || !o->forces_alike || o->agree || o->processes < 1))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "costs of several processes need their number, and forces that are alike");
    if (o->agree && (!o->forces || o->host != GRAVEL_HOST_NEVER))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "bodies that are dealt out need forces from all of them, and no blocks that the host moves");
    return GRAVEL_OK;
}

static gravel_status make_kernels(gravel_hermite *h)
{
    static const struct {
        const char *file, *name;
    } want[GV_STEP_KERNELS] = {
        [GV_STEP_PREDICT] = {"step/hermite.cl", "gv_step_predict"},
        [GV_STEP_CORRECT] = {"step/hermite.cl", "gv_step_correct"},
        [GV_STEP_FIRST] = {"step/hermite.cl", "gv_step_first"},
        [GV_STEP_TAKE] = {"step/carry.cl", "gv_carry_take"},
        [GV_STEP_PUT] = {"step/carry.cl", "gv_carry_put"},
    };
    const int kernels = h->options.host == GRAVEL_HOST_NEVER ? GV_STEP_TAKE : GV_STEP_KERNELS;
    char options[120];
    snprintf(options, sizeof options, "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_ORDER=%d -DGV_CRITERION=%d",
             (int)h->bodies->precision, h->options.order, (int)h->options.criterion);
    gravel_status status = gv_selector_make(&h->select, h->bodies);
    for (int k = 0; k < kernels && !status; k++)
        status = gv_kernel_make(&h->worker, want[k].file, options, want[k].name, &h->kernel[k]);
    return status;
}

static gravel_status make_active(gravel_hermite *h)
{
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    options.precision = h->bodies->precision;
    options.device = h->worker.device;
    return gravel_bodies_create(&h->active, h->worker.context, &options);
}

gravel_status gravel_hermite_create(gravel_hermite **hermite, gravel_bodies *bodies, gravel_direct *direct,
                                    const gravel_hermite_options *options)
{
    gravel_hermite_options taken = GRAVEL_HERMITE_OPTIONS_INIT;
    if (!hermite || !bodies || !direct)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_hermite_create: no bodies, no solver or no place for the result");
    *hermite = NULL;
    gravel_status status = gv_options_take(&taken, sizeof taken, options, "gravel_hermite_options");
    if (!status)
        status = check_options(bodies, direct, &taken);
    if (status)
        return status;
    gravel_hermite *h = calloc(1, sizeof *h);
    if (!h)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for an integrator");
    h->worker.context = bodies->worker.context;
    h->worker.device = bodies->worker.device;
    h->options = taken;
    h->bodies = bodies;
    h->direct = direct;
    status = make_kernels(h);
    if (!status)
        status = make_active(h);
    if (status) {
        gravel_hermite_release(h);
        return status;
    }
    *hermite = h;
    return GRAVEL_OK;
}

void gravel_hermite_release(gravel_hermite *h)
{
    if (!h)
        return;
    gv_selector_release(&h->select);
    for (int k = 0; k < GV_STEP_KERNELS; k++)
        if (h->kernel[k])
            clReleaseKernel(h->kernel[k]);
    gv_worker_clear(&h->worker);
    gravel_direct_release(h->exact);
    gravel_bodies_release(h->active);
    gv_copy_release(&h->copy);
    gv_ahead_release(&h->ahead);
    free(h);
}

/* -------------------------------------------------------------------- start */

/* Of all bodies, always in the same order. */
static gravel_status add_masses(gravel_hermite *h)
{
    enum { BLOCK = 4096 };
    double m[BLOCK];
    const size_t n = h->bodies->count;
    gravel_status status = GRAVEL_OK;
    h->mass = 0;
    for (size_t first = 0; first < n && !status; first += BLOCK) {
        const size_t count = n - first < BLOCK ? n - first : BLOCK;
        status = gravel_bodies_read(h->bodies, GRAVEL_MASS, first, count, &GRAVEL_ARRAY_OUT(m));
        for (size_t k = 0; k < count && !status; k++)
            h->mass += fabs(m[k]);
    }
    return status;
}

/* All processes, where there are several: the first failure, the least of *least, the sum over those that have it. */
static gravel_status agree(gravel_hermite *h, gravel_status status, double *least, double *sum)
{
    return h->options.agree ? h->options.agree(status, least, sum, h->options.forces_user) : status;
}

static gravel_status reserve(gravel_hermite *h)
{
    double nothing = 0, bodies = (double)h->bodies->count;
    gravel_status status = gravel_bodies_resize(h->active, h->bodies->count);
    memset(h->copy.tally, 0, sizeof h->copy.tally);
    gv_ahead_start(h);
    if (!status)
        status = gravel_bodies_set_frame(h->active, &h->bodies->frame);
    if (!status)
        status = add_masses(h);
    status = agree(h, status, &nothing, &h->mass);
    if (!status)
        status = agree(h, status, &nothing, &bodies);
    h->all = (size_t)bodies;
    return status ? status : gv_selector_start(&h->select);
}

static gravel_status first_steps(gravel_hermite *h, double time)
{
    enum { WORDS = 8 };
    static const gv_word word[WORDS] = {GV_WORD_POSITION,  GV_WORD_ACCELERATION, GV_WORD_JERK,     GV_WORD_SNAP,
                                        GV_WORD_POTENTIAL, GV_WORD_TIME,         GV_WORD_TIME_LOW, GV_WORD_STEP};
    const gravel_precision p = h->bodies->precision;
    const gv_time_words t = gv_time_split(h->bodies->precision, time);
    const size_t n = h->bodies->count;
    cl_mem mem[WORDS];
    gravel_status status = gv_hermite_words(h->bodies, WORDS, word, mem);
    if (!status)
        status =
            gv_launch(&h->worker, 0, h->kernel[GV_STEP_FIRST], gv_items(n, 64), GV_UINT(n), GV_REAL(p, t.high),
                      GV_REAL(p, t.low), GV_ARG(mem[0]), GV_ARG(mem[1]), GV_ARG(mem[2]), GV_ARG(mem[3]), GV_ARG(mem[4]),
                      GV_ARG(mem[5]), GV_ARG(mem[6]), GV_ARG(mem[7]), GV_REAL(p, h->options.eta_start),
                      GV_REAL(p, gv_hermite_per_mass(h)), GV_REAL(p, gv_hermite_mass_part(h)),
                      GV_REAL(p, h->options.step_max), GV_REAL(p, h->options.step_min), GV_MEM(h->select.head));
    gv_bodies_changed(h->bodies, GRAVEL_TIME);
    gv_bodies_changed(h->bodies, GRAVEL_STEP);
    return status;
}

gravel_status gravel_hermite_start(gravel_hermite *h, double time)
{
    if (!h || !isfinite(time))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_hermite_start: no integrator, or the time is %g", time);
    if (h->bodies->count == 0)
        return gv_fail(GRAVEL_ERR_STATE, "gravel_hermite_start: there are no bodies");
    if (!gv_time_fits(h->bodies->precision, time))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the time %.17g does not fit a two-float: start at a rounder one", time);
    static const gravel_plane zero[] = {GRAVEL_STEP, GRAVEL_SNAP, GRAVEL_CRACKLE};
    h->started = h->next_known = 0;
    memset(&h->counts, 0, sizeof h->counts);
    gravel_status status = gv_bodies_need_ids(h->bodies);
    if (!status)
        status = reserve(h);
    for (size_t k = 0; k < sizeof zero / sizeof zero[0] && !status; k++)
        status = gravel_bodies_fill(h->bodies, zero[k], 0);
    /* the snap of order 6 needs the accelerations of both bodies of a pair */
    for (int order = 4; order <= h->options.order && !status; order += 2)
        status = gv_hermite_forces(h, order, gravel_view_range(h->bodies, 0, h->bodies->count), 0, time);
    if (!status)
        status = gv_hermite_check_range(h);
    if (!status)
        status = first_steps(h, time);
    h->started = !status;
    h->ended = 0;
    h->n = h->bodies->count;
    h->now = time;
    h->whole = 1;
    return status ? status : gv_host_decide(h);
}

/* ------------------------------------------------------------------- blocks */

gravel_status gv_hermite_check_started(const gravel_hermite *h, const char *call)
{
    if (!h)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: no integrator", call);
    if (!h->started)
        return gv_fail(GRAVEL_ERR_STATE, "%s: gravel_hermite_start comes first", call);
    return GRAVEL_OK;
}

/* The next block of all processes: where others are due before, none of the bodies here moves, or with a shared step
 * all of them over the others' shorter one. */
static gravel_status find_next_of_all(gravel_hermite *h, gravel_status status)
{
    double time = h->next, count = (double)h->due;
    status = agree(h, status, &time, &count);
    h->all_due = h->options.shared ? h->all : (size_t)count;
    if (status || time == h->next)
        return status;
    h->next = time;
    if (h->options.shared)
        return gravel_bodies_fill(h->bodies, GRAVEL_STEP, time - h->now);
    h->due = 0;
    return GRAVEL_OK;
}

static gravel_status find_next(gravel_hermite *h)
{
    gv_due due = {0, 0, UINT32_MAX};
    if (h->next_known)
        return GRAVEL_OK;
    gravel_status status =
        h->host_up_to > 0 ? gv_host_find(h, &due) : gv_selector_find(&h->select, h->options.shared, &due);
    h->next = due.time;
    h->due = h->all_due = due.count;
    if (!status && due.too_short != UINT32_MAX)
        status = gv_hermite_fail_short(h, due.too_short);
    if (h->options.agree)
        status = find_next_of_all(h, status);
    h->next_known = !status;
    return status;
}

/* The next block is known after this; between calls the bodies may have got another frame or order. */
static gravel_status look_ahead(gravel_hermite *h, const char *call)
{
    gravel_status status = gv_hermite_check_started(h, call);
    if (status)
        return status;
    if (h->bodies->count != h->n)
        return gv_fail(GRAVEL_ERR_STATE,
                       "%s: there are %zu bodies, there were %zu at gravel_hermite_start: start with these", call,
                       h->bodies->count, h->n);
    if (h->ended)
        return gv_fail(GRAVEL_ERR_STATE,
                       "%s: the bodies are at time %.17g, no multiple of step_min = %g, where no step begins: "
                       "gravel_hermite_start comes first",
                       call, h->now, h->options.step_min);
    const int framed_anew = memcmp(&h->bodies->frame, &h->copy.frame, sizeof h->copy.frame) != 0;
    if (h->bodies->order_version != h->order_version || (h->copy.is_current && framed_anew)) {
        if (h->copy.changes > 0)
            return gv_fail(GRAVEL_ERR_STATE, "%s: order or frame of the bodies changed without gravel_hermite_send",
                           call);
        h->next_known = h->copy.is_current = 0;
    }
    h->order_version = h->bodies->order_version;
    h->active->frame = h->bodies->frame; /* a block fills its planes anew */
    h->active->ids_mixed = h->bodies->ids_mixed;
    return find_next(h);
}

gravel_status gravel_hermite_steps(gravel_hermite *h, double until, size_t most, gravel_hermite_step_info *info,
                                   size_t *done)
{
    if (!info || !done)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_hermite_steps: no place for what was done");
    *done = 0;
    gravel_status status = look_ahead(h, "gravel_hermite_steps");
    if (status || most == 0 || !(h->next <= until))
        return status;
    if (gv_ahead_may(h) && h->host_up_to == 0 && h->due <= gv_ahead_most(h)) {
        status = gv_ahead_go(h, until, most, info, done);
        if (status || *done > 0)
            return status;
    }
    const double before = h->now;
    *info = (gravel_hermite_step_info){h->next, h->all_due};
    status = gv_hermite_move(h, h->due, h->next);
    gv_rhythm_note(&h->ahead.rhythm, before, info->time, info->active);
    *done = !status;
    return status;
}

gravel_status gravel_hermite_step(gravel_hermite *h, gravel_hermite_step_info *info)
{
    gravel_hermite_step_info step;
    size_t done;
    return gravel_hermite_steps(h, INFINITY, 1, info ? info : &step, &done);
}

gravel_status gravel_hermite_get_next(gravel_hermite *h, double *time)
{
    if (!time)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_hermite_get_next: no place for the time");
    gravel_status status = look_ahead(h, "gravel_hermite_get_next");
    if (!status)
        *time = h->next;
    return status;
}

static gravel_status check_between(const gravel_hermite *h, double time)
{
    if (!(time >= h->now && time <= h->next))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "bodies cannot be brought to time %.17g: the last block was at %.17g, the next is at %.17g",
                       time, h->now, h->next);
    return GRAVEL_OK;
}

gravel_status gravel_hermite_synchronise(gravel_hermite *h, double time)
{
    gravel_status status = look_ahead(h, "gravel_hermite_synchronise");
    if (status)
        return status;
    status = check_between(h, time);
    if (status)
        return status;
    const size_t n = h->bodies->count;
    if (h->host_up_to > 0)
        gv_host_take_all(h);
    else
        status = gv_selector_take_all(&h->select);
    h->all_due = h->all;
    if (!status)
        status = gv_hermite_move(h, n, time);
    if (h->now == time) /* it was done */
        h->ended = fmod(time, h->options.step_min) != 0;
    return status;
}

gravel_status gravel_hermite_add_step_counts(gravel_hermite *h, uint64_t counts[GRAVEL_STEP_POWERS])
{
    const gravel_status status = gv_hermite_check_started(h, "gravel_hermite_add_step_counts");
    for (int p = 0; p < GV_TALLY_POWERS && !status; p++)
        counts[p] += h->copy.tally[p];
    return status ? status : gv_selector_add_tally(&h->select, counts);
}

void gravel_hermite_get_counts(const gravel_hermite *h, gravel_hermite_counts *counts)
{
    *counts = h->counts;
}

/* ---------------------------------------------------------- looking, resuming */

gravel_status gravel_hermite_get_bodies_at(gravel_hermite *h, double time, gravel_bodies **at)
{
    if (at)
        *at = NULL;
    gravel_status status = look_ahead(h, "gravel_hermite_get_bodies_at");
    if (!status && !at)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_hermite_get_bodies_at: no place for the result");
    if (!status)
        status = check_between(h, time);
    if (!status)
        status = gv_hermite_look(h, time);
    if (!status)
        *at = h->active;
    return status;
}

gravel_status gravel_hermite_send(gravel_hermite *h)
{
    const gravel_status status = gv_hermite_check_started(h, "gravel_hermite_send");
    return status ? status : gv_copy_send(h, 0);
}

gravel_status gravel_hermite_get_state(gravel_hermite *h, gravel_hermite_state *state)
{
    gravel_status status = gv_hermite_check_started(h, "gravel_hermite_get_state");
    if (!status && !state)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_hermite_get_state: no place for the state");
    if (!status)
        status = gv_copy_send(h, 0);
    if (!status)
        *state = (gravel_hermite_state){.time = h->now,
                                        .blocks = h->counts.blocks,
                                        .steps = h->counts.steps,
                                        .host_blocks = h->counts.host_blocks,
                                        .whole = (uint32_t)h->whole,
                                        .ended = (uint32_t)h->ended,
                                        .host_up_to = h->host_up_to};
    if (!status)
        memcpy(state->host_costs, &h->costs, sizeof state->host_costs);
    return status;
}

gravel_status gravel_hermite_resume(gravel_hermite *h, const gravel_hermite_state *state)
{
    if (!h || !state || !isfinite(state->time))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_hermite_resume: no integrator, or no state of one");
    if (h->bodies->count == 0 || !gravel_bodies_has_plane(h->bodies, GRAVEL_TIME) ||
        !gravel_bodies_has_plane(h->bodies, GRAVEL_STEP) || !gravel_bodies_has_plane(h->bodies, GRAVEL_CRACKLE))
        return gv_fail(GRAVEL_ERR_STATE, "gravel_hermite_resume: the bodies have no times, steps or derivatives; "
                                         "gravel_bodies_restore comes first");
    gravel_status status = reserve(h);
    h->started = !status;
    h->next_known = 0;
    h->now = state->time;
    h->counts = (gravel_hermite_counts){state->blocks, state->steps, state->host_blocks};
    h->whole = (int)state->whole;
    h->ended = (int)state->ended;
    h->n = h->bodies->count;
    h->copy.is_current = 0;
    h->copy.too_short = UINT32_MAX;
    const size_t up_to = state->host_up_to < h->n ? (size_t)state->host_up_to : h->n;
    int may = h->options.host != GRAVEL_HOST_NEVER;
    status = gv_host_compare(h, status, &may);
    h->host_up_to = may ? up_to : 0;
    memcpy(&h->costs, state->host_costs, sizeof h->costs);
    h->may_review = may && h->options.host == GRAVEL_HOST_WHERE_FASTER && h->costs.host.one > 0;
    return status;
}
