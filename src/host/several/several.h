/* What the benchmark and tests use of gravel_several beside its public functions. */
#ifndef GV_SEVERAL_H
#define GV_SEVERAL_H

#include "gravel/several.h"

/* Who answers: one of these, or 0, 1, ...: the fastest 1, 2, 4, ... devices, the last of them all. */
enum { GV_ANSWER_CHOSEN = -2, GV_ANSWER_HOST = -1 };

/* All calls from now on. */
void gv_several_force(gravel_several *several, int answer);
/* Calls of more sinks go in pieces of about so many; 0: chosen. */
void gv_several_cut(gravel_several *several, size_t sinks);
int gv_several_teams(const gravel_several *several);
int gv_team_size(const gravel_several *several, int answer); /* devices */

#endif
