/* The inside of gravel_cluster. */
#ifndef GV_CLUSTER_OBJECT_H
#define GV_CLUSTER_OBJECT_H

#include "gravel/cluster.h"

#if defined(__GNUC__)
#define GV_CLUSTER_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define GV_CLUSTER_PRINTF(a, b)
#endif

/* Ranks that share memory.  They stand one after the other in the cluster and are as many on each machine; where that
 * is not so, every rank counts as a machine of its own. */
typedef struct gv_machine_ranks {
    MPI_Comm comm, across; /* of this machine; of the ranks that have this one's number on all machines */
    int rank, size;        /* this rank's number on its machine; how many are there */
    int first;             /* the rank in the cluster whose number is 0 */
    int machines;
} gv_machine_ranks;

struct gravel_cluster {
    MPI_Comm comm; /* a duplicate: messages of the library meet no others */
    int rank, size;
    gv_machine_ranks near;
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
/* MPI_Waitall, which in most MPIs keeps a core busy: a patient cluster sleeps between looks, the longer the
 * longer it has waited. */
int gv_cluster_finish(const gravel_cluster *cluster, int n, MPI_Request *request);
/* near.c: who shares this rank's machine; MPI's code.  GRAVEL_CLUSTER_NEAR in the environment of rank 0: at most so
 * many ranks share memory. */
int gv_near_find(gravel_cluster *cluster);
void gv_near_forget(gravel_cluster *cluster);
/* As gravel_agree_fn (hermite.h). */
gravel_status gv_cluster_least(gravel_cluster *cluster, gravel_status status, double *least, double *sum);
/* MPI_Allgather of bytes; MPI's code. */
int gv_cluster_gather(const gravel_cluster *cluster, const void *mine, size_t bytes, void *all);
/* MPI_Allgatherv: count[r] of rank r go to the place first[r]; MPI's code. */
int gv_cluster_gather_parts(const gravel_cluster *cluster, const void *mine, MPI_Datatype type, void *all,
                            const int *count, const int *first);

#endif
