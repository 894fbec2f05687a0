/* A stable sort on the device: keys of 32 or 64 bits, each with a 32-bit index that goes with it.
 *
 *   gv_sort sort = {0};
 *   gv_sort_make(&sort, &worker, 64, NULL);
 *   gv_sort_reserve(&sort, n);                  room for n; keys that were there are lost
 *   ... a kernel writes sort.key[sort.sorted] and sort.index[sort.sorted] ...
 *   gv_sort_run(&sort, &worker, stage, n, 63);  submitted; keys are below 2^63
 *   ... sorted: sort.key[sort.sorted], sort.index[sort.sorted] (the other of the two has changed as well) ...
 *   gv_sort_release(&sort);
 */
#ifndef GV_SORT_H
#define GV_SORT_H

#include "host/program/launch.h"

/* How a tile of keys is ordered: kernels/lib/sort.cl says what is possible. */
typedef struct gv_sort_shape {
    int threads; /* work-items that share a tile; 1 on CPUs */
    int items;   /* keys per work-item */
    int bits;    /* of a digit: one pass a digit */
} gv_sort_shape;

/* So many keys are one tile where one work-item sorts it, whatever `items`: a second one, on another core, costs more
 * than it saves (10000 bodies: a tenth of a step with few active; doc/numbers.md, "Few active bodies on CPUs"). */
enum { GV_SORT_ONE_TILE = 16384 };

typedef struct gv_sort {
    gv_buffer key[2], index[2];
    int sorted; /* which of the two holds the keys: before gv_sort_run those to sort, after it the sorted ones */
    /* inside */
    gv_sort_shape shape, plain; /* in sweeps, and of the plain sort where those cannot be used */
    int key_bits;
    int in_sweeps;     /* one launch a pass (kernels/lib/sweep.cl), else three (kernels/lib/sort.cl) */
    size_t rows_group; /* work-items of a group of `rows` */
    cl_kernel count, rows, scatter, sweep_count, sweep_pass;
    gv_buffer table, total, control; /* control: for sweeps, table and total else */
} gv_sort;

/* Whether a device that can sort in sweeps (one launch a pass: kernels/lib/sweep.cl) does so in this shape. */
int gv_sort_in_sweeps(const gv_sort_shape *shape);
/* Local memory of the kernels, in bytes. */
size_t gv_sort_local_bytes(const gv_sort_shape *shape, int in_sweeps);
/* What kernels/lib/sort.cl is compiled with. */
void gv_sort_plain_options(const gv_sort_shape *shape, int key_bits, char *options, size_t size);
/* The default on this device where no profile gives another. */
gv_sort_shape gv_sort_usual_shape(const gv_worker *worker);
/* Compiles; shape NULL: the usual one.  What an earlier gv_sort_make left is released, but buffers stay. */
gravel_status gv_sort_make(gv_sort *sort, const gv_worker *worker, int key_bits, const gv_sort_shape *shape);
/* Room for n keys and what sorting them needs. */
gravel_status gv_sort_reserve(gv_sort *sort, const gv_worker *worker, size_t n);
/* Submits.  `used_bits`: keys have no bit set from this one on, which saves passes. */
gravel_status gv_sort_run(gv_sort *sort, gv_worker *worker, int stage, size_t n, int used_bits);
/* Bytes of all buffers. */
size_t gv_sort_memory(const gv_sort *sort);
void gv_sort_release(gv_sort *sort);

#endif
