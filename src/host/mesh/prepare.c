/* What calls need: room for bodies, and everything compiled and allocated before the first of them. */
#include "host/mesh/mesh.h"

/* Bodies of a part: as many sums in float as lose less than they are worth. */
enum { LEAST_PART = 64, MOST_PARTS = 256 };

size_t gv_mesh_wave_parts(size_t sources, size_t *share)
{
    const size_t least = (sources + MOST_PARTS - 1) / MOST_PARTS;
    *share = least > LEAST_PART ? least : LEAST_PART;
    return (sources + *share - 1) / *share;
}

static gravel_status reserve_waves(gravel_mesh *mesh, size_t sources)
{
    const size_t across = 2 * (size_t)mesh->options.waves + 1;
    const size_t bytes = across * across * ((size_t)mesh->options.waves + 1) * 2 * mesh->scalar;
    size_t share;
    gravel_status status = gv_mesh_reserve(mesh, GV_MB_START, sources * 4, "bodies in waves");
    if (!status)
        status = gv_mesh_reserve(mesh, GV_MB_WORK, gv_mesh_wave_parts(sources, &share) * bytes, "waves of bodies");
    return status ? status : gv_mesh_reserve(mesh, GV_MB_DENSITY, bytes, "waves of bodies");
}

size_t gv_mesh_starts(const gravel_mesh *mesh)
{
    const size_t n = (size_t)mesh->options.cells, lines = (n + GV_MESH_LINE - 1) / GV_MESH_LINE;
    return mesh->by_rows ? n * n + 1 : n * n * 2 * (lines + 1);
}

static gravel_status reserve_cells(gravel_mesh *mesh, size_t sources)
{
    gravel_status status = gv_mesh_reserve(mesh, GV_MB_SORTED, sources * 4 * mesh->scalar, "bodies in a mesh");
    if (!status)
        status = gv_sort_reserve(&mesh->sort, &mesh->worker, sources);
    return status ? status : gv_mesh_reserve(mesh, GV_MB_START, gv_mesh_starts(mesh) * 4, "cells of a mesh");
}

gravel_status gv_mesh_reserve_sources(gravel_mesh *mesh, size_t count)
{
    const gravel_status status = gv_mesh_reserve(mesh, GV_MB_RAW, count * 4 * mesh->scalar, "bodies in a mesh");
    if (status)
        return status;
    if (mesh->options.waves > 0)
        return reserve_waves(mesh, count);
    return mesh->options.table > 0 ? gv_mesh_reserve(mesh, GV_MB_START, count * 4, "sources")
                                   : reserve_cells(mesh, count);
}

gravel_status gv_mesh_reserve_sinks(gravel_mesh *mesh, size_t count)
{
    const gravel_status status = gv_mesh_reserve(mesh, GV_MB_CELL, count * 4, "sinks in a mesh");
    return status ? status : gv_mesh_reserve(mesh, GV_MB_PLACE, count * 4 * mesh->scalar, "sinks in a mesh");
}

/* ----------------------------------------------------------------- prepare */

static void list_kernels(const gravel_mesh *mesh, const gravel_mesh_call *call, gv_needs *all)
{
    const gravel_mesh_options *o = &mesh->options;
    gv_need(all, GV_MK_PLACES + (int)mesh->view.bodies->precision);
    gv_need(all, GV_MK_PLACES + (int)call->sinks.bodies->precision);
    if (call->into & GRAVEL_INTO_PLANES)
        gv_need(all, GV_MK_STORE + (int)call->sinks.bodies->precision);
    if (o->waves > 0) {
        gv_need(all, GV_MK_WAVES_SUM);
        gv_need(all, GV_MK_WAVES_JOIN);
        gv_need(all, GV_MK_WAVES_FIELD);
    } else if (o->table > 0) {
        gv_need(all, GV_MK_PAIRS);
    } else {
        gv_need(all, GV_MK_ARRANGE);
        gv_need(all, mesh->by_rows ? GV_MK_STARTS : GV_MK_EDGES);
        gv_need(all, mesh->by_rows ? GV_MK_ASSIGN_ROWS : GV_MK_ASSIGN);
        if (!mesh->by_rows)
            gv_need(all, GV_MK_DENSE);
        gv_need(all, GV_MK_GREEN);
        gv_need(all, o->gradient == GRAVEL_SPECTRAL ? GV_MK_TAKE : GV_MK_GRADIENT);
    }
}

static gravel_status make_kernel(void *mesh, int kernel)
{
    return gv_mesh_need_kernel(mesh, kernel);
}

static gravel_status reserve_results(gravel_mesh *mesh, const gravel_mesh_call *call, size_t sinks)
{
    gv_mesh_ticket *ticket;
    if (!(call->into & GRAVEL_INTO_HOST))
        return gv_mesh_reserve(mesh, GV_MB_RESULT, sinks * 4 * mesh->scalar, "forces");
    const gravel_status status = gv_mesh_take_ticket(mesh, sinks, 1, &ticket);
    if (!status)
        gravel_ticket_release(&ticket->forces.base);
    return status;
}

gravel_status gravel_mesh_prepare(gravel_mesh *mesh, const gravel_mesh_call *call, size_t sources, size_t sinks)
{
    gravel_mesh_call taken;
    gv_needs all = {.n = 0};
    if (!mesh || !call || sources == 0)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_mesh_prepare needs a mesh, a call and a number of sources");
    if (!mesh->view.bodies)
        return gv_fail(GRAVEL_ERR_STATE, "the mesh has no sources: gravel_mesh_set_sources comes first");
    gravel_status status = gv_mesh_take_call(mesh, call, &taken);
    if (status)
        return status;
    list_kernels(mesh, &taken, &all);
    status = gv_needs_make(&all, mesh, make_kernel);
    if (!status)
        status = gv_mesh_reserve_sources(mesh, sources);
    if (!status && sinks > 0)
        status = gv_mesh_reserve_sinks(mesh, sinks);
    return status || sinks == 0 ? status : reserve_results(mesh, &taken, sinks);
}
