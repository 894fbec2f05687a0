/* Candidates are built and run in processes of their own: one that crashes, hangs or resets the device costs that
 * candidate.  The parent writes one request a line and reads "phase NAME" lines and one answer a line (JSON). */
#ifndef GV_WORKER_H
#define GV_WORKER_H

#include <sys/types.h>

#include "tuner/outcome.h"

/* ------------------------------------------------------------ child's side */

enum { GV_WORKER_ANSWERS = 3 }; /* descriptor the answers go to; requests come on 0 */

/* Serves requests until the parent goes away.  Returns the exit code of the process. */
int gv_tune_worker_main(const char *device, int no_fp64);

/* ----------------------------------------------------------- parent's side */

typedef struct gv_tune_worker_options {
    char *const *argv;              /* how a worker is started: program and arguments, NULL at the end */
    double start_s;                 /* limit for the start (first use of a device may compile) */
    int (*interrupted)(void *user); /* called while a candidate builds or runs; NULL: never */
    void *user;
} gv_tune_worker_options;

typedef struct gv_tune_worker {
    const gv_tune_worker_options *options;
    pid_t pid;    /* 0: not running */
    int to, from; /* pipes */
    int errors;   /* file that takes the child's stdout and stderr */
    off_t said;   /* where in it what belongs to the present request begins */
    char phase[16];
    size_t n_text;
    char text[4096];
    int starts; /* how often a process was started */
} gv_tune_worker;

void gv_tune_worker_init(gv_tune_worker *worker, const gv_tune_worker_options *options);
void gv_tune_worker_stop(gv_tune_worker *worker); /* kills; safe at any time */

/* One candidate: starts the process if it does not run, sends the request, waits at most `limit_s`.  Whatever happens
 * is the outcome; only a worker that cannot be started at all is a failure, and ERR_CANCELLED one that was interrupted
 * while it started.  A candidate that is interrupted counts as out of time. */
gravel_status gv_tune_worker_ask(gv_tune_worker *worker, const gv_request *request, double limit_s,
                                 gv_outcome *outcome);

/* The two halves, for several workers at once. */
gravel_status gv_tune_worker_send(gv_tune_worker *worker, const gv_request *request);
/* One more behind it, to the same process; 0: that has ended, which the next answer tells. */
int gv_tune_worker_send_more(gv_tune_worker *worker, const gv_request *request);
void gv_tune_worker_receive(gv_tune_worker *worker, double limit_s, gv_outcome *outcome);

/* ------------------------------------------------------------------- text */

char *gv_request_print(const gv_request *request); /* malloc'd, one line without its end; NULL: no memory */
int gv_request_parse(const char *line, gv_request *request);
char *gv_outcome_print(const gv_outcome *outcome);
int gv_outcome_read(const char *line, gv_outcome *outcome);

#endif
