/* Shared by the tests of meshes: bodies in a periodic box, exact forces, errors. */
#ifndef GV_MESH_TEST_H
#define GV_MESH_TEST_H

#include "host_test.h"

#include <math.h>

#include "cpu_ref/ewald.h"
#include "gravel/mesh.h"
#include "sim/ic_random.h"

typedef struct cloud {
    size_t n;
    double side;
    double *m, *x[3], *a[3], *pot;
    int32_t *id;
    double *block;
} cloud;

static inline cloud cloud_new(size_t n, double side)
{
    cloud c = {.n = n, .side = side, .block = calloc(8 * n, sizeof(double)), .id = calloc(n, sizeof(int32_t))};
    assert_non_null(c.block);
    assert_non_null(c.id);
    c.m = c.block;
    c.pot = c.block + n;
    for (size_t k = 0; k < 3; k++) {
        c.x[k] = c.block + (2 + k) * n;
        c.a[k] = c.block + (5 + k) * n;
    }
    for (size_t k = 0; k < n; k++)
        c.id[k] = (int32_t)k;
    return c;
}

static inline void cloud_free(cloud *c)
{
    free(c->block);
    free(c->id);
}

static inline double within(double x, double side)
{
    x -= side * floor(x / side);
    return x < side ? x : 0;
}

/* clumps 0: uniform; else so many of scale side / 20 with half of the bodies, the others uniform */
static inline cloud cloud_random(size_t n, double side, int clumps, uint64_t seed)
{
    cloud c = cloud_new(n, side);
    gv_random random;
    double centre[16][3];
    gv_random_seed(&random, seed);
    for (int k = 0; k < clumps * 3; k++)
        centre[k / 3][k % 3] = side * gv_random_unit(&random);
    for (size_t k = 0; k < n; k++) {
        c.m[k] = (0.5 + gv_random_unit(&random)) / (double)n;
        const size_t of = k / 2;
        const int clumped = clumps > 0 && k % 2;
        /* a steep profile: places go with the cube of a number */
        const double r = clumped ? side / 20 * pow(gv_random_unit(&random), 2) : 0;
        double v[3];
        gv_random_direction(&random, v);
        for (int a = 0; a < 3; a++)
            c.x[a][k] =
                within(clumped ? centre[of % (size_t)clumps][a] + r * v[a] : side * gv_random_unit(&random), side);
    }
    return c;
}

static inline gv_ref_particles cloud_view(const cloud *c, size_t first, size_t count)
{
    return (gv_ref_particles){.n = count,
                              .m = c->m + first,
                              .id = c->id + first,
                              .x = c->x[0] + first,
                              .y = c->x[1] + first,
                              .z = c->x[2] + first};
}

/* exact periodic forces of all on the first `sinks` */
static inline void cloud_exact(const cloud *c, size_t sinks, double eps, gv_ref_shape shape, cloud *to)
{
    const gv_ref_particles from = cloud_view(c, 0, c->n), at = cloud_view(c, 0, sinks);
    const gv_ref_box box = {c->side, 0, eps, shape};
    const gv_ref_forces out = {.ax = to->a[0], .ay = to->a[1], .az = to->a[2], .pot = to->pot};
    assert_int_equal(gv_ref_ewald(GV_REF_DOUBLE, &at, &from, &box, &out), 0);
}

/* what exact forces without softening keep when the short range of a splitting length is taken out; own: a body's own
 * long range is in its potential too */
static inline void cloud_long_range(const cloud *c, size_t sinks, double split, int own, cloud *to)
{
    const double half = 1 / (2 * split), root = sqrt(acos(-1));
    cloud_exact(c, sinks, 0, GV_REF_PLUMMER, to);
    for (size_t i = 0; i < sinks; i++) {
        /* the background of the short range belongs to it: its mean is made 0 by the long range */
        for (size_t j = 0; j < c->n; j++) {
            double d[3], r2 = 0;
            for (int a = 0; a < 3; a++) {
                d[a] = c->x[a][j] - c->x[a][i];
                d[a] -= c->side * rint(d[a] / c->side);
                r2 += d[a] * d[a];
            }
            if (j == i)
                continue;
            const double r = sqrt(r2), u = r * half, g0 = erfc(u) / r;
            const double pull = (g0 + 2 * half / root * exp(-u * u)) / r2;
            to->pot[i] += c->m[j] * g0;
            for (int a = 0; a < 3; a++)
                to->a[a][i] -= c->m[j] * pull * d[a];
        }
        if (own)
            to->pot[i] -= c->m[i] * 2 * half / root;
    }
}

/* ------------------------------------------------------------------- errors */

/* errors of accelerations over the root mean square of the exact ones: median, 99 %, largest */
typedef struct spread {
    double half, most, largest, pot, rms;
} spread;

static inline int spread_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline spread cloud_errors(const cloud *found, const cloud *exact, size_t sinks)
{
    double *error = calloc(sinks, sizeof *error), rms = 0, pot = 0, pot_rms = 0;
    assert_non_null(error);
    for (size_t k = 0; k < sinks; k++) {
        for (int a = 0; a < 3; a++) {
            error[k] += pow(found->a[a][k] - exact->a[a][k], 2);
            rms += exact->a[a][k] * exact->a[a][k] / (double)sinks;
        }
        error[k] = isfinite(error[k]) ? sqrt(error[k]) : INFINITY;
        pot += pow(found->pot[k] - exact->pot[k], 2);
        pot_rms += exact->pot[k] * exact->pot[k];
    }
    rms = sqrt(rms);
    qsort(error, sinks, sizeof *error, spread_order);
    const spread s = {error[sinks / 2] / rms, error[sinks * 99 / 100] / rms, error[sinks - 1] / rms,
                      sqrt(pot / pot_rms), rms};
    free(error);
    return s;
}

/* ------------------------------------------------------------------- device */

static inline gravel_bodies *cloud_bodies(gravel_context *context, const cloud *c, gravel_precision precision)
{
    gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_bodies *bodies;
    options.precision = precision;
    assert_ok(gravel_bodies_create(&bodies, context, &options));
    assert_ok(gravel_bodies_resize(bodies, c->n));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, c->n, &GRAVEL_ARRAY_SOA(c->x[0], c->x[1], c->x[2])));
    assert_ok(gravel_bodies_write(bodies, GRAVEL_MASS, 0, c->n, &GRAVEL_ARRAY(c->m)));
    return bodies;
}

static inline gravel_forces cloud_forces(cloud *c)
{
    gravel_forces out;
    memset(&out, 0, sizeof out);
    out.acc = (gravel_vec_out){c->a[0], c->a[1], c->a[2], 1};
    out.pot = c->pot;
    return out;
}

static inline gravel_context *open_context(void)
{
    gravel_context *context;
    assert_ok(gravel_context_create(&context, NULL));
    return context;
}

#endif
