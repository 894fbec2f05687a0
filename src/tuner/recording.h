/* A recording: the outcome of every point of one question, so that searches can be replayed without the device.  It
 * carries its own tunables and values, for the kernels' tables change. */
#ifndef GV_RECORDING_H
#define GV_RECORDING_H

#include <stdio.h>

#include "tuner/session.h"

typedef struct gv_recording {
    char name[160]; /* "H200 sp2 131072 x 131072" */
    gv_tlog_header header;
    gv_task task;
    gv_domain domain; /* the recorded points */
    double *seconds;  /* per point of the domain; INFINITY: failed */
    gv_point built_in;
    int has_built_in;
    double best; /* smallest of seconds */
} gv_recording;

gravel_status gv_recording_parse(const char *name, const char *text, size_t size, gv_recording *recording);
gravel_status gv_recording_read(const char *path, gv_recording *recording);
void gv_recording_free(gv_recording *recording);
/* Writes to FILE from the log of an exhaustive run over one question. */
gravel_status gv_recording_from_log(const char *log_path, const gv_tune_options *options, FILE *out);

/* The strategies' view: an objective over the recording (user = the recording). */
int gv_recording_objective(void *user, gv_search *search, const gv_point *point, int n, double *score);

#endif
