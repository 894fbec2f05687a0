/* Bodies that live on the device: written once, changed a few at a time, read when needed.
 *
 *     gcc -std=c11 bodies.c $(pkg-config --cflags --libs gravel) -o bodies
 *     ./bodies [device]
 *
 * A ring of stars is written as arrays of doubles.  Then what an N-body program does with them: the stars of one block
 * step are updated by address, several planes in one transfer; a plane of the program's own is kept beside the others;
 * stars that left are removed, and the permutation says where the others are now.  Prints what comes back; exit status
 * 1 if that is not what was written.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gravel/bodies.h>

enum { N = 1000, ACTIVE = 3 };

/* All functions of gravel that can fail return a status, and set an error message. */
static void check(gravel_status status)
{
    if (!status)
        return;
    fprintf(stderr, "bodies: %s\n", gravel_error_message());
    exit(1);
}

static void expect(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "bodies: %s did not come back as it was written\n", what);
    exit(1);
}

/* N stars on a circle of radius 1, 100 from the origin of the caller's coordinates. */
static void write_ring(gravel_bodies *bodies)
{
    static double position[N][3], mass[N];
    static int32_t id[N];
    gravel_frame frame;
    for (int k = 0; k < N; k++) {
        const double angle = 6.283185307179586 * k / N;
        position[k][0] = 100 + cos(angle);
        position[k][1] = sin(angle);
        mass[k] = 1.0 / N;
        id[k] = 1000 + k;
    }
    check(gravel_bodies_write(bodies, GRAVEL_POSITION, 0, N, &GRAVEL_ARRAY_AOS(position)));
    check(gravel_bodies_write(bodies, GRAVEL_MASS, 0, N, &GRAVEL_ARRAY(mass)));
    check(gravel_bodies_write(bodies, GRAVEL_ID, 0, N, &(gravel_array){id, NULL, NULL, 1, GRAVEL_I32}));
    /* the first positions and masses have chosen what the device computes in */
    check(gravel_bodies_get_frame(bodies, &frame));
    printf("%zu bodies; origin %g %g %g, unit of length %g, of mass %g\n", gravel_bodies_get_count(bodies),
           frame.origin[0], frame.origin[1], frame.origin[2], frame.length, frame.mass);
}

/* Some stars have a new position and time: both in one transfer. */
static void update_some(gravel_bodies *bodies)
{
    const uint32_t address[ACTIVE] = {17, 4, 999};
    const double x[ACTIVE] = {100.5, 100.25, 99.75}, zero[ACTIVE] = {0, 0, 0}, time[ACTIVE] = {0.125, 0.25, 0.125};
    const gravel_plane plane[2] = {GRAVEL_POSITION, GRAVEL_TIME};
    const gravel_array from[2] = {GRAVEL_ARRAY_SOA(x, zero, zero), GRAVEL_ARRAY(time)};
    double back[ACTIVE], when[ACTIVE];
    check(gravel_bodies_update(bodies, address, 0, ACTIVE, 2, plane, from));
    /* a component that is not wanted is NULL */
    check(gravel_bodies_gather(bodies, GRAVEL_POSITION, address, ACTIVE, &GRAVEL_ARRAY_OUT_SOA(back, NULL, NULL)));
    check(gravel_bodies_gather(bodies, GRAVEL_TIME, address, ACTIVE, &GRAVEL_ARRAY_OUT(when)));
    for (int k = 0; k < ACTIVE; k++) {
        printf("body %3u at x = %g, t = %g\n", (unsigned)address[k], back[k], when[k]);
        expect(back[k] == x[k] && when[k] == time[k], "an update");
    }
}

/* A number per body with a meaning in this program only; floats will do. */
static void keep_own_plane(gravel_bodies *bodies)
{
    static float metals[N], back[N];
    for (int k = 0; k < N; k++)
        metals[k] = 0.01f * (float)(k % 7);
    check(gravel_bodies_write(bodies, GRAVEL_USER, 0, N, &(gravel_array){metals, NULL, NULL, 1, GRAVEL_F32}));
    check(gravel_bodies_read(bodies, GRAVEL_USER, 0, N, &(gravel_array_out){back, NULL, NULL, 1, GRAVEL_F32}));
    for (int k = 0; k < N; k++)
        expect(back[k] == metals[k], "a user plane");
}

static void remove_some(gravel_bodies *bodies)
{
    static uint32_t from[N], to[N];
    static int32_t id[N];
    const uint32_t gone[2] = {0, 500};
    size_t before;
    gravel_bodies_mark(bodies);
    check(gravel_bodies_remove(bodies, gone, 2));
    check(gravel_bodies_get_permutation(bodies, from, to, &before));
    const size_t count = gravel_bodies_get_count(bodies);
    check(gravel_bodies_read(bodies, GRAVEL_ID, 0, count, &(gravel_array_out){id, NULL, NULL, 1, GRAVEL_I32}));
    printf("%zu of %zu bodies are left; the one that was at 999 is at %u, its id is %d\n", count, before,
           (unsigned)to[999], (int)id[to[999]]);
    expect(to[0] == GRAVEL_NONE && from[to[999]] == 999 && id[to[999]] == 1999, "the order of bodies");
}

int main(int argc, char **argv)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_context *context;
    gravel_bodies *bodies;
    options.device = argc > 1 ? argv[1] : NULL; /* NULL: the best one */
    check(gravel_context_create(&context, &options));
    check(gravel_bodies_create(&bodies, context, NULL)); /* ds, two-floats: 48 bits on any device */
    write_ring(bodies);
    update_some(bodies);
    keep_own_plane(bodies);
    remove_some(bodies);
    gravel_bodies_release(bodies);
    gravel_context_release(context);
    return 0;
}
