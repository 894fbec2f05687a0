/* Forces over ranks against the reference: run by gate_mpi as `mpirun -n P ranks CASE ...`.  Every rank makes the same
 * bodies and takes its range of them.  The exit status is 0 if all ranks found what they should. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#include "cpu_ref/ref.h"
#include "cluster/object.h"

enum { MOST = 600 };

/* d[k][c][i]: component c of the k-th derivative of body i */
typedef struct bodies {
    size_t n;
    double m[MOST], t[MOST], d[6][3][MOST];
    int32_t id[MOST];
} bodies;

static double random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

static void make_bodies(bodies *b, size_t n, uint64_t seed)
{
    b->n = n;
    for (size_t i = 0; i < n; i++) {
        b->m[i] = (1.5 + random_number(&seed)) / (double)n;
        b->t[i] = 0;
        b->id[i] = (int32_t)(3 * i) - 5;
        for (int k = 0; k < 18; k++)
            b->d[k / 3][k % 3][i] = random_number(&seed);
    }
}

static gravel_vec vector(const bodies *b, int k, size_t first)
{
    return GRAVEL_VEC_SOA(b->d[k][0] + first, b->d[k][1] + first, b->d[k][2] + first);
}

static gravel_sources sources_of(const bodies *b, size_t first, size_t count, int derivatives)
{
    gravel_sources s = {.count = count, .mass = b->m + first, .id = b->id + first, .pos = vector(b, 0, first)};
    if (derivatives >= 1)
        s.vel = vector(b, 1, first);
    if (derivatives >= 2)
        s.acc = vector(b, 2, first);
    if (derivatives >= 3) {
        s.jerk = vector(b, 3, first);
        s.time = b->t + first;
    }
    return s;
}

/* Uneven: the middle rank has nothing, the last one what is left. */
static size_t begin_of(size_t n, int r)
{
    if (r >= size)
        return n;
    return r > size / 2 ? n * (size_t)(r - 1) / (size_t)size : n * (size_t)r / (size_t)size;
}

/* Largest error over the terms' sum; in dp 1e-13 is fifty roundings of a sum of MOST terms and of the pair term, in ds
 * the pair terms are floats: a few times 6e-8. */
static double allowed(gravel_precision precision)
{
    return precision == GRAVEL_DP ? 1e-13 : 1e-6;
}

/* Forces on this rank's bodies against the reference, from all. */
static void compare(const bodies *b, size_t first, size_t count, int order, const double *f, gravel_precision precision)
{
    static double r[10][MOST], scale[2][MOST];
    const gv_ref_forces out = {.ax = r[0],
                               .ay = r[1],
                               .az = r[2],
                               .jx = r[3],
                               .jy = r[4],
                               .jz = r[5],
                               .sx = r[6],
                               .sy = r[7],
                               .sz = r[8],
                               .pot = r[9],
                               .acc_scale = scale[0],
                               .pot_scale = scale[1]};
    const gv_ref_particles all = {b->n,       b->m,       b->id,      b->d[0][0], b->d[0][1], b->d[0][2],
                                  b->d[1][0], b->d[1][1], b->d[1][2], b->d[2][0], b->d[2][1], b->d[2][2]};
    gv_ref_particles mine = all;
    const double **const place[] = {&mine.x,  &mine.y,  &mine.z,  &mine.vx, &mine.vy,
                                    &mine.vz, &mine.ax, &mine.ay, &mine.az};
    for (int k = 0; k < 9; k++)
        *place[k] += first;
    mine.m += first;
    mine.id += first;
    mine.n = count;
    CHECK(gv_ref_direct(GV_REF_DOUBLE, order, &mine, &all, 0.1, NULL, 0, &out) == 0);
    for (size_t i = 0; i < count; i++)
        for (int c = 0; c < 10; c++) {
            if ((c >= 3 && order < 4 && c != 9) || (c >= 6 && order < 6 && c != 9))
                continue;
            /* derivatives of a term are at most 60 / eps^2 times as large with velocities and accelerations of 1 */
            const double most = c == 9 ? scale[1][i] : scale[0][i] * (c < 3 ? 1 : c < 6 ? 60 : 6000);
            CHECK(fabs(f[(size_t)c * count + i] - r[c][i]) <= allowed(precision) * most);
        }
}

static gravel_cluster_direct *open_direct(gravel_cluster *cluster, gravel_precision precision, gravel_scheme scheme)
{
    gravel_cluster_direct_options options = GRAVEL_CLUSTER_DIRECT_OPTIONS_INIT;
    gravel_cluster_direct *direct;
    options.precision = precision;
    options.scheme = scheme;
    CHECK(gravel_cluster_direct_create(&direct, cluster, &options) == GRAVEL_OK);
    return direct;
}

static void find_forces(gravel_cluster_direct *direct, const bodies *b, size_t first, size_t count, int order,
                        double *f)
{
    const gravel_sinks sinks = {.count = count,
                                .id = b->id + first,
                                .pos = vector(b, 0, first),
                                .vel = vector(b, 1, first),
                                .acc = vector(b, 2, first)};
    gravel_cluster_call call = GRAVEL_CLUSTER_CALL_INIT;
    const gravel_forces out = gv_cluster_forces_at(f, count, order);
    call.sinks = &sinks;
    call.order = order;
    call.eps = 0.1;
    CHECK(gravel_cluster_direct_forces(direct, &call, &out) == GRAVEL_OK);
}

static void forces_of(gravel_cluster *cluster, gravel_scheme scheme, gravel_precision precision, size_t n, int order)
{
    static bodies b;
    static double f[10 * MOST], again[10 * MOST];
    make_bodies(&b, n, n);
    const size_t first = begin_of(n, rank), count = begin_of(n, rank + 1) - first;
    const gravel_sources mine = sources_of(&b, first, count, order / 2 - 1);
    gravel_cluster_direct *direct = open_direct(cluster, precision, scheme);
    CHECK(gravel_cluster_direct_write(direct, n, first, &mine) == GRAVEL_OK);
    CHECK(gravel_cluster_direct_get_scheme(direct) == scheme);
    find_forces(direct, &b, first, count, order, f);
    compare(&b, first, count, order, f, precision);
    find_forces(direct, &b, first, count, order, again);
    for (int c = 0; c < 10; c++)
        if (c == 9 || c / 3 < order / 2)
            CHECK(memcmp(f + (size_t)c * count, again + (size_t)c * count, count * sizeof *f) == 0);
    gravel_cluster_direct_release(direct);
}

static void forces(gravel_cluster *cluster, gravel_scheme scheme)
{
    forces_of(cluster, scheme, GRAVEL_DP, 600, 4);
    forces_of(cluster, scheme, GRAVEL_DS, 601 - 2, 2);
    forces_of(cluster, scheme, GRAVEL_DP, 100, 6);
    forces_of(cluster, scheme, GRAVEL_DP, 3, 2); /* more ranks than bodies */
    forces_of(cluster, scheme, GRAVEL_DP, 0, 2);
}

/* Every rank's bodies move and get other masses; the others see it, predicted to the time of the call. */
static void updates(gravel_cluster *cluster, gravel_scheme scheme)
{
    static bodies b;
    static double f[10 * MOST];
    const size_t n = 300;
    const double ahead = 0.25;
    make_bodies(&b, n, 7);
    const size_t first = begin_of(n, rank), count = begin_of(n, rank + 1) - first;
    gravel_cluster_direct *direct = open_direct(cluster, GRAVEL_DP, scheme);
    gravel_sources mine = sources_of(&b, first, count, 3);
    CHECK(gravel_cluster_direct_write(direct, n, first, &mine) == GRAVEL_OK);
    make_bodies(&b, n, 8);
    static uint32_t number[MOST];
    for (size_t k = 0; k < count; k++)
        number[k] = (uint32_t)(first + k);
    mine = sources_of(&b, first, count, 3);
    CHECK(gravel_cluster_direct_update(direct, number, &mine) == GRAVEL_OK);
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            double *x = &b.d[0][c][i], *v = &b.d[1][c][i];
            const double a = b.d[2][c][i], j = b.d[3][c][i];
            *x += ahead * (*v + ahead / 2 * (a + ahead / 3 * j));
            *v += ahead * (a + ahead / 2 * j);
        }
    const gravel_sinks sinks = {
        .count = count, .id = b.id + first, .pos = vector(&b, 0, first), .vel = vector(&b, 1, first)};
    gravel_cluster_call call = GRAVEL_CLUSTER_CALL_INIT;
    const gravel_forces out = gv_cluster_forces_at(f, count, 4);
    call.sinks = &sinks;
    call.eps = 0.1;
    call.predict = 1;
    call.time = ahead;
    CHECK(gravel_cluster_direct_forces(direct, &call, &out) == GRAVEL_OK);
    compare(&b, first, count, 4, f, GRAVEL_DS); /* prediction differs by roundings in its order of terms */
    gravel_cluster_direct_release(direct);
}

/* Coincident bodies: no rank's forces are anything but finite. */
static void one_place(gravel_cluster *cluster)
{
    static bodies b;
    static double f[10 * MOST];
    make_bodies(&b, 64, 1);
    for (int c = 0; c < 3; c++)
        for (size_t i = 0; i < b.n; i++)
            b.d[0][c][i] = 0.5;
    const size_t first = begin_of(b.n, rank), count = begin_of(b.n, rank + 1) - first;
    const gravel_sources mine = sources_of(&b, first, count, 1);
    gravel_cluster_direct *direct = open_direct(cluster, GRAVEL_DS, GRAVEL_SCHEME_CHOSEN);
    CHECK(gravel_cluster_direct_write(direct, b.n, first, &mine) == GRAVEL_OK);
    find_forces(direct, &b, first, count, 4, f);
    for (size_t i = 0; i < count; i++)
        CHECK(f[i] == 0 && isfinite(f[9 * count + i]));
    gravel_cluster_direct_release(direct);
}

/* What one rank does wrong is refused by all, who know which rank it was; afterwards all goes on. */
static void failures(gravel_cluster *cluster)
{
    static bodies b;
    static double f[10 * MOST];
    make_bodies(&b, 90, 2);
    const int bad = size - 1;
    char name[32];
    snprintf(name, sizeof name, "rank %d", bad);
    const size_t first = begin_of(b.n, rank), count = begin_of(b.n, rank + 1) - first;
    gravel_cluster_direct_options options = GRAVEL_CLUSTER_DIRECT_OPTIONS_INIT;
    gravel_cluster_direct *direct;
    options.precision = rank == bad ? GRAVEL_DP : GRAVEL_DS;
    if (size > 1) {
        CHECK(gravel_cluster_direct_create(&direct, cluster, &options) == GRAVEL_ERR_ARGUMENT);
        CHECK(strstr(gravel_error_message(), "differ") != NULL);
    }
    options.precision = GRAVEL_DP;
    options.configuration = rank == bad ? "threads=nonsense" : NULL;
    CHECK(gravel_cluster_direct_create(&direct, cluster, &options) == GRAVEL_ERR_ARGUMENT);
    CHECK(strstr(gravel_error_message(), name) != NULL);
    direct = open_direct(cluster, GRAVEL_DP, GRAVEL_SCHEME_CHOSEN);
    gravel_sources mine = sources_of(&b, first, count, 1);
    CHECK(gravel_cluster_direct_write(direct, b.n + (rank == bad), first, &mine) == GRAVEL_ERR_ARGUMENT || size == 1);
    const double wrong = b.d[0][0][first];
    if (rank == bad && count > 0)
        b.d[0][0][first] = NAN;
    CHECK(gravel_cluster_direct_write(direct, b.n, first, &mine) == GRAVEL_ERR_INPUT);
    b.d[0][0][first] = wrong;
    const size_t most = INT32_MAX; /* numbers of bodies are of this type */
    gravel_sources many = mine;
    many.count = rank == bad ? most + 1 - first : count; /* all know before any is looked at */
    CHECK(gravel_cluster_direct_write(direct, most + 1, first, &many) == GRAVEL_ERR_INPUT);
    CHECK(strstr(gravel_error_message(), "too many") != NULL);
    CHECK(gravel_cluster_direct_write(direct, b.n, first, &mine) == GRAVEL_OK);
    find_forces(direct, &b, first, count, 4, f);
    compare(&b, first, count, 4, f, GRAVEL_DP);
    gravel_cluster_direct_release(direct);
}

/* No device on the last rank: every rank knows. */
static void no_device(void)
{
    gravel_cluster_options options = GRAVEL_CLUSTER_OPTIONS_INIT;
    gravel_cluster *cluster;
    char name[32];
    options.devices = rank == size - 1 ? "nothing of this name" : NULL;
    snprintf(name, sizeof name, "rank %d", size - 1);
    CHECK(gravel_cluster_create(&cluster, MPI_COMM_WORLD, &options) == GRAVEL_ERR_NO_DEVICE);
    CHECK(strstr(gravel_error_message(), name) != NULL);
}

static void run(gravel_cluster *cluster, const char *name)
{
    const gravel_scheme scheme = strstr(name, "ring") ? GRAVEL_SCHEME_RING : GRAVEL_SCHEME_COPIES;
    if (strncmp(name, "forces", 6) == 0)
        forces(cluster, scheme);
    else if (strncmp(name, "updates", 7) == 0)
        updates(cluster, scheme);
    else if (strcmp(name, "one-place") == 0)
        one_place(cluster);
    else if (strcmp(name, "failures") == 0)
        failures(cluster);
    else if (strcmp(name, "no-device") == 0)
        no_device();
    else
        CHECK(!"no such case");
}

int main(int argc, char **argv)
{
    gravel_cluster *cluster;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(gravel_cluster_create(&cluster, MPI_COMM_WORLD, NULL) == GRAVEL_OK);
    CHECK(gravel_cluster_get_size(cluster) == size && gravel_cluster_get_rank(cluster) == rank);
    CHECK(gravel_cluster_get_info(cluster, size - 1)->node_size == size);
    for (int k = 1; k < argc; k++)
        run(cluster, argv[k]);
    gravel_cluster_release(cluster);
    MPI_Finalize();
    return argc < 2;
}
