/* Steps in a periodic box: a mesh for the long range, the tree for the short one, on bodies of the device. */
#ifndef GV_BENCH_PERIODIC_H
#define GV_BENCH_PERIODIC_H

#include "cli/cli.h"
#include "gravel/mesh.h"
#include "gravel/tree.h"
#include "sim/particles.h"

typedef struct gv_periodic_setting {
    gravel_context *context;
    gravel_mesh_options mesh;
    gravel_tree_options tree;
    gravel_precision stored; /* of the bodies */
    double eps;
    int repeats;   /* steps that are timed */
    size_t sample; /* bodies whose errors are found; 0: none */
} gv_periodic_setting;

enum {
    GV_PERIODIC_MESH_STAGES = 5,
    GV_PERIODIC_TREE_STAGES = 6,
    GV_PERIODIC_STAGES = GV_PERIODIC_MESH_STAGES + GV_PERIODIC_TREE_STAGES
};
extern const char *const gv_periodic_stage[GV_PERIODIC_STAGES];

typedef struct gv_periodic_result {
    double step_s, cpu_s;             /* a step without events: least wall time, CPU time of the process */
    double stage[GV_PERIODIC_STAGES]; /* of a step with events */
    gravel_tree_counts counts;
    gravel_fft fft;
    double memory; /* bytes of mesh and tree on the device */
    char configuration[384];
    size_t errors;  /* bodies whose errors were found */
    double body[3]; /* |a - a_exact| / |a_exact|: half, 99 %, all of the bodies have less */
    double rms[3];  /* over the root mean square of |a_exact| */
} gv_periodic_result;

gravel_status gv_bench_periodic(const gv_periodic_setting *setting, const gv_particles *bodies,
                                gv_periodic_result *result);

#endif
