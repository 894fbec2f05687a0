/* What others sent becomes one tree: above the roots of the parts stand cells that every group opens.
 *
 *   0          the cell above all
 *   1 ...      with more than eight parts, a level of cells above eight roots each (walks keep room for two levels more
 *              than a tree has, so there are no more)
 *   then       the roots, one after the other, then the cells of the parts */
#include <string.h>

#include "host/tree/essential.h"

enum { FAN = GV_FAN };

/* Where some of the parts that come are those that are here, these stay. */
static void keep_shallow(gravel_essential *e, const gravel_part *in)
{
    int again = 0;
    for (int r = 0; r < e->parts; r++)
        again |= in[r].again;
    if (e->kept)
        e->kept->held = 0;
    e->kept = again ? e->room : NULL;
    e->room = again ? NULL : e->room;
    memcpy(e->shallow_in, e->in, (size_t)e->parts * sizeof *e->in);
}

gravel_status gravel_essential_room(gravel_essential *e, gravel_part *in, void **to)
{
    if (!e || !in || !to)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_essential_room needs parts and a place for the result");
    const size_t bytes = gv_essential_lay_out(e, in);
    keep_shallow(e, in);
    memcpy(e->in, in, (size_t)e->parts * sizeof *in);
    *to = NULL;
    if (bytes == 0)
        return GRAVEL_OK;
    gravel_status status = gv_essential_take_slot(e, bytes, &e->room);
    *to = status ? NULL : e->room->host;
    return status;
}

/* A cell that is always opened: `children` from cell `first` on. */
static void put_above(const gravel_essential *e, void *cells, size_t k, size_t first, size_t children)
{
    const size_t numbers = gv_essential_cell(e) / e->tree->scalar, at = k * numbers;
    if (e->tree->scalar == 8) {
        double *c = (double *)cells + at;
        const cl_ulong held[2] = {first, children};
        memset(c, 0, numbers * sizeof *c);
        c[4] = c[5] = 1e300;
        memcpy(c + 6, held, sizeof held);
    } else {
        float *c = (float *)cells + at;
        const cl_uint held[2] = {(cl_uint)first, (cl_uint)children};
        memset(c, 0, numbers * sizeof *c);
        c[4] = c[5] = 1e38f;
        memcpy(c + 6, held, sizeof held);
    }
}

/* Cells above `roots` roots; returns how many there are. */
static size_t put_all_above(const gravel_essential *e, void *cells, size_t roots)
{
    const size_t middle = roots > FAN ? (roots + FAN - 1) / FAN : 0, above = 1 + middle;
    put_above(e, cells, 0, 1, middle > 0 ? middle : roots);
    for (size_t m = 0; m < middle; m++)
        put_above(e, cells, 1 + m, above + m * FAN, m + 1 < middle ? FAN : roots - m * FAN);
    return above;
}

static gravel_status write_above(gravel_essential *e, size_t roots, size_t *above)
{
    *above = put_all_above(e, e->above, roots);
    const cl_int code = clEnqueueWriteBuffer(gv_worker_queue(&e->tree->worker), e->buffer[GV_EB_CELL].mem, CL_FALSE, 0,
                                             *above * gv_essential_cell(e), e->above, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "joining %zu parts", roots) : GRAVEL_OK;
}

/* The parts to the device on the copy queue; kernels that follow wait for it. */
static gravel_status send_parts(gravel_essential *e, const void *const *from)
{
    const gv_device *device = gv_worker_device(&e->tree->worker);
    cl_event there = NULL;
    cl_int code = CL_SUCCESS;
    size_t bytes = 0;
    for (int r = 0; r < e->parts && !code; r++) {
        const gravel_part *p = &e->in[r];
        if (p->bytes == 0)
            continue;
        if (e->room->busy)
            clReleaseEvent(e->room->busy);
        e->room->busy = NULL;
        code = clEnqueueWriteBuffer(device->copy, e->room->device.mem, CL_FALSE, p->offset, p->bytes,
                                    from && from[r] ? from[r] : (const char *)e->room->host + p->offset, 0, NULL,
                                    &e->room->busy);
        bytes += p->bytes;
    }
    if (!code)
        code = clFlush(device->copy);
    if (!code)
        code = clEnqueueMarkerWithWaitList(device->compute, 1, &e->room->busy, &there);
    if (there)
        clReleaseEvent(there);
    return code ? gv_fail_cl(code, "sending %zu bytes of trees to the device", bytes) : GRAVEL_OK;
}

static gravel_status copy_bodies(gravel_essential *e, const gravel_part *p, size_t at)
{
    const size_t vector = gv_essential_vector(e), from = p->offset + p->cells * gv_essential_cell(e);
    cl_int code = CL_SUCCESS;
    for (size_t word = 0; word < e->tree->words && p->bodies > 0 && !code; word++)
        code = clEnqueueCopyBuffer(gv_worker_queue(&e->tree->worker), e->room->device.mem,
                                   e->buffer[GV_EB_BODY + (int)word].mem, from + word * p->bodies * vector, at * vector,
                                   p->bodies * vector, 0, NULL, NULL);
    return code ? gv_fail_cl(code, "joining %zu bodies", p->bodies) : GRAVEL_OK;
}

static gravel_status place_parts(gravel_essential *e, size_t root, size_t cell)
{
    gravel_tree *tree = e->tree;
    const size_t vector = gv_essential_vector(e);
    size_t body = 0;
    gravel_status status = GRAVEL_OK;
    for (int r = 0; r < e->parts && !status; r++) {
        const gravel_part *p = &e->in[r], *here = p->again ? &e->shallow_in[r] : p;
        const gv_slot *slot = p->again ? e->kept : e->room;
        const cl_ulong from = here->offset / vector;
        if (p->cells == 0)
            continue;
        if (!slot || here->cells != p->cells)
            return gv_fail(GRAVEL_ERR_INTERNAL, "part %d is not here: %zu of %zu cells", r, here->cells, p->cells);
        status = gv_tree_launch(tree, GV_STAGE_GROUPS, GV_TK_PLACE, gv_tree_items(tree, p->cells), GV_MEM(slot->device),
                                GV_ARG(from), GV_UINT(p->cells), GV_UINT(cell), GV_UINT(body), GV_UINT(root),
                                GV_INT(p->again), GV_MEM(e->buffer[GV_EB_CELL]));
        if (!status)
            status = copy_bodies(e, p, body);
        root++;
        cell += p->cells;
        body += p->bodies;
    }
    return status;
}

gravel_status gravel_essential_join(gravel_essential *e, const void *const *from)
{
    if (!e)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_essential_join: no object was given");
    const size_t vector = gv_essential_vector(e);
    size_t roots = 0, cells = 1 + FAN, bodies = 0, bytes = 0, above = 0;
    for (int r = 0; r < e->parts; r++) {
        roots += e->in[r].cells > 0;
        cells += e->in[r].cells;
        bodies += e->in[r].bodies;
        bytes += e->in[r].bytes;
    }
    e->joined = 0;
    if (roots == 0)
        return GRAVEL_OK;
    if (cells + roots > GV_MOST_PLACES || bodies > GV_MOST_PLACES)
        return gv_fail(GRAVEL_ERR_DEVICE_MEMORY, "%zu cells and %zu bodies of others are too many", cells, bodies);
    gravel_status status =
        gv_tree_reserve(e->tree, &e->buffer[GV_EB_CELL], (cells + roots) * gv_essential_cell(e), "cells of others");
    for (size_t word = 0; word < e->tree->words && !status; word++)
        status =
            gv_tree_reserve(e->tree, &e->buffer[GV_EB_BODY + (int)word], (bodies + 1) * vector, "bodies of others");
    if (!status)
        status = write_above(e, roots, &above);
    if (!status && bytes > 0)
        status = send_parts(e, from);
    if (!status)
        status = place_parts(e, above, above + roots);
    e->joined = status ? 0 : above + roots + cells - (1 + FAN);
    return status;
}
