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
    return GRAVEL_OK;
}

static gravel_status make_kernels(gravel_hermite *h)
{
    static const struct {
        const char *file, *name;
        int hermite;
    } want[GV_STEP_KERNELS] = {
        [GV_STEP_LEAST] = {"step/select.cl", "gv_step_least", 0},
        [GV_STEP_COUNT] = {"step/select.cl", "gv_step_count", 0},
        [GV_STEP_SCAN] = {"lib/scan.cl", "gv_scan_rows", 0},
        [GV_STEP_LIST] = {"step/select.cl", "gv_step_list", 0},
        [GV_STEP_SHARE] = {"step/select.cl", "gv_step_share", 0},
        [GV_STEP_PREDICT] = {"step/hermite.cl", "gv_step_predict", 1},
        [GV_STEP_ALL] = {"step/hermite.cl", "gv_step_all", 1},
        [GV_STEP_CORRECT] = {"step/hermite.cl", "gv_step_correct", 1},
        [GV_STEP_FIRST] = {"step/hermite.cl", "gv_step_first", 1},
    };
    char select[120], hermite[120];
    const int precision = (int)h->bodies->precision;
    gravel_status status = GRAVEL_OK;
    snprintf(select, sizeof select, "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_THREADS=%zu -DGV_ITEMS=%zu", precision,
             h->group, h->items);
    snprintf(hermite, sizeof hermite, "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_ORDER=%d -DGV_CRITERION=%d", precision,
             h->options.order, (int)h->options.criterion);
    for (int k = 0; k < GV_STEP_KERNELS && !status; k++)
        status =
            gv_kernel_make(&h->worker, want[k].file, want[k].hermite ? hermite : select, want[k].name, &h->kernel[k]);
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
    const int cpu = gv_worker_device(&bodies->worker)->info.type == GRAVEL_DEVICE_CPU;
    h->worker.context = bodies->worker.context;
    h->worker.device = bodies->worker.device;
    h->options = taken;
    h->bodies = bodies;
    h->direct = direct;
    h->group = cpu ? 1 : 256;
    h->items = cpu ? 4096 : 4;
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
    gv_buffer *const buffer[] = {&h->part, &h->count, &h->total, &h->list, &h->head};
    for (size_t k = 0; k < sizeof buffer / sizeof buffer[0]; k++)
        gv_buffer_release(buffer[k]);
    for (int k = 0; k < GV_STEP_KERNELS; k++)
        if (h->kernel[k])
            clReleaseKernel(h->kernel[k]);
    gv_worker_clear(&h->worker);
    gravel_direct_release(h->exact);
    gravel_bodies_release(h->active);
    free(h);
}

/* ------------------------------------------------------------------- forces */

/* Forces of all bodies, at `time` if `predict`, on some of a set, into its planes; then the caller's external force. */
static gravel_status find_forces(gravel_hermite *h, int order, gravel_view sinks, int predict, double time)
{
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    call.sources = gravel_view_all(h->bodies);
    call.sinks = sinks;
    call.order = order;
    call.eps = h->options.eps;
    call.soften = h->options.soften;
    call.predict = predict;
    call.time = time;
    call.nearest = call.neighbour_capacity = 0;
    call.into = GRAVEL_INTO_PLANES;
    gravel_status status = gravel_direct_start(h->direct, &call, NULL);
    if (!status && h->options.external)
        status = h->options.external(sinks.bodies, sinks.first, gravel_view_get_count(&sinks), time,
                                     h->options.external_user);
    return status;
}

/* Words of a set of bodies in the order that kernels take them; those that do not exist repeat the first. */
static gravel_status take_words(gravel_bodies *bodies, size_t n, const gv_word *word, cl_mem *mem)
{
    static const gv_word low[] = {GV_WORD_POSITION_LOW, GV_WORD_VELOCITY_LOW, GV_WORD_TIME_LOW};
    gravel_status status = GRAVEL_OK;
    for (size_t k = 0; k < n && !status; k++) {
        int absent = 0;
        for (size_t l = 0; l < sizeof low / sizeof low[0]; l++)
            absent = absent || (word[k] == low[l] && bodies->precision != GRAVEL_DS);
        if (absent)
            mem[k] = mem[0];
        else
            status = gv_bodies_need(bodies, word[k], &mem[k]);
    }
    return status;
}

/* -------------------------------------------------------------------- start */

static gravel_status reserve(gravel_hermite *h)
{
    static const cl_uint none[GV_HEAD_WORDS] = {[GV_HEAD_SHORT] = UINT32_MAX};
    const size_t n = h->bodies->count;
    gravel_status status = gravel_bodies_resize(h->active, n);
    if (!status)
        status = gravel_bodies_set_frame(h->active, &h->bodies->frame);
    if (!status)
        status = gv_buffer_reserve(&h->worker, &h->list, n * sizeof(cl_uint), "addresses of a block");
    if (!status)
        status = gv_buffer_reserve(&h->worker, &h->head, sizeof none, "the head of a block");
    if (status)
        return status;
    const cl_int code =
        clEnqueueWriteBuffer(gv_worker_queue(&h->worker), h->head.mem, CL_FALSE, 0, sizeof none, none, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "preparing %zu bodies for integration", n) : GRAVEL_OK;
}

/* The two words of a time as the kernels take them. */
typedef struct time_words {
    double high;
    float low;
} time_words;

static time_words split_time(const gravel_hermite *h, double time)
{
    if (h->bodies->precision == GRAVEL_DP)
        return (time_words){time, 0};
    return (time_words){(float)time, (float)(time - (double)(float)time)};
}

static gravel_status first_steps(gravel_hermite *h, double time)
{
    enum { WORDS = 5 };
    static const gv_word word[WORDS] = {GV_WORD_ACCELERATION, GV_WORD_JERK, GV_WORD_TIME, GV_WORD_TIME_LOW,
                                        GV_WORD_STEP};
    const gravel_precision p = h->bodies->precision;
    const time_words t = split_time(h, time);
    const size_t n = h->bodies->count;
    cl_mem mem[WORDS];
    gravel_status status = take_words(h->bodies, WORDS, word, mem);
    if (!status)
        status = gv_launch(&h->worker, 0, h->kernel[GV_STEP_FIRST], gv_items(n, 64), GV_UINT(n), GV_REAL(p, t.high),
                           GV_REAL(p, t.low), GV_ARG(mem[0]), GV_ARG(mem[1]), GV_ARG(mem[2]), GV_ARG(mem[3]),
                           GV_ARG(mem[4]), GV_REAL(p, h->options.eta_start), GV_REAL(p, h->options.step_max),
                           GV_REAL(p, h->options.step_min), GV_MEM(h->head));
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
    if (split_time(h, time).high + (double)split_time(h, time).low != time)
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
        status = find_forces(h, order, gravel_view_range(h->bodies, 0, h->bodies->count), 0, time);
    if (!status)
        status = first_steps(h, time);
    h->started = !status;
    h->ended = 0;
    h->n = h->bodies->count;
    h->now = time;
    return status;
}

/* ------------------------------------------------------------------- blocks */

static gravel_status predict(gravel_hermite *h, size_t count, time_words t)
{
    enum { FROM = 12, TO = 9 };
    static const gv_word from_word[FROM] = {GV_WORD_POSITION,     GV_WORD_POSITION_LOW, GV_WORD_VELOCITY,
                                            GV_WORD_VELOCITY_LOW, GV_WORD_ACCELERATION, GV_WORD_JERK,
                                            GV_WORD_SNAP,         GV_WORD_CRACKLE,      GV_WORD_TIME,
                                            GV_WORD_TIME_LOW,     GV_WORD_ID,           GV_WORD_SOFTENING};
    static const gv_word to_word[TO] = {GV_WORD_POSITION,     GV_WORD_POSITION_LOW, GV_WORD_VELOCITY,
                                        GV_WORD_VELOCITY_LOW, GV_WORD_ACCELERATION, GV_WORD_TIME,
                                        GV_WORD_TIME_LOW,     GV_WORD_ID,           GV_WORD_SOFTENING};
    static const gravel_plane changed[] = {GRAVEL_POSITION, GRAVEL_MASS, GRAVEL_VELOCITY, GRAVEL_ACCELERATION,
                                           GRAVEL_TIME,     GRAVEL_ID,   GRAVEL_SOFTENING};
    const int softened = h->options.soften != GRAVEL_SOFTEN_EPS;
    const size_t skip = softened ? 0 : 1; /* the last of both lists */
    const gravel_precision p = h->bodies->precision;
    cl_mem from[FROM], to[TO];
    gravel_status status = take_words(h->bodies, FROM - skip, from_word, from);
    if (!status)
        status = take_words(h->active, TO - skip, to_word, to);
    if (status)
        return status;
    if (!softened) {
        from[FROM - 1] = from[0];
        to[TO - 1] = to[0];
    }
    status = gv_launch(&h->worker, 0, h->kernel[GV_STEP_PREDICT], gv_items(count, 64), GV_MEM(h->list), GV_UINT(count),
                       GV_REAL(p, t.high), GV_REAL(p, t.low), GV_ARG(from[0]), GV_ARG(from[1]), GV_ARG(from[2]),
                       GV_ARG(from[3]), GV_ARG(from[4]), GV_ARG(from[5]), GV_ARG(from[6]), GV_ARG(from[7]),
                       GV_ARG(from[8]), GV_ARG(from[9]), GV_ARG(from[10]), GV_ARG(to[0]), GV_ARG(to[1]), GV_ARG(to[2]),
                       GV_ARG(to[3]), GV_ARG(to[4]), GV_ARG(to[5]), GV_ARG(to[6]), GV_ARG(from[11]), GV_ARG(to[8]),
                       GV_INT(softened), GV_ARG(to[7]));
    for (size_t k = 0; k < sizeof changed / sizeof changed[0] - skip; k++)
        gv_bodies_changed(h->active, changed[k]);
    return status;
}

static gravel_status correct(gravel_hermite *h, size_t count, time_words t, int last)
{
    enum { OWN = 12, NEW = 8 };
    static const gv_word own_word[OWN] = {GV_WORD_POSITION,     GV_WORD_POSITION_LOW, GV_WORD_VELOCITY,
                                          GV_WORD_VELOCITY_LOW, GV_WORD_ACCELERATION, GV_WORD_JERK,
                                          GV_WORD_SNAP,         GV_WORD_CRACKLE,      GV_WORD_TIME,
                                          GV_WORD_TIME_LOW,     GV_WORD_STEP,         GV_WORD_POTENTIAL};
    static const gv_word new_word[NEW] = {GV_WORD_POSITION,     GV_WORD_POSITION_LOW, GV_WORD_VELOCITY,
                                          GV_WORD_VELOCITY_LOW, GV_WORD_ACCELERATION, GV_WORD_JERK,
                                          GV_WORD_SNAP,         GV_WORD_POTENTIAL};
    static const gravel_plane changed[] = {GRAVEL_POSITION, GRAVEL_VELOCITY, GRAVEL_ACCELERATION,
                                           GRAVEL_JERK,     GRAVEL_SNAP,     GRAVEL_CRACKLE,
                                           GRAVEL_TIME,     GRAVEL_STEP,     GRAVEL_POTENTIAL};
    const gravel_hermite_options *o = &h->options;
    const gravel_precision p = h->bodies->precision;
    cl_mem own[OWN], new[NEW];
    gravel_status status = take_words(h->bodies, OWN, own_word, own);
    if (!status)
        status = take_words(h->active, NEW, new_word, new);
    if (status)
        return status;
    status =
        gv_launch(&h->worker, 0, h->kernel[GV_STEP_CORRECT], gv_items(count, 64), GV_MEM(h->list), GV_UINT(count),
                  GV_REAL(p, t.high), GV_REAL(p, t.low), GV_ARG(own[0]), GV_ARG(own[1]), GV_ARG(own[2]), GV_ARG(own[3]),
                  GV_ARG(own[4]), GV_ARG(own[5]), GV_ARG(own[6]), GV_ARG(own[7]), GV_ARG(own[8]), GV_ARG(own[9]),
                  GV_ARG(own[10]), GV_ARG(own[11]), GV_ARG(new[0]), GV_ARG(new[1]), GV_ARG(new[2]), GV_ARG(new[3]),
                  GV_ARG(new[4]), GV_ARG(new[5]), GV_ARG(new[6]), GV_ARG(new[7]), GV_REAL(p, o->eta4),
                  GV_REAL(p, o->eta6), GV_REAL(p, o->step_max), GV_REAL(p, o->step_min), GV_INT(last), GV_MEM(h->head));
    for (size_t k = 0; k < sizeof changed / sizeof changed[0]; k++)
        gv_bodies_changed(last ? h->bodies : h->active, changed[k]);
    return status;
}

/* The bodies of the list, of which there are `count`, to `time`. */
static gravel_status move_block(gravel_hermite *h, size_t count, double time)
{
    const time_words t = split_time(h, time);
    gravel_status status = predict(h, count, t);
    for (int k = 1; k <= h->options.iterations && !status; k++) {
        status = find_forces(h, h->options.order, gravel_view_range(h->active, 0, count), 1, time);
        if (!status)
            status = correct(h, count, t, k == h->options.iterations);
    }
    h->next_known = 0;
    h->now = time;
    h->counts.blocks++;
    h->counts.steps += count;
    return status;
}

static gravel_status check_started(const gravel_hermite *h, const char *call)
{
    if (!h)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: no integrator", call);
    if (!h->started)
        return gv_fail(GRAVEL_ERR_STATE, "%s: gravel_hermite_start comes first", call);
    return GRAVEL_OK;
}

/* The next block is known after this; between calls the bodies may have got another frame or order. */
static gravel_status look_ahead(gravel_hermite *h, const char *call)
{
    gravel_status status = check_started(h, call);
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
    if (h->bodies->order_version != h->order_version)
        h->next_known = 0;
    h->order_version = h->bodies->order_version;
    h->active->frame = h->bodies->frame; /* a block fills its planes anew */
    return gv_step_find_next(h);
}

gravel_status gravel_hermite_step(gravel_hermite *h, gravel_hermite_step_info *info)
{
    gravel_status status = look_ahead(h, "gravel_hermite_step");
    if (status)
        return status;
    if (info)
        *info = (gravel_hermite_step_info){h->next, h->due};
    return move_block(h, h->due, h->next);
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

gravel_status gravel_hermite_synchronise(gravel_hermite *h, double time)
{
    gravel_status status = look_ahead(h, "gravel_hermite_synchronise");
    if (status)
        return status;
    if (!(time >= h->now && time <= h->next))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "bodies cannot be brought to time %.17g: the last block was at %.17g, the next is at %.17g",
                       time, h->now, h->next);
    const size_t n = h->bodies->count;
    status = gv_launch(&h->worker, 0, h->kernel[GV_STEP_ALL], gv_items(n, 64), GV_UINT(n), GV_MEM(h->list));
    if (!status)
        status = move_block(h, n, time);
    h->ended = fmod(time, h->options.step_min) != 0;
    return status;
}

void gravel_hermite_get_counts(const gravel_hermite *h, gravel_hermite_counts *counts)
{
    *counts = h->counts;
}

/* ----------------------------------------------------------------- energies */

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
    gravel_status status = check_started(h, "gravel_hermite_get_energies");
    if (!status && !energies)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_hermite_get_energies: no place for the result");
    if (status)
        return status;
    const size_t n = h->bodies->count;
    double *v = malloc((5 * n + 1) * sizeof *v);
    if (!v)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the energies of %zu bodies", n);
    double *const m = v + 3 * n, *const pot = v + 4 * n;
    const gravel_array_out to_v = {v, v + 1, v + 2, 3, GRAVEL_F64}, to_m = {m, NULL, NULL, 1, GRAVEL_F64};
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
