/* Loops over bodies on all cores, in pieces of a fixed length: what a piece gives does not depend on who works on it,
 * and sums of pieces are added in their order, so that the number of threads changes no bit. */
#ifndef GV_PIECES_H
#define GV_PIECES_H

#include <stdint.h>

#include "host/base/threads.h"

enum { GV_PIECE = 8192, GV_PIECE_TERMS = 16 };

static inline size_t gv_pieces_of(size_t n)
{
    return (n + GV_PIECE - 1) / GV_PIECE;
}

/* Threads for loops over n bodies; NULL where they are too few to start any. */
gv_pool *gv_pieces_pool(size_t n);
/* work(user, first, count) once for each piece of 0 ... n - 1, with threads of the pool. */
void gv_pieces_each(gv_pool *pool, size_t n, gv_work work, void *user);

/* Items that are dealt out to bins, in their order within a bin: piece[pieces][bins] holds how many items of a piece go
 * to each bin, and then where they begin; begin[bins]: where the bins do.  Returns the number of all. */
size_t gv_pieces_begin(uint32_t *piece, size_t pieces, size_t bins, size_t *begin);

/* Adds the items first ... first + count - 1 to total[terms], which is zero (-infinity for a maximum) before. */
typedef void (*gv_add)(const void *user, size_t first, size_t count, double *total);
/* total[terms], at most GV_PIECE_TERMS, the last `maxima` of which are not sums but maxima; on threads of its own. */
void gv_pieces_sum(size_t n, int terms, int maxima, gv_add add, const void *user, double *total);

#endif
