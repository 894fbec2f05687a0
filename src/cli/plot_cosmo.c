/* gravel plot spectrum, massfunction: tables of a box beside theory. */
#include "cli/plot_cosmo.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/plot_run.h"
#include "host/base/files.h"
#include "sim/cosmo_analyse.h"
#include "sim/cosmo_theory.h"

#define AT(member) .offset = offsetof(gv_plot_cosmo_options, member)
#define OUTPUT                                                                                                         \
    {                                                                                                                  \
        .name = "output", .letter = 'o', .kind = GV_OPT_OUT, AT(out), .value = "FILE",                                 \
        .help = "FILE.png, FILE.svg or FILE.pdf", .required = 1                                                        \
    }
#define TABLE                                                                                                          \
    {                                                                                                                  \
        .name = "table", .kind = GV_OPT_TEXT, AT(table), .value = "FILE",                                              \
        .help = "the linear spectrum that the run was made with, where\nit was a table"                                \
    }

const gv_opt gv_plot_spectrum_opts[] = {OUTPUT, TABLE, {.name = NULL}};
const gv_opt gv_plot_massfunction_opts[] = {OUTPUT, TABLE, {.name = NULL}};
const gv_opt gv_plot_slice_opts[] = {
    OUTPUT,
    {.name = "snapshot",
     .kind = GV_OPT_INT,
     AT(snapshot),
     .value = "K",
     .help = "of the snapshots of a run the K-th, from 0 (the last)",
     .fallback = "-1",
     .low = 0,
     .high = INT32_MAX},
    {.name = "thickness",
     .kind = GV_OPT_REAL,
     AT(thickness),
     .value = "T",
     .help = "of the slice, in parts of the box",
     .fallback = "0.1",
     .low = 1e-6,
     .high = 1},
    {.name = "pixels",
     .kind = GV_OPT_SIZE,
     AT(pixels),
     .value = "P",
     .help = "along each side",
     .fallback = "400",
     .low = 16,
     .high = 4096},
    {.name = NULL},
};

/* ----------------------------------------------------------------- reading */

typedef struct tables {
    int count;
    gv_cosmo_table at[GV_PLOT_MOST_TABLES];
    gv_power power;
} tables;

/* KIND_NNNN.txt of a folder, or the file itself. */
static gravel_status read_one(tables *t, const char *kind, const char *path)
{
    if (t->count == GV_PLOT_MOST_TABLES)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "more than %d tables; name some of them instead of the folder",
                       (int)GV_PLOT_MOST_TABLES);
    const gravel_status status = gv_cosmo_table_read(&t->at[t->count], path, kind);
    t->count += !status;
    return status;
}

static gravel_status read_folder(tables *t, const char *kind, const char *path)
{
    struct dirent **entry = NULL;
    const int n = scandir(path, &entry, NULL, alphasort);
    const size_t length = strlen(kind);
    gravel_status status = n < 0 ? gv_fail(GRAVEL_ERR_FILE, "cannot read %s: %s", path, strerror(errno)) : GRAVEL_OK;
    for (int k = 0; k < n; k++) {
        const char *name = entry[k]->d_name, *end = strrchr(name, '.');
        if (!status && strncmp(name, kind, length) == 0 && name[length] == '_' && end && strcmp(end, ".txt") == 0) {
            char *file = gv_path_join(path, name);
            status = file ? read_one(t, kind, file) : gv_fail(GRAVEL_ERR_MEMORY, "out of memory");
            free(file);
        }
        free(entry[k]);
    }
    free(entry);
    if (!status && t->count == 0)
        status =
            gv_fail(GRAVEL_ERR_FILE,
                    "%s: no %s_NNNN.txt in it; 'gravel run --cosmology' and 'gravel analyse' write them", path, kind);
    return status;
}

/* Curves from the first redshift to the last, whatever their files are called; of one redshift as they were named. */
static void order_by_redshift(tables *t)
{
    for (int k = 1; k < t->count; k++) {
        const gv_cosmo_table one = t->at[k];
        int to = k;
        for (; to > 0 && t->at[to - 1].a > one.a; to--)
            t->at[to] = t->at[to - 1];
        t->at[to] = one;
    }
}

static gravel_status read_all(tables *t, const char *kind, const gv_operands *operands, const char *table)
{
    struct stat about;
    gravel_status status = GRAVEL_OK;
    for (int k = 0; k < operands->n && !status; k++) {
        const char *path = operands->value[k];
        status =
            stat(path, &about) == 0 && S_ISDIR(about.st_mode) ? read_folder(t, kind, path) : read_one(t, kind, path);
    }
    order_by_redshift(t);
    return status ? status : gv_power_create(&t->power, &t->at[0].cosmology, table);
}

static void free_all(tables *t)
{
    for (int k = 0; k < t->count; k++)
        gv_cosmo_table_free(&t->at[k]);
    gv_power_free(&t->power);
}

/* ----------------------------------------------------------------- drawing */

/* Two panels, the lower one for ratios. */
static void begin_panels(FILE *out, const tables *t)
{
    gv_plot_style(out);
    fprintf(out,
            "set multiplot\nset lmargin screen 0.11\nset rmargin screen 0.97\nset tmargin screen 0.93\n"
            "set bmargin screen 0.40\nset title 'box %.6g Mpc/h, %.0f^3 bodies'\nset logscale xy\nset format x ''\n"
            "set format y '10^{%%T}'\n",
            t->at[0].side, cbrt(t->at[0].bodies));
}

static void lower_panel(FILE *out, const char *xlabel, const char *ylabel)
{
    fprintf(out,
            "set tmargin screen 0.38\nset bmargin screen 0.11\nunset title\nunset key\nset format x '10^{%%T}'\n"
            "set format y '%%g'\nunset logscale y\nset yrange [0.6:1.4]\nset ytics 0.2\nset xlabel '%s'\n"
            "set ylabel '%s'\n",
            xlabel, ylabel);
}

/* Waves up to that of two bodies, which is the shortest that they carry. */
static size_t shown(const gv_cosmo_table *t)
{
    const double most = 3.14159265358979 * cbrt(t->bodies) / t->side;
    size_t rows = 0;
    while (rows < t->rows && t->row[rows][0] <= most)
        rows++;
    return rows;
}

static void put_spectra(FILE *out, const tables *t, double *most)
{
    *most = 0;
    for (int i = 0; i < t->count; i++) {
        const gv_cosmo_table *s = &t->at[i];
        gv_halofit fit;
        gv_halofit_make(&fit, &t->power, s->a);
        fprintf(out, "$m%d << EOD\n", i);
        for (size_t k = 0; k < shown(s); k++)
            if (s->row[k][2] > 0) {
                const double halofit = gv_halofit_at(&fit, s->row[k][0]);
                *most = fmax(*most, fabs(s->row[k][2] / halofit - 1));
                fprintf(out, "%.6g %.6g %.6g %.6g %.6g\n", s->row[k][0], s->row[k][2],
                        gv_theory_linear(&t->power, s->a, s->row[k][0]), halofit, sqrt(2 / s->row[k][3]));
            }
        fprintf(out, "EOD\n");
    }
}

static void draw_spectra(FILE *out, const tables *t)
{
    double most;
    begin_panels(out, t);
    put_spectra(out, t, &most);
    fputs("set key bottom left\nset ylabel 'P(k) [(Mpc/h)^3]'\nplot ", out);
    for (int i = 0; i < t->count; i++)
        fprintf(out, "$m%d using 1:2 with points pt 7 ps 0.4 lc rgb '%s' title 'z = %.3g', ", i, gv_plot_colour(i),
                gv_plot_redshift(t->at[i].a));
    for (int i = 0; i < t->count; i++)
        fprintf(out,
                "%s$m%d using 1:3 with lines dt 2 lw 1.2 lc rgb '%s' %s, "
                "$m%d using 1:4 with lines lw 1.2 lc rgb '%s' %s",
                i ? ", " : "", i, gv_plot_colour(i), i ? "notitle" : "title 'linear theory'", i, gv_plot_colour(i),
                i ? "notitle" : "title 'halofit'");
    fputc('\n', out);
    lower_panel(out, "k [h/Mpc]", "P / halofit");
    /* few long waves scatter: room for all, up to three times halofit */
    if (most > 0.38)
        fprintf(out, "set yrange [%g:%g]\nset ytics 0.5\n", fmax(0, 1 - most - 0.1), fmin(3, 1 + most + 0.1));
    fputs("plot 1 with lines lc rgb 'black' lw 1, ", out);
    for (int i = 0; i < t->count; i++)
        fprintf(out, "%s$m%d using 1:($2/$4) with linespoints pt 7 ps 0.3 lw 1.2 lc rgb '%s' notitle", i ? ", " : "", i,
                gv_plot_colour(i));
    fputs("\nunset multiplot\n", out);
}

/* Measured, then three theories over four decades around it. */
static void put_mass_functions(FILE *out, const tables *t)
{
    for (int i = 0; i < t->count; i++) {
        const gv_cosmo_table *m = &t->at[i];
        fprintf(out, "$m%d << EOD\n", i);
        for (size_t k = 0; k < m->rows; k++) {
            const double reed = gv_theory_mass_function(&t->power, GV_MF_REED, m->a, m->row[k][0]);
            fprintf(out, "%.6g %.6g %.6g %.6g %.6g\n", m->row[k][0], m->row[k][4], m->row[k][4] / sqrt(m->row[k][3]),
                    m->row[k][4] / reed, m->row[k][4] / sqrt(m->row[k][3]) / reed);
        }
        fprintf(out, "EOD\n$t%d << EOD\n", i);
        for (double mass = t->at[0].row[0][0] / 2; mass < 1.01e16; mass *= pow(10, 0.1)) {
            double value[GV_MASS_FUNCTIONS];
            for (int f = 0; f < GV_MASS_FUNCTIONS; f++)
                value[f] = gv_theory_mass_function(&t->power, (gv_mass_function)f, m->a, mass);
            fprintf(out, "%.6g %.6g %.6g %.6g\n", mass, value[0], value[1], value[2]);
        }
        fprintf(out, "EOD\n");
    }
}

static void draw_mass_functions(FILE *out, const tables *t)
{
    double most = 0, least = INFINITY, low = INFINITY, high = 0;
    for (int i = 0; i < t->count; i++)
        for (size_t k = 0; k < t->at[i].rows; k++) {
            low = fmin(low, t->at[i].row[k][0]);
            high = fmax(high, t->at[i].row[k][0]);
            least = fmin(least, t->at[i].row[k][4]);
            most = fmax(most, t->at[i].row[k][4]);
        }
    begin_panels(out, t);
    put_mass_functions(out, t);
    fprintf(out,
            "set key top right\nset xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\n"
            "set ylabel 'dn / d ln M [(h/Mpc)^3]'\nplot ",
            low / 1.5, high * 2, least / 5, most * 3);
    /* the bar of a single group goes down to 0, which a logarithmic axis has not: down to its end */
    for (int i = 0; i < t->count; i++)
        fprintf(out,
                "$m%d using 1:2:($2>$3?$2-$3:%.6g):($2+$3) with yerrorbars pt 7 ps 0.6 lc rgb '%s' title 'z = %.3g', ",
                i, least / 5, gv_plot_colour(i), gv_plot_redshift(t->at[i].a));
    for (int i = 0; i < t->count; i++)
        for (int f = 0; f < GV_MASS_FUNCTIONS; f++) {
            fprintf(out, "%s$t%d using 1:%d with lines lw 1.2 dt %d lc rgb '%s' ", i + f ? ", " : "", i, f + 2,
                    f == GV_MF_REED      ? 1
                    : f == GV_MF_JENKINS ? 2
                                         : 3,
                    gv_plot_colour(i));
            fprintf(out, i ? "notitle" : "title '%s'", gv_mass_function_name[f]);
        }
    fputc('\n', out);
    lower_panel(out, "M [M_{☉}/h]", "n / Reed");
    fputs("set yrange [0.4:1.6]\nplot 1 with lines lc rgb 'black' lw 1", out);
    for (int i = 0; i < t->count; i++)
        fprintf(out, ", $m%d using 1:4:5 with yerrorbars pt 7 ps 0.6 lc rgb '%s' notitle", i, gv_plot_colour(i));
    for (int f = 0; f < 2; f++)
        fprintf(out, ", $t%d using 1:(column(%d)/$4) with lines dt %d lc rgb '%s' notitle", t->count - 1, f + 2,
                f == GV_MF_JENKINS ? 2 : 3, gv_plot_colour(t->count - 1));
    fputs("\nunset multiplot\n", out);
}

/* ---------------------------------------------------------------- commands */

/* Snapshots without groups have tables without rows. */
static void drop_empty(tables *t)
{
    int kept = 0;
    for (int k = 0; k < t->count; k++)
        if (t->at[k].rows > 0)
            t->at[kept++] = t->at[k];
        else
            gv_cosmo_table_free(&t->at[k]);
    t->count = kept;
}

static int plot(const char *command, const char *kind, const void *values, const gv_operands *operands,
                void (*draw)(FILE *, const tables *))
{
    const gv_plot_cosmo_options *o = values;
    tables t = {.count = 0};
    gv_plot figure;
    gravel_status status = read_all(&t, kind, operands, o->table);
    if (!status) {
        drop_empty(&t);
        if (t.count == 0)
            status = gv_fail(GRAVEL_ERR_INPUT, "%s: nothing in its tables yet: no groups", operands->value[0]);
    }
    const int reads = status != GRAVEL_OK;
    if (!status)
        status = gv_plot_begin(&figure, o->out, 760, 720, 0);
    if (!status) {
        draw(figure.script, &t);
        status = gv_plot_finish(&figure);
    }
    free_all(&t);
    return !status ? GV_EXIT_OK : reads ? gv_cli_fail(command, status) : gv_cli_fail_writing(command, status);
}

int gv_plot_spectrum(const void *values, const gv_operands *operands)
{
    return plot("gravel plot spectrum", "spectrum", values, operands, draw_spectra);
}

int gv_plot_massfunction(const void *values, const gv_operands *operands)
{
    return plot("gravel plot massfunction", "massfunction", values, operands, draw_mass_functions);
}
