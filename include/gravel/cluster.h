/* gravel: one force computation over the ranks of an MPI job.
 *
 * Libraries: -lgravel_mpi -lgravel (scons mpi=1).  MPI is initialised and finalised by the caller.
 *
 *   gravel_cluster_create(&cluster, MPI_COMM_WORLD, NULL);
 *   gravel_cluster_direct_create(&direct, cluster, &options);
 *   gravel_cluster_direct_write(direct, total, first, &mine);     bodies first ... first + mine.count - 1 of `total`
 *   gravel_cluster_direct_forces(direct, &call, &forces);         on this rank's sinks, from the bodies of all ranks
 *
 * Functions marked "all ranks" are called by all ranks in the same order.  They return the same status on every rank:
 * if one rank fails, all do, and gravel_error_message() names the rank and says why.  The same ranks, devices and calls
 * give the same bits; other numbers of ranks agree within rounding.
 */
#ifndef GRAVEL_CLUSTER_H
#define GRAVEL_CLUSTER_H

#include <mpi.h>

#include "gravel/several.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gravel_cluster gravel_cluster;

typedef struct gravel_cluster_options {
    uint32_t size;
    /* Devices of the ranks of one machine: entries joined by semicolons, dealt out in turn; an entry is what
     * gravel_several_options.devices takes: "0;1;2;3", "0,1;2,3", "cpu:4".  NULL: the environment variable
     * GRAVEL_CLUSTER_DEVICES, else one GPU a rank in turn, else the processor's cores shared evenly. */
    const char *devices;
    const gravel_context_options *context; /* folders, log, no_fp64; NULL: defaults */
} gravel_cluster_options;
#define GRAVEL_CLUSTER_OPTIONS_INIT                                                                                    \
    {                                                                                                                  \
        sizeof(gravel_cluster_options), NULL, NULL                                                                     \
    }

/* All ranks.  A rank without a device, or of another version of gravel, is named. */
GRAVEL_API gravel_status gravel_cluster_create(gravel_cluster **cluster, MPI_Comm comm,
                                               const gravel_cluster_options *options);
GRAVEL_API void gravel_cluster_release(gravel_cluster *cluster); /* all ranks */
GRAVEL_API int gravel_cluster_get_rank(const gravel_cluster *cluster);
GRAVEL_API int gravel_cluster_get_size(const gravel_cluster *cluster);

/* What a rank has. */
typedef struct gravel_cluster_rank {
    char host[GRAVEL_NAME_SIZE];
    char devices[GRAVEL_NAME_SIZE]; /* the selection, as gravel_several_options.devices takes it */
    char name[GRAVEL_NAME_SIZE];    /* of the first device */
    char driver[GRAVEL_NAME_SIZE];
    char version[16]; /* of gravel */
    int device_count, compute_units;
    int node_rank, node_size; /* among the ranks of its machine */
} gravel_cluster_rank;
GRAVEL_API const gravel_cluster_rank *gravel_cluster_get_info(const gravel_cluster *cluster, int rank);

/* All ranks.  The status of the first rank whose status is not OK, with its message, on every rank. */
GRAVEL_API gravel_status gravel_cluster_agree(gravel_cluster *cluster, gravel_status status);

/* ------------------------------------------------------------------- direct */

typedef enum gravel_scheme {
    GRAVEL_SCHEME_CHOSEN, /* copies where the devices have room for all bodies, else the ring */
    GRAVEL_SCHEME_COPIES, /* every rank holds all bodies and finds the forces on its own; changes go to all ranks */
    GRAVEL_SCHEME_RING    /* every rank holds its own bodies; blocks of them go round while forces are found */
} gravel_scheme;
GRAVEL_API const char *gravel_scheme_name(gravel_scheme scheme); /* "ring" */

typedef struct gravel_cluster_direct gravel_cluster_direct;

typedef struct gravel_cluster_direct_options {
    uint32_t size;
    gravel_precision precision;
    gravel_scheme scheme;
    gravel_host_answers host;
    const char *configuration; /* as in gravel_direct_options */
} gravel_cluster_direct_options;
#define GRAVEL_CLUSTER_DIRECT_OPTIONS_INIT                                                                             \
    {                                                                                                                  \
        sizeof(gravel_cluster_direct_options), GRAVEL_DS, GRAVEL_SCHEME_CHOSEN, GRAVEL_HOST_WHERE_FASTER, NULL         \
    }

/* All ranks, with the same options but for `configuration`. */
GRAVEL_API gravel_status gravel_cluster_direct_create(gravel_cluster_direct **direct, gravel_cluster *cluster,
                                                      const gravel_cluster_direct_options *options);
GRAVEL_API void gravel_cluster_direct_release(gravel_cluster_direct *direct);
GRAVEL_API gravel_scheme gravel_cluster_direct_get_scheme(const gravel_cluster_direct *direct);

/* All ranks.  There are `total` bodies; this rank has first ... first + mine->count - 1, and the ranks' ranges cover
 * all of them in the order of the ranks.  A rank may have none.  Every rank gives the same members of `mine` (id NULL:
 * the numbers of the bodies). */
GRAVEL_API gravel_status gravel_cluster_direct_write(gravel_cluster_direct *direct, size_t total, size_t first,
                                                     const gravel_sources *mine);
/* All ranks.  New values of some of this rank's bodies, by their numbers among all; the same members as were
 * written. */
GRAVEL_API gravel_status gravel_cluster_direct_update(gravel_cluster_direct *direct, const uint32_t *number,
                                                      const gravel_sources *changed);

typedef struct gravel_cluster_call {
    uint32_t size;
    const gravel_sinks *sinks; /* of this rank; count 0 is legal */
    int order;                 /* 2, 4 or 6; the same on all ranks, as are the members below */
    double eps;
    int predict; /* 1: sources are predicted to `time` */
    double time;
} gravel_cluster_call;
#define GRAVEL_CLUSTER_CALL_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(gravel_cluster_call), NULL, 4, 0, 0, 0                                                                  \
    }
/* All ranks.  acc, jerk, snap and pot; other members of `forces` must be NULL. */
GRAVEL_API gravel_status gravel_cluster_direct_forces(gravel_cluster_direct *direct, const gravel_cluster_call *call,
                                                      const gravel_forces *forces);

#ifdef __cplusplus
}
#endif
#endif
