#include "cli/bench_periodic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/compute.h"
#include "cpu_ref/ewald.h"
#include "host/base/clock.h"

const char *const gv_periodic_stage[GV_PERIODIC_STAGES] = {
    "mesh_sort", "assign", "fft", "green", "interpolate", "keys", "sort", "build", "moments", "groups", "walk"};

typedef struct solvers {
    gravel_bodies *bodies;
    gravel_mesh *mesh;
    gravel_tree *tree;
} solvers;

static gravel_status open_bodies(const gv_periodic_setting *s, const gv_particles *p, gravel_bodies **bodies)
{
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    double *zero = calloc(p->count, sizeof *zero);
    options.precision = s->stored;
    options.capacity = p->count;
    gravel_status status = zero ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    if (!status)
        status = gravel_bodies_create(bodies, s->context, &options);
    if (!status)
        status = gravel_bodies_resize(*bodies, p->count);
    if (!status)
        status = gravel_bodies_write(*bodies, GRAVEL_POSITION, 0, p->count, &GRAVEL_ARRAY_SOA(p->x, p->y, p->z));
    if (!status)
        status = gravel_bodies_write(*bodies, GRAVEL_MASS, 0, p->count, &GRAVEL_ARRAY(p->m));
    if (!status)
        status = gravel_bodies_write(*bodies, GRAVEL_VELOCITY, 0, p->count, &GRAVEL_ARRAY_SOA(zero, zero, zero));
    free(zero);
    return status;
}

static gravel_status open_solvers(const gv_periodic_setting *s, const gv_particles *p, solvers *open)
{
    gravel_status status = open_bodies(s, p, &open->bodies);
    if (!status)
        status = gravel_mesh_create(&open->mesh, s->context, &s->mesh);
    if (!status)
        status = gravel_tree_create(&open->tree, s->context, &s->tree);
    if (status)
        return status;
    const gravel_view all = gravel_view_all(open->bodies);
    status = gravel_mesh_set_sources(open->mesh, &all);
    if (!status)
        status = gravel_mesh_set_own(open->mesh, 1);
    return status ? status : gravel_tree_set_sources(open->tree, &all);
}

static void close_solvers(solvers *open)
{
    gravel_mesh_release(open->mesh);
    gravel_tree_release(open->tree);
    gravel_bodies_release(open->bodies);
}

/* Forces of both ranges into the planes, and a drift of 0 so that the next step finds moved bodies; waits. */
static gravel_status step(const gv_periodic_setting *s, solvers *open)
{
    const gravel_view all = gravel_view_all(open->bodies);
    gravel_tree_call call;
    gravel_tree_call_init(&call);
    call.sinks = all;
    call.eps = s->eps;
    call.into = GRAVEL_INTO_PLANES | GRAVEL_INTO_ADD;
    call.last = s->tree.mac == GRAVEL_TREE_LAST;
    if (gv_signals_pending())
        return gv_fail(GRAVEL_ERR_CANCELLED, "stopped");
    /* all velocities are 0 */
    gravel_status status = gravel_bodies_advance(open->bodies, 0, 1);
    if (!status)
        status = gravel_mesh_forces(open->mesh, &all, GRAVEL_INTO_PLANES, NULL);
    if (!status)
        status = gravel_tree_walk(open->tree, &call, NULL);
    double one[3];
    return status ? status
                  : gravel_bodies_read(open->bodies, GRAVEL_ACCELERATION, 0, 1,
                                       &GRAVEL_ARRAY_OUT_SOA(one, one + 1, one + 2));
}

static gravel_status time_steps(const gv_periodic_setting *s, solvers *open, gv_periodic_result *r)
{
    gravel_mesh_timings m;
    gravel_tree_timings t;
    gravel_status status = step(s, open); /* compiles */
    r->step_s = r->cpu_s = INFINITY;
    for (int k = 0; k < s->repeats && !status; k++) {
        const double start = gv_now();
        const clock_t cpu = clock();
        status = step(s, open);
        r->step_s = fmin(r->step_s, gv_now() - start);
        r->cpu_s = fmin(r->cpu_s, (double)(clock() - cpu) / CLOCKS_PER_SEC);
    }
    if (!status)
        status = gravel_context_set_timing(s->context, 0, 1);
    if (!status)
        status = step(s, open);
    if (!status)
        status = gravel_mesh_get_timings(open->mesh, &m);
    if (!status)
        status = gravel_tree_get_timings(open->tree, &t);
    if (status)
        return status;
    const double stage[GV_PERIODIC_STAGES] = {m.sort, m.assign, m.fft,     m.green,  m.interpolate, t.keys,
                                              t.sort, t.build,  t.moments, t.groups, t.walk};
    memcpy(r->stage, stage, sizeof stage);
    status = gravel_context_set_timing(s->context, 0, 0);
    return status ? status : gravel_tree_get_counts(open->tree, &r->counts);
}

/* ------------------------------------------------------------------- errors */

static void quantiles(double *error, size_t n, double scale, double out[3])
{
    qsort(error, n, sizeof *error, gv_ascending);
    out[0] = error[n / 2] / scale;
    out[1] = error[n * 99 / 100] / scale;
    out[2] = error[n - 1] / scale;
}

/* Every step-th body: its place, its acceleration and the exact one. */
static gravel_status compare(const gv_periodic_setting *s, const gv_particles *p, const double *acc, size_t step,
                             size_t n, double *work, gv_periodic_result *r)
{
    const gv_ref_box box = {s->mesh.side, 0, s->eps,
                            s->tree.softening == GRAVEL_SPLINE ? GV_REF_SPLINE : GV_REF_PLUMMER};
    double *x = work, *exact = work + 3 * n, *relative = work + 6 * n, *error = work + 7 * n, rms = 0;
    int32_t *id = malloc(n * sizeof *id);
    if (!id)
        return gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    for (size_t k = 0; k < n; k++) {
        x[k] = p->x[k * step], x[n + k] = p->y[k * step], x[2 * n + k] = p->z[k * step];
        id[k] = p->id[k * step];
    }
    const gv_ref_particles from = {.n = p->count, .m = p->m, .id = p->id, .x = p->x, .y = p->y, .z = p->z};
    const gv_ref_particles at = {.n = n, .id = id, .x = x, .y = x + n, .z = x + 2 * n};
    const gv_ref_forces out = {.ax = exact, .ay = exact + n, .az = exact + 2 * n};
    const int failed = gv_ref_ewald(GV_REF_DOUBLE, &at, &from, &box, &out);
    free(id);
    if (failed)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for exact forces");
    for (size_t k = 0; k < n; k++) {
        double difference = 0, size = 0;
        for (size_t c = 0; c < 3; c++) {
            difference += pow(acc[c * p->count + k * step] - exact[c * n + k], 2);
            size += exact[c * n + k] * exact[c * n + k];
        }
        rms += size / (double)n;
        error[k] = sqrt(difference);
        relative[k] = error[k] / sqrt(size);
    }
    quantiles(relative, n, 1, r->body);
    quantiles(error, n, sqrt(rms), r->rms);
    r->errors = n;
    return GRAVEL_OK;
}

static gravel_status find_errors(const gv_periodic_setting *s, const gv_particles *p, solvers *open,
                                 gv_periodic_result *r)
{
    const size_t n = s->sample < p->count ? s->sample : p->count;
    double *acc = malloc(3 * p->count * sizeof *acc), *work = malloc(8 * n * sizeof *work);
    gravel_status status = acc && work ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
    if (!status)
        status = gravel_bodies_read(open->bodies, GRAVEL_ACCELERATION, 0, p->count,
                                    &GRAVEL_ARRAY_OUT_SOA(acc, acc + p->count, acc + 2 * p->count));
    if (!status)
        status = compare(s, p, acc, p->count / n, n, work, r);
    free(acc);
    free(work);
    return status;
}

gravel_status gv_bench_periodic(const gv_periodic_setting *setting, const gv_particles *bodies, gv_periodic_result *r)
{
    solvers open = {NULL, NULL, NULL};
    gravel_origin origin;
    memset(r, 0, sizeof *r);
    gravel_status status = open_solvers(setting, bodies, &open);
    if (!status)
        status = time_steps(setting, &open, r);
    if (!status)
        status = gravel_tree_get_configuration(open.tree, r->configuration, sizeof r->configuration, &origin);
    if (!status) {
        r->fft = gravel_mesh_get_fft(open.mesh);
        r->memory = (double)(gravel_mesh_get_memory(open.mesh) + gravel_tree_get_memory(open.tree));
    }
    if (!status && setting->sample > 0)
        status = find_errors(setting, bodies, &open, r);
    close_solvers(&open);
    return status;
}
