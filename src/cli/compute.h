/* Forces in host memory, from the device or from the reference, and how far they are apart. */
#ifndef GV_COMPUTE_H
#define GV_COMPUTE_H

#include "cpu_ref/ceilings.h"
#include "cli/cli.h"
#include "cpu_ref/ref.h"
#include "host/profile/space.h"
#include "sim/particles.h"

/* ---------------------------------------------------------------- results */

typedef struct gv_force_set {
    size_t count;
    int order;
    size_t capacity; /* of the neighbour lists; 0: none */
    double *ax, *ay, *az, *pot;
    double *jx, *jy, *jz; /* from order 4 */
    double *sx, *sy, *sz; /* order 6 */
    int32_t *nearest_id;  /* NULL: not requested */
    uint32_t *nearest_address;
    double *nearest_distance;
    uint32_t *neighbour_count, *neighbour_address; /* NULL: not requested */
    int32_t *neighbour_id;
} gv_force_set;

/* Filled with NaN and with addresses that are none, so that what is not written shows. */
gravel_status gv_force_set_create(gv_force_set *set, size_t count, int order, int nearest, size_t capacity);
void gv_force_set_free(gv_force_set *set);
/* Where a library call puts the results of sinks first, first + 1, ... of the set. */
gravel_forces gv_force_set_view(const gv_force_set *set, size_t first);

/* ------------------------------------------------------- sinks and sources */

gravel_sources gv_sources_view(const gv_particles *particles);
/* radius: one for each of these sinks, or NULL */
gravel_sinks gv_sinks_view(const gv_particles *particles, size_t first, size_t count, const double *radius);
/* Particles first, first + step, ...: `count` of them, copied. */
gravel_status gv_particles_pick(gv_particles *picked, const gv_particles *particles, size_t first, size_t step,
                                size_t count);
/* How many sinks the reference can do in about a second, spread over all: step and count for gv_particles_pick. */
size_t gv_sample_size(size_t sinks, size_t sources, size_t at_most, size_t *step);

/* The long double reference for these sinks; radius as in the library. */
gravel_status gv_reference_forces(const gv_particles *sinks, const gv_particles *sources, double eps,
                                  const double *radius, gv_force_set *out);
/* Ewald sums in a box of this side: accelerations and potentials. */
gravel_status gv_ewald_forces(const gv_particles *sinks, const gv_particles *sources, double side, double eps,
                              int spline, gv_force_set *out);

/* --------------------------------------------------------------- one call */

/* Whole call, host memory to host memory: submit and collect. */
gravel_status gv_direct_call(gravel_direct *direct, const gravel_sinks *sinks, double eps, const gv_force_set *out,
                             size_t *overflow);

/* ------------------------------------------------------------- comparison */

enum { GV_ACC, GV_POT, GV_JERK, GV_SNAP, GV_QUANTITIES };
extern const char *const gv_quantity_name[GV_QUANTITIES];
int gv_quantity_count(int order); /* acc and pot; + jerk; + snap */

/* Relative errors |a - b| / |b|, vectors by their length; what is NaN or wrongly not zero is infinitely wrong. */
typedef struct gv_errors {
    size_t count;
    double mean[GV_QUANTITIES], max[GV_QUANTITIES];
    size_t worst[GV_QUANTITIES]; /* sink of the largest one */
} gv_errors;
/* The error that this fraction of the sinks does not exceed; NaN without memory. */
double gv_error_quantile(const gv_force_set *forces, const gv_force_set *reference, int quantity, double fraction);
void gv_errors_set(gv_errors *errors, const gv_force_set *forces, const gv_force_set *reference);
/* The mean is judged from this many sinks on: of fewer, one close pair makes it. */
enum { GV_MEAN_FROM = 512 };
/* Largest error over its ceiling: at most 1 PASS, at most 2 MARGINAL, above FAIL. */
double gv_error_excess(const gv_errors *errors, gravel_precision precision, int order);

typedef enum gv_verdict { GV_PASS, GV_MARGINAL, GV_FAIL } gv_verdict;
gv_verdict gv_excess_verdict(double excess);
extern const char *const gv_verdict_name[3];

/* Nearest neighbours and lists against the reference, with the room that the rounding of positions gives: sources
 * within `slack` of equal distance or of the radius may go either way.  NULL if all is right, else what is wrong (in
 * `text`). */
const char *gv_neighbours_wrong(const gv_force_set *forces, const gv_particles *sinks, const gv_particles *sources,
                                const double *radius, double slack, char *text, size_t size);
/* Absolute error of a distance between positions that a precision holds. */
double gv_distance_slack(gravel_precision precision, const gv_particles *sources);

/* Fewest instructions a pair needs, over lanes. */
int gv_smallest_slots(int order, gravel_precision precision);

#endif
