/* What the files of `gravel run` share. */
#ifndef GV_CMD_RUN_H
#define GV_CMD_RUN_H

#include "cli/cli.h"
#include "sim/checkpoint.h"

#define GV_RUN "gravel run"

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
    int snapshot_format, snapshot_files;
    unsigned char given[GV_MAX_OPTIONS]; /* which of them were typed */
} gv_run_options;

extern const gv_opt gv_run_opts[]; /* cmd_run_options.c */
/* 1: belongs to the command, not to the run. */
int gv_run_is_of_command(const gv_opt *opt);

/* run_file.c.  0, or -1 after a message.  Texts of the file are kept until the process ends. */
int gv_run_read_file(const char *path, gv_run_options *opts);
/* The options of a run as they stand in run.json, or in a checkpoint's record. */
int gv_run_read_record(const char *path, const char *text, gv_run_options *opts, cJSON **record);
cJSON *gv_run_options_json(const gv_run_options *opts);
void gv_run_print_example(FILE *stream);

/* run_record.c: what decides the bits beside the options: program, device, profiles. */
cJSON *gv_run_identity(gravel_context *context);
/* 0, or -1 after a message that names what differs and is not in `allow` ("device,version,profile"). */
int gv_run_compare_identity(const cJSON *then, gravel_context *context, const char *allow);
/* Device time by kernel, where --timing asked for it: to stdout; into the summary. */
gravel_status gv_run_print_times(gravel_context *context);
/* Digest of a file, 64 hexadecimal digits. */
gravel_status gv_run_digest(const char *path, char text[65]);
gravel_status gv_run_write_summary(gv_run *run, const gv_run_output *folder, const gv_run_options *opts,
                                   gravel_context *context);

#endif
