/* Messages of every rank to every other, of the lengths that both know. */
#include "cluster/tree.h"

#include <stdlib.h>

/* MPI counts in int: units of 16 bytes reach further */
enum { UNIT = 16 };

gravel_status gv_swap_make(gv_swap *swap, const gravel_cluster *cluster)
{
    swap->n = 0;
    swap->cluster = cluster;
    swap->request = malloc(2 * (size_t)cluster->size * sizeof *swap->request);
    return swap->request ? GRAVEL_OK : gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for messages");
}

void gv_swap_release(gv_swap *swap)
{
    free(swap->request);
    swap->request = NULL;
}

static gravel_status unit(MPI_Datatype *type)
{
    int code = MPI_Type_contiguous(UNIT, MPI_BYTE, type);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(type);
    return code == MPI_SUCCESS ? GRAVEL_OK : gv_cluster_fail_mpi(code, "messages");
}

static int stays(const gv_swap *swap, int r)
{
    return r == swap->cluster->rank || (r >= swap->skip && r < swap->skip_end);
}

gravel_status gv_swap_receive(gv_swap *swap, const gravel_cluster *c, int tag, void *to, const size_t *bytes)
{
    char *at = to;
    MPI_Datatype type;
    gravel_status status = unit(&type);
    if (status)
        return status;
    for (int r = 0; r < c->size && !status; at += bytes[r++]) {
        if (bytes[r] == 0 || stays(swap, r))
            continue;
        const int code = MPI_Irecv(at, (int)(bytes[r] / UNIT), type, r, tag, c->comm, &swap->request[swap->n]);
        if (code == MPI_SUCCESS)
            swap->n++;
        else
            status = gv_cluster_fail_mpi(code, "receiving from another rank");
    }
    MPI_Type_free(&type);
    return status;
}

gravel_status gv_swap_send(gv_swap *swap, const gravel_cluster *c, int tag, const void *from, const size_t *bytes)
{
    const char *at = from;
    MPI_Datatype type;
    gravel_status status = unit(&type);
    if (status)
        return status;
    for (int k = 1; k < c->size && !status; k++) {
        const int r = (c->rank + k) % c->size; /* not all to the same rank at first */
        size_t before = 0;
        for (int j = 0; j < r; j++)
            before += bytes[j];
        if (bytes[r] == 0 || stays(swap, r))
            continue;
        const int code = MPI_Isend(at + before, (int)(bytes[r] / UNIT), type, r, tag, c->comm, &swap->request[swap->n]);
        swap->bytes += bytes[r];
        swap->messages++;
        if (code == MPI_SUCCESS)
            swap->n++;
        else
            status = gv_cluster_fail_mpi(code, "sending to another rank");
    }
    MPI_Type_free(&type);
    return status;
}

gravel_status gv_swap_wait(gv_swap *swap, gravel_status status)
{
    const int code = gv_cluster_finish(swap->cluster, swap->n, swap->request);
    swap->n = swap->skip = swap->skip_end = 0;
    return status ? status : code == MPI_SUCCESS ? GRAVEL_OK : gv_cluster_fail_mpi(code, "messages between ranks");
}
