/* gravel: direct summation on several devices of one machine as if they were one.
 *
 * A gravel_several holds sources in host memory and their shares on each of its devices.  A call sends the sinks to all
 * devices, each finds the forces of its share, and the host adds the shares up in double, in the order of the devices:
 * the same devices and the same calls give the same bits.  Calls that are too small for all devices use fewer of them,
 * or the host itself, by times that are measured once for these devices (in about a second) and kept in the cache
 * folder: so the decisions are the same from run to run.  With `correct_times` kept times that turn out wrong while
 * calls are made are corrected, which changes decisions and the last bits of later results.
 *
 *   gravel_several_create(&several, &options);
 *   gravel_several_scatter_sources(several, address, &sources);   any order, as often as wanted
 *   gravel_several_set_time(several, t);
 *   gravel_several_submit(several, &call);                        sinks are copied; one call at a time
 *   gravel_several_collect(several, &forces, &overflow);
 *
 * Sources written after a submit are seen by the next submit, whether the call was collected or not.  A call that was
 * not collected is dropped by the next submit.  Where a device failed in a call, the next one sends all sources anew.
 * An object serves one thread at a time; different objects are independent, also on the same devices.
 */
#ifndef GRAVEL_SEVERAL_H
#define GRAVEL_SEVERAL_H

#include "gravel/direct.h"
#include "gravel/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gravel_several gravel_several;

/* How sources are dealt out. */
typedef enum gravel_deal {
    GRAVEL_DEAL_SPEED, /* in proportion to measured speed */
    GRAVEL_DEAL_EVEN   /* the same number to each device */
} gravel_deal;

typedef struct gravel_several_options {
    uint32_t size;
    /* As in gravel_context_options.device, of any platforms: "0,2", "gpu", "cpu:1,cpu:1", or "all".  NULL: the
     * environment variable GRAVEL_DEVICES, then GRAVEL_DEVICE, else the best device. */
    const char *devices;
    const gravel_context_options *context; /* folders, log, no_fp64; its `device` is not looked at.  NULL: defaults */
    gravel_precision precision;
    gravel_deal deal;
    int all_devices; /* 1: calls use all devices; 0: the fastest 1, 2, 4, ... where that is measured to be faster */
    gravel_host_answers host;
    const char *configuration; /* as in gravel_direct_options */
    /* 0: decisions follow from kept times that nothing corrects: the same bits from run to run.  1: in up to 2 % of
     * their time, calls are answered by another beside, too; where that was 1.25 times as fast twice, it answers calls
     * of about this size from then on, and a line goes to the log (info). */
    int correct_times;
} gravel_several_options;
#define GRAVEL_SEVERAL_OPTIONS_INIT                                                                                    \
    {                                                                                                                  \
        sizeof(gravel_several_options), NULL, NULL, GRAVEL_DS, GRAVEL_DEAL_SPEED, 0, GRAVEL_HOST_WHERE_FASTER, NULL, 0 \
    }
GRAVEL_API void gravel_several_options_init(gravel_several_options *options);

GRAVEL_API gravel_status gravel_several_create(gravel_several **several, const gravel_several_options *options);
GRAVEL_API void gravel_several_release(gravel_several *several);
GRAVEL_API int gravel_several_get_device_count(const gravel_several *several);
GRAVEL_API const gravel_device_info *gravel_several_get_device(const gravel_several *several, int device);

/* Sources by address, as gravel_direct_write_sources and gravel_direct_scatter_sources take them: members that are
 * NULL count as zero (id NULL: the address).  The numbers are copied; they reach the devices with the next submit, all
 * updates since the last one together. */
GRAVEL_API gravel_status gravel_several_write_sources(gravel_several *several, size_t first,
                                                      const gravel_sources *sources);
GRAVEL_API gravel_status gravel_several_scatter_sources(gravel_several *several, const uint32_t *address,
                                                        const gravel_sources *sources);
/* A softening length per source, for the kinds of softening that need it; addresses never given have 0. */
GRAVEL_API gravel_status gravel_several_write_softening(gravel_several *several, size_t first, size_t count,
                                                        const double *eps);
/* Quadrupoles (direct.h) per source, for calls with quadrupoles; addresses never given have 0. */
GRAVEL_API gravel_status gravel_several_write_quadrupoles(gravel_several *several, size_t first, size_t count,
                                                          const double (*q)[6]);
/* Calls of GRAVEL_SHAPE_TABLE from now on use this table, on all devices. */
GRAVEL_API gravel_status gravel_several_set_table(gravel_several *several, const gravel_table *table);
/* Forces come from addresses 0 ... count-1; without this call from all that were ever written.  0 is legal. */
GRAVEL_API gravel_status gravel_several_set_source_count(gravel_several *several, size_t count);
/* Sources are predicted to this time, also those written later, until gravel_several_set_no_time. */
GRAVEL_API gravel_status gravel_several_set_time(gravel_several *several, double time);
GRAVEL_API void gravel_several_set_no_time(gravel_several *several);
/* How many sources the memory of the devices takes, where all of them share the sources. */
GRAVEL_API size_t gravel_several_get_capacity(const gravel_several *several);

typedef struct gravel_several_call {
    uint32_t size;
    const gravel_sinks *sinks;
    int order;  /* 2, 4 or 6 */
    double eps; /* of GRAVEL_SOFTEN_EPS */
    gravel_soften soften;
    const double *sink_eps; /* per sink, for the kinds of softening that need it */
    int nearest;            /* 1: nearest neighbours */
    int neighbour_capacity; /* > 0: neighbour lists of at most so many entries, in all devices together */
    /* Lists by another rule, forces without the neighbours (direct.h); the host answers no such call. */
    gravel_neighbour_rule rule;
    const double *ahead;
    int leave_out;
    /* Forces that are not Plummer's, sources with quadrupoles (direct.h); the host answers no such call either. */
    gravel_shape shape;
    double r_s, r_cut;
    int level;
    int quadrupoles;
} gravel_several_call;
#define GRAVEL_SEVERAL_CALL_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(gravel_several_call), NULL, 4, 0, GRAVEL_SOFTEN_EPS, NULL, 0, 0, GRAVEL_NEIGHBOURS_OTHERS, NULL, 0,     \
            GRAVEL_SHAPE_PLUMMER, 0, 0, -1, 0                                                                          \
    }
GRAVEL_API void gravel_several_call_init(gravel_several_call *call);

GRAVEL_API gravel_status gravel_several_submit(gravel_several *several, const gravel_several_call *call);
/* The last call once more, on the sources that it saw, with other features: neighbour lists that are asked for after
 * the forces. */
GRAVEL_API gravel_status gravel_several_again(gravel_several *several, int order, int nearest, int neighbour_capacity);
/* Waits and writes the results of the last submit; may be called again, unless it failed.  What the call did not
 * compute is ERR_ARGUMENT.  No sources: zeros, and no neighbours. */
GRAVEL_API gravel_status gravel_several_collect(gravel_several *several, const gravel_forces *forces, size_t *overflow);
/* Compiles and allocates what such calls of up to so many sinks and sources need. */
GRAVEL_API gravel_status gravel_several_prepare(gravel_several *several, const gravel_several_call *call, size_t sinks,
                                                size_t sources);

/* Sources as a submit now would see them: predicted on the host, in double.  Members that are NULL are not written. */
typedef struct gravel_sources_out {
    double *mass;
    int32_t *id;
    gravel_vec_out pos, vel, acc, jerk;
    double *softening;
} gravel_sources_out;
GRAVEL_API gravel_status gravel_several_read_predicted(gravel_several *several, size_t first, size_t count,
                                                       const gravel_sources_out *to);
/* ... and as they were written, whatever time is set. */
GRAVEL_API gravel_status gravel_several_read_sources(gravel_several *several, size_t first, size_t count,
                                                     const gravel_sources_out *to);

/* Who answers a call of so many sinks and sources. */
typedef struct gravel_several_plan {
    int host;           /* 1: the host, no device */
    int devices;        /* how many, the first of `device` */
    int device[16];     /* in the order in which their shares are added */
    double share[16];   /* of the sources */
    double predicted_s; /* time of a call by the stored measurement */
} gravel_several_plan;
GRAVEL_API gravel_status gravel_several_get_plan(gravel_several *several, const gravel_several_call *call, size_t sinks,
                                                 size_t sources, gravel_several_plan *plan);

/* ------------------------------------------------------------- tree code */

/* Every device has all bodies and a tree of its own; the sinks are cut along the space-filling curve into one stretch
 * for each, by the work that the stretches of the call before turned out to be (at first: as many sinks for each) and
 * the speeds of unlike devices.  The same calls give the same bits.  Conventions are those of gravel_tree (tree.h). */
typedef struct gravel_several_tree gravel_several_tree;

typedef struct gravel_several_tree_options {
    uint32_t size;
    const char *devices;                   /* as in gravel_several_options */
    const gravel_context_options *context; /* likewise */
    const gravel_tree_options *tree;       /* its `device` is not looked at; NULL: defaults */
    int all_devices;                       /* 1: all walk in each call, not those that were measured to be faster */
} gravel_several_tree_options;
#define GRAVEL_SEVERAL_TREE_OPTIONS_INIT                                                                               \
    {                                                                                                                  \
        sizeof(gravel_several_tree_options), NULL, NULL, NULL, 0                                                       \
    }
GRAVEL_API void gravel_several_tree_options_init(gravel_several_tree_options *options);
GRAVEL_API gravel_status gravel_several_tree_create(gravel_several_tree **tree,
                                                    const gravel_several_tree_options *options);
GRAVEL_API void gravel_several_tree_release(gravel_several_tree *tree);
GRAVEL_API int gravel_several_tree_get_device_count(const gravel_several_tree *tree);
GRAVEL_API const gravel_device_info *gravel_several_tree_get_device(const gravel_several_tree *tree, int device);
/* As gravel_tree_write, gravel_tree_forces and gravel_tree_forces_active. */
GRAVEL_API gravel_status gravel_several_tree_write(gravel_several_tree *tree, const gravel_sources *bodies);
GRAVEL_API gravel_status gravel_several_tree_forces(gravel_several_tree *tree, double eps, const gravel_forces *forces);
GRAVEL_API gravel_status gravel_several_tree_forces_active(gravel_several_tree *tree, const uint32_t *address,
                                                           size_t count, double eps, const gravel_forces *forces);
/* How many sinks the device had in the last call. */
GRAVEL_API size_t gravel_several_tree_get_sinks(const gravel_several_tree *tree, int device);

/* ------------------------------------------------------------- integrators */

/* Forces of an integrator (hermite.h, leapfrog.h) by several devices.  Bodies, solver or tree and integrator are of the
 * first device of the list.  The others have copies of the bodies, which get what has changed before a call that is
 * shared: after block steps the bodies that moved.  Each device finds the forces on some of the sinks, of a tree on a
 * stretch of the space-filling curve, and they go into the planes as the words that the devices hold: so nothing is
 * added up, and the same devices and steps give the same bits.  Devices may differ: only the first one moves bodies.
 *
 *   gravel_several_share_create(&share, &options);
 *   context = gravel_several_share_get_context(share);              bodies, solver and tree on its device 0
 *   hermite_options.forces = gravel_several_share_forces;           of a leapfrog, too; forces_alike = 1
 *   leapfrog_options.walk = gravel_several_share_walk;              of a tree
 *   hermite_options.forces_user = share;                            of a leapfrog walk_user
 *   ... gravel_hermite_create, gravel_hermite_start, gravel_hermite_step ...
 *
 * Blocks of direct sums go to the fastest 1, 2, 4, ... devices, by times of such blocks that are measured once for
 * these devices (in about a second) and kept in the cache folder.  A walk is shared where it has so many sinks that the
 * work of the others is worth sending them all positions, by a measurement in the first walk, kept likewise.  The share
 * is released after the integrator, and belongs to one integrator at a time. */
typedef struct gravel_several_share gravel_several_share;

typedef struct gravel_several_share_options {
    uint32_t size;
    const char *devices;                   /* as in gravel_several_options */
    const gravel_context_options *context; /* likewise */
    gravel_precision precision;            /* of direct sums */
    int all_devices;                       /* 1: all devices work on each call */
    const char *configuration;             /* of direct sums, as in gravel_direct_options */
    const gravel_tree_options *tree;       /* those of the tree; its `device` is not looked at */
} gravel_several_share_options;
#define GRAVEL_SEVERAL_SHARE_OPTIONS_INIT                                                                              \
    {                                                                                                                  \
        sizeof(gravel_several_share_options), NULL, NULL, GRAVEL_DS, 0, NULL, NULL                                     \
    }
GRAVEL_API void gravel_several_share_options_init(gravel_several_share_options *options);

GRAVEL_API gravel_status gravel_several_share_create(gravel_several_share **share,
                                                     const gravel_several_share_options *options);
GRAVEL_API void gravel_several_share_release(gravel_several_share *share);
/* Of the first device; it lives as long as the share. */
GRAVEL_API gravel_context *gravel_several_share_get_context(gravel_several_share *share);
GRAVEL_API int gravel_several_share_get_device_count(const gravel_several_share *share);
GRAVEL_API const gravel_device_info *gravel_several_share_get_device(const gravel_several_share *share, int device);

/* A gravel_forces_fn (hermite.h): forces into planes, on all sinks, a range or a list, from all bodies of a set;
 * other calls the first device answers. */
GRAVEL_API gravel_status gravel_several_share_forces(gravel_direct *direct, const gravel_direct_call *call,
                                                     void *share);
/* A gravel_walk_fn (leapfrog.h), likewise on all bodies or a list of them. */
GRAVEL_API gravel_status gravel_several_share_walk(gravel_tree *tree, const gravel_tree_call *call, void *share);

/* Since the share was created. */
typedef struct gravel_several_share_counts {
    uint64_t calls, shared; /* how many, how many of them by other devices too */
    uint64_t sinks[16];     /* of each device */
    double bytes;           /* that went from and to the first device */
} gravel_several_share_counts;
GRAVEL_API void gravel_several_share_get_counts(const gravel_several_share *share, gravel_several_share_counts *counts);

/* What decides the bits beside bodies and integrator, as text: measurements, configurations of the other devices'
 * solvers, stretches (as gravel_direct_get_choices, which has those of the first device).  A text of another number of
 * devices changes nothing. */
GRAVEL_API size_t gravel_several_share_get_choices(const gravel_several_share *share, char *text, size_t size);
GRAVEL_API gravel_status gravel_several_share_set_choices(gravel_several_share *share, const char *text);

#ifdef __cplusplus
}
#endif
#endif
