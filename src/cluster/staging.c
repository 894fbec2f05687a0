#include "cluster/staging.h"

gravel_status gv_cluster_fail_cl(cl_int code, const char *what)
{
    return gv_cluster_fail(GRAVEL_ERR_OPENCL, "%s: OpenCL error %d", what, (int)code);
}

gravel_status gv_staging_begin(gv_staging *s, gravel_cluster *cluster, gravel_context *context)
{
    cl_command_queue *const queue[] = {&s->down, &s->up};
    cl_int code = CL_SUCCESS;
    *s = (gv_staging){.near = gv_near_begin(cluster), .context = context};
    s->compute = gravel_context_get_cl_queue(context, 0);
    for (int k = 0; k < 2 && !code; k++)
        *queue[k] =
            clCreateCommandQueue(gravel_context_get_cl(context), gravel_context_get_cl_device(context, 0), 0, &code);
    return code ? gv_cluster_fail_cl(code, "making a queue") : GRAVEL_OK;
}

static void forget_memory(gv_staging *s)
{
    gv_staging_settle(s);
    if (s->up)
        clFinish(s->up);
    if (s->mapped)
        clEnqueueUnmapMemObject(s->down, s->pinned, s->mapped, 0, NULL, NULL);
    if (s->down)
        clFinish(s->down);
    if (s->pinned)
        clReleaseMemObject(s->pinned);
    s->pinned = NULL;
    s->mapped = NULL;
    gv_near_release(&s->near);
}

void gv_staging_release(gv_staging *s)
{
    forget_memory(s);
    if (s->up)
        clReleaseCommandQueue(s->up);
    if (s->down)
        clReleaseCommandQueue(s->down);
    s->up = s->down = NULL;
}

/* The driver pins it where it can; copies are slower where not.  Mapping copies what the device holds of the buffer to
 * the host (seen on H200s): nobody writes there before all have mapped it. */
gravel_status gv_staging_need(gv_staging *s, size_t bytes)
{
    cl_int code = CL_SUCCESS;
    if (s->near.bytes >= bytes)
        return GRAVEL_OK;
    forget_memory(s);
    const gravel_status status = gv_near_need(&s->near, bytes);
    if (status)
        return status;
    s->pinned =
        clCreateBuffer(gravel_context_get_cl(s->context), CL_MEM_USE_HOST_PTR, s->near.bytes, s->near.memory, &code);
    if (s->pinned && !code)
        s->mapped = clEnqueueMapBuffer(s->down, s->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, s->near.bytes, 0,
                                       NULL, NULL, &code);
    const int met = gv_near_meet(&s->near);
    return met == MPI_SUCCESS ? GRAVEL_OK : gv_cluster_fail_mpi(met, "shared memory");
}

cl_int gv_staging_order(cl_command_queue queue, cl_command_queue later)
{
    cl_event done = NULL;
    cl_int code = clEnqueueMarkerWithWaitList(queue, 0, NULL, &done);
    if (!code)
        code = clFlush(queue);
    if (!code)
        code = clEnqueueBarrierWithWaitList(later, 1, &done, NULL);
    if (done)
        clReleaseEvent(done);
    return code;
}

gravel_status gv_staging_join(gv_staging *s)
{
    gv_staging_settle(s);
    cl_int code = clEnqueueMarkerWithWaitList(s->up, 0, NULL, &s->written);
    if (!code)
        code = clFlush(s->up);
    if (!code)
        code = clEnqueueBarrierWithWaitList(s->compute, 1, &s->written, NULL);
    return code ? gv_cluster_fail_cl(code, "joining queues") : GRAVEL_OK;
}

void gv_staging_settle(gv_staging *s)
{
    if (!s->written)
        return;
    clWaitForEvents(1, &s->written);
    clReleaseEvent(s->written);
    s->written = NULL;
}
