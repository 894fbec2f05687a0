/* gravel plot energy ... image: options of the plots of a simulation. */
#include <math.h>

#include "cli/particle_file.h"
#include "cli/plot_run.h"

#define OUTPUT                                                                                                         \
    {                                                                                                                  \
        .name = "output", .letter = 'o', .kind = GV_OPT_OUT, .offset = offsetof(gv_plot_run_options, out),             \
        .value = "FILE", .help = "FILE.png, FILE.svg or FILE.pdf", .required = 1                                       \
    }
#define SCALED_TIME                                                                                                    \
    {                                                                                                                  \
        .name = "scaled-time", .kind = GV_OPT_FLAG, .offset = offsetof(gv_plot_run_options, scaled_time),              \
        .help = "times 212.75 ln(0.11 N) / N, so that clusters of\ndifferent N lie on one another"                     \
    }
#define LABELS                                                                                                         \
    {                                                                                                                  \
        .name = "labels", .kind = GV_OPT_TEXT, .offset = offsetof(gv_plot_run_options, labels), .value = "A;B;...",    \
        .help = "what the legend calls the runs, in their order; else\nthe names of their folders"                     \
    }
#define SNAPSHOT                                                                                                       \
    {                                                                                                                  \
        .name = "snapshot", .kind = GV_OPT_INT, .offset = offsetof(gv_plot_run_options, snapshot), .value = "K",       \
        .help = "of the snapshots of a run the K-th, from 0", .fallback = "-1", .low = 0, .high = INT32_MAX            \
    }
#define IDS                                                                                                            \
    {                                                                                                                  \
        .name = "ids", .kind = GV_OPT_TEXT, .offset = offsetof(gv_plot_run_options, ids), .value = "FIRST:COUNT,...",  \
        .help = "only bodies with these ids; those of a galaxy's disk\ncome first"                                     \
    }

const gv_opt gv_plot_energy_opts[] = {OUTPUT, LABELS, SCALED_TIME, {.name = NULL}};
const gv_opt gv_plot_lagrange_opts[] = {OUTPUT, SCALED_TIME, {.name = NULL}};
const gv_opt gv_plot_core_opts[] = {OUTPUT, LABELS, SCALED_TIME, {.name = NULL}};
const gv_opt gv_plot_blocks_opts[] = {OUTPUT, {.name = NULL}};
const gv_opt gv_plot_profile_opts[] = {OUTPUT, SNAPSHOT, IDS, GV_OPT_TEXT_UNITS(gv_plot_run_options), {.name = NULL}};

const gv_opt gv_plot_image_opts[] = {
    {.name = "output",
     .letter = 'o',
     .kind = GV_OPT_OUT,
     .offset = offsetof(gv_plot_run_options, out),
     .value = "FILE",
     .help = "FILE.png, FILE.svg or FILE.pdf; FILE.gif with --movie",
     .required = 1},
    {.name = "movie",
     .kind = GV_OPT_FLAG,
     .offset = offsetof(gv_plot_run_options, movie),
     .help = "an animation of all snapshots of a run"},
    {.name = "rate",
     .kind = GV_OPT_REAL,
     .offset = offsetof(gv_plot_run_options, rate),
     .value = "R",
     .help = "pictures a second of the animation",
     .fallback = "10",
     .low = 0.1,
     .high = 50},
    {.name = "view",
     .kind = GV_OPT_CHOICE,
     .offset = offsetof(gv_plot_run_options, view),
     .value = "xy|xz|yz|both",
     .help = "what is to the right and upwards; both: xy beside xz",
     .fallback = "xy"},
    {.name = "width",
     .kind = GV_OPT_REAL,
     .offset = offsetof(gv_plot_run_options, width),
     .value = "W",
     .help = "of the picture, around the centre of mass; without it\nwhat holds nine tenths of the mass",
     .fallback = "-1",
     .low = 1e-30,
     .high = 1e30},
    {.name = "pixels",
     .kind = GV_OPT_SIZE,
     .offset = offsetof(gv_plot_run_options, pixels),
     .value = "P",
     .help = "along each side; without it 100 to 600, more for more\nbodies",
     .low = 1,
     .high = 4096},
    SNAPSHOT,
    IDS,
    GV_OPT_TEXT_UNITS(gv_plot_run_options),
    {.name = NULL},
};
