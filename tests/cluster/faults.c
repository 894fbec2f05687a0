/* A rank without memory: run by gate_mpi as `mpirun -n P faults CASE`.  One allocation on the device fails on the last
 * rank, the first in one round, the third in the next, and so on: whatever it is for, all ranks get the same failure,
 * with the rank named once, and nobody waits for messages that do not come.  `meetings` counts messages instead.  MPI's
 * and OpenCL's functions that this program has are called in place of theirs. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "check.h"

enum { BODIES = 600, MANY = 1000 };

/* --------------------------------------------------------- in place of others */

static int made, bad = -1; /* buffers; the one that fails */
static int meetings, waits;

CL_API_ENTRY cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                                               cl_int *code)
{
    static cl_mem (*real)(cl_context, cl_mem_flags, size_t, void *, cl_int *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clCreateBuffer");
    if (made++ != bad)
        return real(context, flags, bytes, host, code);
    if (code)
        *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem from, cl_bool waiting, size_t at,
                                                    size_t bytes, void *to, cl_uint n, const cl_event *after,
                                                    cl_event *done)
{
    static cl_int (*real)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *,
                          cl_event *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clEnqueueReadBuffer");
    waits += waiting != CL_FALSE;
    return real(queue, from, waiting, at, bytes, to, n, after, done);
}

int MPI_Iallreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    meetings++;
    return PMPI_Iallreduce(from, to, n, type, op, comm, request);
}

int MPI_Iallgather(const void *from, int n, MPI_Datatype type, void *to, int each, MPI_Datatype of, MPI_Comm comm,
                   MPI_Request *request)
{
    meetings++;
    return PMPI_Iallgather(from, n, type, to, each, of, comm, request);
}

int MPI_Iallgatherv(const void *from, int n, MPI_Datatype type, void *to, const int *each, const int *at,
                    MPI_Datatype of, MPI_Comm comm, MPI_Request *request)
{
    meetings++;
    return PMPI_Iallgatherv(from, n, type, to, each, at, of, comm, request);
}

int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    meetings++;
    return PMPI_Allreduce(from, to, n, type, op, comm);
}

int MPI_Alltoall(const void *from, int n, MPI_Datatype type, void *to, int each, MPI_Datatype of, MPI_Comm comm)
{
    meetings++;
    return PMPI_Alltoall(from, n, type, to, each, of, comm);
}

/* ---------------------------------------------------------------------- bodies */

typedef struct bodies {
    double m[BODIES], x[3][BODIES], v[3][BODIES];
} bodies;

/* A cold cube that turns: bodies change ranks. */
static void make_cube(bodies *b)
{
    uint64_t seed = 7;
    for (size_t i = 0; i < BODIES; i++) {
        b->m[i] = 1.0 / BODIES;
        for (int c = 0; c < 3; c++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            b->x[c][i] = (double)(seed >> 11) * 0x1p-52 - 1;
        }
        b->v[0][i] = -b->x[1][i];
        b->v[1][i] = b->x[0][i];
        b->v[2][i] = 0;
    }
}

static gravel_cluster_tree *open_tree(gravel_cluster *cluster)
{
    gravel_cluster_tree_options options = GRAVEL_CLUSTER_TREE_OPTIONS_INIT;
    gravel_cluster_tree *tree = NULL;
    options.eps = 0.02;
    options.exchange = 2;
    CHECK(gravel_cluster_tree_create(&tree, cluster, &options) == GRAVEL_OK);
    return tree;
}

static gravel_status write_bodies(gravel_cluster *cluster, gravel_cluster_tree *tree)
{
    static bodies b;
    size_t first, count;
    make_cube(&b);
    gravel_cluster_get_range(cluster, BODIES, &first, &count);
    const gravel_sources mine = {.count = count,
                                 .mass = b.m + first,
                                 .pos = GRAVEL_VEC_SOA(b.x[0] + first, b.x[1] + first, b.x[2] + first),
                                 .vel = GRAVEL_VEC_SOA(b.v[0] + first, b.v[1] + first, b.v[2] + first)};
    return gravel_cluster_tree_write(tree, first, &mine);
}

/* ---------------------------------------------------------------------- faults */

static gravel_status take_steps(gravel_cluster *cluster, gravel_cluster_tree *tree)
{
    gravel_status status = write_bodies(cluster, tree);
    for (int k = 0; k < 3 && !status; k++)
        status = gravel_cluster_tree_step(tree, 0.05);
    return status;
}

static gravel_status take_blocks(gravel_cluster *cluster, gravel_cluster_tree *tree)
{
    gravel_leapfrog_options o = GRAVEL_LEAPFROG_OPTIONS_INIT;
    gravel_hermite_step_info block;
    double next;
    o.step_max = 0x1p-5;
    o.step_min = 0x1p-16;
    o.rebuild = 0.5;
    o.ahead = o.tally = 1;
    gravel_status status = write_bodies(cluster, tree);
    if (!status)
        status = gravel_cluster_tree_start_blocks(tree, &o, 0);
    for (int k = 0; k < 4 && !status; k++) {
        status = gravel_cluster_tree_get_next_block(tree, &next);
        if (!status)
            status = gravel_cluster_tree_step_block(tree, &block);
    }
    return status;
}

/* How often `part` stands in `text`. */
static int count_parts(const char *text, const char *part)
{
    int count = 0;
    for (const char *p = strstr(text, part); p; p = strstr(p + 1, part))
        count++;
    return count;
}

static void fail_at_each(gravel_cluster *cluster, gravel_status (*work)(gravel_cluster *, gravel_cluster_tree *))
{
    char name[32];
    int round = 0, failed = 1;
    snprintf(name, sizeof name, "rank %d on", size - 1);
    for (; failed && round < MANY; round += 2) { /* each takes a tree of its own: every other one */
        gravel_cluster_tree *tree = open_tree(cluster);
        made = 0;
        bad = rank == size - 1 ? round : -1;
        const gravel_status status = work(cluster, tree);
        const int mine = rank == size - 1 && made > bad;
        bad = -1;
        PMPI_Allreduce(&mine, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        CHECK(status == GRAVEL_OK || failed);
        /* memory for the driver to pin is done without */
        CHECK(status == GRAVEL_OK ||
              (count_parts(gravel_error_message(), name) == 1 && count_parts(gravel_error_message(), "rank ") == 1));
        gravel_cluster_tree_release(tree);
    }
    CHECK(round > 20 && round < MANY); /* some have failed, at last none */
    if (rank == 0)
        printf("%d ranks: every other of %d allocations failed\n", size, round - 2);
}

/* -------------------------------------------------------------------- meetings */

/* A step is 5 messages of all to all: numbers of boxes, boxes, sizes of parts, parts are there, costs.  One in which
 * bodies change ranks has 6 more: boxes around bodies, costs along the curve, numbers of bodies, room for them; where
 * the bodies are now: two. */
static void count_meetings(gravel_cluster *cluster)
{
    gravel_cluster_tree *tree = open_tree(cluster);
    gravel_cluster_tree_info info;
    int dealt = 0, others = 0, all_made = 0;
    CHECK(write_bodies(cluster, tree) == GRAVEL_OK);
    for (int k = 0; k < 40; k++) {
        meetings = waits = made = 0;
        CHECK(gravel_cluster_tree_step(tree, 0.01) == GRAVEL_OK);
        const int met = meetings, waited = waits, buffers = made;
        gravel_cluster_tree_get_info(tree, &info);
        double moved = (double)info.moved, most;
        PMPI_Allreduce(&moved, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (k < 20) /* memory is made */
            continue;
        dealt += most > 0;
        others += most == 0;
        all_made += buffers;
        if (rank == 0)
            printf("%d ranks, step %d: %.0f bodies move, %d messages, %d waits, %d buffers\n", size, k, most, met,
                   waited, buffers);
        CHECK(met <= (most > 0 ? 11 : 5));
        CHECK(waited <= (most > 0 ? 5 : 2));
    }
    CHECK(size == 1 || (dealt > 0 && others > 0));
    CHECK(all_made < 2 * dealt); /* with room to spare; else keys, lists and what moves words are made each time: 7 */
    gravel_cluster_tree_release(tree);
}

int main(int argc, char **argv)
{
    gravel_cluster *cluster;
    const char *name = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(gravel_cluster_create(&cluster, MPI_COMM_WORLD, NULL) == GRAVEL_OK);
    if (strcmp(name, "steps") == 0)
        fail_at_each(cluster, take_steps);
    else if (strcmp(name, "blocks") == 0)
        fail_at_each(cluster, take_blocks);
    else if (strcmp(name, "meetings") == 0)
        count_meetings(cluster);
    else
        CHECK(!"no such case");
    gravel_cluster_release(cluster);
    MPI_Finalize();
    return 0;
}
