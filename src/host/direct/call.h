/* One call of direct summation. */
#ifndef GV_DIRECT_CALL_H
#define GV_DIRECT_CALL_H

#include "host/direct/shape.h"
#include "host/direct/take.h"
#include "host/direct/ticket.h"

/* gravel_direct_start without a ticket, with the configuration for `chosen_for` sinks.  With `due` (may be NULL) the
 * view of the sinks is the sources', all bodies, which are predicted; the solver has their precision, there are no
 * searches, and one softening length holds for all. */
gravel_status gv_direct_start_for(gravel_direct *d, const gravel_direct_call *call, size_t chosen_for,
                                  const gv_direct_due *due);

/* A call in preparation: checked (check.c), planned (call.c), started (start.c). */
typedef struct gv_direct_job {
    gravel_direct_call asked; /* with the options of the object in place of 0 and -1 */
    gv_selection sources, sinks;
    gv_held held;             /* changed bodies of the sources that no kernel has put yet */
    const gv_direct_due *due; /* or NULL */
    gv_direct_cuts *cuts;     /* with `due` */
    size_t chosen_for;        /* the configuration is that for so many sinks; 0: for those there are */
    size_t count;             /* of sinks */
    double eps;               /* in the frame of the sources */
    int variant;
    int mixed;     /* ids are in no order (gv_are_mixed) */
    unsigned more; /* features beyond those of the variant: no softening, `due`, a rule of neighbour lists */
    gv_direct_layout layout;
    gv_direct_choice *choice;
    gv_direct_choice roomy; /* `choice` with less in it, where sources have quadrupoles */
    gv_direct_shaping shape;
    cl_kernel force;
    int is_single; /* one block of sources, results to the host only: the force kernel's results are final */
    gv_direct_plan plan;
    gv_direct_sources from;
    cl_mem points;                   /* planes of the sinks */
    struct gv_direct_packed *packed; /* by another device, or for others; or NULL */
    gv_direct_few few;
    gv_direct_ticket *ticket;
    int is_predicted; /* gv_direct_start_predicted */
} gv_direct_job;

/* check.c: `c` from the caller's call. */
gravel_status gv_direct_check(gravel_direct *d, const gravel_direct_call *asked, gv_direct_job *c);

/* check.c: after the plan of a call whose neighbour lists have no room in so many bytes. */
gravel_status gv_direct_lists_too_large(const gravel_direct *d, const gv_direct_job *c, size_t list_bytes);

/* due.c: the plan of a call with `due`, whose configuration is chosen. */
gravel_status gv_direct_plan_due(gravel_direct *d, gv_direct_job *c, size_t sources);

/* start.c: the kernels, in this order. */
gravel_status gv_direct_start_force(gravel_direct *d, gv_direct_job *c);
gravel_status gv_direct_start_reduce(gravel_direct *d, gv_direct_job *c);
gravel_status gv_direct_start_join(gravel_direct *d, gv_direct_job *c);

#endif
