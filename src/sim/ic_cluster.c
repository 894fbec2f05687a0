#include "sim/ic_cluster.h"

#include <math.h>

#include "sim/ic_energy.h"

static gravel_status check(size_t n, const gv_ic_stars *stars, const gv_ic_cluster *cluster)
{
    if (n == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s needs at least one body", cluster->name);
    if (stars->masses == GV_IC_EQUAL && (stars->mass_low > 0 || stars->mass_high > 0))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "--mass-low and --mass-high are the ends of a mass function: --masses "
                                            "salpeter or kroupa");
    if (!(stars->black_hole >= 0.0 && stars->black_hole <= 1e6))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "black hole: %g times the mass of all others: from 0 to 1e6",
                       stars->black_hole);
    return GRAVEL_OK;
}

/* The black hole is body 0, at rest in the centre. */
static gravel_status set_masses(gv_particles *p, uint64_t seed, const gv_ic_stars *stars)
{
    const size_t first = stars->black_hole > 0.0 ? 1 : 0;
    double sum = (double)(p->count - first), solar = 0.0;
    gravel_status status = GRAVEL_OK;
    for (size_t i = first; i < p->count; i++)
        p->m[i] = 1.0;
    if (stars->masses != GV_IC_EQUAL && p->count > first) {
        status = gv_ic_masses_draw(p, first, seed, stars, &sum);
        solar = sum * (1.0 + stars->black_hole);
    }
    if (first) {
        p->m[0] = sum > 0.0 ? stars->black_hole * sum : 1.0;
        sum += p->m[0];
    }
    for (size_t i = 0; i < p->count; i++)
        p->m[i] /= sum;
    if (stars->solar_mass)
        *stars->solar_mass = solar;
    return status;
}

/* v^2 + M / r: what circular motion around the black hole alone adds.  With it 2 K + W = 0 holds for the whole (the
 * virial theorem's term of the black hole is -sum m M / r), and no body becomes unbound (M / r is half of what
 * escapes). */
static void speed_up(gv_particles *p, const gv_ic_stars *stars, const gv_ic_cluster *cluster)
{
    const double pull = stars->black_hole * cluster->mass * cluster->virial_ratio / 0.5;
    for (size_t i = 1; i < p->count; i++) {
        const double r2 = p->x[i] * p->x[i] + p->y[i] * p->y[i] + p->z[i] * p->z[i];
        const double v2 = p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i];
        if (!(r2 > 0.0 && v2 > 0.0))
            continue;
        const double factor = sqrt(1.0 + pull / sqrt(r2) / v2);
        p->vx[i] *= factor;
        p->vy[i] *= factor;
        p->vz[i] *= factor;
    }
}

gravel_status gv_ic_cluster_make(size_t n, uint64_t seed, const gv_ic_stars *stars, const gv_ic_cluster *cluster,
                                 gv_particles *out, double *potential)
{
    gv_random random;
    *out = (gv_particles)GV_PARTICLES_INIT;
    gravel_status status = check(n, stars, cluster);
    if (!status)
        status = gv_particles_create(out, n, 1);
    if (status)
        return status;
    const size_t first = stars->black_hole > 0.0 ? 1 : 0;
    gv_random_seed(&random, seed);
    status = set_masses(out, seed, stars);
    if (!status)
        status = gv_ic_draw(out, first, n - first, &random, cluster->draw, cluster->model, stars->watch);
    if (!status && first)
        speed_up(out, stars, cluster);
    if (!status)
        status = gv_ic_potential_sphere(out, potential);
    if (status)
        gv_particles_free(out);
    return status;
}

void gv_ic_cluster_scale(gv_particles *p, double potential, double potential_wanted, double kinetic_wanted)
{
    gv_ic_centre(p);
    const double kinetic = gv_ic_kinetic(p);
    if (p->count > 1)
        gv_ic_scale(p, potential / potential_wanted, kinetic > 0.0 ? sqrt(kinetic_wanted / kinetic) : 1.0);
}
