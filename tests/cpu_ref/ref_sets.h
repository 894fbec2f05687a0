/* Sets of bodies for the tests of the reference. */
#ifndef GV_REF_SETS_H
#define GV_REF_SETS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "close_to.h"
#include "cpu_ref/ref.h"
#include "sim/ic_random.h"

enum { MAX_N = 20000 };

/* Sources or sinks, and room for every force. */
typedef struct set {
    size_t n;
    double *m, *p[3][3]; /* position, velocity, acceleration */
    double *acc[3], *jerk[3], *snap[3], *pot, *acc_scale, *pot_scale;
    int32_t *id;
} set;

static inline double *zeroes(size_t n)
{
    double *p = calloc(n, sizeof *p);
    assert_non_null(p);
    return p;
}

static inline set set_create(size_t n)
{
    set s = {.n = n, .m = zeroes(n), .pot = zeroes(n), .acc_scale = zeroes(n), .pot_scale = zeroes(n)};
    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < 3; k++)
            s.p[k][c] = zeroes(n);
        s.acc[c] = zeroes(n);
        s.jerk[c] = zeroes(n);
        s.snap[c] = zeroes(n);
    }
    s.id = malloc(n * sizeof *s.id);
    assert_non_null(s.id);
    for (size_t i = 0; i < n; i++)
        s.id[i] = (int32_t)i;
    return s;
}

static inline void set_free(set *s)
{
    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < 3; k++)
            free(s->p[k][c]);
        free(s->acc[c]);
        free(s->jerk[c]);
        free(s->snap[c]);
    }
    free(s->m);
    free(s->pot);
    free(s->acc_scale);
    free(s->pot_scale);
    free(s->id);
}

static inline gv_ref_particles view(const set *s)
{
    return (gv_ref_particles){s->n,       s->m,       s->id,      s->p[0][0], s->p[0][1], s->p[0][2],
                              s->p[1][0], s->p[1][1], s->p[1][2], s->p[2][0], s->p[2][1], s->p[2][2]};
}

/* Forces of `sources` on `sinks`, written into the sinks' set. */
static inline void forces(gv_ref_real real, int order, set *sinks, const set *sources, double eps)
{
    gv_ref_particles i = view(sinks), j = view(sources);
    gv_ref_forces out = {.ax = sinks->acc[0],
                         .ay = sinks->acc[1],
                         .az = sinks->acc[2],
                         .pot = sinks->pot,
                         .jx = sinks->jerk[0],
                         .jy = sinks->jerk[1],
                         .jz = sinks->jerk[2],
                         .sx = sinks->snap[0],
                         .sy = sinks->snap[1],
                         .sz = sinks->snap[2],
                         .acc_scale = sinks->acc_scale,
                         .pot_scale = sinks->pot_scale};
    assert_int_equal(gv_ref_direct(real, order, &i, &j, eps, NULL, 0, &out), 0);
}

/* Random masses, positions in a ball, velocities and accelerations of the same order. */
static inline set random_set(size_t n, uint64_t seed)
{
    set s = set_create(n);
    gv_random random;
    gv_random_seed(&random, seed);
    for (size_t i = 0; i < n; i++) {
        double v[3];
        s.m[i] = gv_random_unit(&random) / (double)n;
        for (int k = 0; k < 3; k++) {
            gv_random_ball(&random, v);
            for (int c = 0; c < 3; c++)
                s.p[k][c][i] = v[c];
        }
    }
    return s;
}

static inline void set_body(set *s, size_t i, double m, double x, double y, double z, double vx, double vy, double vz)
{
    const double p[3] = {x, y, z}, v[3] = {vx, vy, vz};
    s->m[i] = m;
    for (int c = 0; c < 3; c++) {
        s->p[0][c][i] = p[c];
        s->p[1][c][i] = v[c];
    }
}

static inline double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

#endif
