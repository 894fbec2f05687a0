#include "sim/ic_energy.h"

#include <math.h>
#include <stdlib.h>

#include "cpu_ref/ref.h"
#include "sim/ic.h"
#include "sim/shells.h"

double gv_ic_kinetic(const gv_particles *p)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->count; i++)
        sum += p->m[i] * (p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]);
    return 0.5 * sum;
}

gravel_status gv_ic_potential_direct(const gv_particles *p, double *potential)
{
    double *pot = malloc((p->count ? p->count : 1) * sizeof *pot);
    if (!pot)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for the potential of %zu particles", p->count);
    gv_ref_particles all = {.n = p->count, .m = p->m, .id = p->id, .x = p->x, .y = p->y, .z = p->z};
    gv_ref_forces forces = {.pot = pot};
    gravel_status status = GRAVEL_OK;
    if (gv_ref_direct(GV_REF_DOUBLE, 2, &all, &all, 0.0, NULL, 0, &forces))
        status = gv_fail(GRAVEL_ERR_INTERNAL, "the reference refuses %zu particles", p->count);
    double sum = 0.0;
    for (size_t i = 0; !status && i < p->count; i++)
        sum += p->m[i] * pot[i];
    free(pot);
    *potential = 0.5 * sum;
    return status;
}

gravel_status gv_ic_potential_shells(const gv_particles *p, double *potential)
{
    static const double origin[3] = {0.0, 0.0, 0.0};
    gv_shell *s;
    gravel_status status = gv_shells_sorted(p, origin, &s);
    if (status)
        return status;
    double sum = 0.0, inside = 0.0;
    for (size_t k = 0; k < p->count; k++) {
        if (k > 0) /* the innermost may sit on the centre: nothing is inside it */
            sum += inside * s[k].m / s[k].r;
        inside += s[k].m;
    }
    *potential = -sum;
    free(s);
    return GRAVEL_OK;
}

gravel_status gv_ic_potential_sphere(const gv_particles *p, double *potential)
{
    return p->count <= GV_IC_DIRECT ? gv_ic_potential_direct(p, potential) : gv_ic_potential_shells(p, potential);
}

/* Twice: the second pass takes away what rounding left of a sum over many bodies. */
static void remove_mean(const gv_particles *p, double *v)
{
    for (int pass = 0; pass < 2; pass++) {
        double sum = 0.0, mass = 0.0;
        for (size_t i = 0; i < p->count; i++) {
            sum += p->m[i] * v[i];
            mass += p->m[i];
        }
        double mean = mass > 0.0 ? sum / mass : 0.0;
        for (size_t i = 0; i < p->count; i++)
            v[i] -= mean;
    }
}

void gv_ic_centre(gv_particles *p)
{
    double *v[6] = {p->x, p->y, p->z, p->vx, p->vy, p->vz};
    for (int k = 0; k < 6; k++)
        remove_mean(p, v[k]);
}

void gv_ic_scale(gv_particles *p, double length, double velocity)
{
    for (size_t i = 0; i < p->count; i++) {
        p->x[i] *= length;
        p->y[i] *= length;
        p->z[i] *= length;
        p->vx[i] *= velocity;
        p->vy[i] *= velocity;
        p->vz[i] *= velocity;
    }
}
