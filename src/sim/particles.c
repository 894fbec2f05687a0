#include "sim/particles.h"

#include <stdlib.h>

static gravel_status make(double **array, size_t count)
{
    *array = calloc(count ? count : 1, sizeof **array);
    return *array ? GRAVEL_OK : GRAVEL_ERR_MEMORY;
}

static gravel_status make_vector(double **x, double **y, double **z, size_t count)
{
    if (make(x, count) || make(y, count) || make(z, count))
        return GRAVEL_ERR_MEMORY;
    return GRAVEL_OK;
}

gravel_status gv_particles_create(gv_particles *particles, size_t count, int derivatives)
{
    gv_particles p = GV_PARTICLES_INIT;
    *particles = p;
    if (count > INT32_MAX)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%zu particles: ids reach only to %d", count, INT32_MAX);

    p.count = count;
    p.id = malloc((count ? count : 1) * sizeof *p.id);
    gravel_status status = p.id ? make(&p.m, count) : GRAVEL_ERR_MEMORY;
    if (!status)
        status = make_vector(&p.x, &p.y, &p.z, count);
    if (!status && derivatives >= 1)
        status = make_vector(&p.vx, &p.vy, &p.vz, count);
    if (!status && derivatives >= 2)
        status = make_vector(&p.ax, &p.ay, &p.az, count);
    if (status) {
        gv_particles_free(&p);
        return gv_fail(status, "no memory for %zu particles", count);
    }
    for (size_t i = 0; i < count; i++)
        p.id[i] = (int32_t)i;
    *particles = p;
    return GRAVEL_OK;
}

void gv_particles_free(gv_particles *particles)
{
    double *array[] = {particles->m,  particles->x,  particles->y,  particles->z,  particles->vx,
                       particles->vy, particles->vz, particles->ax, particles->ay, particles->az};
    for (size_t k = 0; k < sizeof array / sizeof array[0]; k++)
        free(array[k]);
    free(particles->id);
    *particles = (gv_particles)GV_PARTICLES_INIT;
}
