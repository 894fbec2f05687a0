/* Steps of a box, bodies that are looked at, energies, state. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/clock.h"
#include "sim/checkpoint.h"
#include "sim/cosmo_inside.h"
#include "sim/pieces.h"

/* ------------------------------------------------------------------- steps */

static void charge(gv_cosmo_run *r, gv_run_clock clock, double *since)
{
    const double now = gv_now();
    r->clock[clock] += now - *since;
    *since = now;
}

/* Masses times G, momenta a^(3/2) u. */
static gravel_status write_scaled(gv_cosmo_run *r)
{
    const gv_particles *p = &r->p;
    const double scale = pow(r->start, 1.5);
    double *const to = malloc(3 * p->count * sizeof *to), *const from[3] = {p->vx, p->vy, p->vz};
    if (!to)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu momenta", p->count);
    for (size_t k = 0; k < p->count; k++)
        to[k] = r->gravity * p->m[k];
    gravel_status status = gravel_bodies_write(r->bodies, GRAVEL_MASS, 0, p->count, &GRAVEL_ARRAY(to));
    for (int c = 0; c < 3; c++)
        for (size_t k = 0; k < p->count; k++)
            to[(size_t)c * p->count + k] = scale * from[c][k];
    if (!status)
        status = gravel_bodies_write(r->bodies, GRAVEL_VELOCITY, 0, p->count,
                                     &GRAVEL_ARRAY_SOA(to, to + p->count, to + 2 * p->count));
    free(to);
    return status;
}

gravel_status gv_cosmo_run_start(gv_cosmo_run *r)
{
    const gv_particles *p = &r->p;
    const size_t n = p->count;
    double since = gv_now();
    gravel_status status = gravel_bodies_resize(r->bodies, n);
    if (!status)
        status = gravel_bodies_write(r->bodies, GRAVEL_POSITION, 0, n, &GRAVEL_ARRAY_SOA(p->x, p->y, p->z));
    if (!status)
        status = gravel_bodies_write(r->bodies, GRAVEL_ID, 0, n, &(gravel_array){p->id, NULL, NULL, 1, GRAVEL_I32});
    if (!status)
        status = write_scaled(r);
    charge(r, GV_CLOCK_TRANSFER, &since);
    if (!status)
        status = gravel_leapfrog_start(r->leapfrog, 0);
    charge(r, GV_CLOCK_SUBMIT, &since);
    return status;
}

gravel_status gv_cosmo_run_get_next(gv_cosmo_run *r, double *time)
{
    double since = gv_now();
    const gravel_status status = gravel_leapfrog_get_next(r->leapfrog, time);
    charge(r, GV_CLOCK_WAIT, &since);
    return status;
}

/* Of a block at `time`: the mesh's are of another one where it took no part. */
static gravel_status add_times(gv_cosmo_run *r, double time)
{
    gravel_tree_timings tree;
    gravel_mesh_timings mesh;
    gv_cosmo_times *t = &r->times;
    gravel_status status = gravel_tree_get_timings(r->tree, &tree);
    if (status)
        return status;
    t->tree_walk += tree.walk;
    t->tree_build += tree.total - tree.walk;
    if (r->s.mesh_step > 0 && fmod(time, r->s.mesh_step) != 0)
        return GRAVEL_OK;
    status = gravel_mesh_get_timings(r->mesh, &mesh);
    if (status)
        return status;
    t->mesh_sort += mesh.sort;
    t->mesh_assign += mesh.assign;
    t->mesh_fft += mesh.fft;
    t->mesh_green += mesh.green;
    t->mesh_interpolate += mesh.interpolate;
    return GRAVEL_OK;
}

gravel_status gv_cosmo_run_step(gv_cosmo_run *r, gravel_hermite_step_info *info)
{
    double since = gv_now();
    gravel_hermite_step_info here = {0, 0};
    gravel_status status = gravel_leapfrog_step(r->leapfrog, &here);
    if (!status && r->s.timed)
        status = add_times(r, here.time);
    if (info)
        *info = here;
    charge(r, GV_CLOCK_SUBMIT, &since);
    return status;
}

typedef struct place_job {
    double *const *x, *const *v;
    double side, scale;
} place_job;

/* Positions into the box, momenta to velocities. */
static void place(void *user, size_t first, size_t count)
{
    const place_job *job = user;
    for (int c = 0; c < 3; c++)
        for (size_t k = first; k < first + count; k++) {
            const double x = job->x[c][k], in = x < 0 || x >= job->side ? x - job->side * floor(x / job->side) : x;
            job->x[c][k] = in < job->side ? in : 0;
            job->v[c][k] *= job->scale;
        }
}

gravel_status gv_cosmo_run_look(gv_cosmo_run *r, double time)
{
    gv_particles *p = &r->p;
    const size_t n = p->count;
    double since = gv_now();
    gravel_status status = gravel_leapfrog_get_bodies_at(r->leapfrog, time, &r->seen);
    if (!status)
        status = gravel_bodies_read(r->seen, GRAVEL_POSITION, 0, n, &GRAVEL_ARRAY_OUT_SOA(p->x, p->y, p->z));
    if (!status)
        status = gravel_bodies_read(r->seen, GRAVEL_VELOCITY, 0, n, &GRAVEL_ARRAY_OUT_SOA(p->vx, p->vy, p->vz));
    if (status)
        return status;
    double *const x[3] = {p->x, p->y, p->z}, *const v[3] = {p->vx, p->vy, p->vz};
    p->time = r->start * exp(time);
    for (size_t k = 0; k < (size_t)r->s.outputs; k++) /* exp and log round */
        if (fabs(p->time / r->s.output[k] - 1) < 1e-12)
            p->time = r->s.output[k];
    gv_pool *pool = gv_pieces_pool(n);
    gv_pieces_each(pool, n, place, &(place_job){x, v, p->box.side, pow(p->time, -1.5)});
    gv_pool_release(pool);
    charge(r, GV_CLOCK_TRANSFER, &since);
    return GRAVEL_OK;
}

/* ---------------------------------------------------------------- energies */

/* Between two lines the kinetic energy goes as a power of a. */
static double integrate(const gv_cosmo_line *from, const gv_cosmo_line *to)
{
    const double b = from->a, e = to->a, k0 = from->kinetic, k1 = to->kinetic;
    if (!(k0 > 0) || !(k1 > 0) || !(e > b))
        return 0.5 * (k0 + k1) * (e - b);
    const double power = log(k1 / k0) / log(e / b) + 1;
    return fabs(power) < 1e-6 ? k0 * b * log(e / b) : (e * k1 - b * k0) / power;
}

/* m v^2, m |v|, m phi, m v */
static void add_energies(const void *user, size_t first, size_t count, double *sum)
{
    const gv_cosmo_run *r = user;
    const gv_particles *p = &r->p;
    for (size_t k = first; k < first + count; k++) {
        const double v[3] = {p->vx[k], p->vy[k], p->vz[k]}, v2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        sum[0] += p->m[k] * v2;
        sum[1] += p->m[k] * sqrt(v2);
        sum[2] += p->m[k] * r->potential[k];
        for (int c = 0; c < 3; c++)
            sum[3 + c] += p->m[k] * v[c];
    }
}

static gravel_status sum_energies(gv_cosmo_run *r, gv_cosmo_line *line)
{
    const gv_particles *p = &r->p;
    double sum[6];
    if (!r->potential && !(r->potential = malloc(p->count * sizeof *r->potential)))
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu potentials", p->count);
    const gravel_status status =
        gravel_bodies_read(r->seen, GRAVEL_POTENTIAL, 0, p->count, &GRAVEL_ARRAY_OUT(r->potential));
    if (status)
        return status;
    gv_pieces_sum(p->count, 6, 0, add_energies, r, sum);
    const double *total = sum + 3;
    line->a = p->time;
    line->kinetic = 0.5 * sum[0] * p->time; /* p^2 / a^2 = a u^2 */
    line->potential = 0.5 * sum[2] / p->time;
    line->momentum = sum[1] > 0 ? sqrt(total[0] * total[0] + total[1] * total[1] + total[2] * total[2]) / sum[1] : 0;
    return GRAVEL_OK;
}

gravel_status gv_cosmo_run_measure(gv_cosmo_run *r)
{
    double since = gv_now();
    gravel_hermite_counts counts;
    gv_cosmo_line line = {0};
    gravel_status status = sum_energies(r, &line);
    gravel_leapfrog_get_counts(r->leapfrog, &counts);
    line.blocks = (double)counts.blocks;
    line.steps = (double)counts.steps;
    if (!status && !isfinite(line.kinetic + line.potential))
        status = gv_fail(GRAVEL_ERR_STATE,
                         "the energy at redshift %.6g is not a number: shorter steps (--eta, "
                         "--step-max) or more softening may help",
                         1 / line.a - 1);
    const double aw = line.a * line.potential;
    if (r->lines++ == 0) {
        r->first = line.a * line.kinetic + aw;
        r->first_w = aw;
    } else {
        r->integral += integrate(&r->line, &line);
        const double off = line.a * line.kinetic + aw + r->integral - r->first;
        line.error = aw == r->first_w ? 0 : off / fabs(aw - r->first_w);
    }
    r->line = line;
    charge(r, GV_CLOCK_DIAGNOSE, &since);
    return status;
}

/* ------------------------------------------------------------------- state */

/* What a run knows beside its bodies, as text: all numbers in full. */
gravel_status gv_cosmo_run_save(gv_cosmo_run *r, gv_checkpoint *c)
{
    enum { ROOM = 1024 };
    const gv_cosmology *u = &r->p.box.cosmology;
    const gv_cosmo_line *l = &r->line;
    gravel_status status = gravel_leapfrog_get_state(r->leapfrog, &c->state);
    if (status)
        return status;
    c->bodies_size = gravel_bodies_get_state_size(r->bodies);
    c->bodies = malloc(c->bodies_size);
    c->choices = calloc(1, ROOM);
    if (!c->bodies || !c->choices) {
        free(c->bodies);
        free(c->choices);
        c->bodies = c->choices = NULL;
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a checkpoint of %zu bodies", r->p.count);
    }
    snprintf(c->choices, ROOM, "box %d %a %a %a %a %a %a %a line %d %a %a %a %a %a %a %a %a %a %a", u->transfer, u->h,
             u->omega_m, u->omega_l, u->omega_b, u->n_s, u->sigma_8, r->p.box.side, r->lines, l->a, l->kinetic,
             l->potential, l->error, l->momentum, l->blocks, l->steps, r->first, r->first_w, r->integral);
    c->particles = r->p; /* borrowed: the caller frees what was allocated here only */
    c->particles.time = r->start;
    return gravel_bodies_save(r->bodies, c->bodies);
}

gravel_status gv_cosmo_read_box(gv_checkpoint *c)
{
    gv_box *b = &c->particles.box;
    gv_cosmology *u = &b->cosmology;
    if (!c->choices || sscanf(c->choices, "box %d %la %la %la %la %la %la %la", &u->transfer, &u->h, &u->omega_m,
                              &u->omega_l, &u->omega_b, &u->n_s, &u->sigma_8, &b->side) != 8)
        return gv_fail(GRAVEL_ERR_FORMAT, "the checkpoint is not that of a run with --cosmology");
    return GRAVEL_OK;
}

gravel_status gv_cosmo_run_restore(gv_cosmo_run *r, const gv_checkpoint *c)
{
    gv_cosmo_line *l = &r->line;
    double since = gv_now();
    const char *line = c->choices ? strstr(c->choices, "line ") : NULL;
    if (!line ||
        sscanf(line, "line %d %la %la %la %la %la %la %la %la %la %la", &r->lines, &l->a, &l->kinetic, &l->potential,
               &l->error, &l->momentum, &l->blocks, &l->steps, &r->first, &r->first_w, &r->integral) != 11)
        return gv_fail(GRAVEL_ERR_FORMAT, "the checkpoint is not that of a run with --cosmology");
    gravel_status status = gravel_bodies_restore(r->bodies, c->bodies, c->bodies_size);
    if (!status && gravel_bodies_get_count(r->bodies) != r->p.count)
        status = gv_fail(GRAVEL_ERR_FORMAT, "the checkpoint is damaged: %zu bodies, %zu ids",
                         gravel_bodies_get_count(r->bodies), r->p.count);
    if (!status)
        status = gravel_leapfrog_resume(r->leapfrog, &c->state);
    memcpy(r->clock, c->at.clock, sizeof r->clock);
    charge(r, GV_CLOCK_TRANSFER, &since);
    return status;
}
