/* Leapfrog steps with tree forces, whole calls on host arrays, forces on a few active bodies. */
#include <stdlib.h>
#include <string.h>

#include "cli/bench_step.h"
#include "gravel/tree.h"
#include "host/base/clock.h"

enum { ROW = 8 }; /* steps submitted at once: what a simulation does between outputs */

typedef struct tree_bench {
    const gv_step_setting *setting;
    gravel_bodies *bodies;
    gravel_tree *tree;
    gravel_tree_call call;
    double *out[4]; /* acceleration, potential */
    uint32_t *address;
    int row; /* steps submitted at once */
} tree_bench;

/* -------------------------------------------------------------------- runs */

/* Kick by the last forces, drift, forces: the second half of a step's kick is the first of the next. */
static gravel_status leapfrog(tree_bench *b, gravel_ticket **ticket)
{
    const double dt = b->setting->dt;
    gravel_status status = gravel_bodies_advance(b->bodies, dt, dt);
    return status ? status : gravel_tree_walk(b->tree, &b->call, ticket);
}

static gravel_status leapfrog_run(tree_bench *b)
{
    gravel_ticket *ticket = NULL;
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k < b->row && !status; k++)
        status = leapfrog(b, k == b->row - 1 ? &ticket : NULL);
    if (!status)
        status = gravel_ticket_wait(ticket);
    gravel_ticket_release(ticket);
    return status;
}

static gravel_status host_run(tree_bench *b)
{
    const gv_particles *p = b->setting->bodies;
    const gravel_vec pos = GRAVEL_VEC_SOA(p->x, p->y, p->z);
    const gravel_forces forces = {.acc = GRAVEL_VEC_OUT_SOA(b->out[0], b->out[1], b->out[2]), .pot = b->out[3]};
    gravel_status status = gravel_tree_move(b->tree, &pos);
    return status ? status : gravel_tree_forces(b->tree, b->setting->eps, &forces);
}

static gravel_status active_run(tree_bench *b)
{
    const gravel_forces forces = {.acc = GRAVEL_VEC_OUT_SOA(b->out[0], b->out[1], b->out[2]), .pot = b->out[3]};
    return gravel_tree_forces_active(b->tree, b->address, b->setting->active, b->setting->eps, &forces);
}

static gravel_status one_step(void *user, double *device_s, double *step_s)
{
    tree_bench *b = user;
    const double start = gv_now();
    gravel_status status;
    if (gv_signals_pending())
        return gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
    switch (b->setting->mode) {
    case GV_STEP_HOST:
        status = host_run(b);
        break;
    case GV_STEP_ACTIVE:
        status = active_run(b);
        break;
    default:
        status = leapfrog_run(b);
    }
    *device_s = *step_s = (gv_now() - start) / b->row;
    return status;
}

/* The same with events: device time of the force stages. */
static gravel_status device_times(tree_bench *b, gv_step_result *r)
{
    enum { RUNS = 9, WARM = 2 };
    double total[RUNS], walk[RUNS];
    gravel_status status = gravel_context_set_timing(b->setting->context, 0, 1);
    b->row = 1;
    for (int k = -WARM; k < RUNS && !status; k++) {
        gravel_tree_timings t;
        double device, step;
        status = one_step(b, &device, &step);
        if (!status)
            status = gravel_tree_get_timings(b->tree, &t);
        if (!status && k >= 0) {
            total[k] = b->setting->mode == GV_STEP_ACTIVE ? t.groups + t.walk : t.total;
            walk[k] = t.walk;
        }
    }
    if (status)
        return status;
    r->device_s = gv_median(total, RUNS);
    r->walk_s = gv_median(walk, RUNS);
    return gravel_context_set_timing(b->setting->context, 0, 0);
}

static gravel_status measure(tree_bench *b, gv_step_result *r)
{
    gv_timing timing;
    b->row = 1;
    gravel_status status = gv_timing_run(&b->setting->rule, one_step, b, &timing);
    r->call_s = timing.call.median;
    if (!status && r->mode == GV_STEP_LEAPFROG) {
        b->row = ROW;
        status = gv_timing_run(&b->setting->rule, one_step, b, &timing);
    }
    r->step_s = timing.call.median;
    r->step_least_s = timing.call.least;
    r->samples = timing.samples;
    if (!status)
        status = device_times(b, r);
    if (!status)
        status = gravel_tree_get_configuration(b->tree, r->configuration, sizeof r->configuration, NULL);
    return status;
}

/* ------------------------------------------------------------------ objects */

static gravel_status open_device(tree_bench *b)
{
    const gv_particles *p = b->setting->bodies;
    const gravel_plane plane[3] = {GRAVEL_POSITION, GRAVEL_VELOCITY, GRAVEL_MASS};
    const gravel_array from[3] = {GRAVEL_ARRAY_SOA(p->x, p->y, p->z), GRAVEL_ARRAY_SOA(p->vx, p->vy, p->vz),
                                  GRAVEL_ARRAY(p->m)};
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    options.precision = b->setting->stored;
    gravel_status status = gravel_bodies_create(&b->bodies, b->setting->context, &options);
    if (!status)
        status = gravel_bodies_update(b->bodies, NULL, 0, p->count, 3, plane, from);
    if (status)
        return status;
    const gravel_view all = gravel_view_all(b->bodies);
    gravel_tree_call_init(&b->call);
    b->call.sinks = all;
    b->call.eps = b->setting->eps;
    b->call.into = GRAVEL_INTO_PLANES;
    return gravel_tree_set_sources(b->tree, &all);
}

/* Active bodies are far apart, as those that are next in time are. */
static gravel_status open_host(tree_bench *b)
{
    const gv_particles *p = b->setting->bodies;
    const gravel_sources sources = {.count = p->count, .mass = p->m, .pos = GRAVEL_VEC_SOA(p->x, p->y, p->z)};
    const size_t active = b->setting->active;
    b->address = malloc(active * sizeof *b->address);
    int ok = b->address != NULL;
    for (int c = 0; c < 4; c++) {
        b->out[c] = malloc(p->count * sizeof(double));
        ok = ok && b->out[c];
    }
    if (!ok)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the forces of %zu bodies", p->count);
    for (size_t k = 0; k < active; k++)
        b->address[k] = (uint32_t)((double)k * ((double)p->count / (double)active));
    return gravel_tree_write(b->tree, &sources);
}

gravel_status gv_bench_step_tree(const gv_step_setting *setting, gv_step_result *result)
{
    tree_bench b = {.setting = setting};
    gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;
    options.theta = setting->theta;
    options.precision = setting->precision;
    options.configuration = setting->configuration;
    memset(result, 0, sizeof *result);
    result->mode = setting->mode;
    result->n = setting->bodies->count;
    result->active = setting->active;
    gravel_status status = gravel_tree_create(&b.tree, setting->context, &options);
    if (!status)
        status = setting->mode == GV_STEP_LEAPFROG ? open_device(&b) : open_host(&b);
    if (!status)
        status = measure(&b, result);
    gravel_tree_release(b.tree);
    gravel_bodies_release(b.bodies);
    for (int c = 0; c < 4; c++)
        free(b.out[c]);
    free(b.address);
    return status;
}
