/* Ewald's sum over the bodies' own waves, in place of a mesh (kernels/mesh/waves.cl). */
#include "host/mesh/mesh.h"

static size_t rows_of(const gravel_mesh *mesh)
{
    const size_t across = 2 * (size_t)mesh->options.waves + 1;
    return across * across;
}

gravel_status gv_waves_density(gravel_mesh *mesh)
{
    const gv_selection *s = &mesh->sources;
    const size_t n = s->count, rows = rows_of(mesh), waves = rows * ((size_t)mesh->options.waves + 1);
    const double split = mesh->options.split / mesh->options.side;
    gv_buffer *b = mesh->buffer;
    cl_mem none = NULL;
    size_t share;
    const size_t parts = gv_mesh_wave_parts(n, &share);
    gv_mesh_begin(mesh, GV_MS_ASSIGN);
    gravel_status status = gv_mesh_reserve_sources(mesh, n);
    if (!status)
        status = gv_mesh_places(mesh, s, 0, b[GV_MB_START].mem, none, b[GV_MB_RAW].mem);
    if (!status)
        status = gv_mesh_launch(mesh, GV_MK_WAVES_SUM,
                                gv_groups_2d((rows + mesh->group - 1) / mesh->group, parts, mesh->group),
                                GV_MEM(b[GV_MB_START]), GV_MEM(b[GV_MB_RAW]), GV_UINT(n), GV_UINT(share),
                                GV_UINT(mesh->options.cells), GV_MEM(b[GV_MB_WORK]));
    gv_mesh_end(mesh);
    gv_mesh_begin(mesh, GV_MS_GREEN);
    if (!status)
        status = gv_mesh_launch(mesh, GV_MK_WAVES_JOIN, gv_items(waves, mesh->group), GV_MEM(b[GV_MB_WORK]),
                                GV_UINT(parts), GV_MESH_REAL(mesh, split * split), GV_MEM(b[GV_MB_DENSITY]));
    gv_mesh_end(mesh);
    return status;
}

gravel_status gv_waves_field(gravel_mesh *mesh, size_t count, cl_mem cell, cl_mem place, double own)
{
    gv_mesh_begin(mesh, GV_MS_INTERPOLATE);
    const gravel_status status =
        gv_mesh_launch(mesh, GV_MK_WAVES_FIELD, gv_items(count, mesh->group), GV_ARG(cell), GV_ARG(place),
                       GV_UINT(count), GV_UINT(mesh->options.cells), GV_MEM(mesh->buffer[GV_MB_DENSITY]),
                       GV_MESH_REAL(mesh, own), GV_MEM(*mesh->result));
    gv_mesh_end(mesh);
    return status;
}
