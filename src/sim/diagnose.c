#include "sim/diagnose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/pieces.h"

static const double PI = 3.14159265358979323846;

/* ------------------------------------------------------------------- sums */

/* mass, m x, m v; -smallest and largest mass */
static void add_mass(const void *user, size_t first, size_t count, double *sum)
{
    const gv_particles *p = user;
    const double *const of[6] = {p->x, p->y, p->z, p->vx, p->vy, p->vz};
    for (size_t i = first; i < first + count; i++) {
        const double m = p->m[i];
        sum[0] += m;
        for (int c = 0; c < (p->vx ? 6 : 3); c++)
            sum[1 + c] += m * of[c][i];
        sum[7] = -m > sum[7] ? -m : sum[7];
        sum[8] = m > sum[8] ? m : sum[8];
    }
}

typedef struct sums_of {
    const gv_particles *p;
    const gv_totals *t;
    const double *potential;
} sums_of;

/* angular momentum, twice the kinetic energy, m phi; each as far as there is what it needs */
static void add_motion(const void *user, size_t first, size_t count, double *sum)
{
    const sums_of *s = user;
    const gv_particles *p = s->p;
    for (size_t i = first; i < first + count; i++) {
        const double m = p->m[i];
        if (p->vx) {
            const double r[3] = {p->x[i] - s->t->x[0], p->y[i] - s->t->x[1], p->z[i] - s->t->x[2]};
            const double u[3] = {p->vx[i] - s->t->v[0], p->vy[i] - s->t->v[1], p->vz[i] - s->t->v[2]};
            sum[0] += m * (r[1] * u[2] - r[2] * u[1]);
            sum[1] += m * (r[2] * u[0] - r[0] * u[2]);
            sum[2] += m * (r[0] * u[1] - r[1] * u[0]);
            sum[3] += m * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        }
        if (s->potential)
            sum[4] += m * s->potential[i];
    }
}

static void take_mass(const gv_particles *p, gv_totals *t)
{
    double sum[9];
    gv_pieces_sum(p->count, 9, 2, add_mass, p, sum);
    *t = (gv_totals){.mass = sum[0]};
    if (p->count) {
        t->mass_min = -sum[7];
        t->mass_max = fmax(0.0, sum[8]);
    }
    for (int c = 0; c < 3; c++) {
        t->x[c] = t->mass > 0.0 ? sum[1 + c] / t->mass : sum[1 + c];
        t->v[c] = t->mass > 0.0 ? sum[4 + c] / t->mass : sum[4 + c];
    }
}

void gv_diagnose_sums(const gv_particles *p, const double *potential, gv_totals *t, gv_energies *e)
{
    const double gravity = gv_units_gravity(&p->units);
    double sum[5];
    take_mass(p, t);
    gv_pieces_sum(p->count, 5, 0, add_motion, &(sums_of){p, t, potential}, sum);
    memcpy(t->angular_momentum, sum, sizeof t->angular_momentum);
    if (!e)
        return;
    *e = (gv_energies){.kinetic = 0.5 * sum[3], .potential = 0.5 * gravity * sum[4]};
    e->total = e->kinetic + e->potential;
    e->virial_ratio = e->potential < 0.0 ? e->kinetic / -e->potential : NAN;
}

void gv_diagnose_totals(const gv_particles *p, gv_totals *t)
{
    gv_diagnose_sums(p, NULL, t, NULL);
}

void gv_diagnose_energies(const gv_particles *p, const double *potential, gv_energies *e)
{
    gv_totals t;
    gv_diagnose_sums(p, potential, &t, e);
}

/* ------------------------------------------------------------------- core */

typedef struct density_job {
    const gv_particles *p;
    gv_surroundings *around;
    double *mass; /* by slot */
} density_job;

static void take_masses(void *user, size_t first, size_t count)
{
    const density_job *job = user;
    for (size_t s = first; s < first + count; s++)
        job->mass[s] = job->p->m[job->around->near.at[s].body];
}

/* Six bodies at one place have no volume: such a body counts with the smallest sphere that a double can cube. */
static void find_densities(void *user, size_t first, size_t count)
{
    const density_job *job = user;
    for (size_t s = first; s < first + count; s++) {
        const uint32_t *neighbour = job->around->near.slot + s * GV_CORE_NEIGHBOURS;
        const double r = fmax(job->around->near.radius[s], 1e-100);
        double mass = 0.0;
        for (int k = 0; k < GV_CORE_NEIGHBOURS - 1; k++)
            mass += job->mass[neighbour[k]];
        job->around->density[s] = mass / (4.0 / 3.0 * PI * r * r * r);
    }
}

gravel_status gv_surroundings_find(const gv_particles *p, gv_surroundings *around)
{
    const size_t n = p->count;
    *around = (gv_surroundings){0};
    gravel_status status = gv_neighbours_find(p, GV_CORE_NEIGHBOURS, &around->near);
    if (status || n <= GV_CORE_NEIGHBOURS)
        return status;
    density_job job = {p, around, malloc(n * sizeof *job.mass)};
    around->density = malloc(n * sizeof *around->density);
    if (job.mass && around->density) {
        gv_pool *pool = gv_pieces_pool(n);
        gv_pieces_each(pool, n, take_masses, &job);
        gv_pieces_each(pool, n, find_densities, &job);
        gv_pool_release(pool);
    } else {
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for the densities of %zu particles", n);
        gv_surroundings_free(around);
    }
    free(job.mass);
    return status;
}

void gv_surroundings_free(gv_surroundings *around)
{
    gv_neighbours_free(&around->near);
    free(around->density);
    *around = (gv_surroundings){0};
}

static void core_without_density(const gv_particles *p, gv_core *core)
{
    gv_totals t;
    gv_diagnose_totals(p, &t);
    memcpy(core->centre, t.x, sizeof t.x);
    memcpy(core->velocity, t.v, sizeof t.v);
    core->radius = core->density = NAN;
}

typedef struct core_of {
    const gv_particles *p;
    const gv_surroundings *around;
    const gv_core *core;
} core_of;

/* rho, rho^2, rho x, rho v */
static void add_density(const void *user, size_t first, size_t count, double *sum)
{
    const core_of *o = user;
    const double *const v[3] = {o->p->vx, o->p->vy, o->p->vz};
    for (size_t s = first; s < first + count; s++) {
        const gv_point *at = &o->around->near.at[s];
        const double rho = o->around->density[s];
        sum[0] += rho;
        sum[1] += rho * rho;
        for (int c = 0; c < 3; c++) {
            sum[2 + c] += rho * at->x[c];
            sum[5 + c] += v[c] ? rho * v[c][at->body] : 0.0;
        }
    }
}

static void add_distance(const void *user, size_t first, size_t count, double *sum)
{
    const core_of *o = user;
    for (size_t s = first; s < first + count; s++) {
        const double *x = o->around->near.at[s].x, *c = o->core->centre;
        const double dx = x[0] - c[0], dy = x[1] - c[1], dz = x[2] - c[2];
        sum[0] += o->around->density[s] * sqrt(dx * dx + dy * dy + dz * dz);
    }
}

void gv_diagnose_core(const gv_particles *p, const gv_surroundings *around, gv_core *core)
{
    const core_of of = {p, around, core};
    double sum[8], distance;
    *core = (gv_core){{0.0}, {0.0}, 0.0, 0.0};
    gv_pieces_sum(around->density ? p->count : 0, 8, 0, add_density, &of, sum);
    if (!(sum[0] > 0.0)) {
        core_without_density(p, core);
        return;
    }
    for (int c = 0; c < 3; c++) {
        core->centre[c] = sum[2 + c] / sum[0];
        core->velocity[c] = sum[5 + c] / sum[0];
    }
    gv_pieces_sum(p->count, 1, 0, add_distance, &of, &distance);
    core->radius = distance / sum[0];
    core->density = sum[1] / sum[0];
}

/* --------------------------------------------------------------- binaries */

/* a = -mu / 2 E, e^2 = 1 + 2 E L^2 / mu^2, E and L of the relative motion, mu = G (m1 + m2); 0 if not bound. */
static int elements(const gv_particles *p, size_t i, size_t j, gv_binary *out)
{
    const double mu = gv_units_gravity(&p->units) * (p->m[i] + p->m[j]);
    const double r[3] = {p->x[j] - p->x[i], p->y[j] - p->y[i], p->z[j] - p->z[i]};
    const double v[3] = {p->vx[j] - p->vx[i], p->vy[j] - p->vy[i], p->vz[j] - p->vz[i]};
    double r2 = 0.0, v2 = 0.0, l2 = 0.0;
    for (int c = 0; c < 3; c++) {
        const double l = r[(c + 1) % 3] * v[(c + 2) % 3] - r[(c + 2) % 3] * v[(c + 1) % 3];
        r2 += r[c] * r[c];
        v2 += v[c] * v[c];
        l2 += l * l;
    }
    const double distance = sqrt(r2), energy = 0.5 * v2 - mu / distance;
    if (!(distance > 0.0) || !(energy < 0.0))
        return 0;
    const double axis = -0.5 * mu / energy;
    *out = (gv_binary){.a = i < j ? i : j,
                       .b = i < j ? j : i,
                       .distance = distance,
                       .semi_major_axis = axis,
                       .eccentricity = sqrt(fmax(0.0, 1.0 - l2 / (mu * axis))),
                       .period = 2.0 * PI * sqrt(axis * axis * axis / mu)};
    return 1;
}

/* Into the sorted list, unless it is there already: a pair comes up twice. */
static int insert(gv_binary *list, int count, int room, const gv_binary *item)
{
    int at = count;
    for (int k = 0; k < count; k++)
        if (list[k].a == item->a && list[k].b == item->b)
            return count;
    while (at > 0 && item->semi_major_axis < list[at - 1].semi_major_axis)
        at--;
    if (at >= room)
        return count;
    count += count < room;
    memmove(list + at + 1, list + at, (size_t)(count - 1 - at) * sizeof *list);
    list[at] = *item;
    return count;
}

typedef struct pair_job {
    const gv_particles *p;
    const gv_neighbours *near;
    size_t stride;    /* of the bodies that are looked at */
    int neighbours;   /* of each of them */
    double bound;     /* the last pair of the result has no longer axis */
    int room, *count; /* [pieces] */
    gv_binary *list;  /* [pieces][room] */
} pair_job;

static double square_between(const gv_point *a, const gv_point *b)
{
    const double dx = b->x[0] - a->x[0], dy = b->x[1] - a->x[1], dz = b->x[2] - a->x[2];
    return dx * dx + dy * dy + dz * dz;
}

/* An orbit of axis a reaches out to 2 a: pairs that are further apart than the last of a full list would allow are left
 * out without their elements (a thousandth is more than rounding takes). */
static void binaries_of_piece(void *user, size_t first, size_t count)
{
    const pair_job *job = user;
    const gv_neighbours *near = job->near;
    gv_binary *list = job->list + first / GV_PIECE * (size_t)job->room;
    int found = 0;
    for (size_t s = first; s < first + count; s += job->stride)
        for (int k = 0; k < job->neighbours; k++) {
            const uint32_t other = near->slot[s * (size_t)near->k + (size_t)k];
            gv_binary pair;
            if (other == GV_NO_NEIGHBOUR)
                break;
            const double own = found == job->room ? list[found - 1].semi_major_axis : INFINITY;
            const double reach = 2.001 * fmin(own, job->bound);
            if (square_between(&near->at[s], &near->at[other]) > reach * reach)
                break;
            if (elements(job->p, near->at[s].body, near->at[other].body, &pair))
                found = insert(list, found, job->room, &pair);
        }
    job->count[first / GV_PIECE] = found;
}

static int find_binaries(const pair_job *job, gv_pool *pool, gv_binary *binary)
{
    const size_t n = job->p->count;
    int found = 0;
    gv_pieces_each(pool, n, binaries_of_piece, (void *)job);
    for (size_t c = 0; c < gv_pieces_of(n); c++)
        for (int k = 0; k < job->count[c]; k++)
            found = insert(binary, found, job->room, &job->list[c * (size_t)job->room + (size_t)k]);
    return found;
}

gravel_status gv_diagnose_binaries(const gv_particles *p, const gv_surroundings *around, int room, gv_binary *binary,
                                   int *found)
{
    const size_t n = p->count, pieces = gv_pieces_of(n);
    *found = 0;
    if (!p->vx || room < 1)
        return GRAVEL_OK;
    pair_job job = {.p = p, .near = &around->near, .stride = 16, .neighbours = 1, .bound = INFINITY, .room = room};
    job.count = malloc((pieces + 1) * sizeof *job.count);
    job.list = malloc((pieces + 1) * (size_t)room * sizeof *job.list);
    gravel_status status = GRAVEL_OK;
    if (job.count && job.list) {
        gv_pool *pool = gv_pieces_pool(n);
        if (find_binaries(&job, pool, binary) == room) /* a part of all bounds the rest */
            job.bound = binary[room - 1].semi_major_axis;
        job.stride = 1;
        job.neighbours = GV_CORE_NEIGHBOURS;
        *found = find_binaries(&job, pool, binary);
        gv_pool_release(pool);
    } else {
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for the binaries of %zu particles", n);
    }
    free(job.count);
    free(job.list);
    return status;
}

/* The nearest pair of a piece; of those at one distance that of the first body of the set. */
typedef struct nearest {
    double r2;
    uint32_t a, b;
} nearest;

typedef struct nearest_job {
    const gv_neighbours *near;
    nearest *piece;
} nearest_job;

static int is_nearer(const nearest *one, const nearest *other)
{
    return one->r2 < other->r2 || (one->r2 == other->r2 && one->a < other->a);
}

static void nearest_of_piece(void *user, size_t first, size_t count)
{
    const nearest_job *job = user;
    nearest best = {INFINITY, 0, 0};
    for (size_t s = first; s < first + count; s++) {
        const uint32_t other = job->near->slot[s * (size_t)job->near->k];
        if (other == GV_NO_NEIGHBOUR)
            continue;
        const gv_point *at = &job->near->at[s], *to = &job->near->at[other];
        const nearest pair = {square_between(at, to), at->body, to->body};
        if (is_nearer(&pair, &best))
            best = pair;
    }
    job->piece[first / GV_PIECE] = best;
}

gravel_status gv_diagnose_nearest(const gv_surroundings *around, size_t pair[2], double *distance)
{
    const size_t n = around->near.count, pieces = gv_pieces_of(n);
    nearest best = {INFINITY, 0, 0};
    nearest_job job = {&around->near, malloc((pieces + 1) * sizeof *job.piece)};
    *distance = INFINITY;
    if (!job.piece)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the nearest pair of %zu particles", n);
    gv_pool *pool = gv_pieces_pool(n);
    gv_pieces_each(pool, n, nearest_of_piece, &job);
    gv_pool_release(pool);
    for (size_t k = 0; k < pieces; k++)
        if (is_nearer(&job.piece[k], &best))
            best = job.piece[k];
    free(job.piece);
    pair[0] = best.a;
    pair[1] = best.b;
    *distance = sqrt(best.r2);
    return GRAVEL_OK;
}
