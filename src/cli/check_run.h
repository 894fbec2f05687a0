/* The check of a device: every variant in several configurations against the long double reference. */
#ifndef GV_CHECK_RUN_H
#define GV_CHECK_RUN_H

#include "cli/compute.h"
#include "cli/variants.h"

/* DEMO: the configuration that calls use; QUICK: and a few others; NORMAL: and more sizes; FULL: and every value of
 * every tunable, all sinks compared. */
typedef enum gv_check_level { GV_CHECK_DEMO, GV_CHECK_QUICK, GV_CHECK_NORMAL, GV_CHECK_FULL } gv_check_level;

typedef struct gv_check_run {
    size_t n;
    double eps;
    int neighbours; /* with nearest neighbour and lists */
    char configuration[256];
    gravel_origin origin;
    gravel_status status;
    gv_errors errors;
    double kernel_s, call_s;
    char message[320]; /* what went wrong; empty: nothing */
    gv_verdict verdict;
} gv_check_run;

typedef struct gv_check_variant {
    gv_variant variant;
    gv_check_run *run;
    int runs;
    double mean[GV_QUANTITIES], max[GV_QUANTITIES]; /* the largest over all runs */
    double pairs_per_s;                             /* of the largest run, in the configuration that calls use */
    gv_verdict verdict;
} gv_check_variant;

typedef struct gv_check {
    gravel_context *context;
    gravel_device_info device;
    gv_check_level level;
    int variants;
    gv_check_variant of[GV_VARIANTS];
    gv_verdict verdict;
    int runs_failed, runs_total;
    struct gv_check_truth *truth; /* per size and softening */
    int truths;
} gv_check;

enum { GV_CHECK_N = 16384 };

/* Fills check->of[...].variant before; `progress` NULL: none.  Failures of the device are verdicts, not a status; the
 * status is about the host (memory, Ctrl-C: GRAVEL_ERR_CANCELLED, what was done until then is complete). */
gravel_status gv_check_all(gv_check *check);
void gv_check_free(gv_check *check);

#endif
