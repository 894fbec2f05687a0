/* Domains: stretches of a space-filling curve with equal costs.  Each rank tells the others where along the curve its
 * bodies' costs are; all find the same splits; bodies whose domain is another rank's travel. */
#include "cluster/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* blocks of bodies that each rank tells of: costs are dealt to about 1 / BLOCKS of a rank's */
enum { BLOCKS = 2048, FIRST_FEW = 3, TAG = 11 };

/* A new frame for all ranks where bodies have left the cube, or fill little of it. */
static gravel_status follow_bodies(gravel_cluster_tree *t)
{
    gravel_cluster *c = t->cluster;
    double box[6], most[6], half = 0, reach = 0;
    gravel_frame frame;
    gravel_status status = gravel_exchange_get_box(t->exchange, box, box + 3);
    for (int k = 0; k < 3; k++)
        box[k] = -box[k];
    status = gv_cluster_meet(t, status);
    if (status)
        return status;
    const int code = MPI_Allreduce(box, most, 6, MPI_DOUBLE, MPI_MAX, c->comm);
    if (code != MPI_SUCCESS)
        return gv_cluster_fail_mpi(code, "the box of all bodies");
    for (int k = 0; k < 3; k++) {
        half = fmax(half, 0.5 * (most[k] + most[3 + k]));
        reach = fmax(reach, fmax(most[k], most[3 + k]));
    }
    if (!(half > 0) || (reach <= 1 && half > 0.25))
        return GRAVEL_OK;
    status = gravel_bodies_get_frame(t->bodies, &frame);
    const double length = frame.length;
    for (int k = 0; k < 3; k++)
        frame.origin[k] += 0.5 * (most[3 + k] - most[k]) * length;
    frame.length = exp2(ceil(log2(half * length)));
    if (!status)
        status = gravel_bodies_set_frame(t->bodies, &frame);
    return gv_cluster_meet(t, status);
}

/* Blocks of all ranks; *blocks of them. */
static gravel_status gather_blocks(gravel_cluster_tree *t, uint64_t *key, double *weight, size_t *blocks)
{
    gravel_cluster *c = t->cluster;
    uint64_t *own_key = malloc(BLOCKS * sizeof *own_key);
    double *own_weight = malloc(BLOCKS * sizeof *own_weight);
    int count = 0, code = MPI_SUCCESS;
    gravel_status status =
        own_key && own_weight ? GRAVEL_OK : gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for domains");
    if (!status)
        status = gravel_exchange_order(t->exchange, t->has_costs ? (int)GV_COST_PLANE : -1, BLOCKS, own_key, own_weight,
                                       &count);
    status = gv_cluster_meet(t, status);
    if (!status)
        code = gv_cluster_gather(c, &count, sizeof count, t->count);
    t->first[0] = 0;
    for (int r = 0; r < c->size && !status; r++)
        t->first[r + 1] = t->first[r] + t->count[r];
    if (!status && code == MPI_SUCCESS)
        code = gv_cluster_gather_parts(c, own_key, MPI_UINT64_T, key, t->count, t->first);
    if (!status && code == MPI_SUCCESS)
        code = gv_cluster_gather_parts(c, own_weight, MPI_DOUBLE, weight, t->count, t->first);
    free(own_key);
    free(own_weight);
    *blocks = status ? 0 : (size_t)t->first[c->size];
    return status ? status : code == MPI_SUCCESS ? GRAVEL_OK : gv_cluster_fail_mpi(code, "costs of all ranks");
}

static gravel_status find_splits(gravel_cluster_tree *t, uint64_t *split)
{
    const size_t most = (size_t)t->cluster->size * BLOCKS;
    uint64_t *key = malloc(most * sizeof *key);
    double *weight = malloc(most * sizeof *weight);
    size_t blocks = 0;
    gravel_status status = key && weight ? GRAVEL_OK : gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for domains");
    status = gv_cluster_meet(t, status);
    if (!status)
        status = gather_blocks(t, key, weight, &blocks);
    if (!status)
        status = gravel_exchange_choose(blocks, key, weight, t->cluster->size, split);
    free(key);
    free(weight);
    return gv_cluster_meet(t, status);
}

/* Bodies travel.  A rank that fails before the messages keeps the others from sending any. */
static gravel_status move_bodies(gravel_cluster_tree *t, const uint64_t *split)
{
    gravel_cluster *c = t->cluster;
    const void *from = NULL;
    void *to = NULL;
    int code = MPI_SUCCESS;
    gravel_status status = gravel_exchange_deal(t->exchange, split, t->counts, t->out_bytes);
    status = gv_cluster_meet(t, status);
    if (status)
        return status;
    code = MPI_Alltoall(t->counts, sizeof *t->counts, MPI_BYTE, t->arrivals, sizeof *t->counts, MPI_BYTE, c->comm);
    status = code == MPI_SUCCESS ? gravel_exchange_room(t->exchange, t->arrivals, t->in_bytes, &to)
                                 : gv_cluster_fail_mpi(code, "numbers of bodies on their way");
    if (!status)
        status = gravel_exchange_fetch(t->exchange, &from);
    status = gv_cluster_meet(t, status);
    if (status)
        return status;
    t->info.moved = 0;
    for (int r = 0; r < c->size; r++)
        t->info.moved += r == c->rank ? 0 : t->counts[r];
    status = gv_swap_receive(&t->swap, c, TAG, to, t->in_bytes);
    if (!status)
        status = gv_swap_send(&t->swap, c, TAG, from, t->out_bytes);
    status = gv_swap_wait(&t->swap, status);
    if (!status)
        status = gravel_exchange_join(t->exchange);
    return gv_cluster_meet(t, status);
}

static gravel_status deal(gravel_cluster_tree *t)
{
    gravel_cluster *c = t->cluster;
    uint64_t *split = malloc((size_t)c->size * sizeof *split);
    uint64_t mine, all = 0;
    gravel_status status = split ? GRAVEL_OK : gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for domains");
    status = gv_cluster_meet(t, status);
    if (!status)
        status = follow_bodies(t);
    mine = gravel_exchange_get_planes(t->exchange);
    if (!status) {
        const int code = MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_BOR, c->comm);
        status = code == MPI_SUCCESS ? gravel_exchange_set_planes(t->exchange, all)
                                     : gv_cluster_fail_mpi(code, "planes of all ranks");
        status = gv_cluster_meet(t, status);
    }
    if (!status)
        status = find_splits(t, split);
    if (!status)
        status = move_bodies(t, split);
    free(split);
    t->since = 0;
    t->dealt = 1;
    return status;
}

gravel_status gv_cluster_deal(gravel_cluster_tree *t)
{
    const gravel_cluster_tree_info *i = &t->info;
    /* after the first computations costs are new: domains by them are worth it for less */
    const double allowed = t->computations <= FIRST_FEW ? fmin(t->options.imbalance, 0.01) : t->options.imbalance;
    const int uneven = t->has_costs && i->cost_most > (1 + allowed) * i->cost_mean;
    const int due = t->since < 0 || (t->options.exchange > 0 && t->since >= t->options.exchange);
    t->info.moved = 0;
    t->dealt = 0;
    if (t->cluster->size == 1 || t->total == 0 || (!due && !uneven))
        return GRAVEL_OK;
    t->kept = 0; /* ranks have other bodies then, or another frame */
    return deal(t);
}
