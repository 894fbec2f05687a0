/* Who moves blocks, as a pure function of times and of how long the bodies' steps are. */
#ifndef GV_STEP_HOST_PLAN_H
#define GV_STEP_HOST_PLAN_H

#include <stddef.h>

#include "gravel/hermite.h"

/* Seconds; of b bodies: one + (b - 1) each. */
typedef struct gv_line {
    double one, each;
} gv_line;

typedef struct gv_host_costs {
    gv_line host;   /* a block of b bodies that the host moves */
    gv_line device; /* that the device moves, all of whose blocks are its own */
    gv_line carry;  /* what a device's block takes more when the host moves others: of b bodies of its own and of those
                     * that the host has moved since the device's last one, together */
} gv_host_costs;
_Static_assert(sizeof(gv_host_costs) == sizeof(((gravel_hermite_state *)NULL)->host_costs), "they are the state's");

/* The number of bodies up to which the host should move blocks: 0 to n.  steps[k]: bodies whose step is 2^-k of some
 * longest one, k < levels; `now` is what holds, and is kept where another would not save a twentieth: each change moves
 * all bodies between host and device.  `shared`: all blocks are of all bodies. */
size_t gv_host_plan(const gv_host_costs *costs, const size_t *steps, int levels, size_t now, int shared);

#endif
