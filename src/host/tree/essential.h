/* The inside of gravel_essential. */
#ifndef GV_ESSENTIAL_H
#define GV_ESSENTIAL_H

#include "gravel/essential.h"
#include "host/tree/tree.h"

/* receivers that one pass over the cells serves: a bit each; vectors of a run on the device */
enum { GV_RECEIVERS = 32, GV_RUN_VECTORS = 2 };
/* sizes of a part: cells, children of opened cells, bodies */
enum { GV_PART_SIZES = 3 };
/* children of a cell above the roots of parts; cells above them at most */
enum { GV_FAN = 8, GV_ABOVE = 1 + GV_FAN, GV_MOST_ROOTS = GV_FAN * GV_FAN };

typedef enum gv_essential_buffer {
    GV_EB_OWN_RUNS, /* boxes of the own sinks */
    GV_EB_EQUAL,    /* of equal runs of them */
    GV_EB_RUNS,     /* of all parts' */
    GV_EB_BOXES,    /* of runs of 8, 64 ... own sinks */
    GV_EB_WIDE,     /* which of them are too wide */
    GV_EB_TAKEN,    /* of each sink: 1 + level of the box that begins with it, and is sent; 0: none */
    GV_EB_TAKEN_LIST,
    GV_EB_FACTOR, /* of each sink's group */
    GV_EB_FIRST,  /* first[r] of a pass */
    GV_EB_WANTED, /* a word a cell for each pass */
    GV_EB_OPENED,
    GV_EB_TABLE, /* for each part and size a row of sums over tiles of cells */
    GV_EB_SIZES, /* GV_PART_SIZES a part */
    GV_EB_AT,    /* where each part begins */
    GV_EB_CELL,  /* what was joined: the roots and what is above them, then the parts */
    GV_EB_BODY,
    GV_EB_BODY_LOW,
    GV_EB_COUNT
} gv_essential_buffer;

/* boxes that were read; boxes around the others' bodies; boxes for which parts are cut, and where those of each part
 * begin */
typedef enum gv_host_room { GV_HR_READ, GV_HR_AROUND, GV_HR_CUT, GV_HR_FIRST, GV_HR_COUNT } gv_host_room;

struct gravel_essential {
    gravel_tree *tree;
    int parts, mine;
    gravel_tree_call call;
    gv_tree_numbers numbers;
    gravel_groups set;
    size_t runs;       /* boxes of the own sinks; 0 while the device alone knows */
    size_t most;       /* of them */
    cl_uint found;     /* their number on its way to the host */
    size_t most_equal; /* boxes of equal runs */
    size_t equal;      /* boxes in GV_EB_EQUAL, that gravel_essential_estimate brings; 0: they have been brought */
    size_t begun;      /* places of groups on which the own tree acts already */
    int of_others;     /* the last walk was through the others' parts */
    int refined;       /* they are those of gravel_essential_refine */
    int is_chosen;     /* and have been chosen */
    int is_open;       /* the tree is not known to be complete: its cells may not have fitted */
    size_t top;        /* and at least so many */
    size_t cells;      /* of the own tree */
    gv_buffer buffer[GV_EB_COUNT];
    gv_buffer result;
    cl_event packed; /* the parts that were cut, until they are fetched; NULL: none */
    gravel_part *out, *in;
    gravel_part *shallow_out, *shallow_in; /* since the begin; cells 0: none */
    cl_uint *sizes;                        /* GV_PART_SIZES a part */
    cl_ulong *at;                          /* vector at which a part begins, ~0: it does not travel */
    cl_uint *begin, *around; /* of a part: where its runs begin, and the boxes around several of them; the own part's
                                are left out */
    void *numbers_host[GV_HR_COUNT];
    size_t numbers_size[GV_HR_COUNT];
    gv_slots slots;
    gv_slot *sent, *room, *kept; /* kept: the shallow parts that came, where some of them are used again */
    cl_double above[GV_ABOVE * (GV_CELL_VECTORS + 1) * 4]; /* on their way while the next join is far off */
    size_t joined; /* cells in GV_EB_CELL; 0: nothing was joined since the begin */
};

/* Bytes of a vector, of a cell. */
size_t gv_essential_vector(const gravel_essential *e);
size_t gv_essential_cell(const gravel_essential *e);
/* Finds bytes and offsets of all parts, and returns their sum. */
size_t gv_essential_lay_out(const gravel_essential *e, gravel_part *parts);
/* Room for n vectors on the host, in the scalars of the device, one for each use: writes from it are not waited for;
 * lost with the next call for that use. */
gravel_status gv_essential_host_room(gravel_essential *e, gv_host_room use, size_t vectors, void **room);
/* Runs onto the places r ... of the host's vectors, in the scalars of the device. */
void gv_essential_put_runs(const gravel_essential *e, void *to, size_t r, const gravel_run *runs, size_t count);
/* Boxes of `count` equal runs of sinks, to the host if there is a place for them. */
gravel_status gv_essential_equal_runs(gravel_essential *e, size_t count, gravel_run *runs);
/* The boxes, chosen now if they were not, with the factors of their groups; behind them those of equal runs if these
 * are still on the device. */
gravel_status gv_essential_take_runs(gravel_essential *e, gravel_run *runs);
/* The own tree begins to act, on so few groups that others need not wait long. */
gravel_status gv_essential_begin_walk(gravel_essential *e);
void gv_essential_forget_packed(gravel_essential *e);
/* A staging slot of the object, in use until it is given back with *slot = NULL and held = 0. */
gravel_status gv_essential_take_slot(gravel_essential *e, size_t bytes, gv_slot **slot);

#endif
