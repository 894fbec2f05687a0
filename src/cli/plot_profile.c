/* gravel plot profile, rotation: means over shells and rings of snapshots. */
#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/plot_run.h"
#include "cli/run_folder.h"
#include "sim/radial.h"
#include "sim/subset.h"

enum { MOST_CURVES = 8, OF_A_RUN = 4 };

typedef struct curves {
    int n, has_velocities, same_name;
    char *name[MOST_CURVES]; /* operand */
    double time[MOST_CURVES];
    int expanding[MOST_CURVES]; /* time is a scale factor */
    gv_units units;
    int points[MOST_CURVES];
    union {
        gv_shell_means shell[GV_RADIAL_MOST];
        gv_ring_means ring[GV_RADIAL_MOST];
    } at[MOST_CURVES];
} curves;

/* ---------------------------------------------------------------- reading */

static gravel_status take_shells(curves *c, const gv_plot_bodies *b, const double centre[3], const double velocity[3])
{
    const int found = gv_radial_shells(&b->some, centre, velocity, c->at[c->n].shell);
    c->points[c->n] = found;
    if (found < 0)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a profile of %zu bodies", b->some.count);
    if (found < 2)
        return gv_fail(GRAVEL_ERR_INPUT, "%zu bodies are too few for a profile; %d give two points", b->some.count,
                       2 * GV_RADIAL_LEAST);
    return GRAVEL_OK;
}

static gravel_status take_rings(curves *c, const gv_plot_bodies *b, const double centre[3], const double velocity[3])
{
    double axis[3];
    gv_radial_spin(&b->some, centre, velocity, axis);
    const int found = gv_radial_rings(&b->some, &b->all, centre, velocity, axis, c->at[c->n].ring);
    c->points[c->n] = found;
    if (found < 0)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a rotation curve of %zu bodies", b->some.count);
    if (found < 2)
        return gv_fail(GRAVEL_ERR_INPUT, "%zu bodies are too few for a rotation curve", b->some.count);
    return GRAVEL_OK;
}

/* Those of the first snapshot. */
static gravel_status same_units(curves *c, gv_plot_bodies *b, const char *path)
{
    if (c->n == 0)
        c->units = b->all.units;
    if (gv_units_are_nbody(&c->units) != gv_units_are_nbody(&b->all.units))
        return gv_fail(GRAVEL_ERR_INPUT, "%s: in other units than the first; they do not fit in one plot", path);
    gv_particles_convert(&b->all, &c->units);
    if (b->copied)
        gv_particles_convert(&b->some, &c->units);
    else
        b->some = b->all;
    return GRAVEL_OK;
}

static gravel_status take_snapshot(curves *c, const char *path, char *name, const gv_plot_run_options *o, int rings)
{
    gv_plot_bodies b;
    double centre[3], velocity[3];
    if (c->n == MOST_CURVES)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "more than %d snapshots in one plot", (int)MOST_CURVES);
    gravel_status status = gv_plot_bodies_read(&b, path, o);
    if (status)
        return status;
    if (rings && !b.all.vx)
        status = gv_fail(GRAVEL_ERR_INPUT, "%s: no velocities, so no rotation", path);
    if (!status)
        status = same_units(c, &b, path);
    if (!status)
        status = gv_subset_centre(&b.some, centre, velocity);
    if (!status)
        status = rings ? take_rings(c, &b, centre, velocity) : take_shells(c, &b, centre, velocity);
    if (!status) {
        c->has_velocities |= b.all.vx != NULL;
        c->time[c->n] = b.all.time;
        c->expanding[c->n] = b.all.expanding;
        c->name[c->n++] = name;
    }
    gv_plot_bodies_free(&b);
    return status;
}

/* Of a run the first, the last and what lies evenly between, or the one that --snapshot names. */
static gravel_status take_operand(curves *c, char *name, const gv_plot_run_options *o, int rings, int share)
{
    gv_run_folder folder;
    gravel_status status = gv_run_folder_open(&folder, name);
    if (status)
        return status;
    status = gv_run_folder_need_snapshot(&folder, name, o->snapshot);
    const size_t most = o->snapshot >= 0 ? 1 : (size_t)share;
    const size_t count = folder.snapshots < most ? folder.snapshots : most;
    for (size_t k = 0; !status && k < count; k++) {
        const size_t last = folder.snapshots - 1;
        const size_t which = o->snapshot >= 0 ? (size_t)o->snapshot : count == 1 ? last : k * last / (count - 1);
        status = take_snapshot(c, folder.snapshot[which], name, o, rings);
    }
    gv_run_folder_close(&folder);
    return status;
}

static gravel_status take_all(curves *c, const gv_operands *operands, const gv_plot_run_options *o, int rings)
{
    gravel_status status = GRAVEL_OK;
    const int share = operands->n == 1 ? OF_A_RUN : operands->n <= MOST_CURVES / 2 ? 2 : 1;
    for (int k = 0; !status && k < operands->n; k++)
        status = take_operand(c, operands->value[k], o, rings, rings && operands->n == 1 ? 2 : share);
    c->same_name = operands->n == 1;
    return status;
}

/* --------------------------------------------------------------- drawing */

static void put_title(FILE *out, const curves *c)
{
    if (!c->same_name)
        return;
    fputs("set title ", out);
    gv_plot_text(out, c->name[0], 60);
    fputs(" noenhanced\n", out);
}

/* " title 't = 3 Myr'" or 'z = 1.00', with the name where there are several. */
static void put_curve_title(FILE *out, const curves *c, int k)
{
    double longest = 0.0;
    for (int i = 0; i < c->n; i++)
        longest = c->expanding[i] ? longest : fmax(longest, fabs(c->time[i]));
    const gv_plot_time time = gv_plot_time_unit(&c->units, longest);
    fputs(" title ", out);
    if (!c->same_name) {
        gv_plot_text(out, c->name[k], 40);
        fputc('.', out);
    }
    fprintf(out, "'%s", c->same_name ? "" : ", ");
    if (c->expanding[k])
        fprintf(out, "z = %.2f' noenhanced", gv_plot_redshift(c->time[k]));
    else
        fprintf(out, "t = %.4g%s%s' noenhanced", c->time[k] * time.factor, gv_units_are_nbody(&c->units) ? "" : " ",
                gv_units_are_nbody(&c->units) ? "" : time.unit);
}

static void put_shells(FILE *out, const curves *c)
{
    for (int k = 0; k < c->n; k++) {
        fprintf(out, "$p%d << EOD\n", k);
        for (int i = 0; i < c->points[k]; i++) {
            const gv_shell_means *s = &c->at[k].shell[i];
            const double both =
                sqrt((s->sigma_radial * s->sigma_radial + 2.0 * s->sigma_tangential * s->sigma_tangential) / 3.0);
            fprintf(out, "%.6g %.6g %.6g %.6g %.6g %.6g\n", s->radius, s->density, s->density_error, s->sigma_radial,
                    s->sigma_tangential, both);
        }
        fputs("EOD\n", out);
    }
}

static void put_radius_range(FILE *out, const curves *c)
{
    double low = INFINITY, high = 0.0;
    for (int k = 0; k < c->n; k++) {
        low = fmin(low, c->at[k].shell[0].radius);
        high = fmax(high, c->at[k].shell[c->points[k] - 1].radius);
    }
    fprintf(out, "set xrange [%.6g:%.6g]\n", fmax(low, 1e-12 * high) / 1.4, 1.4 * high);
}

static void draw_density(FILE *out, const curves *c)
{
    put_title(out, c);
    put_radius_range(out, c);
    fputs("set logscale xy\nset format '10^{%L}'\nset key left bottom reverse Left\nset xlabel ", out);
    gv_plot_label(out, "radius", &c->units, 1, 0, 0);
    fputs("\nset ylabel ", out);
    gv_plot_label(out, "density", &c->units, -3, 1, 0);
    fputs("\nplot ", out);
    for (int k = 0; k < c->n; k++) {
        fprintf(out,
                "%s$p%d using 1:2:3 with yerrorbars pt 7 ps 0.5 lw 1 lc rgb '%s' notitle, "
                "$p%d using 1:2 with lines lw 1.5 lc rgb '%s'",
                k ? ", " : "", k, gv_plot_colour(k), k, gv_plot_colour(k));
        put_curve_title(out, c, k);
    }
    fputc('\n', out);
}

/* Of one snapshot radial and tangential, of several the mean of all directions. */
static void draw_dispersion(FILE *out, const curves *c)
{
    fputs("unset logscale y\nset format y '%g'\nset yrange [0:*]\nset title ' '\nset key left bottom\nset ylabel ",
          out);
    gv_plot_label(out, c->n == 1 ? "velocity dispersion" : "velocity dispersion in one direction", &c->units, 0, 0, 1);
    fputs("\nplot ", out);
    for (int k = 0; c->n > 1 && k < c->n; k++)
        fprintf(out, "%s$p%d using 1:6 with linespoints pt 7 ps 0.5 lw 1.5 lc rgb '%s' notitle", k ? ", " : "", k,
                gv_plot_colour(k));
    if (c->n == 1)
        fprintf(out,
                "$p0 using 1:4 with linespoints pt 7 ps 0.5 lw 1.5 lc rgb '%s' title 'radial', "
                "$p0 using 1:5 with linespoints pt 5 ps 0.5 lw 1.5 lc rgb '%s' title 'tangential, in one direction'",
                gv_plot_colour(0), gv_plot_colour(1));
    fputc('\n', out);
}

static int finish(const char *command, gravel_status status, gv_plot *plot, curves *c)
{
    if (!status)
        status = gv_plot_finish(plot);
    gv_plot_drop(plot);
    free(c);
    return status ? gv_cli_fail_writing(command, status) : GV_EXIT_OK;
}

int gv_plot_profile(const void *values, const gv_operands *operands)
{
    static const char command[] = "gravel plot profile";
    const gv_plot_run_options *o = values;
    gv_plot plot = {0};
    curves *c = calloc(1, sizeof *c);
    if (!c)
        return gv_cli_fail(command, gv_fail(GRAVEL_ERR_MEMORY, "no memory for profiles"));
    gravel_status status = take_all(c, operands, o, 0);
    if (status) {
        free(c);
        return gv_cli_fail(command, status);
    }
    status = gv_plot_begin(&plot, o->out, c->has_velocities ? 1050 : 640, 500, 0);
    if (!status) {
        put_shells(plot.script, c);
        gv_plot_style(plot.script);
        if (c->has_velocities)
            fputs("set multiplot layout 1,2\n", plot.script);
        draw_density(plot.script, c);
        if (c->has_velocities)
            draw_dispersion(plot.script, c);
    }
    return finish(command, status, &plot, c);
}

int gv_plot_rotation(const void *values, const gv_operands *operands)
{
    static const char command[] = "gravel plot rotation";
    const gv_plot_run_options *o = values;
    gv_plot plot = {0};
    curves *c = calloc(1, sizeof *c);
    if (!c)
        return gv_cli_fail(command, gv_fail(GRAVEL_ERR_MEMORY, "no memory for rotation curves"));
    gravel_status status = take_all(c, operands, o, 1);
    if (status) {
        free(c);
        return gv_cli_fail(command, status);
    }
    status = gv_plot_begin(&plot, o->out, 800, 540, 0);
    if (!status) {
        FILE *out = plot.script;
        for (int k = 0; k < c->n; k++) {
            fprintf(out, "$r%d << EOD\n", k);
            for (int i = 0; i < c->points[k]; i++) {
                const gv_ring_means *r = &c->at[k].ring[i];
                fprintf(out, "%.6g %.6g %.6g %.6g %.6g\n", r->radius, r->rotation, r->rotation_error, r->sigma_radial,
                        r->circular);
            }
            fputs("EOD\n", out);
        }
        gv_plot_style(out);
        put_title(out, c);
        fputs("set key outside right top reverse Left\nset xrange [0:*]\nset xlabel ", out);
        gv_plot_label(out, "radius in the plane", &c->units, 1, 0, 0);
        fputs("\nset ylabel ", out);
        gv_plot_label(out, "speed", &c->units, 0, 0, 1);
        fputs("\nplot ", out);
        for (int k = 0; k < c->n; k++) {
            fprintf(out, "%s$r%d using 1:2:3 with yerrorbars pt 7 ps 0.6 lw 1.2 lc rgb '%s'", k ? ", " : "", k,
                    gv_plot_colour(k));
            put_curve_title(out, c, k);
            fprintf(out,
                    ", $r%d using 1:5 with lines lw 1.8 lc rgb '%s' title '  circular speed', "
                    "$r%d using 1:4 with lines lw 1.5 dt (4,4) lc rgb '%s' title '  radial dispersion'",
                    k, gv_plot_colour(k), k, gv_plot_colour(k));
        }
        fputc('\n', out);
    }
    return finish(command, status, &plot, c);
}
