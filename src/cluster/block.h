/* Bodies on their way between ranks: a block of columns, doubles one after the other. */
#ifndef GV_CLUSTER_BLOCK_H
#define GV_CLUSTER_BLOCK_H

#include "cluster/object.h"

/* Columns in the order of a block; vectors are three. */
enum {
    GV_BLOCK_ID,
    GV_BLOCK_MASS,
    GV_BLOCK_POSITION,
    GV_BLOCK_VELOCITY,
    GV_BLOCK_ACCELERATION,
    GV_BLOCK_JERK,
    GV_BLOCK_SNAP,
    GV_BLOCK_CRACKLE,
    GV_BLOCK_TIME,
    GV_BLOCK_NUMBER, /* of the body among all; in updates only */
    GV_BLOCK_KINDS
};

/* What a block has, a bit a kind; these are always there. */
#define GV_BLOCK_ALWAYS (1u << GV_BLOCK_ID | 1u << GV_BLOCK_MASS | 1u << GV_BLOCK_POSITION)
unsigned gv_block_kinds(const gravel_sources *sources);
int gv_block_columns(unsigned kinds);
/* Bodies without ids get the numbers first, first + 1, ...; `number` is read if the block has GV_BLOCK_NUMBER. */
void gv_block_pack(double *block, unsigned kinds, const gravel_sources *sources, size_t first, const uint32_t *number);
/* The block as sources; ids, and numbers if it has them, are written to arrays of `count`. */
gravel_sources gv_block_view(const double *block, unsigned kinds, size_t count, int32_t *id, uint32_t *number);
/* Entry k of one block becomes entry `at` of another with as many kinds, GV_BLOCK_NUMBER left out. */
void gv_block_put(double *to, size_t to_count, size_t at, const double *from, unsigned from_kinds, size_t from_count,
                  size_t k);

#endif
