/* A transfer in its pieces: columns (one component of the caller's arrays each), fields (words of planes,
 * kernels/bodies/transfer.cl), blocks of bodies, and pieces of blocks that threads convert. */
#ifndef GV_BATCH_H
#define GV_BATCH_H

#include <pthread.h>

#include "host/bodies/transfer.h"

/* One component of a transfer. */
typedef struct gv_column {
    gv_numbers numbers;
    gv_conversion how;
    size_t high, low; /* which columns of the batch; low of two-floats only */
    int pair;
} gv_column;

typedef struct gv_batch {
    gravel_bodies *bodies;
    const uint32_t *address;
    size_t first, count;
    int n_planes;
    const gravel_plane *plane;
    gv_column column[GV_MOST_COLUMNS];
    int columns;
    size_t width; /* columns of the batch on the device */
    cl_mem word[GV_MOST_FIELDS];
    int fields;
    cl_uint field[8]; /* four a number */
    size_t number;    /* bytes of one */
} gv_batch;

/* A batch that waits for a kernel; numbers of its own, since other writes may come between. */
struct gv_holding {
    gv_batch batch;
    char numbers[GV_MOST_HELD];
};

/* Some bodies of the call in one slot. */
typedef struct gv_block {
    size_t from, n; /* entries of the call */
    size_t head;    /* numbers that the addresses take */
    gv_slot *slot;
    char *host;
    int left;                                               /* pieces that are not converted yet */
    int bad;                                                /* a number does not fit */
    enum { GV_ON_ITS_WAY, GV_WAITED_FOR, GV_HERE } arrival; /* of a read */
} gv_block;

/* Bodies that a thread converts at a time; blocks beyond which they are made larger, since each costs the driver some
 * 40 us; bodies of the largest. */
enum { GV_PIECE = 8192, GV_MANY_BLOCKS = 64, GV_MOST_BLOCK = 4 * GV_BLOCK };

/* A transfer under way: what its threads share. */
typedef struct gv_stream {
    gv_batch *batch;
    cl_kernel kernel;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t moved;
    gv_block *block, only;
    size_t blocks, pieces, per_block; /* per_block: pieces of a block */
    size_t begun, ended;              /* blocks that have a slot, that are done with it */
    int busy;                         /* a thread submits commands to the device, without the lock */
    gravel_status status;
    char message[512]; /* of the first failure: messages belong to the thread that failed */
} gv_stream;

void gv_batch_start(gv_batch *b, gravel_bodies *bodies, const uint32_t *address, size_t first, size_t count,
                    int n_planes, const gravel_plane *plane);
/* A plane of the call; `low` NULL: there are no low words. */
void gv_batch_add(gv_batch *b, gravel_plane plane, const gravel_array *array, cl_mem high, cl_mem low);
/* A field as kernels/bodies/transfer.cl reads it. */
cl_uint gv_field_bits(const gv_place *place, int first, int components, const gravel_bodies *bodies);
size_t gv_block_bytes(const gv_batch *b, const gv_block *block);
/* Number k of a column of the block. */
char *gv_block_column(const gv_batch *b, const gv_block *block, size_t column, size_t k);
/* Starts put or get of the block with `numbers` as its batch; words beyond those of the call are NULL. */
gravel_status gv_batch_launch(gv_batch *b, const gv_block *block, cl_kernel kernel, int fields, gv_arg numbers,
                              cl_event after, cl_event *done);

/* `work` over the call's pieces by the threads of the context; ends the stream and gives the first failure. */
gravel_status gv_stream_open(gv_stream *s, gv_batch *batch, cl_kernel kernel);
gravel_status gv_stream_run(gv_stream *s, void (*work)(void *user, size_t first, size_t count));
/* Keeps the thread's failure for the caller; the lock is held. */
void gv_stream_fail(gv_stream *s, gravel_status status);
/* Entries of a piece, from the start of its block. */
void gv_stream_piece(const gv_stream *s, size_t piece, gv_block **block, size_t *first, size_t *count);

gravel_status gv_check_array(gravel_plane plane, const gravel_array *array, int all);
gravel_status gv_check_addresses(const gravel_bodies *bodies, const uint32_t *address, size_t count);

gravel_status gv_need_transfer(gravel_bodies *bodies);
extern const int gv_put_fields[GV_PUT_KERNELS];
gravel_status gv_need_kernel(gravel_bodies *bodies, const char *name, int fields, cl_kernel *kernel);

#endif
