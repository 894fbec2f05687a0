#include "host/program/race.h"

#include <math.h>
#include <string.h>

/* Four of five turns on one side: of nine turns of equals eight are so in one time of 26, of fifteen twelve in one of
 * 28; and the least times must agree, which takes a disturbance of one alternative in all turns. */
enum { FEWEST_TURNS = 9 };
#define MOST_PART 0.8
#define LEAST_PART 0.3

double gv_race_least(const gv_race *race, int k)
{
    double least = INFINITY;

    for (int t = 0; t < race->turns; t++)
        least = fmin(least, race->s[t][k]);
    return race->turns > 0 ? least : 0;
}

int gv_race_exceeds(const gv_race *race, int a, int b, double factor)
{
    const double least_a = gv_race_least(race, a), least_b = gv_race_least(race, b);
    const int by_least = least_a > factor * least_b;
    int above = 0;

    if (race->turns == 0 || least_a <= 0 || least_b <= 0)
        return 0;
    for (int t = 0; t < race->turns; t++)
        above += race->s[t][a] > factor * race->s[t][b];
    const int agree = by_least ? above : race->turns - above;
    /* where a turn takes so long that there is time for few, what happens within it evens out; after all turns the
     * least times are those of a quiet machine, and the ratios must only not speak against them */
    const int few = race->turns < FEWEST_TURNS, last = race->turns == GV_RACE_TURNS;
    const double part = few ? 1 : last ? LEAST_PART : MOST_PART;
    return agree < part * race->turns ? 0 : by_least ? 1 : -1;
}

/* One turn, which begins with another alternative each time: what comes behind a slow one may suffer. */
static double run_turn(gv_race *race, int first, unsigned without, gv_race_time_fn time, void *user)
{
    double sum = 0;

    for (int at = 0; at < race->n; at++) {
        const int k = (first + at) % race->n;
        const double seconds = without >> k & 1 ? 0 : time(user, k);

        if (seconds < 0)
            return -1;
        race->s[race->turns][k] = seconds;
        sum += seconds;
    }
    return sum;
}

int gv_race_run(gv_race *race, int n, unsigned without, double limit_s, gv_race_time_fn time, gv_race_clear_fn clear,
                void *user)
{
    memset(race, 0, sizeof *race);
    race->n = n;
    double spent = run_turn(race, 0, without, time, user);
    if (spent < 0)
        return 0;
    race->turns = spent >= limit_s; /* else it was for warming up */
    while (race->turns < GV_RACE_TURNS && spent < limit_s) {
        const double more = run_turn(race, race->turns, without, time, user);
        if (more < 0)
            return 0;
        spent += more;
        race->turns++;
        if (race->turns >= FEWEST_TURNS && clear(race, user))
            break;
    }
    return 1;
}
