/* Calls: checks, the kernel and its arguments, results into planes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/base/options.h"
#include "host/tasks/tasks.h"

/* support of the spline, in units of eps */
#define SPLINE_SUPPORT 2.8

/* ------------------------------------------------------------------ checks */

static gravel_status check_range(const gravel_tasks_call *call)
{
    if (!(call->eps >= 0) || isinf(call->eps))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the softening length is %g; it must be at least 0", call->eps);
    if (!(call->r_s >= 0) || isinf(call->r_s))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "r_s is %g; it must be at least 0", call->r_s);
    if (call->r_s > 0 && (!(call->r_cut > 0) || isinf(call->r_cut)))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "r_cut is %g; a short range ends at a positive distance", call->r_cut);
    if (call->softening != GRAVEL_PLUMMER && call->softening != GRAVEL_SPLINE)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "there is no softening %d", (int)call->softening);
    return GRAVEL_OK;
}

static gravel_status check(const gravel_tasks *tasks, const gravel_tasks_call *call, int has_ticket)
{
    const unsigned known = GRAVEL_INTO_HOST | GRAVEL_INTO_PLANES | GRAVEL_INTO_ADD;
    const gravel_bodies *b = call->bodies;
    if (!b || b->worker.context != tasks->worker.context || b->worker.device != tasks->worker.device)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "a call needs bodies on the device of the tasks");
    if (!tasks->has_list)
        return gv_fail(GRAVEL_ERR_STATE, "there is no list: gravel_tasks_write comes first");
    if (tasks->bodies > b->count)
        return gv_fail(GRAVEL_ERR_INPUT, "the leaves go up to body %zu; there are %zu bodies", tasks->bodies - 1,
                       b->count);
    if (call->into & ~known || (call->into & GRAVEL_INTO_ADD && !(call->into & GRAVEL_INTO_PLANES)))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "results cannot go to %u: see GRAVEL_INTO_HOST, _PLANES, _ADD", call->into);
    if (!has_ticket && call->into & GRAVEL_INTO_HOST)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "results for the host need a ticket");
    const double most = (tasks->options.precision == GRAVEL_DP ? 1e100 : 1e12) * b->frame.length;
    if (call->eps > most)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the softening length is %g; tasks in %s take up to %g here", call->eps,
                       gravel_precision_name(tasks->options.precision), most);
    return check_range(call);
}

/* ---------------------------------------------------------------- positions */

/* Positions in the precision of the tasks: the bodies' own planes where that is theirs. */
static gravel_status find_positions(gravel_tasks *tasks, gravel_bodies *b, cl_mem at[2])
{
    cl_mem own[2] = {NULL, NULL};
    cl_kernel kernel;
    char options[96];
    gravel_status status = gv_bodies_need(b, GV_WORD_POSITION, &own[0]);
    if (!status && b->precision == GRAVEL_DS)
        status = gv_bodies_need(b, GV_WORD_POSITION_LOW, &own[1]);
    at[0] = own[0];
    at[1] = own[1];
    /* the high words of ds are what sp computes with */
    if (status || b->precision == tasks->options.precision ||
        (b->precision == GRAVEL_DS && tasks->options.precision == GRAVEL_SP))
        return status;
    for (size_t word = 0; word < tasks->words && !status; word++) {
        status = gv_tasks_reserve(tasks, GV_TAB_POSITION + word, b->count * 4 * tasks->scalar, "positions");
        at[word] = tasks->buffer[GV_TAB_POSITION + word].mem;
    }
    cl_mem low = tasks->words == 2 ? at[1] : NULL;
    snprintf(options, sizeof options, "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_FROM=%d", (int)tasks->options.precision,
             (int)b->precision);
    if (!status)
        status = gv_tasks_kernel_of(tasks, "tasks/place.cl", "gv_tasks_place", options, &kernel);
    return status ? status
                  : gv_launch(&tasks->worker, -1, kernel, gv_items(b->count, (size_t)tasks->group), GV_ARG(own[0]),
                              GV_ARG(own[1]), GV_UINT(b->count), GV_ARG(at[0]), GV_ARG(low));
}

/* Shifts in the unit of the bodies. */
static gravel_status send_shifts(gravel_tasks *tasks, const gravel_bodies *b)
{
    double word[256][2][4] = {{{0}}};
    float narrow[256][2][4] = {{{0}}};
    if (tasks->shifts == 0 || tasks->shift_length == b->frame.length)
        return GRAVEL_OK;
    for (size_t k = 0; k < tasks->shifts; k++)
        for (int c = 0; c < 3; c++) {
            word[k][0][c] = tasks->shift[k][c] / b->frame.length;
            narrow[k][0][c] = (float)word[k][0][c];
            narrow[k][1][c] = (float)(word[k][0][c] - (double)narrow[k][0][c]);
        }
    const size_t size = tasks->shifts * 8 * tasks->scalar;
    gravel_status status = gv_tasks_reserve(tasks, GV_TAB_SHIFT, size, "shifts");
    if (status)
        return status;
    const cl_int code =
        clEnqueueWriteBuffer(gv_worker_queue(&tasks->worker), tasks->buffer[GV_TAB_SHIFT].mem, CL_TRUE, 0, size,
                             tasks->scalar == 8 ? (void *)word : (void *)narrow, 0, NULL, NULL);
    tasks->shift_length = code ? 0 : b->frame.length;
    return code ? gv_fail_cl(code, "sending shifts to %s", tasks->limits.info.name) : GRAVEL_OK;
}

/* ------------------------------------------------------------------ forces */

/* The table of a short range up to u = most; *nodes 0: it would be too long. */
static gravel_status need_table(gravel_tasks *tasks, double most, size_t *nodes)
{
    double table[2 * GV_TASKS_MOST_NODES];
    float narrow[2 * GV_TASKS_MOST_NODES];
    *nodes = gv_tasks_nodes(most);
    if (*nodes == 0 || *nodes == tasks->nodes)
        return GRAVEL_OK;
    gv_tasks_make_nodes(*nodes, table);
    for (size_t k = 0; k < 2 * *nodes; k++)
        narrow[k] = (float)table[k];
    const size_t size = 2 * *nodes * tasks->scalar;
    gravel_status status = gv_tasks_reserve(tasks, GV_TAB_NODES, size, "the table of the short range");
    if (status)
        return status;
    const cl_int code =
        clEnqueueWriteBuffer(gv_worker_queue(&tasks->worker), tasks->buffer[GV_TAB_NODES].mem, CL_TRUE, 0, size,
                             tasks->scalar == 8 ? (void *)table : (void *)narrow, 0, NULL, NULL);
    tasks->nodes = code ? 0 : *nodes;
    return code ? gv_fail_cl(code, "sending a table to %s", tasks->limits.info.name) : GRAVEL_OK;
}

/* The force kernel of a call; *nodes 0: it takes no table. */
static gravel_status find_kernel(gravel_tasks *tasks, const gravel_tasks_call *call, size_t *nodes, cl_kernel *kernel)
{
    char macros[256], options[512];
    const gv_config *config = &tasks->config;
    int form = config->value[GV_TA_FORM];
    gravel_status status = GRAVEL_OK;
    *nodes = 0;
    if (call->r_s > 0 && form == GV_FORM_TABLE) {
        status = need_table(tasks, call->r_cut / (2 * call->r_s), nodes);
        form = *nodes > 0 ? form : GV_FORM_RATIONAL;
    }
    gv_space_macros(&gv_tasks_space, config, macros, sizeof macros);
    snprintf(options, sizeof options,
             "-DGV_PRECISION=%d%s -DGV_SHAPE=%d -DGV_SHORT_RANGE=%d -DGV_SOFTENED=%d -DGV_POTENTIAL=%d -DGV_SHIFTS=%d "
             "-DGV_FORM=%d -DGV_LEVEL=%d -DGV_NODES=%zu",
             (int)tasks->options.precision, macros,
             call->softening == GRAVEL_SPLINE && call->eps > 0 ? GV_SHAPE_SPLINE : GV_SHAPE_PLUMMER, call->r_s > 0,
             call->eps > 0, call->potential != 0, tasks->shifts > 0, form, config->value[GV_TA_LEVEL], *nodes);
    return status ? status : gv_tasks_kernel_of(tasks, "tasks/evaluate.cl", "gv_tasks_evaluate", options, kernel);
}

static gravel_status evaluate(gravel_tasks *tasks, const gravel_tasks_call *call, cl_mem result)
{
    const gravel_precision p = tasks->options.precision;
    const double length = call->bodies->frame.length;
    const double reach = (call->softening == GRAVEL_SPLINE ? SPLINE_SUPPORT : 1) * call->eps / length;
    const double cut = call->r_s > 0 ? call->r_cut / length : 0, rate = call->r_s > 0 ? length / (2 * call->r_s) : 0;
    cl_kernel kernel;
    cl_mem at[2] = {NULL, NULL};
    size_t nodes, n = 0;
    gravel_status status = find_positions(tasks, call->bodies, at);
    if (!status)
        status = send_shifts(tasks, call->bodies);
    if (!status)
        status = find_kernel(tasks, call, &nodes, &kernel);
    if (status)
        return status;
    cl_mem shift = tasks->shifts > 0 ? tasks->buffer[GV_TAB_SHIFT].mem : NULL;
    gv_arg arg[12];
    const gv_arg first[] = {GV_ARG(at[0]),
                            GV_ARG(at[1]),
                            GV_MEM(tasks->buffer[GV_TAB_UNIT]),
                            GV_MEM(tasks->buffer[GV_TAB_BEGIN]),
                            GV_MEM(tasks->buffer[GV_TAB_ENTRY]),
                            GV_MEM(tasks->buffer[GV_TAB_ENTRY_SHIFT]),
                            GV_ARG(shift),
                            GV_REAL(p, reach * reach),
                            GV_REAL(p, rate),
                            GV_REAL(p, cut * cut)};
    memcpy(arg, first, sizeof first);
    n = sizeof first / sizeof first[0];
    if (nodes > 0)
        arg[n++] = GV_MEM(tasks->buffer[GV_TAB_NODES]);
    arg[n++] = GV_ARG(result);
    return gv_launch_list(&tasks->worker, 0, kernel,
                          gv_groups(tasks->counts.units, (size_t)tasks->config.value[GV_TA_THREADS]), n, arg);
}

/* ----------------------------------------------------------------- results */

static gravel_status store(gravel_tasks *tasks, const gravel_tasks_call *call, cl_mem result)
{
    gravel_bodies *b = call->bodies;
    const gv_frame_factors factor = gv_frame_result(&b->frame);
    const size_t most = gv_tasks_most(&tasks->config);
    const gravel_precision exact =
        b->precision == GRAVEL_DP || tasks->options.precision == GRAVEL_DP ? GRAVEL_DP : GRAVEL_SP;
    cl_mem acc, pot = NULL;
    cl_kernel kernel;
    char options[96];
    snprintf(options, sizeof options, "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_FROM=%d", (int)tasks->options.precision,
             (int)b->precision);
    gravel_status status = gv_tasks_kernel_of(tasks, "tasks/place.cl", "gv_tasks_store", options, &kernel);
    if (!status)
        status = gv_bodies_need(b, GV_WORD_ACCELERATION, &acc);
    if (!status && call->potential)
        status = gv_bodies_need(b, GV_WORD_POTENTIAL, &pot);
    if (!status)
        status = gv_launch(&tasks->worker, 0, kernel, gv_items(tasks->counts.units * most, (size_t)tasks->group),
                           GV_ARG(result), GV_MEM(tasks->buffer[GV_TAB_UNIT]), GV_UINT(tasks->counts.units),
                           GV_UINT(most), GV_INT((call->into & GRAVEL_INTO_ADD) != 0), GV_INT(call->potential != 0),
                           GV_REAL(exact, factor.acc), GV_REAL(exact, factor.pot), GV_ARG(acc), GV_ARG(pot));
    gv_bodies_changed(b, GRAVEL_ACCELERATION);
    if (call->potential)
        gv_bodies_changed(b, GRAVEL_POTENTIAL);
    return status;
}

static gravel_status submit(gravel_tasks *tasks, const gravel_tasks_call *call, gv_tasks_ticket *t)
{
    const gravel_bodies *b = call->bodies;
    const size_t size = b->count * 4 * tasks->words * tasks->scalar;
    const cl_uint zero = 0;
    gravel_status status = t ? GRAVEL_OK : gv_tasks_reserve(tasks, GV_TAB_RESULT, size, "forces");
    if (status || b->count == 0)
        return status;
    cl_mem result = t ? t->forces.slot.device.mem : tasks->buffer[GV_TAB_RESULT].mem;
    if (call->into & GRAVEL_INTO_HOST) {
        const cl_int code =
            clEnqueueFillBuffer(gv_worker_queue(&tasks->worker), result, &zero, sizeof zero, 0, size, 0, NULL, NULL);
        if (code)
            return gv_fail_cl(code, "clearing the forces of %zu bodies", b->count);
    }
    if (tasks->counts.units > 0)
        status = evaluate(tasks, call, result);
    if (!status && call->into & GRAVEL_INTO_PLANES && tasks->counts.units > 0)
        status = store(tasks, call, result);
    return status;
}

gravel_status gravel_tasks_start(gravel_tasks *tasks, const gravel_tasks_call *call, gravel_ticket **ticket)
{
    gravel_tasks_call taken = GRAVEL_TASKS_CALL_INIT;
    gv_tasks_ticket *t = NULL;
    if (ticket)
        *ticket = NULL;
    if (!tasks || !call)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_tasks_start needs tasks and a call");
    gravel_status status = gv_options_take(&taken, sizeof taken, call, "gravel_tasks_call");
    if (!status) {
        taken.into = taken.into ? taken.into : GRAVEL_INTO_HOST;
        status = check(tasks, &taken, ticket != NULL);
    }
    if (!status && ticket)
        status = gv_tasks_take_ticket(tasks, taken.bodies->count, &t);
    if (status)
        return status;
    gv_worker_clear_stage(&tasks->worker, 0);
    status = submit(tasks, &taken, t);
    if (!status && t) {
        const gravel_frame *frame = &taken.bodies->frame;
        t->forces.pot = frame->mass / frame->length;
        t->forces.acc = t->forces.pot / frame->length;
        t->potential = taken.potential != 0;
        status = gv_force_ticket_finish(&t->forces, (taken.into & GRAVEL_INTO_HOST) != 0);
    }
    if (!status && !t && clFlush(gv_worker_queue(&tasks->worker)) != CL_SUCCESS)
        status = gv_fail(GRAVEL_ERR_OPENCL, "starting tasks on %s", tasks->limits.info.name);
    if (status && t)
        gravel_ticket_release(&t->forces.base);
    else if (ticket)
        *ticket = &t->forces.base;
    return status;
}
