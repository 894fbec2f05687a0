/* The inside of libgravel_g5: what the plain and the Fortran names call.  No public name calls another. */
#ifndef GV_G5_H
#define GV_G5_H

#include <limits.h>
#include <pthread.h>

#include "compat/common/compat.h"

/* Functions without MC: device id 0, on all devices of the settings. */
enum { GV_G5_PLAIN = INT_MIN, GV_G5_UNITS = 1024 };

/* A device id that a caller names: never GV_G5_PLAIN. */
static inline int gv_g5_id(int devid)
{
    return devid == GV_G5_PLAIN ? -1 : devid;
}

/* Three memories of sources. */
typedef enum gv_g5_kind { GV_G5_BODIES, GV_G5_SYMMETRIC, GV_G5_CELLS, GV_G5_KINDS } gv_g5_kind;

typedef struct gv_g5_range {
    int first, end;
} gv_g5_range;

typedef struct gv_g5_memory {
    double (*x)[3], *m, *eps; /* eps: of symmetric ones */
    double (*q)[6];           /* of cells */
    size_t room[4];
    int used;       /* the highest address set, + 1 */
    int n;          /* that pull */
    int is_counted; /* n was set */
    gravel_several *several;
    gv_g5_range unsent; /* addresses that `several` has not got yet */
    int table;          /* the version of the table that it has; 0: none */
} gv_g5_memory;

typedef enum gv_g5_stage { GV_G5_IDLE, GV_G5_SET, GV_G5_FAILED, GV_G5_RUN, GV_G5_COLLECTED } gv_g5_stage;

/* Everything of a device id; threads with ids of their own never wait for one another. */
typedef struct gv_g5_unit {
    pthread_mutex_t lock;
    int id;
    char devices[512];
    gv_compat_settings settings; /* as they were when it was opened */
    int is_open;
    gv_g5_memory memory[GV_G5_KINDS];
    /* sinks and results */
    gv_g5_stage stage;
    gv_g5_kind asked; /* memory of the last run */
    int is_nothing;   /* it had no sinks or no sources */
    int ni, has_eps;  /* has_eps: one per sink */
    int with_table;
    double eps; /* of the run */
    double (*xi)[3], *epsi, (*acc)[3], *pot;
    size_t room[4];
} gv_g5_unit;

/* A force that is not Plummer's; its functions are called whenever a device id first needs them. */
typedef struct gv_g5_table {
    int version; /* 0: none; counts changes */
    gravel_table_kind kind;
    double (*force)(double), (*potential)(double);
    double (*force_fortran)(double *), (*potential_fortran)(double *);
    double force_end, force_factor, potential_end, potential_factor, length;
    double soft, mesh; /* of S2; mesh 0: the functions count */
} gv_g5_table;

int gv_g5_open(const char *function, int devid);
int gv_g5_open_special(const char *function, int ndev, const int *list);
int gv_g5_close(const char *function, int devid); /* GV_G5_PLAIN: all */
int gv_g5_pipes(void);
int gv_g5_jmem(void);
int gv_g5_set_eps(const char *function, double eps2);
double gv_g5_get_eps(void);

/* Rows adr ... adr + nj - 1 of the arrays; NULL: not given. */
typedef struct gv_g5_sources {
    double (*x)[3], *m, *eps2, (*q)[6];
} gv_g5_sources;
int gv_g5_set_sources(const char *function, int devid, gv_g5_kind kind, int adr, int nj, gv_g5_sources from);
int gv_g5_set_n(const char *function, int devid, int cells, int n);
/* eps2, eps: per sink, or NULL; x NULL: the sinks stay, with other softening. */
int gv_g5_set_sinks(const char *function, int devid, int ni, double (*x)[3], const double *eps2, const double *eps);
int gv_g5_run(const char *function, int devid, gv_g5_kind kind);
int gv_g5_get(const char *function, int devid, int ni, double (*a)[3], double *p);
int gv_g5_force_on(const char *function, int devid, gv_g5_kind kind, double (*x)[3], const double *eps2, double (*a)[3],
                   double *p, int ni);

/* back.c: sources where they are needed, a call. */
int gv_g5_submit(const char *function, gv_g5_unit *unit, gv_g5_kind kind);
int gv_g5_collect(const char *function, gv_g5_unit *unit);
void gv_g5_release(gv_g5_unit *unit);

/* table.c */
int gv_g5_cut_off(const char *function, const gv_g5_table *functions); /* factors; no force: no table */
int gv_g5_forces(const char *function, const gv_g5_table *functions);
int gv_g5_set_length(const char *function, double eta);
int gv_g5_no_table(void); /* 0 */
void gv_g5_get_table(gv_g5_table *table);
/* The table of the memory's devices, if they have another. */
int gv_g5_need_table(const char *function, const gv_g5_table *table, gv_g5_memory *memory);
/* Potential of a mass 1 at the softened distance s; 0 where it is known as an integral only. */
double gv_g5_table_potential(const gv_g5_table *table, double s);

#endif
