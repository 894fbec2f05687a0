/* Disk galaxy: ic_disk.h and ic_sphere.h have the formulas, doc/theory.md what is neglected. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/ic.h"
#include "sim/ic_disk.h"
#include "sim/ic_draw.h"
#include "sim/ic_energy.h"
#include "sim/ic_sphere.h"

enum { DISK, BULGE, HALO };

typedef struct galaxy {
    gv_disk disk;
    gv_sphere bulge, halo;
    gv_sphere_grid spheres; /* potential of bulge and halo */
    gv_sphere_grid all;     /* of the disk's monopole as well */
} galaxy;

static gravel_status check_number(const char *name, double value, int zero_allowed)
{
    if ((value > 0.0 || (zero_allowed && value == 0.0)) && value <= 1e9)
        return GRAVEL_OK;
    return gv_fail(GRAVEL_ERR_ARGUMENT, "galaxy: %s = %g: must be above 0 and at most 1e9", name, value);
}

static gravel_status check(const gv_ic_galaxy_options *o)
{
    const struct {
        const char *name;
        double value;
        int zero_allowed;
    } number[] = {
        {"disk mass", o->disk_mass, 0},
        {"disk scale", o->disk_scale, 0},
        {"disk height", o->disk_height, 0},
        {"disk cut", o->disk_cut, 0},
        {"disk Q", o->disk_q, 1},
        {"bulge mass", o->bulge_mass, !o->bulge_share},
        {"bulge scale", o->bulge_scale, 0},
        {"bulge taper", o->bulge_taper, 0},
        {"halo mass", o->halo_mass, !o->halo_share},
        {"halo scale", o->halo_scale, 0},
        {"halo taper", o->halo_taper, 0},
        {"black hole", o->black_hole, 1},
    };
    for (size_t k = 0; k < sizeof number / sizeof number[0]; k++) {
        gravel_status status = check_number(number[k].name, number[k].value, number[k].zero_allowed);
        if (status)
            return status;
    }
    if (o->disk_cut < 0.01 * o->disk_scale)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "galaxy: disk cut = %g: must be at least a hundredth of the disk scale %g",
                       o->disk_cut, o->disk_scale);
    if (o->disk_share < 1 || o->bulge_share < 0 || o->halo_share < 0 || o->disk_share > 1000000 ||
        o->bulge_share > 1000000 || o->halo_share > 1000000)
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "galaxy: shares %d:%d:%d of the bodies: disk from 1, others from 0, to 1000000", o->disk_share,
                       o->bulge_share, o->halo_share);
    return GRAVEL_OK;
}

gravel_status gv_ic_galaxy_counts(size_t n, const gv_ic_galaxy_options *options, size_t counts[3])
{
    gv_ic_galaxy_options o = GV_IC_GALAXY_OPTIONS_INIT;
    if (options)
        o = *options;
    gravel_status status = check(&o);
    if (status)
        return status;
    const int share[3] = {o.disk_share, o.bulge_share, o.halo_share}, hole = o.black_hole > 0.0;
    int needed = 1 + (o.bulge_share > 0) + (o.halo_share > 0) + hole;
    if (n < (size_t)needed || n > INT32_MAX)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "galaxy: %zu bodies: from %d to %d", n, needed, INT32_MAX);
    n -= (size_t)hole;
    double sum = (double)share[0] + share[1] + share[2];
    for (int k = BULGE; k <= HALO; k++) {
        counts[k] = (size_t)floor((double)n * share[k] / sum + 0.5);
        if (share[k] && counts[k] == 0)
            counts[k] = 1;
    }
    while (counts[BULGE] + counts[HALO] >= n) /* a handful of bodies: the disk gets one from the largest */
        counts[counts[BULGE] > counts[HALO] ? BULGE : HALO]--;
    counts[DISK] = n - counts[BULGE] - counts[HALO];
    return GRAVEL_OK;
}

/* The grid reaches from 1e-4 of the smallest length (1e-8 of a cusp's mass lie inside) to 5 tapers (density down by
 * exp(-25)). */
static gravel_status galaxy_set(galaxy *g, const gv_ic_galaxy_options *o)
{
    double inner = fmin(o->disk_scale, fmin(o->bulge_scale, o->halo_scale)) * 1e-4;
    double outer = 5.0 * fmax(o->disk_cut, fmax(o->bulge_taper, o->halo_taper));
    gv_sphere_grid_set(&g->spheres, inner, outer);
    gv_sphere_set(&g->bulge, &g->spheres, "bulge", o->bulge_mass, o->bulge_scale, fmin(o->bulge_taper, outer));
    gv_sphere_set(&g->halo, &g->spheres, "halo", o->halo_mass, o->halo_scale, fmin(o->halo_taper, outer));
    /* beyond 20 scale lengths lie 4e-8 of an exponential disk: not one body of most */
    g->disk = (gv_disk){.mass = o->disk_mass,
                        .scale = o->disk_scale,
                        .height = o->disk_height,
                        .cut = fmin(o->disk_cut, 20.0 * o->disk_scale),
                        .toomre_q = o->disk_q};
    g->spheres.point = o->black_hole;
    g->all = g->spheres;
    for (int k = 0; k < GV_SPHERE_NODES; k++) {
        g->spheres.mass[k] =
            o->black_hole + (o->bulge_share ? g->bulge.mass[k] : 0.0) + (o->halo_share ? g->halo.mass[k] : 0.0);
        g->all.mass[k] = g->spheres.mass[k] + gv_disk_mass_inside(&g->disk, g->all.r[k]);
    }
    gv_sphere_potential(&g->all);
    gv_disk_set(&g->disk, &g->spheres);
    gravel_status status = o->bulge_share ? gv_sphere_invert(&g->bulge, &g->all) : GRAVEL_OK;
    if (!status && o->halo_share)
        status = gv_sphere_invert(&g->halo, &g->all);
    return status;
}

static void put(gv_particles *p, size_t i, double m, const double x[3], const double v[3])
{
    p->m[i] = m;
    p->x[i] = x[0];
    p->y[i] = x[1];
    p->z[i] = x[2];
    p->vx[i] = v[0];
    p->vy[i] = v[1];
    p->vz[i] = v[2];
}

typedef struct component {
    const galaxy *g;
    const gv_sphere *sphere; /* NULL: the disk */
    double mass;             /* of a body */
} component;

/* Disk bodies stay below 95 % of the escape speed. */
static void draw_body(const void *model, gv_random *random, gv_particles *p, size_t i)
{
    const component *c = model;
    double x[3], v[3];
    if (c->sphere) {
        gv_sphere_draw(c->sphere, &c->g->all, random, x, v);
    } else {
        gv_disk_draw_position(&c->g->disk, random, x);
        const double r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        gv_disk_draw_velocity(&c->g->disk, 0.95 * sqrt(2.0 * gv_sphere_psi_at(&c->g->all, r)), random, x, v);
    }
    put(p, i, c->mass, x, v);
}

/* Each component has random numbers of its own. */
static gravel_status draw_all(const galaxy *g, gv_particles *p, const size_t counts[3], uint64_t seed,
                              const gv_ic_watch *watch)
{
    const gv_sphere *const sphere[3] = {NULL, &g->bulge, &g->halo};
    const double mass[3] = {g->disk.mass, g->bulge.total, g->halo.total};
    gv_random random;
    gravel_status status = GRAVEL_OK;
    gv_random_seed(&random, seed);
    for (size_t k = 0, first = 0; k < 3 && !status; first += counts[k++]) {
        const component c = {g, sphere[k], mass[k] / (double)counts[k]};
        status = gv_ic_draw(p, first, counts[k], &random, draw_body, &c, watch);
        gv_random_long_jump(&random);
    }
    return status;
}

static gv_particles part(const gv_particles *p, size_t first, size_t count)
{
    return (gv_particles){count,
                          p->id + first,
                          p->m + first,
                          p->x + first,
                          p->y + first,
                          p->z + first,
                          p->vx + first,
                          p->vy + first,
                          p->vz + first,
                          NULL,
                          NULL,
                          NULL,
                          0.0,
                          GV_UNITS_NBODY,
                          1,
                          GV_BOX_NONE,
                          0.0,
                          0};
}

/* W of a large galaxy: the sum over shells of all bodies times the ratio of direct sum and shells of a sample (the
 * first bodies of every component, their masses raised, and the black hole), which corrects for the flat disk.  The
 * radii's scatter is the same in both sums of the sample and cancels in the ratio. */
static gravel_status potential(const gv_particles *p, const size_t components[3], double *w)
{
    const size_t holes = p->count - components[0] - components[1] - components[2];
    const size_t counts[4] = {components[0], components[1], components[2], holes};
    if (p->count <= GV_IC_DIRECT)
        return gv_ic_potential_direct(p, w);
    gv_particles sample;
    size_t kept[4], n = 0, from = 0;
    for (int k = 0; k < 4; k++) {
        kept[k] = (size_t)ceil((double)counts[k] * GV_IC_DIRECT / (double)p->count);
        n += kept[k];
    }
    gravel_status status = gv_particles_create(&sample, n, 1);
    if (status)
        return status;
    n = 0;
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < kept[k]; i++, n++) {
            sample.m[n] = p->m[from + i] * (double)counts[k] / (double)kept[k];
            sample.x[n] = p->x[from + i];
            sample.y[n] = p->y[from + i];
            sample.z[n] = p->z[from + i];
        }
        from += counts[k];
    }
    double direct = 0.0, shells = 1.0;
    status = gv_ic_potential_direct(&sample, &direct);
    if (!status)
        status = gv_ic_potential_shells(&sample, &shells);
    if (!status)
        status = gv_ic_potential_shells(p, w);
    *w *= direct / shells;
    gv_particles_free(&sample);
    return status;
}

/* To M = 1, E = -1/4: masses, lengths and speeds are scaled together, so that the orbits keep their shape. */
static gravel_status to_standard_units(gv_particles *p, const size_t counts[3])
{
    double mass = 0.0, w = 0.0;
    for (size_t i = 0; i < p->count; i++)
        mass += p->m[i];
    for (size_t i = 0; i < p->count; i++)
        p->m[i] /= mass;
    gravel_status status = potential(p, counts, &w);
    if (status)
        return status;
    /* the speeds still belong to the mass before */
    double kinetic = gv_ic_kinetic(p) / mass, length = (w + kinetic) / -0.25;
    if (!(length > 0.0))
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "galaxy: these %zu bodies are not bound, there are no standard units for them", p->count);
    gv_ic_scale(p, length, 1.0 / sqrt(mass * length));
    return GRAVEL_OK;
}

/* Each component by itself, so that none drifts through the others; with a black hole all together: bodies deep in its
 * field keep their distance. */
static void centre(gv_particles *p, const size_t counts[3])
{
    if (counts[0] + counts[1] + counts[2] < p->count) {
        gv_ic_centre(p);
        return;
    }
    for (size_t k = 0, first = 0; k < 3; first += counts[k++]) {
        gv_particles bodies = part(p, first, counts[k]);
        gv_ic_centre(&bodies);
    }
}

gravel_status gv_ic_galaxy(size_t n, uint64_t seed, const gv_ic_galaxy_options *options, gv_particles *out)
{
    gv_ic_galaxy_options o = GV_IC_GALAXY_OPTIONS_INIT;
    size_t counts[3];
    if (options)
        o = *options;
    *out = (gv_particles)GV_PARTICLES_INIT;
    gravel_status status = gv_ic_galaxy_counts(n, &o, counts);
    if (status)
        return status;
    galaxy *g = malloc(sizeof *g);
    if (!g)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the tables of the galaxy");
    status = galaxy_set(g, &o);
    if (!status)
        status = gv_particles_create(out, n, 1);
    if (status)
        goto done;

    status = draw_all(g, out, counts, seed, o.watch);
    if (!status && o.black_hole > 0.0)
        out->m[n - 1] = o.black_hole;
    if (!status)
        centre(out, counts);
    if (!status && o.standard_units)
        status = to_standard_units(out, counts);
    if (status)
        gv_particles_free(out);
done:
    free(g);
    return status;
}
