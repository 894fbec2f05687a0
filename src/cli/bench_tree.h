/* Benchmarks of the tree: times by stage, errors against direct summation, the number of bodies from which on the tree
 * is faster. */
#ifndef GV_BENCH_TREE_H
#define GV_BENCH_TREE_H

#include "cli/cli.h"
#include "gravel/tree.h"
#include "sim/particles.h"
#include "tuner/timing.h"

enum {
    GV_TREE_STAGES = 7, /* keys ... walk, total */
    GV_TREE_TOTAL = 6,
    GV_TREE_QUANTILES = 5,      /* 50, 90, 99, 99.9 %, largest */
    GV_TREE_ERROR_ALL = 131072, /* up to so many bodies the errors of all are found */
    GV_TREE_ERROR_SAMPLE = 16384,
    GV_TREE_DECADES = 9, /* the distribution: from 1e-9 to 1 */
    GV_TREE_PER_DECADE = 10,
    GV_TREE_BINS = GV_TREE_DECADES * GV_TREE_PER_DECADE + 1
};
extern const char *const gv_tree_stage_name[GV_TREE_STAGES];

typedef struct gv_tree_setting {
    gravel_context *context;
    gravel_device_info device;
    gravel_tree_options options; /* theta is set for each case */
    gv_timing_rule rule;
    double eps;
    size_t sample; /* bodies whose errors are found; 0: the default */
} gv_tree_setting;

/* Exact accelerations of bodies 0, step, 2 step ... */
typedef struct gv_exact {
    size_t step, count;
    double *a[3];
    const char *by; /* "direct dp", "reference" */
    double seconds;
} gv_exact;

gravel_status gv_exact_create(const gv_tree_setting *setting, const gv_particles *bodies, gv_exact *exact);
void gv_exact_free(gv_exact *exact);

typedef struct gv_tree_result {
    size_t n;
    double theta;
    double stage[GV_TREE_STAGES], least; /* medians; smallest total; seconds */
    double call_s;                       /* build and forces, submit to finish, by the host's clock */
    int samples;
    double sp2_pairs_per_s; /* of the direct kernel, measured beside it */
    gravel_tree_counts counts;
    double memory; /* bytes a body */
    char configuration[384];
    gravel_origin origin;
    size_t error_sinks; /* 0: errors were not requested */
    const char *error_by;
    double error[GV_TREE_QUANTILES];
    double above[GV_TREE_BINS]; /* part of the bodies with an error above gv_tree_bin(k) */
} gv_tree_result;

double gv_tree_bin(int k); /* 10^(k / 10 - 9) */
/* exact NULL: no errors. */
gravel_status gv_bench_tree(const gv_tree_setting *setting, const gv_particles *bodies, double theta,
                            const gv_exact *exact, gv_tree_result *result);
/* Median device time of direct summation, order 2, of all bodies on all. */
gravel_status gv_bench_pairs(const gv_tree_setting *setting, const gv_particles *bodies, gravel_precision precision,
                             double *seconds);

/* Where the tree overtakes direct summation: for ever larger N. */
enum { GV_CROSSOVER_POINTS = GV_MAX_LIST };
typedef struct gv_crossover {
    double theta;
    int n_points;
    size_t n[GV_CROSSOVER_POINTS];
    double tree_s[GV_CROSSOVER_POINTS], dp_s[GV_CROSSOVER_POINTS], sp_s[GV_CROSSOVER_POINTS]; /* NAN: not measured */
    double n_dp, n_sp; /* crossover with direct dp and sp; NAN: outside the range */
    char configuration[384];
} gv_crossover;

typedef gravel_status (*gv_bodies_fn)(void *user, size_t n, gv_particles *bodies);
gravel_status gv_bench_crossover(const gv_tree_setting *setting, gv_bodies_fn make, void *user,
                                 const gv_size_list *sizes, gv_crossover *crossover);

#endif
