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
/* A process' bodies from a state of all, and its choices, if so many processes made them; *choices NULL: there are
 * none.  Both are malloc'd. */
gravel_status gv_dealt_cut(const gravel_bodies *bodies, const gv_checkpoint *checkpoint, size_t first, size_t count,
                           void **state, size_t *size);
gravel_status gv_dealt_choices(const gv_run_company *company, const gv_checkpoint *checkpoint, char **choices);

#endif
