/* A walk on the host, as programs that use gravel/requests.h have it: the tree of a Plummer sphere, buckets of sinks,
 * and their lists. */
#ifndef GV_BENCH_WALK_H
#define GV_BENCH_WALK_H

#include "gravel/requests.h"
#include "sim/particles.h"

/* A bucket of sinks and its lists. */
typedef struct gv_bucket {
    gravel_leaf sinks;
    double centre[3], radius;
    uint32_t *cell;
    gravel_leaf *run;
    size_t cells, runs, room_cells, room_runs;
} gv_bucket;

typedef struct gv_host_walk {
    gv_particles p; /* in the order of the tree */
    gravel_cell *cell;
    size_t cells, buckets;
    gv_bucket *bucket;
} gv_host_walk;

gravel_status gv_host_walk_read(gv_host_walk *w, gravel_context *context, size_t n, uint64_t seed);
/* Cells of at most so many bodies, the largest ones there are. */
gravel_status gv_host_walk_make_buckets(gv_host_walk *w, size_t most);
/* The lists of a bucket: cells that are seen under less than theta, and bodies of the other leaves.  0: no memory. */
int gv_host_walk_bucket(const gv_host_walk *w, gv_bucket *k, double theta);
void gv_host_walk_free(gv_host_walk *w);

#endif
