/* A star cluster in the fixed potential of a galaxy: an external force beside the stars' own.
 *
 *     gcc -std=c11 galactic_potential.c $(pkg-config --cflags --libs gravel) -lm -o galactic_potential
 *     ./galactic_potential [device]
 *
 * The stars pull each other by direct summation with Hermite steps of fourth order; the galaxy is a logarithmic halo,
 * Phi = v0^2/2 ln(r^2 + r0^2), given by its acceleration and the change of that along the path (jerk), which the
 * integrator asks for at every block.  Prints the energy of stars and halo together; exit status 1 if it is not kept.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gravel/hermite.h>

enum { N = 64 };
static const double speed = 1.0, core = 0.5, eps = 0.02, end = 1.0;

static void check(gravel_status status)
{
    if (!status)
        return;
    fprintf(stderr, "galactic_potential: %s\n", gravel_error_message());
    exit(1);
}

/* -1 ... 1, always the same numbers */
static double uniform(void)
{
    static unsigned state = 2026;
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / 8388608.0 - 1;
}

static double dot(const double *p, const double *q)
{
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
}

/* Adds to the planes of the bodies that are about to be corrected. */
static gravel_status halo(gravel_bodies *bodies, size_t first, size_t count, double time, void *user)
{
    static double x[N][3], v[N][3], a[N][3], j[N][3];
    (void)time;
    (void)user;
    gravel_status status = gravel_bodies_read(bodies, GRAVEL_POSITION, first, count, &GRAVEL_ARRAY_OUT_AOS(x));
    if (!status)
        status = gravel_bodies_read(bodies, GRAVEL_VELOCITY, first, count, &GRAVEL_ARRAY_OUT_AOS(v));
    if (!status)
        status = gravel_bodies_read(bodies, GRAVEL_ACCELERATION, first, count, &GRAVEL_ARRAY_OUT_AOS(a));
    if (!status)
        status = gravel_bodies_read(bodies, GRAVEL_JERK, first, count, &GRAVEL_ARRAY_OUT_AOS(j));
    for (size_t k = 0; k < count && !status; k++) {
        const double s2 = dot(x[k], x[k]) + core * core, pull = speed * speed / s2, way = 2 * dot(x[k], v[k]) / s2;
        for (int c = 0; c < 3; c++) {
            a[k][c] -= pull * x[k][c];
            j[k][c] -= pull * (v[k][c] - way * x[k][c]);
        }
    }
    if (!status)
        status = gravel_bodies_write(bodies, GRAVEL_ACCELERATION, first, count, &GRAVEL_ARRAY_AOS(a));
    return status ? status : gravel_bodies_write(bodies, GRAVEL_JERK, first, count, &GRAVEL_ARRAY_AOS(j));
}

/* A cluster of radius 0.1 at distance 1 on a circular orbit. */
static void fill(gravel_bodies *bodies)
{
    static double x[N][3], v[N][3];
    for (int k = 0; k < N;) {
        for (int c = 0; c < 3; c++)
            x[k][c] = uniform();
        if (dot(x[k], x[k]) > 1)
            continue;
        for (int c = 0; c < 3; c++) {
            x[k][c] = 0.1 * x[k][c] + (c == 0);
            v[k][c] = 0.03 * uniform() + (c == 1) * speed / sqrt(1 + core * core);
        }
        k++;
    }
    check(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_AOS(x)));
    check(gravel_bodies_write(bodies, GRAVEL_VELOCITY, 0, N, &GRAVEL_ARRAY_AOS(v)));
    check(gravel_bodies_fill(bodies, GRAVEL_MASS, 1e-3 / N));
}

/* Of the stars among themselves, and in the halo, at a time between blocks. */
static double energy(gravel_hermite *hermite, double time)
{
    static double x[N][3], v[N][3];
    const double mass = 1e-3 / N;
    gravel_bodies *at;
    double sum = 0;
    check(gravel_hermite_get_bodies_at(hermite, time, &at));
    check(gravel_bodies_read(at, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_OUT_AOS(x)));
    check(gravel_bodies_read(at, GRAVEL_VELOCITY, 0, N, &GRAVEL_ARRAY_OUT_AOS(v)));
    for (int k = 0; k < N; k++) {
        sum += mass * (0.5 * dot(v[k], v[k]) + 0.5 * speed * speed * log(dot(x[k], x[k]) + core * core));
        for (int i = 0; i < k; i++) {
            const double d[3] = {x[k][0] - x[i][0], x[k][1] - x[i][1], x[k][2] - x[i][2]};
            sum -= mass * mass / sqrt(dot(d, d) + eps * eps);
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_direct_options solver = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_hermite_options steps = GRAVEL_HERMITE_OPTIONS_INIT;
    gravel_hermite_counts counts;
    gravel_context *context;
    gravel_bodies *bodies;
    gravel_direct *direct;
    gravel_hermite *hermite;
    double next;

    options.device = argc > 1 ? argv[1] : NULL;
    solver.order = steps.order = 4;
    solver.precision = GRAVEL_DS;
    steps.eps = eps;
    steps.external = halo;
    check(gravel_context_create(&context, &options));
    check(gravel_bodies_create(&bodies, context, NULL));
    check(gravel_direct_create(&direct, context, &solver));
    check(gravel_hermite_create(&hermite, bodies, direct, &steps));
    fill(bodies);
    check(gravel_hermite_start(hermite, 0));
    const double first = energy(hermite, 0);
    check(gravel_hermite_get_next(hermite, &next));
    while (next <= end) {
        check(gravel_hermite_step(hermite, NULL));
        check(gravel_hermite_get_next(hermite, &next));
    }
    const double error = fabs(energy(hermite, end) / first - 1);
    gravel_hermite_get_counts(hermite, &counts);
    printf("%d stars in a halo to t = %g in %llu blocks on %s; energy is off by %.1e\n", N, end,
           (unsigned long long)counts.blocks, gravel_context_get_device(context, 0)->name, error);
    gravel_hermite_release(hermite);
    gravel_direct_release(direct);
    gravel_bodies_release(bodies);
    gravel_context_release(context);
    return error < 1e-6 ? 0 : 1;
}
