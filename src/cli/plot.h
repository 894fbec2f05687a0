/* Plots through gnuplot. */
#ifndef GV_PLOT_H
#define GV_PLOT_H

#include "host/status.h"

/* Runs the script with the terminal that FILE's ending asks for (png, svg); the file appears whole or not at all. */
gravel_status gv_plot_run(const char *script, const char *file, int width, int height);

#endif
