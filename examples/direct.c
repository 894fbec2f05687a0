/* Direct summation over bodies on the device: forces into planes, and two calls in flight.
 *
 *     gcc -std=c11 direct.c $(pkg-config --cflags --libs gravel) -lm -o direct
 *     ./direct [device]
 *
 * A cold cube of stars.  First all forces go into planes of the bodies, and only what the total energy needs is read
 * back.  Then two calls are submitted before either is collected: forces of a range of stars on a few others, and
 * forces at points that are no stars, with the nearest star of each.  Results are collected in the other order.  Prints
 * the sum of mass times acceleration, which Newton's third law makes vanish; exit status 1 if it does not.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gravel/direct.h>

enum { N = 2000, FEW = 10, POINTS = 3 };

static void check(gravel_status status)
{
    if (!status)
        return;
    fprintf(stderr, "direct: %s\n", gravel_error_message());
    exit(1);
}

/* -1 ... 1, always the same numbers */
static double uniform(void)
{
    static unsigned state = 12345;
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / 8388608.0 - 1;
}

static void write_cube(gravel_bodies *bodies)
{
    static double position[N][3];
    static int32_t id[N];
    for (int k = 0; k < N; k++) {
        for (int c = 0; c < 3; c++)
            position[k][c] = uniform();
        id[k] = k;
    }
    check(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_AOS(position)));
    check(gravel_bodies_write(bodies, GRAVEL_ID, 0, N, &(gravel_array){id, NULL, NULL, 1, GRAVEL_I32}));
    check(gravel_bodies_fill(bodies, GRAVEL_MASS, 1.0 / N));
}

/* All on all, results into planes: acceleration and potential stay on the device until they are read. */
static double forces_into_planes(gravel_direct *direct, gravel_bodies *bodies)
{
    static double acc[N][3], potential[N];
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    double sum[3] = {0, 0, 0}, energy = 0;
    call.sources = call.sinks = gravel_view_all(bodies);
    call.eps = 0.01;
    call.into = GRAVEL_INTO_PLANES;
    check(gravel_direct_start(direct, &call, NULL));
    check(gravel_bodies_read(bodies, GRAVEL_ACCELERATION, 0, N, &GRAVEL_ARRAY_OUT_AOS(acc)));
    check(gravel_bodies_read(bodies, GRAVEL_POTENTIAL, 0, N, &GRAVEL_ARRAY_OUT(potential)));
    for (int k = 0; k < N; k++) {
        for (int c = 0; c < 3; c++)
            sum[c] += acc[k][c] / N;
        energy += 0.5 * potential[k] / N;
    }
    const double left = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    printf("potential energy %.6f, |sum m a| %.1e\n", energy, left);
    return left;
}

/* Two calls in flight; the later is collected first. */
static void two_calls(gravel_direct *direct, gravel_context *context, gravel_bodies *bodies)
{
    static const double x[POINTS] = {0, 2, 20}, zero[POINTS] = {0, 0, 0};
    const uint32_t address[FEW] = {1, 20, 300, 400, 555, 666, 777, 888, 999, 1999};
    const gravel_sinks points = {.count = POINTS, .pos = GRAVEL_VEC_SOA(x, zero, zero)};
    double acc[FEW], potential[POINTS], distance[POINTS];
    int32_t star[POINTS];
    gravel_ticket *on_stars, *at_points;
    gravel_list *list;
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;

    check(gravel_list_create(&list, context, 0));
    check(gravel_list_write(list, address, FEW));
    call.sources = gravel_view_range(bodies, 0, N / 2); /* half of the stars are sources ... */
    call.sinks = gravel_view_list(bodies, list);        /* ... on these */
    call.eps = 0.01;
    check(gravel_direct_start(direct, &call, &on_stars));

    call.sources = gravel_view_all(bodies);
    call.sinks.bodies = NULL;
    call.points = &points;
    call.nearest = 1;
    check(gravel_direct_start(direct, &call, &at_points));

    check(gravel_ticket_collect(
        at_points, &(gravel_forces){.pot = potential, .nearest_id = star, .nearest_distance = distance}, NULL));
    for (int k = 0; k < POINTS; k++)
        printf("at x = %g: potential %.4f, nearest star %d at %.4f\n", x[k], potential[k], (int)star[k], distance[k]);
    check(gravel_ticket_collect(on_stars, &(gravel_forces){.acc = {acc, NULL, NULL, 1}}, NULL));
    printf("half of the stars pull star %u with %.4f along x\n", (unsigned)address[0], acc[0]);
    gravel_ticket_release(at_points);
    gravel_ticket_release(on_stars);
    gravel_list_release(list);
}

int main(int argc, char **argv)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_direct_options wanted = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_context *context;
    gravel_bodies *bodies;
    gravel_direct *direct;

    options.device = argc > 1 ? argv[1] : NULL;
    wanted.precision = GRAVEL_DS;
    check(gravel_context_create(&context, &options));
    check(gravel_bodies_create(&bodies, context, NULL));
    check(gravel_direct_create(&direct, context, &wanted));
    printf("on %s\n", gravel_context_get_device(context, 0)->name);
    write_cube(bodies);
    const double left = forces_into_planes(direct, bodies);
    two_calls(direct, context, bodies);
    gravel_direct_release(direct);
    gravel_bodies_release(bodies);
    gravel_context_release(context);
    return left < 1e-6 ? 0 : 1;
}
