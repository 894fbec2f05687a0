/* Sinks that are not bodies: from the caller's arrays to the planes of kernels/direct/layout.h. */
#ifndef GV_DIRECT_POINTS_H
#define GV_DIRECT_POINTS_H

#include "host/direct/object.h"

typedef struct gv_direct_points {
    const gravel_sinks *sinks;
    const gravel_frame *frame; /* of the sources */
    int order, lists;
    int by_mass;         /* radius^2 times a mass is compared */
    const double *ahead; /* the plane of times; NULL: there is none */
    const double *eps;   /* of the plane of softening lengths; NULL: there is none */
    size_t stride;       /* entries of a plane; those behind the last sink repeat it, with id -1 */
    size_t first;        /* number of the first one in messages */
} gv_direct_points;

/* Planes that the call of another gravel_direct has packed: calls on one set of sinks pack them once for all devices
 * whose groups are as large.  They last as long as the ticket of that call. */
typedef struct gv_direct_packed {
    const void *host; /* NULL: none yet */
    size_t bytes, stride;
    gravel_precision precision;
    gravel_frame frame;
    size_t first; /* number of the first sink, in messages */
} gv_direct_packed;

/* gravel_direct_start, with `packed` (may be NULL) used or filled in. */
gravel_status gv_direct_start_packed(gravel_direct *d, const gravel_direct_call *call, gv_direct_packed *packed,
                                     gravel_ticket **ticket);

/* `out`: all planes.  ERR_INPUT names the first sink that is not usable. */
gravel_status gv_direct_pack_points(const gravel_direct *d, const gv_direct_points *points, char *out);
/* Positions, velocities and accelerations beyond this (in units of the frame) have squares that overflow. */
double gv_direct_square_limit(gravel_precision precision);

#endif
