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

#include "gravel/leapfrog.h"
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
    int cores;                /* on which it may run; what bound it there is mpirun or a batch system */
} gravel_cluster_rank;
GRAVEL_API const gravel_cluster_rank *gravel_cluster_get_info(const gravel_cluster *cluster, int rank);

/* All ranks.  The status of the first rank whose status is not OK, with its message, on every rank. */
GRAVEL_API gravel_status gravel_cluster_agree(gravel_cluster *cluster, gravel_status status);
/* How many failures all ranks agreed on. */
GRAVEL_API uint64_t gravel_cluster_get_failures(const gravel_cluster *cluster);

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

/* -------------------------------------------------------------- integrators */

/* Every rank has all bodies and an integrator of its own; they stay alike bit for bit, because forces come as the bits
 * that one rank found.  A call of many pairs is shared: each rank takes some of the sinks, and the results go round;
 * one of few each rank makes alone.  Ranks need like devices, one each.
 *
 *   gravel_context_create(&context, ...);                on gravel_cluster_get_info(cluster, rank)->devices
 *   gravel_cluster_share_create(&share, cluster, context);
 *   hermite_options.forces = gravel_cluster_share_forces;  hermite_options.forces_user = share;
 *   hermite_options.costs = gravel_cluster_share_costs;    hermite_options.forces_alike = 1;
 *   hermite_options.processes = gravel_cluster_get_size(cluster);
 *   hermite_options.alone_pairs = gravel_cluster_share_get_least_pairs(share);
 *   ... gravel_hermite_start, gravel_hermite_step (hermite.h): all ranks, with the same bodies ...
 *
 * With the costs small blocks may be moved by the host (hermite_options.host): each rank's moves all of the block, and
 * all find the same bits.  With the pairs each device finds and moves several small blocks in a row by itself.
 */
typedef struct gravel_cluster_share gravel_cluster_share;
/* All ranks.  GRAVEL_CLUSTER_LEAST_PAIRS in the environment: calls of fewer pairs are not shared (default: what a
 * device does in 40 us). */
GRAVEL_API gravel_status gravel_cluster_share_create(gravel_cluster_share **share, gravel_cluster *cluster,
                                                     gravel_context *context);
GRAVEL_API void gravel_cluster_share_release(gravel_cluster_share *share);
/* A gravel_forces_fn, `user` is the share.  All ranks, with the same call.  What fails on one rank fails on all, but
 * for failures to queue the results' way back, which later calls report. */
GRAVEL_API gravel_status gravel_cluster_share_forces(gravel_direct *direct, const gravel_direct_call *call, void *user);

/* Calls of fewer pairs are not shared. */
GRAVEL_API double gravel_cluster_share_get_least_pairs(const gravel_cluster_share *share);
/* A gravel_costs_fn, `user` is the share. */
GRAVEL_API gravel_status gravel_cluster_share_costs(gravel_status status, double *number, size_t count, void *user);

/* Since the share was created. */
typedef struct gravel_cluster_times {
    double calls, shared; /* how many, how many of them shared */
    double device_s;      /* waiting for this rank's device and for slower ranks */
    double exchange_s;    /* in messages */
    double bytes;         /* that this rank received */
} gravel_cluster_times;
GRAVEL_API void gravel_cluster_share_get_times(const gravel_cluster_share *share, gravel_cluster_times *times);

/* Bodies dealt out: a rank has some of them (at least one), and an integrator for these; the bodies of all ranks go
 * round, so that no device has room for more than three shares.  Every step sends all bodies to all ranks, also where
 * few of them move: this is for more bodies than the devices have room for, or for shared steps.  Devices may differ,
 * precision may not; blocks need no conversion where the bodies of all ranks have one frame (gravel_bodies_set_frame).
 * Ids must be written, and differ on all ranks.
 *
 *   gravel_cluster_ring_create(&ring, cluster, context);
 *   hermite_options.forces = gravel_cluster_ring_forces;  hermite_options.agree = gravel_cluster_ring_agree;
 *   hermite_options.forces_user = ring;
 *   ... gravel_hermite_start, gravel_hermite_get_next, gravel_hermite_step (hermite.h): all ranks together ...
 */
typedef struct gravel_cluster_ring gravel_cluster_ring;
GRAVEL_API gravel_status gravel_cluster_ring_create(gravel_cluster_ring **ring, gravel_cluster *cluster,
                                                    gravel_context *context); /* all ranks */
GRAVEL_API void gravel_cluster_ring_release(gravel_cluster_ring *ring);
/* A gravel_forces_fn and a gravel_agree_fn, `ring` is the ring.  All ranks, with calls that differ in their sinks
 * only; what fails on one rank fails on all. */
GRAVEL_API gravel_status gravel_cluster_ring_forces(gravel_direct *direct, const gravel_direct_call *call, void *ring);
GRAVEL_API gravel_status gravel_cluster_ring_agree(gravel_status status, double *least, double *sum, void *ring);
/* All ranks: potentials of this rank's bodies, from those of all. */
GRAVEL_API gravel_status gravel_cluster_ring_potentials(gravel_cluster_ring *ring, gravel_direct *direct,
                                                        gravel_bodies *bodies, double eps, double *potential);
GRAVEL_API void gravel_cluster_ring_get_times(const gravel_cluster_ring *ring, gravel_cluster_times *times);

/* A rank's range of `count` things, in the order of the ranks. */
GRAVEL_API void gravel_cluster_get_range(const gravel_cluster *cluster, size_t count, size_t *first, size_t *mine);

/* --------------------------------------------------------------------- tree */

/* Bodies of all ranks on the ranks' devices, each rank with those of its own domain, and trees of them.  Domains are
 * stretches of a space-filling curve with equal costs, as counted by the walks before; bodies change ranks on their
 * own.  Each rank sends the others what their sinks need of its tree, while its own tree acts: forces are those of one
 * tree of all bodies, with errors that do not depend on the number of ranks.
 *
 *   gravel_cluster_tree_create(&tree, cluster, &options);
 *   gravel_cluster_tree_write(tree, first, &mine);     body k of `mine` is number first + k of all, and keeps it
 *   gravel_cluster_tree_compute(tree);                 accelerations and potentials of all bodies
 *   while (time < end)
 *       gravel_cluster_tree_step(tree, dt);            kick, drift, exchange, trees, kick
 *   gravel_cluster_tree_read(tree, GRAVEL_POSITION, first, count, &to);
 *
 * A rank has one device here: the first of its selection. */
typedef struct gravel_cluster_tree gravel_cluster_tree;

typedef struct gravel_cluster_tree_options {
    uint32_t size;
    double theta; /* this and what follows: as in gravel_tree_options */
    gravel_tree_mac mac;
    int moments;
    gravel_softening softening;
    gravel_precision precision; /* of forces */
    gravel_precision stored;    /* of bodies */
    double eps;
    /* Bodies are dealt anew where the largest cost of a rank was more than `imbalance` times the mean above it (a
     * hundredth in the first three computations), and after so many computations (0: no others; -1: in each one
     * on processor cores, after 8 on other devices and in block steps).  There errors are those of one device. */
    double imbalance;
    int exchange;
    int runs; /* boxes of sinks that a rank tells the others at most; 0: 131072 over the ranks, 512 to 8192 */
    const char *configuration; /* of the trees; the same on all ranks */
} gravel_cluster_tree_options;
#define GRAVEL_CLUSTER_TREE_OPTIONS_INIT                                                                               \
    {                                                                                                                  \
        sizeof(gravel_cluster_tree_options), 0.5, GRAVEL_TREE_RELATIVE, 2, GRAVEL_PLUMMER, GRAVEL_SP, GRAVEL_DS, 0,    \
            0.05, -1, 0, NULL                                                                                          \
    }

/* All ranks, with the same options. */
GRAVEL_API gravel_status gravel_cluster_tree_create(gravel_cluster_tree **tree, gravel_cluster *cluster,
                                                    const gravel_cluster_tree_options *options);
GRAVEL_API void gravel_cluster_tree_release(gravel_cluster_tree *tree);

/* All ranks.  New bodies, whatever part of them each rank has: count, mass, pos and vel (or none of the ranks has vel)
 * are used.  Their numbers are first ... first + count - 1, and those of the ranks follow one another from 0 on. */
GRAVEL_API gravel_status gravel_cluster_tree_write(gravel_cluster_tree *tree, size_t first, const gravel_sources *mine);
/* All ranks.  Forces on all bodies, into the planes GRAVEL_ACCELERATION and GRAVEL_POTENTIAL. */
GRAVEL_API gravel_status gravel_cluster_tree_compute(gravel_cluster_tree *tree);
/* All ranks.  A leapfrog step of all bodies: half a kick, a drift, forces, half a kick. */
GRAVEL_API gravel_status gravel_cluster_tree_step(gravel_cluster_tree *tree, double dt);
/* Block steps, by gravel/leapfrog.h, until bodies are written or restored: a body gets forces when its own step ends.
 * All ranks, with the same options: eta, step_max, step_min, rebuild, tally and ahead are used.  Between blocks
 * positions are of one time, velocities half a step ahead of their bodies' planes TIME; accelerations are those at
 * TIME. */
GRAVEL_API gravel_status gravel_cluster_tree_start_blocks(gravel_cluster_tree *tree,
                                                          const gravel_leapfrog_options *options, double time);
GRAVEL_API gravel_status gravel_cluster_tree_get_next_block(gravel_cluster_tree *tree, double *time);
/* One block; `info` (may be NULL): bodies of all ranks. */
GRAVEL_API gravel_status gravel_cluster_tree_step_block(gravel_cluster_tree *tree, gravel_hermite_step_info *info);
/* Beside gravel_cluster_tree_save, the same on all ranks: all bodies' steps have just ended.  ERR_STATE: not now, step
 * on.  gravel_cluster_tree_restore first, then this is resumed. */
GRAVEL_API gravel_status gravel_cluster_tree_get_block_state(const gravel_cluster_tree *tree,
                                                             gravel_hermite_state *state);
GRAVEL_API gravel_status gravel_cluster_tree_resume_blocks(gravel_cluster_tree *tree,
                                                           const gravel_leapfrog_options *options,
                                                           const gravel_hermite_state *state);
/* All ranks: adds those of all bodies, as gravel_leapfrog_add_step_counts. */
GRAVEL_API gravel_status gravel_cluster_tree_add_step_counts(gravel_cluster_tree *tree,
                                                             uint64_t counts[GRAVEL_STEP_POWERS]);
/* All ranks.  Bodies number first ... first + count - 1 of all to this rank; every rank asks for what it wants, or
 * nothing (count 0). */
GRAVEL_API gravel_status gravel_cluster_tree_read(gravel_cluster_tree *tree, gravel_plane plane, size_t first,
                                                  size_t count, const gravel_array_out *to);
/* All ranks.  The largest acceleration of a body in the last computation; it is found on the host. */
GRAVEL_API gravel_status gravel_cluster_tree_get_largest(gravel_cluster_tree *tree, double *acceleration);
/* This rank's bodies, cells of others that the next step needs, and what decides when bodies are dealt anew, as bytes:
 * `state` has room for gravel_cluster_tree_get_state_size of them.  Restored by as many ranks with the same options the
 * same bits follow. */
GRAVEL_API size_t gravel_cluster_tree_get_state_size(const gravel_cluster_tree *tree);
GRAVEL_API gravel_status gravel_cluster_tree_save(gravel_cluster_tree *tree, void *state);
/* All ranks, each with what was saved by its own. */
GRAVEL_API gravel_status gravel_cluster_tree_restore(gravel_cluster_tree *tree, const void *state, size_t size);
/* The bodies in such a state of any rank, into `bodies` of the same precision, with their numbers as ids. */
GRAVEL_API gravel_status gravel_cluster_tree_open_state(const void *state, size_t size, gravel_bodies *bodies);
/* Those of this rank at present, for the caller's own kernels and sums; in no order that lasts, with their numbers as
 * ids.  The last user plane holds costs.  Bodies are not to be added or removed. */
GRAVEL_API gravel_bodies *gravel_cluster_tree_get_bodies(gravel_cluster_tree *tree);
GRAVEL_API size_t gravel_cluster_tree_get_total(const gravel_cluster_tree *tree);

/* Of the last computation, on this rank; seconds as the host saw them pass. */
typedef struct gravel_cluster_tree_info {
    size_t bodies;                     /* of this rank */
    size_t sent_cells;                 /* deep parts, to all other ranks together */
    size_t sent_bodies, bytes;         /* bytes: of all messages of the computation */
    size_t moved;                      /* bodies that left this rank */
    int messages;                      /* ranks that got a deep part */
    double cost, cost_mean, cost_most; /* interactions, in some unit: of this rank, over the ranks */
    size_t boxes;                      /* of sinks, for which others cut their trees */
    double seconds;                    /* the whole computation */
    /* parts of it; `walk`: own tree and messages; `others`: until the device has done all */
    double exchange, build, estimate, cut, walk, others;
    /* and in all parts together: for the other ranks at agreements; for boxes and parts of trees on their way; for what
     * the device cut, on its way to the host */
    double waits, transfer, fetch;
} gravel_cluster_tree_info;
GRAVEL_API void gravel_cluster_tree_get_info(const gravel_cluster_tree *tree, gravel_cluster_tree_info *info);

#ifdef __cplusplus
}
#endif
#endif
