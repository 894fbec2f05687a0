/* The inside of gv_cosmo_run: cosmo_run.c has its checks and its life, cosmo_steps.c its steps, energies and state. */
#ifndef GV_COSMO_INSIDE_H
#define GV_COSMO_INSIDE_H

#include "sim/cosmo_run.h"

struct gv_cosmo_run {
    gravel_context *context;
    gv_cosmo_settings s;
    gv_particles p; /* as they were looked at last */
    double start;   /* scale factor */
    double gravity;
    double *potential; /* of all bodies, once it was asked for */
    gravel_bodies *bodies, *seen;
    gravel_mesh *mesh;
    gravel_tree *tree;
    gravel_leapfrog *leapfrog;
    gv_cosmo_line line;
    double first, first_w, integral; /* a (T + W) and a W at the start, integral T da until the last line */
    int lines;
    gv_cosmo_times times;
    double clock[GV_CLOCKS];
};

#endif
