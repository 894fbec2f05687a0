/* Shared by the random callers of the drop-in libraries: functions in any order, arguments that are right or wrong.
 * Arrays are exactly as long as the interface says, so that the address sanitizer sees what goes beyond.
 *
 * GRAVEL_TEST_TURNS=n: so many turns, other ones for each n. */
#ifndef GV_RANDOM_CALLER_H
#define GV_RANDOM_CALLER_H

#include "problem.h"

#include <limits.h>

typedef struct caller {
    uint64_t noise;
    int turn, turns;
} caller;

/* In double: forces are those of the reference but for rounding.  Two sums in double over some hundred terms, softened:
 * 1e-9 leaves four digits. */
static inline caller caller_new(int turns)
{
    const char *const asked = getenv("GRAVEL_TEST_TURNS");
    caller c = {.turns = asked ? atoi(asked) : turns};
    c.noise = (uint64_t)c.turns;
    setenv("GRAVEL_COMPAT_PRECISION", "dp", 1);
    setenv("GRAVEL_COMPAT_LOG", "none", 1);
    return c;
}

static inline int caller_goes_on(caller *c)
{
    return c->turn++ < c->turns;
}

static inline int below(caller *c, int n)
{
    return (int)((random_unit(&c->noise) + 1) / 2 * n) % n;
}

static inline int one_in(caller *c, int n)
{
    return below(c, n) == 0;
}

static inline double some_number(caller *c)
{
    return random_unit(&c->noise);
}

static inline double bad_number(caller *c)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    return bad[below(c, 3)];
}

/* All that an int can be. */
static inline int any_int(caller *c)
{
    static const int special[] = {-1, 0, 1, INT_MAX, INT_MIN, 16777217, -2};
    return one_in(c, 2) ? special[below(c, 7)] : below(c, 1 << 20);
}

static inline void three(caller *c, double x[3])
{
    for (int k = 0; k < 3; k++)
        x[k] = some_number(c);
}

static inline void *place(size_t size)
{
    void *p = malloc(size > 0 ? size : 1);
    assert_non_null(p);
    memset(p, 0xff, size > 0 ? size : 1); /* as doubles: NaN */
    return p;
}

#define assert_near(c, got, want, what)                                                                                \
    do {                                                                                                               \
        const double a_ = (got), b_ = (want);                                                                          \
        if (!(fabs(a_ - b_) <= 1e-9 * (1 + fabs(b_))))                                                                 \
            fail_msg("turn %d: %s is %.17g, the reference %.17g", (c)->turn, what, a_, b_);                            \
    } while (0)

#endif
