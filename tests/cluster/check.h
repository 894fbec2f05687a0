/* Shared by the programs of gate_mpi: a condition that does not hold ends all ranks. */
#ifndef GV_CLUSTER_CHECK_H
#define GV_CLUSTER_CHECK_H

#include <stdio.h>

#include "gravel/cluster.h"

static int rank, size;

static inline void check(int good, const char *what, int line)
{
    if (good)
        return;
    printf("rank %d of %d: line %d: %s (%.300s)\n", rank, size, line, what, gravel_error_message());
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(condition) check((condition), #condition, __LINE__)

#endif
