/* What the libraries of 6th order share: sources with all derivatives, prediction, forces on sinks with a softening
 * each.  Functions that return int return 0, or -1 with a line in the log. */
#ifndef GV_COMPAT_ORDER6_H
#define GV_COMPAT_ORDER6_H

#include <pthread.h>

#include "compat/common/compat.h"
#include "compat/common/refused.h"

typedef struct gv_order6 {
    pthread_mutex_t lock; /* held by who calls the functions below */
    gravel_several *several;
    gv_compat_settings settings;
    size_t sources; /* the highest address set, + 1 */
    gv_refused refused;
    double *eps2; /* of the sources, as it was given */
    size_t eps2_room;
    int softening_is_sent;
    int time_is_refused; /* the last one */
    /* results of the last call, and what it needs */
    double *pot, *r2, *eps;
    int32_t *nearest;
    uint32_t *address;
    size_t sinks_room;
} gv_order6;
#define GV_ORDER6_INIT                                                                                                 \
    {                                                                                                                  \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                                              \
    }

/* Once: later calls do nothing.  With `special` the devices are those of the list, as Sapporo2 takes it, unless the
 * settings name some.  `softened`: what the interface has as the squared distance of the nearest neighbour. */
int gv_order6_open(gv_order6 *o, const char *function, int special, int ndev, const int *list, int softened);

typedef struct gv_order6_source {
    int address, id;
    double mass, time, eps2;
    const double *d[6]; /* position and its derivatives; NULL: 0 */
} gv_order6_source;
int gv_order6_set_source(gv_order6 *o, const char *function, const gv_order6_source *source);
/* Sources as they are at this time, or with `predicted` 0 as they were set. */
int gv_order6_predict(gv_order6 *o, const char *function, int predicted, double time);
/* One source as it is then; vectors may be NULL. */
int gv_order6_get_source(gv_order6 *o, const char *function, int address, int *id, double *mass, double *eps2,
                         double *pos, double *vel, double *acc);

typedef struct gv_order6_call {
    int ni, nj;
    gravel_sinks sinks; /* of them `id` and vectors; the count is ni */
    const double *eps2; /* of the sinks, `eps2_stride` apart; NULL: 0 */
    size_t eps2_stride;
    int of_sources; /* 1: the softening of the sources counts, not that of the sinks */
    gravel_vec_out acc, jerk, snap;
} gv_order6_call;
/* Potentials (negative), nearest neighbours (-1: none) and their squared distances (infinity) are in the object. */
int gv_order6_forces(gv_order6 *o, const char *function, const gv_order6_call *call);

#endif
