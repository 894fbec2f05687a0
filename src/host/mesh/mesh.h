/* The inside of gravel_mesh.
 *
 *   mesh.c       life, options, kernels, queries
 *   plan.c       numbers of waves, sizes: pure functions
 *   density.c    sources to waves of their density
 *   forces.c     calls: waves to forces at sinks
 *   ticket.c     results of calls, until the caller has them
 *   times.c      stages of a call
 *   prepare.c    what calls need: kernels, room for bodies
 *   waves.c      the bodies' own waves, without a mesh
 *   pairs.c      direct sums with a table of Ewald's correction, without a mesh
 *   fft.c        which FFT, and whether it is right;  fft_host.c, fft_device.c: the two of them
 */
#ifndef GV_MESH_H
#define GV_MESH_H

#include "gravel/mesh.h"
#include "host/bodies/bodies.h"
#include "host/bodies/force_ticket.h"
#include "host/mesh/fft.h"
#include "host/program/sort.h"
#include "kernels/mesh/layout.h"

typedef enum gv_mesh_stage {
    GV_MS_SORT,
    GV_MS_ASSIGN,
    GV_MS_FFT,
    GV_MS_GREEN,
    GV_MS_INTERPOLATE,
    GV_MS_COUNT
} gv_mesh_stage;

typedef enum gv_mesh_kernel {
    GV_MK_ARRANGE,
    GV_MK_STARTS,
    GV_MK_EDGES,
    GV_MK_DENSE,
    GV_MK_ASSIGN,
    GV_MK_ASSIGN_ROWS,
    GV_MK_GREEN,
    GV_MK_ISOLATED,
    GV_MK_TAKE,
    GV_MK_GRADIENT,
    GV_MK_WAVES_SUM,
    GV_MK_WAVES_JOIN,
    GV_MK_WAVES_FIELD,
    GV_MK_PAIRS,
    GV_MK_PLACES,                               /* + gravel_precision of the planes */
    GV_MK_STORE = GV_MK_PLACES + GRAVEL_DP + 1, /* the same */
    GV_MK_COUNT = GV_MK_STORE + GRAVEL_DP + 1
} gv_mesh_kernel;

typedef enum gv_mesh_buffer {
    GV_MB_DENSITY,  /* of the sources, then its waves */
    GV_MB_WORK,     /* waves of a field, then the field */
    GV_MB_WAVES,    /* table of kernels/mesh/green.cl, or of pairs.cl */
    GV_MB_ISOLATED, /* transform of a potential without images */
    GV_MB_RAW,      /* places of sources as they come, then sums of runs of sorted ones */
    GV_MB_SORTED,   /* sources by cell */
    GV_MB_START,    /* where those of each row of cells, or of each line of one, begin */
    GV_MB_CELL,     /* cells and places of sinks that are not the sources */
    GV_MB_PLACE,
    GV_MB_RESULT, /* of calls without a ticket */
    GV_MB_COUNT
} gv_mesh_buffer;

/* Commands of a stage; calls of interlaced meshes have 28 such runs of commands. */
enum { GV_MESH_SPANS = 32 };
typedef struct gv_mesh_span {
    gv_mesh_stage stage;
    cl_event from, to;
} gv_mesh_span;

typedef struct gv_mesh_ticket {
    gv_force_ticket forces;
    gravel_mesh *mesh;
} gv_mesh_ticket;

struct gravel_mesh {
    gv_worker worker;
    gravel_mesh_options options;
    size_t scalar, row; /* bytes of a number; numbers of a row */
    int own;
    size_t group; /* work-items of a group */
    int by_rows;  /* masses are assigned row by row: for devices whose work-items are few and fast */

    cl_kernel kernel[GV_MK_COUNT];
    gv_buffer buffer[GV_MB_COUNT];
    gv_sort sort;
    gv_fft *fft;

    gravel_view view; /* bodies NULL: none yet */
    gv_selection sources;
    gravel_frame frame; /* of the sources when they were assigned */
    int is_assigned;    /* GV_MB_DENSITY holds waves of the sources as they were at these versions */
    uint64_t position, mass, order, list;

    const gv_buffer *result; /* of the call that is submitted: its ticket's, or GV_MB_RESULT */
    gravel_ticket *tickets;

    int is_timed; /* the last call was, by these */
    int spans;
    gv_mesh_span span[GV_MESH_SPANS];
};

/* mesh.c */
gravel_status gv_mesh_reserve(gravel_mesh *mesh, gv_mesh_buffer which, size_t size, const char *what);
gravel_status gv_mesh_need_kernel(gravel_mesh *mesh, int kernel); /* makes it where it is not there yet */
gravel_status gv_mesh_launch_list(gravel_mesh *mesh, int kernel, gv_range range, size_t n_args, const gv_arg *arg);
#define gv_mesh_launch(mesh, kernel, range, ...)                                                                       \
    gv_mesh_launch_list(mesh, kernel, range, sizeof((const gv_arg[]){__VA_ARGS__}) / sizeof(gv_arg),                   \
                        (const gv_arg[]){__VA_ARGS__})
#define GV_MESH_REAL(mesh, v) GV_REAL((mesh)->options.precision, v)
/* Cells and places of bodies, in a mesh that is displaced by this part of a cell. */
gravel_status gv_mesh_places(gravel_mesh *mesh, const gv_selection *bodies, double displaced, cl_mem cell, cl_mem index,
                             cl_mem place);

/* times.c: where the device is timed, the commands between begin and end belong to the stage. */
void gv_mesh_clear_times(gravel_mesh *mesh);
void gv_mesh_begin(gravel_mesh *mesh, gv_mesh_stage stage);
void gv_mesh_end(gravel_mesh *mesh);

/* prepare.c: room for so many bodies */
gravel_status gv_mesh_reserve_sources(gravel_mesh *mesh, size_t count);
gravel_status gv_mesh_reserve_sinks(gravel_mesh *mesh, size_t count);
size_t gv_mesh_starts(const gravel_mesh *mesh);           /* numbers in GV_MB_START */
size_t gv_mesh_wave_parts(size_t sources, size_t *share); /* of a sum over waves, and how many bodies each has */

/* forces.c */
gravel_status gv_mesh_take_call(const gravel_mesh *mesh, const gravel_mesh_call *call, gravel_mesh_call *taken);

/* ticket.c */
/* With room for results that go to the host. */
gravel_status gv_mesh_take_ticket(gravel_mesh *mesh, size_t sinks, int on_host, gv_mesh_ticket **ticket);
void gv_mesh_release_tickets(gravel_mesh *mesh);

/* plan.c */
gravel_status gv_mesh_check_options(const gravel_mesh_options *options);
/* The table of kernels/mesh/green.cl: GV_WAVE_VECTORS * 4 numbers a wave, n / 2 + 1 waves. */
/* Cells at the end of a mesh without images that stay empty. */
int gv_mesh_margin(const gravel_mesh_options *options);
void gv_mesh_waves(const gravel_mesh_options *options, double *table);

/* waves.c: the same of the bodies' own waves; the field at sinks, into mesh->result. */
gravel_status gv_waves_density(gravel_mesh *mesh);
gravel_status gv_waves_field(gravel_mesh *mesh, size_t count, cl_mem cell, cl_mem place, double own);

/* pairs.c: the table; places of the sources; forces on sinks, into mesh->result */
gravel_status gv_pairs_start(gravel_mesh *mesh);
gravel_status gv_pairs_places(gravel_mesh *mesh);
gravel_status gv_pairs_forces(gravel_mesh *mesh, const gv_selection *sinks, cl_mem cell, cl_mem place);

/* forces.c: accelerations and potentials of all bodies of a view, into their GV_WORD_FAR. */
gravel_status gv_mesh_far(gravel_mesh *mesh, const gravel_view *sinks);

/* density.c: waves of the density in GV_MB_DENSITY, of a mesh displaced by this part of a cell. */
gravel_status gv_mesh_density(gravel_mesh *mesh, double displaced);

#endif
