#include "host/mesh/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/options.h"
#include "host/device/device.h"
#include "kernels/shape/layout.h"

static const char *const assignment_names[] = {"ngp", "cic", "tsc", "pcs"};
static const char *const gradient_names[] = {"spectral", "two-point", "four-point"};
static const char *const fft_names[] = {"auto", "device", "host"};

const char *gravel_assignment_name(gravel_assignment assignment)
{
    return assignment >= GRAVEL_NGP && assignment <= GRAVEL_PCS ? assignment_names[assignment - 1] : "?";
}

const char *gravel_gradient_name(gravel_gradient gradient)
{
    return (unsigned)gradient < 3 ? gradient_names[gradient] : "?";
}

const char *gravel_fft_name(gravel_fft fft)
{
    return (unsigned)fft < 3 ? fft_names[fft] : "?";
}

/* ----------------------------------------------------------------- kernels */

static void place_of(const gravel_mesh *mesh, int kernel, const char **file, const char **name, char *options,
                     size_t size)
{
    static const struct {
        const char *file, *name;
    } of[GV_MK_PLACES] = {
        [GV_MK_ARRANGE] = {"mesh/assign.cl", "gv_mesh_arrange"},
        [GV_MK_STARTS] = {"mesh/assign.cl", "gv_mesh_starts"},
        [GV_MK_EDGES] = {"mesh/assign.cl", "gv_mesh_edges"},
        [GV_MK_DENSE] = {"mesh/assign.cl", "gv_mesh_dense"},
        [GV_MK_ASSIGN] = {"mesh/assign.cl", "gv_mesh_assign"},
        [GV_MK_ASSIGN_ROWS] = {"mesh/assign.cl", "gv_mesh_assign_rows"},
        [GV_MK_GREEN] = {"mesh/green.cl", "gv_mesh_green"},
        [GV_MK_ISOLATED] = {"mesh/green.cl", "gv_mesh_isolated"},
        [GV_MK_TAKE] = {"mesh/interpolate.cl", "gv_mesh_take"},
        [GV_MK_GRADIENT] = {"mesh/interpolate.cl", "gv_mesh_gradient"},
        [GV_MK_WAVES_SUM] = {"mesh/waves.cl", "gv_waves_sum"},
        [GV_MK_WAVES_JOIN] = {"mesh/waves.cl", "gv_waves_join"},
        [GV_MK_WAVES_FIELD] = {"mesh/waves.cl", "gv_waves_field"},
        [GV_MK_PAIRS] = {"mesh/pairs.cl", "gv_mesh_pairs"},
    };
    const gravel_mesh_options *o = &mesh->options;
    if (kernel >= GV_MK_PLACES) {
        *file = "mesh/place.cl";
        *name = kernel >= GV_MK_STORE ? "gv_mesh_store" : "gv_mesh_places";
        snprintf(options, size, "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_FROM=%d",
                 (int)(o->precision == GRAVEL_DP ? GRAVEL_DP : GRAVEL_DS),
                 (kernel - GV_MK_PLACES) % ((int)GRAVEL_DP + 1));
        return;
    }
    *file = of[kernel].file;
    *name = of[kernel].name;
    if (kernel == GV_MK_PAIRS) {
        snprintf(options, size, "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_RSQRT=0 -DGV_SHAPE=%d", (int)o->precision,
                 o->spline && o->eps > 0 ? GV_SHAPE_SPLINE : GV_SHAPE_PLUMMER);
        return;
    }
    if (o->waves > 0) {
        snprintf(options, size, "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_WAVES=%d", (int)o->precision, o->waves);
        return;
    }
    snprintf(options, size, "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_WIDTH=%d -DGV_STENCIL=%d", (int)o->precision,
             (int)o->assignment, o->gradient == GRAVEL_FOUR_POINT ? 4 : 2);
}

gravel_status gv_mesh_need_kernel(gravel_mesh *mesh, int kernel)
{
    const char *file, *name;
    char options[160];
    if (mesh->kernel[kernel])
        return GRAVEL_OK;
    place_of(mesh, kernel, &file, &name, options, sizeof options);
    return gv_kernel_make(&mesh->worker, file, options, name, &mesh->kernel[kernel]);
}

gravel_status gv_mesh_launch_list(gravel_mesh *mesh, int kernel, gv_range range, size_t n_args, const gv_arg *arg)
{
    const gravel_status status = gv_mesh_need_kernel(mesh, kernel);
    return status ? status : gv_launch_list(&mesh->worker, 0, mesh->kernel[kernel], range, n_args, arg);
}

gravel_status gv_mesh_reserve(gravel_mesh *mesh, gv_mesh_buffer which, size_t size, const char *what)
{
    return gv_buffer_reserve(&mesh->worker, &mesh->buffer[which], size, what);
}

/* -------------------------------------------------------------------- life */

void gravel_mesh_call_init(gravel_mesh_call *call)
{
    *call = (gravel_mesh_call)GRAVEL_MESH_CALL_INIT;
}

void gravel_mesh_options_init(gravel_mesh_options *options)
{
    *options = (gravel_mesh_options)GRAVEL_MESH_OPTIONS_INIT;
}

static gravel_status check_device(const gravel_context *context, const gravel_mesh_options *options)
{
    if (options->device < 0 || options->device >= context->n_devices)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "device %d is not in this context (it has %d)", options->device,
                       context->n_devices);
    if (options->precision == GRAVEL_DP && !context->device[options->device].info.has_fp64)
        return gv_fail(GRAVEL_ERR_UNSUPPORTED, "%s has no double precision: use a mesh in sp",
                       context->device[options->device].info.name);
    return GRAVEL_OK;
}

/* Two meshes, and where the bodies of each row or line of cells begin. */
static gravel_status check_memory(const gravel_mesh *mesh)
{
    const gravel_device_info *info = &gv_worker_device(&mesh->worker)->info;
    const double n = mesh->options.cells, one = (n + 2) * n * n * (double)mesh->scalar,
                 starts = 4 * (double)gv_mesh_starts(mesh);
    const double need = (2 + (mesh->options.isolated != 0)) * one + starts, largest = one > starts ? one : starts;
    if (need <= (double)info->global_memory && largest <= (double)info->max_allocation)
        return GRAVEL_OK;
    const double part = fmin((double)info->global_memory / need, (double)info->max_allocation / largest);
    return gv_fail(
        GRAVEL_ERR_DEVICE_MEMORY,
        "a mesh of %d^3 cells needs %.1f MB, %.1f MB of it in one buffer; %s has %.1f MB and allows %.1f MB: "
        "%d^3 cells would fit",
        mesh->options.cells, need / 1e6, largest / 1e6, info->name, (double)info->global_memory / 1e6,
        (double)info->max_allocation / 1e6, gv_fft_below((int)(n * cbrt(part) * 0.999)));
}

static gravel_status write_waves(gravel_mesh *mesh)
{
    const size_t numbers = ((size_t)mesh->options.cells / 2 + 1) * 4 * GV_WAVE_VECTORS;
    double *table = malloc(numbers * sizeof *table);
    gravel_status status = table ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a mesh");
    if (!status)
        status = gv_mesh_reserve(mesh, GV_MB_WAVES, numbers * mesh->scalar, "waves of a mesh");
    if (!status) {
        gv_mesh_waves(&mesh->options, table);
        for (size_t k = 0; k < numbers && mesh->scalar == 4; k++) {
            const float single = (float)table[k];
            memcpy((char *)table + 4 * k, &single, sizeof single);
        }
        const cl_int code = clEnqueueWriteBuffer(gv_worker_queue(&mesh->worker), mesh->buffer[GV_MB_WAVES].mem, CL_TRUE,
                                                 0, numbers * mesh->scalar, table, 0, NULL, NULL);
        status = code ? gv_fail_cl(code, "writing the waves of a mesh") : GRAVEL_OK;
    }
    free(table);
    return status;
}

/* The potential of a mass without images, transformed. */
static gravel_status start_isolated(gravel_mesh *mesh)
{
    const size_t n = (size_t)mesh->options.cells, bytes = mesh->row * n * n * mesh->scalar;
    /* half of the Gaussian is left to the waves (gv_mesh_waves) */
    const double rate = sqrt(0.5) * mesh->options.side / (mesh->options.split * mesh->options.cells);
    const gv_range range = gv_groups_2d((n + mesh->group - 1) / mesh->group, n * n, mesh->group);
    gravel_status status = gv_mesh_reserve(mesh, GV_MB_ISOLATED, bytes, "mesh");
    if (!status)
        status = gv_mesh_launch(mesh, GV_MK_ISOLATED, range, GV_UINT(n), GV_UINT(mesh->row), GV_MESH_REAL(mesh, rate),
                                GV_MEM(mesh->buffer[GV_MB_ISOLATED]));
    return status ? status : gv_fft_forward(mesh->fft, mesh->buffer[GV_MB_ISOLATED].mem);
}

static gravel_status start(gravel_mesh *mesh)
{
    const size_t n = (size_t)mesh->options.cells, bytes = mesh->row * n * n * mesh->scalar;
    if (mesh->options.waves > 0)
        return GRAVEL_OK; /* room for waves is made when the bodies are known */
    if (mesh->options.table > 0)
        return gv_pairs_start(mesh);
    gravel_status status = check_memory(mesh);
    if (!status)
        status = gv_mesh_reserve(mesh, GV_MB_DENSITY, bytes, "mesh");
    if (!status)
        status = gv_mesh_reserve(mesh, GV_MB_WORK, bytes, "mesh");
    if (!status)
        status = write_waves(mesh);
    if (!status)
        status = gv_sort_make(&mesh->sort, &mesh->worker, 32, NULL);
    if (!status)
        status = gv_fft_plan(&mesh->fft, &mesh->worker, mesh->options.cells, mesh->options.precision, mesh->options.fft,
                             mesh->buffer[GV_MB_WORK].mem);
    return status || !mesh->options.isolated ? status : start_isolated(mesh);
}

gravel_status gravel_mesh_create(gravel_mesh **out, gravel_context *context, const gravel_mesh_options *options)
{
    gravel_mesh_options taken = GRAVEL_MESH_OPTIONS_INIT;
    if (!out || !context)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "gravel_mesh_create needs a place for the mesh and a context");
    *out = NULL;
    gravel_status status = gv_options_take(&taken, sizeof taken, options, "gravel_mesh_options");
    if (!status)
        status = gv_mesh_check_options(&taken);
    if (!status)
        status = check_device(context, &taken);
    if (status)
        return status;
    gravel_mesh *mesh = calloc(1, sizeof *mesh);
    if (!mesh)
        return gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a mesh");
    mesh->worker.context = context;
    mesh->worker.device = taken.device;
    mesh->options = taken;
    if (taken.waves > 0 ||
        taken.table > 0) { /* cells only hold digits of places then, and even widths do not shift them */
        mesh->options.cells = 64;
        mesh->options.assignment = GRAVEL_CIC;
        mesh->options.interlaced = 0;
    }
    if (taken.isolated && taken.waves == 0 && taken.table == 0) {
        mesh->options.cells = 2 * taken.cells;
        mesh->options.side = 2 * taken.side * taken.cells / (taken.cells - gv_mesh_margin(&taken));
    }
    mesh->scalar = taken.precision == GRAVEL_DP ? 8 : 4;
    mesh->row = gv_fft_row(mesh->options.cells);
    const gravel_device_info *info = &context->device[taken.device].info;
    const size_t largest = (size_t)GV_MESH_LINES * GRAVEL_PCS; /* not below GV_MESH_CUBE */
    mesh->by_rows = info->type == GRAVEL_DEVICE_CPU || gv_device_group(info, largest) < largest;
    mesh->group = gv_device_group(info, info->type == GRAVEL_DEVICE_CPU ? 16 : 64);
    status = start(mesh);
    if (status)
        gravel_mesh_release(mesh);
    else
        *out = mesh;
    return status;
}

void gravel_mesh_release(gravel_mesh *mesh)
{
    if (!mesh)
        return;
    clFinish(gv_worker_queue(&mesh->worker));
    gv_mesh_release_tickets(mesh);
    gv_mesh_clear_times(mesh);
    gv_fft_release(mesh->fft);
    gv_sort_release(&mesh->sort);
    for (int k = 0; k < GV_MB_COUNT; k++)
        gv_buffer_release(&mesh->buffer[k]);
    for (int k = 0; k < GV_MK_COUNT; k++)
        if (mesh->kernel[k])
            clReleaseKernel(mesh->kernel[k]);
    gv_worker_clear(&mesh->worker);
    free(mesh);
}

gravel_fft gravel_mesh_get_fft(const gravel_mesh *mesh)
{
    return mesh && mesh->fft ? gv_fft_kind(mesh->fft) : GRAVEL_FFT_AUTO;
}

size_t gravel_mesh_get_memory(const gravel_mesh *mesh)
{
    size_t sum = mesh ? gv_sort_memory(&mesh->sort) : 0;
    for (int k = 0; mesh && k < GV_MB_COUNT; k++)
        sum += mesh->buffer[k].size;
    for (const gravel_ticket *t = mesh ? mesh->tickets : NULL; t; t = t->next)
        sum += ((const gv_mesh_ticket *)t)->forces.slot.device.size;
    return sum;
}
