/* gravel plot spectrum, massfunction, slice: boxes of an expanding universe. */
#ifndef GV_PLOT_COSMO_H
#define GV_PLOT_COSMO_H

#include "cli/options.h"

typedef struct gv_plot_cosmo_options {
    const char *out, *table;
    int snapshot; /* below 0: the last */
    double thickness;
    size_t pixels;
} gv_plot_cosmo_options;

enum { GV_PLOT_MOST_TABLES = 8 };

int gv_plot_spectrum(const void *values, const gv_operands *operands);
int gv_plot_massfunction(const void *values, const gv_operands *operands);
int gv_plot_slice(const void *values, const gv_operands *operands);

extern const gv_opt gv_plot_spectrum_opts[], gv_plot_massfunction_opts[], gv_plot_slice_opts[];

#endif
