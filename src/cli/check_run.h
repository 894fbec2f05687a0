/* The check of a device: every variant in several configurations against the long double reference. */
#ifndef GV_CHECK_RUN_H
#define GV_CHECK_RUN_H

#include "cli/compute.h"
#include "cli/variants.h"

/* TINY: hundreds of bodies, for simulated devices; DEMO: the configuration that calls of many sinks use; QUICK: those
 * of other numbers of sinks without and with searches, one more, many sources for few sinks, the tree, the sort and the
 * timers; NORMAL: and more sizes; FULL: and every value of every tunable, all sinks compared. */
typedef enum gv_check_level {
    GV_CHECK_TINY,
    GV_CHECK_DEMO,
    GV_CHECK_QUICK,
    GV_CHECK_NORMAL,
    GV_CHECK_FULL
} gv_check_level;

typedef struct gv_check_run {
    size_t n, sinks; /* sinks: how many of the bodies are */
    double eps;
    unsigned features; /* GV_DIRECT_NEAREST, GV_DIRECT_LISTS */
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
    int complete;                                   /* all runs of its level were done */
    gv_verdict verdict;                             /* of the runs that were done */
} gv_check_variant;

/* The tree in one precision, the sort, the timers (check_other.c). */
typedef struct gv_check_other {
    char name[24], of[16], configuration[384], message[320];
    double mean, mean_ceiling, max, max_ceiling; /* of `of`; all zero: nothing to measure */
    gv_verdict verdict;
} gv_check_other;
enum { GV_CHECK_OTHERS = 8 };

typedef struct gv_check {
    gravel_context *context;
    gravel_device_info device;
    gv_check_level level;
    int variants;
    gv_check_variant of[GV_VARIANTS];
    gv_check_other other[GV_CHECK_OTHERS];
    int others;
    gv_verdict verdict; /* no verdict if `stopped`, but for FAIL */
    int stopped;        /* before its end: by a signal, or because memory ran out */
    int runs_failed, runs_total;
    struct gv_check_truth *truth; /* per size and softening */
    int truths;
} gv_check;

enum { GV_CHECK_N = 16384, GV_CHECK_TINY_N = 257 };
size_t gv_check_n(const gv_check *check); /* bodies of the largest runs of all sinks */

/* Fill check->of[...].variant before.  Failures of the device are verdicts, not a status; the
 * status is about the host (memory, Ctrl-C: GRAVEL_ERR_CANCELLED, what was done until then is complete). */
gravel_status gv_check_all(gv_check *check);
void gv_check_free(gv_check *check);

/* check_other.c */
gravel_status gv_check_others(gv_check *check);
/* The first line of a message and, of a failed build, the compiler's first error. */
void gv_check_shorten(const char *message, char *text, size_t size);

#endif
