/* gravel plot model: figures 12, 14, 15, 19, 20 of Schive et al. (2008); lines are the model, points measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_model.h"
#include "cli/plot.h"
#include "cli/plot_run.h"

#define PLOT "gravel plot model"

enum { TIME_N, TIME_RANKS, SPEEDUP, PARTS, STEPS = 60 };

typedef struct picture {
    const gv_plot_model_options *o;
    gv_machine machine;
    gv_points points;
    gv_size_list n, ranks;
    FILE *script;
} picture;

static gv_question question_of(const picture *p, double n, int ranks)
{
    return (gv_question){.n = n,
                         .ranks = ranks,
                         .order = 4,
                         .scheme = p->o->solver == 1 ? GV_MODEL_TREE : GV_MODEL_PROGRAM,
                         .forces_only = p->o->solver == 1,
                         .theta = 0.5};
}

static double time_of(const picture *p, double n, int ranks)
{
    gv_prediction answer;
    const gv_question q = question_of(p, n, ranks);
    gv_model_predict(&p->machine, &q, &answer);
    return answer.total;
}

/* Whole steps of the figure's solver. */
static int fits(const picture *p, const gv_point *point)
{
    const gv_question *q = &point->question;
    return p->o->solver == 1 ? q->scheme == GV_MODEL_TREE && q->theta == 0.5
                             : q->scheme != GV_MODEL_TREE && !q->forces_only && q->order == 4;
}

static int has_points(const picture *p)
{
    for (size_t k = 0; k < p->points.n; k++)
        if (fits(p, &p->points.point[k]))
            return 1;
    return 0;
}

static double measured(const picture *p, double n, int ranks)
{
    for (size_t k = 0; k < p->points.n; k++)
        if (fits(p, &p->points.point[k]) && p->points.point[k].question.n == n &&
            p->points.point[k].question.ranks == ranks)
            return p->points.point[k].seconds;
    return NAN;
}

/* --------------------------------------------------------------------- data */

static double between(double low, double high, int k)
{
    return low * pow(high / low, (double)k / STEPS);
}

/* $m<line> and $p<line>: model and measurements of a number of ranks against N. */
static void put_against_n(const picture *p, double low, double high)
{
    for (int l = 0; l < p->ranks.n; l++) {
        const int ranks = (int)p->ranks.value[l];
        fprintf(p->script, "$m%d << EOD\n", l);
        for (int k = 0; k <= STEPS; k++)
            fprintf(p->script, "%.9g %.9g\n", between(low, high, k), time_of(p, between(low, high, k), ranks));
        fprintf(p->script, "EOD\n$p%d << EOD\nnan nan\n", l);
        for (size_t k = 0; k < p->points.n; k++)
            if (fits(p, &p->points.point[k]) && p->points.point[k].question.ranks == ranks)
                fprintf(p->script, "%.9g %.9g\n", p->points.point[k].question.n, p->points.point[k].seconds);
        fprintf(p->script, "EOD\n");
    }
}

/* The next number of ranks that a line goes through, `most` among them; 0: there is none. */
static int next_ranks(int ranks, int most)
{
    const int next = ranks + (ranks < 8 ? 1 : ranks / 8);
    return ranks == most ? 0 : next < most ? next : most;
}

/* ... of a number of bodies against ranks; time, or how much faster than one rank. */
static void put_against_ranks(const picture *p, int most, int speedup)
{
    for (int l = 0; l < p->n.n; l++) {
        const double n = (double)p->n.value[l], one = time_of(p, n, 1), first = measured(p, n, 1);
        fprintf(p->script, "$m%d << EOD\n", l);
        for (int ranks = 1; ranks > 0; ranks = next_ranks(ranks, most))
            fprintf(p->script, "%d %.9g\n", ranks, speedup ? one / time_of(p, n, ranks) : time_of(p, n, ranks));
        fprintf(p->script, "EOD\n$p%d << EOD\nnan nan\n", l);
        for (size_t k = 0; k < p->points.n; k++) {
            const gv_point *point = &p->points.point[k];
            if (fits(p, point) && point->question.n == n && (!speedup || isfinite(first)))
                fprintf(p->script, "%d %.9g\n", point->question.ranks,
                        speedup ? first / point->seconds : point->seconds);
        }
        fprintf(p->script, "EOD\n");
    }
}

/* Shares of host, transfer, network and device against N, one panel for each number of ranks. */
static void put_parts(const picture *p, double low, double high)
{
    for (int l = 0; l < p->ranks.n; l++) {
        fprintf(p->script, "$m%d << EOD\n", l);
        for (int k = 0; k <= STEPS; k++) {
            gv_prediction a;
            const gv_question q = question_of(p, between(low, high, k), (int)p->ranks.value[l]);
            gv_model_predict(&p->machine, &q, &a);
            fprintf(p->script, "%.9g %.6g %.6g %.6g %.6g\n", q.n, 100 * a.host / a.total, 100 * a.transfer / a.total,
                    100 * a.network / a.total, 100 * a.device / a.total);
        }
        fprintf(p->script, "EOD\n");
    }
}

/* -------------------------------------------------------------------- script */

static void plot_lines(const picture *p, const gv_size_list *list, const char *one, const char *word)
{
    fputs("plot ", p->script);
    for (int l = 0; l < list->n; l++)
        fprintf(
            p->script,
            "%s$m%d using 1:2 with lines lw 2 lc rgb '%s' title '%zu %s', $p%d using 1:2 with points pt 7 ps 0.9 lc "
            "rgb '%s' notitle",
            l > 0 ? ", " : "", l, gv_plot_colour(l), list->value[l], list->value[l] == 1 ? one : word, l,
            gv_plot_colour(l));
}

static void script_parts(const picture *p)
{
    /* one key for all: where ranks are few, the middle of the right side is empty */
    fprintf(p->script, "set multiplot layout 1,%d\nset key right center\nset yrange [0:100]\n", p->ranks.n);
    for (int l = 0; l < p->ranks.n; l++) {
        fprintf(p->script, "set title '%zu %s'\nset xlabel 'bodies'\nset ylabel 'share of a step / %%'\nplot ",
                p->ranks.value[l], p->ranks.value[l] == 1 ? "rank" : "ranks");
        static const char *const part[] = {"host", "transfer", "network", "device"};
        for (int k = 0; k < 4; k++)
            fprintf(p->script, "%s$m%d using 1:%d with lines lw 2 lc rgb '%s' title '%s'", k > 0 ? ", " : "", l, k + 2,
                    gv_plot_colour(k), part[k]);
        fputs("\nunset key\n", p->script);
    }
    fputs("unset multiplot\n", p->script);
}

static void draw(const picture *p)
{
    double low = INFINITY, high = 0;
    int most = 1;
    for (int k = 0; k < p->n.n; k++) {
        low = fmin(low, (double)p->n.value[k]);
        high = fmax(high, (double)p->n.value[k]);
    }
    for (int k = 0; k < p->ranks.n; k++)
        most = (int)p->ranks.value[k] > most ? (int)p->ranks.value[k] : most;
    gv_plot_style(p->script);
    if (p->o->figure != PARTS) {
        char what[100];
        snprintf(what, sizeof what, "%s: %s", p->o->solver == 1 ? "tree, theta 0.5" : "direct, ds4, shared step",
                 has_points(p) ? "lines are the model, points measured" : "the model");
        gv_plot_title(p->script, p->machine.name, what);
    }
    fprintf(p->script, "set logscale x 2\nset format x '%s'\n",
            p->o->figure == TIME_N || p->o->figure == PARTS ? "2^{%L}" : "%.0f");
    if (p->o->figure == PARTS) {
        put_parts(p, low, high);
        script_parts(p);
    } else if (p->o->figure == TIME_N) {
        put_against_n(p, low, high);
        fputs(
            "set logscale y\nset format y '10^{%L}'\nset key top left\nset xlabel 'bodies'\nset ylabel 'time of a step "
            "/ s'\n",
            p->script);
        plot_lines(p, &p->ranks, "rank", "ranks");
    } else {
        put_against_ranks(p, most, p->o->figure == SPEEDUP);
        fprintf(p->script, "set logscale y%s\nset key %s\nset xlabel 'ranks'\nset ylabel '%s'\nset xrange [1:%d]\n",
                p->o->figure == SPEEDUP ? " 2" : "\nset format y '10^{%L}'",
                p->o->figure == SPEEDUP ? "top left" : "outside right",
                p->o->figure == SPEEDUP ? "times faster than one rank" : "time of a step / s", most);
        plot_lines(p, &p->n, "body", "bodies");
        if (p->o->figure == SPEEDUP)
            fputs(", x with lines dt 2 lc rgb 'black' title 'as many as ranks'", p->script);
    }
    fputc('\n', p->script);
}

int gv_plot_model(const void *values, const gv_operands *operands)
{
    picture p = {.o = values};
    gv_plot plot = {0};
    gravel_status status = gv_model_read_machine(&p.machine, operands->n > 0 ? operands->value[0] : NULL);
    if (!status && operands->n > 1)
        status = gv_model_read_points(&p.points, operands->n - 1, operands->value + 1);
    p.n = p.o->n;
    p.ranks = p.o->ranks;
    if (p.n.n == 0 && (p.o->figure == TIME_N || p.o->figure == PARTS))
        p.n = (gv_size_list){2, {1024, 4194304}};
    if (p.n.n == 0)
        p.n = (gv_size_list){4, {16384, 131072, 262144, 1048576}};
    if (p.ranks.n == 0)
        p.ranks = p.o->figure == PARTS ? (gv_size_list){3, {2, 8, 32}} : (gv_size_list){6, {1, 2, 4, 8, 16, 32}};
    if (!status)
        status = gv_plot_begin(&plot, p.o->out, p.o->figure == PARTS ? 1200 : 900, 560, 0);
    if (!status) {
        p.script = plot.script;
        draw(&p);
        status = gv_plot_finish(&plot);
    }
    gv_plot_drop(&plot);
    gv_points_free(&p.points);
    return status == GRAVEL_OK ? GV_EXIT_OK : gv_cli_fail_writing(PLOT, status);
}

const gv_opt gv_plot_model_opts[] = {
    {.name = "output",
     .letter = 'o',
     .kind = GV_OPT_OUT,
     .offset = offsetof(gv_plot_model_options, out),
     .value = "FILE",
     .help = "FILE.png, FILE.svg or FILE.pdf",
     .required = 1},
    {.name = "figure",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(gv_plot_model_options, figure),
     .value = "bodies|ranks|speedup|parts",
     .help =
         "time of a step against bodies or ranks; how much faster\nthan one rank; shares of host, transfer, network, "
         "device",
     .fallback = "bodies"},
    {.name = "solver",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(gv_plot_model_options, solver),
     .value = "direct|tree",
     .help = "direct: Hermite steps; tree: its forces",
     .fallback = "direct"},
    {.name = "n",
     .letter = 'n',
     .kind = GV_OPT_SIZES,
     .offset = offsetof(gv_plot_model_options, n),
     .value = "LIST",
     .help = "bodies: lines against ranks; else the least and the most",
     .low = 1,
     .high = 1e15},
    {.name = "ranks",
     .kind = GV_OPT_SIZES,
     .offset = offsetof(gv_plot_model_options, ranks),
     .value = "LIST",
     .help = "lines against bodies; else the most",
     .low = 1,
     .high = 1e6},
    {.name = NULL},
};
