/* What plots of simulations share: style, labels, times, snapshots. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/particle_file.h"
#include "cli/plot_run.h"
#include "sim/subset.h"

static const char *const colour[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                     "#E69F00", "#56B4E9", "#000000", "#999933"};
enum { COLOURS = sizeof colour / sizeof colour[0] };

const char *gv_plot_colour(int k)
{
    return colour[k % COLOURS];
}

void gv_plot_style(FILE *script)
{
    fputs("set border lw 1.2\nset tics in nomirror scale 0.8\nset grid lc rgb '#dddddd' lt 1 lw 0.6\n"
          "set key opaque samplen 2\nset datafile missing 'nan'\n",
          script);
}

void gv_plot_label(FILE *script, const char *what, const gv_units *units, int length, int mass, int velocity)
{
    char text[GV_UNITS_TEXT];
    gv_unit_text(units, length, mass, velocity, text);
    fprintf(script, "'%s", what);
    if (strcmp(text, "1") == 0) {
        fputc('\'', script);
        return;
    }
    if (gv_units_are_nbody(units))
        snprintf(text, sizeof text, "N-body units");
    fputs(" [", script);
    for (const char *c = text; *c; c++) {
        if (strncmp(c, "1e10 ", 5) == 0) {
            fputs("10^{10} ", script);
            c += 4;
        } else if (strncmp(c, "Msun", 4) == 0) {
            fputs("M_{☉}", script);
            c += 3;
        } else if (*c == '^') {
            const size_t digits = strspn(c + 1, "-0123456789");
            fprintf(script, "^{%.*s}", (int)digits, c + 1);
            c += digits;
        } else {
            fputc(*c, script);
        }
    }
    fputs("]'", script);
}

void gv_plot_log_range(FILE *script, double low, double high)
{
    static const double step[3][16] = {
        {1, 2, 5}, {1, 1.5, 2, 3, 4, 5, 6, 8}, {1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9}};
    const double room = fmax(1.2, pow(high / low, 0.05)), from = low / room, to = high * room;
    fprintf(script, "set logscale y\nset yrange [%.6g:%.6g]\nset ytics autofreq\n", from, to);
    if (high / low > 1e3)
        return;
    /* the coarsest list with three tics on the axis, else the finest, of which the narrowest axis (1.44) has two */
    double tic[64];
    int n = 0;
    for (int list = 0; list < 3 && n < 3; list++) {
        n = 0;
        for (double decade = pow(10.0, floor(log10(from))); decade <= to; decade *= 10.0)
            for (int k = 0; k < 16 && step[list][k] > 0.0; k++)
                if (step[list][k] * decade >= from && step[list][k] * decade <= to && n < 64)
                    tic[n++] = step[list][k] * decade;
    }
    fputs("set ytics (", script);
    for (int k = 0; k < n; k++)
        fprintf(script, "%s%.6g", k ? ", " : "", tic[k]);
    fputs(")\n", script);
}

gv_plot_time gv_plot_time_unit(const gv_units *units, double longest)
{
    static const double myr_s = 3.15576e13; /* Julian years */
    if (gv_units_are_nbody(units))
        return (gv_plot_time){1.0, "N-body units"};
    const double myr = units->length_cm / units->velocity_cm_s / myr_s;
    return longest * myr < 2000.0 ? (gv_plot_time){myr, "Myr"} : (gv_plot_time){1e-3 * myr, "Gyr"};
}

double gv_plot_redshift(double a)
{
    const double z = 1 / a - 1;
    return fabs(z) < 1e-9 ? 0 : z;
}

gravel_status gv_plot_bodies_read(gv_plot_bodies *b, const char *path, const gv_plot_run_options *o)
{
    gv_read_options reading = GV_READ_OPTIONS_INIT;
    *b = (gv_plot_bodies){GV_PARTICLES_INIT, GV_PARTICLES_INIT, o->ids != NULL};
    reading.text_units = gv_cli_units(o->units);
    gravel_status status = gv_snapshot_read(&b->all, path, &reading);
    if (!status && b->copied)
        status = gv_subset_ids(&b->all, o->ids, &b->some);
    else if (!status)
        b->some = b->all;
    if (status)
        gv_plot_bodies_free(b);
    return status;
}

void gv_plot_bodies_free(gv_plot_bodies *b)
{
    if (b->copied)
        gv_particles_free(&b->some);
    gv_particles_free(&b->all);
}
