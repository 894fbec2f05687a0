/* Integrators over ranks: run by gate_mpi as `mpirun -n P steps CASE ...` with GRAVEL_CLUSTER_LEAST_PAIRS=1, so that
 * small calls are shared.  The exit status is 0 if all ranks found what they should. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#include "gravel/cluster.h"
#include "gravel/leapfrog.h"
#include "sim/ic.h"

enum { MOST = 128 };

static gravel_cluster *cluster;
static gravel_context *context;
static gravel_cluster_share *share;
static gravel_cluster_ring *ring;
static gravel_host_answers host = GRAVEL_HOST_NEVER; /* of jobs whose bodies are not dealt out */
static int has_costs;                                /* all ranks measure and move small blocks alike */

typedef struct job {
    gravel_bodies *bodies;
    gravel_direct *direct;
    gravel_hermite *hermite;
    size_t n;
} job;

static void begin(void)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    CHECK(gravel_cluster_create(&cluster, MPI_COMM_WORLD, NULL) == GRAVEL_OK);
    options.device = gravel_cluster_get_info(cluster, rank)->devices;
    CHECK(gravel_context_create(&context, &options) == GRAVEL_OK);
    CHECK(gravel_cluster_share_create(&share, cluster, context) == GRAVEL_OK);
    CHECK(gravel_cluster_ring_create(&ring, cluster, context) == GRAVEL_OK);
}

static void end(void)
{
    gravel_cluster_share_release(share);
    gravel_cluster_ring_release(ring);
    gravel_context_release(context);
    gravel_cluster_release(cluster);
}

/* The last rank asks the ring for something else. */
static gravel_status wrong_on_one(gravel_direct *direct, const gravel_direct_call *call, void *user)
{
    gravel_direct_call mine = *call;
    mine.nearest = rank == size - 1;
    return gravel_cluster_ring_forces(direct, &mine, user);
}

/* A rank's range of the bodies. */
static void get_range(size_t n, size_t *first, size_t *count)
{
    gravel_cluster_get_range(cluster, n, first, count);
}

/* forces NULL: each rank alone; those of the ring: each rank has its range of the bodies */
static job make_job(size_t n, int order, gravel_precision precision, int shared, gravel_forces_fn forces)
{
    gravel_bodies_options stored = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_direct_options direct = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_hermite_options o = GRAVEL_HERMITE_OPTIONS_INIT;
    gv_particles p = GV_PARTICLES_INIT;
    job j = {.n = n};
    stored.precision = direct.precision = precision;
    direct.order = o.order = order;
    o.shared = shared;
    o.step_max = 0x1p-6;
    o.eps = 0.05;
    o.forces = forces;
    o.forces_user = share;
    size_t f = 0;
    if (forces == gravel_cluster_ring_forces || forces == wrong_on_one) {
        get_range(n, &f, &j.n);
        o.agree = gravel_cluster_ring_agree;
        o.forces_user = ring;
    } else {
        o.host = host;
    }
    if (has_costs && forces == gravel_cluster_share_forces) {
        o.costs = gravel_cluster_share_costs;
        o.processes = size;
        o.forces_alike = 1;
        o.alone_pairs = gravel_cluster_share_get_least_pairs(share);
    }
    CHECK(gv_ic_plummer(n, 3, NULL, &p) == GRAVEL_OK);
    CHECK(gravel_bodies_create(&j.bodies, context, &stored) == GRAVEL_OK);
    /* in dp all ranks have one frame, in ds each the one that follows from its bodies */
    const gravel_frame frame = {{0, 0, 0}, 1, 1};
    CHECK(o.forces_user != ring || precision != GRAVEL_DP || gravel_bodies_set_frame(j.bodies, &frame) == GRAVEL_OK);
    const gravel_array x = GRAVEL_ARRAY_SOA(p.x + f, p.y + f, p.z + f);
    const gravel_array v = GRAVEL_ARRAY_SOA(p.vx + f, p.vy + f, p.vz + f);
    CHECK(gravel_bodies_write(j.bodies, GRAVEL_POSITION, 0, j.n, &x) == GRAVEL_OK);
    CHECK(gravel_bodies_write(j.bodies, GRAVEL_VELOCITY, 0, j.n, &v) == GRAVEL_OK);
    CHECK(gravel_bodies_write(j.bodies, GRAVEL_MASS, 0, j.n, &GRAVEL_ARRAY(p.m + f)) == GRAVEL_OK);
    CHECK(gravel_bodies_write(j.bodies, GRAVEL_ID, 0, j.n, &(gravel_array){p.id + f, NULL, NULL, 1, GRAVEL_I32}) ==
          GRAVEL_OK);
    CHECK(gravel_direct_create(&j.direct, context, &direct) == GRAVEL_OK);
    CHECK(gravel_hermite_create(&j.hermite, j.bodies, j.direct, &o) == GRAVEL_OK);
    gv_particles_free(&p);
    return j;
}

static void free_job(job *j)
{
    gravel_hermite_release(j->hermite);
    gravel_direct_release(j->direct);
    gravel_bodies_release(j->bodies);
}

/* Some blocks; positions then, each body at its own time. */
static void go(job *j, int blocks, double (*x)[3])
{
    CHECK(gravel_hermite_start(j->hermite, 0) == GRAVEL_OK);
    for (int k = 0; k < blocks; k++)
        CHECK(gravel_hermite_step(j->hermite, NULL) == GRAVEL_OK);
    CHECK(gravel_hermite_send(j->hermite) == GRAVEL_OK);
    CHECK(gravel_bodies_read(j->bodies, GRAVEL_POSITION, 0, j->n, &GRAVEL_ARRAY_OUT_AOS(x)) == GRAVEL_OK);
}

static void check_same_on_all(const void *numbers, size_t bytes)
{
    void *first = malloc(bytes);
    CHECK(first != NULL);
    memcpy(first, numbers, bytes);
    MPI_Bcast(first, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK(memcmp(first, numbers, bytes) == 0);
    free(first);
}

static void steps_of(size_t n, int order, gravel_precision precision, int shared)
{
    static double together[MOST][3], again[MOST][3], alone[MOST][3];
    const int blocks = 12;
    /* Other launches add in another order: a relative 1e-16 (dp) or 1e-7 (ds: forces are floats) of a force of 1, over
     * a time of 12 / 64; sums of 100 terms and close pairs leave a factor of 100. */
    const double allowed = 100 * 0.1875 * 0.1875 * (precision == GRAVEL_DP ? 1e-16 : 1e-7);
    job j = make_job(n, order, precision, shared, gravel_cluster_share_forces);
    go(&j, blocks, together);
    check_same_on_all(together, n * sizeof *together);
    void *state = calloc(1, gravel_bodies_get_state_size(j.bodies));
    CHECK(state && gravel_bodies_save(j.bodies, state) == GRAVEL_OK);
    check_same_on_all(state, gravel_bodies_get_state_size(j.bodies));
    free(state);
    go(&j, 0, again); /* begins with what the last run left: other positions */
    free_job(&j);
    j = make_job(n, order, precision, shared, gravel_cluster_share_forces);
    go(&j, blocks, again);
    CHECK(memcmp(together, again, n * sizeof *again) == 0);
    free_job(&j);
    j = make_job(n, order, precision, shared, NULL);
    go(&j, blocks, alone);
    for (size_t k = 0; k < n; k++)
        for (int c = 0; c < 3; c++)
            CHECK(fabs(alone[k][c] - together[k][c]) <= allowed * (1 + fabs(alone[k][c])));
    free_job(&j);
}

static void steps(void)
{
    gravel_cluster_times times;
    steps_of(100, 4, GRAVEL_DS, 1);
    steps_of(101, 6, GRAVEL_DP, 0);
    steps_of(3, 4, GRAVEL_DP, 1); /* more ranks than bodies */
    gravel_cluster_share_get_times(share, &times);
    CHECK(size == 1 || (times.shared > 0 && times.bytes > 0));
}

/* What all ranks measured is the largest; a rank that fails is named, and the next call is as any. */
static void costs_of_all(void)
{
    double number[2] = {rank, -rank};
    char name[32];
    snprintf(name, sizeof name, "rank %d", size - 1);
    CHECK(gravel_cluster_share_costs(GRAVEL_OK, number, 2, share) == GRAVEL_OK);
    CHECK(number[0] == size - 1 && number[1] == 0);
    const gravel_status mine = rank < size - 1 ? GRAVEL_OK : gravel_error_set(GRAVEL_ERR_MEMORY, "no room");
    CHECK(gravel_cluster_share_costs(mine, number, 2, share) == GRAVEL_ERR_MEMORY);
    CHECK(strstr(gravel_error_message(), name) != NULL);
    number[0] = size - rank;
    CHECK(gravel_cluster_share_costs(GRAVEL_OK, number, 1, share) == GRAVEL_OK && number[0] == size);
}

/* The host of each rank moves blocks: all of them; those that take less, as all ranks measured. */
static void hosts(void)
{
    static double together[MOST][3];
    gravel_hermite_counts counts;
    gravel_hermite_state state;
    costs_of_all();
    has_costs = 1;
    host = GRAVEL_HOST_ALWAYS;
    steps_of(101, 4, GRAVEL_DS, 0);
    steps_of(100, 6, GRAVEL_DP, 0);
    job j = make_job(100, 4, GRAVEL_DP, 0, gravel_cluster_share_forces);
    go(&j, 12, together);
    gravel_hermite_get_counts(j.hermite, &counts);
    CHECK(counts.host_blocks == 12);
    free_job(&j);
    host = GRAVEL_HOST_WHERE_FASTER;
    steps_of(100, 4, GRAVEL_DS, 0);
    j = make_job(100, 4, GRAVEL_DS, 0, gravel_cluster_share_forces);
    go(&j, 12, together);
    memset(&state, 0, sizeof state);
    CHECK(gravel_hermite_get_state(j.hermite, &state) == GRAVEL_OK);
    CHECK(state.host_costs[0] > 0 && state.host_costs[2] > 0);
    check_same_on_all(&state, sizeof state);
    free_job(&j);
    host = GRAVEL_HOST_NEVER;
    has_costs = 0;
}

/* Devices move blocks of up to 29 of 100 bodies alone, several a call, and share larger ones; one by one they give the
 * same bits. */
static void ahead(void)
{
    static double one[MOST][3], many[MOST][3];
    gravel_hermite_step_info info[16];
    gravel_cluster_times times;
    size_t blocks = 0, done, most = 0;
    end();
    setenv("GRAVEL_CLUSTER_LEAST_PAIRS", "3000", 1);
    begin();
    has_costs = 1;
    steps_of(100, 4, GRAVEL_DS, 0);
    job j = make_job(100, 6, GRAVEL_DP, 0, gravel_cluster_share_forces);
    go(&j, 0, many);
    for (; blocks < 150; blocks += done) {
        CHECK(gravel_hermite_steps(j.hermite, INFINITY, 150 - blocks < 16 ? 150 - blocks : 16, info, &done) ==
              GRAVEL_OK);
        CHECK(done > 0);
        most = done > most ? done : most;
    }
    CHECK(most > 1);
    CHECK(gravel_bodies_read(j.bodies, GRAVEL_POSITION, 0, j.n, &GRAVEL_ARRAY_OUT_AOS(many)) == GRAVEL_OK);
    check_same_on_all(many, 100 * sizeof *many);
    free_job(&j);
    gravel_cluster_share_get_times(share, &times);
    CHECK(size == 1 || times.shared > 0);
    j = make_job(100, 6, GRAVEL_DP, 0, gravel_cluster_share_forces);
    go(&j, 150, one);
    CHECK(memcmp(one, many, 100 * sizeof *one) == 0);
    free_job(&j);
    has_costs = 0;
    end();
    setenv("GRAVEL_CLUSTER_LEAST_PAIRS", "1", 1);
    begin();
}

/* Blocks of the ring are those of one rank, and so are positions but for rounding; a second run has the same bits. */
static void dealt_of(size_t n, int order, gravel_precision precision, int shared)
{
    static double together[MOST][3], again[MOST][3], alone[MOST][3], pot[MOST];
    const int blocks = 12;
    /* ds as in steps_of; dp: others predict a body from doubles that were rounded once more, 1e-16 in each block */
    const double allowed = precision == GRAVEL_DP ? 1e-14 : 100 * 0.1875 * 0.1875 * 1e-7;
    gravel_hermite_counts one, all;
    gravel_bodies *at;
    size_t first, mine;
    double next[2];
    get_range(n, &first, &mine);
    job j = make_job(n, order, precision, shared, NULL);
    go(&j, blocks, alone);
    gravel_hermite_get_counts(j.hermite, &one);
    CHECK(gravel_hermite_get_next(j.hermite, &next[0]) == GRAVEL_OK);
    CHECK(gravel_hermite_get_bodies_at(j.hermite, next[0], &at) == GRAVEL_OK);
    CHECK(gravel_bodies_read(at, GRAVEL_POSITION, 0, n, &GRAVEL_ARRAY_OUT_AOS(alone)) == GRAVEL_OK);
    free_job(&j);
    for (int turn = 0; turn < 2; turn++) {
        j = make_job(n, order, precision, shared, gravel_cluster_ring_forces);
        go(&j, blocks, together);
        gravel_hermite_get_counts(j.hermite, &all);
        CHECK(all.blocks == one.blocks && all.steps == one.steps);
        CHECK(gravel_hermite_get_next(j.hermite, &next[1]) == GRAVEL_OK);
        CHECK(next[0] == next[1]);
        CHECK(gravel_hermite_get_bodies_at(j.hermite, next[1], &at) == GRAVEL_OK);
        CHECK(gravel_bodies_read(at, GRAVEL_POSITION, 0, mine, &GRAVEL_ARRAY_OUT_AOS(together)) == GRAVEL_OK);
        CHECK(turn == 0 || memcmp(together, again, mine * sizeof *again) == 0);
        memcpy(again, together, mine * sizeof *again);
        if (turn == 0)
            free_job(&j);
    }
    CHECK(gravel_cluster_ring_potentials(ring, j.direct, at, 0.05, pot) == GRAVEL_OK);
    for (size_t k = 0; k < mine; k++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            const double *a = alone[first + k], *b = alone[i];
            const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
            sum -= i == first + k ? 0 : 1.0 / (double)n / sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.05 * 0.05);
        }
        CHECK(fabs(pot[k] - sum) <= 1e-5 * fabs(sum)); /* positions as below, and floats */
        for (int c = 0; c < 3; c++)
            CHECK(fabs(alone[first + k][c] - together[k][c]) <= allowed * (1 + fabs(together[k][c])));
    }
    free_job(&j);
}

static void dealt(void)
{
    gravel_cluster_times times;
    dealt_of(101, 6, GRAVEL_DP, 0);
    dealt_of(100, 4, GRAVEL_DS, 1);
    dealt_of((size_t)size, 4, GRAVEL_DP, 0); /* a body on each rank, of which most are not due */
    gravel_cluster_ring_get_times(ring, &times);
    CHECK(size == 1 || (times.shared > 0 && times.bytes > 0));
    job j = make_job(64, 4, GRAVEL_DS, 0, wrong_on_one);
    char name[32];
    snprintf(name, sizeof name, "rank %d", size - 1);
    CHECK(gravel_hermite_start(j.hermite, 0) != GRAVEL_OK);
    CHECK(strstr(gravel_error_message(), name) != NULL);
    free_job(&j);
}

/* The last rank asks for an order that does not exist. */
static gravel_status bad_order(gravel_direct *direct, const gravel_direct_call *call, void *user)
{
    gravel_direct_call mine = *call;
    mine.order = rank == size - 1 ? 8 : call->order;
    return gravel_cluster_share_forces(direct, &mine, user);
}

static void failure(void)
{
    char name[32];
    snprintf(name, sizeof name, "rank %d", size - 1);
    job j = make_job(64, 4, GRAVEL_DS, 1, bad_order);
    CHECK(gravel_hermite_start(j.hermite, 0) != GRAVEL_OK);
    CHECK(size == 1 || strstr(gravel_error_message(), name) != NULL);
    free_job(&j);
    steps_of(64, 4, GRAVEL_DS, 1); /* and all goes on */
}

/* Pairs of ranks as machines of their own, where ranks are even; else each rank is one. */
static void machines(void)
{
    end();
    setenv("GRAVEL_CLUSTER_NEAR", "2", 1);
    begin();
    steps();
    dealt();
}

static void run(const char *name)
{
    if (strcmp(name, "steps") == 0)
        steps();
    else if (strcmp(name, "failure") == 0)
        failure();
    else if (strcmp(name, "hosts") == 0)
        hosts();
    else if (strcmp(name, "ahead") == 0)
        ahead();
    else if (strcmp(name, "dealt") == 0)
        dealt();
    else if (strcmp(name, "machines") == 0)
        machines();
    else
        CHECK(!"no such case");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin();
    for (int k = 1; k < argc; k++)
        run(argv[k]);
    end();
    MPI_Finalize();
    return argc < 2;
}
