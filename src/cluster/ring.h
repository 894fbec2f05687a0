/* Inside of gravel_cluster_ring. */
#ifndef GV_CLUSTER_RING_H
#define GV_CLUSTER_RING_H

#include "cluster/staging.h"

enum { GV_RING_WORDS = 11, GV_RING_RESULTS = 10 };

/* What a rank tells of its bodies. */
typedef struct gv_ring_share {
    size_t count;
    gravel_precision precision;
    gravel_frame frame;
} gv_ring_share;

struct gravel_cluster_ring {
    gravel_cluster *cluster;
    gravel_context *context;
    gravel_bodies *visitors[2];
    gv_ring_share *share; /* of each rank */
    gv_staging staging;
    double *part; /* results of one block */
    double *sum;  /* of all, on the host */
    size_t part_size, sum_size;
    gravel_cluster_times times;
};

/* A word of a plane: `bytes` of a body. */
typedef struct gv_ring_word {
    gravel_plane plane;
    int number;
    size_t bytes;
} gv_ring_word;

/* What one call hands round: the words, and what its sums need. */
typedef struct gv_ring_round {
    gravel_direct *direct;
    const gravel_direct_call *call;
    int words;
    gv_ring_word word[GV_RING_WORDS];
    size_t bytes, room; /* of a body; of a block, the largest */
    double *sum;        /* NULL: into planes */
    int turn;           /* counts blocks that were begun */
    int has_sums;       /* in the planes */
    gravel_ticket *ticket[2];
    cl_event done[2]; /* the last sum from each set of visitors */
} gv_ring_round;

/* ring_blocks.c */

/* What sources of this call need; the same on all ranks, which make the same call.  Masses stand in positions. */
gravel_status gv_ring_choose_words(gv_ring_round *round);
/* All ranks, which know the shares of all. */
gravel_status gv_ring_need_room(gravel_cluster_ring *ring, gv_ring_round *round);
gravel_status gv_ring_need_numbers(double **place, size_t *size, size_t wanted);
/* Where the block of a machine's rank stands: slot 0 has those of this machine, 1 and 2 in turn those of others. */
unsigned char *gv_ring_block_at(const gravel_cluster_ring *ring, const gv_ring_round *round, int slot, int number);
/* This rank's bodies, on their way there. */
gravel_status gv_ring_read_own(gravel_cluster_ring *ring, const gv_ring_round *round);
/* The block of `owner` as visitors of the present turn; what is submitted next sums them. */
gravel_status gv_ring_write_visitors(gravel_cluster_ring *ring, gv_ring_round *round, const unsigned char *from,
                                     int owner);

#endif
