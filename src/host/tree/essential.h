/* The inside of gravel_essential. */
#ifndef GV_ESSENTIAL_H
#define GV_ESSENTIAL_H

#include "gravel/essential.h"
#include "host/tree/tree.h"

/* receivers that one pass over the cells serves: a bit each; vectors of a run on the device */
enum { GV_RECEIVERS = 32, GV_RUN_VECTORS = 2 };
/* children of a cell above the roots of parts; cells above them at most */
enum { GV_FAN = 8, GV_ABOVE = 1 + GV_FAN };

typedef enum gv_essential_buffer {
    GV_EB_OWN_RUNS, /* boxes of the own sinks */
    GV_EB_RUNS,     /* of all parts' */
    GV_EB_FIRST,    /* first[r] of a pass */
    GV_EB_WANTED,   /* a word a cell for each pass */
    GV_EB_OPENED,
    GV_EB_FLAG,
    GV_EB_BODY_FLAG,
    GV_EB_LIST,
    GV_EB_BODY_LIST,
    GV_EB_SIZES, /* two a part */
    GV_EB_CELL,  /* what was joined: the roots and what is above them, then the parts */
    GV_EB_BODY,
    GV_EB_BODY_LOW,
    GV_EB_COUNT
} gv_essential_buffer;

struct gravel_essential {
    gravel_tree *tree;
    int parts, mine;
    gravel_tree_call call;
    gv_tree_numbers numbers;
    gravel_groups set;
    size_t each;  /* sinks of a run */
    size_t runs;  /* of the own sinks */
    size_t cells; /* of the own tree */
    gv_buffer buffer[GV_EB_COUNT];
    gv_buffer result;
    gravel_part *out, *in;
    gravel_part *shallow_out, *shallow_in; /* since the begin; cells 0: none */
    cl_uint *sizes;                        /* two a part */
    cl_uint *around;                       /* a part: where the boxes around several of its runs begin */
    void *numbers_host;
    size_t numbers_size;
    gv_slots slots;
    gv_slot *sent, *room, *kept; /* kept: the shallow parts that came, where some of them are used again */
    cl_double above[GV_ABOVE * (GV_CELL_VECTORS + 1) * 4]; /* on their way while the next join is far off */
    int joined;                                            /* there are cells of others in GV_EB_CELL */
};

/* Bytes of a vector, of a cell, of a body with its low word. */
size_t gv_essential_vector(const gravel_essential *e);
size_t gv_essential_cell(const gravel_essential *e);
size_t gv_essential_body(const gravel_essential *e);
/* Finds bytes and offsets of all parts, and returns their sum. */
size_t gv_essential_lay_out(const gravel_essential *e, gravel_part *parts);
/* Room for n vectors on the host, in the scalars of the device; lost with the next call. */
gravel_status gv_essential_host_room(gravel_essential *e, size_t vectors, void **room);
/* A staging slot of the object, in use until it is given back with *slot = NULL and held = 0. */
gravel_status gv_essential_take_slot(gravel_essential *e, size_t bytes, gv_slot **slot);

#endif
