/* Which of a few alternatives is the faster one, on a machine that others use too: they take turns, so that a
 * disturbance meets all of them, and what decides are the ratios within each turn and the least times of all. */
#ifndef GV_RACE_H
#define GV_RACE_H

enum { GV_RACE_MOST = 4, GV_RACE_TURNS = 15 };

typedef struct gv_race {
    int n, turns;
    double s[GV_RACE_TURNS][GV_RACE_MOST]; /* seconds; 0: was not run */
} gv_race;

/* Seconds of alternative k; negative: it failed, the race is over. */
typedef double (*gv_race_time_fn)(void *user, int k);
/* 1: what was to be decided is clear. */
typedef int (*gv_race_clear_fn)(const gv_race *race, void *user);

/* Turns until all is clear, or there were GV_RACE_TURNS, or limit_s has passed by the times that were measured (one
 * turn is always run).  Those in `without` (bits) do not take part.  The first turn warms up and is not kept, unless
 * it alone takes longer than the limit.  0: one failed. */
int gv_race_run(gv_race *race, int n, unsigned without, double limit_s, gv_race_time_fn time, gv_race_clear_fn clear,
                void *user);

double gv_race_least(const gv_race *race, int k);
/* Whether a takes more than `factor` times as long as b: 1 yes, -1 no, 0 not clear. */
int gv_race_exceeds(const gv_race *race, int a, int b, double factor);

#endif
