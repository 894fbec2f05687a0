/* One benchmark of direct summation: a variant, so many sources, so many of them active. */
#ifndef GV_BENCH_DIRECT_H
#define GV_BENCH_DIRECT_H

#include "cli/compute.h"
#include "tuner/timing.h"

typedef struct gv_bench_setting {
    gravel_context *context;
    gravel_device_facts facts; /* measured in this run */
    double eps;
    int nearest, neighbours; /* neighbours: list capacity, 0 none */
    int predict;
    const char *configuration;
    gv_timing_rule rule;
} gv_bench_setting;

/* What does not depend on the variant: the active sinks and the reference forces of some of them. */
typedef struct gv_bench_case {
    const gv_particles *sources;
    gv_particles sinks;
    double *radius; /* with neighbour lists */
    size_t checked, check_step;
    gv_force_set truth; /* of sinks 0, check_step, ... */
} gv_bench_case;

typedef struct gv_bench_result {
    gv_variant variant;
    size_t n_sources, n_sinks;
    char configuration[512];
    gravel_origin origin;
    gv_timing resident, upload; /* upload: the call begins with writing all sources */
    double pairs_per_s, slots_per_pair, peak;
    int slots_smallest;
    size_t overflow;
    gv_errors errors;
} gv_bench_result;

/* `order`: the highest that reference forces are needed for. */
gravel_status gv_bench_case_create(gv_bench_case *c, const gv_bench_setting *setting, const gv_particles *sources,
                                   size_t active, int order);
void gv_bench_case_free(gv_bench_case *c);
gravel_status gv_bench_direct(const gv_bench_setting *setting, const gv_bench_case *c, const gv_variant *variant,
                              gv_bench_result *result);

#endif
