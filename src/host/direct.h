/* The inside of gravel_direct, shared by direct.c (life, programs), direct_sources.c and direct_force.c. */
#ifndef GV_DIRECT_H
#define GV_DIRECT_H

#include "host/context.h"
#include "host/direct_plan.h"
#include "host/profile.h"

/* Pinned host memory with a buffer behind it where the driver wants that for fast transfers. */
typedef struct gv_staging {
    cl_mem pinned;
    void *host;
    size_t size;
    cl_event busy; /* the last transfer that reads or writes it; NULL: free */
} gv_staging;

/* The programs of one set of macros. */
typedef struct gv_direct_kernel {
    char options[640];
    cl_kernel force;
} gv_direct_kernel;

typedef struct gv_direct_choice {
    int known;
    gv_config config;
    gravel_origin origin;
} gv_direct_choice;

enum { GV_DIRECT_KERNELS = 48, GV_DIRECT_EVENTS = 4 };

/* a submitted pair */
typedef struct gv_direct_pair {
    int pending; /* submitted, not collected */
    int timed;
    size_t sinks, result_stride;
    cl_event event[GV_DIRECT_EVENTS]; /* kernels: prediction, force, reduction, lists */
    int32_t *ids;                     /* of the sources at submission, if they changed since */
} gv_direct_pair;

/* the kernels of a pair; those of the last one can be launched again */
typedef struct gv_direct_launch {
    cl_kernel force;
    const gv_config *config;
    gv_direct_plan plan;
    size_t sinks, result_stride; /* sinks 0: there was no pair */
    double eps;
} gv_direct_launch;

struct gravel_direct {
    gravel_context *context;
    int device;
    cl_command_queue queue; /* the device's quick one, or with timing the one that profiles */
    gravel_direct_options options;
    gv_variant variant;
    gv_limits limits;
    gv_direct_layout layout;
    gv_config named;           /* options.configuration over the built-in default */
    int is_named;
    gv_direct_choice choice[2][GV_SINK_BUCKETS][GV_SOURCE_BUCKETS]; /* [unsoftened] */

    gv_direct_kernel kernel[GV_DIRECT_KERNELS];
    int n_kernels;
    cl_kernel reduce, join, scatter, predict;

    /* sources */
    size_t capacity, written, count; /* count: sources that pull; written: highest address + 1 */
    int count_is_set;
    double mass_unit;                  /* what masses on the device are counted in; 0: no mass yet */
    double length_unit;                /* the same of lengths and their derivatives; a power of two; 0: no source yet */
    cl_mem planes, id, time;           /* as written */
    cl_mem predicted;                  /* with prediction */
    cl_mem force_plane[4];             /* sub-buffers for the force kernel */
    int32_t *host_id;
    uint32_t *stamp;                   /* last entry of a batch that wrote an address */
    int time_is_set, stale;            /* stale: predict before the next force */
    double t;
    gv_staging upload[2];
    int next_upload;
    cl_mem batch;
    size_t batch_size;

    /* a call */
    gv_staging sink_staging, result_staging;
    cl_mem sinks, partial, result, part_count, part_list, count_out, list_out;
    size_t sinks_size, partial_size, result_size, part_count_size, part_list_size, count_size, list_size;
    gv_direct_pair pair;
    gv_direct_launch launch;
    double kernel_seconds; /* negative: the last pair was not timed */
};

/* direct.c */
/* Makes `*buffer` at least `size` bytes; contents are lost. */
gravel_status gv_direct_reserve(gravel_direct *d, cl_mem *buffer, size_t *have, size_t size, const char *what);
gravel_status gv_staging_reserve(gravel_direct *d, gv_staging *s, size_t size);
gravel_status gv_staging_wait(gv_staging *s);
void gv_staging_free(gravel_direct *d, gv_staging *s);
gravel_status gv_direct_choose(gravel_direct *d, size_t sinks, int unsoftened, const gv_direct_choice **choice);
gravel_status gv_direct_force_kernel(gravel_direct *d, const gv_config *config, int unsoftened, cl_kernel *kernel);

/* direct_sources.c */
size_t gv_direct_source_count(const gravel_direct *d);
gravel_status gv_direct_predict(gravel_direct *d, cl_event *event);
void gv_direct_free_sources(gravel_direct *d);

/* direct_pack.c: caller's doubles to the device's scalars.  Each returns the first bad particle or SIZE_MAX. */
typedef struct gv_pack {
    gravel_precision precision;
    double limit; /* |value| above it, NaN and infinity are bad; of what is stored, after the factors */
    double factor, w_factor;
} gv_pack;
/* out[4 k + 0..2] = vec factor, out[4 k + 3] = w w_factor (0 where w is NULL); `low`: the rounding rest of the float
 * conversion */
size_t gv_pack_quads(gv_pack how, void *out, size_t n, gravel_vec vec, const double *w, int low);
/* three planes of `stride` scalars; entries n ... stride-1 repeat the last one */
size_t gv_pack_planes(gv_pack how, void *out, size_t n, size_t stride, gravel_vec vec, int low);
size_t gv_pack_times(gv_pack how, void *out, size_t n, const double *time);
gravel_status gv_pack_failure(const char *kind, const char *member, size_t particle, const gravel_vec *vec,
                              const double *scalar, gv_pack how);
/* Positions, velocities and accelerations beyond this (on the device) have squares that overflow. */
double gv_square_limit(gravel_precision precision);
/* Units of mass and length on the device, from the first sources that have any. */
void gv_direct_choose_units(gravel_direct *d, const gravel_sources *s);
/* How vectors are packed: `rank` 0 position, 1 velocity, ... */
gv_pack gv_pack_vectors(const gravel_direct *d, int rank);

/* direct_force.c */
void gv_direct_drop_pair(gravel_direct *d);
/* Runs the kernels of the last pair again, `runs` times in a row (host/row.h): mean seconds of one run. */
gravel_status gv_direct_row(gravel_direct *d, int runs, double *seconds);

#endif
