/* The inside of gravel_direct: work space and compiled kernels, shared by the files of this room.  Each of them uses
 * only those before it: plan, space, object (kernels.c), shape (table.c), take, points, ticket, count, call, direct
 * (life), arrays. */
#ifndef GV_DIRECT_OBJECT_H
#define GV_DIRECT_OBJECT_H

#include "host/bodies/bodies.h"
#include "host/bodies/slots.h"
#include "host/bodies/ticket.h"
#include "host/direct/plan.h"
#include "host/profile/call_sizes.h"
#include "host/profile/profile.h"

enum { GV_STAGE_TAKE, GV_STAGE_FORCE, GV_STAGE_REDUCE, GV_STAGE_LISTS, GV_DIRECT_STAGES };

/* Force kernels of one choice: one for each gravel_soften, and one where eps is 0; of these two also for sinks that the
 * device has found. */
enum { GV_KIND_NO_EPS = GRAVEL_SOFTEN_MAX + 1, GV_KIND_DUE, GV_KIND_DUE_NO_EPS, GV_DIRECT_KINDS };
/* Kernels that take sources and sinks: plain, with sinks that the device has found, with changed bodies; of these one
 * for each gv_held_size. */
enum { GV_TAKE_PLAIN, GV_TAKE_DUE, GV_TAKE_CHANGES, GV_TAKES = GV_TAKE_CHANGES + GV_HELD_SIZES };
enum { GV_DIRECT_KERNELS = 256, GV_DIRECT_VARIANTS = 12, GV_PRECISIONS = 3 };

/* Choices are made anew, and proven (prove.c), where another program runs than with eps: one of the kinds below; and of
 * each kind for ids in no order, MIXED.  Texts of choices hold these numbers. */
enum {
    GV_DIRECT_EPS,
    GV_DIRECT_SOFTENED, /* sources have softening lengths */
    GV_DIRECT_MIXED,
    GV_DIRECT_NO_EPS = 4,
    GV_DIRECT_SINKS_SOFTENED,
    GV_DIRECT_SETS = 8
};

typedef struct gv_direct_kernel {
    char options[768];
    cl_kernel force;
} gv_direct_kernel;

/* What calls of one variant with about so many sinks and sources use. */
typedef struct gv_direct_choice {
    size_t sinks, sources; /* of the first of them; 0: there was none yet */
    gv_config config;
    gravel_origin origin;
    uint64_t calls;                   /* that were started with it, where they are counted (count.h) */
    cl_kernel force[GV_DIRECT_KINDS]; /* NULL: not made yet */
} gv_direct_choice;

/* One for each cell of sizes, GV_CHOICE_SINK_CELLS in a row; NULL: not used yet. */
typedef struct gv_direct_choices {
    gv_direct_choice *row[GV_CHOICE_SOURCE_CELLS];
} gv_direct_choices;

/* Sources as the force kernel reads them: words of bodies, or what take.cl made of them. */
typedef struct gv_direct_sources {
    cl_mem quad[4]; /* position + mass, low words, velocity, acceleration; NULL: absent */
    cl_mem softening, id;
    size_t count;
    cl_mem list;          /* not NULL: source k is body list[k] */
    size_t address_first; /* else body address_first + k */
} gv_direct_sources;

/* The work space that sources are taken into, and from what they were taken last. */
typedef struct gv_direct_taken {
    gv_buffer quads, softening, id;
    size_t capacity; /* sources */
    cl_mem slice[4]; /* sub-buffers of quads */
    int order;       /* of what is there; 0: nothing */
    int predict, softened;
    double time;
    cl_mem position; /* of the bodies; held, so that no other buffer has its address */
    cl_mem list;     /* likewise; NULL: a range */
    size_t first, count;
    uint64_t version;
} gv_direct_taken;

/* A table of a shape on the device (kernels/shape/table.h). */
typedef struct gv_direct_table {
    gv_buffer records;
    gravel_table_kind kind;
    int level, bits; /* as GV_TABLE_LEVEL, GV_TABLE_BITS */
    size_t count;    /* of records; 0: there is no table */
    double end;      /* argument of its functions where the last record ends */
    double length;   /* what distances are divided by for that argument */
} gv_direct_table;

/* Quadrupoles of the object's own sources. */
typedef struct gv_direct_quadrupoles {
    double (*host)[6];
    size_t count, capacity; /* entries of `host` */
    gv_buffer half[2];      /* planes of four scalars: xx xy xz yy, yz zz 0 0 */
    size_t sent;            /* entries of the planes that are right; 0: none */
    double unit;            /* that they were divided by */
} gv_direct_quadrupoles;

/* How the sources are cut for each number of sinks of one gv_direct_alike (due.c). */
typedef struct gv_direct_cuts {
    gv_buffer table; /* GV_CUT_WORDS words for each number of groups of sinks */
    gv_config config;
    int variant;
    size_t sources;                       /* that they are for; 0: there are none yet */
    size_t group_sinks;                   /* of a group */
    size_t groups, blocks, reduce_groups; /* the most that any of them has */
} gv_direct_cuts;

/* A kernel that was started and whose arguments are still set. */
typedef struct gv_direct_again {
    cl_kernel kernel;
    gv_range range;
} gv_direct_again;

/* count.h */
typedef struct gv_direct_counting {
    char *path;           /* of the file; NULL: calls are not counted */
    uint64_t calls, next; /* the file is written anew when there are so many */
    gv_call_sizes due;    /* of calls whose sinks the device has found; the others are with the choices */
} gv_direct_counting;

/* What gv_direct_need_proof found right last: the next call of the same kind does not ask again. */
typedef struct gv_direct_proven {
    int variant;
    unsigned features; /* 0: nothing yet */
    gv_config config;
} gv_direct_proven;

struct gravel_direct {
    gv_worker worker;
    gravel_direct_options options;
    gv_limits limits;
    gv_config named; /* options.configuration over the built-in default */
    int is_named;
    gv_variant variant[GV_DIRECT_VARIANTS];
    gv_direct_choices *choice[GV_DIRECT_SETS][GV_DIRECT_VARIANTS]; /* NULL: not used yet */
    gv_direct_kernel kernel[GV_DIRECT_KERNELS];
    int n_kernels;
    int oldest; /* of them, where there is no room for more */
    gv_direct_proven proven;
    cl_kernel take[GV_TAKES][GV_DIRECT_VARIANTS / 4][GV_PRECISIONS]; /* [kind][order][precision of the bodies] */
    /* [sinks that the device has found][order, nearest][precision of the sinks' bodies] */
    cl_kernel reduce[2][GV_DIRECT_VARIANTS / 2][GV_PRECISIONS];
    cl_kernel join, names[GV_DIRECT_VARIANTS / 4];
    gv_direct_taken taken;
    gv_direct_cuts cuts[GV_ALIKE_KINDS];
    gv_direct_table table, truncated; /* the caller's; of GRAVEL_SHAPE_TRUNCATED */
    gv_direct_quadrupoles quadrupoles;
    gv_buffer sinks, partial, part_count, part_list; /* of the call in the queue: calls run one after the other */
    gravel_ticket *tickets;                          /* all that were made; free ones are used again */
    gv_direct_counting counting;
    size_t last_sources;      /* of the last call */
    int last_set;             /* of the last call: gv_direct_set */
    gv_direct_again again[3]; /* force, reduce, join of the last call */
    int n_again;
    gv_last last[GV_DIRECT_STAGES];
    /* sources from host arrays, and the one call of gravel_direct_submit: arrays.c */
    gravel_bodies *own;
    size_t own_count; /* sources that pull, where it was set */
    int own_count_is_set, time_is_set;
    double time;
    gravel_ticket *pair;   /* NULL: nothing was submitted */
    double kernel_seconds; /* of the last call that was collected; negative: it was not timed */
};

/* Sources of calls that name no bodies. */
size_t gv_direct_own_count(const gravel_direct *d);
/* The variant of calls like this, an index into `variant`. */
int gv_direct_variant(int order, int nearest, int lists);
/* The place of the choice of such calls; NULL: no memory. */
gv_direct_choice *gv_direct_find_choice(gravel_direct *d, int set, int variant, size_t sinks, size_t sources);
/* Of such calls; `more` may have GV_DIRECT_UNSOFTENED; `mixed`: the ids of sinks or sources are in no order
 * (gv_are_mixed). */
int gv_direct_set(gravel_soften soften, unsigned more, int mixed);
gravel_status gv_direct_choose(gravel_direct *d, int set, int variant, size_t sinks, size_t sources,
                               gv_direct_choice **choice);
/* Of a call with a program that no choice asks for: `aside` (shape.h) or `more` has some of GV_DIRECT_ASIDE, or
 * `soften` is another rule for sources than their sum with sinks. */
gravel_status gv_direct_need_proof(gravel_direct *d, int variant, const gv_config *config, gravel_soften soften,
                                   unsigned aside, unsigned more);
/* The force kernel of a configuration; `more`: features beyond those of the variant, GV_DIRECT_UNSOFTENED where eps is
 * 0, GV_DIRECT_DUE, and the rule of neighbour lists.  `macros`: of a shape (shape.h), "" for none. */
gravel_status gv_direct_force_kernel(gravel_direct *d, int variant, const gv_config *config, gravel_soften soften,
                                     unsigned more, const char *macros, cl_kernel *kernel);
/* The same; kept in the choice where lists have no rule and there are no macros. */
gravel_status gv_direct_chosen_kernel(gravel_direct *d, int variant, gv_direct_choice *choice, gravel_soften soften,
                                      unsigned more, const char *macros, cl_kernel *kernel);
gravel_status gv_direct_take_kernel(gravel_direct *d, int order, const gravel_bodies *bodies, int kind,
                                    cl_kernel *kernel);
/* `due`: of sinks that the device has found. */
gravel_status gv_direct_reduce_kernel(gravel_direct *d, int order, int nearest, gravel_precision bodies, int due,
                                      cl_kernel *kernel);
gravel_status gv_direct_names_kernel(gravel_direct *d, int order, cl_kernel *kernel);
gravel_status gv_direct_join_kernel(gravel_direct *d, cl_kernel *kernel);
size_t gv_direct_list_items(const gravel_direct *d, size_t parts); /* work-items a group of gv_join_lists */
void gv_direct_release_kernels(gravel_direct *d);

#endif
