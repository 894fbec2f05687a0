/* Memory of the host through which devices send one another bodies and forces.  The first device's driver has pinned
 * it; on H200s the others' transfers are as fast as from memory of their own (doc/numbers.md). */
#include "host/several/share.h"

void gv_stage_release(gravel_several_share *s)
{
    gv_stage_memory *m = &s->stage;
    const cl_command_queue queue = m->pinned ? gv_worker_queue(&s->worker[0]) : NULL;
    if (m->host) {
        clEnqueueUnmapMemObject(queue, m->pinned, m->host, 0, NULL, NULL);
        clFinish(queue);
    }
    if (m->pinned)
        clReleaseMemObject(m->pinned);
    *m = (gv_stage_memory){NULL, NULL, 0, 0};
}

gravel_status gv_stage_reserve(gravel_several_share *s, size_t bytes)
{
    gv_stage_memory *m = &s->stage;
    const size_t wanted = bytes + bytes / 4 + 65536;
    cl_int code = CL_SUCCESS;
    m->used = 0;
    if (m->size >= bytes + 65536)
        return GRAVEL_OK;
    gv_stage_release(s);
    m->pinned = clCreateBuffer(s->worker[0].context->cl, CL_MEM_ALLOC_HOST_PTR, wanted, NULL, &code);
    if (!code)
        m->host = clEnqueueMapBuffer(gv_worker_queue(&s->worker[0]), m->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                     wanted, 0, NULL, NULL, &code);
    if (code) {
        m->host = NULL;
        gv_stage_release(s);
        return gv_fail_cl(code, "room for what devices send one another, %zu bytes", wanted);
    }
    m->size = wanted;
    return GRAVEL_OK;
}

/* Whole lines of 64 bytes; gv_stage_reserve left room for a thousand borders. */
void *gv_stage_take(gravel_several_share *s, size_t bytes)
{
    void *at = s->stage.host + s->stage.used;
    s->stage.used += (bytes + 63) / 64 * 64;
    s->counts.bytes += (double)bytes;
    return at;
}

void gv_share_finish(gravel_several_share *s)
{
    for (int m = 0; m < s->several->members; m++)
        clFinish(gv_worker_queue(&s->worker[m]));
}
