/* Few bodies on orbits, and two galaxies on one. */
#include <math.h>

#include "sim/ic.h"
#include "sim/ic_orbit.h"

/* r = p / (1 + e cos nu), p = q (1 + e); v_r = sqrt(mu / p) e sin nu, v_t = sqrt(mu / p) (1 + e cos nu); approaching:
 * nu < 0.  A circle is at its pericentre everywhere. */
int gv_orbit_at(double mu, double e, double pericentre, double distance, double x[3], double v[3])
{
    const double p = pericentre * (1.0 + e), scale = sqrt(mu / p);
    double cosine = e > 0.0 ? (p / distance - 1.0) / e : 1.0;
    if (distance < pericentre * (1.0 - 1e-12) || cosine < -1.0 - 1e-12 ||
        (e == 0.0 && distance > pericentre * 1.000001))
        return 0;
    cosine = fmin(fmax(cosine, -1.0), 1.0);
    const double sine = -sqrt(1.0 - cosine * cosine), radial = scale * e * sine,
                 tangential = scale * (1.0 + e * cosine);
    x[0] = distance * cosine;
    x[1] = distance * sine;
    v[0] = radial * cosine - tangential * sine;
    v[1] = radial * sine + tangential * cosine;
    x[2] = v[2] = 0.0;
    return 1;
}

static void put(gv_particles *p, size_t i, const double x[3], const double v[3], double factor)
{
    p->x[i] = factor * x[0];
    p->y[i] = factor * x[1];
    p->z[i] = factor * x[2];
    p->vx[i] = factor * v[0];
    p->vy[i] = factor * v[1];
    p->vz[i] = factor * v[2];
}

gravel_status gv_ic_twobody(const gv_ic_twobody_options *options, gv_particles *out)
{
    gv_ic_twobody_options o = GV_IC_TWOBODY_OPTIONS_INIT;
    double x[3], v[3];
    if (options)
        o = *options;
    *out = (gv_particles)GV_PARTICLES_INIT;
    if (!(o.mass_ratio >= 1e-6 && o.mass_ratio <= 1e6))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "mass ratio %g: from 1e-6 to 1e6", o.mass_ratio);
    if (!(o.eccentricity >= 0.0 && o.eccentricity <= 0.999999))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "eccentricity %g: from 0 to 0.999999", o.eccentricity);
    if (!(o.semi_major_axis > 0.0 && o.semi_major_axis <= 1e30))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "semi-major axis %g: above 0", o.semi_major_axis);
    const double a = o.semi_major_axis, e = o.eccentricity;
    if (!gv_orbit_at(1.0, e, a * (1.0 - e), a * (1.0 + e), x, v))
        return gv_fail(GRAVEL_ERR_INTERNAL, "an orbit does not reach its apocentre");
    gravel_status status = gv_particles_create(out, 2, 1);
    if (status)
        return status;
    out->m[1] = o.mass_ratio / (1.0 + o.mass_ratio);
    out->m[0] = 1.0 / (1.0 + o.mass_ratio);
    put(out, 0, x, v, -out->m[1]);
    put(out, 1, x, v, out->m[0]);
    return GRAVEL_OK;
}

/* Starting values of Simo (2002). */
gravel_status gv_ic_figure8(gv_particles *out)
{
    static const double x[3] = {0.97000435669734, -0.24308753153583, 0.0}, origin[3] = {0.0, 0.0, 0.0};
    static const double v[3] = {-0.93240737144104, -0.86473146092102, 0.0};
    gravel_status status = gv_particles_create(out, 3, 1);
    if (status)
        return status;
    for (int i = 0; i < 3; i++) {
        const double side = i == 0 ? 1.0 : i == 1 ? -1.0 : 0.0;
        out->m[i] = 1.0;
        put(out, (size_t)i, i == 2 ? origin : x, origin, side);
        out->vx[i] = i == 2 ? v[0] : -0.5 * v[0];
        out->vy[i] = i == 2 ? v[1] : -0.5 * v[1];
    }
    return GRAVEL_OK;
}

/* --------------------------------------------------------------- galaxies */

/* The spin, +z, is tilted about the x axis, then the node is turned about z. */
static void turn(double v[3], double inclination, double argument)
{
    const double degree = 3.14159265358979323846 / 180.0;
    const double c = cos(inclination * degree), s = sin(inclination * degree);
    const double y = c * v[1] - s * v[2], z = s * v[1] + c * v[2], x = v[0];
    const double ca = cos(argument * degree), sa = sin(argument * degree);
    v[0] = ca * x - sa * y;
    v[1] = sa * x + ca * y;
    v[2] = z;
}

/* Bodies of one galaxy to their place in the pair. */
static void place(const gv_particles *galaxy, gv_particles *out, size_t first, const gv_ic_merger_options *o, int which,
                  const double x[3], const double v[3], double share)
{
    const double mass = which ? o->mass_ratio : 1.0, length = sqrt(mass), velocity = sqrt(mass / length);
    for (size_t i = 0; i < galaxy->count; i++) {
        double at[3] = {galaxy->x[i], galaxy->y[i], galaxy->z[i]};
        double moving[3] = {galaxy->vx[i], galaxy->vy[i], galaxy->vz[i]};
        turn(at, o->inclination[which], o->argument[which]);
        turn(moving, o->inclination[which], o->argument[which]);
        for (int c = 0; c < 3; c++) {
            at[c] = length * at[c] + share * x[c];
            moving[c] = velocity * moving[c] + share * v[c];
        }
        put(out, first + i, at, moving, 1.0);
        out->m[first + i] = mass * galaxy->m[i];
    }
}

static gravel_status check_merger(const gv_ic_merger_options *o)
{
    if (!(o->mass_ratio >= 1e-3 && o->mass_ratio <= 1.0))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "mass ratio %g: from 1e-3 to 1", o->mass_ratio);
    if (!(o->eccentricity >= 0.0 && o->eccentricity <= 10.0))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "eccentricity %g: from 0 to 10", o->eccentricity);
    if (!(o->pericentre > 0.0 && o->pericentre <= 1e6 && o->separation <= 1e6))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "pericentre %g, separation %g: above 0, at most 1e6", o->pericentre,
                       o->separation);
    for (int k = 0; k < 2; k++)
        if (!(fabs(o->inclination[k]) <= 360.0 && fabs(o->argument[k]) <= 360.0))
            return gv_fail(GRAVEL_ERR_ARGUMENT, "inclination %g, argument %g: at most 360 degrees", o->inclination[k],
                           o->argument[k]);
    return GRAVEL_OK;
}

gravel_status gv_ic_merger(size_t n, uint64_t seed, const gv_ic_merger_options *options, gv_particles *out)
{
    gv_ic_merger_options o = GV_IC_MERGER_OPTIONS_INIT;
    double x[3], v[3];
    if (options)
        o = *options;
    *out = (gv_particles)GV_PARTICLES_INIT;
    o.galaxy.standard_units = 0;
    const gv_ic_galaxy_options *g = &o.galaxy;
    const double mass =
        g->disk_mass + (g->bulge_share ? g->bulge_mass : 0.0) + (g->halo_share ? g->halo_mass : 0.0) + g->black_hole;
    gravel_status status = check_merger(&o);
    if (!status && !gv_orbit_at(mass * (1.0 + o.mass_ratio), o.eccentricity, o.pericentre, o.separation, x, v))
        status = gv_fail(
            GRAVEL_ERR_ARGUMENT, "separation %g: an orbit of eccentricity %g and pericentre %g goes from %g to %g",
            o.separation, o.eccentricity, o.pericentre, o.pericentre,
            o.eccentricity < 1.0 ? o.pericentre * (1.0 + o.eccentricity) / (1.0 - o.eccentricity) : INFINITY);
    if (!status)
        status = gv_particles_create(out, n, 1);
    if (status)
        return status;
    const size_t second = (size_t)((double)n * o.mass_ratio / (1.0 + o.mass_ratio));
    const size_t count[2] = {n - second, second};
    const double share[2] = {-o.mass_ratio / (1.0 + o.mass_ratio), 1.0 / (1.0 + o.mass_ratio)};
    for (int k = 0; k < 2 && !status; k++) {
        gv_particles galaxy;
        /* another sequence for the second: seeds close to one another give unrelated ones (splitmix64) */
        status = gv_ic_galaxy(count[k], k ? seed ^ 0x5851f42d4c957f2du : seed, g, &galaxy);
        if (!status)
            place(&galaxy, out, k ? count[0] : 0, &o, k, x, v, share[k]);
        gv_particles_free(&galaxy);
    }
    if (status)
        gv_particles_free(out);
    return status;
}
