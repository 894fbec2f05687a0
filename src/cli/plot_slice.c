/* gravel plot slice: the mass in a slice through a box. */
#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/plot_cosmo.h"
#include "cli/plot_run.h"
#include "cli/run_folder.h"
#include "sim/density_map.h"
#include "sim/snapshot.h"

#define COMMAND "gravel plot slice"

/* Bodies in the middle of the box along z, moved to the front; returns how many. */
static size_t cut(gv_particles *p, double thickness)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->count; i++)
        if (fabs(p->z[i] / p->box.side - 0.5) <= 0.5 * thickness) {
            p->x[kept] = p->x[i];
            p->y[kept] = p->y[i];
            p->z[kept] = p->z[i];
            p->m[kept++] = p->m[i];
        }
    return kept;
}

/* Over the mean of the slice, on a logarithmic scale from a tenth of it (or one body in a pixel) on. */
static void draw(FILE *out, const gv_density_map *map, const gv_particles *p, double mean, double thickness)
{
    const double mpc = p->units.length_cm / (1e3 * GV_CM_PER_KPC), side = map->side * mpc, pixel = side / map->pixels;
    const double top = fmax(1, log10(map->most / mean));
    gv_plot_style(out);
    fprintf(out,
            "unset grid\nset tics out nomirror\nset size ratio -1\nset palette defined (0 '#000004', 1 '#1b0c41', 2 "
            "'#4a0c6b', 3 '#781c6d', 4 '#a52c60', 5 '#cf4446', 6 '#ed6925', 7 '#fb9b06', 8 '#f7d13d', 9 '#fcffa4')\n"
            "set xrange [0:%.9g]\nset yrange [0:%.9g]\nset cbrange [-0.5:%.4g]\nset xlabel 'x [Mpc/h]'\n"
            "set ylabel 'y [Mpc/h]'\nset cblabel 'log_{10} mass per area over its mean'\n"
            "set title 'z = %.3g, a slice of %.4g Mpc/h'\n"
            "plot '-' binary array=(%d,%d) dx=%.9g dy=%.9g origin=(%.9g,%.9g) format='%%float' with image notitle\n",
            side, side, fmin(top, 2.5), gv_plot_redshift(p->time), thickness * side, map->pixels, map->pixels, pixel,
            pixel, 0.5 * pixel, 0.5 * pixel);
    for (size_t k = 0; k < (size_t)map->pixels * (size_t)map->pixels; k++) {
        const float value = map->value[k] > 0 ? (float)fmax(log10(map->value[k] / mean), -0.5) : -0.5f;
        fwrite(&value, sizeof value, 1, out);
    }
    fputc('\n', out);
}

static gravel_status make(const gv_plot_cosmo_options *o, gv_particles *p, const char *path)
{
    gv_density_map map;
    gv_plot plot;
    const double side = p->box.side, centre[3] = {0.5 * side, 0.5 * side, 0.5 * side};
    static const int axis[2] = {0, 1};
    double mass = 0;
    for (size_t i = 0; i < p->count; i++)
        mass += p->m[i];
    const size_t all = p->count, kept = cut(p, o->thickness);
    if (kept == 0)
        return gv_fail(GRAVEL_ERR_INPUT, "%s: no bodies in a slice of %g of the box", path, o->thickness);
    /* spots of the mean distance, smaller where bodies are many; at most a slice in them */
    const double spot = side * fmax(0.25 / cbrt((double)all), 1.5 / (double)o->pixels);
    double *reach = malloc(kept * sizeof *reach);
    if (!reach)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a picture");
    for (size_t i = 0; i < kept; i++)
        reach[i] = spot;
    p->count = kept;
    gravel_status status = gv_density_map_make(&map, p, reach, axis, centre, side, (int)o->pixels);
    p->count = all;
    free(reach);
    if (!status)
        status = gv_plot_begin(&plot, o->out, 720, 640, 0);
    if (!status) {
        draw(plot.script, &map, p, mass * o->thickness / (side * side), o->thickness);
        status = gv_plot_finish(&plot);
    }
    gv_density_map_free(&map);
    return status;
}

int gv_plot_slice(const void *values, const gv_operands *operands)
{
    const gv_plot_cosmo_options *o = values;
    gv_particles p = GV_PARTICLES_INIT;
    gv_read_options reading = GV_READ_OPTIONS_INIT;
    gv_run_folder folder;
    reading.comoving = 1;
    gravel_status status = gv_run_folder_open(&folder, operands->value[0]);
    if (status)
        return gv_cli_fail(COMMAND, status);
    status = gv_run_folder_need_snapshot(&folder, operands->value[0], o->snapshot);
    const char *path = status ? NULL : folder.snapshot[o->snapshot >= 0 ? (size_t)o->snapshot : folder.snapshots - 1];
    if (!status)
        status = gv_snapshot_read(&p, path, &reading);
    if (!status && !(p.box.side > 0))
        status = gv_fail(GRAVEL_ERR_INPUT, "%s: no box with its cosmology", path);
    const int reads = status != GRAVEL_OK;
    if (!status)
        status = make(o, &p, path);
    gv_particles_free(&p);
    gv_run_folder_close(&folder);
    return !status ? GV_EXIT_OK : reads ? gv_cli_fail(COMMAND, status) : gv_cli_fail_writing(COMMAND, status);
}
