/* Stars around a black hole, with the tree, a hook after each block and an end that depends on the stars.
 *
 *     gcc -std=c11 black_hole.c $(pkg-config --cflags --libs gravel) -lm -o black_hole
 *     ./black_hole [device]
 *
 * A ring of light stars turns around a fixed mass at the origin, which is an external force here: nothing pulls it.
 * Leapfrog with block steps, so that stars near the centre are moved more often.  After every block the star that is
 * nearest to the centre is looked for; the run ends when one comes within the capture radius, or at the last time.
 * Prints what happened; exit status 1 if no star was captured (one is on a plunging orbit).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gravel/leapfrog.h>

enum { N = 500 };
static const double hole = 1.0, capture = 0.05, end = 4.0;

static void check(gravel_status status)
{
    if (!status)
        return;
    fprintf(stderr, "black_hole: %s\n", gravel_error_message());
    exit(1);
}

/* Acceleration and potential of the black hole on the stars of a block. */
static gravel_status pull(gravel_bodies *bodies, size_t first, size_t count, double time, void *user)
{
    static double x[N][3], a[N][3], pot[N];
    (void)time;
    (void)user;
    gravel_status status = gravel_bodies_read(bodies, GRAVEL_POSITION, first, count, &GRAVEL_ARRAY_OUT_AOS(x));
    if (!status)
        status = gravel_bodies_read(bodies, GRAVEL_ACCELERATION, first, count, &GRAVEL_ARRAY_OUT_AOS(a));
    if (!status)
        status = gravel_bodies_read(bodies, GRAVEL_POTENTIAL, first, count, &GRAVEL_ARRAY_OUT(pot));
    for (size_t k = 0; k < count && !status; k++) {
        const double r = sqrt(x[k][0] * x[k][0] + x[k][1] * x[k][1] + x[k][2] * x[k][2]);
        for (int c = 0; c < 3; c++)
            a[k][c] -= hole * x[k][c] / (r * r * r);
        pot[k] -= hole / r;
    }
    if (!status)
        status = gravel_bodies_write(bodies, GRAVEL_ACCELERATION, first, count, &GRAVEL_ARRAY_AOS(a));
    return status ? status : gravel_bodies_write(bodies, GRAVEL_POTENTIAL, first, count, &GRAVEL_ARRAY(pot));
}

static void fill(gravel_bodies *bodies)
{
    static double x[N][3], v[N][3];
    for (int k = 0; k < N; k++) {
        const double angle = 2.399963 * k, r = 0.7 + 0.6 * k / N; /* the golden angle spreads them evenly */
        const double speed = k == 0 ? 0.1 : sqrt(hole / r);       /* star 0 plunges */
        x[k][0] = r * cos(angle);
        x[k][1] = r * sin(angle);
        x[k][2] = 0.02 * sin(7.0 * k);
        v[k][0] = -speed * sin(angle);
        v[k][1] = speed * cos(angle);
        v[k][2] = 0;
    }
    check(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_AOS(x)));
    check(gravel_bodies_write(bodies, GRAVEL_VELOCITY, 0, N, &GRAVEL_ARRAY_AOS(v)));
    check(gravel_bodies_fill(bodies, GRAVEL_MASS, 1e-3 / N));
}

/* The hook: which star is nearest to the centre.  Positions of all bodies are at the time of the last block. */
static int nearest(gravel_bodies *bodies, double *distance)
{
    static double x[N][3];
    int found = 0;
    check(gravel_bodies_read(bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_OUT_AOS(x)));
    *distance = INFINITY;
    for (int k = 0; k < N; k++) {
        const double r = sqrt(x[k][0] * x[k][0] + x[k][1] * x[k][1] + x[k][2] * x[k][2]);
        if (r < *distance) {
            *distance = r;
            found = k;
        }
    }
    return found;
}

int main(int argc, char **argv)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_tree_options forces = GRAVEL_TREE_OPTIONS_INIT;
    gravel_leapfrog_options steps = GRAVEL_LEAPFROG_OPTIONS_INIT;
    gravel_hermite_step_info block = {0, 0};
    gravel_hermite_counts counts;
    gravel_context *context;
    gravel_bodies *bodies;
    gravel_tree *tree;
    gravel_leapfrog *leapfrog;
    double distance;
    int star;

    options.device = argc > 1 ? argv[1] : NULL;
    steps.eps = 0.01;
    steps.external = pull;
    check(gravel_context_create(&context, &options));
    check(gravel_bodies_create(&bodies, context, NULL));
    check(gravel_tree_create(&tree, context, &forces));
    check(gravel_leapfrog_create(&leapfrog, bodies, NULL, tree, &steps));
    fill(bodies);
    check(gravel_leapfrog_start(leapfrog, 0));
    do {
        check(gravel_leapfrog_step(leapfrog, &block));
        star = nearest(bodies, &distance);
    } while (distance > capture && block.time < end);
    gravel_leapfrog_get_counts(leapfrog, &counts);
    printf("on %s: star %d is %.3f from the black hole at t = %.4f, after %llu blocks of %.0f stars on average\n",
           gravel_context_get_device(context, 0)->name, star, distance, block.time, (unsigned long long)counts.blocks,
           (double)counts.steps / (double)counts.blocks);
    gravel_leapfrog_release(leapfrog);
    gravel_tree_release(tree);
    gravel_bodies_release(bodies);
    gravel_context_release(context);
    return distance <= capture && star == 0 ? 0 : 1;
}
