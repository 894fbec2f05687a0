/* Memory that the ranks of a machine share (near.h), and copies between it and this rank's device.  Copies down and up
 * have a queue each: neither waits for the other, nor for what the device computes meanwhile. */
#ifndef GV_CLUSTER_STAGING_H
#define GV_CLUSTER_STAGING_H

#include "cluster/near.h"
#include "gravel/opencl.h"

typedef struct gv_staging {
    gv_near near;
    gravel_context *context;
    cl_command_queue compute, down, up; /* the context's; to the host; to the device */
    cl_mem pinned;                      /* the near memory, for the driver to know */
    void *mapped;
    cl_event written; /* all that was written up to the last gv_staging_join; NULL: nothing is on its way */
} gv_staging;

gravel_status gv_cluster_fail_cl(cl_int code, const char *what);
/* This rank only; what was begun is released also where this fails. */
gravel_status gv_staging_begin(gv_staging *staging, gravel_cluster *cluster, gravel_context *context);
void gv_staging_release(gv_staging *staging);
/* All ranks, with the same `bytes`. */
gravel_status gv_staging_need(gv_staging *staging, size_t bytes);
/* What comes next on the queue `later` waits for all that is on `queue` now. */
cl_int gv_staging_order(cl_command_queue queue, cl_command_queue later);
/* What comes next on the compute queue waits for what was written. */
gravel_status gv_staging_join(gv_staging *staging);
/* The host waits for what was written before the last gv_staging_join: the memory is this rank's to use again, and
 * others' as soon as all agree. */
void gv_staging_settle(gv_staging *staging);

#endif
