/* Shared memory of the ranks of a machine: run by gate_mpi as `mpirun -n P near`.  Ranks of one machine count as
 * several machines by GRAVEL_CLUSTER_NEAR. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "check.h"

#include "cluster/near.h"

static unsigned char byte_of(int from, size_t k, int turn)
{
    return (unsigned char)(37 * from + 11 * turn + (int)(k % 251));
}

/* Every rank writes its piece where it belongs; all have all pieces then, and what others wrote before it. */
static void bring(const gv_near *near, size_t offset, size_t bytes, int turn)
{
    unsigned char *mine = near->memory + offset + (size_t)rank * bytes;
    near->memory[(size_t)near->who.rank] = byte_of(rank, 0, turn);
    for (size_t k = 0; k < bytes; k++)
        mine[k] = byte_of(rank, k, turn);
    CHECK(gv_near_meet(near) == MPI_SUCCESS);
    for (int r = 0; r < size; r++)
        CHECK(!gv_near_has(near, r) || near->memory[r - near->who.first] == byte_of(r, 0, turn));
    CHECK(gv_near_gather(near, offset, bytes) == MPI_SUCCESS);
    for (int r = 0; r < size; r++)
        for (size_t k = 0; k < bytes; k++)
            CHECK(near->memory[offset + (size_t)r * bytes + k] == byte_of(r, k, turn));
    CHECK(gv_near_meet(near) == MPI_SUCCESS); /* before the next turn writes */
}

/* machine: ranks that share; 0: all */
static void machines_of(int machine)
{
    gravel_cluster *cluster;
    char text[16];
    snprintf(text, sizeof text, "%d", machine);
    setenv("GRAVEL_CLUSTER_NEAR", text, 1);
    CHECK(gravel_cluster_create(&cluster, MPI_COMM_WORLD, NULL) == GRAVEL_OK);
    const int wanted = machine == 0 ? size : size % machine == 0 ? machine : 1;
    gv_near near = gv_near_begin(cluster), other = gv_near_begin(cluster);
    CHECK(near.who.size == wanted && near.who.machines == size / wanted && near.who.rank == rank % wanted);
    CHECK(near.who.first == rank / wanted * wanted && gv_near_has(&near, rank));
    for (int turn = 0; turn < 3; turn++) {
        const size_t bytes = turn == 0 ? 1 : turn == 1 ? 100000 : 777; /* larger, and smaller again */
        CHECK(gv_near_need(&near, 64 + (size_t)size * bytes) == GRAVEL_OK);
        CHECK(gv_near_need(&other, 10) == GRAVEL_OK && other.memory[turn] == 0);
        bring(&near, 64, bytes, turn);
    }
    gv_near_release(&other);
    /* no room for shared memory on the first rank: all go on, each with its own */
    struct rlimit limit, none;
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    none = limit;
    none.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(rank > 0 || setrlimit(RLIMIT_FSIZE, &none) == 0);
    CHECK(gv_near_need(&near, 64 + (size_t)size * 200000) == GRAVEL_OK);
    CHECK(rank > 0 || setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(near.who.size == 1 && near.who.first == rank && near.who.machines == size);
    bring(&near, 64, 200000, 3);
    gv_near_release(&near);
    gravel_cluster_release(cluster);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    machines_of(0);
    machines_of(2);
    MPI_Finalize();
    return 0;
}
