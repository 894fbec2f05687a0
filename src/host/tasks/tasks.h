/* The inside of gravel_tasks.
 *
 *   tasks.c   life, options, queries
 *   space.c   tunables
 *   plan.c    units of work from leaves: pure functions
 *   list.c    lists: checks, transfer, order by sinks
 *   call.c    calls: kernels and their arguments, results into planes
 *   ticket.c  results for the host
 */
#ifndef GV_TASKS_H
#define GV_TASKS_H

#include "gravel/tasks.h"
#include "host/bodies/bodies.h"
#include "host/bodies/force_ticket.h"
#include "host/profile/profile.h"
#include "host/program/sort.h"
#include "kernels/shape/layout.h"
#include "kernels/tasks/layout.h"

/* ---------------------------------------------------------------- tunables */

typedef enum gv_tasks_tunable {
    GV_TA_THREADS,
    GV_TA_SPLIT,
    GV_TA_SINKS_PER_ITEM,
    GV_TA_TILE,
    GV_TA_UNROLL,
    GV_TA_LANES,
    GV_TA_RSQRT,
    GV_TA_FORM,
    GV_TA_LEVEL,
    GV_TA_SKIP,
    GV_TA_REST,
    GV_TA_COUNT
} gv_tasks_tunable;

/* `sinks` of its built-in default: the bodies of a leaf with sinks, on average. */
extern const gv_space gv_tasks_space;

/* ------------------------------------------------------------------- units */

/* What one work-group does: as kernels/tasks/evaluate.cl reads it. */
typedef struct gv_tasks_unit {
    uint32_t first, count; /* sinks */
    uint32_t list;         /* whose entries */
    uint32_t result;       /* place of the first result */
} gv_tasks_unit;

/* Sinks in full rows of a work-group. */
size_t gv_tasks_chunk(const gv_config *config);
/* Sinks that a unit has at most: full rows, and what is left of a leaf where these are few enough. */
size_t gv_tasks_most(const gv_config *config);
/* Places for sinks that a group of so many computes, in full rows and in rows of those beyond. */
typedef struct gv_tasks_places {
    double rows, rest;
} gv_tasks_places;
gv_tasks_places gv_tasks_places_of(const gv_config *config, size_t sinks);
/* Time of a leaf of so many sinks with sources in plenty; 1: that of a sink in a full row of 32. */
double gv_tasks_time(const gv_config *config, size_t sinks);
/* Units of leaves with sinks; returns their number.  unit NULL: only counts; is_sink NULL: all leaves have sinks. */
size_t gv_tasks_make_units(const gravel_leaf *leaf, size_t leaves, const uint8_t *is_sink, const gv_config *config,
                           gv_tasks_unit *unit);
/* Nodes of the table of a short range up to u = most; 0: too many. */
enum { GV_TASKS_MOST_NODES = 2 * GV_FORM_INTERVALS + 1 };
size_t gv_tasks_nodes(double most);
/* node[2 k], node[2 k + 1]: what kernels/shape/short_form.h says of node k. */
void gv_tasks_make_nodes(size_t nodes, double *node);

/* ------------------------------------------------------------------ object */

typedef enum gv_tasks_buffer {
    GV_TAB_BEGIN,       /* of each leaf in the sorted tasks */
    GV_TAB_ENTRY,       /* {first, count} of the sources of each sorted task */
    GV_TAB_ENTRY_SHIFT, /* which shift it has */
    GV_TAB_UNIT,
    GV_TAB_SHIFT, /* high and low words, in the unit of the bodies of the last call */
    GV_TAB_POSITION,
    GV_TAB_LOW,
    GV_TAB_RESULT, /* of calls without a ticket */
    GV_TAB_NODES,
    GV_TAB_COUNT
} gv_tasks_buffer;

enum { GV_TASKS_KERNELS = 48 };
typedef struct gv_tasks_kernel {
    char options[512];
    const char *name;
    cl_kernel kernel;
} gv_tasks_kernel;

typedef struct gv_tasks_ticket {
    gv_force_ticket forces;
    struct gravel_tasks *tasks;
    int potential;
} gv_tasks_ticket;

struct gravel_tasks {
    gv_worker worker;
    gravel_tasks_options options;
    gv_limits limits;
    gv_variant variant;
    gv_config config;
    gravel_origin origin; /* of the configuration */
    char *configuration;  /* what the options name; NULL: nothing */
    size_t scalar, words;
    int group; /* work-items of a group of plain kernels */

    gv_buffer buffer[GV_TAB_COUNT];
    gv_sort sort;
    gv_tasks_kernel kernel[GV_TASKS_KERNELS];
    int kernels;
    size_t nodes; /* of GV_TAB_NODES */

    int has_list;
    gravel_tasks_counts counts;
    size_t bodies; /* that the list needs */
    double shift[256][3];
    size_t shifts;       /* 0: the list has none */
    double shift_length; /* unit of GV_TAB_SHIFT; 0: not sent */
    gravel_ticket *tickets;
};

/* tasks.c */
gravel_status gv_tasks_reserve(gravel_tasks *tasks, gv_tasks_buffer which, size_t size, const char *what);
/* The kernel of kernels/<file>, made when it is first asked for. */
gravel_status gv_tasks_kernel_of(gravel_tasks *tasks, const char *file, const char *name, const char *options,
                                 cl_kernel *kernel);
/* ticket.c */
gravel_status gv_tasks_take_ticket(gravel_tasks *tasks, size_t bodies, gv_tasks_ticket **ticket);
void gv_tasks_release_tickets(gravel_tasks *tasks);

#endif
