#include "cli/cmd_plot_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot.h"
#include "cli/plot_tree_records.h"

#define COMMAND "gravel plot tree"
enum { KIND_AUTO, KIND_DISTRIBUTION, KIND_THETA, KIND_N, KIND_TIME, KIND_CROSSOVER };

/* ------------------------------------------------------------------ drawing */

static int same_n(const gv_tree_record *a, const gv_tree_record *b)
{
    return a->n == b->n;
}

static int same_theta(const gv_tree_record *a, const gv_tree_record *b)
{
    return a->theta == b->theta && strcmp(a->mac, b->mac) == 0 && a->moments == b->moments;
}

static int same_method(const gv_tree_record *a, const gv_tree_record *b)
{
    return a->n == b->n && strcmp(a->mac, b->mac) == 0 && a->moments == b->moments;
}

/* Axes are logarithmic. */
static int drawable(double value)
{
    return isfinite(value) && value > 0;
}

static int has_distribution(const gv_tree_record *r)
{
    return r->above != NULL && drawable(r->theta) && drawable(r->n);
}

static int has_errors(const gv_tree_record *r)
{
    return drawable(r->p50) && drawable(r->theta) && drawable(r->n);
}

static int has_time(const gv_tree_record *r)
{
    return drawable(r->stage[GV_TREE_TOTAL]) && drawable(r->theta) && drawable(r->n);
}

static int has_points(const gv_tree_record *r)
{
    return r->points != NULL && drawable(r->theta);
}

/* Two lines: the device's name, cut so that it fits the figure; "model, what". */
static void put_title(FILE *out, const char *set, const gv_tree_record *r, const char *what)
{
    fprintf(out, "%s ", set);
    gv_plot_text(out, r->device, 60);
    fprintf(out, ".\"\\n%s, \".",
            strcmp(r->model, "galaxy") == 0    ? "galaxy"
            : strcmp(r->model, "uniform") == 0 ? "uniform sphere"
                                               : "Plummer sphere");
    gv_plot_text(out, what, 60);
    fputs(" noenhanced\n", out);
}

static const char *criterion(const gv_tree_record *r)
{
    return strcmp(r->mac, "geometric") == 0 ? "geometric" : strcmp(r->mac, "last") == 0 ? "last" : "relative";
}

static const char *moments(const gv_tree_record *r)
{
    return r->moments == 1 ? ", mass only" : "";
}

/* Dark enough for thin lines on white, and distinct for readers who confuse red and green. */
static void put_colours(FILE *out)
{
    static const char *const colour[] = {"#440154", "#3b6fb6", "#159895", "#6aa321",
                                         "#e08214", "#b2182b", "#777777", "#c51b8a"};

    for (int c = 0; c < 8; c++)
        fprintf(out, "set linetype %d lc rgb '%s'\n", c + 1, colour[c]);
    fprintf(out, "set linetype cycle 8\n");
}

/* A panel for each N, a curve for each theta. */
static int draw_distribution(FILE *out, const gv_tree_records *all)
{
    const gv_tree_record *panel[GV_MOST_TREE_GROUPS];
    int of[GV_MOST_TREE_RECORDS], panels = gv_tree_records_group(all, same_n, has_distribution, of, panel);

    if (panels == 0)
        return 0;
    for (int i = 0; i < all->n; i++) {
        const cJSON *pair;

        if (of[i] < 0)
            continue;
        fprintf(out, "$d%d << EOD\n", i);
        cJSON_ArrayForEach(pair, all->r[i].above)
        {
            const cJSON *x = cJSON_GetArrayItem(pair, 0), *y = cJSON_GetArrayItem(pair, 1);

            if (cJSON_IsNumber(x) && cJSON_IsNumber(y) && y->valuedouble > 0)
                fprintf(out, "%.6g %.6g\n", x->valuedouble, y->valuedouble);
        }
        fprintf(out, "EOD\n");
    }
    fprintf(out, "set multiplot layout 1,%d margins %g,0.985,0.13,0.83 spacing 0.012,0\n", panels,
            panels > 1 ? 0.06 : 0.14);
    put_title(out, "set label 1", panel[0], "bodies above a relative error of the acceleration");
    fprintf(out, "set label 1 at screen 0.5,0.965 center\n"
                 "set logscale xy\nset xrange [1.5e-7:3e-2]\nset yrange [1e-4:1]\nset format xy '10^{%%T}'\nset grid\n"
                 "set xlabel 'relative error'\nset key bottom left Left reverse samplen 2 box opaque\n");
    for (int p = 0; p < panels; p++) {
        const char *between = "plot ";

        fprintf(out, "set title 'N = %.0f'\n%s\n", panel[p]->n,
                p == 0 ? "set ylabel 'part of the bodies'" : "unset ylabel\nset format y ''\nunset label 1");
        for (int i = 0; i < all->n; i++) {
            if (of[i] == p) {
                const int colour = (int)lround(fmin(10 * all->r[i].theta, 100)) - 1;

                fprintf(out, "%s$d%d using 1:2 with lines lw 2 dt %d lc %d title '{/Symbol q} = %g%s%s'", between, i,
                        strcmp(all->r[i].mac, "geometric") == 0 ? 2 : 1, colour, all->r[i].theta,
                        strcmp(all->r[i].mac, "geometric") == 0 ? ", geometric" : "", moments(&all->r[i]));
                between = ", ";
            }
        }
        fprintf(out, "\n");
    }
    return 600 * (panels < 2 ? 1 : 0) + 430 * (panels < 2 ? 0 : panels);
}

/* Curves through the median (filled) and the 99 % error (open) of each group against x. */
static void put_error_curves(FILE *out, const gv_tree_records *all, const int *of, int groups,
                             const gv_tree_record *const *first, int against_n)
{
    const char *between = "plot ";

    for (int g = 0; g < groups; g++) {
        fprintf(out, "$g%d << EOD\n", g);
        for (int i = 0; i < all->n; i++) {
            if (of[i] == g) {
                fprintf(out, "%.9g %.6g %.6g\n", against_n ? all->r[i].n : all->r[i].theta, all->r[i].p50,
                        all->r[i].p99);
            }
        }
        fprintf(out, "EOD\n");
    }
    for (int g = 0; g < groups; g++) {
        char name[96];

        snprintf(name, sizeof name, against_n ? "{/Symbol q} = %g, %s%s" : "N = %.0f, %s%s",
                 against_n ? first[g]->theta : first[g]->n, criterion(first[g]), moments(first[g]));
        fprintf(out, "%s$g%d using 1:2 with linespoints pt 7 ps 0.8 lw 2 lc %d title '%s'", between, g, g + 1, name);
        between = ", ";
        fprintf(out, ", $g%d using 1:3 with linespoints pt 6 ps 0.9 lw 1.5 dt 3 lc %d notitle", g, g + 1);
    }
}

/* `x` -> y of a line with the given slope in the middle of the medians. */
static double anchor(const gv_tree_records *all, const int *of, double slope, double *low, double *high)
{
    double sum = 0;
    int n = 0;

    *low = INFINITY;
    *high = 0;
    for (int i = 0; i < all->n; i++) {
        if (of[i] >= 0) {
            sum += log(all->r[i].p50) - slope * log(all->r[i].theta);
            *low = fmin(*low, all->r[i].theta);
            *high = fmax(*high, all->r[i].theta);
            n++;
        }
    }
    return exp(sum / n);
}

static int draw_theta(FILE *out, const gv_tree_records *all)
{
    const gv_tree_record *first[GV_MOST_TREE_GROUPS];
    int of[GV_MOST_TREE_RECORDS], groups = gv_tree_records_group(all, same_method, has_errors, of, first);
    double low, high, at;

    if (groups == 0)
        return 0;
    at = anchor(all, of, 4, &low, &high);
    put_title(out, "set title", first[0], "error against the opening angle");
    fprintf(out,
            "set logscale xy\nset xrange [%g:%g]\nset format y '10^{%%T}'\nset grid\n"
            "set xlabel 'opening angle {/Symbol q}'\nset ylabel 'relative error of the acceleration'\n"
            "set xtics (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)\n"
            "set key outside right Left reverse samplen 2 title \"filled: median\\nopen, dotted: 99 %%\"\n",
            0.93 * low, 1.07 * high);
    put_error_curves(out, all, of, groups, first, 0);
    fprintf(out, ", %g*x**4 with lines lc rgb 'black' lw 1 title '{/Symbol \\265} {/Symbol q}^4'\n", 0.4 * at);
    return 960;
}

static int draw_n(FILE *out, const gv_tree_records *all)
{
    const gv_tree_record *first[GV_MOST_TREE_GROUPS];
    int of[GV_MOST_TREE_RECORDS], groups = gv_tree_records_group(all, same_theta, has_errors, of, first);

    if (groups == 0)
        return 0;
    put_title(out, "set title", first[0], "error against the number of bodies");
    fprintf(out, "set logscale xy\nset format xy '10^{%%T}'\nset grid\nset xlabel 'N'\n"
                 "set offsets graph 0.05, graph 0.05, 0, 0\nset ylabel 'relative error of the acceleration'\n"
                 "set key outside right Left reverse samplen 2 title \"filled: median\\nopen, dotted: 99 %%\"\n");
    put_error_curves(out, all, of, groups, first, 1);
    fprintf(out, "\n");
    return 960;
}

/* Time per body of every stage, for the opening angle that is nearest to the usual 0.5. */
static int draw_time(FILE *out, const gv_tree_records *all)
{
    const gv_tree_record *first = gv_tree_records_first(all, has_time);
    const char *between = "plot ";
    char what[80];

    if (first == NULL)
        return 0;
    for (int i = 0; i < all->n; i++)
        if (has_time(&all->r[i]) && fabs(all->r[i].theta - 0.5) < fabs(first->theta - 0.5))
            first = &all->r[i];
    fprintf(out, "$t << EOD\n");
    for (int i = 0; i < all->n; i++) {
        const gv_tree_record *r = &all->r[i];

        if (has_time(r) && same_theta(r, first)) {
            fprintf(out, "%.0f", r->n);
            for (int s = 0; s < GV_TREE_STAGES; s++)
                fprintf(out, " %.6g", 1e9 * r->stage[s] / r->n);
            fprintf(out, "\n");
        }
    }
    fprintf(out, "EOD\n");
    snprintf(what, sizeof what, "time of one evaluation, theta %g", first->theta);
    put_title(out, "set title", first, what);
    fprintf(out, "set logscale xy\nset format x '10^{%%T}'\nset grid\nset xlabel 'N'\nset ylabel 'time / N / ns'\n"
                 "set offsets graph 0.05, graph 0.05, 0, 0\nset key outside right Left reverse samplen 2\n");
    for (int s = GV_TREE_STAGES - 1; s >= 0; s--) {
        fprintf(out, "%s$t using 1:%d with linespoints pt 7 ps 0.7 lw %g lc %s title '%s'", between, s + 2,
                s == GV_TREE_TOTAL ? 2.5 : 1.5, s == GV_TREE_TOTAL ? "rgb 'black'" : (const char[]){(char)('1' + s), 0},
                gv_tree_stage_name[s]);
        between = ", ";
    }
    fprintf(out, "\n");
    return 960;
}

static double two_digits(double x)
{
    const double unit = pow(10, floor(log10(x)) - 1);

    return unit * round(x / unit);
}

static int draw_crossover(FILE *out, const gv_tree_records *all)
{
    const gv_tree_record *r = gv_tree_records_first(all, has_points);
    const cJSON *point;
    char what[160];

    if (r == NULL)
        return 0;
    fprintf(out, "$x << EOD\n");
    cJSON_ArrayForEach(point, r->points)
    {
        fprintf(out, "%.0f %.6g %.6g %.6g\n", gv_tree_record_number(point, "n"),
                1e3 * gv_tree_record_number(point, "tree_s_median"),
                1e3 * gv_tree_record_number(point, "direct_dp2_s_median"),
                1e3 * gv_tree_record_number(point, "direct_sp2_s_median"));
    }
    fprintf(out, "EOD\n");
    snprintf(what, sizeof what, "tree (theta %g) and direct summation", r->theta);
    put_title(out, "set title", r, what);
    fprintf(out, "set datafile missing 'nan'\nset logscale xy\nset format xy '10^{%%T}'\nset grid\nset xlabel 'N'\n"
                 "set ylabel 'device time / ms'\nset key top left Left reverse\n"
                 "set offsets graph 0.05, graph 0.05, 0, 0\n");
    if (drawable(r->crossover_dp)) {
        fprintf(out,
                "set arrow from %g, graph 0 to %g, graph 1 nohead dt 2 lc rgb 'gray40'\n"
                "set label 'N = %.0f' at %g, graph 0.04 offset 0.5,0\n",
                r->crossover_dp, r->crossover_dp, two_digits(r->crossover_dp), r->crossover_dp);
    }
    fprintf(out, "plot $x using 1:2 with linespoints pt 7 lw 2 title 'tree', $x using 1:3 with linespoints pt 5 lw 2 "
                 "title 'direct dp2', $x using 1:4 with linespoints pt 9 lw 2 title 'direct sp2'\n");
    return 760;
}

/* ------------------------------------------------------------------ command */

static int kind_of(const gv_tree_records *all)
{
    return gv_tree_records_first(all, has_points) != NULL         ? KIND_CROSSOVER
           : gv_tree_records_first(all, has_distribution) != NULL ? KIND_DISTRIBUTION
           : gv_tree_records_distinct(all, has_errors, 0) >= 2    ? KIND_THETA
           : gv_tree_records_distinct(all, has_errors, 1) >= 2    ? KIND_N
           : gv_tree_records_first(all, has_errors) != NULL       ? KIND_THETA
                                                                  : KIND_TIME;
}

/* A line needs two points: says what is missing and how to get it. */
static gravel_status check_points(const gv_tree_records *all, int kind)
{
    const gv_tree_record *r = gv_tree_records_first(all, has_points);
    int n = 2;

    if (kind == KIND_THETA && (n = gv_tree_records_distinct(all, has_errors, 0)) < 2) {
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "the files hold errors for %d opening angle%s, a line needs two: "
                       "`gravel bench tree --theta 0.3,0.5,0.75`",
                       n, n == 1 ? "" : "s");
    }
    if (kind == KIND_N && (n = gv_tree_records_distinct(all, has_errors, 1)) < 2) {
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "the files hold errors for %d number%s of bodies, a line needs two: "
                       "`gravel bench tree -n 16Ki,128Ki`",
                       n, n == 1 ? "" : "s");
    }
    if (kind == KIND_TIME && (n = gv_tree_records_distinct(all, has_time, 1)) < 2) {
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "the files hold times for %d number%s of bodies, a line needs two: "
                       "`gravel bench tree -n 16Ki,128Ki`",
                       n, n == 1 ? "" : "s");
    }
    if (kind == KIND_CROSSOVER && (n = r != NULL ? cJSON_GetArraySize(r->points) : 0) < 2) {
        return gv_fail(GRAVEL_ERR_ARGUMENT,
                       "the files hold %d point%s of a crossover, a line needs two: "
                       "`gravel bench tree --crossover`",
                       n, n == 1 ? "" : "s");
    }
    if (kind == KIND_DISTRIBUTION && gv_tree_records_first(all, has_distribution) == NULL) {
        return gv_fail(GRAVEL_ERR_ARGUMENT, "the files hold no distribution of errors: `gravel bench tree "
                                            "--distribution`");
    }
    return GRAVEL_OK;
}

static gravel_status draw(const gv_tree_records *all, const gv_plot_tree_options *o)
{
    static int (*const by_kind[])(FILE *out, const gv_tree_records *all) = {[KIND_DISTRIBUTION] = draw_distribution,
                                                                            [KIND_THETA] = draw_theta,
                                                                            [KIND_N] = draw_n,
                                                                            [KIND_TIME] = draw_time,
                                                                            [KIND_CROSSOVER] = draw_crossover};
    char *script = NULL;
    size_t size = 0;
    const int kind = o->kind == KIND_AUTO ? kind_of(all) : o->kind;
    gravel_status status = check_points(all, kind);
    FILE *out;
    int width;

    if (status != GRAVEL_OK)
        return status;
    out = open_memstream(&script, &size);
    if (out == NULL)
        return gv_fail(GRAVEL_ERR_MEMORY, "no memory for a figure");
    put_colours(out);
    width = by_kind[kind](out, all);
    if (fclose(out) != 0)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for a figure");
    else if (width == 0)
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "the files hold nothing for this figure");
    else
        status = gv_plot_run(script, o->out, width, 520);
    free(script);
    return status;
}

int gv_plot_tree(const void *values, const gv_operands *operands)
{
    gv_tree_records *all = calloc(1, sizeof *all);
    gravel_status status = all != NULL ? GRAVEL_OK : gv_fail(GRAVEL_ERR_MEMORY, "no memory for a figure");

    for (int f = 0; f < operands->n && status == GRAVEL_OK; f++)
        status = gv_tree_records_read(all, operands->value[f]);
    const int read = status == GRAVEL_OK;
    status = read ? draw(all, values) : status;
    if (all != NULL)
        gv_tree_records_free(all);
    free(all);
    return status == GRAVEL_OK ? GV_EXIT_OK
           : read              ? gv_cli_fail_writing(COMMAND, status)
                               : gv_cli_fail(COMMAND, status);
}

const gv_opt gv_plot_tree_opts[] = {
    {.name = "output",
     .letter = 'o',
     .kind = GV_OPT_OUT,
     .offset = offsetof(gv_plot_tree_options, out),
     .value = "FILE",
     .help = "FILE.png, FILE.svg or FILE.pdf",
     .required = 1},
    {.name = "kind",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(gv_plot_tree_options, kind),
     .value = "auto|distribution|theta|n|time|crossover",
     .help = "part of the bodies above an error; errors against theta\nor against N; time per body and stage against "
             "N; tree and\ndirect summation (of --crossover)",
     .fallback = "auto"},
    {.name = NULL},
};
