/* The inside of gravel_cluster. */
#ifndef GV_CLUSTER_OBJECT_H
#define GV_CLUSTER_OBJECT_H

#include "gravel/cluster.h"

#if defined(__GNUC__)
#define GV_CLUSTER_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define GV_CLUSTER_PRINTF(a, b)
#endif

struct gravel_cluster {
    MPI_Comm comm; /* a duplicate: messages of the library meet no others */
    int rank, size;
    uint64_t failures;         /* that all agreed on */
    int is_patient;            /* some rank computes on processor cores, which waiting must not take */
    gravel_cluster_rank *info; /* of all ranks */
    /* of the context options, for the objects made later; strings are copies */
    gravel_context_options context;
    char *kernel_dir, *cache_dir, *profile_dir;
};

/* Ten arrays of n numbers as places of forces: accelerations, jerks, snaps by component, then potentials. */
gravel_forces gv_cluster_forces_at(double *p, size_t n, int order);
/* Sets the thread's message. */
gravel_status gv_cluster_fail(gravel_status status, const char *format, ...) GV_CLUSTER_PRINTF(2, 3);
/* An MPI call that failed. */
gravel_status gv_cluster_fail_mpi(int code, const char *what);
/* MPI_Waitall, which in most MPIs keeps a core busy: a patient cluster sleeps between looks. */
int gv_cluster_finish(const gravel_cluster *cluster, int n, MPI_Request *request);
/* As gravel_agree_fn (hermite.h). */
gravel_status gv_cluster_least(gravel_cluster *cluster, gravel_status status, double *least, double *sum);
/* MPI_Allgather of bytes; MPI's code. */
int gv_cluster_gather(const gravel_cluster *cluster, const void *mine, size_t bytes, void *all);

#endif
