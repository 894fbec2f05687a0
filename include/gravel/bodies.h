/* gravel: bodies that live on the device.
 *
 * A gravel_bodies owns planes (one property of all bodies: mass, position, velocity, ...) on one device, in one frame.
 * Direct summation, trees and integrators work on these planes; nothing is copied to the host unless it is read.
 *
 *   gravel_bodies_create(&bodies, context, &options);
 *   gravel_bodies_resize(bodies, n);
 *   gravel_bodies_write(bodies, GRAVEL_POSITION, 0, n, &GRAVEL_ARRAY_SOA(x, y, z));
 *   gravel_bodies_write(bodies, GRAVEL_MASS, 0, n, &GRAVEL_ARRAY(m));
 *   ... gravel_direct_start, gravel_tree_walk (gravel.h, tree.h) with views of the bodies ...
 *   gravel_bodies_read(bodies, GRAVEL_ACCELERATION, 0, n, &GRAVEL_ARRAY_OUT_SOA(ax, ay, az));
 *
 * Bodies have addresses 0 ... count - 1 and ids.  Calls on one gravel_bodies, and on solvers that use it, come from one
 * thread at a time.  Work is done in the order of the calls; only reads wait for the device.
 */
#ifndef GRAVEL_BODIES_H
#define GRAVEL_BODIES_H

#include "gravel/gravel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- planes */

/* A plane exists once it was written, or some solver stored results in it; until then it reads as zeros (ids: -1).
 * Precision of the stored numbers: positions, velocities, times and steps have that of the bodies (ds: two-floats, a
 * high and a low word, which hold times exactly to 2^-40 and beyond); all other planes have one word (float in ds). */
typedef enum gravel_plane {
    GRAVEL_MASS,
    /* 32-bit integers, -1 matches no other.  Bodies whose ids were never written get numbers of their own, their
     * addresses at first, when direct summation takes them as sources; with the first id that is written all others
     * are -1. */
    GRAVEL_ID,
    GRAVEL_POSITION,
    GRAVEL_VELOCITY,
    GRAVEL_ACCELERATION, /* derivatives are full ones: no 1/2, 1/6 */
    GRAVEL_JERK,
    GRAVEL_SNAP,
    GRAVEL_CRACKLE,
    GRAVEL_TIME,
    GRAVEL_STEP,
    GRAVEL_POTENTIAL,
    GRAVEL_SOFTENING, /* a length per body */
    GRAVEL_RADIUS,    /* of the neighbour list of a sink */
    GRAVEL_USER,      /* GRAVEL_USER + k: user plane k, one number a body, without unit */
    GRAVEL_USER_LAST = GRAVEL_USER + 7
} gravel_plane;
#define GRAVEL_PLANES (GRAVEL_USER_LAST + 1)
GRAVEL_API const char *gravel_plane_name(gravel_plane plane); /* "velocity" */
GRAVEL_API int gravel_plane_components(gravel_plane plane);   /* 3 or 1 */

/* The caller's numbers: component c of body k is at (x, y, z)[c][k * stride], a number of type `type`. */
typedef enum gravel_type { GRAVEL_F64, GRAVEL_F32, GRAVEL_I32 } gravel_type;
typedef struct gravel_array {
    const void *x, *y, *z; /* scalar planes use x only */
    size_t stride;         /* numbers from one body to the next; 0 counts as 1 */
    gravel_type type;
} gravel_array;
typedef struct gravel_array_out {
    void *x, *y, *z; /* NULL: not read */
    size_t stride;
    gravel_type type;
} gravel_array_out;
#define GRAVEL_ARRAY(p) (GRAVEL_VALUE(gravel_array){(p), NULL, NULL, 1, GRAVEL_F64})
#define GRAVEL_ARRAY_SOA(px, py, pz) (GRAVEL_VALUE(gravel_array){(px), (py), (pz), 1, GRAVEL_F64})
#define GRAVEL_ARRAY_AOS(p) (GRAVEL_VALUE(gravel_array){&(p)[0][0], &(p)[0][1], &(p)[0][2], 3, GRAVEL_F64})
#define GRAVEL_ARRAY_OUT(p) (GRAVEL_VALUE(gravel_array_out){(p), NULL, NULL, 1, GRAVEL_F64})
#define GRAVEL_ARRAY_OUT_SOA(px, py, pz) (GRAVEL_VALUE(gravel_array_out){(px), (py), (pz), 1, GRAVEL_F64})
#define GRAVEL_ARRAY_OUT_AOS(p) (GRAVEL_VALUE(gravel_array_out){&(p)[0][0], &(p)[0][1], &(p)[0][2], 3, GRAVEL_F64})

/* ---------------------------------------------------------------- bodies */

typedef struct gravel_bodies gravel_bodies;

typedef struct gravel_bodies_options {
    uint32_t size;              /* of this struct: GRAVEL_BODIES_OPTIONS_INIT or gravel_bodies_options_init */
    gravel_precision precision; /* of what is stored.  A solver of lower precision takes the high words. */
    int device;                 /* which device of the context */
    size_t capacity;            /* room for this many bodies at first; grows as needed */
} gravel_bodies_options;
#define GRAVEL_BODIES_OPTIONS_INIT                                                                                     \
    {                                                                                                                  \
        sizeof(gravel_bodies_options), GRAVEL_DS, 0, 0                                                                 \
    }
GRAVEL_API void gravel_bodies_options_init(gravel_bodies_options *options);

GRAVEL_API gravel_status gravel_bodies_create(gravel_bodies **bodies, gravel_context *context,
                                              const gravel_bodies_options *options);
GRAVEL_API void gravel_bodies_release(gravel_bodies *bodies);
GRAVEL_API size_t gravel_bodies_get_count(const gravel_bodies *bodies);
GRAVEL_API gravel_precision gravel_bodies_get_precision(const gravel_bodies *bodies);
/* Whether the plane is there. */
GRAVEL_API int gravel_bodies_has_plane(const gravel_bodies *bodies, gravel_plane plane);
/* Bytes of device memory of the planes. */
GRAVEL_API size_t gravel_bodies_get_memory(const gravel_bodies *bodies);

/* ----------------------------------------------------------------- frame */

/* What the device computes in: a position is stored as (x - origin) / length, a velocity as v / length (derivatives
 * alike), a mass as m / mass; times are as they are.  Callers see their own units only.  `length` is a power of two, so
 * that scaling is exact; `mass` is any number, the largest mass by default, so that equal masses are exactly 1. */
typedef struct gravel_frame {
    double origin[3];
    double length;
    double mass;
} gravel_frame;
/* Without this call the frame follows from the data: the first positions written set origin (the middle of their box,
 * or, where a few far away leave that far from most of them, the median of a sample) and length (the power of two at or
 * above how far they reach from it), the first masses about mass.  With planes that hold numbers already these are
 * converted on the device, rounded once to the stored precision. */
GRAVEL_API gravel_status gravel_bodies_set_frame(gravel_bodies *bodies, const gravel_frame *frame);
GRAVEL_API gravel_status gravel_bodies_get_frame(const gravel_bodies *bodies, gravel_frame *frame);
/* A frame for the bodies as they are now (from a reduction on the device): for systems that have grown or moved. */
GRAVEL_API gravel_status gravel_bodies_choose_frame(gravel_bodies *bodies, gravel_frame *frame);

/* -------------------------------------------------- in, out, and by address */

/* Bodies first ... first + count - 1 (a write beyond the last body adds bodies).  A write returns as soon as the
 * numbers are copied.  NaN, infinity and what overflows the stored precision are ERR_INPUT (which body).  A call
 * that fails so changes nothing, except that above 65536 bodies earlier blocks of 65536 are stored. */
GRAVEL_API gravel_status gravel_bodies_write(gravel_bodies *bodies, gravel_plane plane, size_t first, size_t count,
                                             const gravel_array *from);
GRAVEL_API gravel_status gravel_bodies_read(gravel_bodies *bodies, gravel_plane plane, size_t first, size_t count,
                                            const gravel_array_out *to);
/* Bodies address[0 ... count-1] in any order.  Of two entries of a scatter with one address the later wins. */
GRAVEL_API gravel_status gravel_bodies_scatter(gravel_bodies *bodies, gravel_plane plane, const uint32_t *address,
                                               size_t count, const gravel_array *from);
GRAVEL_API gravel_status gravel_bodies_gather(gravel_bodies *bodies, gravel_plane plane, const uint32_t *address,
                                              size_t count, const gravel_array_out *to);
/* Several planes of the same bodies in one transfer, which saves latency in short steps.  `address` NULL: bodies first
 * ... first + count - 1, else those of the list (`first` is ignored). */
GRAVEL_API gravel_status gravel_bodies_update(gravel_bodies *bodies, const uint32_t *address, size_t first,
                                              size_t count, int n_planes, const gravel_plane *plane,
                                              const gravel_array *from);
/* The same as a value, for calls of solvers that begin with an update (gravel/direct.h). */
typedef struct gravel_changes {
    const uint32_t *address;
    size_t first, count;
    int n_planes;
    const gravel_plane *plane;
    const gravel_array *from;
} gravel_changes;
/* All bodies of a plane get this number (all components of a vector). */
GRAVEL_API gravel_status gravel_bodies_fill(gravel_bodies *bodies, gravel_plane plane, double value);

/* ------------------------------------------------- number and order of bodies */

/* More bodies: massless, at the frame's origin, id -1.  Fewer: the last ones are removed. */
GRAVEL_API gravel_status gravel_bodies_resize(gravel_bodies *bodies, size_t count);
/* Removes the bodies of the list (each at most once); the others keep their order and close the gaps. */
GRAVEL_API gravel_status gravel_bodies_remove(gravel_bodies *bodies, const uint32_t *address, size_t count);
/* All planes into the order of a space-filling key: neighbours in space become neighbours in memory. */
GRAVEL_API gravel_status gravel_bodies_order_by_key(gravel_bodies *bodies);
/* Where bodies are since the last call of gravel_bodies_mark (or since they were created): body k was at from[k]
 * (GRAVEL_NONE: it is new), and the one that was at k is at to[k] (GRAVEL_NONE: it is gone).  Either may be NULL; from
 * has room for as many bodies as there are, `to` for as many as there were.  *before: how many there were. */
GRAVEL_API gravel_status gravel_bodies_get_permutation(gravel_bodies *bodies, uint32_t *from, uint32_t *to,
                                                       size_t *before);
GRAVEL_API void gravel_bodies_mark(gravel_bodies *bodies);

/* ------------------------------------------------------------------ state */

/* Everything that the bodies hold, bit for bit: planes with all their words, ids, frame, order; not what
 * gravel_bodies_mark remembers.  A run that is stopped and goes on from such a state, on the same device with the same
 * configurations, gives the same bits.  `state` has room for gravel_bodies_get_state_size bytes; it is for the same
 * byte order and version of gravel.  Both calls wait for the device. */
GRAVEL_API size_t gravel_bodies_get_state_size(const gravel_bodies *bodies);
GRAVEL_API gravel_status gravel_bodies_save(gravel_bodies *bodies, void *state);
/* Into bodies of the same precision, whatever they hold; what is no such state is refused before anything changes. */
GRAVEL_API gravel_status gravel_bodies_restore(gravel_bodies *bodies, const void *state, size_t size);

/* ----------------------------------------------------------------- steps */

/* Velocities += kick x accelerations, then positions += drift x velocities, of all bodies; a half of length 0 is left
 * out.  Two of them and a force make a leapfrog step. */
GRAVEL_API gravel_status gravel_bodies_advance(gravel_bodies *bodies, double kick, double drift);

/* ----------------------------------------------------------------- views */

/* A list of addresses on the device: active bodies of a step.  Addresses are in the order they were given. */
typedef struct gravel_list gravel_list;
GRAVEL_API gravel_status gravel_list_create(gravel_list **list, gravel_context *context, int device);
GRAVEL_API void gravel_list_release(gravel_list *list);
GRAVEL_API gravel_status gravel_list_write(gravel_list *list, const uint32_t *address, size_t count);
GRAVEL_API gravel_status gravel_list_read(gravel_list *list, uint32_t *address);
GRAVEL_API size_t gravel_list_get_count(const gravel_list *list);

/* Some bodies.  A view holds references only: bodies and list must exist as long as it is used. */
typedef enum gravel_view_kind { GRAVEL_VIEW_ALL, GRAVEL_VIEW_RANGE, GRAVEL_VIEW_LIST } gravel_view_kind;
typedef struct gravel_view {
    gravel_bodies *bodies;
    gravel_view_kind kind;
    size_t first, count;     /* of a range */
    const gravel_list *list; /* of a list */
} gravel_view;
GRAVEL_API gravel_view gravel_view_all(gravel_bodies *bodies);
GRAVEL_API gravel_view gravel_view_range(gravel_bodies *bodies, size_t first, size_t count);
GRAVEL_API gravel_view gravel_view_list(gravel_bodies *bodies, const gravel_list *list);
GRAVEL_API size_t gravel_view_get_count(const gravel_view *view);

#ifdef __cplusplus
}
#endif
#endif
