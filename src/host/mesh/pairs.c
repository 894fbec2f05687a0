/* Direct sums in a periodic box with a table of Ewald's correction (kernels/mesh/pairs.cl). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/threads.h"
#include "host/mesh/mesh.h"
#include "kernels/shape/layout.h"

#define PI 3.14159265358979323846
/* In a unit box; images and waves (squares) beyond these add less than 1e-12. */
#define ALPHA 2.0
#define FARTHEST 3.5
#define WAVES2 12
#define SPLINE_SUPPORT 2.8

/* {potential, pull / distance} of an image at the distance s, or what the nearest one has less than Newton's. */
static void image_at(double s, int nearest, double out[2])
{
    const double slope = 2 * ALPHA / sqrt(PI), a2 = ALPHA * ALPHA;
    if (nearest && s < 1e-3) { /* -erf(ALPHA s) / s, to its square */
        out[0] = -slope * (1 - a2 * s * s / 3);
        out[1] = -slope * 2 * a2 / 3;
        return;
    }
    out[0] = (nearest ? -erf(ALPHA * s) : erfc(ALPHA * s)) / s;
    out[1] = (out[0] + slope * exp(-a2 * s * s)) / (s * s);
}

/* What the images of a mass 1 at d add to the nearest one, which is at d, in a unit box: {acceleration towards them,
 * potential}.  Of
 * whole vectors those up to 4 a side are taken as images and, up to WAVES2, as waves. */
static void ewald_correction(const double d[3], double out[4])
{
    double psi = -PI / (ALPHA * ALPHA), pull[3] = {0, 0, 0};
    for (int n = 0; n < 9 * 9 * 9; n++) {
        const int at[3] = {n % 9 - 4, n / 9 % 9 - 4, n / 81 - 4}, h2 = at[0] * at[0] + at[1] * at[1] + at[2] * at[2];
        const double r[3] = {d[0] + at[0], d[1] + at[1], d[2] + at[2]};
        const double s = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
        double image[2] = {0, 0}, wave = 0, side = 0;
        if (s < FARTHEST)
            image_at(s, h2 == 0, image);
        if (h2 > 0 && h2 <= WAVES2) {
            const double phase = 2 * PI * (at[0] * d[0] + at[1] * d[1] + at[2] * d[2]);
            wave = exp(-PI * PI * h2 / (ALPHA * ALPHA)) / (PI * h2);
            side = 2 * PI * wave * sin(phase);
            wave *= cos(phase);
        }
        psi += image[0] + wave;
        for (int c = 0; c < 3; c++)
            pull[c] += image[1] * r[c] + side * at[c];
    }
    for (int c = 0; c < 3; c++)
        out[c] = pull[c];
    out[3] = -psi;
}

typedef struct table_job {
    size_t across;
    double *table;
} table_job;

/* Planes of the table.  The box is the same along its axes: nodes with x <= y <= z are found, the others copied. */
static void fill(void *user, size_t first, size_t count)
{
    const table_job *job = user;
    const size_t n = job->across;
    for (size_t z = first; z < first + count; z++)
        for (size_t y = 0; y <= z; y++)
            for (size_t x = 0; x <= y; x++) {
                const double step = 0.5 / (double)(n - 1);
                const double d[3] = {step * (double)x, step * (double)y, step * (double)z};
                double *to = job->table + 4 * (x + n * (y + n * z));
                ewald_correction(d, to);
                to[3] += 2 * PI / 3 * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]); /* the kernel takes it off again */
            }
}

static void spread(const table_job *job)
{
    const size_t n = job->across;
    for (size_t k = 0; k < n * n * n; k++) {
        size_t at[3] = {k % n, k / n % n, k / n / n}, place[3] = {0, 1, 2};
        for (int pass = 0; pass < 2; pass++)
            for (int c = 0; c < 2; c++)
                if (at[place[c]] > at[place[c + 1]]) {
                    const size_t swap = place[c];
                    place[c] = place[c + 1];
                    place[c + 1] = swap;
                }
        const double *from = job->table + 4 * (at[place[0]] + n * (at[place[1]] + n * at[place[2]]));
        double value[4] = {0, 0, 0, from[3]};
        for (int c = 0; c < 3; c++)
            value[place[c]] = from[c];
        memcpy(job->table + 4 * k, value, sizeof value);
    }
}

gravel_status gv_pairs_start(gravel_mesh *mesh)
{
    const size_t n = (size_t)mesh->options.table, numbers = 4 * n * n * n;
    table_job job = {n, malloc(numbers * sizeof *job.table)};
    gravel_status status =
        job.table ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no host memory for a table of %zu^3 nodes", n);
    if (!status)
        status = gv_mesh_reserve(mesh, GV_MB_WAVES, numbers * mesh->scalar, "table of Ewald's correction");
    if (!status) {
        gv_parallel(gv_context_pool(mesh->worker.context), n, 1, fill, &job);
        spread(&job);
        for (size_t k = 0; k < numbers && mesh->scalar == 4; k++) {
            const float single = (float)job.table[k];
            memcpy((char *)job.table + 4 * k, &single, sizeof single);
        }
        const cl_int code = clEnqueueWriteBuffer(gv_worker_queue(&mesh->worker), mesh->buffer[GV_MB_WAVES].mem, CL_TRUE,
                                                 0, numbers * mesh->scalar, job.table, 0, NULL, NULL);
        status = code ? gv_fail_cl(code, "writing a table of Ewald's correction") : GRAVEL_OK;
    }
    free(job.table);
    return status;
}

gravel_status gv_pairs_places(gravel_mesh *mesh)
{
    const gv_selection *s = &mesh->sources;
    cl_mem none = NULL;
    const gravel_status status = gv_mesh_reserve_sources(mesh, s->count);
    return status ? status
                  : gv_mesh_places(mesh, s, 0, mesh->buffer[GV_MB_START].mem, none, mesh->buffer[GV_MB_RAW].mem);
}

gravel_status gv_pairs_forces(gravel_mesh *mesh, const gv_selection *sinks, cl_mem cell, cl_mem place)
{
    const gravel_mesh_options *o = &mesh->options;
    const gv_selection *s = &mesh->sources;
    const double eps = (o->spline ? SPLINE_SUPPORT : 1) * o->eps * o->cells / o->side;
    /* distances below 1e-12 of the box: 1 / s^3 stays finite in float */
    const double least = 1e-24 * o->cells * o->cells;
    const gv_buffer *b = mesh->buffer;
    gv_mesh_begin(mesh, GV_MS_INTERPOLATE);
    const gravel_status status =
        gv_mesh_launch(mesh, GV_MK_PAIRS, gv_items(sinks->count, mesh->group), GV_MEM(b[GV_MB_START]),
                       GV_MEM(b[GV_MB_RAW]), GV_UINT(s->count), GV_ARG(cell), GV_ARG(place), GV_UINT(sinks->count),
                       GV_ARG(s->list), GV_UINT(s->first), GV_ARG(sinks->list), GV_UINT(sinks->first),
                       GV_INT(s->bodies == sinks->bodies), GV_INT(o->cells), GV_MESH_REAL(mesh, eps * eps),
                       GV_MESH_REAL(mesh, least), GV_MEM(b[GV_MB_WAVES]), GV_INT(o->table), GV_MEM(*mesh->result));
    gv_mesh_end(mesh);
    return status;
}
