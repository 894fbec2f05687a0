/* Homogeneous sphere, G = M = R = 1 while it is drawn: M(<r) = r^3, potential energy -3/5.
 *
 * Hydrostatic equilibrium, d(rho sigma^2)/dr = -rho r with constant rho: sigma^2 = (1 - r^2) / 2, and the kinetic
 * energy is 3/10.  A ball of velocities with radius sqrt(5) sigma has the dispersion sigma in each direction; its
 * fastest body, 5 (1 - r^2) / 2, stays below the escape speed, 3 - r^2.
 */
#include <math.h>

#include "sim/ic_cluster.h"

static void draw(const void *model, gv_random *random, gv_particles *p, size_t i)
{
    (void)model;
    double x[3], v[3];
    gv_random_ball(random, x);
    gv_random_ball(random, v);
    double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    double v_max = sqrt(2.5 * (r2 < 1.0 ? 1.0 - r2 : 0.0));
    p->x[i] = x[0];
    p->y[i] = x[1];
    p->z[i] = x[2];
    p->vx[i] = v_max * v[0];
    p->vy[i] = v_max * v[1];
    p->vz[i] = v_max * v[2];
}

static gravel_status check(const gv_ic_uniform_options *o)
{
    if (!(o->virial_ratio >= 0.0 && o->virial_ratio <= 1e6))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "virial ratio %g: must be from 0 (cold) to 1e6", o->virial_ratio);
    if (!(o->radius >= 0.0 && o->radius <= 1e100))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "radius %g: must be 0 (standard units) or above, at most 1e100", o->radius);
    if (o->radius == 0.0 && o->virial_ratio >= 1.0)
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "virial ratio %g: not bound, so that no radius gives E = -1/4; give the radius",
                       o->virial_ratio);
    return GRAVEL_OK;
}

gravel_status gv_ic_uniform(size_t n, uint64_t seed, const gv_ic_uniform_options *options, gv_particles *out)
{
    gv_ic_uniform_options o = GV_IC_UNIFORM_OPTIONS_INIT;
    if (options)
        o = *options;
    *out = (gv_particles)GV_PARTICLES_INIT;
    const gv_ic_cluster cluster = {"a uniform sphere", draw, NULL, 1.0, o.virial_ratio};
    double potential = 0.0;
    gravel_status status = check(&o);
    if (!status)
        status = gv_ic_cluster_make(n, seed, &o.stars, &cluster, out, &potential);
    if (status)
        return status;
    /* E = W (1 - ratio) = -1/4 */
    const double wanted = o.radius > 0.0 ? potential / o.radius : -0.25 / (1.0 - o.virial_ratio);
    gv_ic_cluster_scale(out, potential, wanted, -o.virial_ratio * wanted);
    return GRAVEL_OK;
}
