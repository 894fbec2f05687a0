#include "tuner/pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t gv_draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

double gv_uniform(uint64_t *state)
{
    return (double)(gv_draw(state) >> 11) * 0x1p-53;
}

static void isotropic(uint64_t *state, double length, double *const to[3], size_t k)
{
    double z = 2 * gv_uniform(state) - 1, phi = 6.283185307179586 * gv_uniform(state), r = sqrt(1 - z * z);

    to[0][k] = length * r * cos(phi);
    to[1][k] = length * r * sin(phi);
    to[2][k] = length * z;
}

void gv_pool_free(gv_pool *p)
{
    free(p->mass);
    free(p->scaled);
    free(p->id);
    free(p->radius);
    free(p->distance);
    free(p->count);
    for (int d = 0; d < 3; d++) {
        free(p->x[d]);
        free(p->v[d]);
        free(p->a[d]);
    }
    for (int c = 0; c < GV_POOL_PLANES; c++) {
        free(p->out[c]);
        free(p->first[c]);
    }
    memset(p, 0, sizeof *p);
}

static int grow(double **array, size_t n)
{
    double *grown = realloc(*array, n * sizeof **array);

    if (grown != NULL)
        *array = grown;
    return grown != NULL;
}

/* Radii of a Plummer sphere (scale 1, cut at 10); speeds fall with the local escape speed. */
int gv_pool_fill(gv_pool *p, size_t n)
{
    uint64_t state = 42;
    int32_t *id;

    if (p->n >= n)
        return 1;
    id = realloc(p->id, n * sizeof *id);
    p->id = id != NULL ? id : p->id;
    if (id == NULL || !grow(&p->mass, n) || !grow(&p->scaled, n) || !grow(&p->radius, n))
        return 0;
    for (int d = 0; d < 3; d++)
        if (!grow(&p->x[d], n) || !grow(&p->v[d], n) || !grow(&p->a[d], n))
            return 0;
    for (size_t k = 0; k < n; k++) {
        double r;

        do {
            r = 1 / sqrt(pow(1 - gv_uniform(&state), -2.0 / 3.0) - 1 + 1e-30);
        } while (r > 10);
        p->mass[k] = (0.5 + gv_uniform(&state)) * 0x1p-17;
        p->id[k] = (int32_t)k;
        p->radius[k] = 0.05;
        isotropic(&state, r, p->x, k);
        isotropic(&state, gv_uniform(&state) * pow(1 + r * r, -0.25), p->v, k);
        isotropic(&state, gv_uniform(&state) / (1 + r * r), p->a, k);
    }
    p->n = n;
    return 1;
}

int gv_pool_reserve_outputs(gv_pool *p, size_t sinks)
{
    uint32_t *count = realloc(p->count, (sinks + GV_POOL_CANARIES) * sizeof *count);

    p->count = count != NULL ? count : p->count;
    if (count == NULL || !grow(&p->distance, sinks + GV_POOL_CANARIES))
        return 0;
    for (int c = 0; c < GV_POOL_PLANES; c++)
        if (!grow(&p->out[c], sinks + GV_POOL_CANARIES) || !grow(&p->first[c], sinks + GV_POOL_CANARIES))
            return 0;
    return 1;
}
