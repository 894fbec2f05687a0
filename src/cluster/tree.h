/* The inside of gravel_cluster_tree. */
#ifndef GV_CLUSTER_TREE_H
#define GV_CLUSTER_TREE_H

#include "cluster/object.h"
#include "cluster/staging.h"

#include "gravel/essential.h"
#include "gravel/exchange.h"

/* costs of bodies */
#define GV_COST_PLANE GRAVEL_USER_LAST

/* Messages under way between all ranks: a block each way, with a stretch for every rank. */
typedef struct gv_swap {
    const gravel_cluster *cluster;
    MPI_Request *request; /* 2 a rank */
    int n;                /* that were started */
    size_t bytes;         /* that were sent */
    int skip, skip_end;   /* the stretches of these ranks, as that of this one, stay as they are until gv_swap_wait */
    int messages;
} gv_swap;

/* Bodies that stand for those of a rank, evenly among them. */
enum { GV_SAMPLE = 64 };
typedef struct gv_cluster_sample {
    double x[3][GV_SAMPLE]; /* in the callers' units */
    uint64_t count;
} gv_cluster_sample;

/* What a rank tells of its bodies before they are dealt out. */
typedef struct gv_told {
    double most[6]; /* -x -y -z x y z */
    uint64_t planes, failed;
} gv_told;

/* Its bodies along the curve: blocks, with the key of the first body and the sum of costs. */
enum { GV_CURVE_BLOCKS = 2048 };
typedef struct gv_curve {
    uint64_t key[GV_CURVE_BLOCKS];
    double weight[GV_CURVE_BLOCKS];
    int count, failed;
} gv_curve;

struct gravel_cluster_tree {
    gravel_cluster *cluster;
    gravel_cluster_tree_options options;
    gravel_context *context;
    gravel_bodies *bodies;
    gravel_tree *tree;
    gravel_exchange *exchange;
    gravel_essential *essential;
    gravel_leapfrog *blocks;                  /* NULL: no block steps */
    uint64_t step_counts[GRAVEL_STEP_POWERS]; /* of it, before bodies were dealt last */
    size_t total;                             /* bodies of all ranks */
    int has_velocities;
    int computed;     /* accelerations are those of the positions */
    int has_costs;    /* the plane of costs is that of an earlier computation */
    int since;        /* computations since bodies were dealt */
    int computations; /* since bodies were written */
    int dealt;        /* the last question whether to deal bodies dealt them */
    int most_runs;    /* that tell where bodies are, of each rank */
    int most_boxes;   /* for which others cut their trees */
    /* one a rank, or as many as all ranks have together */
    gravel_run *runs, *all_runs, *equal; /* equal: of all ranks, that tell where bodies were in the last computation */
    float *own_floats, *all_floats;      /* runs on their way */
    int *first, *count, *equal_first, *counts_of; /* counts_of: two a rank */
    int kept;                                     /* the bodies of each rank are still those, a little moved */
    int near; /* accelerations are those of the step before: they serve for estimates, no boundaries travel */
    gravel_part *out, *in, *all_parts; /* all_parts[r * ranks + k]: from r to k */
    const void **from;                 /* where the host has what came from each rank */
    gv_staging staging;                /* parts, of the ranks of this machine */
    size_t *out_bytes, *in_bytes;
    gv_told *told;
    gv_curve *curve; /* that of this rank behind those of all */
    uint64_t *key;   /* GV_CURVE_BLOCKS of each rank */
    double *weight;
    uint64_t *split;
    size_t *counts, *all_counts, *arrivals; /* all_counts[r * ranks + k]: bodies from r to k */
    double *costs;                          /* two a rank: its cost, and whether it failed */
    gv_swap swap;
    double waits; /* of the present computation */
    gravel_cluster_tree_info info;
};

/* swap.c */
gravel_status gv_swap_make(gv_swap *swap, const gravel_cluster *cluster);
void gv_swap_release(gv_swap *swap);
/* Stretches of in_bytes[r] follow one another in `to`; bytes are multiples of 16.  The own stretch stays as it is. */
gravel_status gv_swap_receive(gv_swap *swap, const gravel_cluster *cluster, int tag, void *to, const size_t *in_bytes);
gravel_status gv_swap_send(gv_swap *swap, const gravel_cluster *cluster, int tag, const void *from,
                           const size_t *out_bytes);
/* Until all have come and gone, whatever `status` is; returns the first failure. */
gravel_status gv_swap_wait(gv_swap *swap, gravel_status status);

/* tree.c */
/* gravel_cluster_agree, timed. */
gravel_status gv_cluster_meet(gravel_cluster_tree *tree, gravel_status status);
/* After a message of MPI's `code` in which every rank told whether it had failed, and `any` has: then all meet. */
gravel_status gv_cluster_learn(gravel_cluster_tree *tree, gravel_status status, int any, int code, const char *what);
/* Whether all ranks know of the failure: none has agreed on anything else since. */
int gv_cluster_is_known(const gravel_cluster_tree *tree, gravel_status status, uint64_t failures);
/* Forces of all ranks' trees on the sinks of a call, of whose last part a rank may fail alone; NULL: on all bodies,
 * which then get the last kick of a step, `kick` times the acceleration, and all ranks have the same result.  `status`:
 * of what this rank did before. */
gravel_status gv_cluster_act(gravel_cluster_tree *tree, const gravel_tree_call *call, double kick,
                             gravel_status status);
/* The sum over the plane of costs, compared with those of the other ranks, who learn of this rank's `status`. */
gravel_status gv_cluster_compare_costs(gravel_cluster_tree *tree, gravel_status status);

/* tree_parts.c: what was cut goes out, what others cut comes in and is joined, which may fail here alone. */
gravel_status gv_cluster_swap_parts(gravel_cluster_tree *tree, gravel_status status, int tag);

/* frame.c */
/* Origin and length of a frame for bodies of all ranks in the box lo ... hi; all ranks meet.  `status`: of what this
 * rank did before. */
gravel_status gv_cluster_choose_frame(gravel_cluster *cluster, gravel_status status, const gv_cluster_sample *mine,
                                      const double lo[3], const double hi[3], gravel_frame *frame);

/* tree_blocks.c: bodies are others from now on. */
void gv_cluster_end_blocks(gravel_cluster_tree *tree);

/* domains.c */
/* Bodies to the ranks of their domains, if that is due.  What this rank did before, or does last, may have failed here
 * alone: it tells the others in its next message. */
gravel_status gv_cluster_deal(gravel_cluster_tree *tree, gravel_status status);

#endif
