/* Candidates that are timed against each other in turns stay built, verified and loaded from one turn to the next. */
#ifndef GV_KEPT_H
#define GV_KEPT_H

#include "tuner/outcome.h"

enum { GV_KEPT_MOST = 25 };

typedef struct gv_kept {
    gv_task task; /* all of them */
    int n;
    struct {
        char configuration[384];
        void *trial;
    } at[GV_KEPT_MOST];
} gv_kept;

typedef void (*gv_kept_release_fn)(void *trial);

/* The trial of this request's configuration, NULL if it has to be made.  Those of another task, or of turns that are
 * over (the request is in no turn), are released. */
void *gv_kept_find(gv_kept *kept, const gv_request *request, gv_kept_release_fn release);
/* Takes a trial that is in turns, and releases it where there is no room. */
void gv_kept_add(gv_kept *kept, const gv_request *request, void *trial, gv_kept_release_fn release);
void gv_kept_drop(gv_kept *kept, gv_kept_release_fn release); /* all of them */

#endif
