/* Sources to waves of their density: cells, sort, assignment, FFT. */
#include <string.h>

#include "host/mesh/mesh.h"

/* (x - 0) / cell + displaced, from stored numbers: at * scale + shift, in high and low words */
typedef struct gv_cells_of {
    union {
        cl_float f[4];
        cl_double d[4];
    } scale, scale_low, shift, shift_low;
    gv_arg arg[4];
} gv_cells_of;

static void cells_of(const gravel_mesh *mesh, const gravel_bodies *bodies, double displaced, int is_double,
                     gv_cells_of *out)
{
    const double per_length = mesh->options.cells / mesh->options.side;
    const double odd = mesh->options.assignment % 2 ? 0.5 : 0; /* kernels/mesh/weights.h */
    const size_t size = is_double ? sizeof(cl_double) : sizeof(cl_float);
    memset(out, 0, sizeof *out);
    for (int c = 0; c < 4; c++) {
        const double value =
            c == 3 ? bodies->frame.length * per_length : bodies->frame.origin[c] * per_length + odd - displaced;
        const float high = (float)value, low = (float)(value - (double)high);
        if (c == 3 && is_double) {
            out->scale.d[0] = value;
        } else if (c == 3) {
            out->scale.f[0] = high;
            out->scale_low.f[0] = low;
        } else if (is_double) {
            out->shift.d[c] = value;
        } else {
            out->shift.f[c] = high;
            out->shift_low.f[c] = low;
        }
    }
    out->arg[0] = (gv_arg){size, &out->scale};
    out->arg[1] = (gv_arg){size, &out->scale_low};
    out->arg[2] = (gv_arg){4 * size, &out->shift};
    out->arg[3] = (gv_arg){4 * size, &out->shift_low};
}

gravel_status gv_mesh_places(gravel_mesh *mesh, const gv_selection *s, double displaced, cl_mem cell, cl_mem index,
                             cl_mem place)
{
    const int from = (int)s->bodies->precision;
    gv_cells_of turn;
    cl_mem at, at_low = NULL;
    gravel_status status = gv_bodies_need(s->bodies, GV_WORD_POSITION, &at);
    if (!status && from == GRAVEL_DS)
        status = gv_bodies_need(s->bodies, GV_WORD_POSITION_LOW, &at_low);
    cells_of(mesh, s->bodies, displaced, from == GRAVEL_DP || mesh->scalar == 8, &turn);
    return status ? status
                  : gv_mesh_launch(mesh, GV_MK_PLACES + from, gv_items(s->count, mesh->group), GV_ARG(at),
                                   GV_ARG(at_low), GV_ARG(s->list), GV_UINT(s->first), GV_UINT(s->count), turn.arg[0],
                                   turn.arg[1], turn.arg[2], turn.arg[3], GV_UINT(mesh->options.cells), GV_ARG(cell),
                                   GV_ARG(index), GV_ARG(place));
}

/* Sources by cell, in GV_MB_SORTED. */
static gravel_status sort_sources(gravel_mesh *mesh, double displaced)
{
    const gv_selection *s = &mesh->sources;
    const size_t n = (size_t)mesh->options.cells;
    gv_sort *sort = &mesh->sort;
    int bits = 1;
    while (bits < 32 && (n * n * n - 1) >> bits)
        bits++;
    gravel_status status = gv_mesh_reserve_sources(mesh, s->count);
    if (!status)
        status = gv_mesh_places(mesh, s, displaced, sort->key[sort->sorted].mem, sort->index[sort->sorted].mem,
                                mesh->buffer[GV_MB_RAW].mem);
    if (!status)
        status = gv_sort_run(sort, &mesh->worker, 0, s->count, bits);
    return status
               ? status
               : gv_mesh_launch(mesh, GV_MK_ARRANGE, gv_items(s->count, mesh->group), GV_MEM(sort->index[sort->sorted]),
                                GV_MEM(mesh->buffer[GV_MB_RAW]), GV_UINT(s->count), GV_MEM(mesh->buffer[GV_MB_SORTED]));
}

/* A work-item a row of points. */
static gravel_status assign_rows(gravel_mesh *mesh)
{
    const size_t n = (size_t)mesh->options.cells, starts = gv_mesh_starts(mesh);
    const gv_buffer *key = &mesh->sort.key[mesh->sort.sorted], *b = mesh->buffer;
    const gv_arg line = {(n + 4) * mesh->scalar, NULL};
    const gravel_status status =
        gv_mesh_launch(mesh, GV_MK_STARTS, gv_items(starts, mesh->group), GV_MEM(*key), GV_UINT(mesh->sources.count),
                       GV_UINT(n), GV_UINT(starts), GV_MEM(b[GV_MB_START]));
    return status
               ? status
               : gv_mesh_launch(mesh, GV_MK_ASSIGN_ROWS, gv_groups(n * n, 1), GV_MEM(*key), GV_MEM(b[GV_MB_SORTED]),
                                GV_MEM(b[GV_MB_START]), GV_UINT(n), GV_UINT(mesh->row), GV_MEM(b[GV_MB_DENSITY]), line);
}

/* Lines of points; sums of runs go where the bodies were before they were arranged. */
static gravel_status assign_lines(gravel_mesh *mesh)
{
    const size_t n = (size_t)mesh->options.cells, count = mesh->sources.count;
    const size_t tiles_y = (n + GV_MESH_TILE_Y - 1) / GV_MESH_TILE_Y,
                 tiles_z = (n + GV_MESH_TILE_Z - 1) / GV_MESH_TILE_Z;
    const gv_range groups = gv_groups_2d((n + GV_MESH_LINE - 1) / GV_MESH_LINE, tiles_y * tiles_z,
                                         GV_MESH_LINES * (size_t)mesh->options.assignment);
    const gv_buffer *key = &mesh->sort.key[mesh->sort.sorted], *b = mesh->buffer;
    gravel_status status = gv_mesh_launch(mesh, GV_MK_EDGES, gv_items(gv_mesh_starts(mesh), mesh->group), GV_MEM(*key),
                                          GV_UINT(count), GV_UINT(n), GV_MEM(b[GV_MB_START]));
    if (!status)
        status = gv_mesh_launch(mesh, GV_MK_DENSE,
                                gv_groups((count + GV_MESH_LONG_RUN - 1) / GV_MESH_LONG_RUN, GV_MESH_CUBE),
                                GV_MEM(*key), GV_MEM(b[GV_MB_SORTED]), GV_UINT(count), GV_MEM(b[GV_MB_RAW]));
    return status ? status
                  : gv_mesh_launch(mesh, GV_MK_ASSIGN, groups, GV_MEM(*key), GV_MEM(b[GV_MB_SORTED]),
                                   GV_MEM(b[GV_MB_RAW]), GV_UINT(count), GV_MEM(b[GV_MB_START]), GV_UINT(n),
                                   GV_UINT(mesh->row), GV_MEM(b[GV_MB_DENSITY]));
}

gravel_status gv_mesh_density(gravel_mesh *mesh, double displaced)
{
    if (mesh->options.waves > 0)
        return gv_waves_density(mesh);
    if (mesh->options.table > 0)
        return gv_pairs_places(mesh);
    gv_mesh_begin(mesh, GV_MS_SORT);
    gravel_status status = sort_sources(mesh, displaced);
    gv_mesh_end(mesh);
    gv_mesh_begin(mesh, GV_MS_ASSIGN);
    if (!status)
        status = mesh->by_rows ? assign_rows(mesh) : assign_lines(mesh);
    gv_mesh_end(mesh);
    gv_mesh_begin(mesh, GV_MS_FFT);
    if (!status)
        status = gv_fft_forward(mesh->fft, mesh->buffer[GV_MB_DENSITY].mem);
    gv_mesh_end(mesh);
    return status;
}
