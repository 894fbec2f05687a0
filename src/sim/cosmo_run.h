/* A box of an expanding universe from initial conditions to its end: leapfrog in ln a with the forces of a mesh and a
 * tree, and the folder that it fills, which is that of other runs (run.h) but for
 *   cosmology.txt            a line for each diagnostic time, in place of diagnostics.txt */
#ifndef GV_COSMO_RUN_H
#define GV_COSMO_RUN_H

#include "sim/run.h"

enum { GV_COSMO_OUTPUTS = 64 };

typedef struct gv_cosmo_settings {
    double until;                    /* scale factors, as the outputs' */
    double output[GV_COSMO_OUTPUTS]; /* of snapshots, rising; the last one is `until` */
    int outputs;
    gravel_precision precision; /* of the tree and, sp for ds, of the mesh; bodies are in dp with dp, else ds */
    int cells;                  /* of the mesh; 0: gv_cosmo_cells */
    int interlaced;
    double split, cut; /* r_s in cells; where the short range ends, in r_s */
    double theta;
    gravel_tree_mac mac;
    gravel_softening softening;
    double eps;                     /* comoving, in the units of the particles */
    double eta, step_max, step_min; /* in ln a */
    double mesh_step;               /* of the long range, at least step_max; 0: with each block */
    int shared;
    const char *configuration; /* tunables of the tree by hand; NULL: by profile */
    double checkpoint_every;   /* in seconds of wall time; 0: at start and end only */
    int timed;                 /* 1: kernels are timed by stage, which makes the host wait for them */
} gv_cosmo_settings;

/* Where the force is split by default, and how many cells a box of so many bodies has: two along each axis. */
#define GV_COSMO_SPLIT 1.25
#define GV_COSMO_CUT 5.0
int gv_cosmo_cells(size_t bodies);

/* What stands in a line of cosmology.txt; energies in 1e10 Msun/h (km/s)^2 or what the units are. */
typedef struct gv_cosmo_line {
    double a, kinetic, potential; /* peculiar: sum m p^2 / 2 a^2; sum m phi / 2 a */
    double error;                 /* of a (T + W) + integral T da, over the change of a W since the start */
    double momentum;              /* |sum m p| / sum m |p| */
    double blocks, steps;
} gv_cosmo_line;

/* Seconds by stage, where they are timed. */
typedef struct gv_cosmo_times {
    double tree_build, tree_walk, mesh_sort, mesh_assign, mesh_fft, mesh_green, mesh_interpolate;
} gv_cosmo_times;

typedef struct gv_cosmo_run gv_cosmo_run;

/* NULL, or what is wrong with these settings for these particles: no box, bodies outside of it, a mesh that is too
 * coarse for the cut ... */
gravel_status gv_cosmo_run_check(const gv_cosmo_settings *settings, const gv_particles *particles);
/* The particles become the run's (an empty set is left), whatever is returned. */
gravel_status gv_cosmo_run_create(gv_cosmo_run **run, gravel_context *context, const gv_cosmo_settings *settings,
                                  gv_particles *particles);
void gv_cosmo_run_release(gv_cosmo_run *run);
const gv_particles *gv_cosmo_run_get_particles(const gv_cosmo_run *run);
const gv_cosmo_line *gv_cosmo_run_get_line(const gv_cosmo_run *run); /* the last one */
void gv_cosmo_run_get_counts(const gv_cosmo_run *run, gravel_hermite_counts *counts);
void gv_cosmo_run_get_times(const gv_cosmo_run *run, gv_cosmo_times *times);
double *gv_cosmo_run_clocks(gv_cosmo_run *run); /* [GV_CLOCKS] */
gravel_fft gv_cosmo_run_get_fft(const gv_cosmo_run *run);
gravel_status gv_cosmo_run_get_configuration(gv_cosmo_run *run, char *text, size_t size);

/* cosmo_steps.c: times are ln a since the start */
gravel_status gv_cosmo_run_start(gv_cosmo_run *run);
gravel_status gv_cosmo_run_get_next(gv_cosmo_run *run, double *time);
gravel_status gv_cosmo_run_step(gv_cosmo_run *run, gravel_hermite_step_info *info);
/* All bodies at a time between the last block and the next one, into gv_cosmo_run_get_particles. */
gravel_status gv_cosmo_run_look(gv_cosmo_run *run, double time);
/* Energies of the bodies that were looked at, after those of the line before. */
gravel_status gv_cosmo_run_measure(gv_cosmo_run *run);

struct gv_checkpoint;
/* The box of a checkpoint's particles, which is not among the numbers of a set. */
gravel_status gv_cosmo_read_box(struct gv_checkpoint *checkpoint);
gravel_status gv_cosmo_run_save(gv_cosmo_run *run, struct gv_checkpoint *checkpoint);
gravel_status gv_cosmo_run_restore(gv_cosmo_run *run, const struct gv_checkpoint *checkpoint);

/* ------------------------------------------------------------------ drive */

typedef struct gv_cosmo_progress {
    double a, start, until; /* scale factors */
    size_t active, bodies;
    gravel_hermite_counts counts;
    double error; /* of the last line */
    double wall_s;
} gv_cosmo_progress;

typedef struct gv_cosmo_hooks {
    /* after each block; anything but 0 stops the run: a checkpoint is written, ERR_CANCELLED */
    int (*after_step)(void *user, const gv_cosmo_progress *info);
    /* after each snapshot, with its number: analysis; NULL: none */
    gravel_status (*after_snapshot)(void *user, const gv_particles *particles, unsigned number);
    void *user;
} gv_cosmo_hooks;

/* From the beginning (`checkpoint` NULL) or from a checkpoint to the end; all outputs are on disk when it returns. */
gravel_status gv_cosmo_drive(gv_cosmo_run *run, gv_run_output *folder, const gv_cosmo_settings *settings,
                             const struct gv_checkpoint *checkpoint, const gv_cosmo_hooks *hooks);

#endif
