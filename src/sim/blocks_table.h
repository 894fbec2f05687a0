/* How many bodies moved at once: DIR/blocks.txt, a line for each power of two that occurred.
 *
 *   power   p
 *   blocks  block steps of 2^p to 2^(p+1) - 1 bodies
 *   moved   bodies moved in these
 *   steps   bodies moved over a time-step of 2^p to 2^(p+1) units of time
 *
 * Plain numbers that numpy.loadtxt reads, below lines that begin with '#'.  The struct has no pointers: a checkpoint
 * may keep it as it is. */
#ifndef GV_BLOCKS_TABLE_H
#define GV_BLOCKS_TABLE_H

#include "sim/units.h"

#include "host/base/status.h"

enum { GV_BLOCKS_LOWEST = -64, GV_BLOCKS_HIGHEST = 63, GV_BLOCKS_POWERS = GV_BLOCKS_HIGHEST - GV_BLOCKS_LOWEST + 1 };

typedef struct gv_blocks_line {
    double blocks, moved, steps; /* counts, exact to 2^53 */
} gv_blocks_line;

typedef struct gv_blocks {
    gv_blocks_line at[GV_BLOCKS_POWERS]; /* [p - GV_BLOCKS_LOWEST] */
} gv_blocks;

/* A block of so many bodies, above 0. */
void gv_blocks_add(gv_blocks *blocks, size_t bodies);
/* So many bodies moved over time-steps of this length; beyond the lowest and highest power they count there. */
void gv_blocks_add_steps(gv_blocks *blocks, double step, size_t bodies);

/* The file appears whole or not at all. */
gravel_status gv_blocks_write(const gv_blocks *blocks, const char *path, const gv_units *units);
gravel_status gv_blocks_read(gv_blocks *blocks, const char *path);

#endif
