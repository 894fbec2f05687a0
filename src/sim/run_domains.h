/* The leapfrog of a run whose bodies are dealt out over several processes, all with one step: kick, drift, forces,
 * kick; between steps positions and velocities are of one time.  Or with block steps (gravel/leapfrog.h).  What run.h
 * says of gv_run_start ... holds here. */
#ifndef GV_RUN_DOMAINS_H
#define GV_RUN_DOMAINS_H

#include "sim/checkpoint.h"

typedef struct gv_domains_run {
    const gv_run_company *company;
    const gv_run_settings *settings;
    gravel_context *context;
    gv_particles *p;         /* of the run */
    double *clock;           /* of the run */
    double start, gravity;   /* forces are those of masses times it */
    void *domains, *looking; /* looking: for looks between steps */
    gravel_bodies *all;      /* for direct sums */
    gravel_direct *exact;
    double now, step, next; /* step: of all, unless there are block steps */
    int whole;              /* all bodies were due at the last block */
    double looked;
    void *seen; /* where the potentials at that time are: domains or looking */
    gravel_hermite_counts counts;
} gv_domains_run;

/* Settings, particles and clocks live as long. */
gravel_status gv_domains_create(gv_domains_run **run, gravel_context *context, const gv_run_settings *settings,
                                gv_particles *particles, double *clock);
void gv_domains_release(gv_domains_run *run);
gravel_status gv_domains_start(gv_domains_run *run);
gravel_status gv_domains_step(gv_domains_run *run, gravel_hermite_step_info *info);
/* Block steps: counts of all processes. */
gravel_status gv_domains_add_steps(gv_domains_run *run, uint64_t counts[GRAVEL_STEP_POWERS]);
/* All particles on the leading process, and where potentials are summed directly; else those of its range. */
gravel_status gv_domains_look(gv_domains_run *run, double time);
gravel_status gv_domains_find_potentials(gv_domains_run *run, double *potential);
gravel_status gv_domains_save(gv_domains_run *run, gv_checkpoint *checkpoint);
gravel_status gv_domains_restore(gv_domains_run *run, const gv_checkpoint *checkpoint);
/* Positions and velocities of such a checkpoint, for any run. */
gravel_status gv_domains_unpack(const gv_run_domains *ops, gravel_context *context, gravel_precision precision,
                                const gv_checkpoint *checkpoint, gv_particles *particles);

#endif
