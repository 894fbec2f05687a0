/* The tuner's particles: a Plummer sphere that grows on demand, and output arrays with canaries behind them. */
#ifndef GV_POOL_H
#define GV_POOL_H

#include <stddef.h>
#include <stdint.h>

enum { GV_POOL_PLANES = 10, GV_POOL_CANARIES = 8, GV_POOL_SPARE = 1024 };

typedef struct gv_pool {
    size_t n;
    double *mass, *x[3], *v[3], *a[3];
    double *scaled; /* masses of this candidate */
    int32_t *id;
    /* outputs: acc, pot, jerk, snap, each with canaries behind it; a copy of the first set's */
    double *out[GV_POOL_PLANES], *first[GV_POOL_PLANES];
    double *radius, *distance; /* of lists; to the nearest, with canaries */
    uint32_t *count;           /* neighbours, with canaries */
} gv_pool;

int gv_pool_fill(gv_pool *p, size_t n); /* at least n particles; 0: no memory */
int gv_pool_reserve_outputs(gv_pool *p, size_t sinks);
void gv_pool_free(gv_pool *p);

uint64_t gv_draw(uint64_t *state);  /* splitmix64 */
double gv_uniform(uint64_t *state); /* [0, 1) */

#endif
