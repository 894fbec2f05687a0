/* Memory that the ranks of one machine share: what one writes, the others read where it stands, without a message. */
#ifndef GV_CLUSTER_NEAR_H
#define GV_CLUSTER_NEAR_H

#include "cluster/object.h"

/* Where there is no room for shared memory, `who` is a rank alone after gv_near_need, and the memory its own. */
typedef struct gv_near {
    gravel_cluster *cluster;
    gv_machine_ranks who;
    unsigned char *memory; /* of this machine */
    size_t bytes;
} gv_near;

/* This rank only; begins without memory. */
gv_near gv_near_begin(gravel_cluster *cluster);
/* This rank only; other ranks keep the memory until they release it, too. */
void gv_near_release(gv_near *near);
/* All ranks, with the same `bytes`: each machine has at least that much.  New memory holds zeros; the one that was
 * there, which nobody may use any more, is gone. */
gravel_status gv_near_need(gv_near *near, size_t bytes);
/* Whether rank r of the cluster has the same memory. */
static inline int gv_near_has(const gv_near *near, int r)
{
    return r >= near->who.first && r < near->who.first + near->who.size;
}
/* All ranks: what they wrote before, the others of their machine read after.  gravel_cluster_agree does it, too.  MPI's
 * code. */
int gv_near_meet(const gv_near *near);
/* All ranks, after they have met: at `offset` stands a piece of `bytes` of each rank of the cluster, in their order.
 * Those of other machines are brought here; all have met when it returns.  MPI's code. */
int gv_near_gather(const gv_near *near, size_t offset, size_t bytes);

#endif
