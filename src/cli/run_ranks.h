/* `gravel run` over ranks: the first one does all that a run alone does; the others have the same bodies, or each its
 * range of them, follow its orders, and find their share of the forces. */
#ifndef GV_RUN_RANKS_H
#define GV_RUN_RANKS_H

#include "cli/cmd_run.h"
#include "cli/ranks.h"

typedef struct gv_run_ranks {
    gv_ranks *ranks; /* NULL: alone, and nothing below does anything */
    void *share;     /* gravel_cluster_share */
    void *ring;      /* gravel_cluster_ring: bodies are dealt out; else NULL */
    uint64_t failures;
    gv_run_company company;
} gv_run_ranks;

#ifdef GV_HAVE_MPI
extern const gv_run_domains gv_run_ranks_domains; /* run_domains.c; `user` is a gv_run_ranks */
#define GV_RUN_DOMAINS (&gv_run_ranks_domains)
#else
#define GV_RUN_DOMAINS NULL
#endif

/* All ranks.  A GV_EXIT_... */
int gv_run_ranks_open(gv_run_ranks *r, const gv_run_options *typed);
/* All ranks, at last; the first one's code goes to all. */
int gv_run_ranks_close(gv_run_ranks *r, int code);

/* The first rank, before gv_run_create: all that the others need; the company goes into the settings. */
gravel_status gv_run_ranks_invite(gv_run_ranks *r, gravel_context *context, gv_run_settings *settings,
                                  gv_particles *particles, gv_checkpoint *checkpoint, const gv_run_options *opts);
/* ... after it, all ranks. */
gravel_status gv_run_ranks_created(gv_run_ranks *r, gravel_status status);
/* The first rank.  Unlike devices of ranks stand in a run's record; on as many ranks it goes on on the same ones.  0,
 * or -1 after a message. */
void gv_run_ranks_record(cJSON *made_by, const gv_run_ranks *r);
int gv_run_ranks_compare(const cJSON *record, const gv_run_ranks *r, const char *allow);
/* The other ranks, from their start to their end; the exit code. */
int gv_run_ranks_follow(gv_run_ranks *r, const gv_run_options *typed);

#endif
