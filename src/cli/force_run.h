/* The work behind `gravel force`: sinks in chunks, each computed and written before the next. */
#ifndef GV_FORCE_RUN_H
#define GV_FORCE_RUN_H

#include "cli/compute.h"
#include "cli/ranks.h"
#include "gravel/mesh.h"
#include "gravel/several.h"
#include "gravel/tree.h"
#include "sim/out_file.h"

#define GV_FORCE "gravel force"

enum { GV_METHOD_DIRECT, GV_METHOD_TREE, GV_METHOD_REFERENCE };

typedef struct gv_force_options {
    const char *in, *out, *device, *devices, *report, *configuration;
    int method, order, precision, nearest, verbose; /* order: index of 2|4|6; precision -1: not given */
    int units;                                      /* of a text file (particle_file.h) */
    int mac, moments, softening;                    /* tree; moments: index of 1|2 */
    double eps, radius, theta;                      /* radius below 0: no lists */
    size_t capacity;
    gv_range sinks;
    const char *periodic; /* side of the box, or file; NULL: not given */
    int is_periodic, is_ewald, cells;
    double split, cut; /* of the periodic force between mesh and tree: in cells, and in splits */
    const char *mesh;
    int writers; /* 1: all ranks write the file */
    unsigned char given[GV_MAX_OPTIONS];
} gv_force_options;

typedef struct gv_force_job {
    const gv_force_options *opts;
    gv_particles particles;
    int order;
    gravel_precision precision;
    size_t first, count; /* sinks */
    gv_ranks *ranks;     /* of mpirun; NULL: none */
    int computed;        /* all ranks know that forces were found */

    gravel_context *context; /* not with the reference */
    gravel_direct *direct;   /* the one of the method */
    /* with --devices, instead of context, direct and tree */
    gravel_several *several;
    gravel_several_tree *several_tree;
    gravel_tree *tree;
    gravel_bodies *bodies; /* with --periodic */
    double side;           /* of its box */
    gravel_mesh *mesh;
    int cells;
    gravel_fft fft;
    gravel_mesh_timings mesh_timings;
    double *radius; /* of one chunk, all the same; NULL: no lists */

    /* contents of the report */
    double start, read_s, setup_s, kernel_s, call_s, write_s;
    char configuration[512];
    gravel_origin origin;
    size_t overflow, checked, check_step;
    gravel_tree_timings tree_timings;
    gravel_tree_counts tree_counts;
    gv_force_set sample; /* results of every check_step-th sink */
    gravel_device_info device;
    char devices[1024]; /* their names, with --devices */
    gravel_several_plan plan;
    gv_force_set all; /* results of all sinks, where they go to HDF5 */
} gv_force_job;

/* Computes and writes the text, or with `stream` NULL keeps it in `all`; GRAVEL_ERR_CANCELLED after Ctrl-C.  Frees all
 * but `particles`, `sample`, which the report needs, and `all`. */
gravel_status gv_force_compute(gv_force_job *job, FILE *stream);
/* The sinks with what was kept, as a snapshot; where all ranks write it all call this, with the first one's status. */
gravel_status gv_force_write_hdf5(gv_force_job *job, gravel_status status);
/* Compares the sample with the reference and writes the JSON; frees the sample. */
gravel_status gv_force_report(gv_force_job *job, FILE *stream);

/* force_several.c */
gravel_status gv_force_several_open(gv_force_job *job);
gravel_status gv_force_several_call(gv_force_job *job, const gravel_sinks *sinks, const gv_force_set *set,
                                    size_t *overflow);
/* The tree, of all sinks of the job. */
gravel_status gv_force_several_tree_call(gv_force_job *job, const gv_force_set *set);
void gv_force_several_report(const gv_force_job *job, cJSON *root);

/* force_ranks.c */
/* What does not work over ranks; a GV_EXIT_... */
int gv_force_ranks_check(const gv_force_options *opts);
/* All ranks get what the first one has read, or its failure. */
gravel_status gv_force_ranks_read(gv_force_job *job, gravel_status status);
/* All ranks: all sinks, into `all` of the first one; a rank that writes has those of its range there. */
gravel_status gv_force_ranks_compute(gv_force_job *job);
/* 1: all ranks write the file. */
int gv_force_ranks_write(const gv_force_job *job);

/* force_periodic.c */
/* Checks the options of periodic boxes, and fills in the method; returns a GV_EXIT_... */
int gv_force_periodic_options(gv_force_options *opts);
/* Whether all bodies are in the box. */
int gv_force_periodic_bodies(gv_force_job *job);
gravel_status gv_force_periodic_open(gv_force_job *job);
void gv_force_periodic_close(gv_force_job *job);
gravel_status gv_force_periodic_call(gv_force_job *job, const gv_force_set *set);
void gv_force_periodic_report(const gv_force_job *job, const gv_force_set *truth, cJSON *root);

/* force_tree.c */
gravel_status gv_force_tree_open(gv_force_job *job);
/* All sinks of the job at once: they share the tree, and the walk is fast. */
gravel_status gv_force_tree_call(gv_force_job *job, const gv_force_set *set);
void gv_force_tree_report(const gv_force_job *job, cJSON *root);
gravel_tree_options gv_force_tree_options(const gv_force_job *job);
/* Addresses of the job's sinks, malloc'd; NULL without memory. */
uint32_t *gv_force_tree_sinks(const gv_force_job *job);

#endif
