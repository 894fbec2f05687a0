/* Parts of trees from rank to rank: through the memory of a machine (near.h) where both ranks are on one, by messages
 * else. */
#include "cluster/tree.h"

#include <stdlib.h>

enum { PAGE = 4096, FAILED = -1 };

/* Ranks, this one among them, that have the same memory. */
static int count_near(const gravel_cluster_tree *t)
{
    return t->staging.near.who.size;
}

static int is_shared(const gravel_cluster_tree *t)
{
    return count_near(t) > 1;
}

/* Where a rank of this machine has the block of its parts. */
static unsigned char *block_of(const gravel_cluster_tree *t, int r)
{
    const gv_near *n = &t->staging.near;
    const size_t each = n->bytes / (size_t)n->who.size / PAGE * PAGE;
    return n->memory + (size_t)(r - n->who.first) * each;
}

/* Bytes that the memory of a machine must have: as many for each rank as the one with the most sends. */
static size_t find_needed(const gravel_cluster_tree *t)
{
    const size_t size = (size_t)t->cluster->size;
    size_t most = 0;
    for (size_t r = 0; r < size; r++) {
        size_t sum = 0;
        for (size_t k = 0; k < size; k++)
            sum += t->all_parts[r * size + k].bytes;
        most = sum > most ? sum : most;
    }
    return (most + PAGE) * (size_t)t->staging.near.who.size;
}

/* Sizes of all parts, to all; what a rank says of its part for itself is whether it failed. */
static gravel_status tell_parts(gravel_cluster_tree *t, gravel_status status)
{
    gravel_cluster *c = t->cluster;
    const int size = c->size;
    const double start = MPI_Wtime();
    t->out[c->rank].again = status ? FAILED : 0;
    const int code = gv_cluster_gather(c, t->out, (size_t)size * sizeof *t->out, t->all_parts);
    int failed = 0;
    t->waits += MPI_Wtime() - start;
    for (int r = 0; r < size && code == MPI_SUCCESS; r++)
        failed |= t->all_parts[r * size + r].again == FAILED;
    return gv_cluster_learn(t, status, failed, code, "sizes of parts of trees");
}

/* Room for the parts that come. */
static gravel_status need_room(gravel_cluster_tree *t, void **to)
{
    const gravel_cluster *c = t->cluster;
    const int size = c->size;
    for (int r = 0; r < size; r++)
        t->in[r] = t->all_parts[r * size + c->rank];
    gravel_status status = gravel_essential_room(t->essential, t->in, to);
    gravel_status shared = GRAVEL_OK;
    if (is_shared(t))
        shared = gv_staging_need(&t->staging, find_needed(t));
    for (int r = 0; r < size; r++) {
        const int near = is_shared(t) && gv_near_has(&t->staging.near, r);
        const gravel_part *sent = &t->all_parts[r * size + c->rank];
        t->in_bytes[r] = t->in[r].bytes;
        t->out_bytes[r] = t->out[r].bytes;
        t->swap.bytes += near ? t->out[r].bytes : 0;
        t->from[r] = near                 ? block_of(t, r) + sent->offset
                     : t->in[r].bytes > 0 ? (const unsigned char *)*to + t->in[r].offset
                                          : NULL;
    }
    return status ? status : shared;
}

/* What was cut is in the host's memory, and out to other machines; what these cut has come.  A rank that fails here
 * lets its messages go all the same: others wait for them. */
static gravel_status move(gravel_cluster_tree *t, int tag, void *to)
{
    const gv_near *near = &t->staging.near;
    const void *from = NULL;
    const int all_near = count_near(t) == t->cluster->size;
    gravel_status status = GRAVEL_OK;
    if (!all_near) {
        t->swap.skip = near->who.first;
        t->swap.skip_end = near->who.first + (is_shared(t) ? count_near(t) : 0);
        status = gv_swap_receive(&t->swap, t->cluster, tag, to, t->in_bytes);
    }
    const double start = MPI_Wtime();
    gravel_status fetched =
        gravel_essential_fetch(t->essential, is_shared(t) ? block_of(t, t->cluster->rank) : NULL, &from);
    const double here = MPI_Wtime();
    t->info.fetch += here - start;
    if (all_near)
        return fetched;
    if (!status)
        status = gv_swap_send(&t->swap, t->cluster, tag, from, t->out_bytes);
    status = gv_swap_wait(&t->swap, status);
    t->info.transfer += MPI_Wtime() - here;
    return fetched ? fetched : status;
}

gravel_status gv_cluster_swap_parts(gravel_cluster_tree *t, gravel_status status, int tag)
{
    void *to = NULL;
    status = tell_parts(t, status);
    if (status)
        return status;
    status = need_room(t, &to);
    if (count_near(t) < t->cluster->size) { /* others wait for messages of this rank */
        status = gv_cluster_meet(t, status);
        if (status)
            return status;
    }
    if (!status)
        status = move(t, tag, to);
    status = gv_cluster_meet(t, status); /* the memory of this machine is filled */
    return status ? status : gravel_essential_join(t->essential, t->from);
}
