/* Plummer sphere with the isotropic distribution function of Plummer (1911); sampling after Aarseth, Henon and Wielen
 * (1974).  In scale lengths, G = M = 1:
 *
 *   M(<r) = s^3 with s = r / sqrt(1 + r^2)         so s is the largest of three uniform numbers times s(cut)
 *   speed = q v_esc, v_esc^2 = 2 / sqrt(1 + r^2)    with density g(q) = q^2 (1 - q^2)^(7/2)
 *
 * Only sums, products and square roots occur: the particles' bits do not depend on the machine's mathematical library.
 */
#include <math.h>

#include "sim/ic_cluster.h"

/* g(q) <= g(sqrt(2/9)) = 0.09221 */
static double draw_speed(gv_random *random)
{
    for (;;) {
        double q = gv_random_unit(random), t = 1.0 - q * q;
        if (0.0923 * gv_random_unit(random) < q * q * t * t * t * sqrt(t))
            return q;
    }
}

static double draw_radius(gv_random *random, double s_cut)
{
    double s = 0.0;
    for (int k = 0; k < 3; k++)
        s = fmax(s, gv_random_unit(random));
    s *= s_cut;
    return s / sqrt(1.0 - s * s);
}

static void draw(const void *s_cut, gv_random *random, gv_particles *p, size_t i)
{
    const double r = draw_radius(random, *(const double *)s_cut);
    gv_random_vector(random, r, &p->x[i], &p->y[i], &p->z[i]);
    const double v = draw_speed(random) * sqrt(2.0 / sqrt(1.0 + r * r));
    gv_random_vector(random, v, &p->vx[i], &p->vy[i], &p->vz[i]);
}

gravel_status gv_ic_plummer(size_t n, uint64_t seed, const gv_ic_plummer_options *options, gv_particles *out)
{
    gv_ic_plummer_options o = GV_IC_PLUMMER_OPTIONS_INIT;
    if (options)
        o = *options;
    *out = (gv_particles)GV_PARTICLES_INIT;
    if (!(o.cut > 0.0 && o.cut <= 1e6))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "cut = %g scale lengths: must be above 0 and at most 1e6", o.cut);
    const double s_cut = o.cut / sqrt(1.0 + o.cut * o.cut);
    const gv_ic_cluster cluster = {"a Plummer sphere", draw, &s_cut, 1.0, 0.5};
    double potential = 0.0;
    gravel_status status = gv_ic_cluster_make(n, seed, &o.stars, &cluster, out, &potential);
    if (!status)
        gv_ic_cluster_scale(out, potential, -0.5, 0.25);
    return status;
}
