/* What the files of `gravel run` of any bodies share. */
#ifndef GV_CMD_RUN_H
#define GV_CMD_RUN_H

#include "cli/run_job.h"

typedef struct gv_run_options {
    /* of the command, not of the run */
    const char *file, *resume, *allow;
    int example, replace, timing, verbose, cosmology;
    /* of the run: what run.json records, and a run file may hold */
    const char *in, *out, *device, *devices, *configuration;
    int units, renumber, no_fp64, all_devices;
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
/* 0, or -1 after a message: one that was typed does nothing in a program that was started alone. */
int gv_run_check_alone(const gv_run_options *typed);
/* The same with the solver, order, steps and devices of `o`, which is complete. */
int gv_run_check_effect(const gv_run_options *o, const gv_run_options *typed);
gravel_status gv_run_write_summary(gv_run *run, const gv_run_output *folder, const gv_run_options *opts,
                                   gravel_context *context, const gravel_several_share *share);

/* run_devices.c.  The devices of --devices, whose first one has the bodies. */
gravel_status gv_run_devices_open(const gv_run_options *opts, const gv_run_settings *settings,
                                  gravel_several_share **share);
/* Which they are, into what decides the bits; share NULL: none. */
void gv_run_devices_record(cJSON *made_by, const gravel_several_share *share);
/* 0, or -1 after a message: others than in that record, and not allowed. */
int gv_run_compare_devices(const cJSON *made_by, const gravel_several_share *share, const char *allow);
void gv_run_devices_summary(cJSON *summary, const gravel_several_share *share);

#endif
