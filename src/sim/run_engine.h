/* What the files of the engine of a run share: run_engine.c, run_state.c, run_follow.c. */
#ifndef GV_RUN_ENGINE_H
#define GV_RUN_ENGINE_H

#include "sim/run.h"
#include "sim/run_domains.h"

struct gv_run {
    gravel_context *context;
    gv_run_settings s;
    gv_particles p; /* as they were looked at last */
    double start;   /* bodies' time 0 */
    double gravity;
    gravel_bodies *bodies, *seen; /* seen: at the time of the last look */
    gravel_direct *direct, *exact;
    gravel_tree *tree;
    gravel_hermite *hermite;
    gravel_leapfrog *leapfrog;
    gv_domains_run *domains;      /* one of these three */
    gravel_hermite_counts before; /* of steps before it went on from another kind of state */
    int by_host;                  /* the last block was moved by the host */
    size_t first, mine;           /* the particles that are bodies here; all of them, unless they are dealt out */
    double clock[GV_CLOCKS];
};

/* Bodies are dealt out over the ranks. */
int gv_run_is_dealt(const gv_run *r);
/* What went by since *since belongs to this clock. */
void gv_run_charge(gv_run *r, gv_run_clock clock, double *since);
/* The processes that follow do the same; then all agree on the outcome. */
gravel_status gv_run_tell(gv_run *r, gv_run_order order, double time);
gravel_status gv_run_done(gv_run *r, gravel_status status);
/* The particles as they are begin at `time`. */
gravel_status gv_run_begin_at(gv_run *r, double time, double *since);

#endif
