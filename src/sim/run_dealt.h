/* Bodies of a run that are dealt out to several processes: what is of all of them, from and to each one's part. */
#ifndef GV_RUN_DEALT_H
#define GV_RUN_DEALT_H

#include "sim/checkpoint.h"

/* One frame for the bodies of all processes, so that their states fit together. */
gravel_status gv_dealt_frame(gravel_bodies *bodies, const gv_particles *all, double gravity);
/* All processes: the numbers of everyone's range, in the columns of all. */
gravel_status gv_dealt_gather(const gv_run_company *company, gv_particles *all, gravel_status status);
/* All processes: each one's state and choices as one of all, on the process that leads; on the others their own. */
gravel_status gv_dealt_join(const gv_run_company *company, const gravel_bodies *bodies, gv_checkpoint *checkpoint,
                            gravel_status status);
/* All processes: counts of all. */
gravel_status gv_dealt_add_counts(const gv_run_company *company, uint64_t counts[GRAVEL_STEP_POWERS],
                                  gravel_status status);
/* A process' bodies from a state of all; malloc'd. */
gravel_status gv_dealt_cut(const gravel_bodies *bodies, const gv_checkpoint *checkpoint, size_t first, size_t count,
                           void **state, size_t *size);

/* run_choices.c.  What a solver and devices that share forces with it chose, either may be NULL: as text, malloc'd with
 * room for one character more; and back.  Choices of other processes, or of another number of them, are made anew. */
char *gv_run_choices(const gravel_direct *direct, const gravel_several_share *share);
gravel_status gv_run_take_choices(const gv_run_company *company, const gv_checkpoint *checkpoint, gravel_direct *direct,
                                  gravel_several_share *share);
/* Choices of the processes stand one after another, each ended by this. */
enum { GV_END_OF_CHOICES = '\f' };

#endif
