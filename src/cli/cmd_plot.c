/* gravel plot: figures from what gravel measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cmd_model.h"
#include "cli/cmd_plot_tree.h"
#include "cli/plot.h"
#include "cli/plot_cosmo.h"
#include "cli/plot_run.h"
#include "host/base/files.h"
#include "tuner/tlog.h"

typedef struct plot_options {
    const char *out, *variant;
    int kind;
    size_t sinks, sources;
} plot_options;

#define COMMAND "gravel plot tuning"
enum { KIND_AUTO, KIND_THREADS, KIND_SINKS, MOST_X = 512, MOST_LINES = 16 };

/* Curves: y at x per line, NAN where there is none. */
typedef struct figure {
    int n_x, n_lines;
    double x[MOST_X], y[MOST_LINES][MOST_X];
    int line[MOST_LINES]; /* value of the tunable that distinguishes lines */
} figure;

/* A whole number from 0 to a million; what is none, or more than any tunable has, is -1. */
static int bounded(const char *text)
{
    int value = 0;

    if (*text < '0' || *text > '9')
        return -1;
    for (; *text >= '0' && *text <= '9' && value <= 1000000; text++)
        value = 10 * value + (*text - '0');
    return value <= 1000000 ? value : -1;
}

/* The value of one tunable in "threads=128 split=2"; -1: not there. */
static int value_of(const char *configuration, const char *name)
{
    const size_t n = strlen(name);

    for (const char *word = configuration; word != NULL && *word != '\0'; word = strchr(word, ' ')) {
        word += strspn(word, " ");
        if (strncmp(word, name, n) == 0 && word[n] == '=')
            return bounded(word + n + 1);
    }
    return -1;
}

static int find_x(figure *f, double x)
{
    int at = 0;

    while (at < f->n_x && f->x[at] < x)
        at++;
    if ((at < f->n_x && f->x[at] == x) || f->n_x == MOST_X)
        return at < MOST_X ? at : MOST_X - 1;
    memmove(&f->x[at + 1], &f->x[at], (size_t)(f->n_x - at) * sizeof f->x[0]);
    for (int l = 0; l < MOST_LINES; l++) {
        memmove(&f->y[l][at + 1], &f->y[l][at], (size_t)(f->n_x - at) * sizeof f->y[0][0]);
        f->y[l][at] = NAN;
    }
    f->x[at] = x;
    f->n_x++;
    return at;
}

static int find_line(figure *f, int value)
{
    int at = 0;

    while (at < f->n_lines && f->line[at] < value)
        at++;
    if ((at < f->n_lines && f->line[at] == value) || f->n_lines == MOST_LINES)
        return at < MOST_LINES ? at : MOST_LINES - 1;
    for (int l = f->n_lines; l > at; l--) {
        f->line[l] = f->line[l - 1];
        memcpy(f->y[l], f->y[l - 1], sizeof f->y[l]);
    }
    for (int x = 0; x < MOST_X; x++)
        f->y[at][x] = NAN;
    f->line[at] = value;
    f->n_lines++;
    return at;
}

static void lower(figure *f, int line, double x, double y)
{
    const int at = find_x(f, x);

    f->y[line][at] = isnan(f->y[line][at]) ? y : fmin(f->y[line][at], y);
}

static int wanted(const gv_tlog_record *r, const plot_options *o, const gv_task *task, int any_sinks)
{
    return r->outcome.status == GV_OUTCOME_OK && r->task.sources == task->sources &&
           strcmp(r->task.variant.name, task->variant.name) == 0 &&
           r->task.variant.features == task->variant.features && (any_sinks || r->task.sinks == task->sinks) &&
           (o->variant == NULL || strcmp(o->variant, task->variant.name) == 0);
}

/* The first question of the log that fits the options. */
static const gv_task *choose_task(const gv_tlog *log, const plot_options *o)
{
    for (size_t i = 0; i < log->n; i++) {
        const gv_task *task = &log->record[i].task;

        if ((o->variant == NULL || strcmp(task->variant.name, o->variant) == 0) &&
            (o->sinks == 0 || task->sinks == o->sinks) && (o->sources == 0 || task->sources == o->sources))
            return task;
    }
    return NULL;
}

/* Best time over all other tunables for each number of threads and of blocks per compute unit. */
static void collect_threads(const gv_tlog *log, const plot_options *o, const gv_task *task, figure *f)
{
    for (size_t i = 0; i < log->n; i++) {
        const gv_tlog_record *r = &log->record[i];
        const int threads = value_of(r->configuration, "threads"), blocks = value_of(r->configuration, "blocks_per_cu");

        if (wanted(r, o, task, 0) && threads > 0 && blocks > 0)
            lower(f, find_line(f, blocks), threads, 1e3 * gv_outcome_score(&r->outcome));
    }
}

/* Line 0: the best of all; line 1: the best without rows (split = 1). */
static void collect_sinks(const gv_tlog *log, const plot_options *o, const gv_task *task, figure *f)
{
    find_line(f, 0);
    find_line(f, 1);
    for (size_t i = 0; i < log->n; i++) {
        const gv_tlog_record *r = &log->record[i];

        if (!wanted(r, o, task, 1))
            continue;
        lower(f, 0, (double)r->task.sinks, 1e6 * gv_outcome_score(&r->outcome));
        if (value_of(r->configuration, "split") == 1)
            lower(f, 1, (double)r->task.sinks, 1e6 * gv_outcome_score(&r->outcome));
    }
}

static int distinct_sinks(const gv_tlog *log, const plot_options *o, const gv_task *task)
{
    figure *f = calloc(1, sizeof *f);
    int n = 0;

    for (size_t i = 0; f != NULL && i < log->n; i++)
        if (wanted(&log->record[i], o, task, 1))
            find_x(f, (double)log->record[i].task.sinks);
    n = f != NULL ? f->n_x : 0;
    free(f);
    return n;
}

/* Data blocks $d0 ... for gnuplot. */
static void put_data(FILE *out, const figure *f)
{
    for (int l = 0; l < f->n_lines; l++) {
        fprintf(out, "$d%d << EOD\n", l);
        for (int x = 0; x < f->n_x; x++)
            if (!isnan(f->y[l][x]))
                fprintf(out, "%.9g %.9g\n", f->x[x], f->y[l][x]);
        fprintf(out, "EOD\n");
    }
}

static void script_threads(FILE *out, const gv_tlog *log, const gv_task *task, const figure *f)
{
    char what[160];

    snprintf(what, sizeof what, "%s %s, %zu sinks x %zu sources: best over all other tunables", task->kernel,
             task->variant.name, task->sinks, task->sources);
    put_data(out, f);
    gv_plot_title(out, log->header.device.name, what);
    fprintf(out, "set xlabel 'threads / work-items per group'\nset ylabel 'kernel time / ms'\nset logscale x 2\n"
                 "set grid\nset key outside right title \"blocks per\\ncompute unit\"\nset yrange [0:*]\nset xtics (");
    for (int x = 0; x < f->n_x; x++)
        fprintf(out, "%s\"%g\" %g", x > 0 ? ", " : "", f->x[x], f->x[x]);
    fprintf(out, ")\nset offsets graph 0.05, graph 0.05, 0, 0\nplot ");
    for (int l = 0; l < f->n_lines; l++)
        fprintf(out, "%s$d%d using 1:2 with linespoints pt 7 ps 0.8 lw 2 title '%d'", l > 0 ? ", " : "", l, f->line[l]);
    fprintf(out, "\n");
}

static void script_sinks(FILE *out, const gv_tlog *log, const gv_task *task, const figure *f)
{
    const double x = f->x[f->n_x - 1], y = f->y[0][f->n_x - 1];
    char what[160];

    snprintf(what, sizeof what, "%s %s, %zu sources", task->kernel, task->variant.name, task->sources);
    put_data(out, f);
    gv_plot_title(out, log->header.device.name, what);
    fprintf(out,
            "set xlabel 'active sinks'\nset ylabel 'kernel time / us'\nset grid\nset key top left\nset xrange [0:%g]\n"
            "set yrange [0:*]\nset xtics 32\n"
            "plot $d1 using 1:2 with linespoints pt 4 ps 1.4 lw 4 title 'without the 2D split', "
            "$d0 using 1:2 with linespoints pt 7 ps 0.7 lw 1.5 title 'with the 2D split', "
            "%.9g*x lw 1 lc rgb 'black' title 'line through (0,0) and (%g, T)', "
            "1.5*%.9g*x dt 2 lc rgb 'gray40' title '1.5 times the line'\n",
            x, y / x, x, y / x);
}

static gravel_status draw(const gv_tlog *log, const plot_options *o, const char *path)
{
    const gv_task *task = choose_task(log, o);
    figure *f = calloc(1, sizeof *f);
    char *script = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&script, &size);
    gravel_status status = GRAVEL_OK;
    int sinks;

    if (f == NULL || out == NULL) {
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for a figure");
        goto out;
    }
    if (task == NULL) {
        status = gv_fail(GRAVEL_ERR_ARGUMENT, "%s: holds no question like that", path);
        goto out;
    }
    sinks = o->kind == KIND_SINKS || (o->kind == KIND_AUTO && distinct_sinks(log, o, task) >= 6);
    if (sinks)
        collect_sinks(log, o, task, f);
    else
        collect_threads(log, o, task, f);
    if (f->n_x < 2) {
        status = gv_fail(GRAVEL_ERR_ARGUMENT,
                         sinks ? "%s: times for %d number%s of sinks; a line against sinks needs at least two: "
                                 "`gravel tune --sinks 32,64,96`"
                               : "%s: times for %d value%s of threads; a line against threads needs at least two: tune "
                                 "longer, or with --exhaustive",
                         path, f->n_x, f->n_x == 1 ? "" : "s");
        goto out;
    }
    if (sinks)
        script_sinks(out, log, task, f);
    else
        script_threads(out, log, task, f);
    fflush(out);
    status = gv_plot_run(script, o->out, 900, 560);
out:
    if (out != NULL)
        fclose(out);
    free(script);
    free(f);
    return status;
}

static int run(const void *values, const gv_operands *operands)
{
    const plot_options *o = values;
    gv_tlog log;
    gravel_status status = gv_tlog_read(operands->value[0], &log);

    if (status != GRAVEL_OK)
        return gv_cli_fail(COMMAND, status);
    if (log.n_bad > 0)
        gv_say(COMMAND, GV_TLOG_BAD, operands->value[0], log.n_bad, log.first_bad);
    status = draw(&log, o, operands->value[0]);
    gv_tlog_close(&log);
    return status == GRAVEL_OK ? GV_EXIT_OK : gv_cli_fail_writing(COMMAND, status);
}

static const gv_opt tuning_opts[] = {
    {.name = "output",
     .letter = 'o',
     .kind = GV_OPT_OUT,
     .offset = offsetof(plot_options, out),
     .value = "FILE",
     .help = "FILE.png, FILE.svg or FILE.pdf",
     .required = 1},
    {.name = "kind",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(plot_options, kind),
     .value = "auto|threads|sinks",
     .help =
         "time against threads, a line per blocks_per_cu; or time\nagainst active sinks, with and without the split;\n"
         "auto: sinks where the log holds six numbers of them",
     .fallback = "auto"},
    {.name = "variant",
     .kind = GV_OPT_TEXT,
     .offset = offsetof(plot_options, variant),
     .value = "NAME",
     .help = "of this one; without it the first of the log"},
    {.name = "sinks",
     .kind = GV_OPT_SIZE,
     .offset = offsetof(plot_options, sinks),
     .value = "N",
     .help = "of this question (threads)",
     .low = 1,
     .high = 1e12},
    {.name = "sources",
     .kind = GV_OPT_SIZE,
     .offset = offsetof(plot_options, sources),
     .value = "N",
     .help = "of this question",
     .low = 1,
     .high = 1e12},
    {.name = NULL},
};

#define RUN_PLOT_OF(kind, options, operands, most, what, more, lines)                                                  \
    {                                                                                                                  \
        .name = #kind, .summary = what, .synopsis = operands, .about = more, .opts = gv_plot_##options##_opts,         \
        .examples = lines, .min_operands = 1, .max_operands = most, .size = sizeof(gv_plot_run_options),               \
        .run = gv_plot_##kind                                                                                          \
    }
#define RUN_PLOT(kind, operands, most, what, more, lines) RUN_PLOT_OF(kind, kind, operands, most, what, more, lines)

#define COSMO_PLOT(kind, operands, most, what, more, lines)                                                            \
    {                                                                                                                  \
        .name = #kind, .summary = what, .synopsis = operands, .about = more, .opts = gv_plot_##kind##_opts,            \
        .examples = lines, .min_operands = 1, .max_operands = most, .size = sizeof(gv_plot_cosmo_options),             \
        .run = gv_plot_##kind                                                                                          \
    }

const gv_command gv_cmd_plot[] = {
    {.name = "tuning",
     .summary = "figures of a tuning log",
     .synopsis = "LOG -o FILE [--kind threads|sinks] [--variant NAME]",
     .about = "Drawn by gnuplot. Each point is the best time over all tunables that are not on an axis.",
     .opts = tuning_opts,
     .examples = "gravel plot tuning log.jsonl -o threads.png --kind threads\n",
     .min_operands = 1,
     .max_operands = 1,
     .size = sizeof(plot_options),
     .run = run},
    {.name = "tree",
     .summary = "errors and times of the tree",
     .synopsis = "FILE ... -o FILE [--kind distribution|theta|n|time|crossover]",
     .about = "FILE: what 'gravel bench tree -o FILE' wrote (--distribution, --crossover). Drawn by gnuplot.",
     .opts = gv_plot_tree_opts,
     .examples = "gravel plot tree errors.json -o distribution.png\n"
                 "gravel plot tree errors.json -o theta.svg --kind theta\n",
     .min_operands = 1,
     .max_operands = 16,
     .size = sizeof(gv_plot_tree_options),
     .run = gv_plot_tree},
    RUN_PLOT(energy, "DIR ... -o FILE [options]", GV_PLOT_MOST_RUNS, "energies and the error of the energy of a run",
             "Of one run the energies above and the relative error below; of several the errors. Where a run has very\n"
             "many diagnostic times, each point is the largest error since the one before.",
             "gravel plot energy run -o energy.png\n"
             "gravel plot energy order4 order6 -o errors.pdf\n"),
    RUN_PLOT(lagrange, "DIR -o FILE [options]", 1, "radii that hold shares of the mass against time",
             "Around the density centre; dashed the core radius of Casertano and Hut.",
             "gravel plot lagrange run -o lagrange.png\n"),
    RUN_PLOT(core, "DIR ... -o FILE [options]", GV_PLOT_MOST_RUNS, "core density and radius against time",
             "Those of Casertano and Hut (1985).",
             "gravel plot core run -o core.png\n"
             "gravel plot core n1k n2k n4k --scaled-time -o collapse.pdf\n"),
    RUN_PLOT(blocks, "DIR -o FILE", 1, "how many bodies moved at once, and over what time-steps", NULL,
             "gravel plot blocks run -o blocks.png\n"),
    RUN_PLOT_OF(
        profile, profile, "DIR|FILE ... -o FILE [options]", GV_PLOT_MOST_RUNS,
        "density and velocity dispersion against radius",
        "Of snapshots; of a run the first, the last and two between. Error bars: the square root of the bodies.",
        "gravel plot profile run -o profile.png\n"
        "gravel plot profile king.hdf5 -o king.pdf\n"),
    RUN_PLOT_OF(
        rotation, profile, "DIR|FILE ... -o FILE [options]", GV_PLOT_MOST_RUNS,
        "rotation curve: mean speed around the axis of the spin",
        "Of snapshots; of a run the first and the last. Error bars: of the mean. The circular speed is that of a\n"
        "sphere with all the mass inside the radius.",
        "gravel plot rotation galaxy.hdf5 --ids 0:10000 -o rotation.png\n"),
    RUN_PLOT_OF(
        image, image, "DIR|FILE -o FILE [options]", 1, "picture of the mass per area, or an animation",
        "Of a snapshot, or of the last of a run. Colours go by the logarithm, from what one body alone gives to the\n"
        "densest pixel, five decades at most.",
        "gravel plot image galaxy.hdf5 --view both -o galaxy.png\n"
        "gravel plot image run --movie -o run.gif\n"),
    {.name = "model",
     .summary = "steps on clusters by gravel model, beside what was measured",
     .synopsis = "[MACHINE.json [RESULT.json ...]] -o FILE [--figure NAME] [options]",
     .about =
         "The figures of Schive et al. (2008) for GraCCA: 12 and 19 (bodies), 14 (ranks), 15 (speedup), 20 (parts).\n"
         "Lines are the model, points what the results hold. Without MACHINE that of 'gravel model --example'.",
     .opts = gv_plot_model_opts,
     .examples = "gravel plot model -o speedup.png --figure speedup\n"
                 "gravel plot model mine.json one.json four.json -o check.pdf --ranks 1,4\n",
     .max_operands = 32,
     .size = sizeof(gv_plot_model_options),
     .run = gv_plot_model},
    COSMO_PLOT(
        spectrum, "DIR|FILE ... -o FILE", GV_PLOT_MOST_TABLES, "power spectra of a box",
        "With linear theory and halofit (Takahashi et al. 2012), and the ratio to it below. Shot noise is left in.",
        "gravel plot spectrum box -o spectrum.png\n"),
    COSMO_PLOT(massfunction, "DIR|FILE ... -o FILE", GV_PLOT_MOST_TABLES, "mass functions of a box",
               "Groups of friends of friends, with Sheth and Tormen, Jenkins and Reed; the ratio to Reed below. Error\n"
               "bars: the square root of the groups.",
               "gravel plot massfunction box -o massfunction.png\n"),
    COSMO_PLOT(slice, "DIR|FILE -o FILE [--snapshot K] [--thickness T]", 1, "the mass in a slice through a box", NULL,
               "gravel plot slice box -o slice.png\n"),
    {.name = NULL},
};
