#include "sim/diagnose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_ref/parallel.h"
#include "sim/neighbours.h"
#include "sim/shells.h"

static const double PI = 3.14159265358979323846;

/* ------------------------------------------------------------------- sums */

void gv_diagnose_totals(const gv_particles *p, gv_totals *t)
{
    const double *const x[3] = {p->x, p->y, p->z}, *const v[3] = {p->vx, p->vy, p->vz};
    memset(t, 0, sizeof *t);
    t->mass_min = p->count ? p->m[0] : 0.0;
    for (size_t i = 0; i < p->count; i++) {
        t->mass += p->m[i];
        t->mass_min = fmin(t->mass_min, p->m[i]);
        t->mass_max = fmax(t->mass_max, p->m[i]);
        for (int c = 0; c < 3; c++) {
            t->x[c] += p->m[i] * x[c][i];
            t->v[c] += v[c] ? p->m[i] * v[c][i] : 0.0;
        }
    }
    for (int c = 0; c < 3 && t->mass > 0.0; c++) {
        t->x[c] /= t->mass;
        t->v[c] /= t->mass;
    }
    for (size_t i = 0; p->vx && i < p->count; i++) {
        double r[3], u[3];
        for (int c = 0; c < 3; c++) {
            r[c] = x[c][i] - t->x[c];
            u[c] = v[c][i] - t->v[c];
        }
        for (int c = 0; c < 3; c++)
            t->angular_momentum[c] += p->m[i] * (r[(c + 1) % 3] * u[(c + 2) % 3] - r[(c + 2) % 3] * u[(c + 1) % 3]);
    }
}

void gv_diagnose_energies(const gv_particles *p, const double *potential, gv_energies *e)
{
    const double gravity = gv_units_gravity(&p->units);
    gv_totals t;
    gv_diagnose_totals(p, &t);
    *e = (gv_energies){0};
    for (size_t i = 0; i < p->count; i++) {
        if (p->vx) {
            const double u = p->vx[i] - t.v[0], v = p->vy[i] - t.v[1], w = p->vz[i] - t.v[2];
            e->kinetic += 0.5 * p->m[i] * (u * u + v * v + w * w);
        }
        e->potential += 0.5 * p->m[i] * gravity * potential[i];
    }
    e->total = e->kinetic + e->potential;
    e->virial_ratio = e->potential < 0.0 ? e->kinetic / -e->potential : NAN;
}

/* ------------------------------------------------------------------- core */

gravel_status gv_surroundings_find(const gv_particles *p, gv_surroundings *around)
{
    const size_t room = p->count ? p->count : 1;
    *around = (gv_surroundings){.count = p->count};
    around->index = malloc(room * GV_CORE_NEIGHBOURS * sizeof *around->index);
    around->radius = malloc(room * sizeof *around->radius);
    gravel_status status = GRAVEL_OK;
    if (!around->index || !around->radius)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for the neighbours of %zu particles", p->count);
    if (!status)
        status = gv_neighbours_find(p, GV_CORE_NEIGHBOURS, around->index, around->radius);
    if (status)
        gv_surroundings_free(around);
    return status;
}

void gv_surroundings_free(gv_surroundings *around)
{
    free(around->index);
    free(around->radius);
    *around = (gv_surroundings){0};
}

/* Six bodies at one place have no volume: such a body counts with the smallest sphere that a double can cube. */
static double density_at(const gv_particles *p, const gv_surroundings *around, size_t i)
{
    const uint32_t *neighbour = around->index + i * GV_CORE_NEIGHBOURS;
    const double r = fmax(around->radius[i], 1e-100);
    double mass = 0.0;
    for (int k = 0; k < GV_CORE_NEIGHBOURS - 1; k++)
        mass += p->m[neighbour[k]];
    return mass / (4.0 / 3.0 * PI * r * r * r);
}

static void core_without_density(const gv_particles *p, gv_core *core)
{
    gv_totals t;
    gv_diagnose_totals(p, &t);
    memcpy(core->centre, t.x, sizeof t.x);
    memcpy(core->velocity, t.v, sizeof t.v);
    core->radius = core->density = NAN;
}

void gv_diagnose_core(const gv_particles *p, const gv_surroundings *around, gv_core *core)
{
    const double *const x[3] = {p->x, p->y, p->z}, *const v[3] = {p->vx, p->vy, p->vz};
    double sum = 0.0, square = 0.0, distance = 0.0;
    *core = (gv_core){{0.0}, {0.0}, 0.0, 0.0};
    for (size_t i = 0; p->count > GV_CORE_NEIGHBOURS && i < p->count; i++) {
        const double rho = density_at(p, around, i);
        sum += rho;
        square += rho * rho;
        for (int c = 0; c < 3; c++) {
            core->centre[c] += rho * x[c][i];
            core->velocity[c] += v[c] ? rho * v[c][i] : 0.0;
        }
    }
    if (!(sum > 0.0)) {
        core_without_density(p, core);
        return;
    }
    for (int c = 0; c < 3; c++) {
        core->centre[c] /= sum;
        core->velocity[c] /= sum;
    }
    for (size_t i = 0; i < p->count; i++) {
        const double dx = p->x[i] - core->centre[0], dy = p->y[i] - core->centre[1], dz = p->z[i] - core->centre[2];
        distance += density_at(p, around, i) * sqrt(dx * dx + dy * dy + dz * dz);
    }
    core->radius = distance / sum;
    core->density = square / sum;
}

/* -------------------------------------------------------- Lagrangian radii */

gravel_status gv_diagnose_lagrange(const gv_particles *p, const double centre[3], const double *share, int shares,
                                   double *radius)
{
    gv_shell *s;
    double total = 0.0, inside = 0.0;
    gravel_status status = gv_shells_sorted(p, centre, &s);
    if (status)
        return status;
    for (size_t i = 0; i < p->count; i++)
        total += p->m[i];
    size_t at = 0;
    for (int k = 0; k < shares; k++) {
        /* the last shares must not be missed by what rounding takes from the sum */
        while (at < p->count && inside < share[k] * total * (1.0 - 1e-12))
            inside += s[at++].m;
        radius[k] = at > 0 ? s[at - 1].r : 0.0;
    }
    free(s);
    return GRAVEL_OK;
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

/* The closest of bodies begin ... end - 1 with their neighbours. */
static int binaries_of(const gv_particles *p, const gv_surroundings *around, size_t begin, size_t end, int room,
                       gv_binary *binary)
{
    int count = 0;
    for (size_t i = begin; i < end; i++)
        for (int k = 0; k < GV_CORE_NEIGHBOURS; k++) {
            const uint32_t j = around->index[i * GV_CORE_NEIGHBOURS + (size_t)k];
            gv_binary pair;
            if (j == GV_NO_NEIGHBOUR || !elements(p, i, j, &pair))
                continue;
            if (count == room && pair.semi_major_axis >= binary[room - 1].semi_major_axis)
                continue;
            count = insert(binary, count, room, &pair);
        }
    return count;
}

/* Neighbours stand anywhere in memory, which all cores wait for at once.  Each chunk has a list of its own. */
enum { CHUNK = 4096 };

typedef struct binary_job {
    const gv_particles *p;
    const gv_surroundings *around;
    int room, *count;
    gv_binary *list; /* [chunks][room] */
} binary_job;

static void binaries_in_chunks(void *arg, size_t begin, size_t end)
{
    const binary_job *job = arg;
    for (size_t c = begin; c < end; c++) {
        const size_t first = c * CHUNK, left = job->p->count - first;
        job->count[c] = binaries_of(job->p, job->around, first, first + (left < CHUNK ? left : CHUNK), job->room,
                                    job->list + c * (size_t)job->room);
    }
}

int gv_diagnose_binaries(const gv_particles *p, const gv_surroundings *around, int room, gv_binary *binary)
{
    const size_t chunks = (p->count + CHUNK - 1) / CHUNK;
    if (!p->vx || room < 1)
        return 0;
    binary_job job = {p, around, room, malloc((chunks ? chunks : 1) * sizeof(int)),
                      malloc((chunks ? chunks : 1) * (size_t)room * sizeof *binary)};
    int count = 0;
    if (job.count && job.list) {
        gv_ref_parallel(chunks, 4e-7 * (double)p->count, binaries_in_chunks, &job);
        for (size_t c = 0; c < chunks; c++)
            for (int k = 0; k < job.count[c]; k++)
                count = insert(binary, count, room, &job.list[c * (size_t)room + (size_t)k]);
    } else {
        count = binaries_of(p, around, 0, p->count, room, binary);
    }
    free(job.count);
    free(job.list);
    return count;
}

int gv_diagnose_nearest(const gv_particles *p, const gv_surroundings *around, size_t pair[2], double *distance)
{
    double least = INFINITY;
    for (size_t i = 0; i < p->count; i++) {
        const uint32_t j = around->index[i * GV_CORE_NEIGHBOURS];
        if (j == GV_NO_NEIGHBOUR)
            continue;
        const double dx = p->x[j] - p->x[i], dy = p->y[j] - p->y[i], dz = p->z[j] - p->z[i];
        const double r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < least) {
            least = r2;
            pair[0] = i;
            pair[1] = j;
        }
    }
    *distance = sqrt(least);
    return least < INFINITY;
}
