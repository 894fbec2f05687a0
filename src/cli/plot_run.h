/* Plots of a simulation: what cmd_plot_run.c passes to the files that draw. */
#ifndef GV_PLOT_RUN_H
#define GV_PLOT_RUN_H

#include "cli/options.h"
#include "cli/plot.h"
#include "sim/particles.h"

typedef struct gv_plot_run_options {
    const char *out;
    int units; /* of text files */
    int scaled_time;
    const char *labels; /* of runs in the legend, "one;another"; NULL: their names */
    int snapshot;       /* below 0: not given */
    const char *ids;    /* NULL: all */
    int view, movie;
    double width; /* below 0: what holds most of the mass */
    size_t pixels;
    double rate; /* pictures a second */
} gv_plot_run_options;

enum { GV_PLOT_MOST_RUNS = 8 };

int gv_plot_energy(const void *values, const gv_operands *operands);
int gv_plot_lagrange(const void *values, const gv_operands *operands);
int gv_plot_core(const void *values, const gv_operands *operands);
int gv_plot_blocks(const void *values, const gv_operands *operands);
int gv_plot_profile(const void *values, const gv_operands *operands);
int gv_plot_rotation(const void *values, const gv_operands *operands);
int gv_plot_image(const void *values, const gv_operands *operands);

extern const gv_opt gv_plot_energy_opts[], gv_plot_lagrange_opts[], gv_plot_core_opts[], gv_plot_blocks_opts[],
    gv_plot_profile_opts[], gv_plot_image_opts[];

/* Colours of lines (Okabe and Ito: told apart by all eyes), grid, key. */
void gv_plot_style(FILE *script);
/* A colour of that list. */
const char *gv_plot_colour(int k);
/* "quantity [unit]" as a quoted text for gnuplot with its markup; the unit has these powers. */
void gv_plot_label(FILE *script, const char *what, const gv_units *units, int length, int mass, int velocity);
/* "set yrange" for a logarithmic axis from low to high (above 0), tics between decades where these alone were few. */
void gv_plot_log_range(FILE *script, double low, double high);
/* Times are shown in Myr or Gyr where the units are real ones. */
typedef struct gv_plot_time {
    double factor;
    const char *unit;
} gv_plot_time;
gv_plot_time gv_plot_time_unit(const gv_units *units, double longest);
/* Of a scale factor; 0 today, whatever the last bit says. */
double gv_plot_redshift(double a);

/* A snapshot, and those of its bodies that --ids names. */
typedef struct gv_plot_bodies {
    gv_particles all, some;
    int copied; /* 0: some has the arrays of all */
} gv_plot_bodies;
gravel_status gv_plot_bodies_read(gv_plot_bodies *bodies, const char *path, const gv_plot_run_options *o);
void gv_plot_bodies_free(gv_plot_bodies *bodies);

#endif
