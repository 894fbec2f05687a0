/* The frame that all ranks' bodies share, by samples of each rank's. */
#include "gravel/exchange.h"

#include "cluster/tree.h"

#include <math.h>
#include <stdlib.h>

gravel_status gv_cluster_choose_frame(gravel_cluster *cluster, gravel_status status, const gv_cluster_sample *mine,
                                      const double lo[3], const double hi[3], gravel_frame *frame)
{
    double far = 0, reach;
    const size_t size = (size_t)cluster->size;
    gv_cluster_sample *all = malloc(size * sizeof *all);
    double *x = malloc(size * GV_SAMPLE * sizeof *x);
    if (!status && (!all || !x))
        status = gv_cluster_fail(GRAVEL_ERR_MEMORY, "no host memory for %zu ranks", size);
    status = gravel_cluster_agree(cluster, status);
    if (!status) {
        const int code = gv_cluster_gather(cluster, mine, sizeof *mine, all);
        status = code == MPI_SUCCESS ? GRAVEL_OK : gv_cluster_fail_mpi(code, "samples of the ranks' bodies");
    }
    for (int c = 0; c < 3 && !status; c++) {
        size_t n = 0;
        for (size_t r = 0; r < size; r++)
            for (size_t k = 0; k < all[r].count; k++)
                x[n++] = all[r].x[c][k];
        frame->origin[c] = gravel_exchange_origin(lo[c], hi[c], x, n, &reach);
        far = fmax(far, reach);
    }
    if (!status)
        frame->length = far > 1e-150 && far < 1e150 ? exp2(ceil(log2(far))) : 1;
    free(x);
    free(all);
    return status;
}
