/* Pieces of `gravel tune`. */
#ifndef GV_CMD_TUNE_H
#define GV_CMD_TUNE_H

#include "cli/cli.h"
#include "host/profile/space.h"

typedef struct tune_options {
    const char *device, *kernel, *variants, *strategy, *limit, *log, *log_dir, *profile_dir, *record, *plot, *theta,
        *active, *calls;
    gv_size_list sinks, sources;
    double budget, candidate;
    int evaluations, jobs, runs, most;
    uint64_t seed;
    int nearest, neighbours, plain, quick, cross, resume, exhaustive, unlikely, list, simulate, regret, keep, json,
        verbose, no_fp64, worker;
} tune_options;

extern const gv_opt gv_tune_opts[];

int gv_tune_list(const tune_options *options);
int gv_tune_simulate(const tune_options *options, const gv_operands *files);
int gv_tune_regret(const tune_options *options);
/* The program that runs now, also when it was moved since or is not in PATH. */
void gv_tune_own_path(char *path, size_t size);
/* Fills `variant` from "sp2,ds4" or "all"; returns how many, 0 after a message. */
int gv_tune_variants(const tune_options *options, gv_variant *variant, int most);
/* Behind each of n plain variants the same with a nearest neighbour, and with lists too; returns how many there are
 * then.  Configurations that win without searches are tried first with them. */
int gv_tune_add_searches(gv_variant *variant, int n, int most);
const char *gv_tune_features_name(unsigned features); /* "plain", "nearest", "nearest + lists" */

#endif
