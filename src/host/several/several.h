/* What the benchmark and tests use of gravel_several beside its public functions. */
#ifndef GV_SEVERAL_H
#define GV_SEVERAL_H

#include "gravel/several.h"

/* Who answers: one of these, or 0, 1, ...: the fastest 1, 2, 4, ... devices, the last of them all. */
enum { GV_ANSWER_CHOSEN = -2, GV_ANSWER_HOST = -1 };

/* All calls from now on. */
void gv_several_force(gravel_several *several, int answer);
/* Calls go in so many pieces, at most 4; 0: chosen. */
void gv_several_cut(gravel_several *several, int pieces);
int gv_several_teams(const gravel_several *several);
int gv_team_size(const gravel_several *several, int answer); /* devices */

/* Blocks of integrators: the devices of a share; seconds of a block by the fastest 1, 2, 4 ... of them, by trial, with
 * bodies of its own, and who works on it in a run. */
gravel_several *gv_share_get_several(gravel_several_share *share);
gravel_status gv_share_time_block(gravel_several_share *share, int order, size_t sinks, size_t sources, double *seconds,
                                  int *chosen);

#endif
