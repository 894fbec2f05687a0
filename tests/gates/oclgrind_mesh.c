/* A small mesh, for Oclgrind, which watches memory and races: every assignment in both ways, and both ways to forces.
 * The FFT is the host's: a library's kernels are not ours to check.
 *
 *   oclgrind_mesh sp|dp
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/mesh/mesh.h"
#include "oclgrind_set.h"

enum { N = 40 };

static double m[N], x[3][N], a[3][N], pot[N];

static gravel_status run(gravel_context *context, gravel_bodies *bodies, gravel_mesh_options options, int by_rows,
                         double *lost)
{
    const gravel_view all = gravel_view_all(bodies), some = gravel_view_range(bodies, 3, 20);
    const gravel_forces out = {.acc = GRAVEL_VEC_OUT_SOA(a[0], a[1], a[2]), .pot = pot};
    double sum[3] = {0, 0, 0}, size = 0;
    gravel_mesh *mesh = NULL;
    gravel_status status = gravel_mesh_create(&mesh, context, &options);
    if (!status)
        mesh->by_rows = by_rows;
    if (!status)
        status = gravel_mesh_set_sources(mesh, &all);
    if (!status)
        status = gravel_mesh_forces(mesh, &some, GRAVEL_INTO_PLANES, NULL);
    if (!status)
        status = gravel_mesh_forces(mesh, &all, GRAVEL_INTO_HOST, &out);
    gravel_mesh_release(mesh);
    for (int k = 0; k < N; k++)
        for (int c = 0; c < 3; c++) {
            sum[c] += m[k] * a[c][k];
            size += m[k] * fabs(a[c][k]);
        }
    *lost = (fabs(sum[0]) + fabs(sum[1]) + fabs(sum[2])) / size;
    return status;
}

int main(int argc, char **argv)
{
    const int is_double = argc == 2 && strcmp(argv[1], "dp") == 0;
    gravel_context *context = NULL;
    gravel_bodies *bodies = NULL;
    int failed = 0;
    for (int k = 0; k < N; k++) {
        m[k] = 1 + k % 3;
        for (int c = 0; c < 3; c++) /* a few share a cell, some are beside a side of the box */
            x[c][k] = k < 10 ? 0.999 : fmod(0.37 + 0.618034 * k * (c + 1), 1.0);
    }
    gravel_status status = open_set(&context, &bodies, N, m, x[0], x[1], x[2]);
    for (int k = 0; k < 2 * GRAVEL_PCS + 2 && !status; k++) {
        const int waves = k == 2 * GRAVEL_PCS ? 2 : 0, table = k > 2 * GRAVEL_PCS ? 5 : 0,
                  width = k >= 2 * GRAVEL_PCS ? GRAVEL_CIC : k / 2 + 1, by_rows = k % 2;
        gravel_mesh_options options = GRAVEL_MESH_OPTIONS_INIT;
        double lost;
        options.cells = 6;
        options.assignment = (gravel_assignment)width;
        options.gradient = width % 2 ? GRAVEL_SPECTRAL : GRAVEL_FOUR_POINT;
        options.interlaced = width == GRAVEL_TSC;
        options.waves = waves;
        options.table = table;
        options.split = table ? 0 : 0.2;
        options.precision = is_double ? GRAVEL_DP : GRAVEL_SP;
        options.fft = GRAVEL_FFT_HOST;
        status = run(context, bodies, options, by_rows, &lost);
        /* assignment and interpolation are the same sums: what is left of the net force is rounding */
        failed += !(lost < 1e-4);
        const char *how = waves ? " waves" : table ? " pairs" : by_rows ? " by rows" : "";
        printf("%s%s: net force %.1e\n", gravel_assignment_name(options.assignment), how, lost);
    }
    return close_set(context, bodies, status, failed);
}
