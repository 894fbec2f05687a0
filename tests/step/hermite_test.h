/* Shared by the tests of runs of Hermite steps: a small Plummer sphere, its solver and integrator. */
#ifndef GV_HERMITE_TEST_H
#define GV_HERMITE_TEST_H

#include "problem.h"

#include <math.h>
#include <string.h>

#include "gravel/hermite.h"
#include "sim/ic.h"

enum { N = 48 };

typedef struct run {
    gravel_bodies *bodies;
    gravel_direct *direct;
    gravel_hermite *hermite;
} run;

static inline run make_run(gravel_context *context, gravel_precision precision, const gravel_hermite_options *options)
{
    gravel_bodies_options stored = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_direct_options direct = GRAVEL_DIRECT_OPTIONS_INIT;
    run r;
    stored.precision = direct.precision = precision;
    direct.order = options->order;
    assert_ok(gravel_bodies_create(&r.bodies, context, &stored));
    assert_ok(gravel_direct_create(&r.direct, context, &direct));
    assert_ok(gravel_hermite_create(&r.hermite, r.bodies, r.direct, options));
    return r;
}

/* A Plummer sphere, in lengths of `unit`: then the frame's units are not 1. */
static inline void fill_run(run *r, double unit)
{
    gv_particles p;
    assert_ok(gv_ic_plummer(N, 5, NULL, &p));
    for (size_t k = 0; k < N; k++) {
        p.x[k] *= unit, p.y[k] *= unit, p.z[k] *= unit;
        p.vx[k] *= unit, p.vy[k] *= unit, p.vz[k] *= unit;
        p.m[k] *= unit * unit * unit; /* times stay */
    }
    assert_ok(gravel_bodies_write(r->bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_SOA(p.x, p.y, p.z)));
    assert_ok(gravel_bodies_write(r->bodies, GRAVEL_VELOCITY, 0, N, &GRAVEL_ARRAY_SOA(p.vx, p.vy, p.vz)));
    assert_ok(gravel_bodies_write(r->bodies, GRAVEL_MASS, 0, N, &GRAVEL_ARRAY(p.m)));
    gv_particles_free(&p);
    assert_ok(gravel_hermite_start(r->hermite, 0));
}

static inline void free_run(run *r)
{
    gravel_hermite_release(r->hermite);
    gravel_direct_release(r->direct);
    gravel_bodies_release(r->bodies);
}

#endif
