/* A small star cluster with the fourth-order Hermite scheme and block time-steps.
 *
 *     gcc -std=c11 block_steps.c $(pkg-config --cflags --libs gravel) -lm -o block_steps
 *     ./block_steps [device]
 *
 * Every star has a time of its own and a step that is a power of two.  Bodies on the device carry position, velocity,
 * acceleration and jerk of those times.  A block is the stars that are due next: all are predicted to that time on the
 * device (`predict`), forces with their jerks come back for the active ones, the host corrects these, chooses their
 * next steps, and puts what changed back with one update.  Prints the number of blocks and the relative error of the
 * energy; exit status 1 if that is above 1e-5.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gravel/direct.h>

enum { N = 64 };
static const double eps = 0.05, end = 0.25, largest_step = 0x1p-5, smallest_step = 0x1p-14, accuracy = 0.01;

static double mass = 1.0 / N;
static double x[N][3], v[N][3], a[N][3], j[N][3], t[N], step[N];

static void check(gravel_status status)
{
    if (!status)
        return;
    fprintf(stderr, "block_steps: %s\n", gravel_error_message());
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

/* A sphere of radius 1 with velocities below those that would hold it up. */
static void make_cluster(void)
{
    for (int k = 0; k < N;) {
        for (int c = 0; c < 3; c++) {
            x[k][c] = uniform();
            v[k][c] = 0.4 * uniform();
        }
        k += dot(x[k], x[k]) < 1;
    }
}

static double energy(void)
{
    double sum = 0;
    for (int k = 0; k < N; k++) {
        sum += 0.5 * mass * dot(v[k], v[k]);
        for (int i = 0; i < k; i++) {
            const double d[3] = {x[k][0] - x[i][0], x[k][1] - x[i][1], x[k][2] - x[i][2]};
            sum -= mass * mass / sqrt(dot(d, d) + eps * eps);
        }
    }
    return sum;
}

/* ----------------------------------------------------------------- the device */

typedef struct solver {
    gravel_bodies *bodies;
    gravel_list *list;
    gravel_direct *direct;
} solver;

/* Stars of the block as they are now, all planes in one transfer. */
static void put(const solver *s, const uint32_t *active, size_t n)
{
    static double some[5][N][3];
    static const gravel_plane plane[5] = {GRAVEL_POSITION, GRAVEL_VELOCITY, GRAVEL_ACCELERATION, GRAVEL_JERK,
                                          GRAVEL_TIME};
    double time[N];
    for (size_t i = 0; i < n; i++) {
        const uint32_t k = active[i];
        for (int c = 0; c < 3; c++) {
            some[0][i][c] = x[k][c];
            some[1][i][c] = v[k][c];
            some[2][i][c] = a[k][c];
            some[3][i][c] = j[k][c];
        }
        time[i] = t[k];
    }
    const gravel_array from[5] = {GRAVEL_ARRAY_AOS(some[0]), GRAVEL_ARRAY_AOS(some[1]), GRAVEL_ARRAY_AOS(some[2]),
                                  GRAVEL_ARRAY_AOS(some[3]), GRAVEL_ARRAY(time)};
    check(gravel_bodies_update(s->bodies, active, 0, n, 5, plane, from));
}

/* Forces of all stars, predicted to `now`, on the active ones. */
static void forces(const solver *s, const uint32_t *active, size_t n, double now, double acc[][3], double jerk[][3])
{
    gravel_direct_call call = GRAVEL_DIRECT_CALL_INIT;
    gravel_ticket *ticket;
    check(gravel_list_write(s->list, active, n));
    call.sources = gravel_view_all(s->bodies);
    call.sinks = gravel_view_list(s->bodies, s->list);
    call.eps = eps;
    call.predict = 1;
    call.time = now;
    check(gravel_direct_start(s->direct, &call, &ticket));
    check(gravel_ticket_collect(
        ticket, &(gravel_forces){.acc = GRAVEL_VEC_OUT_AOS(acc), .jerk = GRAVEL_VEC_OUT_AOS(jerk)}, NULL));
    gravel_ticket_release(ticket);
}

/* ------------------------------------------------------------- the integrator */

/* The largest power of two not above the wanted step by which `now` can be divided, at most twice the last step. */
static double next_step(double wish, double last, double now)
{
    double dt = last < largest_step ? 2 * last : largest_step;
    while (dt > smallest_step && (dt > wish || fmod(now, dt) != 0))
        dt *= 0.5;
    return dt;
}

/* Star k from its own time to `now`, where forces are `acc` and `jerk`. */
static void correct(uint32_t k, double now, const double *acc, const double *jerk)
{
    const double h = now - t[k];
    double a2[3], a3[3];
    for (int c = 0; c < 3; c++) {
        const double before = v[k][c], sum = a[k][c] + acc[c];
        /* second and third derivative at the end of the step, from both ends */
        const double d = a[k][c] - acc[c];
        a3[c] = (12 * d + 6 * h * (j[k][c] + jerk[c])) / (h * h * h);
        a2[c] = (-6 * d - h * (4 * j[k][c] + 2 * jerk[c])) / (h * h) + h * a3[c];
        v[k][c] += 0.5 * h * sum + h * h / 12 * (j[k][c] - jerk[c]);
        x[k][c] += 0.5 * h * (before + v[k][c]) + h * h / 12 * (a[k][c] - acc[c]);
        a[k][c] = acc[c];
        j[k][c] = jerk[c];
    }
    const double aa = sqrt(dot(acc, acc)), jj = dot(jerk, jerk), ss = dot(a2, a2), cc = sqrt(dot(a3, a3));
    t[k] = now;
    step[k] = next_step(sqrt(accuracy * (aa * sqrt(ss) + jj) / (sqrt(jj) * cc + ss)), step[k], now);
}

/* The time of the next block, and its stars. */
static size_t next_block(uint32_t *active, double *now)
{
    size_t n = 0;
    *now = INFINITY;
    for (int k = 0; k < N; k++)
        *now = fmin(*now, t[k] + step[k]);
    for (uint32_t k = 0; k < N; k++)
        if (t[k] + step[k] == *now)
            active[n++] = k;
    return n;
}

static void begin(const solver *s)
{
    uint32_t all[N];
    int32_t id[N];
    for (uint32_t k = 0; k < N; k++) {
        all[k] = k;
        id[k] = (int32_t)k;
    }
    check(gravel_bodies_resize(s->bodies, N));
    check(gravel_bodies_fill(s->bodies, GRAVEL_MASS, mass));
    check(gravel_bodies_write(s->bodies, GRAVEL_ID, 0, N, &(gravel_array){id, NULL, NULL, 1, GRAVEL_I32}));
    put(s, all, N);
    forces(s, all, N, 0, a, j);
    put(s, all, N);
    for (int k = 0; k < N; k++)
        step[k] = next_step(0.25 * accuracy * sqrt(dot(a[k], a[k]) / dot(j[k], j[k])), largest_step, 0);
}

int main(int argc, char **argv)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_direct_options wanted = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_context *context;
    solver s;
    uint32_t active[N];
    double acc[N][3], jerk[N][3], now = 0;
    int blocks = 0, steps = 0;

    options.device = argc > 1 ? argv[1] : NULL;
    wanted.order = 4;
    wanted.precision = GRAVEL_DS;
    check(gravel_context_create(&context, &options));
    check(gravel_bodies_create(&s.bodies, context, NULL));
    check(gravel_list_create(&s.list, context, 0));
    check(gravel_direct_create(&s.direct, context, &wanted));
    make_cluster();
    begin(&s);
    const double before = energy();
    while (now < end) {
        const size_t n = next_block(active, &now);
        forces(&s, active, n, now, acc, jerk);
        for (size_t i = 0; i < n; i++)
            correct(active[i], now, acc[i], jerk[i]);
        put(&s, active, n);
        blocks++;
        steps += (int)n;
    }
    const double error = fabs(energy() / before - 1);
    printf("on %s: %d stars to t = %g in %d blocks, %d steps; energy is off by %.1e\n",
           gravel_context_get_device(context, 0)->name, N, now, blocks, steps, error);
    gravel_direct_release(s.direct);
    gravel_list_release(s.list);
    gravel_bodies_release(s.bodies);
    gravel_context_release(context);
    return error < 1e-5 ? 0 : 1;
}
