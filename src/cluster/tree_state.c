/* A tree over ranks as bytes, and what steps need to know. */
#include "cluster/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The bytes begin with this; those of the bodies follow, and the runs of all ranks.  No padding: what is saved twice is
 * the same. */
typedef struct head {
    char magic[8];
    uint64_t total;
    int32_t ranks, rank, has_velocities, computed, has_costs, since, computations, kept;
    double cost_mean, cost_most;
    uint64_t runs; /* bytes of what follows the bodies */
} head;
static const char magic[8] = "gvrank2";

/* Bytes of the runs with how many each rank has. */
static uint64_t runs_of(const gravel_cluster_tree *t)
{
    const size_t size = (size_t)t->cluster->size;
    return t->kept ? size * sizeof *t->equal_first + (size_t)t->equal_first[size] * sizeof *t->equal : 0;
}

size_t gravel_cluster_tree_get_state_size(const gravel_cluster_tree *t)
{
    return t ? sizeof(head) + gravel_bodies_get_state_size(t->bodies) + (size_t)runs_of(t) : 0;
}

gravel_status gravel_cluster_tree_save(gravel_cluster_tree *t, void *state)
{
    if (!t || !state)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_tree_save: no tree, or no place for the state");
    head h = {.total = t->total,
              .ranks = t->cluster->size,
              .rank = t->cluster->rank,
              .has_velocities = t->has_velocities,
              .computed = t->computed,
              .has_costs = t->has_costs,
              .since = t->since,
              .computations = t->computations,
              .kept = t->kept,
              .runs = runs_of(t),
              .cost_mean = t->info.cost_mean,
              .cost_most = t->info.cost_most};
    memcpy(h.magic, magic, sizeof h.magic);
    memcpy(state, &h, sizeof h);
    const size_t size = (size_t)t->cluster->size, firsts = size * sizeof *t->equal_first;
    char *at = (char *)state + sizeof h;
    gravel_status status = gravel_bodies_save(t->bodies, at);
    at += gravel_bodies_get_state_size(t->bodies);
    if (h.runs > 0) {
        memcpy(at, t->equal_first + 1, firsts);
        memcpy(at + firsts, t->equal, (size_t)h.runs - firsts);
    }
    return status;
}

static gravel_status read_head(const void *state, size_t size, head *h)
{
    if (!state || size < sizeof *h || memcmp(state, magic, sizeof magic) != 0)
        return gv_cluster_fail(GRAVEL_ERR_FORMAT, "these bytes are no state of a tree over ranks");
    memcpy(h, state, sizeof *h);
    if (h->runs > size - sizeof *h)
        return gv_cluster_fail(GRAVEL_ERR_FORMAT, "%zu bytes are too few for what they say of themselves", size);
    return GRAVEL_OK;
}

/* The bytes of the bodies. */
static gravel_status restore_bodies(gravel_bodies *bodies, const head *h, const void *state, size_t size)
{
    return gravel_bodies_restore(bodies, (const char *)state + sizeof *h, size - sizeof *h - (size_t)h->runs);
}

/* What serves for the next estimates: the last bytes. */
static gravel_status restore_kept(gravel_cluster_tree *t, const head *h, const char *state, size_t size)
{
    const size_t ranks = (size_t)t->cluster->size, firsts = ranks * sizeof *t->equal_first;
    const char *runs = state + size - h->runs;
    int ascends = h->runs >= firsts;
    t->kept = t->near = 0;
    if (!h->kept)
        return GRAVEL_OK;
    if (ascends)
        memcpy(t->equal_first + 1, runs, firsts);
    for (size_t r = 0; r < ranks && ascends; r++)
        ascends =
            t->equal_first[r + 1] >= t->equal_first[r] && t->equal_first[r + 1] - t->equal_first[r] <= t->most_runs;
    if (!ascends || h->runs - firsts != (size_t)t->equal_first[ranks] * sizeof *t->equal)
        return gv_cluster_fail(GRAVEL_ERR_FORMAT, "%llu bytes are no runs of %zu ranks", (unsigned long long)h->runs,
                               ranks);
    memcpy(t->equal, runs + firsts, (size_t)h->runs - firsts);
    t->kept = t->near = 1;
    return GRAVEL_OK;
}

gravel_status gravel_cluster_tree_open_state(const void *state, size_t size, gravel_bodies *bodies)
{
    head h;
    gravel_status status = read_head(state, size, &h);
    return status ? status : restore_bodies(bodies, &h, state, size);
}

gravel_status gravel_cluster_tree_restore(gravel_cluster_tree *t, const void *state, size_t size)
{
    head h;
    if (!t)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_tree_restore: no tree was given");
    gravel_status status = read_head(state, size, &h);
    if (!status && (h.ranks != t->cluster->size || h.rank != t->cluster->rank))
        status = gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "the state is that of rank %d of %d", h.rank, h.ranks);
    if (!status)
        gv_cluster_end_blocks(t);
    if (!status)
        status = restore_bodies(t->bodies, &h, state, size);
    if (!status)
        status = restore_kept(t, &h, state, size);
    if (!status) {
        t->total = (size_t)h.total;
        t->has_velocities = h.has_velocities;
        t->computed = h.computed;
        t->has_costs = h.has_costs;
        t->since = h.since;
        t->computations = h.computations;
        t->info = (gravel_cluster_tree_info){
            .bodies = gravel_bodies_get_count(t->bodies), .cost_mean = h.cost_mean, .cost_most = h.cost_most};
    }
    return gravel_cluster_agree(t->cluster, status);
}

static gravel_status find_largest(gravel_cluster_tree *t, double *largest)
{
    enum { PIECE = 65536 };
    const size_t n = gravel_bodies_get_count(t->bodies);
    double *a = malloc(3 * PIECE * sizeof *a);
    gravel_status status = a ? GRAVEL_OK : gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for accelerations");
    *largest = 0;
    for (size_t first = 0; first < n && !status; first += PIECE) {
        const size_t count = n - first < PIECE ? n - first : PIECE;
        status = gravel_bodies_read(t->bodies, GRAVEL_ACCELERATION, first, count,
                                    &GRAVEL_ARRAY_OUT_SOA(a, a + PIECE, a + 2 * PIECE));
        for (size_t k = 0; k < count && !status; k++) {
            const double x = a[k], y = a[PIECE + k], z = a[2 * PIECE + k];
            *largest = fmax(*largest, sqrt(x * x + y * y + z * z));
        }
    }
    free(a);
    return status;
}

gravel_status gravel_cluster_tree_get_largest(gravel_cluster_tree *t, double *acceleration)
{
    double mine = 0;
    if (!t || !acceleration)
        return gv_cluster_fail(GRAVEL_ERR_ARGUMENT, "gravel_cluster_tree_get_largest: no tree, or no place for it");
    gravel_status status = t->computed ? find_largest(t, &mine)
                                       : gv_cluster_fail(GRAVEL_ERR_STATE, "there are no accelerations yet: "
                                                                           "gravel_cluster_tree_compute has them");
    status = gravel_cluster_agree(t->cluster, status);
    const int code =
        status ? MPI_SUCCESS : MPI_Allreduce(&mine, acceleration, 1, MPI_DOUBLE, MPI_MAX, t->cluster->comm);
    return status || code == MPI_SUCCESS ? status : gv_cluster_fail_mpi(code, "the largest acceleration");
}
