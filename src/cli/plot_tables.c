/* gravel plot energy, lagrange, core, blocks: from the tables of a run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/plot_run.h"
#include "cli/run_folder.h"
#include "host/base/files.h"
#include "sim/blocks_table.h"
#include "sim/diagnostics_table.h"

enum { MOST_POINTS = 3000, MOST_MARKS = 100 };

typedef struct runs {
    int n;
    char **name;  /* operands */
    char *labels; /* texts for the legend behind one another; NULL: the names */
    gv_diagnostics_table table[GV_PLOT_MOST_RUNS];
    gv_plot_time time;
    int scaled;
} runs;

/* ---------------------------------------------------------------- reading */

static gravel_status read_one(runs *r, const char *path, const char *what)
{
    gv_run_folder folder;
    gv_diagnostics_table *t = &r->table[r->n];
    gravel_status status = gv_run_folder_open(&folder, path);
    if (status)
        return status;
    status = gv_run_folder_need(&folder, folder.diagnostics);
    if (!status)
        status = gv_diagnostics_read(t, folder.diagnostics);
    gv_run_folder_close(&folder);
    if (status)
        return status;
    r->n++;
    if (t->rows < 2)
        return gv_fail(GRAVEL_ERR_INPUT, "%s: %s of the run; a plot of %s against time needs at least two", path,
                       t->rows ? "one diagnostic time" : "no diagnostic time", what);
    if (memcmp(&t->units, &r->table[0].units, sizeof t->units) != 0)
        return gv_fail(GRAVEL_ERR_INPUT, "%s: in other units than %s; they do not fit in one plot", path, r->name[0]);
    if (r->scaled && !gv_units_are_nbody(&t->units))
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: --scaled-time is for N-body units", path);
    if (r->scaled && t->bodies < 10)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "%s: --scaled-time needs the number of bodies, at least 10", path);
    return GRAVEL_OK;
}

static void free_runs(runs *r)
{
    for (int k = 0; k < r->n; k++)
        gv_diagnostics_free(&r->table[k]);
    free(r->labels);
}

/* "one;another" in memory of the plot's, a text for each run. */
static gravel_status read_labels(runs *r, const char *text)
{
    int n = 1;
    r->labels = gv_format("%s", text);
    if (!r->labels)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for labels");
    for (char *c = r->labels; *c; c++)
        if (*c == ';') {
            *c = '\0';
            n++;
        }
    return n == r->n ? GRAVEL_OK
                     : gv_fail(GRAVEL_ERR_ARGUMENT, "--labels '%s' names %d, there are %d runs", text, n, r->n);
}

static gravel_status read_runs(runs *r, const gv_operands *operands, const gv_plot_run_options *o, const char *what)
{
    gravel_status status = GRAVEL_OK;
    double longest = 0.0;
    *r = (runs){.name = operands->value, .scaled = o->scaled_time};
    for (int k = 0; !status && k < operands->n; k++) {
        status = read_one(r, operands->value[k], what);
        if (!status)
            longest = fmax(longest, fabs(r->table[k].row[r->table[k].rows - 1].time));
    }
    if (!status && o->labels)
        status = read_labels(r, o->labels);
    if (status)
        free_runs(r);
    else
        r->time = gv_plot_time_unit(&r->table[0].units, longest);
    return status;
}

/* The time scale of core collapse, so that runs of different N lie on one another (Makino 1996); 1000 bodies: N-body
 * units. */
static double time_factor(const runs *r, const gv_diagnostics_table *t)
{
    const double n = (double)t->bodies;
    return r->scaled ? 212.75 * log(0.11 * n) / n : r->time.factor;
}

/* ------------------------------------------------------------------- data */

/* $NAME: time and columns of struct gv_diagnostics.  At most MOST_POINTS lines, the last among them; of `worst` (a
 * column or -1) the largest magnitude since the line before. */
static void put_table(FILE *out, const char *name, const runs *r, int run, const int *column, int columns, int worst)
{
    const gv_diagnostics_table *t = &r->table[run];
    const size_t stride = t->rows / MOST_POINTS + 1;
    double largest = 0.0;
    fprintf(out, "$%s%d << EOD\n", name, run);
    for (size_t i = 0; i < t->rows; i++) {
        const double *value = (const double *)&t->row[i];
        if (worst >= 0)
            largest = fmax(largest, fabs(value[worst]));
        if (i % stride && i + 1 < t->rows)
            continue;
        fprintf(out, "%.9g", t->row[i].time * time_factor(r, t));
        for (int c = 0; c < columns; c++)
            fprintf(out, " %.9g", column[c] == worst ? largest : value[column[c]]);
        fputc('\n', out);
        largest = 0.0;
    }
    fputs("EOD\n", out);
}

static int index_of(const char *name)
{
    int k = 0;
    while (strcmp(gv_diagnostic_column_at[k].name, name) != 0)
        k++;
    return k;
}

/* 1 if any run has a finite value above 0 there. */
static int has_positive(const runs *r, int column, int magnitude)
{
    for (int k = 0; k < r->n; k++)
        for (size_t i = 0; i < r->table[k].rows; i++) {
            const double v = ((const double *)&r->table[k].row[i])[column];
            if (isfinite(v) && (magnitude ? fabs(v) : v) > 0.0)
                return 1;
        }
    return 0;
}

/* An axis for columns first ... last of all runs. */
static void put_log_range(FILE *out, const runs *r, int first, int last)
{
    double low = INFINITY, high = 0.0;
    for (int k = 0; k < r->n; k++)
        for (size_t i = 0; i < r->table[k].rows; i++)
            for (int c = first; c <= last; c++) {
                const double v = ((const double *)&r->table[k].row[i])[c];
                if (isfinite(v) && v > 0.0) {
                    low = fmin(low, v);
                    high = fmax(high, v);
                }
            }
    gv_plot_log_range(out, low, high);
}

static int has_finite(const runs *r, int column)
{
    for (int k = 0; k < r->n; k++)
        for (size_t i = 0; i < r->table[k].rows; i++)
            if (isfinite(((const double *)&r->table[k].row[i])[column]))
                return 1;
    return 0;
}

static void put_time_label(FILE *out, const runs *r)
{
    if (r->scaled)
        fputs("set xlabel 'scaled time 212.75 t ln(0.11 N) / N'\n", out);
    else
        fprintf(out, "set xlabel 'time [%s]'\n", r->time.unit);
}

static void put_title(FILE *out, const runs *r)
{
    if (r->n > 1)
        return; /* the key has the names */
    fputs("set title ", out);
    gv_plot_text(out, r->name[0], 80);
    if (r->table[0].bodies)
        fprintf(out, ".'   (%zu bodies)'", r->table[0].bodies);
    fputs(" noenhanced\n", out);
}

/* How run k is drawn, and its name where there are several: told apart by colour and marks. */
static void put_curve(FILE *out, const runs *r, int k)
{
    static const int mark[] = {7, 5, 9, 11, 13, 6, 4, 8};
    const size_t points = r->table[k].rows / (r->table[k].rows / MOST_POINTS + 1);
    const char *label = r->labels ? r->labels : r->name[k];
    for (int i = 0; i < k && r->labels; i++)
        label += strlen(label) + 1;
    fprintf(out, "with linespoints pt %d ps 0.7 pi %zu ", mark[k % 8], points / MOST_MARKS + 1);
    fprintf(out, "lw 1.5 lc rgb '%s' title ", gv_plot_colour(k));
    gv_plot_text(out, r->n > 1 ? label : "", 50);
    fputs(" noenhanced", out);
}

/* Two panels over one axis of time. */
static void begin_panels(FILE *out, int panels)
{
    fprintf(out,
            "set multiplot layout %d,1 margins screen 0.12, screen 0.97, screen 0.11, screen 0.93 "
            "spacing screen 0.03\n",
            panels);
}

static int finish(const char *command, gravel_status status, gv_plot *plot, runs *r)
{
    if (!status)
        status = gv_plot_finish(plot);
    gv_plot_drop(plot);
    free_runs(r);
    return status ? gv_cli_fail_writing(command, status) : GV_EXIT_OK;
}

/* ----------------------------------------------------------------- energy */

static void draw_energies(FILE *out, const runs *r)
{
    static const char *const title[] = {"kinetic", "potential", "total"};
    static const char *const dashes[] = {"(16,5)", "(5,4)", "1"}; /* told apart without colours */
    put_title(out, r);
    fputs("set format x ''\nset ylabel ", out);
    gv_plot_label(out, "energy", &r->table[0].units, 0, 1, 2);
    /* room for the key */
    fputs("\nset offsets 0, 0, graph 0.18, 0\nset key top right horizontal\nplot ", out);
    for (int k = 0; k < 3; k++)
        fprintf(out, "%s$e0 using 1:%d with lines lw 2 dt %s lc rgb '%s' title '%s'", k ? ", " : "", k + 2, dashes[k],
                gv_plot_colour(k), title[k]);
    fputs("\nunset title\nset offsets\nset format x '%g'\n", out);
}

static void draw_errors(FILE *out, const runs *r)
{
    const int any = has_positive(r, index_of("energy_error"), 1);
    put_time_label(out, r);
    fputs("set ylabel '|E - E_0| / |E_0|'\nset key tmargin center horizontal\n", out);
    if (any)
        fputs("set logscale y\nset format y '10^{%L}'\n", out);
    else
        fputs("set yrange [0:1e-15]\n", out);
    fputs("plot ", out);
    for (int k = 0; k < r->n; k++) {
        /* an error of 0 has no logarithm: the lines before it go on behind it */
        fprintf(out, "%s$e%d using 1:($5 > 0 || !%d ? $5 : NaN) ", k ? ", " : "", k, any);
        put_curve(out, r, k);
    }
    fputc('\n', out);
}

int gv_plot_energy(const void *values, const gv_operands *operands)
{
    static const char command[] = "gravel plot energy";
    const gv_plot_run_options *o = values;
    const int column[4] = {index_of("kinetic"), index_of("potential"), index_of("energy"), index_of("energy_error")};
    gv_plot plot = {0};
    runs r;
    gravel_status status = read_runs(&r, operands, o, "energies");
    if (status)
        return gv_cli_fail(command, status);
    if (!has_finite(&r, column[2]))
        status = gv_fail(GRAVEL_ERR_INPUT, "%s: no energies in the diagnostics", r.name[0]);
    else
        status = gv_plot_begin(&plot, o->out, 800, r.n == 1 ? 700 : 520, 0);
    if (!status) {
        for (int k = 0; k < r.n; k++)
            put_table(plot.script, "e", &r, k, column, 4, column[3]);
        gv_plot_style(plot.script);
        if (r.n == 1) {
            begin_panels(plot.script, 2);
            draw_energies(plot.script, &r);
        }
        draw_errors(plot.script, &r);
    }
    return finish(command, status, &plot, &r);
}

/* --------------------------------------------------------------- lagrange */

int gv_plot_lagrange(const void *values, const gv_operands *operands)
{
    static const char command[] = "gravel plot lagrange";
    const gv_plot_run_options *o = values;
    const int first = index_of("r01"), core = index_of("core_radius");
    int column[GV_DIAGNOSTIC_SHARES + 1];
    gv_plot plot = {0};
    runs r;
    gravel_status status = read_runs(&r, operands, o, "radii");
    if (status)
        return gv_cli_fail(command, status);
    for (int k = 0; k < GV_DIAGNOSTIC_SHARES; k++)
        column[k] = first + k;
    column[GV_DIAGNOSTIC_SHARES] = core;
    if (!has_positive(&r, first + GV_DIAGNOSTIC_SHARES - 1, 0))
        status = gv_fail(GRAVEL_ERR_INPUT, "%s: no Lagrangian radii in the diagnostics", r.name[0]);
    else
        status = gv_plot_begin(&plot, o->out, 800, 600, 0);
    if (!status) {
        FILE *out = plot.script;
        put_table(out, "l", &r, 0, column, GV_DIAGNOSTIC_SHARES + 1, -1);
        gv_plot_style(out);
        put_title(out, &r);
        put_time_label(out, &r);
        fputs("set ylabel ", out);
        gv_plot_label(out, "radius that holds a share of the mass", &r.table[0].units, 1, 0, 0);
        fputc('\n', out);
        put_log_range(out, &r, first, first + GV_DIAGNOSTIC_SHARES - 1);
        /* from dark to light with the share */
        fputs("set key outside right center reverse Left\nset palette defined "
              "(0 '#440154', 1 '#3b528b', 2 '#21918c', 3 '#5ec962', 4 '#e0c020')\nunset colorbox\nset cbrange [0:1]\n"
              "plot ",
              out);
        for (int k = GV_DIAGNOSTIC_SHARES - 1; k >= 0; k--)
            fprintf(out, "$l0 using 1:%d with lines lw 2 lc palette frac %g title '%.0f %%', ", k + 2,
                    k / (GV_DIAGNOSTIC_SHARES - 1.0), 100.0 * gv_diagnostic_share[k]);
        fprintf(out, "$l0 using 1:%d with lines lw 1.5 dt 2 lc rgb 'black' title 'core'\n", GV_DIAGNOSTIC_SHARES + 2);
    }
    return finish(command, status, &plot, &r);
}

/* ------------------------------------------------------------------- core */

/* `field` of the data, which is `column` of the diagnostics. */
static void draw_core(FILE *out, const runs *r, int field, int column)
{
    put_log_range(out, r, column, column);
    fputs("plot ", out);
    for (int k = 0; k < r->n; k++) {
        fprintf(out, "%s$c%d using 1:%d ", k ? ", " : "", k, field);
        put_curve(out, r, k);
    }
    fputc('\n', out);
}

int gv_plot_core(const void *values, const gv_operands *operands)
{
    static const char command[] = "gravel plot core";
    const gv_plot_run_options *o = values;
    const int column[2] = {index_of("core_radius"), index_of("core_density")};
    gv_plot plot = {0};
    runs r;
    gravel_status status = read_runs(&r, operands, o, "the core");
    if (status)
        return gv_cli_fail(command, status);
    if (!has_positive(&r, column[0], 0) || !has_positive(&r, column[1], 0))
        status =
            gv_fail(GRAVEL_ERR_INPUT, "%s: no core in the diagnostics (fewer than seven bodies have none)", r.name[0]);
    else
        status = gv_plot_begin(&plot, o->out, 800, 700, 0);
    if (!status) {
        FILE *out = plot.script;
        for (int k = 0; k < r.n; k++)
            put_table(out, "c", &r, k, column, 2, -1);
        gv_plot_style(out);
        begin_panels(out, 2);
        put_title(out, &r);
        fputs("set format x ''\nset format y '%g'\nset key left top\nset ylabel ", out);
        gv_plot_label(out, "core density", &r.table[0].units, -3, 1, 0);
        fputc('\n', out);
        draw_core(out, &r, 3, column[1]);
        fputs("unset title\nunset key\nset format x '%g'\nset ylabel ", out);
        gv_plot_label(out, "core radius", &r.table[0].units, 1, 0, 0);
        fputc('\n', out);
        put_time_label(out, &r);
        draw_core(out, &r, 2, column[0]);
    }
    return finish(command, status, &plot, &r);
}

/* ----------------------------------------------------------------- blocks */

/* Shares of all, in per cent, for each power from the first to the last that occurs. */
static int put_shares(FILE *out, const char *name, const gv_blocks *b, double (*value)(const gv_blocks_line *))
{
    double sum = 0.0;
    int first = GV_BLOCKS_POWERS, last = -1;
    for (int k = 0; k < GV_BLOCKS_POWERS; k++)
        if (value(&b->at[k]) > 0.0) {
            sum += value(&b->at[k]);
            first = k < first ? k : first;
            last = k;
        }
    fprintf(out, "$%s << EOD\n", name);
    for (int k = first; k <= last; k++)
        fprintf(out, "%d %.6g\n", k + GV_BLOCKS_LOWEST, 100.0 * value(&b->at[k]) / sum);
    fputs("EOD\n", out);
    return last >= 0;
}

static double blocks_of(const gv_blocks_line *l)
{
    return l->blocks;
}

static double moved_of(const gv_blocks_line *l)
{
    return l->moved;
}

static double steps_of(const gv_blocks_line *l)
{
    return l->steps;
}

static void draw_blocks(FILE *out, const char *name, int has_steps)
{
    gv_plot_style(out);
    fprintf(out,
            "set multiplot layout 1,%d\nset style fill solid 0.9 noborder\nset boxwidth 0.4\nset yrange [0:*]\n"
            "set offsets 0.3, 0.3, graph 0.2, 0\nset autoscale xfix\nset title ",
            has_steps ? 2 : 1);
    gv_plot_text(out, name, 40);
    fprintf(out,
            " noenhanced\nset xlabel 'bodies in a block step'\nset ylabel 'share [%%]'\nset xtics 1\n"
            "set format x '2^{%%g}'\nset key top left reverse Left\n"
            "plot $size using ($1-0.2):2 with boxes lc rgb '%s' title 'of the block steps', "
            "$moved using ($1+0.2):2 with boxes lc rgb '%s' title 'of the moved bodies'\n",
            gv_plot_colour(0), gv_plot_colour(4));
    if (has_steps)
        fprintf(out,
                "set title ' '\nset xlabel 'time-step'\nset boxwidth 0.8\nset xtics autofreq\nset key off\n"
                "set offsets 0.3, 0.3, graph 0.05, 0\n"
                "set ylabel 'share of the moved bodies [%%]'\nplot $step using 1:2 with boxes lc rgb '%s'\n",
                gv_plot_colour(2));
}

static gravel_status read_blocks(gv_blocks *b, const char *path)
{
    gv_run_folder folder;
    gravel_status status = gv_run_folder_open(&folder, path);
    if (status)
        return status;
    status = gv_run_folder_need(&folder, folder.blocks);
    if (!status)
        status = gv_blocks_read(b, folder.blocks);
    gv_run_folder_close(&folder);
    return status;
}

int gv_plot_blocks(const void *values, const gv_operands *operands)
{
    static const char command[] = "gravel plot blocks";
    const gv_plot_run_options *o = values;
    gv_blocks b;
    gv_plot plot;
    gravel_status status = read_blocks(&b, operands->value[0]);
    if (status)
        return gv_cli_fail(command, status);
    status = gv_plot_begin(&plot, o->out, 1000, 460, 0);
    if (status)
        return gv_cli_fail(command, status);
    const int any = put_shares(plot.script, "size", &b, blocks_of);
    put_shares(plot.script, "moved", &b, moved_of);
    const int has_steps = put_shares(plot.script, "step", &b, steps_of);
    if (any) {
        draw_blocks(plot.script, operands->value[0], has_steps);
        status = gv_plot_finish(&plot);
    } else {
        status = gv_fail(GRAVEL_ERR_INPUT, "%s: no block steps were taken", operands->value[0]);
        gv_plot_drop(&plot);
    }
    return status ? gv_cli_fail_writing(command, status) : GV_EXIT_OK;
}
