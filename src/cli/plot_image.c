/* gravel plot image: mass per area of snapshots, one picture or an animation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/plot_run.h"
#include "cli/run_folder.h"
#include "sim/density_map.h"
#include "sim/diagnose.h"
#include "sim/subset.h"

#define COMMAND "gravel plot image"
enum { MOST_FRAMES = 2000, SMOOTHED = 200000 };
static const double SPOT = 0.025;

static const char *const axis_name[3] = {"x", "y", "z"};
/* By value of --view: "xy|xz|yz|both". */
enum { VIEW_BOTH = 3 };
static const int view_axis[3][2] = {{0, 1}, {0, 2}, {1, 2}};

typedef struct frame {
    double time;
    int expanding; /* time is a scale factor */
    gv_density_map map[2];
    double lightest; /* what one body alone gives */
} frame;

typedef struct film {
    const gv_plot_run_options *o;
    int views, view[2];
    double width;
    gv_units units;
    size_t frames;
    frame *at;
    gv_progress progress;
} film;

/* ---------------------------------------------------------------- reading */

/* The width that holds nine tenths of the mass, around the centre of mass, of a sample. */
static gravel_status find_width(const gv_particles *p, const double centre[3], double *width)
{
    enum { SAMPLE = 500000 };
    const double share = 0.9;
    gv_particles some;
    double radius;
    gravel_status status = gv_subset_sample(p, SAMPLE, &some);
    if (status)
        return status;
    status = gv_diagnose_lagrange(&some, centre, &share, 1, &radius);
    gv_particles_free(&some);
    *width = 2.2 * radius;
    return status;
}

static int pixels_for(const gv_plot_run_options *o, size_t bodies)
{
    return o->pixels ? (int)o->pixels : bodies <= SMOOTHED ? 400 : 600;
}

/* Of each body the distance of its sixth neighbour, from one and a half pixels to a part of the picture, so that a body
 * alone stays a spot; NULL: too many to need it. */
static gravel_status find_reach(const film *f, const gv_particles *p, double pixel, double **reach)
{
    gv_neighbours near;
    *reach = NULL;
    if (p->count > SMOOTHED)
        return GRAVEL_OK;
    gravel_status status = gv_neighbours_find(p, GV_CORE_NEIGHBOURS, &near);
    if (!status && !(*reach = malloc((p->count + 1) * sizeof **reach)))
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for a picture");
    for (size_t s = 0; !status && s < p->count; s++)
        (*reach)[near.at[s].body] = fmax(2.0 * pixel, fmin(near.radius[s], SPOT * f->width));
    gv_neighbours_free(&near);
    return status;
}

static gravel_status widen(film *f, const char *path)
{
    gv_plot_bodies b;
    gv_totals t;
    double width;
    gravel_status status = gv_plot_bodies_read(&b, path, f->o);
    if (status)
        return status;
    gv_diagnose_totals(&b.some, &t);
    status = find_width(&b.some, t.x, &width);
    gv_plot_bodies_free(&b);
    if (!status && !(width > 0.0))
        return gv_fail(GRAVEL_ERR_INPUT, "%s: all bodies are at one place; give --width", path);
    f->width = status ? 0.0 : fmax(f->width, width);
    return status;
}

static gravel_status take_frame(film *f, const char *path)
{
    gv_plot_bodies b;
    gv_totals t;
    frame *to = &f->at[f->frames];
    gravel_status status = gv_plot_bodies_read(&b, path, f->o);
    if (status)
        return status;
    gv_diagnose_totals(&b.some, &t);
    const int pixels = pixels_for(f->o, b.some.count);
    const double pixel = f->width / pixels;
    double *reach;
    status = find_reach(f, &b.some, pixel, &reach);
    /* the middle of a disk is 3 / pi reach^2 of the mass */
    const double area = reach ? 1.05 * SPOT * SPOT * f->width * f->width : pixel * pixel;
    *to = (frame){.time = b.all.time, .expanding = b.all.expanding, .lightest = t.mass / (double)b.some.count / area};
    f->units = b.all.units;
    f->frames++;
    for (int v = 0; v < f->views && !status; v++)
        status = gv_density_map_make(&to->map[v], &b.some, reach, view_axis[f->view[v]], t.x, f->width, pixels);
    free(reach);
    gv_plot_bodies_free(&b);
    if (!status && !(to->map[0].most > 0.0))
        status = gv_fail(GRAVEL_ERR_INPUT, "%s: no mass within %g of the centre of mass", path, 0.5 * f->width);
    return status;
}

static gravel_status take_frames(film *f, char *const *path, size_t count)
{
    gravel_status status = GRAVEL_OK;
    f->width = f->o->width > 0.0 ? f->o->width : 0.0;
    if (f->width == 0.0) /* one width for all: what the first and the last need */
        for (size_t k = 0; k < (count > 1 ? 2u : 1u) && !status; k++)
            status = widen(f, path[k ? count - 1 : 0]);
    f->at = calloc(count, sizeof *f->at);
    if (!f->at && !status)
        status = gv_fail(GRAVEL_ERR_MEMORY, "no memory for %zu pictures", count);
    gv_progress_start(&f->progress, "pictures");
    for (size_t k = 0; k < count && !status; k++) {
        status = take_frame(f, path[k]);
        gv_progress_show(&f->progress, (double)(k + 1), (double)count);
        if (!status && gv_signals_pending())
            status = gv_fail(GRAVEL_ERR_CANCELLED, "stopped; an earlier file is kept");
    }
    gv_progress_clear(&f->progress);
    return status;
}

static void free_film(film *f)
{
    for (size_t k = 0; f->at && k < f->frames; k++)
        for (int v = 0; v < 2; v++)
            gv_density_map_free(&f->at[k].map[v]);
    free(f->at);
}

/* --------------------------------------------------------------- drawing */

/* The colours' ends, log10: the brightest pixel of all pictures, and what one body alone gives, at most five decades
 * below. */
static void find_range(const film *f, double range[2])
{
    double most = 0.0, least = INFINITY;
    for (size_t k = 0; k < f->frames; k++) {
        least = fmin(least, f->at[k].lightest);
        for (int v = 0; v < f->views; v++)
            most = fmax(most, f->at[k].map[v].most);
    }
    range[1] = log10(most);
    range[0] = fmax(range[1] - 5.0, fmin(log10(least) - 0.3, range[1] - 1.0));
}

/* The pixels follow as binary numbers, in the script. */
static void put_map(FILE *out, const gv_density_map *map, double darkest)
{
    const size_t count = (size_t)map->pixels * (size_t)map->pixels;
    const double pixel = map->side / map->pixels;
    fprintf(out,
            "plot '-' binary array=(%d,%d) dx=%.9g dy=%.9g origin=(%.9g,%.9g) format='%%float' with image notitle\n",
            map->pixels, map->pixels, pixel, pixel, 0.5 * (pixel - map->side), 0.5 * (pixel - map->side));
    for (size_t k = 0; k < count; k++) {
        const float value = map->value[k] > 0.0f ? (float)fmax(log10(map->value[k]), darkest) : (float)darkest;
        fwrite(&value, sizeof value, 1, out);
    }
    fputc('\n', out);
}

static void put_style(FILE *out, const film *f, const double range[2])
{
    fprintf(out,
            "set border lw 1 lc rgb '#404040'\nset tics out nomirror scale 0.6\nset size ratio -1\n"
            "set palette defined (0 '#000004', 1 '#1b0c41', 2 '#4a0c6b', 3 '#781c6d', 4 '#a52c60', 5 '#cf4446', "
            "6 '#ed6925', 7 '#fb9b06', 8 '#f7d13d', 9 '#fcffa4')\nset cbrange [%.6g:%.6g]\nset xrange [%.9g:%.9g]\n"
            "set yrange [%.9g:%.9g]\nset cblabel ",
            range[0], range[1], -0.5 * f->width, 0.5 * f->width, -0.5 * f->width, 0.5 * f->width);
    gv_plot_label(out, "log_{10} mass per area", &f->units, -2, 1, 0);
    fputc('\n', out);
}

static void put_frame_title(FILE *out, const film *f, size_t k, const char *name)
{
    const gv_plot_time time = gv_plot_time_unit(&f->units, fabs(f->at[f->frames - 1].time));
    const int nbody = gv_units_are_nbody(&f->units);
    fputs("set title ", out);
    if (f->frames == 1) {
        gv_plot_text(out, name, 50);
        fputs(".'   '.", out);
    }
    if (f->at[k].expanding)
        fprintf(out, "'z = %.2f' noenhanced\n", gv_plot_redshift(f->at[k].time));
    else
        fprintf(out, "'t = %.*f%s%s' noenhanced\n", nbody ? 3 : 1, f->at[k].time * time.factor, nbody ? "" : " ",
                nbody ? "" : time.unit);
}

/* Two views stand beside each other, at one height, with one scale of colours. */
static void draw_frame(FILE *out, const film *f, size_t k, const char *name, double darkest)
{
    if (f->views > 1)
        fputs("set multiplot\nset tmargin screen 0.92\nset bmargin screen 0.12\n", out);
    for (int v = 0; v < f->views; v++) {
        const int *axis = view_axis[f->view[v]];
        if (f->views > 1)
            fprintf(out, "set lmargin screen %g\nset rmargin screen %g\n%sset colorbox\n", v ? 0.525 : 0.065,
                    v ? 0.915 : 0.455, v ? "" : "un");
        if (v == 0)
            put_frame_title(out, f, k, name);
        else
            fputs("set title ' '\n", out);
        for (int c = 0; c < 2; c++) {
            fprintf(out, "set %slabel ", axis_name[c]);
            gv_plot_label(out, axis_name[axis[c]], &f->units, 1, 0, 0);
            fputc('\n', out);
        }
        put_map(out, &f->at[k].map[v], darkest);
    }
    if (f->views > 1)
        fputs("unset multiplot\n", out);
}

static gravel_status draw(const film *f, const char *name)
{
    gv_plot plot;
    double range[2];
    gravel_status status =
        gv_plot_begin(&plot, f->o->out, f->views > 1 ? 1160 : 640, 520, f->o->movie ? f->o->rate : 0);
    if (status)
        return status;
    find_range(f, range);
    put_style(plot.script, f, range);
    for (size_t k = 0; k < f->frames; k++)
        draw_frame(plot.script, f, k, name, range[0]);
    return gv_plot_finish(&plot);
}

/* ---------------------------------------------------------------- command */

static gravel_status choose(const gv_run_folder *folder, const char *name, const gv_plot_run_options *o, size_t *first,
                            size_t *count)
{
    const gravel_status status = gv_run_folder_need_snapshot(folder, name, o->movie ? -1 : o->snapshot);
    *first = 0;
    *count = folder->snapshots;
    if (status)
        return status;
    if (o->movie && folder->snapshots < 2)
        return gv_fail(GRAVEL_ERR_INPUT, "%s: one snapshot; an animation needs the folder of a run with two or more",
                       name);
    if (o->movie && folder->snapshots > MOST_FRAMES)
        return gv_fail(GRAVEL_ERR_INPUT, "%s: %zu snapshots; an animation has at most %d pictures", name,
                       folder->snapshots, (int)MOST_FRAMES);
    if (o->movie)
        return GRAVEL_OK;
    *first = o->snapshot >= 0 ? (size_t)o->snapshot : folder->snapshots - 1;
    *count = 1;
    return GRAVEL_OK;
}

int gv_plot_image(const void *values, const gv_operands *operands)
{
    const gv_plot_run_options *o = values;
    film f = {.o = o, .views = o->view == VIEW_BOTH ? 2 : 1, .view = {o->view == VIEW_BOTH ? 0 : o->view, 1}};
    gv_run_folder folder;
    size_t first, count;
    gravel_status status = gv_run_folder_open(&folder, operands->value[0]);
    if (status)
        return gv_cli_fail(COMMAND, status);
    gv_signals_catch(0, NULL);
    status = choose(&folder, operands->value[0], o, &first, &count);
    if (!status)
        status = take_frames(&f, folder.snapshot + first, count);
    const int drawing = !status;
    if (!status)
        status = draw(&f, operands->value[0]);
    gv_run_folder_close(&folder);
    free_film(&f);
    if (!status)
        return GV_EXIT_OK;
    return drawing ? gv_cli_fail_writing(COMMAND, status) : gv_cli_fail(COMMAND, status);
}
