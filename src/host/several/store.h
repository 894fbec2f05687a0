/* Sources in host memory, and a journal of what was written when. */
#ifndef GV_STORE_H
#define GV_STORE_H

#include "gravel/several.h"
#include "host/base/threads.h"

/* One number of all sources; a vector is three of them. */
enum {
    GV_COLUMN_MASS,
    GV_COLUMN_POSITION,
    GV_COLUMN_VELOCITY = GV_COLUMN_POSITION + 3,
    GV_COLUMN_ACCELERATION = GV_COLUMN_VELOCITY + 3,
    GV_COLUMN_JERK = GV_COLUMN_ACCELERATION + 3,
    GV_COLUMN_SNAP = GV_COLUMN_JERK + 3,
    GV_COLUMN_CRACKLE = GV_COLUMN_SNAP + 3,
    GV_COLUMN_TIME = GV_COLUMN_CRACKLE + 3,
    GV_COLUMN_SOFTENING,
    GV_COLUMNS
};

/* Addresses that were written together, by writes up to the number `last`. */
typedef struct gv_change {
    uint32_t first, count;
    uint64_t last;
} gv_change;

typedef struct gv_store {
    size_t count;               /* sources */
    size_t room;                /* entries of the columns; those behind `count` are massless at the origin */
    double *column[GV_COLUMNS]; /* NULL: all zero */
    int32_t *id;
    double limit[GV_COLUMNS]; /* the largest magnitude that devices can store */
    uint64_t writes;          /* so far */
    uint64_t sealed;          /* writes that some device may have: later ones are changes of their own */
    gv_change *change;        /* the journal: the writes after number `dropped` */
    size_t changes, change_room;
    uint64_t dropped;
    uint32_t *stamp; /* per address: the last listing that it is in */
    size_t stamps;
    uint32_t turn;
} gv_store;

void gv_store_init(gv_store *store);
void gv_store_release(gv_store *store);
/* `address` NULL: sources first ...  What is refused changes nothing. */
gravel_status gv_store_write(gv_store *store, const uint32_t *address, size_t first, const gravel_sources *sources);
gravel_status gv_store_write_softening(gv_store *store, size_t first, size_t count, const double *eps);
/* Of a store that has sources, the first counts as written. */
void gv_store_touch(gv_store *store);
/* The column is there. */
gravel_status gv_store_need(gv_store *store, int column);

/* Addresses below `count` that were written after write number `then`, each once, into `list` (room for `most`).  0:
 * there are more of them, or it is too long ago. */
int gv_store_list(gv_store *store, uint64_t then, size_t count, uint32_t *list, size_t most, size_t *listed);

#endif
