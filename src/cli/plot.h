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

/* Runs the script with the terminal of FILE's ending (png, svg); the file appears whole or not at all. */
gravel_status gv_plot_run(const char *script, const char *file, int width, int height);

#endif
