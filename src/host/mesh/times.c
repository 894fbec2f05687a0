/* Times of stages: markers in the queue, read when they are asked for, so that nothing waits for them. */
#include <string.h>

#include "host/mesh/mesh.h"

static void release_span(gv_mesh_span *span)
{
    if (span->from)
        clReleaseEvent(span->from);
    if (span->to)
        clReleaseEvent(span->to);
    *span = (gv_mesh_span){.from = NULL};
}

void gv_mesh_clear_times(gravel_mesh *mesh)
{
    const gv_device *device = gv_worker_device(&mesh->worker);
    for (int k = 0; k < mesh->spans; k++)
        release_span(&mesh->span[k]);
    mesh->spans = 0;
    mesh->is_timed = device->compute == device->timed;
}

void gv_mesh_begin(gravel_mesh *mesh, gv_mesh_stage stage)
{
    gv_mesh_span *span = &mesh->span[mesh->spans];
    if (!mesh->is_timed || mesh->spans == GV_MESH_SPANS)
        return;
    span->stage = stage;
    if (clEnqueueMarkerWithWaitList(gv_worker_queue(&mesh->worker), 0, NULL, &span->from))
        mesh->is_timed = 0; /* the work itself goes on */
}

void gv_mesh_end(gravel_mesh *mesh)
{
    if (!mesh->is_timed || mesh->spans == GV_MESH_SPANS)
        return;
    if (clEnqueueMarkerWithWaitList(gv_worker_queue(&mesh->worker), 0, NULL, &mesh->span[mesh->spans++].to))
        mesh->is_timed = 0;
}

/* From the end of all that was submitted before it to the end of what is in it. */
static cl_int seconds_of(const gv_mesh_span *span, double *seconds)
{
    cl_ulong from = 0, to = 0;
    cl_int code = clWaitForEvents(1, &span->to);
    if (!code)
        code = clGetEventProfilingInfo(span->from, CL_PROFILING_COMMAND_END, sizeof from, &from, NULL);
    if (!code)
        code = clGetEventProfilingInfo(span->to, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL);
    *seconds = (double)(to - from) * 1e-9;
    return code;
}

gravel_status gravel_mesh_get_timings(gravel_mesh *mesh, gravel_mesh_timings *timings)
{
    double stage[GV_MS_COUNT] = {0};
    if (!mesh || !timings)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_mesh_get_timings needs a mesh and a place for the times");
    memset(timings, 0, sizeof *timings);
    if (!mesh->is_timed)
        return gv_fail(GRAVEL_ERR_STATE, "the last forces of the mesh were not timed: gravel_context_set_timing");
    for (int k = 0; k < mesh->spans; k++) {
        double seconds;
        const cl_int code = seconds_of(&mesh->span[k], &seconds);
        if (code)
            return gv_fail_cl(code, "reading the times of a mesh on %s", gv_worker_device(&mesh->worker)->info.name);
        stage[mesh->span[k].stage] += seconds;
    }
    timings->sort = stage[GV_MS_SORT];
    timings->assign = stage[GV_MS_ASSIGN];
    timings->fft = stage[GV_MS_FFT];
    timings->green = stage[GV_MS_GREEN];
    timings->interpolate = stage[GV_MS_INTERPOLATE];
    for (int k = 0; k < GV_MS_COUNT; k++)
        timings->total += stage[k];
    return GRAVEL_OK;
}
