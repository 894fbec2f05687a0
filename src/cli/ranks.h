/* The program as several processes that mpirun started: those of rank 1 and above do what the first one says, print
 * nothing and write nothing.  Every function takes NULL for a program that was started alone. */
#ifndef GV_RANKS_H
#define GV_RANKS_H

#include "gravel/gravel.h"
#include "sim/snapshot.h"

typedef struct gv_ranks gv_ranks;
struct gravel_cluster;

/* How many mpirun started, from the environment; 1: the program alone. */
int gv_ranks_started(void);
int gv_ranks_launched(void); /* 1: by mpirun or the like, be it as one rank */
/* At the start and the end of main; what was typed is kept. */
void gv_ranks_begin(int argc, char **argv);
int gv_ranks_leave(int code);
/* After the start of MPI: another MPI's mpirun starts ranks each of which is alone for this one.  Says so; the exit
 * code. */
int gv_ranks_check_launcher(const char *command);
/* Says that `command` does not run over ranks; the exit code. */
int gv_ranks_refuse(const char *command);

/* All ranks.  *ranks is NULL where the program was started alone.  `devices` as in gravel_cluster_options.  Returns a
 * GV_EXIT_...; after a failure the first rank has said why. */
int gv_ranks_open(gv_ranks **ranks, const char *command, const char *devices, int verbose);
/* Returns the code. */
int gv_ranks_close(gv_ranks *ranks, int code);
int gv_ranks_count(const gv_ranks *ranks);
int gv_ranks_rank(const gv_ranks *ranks);
int gv_ranks_is_first(const gv_ranks *ranks);
struct gravel_cluster *gv_ranks_cluster(gv_ranks *ranks);
/* This rank's device. */
gravel_status gv_ranks_context(gv_ranks *ranks, gravel_context **context, int no_fp64, int verbose);

/* All ranks: all get the first failure. */
gravel_status gv_ranks_agree(gv_ranks *ranks, gravel_status status);

/* All ranks: what the first one has, on all others, too (malloc'd there; NULL stays NULL). */
gravel_status gv_ranks_spread(gv_ranks *ranks, void *bytes, size_t size);
gravel_status gv_ranks_spread_text(gv_ranks *ranks, char **text);
gravel_status gv_ranks_spread_particles(gv_ranks *ranks, gv_particles *particles);

/* This rank's range of `count`, and numbers of all ranges on all ranks. */
void gv_ranks_get_range(gv_ranks *ranks, size_t count, size_t *first, size_t *mine);
gravel_status gv_ranks_gather(gv_ranks *ranks, size_t count, double *numbers, gravel_status status);
/* Bytes of all ranks one after another, malloc'd, on the first one; NULL on the others. */
gravel_status gv_ranks_collect(gv_ranks *ranks, const void *mine, size_t size, char **all, size_t *whole,
                               gravel_status status);
/* ranks_snapshot.c: one HDF5 file, into which every rank writes its range; all ranks, with all ids and the numbers of
 * the own range at least.  The first one's path counts. */
gravel_status gv_ranks_write_snapshot(gv_ranks *ranks, const gv_particles *particles, const char *path,
                                      const gv_snapshot_column *more, int columns);
/* What to install where this build cannot. */
gravel_status gv_ranks_can_write(void);
/* Whether all ranks have the same bytes. */
gravel_status gv_ranks_compare(gv_ranks *ranks, const void *bytes, size_t size, gravel_status status);
/* The largest of all ranks' numbers. */
double gv_ranks_largest(gv_ranks *ranks, double number);
/* Seconds of processor time that all ranks have taken so far, with all their threads. */
double gv_ranks_processor_time(gv_ranks *ranks);

/* Hermite steps over ranks: all bodies on every rank, or dealt out (gravel_scheme of gravel/cluster.h). */
typedef enum gv_scheme { GV_SCHEME_AUTO, GV_SCHEME_COPIES, GV_SCHEME_RING } gv_scheme;
typedef struct gv_scheme_question {
    double n, active; /* active: of a usual block */
    int order, is_dp;
    const gravel_context *context;
} gv_scheme_question;
/* All ranks: whether bodies are dealt out.  AUTO: by the model, for a device with this one's memory. */
gravel_status gv_ranks_choose(gv_ranks *ranks, gv_scheme asked, const gv_scheme_question *question, int *is_dealt);

#endif
