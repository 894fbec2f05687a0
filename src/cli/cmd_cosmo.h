/* gravel run --cosmology: between its options (cmd_cosmo_options.c) and what they do (cmd_cosmo.c). */
#ifndef GV_CMD_COSMO_H
#define GV_CMD_COSMO_H

#include "cli/run_job.h"
#include "sim/cosmo_run.h"

typedef struct gv_cosmo_options {
    /* of the command, not of the run */
    const char *file, *resume, *allow;
    int example, cosmology, replace, timing, verbose;
    /* of the run: what run.json records */
    const char *in, *out, *device, *configuration, *until, *redshifts;
    int cells, interlaced, precision, mac, softening, steps, no_analysis, no_fp64;
    double split, cut, theta, eps, eta, step_max, step_min, mesh_step, checkpoint_every;
    unsigned char given[GV_MAX_OPTIONS];
} gv_cosmo_options;

extern const gv_opt gv_cosmo_opts[];
extern const gv_command gv_cmd_run_cosmology;
/* 1 if a run.json with this text is of a box. */
int gv_cosmo_is_record(const char *text);
/* Without a softening that was given: a part of the mean distance of bodies. */
#define GV_COSMO_SOFTENING 0.04
/* Settings of the options, redshifts read; ERR_ARGUMENT for what is none.  eps follows from the particles if it was not
 * given. */
gravel_status gv_cosmo_settings_of(const gv_cosmo_options *opts, const gv_particles *particles,
                                   gv_cosmo_settings *settings);

#endif
