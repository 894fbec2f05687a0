/* What soft constraints rule out, tried where the search found nothing good. */
#ifndef GV_SCOUTS_H
#define GV_SCOUTS_H

#include "tuner/run.h"

enum { GV_SCOUTS = 1 + GV_PLAIN_SHAPES };

int gv_scouts_are_wanted(const gv_run *run, const gv_search *search);
/* 1: one of them is better; the run's domain is the whole one now, the starts are points of it, with the scout and the
 * winner so far behind them if there is room. */
int gv_scouts_widen(gv_run *run, const gv_search *search, gv_point *start, int *n_starts, int most);

#endif
