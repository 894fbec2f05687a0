/* The inside of gravel_tree, shared by tree.c (life, programs, launches), tree_bodies.c (data in and out), tree_build.c
 * and tree_walk.c. */
#ifndef GV_TREE_H
#define GV_TREE_H

#include "host/context.h"
#include "host/tree_plan.h"

enum { GV_TREE_LEVELS = 22, GV_TREE_GROUP_VECTORS = 3 };
enum { GV_TREE_USUAL_BODIES = 1000000 }; /* before the bodies are known */

typedef enum gv_stage {
    GV_STAGE_KEYS,
    GV_STAGE_SORT,
    GV_STAGE_BUILD,
    GV_STAGE_MOMENTS,
    GV_STAGE_GROUPS,
    GV_STAGE_WALK,
    GV_STAGE_COUNT
} gv_stage;

typedef struct gv_buffer {
    cl_mem mem;
    size_t size;
} gv_buffer;

/* First and last kernel of a stage; their event times bound it. */
typedef struct gv_span {
    cl_event first, last;
} gv_span;

/* keys and places of a set of points, and what sorting them needs */
typedef struct gv_order {
    gv_buffer key[2], index[2], table, total;
    int sorted; /* which of the two holds the result */
} gv_order;

struct gravel_tree {
    gravel_context *context;
    int device;
    cl_command_queue queue;
    gravel_tree_options options;
    gv_variant variant;
    gv_limits limits;
    gv_config config;
    char *named; /* the caller's configuration, or NULL */
    gravel_origin origin;
    size_t scalar; /* bytes of one scalar on the device */
    size_t words;  /* of one number: 2 in ds, where positions and results are pairs */

    cl_kernel bounds, keys, gather, sort_count, sort_scatter, scan_rows, heads, emit, moments, groups, split;
    cl_kernel compact_count, compact_write, walk[2]; /* walk: softened, unsoftened */
    cl_kernel walk_count, walk_list;                 /* NULL where the walk has one pass */
    gv_tree_plan plan;

    /* box units: device position = (user's - origin) / length, mass = user's / mass_unit */
    double origin_at[3], length, mass_unit;
    size_t n;
    int moved, built;              /* moved: positions are newer than the cells; built: cells are there */
    gv_buffer body, body_low, body_sorted, body_sorted_low, bounds_part, bounds_out;
    gv_order order;
    gv_buffer head, table, level_total, link, cell, boxes;
    size_t cell_capacity;
    uint32_t levels[GV_TREE_LEVELS]; /* cells per level, as read back */
    cl_event levels_event;

    /* sinks and results of a call */
    gv_buffer force, group, counts, points, points_low, points_force, flag, list, count_table, count_total,
        wide, wide_list, walk_table, walk_total, walk_lists;
    gv_order point_order;
    size_t n_groups, n_places, n_sinks; /* places: groups, and room for the parts of wide ones */
    int has_last;                  /* `force` holds accelerations of all bodies, for the criterion `last` */
    enum { GV_SINKS_NONE, GV_SINKS_ALL, GV_SINKS_ACTIVE, GV_SINKS_POINTS } sinks_are;
    uint32_t *active;              /* addresses of an active subset, for reading results */
    gv_span stage[GV_STAGE_COUNT];
};

typedef struct gv_arg {
    size_t size;
    const void *value;
} gv_arg;
#define GV_ARG(x) ((gv_arg){sizeof(x), &(x)})

/* tree.c */
/* Kernels of the configuration for n bodies; what was built before must be built anew. */
gravel_status gv_tree_configure(gravel_tree *tree, size_t n);
gravel_status gv_tree_reserve(gravel_tree *tree, gv_buffer *buffer, size_t size, const char *what);
/* Sets all arguments and starts `groups` work-groups of `group` work-items; the event goes to the stage. */
gravel_status gv_tree_launch(gravel_tree *tree, gv_stage stage, cl_kernel kernel, size_t groups, size_t group,
                             int n_args, const gv_arg *arg);
void gv_tree_clear_stage(gravel_tree *tree, gv_stage stage);
/* A real number as the kernels take it: `hold` is 8 bytes of room. */
gv_arg gv_tree_real(const gravel_tree *tree, double value, void *hold);

/* tree_build.c */
/* Keys of n points within the bodies' bounds, sorted. */
gravel_status gv_tree_order(gravel_tree *tree, gv_order *order, cl_mem points, size_t n, gv_stage keys, gv_stage sort);
gravel_status gv_tree_build(gravel_tree *tree);
gravel_status gv_tree_moments(gravel_tree *tree);
/* Bodies gathered anew in the order of the last build, then moments. */
gravel_status gv_tree_refit(gravel_tree *tree);
/* Waits for the sizes; *grown = 1 if the cells did not fit and have room now. */
gravel_status gv_tree_check_cells(gravel_tree *tree, int *grown);

/* tree_bodies.c */
gravel_status gv_tree_check_positions(const gravel_vec *pos, size_t n, const char *what);
gravel_status gv_tree_upload(gravel_tree *tree, const gravel_vec *pos, const double *mass, size_t n, const char *what,
                             gv_buffer *to, gv_buffer *low);
gravel_status gv_tree_download(gravel_tree *tree, const gravel_forces *forces);

#endif
