/* Kept times of calls are checked again while calls go on: pure book-keeping, without devices.  Calls of about as many
 * sinks and sources are a cell.  In a cell that has taken long enough, a call is also answered by another than the one
 * who was chosen, both some times in a row, and the results are thrown away; where that is clearly faster twice, its
 * kept time is corrected, so that it is chosen from then on. */
#ifndef GV_RECHECK_H
#define GV_RECHECK_H

#include <stddef.h>
#include <stdint.h>

enum {
    GV_MOST_CELLS = 96,
    GV_MOST_ANSWERS = 7,    /* the host, then teams of devices: an answer is one more than a team's number */
    GV_RECHECK_ROUNDS = 4,  /* of each of the two; the first of them is not timed */
    GV_RECHECK_NEVER = 1000 /* tries of an answer that failed */
};
/* Of the time that the calls of a cell took, checks take no more than this share, but for what the first check of an
 * answer in a process compiles and sends.  Where one took longer than expected, the next waits for that. */
#define GV_RECHECK_SHARE 0.02
/* An answer that is faster by this factor is clearly faster. */
#define GV_RECHECK_MARGIN 1.25

typedef struct gv_cell {
    int order, sinks, sources;      /* sinks and sources as powers of two */
    double factor[GV_MOST_ANSWERS]; /* times kept times; 1 until corrected */
    int tries[GV_MOST_ANSWERS];     /* that found it not clearly faster */
    double tried[GV_MOST_ANSWERS];  /* `busy` when it was tried last */
    int wins[GV_MOST_ANSWERS];      /* in a row */
    double busy, spent;             /* s of calls and of checks, of all processes */
    int is_compiled[GV_MOST_ANSWERS];
    uint64_t calls; /* of this process */
} gv_cell;

typedef struct gv_recheck {
    gv_cell cell[GV_MOST_CELLS];
    int cells;
    double busy; /* s of calls since the file was written */
} gv_recheck;

/* NULL: it is not there; `make`: there is no room for another one. */
gv_cell *gv_recheck_cell(gv_recheck *recheck, int order, size_t sinks, size_t sources, int make);
/* The answer that is to be tried now beside the one that is chosen; -1: none.  `seconds`: expected of all answers,
 * INFINITY of those that are ruled out.  Intervals between tries of an answer double, up to 64 times as long; one that
 * was faster once does not wait. */
int gv_cell_due(const gv_cell *cell, const double seconds[GV_MOST_ANSWERS], int chosen);
/* What the two took; 1: the factor of `tried` was corrected. */
int gv_cell_took(gv_cell *cell, const double seconds[GV_MOST_ANSWERS], int chosen, int tried, double chosen_s,
                 double tried_s);

#endif
