/* gravel: gravity on OpenCL.
 *
 * This header is the library's manual.  Conventions:
 *  - Every function that can fail returns a gravel_status (0 = GRAVEL_OK).  The sentence that says why, with the
 *    compiler's log, the sizes or the device where they matter, is gravel_error_message() of the calling thread.
 *  - The library never prints and never ends the process.
 *  - Objects are opaque, made by *_create and released by *_release (NULL is allowed there).  All that was made from a
 *    context is released before it.  An object may be released while calls that use it are under way; others that were
 *    given it (a tree its sources, an integrator its bodies) are not used after that, only released.
 *  - After a refused call (ERR_ARGUMENT, ERR_INPUT, ERR_STATE) its object is ready for the next one.
 *  - Option structs are initialised with their *_INIT macro, so that new members get their defaults.
 *  - Vectors are structure-of-arrays views with a stride: three pointers, `stride` doubles apart from one particle to
 *    the next.  stride 1 is x[], y[], z[]; an array x[n][3] is GRAVEL_VEC_AOS(x) with stride 3.
 *  - A context may be used from several threads.  An object made from it (bodies, direct, tree, ticket) serves one
 *    thread at a time.
 *
 * Units are the caller's: G = 1.  acc = sum m dr / s^3, pot = -sum m / s, s^2 = dr^2 + eps^2, dr = x_j - x_i.
 *
 * Close pairs: without softening two bodies at one place that are not the same contribute nothing to each other's
 * forces (they are neighbours at distance 0).  In sp and ds "one place" is any distance below 3e-13, in dp below
 * 1e-100, and a softening length below 1e-12 (dp: 1e-100) counts as zero; where the first sources' coordinates are
 * all below 1e-4 or one is above 1e6, these lengths are in units of the largest.  Jerk and snap of a pair so close
 * that they leave the range of the precision are not finite; acc and pot of the same sink are not touched by that.
 */
#ifndef GRAVEL_GRAVEL_H
#define GRAVEL_GRAVEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(GRAVEL_BUILD) && defined(__GNUC__)
#define GRAVEL_API __attribute__((visibility("default")))
#else
#define GRAVEL_API
#endif

/* a value of a struct, in C and in C++ */
#ifdef __cplusplus
#define GRAVEL_VALUE(type) type
#else
#define GRAVEL_VALUE(type) (type)
#endif

#define GRAVEL_VERSION_MAJOR 0
#define GRAVEL_VERSION_MINOR 2
#define GRAVEL_VERSION_PATCH 0
#define GRAVEL_VERSION "0.2.0"

/* ---------------------------------------------------------------- status */

/* code, name, what it means and what to do about it */
#define GRAVEL_STATUS_TABLE(X)                                                                                         \
    X(0, OK, "success")                                                                                                \
    X(1, ERR_ARGUMENT, "an argument is not valid")                                                                     \
    X(2, ERR_STATE, "the call does not fit the object's state")                                                        \
    X(3, ERR_MEMORY, "the host is out of memory")                                                                      \
    X(4, ERR_DEVICE_MEMORY, "the device has not enough memory")                                                        \
    X(5, ERR_NO_PLATFORM, "there is no OpenCL platform on this machine")                                               \
    X(6, ERR_NO_DEVICE, "no OpenCL device fits the selection")                                                         \
    X(7, ERR_UNSUPPORTED, "the device cannot do this")                                                                 \
    X(8, ERR_BUILD, "a kernel does not compile on this device")                                                        \
    X(9, ERR_LAUNCH, "a kernel cannot run on this device with this configuration")                                     \
    X(10, ERR_OPENCL, "an OpenCL call failed")                                                                         \
    X(11, ERR_INPUT, "the particle data is not usable")                                                                \
    X(12, ERR_FILE, "a file cannot be read or written")                                                                \
    X(13, ERR_FORMAT, "a file does not hold what it should")                                                           \
    X(14, ERR_CANCELLED, "stopped on request")                                                                         \
    X(15, ERR_INTERNAL, "an internal check failed; please report this")

typedef enum gravel_status {
#define GRAVEL_STATUS_ENUM(code, name, text) GRAVEL_##name = code,
    GRAVEL_STATUS_TABLE(GRAVEL_STATUS_ENUM)
#undef GRAVEL_STATUS_ENUM
} gravel_status;

GRAVEL_API const char *gravel_version(void);
GRAVEL_API const char *gravel_status_name(gravel_status status); /* "ERR_BUILD" */
GRAVEL_API const char *gravel_status_text(gravel_status status); /* the sentence of the table */
/* The last failure of this thread: one sentence, then possibly further lines (a compiler log).  Never NULL. */
GRAVEL_API const char *gravel_error_message(void);
/* For libraries on top of gravel: `text` becomes this thread's message; returns the status. */
GRAVEL_API gravel_status gravel_error_set(gravel_status status, const char *text);

/* --------------------------------------------------------------- devices */

typedef enum gravel_device_type {
    GRAVEL_DEVICE_CPU = 1,
    GRAVEL_DEVICE_GPU,
    GRAVEL_DEVICE_ACCELERATOR
} gravel_device_type;

#define GRAVEL_NAME_SIZE 256

typedef struct gravel_device_info {
    int index; /* position in gravel_device_list, what --device takes */
    gravel_device_type type;
    char name[GRAVEL_NAME_SIZE];
    char vendor[GRAVEL_NAME_SIZE];
    char platform[GRAVEL_NAME_SIZE];
    char driver[GRAVEL_NAME_SIZE];
    char opencl[GRAVEL_NAME_SIZE]; /* "OpenCL 3.0 ..." */
    int compute_units;
    int max_group; /* largest work-group */
    int clock_mhz; /* as reported by the driver; 0 = unknown */
    int has_fp64;  /* 1 if double works in kernels */
    int has_subgroups;
    int host_memory;      /* 1 if the device shares the host's memory */
    int simd_width_float; /* lanes one work-item drives: 16 on an AVX-512 CPU, 1 on GPUs */
    int simd_width_double;
    uint64_t global_memory;  /* bytes */
    uint64_t max_allocation; /* bytes */
    uint64_t local_memory;   /* bytes per work-group */
} gravel_device_info;

/* All devices of all platforms, in a stable order.  No platform at all is ERR_NO_PLATFORM (the message says what to
 * install).  The list is the caller's: gravel_device_list_free. */
GRAVEL_API gravel_status gravel_device_list(gravel_device_info **list, int *count);
GRAVEL_API void gravel_device_list_free(gravel_device_info *list);

/* -------------------------------------------------------------- contexts */

typedef enum gravel_log_level { GRAVEL_LOG_DEBUG, GRAVEL_LOG_INFO, GRAVEL_LOG_WARNING } gravel_log_level;
typedef void (*gravel_log_fn)(gravel_log_level level, const char *message, void *user);

typedef struct gravel_context gravel_context;

typedef struct gravel_context_options {
    uint32_t size; /* of this struct, as in all option structs: set by the INIT macro or the init function */
    /* Which device or devices: an index ("1"), part of a name ("H200"), a type ("gpu", "cpu"), or several of these
     * joined by commas (devices of one platform).  "cpu:4" is a sub-device of 4 compute units.  NULL: the environment
     * variable GRAVEL_DEVICE, else the best device (GPU before accelerator before CPU). */
    const char *device;
    const char *kernel_dir;  /* kernels from this folder, not the embedded ones; NULL: GRAVEL_KERNEL_DIR, else none */
    const char *cache_dir;   /* compiled programs; NULL: GRAVEL_CACHE_DIR, else XDG cache; "" : no cache */
    const char *profile_dir; /* the user's profiles; NULL: GRAVEL_PROFILE_DIR, else XDG data */
    int no_fp64;             /* 1: behave as if the device had no double (tests) */
    gravel_log_fn log;       /* NULL: nothing is logged */
    void *log_user;
} gravel_context_options;
#define GRAVEL_CONTEXT_OPTIONS_INIT                                                                                    \
    {                                                                                                                  \
        sizeof(gravel_context_options), NULL, NULL, NULL, NULL, 0, NULL, NULL                                          \
    }

GRAVEL_API void gravel_context_options_init(gravel_context_options *options);
GRAVEL_API gravel_status gravel_context_create(gravel_context **context, const gravel_context_options *options);
GRAVEL_API void gravel_context_release(gravel_context *context);
GRAVEL_API int gravel_context_get_device_count(const gravel_context *context);
GRAVEL_API const gravel_device_info *gravel_context_get_device(const gravel_context *context, int device);

/* Whether work from now on is timed on the device; off at first, since it makes short calls slower (by some 15 us on
 * GPUs).  Waits for what is under way. */
GRAVEL_API gravel_status gravel_context_set_timing(gravel_context *context, int device, int on);

/* What a device was measured to do; rates are per second over the whole device. */
typedef struct gravel_device_facts {
    double fma_sp, fma_dp; /* lane FMA instructions (two flops each); dp 0 without fp64 */
    double rsqrt_sp;       /* fast reciprocal square roots */
    double copy_bytes;     /* bytes read + written */
    double launch_s;       /* one empty kernel, enqueue to finished */
} gravel_device_facts;

/* Measures in about a second.  With `stored` != 0 an earlier result of this device and driver in the cache directory is
 * taken where there is one, and a new one is put there. */
GRAVEL_API gravel_status gravel_context_measure(gravel_context *context, int device, int stored,
                                                gravel_device_facts *facts);

/* ------------------------------------------------------------- particles */

typedef struct gravel_vec {
    const double *x, *y, *z;
    size_t stride; /* doubles from one particle to the next; 0 counts as 1 */
} gravel_vec;
#define GRAVEL_VEC_SOA(px, py, pz) (GRAVEL_VALUE(gravel_vec){(px), (py), (pz), 1})
#define GRAVEL_VEC_AOS(p) (GRAVEL_VALUE(gravel_vec){&(p)[0][0], &(p)[0][1], &(p)[0][2], 3})

typedef struct gravel_vec_out {
    double *x, *y, *z;
    size_t stride;
} gravel_vec_out;
#define GRAVEL_VEC_OUT_SOA(px, py, pz) (GRAVEL_VALUE(gravel_vec_out){(px), (py), (pz), 1})
#define GRAVEL_VEC_OUT_AOS(p) (GRAVEL_VALUE(gravel_vec_out){&(p)[0][0], &(p)[0][1], &(p)[0][2], 3})

/* Sources.  Members that are NULL count as zero; `id` NULL gives every source its address as id.  Strides, here and
 * below, are in numbers of the array's type; 0 counts as 1. */
typedef struct gravel_sources {
    size_t count;
    const double *mass;
    const int32_t *id;
    gravel_vec pos, vel, acc, jerk, snap, crackle; /* full derivatives: no 1/2, 1/6 */
    const double *time;                            /* of these values, for the prediction */
    size_t mass_stride, id_stride;
} gravel_sources;

/* Sinks.  `id` NULL: matches no source, nothing is excluded.  id -1 matches nothing either. */
typedef struct gravel_sinks {
    size_t count;
    const int32_t *id;
    gravel_vec pos, vel, acc; /* vel from order 4, acc from order 6 */
    const double *radius;     /* neighbour lists: sources at distance <= radius; NULL: radius 0, empty lists */
    size_t id_stride;
} gravel_sinks;

/* Where results go.  Members that are NULL are not written. */
typedef struct gravel_forces {
    gravel_vec_out acc, jerk, snap;
    double *pot;
    int32_t *nearest_id;         /* -1 where there is none */
    uint32_t *nearest_address;   /* GRAVEL_NONE where there is none; of two at one distance the lower address */
    double *nearest_distance;    /* unsoftened; infinity where there is none */
    uint32_t *neighbour_count;   /* true count, also where it is above the capacity */
    int32_t *neighbour_id;       /* [count][capacity], ascending address, the first `capacity` of them */
    uint32_t *neighbour_address; /* the same as addresses */
    size_t pot_stride;
} gravel_forces;
#define GRAVEL_NONE UINT32_MAX

/* --------------------------------------------------------------- tickets */

/* A call that was submitted.  Calls are worked on in the order they were submitted; tickets are waited for, collected
 * and released in any order, from the thread that uses the object they came from. */
typedef struct gravel_ticket gravel_ticket;
GRAVEL_API gravel_status gravel_ticket_get_ready(gravel_ticket *ticket, int *ready); /* does not wait */
GRAVEL_API gravel_status gravel_ticket_wait(gravel_ticket *ticket);
/* Waits and writes the results; what was not computed by the call is ERR_ARGUMENT and nothing is written.  `overflow`
 * (may be NULL) counts sinks with more neighbours than the capacity. */
GRAVEL_API gravel_status gravel_ticket_collect(gravel_ticket *ticket, const gravel_forces *forces, size_t *overflow);
/* Results that were not collected are dropped; where they go to the host, this waits for them.  NULL is allowed. */
GRAVEL_API void gravel_ticket_release(gravel_ticket *ticket);

/* ------------------------------------------------------ direct summation */

typedef enum gravel_precision { GRAVEL_SP, GRAVEL_DS, GRAVEL_DP } gravel_precision;
GRAVEL_API const char *gravel_precision_name(gravel_precision precision); /* "sp", "ds", "dp" */

/* When the host answers itself: a call of few sinks and few sources is faster there than a launch. */
typedef enum gravel_host_answers {
    GRAVEL_HOST_WHERE_FASTER, /* as measured */
    GRAVEL_HOST_NEVER,
    GRAVEL_HOST_ALWAYS
} gravel_host_answers;

typedef struct gravel_direct gravel_direct;

typedef struct gravel_direct_options {
    uint32_t size;
    int order;                  /* 2: acc, pot; 4: + jerk; 6: + snap */
    gravel_precision precision; /* sp: float; ds: positions and sums as two-floats; dp: double */
    int nearest;                /* 1: find the nearest neighbour of each sink */
    int neighbour_capacity;     /* > 0: neighbour lists of at most this many entries */
    int prediction;             /* 1: sources carry time and derivatives and are predicted by gravel_direct_set_time */
    int device;                 /* which device of the context */
    /* Tunables as "name=value name=value"; those not named come from the profile or the built-in default. NULL: none */
    const char *configuration;
} gravel_direct_options;
#define GRAVEL_DIRECT_OPTIONS_INIT                                                                                     \
    {                                                                                                                  \
        sizeof(gravel_direct_options), 2, GRAVEL_SP, 0, 0, 0, 0, NULL                                                  \
    }

GRAVEL_API void gravel_direct_options_init(gravel_direct_options *options);
GRAVEL_API gravel_status gravel_direct_create(gravel_direct **direct, gravel_context *context,
                                              const gravel_direct_options *options);
GRAVEL_API void gravel_direct_release(gravel_direct *direct);

/* Sources stay on the device until they are replaced.  `write` fills addresses first ... first+count-1; `scatter`
 * fills the given addresses in any order (of two entries with one address the later wins).  Both return as soon as
 * the data is copied; a call already submitted does not see it.  NaN and infinity are ERR_INPUT (which particle); such
 * a call changes nothing except that above 65536 entries earlier blocks of 65536 are stored.  An address below the
 * highest one written that was itself never written is a massless source at the origin with id -1. */
GRAVEL_API gravel_status gravel_direct_write_sources(gravel_direct *direct, size_t first,
                                                     const gravel_sources *sources);
GRAVEL_API gravel_status gravel_direct_scatter_sources(gravel_direct *direct, const uint32_t *address,
                                                       const gravel_sources *sources);
/* Forces come from addresses 0 ... count-1; without this call from all that were ever written. */
GRAVEL_API gravel_status gravel_direct_set_source_count(gravel_direct *direct, size_t count);
/* Sources are predicted to time t before the next force; those written later are predicted to it as well. */
GRAVEL_API gravel_status gravel_direct_set_time(gravel_direct *direct, double t);
/* The sources as the force kernel sees them (predicted, rounded to the precision). */
GRAVEL_API gravel_status gravel_direct_read_sources(gravel_direct *direct, size_t first, size_t count, double *mass,
                                                    int32_t *id, gravel_vec_out pos, gravel_vec_out vel,
                                                    gravel_vec_out acc);

/* Starts the forces on the sinks and returns; the sinks are copied.  A call that was not collected is dropped.  For
 * views of bodies, and several calls in flight: direct.h. */
GRAVEL_API gravel_status gravel_direct_submit(gravel_direct *direct, const gravel_sinks *sinks, double eps);
/* Waits and writes the results; what the options do not compute is ERR_ARGUMENT and nothing is written.
 * `overflow` (may be NULL) counts sinks with more neighbours than the capacity. */
GRAVEL_API gravel_status gravel_direct_collect(gravel_direct *direct, const gravel_forces *forces, size_t *overflow);
/* Whether calls from now on are timed on the device (gravel_context_set_timing); off at first, since it makes short
 * calls slower (by some 15 us on GPUs). */
GRAVEL_API gravel_status gravel_direct_set_timing(gravel_direct *direct, int on);
/* Device time of the last call collected, which must have been timed: prediction, force and reduction kernels. */
GRAVEL_API gravel_status gravel_direct_get_kernel_time(gravel_direct *direct, double *seconds);

typedef enum gravel_origin {
    GRAVEL_ORIGIN_CALLER,  /* named in the options */
    GRAVEL_ORIGIN_USER,    /* the user's profile of this device */
    GRAVEL_ORIGIN_SHIPPED, /* a shipped profile of this device */
    GRAVEL_ORIGIN_FAMILY,  /* of a device of the same family, nearest in compute units */
    GRAVEL_ORIGIN_VENDOR_TYPE,
    GRAVEL_ORIGIN_TYPE,
    GRAVEL_ORIGIN_BUILT_IN
} gravel_origin;
GRAVEL_API const char *gravel_origin_name(gravel_origin origin);

/* The configuration that a call of the options with this many sinks would use ("threads=128 ..."), and where it is
 * from; for as many sources as are written, or as the last call had, softened by eps or as the last call was, and sinks
 * whose ids are in order if those of the sources are. */
GRAVEL_API gravel_status gravel_direct_get_configuration(gravel_direct *direct, size_t sinks, char *text, size_t size,
                                                         gravel_origin *origin);

#ifdef __cplusplus
}
#endif
#endif
