/* The inside of gravel_tree.
 *
 *   tree.c     life, configuration, kernels, queries
 *   sources.c  the source view: whether the tree is up to date
 *   build.c    keys, sort, octree, moments
 *   sinks.c    sinks in key order, in the frame of the tree
 *   groups.c   groups of sinks
 *   walk.c     calls and walks
 *   ticket.c   their results
 *   prepare.c  everything compiled and allocated ahead
 *   cells.c    cells, order and counts, read back
 *   own.c      the calls on host arrays
 *   essential.c, essential_boxes.c, essential_cut.c, essential_join.c
 *              parts of trees that travel
 */
#ifndef GV_TREE_H
#define GV_TREE_H

#include "host/bodies/bodies.h"
#include "host/bodies/force_ticket.h"
#include "host/program/sort.h"
#include "host/tree/plan.h"

enum { GV_TREE_USUAL_BODIES = 1000000 }; /* before the bodies are known */
#define GV_SPLINE_SUPPORT 2.8            /* h / eps */

typedef enum gv_stage {
    GV_STAGE_KEYS,
    GV_STAGE_SORT,
    GV_STAGE_BUILD,
    GV_STAGE_MOMENTS,
    GV_STAGE_GROUPS,
    GV_STAGE_WALK,
    GV_STAGE_COUNT
} gv_stage;

typedef enum gv_tree_kernel {
    GV_TK_BOUNDS,
    GV_TK_SCAN,
    GV_TK_COMPACT_COUNT,
    GV_TK_COMPACT_WRITE,
    GV_TK_KEYS,
    GV_TK_HEADS,
    GV_TK_EMIT,
    GV_TK_MOMENTS,
    GV_TK_LEAVES, /* these two where the device has fences between work-groups */
    GV_TK_CLIMB,
    GV_TK_GROUPS,
    GV_TK_SPLIT,
    GV_TK_TURN,
    GV_TK_INVERSE,
    GV_TK_PLACES,
    GV_TK_RANK,
    GV_TK_PICK,
    GV_TK_CUBE,
    GV_TK_RUNS,
    GV_TK_BOXES,
    GV_TK_CHOOSE,
    GV_TK_TAKE,
    GV_TK_FACTORS,
    GV_TK_MARK,
    GV_TK_COUNT_PARTS,
    GV_TK_PACK,
    GV_TK_PLACE,
    GV_TK_WALK,                             /* + gv_tree_kind */
    GV_TK_FEW = GV_TK_WALK + GV_TREE_KINDS, /* + GV_TREE_KINDS x number of the shape + gv_tree_kind */
    GV_TK_SOFTEN = GV_TK_FEW + GV_TREE_SHAPES * GV_TREE_KINDS, /* + gv_tree_kind */
    GV_TK_GATHER = GV_TK_SOFTEN + GV_TREE_KINDS,               /* + gravel_precision of the planes, as those below */
    GV_TK_GATHER_SOFT = GV_TK_GATHER + GRAVEL_DP + 1,
    GV_TK_GATHER_LAST = GV_TK_GATHER_SOFT + GRAVEL_DP + 1,
    GV_TK_STORE = GV_TK_GATHER_LAST + GRAVEL_DP + 1,
    GV_TK_COST = GV_TK_STORE + GRAVEL_DP + 1,
    GV_TK_DENSITY = GV_TK_COST + GRAVEL_DP + 1,
    GV_TK_COUNT = GV_TK_DENSITY + GRAVEL_DP + 1
} gv_tree_kernel;

/* Of the sources.  *_LOW hold low words, in ds only. */
typedef enum gv_tree_buffer {
    GV_TB_VIEW, /* copy of the view's bodies where kernels cannot read them in place */
    GV_TB_VIEW_LOW,
    GV_TB_BODY, /* in key order */
    GV_TB_BODY_LOW,
    GV_TB_BODY_SOFT,
    GV_TB_BOUNDS_PART,
    GV_TB_BOUNDS,
    GV_TB_HEAD,
    GV_TB_TABLE,
    GV_TB_LEVEL_TOTAL,
    GV_TB_LINK,
    GV_TB_CLIMB, /* parents of cells, and children made so far */
    GV_TB_CELL,
    GV_TB_BOXES,
    GV_TB_CELL_SOFT,
    GV_TB_CELL_MOMENT,
    GV_TB_INVERSE, /* place in key order of each body */
    GV_TB_COUNT
} gv_tree_buffer;

/* Of sinks and their groups. */
typedef enum gv_sink_buffer {
    GV_SB_RAW, /* sinks in the order of their view */
    GV_SB_RAW_LOW,
    GV_SB_POINTS, /* in the order of the walk */
    GV_SB_POINTS_LOW,
    GV_SB_PLACE,
    GV_SB_SELF,
    GV_SB_SOFT,
    GV_SB_LAST,
    GV_SB_GROUP,
    GV_SB_WIDE,
    GV_SB_WIDE_LIST,
    GV_SB_COUNT_TABLE,
    GV_SB_COUNT_TOTAL,
    GV_SB_COUNTS,
    GV_SB_TURNED_POINTS, /* points and groups in the frame of another tree */
    GV_SB_TURNED_LOW,
    GV_SB_TURNED_GROUP,
    GV_SB_COUNT
} gv_sink_buffer;

/* Boxes around bodies of several trees (groups.cl); those from `mine` to mine_end - 1 are of the own one. */
typedef struct gv_runs_around {
    cl_mem mem; /* NULL: none */
    size_t count, mine, mine_end;
} gv_runs_around;

/* Sinks in the order of the walk, and their groups. */
struct gravel_groups {
    gravel_tree *tree;       /* they were made with */
    gv_selection sinks;      /* bodies NULL: points of space */
    uint64_t order, moved;   /* versions of the sinks' bodies */
    const gravel_list *list; /* of their view, or NULL, and its version */
    uint64_t list_version;
    uint64_t build;     /* of the tree, that `self` is for */
    gravel_frame frame; /* of the points and groups */
    size_t n;
    cl_mem points, points_low, index, self; /* index: number of the sink; self: its place among the sources, or NULL */
    cl_mem others; /* cells of other trees in the same frame that estimates look at too, or NULL */
    gv_runs_around around;
    gravel_tree *walker; /* the tree that gives their counts, or NULL */
    int own;             /* GV_OWN_... */
    gv_tree_cut cut;
    gv_buffer buffer[GV_SB_COUNT];
    gv_sort keys, places;
};

typedef struct gv_tree_ticket gv_tree_ticket;

struct gravel_tree {
    gv_worker worker;
    gravel_tree_options options;
    gv_variant variant;
    gv_limits limits;
    gv_config config;
    char *named; /* the caller's configuration, or NULL */
    gravel_origin origin;
    size_t scalar; /* bytes of one scalar on the device */
    size_t words;  /* of one number: 2 in ds, where positions and results are two-floats */

    gv_tree_plan plan;
    cl_kernel kernel[GV_TK_COUNT];
    gv_buffer buffer[GV_TB_COUNT];
    gv_sort order; /* keys of the bodies, and their numbers in the view */

    /* the view as it was built */
    gravel_view view; /* bodies NULL: none yet */
    gv_selection sources;
    gravel_frame frame;
    uint64_t moved_version, mass_version, order_version, list_version, soft_version;
    size_t n;
    int built;
    int is_torn;  /* a refit failed: bodies and moments may be of different positions */
    int in_frame; /* its cells are those of the frame's cube, where that holds all bodies: one of several parts */
    int softened; /* kind that GV_TB_CELL_SOFT is for; 0: none */
    int widened;  /* openings of cells have grown with the softening of their bodies */
    int has_inverse;
    cl_mem body, body_low; /* bodies in the order of the view, as keys are found from them */

    size_t cell_capacity, known_cells, known_n; /* known: of the last build whose sizes have come in */
    size_t emitted;                             /* bodies of the build whose sizes are being read */
    uint32_t levels[GV_LEVELS];                 /* cells per level, as read back */
    cl_event levels_event;                      /* being read, into pinned memory first: */
    cl_mem levels_pinned;
    uint32_t *levels_coming;
    uint64_t build, bad_build; /* number of the last build, and of the last whose cells did not fit */
    int unseen;                /* results in planes came from the last build, whose sizes were not checked yet */

    gravel_groups sinks;    /* of calls without groups of their own */
    gravel_groups *walked;  /* whose counts are those of the last walk; NULL: there are none */
    gv_buffer result;       /* of calls whose results go to planes only */
    gv_slots slots;         /* points being sent */
    gv_slot counts;         /* host side: what gravel_tree_get_counts reads */
    gravel_ticket *tickets; /* all there are */

    gravel_bodies *own; /* of the calls on host arrays */
    gravel_list *active;
    gravel_ticket *last; /* of the last forces */
    int has_last;        /* the sources' planes hold accelerations, for the criterion `last` */
};

/* tree.c */
/* Configuration and plan for n bodies; kernels of another one are dropped. */
gravel_status gv_tree_configure(gravel_tree *tree, size_t n);
/* Opening angle from the next build on. */
void gv_tree_set_theta(gravel_tree *tree, double theta);
gravel_status gv_tree_reserve(gravel_tree *tree, gv_buffer *buffer, size_t size, const char *what);
/* Starts a kernel, which is compiled if it is not there yet. */
gravel_status gv_tree_launch_list(gravel_tree *tree, gv_stage stage, int kernel, gv_range range, size_t n_args,
                                  const gv_arg *arg);
#define gv_tree_launch(tree, stage, kernel, range, ...)                                                                \
    gv_tree_launch_list(tree, stage, kernel, range, sizeof((const gv_arg[]){__VA_ARGS__}) / sizeof(gv_arg),            \
                        (const gv_arg[]){__VA_ARGS__})
gravel_status gv_tree_get_kernel(gravel_tree *tree, int kernel, cl_kernel *out);
/* gv_tree_cut_of, but without shapes for few sinks that have come out wrong here, with this softening or another. */
gv_tree_cut gv_tree_cut_right(gravel_tree *tree, gv_tree_kind kind, size_t sinks, size_t sources);
#define GV_TREE_REAL(tree, v) GV_REAL((tree)->options.precision, v)
/* What kernels of a split force take beside their other arguments (kernels/tree/periodic.h), in the tree's frame. */
typedef struct gv_tree_range {
    union {
        cl_float f[4];
        cl_double d[4];
    } range, period;
    gv_arg arg[2];
    size_t n; /* 2, or 0: the whole force */
} gv_tree_range;
void gv_tree_find_range(const gravel_tree *tree, gv_tree_range *out);
/* Work-items of one thing each. */
gv_range gv_tree_items(const gravel_tree *tree, size_t n);
/* `n` flags into a list of those set, in order; its length goes to GV_SB_COUNT_TOTAL of `set`. */
gravel_status gv_tree_list_flagged(gravel_tree *tree, gravel_groups *set, const gv_buffer *flag, size_t n,
                                   const gv_buffer *to);

/* sources.c */
/* The tree of its bodies as they are now, by the rule of `moved`. */
gravel_status gv_tree_update(gravel_tree *tree, gravel_tree_moved moved);
/* The same, and it waits until all cells are known to fit: else forces would be incomplete. */
gravel_status gv_tree_update_whole(gravel_tree *tree, gravel_tree_moved moved);
/* Sorts and builds whatever is there. */
gravel_status gv_tree_rebuild(gravel_tree *tree);
/* Softening of cells and bodies for kinds that need it. */
gravel_status gv_tree_soften(gravel_tree *tree, gv_tree_kind kind);
gravel_status gv_tree_need_inverse(gravel_tree *tree);
/* Bodies into key order, in the precision of the tree. */
gravel_status gv_tree_gather(gravel_tree *tree);
/* Of a tree that is built: mass per volume around each body of the view, in units of its set (not of its frame), to
 * density[address] in the precision of the set's planes; `eps`: no less than that is the radius of a volume. */
gravel_status gv_tree_find_density(gravel_tree *tree, double eps, const gv_buffer *density);
/* Whether a tree of n bodies is possible. */
gravel_status gv_tree_check_size(const gravel_tree *tree, size_t n);
/* 1: the sources are all bodies of their gravel_bodies. */
int gv_tree_is_whole(const gravel_tree *tree);
/* What positions in one frame are in another: at * scale + shift (three numbers in high and low words). */
typedef struct gv_turn {
    double scale, shift[3];
    int is_none;
} gv_turn;
gv_turn gv_turn_between(const gravel_frame *from, const gravel_frame *to, const double displaced[3]);
/* Vectors as kernels take them. */
typedef struct gv_turn_args {
    union {
        cl_float f;
        cl_double d;
    } scale;
    union {
        cl_float f[4];
        cl_double d[4];
    } shift, low;
    gv_arg arg[3];
} gv_turn_args;
void gv_turn_as_args(const gv_turn *turn, int is_double, gv_turn_args *out);

/* build.c */
/* Keys of n points within the bodies' bounds, sorted into `order`. */
gravel_status gv_tree_order(gravel_tree *tree, gv_sort *order, cl_mem points, size_t n, gv_stage keys, gv_stage sort);
/* Room for a build of n bodies. */
gravel_status gv_tree_reserve_build(gravel_tree *tree, size_t n);
gravel_status gv_tree_build(gravel_tree *tree);
gravel_status gv_tree_moments(gravel_tree *tree);
/* Looks at the sizes of the last build if they have come in, or waits for them.  Cells that did not fit: bad_build. */
gravel_status gv_tree_settle(gravel_tree *tree, int wait);

/* sinks.c */
/* Sinks of a call into `set`: in key order and in the frame of the tree. */
gravel_status gv_sinks_make(gravel_tree *tree, gravel_groups *set, const gravel_tree_call *call, int keep);
/* Planes of the sinks that a walk reads. */
gravel_status gv_sinks_soft(gravel_tree *tree, gravel_groups *set);
gravel_status gv_sinks_last(gravel_tree *tree, gravel_groups *set);
/* Places of the sinks among the sources of this tree. */
gravel_status gv_sinks_self(gravel_tree *tree, gravel_groups *set);

/* Numbers of a walk as the kernels take them. */
typedef struct gv_tree_numbers {
    gv_tree_kind kind;
    double plummer; /* for estimates of accelerations */
    double soft;    /* eps^2, or h^2; a floor for softening by body */
} gv_tree_numbers;

/* groups.c */
/* Room for groups cut like this. */
gravel_status gv_groups_reserve(gravel_tree *tree, gravel_groups *set, const gv_tree_cut *cut);
gravel_status gv_groups_make(gravel_tree *tree, gravel_groups *set, const gv_tree_numbers *numbers, int last);
/* The tree gives the counts of this set from now on (NULL: of none), and no other tree does: those of walks before are
 * overwritten. */
void gv_groups_give_counts(gravel_tree *tree, gravel_groups *set);
/* Buffers and kernels, not the set itself. */
void gv_groups_release(gravel_groups *set);

/* walk.c */
/* Beside GRAVEL_INTO_...: results stay in the ticket, on the device, until gv_tree_read_ticket. */
enum { GV_INTO_TICKET = 0x100 };
/* A call from gv_tree_take_call. */
gravel_status gv_tree_walk(gravel_tree *tree, const gravel_tree_call *call, gravel_ticket **ticket);
gv_tree_numbers gv_tree_numbers_of(const gravel_tree *tree, double eps, gravel_soften soften);
/* Which cells and bodies act: those of the tree, or others in its frame. */
typedef struct gv_tree_actors {
    cl_mem cell, body, body_low;
} gv_tree_actors;
/* A stretch of a set's places of groups; `first` is a multiple of gv_tree_slice_unit. */
typedef struct gv_tree_slice {
    size_t first, count;
} gv_tree_slice;
size_t gv_tree_slice_unit(const gravel_tree *tree);
/* The forces of these on the groups of a slice in the tree's own frame, into `result`; then into planes. */
gravel_status gv_tree_walk_others(gravel_tree *tree, gravel_groups *set, gv_tree_slice slice,
                                  const gv_tree_numbers *numbers, const gv_tree_actors *actors,
                                  const gv_buffer *result);
gravel_status gv_tree_store(gravel_tree *tree, const gravel_groups *set, const gv_buffer *result, int add);
gravel_status gv_tree_check_eps(const gravel_tree *tree, const gravel_tree_call *call);
/* The kernel of a walk. */
int gv_tree_walk_kernel(const gv_tree_cut *cut, gv_tree_kind kind);
/* The caller's call with defaults for members that an older caller does not have, checked. */
gravel_status gv_tree_take_call(const gravel_tree *tree, const gravel_tree_call *call, gravel_tree_call *taken);

/* own.c */
/* Each address is that of one of n bodies, and comes once. */
gravel_status gv_tree_check_addresses(const uint32_t *address, size_t count, size_t n);
/* gravel_tree_write in two steps: what several trees have in common, then the bodies. */
gravel_status gv_tree_frame(gravel_tree *tree, const gravel_sources *bodies, gravel_frame *frame);
gravel_status gv_tree_write(gravel_tree *tree, const gravel_sources *bodies, const gravel_frame *frame);
/* gravel_tree_forces_active without that check; the results stay in tree->last. */
gravel_status gv_tree_compute_listed(gravel_tree *tree, const uint32_t *address, size_t count, double eps);

/* cells.c */
/* Of each body its rank on the curve, into the slot's host memory; the view is all bodies of its set. */
gravel_status gv_tree_read_places(gravel_tree *tree, gv_slot *slot);

/* ticket.c */
/* Results of a call.  They stay on the device until they are requested or, with GRAVEL_INTO_HOST, are copied to pinned
 * host memory at once. */
struct gv_tree_ticket {
    gv_force_ticket forces;
    gravel_tree *tree;
    uint64_t build;
};
gravel_status gv_tree_take_ticket(gravel_tree *tree, gv_tree_ticket **ticket);
/* Room for the results of n sinks, on the host too if `host`. */
gravel_status gv_tree_reserve_ticket(gv_tree_ticket *ticket, size_t n, int host);
/* Marks the end of the call's work, and submits the transfer of results that go to the host. */
gravel_status gv_tree_finish_ticket(gv_tree_ticket *ticket, const gravel_tree_call *call, size_t n);
void gv_tree_release_tickets(gravel_tree *tree);
/* The results of a ticket of this tree from the device into host memory. */
gravel_status gv_tree_fetch_ticket(gravel_ticket *ticket);
/* And from there to the caller; any number of times. */
gravel_status gv_tree_read_ticket(gravel_ticket *ticket, const gravel_forces *forces);
/* 1: the cells that the walk of this ticket used did not fit.  Waits for their number. */
gravel_status gv_tree_is_bad_ticket(gravel_ticket *ticket, int *bad);

#endif
