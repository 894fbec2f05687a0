/* gravel: periodic forces from a mesh.
 *
 * Bodies in a box of side L repeat with the period L, on a uniform background that makes the mean density 0.  A
 * gravel_mesh assigns the masses of a view of bodies (the sources) to N^3 mesh points, solves Poisson's equation with
 * an FFT, and interpolates forces and potentials to bodies (the sinks).  All of it is done on the device, but the FFT
 * of CPUs, which is the host's.  No sum depends on chance: the same call gives the same bits.
 *
 *   gravel_mesh_options options = GRAVEL_MESH_OPTIONS_INIT;
 *   options.side = 100;  options.cells = 128;  options.split = 1.25 * 100 / 128;
 *   gravel_mesh_create(&mesh, context, &options);
 *   gravel_mesh_set_sources(mesh, &all);
 *   gravel_mesh_forces(mesh, &all, GRAVEL_INTO_PLANES, NULL);              long-range part, replaced
 *   ... gravel_tree_walk with options.split, GRAVEL_INTO_ADD: the short-range part (tree.h) ...
 *
 * The same object sums over the bodies' own waves (`waves`), or over all pairs (`table`), without a mesh.
 *
 * With a splitting length r_s the potential of a mass is -m erf(r / 2 r_s) / r, which is exp(-k^2 r_s^2) in waves: what
 * is missing, -m erfc(r / 2 r_s) / r, is the short range.  Without it (r_s = 0) the mesh gives the whole force, as well
 * as its cells resolve it.  doc/periodic.md has errors and how to choose.
 */
#ifndef GRAVEL_MESH_H
#define GRAVEL_MESH_H

#include "gravel/direct.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gravel_mesh gravel_mesh;

/* How a mass is shared out: to so many points along each axis. */
typedef enum gravel_assignment {
    GRAVEL_NGP = 1, /* nearest mesh point */
    GRAVEL_CIC = 2, /* cloud in cell */
    GRAVEL_TSC = 3, /* triangular shaped cloud */
    GRAVEL_PCS = 4  /* piecewise cubic spline */
} gravel_assignment;
GRAVEL_API const char *gravel_assignment_name(gravel_assignment assignment); /* "ngp", "cic", "tsc", "pcs" */

/* Forces from potentials. */
typedef enum gravel_gradient {
    GRAVEL_SPECTRAL, /* in waves: three more transforms, the most exact */
    GRAVEL_TWO_POINT,
    GRAVEL_FOUR_POINT
} gravel_gradient;
GRAVEL_API const char *gravel_gradient_name(gravel_gradient gradient); /* "spectral", "two-point", "four-point" */

typedef enum gravel_fft {
    GRAVEL_FFT_AUTO,   /* on CPUs the host's; else the device's, where it is built in */
    GRAVEL_FFT_DEVICE, /* VkFFT */
    GRAVEL_FFT_HOST    /* on mapped memory: works everywhere, but on GPUs the mesh travels to the host and back */
} gravel_fft;
GRAVEL_API const char *gravel_fft_name(gravel_fft fft); /* "auto", "device", "host" */

typedef struct gravel_mesh_options {
    uint32_t size; /* of this struct */
    double side;   /* L; the box is [0, L)^3 */
    int cells;     /* of a side: 4 to 1024, a product of 2, 3, 5 and 7 */
    gravel_assignment assignment;
    gravel_gradient gradient;
    int interlaced;             /* 1: the mean of two meshes half a cell apart: twice the work, smaller errors */
    double split;               /* r_s, a length; 0: the whole force */
    gravel_precision precision; /* sp or dp, of the mesh; bodies may have any */
    int device;                 /* which device of the context */
    gravel_fft fft;
    /* Above 0: no mesh.  Ewald's sum over the bodies' own waves, up to so many a side of the box (32 at most): exact
     * but for the waves beyond, whose part is erfc(2 pi waves r_s / L).  Work: (sources + sinks) times 2 waves^3;
     * `split` is needed, and what else describes a mesh is not looked at. */
    int waves;
    /* Above 0: no mesh.  The whole force by direct sums over all pairs: the nearest image of a source with softening,
     * all others by Ewald's correction from a table of so many nodes along half a side (4 to 128; 32 is good to 1e-5 of
     * a pair's force).  `split` is 0, and what else describes a mesh is not looked at. */
    int table;
    double eps; /* with a table: softening length of Plummer's shape, or of the spline with support 2.8 eps */
    int spline;
    /* 1: the bodies have no images.  The mesh is doubled along each axis and what is beyond the box left empty (8 times
     * the memory and time, and a third mesh); all bodies must be in [0, L)^3, `split` is needed, cells are 512 at most,
     * and some 4 + 5 r_s of them are a margin. */
    int isolated;
} gravel_mesh_options;
#define GRAVEL_MESH_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(gravel_mesh_options), 1, 64, GRAVEL_PCS, GRAVEL_SPECTRAL, 0, 0, GRAVEL_SP, 0, GRAVEL_FFT_AUTO, 0, 0, 0, \
            0, 0                                                                                                       \
    }
GRAVEL_API void gravel_mesh_options_init(gravel_mesh_options *options);

/* Plans: the transform is checked against a direct sum of some modes.  Bad options are ERR_ARGUMENT with the reason;
 * more memory than the device has is ERR_DEVICE_MEMORY (the message says how many cells would fit); GRAVEL_FFT_DEVICE
 * without an FFT library in this build, or with one that is wrong on the device, is ERR_UNSUPPORTED. */
GRAVEL_API gravel_status gravel_mesh_create(gravel_mesh **mesh, gravel_context *context,
                                            const gravel_mesh_options *options);
GRAVEL_API void gravel_mesh_release(gravel_mesh *mesh);

/* From now on these bodies act.  They, and the view's list, must exist as long as the mesh is used.  Bodies beyond the
 * box are where their images are. */
GRAVEL_API gravel_status gravel_mesh_set_sources(gravel_mesh *mesh, const gravel_view *sources);

/* Accelerations and potentials of all bodies of a view.  GRAVEL_INTO_PLANES (with GRAVEL_INTO_ADD: added to what is
 * there) and GRAVEL_INTO_HOST (`forces`, acc and pot; waits) may be combined.  Sources that have moved are assigned
 * anew.  A sink that is a source is in its own potential; with a split length gravel_mesh_set_own leaves that out. */
GRAVEL_API gravel_status gravel_mesh_forces(gravel_mesh *mesh, const gravel_view *sinks, unsigned into,
                                            const gravel_forces *forces);
typedef struct gravel_mesh_call {
    uint32_t size; /* of this struct */
    gravel_view sinks;
    unsigned into; /* GRAVEL_INTO_...; 0: GRAVEL_INTO_HOST */
} gravel_mesh_call;
#define GRAVEL_MESH_CALL_INIT                                                                                          \
    {                                                                                                                  \
        sizeof(gravel_mesh_call), {NULL, GRAVEL_VIEW_ALL, 0, 0, NULL}, 0                                               \
    }
GRAVEL_API void gravel_mesh_call_init(gravel_mesh_call *call);

/* The same forces, bit for bit, without waiting for them: several calls may be in flight.  `ticket` NULL: the call is
 * not waited for (results in planes only); tickets are released before their mesh.  Where the FFT is the host's and the
 * device cannot run functions of the host as commands (CL_EXEC_NATIVE_KERNEL; CPUs can), this waits inside. */
GRAVEL_API gravel_status gravel_mesh_start(gravel_mesh *mesh, const gravel_mesh_call *call, gravel_ticket **ticket);
/* Compiles and allocates what such calls of up to so many sources and sinks will need, the results of one ticket among
 * it; the sources must be set. */
GRAVEL_API gravel_status gravel_mesh_prepare(gravel_mesh *mesh, const gravel_mesh_call *call, size_t sources,
                                             size_t sinks);
/* 1: sinks are among the sources, and their own m / (sqrt(pi) r_s) is left out of their potentials (0 at first). */
GRAVEL_API gravel_status gravel_mesh_set_own(gravel_mesh *mesh, int own);

/* ------------------------------------------------------------------- queries */

/* The FFT in use: GRAVEL_FFT_DEVICE or GRAVEL_FFT_HOST. */
GRAVEL_API gravel_fft gravel_mesh_get_fft(const gravel_mesh *mesh);
/* Bytes of device memory. */
GRAVEL_API size_t gravel_mesh_get_memory(const gravel_mesh *mesh);

/* Times of the last forces, in seconds; ERR_STATE unless the device is timed (gravel_context_set_timing).  Waits for
 * them to end. */
typedef struct gravel_mesh_timings {
    double sort, assign, fft, green, interpolate;
    double total; /* their sum */
} gravel_mesh_timings;
GRAVEL_API gravel_status gravel_mesh_get_timings(gravel_mesh *mesh, gravel_mesh_timings *timings);

#ifdef __cplusplus
}
#endif
#endif
