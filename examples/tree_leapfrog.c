/* Leapfrog with forces of the tree, everything on the device.
 *
 *     gcc -std=c11 tree_leapfrog.c $(pkg-config --cflags --libs gravel) -lm -o tree_leapfrog
 *     ./tree_leapfrog [device] [bodies]
 *
 * A cold sphere of stars falls together.  A step is two calls: kick and drift of all bodies, and a walk of the tree,
 * built of the moved bodies first; accelerations and potentials stay on the device, where the next kick finds them.
 * No array of the host is touched inside a step, and the host waits for nothing but energies now and then.
 * Prints them; exit status 1 if the energy is not conserved to a part in a thousand.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gravel/tree.h>

enum { STEPS = 40, EVERY = 10 };
static const double dt = 0.01, eps = 0.05;

/* All functions of gravel that can fail return a status, and set an error message. */
static void check(gravel_status status)
{
    if (!status)
        return;
    fprintf(stderr, "tree_leapfrog: %s\n", gravel_error_message());
    exit(1);
}

static double uniform(void)
{
    static unsigned state = 12345;
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / 16777216.0;
}

static double *numbers(size_t n)
{
    double *x = malloc(n * sizeof *x);
    if (!x)
        exit(1);
    return x;
}

/* N stars of mass 1/N in a sphere of radius 1, at rest. */
static void write_sphere(gravel_bodies *bodies, size_t n)
{
    double *x = numbers(n), *y = numbers(n), *z = numbers(n), *m = numbers(n);
    for (size_t k = 0; k < n; k++) {
        do {
            x[k] = 2 * uniform() - 1;
            y[k] = 2 * uniform() - 1;
            z[k] = 2 * uniform() - 1;
        } while (x[k] * x[k] + y[k] * y[k] + z[k] * z[k] > 1);
        m[k] = 1.0 / (double)n;
    }
    check(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, n, &GRAVEL_ARRAY_SOA(x, y, z)));
    check(gravel_bodies_write(bodies, GRAVEL_MASS, 0, n, &GRAVEL_ARRAY(m)));
    check(gravel_bodies_fill(bodies, GRAVEL_VELOCITY, 0));
    free(x);
    free(y);
    free(z);
    free(m);
}

/* Kinetic plus potential energy, of velocities at the time of the positions. */
static double energy(gravel_bodies *bodies, size_t n)
{
    double *v = numbers(3 * n), *pot = numbers(n), *m = numbers(n), sum = 0;
    check(gravel_bodies_read(bodies, GRAVEL_VELOCITY, 0, n, &GRAVEL_ARRAY_OUT_SOA(v, v + n, v + 2 * n)));
    check(gravel_bodies_read(bodies, GRAVEL_POTENTIAL, 0, n, &GRAVEL_ARRAY_OUT(pot)));
    check(gravel_bodies_read(bodies, GRAVEL_MASS, 0, n, &GRAVEL_ARRAY_OUT(m)));
    for (size_t k = 0; k < n; k++) {
        const double v2 = v[k] * v[k] + v[n + k] * v[n + k] + v[2 * n + k] * v[2 * n + k];
        sum += m[k] * 0.5 * (v2 + pot[k]);
    }
    free(v);
    free(pot);
    free(m);
    return sum;
}

int main(int argc, char **argv)
{
    const size_t n = argc > 2 ? (size_t)atol(argv[2]) : 2000;
    gravel_context_options context_options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_bodies_options bodies_options = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_tree_options tree_options = GRAVEL_TREE_OPTIONS_INIT;
    gravel_context *context;
    gravel_bodies *bodies;
    gravel_tree *tree;
    gravel_tree_call call;

    context_options.device = argc > 1 ? argv[1] : NULL;
    check(gravel_context_create(&context, &context_options));
    check(gravel_bodies_create(&bodies, context, &bodies_options));
    write_sphere(bodies, n);

    const gravel_view all = gravel_view_all(bodies);
    check(gravel_tree_create(&tree, context, &tree_options));
    check(gravel_tree_set_sources(tree, &all));
    gravel_tree_call_init(&call);
    call.sinks = all;
    call.eps = eps;
    call.into = GRAVEL_INTO_PLANES;
    check(gravel_tree_walk(tree, &call, NULL));

    const double first = energy(bodies, n);
    double last = first;
    printf("%zu bodies on %s\ntime 0.00 energy %.6f\n", n, gravel_context_get_device(context, 0)->name, first);
    for (int step = 1; step <= STEPS; step++) {
        /* kick by half a step if the velocities were brought to the time of the positions for the energy, else by a
         * whole one */
        check(gravel_bodies_advance(bodies, step % EVERY == 1 ? 0.5 * dt : dt, dt));
        check(gravel_tree_walk(tree, &call, NULL));
        if (step % EVERY == 0) {
            check(gravel_bodies_advance(bodies, 0.5 * dt, 0));
            last = energy(bodies, n);
            printf("time %.2f energy %.6f\n", step * dt, last);
        }
    }
    gravel_tree_release(tree);
    gravel_bodies_release(bodies);
    gravel_context_release(context);
    return fabs(last / first - 1) < 1e-3 ? 0 : 1;
}
