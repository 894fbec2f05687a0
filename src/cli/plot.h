/* Plots through gnuplot. */
#ifndef GV_PLOT_H
#define GV_PLOT_H

#include <stdio.h>

#include "host/base/status.h"

/* A name from a file as a string of the script.  gnuplot runs what is between backquotes in double-quoted strings and
 * takes a line end for the end of the command, so: single quotes, and of the text only printable characters without
 * quotes, backquotes and backslashes.  More than `most` characters are cut. */
void gv_plot_text(FILE *script, const char *text, int most);

/* "set title" of two lines: a name from a file, and fixed text. */
void gv_plot_title(FILE *script, const char *name, const char *what);

/* A figure that is being written: commands of gnuplot and data among them go to `script`. */
typedef struct gv_plot {
    FILE *script; /* NULL: not begun */
    char *text;
    size_t size;
    const char *file;
    int late; /* 1: drawn although a signal has come, of what was measured before it; a second one ends the program */
} gv_plot;

/* Whether FILE's ending is one that gv_plot_begin takes: asked before what it would show is measured. */
gravel_status gv_plot_check(const char *file, double frames);
/* The terminal is that of FILE's ending: .png, .svg, .pdf; .gif is an animation of `frames` pictures a second, and only
 * for frames above 0. */
gravel_status gv_plot_begin(gv_plot *plot, const char *file, int width, int height, double frames);
/* Runs the script; the file appears whole or not at all. */
gravel_status gv_plot_finish(gv_plot *plot);
/* Drops it; no effect after the end. */
void gv_plot_drop(gv_plot *plot);

/* The three in one, for a script that is text alone. */
gravel_status gv_plot_run(const char *script, const char *file, int width, int height);

#endif
