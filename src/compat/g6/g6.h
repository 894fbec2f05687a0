/* The inside of libgravel_g6: what the plain and the Fortran names call.  No public name calls another: programs define
 * some of them themselves. */
#ifndef GV_G6_H
#define GV_G6_H

#include <pthread.h>

#include "compat/common/compat.h"
#include "compat/common/refused.h"

/* Where the last firsthalf is. */
typedef enum gv_g6_stage {
    GV_G6_IDLE,    /* there was none */
    GV_G6_NOTHING, /* of no sinks */
    GV_G6_FAILED,  /* its line is in the log */
    GV_G6_ASKED
} gv_g6_stage;

/* The sources and the call of the process. */
typedef struct gv_g6 {
    pthread_mutex_t lock;
    gravel_several *several; /* NULL: not open */
    int is_set;              /* the settings were read */
    gv_compat_settings settings;
    int sources; /* the highest address set, + 1 */
    gv_refused refused;
    gv_g6_stage stage;
    int sinks;
    int has_nearest, has_lists;   /* what the call computes */
    int want_nearest, want_lists; /* what the caller read of the last call: so the next one has it */
    int is_fresh;                 /* nothing was read of this call */
    int lists_are_read;
    double *radius;  /* of the sinks */
    double *nearest; /* their distances */
    uint32_t *nearest_address;
    uint32_t *count; /* of the lists */
    int32_t *list;
    size_t radius_room, nearest_room, address_room, count_room, list_room;
    int sorted;  /* lists ascend by index */
    double *eps; /* softening lengths of sinks that have one each */
    size_t eps_room;
    struct gv_g6_steps *steps; /* sinks that are set one by one: steps.c */
} gv_g6;
extern gv_g6 gv_g6_one;

/* Takes the lock; -1, with the lock free again and a line in the log, where the library is not open. */
int gv_g6_enter(const char *function);
void gv_g6_leave(void);
/* At least so many elements; what they were is lost.  -1: no memory, with a line in the log. */
int gv_g6_need(const char *function, void *array, size_t *room, size_t count, size_t element);

int gv_g6_open(const char *function);
int gv_g6_open_special(int ndev, const int *list);
int gv_g6_close(void);
int gv_g6_pipes(void);
int gv_g6_nj_max(const char *function);
int gv_g6_reset(void);

/* A source as it is given. */
typedef struct gv_g6_source {
    int address, index;
    double time, mass;
    const double *k18, *j6, *a2, *v, *x;
} gv_g6_source;
int gv_g6_set_source(const char *function, const gv_g6_source *source);
int gv_g6_set_time(const char *function, double time);
int gv_g6_get_source(int address, double *pos, double *vel, double *acc, double *jrk, double *ppos, double *pvel,
                     double *mass, double *eps2, int *id);
int gv_g6_get_predicted(const char *function, int nj, double (*x)[3], double (*v)[3]);

/* Sinks of a call; eps2 is that of all, or with eps2_each one for each. */
typedef struct gv_g6_sinks {
    int count;
    const int *index;
    double (*x)[3], (*v)[3];
    const double *eps2, *h2;
    int eps2_each;
} gv_g6_sinks;
void gv_g6_firsthalf(const char *function, int nj, const gv_g6_sinks *sinks);
void gv_g6_ask(const char *function, int nj, const gv_g6_sinks *sinks); /* the same under the lock */
/* What lasthalf writes; NULL: not asked for. */
typedef struct gv_g6_results {
    double (*acc)[3], (*jerk)[3], *pot;
    int *nearest;
    float *distance;
    int lists;
} gv_g6_results;
int gv_g6_lasthalf(const char *function, int ni, const gv_g6_results *to);

/* steps.c: the same in steps.  `flag`: 0 for each sink. */
int gv_g6_set_sink_count(const char *function, int count);
int gv_g6_set_sink(const char *function, int address, int index, const double *x, const double *v, double eps2,
                   double h2);
int gv_g6_start(const char *function, int nj);
int gv_g6_get_forces(const char *function, const gv_g6_results *to, int *flag);
void gv_g6_forget_sinks(void); /* under the lock */

int gv_g6_read_lists(const char *function);
int gv_g6_get_list(const char *function, int sink, int most, int *n, int *list);
void gv_g6_set_sorted(int sorted);
int gv_g6_get_sorted(void);

#endif
