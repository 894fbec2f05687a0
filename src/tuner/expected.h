/* The reference's results for the tuner's particles, kept: a candidate takes microseconds to run, the reference tens
 * of milliseconds, and the particles never move, so that questions with the same sources and order share them, whatever
 * their precision and searches.  Candidates differ by the factor of their masses, by which all forces scale: but for
 * rounding of the masses, 1e-16 of a force, where the strictest ceiling is 1e-14. */
#ifndef GV_EXPECTED_H
#define GV_EXPECTED_H

#include "host/base/status.h"
#include "tuner/pool.h"

enum {
    GV_EXPECTED_MOST = 64,     /* sinks computed at once */
    GV_EXPECTED_KNOWN = 16384, /* sinks of a set, 256 to 1024 a question; with more it begins anew */
    GV_EXPECTED_SETS = 16      /* pairs of an order and a number of sources */
};

typedef struct gv_expected_sink {
    size_t sink;                  /* index in the pool */
    double plane[GV_POOL_PLANES]; /* acc, pot, jerk, snap */
    double acc_scale;             /* sum of |acc| over the pairs */
    double distance;              /* to the nearest source */
    uint32_t count;               /* sources within the pool's radius */
} gv_expected_sink;

/* Of one order and the first `sources` particles of the pool. */
typedef struct gv_expected_set {
    int order;
    size_t sources;
    double eps;
    size_t n, room;
    gv_expected_sink *known; /* by `sink` */
    unsigned long used;      /* when, in calls */
} gv_expected_set;

typedef struct gv_expected {
    gv_expected_set set[GV_EXPECTED_SETS];
    unsigned long calls;
} gv_expected;

/* For n sinks of the pool, by its first `sources` particles with their unscaled masses: got[k] belongs to sink[k]. */
gravel_status gv_expected_get(gv_expected *expected, const gv_pool *pool, int order, size_t sources, double eps,
                              const size_t *sink, int n, gv_expected_sink *got);
void gv_expected_free(gv_expected *expected);

#endif
