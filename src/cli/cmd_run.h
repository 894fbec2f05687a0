/* What the files of `gravel run` of any bodies share. */
#ifndef GV_CMD_RUN_H
#define GV_CMD_RUN_H

#include "cli/run_job.h"

typedef struct gv_run_options {
    /* of the command, not of the run */
    const char *file, *resume, *allow;
    int example, replace, timing, verbose, cosmology;
    /* of the run: what run.json records, and a run file may hold */
    const char *in, *out, *device, *configuration;
    int units, renumber, no_fp64;
    double until;
    int solver, order, precision, steps, criterion, iterations, host, scheme;
    double eta, eta4, eta6, eta_start, step_max, step_min, eps;
    double theta, rebuild;
    int mac, moments, softening;
    size_t sum_up_to;
    double snapshot_every, diagnose_every, checkpoint_every;
    int snapshot_format, snapshot_files, snapshot_writers;
    unsigned char given[GV_MAX_OPTIONS]; /* which of them were typed */
} gv_run_options;

extern const gv_opt gv_run_opts[]; /* cmd_run_options.c */
gravel_status gv_run_write_summary(gv_run *run, const gv_run_output *folder, const gv_run_options *opts,
                                   gravel_context *context);

#endif
